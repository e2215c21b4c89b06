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
 * One of a row of texts, each with a zero byte behind it, and an empty one where there are no more. One literal and a
 * walk after a failure cost less than an array of pointers, in compiling as in the object.
 */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_walk(const char *text, unsigned int behind)
{
	for (; behind && *text; behind--)
		text += strlen(text) + 1;
	return text;
}

RDMAEZ_COLD const char *rdmaez_why_id(enum rdmaez_why why)
{
#define RDMAEZ_IMPL_WHY_ID(id, what, fix) #id "\0"
	const char *const id =
		rdmaez_impl_why_walk(RDMAEZ_WHY_LIST(RDMAEZ_IMPL_WHY_ID), (unsigned int)why);
#undef RDMAEZ_IMPL_WHY_ID

	return *id ? id : "?";
}

/* What is wrong, with what to do behind it, of a reason that stands so far behind the first one of its group. */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_text(const char *group, unsigned int behind)
{
	/* Twice, not twice as far: that number could be too great. */
	const char *const text = rdmaez_impl_why_walk(rdmaez_impl_why_walk(group, behind), behind);

	return *text ? text : "unknown reason\0";
}

/*
 * The texts of a group, which begins with the reason that is named. A function that gives reasons of a group beyond
 * the core enters the group's function into its record with rdmaez_impl_diag_reset_for(): so no other program that
 * prints a record links their texts.
 */
#define RDMAEZ_IMPL_WHY_TEXTS(id, what, fix) what "\0" fix "\0"

RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_core(enum rdmaez_why why)
{
	return rdmaez_impl_why_text(RDMAEZ_IMPL_WHY_CORE(RDMAEZ_IMPL_WHY_TEXTS), (unsigned int)why);
}

RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_examine(enum rdmaez_why why)
{
	return rdmaez_impl_why_text(RDMAEZ_IMPL_WHY_EXAMINE(RDMAEZ_IMPL_WHY_TEXTS),
				    (unsigned int)why - RDMAEZ_WHY_QP_NO_SENDS);
}

RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_objects(enum rdmaez_why why)
{
	return rdmaez_impl_why_text(RDMAEZ_IMPL_WHY_OBJECTS(RDMAEZ_IMPL_WHY_TEXTS),
				    (unsigned int)why - RDMAEZ_WHY_CREATE_TYPE);
}

RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_wr(enum rdmaez_why why)
{
	return rdmaez_impl_why_text(RDMAEZ_IMPL_WHY_WR(RDMAEZ_IMPL_WHY_TEXTS),
				    (unsigned int)why - RDMAEZ_WHY_WR_BAD);
}

RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_wc(enum rdmaez_why why)
{
	return rdmaez_impl_why_text(RDMAEZ_IMPL_WHY_WC(RDMAEZ_IMPL_WHY_TEXTS),
				    (unsigned int)why - RDMAEZ_WHY_WC_OTHER_QP);
}

RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_dm(enum rdmaez_why why)
{
	return rdmaez_impl_why_text(RDMAEZ_IMPL_WHY_DM(RDMAEZ_IMPL_WHY_TEXTS),
				    (unsigned int)why - RDMAEZ_WHY_DM_NONE);
}

RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_device(enum rdmaez_why why)
{
	return rdmaez_impl_why_text(RDMAEZ_IMPL_WHY_DEVICE(RDMAEZ_IMPL_WHY_TEXTS),
				    (unsigned int)why - RDMAEZ_WHY_DEVICE_NONE);
}

RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_connect(enum rdmaez_why why)
{
	return rdmaez_impl_why_text(RDMAEZ_IMPL_WHY_CONNECT(RDMAEZ_IMPL_WHY_TEXTS),
				    (unsigned int)why - RDMAEZ_WHY_ENDPOINT_MAGIC);
}

RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_drain(enum rdmaez_why why)
{
	return rdmaez_impl_why_text(RDMAEZ_IMPL_WHY_DRAIN(RDMAEZ_IMPL_WHY_TEXTS),
				    (unsigned int)why - RDMAEZ_WHY_DRAIN_UNCOUNTED);
}

#undef RDMAEZ_IMPL_WHY_TEXTS

RDMAEZ_COLD const char *rdmaez_why_str(enum rdmaez_why why)
{
	const unsigned int id = (unsigned int)why;

	return id < RDMAEZ_WHY_QP_NO_SENDS       ? rdmaez_impl_why_core(why)
	       : id < RDMAEZ_WHY_CREATE_TYPE     ? rdmaez_impl_why_examine(why)
	       : id < RDMAEZ_WHY_WR_BAD          ? rdmaez_impl_why_objects(why)
	       : id < RDMAEZ_WHY_WC_OTHER_QP     ? rdmaez_impl_why_wr(why)
	       : id < RDMAEZ_WHY_DM_NONE         ? rdmaez_impl_why_wc(why)
	       : id < RDMAEZ_WHY_DEVICE_NONE     ? rdmaez_impl_why_dm(why)
	       : id < RDMAEZ_WHY_ENDPOINT_MAGIC  ? rdmaez_impl_why_device(why)
	       : id < RDMAEZ_WHY_DRAIN_UNCOUNTED ? rdmaez_impl_why_connect(why)
						 : rdmaez_impl_why_drain(why);
}

/* What to do, of what rdmaez_why_str() or a group's function returns. */
RDMAEZ_IMPL const char *rdmaez_impl_why_next(const char *what)
{
	return what + strlen(what) + 1;
}

RDMAEZ_COLD const char *rdmaez_why_fix(enum rdmaez_why why)
{
	return rdmaez_impl_why_next(rdmaez_why_str(why));
}

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
