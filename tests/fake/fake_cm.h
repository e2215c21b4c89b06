/* SPDX-License-Identifier: MIT */
/*
 * A librdmacm for one test program, which follows a script. Each call makes the event that the library would, or the one
 * that fake_cm.answer has in its place, or none; or it fails with the errno value of fake_cm.fail. Events wait in a queue
 * for each channel, whose descriptor is readable meanwhile.
 */
#ifndef FAKE_CM_H
#define FAKE_CM_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "fake_verbs.h"

enum fake_cm_call {
	FAKE_CM_CHANNEL,
	FAKE_CM_ID,
	FAKE_CM_BIND,
	FAKE_CM_LISTEN,
	FAKE_CM_ADDR,
	FAKE_CM_ROUTE,
	FAKE_CM_QP,
	FAKE_CM_CONNECT,
	FAKE_CM_ACCEPT,
	FAKE_CM_REJECT,
	FAKE_CM_DISCONNECT,
	FAKE_CM_GET,
	FAKE_CM_MIGRATE,
	FAKE_CM_OPTION,
	FAKE_CM_CALLS
};

enum {
	FAKE_CM_NONE = -1
}; /* in place of an event: nothing comes */

struct fake_cm_event {
	struct rdma_cm_event event;
	struct fake_cm_event *next;
	char data[256];
};

struct fake_cm_channel {
	struct rdma_event_channel channel;
	int write_end;
	struct fake_cm_event *first;
};

static struct {
	struct ibv_context *context; /* of every id that is resolved or requested */
	int fail[FAKE_CM_CALLS];     /* this errno value */
	int fails[FAKE_CM_CALLS];    /* so often; 0: each time */
	int count[FAKE_CM_CALLS];    /* calls */
	struct {
		bool is;
		int type, status;
		const char *data;
	} answer[FAKE_CM_CALLS];
	int ids, channels, events;    /* that are there; events are those not acknowledged */
	struct rdma_conn_param param; /* of the last rdma_connect() or rdma_accept() */
	char data[256];               /* its private data, or those of rdma_reject() */
	size_t length;
	uint8_t timeout, tos; /* RDMA_OPTION_ID_ACK_TIMEOUT and TOS; 0xff: not set */
	int backlog, timeout_ms;
	bool was_blocking; /* at an rdma_get_cm_event() */
	const struct sockaddr *source;
} fake_cm;

static inline void fake_cm_reset(struct ibv_context *context)
{
	memset(&fake_cm, 0, sizeof(fake_cm));
	fake_cm.context = context;
	fake_cm.timeout = fake_cm.tos = 0xff;
}

/* Whether the call fails now; counts it. */
static inline bool fake_cm_fails(enum fake_cm_call call)
{
	fake_cm.count[call]++;
	errno = fake_cm.fail[call];
	if (errno && fake_cm.fails[call] && --fake_cm.fails[call] == 0)
		fake_cm.fail[call] = 0;
	return errno != 0;
}

static inline void fake_cm_fail(enum fake_cm_call call, int error, int times)
{
	fake_cm.fail[call] = error;
	fake_cm.fails[call] = times;
}

static inline void fake_cm_answer(enum fake_cm_call call, int type, int status, const char *data)
{
	fake_cm.answer[call].is = true;
	fake_cm.answer[call].type = type;
	fake_cm.answer[call].status = status;
	fake_cm.answer[call].data = data;
}

/* An event for a channel; with `listener`, a request for that, of a new id. */
static inline struct rdma_cm_event *fake_cm_event(struct rdma_cm_id *id, int type, int status,
						  const char *data)
{
	struct fake_cm_channel *const channel = (struct fake_cm_channel *)(void *)id->channel;
	struct fake_cm_event *const made = (struct fake_cm_event *)calloc(1, sizeof(*made));
	struct fake_cm_event **at = &channel->first;

	made->event.id = id;
	made->event.event = (enum rdma_cm_event_type)type;
	made->event.status = status;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		made->event.listen_id = id;
		made->event.id = (struct rdma_cm_id *)calloc(1, sizeof(*id));
		*made->event.id = (struct rdma_cm_id){.verbs = fake_cm.context,
						      .channel = id->channel,
						      .ps = RDMA_PS_TCP,
						      .qp_type = IBV_QPT_RC};
		fake_cm.ids++;
	}
	if (data) {
		strcpy(made->data, data);
		made->event.param.conn.private_data = made->data;
		made->event.param.conn.private_data_len = (uint8_t)strlen(data);
	}
	made->event.param.conn.responder_resources = 3;
	made->event.param.conn.initiator_depth = 5;
	while (*at)
		at = &(*at)->next;
	*at = made;
	if (write(channel->write_end, "", 1) != 1)
		abort();
	return &made->event;
}

/* What comes of a call: the script's event, else the library's; FAKE_CM_NONE: none. */
static inline int fake_cm_done(enum fake_cm_call call, struct rdma_cm_id *id, int type)
{
	const char *data = "peer";
	int status = 0;

	if (fake_cm.answer[call].is) {
		type = fake_cm.answer[call].type;
		status = fake_cm.answer[call].status;
		data = fake_cm.answer[call].data;
	}
	if (type != FAKE_CM_NONE)
		fake_cm_event(id, type, status, data);
	if (type == RDMA_CM_EVENT_ESTABLISHED || call == FAKE_CM_ACCEPT) {
		fake_qp_force(id->qp, IBV_QPS_RTS);
		id->qp->state = IBV_QPS_RTS;
	}
	return 0;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct fake_cm_channel *made;
	int ends[2];

	if (fake_cm_fails(FAKE_CM_CHANNEL))
		return NULL;
	made = (struct fake_cm_channel *)calloc(1, sizeof(*made));
	if (pipe(ends))
		abort();
	made->channel.fd = ends[0];
	made->write_end = ends[1];
	fake_cm.channels++;
	return &made->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	struct fake_cm_channel *const is = (struct fake_cm_channel *)(void *)channel;

	close(channel->fd);
	close(is->write_end);
	free(is);
	fake_cm.channels--;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	if (fake_cm_fails(FAKE_CM_ID))
		return -1;
	*id = (struct rdma_cm_id *)calloc(1, sizeof(**id));
	**id = (struct rdma_cm_id){
		.channel = channel, .context = context, .ps = ps, .qp_type = IBV_QPT_RC};
	fake_cm.ids++;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	free(id);
	fake_cm.ids--;
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	id->route.addr.src_addr.sa_family = addr->sa_family;
	return fake_cm_fails(FAKE_CM_BIND) ? -1 : 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	(void)id;
	fake_cm.backlog = backlog;
	return fake_cm_fails(FAKE_CM_LISTEN) ? -1 : 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to,
		      int timeout_ms)
{
	id->route.addr.dst_addr.sa_family = to->sa_family;
	fake_cm.source = from;
	fake_cm.timeout_ms = timeout_ms;
	if (fake_cm_fails(FAKE_CM_ADDR))
		return -1;
	id->verbs = fake_cm.context;
	return fake_cm_done(FAKE_CM_ADDR, id, RDMA_CM_EVENT_ADDR_RESOLVED);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	fake_cm.timeout_ms = timeout_ms;
	return fake_cm_fails(FAKE_CM_ROUTE)
		       ? -1
		       : fake_cm_done(FAKE_CM_ROUTE, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	if (fake_cm_fails(FAKE_CM_QP))
		return -1;
	/* The library has a domain for each device. */
	id->qp = ibv_create_qp(pd ? pd : ibv_alloc_pd(id->verbs), init);
	if (!id->qp)
		return -1;
	fake_qp_force(id->qp, IBV_QPS_INIT);
	id->qp->state = IBV_QPS_INIT;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	ibv_destroy_qp(id->qp);
	id->qp = NULL;
}

static inline void fake_cm_keep(const struct rdma_conn_param *param)
{
	fake_cm.param = *param;
	fake_cm.length = param->private_data_len;
	if (param->private_data)
		memcpy(fake_cm.data, param->private_data, fake_cm.length);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	fake_cm_keep(param);
	return fake_cm_fails(FAKE_CM_CONNECT)
		       ? -1
		       : fake_cm_done(FAKE_CM_CONNECT, id, RDMA_CM_EVENT_ESTABLISHED);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	fake_cm_keep(param);
	return fake_cm_fails(FAKE_CM_ACCEPT)
		       ? -1
		       : fake_cm_done(FAKE_CM_ACCEPT, id, RDMA_CM_EVENT_ESTABLISHED);
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length)
{
	(void)id;
	fake_cm.length = length;
	if (data)
		memcpy(fake_cm.data, data, length);
	return fake_cm_fails(FAKE_CM_REJECT) ? -1 : 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	return fake_cm_fails(FAKE_CM_DISCONNECT)
		       ? -1
		       : fake_cm_done(FAKE_CM_DISCONNECT, id, RDMA_CM_EVENT_DISCONNECTED);
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	if (fake_cm_fails(FAKE_CM_MIGRATE))
		return -1;
	id->channel = channel;
	return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t length)
{
	(void)id;
	if (fake_cm_fails(FAKE_CM_OPTION))
		return -1;
	if (level != RDMA_OPTION_ID || length != 1)
		abort();
	memcpy(name == RDMA_OPTION_ID_TOS ? &fake_cm.tos : &fake_cm.timeout, value, 1);
	return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct fake_cm_channel *const is = (struct fake_cm_channel *)(void *)channel;
	char byte;

	if (!(fcntl(channel->fd, F_GETFL) & O_NONBLOCK))
		fake_cm.was_blocking = true;
	if (fake_cm_fails(FAKE_CM_GET))
		return -1;
	if (!is->first) {
		errno = EAGAIN;
		return -1;
	}
	if (read(channel->fd, &byte, 1) != 1)
		abort();
	*event = &is->first->event;
	is->first = is->first->next;
	fake_cm.events++;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	free(event);
	fake_cm.events--;
	return 0;
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		"RDMA_CM_EVENT_ADDR_RESOLVED",   "RDMA_CM_EVENT_ADDR_ERROR",
		"RDMA_CM_EVENT_ROUTE_RESOLVED",  "RDMA_CM_EVENT_ROUTE_ERROR",
		"RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
		"RDMA_CM_EVENT_CONNECT_ERROR",   "RDMA_CM_EVENT_UNREACHABLE",
		"RDMA_CM_EVENT_REJECTED",        "RDMA_CM_EVENT_ESTABLISHED",
		"RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
		"RDMA_CM_EVENT_MULTICAST_JOIN",  "RDMA_CM_EVENT_MULTICAST_ERROR",
		"RDMA_CM_EVENT_ADDR_CHANGE",     "RDMA_CM_EVENT_TIMEWAIT_EXIT",
	};

	return names[event];
}

#endif
