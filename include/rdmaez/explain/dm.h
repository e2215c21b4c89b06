/* SPDX-License-Identifier: MIT */
/* Explains why device memory was not allocated or registered. */
#ifndef RDMAEZ_EXPLAIN_DM_H
#define RDMAEZ_EXPLAIN_DM_H

#include <unistd.h>

#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/* Explains why ibv_alloc_dm() has failed. */
RDMAEZ_SEAM void rdmaez_impl_dm_explain_alloc(const struct ibv_alloc_dm_attr *attr,
					      struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site full = {"length", RDMAEZ_WHY_DM_FULL,
						     RDMAEZ_VALUE_BYTES, 0, -1};
	static const struct rdmaez_impl_site alignment = {"opts.alignment", RDMAEZ_WHY_DM_ALIGNMENT,
							  RDMAEZ_VALUE_BYTES, 0, -1};
	const uint64_t aligned = UINT64_C(1) << attr->log_align_req;
	const int error = diag->error;

	if (error == ENOMEM || error == EAGAIN || error == ENOSPC)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &full, attr->length);
	else if (error == EINVAL && aligned > RDMAEZ_IMPL_DM_UNIT)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &alignment, aligned);
	else
		rdmaez_impl_explain_errno(diag);
}

/* Finds what is likely wrong with a range that the device has refused. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_dm_suspect_range(const struct rdmaez_dm_range *range, int error,
						    struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site page = {"offset", RDMAEZ_WHY_DM_EMU_PAGE,
						     RDMAEZ_VALUE_BYTES, 0, -1};
	static const struct rdmaez_impl_site length = {"length", RDMAEZ_WHY_DM_BLOCKS,
						       RDMAEZ_VALUE_BYTES, 0, -1};
	static const struct rdmaez_impl_site offset = {"offset", RDMAEZ_WHY_DM_BLOCKS,
						       RDMAEZ_VALUE_BYTES, 0, -1};

	if (error == EOPNOTSUPP && range->offset % (uint64_t)sysconf(_SC_PAGESIZE))
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &page, range->offset);
	if (error == EINVAL && range->length % RDMAEZ_IMPL_DM_UNIT)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &length, range->length);
	if (error == EINVAL && range->offset % RDMAEZ_IMPL_DM_UNIT)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &offset, range->offset);
}

/* Explains why ibv_reg_dm_mr() has failed. */
RDMAEZ_SEAM void rdmaez_impl_dm_explain_reg(const struct rdmaez_dm_range *range,
					    struct rdmaez_diag *diag)
{
	const int error = diag->error;

	if (error == ENOENT) {
		rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_DM_STALE, "dm");
		return;
	}
	rdmaez_impl_dm_suspect_range(range, error, diag);
	if (!diag->count || error == EOPNOTSUPP)
		rdmaez_impl_explain_errno(diag);
}

RDMAEZ_IMPL_END

#endif
