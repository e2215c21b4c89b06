/* SPDX-License-Identifier: MIT */
/**
 * @file base.h
 * @brief What every other header needs: verbs.h, how functions are declared, and "really zero".
 *
 * By default every function is `static inline` and there is nothing to set up. A program with many source
 * files may define `RDMAEZ_EXTERN` in all of them and `RDMAEZ_IMPLEMENTATION` in one:
 * [One or many translation units](@ref including) says when that is worthwhile.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_BASE_H
#define RDMAEZ_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <infiniband/verbs.h>

#ifndef RDMAEZ_VERSION_H
#include "version.h"
#endif

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
#define RDMAEZ_IMPL_ENDS   __attribute__((__noreturn__))
#define RDMAEZ_IMPL_APART  __attribute__((__noinline__, __unused__))
#define RDMAEZ_IMPL_ASIDE  __attribute__((__cold__, __noinline__, __unused__))
#else
#define RDMAEZ_IMPL_HIDDEN
#define RDMAEZ_IMPL_FORCED
#define RDMAEZ_IMPL_RARE
#define RDMAEZ_IMPL_ENDS
#define RDMAEZ_IMPL_APART
#define RDMAEZ_IMPL_ASIDE
#endif

/* Enclose the bodies. They use C casts, about which a C++ program may still warn in its own code. */
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
 * A function with a body in every source file. In a C++20 module, exported inline functions may not use
 * functions with internal linkage, so there these are inline. They are hidden because two shared objects
 * with different versions of rdmaez must not share a copy.
 *
 * gcc warns about functions that are both noinline and inline. Without optimisation it keeps unused
 * functions that are not inline; nothing is inlined then, so these are declared inline.
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

/*
 * Where the bodies are in another file, that file says that they are hidden, which goes for the whole object. Each
 * attribute of a declaration costs every file that includes it; that a call is rare is worth that.
 */
/** @brief Declares a function whose body is in every file, or in one with `RDMAEZ_EXTERN`. */
#if !RDMAEZ_IMPL_BODIES
#define RDMAEZ_API
#elif defined(RDMAEZ_EXTERN)
#define RDMAEZ_API RDMAEZ_IMPL_HIDDEN
#else
#define RDMAEZ_API RDMAEZ_IMPL
#endif

/** @brief The same for a function that is long or runs after a failure; it is never inlined. */
#if !RDMAEZ_IMPL_BODIES
#define RDMAEZ_COLD RDMAEZ_IMPL_RARE
#elif defined(RDMAEZ_EXTERN)
#define RDMAEZ_COLD RDMAEZ_IMPL_HIDDEN RDMAEZ_IMPL_ASIDE
#else
#define RDMAEZ_COLD RDMAEZ_IMPL_COLD
#endif

/** @brief Declares a small function whose body is always in every file. */
#define RDMAEZ_INLINE RDMAEZ_IMPL

/** @brief The same for a function that folds to a constant when its arguments are constants. */
#define RDMAEZ_FOLD RDMAEZ_IMPL RDMAEZ_IMPL_FORCED

/** @brief The same for a long one, whose body is in one file with `RDMAEZ_EXTERN`, and called there. */
#ifdef RDMAEZ_EXTERN
#define RDMAEZ_API_FOLD RDMAEZ_API
#else
#define RDMAEZ_API_FOLD RDMAEZ_FOLD
#endif

/**
 * @brief "Really zero", for option fields in which 0 asks for the default.
 *
 * A timeout, a retry count, a GID index or a Q_Key can legitimately be zero. Options that
 * mention this value accept it, and so does every int whose default is not 0. It is outside the legal
 * range of all of them except the Q_Key (options cannot ask for a Q_Key of exactly 0x5a45524f), and reads
 * `ZERO` in a memory dump. Numbers whose default is 0, such as PSNs, do not need it; access flags take it.
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
 * @param value the number
 * @return @p value, or #RDMAEZ_ZERO if @p value is 0
 */
RDMAEZ_INLINE int rdmaez_exactly(int value);

/**
 * @brief The same for unsigned fields: `opts.qkey = rdmaez_exactly_u32(qkey);`
 * @param value the number
 * @return @p value, or #RDMAEZ_ZERO if @p value is 0
 */
RDMAEZ_INLINE uint32_t rdmaez_exactly_u32(uint32_t value);

#ifdef __cplusplus
}
#endif

#include "impl/base.h"

#endif
