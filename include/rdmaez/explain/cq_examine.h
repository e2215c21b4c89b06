/* SPDX-License-Identifier: MIT */
/* Explains why no completion comes out of a queue, and why it cannot be destroyed. */
#ifndef RDMAEZ_EXPLAIN_CQ_EXAMINE_H
#define RDMAEZ_EXPLAIN_CQ_EXAMINE_H

#include "qp_examine.h"

RDMAEZ_IMPL_BEGIN

/* Judges what the program waits for by events, and how it has armed the queue. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_cq_exam_events(const struct ibv_cq *cq, unsigned int flags,
						  unsigned int armed_for, struct rdmaez_diag *diag)
{
	const bool waits = rdmaez_impl_exam_readable(cq->channel->fd);

	if (!(flags & RDMAEZ_CQ_ARMED) && !waits)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CQ_UNARMED, "cq");
	if (waits)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CQ_EVENT_WAITS,
				       "channel");
	if ((flags & RDMAEZ_CQ_ARMED) && !(flags & RDMAEZ_CQ_POLLED))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CQ_ARMED_LATE, "cq");
	if ((flags & RDMAEZ_CQ_ARMED) && (armed_for & RDMAEZ_CQ_SOLICITED))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_CQ_SOLICITED, "flags");
}

/* Says all that there is to say of a completion queue, in a record that is there. */
RDMAEZ_IMPL_COLD void rdmaez_impl_cq_exam(const struct ibv_cq *cq,
					  const struct rdmaez_cq_known *known, int outstanding,
					  int signaled, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site unacked = {"events", RDMAEZ_WHY_CQ_UNACKED,
							RDMAEZ_VALUE_COUNTED, 0, 0};
	const struct rdmaez_cq_watch *const watch = known->watch;

	if (known->flags & RDMAEZ_CQ_FAILED)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CQ_OVERRUN, "cq");
	if ((known->flags & RDMAEZ_CQ_ENDS) && watch && watch->cq == cq && watch->events)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &unacked, watch->events);
	if (known->flags & RDMAEZ_CQ_BY_EVENT) {
		if (cq->channel)
			rdmaez_impl_cq_exam_events(cq, known->flags, watch ? watch->flags : 0,
						   diag);
		else
			rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CQ_NO_CHANNEL,
					       "channel");
	}
	if (!(known->flags & RDMAEZ_CQ_ENDS)) {
		if (!outstanding)
			rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NOTHING_POSTED,
					       "outstanding");
		else if (!signaled)
			rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_UNSIGNALED,
					       "send_flags");
	}
	rdmaez_impl_exam_room(cq, signaled >= 0 ? signaled : outstanding, "cqe", diag);
	rdmaez_impl_exam_event(cq->context, diag);
	if (!diag->count)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_CQ_NOTHING_FOUND, "cq");
}

RDMAEZ_SEAM int rdmaez_impl_tell_cq_examine(struct ibv_cq *cq, const struct rdmaez_cq_known *known,
					    struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site flags = {
		"known.flags", RDMAEZ_WHY_OPTION_UNKNOWN, RDMAEZ_VALUE_FLAGS, 0,
		RDMAEZ_CQ_BY_EVENT | RDMAEZ_CQ_ARMED | RDMAEZ_CQ_POLLED | RDMAEZ_CQ_ENDS |
			RDMAEZ_CQ_FAILED};
	struct rdmaez_cq_known is;
	int error = rdmaez_impl_begin(diag, "rdmaez_cq_examine", cq ? cq->context : NULL,
				      cq ? NULL : "cq");

	if (error)
		return error;
	memset(&is, 0, sizeof(is));
	if (known)
		is = *known;
	if (is.flags & ~(unsigned int)flags.max)
		return rdmaez_impl_refuse_at(diag, EINVAL, &flags,
					     is.flags & ~(unsigned int)flags.max);
	error = rdmaez_impl_exam_number(is.outstanding, "known.outstanding", diag);
	if (!error)
		error = rdmaez_impl_exam_number(is.signaled, "known.signaled", diag);
	if (!error && diag)
		rdmaez_impl_cq_exam(cq, &is, (int)rdmaez_impl_option(is.outstanding, -1),
				    (int)rdmaez_impl_option(is.signaled, -1), diag);
	return error;
}

RDMAEZ_IMPL_END

#endif
