/* SPDX-License-Identifier: MIT */
/* Implements qp.h: options, rows, attributes, verb. */
#ifndef RDMAEZ_IMPL_QP_H
#define RDMAEZ_IMPL_QP_H

#ifndef RDMAEZ_QP_H
#include "../qp.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_DRIVER_H
#include "driver.h"
#endif
#ifndef RDMAEZ_IMPL_FIELD_H
#include "field.h"
#endif
#ifndef RDMAEZ_IMPL_GID_H
#include "gid.h"
#endif
#ifndef RDMAEZ_IMPL_PATH_H
#include "path.h"
#endif
#ifndef RDMAEZ_IMPL_PORT_H
#include "port.h"
#endif
#ifndef RDMAEZ_IMPL_QP_RULES_H
#include "qp_rules.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_UNITS_H
#include "../units.h"
#endif

RDMAEZ_IMPL_BEGIN

/* This is a transition on its way from options to attributes. */
struct rdmaez_impl_qp_build {
	enum ibv_qp_type type;  /* whose rules it follows; DRIVER: the options do not say */
	enum ibv_qp_type named; /* what it is called */
	enum ibv_qp_state from, to;
	const struct rdmaez_qp_opts *opts;
	int optional, extra;                  /* what of the options' goes with it */
	const struct ibv_port_attr *port;     /* NULL: not known */
	const struct ibv_device_attr *device; /* NULL: not known */
	int sgid_index;                       /* the option's value, or what was chosen */
};

/* Refuses options as a whole, with this mask, by EINVAL. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_qp_refuse(const struct rdmaez_impl_qp_build *b, int mask,
					    struct rdmaez_diag *diag)
{
	rdmaez_impl_failed(diag, EINVAL, NULL);
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_qp_explain_options, (b, mask, diag));
	return EINVAL;
}

/*
 * Returns the options that are given or, without any, all defaults, for which the caller has room.
 */
RDMAEZ_IMPL const struct rdmaez_qp_opts *rdmaez_impl_qp_opts(const struct rdmaez_qp_opts *opts,
							     struct rdmaez_qp_opts *none)
{
	if (opts)
		return opts;
	memset(none, 0, sizeof(*none));
	return none;
}

/*
 * Begins with what is given, and finds out whose rules it follows. Returns 0 or EINVAL. On the way
 * to RESET and to ERR the type of driver need not be told: there these types take the state and
 * nothing else. SRD does so from each state from which the kernel's types do.
 */
RDMAEZ_IMPL int rdmaez_impl_qp_begin(struct rdmaez_impl_qp_build *b, enum ibv_qp_type type,
				     enum ibv_qp_state from, enum ibv_qp_state to,
				     const struct rdmaez_qp_opts *opts, struct rdmaez_diag *diag)
{
	const enum ibv_qp_type told = opts->driver_type;
	const bool is_driver = type == IBV_QPT_DRIVER;
	const bool fits = (int)told ? told >= RDMAEZ_QPT_SRD && told <= RDMAEZ_QPT_DCT &&
					      (is_driver || told == type)
				    : !is_driver || to == IBV_QPS_RESET || to == IBV_QPS_ERR;

	b->named = (int)told && fits ? told : type;
	b->type = is_driver && !(int)told ? RDMAEZ_QPT_SRD : b->named;
	b->from = from;
	b->to = to;
	b->opts = opts;
	b->optional = opts->optional;
	b->extra = opts->extra;
	b->port = opts->port_attr;
	b->device = opts->device_attr;
	b->sgid_index = opts->path.sgid_index;
	rdmaez_impl_diag_transition(diag, b->named, from, to);
	if (fits)
		return 0;
	b->type = IBV_QPT_DRIVER;
	return rdmaez_impl_qp_refuse(b, 0, diag);
}

/*
 * Returns the path MTU. The port's active MTU is the default and, unless the options want theirs
 * exactly, the limit.
 */
RDMAEZ_IMPL uint32_t rdmaez_impl_qp_mtu(const struct rdmaez_impl_qp_build *b, uint32_t mtu)
{
	const uint32_t active = b->port ? (uint32_t)b->port->active_mtu : 0;

	if (active < IBV_MTU_256 || active > IBV_MTU_4096)
		return mtu;
	if (!(int)b->opts->mtu)
		return active;
	return mtu > active && mtu <= IBV_MTU_4096 && !(b->opts->flags & RDMAEZ_QP_MTU_EXACT)
		       ? active
		       : mtu;
}

/*
 * Limits the READs and atomics in flight to what the device can do, if the device is known. The
 * default is the row's, but at most a sixteenth of what all queue pairs of the device share: most
 * devices report max_res_rd_atom as enough for all or not at all (0), ionic as 16
 * (ionic_query_device()). The peer's device is likely the same, so this holds for both directions.
 */
RDMAEZ_FOLD void rdmaez_impl_qp_limit_depth(const struct ibv_device_attr *device, uint32_t bit,
					    struct rdmaez_impl_value *v)
{
	const bool out = bit == IBV_QP_MAX_QP_RD_ATOMIC;
	const int limit = out != rdmaez_impl_driver_swaps(device) ? device->max_qp_init_rd_atom
								  : device->max_qp_rd_atom;
	const uint32_t share = (uint32_t)device->max_res_rd_atom / 16;

	if ((uint32_t)limit < v->max)
		v->max = (uint32_t)limit;
	if (!v->given && device->max_res_rd_atom > 0 && share < v->value)
		v->value = share ? share : 1;
}

/* Returns the code of a time in ns. */
RDMAEZ_IMPL_COLD uint32_t rdmaez_impl_qp_code(uint64_t ns, bool is_rnr)
{
	return is_rnr ? rdmaez_rnr_timer_from_ns(ns) : rdmaez_timeout_from_ns(ns);
}

/* Takes a time in ns in place of a code, which must then be 0: otherwise no value is accepted. */
RDMAEZ_FOLD void rdmaez_impl_qp_time(uint64_t ns, bool is_rnr, struct rdmaez_impl_value *v)
{
	if (!ns)
		return;
	v->value = rdmaez_impl_qp_code(ns, is_rnr);
	if (v->given)
		v->min = UINT32_MAX;
}

/*
 * Changes what an option amounts to if more than its row decides: the type, the port, the device or
 * another option.
 */
RDMAEZ_FOLD void rdmaez_impl_qp_value(const struct rdmaez_impl_qp_build *b,
				      const struct rdmaez_impl_field *f,
				      struct rdmaez_impl_value *v)
{
	switch (f->rule) {
	case RDMAEZ_IMPL_FIELD_ACCESS:
		if (v->value & ~v->max)
			v->min = UINT32_MAX;
		break;
	case RDMAEZ_IMPL_FIELD_PORT:
		if (b->device)
			v->max = b->device->phys_port_cnt;
		break;
	case RDMAEZ_IMPL_FIELD_ALT:
		if (!v->given)
			v->value = (uint32_t)rdmaez_impl_option(b->opts->port, 1);
		break;
	case RDMAEZ_IMPL_FIELD_DEPTH:
		if (b->device)
			rdmaez_impl_qp_limit_depth(b->device, f->bit, v);
		else if (!v->given)
			v->value = 1;
		if (v->value > v->max && v->value <= INT32_MAX)
			v->value = v->max;
		break;
	case RDMAEZ_IMPL_FIELD_MTU:
		v->value = rdmaez_impl_qp_mtu(b, v->value);
		break;
	case RDMAEZ_IMPL_FIELD_PEER:
		v->min = b->port ? 1 : 0;
		break;
	case RDMAEZ_IMPL_FIELD_ACK:
		rdmaez_impl_qp_time(f->bit == IBV_QP_TIMEOUT ? b->opts->timeout_ns
							     : b->opts->alt_timeout_ns,
				    false, v);
		break;
	case RDMAEZ_IMPL_FIELD_RNR:
		rdmaez_impl_qp_time(b->opts->min_rnr_timer_ns, true, v);
		break;
	default:
		break;
	}
}

/*
 * Returns whether an address vector describes this end alone: mlx5_ib_modify_dct() reads no
 * destination.
 */
RDMAEZ_IMPL bool rdmaez_impl_qp_has_no_peer(enum ibv_qp_type type)
{
	return type > RDMAEZ_QPT_SRD || type == IBV_QPT_RAW_PACKET; /* the first are DCI and DCT */
}

/* Builds one of the two paths. The alternate one leaves by a port of its own. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_path(const struct rdmaez_impl_qp_build *b, bool alternate,
					  struct rdmaez_impl_path_build *path)
{
	const int port_num = (int)rdmaez_impl_option(b->opts->port, 1);

	path->path = alternate ? &b->opts->alt : &b->opts->path;
	path->port_num =
		alternate ? (int)rdmaez_impl_option(b->opts->alt_port, port_num) : port_num;
	path->port = path->port_num == port_num ? b->port : NULL;
	path->sgid_index = alternate ? b->opts->alt.sgid_index : b->sgid_index;
	path->is_alt = alternate;
	path->own_end = rdmaez_impl_qp_has_no_peer(b->type);
}

/*
 * A queue pair may allow these to its peer. FLUSH_GLOBAL and FLUSH_PERSISTENT have names since
 * rdma-core 58.
 */
#define RDMAEZ_IMPL_QP_ACCESS 0x31fu

/* Options have these flags and no others. */
#define RDMAEZ_IMPL_QP_FLAGS ((unsigned int)RDMAEZ_QP_MTU_EXACT | (unsigned int)RDMAEZ_QP_ECE)

/* clang-format off */

/* X(bit, field, option, how it is read, default, least, greatest, rule, unit, source) */
#define RDMAEZ_IMPL_QP_FIELDS(X) \
	X(IBV_QP_ACCESS_FLAGS, qp_access_flags, access, RDMAEZ_IMPL_AS_BITS, 0, 0, RDMAEZ_IMPL_QP_ACCESS, \
	  RDMAEZ_IMPL_FIELD_ACCESS, "IBV_ACCESS_ bits", "verbs.h") \
	X(IBV_QP_PKEY_INDEX, pkey_index, pkey_index, RDMAEZ_IMPL_AS_INT, 0, 0, 65535, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "P_Key index", "verbs.h: 16 bits") \
	X(IBV_QP_PORT, port_num, port, RDMAEZ_IMPL_AS_INT, 1, 1, 255, \
	  RDMAEZ_IMPL_FIELD_PORT, "port", "ibv_device_attr.phys_port_cnt") \
	X(IBV_QP_QKEY, qkey, qkey, RDMAEZ_IMPL_AS_BITS, RDMAEZ_QP_QKEY, 0, UINT32_MAX, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "Q_Key", "IBTA: 32 bits, the highest privileged") \
	X(IBV_QP_PATH_MTU, path_mtu, mtu, RDMAEZ_IMPL_AS_INT, IBV_MTU_1024, IBV_MTU_256, IBV_MTU_4096, \
	  RDMAEZ_IMPL_FIELD_MTU, "enum ibv_mtu", "ibv_port_attr.active_mtu") \
	X(IBV_QP_DEST_QPN, dest_qp_num, dest_qp_num, RDMAEZ_IMPL_AS_UINT, 0, 0, RDMAEZ_QP_NUM_MAX, \
	  RDMAEZ_IMPL_FIELD_PEER, "queue pair number", "IBTA: 24 bits") \
	X(IBV_QP_RQ_PSN, rq_psn, rq_psn, RDMAEZ_IMPL_AS_UINT, 0, 0, RDMAEZ_PSN_MAX, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "the peer's sq_psn", "IBTA: 24 bits") \
	X(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, max_dest_rd_atomic, RDMAEZ_IMPL_AS_INT, 16, 0, 255, \
	  RDMAEZ_IMPL_FIELD_DEPTH, "READs and atomics", "ibv_device_attr.max_qp_rd_atom") \
	X(IBV_QP_MIN_RNR_TIMER, min_rnr_timer, min_rnr_timer, RDMAEZ_IMPL_AS_INT, 12, 0, 31, \
	  RDMAEZ_IMPL_FIELD_RNR, "code of rdmaez_rnr_timer_ns()", "IBTA: 5 bits") \
	X(IBV_QP_SQ_PSN, sq_psn, sq_psn, RDMAEZ_IMPL_AS_UINT, 0, 0, RDMAEZ_PSN_MAX, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "PSN of rdmaez_psn_random()", "IBTA: 24 bits") \
	X(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic, max_rd_atomic, RDMAEZ_IMPL_AS_INT, 16, 0, 255, \
	  RDMAEZ_IMPL_FIELD_DEPTH, "READs and atomics", "ibv_device_attr.max_qp_init_rd_atom") \
	X(IBV_QP_TIMEOUT, timeout, timeout, RDMAEZ_IMPL_AS_INT, 14, 0, 31, \
	  RDMAEZ_IMPL_FIELD_ACK, "code of rdmaez_timeout_ns()", "IBTA: 5 bits") \
	X(IBV_QP_RETRY_CNT, retry_cnt, retry_cnt, RDMAEZ_IMPL_AS_INT, 7, 0, 7, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "retries", "IBTA: 3 bits") \
	X(IBV_QP_RNR_RETRY, rnr_retry, rnr_retry, RDMAEZ_IMPL_AS_INT, 7, 0, 7, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "retries", "IBTA: 3 bits; 7 is without end") \
	X(IBV_QP_ALT_PATH, alt_port_num, alt_port, RDMAEZ_IMPL_AS_INT, 0, 0, UINT32_MAX, \
	  RDMAEZ_IMPL_FIELD_ALT, "port", "checked with its path") \
	X(IBV_QP_ALT_PATH, alt_pkey_index, alt_pkey_index, RDMAEZ_IMPL_AS_INT, 0, 0, 65535, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "P_Key index", "verbs.h: 16 bits") \
	X(IBV_QP_ALT_PATH, alt_timeout, alt_timeout, RDMAEZ_IMPL_AS_INT, 14, 0, 31, \
	  RDMAEZ_IMPL_FIELD_ACK, "code of rdmaez_timeout_ns()", "IBTA: 5 bits") \
	X(IBV_QP_PATH_MIG_STATE, path_mig_state, path_mig_state, RDMAEZ_IMPL_AS_INT, IBV_MIG_MIGRATED, \
	  IBV_MIG_MIGRATED, IBV_MIG_ARMED, RDMAEZ_IMPL_FIELD_ENUM, "enum ibv_mig_state", "verbs.h") \
	X(IBV_QP_RATE_LIMIT, rate_limit, rate_limit, RDMAEZ_IMPL_AS_UINT, 0, 0, UINT32_MAX, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "kbit/s; 0 is no limit", "ibv_packet_pacing_caps")

#define RDMAEZ_IMPL_QP_ROW(bit, field, option, how, otherwise, min, max, rule, unit, source) \
	{bit, otherwise, max, offsetof(struct rdmaez_qp_opts, option), offsetof(struct ibv_qp_attr, field), \
	 min, (uint8_t)sizeof(((struct ibv_qp_attr *)0)->field), how, rule},

/* clang-format on */

#define RDMAEZ_IMPL_QP_ROW_BIT(bit, ...) (bit) |

/* Returns the rows. The last one has no bit. */
RDMAEZ_IMPL const struct rdmaez_impl_field *rdmaez_impl_qp_fields(void)
{
	RDMAEZ_IMPL_ASSERT(
		((RDMAEZ_IMPL_QP_FIELDS(RDMAEZ_IMPL_QP_ROW_BIT) 0) & ~RDMAEZ_IMPL_QP_BITS) == 0,
		"rdmaez: the bit of a row is missing in RDMAEZ_IMPL_QP_BITS");
	static const struct rdmaez_impl_field fields[] = {
		RDMAEZ_IMPL_QP_FIELDS(RDMAEZ_IMPL_QP_ROW){0, 0, 0, 0, 0, 0, 0, 0, 0}};

	return fields;
}

/* Returns what the option of a row amounts to, by everything that decides it. */
RDMAEZ_FOLD struct rdmaez_impl_value rdmaez_impl_qp_value_of(const struct rdmaez_impl_qp_build *b,
							     const struct rdmaez_impl_field *f)
{
	struct rdmaez_impl_value v = rdmaez_impl_field_of(f, rdmaez_impl_field_given(f, b->opts));

	rdmaez_impl_qp_value(b, f, &v);
	return v;
}

/*
 * Fills the attributes that are in the mask, one for each row. Returns 0, or EINVAL with all
 * findings.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_qp_fill(const struct rdmaez_impl_qp_build *b, int mask,
					 struct ibv_qp_attr *attr, struct rdmaez_diag *diag)
{
	const struct rdmaez_impl_field *f;
	struct rdmaez_impl_path_build path;
	uint32_t left = (uint32_t)mask & (RDMAEZ_IMPL_QP_FIELDS(RDMAEZ_IMPL_QP_ROW_BIT) 0);
	int bad = 0;

	if (mask & IBV_QP_AV) {
		rdmaez_impl_qp_path(b, false, &path);
		bad = rdmaez_impl_path_fill(&path, &attr->ah_attr, diag);
	}
	/* Once all bits are seen, the rest need not be; the alternate path has rows that follow. */
	for (f = rdmaez_impl_qp_fields(); left; f++)
		if (left & f->bit) {
			bad |= rdmaez_impl_field_put(f, rdmaez_impl_qp_value_of(b, f), attr);
			left &= ~f->bit | f[1].bit;
		}
	if (mask & IBV_QP_ALT_PATH) {
		rdmaez_impl_qp_path(b, true, &path);
		bad |= rdmaez_impl_path_fill(&path, &attr->alt_ah_attr, diag);
	}
	if (!bad)
		return 0;
	rdmaez_impl_failed(diag, EINVAL, NULL);
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_qp_explain_values, (b, mask, diag));
	return EINVAL;
}

/* Makes the arguments of ibv_modify_qp() from options. Returns 0, or EINVAL with all findings. */
RDMAEZ_IMPL int rdmaez_impl_qp_make(const struct rdmaez_impl_qp_build *b,
				    struct rdmaez_qp_rule rule, struct rdmaez_qp_move *move,
				    struct rdmaez_diag *diag)
{
	const int mask = rule.required | IBV_QP_STATE | b->optional;

	if (!rule.legal || (mask & ~(rule.required | rule.optional)) ||
	    (b->opts->flags & ~RDMAEZ_IMPL_QP_FLAGS))
		return rdmaez_impl_qp_refuse(
			b, rule.legal && !(mask & ~(rule.required | rule.optional)) ? 0 : mask,
			diag);
	memset(move, 0, sizeof(*move));
	move->attr_mask = mask | b->extra;
	move->attr.qp_state = b->to;
	if (move->attr_mask & IBV_QP_CUR_STATE)
		move->attr.cur_qp_state = b->from;
	if (move->attr_mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		move->attr.en_sqd_async_notify = 1;
	return rdmaez_impl_qp_fill(b, move->attr_mask, &move->attr, diag);
}

RDMAEZ_API int rdmaez_qp_attr(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
			      const struct rdmaez_qp_opts *opts, struct rdmaez_qp_move *move,
			      struct rdmaez_diag *diag)
{
	struct rdmaez_impl_qp_build build;
	struct rdmaez_qp_opts none;
	struct rdmaez_qp_move made;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_attr");
	error = rdmaez_impl_qp_begin(&build, type, from, to, rdmaez_impl_qp_opts(opts, &none),
				     diag);
	if (!move)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "move");
	if (!error)
		error = rdmaez_impl_qp_make(&build, rdmaez_impl_qp_rule(build.type, from, to),
					    &made, diag);
	if (!error)
		*move = made;
	return error;
}

RDMAEZ_COLD int rdmaez_qp_state(struct ibv_qp *qp, enum ibv_qp_state *state,
				struct rdmaez_diag *diag)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_state");
	if (!qp || !state)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  qp ? "state" : "qp");
	rdmaez_impl_diag_qp(diag, qp);
	memset(&attr, 0, sizeof(attr));
	memset(&init, 0, sizeof(init));
	error = rdmaez_impl_error(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	if (error)
		return rdmaez_impl_refuse_verb(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
					       "ibv_query_qp");
	*state = attr.qp_state;
	return 0;
}

/*
 * Calls ibv_modify_qp(), and normalises its error. If it fails, the rules of a type explain that.
 */
RDMAEZ_IMPL int rdmaez_impl_qp_modify(struct ibv_qp *qp, enum ibv_qp_type type,
				      struct ibv_qp_attr *attr, int attr_mask, uint64_t retry_ns,
				      struct rdmaez_diag *diag)
{
	struct rdmaez_impl_retry retry = {retry_ns, 0, 0, 0};
	int error;

	do
		error = rdmaez_impl_error(ibv_modify_qp(qp, attr, attr_mask));
	while (error && retry_ns && rdmaez_impl_try_again(&retry, error));
	if (error) {
		rdmaez_impl_failed(diag, error, "ibv_modify_qp");
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_qp_explain,
				    (qp, type, attr, attr_mask, diag));
		rdmaez_impl_retried(&retry, diag);
	}
	return error;
}

RDMAEZ_API int rdmaez_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
				struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_qp_modify");
	if (!qp || !attr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  qp ? "attr" : "qp");
	rdmaez_impl_diag_qp(diag, qp);
	return rdmaez_impl_qp_modify(qp, qp->qp_type, attr, attr_mask, 0, diag);
}

/*
 * Asks the device if it decides a depth, or whether there is a port beyond the first. A provider
 * may index an array with the port before anybody checks it (mlx5 with RAW_PACKET). So the port
 * must be right before it is sent, and without an answer it counts as wrong. A depth is then chosen
 * as if the device were not known.
 */
RDMAEZ_IMPL int rdmaez_impl_qp_ask_device(struct ibv_qp *qp, int mask,
					  struct rdmaez_impl_qp_build *b,
					  struct ibv_device_attr *queried, struct rdmaez_diag *diag)
{
	const int depths = (b->opts->max_rd_atomic ? 0 : IBV_QP_MAX_QP_RD_ATOMIC) |
			   (b->opts->max_dest_rd_atomic ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC);
	const bool port = (mask & IBV_QP_PORT) && !b->port && b->opts->port && b->opts->port != 1;
	int error;

	if (b->device || !(port || (mask & depths)))
		return 0;
	error = rdmaez_impl_error(ibv_query_device(qp->context, queried));
	if (!error)
		b->device = queried;
	else if (port)
		return rdmaez_impl_refuse_verb(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
					       "ibv_query_device");
	return 0;
}

/*
 * Finds out what `mask` needs and the options leave open: the port's attributes for an address
 * vector or a path MTU, and a GID index for an address vector.
 */
RDMAEZ_IMPL int rdmaez_impl_qp_ask(struct ibv_qp *qp, int mask, struct rdmaez_impl_qp_build *b,
				   struct ibv_port_attr *queried, struct rdmaez_diag *diag)
{
	const int port_num = (int)rdmaez_impl_option(b->opts->port, 1);
	int error = 0;

	if (!b->port && (mask & (IBV_QP_AV | IBV_QP_PATH_MTU))) {
		error = rdmaez_impl_port_query(qp->context, port_num, queried, diag);
		b->port = queried;
	}
	if (error || !(mask & IBV_QP_AV))
		return error;
	return rdmaez_impl_port_gid_index(qp->context, port_num, b->port, &b->opts->path,
					  rdmaez_impl_qp_has_no_peer(b->type), &b->sgid_index,
					  diag);
}

/*
 * Returns what of `optional` goes with a step of the bring-up. Attributes that other steps take are
 * left to those. If no step takes one, it stays, and is refused.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_qp_optional(const struct rdmaez_impl_qp_build *b, int takes)
{
	int others = 0;

	for (int from = IBV_QPS_RESET; from < IBV_QPS_RTS; from++) {
		const struct rdmaez_qp_rule rule = rdmaez_impl_qp_rule(
			b->type, (enum ibv_qp_state)from, (enum ibv_qp_state)(from + 1));

		others |= rule.required | rule.optional;
	}
	/* This is as below. */
	if (b->type == IBV_QPT_RC)
		others |= IBV_QP_RATE_LIMIT;
	return b->optional & (takes | ~others);
}

/* Returns the rule of a transition that is about to be made. In the end the kernel judges it. */
RDMAEZ_IMPL struct rdmaez_qp_rule rdmaez_impl_qp_rule_of(const struct rdmaez_impl_qp_build *b,
							 enum ibv_transport_type transport)
{
	/*
	 * librdmacm connects over iWARP without telling libibverbs that the queue pair has left
	 * RESET.
	 */
	const bool iwarp = b->to == IBV_QPS_ERR && transport == IBV_TRANSPORT_IWARP;
	struct rdmaez_qp_rule rule =
		rdmaez_impl_qp_rule(b->type, iwarp ? IBV_QPS_RTS : b->from, b->to);

	/* Linux 7 leaves it to the driver: bnxt_re_is_modify_ok(), ionic_is_modify_ok(). */
	if (b->type == IBV_QPT_RC && (b->to == IBV_QPS_RTR || b->to == IBV_QPS_RTS) &&
	    b->from <= IBV_QPS_RTS)
		rule.optional |= IBV_QP_RATE_LIMIT;
	return rule;
}

/* Asks for what is open, builds the arguments, and moves the queue pair. */
RDMAEZ_IMPL_COLD int rdmaez_impl_qp_move(struct ibv_qp *qp, enum ibv_qp_state to,
					 const struct rdmaez_qp_opts *opts,
					 struct rdmaez_diag *diag)
{
	struct rdmaez_impl_qp_build build;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct rdmaez_qp_rule rule;
	struct rdmaez_qp_move move;
	int error, mask;

	error = rdmaez_impl_qp_begin(&build, qp->qp_type, qp->state, to, opts, diag);
	if (error)
		return error;
	rule = rdmaez_impl_qp_rule_of(&build, qp->context->device->transport_type);
	mask = rule.required | rule.optional;
	if ((build.optional & ~mask) && build.from < IBV_QPS_RTS && to == build.from + 1)
		build.optional = rdmaez_impl_qp_optional(&build, mask);
	if (to != IBV_QPS_RTR)
		build.extra = 0;
	mask = rule.required | (rule.optional & build.optional) | build.extra;
	error = rdmaez_impl_qp_ask_device(qp, mask, &build, &device, diag);
	if (!error)
		error = rdmaez_impl_qp_ask(qp, mask, &build, &port, diag);
	if (!error)
		error = rdmaez_impl_qp_make(&build, rule, &move, diag);
	if (error)
		return error;
	return rdmaez_impl_qp_modify(qp, build.named, &move.attr, move.attr_mask,
				     move.attr_mask & IBV_QP_AV ? opts->retry_ns : 0, diag);
}

/* Does what the six functions below have in common. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_qp_to(struct ibv_qp *qp, enum ibv_qp_state to,
					const struct rdmaez_qp_opts *opts, struct rdmaez_diag *diag,
					const char *call)
{
	struct rdmaez_qp_opts none;

	rdmaez_impl_diag_reset(diag, call);
	if (!qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "qp");
	rdmaez_impl_diag_qp(diag, qp);
	return rdmaez_impl_qp_move(qp, to, rdmaez_impl_qp_opts(opts, &none), diag);
}

RDMAEZ_API int rdmaez_qp_to_init(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				 struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_INIT, opts, diag, "rdmaez_qp_to_init");
}

RDMAEZ_API int rdmaez_qp_to_rtr(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_RTR, opts, diag, "rdmaez_qp_to_rtr");
}

RDMAEZ_API int rdmaez_qp_to_rts(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_RTS, opts, diag, "rdmaez_qp_to_rts");
}

RDMAEZ_API int rdmaez_qp_to_sqd(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_SQD, opts, diag, "rdmaez_qp_to_sqd");
}

RDMAEZ_API int rdmaez_qp_to_err(struct ibv_qp *qp, struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_ERR, NULL, diag, "rdmaez_qp_to_err");
}

RDMAEZ_API int rdmaez_qp_to_reset(struct ibv_qp *qp, struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_RESET, NULL, diag, "rdmaez_qp_to_reset");
}

RDMAEZ_COLD int rdmaez_qp_check_as(struct ibv_qp *qp, enum ibv_qp_type type,
				   const struct ibv_qp_attr *attr, int attr_mask,
				   struct rdmaez_diag *diag)
{
	return rdmaez_impl_tell_qp_check_as
		       ? rdmaez_impl_tell_qp_check_as(qp, type, attr, attr_mask, diag)
		       : rdmaez_impl_untold(diag, "rdmaez_qp_check_as");
}

RDMAEZ_COLD int rdmaez_qp_check(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int attr_mask,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_tell_qp_check ? rdmaez_impl_tell_qp_check(qp, attr, attr_mask, diag)
					 : rdmaez_impl_untold(diag, "rdmaez_qp_check");
}

RDMAEZ_COLD int rdmaez_qp_examine(struct ibv_qp *qp, struct rdmaez_diag *diag)
{
	return rdmaez_impl_tell_qp_examine ? rdmaez_impl_tell_qp_examine(qp, diag)
					   : rdmaez_impl_untold(diag, "rdmaez_qp_examine");
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
