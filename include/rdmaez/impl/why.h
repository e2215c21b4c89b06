/* SPDX-License-Identifier: MIT */
/* Bodies of why.h. */
#ifndef RDMAEZ_IMPL_WHY_H
#define RDMAEZ_IMPL_WHY_H

#ifndef RDMAEZ_WHY_H
#include "../why.h"
#endif

#if RDMAEZ_IMPL_BODIES

RDMAEZ_IMPL_BEGIN

/* C compilers need not take a literal as long as these; those in use do. */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/*
 * One of a row of texts, each with a zero byte behind it; a reason that is none has those behind the last one's. One
 * literal and a walk after a failure cost less than an array of pointers, in compiling as in the object.
 */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_text(const char *text, unsigned int behind)
{
	for (; behind; behind--)
		text += strlen(text) + 1;
	return text;
}

RDMAEZ_IMPL unsigned int rdmaez_impl_why_index(enum rdmaez_why why)
{
	const unsigned int none = RDMAEZ_WHY_COUNT;

	return (unsigned int)why < none ? (unsigned int)why : none;
}

RDMAEZ_COLD const char *rdmaez_why_id(enum rdmaez_why why)
{
#define RDMAEZ_IMPL_WHY_ID(id, what, fix) #id "\0"
	return rdmaez_impl_why_text(RDMAEZ_WHY_LIST(RDMAEZ_IMPL_WHY_ID) "?",
				    rdmaez_impl_why_index(why));
#undef RDMAEZ_IMPL_WHY_ID
}

/* What is wrong and what to do, in turn. */
RDMAEZ_COLD const char *rdmaez_why_str(enum rdmaez_why why)
{
#define RDMAEZ_IMPL_WHY_TEXTS(id, what, fix) what "\0" fix "\0"
	return rdmaez_impl_why_text(RDMAEZ_WHY_LIST(RDMAEZ_IMPL_WHY_TEXTS) "unknown reason\0",
				    2 * rdmaez_impl_why_index(why));
#undef RDMAEZ_IMPL_WHY_TEXTS
}

RDMAEZ_COLD const char *rdmaez_why_fix(enum rdmaez_why why)
{
	return rdmaez_impl_why_text(rdmaez_why_str(why), 1);
}

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
