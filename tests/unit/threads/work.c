/* SPDX-License-Identifier: MIT */
/* A thread's life with two queue pairs, from opening to closing, through a refusal and a failure. */
#include <stdio.h>
#include <string.h>

#include "fake_verbs.h"
#include "work.h"

#ifdef RDMAEZ_EXTERN
#define WORK work_extern
#else
#define WORK work_inline
#endif

/* Counts what is not so, and keeps the first. */
#define MUST(condition) ((condition) ? true : wrong(worker, #condition))

static bool wrong(struct worker *worker, const char *what)
{
	if (!worker->wrong++)
		worker->what = what;
	return false;
}

struct round {
	struct worker *worker;
	struct rdmaez_simple *simple;
	struct rdmaez_simple own;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];
	struct ibv_qp_init_attr init;
	struct ibv_mr *mr;
	struct rdmaez_diag diag;
	char text[16384];
};

static void bring_up(struct round *r)
{
	struct worker *const worker = r->worker;
	struct ibv_qp_init_attr init;

	r->simple = &worker->shared->simple;
	if (worker->number >= SHARING) {
		const struct rdmaez_simple_opts opts = {.flags = RDMAEZ_SIMPLE_NO_QP};

		r->simple = &r->own;
		MUST(!rdmaez_simple_open(NULL, &opts, r->simple, &r->diag));
	}
	MUST(!rdmaez_channel_create(r->simple->context, &r->channel, &r->diag));
	MUST(!rdmaez_cq_create(r->simple->context, 64, r->channel, 0, &r->cq, &r->diag));
	rdmaez_simple_init_attr(r->simple, NULL, &r->init);
	r->init.send_cq = r->init.recv_cq = r->cq;
	for (int i = 0; i < 2; i++) {
		init = r->init;
		MUST(!rdmaez_qp_create(r->simple->pd, &init, &r->qp[i], &r->diag));
	}
	MUST(!rdmaez_mr_reg(r->simple->pd, worker->buffer, sizeof(worker->buffer),
			    IBV_ACCESS_LOCAL_WRITE, &r->mr, &r->diag));
}

/* Each end packs its endpoint, and the other unpacks it. */
static void connect_both(struct round *r)
{
	struct worker *const worker = r->worker;
	const struct rdmaez_qp_opts opts = {.access = IBV_ACCESS_REMOTE_WRITE};
	struct rdmaez_endpoint local[2], remote[2];
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
	struct rdmaez_qp_opts agreed = {0};

	for (int i = 0; i < 2; i++) {
		MUST(!rdmaez_endpoint_local(r->qp[i], &opts, &local[i], &r->diag));
		MUST(!rdmaez_endpoint_pack(&local[i], bytes));
		MUST(!rdmaez_endpoint_unpack(bytes, &remote[i], &r->diag));
	}
	for (int i = 0; i < 2; i++) {
		MUST(!rdmaez_endpoint_negotiate(&local[i], &remote[1 - i], &opts, &agreed,
						&r->diag));
		MUST(agreed.dest_qp_num == r->qp[1 - i]->qp_num);
		MUST(!rdmaez_qp_connect(r->qp[i], &local[i], &remote[1 - i], &opts, &r->diag));
		MUST(fake_qp_true(r->qp[i])->qp_state == IBV_QPS_RTS);
	}
}

static void post(struct round *r, uint64_t wr_id)
{
	struct worker *const worker = r->worker;
	struct ibv_send_wr wr = {.wr_id = wr_id}, *bad;
	struct ibv_sge sge;

	MUST(!rdmaez_mr_sge(r->mr, worker->buffer, 16, &sge, &r->diag));
	rdmaez_wr_send(&wr, &sge);
	wr.send_flags = IBV_SEND_SIGNALED;
	MUST(!rdmaez_wr_post_send(r->qp[0], &wr, &bad, &r->diag));
	worker->posted++;
}

static void send_and_wait(struct round *r)
{
	struct worker *const worker = r->worker;
	struct ibv_recv_wr recv = {.wr_id = 9}, *bad_recv;
	struct ibv_wc wc[4];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 4, .want = 2};

	for (int i = 0; i < 4; i++)
		post(r, (uint64_t)i);
	MUST(!rdmaez_wr_post_recv(r->qp[1], &recv, &bad_recv, &r->diag));
	fake_qp_sends_succeed(r->qp[0], 2);
	MUST(!rdmaez_wc_wait(r->cq, r->qp[0], &batch, 0, &r->diag));
	MUST(batch.count == 2);
	MUST(!rdmaez_cq_arm(r->cq, 0, &r->diag)); /* an event comes, for it to take */
	fake_qp_sends_succeed(r->qp[0], 2);
	MUST(!rdmaez_cq_wait(r->cq, r->qp[0], &batch, 0, &r->diag));
	MUST(batch.count == 2);
	batch.want = 1;
	MUST(rdmaez_cq_wait(r->cq, r->qp[0], &batch, 1000, &r->diag) == ETIMEDOUT);
}

/* A refusal of ibv_modify_qp() and one of ibv_post_send(), explained and written. */
static void be_refused(struct round *r)
{
	struct worker *const worker = r->worker;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	struct ibv_send_wr wr = {.opcode = (enum ibv_wr_opcode)99}, *bad;

	MUST(rdmaez_qp_modify(r->qp[0], &attr, IBV_QP_STATE | IBV_QP_QKEY, &r->diag) == EINVAL);
	MUST(rdmaez_diag_find(&r->diag, RDMAEZ_WHY_TRANSITION) != NULL);
	MUST(rdmaez_diag_format(&r->diag, r->text, sizeof(r->text)) > 0);
	MUST(rdmaez_diag_json(&r->diag, r->text, sizeof(r->text)) > 0);
	MUST(rdmaez_wr_post_send(r->qp[0], &wr, &bad, &r->diag) == EINVAL);
	MUST(rdmaez_diag_line(&r->diag, r->text, sizeof(r->text)) > 0);
	MUST(!rdmaez_qp_examine(r->qp[0], &r->diag));
	worker->refused += 2;
}

static void fail(struct round *r)
{
	struct worker *const worker = r->worker;
	const struct ibv_wc failed = {
		.wr_id = 4, .status = IBV_WC_RETRY_EXC_ERR, .qp_num = r->qp[0]->qp_num};
	struct ibv_wc wc[4];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 4};
	const char *findings; /* without the line above, which has the queue pair's number */

	MUST(fake_cq_push(r->cq, &failed));
	MUST(rdmaez_wc_poll(r->cq, r->qp[0], &batch, &r->diag) == EIO);
	MUST(batch.count == 1 && wc[0].wr_id == 4);
	MUST(rdmaez_diag_format(&r->diag, r->text, sizeof(r->text)) > 0);
	findings = strstr(r->text, "  Likely");
	if (MUST(findings != NULL))
		snprintf(worker->said, sizeof(worker->said), "%s", findings);
	worker->failed++;
}

/* Drains one, and resets the other, which comes back. */
static void recover(struct round *r)
{
	struct worker *const worker = r->worker;
	const struct rdmaez_recover_opts opts = {.drain.flags = RDMAEZ_DRAIN_DISCARD,
						 .init_attr = &r->init};
	const struct rdmaez_drain_opts drain = {.flags = RDMAEZ_DRAIN_DISCARD};
	struct rdmaez_endpoint local;
	struct rdmaez_drained drained;

	for (int i = 0; i < 3; i++)
		post(r, (uint64_t)i);
	MUST(!rdmaez_qp_drain(r->qp[0], &drain, &drained, &r->diag));
	worker->flushed += (int)drained.flushed;
	MUST(!rdmaez_qp_recover(&r->qp[0], &opts, &local, &drained, &r->diag));
	MUST(!rdmaez_qp_recover(&r->qp[1], &opts, &local, &drained, &r->diag));
	worker->flushed += (int)drained.flushed;
	connect_both(r);
	worker->recovered++;
}

/* Its own part of the memory that all share, and memory of its own. */
static void copy(struct round *r)
{
	struct worker *const worker = r->worker;
	const uint64_t offset = (uint64_t)worker->number * (BYTES / THREADS);
	char out[64], in[64] = {0};
	struct rdmaez_dm_region region = {0};
	struct rdmaez_dm own;

	memset(out, 'a' + worker->number, sizeof(out));
	MUST(!rdmaez_dm_copy_to(&worker->shared->dm, offset, out, sizeof(out)));
	MUST(!rdmaez_dm_copy_from(&worker->shared->dm, offset, in, sizeof(in)));
	MUST(memcmp(in, out, sizeof(in)) == 0);
	MUST(rdmaez_dm_copy_to(&worker->shared->dm, BYTES - 32, out, sizeof(out)) == EFAULT);
	if (!MUST(!rdmaez_dm_alloc(r->simple->context, 256, NULL, &own, &r->diag)))
		return;
	MUST(!rdmaez_dm_fill(&own, 0, 7, 256));
	MUST(!rdmaez_dm_reg(&own, r->simple->pd, NULL, IBV_ACCESS_LOCAL_WRITE, &region, &r->diag));
	MUST(!rdmaez_mr_dereg(region.mr, &r->diag));
	MUST(!rdmaez_dm_close(&own, &r->diag));
	worker->copied++;
}

static void ask(struct round *r)
{
	struct worker *const worker = r->worker;
	struct rdmaez_caps caps;

	MUST(!rdmaez_caps_query(r->simple->context, &caps, &r->diag));
	MUST(rdmaez_caps_format(&caps, r->text, sizeof(r->text)) > 0);
	MUST(rdmaez_caps_json(&caps, r->text, sizeof(r->text)) > 0);
}

static void take_down(struct round *r)
{
	struct worker *const worker = r->worker;
	const struct rdmaez_drain_opts drain = {.flags = RDMAEZ_DRAIN_DISCARD};

	for (int i = 0; i < 2; i++)
		MUST(!rdmaez_qp_destroy(r->qp[i], &drain, NULL, &r->diag));
	MUST(!rdmaez_mr_dereg(r->mr, &r->diag));
	MUST(!rdmaez_cq_destroy(r->cq, &r->diag));
	MUST(!ibv_destroy_comp_channel(r->channel));
	if (r->simple == &r->own)
		MUST(!rdmaez_simple_close(r->simple, &r->diag));
	worker->rounds++;
}

/* Threads on one completion queue: completions of either queue pair come to either. */
static void poll_together(struct worker *worker)
{
	struct shared *const shared = worker->shared;
	struct ibv_qp *const qp = shared->qp[worker->number];
	struct ibv_wc wc[4];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 4};
	struct rdmaez_diag diag;

	for (int i = 0; i < POSTS; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
		struct ibv_send_wr *bad;

		MUST(!rdmaez_wr_post_send(qp, &wr, &bad, &diag));
		fake_qp_sends_succeed(qp, 1);
		MUST(!rdmaez_wc_poll(shared->cq, NULL, &batch, &diag));
		worker->polled += batch.count;
		for (int at = 0; at < batch.count; at++)
			MUST(rdmaez_wc_position(&wc[at], shared->qp, POLLERS) < POLLERS);
	}
}

void *WORK(void *arg)
{
	struct worker *const worker = (struct worker *)arg;

	for (int i = 0; i < ROUNDS; i++) {
		struct round round = {.worker = worker};

		bring_up(&round);
		connect_both(&round);
		send_and_wait(&round);
		be_refused(&round);
		fail(&round);
		recover(&round);
		copy(&round);
		ask(&round);
		take_down(&round);
	}
	if (worker->number < POLLERS)
		poll_together(worker);
	return NULL;
}
