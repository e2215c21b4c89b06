/* SPDX-License-Identifier: MIT */
/* Completion queues on channels: no event is lost, none stays unacknowledged; and extended queues. */
#define _GNU_SOURCE /* poll() of the C library, by another name */
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "findings.h"

enum {
	ROOM = 8,
	CQE = 128
};

#define MS UINT64_C(1000000)

#define WRONG(reason, field) \
	{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##reason, field, RDMAEZ_VALUE_NONE, 0, 0, 0}
#define LIKELY(reason, field) \
	{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field, RDMAEZ_VALUE_NONE, 0, 0, 0}

static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *other; /* on the channel */
	struct ibv_qp *qp;
	struct ibv_wc wc[ROOM];
	struct rdmaez_wc_batch batch;
	struct rdmaez_diag diag, before;
} t;

/* Instead of sleeping: what comes at the nth wait, and how often a signal comes before. */
static struct {
	struct ibv_cq *cq; /* where a completion comes; NULL: nowhere */
	int left;          /* how many come, one at each wait */
	int signals;       /* how many waits end by a signal first */
	int waits, looks;  /* how many waits there were, and looks without waiting */
	uint64_t next;     /* the number of the next completion */
	uint64_t ns;       /* the time, from a clock of its own */
} sleeping;

static void sleep_with(struct ibv_cq *cq, int left)
{
	memset(&sleeping, 0, sizeof(sleeping));
	sleeping.ns = 1000 * MS;
	sleeping.cq = cq;
	sleeping.left = left;
}

static struct ibv_cq *make_cq(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq = NULL;

	tap_eq_int(rdmaez_cq_create(t.ctx, CQE, channel, 0, &cq, NULL), 0, "a queue");
	return cq;
}

static void start(void)
{
	sleep_with(NULL, 0);
	fake_close_all();
	t.dev = fake_reset();
	fake_profile(t.dev, FAKE_PROFILE_RXE);
	t.ctx = fake_open(t.dev);
	t.qp = fake_qp(t.ctx, IBV_QPT_RC);
	fake_qp_force(t.qp, IBV_QPS_RTS);
	t.channel = NULL;
	tap_eq_int(rdmaez_channel_create(t.ctx, &t.channel, NULL), 0, "a channel");
	t.cq = make_cq(t.channel);
	t.other = make_cq(t.channel);
	memset(t.wc, 0x55, sizeof(t.wc));
	memset(&t.batch, 0, sizeof(t.batch));
	t.batch.wc = t.wc;
	t.batch.capacity = ROOM;
	t.batch.count = 99;
	memset(&t.diag, 0x55, sizeof(t.diag));
	t.before = t.diag;
	fake_reset_log();
}

static void push(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	memset(&wc, 0, sizeof(wc));
	wc.wr_id = wr_id;
	wc.status = status;
	wc.qp_num = t.qp->qp_num;
	if (!fake_cq_push(cq, &wc))
		tap_bail("the completion queue is full");
}

/* ---- What happens while it sleeps --------------------------------------------------------- */

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	const struct timespec none = {0, 0};

	if (!timeout) {
		sleeping.looks++;
		return (int)syscall(SYS_ppoll, fds, count, &none, NULL, 0);
	}
	sleeping.waits++;
	if (sleeping.signals) {
		sleeping.signals--;
		sleeping.ns += 1000;
		errno = EINTR;
		return -1;
	}
	if (sleeping.cq && sleeping.left) {
		sleeping.left--;
		push(sleeping.cq, sleeping.next++, IBV_WC_SUCCESS);
	}
	if (syscall(SYS_ppoll, fds, count, &none, NULL, 0) == 1)
		return 1;
	sleeping.ns += (uint64_t)timeout * MS;
	return 0;
}

int clock_gettime(clockid_t id, struct timespec *time)
{
	(void)id;
	sleeping.ns++;
	time->tv_sec = (time_t)(sleeping.ns / (1000 * MS));
	time->tv_nsec = (long)(sleeping.ns % (1000 * MS));
	return 0;
}

static bool is_untouched(void)
{
	return !memcmp(&t.diag, &t.before, sizeof(t.diag));
}

static int wait_for(uint64_t timeout_ns)
{
	return rdmaez_cq_wait(t.cq, t.qp, &t.batch, timeout_ns, &t.diag);
}

/* ---- The simple way ----------------------------------------------------------------------- */

static void check_wait(void)
{
	start();
	rdmaez_cq_destroy(t.other, NULL);
	fake_reset_log();
	sleep_with(t.cq, 0);
	push(t.cq, 7, IBV_WC_SUCCESS);
	tap_eq_int(wait_for(0), 0, "something is there");
	tap_eq_int(t.batch.count, 1, "one");
	tap_eq_int(fake_count(FAKE_ANY), 1, "which takes one call");
	tap_ok(!sleeping.waits && !sleeping.looks, "and no system call");

	sleep_with(t.cq, 1);
	sleeping.signals = 3;
	fake_reset_log();
	tap_eq_int(wait_for(0), 0, "it comes while we sleep");
	tap_eq_int(t.batch.count, 1, "and is there");
	tap_eq_int(t.wc[0].wr_id, 0, "by its number");
	tap_eq_int(sleeping.waits, 4, "a signal does not end the sleep");
	tap_eq_int(fake_count(FAKE_REQ_NOTIFY_CQ), 1, "it was armed once");
	tap_eq_int(fake_count(FAKE_GET_CQ_EVENT), 1, "one event");
	tap_eq_int(fake_last(FAKE_ACK_CQ_EVENTS)->index, 1, "is acknowledged");
	tap_ok(is_untouched(), "no record is written");

	sleep_with(t.cq, 0);
	fake_reset_log();
	tap_eq_int(wait_for(3 * MS), 0, "nothing comes, and nothing was demanded");
	tap_eq_int(t.batch.count, 0, "there is none");
	tap_ok(is_untouched(), "that is nothing to tell of");
	tap_ok(sleeping.ns >= 1003 * MS, "the time is over");
	tap_eq_int(fake_count(FAKE_REQ_NOTIFY_CQ), 1, "it stays armed");
	sleep_with(t.cq, 0);
	tap_eq_int(wait_for(0), 0, "where no time is said");
	tap_ok(sleeping.ns >= 11000 * MS && sleeping.ns < 11010 * MS, "it waits 10 s");
	sleep_with(t.cq, 0);
	fake_reset_log();
	tap_eq_int(wait_for(RDMAEZ_NS_NOW), 0, "now");
	tap_eq_int(fake_count(FAKE_ANY), 1, "is one poll");
	tap_eq_int(sleeping.waits + sleeping.looks, 0, "and no system call");

	/* Armed as it is from before, the queue has an event for what comes now. */
	push(t.cq, 1, IBV_WC_SUCCESS);
	tap_eq_int(wait_for(0), 0, "it comes between two calls");
	sleep_with(t.cq, 1);
	fake_reset_log();
	tap_eq_int(wait_for(0), 0, "its event does no harm to the next");
	tap_eq_int(t.batch.count, 1, "which is waited for");
	tap_eq_int(fake_count(FAKE_GET_CQ_EVENT), 2, "both events are taken");
	tap_eq_int(fake_count(FAKE_ACK_CQ_EVENTS), 2, "and acknowledged");
	tap_eq_int(fake_count(FAKE_REQ_NOTIFY_CQ), 1, "it was armed once");
	tap_eq_int(rdmaez_cq_destroy(t.cq, NULL), 0, "nobody waits for an acknowledgement");
	tap_eq_int(rdmaez_channel_destroy(t.channel, NULL), 0, "and the channel is free");
}

/* A completion that comes after the first look, and before the queue is armed, makes no event. */
static int arm_late(struct ibv_cq *cq, int solicited_only)
{
	push(cq, 5, IBV_WC_SUCCESS);
	cq->context->ops.req_notify_cq = NULL; /* once */
	return solicited_only;
}

static void check_race(void)
{
	start();
	t.ctx->ops.req_notify_cq = arm_late;
	sleep_with(t.cq, 0);
	tap_eq_int(wait_for(0), 0, "it comes just before it is armed");
	tap_eq_int(t.batch.count, 1, "and is found");
	tap_eq_int(sleeping.waits, 0, "without a sleep");
}

static void check_wanted(void)
{
	start();
	sleep_with(t.cq, 5);
	t.batch.want = 5;
	tap_eq_int(wait_for(0), 0, "five are wanted, and come one at a time");
	tap_eq_int(t.batch.count, 5, "all are there");
	for (int i = 0; i < 5; i++)
		tap_eq_int(t.wc[i].wr_id, i, "number %d", i);
	tap_eq_int(fake_count(FAKE_REQ_NOTIFY_CQ), 5, "armed each time");
	tap_eq_int(fake_count(FAKE_ACK_CQ_EVENTS), 5, "and acknowledged");
	sleep_with(t.cq, 3);
	CHECK_VERB_FINDINGS(
		&t.diag, wait_for(20 * MS), ETIMEDOUT, "rdmaez_cq_wait", NULL, "three of five",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_WC_LATE, "count", RDMAEZ_VALUE_NUMBER, 3, 5, ROOM});
	tap_eq_int(t.batch.count, 3, "those are told");
	push(t.cq, 0, IBV_WC_SUCCESS);
	push(t.cq, 1, IBV_WC_LOC_PROT_ERR);
	tap_eq_int(wait_for(0), EIO, "one has failed");
	tap_eq_int(t.batch.count, 2, "both are told");
	tap_eq_str(t.diag.call, "rdmaez_cq_wait", "by this function");
	tap_eq_str(t.diag.status, "IBV_WC_LOC_PROT_ERR", "with its status");
	tap_eq_int(t.diag.wr_id, 1, "and its number");
}

static void check_wait_refused(void)
{
	struct ibv_cq *bare;

	start();
	bare = make_cq(NULL);
	fake_reset_log();
	CHECK_FINDINGS(&t.diag, rdmaez_cq_wait(bare, t.qp, &t.batch, 0, &t.diag), EINVAL,
		       "rdmaez_cq_wait", "a queue without a channel",
		       WRONG(CQ_NO_CHANNEL, "channel"));
	tap_eq_int(fake_count(FAKE_ANY), 0, "is not polled");
	check_refusal(&t.diag, rdmaez_cq_wait(NULL, NULL, &t.batch, 0, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "cq", "no queue");
	check_refusal(&t.diag, rdmaez_cq_wait(t.cq, NULL, NULL, 0, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "batch", "no batch");
	t.batch.want = ROOM + 1;
	check_refusal(&t.diag, wait_for(0), EINVAL, RDMAEZ_WHY_RANGE, "want", "more than room");
	t.batch.want = 0;
	tap_eq_int(rdmaez_cq_wait(NULL, NULL, NULL, 0, NULL), EINVAL, "nothing at all");

	/* The other queue is armed as well. */
	sleep_with(t.other, 1);
	rdmaez_cq_arm(t.other, 0, NULL);
	CHECK_FINDINGS(&t.diag, wait_for(0), EINVAL, "rdmaez_cq_wait", "an event of another queue",
		       WRONG(CQ_OTHER_EVENT, "channel"));
	tap_eq_int(rdmaez_cq_destroy(t.other, NULL), 0, "it is acknowledged all the same");
	t.other = make_cq(t.channel);
	rdmaez_cq_arm(t.other, 0, NULL);
	push(t.other, 1, IBV_WC_SUCCESS);
	sleep_with(NULL, 0);
	CHECK_FINDINGS(&t.diag, wait_for(0), EINVAL, "rdmaez_cq_wait", "one that was there before",
		       WRONG(CQ_OTHER_EVENT, "channel"));
	fake_fail(FAKE_REQ_NOTIFY_CQ, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, wait_for(0), EIO, "rdmaez_cq_wait", "ibv_req_notify_cq",
			    "it cannot be armed", LIKELY(DEVICE_GONE, "ibv_req_notify_cq"));
	sleep_with(t.cq, 1);
	fake_fail(FAKE_GET_CQ_EVENT, 1, -1);
	errno = EBUSY;
	CHECK_VERB_FINDINGS(&t.diag, wait_for(0), EIO, "rdmaez_cq_wait", "ibv_get_cq_event",
			    "the event cannot be read", LIKELY(DEVICE_GONE, "ibv_get_cq_event"));
	fake_fail(FAKE_POLL_CQ, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, wait_for(0), EIO, "rdmaez_cq_wait", "ibv_poll_cq",
			    "it cannot be polled", LIKELY(DEVICE_GONE, "ibv_poll_cq"));
	sleep_with(t.cq, 1);
	fake_fail(FAKE_GET_CQ_EVENT, 1, EINTR);
	tap_eq_int(rdmaez_channel_nonblock(t.channel, NULL), 0, "not blocking");
	tap_eq_int(wait_for(0), 0, "a signal while it is read");
	tap_eq_int(t.batch.count, 1, "does not lose it");
}

/* ---- Event loops -------------------------------------------------------------------------- */

static void check_loop(void)
{
	struct rdmaez_cq_watch watched[2] = {{0}}, *which;
	int taken = 0;

	start();
	watched[0].cq = t.cq;
	watched[1].cq = t.other;
	watched[1].flags = RDMAEZ_CQ_SOLICITED;
	which = &watched[1];
	tap_eq_int(rdmaez_channel_next(t.channel, watched, 2, RDMAEZ_NS_NOW, &which, &t.diag), 0,
		   "nothing has come");
	tap_eq_ptr(which, NULL, "so it is no queue");
	tap_ok(is_untouched(), "and no record");
	tap_eq_int(rdmaez_cq_arm(t.cq, 0, &t.diag), 0, "one is armed");
	tap_eq_int(fake_last(FAKE_REQ_NOTIFY_CQ)->index, 0, "for any");
	tap_eq_int(rdmaez_cq_arm(t.other, RDMAEZ_CQ_SOLICITED, &t.diag), 0, "and the other");
	tap_eq_int(fake_last(FAKE_REQ_NOTIFY_CQ)->index, 1, "for solicited ones");
	tap_ok(is_untouched(), "without a record");

	push(t.other, 0, IBV_WC_SUCCESS);
	tap_eq_int(rdmaez_channel_next(t.channel, watched, 2, RDMAEZ_NS_NOW, &which, NULL), 0,
		   "an unsolicited one");
	tap_eq_ptr(which, NULL, "makes no event");
	push(t.other, 1, IBV_WC_WR_FLUSH_ERR);
	push(t.cq, 2, IBV_WC_SUCCESS);
	push(t.cq, 3, IBV_WC_SUCCESS);
	fake_reset_log();
	tap_eq_int(rdmaez_channel_next(t.channel, watched, 2, RDMAEZ_NS_NOW, &which, NULL), 0,
		   "a failed one does");
	tap_eq_ptr(which, &watched[1], "the other queue");
	tap_eq_int(fake_last(FAKE_REQ_NOTIFY_CQ)->index, 1, "is armed again as it was");
	tap_eq_ptr(fake_last(FAKE_REQ_NOTIFY_CQ)->object, t.other, "itself");
	tap_eq_int(rdmaez_channel_next(t.channel, watched, 2, 0, &which, NULL), 0, "and the first");
	tap_eq_ptr(which, &watched[0], "for both of its completions");
	tap_eq_int(rdmaez_channel_next(t.channel, watched, 2, RDMAEZ_NS_NOW, &which, NULL), 0,
		   "no more");
	tap_eq_ptr(which, NULL, "than these");
	tap_eq_int(fake_count(FAKE_ACK_CQ_EVENTS), 0, "nothing is acknowledged yet");
	tap_eq_int(watched[0].events, 1, "but counted");
	tap_eq_int(rdmaez_cq_destroy(t.cq, NULL), EDEADLK, "so it could not be destroyed");
	rdmaez_cq_ack(&watched[0]);
	tap_eq_int(watched[0].events, 0, "acknowledged");
	rdmaez_cq_ack(&watched[0]);
	tap_eq_int(fake_count(FAKE_ACK_CQ_EVENTS), 1, "once");
	tap_eq_int(rdmaez_cq_destroy(t.cq, NULL), 0, "now it can");

	sleep_with(t.other, 130);
	watched[1].flags = 0;
	fake_reset_log();
	rdmaez_cq_arm(t.other, 0, NULL);
	do {
		t.batch.count = 0;
		tap_eq_int(rdmaez_channel_next(t.channel, &watched[1], 1, MS, &which, NULL), 0,
			   "event %d", taken);
		if (which)
			taken++;
		while (which && !rdmaez_wc_poll(t.other, NULL, &t.batch, NULL) && t.batch.count)
			;
	} while (which);
	tap_eq_int(taken, 130, "one event for each");
	tap_eq_int(fake_count(FAKE_ACK_CQ_EVENTS), 2, "acknowledged 64 at a time");
	tap_eq_int(fake_last(FAKE_ACK_CQ_EVENTS)->index, 64, "as the last says");
	tap_eq_int(watched[1].events, 3, "three are left of 131, one of them from before");
	rdmaez_cq_ack(&watched[1]);
	tap_eq_int(rdmaez_cq_destroy(t.other, NULL), 0, "and then none");
}

static void check_loop_refused(void)
{
	struct rdmaez_cq_watch watch = {0}, *which = NULL;
	struct ibv_comp_channel closed;
	struct ibv_cq *bare;

	start();
	watch.cq = t.cq;
	bare = make_cq(NULL);
	check_refusal(&t.diag, rdmaez_channel_next(NULL, &watch, 1, 0, &which, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "channel", "no channel");
	check_refusal(&t.diag, rdmaez_channel_next(t.channel, NULL, 1, 0, &which, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "watched", "no queues");
	check_refusal(&t.diag, rdmaez_channel_next(t.channel, &watch, 1, 0, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "which", "nowhere to tell");
	tap_eq_str(t.diag.device, t.dev->verbs.name, "the record names the device");
	rdmaez_cq_arm(t.other, 0, NULL);
	push(t.other, 1, IBV_WC_SUCCESS);
	CHECK_FINDINGS(&t.diag,
		       rdmaez_channel_next(t.channel, &watch, 1, RDMAEZ_NS_NOW, &which, &t.diag),
		       EINVAL, "rdmaez_channel_next", "a queue that is not listed",
		       WRONG(CQ_OTHER_EVENT, "watched"));
	tap_eq_ptr(which, NULL, "nothing is written");
	tap_eq_int(rdmaez_cq_destroy(t.other, NULL), 0, "its event is acknowledged");
	rdmaez_cq_arm(t.cq, 0, NULL);
	push(t.cq, 1, IBV_WC_SUCCESS);
	fake_fail(FAKE_REQ_NOTIFY_CQ, 1, ENOMEM);
	tap_eq_int(rdmaez_channel_next(t.channel, &watch, 1, RDMAEZ_NS_NOW, &which, &t.diag),
		   ENOMEM, "it cannot be armed again");
	tap_eq_str(t.diag.verb, "ibv_req_notify_cq", "by this verb");
	tap_eq_int(watch.events, 1, "the event is counted");
	rdmaez_cq_ack(&watch);
	rdmaez_cq_arm(t.cq, 0, NULL);
	push(t.cq, 1, IBV_WC_SUCCESS);
	fake_fail(FAKE_GET_CQ_EVENT, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_channel_next(t.channel, &watch, 1, 0, &which, &t.diag),
			    EIO, "rdmaez_channel_next", "ibv_get_cq_event", "it cannot be read",
			    LIKELY(DEVICE_GONE, "ibv_get_cq_event"));

	CHECK_FINDINGS(&t.diag, rdmaez_cq_arm(bare, 0, &t.diag), EINVAL, "rdmaez_cq_arm",
		       "no event could come", WRONG(CQ_NO_CHANNEL, "channel"));
	check_refusal(&t.diag, rdmaez_cq_arm(NULL, 0, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "cq", "no queue to arm");
	fake_fail(FAKE_REQ_NOTIFY_CQ, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_cq_arm(t.cq, 0, &t.diag), EIO, "rdmaez_cq_arm",
			    "ibv_req_notify_cq", "refused",
			    LIKELY(DEVICE_GONE, "ibv_req_notify_cq"));

	tap_ok(!(fcntl(t.channel->fd, F_GETFL) & O_NONBLOCK), "so far the descriptor blocks");
	check_success(&t.diag, rdmaez_channel_nonblock(t.channel, &t.diag), "unless asked");
	tap_ok(fcntl(t.channel->fd, F_GETFL) & O_NONBLOCK, "then not any more");
	check_refusal(&t.diag, rdmaez_channel_nonblock(NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "channel", "no channel");
	memset(&closed, 0, sizeof(closed));
	closed.context = t.ctx;
	closed.fd = -1;
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_channel_nonblock(&closed, &t.diag), EBADF,
			    "rdmaez_channel_nonblock", "fcntl", "no descriptor",
			    LIKELY(UNEXPLAINED, "fcntl"));
}

/* ---- Extended queues ---------------------------------------------------------------------- */

static struct ibv_cq_ex *make_ex(uint64_t wc_flags)
{
	struct ibv_cq_init_attr_ex init;
	struct ibv_cq_ex *cq = NULL;

	memset(&init, 0, sizeof(init));
	init.cqe = CQE;
	init.wc_flags = wc_flags;
	tap_eq_int(rdmaez_cq_create_ex(t.ctx, &init, &cq, NULL), 0, "an extended queue");
	fake_reset_log();
	return cq;
}

static struct {
	int count;
	uint64_t times;
} completed;

static void note(void *arg, struct ibv_cq_ex *cq, const struct ibv_wc *wc)
{
	completed.count += arg == &completed;
	completed.times += ibv_wc_read_completion_ts(cq) == wc->wr_id + 1000;
}

static void fill(struct ibv_wc *wc, uint64_t wr_id)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = wr_id;
	wc->opcode = IBV_WC_RECV;
	wc->vendor_err = 3;
	wc->byte_len = 44;
	wc->imm_data = htonl(0x01020304);
	wc->qp_num = t.qp->qp_num;
	wc->src_qp = 17;
	wc->wc_flags = IBV_WC_GRH | IBV_WC_WITH_IMM;
	wc->slid = 0x1234;
	wc->sl = 5;
	wc->dlid_path_bits = 6;
}

/* Flags whose fields no member of `struct ibv_wc` has. */
#define BEYOND                                                                                  \
	(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG | \
	 IBV_WC_EX_WITH_TM_INFO | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static void check_ex(void)
{
	struct rdmaez_cq_ex_opts opts = {0};
	struct ibv_cq_ex *cq;
	struct ibv_wc wc;

	start();
	cq = make_ex(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	opts.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	opts.completed = note;
	opts.arg = &completed;
	tap_eq_int(rdmaez_cq_poll_ex(cq, t.qp, &opts, &t.batch, &t.diag), 0, "it is empty");
	tap_eq_int(t.batch.count, 0, "there is none");
	tap_eq_int(fake_count(FAKE_ANY), 1, "one call");
	for (uint64_t i = 0; i <= ROOM; i++) {
		fill(&wc, i);
		fake_cq_push(ibv_cq_ex_to_cq(cq), &wc);
	}
	fake_reset_log();
	tap_eq_int(rdmaez_cq_poll_ex(cq, t.qp, &opts, &t.batch, &t.diag), 0, "more than fit");
	tap_eq_int(t.batch.count, ROOM, "as many as fit");
	for (uint64_t i = 0; i < ROOM; i++) {
		fill(&wc, i);
		tap_ok(!memcmp(&t.wc[i], &wc, sizeof(wc)), "all of number %d", (int)i);
	}
	tap_eq_int(completed.count, ROOM, "each is handed over");
	tap_eq_int(completed.times, ROOM, "while its time can be read");
	tap_eq_int(fake_count(FAKE_START_POLL), ROOM, "the next is not begun");
	tap_eq_int(fake_count(FAKE_END_POLL), ROOM, "each is ended");
	tap_eq_int(rdmaez_cq_poll_ex(cq, t.qp, &opts, &t.batch, NULL), 0, "what is left");
	tap_eq_int(t.batch.count, 1, "is one");
	tap_eq_int(t.wc[0].wr_id, ROOM, "the last");
	tap_ok(is_untouched(), "no record is written");

	fill(&wc, 1);
	wc.wc_flags = IBV_WC_WITH_INV;
	wc.invalidated_rkey = 0x77;
	fake_cq_push(ibv_cq_ex_to_cq(cq), &wc);
	fill(&wc, 2);
	wc.wc_flags = 0;
	fake_cq_push(ibv_cq_ex_to_cq(cq), &wc);
	tap_eq_int(rdmaez_cq_poll_ex(cq, t.qp, &opts, &t.batch, NULL), 0, "two");
	tap_eq_hex(t.wc[0].invalidated_rkey, 0x77, "one has a key that is not valid any more");
	tap_eq_hex(t.wc[1].imm_data, 0, "one no immediate data");

	cq = make_ex(IBV_WC_EX_WITH_IMM);
	opts.wc_flags = 0;
	opts.completed = NULL;
	fill(&wc, 3);
	fake_cq_push(ibv_cq_ex_to_cq(cq), &wc);
	fake_cq_push(ibv_cq_ex_to_cq(cq), &wc);
	fake_cq_push(ibv_cq_ex_to_cq(cq), &wc);
	t.batch.capacity = 1;
	tap_eq_int(rdmaez_cq_poll_ex(cq, t.qp, NULL, &t.batch, NULL), 0, "without options");
	tap_eq_int(t.wc[0].qp_num, t.qp->qp_num, "the number is the queue pair's");
	tap_eq_int(t.wc[0].byte_len, 0, "nothing else is read");
	tap_eq_int(t.wc[0].imm_data, 0, "not even what is there");
	tap_eq_int(t.wc[0].opcode, IBV_WC_RECV, "but the opcode");
	tap_eq_hex(t.wc[0].wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM, "and the flags");
	tap_eq_int(rdmaez_cq_poll_ex(cq, NULL, &opts, &t.batch, NULL), 0, "and no queue pair");
	tap_eq_int(t.wc[0].qp_num, 0, "there is no number");
	opts.wc_flags = IBV_WC_STANDARD_FLAGS;
	fake_reset_log();
	CHECK_FINDINGS(&t.diag, rdmaez_cq_poll_ex(cq, t.qp, &opts, &t.batch, &t.diag), EINVAL,
		       "rdmaez_cq_poll_ex", "flags that it was not created with",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CQ_EX_FLAGS, "opts.wc_flags",
			RDMAEZ_VALUE_FLAGS, IBV_WC_STANDARD_FLAGS & ~IBV_WC_EX_WITH_IMM, 0,
			IBV_WC_STANDARD_FLAGS});
	opts.wc_flags = BEYOND | UINT64_C(1) << 40; /* the last is newer than rdmaez */
	CHECK_FINDINGS(&t.diag, rdmaez_cq_poll_ex(cq, t.qp, &opts, &t.batch, &t.diag), EINVAL,
		       "rdmaez_cq_poll_ex", "nor those that only the program reads",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CQ_EX_FLAGS, "opts.wc_flags",
			RDMAEZ_VALUE_FLAGS, BEYOND, 0, BEYOND | INT64_C(1) << 40});
	tap_eq_int(fake_count(FAKE_ANY), 0, "nothing is polled");
	tap_eq_int(fake_misused(), 0, "nothing was read between");
}

static void check_ex_failed(void)
{
	struct rdmaez_cq_ex_opts opts = {0};
	struct ibv_cq_ex *cq;
	struct ibv_wc wc;

	start();
	cq = make_ex(IBV_WC_STANDARD_FLAGS);
	opts.wc_flags = IBV_WC_STANDARD_FLAGS;
	fill(&wc, 0);
	fake_cq_push(ibv_cq_ex_to_cq(cq), &wc);
	fill(&wc, 1);
	wc.status = IBV_WC_LOC_PROT_ERR;
	fake_cq_push(ibv_cq_ex_to_cq(cq), &wc);
	tap_eq_int(rdmaez_cq_poll_ex(cq, t.qp, &opts, &t.batch, &t.diag), EIO, "one has failed");
	tap_eq_int(t.batch.count, 2, "both are told");
	tap_eq_str(t.diag.call, "rdmaez_cq_poll_ex", "by this function");
	tap_eq_str(t.diag.status, "IBV_WC_LOC_PROT_ERR", "the error is explained");
	tap_eq_int(t.diag.vendor_err, 3, "with the vendor's number");
	tap_ok(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_WC_LKEY) != NULL, "and its causes");
	tap_eq_hex(t.wc[1].wc_flags, 0, "what is not valid");
	tap_eq_int((int)t.wc[1].opcode, 0, "is not read");
	tap_eq_int(t.wc[1].byte_len, 0, "at all");
	fake_fail(FAKE_START_POLL, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_cq_poll_ex(cq, t.qp, &opts, &t.batch, &t.diag), EIO,
			    "rdmaez_cq_poll_ex", "ibv_start_poll", "it cannot begin",
			    LIKELY(DEVICE_GONE, "ibv_start_poll"));
	tap_eq_int(t.batch.count, 0, "there is none");
	tap_eq_int(fake_misused(), 0, "and nothing to end");
	fill(&wc, 2);
	fake_cq_push(ibv_cq_ex_to_cq(cq), &wc);
	fake_fail(FAKE_START_POLL, 2, EIO);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_cq_poll_ex(cq, t.qp, &opts, &t.batch, &t.diag), EIO,
			    "rdmaez_cq_poll_ex", "ibv_start_poll", "it cannot go on",
			    LIKELY(DEVICE_GONE, "ibv_start_poll"));
	tap_eq_int(t.batch.count, 1, "the one before is told");
	tap_eq_int(fake_misused(), 0, "and it is ended");
	check_refusal(&t.diag, rdmaez_cq_poll_ex(NULL, t.qp, &opts, &t.batch, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "cq", "no queue");
	tap_eq_int(t.batch.count, 0, "the count is told all the same");
	check_refusal(&t.diag, rdmaez_cq_poll_ex(cq, t.qp, &opts, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "batch", "no batch");
	t.batch.capacity = 0;
	check_refusal(&t.diag, rdmaez_cq_poll_ex(cq, t.qp, &opts, &t.batch, &t.diag), EINVAL,
		      RDMAEZ_WHY_RANGE, "capacity", "no room");
	tap_eq_int(rdmaez_cq_poll_ex(NULL, NULL, NULL, NULL, NULL), EINVAL, "nothing at all");
}

int main(void)
{
	check_wait();
	check_race();
	check_wanted();
	check_wait_refused();
	check_loop();
	check_loop_refused();
	check_ex();
	check_ex_failed();
	fake_close_all();
	return tap_done();
}
