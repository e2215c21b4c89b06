/* SPDX-License-Identifier: MIT */
/**
 * @file qp_create.h
 * @brief Create a queue pair, with an explanation if that fails. Find out how much inline data it supports.
 *
 * ibv_create_qp() returns EINVAL or ENOMEM for a number above any of the device's limits. Those limits are not the
 * whole story: each can be granted on its own but not all of them together, and verbs do not report the limit on inline
 * data at all. If a number is above a limit, and the driver is known to compare just that limit, the number is
 * certainly the cause. It is a likely cause with other drivers and with ENOMEM.
 *
 * Destroy such a queue pair with ibv_destroy_qp().
 *
 * @par Threads
 * May be called from any thread.
 *
 * @par Verbs calls
 * The one that creates. If it fails and @p diag is not NULL, also one ibv_query_device(). rdmaez_qp_max_inline() makes
 * at most 18 of ibv_create_qp() and of ibv_destroy_qp().
 * @par Sources
 * ibv_create_qp(), and the drivers' source, as for driver.h.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_QP_CREATE_H
#define RDMAEZ_QP_CREATE_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Creates a queue pair, as ibv_create_qp() does, and explains a failure.
 *
 * @param pd the protection domain
 * @param init_attr as for ibv_create_qp(), which writes what it granted into `cap`
 * @param qp receives the queue pair, in RESET; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p qp is the queue pair
 * @retval EINVAL a pointer is NULL, or a completion queue that the type needs
 *         (#RDMAEZ_WHY_NULL_ARGUMENT); a number is above the device's limit (#RDMAEZ_WHY_CAP_LIMIT); XRC_RECV,
 *         which needs rdmaez_qp_create_ex() (#RDMAEZ_WHY_CREATE_DOMAIN); XRC_SEND with an SRQ
 *         (#RDMAEZ_WHY_CREATE_SRQ); not a type (#RDMAEZ_WHY_CREATE_TYPE); likely an object of another context
 *         (#RDMAEZ_WHY_CREATE_CONTEXT) or protection domain (#RDMAEZ_WHY_CREATE_SRQ_PD), too much inline data
 *         (#RDMAEZ_WHY_CAP_INLINE), or numbers that are too large together (#RDMAEZ_WHY_CAP_TOGETHER)
 * @retval ENOMEM likely as with EINVAL, but numbers together only for a queue with at least a quarter of `max_qp_wr`;
 *         or likely a limit of the process (#RDMAEZ_WHY_MEMLOCK, unless it has CAP_IPC_LOCK, with what is pinned
 *         already as `min`; or #RDMAEZ_WHY_ADDRESS_SPACE) or the device's number of queue pairs
 *         (#RDMAEZ_WHY_NO_RESOURCES; rxe then returns EINVAL)
 * @retval EOPNOTSUPP the device lacks the type (#RDMAEZ_WHY_CREATE_TYPE); some drivers return ENOSYS
 * @retval EPERM a RAW_PACKET queue pair without CAP_NET_RAW (#RDMAEZ_WHY_CREATE_PRIVILEGE; likely, if the process has
 *         the capability, but perhaps not where it counts)
 * @retval EAGAIN likely a limit of the cgroup (#RDMAEZ_WHY_CGROUP)
 * @return any other errno of ibv_create_qp() (#RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED)
 */
RDMAEZ_COLD int rdmaez_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
				 struct ibv_qp **qp, struct rdmaez_diag *diag);

/**
 * @brief Creates a queue pair, as ibv_create_qp_ex() does, and explains a failure.
 *
 * Use it for XRC_RECV, for posting by function (IBV_QP_INIT_ATTR_SEND_OPS_FLAGS), and for anything else that only this
 * call offers.
 *
 * @param context the open device
 * @param init_attr as for ibv_create_qp_ex(), which writes what it granted into `cap`
 * @param qp receives the queue pair, in RESET; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p qp is the queue pair
 * @retval EINVAL as for rdmaez_qp_create(), except that #RDMAEZ_WHY_CREATE_DOMAIN means that comp_mask
 *         lacks the bit of the domain that the type needs
 * @retval EOPNOTSUPP the device lacks the type (#RDMAEZ_WHY_CREATE_TYPE) or, likely, one of the extensions
 *         in comp_mask or of the operations in send_ops_flags (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno, as for rdmaez_qp_create()
 */
RDMAEZ_COLD int rdmaez_qp_create_ex(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *init_attr, struct ibv_qp **qp,
				    struct rdmaez_diag *diag);

/** @brief The most bytes that rdmaez_qp_max_inline() tries. */
#define RDMAEZ_QP_INLINE_PROBED 65536u

/**
 * @brief Finds how much inline data a queue pair may have, by trying.
 *
 * Verbs do not report this limit (efadv_query_device() does for EFA), and it may shrink as `cap` asks for more SGEs. A
 * binary search creates and destroys at most 18 queue pairs, so keep the result. If a device is short of memory, it may
 * refuse more than it would otherwise.
 *
 * @param pd the protection domain
 * @param init_attr the queue pair's other attributes; not changed, and `cap.max_inline_data` is ignored
 * @param bytes receives the largest `cap.max_inline_data` that is granted, at most
 *        #RDMAEZ_QP_INLINE_PROBED; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p bytes is written
 * @return as rdmaez_qp_create(), if a queue pair cannot be created even without inline data, or if
 *         creating or destroying one fails for a reason other than its size. If ibv_destroy_qp() fails,
 *         that queue pair still exists
 */
RDMAEZ_COLD int rdmaez_qp_max_inline(struct ibv_pd *pd, const struct ibv_qp_init_attr *init_attr,
				     uint32_t *bytes, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/qp_create.h"
#endif

#endif
