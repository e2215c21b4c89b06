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
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_QP_H
#include "../qp.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- Messages -------------------------------------------------------------------------------- */

/* The bytes that each message begins with: "RZEX", error, kind, count, identity, length. */
#define RDMAEZ_IMPL_EXCHANGE_HEAD 24

/*
 * Two messages that cross. What comes takes the place of what has been sent, so one buffer is enough: of two ends that
 * wait for each other, one has sent less, and finds room for what the other has.
 */
struct rdmaez_impl_exchange {
	int socket;
	uint64_t deadline;
	uint64_t sent, size; /* of the own message, and */
	uint64_t got, want;  /* of the peer's, each with its head */
	uint8_t *buffer;
	uint8_t own[RDMAEZ_IMPL_EXCHANGE_HEAD], peer[RDMAEZ_IMPL_EXCHANGE_HEAD];
};

/* How long a call may take unless it is told: 10 s. */
#define RDMAEZ_IMPL_EXCHANGE_NS UINT64_C(10000000000)

/* Why it goes no further: the time is over, the peer is gone, or a socket call says so. */
RDMAEZ_IMPL int rdmaez_impl_exchange_stop(const struct rdmaez_impl_exchange *x, int error,
					  bool is_send, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_site site = {is_send ? "send" : "recv", RDMAEZ_WHY_EXCHANGE_CLOSED,
					RDMAEZ_VALUE_BYTES, 0, 0};
	const uint64_t done = is_send ? x->sent : x->got, all = is_send ? x->size : x->want;

	if (error == ETIMEDOUT)
		site.why = is_send ? RDMAEZ_WHY_EXCHANGE_UNREAD
			   : done  ? RDMAEZ_WHY_EXCHANGE_PART
				   : RDMAEZ_WHY_EXCHANGE_SILENT;
	else if (error != EPIPE && error != ECONNRESET)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_EXCHANGE_SOCKET, site.field);
	return rdmaez_impl_refuse_within(diag, error, &site, (int64_t)done, (int64_t)all,
					 (int64_t)all);
}

/* Looks at the head of the peer's message: as much of the first word as there is, then all of it. */
RDMAEZ_IMPL int rdmaez_impl_exchange_head(struct rdmaez_impl_exchange *x, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site failed = {"message.error", RDMAEZ_WHY_PEER_FAILED,
						       RDMAEZ_VALUE_ERRNO, 0, 0};
	static const struct rdmaez_impl_site same[] = {
		{"message.kind", RDMAEZ_WHY_EXCHANGE_STEP, RDMAEZ_VALUE_NUMBER, 0, 0},
		{"message.count", RDMAEZ_WHY_EXCHANGE_COUNT, RDMAEZ_VALUE_NUMBER, 0, 0},
		{"message.identity", RDMAEZ_WHY_EXCHANGE_IDENTITY, RDMAEZ_VALUE_NUMBER, 0, 0},
		{"message.length", RDMAEZ_WHY_EXCHANGE_FOREIGN, RDMAEZ_VALUE_BYTES, 0, -1}};
	const uint8_t *own = x->own + 8, *peer = x->peer + 4;
	int64_t mine, theirs;

	if (memcmp(x->peer, x->own, x->got < 4 ? (size_t)x->got : 4) != 0)
		return rdmaez_impl_refuse(diag, EBADMSG, RDMAEZ_WHY_EXCHANGE_FOREIGN,
					  "message.magic");
	if (x->got < RDMAEZ_IMPL_EXCHANGE_HEAD)
		return 0;
	theirs = (int64_t)rdmaez_impl_bytes_get(&peer, 4);
	if (theirs)
		return rdmaez_impl_refuse_at(diag, ECONNABORTED, &failed, theirs);
	for (int i = 0; i < 4; i++) {
		mine = (int64_t)rdmaez_impl_bytes_get(&own, 4);
		theirs = (int64_t)rdmaez_impl_bytes_get(&peer, 4);
		if (i == 3 ? theirs < mine : theirs != mine)
			return rdmaez_impl_refuse_within(diag, i == 3 ? EBADMSG : EPROTO, &same[i],
							 theirs, mine, i == 3 ? -1 : mine);
	}
	/* What a later version has added. */
	x->want += (uint64_t)(theirs - mine);
	return 0;
}

/* Sends once: 0, or an errno value; EAGAIN: not now. */
RDMAEZ_IMPL int rdmaez_impl_exchange_send(struct rdmaez_impl_exchange *x)
{
	const uint64_t head = RDMAEZ_IMPL_EXCHANGE_HEAD;
	const bool is_head = x->sent < head;
	const ssize_t sent =
		send(x->socket, is_head ? x->own + x->sent : x->buffer + (x->sent - head),
		     (size_t)((is_head ? head : x->size) - x->sent),
		     MSG_NOSIGNAL | MSG_DONTWAIT | (is_head && x->size > head ? MSG_MORE : 0));

	if (sent < 0)
		return errno == EINTR ? EAGAIN : errno;
	x->sent += (uint64_t)sent;
	return 0;
}

/* Receives once, never beyond the message: 0, or an errno value; EAGAIN: not now. */
RDMAEZ_IMPL int rdmaez_impl_exchange_receive(struct rdmaez_impl_exchange *x,
					     struct rdmaez_diag *diag)
{
	const uint64_t head = RDMAEZ_IMPL_EXCHANGE_HEAD, got = x->got;
	const bool is_head = got < head, is_more = got >= x->size;
	uint8_t more[256];
	uint64_t room = is_head ? head - got : is_more ? sizeof(more) : x->sent - got;
	ssize_t came;

	if (room > x->want - got)
		room = x->want - got;
	came = recv(x->socket,
		    is_head   ? x->peer + got
		    : is_more ? more
			      : x->buffer + (got - head),
		    (size_t)room, MSG_DONTWAIT);
	if (came < 0 && (errno == EAGAIN || errno == EINTR))
		return EAGAIN;
	if (came <= 0)
		return rdmaez_impl_exchange_stop(x, came ? errno : ECONNRESET, false, diag);
	x->got += (uint64_t)came;
	return is_head ? rdmaez_impl_exchange_head(x, diag) : 0;
}

/*
 * Sends one message and receives the other at the same time. A peer that is gone may have told why before: so after
 * sending has failed, what it sent last is still read as far as its error stands there.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_run(struct rdmaez_impl_exchange *x, struct rdmaez_diag *diag)
{
	int broken = 0, sent, got, error;
	bool reads;

	do {
		sent = x->sent < x->size && !broken ? rdmaez_impl_exchange_send(x) : EAGAIN;
		if (sent && sent != EAGAIN)
			broken = sent;
		if (broken && ((broken != EPIPE && broken != ECONNRESET) ||
			       x->got >= RDMAEZ_IMPL_EXCHANGE_HEAD))
			return rdmaez_impl_exchange_stop(x, broken, true, diag);
		reads = x->got < RDMAEZ_IMPL_EXCHANGE_HEAD ||
			x->got < (x->sent < x->size ? x->sent : x->want);
		got = reads ? rdmaez_impl_exchange_receive(x, diag) : EAGAIN;
		if (got && got != EAGAIN)
			return got;
		if (x->sent == x->size && x->got == x->want)
			return 0;
		/* What is there is taken even when the time is over, but for what a later version has added. */
		error = 0;
		if (((sent && got) || x->got > x->size) && !rdmaez_impl_left(x->deadline))
			error = ETIMEDOUT;
		else if (sent && got)
			error = rdmaez_impl_wait(
				x->socket,
				(reads ? POLLIN : 0) | (x->sent < x->size && !broken ? POLLOUT : 0),
				x->deadline);
	} while (!error);
	return rdmaez_impl_exchange_stop(x, error, !reads, diag);
}

/* One message each way, of these numbers; an error to tell, 0: none. The endpoints are in the buffer already. */
RDMAEZ_IMPL int rdmaez_impl_exchange_swap(struct rdmaez_impl_exchange *x, int error, uint32_t kind,
					  size_t count, uint32_t identity, struct rdmaez_diag *diag)
{
	const uint64_t length = (uint64_t)count * RDMAEZ_ENDPOINT_BYTES;
	const uint64_t words[] = {0x525a4558, (uint32_t)error, kind, count, identity, length};

	for (int i = 0; i < 6; i++)
		rdmaez_impl_bytes_put(x->own + 4 * i, words[i], 4);
	x->sent = x->got = 0;
	x->size = x->want = RDMAEZ_IMPL_EXCHANGE_HEAD + length;
	return rdmaez_impl_exchange_run(x, diag);
}

/* What is wrong with an endpoint is followed by which it is. Outputs are written after a look at all. */
RDMAEZ_IMPL int rdmaez_impl_exchange_list(struct rdmaez_impl_exchange *x,
					  const struct rdmaez_exchange_list *list,
					  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site local = {"local", RDMAEZ_WHY_EXCHANGE_LOCAL,
						      RDMAEZ_VALUE_POSITION, 0, 0};
	static const struct rdmaez_impl_site remote = {"remote", RDMAEZ_WHY_EXCHANGE_REMOTE,
						       RDMAEZ_VALUE_POSITION, 0, 0};
	const size_t bytes = RDMAEZ_ENDPOINT_BYTES;
	struct rdmaez_endpoint one;
	int error;

	for (size_t i = 0; i < list->count; i++)
		if (rdmaez_endpoint_pack(&list->local[i], list->buffer + i * bytes))
			return rdmaez_impl_refuse_at(diag, EINVAL, &local, (int64_t)i);
	x->buffer = list->buffer;
	error = rdmaez_impl_exchange_swap(x, 0, 1, list->count, 0, diag);
	for (size_t i = 0; !error && i < list->count; i++) {
		error = rdmaez_endpoint_unpack(list->buffer + i * bytes, &one, diag);
		if (error && list->count > 1)
			rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &remote, i);
	}
	for (size_t i = 0; !error && i < list->count; i++)
		rdmaez_endpoint_unpack(list->buffer + i * bytes, &list->remote[i], NULL);
	return error;
}

RDMAEZ_API int rdmaez_exchange_many(int socket, const struct rdmaez_exchange_list *list,
				    uint64_t timeout_ns, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site count = {"count", RDMAEZ_WHY_RANGE,
						      RDMAEZ_VALUE_NUMBER, 1,
						      INT32_MAX / RDMAEZ_ENDPOINT_BYTES};
	struct rdmaez_impl_exchange x;
	int error;

	rdmaez_impl_diag_reset(diag, "");
	if (!list || !list->local || !list->remote || !list->buffer)
		error = rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					   !list           ? "list"
					   : !list->local  ? "local"
					   : !list->remote ? "remote"
							   : "buffer");
	else if (!list->count || list->count > (size_t)count.max)
		error = rdmaez_impl_refuse_at(diag, EINVAL, &count, (int64_t)list->count);
	else {
		x.socket = socket;
		x.deadline = rdmaez_impl_deadline(timeout_ns, RDMAEZ_IMPL_EXCHANGE_NS);
		error = rdmaez_impl_exchange_list(&x, list, diag);
	}
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

/* ---- Barrier, and all of it ------------------------------------------------------------------ */

RDMAEZ_API int rdmaez_exchange_barrier(int socket, const struct rdmaez_exchange_ready *ready,
				       uint64_t timeout_ns, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"ready.error", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_NUMBER, 0, INT32_MAX};
	struct rdmaez_impl_exchange x;

	rdmaez_impl_diag_reset(diag, "rdmaez_exchange_barrier");
	if (ready && ready->error < 0)
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, ready->error);
	x.socket = socket;
	x.deadline = rdmaez_impl_deadline(timeout_ns, RDMAEZ_IMPL_EXCHANGE_NS);
	x.buffer = NULL;
	return rdmaez_impl_exchange_swap(&x, ready ? ready->error : 0, 2, 0,
					 ready ? ready->identity : 0, diag);
}

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

/*
 * All but the barrier: whatever fails here, the peer is still to be told, if the socket has not failed itself. Where the
 * caller has no endpoint, its GIDs are ordered by the address by which the socket knows the peer.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_meet(struct rdmaez_impl_exchange *x, struct ibv_qp *qp,
					  const struct rdmaez_exchange_list *list,
					  struct rdmaez_endpoint *own, struct rdmaez_qp_opts *opts,
					  struct rdmaez_diag *diag)
{
	uint64_t left;
	int error = 0;

	if (own && rdmaez_gid_is_zero(&opts->path.dgid))
		error = rdmaez_exchange_peer(x->socket, &opts->path.dgid, diag);
	if (own && !error)
		error = rdmaez_endpoint_local(qp, opts, own, diag);
	if (!error) {
		rdmaez_impl_diag_qp(diag, qp);
		error = rdmaez_impl_exchange_list(x, list, diag);
	}
	left = rdmaez_impl_left(x->deadline);
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
	uint8_t buffer[RDMAEZ_ENDPOINT_BYTES];
	struct rdmaez_endpoint own, found;
	const struct rdmaez_exchange_list list = {1, local ? local : &own, &found, buffer};
	struct rdmaez_impl_exchange x;
	struct rdmaez_qp_opts with;
	int error, met;

	rdmaez_impl_diag_reset(diag, "rdmaez_exchange_connect");
	if (!qp) {
		(void)rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "qp");
		return EINVAL; /* never 0, which the compiler sees here */
	}
	memset(&x, 0, sizeof(x));
	memset(&with, 0, sizeof(with));
	if (opts && opts->qp)
		with = *opts->qp;
	x.socket = socket;
	x.deadline = rdmaez_impl_deadline(opts ? opts->timeout_ns : 0, RDMAEZ_IMPL_EXCHANGE_NS);
	error = rdmaez_impl_exchange_meet(&x, qp, &list, local ? NULL : &own, &with, diag);
	/* In step: both messages are through, or none has begun. */
	if (x.sent == x.size && x.got == x.want) {
		met = rdmaez_impl_exchange_swap(&x, error, 2, 0,
						error ? 0 : list.local->nonce + found.nonce,
						error ? NULL : diag);
		if (diag && !error && met) { /* the record of a success so far */
			diag->from = (int)qp->state;
			diag->to = -1;
		}
		error = error ? error : met;
	}
	if (diag)
		diag->call = "rdmaez_exchange_connect";
	if (!error && remote)
		*remote = found;
	return error;
}

/* ---- Opening a connection -------------------------------------------------------------------- */

/* What the C library hides from strict C; its headers would cost more, too. */
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

/* Looks up a host, or with NULL the addresses to listen at, and a port. */
RDMAEZ_IMPL int rdmaez_impl_exchange_resolve(const char *host, const char *port,
					     struct rdmaez_impl_addrinfo **list,
					     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site range = {"port", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_NUMBER,
						      1, UINT16_MAX};
	const int eai_again = -3, eai_fail = -4, eai_service = -8, eai_memory = -10,
		  eai_system = -11;
	struct rdmaez_impl_addrinfo hints;
	const char *end = port;
	const uint64_t number = rdmaez_impl_number(&end, 10);
	int error;

	if (!*end && (!number || number > UINT16_MAX))
		return rdmaez_impl_refuse_at(diag, EINVAL, &range, (int64_t)number);
	memset(&hints, 0, sizeof(hints));
	hints.flags = !host; /* AI_PASSIVE */
	hints.socktype = SOCK_STREAM;
	error = rdmaez_impl_getaddrinfo(host, port, &hints, list);
	if (!error)
		return 0;
	if (error == eai_service)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_OPEN_SERVICE, "port");
	if (error != eai_again && error != eai_fail && error != eai_memory && error != eai_system)
		return rdmaez_impl_refuse(diag, ENOENT, RDMAEZ_WHY_OPEN_NAME, "host");
	return rdmaez_impl_refuse(diag,
				  error == eai_system   ? rdmaez_impl_error(-1)
				  : error == eai_memory ? ENOMEM
							: EAGAIN,
				  RDMAEZ_WHY_OPEN_LOOKUP, "host");
}

/* A listener at an address, or a socket on its way to it: 0, or why not, with nothing left open. */
RDMAEZ_IMPL int rdmaez_impl_exchange_begin(const struct rdmaez_impl_addrinfo *at, bool listens,
					   int *fd)
{
	const int ipproto_ipv6 = 41, ipv6_v6only = 26, yes = 1, no = 0;
	int error;

	*fd = socket(at->family, at->socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->protocol);
	if (*fd < 0)
		return errno;
	if (listens) {
		(void)setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		if (at->family == AF_INET6)
			(void)setsockopt(*fd, ipproto_ipv6, ipv6_v6only, &no, sizeof(no));
		if (!bind(*fd, at->address, at->length) && !listen(*fd, 1))
			return 0;
	} else if (!connect(*fd, at->address, at->length) || errno == EINPROGRESS ||
		   errno == EINTR) {
		return 0;
	}
	error = errno;
	rdmaez_impl_close(*fd);
	return error;
}

/* Listens at the first address of a family that works; EAFNOSUPPORT where there is none. */
RDMAEZ_IMPL int rdmaez_impl_exchange_listen(const struct rdmaez_impl_addrinfo *list, int family,
					    int *listener)
{
	int error = EAFNOSUPPORT;

	for (const struct rdmaez_impl_addrinfo *at = list; at && error; at = at->next)
		if (at->family == family)
			error = rdmaez_impl_exchange_begin(at, true, listener);
	return error;
}

/* Waits for one peer at IPv6 and IPv4, or IPv4 alone where the host has no IPv6. */
RDMAEZ_IMPL int rdmaez_impl_exchange_accept(const struct rdmaez_impl_addrinfo *list,
					    uint64_t deadline, int *fd, struct rdmaez_diag *diag)
{
	int listener = -1, error = rdmaez_impl_exchange_listen(list, AF_INET6, &listener);

	if (error && error != EADDRINUSE)
		error = rdmaez_impl_exchange_listen(list, AF_INET, &listener);
	if (error)
		return rdmaez_impl_refuse(diag, error,
					  error == EADDRINUSE ? RDMAEZ_WHY_OPEN_IN_USE
							      : RDMAEZ_WHY_EXCHANGE_SOCKET,
					  "port");
	do {
		error = rdmaez_impl_wait(listener, POLLIN, deadline);
		*fd = -1;
		if (!error)
			*fd = rdmaez_impl_accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (!error && *fd < 0)
			error = errno;
		/* A peer that has gone again meanwhile, or been interrupted, is none. */
	} while ((error == EAGAIN || error == EINTR || error == ECONNABORTED) &&
		 rdmaez_impl_left(deadline));
	rdmaez_impl_close(listener);
	if (error == ETIMEDOUT)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_OPEN_NO_PEER, "timeout_ns");
	return error ? rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_EXCHANGE_SOCKET, "accept4") : 0;
}

/*
 * Whether a socket that was on its way has arrived. TCP connects a socket with itself where nobody listens at the port
 * that it was given for its own.
 */
RDMAEZ_IMPL int rdmaez_impl_exchange_arrived(int fd, uint64_t deadline)
{
	struct sockaddr_storage own, peer;
	socklen_t own_size = sizeof(own), peer_size = sizeof(peer), size = sizeof(int);
	int failed = 0, error = rdmaez_impl_wait(fd, POLLOUT, deadline);

	if (!error)
		error = getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) ? errno : failed;
	if (error)
		return error;
	memset(&own, 0, sizeof(own));
	memset(&peer, 0, sizeof(peer));
	if (getsockname(fd, (struct sockaddr *)&own, &own_size) ||
	    getpeername(fd, (struct sockaddr *)&peer, &peer_size) ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK))
		return errno;
	return memcmp(&own, &peer, sizeof(own)) ? 0 : ECONNREFUSED;
}

/* Whether a host that was not reached may yet be. */
RDMAEZ_IMPL bool rdmaez_impl_exchange_heals(int error)
{
	return error == ECONNREFUSED || error == ECONNRESET || error == ETIMEDOUT ||
	       error == EHOSTUNREACH || error == ENETUNREACH;
}

/*
 * Tries all addresses, and again until the deadline. One that does not answer must not keep the others from being tried,
 * so where there are several each has a second at first, and twice as long in each round.
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
			error = rdmaez_impl_exchange_begin(at, false, fd);
			if (!error) {
				error = rdmaez_impl_exchange_arrived(
					*fd, left > each ? deadline - left + each : deadline);
				if (!error)
					return 0;
				rdmaez_impl_close(*fd);
			}
			/* A host that refuses, or did, tells more than one that does not answer. */
			if (worst != ECONNREFUSED && (rdmaez_impl_exchange_heals(error) ||
						      !rdmaez_impl_exchange_heals(worst)))
				worst = error;
		}
		each = each < UINT64_C(100000000000) ? 2 * each : each;
		if (retry.rest > 100000000)
			retry.rest = 100000000;
	} while (rdmaez_impl_exchange_heals(worst) && rdmaez_impl_try_again(&retry, ETIMEDOUT));
	if (worst == ECONNREFUSED)
		return rdmaez_impl_refuse(diag, worst, RDMAEZ_WHY_OPEN_REFUSED, "port");
	return rdmaez_impl_exchange_heals(worst)
		       ? rdmaez_impl_refuse(diag, worst, RDMAEZ_WHY_OPEN_UNREACHED, "host")
		       : rdmaez_impl_refuse(diag, worst, RDMAEZ_WHY_EXCHANGE_SOCKET, "connect");
}

RDMAEZ_API int rdmaez_exchange_open(const char *host, const char *port, uint64_t timeout_ns,
				    int *socket, struct rdmaez_diag *diag)
{
	const int ipproto_tcp = 6, tcp_nodelay = 1, yes = 1;
	const uint64_t deadline = rdmaez_impl_deadline(timeout_ns, RDMAEZ_IMPL_EXCHANGE_NS);
	struct rdmaez_impl_addrinfo *list;
	int error, fd = -1;

	rdmaez_impl_diag_reset(diag, "rdmaez_exchange_open");
	if (!port || !socket)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  port ? "socket" : "port");
	error = rdmaez_impl_exchange_resolve(host, port, &list, diag);
	if (error)
		return error;
	error = host ? rdmaez_impl_exchange_reach(list, deadline, &fd, diag)
		     : rdmaez_impl_exchange_accept(list, deadline, &fd, diag);
	rdmaez_impl_freeaddrinfo(list);
	if (error)
		return error;
	(void)setsockopt(fd, ipproto_tcp, tcp_nodelay, &yes, sizeof(yes));
	*socket = fd;
	return 0;
}

/* ---- The peer's address ---------------------------------------------------------------------- */

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
