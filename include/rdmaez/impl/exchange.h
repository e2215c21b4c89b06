/* SPDX-License-Identifier: MIT */
/* Bodies of exchange.h. */
#ifndef RDMAEZ_IMPL_EXCHANGE_H
#define RDMAEZ_IMPL_EXCHANGE_H

#ifndef RDMAEZ_EXCHANGE_H
#include "../exchange.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef RDMAEZ_IMPL_BYTES_H
#include "bytes.h"
#endif
#ifndef RDMAEZ_IMPL_CLOCK_H
#include "clock.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- Messages -------------------------------------------------------------------------------- */

/* "RZEX" */
#define RDMAEZ_IMPL_EXCHANGE_MAGIC 0x525a4558u

/* The bytes that each message begins with: magic, error, kind, count, identity, length. */
#define RDMAEZ_IMPL_EXCHANGE_HEAD 24

enum {
	RDMAEZ_IMPL_EXCHANGE_ENDPOINTS = 1,
	RDMAEZ_IMPL_EXCHANGE_READY = 2
};

/*
 * Two messages that cross. What comes takes the place of what has been sent, so one buffer is enough: of each two ends
 * that wait for each other, the one that has sent less finds room for what the other has.
 */
struct rdmaez_impl_exchange {
	int socket;
	uint64_t timeout, deadline;
	size_t sent, got, size,
		want; /* both heads included; `want` grows by what a later version adds */
	uint8_t *buffer;
	uint8_t own[RDMAEZ_IMPL_EXCHANGE_HEAD], peer[RDMAEZ_IMPL_EXCHANGE_HEAD];
};

/* Begins the time that a call may take; 0: 10 s. */
RDMAEZ_IMPL_COLD void rdmaez_impl_exchange_on(struct rdmaez_impl_exchange *x, int socket,
					      uint64_t timeout)
{
	const uint64_t now = rdmaez_impl_now();

	x->socket = socket;
	x->timeout = timeout ? timeout : UINT64_C(10000000000);
	x->deadline = x->timeout < UINT64_MAX - now ? now + x->timeout : UINT64_MAX;
}

RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_exchange_left(uint64_t deadline)
{
	const uint64_t now = rdmaez_impl_now();

	return deadline > now ? deadline - now : 0;
}

/* Waits until a socket is ready: 0, ETIMEDOUT, or why it cannot. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_wait(int socket, int events, uint64_t deadline)
{
	struct pollfd ready;
	uint64_t left, ms;
	int count;

	memset(&ready, 0, sizeof(ready));
	ready.fd = socket;
	ready.events = (short)events;
	do {
		left = rdmaez_impl_exchange_left(deadline);
		ms = left / 1000000u + (left % 1000000u != 0);
		count = poll(&ready, 1, ms < INT32_MAX ? (int)ms : INT32_MAX);
		if (count > 0)
			return 0;
		if (count < 0 && errno != EINTR)
			return errno;
	} while (left);
	return ETIMEDOUT;
}

/* Begins a message, whose bytes are in the buffer already. */
RDMAEZ_IMPL_COLD void rdmaez_impl_exchange_begin(struct rdmaez_impl_exchange *x, uint32_t kind,
						 size_t count, uint32_t error, uint32_t identity)
{
	const size_t length = count * RDMAEZ_ENDPOINT_BYTES;
	uint8_t *at = rdmaez_impl_bytes_put(x->own, RDMAEZ_IMPL_EXCHANGE_MAGIC, 4);

	at = rdmaez_impl_bytes_put(at, error, 4);
	at = rdmaez_impl_bytes_put(at, kind, 4);
	at = rdmaez_impl_bytes_put(at, count, 4);
	at = rdmaez_impl_bytes_put(at, identity, 4);
	rdmaez_impl_bytes_put(at, length, 4);
	x->sent = x->got = 0;
	x->size = x->want = RDMAEZ_IMPL_EXCHANGE_HEAD + length;
}

/* What a socket call said: an end that is gone, or another errno value. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_failed(const struct rdmaez_impl_exchange *x, int error,
						 bool is_send, struct rdmaez_diag *diag)
{
	const struct rdmaez_impl_site site = {is_send ? "send" : "recv", RDMAEZ_WHY_EXCHANGE_CLOSED,
					      RDMAEZ_VALUE_BYTES, 0, 0};
	const int64_t want = (int64_t)(is_send ? x->size : x->want);

	if (error != EPIPE && error != ECONNRESET)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_EXCHANGE_SOCKET, site.field);
	return rdmaez_impl_refuse_within(diag, error, &site, (int64_t)(is_send ? x->sent : x->got),
					 want, want);
}

/* What is missing when the time is over. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_late(const struct rdmaez_impl_exchange *x,
					       bool is_reading, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site sites[] = {
		{"timeout_ns", RDMAEZ_WHY_EXCHANGE_SILENT, RDMAEZ_VALUE_NS, 0, 0},
		{"recv", RDMAEZ_WHY_EXCHANGE_PART, RDMAEZ_VALUE_BYTES, 0, 0},
		{"send", RDMAEZ_WHY_EXCHANGE_UNREAD, RDMAEZ_VALUE_BYTES, 0, 0}};
	const int which = !is_reading ? 2 : x->got ? 1 : 0;
	const uint64_t values[] = {x->timeout, x->got, x->sent};
	const uint64_t wants[] = {x->timeout, x->want, x->size};

	return rdmaez_impl_refuse_within(diag, ETIMEDOUT, &sites[which], (int64_t)values[which],
					 (int64_t)wants[which], (int64_t)wants[which]);
}

/* Looks at the beginning of the peer's message: as much of the magic as there is, then all of it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_head(struct rdmaez_impl_exchange *x,
					       struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site failed = {"message.error", RDMAEZ_WHY_PEER_FAILED,
						       RDMAEZ_VALUE_ERRNO, 0, 0};
	static const struct rdmaez_impl_site length = {
		"message.length", RDMAEZ_WHY_EXCHANGE_FOREIGN, RDMAEZ_VALUE_BYTES, 0, INT32_MAX};
	static const struct rdmaez_impl_site same[] = {
		{"message.kind", RDMAEZ_WHY_EXCHANGE_STEP, RDMAEZ_VALUE_NUMBER, 0, 0},
		{"message.count", RDMAEZ_WHY_EXCHANGE_COUNT, RDMAEZ_VALUE_NUMBER, 0, 0},
		{"message.identity", RDMAEZ_WHY_EXCHANGE_IDENTITY, RDMAEZ_VALUE_NUMBER, 0, 0}};
	const uint8_t *own = x->own + 8, *peer = x->peer + 4;
	uint64_t mine, theirs;

	if (memcmp(x->peer, x->own, x->got < 4 ? x->got : 4) != 0)
		return rdmaez_impl_refuse(diag, EBADMSG, RDMAEZ_WHY_EXCHANGE_FOREIGN,
					  "message.magic");
	if (x->got < RDMAEZ_IMPL_EXCHANGE_HEAD)
		return 0;
	theirs = rdmaez_impl_bytes_get(&peer, 4);
	if (theirs)
		return rdmaez_impl_refuse_at(diag, ECONNABORTED, &failed, (int64_t)theirs);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		mine = rdmaez_impl_bytes_get(&own, 4);
		theirs = rdmaez_impl_bytes_get(&peer, 4);
		if (theirs != mine)
			return rdmaez_impl_refuse_within(diag, EPROTO, &same[i], (int64_t)theirs,
							 (int64_t)mine, (int64_t)mine);
	}
	mine = rdmaez_impl_bytes_get(&own, 4);
	theirs = rdmaez_impl_bytes_get(&peer, 4);
	if (theirs < mine || theirs > INT32_MAX)
		return rdmaez_impl_refuse_within(diag, EBADMSG, &length, (int64_t)theirs,
						 (int64_t)mine, length.max);
	x->want += (size_t)(theirs - mine);
	return 0;
}

/* Sends once: 0, or an errno value; EAGAIN: not now. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_send(struct rdmaez_impl_exchange *x)
{
	const size_t head = RDMAEZ_IMPL_EXCHANGE_HEAD;
	const bool is_head = x->sent < head;
	const uint8_t *from = is_head ? x->own + x->sent : x->buffer + (x->sent - head);
	const int more = is_head && x->size > head ? MSG_MORE : 0;
	const ssize_t sent = send(x->socket, from, (is_head ? head : x->size) - x->sent,
				  MSG_NOSIGNAL | MSG_DONTWAIT | more);

	if (sent < 0)
		return errno == EINTR ? EAGAIN : errno;
	x->sent += (size_t)sent;
	return 0;
}

/* Receives once, never beyond the message: 0, or an errno value; EAGAIN: not now. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_receive(struct rdmaez_impl_exchange *x,
						  struct rdmaez_diag *diag)
{
	const size_t head = RDMAEZ_IMPL_EXCHANGE_HEAD;
	uint8_t surplus[256], *to = surplus;
	size_t end = x->got + sizeof(surplus);
	ssize_t got;

	if (x->got < head) {
		to = x->peer + x->got;
		end = head;
	} else if (x->got < x->size) {
		to = x->buffer + (x->got - head);
		end = x->sent;
	}
	if (end > x->want)
		end = x->want;
	got = recv(x->socket, to, end - x->got, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return EAGAIN;
	if (got <= 0)
		return rdmaez_impl_exchange_failed(x, got ? errno : ECONNRESET, false, diag);
	x->got += (size_t)got;
	return to == surplus || x->got > head ? 0 : rdmaez_impl_exchange_head(x, diag);
}

/*
 * Sends one message and receives the other at the same time. A peer that is gone may have told why before: so after
 * sending has failed, what it sent last is still read as far as its error stands there.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_run(struct rdmaez_impl_exchange *x,
					      struct rdmaez_diag *diag)
{
	const size_t head = RDMAEZ_IMPL_EXCHANGE_HEAD;
	int broken = 0, error;

	for (;;) {
		const bool writes = x->sent < x->size && !broken;
		const int sent = writes ? rdmaez_impl_exchange_send(x) : EAGAIN;
		int got = EAGAIN;
		bool reads;

		if (sent && sent != EAGAIN)
			broken = sent;
		if (broken && ((broken != EPIPE && broken != ECONNRESET) || x->got >= head))
			return rdmaez_impl_exchange_failed(x, broken, true, diag);
		reads = x->got < head || x->got < (x->sent < x->size ? x->sent : x->want);
		if (reads)
			got = rdmaez_impl_exchange_receive(x, diag);
		if (got && got != EAGAIN)
			return got;
		if (x->sent == x->size && x->got == x->want)
			return 0;
		error = rdmaez_impl_exchange_left(x->deadline) ? 0 : ETIMEDOUT;
		if (!error && sent && got)
			error = rdmaez_impl_exchange_wait(
				x->socket, (reads ? POLLIN : 0) | (writes ? POLLOUT : 0),
				x->deadline);
		if (error == ETIMEDOUT)
			return rdmaez_impl_exchange_late(x, reads, diag);
		if (error)
			return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_EXCHANGE_SOCKET, "poll");
	}
}

/* Packs what is to be sent, so that nothing is sent where something cannot be told. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_pack(const struct rdmaez_exchange_list *list,
					       struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site local = {"list.local", RDMAEZ_WHY_EXCHANGE_LOCAL,
						      RDMAEZ_VALUE_POSITION, 0, 0};

	for (size_t i = 0; i < list->count; i++)
		if (rdmaez_endpoint_pack(&list->local[i], list->buffer + i * RDMAEZ_ENDPOINT_BYTES))
			return rdmaez_impl_refuse_at(diag, EINVAL, &local, (int64_t)i);
	return 0;
}

/* Swaps the list's buffer for the peer's. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_swap(struct rdmaez_impl_exchange *x,
					       const struct rdmaez_exchange_list *list,
					       struct rdmaez_diag *diag)
{
	x->buffer = list->buffer;
	rdmaez_impl_exchange_begin(x, RDMAEZ_IMPL_EXCHANGE_ENDPOINTS, list->count, 0, 0);
	return rdmaez_impl_exchange_run(x, diag);
}

/* Unpacks what has come: first all of it to look at it, then into the caller's. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_unpack(const struct rdmaez_exchange_list *list,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site remote = {"list.remote", RDMAEZ_WHY_EXCHANGE_REMOTE,
						       RDMAEZ_VALUE_POSITION, 0, 0};
	struct rdmaez_endpoint one;
	int error;

	for (size_t i = 0; i < list->count; i++) {
		error = rdmaez_endpoint_unpack(list->buffer + i * RDMAEZ_ENDPOINT_BYTES, &one,
					       diag);
		if (error && list->count > 1)
			rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &remote, i);
		if (error)
			return error;
	}
	for (size_t i = 0; i < list->count; i++)
		rdmaez_endpoint_unpack(list->buffer + i * RDMAEZ_ENDPOINT_BYTES, &list->remote[i],
				       NULL);
	return 0;
}

/* All three, for a function of this name. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_all(int socket, const struct rdmaez_exchange_list *list,
					      uint64_t timeout_ns, const char *call,
					      struct rdmaez_diag *diag)
{
	struct rdmaez_impl_exchange x;
	int error;

	rdmaez_impl_exchange_on(&x, socket, timeout_ns);
	error = rdmaez_impl_exchange_pack(list, diag);
	if (!error)
		error = rdmaez_impl_exchange_swap(&x, list, diag);
	if (!error)
		error = rdmaez_impl_exchange_unpack(list, diag);
	if (diag)
		diag->call = call;
	return error;
}

RDMAEZ_API int rdmaez_exchange(int socket, const struct rdmaez_endpoint *local,
			       struct rdmaez_endpoint *remote, uint64_t timeout_ns,
			       struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_exchange";
	uint8_t buffer[RDMAEZ_ENDPOINT_BYTES];
	struct rdmaez_exchange_list list;

	rdmaez_impl_diag_reset_for(diag, call, rdmaez_impl_why_connect);
	if (!local || !remote)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  local ? "remote" : "local");
	list.count = 1;
	list.local = local;
	list.remote = remote;
	list.buffer = buffer;
	return rdmaez_impl_exchange_all(socket, &list, timeout_ns, call, diag);
}

RDMAEZ_API int rdmaez_exchange_many(int socket, const struct rdmaez_exchange_list *list,
				    uint64_t timeout_ns, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_exchange_many";
	static const struct rdmaez_impl_site count = {"list.count", RDMAEZ_WHY_RANGE,
						      RDMAEZ_VALUE_NUMBER, 1,
						      INT32_MAX / RDMAEZ_ENDPOINT_BYTES};

	rdmaez_impl_diag_reset_for(diag, call, rdmaez_impl_why_connect);
	if (!list || !list->local || !list->remote || !list->buffer)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  !list           ? "list"
					  : !list->local  ? "list.local"
					  : !list->remote ? "list.remote"
							  : "list.buffer");
	if (!list->count || list->count > (size_t)count.max)
		return rdmaez_impl_refuse_at(diag, EINVAL, &count, (int64_t)list->count);
	return rdmaez_impl_exchange_all(socket, list, timeout_ns, call, diag);
}

/* ---- Barrier, and all of it ------------------------------------------------------------------ */

RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_ready(struct rdmaez_impl_exchange *x, int error,
						uint32_t identity, struct rdmaez_diag *diag)
{
	rdmaez_impl_exchange_begin(x, RDMAEZ_IMPL_EXCHANGE_READY, 0, (uint32_t)error, identity);
	return rdmaez_impl_exchange_run(x, diag);
}

RDMAEZ_API int rdmaez_exchange_barrier(int socket, const struct rdmaez_exchange_ready *ready,
				       uint64_t timeout_ns, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"ready.error", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_NUMBER, 0, INT32_MAX};
	struct rdmaez_impl_exchange x;

	rdmaez_impl_diag_reset_for(diag, "rdmaez_exchange_barrier", rdmaez_impl_why_connect);
	if (ready && ready->error < 0)
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, ready->error);
	rdmaez_impl_exchange_on(&x, socket, timeout_ns);
	return rdmaez_impl_exchange_ready(&x, ready ? ready->error : 0, ready ? ready->identity : 0,
					  diag);
}

/* This end's endpoint where the caller has none: with the address by which the socket knows the peer. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_local(int socket, struct ibv_qp *qp,
						const struct rdmaez_qp_opts *opts,
						struct rdmaez_endpoint *local,
						struct rdmaez_diag *diag)
{
	struct rdmaez_qp_opts known = *opts;
	int error = 0;

	if (rdmaez_gid_is_zero(&known.path.dgid))
		error = rdmaez_exchange_peer(socket, &known.path.dgid, diag);
	return error ? error : rdmaez_endpoint_local(qp, &known, local, diag);
}

/*
 * Exchanges endpoints and connects. Where the socket has failed nothing more goes over it, and it becomes -1; of all
 * other failures the peer is still to be told.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_meet(struct rdmaez_impl_exchange *x, struct ibv_qp *qp,
					       const struct rdmaez_exchange_list *list,
					       struct rdmaez_qp_opts *opts,
					       struct rdmaez_diag *diag)
{
	uint64_t left;
	int error = rdmaez_impl_exchange_pack(list, diag);

	if (error)
		return error;
	error = rdmaez_impl_exchange_swap(x, list, diag);
	if (error) {
		x->socket = -1;
		return error;
	}
	error = rdmaez_impl_exchange_unpack(list, diag);
	left = rdmaez_impl_exchange_left(x->deadline);
	if (opts->retry_ns > left)
		opts->retry_ns = left;
	return error ? error : rdmaez_qp_connect(qp, list->local, list->remote, opts, diag);
}

RDMAEZ_API int rdmaez_exchange_connect(int socket, struct ibv_qp *qp,
				       const struct rdmaez_endpoint *local,
				       struct rdmaez_endpoint *remote,
				       const struct rdmaez_exchange_opts *opts,
				       struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_exchange_connect";
	uint8_t buffer[RDMAEZ_ENDPOINT_BYTES];
	struct rdmaez_exchange_list list;
	struct rdmaez_endpoint own, found;
	struct rdmaez_impl_exchange x;
	struct rdmaez_qp_opts with;
	int error = 0, met;

	rdmaez_impl_diag_reset_for(diag, call, rdmaez_impl_why_connect);
	if (!qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "qp");
	memset(&with, 0, sizeof(with));
	if (opts && opts->qp)
		with = *opts->qp;
	rdmaez_impl_exchange_on(&x, socket, opts ? opts->timeout_ns : 0);
	list.count = 1;
	list.local = local ? local : &own;
	list.remote = &found;
	list.buffer = buffer;
	if (!local)
		error = rdmaez_impl_exchange_local(socket, qp, &with, &own, diag);
	if (!error)
		error = rdmaez_impl_exchange_meet(&x, qp, &list, &with, diag);
	if (x.socket >= 0) {
		if (diag && !error)
			diag->texts = rdmaez_impl_why_connect;
		met = rdmaez_impl_exchange_ready(&x, error,
						 error ? 0 : list.local->nonce + found.nonce,
						 error ? NULL : diag);
		error = error ? error : met;
	}
	if (diag)
		diag->call = call;
	if (!error && remote)
		*remote = found;
	return error;
}

/* ---- Opening a connection -------------------------------------------------------------------- */

/* What netdb.h hides from strict C, and what it and other headers would cost for a few numbers. */
struct rdmaez_impl_addrinfo {
	int flags, family, socktype, protocol;
	socklen_t length;
	struct sockaddr *address;
	char *name;
	struct rdmaez_impl_addrinfo *next;
};

extern int rdmaez_impl_getaddrinfo(const char *host, const char *port,
				   const struct rdmaez_impl_addrinfo *hints,
				   struct rdmaez_impl_addrinfo **list) __asm__("getaddrinfo");
extern void rdmaez_impl_freeaddrinfo(struct rdmaez_impl_addrinfo *list) __asm__("freeaddrinfo");
extern int rdmaez_impl_accept4(int socket, struct sockaddr *address, socklen_t *length,
			       int flags) __asm__("accept4");

enum {
	RDMAEZ_IMPL_AI_PASSIVE = 1,
	RDMAEZ_IMPL_EAI_AGAIN = -3,
	RDMAEZ_IMPL_EAI_FAIL = -4,
	RDMAEZ_IMPL_EAI_SERVICE = -8,
	RDMAEZ_IMPL_EAI_MEMORY = -10,
	RDMAEZ_IMPL_EAI_SYSTEM = -11,
	RDMAEZ_IMPL_TCP = 6, /* IPPROTO_TCP, and its TCP_NODELAY */
	RDMAEZ_IMPL_TCP_NODELAY = 1,
	RDMAEZ_IMPL_IPV6 = 41, /* IPPROTO_IPV6, and its IPV6_V6ONLY */
	RDMAEZ_IMPL_IPV6_V6ONLY = 26
};

/* Looks up a host, or with NULL the addresses to listen at, and a port. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_resolve(const char *host, const char *port,
						  struct rdmaez_impl_addrinfo **list,
						  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site range = {"port", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_NUMBER,
						      1, UINT16_MAX};
	struct rdmaez_impl_addrinfo hints;
	const char *end = port;
	const uint64_t number = rdmaez_impl_number(&end, 10);
	int error;

	if (!*end && (!number || number > UINT16_MAX))
		return rdmaez_impl_refuse_at(diag, EINVAL, &range, (int64_t)number);
	memset(&hints, 0, sizeof(hints));
	hints.flags = host ? 0 : RDMAEZ_IMPL_AI_PASSIVE;
	hints.socktype = SOCK_STREAM;
	error = rdmaez_impl_getaddrinfo(host, port, &hints, list);
	switch (error) {
	case 0:
		return 0;
	case RDMAEZ_IMPL_EAI_SERVICE:
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_OPEN_SERVICE, "port");
	case RDMAEZ_IMPL_EAI_AGAIN:
	case RDMAEZ_IMPL_EAI_FAIL:
	case RDMAEZ_IMPL_EAI_MEMORY:
	case RDMAEZ_IMPL_EAI_SYSTEM:
		error = error == RDMAEZ_IMPL_EAI_AGAIN    ? EAGAIN
			: error == RDMAEZ_IMPL_EAI_MEMORY ? ENOMEM
			: error == RDMAEZ_IMPL_EAI_FAIL   ? EIO
							  : rdmaez_impl_error(-1);
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_OPEN_LOOKUP, "host");
	default:
		return rdmaez_impl_refuse(diag, ENOENT, RDMAEZ_WHY_OPEN_NAME, "host");
	}
}

RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_socket(const struct rdmaez_impl_addrinfo *at, int *fd)
{
	*fd = socket(at->family, at->socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->protocol);
	return *fd < 0 ? errno : 0;
}

/* A listener at one of the addresses: 0, or why not, with nothing left open. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_listen(const struct rdmaez_impl_addrinfo *at, int *fd)
{
	const int yes = 1, no = 0;
	int error = rdmaez_impl_exchange_socket(at, fd);

	if (error)
		return error;
	(void)setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (at->family == AF_INET6)
		(void)setsockopt(*fd, RDMAEZ_IMPL_IPV6, RDMAEZ_IMPL_IPV6_V6ONLY, &no, sizeof(no));
	if (!bind(*fd, at->address, at->length) && !listen(*fd, 1))
		return 0;
	error = errno;
	close(*fd);
	return error;
}

/* Waits for one peer at IPv6 and IPv4, or IPv4 alone where the host has no IPv6. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_accept(const struct rdmaez_impl_addrinfo *list,
						 const struct rdmaez_impl_exchange *x, int *fd,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site nobody = {"timeout_ns", RDMAEZ_WHY_OPEN_NO_PEER,
						       RDMAEZ_VALUE_NS, 0, 0};
	static const int families[] = {AF_INET6, AF_INET};
	int error = EAFNOSUPPORT, listener = -1;

	for (int i = 0; i < 2 && error && error != EADDRINUSE; i++)
		for (const struct rdmaez_impl_addrinfo *at = list; at && error; at = at->next)
			if (at->family == families[i])
				error = rdmaez_impl_exchange_listen(at, &listener);
	if (error)
		return rdmaez_impl_refuse(diag, error,
					  error == EADDRINUSE ? RDMAEZ_WHY_OPEN_IN_USE
							      : RDMAEZ_WHY_EXCHANGE_SOCKET,
					  "port");
	do {
		error = rdmaez_impl_exchange_wait(listener, POLLIN, x->deadline);
		if (error)
			break;
		*fd = rdmaez_impl_accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		error = *fd < 0 ? errno : 0;
	} while ((error == EAGAIN || error == EINTR || error == ECONNABORTED) &&
		 rdmaez_impl_exchange_left(x->deadline));
	close(listener);
	if (error == ETIMEDOUT)
		return rdmaez_impl_refuse_within(diag, error, &nobody, (int64_t)x->timeout,
						 (int64_t)x->timeout, (int64_t)x->timeout);
	return error ? rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_EXCHANGE_SOCKET, "accept4") : 0;
}

/* Whether a socket is connected with itself, as TCP does where nobody listens at the port that it was given for its own. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_exchange_is_self(int fd)
{
	struct sockaddr_storage own, peer;
	socklen_t own_size = sizeof(own), peer_size = sizeof(peer);

	memset(&own, 0, sizeof(own));
	memset(&peer, 0, sizeof(peer));
	return !getsockname(fd, (struct sockaddr *)&own, &own_size) &&
	       !getpeername(fd, (struct sockaddr *)&peer, &peer_size) &&
	       memcmp(&own, &peer, sizeof(own)) == 0;
}

/* Connects to one address: 0, or why not, with nothing left open. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_try(const struct rdmaez_impl_addrinfo *at,
					      uint64_t deadline, int *fd)
{
	socklen_t size = sizeof(int);
	int error = rdmaez_impl_exchange_socket(at, fd), failed = 0;

	if (error)
		return error;
	if (connect(*fd, at->address, at->length))
		error = errno;
	if (error == EINPROGRESS || error == EINTR)
		error = rdmaez_impl_exchange_wait(*fd, POLLOUT, deadline);
	if (!error)
		error = getsockopt(*fd, SOL_SOCKET, SO_ERROR, &failed, &size) ? errno : failed;
	if (!error && rdmaez_impl_exchange_is_self(*fd))
		error = ECONNREFUSED;
	if (!error && fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK))
		error = errno;
	if (error)
		close(*fd);
	return error;
}

/* Whether a host may yet be reached where it was not. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_exchange_heals(int error)
{
	return error == ECONNREFUSED || error == ECONNRESET || error == ETIMEDOUT ||
	       error == EHOSTUNREACH || error == ENETUNREACH;
}

/*
 * Tries all addresses, and again until the deadline. One that does not answer must not keep the others from being tried,
 * so where there are several each has a second at first, and twice as long in each round.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_exchange_reach(const struct rdmaez_impl_addrinfo *list,
						const struct rdmaez_impl_exchange *x, int *fd,
						struct rdmaez_diag *diag)
{
	uint64_t rest = 10000000, each = 1000000000, left;
	int error, worst;

	do {
		worst = 0;
		for (const struct rdmaez_impl_addrinfo *at = list; at; at = at->next) {
			left = rdmaez_impl_exchange_left(x->deadline);
			error = rdmaez_impl_exchange_try(
				at,
				list->next && left > each ? x->deadline - left + each : x->deadline,
				fd);
			if (!error)
				return 0;
			/* A host that refuses tells more than an address that does not answer. */
			if (worst != ECONNREFUSED)
				worst = error;
		}
		left = rdmaez_impl_exchange_left(x->deadline);
		if (left && rdmaez_impl_exchange_heals(worst))
			rdmaez_impl_rest(rest < left ? rest : left);
		rest = rest < 200000000 ? 2 * rest : rest;
		each *= 2;
	} while (left && rdmaez_impl_exchange_heals(worst));
	if (worst == ECONNREFUSED)
		return rdmaez_impl_refuse(diag, worst, RDMAEZ_WHY_OPEN_REFUSED, "port");
	return rdmaez_impl_refuse(diag, worst,
				  rdmaez_impl_exchange_heals(worst) ? RDMAEZ_WHY_OPEN_UNREACHED
								    : RDMAEZ_WHY_EXCHANGE_SOCKET,
				  rdmaez_impl_exchange_heals(worst) ? "host" : "connect");
}

RDMAEZ_API int rdmaez_exchange_open(const char *host, const char *port, uint64_t timeout_ns,
				    int *socket, struct rdmaez_diag *diag)
{
	const int yes = 1;
	struct rdmaez_impl_addrinfo *list;
	struct rdmaez_impl_exchange x;
	int error, fd = -1;

	rdmaez_impl_diag_reset_for(diag, "rdmaez_exchange_open", rdmaez_impl_why_connect);
	if (!port || !socket)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  port ? "socket" : "port");
	rdmaez_impl_exchange_on(&x, -1, timeout_ns);
	error = rdmaez_impl_exchange_resolve(host, port, &list, diag);
	if (error)
		return error;
	error = host ? rdmaez_impl_exchange_reach(list, &x, &fd, diag)
		     : rdmaez_impl_exchange_accept(list, &x, &fd, diag);
	rdmaez_impl_freeaddrinfo(list);
	if (error)
		return error;
	(void)setsockopt(fd, RDMAEZ_IMPL_TCP, RDMAEZ_IMPL_TCP_NODELAY, &yes, sizeof(yes));
	*socket = fd;
	return 0;
}

/* ---- The peer's address ---------------------------------------------------------------------- */

RDMAEZ_API int rdmaez_exchange_peer(int socket, union ibv_gid *peer, struct rdmaez_diag *diag)
{
	static const uint8_t loopback[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	union ibv_gid gid;

	rdmaez_impl_diag_reset_for(diag, "rdmaez_exchange_peer", rdmaez_impl_why_connect);
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

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
