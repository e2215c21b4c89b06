/* SPDX-License-Identifier: MIT */
/**
 * @file qp.h
 * @brief Move a queue pair: build the attributes and the mask, make the transition, say why not.
 *
 * One options struct serves all transitions. What a transition requires is always sent, with a good
 * default where an option is 0; what it merely allows is sent where `optional` names it. An RC queue
 * pair comes up in three lines:
 *
 * @code
 * struct rdmaez_qp_opts opts = {0};
 * opts.dest_qp_num = peer.qp_num;
 * opts.path.dgid = peer.gid;
 * int error = rdmaez_qp_to_init(qp, &opts, &diag);
 * if (!error)
 *         error = rdmaez_qp_to_rtr(qp, &opts, &diag);
 * if (!error)
 *         error = rdmaez_qp_to_rts(qp, &opts, &diag);
 * @endcode
 *
 * The state that a function starts from is `qp->state`, which libibverbs keeps. The device may know
 * better, after an error for instance: rdmaez_qp_state() asks it and refreshes `qp->state`.
 */
#ifndef RDMAEZ_QP_H
#define RDMAEZ_QP_H

#include "qp_check.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Option: use `mtu` as it is, even above the port's active MTU. */
#define RDMAEZ_QP_MTU_EXACT 0x1u

/** @brief The Q_Key used where none is given. */
#define RDMAEZ_QP_QKEY 0x11111111u

/**
 * @brief What a queue pair shall be like. Start from all zero: every 0 stands for the default.
 *
 * Where 0 is a value of its own, #RDMAEZ_ZERO asks for it. Each field is used by the transitions that
 * send its attribute and ignored by the others, so one struct serves a whole bring-up.
 */
struct rdmaez_qp_opts {
	/** IBV_QP_ bits of optional attributes to send besides the required ones, such as
	 *  `IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE`. A bit that the transition does not take is
	 *  refused. IBV_QP_CUR_STATE sends the state the transition starts from, and
	 *  IBV_QP_EN_SQD_ASYNC_NOTIFY asks for the event; neither has a field. */
	int optional;
	unsigned int flags; /**< RDMAEZ_QP_ bits */

	/** What ibv_query_port() said of the port, to save that call on the way to RTR.
	 *  NULL: ask; rdmaez_qp_attr() cannot ask and does without. */
	const struct ibv_port_attr *port_attr;
	/** What ibv_query_device() said, so that depths fit the device. NULL: not known. */
	const struct ibv_device_attr *device_attr;

	int port;       /**< 1 to 255. 0: 1 */
	int pkey_index; /**< row of the P_Key table, 0 to 65535. 0: 0, by custom the default partition */

	/** What peers may do, IBV_ACCESS_ bits. 0: REMOTE_READ and REMOTE_WRITE for RC and
	 *  XRC_RECV, REMOTE_WRITE for UC, nothing for XRC_SEND: memory is still open only where a
	 *  region was registered for it (the kernel's connection manager does likewise).
	 *  #RDMAEZ_ZERO: nothing. */
	unsigned int access;
	uint32_t qkey; /**< UD. 0: #RDMAEZ_QP_QKEY. Bit 31 takes CAP_NET_RAW. #RDMAEZ_ZERO: 0 */

	/** The peer's MTU, or the largest wanted; the port's active MTU is the limit unless
	 *  #RDMAEZ_QP_MTU_EXACT is set. 0: the port's active MTU; 1024 where no port was asked. */
	enum ibv_mtu mtu;
	uint32_t dest_qp_num; /**< the peer's queue pair number, 24 bits */
	uint32_t rq_psn; /**< first packet number expected, the peer's `sq_psn`. 24 bits. 0: 0 */
	uint32_t sq_psn; /**< first packet number sent, the peer's `rq_psn`. 24 bits. 0: 0 */

	/** READs and atomics in flight as requester. 0: up to 16 as the device can, 1 where the
	 *  device is not known. More than the device or 255 is cut. #RDMAEZ_ZERO: none. */
	int max_rd_atomic;
	/** READs and atomics in flight as responder; as `max_rd_atomic`. With none, some providers
	 *  quietly take REMOTE_READ and REMOTE_ATOMIC away. */
	int max_dest_rd_atomic;

	/** How long a peer shall wait when no receive is posted, code 0 to 31 of
	 *  rdmaez_rnr_timer_ns(). 0: 12 (0.64 ms). #RDMAEZ_ZERO: code 0, the longest (655 ms). */
	int min_rnr_timer;
	/** How long to wait for an ACK, code 0 to 31 of rdmaez_timeout_ns(). 0: 14 (67 ms).
	 *  #RDMAEZ_ZERO: for ever, so that a lost peer is never noticed. */
	int timeout;
	int retry_cnt; /**< sends again after a timeout, 0 to 7. 0: 7. #RDMAEZ_ZERO: none */
	int rnr_retry; /**< sends again when the peer is not ready, 0 to 7; 7 is without end. 0: 7.
			    #RDMAEZ_ZERO: none */

	struct rdmaez_path
		path; /**< the way to the peer; a path needs a destination to reach RTR */

	struct rdmaez_path alt; /**< IBV_QP_ALT_PATH: another way, on native InfiniBand */
	int alt_port;           /**< its port, 1 to 255. 0: as `port` */
	int alt_pkey_index;     /**< its P_Key row, 0 to 65535 */
	int alt_timeout;        /**< its ACK timeout. 0: 14. #RDMAEZ_ZERO: for ever */
	enum ibv_mig_state path_mig_state; /**< IBV_QP_PATH_MIG_STATE. 0: MIGRATED */
	uint32_t rate_limit;               /**< IBV_QP_RATE_LIMIT, kbps. 0: no limit */
};

/** @brief A transition ready to be made: the two arguments of ibv_modify_qp(). */
struct rdmaez_qp_move {
	struct ibv_qp_attr attr; /**< zero wherever `attr_mask` names nothing */
	int attr_mask;           /**< bits of `enum ibv_qp_attr_mask` */
};

/* What peers may do to a queue pair of this type where the options leave it open. */
RDMAEZ_IMPL_FOLD unsigned int rdmaez_impl_qp_access(enum ibv_qp_type type)
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
RDMAEZ_IMPL_FOLD int rdmaez_impl_qp_depth(int given, int device_limit, const char *field,
					  uint8_t *depth, struct rdmaez_diag *diag)
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
RDMAEZ_IMPL_FOLD int rdmaez_impl_qp_small(int given, int otherwise, int max, const char *field,
					  uint8_t *out, struct rdmaez_diag *diag)
{
	const int64_t value = rdmaez_impl_option(given, otherwise);

	*out = (uint8_t)value;
	return rdmaez_impl_range(diag, field, value, 0, max);
}

/* The path MTU that the options and the port, where known, amount to; 0 or EINVAL. */
RDMAEZ_IMPL_FOLD int rdmaez_impl_qp_mtu(const struct rdmaez_qp_opts *opts,
					const struct ibv_port_attr *port, enum ibv_mtu *mtu,
					struct rdmaez_diag *diag)
{
	const bool active = port && rdmaez_mtu_bytes(port->active_mtu) != 0;

	*mtu = opts->mtu;
	if ((int)opts->mtu == 0)
		*mtu = active ? port->active_mtu : IBV_MTU_1024;
	else if (!rdmaez_mtu_bytes(opts->mtu))
		return rdmaez_impl_refuse_value(
			diag, EINVAL, (int)opts->mtu >= 256 ? RDMAEZ_MTU_IN_BYTES : RDMAEZ_ENUM,
			"path_mtu", RDMAEZ_VALUE_MTU, (int)opts->mtu, IBV_MTU_256, IBV_MTU_4096);
	else if (active && opts->mtu > port->active_mtu && !(opts->flags & RDMAEZ_QP_MTU_EXACT))
		*mtu = port->active_mtu;
	return 0;
}

/* The alternate path and what goes with it; 0 or EINVAL. `port` is that of the primary path. */
RDMAEZ_IMPL_FOLD int rdmaez_impl_qp_alternate(const struct rdmaez_qp_opts *opts, int port_num,
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
RDMAEZ_IMPL_FOLD int rdmaez_impl_qp_fill(enum ibv_qp_type type, enum ibv_qp_state from,
					 enum ibv_qp_state to, const struct rdmaez_qp_opts *opts,
					 const struct ibv_port_attr *port, int sgid_index,
					 bool judged, struct rdmaez_qp_move *move,
					 struct rdmaez_diag *diag)
{
	const int mask = rdmaez_qp_rule(type, from, to).required | IBV_QP_STATE | opts->optional;
	const struct ibv_device_attr *device = opts->device_attr;
	const int port_num = (int)rdmaez_impl_option(opts->port, 1);
	const int ports = device ? device->phys_port_cnt : 255;
	struct ibv_qp_attr *attr = &move->attr;
	int error = judged ? 0 : rdmaez_impl_qp_mask_check(type, from, to, mask, diag);

	if (opts->flags & ~RDMAEZ_QP_MTU_EXACT)
		error = rdmaez_impl_refuse_value(
			diag, EINVAL, RDMAEZ_OPTION_UNKNOWN, "opts.flags", RDMAEZ_VALUE_FLAGS,
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
				diag, EINVAL, RDMAEZ_ACCESS_BITS, "qp_access_flags",
				RDMAEZ_VALUE_ACCESS, access & ~(int64_t)known, 0, known));
	}
	if (mask & IBV_QP_PKEY_INDEX) {
		const int64_t row = rdmaez_impl_option(opts->pkey_index, 0);

		RDMAEZ_IMPL_FIND(rdmaez_impl_range(diag, "pkey_index", row, 0, 65535));
		attr->pkey_index = (uint16_t)row;
	}
	if (mask & IBV_QP_PORT) {
		if (port_num < 1 || port_num > ports)
			RDMAEZ_IMPL_FIND(rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_PORT,
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
				diag, EINVAL, RDMAEZ_ENUM, "path_mig_state", RDMAEZ_VALUE_NUMBER,
				(int)opts->path_mig_state, IBV_MIG_MIGRATED, IBV_MIG_ARMED));
		attr->path_mig_state = opts->path_mig_state;
	}
	if (mask & IBV_QP_RATE_LIMIT)
		attr->rate_limit = opts->rate_limit;
	return error;
}

/**
 * @brief Builds the attributes and the mask of a transition, without a device.
 *
 * For those who call ibv_modify_qp() themselves. The mask holds what the transition requires,
 * IBV_QP_STATE, and `opts->optional`; the attributes hold an option or its default. Nothing is asked
 * of a device, so what only a device or a peer can tell keeps the defaults written at the options: put
 * the port's answer into `opts->port_attr` for the right MTU and GRH, or complete `move->attr` before
 * use. The functions rdmaez_qp_to_init() to rdmaez_qp_to_reset() do that by themselves.
 *
 * @param type the queue pair's type
 * @param from the state it is in
 * @param to the state it shall be in; equal to @p from to change attributes only
 * @param opts what it shall be like; NULL: all defaults
 * @param move receives attributes and mask; written on success only
 * @param diag receives all findings; may be NULL
 * @retval 0 @p move is filled
 * @retval EINVAL no such transition, or `opts->optional` names what it does not take (as
 *         rdmaez_qp_mask_check()); unknown flags (#RDMAEZ_OPTION_UNKNOWN); a value outside its range
 *         (#RDMAEZ_RANGE, #RDMAEZ_PORT, #RDMAEZ_GID_INDEX) or enum (#RDMAEZ_ENUM,
 *         #RDMAEZ_MTU_IN_BYTES); access flags that are not for queue pairs (#RDMAEZ_ACCESS_BITS); no
 *         dgid where `opts->port_attr` demands a GRH (#RDMAEZ_GRH_MISSING), no destination at all
 *         (#RDMAEZ_PATH_EMPTY); @p move is NULL (#RDMAEZ_NULL_ARGUMENT)
 * @par Threads
 * May be called from any thread.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_IMPL_FOLD int rdmaez_qp_attr(enum ibv_qp_type type, enum ibv_qp_state from,
				    enum ibv_qp_state to, const struct rdmaez_qp_opts *opts,
				    struct rdmaez_qp_move *move, struct rdmaez_diag *diag)
{
	struct rdmaez_qp_opts defaults;
	struct rdmaez_qp_move trial;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_attr");
	rdmaez_impl_diag_transition(diag, type, from, to);
	if (!move)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_NULL_ARGUMENT, "move");
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

/**
 * @brief Asks the device which state a queue pair is really in, and refreshes `qp->state`.
 *
 * After an asynchronous error `qp->state` is stale until somebody asks: it shows RTS while the queue
 * pair is in ERR or SQE.
 *
 * @param qp the queue pair
 * @param state receives the state; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p state is written
 * @retval EINVAL an argument is NULL (#RDMAEZ_NULL_ARGUMENT)
 * @return any other errno of ibv_query_qp() (#RDMAEZ_QUERY_REFUSED)
 * @par Threads
 * May be called from any thread that may use @p qp.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_state(struct ibv_qp *qp, enum ibv_qp_state *state,
			       struct rdmaez_diag *diag)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_state");
	if (!qp || !state)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_NULL_ARGUMENT, qp ? "state" : "qp");
	rdmaez_impl_diag_qp(diag, qp);
	memset(&attr, 0, sizeof(attr));
	memset(&init, 0, sizeof(init));
	error = rdmaez_impl_error(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	if (error)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_QUERY_REFUSED, "ibv_query_qp");
	*state = attr.qp_state;
	return 0;
}

/* ibv_modify_qp() with the error normalised and, where it fails, explained. */
RDMAEZ_IMPL_FOLD int rdmaez_impl_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr,
					   int attr_mask, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_error(ibv_modify_qp(qp, attr, attr_mask));

	if (error && diag)
		rdmaez_impl_qp_explain(qp, attr, attr_mask, error, diag);
	return error;
}

/**
 * @brief ibv_modify_qp(), and an explanation where it fails.
 *
 * One verbs call when it works. When it fails and there is a record to fill, rdmaez_qp_check() is run,
 * which refreshes `qp->state`. Its findings are certain where they foresee this errno; where they do not,
 * what this errno usually means at this step is added as a likely one.
 *
 * @param qp the queue pair
 * @param attr as for ibv_modify_qp()
 * @param attr_mask as for ibv_modify_qp()
 * @param diag receives the explanation; may be NULL
 * @retval 0 done
 * @retval EINVAL a NULL argument (#RDMAEZ_NULL_ARGUMENT), or as ibv_modify_qp()
 * @return any errno of ibv_modify_qp(), positive also where a provider returns it negative; with the
 *         reasons of rdmaez_qp_check(), with #RDMAEZ_NEIGHBOUR, #RDMAEZ_NO_ROUTE, #RDMAEZ_NO_IPV6,
 *         #RDMAEZ_SECURITY, #RDMAEZ_NO_RESOURCES, #RDMAEZ_BUSY, #RDMAEZ_DEVICE_GONE, #RDMAEZ_TIMED_OUT
 *         or #RDMAEZ_NOT_SUPPORTED by the errno, or #RDMAEZ_REFUSED where nothing wrong was found
 * @par Threads
 * As ibv_modify_qp(): one thread at a time for one queue pair.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
				struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "ibv_modify_qp");
	if (!qp || !attr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_NULL_ARGUMENT, qp ? "attr" : "qp");
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
RDMAEZ_IMPL_FOLD int rdmaez_impl_qp_ask(struct ibv_qp *qp, int mask,
					const struct rdmaez_qp_opts *opts,
					struct rdmaez_impl_qp_facts *facts,
					struct rdmaez_diag *diag)
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
RDMAEZ_IMPL_FOLD int rdmaez_impl_qp_go(struct ibv_qp *qp, enum ibv_qp_type type,
				       enum ibv_qp_state from, enum ibv_qp_state to,
				       const struct rdmaez_qp_opts *opts, struct rdmaez_diag *diag)
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
RDMAEZ_API int rdmaez_impl_qp_go_any(struct ibv_qp *qp, enum ibv_qp_state to,
				     const struct rdmaez_qp_opts *opts, struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_go(qp, qp->qp_type, qp->state, to, opts, diag);
}

/*
 * What the six functions below have in common. RC on its way up has a copy of its own, in which the
 * compiler knows the rules; `up_from` is the state it comes from, and `to` itself off that way.
 */
RDMAEZ_IMPL_FOLD int rdmaez_impl_qp_to(struct ibv_qp *qp, enum ibv_qp_state up_from,
				       enum ibv_qp_state to, const struct rdmaez_qp_opts *opts,
				       struct rdmaez_diag *diag, const char *call)
{
	struct rdmaez_qp_opts defaults;

	rdmaez_impl_diag_reset(diag, call);
	if (!qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_NULL_ARGUMENT, "qp");
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

/**
 * @brief Moves a queue pair from RESET to INIT, or changes attributes within INIT.
 *
 * Sends the port, the P_Key index, and the access flags (connected types) or the Q_Key (UD);
 * RAW_PACKET takes the port alone. Receives may be posted from here on.
 *
 * @param qp the queue pair
 * @param opts what it shall be like; NULL: all defaults
 * @param diag receives the explanation; may be NULL
 * @retval 0 `qp->state` is INIT
 * @retval EINVAL as rdmaez_qp_attr(); or no such port (#RDMAEZ_PORT); or @p qp is NULL
 * @return any other errno of ibv_modify_qp(), as rdmaez_qp_modify()
 * @par Verbs calls
 * One ibv_modify_qp(). With a port other than 1 and no `opts->device_attr` one ibv_query_device()
 * before it: a provider may read out of bounds for a port that does not exist.
 * @par On failure
 * The queue pair stays as it was, as far as the provider keeps to that.
 * @par Threads
 * As ibv_modify_qp(): one thread at a time for one queue pair.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_to_init(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				 struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_RESET, IBV_QPS_INIT, opts, diag, "rdmaez_qp_to_init");
}

/**
 * @brief Moves a queue pair from INIT to RTR, ready to receive.
 *
 * For connected types this sends the way to the peer, the path MTU, the peer's queue pair number and
 * first PSN, and what a responder needs. `opts->dest_qp_num` and a destination in `opts->path` are
 * needed. The GRH is there exactly where the port demands one, the MTU is the smaller of the port's
 * active one and `opts->mtu`, and on RoCE a GID row is chosen unless `opts->path.sgid_index` names one.
 * On RoCE the kernel resolves the peer's Ethernet address meanwhile, which may take a second.
 *
 * @param qp the queue pair
 * @param opts what it shall be like; NULL will do for UD and RAW_PACKET
 * @param diag receives the explanation; may be NULL
 * @retval 0 `qp->state` is RTR
 * @retval EINVAL as rdmaez_qp_attr(); no peer (#RDMAEZ_RANGE of `dest_qp_num`, #RDMAEZ_GRH_MISSING,
 *         #RDMAEZ_PATH_EMPTY); @p qp is NULL
 * @retval EADDRNOTAVAIL no row of the GID table will do (#RDMAEZ_GID_NONE)
 * @retval ENODATA the row named is empty (#RDMAEZ_GID_EMPTY)
 * @return any other errno of ibv_modify_qp(), as rdmaez_qp_modify()
 * @par Verbs calls
 * One ibv_modify_qp(). For connected types one ibv_query_port() before it unless `opts->port_attr` is
 * set, and, where a GID row has to be chosen, one ibv_query_gid_ex() per row of the table.
 * @par On failure
 * The queue pair stays as it was, as far as the provider keeps to that.
 * @par Threads
 * As ibv_modify_qp(): one thread at a time for one queue pair.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_to_rtr(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_INIT, IBV_QPS_RTR, opts, diag, "rdmaez_qp_to_rtr");
}

/**
 * @brief Moves a queue pair to RTS, ready to send: from RTR, or back from SQD or SQE; or changes
 *        attributes within RTS.
 *
 * From RTR this sends the first PSN and, for connected types, the timeout, the retry counts and the
 * depth of READs and atomics in flight. From elsewhere it sends the state and `opts->optional`.
 *
 * @param qp the queue pair
 * @param opts what it shall be like; NULL: all defaults
 * @param diag receives the explanation; may be NULL
 * @retval 0 `qp->state` is RTS
 * @retval EINVAL as rdmaez_qp_attr(); @p qp is NULL
 * @return any other errno of ibv_modify_qp(), as rdmaez_qp_modify()
 * @par Verbs calls
 * One ibv_modify_qp().
 * @par On failure
 * The queue pair stays as it was, as far as the provider keeps to that.
 * @par Threads
 * As ibv_modify_qp(): one thread at a time for one queue pair.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_to_rts(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_RTR, IBV_QPS_RTS, opts, diag, "rdmaez_qp_to_rts");
}

/**
 * @brief Moves a queue pair from RTS to SQD, where its send queue drains; or changes attributes
 *        within SQD.
 *
 * SQD is the only state in which an RC queue pair may change its path, port, timers and depths: name
 * them in `opts->optional`. Name IBV_QP_EN_SQD_ASYNC_NOTIFY on the way from RTS for an
 * IBV_EVENT_SQ_DRAINED when the queue has drained. mlx5 and hns have no SQD and answer EINVAL.
 *
 * @param qp the queue pair
 * @param opts what it shall be like; NULL: all defaults
 * @param diag receives the explanation; may be NULL
 * @retval 0 `qp->state` is SQD
 * @retval EINVAL as rdmaez_qp_attr(); @p qp is NULL
 * @return any other errno, as rdmaez_qp_to_rtr()
 * @par Verbs calls
 * One ibv_modify_qp(); where IBV_QP_AV is sent, also those of rdmaez_qp_to_rtr().
 * @par On failure
 * The queue pair stays as it was, as far as the provider keeps to that.
 * @par Threads
 * As ibv_modify_qp(): one thread at a time for one queue pair.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_to_sqd(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_SQD, IBV_QPS_SQD, opts, diag, "rdmaez_qp_to_sqd");
}

/**
 * @brief Moves a queue pair to ERR, from any state but RESET: what is posted is flushed.
 *
 * @param qp the queue pair
 * @param opts no attribute goes with this transition; NULL will do
 * @param diag receives the explanation; may be NULL
 * @retval 0 `qp->state` is ERR
 * @retval EINVAL from RESET (#RDMAEZ_TRANSITION), or as rdmaez_qp_attr(); @p qp is NULL
 * @return any other errno of ibv_modify_qp(), as rdmaez_qp_modify()
 * @par Verbs calls
 * One ibv_modify_qp().
 * @par Threads
 * As ibv_modify_qp(): one thread at a time for one queue pair.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_to_err(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_ERR, IBV_QPS_ERR, opts, diag, "rdmaez_qp_to_err");
}

/**
 * @brief Moves a queue pair to RESET, from any state: what is posted is forgotten.
 *
 * Several providers also drop this queue pair's completions from its completion queues: poll them
 * first. irdma cannot use a queue pair again after RESET.
 *
 * @param qp the queue pair
 * @param opts no attribute goes with this transition; NULL will do
 * @param diag receives the explanation; may be NULL
 * @retval 0 `qp->state` is RESET
 * @retval EINVAL as rdmaez_qp_attr(); @p qp is NULL
 * @return any other errno of ibv_modify_qp(), as rdmaez_qp_modify()
 * @par Verbs calls
 * One ibv_modify_qp().
 * @par Threads
 * As ibv_modify_qp(): one thread at a time for one queue pair.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_to_reset(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				  struct rdmaez_diag *diag)
{
	return rdmaez_impl_qp_to(qp, IBV_QPS_RESET, IBV_QPS_RESET, opts, diag,
				 "rdmaez_qp_to_reset");
}

#ifdef __cplusplus
}
#endif

#endif
