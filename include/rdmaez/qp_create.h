/* SPDX-License-Identifier: MIT */
/**
 * @file qp_create.h
 * @brief Create a queue pair, and say why not; find how much inline data it may have.
 *
 * ibv_create_qp() answers EINVAL or ENOMEM for a number above any of the device's limits, and those
 * limits do not tell everything: each holds by itself, not together, and the one of inline data is
 * published nowhere.
 */
#ifndef RDMAEZ_QP_CREATE_H
#define RDMAEZ_QP_CREATE_H

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief ibv_create_qp(), and an explanation where it fails.
 *
 * The queue pair is destroyed with ibv_destroy_qp().
 *
 * @param pd the protection domain
 * @param init_attr as for ibv_create_qp(), which writes what was really granted into `cap`
 * @param qp receives the queue pair, in RESET; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p qp is the queue pair
 * @retval EINVAL a pointer is NULL, a completion queue that the type needs among them
 *         (#RDMAEZ_WHY_NULL_ARGUMENT); a number above the device's (#RDMAEZ_WHY_CAP_LIMIT); XRC_RECV, which
 *         takes rdmaez_qp_create_ex() (#RDMAEZ_WHY_CREATE_DOMAIN); XRC_SEND with an SRQ
 *         (#RDMAEZ_WHY_CREATE_SRQ); no type at all (#RDMAEZ_WHY_CREATE_TYPE); likely a part of another context
 *         (#RDMAEZ_WHY_CREATE_CONTEXT) or protection domain (#RDMAEZ_WHY_CREATE_SRQ_PD), too much inline data
 *         (#RDMAEZ_WHY_CAP_INLINE), or numbers too large together (#RDMAEZ_WHY_CAP_TOGETHER)
 * @retval ENOMEM as with EINVAL; or likely a limit of the process (#RDMAEZ_WHY_MEMLOCK) or the device's
 *         number of queue pairs (#RDMAEZ_WHY_NO_RESOURCES)
 * @retval EOPNOTSUPP the device lacks the type (#RDMAEZ_WHY_CREATE_TYPE); some drivers say ENOSYS
 * @retval EPERM a RAW_PACKET queue pair without CAP_NET_RAW (#RDMAEZ_WHY_CREATE_PRIVILEGE)
 * @return any other errno of ibv_create_qp() (#RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_create_qp(). When that fails and there is a record to fill, one ibv_query_device().
 * @par Threads
 * May be called from any thread.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
				struct ibv_qp **qp, struct rdmaez_diag *diag);

/**
 * @brief ibv_create_qp_ex(), and an explanation where it fails.
 *
 * For XRC_RECV, for work requests by function (IBV_QP_INIT_ATTR_SEND_OPS_FLAGS), and for what else
 * only this call can ask for. The queue pair is destroyed with ibv_destroy_qp().
 *
 * @param context the open device
 * @param init_attr as for ibv_create_qp_ex(), which writes what was really granted into `cap`
 * @param qp receives the queue pair, in RESET; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p qp is the queue pair
 * @retval EINVAL as rdmaez_qp_create(), except that #RDMAEZ_WHY_CREATE_DOMAIN means that comp_mask lacks
 *         the bit of the domain which the type needs
 * @retval EOPNOTSUPP the device lacks the type (#RDMAEZ_WHY_CREATE_TYPE) or, likely, one of the extensions
 *         in comp_mask (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno, as rdmaez_qp_create()
 * @par Verbs calls
 * One ibv_create_qp_ex(). When that fails and there is a record to fill, one ibv_query_device().
 * @par Threads
 * May be called from any thread.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_qp_create_ex(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *init_attr, struct ibv_qp **qp,
				   struct rdmaez_diag *diag);

/** @brief rdmaez_qp_max_inline() looks no further than this many bytes. */
#define RDMAEZ_QP_INLINE_PROBED 65536u

/**
 * @brief Finds how much inline data a queue pair may have, by trying.
 *
 * No device publishes this limit, and it may shrink as `cap` asks for more SGEs. Queue pairs are created
 * and destroyed, at most 18 of them, halving the range between what is granted and what is refused; keep
 * the answer. A device short of memory may refuse more than it would otherwise.
 *
 * @param pd the protection domain
 * @param init_attr what the queue pair shall be otherwise, not changed; its `cap.max_inline_data` is
 *        ignored
 * @param bytes receives the greatest `cap.max_inline_data` that is granted, at most
 *        #RDMAEZ_QP_INLINE_PROBED; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p bytes is written
 * @return as rdmaez_qp_create(), where not even a queue pair without inline data can be had, or where
 *         creating or destroying one failed for another reason than its size. After a failure of
 *         ibv_destroy_qp() that queue pair still exists
 * @par Threads
 * May be called from any thread.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_COLD int rdmaez_qp_max_inline(struct ibv_pd *pd, const struct ibv_qp_init_attr *init_attr,
				     uint32_t *bytes, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#include "impl/qp_create.h"

#endif
