/* SPDX-License-Identifier: MIT */
/* What the functions that explain a refusal have in common. */
#ifndef RDMAEZ_IMPL_EXPLAIN_H
#define RDMAEZ_IMPL_EXPLAIN_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <sys/resource.h>

RDMAEZ_IMPL_BEGIN

/*
 * Why a verb that returns a pointer has returned NULL, as a positive errno value. The caller sets
 * errno to 0 before the verb, because a provider may forget to set it at all.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_error_of_null(void)
{
	const int error = errno;

	if (!error || error == INT32_MIN)
		return EIO;
	return error > 0 ? error : -error;
}

/* The limit of locked memory, where there is one: RDMAEZ_WHY_MEMLOCK of this field, `bytes` being asked for. */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect_memlock(struct rdmaez_diag *diag,
						  const struct rdmaez_impl_site *site,
						  uint64_t bytes)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, site, bytes, 0, limit.rlim_cur);
}

/* What an errno of resolving a peer's Ethernet address means; RDMAEZ_WHY_NONE: nothing in particular. */
RDMAEZ_IMPL_COLD enum rdmaez_why rdmaez_impl_route_meaning(int error)
{
	switch (error) {
	case ETIMEDOUT:
		return RDMAEZ_WHY_NEIGHBOUR;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENETDOWN:
		return RDMAEZ_WHY_NO_ROUTE;
	case ENODEV:
		return RDMAEZ_WHY_GID_NO_NETDEV;
	case EADDRNOTAVAIL:
		return RDMAEZ_WHY_NO_IPV6;
	default:
		return RDMAEZ_WHY_NONE;
	}
}

/* What an errno of any verb usually means; `otherwise` where it says nothing. */
RDMAEZ_IMPL_COLD enum rdmaez_why rdmaez_impl_errno_meaning(int error, enum rdmaez_why otherwise)
{
	switch (error) {
	case ENOMEM:
	case ENOSPC:
		return RDMAEZ_WHY_NO_RESOURCES;
	case EAGAIN:
	case EBUSY:
		return RDMAEZ_WHY_BUSY;
	case EIO:
	case ENXIO:
	case ENODEV:
		return RDMAEZ_WHY_DEVICE_GONE;
	case ETIMEDOUT:
		return RDMAEZ_WHY_TIMED_OUT;
	case EOPNOTSUPP:
	case ENOSYS:
		return RDMAEZ_WHY_NOT_SUPPORTED;
	default:
		return otherwise;
	}
}

/* Where nothing better was found: what the errno of this verb, which is the field, usually means. */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_errno(struct rdmaez_diag *diag, const char *verb,
						int error)
{
	rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY,
			       rdmaez_impl_errno_meaning(error, RDMAEZ_WHY_UNEXPLAINED), verb);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
