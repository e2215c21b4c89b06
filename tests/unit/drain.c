/* SPDX-License-Identifier: MIT */
/* Draining on every driver that the fake stands for, and what is changed in SQD. */
#include "check.h"
#include "findings.h"
#include "fixture.h"

#define MS 1000000u
/* What is to succeed has all the time that a busy machine takes; what is to be late has little, more under QEMU. */
#define PATIENCE (60000ull * MS)
#define LITTLE   ((UNDER_QEMU ? 30u : 3u) * MS)

enum {
	SENDS = RDMAEZ_QUEUE_SEND,
	RECVS = RDMAEZ_QUEUE_RECV,
	BEACON = 100 /* no wr_id of a test is that great */
};

/* What every test begins with. */
static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_qp *qp;
	struct ibv_cq *send_cq, *recv_cq;
	struct rdmaez_drain_opts opts;
	struct rdmaez_drained drained;
	struct rdmaez_diag diag;
	char seen
		[65]; /* the completions that were handed over, as digits; one of another queue pair: '*' */
} t;

static void completed(void *arg, const struct ibv_wc *wc)
{
	char *const text = (char *)arg;
	const size_t length = strlen(text);

	tap_ok(wc->qp_num != t.qp->qp_num || wc->wr_id < BEACON, "no beacon is handed over");
	text[length] = wc->qp_num == t.qp->qp_num ? (char)('0' + wc->wr_id) : '*';
	text[length + 1] = '\0';
}

/* A queue pair that is as the test says, of two completion queues or of one. */
static void make_qp(enum ibv_qp_type type, enum ibv_qp_state state, int cqe, bool together)
{
	struct ibv_qp_init_attr init;

	memset(&init, 0, sizeof(init));
	init.qp_type = type;
	init.cap.max_send_wr = init.cap.max_recv_wr = 8;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	t.send_cq = ibv_create_cq(t.ctx, cqe, NULL, NULL, 0);
	t.recv_cq = together ? t.send_cq : ibv_create_cq(t.ctx, cqe, NULL, NULL, 0);
	init.send_cq = t.send_cq;
	init.recv_cq = t.recv_cq;
	t.qp = ibv_create_qp(ibv_alloc_pd(t.ctx), &init);
	fixture_state(t.qp, state);
}

static void start(enum fake_profile profile, const char *release)
{
	t.dev = fixture_device(profile, release);
	t.ctx = fake_open(t.dev);
	memset(&t.opts, 0, sizeof(t.opts));
	t.opts.completed = completed;
	t.opts.arg = t.seen;
	t.opts.timeout_ns = PATIENCE;
	memset(&t.drained, 0x55, sizeof(t.drained));
	memset(&t.diag, 0x55, sizeof(t.diag));
	t.seen[0] = '\0';
}

static int post_send(uint64_t wr_id, unsigned int flags)
{
	struct ibv_send_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = wr_id;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = flags;
	return ibv_post_send(t.qp, &wr, &bad);
}

static int post_recv(uint64_t wr_id)
{
	struct ibv_sge sge = {0, 0, 0};
	struct ibv_recv_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = wr_id;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	return ibv_post_recv(t.qp, &wr, &bad);
}

/* Three sends, one of them unsignaled where there may be such, and two receives. */
static void post_five(void)
{
	int error = post_send(1, IBV_SEND_SIGNALED);

	error |= post_send(2, t.dev->quirks & FAKE_SIGNALED_ONLY ? IBV_SEND_SIGNALED : 0);
	error |= post_send(3, IBV_SEND_SIGNALED);
	tap_eq_int(error | post_recv(4) | post_recv(5), 0, "five work requests are posted");
}

static int drain(void)
{
	return rdmaez_qp_drain(t.qp, &t.opts, &t.drained, &t.diag);
}

/* The same, which is to be late. */
static int drain_late(void)
{
	int error;

	t.opts.timeout_ns = LITTLE;
	error = drain();
	t.opts.timeout_ns = PATIENCE;
	return error;
}

static void check_drained(unsigned int flushed, unsigned int succeeded, unsigned int others,
			  unsigned int open, const char *name)
{
	tap_eq_int(t.drained.flushed, flushed, "%s: so many were flushed", name);
	tap_eq_int(t.drained.completed, succeeded, "%s: so many had completed", name);
	tap_eq_int(t.drained.others, others, "%s: so many were of others", name);
	tap_eq_hex(t.drained.open, open, "%s: what was not seen to end", name);
}

#define WRONG(reason, field, ...)  {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define LIKELY(reason, field, ...) {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define NOTHING                    RDMAEZ_VALUE_NONE, 0, 0, 0
#define COUNTED(count)             RDMAEZ_VALUE_COUNTED, count, 0, 0
#define CHECK_LATE(name, ...)                                                                \
	CHECK_VERB_FINDINGS(&t.diag, drain_late(), ETIMEDOUT, "rdmaez_qp_drain", NULL, name, \
			    __VA_ARGS__)

/* ---- Every driver ------------------------------------------------------------------------- */

struct driver {
	enum fake_profile profile;
	const char *release;
	unsigned int counts; /* the queues whose beacons never come back */
};

static const struct driver drivers[] = {
	{FAKE_PROFILE_RXE, "6.1.0", 0},
	{FAKE_PROFILE_RXE, "6.12.0", 0},
	{FAKE_PROFILE_MLX5, "6.1.0", 0},
	{FAKE_PROFILE_MLX5_UNDERLAY, "6.1.0", 0},
	{FAKE_PROFILE_MLX4, "6.1.0", 0},
	{FAKE_PROFILE_MLX4_BONDED, "6.1.0", 0},
	{FAKE_PROFILE_EFA, "6.1.0", SENDS | RECVS},
	{FAKE_PROFILE_SIW, "6.1.0", SENDS | RECVS},
	{FAKE_PROFILE_SIW, "6.12.0", SENDS | RECVS},
	{FAKE_PROFILE_BNXT_RE, "6.1.0", 0},
	{FAKE_PROFILE_ERDMA, "6.1.0", SENDS | RECVS},
	{FAKE_PROFILE_ERDMA_ROCE, "7.2.0", SENDS | RECVS},
	{FAKE_PROFILE_MANA, "6.12.0", SENDS | RECVS},
	{FAKE_PROFILE_MANA, "7.2.0", SENDS | RECVS},
	{FAKE_PROFILE_IONIC, "7.2.0", 0},
	{FAKE_PROFILE_HNS, "6.1.0", 0},
	{FAKE_PROFILE_IRDMA, "6.1.0", 0},
	{FAKE_PROFILE_MTHCA, "6.1.0", 0},
	{FAKE_PROFILE_OCRDMA, "6.1.0", SENDS | RECVS},
	{FAKE_PROFILE_QEDR, "6.1.0", 0},
	{FAKE_PROFILE_PVRDMA, "6.1.0", 0},
	{FAKE_PROFILE_RDMAVT, "6.1.0", RECVS},
	{FAKE_PROFILE_QIB, "6.1.0", RECVS},
	{FAKE_PROFILE_CXGB4, "6.1.0", SENDS | RECVS},
	{FAKE_PROFILE_IRDMA_IWARP, "6.1.0", 0},
};

static bool is_iwarp(void)
{
	return t.dev->verbs.transport_type == IBV_TRANSPORT_IWARP;
}

/* A queue pair in RTS with five work requests, as they come to be drained. */
static void start_driver(const struct driver *d, bool together)
{
	const bool rc = d->profile != FAKE_PROFILE_EFA;

	start(d->profile, d->release);
	make_qp(rc ? IBV_QPT_RC : IBV_QPT_UD, IBV_QPS_RTS, 64, together);
	post_five();
	if (is_iwarp())
		t.qp->state = IBV_QPS_RESET; /* librdmacm has connected */
	fake_reset_log();
}

static void check_untold(const struct driver *d, const char *name)
{
	const struct expected both[] = {WRONG(DRAIN_UNCOUNTED, "opts.sends", NOTHING),
					WRONG(DRAIN_UNCOUNTED, "opts.recvs", NOTHING)};
	const unsigned int from = d->counts & SENDS ? 0 : 1;
	struct expected wanted[2] = {both[from], both[1]};

	check_findings(&t.diag, drain_late(), ETIMEDOUT, "rdmaez_qp_drain", wanted, 2 - from, name);
	check_drained(5, 0, 0, d->counts, name);
	tap_eq_str(t.seen, "12345", "%s: all are handed over nevertheless", name);
}

static void check_driver(const struct driver *d)
{
	char name[80];

	start_driver(d, false);
	snprintf(name, sizeof(name), "%d on Linux %s", (int)d->profile, d->release);
	if (d->counts) {
		check_untold(d, name);
		start_driver(d, false);
		t.opts.sends = 3;
		t.opts.recvs = 2;
	}
	check_success(&t.diag, drain(), "%s: drained", name);
	check_drained(5, 0, 0, 0, name);
	tap_eq_str(t.seen, "12345", "%s: all are handed over", name);
	tap_eq_int(t.qp->state, IBV_QPS_ERR, "%s: it is in ERR", name);
	tap_eq_int(fake_qp_posted(t.qp), 0, "%s: nothing is outstanding", name);
	if (d->counts == (SENDS | RECVS) && t.dev->attr.orig_attr.vendor_id) {
		tap_eq_int(fake_count(FAKE_POST_SEND) + fake_count(FAKE_POST_RECV), 0,
			   "%s: no beacon is posted", name);
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 1, "%s: one move", name);
	}
	t.opts.sends = t.opts.recvs = d->counts ? RDMAEZ_ZERO : 0;
	check_success(&t.diag, drain(), "%s: drained again", name);
	check_drained(0, 0, 0, 0, name);

	start_driver(d, true);
	fake_qp_sends_succeed(t.qp, 1);
	fake_qp_force(t.qp, IBV_QPS_ERR); /* while the library says RTS */
	if (d->counts) {
		t.opts.sends = 3;
		t.opts.recvs = 2;
	}
	check_success(&t.diag, drain(), "%s: after an error, of one completion queue", name);
	check_drained(4, 1, 0, 0, name);
	tap_eq_str(t.seen, "12345", "%s: nothing is lost", name);
	t.opts.timeout_ns = d->counts ? LITTLE : PATIENCE;
	tap_eq_int(rdmaez_qp_destroy(t.qp, &t.opts, NULL, NULL), d->counts ? ETIMEDOUT : 0,
		   "%s: it is destroyed where its end can be known", name);
}

/* What is special in how a beacon is posted. */
static void check_beacons(void)
{
	const struct fake_call *call;

	start(FAKE_PROFILE_MLX5, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	fake_reset_log();
	check_success(&t.diag, drain(), "an idle queue pair is drained");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 2, "ERR before the beacons and after");
	call = fake_last(FAKE_POST_SEND);
	tap_eq_int(call->arg.send_wr.opcode, IBV_WR_RDMA_WRITE, "a WRITE");
	tap_eq_int(call->arg.send_wr.num_sge, 0, "of nothing");
	tap_eq_hex(call->arg.send_wr.send_flags, IBV_SEND_SIGNALED, "signaled");
	tap_eq_int(fake_last(FAKE_POST_RECV)->arg.recv_wr.num_sge, 0, "and a receive of nothing");
	tap_ok(call->arg.send_wr.wr_id != fake_last(FAKE_POST_RECV)->arg.recv_wr.wr_id,
	       "which can be told apart");
	tap_eq_str(t.diag.driver, "mlx5_ib", "the record names the driver");

	for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTR; state++) {
		start(FAKE_PROFILE_MLX5, "6.1.0");
		make_qp(IBV_QPT_RC, (enum ibv_qp_state)state, 64, false);
		post_recv(4);
		check_success(&t.diag, drain(), "in state %d mlx5 takes no send beacon", state);
		check_drained(1, 0, 0, 0, "the receive");
	}
	start(FAKE_PROFILE_SIW, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_INIT, 64, false);
	t.opts.recvs = RDMAEZ_ZERO;
	CHECK_LATE("of iWARP the library does not know the state",
		   WRONG(DRAIN_UNCOUNTED, "opts.sends", NOTHING));
	start(FAKE_PROFILE_EFA, "6.1.0");
	make_qp(IBV_QPT_UD, IBV_QPS_RTR, 64, false);
	t.opts.recvs = RDMAEZ_ZERO;
	check_success(&t.diag, drain(), "but of efa it does");

	start(FAKE_PROFILE_RXE, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RESET, 64, false);
	fake_reset_log();
	check_success(&t.diag, drain(), "in RESET there is nothing to do");
	tap_eq_int(fake_count(FAKE_ANY), 0, "and nothing is done");
	check_drained(0, 0, 0, 0, "in RESET");
	tap_eq_int(rdmaez_qp_drain(t.qp, NULL, NULL, NULL), 0, "nor need anything be given");
	tap_eq_int(rdmaez_qp_destroy(t.qp, NULL, NULL, NULL), 0, "not even to destroy it");
}

/* Queues that are full, or do not exist. */
static void check_queues(void)
{
	struct ibv_qp_init_attr init;

	start(FAKE_PROFILE_MLX5, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	for (uint64_t i = 0; i < 8; i++)
		tap_eq_int(post_send(i, 0) | post_recv(8 + i), 0, "the queues are filled");
	check_success(&t.diag, drain(), "full queues take their beacons later");
	check_drained(16, 0, 0, 0, "full queues");

	/* mthca_tavor_post_send() returns -1 of a full queue; ionic_v1_prep_recv() EAGAIN, which soon passes. */
	start(FAKE_PROFILE_MTHCA, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	post_five();
	fake_fail(FAKE_POST_SEND, 1, -1);
	fake_fail(FAKE_POST_RECV, 1, -1);
	errno = EINVAL;
	check_success(&t.diag, drain(), "full queues of mthca take their beacons later");
	check_drained(5, 0, 0, 0, "full queues of mthca");
	start(FAKE_PROFILE_IONIC, "7.2.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	post_five();
	fake_fail(FAKE_POST_RECV, 1, EAGAIN);
	check_success(&t.diag, drain(), "a receive that is to be tried again");
	check_drained(5, 0, 0, 0, "a receive that is to be tried again");

	/* The hardware is slow: nothing completes before the program looks. */
	start(FAKE_PROFILE_PLAIN, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	for (uint64_t i = 0; i < 8; i++)
		post_send(i, 0);
	t.opts.recvs = RDMAEZ_ZERO;
	CHECK_LATE("a full queue that does not move", WRONG(DRAIN_FULL, "opts.sends", NOTHING));
	check_drained(0, 0, 0, SENDS, "a full queue that does not move");
	t.opts.recvs = 0;
	CHECK_LATE("a driver that is not known, and flushes nothing",
		   WRONG(DRAIN_FULL, "opts.sends", NOTHING),
		   WRONG(DRAIN_BEACON, "opts.recvs", NOTHING));
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 3, "ERR again only where a beacon was posted");

	start(FAKE_PROFILE_MLX5, "6.1.0");
	memset(&init, 0, sizeof(init));
	init.qp_type = IBV_QPT_RC;
	init.cap.max_send_wr = 8;
	init.send_cq = init.recv_cq = ibv_create_cq(t.ctx, 16, NULL, NULL, 0);
	t.qp = ibv_create_qp(ibv_alloc_pd(t.ctx), &init);
	fixture_state(t.qp, IBV_QPS_RTS);
	check_success(&t.diag, drain(), "without a receive queue there is nothing to wait for");
	check_drained(0, 0, 0, 0, "without a receive queue");
}

/* A completion queue that is too small loses what it is to hold, and the beacon. */
static void check_small(void)
{
	start(FAKE_PROFILE_RXE, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 2, false);
	post_five();
	t.opts.recvs = RDMAEZ_ZERO;
	CHECK_LATE("a completion queue for two", WRONG(DRAIN_BEACON, "opts.sends", NOTHING),
		   LIKELY(DRAIN_CQ, "send_cq", RDMAEZ_VALUE_NUMBER, 2, 9, INT32_MAX));
	check_drained(4, 0, 0, SENDS, "a completion queue for two");
	start(FAKE_PROFILE_RXE, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 3, true);
	post_five();
	CHECK_LATE("one completion queue for three", WRONG(DRAIN_BEACON, "opts.sends", NOTHING),
		   WRONG(DRAIN_BEACON, "opts.recvs", NOTHING),
		   LIKELY(DRAIN_CQ, "send_cq", RDMAEZ_VALUE_NUMBER, 3, 18, INT32_MAX),
		   LIKELY(DRAIN_CQ, "recv_cq", RDMAEZ_VALUE_NUMBER, 3, 18, INT32_MAX));
}

/* Counts that are wrong, or known of one queue only. */
static void check_counts(void)
{
	struct ibv_wc wc;

	start(FAKE_PROFILE_SIW, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	post_five();
	fake_qp_sends_succeed(t.qp, 2);
	t.opts.sends = 3;
	t.opts.recvs = 2;
	CHECK_LATE("of three sends one has succeeded unsignaled",
		   WRONG(DRAIN_LEFT, "opts.sends", COUNTED(1)));
	check_drained(3, 1, 0, SENDS, "of three sends");
	start(FAKE_PROFILE_SIW, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	post_five();
	t.opts.recvs = 2;
	CHECK_LATE("sends that are not counted", WRONG(DRAIN_UNCOUNTED, "opts.sends", NOTHING));
	start(FAKE_PROFILE_SIW, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, true);
	post_five();
	t.opts.recvs = 2;
	CHECK_LATE("of one completion queue", WRONG(DRAIN_UNCOUNTED, "opts.sends", NOTHING),
		   WRONG(DRAIN_UNCOUNTED, "opts.recvs", NOTHING));
	start(FAKE_PROFILE_SIW, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, true);
	post_five();
	t.opts.sends = 4;
	t.opts.recvs = 2;
	CHECK_LATE("one too many of both together", WRONG(DRAIN_LEFT, "opts.sends", COUNTED(1)),
		   WRONG(DRAIN_LEFT, "opts.recvs", COUNTED(1)));

	start(FAKE_PROFILE_MLX5, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	post_five();
	t.opts.sends = 30;
	check_success(&t.diag, drain(), "a beacon does not need the count");
	start(FAKE_PROFILE_MLX5, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, true);
	post_five();
	t.opts.sends = t.opts.recvs = 1;
	memset(&wc, 0, sizeof(wc));
	fake_qp_force(t.qp, IBV_QPS_RTS);
	for (int i = 0; i < 13; i++) /* more than are polled at once */
		fake_cq_push(t.send_cq, &wc);
	check_success(&t.diag, drain(), "nor is one that is too small believed");
	check_drained(5, 0, 13, 0, "all is polled");
	tap_eq_int(ibv_poll_cq(t.send_cq, 1, &wc), 0, "the beacons, too");
	start(FAKE_PROFILE_RDMAVT, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, true);
	post_five();
	t.opts.sends = 3;
	t.opts.recvs = 3;
	CHECK_LATE("where only sends have a beacon", WRONG(DRAIN_LEFT, "opts.recvs", COUNTED(1)));
	check_drained(5, 0, 0, RECVS, "where only sends have a beacon");
	start(FAKE_PROFILE_SIW, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, true);
	t.opts.sends = t.opts.recvs = INT32_MAX;
	CHECK_LATE("more than a number can hold", WRONG(DRAIN_UNCOUNTED, "opts.sends", NOTHING),
		   WRONG(DRAIN_UNCOUNTED, "opts.recvs", NOTHING));
	t.opts.flags = 8 | RDMAEZ_DRAIN_ANYWAY;
	CHECK_FINDINGS(&t.diag, drain(), EINVAL, "rdmaez_qp_drain", "a flag",
		       WRONG(OPTION_UNKNOWN, "opts.flags", RDMAEZ_VALUE_FLAGS, 8, 0, 7));
	check_refusal(&t.diag, rdmaez_qp_drain(NULL, NULL, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
}

/* ---- Other types, shared queues ----------------------------------------------------------- */

/* A queue pair whose sends nobody counts gets a handle for its beacon, where a beacon comes back at all. */
static void check_ud_driver(const struct driver *d)
{
	bool counts;
	char name[80];

	start(d->profile, d->release);
	if (!(t.dev->qp_types & FAKE_QPT(IBV_QPT_UD)))
		return;
	snprintf(name, sizeof(name), "UD of %d on Linux %s", (int)d->profile, d->release);
	make_qp(IBV_QPT_UD, IBV_QPS_RTS, 64, true);
	counts = d->counts == (SENDS | RECVS);
	t.opts.timeout_ns = RDMAEZ_NS_FOREVER;
	t.opts.recvs = d->counts ? RDMAEZ_ZERO : 0;
	fake_reset_log();
	tap_eq_int(drain(), counts ? ETIMEDOUT : 0, "%s: idle, with all the time there is", name);
	check_drained(0, 0, 0, counts ? SENDS : 0, name);
	tap_eq_int(fake_count(FAKE_CREATE_AH), !counts, "%s: a handle of its own", name);
	tap_eq_int(fake_count(FAKE_DESTROY_AH), !counts, "%s: which is gone", name);
	if (!counts)
		tap_eq_ptr(fake_last(FAKE_POST_SEND)->arg.send_wr.wr.ud.ah,
			   fake_last(FAKE_DESTROY_AH)->object, "%s: it had the beacon", name);
	t.opts.flags = RDMAEZ_DRAIN_ANYWAY;
	check_success(&t.diag, rdmaez_qp_destroy(t.qp, &t.opts, NULL, &t.diag),
		      "%s: it is destroyed", name);
	tap_eq_int(ibv_destroy_cq(t.send_cq), 0, "%s: and its queue", name);
}

static void check_ud(void)
{
	struct ibv_ah_attr attr;

	start(FAKE_PROFILE_MLX5, "6.1.0");
	make_qp(IBV_QPT_UD, IBV_QPS_RTS, 64, false);
	post_five();
	fake_fail(FAKE_CREATE_AH, 1, ENOMEM);
	CHECK_LATE("UD without an address handle", WRONG(DRAIN_NO_AH, "opts.sends", NOTHING));
	check_drained(5, 0, 0, SENDS, "UD without an address handle");
	start(FAKE_PROFILE_MLX5, "6.1.0");
	make_qp(IBV_QPT_UD, IBV_QPS_RTS, 64, false);
	post_five();
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	CHECK_LATE("UD on a port that does not answer", WRONG(DRAIN_NO_AH, "opts.sends", NOTHING));
	for (size_t i = 0; i < COUNT_OF(drivers); i++)
		check_ud_driver(&drivers[i]);
	start(FAKE_PROFILE_MLX5, "6.1.0");
	make_qp(IBV_QPT_UD, IBV_QPS_RTS, 64, false);
	post_five();
	memset(&attr, 0, sizeof(attr));
	attr.port_num = 1;
	attr.is_global = 1;
	attr.grh.dgid = t.dev->port[1].gid[3].gid;
	attr.grh.sgid_index = 3;
	t.opts.ah = ibv_create_ah(t.qp->pd, &attr);
	fake_reset_log();
	check_success(&t.diag, drain(), "UD");
	tap_eq_int(fake_count(FAKE_CREATE_AH), 0, "needs no other handle");
	check_drained(5, 0, 0, 0, "UD");
	tap_eq_int(fake_last(FAKE_POST_SEND)->arg.send_wr.opcode, IBV_WR_SEND, "its beacon");
	tap_eq_ptr(fake_last(FAKE_POST_SEND)->arg.send_wr.wr.ud.ah, t.opts.ah, "has the handle");
	tap_eq_int(fake_last(FAKE_POST_SEND)->arg.send_wr.wr.ud.remote_qpn, t.qp->qp_num,
		   "and goes to the queue pair itself");
	start(FAKE_PROFILE_MLX5, "6.1.0");
	make_qp(IBV_QPT_RAW_PACKET, IBV_QPS_RTS, 64, false);
	CHECK_LATE("RAW_PACKET", WRONG(DRAIN_UNCOUNTED, "opts.sends", NOTHING));
	tap_eq_int(fake_count(FAKE_POST_SEND), 0, "which has no WRITE for a beacon");
	t.opts.sends = RDMAEZ_ZERO;
	check_success(&t.diag, drain(), "RAW_PACKET that is counted");
}

static void check_xrc(void)
{
	start(FAKE_PROFILE_MLX5, "6.1.0");
	t.qp = fixture_qp(t.ctx, IBV_QPT_XRC_SEND, IBV_QPS_RTS);
	post_send(1, IBV_SEND_SIGNALED);
	check_success(&t.diag, drain(), "XRC_SEND");
	check_drained(1, 0, 0, 0, "XRC_SEND");
	t.qp = fixture_qp(t.ctx, IBV_QPT_XRC_RECV, IBV_QPS_RTR);
	fake_reset_log();
	check_success(&t.diag, drain(), "XRC_RECV");
	check_drained(0, 0, 0, RECVS, "XRC_RECV");
	tap_eq_int(fake_count(FAKE_POLL_CQ), 0, "has nothing to poll");
	tap_eq_int(t.qp->state, IBV_QPS_ERR, "but is in ERR");
}

static void check_srq(void)
{
	struct ibv_async_event event;
	struct ibv_qp_init_attr init;
	struct ibv_wc wc;

	start(FAKE_PROFILE_MLX5, "6.1.0");
	memset(&init, 0, sizeof(init));
	init.qp_type = IBV_QPT_RC;
	init.cap.max_send_wr = 8;
	init.srq = fake_srq(t.ctx, IBV_SRQT_BASIC);
	init.send_cq = ibv_create_cq(t.ctx, 64, NULL, NULL, 0);
	init.recv_cq = ibv_create_cq(t.ctx, 64, NULL, NULL, 0);
	t.qp = ibv_create_qp(ibv_alloc_pd(t.ctx), &init);
	fixture_state(t.qp, IBV_QPS_RTS);
	post_send(1, IBV_SEND_SIGNALED);
	memset(&wc, 0, sizeof(wc));
	wc.qp_num = t.qp->qp_num;
	for (wc.wr_id = 2; wc.wr_id < 42; wc.wr_id++)
		fake_cq_push(init.recv_cq, &wc);
	t.opts.recvs = 1; /* of no interest */
	check_success(&t.diag, drain(), "with a shared receive queue");
	check_drained(1, 40, 0, RECVS, "all that is there is polled, and more may come");
	tap_eq_int(rdmaez_event_next(t.ctx, RDMAEZ_NS_NOW, &event, NULL), 0, "until the event");
	tap_eq_int(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED, "for the last");
	wc.wr_id = 2;
	fake_cq_push(init.recv_cq, &wc);
	t.opts.flags = RDMAEZ_DRAIN_LAST_WQE;
	check_success(&t.diag, drain(), "then it is drained");
	check_drained(0, 1, 0, 0, "and nothing is left");
}

/* One completion queue of two queue pairs. */
static void check_others(void)
{
	struct ibv_wc wc;

	start(FAKE_PROFILE_RXE, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, true);
	memset(&wc, 0, sizeof(wc));
	wc.qp_num = 0xabcdef;
	wc.wr_id = 1;
	fake_cq_push(t.send_cq, &wc);
	post_five();
	fake_qp_force(t.qp, IBV_QPS_ERR);
	wc.status = IBV_WC_WR_FLUSH_ERR;
	fake_cq_push(t.send_cq, &wc);
	check_success(&t.diag, drain(), "with another's completions");
	check_drained(5, 0, 2, 0, "with another's completions");
	tap_eq_str(t.seen, "*12345*", "they are handed over in order");
	fake_cq_push(t.send_cq, &wc);
	t.opts.completed = NULL;
	t.opts.flags = RDMAEZ_DRAIN_DISCARD;
	check_success(&t.diag, drain(), "without anybody to hand them to");
	check_drained(0, 0, 1, 0, "they are counted");
}

#define CHECK_NOWHERE(call, name) \
	check_refusal(&t.diag, call, EINVAL, RDMAEZ_WHY_DRAIN_NOWHERE, "opts.completed", "%s", name)

/* A completion of another queue pair in the one completion queue of a server: it is there until somebody takes it. */
static void check_nowhere(void)
{
	struct rdmaez_drain_opts opts;
	struct rdmaez_recover_opts recovery;
	struct rdmaez_endpoint endpoint;
	struct rdmaez_drain d;
	struct ibv_wc wc;

	start(FAKE_PROFILE_RXE, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, true);
	memset(&wc, 0, sizeof(wc));
	wc.qp_num = 0xabcdef;
	fake_cq_push(t.send_cq, &wc);
	fake_reset_log();
	memset(&opts, 0, sizeof(opts));
	memset(&recovery, 0, sizeof(recovery));
	CHECK_NOWHERE(rdmaez_qp_drain(t.qp, NULL, NULL, &t.diag), "draining with nothing");
	CHECK_NOWHERE(rdmaez_qp_drain(t.qp, &opts, NULL, &t.diag), "draining by default");
	opts.flags = RDMAEZ_DRAIN_ANYWAY;
	CHECK_NOWHERE(rdmaez_qp_drain(t.qp, &opts, NULL, &t.diag), "and anyway");
	CHECK_NOWHERE(rdmaez_qp_destroy(t.qp, NULL, NULL, &t.diag), "destroying with nothing");
	CHECK_NOWHERE(rdmaez_qp_destroy(t.qp, &opts, NULL, &t.diag), "and anyway");
	CHECK_NOWHERE(rdmaez_qp_recover(&t.qp, NULL, &endpoint, NULL, &t.diag), "recovering");
	recovery.drain = opts;
	CHECK_NOWHERE(rdmaez_qp_recover(&t.qp, &recovery, &endpoint, NULL, &t.diag), "and anyway");
	tap_eq_int(rdmaez_qp_destroy(t.qp, NULL, NULL, NULL), EINVAL, "without a record");
	opts.sends = RDMAEZ_ZERO;
	CHECK_NOWHERE(rdmaez_qp_destroy(t.qp, &opts, NULL, &t.diag), "if only sends are known");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "it is not moved");
	tap_eq_int(fake_count(FAKE_POLL_CQ), 0, "nothing is polled");
	tap_eq_int(fake_count(FAKE_DESTROY_QP), 0, "nothing is destroyed");
	tap_eq_int(rdmaez_drain_begin(t.qp, NULL, &d, NULL), 0, "who polls may begin");
	tap_eq_int(fake_count(FAKE_POLL_CQ), 0, "which does not poll");
	opts.recvs = RDMAEZ_ZERO;
	check_success(&t.diag, rdmaez_qp_destroy(t.qp, &opts, NULL, &t.diag),
		      "with nothing outstanding nothing is polled");
	tap_eq_int(ibv_poll_cq(t.send_cq, 1, &wc), 1, "the other's completion is there");
	tap_eq_hex(wc.qp_num, 0xabcdef, "with its number");
}

/* What nothing shows is not waited for, but all that comes is taken: the quiet that ends it is the queue pair's. */
static void check_quiet(void)
{
	struct ibv_wc wc;

	start(FAKE_PROFILE_SIW, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, true);
	post_five();
	t.opts.timeout_ns = RDMAEZ_NS_FOREVER;
	CHECK_LATE("uncounted, without a deadline", WRONG(DRAIN_UNCOUNTED, "opts.sends", NOTHING),
		   WRONG(DRAIN_UNCOUNTED, "opts.recvs", NOTHING));
	check_drained(5, 0, 0, SENDS | RECVS, "uncounted, without a deadline");
	tap_eq_str(t.seen, "12345", "all are handed over");
	memset(&wc, 0, sizeof(wc));
	wc.qp_num = 0xabcdef;
	for (int i = 0; i < 40; i++)
		fake_cq_push(t.send_cq, &wc);
	t.opts.flags = RDMAEZ_DRAIN_ANYWAY;
	t.seen[0] = '\0';
	check_success(&t.diag, rdmaez_qp_destroy(t.qp, &t.opts, &t.drained, &t.diag),
		      "among others' completions it goes anyway");
	check_drained(0, 0, 40, SENDS | RECVS, "among others' completions");
	start(FAKE_PROFILE_SIW, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	post_five();
	t.opts.timeout_ns = RDMAEZ_NS_NOW;
	tap_eq_int(drain(), ETIMEDOUT, "one look");
	check_drained(5, 0, 0, SENDS | RECVS, "takes what is there");
}

/* ---- What fails, and the pieces ----------------------------------------------------------- */

static void check_failures(void)
{
	static const struct rdmaez_drained untouched = {1, 2, 3, 4};

	start(FAKE_PROFILE_RXE, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	t.drained = untouched;
	fake_fail(FAKE_MODIFY_QP, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, drain(), EIO, "rdmaez_qp_drain", "ibv_modify_qp",
			    "ERR is refused", LIKELY(DEVICE_GONE, "ibv_modify_qp", NOTHING));
	check_drained(1, 2, 3, 4, "the result is not written");
	fake_fail(FAKE_POLL_CQ, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, drain(), EIO, "rdmaez_qp_drain", "ibv_poll_cq", "polling",
			    WRONG(DEVICE_GONE, "ibv_poll_cq", NOTHING));
	check_drained(1, 2, 3, 4, "the result is not written then, either");
	fake_fail(FAKE_POLL_CQ, 2, EIO);
	CHECK_VERB_FINDINGS(&t.diag, drain(), EIO, "rdmaez_qp_drain", "ibv_poll_cq", "the other",
			    WRONG(DEVICE_GONE, "ibv_poll_cq", NOTHING));
	start(FAKE_PROFILE_RXE, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	fake_fail(FAKE_MODIFY_QP, 2, EIO);
	tap_eq_int(drain_late(), ETIMEDOUT, "without the second ERR rxe keeps the receive");
	check_drained(0, 0, 0, RECVS, "without the second ERR");
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	fake_fail(FAKE_QUERY_QP, 1, EIO);
	check_success(&t.diag, drain(), "a driver that is not known is tried");
	check_drained(0, 0, 0, 0, "a beacon that comes late is known");
	tap_eq_str(t.seen, "", "and not handed over");
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CHECK_LATE("a beacon that is refused", WRONG(DRAIN_UNCOUNTED, "opts.sends", NOTHING));
}

static void check_pieces(void)
{
	struct rdmaez_drain d;
	struct ibv_wc wc[32];
	int beacons = 0, count;

	start(FAKE_PROFILE_RXE, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	post_five();
	check_success(&t.diag, rdmaez_drain_begin(t.qp, &t.opts, &d, &t.diag), "it begins");
	tap_eq_str(t.diag.call, "rdmaez_drain_begin", "under its name");
	tap_eq_hex(d.waits, SENDS | RECVS, "both ends are waited for");
	count = ibv_poll_cq(t.recv_cq, 32, wc);
	tap_eq_int(count, 3, "the program polls");
	for (int i = 0; i < count; i++)
		beacons += rdmaez_drain_wc(&d, t.recv_cq, &wc[i]);
	tap_eq_int(beacons, 1, "one is a beacon");
	tap_eq_hex(d.waits, SENDS, "that end is seen");
	count = ibv_poll_cq(t.send_cq, 32, wc);
	for (int i = 0; i < count; i++)
		beacons += rdmaez_drain_wc(&d, t.send_cq, &wc[i]);
	tap_eq_int(beacons, 2, "and the other");
	tap_eq_hex(d.waits, 0, "it is done");
	t.drained = d.drained;
	check_drained(5, 0, 0, 0, "in pieces");
	tap_eq_str(t.seen, "45123", "as the program polled them");
	start(FAKE_PROFILE_SIW, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	tap_eq_int(rdmaez_drain_begin(t.qp, NULL, &d, NULL), 0, "without beacons");
	memset(wc, 0, sizeof(wc));
	wc[0].qp_num = t.qp->qp_num;
	wc[0].wr_id = (uintptr_t)&t.qp->state;
	tap_ok(rdmaez_drain_wc(&d, t.send_cq, &wc[0]), "one of an earlier drain is known");
	tap_eq_hex(d.waits, SENDS | RECVS, "and ends nothing");

	start(FAKE_PROFILE_PLAIN, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	for (uint64_t i = 0; i < 8; i++)
		post_send(i, 0);
	tap_eq_int(rdmaez_drain_begin(t.qp, NULL, &d, NULL), 0, "with a send queue that is full");
	fake_qp_work_done(t.qp);
	fake_reset_log();
	wc[0].wr_id = 0;
	wc[0].qp_num = t.qp->qp_num + 1;
	tap_ok(!rdmaez_drain_wc(&d, t.send_cq, &wc[0]), "another's completion");
	tap_eq_int(fake_count(FAKE_ANY), 0, "makes no room");
	wc[0].qp_num--;
	tap_ok(!rdmaez_drain_wc(&d, t.send_cq, &wc[0]), "one of its own");
	tap_eq_int(fake_count(FAKE_POST_SEND), 1, "does for the beacon");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 1, "and ERR again");
	tap_eq_int(fake_count(FAKE_POST_RECV), 0, "the other is posted already");
	check_refusal(&t.diag, rdmaez_drain_begin(t.qp, NULL, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "drain", "nowhere to begin");
}

static void check_destroy(void)
{
	struct ibv_async_event event;

	start(FAKE_PROFILE_MLX5, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	post_five();
	fake_fail(FAKE_DESTROY_QP, 1, EBUSY);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_destroy(t.qp, &t.opts, &t.drained, &t.diag), EBUSY,
			    "rdmaez_qp_destroy", "ibv_destroy_qp", "in use",
			    LIKELY(QP_MULTICAST, "qp", NOTHING));
	check_drained(5, 0, 0, 0, "it was drained");
	memset(&event, 0, sizeof(event));
	event.event_type = IBV_EVENT_QP_FATAL;
	event.element.qp = t.qp;
	fake_event(t.ctx, &event);
	tap_eq_int(rdmaez_event_next(t.ctx, RDMAEZ_NS_NOW, &event, &t.diag), 0, "an event is read");
	check_success(&t.diag, rdmaez_qp_destroy(t.qp, &t.opts, NULL, &t.diag), "and nobody waits");
	tap_eq_int(fake_count(FAKE_DESTROY_QP), 2, "it is gone");

	start(FAKE_PROFILE_SIW, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	post_five();
	t.opts.timeout_ns = LITTLE;
	CHECK_FINDINGS(&t.diag, rdmaez_qp_destroy(t.qp, &t.opts, &t.drained, &t.diag), ETIMEDOUT,
		       "rdmaez_qp_destroy", "a drain that ends too late",
		       WRONG(DRAIN_UNCOUNTED, "opts.sends", NOTHING),
		       WRONG(DRAIN_UNCOUNTED, "opts.recvs", NOTHING));
	tap_eq_int(fake_count(FAKE_DESTROY_QP), 0, "leaves the queue pair");
	t.opts.flags = RDMAEZ_DRAIN_ANYWAY;
	t.opts.flags |= 8;
	tap_eq_int(rdmaez_qp_destroy(t.qp, &t.opts, NULL, NULL), EINVAL, "so do wrong options");
	t.opts.flags &= ~8u;
	t.opts.sends = -1;
	check_success(&t.diag, rdmaez_qp_destroy(t.qp, &t.opts, &t.drained, &t.diag),
		      "which goes anyway");
	check_drained(0, 0, 0, SENDS | RECVS, "and says what it did not see");
	start(FAKE_PROFILE_RXE, "6.1.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	fake_fail(FAKE_MODIFY_QP, 1, EINVAL);
	t.opts.flags = RDMAEZ_DRAIN_ANYWAY;
	check_success(&t.diag, rdmaez_qp_destroy(t.qp, &t.opts, NULL, &t.diag),
		      "even if it cannot be moved to ERR");
	check_refusal(&t.diag, rdmaez_qp_destroy(NULL, &t.opts, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
}

/* ---- Recovery ----------------------------------------------------------------------------- */

static struct ibv_qp_init_attr init;
static struct rdmaez_recover_opts recovery;
static struct rdmaez_endpoint local;

/* A queue pair that has failed with five work requests, on completion queues of its own. */
static void start_failed(enum fake_profile profile, const char *release)
{
	const struct driver driver = {profile, release, 0};

	start_driver(&driver, false);
	fake_qp_force(t.qp, IBV_QPS_ERR);
	memset(&init, 0, sizeof(init));
	init.qp_type = t.qp->qp_type;
	init.cap.max_send_wr = init.cap.max_recv_wr = 8;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	init.cap.max_inline_data = 10;
	memset(&recovery, 0, sizeof(recovery));
	t.opts.sends = 3;
	t.opts.recvs = 2;
	recovery.drain = t.opts;
	recovery.init_attr = &init;
	memset(&local, 0x55, sizeof(local));
	t.dev->inline_step = 16;
}

static int recover(void)
{
	return rdmaez_qp_recover(&t.qp, &recovery, &local, &t.drained, &t.diag);
}

static bool is_made_anew(void)
{
	return is_iwarp() || t.dev->quirks & FAKE_RESET_IS_FINAL ||
	       strcmp(rdmaez_driver_of(&t.dev->attr.orig_attr)->name, "rdma_rxe") == 0;
}

static void check_recovery(const struct driver *d)
{
	const bool has_ah = d->profile == FAKE_PROFILE_EFA; /* which counts, and needs none */
	struct ibv_qp_init_attr before;
	const struct ibv_qp *old;
	uint32_t number, psn;
	char name[80];

	start_failed(d->profile, d->release);
	snprintf(name, sizeof(name), "%d on Linux %s", (int)d->profile, d->release);
	before = init;
	old = t.qp;
	number = old->qp_num;
	check_success(&t.diag, recover(), "%s: recovered", name);
	check_drained(5, 0, 0, 0, name);
	tap_eq_str(t.seen, "12345", "%s: with nothing lost", name);
	tap_eq_int(t.qp->state, IBV_QPS_RESET, "%s: in RESET", name);
	tap_eq_int(t.qp->qp_num == number, !is_made_anew(), "%s: it has the old number or not",
		   name);
	tap_eq_int(fake_count(FAKE_CREATE_QP), is_made_anew(), "%s: it is made anew or not", name);
	tap_eq_int(fake_count(FAKE_DESTROY_QP), is_made_anew(), "%s: so is the old one gone", name);
	tap_ok(memcmp(&before, &init, sizeof(init)) == 0, "%s: the attributes are untouched", name);
	tap_eq_ptr(t.qp->send_cq, t.send_cq, "%s: with its completion queue", name);
	tap_eq_ptr(t.qp->recv_cq, t.recv_cq, "%s: and the other", name);
	tap_eq_int(local.qp_num, t.qp->qp_num, "%s: the endpoint is its own", name);
	psn = local.psn;
	tap_ok(psn < 1u << 24, "%s: with a PSN", name);
	recovery.drain.sends = recovery.drain.recvs = has_ah || d->counts ? RDMAEZ_ZERO : 0;
	number = t.qp->qp_num;
	check_success(&t.diag, recover(), "%s: once more", name);
	tap_ok(local.psn != psn, "%s: with another PSN", name);
	tap_eq_int(t.qp->qp_num == number, !is_made_anew(), "%s: as before", name);
}

static void check_recovery_failures(void)
{
	struct ibv_qp *old;

	start_failed(FAKE_PROFILE_SIW, "6.1.0");
	recovery.init_attr = NULL;
	fake_reset_log();
	check_refusal(&t.diag, recover(), EINVAL, RDMAEZ_WHY_RESET_FINAL, "opts.init_attr",
		      "iWARP and nothing to create from");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "nothing is done");
	tap_eq_hex(local.qp_num, 0x55555555, "the output is not written");

	start_failed(FAKE_PROFILE_IRDMA, "6.1.0");
	old = t.qp;
	fake_fail(FAKE_CREATE_QP, 1, ENOSPC);
	CHECK_VERB_FINDINGS(&t.diag, recover(), ENOSPC, "rdmaez_qp_recover", "ibv_create_qp",
			    "creating fails", LIKELY(NO_RESOURCES, "ibv_create_qp", NOTHING));
	tap_eq_ptr(t.qp, old, "the old one is still there");
	tap_eq_int(t.qp->state, IBV_QPS_ERR, "in ERR");
	recovery.drain.sends = recovery.drain.recvs = RDMAEZ_ZERO;
	fake_fail(FAKE_DESTROY_QP, 1, EBUSY);
	CHECK_VERB_FINDINGS(&t.diag, recover(), EBUSY, "rdmaez_qp_recover", "ibv_destroy_qp",
			    "destroying fails", LIKELY(QP_MULTICAST, "qp", NOTHING));
	tap_eq_ptr(t.qp, old, "the old one is still there");
	tap_eq_int(fake_count(FAKE_DESTROY_QP), 2, "the new one is not");
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	tap_eq_int(recover(), EIO, "the port does not answer");
	tap_eq_str(t.diag.call, "rdmaez_qp_recover", "under its name");
	tap_ok(t.qp != old, "the queue pair is a new one");
	tap_eq_hex(local.qp_num, 0x55555555, "the endpoint is not written");
}

static void check_recovery_ways(void)
{
	struct ibv_qp *old;

	start_failed(FAKE_PROFILE_RXE, "6.1.0");
	fixture_state(t.qp, IBV_QPS_RESET);
	tap_eq_int(rdmaez_qp_recover(&t.qp, NULL, &local, NULL, NULL), 0,
		   "from RESET without options");
	start_failed(FAKE_PROFILE_RXE, "6.1.0");
	memset(&recovery, 0, sizeof(recovery));
	recovery.drain.flags = RDMAEZ_DRAIN_DISCARD;
	tap_eq_int(rdmaez_qp_recover(&t.qp, &recovery, &local, NULL, NULL), 0, "with nothing kept");
	start_failed(FAKE_PROFILE_MLX5, "6.1.0");
	old = t.qp;
	fake_fail(FAKE_MODIFY_QP, 3, EINVAL);
	check_success(&t.diag, recover(), "RESET is refused");
	tap_ok(t.qp != old, "another takes its place");
	start_failed(FAKE_PROFILE_RXE, "6.1.0");
	old = t.qp;
	recovery.init_attr = NULL;
	fake_fail(FAKE_MODIFY_QP, 3, EIO);
	CHECK_VERB_FINDINGS(&t.diag, recover(), EIO, "rdmaez_qp_recover", "ibv_modify_qp",
			    "there is none", LIKELY(DEVICE_GONE, "ibv_modify_qp", NOTHING));

	start_failed(FAKE_PROFILE_SIW, "6.1.0");
	old = t.qp;
	recovery.drain.sends = 4;
	recovery.drain.timeout_ns = LITTLE;
	CHECK_FINDINGS(&t.diag, recover(), ETIMEDOUT, "rdmaez_qp_recover", "a wrong count",
		       WRONG(DRAIN_LEFT, "opts.sends", COUNTED(1)));
	check_drained(5, 0, 0, SENDS, "a wrong count");
	tap_eq_ptr(t.qp, old, "leaves the queue pair");
	recovery.drain.flags = RDMAEZ_DRAIN_ANYWAY;
	check_success(&t.diag, recover(), "but not with ANYWAY");
	tap_ok(t.qp != old, "which makes another");
	check_refusal(&t.diag, rdmaez_qp_recover(&t.qp, NULL, NULL, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "local", "no endpoint");
	start_failed(FAKE_PROFILE_IRDMA, "7.2.0");
	init.srq = fake_srq(t.ctx, IBV_SRQT_BASIC);
	init.send_cq = t.send_cq;
	init.recv_cq = t.recv_cq;
	t.qp = ibv_create_qp(t.qp->pd, &init);
	old = t.qp;
	memset(&init, 0, sizeof(init));
	init.qp_type = IBV_QPT_RC;
	check_success(&t.diag, recover(), "with a shared receive queue");
	tap_ok(t.qp != old && t.qp->srq, "the new one has it, too");
	t.qp = NULL;
	check_refusal(&t.diag, recover(), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
	check_refusal(&t.diag, rdmaez_qp_recover(NULL, NULL, &local, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "none at all");
}

/* What arrives late has a PSN that is behind. */
static void check_recovery_psn(uint32_t last, enum fake_profile profile)
{
	struct ibv_qp_attr *now;
	uint32_t ahead;

	start_failed(profile, "6.1.0");
	recovery.init_attr = NULL;
	now = fixture_truth(t.qp);
	now->sq_psn = last;
	check_success(&t.diag, recover(), "the last PSN was 0x%06x", last);
	ahead = (local.psn - last) & 0xffffff;
	tap_ok(local.psn <= 0xffffff && ahead >= 0x100000 && ahead < 0x200000,
	       "0x%06x is ahead of it", local.psn);
}

/* ---- SQD and SQE -------------------------------------------------------------------------- */

#define CHECK_QUIESCE(error, name, ...)                                          \
	CHECK_FINDINGS(&t.diag, rdmaez_qp_quiesce(t.qp, 2 * MS, &t.diag), error, \
		       "rdmaez_qp_quiesce", name, __VA_ARGS__)

static void start_sqd(enum fake_profile profile, const char *release, enum ibv_qp_state state)
{
	start(profile, release);
	make_qp(profile == FAKE_PROFILE_EFA ? IBV_QPT_UD : IBV_QPT_RC, state, 64, false);
	fake_reset_log();
}

/* What each driver makes of SQD. */
static void check_quiesce_drivers(void)
{
	static const struct {
		enum fake_profile profile;
		const char *release;
		enum rdmaez_why refused; /* NONE: it can */
	} rows[] = {
		{FAKE_PROFILE_RXE, "6.1.0", RDMAEZ_WHY_NONE},
		{FAKE_PROFILE_RXE, "6.12.0", RDMAEZ_WHY_NONE},
		{FAKE_PROFILE_MLX4, "6.1.0", RDMAEZ_WHY_NONE},
		{FAKE_PROFILE_MTHCA, "6.1.0", RDMAEZ_WHY_NONE},
		{FAKE_PROFILE_OCRDMA, "6.1.0", RDMAEZ_WHY_NONE},
		{FAKE_PROFILE_PVRDMA, "6.1.0", RDMAEZ_WHY_NONE},
		{FAKE_PROFILE_RDMAVT, "6.1.0", RDMAEZ_WHY_NONE},
		{FAKE_PROFILE_QIB, "6.1.0", RDMAEZ_WHY_NONE},
		{FAKE_PROFILE_IONIC, "7.2.0", RDMAEZ_WHY_NONE},
		{FAKE_PROFILE_PLAIN, "6.1.0", RDMAEZ_WHY_NONE},
		{FAKE_PROFILE_MLX5, "6.1.0", RDMAEZ_WHY_NO_SQD},
		{FAKE_PROFILE_HNS, "6.1.0", RDMAEZ_WHY_NO_SQD},
		{FAKE_PROFILE_SIW, "6.1.0", RDMAEZ_WHY_SQD_CLOSES},
		{FAKE_PROFILE_ERDMA, "6.1.0", RDMAEZ_WHY_SQD_CLOSES},
		{FAKE_PROFILE_CXGB4, "6.1.0", RDMAEZ_WHY_SQD_CLOSES},
		{FAKE_PROFILE_IRDMA_IWARP, "6.1.0", RDMAEZ_WHY_SQD_CLOSES},
		{FAKE_PROFILE_BNXT_RE, "6.1.0", RDMAEZ_WHY_SQD_UNTOLD},
		{FAKE_PROFILE_IRDMA, "6.1.0", RDMAEZ_WHY_SQD_UNTOLD},
		{FAKE_PROFILE_QEDR, "6.1.0", RDMAEZ_WHY_SQD_UNTOLD},
		{FAKE_PROFILE_EFA, "6.1.0", RDMAEZ_WHY_SQD_UNTOLD},
		{FAKE_PROFILE_MANA, "6.12.0", RDMAEZ_WHY_SQD_UNTOLD},
		{FAKE_PROFILE_MANA, "7.2.0", RDMAEZ_WHY_SQD_UNTOLD},
		{FAKE_PROFILE_ERDMA_ROCE, "7.2.0", RDMAEZ_WHY_SQD_UNTOLD},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		start_sqd(rows[i].profile, rows[i].release, IBV_QPS_RTS);
		if (rows[i].refused != RDMAEZ_WHY_NONE) {
			check_refusal(&t.diag, rdmaez_qp_quiesce(t.qp, 2 * MS, &t.diag), EOPNOTSUPP,
				      rows[i].refused,
				      rows[i].refused == RDMAEZ_WHY_SQD_UNTOLD ? "sq_draining"
									       : "qp_state",
				      "%d on Linux %s", (int)rows[i].profile, rows[i].release);
			tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "nothing is moved");
			continue;
		}
		fake_qp_drains(t.qp, 3);
		check_success(&t.diag, rdmaez_qp_quiesce(t.qp, 0, &t.diag), "%d on Linux %s",
			      (int)rows[i].profile, rows[i].release);
		tap_eq_int(t.qp->state, IBV_QPS_SQD, "it is in SQD");
		tap_eq_int(fake_qp_true(t.qp)->sq_draining, 0, "and has drained");
		check_success(&t.diag, rdmaez_qp_resume(t.qp, &t.diag), "and resumes");
		tap_eq_int(t.qp->state, IBV_QPS_RTS, "in RTS");
	}
}

static void check_quiesce(void)
{
	start_sqd(FAKE_PROFILE_RXE, "6.1.0", IBV_QPS_RTS);
	fake_qp_drains(t.qp, -1);
	CHECK_QUIESCE(ETIMEDOUT, "a send queue that never drains",
		      WRONG(SQ_DRAINING, "sq_draining", RDMAEZ_VALUE_NUMBER, 1, 0, 0));
	tap_eq_int(t.qp->state, IBV_QPS_SQD, "it stays in SQD");
	fake_qp_drains(t.qp, 1);
	check_success(&t.diag, rdmaez_qp_quiesce(t.qp, 2 * MS, &t.diag), "from where it goes on");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 1, "with one move in all");
	start_sqd(FAKE_PROFILE_RXE, "6.1.0", IBV_QPS_SQD);
	fake_qp_force(t.qp, IBV_QPS_ERR);
	CHECK_QUIESCE(EINVAL, "an error while it drained",
		      WRONG(RESUME_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_ERR, 0,
			    1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD));
	start_sqd(FAKE_PROFILE_RXE, "6.1.0", IBV_QPS_RTS);
	fake_qp_drains(t.qp, -2);
	CHECK_QUIESCE(EINVAL, "an error on the way",
		      WRONG(RESUME_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_ERR, 0,
			    1 << IBV_QPS_SQD));
	start_sqd(FAKE_PROFILE_RXE, "6.1.0", IBV_QPS_RTS);
	fake_fail(FAKE_MODIFY_QP, 1, ENOMEM);
	tap_eq_int(rdmaez_qp_quiesce(t.qp, 2 * MS, &t.diag), ENOMEM, "a move that fails ends it");
	tap_eq_str(t.diag.verb, "ibv_modify_qp", "and is told");
	tap_eq_int(t.qp->state, IBV_QPS_RTS, "where it was");
	start_sqd(FAKE_PROFILE_RXE, "6.1.0", IBV_QPS_RTR);
	CHECK_QUIESCE(EINVAL, "in RTR",
		      WRONG(RESUME_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_RTR, 0,
			    1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD));
	start_sqd(FAKE_PROFILE_RXE, "6.1.0", IBV_QPS_RTS);
	fake_fail(FAKE_QUERY_QP, 0, EINVAL);
	check_refusal(&t.diag, rdmaez_qp_quiesce(t.qp, 2 * MS, &t.diag), EOPNOTSUPP,
		      RDMAEZ_WHY_SQD_UNTOLD, "sq_draining", "a driver that cannot answer");
	fake_fail(FAKE_QUERY_QP, 0, EIO);
	check_refusal(&t.diag, rdmaez_qp_quiesce(t.qp, 2 * MS, &t.diag), EIO,
		      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_qp", "one that fails to");
	fake_fail(FAKE_QUERY_QP, 0, 0);
	check_refusal(&t.diag, rdmaez_qp_quiesce(NULL, 0, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
}

static struct rdmaez_qp_opts timers(void)
{
	struct rdmaez_qp_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.optional = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT;
	opts.timeout = 18;
	opts.retry_cnt = 3;
	return opts;
}

static void check_change(void)
{
	static const char *const releases[] = {"6.1.0", "6.12.0"};
	struct rdmaez_qp_opts opts = timers();
	const struct fake_call *call;

	for (size_t i = 0; i < COUNT_OF(releases); i++) {
		start_sqd(FAKE_PROFILE_RXE, releases[i], IBV_QPS_RTS);
		fake_qp_drains(t.qp, 3);
		check_success(&t.diag, rdmaez_qp_change(t.qp, &opts, 0, &t.diag), "timers of %s",
			      releases[i]);
		tap_eq_str(t.diag.call, "rdmaez_qp_change", "under its name");
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 3, "by three moves");
		tap_eq_int(fake_qp_true(t.qp)->timeout, 18, "the timeout is changed");
		tap_eq_int(fake_qp_true(t.qp)->retry_cnt, 3, "and the retries");
		tap_eq_int(fake_qp_true(t.qp)->qp_state, IBV_QPS_RTS, "it is in RTS");
	}

	opts.optional = IBV_QP_MIN_RNR_TIMER;
	opts.min_rnr_timer = 5;
	for (int i = 0; i < 2; i++) {
		start_sqd(i ? FAKE_PROFILE_RXE : FAKE_PROFILE_MLX5, "6.1.0",
			  i ? IBV_QPS_SQD : IBV_QPS_RTS);
		check_success(&t.diag, rdmaez_qp_change(t.qp, &opts, 0, &t.diag),
			      "what RTS takes, %d", i);
		call = fake_last(FAKE_MODIFY_QP);
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 1, "is changed by one move");
		tap_eq_hex(call->attr_mask, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER, "to RTS");
		tap_eq_int(fake_qp_true(t.qp)->min_rnr_timer, 5, "as asked");
		tap_eq_int(t.qp->state, IBV_QPS_RTS, "which it is in");
	}

	opts = timers();
	start_sqd(FAKE_PROFILE_MLX5, "6.1.0", IBV_QPS_RTS);
	check_refusal(&t.diag, rdmaez_qp_change(t.qp, &opts, 0, &t.diag), EOPNOTSUPP,
		      RDMAEZ_WHY_NO_SQD, "qp_state", "timers of mlx5");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "nothing is moved");
	start_sqd(FAKE_PROFILE_RXE, "6.1.0", IBV_QPS_RTS);
	opts.timeout = 77;
	CHECK_FINDINGS(&t.diag, rdmaez_qp_change(t.qp, &opts, 0, &t.diag), EINVAL,
		       "rdmaez_qp_change", "a timeout that is none",
		       WRONG(RANGE, "timeout", RDMAEZ_VALUE_NUMBER, 77, 0, 31));
	tap_eq_int(t.diag.qp_num, t.qp->qp_num, "the record names the queue pair");
	tap_eq_int(fake_count(FAKE_ANY), 0, "is found before anything is done");
	opts = timers();
	opts.optional = IBV_QP_RQ_PSN;
	CHECK_FINDINGS(&t.diag, rdmaez_qp_change(t.qp, &opts, 0, &t.diag), EINVAL,
		       "rdmaez_qp_change", "what nothing takes",
		       WRONG(MASK_NOT_ALLOWED, "attr_mask", RDMAEZ_VALUE_ATTR_MASK, IBV_QP_RQ_PSN,
			     0, IBV_QP_RQ_PSN | IBV_QP_STATE));
	tap_eq_int(rdmaez_qp_change(t.qp, &opts, 0, NULL), EINVAL, "also without a record");
	start_sqd(FAKE_PROFILE_RXE, "6.1.0", IBV_QPS_RTR);
	CHECK_FINDINGS(&t.diag, rdmaez_qp_change(t.qp, &opts, 0, &t.diag), EINVAL,
		       "rdmaez_qp_change", "in RTR",
		       WRONG(RESUME_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_RTR, 0,
			     1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD));
	check_refusal(&t.diag, rdmaez_qp_change(t.qp, NULL, 0, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "opts", "no options");
	check_refusal(&t.diag, rdmaez_qp_change(NULL, &opts, 0, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
}

/* What it leaves behind. */
static void check_change_failures(void)
{
	struct rdmaez_qp_opts opts = timers();

	start_sqd(FAKE_PROFILE_RXE, "6.1.0", IBV_QPS_RTS);
	fake_fail(FAKE_MODIFY_QP, 2, EIO);
	CHECK_FINDINGS(&t.diag, rdmaez_qp_change(t.qp, &opts, 0, &t.diag), EIO, "rdmaez_qp_change",
		       "the change is refused", LIKELY(DEVICE_GONE, "ibv_modify_qp", NOTHING));
	tap_eq_int(t.qp->state, IBV_QPS_RTS, "it is back in RTS");
	tap_eq_int(fake_qp_true(t.qp)->timeout, 0, "unchanged");
	start_sqd(FAKE_PROFILE_RXE, "6.1.0", IBV_QPS_RTS);
	fake_qp_drains(t.qp, -1);
	CHECK_FINDINGS(&t.diag, rdmaez_qp_change(t.qp, &opts, 2 * MS, &t.diag), ETIMEDOUT,
		       "rdmaez_qp_change", "a send queue that never drains",
		       WRONG(SQ_DRAINING, "sq_draining", RDMAEZ_VALUE_NUMBER, 1, 0, 0));
	tap_eq_int(t.qp->state, IBV_QPS_SQD, "rxe keeps it in SQD");
	start_sqd(FAKE_PROFILE_MLX4, "6.1.0", IBV_QPS_RTS);
	fake_qp_drains(t.qp, -1);
	tap_eq_int(rdmaez_qp_change(t.qp, &opts, 2 * MS, NULL), ETIMEDOUT, "on mlx4");
	tap_eq_int(t.qp->state, IBV_QPS_RTS, "it goes on");
}

static void check_resume(void)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_UC, IBV_QPT_UD};

	for (size_t i = 0; i < COUNT_OF(types); i++) {
		start(FAKE_PROFILE_MLX5, "6.1.0");
		make_qp(types[i], IBV_QPS_RTS, 64, false);
		post_five();
		fake_qp_force(t.qp, IBV_QPS_SQE); /* while the library says RTS */
		check_success(&t.diag, rdmaez_qp_resume(t.qp, &t.diag), "type %d", (int)types[i]);
		tap_eq_int(fake_qp_true(t.qp)->qp_state, IBV_QPS_RTS, "it is in RTS");
		tap_eq_hex(fake_last(FAKE_MODIFY_QP)->attr_mask, IBV_QP_STATE, "by its state");
		tap_eq_int(fake_qp_posted(t.qp), 2, "the receives are still there");
		fake_reset_log();
		check_success(&t.diag, rdmaez_qp_resume(t.qp, &t.diag), "once more");
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "does nothing");
	}
	start(FAKE_PROFILE_MANA, "6.12.0");
	make_qp(IBV_QPT_RC, IBV_QPS_RTS, 64, false);
	fake_qp_force(t.qp, IBV_QPS_SQE);
	check_success(&t.diag, rdmaez_qp_resume(t.qp, &t.diag), "where nobody tells the state");
	tap_eq_int(fake_qp_true(t.qp)->qp_state, IBV_QPS_RTS, "it is in RTS");
	for (int state = 0; state < IBV_QPS_UNKNOWN; state++) {
		if (state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_SQE)
			continue;
		start_sqd(FAKE_PROFILE_RXE, "6.1.0", IBV_QPS_RTS);
		fake_qp_force(t.qp, (enum ibv_qp_state)state);
		CHECK_FINDINGS(&t.diag, rdmaez_qp_resume(t.qp, &t.diag), EINVAL, "rdmaez_qp_resume",
			       "a state to stay in",
			       WRONG(RESUME_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW,
				     (uint64_t)state, 0, 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE));
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "nothing is moved");
	}
	check_refusal(&t.diag, rdmaez_qp_resume(NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "qp", "no queue pair");
}

int main(void)
{
	unsigned int drained = 0;

	for (size_t i = 0; i < COUNT_OF(drivers); i++) {
		check_driver(&drivers[i]);
		drained |= 1u << drivers[i].profile;
	}
	/* usnic takes nothing in ERR, and from libibverbs nothing at all. */
	tap_eq_hex(drained | 1u << FAKE_PROFILE_USNIC, FIXTURE_DRIVERS, "each driver is drained");
	check_beacons();
	check_queues();
	check_small();
	check_counts();
	check_ud();
	check_xrc();
	check_srq();
	check_others();
	check_nowhere();
	check_quiet();
	check_failures();
	check_pieces();
	check_destroy();
	for (size_t i = 0; i < COUNT_OF(drivers); i++)
		check_recovery(&drivers[i]);
	check_recovery_failures();
	check_recovery_ways();
	check_recovery_psn(0, FAKE_PROFILE_RXE);
	check_recovery_psn(0xfffff0, FAKE_PROFILE_RXE);
	check_recovery_psn(0x800000, FAKE_PROFILE_MLX5);
	check_quiesce_drivers();
	check_quiesce();
	check_change();
	check_change_failures();
	check_resume();
	fake_close_all();
	return tap_done();
}
