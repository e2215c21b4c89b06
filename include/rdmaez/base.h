/* SPDX-License-Identifier: MIT */
/**
 * @file base.h
 * @brief What every other header stands on: verbs.h, the inline macro, "really zero", errno.
 */
#ifndef RDMAEZ_BASE_H
#define RDMAEZ_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <infiniband/verbs.h>

#include "version.h"

/**
 * @brief How every rdmaez function is declared.
 *
 * A C++20 module may not export what uses an internal-linkage function, so there the functions are
 * plain `inline`; everywhere else they are `static inline`. Define it beforehand to choose another.
 */
#ifndef RDMAEZ_API
#if defined(__cplusplus) && __cplusplus >= 202002L
#define RDMAEZ_API inline
#else
#define RDMAEZ_API static inline
#endif
#endif

/* For the few internals whose cost vanishes only when the caller's constants reach them. */
#if defined(__GNUC__) && !defined(__TINYC__)
#define RDMAEZ_IMPL_FOLD RDMAEZ_API __attribute__((always_inline))
#else
#define RDMAEZ_IMPL_FOLD RDMAEZ_API
#endif

/* For what is long and runs on failure only: one copy, however many callers the compiler sees. */
#if !defined(__GNUC__) || defined(__TINYC__)
#define RDMAEZ_IMPL_APART RDMAEZ_API
#elif defined(__cplusplus)
#define RDMAEZ_IMPL_APART RDMAEZ_API __attribute__((noinline))
#else
/* In C, gcc warns of a function that is both inline and noinline. */
#define RDMAEZ_IMPL_APART static __attribute__((noinline, unused))
#endif

/**
 * @brief "Really zero", for option fields in which a plain 0 asks for the default.
 *
 * In InfiniBand a timeout, a retry count, a GID index or a set of access flags may well be zero.
 * Every field of type int and the fields that name it take the value. It is outside the legal range of
 * all of them but the Q_Key's, and reads `ZERO` in a memory dump. (A Q_Key of exactly 0x5a45524f
 * cannot be had through options.) Numbers whose default is 0 anyway, such as PSNs, do not need it.
 */
#define RDMAEZ_ZERO 0x5a45524f

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Passes a number through an option field as it is, zero included.
 *
 * For values that come from a command line or from a query, where 0 means 0 and not "the default":
 * `opts.path.sgid_index = rdmaez_exactly(index);`
 *
 * @param value the number meant
 * @return @p value, or #RDMAEZ_ZERO where @p value is 0
 */
RDMAEZ_API int rdmaez_exactly(int value)
{
	return value ? value : RDMAEZ_ZERO;
}

/* What an option field means: the default for 0, zero for RDMAEZ_ZERO, else itself. */
RDMAEZ_IMPL_FOLD int64_t rdmaez_impl_option(int64_t given, int64_t otherwise)
{
	if (given == 0)
		return otherwise;
	return given == RDMAEZ_ZERO ? 0 : given;
}

/*
 * Verbs report failure in three ways: a positive errno value, a negative one (some providers), and
 * -1 with the cause in errno. Here they become one: 0 or a positive errno value.
 */
RDMAEZ_IMPL_FOLD int rdmaez_impl_error(int returned)
{
	if (returned >= 0)
		return returned;
	if (returned < -1)
		return -returned;
	return errno > 0 ? errno : EIO;
}

#ifdef __cplusplus
}
#endif

#endif
