/* SPDX-License-Identifier: MIT */
/* Handshakes that do not block: by bytes in all pieces, over sockets, against the blocking functions, and all that fails. */
#define _GNU_SOURCE /* SOCK_NONBLOCK, accept4 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

/* What the system calls shall say instead; all zero: nothing. */
static struct {
	int interrupt; /* so many calls of send() and recv() are interrupted */
	int floods;    /* recv() has bytes whenever it is asked for what is to be skipped */
	int calls;     /* of send() and recv() */
} say;

static inline ssize_t test_send(int fd, const void *bytes, size_t count, int flags)
{
	say.calls++;
	if (say.interrupt > 0 && say.interrupt--) {
		errno = EINTR;
		return -1;
	}
	return send(fd, bytes, count, flags);
}

static inline ssize_t test_recv(int fd, void *bytes, size_t count, int flags)
{
	say.calls++;
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

#define send test_send
#define recv test_recv
#include <rdmaez/handshake.h>
#include <rdmaez/implementation.h>
#undef send
#undef recv
#include "check.h"
#include "findings.h"

enum {
	BYTES = RDMAEZ_ENDPOINT_BYTES,
	HEAD = 24,
	WHOLE = HEAD + BYTES,
	ALL = WHOLE + HEAD, /* what an end sends until it is connected */
	READ = RDMAEZ_HANDSHAKE_READ,
	WRITE = RDMAEZ_HANDSHAKE_WRITE
};

#define NONE  RDMAEZ_VALUE_NONE, 0, 0, 0
#define ERROR RDMAEZ_DIAG_ERROR

static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp[2];
	struct rdmaez_endpoint port;
	struct rdmaez_handshake shake[2];
	struct rdmaez_diag diag;
	int end[2];
} t;

static void setup(void)
{
	static char memory[100];
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};

	t.dev = fake_reset();
	t.ctx = fake_open(t.dev);
	t.pd = ibv_alloc_pd(t.ctx);
	t.cq = ibv_create_cq(t.ctx, 10, NULL, NULL, 0);
	init.send_cq = init.recv_cq = t.cq;
	t.qp[0] = ibv_create_qp(t.pd, &init);
	t.qp[1] = ibv_create_qp(t.pd, &init);
	t.mr = ibv_reg_mr(t.pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	if (!t.qp[0] || !t.qp[1] || !t.mr || rdmaez_endpoint_port(t.ctx, NULL, &t.port, &t.diag))
		tap_bail("no endpoint");
}

/* Both queue pairs as new, two handshakes that begin, and a record that nobody has written. */
static void start(int a, int b)
{
	fake_fail(FAKE_MODIFY_QP, 0, 0);
	for (int i = 0; i < 2; i++) {
		memset(&t.shake[i], 0xa5, sizeof(t.shake[i]));
		if (rdmaez_qp_to_reset(t.qp[i], NULL) ||
		    rdmaez_handshake_connect(&t.shake[i], i ? b : a, t.qp[i], &t.port, NULL, NULL))
			tap_bail("no handshake");
	}
	memset(&t.diag, 0x55, sizeof(t.diag));
	say.calls = 0;
}

/* Two ends of a Unix socket. */
static void open_ends(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, t.end))
		tap_bail("no sockets");
}

static void close_ends(void)
{
	close(t.end[0]);
	close(t.end[1]);
}

/* What an end has to send now, all of it. */
static size_t take(int which, uint8_t *bytes, size_t size)
{
	size_t count = 77;

	if (rdmaez_handshake_take(&t.shake[which], bytes, size, &count, NULL) !=
	    t.shake[which].error)
		tap_bail("take() and the handshake differ");
	return count;
}

static int give(int which, const void *bytes, size_t count, size_t *taken)
{
	return rdmaez_handshake_give(&t.shake[which], bytes, count, taken, &t.diag);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Carries what there is from one end to the other, in pieces of at most `each` bytes; how many. */
static size_t carry(int from, size_t each)
{
	uint8_t bytes[ALL];
	const size_t count = take(from, bytes, each);
	size_t taken = 77, at = 0;

	while (at < count) {
		const size_t some = count - at < each ? count - at : each;

		if (give(!from, bytes + at, some, &taken) || !taken)
			break;
		at += taken;
	}
	return at;
}

static bool is_connected(int which)
{
	return !t.shake[which].wants && !t.shake[which].error &&
	       t.qp[which]->state == IBV_QPS_RTS &&
	       t.shake[which].remote.qp_num == t.qp[!which]->qp_num &&
	       t.shake[which].remote.psn == t.shake[!which].local.psn &&
	       t.shake[which].remote.nonce == t.shake[!which].local.nonce;
}

/* Pieces of every length. */
static void check_pieces(void)
{
	int good = 0;

	for (size_t each = 1; each <= ALL; each++) {
		size_t moved;

		start(-1, -1);
		do {
			moved = carry(0, each);
			moved += carry(1, each);
		} while (moved);
		good += is_connected(0) && is_connected(1);
	}
	tap_eq_int(good, ALL, "in pieces of every length both ends connect");
}

/* What comes is cut once, at every position; the last bytes are the program's own. */
static void check_cuts(void)
{
	uint8_t theirs[ALL + 8], bytes[ALL];
	size_t taken;
	int good = 0;

	for (size_t cut = 0; cut <= WHOLE; cut++) {
		start(-1, -1);
		bool well = take(1, theirs, sizeof(theirs)) == WHOLE && t.shake[1].wants == READ;

		well &= !give(0, theirs, cut, &taken) && taken == cut;
		well &= t.shake[0].wants == (cut < WHOLE ? READ | WRITE : WRITE);
		well &= !give(0, theirs + cut, WHOLE - cut, &taken) && taken == WHOLE - cut;
		well &= t.qp[0]->state == IBV_QPS_RESET;
		well &= take(0, bytes, sizeof(bytes)) == ALL && t.shake[0].wants == READ;
		well &= t.qp[0]->state == IBV_QPS_RTS;
		well &= !give(1, bytes, ALL, &taken) && taken == ALL && t.shake[1].wants == WRITE;
		well &= take(1, theirs, sizeof(theirs)) == HEAD && !t.shake[1].wants;
		memcpy(theirs + HEAD, "program", 8);
		well &= !give(0, theirs, HEAD + 8, &taken) && taken == HEAD;
		good += well && is_connected(0) && is_connected(1);
	}
	tap_eq_int(good, WHOLE + 1,
		   "cut at every position they connect, and nothing beyond is taken");
	tap_eq_str(t.diag.call, "rdmaez_handshake_give", "the call");
	tap_ok(!t.diag.error && !t.diag.count && record_tells_all(&t.diag), "and its record");
	tap_ok(!give(0, "more", 4, &taken) && !taken, "when it is over, it takes nothing");
	tap_ok(!take(0, bytes, sizeof(bytes)), "and gives nothing");
	tap_eq_int(rdmaez_handshake_late(&t.shake[0], &t.diag), 0, "it is not late either");
}

/* Who has sent nothing yet is given all: the peer's second message waits until it can be understood. */
static void check_order(void)
{
	uint8_t bytes[ALL], theirs[ALL];
	size_t taken;

	start(-1, -1);
	take(0, bytes, ALL);
	give(1, bytes, WHOLE, &taken);
	tap_eq_int(take(1, theirs, ALL), ALL, "an end that has the other's endpoint connects");
	start(-1, -1);
	tap_ok(!give(0, theirs, ALL, &taken) && taken == WHOLE, "the rest waits");
	tap_eq_int(t.shake[0].wants, WRITE, "for what is to be sent before");
}

/* What it asks and does: three transitions, where a port was asked before; and memory is told. */
static void check_calls(void)
{
	const struct rdmaez_exchange_opts opts = {.mr = t.mr};
	struct rdmaez_qp_opts qp = {0};
	const struct rdmaez_exchange_opts known = {.qp = &qp};
	struct ibv_port_attr port;
	struct ibv_device_attr device;

	start(-1, -1);
	fake_reset_log();
	rdmaez_handshake_connect(&t.shake[1], -1, t.qp[1], &t.port, &opts, NULL);
	tap_eq_int(fake_count(FAKE_ANY), 0, "to begin with the endpoint of a port asks nothing");
	while (carry(0, ALL) + carry(1, ALL))
		;
	tap_ok(is_connected(0) && is_connected(1), "both ends connect");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 6, "by three transitions each");
	tap_eq_int(fake_count(FAKE_ANY), 6, "and no other verb");
	tap_ok(t.shake[0].remote.memory.addr == (uintptr_t)t.mr->addr &&
		       t.shake[0].remote.memory.length == 100 &&
		       t.shake[0].remote.memory.rkey == t.mr->rkey,
	       "the peer knows of the memory");
	tap_eq_int(t.shake[1].remote.memory.length, 0, "of which the other has none");
	start(-1, -1);
	if (ibv_query_port(t.ctx, 1, &port) || ibv_query_device(t.ctx, &device))
		tap_bail("no port");
	qp.port_attr = &port;
	qp.device_attr = &device;
	qp.path.sgid_index = 1;
	fake_reset_log();
	tap_eq_int(rdmaez_handshake_connect(&t.shake[0], -1, t.qp[0], NULL, &known, NULL), 0,
		   "with port, device and index known");
	tap_ok(fake_count(FAKE_QUERY_GID_EX) == 1 && fake_count(FAKE_ANY) == 1,
	       "only the GID at that index is asked for");
	start(-1, -1);
	fake_reset_log();
	tap_eq_int(rdmaez_handshake_connect(&t.shake[0], -1, t.qp[0], NULL, NULL, NULL), 0,
		   "without an endpoint it is made");
	tap_ok(t.shake[0].local.qp_num == t.qp[0]->qp_num && fake_count(FAKE_QUERY_PORT) == 1,
	       "by asking the port");
}

/* A list, with one buffer for both ways: what comes has room where something was sent. */
static void check_list(void)
{
	enum {
		MANY = 5,
		LONG = HEAD + MANY * BYTES
	};
	struct rdmaez_endpoint ours[MANY], got[MANY];
	uint8_t buffer[MANY * BYTES], theirs[LONG], bytes[LONG];
	const struct rdmaez_exchange_list list = {MANY, ours, got, buffer};
	size_t taken;
	int good = 0;

	for (int i = 0; i < MANY; i++) {
		ours[i] = t.port;
		ours[i].psn = (uint32_t)i;
	}
	for (size_t cut = 0; cut <= LONG; cut += 7) {
		bool well = !rdmaez_handshake_exchange(&t.shake[0], -1, &list, &t.diag);

		well &= take(0, theirs, LONG) == LONG; /* as the peer's are */
		well &= !rdmaez_handshake_exchange(&t.shake[0], -1, &list, &t.diag);
		memset(got, 0, sizeof(got));
		well &= take(0, bytes, cut) == cut;
		well &= !give(0, theirs, LONG, &taken) && taken == (cut < HEAD ? HEAD : cut);
		if (cut < LONG)
			well &= t.shake[0].wants == WRITE;
		well &= take(0, bytes, LONG) == LONG - cut;
		well &= !give(0, theirs + taken, LONG - taken, &taken) && !t.shake[0].wants;
		for (int i = 0; i < MANY; i++)
			well &= got[i].psn == (uint32_t)i && got[i].mtu == t.port.mtu;
		good += well;
	}
	tap_eq_int(good, LONG / 7 + 1, "a list comes through, however little was sent before");
	rdmaez_handshake_exchange(&t.shake[0], -1, &list, &t.diag);
	take(0, bytes, LONG);
	theirs[HEAD + 3 * BYTES + 100] ^= 1;
	memset(got, 0xa5, sizeof(got));
	tap_eq_int(give(0, theirs, LONG, &taken), EINVAL, "one that was changed: EINVAL");
	tap_eq_int(t.diag.count, 2, "with what is wrong");
	tap_ok(t.diag.finding[1].reason == RDMAEZ_WHY_EXCHANGE_REMOTE &&
		       t.diag.finding[1].value == 3,
	       "and which it is");
	tap_eq_hex(got[0].qp_num, 0xa5a5a5a5, "nothing is written");
	tap_eq_int(t.shake[0].wants, 0, "it is over");
}

/* ---- What fails ------------------------------------------------------------------------------ */

#define FAILS(got, errno_value, call, name, ...) \
	CHECK_VERB_FINDINGS(&t.diag, got, errno_value, call, NULL, name, __VA_ARGS__)

/* A head of the peer's that is not the right one. */
static void check_heads(void)
{
	static const struct {
		size_t at;
		uint8_t is;
		int error;
		struct expected want;
		const char *name;
	} heads[] = {
		{0,
		 'r',
		 EBADMSG,
		 {ERROR, RDMAEZ_WHY_EXCHANGE_FOREIGN, "message.magic", NONE},
		 "foreign bytes"},
		{7,
		 ENOSPC,
		 ECONNABORTED,
		 {ERROR, RDMAEZ_WHY_PEER_FAILED, "message.error", RDMAEZ_VALUE_ERRNO, ENOSPC, 0, 0},
		 "a peer that failed"},
		{11,
		 2,
		 EPROTO,
		 {ERROR, RDMAEZ_WHY_EXCHANGE_STEP, "message.kind", RDMAEZ_VALUE_NUMBER, 2, 1, 1},
		 "a peer at the barrier"},
		{15,
		 9,
		 EPROTO,
		 {ERROR, RDMAEZ_WHY_EXCHANGE_COUNT, "message.count", RDMAEZ_VALUE_NUMBER, 9, 1, 1},
		 "another number of endpoints"},
		{22,
		 0,
		 EBADMSG,
		 {ERROR, RDMAEZ_WHY_EXCHANGE_FOREIGN, "message.length", RDMAEZ_VALUE_BYTES, 0x80,
		  BYTES, UINT64_MAX},
		 "a message that is too short"},
	};
	uint8_t bytes[WHOLE];
	struct rdmaez_diag kept;
	size_t taken;

	for (size_t i = 0; i < COUNT_OF(heads); i++) {
		start(-1, -1);
		take(1, bytes, WHOLE);
		bytes[heads[i].at] = heads[i].is;
		FAILS(give(0, bytes, WHOLE, &taken), heads[i].error, "rdmaez_handshake_give",
		      heads[i].name, heads[i].want);
		tap_eq_int(taken, HEAD, "%s: no more is taken", heads[i].name);
		tap_eq_int(t.shake[0].wants, 0, "%s: it is over", heads[i].name);
		kept = t.diag;
		tap_ok(rdmaez_handshake_step(&t.shake[0], &t.diag) == heads[i].error &&
			       rdmaez_handshake_late(&t.shake[0], &t.diag) == heads[i].error &&
			       give(0, bytes, WHOLE, &taken) == heads[i].error && !taken,
		       "%s: and stays so", heads[i].name);
		tap_ok(memcmp(&kept, &t.diag, sizeof(kept)) == 0, "%s: with this record",
		       heads[i].name);
		tap_eq_int(t.qp[0]->state, IBV_QPS_RESET, "%s: not connected", heads[i].name);
	}
}

/* One end fails at each of its transitions, or has a bad endpoint: it tells the other, and both stay in step. */
static void check_told(void)
{
	for (unsigned int nth = 1; nth <= 3; nth++) {
		struct rdmaez_diag kept;
		uint8_t bytes[ALL];
		size_t taken;
		int error;

		start(-1, -1);
		take(1, bytes, ALL);
		give(0, bytes, WHOLE, &taken);
		fake_fail(FAKE_MODIFY_QP, nth, EHOSTUNREACH);
		error = rdmaez_handshake_take(&t.shake[0], bytes, WHOLE, &taken, &t.diag);
		tap_eq_int(error, EHOSTUNREACH, "transition %u fails", nth);
		tap_eq_str(t.diag.verb, "ibv_modify_qp", "which the record tells");
		tap_eq_str(t.diag.call, "rdmaez_handshake_take", "of this call");
		tap_eq_int(t.qp[0]->state, (int)nth - 1, "it stays where it was");
		tap_eq_int(t.shake[0].wants, READ | WRITE, "the peer is still to be told");
		kept = t.diag;
		give(1, bytes, WHOLE, &taken);
		tap_eq_int(t.qp[1]->state, IBV_QPS_RTS, "the peer has connected meanwhile");
		tap_eq_int(rdmaez_handshake_take(&t.shake[0], bytes, ALL, &taken, &t.diag),
			   EHOSTUNREACH, "it goes on");
		tap_eq_int(taken, HEAD, "with one more message");
		FAILS(give(1, bytes, HEAD, &taken), ECONNABORTED, "rdmaez_handshake_give",
		      "the peer learns of it",
		      {ERROR, RDMAEZ_WHY_PEER_FAILED, "message.error", RDMAEZ_VALUE_ERRNO,
		       EHOSTUNREACH, 0, 0});
		tap_eq_int(t.diag.from, IBV_QPS_RTS, "in RTS");
		tap_eq_int(t.diag.qp_num, t.qp[1]->qp_num, "as this queue pair");
		t.diag = kept;
		memcpy(bytes, "RZEX\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0", HEAD);
		tap_eq_int(give(0, bytes, HEAD, &taken), EHOSTUNREACH,
			   "and when the peer is there");
		tap_eq_int(t.shake[0].wants, 0, "it is over");
		tap_ok(memcmp(&kept, &t.diag, sizeof(kept)) == 0, "with the first record");
	}
}

/* An endpoint that cannot be made is told at once. */
static void check_no_endpoint(void)
{
	const struct rdmaez_qp_opts none = {.port = 77};
	const struct rdmaez_exchange_opts opts = {.qp = &none};
	uint8_t bytes[ALL];
	size_t taken;

	start(-1, -1);
	tap_eq_int(rdmaez_handshake_connect(&t.shake[0], -1, t.qp[0], NULL, &opts, &t.diag), EINVAL,
		   "without such a port there is no endpoint");
	tap_eq_str(t.diag.call, "rdmaez_handshake_connect", "says the record of this call");
	tap_eq_int(t.shake[0].wants, READ | WRITE, "the peer is to be told");
	tap_eq_int(take(0, bytes, ALL), HEAD, "by one message");
	FAILS(give(1, bytes, HEAD, &taken), ECONNABORTED, "rdmaez_handshake_give",
	      "it learns of it",
	      {ERROR, RDMAEZ_WHY_PEER_FAILED, "message.error", RDMAEZ_VALUE_ERRNO, EINVAL, 0, 0});
}

/* Your time is over: before anything has come, with a part, or while nobody takes what is to be sent. */
static void check_late(void)
{
	uint8_t bytes[ALL];
	size_t taken;

	start(-1, -1);
	FAILS(rdmaez_handshake_late(&t.shake[0], &t.diag), ETIMEDOUT, "rdmaez_handshake_late",
	      "nothing has come",
	      {ERROR, RDMAEZ_WHY_EXCHANGE_SILENT, "recv", RDMAEZ_VALUE_BYTES, 0, WHOLE, WHOLE});
	tap_eq_int(t.shake[0].wants, 0, "it is over");
	tap_eq_int(t.shake[0].error, ETIMEDOUT, "and has failed");
	start(-1, -1);
	take(1, bytes, ALL);
	give(0, bytes, 30, &taken);
	FAILS(rdmaez_handshake_late(&t.shake[0], &t.diag), ETIMEDOUT, "rdmaez_handshake_late",
	      "a part has come",
	      {ERROR, RDMAEZ_WHY_EXCHANGE_PART, "recv", RDMAEZ_VALUE_BYTES, 30, WHOLE, WHOLE});
	start(-1, -1);
	take(1, bytes, ALL);
	give(0, bytes, WHOLE, &taken);
	FAILS(rdmaez_handshake_late(&t.shake[0], &t.diag), ETIMEDOUT, "rdmaez_handshake_late",
	      "the peer takes nothing",
	      {ERROR, RDMAEZ_WHY_EXCHANGE_UNREAD, "send", RDMAEZ_VALUE_BYTES, 0, WHOLE, WHOLE});
}

#define REFUSES_NULL(name, function, call)                                 \
	FAILS(call, EINVAL, "rdmaez_handshake_" function, name " is NULL", \
	      {ERROR, RDMAEZ_WHY_NULL_ARGUMENT, name, NONE})

static void check_null(void)
{
	const struct rdmaez_exchange_ready bad = {-1, 0};
	uint8_t byte;
	size_t count = 77;
	int fd = 77;

	start(-1, -1);
	REFUSES_NULL("shake", "exchange", rdmaez_handshake_exchange(NULL, -1, NULL, &t.diag));
	REFUSES_NULL("shake", "barrier", rdmaez_handshake_barrier(NULL, -1, NULL, &t.diag));
	REFUSES_NULL("shake", "connect",
		     rdmaez_handshake_connect(NULL, -1, t.qp[0], NULL, NULL, &t.diag));
	REFUSES_NULL("shake", "step", rdmaez_handshake_step(NULL, &t.diag));
	REFUSES_NULL("shake", "late", rdmaez_handshake_late(NULL, &t.diag));
	REFUSES_NULL("shake", "give", rdmaez_handshake_give(NULL, &byte, 1, &count, &t.diag));
	REFUSES_NULL("shake", "take", rdmaez_handshake_take(NULL, &byte, 1, &count, &t.diag));
	REFUSES_NULL("bytes", "give", give(0, NULL, 1, &count));
	REFUSES_NULL("taken", "give", give(0, &byte, 1, NULL));
	REFUSES_NULL("buf", "take", rdmaez_handshake_take(&t.shake[0], NULL, 1, &count, &t.diag));
	REFUSES_NULL("count", "take", rdmaez_handshake_take(&t.shake[0], &byte, 1, NULL, &t.diag));
	tap_eq_int(count, 77, "nothing is written");
	tap_ok(!give(0, NULL, 0, &count) && !count, "nothing may be given");
	count = 77;
	check_success(&t.diag, rdmaez_handshake_take(&t.shake[0], NULL, 0, &count, &t.diag),
		      "nor need anything be taken");
	tap_eq_int(count, 0, "which is no byte");
	REFUSES_NULL("service", "listen", rdmaez_handshake_listen(NULL, &fd, &t.diag));
	REFUSES_NULL("listener", "listen", rdmaez_handshake_listen("1", NULL, &t.diag));
	REFUSES_NULL("socket", "accept", rdmaez_handshake_accept(0, NULL, &t.diag));
	REFUSES_NULL("list", "exchange", rdmaez_handshake_exchange(&t.shake[0], -1, NULL, &t.diag));
	tap_eq_int(t.shake[0].wants, 0, "which leaves nothing to do");
	REFUSES_NULL("qp", "connect",
		     rdmaez_handshake_connect(&t.shake[0], -1, NULL, NULL, NULL, &t.diag));
	tap_eq_int(t.shake[0].wants, 0, "nor does this");
	FAILS(rdmaez_handshake_barrier(&t.shake[0], -1, &bad, &t.diag), EINVAL,
	      "rdmaez_handshake_barrier", "a negative error",
	      {ERROR, RDMAEZ_WHY_RANGE, "ready.error", RDMAEZ_VALUE_NUMBER, UINT64_MAX, 0,
	       INT32_MAX});
	start(-1, -1);
	FAILS(rdmaez_handshake_step(&t.shake[0], &t.diag), EBADF, "rdmaez_handshake_step",
	      "a step without a socket", {ERROR, RDMAEZ_WHY_EXCHANGE_SOCKET, "send", NONE});
}

/* ---- Sockets --------------------------------------------------------------------------------- */

/* Both ends step whenever one may go on; how many steps, 1000 where they do not end. */
static int step_both(void)
{
	int steps = 0;

	for (; (t.shake[0].wants || t.shake[1].wants) && steps < 1000; steps++)
		(void)rdmaez_handshake_step(&t.shake[steps % 2], steps % 2 ? NULL : &t.diag);
	return steps;
}

static void check_steps(void)
{
	static const struct rdmaez_exchange_ready ready = {0, 5}, bad = {ENOSPC, 5};
	const int tiny = 1;

	open_ends();
	start(t.end[0], t.end[1]);
	tap_eq_int(rdmaez_handshake_step(&t.shake[0], &t.diag), 0, "a step without the peer");
	tap_eq_int(t.shake[0].wants, READ, "wants to read");
	tap_eq_int(say.calls, 5,
		   "by five system calls: its message in two parts, and a look after each");
	tap_ok(step_both() <= 6, "both ends connect in three steps each");
	tap_ok(is_connected(0) && is_connected(1), "and know each other");
	say.interrupt = 40;
	start(t.end[0], t.end[1]);
	step_both();
	tap_ok(is_connected(0) && is_connected(1), "signals do not matter");
	tap_eq_int(say.interrupt, 0, "there were 40");
	setsockopt(t.end[0], SOL_SOCKET, SO_SNDBUF, &tiny, sizeof(tiny));
	start(t.end[0], t.end[1]);
	step_both();
	tap_ok(is_connected(0) && is_connected(1), "nor does a small buffer");
	for (int i = 0; i < 2; i++)
		rdmaez_handshake_barrier(&t.shake[i], t.end[i], &ready, NULL);
	step_both();
	tap_ok(!t.shake[0].error && !t.shake[1].error, "both are at the barrier");
	rdmaez_handshake_barrier(&t.shake[0], t.end[0], NULL, NULL);
	rdmaez_handshake_barrier(&t.shake[1], t.end[1], &bad, NULL);
	step_both();
	tap_ok(t.shake[0].error == ECONNABORTED && t.shake[1].error == EPROTO,
	       "and learn of a failure");
	close_ends();
}

/* The peer is gone, at once or after a part; SIGPIPE would end this program. */
static void check_gone(void)
{
	static const size_t counts[] = {0, 10, HEAD, WHOLE};
	uint8_t bytes[WHOLE];

	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		open_ends();
		start(t.end[0], -1);
		take(1, bytes, WHOLE);
		if (write(t.end[1], bytes, counts[i]) != (ssize_t)counts[i])
			tap_bail("not written");
		close(t.end[1]);
		if (counts[i] < HEAD)
			FAILS(rdmaez_handshake_step(&t.shake[0], &t.diag), ECONNRESET,
			      "rdmaez_handshake_step", "the peer is gone",
			      {ERROR, RDMAEZ_WHY_EXCHANGE_CLOSED, "recv", RDMAEZ_VALUE_BYTES,
			       counts[i], WHOLE, WHOLE});
		else
			FAILS(rdmaez_handshake_step(&t.shake[0], &t.diag), EPIPE,
			      "rdmaez_handshake_step", "the peer has gone",
			      {ERROR, RDMAEZ_WHY_EXCHANGE_CLOSED, "send", RDMAEZ_VALUE_BYTES, 0,
			       WHOLE, WHOLE});
		tap_eq_int(t.shake[0].wants, 0, "after %d bytes: it is over", (int)counts[i]);
		close(t.end[0]);
	}
}

/* Who sends without end does not keep the others waiting. */
static void check_flood(void)
{
	uint8_t bytes[WHOLE];

	open_ends();
	start(t.end[0], -1);
	take(1, bytes, WHOLE);
	bytes[20] = 0xf0;
	if (write(t.end[1], bytes, WHOLE) != WHOLE)
		tap_bail("not written");
	say.floods = 1;
	tap_eq_int(rdmaez_handshake_step(&t.shake[0], &t.diag), 0, "a message of 4 GB");
	say.floods = 0;
	tap_ok(say.calls <= 128, "ends a step: %d", say.calls);
	tap_eq_int(t.shake[0].wants, READ, "and there is more to read");
	close_ends();
}

/* The other end calls a function that blocks. */
static void *block(void *arg)
{
	struct rdmaez_endpoint *const got = (struct rdmaez_endpoint *)arg;
	struct rdmaez_endpoint own = t.port;
	struct rdmaez_exchange_ready ready;

	if (rdmaez_endpoint_set_qp(&own, t.qp[1], NULL) ||
	    rdmaez_exchange(t.end[1], &own, got, 0, NULL))
		return NULL;
	ready.error = 0;
	ready.identity = own.nonce + got->nonce;
	return rdmaez_exchange_barrier(t.end[1], &ready, 0, NULL) ? NULL : arg;
}

static void check_blocking(void)
{
	struct rdmaez_endpoint got;
	pthread_t thread;
	void *well = NULL;

	open_ends();
	start(t.end[0], -1);
	if (pthread_create(&thread, NULL, block, &got))
		tap_bail("no thread");
	while (t.shake[0].wants) {
		struct pollfd ready = {.fd = t.end[0], .events = (short)t.shake[0].wants};

		if (poll(&ready, 1, 10000) != 1 || rdmaez_handshake_step(&t.shake[0], &t.diag))
			break;
	}
	pthread_join(thread, &well);
	check_success(&t.diag, t.shake[0].error, "with a peer that blocks");
	tap_ok(well == &got && got.qp_num == t.qp[0]->qp_num, "which is content as well");
	tap_ok(!t.shake[0].wants && t.qp[0]->state == IBV_QPS_RTS, "it connects");
	close_ends();
}

/* ---- Peers that come ------------------------------------------------------------------------- */

static int connect_to(int service, int *fd)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)service),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	*fd = socket(AF_INET, SOCK_STREAM, 0);
	return connect(*fd, (struct sockaddr *)&to, sizeof(to));
}

static void check_listen(void)
{
	struct sockaddr_in free_one = {.sin_family = AF_INET};
	socklen_t size = sizeof(free_one);
	int listener = 77, again = 77, fd = 77, peer, nodelay = 0;
	char service[8];
	struct pollfd ready;

	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(fd, (struct sockaddr *)&free_one, size) ||
	    getsockname(fd, (struct sockaddr *)&free_one, &size))
		tap_bail("no port");
	snprintf(service, sizeof(service), "%d", ntohs(free_one.sin_port));
	FAILS(rdmaez_handshake_listen("0", &listener, &t.diag), EINVAL, "rdmaez_handshake_listen",
	      "no TCP port",
	      {ERROR, RDMAEZ_WHY_RANGE, "service", RDMAEZ_VALUE_NUMBER, 0, 1, 65535});
	listen(fd, 1);
	FAILS(rdmaez_handshake_listen(service, &listener, &t.diag), EADDRINUSE,
	      "rdmaez_handshake_listen", "one that is in use",
	      {ERROR, RDMAEZ_WHY_OPEN_IN_USE, "service", NONE});
	tap_eq_int(listener, 77, "nothing is written");
	close(fd);
	check_success(&t.diag, rdmaez_handshake_listen(service, &listener, &t.diag), "it listens");
	tap_ok(fcntl(listener, F_GETFL) & O_NONBLOCK && fcntl(listener, F_GETFD) & FD_CLOEXEC,
	       "without blocking");
	tap_eq_int(rdmaez_handshake_listen(service, &again, NULL), EADDRINUSE, "once");
	check_success(&t.diag, rdmaez_handshake_accept(listener, &fd, &t.diag), "nobody has come");
	tap_eq_int(fd, -1, "which is no error");
	if (connect_to(atoi(service), &peer))
		tap_bail("no connection");
	ready.fd = listener;
	ready.events = POLLIN;
	poll(&ready, 1, 10000);
	check_success(&t.diag, rdmaez_handshake_accept(listener, &fd, &t.diag), "a peer has come");
	size = sizeof(nodelay);
	tap_ok(fd >= 0 && fcntl(fd, F_GETFL) & O_NONBLOCK && fcntl(fd, F_GETFD) & FD_CLOEXEC &&
		       !getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, &size) && nodelay,
	       "its socket does not block or delay");
	close(fd);
	close(peer);
	fd = 77;
	FAILS(rdmaez_handshake_accept(-1, &fd, &t.diag), EBADF, "rdmaez_handshake_accept",
	      "what is no listener", {ERROR, RDMAEZ_WHY_EXCHANGE_SOCKET, "accept4", NONE});
	tap_eq_int(fd, 77, "nothing is written");
	close(listener);
}

int main(void)
{
	setup();
	tap_ok(RDMAEZ_HANDSHAKE_READ == POLLIN && RDMAEZ_HANDSHAKE_WRITE == POLLOUT,
	       "what it wants is what poll() takes");
	check_pieces();
	check_cuts();
	check_order();
	check_calls();
	check_list();
	check_heads();
	check_told();
	check_no_endpoint();
	check_late();
	check_null();
	check_steps();
	check_gone();
	check_flood();
	check_blocking();
	check_listen();
	fake_close_all();
	return tap_done();
}
