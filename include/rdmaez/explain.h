/* SPDX-License-Identifier: MIT */
/**
 * @file explain.h
 * @brief What the functions that explain a refusal have in common. Nothing here is public.
 */
#ifndef RDMAEZ_EXPLAIN_H
#define RDMAEZ_EXPLAIN_H

#include <sys/resource.h>

#include "diag.h"

/*
 * For what runs after a failure only. Inlined, it would make the callers save registers for it before
 * they know whether they fail. (In C, gcc warns of a function that is both inline and noinline.)
 */
#if !defined(__GNUC__) || defined(__TINYC__)
#define RDMAEZ_IMPL_COLD RDMAEZ_API
#elif defined(__cplusplus)
#define RDMAEZ_IMPL_COLD RDMAEZ_API __attribute__((noinline, cold))
#else
#define RDMAEZ_IMPL_COLD static __attribute__((noinline, cold, unused))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Why a verb that returns a pointer has returned NULL, as a positive errno value. The caller sets
 * errno to 0 before the verb, because a provider may forget to set it at all.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_error_of_null(void)
{
	if (!errno)
		return EIO;
	return errno > 0 ? errno : -errno;
}

/* A cause that the errno and the circumstances suggest; the device does not say. */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect(struct rdmaez_diag *diag, enum rdmaez_reason reason,
					  const char *field, enum rdmaez_value kind, uint64_t value,
					  uint64_t min, uint64_t max)
{
	rdmaez_impl_diag_add(diag, RDMAEZ_LIKELY, reason, field, kind, value, min, max);
}

/* The limit of locked memory, where there is one; whether there is. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_suspect_memlock(struct rdmaez_diag *diag, const char *field,
						  enum rdmaez_value kind, uint64_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return false;
	rdmaez_impl_suspect(diag, RDMAEZ_MEMLOCK, field, kind, bytes, 0, limit.rlim_cur);
	return true;
}

/* Where nothing better was found: what the errno of this verb usually means. */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_errno(struct rdmaez_diag *diag, const char *verb,
						int error)
{
	enum rdmaez_reason reason = RDMAEZ_UNEXPLAINED;

	switch (error) {
	case ENOMEM:
	case ENOSPC:
		reason = RDMAEZ_NO_RESOURCES;
		break;
	case EAGAIN:
	case EBUSY:
		reason = RDMAEZ_BUSY;
		break;
	case EIO:
	case ENXIO:
	case ENODEV:
		reason = RDMAEZ_DEVICE_GONE;
		break;
	case ETIMEDOUT:
		reason = RDMAEZ_TIMED_OUT;
		break;
	case EOPNOTSUPP:
	case ENOSYS:
		reason = RDMAEZ_NOT_SUPPORTED;
		break;
	default:
		break;
	}
	rdmaez_impl_suspect(diag, reason, verb, RDMAEZ_VALUE_NONE, 0, 0, 0);
}

#ifdef __cplusplus
}
#endif

#endif
