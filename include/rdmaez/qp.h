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

#include "path.h"

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
 *         rdmaez_qp_mask_check()); unknown flags (#RDMAEZ_WHY_OPTION_UNKNOWN); a value outside its range
 *         (#RDMAEZ_WHY_RANGE, #RDMAEZ_WHY_PORT, #RDMAEZ_WHY_GID_INDEX) or enum (#RDMAEZ_WHY_ENUM,
 *         #RDMAEZ_WHY_MTU_IN_BYTES); access flags that are not for queue pairs (#RDMAEZ_WHY_ACCESS_BITS); no
 *         dgid where `opts->port_attr` demands a GRH (#RDMAEZ_WHY_GRH_MISSING), no destination at all
 *         (#RDMAEZ_WHY_PATH_EMPTY); @p move is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @par Threads
 * May be called from any thread.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_attr(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
			      const struct rdmaez_qp_opts *opts, struct rdmaez_qp_move *move,
			      struct rdmaez_diag *diag);

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
 * @retval EINVAL an argument is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any other errno of ibv_query_qp() (#RDMAEZ_WHY_QUERY_REFUSED)
 * @par Threads
 * May be called from any thread that may use @p qp.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_state(struct ibv_qp *qp, enum ibv_qp_state *state,
			       struct rdmaez_diag *diag);

/**
 * @brief Asks whether ibv_modify_qp() would accept a request, and changes nothing.
 *
 * Reads the queue pair's true state (not `qp->state`, which it refreshes), the device's limits, the
 * port, the GID and P_Key rows, and judges as the kernel and the device's driver do. Reports all that
 * is wrong, errors before advice; with 0 there may still be advice, about values that are accepted and
 * bring trouble later, and likely findings, about what cannot be seen from here.
 *
 * It answers 0 for whatever the kernel accepts. It cannot foresee what only trying shows: whether the
 * peer's Ethernet address resolves, what firmware says, and whether the process may set a privileged
 * Q_Key. rdmaez_qp_modify() explains those afterwards.
 *
 * @param qp the queue pair
 * @param attr the attributes, as for ibv_modify_qp()
 * @param attr_mask the mask, as for ibv_modify_qp()
 * @param diag receives all findings; may be NULL
 * @retval 0 the kernel would accept it, as far as can be seen
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), or the kernel would say so
 * @retval ENODATA the GID row named is empty (#RDMAEZ_WHY_GID_EMPTY)
 * @retval ENODEV the GID row's network interface is gone (#RDMAEZ_WHY_GID_NO_NETDEV)
 * @retval EOPNOTSUPP bits that are no attribute (#RDMAEZ_WHY_MASK_UNKNOWN) or that the driver does not take
 *         (#RDMAEZ_WHY_MASK_RATE_LIMIT, #RDMAEZ_WHY_MASK_DRIVER)
 * @return the errno of ibv_query_qp() where the queue pair cannot be asked (#RDMAEZ_WHY_QUERY_REFUSED)
 * @par Verbs calls
 * ibv_query_qp(), ibv_query_device(), ibv_query_port(), and ibv_query_gid_ex() and ibv_query_pkey()
 * for the rows named.
 * @par Threads
 * May be called from any thread that may use @p qp.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_COLD int rdmaez_qp_check(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int attr_mask,
				struct rdmaez_diag *diag);

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
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), or as ibv_modify_qp()
 * @return any errno of ibv_modify_qp(), positive also where a provider returns it negative; with the
 *         reasons of rdmaez_qp_check(), with #RDMAEZ_WHY_NEIGHBOUR, #RDMAEZ_WHY_NO_ROUTE, #RDMAEZ_WHY_NO_IPV6,
 *         #RDMAEZ_WHY_SECURITY, #RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_TIMED_OUT
 *         or #RDMAEZ_WHY_NOT_SUPPORTED by the errno, or #RDMAEZ_WHY_REFUSED where nothing wrong was found
 * @par Threads
 * As ibv_modify_qp(): one thread at a time for one queue pair.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
				struct rdmaez_diag *diag);

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
 * @retval EINVAL as rdmaez_qp_attr(); or no such port (#RDMAEZ_WHY_PORT); or @p qp is NULL
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
				 struct rdmaez_diag *diag);

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
 * @retval EINVAL as rdmaez_qp_attr(); no peer (#RDMAEZ_WHY_RANGE of `dest_qp_num`, #RDMAEZ_WHY_GRH_MISSING,
 *         #RDMAEZ_WHY_PATH_EMPTY); @p qp is NULL
 * @retval EADDRNOTAVAIL no row of the GID table will do (#RDMAEZ_WHY_GID_NONE)
 * @retval ENODATA the row named is empty (#RDMAEZ_WHY_GID_EMPTY)
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
				struct rdmaez_diag *diag);

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
				struct rdmaez_diag *diag);

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
				struct rdmaez_diag *diag);

/**
 * @brief Moves a queue pair to ERR, from any state but RESET: what is posted is flushed.
 *
 * @param qp the queue pair
 * @param diag receives the explanation; may be NULL
 * @retval 0 `qp->state` is ERR
 * @retval EINVAL from RESET (#RDMAEZ_WHY_TRANSITION), or as rdmaez_qp_attr(); @p qp is NULL
 * @return any other errno of ibv_modify_qp(), as rdmaez_qp_modify()
 * @par Verbs calls
 * One ibv_modify_qp().
 * @par Threads
 * As ibv_modify_qp(): one thread at a time for one queue pair.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_to_err(struct ibv_qp *qp, struct rdmaez_diag *diag);

/**
 * @brief Moves a queue pair to RESET, from any state: what is posted is forgotten.
 *
 * Several providers also drop this queue pair's completions from its completion queues: poll them
 * first. irdma cannot use a queue pair again after RESET.
 *
 * @param qp the queue pair
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
RDMAEZ_API int rdmaez_qp_to_reset(struct ibv_qp *qp, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#include "impl/qp.h"

#endif
