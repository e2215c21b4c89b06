/* SPDX-License-Identifier: MIT */
/* What the functions that explain a refusal have in common. */
#ifndef RDMAEZ_IMPL_EXPLAIN_H
#define RDMAEZ_IMPL_EXPLAIN_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <sys/resource.h>

#include "system.h"

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

/* A limit of the process, where there is one: this finding of `bytes` that were asked for. */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect_limit(struct rdmaez_diag *diag, uint64_t most,
						const struct rdmaez_impl_site *site, uint64_t bytes)
{
	if (most != (uint64_t)RLIM_INFINITY)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, site, bytes, 0, most);
}

/*
 * ENOMEM, or EPERM where nothing may be locked: locked memory, which does not bind who has CAP_IPC_LOCK
 * (`ib_umem_get()`), then address space, which binds everybody. `bytes` were asked for; 0: that is not known.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect_memory(struct rdmaez_diag *diag, const char *field,
						 uint64_t bytes, bool is_locked)
{
	const enum rdmaez_value kind = bytes ? RDMAEZ_VALUE_BYTES : RDMAEZ_VALUE_LIMIT;
	const struct rdmaez_impl_site memlock = {field, RDMAEZ_WHY_MEMLOCK, kind, 0, 0};
	const struct rdmaez_impl_site space = {field, RDMAEZ_WHY_ADDRESS_SPACE, RDMAEZ_VALUE_LIMIT,
					       0, 0};
	struct rlimit limit;

	if (is_locked && !getrlimit(RLIMIT_MEMLOCK, &limit) && !rdmaez_impl_may_lock())
		rdmaez_impl_suspect_limit(diag, limit.rlim_cur, &memlock, bytes);
	if (diag->error == ENOMEM && !getrlimit(RLIMIT_AS, &limit))
		rdmaez_impl_suspect_limit(diag, limit.rlim_cur, &space, 0);
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

/* What a verb that destroys an object has returned: EBUSY likely means that it is in use. */
RDMAEZ_IMPL_COLD int rdmaez_impl_end(struct rdmaez_diag *diag, int returned, const char *verb,
				     const char *field, enum rdmaez_why in_use)
{
	const int error = rdmaez_impl_error(returned);

	if (!error || !diag)
		return error;
	diag->error = error;
	diag->verb = verb;
	if (error == EBUSY)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, in_use, field);
	else
		rdmaez_impl_explain_errno(diag, verb, error);
	return error;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
