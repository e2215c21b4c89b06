/* SPDX-License-Identifier: MIT */
/* Two ends of a socket: what each gets, and what it is told of a peer that is late, gone, hostile or unlucky. */
#define _GNU_SOURCE /* fork, setitimer, RTLD_NEXT, SOCK_NONBLOCK */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

/* What the system calls shall say instead; all zero: nothing. */
static struct {
	const struct sockaddr *peer; /* of getpeername() */
	socklen_t peer_size;
	int no_ipv6;    /* what socket() says for it */
	int floods;     /* recv() has bytes whenever it is asked for what is to be skipped */
	int polls;      /* how often poll() was called */
	int interrupt;  /* so many calls of send() and recv() are interrupted */
	int accept;     /* what accept4() says first */
	int lookup;     /* what getaddrinfo() says */
	int themselves; /* so many connections are with themselves */
	const char *const *addresses; /* that a host has, IPv4 */
	int refuse[4]; /* what connect() says first, an errno value each; 0: it really connects */
	int connects;  /* how often it was called */
} say;

static inline int test_getpeername(int fd, struct sockaddr *address, socklen_t *size)
{
	if (say.themselves > 0 && say.themselves--)
		return getsockname(fd, address, size);
	if (!say.peer)
		return getpeername(fd, address, size);
	memcpy(address, say.peer, say.peer_size);
	*size = say.peer_size;
	return 0;
}

static inline int test_poll(struct pollfd *fds, nfds_t count, int ms)
{
	say.polls++;
	return poll(fds, count, ms);
}

static inline int test_socket(int family, int type, int protocol)
{
	if (family == AF_INET6 && say.no_ipv6) {
		errno = say.no_ipv6;
		return -1;
	}
	return socket(family, type, protocol);
}

static inline int test_connect(int fd, const struct sockaddr *address, socklen_t size)
{
	const int error = say.connects < 4 ? say.refuse[say.connects] : 0;

	say.connects++;
	if (error)
		errno = error;
	return error ? -1 : connect(fd, address, size);
}

static inline ssize_t test_send(int fd, const void *bytes, size_t count, int flags)
{
	if (say.interrupt > 0 && say.interrupt--) {
		errno = EINTR;
		return -1;
	}
	return send(fd, bytes, count, flags);
}

static inline ssize_t test_recv(int fd, void *bytes, size_t count, int flags)
{
	if (say.floods && count == 256) {
		memset(bytes, 0, count);
		return (ssize_t)count;
	}
	if (say.interrupt > 0 && say.interrupt--) {
		errno = EINTR;
		return -1;
	}
	return recv(fd, bytes, count, flags);
}

#define getpeername test_getpeername
#define socket      test_socket
#define connect     test_connect
#define send        test_send
#define recv        test_recv
#define poll        test_poll
#include <rdmaez/exchange.h>
#include <rdmaez/implementation.h>
#undef getpeername
#undef socket
#undef connect
#undef send
#undef recv
#undef poll
#include "check.h"
#include "findings.h"

enum {
	BYTES = RDMAEZ_ENDPOINT_BYTES,
	HEAD = 24,
	WHOLE = HEAD + BYTES,
	MANY = 512,
};

#define MS UINT64_C(1000000)

/* One more at the front of a list. */
static struct rdmaez_impl_addrinfo *add_address(const char *address, const char *port,
						struct rdmaez_impl_addrinfo *next)
{
	struct rdmaez_impl_addrinfo *const info = (struct rdmaez_impl_addrinfo *)calloc(
		1, sizeof(*info) + sizeof(struct sockaddr_in));
	struct sockaddr_in *const four = (struct sockaddr_in *)(info + 1);

	four->sin_family = AF_INET;
	four->sin_port = htons((uint16_t)atoi(port));
	inet_pton(AF_INET, address, &four->sin_addr);
	info->family = AF_INET;
	info->socktype = SOCK_STREAM;
	info->length = sizeof(*four);
	info->address = (struct sockaddr *)four;
	info->next = next;
	return info;
}

/* The name that the header has given to the C library's function. */
int test_getaddrinfo(const char *host, const char *port, const struct rdmaez_impl_addrinfo *hints,
		     struct rdmaez_impl_addrinfo **list) __asm__("getaddrinfo");
int test_getaddrinfo(const char *host, const char *port, const struct rdmaez_impl_addrinfo *hints,
		     struct rdmaez_impl_addrinfo **list)
{
	int (*real)(const char *, const char *, const struct rdmaez_impl_addrinfo *,
		    struct rdmaez_impl_addrinfo **);
	void *const found = dlsym(RTLD_NEXT, "getaddrinfo");
	int count = 0;

	memcpy(&real, &found, sizeof(real));
	if (say.lookup)
		errno = ENFILE;
	for (*list = NULL; say.addresses && say.addresses[count]; count++)
		;
	while (count--)
		*list = add_address(say.addresses[count], port, *list);
	return say.lookup ? say.lookup : *list ? 0 : real(host, port, hints, list);
}

/* A C library frees only what it made itself, or as it would have: here the address is in one block with its entry. */
void test_freeaddrinfo(struct rdmaez_impl_addrinfo *list) __asm__("freeaddrinfo");
void test_freeaddrinfo(struct rdmaez_impl_addrinfo *list)
{
	void (*real)(struct rdmaez_impl_addrinfo *);
	void *const found = dlsym(RTLD_NEXT, "freeaddrinfo");
	struct rdmaez_impl_addrinfo *next;

	memcpy(&real, &found, sizeof(real));
	if (!say.addresses) {
		real(list);
		return;
	}
	for (; list; list = next) {
		next = list->next;
		free(list);
	}
}

static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct rdmaez_endpoint own, others, remote, untouched;
	struct rdmaez_diag diag;
	int end[2]; /* ours, and the peer's */
	int fds;
} t;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

static int open_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* A TCP connection within this machine: no port is asked for, so none is taken. */
static void connect_tcp(int family, int end[2])
{
	struct sockaddr_in6 address6 = {.sin6_family = AF_INET6,
					.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in address4 = {.sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr *const address =
		family == AF_INET6 ? (struct sockaddr *)&address6 : (struct sockaddr *)&address4;
	socklen_t size = family == AF_INET6 ? sizeof(address6) : sizeof(address4);
	const int listener = socket(family, SOCK_STREAM, 0);

	end[0] = socket(family, SOCK_STREAM, 0);
	if (bind(listener, address, size) || listen(listener, 1) ||
	    getsockname(listener, address, &size) || connect(end[0], address, size) ||
	    (end[1] = accept(listener, NULL, NULL)) < 0)
		tap_bail("no TCP connection");
	close(listener);
}

static bool has_ipv6(void)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	const int fd = socket(AF_INET6, SOCK_STREAM, 0);
	const bool has = fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address));

	if (fd >= 0)
		close(fd);
	return has;
}

static void hang_up(int which)
{
	if (t.end[which] > 0)
		close(t.end[which]);
	t.end[which] = 0;
}

/* Two ends, of a Unix socket unless a family is given, and outputs that nobody may write. */
static void start(int family)
{
	hang_up(0);
	hang_up(1);
	if (family != AF_UNIX)
		connect_tcp(family, t.end);
	else if (socketpair(AF_UNIX, SOCK_STREAM, 0, t.end))
		tap_bail("no sockets");
	memset(&t.remote, 0xa5, sizeof(t.remote));
	t.untouched = t.remote;
	memset(&t.diag, 0x55, sizeof(t.diag));
	t.fds = open_fds();
}

static void check_untouched(const char *name)
{
	tap_ok(memcmp(&t.remote, &t.untouched, sizeof(t.remote)) == 0, "%s: nothing is written",
	       name);
	tap_eq_int(open_fds(), t.fds, "%s: nothing is left open", name);
}

static bool same(const struct rdmaez_endpoint *got, const struct rdmaez_endpoint *sent)
{
	uint8_t a[BYTES], b[BYTES];

	return !rdmaez_endpoint_pack(got, a) && !rdmaez_endpoint_pack(sent, b) &&
	       memcmp(a, b, BYTES) == 0;
}

/* Endpoints that differ: this one is the n-th. */
static struct rdmaez_endpoint nth(unsigned int n)
{
	struct rdmaez_endpoint endpoint = t.others;

	endpoint.psn = n;
	endpoint.user_length = 1 + n % RDMAEZ_ENDPOINT_USER;
	memset(endpoint.user, (int)(n % 251), endpoint.user_length);
	return endpoint;
}

static void setup(void)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};

	t.dev = fake_reset();
	t.ctx = fake_open(t.dev);
	t.pd = ibv_alloc_pd(t.ctx);
	t.cq = ibv_create_cq(t.ctx, 10, NULL, NULL, 0);
	init.send_cq = init.recv_cq = t.cq;
	t.qp = ibv_create_qp(t.pd, &init);
	if (!t.qp || rdmaez_endpoint_local(t.qp, NULL, &t.own, &t.diag) ||
	    rdmaez_endpoint_local(t.qp, NULL, &t.others, &t.diag))
		tap_bail("no endpoint");
}

/* ---- Peers ---------------------------------------------------------------------------------- */

/* What a peer does, in a thread: sends bytes as they are, or calls a function of exchange.h. */
struct peer {
	pthread_t thread;
	int fd;
	int late_ms;          /* it begins so late */
	const uint8_t *bytes; /* what it sends */
	size_t count, each;   /* so many, in pieces of so many; 0: all at once */
	bool reads;           /* all of this end's message first */
	bool closes;          /* at the end */
	bool is_nonblocking;
	struct rdmaez_exchange_list list; /* instead: these */
	const struct rdmaez_exchange_ready *ready;
	bool is_barrier;
	const char *host, *port; /* instead: opens a connection */
	uint64_t timeout;
	int error;
	struct rdmaez_diag diag;
};

static void sleep_ms(int ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static void send_raw(const struct peer *peer)
{
	const size_t each = peer->each ? peer->each : peer->count;

	for (size_t at = 0; at < peer->count; at += each) {
		const size_t left = peer->count - at;

		if (send(peer->fd, peer->bytes + at, left < each ? left : each, MSG_NOSIGNAL) < 0)
			return;
		if (each == 1)
			sched_yield();
	}
}

static void *run_peer(void *arg)
{
	struct peer *const peer = (struct peer *)arg;
	uint8_t taken[WHOLE];

	sleep_ms(peer->late_ms);
	if (peer->is_nonblocking)
		fcntl(peer->fd, F_SETFL, fcntl(peer->fd, F_GETFL) | O_NONBLOCK);
	if (peer->port)
		peer->error = rdmaez_exchange_open(peer->host, peer->port, peer->timeout, &peer->fd,
						   &peer->diag);
	else if (peer->is_barrier)
		peer->error =
			rdmaez_exchange_barrier(peer->fd, peer->ready, peer->timeout, &peer->diag);
	else if (peer->list.count)
		peer->error =
			rdmaez_exchange_many(peer->fd, &peer->list, peer->timeout, &peer->diag);
	if (peer->reads && recv(peer->fd, taken, sizeof(taken), MSG_WAITALL) < 0)
		peer->error = errno;
	send_raw(peer);
	if (peer->closes)
		close(peer->fd);
	return NULL;
}

static void begin(struct peer *peer)
{
	if (pthread_create(&peer->thread, NULL, run_peer, peer))
		tap_bail("no thread");
}

static void end(struct peer *peer)
{
	pthread_join(peer->thread, NULL);
	if (peer->closes)
		t.end[1] = 0;
}

/* The message with this endpoint, as a peer sends it. */
static void message_of(const struct rdmaez_endpoint *endpoint, uint8_t bytes[WHOLE])
{
	static const uint8_t head[HEAD] = {'R', 'Z', 'E', 'X', 0, 0, 0, 0, 0, 0, 0, 1,
					   0,   0,   0,   1,   0, 0, 0, 0, 0, 0, 1, 0x80};

	memcpy(bytes, head, HEAD);
	if (rdmaez_endpoint_pack(endpoint, bytes + HEAD))
		tap_bail("not packed");
}

static int exchange(uint64_t timeout)
{
	return rdmaez_exchange(t.end[0], &t.own, &t.remote, timeout, &t.diag);
}

/* ---- What works ----------------------------------------------------------------------------- */

static void check_both(int family, bool is_nonblocking, int late, const char *name)
{
	struct rdmaez_endpoint theirs;
	uint8_t buffer[BYTES];
	struct peer peer = {.list = {1, &t.others, &theirs, buffer}};
	int flags;

	start(family);
	peer.fd = t.end[1];
	peer.late_ms = late > 0 ? late : 0;
	peer.is_nonblocking = is_nonblocking;
	if (is_nonblocking)
		fcntl(t.end[0], F_SETFL, O_RDWR | O_NONBLOCK);
	flags = fcntl(t.end[0], F_GETFL);
	begin(&peer);
	sleep_ms(late < 0 ? -late : 0);
	check_success(&t.diag, exchange(5000 * MS), "%s", name);
	end(&peer);
	check_success(&peer.diag, peer.error, "%s: at the other end", name);
	tap_eq_str(t.diag.call, "rdmaez_exchange", "%s: the call", name);
	tap_eq_str(peer.diag.call, "rdmaez_exchange_many", "%s: the other's", name);
	tap_ok(same(&t.remote, &t.others) && same(&theirs, &t.own), "%s: both have the other's",
	       name);
	tap_eq_int(fcntl(t.end[0], F_GETFL), flags, "%s: the socket's flags stay", name);
	tap_eq_int(open_fds(), t.fds, "%s: nothing is left open", name);
}

static void check_families(void)
{
	static const int families[] = {AF_UNIX, AF_INET, AF_INET6};
	char name[100];

	for (size_t i = 0; i < COUNT_OF(families); i++)
		for (int late = -20; late <= 20; late += 20) {
			if (families[i] == AF_INET6 && !has_ipv6()) {
				tap_skip("no IPv6");
				continue;
			}
			for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
				snprintf(name, sizeof(name),
					 "family %d, %s, the peer comes %d ms later", families[i],
					 nonblocking ? "non-blocking" : "blocking", late);
				check_both(families[i], nonblocking, late, name);
			}
		}
}

/* The bytes themselves: what another implementation has to send. */
static void check_bytes(void)
{
	uint8_t want[WHOLE], got[WHOLE + 1];

	start(AF_UNIX);
	message_of(&t.own, want);
	tap_eq_int(exchange(10 * MS), ETIMEDOUT, "without an answer");
	tap_eq_int(recv(t.end[1], got, sizeof(got), MSG_DONTWAIT), WHOLE,
		   "a whole message was sent");
	tap_ok(memcmp(got, want, WHOLE) == 0, "of these bytes");
	rdmaez_exchange_barrier(t.end[0], &(struct rdmaez_exchange_ready){0x1234, 0x89abcdef}, 1,
				NULL);
	tap_eq_int(recv(t.end[1], got, sizeof(got), MSG_DONTWAIT), HEAD,
		   "the barrier's is shorter");
	memset(want, 0, HEAD);
	memcpy(want, "RZEX\0\0\x12\x34\0\0\0\2\0\0\0\0\x89\xab\xcd\xef\0\0\0", HEAD);
	tap_ok(memcmp(got, want, HEAD) == 0, "of these");
}

/* What stands behind a message is the program's, also where a later version has made the message longer. */
static void check_tail(void)
{
	static const size_t surplus[] = {0, 1, 255, 256, 257, 5000};
	uint8_t bytes[WHOLE + 5000 + 4], tail[8];

	for (size_t i = 0; i < COUNT_OF(surplus); i++) {
		const size_t length = BYTES + surplus[i];

		start(AF_UNIX);
		memset(bytes, 0x77, sizeof(bytes));
		message_of(&t.others, bytes);
		bytes[22] = (uint8_t)(length >> 8);
		bytes[23] = (uint8_t)length;
		memcpy(bytes + HEAD + length, "tail", 4);
		if (write(t.end[1], bytes, HEAD + length + 4) < 0)
			tap_bail("no room");
		check_success(&t.diag, exchange(1000 * MS), "a message with %d bytes more",
			      (int)surplus[i]);
		tap_ok(same(&t.remote, &t.others), "is understood");
		tap_ok(recv(t.end[0], tail, sizeof(tail), MSG_DONTWAIT) == 4 &&
			       memcmp(tail, "tail", 4) == 0,
		       "what stands behind it is still there");
	}
}

/* What is there already needs no time. */
static void check_at_once(void)
{
	uint8_t bytes[WHOLE];

	start(AF_UNIX);
	message_of(&t.others, bytes);
	send(t.end[1], bytes, WHOLE, 0);
	check_success(&t.diag, exchange(1), "a message that is there, within a nanosecond");
	memcpy(bytes, "RZEX\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0", HEAD);
	send(t.end[1], bytes, HEAD, 0);
	check_success(&t.diag, rdmaez_exchange_barrier(t.end[0], NULL, 1, &t.diag),
		      "and a peer that is at the barrier");
}

static void check_byte_by_byte(void)
{
	uint8_t bytes[WHOLE];
	struct peer peer = {.bytes = bytes, .count = WHOLE, .each = 1};

	start(AF_INET);
	message_of(&t.others, bytes);
	peer.fd = t.end[1];
	begin(&peer);
	check_success(&t.diag, exchange(5000 * MS), "a peer that sends byte by byte");
	end(&peer);
	tap_ok(same(&t.remote, &t.others), "is understood");
}

/* As small as there are; TCP with such room for receiving as well would wait 200 ms for each of its packets. */
static void shrink(int fd)
{
	const int tiny = 1;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &tiny, sizeof(tiny));
}

static void check_many(int family, int late, bool is_tiny)
{
	static struct rdmaez_endpoint ours[MANY], theirs[MANY], got[MANY], gotten[MANY];
	static uint8_t buffer[MANY * BYTES], buffers[MANY * BYTES];
	const struct rdmaez_exchange_list list = {MANY, ours, got, buffer};
	struct peer peer = {.list = {MANY, theirs, gotten, buffers}, .late_ms = late};
	int good = 0;

	start(family);
	for (unsigned int i = 0; i < MANY; i++) {
		ours[i] = nth(i);
		theirs[i] = nth(MANY + i);
	}
	if (is_tiny) {
		shrink(t.end[0]);
		shrink(t.end[1]);
	}
	peer.fd = t.end[1];
	begin(&peer);
	check_success(&t.diag, rdmaez_exchange_many(t.end[0], &list, 20000 * MS, &t.diag),
		      "%d endpoints, family %d, %s buffers", MANY, family,
		      is_tiny ? "tiny" : "usual");
	end(&peer);
	check_success(&peer.diag, peer.error, "and at the other end");
	for (unsigned int i = 0; i < MANY; i++)
		good += same(&got[i], &theirs[i]) && same(&gotten[i], &ours[i]);
	tap_eq_int(good, MANY, "each is in its place");
}

static void *reflect(void *arg)
{
	const int fd = *(int *)arg;
	uint8_t bytes[WHOLE];
	ssize_t count;

	while ((count = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		send(fd, bytes, (size_t)count, MSG_NOSIGNAL);
	return NULL;
}

static void check_reflected(void)
{
	pthread_t thread;

	start(AF_UNIX);
	if (pthread_create(&thread, NULL, reflect, &t.end[1]))
		tap_bail("no thread");
	check_success(&t.diag, exchange(1000 * MS), "a peer that sends all back");
	tap_ok(same(&t.remote, &t.own) && t.remote.nonce == t.own.nonce,
	       "is known by this end's nonce");
	check_success(&t.diag, rdmaez_exchange_barrier(t.end[0], NULL, 1000 * MS, &t.diag),
		      "and is there at the barrier");
	shutdown(t.end[0], SHUT_RDWR);
	pthread_join(thread, NULL);
}

/* ---- What does not -------------------------------------------------------------------------- */

#define REFUSED(name, errno_value, ...) \
	CHECK_VERB_FINDINGS(&t.diag, error, errno_value, "rdmaez_exchange", NULL, name, __VA_ARGS__)
#define ERROR RDMAEZ_DIAG_ERROR
#define NONE  RDMAEZ_VALUE_NONE, 0, 0, 0

/* The peer ends after each number of bytes, having read all of ours, or nothing. */
static void check_deaths(void)
{
	uint8_t bytes[WHOLE];
	char name[100];
	int error;

	message_of(&t.others, bytes);
	for (size_t count = 0; count < WHOLE; count++) {
		struct peer peer = {.bytes = bytes, .count = count, .reads = true, .closes = true};

		start(count % 2 ? AF_INET : AF_UNIX);
		peer.fd = t.end[1];
		snprintf(name, sizeof(name), "the peer ends after %d bytes", (int)count);
		begin(&peer);
		error = exchange(5000 * MS);
		end(&peer);
		t.fds--;
		REFUSED(name, ECONNRESET,
			{ERROR, RDMAEZ_WHY_EXCHANGE_CLOSED, "recv", RDMAEZ_VALUE_BYTES, count,
			 WHOLE, WHOLE});
		check_untouched(name);
	}
}

/* The same before this end sends anything: then the error that it may have told is still read. */
static void check_dead(void)
{
	uint8_t bytes[WHOLE];
	char name[100];
	int error;

	message_of(&t.others, bytes);
	for (size_t count = 0; count <= WHOLE; count += count == HEAD + 1 ? WHOLE - HEAD - 1 : 1) {
		start(AF_UNIX);
		send(t.end[1], bytes, count, 0);
		hang_up(1);
		t.fds--;
		snprintf(name, sizeof(name), "the peer has ended after %d bytes", (int)count);
		error = exchange(5000 * MS);
		if (count < HEAD)
			REFUSED(name, ECONNRESET,
				{ERROR, RDMAEZ_WHY_EXCHANGE_CLOSED, "recv", RDMAEZ_VALUE_BYTES,
				 count, WHOLE, WHOLE});
		else
			REFUSED(name, EPIPE,
				{ERROR, RDMAEZ_WHY_EXCHANGE_CLOSED, "send", RDMAEZ_VALUE_BYTES, 0,
				 WHOLE, WHOLE});
		check_untouched(name);
	}
	start(AF_UNIX);
	bytes[7] = ENOMEM;
	send(t.end[1], bytes, HEAD, 0);
	hang_up(1);
	t.fds--;
	error = exchange(5000 * MS);
	REFUSED("the peer has told why it ends", ECONNABORTED,
		{ERROR, RDMAEZ_WHY_PEER_FAILED, "message.error", RDMAEZ_VALUE_ERRNO, ENOMEM, 0, 0});
}

static void on_alarm(int number)
{
	(void)number;
}

/* Nothing comes, or not all; the deadline is kept, whatever signals arrive. */
static void check_silence(void)
{
	static const size_t counts[] = {0, 1, 4, 23, 24, 25, 200, WHOLE - 1};
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	const struct sigaction action = {.sa_handler = on_alarm};
	uint8_t bytes[WHOLE];
	char name[100];
	uint64_t begun;
	int error, punctual = 0;

	message_of(&t.others, bytes);
	sigaction(SIGALRM, &action, NULL);
	for (size_t i = 0; i < 2 * COUNT_OF(counts); i++) {
		const size_t count = counts[i / 2];

		start(i % 4 / 2 ? AF_INET : AF_UNIX);
		send(t.end[1], bytes, count, 0);
		snprintf(name, sizeof(name), "a peer that stops after %d bytes%s", (int)count,
			 i % 2 ? ", with signals" : "");
		if (i % 2)
			setitimer(ITIMER_REAL, &often, NULL);
		begun = now();
		error = exchange(50 * MS);
		begun = now() - begun;
		setitimer(ITIMER_REAL, &never, NULL);
		if (count)
			REFUSED(name, ETIMEDOUT,
				{ERROR, RDMAEZ_WHY_EXCHANGE_PART, "recv", RDMAEZ_VALUE_BYTES, count,
				 WHOLE, WHOLE});
		else
			REFUSED(name, ETIMEDOUT,
				{ERROR, RDMAEZ_WHY_EXCHANGE_SILENT, "recv", RDMAEZ_VALUE_BYTES, 0,
				 WHOLE, WHOLE});
		tap_ok(begun >= 50 * MS && begun < 2000 * MS, "%s: after %d us", name,
		       (int)(begun / 1000));
		punctual += begun < 60 * MS;
		check_untouched(name);
	}
	tap_ok(punctual > 2,
	       "it is no more than a fifth too late, where the machine lets it: %d of %d", punctual,
	       (int)(2 * COUNT_OF(counts)));
}

/* A peer that sends all the time, but never all, does not keep a call beyond its deadline. */
static void check_dripping(void)
{
	static uint8_t bytes[1 << 20];
	struct peer peer = {
		.bytes = bytes + HEAD, .count = sizeof(bytes) - HEAD, .each = 1, .closes = true};
	uint64_t begun;
	int error;

	start(AF_UNIX);
	message_of(&t.others, bytes);
	bytes[20] = 0xf0; /* a length of nearly 4 GB */
	peer.fd = t.end[1];
	send(peer.fd, bytes, HEAD, 0); /* the peer itself may come late */
	begin(&peer);
	begun = now();
	error = exchange(50 * MS);
	begun = now() - begun;
	hang_up(0);
	end(&peer);
	tap_eq_int(error, ETIMEDOUT, "a peer that never ends: ETIMEDOUT");
	tap_eq_int(t.diag.finding[0].reason, RDMAEZ_WHY_EXCHANGE_PART,
		   "since only a part has come");
	tap_eq_hex(t.diag.finding[0].max, 0xf0000180 + HEAD, "of so much");
	tap_ok(begun < 1000 * MS, "in time: %d us", (int)(begun / 1000));
	start(AF_UNIX);
	send(t.end[1], bytes, WHOLE, 0);
	say.floods = 1;
	begun = now();
	tap_eq_int(exchange(50 * MS), ETIMEDOUT, "one that sends as fast as it is read");
	begun = now() - begun;
	say.floods = 0;
	tap_ok(begun < 1000 * MS, "in time: %d us", (int)(begun / 1000));
}

/* A peer that sends all of its own and reads nothing. */
static void check_unread(void)
{
	static struct rdmaez_endpoint ours[MANY], got[MANY], untouched[MANY];
	static uint8_t buffer[MANY * BYTES], bytes[HEAD + MANY * BYTES];
	const struct rdmaez_exchange_list list = {MANY, ours, got, buffer};
	struct peer peer = {.bytes = bytes, .count = sizeof(bytes)};
	int error, waiting;

	start(AF_UNIX);
	memset(got, 0xa5, sizeof(got));
	memcpy(untouched, got, sizeof(got));
	for (unsigned int i = 0; i < MANY; i++) {
		ours[i] = nth(i);
		rdmaez_endpoint_pack(&ours[i], bytes + HEAD + i * BYTES);
	}
	memcpy(bytes, "RZEX\0\0\0\0\0\0\0\1\0\0\2\0\0\0\0\0\0\3\0", HEAD);
	shrink(t.end[0]);
	peer.fd = t.end[1];
	begin(&peer);
	while (!ioctl(t.end[0], FIONREAD, &waiting) && waiting < 8192)
		sleep_ms(1);
	say.polls = 0;
	error = rdmaez_exchange_many(t.end[0], &list, 300 * MS, &t.diag);
	tap_ok(say.polls < 50, "it waits, and does not ask again and again: %d", say.polls);
	tap_eq_int(error, ETIMEDOUT, "a peer that does not read: ETIMEDOUT");
	tap_eq_int(t.diag.count, 1, "for one reason");
	tap_eq_str(rdmaez_why_id(t.diag.finding[0].reason), "EXCHANGE_UNREAD", "the right one");
	tap_eq_int(t.diag.finding[0].max, sizeof(bytes), "so much was to be sent");
	tap_ok(t.diag.finding[0].value > HEAD && t.diag.finding[0].value < sizeof(bytes),
	       "and so much was: %d", (int)t.diag.finding[0].value);
	tap_eq_str(t.diag.finding[0].field, "send", "the field");
	tap_ok(record_tells_all(&t.diag) && record_is_consistent(&t.diag), "the record");
	tap_ok(memcmp(got, untouched, sizeof(got)) == 0, "nothing is written");
	hang_up(0);
	end(&peer);
}

static void check_foreign(void)
{
	static const char *const texts[] = {
		"HTTP/1.0 400 Bad Request\r\n\r\n",
		"GET / HTTP/1.1\r\n",
		"\x16\x03\x01\x02",
		"\n",
		"SSH-2.0-OpenSSH_9.2\r\n",
		"RZDM and so on",
		"RZE",
		"RZEP is an endpoint alone, no message",
	};
	int error;

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		start(AF_UNIX);
		send(t.end[1], texts[i], strlen(texts[i]), 0);
		error = exchange(strcmp(texts[i], "RZE") == 0 ? 20 * MS : 5000 * MS);
		if (strcmp(texts[i], "RZE") == 0)
			REFUSED("it may yet be one", ETIMEDOUT,
				{ERROR, RDMAEZ_WHY_EXCHANGE_PART, "recv", RDMAEZ_VALUE_BYTES, 3,
				 WHOLE, WHOLE});
		else
			REFUSED("another protocol", EBADMSG,
				{ERROR, RDMAEZ_WHY_EXCHANGE_FOREIGN, "message.magic", NONE});
		check_untouched("another protocol");
	}
}

/* The peer's message with one number of its head changed, and what is said of it. */
static const struct {
	const char *name;
	int at;
	uint32_t number;
	int error;
	struct expected want;
} heads[] = {
	{"an error",
	 4,
	 ETIMEDOUT,
	 ECONNABORTED,
	 {ERROR, RDMAEZ_WHY_PEER_FAILED, "message.error", RDMAEZ_VALUE_ERRNO, ETIMEDOUT, 0, 0}},
	{"an error that none is",
	 4,
	 0xffffffff,
	 ECONNABORTED,
	 {ERROR, RDMAEZ_WHY_PEER_FAILED, "message.error", RDMAEZ_VALUE_ERRNO, 0xffffffff, 0, 0}},
	{"no kind",
	 8,
	 0,
	 EPROTO,
	 {ERROR, RDMAEZ_WHY_EXCHANGE_STEP, "message.kind", RDMAEZ_VALUE_NUMBER, 0, 1, 1}},
	{"a barrier",
	 8,
	 2,
	 EPROTO,
	 {ERROR, RDMAEZ_WHY_EXCHANGE_STEP, "message.kind", RDMAEZ_VALUE_NUMBER, 2, 1, 1}},
	{"a later kind",
	 8,
	 0x80000001,
	 EPROTO,
	 {ERROR, RDMAEZ_WHY_EXCHANGE_STEP, "message.kind", RDMAEZ_VALUE_NUMBER, 0x80000001, 1, 1}},
	{"no endpoint",
	 12,
	 0,
	 EPROTO,
	 {ERROR, RDMAEZ_WHY_EXCHANGE_COUNT, "message.count", RDMAEZ_VALUE_NUMBER, 0, 1, 1}},
	{"two endpoints",
	 12,
	 2,
	 EPROTO,
	 {ERROR, RDMAEZ_WHY_EXCHANGE_COUNT, "message.count", RDMAEZ_VALUE_NUMBER, 2, 1, 1}},
	{"far too many endpoints",
	 12,
	 0xffffffff,
	 EPROTO,
	 {ERROR, RDMAEZ_WHY_EXCHANGE_COUNT, "message.count", RDMAEZ_VALUE_NUMBER, 0xffffffff, 1,
	  1}},
	{"an identity",
	 16,
	 7,
	 EPROTO,
	 {ERROR, RDMAEZ_WHY_EXCHANGE_IDENTITY, "message.identity", RDMAEZ_VALUE_NUMBER, 7, 0, 0}},
	{"no length",
	 20,
	 0,
	 EBADMSG,
	 {ERROR, RDMAEZ_WHY_EXCHANGE_FOREIGN, "message.length", RDMAEZ_VALUE_BYTES, 0, BYTES,
	  UINT64_MAX}},
	{"a byte too few",
	 20,
	 BYTES - 1,
	 EBADMSG,
	 {ERROR, RDMAEZ_WHY_EXCHANGE_FOREIGN, "message.length", RDMAEZ_VALUE_BYTES, BYTES - 1,
	  BYTES, UINT64_MAX}},
};

static void check_heads(void)
{
	uint8_t bytes[WHOLE];

	for (size_t i = 0; i < COUNT_OF(heads); i++) {
		start(AF_UNIX);
		message_of(&t.others, bytes);
		rdmaez_impl_bytes_put(bytes + heads[i].at, heads[i].number, 4);
		send(t.end[1], bytes, HEAD, 0);
		check_findings(&t.diag, exchange(5000 * MS), heads[i].error, "rdmaez_exchange",
			       &heads[i].want, 1, heads[i].name);
		check_untouched(heads[i].name);
	}
}

/* A good head, and an endpoint that is none: all of it was read, and nothing more. */
static void check_hostile(void)
{
	uint8_t bytes[WHOLE], rest;
	int error;

	start(AF_UNIX);
	message_of(&t.others, bytes);
	bytes[HEAD + 30] ^= 1;
	send(t.end[1], bytes, WHOLE, 0);
	send(t.end[1], "x", 1, 0);
	error = exchange(5000 * MS);
	tap_eq_int(error, EINVAL, "an endpoint that was changed: EINVAL");
	tap_eq_str(t.diag.call, "rdmaez_exchange", "by this function");
	tap_eq_str(rdmaez_why_id(t.diag.finding[0].reason), "ENDPOINT_SUM", "for its sum");
	tap_eq_int(t.diag.count, 1, "and nothing else");
	tap_ok(record_tells_all(&t.diag), "which its texts tell");
	check_untouched("an endpoint that was changed");
	tap_ok(recv(t.end[0], &rest, 1, MSG_DONTWAIT) == 1 && rest == 'x',
	       "what stands behind it is still there");
	start(AF_UNIX);
	memset(bytes + HEAD, 0x5a, BYTES);
	send(t.end[1], bytes, WHOLE, 0);
	error = exchange(5000 * MS);
	tap_eq_int(error, EINVAL, "bytes that are no endpoint: EINVAL");
	tap_eq_str(rdmaez_why_id(t.diag.finding[0].reason), "ENDPOINT_MAGIC", "for the magic");
}

/* In a list it is named by its position, and no other is written. */
static void check_list(void)
{
	struct rdmaez_endpoint ours[3] = {nth(1), nth(2), nth(3)}, got[3], untouched[3];
	uint8_t buffer[3 * BYTES], bytes[HEAD + 3 * BYTES];
	struct rdmaez_exchange_list list = {3, ours, got, buffer};
	int error;

	start(AF_UNIX);
	memset(got, 0xa5, sizeof(got));
	memcpy(untouched, got, sizeof(got));
	for (int i = 0; i < 3; i++)
		rdmaez_endpoint_pack(&ours[i], bytes + HEAD + i * BYTES);
	memcpy(bytes, "RZEX\0\0\0\0\0\0\0\1\0\0\0\3\0\0\0\0\0\0\x04\x80", HEAD);
	bytes[HEAD + 2 * BYTES + 50] ^= 4;
	send(t.end[1], bytes, sizeof(bytes), 0);
	error = rdmaez_exchange_many(t.end[0], &list, 1000 * MS, &t.diag);
	tap_eq_int(error, EINVAL, "the last of three was changed: EINVAL");
	tap_eq_int(t.diag.count, 2, "with two findings");
	tap_eq_str(rdmaez_why_id(t.diag.finding[0].reason), "ENDPOINT_SUM", "what is wrong");
	tap_eq_str(rdmaez_why_id(t.diag.finding[1].reason), "EXCHANGE_REMOTE", "and where");
	tap_eq_int(t.diag.finding[1].value, 2, "namely there");
	tap_eq_int(t.diag.finding[1].kind, RDMAEZ_VALUE_POSITION, "counted from 0");
	tap_eq_str(t.diag.finding[1].field, "remote", "the field");
	tap_eq_str(t.diag.call, "rdmaez_exchange_many", "the call");
	tap_ok(record_tells_all(&t.diag), "the texts tell both");
	tap_ok(memcmp(got, untouched, sizeof(got)) == 0, "nothing is written");
	start(AF_UNIX);
	ours[1].user_length = RDMAEZ_ENDPOINT_USER + 1;
	error = rdmaez_exchange_many(t.end[0], &list, 1000 * MS, &t.diag);
	CHECK_FINDINGS(&t.diag, error, EINVAL, "rdmaez_exchange_many", "one that cannot be told",
		       {ERROR, RDMAEZ_WHY_EXCHANGE_LOCAL, "local", RDMAEZ_VALUE_POSITION, 1, 0, 0});
	tap_eq_int(recv(t.end[1], bytes, 1, MSG_DONTWAIT), -1, "nothing of it is sent");
}

static void check_counts(void)
{
	struct rdmaez_endpoint ours = nth(1), got;
	uint8_t buffer[BYTES];
	struct rdmaez_exchange_list list = {0, &ours, &got, buffer};
	const size_t most = INT32_MAX / BYTES;
	int error = rdmaez_exchange_many(t.end[0], &list, 1, &t.diag);

	CHECK_FINDINGS(&t.diag, error, EINVAL, "rdmaez_exchange_many", "no endpoints",
		       {ERROR, RDMAEZ_WHY_RANGE, "count", RDMAEZ_VALUE_NUMBER, 0, 1, most});
	list.count = most + 1;
	error = rdmaez_exchange_many(t.end[0], &list, 1, &t.diag);
	CHECK_FINDINGS(&t.diag, error, EINVAL, "rdmaez_exchange_many", "more than a message has",
		       {ERROR, RDMAEZ_WHY_RANGE, "count", RDMAEZ_VALUE_NUMBER, most + 1, 1, most});
}

static void check_null(void)
{
	struct rdmaez_endpoint got;
	uint8_t buffer[BYTES];
	union ibv_gid gid;
	int fd;

	start(AF_UNIX);
#define REFUSES_NULL(name, call)                                                                  \
	check_refusal(&t.diag, call, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, name, "no %s in %s", name, \
		      #call)
	REFUSES_NULL("local", rdmaez_exchange(t.end[0], NULL, &t.remote, 1, &t.diag));
	REFUSES_NULL("remote", rdmaez_exchange(t.end[0], &t.own, NULL, 1, &t.diag));
	REFUSES_NULL("list", rdmaez_exchange_many(t.end[0], NULL, 1, &t.diag));
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"local", "remote", "buffer"};
		const struct rdmaez_exchange_list list = {
			1, i == 0 ? NULL : &t.own, i == 1 ? NULL : &got, i == 2 ? NULL : buffer};

		REFUSES_NULL(names[i], rdmaez_exchange_many(t.end[0], &list, 1, &t.diag));
	}
	REFUSES_NULL("qp", rdmaez_exchange_connect(t.end[0], NULL, NULL, NULL, NULL, &t.diag));
	REFUSES_NULL("service", rdmaez_exchange_open(NULL, NULL, 1, &fd, &t.diag));
	REFUSES_NULL("socket", rdmaez_exchange_open(NULL, "1", 1, NULL, &t.diag));
	REFUSES_NULL("peer", rdmaez_exchange_peer(t.end[0], NULL, &t.diag));
	tap_eq_int(rdmaez_exchange(t.end[0], NULL, &t.remote, 1, NULL), EINVAL,
		   "nor without a record");
	tap_eq_int(rdmaez_exchange_peer(t.end[0], &gid, NULL), 0, "which nobody needs");
	tap_eq_int(recv(t.end[1], buffer, 1, MSG_DONTWAIT), -1, "nothing was sent");
}

static void check_sockets(void)
{
	int ends[2], error;

	start(AF_UNIX);
	error = rdmaez_exchange(-1, &t.own, &t.remote, 5000 * MS, &t.diag);
	REFUSED("no socket", EBADF, {ERROR, RDMAEZ_WHY_EXCHANGE_SOCKET, "send", NONE});
	if (pipe(ends))
		tap_bail("no pipe");
	error = rdmaez_exchange(ends[1], &t.own, &t.remote, 5000 * MS, &t.diag);
	REFUSED("a pipe", ENOTSOCK, {ERROR, RDMAEZ_WHY_EXCHANGE_SOCKET, "send", NONE});
	close(ends[0]);
	close(ends[1]);
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	error = rdmaez_exchange(ends[0], &t.own, &t.remote, 5000 * MS, &t.diag);
	REFUSED("a socket without a peer", ENOTCONN,
		{ERROR, RDMAEZ_WHY_EXCHANGE_SOCKET, "recv", NONE});
	close(ends[0]);
	check_untouched("a wrong socket");
}

static void check_interrupted(void)
{
	struct rdmaez_endpoint theirs;
	uint8_t buffer[BYTES];
	struct peer peer = {.list = {1, &t.others, &theirs, buffer}};

	start(AF_UNIX);
	peer.fd = t.end[1];
	say.interrupt = 40;
	begin(&peer);
	check_success(&t.diag, exchange(5000 * MS), "calls that are interrupted");
	end(&peer);
	tap_ok(say.interrupt <= 0, "often");
	say.interrupt = 0;
	tap_ok(same(&t.remote, &t.others) && same(&theirs, &t.own), "are made again");
}

/* ---- Barrier -------------------------------------------------------------------------------- */

/* Both ends are at the barrier, this one late by so many ms, and the results are these. */
static void meet(const struct rdmaez_exchange_ready *ours,
		 const struct rdmaez_exchange_ready *theirs, int late, struct peer *peer)
{
	start(AF_UNIX);
	memset(peer, 0, sizeof(*peer));
	peer->fd = t.end[1];
	peer->is_barrier = true;
	peer->ready = theirs;
	peer->late_ms = late < 0 ? -late : 0;
	peer->timeout = 5000 * MS;
	begin(peer);
	sleep_ms(late > 0 ? late : 0);
	peer->late_ms = rdmaez_exchange_barrier(t.end[0], ours, 5000 * MS, &t.diag);
	end(peer);
}

#define BARRIER(diag, got, errno_value, name, ...)                                         \
	CHECK_VERB_FINDINGS(diag, got, errno_value, "rdmaez_exchange_barrier", NULL, name, \
			    __VA_ARGS__)

static void check_barrier(void)
{
	const struct rdmaez_exchange_ready one = {0, 0xfffffff1}, other = {0, 3}, bad = {ENODEV, 0},
					   worse = {-1, 0};
	struct peer peer;
	uint64_t begun;
	int error;

	for (int late = -30; late <= 30; late += 30) {
		begun = now();
		meet(&one, &one, late, &peer);
		begun = now() - begun;
		check_success(&t.diag, peer.late_ms, "both are ready, one %d ms late", late);
		check_success(&peer.diag, peer.error, "at the other end too");
		tap_ok(!late || begun >= 30 * MS, "neither goes on before");
	}
	meet(NULL, NULL, 0, &peer);
	check_success(&t.diag, peer.late_ms, "without anything to tell");
	tap_eq_str(t.diag.call, "rdmaez_exchange_barrier", "the call");
	meet(NULL, &bad, 0, &peer);
	BARRIER(&t.diag, peer.late_ms, ECONNABORTED, "the peer failed",
		{ERROR, RDMAEZ_WHY_PEER_FAILED, "message.error", RDMAEZ_VALUE_ERRNO, ENODEV, 0, 0});
	check_success(&peer.diag, peer.error, "which knows that itself");
	meet(&bad, &bad, 0, &peer);
	tap_ok(peer.late_ms == ECONNABORTED && peer.error == ECONNABORTED, "both failed");
	meet(&one, &other, 0, &peer);
	BARRIER(&t.diag, peer.late_ms, EPROTO, "another connection's barrier",
		{ERROR, RDMAEZ_WHY_EXCHANGE_IDENTITY, "message.identity", RDMAEZ_VALUE_NUMBER, 3,
		 0xfffffff1, 0xfffffff1});
	BARRIER(&peer.diag, peer.error, EPROTO, "at the other end too",
		{ERROR, RDMAEZ_WHY_EXCHANGE_IDENTITY, "message.identity", RDMAEZ_VALUE_NUMBER,
		 0xfffffff1, 3, 3});
	start(AF_UNIX);
	error = rdmaez_exchange_barrier(t.end[0], &worse, 5000 * MS, &t.diag);
	BARRIER(&t.diag, error, EINVAL, "a negative error",
		{ERROR, RDMAEZ_WHY_RANGE, "ready.error", RDMAEZ_VALUE_NUMBER, UINT64_MAX, 0,
		 INT32_MAX});
	error = rdmaez_exchange_barrier(t.end[0], NULL, 20 * MS, &t.diag);
	BARRIER(&t.diag, error, ETIMEDOUT, "nobody else there",
		{ERROR, RDMAEZ_WHY_EXCHANGE_SILENT, "recv", RDMAEZ_VALUE_BYTES, 0, HEAD, HEAD});
}

/* One end exchanges while the other waits: both learn it; and after bad news the stream is in step. */
static void check_steps(void)
{
	const struct rdmaez_exchange_ready bad = {ENOSPC, 0};
	struct peer peer;
	int error;

	for (int i = 0; i < 2; i++) {
		start(AF_UNIX);
		memset(&peer, 0, sizeof(peer));
		peer.fd = t.end[1];
		peer.is_barrier = true;
		peer.ready = i ? &bad : NULL;
		begin(&peer);
		error = exchange(5000 * MS);
		end(&peer);
		if (i)
			REFUSED("the peer gave up before", ECONNABORTED,
				{ERROR, RDMAEZ_WHY_PEER_FAILED, "message.error", RDMAEZ_VALUE_ERRNO,
				 ENOSPC, 0, 0});
		else
			REFUSED("the peer is a step ahead", EPROTO,
				{ERROR, RDMAEZ_WHY_EXCHANGE_STEP, "message.kind",
				 RDMAEZ_VALUE_NUMBER, 2, 1, 1});
		BARRIER(&peer.diag, peer.error, EPROTO, "the peer is a step behind",
			{ERROR, RDMAEZ_WHY_EXCHANGE_STEP, "message.kind", RDMAEZ_VALUE_NUMBER, 1, 2,
			 2});
	}
}

/* ---- All of it ------------------------------------------------------------------------------ */

/*
 * How an end fails: not at all; where its endpoint is made; in its transition to RTR; there, after it has tried until the
 * deadline; or it tells a changed endpoint.
 */
enum {
	WELL,
	PORTLESS,
	UNREACHED,
	ENDLESS,
	CHANGED
};

/* One end, in a process of its own, with a device of its own. */
static int connect_one(int fd, int how, bool has_local, struct rdmaez_endpoint *remote,
		       struct rdmaez_diag *diag)
{
	struct rdmaez_exchange_opts opts = {.timeout_ns = 5000 * MS};
	struct rdmaez_qp_opts with;
	struct rdmaez_endpoint local;

	memset(&with, 0, sizeof(with));
	with.access = IBV_ACCESS_REMOTE_WRITE;
	opts.qp = &with;
	if (rdmaez_endpoint_local(t.qp, &with, &local, NULL))
		return -1;
	local.user_length = 3;
	memcpy(local.user, "abc", 3);
	if (how == PORTLESS)
		with.port = 77;
	if (how == UNREACHED)
		fake_fail(FAKE_MODIFY_QP, 2, EHOSTUNREACH);
	if (how == ENDLESS) {
		with.retry_ns = 4000 * MS;
		opts.timeout_ns = 200 * MS;
		t.dev->neighbour_errno = ETIMEDOUT;
	}
	if (how == CHANGED)
		local.qp_type = IBV_QPT_UC;
	return rdmaez_exchange_connect(fd, t.qp, has_local ? &local : NULL, remote, &opts, diag);
}

/* Both ends connect, and each comes to its own result. */
static void check_connect(int ours, int theirs, bool has_local, int error, int others,
			  const char *name)
{
	struct rdmaez_diag diag;
	struct {
		int error;
		enum ibv_qp_state state;
		enum rdmaez_why why;
		uint64_t value;
	} told;
	int got, ends[2], status;
	uint64_t begun;
	pid_t child;

	start(AF_INET);
	if (pipe(ends))
		tap_bail("no pipe");
	fflush(stdout);
	begun = now();
	child = fork();
	if (!child) {
		hang_up(0);
		told.error = connect_one(t.end[1], theirs, !has_local, NULL, &diag);
		told.state = t.qp->state;
		told.why = diag.count ? diag.finding[0].reason : RDMAEZ_WHY_NONE;
		told.value = diag.finding[0].value;
		_exit(write(ends[1], &told, sizeof(told)) != (ssize_t)sizeof(told));
	}
	hang_up(1);
	got = connect_one(t.end[0], ours, has_local, &t.remote, &t.diag);
	if (read(ends[0], &told, sizeof(told)) != (ssize_t)sizeof(told))
		tap_bail("the other process has ended");
	waitpid(child, &status, 0);
	close(ends[0]);
	close(ends[1]);
	if (ours == ENDLESS || theirs == ENDLESS)
		tap_ok(now() - begun < 3000 * MS, "%s: it tries until its deadline", name);
	tap_eq_str(rdmaez_errno_str(got), rdmaez_errno_str(error), "%s: this end", name);
	tap_eq_str(rdmaez_errno_str(told.error), rdmaez_errno_str(others), "%s: the other", name);
	tap_eq_int(t.diag.error, error, "%s: the record", name);
	tap_eq_str(t.diag.call, "rdmaez_exchange_connect", "%s: the call", name);
	tap_ok(record_tells_all(&t.diag), "%s: the texts", name);
	if (!error) {
		tap_eq_int(t.qp->state, IBV_QPS_RTS, "%s: this one is ready to send", name);
		tap_eq_int(told.state, IBV_QPS_RTS, "%s: and the other", name);
		tap_eq_int(t.remote.user_length, has_local ? 0 : 3, "%s: with what was told", name);
	} else {
		tap_ok(memcmp(&t.remote, &t.untouched, sizeof(t.remote)) == 0,
		       "%s: nothing is written", name);
	}
	if (error == ECONNABORTED) {
		tap_eq_str(rdmaez_why_id(t.diag.finding[0].reason), "PEER_FAILED", "%s: why", name);
		tap_eq_int(t.diag.finding[0].value, others, "%s: with its errno", name);
		tap_eq_int(t.diag.from, t.qp->state == IBV_QPS_RTS ? IBV_QPS_RTS : -1,
			   "%s: the state", name);
		tap_eq_int(t.diag.to, -1, "%s: no transition", name);
		tap_eq_int(t.diag.qp_num, t.qp->qp_num, "%s: the queue pair", name);
	}
	if (others == ECONNABORTED) {
		tap_eq_str(rdmaez_why_id(told.why), "PEER_FAILED", "%s: the other's", name);
		tap_eq_int(told.value, error, "%s: with this one's errno", name);
	}
	t.dev->neighbour_errno = 0;
	rdmaez_qp_to_reset(t.qp, NULL);
}

/* Both ends connect, and this one does not ask who the other is. */
static void check_unasked(void)
{
	pid_t child;
	int status;

	start(AF_INET);
	fflush(stdout);
	child = fork();
	if (!child) {
		hang_up(0);
		_exit(connect_one(t.end[1], WELL, true, &t.remote, NULL) ||
		      t.remote.qp_num != t.qp->qp_num);
	}
	hang_up(1);
	check_success(&t.diag, connect_one(t.end[0], WELL, false, NULL, &t.diag),
		      "a peer that nobody asks for");
	tap_eq_int(t.qp->state, IBV_QPS_RTS, "is there all the same");
	waitpid(child, &status, 0);
	tap_eq_int(status, 0, "and is told of this end");
	rdmaez_qp_to_reset(t.qp, NULL);
}

static void check_connects(void)
{
	const struct sockaddr_in peer = {.sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(0xc0000209)};

	check_connect(WELL, WELL, true, 0, 0, "both connect");
	check_connect(WELL, WELL, false, 0, 0, "both connect, the other with its endpoint");
	say.peer = (const struct sockaddr *)&peer;
	say.peer_size = sizeof(peer);
	check_connect(WELL, WELL, false, 0, 0, "both connect, by the peer's address");
	tap_eq_hex(ntohl(((const struct sockaddr_in *)fake_routed())->sin_addr.s_addr), 0xc0000209,
		   "the route to it is asked for");
	say.peer = NULL;
	check_connect(UNREACHED, WELL, true, EHOSTUNREACH, ECONNABORTED, "this end has no route");
	check_connect(WELL, UNREACHED, true, ECONNABORTED, EHOSTUNREACH, "the other has none");
	check_connect(ENDLESS, WELL, true, ETIMEDOUT, ECONNABORTED, "this end tries too long");
	check_connect(WELL, ENDLESS, true, ECONNABORTED, ETIMEDOUT, "the other tries too long");
	check_connect(UNREACHED, UNREACHED, true, EHOSTUNREACH, EHOSTUNREACH, "neither has one");
	check_connect(PORTLESS, WELL, false, EINVAL, ECONNABORTED, "this end has no endpoint");
	check_connect(WELL, PORTLESS, true, ECONNABORTED, EINVAL, "the other has none");
	check_connect(CHANGED, WELL, true, EINVAL, EINVAL, "they do not fit");
	check_unasked();
}

/* ---- Opening a connection ------------------------------------------------------------------- */

/* A port that was free just now. */
static void free_port(char port[8])
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&address, size) ||
	    getsockname(fd, (struct sockaddr *)&address, &size))
		tap_bail("no port");
	close(fd);
	snprintf(port, 8, "%d", ntohs(address.sin_port));
}

static void check_opened(const char *host, int late, int no_ipv6)
{
	char port[8];
	struct peer peer = {.port = port, .timeout = 5000 * MS, .fd = -1, .late_ms = late};
	int fd = -1, value = 0;
	socklen_t size = sizeof(value);

	start(AF_UNIX);
	free_port(port);
	say.no_ipv6 = no_ipv6;
	begin(&peer);
	sleep_ms(late < 0 ? -late : 0);
	check_success(&t.diag, rdmaez_exchange_open(host, port, 5000 * MS, &fd, &t.diag),
		      "%s is reached, where somebody waits %d ms later", host, late);
	tap_eq_str(t.diag.call, "rdmaez_exchange_open", "the call");
	end(&peer);
	say.no_ipv6 = 0;
	check_success(&peer.diag, peer.error, "and so is who waited");
	tap_ok(write(fd, "x", 1) == 1 && read(peer.fd, &value, 1) == 1, "they are connected");
	for (int i = 0; i < 2; i++) {
		tap_eq_int(fcntl(fd, F_GETFD), FD_CLOEXEC, "it is closed by exec()");
		tap_eq_hex(fcntl(fd, F_GETFL), O_RDWR, "and blocking");
		tap_ok(!getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &size) && value,
		       "and does not delay");
		close(fd);
		fd = peer.fd;
	}
	tap_eq_int(open_fds(), t.fds, "nothing else was left open");
}

/* A connection with itself is none, and another is tried: the listener sees each. */
static void check_themselves(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int fd = -1, count = 0, one;
	char port[8];

	if (listen(listener, 9) || getsockname(listener, (struct sockaddr *)&address, &size))
		tap_bail("no listener");
	snprintf(port, sizeof(port), "%d", ntohs(address.sin_port));
	say.themselves = 2;
	check_success(&t.diag, rdmaez_exchange_open("127.0.0.1", port, 5000 * MS, &fd, &t.diag),
		      "after two connections with itself one with somebody else");
	tap_eq_int(say.themselves, 0, "is made");
	for (; (one = accept(listener, NULL, NULL)) >= 0; count++)
		close(one);
	tap_eq_int(count, 3, "which is the third");
	close(fd);
	close(listener);
}

static void check_open(void)
{
	for (int late = -30; late <= 60; late += 30) {
		check_opened("127.0.0.1", late, 0);
		check_opened("localhost", late, 0);
		check_opened("127.0.0.1", late, EAFNOSUPPORT);
		if (has_ipv6())
			check_opened("::1", late, 0);
		else
			tap_skip("no IPv6");
	}
	check_themselves();
}

#define OPEN(host, port, timeout, errno_value, name, ...)                                          \
	do {                                                                                       \
		int unopened = -7;                                                                 \
                                                                                                   \
		memset(&t.diag, 0x55, sizeof(t.diag));                                             \
		t.fds = open_fds();                                                                \
		CHECK_VERB_FINDINGS(&t.diag,                                                       \
				    rdmaez_exchange_open(host, port, timeout, &unopened, &t.diag), \
				    errno_value, "rdmaez_exchange_open", NULL, name, __VA_ARGS__); \
		tap_eq_int(unopened, -7, "%s: nothing is written", name);                          \
		tap_eq_int(open_fds(), t.fds, "%s: nothing is left open", name);                   \
	} while (0)

static void check_unopened(void)
{
	const int yes = 1;
	struct sockaddr_in6 in_use = {.sin6_family = AF_INET6};
	struct sockaddr_in in_use4 = {.sin_family = AF_INET};
	const int listener = socket(has_ipv6() ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
	uint64_t begun = now();
	char port[8];

	free_port(port);
	OPEN("127.0.0.1", port, 100 * MS, ECONNREFUSED, "nobody listens",
	     {ERROR, RDMAEZ_WHY_OPEN_REFUSED, "service", NONE});
	begun = now() - begun;
	tap_ok(begun >= 100 * MS && begun < 2000 * MS, "until the deadline: %d us",
	       (int)(begun / 1000));
	begun = now();
	OPEN(NULL, port, 100 * MS, ETIMEDOUT, "nobody comes",
	     {ERROR, RDMAEZ_WHY_OPEN_NO_PEER, "timeout_ns", NONE});
	begun = now() - begun;
	tap_ok(begun >= 100 * MS && begun < 2000 * MS, "until the deadline: %d us",
	       (int)(begun / 1000));
	in_use.sin6_port = in_use4.sin_port = htons((uint16_t)atoi(port));
	/* IPv4 would still be free. */
	if (has_ipv6())
		setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	if (bind(listener, has_ipv6() ? (struct sockaddr *)&in_use : (struct sockaddr *)&in_use4,
		 has_ipv6() ? sizeof(in_use) : sizeof(in_use4)) ||
	    listen(listener, 1))
		tap_bail("no listener");
	OPEN(NULL, port, 5000 * MS, EADDRINUSE, "somebody else listens",
	     {ERROR, RDMAEZ_WHY_OPEN_IN_USE, "service", NONE});
	close(listener);
	say.no_ipv6 = EMFILE;
	OPEN("::1", port, 5000 * MS, EMFILE, "no more sockets",
	     {ERROR, RDMAEZ_WHY_EXCHANGE_SOCKET, "connect", NONE});
	say.no_ipv6 = 0;
}

/* Of a host with two addresses each is tried, and the one that tells more is reported. */
static void check_addresses(void)
{
	static const char *const two[] = {"127.0.0.1", "127.0.0.2", NULL};
	static const struct {
		int first, second, error;
		enum rdmaez_why why;
		const char *field;
	} both[] = {
		{ECONNREFUSED, EHOSTUNREACH, ECONNREFUSED, RDMAEZ_WHY_OPEN_REFUSED, "service"},
		{EHOSTUNREACH, ECONNREFUSED, ECONNREFUSED, RDMAEZ_WHY_OPEN_REFUSED, "service"},
		{ENETUNREACH, EHOSTUNREACH, EHOSTUNREACH, RDMAEZ_WHY_OPEN_UNREACHED, "host"},
		{ETIMEDOUT, ENETUNREACH, ENETUNREACH, RDMAEZ_WHY_OPEN_UNREACHED, "host"},
		{ECONNRESET, ETIMEDOUT, ETIMEDOUT, RDMAEZ_WHY_OPEN_UNREACHED, "host"},
		{ETIMEDOUT, EACCES, ETIMEDOUT, RDMAEZ_WHY_OPEN_UNREACHED, "host"},
		{EACCES, ETIMEDOUT, ETIMEDOUT, RDMAEZ_WHY_OPEN_UNREACHED, "host"},
		{EACCES, EPERM, EPERM, RDMAEZ_WHY_EXCHANGE_SOCKET, "connect"},
		{ECONNREFUSED, EPERM, ECONNREFUSED, RDMAEZ_WHY_OPEN_REFUSED, "service"},
	};

	say.addresses = two;
	for (size_t i = 0; i < COUNT_OF(both); i++) {
		say.refuse[0] = both[i].first;
		say.refuse[1] = both[i].second;
		say.connects = 0;
		OPEN("example.net", "1", 1, both[i].error, "two addresses",
		     {ERROR, both[i].why, both[i].field, NONE});
		tap_eq_int(say.connects, 2, "each was tried once");
	}
	say.addresses = NULL;
	/* The last try may have no time left for an answer. */
	say.refuse[0] = ECONNREFUSED;
	say.refuse[1] = say.refuse[2] = say.refuse[3] = ETIMEDOUT;
	say.connects = 0;
	OPEN("127.0.0.1", "1", 10 * MS, ECONNREFUSED, "a host that has refused",
	     {ERROR, RDMAEZ_WHY_OPEN_REFUSED, "service", NONE});
	tap_ok(say.connects >= 2 && say.connects <= 4, "and is tried again: %d times",
	       say.connects);
	memset(say.refuse, 0, sizeof(say.refuse));
}

/* An address that does not answer: a listener with no more room. The other address is tried all the same. */
static void check_unanswered(void)
{
	static const char *const two[] = {"127.0.0.1", "127.0.0.2", NULL};
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int hole = socket(AF_INET, SOCK_STREAM, 0), good = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(address);
	int pending[4], fd = -1;
	uint64_t begun;
	char port[8];

	if (bind(hole, (struct sockaddr *)&address, size) || listen(hole, 0) ||
	    getsockname(hole, (struct sockaddr *)&address, &size))
		tap_bail("no listener");
	for (int i = 0; i < 4; i++) {
		pending[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(pending[i], (struct sockaddr *)&address, size);
	}
	sleep_ms(20);
	snprintf(port, sizeof(port), "%d", ntohs(address.sin_port));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	begun = now();
	OPEN("127.0.0.1", port, 100 * MS, ETIMEDOUT, "a host that does not answer",
	     {ERROR, RDMAEZ_WHY_OPEN_UNREACHED, "host", NONE});
	begun = now() - begun;
	tap_ok(begun >= 100 * MS && begun < 2000 * MS, "until the deadline: %d us",
	       (int)(begun / 1000));
	if (bind(good, (struct sockaddr *)&address, size) || listen(good, 1))
		tap_bail("no other listener");
	say.addresses = two;
	begun = now();
	check_success(&t.diag, rdmaez_exchange_open("example.net", port, 20000 * MS, &fd, &t.diag),
		      "of two addresses one does not answer");
	begun = now() - begun;
	tap_ok(begun < 8000 * MS, "the other is tried soon: %d us", (int)(begun / 1000));
	say.addresses = NULL;
	close(fd);
	close(good);
	close(hole);
	for (int i = 0; i < 4; i++)
		close(pending[i]);
}

static void check_ports(void)
{
	static const struct {
		const char *port;
		uint64_t value;
	} wrong[] = {{"", 0}, {"0", 0}, {"65536", 65536}, {"18446744073709551615", UINT64_MAX}};

	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		for (int j = 0; j < 2; j++)
			OPEN(j ? NULL : "127.0.0.1", wrong[i].port, 5000 * MS, EINVAL,
			     wrong[i].port,
			     {ERROR, RDMAEZ_WHY_RANGE, "service", RDMAEZ_VALUE_NUMBER,
			      wrong[i].value, 1, 65535});
	OPEN("127.0.0.1", "no-such-service", 5000 * MS, EINVAL, "no such service",
	     {ERROR, RDMAEZ_WHY_OPEN_SERVICE, "service", NONE});
	OPEN("127.0.0.1", "-1", 5000 * MS, EINVAL, "a negative port",
	     {ERROR, RDMAEZ_WHY_OPEN_SERVICE, "service", NONE});
}

static void check_lookups(void)
{
	static const struct {
		int lookup, error;
		enum rdmaez_why why;
	} lookups[] = {
		{-2, ENOENT, RDMAEZ_WHY_OPEN_NAME},    {-5, ENOENT, RDMAEZ_WHY_OPEN_NAME},
		{-6, ENOENT, RDMAEZ_WHY_OPEN_NAME},    {-9, ENOENT, RDMAEZ_WHY_OPEN_NAME},
		{-3, EAGAIN, RDMAEZ_WHY_OPEN_LOOKUP},  {-4, EAGAIN, RDMAEZ_WHY_OPEN_LOOKUP},
		{-10, ENOMEM, RDMAEZ_WHY_OPEN_LOOKUP}, {-11, ENFILE, RDMAEZ_WHY_OPEN_LOOKUP},
	};

	for (size_t i = 0; i < COUNT_OF(lookups); i++) {
		say.lookup = lookups[i].lookup;
		OPEN("example.net", "18515", 5000 * MS, lookups[i].error,
		     "a name that is not known", {ERROR, lookups[i].why, "host", NONE});
	}
	say.lookup = 0;
	OPEN("", "18515", 5000 * MS, ENOENT, "no name",
	     {ERROR, RDMAEZ_WHY_OPEN_NAME, "host", NONE});
}

/* ---- The peer's address --------------------------------------------------------------------- */

static void check_peer(const char *address, const char *want)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	struct sockaddr_in four = {.sin_family = AF_INET};
	union ibv_gid gid = gid_of("2001:db8::77");
	char got[RDMAEZ_GID_TEXT];

	if (inet_pton(AF_INET6, address, &six.sin6_addr) == 1) {
		say.peer = (struct sockaddr *)&six;
		say.peer_size = sizeof(six);
	} else if (inet_pton(AF_INET, address, &four.sin_addr) == 1) {
		say.peer = (struct sockaddr *)&four;
		say.peer_size = sizeof(four);
	}
	check_success(&t.diag, rdmaez_exchange_peer(t.end[0], &gid, &t.diag), "the peer at %s",
		      address);
	rdmaez_gid_format(&gid, got, sizeof(got));
	tap_eq_str(got, want, "is this GID");
	say.peer = NULL;
}

static void check_peers(void)
{
	static const int families[] = {AF_UNIX, AF_INET, AF_INET6};
	union ibv_gid gid = gid_of("2001:db8::77");
	char got[RDMAEZ_GID_TEXT];
	int fd;

	check_peer("192.0.2.9", "::ffff:192.0.2.9");
	check_peer("126.255.255.255", "::ffff:126.255.255.255");
	check_peer("128.0.0.1", "::ffff:128.0.0.1");
	check_peer("127.0.0.1", "::");
	check_peer("127.255.0.9", "::");
	check_peer("::1", "::");
	check_peer("::2", "::2");
	check_peer("::ffff:127.0.0.1", "::");
	check_peer("::ffff:192.0.2.9", "::ffff:192.0.2.9");
	check_peer("2001:db8::9", "2001:db8::9");
	check_peer("2001:db8::7f00:1", "2001:db8::7f00:1");
	check_peer("fe80::1", "fe80::1");
	for (size_t i = 0; i < COUNT_OF(families); i++) {
		if (families[i] == AF_INET6 && !has_ipv6())
			continue;
		start(families[i]);
		memset(&gid, 0x55, sizeof(gid));
		check_success(&t.diag, rdmaez_exchange_peer(t.end[0], &gid, &t.diag),
			      "a real socket of family %d", families[i]);
		rdmaez_gid_format(&gid, got, sizeof(got));
		tap_eq_str(got, "::", "within the machine has no GID");
	}
	fd = socket(AF_INET, SOCK_STREAM, 0);
	gid = gid_of("2001:db8::77");
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_exchange_peer(fd, &gid, &t.diag), ENOTCONN,
			    "rdmaez_exchange_peer", NULL, "a socket without a peer",
			    {ERROR, RDMAEZ_WHY_EXCHANGE_SOCKET, "getpeername", NONE});
	rdmaez_gid_format(&gid, got, sizeof(got));
	tap_eq_str(got, "2001:db8::77", "nothing is written");
	close(fd);
}

int main(void)
{
	setup();
	check_families();
	check_bytes();
	check_tail();
	check_at_once();
	check_byte_by_byte();
	check_many(AF_UNIX, 0, false);
	check_many(AF_UNIX, 20, true);
	check_many(AF_INET, 0, true);
	check_reflected();
	check_deaths();
	check_dead();
	check_silence();
	check_dripping();
	check_unread();
	check_foreign();
	check_heads();
	check_hostile();
	check_list();
	check_counts();
	check_null();
	check_sockets();
	check_interrupted();
	check_barrier();
	check_steps();
	check_connects();
	check_open();
	check_unopened();
	check_addresses();
	check_unanswered();
	check_ports();
	check_lookups();
	check_peers();
	hang_up(0);
	hang_up(1);
	fake_close_all();
	return tap_done();
}
