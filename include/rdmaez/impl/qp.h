/* SPDX-License-Identifier: MIT */
/* Bodies of qp.h. */
#ifndef RDMAEZ_IMPL_QP_H
#define RDMAEZ_IMPL_QP_H

#include "../qp.h"

#if RDMAEZ_IMPL_BODIES

#include "qp_check.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What peers may do to a queue pair of this type where the options leave it open. */
RDMAEZ_FOLD unsigned int rdmaez_impl_qp_access(enum ibv_qp_type type)
{
	switch ((int)type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_RECV:
		return IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	case IBV_QPT_UC:
		return IBV_ACCESS_REMOTE_WRITE;
	default:
		return 0;
	}
}

/* A read/atomic depth: the device's limit, -1 if unknown, and the field's eight bits cut it. */
RDMAEZ_FOLD int rdmaez_impl_qp_depth(int given, int device_limit, const char *field, uint8_t *depth,
				     struct rdmaez_diag *diag)
{
	const int64_t wanted = rdmaez_impl_option(given, 16);
	const int64_t limit = device_limit >= 0 && device_limit < 255 ? device_limit : 255;

	if (!given && device_limit < 0) {
		*depth = 1;
		return 0;
	}
	*depth = (uint8_t)(wanted < limit ? wanted : limit);
	return wanted >= 0 ? 0 : rdmaez_impl_range(diag, field, wanted, 0, limit);
}

/* A field of few bits with a default; 0 or EINVAL. */
RDMAEZ_FOLD int rdmaez_impl_qp_small(int given, int otherwise, int max, const char *field,
				     uint8_t *out, struct rdmaez_diag *diag)
{
	const int64_t value = rdmaez_impl_option(given, otherwise);

	*out = (uint8_t)value;
	return rdmaez_impl_range(diag, field, value, 0, max);
}

/* The path MTU that the options and the port, where known, amount to; 0 or EINVAL. */
RDMAEZ_FOLD int rdmaez_impl_qp_mtu(const struct rdmaez_qp_opts *opts,
				   const struct ibv_port_attr *port, enum ibv_mtu *mtu,
				   struct rdmaez_diag *diag)
{
	const bool active = port && rdmaez_mtu_bytes(port->active_mtu) != 0;

	*mtu = opts->mtu;
	if ((int)opts->mtu == 0)
		*mtu = active ? port->active_mtu : IBV_MTU_1024;
	else if (!rdmaez_mtu_bytes(opts->mtu))
		return rdmaez_impl_refuse_value(
			diag, EINVAL,
			(int)opts->mtu >= 256 ? RDMAEZ_WHY_MTU_IN_BYTES : RDMAEZ_WHY_ENUM,
			"path_mtu", RDMAEZ_VALUE_MTU, (int)opts->mtu, IBV_MTU_256, IBV_MTU_4096);
	else if (active && opts->mtu > port->active_mtu && !(opts->flags & RDMAEZ_QP_MTU_EXACT))
		*mtu = port->active_mtu;
	return 0;
}

/* The alternate path and what goes with it; 0 or EINVAL. `port` is that of the primary path. */
RDMAEZ_FOLD int rdmaez_impl_qp_alternate(const struct rdmaez_qp_opts *opts, int port_num,
					 bool judged, const struct ibv_port_attr *port,
					 struct ibv_qp_attr *attr, struct rdmaez_diag *diag)
{
	const int alt_port = (int)rdmaez_impl_option(opts->alt_port, port_num);
	const int64_t pkey_index = rdmaez_impl_option(opts->alt_pkey_index, 0);
	int error = 0;

	RDMAEZ_IMPL_FIND(rdmaez_impl_path_fill(&opts->alt, true, judged, opts->alt.sgid_index,
					       alt_port, alt_port == port_num ? port : NULL,
					       &attr->alt_ah_attr, diag));
	RDMAEZ_IMPL_FIND(rdmaez_impl_range(diag, "alt_pkey_index", pkey_index, 0, 65535));
	RDMAEZ_IMPL_FIND(rdmaez_impl_qp_small(opts->alt_timeout, 14, 31, "alt_timeout",
					      &attr->alt_timeout, diag));
	attr->alt_port_num = (uint8_t)alt_port;
	attr->alt_pkey_index = (uint16_t)pkey_index;
	return error;
}

/*
 * The heart of the builders: fills `move`, which is zeroed, and returns 0 or EINVAL with all findings.
 * `port` and the two GID rows are what the caller found out about the ports, NULL and the option's own
 * value where it did not ask. Inlined, because most of it vanishes where type and states are constant.
 */
RDMAEZ_FOLD int rdmaez_impl_qp_fill(enum ibv_qp_type type, enum ibv_qp_state from,
				    enum ibv_qp_state to, const struct rdmaez_qp_opts *opts,
				    const struct ibv_port_attr *port, int sgid_index, bool judged,
				    struct rdmaez_qp_move *move, struct rdmaez_diag *diag)
{
	const int mask = rdmaez_qp_rule(type, from, to).required | IBV_QP_STATE | opts->optional;
	const struct ibv_device_attr *device = opts->device_attr;
	const int port_num = (int)rdmaez_impl_option(opts->port, 1);
	const int ports = device ? device->phys_port_cnt : 255;
	struct ibv_qp_attr *attr = &move->attr;
	int error = judged ? 0 : rdmaez_impl_qp_mask_check(type, from, to, mask, diag);

	if (opts->flags & ~RDMAEZ_QP_MTU_EXACT)
		error = rdmaez_impl_refuse_value(
			diag, EINVAL, RDMAEZ_WHY_OPTION_UNKNOWN, "opts.flags", RDMAEZ_VALUE_FLAGS,
			opts->flags & ~RDMAEZ_QP_MTU_EXACT, 0, RDMAEZ_QP_MTU_EXACT);
	if (error)
		return error;

	move->attr_mask = mask;
	attr->qp_state = to;
	if (mask & IBV_QP_CUR_STATE)
		attr->cur_qp_state = from;
	if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		attr->en_sqd_async_notify = 1;
	if (mask & IBV_QP_ACCESS_FLAGS) {
		/* FLUSH_GLOBAL and FLUSH_PERSISTENT, bits 8 and 9, have names from rdma-core 58. */
		const unsigned int known = 0x31fu;
		const int64_t access =
			rdmaez_impl_option(opts->access, rdmaez_impl_qp_access(type));

		attr->qp_access_flags = (unsigned int)access;
		if (attr->qp_access_flags & ~known)
			RDMAEZ_IMPL_FIND(rdmaez_impl_refuse_value(
				diag, EINVAL, RDMAEZ_WHY_ACCESS_BITS, "qp_access_flags",
				RDMAEZ_VALUE_ACCESS, access & ~(int64_t)known, 0, known));
	}
	if (mask & IBV_QP_PKEY_INDEX) {
		const int64_t row = rdmaez_impl_option(opts->pkey_index, 0);

		RDMAEZ_IMPL_FIND(rdmaez_impl_range(diag, "pkey_index", row, 0, 65535));
		attr->pkey_index = (uint16_t)row;
	}
	if (mask & IBV_QP_PORT) {
		if (port_num < 1 || port_num > ports)
			RDMAEZ_IMPL_FIND(rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_PORT,
								  "port_num", RDMAEZ_VALUE_NUMBER,
								  port_num, 1, ports));
		attr->port_num = (uint8_t)port_num;
	}
	if (mask & IBV_QP_QKEY)
		attr->qkey = (uint32_t)rdmaez_impl_option(opts->qkey, RDMAEZ_QP_QKEY);
	if (mask & IBV_QP_AV)
		RDMAEZ_IMPL_FIND(rdmaez_impl_path_fill(&opts->path, false, judged, sgid_index,
						       port_num, port, &attr->ah_attr, diag));
	if (mask & IBV_QP_PATH_MTU)
		RDMAEZ_IMPL_FIND(rdmaez_impl_qp_mtu(opts, port, &attr->path_mtu, diag));
	if (mask & IBV_QP_DEST_QPN) {
		/* With a port at hand this is for use, and needs a peer. */
		RDMAEZ_IMPL_FIND(rdmaez_impl_range(diag, "dest_qp_num", opts->dest_qp_num,
						   port ? 1 : 0, RDMAEZ_24_BITS));
		attr->dest_qp_num = opts->dest_qp_num;
	}
	if (mask & IBV_QP_RQ_PSN) {
		RDMAEZ_IMPL_FIND(
			rdmaez_impl_range(diag, "rq_psn", opts->rq_psn, 0, RDMAEZ_24_BITS));
		attr->rq_psn = opts->rq_psn;
	}
	if (mask & IBV_QP_SQ_PSN) {
		RDMAEZ_IMPL_FIND(
			rdmaez_impl_range(diag, "sq_psn", opts->sq_psn, 0, RDMAEZ_24_BITS));
		attr->sq_psn = opts->sq_psn;
	}
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		RDMAEZ_IMPL_FIND(rdmaez_impl_qp_depth(opts->max_rd_atomic,
						      device ? device->max_qp_init_rd_atom : -1,
						      "max_rd_atomic", &attr->max_rd_atomic, diag));
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		RDMAEZ_IMPL_FIND(rdmaez_impl_qp_depth(
			opts->max_dest_rd_atomic, device ? device->max_qp_rd_atom : -1,
			"max_dest_rd_atomic", &attr->max_dest_rd_atomic, diag));
	if (mask & IBV_QP_MIN_RNR_TIMER)
		RDMAEZ_IMPL_FIND(rdmaez_impl_qp_small(opts->min_rnr_timer, 12, 31, "min_rnr_timer",
						      &attr->min_rnr_timer, diag));
	if (mask & IBV_QP_TIMEOUT)
		RDMAEZ_IMPL_FIND(rdmaez_impl_qp_small(opts->timeout, 14, 31, "timeout",
						      &attr->timeout, diag));
	if (mask & IBV_QP_RETRY_CNT)
		RDMAEZ_IMPL_FIND(rdmaez_impl_qp_small(opts->retry_cnt, 7, 7, "retry_cnt",
						      &attr->retry_cnt, diag));
	if (mask & IBV_QP_RNR_RETRY)
		RDMAEZ_IMPL_FIND(rdmaez_impl_qp_small(opts->rnr_retry, 7, 7, "rnr_retry",
						      &attr->rnr_retry, diag));
	if (mask & IBV_QP_ALT_PATH)
		RDMAEZ_IMPL_FIND(
			rdmaez_impl_qp_alternate(opts, port_num, judged, port, attr, diag));
	if (mask & IBV_QP_PATH_MIG_STATE) {
		if ((unsigned int)opts->path_mig_state > IBV_MIG_ARMED)
			RDMAEZ_IMPL_FIND(rdmaez_impl_refuse_value(
				diag, EINVAL, RDMAEZ_WHY_ENUM, "path_mig_state",
				RDMAEZ_VALUE_NUMBER, (int)opts->path_mig_state, IBV_MIG_MIGRATED,
				IBV_MIG_ARMED));
		attr->path_mig_state = opts->path_mig_state;
	}
	if (mask & IBV_QP_RATE_LIMIT)
		attr->rate_limit = opts->rate_limit;
	return error;
}

RDMAEZ_API int rdmaez_qp_attr(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
			      const struct rdmaez_qp_opts *opts, struct rdmaez_qp_move *move,
			      struct rdmaez_diag *diag)
{
	struct rdmaez_qp_opts defaults;
	struct rdmaez_qp_move trial;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_attr");
	rdmaez_impl_diag_transition(diag, type, from, to);
	if (!move)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "move");
	if (!opts) {
		memset(&defaults, 0, sizeof(defaults));
		opts = &defaults;
	}
	/*
	 * Filled twice, where copying would do: nobody reads the trial, so the compiler leaves only its
	 * checks, and of the second only its stores. That is what one would write by hand.
	 */
	error = rdmaez_impl_qp_fill(type, from, to, opts, opts->port_attr, opts->path.sgid_index,
				    false, &trial, diag);
	if (error)
		return error;
	memset(move, 0, sizeof(*move));
	rdmaez_impl_qp_fill(type, from, to, opts, opts->port_attr, opts->path.sgid_index, true,
			    move, diag);
	return 0;
}

RDMAEZ_API int rdmaez_qp_state(struct ibv_qp *qp, enum ibv_qp_state *state,
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
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_qp");
	*state = attr.qp_state;
	return 0;
}

/* ibv_modify_qp() with the error normalised and, where it fails, explained. */
RDMAEZ_FOLD int rdmaez_impl_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
				      struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_error(ibv_modify_qp(qp, attr, attr_mask));

	if (error && diag)
		rdmaez_impl_qp_explain(qp, attr, attr_mask, error, diag);
	return error;
}

RDMAEZ_API int rdmaez_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
				struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "ibv_modify_qp");
	if (!qp || !attr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  qp ? "attr" : "qp");
	rdmaez_impl_diag_qp(diag, qp);
	return rdmaez_impl_qp_modify(qp, attr, attr_mask, diag);
}

/* What a transition needs to know of its ports; see rdmaez_impl_qp_ask(). */
struct rdmaez_impl_qp_facts {
	struct ibv_port_attr queried;
	const struct ibv_port_attr *port; /* &queried, or the options' */
	int sgid_index;                   /* the option's value, or the row chosen */
};

/*
 * Finds out what `mask` needs and the options do not say: the port's attributes and a GID row for an
 * address vector, the number of ports for a port beyond the first. A provider may index an array with
 * the port before anybody checks it (mlx5 with RAW_PACKET), so it must be right before it is sent.
 */
RDMAEZ_FOLD int rdmaez_impl_qp_ask(struct ibv_qp *qp, int mask, const struct rdmaez_qp_opts *opts,
				   struct rdmaez_impl_qp_facts *facts, struct rdmaez_diag *diag)
{
	const int port_num = (int)rdmaez_impl_option(opts->port, 1);
	const struct rdmaez_path *path = &opts->path;
	int error;

	facts->port = opts->port_attr;
	facts->sgid_index = path->sgid_index;
	if ((mask & IBV_QP_PORT) && port_num != 1 && !opts->device_attr) {
		error = rdmaez_impl_port_exists(qp->context, port_num, diag);
		if (error)
			return error;
	}
	if (!(mask & IBV_QP_AV))
		return 0;
	if (!facts->port) {
		error = rdmaez_impl_port_query(qp->context, port_num, &facts->queried, diag);
		if (error)
			return error;
		facts->port = &facts->queried;
	}
	if (!path->sgid_index && !rdmaez_gid_is_zero(&path->dgid) &&
	    (rdmaez_path_needs_grh(facts->port) || (path->flags & RDMAEZ_PATH_GRH))) {
		struct rdmaez_gid_want want;
		struct ibv_gid_entry row;

		memset(&want, 0, sizeof(want));
		want.peer = path->dgid;
		error = rdmaez_impl_port_choose_gid(qp->context, port_num, facts->port, &want, &row,
						    diag);
		if (error)
			return error;
		facts->sgid_index = rdmaez_exactly((int)row.gid_index);
	}
	return 0;
}

/* Asks, builds, moves. Most of it vanishes where type and states are constant. */
RDMAEZ_FOLD int rdmaez_impl_qp_go(struct ibv_qp *qp, enum ibv_qp_type type, enum ibv_qp_state from,
				  enum ibv_qp_state to, const struct rdmaez_qp_opts *opts,
				  struct rdmaez_diag *diag)
{
	const struct rdmaez_qp_rule rule = rdmaez_qp_rule(type, from, to);
	struct rdmaez_impl_qp_facts facts;
	struct rdmaez_qp_move move;
	int error = rdmaez_impl_qp_ask(qp, rule.required | (rule.optional & opts->optional), opts,
				       &facts, diag);

	if (error)
		return error;
	memset(&move, 0, sizeof(move));
	error = rdmaez_impl_qp_fill(type, from, to, opts, facts.port, facts.sgid_index, false,
				    &move, diag);
	if (error)
		return error;
	return rdmaez_impl_qp_modify(qp, &move.attr, move.attr_mask, diag);
}

/* The same where type and state are known at run time only: one copy for all, since it is long. */
RDMAEZ_IMPL int rdmaez_impl_qp_go_any(struct ibv_qp *qp, enum ibv_qp_state to,
				      const struct rdmaez_qp_opts *opts, struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_go(qp, qp->qp_type, qp->state, to, opts, diag);
}

/*
 * What the six functions below have in common. RC on its way up has a copy of its own, in which the
 * compiler knows the rules; `up_from` is the state it comes from, and `to` itself off that way.
 */
RDMAEZ_FOLD int rdmaez_impl_qp_to(struct ibv_qp *qp, enum ibv_qp_state up_from,
				  enum ibv_qp_state to, const struct rdmaez_qp_opts *opts,
				  struct rdmaez_diag *diag, const char *call)
{
	struct rdmaez_qp_opts defaults;

	rdmaez_impl_diag_reset(diag, call);
	if (!qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "qp");
	rdmaez_impl_diag_qp(diag, qp);
	rdmaez_impl_diag_transition(diag, qp->qp_type, qp->state, to);
	if (!opts) {
		memset(&defaults, 0, sizeof(defaults));
		opts = &defaults;
	}
	if (up_from != to && qp->qp_type == IBV_QPT_RC && qp->state == up_from)
		return rdmaez_impl_qp_go(qp, IBV_QPT_RC, up_from, to, opts, diag);
	return rdmaez_impl_qp_go_any(qp, to, opts, diag);
}

RDMAEZ_API int rdmaez_qp_to_init(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				 struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_RESET, IBV_QPS_INIT, opts, diag, "rdmaez_qp_to_init");
}

RDMAEZ_API int rdmaez_qp_to_rtr(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_INIT, IBV_QPS_RTR, opts, diag, "rdmaez_qp_to_rtr");
}

RDMAEZ_API int rdmaez_qp_to_rts(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_RTR, IBV_QPS_RTS, opts, diag, "rdmaez_qp_to_rts");
}

RDMAEZ_API int rdmaez_qp_to_sqd(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_SQD, IBV_QPS_SQD, opts, diag, "rdmaez_qp_to_sqd");
}

RDMAEZ_API int rdmaez_qp_to_err(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_ERR, IBV_QPS_ERR, opts, diag, "rdmaez_qp_to_err");
}

RDMAEZ_API int rdmaez_qp_to_reset(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				  struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_RESET, IBV_QPS_RESET, opts, diag,
				 "rdmaez_qp_to_reset");
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
