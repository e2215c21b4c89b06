/* SPDX-License-Identifier: MIT */
/*
 * Connections over iWARP. Its queue pairs enter RTS through librdmacm only, which is told their numbers and
 * otherwise leaves them to the test. Both ends are this process.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <arpa/inet.h>
#include <poll.h>

#include <rdma/rdma_cma.h>

#include "rig.h"

/* The device, and where its connections are made. */
struct net {
	struct rig rig;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct sockaddr_in address;
};

/* Two queue pairs, and how they are connected; NULL where they are not. */
struct connection {
	struct side *near, *far;
	struct rdma_cm_id *active, *passive;
	int sends; /* that were accepted */
};

/* The next event, which must be of this type; its identifier. */
static inline struct rdma_cm_id *net_await(struct net *net, enum rdma_cm_event_type type)
{
	struct pollfd readable = {.fd = net->channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (poll(&readable, 1, RIG_SECONDS * 1000) != 1 || rdma_get_cm_event(net->channel, &event))
		tap_bail("no event %s", rdma_event_str(type));
	id = event->id;
	if (event->event != type)
		tap_bail("event %s, status %d, for %s", rdma_event_str(event->event), event->status,
			 rdma_event_str(type));
	rdma_ack_cm_event(event);
	return id;
}

static inline void net_must(int returned, const char *call)
{
	if (returned)
		tap_bail("%s: %s", call, strerror(errno));
}

static inline struct net net_open(void)
{
	struct net net = {.rig = rig_open_device("siw"), .address = {.sin_family = AF_INET}};

	inet_pton(AF_INET, "192.0.2.1", &net.address.sin_addr);
	net.channel = rdma_create_event_channel();
	rig_need(net.channel, "rdma_create_event_channel");
	net_must(rdma_create_id(net.channel, &net.listener, NULL, RDMA_PS_TCP), "rdma_create_id");
	net_must(rdma_bind_addr(net.listener, (struct sockaddr *)&net.address), "rdma_bind_addr");
	net_must(rdma_listen(net.listener, 8), "rdma_listen");
	net.address.sin_port = rdma_get_src_port(net.listener);
	return net;
}

static inline void net_close(struct net *net)
{
	rdma_destroy_id(net->listener);
	rdma_destroy_event_channel(net->channel);
	rig_close(&net->rig);
}

/* Two queue pairs that nothing connects. */
static inline struct connection connection_none(struct net *net)
{
	return (struct connection){.near = side_open(&net->rig, IBV_QPT_RC),
				   .far = side_open(&net->rig, IBV_QPT_RC)};
}

/* Connects two queue pairs that are not connected. */
static inline void connection_join(struct net *net, struct connection *c)
{
	struct rdma_conn_param param = {.responder_resources = 4, .initiator_depth = 4};

	net_must(rdma_create_id(net->channel, &c->active, NULL, RDMA_PS_TCP), "rdma_create_id");
	net_must(rdma_resolve_addr(c->active, NULL, (struct sockaddr *)&net->address,
				   RIG_SECONDS * 1000),
		 "rdma_resolve_addr");
	net_await(net, RDMA_CM_EVENT_ADDR_RESOLVED);
	net_must(rdma_resolve_route(c->active, RIG_SECONDS * 1000), "rdma_resolve_route");
	net_await(net, RDMA_CM_EVENT_ROUTE_RESOLVED);
	param.qp_num = c->near->qp->qp_num;
	net_must(rdma_connect(c->active, &param), "rdma_connect");
	c->passive = net_await(net, RDMA_CM_EVENT_CONNECT_REQUEST);
	param.qp_num = c->far->qp->qp_num;
	net_must(rdma_accept(c->passive, &param), "rdma_accept");
	net_await(net, RDMA_CM_EVENT_ESTABLISHED);
	net_await(net, RDMA_CM_EVENT_ESTABLISHED);
}

static inline struct connection connection_open(struct net *net)
{
	struct connection c = connection_none(net);

	connection_join(net, &c);
	return c;
}

/* The queue pairs of a connection are gone: so is the rest of it. Its last events are of no interest. */
static inline void connection_forget(struct net *net, struct connection *c)
{
	struct pollfd readable = {.fd = net->channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;

	while (c->active && poll(&readable, 1, 0) == 1 &&
	       rdma_get_cm_event(net->channel, &event) == 0)
		rdma_ack_cm_event(event);
	if (c->active) {
		rdma_destroy_id(c->active);
		rdma_destroy_id(c->passive);
	}
	c->active = c->passive = NULL;
}

/* Ends a connection, in whatever way it went. */
static inline void connection_close(struct net *net, struct connection *c)
{
	if (c->active) {
		rdma_disconnect(c->active);
		rdma_disconnect(c->passive);
	}
	side_close(c->near);
	side_close(c->far);
	connection_forget(net, c);
	memset(c, 0, sizeof(*c));
}

#endif
