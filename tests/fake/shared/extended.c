/* SPDX-License-Identifier: MIT */
/*
 * Extended completion queues. A provider has several sets of functions for them, of which a queue gets the one for how
 * it was created; here `comp_vector` says which, and there are more than any provider has.
 */
#include <errno.h>

#include "../fake_internal.h"

struct ibv_cq_ex *fake_shared_create_cq_ex(struct ibv_context *context,
					   struct ibv_cq_init_attr_ex *init);

static struct fake_cq *to_cq(struct ibv_cq_ex *cq)
{
	return fake_container(cq, struct fake_cq, ex);
}

/* The completion that it stands at is the first of the ring, which the next step takes out. */
static int stand(struct ibv_cq_ex *ex)
{
	const struct fake_cq *cq = to_cq(ex);

	if (!cq->count)
		return ENOENT;
	ex->status = cq->wc[cq->head].status;
	ex->wr_id = cq->wc[cq->head].wr_id;
	return 0;
}

static int step(struct ibv_cq_ex *ex)
{
	struct fake_cq *cq = to_cq(ex);

	cq->head = (cq->head + 1) % (unsigned int)cq->verbs.cqe;
	cq->count--;
	return stand(ex);
}

static void end_poll(struct ibv_cq_ex *ex)
{
	if (to_cq(ex)->count)
		(void)step(ex);
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
	return to_cq(ex)->wc[to_cq(ex)->head].vendor_err;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
	return to_cq(ex)->wc[to_cq(ex)->head].opcode;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
	return to_cq(ex)->wc[to_cq(ex)->head].qp_num;
}

#define SET(n)                                                                         \
	static int start_poll_##n(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr) \
	{                                                                              \
		return attr->comp_mask ? EINVAL : stand(ex);                           \
	}
#define ENTRY(n)  start_poll_##n,
#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define ALL(X)    TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4)
ALL(SET)

static int (*const sets[])(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr) = {ALL(ENTRY)};

struct ibv_cq_ex *fake_shared_create_cq_ex(struct ibv_context *context,
					   struct ibv_cq_init_attr_ex *init)
{
	struct fake_call *call = fake_enter(FAKE_CREATE_CQ, context);
	struct ibv_cq_ex *ex;

	if (!init->cqe || init->cqe > (uint32_t)fake_dev(context)->attr.orig_attr.max_cqe)
		return (struct ibv_cq_ex *)fake_return_ptr(call, EINVAL, NULL);
	ex = &fake_cq(fake_new_cq(context, (int)init->cqe))->ex;
	ex->cq_context = init->cq_context;
	ex->channel = init->channel;
	ex->start_poll = sets[init->comp_vector % (sizeof(sets) / sizeof(sets[0]))];
	ex->next_poll = step;
	ex->end_poll = end_poll;
	ex->read_vendor_err = read_vendor_err;
	ex->read_opcode = read_opcode;
	if (init->wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = read_qp_num;
	return (struct ibv_cq_ex *)fake_return_ptr(call, 0, ex);
}
