/* SPDX-License-Identifier: MIT */
/* librdmacm: what it refuses, and the events that say why a connection did not come about. */
#include <rdma/rdma_cma.h>

#include "explain.h"

EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	int result;

	explain_enter();
	result = REAL_CM(rdma_get_cm_event)(channel, event);
	explain_thread.depth--;
	return result;
}
