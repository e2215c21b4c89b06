/* SPDX-License-Identifier: MIT */
/* Bodies of diag.h, and how a record is filled. */
#ifndef RDMAEZ_IMPL_DIAG_H
#define RDMAEZ_IMPL_DIAG_H

#include "../diag.h"

#if RDMAEZ_IMPL_BODIES

#ifdef __cplusplus
extern "C" {
#endif

/* A line of the list. */
struct rdmaez_impl_reason {
	const char *id;
	const char *what;
	const char *fix;
};

RDMAEZ_IMPL_COLD const struct rdmaez_impl_reason *rdmaez_impl_reason_line(enum rdmaez_why reason)
{
#define RDMAEZ_IMPL_REASON_LINE(id, what, fix) {#id, what, fix},
	static const struct rdmaez_impl_reason lines[] = {
		RDMAEZ_WHY_LIST(RDMAEZ_IMPL_REASON_LINE){"?", "unknown reason", ""}};
#undef RDMAEZ_IMPL_REASON_LINE

	return &lines[(unsigned int)reason < RDMAEZ_WHY_COUNT ? reason : RDMAEZ_WHY_COUNT];
}

RDMAEZ_API const char *rdmaez_why_str(enum rdmaez_why reason)
{
	return rdmaez_impl_reason_line(reason)->what;
}

RDMAEZ_API const char *rdmaez_why_fix(enum rdmaez_why reason)
{
	return rdmaez_impl_reason_line(reason)->fix;
}

RDMAEZ_API const char *rdmaez_why_id(enum rdmaez_why reason)
{
	return rdmaez_impl_reason_line(reason)->id;
}

RDMAEZ_API const struct rdmaez_finding *rdmaez_diag_find(const struct rdmaez_diag *diag,
							 enum rdmaez_why reason)
{
	for (unsigned int i = 0; diag && i < diag->count; i++)
		if (diag->finding[i].reason == reason)
			return &diag->finding[i];
	return NULL;
}

/* Every public function that takes a record calls this first. */
RDMAEZ_FOLD void rdmaez_impl_diag_reset(struct rdmaez_diag *diag, const char *call)
{
	if (!diag)
		return;
	memset(diag, 0, sizeof(*diag));
	diag->call = call;
	diag->from = -1;
	diag->to = -1;
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

/* Forgets the findings, when something better turned up. */
RDMAEZ_IMPL void rdmaez_impl_diag_forget(struct rdmaez_diag *diag)
{
	if (!diag)
		return;
	diag->error = 0;
	diag->count = 0;
	diag->dropped = 0;
}

/* Puts a finding behind those of its severity and before the rest; the last one may fall out. */
RDMAEZ_IMPL_COLD void rdmaez_impl_diag_add(struct rdmaez_diag *diag, enum rdmaez_severity severity,
					   enum rdmaez_why reason, const char *field,
					   enum rdmaez_value kind, uint64_t value, uint64_t min,
					   uint64_t max)
{
	unsigned int at = diag->count;

	while (at > 0 && diag->finding[at - 1].severity > severity)
		at--;
	if (diag->count < RDMAEZ_DIAG_FINDINGS)
		diag->count++;
	else
		diag->dropped++;
	if (at == RDMAEZ_DIAG_FINDINGS)
		return;
	for (unsigned int i = diag->count - 1; i > at; i--)
		diag->finding[i] = diag->finding[i - 1];
	diag->finding[at].reason = reason;
	diag->finding[at].severity = severity;
	diag->finding[at].field = field;
	diag->finding[at].kind = kind;
	diag->finding[at].value = value;
	diag->finding[at].min = min;
	diag->finding[at].max = max;
}

/* Adds a finding if there is a record, and returns the error, which the record remembers. */
RDMAEZ_FOLD int rdmaez_impl_refuse(struct rdmaez_diag *diag, int error, enum rdmaez_why reason,
				   const char *field)
{
	if (diag) {
		diag->error = error;
		rdmaez_impl_diag_add(diag, RDMAEZ_DIAG_ERROR, reason, field, RDMAEZ_VALUE_NONE, 0,
				     0, 0);
	}
	return error;
}

/* The same with what was given and what is accepted. */
RDMAEZ_FOLD int rdmaez_impl_refuse_value(struct rdmaez_diag *diag, int error,
					 enum rdmaez_why reason, const char *field,
					 enum rdmaez_value kind, int64_t value, int64_t min,
					 int64_t max)
{
	if (diag) {
		diag->error = error;
		rdmaez_impl_diag_add(diag, RDMAEZ_DIAG_ERROR, reason, field, kind, (uint64_t)value,
				     (uint64_t)min, (uint64_t)max);
	}
	return error;
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
