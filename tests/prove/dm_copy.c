/* SPDX-License-Identifier: MIT */
/*
 * A copy to or from device memory, by rdmaez_dm_copy_to() and rdmaez_dm_copy_from(), and rdmaez_dm_fill().
 *
 * For every offset, length, length of the memory, host address below 2^52 (2^20 on 32 bits), presence of the memory and of the provider's functions,
 * and for everything that the provider returns: it returns the documented errno value; the provider is called exactly if
 * the range fits, and then with a range inside, of whole words, from an address that is a multiple of a word. A copy in
 * pieces goes on where the last piece ended, and ends at the first error or with the last byte. The provider refuses
 * the fourth piece at the latest; what a later one does differently is not shown.
 *
 * parts: TO FROM FILL
 * machines: 64 32
 * unwind: 5
 * defect: TO "range inside" impl/dm.h s/if (rest > all)/if (0)/
 * defect: TO "range inside" impl/dm.h s/length - 1 < rest/length - 1 <= rest/
 * defect: FROM "range inside" impl/dm.h s/size - (offset - begin))$/size)/
 * defect: FILL "in order" impl/dm.h s/offset += part;//
 * defect: FROM "documented errno" impl/dm.h s/offset, length, EFAULT, diag/offset, length, EINVAL, diag/
 */
#include "prove.h"
#include <rdmaez/dm.h>

static uint64_t size, first, done;
static const char *host;
static bool direct, in_pieces;
static int calls;

/* The provider, which must be able to trust what it gets. */
static int provider(uint64_t offset, const void *words, size_t length)
{
	PROVE(offset <= size && length <= size - offset, "the range inside the memory");
	PROVE(length > 0, "not empty");
	PROVE(offset % 4 == 0 && length % 4 == 0 && (uintptr_t)words % 4 == 0, "whole words");
	PROVE(offset == first + done, "pieces in order");
	direct = words == (const void *)host;
	in_pieces |= !direct;
	done += length;
	calls++;
	return calls < 4 ? nondet_int() : EIO;
}

static int provider_to(struct ibv_dm *dm, uint64_t offset, const void *words, size_t length)
{
	(void)dm;
	return provider(offset, words, length);
}

static int provider_from(void *words, struct ibv_dm *dm, uint64_t offset, size_t length)
{
	(void)dm;
	return provider(offset, words, length);
}

/* The host's memory has no bytes here, only addresses: each piece takes the bytes that follow the last one's. */
void *memcpy(void *to, const void *from, size_t length)
{
	const void *inner = to;

#ifdef FROM
	inner = from;
	PROVE((uintptr_t)to == (uintptr_t)host + (done - length), "the host's bytes in order");
#else
	PROVE((uintptr_t)from == (uintptr_t)host + done, "the host's bytes in order");
#endif
	PROVE(__CPROVER_r_ok(inner, length), "a piece fits on the stack");
	return to;
}

void *memset(void *to, int byte, size_t length)
{
	(void)byte;
	PROVE(__CPROVER_w_ok(to, length), "a piece fits on the stack");
	return to;
}

int main(void)
{
	const uint64_t offset = nondet_u64();
	const size_t length = nondet_size();
	const bool no_struct = nondet_bool(), closed = nondet_bool();
	struct rdmaez_dm dm;
	struct ibv_dm memory;
	bool able;
	int want, got;

	memory.memcpy_to_dm = nondet_bool() ? provider_to : NULL;
	memory.memcpy_from_dm = nondet_bool() ? provider_from : NULL;
	dm.dm = closed ? NULL : &memory;
	host = (char *)nondet_address();
	/* CBMC keeps the upper bits of a pointer for itself. */
	ASSUME((uintptr_t)host < UINTPTR_MAX >> 12);
	size = dm.length;
	first = offset;
#if defined(TO)
	able = memory.memcpy_to_dm != NULL;
	got = rdmaez_dm_copy_to(no_struct ? NULL : &dm, offset, host, length);
#elif defined(FROM)
	able = memory.memcpy_from_dm != NULL;
	got = rdmaez_dm_copy_from(no_struct ? NULL : &dm, offset, (void *)host, length);
#else
	able = memory.memcpy_to_dm != NULL;
	host = (char *)1;
	got = rdmaez_dm_fill(no_struct ? NULL : &dm, offset, nondet_int(), length);
#endif
	if (no_struct || closed)
		want = EINVAL;
	else if (offset > size || length > size - offset)
		want = EFAULT;
	else if (offset % 4 || length % 4)
		want = EINVAL;
	else if (!able)
		want = EOPNOTSUPP;
	else
		want = length && !host ? EINVAL : 0;
	if (want) {
		PROVE(got == want, "the documented errno value");
		PROVE(!calls, "refused before the provider is called");
	} else {
		PROVE(got >= 0, "no negative errno value");
		PROVE((calls > 0) == (length > 0), "the provider is called");
		PROVE(got || done == length, "all of it is copied");
		PROVE(done <= length, "and no more");
	}
	GOAL(want == EFAULT && length > 1 && offset < size);
	GOAL(want == EOPNOTSUPP);
	GOAL(!want && calls == 3 && !got);
	GOAL(!want && offset > SIZE_MAX / 2);
	GOAL(!want && calls == 1 && got);
#ifndef FILL
	GOAL(!want && direct && length > 1u << 30);
	GOAL(in_pieces && !got);
#endif
	return 0;
}
