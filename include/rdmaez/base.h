/* SPDX-License-Identifier: MIT */
/**
 * @file base.h
 * @brief What every other header stands on: verbs.h, how functions are declared, "really zero".
 *
 * @par Two ways to include
 * Normally every function is `static inline`, and there is nothing else to do. A program of many files
 * defines `RDMAEZ_EXTERN` for all of them, best on the compiler's command line: then the headers declare,
 * and the one source file that also defines `RDMAEZ_IMPLEMENTATION` holds the definitions. Files of C
 * and of C++ may be mixed. The symbols are hidden, so a shared object exports none of them.
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

/* Whether this source file gets the bodies of functions. */
#if defined(RDMAEZ_EXTERN) && !defined(RDMAEZ_IMPLEMENTATION)
#define RDMAEZ_IMPL_BODIES 0
#else
#define RDMAEZ_IMPL_BODIES 1
#endif

#if defined(__GNUC__) && !defined(__TINYC__)
#define RDMAEZ_IMPL_HIDDEN __attribute__((visibility("hidden")))
#define RDMAEZ_IMPL_FORCED __attribute__((always_inline))
#define RDMAEZ_IMPL_RARE   __attribute__((cold))
#define RDMAEZ_IMPL_APART  __attribute__((noinline, unused))
#else
#define RDMAEZ_IMPL_HIDDEN
#define RDMAEZ_IMPL_FORCED
#define RDMAEZ_IMPL_RARE
#define RDMAEZ_IMPL_APART
#endif

/*
 * How a function that has a body in every source file is declared. A C++20 module may not export what uses
 * a function of internal linkage, so there they are inline and hidden, and g++ warns of one that is
 * inline and noinline.
 */
#if defined(__cplusplus) && __cplusplus >= 202002L
#define RDMAEZ_IMPL      inline RDMAEZ_IMPL_HIDDEN
#define RDMAEZ_IMPL_COLD inline RDMAEZ_IMPL_HIDDEN RDMAEZ_IMPL_RARE
#define RDMAEZ_IMPL_ONCE inline RDMAEZ_IMPL_HIDDEN
#else
#define RDMAEZ_IMPL      static inline
#define RDMAEZ_IMPL_COLD static RDMAEZ_IMPL_RARE RDMAEZ_IMPL_APART
#define RDMAEZ_IMPL_ONCE static RDMAEZ_IMPL_APART
#endif

/** @brief How a function is declared: in every file, or with `RDMAEZ_EXTERN` in one. */
#ifdef RDMAEZ_EXTERN
#define RDMAEZ_API RDMAEZ_IMPL_HIDDEN
#else
#define RDMAEZ_API RDMAEZ_IMPL
#endif

/** @brief The same for one that is long or runs after a failure: it is never inlined. */
#ifdef RDMAEZ_EXTERN
#define RDMAEZ_COLD RDMAEZ_IMPL_HIDDEN RDMAEZ_IMPL_RARE RDMAEZ_IMPL_APART
#else
#define RDMAEZ_COLD RDMAEZ_IMPL_COLD
#endif

/** @brief The same for one that is small: it is in every file both ways. */
#define RDMAEZ_INLINE RDMAEZ_IMPL

/** @brief The same for one that folds to a constant where its arguments are constants. */
#define RDMAEZ_FOLD RDMAEZ_IMPL RDMAEZ_IMPL_FORCED

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
RDMAEZ_INLINE int rdmaez_exactly(int value);

#ifdef __cplusplus
}
#endif

#include "impl/base.h"

#endif
