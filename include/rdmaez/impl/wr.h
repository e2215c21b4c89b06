/* SPDX-License-Identifier: MIT */
/* Bodies of wr.h. */
#ifndef RDMAEZ_IMPL_WR_H
#define RDMAEZ_IMPL_WR_H

#ifndef RDMAEZ_WR_H
#include "../wr.h"
#endif

RDMAEZ_IMPL_BEGIN

/* What is looked into once a verb has failed. */
RDMAEZ_COLD int rdmaez_impl_wr_send_failed(struct ibv_qp *qp, const struct ibv_send_wr *wr,
					   const struct ibv_send_wr *bad, int returned,
					   struct rdmaez_diag *diag);
RDMAEZ_COLD int rdmaez_impl_wr_recv_failed(struct ibv_qp *qp, const struct ibv_recv_wr *wr,
					   const struct ibv_recv_wr *bad, int returned,
					   struct rdmaez_diag *diag);

RDMAEZ_FOLD int rdmaez_wr_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
				    struct ibv_send_wr **bad_wr, struct rdmaez_diag *diag)
{
	struct ibv_send_wr *bad = NULL;
	const int returned = ibv_post_send(qp, wr, &bad);

	if (!returned)
		return 0;
	if (bad_wr)
		*bad_wr = bad;
	return rdmaez_impl_wr_send_failed(qp, wr, bad, returned, diag);
}

RDMAEZ_FOLD int rdmaez_wr_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				    struct ibv_recv_wr **bad_wr, struct rdmaez_diag *diag)
{
	struct ibv_recv_wr *bad = NULL;
	const int returned = ibv_post_recv(qp, wr, &bad);

	if (!returned)
		return 0;
	if (bad_wr)
		*bad_wr = bad;
	return rdmaez_impl_wr_recv_failed(qp, wr, bad, returned, diag);
}

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif
#ifndef RDMAEZ_UNITS_H
#include "../units.h"
#endif
#include "explain.h"

RDMAEZ_IMPL_BEGIN

#define RDMAEZ_IMPL_WR(opcode) (UINT32_C(1) << IBV_WR_##opcode)

/* The opcodes that a type takes, as ibv_post_send(3) lists them. FLUSH and ATOMIC_WRITE, 14 and 15, got
 * their names in rdma-core 58 and 44; DRIVER1 and the driver types follow their driver. */
RDMAEZ_IMPL_COLD uint32_t rdmaez_impl_wr_opcodes(enum ibv_qp_type type)
{
	const uint32_t sends = RDMAEZ_IMPL_WR(SEND) | RDMAEZ_IMPL_WR(DRIVER1);
	const uint32_t unreliable = sends | RDMAEZ_IMPL_WR(SEND_WITH_IMM) |
				    RDMAEZ_IMPL_WR(SEND_WITH_INV) | RDMAEZ_IMPL_WR(RDMA_WRITE) |
				    RDMAEZ_IMPL_WR(RDMA_WRITE_WITH_IMM) |
				    RDMAEZ_IMPL_WR(LOCAL_INV) | RDMAEZ_IMPL_WR(BIND_MW);

	switch ((int)type) {
	case IBV_QPT_UD:
		return sends | RDMAEZ_IMPL_WR(SEND_WITH_IMM) | RDMAEZ_IMPL_WR(TSO);
	case IBV_QPT_RAW_PACKET:
		return sends | RDMAEZ_IMPL_WR(TSO);
	case IBV_QPT_UC:
		return unreliable;
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return unreliable | RDMAEZ_IMPL_WR(RDMA_READ) | RDMAEZ_IMPL_WR(ATOMIC_CMP_AND_SWP) |
		       RDMAEZ_IMPL_WR(ATOMIC_FETCH_AND_ADD) | UINT32_C(3) << 14;
	case IBV_QPT_XRC_RECV:
		return 0;
	default:
		return UINT32_MAX;
	}
}

/* One of the two queues, and the functions that post to it. */
struct rdmaez_impl_wr_queue {
	const char *call, *verb;
	const char *depth; /* the field that says how many work requests the queue holds */
	bool sends;
	uint32_t ready; /* a bit for each state in which it takes work requests */
};

/* What is known after a failure. */
struct rdmaez_impl_wr_case {
	struct ibv_qp *qp;
	struct ibv_qp_attr attr; /* the true state, the capacities granted, the port */
	struct ibv_qp_init_attr init;
	int error;
	struct rdmaez_diag *diag;
};

/* Starts the record of a failure and asks the device; false where it does not answer. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_wr_begin(struct rdmaez_impl_wr_case *c, struct ibv_qp *qp,
					   const struct rdmaez_impl_wr_queue *queue, int error,
					   struct rdmaez_diag *diag)
{
	memset(c, 0, sizeof(*c));
	c->qp = qp;
	c->error = error;
	c->diag = diag;
	rdmaez_impl_diag_reset(diag, queue->call);
	rdmaez_impl_diag_qp(diag, qp);
	diag->verb = queue->verb;
	diag->error = error;
	if (!ibv_query_qp(qp, &c->attr, IBV_QP_STATE | IBV_QP_CAP | IBV_QP_PORT, &c->init))
		return true;
	rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_qp");
	return false;
}

/* The next work request of a list. Both kinds have the pointer in the same place. */
RDMAEZ_IMPL_COLD const void *rdmaez_impl_wr_next(const void *wr)
{
	memcpy(&wr, (const char *)wr + offsetof(struct ibv_recv_wr, next), sizeof(wr));
	return wr;
}

/* The work request that the provider names, or the only one; NULL where it could be any. */
RDMAEZ_IMPL_COLD const void *rdmaez_impl_wr_locate(const struct rdmaez_impl_wr_case *c,
						   const void *wr, const void *bad)
{
	static const struct rdmaez_impl_site named = {"bad_wr", RDMAEZ_WHY_WR_BAD,
						      RDMAEZ_VALUE_POSITION, 0, 0};
	uint64_t position = 0;

	for (const void *at = wr; bad && at; at = rdmaez_impl_wr_next(at), position++)
		if (at == bad) {
			rdmaez_impl_find(c->diag, RDMAEZ_DIAG_ERROR, &named, position);
			return at;
		}
	rdmaez_impl_find_plain(c->diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_WR_BAD_UNKNOWN, "bad_wr");
	return rdmaez_impl_wr_next(wr) ? NULL : wr;
}

/* The state: too early, or too late for some drivers. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_state(const struct rdmaez_impl_wr_case *c,
						   uint32_t ready)
{
	static const struct rdmaez_impl_site early = {"qp_state", RDMAEZ_WHY_WR_STATE,
						      RDMAEZ_VALUE_STATE_NOW, 0, 0};
	static const struct rdmaez_impl_site late = {"qp_state", RDMAEZ_WHY_WR_QP_ERROR,
						     RDMAEZ_VALUE_STATE_NOW, 0, 0};
	const unsigned int state = (unsigned int)c->attr.qp_state;

	if (state > IBV_QPS_ERR)
		return; /* the provider has not filled it in */
	if (!(ready >> state & 1))
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_ERROR, &early, state, 0, ready);
	else if (state == IBV_QPS_ERR || state == IBV_QPS_SQE)
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_LIKELY, &late, state, 0,
					ready & ~(UINT32_C(3) << IBV_QPS_SQE));
}

/* The SGEs; whether their number can be believed. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_wr_explain_sges(const struct rdmaez_impl_wr_case *c, int num_sge,
						  const struct ibv_sge *sg_list, uint32_t max)
{
	static const struct rdmaez_impl_site number = {"num_sge", RDMAEZ_WHY_WR_SGE,
						       RDMAEZ_VALUE_NUMBER, 0, 0};

	if (num_sge < 0 || (uint32_t)num_sge > max)
		rdmaez_impl_refuse_within(c->diag, c->error, &number, num_sge, 0, max);
	else if (num_sge && !sg_list)
		rdmaez_impl_refuse(c->diag, c->error, RDMAEZ_WHY_NULL_ARGUMENT, "sg_list");
	else
		return true;
	return false;
}

/* A send over UD: a handle of the same domain, and one packet. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_ud(const struct rdmaez_impl_wr_case *c,
						const struct ibv_send_wr *wr, uint64_t length)
{
	static const struct rdmaez_impl_site too_long = {"sg_list", RDMAEZ_WHY_WR_UD_LENGTH,
							 RDMAEZ_VALUE_BYTES, 0, 0};
	struct ibv_port_attr port;
	int mtu;

	if (!wr->wr.ud.ah)
		rdmaez_impl_refuse(c->diag, c->error, RDMAEZ_WHY_NULL_ARGUMENT, "wr.ud.ah");
	else if (wr->wr.ud.ah->pd != c->qp->pd)
		rdmaez_impl_find_plain(c->diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_WR_AH_PD,
				       "wr.ud.ah");
	memset(&port, 0, sizeof(port));
	if (wr->opcode == IBV_WR_TSO || !c->attr.port_num ||
	    ibv_query_port(c->qp->context, c->attr.port_num, &port))
		return;
	mtu = rdmaez_mtu_bytes(port.active_mtu);
	if (mtu && length > (uint64_t)mtu)
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_LIKELY, &too_long, length, 0,
					(uint64_t)mtu);
}

/* An atomic: its length, and the address at the peer. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_atomic(const struct rdmaez_impl_wr_case *c,
						    const struct ibv_send_wr *wr, uint64_t length)
{
	static const struct rdmaez_impl_site size = {"sg_list", RDMAEZ_WHY_WR_ATOMIC,
						     RDMAEZ_VALUE_BYTES, 8, 8};
	static const struct rdmaez_impl_site address = {
		"wr.atomic.remote_addr", RDMAEZ_WHY_WR_ATOMIC, RDMAEZ_VALUE_ADDRESS, 0, 0};

	if (length != 8)
		rdmaez_impl_find(c->diag, RDMAEZ_DIAG_ERROR, &size, length);
	if (wr->wr.atomic.remote_addr % 8)
		rdmaez_impl_find(c->diag, RDMAEZ_DIAG_ERROR, &address, wr->wr.atomic.remote_addr);
}

/* What is wrong with a send work request by itself, whatever the queue and the state are like. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_request(const struct rdmaez_impl_wr_case *c,
						     const struct ibv_send_wr *wr)
{
	static const struct rdmaez_impl_site not_taken = {"opcode", RDMAEZ_WHY_WR_OPCODE,
							  RDMAEZ_VALUE_OPCODE, 0, 0};
	static const struct rdmaez_impl_site too_long = {"sg_list", RDMAEZ_WHY_WR_INLINE,
							 RDMAEZ_VALUE_BYTES, 0, 0};
	static const struct rdmaez_impl_site never_inline = {
		"send_flags", RDMAEZ_WHY_WR_INLINE_OPCODE, RDMAEZ_VALUE_OPCODE, 0, 0};
	const uint32_t atomics =
		RDMAEZ_IMPL_WR(ATOMIC_CMP_AND_SWP) | RDMAEZ_IMPL_WR(ATOMIC_FETCH_AND_ADD);
	const struct ibv_qp_cap *cap = &c->attr.cap;
	const unsigned int opcode = (unsigned int)wr->opcode;
	const uint32_t is = opcode < 32 ? UINT32_C(1) << opcode : 0;
	const bool is_inline = (wr->send_flags & IBV_SEND_INLINE) != 0;
	uint64_t length = 0;

	if (!(is & rdmaez_impl_wr_opcodes(c->qp->qp_type)))
		rdmaez_impl_find(c->diag, RDMAEZ_DIAG_ERROR, &not_taken, opcode);
	if (!rdmaez_impl_wr_explain_sges(c, wr->num_sge, wr->sg_list, cap->max_send_sge))
		return;
	for (int i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	if (is_inline && length > cap->max_inline_data)
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_ERROR, &too_long, length, 0,
					cap->max_inline_data);
	if (is_inline && (is & (atomics | RDMAEZ_IMPL_WR(RDMA_READ))))
		rdmaez_impl_find(c->diag, RDMAEZ_DIAG_LIKELY, &never_inline, opcode);
	if (is & atomics)
		rdmaez_impl_wr_explain_atomic(c, wr, length);
	if (c->qp->qp_type == IBV_QPT_UD)
		rdmaez_impl_wr_explain_ud(c, wr, length);
}

/* What only one driver minds. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_driver(const struct rdmaez_impl_wr_case *c,
						    const struct ibv_send_wr *wr)
{
	static const struct rdmaez_impl_site unsignaled = {"send_flags", RDMAEZ_WHY_WR_UNSIGNALED,
							   RDMAEZ_VALUE_FLAGS, 0, 0};
	struct ibv_device_attr device;

	memset(&device, 0, sizeof(device));
	if (!(wr->send_flags & IBV_SEND_SIGNALED) && !c->init.sq_sig_all &&
	    !ibv_query_device(c->qp->context, &device) &&
	    (rdmaez_driver_of(&device)->traits & RDMAEZ_DRIVER_SIGNALED))
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_ERROR, &unsignaled, IBV_SEND_SIGNALED,
					0, wr->send_flags);
}

/* Nothing wrong was found: the queue seems full, or the errno is all there is. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_rest(const struct rdmaez_impl_wr_case *c,
						  const struct rdmaez_impl_wr_queue *queue)
{
	const uint32_t depth = queue->sends ? c->attr.cap.max_send_wr : c->attr.cap.max_recv_wr;
	struct rdmaez_impl_site site = {queue->depth, RDMAEZ_WHY_WR_NO_QUEUE, RDMAEZ_VALUE_NUMBER,
					1, UINT32_MAX};

	if (!depth) {
		rdmaez_impl_find(c->diag, RDMAEZ_DIAG_ERROR, &site, 0);
	} else if (c->error == ENOMEM) {
		site.why = RDMAEZ_WHY_WR_QUEUE_FULL;
		site.kind = RDMAEZ_VALUE_LIMIT;
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_LIKELY, &site, 0, 0, depth);
	} else {
		rdmaez_impl_explain_errno(c->diag, queue->verb, c->error);
	}
}

/* A verb has refused to post: find the work request, and what is wrong with it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wr_failed(const struct rdmaez_impl_wr_queue *queue,
					   struct ibv_qp *qp, const void *wr, const void *bad,
					   int error, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_wr_case c;
	unsigned int before;
	const void *at;

	if (!diag || !rdmaez_impl_wr_begin(&c, qp, queue, error, diag))
		return error;
	if (!wr)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_NULL_ARGUMENT, "wr");
	at = rdmaez_impl_wr_locate(&c, wr, bad);
	if (!queue->sends && qp->srq)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_WR_SRQ, "srq");
	before = diag->count;
	rdmaez_impl_wr_explain_state(&c, queue->ready);
	if (at && queue->sends) {
		rdmaez_impl_wr_explain_request(&c, (const struct ibv_send_wr *)at);
	} else if (at && c.attr.cap.max_recv_wr) {
		const struct ibv_recv_wr *const recv = (const struct ibv_recv_wr *)at;

		rdmaez_impl_wr_explain_sges(&c, recv->num_sge, recv->sg_list,
					    c.attr.cap.max_recv_sge);
	}
	if (diag->count == before && queue->sends && error == EINVAL)
		rdmaez_impl_wr_explain_driver(&c, (const struct ibv_send_wr *)(at ? at : wr));
	if (diag->count == before)
		rdmaez_impl_wr_explain_rest(&c, queue);
	return error;
}

RDMAEZ_COLD int rdmaez_impl_wr_send_failed(struct ibv_qp *qp, const struct ibv_send_wr *wr,
					   const struct ibv_send_wr *bad, int returned,
					   struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_wr_queue queue = {
		"rdmaez_wr_post_send", "ibv_post_send", "cap.max_send_wr", true,
		1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE | 1 << IBV_QPS_ERR};

	return rdmaez_impl_wr_failed(&queue, qp, wr, bad, rdmaez_impl_error(returned), diag);
}

RDMAEZ_COLD int rdmaez_impl_wr_recv_failed(struct ibv_qp *qp, const struct ibv_recv_wr *wr,
					   const struct ibv_recv_wr *bad, int returned,
					   struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_wr_queue queue = {
		"rdmaez_wr_post_recv", "ibv_post_recv", "cap.max_recv_wr", false,
		1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR | 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD |
			1 << IBV_QPS_SQE | 1 << IBV_QPS_ERR};

	return rdmaez_impl_wr_failed(&queue, qp, wr, bad, rdmaez_impl_error(returned), diag);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
