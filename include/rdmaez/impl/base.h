/* SPDX-License-Identifier: MIT */
/* Implements base.h, and what an option and a verb's answer mean. */
#ifndef RDMAEZ_IMPL_BASE_H
#define RDMAEZ_IMPL_BASE_H

#ifndef RDMAEZ_BASE_H
#include "../base.h"
#endif

/*
 * An array is asserted, because clang prints a condition that does not hold, and some conditions
 * are a whole rule.
 */
#ifdef __cplusplus
#define RDMAEZ_IMPL_ASSERT(cond, why) static_assert(sizeof(char[(cond) ? 1 : 2]) == 1, why)
#else
#define RDMAEZ_IMPL_ASSERT(cond, why) _Static_assert(sizeof(char[(cond) ? 1 : 2]) == 1, why)
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_INLINE int rdmaez_exactly(int value)
{
	return value ? value : RDMAEZ_ZERO;
}

RDMAEZ_INLINE uint32_t rdmaez_exactly_u32(uint32_t value)
{
	return value ? value : RDMAEZ_ZERO;
}

/* Returns what an option field means: the default for 0, zero for RDMAEZ_ZERO, else itself. */
RDMAEZ_FOLD int64_t rdmaez_impl_option(int64_t given, int64_t otherwise)
{
	if (given == 0)
		return otherwise;
	return given == RDMAEZ_ZERO ? 0 : given;
}

/*
 * Verbs report failure in three ways: a positive errno value, a negative one (some providers), or -1
 * with the cause in errno. This turns all three into 0 or a positive errno value.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_error_of(int returned)
{
	if (returned < -1)
		return returned == INT32_MIN ? EIO : -returned;
	return errno > 0 ? errno : EIO;
}

RDMAEZ_FOLD int rdmaez_impl_error(int returned)
{
	return returned < 0 ? rdmaez_impl_error_of(returned) : returned;
}

RDMAEZ_IMPL_END

#endif
