/* SPDX-License-Identifier: MIT */
/**
 * @file mr.h
 * @brief Register memory, deregister it, and explain why it failed.
 *
 * ibv_reg_mr() returns EINVAL for access flags that do not go together, ENOMEM for a resource limit of the
 * process, and EFAULT for memory that is not what the caller thinks. rdmaez_mr_reg() says which it is.
 *
 * @since rdmaez 0.1; rdma-core 33. Sources: `ib_check_mr_access()` and `ib_umem_get()` of Linux 6.1
 */
#ifndef RDMAEZ_MR_H
#define RDMAEZ_MR_H

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Registers memory, as ibv_reg_mr() does, and explains a failure.
 *
 * @p access may have flags of the optional range, such as IBV_ACCESS_RELAXED_ORDERING; a kernel that does
 * not know them ignores them. Deregister the region with rdmaez_mr_dereg() or ibv_dereg_mr().
 *
 * @param pd the protection domain
 * @param addr the first byte
 * @param length how many bytes, at least 1
 * @param access IBV_ACCESS_ bits; 0: the device may read locally. IBV_ACCESS_REMOTE_WRITE and
 *        IBV_ACCESS_REMOTE_ATOMIC also need IBV_ACCESS_LOCAL_WRITE
 * @param mr receives the region; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p mr is the region
 * @retval EINVAL @p pd or @p mr is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); remote write or atomic without local
 *         write (#RDMAEZ_WHY_MR_LOCAL_WRITE); bits that are not access flags (#RDMAEZ_WHY_MR_ACCESS_BITS); no
 *         on-demand paging (#RDMAEZ_WHY_MR_ON_DEMAND); a length of 0, beyond the last address, or more than
 *         the device's `max_mr_size` (#RDMAEZ_WHY_RANGE); likely a flag that this device lacks
 *         (#RDMAEZ_WHY_MR_ACCESS_REFUSED)
 * @retval EOPNOTSUPP the flags, as with EINVAL
 * @retval EFAULT part of the memory is not mapped (#RDMAEZ_WHY_MR_UNMAPPED), or likely its protection does not
 *         permit this access, or it is a device's (#RDMAEZ_WHY_MR_PROTECTION)
 * @retval ENOMEM likely RLIMIT_MEMLOCK, unless it is unlimited or the process has CAP_IPC_LOCK
 *         (#RDMAEZ_WHY_MEMLOCK, with the soft limit in bytes as `max`); RLIMIT_AS, unless that is unlimited
 *         (#RDMAEZ_WHY_ADDRESS_SPACE); memory or the device's regions are exhausted
 *         (#RDMAEZ_WHY_NO_RESOURCES)
 * @retval EPERM likely RLIMIT_MEMLOCK is 0 (#RDMAEZ_WHY_MEMLOCK)
 * @retval EAGAIN likely a limit of the cgroup (#RDMAEZ_WHY_CGROUP)
 * @return any other errno of ibv_reg_mr() (#RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_NOT_SUPPORTED, #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_reg_mr(). If that fails and @p diag is not NULL, at most one ibv_query_device() and one
 * ibv_query_device_ex().
 * @par Threads
 * May be called from any thread.
 */
RDMAEZ_API int rdmaez_mr_reg(struct ibv_pd *pd, void *addr, size_t length, unsigned int access,
			     struct ibv_mr **mr, struct rdmaez_diag *diag);

/**
 * @brief Deregisters memory, as ibv_dereg_mr() does, and explains a failure.
 *
 * A region that could not be deregistered stays as it was.
 *
 * @param mr the region
 * @param diag receives the explanation; may be NULL
 * @retval 0 it is gone
 * @retval EINVAL @p mr is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); or likely as EBUSY, which rxe reports so
 * @retval EBUSY likely a memory window is bound to it (#RDMAEZ_WHY_MR_IN_USE)
 * @return any other errno of ibv_dereg_mr(), as for rdmaez_mr_reg()
 * @par Verbs calls
 * One ibv_dereg_mr().
 *
 * Source: `rxe_dereg_mr()` of Linux 6.1 to 7.2. Devices that let windows outlive their region succeed.
 */
RDMAEZ_API int rdmaez_mr_dereg(struct ibv_mr *mr, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/mr.h"
#endif

#endif
