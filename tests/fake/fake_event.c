/* SPDX-License-Identifier: MIT */
/* Asynchronous events, and who waits for their acknowledgement. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "fake_internal.h"

static struct fake_context *to_context(struct ibv_context *ctx)
{
	return fake_container(ctx, struct fake_context, verbs.context);
}

/* How many events of what this one is about are read and not acknowledged; NULL: it is about a port or the device. */
static int *unacknowledged(const struct ibv_async_event *event)
{
	switch ((int)event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return &fake_cq(event->element.cq)->events;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return &fake_srq_find(event->element.srq)->events;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return &fake_container(event->element.qp, struct fake_qp, verbs)->events;
	default:
		return NULL;
	}
}

void fake_event(struct ibv_context *ctx, const struct ibv_async_event *event)
{
	struct fake_event **end = &to_context(ctx)->events;
	struct fake_event *added = (struct fake_event *)calloc(1, sizeof(*added));

	if (!added)
		abort();
	if (ctx->async_fd < 0)
		ctx->async_fd = eventfd(0, EFD_SEMAPHORE);
	if (ctx->async_fd < 0 || eventfd_write(ctx->async_fd, 1))
		abort();
	added->event = *event;
	while (*end)
		end = &(*end)->next;
	*end = added;
}

static struct ibv_async_event take(struct ibv_context *ctx, struct fake_event **at)
{
	struct fake_event *taken = *at;
	const struct ibv_async_event event = taken->event;
	eventfd_t count;

	if (eventfd_read(ctx->async_fd, &count))
		abort();
	*at = taken->next;
	free(taken);
	return event;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct fake_call *call = fake_enter(FAKE_GET_EVENT, context);
	struct fake_event **events = &to_context(context)->events;
	int *counted;

	if (call->error)
		return fake_return_minus(call, call->error);
	if (!*events) {
		if (context->async_fd >= 0 && fcntl(context->async_fd, F_GETFL) & O_NONBLOCK)
			return fake_return_minus(call, EAGAIN);
		fprintf(stderr, "fake: there is no event, and ibv_get_async_event() blocks\n");
		abort();
	}
	*event = take(context, events);
	counted = unacknowledged(event);
	if (counted)
		++*counted;
	return fake_return_minus(call, 0);
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	int *counted = unacknowledged(event);

	fake_enter(FAKE_ACK_EVENT, event->element.qp);
	if (counted && --*counted < 0) {
		fprintf(stderr, "fake: an event is acknowledged that nobody has read\n");
		abort();
	}
}

void fake_events_drop(struct ibv_context *ctx, const void *element)
{
	struct fake_event **at = &to_context(ctx)->events;

	while (*at)
		if (!element ||
		    (unacknowledged(&(*at)->event) && (*at)->event.element.qp == element))
			take(ctx, at);
		else
			at = &(*at)->next;
	if (!element && ctx->async_fd >= 0)
		close(ctx->async_fd);
}
