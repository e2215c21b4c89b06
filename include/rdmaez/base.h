/* SPDX-License-Identifier: MIT */
/**
 * @file base.h
 * @brief What every other header needs: verbs.h, how functions are declared, and "really zero".
 *
 * By default every function is `static inline` and there is nothing to set up. A program of many files
 * may define `RDMAEZ_EXTERN` for all of them and `RDMAEZ_IMPLEMENTATION` in one:
 * [Two ways to include](@ref including) says when that pays.
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

#if defined(RDMAEZ_IMPLEMENTATION) && !defined(RDMAEZ_EXTERN)
#error "RDMAEZ_IMPLEMENTATION goes with RDMAEZ_EXTERN: define both, or neither"
#endif

/* Whether this source file gets the bodies of all functions, or only of those that are always inline. */
#if defined(RDMAEZ_EXTERN) && !defined(RDMAEZ_IMPLEMENTATION)
#define RDMAEZ_IMPL_BODIES 0
#else
#define RDMAEZ_IMPL_BODIES 1
#endif

#if defined(__GNUC__) && !defined(__TINYC__)
#define RDMAEZ_IMPL_HIDDEN __attribute__((__visibility__("hidden")))
#define RDMAEZ_IMPL_FORCED __attribute__((__always_inline__))
#define RDMAEZ_IMPL_RARE   __attribute__((__cold__))
#define RDMAEZ_IMPL_APART  __attribute__((__noinline__, __unused__))
#define RDMAEZ_IMPL_ASIDE  __attribute__((__cold__, __noinline__, __unused__))
#else
#define RDMAEZ_IMPL_HIDDEN
#define RDMAEZ_IMPL_FORCED
#define RDMAEZ_IMPL_RARE
#define RDMAEZ_IMPL_APART
#define RDMAEZ_IMPL_ASIDE
#endif

/* What encloses bodies. They are C, casts included; C++ programs may warn about C casts of their own. */
#ifdef __cplusplus
#define RDMAEZ_IMPL_BEGIN                                                         \
	_Pragma("GCC diagnostic push")                                            \
		_Pragma("GCC diagnostic ignored \"-Wold-style-cast\"") extern "C" \
	{
#define RDMAEZ_IMPL_END \
	}               \
	_Pragma("GCC diagnostic pop")
#else
#define RDMAEZ_IMPL_BEGIN
#define RDMAEZ_IMPL_END
#endif

/*
 * A function with a body in every source file. In a C++20 module exported inline functions may not use
 * functions of internal linkage, so there these are inline and hidden: hidden, because two shared objects
 * with different versions of rdmaez must not share one copy.
 *
 * What must not be inlined cannot be called inline: gcc warns about that. But without optimisation gcc
 * keeps unused functions that are not inline, so there, where nothing is inlined, it is.
 */
#if defined(__cplusplus) && __cplusplus >= 202002L
#define RDMAEZ_IMPL      inline RDMAEZ_IMPL_HIDDEN
#define RDMAEZ_IMPL_COLD inline RDMAEZ_IMPL_HIDDEN RDMAEZ_IMPL_RARE
#define RDMAEZ_IMPL_ONCE inline RDMAEZ_IMPL_HIDDEN
#else
#define RDMAEZ_IMPL static inline
#ifdef __OPTIMIZE__
#define RDMAEZ_IMPL_COLD static RDMAEZ_IMPL_ASIDE
#define RDMAEZ_IMPL_ONCE static RDMAEZ_IMPL_APART
#else
#define RDMAEZ_IMPL_COLD static inline RDMAEZ_IMPL_RARE
#define RDMAEZ_IMPL_ONCE static inline
#endif
#endif

/** @brief Declares a function whose body is in every file, or with `RDMAEZ_EXTERN` in one. */
#ifdef RDMAEZ_EXTERN
#define RDMAEZ_API RDMAEZ_IMPL_HIDDEN
#else
#define RDMAEZ_API RDMAEZ_IMPL
#endif

/** @brief The same for a function that is long or runs after a failure: never inlined. */
#ifdef RDMAEZ_EXTERN
#define RDMAEZ_COLD RDMAEZ_IMPL_HIDDEN RDMAEZ_IMPL_ASIDE
#else
#define RDMAEZ_COLD RDMAEZ_IMPL_COLD
#endif

/** @brief Declares a small function: its body is in every file, both ways. */
#define RDMAEZ_INLINE RDMAEZ_IMPL

/** @brief The same for a function that folds to a constant when its arguments are constants. */
#define RDMAEZ_FOLD RDMAEZ_IMPL RDMAEZ_IMPL_FORCED

/**
 * @brief "Really zero", for option fields in which 0 asks for the default.
 *
 * In InfiniBand a timeout, a retry count, a GID index or a set of access flags can be zero. The
 * options that name this value accept it, and so does every int whose default is not 0. It is outside the
 * legal range of all of them except the Q_Key, and reads `ZERO` in a memory dump. (Options cannot ask for a Q_Key of
 * exactly 0x5a45524f.) Numbers whose default is 0, such as PSNs, do not need it.
 */
#define RDMAEZ_ZERO 0x5a45524f

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Passes a number through an option field unchanged, zero included.
 *
 * For values from a command line or a query, where 0 means 0 and not "the default":
 * `opts.path.sgid_index = rdmaez_exactly(index);`
 *
 * @param value the number meant
 * @return @p value, or #RDMAEZ_ZERO if @p value is 0
 */
RDMAEZ_INLINE int rdmaez_exactly(int value);

/**
 * @brief The same for unsigned fields: `opts.access = rdmaez_exactly_u32(flags);`
 * @param value the number meant
 * @return @p value, or #RDMAEZ_ZERO if @p value is 0
 */
RDMAEZ_INLINE uint32_t rdmaez_exactly_u32(uint32_t value);

#ifdef __cplusplus
}
#endif

#include "impl/base.h"

#endif
