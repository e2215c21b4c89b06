/* SPDX-License-Identifier: MIT */
/* The objects of a program with one queue pair: opened, closed, and nothing kept of what failed on the way. */
#include "check.h"
#include "findings.h"

static uint8_t buffer[4096];

static struct {
	struct fake_device *dev;
	struct rdmaez_simple_opts opts;
	struct rdmaez_simple simple;
	struct rdmaez_diag diag;
} t;

static void start(void)
{
	memset(&t, 0, sizeof(t));
	t.dev = fake_reset();
	t.dev->attr.orig_attr.vendor_id = 0xffffff; /* rxe */
	t.opts.buffer = buffer;
	t.opts.length = sizeof(buffer);
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

static int open_simple(void)
{
	return rdmaez_simple_open(NULL, &t.opts, &t.simple, &t.diag);
}

static bool is_empty(const struct rdmaez_simple *simple)
{
	const struct rdmaez_simple none = {0};

	return memcmp(simple, &none, sizeof(none)) == 0;
}

static struct ibv_qp_cap cap_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init = {0};
	struct ibv_qp_attr attr;

	ibv_query_qp(qp, &attr, IBV_QP_CAP, &init);
	return init.cap;
}

/* ---- Opening ------------------------------------------------------------------------------ */

static void check_defaults(void)
{
	struct ibv_qp_init_attr init = {0};
	struct ibv_qp_attr attr;

	start();
	check_success(&t.diag, rdmaez_simple_open(NULL, NULL, &t.simple, &t.diag),
		      "without options");
	tap_ok(t.simple.context && t.simple.pd && t.simple.send_cq && t.simple.recv_cq,
	       "there is a device, a protection domain and two completion queues");
	tap_eq_ptr(t.simple.mr, NULL, "without a buffer there is no memory region");
	tap_eq_int(fake_count(FAKE_ALLOC_PD), 1, "one protection domain");
	tap_eq_int(fake_count(FAKE_CREATE_CQ), 2, "two completion queues");
	tap_eq_int(fake_count(FAKE_REG_MR), 0, "nothing is registered");
	tap_eq_int(fake_count(FAKE_CREATE_QP), 1, "one queue pair");
	tap_eq_int(t.simple.qp->qp_type, IBV_QPT_RC, "of type RC");
	tap_eq_int(t.simple.qp->state, IBV_QPS_RESET, "in RESET");
	tap_eq_ptr(t.simple.qp->pd, t.simple.pd, "in the protection domain");
	tap_eq_ptr(t.simple.qp->send_cq, t.simple.send_cq, "whose sends complete in one queue");
	tap_eq_ptr(t.simple.qp->recv_cq, t.simple.recv_cq, "and its receives in the other");
	tap_ok(t.simple.send_cq != t.simple.recv_cq, "which are two");
	ibv_query_qp(t.simple.qp, &attr, IBV_QP_CAP, &init);
	tap_eq_int(init.cap.max_send_wr, 65, "64 sends, and one to drain it");
	tap_eq_int(init.cap.max_recv_wr, 65, "64 receives, and one to drain it");
	tap_eq_int(init.cap.max_send_sge, 1, "of one SGE");
	tap_eq_int(init.cap.max_recv_sge, 1, "on both sides");
	tap_eq_int(init.cap.max_inline_data, 0, "no inline data");
	tap_eq_int(init.sq_sig_all, 1, "every send completes");
	tap_eq_int(t.simple.send_cq->cqe, 65, "each of which has room in its queue");
	tap_eq_int(t.simple.recv_cq->cqe, 65, "as has each receive");
	check_success(&t.diag, rdmaez_simple_close(&t.simple, &t.diag), "all is closed");
	tap_ok(is_empty(&t.simple), "and every member is NULL");
	tap_eq_int(fake_open_count(), 0, "nothing is left");
}

static void check_options(void)
{
	struct ibv_qp_init_attr init = {0};
	struct ibv_qp_attr attr;
	struct ibv_qp_cap cap;

	start();
	t.opts.sends = 7;
	t.opts.recvs = RDMAEZ_ZERO;
	t.opts.sges = 3;
	t.opts.inline_data = 64;
	t.opts.qp_type = IBV_QPT_UD;
	t.opts.flags = RDMAEZ_SIMPLE_UNSIGNALED;
	check_success(&t.diag, rdmaez_simple_open("fake0", &t.opts, &t.simple, &t.diag),
		      "with options, by name");
	cap = cap_of(t.simple.qp);
	ibv_query_qp(t.simple.qp, &attr, IBV_QP_CAP, &init);
	tap_eq_int(t.simple.qp->qp_type, IBV_QPT_UD, "the type asked for");
	tap_eq_int(cap.max_send_wr, 8, "as many sends, and one more");
	tap_eq_int(cap.max_recv_wr, 1, "no receive but the last");
	tap_eq_int(cap.max_send_sge, 3, "as many SGEs of a send");
	tap_eq_int(cap.max_recv_sge, 3, "as many SGEs of a receive");
	tap_eq_int(cap.max_inline_data, 64, "as much inline data");
	tap_eq_int(init.sq_sig_all, 0, "sends complete where they ask for it");
	tap_eq_int(t.simple.send_cq->cqe, 8, "room for them");
	tap_eq_int(t.simple.recv_cq->cqe, 1, "and for that receive");
	tap_eq_ptr(t.simple.mr->addr, buffer, "the buffer is registered");
	tap_eq_int(t.simple.mr->length, sizeof(buffer), "all of it");
	tap_eq_ptr(t.simple.mr->pd, t.simple.pd, "in the protection domain");
	tap_eq_int(rdmaez_simple_close(&t.simple, NULL), 0, "closed without a record");
	tap_eq_int(fake_open_count(), 0, "nothing is left");

	start();
	t.opts.access = IBV_ACCESS_REMOTE_WRITE;
	check_refusal(&t.diag, open_simple(), EINVAL, RDMAEZ_WHY_MR_LOCAL_WRITE, "access",
		      "the access flags are those of the region");
	t.opts.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
	tap_eq_int(open_simple(), 0, "and taken as they are");
	rdmaez_simple_close(&t.simple, NULL);
	t.opts.access = RDMAEZ_ZERO;
	tap_eq_int(open_simple(), 0, "none may be asked for");
	rdmaez_simple_close(&t.simple, NULL);

	start();
	t.opts.sends = (uint32_t)t.dev->attr.orig_attr.max_cqe;
	CHECK_VERB_FINDINGS(&t.diag, open_simple(), EINVAL, "rdmaez_cq_create", "ibv_create_cq",
			    "more sends than a completion queue can hold",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CAP_LIMIT, "cqe", RDMAEZ_VALUE_NUMBER,
			     t.opts.sends + 1, 1, t.opts.sends});
	tap_eq_int(fake_open_count(), 0, "nothing is left");
}

/* What a server shares among its queue pairs. */
static void check_shared(void)
{
	static const enum fake_verb order[] = {
		FAKE_DESTROY_QP,      FAKE_DEREG_MR,   FAKE_DESTROY_SRQ, FAKE_DESTROY_CQ,
		FAKE_DESTROY_CHANNEL, FAKE_DEALLOC_PD, FAKE_CLOSE_DEVICE};
	struct ibv_qp_init_attr_ex init_ex;
	struct ibv_qp_init_attr init;
	struct ibv_srq_attr shared;
	struct ibv_qp *qp;
	unsigned int calls;

	start();
	t.opts.flags = RDMAEZ_SIMPLE_CHANNEL | RDMAEZ_SIMPLE_SRQ;
	t.opts.recvs = 40;
	t.opts.sges = 2;
	t.opts.send_ops = IBV_QP_EX_WITH_RDMA_WRITE;
	check_success(&t.diag, open_simple(), "all that there is");
	tap_eq_ptr(t.simple.send_cq, t.simple.recv_cq, "one completion queue");
	tap_eq_int(t.simple.send_cq->cqe, 65 + 41, "for both sides");
	tap_eq_ptr(t.simple.send_cq->channel, t.simple.channel, "on the channel");
	tap_ok(t.simple.channel != NULL, "which is there");
	tap_eq_ptr(t.simple.qp->srq, t.simple.srq, "receives are taken from the shared queue");
	ibv_query_srq(t.simple.srq, &shared);
	tap_eq_int(shared.max_wr, 40, "of as many as asked for");
	tap_eq_int(shared.max_sge, 2, "and as many SGEs");
	tap_ok(ibv_qp_to_qp_ex(t.simple.qp) != NULL, "it is an extended queue pair");
	rdmaez_simple_init_attr(&t.simple, &t.opts, &init);
	tap_eq_ptr(init.srq, t.simple.srq, "another one would share it");
	qp = ibv_create_qp(t.simple.pd, &init);
	tap_ok(qp && qp->send_cq == t.simple.send_cq, "and the completion queue");
	ibv_destroy_qp(qp);
	rdmaez_simple_init_attr_ex(&t.simple, &t.opts, &init_ex);
	tap_eq_hex(init_ex.comp_mask, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		   "an extended one as well");
	tap_eq_hex((unsigned int)init_ex.send_ops_flags, IBV_QP_EX_WITH_RDMA_WRITE,
		   "for these operations");
	tap_eq_ptr(init_ex.pd, t.simple.pd, "in the protection domain");
	tap_eq_ptr(init_ex.srq, t.simple.srq, "with the shared queue");
	tap_eq_int(memcmp(&init_ex.cap, &init.cap, sizeof(init.cap)), 0, "of the same size");
	tap_eq_int(init_ex.sq_sig_all, 1, "every send completes");
	fake_reset_log();
	check_success(&t.diag, rdmaez_simple_close(&t.simple, &t.diag), "all is closed");
	tap_eq_int(fake_count(FAKE_ANY), COUNT_OF(order), "by a call for each object");
	for (unsigned int i = 0; i < COUNT_OF(order); i++)
		tap_eq_str(fake_verb_str(fake_nth(i + 1)->verb), fake_verb_str(order[i]), "call %u",
			   i + 1);
	tap_ok(is_empty(&t.simple), "every member is NULL");
	tap_eq_int(fake_open_count(), 0, "nothing is left");

	start();
	t.opts.flags = RDMAEZ_SIMPLE_ONE_CQ | RDMAEZ_SIMPLE_NO_QP;
	t.opts.cqes = 1000;
	check_success(&t.diag, open_simple(), "without a queue pair");
	tap_eq_ptr(t.simple.qp, NULL, "there is none");
	tap_eq_int(t.simple.send_cq->cqe, 1000, "but room for the completions of many");
	tap_eq_ptr(t.simple.channel, NULL, "no channel");
	tap_eq_ptr(t.simple.srq, NULL, "no shared receive queue");
	tap_eq_int(fake_count(FAKE_CREATE_CQ), 1, "one completion queue");
	rdmaez_simple_init_attr_ex(&t.simple, NULL, &init_ex);
	tap_eq_hex(init_ex.comp_mask, IBV_QP_INIT_ATTR_PD, "without operations");
	tap_eq_int(rdmaez_simple_close(&t.simple, NULL), 0, "closed");
	tap_eq_int(fake_open_count(), 0, "nothing is left");

	/* Whichever call it is. */
	start();
	t.opts.flags = RDMAEZ_SIMPLE_CHANNEL | RDMAEZ_SIMPLE_SRQ;
	open_simple();
	calls = fake_count(FAKE_ANY);
	rdmaez_simple_close(&t.simple, NULL);
	for (unsigned int nth = 1; nth <= calls; nth++) {
		start();
		t.opts.flags = RDMAEZ_SIMPLE_CHANNEL | RDMAEZ_SIMPLE_SRQ;
		fake_fail(FAKE_ANY, nth, ENOMEM);
		if (open_simple() == 0)
			rdmaez_simple_close(&t.simple, NULL);
		tap_eq_int(fake_open_count(), 0, "call %u of %u fails, with nothing left", nth,
			   calls);
	}
	start();
	t.opts.flags = 0x60;
	CHECK_FINDINGS(&t.diag, open_simple(), EINVAL, "rdmaez_simple_open", "unknown flags",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_OPTION_UNKNOWN, "opts.flags",
			RDMAEZ_VALUE_FLAGS, 0x60, 0, 0x1f});
	tap_eq_int(fake_count(FAKE_ANY), 0, "are refused at once");
}

/* ---- Failing ------------------------------------------------------------------------------ */

static const struct {
	enum fake_verb verb;
	unsigned int nth;
	const char *call;
	enum rdmaez_why why;
	const char *field;
	int error;
} steps[] = {
	{FAKE_ALLOC_PD, 1, "rdmaez_pd_alloc", RDMAEZ_WHY_NO_RESOURCES, "ibv_alloc_pd", ENOSPC},
	{FAKE_ALLOC_PD, 1, "rdmaez_pd_alloc", RDMAEZ_WHY_UNEXPLAINED, "ibv_alloc_pd", EPERM},
	{FAKE_CREATE_CQ, 1, "rdmaez_cq_create", RDMAEZ_WHY_TIMED_OUT, "ibv_create_cq", ETIMEDOUT},
	{FAKE_CREATE_CQ, 2, "rdmaez_cq_create", RDMAEZ_WHY_TIMED_OUT, "ibv_create_cq", ETIMEDOUT},
	{FAKE_REG_MR, 1, "rdmaez_mr_reg", RDMAEZ_WHY_DEVICE_GONE, "ibv_reg_mr", EIO},
	{FAKE_CREATE_QP, 1, "rdmaez_qp_create", RDMAEZ_WHY_TIMED_OUT, "ibv_create_qp", ETIMEDOUT},
};

static void check_failures(void)
{
	unsigned int calls;

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		const char *verb = fake_verb_str(steps[i].verb);

		start();
		fake_fail(steps[i].verb, steps[i].nth, steps[i].error);
		CHECK_VERB_FINDINGS(&t.diag, open_simple(), steps[i].error, steps[i].call, verb,
				    verb,
				    {RDMAEZ_DIAG_LIKELY, steps[i].why, steps[i].field,
				     RDMAEZ_VALUE_NONE, 0, 0, 0});
		tap_eq_str(t.diag.device, "fake0", "the record names the device");
		tap_ok(is_empty(&t.simple), "nothing is written");
		tap_eq_int(fake_open_count(), 0, "and nothing left");
		fake_fail(steps[i].verb, steps[i].nth, steps[i].error);
		tap_eq_int(rdmaez_simple_open(NULL, &t.opts, &t.simple, NULL), steps[i].error,
			   "the same without a record");
		tap_eq_int(fake_open_count(), 0, "with nothing left");
	}

	start();
	tap_eq_int(rdmaez_simple_open("none", &t.opts, &t.simple, &t.diag), ENODEV,
		   "no such device");
	tap_ok(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_DEVICE_NAME), "as the record says");
	tap_eq_str(t.diag.call, "rdmaez_device_open", "which the record tells of opening it");
	tap_ok(is_empty(&t.simple), "nothing is written");

	/* Whichever call it is. */
	start();
	tap_eq_int(open_simple(), 0, "how many calls it takes");
	calls = fake_count(FAKE_ANY);
	rdmaez_simple_close(&t.simple, NULL);
	for (unsigned int nth = 1; nth <= calls; nth++) {
		start();
		fake_fail(FAKE_ANY, nth, ENOMEM);
		if (open_simple() ==
		    0) { /* a question about the port: the device is opened anyway */
			rdmaez_simple_close(&t.simple, NULL);
			tap_eq_int(t.diag.error, 0, "call %u of %u may fail", nth, calls);
		} else {
			tap_eq_int(t.diag.error, ENOMEM, "call %u of %u fails", nth, calls);
			tap_ok(is_empty(&t.simple), "nothing is written");
		}
		tap_eq_int(fake_open_count(), 0, "and nothing left");
	}
}

/* ---- Closing ------------------------------------------------------------------------------ */

static void check_order(void)
{
	static const enum fake_verb order[] = {FAKE_DESTROY_QP, FAKE_DEREG_MR,   FAKE_DESTROY_CQ,
					       FAKE_DESTROY_CQ, FAKE_DEALLOC_PD, FAKE_CLOSE_DEVICE};

	start();
	tap_eq_int(open_simple(), 0, "all is open");
	fake_reset_log();
	tap_eq_int(rdmaez_simple_close(&t.simple, &t.diag), 0, "and closed");
	tap_eq_int(fake_count(FAKE_ANY), COUNT_OF(order), "by a call for each object");
	for (unsigned int i = 0; i < COUNT_OF(order); i++)
		tap_eq_str(fake_verb_str(fake_nth(i + 1)->verb), fake_verb_str(order[i]), "call %u",
			   i + 1);
	tap_eq_int(rdmaez_simple_close(&t.simple, &t.diag), 0, "closing twice does nothing");
	tap_eq_int(fake_count(FAKE_ANY), COUNT_OF(order), "by no call");
}

/* One after another refuses; what is before it is gone, what is after it stays, and the next call goes on. */
static void check_refusals(void)
{
	static const struct {
		enum fake_verb verb;
		const char *call, *field;
		enum rdmaez_why why;
	} ends[] = {
		{FAKE_DESTROY_QP, "rdmaez_simple_close", "qp", RDMAEZ_WHY_QP_MULTICAST},
		{FAKE_DEREG_MR, "rdmaez_mr_dereg", "mr", RDMAEZ_WHY_MR_IN_USE},
		{FAKE_DESTROY_CQ, "rdmaez_cq_destroy", "cq", RDMAEZ_WHY_CQ_IN_USE},
		{FAKE_DESTROY_CQ, "rdmaez_cq_destroy", "cq", RDMAEZ_WHY_CQ_IN_USE},
		{FAKE_DEALLOC_PD, "rdmaez_pd_dealloc", "pd", RDMAEZ_WHY_PD_IN_USE},
		{FAKE_CLOSE_DEVICE, "rdmaez_device_close", "context", RDMAEZ_WHY_BUSY},
	};
	int left;

	start();
	open_simple();
	left = fake_open_count();
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		/* Of the two queues the second time: after the first has gone. */
		fake_fail(ends[i].verb, i == 3 ? 2 : 1, EBUSY);
		CHECK_VERB_FINDINGS(&t.diag, rdmaez_simple_close(&t.simple, &t.diag), EBUSY,
				    ends[i].call, fake_verb_str(ends[i].verb),
				    fake_verb_str(ends[i].verb),
				    {RDMAEZ_DIAG_LIKELY, ends[i].why, ends[i].field,
				     RDMAEZ_VALUE_NONE, 0, 0, 0});
		tap_eq_int(fake_open_count(), left - (int)i, "what comes after stays");
	}
	tap_ok(!t.simple.qp && !t.simple.mr && !t.simple.recv_cq && !t.simple.send_cq &&
		       !t.simple.pd && t.simple.context,
	       "only the device is left");
	tap_eq_int(rdmaez_simple_close(&t.simple, NULL), 0, "and it can be closed");
	tap_eq_int(fake_open_count(), 0, "nothing is left");

	start();
	open_simple();
	fake_fail(FAKE_DESTROY_QP, 1, EIO);
	check_refusal(&t.diag, rdmaez_simple_close(&t.simple, &t.diag), EIO, RDMAEZ_WHY_DEVICE_GONE,
		      "ibv_destroy_qp", "the device is gone");
	tap_eq_int(t.diag.qp_num, t.simple.qp->qp_num, "the record tells the queue pair");
	tap_eq_str(t.diag.device, "fake0", "and the device");
	rdmaez_simple_close(&t.simple, NULL);
}

/* An object of the program's own keeps the protection domain; and parts that are not there, or other ones. */
static void check_parts(void)
{
	struct ibv_context *context;
	struct ibv_mr *other;
	struct ibv_qp *qp;

	start();
	open_simple();
	other = ibv_reg_mr(t.simple.pd, buffer, 16, 0);
	check_refusal(&t.diag, rdmaez_simple_close(&t.simple, &t.diag), EBUSY, RDMAEZ_WHY_PD_IN_USE,
		      "pd", "another region holds the protection domain");
	tap_ok(!t.simple.qp && !t.simple.mr && !t.simple.send_cq && !t.simple.recv_cq,
	       "what comes before it is gone");
	ibv_dereg_mr(other);
	check_success(&t.diag, rdmaez_simple_close(&t.simple, &t.diag), "then not any more");
	tap_eq_int(fake_open_count(), 0, "nothing is left");

	start();
	open_simple();
	qp = t.simple.qp;
	t.simple.qp = NULL;
	tap_eq_int(rdmaez_simple_close(&t.simple, &t.diag), EBUSY, "a queue pair was taken out");
	tap_eq_str(t.diag.call, "rdmaez_cq_destroy", "and still needs the completion queues");
	tap_ok(!t.simple.mr && t.simple.recv_cq, "which stay");
	ibv_destroy_qp(qp);
	tap_eq_int(rdmaez_simple_close(&t.simple, &t.diag), 0, "until it is gone");
	tap_eq_int(fake_open_count(), 0, "nothing is left");

	start();
	open_simple();
	ibv_destroy_qp(t.simple.qp);
	ibv_destroy_cq(t.simple.recv_cq);
	t.simple.qp = NULL;
	t.simple.recv_cq = t.simple.send_cq;
	tap_eq_int(rdmaez_simple_close(&t.simple, &t.diag), 0, "one queue in both places");
	tap_eq_int(fake_open_count(), 0, "is destroyed once");

	start();
	open_simple();
	context = t.simple.context;
	t.simple.context = NULL;
	tap_eq_int(rdmaez_simple_close(&t.simple, &t.diag), 0, "a device was taken out");
	tap_eq_int(fake_open_count(), 1, "and stays open");
	ibv_close_device(context);
}

/* A queue pair that has failed, replaced by one of the same kind. */
static void check_recovery(void)
{
	const struct rdmaez_simple_opts opts = {.sends = 5, .recvs = 9, .sges = 2};
	struct ibv_qp_init_attr init;
	struct rdmaez_recover_opts recover = {0};
	struct rdmaez_endpoint local;
	struct ibv_qp_cap cap;
	uint32_t number;

	start();
	fake_profile(t.dev, FAKE_PROFILE_IRDMA); /* which cannot use a queue pair again */
	tap_eq_int(rdmaez_simple_open(NULL, &opts, &t.simple, NULL), 0, "all is open");
	cap = cap_of(t.simple.qp);
	number = t.simple.qp->qp_num;
	rdmaez_simple_init_attr(&t.simple, &opts, &init);
	tap_eq_ptr(init.send_cq, t.simple.send_cq, "another one would complete its sends");
	tap_eq_ptr(init.recv_cq, t.simple.recv_cq, "and its receives in the same queues");
	tap_eq_int(init.sq_sig_all, 1, "every send, as no option says otherwise");
	recover.init_attr = &init;
	recover.drain.flags = RDMAEZ_DRAIN_ANYWAY | RDMAEZ_DRAIN_DISCARD;
	tap_eq_int(rdmaez_qp_connect_loopback(t.simple.qp, t.simple.qp, NULL, NULL), 0,
		   "connected");
	tap_eq_int(rdmaez_qp_recover(&t.simple.qp, &recover, &local, NULL, &t.diag), 0,
		   "and recovered");
	tap_ok(t.simple.qp->qp_num != number, "by another queue pair");
	tap_eq_int(cap_of(t.simple.qp).max_send_wr, cap.max_send_wr, "of the same size");
	tap_eq_int(cap_of(t.simple.qp).max_recv_wr, cap.max_recv_wr, "on both sides");
	tap_eq_int(cap_of(t.simple.qp).max_send_sge, cap.max_send_sge, "with as many SGEs");
	tap_eq_ptr(t.simple.qp->send_cq, t.simple.send_cq, "and the same completion queues");
	tap_eq_ptr(t.simple.qp->recv_cq, t.simple.recv_cq, "for both");
	tap_eq_int(rdmaez_simple_close(&t.simple, NULL), 0, "which is closed like the first");
	tap_eq_int(fake_open_count(), 0, "nothing is left");
}

static void check_null(void)
{
	start();
	check_refusal(&t.diag, rdmaez_simple_open(NULL, NULL, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "simple", "nowhere to open into");
	tap_eq_str(t.diag.call, "rdmaez_simple_open", "the record names our function");
	check_refusal(&t.diag, rdmaez_simple_close(NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "simple", "nothing to close");
	tap_eq_str(t.diag.call, "rdmaez_simple_close", "the record names our function");
	tap_eq_int(rdmaez_simple_open(NULL, NULL, NULL, NULL), EINVAL, "without a record");
	tap_eq_int(rdmaez_simple_close(NULL, NULL), EINVAL, "without a record");
	check_success(&t.diag, rdmaez_simple_close(&t.simple, &t.diag), "nothing is open");
	tap_eq_int(fake_count(FAKE_ANY), 0, "so nothing is done");
}

int main(void)
{
	check_defaults();
	check_options();
	check_shared();
	check_failures();
	check_order();
	check_refusals();
	check_parts();
	check_recovery();
	check_null();
	return tap_done();
}
