/* SPDX-License-Identifier: MIT */
/* What the fuzzed programs share: what must hold, and input that has not a byte more than it should. */
#ifndef RDMAEZ_TESTS_FUZZ_MUST_H
#define RDMAEZ_TESTS_FUZZ_MUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline void must(bool held)
{
	if (!held)
		abort();
}

/* Returns a copy of exactly as many bytes, to be freed: the sanitizer sees if one more is read. */
static inline unsigned char *exactly(const unsigned char *bytes, size_t count)
{
	unsigned char *const copy = (unsigned char *)malloc(count ? count : 1);

	must(copy);
	if (count)
		memcpy(copy, bytes, count);
	return copy;
}

#endif
