/* SPDX-License-Identifier: MIT */
/* Copies of device memory: as rdmaez checks them, as an application would, and unchecked. */
#include "bench.h"

int ez_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src, size_t length)
{
	return rdmaez_dm_copy_to(dm, offset, src, length);
}

int ez_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst, size_t length)
{
	return rdmaez_dm_copy_from(dm, offset, dst, length);
}

/* The documented checks in their order; by hand a buffer of any address is not taken but refused. */
int checked_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src, size_t length)
{
	if (!dm || !dm->dm)
		return EINVAL;
	if (offset > dm->length || length > dm->length - offset)
		return EFAULT;
	if ((offset | length) & 3)
		return EINVAL;
	if (!dm->dm->memcpy_to_dm)
		return EOPNOTSUPP;
	if (!length)
		return 0;
	if (!src || (uintptr_t)src & 3)
		return EINVAL;
	return ibv_memcpy_to_dm(dm->dm, offset, src, length);
}

int checked_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst, size_t length)
{
	if (!dm || !dm->dm)
		return EINVAL;
	if (offset > dm->length || length > dm->length - offset)
		return EFAULT;
	if ((offset | length) & 3)
		return EINVAL;
	if (!dm->dm->memcpy_from_dm)
		return EOPNOTSUPP;
	if (!length)
		return 0;
	if (!dst || (uintptr_t)dst & 3)
		return EINVAL;
	return ibv_memcpy_from_dm(dst, dm->dm, offset, length);
}

int bare_copy_to(struct ibv_dm *dm, uint64_t offset, const void *src, size_t length)
{
	return ibv_memcpy_to_dm(dm, offset, src, length);
}

int bare_copy_from(struct ibv_dm *dm, uint64_t offset, void *dst, size_t length)
{
	return ibv_memcpy_from_dm(dst, dm, offset, length);
}
