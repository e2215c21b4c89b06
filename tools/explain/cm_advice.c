/* SPDX-License-Identifier: MIT */
/*
 * Timers and counters of a queue pair that librdmacm has moved. The program has made no such move, so the advice names
 * what it can change: a member of struct rdma_conn_param, an option, or a move of its own once it is connected.
 *
 * Each end retries as often as the other has told it: the connection manager sends rnr_retry_count in the request and in
 * the answer, and takes what came (cm_req_handler() and cm_rep_handler() of the kernel's cm.c). Of retry_count the
 * client's counts at both ends, as the answer has none. The timeout is of this end (rdma_init_qp_attr() of cma.c), and
 * min_rnr_timer is always 0 (cm_init_qp_rtr_attr()): only programs in the kernel have rdma_set_min_rnr_timer(). The same
 * in Linux 6.1 to 7.2.
 */
#include "cm.h"

unsigned int cm_advice(struct ibv_qp *qp, struct explain_finding finding[CM_ADVICE])
{
	static const struct {
		int bit;
		size_t offset; /* in struct ibv_qp_attr, of a byte that is 0 */
		struct explain_finding is;
	} rows[CM_ADVICE] = {
#define ROW(BIT, member, WHY, FIELD, WHAT, NEXT)                                       \
	{                                                                              \
		BIT, offsetof(struct ibv_qp_attr, member),                             \
		{                                                                      \
			.severity = RDMAEZ_DIAG_ADVICE, .reason = WHY, .field = FIELD, \
			.what = WHAT, .next = NEXT                                     \
		}                                                                      \
	}
		ROW(IBV_QP_MIN_RNR_TIMER, min_rnr_timer, "RNR_TIMER_ZERO", "min_rnr_timer",
		    "librdmacm has set min_rnr_timer to 0, which is not the shortest wait but the "
		    "longest, 655.36 ms: a peer whose send finds no receive waits that long",
		    "call ibv_modify_qp() with IBV_QP_MIN_RNR_TIMER alone and 12 (0.64 ms), once "
		    "the connection is established; librdmacm has no option for it"),
		ROW(IBV_QP_RNR_RETRY, rnr_retry, "RNR_RETRY_ZERO", "rnr_retry",
		    "the peer's rnr_retry_count is 0, so this end's first send that finds no "
		    "receive there breaks the connection",
		    "set conn_param.rnr_retry_count to 7, which retries forever, at both ends: "
		    "rdma_cm takes each for the sends of the other"),
		ROW(IBV_QP_RETRY_CNT, retry_cnt, "RETRY_ZERO", "retry_cnt",
		    "the client's retry_count is 0, so the first lost packet breaks the connection",
		    "set conn_param.retry_count of rdma_connect() to 7; rdma_cm takes it for both "
		    "ends"),
		ROW(IBV_QP_TIMEOUT, timeout, "TIMEOUT_ZERO", "timeout",
		    "with timeout 0 no ACK timer runs, so a lost peer is never noticed",
		    "set RDMA_OPTION_ID_ACK_TIMEOUT to 14 (67 ms) or more with rdma_set_option(), "
		    "before rdma_connect() or rdma_accept()"),
#undef ROW
	};
	const enum ibv_qp_state state = qp->state;
	struct ibv_qp_init_attr init;
	struct ibv_device_attr device;
	struct ibv_qp_attr now;
	unsigned int count = 0;
	int mask = IBV_QP_STATE, error;

	/* iWARP has no such numbers. */
	if (qp->qp_type != IBV_QPT_RC ||
	    qp->context->device->transport_type == IBV_TRANSPORT_IWARP ||
	    ibv_query_device(qp->context, &device))
		return 0;
	for (size_t i = 0; i < CM_ADVICE; i++)
		mask |= rows[i].bit;
	mask &= rdmaez_driver_of(&device)->reports;
	error = ibv_query_qp(qp, &now, mask, &init);
	explain_keep_state(qp, state);
	/* Before it was connected, and once it has failed, they say nothing. */
	if (error || !(mask & IBV_QP_STATE) || now.qp_state != IBV_QPS_RTS)
		return 0;
	for (size_t i = 0; i < CM_ADVICE; i++)
		if ((mask & rows[i].bit) && !((const uint8_t *)&now)[rows[i].offset])
			finding[count++] = rows[i].is;
	return count;
}
