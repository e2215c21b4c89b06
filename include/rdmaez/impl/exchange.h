/* SPDX-License-Identifier: MIT */
/* Implements exchange.h. */
#ifndef RDMAEZ_IMPL_EXCHANGE_H
#define RDMAEZ_IMPL_EXCHANGE_H

#ifndef RDMAEZ_EXCHANGE_H
#include "../exchange.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_CONNECT_H
#include "connect.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_ENDPOINT_H
#include "endpoint.h"
#endif
#ifndef RDMAEZ_IMPL_GID_H
#include "gid.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_QP_H
#include "../qp.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- The peer's address ---------------------------------------------------------------------- */

RDMAEZ_API int rdmaez_exchange_peer(int socket, union ibv_gid *peer, struct rdmaez_diag *diag)
{
	static const uint8_t loopback[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	union ibv_gid gid;

	rdmaez_impl_diag_reset(diag, "rdmaez_exchange_peer");
	if (!peer)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "peer");
	memset(&address, 0, sizeof(address));
	if (getpeername(socket, (struct sockaddr *)&address, &size))
		return rdmaez_impl_refuse(diag, errno, RDMAEZ_WHY_EXCHANGE_SOCKET, "getpeername");
	memset(&gid, 0, sizeof(gid));
	/* In struct sockaddr_in and sockaddr_in6 the address begins at byte 4 and 8. */
	if (address.ss_family == AF_INET6)
		memcpy(gid.raw, (char *)&address + 8, 16);
	if (address.ss_family == AF_INET) {
		memset(&gid.raw[10], 0xff, 2);
		memcpy(&gid.raw[12], (char *)&address + 4, 4);
	}
	if (memcmp(&gid, loopback, sizeof(loopback)) == 0 ||
	    (rdmaez_gid_class(&gid) == RDMAEZ_GID_CLASS_IPV4 && gid.raw[12] == 127))
		memset(&gid, 0, sizeof(gid));
	*peer = gid;
	return 0;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* Each message begins with this many bytes: "RZEX", error, kind, count, identity, length. */
#define RDMAEZ_IMPL_EXCHANGE_HEAD 24

/*
 * This is the state of two messages that cross. If one buffer serves both ways, what comes takes
 * the place of what has been sent. That is enough: of two ends that wait for each other, one has
 * sent less, and finds room for what the other has sent.
 */
struct rdmaez_impl_exchange {
	int socket;
	int wants;     /* POLLIN and POLLOUT: what can be done; 0: it is over */
	int error;     /* the first failure */
	int broken;    /* why nothing more can be sent */
	bool connects; /* between these messages and those of the barrier */
	bool is_over;
	bool moved; /* something was sent or received */
	uint64_t deadline;
	uint64_t sent, size; /* of the own message, and */
	uint64_t got, want;  /* of the peer's, each with its head */
	uint8_t *out, *in;
	struct ibv_qp *qp; /* to connect, and with what */
	struct rdmaez_endpoint *local;
	struct rdmaez_qp_opts *opts;
	struct rdmaez_endpoint *remote; /* where so many are written */
	size_t count;
	uint8_t own[RDMAEZ_IMPL_EXCHANGE_HEAD], peer[RDMAEZ_IMPL_EXCHANGE_HEAD];
};

/* Stops, because the time is over, the peer is gone, or a socket call has failed. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_stop(const struct rdmaez_impl_exchange *x, int error,
					       bool is_send, struct rdmaez_diag *diag)
{
	rdmaez_impl_failed(diag, error, NULL);
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_exchange_explain_stop, (x, is_send, diag));
	return error;
}

/*
 * Looks at the head of the peer's message: at as much of the first word as there is, and then at
 * all of it.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_head(struct rdmaez_impl_exchange *x, struct rdmaez_diag *diag)
{
	const uint8_t *own = x->own + 8, *peer = x->peer + 4;
	int64_t mine = 0, theirs = 0;
	int error;

	if (memcmp(x->peer, x->own, x->got < 4 ? (size_t)x->got : 4) != 0)
		return rdmaez_impl_refuse(diag, EBADMSG, RDMAEZ_WHY_EXCHANGE_FOREIGN,
					  "message.magic");
	if (x->got < RDMAEZ_IMPL_EXCHANGE_HEAD)
		return 0;
	for (unsigned int word = 0; word < 5; word++) {
		theirs = (int64_t)rdmaez_impl_bytes_get(&peer, 4);
		if (word) /* the first is the peer's error */
			mine = (int64_t)rdmaez_impl_bytes_get(&own, 4);
		if (word < 4 ? theirs == mine : theirs >= mine)
			continue;
		error = !word ? ECONNABORTED : word < 4 ? EPROTO : EBADMSG;
		rdmaez_impl_failed(diag, error, NULL);
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_exchange_explain_word,
				    (word, theirs, mine, diag));
		return error;
	}
	/* A later version has added these bytes. */
	x->want += (uint64_t)(theirs - mine);
	return 0;
}

/* Begins a message each way, with these numbers. `error` is told to the peer; 0 means none. */
RDMAEZ_IMPL void rdmaez_impl_exchange_message(struct rdmaez_impl_exchange *x, int error,
					      uint32_t kind, size_t count, uint32_t identity)
{
	const uint64_t length = (uint64_t)count * RDMAEZ_ENDPOINT_BYTES;
	const uint64_t words[] = {0x525a4558, (uint32_t)error, kind, count, identity, length};

	for (int i = 0; i < 6; i++)
		rdmaez_impl_bytes_put(x->own + 4 * i, words[i], 4);
	x->sent = x->got = 0;
	x->size = x->want = RDMAEZ_IMPL_EXCHANGE_HEAD + length;
	x->broken = 0;
	x->wants = POLLIN | POLLOUT;
}

/* Begins the barrier's messages. */
RDMAEZ_IMPL void rdmaez_impl_exchange_ready(struct rdmaez_impl_exchange *x, int error,
					    uint32_t identity)
{
	x->connects = false;
	rdmaez_impl_exchange_message(x, error, 2, 0, identity);
}

/*
 * Returns how many bytes of the peer's can be taken now, never beyond the message, and where they
 * go. The place is NULL for bytes that nobody needs, such as those that a later version has added.
 */
RDMAEZ_IMPL uint64_t rdmaez_impl_exchange_room(struct rdmaez_impl_exchange *x, uint8_t **at)
{
	const uint64_t head = RDMAEZ_IMPL_EXCHANGE_HEAD, got = x->got;

	if (got < head) {
		*at = x->peer + got;
		return head - got;
	}
	*at = NULL;
	if (got >= x->size)
		return x->sent < x->size ? 0 : x->want - got;
	*at = x->in + (got - head);
	return (x->in == x->out ? x->sent > got ? x->sent : got : x->size) - got;
}

/* Returns how many bytes are to be sent now, and where they are: the head first, then the rest. */
RDMAEZ_IMPL uint64_t rdmaez_impl_exchange_rest(struct rdmaez_impl_exchange *x, const uint8_t **at)
{
	const uint64_t head = RDMAEZ_IMPL_EXCHANGE_HEAD;

	*at = NULL;
	if (x->broken || x->sent >= x->size)
		return 0;
	*at = x->sent < head ? x->own + x->sent : x->out + (x->sent - head);
	return (x->sent < head ? head : x->size) - x->sent;
}

/* Goes on after so many of the peer's bytes have come. */
RDMAEZ_IMPL int rdmaez_impl_exchange_came(struct rdmaez_impl_exchange *x, uint64_t count,
					  struct rdmaez_diag *diag)
{
	const bool is_head = x->got < RDMAEZ_IMPL_EXCHANGE_HEAD;

	x->got += count;
	return is_head ? rdmaez_impl_exchange_head(x, diag) : 0;
}

/*
 * Returns whether sending has failed, and nothing is left to hear. A peer that is gone may have
 * said why before, so its last bytes are still read up to the error that they name.
 */
RDMAEZ_IMPL bool rdmaez_impl_exchange_is_lost(const struct rdmaez_impl_exchange *x)
{
	return x->broken && ((x->broken != EPIPE && x->broken != ECONNRESET) ||
			     x->got >= RDMAEZ_IMPL_EXCHANGE_HEAD);
}

/* Sends once. */
RDMAEZ_IMPL void rdmaez_impl_exchange_send(struct rdmaez_impl_exchange *x)
{
	const uint64_t head = RDMAEZ_IMPL_EXCHANGE_HEAD;
	const uint8_t *at;
	const uint64_t rest = rdmaez_impl_exchange_rest(x, &at);
	ssize_t sent;

	if (!rest)
		return;
	sent = send(x->socket, at, (size_t)rest,
		    MSG_NOSIGNAL | MSG_DONTWAIT |
			    (x->sent < head && x->size > head ? MSG_MORE : 0));
	if (sent >= 0) {
		x->sent += (uint64_t)sent;
		x->moved = true;
	} else if (errno != EAGAIN && errno != EINTR) {
		x->broken = errno;
	}
}

/* Receives once. */
RDMAEZ_IMPL int rdmaez_impl_exchange_receive(struct rdmaez_impl_exchange *x,
					     struct rdmaez_diag *diag)
{
	uint8_t more[256], *at;
	uint64_t room = rdmaez_impl_exchange_room(x, &at);
	ssize_t came;

	if (!room)
		return 0;
	if (!at && room > sizeof(more))
		room = sizeof(more);
	came = recv(x->socket, at ? at : more, (size_t)room, MSG_DONTWAIT);
	if (came < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (came <= 0)
		return rdmaez_impl_exchange_stop(x, came ? errno : ECONNRESET, false, diag);
	x->moved = true;
	return rdmaez_impl_exchange_came(x, (uint64_t)came, diag);
}

/* ---- What comes of them ---------------------------------------------------------------------- */

/*
 * Goes on when both messages are through. If something fails between the endpoints and the barrier,
 * the peer must still be told. A call that waits tries RTR again until its deadline. A step has no
 * deadline.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_through(struct rdmaez_impl_exchange *x,
					     struct rdmaez_diag *diag)
{
	struct rdmaez_impl_connect c;
	uint64_t left;
	int error;

	if (!x->connects) {
		x->is_over = true;
		return 0;
	}
	left = rdmaez_impl_left(x->deadline);
	if (x->opts->retry_ns > left)
		x->opts->retry_ns = left;
	error = rdmaez_endpoint_unpack(x->in, x->remote, diag);
	if (!error)
		error = rdmaez_impl_connect_qp(x->qp, x->local, x->remote, x->opts, &c, diag);
	rdmaez_impl_exchange_ready(x, error, error ? 0 : x->local->nonce + x->remote->nonce);
	return error;
}

/*
 * Goes on after something has happened: to the next message, or to the end if this was the last one
 * or has failed.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_next(struct rdmaez_impl_exchange *x, int error,
					  struct rdmaez_diag *diag)
{
	const uint8_t *out;
	uint8_t *in;

	if (error)
		x->is_over = true;
	else if (x->sent == x->size && x->got == x->want)
		error = rdmaez_impl_exchange_through(x, diag);
	if (!x->error)
		x->error = error;
	x->wants = 0;
	if (!x->is_over)
		x->wants = (rdmaez_impl_exchange_room(x, &in) ? POLLIN : 0) |
			   (rdmaez_impl_exchange_rest(x, &out) ? POLLOUT : 0);
	return x->error;
}

/* Does once what the socket allows. The record tells only the first failure. */
RDMAEZ_IMPL int rdmaez_impl_exchange_once(struct rdmaez_impl_exchange *x, struct rdmaez_diag *diag)
{
	int error = 0;

	if (x->error)
		diag = NULL;
	x->moved = false;
	rdmaez_impl_exchange_send(x);
	if (!rdmaez_impl_exchange_is_lost(x))
		error = rdmaez_impl_exchange_receive(x, diag);
	if (!error && rdmaez_impl_exchange_is_lost(x))
		error = rdmaez_impl_exchange_stop(x, x->broken, true, diag);
	return rdmaez_impl_exchange_next(x, error, diag);
}

/* Ends the exchange where it stands, because the time is over or nobody can wait for the socket. */
RDMAEZ_IMPL int rdmaez_impl_exchange_give_up(struct rdmaez_impl_exchange *x, int error,
					     struct rdmaez_diag *diag)
{
	if (x->error)
		diag = NULL;
	return rdmaez_impl_exchange_next(
		x, rdmaez_impl_exchange_stop(x, error, !(x->wants & POLLIN), diag), diag);
}

/*
 * Goes on to the end. Even when the time is over it takes what is there, except what a later
 * version has added.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_run(struct rdmaez_impl_exchange *x, struct rdmaez_diag *diag)
{
	int error;

	while (x->wants) {
		(void)rdmaez_impl_exchange_once(x, diag);
		error = 0;
		if (x->wants && (!x->moved || x->got > x->size) && !rdmaez_impl_left(x->deadline))
			error = ETIMEDOUT;
		else if (x->wants && !x->moved)
			error = rdmaez_impl_wait(x->socket, x->wants, x->deadline);
		if (error) {
			(void)rdmaez_impl_exchange_give_up(x, error, diag);
			RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_late_exchange, (x, diag));
		}
	}
	return x->error;
}

/* ---- Beginning ------------------------------------------------------------------------------- */

/* Sets up an exchange on this socket in which nothing has begun. */
RDMAEZ_IMPL void rdmaez_impl_exchange_clear(struct rdmaez_impl_exchange *x, int socket)
{
	memset(x, 0, sizeof(*x));
	x->socket = socket;
}

/* Begins with a list. A call that waits has its deadline. */
RDMAEZ_IMPL int rdmaez_impl_exchange_list(struct rdmaez_impl_exchange *x,
					  const struct rdmaez_exchange_list *list,
					  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site count = {"count", RDMAEZ_WHY_RANGE,
						      RDMAEZ_VALUE_NUMBER, 1,
						      INT32_MAX / RDMAEZ_ENDPOINT_BYTES};
	static const struct rdmaez_impl_site local = {"local", RDMAEZ_WHY_EXCHANGE_LOCAL,
						      RDMAEZ_VALUE_POSITION, 0, 0};

	if (!list || !list->local || !list->remote || !list->buffer)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  !list           ? "list"
					  : !list->local  ? "local"
					  : !list->remote ? "remote"
							  : "buffer");
	if (!list->count || list->count > (size_t)count.max)
		return rdmaez_impl_refuse_at(diag, EINVAL, &count, (int64_t)list->count);
	for (size_t i = 0; i < list->count; i++)
		if (rdmaez_endpoint_pack(&list->local[i], list->buffer + i * RDMAEZ_ENDPOINT_BYTES))
			return rdmaez_impl_refuse_at(diag, EINVAL, &local, (int64_t)i);
	x->in = x->out = list->buffer;
	x->remote = list->remote;
	x->count = list->count;
	rdmaez_impl_exchange_message(x, 0, 1, list->count, 0);
	return 0;
}

/*
 * Unpacks the endpoints. After what is wrong with one, the record says which one it is. Outputs are
 * written after all have been checked.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_unpack(const struct rdmaez_impl_exchange *x,
					    struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site remote = {"remote", RDMAEZ_WHY_EXCHANGE_REMOTE,
						       RDMAEZ_VALUE_POSITION, 0, 0};
	const size_t bytes = RDMAEZ_ENDPOINT_BYTES;
	struct rdmaez_endpoint one;
	int error = 0;

	for (size_t i = 0; !error && i < x->count; i++) {
		error = rdmaez_endpoint_unpack(x->in + i * bytes, &one, diag);
		if (error && x->count > 1)
			rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &remote, i);
	}
	for (size_t i = 0; !error && i < x->count; i++)
		rdmaez_endpoint_unpack(x->in + i * bytes, &x->remote[i], NULL);
	return error;
}

RDMAEZ_IMPL int rdmaez_impl_exchange_barrier(struct rdmaez_impl_exchange *x,
					     const struct rdmaez_exchange_ready *ready,
					     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"ready.error", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_NUMBER, 0, INT32_MAX};

	if (ready && ready->error < 0)
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, ready->error);
	rdmaez_impl_exchange_ready(x, ready ? ready->error : 0, ready ? ready->identity : 0);
	return 0;
}

/*
 * Makes this end's endpoint. It may be the caller's; if that is only the endpoint of a port, the
 * queue pair completes it. Otherwise it is made here, and the address by which the socket knows the
 * peer orders its GIDs.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_local(struct rdmaez_impl_exchange *x,
					   const struct rdmaez_endpoint *local,
					   const struct rdmaez_exchange_opts *opts,
					   struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"local", RDMAEZ_WHY_EXCHANGE_LOCAL,
						     RDMAEZ_VALUE_POSITION, 0, 0};
	union ibv_gid *const peer = &x->opts->path.dgid;
	int error = 0;

	if (local)
		*x->local = *local;
	else if (x->socket >= 0 && rdmaez_gid_is_zero(peer))
		error = rdmaez_exchange_peer(x->socket, peer, diag);
	if (!error && !local)
		error = rdmaez_endpoint_port(x->qp->context, x->opts, x->local, diag);
	if (!error && !x->local->qp_num)
		error = rdmaez_impl_endpoint_finish(x->qp, (unsigned int)x->opts->flags, x->local,
						    diag);
	if (!error && opts && opts->mr)
		error = rdmaez_mr_remote(opts->mr, &x->local->memory, diag);
	if (!error && rdmaez_endpoint_pack(x->local, x->out))
		error = rdmaez_impl_refuse_at(diag, EINVAL, &site, 0);
	return error;
}

/* If the peer did not meet a connection, makes its record say in which state the queue pair is. */
RDMAEZ_IMPL void rdmaez_impl_exchange_told(const struct rdmaez_impl_exchange *x,
					   struct rdmaez_diag *diag)
{
	if (!diag || !x->error || !x->qp || x->qp->state != IBV_QPS_RTS)
		return;
	diag->from = IBV_QPS_RTS;
	diag->to = -1;
}

/* Begins to connect. The caller has set where the endpoints, the options and the bytes are. */
RDMAEZ_IMPL int rdmaez_impl_exchange_connect(struct rdmaez_impl_exchange *x, struct ibv_qp *qp,
					     const struct rdmaez_endpoint *local,
					     const struct rdmaez_exchange_opts *opts,
					     struct rdmaez_diag *diag)
{
	if (!qp) {
		(void)rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "qp");
		return EINVAL; /* this is never 0, as the compiler sees here */
	}
	memset(x->opts, 0, sizeof(*x->opts));
	if (opts && opts->qp)
		*x->opts = *opts->qp;
	x->qp = qp;
	x->connects = true;
	x->error = rdmaez_impl_exchange_local(x, local, opts, diag);
	if (x->error) {
		rdmaez_impl_exchange_ready(x, x->error, 0);
		return x->error;
	}
	rdmaez_impl_diag_qp(diag, qp);
	rdmaez_impl_exchange_message(x, 0, 1, 1, 0);
	return 0;
}

/* ---- In one call ----------------------------------------------------------------------------- */

RDMAEZ_API int rdmaez_exchange_many(int socket, const struct rdmaez_exchange_list *list,
				    uint64_t timeout_ns, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_exchange x;
	int error;

	rdmaez_impl_diag_reset(diag, "");
	rdmaez_impl_exchange_clear(&x, socket);
	x.deadline = rdmaez_impl_deadline(timeout_ns);
	error = rdmaez_impl_exchange_list(&x, list, diag);
	if (!error)
		error = rdmaez_impl_exchange_run(&x, diag);
	if (!error)
		error = rdmaez_impl_exchange_unpack(&x, diag);
	if (diag)
		diag->call = "rdmaez_exchange_many";
	return error;
}

RDMAEZ_API int rdmaez_exchange(int socket, const struct rdmaez_endpoint *local,
			       struct rdmaez_endpoint *remote, uint64_t timeout_ns,
			       struct rdmaez_diag *diag)
{
	uint8_t buffer[RDMAEZ_ENDPOINT_BYTES];
	const struct rdmaez_exchange_list list = {1, local, remote, buffer};
	const int error = rdmaez_exchange_many(socket, &list, timeout_ns, diag);

	if (diag)
		diag->call = "rdmaez_exchange";
	return error;
}

RDMAEZ_API int rdmaez_exchange_barrier(int socket, const struct rdmaez_exchange_ready *ready,
				       uint64_t timeout_ns, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_exchange x;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_exchange_barrier");
	rdmaez_impl_exchange_clear(&x, socket);
	x.deadline = rdmaez_impl_deadline(timeout_ns);
	error = rdmaez_impl_exchange_barrier(&x, ready, diag);
	return error ? error : rdmaez_impl_exchange_run(&x, diag);
}

RDMAEZ_API int rdmaez_exchange_connect(int socket, struct ibv_qp *qp,
				       const struct rdmaez_endpoint *local,
				       struct rdmaez_endpoint *remote,
				       const struct rdmaez_exchange_opts *opts,
				       struct rdmaez_diag *diag)
{
	uint8_t buffer[RDMAEZ_ENDPOINT_BYTES];
	struct rdmaez_endpoint own, found;
	struct rdmaez_impl_exchange x;
	struct rdmaez_qp_opts with;
	int error;

	rdmaez_impl_diag_reset(diag, "");
	rdmaez_impl_exchange_clear(&x, socket);
	x.deadline = rdmaez_impl_deadline(opts ? opts->timeout_ns : 0);
	x.local = &own;
	x.remote = &found;
	x.opts = &with;
	x.in = x.out = buffer;
	error = rdmaez_impl_exchange_connect(&x, qp, local, opts, diag);
	if (x.wants)
		error = rdmaez_impl_exchange_run(&x, diag);
	rdmaez_impl_exchange_told(&x, diag);
	if (diag)
		diag->call = "rdmaez_exchange_connect";
	if (!error && remote)
		*remote = found;
	return error;
}

/* ---- Opening a connection -------------------------------------------------------------------- */

/* The C library hides this struct from strict C, and its headers would cost more. */
struct rdmaez_impl_addrinfo {
	int flags, family, socktype, protocol;
	socklen_t length;
	struct sockaddr *address;
	char *name;
	struct rdmaez_impl_addrinfo *next;
};

extern int rdmaez_impl_getaddrinfo(const char *host, const char *service,
				   const struct rdmaez_impl_addrinfo *hints,
				   struct rdmaez_impl_addrinfo **list) __asm__("getaddrinfo");
extern void rdmaez_impl_freeaddrinfo(struct rdmaez_impl_addrinfo *list) __asm__("freeaddrinfo");
extern int rdmaez_impl_accept4(int socket, struct sockaddr *address, socklen_t *length,
			       int flags) __asm__("accept4");

/* Looks up a host and a service. If the host is NULL, it looks up the addresses to listen at. */
RDMAEZ_IMPL int rdmaez_impl_exchange_resolve(const char *host, const char *service,
					     struct rdmaez_impl_addrinfo **list,
					     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site range = {"service", RDMAEZ_WHY_RANGE,
						      RDMAEZ_VALUE_NUMBER, 1, UINT16_MAX};
	const int eai_again = -3, eai_fail = -4, eai_service = -8, eai_memory = -10,
		  eai_system = -11;
	struct rdmaez_impl_addrinfo hints;
	const char *end = service;
	const uint64_t number = rdmaez_impl_number(&end, 10);
	int error;

	if (!*end && (!number || number > UINT16_MAX))
		return rdmaez_impl_refuse_at(diag, EINVAL, &range, (int64_t)number);
	memset(&hints, 0, sizeof(hints));
	hints.flags = !host; /* AI_PASSIVE */
	hints.socktype = SOCK_STREAM;
	error = rdmaez_impl_getaddrinfo(host, service, &hints, list);
	if (!error)
		return 0;
	if (error == eai_service)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_OPEN_SERVICE, "service");
	if (error != eai_again && error != eai_fail && error != eai_memory && error != eai_system)
		return rdmaez_impl_refuse(diag, ENOENT, RDMAEZ_WHY_OPEN_NAME, "host");
	return rdmaez_impl_refuse(diag,
				  error == eai_system   ? rdmaez_impl_error(-1)
				  : error == eai_memory ? ENOMEM
							: EAGAIN,
				  RDMAEZ_WHY_OPEN_LOOKUP, "host");
}

/*
 * Makes a listener at an address with room for so many or, for 0, a socket on its way to the
 * address. If it fails, nothing is open.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_begin(const struct rdmaez_impl_addrinfo *at, int backlog,
					   int *fd)
{
	const int ipproto_ipv6 = 41, ipv6_v6only = 26, yes = 1, no = 0;
	int error;

	*fd = socket(at->family, at->socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->protocol);
	if (*fd < 0)
		return errno;
	if (backlog) {
		(void)setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		if (at->family == AF_INET6)
			(void)setsockopt(*fd, ipproto_ipv6, ipv6_v6only, &no, sizeof(no));
		if (!bind(*fd, at->address, at->length) && !listen(*fd, backlog))
			return 0;
	} else if (!connect(*fd, at->address, at->length) || errno == EINPROGRESS ||
		   errno == EINTR) {
		return 0;
	}
	error = errno;
	rdmaez_impl_close(*fd);
	return error;
}

/*
 * Listens at the first address that works: at IPv6 and IPv4, or at IPv4 alone if the host has no
 * IPv6.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_listen(const struct rdmaez_impl_addrinfo *list, int backlog,
					    int *listener, struct rdmaez_diag *diag)
{
	int family = AF_INET6, error;

	for (;; family = AF_INET) {
		error = EAFNOSUPPORT;
		for (const struct rdmaez_impl_addrinfo *at = list; at && error; at = at->next)
			if (at->family == family)
				error = rdmaez_impl_exchange_begin(at, backlog, listener);
		if (!error)
			return 0;
		if (family == AF_INET || error == EADDRINUSE)
			return rdmaez_impl_refuse(diag, error,
						  error == EADDRINUSE ? RDMAEZ_WHY_OPEN_IN_USE
								      : RDMAEZ_WHY_EXCHANGE_SOCKET,
						  "service");
	}
}

/* Sends everything at once: TCP_NODELAY. */
RDMAEZ_IMPL void rdmaez_impl_exchange_at_once(int fd)
{
	const int ipproto_tcp = 6, tcp_nodelay = 1, yes = 1;

	(void)setsockopt(fd, ipproto_tcp, tcp_nodelay, &yes, sizeof(yes));
}

/* Accepts a peer that is there. The socket is -1 if there is none, or if it has gone again. */
RDMAEZ_IMPL int rdmaez_impl_exchange_accept(int listener, int flags, int *fd,
					    struct rdmaez_diag *diag)
{
	*fd = rdmaez_impl_accept4(listener, NULL, NULL, flags | SOCK_CLOEXEC);
	if (*fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		return rdmaez_impl_refuse(diag, errno, RDMAEZ_WHY_EXCHANGE_SOCKET, "accept4");
	return 0;
}

/* Waits for one peer. */
RDMAEZ_IMPL int rdmaez_impl_exchange_first(const struct rdmaez_impl_addrinfo *list,
					   uint64_t deadline, int *fd, struct rdmaez_diag *diag)
{
	int listener = -1, error = rdmaez_impl_exchange_listen(list, 1, &listener, diag);

	if (error)
		return error;
	do {
		error = rdmaez_impl_wait(listener, POLLIN, deadline);
		if (error) {
			(void)rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_OPEN_NO_PEER,
						 "timeout_ns");
			break;
		}
		error = rdmaez_impl_exchange_accept(listener, 0, fd, diag);
	} while (!error && *fd < 0);
	rdmaez_impl_close(listener);
	return error;
}

/*
 * Returns whether a socket that was on its way has arrived. If nobody listens at a port, and TCP
 * gives a socket that port for its own, it connects the socket with itself.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_arrived(int fd, uint64_t deadline)
{
	struct sockaddr_storage end[2]; /* this one and the peer's */
	socklen_t size = sizeof(int), own_size = sizeof(end[0]), peer_size = sizeof(end[1]);
	int failed = 0, error = rdmaez_impl_wait(fd, POLLOUT, deadline);

	if (!error)
		error = getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) ? errno : failed;
	if (error)
		return error;
	memset(end, 0, sizeof(end));
	if (getsockname(fd, (struct sockaddr *)&end[0], &own_size) ||
	    getpeername(fd, (struct sockaddr *)&end[1], &peer_size) ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK))
		return errno;
	return memcmp(&end[0], &end[1], sizeof(end[0])) ? 0 : ECONNREFUSED;
}

/* Returns whether a host that was not reached may still be reached. */
RDMAEZ_IMPL bool rdmaez_impl_exchange_heals(int error)
{
	return error == ECONNREFUSED || error == ECONNRESET || error == ETIMEDOUT ||
	       error == EHOSTUNREACH || error == ENETUNREACH;
}

/*
 * Tries all addresses, again and again until the deadline. One that does not answer must not keep
 * the others from being tried. So if there are several, each has a second at first, and twice as
 * long in each round.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_reach(const struct rdmaez_impl_addrinfo *list,
					   uint64_t deadline, int *fd, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_retry retry = {rdmaez_impl_left(deadline), rdmaez_impl_now(), 10000000,
					  1};
	uint64_t each = list->next ? 1000000000 : UINT64_MAX, left;
	int error, worst = 0;

	do {
		for (const struct rdmaez_impl_addrinfo *at = list; at; at = at->next) {
			left = rdmaez_impl_left(deadline);
			error = rdmaez_impl_exchange_begin(at, 0, fd);
			if (!error) {
				error = rdmaez_impl_exchange_arrived(
					*fd, left > each ? deadline - left + each : deadline);
				if (!error)
					return 0;
				rdmaez_impl_close(*fd);
			}
			/*
			 * A host that refuses, or did so, tells more than one that does not answer.
			 */
			if (worst != ECONNREFUSED && (rdmaez_impl_exchange_heals(error) ||
						      !rdmaez_impl_exchange_heals(worst)))
				worst = error;
		}
		each = each < UINT64_C(100000000000) ? 2 * each : each;
		if (retry.rest > 100000000)
			retry.rest = 100000000;
	} while (rdmaez_impl_exchange_heals(worst) && rdmaez_impl_try_again(&retry, ETIMEDOUT));
	if (worst == ECONNREFUSED)
		return rdmaez_impl_refuse(diag, worst, RDMAEZ_WHY_OPEN_REFUSED, "service");
	return rdmaez_impl_exchange_heals(worst)
		       ? rdmaez_impl_refuse(diag, worst, RDMAEZ_WHY_OPEN_UNREACHED, "host")
		       : rdmaez_impl_refuse(diag, worst, RDMAEZ_WHY_EXCHANGE_SOCKET, "connect");
}

RDMAEZ_COLD int rdmaez_exchange_open(const char *host, const char *service, uint64_t timeout_ns,
				     int *socket, struct rdmaez_diag *diag)
{
	const uint64_t deadline = rdmaez_impl_deadline(timeout_ns);
	struct rdmaez_impl_addrinfo *list;
	int error, fd = -1;

	rdmaez_impl_diag_reset(diag, "rdmaez_exchange_open");
	if (!service || !socket)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  service ? "socket" : "service");
	error = rdmaez_impl_exchange_resolve(host, service, &list, diag);
	if (error)
		return error;
	error = host ? rdmaez_impl_exchange_reach(list, deadline, &fd, diag)
		     : rdmaez_impl_exchange_first(list, deadline, &fd, diag);
	rdmaez_impl_freeaddrinfo(list);
	if (error)
		return error;
	rdmaez_impl_exchange_at_once(fd);
	*socket = fd;
	return 0;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
