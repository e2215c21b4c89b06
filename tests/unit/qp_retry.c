/* SPDX-License-Identifier: MIT */
/*
 * A move that is tried again, in a time of its own: nothing here waits, and each rest is measured to the nanosecond.
 */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "check.h"
#include "findings.h"

enum {
	RESTS = 256,
};
#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)

static struct fake_device *dev;
static struct ibv_qp *qp;
static struct rdmaez_qp_opts opts;
static struct rdmaez_diag diag;

static struct {
	uint64_t now;
	uint64_t each; /* how long a try takes */
	uint64_t rest[RESTS];
	unsigned int rests;
	unsigned int heals; /* during this rest the peer appears; 0: never */
	unsigned int dies;  /* during this one the device does */
} at;

int clock_gettime(clockid_t id, struct timespec *time)
{
	tap_eq_int(id, CLOCK_MONOTONIC, "the clock is the one that nobody sets");
	time->tv_sec = (time_t)(at.now / SECOND);
	time->tv_nsec = (long)(at.now % SECOND);
	at.now += at.each;
	return 0;
}

int nanosleep(const struct timespec *rest, struct timespec *left)
{
	const uint64_t ns = (uint64_t)rest->tv_sec * SECOND + (uint64_t)rest->tv_nsec;

	(void)left;
	at.now += ns;
	if (at.rests < RESTS)
		at.rest[at.rests] = ns;
	at.rests++;
	if (at.rests == at.heals)
		dev->neighbour_errno = 0;
	if (at.rests == at.dies)
		fake_fail(FAKE_MODIFY_QP, 1, EIO);
	return 0;
}

/* An RC queue pair in INIT whose peer is not found. */
static void start(int error)
{
	dev = fake_reset();
	qp = fake_qp(fake_open(dev), IBV_QPT_RC);
	memset(&opts, 0, sizeof(opts));
	opts.dest_qp_num = 0x77;
	opts.path.dgid = gid_of("::ffff:192.0.2.9");
	opts.path.sgid_index = 3;
	opts.port_attr = &dev->port[1].attr;
	opts.device_attr = &dev->attr.orig_attr;
	if (rdmaez_qp_to_init(qp, NULL, NULL))
		tap_bail("the queue pair does not come to INIT");
	dev->neighbour_errno = error;
	memset(&at, 0, sizeof(at));
	at.now = 5 * SECOND - 1;
	memset(&diag, 0x55, sizeof(diag));
	fake_reset_log();
}

/* Each rest but the last is within half of its length, which doubles. */
static void check_rests(unsigned int count, bool cut)
{
	uint64_t length = 10 * MS;

	tap_eq_int(at.rests, count, "there were as many rests");
	for (unsigned int i = 0; i < count && i < RESTS; i++) {
		const bool last = cut && i + 1 == count;

		tap_ok(at.rest[i] < length * 3 / 2 && (last || at.rest[i] >= length / 2),
		       "rest %u of %u ns is about %u ms", i, (unsigned int)at.rest[i],
		       (unsigned int)(length / MS));
		if (length < 640 * MS)
			length *= 2;
	}
}

static uint64_t rested(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < at.rests && i < RESTS; i++)
		sum += at.rest[i];
	return sum;
}

static void test_heals(void)
{
	start(ETIMEDOUT);
	at.heals = 3;
	opts.retry_ns = SECOND;
	check_success(&diag, rdmaez_qp_to_rtr(qp, &opts, &diag), "a peer that appears");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 4, "it was tried four times");
	tap_eq_int(fake_count(FAKE_ANY), 4, "and nothing was asked");
	tap_eq_int(fake_qp_true(qp)->qp_state, IBV_QPS_RTR, "it is in RTR");
	check_rests(3, false);
	start(EHOSTUNREACH);
	at.heals = 1;
	opts.retry_ns = SECOND;
	tap_eq_int(rdmaez_qp_to_rtr(qp, &opts, NULL), 0, "a route that appears, without a record");
	tap_eq_int(fake_count(FAKE_ANY), 2, "it was tried twice");
	check_rests(1, false);
}

static void check_tried(int error, enum rdmaez_why why, unsigned int tries)
{
	CHECK_VERB_FINDINGS(
		&diag, rdmaez_qp_to_rtr(qp, &opts, &diag), error, "rdmaez_qp_to_rtr",
		"ibv_modify_qp", "it was tried again",
		{RDMAEZ_DIAG_LIKELY, why, "ah_attr.grh.dgid", RDMAEZ_VALUE_INDEX, 3, 0, 0},
		{RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_RETRIED, "opts.retry_ns", RDMAEZ_VALUE_COUNTED,
		 tries, 0, 0});
	tap_eq_int(fake_count(FAKE_MODIFY_QP), tries, "it was tried that often");
	tap_eq_int(fake_qp_true(qp)->qp_state, IBV_QPS_INIT, "it is still in INIT");
}

static void test_deadline(void)
{
	uint64_t begun;
	unsigned int tries;

	start(ETIMEDOUT);
	opts.retry_ns = 1;
	check_tried(ETIMEDOUT, RDMAEZ_WHY_NEIGHBOUR, 2);
	tap_eq_int(at.rests, 1, "a rest of a nanosecond");
	tap_eq_int((int)at.rest[0], 1, "which is all the time there is");

	/* 10, 20, 40 and 80 ms make 75 to 225, the last one of which is cut. */
	start(ETIMEDOUT);
	begun = at.now;
	opts.retry_ns = 75 * MS;
	tap_eq_int(rdmaez_qp_to_rtr(qp, &opts, &diag), ETIMEDOUT, "nobody appears");
	tap_eq_int((int)(at.now - begun), (int)(75 * MS), "it has rested for all of the time");
	tap_eq_int((int)rested(), (int)(75 * MS), "and not beyond");
	tries = fake_count(FAKE_MODIFY_QP);
	tap_ok(tries >= 4 && tries <= 5, "%u tries", tries);
	tap_eq_int((int)diag.finding[1].value, (int)tries, "are told");
	check_rests(tries - 1, true);

	start(ETIMEDOUT);
	opts.retry_ns = 60 * SECOND;
	tap_eq_int(rdmaez_qp_to_rtr(qp, &opts, NULL), ETIMEDOUT, "nobody appears for a minute");
	tap_ok(rested() == 60 * SECOND, "it has rested for a minute");
	check_rests(at.rests, true);
}

/* The kernel itself waits a second for the peer's answer, in each try: three tries begin within 2.5 s. */
static void test_slow_tries(void)
{
	start(ETIMEDOUT);
	at.each = SECOND;
	opts.retry_ns = 2500 * MS;
	check_tried(ETIMEDOUT, RDMAEZ_WHY_NEIGHBOUR, 4);
	check_rests(3, false);
}

static void test_other_errors(void)
{
	static const int told_at_once[] = {ENETUNREACH, ENETDOWN, ENODEV, EINVAL};

	for (size_t i = 0; i < COUNT_OF(told_at_once); i++) {
		start(told_at_once[i]);
		opts.retry_ns = SECOND;
		tap_eq_int(rdmaez_qp_to_rtr(qp, &opts, &diag), told_at_once[i],
			   "what does not heal: %s", rdmaez_errno_str(told_at_once[i]));
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 1, "is told at once");
		tap_ok(!rdmaez_diag_find(&diag, RDMAEZ_WHY_RETRIED), "as it always was");
		check_rests(0, false);
	}
	start(EHOSTUNREACH);
	opts.retry_ns = 1;
	check_tried(EHOSTUNREACH, RDMAEZ_WHY_NO_ROUTE, 2);
	start(ETIMEDOUT);
	at.dies = 2;
	opts.retry_ns = SECOND;
	CHECK_VERB_FINDINGS(&diag, rdmaez_qp_to_rtr(qp, &opts, &diag), EIO, "rdmaez_qp_to_rtr",
			    "ibv_modify_qp", "the last error is explained",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DEVICE_GONE, "ibv_modify_qp",
			     RDMAEZ_VALUE_NONE, 0, 0, 0},
			    {RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_RETRIED, "opts.retry_ns",
			     RDMAEZ_VALUE_COUNTED, 3, 0, 0});
	check_rests(2, false);
}

/* What is not asked for, and moves that look for nobody. */
static void test_once(void)
{
	start(ETIMEDOUT);
	tap_eq_int(rdmaez_qp_to_rtr(qp, &opts, &diag), ETIMEDOUT, "without the option");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 1, "it is tried once");
	tap_eq_int(diag.count, 1, "and only the cause is told");
	check_rests(0, false);
	start(0);
	opts.retry_ns = SECOND;
	fake_fail(FAKE_MODIFY_QP, 1, ETIMEDOUT);
	tap_eq_int(rdmaez_qp_to_init(qp, &opts, &diag), ETIMEDOUT, "a move without an address");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 1, "is tried once");
	check_rests(0, false);
}

/* No rest is the same as the last one's, or all queue pairs of a machine would ask at the same time. */
static void test_random(void)
{
	uint64_t first = 0;
	bool same = true;

	for (int i = 0; i < 8; i++) {
		start(ETIMEDOUT);
		at.heals = 1;
		opts.retry_ns = SECOND;
		tap_eq_int(rdmaez_qp_to_rtr(qp, &opts, NULL), 0, "it heals");
		first = i ? first : at.rest[0];
		same &= at.rest[0] == first;
	}
	tap_ok(!same, "rests differ");
}

int main(void)
{
	test_heals();
	test_deadline();
	test_slow_tries();
	test_other_errors();
	test_once();
	test_random();
	fake_close_all();
	return tap_done();
}
