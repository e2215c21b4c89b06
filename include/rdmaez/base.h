/* SPDX-License-Identifier: MIT */
/**
 * @file base.h
 * @brief What every other header needs: verbs.h, how functions are declared, and "really zero".
 *
 * What acts is `static inline` in every file. What explains is in the one file of a program that includes
 * implementation.h; without such a file everything works, and records say less. With `RDMAEZ_EXTERN` defined for all
 * files, that one has all bodies: [One or many translation units](@ref including).
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
 * gcc warns about functions that are both noinline and inline. Without optimisation it keeps unused
 * functions that are not inline; nothing is inlined then, so these are declared inline.
 */
#if !defined(__GNUC__) || defined(__TINYC__)
#define RDMAEZ_IMPL      static inline
#define RDMAEZ_IMPL_COLD static inline
#elif defined(__cplusplus) && __cplusplus >= 202002L
#define RDMAEZ_IMPL      inline __attribute__((__visibility__("hidden")))
#define RDMAEZ_IMPL_COLD inline __attribute__((__visibility__("hidden"), __cold__))
#else
#define RDMAEZ_IMPL static inline
#ifdef __OPTIMIZE__
#define RDMAEZ_IMPL_COLD static __attribute__((__cold__, __noinline__, __unused__))
#else
#define RDMAEZ_IMPL_COLD static inline __attribute__((__cold__))
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
/** @brief Declares a function whose body is in every file, or in one with `RDMAEZ_EXTERN`. */
#define RDMAEZ_API  RDMAEZ_IMPL
/** @brief The same for a function that is long or runs after a failure; it is never inlined. */
#define RDMAEZ_COLD RDMAEZ_IMPL_COLD
#endif

/** @brief Declares a small function whose body is always in every file. */
#define RDMAEZ_INLINE RDMAEZ_IMPL

/** @brief The same for a function that folds to a constant when its arguments are constants. */
#define RDMAEZ_FOLD RDMAEZ_IMPL __attribute__((__always_inline__))

/*
 * A function of the explanations, which the core calls where the program has it: its address is NULL if no file
 * includes implementation.h. The reference has no visibility of its own, because gold, in programs that are position
 * independent, takes a hidden function that is missing for one that is there. The body is hidden. For tcc, glibc's
 * headers make nothing of the word __attribute__; this spelling is left.
 */
#define RDMAEZ_SEAM __attribute((__weak__, __cold__))

/* Has what was just noted in a record explained, if there is a record and the program has the explanations. */
#define RDMAEZ_IMPL_EXPLAIN(diag, function, arguments) \
	do {                                           \
		if ((diag) && (function))              \
			function arguments;            \
	} while (0)

/* What stands for any text of theirs in a program without the explanations. */
#define RDMAEZ_IMPL_UNTOLD \
	"include <rdmaez/implementation.h> in one file of the program to be told more"

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
