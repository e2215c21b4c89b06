/* SPDX-License-Identifier: MIT */
/*
 * Does each thing on the data path a thousand times; valgrind writes down the instructions of each. What the fake does
 * for it is the same with and without rdmaez-explain.
 */
#include <string.h>
#include <valgrind/callgrind.h>

#include "fake_verbs.h"

enum {
	TIMES = 1000
};

static struct ibv_cq *cq;
static struct ibv_cq_ex *queue;
static struct ibv_qp *qp;
static struct ibv_qp_ex *extended;

static void begin(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct ibv_cq_init_attr_ex of_cq = {.cqe = 64, .wc_flags = IBV_WC_EX_WITH_QP_NUM};
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = ibv_alloc_pd(context),
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};

	queue = ibv_create_cq_ex(context, &of_cq);
	cq = init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(queue);
	init.cap.max_send_wr = init.cap.max_recv_wr = 16;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	qp = ibv_create_qp_ex(context, &init);
	extended = ibv_qp_to_qp_ex(qp);
	fake_qp_force(qp, IBV_QPS_RTS);
	qp->state = IBV_QPS_RTS;
	ibv_free_device_list(list);
}

static void complete(int count)
{
	const struct ibv_wc wc = {.status = IBV_WC_SUCCESS, .qp_num = qp->qp_num};

	for (int i = 0; i < count; i++)
		fake_cq_push(cq, &wc);
}

static void poll(int completions)
{
	struct ibv_wc wc[16];

	complete(completions);
	ibv_poll_cq(cq, 16, wc);
}

static void poll_empty(void)
{
	poll(0);
}

static void poll_one(void)
{
	poll(1);
}

static void poll_sixteen(void)
{
	poll(16);
}

static void post_send(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad;

	ibv_post_send(qp, &wr, &bad);
	fake_qp_work_done(qp);
}

static void post_recv(void)
{
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

	ibv_post_recv(qp, &wr, &bad);
	fake_qp_work_done(qp);
}

static void ex_poll(int completions)
{
	struct ibv_poll_cq_attr attr = {0};

	complete(completions);
	if (ibv_start_poll(queue, &attr))
		return;
	while (!ibv_next_poll(queue))
		;
	ibv_end_poll(queue);
}

static void ex_poll_empty(void)
{
	ex_poll(0);
}

static void ex_poll_one(void)
{
	ex_poll(1);
}

static void ex_poll_sixteen(void)
{
	ex_poll(16);
}

static void ex_send(void)
{
	ibv_wr_start(extended);
	ibv_wr_send(extended);
	ibv_wr_set_sge(extended, 1, 0, 8);
	ibv_wr_complete(extended);
	fake_qp_work_done(qp);
}

#define MEASURE(what)                           \
	do {                                    \
		CALLGRIND_ZERO_STATS;           \
		for (int i = 0; i < TIMES; i++) \
			what();                 \
		CALLGRIND_DUMP_STATS_AT(#what); \
	} while (0)

int main(void)
{
	begin();
	MEASURE(poll_empty);
	MEASURE(poll_one);
	MEASURE(poll_sixteen);
	MEASURE(post_send);
	MEASURE(post_recv);
	MEASURE(ex_poll_empty);
	MEASURE(ex_poll_one);
	MEASURE(ex_poll_sixteen);
	MEASURE(ex_send);
	return 0;
}
