/* SPDX-License-Identifier: MIT */
/**
 * @file mr.h
 * @brief Register memory, and say why not.
 *
 * ibv_reg_mr() answers EINVAL for flags that do not go together, ENOMEM for a resource limit of the
 * process, and EFAULT for memory that is not what the caller thinks. rdmaez_mr_reg() tells them apart.
 */
#ifndef RDMAEZ_MR_H
#define RDMAEZ_MR_H

#include <sys/mman.h>
#include <unistd.h>

#include "explain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits that depend on device and kernel: ZERO_BASED, HUGETLB and the two FLUSH, 5 and 7 to 9. */
#define RDMAEZ_IMPL_MR_RARE 0x3a0u

/* All that verbs.h gives a name, of whichever rdma-core; the kernel drops optional ones by itself. */
#define RDMAEZ_IMPL_MR_KNOWN (0x3ffu | (unsigned int)IBV_ACCESS_OPTIONAL_RANGE)

/* The flags, by the kernel's rules and by what the device says of on-demand paging. */
RDMAEZ_IMPL_APART void rdmaez_impl_mr_explain_access(struct ibv_context *context,
						     unsigned int access, bool implicit, int error,
						     struct rdmaez_diag *diag)
{
	const unsigned int remote = access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	const uint64_t needed = IBV_ODP_SUPPORT | (implicit ? IBV_ODP_SUPPORT_IMPLICIT : 0);
	struct ibv_device_attr_ex device;

	if (remote && !(access & IBV_ACCESS_LOCAL_WRITE))
		rdmaez_impl_refuse_value(diag, error, RDMAEZ_MR_LOCAL_WRITE, "access",
					 RDMAEZ_VALUE_ACCESS, remote, 0, access);
	if (access & ~RDMAEZ_IMPL_MR_KNOWN)
		rdmaez_impl_refuse_value(diag, error, RDMAEZ_MR_ACCESS_BITS, "access",
					 RDMAEZ_VALUE_ACCESS, access & ~RDMAEZ_IMPL_MR_KNOWN, 0,
					 access);
	if ((access & IBV_ACCESS_ON_DEMAND) && !ibv_query_device_ex(context, NULL, &device) &&
	    (device.odp_caps.general_caps & needed) != needed)
		rdmaez_impl_refuse_value(diag, error, RDMAEZ_MR_ON_DEMAND, "access",
					 RDMAEZ_VALUE_ACCESS, IBV_ACCESS_ON_DEMAND, 0, access);
	if ((access & RDMAEZ_IMPL_MR_RARE) && !diag->count)
		rdmaez_impl_suspect(diag, RDMAEZ_MR_ACCESS_REFUSED, "access", RDMAEZ_VALUE_ACCESS,
				    access & RDMAEZ_IMPL_MR_RARE, 0, access);
}

/* The length: none, beyond the last address, or more than the device takes in one region. */
RDMAEZ_IMPL_APART void rdmaez_impl_mr_explain_length(struct ibv_context *context, uintptr_t start,
						     size_t length, struct rdmaez_diag *diag)
{
	uint64_t most = UINTPTR_MAX - start;
	struct ibv_device_attr device;

	if (!ibv_query_device(context, &device) && device.max_mr_size && device.max_mr_size < most)
		most = device.max_mr_size;
	if (!length || length > most)
		rdmaez_impl_diag_add(diag, RDMAEZ_ERROR, RDMAEZ_RANGE, "length", RDMAEZ_VALUE_BYTES,
				     length, 1, most);
}

/* EFAULT: whether the memory is there at all, which the kernel tells without touching it. */
RDMAEZ_IMPL_APART void rdmaez_impl_mr_explain_fault(uintptr_t start, size_t length,
						    struct rdmaez_diag *diag)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t before = start & (page - 1);
	/* Since Linux 2.6.19 an asynchronous msync() does nothing but look whether all is mapped. */
	const int unmapped =
		msync((char *)start - before, length + before, MS_ASYNC) && errno == ENOMEM;

	rdmaez_impl_refuse_value(diag, EFAULT, unmapped ? RDMAEZ_MR_UNMAPPED : RDMAEZ_MR_PROTECTION,
				 "addr", RDMAEZ_VALUE_ADDRESS, (int64_t)start, 0, 0);
}

/* After a refusal: what the flags, the memory and the limits say about it. */
RDMAEZ_IMPL_APART int rdmaez_impl_mr_explain(struct ibv_context *context, void *addr, size_t length,
					     unsigned int access, int error,
					     struct rdmaez_diag *diag)
{
	const uintptr_t start = (uintptr_t)addr;
	/* How on-demand paging spells "all memory". */
	const bool implicit = (access & IBV_ACCESS_ON_DEMAND) && !addr && length == SIZE_MAX;

	if (!diag)
		return error;
	if (error == EINVAL || error == EOPNOTSUPP)
		rdmaez_impl_mr_explain_access(context, access, implicit, error, diag);
	if (error == EINVAL && !implicit)
		rdmaez_impl_mr_explain_length(context, start, length, diag);
	if (error == EFAULT)
		rdmaez_impl_mr_explain_fault(start, length, diag);
	/* Without the right to lock any memory the kernel says EPERM, else ENOMEM. */
	if ((error == ENOMEM || error == EPERM) && !(access & IBV_ACCESS_ON_DEMAND))
		rdmaez_impl_suspect_memlock(diag, "length", RDMAEZ_VALUE_BYTES, length);
	if (!diag->count)
		rdmaez_impl_explain_errno(diag, "ibv_reg_mr", error);
	diag->error = error;
	return error;
}

/**
 * @brief ibv_reg_mr(), and an explanation where it fails.
 *
 * Access flags of the optional range, such as IBV_ACCESS_RELAXED_ORDERING, may be among @p access; a
 * kernel that does not know them goes without. The region is deregistered with ibv_dereg_mr().
 *
 * @param pd the protection domain
 * @param addr the first byte
 * @param length how many bytes, at least 1
 * @param access IBV_ACCESS_ bits; 0: the device may read locally. IBV_ACCESS_REMOTE_WRITE and
 *        IBV_ACCESS_REMOTE_ATOMIC need IBV_ACCESS_LOCAL_WRITE with them
 * @param mr receives the region; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p mr is the region
 * @retval EINVAL @p pd or @p mr is NULL (#RDMAEZ_NULL_ARGUMENT); remote write or atomic without local
 *         write (#RDMAEZ_MR_LOCAL_WRITE); bits that are no access flags (#RDMAEZ_MR_ACCESS_BITS); no
 *         on-demand paging (#RDMAEZ_MR_ON_DEMAND); no length, one beyond the last address, or more than
 *         the device's `max_mr_size` (#RDMAEZ_RANGE); likely a flag that this device lacks
 *         (#RDMAEZ_MR_ACCESS_REFUSED)
 * @retval EOPNOTSUPP the flags, as with EINVAL
 * @retval EFAULT part of the memory is not mapped (#RDMAEZ_MR_UNMAPPED), or it is and may not be used
 *         as asked (#RDMAEZ_MR_PROTECTION)
 * @retval ENOMEM likely RLIMIT_MEMLOCK, whose soft limit in bytes the finding holds as `max`
 *         (#RDMAEZ_MEMLOCK); where that is unlimited, memory or the device's regions ran out
 *         (#RDMAEZ_NO_RESOURCES)
 * @retval EPERM likely RLIMIT_MEMLOCK is 0 (#RDMAEZ_MEMLOCK)
 * @return any other errno of ibv_reg_mr() (#RDMAEZ_BUSY, #RDMAEZ_DEVICE_GONE, #RDMAEZ_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_reg_mr(). When that fails and there is a record to fill, at most one ibv_query_device() and
 * one ibv_query_device_ex().
 * @par Threads
 * May be called from any thread.
 * @since rdmaez 0.1; rdma-core 33. Sources: `ib_check_mr_access()` and `ib_umem_get()` of Linux 6.1
 */
RDMAEZ_API int rdmaez_mr_reg(struct ibv_pd *pd, void *addr, size_t length, unsigned int access,
			     struct ibv_mr **mr, struct rdmaez_diag *diag)
{
	struct ibv_mr *made;

	rdmaez_impl_diag_reset(diag, "ibv_reg_mr");
	if (!pd || !mr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_NULL_ARGUMENT, pd ? "mr" : "pd");
	rdmaez_impl_diag_device(diag, pd->context);
	errno = 0;
	/* The macro decides by `access` which symbol to call; that works with a variable as well. */
	made = ibv_reg_mr(pd, addr, length, access);
	if (!made)
		return rdmaez_impl_mr_explain(pd->context, addr, length, access,
					      rdmaez_impl_error_of_null(), diag);
	*mr = made;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif
