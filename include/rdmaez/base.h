/* SPDX-License-Identifier: MIT */
/**
 * @file base.h
 * @brief What every other header needs: verbs.h, how functions are declared, and "really zero".
 *
 * Functions that act are `static inline` in every file. Functions that explain are in the one file of your program that
 * includes implementation.h. Without such a file everything still works, but records say less. If you define
 * `RDMAEZ_EXTERN` for all files, that one file has all bodies: see [One or many translation units](@ref including).
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

/* Whether this source file gets the bodies of all functions, or only of those that are always inline. */
#if defined(RDMAEZ_EXTERN) && !defined(RDMAEZ_IMPL_HERE)
#define RDMAEZ_IMPL_BODIES 0
#else
#define RDMAEZ_IMPL_BODIES 1
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
 * SMALL and COLD are for functions that run rarely. Each function that is compiled by itself costs gcc an eighth of
 * what verbs.h does, so it may inline the small ones, and in the explanations, which are in one file, those that one
 * function calls. It must not inline the long ones, which cost more in their callers.
 *
 * gcc warns about functions that are both noinline and inline. Without optimisation it keeps unused
 * functions that are not inline; nothing is inlined then, so these are declared inline.
 */
#if !defined(__GNUC__) || defined(__TINYC__)
#define RDMAEZ_IMPL       static inline
#define RDMAEZ_IMPL_SMALL static inline
#define RDMAEZ_IMPL_COLD  static inline
#elif defined(__cplusplus) && __cplusplus >= 202002L
#define RDMAEZ_IMPL       inline __attribute__((__visibility__("hidden")))
#define RDMAEZ_IMPL_SMALL inline __attribute__((__visibility__("hidden"), __cold__))
#define RDMAEZ_IMPL_COLD  RDMAEZ_IMPL_SMALL
#else
#define RDMAEZ_IMPL       static inline
#define RDMAEZ_IMPL_SMALL static inline __attribute__((__cold__))
#ifdef __OPTIMIZE__
#define RDMAEZ_IMPL_COLD static __attribute__((__cold__, __noinline__, __unused__))
#else
#define RDMAEZ_IMPL_COLD RDMAEZ_IMPL_SMALL
#endif
#endif

/*
 * Where the bodies are in another file, that file says that they are hidden, which goes for the whole object. Each
 * attribute of a declaration costs every file that includes it; that a call is rare is worth that.
 */
#if !RDMAEZ_IMPL_BODIES
#define RDMAEZ_API
#define RDMAEZ_COLD __attribute__((__cold__))
#elif defined(RDMAEZ_EXTERN)
#define RDMAEZ_API  __attribute__((__visibility__("hidden")))
#define RDMAEZ_COLD __attribute__((__visibility__("hidden"), __cold__, __noinline__))
#else
/** @brief Declares a function whose body is in every file, or with `RDMAEZ_EXTERN` in one. */
#define RDMAEZ_API  RDMAEZ_IMPL
/** @brief Declares such a function that is long or runs after a failure. It is never inlined. */
#define RDMAEZ_COLD RDMAEZ_IMPL_COLD
#endif

/** @brief Declares a small function whose body is always in every file. */
#define RDMAEZ_INLINE RDMAEZ_IMPL

/** @brief Declares a small function that folds to a constant when its arguments are constants. */
#define RDMAEZ_FOLD RDMAEZ_IMPL __attribute__((__always_inline__))

/*
 * A function of the explanations. The core calls it if the program has it: its address is NULL if no file includes
 * implementation.h. The body is hidden, but the reference has no visibility of its own: in position-independent
 * programs, gold takes a missing hidden function for one that is there. With tcc, glibc's headers define the word
 * __attribute__ away, so this spelling is used.
 */
#define RDMAEZ_SEAM __attribute((__weak__, __cold__))

/* Explains what was just noted in a record, if there is a record and the program has the explanations. */
#define RDMAEZ_IMPL_EXPLAIN(diag, function, arguments) \
	do {                                           \
		if ((diag) && (function))              \
			function arguments;            \
	} while (0)

/* Replaces every text of the explanations in a program without them. */
#define RDMAEZ_IMPL_UNTOLD \
	"include <rdmaez/implementation.h> in one file of the program to be told more"

/**
 * @brief "Really zero", for options where 0 asks for the default.
 *
 * A timeout, a retry count, a GID index or a Q_Key can legitimately be zero. Every option that is documented as taking
 * this value accepts it, as does every int option whose default is not 0. It lies outside the legal range of all of
 * them except the Q_Key: you cannot ask for a Q_Key of exactly 0x5a45524f. It reads `ZERO` in a memory dump. Numbers
 * whose default is 0, such as PSNs, do not need it. Access flags accept it.
 */
#define RDMAEZ_ZERO 0x5a45524f

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Passes a number through an option field unchanged, zero included.
 *
 * Use it for values from a command line or a query, where 0 means 0 and not "the default": `opts.path.sgid_index =
 * rdmaez_exactly(index);`
 *
 * @param value the number
 * @return @p value, or #RDMAEZ_ZERO if @p value is 0
 */
RDMAEZ_INLINE int rdmaez_exactly(int value);

/**
 * @brief Passes an unsigned number through an option field unchanged: `opts.qkey = rdmaez_exactly_u32(qkey);`
 * @param value the number
 * @return @p value, or #RDMAEZ_ZERO if @p value is 0
 */
RDMAEZ_INLINE uint32_t rdmaez_exactly_u32(uint32_t value);

#ifdef __cplusplus
}
#endif

#include "impl/base.h"

#endif
