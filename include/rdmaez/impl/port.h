/* SPDX-License-Identifier: MIT */
/* Bodies of port.h. */
#ifndef RDMAEZ_IMPL_PORT_H
#define RDMAEZ_IMPL_PORT_H

#include "../port.h"

#if RDMAEZ_IMPL_BODIES

#include "gid.h"
#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the device has this port, for callers about to send it to the provider. */
RDMAEZ_IMPL int rdmaez_impl_port_exists(struct ibv_context *context, int port_num,
					struct rdmaez_diag *diag)
{
	struct ibv_device_attr device;
	int error;

	memset(&device, 0, sizeof(device));
	error = rdmaez_impl_error(ibv_query_device(context, &device));
	if (error)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
					  "ibv_query_device");
	if (port_num >= 1 && port_num <= device.phys_port_cnt)
		return 0;
	return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_PORT, "port_num",
					RDMAEZ_VALUE_NUMBER, port_num, 1, device.phys_port_cnt);
}

/* rdmaez_port_query() without its reset of the record. */
RDMAEZ_IMPL int rdmaez_impl_port_query(struct ibv_context *context, int port_num,
				       struct ibv_port_attr *attr, struct rdmaez_diag *diag)
{
	struct ibv_port_attr answer;
	int error;

	if (port_num < 1 || port_num > 255)
		return rdmaez_impl_port_exists(context, port_num, diag);
	memset(&answer, 0, sizeof(answer));
	error = rdmaez_impl_error(ibv_query_port(context, (uint8_t)port_num, &answer));
	if (error == EINVAL) {
		const int missing = rdmaez_impl_port_exists(context, port_num, diag);

		if (missing)
			return missing;
	}
	if (error)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port");
	*attr = answer;
	return 0;
}

/* Starts the record of a function that asks a device; EINVAL where there is no device to ask. */
RDMAEZ_IMPL int rdmaez_impl_port_begin(struct rdmaez_diag *diag, const char *call,
				       struct ibv_context *context, const void *output)
{
	rdmaez_impl_diag_reset(diag, call);
	if (!context || !output)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  context ? "output" : "context");
	rdmaez_impl_diag_device(diag, context);
	return 0;
}

RDMAEZ_API int rdmaez_port_query(struct ibv_context *context, int port_num,
				 struct ibv_port_attr *attr, struct rdmaez_diag *diag)
{
	int error = rdmaez_impl_port_begin(diag, "rdmaez_port_query", context, attr);

	return error ? error : rdmaez_impl_port_query(context, port_num, attr, diag);
}

/* One row of the GID table; an empty one is a success with an all-zero GID. */
RDMAEZ_IMPL int rdmaez_impl_port_gid(struct ibv_context *context, int port_num, int index,
				     struct ibv_gid_entry *row, struct rdmaez_diag *diag)
{
	int error;

	memset(row, 0, sizeof(*row));
	error = rdmaez_impl_error(
		ibv_query_gid_ex(context, (uint32_t)port_num, (uint32_t)index, row, 0));
	if (error == ENODATA) {
		memset(row, 0, sizeof(*row));
		error = 0;
	}
	row->gid_index = (uint32_t)index;
	row->port_num = (uint32_t)port_num;
	if (error)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
					  "ibv_query_gid_ex");
	return 0;
}

/* Before one of the port's tables is listed: somewhere to put rows, and the port, which has its length. */
RDMAEZ_IMPL int rdmaez_impl_port_table(struct ibv_context *context, int port_num, const void *rows,
				       size_t capacity, struct ibv_port_attr *port,
				       struct rdmaez_diag *diag)
{
	if (!rows && capacity)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "rows");
	return rdmaez_impl_port_query(context, port_num, port, diag);
}

RDMAEZ_API int rdmaez_port_gids(struct ibv_context *context, int port_num,
				struct ibv_gid_entry *rows, size_t capacity, size_t *count,
				struct rdmaez_diag *diag)
{
	struct ibv_port_attr port;
	struct ibv_gid_entry row;
	size_t found = 0;
	int error = rdmaez_impl_port_begin(diag, "rdmaez_port_gids", context, count);

	memset(&port, 0, sizeof(port));
	if (!error)
		error = rdmaez_impl_port_table(context, port_num, rows, capacity, &port, diag);
	if (error)
		return error;
	for (int i = 0; i < port.gid_tbl_len; i++) {
		error = rdmaez_impl_port_gid(context, port_num, i, &row, diag);
		if (error)
			return error;
		if (rdmaez_gid_is_zero(&row.gid))
			continue;
		if (found < capacity)
			rows[found] = row;
		found++;
	}
	*count = found;
	return 0;
}

/* rdmaez_port_choose_gid() on a port that has been asked, without the reset. */
RDMAEZ_IMPL int rdmaez_impl_port_choose_gid(struct ibv_context *context, int port_num,
					    const struct ibv_port_attr *port,
					    const struct rdmaez_gid_want *want,
					    struct ibv_gid_entry *chosen, struct rdmaez_diag *diag)
{
	const enum rdmaez_gid_class peer = rdmaez_impl_gid_peer(want);
	struct ibv_gid_entry row, best;
	enum rdmaez_why why;
	const int rows =
		port->gid_tbl_len < RDMAEZ_PATH_GIDS ? port->gid_tbl_len : RDMAEZ_PATH_GIDS;
	int best_rank = 0;

	memset(&best, 0, sizeof(best));
	for (int i = 0; i < rows && best_rank < RDMAEZ_GID_RANK_BEST; i++) {
		int error = rdmaez_impl_port_gid(context, port_num, i, &row, NULL);
		int rank;

		if (error) {
			rdmaez_impl_diag_forget(diag);
			return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
						  "ibv_query_gid_ex");
		}
		rank = rdmaez_impl_gid_rank(&row, want, peer, &why);
		if (rank > best_rank) {
			best_rank = rank;
			best = row;
		} else if (!rank && !best_rank && diag && why != RDMAEZ_WHY_GID_EMPTY) {
			/* The last place in the record is for GID_NONE. */
			if (diag->count < RDMAEZ_DIAG_FINDINGS - 1)
				rdmaez_impl_refuse_value(diag, EINVAL, why,
							 "ah_attr.grh.sgid_index",
							 RDMAEZ_VALUE_NUMBER, i, 0, rows - 1);
			else
				diag->dropped++;
		}
	}
	if (!best_rank)
		return rdmaez_impl_refuse(diag, EADDRNOTAVAIL, RDMAEZ_WHY_GID_NONE,
					  "ah_attr.grh.sgid_index");
	rdmaez_impl_diag_forget(diag);
	*chosen = best;
	return 0;
}

/* The GID index for a path: the path's own, or the best one where it leaves that open. */
RDMAEZ_IMPL int rdmaez_impl_port_gid_index(struct ibv_context *context, int port_num,
					   const struct ibv_port_attr *port,
					   const struct rdmaez_path *path, int *sgid_index,
					   struct rdmaez_diag *diag)
{
	struct rdmaez_gid_want want;
	struct ibv_gid_entry row;
	int error;

	*sgid_index = path->sgid_index;
	if (path->sgid_index || rdmaez_gid_is_zero(&path->dgid) ||
	    !(rdmaez_path_needs_grh(port) || (path->flags & RDMAEZ_PATH_GRH)))
		return 0;
	memset(&want, 0, sizeof(want));
	want.peer = path->dgid;
	error = rdmaez_impl_port_choose_gid(context, port_num, port, &want, &row, diag);
	if (!error)
		*sgid_index = rdmaez_exactly((int)row.gid_index);
	return error;
}

RDMAEZ_API int rdmaez_port_choose_gid(struct ibv_context *context, int port_num,
				      const struct rdmaez_gid_want *want,
				      struct ibv_gid_entry *chosen, struct rdmaez_diag *diag)
{
	struct ibv_port_attr port;
	int error = rdmaez_impl_port_begin(diag, "rdmaez_port_choose_gid", context, chosen);

	memset(&port, 0, sizeof(port));
	if (!error)
		error = rdmaez_impl_port_query(context, port_num, &port, diag);
	if (!error)
		error = rdmaez_impl_port_choose_gid(context, port_num, &port, want, chosen, diag);
	return error;
}

/* The P_Key in a row, in host byte order, or a negative errno value. */
RDMAEZ_IMPL int rdmaez_impl_port_pkey(struct ibv_context *context, int port_num, int index)
{
	__be16 wire = 0;
	uint8_t byte[2];
	const int error =
		rdmaez_impl_error(ibv_query_pkey(context, (uint8_t)port_num, index, &wire));

	if (error)
		return -error;
	memcpy(byte, &wire, sizeof(byte));
	return byte[0] << 8 | byte[1];
}

RDMAEZ_API int rdmaez_port_pkeys(struct ibv_context *context, int port_num,
				 struct rdmaez_pkey_entry *rows, size_t capacity, size_t *count,
				 struct rdmaez_diag *diag)
{
	struct ibv_port_attr port;
	size_t found = 0;
	int error = rdmaez_impl_port_begin(diag, "rdmaez_port_pkeys", context, count);

	memset(&port, 0, sizeof(port));
	if (!error)
		error = rdmaez_impl_port_table(context, port_num, rows, capacity, &port, diag);
	if (error)
		return error;
	for (int i = 0; i < port.pkey_tbl_len; i++) {
		const int key = rdmaez_impl_port_pkey(context, port_num, i);

		if (key < 0)
			return rdmaez_impl_refuse(diag, -key, RDMAEZ_WHY_QUERY_REFUSED,
						  "ibv_query_pkey");
		if (!(key & 0x7fff))
			continue;
		if (found < capacity) {
			rows[found].pkey_index = (uint32_t)i;
			rows[found].pkey = (uint16_t)key;
		}
		found++;
	}
	*count = found;
	return 0;
}

RDMAEZ_API int rdmaez_port_find_pkey(struct ibv_context *context, int port_num, uint16_t pkey,
				     int *index, struct rdmaez_diag *diag)
{
	const int partition = pkey & 0x7fff, full = 0x8000;
	struct ibv_port_attr port;
	int found = -1, found_key = 0;
	int error = rdmaez_impl_port_begin(diag, "rdmaez_port_find_pkey", context, index);

	memset(&port, 0, sizeof(port));
	if (!error)
		error = rdmaez_impl_port_query(context, port_num, &port, diag);
	if (error)
		return error;
	/* Zero in the low bits marks an unused row, not a partition. */
	for (int i = 0; partition && !(found_key & full) && i < port.pkey_tbl_len; i++) {
		const int key = rdmaez_impl_port_pkey(context, port_num, i);

		if (key < 0)
			return rdmaez_impl_refuse(diag, -key, RDMAEZ_WHY_QUERY_REFUSED,
						  "ibv_query_pkey");
		if ((key & ~full) == partition && (found < 0 || key & full)) {
			found = i;
			found_key = key;
		}
	}
	if (found < 0)
		return rdmaez_impl_refuse_value(diag, ENOENT, RDMAEZ_WHY_PKEY_NOT_FOUND, "pkey",
						RDMAEZ_VALUE_PKEY, pkey, 0, 0);
	*index = found;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
