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
	fake_fail(FAKE_BIND_MW, 1, EINVAL);
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

/* A refused atomic, on a queue pair whose only completion queue is of both of its queues. */
static void refused_atomic(void)
{
	struct ibv_wc wc = {.wr_id = 5, .status = IBV_WC_REM_INV_REQ_ERR};

	reach(qp, IBV_QPS_RTS);
	request(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 8, 0);
	fake_qp_force(qp, IBV_QPS_ERR);
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
	wc.wr_id = 5;
	wc.status = IBV_WC_REM_INV_REQ_ERR;
	wc.qp_num = qp->qp_num;
	fake_cq_push(cq, &wc);
	poll();
}

static void refused_beside(void)
{
	reach(qp, IBV_QPS_RTS);
	receive(1);
	refused_atomic();
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

/* As many as the table of queue pairs has to grow for, twice. */
static void many_qps(void)
{
	int made = 0;

	for (int i = 0; i < 1200; i++)
		made += new_qp(IBV_QPT_RC) != NULL;
	printf("made %d\n", made);
	fails(IBV_WC_LOC_PROT_ERR);
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

/* On iWARP an orderly end flushes, too. */
static void flush_iwarp(void)
{
	context->device->transport_type = IBV_TRANSPORT_IWARP;
	reach(qp, IBV_QPS_RTS);
	fake_qp_force(qp, IBV_QPS_ERR);
	complete(qp, IBV_WC_WR_FLUSH_ERR);
	poll();
	complete(qp, IBV_WC_LOC_PROT_ERR);
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

/* What the library knows once the verb has returned is not known to other threads before. */
static void early_flush(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	reach(qp, IBV_QPS_RTS);
	printf("modify %d\n", ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	qp->state = IBV_QPS_RTS;
	complete(qp, IBV_WC_WR_FLUSH_ERR);
	poll();
}

/* A queue pair that is connected again, and fails again. */
static void again(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	const int rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

	fails(IBV_WC_RNR_RETRY_EXC_ERR);
	printf("modify %d", ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	printf(" %d",
	       ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.ah_attr.is_global = attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.sgid_index = 1;
	attr.ah_attr.grh.dgid.raw[0] = 0xfe;
	attr.ah_attr.grh.dgid.raw[1] = 0x80;
	printf(" %d\n", ibv_modify_qp(qp, &attr, rtr));
	fails(IBV_WC_RETRY_EXC_ERR);
}

static void rendezvous(void)
{
	reach(qp, IBV_QPS_RTS);
	complete(qp, IBV_WC_TM_RNDV_INCOMPLETE);
	poll();
}

/* ---- The extended interfaces --------------------------------------------------------------------------- */

static struct ibv_qp_ex *extended;
static struct ibv_cq_ex *queue;

static void begin_extended(unsigned int flags, uint32_t comp_vector)
{
	struct ibv_cq_init_attr_ex of_cq = {
		.cqe = 16, .wc_flags = flags, .comp_vector = comp_vector};
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ};

	queue = ibv_create_cq_ex(context, &of_cq);
	cq = init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(queue);
	init.cap.max_send_wr = init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = init.cap.max_recv_sge = 2;
	init.cap.max_inline_data = 64;
	qp = ibv_create_qp_ex(context, &init);
	extended = ibv_qp_to_qp_ex(qp);
	reach(qp, IBV_QPS_RTS);
}

static void build(int num_sge, size_t inlined)
{
	struct ibv_sge sge[4] = {{(uintptr_t)buffer, 8, mr->lkey}};

	extended->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(extended);
	if (inlined)
		ibv_wr_set_inline_data(extended, buffer, inlined);
	else if (num_sge == 1)
		ibv_wr_set_sge(extended, mr->lkey, (uintptr_t)buffer, 8);
	else
		ibv_wr_set_sge_list(extended, (size_t)num_sge, sge);
}

static void finish(void)
{
	int result;

	errno = 77;
	result = ibv_wr_complete(extended);
	printf("wr_complete %d errno %d state %d wr_id %d flags %u posted %d misused %u\n", result,
	       errno, (int)qp->state, (int)extended->wr_id, extended->wr_flags,
	       (int)fake_qp_posted(qp), fake_misused());
}

static void ex_well(void)
{
	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	ibv_wr_start(extended);
	extended->wr_id = 1;
	build(1, 0);
	extended->wr_id = 2;
	build(2, 0);
	finish();
	ibv_wr_start(extended);
	build(1, 8);
	ibv_wr_abort(extended);
}

static void ex_many_sges(void)
{
	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	ibv_wr_start(extended);
	extended->wr_id = 1;
	build(3, 0);
	finish();
}

static void ex_second_of_three(void)
{
	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	ibv_wr_start(extended);
	build(1, 0);
	build(1, 65);
	build(1, 8);
	finish();
}

/* A thread may have begun with two queue pairs. */
static void ex_two_at_once(void)
{
	struct ibv_qp_ex *first, *second;

	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	first = extended;
	ibv_wr_start(first);
	build(1, 0);
	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	second = extended;
	ibv_wr_start(second);
	build(2, 0);
	extended = first;
	build(1, 65);
	extended = second;
	finish();
	extended = first;
	qp = &first->qp_base;
	finish();
}

/* What is set for one queue pair is not taken for another's. */
static void ex_crossed(void)
{
	struct ibv_qp_ex *first;

	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	first = extended;
	ibv_wr_start(first);
	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	ibv_wr_start(extended);
	for (int i = 0; i < 4; i++)
		build(1, 0);
	ibv_wr_send(first);
	build(1, 0);
	ibv_wr_set_inline_data(first, buffer, 65);
	finish();
}

static void ex_full(void)
{
	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	ibv_wr_start(extended);
	for (int i = 0; i < 5; i++)
		build(1, 0);
	finish();
}

static void ex_poll(void)
{
	struct ibv_poll_cq_attr attr = {0};

	errno = 77;
	for (int result = ibv_start_poll(queue, &attr); !result; result = ibv_next_poll(queue))
		printf("polled %d:%d\n", (int)queue->wr_id, (int)queue->status);
	printf("errno %d state %d\n", errno, (int)qp->state);
}

static void ex_fails(unsigned int flags)
{
	begin_extended(flags, 0);
	fake_qp_force(qp, IBV_QPS_ERR);
	complete(qp, IBV_WC_SUCCESS);
	complete(qp, IBV_WC_RNR_RETRY_EXC_ERR);
	complete(qp, IBV_WC_WR_FLUSH_ERR);
	ex_poll();
	ex_poll();
	complete(qp, IBV_WC_WR_FLUSH_ERR);
	ex_poll();
}

static void ex_not_ready(void)
{
	ex_fails(IBV_WC_EX_WITH_QP_NUM);
}

static void ex_no_number(void)
{
	ex_fails(0);
}

static void ex_polling(void)
{
	struct ibv_poll_cq_attr attr = {.comp_mask = 1};

	begin_extended(0, 0);
	printf("start_poll %d\n", ibv_start_poll(queue, &attr));
}

/* Of datagrams, the address counts: none there. */
static void ex_datagram(void)
{
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_UD,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = pd,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};
	struct ibv_sge sge[3] = {{(uintptr_t)buffer, 8, mr->lkey}};

	init.send_cq = init.recv_cq = cq;
	init.cap.max_send_wr = init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = init.cap.max_recv_sge = 2;
	qp = ibv_create_qp_ex(context, &init);
	extended = ibv_qp_to_qp_ex(qp);
	reach(qp, IBV_QPS_RTS);
	ibv_wr_start(extended);
	extended->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(extended);
	ibv_wr_set_ud_addr(extended, NULL, 5, 6);
	ibv_wr_set_sge_list(extended, 3, sge);
	finish();
}

/* After two, more than are kept; the one before the last is wrong. */
static void ex_many(void)
{
	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	ibv_wr_start(extended);
	build(1, 0);
	build(1, 65);
	finish();
	ibv_wr_start(extended);
	for (int i = 0; i < 38; i++)
		build(1, i == 36 ? 65 : 0);
	finish();
}

/* A request without data, where one with too many SGEs was kept; the others between them fill what is kept. */
static void ex_stale(void)
{
	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	ibv_wr_start(extended);
	build(3, 0);
	finish();
	ibv_wr_start(extended);
	for (int i = 0; i < 29; i++)
		build(1, 0);
	ibv_wr_abort(extended);
	fake_fail(FAKE_WR_COMPLETE, 1, EINVAL);
	ibv_wr_start(extended);
	extended->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(extended);
	finish();
}

/* What was begun here was long ago, by what the thread has begun since. */
static void ex_forgotten(void)
{
	struct ibv_qp_ex *first;

	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	first = extended;
	ibv_wr_start(first);
	build(1, 65);
	begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
	ibv_wr_start(extended);
	for (int i = 0; i < 32; i++)
		build(1, 0);
	extended = first;
	qp = &first->qp_base;
	finish();
}

#define COMPLETE(n)                                       \
	static int complete_##n(struct ibv_qp_ex *unused) \
	{                                                 \
		(void)unused;                             \
		return n;                                 \
	}
COMPLETE(1)
COMPLETE(2)
COMPLETE(3)
COMPLETE(4)
COMPLETE(5)
COMPLETE(6)
COMPLETE(7)
COMPLETE(8)
COMPLETE(9)
COMPLETE(10)
COMPLETE(11)

/* The same of queue pairs: eleven beside the fake's own. Each does what it did. */
static void ex_qp_sets(void)
{
	static int (*const own[])(struct ibv_qp_ex *) = {
		complete_1, complete_2, complete_3, complete_4,  complete_5, complete_6,
		complete_7, complete_8, complete_9, complete_10, complete_11};

	for (int i = 0; i < 11; i++) {
		begin_extended(IBV_WC_EX_WITH_QP_NUM, 0);
		extended->wr_complete = own[i];
		extended = ibv_qp_to_qp_ex(qp);
		printf("%d", ibv_wr_complete(extended));
		extended = ibv_qp_to_qp_ex(qp);
		printf(" %d\n", ibv_wr_complete(extended));
	}
}

/* More sets of functions than there are wrappers for. */
static void ex_sets(void)
{
	for (uint32_t i = 0; i < 40; i++) {
		begin_extended(IBV_WC_EX_WITH_QP_NUM, i);
		complete(qp, IBV_WC_SUCCESS);
		complete(qp, IBV_WC_RNR_RETRY_EXC_ERR);
		ex_poll();
	}
}

/* ---- Memory regions ----------------------------------------------------------------------------------- */

static void reregister(int flags, size_t length, int access, int fails)
{
	static struct ibv_pd *other;

	if (!other)
		other = ibv_alloc_pd(context);
	if (fails)
		fake_fail(FAKE_REREG_MR, 1, fails);
	errno = 77;
	printf("rereg_mr %d",
	       ibv_rereg_mr(mr, flags, other, length ? buffer + 64 : NULL, length, access));
	printf(" errno %d lkey 0x%x rkey 0x%x pd %d\n", errno, mr->lkey, mr->rkey, mr->pd != pd);
}

static void rereg(void)
{
	reregister(IBV_REREG_MR_CHANGE_ACCESS, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
		   0);
	reregister(IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD, 100, 0, 0);
	reregister(IBV_REREG_MR_CHANGE_TRANSLATION, 101, 0, IBV_REREG_MR_ERR_DO_FORK_OLD);
}

/* The region stays what it was. */
static void rereg_refused(void)
{
	reregister(IBV_REREG_MR_CHANGE_TRANSLATION, 0, 0, 0);
	reregister(IBV_REREG_MR_CHANGE_TRANSLATION, 100, 0, IBV_REREG_MR_ERR_DONT_FORK_NEW);
	reregister(IBV_REREG_MR_CHANGE_TRANSLATION, 100, 0, EOPNOTSUPP);
}

/* Nobody knows what it is. */
static void rereg_failed(void)
{
	reregister(IBV_REREG_MR_CHANGE_TRANSLATION, 100, 0, ENOMEM);
}

#define CASE(name) {#name, name}
static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	CASE(well),           CASE(many_sges),    CASE(long_inline),
	CASE(queue_full),     CASE(early),        CASE(opcode),
	CASE(second_of_two),  CASE(receive_sges), CASE(receive_full),
	CASE(srq_full),       CASE(window),       CASE(notify),
	CASE(polling),        CASE(wrong_lkey),   CASE(not_ready),
	CASE(no_answer),      CASE(wrong_rkey),   CASE(two_qps),
	CASE(destroyed),      CASE(flush),        CASE(own_flush),
	CASE(rendezvous),     CASE(early_flush),  CASE(again),
	CASE(ex_crossed),     CASE(ex_well),      CASE(ex_many_sges),
	CASE(ex_full),        CASE(ex_not_ready), CASE(ex_second_of_three),
	CASE(ex_two_at_once), CASE(ex_no_number), CASE(ex_polling),
	CASE(ex_sets),        CASE(many_qps),     CASE(rereg),
	CASE(rereg_refused),  CASE(rereg_failed), CASE(refused_atomic),
	CASE(refused_beside), CASE(flush_iwarp),  CASE(ex_datagram),
	CASE(ex_many),        CASE(ex_stale),     CASE(ex_forgotten),
	CASE(ex_qp_sets),
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
