/* SPDX-License-Identifier: MIT */
/*
 * rdmaez_dm_sge(), rdmaez_dm_remote() and rdmaez_dm_remote_atomic(): for every region, range and NULL argument, with and
 * without a record, there is an address exactly if the range lies inside the region. It is then counted from where the
 * region begins, and a refusal writes nothing.
 *
 * A region whose end is above 2^64 cannot come from rdmaez_dm_reg(), and is left out.
 *
 * parts: SGE REMOTE ATOMIC
 * machines: 64 32
 * defect: SGE "exactly" impl/dm.h s/if (!error \&\& low != length)/if (0)/
 * defect: REMOTE "exactly" impl/dm.h s/if (length > size - (offset - begin))/if (offset + length > begin + size)/
 * defect: REMOTE "the address" impl/dm.h s/range->offset - region->offset/range->offset/
 * defect: ATOMIC "exactly" impl/dm.h s/(at | offset) % 8/at % 8/
 * defect: SGE "written" impl/dm.h s/sge->addr = at/sge->addr = at + 1/
 */
#include "record.h"
#include <rdmaez/dm.h>

int main(void)
{
	const bool no_region = nondet_bool(), no_output = nondet_bool(), recorded = nondet_bool();
	struct rdmaez_dm_region region;
	struct ibv_context context;
	struct ibv_device device;
	struct rdmaez_diag diag;
	struct ibv_sge sge, old;
	uint64_t offset, addr;
	const uint64_t before = addr;
	struct ibv_mr mr;
	bool inside, good;
	size_t length;
	int got, want;

	context.device = &device;
	mr.context = &context;
	mr.addr = nondet_bool() ? NULL : &device;
	region.mr = nondet_bool() ? NULL : &mr;
	ASSUME(region.length <= UINT64_MAX - region.offset);
	old = sge;
#if defined(SGE)
	got = rdmaez_dm_sge(no_region ? NULL : &region, offset, length, no_output ? NULL : &sge,
			    recorded ? &diag : NULL);
#elif defined(REMOTE)
	got = rdmaez_dm_remote(no_region ? NULL : &region, offset, length, no_output ? NULL : &addr,
			       recorded ? &diag : NULL);
#else
	length = 8;
	got = rdmaez_dm_remote_atomic(no_region ? NULL : &region, offset, no_output ? NULL : &addr,
				      recorded ? &diag : NULL);
#endif
	inside = offset >= region.offset && offset <= region.offset + region.length &&
		 length <= region.offset + region.length - offset;
	if (no_region || no_output || !region.mr || mr.addr || region.length > mr.length)
		want = EINVAL;
	else
		want = inside ? 0 : EFAULT;
#if defined(SGE)
	if (!want && length > UINT32_MAX)
		want = EINVAL;
	good = !want && sge.addr == offset - region.offset && sge.length == length &&
	       sge.lkey == mr.lkey;
	PROVE(want || good, "the entry is written");
	PROVE(!want || (sge.addr == old.addr && sge.length == old.length && sge.lkey == old.lkey),
	      "a refusal writes nothing");
#else
#if defined(ATOMIC)
	if (!want && (offset % 8 || (offset - region.offset) % 8))
		want = EINVAL;
#endif
	good = !want && addr == offset - region.offset;
	PROVE(want || good, "the address is counted from the region's beginning");
	PROVE(!want || addr == before, "a refusal writes nothing");
#endif
	PROVE(got == want,
	      "an address exactly if the range is inside, else the documented errno value");
	PROVE(!recorded || (findings > 0) == (want != 0), "a finding exactly if it is refused");
	PROVE(!recorded || diag.error == want, "the record has the errno value");
	GOAL(good && recorded && offset > region.offset && offset > SIZE_MAX / 2);
	GOAL(want == EFAULT && offset + length < offset && length);
	GOAL(want == EFAULT && offset == region.offset);
	GOAL(want == EINVAL && inside && recorded && mr.addr);
	return 0;
}
