/* SPDX-License-Identifier: MIT */
/* Posting and polling. */
#include "data.h"

int explain_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	const int got = EXPLAIN_ORIGINAL(cq->context, poll_cq)(cq, count, wc);

	for (int i = 0; i < got; i++) {
		if (EXPLAIN_RARE(wc[i].status != IBV_WC_SUCCESS)) {
			explain_completions(cq, wc + i, got - i, __builtin_return_address(0));
			break;
		}
	}
	return got;
}

void explain_completions(struct ibv_cq *cq, const struct ibv_wc *wc, int count, const void *caller)
{
	struct explain_call call = {
		.verb = "ibv_poll_cq", .caller = caller, .kind = EXPLAIN_COMPLETION};
	struct ibv_qp *qp;

	(void)count;
	if (!explain_begin(&call))
		return;
	qp = explain_qp_hold(cq->context, wc->qp_num);
	rdmaez_wc_explain_qp(wc, qp, call.diag);
	explain_qp_release(qp);
	explain_end(&call);
}
