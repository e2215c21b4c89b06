/* SPDX-License-Identifier: MIT */
/* Polling, and waiting with a deadline: what is there is told, whatever happened, and the first error is explained. */
#define _GNU_SOURCE /* syscall() */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include <rdmaez/implementation.h>
#include "findings.h"

enum {
	ROOM = 8,
	MS = 1000000,
};

static struct {
	struct fake_device *dev;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_wc wc[ROOM];
	struct rdmaez_wc_batch batch;
	struct rdmaez_diag diag;
} t;

static void start(void)
{
	t.dev = fake_reset();
	fake_profile(t.dev, FAKE_PROFILE_RXE);
	t.qp = fake_qp(fake_open(t.dev), IBV_QPT_RC);
	t.cq = t.qp->send_cq;
	fake_qp_force(t.qp, IBV_QPS_RTS);
	memset(t.wc, 0x55, sizeof(t.wc));
	memset(&t.batch, 0, sizeof(t.batch));
	t.batch.wc = t.wc;
	t.batch.capacity = ROOM;
	t.batch.count = 99;
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

static void push(uint64_t wr_id, enum ibv_wc_status status, uint32_t qp_num)
{
	struct ibv_wc wc;

	memset(&wc, 0, sizeof(wc));
	wc.wr_id = wr_id;
	wc.status = status;
	wc.qp_num = qp_num;
	wc.vendor_err = 7;
	if (!fake_cq_push(t.cq, &wc))
		tap_bail("the completion queue is full");
}

/* 0: it looks, and does not wait. */
static int poll_for(uint64_t timeout_ns)
{
	return timeout_ns ? rdmaez_wc_wait(t.cq, t.qp, &t.batch, timeout_ns, &t.diag)
			  : rdmaez_wc_poll(t.cq, t.qp, &t.batch, &t.diag);
}

/* These have been polled, from the first element on, and nothing was written behind them. */
static void check_polled(int count)
{
	bool right = t.batch.count == count;

	for (int i = 0; right && i < count; i++)
		right = t.wc[i].wr_id == (uint64_t)i;
	for (int i = count; right && i < ROOM; i++)
		right = t.wc[i].wr_id == UINT64_C(0x5555555555555555);
	tap_ok(right, "%d are told, and there", count);
}

static void check_enough(void)
{
	for (int want = 0; want <= ROOM; want++)
		for (int there = want ? want : 1; there <= ROOM + 1; there++) {
			struct rdmaez_diag before;

			start();
			before = t.diag;
			t.batch.want = want;
			for (int i = 0; i < there; i++)
				push((uint64_t)i, IBV_WC_SUCCESS, t.qp->qp_num);
			tap_eq_int(poll_for(RDMAEZ_NS_NOW), 0, "%d wanted, %d there", want, there);
			check_polled(there < ROOM ? there : ROOM);
			tap_eq_int(fake_count(FAKE_ANY), 1, "one call");
			tap_ok(!memcmp(&t.diag, &before, sizeof(before)), "the record stays");
			tap_eq_int(rdmaez_wc_wait(t.cq, NULL, &t.batch, RDMAEZ_NS_NOW, NULL),
				   there > ROOM && want < 2 ? 0 : ETIMEDOUT, "what is left");
			tap_eq_int(fake_count(FAKE_ANY), 2, "by one look");
		}
}

/* What is there is taken, and nothing is nothing to tell of. */
static void check_look(void)
{
	for (int there = 0; there <= ROOM + 1; there++) {
		struct rdmaez_diag before;

		start();
		before = t.diag;
		t.batch.want = there % 2 ? -1 : ROOM + 1;
		for (int i = 0; i < there; i++)
			push((uint64_t)i, IBV_WC_SUCCESS, t.qp->qp_num);
		tap_eq_int(poll_for(0), 0, "%d there", there);
		check_polled(there < ROOM ? there : ROOM);
		tap_eq_int(fake_count(FAKE_ANY), 1, "one call");
		tap_eq_int(rdmaez_wc_poll(t.cq, NULL, &t.batch, NULL), 0, "once more");
		tap_eq_int(t.batch.count, there > ROOM ? 1 : 0, "what is left");
		tap_ok(!memcmp(&t.diag, &before, sizeof(before)), "the record stays");
	}
}

/* Completions that come while it polls: one at a time, after so many polls that find nothing. */
static struct {
	int pause, polls, left, failing;
	bool overrun; /* another number of entries than there is room for */
} coming;

static int poll_slowly(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	(void)cq;
	coming.overrun |= wc + num_entries != t.wc + ROOM;
	if (++coming.polls % (coming.pause + 1) || !coming.left || !num_entries)
		return 0;
	coming.left--;
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = (uint64_t)(coming.polls / (coming.pause + 1)) - 1;
	wc->qp_num = t.qp->qp_num;
	wc->status =
		wc->wr_id + 1 == (uint64_t)coming.failing ? IBV_WC_LOC_PROT_ERR : IBV_WC_SUCCESS;
	return 1;
}

static void come(int pause, int count)
{
	start();
	t.qp->context->ops.poll_cq = poll_slowly;
	memset(&coming, 0, sizeof(coming));
	coming.pause = pause;
	coming.left = count;
}

static uint64_t elapsed(uint64_t begun)
{
	return rdmaez_impl_now() - begun;
}

/* A clock of its own, on which a look takes 1 us and a rest what it asks for; else the machine's. */
static struct {
	bool ticks;
	uint64_t now, longest;
	unsigned int rests;
} at;

int clock_gettime(clockid_t id, struct timespec *time)
{
	if (!at.ticks)
		return (int)syscall(SYS_clock_gettime, id, time);
	at.now += 1000;
	time->tv_sec = (time_t)(at.now / (1000 * MS));
	time->tv_nsec = (long)(at.now % (1000 * MS));
	return 0;
}

int nanosleep(const struct timespec *rest, struct timespec *left)
{
	const uint64_t ns = (uint64_t)rest->tv_sec * 1000 * MS + (uint64_t)rest->tv_nsec;

	if (!at.ticks)
		return (int)syscall(SYS_nanosleep, rest, left);
	at.now += ns;
	at.longest = ns > at.longest ? ns : at.longest;
	at.rests++;
	return 0;
}

/* After the first millisecond it rests 50 us after each look at the clock, whatever else the machine does. */
static void check_rests(void)
{
	memset(&at, 0, sizeof(at));
	at.ticks = true;
	come(10, 0);
	tap_eq_int(poll_for(50 * MS), ETIMEDOUT, "where nothing ever comes");
	at.ticks = false;
	tap_ok(at.rests > 900, "it rests again and again");
	tap_ok(at.longest == 50000, "50 us at once");
	tap_ok(at.now >= 50 * MS && at.now <= 50 * MS + 2000, "and not beyond the end");
	memset(&at, 0, sizeof(at));
	at.ticks = true;
	come(10, 0);
	tap_eq_int(rdmaez_wc_wait(t.cq, t.qp, &t.batch, 0, &t.diag), ETIMEDOUT,
		   "where no time is said");
	at.ticks = false;
	tap_ok(at.now >= UINT64_C(10000) * MS && at.now <= UINT64_C(10000) * MS + 2000,
	       "it waits 10 s");
}

static void check_waiting(void)
{
	static const int pauses[] = {0, 1, 14, 15, 16, 17, 100};
	uint64_t begun;

	for (size_t i = 0; i < COUNT_OF(pauses); i++) {
		come(pauses[i], ROOM);
		t.batch.want = 5;
		tap_eq_int(poll_for(UINT64_C(1000) * MS), 0, "each after %d polls", pauses[i]);
		check_polled(5);
		tap_eq_int(coming.polls, 5 * (pauses[i] + 1), "it polled no more than that");
		tap_ok(!coming.overrun, "into the room that was left");
		come(pauses[i], 3);
		t.batch.want = 5;
		begun = rdmaez_impl_now();
		CHECK_VERB_FINDINGS(&t.diag, poll_for(2 * MS), ETIMEDOUT, "rdmaez_wc_wait", NULL,
				    "three of five",
				    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_WC_LATE, "count",
				     RDMAEZ_VALUE_NUMBER, 3, 5, ROOM});
		tap_ok(elapsed(begun) >= 2 * MS, "not before the time is over");
		check_polled(3);
		tap_eq_int(t.diag.qp_num, t.qp->qp_num, "the record names the queue pair");
		tap_eq_str(t.diag.device, t.dev->verbs.name, "and the device");
	}
	come(1000, 1);
	tap_eq_int(poll_for(RDMAEZ_NS_FOREVER), 0, "forever is long enough");
	come(40, 1);
	begun = rdmaez_impl_now();
	tap_eq_int(rdmaez_wc_wait(t.cq, NULL, &t.batch, 2, NULL), ETIMEDOUT, "2 ns are over soon");
	tap_eq_int(coming.polls, 32, "at the second look at the clock at the latest");
	come(10, 1);
	CHECK_VERB_FINDINGS(
		&t.diag, poll_for(RDMAEZ_NS_NOW), ETIMEDOUT, "rdmaez_wc_wait", NULL, "now",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_WC_LATE, "count", RDMAEZ_VALUE_NUMBER, 0, 1, ROOM});
	tap_eq_int(coming.polls, 1, "is one look");
	come(10, 0);
	tap_eq_int(poll_for(0), 0, "nothing is there");
	tap_eq_int(coming.polls, 1, "for the one poll");
	check_rests();
}

/* ---- Failures ------------------------------------------------------------------------------- */

static void check_failed(void)
{
	start();
	for (uint64_t i = 0; i < 6; i++)
		push(i,
		     i == 2  ? IBV_WC_LOC_PROT_ERR
		     : i > 2 ? IBV_WC_WR_FLUSH_ERR
			     : IBV_WC_SUCCESS,
		     t.qp->qp_num);
	t.batch.want = 1;
	tap_eq_int(poll_for(0), EIO, "one has failed, and two had not");
	check_polled(6);
	tap_eq_int(t.diag.error, EIO, "the record holds the errno");
	tap_eq_str(t.diag.call, "rdmaez_wc_poll", "and our call");
	tap_eq_str(t.diag.status, "IBV_WC_LOC_PROT_ERR", "the first error is explained");
	tap_eq_int(t.diag.wr_id, 2, "by its number");
	tap_eq_int(t.diag.vendor_err, 7, "and the vendor's");
	tap_eq_int(t.diag.qp_num, t.qp->qp_num, "with the queue pair");
	tap_eq_int(t.diag.from, IBV_QPS_RTS, "which was asked");
	tap_ok(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_WC_LKEY) != NULL, "and its causes");
	tap_ok(record_tells_all(&t.diag), "in words");

	start();
	push(0, IBV_WC_LOC_PROT_ERR, t.qp->qp_num);
	push(1, IBV_WC_SUCCESS, 77);
	tap_eq_int(poll_for(0), EIO, "a success of another behind it");
	check_polled(2);
	start();
	for (uint64_t i = 0; i < 3; i++)
		push(i, i ? IBV_WC_RETRY_EXC_ERR : IBV_WC_WR_FLUSH_ERR, t.qp->qp_num);
	tap_eq_int(poll_for(0), EIO, "a flush before it");
	check_polled(3);
	tap_eq_str(t.diag.status, "IBV_WC_RETRY_EXC_ERR", "is not explained");
	tap_eq_int(t.diag.wr_id, 1, "but the first that is none");
	fake_reset_log();
	push(0, IBV_WC_WR_FLUSH_ERR, t.qp->qp_num);
	tap_eq_int(rdmaez_wc_poll(t.cq, t.qp, &t.batch, NULL), EIO, "without a record");
	tap_eq_int(fake_count(FAKE_ANY), 1, "nothing is asked");
	tap_eq_int(t.batch.count, 1, "it is there");

	come(3, ROOM);
	coming.failing = 3;
	t.batch.want = 5;
	tap_eq_int(poll_for(UINT64_C(1000) * MS), EIO, "it waits no longer");
	check_polled(3);
	fake_fail(FAKE_QUERY_QP, 0, EIO);
	push(0, IBV_WC_LOC_PROT_ERR, t.qp->qp_num);
	come(0, 1);
	coming.failing = 1;
	fake_fail(FAKE_QUERY_QP, 0, ENOMEM);
	tap_eq_int(poll_for(0), EIO, "where the queue pair does not answer, it is the same errno");
	tap_eq_int(t.diag.error, EIO, "in the record too");
}

/* A program that remembers an answer of the peer learns first that the peer has gone. */
static void check_answered(void)
{
	for (int i = 0; i < 4; i++) {
		start();
		push(0, IBV_WC_RETRY_EXC_ERR, t.qp->qp_num);
		t.batch.answered = i / 2;
		tap_eq_int(poll_for(i % 2 ? MS : 0), EIO, "%s", i % 2 ? "a wait" : "a look");
		tap_eq_int(t.diag.finding[0].reason == RDMAEZ_WHY_WC_PEER_WAS, i / 2, "answered %d",
			   i / 2);
	}
}

#define UNASKED(number) \
	{RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_WC_UNASKED, "qp_num", RDMAEZ_VALUE_NUMBER, number, 0, 0}

/* Completions of others: with a queue that several share, or without a queue pair. */
static void check_others(void)
{
	start();
	push(0, IBV_WC_SUCCESS, t.qp->qp_num);
	push(1, IBV_WC_WR_FLUSH_ERR, 77);
	push(2, IBV_WC_REM_ACCESS_ERR, 77);
	CHECK_VERB_FINDINGS(&t.diag, poll_for(0), EIO, "rdmaez_wc_poll", NULL, "another's",
			    UNASKED(77));
	check_polled(3);
	tap_eq_str(t.diag.status, "IBV_WC_REM_ACCESS_ERR", "the first error of it");
	tap_eq_int(t.diag.wr_id, 2, "by its number");
	tap_eq_int(t.diag.qp_num, 0, "not as one of ours");
	tap_eq_str(t.diag.device, t.dev->verbs.name, "on the device");
	tap_eq_int(fake_count(FAKE_ANY), 1, "and nothing was asked");
	start();
	push(0, IBV_WC_LOC_LEN_ERR, 77);
	push(1, IBV_WC_WR_FLUSH_ERR, t.qp->qp_num);
	tap_eq_int(poll_for(0), EIO, "one of each");
	tap_eq_int(t.diag.wr_id, 1, "ours is explained");
	start();
	push(0, IBV_WC_LOC_LEN_ERR, t.qp->qp_num);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_wc_poll(t.cq, NULL, &t.batch, &t.diag), EIO,
			    "rdmaez_wc_poll", NULL, "no queue pair", UNASKED(t.qp->qp_num));
	tap_eq_str(t.diag.status, "IBV_WC_LOC_LEN_ERR", "the status is there");
}

static int poll_fails(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	if (!coming.left)
		return -2; /* mlx5's CQ_POLL_ERR, which is no errno value */
	return poll_slowly(cq, num_entries, wc);
}

static void check_refused(void)
{
	come(0, 2);
	t.qp->context->ops.poll_cq = poll_fails;
	t.batch.want = 4;
	CHECK_VERB_FINDINGS(&t.diag, poll_for(MS), EIO, "rdmaez_wc_wait", "ibv_poll_cq",
			    "the verb fails after two",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DEVICE_GONE, "ibv_poll_cq",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	check_polled(2);
	tap_eq_int(rdmaez_wc_wait(t.cq, NULL, &t.batch, MS, NULL), EIO, "without a record");
	tap_eq_int(t.batch.count, 0, "then there are none");

	t.batch.count = 99;
	CHECK_VERB_FINDINGS(&t.diag, poll_for(0), EIO, "rdmaez_wc_poll", "ibv_poll_cq",
			    "the verb fails at a look",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DEVICE_GONE, "ibv_poll_cq",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_int(t.batch.count, 0, "none are told");

	start();
	check_refusal(&t.diag, rdmaez_wc_poll(NULL, t.qp, &t.batch, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "cq", "no queue");
	tap_eq_int(t.batch.count, 0, "the count is told all the same");
	check_refusal(&t.diag, rdmaez_wc_poll(t.cq, t.qp, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "batch", "no batch");
	check_refusal(&t.diag, rdmaez_wc_wait(NULL, t.qp, &t.batch, 0, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "cq", "no queue to wait at");
	check_refusal(&t.diag, rdmaez_wc_wait(t.cq, t.qp, NULL, 0, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "batch", "no batch to wait for");
	t.batch.wc = NULL;
	check_refusal(&t.diag, poll_for(0), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "wc", "no array");
	t.batch.wc = t.wc;
	t.batch.capacity = 0;
	CHECK_FINDINGS(&t.diag, poll_for(0), EINVAL, "rdmaez_wc_poll", "no room",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "capacity", RDMAEZ_VALUE_NUMBER, 0, 1,
			INT32_MAX});
	t.batch.capacity = 4;
	t.batch.want = 5;
	CHECK_FINDINGS(&t.diag, poll_for(MS), EINVAL, "rdmaez_wc_wait", "less room than is wanted",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "want", RDMAEZ_VALUE_NUMBER, 5, 0, 4});
	t.batch.want = -1;
	CHECK_FINDINGS(&t.diag, poll_for(MS), EINVAL, "rdmaez_wc_wait", "fewer than none",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "want", RDMAEZ_VALUE_NUMBER,
			UINT64_MAX, 0, 4});
	tap_eq_int(fake_count(FAKE_ANY), 0, "none of these polls");
	tap_eq_int(rdmaez_wc_poll(NULL, NULL, NULL, NULL), EINVAL, "nothing at all");
	tap_eq_int(rdmaez_wc_wait(NULL, NULL, NULL, 0, NULL), EINVAL, "nor for it");
}

static void check_immediate(void)
{
	struct ibv_wc wc;
	uint32_t imm = 5;

	memset(&wc, 0, sizeof(wc));
	wc.imm_data = htonl(0x12345678);
	wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	tap_eq_int(rdmaez_wc_imm(&wc, &imm), ENODATA, "no immediate data");
	wc.wc_flags = IBV_WC_WITH_IMM;
	wc.status = IBV_WC_WR_FLUSH_ERR;
	tap_eq_int(rdmaez_wc_imm(&wc, &imm), ENODATA, "a failed completion has none");
	wc.status = IBV_WC_SUCCESS;
	wc.opcode = IBV_WC_RDMA_WRITE;
	tap_eq_int(rdmaez_wc_imm(&wc, &imm), ENODATA, "the sender has none, whatever rxe says");
	tap_eq_int(imm, 5, "nothing is written");
	wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	tap_eq_int(rdmaez_wc_imm(&wc, &imm), 0, "it has some");
	tap_eq_hex(imm, 0x12345678, "in host byte order");
	wc.opcode = IBV_WC_RECV;
	tap_eq_int(rdmaez_wc_imm(&wc, &imm), 0, "a send with immediate data, too");
}

int main(void)
{
	check_enough();
	check_look();
	check_waiting();
	check_failed();
	check_answered();
	check_others();
	check_refused();
	check_immediate();
	fake_close_all();
	return tap_done();
}
