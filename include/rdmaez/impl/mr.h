/* SPDX-License-Identifier: MIT */
/* Bodies of mr.h. */
#ifndef RDMAEZ_IMPL_MR_H
#define RDMAEZ_IMPL_MR_H

#ifndef RDMAEZ_MR_H
#include "../mr.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <sys/mman.h>
#include <unistd.h>

#include "explain.h"

RDMAEZ_IMPL_BEGIN

/* Bits that depend on device and kernel: ZERO_BASED, HUGETLB and the two FLUSH, 5 and 7 to 9. */
#define RDMAEZ_IMPL_MR_RARE 0x3a0u

/* All that verbs.h gives a name, of whichever rdma-core; the kernel drops optional ones by itself. */
#define RDMAEZ_IMPL_MR_KNOWN (0x3ffu | (unsigned int)IBV_ACCESS_OPTIONAL_RANGE)

/* Something about the access flags: which of them it is about. */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_find(struct rdmaez_diag *diag, enum rdmaez_severity severity,
					  enum rdmaez_why why, unsigned int bits,
					  unsigned int access)
{
	const struct rdmaez_impl_site site = {"access", why, RDMAEZ_VALUE_ACCESS, 0, access};

	rdmaez_impl_find(diag, severity, &site, bits);
}

/* The flags, by the kernel's rules and by what the device reports of on-demand paging. */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_explain_access(struct ibv_context *context,
						    unsigned int access, bool implicit,
						    struct rdmaez_diag *diag)
{
	const unsigned int remote = access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	const uint64_t needed = IBV_ODP_SUPPORT | (implicit ? IBV_ODP_SUPPORT_IMPLICIT : 0);
	struct ibv_device_attr_ex device;

	memset(&device, 0, sizeof(device));
	if (remote && !(access & IBV_ACCESS_LOCAL_WRITE))
		rdmaez_impl_mr_find(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_LOCAL_WRITE, remote,
				    access);
	if (access & ~RDMAEZ_IMPL_MR_KNOWN)
		rdmaez_impl_mr_find(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_ACCESS_BITS,
				    access & ~RDMAEZ_IMPL_MR_KNOWN, access);
	if ((access & IBV_ACCESS_ON_DEMAND) && !ibv_query_device_ex(context, NULL, &device) &&
	    (device.odp_caps.general_caps & needed) != needed)
		rdmaez_impl_mr_find(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_ON_DEMAND,
				    IBV_ACCESS_ON_DEMAND, access);
	if ((access & RDMAEZ_IMPL_MR_RARE) && !diag->count)
		rdmaez_impl_mr_find(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MR_ACCESS_REFUSED,
				    access & RDMAEZ_IMPL_MR_RARE, access);
}

/* The length: none, beyond the last address, or more than the device takes in one region. */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_explain_length(struct ibv_context *context, uintptr_t start,
						    size_t length, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site range = {"length", RDMAEZ_WHY_RANGE,
						      RDMAEZ_VALUE_BYTES, 1, 0};
	uint64_t most = UINTPTR_MAX - start;
	struct ibv_device_attr device;

	memset(&device, 0, sizeof(device));
	if (!ibv_query_device(context, &device) && device.max_mr_size && device.max_mr_size < most)
		most = device.max_mr_size;
	if (!length || length > most)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_ERROR, &range, length, 1, most);
}

/* EFAULT: whether the memory is there at all, which the kernel tells without touching it. */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_explain_fault(uintptr_t start, size_t length,
						   struct rdmaez_diag *diag)
{
	struct rdmaez_impl_site site = {"addr", RDMAEZ_WHY_MR_PROTECTION, RDMAEZ_VALUE_ADDRESS, 0,
					0};
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t before = start & (page - 1);
	enum rdmaez_severity sure =
		RDMAEZ_DIAG_LIKELY; /* a device's memory (VM_IO, VM_PFNMAP) is mapped, too */

	/* Since Linux 2.6.19 an asynchronous msync() only looks whether all of it is mapped. */
	if (msync((char *)start - before, length + before, MS_ASYNC) && errno == ENOMEM) {
		site.why = RDMAEZ_WHY_MR_UNMAPPED;
		sure = RDMAEZ_DIAG_ERROR;
	}
	rdmaez_impl_find(diag, sure, &site, start);
}

/* After a refusal: what the flags, the memory and the limits say about it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_mr_explain(struct ibv_context *context, void *addr, size_t length,
					    unsigned int access, int error,
					    struct rdmaez_diag *diag)
{
	const uintptr_t start = (uintptr_t)addr;
	/* How on-demand paging spells "all memory". */
	const bool implicit = (access & IBV_ACCESS_ON_DEMAND) && !addr && length == SIZE_MAX;

	if (!diag)
		return error;
	diag->error = error;
	diag->verb = "ibv_reg_mr";
	if (error == EINVAL || error == EOPNOTSUPP)
		rdmaez_impl_mr_explain_access(context, access, implicit, diag);
	if (error == EINVAL && !implicit)
		rdmaez_impl_mr_explain_length(context, start, length, diag);
	if (error == EFAULT)
		rdmaez_impl_mr_explain_fault(start, length, diag);
	/* Without the right to lock any memory the kernel says EPERM, else ENOMEM. */
	if (error == ENOMEM || error == EPERM)
		rdmaez_impl_suspect_memory(diag, "length", length,
					   !(access & IBV_ACCESS_ON_DEMAND));
	if (error == EAGAIN)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CGROUP, "ibv_reg_mr");
	if (!diag->count || error == ENOMEM || error == EAGAIN)
		rdmaez_impl_explain_errno(diag, "ibv_reg_mr", error);
	return error;
}

RDMAEZ_API int rdmaez_mr_reg(struct ibv_pd *pd, void *addr, size_t length, unsigned int access,
			     struct ibv_mr **mr, struct rdmaez_diag *diag)
{
	struct ibv_mr *made;

	rdmaez_impl_diag_reset_for(diag, "rdmaez_mr_reg", rdmaez_impl_why_objects);
	if (!pd || !mr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, pd ? "mr" : "pd");
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

RDMAEZ_API int rdmaez_mr_dereg(struct ibv_mr *mr, struct rdmaez_diag *diag)
{
	int error;

	rdmaez_impl_diag_reset_for(diag, "rdmaez_mr_dereg", rdmaez_impl_why_objects);
	if (!mr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "mr");
	rdmaez_impl_diag_device(diag, mr->context);
	errno = 0;
	error = rdmaez_impl_error(ibv_dereg_mr(mr));
	if (!diag || error != EINVAL)
		return rdmaez_impl_end(diag, error, "ibv_dereg_mr", "mr", RDMAEZ_WHY_MR_IN_USE);
	rdmaez_impl_end(diag, EBUSY, "ibv_dereg_mr", "mr", RDMAEZ_WHY_MR_IN_USE);
	return diag->error = error;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
