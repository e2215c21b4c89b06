/* SPDX-License-Identifier: MIT */
/**
 * @file qp_create.h
 * @brief Create a queue pair, and learn why creating it failed; find how much inline data it may have.
 *
 * ibv_create_qp() answers EINVAL or ENOMEM for a number above any of the device's limits, and those
 * limits do not tell everything: each holds by itself but not all of them together, and the limit of
 * inline data is not reported at all.
 *
 * A queue pair that is created here is destroyed with ibv_destroy_qp(). If creating fails and there is a
 * record to fill, one ibv_query_device() is made besides.
 *
 * @par Threads
 * All may be called from any thread.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_QP_CREATE_H
#define RDMAEZ_QP_CREATE_H

#include "diag.h"

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
 *         which takes rdmaez_qp_create_ex() (#RDMAEZ_WHY_CREATE_DOMAIN); XRC_SEND with an SRQ
 *         (#RDMAEZ_WHY_CREATE_SRQ); not a type (#RDMAEZ_WHY_CREATE_TYPE); likely a part of another context
 *         (#RDMAEZ_WHY_CREATE_CONTEXT) or protection domain (#RDMAEZ_WHY_CREATE_SRQ_PD), too much inline data
 *         (#RDMAEZ_WHY_CAP_INLINE), or numbers that are too large together (#RDMAEZ_WHY_CAP_TOGETHER)
 * @retval ENOMEM as with EINVAL; or likely a limit of the process (#RDMAEZ_WHY_MEMLOCK) or the device's
 *         number of queue pairs (#RDMAEZ_WHY_NO_RESOURCES)
 * @retval EOPNOTSUPP the device lacks the type (#RDMAEZ_WHY_CREATE_TYPE); some drivers say ENOSYS
 * @retval EPERM a RAW_PACKET queue pair without CAP_NET_RAW (#RDMAEZ_WHY_CREATE_PRIVILEGE)
 * @return any other errno of ibv_create_qp() (#RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED)
 */
RDMAEZ_API int rdmaez_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
				struct ibv_qp **qp, struct rdmaez_diag *diag);

/**
 * @brief Creates a queue pair, as ibv_create_qp_ex() does, and explains a failure.
 *
 * For XRC_RECV, for posting by function (IBV_QP_INIT_ATTR_SEND_OPS_FLAGS), and for whatever else only
 * this call can ask for.
 *
 * @param context the open device
 * @param init_attr as for ibv_create_qp_ex(), which writes what it granted into `cap`
 * @param qp receives the queue pair, in RESET; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p qp is the queue pair
 * @retval EINVAL as rdmaez_qp_create(), except that #RDMAEZ_WHY_CREATE_DOMAIN means that comp_mask lacks
 *         the bit of the domain that the type needs
 * @retval EOPNOTSUPP the device lacks the type (#RDMAEZ_WHY_CREATE_TYPE) or, likely, one of the extensions
 *         in comp_mask (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno, as rdmaez_qp_create()
 */
RDMAEZ_API int rdmaez_qp_create_ex(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *init_attr, struct ibv_qp **qp,
				   struct rdmaez_diag *diag);

/** @brief rdmaez_qp_max_inline() does not look further than this many bytes. */
#define RDMAEZ_QP_INLINE_PROBED 65536u

/**
 * @brief Finds how much inline data a queue pair may have, by trying.
 *
 * Verbs do not report this limit, and it may shrink as `cap` asks for more SGEs. At most 18 queue pairs
 * are created and destroyed, halving the range between what is granted and what is refused; keep the
 * answer. A device that is short of memory may refuse more than it would otherwise.
 *
 * @param pd the protection domain
 * @param init_attr what the queue pair is to be otherwise; not changed, and its `cap.max_inline_data` is
 *        ignored
 * @param bytes receives the greatest `cap.max_inline_data` that is granted, at most
 *        #RDMAEZ_QP_INLINE_PROBED; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p bytes is written
 * @return as rdmaez_qp_create(), if not even a queue pair without inline data can be created, or if
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
