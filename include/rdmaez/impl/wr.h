/* SPDX-License-Identifier: MIT */
/* Bodies of wr.h. */
#ifndef RDMAEZ_IMPL_WR_H
#define RDMAEZ_IMPL_WR_H

#include "../wr.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES

#include "../driver.h"
#include "../units.h"
#include "explain.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* What is known after a failure. */
struct rdmaez_impl_wr_case {
	struct ibv_qp *qp;
	struct ibv_qp_attr
		attr; /* true state, granted caps, port; zero if the device did not answer */
	struct ibv_qp_init_attr init;
	enum ibv_qp_state state;
	int error;
	struct rdmaez_diag *diag;
};

/* A certain cause. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_wrong(const struct rdmaez_impl_wr_case *c,
					   enum rdmaez_why reason, const char *field,
					   enum rdmaez_value kind, uint64_t value, uint64_t min,
					   uint64_t max)
{
	rdmaez_impl_diag_add(c->diag, RDMAEZ_DIAG_ERROR, reason, field, kind, value, min, max);
}

/* Starts the record of a failure and asks the device; false where it does not answer. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_wr_begin(struct rdmaez_impl_wr_case *c, struct ibv_qp *qp,
					   const char *call, int error, struct rdmaez_diag *diag)
{
	int query_error;

	memset(c, 0, sizeof(*c));
	c->qp = qp;
	c->error = error;
	c->diag = diag;
	rdmaez_impl_diag_reset(diag, call);
	rdmaez_impl_diag_qp(diag, qp);
	diag->error = error;
	query_error = rdmaez_impl_error(
		ibv_query_qp(qp, &c->attr, IBV_QP_STATE | IBV_QP_CAP | IBV_QP_PORT, &c->init));
	c->state = c->attr.qp_state;
	if (query_error)
		rdmaez_impl_suspect(diag, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_qp",
				    RDMAEZ_VALUE_NONE, 0, 0, 0);
	return !query_error;
}

/* Which work request it was, or that nobody says. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_locate(const struct rdmaez_impl_wr_case *c, bool located,
					    uint64_t position)
{
	if (located)
		rdmaez_impl_wr_wrong(c, RDMAEZ_WHY_WR_BAD, "bad_wr", RDMAEZ_VALUE_POSITION,
				     position, 0, 0);
	else
		rdmaez_impl_suspect(c->diag, RDMAEZ_WHY_WR_BAD_UNKNOWN, "bad_wr", RDMAEZ_VALUE_NONE,
				    0, 0, 0);
}

/* The state: too early, or too late for some. `ready` has a bit for each state that takes work. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_state(const struct rdmaez_impl_wr_case *c,
						   uint64_t ready)
{
	if (!(ready >> c->state & 1))
		rdmaez_impl_wr_wrong(c, RDMAEZ_WHY_WR_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW,
				     c->state, 0, ready);
	else if (c->state == IBV_QPS_ERR || c->state == IBV_QPS_SQE)
		rdmaez_impl_suspect(c->diag, RDMAEZ_WHY_WR_QP_ERROR, "qp_state",
				    RDMAEZ_VALUE_STATE_NOW, c->state, 0,
				    ready & ~(UINT64_C(3) << IBV_QPS_SQE));
}

/* The SGEs; whether their number can be believed. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_wr_explain_sges(const struct rdmaez_impl_wr_case *c, int num_sge,
						  const struct ibv_sge *sg_list, uint32_t max)
{
	if (num_sge < 0 || (uint32_t)num_sge > max) {
		rdmaez_impl_wr_wrong(c, RDMAEZ_WHY_WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER,
				     (uint64_t)(int64_t)num_sge, 0, max);
		return false;
	}
	if (num_sge && !sg_list) {
		rdmaez_impl_wr_wrong(c, RDMAEZ_WHY_NULL_ARGUMENT, "sg_list", RDMAEZ_VALUE_NONE, 0,
				     0, 0);
		return false;
	}
	return true;
}

/* Nothing wrong was found: the queue seems full, or the errno is all there is. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_rest(const struct rdmaez_impl_wr_case *c,
						  const char *verb, const char *field,
						  uint32_t depth)
{
	if (!depth)
		rdmaez_impl_wr_wrong(c, RDMAEZ_WHY_WR_NO_QUEUE, field, RDMAEZ_VALUE_NUMBER, 0, 1,
				     UINT32_MAX);
	else if (c->error == ENOMEM)
		rdmaez_impl_suspect(c->diag, RDMAEZ_WHY_WR_QUEUE_FULL, field, RDMAEZ_VALUE_LIMIT, 0,
				    0, depth);
	else
		rdmaez_impl_explain_errno(c->diag, verb, c->error);
}

/* A send over UD: a handle of the same domain, and one packet. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_ud(const struct rdmaez_impl_wr_case *c,
						const struct ibv_send_wr *wr, uint64_t length)
{
	struct ibv_port_attr port;
	int mtu;

	if (!wr->wr.ud.ah)
		rdmaez_impl_wr_wrong(c, RDMAEZ_WHY_NULL_ARGUMENT, "wr.ud.ah", RDMAEZ_VALUE_NONE, 0,
				     0, 0);
	else if (wr->wr.ud.ah->pd != c->qp->pd)
		rdmaez_impl_suspect(c->diag, RDMAEZ_WHY_WR_AH_PD, "wr.ud.ah", RDMAEZ_VALUE_NONE, 0,
				    0, 0);
	if (wr->opcode == IBV_WR_TSO || !c->attr.port_num ||
	    ibv_query_port(c->qp->context, c->attr.port_num, &port))
		return;
	mtu = rdmaez_mtu_bytes(port.active_mtu);
	if (mtu && length > (uint64_t)mtu)
		rdmaez_impl_suspect(c->diag, RDMAEZ_WHY_WR_UD_LENGTH, "sg_list", RDMAEZ_VALUE_BYTES,
				    length, 0, (uint64_t)mtu);
}

/* What is wrong with a send work request by itself, whatever the queue and the state are like. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_request(const struct rdmaez_impl_wr_case *c,
						     const struct ibv_send_wr *wr)
{
	const struct ibv_qp_cap *cap = &c->attr.cap;
	const unsigned int opcode = (unsigned int)wr->opcode;
	const uint32_t is = opcode < 32 ? UINT32_C(1) << opcode : 0;
	const bool is_atomic = (is & (RDMAEZ_IMPL_WR(ATOMIC_CMP_AND_SWP) |
				      RDMAEZ_IMPL_WR(ATOMIC_FETCH_AND_ADD))) != 0;
	const bool is_inline = (wr->send_flags & IBV_SEND_INLINE) != 0;
	uint64_t length = 0;

	if (!(is & rdmaez_impl_wr_opcodes(c->qp->qp_type)))
		rdmaez_impl_wr_wrong(c, RDMAEZ_WHY_WR_OPCODE, "opcode", RDMAEZ_VALUE_OPCODE, opcode,
				     0, 0);
	if (!rdmaez_impl_wr_explain_sges(c, wr->num_sge, wr->sg_list, cap->max_send_sge))
		return;
	for (int i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	if (is_inline && length > cap->max_inline_data)
		rdmaez_impl_wr_wrong(c, RDMAEZ_WHY_WR_INLINE, "sg_list", RDMAEZ_VALUE_BYTES, length,
				     0, cap->max_inline_data);
	if (is_inline && (is_atomic || (is & RDMAEZ_IMPL_WR(RDMA_READ))))
		rdmaez_impl_suspect(c->diag, RDMAEZ_WHY_WR_INLINE_OPCODE, "send_flags",
				    RDMAEZ_VALUE_OPCODE, opcode, 0, 0);
	if (is_atomic && length != 8)
		rdmaez_impl_wr_wrong(c, RDMAEZ_WHY_WR_ATOMIC, "sg_list", RDMAEZ_VALUE_BYTES, length,
				     8, 8);
	if (is_atomic && wr->wr.atomic.remote_addr % 8)
		rdmaez_impl_wr_wrong(c, RDMAEZ_WHY_WR_ATOMIC, "wr.atomic.remote_addr",
				     RDMAEZ_VALUE_ADDRESS, wr->wr.atomic.remote_addr, 0, 0);
	if (c->qp->qp_type == IBV_QPT_UD)
		rdmaez_impl_wr_explain_ud(c, wr, length);
}

/* What only one driver minds. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_driver(const struct rdmaez_impl_wr_case *c,
						    const struct ibv_send_wr *wr)
{
	struct ibv_device_attr device;

	memset(&device, 0, sizeof(device));
	if (!(wr->send_flags & IBV_SEND_SIGNALED) && !c->init.sq_sig_all &&
	    !ibv_query_device(c->qp->context, &device) &&
	    (rdmaez_driver_of(&device)->traits & RDMAEZ_DRIVER_EFA))
		rdmaez_impl_wr_wrong(c, RDMAEZ_WHY_WR_UNSIGNALED, "send_flags", RDMAEZ_VALUE_FLAGS,
				     IBV_SEND_SIGNALED, 0, wr->send_flags);
}

/* ibv_post_send() has failed: find the work request, and what is wrong with it. */
RDMAEZ_COLD int rdmaez_impl_wr_send_failed(struct ibv_qp *qp, const struct ibv_send_wr *wr,
					   const struct ibv_send_wr *bad, int returned,
					   struct rdmaez_diag *diag)
{
	const uint64_t ready =
		1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE | 1 << IBV_QPS_ERR;
	const int error = rdmaez_impl_error(returned);
	const struct ibv_send_wr *at = wr;
	struct rdmaez_impl_wr_case c;
	uint64_t position = 0;
	unsigned int before;
	bool named;

	if (!diag || !rdmaez_impl_wr_begin(&c, qp, "ibv_post_send", error, diag))
		return error;
	if (!wr)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_NULL_ARGUMENT, "wr");
	for (; bad && at && at != bad; at = at->next)
		position++;
	named = bad && at;
	rdmaez_impl_wr_locate(&c, named, position);
	before = diag->count;
	rdmaez_impl_wr_explain_state(&c, ready);
	/* If nobody says which, it can still be the only one. */
	if (!named)
		at = wr;
	if (named || !wr->next)
		rdmaez_impl_wr_explain_request(&c, at);
	if (diag->count == before && error == EINVAL)
		rdmaez_impl_wr_explain_driver(&c, at);
	if (diag->count == before)
		rdmaez_impl_wr_explain_rest(&c, "ibv_post_send", "cap.max_send_wr",
					    c.attr.cap.max_send_wr);
	return error;
}

/* ibv_post_recv() has failed: find the work request, and what is wrong with it. */
RDMAEZ_COLD int rdmaez_impl_wr_recv_failed(struct ibv_qp *qp, const struct ibv_recv_wr *wr,
					   const struct ibv_recv_wr *bad, int returned,
					   struct rdmaez_diag *diag)
{
	const uint64_t ready = 1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR | 1 << IBV_QPS_RTS |
			       1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE | 1 << IBV_QPS_ERR;
	const int error = rdmaez_impl_error(returned);
	const struct ibv_recv_wr *at = wr;
	struct rdmaez_impl_wr_case c;
	uint64_t position = 0;
	unsigned int before;
	bool named;

	if (!diag || !rdmaez_impl_wr_begin(&c, qp, "ibv_post_recv", error, diag))
		return error;
	if (!wr)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_NULL_ARGUMENT, "wr");
	for (; bad && at && at != bad; at = at->next)
		position++;
	named = bad && at;
	rdmaez_impl_wr_locate(&c, named, position);
	if (qp->srq) {
		rdmaez_impl_wr_wrong(&c, RDMAEZ_WHY_WR_SRQ, "srq", RDMAEZ_VALUE_NONE, 0, 0, 0);
		return error;
	}
	before = diag->count;
	rdmaez_impl_wr_explain_state(&c, ready);
	if (!named)
		at = wr;
	if (c.attr.cap.max_recv_wr && (named || !wr->next))
		rdmaez_impl_wr_explain_sges(&c, at->num_sge, at->sg_list, c.attr.cap.max_recv_sge);
	if (diag->count == before)
		rdmaez_impl_wr_explain_rest(&c, "ibv_post_recv", "cap.max_recv_wr",
					    c.attr.cap.max_recv_wr);
	return error;
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
