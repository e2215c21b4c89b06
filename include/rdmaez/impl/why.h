/* SPDX-License-Identifier: MIT */
/* Bodies of why.h. */
#ifndef RDMAEZ_IMPL_WHY_H
#define RDMAEZ_IMPL_WHY_H

#ifndef RDMAEZ_WHY_H
#include "../why.h"
#endif

#if RDMAEZ_IMPL_BODIES

RDMAEZ_IMPL_BEGIN

/* A reason that is none counts as the one behind the last. */
RDMAEZ_IMPL unsigned int rdmaez_impl_why_index(enum rdmaez_why why)
{
	const unsigned int none = RDMAEZ_WHY_COUNT;

	return (unsigned int)why < none ? (unsigned int)why : none;
}

RDMAEZ_COLD const char *rdmaez_why_id(enum rdmaez_why why)
{
#define RDMAEZ_IMPL_WHY_ID(id, what, fix) #id,
	static const char *const ids[] = {RDMAEZ_WHY_LIST(RDMAEZ_IMPL_WHY_ID) "?"};
#undef RDMAEZ_IMPL_WHY_ID

	return ids[rdmaez_impl_why_index(why)];
}

/* Both sentences behind one pointer, because a pointer costs more than the byte between them. */
RDMAEZ_COLD const char *rdmaez_why_str(enum rdmaez_why why)
{
#define RDMAEZ_IMPL_WHY_TEXT(id, what, fix) what "\0" fix,
	static const char *const texts[] = {
		RDMAEZ_WHY_LIST(RDMAEZ_IMPL_WHY_TEXT) "unknown reason\0"};
#undef RDMAEZ_IMPL_WHY_TEXT

	return texts[rdmaez_impl_why_index(why)];
}

RDMAEZ_COLD const char *rdmaez_why_fix(enum rdmaez_why why)
{
	const char *const what = rdmaez_why_str(why);

	return what + strlen(what) + 1;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
