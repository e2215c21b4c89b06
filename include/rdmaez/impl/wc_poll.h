/* SPDX-License-Identifier: MIT */
/* What a completion tells a program, and waiting for it. */
#ifndef RDMAEZ_IMPL_WC_POLL_H
#define RDMAEZ_IMPL_WC_POLL_H

#ifndef RDMAEZ_WC_H
#include "../wc.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_CLOCK_H
#include "clock.h"
#endif
#ifndef RDMAEZ_IMPL_WC_EXPLAIN_H
#include "wc_explain.h"
#endif

RDMAEZ_IMPL_BEGIN

/* make_send_cqe() of rxe sets the flag for the sender as well, who gets no immediate data. */
RDMAEZ_API int rdmaez_wc_imm(const struct ibv_wc *wc, uint32_t *imm)
{
	if (wc->status != IBV_WC_SUCCESS || !(wc->wc_flags & IBV_WC_WITH_IMM) ||
	    !(wc->opcode & IBV_WC_RECV))
		return ENODATA;
	*imm = rdmaez_impl_be32(wc->imm_data);
	return 0;
}

/* Whether the time is over, counted from the first call; if it has been long, a rest. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_wc_is_late(uint64_t *begun, uint64_t timeout_ns)
{
	const uint64_t now = rdmaez_impl_now();

	if (!*begun)
		*begun = now;
	if (now - *begun >= timeout_ns)
		return true;
	if (now - *begun > 1000000)
		rdmaez_impl_rest(timeout_ns - (now - *begun) < 50000 ? timeout_ns - (now - *begun)
								     : 50000);
	return false;
}

/* Begins the record of a poll that has failed. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_poll_begin(struct ibv_cq *cq, struct ibv_qp *qp,
						struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset_for(diag, "rdmaez_wc_poll", rdmaez_impl_why_wc);
	if (cq)
		rdmaez_impl_diag_device(diag, cq->context);
	if (cq && qp)
		rdmaez_impl_diag_qp(diag, qp);
}

/* A completion has failed: of this queue pair, or of another. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_poll_explain(struct ibv_cq *cq, struct ibv_qp *qp,
						 const struct rdmaez_wc_batch *batch,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site unasked = {"qp_num", RDMAEZ_WHY_WC_UNASKED,
							RDMAEZ_VALUE_NUMBER, 0, 0};
	const struct ibv_wc *first = batch->wc, *own = NULL, *other;
	int left = batch->count;

	if (!diag)
		return EIO;
	for (; first->status == IBV_WC_SUCCESS; left--)
		first++;
	if (qp)
		own = rdmaez_wc_first_error(first, left, qp->qp_num);
	if (own) {
		(void)rdmaez_wc_explain_qp(own, qp, diag);
		diag->call = "rdmaez_wc_poll";
	} else {
		other = rdmaez_wc_first_error(first, left, first->qp_num);
		rdmaez_impl_wc_poll_begin(cq, NULL, diag);
		rdmaez_impl_wc_note(other ? other : first, diag);
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ADVICE, &unasked, first->qp_num);
	}
	return diag->error = EIO;
}

/* Nothing was polled because of the arguments, or because the verb has failed. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_poll_refuse(struct ibv_cq *cq, struct ibv_qp *qp,
						const struct rdmaez_wc_batch *batch,
						struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site room = {"capacity", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_NUMBER, 1, INT32_MAX};
	static const struct rdmaez_impl_site most = {"want", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_NUMBER,
						     0, 0};
	static const char verb[] = "ibv_poll_cq";

	rdmaez_impl_wc_poll_begin(cq, qp, diag);
	if (!cq || !batch || !batch->wc)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  !cq     ? "cq"
					  : batch ? "wc"
						  : "batch");
	if (batch->capacity < 1)
		return rdmaez_impl_refuse_at(diag, EINVAL, &room, batch->capacity);
	if (batch->want < 0 || batch->want > batch->capacity)
		return rdmaez_impl_refuse_within(diag, EINVAL, &most, batch->want, 0,
						 batch->capacity);
	if (diag) {
		diag->error = EIO;
		diag->verb = verb;
		rdmaez_impl_explain_errno(diag, verb, EIO);
	}
	return EIO;
}

/* There are too few. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_poll_late(struct ibv_cq *cq, struct ibv_qp *qp,
					      const struct rdmaez_wc_batch *batch, int want,
					      struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site late = {"count", RDMAEZ_WHY_WC_LATE,
						     RDMAEZ_VALUE_NUMBER, 0, 0};

	rdmaez_impl_wc_poll_begin(cq, qp, diag);
	return rdmaez_impl_refuse_within(diag, ETIMEDOUT, &late, batch->count, want,
					 batch->capacity);
}

RDMAEZ_API int rdmaez_wc_poll(struct ibv_cq *cq, struct ibv_qp *qp, struct rdmaez_wc_batch *batch,
			      uint64_t timeout_ns, struct rdmaez_diag *diag)
{
	unsigned int empty = 0;
	uint64_t begun = 0;
	int capacity, want, got, count = 0;
	unsigned int failed = 0;
	struct ibv_wc *wc;

	if (batch)
		batch->count = 0;
	if (!cq || !batch || !batch->wc || batch->capacity < 1 || batch->want < 0 ||
	    batch->want > batch->capacity)
		return rdmaez_impl_wc_poll_refuse(cq, qp, batch, diag);
	wc = batch->wc;
	capacity = batch->capacity;
	want = batch->want ? batch->want : 1;
	do {
		got = ibv_poll_cq(cq, capacity - count, wc + count);
		if (got <= 0) {
			if (got < 0)
				return rdmaez_impl_wc_poll_refuse(cq, qp, batch, diag);
			if (!timeout_ns ||
			    (++empty % 16 == 0 && rdmaez_impl_wc_is_late(&begun, timeout_ns)))
				return rdmaez_impl_wc_poll_late(cq, qp, batch, want, diag);
			continue;
		}
		for (got += count; count < got; count++)
			failed |= (unsigned int)wc[count].status;
		batch->count = count;
		if (failed)
			return rdmaez_impl_wc_poll_explain(cq, qp, batch, diag);
	} while (count < want);
	return 0;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
