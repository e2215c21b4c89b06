/* SPDX-License-Identifier: MIT */
/* Implements cm.h. */
#ifndef RDMAEZ_IMPL_CM_H
#define RDMAEZ_IMPL_CM_H

#ifndef RDMAEZ_CM_H
#include "../cm.h"
#endif

#ifndef RDMAEZ_IMPL_CM_ROW_H
#include "cm_row.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <fcntl.h>
#include <sys/socket.h>

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_EXCHANGE_H
#include "exchange.h"
#endif
#ifndef RDMAEZ_IMPL_QP_H
#include "qp.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- What librdmacm refuses ---------------------------------------------------------------------- */

/*
 * Returns the errno value of a call that was refused. `cause` is what the arguments tell, one of
 * cm_row.h, or 0 for nothing more.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_failed(struct rdmaez_diag *diag, int error, const char *call,
					   int cause)
{
	(void)rdmaez_impl_failed(diag, error, call);
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_cm_explain,
			    (diag, call, cause ? cause : error, false));
	return error;
}

/* Does the same for an answer of librdmacm's: -1 and errno, or 0. */
RDMAEZ_IMPL int rdmaez_impl_cm_call(struct rdmaez_diag *diag, int returned, const char *call)
{
	return returned ? rdmaez_impl_cm_failed(diag, rdmaez_impl_error(returned), call, 0) : 0;
}

/*
 * Begins a record. Every function with an id uses one of the program's channels, which a
 * synchronous id does not have.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_begin(const struct rdma_cm_id *id, const char *call,
					  const char *missing, struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, call);
	if (missing)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	if (id && id->event)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_CM_SYNC, "id->channel");
	if (id && id->verbs)
		rdmaez_impl_diag_device(diag, id->verbs);
	if (id && id->qp)
		rdmaez_impl_diag_qp(diag, id->qp);
	errno = 0;
	return 0;
}

RDMAEZ_IMPL bool rdmaez_impl_cm_is_iwarp(const struct rdma_cm_id *id)
{
	return id->verbs && id->verbs->device &&
	       id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

RDMAEZ_COLD int rdmaez_cm_channel_create(struct rdma_event_channel **channel,
					 struct rdmaez_diag *diag)
{
	int error = rdmaez_impl_cm_begin(NULL, "rdmaez_cm_channel_create",
					 channel ? NULL : "channel", diag);
	struct rdma_event_channel *made;

	if (error)
		return error;
	made = rdma_create_event_channel();
	if (!made)
		return rdmaez_impl_cm_call(diag, -1, "rdma_create_event_channel");
	*channel = made;
	return 0;
}

/* ---- Events ---------------------------------------------------------------------------------------- */

/*
 * Returns a failure's errno value by its status, which is a negative one, or none. librdmacm's own
 * failures are -1.
 */
RDMAEZ_IMPL int rdmaez_impl_cm_status(int status)
{
	return status < -1 ? -status : status > 0 ? ECONNREFUSED : EIO;
}

/* Returns the errno value of an event, or 0 if it is not a failure. */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_event_error(const struct rdma_cm_event *event)
{
	switch ((int)event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		return rdmaez_impl_cm_status(event->status);
	case RDMA_CM_EVENT_REJECTED:
		return ECONNREFUSED;
	case RDMA_CM_EVENT_DISCONNECTED:
		return ECONNRESET;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return ENODEV;
	default:
		return 0;
	}
}

/* Notes an event that is a failure, and returns its errno value. */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_event_failed(const struct rdma_cm_event *event,
						 struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_cm_event_error(event);

	if (!error || !diag)
		return error;
	diag->error = error;
	diag->event = rdma_event_str(event->event);
	if (event->event == RDMA_CM_EVENT_DISCONNECTED)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_CM_DISCONNECTED, "status");
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_cm_explain, (diag, diag->event, event->status, true));
	return error;
}

RDMAEZ_COLD int rdmaez_cm_event_explain(const struct rdma_cm_event *event, struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_cm_event_explain");
	if (!event)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "event");
	if (event->id && event->id->verbs)
		rdmaez_impl_diag_device(diag, event->id->verbs);
	if (event->id && event->id->qp)
		rdmaez_impl_diag_qp(diag, event->id->qp);
	return rdmaez_impl_cm_event_failed(event, diag);
}

RDMAEZ_COLD void rdmaez_cm_event_peer(const struct rdma_cm_event *event,
				      struct rdmaez_cm_peer *peer)
{
	const struct rdma_conn_param *const conn = &event->param.conn;

	memset(peer, 0, sizeof(*peer));
	peer->responder_resources = conn->responder_resources;
	peer->initiator_depth = conn->initiator_depth;
	peer->length = conn->private_data ? conn->private_data_len : 0;
	if (peer->length)
		memcpy(peer->data, conn->private_data, peer->length);
}

/*
 * Takes the next event of a channel. Returns 0, ETIMEDOUT, or why there is none. librdmacm may read
 * an event and pass over it, and would then wait for another without a deadline. So the descriptor
 * does not block meanwhile.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_take(struct rdma_event_channel *channel, uint64_t deadline,
					 struct rdma_cm_event **event)
{
	const int flags = fcntl(channel->fd, F_GETFL);
	int error;

	if (flags < 0 || (!(flags & O_NONBLOCK) && fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK)))
		return rdmaez_impl_error(-1);
	do {
		error = rdmaez_impl_wait(channel->fd, POLLIN, deadline);
		errno = 0;
		if (!error && rdma_get_cm_event(channel, event))
			error = rdmaez_impl_error(-1);
	} while ((error == EAGAIN || error == EINTR) && rdmaez_impl_left(deadline));
	if (!(flags & O_NONBLOCK))
		(void)fcntl(channel->fd, F_SETFL, flags);
	return error == EAGAIN || error == EINTR ? ETIMEDOUT : error;
}

/*
 * Does the same, and explains if no event comes. If one may come or not, `is_free`, then a look that
 * finds none returns EAGAIN, and has not failed.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_next(struct rdma_event_channel *channel, uint64_t deadline,
					 bool is_free, struct rdma_cm_event **event,
					 struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_cm_take(channel, deadline, event);

	if (error == ETIMEDOUT && is_free && !deadline)
		return rdmaez_impl_failed(diag, EAGAIN, NULL);
	if (error == ETIMEDOUT)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_CM_DEADLINE, "timeout_ns");
	return error ? rdmaez_impl_cm_failed(diag, error, "rdma_get_cm_event", 0) : 0;
}

RDMAEZ_COLD int rdmaez_cm_event_next(struct rdma_event_channel *channel, uint64_t timeout_ns,
				     struct rdma_cm_event **event, struct rdmaez_diag *diag)
{
	const char *const missing = !channel ? "channel" : event ? NULL : "event";
	int error = rdmaez_impl_cm_begin(NULL, "rdmaez_cm_event_next", missing, diag);
	struct rdma_cm_event *next;

	if (!error)
		error = rdmaez_impl_cm_next(channel, rdmaez_impl_until(timeout_ns), true, &next,
					    diag);
	if (!error)
		*event = next;
	return error;
}

/* Notes an event of an id that nobody waits for here. It is lost, and a request with it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_foreign(struct rdma_cm_event *event, struct rdmaez_diag *diag)
{
	struct rdma_cm_id *const request =
		event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : NULL;

	rdma_ack_cm_event(event);
	if (request)
		rdma_destroy_id(request);
	return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_CM_CHANNEL_SHARED, "id->channel");
}

/*
 * Waits for an event of an id, whose channel has no other. Returns 0, or what came in its place.
 * Events that are neither wanted nor a failure are passed over. On success, and from a refusal, the
 * peer's data are copied. From a request, it takes the new id.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_await(struct rdma_cm_id *id, enum rdma_cm_event_type wanted,
					  uint64_t deadline, struct rdma_cm_id **request,
					  struct rdmaez_cm_peer *peer, struct rdmaez_diag *diag)
{
	struct rdma_cm_event *event = NULL;
	int error;

	for (;;) {
		bool is_it, is_answer;

		error = rdmaez_impl_cm_next(id->channel, deadline, request != NULL, &event, diag);
		if (error)
			return error;
		if (request ? event->listen_id != id && event->id != id : event->id != id)
			return rdmaez_impl_cm_foreign(event, diag);
		is_it = event->event == wanted;
		is_answer = is_it || event->event == RDMA_CM_EVENT_REJECTED;
		if (is_it && request)
			*request = event->id;
		if (is_answer && peer)
			rdmaez_cm_event_peer(event, peer);
		error = is_it ? 0 : rdmaez_impl_cm_event_failed(event, diag);
		rdma_ack_cm_event(event);
		if (is_it || error)
			return error;
	}
}

/* ---- Addresses --------------------------------------------------------------------------------------- */

/*
 * Returns the time that is left in ms, and less than all of it, so that librdmacm says what is
 * wrong before the time is over.
 */
RDMAEZ_IMPL int rdmaez_impl_cm_ms(uint64_t deadline)
{
	const uint64_t left = rdmaez_impl_left(deadline), ms = (left - left / 8) / 1000000;

	return ms > INT32_MAX ? INT32_MAX : ms ? (int)ms : 1;
}

/*
 * Returns what the arguments tell of a refusal. A link-local address names no interface, unless it
 * has a scope: bytes 8 and 24 of a sockaddr_in6.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_cause(int error, const struct sockaddr *to,
					  const struct sockaddr *from)
{
	const uint8_t *const bytes = (const uint8_t *)to;
	uint32_t scope;

	if (error != EINVAL)
		return 0;
	if (from && from->sa_family != to->sa_family)
		return RDMAEZ_IMPL_CM_IS_FAMILIES;
	if (to->sa_family != AF_INET6 || bytes[8] != 0xfe || (bytes[9] & 0xc0) != 0x80)
		return 0;
	memcpy(&scope, bytes + 24, sizeof(scope));
	return scope ? 0 : RDMAEZ_IMPL_CM_IS_SCOPE;
}

/* Resolves address and route of an id, and waits for the event of each. */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_reach(struct rdma_cm_id *id, struct sockaddr *to,
					  const struct rdmaez_cm_opts *opts, uint64_t deadline,
					  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site range = {"traffic_class", RDMAEZ_WHY_RANGE,
						      RDMAEZ_VALUE_NUMBER, 0, UINT8_MAX};
	const int given = opts->qp ? opts->qp->path.traffic_class : 0;
	uint8_t tos = (uint8_t)given;
	struct sockaddr *from = NULL;
	int error = 0;

	if (given < 0 || given > UINT8_MAX)
		return rdmaez_impl_refuse_at(diag, EINVAL, &range, given);
	/* librdmacm does not change it. */
	memcpy(&from, &opts->source, sizeof(from));
	if (tos)
		error = rdmaez_impl_cm_call(
			diag,
			rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)),
			"rdma_set_option");
	if (!error && rdma_resolve_addr(id, from, to, rdmaez_impl_cm_ms(deadline))) {
		error = rdmaez_impl_failed(diag, rdmaez_impl_error(-1), "rdma_resolve_addr");
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_cm_explain_address,
				    (diag, to, rdmaez_impl_cm_cause(error, to, from)));
	}
	if (!error)
		error = rdmaez_impl_cm_await(id, RDMA_CM_EVENT_ADDR_RESOLVED, deadline, NULL, NULL,
					     diag);
	if (!error && id->verbs)
		rdmaez_impl_diag_device(diag, id->verbs);
	if (!error)
		error = rdmaez_impl_cm_call(diag,
					    rdma_resolve_route(id, rdmaez_impl_cm_ms(deadline)),
					    "rdma_resolve_route");
	return error ? error
		     : rdmaez_impl_cm_await(id, RDMA_CM_EVENT_ROUTE_RESOLVED, deadline, NULL, NULL,
					    diag);
}

/* Creates an id on a channel. */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_new(struct rdma_event_channel *channel, struct rdma_cm_id **id,
					struct rdmaez_diag *diag)
{
	return rdmaez_impl_cm_call(diag, rdma_create_id(channel, id, NULL, RDMA_PS_TCP),
				   "rdma_create_id");
}

RDMAEZ_COLD int rdmaez_cm_resolve(struct rdma_event_channel *channel, const char *host,
				  const char *service, const struct rdmaez_cm_opts *opts,
				  struct rdma_cm_id **id, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_cm_resolve";
	const char *const missing = !channel   ? "channel"
				    : !host    ? "host"
				    : !service ? "service"
				    : !id      ? "id"
					       : NULL;
	const uint64_t deadline = rdmaez_impl_until(opts ? opts->timeout_ns : 0);
	int error = rdmaez_impl_cm_begin(NULL, call, missing, diag);
	struct rdmaez_impl_addrinfo *list;
	struct rdma_cm_id *made = NULL;
	struct rdmaez_cm_opts none;
	uint64_t left, rest = 0;

	memset(&none, 0, sizeof(none));
	if (!error)
		error = rdmaez_impl_exchange_resolve(host, service, &list, diag);
	if (error)
		return error;
	for (const struct rdmaez_impl_addrinfo *at = list; at; at = at->next)
		rest++;
	/* Each address has its part of the time that is left. */
	for (const struct rdmaez_impl_addrinfo *at = list; at; at = at->next, rest--) {
		rdmaez_impl_diag_reset(diag, call);
		left = rdmaez_impl_left(deadline);
		error = rdmaez_impl_cm_new(channel, &made, diag);
		if (error)
			break;
		error = rdmaez_impl_cm_reach(made, at->address, opts ? opts : &none,
					     deadline - (left - left / rest), diag);
		if (!error)
			break;
		rdma_destroy_id(made);
	}
	rdmaez_impl_freeaddrinfo(list);
	if (!error)
		*id = made;
	return error;
}

RDMAEZ_COLD int rdmaez_cm_qp_create(struct rdma_cm_id *id, struct ibv_pd *pd,
				    struct ibv_qp_init_attr *init_attr, struct rdmaez_diag *diag)
{
	static const char verb[] = "rdma_create_qp";
	int error, cause;

	rdmaez_impl_diag_reset(diag, "rdmaez_cm_qp_create");
	if (!id || !init_attr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  id ? "init_attr" : "id");
	cause = id->qp                           ? RDMAEZ_IMPL_CM_IS_HAS_QP
		: !id->verbs                     ? RDMAEZ_IMPL_CM_IS_NO_DEVICE
		: pd && pd->context != id->verbs ? RDMAEZ_IMPL_CM_IS_OTHER_PD
						 : 0;
	if (cause)
		return rdmaez_impl_cm_failed(diag, EINVAL, verb, cause);
	rdmaez_impl_diag_device(diag, id->verbs);
	errno = 0;
	if (!rdma_create_qp(id, pd, init_attr)) {
		rdmaez_impl_diag_qp(diag, id->qp);
		return 0;
	}
	error = rdmaez_impl_failed(diag, rdmaez_impl_error(-1), verb);
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_create_explain,
			    (id->verbs, init_attr, pd, true, diag));
	return error;
}

/* ---- Connecting -------------------------------------------------------------------------------------- */

/*
 * Fills the timers and depths, by the options of queue pairs. Their other options are not for
 * librdmacm.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_fill(struct rdma_cm_id *id,
					 const struct rdmaez_cm_peer *request,
					 const struct rdmaez_qp_opts *qp,
					 struct rdma_conn_param *param, uint8_t *timeout,
					 struct rdmaez_diag *diag)
{
	struct ibv_device_attr device;
	struct rdmaez_qp_move rtr, rts;
	struct rdmaez_qp_opts opts;
	unsigned int depth, most;
	int error;

	memset(&device, 0, sizeof(device));
	memset(&opts, 0, sizeof(opts));
	if (qp) {
		opts.timeout = qp->timeout;
		opts.retry_cnt = qp->retry_cnt;
		opts.rnr_retry = qp->rnr_retry;
		opts.min_rnr_timer = qp->min_rnr_timer;
		opts.max_rd_atomic = qp->max_rd_atomic;
		opts.max_dest_rd_atomic = qp->max_dest_rd_atomic;
	}
	opts.device_attr = &device;
	error = rdmaez_impl_verb(diag, ibv_query_device(id->verbs, &device), "ibv_query_device");
	if (!error)
		error = rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &rtr, diag);
	if (!error)
		error = rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, &opts, &rts, diag);
	if (error)
		return error;
	depth = rts.attr.max_rd_atomic;
	most = rtr.attr.max_dest_rd_atomic;
	/* An end may not have more READs in flight than the other has room for. */
	if (request && depth > request->initiator_depth)
		depth = request->initiator_depth;
	if (request && most > request->responder_resources)
		most = request->responder_resources;
	memset(param, 0, sizeof(*param));
	param->initiator_depth = (uint8_t)depth;
	param->responder_resources = (uint8_t)most;
	param->retry_count = rts.attr.retry_cnt;
	param->rnr_retry_count = rts.attr.rnr_retry;
	param->flow_control = 1;
	*timeout = rts.attr.timeout;
	return 0;
}

/* Does what rdmaez_cm_prepare() does, once there is a record. */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_prepare(struct rdma_cm_id *id,
					    const struct rdmaez_cm_peer *request,
					    const struct rdmaez_cm_opts *opts,
					    struct rdma_conn_param *param, struct rdmaez_diag *diag)
{
	static const char field[] = "conn_param->private_data_len";
	const size_t room = rdmaez_impl_cm_is_iwarp(id) ? UINT8_MAX
			    : request                   ? RDMAEZ_CM_ANSWER_BYTES
							: RDMAEZ_CM_REQUEST_BYTES;
	const struct rdmaez_impl_site bytes = {field, RDMAEZ_WHY_CM_PRIVATE_DATA,
					       RDMAEZ_VALUE_BYTES, 0, (int64_t)room};
	const struct rdmaez_qp_opts *const qp = opts ? opts->qp : NULL;
	const size_t length = opts && opts->data ? opts->data_length : 0;
	const char *const call = diag ? diag->call : NULL;
	uint8_t timeout;
	int error;

	if (length > room)
		return rdmaez_impl_refuse_at(diag, EINVAL, &bytes, (int64_t)length);
	error = rdmaez_impl_cm_fill(id, request, qp, param, &timeout, diag);
	if (diag)
		diag->call = call;
	if (error)
		return error;
	rdmaez_impl_diag_reset(diag, call);
	rdmaez_impl_diag_device(diag, id->verbs);
	if (id->qp)
		rdmaez_impl_diag_qp(diag, id->qp);
	param->private_data = length ? opts->data : NULL;
	param->private_data_len = (uint8_t)length;
	if (id->qp_type != IBV_QPT_RC)
		return 0;
	errno = 0;
	/* Linux has it since 5.1. */
	if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			    sizeof(timeout)) &&
	    (errno != ENOSYS || (qp && qp->timeout)))
		return rdmaez_impl_cm_call(diag, -1, "rdma_set_option");
	return 0;
}

RDMAEZ_COLD int rdmaez_cm_prepare(struct rdma_cm_id *id, const struct rdmaez_cm_peer *request,
				  const struct rdmaez_cm_opts *opts, struct rdma_conn_param *param,
				  struct rdmaez_diag *diag)
{
	struct rdma_conn_param filled;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_cm_prepare");
	if (!id || !param)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  id ? "param" : "id");
	if (!id->verbs)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_CM_STATE, "id->verbs");
	error = rdmaez_impl_cm_prepare(id, request, opts, &filled, diag);
	if (!error)
		*param = filled;
	return error;
}

/* Does what rdmaez_cm_tune() does. The record keeps the call that it names. */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_tune(struct rdma_cm_id *id, const struct rdmaez_qp_opts *qp,
					 struct rdmaez_diag *diag)
{
	const char *const call = diag ? diag->call : NULL;
	const int asked = qp ? qp->min_rnr_timer : 0;
	struct rdmaez_qp_opts opts;
	int error;

	if (id->qp->qp_type != IBV_QPT_RC || rdmaez_impl_cm_is_iwarp(id))
		return 0;
	memset(&opts, 0, sizeof(opts));
	opts.optional = IBV_QP_MIN_RNR_TIMER;
	opts.min_rnr_timer = asked;
	error = rdmaez_qp_to_rts(id->qp, &opts, asked ? diag : NULL);
	if (asked && diag)
		diag->call = call;
	return asked ? error : 0;
}

RDMAEZ_COLD int rdmaez_cm_tune(struct rdma_cm_id *id, const struct rdmaez_cm_opts *opts,
			       struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_cm_tune");
	if (!id)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "id");
	if (!id->qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_CM_STATE, "id->qp");
	rdmaez_impl_diag_qp(diag, id->qp);
	return rdmaez_impl_cm_tune(id, opts ? opts->qp : NULL, diag);
}

/* Begins to connect or to accept: checks that there is an id with a queue pair. */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_ready(const struct rdma_cm_id *id, const char *call,
					  const char *missing, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_cm_begin(id, call, missing, diag);

	if (!error && (!id->verbs || !id->qp))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_CM_STATE,
					  id->verbs ? "id->qp" : "id->verbs");
	return error;
}

RDMAEZ_COLD int rdmaez_cm_connect(struct rdma_cm_id *id, const struct rdmaez_cm_opts *opts,
				  struct rdmaez_cm_peer *peer, struct rdmaez_diag *diag)
{
	const uint64_t deadline = rdmaez_impl_until(opts ? opts->timeout_ns : 0);
	int error = rdmaez_impl_cm_ready(id, "rdmaez_cm_connect", id ? NULL : "id", diag);
	struct rdma_conn_param param;

	if (!error)
		error = rdmaez_impl_cm_prepare(id, NULL, opts, &param, diag);
	if (!error)
		error = rdmaez_impl_cm_call(diag, rdma_connect(id, &param), "rdma_connect");
	if (!error)
		error = rdmaez_impl_cm_await(id, RDMA_CM_EVENT_ESTABLISHED, deadline, NULL, peer,
					     diag);
	return error ? error : rdmaez_impl_cm_tune(id, opts ? opts->qp : NULL, diag);
}

/* ---- Listening --------------------------------------------------------------------------------------- */

/* Listens at one address. The kernel also returns EADDRNOTAVAIL if another id holds the port. */
RDMAEZ_IMPL_COLD int rdmaez_impl_cm_bind(struct rdma_cm_id *id, struct sockaddr *at, bool is_any,
					 int backlog, struct rdmaez_diag *diag)
{
	int error;

	if (rdma_bind_addr(id, at)) {
		error = rdmaez_impl_error(-1);
		return rdmaez_impl_cm_failed(diag, error, "rdma_bind_addr",
					     error == EADDRNOTAVAIL && is_any
						     ? RDMAEZ_IMPL_CM_IS_PORT_TAKEN
						     : rdmaez_impl_cm_cause(error, at, NULL));
	}
	return rdmaez_impl_cm_call(diag, rdma_listen(id, backlog), "rdma_listen");
}

/*
 * Returns whether the host has a device (siw, irdma, cxgb4) over which a listener at every IPv6
 * address takes no IPv4.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_cm_has_iwarp(void)
{
	struct ibv_device **const list = ibv_get_device_list(NULL);
	bool has = false;

	for (struct ibv_device **at = list; at && *at; at++)
		has = has || (*at)->transport_type == IBV_TRANSPORT_IWARP;
	if (list)
		ibv_free_device_list(list);
	return has;
}

RDMAEZ_COLD int rdmaez_cm_listen(struct rdma_event_channel *channel, const char *host,
				 const char *service, const struct rdmaez_cm_opts *opts,
				 struct rdma_cm_id **listener, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_cm_listen";
	const char *const missing = !channel    ? "channel"
				    : !service  ? "service"
				    : !listener ? "listener"
						: NULL;
	int error = rdmaez_impl_cm_begin(NULL, call, missing, diag), found = EAFNOSUPPORT;
	const int backlog = opts ? opts->backlog : 0;
	struct rdmaez_impl_addrinfo *list;
	struct rdma_cm_id *made = NULL;

	if (!error)
		error = rdmaez_impl_exchange_resolve(host, service, &list, diag);
	if (error)
		return error;
	/* IPv6 comes first. If it listens at every address, it takes IPv4 as well. */
	for (int family = !host && rdmaez_impl_cm_has_iwarp() ? AF_INET : AF_INET6; found;
	     family = AF_INET) {
		for (const struct rdmaez_impl_addrinfo *at = list; at && found; at = at->next) {
			if (at->family != family)
				continue;
			rdmaez_impl_diag_reset(diag, call);
			found = rdmaez_impl_cm_new(channel, &made, diag);
			if (found)
				continue;
			found = rdmaez_impl_cm_bind(made, at->address, !host, backlog, diag);
			if (found)
				rdma_destroy_id(made);
		}
		if (family == AF_INET)
			break;
	}
	rdmaez_impl_freeaddrinfo(list);
	if (found == EAFNOSUPPORT && diag && !diag->error)
		return rdmaez_impl_refuse(diag, found, RDMAEZ_WHY_CM_ADDRESS, "host");
	if (!found)
		*listener = made;
	return found;
}

RDMAEZ_COLD int rdmaez_cm_request(struct rdma_cm_id *listener, struct rdma_event_channel *channel,
				  uint64_t timeout_ns, struct rdma_cm_id **id,
				  struct rdmaez_cm_peer *peer, struct rdmaez_diag *diag)
{
	const char *const missing = !listener  ? "listener"
				    : !channel ? "channel"
				    : !id      ? "id"
					       : NULL;
	int error = rdmaez_impl_cm_begin(listener, "rdmaez_cm_request", missing, diag);
	struct rdma_cm_id *made = NULL;
	struct rdmaez_cm_peer told;

	if (error)
		return error;
	if (listener->channel == channel)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_CM_CHANNEL_SHARED, "channel");
	error = rdmaez_impl_cm_await(listener, RDMA_CM_EVENT_CONNECT_REQUEST,
				     rdmaez_impl_until(timeout_ns), &made, &told, diag);
	if (error)
		return error;
	error = rdmaez_impl_cm_call(diag, rdma_migrate_id(made, channel), "rdma_migrate_id");
	if (error) {
		rdma_destroy_id(made);
		return error;
	}
	*id = made;
	if (peer)
		*peer = told;
	return 0;
}

RDMAEZ_COLD int rdmaez_cm_accept(struct rdma_cm_id *id, const struct rdmaez_cm_peer *request,
				 const struct rdmaez_cm_opts *opts, struct rdmaez_diag *diag)
{
	const char *const missing = !id ? "id" : request ? NULL : "request";
	const uint64_t deadline = rdmaez_impl_until(opts ? opts->timeout_ns : 0);
	int error = rdmaez_impl_cm_ready(id, "rdmaez_cm_accept", missing, diag);
	struct rdma_conn_param param;

	if (!error)
		error = rdmaez_impl_cm_prepare(id, request, opts, &param, diag);
	if (!error)
		error = rdmaez_impl_cm_call(diag, rdma_accept(id, &param), "rdma_accept");
	/* It is in RTS already, and the peer may send as soon as it hears. */
	if (!error)
		error = rdmaez_impl_cm_tune(id, opts ? opts->qp : NULL, diag);
	return error ? error
		     : rdmaez_impl_cm_await(id, RDMA_CM_EVENT_ESTABLISHED, deadline, NULL, NULL,
					    diag);
}

RDMAEZ_COLD int rdmaez_cm_reject(struct rdma_cm_id *id, const void *data, size_t length,
				 struct rdmaez_diag *diag)
{
	const char *const missing = !id ? "id" : data || !length ? NULL : "data";
	int error = rdmaez_impl_cm_begin(id, "rdmaez_cm_reject", missing, diag);
	struct rdmaez_impl_site bytes = {"private_data_len", RDMAEZ_WHY_CM_PRIVATE_DATA,
					 RDMAEZ_VALUE_BYTES, 0, RDMAEZ_CM_REJECT_BYTES};

	if (error)
		return error;
	if (rdmaez_impl_cm_is_iwarp(id))
		bytes.max = UINT8_MAX;
	if (length > (size_t)bytes.max)
		return rdmaez_impl_refuse_at(diag, EINVAL, &bytes, (int64_t)length);
	return rdmaez_impl_cm_call(diag, rdma_reject(id, data, (uint8_t)length), "rdma_reject");
}

/* ---- The end ------------------------------------------------------------------------------------------- */

RDMAEZ_COLD int rdmaez_cm_disconnect(struct rdma_cm_id *id, uint64_t timeout_ns,
				     struct rdmaez_diag *diag)
{
	const uint64_t deadline = rdmaez_impl_until(timeout_ns);
	int error = rdmaez_impl_cm_begin(id, "rdmaez_cm_disconnect", id ? NULL : "id", diag);

	if (!error)
		error = rdmaez_impl_cm_call(diag, rdma_disconnect(id), "rdma_disconnect");
	return error ? error
		     : rdmaez_impl_cm_await(id, RDMA_CM_EVENT_DISCONNECTED, deadline, NULL, NULL,
					    diag);
}

RDMAEZ_COLD int rdmaez_cm_disconnected(struct rdma_cm_id *id, uint64_t timeout_ns,
				       struct rdmaez_diag *diag)
{
	int error = rdmaez_impl_cm_begin(id, "rdmaez_cm_disconnected", id ? NULL : "id", diag);

	if (!error)
		error = rdmaez_impl_cm_await(id, RDMA_CM_EVENT_DISCONNECTED,
					     rdmaez_impl_until(timeout_ns), NULL, NULL, diag);
	return error ? error : rdmaez_impl_cm_call(diag, rdma_disconnect(id), "rdma_disconnect");
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
