/* SPDX-License-Identifier: MIT */
/**
 * @file cq.h
 * @brief Waiting for completions without busy polling: by the events of a completion channel, with a deadline or in an
 * event loop. Also: extended completion queues.
 *
 * A queue with a channel (rdmaez_channel_create(), rdmaez_cq_create()) sends one event for the first completion after
 * you have armed it. It sends none for completions that came before. So you arm the queue, then poll until it is empty,
 * then wait. These functions keep to that order:
 *
 * - If your program has one queue on a channel, rdmaez_cq_wait() is all you need. The function polls. Only if that is
 *   not enough, it arms the queue, polls again, sleeps until the event comes, and acknowledges the event.
 * - rdmaez_channel_next() is for event loops (epoll, libuv), and for several queues on one channel. Arm each queue with
 *   rdmaez_cq_arm() and poll it once until it is empty. When `channel->fd` is readable, call rdmaez_channel_next() with
 *   #RDMAEZ_NS_NOW until it returns no queue, and poll each queue that it returns until that queue is empty. The queue
 *   is already armed again.
 *
 * ibv_destroy_cq() waits, without a deadline, until every event that was taken is acknowledged, and each
 * acknowledgement takes a lock. So `struct rdmaez_cq_watch` counts the events. rdmaez_channel_next() acknowledges 64 at
 * a time. Before you destroy the queue, rdmaez_cq_ack() acknowledges the rest.
 *
 * @par The descriptor
 * Only rdmaez_channel_nonblock() changes the flags of `channel->fd`. They wait with poll(2), and take an event only if
 * there is one. If the descriptor blocks, let only one thread at a time take events. If several threads take events,
 * make the descriptor non-blocking; otherwise a thread may wait beyond its deadline for an event that another one has
 * taken. If a signal handler runs meanwhile, the wait goes on and no event is lost.
 *
 * @par Threads
 * May be called from any thread. Only one thread at a time may use a `struct rdmaez_cq_watch`, a batch, a queue that
 * rdmaez_cq_wait() waits for, or an extended queue that is polled.
 * @par Verbs calls
 * As listed with each function.
 * @par Cost
 * If the completions are there already, rdmaez_cq_wait() costs one ibv_poll_cq(). If it has to wait, it costs one
 * ibv_req_notify_cq(), one more ibv_poll_cq(), and system calls: one to look for events left over, one to wait, one to
 * take the event, and one to arm the queue, which most devices do without a system call (rxe and siw need it).
 * rdmaez_channel_next() costs two system calls for each event, and one if there is none.
 * @par Sources
 * ibv_get_cq_event(), ibv_req_notify_cq(), ibv_create_cq_ex(); `ib_uverbs_event_read()` of Linux 6.1 to 7.2;
 * ibv_ack_cq_events() and the providers' `destroy_cq` of rdma-core 65.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_CQ_H
#define RDMAEZ_CQ_H

#ifndef RDMAEZ_WC_H
#include "wc.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief How a completion queue is armed. */
enum rdmaez_cq_flags {
	/** Only a completion that failed, or the receive of a message sent with IBV_SEND_SOLICITED, generates an event. */
	RDMAEZ_CQ_SOLICITED = 1 << 0
};

/** @brief A completion queue on a channel. Start from all zero and set `cq`. */
struct rdmaez_cq_watch {
	struct ibv_cq *cq; /**< the queue; for an extended one, ibv_cq_ex_to_cq() */
	unsigned int
		flags; /**< how rdmaez_channel_next() arms it again: enum rdmaez_cq_flags; 0: for any completion */
	unsigned int
		events; /**< how many events were taken and are not acknowledged: rdmaez_cq_ack() */
};

/**
 * @brief Makes the descriptor of a channel non-blocking: sets O_NONBLOCK on `channel->fd`.
 *
 * After that, ibv_get_cq_event() returns -1 with EAGAIN if there is no event. The flag affects everyone who shares the
 * descriptor.
 *
 * @param channel the channel
 * @param diag receives the explanation; may be NULL
 * @retval 0 it does not block any more
 * @retval EINVAL @p channel is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any errno of fcntl(2), such as EBADF (#RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * None; two of fcntl(2).
 */
RDMAEZ_API int rdmaez_channel_nonblock(struct ibv_comp_channel *channel, struct rdmaez_diag *diag);

/**
 * @brief Arms a completion queue, as ibv_req_notify_cq() does: the next completion generates an event.
 *
 * Afterwards poll the queue until it is empty, because completions that are in it already generate none.
 *
 * @param cq the completion queue
 * @param flags enum rdmaez_cq_flags; 0: for any completion
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 it is armed
 * @retval EINVAL @p cq is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), or has no channel, so that no event could come
 *         (#RDMAEZ_WHY_CQ_NO_CHANNEL)
 * @return any errno of ibv_req_notify_cq() (#RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_NOT_SUPPORTED,
 *         #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_req_notify_cq().
 */
RDMAEZ_API int rdmaez_cq_arm(struct ibv_cq *cq, unsigned int flags, struct rdmaez_diag *diag);

/**
 * @brief Sleeps until a completion queue has enough completions, one has failed, or the time is over.
 *
 * It does what rdmaez_wc_wait() does, but by the queue's channel. No other queue may be on that channel. Whatever was
 * polled is in @p batch, even after a failure. You do not arm the queue or acknowledge events.
 *
 * If `want` is 0, it waits for whatever comes first. If there are no completions, that is not a failure: the call
 * returns 0, sets `count` to 0, and writes no record. If `want` is a number and there are fewer, the call returns
 * ETIMEDOUT.
 *
 * @param cq the completion queue, with a channel of its own
 * @param qp the queue pair to ask for causes if one of its completions has failed; NULL: none
 * @param batch receives the completions; see above for `want`
 * @param timeout_ns how long to wait, in ns. 0: 10 s; #RDMAEZ_NS_NOW: it polls once; #RDMAEZ_NS_FOREVER: forever
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 there are as many as you want, all successful; or `want` is 0
 * @retval EIO one has failed, or ibv_poll_cq() has: as rdmaez_wc_poll()
 * @retval ETIMEDOUT there are fewer than `want` (#RDMAEZ_WHY_WC_LATE, and what follows it as with rdmaez_wc_wait())
 * @retval EINVAL as rdmaez_wc_wait(); @p cq has no channel (#RDMAEZ_WHY_CQ_NO_CHANNEL); or an event of another
 *         queue came (#RDMAEZ_WHY_CQ_OTHER_EVENT): it was acknowledged, and the other queue is not armed any more
 * @return any other errno of ibv_req_notify_cq() or ibv_get_cq_event() (#RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * ibv_poll_cq(). If it sleeps, also ibv_req_notify_cq(), ibv_get_cq_event() and ibv_ack_cq_events(). After a failure,
 * also those of rdmaez_wc_explain_qp().
 */
RDMAEZ_COLD int rdmaez_cq_wait(struct ibv_cq *cq, struct ibv_qp *qp, struct rdmaez_wc_batch *batch,
			       uint64_t timeout_ns, struct rdmaez_diag *diag);

/**
 * @brief Takes the next event of a channel, arms that event's queue again, and returns the queue.
 *
 * Poll that queue until it is empty. The queue may be empty already: this happens if it was polled after it had been
 * armed.
 *
 * @param channel the channel
 * @param watched the queues on the channel; the function looks through them one by one
 * @param count how many
 * @param timeout_ns how long to wait, in ns. 0: 10 s; #RDMAEZ_NS_NOW: not at all; #RDMAEZ_NS_FOREVER: forever
 * @param which receives the queue, in @p watched; NULL: nothing has come, which is no failure and writes no record.
 *         Written on success only
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 @p which is the queue, or NULL
 * @retval EINVAL a pointer is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), or the event is of a queue that is not in @p watched
 *         (#RDMAEZ_WHY_CQ_OTHER_EVENT): it was acknowledged, and that queue is not armed any more
 * @return any errno of ibv_get_cq_event() or ibv_req_notify_cq() (#RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_UNEXPLAINED). If
 *         ibv_req_notify_cq() failed, the event has been counted
 * @par Verbs calls
 * One ibv_get_cq_event() and one ibv_req_notify_cq(), and one ibv_ack_cq_events() for every 64 events of a queue.
 */
RDMAEZ_COLD int rdmaez_channel_next(struct ibv_comp_channel *channel,
				    struct rdmaez_cq_watch *watched, size_t count,
				    uint64_t timeout_ns, struct rdmaez_cq_watch **which,
				    struct rdmaez_diag *diag);

/**
 * @brief Acknowledges the events that rdmaez_channel_next() has taken for a queue. Call it before you destroy the
 * queue.
 *
 * @param watch the queue, not NULL
 * @par Verbs calls
 * One ibv_ack_cq_events() if there is anything to acknowledge.
 */
RDMAEZ_API void rdmaez_cq_ack(struct rdmaez_cq_watch *watch);

/** @brief What rdmaez_cq_poll_ex() reads of each completion. Start from all zero. */
struct rdmaez_cq_ex_opts {
	uint64_t
		wc_flags; /**< those that the queue was created with: IBV_WC_EX_WITH_ bits; 0: none of their fields */
	/** Called for each completion, while the queue is positioned at it. It may read what `struct ibv_wc` does not
	 *  have, such as ibv_wc_read_completion_ts(), but must not poll. NULL: nothing is called */
	void (*completed)(void *arg, struct ibv_cq_ex *cq, const struct ibv_wc *wc);
	void *arg; /**< passed to `completed` */
};

/**
 * @brief Takes the completions that are in an extended completion queue, as rdmaez_wc_poll() does with an ordinary one.
 *
 * Between ibv_start_poll() and ibv_end_poll() it fills a `struct ibv_wc` for each. It does not use ibv_next_poll(): if
 * that finds nothing, rxe wants no ibv_end_poll() after it, and other providers do.
 *
 * | member | read |
 * |---|---|
 * | `wr_id`, `status`, `vendor_err` | always |
 * | `opcode`, `wc_flags` | if it has succeeded |
 * | `qp_num` | with IBV_WC_EX_WITH_QP_NUM; else it is that of @p qp, 0 without one |
 * | `byte_len`, `src_qp`, `slid`, `sl`, `dlid_path_bits` | if it has succeeded, with the bit of that name |
 * | `imm_data`, or `invalidated_rkey` | if it has succeeded and `wc_flags` says so, with IBV_WC_EX_WITH_IMM |
 *
 * All else is 0. If a bit has no member in `struct ibv_wc` (time stamps, for example), read its field in `completed`.
 *
 * @param cq the extended completion queue
 * @param qp the queue pair to ask for causes if one of its completions has failed; NULL: none
 * @param opts what is read; NULL: all defaults
 * @param batch receives the completions; `want` is ignored
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 all completions that are there are successful; there may be none
 * @retval EIO one has failed, as with rdmaez_wc_poll(); or ibv_start_poll() has (#RDMAEZ_WHY_DEVICE_GONE)
 * @retval EINVAL as rdmaez_wc_poll(); or the queue was created without one of `opts->wc_flags`
 *         (#RDMAEZ_WHY_CQ_EX_FLAGS)
 * @par Verbs calls
 * For each completion ibv_start_poll(), readers and ibv_end_poll(), and one more ibv_start_poll() if there is room for
 * another; after a failure also those of rdmaez_wc_explain_qp().
 */
RDMAEZ_COLD int rdmaez_cq_poll_ex(struct ibv_cq_ex *cq, struct ibv_qp *qp,
				  const struct rdmaez_cq_ex_opts *opts,
				  struct rdmaez_wc_batch *batch, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/cq.h"
#endif

#endif
