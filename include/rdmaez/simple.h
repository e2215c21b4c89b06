/* SPDX-License-Identifier: MIT */
/**
 * @file simple.h
 * @brief All objects of a program with one queue pair: one call opens them, and another closes them.
 *
 * They are plain verbs objects in a plain struct, which has no other state. Use them with any verb. You may take one
 * out and set its member to NULL, or put one of your own in. A server with many queue pairs opens everything except the
 * queue pairs (#RDMAEZ_SIMPLE_NO_QP), with a shared receive queue and one completion queue. It then creates each queue
 * pair from rdmaez_simple_init_attr().
 *
 * @code
 * int open_with(void *memory, size_t length, struct rdmaez_simple *simple, struct rdmaez_diag *diag)
 * {
 *         struct rdmaez_simple_opts opts = {0};
 *
 *         opts.buffer = memory;
 *         opts.length = length;
 *         return rdmaez_simple_open(NULL, &opts, simple, diag);
 * }
 * @endcode
 *
 * Then connect.h and exchange.h connect `simple.qp`; wr.h and wc.h send, receive and wait.
 *
 * @par Threads
 * May be called from any thread. No other thread may use the objects while they are being closed.
 * @par Verbs calls
 * The functions that fill attributes make none. Those of the others are listed with each function.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_SIMPLE_H
#define RDMAEZ_SIMPLE_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief What rdmaez_simple_open() opens, and rdmaez_simple_close() closes. */
struct rdmaez_simple {
	struct ibv_context *context; /**< the open device */
	struct ibv_pd *pd;           /**< the protection domain of all below */
	struct ibv_cq *send_cq;      /**< where sends complete */
	struct ibv_cq *recv_cq; /**< where receives complete; may be the same queue as `send_cq` */
	struct ibv_mr *mr;      /**< the buffer; NULL: there was none */
	struct ibv_qp *qp;      /**< in RESET; NULL: #RDMAEZ_SIMPLE_NO_QP */
	struct ibv_comp_channel
		*channel;    /**< the channel of the completion queue; NULL: there is none */
	struct ibv_srq *srq; /**< the shared receive queue; NULL: there is none */
};

/** @brief Flags of rdmaez_simple_opts. */
enum rdmaez_simple_flags {
	/** A send that succeeds completes only with IBV_SEND_SIGNALED, as rdmaez_credit_take() sets it. Without this:
	 *  every send completes, flag or not, so nobody waits for a completion that never comes. */
	RDMAEZ_SIMPLE_UNSIGNALED = 1 << 0,
	/** Sends and receives complete in one queue: `send_cq` and `recv_cq` are the same. Without this: in two. */
	RDMAEZ_SIMPLE_ONE_CQ = 1 << 1,
	/** The same, and the queue has a channel, for rdmaez_cq_wait(). */
	RDMAEZ_SIMPLE_CHANNEL = 1 << 2,
	/** Receives are taken from a shared receive queue, of `recvs` work requests. Without this: from the queue
	 *  pair's own. */
	RDMAEZ_SIMPLE_SRQ = 1 << 3,
	/** Create no queue pair, because you create your own. */
	RDMAEZ_SIMPLE_NO_QP = 1 << 4
};

/** @brief What rdmaez_simple_open() opens. Zero means the default; #RDMAEZ_ZERO means none. */
struct rdmaez_simple_opts {
	uint32_t sends;           /**< send work requests outstanding at a time; 0: 64 */
	uint32_t recvs;           /**< receive work requests outstanding at a time; 0: 64 */
	uint32_t sges;            /**< the most SGEs of a work request; 0: 1 */
	uint32_t inline_data;     /**< the most bytes of an inline send; 0: none */
	enum ibv_qp_type qp_type; /**< the queue pair's type; 0: IBV_QPT_RC */
	unsigned int flags;       /**< enum rdmaez_simple_flags */
	/** IBV_ACCESS_ bits for `mr`; only rdmaez_simple_open() uses them. 0: IBV_ACCESS_LOCAL_WRITE */
	unsigned int access;
	void *buffer; /**< your memory; only rdmaez_simple_open() uses it, and registers it */
	/** The length of `buffer` in bytes; only rdmaez_simple_open() uses it. 0: there is no `mr`. A UD receive takes
	 *  40 bytes more than the message: the GRH. */
	size_t length;
	/** Entries of each completion queue, if several queue pairs share them. 0: what one queue pair needs */
	uint32_t cqes;
	/** The operations of an extended queue pair, IBV_QP_EX_WITH_ bits, for rdmaez_wr_post_ex(). 0: an
	 *  ordinary one */
	uint64_t send_ops;
};

/**
 * @brief Opens a device, and creates what one queue pair needs.
 *
 * Each queue has room for one work request more than you asked for: the beacon of rdmaez_qp_drain(). Each completion
 * queue has room for all completions, because after an error every work request completes, signaled or not. It can
 * overflow only if you post more than you asked for. A driver that rounds up the queue's size does not refuse that.
 *
 * After a failure everything that was created is undone, and the record is that of the function that failed:
 * rdmaez_device_open(), rdmaez_pd_alloc(), rdmaez_channel_create(), rdmaez_cq_create(), rdmaez_mr_reg(),
 * rdmaez_srq_create(), rdmaez_qp_create() or rdmaez_qp_create_ex().
 *
 * @param device the device's name; NULL: any, as for rdmaez_device_open()
 * @param opts may be NULL
 * @param simple receives the objects; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p simple is complete; the queue pair is in RESET
 * @retval EINVAL @p simple is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); there are unknown flags (#RDMAEZ_WHY_OPTION_UNKNOWN)
 * @return any errno of these functions
 * @par Verbs calls
 * Those of rdmaez_device_open(), then ibv_alloc_pd(), ibv_create_comp_channel() for a channel, ibv_create_cq() once or
 * twice, ibv_reg_mr() if there is a buffer, ibv_create_srq() for a shared receive queue, and ibv_create_qp() or
 * ibv_create_qp_ex().
 */
RDMAEZ_COLD int rdmaez_simple_open(const char *device, const struct rdmaez_simple_opts *opts,
				   struct rdmaez_simple *simple, struct rdmaez_diag *diag);

/**
 * @brief Fills the attributes with which rdmaez_simple_open() creates the queue pair.
 *
 * Use them for more queue pairs on the same objects, and for `init_attr` of rdmaez_qp_recover(), which may have to
 * recreate the queue pair.
 *
 * @param simple what was opened, not NULL; its completion queues and shared receive queue are used
 * @param opts the options that you passed; may be NULL
 * @param init receives the attributes, not NULL
 */
RDMAEZ_API void rdmaez_simple_init_attr(const struct rdmaez_simple *simple,
					const struct rdmaez_simple_opts *opts,
					struct ibv_qp_init_attr *init);

/**
 * @brief Fills the same attributes for an extended queue pair: for rdmaez_qp_create_ex(), even if `send_ops` is 0.
 *
 * @param simple what was opened, not NULL
 * @param opts the options that you passed; may be NULL
 * @param init receives the attributes, not NULL
 */
RDMAEZ_API void rdmaez_simple_init_attr_ex(const struct rdmaez_simple *simple,
					   const struct rdmaez_simple_opts *opts,
					   struct ibv_qp_init_attr_ex *init);

/**
 * @brief Destroys all objects in the order that verbs requires, and closes the device.
 *
 * The order is: queue pair, memory region, shared receive queue, completion queues, channel, protection domain, device.
 * A member that is NULL is skipped, and each becomes NULL once its object is gone. If an object cannot be destroyed,
 * that object and all after it stay. Free the object that holds it up, such as an address handle in the protection
 * domain, and call again.
 *
 * @param simple the objects; all NULL: nothing is done
 * @param diag receives the explanation, as of rdmaez_mr_dereg(), rdmaez_cq_destroy(), rdmaez_device_close() and others;
 *        may be NULL
 * @retval 0 all are gone
 * @retval EINVAL @p simple is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @retval EBUSY likely something still uses the object (#RDMAEZ_WHY_PD_IN_USE, #RDMAEZ_WHY_CQ_IN_USE,
 *         #RDMAEZ_WHY_SRQ_IN_USE, #RDMAEZ_WHY_MR_IN_USE, #RDMAEZ_WHY_QP_MULTICAST)
 * @return another errno of the verb (#RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * ibv_destroy_qp(), ibv_dereg_mr(), ibv_destroy_srq(), ibv_destroy_cq(), ibv_destroy_comp_channel(), ibv_dealloc_pd()
 * and ibv_close_device(), for each object that is there.
 */
RDMAEZ_API int rdmaez_simple_close(struct rdmaez_simple *simple, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/simple.h"
#endif

#endif
