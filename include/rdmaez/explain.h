/* SPDX-License-Identifier: MIT */
/**
 * @file explain.h
 * @brief What the functions that explain a refusal have in common. Nothing here is public.
 */
#ifndef RDMAEZ_EXPLAIN_H
#define RDMAEZ_EXPLAIN_H

#include <sys/resource.h>

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Why a verb that returns a pointer has returned NULL, as a positive errno value. The caller sets
 * errno to 0 before the verb, because a provider may forget to set it at all.
 */
RDMAEZ_IMPL_APART int rdmaez_impl_error_of_null(void)
{
	if (!errno)
		return EIO;
	return errno > 0 ? errno : -errno;
}

/* A cause that the errno and the circumstances suggest; the device does not say. */
RDMAEZ_IMPL_APART void rdmaez_impl_suspect(struct rdmaez_diag *diag, enum rdmaez_reason reason,
					   const char *field, enum rdmaez_value kind,
					   uint64_t value, uint64_t min, uint64_t max)
{
	rdmaez_impl_diag_add(diag, RDMAEZ_LIKELY, reason, field, kind, value, min, max);
}

/* The limit of locked memory, where there is one; whether there is. */
RDMAEZ_IMPL_APART bool rdmaez_impl_suspect_memlock(struct rdmaez_diag *diag, const char *field,
						   enum rdmaez_value kind, uint64_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return false;
	rdmaez_impl_suspect(diag, RDMAEZ_MEMLOCK, field, kind, bytes, 0, limit.rlim_cur);
	return true;
}

/* What an errno means on the way to a peer's Ethernet address; RDMAEZ_NONE: nothing in particular. */
RDMAEZ_IMPL_APART enum rdmaez_reason rdmaez_impl_route_meaning(int error)
{
	switch (error) {
	case ETIMEDOUT:
		return RDMAEZ_NEIGHBOUR;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENETDOWN:
		return RDMAEZ_NO_ROUTE;
	case ENODEV:
		return RDMAEZ_GID_NO_NETDEV;
	case EADDRNOTAVAIL:
		return RDMAEZ_NO_IPV6;
	default:
		return RDMAEZ_NONE;
	}
}

/* What an errno of any verb usually means; `otherwise` where it says nothing. */
RDMAEZ_IMPL_APART enum rdmaez_reason rdmaez_impl_errno_meaning(int error,
							       enum rdmaez_reason otherwise)
{
	switch (error) {
	case ENOMEM:
	case ENOSPC:
		return RDMAEZ_NO_RESOURCES;
	case EAGAIN:
	case EBUSY:
		return RDMAEZ_BUSY;
	case EIO:
	case ENXIO:
	case ENODEV:
		return RDMAEZ_DEVICE_GONE;
	case ETIMEDOUT:
		return RDMAEZ_TIMED_OUT;
	case EOPNOTSUPP:
	case ENOSYS:
		return RDMAEZ_NOT_SUPPORTED;
	default:
		return otherwise;
	}
}

/* Where nothing better was found: what the errno of this verb usually means. */
RDMAEZ_IMPL_APART void rdmaez_impl_explain_errno(struct rdmaez_diag *diag, const char *verb,
						 int error)
{
	rdmaez_impl_suspect(diag, rdmaez_impl_errno_meaning(error, RDMAEZ_UNEXPLAINED), verb,
			    RDMAEZ_VALUE_NONE, 0, 0, 0);
}

#ifdef __cplusplus
}
#endif

#endif
