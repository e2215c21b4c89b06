/* SPDX-License-Identifier: MIT */
/* Implements endpoint.h. */
#ifndef RDMAEZ_IMPL_ENDPOINT_H
#define RDMAEZ_IMPL_ENDPOINT_H

#ifndef RDMAEZ_ENDPOINT_H
#include "../endpoint.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_FIELD_H
#include "field.h"
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
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_IMPL_UNITS_H
#include "units.h"
#endif
#ifndef RDMAEZ_PATH_H
#include "../path.h"
#endif
#ifndef RDMAEZ_QP_RULES_H
#include "../qp_rules.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* "RZEP" */
#define RDMAEZ_IMPL_ENDPOINT_MAGIC 0x525a4550u

#define RDMAEZ_IMPL_ENDPOINT_VERSION 1

/* The sums begin here. */
#define RDMAEZ_IMPL_ENDPOINT_SUMS (RDMAEZ_ENDPOINT_BYTES - 16)

/* So many bytes hold the numbers, from the magic to the memory's length. */
#define RDMAEZ_IMPL_ENDPOINT_NUMBERS 72

/* clang-format off */

/*
 * These are the numbers that have bounds closer than their room on the wire: X(field, least, greatest). They are
 * explained in this order.
 */
#define RDMAEZ_IMPL_ENDPOINT_BOUNDS(X) \
	X(qp_type, 0, 0xff) \
	X(link_layer, IBV_LINK_LAYER_UNSPECIFIED, IBV_LINK_LAYER_ETHERNET) \
	X(mtu, IBV_MTU_256, IBV_MTU_4096) \
	X(qp_num, 0, RDMAEZ_QP_NUM_MAX) \
	X(psn, 0, RDMAEZ_PSN_MAX) \
	X(gid_count, 0, RDMAEZ_ENDPOINT_GIDS) \
	X(user_length, 0, RDMAEZ_ENDPOINT_USER)

#define RDMAEZ_IMPL_ENDPOINT_OUT(field, min, max) \
	(uint32_t)endpoint->field - (uint32_t)(min) > (uint32_t)(max) - (uint32_t)(min) ||

/* clang-format on */

/* Returns the type of queue pair that one of this type is connected to, or 0 if there is none. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_endpoint_pairs(int type)
{
	switch (type) {
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return IBV_QPT_XRC_SEND + IBV_QPT_XRC_RECV - type;
	case RDMAEZ_QPT_DCI:
	case RDMAEZ_QPT_DCT:
		return (int)RDMAEZ_QPT_DCI + (int)RDMAEZ_QPT_DCT - type;
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
	case RDMAEZ_QPT_SRD:
		return type;
	default:
		return 0;
	}
}

/* Returns whether a number of an endpoint, the counts among them, is one that no endpoint has. */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_endpoint_out(const struct rdmaez_endpoint *endpoint)
{
	return RDMAEZ_IMPL_ENDPOINT_BOUNDS(RDMAEZ_IMPL_ENDPOINT_OUT) endpoint->ece.comp_mask ||
	       ((int)endpoint->qp_type && !rdmaez_impl_endpoint_pairs((int)endpoint->qp_type)) ||
	       endpoint->memory.length > UINT64_MAX - endpoint->memory.addr;
}

/* Returns whether a GID can be that of an end. */
RDMAEZ_IMPL bool rdmaez_impl_endpoint_is_end(const struct rdmaez_endpoint_gid *gid)
{
	const int traits = rdmaez_impl_gid_traits(&gid->gid);

	return traits >= 0 && !(traits & RDMAEZ_IMPL_GID_GROUP) &&
	       gid->gid_type <= IBV_GID_TYPE_ROCE_V2;
}

/* Returns the first GID that cannot be that of an end, or their number, which is right. */
RDMAEZ_IMPL_SMALL unsigned int rdmaez_impl_endpoint_ends(const struct rdmaez_endpoint *endpoint)
{
	unsigned int i = 0;

	while (i < endpoint->gid_count && rdmaez_impl_endpoint_is_end(&endpoint->gid[i]))
		i++;
	return i;
}

/* Refuses an endpoint with a field that no endpoint has so. Returns EINVAL. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_endpoint_refuse(const struct rdmaez_endpoint *endpoint,
						  struct rdmaez_diag *diag)
{
	rdmaez_impl_failed(diag, EINVAL, NULL);
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_endpoint_explain, (endpoint, diag));
	return EINVAL;
}

/*
 * Returns the number in four bytes, the highest first. By itself a compiler may not see that it is
 * one load.
 */
RDMAEZ_IMPL uint32_t rdmaez_impl_endpoint_word(const uint8_t *at)
{
#if defined __GNUC__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return __builtin_bswap32(word);
#else
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
#endif
}

/* Writes a number in four bytes, the highest first, and returns what follows them. */
RDMAEZ_FOLD uint8_t *rdmaez_impl_endpoint_put(uint8_t *to, uint32_t number)
{
	const uint32_t wire = rdmaez_impl_endpoint_word((const uint8_t *)&number);

	memcpy(to, &wire, sizeof(wire));
	return to + sizeof(wire);
}

/* Does the same with eight. */
RDMAEZ_FOLD uint8_t *rdmaez_impl_endpoint_put_long(uint8_t *to, uint64_t number)
{
	return rdmaez_impl_endpoint_put(rdmaez_impl_endpoint_put(to, (uint32_t)(number >> 32)),
					(uint32_t)number);
}

/*
 * Computes the check value: the sum of the 32-bit words before it, and the sum of its values after
 * each of them. Neither is ever too great for 64 bits. If a word at i has grown by a and one at j
 * by b, the first sum grows by a + b, and the second by a (n - i) + b (n - j). Both are 0 only if a
 * and b are. Most of an endpoint is zero, which adds nothing to the first sum.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_endpoint_sums(const uint8_t *bytes, uint8_t *to)
{
	uint64_t sum = 0, sums = 0, half[2];

	for (const uint8_t *const end = bytes + RDMAEZ_IMPL_ENDPOINT_SUMS; bytes < end;) {
		memcpy(half, bytes, sizeof(half));
		if (!(half[0] | half[1])) {
			sums += 4 * sum;
			bytes += sizeof(half);
			continue;
		}
		for (int i = 0; i < 2; i++, bytes += 8) {
			sum += rdmaez_impl_endpoint_word(bytes);
			sums += sum;
			sum += rdmaez_impl_endpoint_word(bytes + 4);
			sums += sum;
		}
	}
	rdmaez_impl_endpoint_put_long(rdmaez_impl_endpoint_put_long(to, sum), sums);
}

/* Reads the numbers of an endpoint. */
RDMAEZ_IMPL void rdmaez_impl_endpoint_read(const uint8_t *at, struct rdmaez_endpoint *e)
{
	e->qp_type = (enum ibv_qp_type)(at[8] << 8 | at[9]);
	e->link_layer = at[10];
	e->mtu = (enum ibv_mtu)at[11];
	e->qp_num = rdmaez_impl_endpoint_word(at + 12);
	e->psn = rdmaez_impl_endpoint_word(at + 16);
	e->qkey = rdmaez_impl_endpoint_word(at + 20);
	e->srq_num = rdmaez_impl_endpoint_word(at + 24);
	e->nonce = rdmaez_impl_endpoint_word(at + 28);
	e->pkey = (uint16_t)(at[32] << 8 | at[33]);
	e->lid = (uint16_t)(at[34] << 8 | at[35]);
	e->max_rd_atomic = at[36];
	e->max_dest_rd_atomic = at[37];
	e->port_flags = at[38];
	e->gid_count = at[39];
	e->user_length = rdmaez_impl_endpoint_word(at + 40);
	e->ece.vendor_id = rdmaez_impl_endpoint_word(at + 44);
	e->ece.options = rdmaez_impl_endpoint_word(at + 48);
	e->memory.rkey = rdmaez_impl_endpoint_word(at + 52);
	e->memory.addr = (uint64_t)rdmaez_impl_endpoint_word(at + 56) << 32 |
			 rdmaez_impl_endpoint_word(at + 60);
	e->memory.length = (uint64_t)rdmaez_impl_endpoint_word(at + 64) << 32 |
			   rdmaez_impl_endpoint_word(at + 68);
}

/* Writes them, and returns what follows them. */
RDMAEZ_IMPL uint8_t *rdmaez_impl_endpoint_write(const struct rdmaez_endpoint *e, uint8_t *to)
{
	to = rdmaez_impl_endpoint_put(to, RDMAEZ_IMPL_ENDPOINT_MAGIC);
	to = rdmaez_impl_endpoint_put(to, RDMAEZ_IMPL_ENDPOINT_VERSION * 0x10001);
	to = rdmaez_impl_endpoint_put(to, (uint32_t)e->qp_type << 16 |
						  (uint32_t)e->link_layer << 8 | (uint32_t)e->mtu);
	to = rdmaez_impl_endpoint_put(to, e->qp_num);
	to = rdmaez_impl_endpoint_put(to, e->psn);
	to = rdmaez_impl_endpoint_put(to, e->qkey);
	to = rdmaez_impl_endpoint_put(to, e->srq_num);
	to = rdmaez_impl_endpoint_put(to, e->nonce);
	to = rdmaez_impl_endpoint_put(to, (uint32_t)e->pkey << 16 | e->lid);
	*to++ = e->max_rd_atomic;
	*to++ = e->max_dest_rd_atomic;
	*to++ = e->port_flags;
	*to++ = (uint8_t)e->gid_count;
	to = rdmaez_impl_endpoint_put(to, e->user_length);
	to = rdmaez_impl_endpoint_put(to, e->ece.vendor_id);
	to = rdmaez_impl_endpoint_put(to, e->ece.options);
	to = rdmaez_impl_endpoint_put(to, e->memory.rkey);
	to = rdmaez_impl_endpoint_put_long(to, e->memory.addr);
	return rdmaez_impl_endpoint_put_long(to, e->memory.length);
}

RDMAEZ_COLD int rdmaez_endpoint_check(const struct rdmaez_endpoint *endpoint,
				      struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_endpoint_check");
	if (!endpoint)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "endpoint");
	return rdmaez_impl_endpoint_out(endpoint) ||
			       rdmaez_impl_endpoint_ends(endpoint) != endpoint->gid_count
		       ? rdmaez_impl_endpoint_refuse(endpoint, diag)
		       : 0;
}

RDMAEZ_API int rdmaez_endpoint_pack(const struct rdmaez_endpoint *endpoint,
				    uint8_t buf[RDMAEZ_ENDPOINT_BYTES])
{
	const struct rdmaez_endpoint *const e = endpoint;
	uint8_t *at;

	if (!e || !buf || rdmaez_impl_endpoint_out(e) ||
	    rdmaez_impl_endpoint_ends(e) != e->gid_count)
		return EINVAL;
	at = rdmaez_impl_endpoint_write(e, buf);
	memset(at, 0, RDMAEZ_IMPL_ENDPOINT_SUMS - RDMAEZ_IMPL_ENDPOINT_NUMBERS);
	for (unsigned int i = 0; i < e->gid_count; i++) {
		at[18 * i] = (uint8_t)e->gid[i].gid_type;
		at[18 * i + 1] = e->gid[i].by_route;
		memcpy(at + 18 * i + 2, &e->gid[i].gid, 16);
	}
	memcpy(at + 18 * RDMAEZ_ENDPOINT_GIDS, e->user, e->user_length);
	rdmaez_impl_endpoint_sums(buf, buf + RDMAEZ_IMPL_ENDPOINT_SUMS);
	return 0;
}

RDMAEZ_API int rdmaez_endpoint_unpack(const uint8_t buf[RDMAEZ_ENDPOINT_BYTES],
				      struct rdmaez_endpoint *endpoint, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {
		"endpoint.least_version", RDMAEZ_WHY_ENDPOINT_VERSION, RDMAEZ_VALUE_NUMBER, 1,
		RDMAEZ_IMPL_ENDPOINT_VERSION};
	const uint8_t *at;
	struct rdmaez_endpoint found;
	uint8_t sums[16];
	uint32_t least;

	rdmaez_impl_diag_reset(diag, "rdmaez_endpoint_unpack");
	if (!buf || !endpoint)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  buf ? "endpoint" : "buf");
	if (rdmaez_impl_endpoint_word(buf) != RDMAEZ_IMPL_ENDPOINT_MAGIC)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_MAGIC,
					  "endpoint.magic");
	least = (uint32_t)(buf[6] << 8 | buf[7]);
	if (least < 1 || least > RDMAEZ_IMPL_ENDPOINT_VERSION)
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, (int64_t)least);
	rdmaez_impl_endpoint_sums(buf, sums);
	if (memcmp(buf + RDMAEZ_IMPL_ENDPOINT_SUMS, sums, sizeof(sums)) != 0)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_SUM,
					  "endpoint.checksum");
	if ((uint32_t)(buf[4] << 8 | buf[5]) < least)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_FIELD,
					  "endpoint.version");
	memset(&found, 0, offsetof(struct rdmaez_endpoint, user));
	rdmaez_impl_endpoint_read(buf, &found);
	if (rdmaez_impl_endpoint_out(&found))
		return rdmaez_impl_endpoint_refuse(&found, diag);
	at = buf + RDMAEZ_IMPL_ENDPOINT_NUMBERS;
	for (unsigned int i = 0; i < found.gid_count; i++) {
		found.gid[i].gid_type = at[18 * i];
		found.gid[i].by_route = at[18 * i + 1] & 1;
		memcpy(&found.gid[i].gid, at + 18 * i + 2, 16);
	}
	if (rdmaez_impl_endpoint_ends(&found) != found.gid_count)
		return rdmaez_impl_endpoint_refuse(&found, diag);
	memcpy(endpoint, &found, offsetof(struct rdmaez_endpoint, user));
	memset((uint8_t *)endpoint + offsetof(struct rdmaez_endpoint, user), 0,
	       sizeof(*endpoint) - offsetof(struct rdmaez_endpoint, user));
	memcpy(endpoint->user, at + 18 * RDMAEZ_ENDPOINT_GIDS, found.user_length);
	return 0;
}

RDMAEZ_COLD int rdmaez_endpoint_parse(const char *text, struct rdmaez_endpoint *endpoint,
				      struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"text", RDMAEZ_WHY_ENDPOINT_TEXT,
						     RDMAEZ_VALUE_POSITION, 0, 0};
	static const char digits[] = "0123456789abcdef0123456789ABCDEF", blanks[] = " \t\r\n";
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
	const char *at = text;
	size_t length = 0;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_endpoint_parse");
	if (!text || !endpoint)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  text ? "endpoint" : "text");
	for (at += strspn(at, blanks); length < 2 * sizeof(bytes); length++, at++) {
		const void *const digit = memchr(digits, *at, 32);
		uint8_t *const byte = &bytes[length / 2];

		if (!digit)
			break;
		*byte = (uint8_t)((length % 2 ? *byte << 4 : 0) |
				  (((const char *)digit - digits) & 0xf));
	}
	if (length == 2 * sizeof(bytes))
		at += strspn(at, blanks);
	if (*at || length < 2 * sizeof(bytes))
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, at - text);
	error = rdmaez_endpoint_unpack(bytes, endpoint, diag);
	if (diag)
		diag->call = "rdmaez_endpoint_parse";
	return error;
}

/* ---- This end -------------------------------------------------------------------------------- */

/* Returns whether the caller has the one GID that it names, or leaves the choice. */
RDMAEZ_IMPL bool rdmaez_impl_endpoint_knows(const struct rdmaez_qp_opts *opts, int port)
{
	const struct ibv_gid_entry *const entry = opts->gid_entry;
	const int named = opts->path.sgid_index;

	return entry && entry->port_num == (uint32_t)port && !rdmaez_gid_is_zero(&entry->gid) &&
	       (!named || entry->gid_index == (uint32_t)rdmaez_impl_option(named, 0));
}

/* Reads the one GID that is named, or that of index 0 if there is no choice. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_gid(struct ibv_context *context, int port_num,
					      const struct rdmaez_impl_qp_build *b,
					      struct rdmaez_impl_port_best *best,
					      struct rdmaez_diag *diag)
{
	struct rdmaez_impl_site site = {"ah_attr.grh.sgid_index", RDMAEZ_WHY_GID_INDEX,
					RDMAEZ_VALUE_NUMBER, 0, 0};
	const int named = b->opts->path.sgid_index, index = (int)rdmaez_impl_option(named, 0);
	const int last = rdmaez_impl_port_gid_entries(b->port) - 1;
	int error;

	memset(best, 0, sizeof(*best));
	if (named && (index < 0 || index > last))
		return rdmaez_impl_refuse_within(diag, EINVAL, &site, index, 0, last);
	error = rdmaez_impl_port_gid(context, port_num, index, best->entry, diag);
	best->count = !rdmaez_gid_is_zero(&best->entry[0].gid);
	site.why = RDMAEZ_WHY_GID_EMPTY;
	site.kind = RDMAEZ_VALUE_INDEX;
	return error || best->count || !named ? error
					      : rdmaez_impl_refuse_at(diag, ENODATA, &site, index);
}

/* Asks for the rest, once the port and, if it answers, the device are known. */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_ask(struct ibv_context *context,
					      const struct rdmaez_impl_qp_build *b,
					      struct rdmaez_endpoint *e, struct rdmaez_diag *diag)
{
	/* These attributes are what they will be on the way to RTS. */
	const int mask = IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY | IBV_QP_PATH_MTU |
			 IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC;
	const bool ethernet = b->port->link_layer == IBV_LINK_LAYER_ETHERNET;
	struct rdmaez_impl_port_best best;
	struct ibv_qp_attr attr;
	int error, pkey = 0xffff;

	memset(&attr, 0, sizeof(attr));
	error = rdmaez_impl_qp_fill(b, mask, &attr, diag);
	if (rdmaez_impl_endpoint_knows(b->opts, e->port)) {
		memset(&best, 0, sizeof(best));
		best.entry[best.count++] = *b->opts->gid_entry;
	} else if (!error && ethernet && !b->opts->path.sgid_index)
		error = rdmaez_impl_port_best_gids(context, e->port, b->port, &b->opts->path.dgid,
						   &best, diag);
	else if (!error)
		error = rdmaez_impl_endpoint_gid(context, e->port, b, &best, diag);
	if (!error && !ethernet)
		pkey = rdmaez_impl_port_pkey(context, e->port, attr.pkey_index);
	if (pkey < 0)
		error = rdmaez_impl_refuse_verb(diag, -pkey, RDMAEZ_WHY_QUERY_REFUSED,
						"ibv_query_pkey");
	if (error)
		return error;
	e->qkey = attr.qkey;
	e->pkey = (uint16_t)pkey;
	e->pkey_index = attr.pkey_index;
	e->mtu = attr.path_mtu;
	e->max_rd_atomic = attr.max_rd_atomic;
	e->max_dest_rd_atomic = attr.max_dest_rd_atomic;
	for (; e->gid_count < (unsigned int)best.count; e->gid_count++) {
		const struct ibv_gid_entry *const from = &best.entry[e->gid_count];
		struct rdmaez_endpoint_gid *const gid = &e->gid[e->gid_count];

		gid->gid = from->gid;
		gid->gid_type = from->gid_type;
		gid->gid_index = from->gid_index;
		gid->by_route = !memcmp(&from->gid, &best.route, sizeof(from->gid));
	}
	return 0;
}

RDMAEZ_COLD int rdmaez_endpoint_port(struct ibv_context *context, const struct rdmaez_qp_opts *opts,
				     struct rdmaez_endpoint *endpoint, struct rdmaez_diag *diag)
{
	const char *const missing = !context ? "context" : endpoint ? NULL : "endpoint";
	struct rdmaez_impl_qp_build build;
	struct rdmaez_qp_opts none;
	struct rdmaez_endpoint e;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	int error = rdmaez_impl_begin(diag, "rdmaez_endpoint_port", context, missing);

	if (error)
		return error;
	memset(&build, 0, sizeof(build));
	memset(&e, 0, sizeof(e));
	build.opts = rdmaez_impl_qp_opts(opts, &none);
	build.port = build.opts->port_attr;
	build.device = build.opts->device_attr;
	e.port = (int)rdmaez_impl_option(build.opts->port, 1);
	if (!build.port) {
		error = rdmaez_impl_port_query(context, e.port, &port, diag);
		build.port = &port;
	}
	if (!error && !build.device && !ibv_query_device(context, &device))
		build.device = &device;
	if (!error)
		error = rdmaez_impl_endpoint_ask(context, &build, &e, diag);
	if (error)
		return error;
	e.qp_type = build.opts->driver_type;
	e.lid = build.port->lid;
	e.link_layer = build.port->link_layer;
	e.port_flags = build.port->flags & IBV_QPF_GRH_REQUIRED;
	*endpoint = e;
	return 0;
}

RDMAEZ_API int rdmaez_endpoint_set_qp(struct rdmaez_endpoint *endpoint, const struct ibv_qp *qp,
				      struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"qp.qp_type", RDMAEZ_WHY_ENDPOINT_QP_TYPES,
						     RDMAEZ_VALUE_TYPE, 0, 0};
	enum ibv_qp_type type;
	uint64_t bits;

	rdmaez_impl_diag_reset(diag, "rdmaez_endpoint_set_qp");
	if (!endpoint || !qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  endpoint ? "qp" : "endpoint");
	rdmaez_impl_diag_qp(diag, qp);
	type = qp->qp_type == IBV_QPT_DRIVER ? endpoint->qp_type : qp->qp_type;
	if (!rdmaez_impl_endpoint_pairs((int)type))
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, (int)qp->qp_type);
	endpoint->qp_type = type;
	endpoint->qp_num = qp->qp_num;
	bits = rdmaez_impl_random();
	endpoint->psn = (uint32_t)(bits >> 40);
	endpoint->nonce = (uint32_t)(bits >> 8);
	return 0;
}

/*
 * Adds what a queue pair adds to an endpoint: what rdmaez_endpoint_set_qp() does, and its ECE
 * options if they are wanted.
 */
RDMAEZ_IMPL int rdmaez_impl_endpoint_finish(struct ibv_qp *qp, unsigned int flags,
					    struct rdmaez_endpoint *endpoint,
					    struct rdmaez_diag *diag)
{
	struct ibv_ece ece;
	int error = rdmaez_endpoint_set_qp(endpoint, qp, diag);

	if (error || !(flags & RDMAEZ_QP_ECE))
		return error;
	memset(&ece, 0, sizeof(ece));
	error = rdmaez_impl_error(ibv_query_ece(qp, &ece));
	/* mlx5 answers without options if its device has none. */
	if (!error && ece.options) {
		endpoint->ece.vendor_id = ece.vendor_id;
		endpoint->ece.options = ece.options;
	}
	return error && error != EOPNOTSUPP
		       ? rdmaez_impl_refuse_verb(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
						 "ibv_query_ece")
		       : 0;
}

RDMAEZ_COLD int rdmaez_endpoint_local(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				      struct rdmaez_endpoint *endpoint, struct rdmaez_diag *diag)
{
	struct rdmaez_endpoint found;
	int error = rdmaez_impl_begin(diag, "", qp ? qp->context : NULL, qp ? NULL : "qp");

	if (!error)
		error = rdmaez_endpoint_port(qp->context, opts, endpoint ? &found : NULL, diag);
	if (!error)
		error = rdmaez_impl_endpoint_finish(qp, opts ? (unsigned int)opts->flags : 0,
						    &found, diag);
	if (!error)
		*endpoint = found;
	if (diag)
		diag->call = "rdmaez_endpoint_local";
	return error;
}

/* ---- Both ends ------------------------------------------------------------------------------- */

/* From here on two GIDs fit. Below, the worth is how far they do: 0, the type, the family. */
#define RDMAEZ_IMPL_ENDPOINT_FITS 3u

/* A pair is a GID of each end, and how good they are together. */
struct rdmaez_impl_endpoint_pair {
	const struct rdmaez_endpoint_gid *own, *peer;
	unsigned int worth;
};

/*
 * Returns what a GID of each end is worth, together with the other, or 0 if that is less than
 * `least`. `behind` is the sum of their places in the two lists. Both ends compute the same.
 */
RDMAEZ_IMPL_COLD unsigned int rdmaez_impl_endpoint_worth(const struct rdmaez_endpoint_gid *own,
							 const struct rdmaez_endpoint_gid *peer,
							 unsigned int least, unsigned int behind)
{
	const bool any = own->gid_type == IBV_GID_TYPE_IB; /* its GIDs have no family */
	const unsigned int worth =
		((unsigned int)own->by_route + peer->by_route) << 24 | (own->gid_type & 3) << 20;
	int traits, differ;

	/* The rest is worth no more than this. */
	if (own->gid_type != peer->gid_type || (worth | 0x1ffff) < least)
		return 0;
	traits = rdmaez_impl_gid_traits(&own->gid);
	differ = traits ^ rdmaez_impl_gid_traits(&peer->gid);
	if (!any && (differ & RDMAEZ_IMPL_GID_IPV4))
		return 1;
	if (!any && (differ & RDMAEZ_IMPL_GID_LOCAL))
		return 2;
	return worth | (((traits | differ) & RDMAEZ_IMPL_GID_LOCAL) ? 0u : 1u) << 16 |
	       (unsigned int)rdmaez_impl_gid_common(&own->gid, &peer->gid) << 8 | (0xff - behind);
}

/* Returns the lesser GID of a pair, by which both ends tell pairs of the same worth apart. */
RDMAEZ_IMPL const union ibv_gid *
rdmaez_impl_endpoint_lesser(const struct rdmaez_impl_endpoint_pair *pair)
{
	const union ibv_gid *const own = &pair->own->gid, *const peer = &pair->peer->gid;

	return memcmp(own, peer, sizeof(*own)) < 0 ? own : peer;
}

/*
 * Chooses the GIDs for a connection. Each end is the other's peer, so everything that decides is
 * symmetric.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_endpoint_choose(const struct rdmaez_endpoint *local,
						 const struct rdmaez_endpoint *remote,
						 struct rdmaez_impl_endpoint_pair *best,
						 struct rdmaez_diag *diag)
{
	struct rdmaez_impl_endpoint_pair pair;

	best->own = local->gid;
	best->peer = remote->gid;
	best->worth = 0;
	if (!local->gid_count || !remote->gid_count)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_NO_GID,
					  local->gid_count ? "remote.gid_count"
							   : "local.gid_count");
	for (unsigned int own = 0, peer = 0; own < local->gid_count;
	     peer = peer + 1 < remote->gid_count ? peer + 1 : 0, own += !peer) {
		pair.own = &local->gid[own];
		pair.peer = &remote->gid[peer];
		pair.worth =
			rdmaez_impl_endpoint_worth(pair.own, pair.peer, best->worth, own + peer);
		if (pair.worth > best->worth ||
		    (pair.worth == best->worth && pair.worth >= RDMAEZ_IMPL_ENDPOINT_FITS &&
		     memcmp(rdmaez_impl_endpoint_lesser(&pair), rdmaez_impl_endpoint_lesser(best),
			    16) < 0))
			*best = pair;
	}
	if (diag) {
		diag->source.gid = best->own->gid;
		diag->source.gid_type = best->own->gid_type;
		diag->source.gid_index = best->own->gid_index;
		diag->destination = best->peer->gid;
	}
	return best->worth >= RDMAEZ_IMPL_ENDPOINT_FITS
		       ? 0
		       : rdmaez_impl_refuse(diag, EINVAL,
					    best->worth > 1 ? RDMAEZ_WHY_ENDPOINT_SCOPES
					    : best->worth   ? RDMAEZ_WHY_ENDPOINT_FAMILIES
							    : RDMAEZ_WHY_ENDPOINT_GID_TYPES,
					    "remote.gid");
}

/*
 * Returns whether an end lacks something, or something does not go together whatever the GIDs are.
 * The explanations find what it is.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_endpoint_misfit(const struct rdmaez_endpoint *local,
						   const struct rdmaez_endpoint *remote)
{
	const int types = rdmaez_impl_endpoint_pairs((int)local->qp_type);

	return !local->port || !local->qp_num || !remote->qp_num ||
	       local->gid_count > RDMAEZ_ENDPOINT_GIDS ||
	       remote->gid_count > RDMAEZ_ENDPOINT_GIDS || !types ||
	       types != (int)remote->qp_type || local->link_layer != remote->link_layer ||
	       ((local->pkey ^ remote->pkey) & 0x7fff) || !((local->pkey | remote->pkey) & 0x8000);
}

/* Writes the way to the peer into a path that holds the caller's own wishes. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_endpoint_path(const struct rdmaez_endpoint *local,
						const struct rdmaez_endpoint *remote,
						struct rdmaez_path *path, struct rdmaez_diag *diag)
{
	const bool lids = local->link_layer == IBV_LINK_LAYER_INFINIBAND;
	const bool gids = local->gid_count && remote->gid_count;
	const uint16_t unicast = 0xbfff; /* a port has 0xffff until it gets one */
	const bool own_lid = (uint16_t)(local->lid - 1) < unicast;
	struct rdmaez_impl_endpoint_pair pair;
	int error;

	path->dlid = lids ? remote->lid : 0;
	path->sgid_index = 0;
	memset(&path->dgid, 0, sizeof(path->dgid));
	if (!lids || ((local->port_flags | remote->port_flags) & IBV_QPF_GRH_REQUIRED) ||
	    (gids && memcmp(&local->gid[0].gid, &remote->gid[0].gid, 8) != 0))
		path->flags |= RDMAEZ_PATH_GRH;
	if (!(path->flags & RDMAEZ_PATH_GRH))
		return own_lid && (uint16_t)(remote->lid - 1) < unicast
			       ? 0
			       : rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_ENDPOINT_NO_LID,
						    own_lid ? "remote.lid" : "local.lid");
	error = rdmaez_impl_endpoint_choose(local, remote, &pair, diag);
	if (error)
		return error;
	path->sgid_index = rdmaez_exactly((int)pair.own->gid_index);
	path->dgid = pair.peer->gid;
	return 0;
}

/* Returns the lesser of two depths, as an option. */
RDMAEZ_IMPL int rdmaez_impl_endpoint_depth(uint8_t wanted, uint8_t taken)
{
	return rdmaez_exactly(wanted < taken ? wanted : taken);
}

/*
 * Does what rdmaez_endpoint_negotiate() does for endpoints that are there, without its reset of the
 * record. A failure may spoil what is written, which is not `opts`.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_endpoint_negotiate(const struct rdmaez_endpoint *local,
						     const struct rdmaez_endpoint *remote,
						     const struct rdmaez_qp_opts *opts,
						     struct rdmaez_qp_opts *agreed,
						     struct rdmaez_diag *diag)
{
	if (rdmaez_impl_endpoint_misfit(local, remote)) {
		rdmaez_impl_failed(diag, EINVAL, NULL);
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_endpoint_explain_misfit,
				    (local, remote, diag));
		return EINVAL;
	}
	if (opts)
		*agreed = *opts;
	else
		memset(agreed, 0, sizeof(*agreed));
	agreed->flags |= RDMAEZ_QP_MTU_EXACT; /* the peer uses it as well */
	agreed->port = local->port;
	agreed->pkey_index = local->pkey_index;
	agreed->qkey = rdmaez_exactly_u32(local->qkey);
	agreed->mtu = local->mtu < remote->mtu ? local->mtu : remote->mtu;
	agreed->dest_qp_num = remote->qp_num;
	agreed->rq_psn = remote->psn;
	agreed->sq_psn = local->psn;
	agreed->max_rd_atomic =
		rdmaez_impl_endpoint_depth(local->max_rd_atomic, remote->max_dest_rd_atomic);
	agreed->max_dest_rd_atomic =
		rdmaez_impl_endpoint_depth(local->max_dest_rd_atomic, remote->max_rd_atomic);
	if ((int)local->qp_type >= (int)RDMAEZ_QPT_SRD)
		agreed->driver_type = local->qp_type;
	return rdmaez_impl_endpoint_path(local, remote, &agreed->path, diag);
}

RDMAEZ_API int rdmaez_endpoint_negotiate(const struct rdmaez_endpoint *local,
					 const struct rdmaez_endpoint *remote,
					 const struct rdmaez_qp_opts *opts,
					 struct rdmaez_qp_opts *agreed, struct rdmaez_diag *diag)
{
	struct rdmaez_qp_opts found;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_endpoint_negotiate");
	if (!local || !remote || !agreed)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  !local   ? "local"
					  : remote ? "agreed"
						   : "remote");
	if (diag) {
		diag->qp_num = local->qp_num;
		diag->qp_type = (int)local->qp_type;
	}
	error = rdmaez_impl_endpoint_negotiate(local, remote, opts, &found, diag);
	if (!error)
		*agreed = found;
	return error;
}

/*
 * Finds the ECE options that both ends can do. A `vendor_id` of 0 means none, and nothing is to be
 * set. rdma_cm lets one end set the other's options and ask what the hardware made of them. Two
 * messages that cross only have the bits that both offer.
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

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
