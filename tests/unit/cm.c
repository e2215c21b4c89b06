/* SPDX-License-Identifier: MIT */
/*
 * Connecting by librdmacm, on one that follows a script: what each call is given, what comes of each event, and that no
 * wait outlives its deadline. The words of rdmaez_impl_cm_find() have their test in tests/tools/explain_cm.t.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#define RDMAEZ_WITH_CM
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>

static bool stays_blocking; /* a channel cannot be made not to block */
static bool only_ipv6;      /* the C library finds no other addresses */

static inline int test_fcntl(int fd, int command, ...)
{
	va_list list;
	int flags = 0;

	va_start(list, command);
	if (command == F_SETFL)
		flags = va_arg(list, int);
	va_end(list);
	if (stays_blocking && flags & O_NONBLOCK) {
		errno = EPERM;
		return -1;
	}
	return fcntl(fd, command, flags);
}

/* Only F_GETFL and F_SETFL are used here. */
#define fcntl test_fcntl
#include <rdmaez/implementation.h>
#undef fcntl

#include <netinet/in.h>
#include <signal.h>
#include <sys/time.h>

#include "check.h"
#include "fake_cm.h"
#include "fixture.h"

#define MS UINT64_C(1000000)

/* The name that the header has given to the C library's function. */
int test_getaddrinfo(const char *host, const char *port, const struct rdmaez_impl_addrinfo *hints,
		     struct rdmaez_impl_addrinfo **list) __asm__("getaddrinfo");
int test_getaddrinfo(const char *host, const char *port, const struct rdmaez_impl_addrinfo *hints,
		     struct rdmaez_impl_addrinfo **list)
{
	int (*real)(const char *, const char *, const struct rdmaez_impl_addrinfo *,
		    struct rdmaez_impl_addrinfo **);
	void *const found = dlsym(RTLD_NEXT, "getaddrinfo");

	memcpy(&real, &found, sizeof(real));
	return real(only_ipv6 ? "::1" : host, port, hints, list);
}

static struct {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct rdma_event_channel *channel, *other;
	struct rdma_cm_id *id, *listener;
	struct ibv_qp_init_attr init;
	struct rdmaez_cm_peer peer;
	struct rdmaez_diag diag;
} t;

/* A device, and two channels. */
static void start(void)
{
	struct fake_device *dev = fixture_device(FAKE_PROFILE_PLAIN, "6.1.0");

	memset(&t, 0, sizeof(t));
	dev->attr.orig_attr.max_qp_rd_atom = 16;
	dev->attr.orig_attr.max_qp_init_rd_atom = 8;
	dev->attr.orig_attr.max_res_rd_atom = 4096;
	t.ctx = fake_open(dev);
	t.pd = ibv_alloc_pd(t.ctx);
	t.init.qp_type = IBV_QPT_RC;
	t.init.send_cq = t.init.recv_cq = ibv_create_cq(t.ctx, 16, NULL, NULL, 0);
	t.init.cap.max_send_wr = t.init.cap.max_recv_wr = 4;
	t.init.cap.max_send_sge = t.init.cap.max_recv_sge = 1;
	fake_cm_reset(t.ctx);
	if (rdmaez_cm_channel_create(&t.channel, &t.diag) ||
	    rdmaez_cm_channel_create(&t.other, &t.diag))
		tap_bail("no channel");
}

/* All that a test has made, and what the library may have left. */
static void end(const char *name)
{
	if (t.id && t.id->qp)
		rdma_destroy_qp(t.id);
	if (t.id)
		rdma_destroy_id(t.id);
	if (t.listener)
		rdma_destroy_id(t.listener);
	tap_eq_int(fake_cm.ids, 0, "%s: no id is left", name);
	tap_eq_int(fake_cm.events, 0, "%s: every event is acknowledged", name);
	tap_ok(!fake_cm.was_blocking, "%s: librdmacm never waits itself", name);
	tap_ok(!(fcntl(t.channel->fd, F_GETFL) & O_NONBLOCK), "%s: the channel blocks as it did",
	       name);
	rdma_destroy_event_channel(t.channel);
	rdma_destroy_event_channel(t.other);
	fake_close_all();
}

/* A client that is ready to connect. */
static void client(void)
{
	start();
	if (rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag) ||
	    rdmaez_cm_qp_create(t.id, t.pd, &t.init, &t.diag))
		tap_bail("no client");
}

/* A server that has a request. */
static void server(void)
{
	start();
	if (rdmaez_cm_listen(t.other, "192.0.2.1", "7471", NULL, &t.listener, &t.diag))
		tap_bail("no listener");
	fake_cm_event(t.listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, "hello");
	if (rdmaez_cm_request(t.listener, t.channel, 0, &t.id, &t.peer, &t.diag) ||
	    rdmaez_cm_qp_create(t.id, t.pd, &t.init, &t.diag))
		tap_bail("no server");
}

/* A call ended so; `of` is the call of librdmacm or the event that the record names, NULL: none. */
static void ended(int got, int error, enum rdmaez_why reason, const char *field, const char *call,
		  const char *of, const char *name)
{
	check_refusal(&t.diag, got, error, reason, field, "%s", name);
	tap_eq_str(t.diag.call, call, "%s: the call", name);
	tap_eq_str(t.diag.event ? t.diag.event : t.diag.verb, of, "%s: and of librdmacm", name);
}

/* A look has found nothing, which is no failure. */
static void none(int got, const char *name)
{
	tap_eq_int(got, EAGAIN, "%s", name);
	tap_eq_count(&t.diag, 0, "%s: no finding", name);
	tap_eq_int(t.diag.error, EAGAIN, "%s: though the record is this call's", name);
}

/* ---- The client --------------------------------------------------------------------------------- */

static void check_channel(void)
{
	struct rdma_event_channel *none = NULL;

	start();
	ended(rdmaez_cm_channel_create(NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "channel",
	      "rdmaez_cm_channel_create", NULL, "nowhere to put it");
	fake_cm_fail(FAKE_CM_CHANNEL, ENODEV, 1);
	ended(rdmaez_cm_channel_create(&none, &t.diag), ENODEV, RDMAEZ_WHY_CM_NO_NODE,
	      "device list", "rdmaez_cm_channel_create", "rdma_create_event_channel",
	      "no device at all");
	fake_cm_fail(FAKE_CM_CHANNEL, ENOENT, 1);
	ended(rdmaez_cm_channel_create(&none, &t.diag), ENOENT, RDMAEZ_WHY_CM_NO_NODE,
	      "/dev/infiniband/rdma_cm", "rdmaez_cm_channel_create", "rdma_create_event_channel",
	      "no node");
	tap_ok(!none, "the output is not written");
	end("channels");
}

static void check_resolve(void)
{
	static const char *const lone[] = {"127.0.0.1", "127.255.0.9", "0.0.0.0", "::1", "::"};
	static const char *const common[] = {"128.0.0.1", "126.0.0.127", "::2", "2001:db8::1",
					     "0.0.0.1"};
	const struct sockaddr_in from = {.sin_family = AF_INET};
	const struct sockaddr_in6 from6 = {.sin6_family = AF_INET6};
	struct rdmaez_qp_opts qp = {0};
	struct rdmaez_cm_opts opts = {.timeout_ns = 800 * MS, .qp = &qp};

	start();
	memcpy(&opts.source, &(const void *){&from}, sizeof(opts.source));
	qp.path.traffic_class = 106;
	check_success(&t.diag,
		      rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", &opts, &t.id, &t.diag),
		      "a host is found");
	tap_eq_ptr(t.id->verbs, t.ctx, "with its device");
	tap_eq_ptr(t.id->channel, t.channel, "on the channel");
	tap_eq_int(t.id->ps, RDMA_PS_TCP, "in the port space of connections");
	tap_eq_int(fake_cm.tos, 106, "the traffic class is the id's");
	tap_eq_ptr(fake_cm.source, &from, "and the source is what was asked for");
	tap_ok(fake_cm.timeout_ms > 500 && fake_cm.timeout_ms <= 700,
	       "librdmacm has less time than the whole");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	end("resolving");

	start();
	check_success(&t.diag,
		      rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag),
		      "without options");
	tap_eq_int(fake_cm.tos, 0xff, "no traffic class is set");
	tap_eq_ptr(fake_cm.source, NULL, "nor a source");
	tap_ok(fake_cm.timeout_ms > 8000 && fake_cm.timeout_ms <= 8750, "it has its part of 10 s");
	end("defaults");

	start();
	qp.path.traffic_class = 256;
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", &opts, &t.id, &t.diag), EINVAL,
	      RDMAEZ_WHY_RANGE, "traffic_class", "rdmaez_cm_resolve", NULL, "a class too great");
	qp.path.traffic_class = 0;
	memcpy(&opts.source, &(const void *){&from6}, sizeof(opts.source));
	fake_cm_fail(FAKE_CM_ADDR, EINVAL, 1);
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", &opts, &t.id, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_ADDRESS, "src_addr", "rdmaez_cm_resolve", "rdma_resolve_addr",
	      "a source of another family");
	fake_cm_fail(FAKE_CM_ADDR, EINVAL, 1);
	ended(rdmaez_cm_resolve(t.channel, "fe80::1", "7471", NULL, &t.id, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_ADDRESS, "dst_addr", "rdmaez_cm_resolve", "rdma_resolve_addr",
	      "a link-local address without an interface");
	fake_cm_fail(FAKE_CM_ADDR, EINVAL, 1);
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_STATE, "id", "rdmaez_cm_resolve", "rdma_resolve_addr",
	      "what no argument and no route tells");
	for (size_t i = 0; i < sizeof(lone) / sizeof(lone[0]); i++) {
		fake_cm_fail(FAKE_CM_ADDR, EINVAL, 1);
		ended(rdmaez_cm_resolve(t.channel, lone[i], "7471", NULL, &t.id, &t.diag), EINVAL,
		      RDMAEZ_WHY_CM_ADDRESS, "dst_addr", "rdmaez_cm_resolve", "rdma_resolve_addr",
		      lone[i]);
	}
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
		fake_cm_fail(FAKE_CM_ADDR, EINVAL, 1);
		ended(rdmaez_cm_resolve(t.channel, common[i], "7471", NULL, &t.id, &t.diag), EINVAL,
		      RDMAEZ_WHY_CM_STATE, "id", "rdmaez_cm_resolve", "rdma_resolve_addr",
		      common[i]);
	}
	for (int i = 0; i < 2; i++) {
		fake_route(EINVAL);
		fake_cm_fail(FAKE_CM_ADDR, EINVAL, 1);
		ended(rdmaez_cm_resolve(t.channel, i ? "2001:db8::9" : "192.0.2.1", "7471", NULL,
					&t.id, &t.diag),
		      EINVAL, RDMAEZ_WHY_CM_NO_ROUTE, "dst_addr", "rdmaez_cm_resolve",
		      "rdma_resolve_addr", "a route into a black hole");
	}
	fake_cm_fail(FAKE_CM_ADDR, EINVAL, 1);
	ended(rdmaez_cm_resolve(t.channel, "ff02::1", "7471", NULL, &t.id, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_STATE, "id", "rdmaez_cm_resolve", "rdma_resolve_addr",
	      "a group, whose address lacks its interface");
	fake_route(ENETUNREACH);
	fake_cm_fail(FAKE_CM_ADDR, EINVAL, 1);
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_STATE, "id", "rdmaez_cm_resolve", "rdma_resolve_addr",
	      "a route that no EINVAL is of");
	fake_route(0);
	fake_cm_fail(FAKE_CM_ADDR, ENETUNREACH, 1);
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag), ENETUNREACH,
	      RDMAEZ_WHY_CM_NO_ROUTE, "dst_addr", "rdmaez_cm_resolve", "rdma_resolve_addr",
	      "no route");
	fake_cm_fail(FAKE_CM_ID, EMFILE, 1);
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag), EMFILE,
	      RDMAEZ_WHY_CM_NO_NODE, "event channel", "rdmaez_cm_resolve", "rdma_create_id",
	      "no file descriptor");
	fake_cm_fail(FAKE_CM_ROUTE, ENODEV, 1);
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag), ENODEV,
	      RDMAEZ_WHY_CM_ADDRESS, "id", "rdmaez_cm_resolve", "rdma_resolve_route",
	      "an interface without a device");
	fake_cm_answer(FAKE_CM_ADDR, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, NULL);
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag), ETIMEDOUT,
	      RDMAEZ_WHY_CM_NO_NEIGHBOUR, "status", "rdmaez_cm_resolve", "RDMA_CM_EVENT_ADDR_ERROR",
	      "nobody has the address");
	tap_eq_int((int64_t)t.diag.finding[0].value, -ETIMEDOUT, "the status is told");
	fake_cm_answer(FAKE_CM_ADDR, RDMA_CM_EVENT_ADDR_ERROR, -1, NULL);
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag), EIO,
	      RDMAEZ_WHY_CM_NO_NODE, "status", "rdmaez_cm_resolve", "RDMA_CM_EVENT_ADDR_ERROR",
	      "a device that librdmacm cannot open");
	fake_cm_answer(FAKE_CM_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
	fake_cm_answer(FAKE_CM_ROUTE, RDMA_CM_EVENT_ROUTE_ERROR, -EINVAL, NULL);
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_NO_ROUTE, "status", "rdmaez_cm_resolve", "RDMA_CM_EVENT_ROUTE_ERROR",
	      "no path");
	fake_cm_answer(FAKE_CM_ROUTE, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL);
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag), ENODEV,
	      RDMAEZ_WHY_CM_REMOVAL, "status", "rdmaez_cm_resolve", "RDMA_CM_EVENT_DEVICE_REMOVAL",
	      "a device that goes");
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "no such service", NULL, &t.id, &t.diag),
	      EINVAL, RDMAEZ_WHY_OPEN_SERVICE, "service", "rdmaez_cm_resolve", NULL,
	      "no such service");
	ended(rdmaez_cm_resolve(NULL, "192.0.2.1", "7471", NULL, &t.id, &t.diag), EINVAL,
	      RDMAEZ_WHY_NULL_ARGUMENT, "channel", "rdmaez_cm_resolve", NULL, "no channel");
	ended(rdmaez_cm_resolve(t.channel, NULL, "7471", NULL, &t.id, &t.diag), EINVAL,
	      RDMAEZ_WHY_NULL_ARGUMENT, "host", "rdmaez_cm_resolve", NULL, "no host");
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", NULL, NULL, &t.id, &t.diag), EINVAL,
	      RDMAEZ_WHY_NULL_ARGUMENT, "service", "rdmaez_cm_resolve", NULL, "no service");
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, NULL, &t.diag), EINVAL,
	      RDMAEZ_WHY_NULL_ARGUMENT, "id", "rdmaez_cm_resolve", NULL, "nowhere to put it");
	tap_ok(!t.id, "the output is not written");
	end("refusals");
}

static void on_alarm(int number)
{
	(void)number;
}

/* Deadlines; and a signal, or another reader, does not end a wait. */
static void check_deadlines(void)
{
	const struct itimerval soon = {.it_value = {.tv_usec = 5000}};
	struct sigaction action = {.sa_handler = on_alarm};
	struct rdmaez_cm_opts opts = {.timeout_ns = 30 * MS};
	struct rdma_cm_event *event = NULL;
	uint64_t begun;

	client();
	sigaction(SIGALRM, &action, NULL);
	fake_cm_answer(FAKE_CM_CONNECT, FAKE_CM_NONE, 0, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	begun = rdmaez_impl_now();
	ended(rdmaez_cm_connect(t.id, &opts, &t.peer, &t.diag), ETIMEDOUT, RDMAEZ_WHY_CM_DEADLINE,
	      "timeout_ns", "rdmaez_cm_connect", NULL, "no answer");
	tap_ok(rdmaez_impl_now() - begun >= 30 * MS, "it waited all of the time, over a signal");
	tap_eq_int(t.peer.length, 0, "the output is not written");
	begun = rdmaez_impl_now();
	none(rdmaez_cm_event_next(t.channel, RDMAEZ_NS_NOW, &event, &t.diag), "no event");
	tap_ok(rdmaez_impl_now() - begun < 500 * MS, "which it does not wait for");
	tap_ok(!event, "nor writes");
	fake_cm_event(t.id, RDMA_CM_EVENT_ADDR_CHANGE, 0, NULL);
	fake_cm_fail(FAKE_CM_GET, EINTR, 1);
	check_success(&t.diag, rdmaez_cm_event_next(t.channel, 0, &event, &t.diag),
		      "an event, after a read that was interrupted");
	tap_eq_int(event->event, RDMA_CM_EVENT_ADDR_CHANGE, "it is the one");
	check_success(&t.diag, rdmaez_cm_event_explain(event, &t.diag), "and no failure");
	rdma_ack_cm_event(event);
	fake_cm_event(t.id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, NULL);
	fake_cm_fail(FAKE_CM_GET, EAGAIN, 1);
	check_success(&t.diag, rdmaez_cm_event_next(t.channel, 0, &event, &t.diag),
		      "one that another reader nearly took");
	rdma_ack_cm_event(event);
	fake_cm_event(t.id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, NULL);
	fake_cm_fail(FAKE_CM_GET, EBADF, 1);
	ended(rdmaez_cm_event_next(t.channel, 0, &event, &t.diag), EBADF, RDMAEZ_WHY_CM_NO_NODE,
	      "id->channel", "rdmaez_cm_event_next", "rdma_get_cm_event", "a closed channel");
	check_success(&t.diag, rdmaez_cm_event_next(t.channel, 0, &event, &t.diag), "it is there");
	rdma_ack_cm_event(event);
	ended(rdmaez_cm_event_next(NULL, 0, &event, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
	      "channel", "rdmaez_cm_event_next", NULL, "no channel");
	ended(rdmaez_cm_event_next(t.channel, 0, NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
	      "event", "rdmaez_cm_event_next", NULL, "nowhere to put it");
	end("deadlines");

	/* A name of two addresses shares the time. */
	start();
	fake_cm_answer(FAKE_CM_ADDR, FAKE_CM_NONE, 0, NULL);
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", &opts, &t.id, &t.diag), ETIMEDOUT,
	      RDMAEZ_WHY_CM_DEADLINE, "timeout_ns", "rdmaez_cm_resolve", NULL, "no address");
	end("a deadline of an address");

	start();
	stays_blocking = true;
	tap_eq_int(rdmaez_cm_event_next(t.channel, RDMAEZ_NS_NOW, &event, &t.diag), EPERM,
		   "a channel that goes on blocking is not read");
	tap_eq_int(rdmaez_impl_cm_take(t.channel, 0, &event), EPERM, "whatever the deadline");
	fcntl(t.channel->fd, F_SETFL, O_NONBLOCK);
	tap_eq_int(rdmaez_cm_event_next(t.channel, RDMAEZ_NS_NOW, &event, &t.diag), EAGAIN,
		   "one that does not block is left as it is");
	tap_ok((fcntl(t.channel->fd, F_GETFL) & O_NONBLOCK) != 0, "also afterwards");
	stays_blocking = false;
	fcntl(t.channel->fd, F_SETFL, 0);
	end("blocking");

	start();
	fake_cm.context = NULL;
	check_success(&t.diag,
		      rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471", NULL, &t.id, &t.diag),
		      "an address of no device yet");
	tap_eq_str(t.diag.device, "", "the record names none");
	tap_ok(!t.id->verbs, "nor has the id one");
	end("no device yet");
}

static void check_qp_create(void)
{
	struct ibv_pd *foreign;

	start();
	ended(rdmaez_cm_qp_create(NULL, t.pd, &t.init, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
	      "id", "rdmaez_cm_qp_create", NULL, "no id");
	if (rdma_create_id(t.channel, &t.id, NULL, RDMA_PS_TCP))
		tap_bail("no id");
	ended(rdmaez_cm_qp_create(t.id, t.pd, NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
	      "init_attr", "rdmaez_cm_qp_create", NULL, "no attributes");
	ended(rdmaez_cm_qp_create(t.id, t.pd, &t.init, &t.diag), EINVAL, RDMAEZ_WHY_CM_STATE,
	      "id->verbs", "rdmaez_cm_qp_create", "rdma_create_qp", "no device");
	end("without a device");

	client();
	tap_eq_int(t.id->qp->state, IBV_QPS_INIT, "a queue pair in INIT");
	tap_eq_int(t.diag.qp_num, t.id->qp->qp_num, "the record names it");
	ended(rdmaez_cm_qp_create(t.id, t.pd, &t.init, &t.diag), EINVAL, RDMAEZ_WHY_CM_STATE,
	      "id->qp", "rdmaez_cm_qp_create", "rdma_create_qp", "a second");
	rdma_destroy_qp(t.id);
	foreign = ibv_alloc_pd(fake_open(fake_device_add("fake1")));
	ended(rdmaez_cm_qp_create(t.id, foreign, &t.init, &t.diag), EINVAL, RDMAEZ_WHY_CM_ARGUMENT,
	      "pd", "rdmaez_cm_qp_create", "rdma_create_qp", "another device's domain");
	check_success(&t.diag, rdmaez_cm_qp_create(t.id, NULL, &t.init, &t.diag),
		      "none, for the one that librdmacm keeps");
	tap_ok(t.id->qp->pd != t.pd && t.id->qp->pd->context == t.ctx, "which is of the device");
	rdma_destroy_qp(t.id);
	t.init.cap.max_send_wr = 0x7fffffff;
	tap_ok(rdmaez_cm_qp_create(t.id, t.pd, &t.init, &t.diag) > 0, "a queue too long");
	tap_ok(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_CAP_LIMIT) != NULL, "is explained as that");
	tap_eq_str(t.diag.verb, "rdma_create_qp", "by the call");
	end("queue pairs");
}

static void check_connect(void)
{
	struct rdmaez_qp_opts qp = {.timeout = 18,
				    .retry_cnt = 3,
				    .rnr_retry = RDMAEZ_ZERO,
				    .min_rnr_timer = 5,
				    .max_rd_atomic = 2,
				    .max_dest_rd_atomic = 4,
				    .optional = IBV_QP_ALT_PATH};
	struct rdmaez_cm_opts opts = {.qp = &qp, .data = "told", .data_length = 4};

	client();
	check_success(&t.diag, rdmaez_cm_connect(t.id, NULL, &t.peer, &t.diag), "a connection");
	tap_eq_int(t.id->qp->state, IBV_QPS_RTS, "its queue pair is in RTS");
	tap_eq_int(fake_qp_true(t.id->qp)->min_rnr_timer, 12, "min_rnr_timer is 0.64 ms");
	tap_eq_int(fake_cm.timeout, 14, "the ACK timeout 67 ms");
	tap_eq_int(fake_cm.param.retry_count, 7, "7 retries");
	tap_eq_int(fake_cm.param.rnr_retry_count, 7, "also where no receive is posted");
	tap_eq_int(fake_cm.param.initiator_depth, 8, "as many READs as the device may have");
	tap_eq_int(fake_cm.param.responder_resources, 16, "and as many as it answers");
	tap_ok(!fake_cm.param.private_data, "nothing is told");
	tap_eq_int(t.peer.length, 4, "what the peer told");
	tap_eq_str((char *)t.peer.data, "peer", "is there");
	tap_eq_int(t.peer.responder_resources, 3, "its depths, too");
	tap_eq_int(t.peer.initiator_depth, 5, "both");
	end("a connection");

	client();
	check_success(&t.diag, rdmaez_cm_connect(t.id, &opts, NULL, &t.diag), "with options");
	tap_eq_int(fake_qp_true(t.id->qp)->min_rnr_timer, 5, "min_rnr_timer as asked");
	tap_eq_int(fake_cm.timeout, 18, "and the timeout");
	tap_eq_int(fake_cm.param.retry_count, 3, "the retries");
	tap_eq_int(fake_cm.param.rnr_retry_count, 0, "none where no receive is posted");
	tap_eq_int(fake_cm.param.initiator_depth, 2, "the depths");
	tap_eq_int(fake_cm.param.responder_resources, 4, "of both directions");
	tap_ok(fake_cm.length == 4 && memcmp(fake_cm.data, "told", 4) == 0, "the private data");
	tap_eq_str(t.diag.call, "rdmaez_cm_connect", "the record is of the call");
	end("options");

	client();
	opts.data_length = RDMAEZ_CM_REQUEST_BYTES + 1;
	ended(rdmaez_cm_connect(t.id, &opts, NULL, &t.diag), EINVAL, RDMAEZ_WHY_CM_PRIVATE_DATA,
	      "conn_param->private_data_len", "rdmaez_cm_connect", NULL, "too much to tell");
	opts.data_length = 0;
	qp.retry_cnt = 8;
	ended(rdmaez_cm_connect(t.id, &opts, NULL, &t.diag), EINVAL, RDMAEZ_WHY_RANGE, "retry_cnt",
	      "rdmaez_cm_connect", NULL, "an option out of range");
	qp.retry_cnt = 0;
	fake_cm_fail(FAKE_CM_OPTION, ENOSYS, 1);
	ended(rdmaez_cm_connect(t.id, &opts, NULL, &t.diag), ENOSYS, RDMAEZ_WHY_CM_ARGUMENT,
	      "optname", "rdmaez_cm_connect", "rdma_set_option",
	      "a timeout that this kernel cannot set");
	fake_cm_fail(FAKE_CM_CONNECT, EINVAL, 1);
	ended(rdmaez_cm_connect(t.id, NULL, NULL, &t.diag), EINVAL, RDMAEZ_WHY_CM_STATE, "id",
	      "rdmaez_cm_connect", "rdma_connect", "a call at the wrong time");
	ended(rdmaez_cm_connect(NULL, NULL, NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "id",
	      "rdmaez_cm_connect", NULL, "no id");
	fake_cm_fail(FAKE_CM_OPTION, ENOSYS, 1);
	check_success(&t.diag, rdmaez_cm_connect(t.id, NULL, NULL, &t.diag),
		      "a default that this kernel cannot set is no failure");
	end("refused options");

	client();
	rdma_destroy_qp(t.id);
	ended(rdmaez_cm_connect(t.id, NULL, NULL, &t.diag), EINVAL, RDMAEZ_WHY_CM_STATE, "id->qp",
	      "rdmaez_cm_connect", NULL, "no queue pair");
	t.id->event = &(struct rdma_cm_event){.id = t.id};
	ended(rdmaez_cm_connect(t.id, NULL, NULL, &t.diag), EINVAL, RDMAEZ_WHY_CM_SYNC,
	      "id->channel", "rdmaez_cm_connect", NULL, "a synchronous id");
	end("ids");

	client();
	fake_fail(FAKE_MODIFY_QP, 1, EINVAL);
	check_success(&t.diag, rdmaez_cm_connect(t.id, NULL, NULL, &t.diag),
		      "a driver that keeps its timer is no failure");
	end("a default timer");

	client();
	qp.min_rnr_timer = 5;
	fake_fail(FAKE_MODIFY_QP, 1, EINVAL);
	tap_eq_int(rdmaez_cm_connect(t.id, &opts, NULL, &t.diag), EINVAL,
		   "unless one was asked for");
	tap_eq_str(t.diag.verb, "ibv_modify_qp", "which the record tells");
	end("a timer that was asked for");
}

/* What comes in place of ESTABLISHED. */
static void check_answers(void)
{
	static const struct {
		int event, status, error;
		enum rdmaez_why reason;
		const char *name;
	} rows[] = {
		{RDMA_CM_EVENT_REJECTED, 8, ECONNREFUSED, RDMAEZ_WHY_CM_NO_LISTENER,
		 "RDMA_CM_EVENT_REJECTED"},
		{RDMA_CM_EVENT_REJECTED, 28, ECONNREFUSED, RDMAEZ_WHY_CM_REFUSED,
		 "RDMA_CM_EVENT_REJECTED"},
		{RDMA_CM_EVENT_REJECTED, 10, ECONNREFUSED, RDMAEZ_WHY_CM_STALE,
		 "RDMA_CM_EVENT_REJECTED"},
		{RDMA_CM_EVENT_REJECTED, 4, ECONNREFUSED, RDMAEZ_WHY_CM_GAVE_UP,
		 "RDMA_CM_EVENT_REJECTED"},
		{RDMA_CM_EVENT_REJECTED, 26, ECONNREFUSED, RDMAEZ_WHY_CM_REJECTED,
		 "RDMA_CM_EVENT_REJECTED"},
		{RDMA_CM_EVENT_REJECTED, -ECONNRESET, ECONNREFUSED, RDMAEZ_WHY_CM_REFUSED,
		 "RDMA_CM_EVENT_REJECTED"},
		{RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, ETIMEDOUT, RDMAEZ_WHY_CM_NO_ANSWER,
		 "RDMA_CM_EVENT_UNREACHABLE"},
		{RDMA_CM_EVENT_UNREACHABLE, 1, ECONNREFUSED, RDMAEZ_WHY_CM_NO_LISTENER,
		 "RDMA_CM_EVENT_UNREACHABLE"},
		{RDMA_CM_EVENT_CONNECT_ERROR, -1, EIO, RDMAEZ_WHY_CM_CONNECT,
		 "RDMA_CM_EVENT_CONNECT_ERROR"},
		{RDMA_CM_EVENT_CONNECT_ERROR, -ENOMEM, ENOMEM, RDMAEZ_WHY_CM_CONNECT,
		 "RDMA_CM_EVENT_CONNECT_ERROR"},
		{RDMA_CM_EVENT_DISCONNECTED, 0, ECONNRESET, RDMAEZ_WHY_CM_DISCONNECTED,
		 "RDMA_CM_EVENT_DISCONNECTED"},
		{RDMA_CM_EVENT_DEVICE_REMOVAL, 0, ENODEV, RDMAEZ_WHY_CM_REMOVAL,
		 "RDMA_CM_EVENT_DEVICE_REMOVAL"},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const bool refused = rows[i].event == RDMA_CM_EVENT_REJECTED;
		char text[2048];

		client();
		fake_cm_answer(FAKE_CM_CONNECT, rows[i].event, rows[i].status, "not you");
		ended(rdmaez_cm_connect(t.id, NULL, &t.peer, &t.diag), rows[i].error,
		      rows[i].reason, "status", "rdmaez_cm_connect", rows[i].name, rows[i].name);
		tap_eq_str((char *)t.peer.data, refused ? "not you" : "",
			   "what the peer says is told where it refuses");
		tap_eq_int(fake_qp_true(t.id->qp)->min_rnr_timer, 0, "nothing is tuned");
		rdmaez_diag_format(&t.diag, text, sizeof(text));
		tap_ok(strstr(text, rows[i].name), "the text names the event");
		end(rows[i].name);
	}
	client();
	fake_cm_answer(FAKE_CM_CONNECT, RDMA_CM_EVENT_REJECTED, 8, NULL);
	if (rdmaez_cm_connect(t.id, NULL, NULL, &t.diag)) {
		char text[2048], json[2048];

		rdmaez_diag_format(&t.diag, text, sizeof(text));
		rdmaez_diag_json(&t.diag, json, sizeof(json));
		tap_ok(strstr(text, "reason 8, invalid service ID"), "the words are the event's");
		tap_ok(strstr(text, " Status: 8. Next: start the server first"), "and the status");
		tap_ok(strstr(json, "\"reason\":\"CM_NO_LISTENER\",\"field\":\"status\","
				    "\"kind\":\"cm_event\",\"value\":8,\"what\":\"no program"),
		       "in JSON as well");
	}
	end("words");

	client();
	fake_cm_event(t.id, RDMA_CM_EVENT_ADDR_CHANGE, 0, NULL);
	check_success(&t.diag, rdmaez_cm_connect(t.id, NULL, NULL, &t.diag),
		      "an event that is no failure is passed over");
	end("another event");

	client();
	t.listener = t.id;
	if (rdma_create_id(t.channel, &t.id, NULL, RDMA_PS_TCP))
		tap_bail("no id");
	fake_cm_event(t.id, RDMA_CM_EVENT_ADDR_CHANGE, 0, NULL);
	ended(rdmaez_cm_connect(t.listener, NULL, NULL, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_CHANNEL_SHARED, "id->channel", "rdmaez_cm_connect", NULL,
	      "an event of another id");
	rdma_ack_cm_event(&((struct fake_cm_channel *)(void *)t.channel)->first->event);
	fake_cm.events++;
	rdma_destroy_qp(t.listener);
	end("a shared channel");
}

/* ---- The server --------------------------------------------------------------------------------- */

static void check_listen(void)
{
	struct rdmaez_cm_opts opts = {.backlog = 7};

	start();
	check_success(&t.diag,
		      rdmaez_cm_listen(t.channel, "192.0.2.1", "7471", &opts, &t.listener, &t.diag),
		      "a listener");
	tap_eq_int(fake_cm.backlog, 7, "with its backlog");
	end("listening");

	start();
	check_success(&t.diag,
		      rdmaez_cm_listen(t.channel, NULL, "7471", NULL, &t.listener, &t.diag),
		      "at every address");
	tap_eq_int(t.listener->route.addr.src_addr.sa_family, AF_INET6, "of both families");
	tap_eq_int(fake_cm.backlog, 0, "as many as the kernel allows");
	end("everywhere");

	start();
	fake_cm_fail(FAKE_CM_BIND, EAFNOSUPPORT, 1);
	check_success(&t.diag,
		      rdmaez_cm_listen(t.channel, NULL, "7471", NULL, &t.listener, &t.diag),
		      "at every address of a host without IPv6");
	tap_eq_int(t.listener->route.addr.src_addr.sa_family, AF_INET, "of IPv4");
	end("without IPv6");

	start();
	t.ctx->device->transport_type = IBV_TRANSPORT_IWARP;
	check_success(&t.diag,
		      rdmaez_cm_listen(t.channel, NULL, "7471", NULL, &t.listener, &t.diag),
		      "at every address, of iWARP");
	tap_eq_int(t.listener->route.addr.src_addr.sa_family, AF_INET, "of IPv4");
	end("over iWARP");

	start();
	t.ctx->device->transport_type = IBV_TRANSPORT_IWARP;
	only_ipv6 = true;
	check_refusal(&t.diag,
		      rdmaez_cm_listen(t.channel, NULL, "7471", NULL, &t.listener, &t.diag),
		      EAFNOSUPPORT, RDMAEZ_WHY_CM_ADDRESS, "host",
		      "iWARP on a host without addresses of IPv4");
	tap_eq_int(rdmaez_cm_listen(t.channel, NULL, "7471", NULL, &t.listener, NULL), EAFNOSUPPORT,
		   "also without a record");
	tap_eq_int(fake_cm.count[FAKE_CM_BIND], 0, "nothing is bound");
	only_ipv6 = false;
	fake_cm_fail(FAKE_CM_BIND, EAFNOSUPPORT, 0);
	ended(rdmaez_cm_listen(t.channel, "192.0.2.1", "7471", NULL, &t.listener, &t.diag),
	      EAFNOSUPPORT, RDMAEZ_WHY_CM_ADDRESS, "addr", "rdmaez_cm_listen", "rdma_bind_addr",
	      "the same of librdmacm");
	end("no family");

	start();
	fake_cm_fail(FAKE_CM_BIND, EADDRNOTAVAIL, 0);
	ended(rdmaez_cm_listen(t.channel, NULL, "7471", NULL, &t.listener, &t.diag), EADDRNOTAVAIL,
	      RDMAEZ_WHY_CM_PORT_TAKEN, "addr", "rdmaez_cm_listen", "rdma_bind_addr",
	      "a port that is taken");
	ended(rdmaez_cm_listen(t.channel, "192.0.2.1", "7471", NULL, &t.listener, &t.diag),
	      EADDRNOTAVAIL, RDMAEZ_WHY_CM_ADDRESS, "addr", "rdmaez_cm_listen", "rdma_bind_addr",
	      "an address of another host");
	fake_cm_fail(FAKE_CM_BIND, 0, 0);
	fake_cm_fail(FAKE_CM_LISTEN, ENOSYS, 0);
	ended(rdmaez_cm_listen(t.channel, "192.0.2.1", "7471", NULL, &t.listener, &t.diag), ENOSYS,
	      RDMAEZ_WHY_CM_UNSUPPORTED, "id", "rdmaez_cm_listen", "rdma_listen",
	      "no connection manager");
	fake_cm_fail(FAKE_CM_LISTEN, EFAULT, 0);
	ended(rdmaez_cm_listen(t.channel, "192.0.2.1", "7471", NULL, &t.listener, &t.diag), EFAULT,
	      RDMAEZ_WHY_CM_UNEXPLAINED, "errno", "rdmaez_cm_listen", "rdma_listen",
	      "an errno value that nothing tells of");
	ended(rdmaez_cm_listen(NULL, NULL, "7471", NULL, &t.listener, &t.diag), EINVAL,
	      RDMAEZ_WHY_NULL_ARGUMENT, "channel", "rdmaez_cm_listen", NULL, "no channel");
	ended(rdmaez_cm_listen(t.channel, NULL, NULL, NULL, &t.listener, &t.diag), EINVAL,
	      RDMAEZ_WHY_NULL_ARGUMENT, "service", "rdmaez_cm_listen", NULL, "no service");
	ended(rdmaez_cm_listen(t.channel, NULL, "7471", NULL, NULL, &t.diag), EINVAL,
	      RDMAEZ_WHY_NULL_ARGUMENT, "listener", "rdmaez_cm_listen", NULL, "nowhere to put it");
	tap_ok(!t.listener, "the output is not written");
	end("no listener");
}

static void check_request(void)
{
	start();
	if (rdmaez_cm_listen(t.other, NULL, "7471", NULL, &t.listener, &t.diag))
		tap_bail("no listener");
	ended(rdmaez_cm_request(t.listener, t.channel, 3 * MS, &t.id, &t.peer, &t.diag), ETIMEDOUT,
	      RDMAEZ_WHY_CM_DEADLINE, "timeout_ns", "rdmaez_cm_request", NULL, "nobody");
	none(rdmaez_cm_request(t.listener, t.channel, RDMAEZ_NS_NOW, &t.id, &t.peer, &t.diag),
	     "nobody yet");
	fake_cm_event(t.listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, "hello");
	fake_cm_fail(FAKE_CM_MIGRATE, ENOMEM, 1);
	ended(rdmaez_cm_request(t.listener, t.channel, 0, &t.id, &t.peer, &t.diag), ENOMEM,
	      RDMAEZ_WHY_CM_UNEXPLAINED, "memory", "rdmaez_cm_request", "rdma_migrate_id",
	      "no memory");
	tap_eq_int(t.peer.length, 0, "the output is not written");
	fake_cm_event(t.listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, "hello");
	fake_cm_event(t.listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, "me, too");
	check_success(&t.diag, rdmaez_cm_request(t.listener, t.channel, 0, &t.id, &t.peer, &t.diag),
		      "a request");
	tap_eq_ptr(t.id->channel, t.channel, "is on its own channel");
	tap_eq_str((char *)t.peer.data, "hello", "with what the client told");
	rdma_destroy_id(t.id);
	check_success(&t.diag,
		      rdmaez_cm_request(t.listener, t.channel, RDMAEZ_NS_NOW, &t.id, NULL, &t.diag),
		      "and the next");
	ended(rdmaez_cm_request(t.listener, t.other, 0, &t.id, NULL, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_CHANNEL_SHARED, "channel", "rdmaez_cm_request", NULL, "one channel");
	fake_cm_event(t.listener, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL);
	ended(rdmaez_cm_request(t.listener, t.channel, 0, &t.id, NULL, &t.diag), ENODEV,
	      RDMAEZ_WHY_CM_REMOVAL, "status", "rdmaez_cm_request", "RDMA_CM_EVENT_DEVICE_REMOVAL",
	      "the device goes");
	ended(rdmaez_cm_request(NULL, t.channel, 0, &t.id, NULL, &t.diag), EINVAL,
	      RDMAEZ_WHY_NULL_ARGUMENT, "listener", "rdmaez_cm_request", NULL, "no listener");
	ended(rdmaez_cm_request(t.listener, NULL, 0, &t.id, NULL, &t.diag), EINVAL,
	      RDMAEZ_WHY_NULL_ARGUMENT, "channel", "rdmaez_cm_request", NULL, "no channel");
	ended(rdmaez_cm_request(t.listener, t.channel, 0, NULL, NULL, &t.diag), EINVAL,
	      RDMAEZ_WHY_NULL_ARGUMENT, "id", "rdmaez_cm_request", NULL, "nowhere to put it");
	end("requests");
}

static void check_accept(void)
{
	char much[RDMAEZ_CM_ANSWER_BYTES + 1] = "";
	struct rdmaez_cm_opts opts = {.data = much, .data_length = sizeof(much) - 1};

	server();
	check_success(&t.diag, rdmaez_cm_accept(t.id, &t.peer, &opts, &t.diag), "it is accepted");
	tap_eq_int(fake_cm.param.initiator_depth, 5, "with no more READs than the client answers");
	tap_eq_int(fake_cm.param.responder_resources, 3, "and room for those that it sends");
	tap_eq_int(fake_cm.length, RDMAEZ_CM_ANSWER_BYTES, "an answer has more room");
	tap_eq_int(fake_cm.timeout, 14, "the timeout is set");
	tap_eq_int(fake_qp_true(t.id->qp)->min_rnr_timer, 12, "and the timer");
	end("accepted");

	server();
	opts.data_length++;
	ended(rdmaez_cm_accept(t.id, &t.peer, &opts, &t.diag), EINVAL, RDMAEZ_WHY_CM_PRIVATE_DATA,
	      "conn_param->private_data_len", "rdmaez_cm_accept", NULL, "too much to tell");
	ended(rdmaez_cm_accept(t.id, NULL, NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
	      "request", "rdmaez_cm_accept", NULL, "no request");
	ended(rdmaez_cm_accept(NULL, &t.peer, NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
	      "id", "rdmaez_cm_accept", NULL, "no id");
	fake_cm_fail(FAKE_CM_ACCEPT, EINVAL, 1);
	ended(rdmaez_cm_accept(t.id, &t.peer, NULL, &t.diag), EINVAL, RDMAEZ_WHY_CM_STATE, "id",
	      "rdmaez_cm_accept", "rdma_accept", "a client that has given up");
	fake_cm_answer(FAKE_CM_ACCEPT, RDMA_CM_EVENT_REJECTED, 4, NULL);
	ended(rdmaez_cm_accept(t.id, &t.peer, NULL, &t.diag), ECONNREFUSED, RDMAEZ_WHY_CM_GAVE_UP,
	      "status", "rdmaez_cm_accept", "RDMA_CM_EVENT_REJECTED", "or does so now");
	end("not accepted");
}

static void check_reject(void)
{
	char much[RDMAEZ_CM_REJECT_BYTES + 1] = "";

	server();
	check_success(&t.diag, rdmaez_cm_reject(t.id, "not you", 7, &t.diag), "a refusal");
	tap_ok(fake_cm.length == 7 && memcmp(fake_cm.data, "not you", 7) == 0, "tells why");
	check_success(&t.diag, rdmaez_cm_reject(t.id, NULL, 0, &t.diag), "or does not");
	tap_eq_int(fake_cm.length, 0, "as asked");
	check_success(&t.diag, rdmaez_cm_reject(t.id, much, sizeof(much) - 1, &t.diag), "the most");
	ended(rdmaez_cm_reject(t.id, much, sizeof(much), &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_PRIVATE_DATA, "private_data_len", "rdmaez_cm_reject", NULL, "too much");
	ended(rdmaez_cm_reject(t.id, NULL, 1, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "data",
	      "rdmaez_cm_reject", NULL, "no data");
	ended(rdmaez_cm_reject(NULL, NULL, 0, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "id",
	      "rdmaez_cm_reject", NULL, "no id");
	fake_cm_fail(FAKE_CM_REJECT, EINVAL, 1);
	ended(rdmaez_cm_reject(t.id, NULL, 0, &t.diag), EINVAL, RDMAEZ_WHY_CM_STATE, "id",
	      "rdmaez_cm_reject", "rdma_reject", "twice");
	end("refusals");
}

/* ---- The end, and loops ------------------------------------------------------------------------------ */

static void check_disconnect(void)
{
	client();
	if (rdmaez_cm_connect(t.id, NULL, NULL, &t.diag))
		tap_bail("no connection");
	check_success(&t.diag, rdmaez_cm_disconnect(t.id, 0, &t.diag), "the end");
	fake_cm_fail(FAKE_CM_DISCONNECT, EINVAL, 1);
	ended(rdmaez_cm_disconnect(t.id, 0, &t.diag), EINVAL, RDMAEZ_WHY_CM_STATE, "id",
	      "rdmaez_cm_disconnect", "rdma_disconnect", "no connection");
	ended(rdmaez_cm_disconnect(NULL, 0, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "id",
	      "rdmaez_cm_disconnect", NULL, "no id");
	fake_cm_answer(FAKE_CM_DISCONNECT, FAKE_CM_NONE, 0, NULL);
	ended(rdmaez_cm_disconnect(t.id, RDMAEZ_NS_NOW, &t.diag), ETIMEDOUT, RDMAEZ_WHY_CM_DEADLINE,
	      "timeout_ns", "rdmaez_cm_disconnect", NULL, "a peer that does not answer");
	ended(rdmaez_cm_disconnected(t.id, 3 * MS, &t.diag), ETIMEDOUT, RDMAEZ_WHY_CM_DEADLINE,
	      "timeout_ns", "rdmaez_cm_disconnected", NULL, "nor end");
	ended(rdmaez_cm_disconnected(NULL, 0, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "id",
	      "rdmaez_cm_disconnected", NULL, "no id");
	fake_cm_event(t.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
	fake_cm.count[FAKE_CM_DISCONNECT] = 0;
	check_success(&t.diag, rdmaez_cm_disconnected(t.id, 0, &t.diag), "the peer's end");
	tap_eq_int(fake_cm.count[FAKE_CM_DISCONNECT], 1, "is this one's, too");
	end("disconnecting");
}

/* What a loop of its own uses around librdmacm's calls. */
static void check_loop(void)
{
	struct rdma_conn_param param, before;
	struct rdma_cm_event *event;

	memset(&param, 0x55, sizeof(param));
	before = param;
	client();
	ended(rdmaez_cm_prepare(NULL, NULL, NULL, &param, &t.diag), EINVAL,
	      RDMAEZ_WHY_NULL_ARGUMENT, "id", "rdmaez_cm_prepare", NULL, "no id");
	ended(rdmaez_cm_prepare(t.id, NULL, NULL, NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
	      "param", "rdmaez_cm_prepare", NULL, "nowhere to put it");
	fake_fail(FAKE_QUERY_DEVICE, 1, ENOMEM);
	tap_eq_int(rdmaez_cm_prepare(t.id, NULL, NULL, &param, &t.diag), ENOMEM, "no device");
	tap_eq_str(t.diag.call, "rdmaez_cm_prepare", "the record is of the call");
	tap_ok(memcmp(&param, &before, sizeof(param)) == 0, "the output is not written");
	check_success(&t.diag, rdmaez_cm_prepare(t.id, NULL, NULL, &param, &t.diag), "parameters");
	tap_eq_int(param.retry_count, 7, "with the defaults");
	rdma_connect(t.id, &param);
	check_success(&t.diag, rdmaez_cm_event_next(t.channel, 0, &event, &t.diag), "the answer");
	check_success(&t.diag, rdmaez_cm_event_explain(event, &t.diag), "is none to explain");
	rdmaez_cm_event_peer(event, &t.peer);
	tap_eq_str((char *)t.peer.data, "peer", "and tells something");
	rdma_ack_cm_event(event);
	check_success(&t.diag, rdmaez_cm_tune(t.id, NULL, &t.diag), "the timer");
	tap_eq_int(fake_qp_true(t.id->qp)->min_rnr_timer, 12, "is set");
	fake_reset_log();
	t.ctx->device->transport_type = IBV_TRANSPORT_IWARP;
	check_success(&t.diag, rdmaez_cm_tune(t.id, NULL, &t.diag), "of iWARP there is none");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "and none is set");
	ended(rdmaez_cm_tune(NULL, NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "id",
	      "rdmaez_cm_tune", NULL, "no id");
	ended(rdmaez_cm_event_explain(NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "event",
	      "rdmaez_cm_event_explain", NULL, "no event");
	ended(rdmaez_cm_event_explain(
		      &(struct rdma_cm_event){.event = RDMA_CM_EVENT_MULTICAST_ERROR,
					      .status = -ENETRESET},
		      &t.diag),
	      ENETRESET, RDMAEZ_WHY_CM_MULTICAST, "status", "rdmaez_cm_event_explain",
	      "RDMA_CM_EVENT_MULTICAST_ERROR", "a group that is lost");
	tap_eq_int(rdmaez_cm_event_explain(
			   &(struct rdma_cm_event){.event = RDMA_CM_EVENT_REJECTED, .status = 8},
			   NULL),
		   ECONNREFUSED, "without a record");
	rdma_destroy_qp(t.id);
	ended(rdmaez_cm_tune(t.id, NULL, &t.diag), EINVAL, RDMAEZ_WHY_CM_STATE, "id->qp",
	      "rdmaez_cm_tune", NULL, "no queue pair");
	t.id->verbs = NULL;
	ended(rdmaez_cm_prepare(t.id, NULL, NULL, &param, &t.diag), EINVAL, RDMAEZ_WHY_CM_STATE,
	      "id->verbs", "rdmaez_cm_prepare", NULL, "no device");
	end("a loop");
}

/* Rows that connecting does not come to. */
static void check_rows(void)
{
	tap_eq_int(rdmaez_impl_cm_find("rdma_connect", RDMAEZ_IMPL_CM_IS_DEPTH)->why,
		   RDMAEZ_WHY_CM_DEPTH, "a depth that the device has not");
	tap_ok(!rdmaez_impl_cm_find("RDMA_CM_EVENT_ESTABLISHED", 0), "of some events nothing");
}

/* ---- What seldom is ------------------------------------------------------------------------------------ */

/* What the arguments tell of an address that librdmacm refuses. */
static void check_causes(void)
{
	const struct sockaddr_in four = {.sin_family = AF_INET};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	const struct sockaddr *to4, *to6;

	memcpy(&to4, &(const void *){&four}, sizeof(to4));
	memcpy(&to6, &(const void *){&six}, sizeof(to6));
	tap_eq_int(rdmaez_impl_cm_cause(ENODEV, to4, to6), 0, "only EINVAL tells something");
	tap_eq_int(rdmaez_impl_cm_cause(EINVAL, to4, NULL), 0, "nothing of IPv4 without a source");
	tap_eq_int(rdmaez_impl_cm_cause(EINVAL, to4, to4), 0, "nor with one of its family");
	tap_eq_int(rdmaez_impl_cm_cause(EINVAL, to4, to6), RDMAEZ_IMPL_CM_IS_FAMILIES,
		   "of another family that");
	tap_eq_int(rdmaez_impl_cm_cause(EINVAL, to6, to6), 0, "nothing of ::");
	six.sin6_addr.s6_addr[0] = 0xfe;
	tap_eq_int(rdmaez_impl_cm_cause(EINVAL, to6, NULL), 0, "nor of fe00::");
	six.sin6_addr.s6_addr[1] = 0xbf;
	tap_eq_int(rdmaez_impl_cm_cause(EINVAL, to6, NULL), RDMAEZ_IMPL_CM_IS_SCOPE,
		   "febf:: lacks an interface");
	six.sin6_scope_id = 2;
	tap_eq_int(rdmaez_impl_cm_cause(EINVAL, to6, NULL), 0, "or has one");
}

/* Why the node could not be opened, and rows that are not there. */
static void check_words(void)
{
	struct rdmaez_diag *const diag = &t.diag;
	struct rdma_event_channel *none = NULL;

	start();
	fake_tree_new();
	tap_eq_int(rdmaez_impl_cm_why_no_node(), ENOENT, "a host without the node");
	fake_tree_file("/dev/infiniband/rdma_cm", "");
	tap_eq_int(rdmaez_impl_cm_why_no_node(), EPERM, "one that may be read and written");
	fake_cm_fail(FAKE_CM_CHANNEL, ENOENT, 1);
	ended(rdmaez_cm_channel_create(&none, diag), ENOENT, RDMAEZ_WHY_CM_NO_NODE,
	      "/dev/infiniband/rdma_cm", "rdmaez_cm_channel_create", "rdma_create_event_channel",
	      "a node that was not opened all the same");
	tap_eq_int((int64_t)diag->finding[0].value, EPERM, "for that reason");
	fake_tree(NULL);

	rdmaez_impl_diag_reset(diag, "rdmaez_cm_connect");
	rdmaez_impl_cm_explain(diag, "RDMA_CM_EVENT_ESTABLISHED", 0, true);
	tap_eq_int(diag->count, 0, "an event that is no failure has no finding");
	rdmaez_impl_cm_explain(diag, "rdma_connect", ENOENT, false);
	tap_eq_int(diag->count, 1, "ENOENT of another call is looked up as it is");
	tap_eq_int((int64_t)diag->finding[0].value, ENOENT, "and told so");
	diag->verb = NULL;
	tap_ok(!rdmaez_impl_cm_words(diag, &diag->finding[0]),
	       "a record without a call has no words");
	diag->verb = "rdma_connect";
	tap_ok(rdmaez_impl_cm_words(diag, &diag->finding[0]) != NULL, "one with the call has");
	diag->finding[0].reason = RDMAEZ_WHY_RANGE;
	tap_ok(!rdmaez_impl_cm_words(diag, &diag->finding[0]), "but not for another reason");
	diag->finding[0].kind = RDMAEZ_VALUE_CM_EVENT;
	diag->finding[0].value = 0;
	diag->event = "RDMA_CM_EVENT_ESTABLISHED";
	tap_ok(!rdmaez_impl_cm_words(diag, &diag->finding[0]), "nor of an event without a row");
	end("words");
}

/* A channel that is closed, that did not block before, or that is asked by two. */
static void check_channels(void)
{
	struct rdma_event_channel closed = {.fd = -1};
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *second = NULL;

	start();
	ended(rdmaez_cm_event_next(&closed, RDMAEZ_NS_NOW, &event, &t.diag), EBADF,
	      RDMAEZ_WHY_CM_NO_NODE, "id->channel", "rdmaez_cm_event_next", "rdma_get_cm_event",
	      "a closed channel");
	fcntl(t.channel->fd, F_SETFL, fcntl(t.channel->fd, F_GETFL) | O_NONBLOCK);
	none(rdmaez_cm_event_next(t.channel, RDMAEZ_NS_NOW, &event, &t.diag),
	     "a channel that does not block");
	ended(rdmaez_cm_event_next(t.channel, 3 * MS, &event, &t.diag), ETIMEDOUT,
	      RDMAEZ_WHY_CM_DEADLINE, "timeout_ns", "rdmaez_cm_event_next", NULL, "nor later");
	tap_ok(fcntl(t.channel->fd, F_GETFL) & O_NONBLOCK, "stays so");
	fcntl(t.channel->fd, F_SETFL, fcntl(t.channel->fd, F_GETFL) & ~O_NONBLOCK);
	if (rdma_create_id(t.channel, &t.id, NULL, RDMA_PS_TCP))
		tap_bail("no id");
	for (int error = EAGAIN;; error = EINTR) {
		fake_cm_event(t.id, RDMA_CM_EVENT_ADDR_CHANGE, 0, NULL);
		fake_cm_fail(FAKE_CM_GET, error, 0);
		none(rdmaez_cm_event_next(t.channel, RDMAEZ_NS_NOW, &event, &t.diag),
		     "an event that others take");
		ended(rdmaez_cm_event_next(t.channel, 3 * MS, &event, &t.diag), ETIMEDOUT,
		      RDMAEZ_WHY_CM_DEADLINE, "timeout_ns", "rdmaez_cm_event_next", NULL,
		      "until the time is over");
		fake_cm_fail(FAKE_CM_GET, 0, 0);
		check_success(&t.diag, rdmaez_cm_event_next(t.channel, 0, &event, &t.diag),
			      "or not");
		rdma_ack_cm_event(event);
		if (error == EINTR)
			break;
	}
	end("channels");

	/* Two listeners on one channel: a request of the one is lost to the other, and its id with it. */
	start();
	if (rdmaez_cm_listen(t.other, "192.0.2.1", "7471", NULL, &t.listener, &t.diag) ||
	    rdmaez_cm_listen(t.other, "192.0.2.1", "7472", NULL, &second, &t.diag))
		tap_bail("no listeners");
	fake_cm_event(t.listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, "hello");
	ended(rdmaez_cm_request(second, t.channel, 5 * MS, &t.id, NULL, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_CHANNEL_SHARED, "id->channel", "rdmaez_cm_request", NULL,
	      "a request of another listener");
	tap_eq_int(fake_cm.ids, 2, "its id is gone");
	fake_cm_event(t.listener, RDMA_CM_EVENT_ADDR_CHANGE, 0, NULL);
	ended(rdmaez_cm_request(second, t.channel, 5 * MS, &t.id, NULL, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_CHANNEL_SHARED, "id->channel", "rdmaez_cm_request", NULL,
	      "another event of it");
	tap_eq_int(fake_cm.ids, 2, "has no id that goes");
	rdma_destroy_id(second);
	end("listeners");

	start();
	t.ctx->device->transport_type = IBV_TRANSPORT_IWARP;
	fake_cm_fail(FAKE_CM_ID, EMFILE, 1);
	ended(rdmaez_cm_listen(t.channel, NULL, "7471", NULL, &t.listener, &t.diag), EMFILE,
	      RDMAEZ_WHY_CM_NO_NODE, "event channel", "rdmaez_cm_listen", "rdma_create_id",
	      "no id to listen with");
	fake_fail(FAKE_GET_DEVICE_LIST, 1, ENOMEM);
	tap_ok(!rdmaez_impl_cm_has_iwarp(), "a list of devices that is not there has no iWARP");
	tap_ok(rdmaez_impl_cm_has_iwarp(), "one that is has");
	fake_device_add("fake1");
	tap_ok(rdmaez_impl_cm_has_iwarp(), "also before others");
	ended(rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471",
				&(struct rdmaez_cm_opts){
					.qp = &(struct rdmaez_qp_opts){.path.traffic_class = -1}},
				&t.id, &t.diag),
	      EINVAL, RDMAEZ_WHY_RANGE, "traffic_class", "rdmaez_cm_resolve", NULL,
	      "a class below 0");
	fake_cm_fail(FAKE_CM_OPTION, EINVAL, 1);
	tap_eq_int(
		rdmaez_cm_resolve(t.channel, "192.0.2.1", "7471",
				  &(struct rdmaez_cm_opts){
					  .qp = &(struct rdmaez_qp_opts){.path.traffic_class = 8}},
				  &t.id, &t.diag),
		EINVAL, "a class that librdmacm refuses");
	tap_eq_str(t.diag.verb, "rdma_set_option", "which the record names");
	tap_eq_int(fake_cm.count[FAKE_CM_ADDR], 0, "and nothing is resolved");
	tap_eq_int(rdmaez_impl_cm_ms(rdmaez_impl_now()), 1, "no time is a millisecond");
	tap_eq_int(rdmaez_impl_cm_ms(UINT64_MAX), INT32_MAX, "and all time is not more than fits");
	end("times");
}

/* Ids of which something is missing, over iWARP, or of UD. */
static void check_ids(void)
{
	char much[UINT8_MAX + 2] = "";
	struct rdmaez_cm_opts opts = {.data = much, .data_length = UINT8_MAX};
	struct ibv_context *const own = (struct ibv_context *)calloc(1, sizeof(*own));
	struct rdma_cm_id bare = {.qp_type = IBV_QPT_RC};
	struct rdma_cm_event event = {.event = RDMA_CM_EVENT_ESTABLISHED, .id = &bare};
	struct rdmaez_cm_peer peer = {.initiator_depth = 16, .responder_resources = 200};
	struct rdma_conn_param param;

	tap_ok(!rdmaez_impl_cm_is_iwarp(&bare), "an id without a device is not of iWARP");
	bare.verbs = own;
	tap_ok(!rdmaez_impl_cm_is_iwarp(&bare), "nor one whose device is not known");
	bare.verbs = NULL;
	check_success(&t.diag, rdmaez_cm_event_explain(&event, &t.diag), "an event of a bare id");
	tap_eq_str(t.diag.device, "", "which names no device");
	tap_eq_int(rdmaez_impl_cm_ready(&bare, "call", NULL, &t.diag), EINVAL, "it is not ready");
	tap_eq_str(t.diag.finding[0].field, "id->verbs", "for want of a device");
	event.param.conn.private_data_len = 9;
	memset(&peer.data, 0x55, sizeof(peer.data));
	rdmaez_cm_event_peer(&event, &peer);
	tap_eq_int(peer.length, 0, "a length without data is none");
	event.param.conn.private_data = much;
	event.param.conn.private_data_len = 0;
	rdmaez_cm_event_peer(&event, &peer);
	tap_eq_int(peer.length, 0, "nor are data without a length");
	tap_eq_int(peer.data[0], 0, "of which nothing is copied");
	free(own);

	client();
	t.ctx->device->transport_type = IBV_TRANSPORT_IWARP;
	check_success(&t.diag, rdmaez_cm_prepare(t.id, NULL, &opts, &param, &t.diag),
		      "over iWARP there is more room");
	tap_eq_int(param.private_data_len, UINT8_MAX, "as much as a byte counts");
	opts.data_length++;
	ended(rdmaez_cm_prepare(t.id, NULL, &opts, &param, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_PRIVATE_DATA, "conn_param->private_data_len", "rdmaez_cm_prepare", NULL,
	      "and no more");
	check_success(&t.diag, rdmaez_cm_reject(t.id, much, UINT8_MAX, &t.diag),
		      "a refusal has the same");
	ended(rdmaez_cm_reject(t.id, much, UINT8_MAX + 1, &t.diag), EINVAL,
	      RDMAEZ_WHY_CM_PRIVATE_DATA, "private_data_len", "rdmaez_cm_reject", NULL,
	      "and no more");
	tap_eq_int(rdmaez_cm_prepare(t.id, NULL, &opts, &param, NULL), EINVAL, "without a record");
	t.ctx->device->transport_type = IBV_TRANSPORT_IB;
	memset(&peer, 0, sizeof(peer));
	peer.initiator_depth = 200;
	peer.responder_resources = 200;
	tap_eq_int(rdmaez_cm_prepare(t.id, &peer, NULL, &param, NULL), 0, "a peer with more room");
	tap_eq_int(param.initiator_depth, 8, "takes as many READs as this end may have");
	tap_eq_int(param.responder_resources, 16, "and has as many as it answers");
	fake_cm.timeout = 0xff;
	t.id->qp_type = IBV_QPT_UD;
	check_success(&t.diag, rdmaez_cm_prepare(t.id, NULL, NULL, &param, &t.diag), "an id of UD");
	tap_eq_int(fake_cm.timeout, 0xff, "has no ACK timeout");
	t.id->qp_type = IBV_QPT_RC;
	fake_cm_fail(FAKE_CM_OPTION, EINVAL, 1);
	tap_eq_int(rdmaez_cm_prepare(t.id, NULL, NULL, &param, &t.diag), EINVAL,
		   "a refusal that is not for want of the option");
	tap_eq_str(t.diag.verb, "rdma_set_option", "is one");
	fake_cm_fail(FAKE_CM_OPTION, ENOSYS, 1);
	check_success(&t.diag,
		      rdmaez_cm_prepare(t.id, NULL,
					&(struct rdmaez_cm_opts){
						.qp = &(struct rdmaez_qp_opts){.retry_cnt = 3}},
					&param, &t.diag),
		      "options without a timeout do not need it");
	tap_eq_int(param.retry_count, 3, "and hold");
	fake_reset_log();
	t.id->qp->qp_type = IBV_QPT_UD;
	check_success(&t.diag, rdmaez_cm_tune(t.id, &(struct rdmaez_cm_opts){0}, &t.diag),
		      "UD has no timer");
	t.id->qp->qp_type = IBV_QPT_RC;
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "so none is set");
	tap_eq_int(rdmaez_cm_tune(t.id, NULL, NULL), 0, "nor need there be a record");
	tap_eq_int(rdmaez_cm_tune(t.id,
				  &(struct rdmaez_cm_opts){
					  .qp = &(struct rdmaez_qp_opts){.min_rnr_timer = 7}},
				  NULL),
		   EINVAL, "for a timer before RTR");
	end("ids");
}

int main(void)
{
	check_channel();
	check_resolve();
	check_deadlines();
	check_qp_create();
	check_connect();
	check_answers();
	check_listen();
	check_request();
	check_accept();
	check_reject();
	check_disconnect();
	check_loop();
	check_rows();
	check_causes();
	check_words();
	check_channels();
	check_ids();
	return tap_done();
}
