/* SPDX-License-Identifier: MIT */
/* Normalises what a verb has returned, if nothing but the errno value tells why. */
#ifndef RDMAEZ_IMPL_VERB_H
#define RDMAEZ_IMPL_VERB_H

#ifndef RDMAEZ_WHY_H
#include "../why.h"
#endif
#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

/*
 * Returns why a verb that returns a pointer has returned NULL, as a positive errno value. The
 * caller sets errno to 0 before the verb, because a provider may forget to set it at all.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_error_of_null(void)
{
	const int error = errno;

	if (!error || error == INT32_MIN)
		return EIO;
	return error > 0 ? error : -error;
}

/*
 * Returns the errno value of a verb that nothing but its errno value explains, or 0 if it has
 * worked.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_verb(struct rdmaez_diag *diag, int returned, const char *verb)
{
	const int error = rdmaez_impl_error(returned);

	if (error) {
		rdmaez_impl_failed(diag, error, verb);
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_explain_errno, (diag));
	}
	return error;
}

/*
 * Returns what a verb that destroys an object has returned. EBUSY likely means that the object is
 * in use.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_end(struct rdmaez_diag *diag, int returned, const char *verb,
				      const char *field, enum rdmaez_why in_use)
{
	const int error = rdmaez_impl_error(returned);

	if (error != EBUSY)
		return rdmaez_impl_verb(diag, error, verb);
	rdmaez_impl_failed(diag, error, verb);
	rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, in_use, field);
	return error;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
