/* SPDX-License-Identifier: MIT */
/**
 * @file wc.h
 * @brief Completions: poll them or wait for them with a deadline, and learn what happened, why, and what to do.
 *
 * rdmaez_wc_poll() takes the completions that are there. rdmaez_wc_wait() waits for them. Both explain the first one
 * that has failed. An explanation takes three steps, and each is useful on its own:
 *
 * 1. rdmaez_wc_first_error() finds the completion that shows the cause: the first error. The flushes after it only
 *    follow from it. rdmaez_wc_errors_add() does the same across several polls.
 * 2. rdmaez_wc_explain() explains its status. It is pure, and returns static data.
 * 3. rdmaez_wc_explain_send() or rdmaez_wc_explain_recv() narrows down the causes. It uses the device's driver, the
 *    work request, and what the queue pair, its port and its path report. If you do not know which queue the
 *    completion is of, call rdmaez_wc_explain_qp().
 *
 * rdmaez_wc_format() in fmt.h writes the explanation as text. event.h does the same for asynchronous events. cq.h waits
 * for the events of completion queues and polls a `struct ibv_cq_ex`.
 *
 * Statuses are looked up by number, so they are explained whatever version of verbs.h you have installed.
 *
 * @par Threads
 * May be called from any thread. Functions that query a queue pair may be called from any thread that may use it. Only
 * one thread at a time may use a struct rdmaez_wc_errors.
 *
 * @par Verbs calls
 * None, except as listed with each function. rdmaez_wc_explain_recv() and rdmaez_wc_explain_qp() make those of
 * rdmaez_wc_explain_send().
 * @par Sources
 * ibv_poll_cq(); what the providers of rdma-core 65 and the drivers of Linux 7.2 report.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_WC_H
#define RDMAEZ_WC_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Bits: the valid members of an `ibv_wc`, or of the union in an `ibv_async_event`. */
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
	/** The only valid members of a failed completion; the others may be stale. */
	RDMAEZ_VALID_ON_ERROR = RDMAEZ_VALID_WR_ID | RDMAEZ_VALID_STATUS | RDMAEZ_VALID_QP_NUM |
				RDMAEZ_VALID_VENDOR_ERR,
	/** All that is valid in a successful completion. */
	RDMAEZ_VALID_ON_SUCCESS = RDMAEZ_VALID_WR_ID | RDMAEZ_VALID_STATUS | RDMAEZ_VALID_QP_NUM |
				  RDMAEZ_VALID_OPCODE | RDMAEZ_VALID_REST
};

/** @brief The most causes that an advice holds. */
#define RDMAEZ_ADVICE_CAUSES 5

/** @brief What is known about a completion's status or an event. All texts are static. */
struct rdmaez_advice {
	int code;              /**< the number of the status or event; -1: unknown */
	unsigned int valid;    /**< what may be read: enum rdmaez_valid bits */
	const char *name;      /**< the constant's name, "IBV_WC_RETRY_EXC_ERR"; "unknown" */
	const char *what;      /**< what happened, a sentence without its full stop */
	const char *fix;       /**< what to do, in the same form */
	const char *producers; /**< the drivers that report it, as of rdma-core 65 and Linux 7.2 */
	const char *cause[RDMAEZ_ADVICE_CAUSES]; /**< most likely first; ends with NULL if fewer */
};

/**
 * @brief Explains a completion's status: what happened, the likely causes, what to do.
 *
 * @param wc the completion; only `status` is read. NULL counts as an unknown status
 * @return static data, never NULL; its code is -1 if the status is unknown
 */
RDMAEZ_COLD const struct rdmaez_advice *rdmaez_wc_explain(const struct ibv_wc *wc);

/**
 * @brief Returns what a `vendor_err` of mlx5 or mlx4, together with the status, is known to mean.
 *
 * The text is a hint, because no vendor documents these numbers. They come from users' reports and, for 0x93, from
 * rdma-core's mlx5dv.h. Other vendors' numbers are not listed. efa's number is the device's own status code; for the
 * others, see their drivers.
 *
 * @param wc the completion; only `status` and `vendor_err` are read. May be NULL
 * @return static text, a sentence without its full stop; "" if nothing is known
 */
RDMAEZ_COLD const char *rdmaez_wc_vendor_str(const struct ibv_wc *wc);

/**
 * @brief Finds the completion that shows what went wrong on a queue pair.
 *
 * That is the first error that is not a flush. If there are only flushes, it is the first of them. The cause then came
 * in an earlier poll or in an asynchronous event, or there is none because your program moved the queue pair to ERR or
 * the peer disconnected.
 *
 * @param wc completions in the order in which ibv_poll_cq() returned them; may be NULL
 * @param count how many, as ibv_poll_cq() returned; 0 or negative: none
 * @param qp_num the queue pair; completions of others are skipped
 * @return the completion, in @p wc; NULL if nothing failed
 */
RDMAEZ_API const struct ibv_wc *rdmaez_wc_first_error(const struct ibv_wc *wc, int count,
						      uint32_t qp_num);

/**
 * @brief Finds out which queue pair a completion is of, among those that share a completion queue.
 *
 * It looks through them one by one. If you have thousands of queue pairs, keep a table by `qp_num` instead.
 *
 * @param wc the completion; `qp_num` is valid in every completion
 * @param qp the queue pairs; those that are NULL are skipped
 * @param count how many
 * @return the position in @p qp; @p count if it is of none of them
 */
RDMAEZ_API size_t rdmaez_wc_position(const struct ibv_wc *wc, struct ibv_qp *const qp[],
				     size_t count);

/** @brief What has gone wrong on one queue pair. Start from all zero and set `qp_num`. */
struct rdmaez_wc_errors {
	uint32_t qp_num;      /**< the queue pair; you set it */
	unsigned int failed;  /**< how many completions have failed, not counting flushes */
	unsigned int flushed; /**< how many were flushed */
	/** The completion that rdmaez_wc_first_error() would find. Its status is IBV_WC_SUCCESS while nothing has
	 *  failed, and IBV_WC_WR_FLUSH_ERR if there were only flushes. */
	struct ibv_wc first;
};

/**
 * @brief Records a batch of completions, and remembers the first error across polls.
 *
 * Call it with every batch that contains an error, or simply with every batch.
 *
 * @param errors what is known so far; zero it when the queue pair is reset or replaced
 * @param wc completions in the order in which ibv_poll_cq() returned them; may be NULL
 * @param count how many, as ibv_poll_cq() returned; 0 or negative: none
 */
RDMAEZ_API void rdmaez_wc_errors_add(struct rdmaez_wc_errors *errors, const struct ibv_wc *wc,
				     int count);

/**
 * @brief Narrows down the causes of a failed request of a send queue.
 *
 * Drivers differ in what they report for the same mistake, so the causes are those of the device's driver. A failed
 * completion does not hold the opcode. If you pass the work request, its opcode rules out some causes. An opcode that
 * the queue pair's type lacks (#RDMAEZ_WHY_WR_OPCODE) is the only cause of IBV_WC_LOC_QP_OP_ERR. The function then
 * queries what depends on the queue pair (timers, depths, access flags, limits, port, path). This queue pair's own
 * access flags count only while no opcode is known; the peer's may be the same.
 *
 * No attribute proves a cause, so all findings are #RDMAEZ_DIAG_LIKELY, the most likely first. A flush
 * (#RDMAEZ_WHY_WC_FLUSHED) does not mean that the peer refused the request. The request was not acknowledged, and may
 * have been carried out. Times (#RDMAEZ_WHY_WC_RETRIES) are computed by the formula of the InfiniBand specification,
 * and devices may take longer. The record's `status`, `wr_id` and `vendor_err` are those of the completion. `from` is
 * the queue pair's current state, or -1 if the driver does not report one.
 *
 * Call it before you reset the queue pair. The reset changes the attributes (#RDMAEZ_WHY_WC_RESET). After a
 * reconnection there is no way to tell that the attributes belong to another connection. If no cause is known,
 * #RDMAEZ_WHY_WC_AT_PEER or #RDMAEZ_WHY_WC_NO_MORE says where to look. Only a success has no finding.
 *
 * @param wc the completion, preferably the one that rdmaez_wc_first_error() found; `status`, `wr_id`,
 *        `vendor_err` and `qp_num` are read
 * @param qp the queue pair that it came from
 * @param wr the request, of which only `opcode` is read; NULL: not known
 * @param diag receives the findings; its `error` stays 0 if 0 is returned. May be NULL
 * @retval 0 @p diag holds the findings; also if a query fails with EOPNOTSUPP or EINVAL, which some drivers always
 *         return
 * @retval EINVAL @p wc or @p qp is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), or the completion belongs to another queue pair
 *         (#RDMAEZ_WHY_WC_OTHER_QP)
 * @return any other errno of ibv_query_qp(), ibv_query_port(), ibv_query_gid_ex() or ibv_query_pkey(), the last if
 *         several failed. @p diag still has the findings that do not depend on the query. After them it has each query
 *         that failed (#RDMAEZ_WHY_QUERY_REFUSED, likely)
 * @par Verbs calls
 * One ibv_query_device(), and one ibv_query_qp() for what the status needs and the driver reports. The latter refreshes
 * `qp->state`. It is not called if the driver reports none of this (mana; siw except for limits). For lost packets, and
 * for what rxe may report because it could not send them, also one ibv_query_port(), one ibv_query_gid_ex(), at most
 * three ibv_query_gid_table() and one ibv_query_pkey(). For a wrong length, also one ibv_query_port(). If @p diag is
 * NULL, only the first two. For those packets on RoCE it also asks the kernel's routing and reads `/proc/net/arp`, and
 * for lost ones the port's counters in sysfs.
 */
RDMAEZ_COLD int rdmaez_wc_explain_send(const struct ibv_wc *wc, struct ibv_qp *qp,
				       const struct ibv_send_wr *wr, struct rdmaez_diag *diag);

/**
 * @brief Narrows down the causes of a failed receive, as rdmaez_wc_explain_send() does for a request.
 *
 * @param wc the completion, preferably the one that rdmaez_wc_first_error() found
 * @param qp the queue pair that it came from
 * @param wr the receive, of which only `num_sge` and the lengths in `sg_list` are read; NULL: not known
 * @param diag receives the findings; may be NULL
 * @return as rdmaez_wc_explain_send()
 */
RDMAEZ_COLD int rdmaez_wc_explain_recv(const struct ibv_wc *wc, struct ibv_qp *qp,
				       const struct ibv_recv_wr *wr, struct rdmaez_diag *diag);

/**
 * @brief Narrows down the causes of a failed completion of either queue.
 *
 * It finds what rdmaez_wc_explain_send() and rdmaez_wc_explain_recv() would find without a work request.
 *
 * @param wc the completion, preferably the one that rdmaez_wc_first_error() found
 * @param qp the queue pair that it came from
 * @param diag receives the findings; may be NULL
 * @return as rdmaez_wc_explain_send()
 */
RDMAEZ_COLD int rdmaez_wc_explain_qp(const struct ibv_wc *wc, struct ibv_qp *qp,
				     struct rdmaez_diag *diag);

/** @brief Room for completions, and how many of them to wait for. Start from all zero and set `wc` and `capacity`. */
struct rdmaez_wc_batch {
	struct ibv_wc *wc; /**< where they are put */
	int capacity;      /**< for how many there is room */
	int want;          /**< how many to wait for, at most `capacity`. 0: 1 */
	int count;         /**< how many there are; written on success and on failure */
	/** The peer has acknowledged a request of the queue pair before. Set it when the first one has succeeded.
	 *  Exhausted retries are then explained by what has happened to the peer (#RDMAEZ_WHY_WC_PEER_WAS), not by how
	 *  it was connected. It matters only after a failure. false: only a request in the same batch shows it. */
	bool answered;
};

/**
 * @brief Takes the completions that are there, without waiting, and explains the first one that has failed.
 *
 * An empty queue is no failure: the call returns 0, and `count` is 0. Whatever was polled is in @p batch, even after a
 * failure, so look at `count` completions in any case. If the queue is empty or has one completion, the call adds about
 * 15 instructions to ibv_poll_cq() with gcc 12, and 20 with clang 14. Each further completion adds a handful.
 *
 * @param cq the completion queue
 * @param qp the queue pair to ask for causes if one of its completions has failed; NULL: none
 * @param batch receives the completions; `want` is ignored
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 all completions that are there are successful; there may be none
 * @retval EIO one has failed; explained by rdmaez_wc_explain_qp() if it is of @p qp, else by its status alone
 *         (#RDMAEZ_WHY_WC_UNASKED); or ibv_poll_cq() has failed (#RDMAEZ_WHY_DEVICE_GONE)
 * @retval EINVAL @p cq, @p batch or `wc` is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), or `capacity` is less than 1
 *         (#RDMAEZ_WHY_RANGE)
 * @par Verbs calls
 * One ibv_poll_cq(), and after a failure those of rdmaez_wc_explain_qp().
 */
RDMAEZ_INLINE int rdmaez_wc_poll(struct ibv_cq *cq, struct ibv_qp *qp,
				 struct rdmaez_wc_batch *batch, struct rdmaez_diag *diag);

/**
 * @brief Polls a completion queue until there are enough completions, one has failed, or the time is over.
 *
 * Whatever was polled is in @p batch, even after a failure, so look at `count` completions in any case. There may be
 * more than you wanted, and there may be more behind the one that has failed. As long as completions come, the call
 * costs what a loop of ibv_poll_cq() costs. While none come, it reads the clock at every 16th poll, and after 1 ms it
 * rests for 50 us between polls. If you would rather sleep until an event comes, use rdmaez_cq_wait().
 *
 * @param cq the completion queue
 * @param qp the queue pair to ask for causes if one of its completions has failed; NULL: none
 * @param batch receives the completions
 * @param timeout_ns how long to wait, in ns, counted from the first poll that finds nothing. 0: 10 s;
 *        #RDMAEZ_NS_NOW: it polls once; #RDMAEZ_NS_FOREVER: forever
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 there are at least as many as you want, all successful
 * @retval EIO as rdmaez_wc_poll()
 * @retval ETIMEDOUT there are fewer than you want (#RDMAEZ_WHY_WC_LATE). After a wait of a second or more the findings
 *         of rdmaez_qp_examine_with() follow. They know which queue of @p qp you waited for, and for how long. Without
 *         @p qp there are none
 * @retval EINVAL as rdmaez_wc_poll(); `capacity` is less than `want`, or `want` is negative (#RDMAEZ_WHY_RANGE)
 * @par Verbs calls
 * Only ibv_poll_cq(). With a queue pair and a record, it also makes the calls of rdmaez_wc_explain_qp() after a
 * failure, and those of rdmaez_qp_examine() if it has waited for a second or more.
 */
RDMAEZ_INLINE int rdmaez_wc_wait(struct ibv_cq *cq, struct ibv_qp *qp,
				 struct rdmaez_wc_batch *batch, uint64_t timeout_ns,
				 struct rdmaez_diag *diag);

/**
 * @brief Reads the immediate data of a completion.
 * @param wc the completion
 * @param imm receives the number, in host byte order; written on success only
 * @retval 0 @p imm is the number
 * @retval ENODATA the completion has failed, or is not of a receive, or the message has no immediate data
 */
RDMAEZ_API int rdmaez_wc_imm(const struct ibv_wc *wc, uint32_t *imm);

/** @brief A UD message, and the header that came with it. */
struct rdmaez_grh {
	const void *payload; /**< the message */
	uint32_t length;     /**< its bytes, `byte_len` - 40 */
	uint32_t flow_label; /**< 20 bits; 0 with IPv4 */
	union ibv_gid sgid;  /**< the sender's GID; IPv4-mapped with IPv4 */
	union ibv_gid dgid;  /**< the GID that it was sent to, or the group's */
	uint8_t version; /**< 6, or 4: IPv4. 0: there was no header, and all but the message is zero */
	uint8_t next_header;   /**< 17: UDP, so RoCE v2; 0x1b: InfiniBand or RoCE v1 */
	uint8_t traffic_class; /**< or an IPv4 header's TOS: DSCP and ECN */
	uint8_t hop_limit;     /**< or an IPv4 header's TTL, as it arrived */
};

/**
 * @brief Finds the message of a UD receive, and reads the header before it.
 *
 * A UD receive has 40 bytes before the message, whether or not a header arrived:
 *
 * | arrived with | the 40 bytes |
 * |---|---|
 * | IBV_WC_GRH, from InfiniBand, RoCE v1, or RoCE v2 over IPv6 | a GRH, which has the form of an IPv6 header |
 * | IBV_WC_GRH, from RoCE v2 over IPv4 | 20 undefined bytes, then the IPv4 header |
 * | no IBV_WC_GRH, as within an InfiniBand subnet | undefined |
 *
 * No bit tells IPv4 from IPv6. Like libibverbs' get_grh_header_version(), rdmaez takes the first four bits for the IP
 * version if they are not 6. Otherwise it looks for an IPv4 header whose checksum is right.
 *
 * @param wc the receive's completion, not NULL
 * @param buffer where the receive's first SGE begins, not NULL; its first 40 bytes are read, and only if there is a
 *         header
 * @param grh receives what was found, not NULL; written on success only
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 @p grh is filled
 * @retval EINVAL @p wc has failed, is not of a receive, or of less than 40 bytes (#RDMAEZ_WHY_WC_NO_SENDER)
 * @retval EPROTONOSUPPORT IBV_WC_GRH is set, but neither kind of header is there (#RDMAEZ_WHY_WC_NO_HEADER)
 * @par Verbs calls
 * None.
 */
RDMAEZ_API int rdmaez_wc_grh(const struct ibv_wc *wc, const void *buffer, struct rdmaez_grh *grh,
			     struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#include "impl/wc.h"

#endif
