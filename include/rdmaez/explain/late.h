/* SPDX-License-Identifier: MIT */
/* Explains what may have held up a wait whose time is over. */
#ifndef RDMAEZ_EXPLAIN_LATE_H
#define RDMAEZ_EXPLAIN_LATE_H

#include <sys/socket.h>

#include "qp_examine.h"

RDMAEZ_IMPL_BEGIN

/*
 * A program that waits for less than this at a time, 1 s, looks around meanwhile. Asking each time
 * would only slow it down.
 */
#define RDMAEZ_IMPL_LATE_NS UINT64_C(1000000000)

/*
 * Explains that no completion has come in time out of a queue. The record's first finding says so.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_late_wait(const struct ibv_cq *cq, struct ibv_qp *qp,
					     uint64_t waited_ns, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_qp_exam e;
	struct rdmaez_qp_known known;
	bool is_one;

	if (!qp || waited_ns < RDMAEZ_IMPL_LATE_NS)
		return;
	memset(&known, 0, sizeof(known));
	known.cq = cq;
	known.quiet_ns = waited_ns;
	if (cq == qp->send_cq)
		known.waits |= RDMAEZ_QUEUE_SEND;
	if (cq == qp->recv_cq)
		known.waits |= RDMAEZ_QUEUE_RECV;
	is_one = known.waits == RDMAEZ_QUEUE_SEND || known.waits == RDMAEZ_QUEUE_RECV;
	rdmaez_impl_qp_exam_begin(&e, qp, &known, diag);
	e.is_one = is_one && qp->send_cq && qp->recv_cq;
	rdmaez_impl_qp_exam_run(&e, qp, diag->count);
}

/*
 * Explains that a queue pair has not drained in time: in SQD, where it waits for the peer, or in
 * ERR, where port, path and peer do not matter any more. It is in the state that the program has
 * put it into, unless another one is found.
 */
RDMAEZ_SEAM void rdmaez_impl_late_drain(struct ibv_qp *qp, uint64_t timeout_ns,
					struct rdmaez_diag *diag)
{
	const int from = diag->from;
	struct rdmaez_impl_qp_exam e;
	struct rdmaez_qp_known known;

	if (timeout_ns && timeout_ns < RDMAEZ_IMPL_LATE_NS)
		return;
	memset(&known, 0, sizeof(known));
	known.waits = RDMAEZ_QUEUE_SEND;
	rdmaez_impl_qp_exam_begin(&e, qp, &known, diag);
	e.meant = 1u << IBV_QPS_SQD;
	if (rdmaez_diag_find(diag, RDMAEZ_WHY_SQ_DRAINING)) {
		rdmaez_impl_qp_exam_run(&e, qp, diag->count);
	} else {
		rdmaez_impl_qp_exam_ask(&e, qp);
		rdmaez_impl_exam_event(qp->context, diag);
	}
	diag->from = from;
}

/*
 * Explains that a peer has not answered in time. TCP tells how far the data that were sent have come.
 * TCP_INFO begins with the state, a byte, of which 1 is ESTABLISHED. At byte 24 is the number of
 * segments that were sent and not acknowledged.
 */
RDMAEZ_SEAM void rdmaez_impl_late_exchange(const struct rdmaez_impl_exchange *x,
					   struct rdmaez_diag *diag)
{
	const int ipproto_tcp = 6, tcp_info = 11;
	uint32_t word[26], unacked;
	socklen_t size = sizeof(word);
	uint8_t state;
	struct rdmaez_impl_site site = {"TCP_INFO", RDMAEZ_WHY_EXCHANGE_UNACKED,
					RDMAEZ_VALUE_COUNTED, 0, 0};

	memset(word, 0, sizeof(word));
	if (diag->error != ETIMEDOUT ||
	    !(rdmaez_diag_find(diag, RDMAEZ_WHY_EXCHANGE_SILENT) ||
	      rdmaez_diag_find(diag, RDMAEZ_WHY_EXCHANGE_PART)) ||
	    getsockopt(x->socket, ipproto_tcp, tcp_info, word, &size) || size < 28)
		return;
	memcpy(&state, word, 1);
	unacked = word[6];
	if (unacked)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &site, unacked);
	else if (state == 1 && x->sent == x->size && !x->got)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_EXCHANGE_ACKED,
				       "TCP_INFO");
}

RDMAEZ_IMPL_END

#endif
