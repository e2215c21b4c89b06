/* SPDX-License-Identifier: MIT */
/* Implements event.h. */
#ifndef RDMAEZ_IMPL_EVENT_H
#define RDMAEZ_IMPL_EVENT_H

#ifndef RDMAEZ_EVENT_H
#include "../event.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <poll.h>

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif
#ifndef RDMAEZ_IMPL_WC_H
#include "wc.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_COLD int rdmaez_event_next(struct ibv_context *context, uint64_t timeout_ns,
				  struct ibv_async_event *event, struct rdmaez_diag *diag)
{
	const uint64_t deadline = rdmaez_impl_until(timeout_ns);
	const char *const missing = !context ? "context" : event ? NULL : "event";
	int error = rdmaez_impl_begin(diag, "rdmaez_event_next", context, missing);
	struct ibv_async_event next;

	if (error)
		return error;
	do {
		error = rdmaez_impl_wait(context->async_fd, POLLIN, deadline);
		if (!error)
			error = rdmaez_impl_error(ibv_get_async_event(context, &next));
		if (!error) {
			ibv_ack_async_event(&next);
			*event = next;
			return 0;
		}
	} while ((error == EAGAIN || error == EINTR) && rdmaez_impl_left(deadline));
	if (error != ETIMEDOUT && error != EAGAIN && error != EINTR)
		return rdmaez_impl_verb(diag, error, "ibv_get_async_event");
	return timeout_ns == RDMAEZ_NS_NOW
		       ? rdmaez_impl_failed(diag, EAGAIN, NULL)
		       : rdmaez_impl_refuse(diag, ETIMEDOUT, RDMAEZ_WHY_EVENT_NONE, "timeout_ns");
}

RDMAEZ_COLD const struct rdmaez_advice *rdmaez_event_explain(const struct ibv_async_event *event)
{
	return rdmaez_impl_tell_event_explain ? rdmaez_impl_tell_event_explain(event)
					      : rdmaez_impl_advice_untold();
}

RDMAEZ_COLD int rdmaez_event_explain_qp(const struct ibv_async_event *event,
					struct rdmaez_diag *diag)
{
	return rdmaez_impl_tell_event_explain_qp
		       ? rdmaez_impl_tell_event_explain_qp(event, diag)
		       : rdmaez_impl_untold(diag, "rdmaez_event_explain_qp");
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
