/* SPDX-License-Identifier: MIT */
/**
 * @file drain.h
 * @brief After connecting: drain a queue pair, change it in use, resume or recover it, and destroy it in order.
 *
 * When a queue pair goes to RESET or is destroyed, its outstanding work requests vanish without a completion. In ERR
 * they complete with IBV_WC_WR_FLUSH_ERR, whether they are signaled or not. rdmaez_qp_drain() polls until the last one
 * has completed. How it recognises the last one depends on the driver:
 *
 * - A beacon is one more work request on each queue, which completes after all others. rdmaez posts beacons with
 *   bnxt_re, hns_roce, ib_mthca, ionic_rdma, irdma, mlx4_ib, mlx5_ib, qedr, rdma_rxe, vmw_pvrdma and the drivers that
 *   driver.h does not list.
 * - efa, erdma, iw_cxgb4, mana_ib, ocrdma and siw refuse or keep what is posted in ERR; hfi1 and ib_qib keep receives.
 *   With these drivers you say how many work requests are outstanding (`sends`, `recvs`), and draining ends when that
 *   many have completed. Signal every send in this case: a send that succeeds unsignaled never completes. The same goes
 *   for the sends of RAW_PACKET and driver types.
 *
 * If a queue has no beacon and you give no number, nothing shows its end, and waiting until the deadline would not
 * help. Draining then returns ETIMEDOUT as soon as it has seen the ends of the other queues and no work request of the
 * queue pair has completed for 0.1 s. With #RDMAEZ_DRAIN_ANYWAY, rdmaez_qp_destroy() and rdmaez_qp_recover() go on
 * after that.
 *
 * A completion queue needs an entry for every work request of all its queue pairs, signaled or not, and one more entry
 * for each of their queues. If a completion queue is full, some devices (rxe, for example) drop completions. If a work
 * queue is full, rdmaez posts its beacon as soon as a work request has completed. The `wr_id` of a beacon is the
 * address of `state` or `qp_num` of struct ibv_qp. If you go on polling after draining has timed out, ignore
 * completions with these values.
 *
 * @par Whose completions are polled
 * Verbs cannot poll the completions of one queue pair alone. A poll takes the completions of every queue pair that
 * shares the completion queue. Each function that polls therefore needs a callback to deliver them to, `completed`, and
 * returns EINVAL without one. If no other queue pair uses the completion queues, and you do not need to know how the
 * last work requests ended, set #RDMAEZ_DRAIN_DISCARD instead.
 *
 * @par Shared receive queues
 * A queue pair with a shared receive queue has no receive queue of its own, and nothing can be posted to mark its end.
 * The end is IBV_EVENT_QP_LAST_WQE_REACHED. efa, erdma, irdma, iw_cxgb4, mana_ib, qedr, siw and, before Linux 6.12,
 * rdma_rxe never send this event. With other drivers, wait for it with rdmaez_event_next() after rdmaez_qp_to_err(),
 * and then drain with #RDMAEZ_DRAIN_LAST_WQE. Either way rdmaez polls the receive side's completion queue until it
 * finds it empty once.
 *
 * @par What may be returned
 * Every function returns EINVAL for a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), except where its text allows NULL. You
 * may always pass NULL as `diag`. A function may also return any errno value of the verbs that it calls.
 *
 * @par Deadlines
 * A timeout is in ns, and covers the whole call. 0 means 10 s, #RDMAEZ_NS_NOW means one look, and #RDMAEZ_NS_FOREVER
 * means no deadline.
 *
 * @par Threads
 * While a function runs, no other thread may post to the queue pair, modify it, or poll its completion queues. If your
 * threads poll all the time, use rdmaez_drain_begin(). The thread that drains calls `completed` between two looks at a
 * queue. There you may post to other queue pairs, but you must not poll. You can drain and resume a queue pair of an
 * rdma_cm_id with these functions, but librdmacm creates and destroys it.
 *
 * @par Verbs calls
 * As listed with each function. rdmaez_drain_begin() makes the calls of rdmaez_qp_drain(), except for polling.
 * rdmaez_drain_wc() makes the calls for a beacon. rdmaez_qp_change() makes the calls of
 * rdmaez_qp_quiesce() and rdmaez_qp_to_sqd(). rdmaez_qp_destroy() makes those of rdmaez_qp_drain() and
 * ibv_destroy_qp().
 * @par Sources
 * The drivers' source, as for driver.h.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_DRAIN_H
#define RDMAEZ_DRAIN_H

#ifndef RDMAEZ_ENDPOINT_H
#include "endpoint.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The queues of a queue pair, in `struct rdmaez_drained` and `struct rdmaez_drain`. */
enum rdmaez_queues {
	RDMAEZ_QUEUE_SEND = 1 << 0, /**< the send queue */
	RDMAEZ_QUEUE_RECV = 1 << 1  /**< the receive queue, or what was taken from a shared one */
};

/** @brief Flags of rdmaez_drain_opts. */
enum rdmaez_drain_flags {
	/** You have read IBV_EVENT_QP_LAST_WQE_REACHED of this queue pair. */
	RDMAEZ_DRAIN_LAST_WQE = 1 << 0,
	/** rdmaez_qp_destroy() and rdmaez_qp_recover() go on even if draining fails or takes too long. */
	RDMAEZ_DRAIN_ANYWAY = 1 << 1,
	/** No other queue pair uses the completion queues. Without `completed`, the completions may be lost. */
	RDMAEZ_DRAIN_DISCARD = 1 << 2
};

/** @brief Options for draining. Start from all zero. */
struct rdmaez_drain_opts {
	unsigned int flags;  /**< enum rdmaez_drain_flags */
	uint64_t timeout_ns; /**< the deadline in ns, but not rdmaez_drain_begin()'s; 0: 10 s */
	/** Receives every completion that is polled, except beacons. If other queue pairs share a completion queue, it
	 *  receives theirs too. If a completion failed, its `opcode` is not valid. NULL: a function that has to poll
	 *  returns EINVAL, unless #RDMAEZ_DRAIN_DISCARD is set; then the completions are counted, and lost.
	 *  rdmaez_drain_begin() does not poll. */
	void (*completed)(void *arg, const struct ibv_wc *wc);
	void *arg; /**< passed to `completed` */
	/** How many sends are outstanding. Less than 1: you do not know. #RDMAEZ_ZERO: none, and no beacon is posted.
	 *  If both queues share a completion queue, they are counted together, so give both numbers. */
	int sends;
	int recvs; /**< the same for receives; ignored with a shared receive queue */
	/** UD: any address handle of the protection domain, for the beacon, which is never sent. NULL: rdmaez creates
	 *  one and destroys it again. rdmaez_drain_begin() creates none: without a handle it counts the sends. */
	struct ibv_ah *ah;
};

/** @brief What draining has found. */
struct rdmaez_drained {
	unsigned int
		flushed; /**< work requests of the queue pair that completed with IBV_WC_WR_FLUSH_ERR */
	unsigned int
		completed;   /**< those that completed otherwise: they succeeded, or failed first */
	unsigned int others; /**< completions of other queue pairs */
	/** The queues whose ends were not seen, so that more may complete: enum rdmaez_queues. After success it is 0,
	 *  or #RDMAEZ_QUEUE_RECV with a shared receive queue and without #RDMAEZ_DRAIN_LAST_WQE. */
	unsigned int open;
};

/** @brief Options for rdmaez_qp_recover(). Start from all zero. */
struct rdmaez_recover_opts {
	struct rdmaez_drain_opts drain; /**< how to drain */
	/** The attributes that you created the queue pair with. Copy them before you call ibv_create_qp(), because that
	 *  call writes the granted sizes into `cap`. With the granted sizes, the queues would grow each time. If its
	 *  completion queues or SRQ are NULL, the queue pair's own are used. NULL: the queue pair is not recreated. */
	const struct ibv_qp_init_attr *init_attr;
	const struct rdmaez_qp_opts *qp; /**< for rdmaez_endpoint_local(); NULL: all defaults */
};

/** @brief Draining in progress. You read `waits` and `drained`. */
struct rdmaez_drain {
	unsigned int
		waits; /**< the queues whose ends it has not seen, enum rdmaez_queues; 0: draining is done */
	struct rdmaez_drained drained; /**< what it has found so far */
	struct ibv_qp *qp;             /**< the queue pair */
	struct rdmaez_drain_opts opts; /**< the options that you gave */
	int left[2];      /**< how many are outstanding on each completion queue; -1: not known */
	uint8_t queue[2]; /**< how the end of each queue is recognised */
	uint8_t together; /**< whether both queues have one completion queue */
	uint32_t wr[2];   /**< the size of each queue; 0: not known */
};

/**
 * @brief Moves a queue pair to ERR and polls its completion queues until none of its work requests is outstanding.
 *
 * It calls ibv_modify_qp() even if the queue pair is in ERR already, because some libraries flush only the queue pairs
 * that they have moved there themselves. In RESET nothing is outstanding, and the function does nothing. The exception
 * is iWARP, where librdmacm connects without telling libibverbs. If `sends` and `recvs` say that nothing is
 * outstanding, it does not poll. You may call it again.
 *
 * @param qp the queue pair
 * @param opts the options; NULL: all defaults; the call then cannot poll
 * @param drained receives what was found, even with ETIMEDOUT; may be NULL
 * @param diag receives the explanation
 * @retval 0 nothing is outstanding; see `drained->open`
 * @retval ETIMEDOUT the end of a queue was not seen in time. For each such queue, a finding names it (`opts.sends`,
 *         `opts.recvs`) and says why: it has no beacon and you gave no number (#RDMAEZ_WHY_DRAIN_UNCOUNTED,
 *         #RDMAEZ_WHY_DRAIN_NO_AH), some work requests are left (#RDMAEZ_WHY_DRAIN_LEFT), the beacon has not come back
 *         (#RDMAEZ_WHY_DRAIN_BEACON) or found no room (#RDMAEZ_WHY_DRAIN_FULL). A likely cause is a completion queue
 *         that was too small (#RDMAEZ_WHY_DRAIN_CQ). After a second or more, @p diag also reports an asynchronous event
 *         that nobody has read (#RDMAEZ_WHY_EVENT_UNREAD) and a state that has changed (#RDMAEZ_WHY_QP_STALE)
 * @retval EINVAL unknown flags (#RDMAEZ_WHY_OPTION_UNKNOWN); something has to be polled, and there is neither
 *         `opts.completed` nor #RDMAEZ_DRAIN_DISCARD (#RDMAEZ_WHY_DRAIN_NOWHERE): nothing is done
 * @retval EIO ibv_poll_cq() failed (#RDMAEZ_WHY_DEVICE_GONE)
 * @return any errno value of rdmaez_qp_to_err()
 * @par Verbs calls
 * ibv_modify_qp() to ERR, before and after the beacons; ibv_query_device() and ibv_query_qp() for the driver and the
 * queues' sizes; ibv_post_send(), ibv_post_recv(), ibv_poll_cq(). For UD without `ah`, also ibv_query_port(),
 * ibv_query_gid_table(), ibv_create_ah() and ibv_destroy_ah().
 */
RDMAEZ_COLD int rdmaez_qp_drain(struct ibv_qp *qp, const struct rdmaez_drain_opts *opts,
				struct rdmaez_drained *drained, struct rdmaez_diag *diag);

/**
 * @brief Begins to drain, in a program whose threads poll the completion queues all the time.
 *
 * It does what rdmaez_qp_drain() does before it polls. From then on, pass every completion of the two completion queues
 * to rdmaez_drain_wc(). Draining is done when `drain->waits` is 0. With a shared receive queue, continue until you have
 * found the receive side's completion queue empty. You keep the deadline yourself.
 *
 * `drain` has no lock, so use one of your own. The thread that makes this call takes the lock before the call, and
 * keeps it until the call has returned. A thread that polls takes the lock before it polls, and keeps it until it has
 * passed every completion to rdmaez_drain_wc().
 *
 * @param qp the queue pair
 * @param opts the options; NULL: all defaults; `timeout_ns` is ignored
 * @param drain receives the state
 * @param diag receives the explanation
 * @return as rdmaez_qp_drain(), without ETIMEDOUT and #RDMAEZ_WHY_DRAIN_NOWHERE
 */
RDMAEZ_COLD int rdmaez_drain_begin(struct ibv_qp *qp, const struct rdmaez_drain_opts *opts,
				   struct rdmaez_drain *drain, struct rdmaez_diag *diag);

/**
 * @brief Looks at a completion while a queue pair is draining, and passes it to `opts.completed` unless it is a beacon.
 *
 * If a beacon found no room before, this call posts it.
 *
 * @param drain the state
 * @param cq the completion queue that you polled
 * @param wc the completion, of any queue pair
 * @return true for a beacon
 */
RDMAEZ_COLD bool rdmaez_drain_wc(struct rdmaez_drain *drain, const struct ibv_cq *cq,
				 const struct ibv_wc *wc);

/**
 * @brief Stops a send queue: moves the queue pair to SQD and waits until the sends under way are acknowledged.
 *
 * The queue pair goes on receiving. Sends that you post meanwhile wait until rdmaez_qp_resume().
 *
 * @param qp the queue pair, in RTS or SQD
 * @param timeout_ns how long to wait, in ns; 0: 10 s
 * @param diag receives the explanation
 * @retval 0 the queue pair is in SQD and has drained
 * @retval EOPNOTSUPP mlx5 and hns have no SQD (#RDMAEZ_WHY_NO_SQD); on iWARP it ends the connection
 *         (#RDMAEZ_WHY_SQD_CLOSES); the driver does not report whether the queue has drained (#RDMAEZ_WHY_SQD_UNTOLD):
 *         bnxt_re, efa, erdma, irdma, mana_ib, qedr, usnic_verbs. The queue pair stays as it was
 * @retval ETIMEDOUT it is still draining (#RDMAEZ_WHY_SQ_DRAINING), and stays in SQD. Until it has drained, rxe can
 *         only go to ERR. After a second or more, the findings of rdmaez_qp_examine() follow, and say what it waits for
 * @retval EINVAL it is in another state by now, such as ERR (#RDMAEZ_WHY_RESUME_STATE)
 * @return any other errno value of rdmaez_qp_to_sqd(), or of ibv_query_qp() (#RDMAEZ_WHY_QUERY_REFUSED)
 * @par Verbs calls
 * ibv_query_device(), ibv_modify_qp(), and ibv_query_qp() repeatedly
 */
RDMAEZ_COLD int rdmaez_qp_quiesce(struct ibv_qp *qp, uint64_t timeout_ns, struct rdmaez_diag *diag);

/**
 * @brief Changes attributes of a queue pair that is in use, such as its path, timers or depths.
 *
 * `opts->optional` names them. If the attributes may be changed in RTS (minimum RNR timer, access flags, alternate
 * path), one ibv_modify_qp() changes them there. For all others the function calls rdmaez_qp_quiesce(), makes the
 * change in SQD, and goes back to RTS.
 *
 * @param qp the queue pair, in RTS or SQD; it ends in RTS
 * @param opts the options, as for rdmaez_qp_to_sqd()
 * @param timeout_ns how long to wait for the send queue, in ns; 0: 10 s
 * @param diag receives the explanation
 * @retval 0 the attributes are changed
 * @retval EINVAL one of them cannot be changed in RTS or SQD, or a value is wrong, and nothing was done: the reasons
 *         are those of rdmaez_qp_attr(). Or the queue pair is in another state (#RDMAEZ_WHY_RESUME_STATE)
 * @return any other errno value of rdmaez_qp_quiesce() and rdmaez_qp_to_sqd(). The queue pair then goes back to RTS,
 *         unless it is still draining or in ERR; see `qp->state`
 */
RDMAEZ_COLD int rdmaez_qp_change(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				 uint64_t timeout_ns, struct rdmaez_diag *diag);

/**
 * @brief Resumes sending, from SQD or from SQE.
 *
 * UC and UD queue pairs enter SQE when a send fails, while `qp->state` still says RTS. The function therefore queries
 * the true state. If the driver does not report it, rdmaez treats RTS as SQE. The sends after the one that failed were
 * flushed. Poll their completions, and post again those that you still want sent.
 *
 * @param qp the queue pair
 * @param diag receives the explanation
 * @retval 0 the queue pair is in RTS, as it may have been before
 * @retval EINVAL it is in a different state (#RDMAEZ_WHY_RESUME_STATE). If that is ERR, where rxe goes after every
 *         error, use rdmaez_qp_recover()
 * @return any other errno value of rdmaez_qp_to_rts()
 * @par Verbs calls
 * ibv_query_device(), ibv_query_qp(), ibv_modify_qp()
 */
RDMAEZ_COLD int rdmaez_qp_resume(struct ibv_qp *qp, struct rdmaez_diag *diag);

/**
 * @brief Makes a failed queue pair ready to be connected again: drains it, then resets or replaces it.
 *
 * After success @p qp is in RESET and @p local is its endpoint, with the port and its GIDs queried again and a new PSN.
 * Now do what you did the first time: exchange endpoints, connect, post receives, and set ECE options. Memory regions,
 * completion queues and the protection domain stay. With irdma and iWARP, a queue pair cannot be used again after
 * RESET. With those, and wherever RESET is refused, rdmaez recreates the queue pair from `opts->init_attr`, if you give
 * it. The new queue pair has another number. rdmaez recreates it with rxe as well, because the rest of an interrupted
 * READ survives RESET there, and may complete a request of the next connection that the peer never answered.
 *
 * If the queue pair keeps its number, packets of the old connection may still arrive. The new PSN is random. If the
 * driver reports the old PSNs, the new one is also ahead of them. Late packets are then behind it, and the device drops
 * them. From Linux 6.12 on, an rxe queue pair that was not recreated may still accept them.
 *
 * The peer may have carried out requests that it did not acknowledge. Only the peer knows, so ask it where to continue.
 * You may repeat a WRITE if nobody has used what it wrote. You must not repeat SENDs, WRITEs with immediate data and
 * atomics.
 *
 * @param qp the queue pair; receives the new one if it is recreated
 * @param opts the options; NULL: all defaults
 * @param local receives the endpoint; written on success only
 * @param drained receives what was found, even with ETIMEDOUT; may be NULL
 * @param diag receives the explanation
 * @retval 0 the queue pair is in RESET
 * @retval EINVAL this driver needs a new queue pair, and there is no `opts->init_attr` (#RDMAEZ_WHY_RESET_FINAL):
 *         nothing is done
 * @return any errno value of rdmaez_qp_drain(), with #RDMAEZ_DRAIN_ANYWAY only EINVAL of wrong options; of
 *         rdmaez_qp_to_reset(), rdmaez_qp_create() or rdmaez_qp_destroy(): @p qp is the old one, in ERR or RESET; or of
 *         rdmaez_endpoint_local(): @p qp is in RESET, and may be the new one
 * @par Verbs calls
 * Those of the functions named, and ibv_query_qp(). rdmaez creates the new queue pair before it destroys the old one.
 */
RDMAEZ_COLD int rdmaez_qp_recover(struct ibv_qp **qp, const struct rdmaez_recover_opts *opts,
				  struct rdmaez_endpoint *local, struct rdmaez_drained *drained,
				  struct rdmaez_diag *diag);

/**
 * @brief Drains a queue pair, then destroys it.
 *
 * A server whose queue pairs share a completion queue uses it like this:
 *
 * @code
 * // completed() gets each completion that is polled meanwhile, of any queue pair.
 * int leave(struct ibv_qp *qp, void (*completed)(void *arg, const struct ibv_wc *wc), void *arg)
 * {
 *         struct rdmaez_drain_opts opts = {0};
 *
 *         opts.flags = RDMAEZ_DRAIN_ANYWAY;
 *         opts.completed = completed;
 *         opts.arg = arg;
 *         return rdmaez_qp_destroy(qp, &opts, NULL, NULL);
 * }
 * @endcode
 *
 * @param qp the queue pair
 * @param opts how to drain; NULL: all defaults; the call then cannot poll
 * @param drained receives what was found, even after a failure; may be NULL
 * @param diag receives the explanation
 * @retval 0 it is gone
 * @retval EBUSY likely it is attached to a multicast group (#RDMAEZ_WHY_QP_MULTICAST)
 * @return any errno value of rdmaez_qp_drain(), with #RDMAEZ_DRAIN_ANYWAY only EINVAL of wrong options, or of
 *         ibv_destroy_qp(): the queue pair still exists then, in ERR unless the options are wrong
 * @note ibv_destroy_qp() waits, without a deadline, until every event that you have read for the queue pair is
 * acknowledged. rdmaez_event_next() acknowledges what it returns. Several libraries also remove the queue pair's
 * completions from the completion queues.
 */
RDMAEZ_COLD int rdmaez_qp_destroy(struct ibv_qp *qp, const struct rdmaez_drain_opts *opts,
				  struct rdmaez_drained *drained, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/drain.h"
#endif

#endif
