/* SPDX-License-Identifier: MIT */
/**
 * @file drain.h
 * @brief After connecting: drain a queue pair, change it in use, resume or recover it, destroy it in order.
 *
 * A queue pair that goes to RESET, or is destroyed, silently drops its outstanding work requests. In ERR they
 * complete with IBV_WC_WR_FLUSH_ERR, signaled or not, and rdmaez_qp_drain() polls until the last one has. How it
 * recognises that depends on the driver:
 *
 * - It posts one more work request to each queue, a beacon, which completes after all others: with bnxt_re, hns_roce,
 *   ib_mthca, ionic_rdma, irdma, mlx4_ib, mlx5_ib, qedr, rdma_rxe, vmw_pvrdma and those not listed in driver.h.
 * - efa, erdma, iw_cxgb4, mana_ib, ocrdma and siw refuse or keep what is posted in ERR; hfi1 and ib_qib keep receives.
 *   With these the program says how many are outstanding (`sends`, `recvs`), and draining ends when as many have
 *   completed. Signal every send then: one that succeeds unsignaled never completes. The same goes for the sends of
 *   RAW_PACKET and driver types.
 *
 * If a queue has no beacon and you give no number, nothing shows its end, and waiting until the deadline would not help.
 * So once the other ends are seen, and nothing of the queue pair has completed for 0.1 s, draining returns ETIMEDOUT.
 * With #RDMAEZ_DRAIN_ANYWAY, rdmaez_qp_destroy() and rdmaez_qp_recover() then go on.
 *
 * Completion queues need room for every work request of all their queue pairs, signaled or not, and one more for each
 * of their queues: rxe, for one, drops completions for which there is none. A full queue gets its beacon as soon as
 * something has completed. Beacons have the addresses of `state` and `qp_num` of struct ibv_qp as `wr_id`: a program
 * that polls on after draining has timed out ignores completions with these.
 *
 * @par Whose completions are polled
 * Verbs cannot poll the completions of one queue pair alone: a poll takes those of every queue pair that shares the
 * completion queue. So each function that polls needs a place for them, `completed`, and returns EINVAL without it. If
 * no other queue pair uses the completion queues, and you do not need to know how the last work requests ended, set
 * #RDMAEZ_DRAIN_DISCARD instead.
 *
 * @par Shared receive queues
 * Then the queue pair has no receive queue of its own, and nothing can be posted to mark its end. The end is
 * IBV_EVENT_QP_LAST_WQE_REACHED, which efa, erdma, irdma, iw_cxgb4, mana_ib, qedr, siw and, before Linux 6.12,
 * rdma_rxe never send. Where it comes, wait for it with rdmaez_event_next() after rdmaez_qp_to_err(), and then drain
 * with #RDMAEZ_DRAIN_LAST_WQE. Either way the receive side's completion queue is polled until it is found empty once.
 *
 * @par What may be returned
 * Every function returns EINVAL for a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), except where NULL is said to be
 * good; @p diag may be NULL. Besides what is listed, any other errno value of the verbs it calls may be returned.
 *
 * @par Deadlines
 * A timeout is in ns, and for the whole of a call. 0 means 10 s, #RDMAEZ_NS_NOW one look, #RDMAEZ_NS_FOREVER no
 * deadline.
 *
 * @par Threads
 * No other thread may post to the queue pair, modify it, or poll its completion queues meanwhile; a program whose
 * threads poll uses rdmaez_drain_begin(). `completed` is called by the thread that drains, between two looks at a queue;
 * it may post to other queue pairs, and polls nothing. A queue pair of an rdma_cm_id is drained and resumed here, but created
 * and destroyed by librdmacm.
 *
 * @par Verbs calls
 * As listed with each function. rdmaez_drain_begin() makes those of rdmaez_qp_drain() but polls nothing,
 * rdmaez_drain_wc() those for a beacon, rdmaez_qp_change() those of rdmaez_qp_quiesce() and rdmaez_qp_to_sqd(),
 * rdmaez_qp_destroy() those of rdmaez_qp_drain() and ibv_destroy_qp().
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
	/** IBV_EVENT_QP_LAST_WQE_REACHED of this queue pair has been read. */
	RDMAEZ_DRAIN_LAST_WQE = 1 << 0,
	/** rdmaez_qp_destroy() and rdmaez_qp_recover() go on even if draining fails or takes too long. */
	RDMAEZ_DRAIN_ANYWAY = 1 << 1,
	/** No other queue pair uses the completion queues, and without `completed` the completions may be lost. */
	RDMAEZ_DRAIN_DISCARD = 1 << 2
};

/** @brief Options for draining. Start from all zero. */
struct rdmaez_drain_opts {
	unsigned int flags;  /**< enum rdmaez_drain_flags */
	uint64_t timeout_ns; /**< the deadline in ns, not rdmaez_drain_begin()'s; 0: 10 s */
	/** Receives every completion that is polled, except beacons: also those of other queue pairs, where they share
	 *  a completion queue. Of one that failed, `opcode` is not valid. NULL: what polls is refused, unless there is
	 *  #RDMAEZ_DRAIN_DISCARD; then they are counted, and lost. rdmaez_drain_begin() does not poll. */
	void (*completed)(void *arg, const struct ibv_wc *wc);
	void *arg; /**< passed to `completed` */
	/** How many sends are outstanding. Less than 1: that is not known. #RDMAEZ_ZERO: none, and no beacon. Where
	 *  both queues have one completion queue, they are counted together, so both numbers are needed. */
	int sends;
	int recvs; /**< the same for receives; ignored with a shared receive queue */
	/** UD: any address handle of the protection domain, for the beacon, which is never sent. NULL: one is made and
	 *  destroyed again, but not by rdmaez_drain_begin(), with which sends are counted then. */
	struct ibv_ah *ah;
};

/** @brief What draining has found. */
struct rdmaez_drained {
	unsigned int
		flushed; /**< work requests of the queue pair that completed with IBV_WC_WR_FLUSH_ERR */
	unsigned int
		completed; /**< those that completed otherwise: they have succeeded, or failed first */
	unsigned int others; /**< completions of other queue pairs */
	/** Which ends were not seen, so that more may complete: enum rdmaez_queues. After success 0, or
	 *  #RDMAEZ_QUEUE_RECV with a shared receive queue and without #RDMAEZ_DRAIN_LAST_WQE. */
	unsigned int open;
};

/** @brief Options for rdmaez_qp_recover(). Start from all zero. */
struct rdmaez_recover_opts {
	struct rdmaez_drain_opts drain; /**< how to drain */
	/** What the queue pair was created from, as passed to ibv_create_qp(), which then writes what it granted into
	 *  `cap`: with that, queues would grow each time. Completion queues and SRQ that are NULL: the queue pair's
	 *  own. NULL: it is not recreated. */
	const struct ibv_qp_init_attr *init_attr;
	const struct rdmaez_qp_opts *qp; /**< for rdmaez_endpoint_local(); NULL: all defaults */
};

/** @brief Draining in progress. The program reads `waits` and `drained`. */
struct rdmaez_drain {
	unsigned int
		waits; /**< the queues whose ends are waited for, enum rdmaez_queues; 0: it is done */
	struct rdmaez_drained drained; /**< what it has found so far */
	struct ibv_qp *qp;             /**< the queue pair */
	struct rdmaez_drain_opts opts; /**< as they were given */
	int left[2];      /**< how many are outstanding, of each completion queue; -1: not known */
	uint8_t queue[2]; /**< how the end of each queue is recognised */
	uint8_t together; /**< whether both queues have one completion queue */
	uint32_t wr[2];   /**< the size of each queue; 0: not known */
};

/**
 * @brief Moves a queue pair to ERR and polls its completion queues until nothing of it is outstanding.
 *
 * Calls ibv_modify_qp() even if the queue pair is in ERR already, since some libraries flush only what they have moved
 * there themselves. In RESET nothing is outstanding, and nothing is done; except on iWARP, where librdmacm connects
 * without telling libibverbs. Where `sends` and `recvs` say that nothing is outstanding, nothing is polled. May be
 * repeated.
 *
 * @param qp the queue pair
 * @param opts the options; NULL: all defaults, by which nothing can be polled
 * @param drained receives what was found, also with ETIMEDOUT; may be NULL
 * @param diag receives the explanation
 * @retval 0 nothing is outstanding; see `drained->open`
 * @retval ETIMEDOUT the end of a queue was not seen in time. For each, a finding tells which it is (`opts.sends`,
 *         `opts.recvs`) and why: there is no beacon and the number was not given (#RDMAEZ_WHY_DRAIN_UNCOUNTED,
 *         #RDMAEZ_WHY_DRAIN_NO_AH), so many are left (#RDMAEZ_WHY_DRAIN_LEFT), the beacon is not back
 *         (#RDMAEZ_WHY_DRAIN_BEACON) or found no room (#RDMAEZ_WHY_DRAIN_FULL). Likely the completion queue was too
 *         small (#RDMAEZ_WHY_DRAIN_CQ). After a second or more, an asynchronous event that nobody has read is told as
 *         well (#RDMAEZ_WHY_EVENT_UNREAD), and a state that has changed (#RDMAEZ_WHY_QP_STALE)
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
 * @brief Begins to drain, for a program whose threads poll the completion queues all the time.
 *
 * It does what rdmaez_qp_drain() does before it polls. From then on every completion of the two completion queues goes
 * through rdmaez_drain_wc(). When `drain->waits` is 0, draining is done; with a shared receive queue, once the receive
 * side's completion queue has been found empty after that. The deadline is the program's.
 *
 * Nothing locks @p drain. Threads hold a lock of the program's from before this call until it has returned, and each
 * from before it polls until all that it polled has gone through rdmaez_drain_wc().
 *
 * @param qp the queue pair
 * @param opts the options; NULL: all defaults; `timeout_ns` is not looked at
 * @param drain receives the state
 * @param diag receives the explanation
 * @return as rdmaez_qp_drain(), without ETIMEDOUT and #RDMAEZ_WHY_DRAIN_NOWHERE
 */
RDMAEZ_COLD int rdmaez_drain_begin(struct ibv_qp *qp, const struct rdmaez_drain_opts *opts,
				   struct rdmaez_drain *drain, struct rdmaez_diag *diag);

/**
 * @brief Looks at a completion while a queue pair is draining, and passes it to `opts.completed` unless it is a beacon.
 *
 * Posts a beacon that found no room before.
 *
 * @param drain the state
 * @param cq the completion queue that it was polled from
 * @param wc the completion, of whatever queue pair
 * @return true for a beacon
 */
RDMAEZ_COLD bool rdmaez_drain_wc(struct rdmaez_drain *drain, const struct ibv_cq *cq,
				 const struct ibv_wc *wc);

/**
 * @brief Stops a send queue: moves the queue pair to SQD and waits until what was sent is acknowledged.
 *
 * Receiving goes on; sending goes on after rdmaez_qp_resume(). What is posted meanwhile waits.
 *
 * @param qp the queue pair, in RTS or SQD
 * @param timeout_ns how long to wait, in ns; 0: 10 s
 * @param diag receives the explanation
 * @retval 0 it is in SQD and has drained
 * @retval EOPNOTSUPP mlx5 and hns have no SQD (#RDMAEZ_WHY_NO_SQD); on iWARP it ends the connection
 *         (#RDMAEZ_WHY_SQD_CLOSES); the driver cannot be asked whether the queue has drained
 *         (#RDMAEZ_WHY_SQD_UNTOLD): bnxt_re, efa, erdma, irdma, mana_ib, qedr, usnic_verbs. The queue pair stays as it
 *         was
 * @retval ETIMEDOUT it still drains (#RDMAEZ_WHY_SQ_DRAINING) and stays in SQD; until it has, rxe can only go to ERR.
 *         After a second or more, the findings of rdmaez_qp_examine() follow: what it waits for
 * @retval EINVAL it is in another state by now, such as ERR (#RDMAEZ_WHY_RESUME_STATE)
 * @return any other errno value of rdmaez_qp_to_sqd()
 * @par Verbs calls
 * ibv_query_device(), ibv_modify_qp(), and ibv_query_qp() again and again
 */
RDMAEZ_COLD int rdmaez_qp_quiesce(struct ibv_qp *qp, uint64_t timeout_ns, struct rdmaez_diag *diag);

/**
 * @brief Changes attributes of a queue pair that is in use: its path, its timers, its depths.
 *
 * `opts->optional` names them. What may be changed in RTS (minimum RNR timer, access flags, alternate path) is changed
 * there, by one ibv_modify_qp(). All else takes rdmaez_qp_quiesce(), the change in SQD, and the way back to RTS.
 *
 * @param qp the queue pair, in RTS or SQD; it ends in RTS
 * @param opts the options, as for rdmaez_qp_to_sqd()
 * @param timeout_ns how long to wait for the send queue, in ns; 0: 10 s
 * @param diag receives the explanation
 * @retval 0 they are changed
 * @retval EINVAL neither RTS nor SQD takes one of them, or a value is wrong: found before anything is done, as by
 *         rdmaez_qp_attr(); or the queue pair is in another state (#RDMAEZ_WHY_RESUME_STATE)
 * @return any other errno value of rdmaez_qp_quiesce() and rdmaez_qp_to_sqd(). After that the queue pair goes back to
 *         RTS, unless it still drains or is in ERR: `qp->state` tells
 */
RDMAEZ_COLD int rdmaez_qp_change(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				 uint64_t timeout_ns, struct rdmaez_diag *diag);

/**
 * @brief Goes on sending: from SQD, and from SQE, which UC and UD queue pairs enter when a send fails while
 *        `qp->state` still says RTS.
 *
 * Asks for the true state; if the driver does not report it, RTS is taken for SQE. The sends after the one that failed
 * were flushed: poll their completions, and post again what is still wanted.
 *
 * @param qp the queue pair
 * @param diag receives the explanation
 * @retval 0 it is in RTS, as it may have been before
 * @retval EINVAL it is in another state (#RDMAEZ_WHY_RESUME_STATE); from ERR, use
 *         rdmaez_qp_recover(). rxe goes to ERR after every error
 * @return any other errno value of rdmaez_qp_to_rts()
 * @par Verbs calls
 * ibv_query_device(), ibv_query_qp(), ibv_modify_qp()
 */
RDMAEZ_COLD int rdmaez_qp_resume(struct ibv_qp *qp, struct rdmaez_diag *diag);

/**
 * @brief Makes a failed queue pair ready to be connected again: drains it, then resets or replaces it.
 *
 * After success @p qp is in RESET and @p local is its endpoint, with the port and its GIDs queried again and a new PSN:
 * exchange endpoints and connect as for the first time, post receives, set ECE options again. Memory regions,
 * completion queues and the protection domain stay. irdma and iWARP cannot use a queue pair again after RESET; there,
 * and where RESET is refused, it is recreated, if `opts->init_attr` says how, and then has another number. So it is
 * with rxe, where what a READ that was cut off leaves behind survives RESET, and may complete a request of the next
 * connection that was never answered.
 *
 * With the old number, packets of the old connection may still arrive. So the new PSN is random, but ahead of the old
 * ones, where the driver tells these: what comes late is then behind, and dropped. A rxe queue pair that was not recreated
 * may still take it, from Linux 6.12 on.
 *
 * What was not acknowledged may have been carried out. Only the peer knows; ask it from where to go on. A WRITE may be
 * repeated if nobody has used what it wrote; SENDs, WRITEs with immediate data and atomics may not.
 *
 * @param qp the queue pair; the new one if it is recreated
 * @param opts the options; NULL: all defaults
 * @param local receives the endpoint; written on success only
 * @param drained receives what was found, also with ETIMEDOUT; may be NULL
 * @param diag receives the explanation
 * @retval 0 it is in RESET
 * @retval EINVAL this driver needs a new queue pair, and there is no `opts->init_attr` (#RDMAEZ_WHY_RESET_FINAL):
 *         nothing is done
 * @return any errno value of rdmaez_qp_drain(), with #RDMAEZ_DRAIN_ANYWAY only EINVAL of wrong options; of
 *         rdmaez_qp_to_reset(), rdmaez_qp_create() or rdmaez_qp_destroy(): @p qp is the old one, in ERR or RESET; or of
 *         rdmaez_endpoint_local(): @p qp is in RESET, and may be the new one
 * @par Verbs calls
 * Those of the functions named, and ibv_query_qp(). The new queue pair is created before the old one is destroyed.
 */
RDMAEZ_COLD int rdmaez_qp_recover(struct ibv_qp **qp, const struct rdmaez_recover_opts *opts,
				  struct rdmaez_endpoint *local, struct rdmaez_drained *drained,
				  struct rdmaez_diag *diag);

/**
 * @brief Drains a queue pair, then destroys it.
 *
 * For a server whose queue pairs share a completion queue:
 *
 * @code
 * // completed() gets each completion that is polled meanwhile, whichever queue pair it is of.
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
 * @param opts how to drain; NULL: all defaults, by which nothing can be polled
 * @param drained receives what was found, also after a failure; may be NULL
 * @param diag receives the explanation
 * @retval 0 it is gone
 * @retval EBUSY likely it is attached to a multicast group (#RDMAEZ_WHY_QP_MULTICAST)
 * @return any errno value of rdmaez_qp_drain(), with #RDMAEZ_DRAIN_ANYWAY only EINVAL of wrong options, or of
 *         ibv_destroy_qp(): it still exists then, in ERR unless the options are wrong
 * @note ibv_destroy_qp() waits, without a deadline, until every event of the queue pair that was read is acknowledged:
 *       those of rdmaez_event_next() are. Several libraries also remove its completions from the completion queues.
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
