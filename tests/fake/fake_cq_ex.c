/* SPDX-License-Identifier: MIT */
/*
 * Extended completion queues: a queue stands at one completion between ibv_start_poll() and ibv_end_poll(), and has the
 * readers for which it was created, as providers have it. A reader at another time is misuse.
 */
#include "fake_internal.h"

static struct fake_cq *to_cq(struct ibv_cq_ex *ex)
{
	return fake_container(ex, struct fake_cq, ex);
}

/* The completion at which the queue stands; it is in the ring until the next step. */
static const struct ibv_wc *at(struct ibv_cq_ex *ex)
{
	const struct fake_cq *cq = to_cq(ex);

	if (!cq->stands)
		fake_note_misuse();
	return &cq->wc[cq->head];
}

static int stand(struct ibv_cq_ex *ex)
{
	struct fake_cq *cq = to_cq(ex);

	cq->stands = cq->count != 0;
	if (!cq->stands)
		return ENOENT;
	ex->status = cq->wc[cq->head].status;
	ex->wr_id = cq->wc[cq->head].wr_id;
	return 0;
}

static void leave(struct ibv_cq_ex *ex)
{
	struct fake_cq *cq = to_cq(ex);

	if (cq->stands) {
		cq->head = (cq->head + 1) % (unsigned int)cq->verbs.cqe;
		cq->count--;
	}
	cq->stands = false;
}

/* One that finds nothing is not to be ended. There is no next_poll: providers disagree on what ends one that finds nothing. */
static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct fake_call *call = fake_enter(FAKE_START_POLL, ex);

	if (to_cq(ex)->polls)
		fake_note_misuse();
	if (call->error || attr->comp_mask)
		return fake_return(call, call->error ? call->error : EINVAL);
	to_cq(ex)->polls = !stand(ex);
	return fake_return(call, to_cq(ex)->polls ? 0 : ENOENT);
}

static void end_poll(struct ibv_cq_ex *ex)
{
	fake_enter(FAKE_END_POLL, ex);
	if (!to_cq(ex)->polls)
		fake_note_misuse();
	leave(ex);
	to_cq(ex)->polls = false;
}

#define READER(type, member)                            \
	static type read_##member(struct ibv_cq_ex *ex) \
	{                                               \
		return (type)at(ex)->member;            \
	}
READER(uint32_t, vendor_err)
READER(uint32_t, qp_num)
READER(uint32_t, byte_len)
READER(__be32, imm_data)
READER(uint32_t, src_qp)
READER(uint32_t, slid)
READER(uint8_t, sl)
READER(uint8_t, dlid_path_bits)

/* What is not valid in a failed completion: somebody else's. */
static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
	return at(ex)->status == IBV_WC_SUCCESS ? at(ex)->opcode : IBV_WC_TM_RECV;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ex)
{
	return at(ex)->status == IBV_WC_SUCCESS ? at(ex)->wc_flags : ~0u;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
	return at(ex)->wr_id + 1000;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *init)
{
	struct ibv_cq *cq = ibv_create_cq(context, (int)init->cqe, init->cq_context, init->channel,
					  (int)init->comp_vector);
	struct ibv_cq_ex *ex = cq ? &fake_cq(cq)->ex : NULL;

	if (!ex)
		return NULL;
	ex->start_poll = start_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;
#define FILL(flag, member)                            \
	if (init->wc_flags & IBV_WC_EX_WITH_##flag) { \
		ex->read_##member = read_##member;    \
	}
	FILL(BYTE_LEN, byte_len)
	FILL(IMM, imm_data)
	FILL(QP_NUM, qp_num)
	FILL(SRC_QP, src_qp)
	FILL(SLID, slid)
	FILL(SL, sl)
	FILL(DLID_PATH_BITS, dlid_path_bits)
	FILL(COMPLETION_TIMESTAMP, completion_ts)
#undef FILL
	return ex;
}

void fake_cq_ex_ops(struct verbs_context *verbs)
{
	verbs->create_cq_ex = create_cq_ex;
}
