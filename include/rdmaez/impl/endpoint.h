/* SPDX-License-Identifier: MIT */
/* Bodies of endpoint.h. */
#ifndef RDMAEZ_IMPL_ENDPOINT_H
#define RDMAEZ_IMPL_ENDPOINT_H

#ifndef RDMAEZ_ENDPOINT_H
#include "../endpoint.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_UNITS_H
#include "../units.h"
#endif
#ifndef RDMAEZ_IMPL_BYTES_H
#include "bytes.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_GID_H
#include "gid.h"
#endif
#ifndef RDMAEZ_IMPL_PORT_H
#include "port.h"
#endif
#ifndef RDMAEZ_IMPL_QP_H
#include "qp.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* "RZEP" */
#define RDMAEZ_IMPL_ENDPOINT_MAGIC 0x525a4550u

#define RDMAEZ_IMPL_ENDPOINT_VERSION 1

/* clang-format off */

/*
 * The numbers in their order on the wire, behind the magic and the versions: X(field, bytes there, least, greatest).
 * Then come the memory's address and length, all four GIDs, and the user's bytes.
 */
#define RDMAEZ_IMPL_ENDPOINT_FIELDS(X) \
	X(qp_type, 2, 0, 0xff) \
	X(link_layer, 1, IBV_LINK_LAYER_UNSPECIFIED, IBV_LINK_LAYER_ETHERNET) \
	X(mtu, 1, IBV_MTU_256, IBV_MTU_4096) \
	X(qp_num, 4, 0, RDMAEZ_QP_NUM_MAX) \
	X(psn, 4, 0, RDMAEZ_PSN_MAX) \
	X(qkey, 4, 0, UINT32_MAX) \
	X(srq_num, 4, 0, UINT32_MAX) \
	X(nonce, 4, 0, UINT32_MAX) \
	X(pkey, 2, 0, 0xffff) \
	X(lid, 2, 0, 0xffff) \
	X(max_rd_atomic, 1, 0, 0xff) \
	X(max_dest_rd_atomic, 1, 0, 0xff) \
	X(port_flags, 1, 0, 0xff) \
	X(gid_count, 1, 0, RDMAEZ_ENDPOINT_GIDS) \
	X(user_length, 4, 0, RDMAEZ_ENDPOINT_USER) \
	X(ece.vendor_id, 4, 0, UINT32_MAX) \
	X(ece.options, 4, 0, UINT32_MAX) \
	X(memory.rkey, 4, 0, UINT32_MAX)

/* A row of which some columns have another meaning: `from` is how many bytes the number has on the wire. */
#define RDMAEZ_IMPL_ENDPOINT_ROW(field, bytes, min, max) \
	{"endpoint." #field, 0, 0, min, max, bytes, offsetof(struct rdmaez_endpoint, field), \
	 (uint8_t)sizeof(((struct rdmaez_endpoint *)0)->field), 0, 0},

/* clang-format on */

/* The rows; the last one has no name. */
RDMAEZ_IMPL const struct rdmaez_impl_field *rdmaez_impl_endpoint_fields(void)
{
	static const struct rdmaez_impl_field fields[] = {RDMAEZ_IMPL_ENDPOINT_FIELDS(
		RDMAEZ_IMPL_ENDPOINT_ROW){NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0}};

	return fields;
}

/* The type of queue pair that one of this type is connected to; 0: none. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_pairs(int type)
{
	static const uint16_t pairs[][2] = {{IBV_QPT_RC, IBV_QPT_RC},
					    {IBV_QPT_UC, IBV_QPT_UC},
					    {IBV_QPT_UD, IBV_QPT_UD},
					    {IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV},
					    {IBV_QPT_XRC_RECV, IBV_QPT_XRC_SEND},
					    {RDMAEZ_QPT_SRD, RDMAEZ_QPT_SRD},
					    {RDMAEZ_QPT_DCI, RDMAEZ_QPT_DCT},
					    {RDMAEZ_QPT_DCT, RDMAEZ_QPT_DCI}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i][0] == type)
			return pairs[i][1];
	return 0;
}

/* A field that no endpoint has so; EINVAL. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_refuse(const char *field, struct rdmaez_diag *diag)
{
	return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_FIELD, field);
}

/* Whether an endpoint can be told; the first field that cannot is named. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_check(const struct rdmaez_endpoint *endpoint,
						struct rdmaez_diag *diag)
{
	const struct rdmaez_impl_field *f = rdmaez_impl_endpoint_fields();
	struct rdmaez_impl_site site = {NULL, RDMAEZ_WHY_ENDPOINT_FIELD, RDMAEZ_VALUE_NUMBER, 0, 0};

	for (; f->name; f++) {
		const uint32_t value = rdmaez_impl_field_get(f, endpoint);

		site.field = f->name;
		if (value < f->min || value > f->max)
			return rdmaez_impl_refuse_within(diag, EINVAL, &site, value, f->min,
							 f->max);
	}
	if ((int)endpoint->qp_type && !rdmaez_impl_endpoint_pairs((int)endpoint->qp_type))
		return rdmaez_impl_endpoint_refuse("endpoint.qp_type", diag);
	if (endpoint->ece.comp_mask)
		return rdmaez_impl_endpoint_refuse("endpoint.ece.comp_mask", diag);
	if (endpoint->memory.length > UINT64_MAX - endpoint->memory.addr)
		return rdmaez_impl_endpoint_refuse("endpoint.memory.length", diag);
	for (unsigned int i = 0; i < endpoint->gid_count; i++) {
		const int traits = rdmaez_impl_gid_traits(&endpoint->gid[i].gid);

		if (traits < 0 || traits & RDMAEZ_IMPL_GID_GROUP)
			return rdmaez_impl_endpoint_refuse("endpoint.gid.gid", diag);
		if (endpoint->gid[i].gid_type > IBV_GID_TYPE_ROCE_V2)
			return rdmaez_impl_endpoint_refuse("endpoint.gid.gid_type", diag);
	}
	return 0;
}

RDMAEZ_API int rdmaez_endpoint_pack(const struct rdmaez_endpoint *endpoint,
				    uint8_t buf[RDMAEZ_ENDPOINT_BYTES])
{
	const struct rdmaez_impl_field *f = rdmaez_impl_endpoint_fields();
	uint8_t *at = buf;

	if (!endpoint || !buf || rdmaez_impl_endpoint_check(endpoint, NULL))
		return EINVAL;
	memset(buf, 0, RDMAEZ_ENDPOINT_BYTES);
	at = rdmaez_impl_bytes_put(at, RDMAEZ_IMPL_ENDPOINT_MAGIC, 4);
	at = rdmaez_impl_bytes_put(at, RDMAEZ_IMPL_ENDPOINT_VERSION, 2);
	at = rdmaez_impl_bytes_put(at, RDMAEZ_IMPL_ENDPOINT_VERSION, 2);
	for (; f->name; f++)
		at = rdmaez_impl_bytes_put(at, rdmaez_impl_field_get(f, endpoint), f->from);
	at = rdmaez_impl_bytes_put(at, endpoint->memory.addr, 8);
	at = rdmaez_impl_bytes_put(at, endpoint->memory.length, 8);
	for (unsigned int i = 0; i < RDMAEZ_ENDPOINT_GIDS; i++, at += 18) {
		if (i >= endpoint->gid_count)
			continue;
		at[0] = (uint8_t)endpoint->gid[i].gid_type;
		at[1] = endpoint->gid[i].by_route;
		memcpy(at + 2, &endpoint->gid[i].gid, 16);
	}
	memcpy(at, endpoint->user, endpoint->user_length);
	at = buf + RDMAEZ_ENDPOINT_BYTES - 4;
	rdmaez_impl_bytes_put(at, rdmaez_impl_bytes_sum(buf, RDMAEZ_ENDPOINT_BYTES - 4), 4);
	return 0;
}

/* The fields behind the versions, without a look at what they hold but for the lengths. */
RDMAEZ_IMPL_COLD void rdmaez_impl_endpoint_read(const uint8_t *at, struct rdmaez_endpoint *endpoint)
{
	const struct rdmaez_impl_field *f = rdmaez_impl_endpoint_fields();

	memset(endpoint, 0, sizeof(*endpoint));
	for (; f->name; f++)
		rdmaez_impl_field_put((char *)endpoint + f->to, f->size,
				      (uint32_t)rdmaez_impl_bytes_get(&at, f->from));
	endpoint->memory.addr = rdmaez_impl_bytes_get(&at, 8);
	endpoint->memory.length = rdmaez_impl_bytes_get(&at, 8);
	for (unsigned int i = 0; i < RDMAEZ_ENDPOINT_GIDS; i++, at += 18) {
		if (i >= endpoint->gid_count)
			continue;
		endpoint->gid[i].gid_type = at[0];
		endpoint->gid[i].by_route = at[1] & 1;
		memcpy(&endpoint->gid[i].gid, at + 2, 16);
	}
	if (endpoint->user_length <= RDMAEZ_ENDPOINT_USER)
		memcpy(endpoint->user, at, endpoint->user_length);
}

/* rdmaez_endpoint_unpack() without its reset of the record. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_unpack(const uint8_t *buf,
						 struct rdmaez_endpoint *endpoint,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {
		"endpoint.least_version", RDMAEZ_WHY_ENDPOINT_VERSION, RDMAEZ_VALUE_NUMBER, 1,
		RDMAEZ_IMPL_ENDPOINT_VERSION};
	const uint8_t *at = buf, *sum = buf + RDMAEZ_ENDPOINT_BYTES - 4;
	struct rdmaez_endpoint found;
	uint64_t version, least;
	int error;

	if (rdmaez_impl_bytes_get(&at, 4) != RDMAEZ_IMPL_ENDPOINT_MAGIC)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_MAGIC,
					  "endpoint.magic");
	version = rdmaez_impl_bytes_get(&at, 2);
	least = rdmaez_impl_bytes_get(&at, 2);
	if (least < 1 || least > RDMAEZ_IMPL_ENDPOINT_VERSION)
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, (int64_t)least);
	if (rdmaez_impl_bytes_get(&sum, 4) != rdmaez_impl_bytes_sum(buf, RDMAEZ_ENDPOINT_BYTES - 4))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_SUM,
					  "endpoint.checksum");
	if (version < least)
		return rdmaez_impl_endpoint_refuse("endpoint.version", diag);
	rdmaez_impl_endpoint_read(at, &found);
	error = rdmaez_impl_endpoint_check(&found, diag);
	if (!error)
		*endpoint = found;
	return error;
}

RDMAEZ_API int rdmaez_endpoint_unpack(const uint8_t buf[RDMAEZ_ENDPOINT_BYTES],
				      struct rdmaez_endpoint *endpoint, struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset_for(diag, "rdmaez_endpoint_unpack", rdmaez_impl_why_connect);
	if (!buf || !endpoint)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  buf ? "endpoint" : "buf");
	return rdmaez_impl_endpoint_unpack(buf, endpoint, diag);
}

/* ---- Text ------------------------------------------------------------------------------------ */

RDMAEZ_COLD int rdmaez_endpoint_format(const struct rdmaez_endpoint *endpoint, char *buf,
				       size_t size)
{
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
	const bool good = !rdmaez_endpoint_pack(endpoint, bytes);
	size_t i = 0;

	for (; good && i < 2 * sizeof(bytes) && i + 1 < size; i++)
		buf[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 ? 0 : 4) & 0xf];
	if (size)
		buf[i] = '\0';
	return good ? (int)(2 * sizeof(bytes)) : 0;
}

/* What a letter stands for as a digit of 16; -1: nothing. */
RDMAEZ_IMPL int rdmaez_impl_endpoint_digit(char letter)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *const digit = letter ? strchr(digits, letter) : NULL;

	return digit ? (int)(digit - digits) % 16 : -1;
}

RDMAEZ_COLD int rdmaez_endpoint_parse(const char *text, struct rdmaez_endpoint *endpoint,
				      struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"text", RDMAEZ_WHY_ENDPOINT_TEXT,
						     RDMAEZ_VALUE_POSITION, 0, 0};
	static const char blanks[] = " \t\r\n";
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
	const char *at = text;
	int digit, byte = 0;

	rdmaez_impl_diag_reset_for(diag, "rdmaez_endpoint_parse", rdmaez_impl_why_connect);
	if (!text || !endpoint)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  text ? "endpoint" : "text");
	at += strspn(at, blanks);
	for (size_t i = 0; i < 2 * sizeof(bytes); i++, at++) {
		digit = rdmaez_impl_endpoint_digit(*at);
		if (digit < 0)
			return rdmaez_impl_refuse_at(diag, EINVAL, &site, at - text);
		byte = (byte << 4 & 0xf0) | digit;
		bytes[i / 2] = (uint8_t)byte;
	}
	at += strspn(at, blanks);
	if (*at)
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, at - text);
	return rdmaez_impl_endpoint_unpack(bytes, endpoint, diag);
}

/* ---- This end -------------------------------------------------------------------------------- */

/* The one GID at an index that is named, or the first one where there is no choice. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_gid(struct ibv_context *context,
					      const struct ibv_port_attr *port, bool named,
					      struct rdmaez_impl_port_best *best,
					      struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site range = {"ah_attr.grh.sgid_index",
						      RDMAEZ_WHY_GID_INDEX, RDMAEZ_VALUE_NUMBER, 0,
						      RDMAEZ_PATH_GIDS - 1};
	static const struct rdmaez_impl_site none = {"ah_attr.grh.sgid_index", RDMAEZ_WHY_GID_EMPTY,
						     RDMAEZ_VALUE_INDEX, 0, 0};
	const int index = (int)best->entry[0].gid_index, port_num = (int)best->entry[0].port_num;
	const int entries =
		port->gid_tbl_len < RDMAEZ_PATH_GIDS ? port->gid_tbl_len : RDMAEZ_PATH_GIDS;
	int error;

	if (named && (index < 0 || index >= entries))
		return rdmaez_impl_refuse_within(diag, EINVAL, &range, index, 0, entries - 1);
	error = rdmaez_impl_port_gid(context, port_num, index, &best->entry[0], diag);
	best->count = !error && !rdmaez_gid_is_zero(&best->entry[0].gid);
	if (!error && named && !best->count)
		error = rdmaez_impl_refuse_at(diag, ENODATA, &none, index);
	return error;
}

/* The GIDs to tell. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_gids(struct ibv_context *context,
					       const struct rdmaez_impl_qp_build *b,
					       struct rdmaez_endpoint *endpoint,
					       struct rdmaez_diag *diag)
{
	const int named = b->opts->path.sgid_index;
	struct rdmaez_impl_port_best best;
	int error;

	if (named || b->port->link_layer != IBV_LINK_LAYER_ETHERNET) {
		memset(&best, 0, sizeof(best));
		best.entry[0].gid_index =
			rdmaez_impl_field_meant(RDMAEZ_IMPL_AS_INT, (uint32_t)named, 0);
		best.entry[0].port_num = (uint32_t)endpoint->port_num;
		error = rdmaez_impl_endpoint_gid(context, b->port, named != 0, &best, diag);
	} else {
		error = rdmaez_impl_port_best_gids(context, endpoint->port_num, b->port,
						   &b->opts->path.dgid, &best, diag);
	}
	for (int i = 0; !error && i < best.count; i++) {
		struct rdmaez_endpoint_gid *const gid = &endpoint->gid[endpoint->gid_count++];

		gid->gid = best.entry[i].gid;
		gid->gid_type = best.entry[i].gid_type;
		gid->gid_index = best.entry[i].gid_index;
		gid->by_route = !memcmp(&gid->gid, &best.route, sizeof(gid->gid));
	}
	return error;
}

/* rdmaez_endpoint_port() without its reset; the options become attributes as on the way to RTS. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_port(struct ibv_context *context,
					       const struct rdmaez_qp_opts *opts,
					       struct rdmaez_endpoint *endpoint,
					       struct rdmaez_diag *diag)
{
	const int mask = IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY | IBV_QP_PATH_MTU |
			 IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC;
	const int port_num = (int)rdmaez_impl_option(opts->port, 1);
	struct rdmaez_impl_qp_build build;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct ibv_qp_attr attr;
	int error = 0, pkey = 0xffff;

	memset(&build, 0, sizeof(build));
	memset(&device, 0, sizeof(device));
	memset(&attr, 0, sizeof(attr));
	memset(endpoint, 0, sizeof(*endpoint));
	build.opts = opts;
	build.port = opts->port_attr ? opts->port_attr : &port;
	build.device = opts->device_attr;
	if (!opts->port_attr)
		error = rdmaez_impl_port_query(context, port_num, &port, diag);
	if (!error && !build.device && !ibv_query_device(context, &device))
		build.device = &device;
	if (!error)
		error = rdmaez_impl_qp_fill(&build, mask, &attr, diag);
	endpoint->port_num = attr.port_num;
	if (!error)
		error = rdmaez_impl_endpoint_gids(context, &build, endpoint, diag);
	if (!error && build.port->link_layer != IBV_LINK_LAYER_ETHERNET)
		pkey = rdmaez_impl_port_pkey(context, port_num, attr.pkey_index);
	if (pkey < 0)
		error = rdmaez_impl_refuse_verb(diag, -pkey, RDMAEZ_WHY_QUERY_REFUSED,
						"ibv_query_pkey");
	if (error)
		return error;
	endpoint->qp_type = opts->driver_type;
	endpoint->qkey = attr.qkey;
	endpoint->pkey = (uint16_t)pkey;
	endpoint->lid = build.port->lid;
	endpoint->pkey_index = attr.pkey_index;
	endpoint->link_layer = build.port->link_layer;
	endpoint->port_flags = build.port->flags & IBV_QPF_GRH_REQUIRED;
	endpoint->mtu = attr.path_mtu;
	endpoint->max_rd_atomic = attr.max_rd_atomic;
	endpoint->max_dest_rd_atomic = attr.max_dest_rd_atomic;
	return 0;
}

RDMAEZ_API int rdmaez_endpoint_port(struct ibv_context *context, const struct rdmaez_qp_opts *opts,
				    struct rdmaez_endpoint *endpoint, struct rdmaez_diag *diag)
{
	const char *const missing = !context ? "context" : endpoint ? NULL : "endpoint";
	struct rdmaez_endpoint found;
	struct rdmaez_qp_opts none;
	int error = rdmaez_impl_begin(diag, "rdmaez_endpoint_port", rdmaez_impl_why_connect,
				      context, missing);

	if (!error)
		error = rdmaez_impl_endpoint_port(context, rdmaez_impl_qp_opts(opts, &none), &found,
						  diag);
	if (!error)
		*endpoint = found;
	return error;
}

/* rdmaez_endpoint_set_qp() without its reset of the record. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_set_qp(struct rdmaez_endpoint *endpoint,
						 const struct ibv_qp *qp, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"qp.qp_type", RDMAEZ_WHY_ENDPOINT_QP_TYPES,
						     RDMAEZ_VALUE_TYPE, 0, 0};
	const enum ibv_qp_type type =
		qp->qp_type == IBV_QPT_DRIVER ? endpoint->qp_type : qp->qp_type;

	if (!rdmaez_impl_endpoint_pairs((int)type))
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, (int)qp->qp_type);
	endpoint->qp_type = type;
	endpoint->qp_num = qp->qp_num;
	endpoint->psn = rdmaez_psn_random();
	endpoint->nonce = rdmaez_psn_random() << 8 ^ endpoint->psn;
	return 0;
}

RDMAEZ_API int rdmaez_endpoint_set_qp(struct rdmaez_endpoint *endpoint, const struct ibv_qp *qp,
				      struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset_for(diag, "rdmaez_endpoint_set_qp", rdmaez_impl_why_connect);
	if (!endpoint || !qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  endpoint ? "qp" : "endpoint");
	rdmaez_impl_diag_qp(diag, qp);
	return rdmaez_impl_endpoint_set_qp(endpoint, qp, diag);
}

/* What the queue pair offers of ECE. mlx5 answers with no options where its device has none. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_ask_ece(struct ibv_qp *qp, struct ibv_ece *offer,
						  struct rdmaez_diag *diag)
{
	struct ibv_ece ece;
	int error;

	memset(&ece, 0, sizeof(ece));
	error = rdmaez_impl_error(ibv_query_ece(qp, &ece));
	if (error && error != EOPNOTSUPP)
		return rdmaez_impl_refuse_verb(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
					       "ibv_query_ece");
	if (!error && ece.options) {
		offer->vendor_id = ece.vendor_id;
		offer->options = ece.options;
	}
	return 0;
}

RDMAEZ_API int rdmaez_endpoint_local(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				     struct rdmaez_endpoint *endpoint, struct rdmaez_diag *diag)
{
	const char *const missing = !qp ? "qp" : endpoint ? NULL : "endpoint";
	struct rdmaez_endpoint found;
	struct rdmaez_qp_opts none;
	int error = rdmaez_impl_begin(diag, "rdmaez_endpoint_local", rdmaez_impl_why_connect,
				      qp ? qp->context : NULL, missing);

	if (error)
		return error;
	rdmaez_impl_diag_qp(diag, qp);
	opts = rdmaez_impl_qp_opts(opts, &none);
	error = rdmaez_impl_endpoint_port(qp->context, opts, &found, diag);
	if (!error)
		error = rdmaez_impl_endpoint_set_qp(&found, qp, diag);
	if (!error && (opts->flags & RDMAEZ_QP_ECE))
		error = rdmaez_impl_endpoint_ask_ece(qp, &found.ece, diag);
	if (!error)
		*endpoint = found;
	return error;
}

/* ---- Both ends ------------------------------------------------------------------------------- */

/* A GID of each end, and how good they are together. */
struct rdmaez_impl_endpoint_pair {
	const struct rdmaez_endpoint_gid *own, *peer;
	unsigned int worth; /* 0: they do not fit, and `fit` says how far they do */
	int fit;            /* 1: the type, 2: the family too, 3: the scope too */
};

/* Judges two GIDs, which stand so far behind the first of their lists; both ends come to the same. */
RDMAEZ_IMPL_COLD void rdmaez_impl_endpoint_judge(struct rdmaez_impl_endpoint_pair *pair,
						 unsigned int behind)
{
	const int own = rdmaez_impl_gid_traits(&pair->own->gid);
	const int differ = own ^ rdmaez_impl_gid_traits(&pair->peer->gid);
	const unsigned int routes = (unsigned int)pair->own->by_route + pair->peer->by_route;

	pair->worth = 0;
	pair->fit = pair->own->gid_type != pair->peer->gid_type ? 0
		    : differ & RDMAEZ_IMPL_GID_IPV4             ? 1
		    : differ & RDMAEZ_IMPL_GID_LOCAL            ? 2
								: 3;
	if (pair->fit == 3)
		pair->worth =
			routes << 24 | (pair->own->gid_type & 3) << 20 |
			(own & RDMAEZ_IMPL_GID_LOCAL ? 0u : 1u) << 16 |
			(unsigned int)rdmaez_impl_gid_common(&pair->own->gid, &pair->peer->gid)
				<< 8 |
			(0xff - behind);
}

/* Whether a pair comes before another that is as good: by the lesser GID of each, then by the greater. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_endpoint_before(const struct rdmaez_impl_endpoint_pair *a,
						  const struct rdmaez_impl_endpoint_pair *b)
{
	union ibv_gid gids[2][2];

	for (int i = 0; i < 2; i++) {
		const struct rdmaez_impl_endpoint_pair *const pair = i ? b : a;
		const bool swap = memcmp(&pair->own->gid, &pair->peer->gid, sizeof(gids[0][0])) > 0;

		gids[i][swap] = pair->own->gid;
		gids[i][!swap] = pair->peer->gid;
	}
	return memcmp(gids[0], gids[1], sizeof(gids[0])) < 0;
}

/* The GIDs for a connection: the same at both ends, since all that decides is symmetric. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_choose(const struct rdmaez_endpoint *local,
						 const struct rdmaez_endpoint *remote,
						 struct rdmaez_impl_endpoint_pair *best,
						 struct rdmaez_diag *diag)
{
	static const enum rdmaez_why misfit[] = {RDMAEZ_WHY_ENDPOINT_GID_TYPES,
						 RDMAEZ_WHY_ENDPOINT_FAMILIES,
						 RDMAEZ_WHY_ENDPOINT_SCOPES};
	struct rdmaez_impl_endpoint_pair pair;
	int fit = 0;

	memset(best, 0, sizeof(*best));
	for (unsigned int i = 0; i < local->gid_count * remote->gid_count; i++) {
		const unsigned int own = i / remote->gid_count, peer = i % remote->gid_count;

		pair.own = &local->gid[own];
		pair.peer = &remote->gid[peer];
		rdmaez_impl_endpoint_judge(&pair, own + peer);
		if (pair.worth > best->worth || (pair.worth && pair.worth == best->worth &&
						 rdmaez_impl_endpoint_before(&pair, best)))
			*best = pair;
		fit = pair.fit > fit ? pair.fit : fit;
	}
	if (best->worth)
		return 0;
	if (!local->gid_count || !remote->gid_count)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_NO_GID,
					  local->gid_count ? "remote.gid_count"
							   : "local.gid_count");
	if (diag) {
		diag->source.gid_index = local->gid[0].gid_index;
		diag->destination = remote->gid[0].gid;
	}
	return rdmaez_impl_refuse(diag, EINVAL, misfit[fit], "remote.gid");
}

/* What an end lacks that no choice can make good. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_lacks(const struct rdmaez_endpoint *local,
						const struct rdmaez_endpoint *remote,
						struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site gids[] = {
		{"local.gid_count", RDMAEZ_WHY_ENDPOINT_FIELD, RDMAEZ_VALUE_NUMBER, 0,
		 RDMAEZ_ENDPOINT_GIDS},
		{"remote.gid_count", RDMAEZ_WHY_ENDPOINT_FIELD, RDMAEZ_VALUE_NUMBER, 0,
		 RDMAEZ_ENDPOINT_GIDS}};
	int error = 0;

	if (!local->port_num)
		error = rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_NOT_OWN,
					   "local.port_num");
	if (!local->qp_num)
		error = rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_NO_QP, "local.qp_num");
	if (!remote->qp_num)
		error = rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_NO_QP,
					   "remote.qp_num");
	for (int i = 0; i < 2; i++) {
		const unsigned int count = (i ? remote : local)->gid_count;

		if (count > RDMAEZ_ENDPOINT_GIDS)
			error = rdmaez_impl_refuse_at(diag, EINVAL, &gids[i], count);
	}
	return error;
}

/* What does not go together, whatever the GIDs are. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_differ(const struct rdmaez_endpoint *local,
						 const struct rdmaez_endpoint *remote,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site types = {
		"remote.qp_type", RDMAEZ_WHY_ENDPOINT_QP_TYPES, RDMAEZ_VALUE_TYPES, 0, 0};
	static const struct rdmaez_impl_site links = {
		"remote.link_layer", RDMAEZ_WHY_ENDPOINT_LINK_LAYERS, RDMAEZ_VALUE_NUMBER, 0, 0};
	struct rdmaez_impl_site pkeys = {"remote.pkey", RDMAEZ_WHY_ENDPOINT_PKEYS,
					 RDMAEZ_VALUE_PKEYS, 0, 0};
	const bool other = (local->pkey ^ remote->pkey) & 0x7fff;
	int error = 0;

	if (rdmaez_impl_endpoint_pairs((int)local->qp_type) != (int)remote->qp_type)
		error = rdmaez_impl_refuse_within(diag, EINVAL, &types, (int)local->qp_type, 0,
						  (int)remote->qp_type);
	if (local->link_layer != remote->link_layer)
		error = rdmaez_impl_refuse_within(diag, EINVAL, &links, remote->link_layer,
						  local->link_layer, local->link_layer);
	if (!other)
		pkeys.why = RDMAEZ_WHY_PKEY_LIMITED;
	if (other || !((local->pkey | remote->pkey) & 0x8000))
		error = rdmaez_impl_refuse_within(diag, EINVAL, &pkeys, local->pkey, 0,
						  remote->pkey);
	return error;
}

/* The way to the peer, in a path that holds the caller's own wishes. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_path(const struct rdmaez_endpoint *local,
					       const struct rdmaez_endpoint *remote,
					       struct rdmaez_path *path, struct rdmaez_diag *diag)
{
	const bool lids = local->link_layer == IBV_LINK_LAYER_INFINIBAND;
	const union ibv_gid *const own = &local->gid[0].gid, *const peer = &remote->gid[0].gid;
	struct rdmaez_impl_endpoint_pair pair;
	int error;

	path->dlid = lids ? remote->lid : 0;
	path->sgid_index = 0;
	memset(&path->dgid, 0, sizeof(path->dgid));
	if (!lids || ((local->port_flags | remote->port_flags) & IBV_QPF_GRH_REQUIRED) ||
	    (local->gid_count && remote->gid_count && memcmp(own, peer, 8) != 0))
		path->flags |= RDMAEZ_PATH_GRH;
	if (!(path->flags & RDMAEZ_PATH_GRH))
		return local->lid && remote->lid
			       ? 0
			       : rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_NO_LID,
						    local->lid ? "remote.lid" : "local.lid");
	pair.own = &local->gid[0];
	pair.peer = &remote->gid[0];
	error = lids && local->gid_count && remote->gid_count
			? 0
			: rdmaez_impl_endpoint_choose(local, remote, &pair, diag);
	if (error)
		return error;
	path->sgid_index = rdmaez_exactly((int)pair.own->gid_index);
	path->dgid = pair.peer->gid;
	if (diag) {
		diag->source.gid_index = pair.own->gid_index;
		diag->destination = pair.peer->gid;
	}
	return 0;
}

/* rdmaez_endpoint_negotiate() without its reset of the record, for endpoints that are there. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_negotiate(const struct rdmaez_endpoint *local,
						    const struct rdmaez_endpoint *remote,
						    const struct rdmaez_qp_opts *opts,
						    struct rdmaez_qp_opts *agreed,
						    struct rdmaez_diag *diag)
{
	struct rdmaez_qp_opts none, made = *rdmaez_impl_qp_opts(opts, &none);
	int error = rdmaez_impl_endpoint_lacks(local, remote, diag);

	if (!error)
		error = rdmaez_impl_endpoint_differ(local, remote, diag);
	if (!error)
		error = rdmaez_impl_endpoint_path(local, remote, &made.path, diag);
	if (error)
		return error;
	made.flags |= RDMAEZ_QP_MTU_EXACT; /* the peer uses it as well */
	made.port = local->port_num;
	made.pkey_index = local->pkey_index;
	made.qkey = rdmaez_exactly_u32(local->qkey);
	made.mtu = local->mtu < remote->mtu ? local->mtu : remote->mtu;
	made.dest_qp_num = remote->qp_num;
	made.rq_psn = remote->psn;
	made.sq_psn = local->psn;
	made.max_rd_atomic = rdmaez_exactly(local->max_rd_atomic < remote->max_dest_rd_atomic
						    ? local->max_rd_atomic
						    : remote->max_dest_rd_atomic);
	made.max_dest_rd_atomic = rdmaez_exactly(local->max_dest_rd_atomic < remote->max_rd_atomic
							 ? local->max_dest_rd_atomic
							 : remote->max_rd_atomic);
	if ((int)local->qp_type >= (int)RDMAEZ_QPT_SRD)
		made.driver_type = local->qp_type;
	*agreed = made;
	return 0;
}

RDMAEZ_API int rdmaez_endpoint_negotiate(const struct rdmaez_endpoint *local,
					 const struct rdmaez_endpoint *remote,
					 const struct rdmaez_qp_opts *opts,
					 struct rdmaez_qp_opts *agreed, struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset_for(diag, "rdmaez_endpoint_negotiate", rdmaez_impl_why_connect);
	if (!local || !remote || !agreed)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  !local   ? "local"
					  : remote ? "agreed"
						   : "remote");
	if (diag) {
		diag->qp_num = local->qp_num;
		diag->qp_type = (int)local->qp_type;
	}
	return rdmaez_impl_endpoint_negotiate(local, remote, opts, agreed, diag);
}

/*
 * The ECE options that both ends can do; `vendor_id` 0: none, and nothing is to be set. rdma_cm lets one end set the
 * other's options and ask what the hardware made of them; with one message each way there are only the bits that both
 * offer.
 */
RDMAEZ_IMPL void rdmaez_impl_endpoint_ece(const struct rdmaez_endpoint *local,
					  const struct rdmaez_endpoint *remote, struct ibv_ece *ece)
{
	memset(ece, 0, sizeof(*ece));
	if (local->ece.vendor_id == remote->ece.vendor_id)
		ece->options = local->ece.options & remote->ece.options;
	if (ece->options)
		ece->vendor_id = local->ece.vendor_id;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
