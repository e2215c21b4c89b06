/* SPDX-License-Identifier: MIT */
/* Asynchronous events and those of completion channels, and who waits for their acknowledgement. */
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

/* ---- Completion channels ------------------------------------------------------------------ */

static struct fake_channel *channels;

/* One that ibv_create_comp_channel() has made; tests make others. */
static struct fake_channel *channel_of(const struct ibv_comp_channel *channel)
{
	struct fake_channel *at = channels;

	while (at && &at->verbs != channel)
		at = at->next;
	return at;
}

static void destroy_channel(struct fake_object *object)
{
	struct fake_channel *channel = fake_container(object, struct fake_channel, object);
	struct fake_channel **at = &channels;

	while (*at != channel)
		at = &(*at)->next;
	*at = channel->next;
	close(channel->verbs.fd);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct fake_call *call = fake_enter(FAKE_CREATE_CHANNEL, context);
	struct fake_channel *channel;

	if (call->error)
		return (struct ibv_comp_channel *)fake_return_ptr(call, call->error, NULL);
	channel = (struct fake_channel *)fake_object_new(sizeof(*channel), destroy_channel);
	channel->verbs.context = context;
	channel->verbs.fd = eventfd(0, EFD_SEMAPHORE);
	if (channel->verbs.fd < 0)
		abort();
	channel->next = channels;
	channels = channel;
	return (struct ibv_comp_channel *)fake_return_ptr(call, 0, &channel->verbs);
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct fake_call *call = fake_enter(FAKE_DESTROY_CHANNEL, channel);
	int err = call->error;

	if (!err && channel->refcnt)
		err = EBUSY;
	if (!err)
		fake_object_free(&channel_of(channel)->object);
	return fake_return(call, err);
}

void fake_channel_join(struct ibv_comp_channel *channel)
{
	if (channel && channel_of(channel))
		channel->refcnt++;
}

void fake_channel_notify(struct fake_cq *cq, const struct ibv_wc *wc)
{
	struct fake_channel *channel = cq->verbs.channel ? channel_of(cq->verbs.channel) : NULL;

	if (!channel || cq->armed == FAKE_CQ_DISARMED)
		return;
	if (cq->armed == FAKE_CQ_SOLICITED && wc->status == IBV_WC_SUCCESS &&
	    !(wc->wc_flags & IBV_WC_IP_CSUM_OK))
		return;
	cq->armed = FAKE_CQ_DISARMED;
	if (channel->count == sizeof(channel->waiting) / sizeof(channel->waiting[0]) ||
	    eventfd_write(channel->verbs.fd, 1)) {
		fprintf(stderr, "fake: nobody reads the events of a channel\n");
		abort();
	}
	channel->waiting[channel->count++] = cq;
}

static void channel_drop(struct fake_channel *channel, unsigned int at)
{
	eventfd_t count;

	if (eventfd_read(channel->verbs.fd, &count))
		abort();
	channel->count--;
	memmove(&channel->waiting[at], &channel->waiting[at + 1],
		(channel->count - at) * sizeof(channel->waiting[0]));
}

void fake_channel_leave(struct fake_cq *cq)
{
	struct fake_channel *channel = cq->verbs.channel ? channel_of(cq->verbs.channel) : NULL;

	for (unsigned int i = channel ? channel->count : 0; i--;)
		if (channel->waiting[i] == cq)
			channel_drop(channel, i);
	if (channel)
		channel->verbs.refcnt--;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct fake_call *call = fake_enter(FAKE_GET_CQ_EVENT, channel);
	struct fake_channel *from = channel_of(channel);

	if (call->error)
		return fake_return_minus(call, call->error);
	if (!from->count) {
		if (fcntl(channel->fd, F_GETFL) & O_NONBLOCK)
			return fake_return_minus(call, EAGAIN);
		fprintf(stderr, "fake: there is no event, and ibv_get_cq_event() blocks\n");
		abort();
	}
	*cq = &from->waiting[0]->verbs;
	*cq_context = (*cq)->cq_context;
	from->waiting[0]->comp_events++;
	channel_drop(from, 0);
	return fake_return_minus(call, 0);
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	fake_enter(FAKE_ACK_CQ_EVENTS, cq)->index = nevents;
	fake_cq(cq)->comp_events -= (int)nevents;
	if (fake_cq(cq)->comp_events < 0) {
		fprintf(stderr, "fake: an event is acknowledged that nobody has read\n");
		abort();
	}
}
