/* SPDX-License-Identifier: MIT */
/* Threads that poll and post, each on queues of its own. Now and then a completion fails, and a post is refused. */
#ifndef WORKERS_H
#define WORKERS_H

#include <pthread.h>
#include <stdio.h>

#include "fake_verbs.h"

enum {
	THREADS = 8,
	ROUNDS = 10000
};

static bool is_race; /* they race, for a test to see that it would be told */
static int raced;

struct worker {
	pthread_t thread;
	struct ibv_context *context;
	struct ibv_cq *cq;
	struct ibv_cq_ex *queue; /* every other worker's */
	struct ibv_qp *qp;
	int failed, refused;
};

static void create(struct worker *worker, int number)
{
	struct ibv_cq_init_attr_ex of_cq = {.cqe = 16};
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};

	of_cq.comp_vector = (uint32_t)number;
	of_cq.wc_flags = IBV_WC_EX_WITH_QP_NUM;
	init.pd = ibv_alloc_pd(worker->context);
	if (number & 1)
		worker->queue = ibv_create_cq_ex(worker->context, &of_cq);
	worker->cq = worker->queue ? ibv_cq_ex_to_cq(worker->queue)
				   : ibv_create_cq(worker->context, 16, NULL, NULL, 0);
	init.send_cq = init.recv_cq = worker->cq;
	init.cap.max_send_wr = init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	worker->qp = ibv_create_qp_ex(worker->context, &init);
	fake_qp_force(worker->qp, IBV_QPS_RTS);
	worker->qp->state = IBV_QPS_RTS;
}

static void push(struct worker *worker, enum ibv_wc_status status)
{
	const struct ibv_wc wc = {.status = status, .qp_num = worker->qp->qp_num};

	fake_cq_push(worker->cq, &wc);
}

static void poll(struct worker *worker)
{
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc wc[4];
	int got;

	if (worker->queue) {
		if (ibv_start_poll(worker->queue, &attr))
			return;
		do
			worker->failed += worker->queue->status != IBV_WC_SUCCESS;
		while (!ibv_next_poll(worker->queue));
		return;
	}
	got = ibv_poll_cq(worker->cq, 4, wc);
	for (int i = 0; i < got; i++)
		worker->failed += wc[i].status != IBV_WC_SUCCESS;
}

static void post(struct worker *worker, int num_sge)
{
	struct ibv_sge sge[2] = {{0, 8, 1}, {0, 8, 1}};
	struct ibv_send_wr wr = {.sg_list = sge, .num_sge = num_sge}, *bad;

	if (worker->queue) {
		struct ibv_qp_ex *extended = ibv_qp_to_qp_ex(worker->qp);

		ibv_wr_start(extended);
		ibv_wr_send(extended);
		ibv_wr_set_sge_list(extended, (size_t)num_sge, sge);
		worker->refused += ibv_wr_complete(extended) != 0;
	} else {
		wr.opcode = IBV_WR_SEND;
		worker->refused += ibv_post_send(worker->qp, &wr, &bad) != 0;
	}
	fake_qp_work_done(worker->qp);
}

static void *work(void *arg)
{
	struct worker *worker = (struct worker *)arg;

	for (int i = 0; i < ROUNDS; i++) {
		push(worker, i % 50 ? IBV_WC_SUCCESS : IBV_WC_RNR_RETRY_EXC_ERR);
		push(worker, i % 50 == 1 ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS);
		poll(worker);
		poll(worker);
		post(worker, i % 100 ? 1 : 2);
		if (is_race)
			raced++;
	}
	return NULL;
}

/* They begin; the first two are on one context. */
static void workers_begin(struct worker worker[THREADS], struct ibv_device *device)
{
	struct ibv_context *const shared = ibv_open_device(device);

	for (int i = 0; i < THREADS; i++) {
		worker[i].context = i < 2 ? shared : ibv_open_device(device);
		create(&worker[i], i);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&worker[i].thread, NULL, work, &worker[i]);
}

/* Waits for them, and says of each what it has seen. */
static void workers_end(struct worker worker[THREADS])
{
	for (int i = 0; i < THREADS; i++) {
		pthread_join(worker[i].thread, NULL);
		printf("failed %d refused %d\n", worker[i].failed, worker[i].refused);
	}
}

#endif
