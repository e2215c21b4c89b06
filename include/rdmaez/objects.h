/* SPDX-License-Identifier: MIT */
/**
 * @file objects.h
 * @brief Create and destroy protection domains, completion channels and queues, shared receive queues and XRC domains,
 * change shared receive queues, and explain a failure.
 *
 * The verbs that create these objects return EINVAL or ENOMEM for any number above one of the device's limits. The
 * verbs that destroy them return EBUSY while anything else uses the object, and do not say what. No verb can list the
 * users; these functions name the kinds that there can be:
 *
 * | object | EBUSY while there is one of these |
 * |---|---|
 * | protection domain | queue pair, SRQ, memory region or window, address handle, work queue, parent domain |
 * | completion queue | queue pair, work queue, SRQ for XRC or tag matching |
 * | completion channel | completion queue |
 * | SRQ | queue pair |
 * | XRC domain | SRQ for XRC, XRC_RECV queue pair |
 * | memory region, see mr.h | memory window bound to it; rxe returns EINVAL |
 *
 * @par Sources
 * The counts of users in `uverbs_free_pd()`, `ib_destroy_cq_user()`, `ib_destroy_srq_user()` and `uverbs_free_xrcd()`
 * of Linux 6.1 to 7.2. For parent domains, `mlx5_free_pd()`, `efa_dealloc_pd()` and `hns_roce_u_dealloc_pd()` of
 * rdma-core 65. If no such user exists, EBUSY means that another thread is using the object at this moment
 * (`uverbs_try_lock_object()`).
 *
 * If a number is above the device's limit, and the driver is known to compare just that limit, the number is certainly
 * the cause. It is a likely cause with other drivers (mana_ib creates larger completion queues than it reports), with
 * drivers that driver.h does not list, and with ENOMEM.
 *
 * @par Verbs calls
 * Each function makes one verbs call, which has the same name. If that fails and @p diag is not NULL, the functions
 * that create queues also make one ibv_query_device(), for tag matching ibv_query_device_ex(). An object that could not
 * be destroyed stays as it was. After success you must not use the object any more.
 *
 * @par What may be returned
 * Every function returns EINVAL for a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), but `diag` may be NULL. A function may
 * also return any other errno of the verb (#RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_NOT_SUPPORTED,
 * #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED). ENOMEM likely means a limit of the process (#RDMAEZ_WHY_MEMLOCK,
 * #RDMAEZ_WHY_ADDRESS_SPACE), or that the device has no more such objects (#RDMAEZ_WHY_NO_RESOURCES; rxe then returns
 * EINVAL). EAGAIN likely means a limit of the cgroup (#RDMAEZ_WHY_CGROUP). EIO may also mean that a provider has not
 * set errno.
 *
 * @par Threads
 * May be called from any thread. No other thread may use an object while it is being destroyed.
 *
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_OBJECTS_H
#define RDMAEZ_OBJECTS_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Allocates a protection domain, as ibv_alloc_pd() does, and explains a failure.
 * @param context the open device
 * @param pd receives the domain; written on success only
 * @param diag receives the explanation
 * @retval 0 @p pd is the domain
 * @retval ENOMEM likely the device has no more of them (#RDMAEZ_WHY_NO_RESOURCES)
 */
RDMAEZ_COLD int rdmaez_pd_alloc(struct ibv_context *context, struct ibv_pd **pd,
				struct rdmaez_diag *diag);

/**
 * @brief Creates a completion channel, as ibv_create_comp_channel() does, and explains a failure.
 *
 * Completion queues that you create with the channel send it their events: see cq.h. Its `fd` becomes readable when
 * there is an event. If you read when there is none, the read blocks unless you have called rdmaez_channel_nonblock().
 *
 * @param context the open device
 * @param channel receives the channel; written on success only
 * @param diag receives the explanation
 * @retval 0 @p channel is the channel
 * @retval EMFILE likely the process has as many open files as it may (#RDMAEZ_WHY_UNEXPLAINED)
 */
RDMAEZ_COLD int rdmaez_channel_create(struct ibv_context *context,
				      struct ibv_comp_channel **channel, struct rdmaez_diag *diag);

/**
 * @brief Creates a completion queue, as ibv_create_cq() does, and explains a failure.
 *
 * Its `cq_context` is NULL. You may set it.
 *
 * @param context the open device
 * @param cqe how many completions it must hold, at least 1; `cqe` of the queue is what was granted
 * @param channel the channel for its events; NULL: none
 * @param comp_vector which of the device's completion vectors signals them, from 0 to
 *        `context->num_comp_vectors` - 1
 * @param cq receives the queue; written on success only
 * @param diag receives the explanation
 * @retval 0 @p cq is the queue
 * @retval EINVAL @p cqe is above the device's `max_cqe` (#RDMAEZ_WHY_CAP_LIMIT), or not above 0
 *         (#RDMAEZ_WHY_RANGE; 0 is likely the mistake); no such completion vector (#RDMAEZ_WHY_RANGE); else likely
 *         a limit that it does not report (#RDMAEZ_WHY_CQ_HIDDEN)
 * @retval EBADF likely a channel of another context (#RDMAEZ_WHY_CREATE_CONTEXT)
 */
RDMAEZ_COLD int rdmaez_cq_create(struct ibv_context *context, int cqe,
				 struct ibv_comp_channel *channel, int comp_vector,
				 struct ibv_cq **cq, struct rdmaez_diag *diag);

/**
 * @brief Creates a completion queue, as ibv_create_cq_ex() does, and explains a failure.
 *
 * @param context the open device
 * @param init_attr as for ibv_create_cq_ex()
 * @param cq receives the queue; written on success only
 * @param diag receives the explanation
 * @return as rdmaez_cq_create(), and EOPNOTSUPP if, likely, the device lacks one of `wc_flags`, `flags` or
 *         `comp_mask` (#RDMAEZ_WHY_NOT_SUPPORTED)
 */
RDMAEZ_COLD int rdmaez_cq_create_ex(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *init_attr, struct ibv_cq_ex **cq,
				    struct rdmaez_diag *diag);

/**
 * @brief Resizes a completion queue, as ibv_resize_cq() does, and explains a failure.
 *
 * bnxt_re, hfi1, ib_mthca, ib_qib, irdma, mlx4_ib, mlx5_ib, ocrdma and rdma_rxe can resize a queue, some of them only
 * with recent kernels or firmware. No other driver can. Of the drivers for iWARP only irdma can. Source: `resize_cq` of
 * `struct ib_device_ops` in Linux 6.1, 6.12 and 7.2, and of the providers of rdma-core 65.
 *
 * @param cq the completion queue; for an extended one ibv_cq_ex_to_cq()
 * @param cqe how many completions it must hold, at least 1; afterwards `cq->cqe` says how many it does
 * @param diag receives the explanation
 * @retval 0 the queue has the new size
 * @retval EOPNOTSUPP the driver cannot resize queues, or not this one (#RDMAEZ_WHY_CQ_FIXED)
 * @retval ENOSYS the same, from mlx5's firmware
 * @retval EINVAL as rdmaez_cq_create(), without a completion vector; for a smaller size, likely more completions are
 *         waiting (#RDMAEZ_WHY_CQ_WAITING)
 * @retval EBUSY likely it is still being resized (#RDMAEZ_WHY_BUSY)
 */
RDMAEZ_API int rdmaez_cq_resize(struct ibv_cq *cq, int cqe, struct rdmaez_diag *diag);

/**
 * @brief Creates an SRQ, as ibv_create_srq() does, and explains a failure.
 *
 * @param pd the protection domain
 * @param init_attr as for ibv_create_srq(), which writes what it granted into `attr`
 * @param srq receives the SRQ; written on success only
 * @param diag receives the explanation
 * @retval 0 @p srq is the SRQ
 * @retval EINVAL `max_wr` or `max_sge` is above the device's `max_srq_wr` or `max_srq_sge`
 *         (#RDMAEZ_WHY_CAP_LIMIT); likely `max_wr` is 0, or `srq_limit` above it (#RDMAEZ_WHY_RANGE), or the
 *         two are too much together (#RDMAEZ_WHY_CAP_TOGETHER)
 * @retval ENOMEM as with EINVAL
 */
RDMAEZ_COLD int rdmaez_srq_create(struct ibv_pd *pd, struct ibv_srq_init_attr *init_attr,
				  struct ibv_srq **srq, struct rdmaez_diag *diag);

/**
 * @brief Creates an SRQ for XRC or tag matching, as ibv_create_srq_ex() does, and explains a failure.
 *
 * @param context the open device
 * @param init_attr as for ibv_create_srq_ex(), which writes what it granted into `attr`. A domain, queue or
 *        type counts only with its bit in comp_mask, and then must not be NULL
 * @param srq receives the SRQ; written on success only
 * @param diag receives the explanation
 * @retval 0 @p srq is the SRQ
 * @retval EINVAL as rdmaez_srq_create(); the type needs what comp_mask lacks (#RDMAEZ_WHY_SRQ_PARTS, likely
 *         for a basic SRQ, which mlx4 and mlx5 create without the bit of its protection domain); no such
 *         type (#RDMAEZ_WHY_ENUM); more tags or operations than the device has (#RDMAEZ_WHY_CAP_LIMIT), or no
 *         tags (#RDMAEZ_WHY_RANGE); likely a part of another context (#RDMAEZ_WHY_CREATE_CONTEXT)
 * @retval EOPNOTSUPP the device has no XRC (#RDMAEZ_WHY_NO_XRC); likely it has no tag matching
 *         (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @retval ENOENT likely a part of another context (#RDMAEZ_WHY_CREATE_CONTEXT)
 */
RDMAEZ_COLD int rdmaez_srq_create_ex(struct ibv_context *context,
				     struct ibv_srq_init_attr_ex *init_attr, struct ibv_srq **srq,
				     struct rdmaez_diag *diag);

/**
 * @brief Changes an SRQ, as ibv_modify_srq() does, and explains a failure.
 *
 * @param srq the SRQ
 * @param attr the new attributes: `max_wr` is for how many receives it must have room, `srq_limit` is as for
 *         rdmaez_srq_arm()
 * @param attr_mask which of them: IBV_SRQ_MAX_WR, IBV_SRQ_LIMIT
 * @param diag receives the explanation
 * @retval 0 the SRQ is changed
 * @retval EINVAL `max_wr` is above the device's `max_srq_wr` (#RDMAEZ_WHY_CAP_LIMIT); likely it is 0
 *         (#RDMAEZ_WHY_RANGE), or the device does not report that it can resize SRQs; mlx5 cannot
 *         (#RDMAEZ_WHY_SRQ_FIXED); likely `srq_limit` is above the room that there is (#RDMAEZ_WHY_RANGE)
 * @retval EOPNOTSUPP likely the driver cannot resize SRQs (#RDMAEZ_WHY_SRQ_FIXED), or has no limit
 *         (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @par Verbs calls
 * After a failure also one ibv_query_srq().
 *
 * Source: `rxe_srq_chk_attr()`, `siw_modify_srq()`, `mlx4_ib_modify_srq()`, `mlx5_ib_modify_srq()` and
 * `rvt_modify_srq()` of Linux 6.1 to 7.2.
 */
RDMAEZ_API int rdmaez_srq_modify(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask,
				 struct rdmaez_diag *diag);

/**
 * @brief Arms the limit of an SRQ: IBV_EVENT_SRQ_LIMIT_REACHED comes once, when the SRQ has fewer receives than the
 * limit.
 *
 * When rdmaez_event_next() (event.h) has read that event, post receives and arm again. It depends on the driver whether
 * the event comes if the SRQ has fewer receives already, so post first.
 *
 * @param srq the SRQ
 * @param limit how many receives, at most its `max_wr`; 0: no event
 * @param diag receives the explanation
 * @return as rdmaez_srq_modify() with IBV_SRQ_LIMIT
 */
RDMAEZ_API int rdmaez_srq_arm(struct ibv_srq *srq, uint32_t limit, struct rdmaez_diag *diag);

/**
 * @brief Opens an XRC domain, as ibv_open_xrcd() does, and explains a failure.
 *
 * Processes share the domain of a file. The first one opens it with O_CREAT. With an fd of -1, the domain is your own.
 *
 * @param context the open device
 * @param init_attr as for ibv_open_xrcd(); needs both bits of comp_mask
 * @param xrcd receives the domain; written on success only
 * @param diag receives the explanation
 * @retval 0 @p xrcd is the domain
 * @retval EOPNOTSUPP the device has no XRC (#RDMAEZ_WHY_NO_XRC)
 * @retval EINVAL comp_mask lacks a bit (#RDMAEZ_WHY_XRCD_PARTS); the domain exists and O_EXCL is set
 *         (#RDMAEZ_WHY_XRCD_EXISTS, likely)
 * @retval EAGAIN likely the domain does not exist, and O_CREAT is not set (#RDMAEZ_WHY_XRCD_NONE)
 * @retval EBADF `fd` is neither -1 nor open (#RDMAEZ_WHY_XRCD_FILE)
 *
 * Source: `ib_uverbs_open_xrcd()` of Linux 6.1 to 7.2, `ibv_cmd_open_xrcd()` of rdma-core 33 to 65.
 */
RDMAEZ_COLD int rdmaez_xrcd_open(struct ibv_context *context, struct ibv_xrcd_init_attr *init_attr,
				 struct ibv_xrcd **xrcd, struct rdmaez_diag *diag);

/**
 * @brief Deallocates a protection domain, as ibv_dealloc_pd() does, and explains a failure.
 * @param pd the protection domain
 * @param diag receives the explanation
 * @retval 0 it is gone
 * @retval EBUSY likely something created in it still exists (#RDMAEZ_WHY_PD_IN_USE)
 */
RDMAEZ_API int rdmaez_pd_dealloc(struct ibv_pd *pd, struct rdmaez_diag *diag);

/**
 * @brief Destroys a completion channel, as ibv_destroy_comp_channel() does, and explains a failure.
 * @param channel the channel
 * @param diag receives the explanation
 * @retval 0 it is gone, and its descriptor is closed
 * @retval EBUSY a completion queue still uses it (#RDMAEZ_WHY_CHANNEL_IN_USE)
 */
RDMAEZ_API int rdmaez_channel_destroy(struct ibv_comp_channel *channel, struct rdmaez_diag *diag);

/**
 * @brief Destroys a completion queue, as ibv_destroy_cq() does, and explains a failure.
 *
 * Like ibv_destroy_cq(), it waits until every event that ibv_get_cq_event() has returned is acknowledged: see
 * rdmaez_cq_ack().
 *
 * @param cq the completion queue; for an extended one ibv_cq_ex_to_cq()
 * @param diag receives the explanation
 * @retval 0 it is gone
 * @retval EBUSY likely something still uses it (#RDMAEZ_WHY_CQ_IN_USE)
 */
RDMAEZ_API int rdmaez_cq_destroy(struct ibv_cq *cq, struct rdmaez_diag *diag);

/**
 * @brief Destroys an SRQ, as ibv_destroy_srq() does, and explains a failure.
 *
 * Like ibv_destroy_srq(), it waits until ibv_ack_async_event() has acknowledged every event of the SRQ.
 *
 * @param srq the SRQ
 * @param diag receives the explanation
 * @retval 0 it is gone
 * @retval EBUSY likely a queue pair still uses it (#RDMAEZ_WHY_SRQ_IN_USE)
 */
RDMAEZ_API int rdmaez_srq_destroy(struct ibv_srq *srq, struct rdmaez_diag *diag);

/**
 * @brief Closes an XRC domain, as ibv_close_xrcd() does, and explains a failure.
 * @param xrcd the XRC domain
 * @param diag receives the explanation
 * @retval 0 it is closed; if other processes have the domain open, they keep it
 * @retval EBUSY likely something that this process created in it still exists (#RDMAEZ_WHY_XRCD_IN_USE)
 */
RDMAEZ_API int rdmaez_xrcd_close(struct ibv_xrcd *xrcd, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/objects.h"
#endif

#endif
