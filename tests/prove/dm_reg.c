/* SPDX-License-Identifier: MIT */
/*
 * rdmaez_dm_reg(): for every range, length of the memory, access flags and NULL argument, with and without a record, the
 * provider is called exactly if the range fits and the flags are allowed, with this range and these flags. The region is
 * then the range, and never longer than the memory; after a refusal it is as it was.
 *
 * machines: 64 32
 * defect: "the provider is called" impl/dm.h s/if (given)$/if (0)/
 * defect: "what fits is registered" impl/dm.h s/if (optional)/if (access)/
 * defect: "never longer" impl/dm.h s/part.length < rest ?/1 ?/
 * defect: "refused with a finding" impl/dm.h s/if (!error \&\& !range->length)/if (0) error = EINVAL; if (!range->length) return EINVAL; if (0)/
 */
#include "record.h"
#include <rdmaez/dm.h>

static struct ibv_mr made;
static uint64_t asked_offset, asked_length;
static unsigned int asked_access;
static int calls;

static struct ibv_mr *provider(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			       unsigned int access)
{
	(void)pd;
	(void)dm;
	asked_offset = offset;
	asked_length = length;
	asked_access = access;
	calls++;
	errno = nondet_int();
	return nondet_bool() ? &made : NULL;
}

void rdmaez_impl_dm_explain_reg(const struct rdmaez_dm_range *range, struct rdmaez_diag *diag)
{
	PROVE(range != NULL && diag != NULL && diag->error > 0, "what is explained");
}

/* What verbs.h, the kernel and mlx5 allow for device memory. */
static bool allowed(unsigned int access)
{
	const unsigned int writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	const unsigned int known =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED | writes;

	return !(access & ~known) && (!(access & writes) || access & IBV_ACCESS_LOCAL_WRITE);
}

int main(void)
{
	const bool no_dm = nondet_bool(), no_pd = nondet_bool(), no_region = nondet_bool();
	const bool recorded = nondet_bool(), part = nondet_bool(), closed = nondet_bool();
	const unsigned int access = nondet_uint();
	struct rdmaez_dm_region region, before;
	struct verbs_context here = {0}, there = {0};
	struct rdmaez_dm_range range;
	struct rdmaez_diag diag;
	struct ibv_device device;
	struct ibv_dm memory;
	struct rdmaez_dm dm;
	struct ibv_pd pd;
	uint64_t end, length;
	bool fits, good;
	int got;

	here.sz = sizeof(here);
	here.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	here.context.device = &device;
	here.reg_dm_mr = provider;
	there.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	dm.dm = closed ? NULL : &memory;
	dm.context = &here.context;
	pd.context = nondet_bool() ? &here.context : &there.context;
	region = before;
	got = rdmaez_dm_reg(no_dm ? NULL : &dm, no_pd ? NULL : &pd, part ? &range : NULL, access,
			    no_region ? NULL : &region, recorded ? &diag : NULL);

	end = dm.alloc_length > dm.length ? dm.alloc_length : dm.length;
	fits = part ? range.offset <= dm.length && range.length <= dm.length - range.offset &&
			       range.length > 0
		    : end > 0;
	good = !no_dm && !no_pd && !no_region && !closed && pd.context == dm.context && fits &&
	       allowed(access);
	PROVE(!good || calls == 1, "what fits is registered");
	PROVE(good || !calls, "the provider is called for nothing else");
	PROVE(good || got == EINVAL, "the documented errno value");
	PROVE(good || !recorded || (findings > 0 && diag.error == EINVAL),
	      "refused with a finding");
	PROVE(!good || findings == 0, "what is good has no finding");
	PROVE(got >= 0, "no negative errno value");
	if (calls) {
		length = part ? range.length : end;
		PROVE(asked_offset == (part ? range.offset : 0) && asked_length == length,
		      "this range");
		PROVE(asked_access == (access | IBV_ACCESS_ZERO_BASED), "these flags");
	}
	if (calls && !got) {
		PROVE(region.dm == &memory && region.mr == &made, "the region's objects");
		PROVE(region.offset == asked_offset, "the region begins there");
		PROVE(region.length == (part ? range.length : dm.length), "the region is as long");
		PROVE(region.offset <= dm.length && region.length <= dm.length - region.offset,
		      "the region is never longer than the memory");
	} else {
		PROVE(region.dm == before.dm && region.mr == before.mr &&
			      region.offset == before.offset && region.length == before.length,
		      "a refusal leaves the region");
	}
	GOAL(calls && !got && part && region.offset > SIZE_MAX / 2 && recorded);
	GOAL(calls && !got && !part && dm.alloc_length > dm.length);
	GOAL(calls && got == EPERM);
	GOAL(!good && findings > 1);
	GOAL(part && range.offset + range.length < range.offset && allowed(access));
	return 0;
}
