/* SPDX-License-Identifier: MIT */
/* Implements handshake.h: what the blocking functions of exchange.h do, one step at a time. */
#ifndef RDMAEZ_IMPL_HANDSHAKE_H
#define RDMAEZ_IMPL_HANDSHAKE_H

#ifndef RDMAEZ_HANDSHAKE_H
#include "../handshake.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_EXCHANGE_H
#include "exchange.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif

RDMAEZ_IMPL_BEGIN

/*
 * An exchange has room in a handshake, which is as large as documented. If it has not, this divides
 * by zero.
 */
enum {
	RDMAEZ_IMPL_HANDSHAKE_FITS = 1 / (sizeof(struct rdmaez_impl_exchange) <=
						  sizeof(((struct rdmaez_handshake *)0)->own) &&
					  sizeof(struct rdmaez_handshake) <= 2048)
};

/* ---- An exchange in a handshake -------------------------------------------------------------- */

/*
 * Begins an exchange, and tells it where to keep what is large. It has no deadline, so nothing is
 * tried again.
 */
RDMAEZ_IMPL void rdmaez_impl_handshake_begin(struct rdmaez_handshake *shake, int socket,
					     struct rdmaez_impl_exchange *x)
{
	shake->error = 0;
	rdmaez_impl_exchange_clear(x, socket);
	x->local = &shake->local;
	x->remote = &shake->remote;
	x->opts = &shake->opts;
	x->out = shake->bytes[0];
	x->in = shake->bytes[1];
}

/* Takes the exchange out of the handshake. */
RDMAEZ_IMPL void rdmaez_impl_handshake_load(const struct rdmaez_handshake *shake,
					    struct rdmaez_impl_exchange *x)
{
	memcpy(x, shake->own, sizeof(*x));
}

/*
 * Puts the exchange back. What has come of a list is unpacked once all is there. For a connection,
 * the record tells which one.
 */
RDMAEZ_IMPL int rdmaez_impl_handshake_store(struct rdmaez_handshake *shake,
					    struct rdmaez_impl_exchange *x, const char *call,
					    struct rdmaez_diag *diag)
{
	const bool was = shake->error != 0;

	if (!x->wants && !x->error)
		x->error = rdmaez_impl_exchange_unpack(x, diag);
	memcpy(shake->own, x, sizeof(*x));
	shake->wants = x->wants;
	shake->error = x->error;
	if (diag && !was) {
		diag->call = call;
		if (x->qp)
			rdmaez_impl_diag_qp(diag, x->qp);
		rdmaez_impl_exchange_told(x, diag);
	}
	return x->error;
}

/*
 * Begins the record of a call, unless that of a failure is to stay. Returns EINVAL if an argument
 * is missing.
 */
RDMAEZ_IMPL int rdmaez_impl_handshake_call(const struct rdmaez_handshake *shake, const char *call,
					   const char *missing, struct rdmaez_diag *diag)
{
	if (!shake)
		missing = "shake";
	if (missing || !shake->error)
		rdmaez_impl_diag_reset(diag, call);
	return missing ? rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing) : 0;
}

/* ---- Beginning ------------------------------------------------------------------------------- */

RDMAEZ_API int rdmaez_handshake_exchange(struct rdmaez_handshake *shake, int socket,
					 const struct rdmaez_exchange_list *list,
					 struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_handshake_exchange";
	struct rdmaez_impl_exchange x;

	rdmaez_impl_diag_reset(diag, call);
	if (!shake)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "shake");
	rdmaez_impl_handshake_begin(shake, socket, &x);
	x.error = rdmaez_impl_exchange_list(&x, list, diag);
	return rdmaez_impl_handshake_store(shake, &x, call, diag);
}

RDMAEZ_API int rdmaez_handshake_barrier(struct rdmaez_handshake *shake, int socket,
					const struct rdmaez_exchange_ready *ready,
					struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_handshake_barrier";
	struct rdmaez_impl_exchange x;

	rdmaez_impl_diag_reset(diag, call);
	if (!shake)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "shake");
	rdmaez_impl_handshake_begin(shake, socket, &x);
	x.error = rdmaez_impl_exchange_barrier(&x, ready, diag);
	return rdmaez_impl_handshake_store(shake, &x, call, diag);
}

RDMAEZ_API int rdmaez_handshake_connect(struct rdmaez_handshake *shake, int socket,
					struct ibv_qp *qp, const struct rdmaez_endpoint *local,
					const struct rdmaez_exchange_opts *opts,
					struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_handshake_connect";
	struct rdmaez_impl_exchange x;

	rdmaez_impl_diag_reset(diag, call);
	if (!shake)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "shake");
	rdmaez_impl_handshake_begin(shake, socket, &x);
	x.error = rdmaez_impl_exchange_connect(&x, qp, local, opts, diag);
	return rdmaez_impl_handshake_store(shake, &x, call, diag);
}

/* ---- Going on -------------------------------------------------------------------------------- */

RDMAEZ_API int rdmaez_handshake_step(struct rdmaez_handshake *shake, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_handshake_step";
	struct rdmaez_impl_exchange x;
	const int error = rdmaez_impl_handshake_call(shake, call, NULL, diag);
	int rounds = 64; /* a peer that sends without end must not keep the others waiting */

	if (error || !shake->wants)
		return error ? error : shake->error;
	rdmaez_impl_handshake_load(shake, &x);
	do {
		(void)rdmaez_impl_exchange_once(&x, diag);
	} while (x.wants && x.moved && --rounds);
	return rdmaez_impl_handshake_store(shake, &x, call, diag);
}

RDMAEZ_COLD int rdmaez_handshake_give(struct rdmaez_handshake *shake, const void *bytes,
				      size_t count, size_t *taken, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_handshake_give";
	const char *const missing = !taken ? "taken" : !bytes && count ? "bytes" : NULL;
	const uint8_t *from = (const uint8_t *)bytes;
	struct rdmaez_impl_exchange x;
	size_t left = count;
	const int error = rdmaez_impl_handshake_call(shake, call, missing, diag);

	if (error)
		return error;
	rdmaez_impl_handshake_load(shake, &x);
	while (left && x.wants & POLLIN) {
		struct rdmaez_diag *const first = x.error ? NULL : diag;
		uint8_t *at;
		const uint64_t room = rdmaez_impl_exchange_room(&x, &at);
		const size_t some = room < left ? (size_t)room : left;

		if (at)
			memcpy(at, from, some);
		from += some;
		left -= some;
		(void)rdmaez_impl_exchange_next(&x, rdmaez_impl_exchange_came(&x, some, first),
						first);
	}
	*taken = count - left;
	return rdmaez_impl_handshake_store(shake, &x, call, diag);
}

RDMAEZ_COLD int rdmaez_handshake_take(struct rdmaez_handshake *shake, void *buf, size_t size,
				      size_t *count, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_handshake_take";
	const char *const missing = !count ? "count" : !buf && size ? "buf" : NULL;
	uint8_t *to = (uint8_t *)buf;
	struct rdmaez_impl_exchange x;
	size_t left = size;
	const int error = rdmaez_impl_handshake_call(shake, call, missing, diag);

	if (error)
		return error;
	rdmaez_impl_handshake_load(shake, &x);
	while (left && x.wants & POLLOUT) {
		struct rdmaez_diag *const first = x.error ? NULL : diag;
		const uint8_t *at;
		const uint64_t rest = rdmaez_impl_exchange_rest(&x, &at);
		const size_t some = rest < left ? (size_t)rest : left;

		memcpy(to, at, some);
		to += some;
		left -= some;
		x.sent += some;
		(void)rdmaez_impl_exchange_next(&x, 0, first);
	}
	*count = size - left;
	return rdmaez_impl_handshake_store(shake, &x, call, diag);
}

RDMAEZ_API int rdmaez_handshake_late(struct rdmaez_handshake *shake, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_handshake_late";
	struct rdmaez_impl_exchange x;
	const int error = rdmaez_impl_handshake_call(shake, call, NULL, diag);

	if (error || !shake->wants)
		return error ? error : shake->error;
	rdmaez_impl_handshake_load(shake, &x);
	(void)rdmaez_impl_exchange_give_up(&x, ETIMEDOUT, diag);
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_late_exchange, (&x, diag));
	return rdmaez_impl_handshake_store(shake, &x, call, diag);
}

/* ---- Peers that come ------------------------------------------------------------------------- */

RDMAEZ_COLD int rdmaez_handshake_listen(const char *service, int *listener,
					struct rdmaez_diag *diag)
{
	struct rdmaez_impl_addrinfo *list;
	int error, fd = -1;

	rdmaez_impl_diag_reset(diag, "rdmaez_handshake_listen");
	if (!service || !listener)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  service ? "listener" : "service");
	error = rdmaez_impl_exchange_resolve(NULL, service, &list, diag);
	if (error)
		return error;
	error = rdmaez_impl_exchange_listen(list, SOMAXCONN, &fd, diag);
	rdmaez_impl_freeaddrinfo(list);
	if (!error)
		*listener = fd;
	return error;
}

RDMAEZ_COLD int rdmaez_handshake_accept(int listener, int *socket, struct rdmaez_diag *diag)
{
	int error, fd;

	rdmaez_impl_diag_reset(diag, "rdmaez_handshake_accept");
	if (!socket)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "socket");
	error = rdmaez_impl_exchange_accept(listener, SOCK_NONBLOCK, &fd, diag);
	if (error)
		return error;
	if (fd >= 0)
		rdmaez_impl_exchange_at_once(fd);
	*socket = fd;
	return 0;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
