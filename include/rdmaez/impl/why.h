/* SPDX-License-Identifier: MIT */
/* Implements why.h. */
#ifndef RDMAEZ_IMPL_WHY_H
#define RDMAEZ_IMPL_WHY_H

#ifndef RDMAEZ_WHY_H
#include "../why.h"
#endif

#if RDMAEZ_IMPL_BODIES

RDMAEZ_IMPL_BEGIN

/* explain/diag.h */
RDMAEZ_SEAM const char *rdmaez_impl_tell_why_fix(enum rdmaez_why why);
RDMAEZ_SEAM const char *rdmaez_impl_tell_why_id(enum rdmaez_why why);
RDMAEZ_SEAM const char *rdmaez_impl_tell_why_str(enum rdmaez_why why);

RDMAEZ_COLD const char *rdmaez_why_fix(enum rdmaez_why why)
{
	return rdmaez_impl_tell_why_fix ? rdmaez_impl_tell_why_fix(why) : RDMAEZ_IMPL_UNTOLD;
}

RDMAEZ_COLD const char *rdmaez_why_id(enum rdmaez_why why)
{
	return rdmaez_impl_tell_why_id ? rdmaez_impl_tell_why_id(why) : "?";
}

RDMAEZ_COLD const char *rdmaez_why_str(enum rdmaez_why why)
{
	return rdmaez_impl_tell_why_str ? rdmaez_impl_tell_why_str(why) : RDMAEZ_IMPL_UNTOLD "\0";
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
