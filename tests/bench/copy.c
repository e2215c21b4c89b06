/* SPDX-License-Identifier: MIT */
/* Copies of device memory: as rdmaez checks them, and unchecked, by a caller that looks at the result. */
#include "bench.h"

int ez_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src, size_t length)
{
	return rdmaez_dm_copy_to(dm, offset, src, length) ? -1 : 0;
}

int ez_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst, size_t length)
{
	return rdmaez_dm_copy_from(dm, offset, dst, length) ? -1 : 0;
}

int bare_copy_to(struct ibv_dm *dm, uint64_t offset, const void *src, size_t length)
{
	return ibv_memcpy_to_dm(dm, offset, src, length) ? -1 : 0;
}

int bare_copy_from(struct ibv_dm *dm, uint64_t offset, void *dst, size_t length)
{
	return ibv_memcpy_from_dm(dst, dm, offset, length) ? -1 : 0;
}
