/* SPDX-License-Identifier: MIT */
/**
 * @file wc.h
 * @brief Completions and asynchronous events explained: what happened, why, and what to do.
 *
 * Three steps, each useful by itself:
 *
 * 1. rdmaez_wc_first_error() finds, among the completions polled, the one that tells the cause: the first
 *    error is the diagnosis, and the flushes after it tell nothing. rdmaez_wc_errors_add() does so across
 *    several polls.
 * 2. rdmaez_wc_explain() tells what its status means. It is pure, and its answer is static.
 * 3. rdmaez_wc_explain_qp() narrows down the causes by querying the queue pair's attributes, its port and
 *    its path.
 *
 * rdmaez_event_explain() and rdmaez_event_explain_qp() do the same for asynchronous events.
 * rdmaez_wc_format() and rdmaez_event_format() in fmt.h write it down.
 *
 * Statuses and events are known by number, so they are explained whatever the age of the installed
 * verbs.h. A program that polls a `struct ibv_cq_ex` copies the `status`, `vendor_err` and `qp_num` it has
 * read into an `ibv_wc`.
 *
 * @par Threads
 * May be called from any thread, those that query a queue pair from any that may use it. One thread at a
 * time for one struct rdmaez_wc_errors.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_WC_H
#define RDMAEZ_WC_H

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief What may be read of an `ibv_wc`, or of the union in an `ibv_async_event`: bits. */
enum rdmaez_valid {
	RDMAEZ_VALID_WR_ID = 1 << 0,      /**< `ibv_wc.wr_id` */
	RDMAEZ_VALID_STATUS = 1 << 1,     /**< `ibv_wc.status` */
	RDMAEZ_VALID_QP_NUM = 1 << 2,     /**< `ibv_wc.qp_num` */
	RDMAEZ_VALID_VENDOR_ERR = 1 << 3, /**< `ibv_wc.vendor_err` */
	RDMAEZ_VALID_OPCODE = 1 << 4,     /**< `ibv_wc.opcode` */
	RDMAEZ_VALID_REST = 1 << 5, /**< the rest of `ibv_wc`, as `opcode` and `wc_flags` say */
	RDMAEZ_VALID_CQ = 1 << 6,   /**< `ibv_async_event.element.cq` */
	RDMAEZ_VALID_QP = 1 << 7,   /**< `ibv_async_event.element.qp` */
	RDMAEZ_VALID_SRQ = 1 << 8,  /**< `ibv_async_event.element.srq` */
	RDMAEZ_VALID_WQ = 1 << 9,   /**< `ibv_async_event.element.wq` */
	RDMAEZ_VALID_PORT_NUM = 1 << 10, /**< `ibv_async_event.element.port_num` */
	/** All that is valid in a failed completion; anything else may be left over from before. */
	RDMAEZ_VALID_ON_ERROR = RDMAEZ_VALID_WR_ID | RDMAEZ_VALID_STATUS | RDMAEZ_VALID_QP_NUM |
				RDMAEZ_VALID_VENDOR_ERR,
	/** All that is valid in a successful completion. */
	RDMAEZ_VALID_ON_SUCCESS = RDMAEZ_VALID_WR_ID | RDMAEZ_VALID_STATUS | RDMAEZ_VALID_QP_NUM |
				  RDMAEZ_VALID_OPCODE | RDMAEZ_VALID_REST
};

/** @brief At most how many causes an advice holds. */
#define RDMAEZ_ADVICE_CAUSES 5

/** @brief What is known of a completion's status or of an event. All texts are static. */
struct rdmaez_advice {
	int code;              /**< the number of the status or event; -1: unknown */
	unsigned int valid;    /**< what may be read: enum rdmaez_valid bits */
	const char *name;      /**< the constant's name, "IBV_WC_RETRY_EXC_ERR"; "unknown" */
	const char *what;      /**< what happened, a sentence without its full stop */
	const char *fix;       /**< what to do, likewise */
	const char *producers; /**< the drivers that report it, as of rdma-core 65 and Linux 7.2 */
	const char
		*cause[RDMAEZ_ADVICE_CAUSES]; /**< the likeliest first, likewise; NULL: no more */
};

/**
 * @brief Explains a completion's status: what happened, the likely causes, what to do.
 *
 * @param wc the completion, of which only `status` is read; NULL counts as an unknown status
 * @return static data, never NULL; its code is -1 if the status is unknown
 */
RDMAEZ_COLD const struct rdmaez_advice *rdmaez_wc_explain(const struct ibv_wc *wc);

/**
 * @brief Explains an asynchronous event: what happened, the likely causes, what to do, and which member
 *        of `element` may be read.
 *
 * Every event that ibv_get_async_event() returns must be passed to ibv_ack_async_event() once its element
 * is no longer needed: ibv_destroy_qp(), ibv_destroy_cq(), ibv_destroy_srq() and ibv_destroy_wq() wait
 * until all events of their object are acknowledged.
 *
 * @param event the event, of which only `event_type` is read; NULL counts as an unknown event
 * @return static data, never NULL; its code is -1 if the event is unknown
 */
RDMAEZ_COLD const struct rdmaez_advice *rdmaez_event_explain(const struct ibv_async_event *event);

/**
 * @brief Tells what a `vendor_err` of mlx5 or mlx4 is known to mean together with the status.
 *
 * A hint, not an interface: no vendor document promises these numbers. They come from users' reports
 * and, for 0x93, from rdma-core's mlx5dv.h. Other vendors' numbers are not listed here: efa's is the
 * device's own status code, the others are found in their drivers.
 *
 * @param wc the completion, of which `status` and `vendor_err` are read; may be NULL
 * @return static text, a sentence without its full stop; "" if nothing is known
 */
RDMAEZ_COLD const char *rdmaez_wc_vendor_str(const struct ibv_wc *wc);

/**
 * @brief Finds the completion that tells what went wrong on a queue pair.
 *
 * The first error that is not a flush is the diagnosis. If there are only flushes, it is the first of
 * them, and its status says so: then the cause came in an earlier poll or in an asynchronous event, or
 * there is none, because the program moved the queue pair to ERR or the peer disconnected.
 *
 * @param wc completions in the order in which ibv_poll_cq() returned them; may be NULL
 * @param count how many; none if 0 or negative, as ibv_poll_cq() may return
 * @param qp_num the queue pair; completions of others are skipped
 * @return the completion, in @p wc; NULL if nothing failed
 */
RDMAEZ_API const struct ibv_wc *rdmaez_wc_first_error(const struct ibv_wc *wc, int count,
						      uint32_t qp_num);

/** @brief What has gone wrong on one queue pair. Start from all zero and set `qp_num`. */
struct rdmaez_wc_errors {
	uint32_t qp_num;      /**< the queue pair, set by the caller */
	unsigned int failed;  /**< how many completions have failed, not counting flushes */
	unsigned int flushed; /**< how many were flushed */
	/** The one that tells the cause, by the rule of rdmaez_wc_first_error(). Its status is
	 *  IBV_WC_SUCCESS while nothing has failed, IBV_WC_WR_FLUSH_ERR after nothing but flushes. */
	struct ibv_wc first;
};

/**
 * @brief Records what was polled, so that the first error stays known however many polls follow.
 *
 * Call it with every batch that holds an error, or simply with every batch.
 *
 * @param errors what is known so far; zero it when the queue pair is reset or replaced
 * @param wc completions in the order in which ibv_poll_cq() returned them; may be NULL
 * @param count how many; none if 0 or negative, as ibv_poll_cq() may return
 */
RDMAEZ_API void rdmaez_wc_errors_add(struct rdmaez_wc_errors *errors, const struct ibv_wc *wc,
				     int count);

/**
 * @brief Narrows down the causes of a failed completion by its queue pair: timers, depths, access flags
 *        and limits, its port and its path.
 *
 * What is certain has the severity #RDMAEZ_DIAG_ERROR: that the retries are used up
 * (#RDMAEZ_WHY_WC_RETRIES, with the time that takes), that the peer had no receive posted
 * (#RDMAEZ_WHY_WC_RNR), that a flush is not the cause (#RDMAEZ_WHY_WC_FLUSHED). The rest is
 * #RDMAEZ_DIAG_LIKELY, the likeliest first. `diag->from` is the state that the queue pair is in now. The
 * device is queried as it is now, which may differ from when the work request failed; ask before the
 * queue pair is reset. No finding at all means that its attributes do not tell: see rdmaez_wc_explain().
 *
 * @param wc the completion, best the one that rdmaez_wc_first_error() found
 * @param qp the queue pair it came from
 * @param diag receives the findings; its `error` stays 0 if all queries are answered. May be NULL
 * @retval 0 @p diag holds the findings
 * @retval EINVAL an argument is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), or the completion belongs to another
 *         queue pair (#RDMAEZ_WHY_WC_OTHER_QP)
 * @return any other errno of ibv_query_qp(), ibv_query_port(), ibv_query_gid_ex() or ibv_query_pkey()
 *         (#RDMAEZ_WHY_QUERY_REFUSED); findings that need no answer are in @p diag all the same
 * @par Verbs calls
 * One ibv_query_qp(), which refreshes `qp->state`; for lost packets one ibv_query_port(), one
 * ibv_query_gid_ex() and one ibv_query_pkey(), for a wrong length one ibv_query_port(). Without a
 * @p diag only the first.
 */
RDMAEZ_COLD int rdmaez_wc_explain_qp(const struct ibv_wc *wc, struct ibv_qp *qp,
				     struct rdmaez_diag *diag);

/**
 * @brief Narrows down the causes of an asynchronous event by its queue pair.
 *
 * IBV_EVENT_QP_REQ_ERR and IBV_EVENT_QP_ACCESS_ERR tell the responder what its peer sees as
 * IBV_WC_REM_INV_REQ_ERR and IBV_WC_REM_ACCESS_ERR; the access flags and depths that count are those of
 * this queue pair. For every queue pair event `diag->from` is the state that the queue pair is in now.
 * Events of other objects have no queue pair to query, and no findings.
 *
 * @param event the event, not acknowledged yet, so that its queue pair still exists
 * @param diag receives the findings; its `error` stays 0 if the query is answered. May be NULL
 * @retval 0 @p diag holds the findings
 * @retval EINVAL @p event or its queue pair is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any other errno of ibv_query_qp() (#RDMAEZ_WHY_QUERY_REFUSED)
 * @par Verbs calls
 * One ibv_query_qp(), which refreshes `qp->state`, for an event of a queue pair; else none.
 */
RDMAEZ_COLD int rdmaez_event_explain_qp(const struct ibv_async_event *event,
					struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/wc.h"
#endif

#endif
