/* SPDX-License-Identifier: MIT */
/* Implements credit.h. */
#ifndef RDMAEZ_IMPL_CREDIT_H
#define RDMAEZ_IMPL_CREDIT_H

#ifndef RDMAEZ_CREDIT_H
#include "../credit.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_INLINE int rdmaez_credit_take(struct rdmaez_credit *credit, struct ibv_send_wr *wr)
{
	if (credit->taken - credit->given >= credit->capacity)
		return EAGAIN;
	wr->wr_id = credit->taken++;
	if (!(credit->taken & credit->mask))
		wr->send_flags |= IBV_SEND_SIGNALED;
	return 0;
}

RDMAEZ_INLINE uint32_t rdmaez_credit_give(struct rdmaez_credit *credit, uint64_t wr_id)
{
	const uint64_t before = wr_id - credit->given;

	if (before >= credit->taken - credit->given)
		return 0;
	credit->given = wr_id + 1;
	return (uint32_t)before + 1;
}

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_API int rdmaez_credit_init(struct rdmaez_credit *credit, uint32_t capacity, uint32_t every,
				  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site none = {"capacity", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_NUMBER, 1, UINT32_MAX},
					     rare = {"every", RDMAEZ_WHY_CREDIT_EVERY,
						     RDMAEZ_VALUE_NUMBER, 0, 0};
	uint32_t power = 1;

	rdmaez_impl_diag_reset(diag, "rdmaez_credit_init");
	if (!capacity)
		return rdmaez_impl_refuse_at(diag, EINVAL, &none, 0);
	if (every > capacity)
		return rdmaez_impl_refuse_within(diag, EINVAL, &rare, every, 0, capacity);
	if (!every)
		every = capacity / 2;
	while (power <= every / 2)
		power *= 2;
	credit->taken = 0;
	credit->given = 0;
	credit->capacity = capacity;
	credit->mask = power - 1;
	return 0;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
