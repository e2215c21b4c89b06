/* SPDX-License-Identifier: MIT */
/**
 * @file examine.h
 * @brief Find out why nothing happens on a queue pair or a completion queue, using what your program knows.
 *
 * rdmaez_qp_examine() in qp.h asks the device alone. The device does not report what is posted, which queue you poll,
 * or whether a request asked for a completion. The functions of this header take that from you, together with what a
 * port has counted since a snapshot. Pass only what you are sure of, and leave the rest at zero.
 *
 * `<rdmaez.h>` does not include this header.
 *
 * @code
 * #include <rdmaez.h>
 * #include <rdmaez/examine.h>
 *
 * struct waiter {
 *         struct ibv_qp *qp;
 *         struct rdmaez_port_counts before; // taken once the connection is established
 *         int sends, recvs;                 // outstanding
 * };
 *
 * // No send has completed for a second.
 * void say_why(const struct waiter *it)
 * {
 *         struct rdmaez_qp_known known = {0};
 *         struct rdmaez_diag diag;
 *
 *         known.waits = RDMAEZ_QUEUE_SEND;
 *         known.sends = rdmaez_exactly(it->sends);
 *         known.recvs = rdmaez_exactly(it->recvs);
 *         known.cq = it->qp->send_cq;
 *         known.quiet_ns = 1000000000;
 *         known.before = &it->before;
 *         if (!rdmaez_qp_examine_with(it->qp, &known, &diag))
 *                 rdmaez_diag_print(&diag, stderr);
 * }
 * @endcode
 *
 * @par What is certain
 * A finding is an error in two cases. In the first, a known driver reports a state in which the queue pair cannot go
 * on. In the second, the finding follows from what you passed: for example, you wait for sends, and none of them is
 * signaled. A likely finding is a setting that lets a queue pair wait without end, or a counter that has grown since
 * the snapshot. The counters are the port's, and any queue pair may have moved them. Without a snapshot they are totals
 * since the port was set up, and no more than advice.
 *
 * @par Waits that explain themselves
 * rdmaez_wc_wait(), rdmaez_cq_wait(), rdmaez_qp_drain(), rdmaez_qp_quiesce() and the exchange examine the queue pair by
 * themselves when their time is over. They know which queue you waited for, and have no snapshot.
 *
 * @par Threads
 * May be called from any thread. Only one thread at a time may examine a queue pair, because the query refreshes its
 * state.
 * @par Verbs calls
 * As listed with each function. The functions change nothing, poll nothing, and take no event.
 * @par Cost
 * These functions are not meant for the data path. Each reads up to 23 files of sysfs.
 * @par Sources
 * As for rdmaez_qp_examine(); ibv_req_notify_cq(), ibv_get_cq_event(), ibv_ack_cq_events() and ibv_destroy_cq() of
 * rdma-core 65; the drivers' counters of Linux 6.1 to 7.2.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_EXAMINE_H
#define RDMAEZ_EXAMINE_H

#ifndef RDMAEZ_CQ_H
#include "cq.h"
#endif
#ifndef RDMAEZ_DRAIN_H
#include "drain.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a port has counted ----------------------------------------------------------------- */

/** @brief A snapshot of what a port and its device have counted. All zero: there is no snapshot. */
struct rdmaez_port_counts {
	uint64_t ns; /**< when it was taken, by CLOCK_MONOTONIC; 0: it was not */
	int port;    /**< the port's number */
	char device[IBV_SYSFS_NAME_MAX]; /**< the device's name */
	uint64_t own[32];                /**< its own */
};

/**
 * @brief Takes a snapshot of what a port has counted, so that later only growth matters.
 *
 * Take it once a connection is established, or from time to time while it works. A counter that does not exist counts
 * as 0.
 *
 * @param context the device, opened
 * @param port its port, 1 to 255
 * @param counts receives the snapshot; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p counts is filled
 * @retval EINVAL an argument is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), or the device has no such port (#RDMAEZ_WHY_PORT)
 * @retval EOPNOTSUPP the program has no explanations, and so no use for it (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno value of ibv_query_port() (#RDMAEZ_WHY_QUERY_REFUSED, #RDMAEZ_WHY_DEVICE_GONE)
 * @par Verbs calls
 * One ibv_query_port().
 */
RDMAEZ_COLD int rdmaez_port_count(struct ibv_context *context, int port,
				  struct rdmaez_port_counts *counts, struct rdmaez_diag *diag);

/* ---- A queue pair ---------------------------------------------------------------------------- */

/** @brief What you know of your queue pair. Start from all zero, which says nothing. */
struct rdmaez_qp_known {
	unsigned int
		waits; /**< the queues whose completions you wait for, enum rdmaez_queues; 0: none, or not known */
	/** How many sends are outstanding. A send is outstanding until it, or a later send, has completed. 0: not
	 *  known. #RDMAEZ_ZERO: none. */
	int sends;
	int signaled; /**< how many of these ask for a completion. 0: not known. #RDMAEZ_ZERO: none */
	int recvs; /**< how many receives are posted, counting an SRQ's. 0: not known. #RDMAEZ_ZERO: none */
	uint64_t quiet_ns;       /**< for how long nothing has completed, in ns; 0: not known */
	const struct ibv_cq *cq; /**< the one queue that you poll or wait for; NULL: not known */
	/** The oldest outstanding send. Only its `opcode` is read. NULL: not known. */
	const struct ibv_send_wr *wr;
	/** An earlier snapshot of the queue pair's port; NULL, all zero or of another port: none. */
	const struct rdmaez_port_counts *before;
};

/**
 * @brief Looks for what may hold a queue pair up. It does what rdmaez_qp_examine() does, and also uses what you know.
 *
 * The record has the findings of rdmaez_qp_examine(), except those that cannot matter. It leaves out findings about
 * sends if none is outstanding, about READs if the oldest request is not one, and about counters that have not grown.
 * It adds what only your knowledge shows:
 *
 * | finding | when |
 * |---|---|
 * | #RDMAEZ_WHY_CQ_NOT_POLLED, certain | the completions that you wait for go to another queue than `cq` |
 * | #RDMAEZ_WHY_NOTHING_POSTED, certain | you wait for completions, and none of their queue is outstanding |
 * | #RDMAEZ_WHY_UNSIGNALED, certain | you wait for sends, and none of them is signaled |
 * | #RDMAEZ_WHY_DRAIN_CQ, likely | more are outstanding than the completion queue holds |
 * | #RDMAEZ_WHY_COUNTED_RNR and the like, likely | the port has counted that since the snapshot |
 * | #RDMAEZ_WHY_RETRIES_LAST, advice | a lost peer would not have been noticed yet |
 * | #RDMAEZ_WHY_EVENT_UNREAD, advice | an asynchronous event waits to be read |
 *
 * Certain findings come first, then likely ones, then advice. #RDMAEZ_WHY_QP_NOTHING_FOUND says that there is nothing
 * else. Only an unread event and, without a snapshot, totals of counters may follow it.
 *
 * @param qp the queue pair
 * @param known what you know; NULL: nothing
 * @param diag receives the findings; its `error` stays 0 if 0 is returned. NULL: nothing is queried
 * @retval 0 @p diag holds at least one finding
 * @retval EINVAL @p qp is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), `waits` has unknown bits (#RDMAEZ_WHY_OPTION_UNKNOWN), or a
 *         number is negative (#RDMAEZ_WHY_RANGE)
 * @retval EOPNOTSUPP the program has no explanations (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @par Verbs calls
 * Those of rdmaez_qp_examine(). It also uses poll(2) to see whether `context->async_fd` is readable.
 */
RDMAEZ_COLD int rdmaez_qp_examine_with(struct ibv_qp *qp, const struct rdmaez_qp_known *known,
				       struct rdmaez_diag *diag);

/* ---- A completion queue ---------------------------------------------------------------------- */

/** @brief What you know to be true of a completion queue. A missing bit says that it is not true. */
enum rdmaez_cq_known_flags {
	/** You wait for an event of the queue's channel, and do not poll before it comes. */
	RDMAEZ_CQ_BY_EVENT = 1 << 1,
	/** You have armed the queue, and have taken no event of it since. */
	RDMAEZ_CQ_ARMED = 1 << 2,
	/** You have polled the queue since it was armed, until it was empty. */
	RDMAEZ_CQ_POLLED = 1 << 3,
	/** You are about to destroy the queue. */
	RDMAEZ_CQ_ENDS = 1 << 4,
	/** You have read IBV_EVENT_CQ_ERR of this queue. */
	RDMAEZ_CQ_FAILED = 1 << 5
};

/** @brief What you know of your completion queue. Start from all zero, which says that you poll the queue. */
struct rdmaez_cq_known {
	unsigned int flags; /**< enum rdmaez_cq_known_flags */
	/** How many work requests with completions in this queue are outstanding. 0: not known. #RDMAEZ_ZERO: none. */
	int outstanding;
	int signaled; /**< how many of these ask for a completion, as receives always do. 0: not known. #RDMAEZ_ZERO: none */
	/** What you call rdmaez_channel_next() with. It counts the events taken and not acknowledged. NULL: not
	 *  known. */
	const struct rdmaez_cq_watch *watch;
};

/**
 * @brief Looks for what may keep completions of a queue from coming, or the queue from being destroyed.
 *
 * It takes nothing out of the queue, so it cannot say whether there are completions in it. Only a poll shows that.
 *
 * | finding | when |
 * |---|---|
 * | #RDMAEZ_WHY_CQ_OVERRUN, certain | the queue has failed, as IBV_EVENT_CQ_ERR says |
 * | #RDMAEZ_WHY_CQ_NO_CHANNEL, certain | you wait for events, and the queue has no channel |
 * | #RDMAEZ_WHY_CQ_UNARMED, certain | the queue is not armed, and its channel holds no event |
 * | #RDMAEZ_WHY_CQ_UNACKED, certain | you want to destroy the queue, and so many events are not acknowledged |
 * | #RDMAEZ_WHY_NOTHING_POSTED, certain | nothing is outstanding whose completion would come here |
 * | #RDMAEZ_WHY_UNSIGNALED, certain | none of what is outstanding asks for a completion |
 * | #RDMAEZ_WHY_CQ_ARMED_LATE, likely | the queue was not polled after it was armed |
 * | #RDMAEZ_WHY_CQ_EVENT_WAITS, likely | its channel holds an event that nobody takes |
 * | #RDMAEZ_WHY_DRAIN_CQ, likely | more is outstanding than the queue holds |
 * | #RDMAEZ_WHY_CQ_SOLICITED, advice | only solicited completions generate an event |
 * | #RDMAEZ_WHY_EVENT_UNREAD, advice | an asynchronous event waits to be read, as that of an overrun would |
 *
 * #RDMAEZ_WHY_CQ_NOTHING_FOUND, as advice, says that there is nothing else.
 *
 * @param cq the completion queue; for an extended one, ibv_cq_ex_to_cq()
 * @param known what you know; NULL: nothing, not even whether you poll
 * @param diag receives the findings; its `error` stays 0 if 0 is returned. NULL: nothing is queried
 * @retval 0 @p diag holds at least one finding
 * @retval EINVAL @p cq is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), unknown flags (#RDMAEZ_WHY_OPTION_UNKNOWN), or a number is
 *         negative (#RDMAEZ_WHY_RANGE)
 * @retval EOPNOTSUPP the program has no explanations (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @par Verbs calls
 * None. It uses poll(2) to see whether `channel->fd` and `context->async_fd` are readable.
 */
RDMAEZ_COLD int rdmaez_cq_examine(struct ibv_cq *cq, const struct rdmaez_cq_known *known,
				  struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/examine.h"
#endif

#endif
