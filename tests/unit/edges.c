/* SPDX-License-Identifier: MIT */
/*
 * What seldom is: calls of the C library that fail, and functions within the headers that are asked for what their
 * callers do not ask for today. Each is called by itself.
 */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

/* What the next call does in place of its work; 0: its work. */
static struct {
	int poll_error, listen_error, socket_error, connect_error, notify_error, events_error;
	int accept_error[4]; /* of the next calls; 0: it accepts */
	int accepts;         /* calls */
	int name_error, option_error, write_error;
	int fcntl_error, fcntl_of;   /* the next fcntl() with this command fails */
	int polls;                   /* calls */
	bool events_once;            /* only the next call of ibv_get_async_event() fails */
	bool arrives;                /* at the next poll() a client connects with the socket */
	bool connects;               /* connect() succeeds at once */
	bool no_time;                /* timespec_get() fails */
	int client;                  /* who arrived */
	const uint16_t *reply;       /* of netlink */
	size_t reply_size;           /* its bytes */
	const struct timespec *time; /* where the time should have gone */
} say;

static inline int test_poll(struct pollfd *fds, nfds_t count, int ms)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	struct sockaddr *at;

	say.polls++;
	if (say.arrives) {
		say.arrives = false;
		memcpy(&at, &(void *){&address}, sizeof(at));
		say.client = socket(AF_INET, SOCK_STREAM, 0);
		if (getsockname(fds->fd, at, &size) || connect(say.client, at, size))
			abort();
	}
	errno = say.poll_error;
	say.poll_error = 0;
	return errno ? -1 : poll(fds, count, ms);
}

static inline int test_socket(int family, int type, int protocol)
{
	errno = say.socket_error;
	say.socket_error = 0;
	if (say.reply) /* also on a machine whose kernel has no RDMA */
		return socket(AF_UNIX, SOCK_DGRAM, 0);
	return errno ? -1 : socket(family, type, protocol);
}

static inline int test_listen(int fd, int backlog)
{
	errno = say.listen_error;
	return errno ? -1 : listen(fd, backlog);
}

static inline int test_connect(int fd, const struct sockaddr *address, socklen_t size)
{
	errno = say.connect_error;
	if (say.connects)
		return 0;
	return errno ? -1 : connect(fd, address, size);
}

static inline ssize_t test_recv(int fd, void *bytes, size_t count, int flags)
{
	if (!say.reply)
		return recv(fd, bytes, count, flags);
	if (say.reply_size > count)
		abort();
	memcpy(bytes, say.reply, say.reply_size);
	return (ssize_t)say.reply_size;
}

static inline ssize_t test_send(int fd, const void *bytes, size_t count, int flags)
{
	return say.reply ? (ssize_t)count : send(fd, bytes, count, flags);
}

static inline int test_getsockname(int fd, struct sockaddr *name, socklen_t *size)
{
	errno = say.name_error;
	return errno ? -1 : getsockname(fd, name, size);
}

static inline int test_getsockopt(int fd, int level, int option, void *value, socklen_t *size)
{
	errno = say.option_error;
	return errno ? -1 : getsockopt(fd, level, option, value, size);
}

static inline ssize_t test_write(int fd, const void *bytes, size_t count)
{
	errno = say.write_error;
	return errno ? -1 : write(fd, bytes, count);
}

static inline int test_fcntl(int fd, int command, ...)
{
	const bool has_lock = command == F_SETLK || command == 36 || command == 37; /* F_OFD_ */
	va_list list;
	void *lock = NULL;
	int flags = 0;

	va_start(list, command);
	if (has_lock)
		lock = va_arg(list, void *);
	else if (command != F_GETFL && command != F_GETFD)
		flags = va_arg(list, int);
	va_end(list);
	if (say.fcntl_error && command == say.fcntl_of) {
		errno = say.fcntl_error;
		say.fcntl_error = 0;
		return -1;
	}
	return has_lock ? fcntl(fd, command, lock) : fcntl(fd, command, flags);
}

/* The headers call this by its name in the C library. */
extern int test_accept4(int fd, struct sockaddr *address, socklen_t *size,
			int flags) __asm__("accept4");
int test_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	const int error = say.accepts < 4 ? say.accept_error[say.accepts] : 0;

	say.accepts++;
	errno = error;
	return error ? -1 : (int)syscall(SYS_accept4, fd, address, size, flags);
}

static inline int test_timespec_get(struct timespec *time, int base)
{
	say.time = time;
	return say.no_time ? 0 : timespec_get(time, base);
}

static inline int test_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
				    void **context)
{
	errno = say.events_error;
	say.events_error = errno == EAGAIN ? EINTR : 0; /* the one, then the other */
	return errno ? -1 : ibv_get_cq_event(channel, cq, context);
}

static inline int test_req_notify_cq(struct ibv_cq *cq, int solicited)
{
	const int error = say.notify_error;

	say.notify_error = 0;
	return error ? error : ibv_req_notify_cq(cq, solicited);
}

static inline int test_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	errno = say.events_error;
	if (say.events_once)
		say.events_error = 0;
	return errno ? -1 : ibv_get_async_event(context, event);
}

#define poll                           test_poll
#define socket(family, type, protocol) test_socket(family, type, protocol)
#define listen                         test_listen
#define connect                        test_connect
#define recv                           test_recv
#define send                           test_send
#define getsockname                    test_getsockname
#define getsockopt                     test_getsockopt
#define write(fd, bytes, count)        test_write(fd, bytes, count)
#define fcntl                          test_fcntl
#define timespec_get                   test_timespec_get
#define ibv_get_async_event            test_get_async_event
#define ibv_get_cq_event               test_get_cq_event
#define ibv_req_notify_cq              test_req_notify_cq
#include <rdmaez/implementation.h>
#include <rdmaez/devel/dm_emu.h>
#undef poll
#undef socket
#undef listen
#undef connect
#undef recv
#undef send
#undef getsockname
#undef getsockopt
#undef write
#undef fcntl
#undef ibv_get_async_event
#undef ibv_get_cq_event
#undef ibv_req_notify_cq
#include "check.h"
#include "findings.h"
#include "fixture.h"

#define MS UINT64_C(1000000)

static struct rdmaez_diag diag;

/* ---- Waiting, and the clock ----------------------------------------------------------------- */

static void check_waits(void)
{
	uint64_t number;
	int pipes[2];

	if (pipe(pipes))
		tap_bail("no pipe");
	say.poll_error = ENOMEM;
	tap_eq_int(rdmaez_impl_wait(pipes[0], POLLIN, UINT64_MAX), ENOMEM, "a wait that fails");
	say.polls = 0;
	say.poll_error = EINTR;
	tap_eq_int(rdmaez_impl_wait(pipes[1], POLLOUT, UINT64_MAX), 0, "one that is interrupted");
	tap_eq_int(say.polls, 2, "goes on");
	say.no_time = true;
	number = rdmaez_impl_random_of_clock();
	tap_eq_hex(number, (uintptr_t)say.time * UINT64_C(0x9e3779b97f4a7c15),
		   "without a clock, numbers differ by where the stack is");
	say.no_time = false;
	close(pipes[0]);
	close(pipes[1]);
}

/* ---- Opening a connection -------------------------------------------------------------------- */

/* An IPv4 address and a port, as the C library lists them. */
static struct rdmaez_impl_addrinfo place(struct sockaddr_in *four, const char *address, int port)
{
	struct rdmaez_impl_addrinfo info;
	const union ibv_gid gid = gid_of(address);

	memset(four, 0, sizeof(*four));
	memset(&info, 0, sizeof(info));
	four->sin_family = AF_INET;
	four->sin_port = htons((uint16_t)port);
	memcpy(&four->sin_addr, gid.raw + 12, 4);
	info.family = AF_INET;
	info.socktype = SOCK_STREAM;
	info.length = sizeof(*four);
	memcpy(&info.address, &(void *){four}, sizeof(info.address));
	return info;
}

static void check_opening(void)
{
	struct sockaddr_in four, six;
	struct rdmaez_impl_addrinfo here = place(&four, "::ffff:127.0.0.1", 0);
	struct rdmaez_impl_addrinfo away = place(&six, "::ffff:192.0.2.77", 0);
	const uint64_t soon = rdmaez_impl_now() + 20 * MS;
	int fd = -1, listener = -1;

	rdmaez_impl_diag_reset(&diag, "");
	say.listen_error = EOPNOTSUPP;
	tap_eq_int(rdmaez_impl_exchange_begin(&here, 1, &fd), EOPNOTSUPP,
		   "a port without listening");
	tap_ok(fcntl(fd, F_GETFD) < 0 && errno == EBADF, "the socket is closed");
	say.listen_error = 0;
	check_refusal(&diag, rdmaez_impl_exchange_listen(&away, 1, &fd, &diag), EADDRNOTAVAIL,
		      RDMAEZ_WHY_EXCHANGE_SOCKET, "service", "an address of another host");
	say.listen_error = EADDRINUSE;
	rdmaez_impl_diag_reset(&diag, "");
	check_refusal(&diag, rdmaez_impl_exchange_listen(&here, 1, &fd, &diag), EADDRINUSE,
		      RDMAEZ_WHY_OPEN_IN_USE, "service", "a port that is taken");
	say.listen_error = 0;
	rdmaez_impl_diag_reset(&diag, "");
	check_refusal(&diag, rdmaez_impl_exchange_accept(-1, 0, &fd, &diag), EBADF,
		      RDMAEZ_WHY_EXCHANGE_SOCKET, "accept4", "no listener");
	tap_eq_int(rdmaez_impl_exchange_listen(&here, 1, &listener, &diag), 0, "a listener");
	tap_eq_int(rdmaez_impl_exchange_accept(listener, 0, &fd, &diag), 0, "nobody is there");
	tap_eq_int(fd, -1, "which is no failure");
	close(listener);

	say.connect_error = ECONNREFUSED;
	rdmaez_impl_diag_reset(&diag, "");
	check_refusal(&diag,
		      rdmaez_impl_exchange_reach(&here, rdmaez_impl_now() + 1500 * MS, &fd, &diag),
		      ECONNREFUSED, RDMAEZ_WHY_OPEN_REFUSED, "service",
		      "a host that refuses for a second and a half");
	say.connect_error = 0;
	say.connects = true;
	tap_eq_int(rdmaez_impl_exchange_begin(&here, 0, &fd), 0, "a peer that is there at once");
	close(fd);
	say.connects = false;
	say.connect_error = EINTR;
	tap_eq_int(rdmaez_impl_exchange_begin(&here, 0, &fd), 0, "a signal on the way");
	tap_eq_int(rdmaez_impl_exchange_arrived(fd, soon), ENOTCONN, "after which nobody is there");
	say.connect_error = 0;
	close(fd);
	tap_eq_int(rdmaez_impl_exchange_arrived(-1, soon), ETIMEDOUT, "nor without a socket");

	rdmaez_impl_diag_reset(&diag, "");
	check_refusal(&diag, rdmaez_impl_exchange_first(&here, rdmaez_impl_now() + MS, &fd, &diag),
		      ETIMEDOUT, RDMAEZ_WHY_OPEN_NO_PEER, "timeout_ns", "nobody comes");
	say.arrives = true;
	fd = -1;
	tap_eq_int(rdmaez_impl_exchange_first(&here, rdmaez_impl_now() + 30000 * MS, &fd, &diag), 0,
		   "one comes");
	tap_ok(fd >= 0 && send(say.client, "x", 1, 0) == 1, "with a socket");
	close(fd);
	close(say.client);
}

/* A peer that connects, and what accepting it says first. */
static int first(int error, int next, int *fd)
{
	struct sockaddr_in four;
	struct rdmaez_impl_addrinfo here = place(&four, "::ffff:127.0.0.1", 0);
	int got;

	say.arrives = true;
	say.accepts = 0;
	say.accept_error[0] = error;
	say.accept_error[1] = next;
	*fd = -1;
	rdmaez_impl_diag_reset(&diag, "rdmaez_exchange_open");
	got = rdmaez_impl_exchange_first(&here, rdmaez_impl_now() + 30000 * MS, fd, &diag);
	memset(say.accept_error, 0, sizeof(say.accept_error));
	return got;
}

static void check_accepting(void)
{
	int fd;

	tap_eq_int(first(EINTR, ECONNABORTED, &fd), 0, "a signal, and a peer that has gone");
	tap_eq_int(say.accepts, 3, "are tried again");
	tap_ok(fd >= 0, "until there is a socket");
	tap_eq_int(rdmaez_impl_exchange_arrived(fd, rdmaez_impl_now() + 30000 * MS), 0,
		   "which has arrived");
	say.option_error = ENOBUFS;
	tap_eq_int(rdmaez_impl_exchange_arrived(fd, UINT64_MAX), ENOBUFS, "unless it cannot tell");
	say.option_error = 0;
	say.name_error = ENOMEM;
	tap_eq_int(rdmaez_impl_exchange_arrived(fd, UINT64_MAX), ENOMEM, "or has no name");
	say.name_error = 0;
	say.fcntl_error = EPERM;
	say.fcntl_of = F_SETFL;
	tap_eq_int(rdmaez_impl_exchange_arrived(fd, UINT64_MAX), EPERM, "or does not block");
	close(fd);
	close(say.client);
	check_refusal(&diag, first(EMFILE, 0, &fd), EMFILE, RDMAEZ_WHY_EXCHANGE_SOCKET, "accept4",
		      "no descriptor for a peer");
	tap_eq_int(say.accepts, 1, "is not tried again");
	tap_eq_int(fd, -1, "and there is no socket");
	close(say.client);
}

/* What an end says of itself: for the peer that its options or its socket name. */
static void check_own(void)
{
	struct rdmaez_endpoint own;
	struct rdmaez_qp_opts opts;
	struct rdmaez_impl_exchange x;
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
	int pipes[2];

	fake_reset();
	if (pipe(pipes))
		tap_bail("no pipe");
	memset(&x, 0, sizeof(x));
	memset(&opts, 0, sizeof(opts));
	memset(&own, 0, sizeof(own));
	x.qp = fake_qp(fake_open(fake_device_add("fake1")), IBV_QPT_RC);
	x.socket = pipes[0];
	x.local = &own;
	x.opts = &opts;
	x.out = bytes;
	rdmaez_impl_diag_reset(&diag, "rdmaez_exchange_connect");
	check_refusal(&diag, rdmaez_impl_exchange_local(&x, NULL, NULL, &diag), ENOTSOCK,
		      RDMAEZ_WHY_EXCHANGE_SOCKET, "getpeername", "a peer that no socket names");
	tap_eq_int(own.qp_num, 0, "there is no endpoint");
	opts.path.dgid = gid_of("::ffff:192.0.2.9");
	rdmaez_impl_diag_reset(&diag, "rdmaez_exchange_connect");
	check_success(&diag, rdmaez_impl_exchange_local(&x, NULL, NULL, &diag),
		      "a peer that the options name");
	tap_eq_int(own.qp_num, x.qp->qp_num, "the endpoint is the queue pair's");
	close(pipes[0]);
	close(pipes[1]);
	fake_close_all();
}

/* A message that no peer would understand; an exchange that has failed before its time is over. */
static void check_exchange(void)
{
	struct rdmaez_endpoint local, remote;
	struct rdmaez_impl_exchange x;
	struct ibv_qp *qp;
	int pair[2];

	fake_reset();
	qp = fake_qp(fake_open(fake_device_add("fake1")), IBV_QPT_RC);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		tap_bail("no sockets");
	if (rdmaez_endpoint_local(qp, NULL, &local, &diag))
		tap_bail("no endpoint");
	local.gid_count = 99;
	close(pair[1]);
	check_refusal(&diag, rdmaez_exchange_connect(pair[0], qp, &local, &remote, NULL, &diag),
		      EINVAL, RDMAEZ_WHY_EXCHANGE_LOCAL, "local", "an endpoint with 99 GIDs");
	tap_eq_str(diag.call, "rdmaez_exchange_connect", "by the call");
	close(pair[0]);

	memset(&x, 0, sizeof(x));
	x.error = EPROTO;
	x.wants = POLLIN;
	memset(&diag, 0x55, sizeof(diag));
	rdmaez_impl_diag_reset(&diag, "exchange");
	tap_eq_int(rdmaez_impl_exchange_give_up(&x, ETIMEDOUT, &diag), EPROTO,
		   "an exchange that has failed keeps its error");
	tap_eq_int(diag.error, 0, "and its record");
	tap_ok(x.is_over && !x.wants, "and is over");
	x.broken = EPIPE;
	tap_ok(!rdmaez_impl_exchange_is_lost(&x), "a peer that has closed may have said why");
	x.broken = ECONNRESET;
	tap_ok(!rdmaez_impl_exchange_is_lost(&x), "also one that has reset");
	x.got = RDMAEZ_IMPL_EXCHANGE_HEAD;
	tap_ok(rdmaez_impl_exchange_is_lost(&x), "until its head has come");
	x.got = 0;
	x.broken = EIO;
	tap_ok(rdmaez_impl_exchange_is_lost(&x), "and not after any other failure");
	x.qp = qp;
	qp->state = IBV_QPS_RTS;
	diag.to = 77;
	rdmaez_impl_exchange_told(&x, NULL);
	rdmaez_impl_exchange_told(&x, &diag);
	tap_eq_int(diag.from, IBV_QPS_RTS, "where the queue pair is");
	tap_eq_int(diag.to, -1, "and stays");
	fake_close_all();
}

/* ---- Completions ---------------------------------------------------------------------------- */

/* A completion comes to an armed queue. */
static void completes(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	memset(&wc, 0, sizeof(wc));
	ibv_req_notify_cq(cq, 0);
	fake_cq_push(cq, &wc);
}

static void check_queues(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_comp_channel *const channel = ibv_create_comp_channel(ctx);
	struct ibv_cq *const cq = ibv_create_cq(ctx, 8, NULL, channel, 0);
	struct ibv_qp *const qp = fake_qp(ctx, IBV_QPT_RC);
	struct ibv_wc wc[2] = {{0}, {0}};
	struct rdmaez_wc_batch batch = {.wc = NULL, .capacity = 2};
	struct ibv_cq_init_attr_ex init = {.cqe = 8};
	struct ibv_cq_ex *const ex = ibv_create_cq_ex(ctx, &init);
	const char *verb = NULL;
	struct ibv_cq *of = cq;

	rdmaez_channel_nonblock(channel, &diag);
	check_refusal(&diag, rdmaez_cq_wait(cq, qp, &batch, RDMAEZ_NS_NOW, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "wc", "no completions");
	check_refusal(&diag, rdmaez_wc_wait(cq, qp, &batch, RDMAEZ_NS_NOW, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "wc", "also without events");
	rdmaez_impl_diag_reset(&diag, "rdmaez_cq_poll_ex");
	check_refusal(&diag, rdmaez_cq_poll_ex(ex, qp, NULL, &batch, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "wc", "and by the extended interface");
	batch.wc = wc;
	batch.capacity = 0;
	check_refusal(&diag, rdmaez_cq_wait(cq, qp, &batch, RDMAEZ_NS_NOW, &diag), EINVAL,
		      RDMAEZ_WHY_RANGE, "capacity", "room for none");
	check_refusal(&diag, rdmaez_wc_wait(cq, qp, &batch, RDMAEZ_NS_NOW, &diag), EINVAL,
		      RDMAEZ_WHY_RANGE, "capacity", "also without events");
	batch.capacity = 2;
	batch.want = -1;
	check_refusal(&diag, rdmaez_cq_wait(cq, qp, &batch, RDMAEZ_NS_NOW, &diag), EINVAL,
		      RDMAEZ_WHY_RANGE, "want", "less than none");
	batch.want = 3;
	check_refusal(&diag, rdmaez_cq_wait(cq, qp, &batch, RDMAEZ_NS_NOW, &diag), EINVAL,
		      RDMAEZ_WHY_RANGE, "want", "more than there is room for");

	tap_eq_int(rdmaez_impl_channel_take(channel, 0, &of), 0, "a channel without events");
	tap_ok(!of, "has none of a queue");
	completes(cq);
	say.events_error = EAGAIN;
	tap_eq_int(rdmaez_impl_channel_take(channel, UINT64_MAX, &of), 0,
		   "an event that others nearly took");
	tap_eq_ptr(of, cq, "is this queue's");
	ibv_ack_cq_events(cq, 1);
	completes(cq);
	say.events_error = EIO;
	tap_eq_int(rdmaez_impl_channel_take(channel, UINT64_MAX, &of), EIO, "a channel that fails");
	say.events_error = EIO;
	tap_eq_int(rdmaez_impl_cq_arm(cq, &verb), EIO, "cannot be emptied before arming");
	tap_eq_str(verb, "ibv_get_cq_event", "by this verb");
	say.events_error = EIO;
	tap_eq_int(rdmaez_impl_cq_sleep(cq, UINT64_MAX, &verb), EIO, "nor waited on");
	say.notify_error = ENOMEM;
	tap_eq_int(rdmaez_impl_cq_arm(cq, &verb), ENOMEM, "a queue that cannot be armed");
	tap_eq_str(verb, "ibv_req_notify_cq", "by that verb");
	say.poll_error = ENOMEM;
	tap_eq_int(rdmaez_impl_channel_take(channel, UINT64_MAX, &of), ENOMEM, "no memory to wait");
	fake_close_all();
}

/* ---- Other functions, by themselves ------------------------------------------------------------ */

static void check_members(void)
{
	const struct rdmaez_impl_field half = {.to = offsetof(struct ibv_qp_attr, pkey_index),
					       .size = sizeof(uint16_t)};
	struct ibv_qp_attr attr;
	struct rdmaez_caps all, one, before;

	memset(&attr, 0x55, sizeof(attr));
	attr.pkey_index = 0x1234;
	tap_eq_hex(rdmaez_impl_field_get(&half, &attr), 0x1234, "a field of two bytes");
	tap_eq_hex(rdmaez_impl_field_meant(RDMAEZ_IMPL_AS_SIGNED, RDMAEZ_ZERO, 7), RDMAEZ_ZERO,
		   "a number that may have a sign is not zero");
	tap_eq_hex(rdmaez_impl_field_meant(RDMAEZ_IMPL_AS_BITS, RDMAEZ_ZERO, 7), 0, "bits are");
	memset(&all, 0x55, sizeof(all));
	memset(&one, 0x22, sizeof(one));
	before = all;
	rdmaez_impl_caps_reduce(&all, &one, RDMAEZ_CAPS_ID_COUNT);
	tap_ok(memcmp(&all, &before, sizeof(all)) == 0, "a capability beyond the last is none");
	rdmaez_impl_caps_reduce(&all, NULL, RDMAEZ_CAPS_MAX_QP);
	tap_ok(memcmp(&all, &before, sizeof(all)) == 0, "no device reduces nothing");
}

/* Ancillary data that the kernel does not send: the last part is padded beyond its end. */
static void check_messages(void)
{
	size_t control[4] = {0};
	struct msghdr header;
	struct cmsghdr part;
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES];
	int count = 5, fd = -5;

	memset(&header, 0, sizeof(header));
	memset(&part, 0, sizeof(part));
	part.cmsg_len = sizeof(part) + 4;
	part.cmsg_level = SOL_SOCKET;
	part.cmsg_type = 99;
	memcpy(control, &part, sizeof(part));
	header.msg_control = control;
	header.msg_controllen = sizeof(part) + 4;
	tap_eq_int(rdmaez_impl_dm_message_fds(&header, &count), -1, "a part that is not padded");
	tap_eq_int(count, 0, "is passed over, and is the last");
	rdmaez_impl_diag_reset(&diag, "rdmaez_dm_recv");
	tap_eq_int(rdmaez_impl_dm_take(-1, bytes, &fd, &diag), EBADF, "no socket to take from");
	tap_eq_str(diag.finding[0].field, "recvmsg", "is told of the call");
	tap_eq_int(fd, -5, "the output is not written");
}

/* What netlink answers of a setting: 16 bytes of a head, then attributes. */
static void check_netlink(void)
{
	const uint16_t type = 5 << 10 | 6;
	uint16_t reply[] = {24, 0, type, 0, 0, 0, 0, 0, 5, 73, 0, 0};

	memcpy(&reply[10], "\1", 1); /* the value is a byte */
	say.reply = reply;
	say.reply_size = sizeof(reply);
	tap_eq_int(rdmaez_impl_rdma_setting(73), 1, "a setting that is on");
	tap_eq_int(rdmaez_impl_rdma_setting(74), -1, "one that is not told");
	reply[8] = 4;
	tap_eq_int(rdmaez_impl_rdma_setting(73), -1, "an attribute without a value");
	reply[8] = 5;
	reply[2] = 2; /* NLMSG_ERROR */
	tap_eq_int(rdmaez_impl_rdma_setting(73), -1, "an error");
	reply[2] = type;
	say.reply_size = 20;
	tap_eq_int(rdmaez_impl_rdma_setting(73), -1, "an answer that is cut off");
	say.reply_size = 0;
	tap_eq_int(rdmaez_impl_rdma_setting(73), -1, "and none");
	say.reply = NULL;
	say.socket_error = EPROTONOSUPPORT;
	tap_eq_int(rdmaez_impl_rdma_setting(73), -1, "a kernel without it");
}

static void check_multicast(void)
{
	struct fake_device *const dev = fake_reset();
	struct ibv_context *const ctx = fake_open(dev);
	struct rdmaez_path group = {.dgid = gid_of("ff0e::1")};
	struct ibv_port_attr port;
	int fd = -5;

	say.socket_error = EMFILE;
	tap_eq_int(rdmaez_impl_multicast_member(&group.dgid, 1, &fd), EMFILE,
		   "no socket for a group");
	tap_eq_int(fd, -5, "the output is not written");
	ibv_query_port(ctx, 1, &port);
	rdmaez_impl_diag_reset(&diag, "rdmaez_multicast_examine");
	port.link_layer = IBV_LINK_LAYER_UNSPECIFIED;
	rdmaez_impl_multicast_exam(ctx, &group, 1, &port, &diag);
	tap_eq_int(diag.count, 0, "of a link of neither kind there is nothing to say");
	port.link_layer = IBV_LINK_LAYER_ETHERNET;
	port.gid_tbl_len = 0;
	memset(dev->port[1].gid, 0, sizeof(dev->port[1].gid));
	rdmaez_impl_multicast_exam(ctx, &group, 1, &port, &diag);
	tap_ok(!rdmaez_diag_find(&diag, RDMAEZ_WHY_MULTICAST_MISSING),
	       "nor of membership without a GID");
	fake_close_all();
}

static void check_acknowledged(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_qp *const qp = fake_qp(ctx, IBV_QPT_RC);
	struct ibv_wc wc;

	memset(&wc, 0, sizeof(wc));
	wc.qp_num = qp->qp_num;
	for (int opcode = IBV_WC_SEND; opcode <= IBV_WC_TSO; opcode++) {
		wc.opcode = (enum ibv_wc_opcode)opcode;
		tap_eq_int(rdmaez_impl_wc_was_acked(&wc, &wc + 1, qp),
			   opcode == IBV_WC_SEND || opcode == IBV_WC_RDMA_WRITE ||
				   opcode == IBV_WC_RDMA_READ || opcode == IBV_WC_COMP_SWAP ||
				   opcode == IBV_WC_FETCH_ADD,
			   "opcode %d proves an acknowledgement, or not", opcode);
	}
	wc.opcode = IBV_WC_SEND;
	qp->qp_type = IBV_QPT_UC;
	tap_ok(!rdmaez_impl_wc_was_acked(&wc, &wc + 1, qp), "UC has none");
	qp->qp_type = IBV_QPT_RC;
	wc.status = IBV_WC_WR_FLUSH_ERR;
	tap_ok(!rdmaez_impl_wc_was_acked(&wc, &wc + 1, qp), "a flush proves nothing");
	wc.status = IBV_WC_SUCCESS;
	wc.qp_num++;
	tap_ok(!rdmaez_impl_wc_was_acked(&wc, &wc + 1, qp), "nor does another queue pair's");
	fake_close_all();
}

/* ---- Explanations, by themselves --------------------------------------------------------------- */

/* How far TCP says that an exchange has come, whose time is over. */
static int late(int fd, uint64_t sent, uint64_t got)
{
	struct rdmaez_impl_exchange x;

	memset(&x, 0, sizeof(x));
	x.socket = fd;
	x.size = 24;
	x.sent = sent;
	x.got = got;
	rdmaez_impl_diag_reset(&diag, "rdmaez_exchange");
	(void)rdmaez_impl_refuse(&diag, ETIMEDOUT, RDMAEZ_WHY_EXCHANGE_SILENT, "timeout_ns");
	rdmaez_impl_late_exchange(&x, &diag);
	return diag.count == 1 ? 0 : (int)diag.finding[1].reason;
}

static void check_late(void)
{
	struct sockaddr_in four;
	struct rdmaez_impl_addrinfo here = place(&four, "::ffff:127.0.0.1", 0);
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_qp *const qp = fake_qp(ctx, IBV_QPT_RC);
	int fd = -1, listener = -1;

	say.arrives = true;
	if (rdmaez_impl_exchange_first(&here, rdmaez_impl_now() + 30000 * MS, &fd, &diag) ||
	    rdmaez_impl_exchange_listen(&here, 1, &listener, &diag))
		tap_bail("no sockets");
	if (!UNDER_QEMU)
		tap_eq_int(late(fd, 24, 0), RDMAEZ_WHY_EXCHANGE_ACKED,
			   "all was sent, and acknowledged");
	tap_eq_int(late(fd, 23, 0), 0, "not all was sent");
	tap_eq_int(late(fd, 24, 1), 0, "something has come");
	tap_eq_int(late(listener, 24, 0), 0, "a socket that has no peer");
	tap_eq_int(late(-1, 24, 0), 0, "none");
	close(fd);
	close(say.client);
	close(listener);

	rdmaez_impl_diag_reset(&diag, "rdmaez_wc_wait");
	rdmaez_impl_late_wait(qp->send_cq, NULL, UINT64_MAX, &diag);
	tap_eq_int(diag.count, 0, "a wait without a queue pair has nothing to look at");
	diag.from = 5;
	diag.to = 6;
	rdmaez_impl_late_drain(qp, RDMAEZ_IMPL_LATE_NS - 1, &diag);
	tap_eq_int(diag.count, 0, "nor has one for less than a second");
	fake_reset_log();
	rdmaez_impl_late_drain(qp, 0, &diag);
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1, "without a limit the queue pair is asked");
	tap_eq_int(diag.from, 5, "and the record keeps its states");
	tap_eq_int(diag.to, 6, "both");
	fake_close_all();
}

static void check_events(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	const struct ibv_async_event event = {.event_type = IBV_EVENT_PORT_ERR};
	struct ibv_async_event got;

	fake_event(ctx, &event);
	for (int i = 0; i < 2; i++) {
		say.events_error = i ? EINTR : EAGAIN;
		tap_eq_int(rdmaez_event_next(ctx, RDMAEZ_NS_NOW, &got, &diag), EAGAIN,
			   "an event that others take");
		check_refusal(&diag, rdmaez_event_next(ctx, 3000000, &got, &diag), ETIMEDOUT,
			      RDMAEZ_WHY_EVENT_NONE, "timeout_ns", "until the time is over");
	}
	say.events_error = EINTR;
	say.events_once = true;
	tap_eq_int(rdmaez_event_next(ctx, 30000 * MS, &got, &diag), 0, "or not");
	say.events_once = false;
	tap_eq_int(got.event_type, IBV_EVENT_PORT_ERR, "with its type");
	fake_close_all();
}

/* What the kernel's files hold, and should not. */
static void check_files(void)
{
	struct rdmaez_impl_route route;
	const union ibv_gid peer = gid_of("2001:db8::1");
	int is = 5;

	fake_tree_new();
	fake_tree_file("/proc/kallsyms", "0 T ib_free\n0 T ib_register_client\t[ib_core]\n");
	tap_eq_int(rdmaez_impl_mr_has_peers(), 0, "other functions of ib_core");
	fake_tree_file("/proc/kallsyms", "0 T ib_register_peer_memory_client\t[ib_core]\n");
	tap_eq_int(rdmaez_impl_mr_has_peers(), 1, "that of peer memory");
	fake_tree_file("/proc/bus/pci/devices", "0 1 2 0 0 0 0 0 0 0 4000 0 0 0 0 0 0\tnvidia\n"
						"0 1 2 0 0 0 0 0 0 0 8000 0 0 0 0 0 0\tnvidia\n"
						"0 1 2 0 0 0 0 0 0 0 1000 0 0 0 0 0 0\tother\n"
						"0 1 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0\tnvidia\n");
	tap_eq_hex(rdmaez_impl_mr_bar1(), 0x4000, "the least of two GPUs' windows");
	fake_tree_file("/proc/self/maps", "1000-2000? r--p 0 0:0 0 /a\n3000-4000 r-- 0 0:0 0 /b\n");
	tap_eq_int(rdmaez_impl_maps(0x1000, 0x2000, &is), 1, "a mapping that is cut off is none");
	tap_eq_hex(is, RDMAEZ_IMPL_MAPS_HOLE, "so there is a hole");
	rdmaez_impl_maps(0x3000, 0x4000, &is);
	tap_eq_hex(is, 0, "permissions that are cut off share nothing");
	fake_tree(NULL);
	say.socket_error = EMFILE;
	rdmaez_impl_route_ask(&peer, NULL, &route);
	tap_eq_int(route.error, EMFILE, "no socket to ask for a route");
	tap_ok(rdmaez_gid_is_zero(&route.source), "and so no source");
}

static void check_small(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE};
	struct rdmaez_cq_known ends = {.flags = RDMAEZ_CQ_ENDS};
	struct ibv_cq *const cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	struct rdmaez_impl_emu emu;

	errno = INT32_MIN;
	tap_eq_int(rdmaez_impl_error_of_null(), EIO, "a number without an opposite is EIO");
	errno = -EPERM;
	tap_eq_int(rdmaez_impl_error_of_null(), EPERM, "others are turned");
	rdmaez_impl_diag_reset(&diag, "rdmaez_wr_post_ex");
	check_refusal(&diag, rdmaez_impl_wr_ex_refuse(&wr, &diag), EINVAL, RDMAEZ_WHY_WR_EX_OPCODE,
		      "opcode", "inline data in few buffers");
	wr.num_sge = RDMAEZ_IMPL_WR_BUFFERS + 1;
	rdmaez_impl_diag_reset(&diag, "rdmaez_wr_post_ex");
	check_refusal(&diag, rdmaez_impl_wr_ex_refuse(&wr, &diag), EINVAL, RDMAEZ_WHY_WR_SGE,
		      "num_sge", "inline data in one too many");
	tap_eq_int(rdmaez_cq_examine(cq, &ends, &diag), 0, "a queue that ends, unwatched");
	tap_ok(!rdmaez_diag_find(&diag, RDMAEZ_WHY_CQ_UNACKED), "has no events of this record");
	rdmaez_impl_diag_reset(&diag, "rdmaez_device_open");
	rdmaez_impl_device_find(&diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DEVICE_NAME, "name",
				"a\x7f\"\\\n~z");
	tap_eq_str((char *)&diag.finding[0].value, "a????~z", "what is no text is a ?");

	memset(&emu, 0, sizeof(emu));
	emu.fd = -1;
	emu.page = 4096;
	tap_eq_int(rdmaez_impl_emu_map(&emu), EBADF, "no file of emulated memory");
	emu.fd = open("/proc/self/exe", O_RDONLY);
	tap_eq_int(rdmaez_impl_emu_map(&emu), EACCES, "one that cannot be written");
	close(emu.fd);
	fake_close_all();
}

/* The file of emulated memory, and its locks. */
static void check_emulated(void)
{
	/* On 32 bits the lower half counts. Neither is the length of a file. */
	const uint64_t much = UINT64_C(0x8000000080000000);
	FILE *const file = tmpfile();
	struct rdmaez_impl_emu emu;

	if (!file)
		tap_bail("no file");
	memset(&emu, 0, sizeof(emu));
	emu.fd = -1;
	emu.page = 4096;
	tap_ok(rdmaez_impl_emu_others(&emu, 0), "who cannot ask for a lock does not take it");
	emu.fd = fileno(file);
	tap_ok(!rdmaez_impl_emu_others(&emu, 0), "nobody has that of a new file");
	pthread_mutex_init(&emu.mutex, NULL);
	say.fcntl_of = 37; /* F_OFD_SETLK */
	say.fcntl_error = EACCES;
	tap_eq_int(rdmaez_impl_emu_lock(&emu, 30000 * MS), 0, "a lock that is denied at first");
	rdmaez_impl_emu_unlock(&emu);
	say.fcntl_error = ENOLCK;
	tap_eq_int(rdmaez_impl_emu_lock(&emu, 30000 * MS), ENOLCK, "and one that there is not");
	pthread_mutex_destroy(&emu.mutex);
	fclose(file);

	tap_eq_int(rdmaez_impl_emu_create(&emu, much), EINVAL, "more than a file may have");
	close(emu.fd);
	say.write_error = ENOSPC;
	tap_eq_int(rdmaez_impl_emu_create(&emu, 4096), ENOSPC, "a file without room");
	close(emu.fd);
	say.write_error = 0;
	say.fcntl_of = 1033; /* F_ADD_SEALS */
	say.fcntl_error = EBUSY;
	tap_eq_int(rdmaez_impl_emu_create(&emu, 4096), EBUSY, "one that cannot be sealed");
	close(emu.fd);
}

/* The mark on a duplicate that can be looked for no more. */
static void check_duplicates(void)
{
	struct flock mark;
	const int copy = dup(0);

	rdmaez_impl_dm_undup(copy, -1, &mark);
	tap_eq_int(close(copy), 0, "a duplicate of which nothing is known stays open");
}

/* Ports, GIDs and paths that no device has. */
static void check_ports(void)
{
	struct fake_device *const dev = fake_reset();
	struct ibv_context *const ctx = fake_open(dev);
	const struct ibv_port_attr neither = {.link_layer = IBV_LINK_LAYER_UNSPECIFIED};
	struct rdmaez_path path;
	struct rdmaez_impl_path_build b;
	static struct rdmaez_impl_port_gids gids;
	struct ibv_gid_entry entry;
	struct rdmaez_simple simple;
	struct rdmaez_simple_opts opts;
	struct ibv_qp_init_attr_ex init;

	dev->ports = 300;
	rdmaez_impl_diag_reset(&diag, "rdmaez_port_query");
	tap_eq_int(rdmaez_impl_port_exists(ctx, 256, &diag), EINVAL, "no port has this number");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "only its explanation asks the device");
	dev->ports = 1;

	gids.port_num = 1;
	gids.length = 8;
	gids.known = 2;
	gids.all[0].port_num = gids.all[1].port_num = 1;
	gids.all[1].gid_index = 3;
	gids.all[1].gid = gid_of("fe80::1");
	tap_eq_int(rdmaez_impl_port_gids_next(&gids, &entry, NULL), 0, "an entry without a GID");
	tap_eq_int((int)entry.gid_index, 3, "is passed over");
	tap_eq_int(rdmaez_impl_port_gids_next(&gids, &entry, NULL), ENODATA, "and that is all");

	memset(&path, 0, sizeof(path));
	memset(&b, 0, sizeof(b));
	b.path = &path;
	b.own_end = true;
	b.sgid_index = 1;
	tap_ok(rdmaez_impl_path_has_grh(&b), "an index of the own end means a GRH");
	b.port = &neither;
	tap_ok(!rdmaez_impl_path_has_grh(&b), "but not on a port of neither link");

	memset(&simple, 0, sizeof(simple));
	memset(&opts, 0, sizeof(opts));
	rdmaez_simple_init_attr_ex(&simple, &opts, &init);
	tap_eq_hex(init.comp_mask, IBV_QP_INIT_ATTR_PD, "no operations are asked for");
	opts.send_ops = IBV_QP_EX_WITH_SEND;
	rdmaez_simple_init_attr_ex(&simple, &opts, &init);
	tap_eq_hex(init.comp_mask, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		   "but if there are some");
	fake_close_all();
}

/* How a drain plans to recognise the ends of queues. */
static void check_plans(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_qp *const qp = fake_qp(ctx, IBV_QPT_UC);
	struct ibv_cq *const other = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	struct rdmaez_drain d;

	memset(&d, 0, sizeof(d));
	d.qp = qp;
	qp->recv_cq = qp->send_cq;
	d.left[0] = 3;
	d.left[1] = 4;
	rdmaez_impl_drain_plan(&d, 0, false);
	tap_eq_int(d.queue[0], RDMAEZ_IMPL_END_FULL, "UC takes a beacon for sends");
	tap_eq_int(d.queue[1], RDMAEZ_IMPL_END_FULL, "and for receives");
	tap_eq_int(d.left[0], 7, "what is left of both is in one queue");
	d.left[0] = 3;
	d.left[1] = -1;
	rdmaez_impl_drain_plan(&d, 0, false);
	tap_eq_int(d.left[0], -1, "not known if one is not");
	d.left[0] = 3;
	d.left[1] = 4;
	qp->qp_type = IBV_QPT_XRC_SEND;
	rdmaez_impl_drain_plan(&d, 0, false);
	tap_eq_int(d.left[0], -1, "nor if the queue has receives of others");
	tap_eq_int(d.waits, RDMAEZ_QUEUE_SEND, "and none of its own is waited for");
	qp->send_cq = other;
	d.left[0] = 3;
	rdmaez_impl_drain_plan(&d, RDMAEZ_DRIVER_NO_BEACON, true);
	tap_eq_int(d.queue[0], RDMAEZ_IMPL_END_COUNT, "without beacons, completions are counted");
	tap_eq_int(d.left[0], 3, "each queue by itself");
	tap_eq_int(d.waits, RDMAEZ_QUEUE_SEND, "if there are any");
	d.left[0] = -1;
	rdmaez_impl_drain_plan(&d, RDMAEZ_DRIVER_NO_BEACON, true);
	tap_eq_int(d.waits, 0, "but nothing was ever sent that is not known");
	fake_close_all();
}

static int mthca_error; /* what posting leaves in errno */

static int mthca_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	*bad = qp ? wr : NULL;
	errno = mthca_error;
	return -1;
}

/* What a drain still looks at. */
static void check_drains(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_qp *const qp = fixture_qp(ctx, IBV_QPT_RC, IBV_QPS_ERR);
	struct ibv_srq *const srq = fake_srq(ctx, IBV_SRQT_BASIC);
	struct ibv_cq *const recv_cq = qp->recv_cq;
	int (*const post)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **) =
		ctx->ops.post_send;
	struct rdmaez_drain d;

	memset(&d, 0, sizeof(d));
	d.qp = qp;
	ctx->ops.post_send = mthca_post;
	tap_eq_int(rdmaez_impl_drain_beacon(&d, 0), ENOMEM, "-1 without a word is a full queue");
	mthca_error = EIO;
	tap_eq_int(rdmaez_impl_drain_beacon(&d, 0), EIO, "-1 with one is that");
	ctx->ops.post_send = post;

	tap_ok(!rdmaez_impl_drain_polls(&d), "nothing is left to poll for");
	d.left[1] = 1;
	tap_ok(rdmaez_impl_drain_polls(&d), "a receive is");
	qp->recv_cq = NULL;
	tap_ok(!rdmaez_impl_drain_polls(&d), "if it has a queue");
	qp->recv_cq = recv_cq;
	d.left[1] = 0;
	qp->srq = srq;
	tap_ok(rdmaez_impl_drain_polls(&d), "one of a shared queue may be");
	qp->srq = NULL;

	d.waits = RDMAEZ_QUEUE_SEND;
	d.left[0] = -1;
	d.queue[0] = RDMAEZ_IMPL_END_COUNT;
	tap_ok(rdmaez_impl_drain_is_blind(&d), "nothing shows the end of unknown sends");
	d.left[0] = 0;
	tap_ok(!rdmaez_impl_drain_is_blind(&d), "their number does");
	d.left[0] = -1;
	d.queue[0] = RDMAEZ_IMPL_END_FULL;
	tap_ok(!rdmaez_impl_drain_is_blind(&d), "or their beacon");
	fake_close_all();
}

int main(void)
{
	check_waits();
	check_opening();
	check_accepting();
	check_own();
	check_exchange();
	check_queues();
	check_members();
	check_messages();
	check_netlink();
	check_multicast();
	check_acknowledged();
	check_late();
	check_events();
	check_files();
	check_small();
	check_emulated();
	check_duplicates();
	check_ports();
	check_plans();
	check_drains();
	return tap_done();
}
