/* SPDX-License-Identifier: MIT */
/*
 * Posts and polls, once in each way that fails: data CASE. It prints what a program sees of it, which must be the same
 * with and without rdmaez-explain.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fake_verbs.h"

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static char buffer[4096];

/* ---- Objects -------------------------------------------------------------------------------------- */

static struct ibv_qp *new_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = type};

	init.cap.max_send_wr = init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = init.cap.max_recv_sge = 2;
	init.cap.max_inline_data = 64;
	return ibv_create_qp(pd, &init);
}

static int begin(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE);
	qp = new_qp(IBV_QPT_RC);
	return !qp || !mr;
}

/* Behind the library's back the hardware comes to this state; struct ibv_qp has what the program asked for. */
static void reach(struct ibv_qp *which, enum ibv_qp_state state)
{
	fake_qp_force(which, state);
	which->state = state;
}

/* ---- What a program does --------------------------------------------------------------------------- */

static void post(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int result;

	errno = 77;
	result = ibv_post_send(qp, wr, &bad);
	printf("post_send %d errno %d bad %d state %d\n", result, errno, bad ? (int)bad->wr_id : -1,
	       (int)qp->state);
}

static void request(unsigned int opcode, int num_sge, uint32_t length, unsigned int flags)
{
	struct ibv_sge sge[4] = {{(uintptr_t)buffer, length, mr->lkey}};
	struct ibv_send_wr wr = {.wr_id = 5, .sg_list = sge, .num_sge = num_sge};

	wr.opcode = (enum ibv_wr_opcode)opcode;
	wr.send_flags = flags | IBV_SEND_SIGNALED;
	post(&wr);
}

static void receive(int num_sge)
{
	struct ibv_sge sge[4] = {{(uintptr_t)buffer, 8, mr->lkey}};
	struct ibv_recv_wr wr = {.wr_id = 6, .sg_list = sge, .num_sge = num_sge}, *bad = NULL;
	int result;

	errno = 77;
	result = ibv_post_recv(qp, &wr, &bad);
	printf("post_recv %d errno %d bad %d\n", result, errno, bad ? (int)bad->wr_id : -1);
}

static void complete(const struct ibv_qp *of, enum ibv_wc_status status)
{
	const struct ibv_wc wc = {
		.wr_id = 7, .status = status, .qp_num = of->qp_num, .vendor_err = 0x81};

	fake_cq_push(cq, &wc);
}

static void poll(void)
{
	struct ibv_wc wc[8];
	int got;

	memset(wc, 0, sizeof(wc));
	errno = 77;
	got = ibv_poll_cq(cq, 8, wc);
	printf("poll_cq %d errno %d", got, errno);
	for (int i = 0; i < got; i++)
		printf(" %d:%d", (int)wc[i].wr_id, (int)wc[i].status);
	printf(" state %d\n", (int)qp->state);
}

/* ---- The cases --------------------------------------------------------------------------------------- */

static void well(void)
{
	reach(qp, IBV_QPS_RTS);
	request(IBV_WR_SEND, 1, 8, 0);
	receive(1);
	complete(qp, IBV_WC_SUCCESS);
	poll();
	poll();
	printf("notify %d\n", ibv_req_notify_cq(cq, 0));
}

static void many_sges(void)
{
	reach(qp, IBV_QPS_RTS);
	request(IBV_WR_SEND, 3, 8, 0);
}

static void long_inline(void)
{
	reach(qp, IBV_QPS_RTS);
	request(IBV_WR_SEND, 1, 65, IBV_SEND_INLINE);
}

static void queue_full(void)
{
	reach(qp, IBV_QPS_RTS);
	for (int i = 0; i < 5; i++)
		request(IBV_WR_SEND, 1, 8, 0);
}

static void early(void)
{
	request(IBV_WR_SEND, 1, 8, 0);
}

static void opcode(void)
{
	qp = new_qp(IBV_QPT_UD);
	reach(qp, IBV_QPS_RTS);
	request(IBV_WR_RDMA_READ, 1, 8, 0);
}

static void second_of_two(void)
{
	struct ibv_sge sge[4] = {{(uintptr_t)buffer, 8, mr->lkey}};
	struct ibv_send_wr wr[2] = {{.wr_id = 1, .next = &wr[1], .sg_list = sge, .num_sge = 1},
				    {.wr_id = 2, .sg_list = sge, .num_sge = 3}};

	wr[0].opcode = wr[1].opcode = IBV_WR_SEND;
	reach(qp, IBV_QPS_RTS);
	post(wr);
}

static void receive_sges(void)
{
	reach(qp, IBV_QPS_INIT);
	receive(3);
}

static void receive_full(void)
{
	reach(qp, IBV_QPS_INIT);
	for (int i = 0; i < 5; i++)
		receive(1);
}

static void srq_full(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(pd, &init);
	struct ibv_sge sge = {(uintptr_t)buffer, 8, mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 6, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
	int result = 0;

	for (int i = 0; i < 64 && !result; i++)
		result = ibv_post_srq_recv(srq, &wr, &bad);
	printf("post_srq_recv %d bad %d\n", result, bad ? (int)bad->wr_id : -1);
	ibv_destroy_srq(srq);
}

static void window(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.wr_id = 8, .bind_info = {.mr = mr, .addr = (uintptr_t)buffer}};

	fake_fail(FAKE_BIND_MW, 1, ENOMEM);
	reach(qp, IBV_QPS_RTS);
	printf("bind_mw %d\n", ibv_bind_mw(qp, mw, &bind));
	ibv_dealloc_mw(mw);
}

static void notify(void)
{
	fake_fail(FAKE_REQ_NOTIFY_CQ, 1, EIO);
	printf("notify %d\n", ibv_req_notify_cq(cq, 0));
}

static void polling(void)
{
	fake_fail(FAKE_POLL_CQ, 1, EIO);
	poll();
}

/* The same for every status: it fails, then flushes follow, and it fails again. */
static void fails(enum ibv_wc_status status)
{
	reach(qp, IBV_QPS_RTS);
	fake_qp_force(qp, IBV_QPS_ERR);
	complete(qp, IBV_WC_SUCCESS);
	complete(qp, status);
	complete(qp, IBV_WC_WR_FLUSH_ERR);
	poll();
	complete(qp, IBV_WC_WR_FLUSH_ERR);
	complete(qp, status);
	poll();
}

static void wrong_lkey(void)
{
	fails(IBV_WC_LOC_PROT_ERR);
}

static void not_ready(void)
{
	fails(IBV_WC_RNR_RETRY_EXC_ERR);
}

static void no_answer(void)
{
	fails(IBV_WC_RETRY_EXC_ERR);
}

static void wrong_rkey(void)
{
	fails(IBV_WC_REM_ACCESS_ERR);
}

static void two_qps(void)
{
	struct ibv_qp *other = new_qp(IBV_QPT_RC);

	reach(qp, IBV_QPS_RTS);
	reach(other, IBV_QPS_RTS);
	complete(qp, IBV_WC_LOC_LEN_ERR);
	complete(other, IBV_WC_RNR_RETRY_EXC_ERR);
	complete(other, IBV_WC_WR_FLUSH_ERR);
	complete(qp, IBV_WC_RNR_RETRY_EXC_ERR);
	poll();
	ibv_destroy_qp(other);
}

static void destroyed(void)
{
	struct ibv_qp gone;

	memcpy(&gone, qp, sizeof(gone));
	ibv_destroy_qp(qp);
	qp = new_qp(IBV_QPT_RC);
	complete(&gone, IBV_WC_WR_FLUSH_ERR);
	complete(&gone, IBV_WC_RETRY_EXC_ERR);
	poll();
}

static void flush(void)
{
	reach(qp, IBV_QPS_RTS);
	fake_qp_force(qp, IBV_QPS_ERR);
	complete(qp, IBV_WC_WR_FLUSH_ERR);
	complete(qp, IBV_WC_WR_FLUSH_ERR);
	poll();
}

static void own_flush(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	reach(qp, IBV_QPS_RTS);
	printf("modify %d\n", ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	complete(qp, IBV_WC_WR_FLUSH_ERR);
	poll();
}

static void rendezvous(void)
{
	reach(qp, IBV_QPS_RTS);
	complete(qp, IBV_WC_TM_RNDV_INCOMPLETE);
	poll();
}

#define CASE(name) {#name, name}
static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	CASE(well),         CASE(many_sges),  CASE(long_inline),   CASE(queue_full),
	CASE(early),        CASE(opcode),     CASE(second_of_two), CASE(receive_sges),
	CASE(receive_full), CASE(srq_full),   CASE(window),        CASE(notify),
	CASE(polling),      CASE(wrong_lkey), CASE(not_ready),     CASE(no_answer),
	CASE(wrong_rkey),   CASE(two_qps),    CASE(destroyed),     CASE(flush),
	CASE(own_flush),    CASE(rendezvous),
};

int main(int argc, char *argv[])
{
	for (unsigned int i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		if (begin())
			return 1;
		cases[i].run();
		return 0;
	}
	return 2;
}
