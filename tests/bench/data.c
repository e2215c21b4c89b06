/* SPDX-License-Identifier: MIT */
/*
 * The data path as rdmaez has it (ez_*), and by hand (bare_*) with the same checks: one request described and posted,
 * by either interface; completions polled, with a deadline; and a send of a queue that is counted.
 */
#include <time.h>

#include "bench.h"

int ez_data_post(struct ibv_qp *qp, const struct ibv_mr *mr, const struct data *data)
{
	struct ibv_send_wr wr = {.wr_id = data->wr_id, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_sge sge;
	int error = rdmaez_mr_sge(mr, data->addr, data->length, &sge, NULL);

	if (!error)
		error = rdmaez_wr_write(&wr, &sge, &data->remote, data->offset, NULL);
	if (!error)
		error = rdmaez_wr_imm(&wr, data->imm, NULL);
	return error ? error : rdmaez_wr_post_send(qp, &wr, NULL, NULL);
}

static inline bool is_within(const struct ibv_mr *mr, const struct data *data)
{
	const uintptr_t first = (uintptr_t)mr->addr, at = (uintptr_t)data->addr;

	return at >= first && at + data->length <= first + mr->length &&
	       data->offset + data->length <= data->remote.length;
}

int bare_data_post(struct ibv_qp *qp, const struct ibv_mr *mr, const struct data *data)
{
	struct ibv_sge sge = {(uintptr_t)data->addr, data->length, mr->lkey};
	struct ibv_send_wr wr = {.wr_id = data->wr_id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	if (!is_within(mr, data))
		return ERANGE;
	wr.imm_data = __builtin_bswap32(data->imm);
	wr.wr.rdma.remote_addr = data->remote.addr + data->offset;
	wr.wr.rdma.rkey = data->remote.rkey;
	return ibv_post_send(qp, &wr, &bad);
}

int ez_data_ex(struct ibv_qp_ex *qp, const struct ibv_mr *mr, const struct data *data)
{
	struct ibv_send_wr wr = {.wr_id = data->wr_id, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_sge sge;
	int error = rdmaez_mr_sge(mr, data->addr, data->length, &sge, NULL);

	if (!error)
		error = rdmaez_wr_write(&wr, &sge, &data->remote, data->offset, NULL);
	if (!error)
		error = rdmaez_wr_imm(&wr, data->imm, NULL);
	return error ? error : rdmaez_wr_post_ex(qp, &wr, NULL, NULL);
}

int bare_data_ex(struct ibv_qp_ex *qp, const struct ibv_mr *mr, const struct data *data)
{
	if (!is_within(mr, data))
		return ERANGE;
	ibv_wr_start(qp);
	qp->wr_id = data->wr_id;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write_imm(qp, data->remote.rkey, data->remote.addr + data->offset,
			      __builtin_bswap32(data->imm));
	ibv_wr_set_sge(qp, mr->lkey, (uintptr_t)data->addr, data->length);
	return ibv_wr_complete(qp);
}

int ez_data_poll(struct ibv_cq *cq, struct ibv_wc *wc, int want)
{
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 16, .want = want};

	return rdmaez_wc_wait(cq, NULL, &batch, 1000000000, NULL);
}

/* With a deadline, whose clock is read only where nothing comes. */
int bare_data_poll(struct ibv_cq *cq, struct ibv_wc *wc, int want)
{
	time_t begun = 0;
	unsigned int empty = 0;
	int count = 0, got;

	while (count < want) {
		got = ibv_poll_cq(cq, 16 - count, wc + count);
		if (got < 0)
			return EIO;
		if (!got && ++empty % 16 == 0) {
			if (!begun)
				begun = time(NULL);
			else if (time(NULL) > begun + 1)
				return ETIMEDOUT;
		}
		for (; got; got--, count++)
			if (wc[count].status != IBV_WC_SUCCESS)
				return EIO;
	}
	return 0;
}

/* One look, without waiting: at a queue that is empty, and at one that has a completion; how many, or -1. */
int ez_data_empty(struct ibv_cq *cq, struct ibv_wc *wc)
{
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 16};
	struct rdmaez_diag diag;

	if (rdmaez_wc_poll(cq, NULL, &batch, &diag))
		return -1;
	return batch.count;
}

int bare_data_empty(struct ibv_cq *cq, struct ibv_wc *wc)
{
	const int got = ibv_poll_cq(cq, 16, wc);

	return got < 0 ? -1 : got;
}

int ez_data_one(struct ibv_cq *cq, struct ibv_wc *wc)
{
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 16};
	struct rdmaez_diag diag;

	if (rdmaez_wc_poll(cq, NULL, &batch, &diag))
		return -1;
	return batch.count;
}

/* A completion has a status. */
int bare_data_one(struct ibv_cq *cq, struct ibv_wc *wc)
{
	const int got = ibv_poll_cq(cq, 16, wc);

	return got > 0 && wc->status != IBV_WC_SUCCESS ? -1 : got;
}

int ez_data_credit(struct rdmaez_credit *credit, struct ibv_send_wr *wr)
{
	return rdmaez_credit_take(credit, wr);
}

/* The same by hand, which needs the same members. */
int bare_data_credit(struct rdmaez_credit *credit, struct ibv_send_wr *wr)
{
	if (credit->taken - credit->given == credit->capacity)
		return EAGAIN;
	wr->wr_id = credit->taken;
	credit->taken++;
	if (credit->taken % 8 == 0)
		wr->send_flags |= IBV_SEND_SIGNALED;
	return 0;
}
