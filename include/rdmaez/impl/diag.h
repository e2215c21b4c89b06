/* SPDX-License-Identifier: MIT */
/* Implements diag.h, and how a record is filled. */
#ifndef RDMAEZ_IMPL_DIAG_H
#define RDMAEZ_IMPL_DIAG_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_COLD __attribute__((__noreturn__)) void
rdmaez_impl_diag_exit(int error, const struct rdmaez_diag *diag);

RDMAEZ_FOLD void rdmaez_diag_need(int error, const struct rdmaez_diag *diag)
{
	if (error)
		rdmaez_impl_diag_exit(error, diag);
}

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

#include <stdio.h>

/* This is exit() under a name of our own, for the same reason as close() in system.h. */
#ifdef __GNUC__
RDMAEZ_IMPL_BEGIN
extern __attribute__((__noreturn__)) void rdmaez_impl_exit(int status) __asm__("exit");
RDMAEZ_IMPL_END
#else
#include <stdlib.h>
#define rdmaez_impl_exit exit
#endif

#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_IMPL_STR_H
#include "str.h"
#endif
#ifndef RDMAEZ_IMPL_TEXT_H
#include "text.h"
#endif
#ifndef RDMAEZ_WHY_H
#include "../why.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_API const struct rdmaez_finding *rdmaez_diag_find(const struct rdmaez_diag *diag,
							 enum rdmaez_why reason)
{
	for (unsigned int i = 0; diag && i < diag->count; i++)
		if (diag->finding[i].reason == reason)
			return &diag->finding[i];
	return NULL;
}

/* Empties a record. */
RDMAEZ_IMPL_COLD void rdmaez_impl_diag_clear(struct rdmaez_diag *diag, const char *call)
{
	memset(diag, 0, sizeof(*diag));
	diag->call = call;
	diag->from = -1;
	diag->to = -1;
}

/*
 * Every public function that takes a record calls this first. If the record is known to be NULL,
 * the compiler leaves nothing of it.
 */
RDMAEZ_FOLD void rdmaez_impl_diag_reset(struct rdmaez_diag *diag, const char *call)
{
	if (diag)
		rdmaez_impl_diag_clear(diag, call);
}

/* Notes which device a record is about. Both names are arrays of IBV_SYSFS_NAME_MAX bytes. */
RDMAEZ_IMPL void rdmaez_impl_diag_device(struct rdmaez_diag *diag,
					 const struct ibv_context *context)
{
	if (diag && context->device)
		memcpy(diag->device, context->device->name, sizeof(diag->device));
}

/* Notes which queue pair a record is about. */
RDMAEZ_IMPL void rdmaez_impl_diag_qp(struct rdmaez_diag *diag, const struct ibv_qp *qp)
{
	if (!diag)
		return;
	rdmaez_impl_diag_device(diag, qp->context);
	diag->qp_num = qp->qp_num;
	diag->qp_type = (int)qp->qp_type;
}

/* Notes which transition a record is about. */
RDMAEZ_IMPL void rdmaez_impl_diag_transition(struct rdmaez_diag *diag, enum ibv_qp_type type,
					     enum ibv_qp_state from, enum ibv_qp_state to)
{
	if (!diag)
		return;
	diag->qp_type = (int)type;
	diag->from = (int)from;
	diag->to = (int)to;
}

/* Forgets the findings, because something better turned up. */
RDMAEZ_IMPL void rdmaez_impl_diag_forget(struct rdmaez_diag *diag)
{
	if (!diag)
		return;
	diag->error = 0;
	diag->count = 0;
	diag->dropped = 0;
}

/*
 * A site is what is known of a finding where the code that makes it is written: all but the value.
 * A bound that only run time knows is passed to rdmaez_impl_find_within().
 */
struct rdmaez_impl_site {
	const char *field;
	enum rdmaez_why why;
	enum rdmaez_value kind;
	int64_t min, max;
};

/* explain/diag.h */
RDMAEZ_SEAM void rdmaez_impl_finding(struct rdmaez_diag *diag, enum rdmaez_severity severity,
				     const struct rdmaez_impl_site *site, uint64_t value,
				     uint64_t min, uint64_t max);
RDMAEZ_SEAM void rdmaez_impl_finding_plain(struct rdmaez_diag *diag, enum rdmaez_severity severity,
					   enum rdmaez_why why, const char *field);

/* Adds a finding with bounds that only run time knows. */
RDMAEZ_IMPL void rdmaez_impl_find_within(struct rdmaez_diag *diag, enum rdmaez_severity severity,
					 const struct rdmaez_impl_site *site, uint64_t value,
					 uint64_t min, uint64_t max)
{
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_finding, (diag, severity, site, value, min, max));
}

/* Does the same with the bounds of the site. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_find(struct rdmaez_diag *diag, enum rdmaez_severity severity,
					const struct rdmaez_impl_site *site, uint64_t value)
{
	rdmaez_impl_find_within(diag, severity, site, value, (uint64_t)site->min,
				(uint64_t)site->max);
}

/* Adds an error if there is a record, and returns the errno value, which the record remembers. */
RDMAEZ_IMPL_COLD int rdmaez_impl_refuse_within(struct rdmaez_diag *diag, int error,
					       const struct rdmaez_impl_site *site, int64_t value,
					       int64_t min, int64_t max)
{
	if (diag)
		diag->error = error;
	rdmaez_impl_find_within(diag, RDMAEZ_DIAG_ERROR, site, (uint64_t)value, (uint64_t)min,
				(uint64_t)max);
	return error;
}

/* Does the same with the bounds of the site. */
RDMAEZ_IMPL_COLD int rdmaez_impl_refuse_at(struct rdmaez_diag *diag, int error,
					   const struct rdmaez_impl_site *site, int64_t value)
{
	return rdmaez_impl_refuse_within(diag, error, site, value, site->min, site->max);
}

/* Adds a finding without numbers. */
RDMAEZ_IMPL void rdmaez_impl_find_plain(struct rdmaez_diag *diag, enum rdmaez_severity severity,
					enum rdmaez_why why, const char *field)
{
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_finding_plain, (diag, severity, why, field));
}

/* Adds an error without numbers, and returns the errno value. */
RDMAEZ_IMPL_COLD int rdmaez_impl_refuse(struct rdmaez_diag *diag, int error, enum rdmaez_why why,
					const char *field)
{
	if (diag)
		diag->error = error;
	rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, why, field);
	return error;
}

/* Notes that a verb has failed, if its errno value is all there is to say, and returns that. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_refuse_verb(struct rdmaez_diag *diag, int error,
					      enum rdmaez_why why, const char *verb)
{
	if (diag)
		diag->verb = verb;
	return rdmaez_impl_refuse(diag, error, why, verb);
}

/* Notes that a verb has failed, for the function that explains it, and returns the errno value. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_failed(struct rdmaez_diag *diag, int error, const char *verb)
{
	if (diag) {
		diag->error = error;
		diag->verb = verb;
	}
	return error;
}

/*
 * Begins a record about the device of a context. Returns EINVAL if an argument is `missing`. Clears
 * errno, which a verb that fails may leave as it is.
 */
RDMAEZ_IMPL int rdmaez_impl_begin(struct rdmaez_diag *diag, const char *call,
				  const struct ibv_context *context, const char *missing)
{
	rdmaez_impl_diag_reset(diag, call);
	if (missing)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	rdmaez_impl_diag_device(diag, context);
	errno = 0;
	return 0;
}

/*
 * Notes that only the explanations do this function's work, and that the program does not have
 * them. Returns EOPNOTSUPP.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_untold(struct rdmaez_diag *diag, const char *call)
{
	rdmaez_impl_diag_reset(diag, call);
	return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED,
				  "rdmaez/implementation.h");
}

/* ---- As text, where a program may have the explanations or not -------------------------- */

/*
 * Writes the text that stands for an explanation to a stream, and returns what rdmaez_diag_print()
 * returns.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_print_untold(const struct rdmaez_diag *diag, FILE *stream)
{
	char text[256];

	rdmaez_impl_format_untold(diag, text, sizeof(text));
	errno = 0;
	if (fputs(text, stream) >= 0)
		return 0;
	return errno > 0 ? errno : EIO;
}

RDMAEZ_COLD int rdmaez_diag_print(const struct rdmaez_diag *diag, FILE *stream)
{
	return rdmaez_impl_tell_diag_print ? rdmaez_impl_tell_diag_print(diag, stream)
					   : rdmaez_impl_print_untold(diag, stream);
}

RDMAEZ_COLD void rdmaez_impl_diag_exit(int error, const struct rdmaez_diag *diag)
{
	if (diag && diag->error == error)
		rdmaez_diag_print(diag, stderr);
	else
		fprintf(stderr, "%s (%d)\n", rdmaez_errno_str(error), error);
	rdmaez_impl_exit(1); /* EXIT_FAILURE */
}

RDMAEZ_COLD int rdmaez_diag_format(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	return rdmaez_impl_tell_diag_format ? rdmaez_impl_tell_diag_format(diag, buf, size)
					    : rdmaez_impl_format_untold(diag, buf, size);
}

RDMAEZ_COLD int rdmaez_diag_line(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	return rdmaez_impl_tell_diag_line ? rdmaez_impl_tell_diag_line(diag, buf, size)
					  : rdmaez_impl_line_untold(diag, buf, size);
}

RDMAEZ_COLD int rdmaez_diag_json(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	return rdmaez_impl_tell_diag_json ? rdmaez_impl_tell_diag_json(diag, buf, size)
					  : rdmaez_impl_json_untold(buf, size);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
