/* SPDX-License-Identifier: MIT */
/* Explains why a work request was not posted. */
#ifndef RDMAEZ_EXPLAIN_WR_H
#define RDMAEZ_EXPLAIN_WR_H

#include "qp_check.h"
#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/* Says what rdmaez_impl_wr_ex_has() objects to. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_wr_ex_refuse(const struct ibv_send_wr *wr,
					       struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site lacks = {"opcode", RDMAEZ_WHY_WR_EX_OPCODE,
						      RDMAEZ_VALUE_OPCODE, 0, 0};
	static const struct rdmaez_impl_site many = {
		"num_sge", RDMAEZ_WHY_WR_SGE, RDMAEZ_VALUE_NUMBER, 0, RDMAEZ_IMPL_WR_BUFFERS};

	if ((wr->send_flags & IBV_SEND_INLINE) && wr->num_sge > RDMAEZ_IMPL_WR_BUFFERS)
		return rdmaez_impl_refuse_at(diag, EINVAL, &many, wr->num_sge);
	return rdmaez_impl_refuse_at(diag, EINVAL, &lacks, (int64_t)wr->opcode);
}

/* In these states a queue pair sends, or completes what is posted with an error. */
#define RDMAEZ_IMPL_WR_SENDING \
	(1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE | 1 << IBV_QPS_ERR)

/* This is one of the queues, and the functions that post to it. */
struct rdmaez_impl_wr_queue {
	const char *depth; /* the field that says how many work requests the queue holds */
	bool sends;
	uint32_t ready; /* a bit for each state in which it takes work requests */
	bool is_ex;     /* by the extended interface */
};

/* This is what is known after a failure. */
struct rdmaez_impl_wr_case {
	const struct rdmaez_impl_wr_queue *queue;
	const struct ibv_qp *qp; /* NULL: the queue is shared */
	struct ibv_context *context;
	struct ibv_device_attr device;
	const struct rdmaez_driver *driver;
	unsigned int checks;
	int state;       /* negative: not known */
	bool state_told; /* by the device, and not by libibverbs, which may not know of an error */
	bool has_limits;
	uint32_t max_wr, max_sge, max_inline;
	uint8_t port_num; /* 0: not known */
	int unanswered;   /* what the query that failed returned; 0: there was none */
	int error;
	struct rdmaez_diag *diag;
};

/*
 * Asks the queue pair. libibverbs does not know what iWARP drivers leave out, because others move
 * their queue pairs.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wr_ask(struct rdmaez_impl_wr_case *c, struct ibv_qp *qp)
{
	const bool iwarp = c->context->device->transport_type == IBV_TRANSPORT_IWARP;
	const struct ibv_qp_cap none = {0, 0, 0, 0, 0};
	struct rdmaez_impl_qp_now now;
	const struct ibv_qp_cap *const cap = &now.attr.cap;

	c->qp = qp;
	rdmaez_impl_qp_ask_now(qp, c->driver, IBV_QP_STATE | IBV_QP_CAP | IBV_QP_PORT, &now);
	c->state_told = (now.known & IBV_QP_STATE) != 0;
	if (c->state_told)
		c->state = (int)now.attr.qp_state;
	else if (!iwarp && (unsigned int)qp->state <= IBV_QPS_ERR)
		c->state = (int)qp->state;
	/* Drivers that know no limits leave them all zero. */
	c->has_limits = (now.known & IBV_QP_CAP) && memcmp(cap, &none, sizeof(none)) != 0;
	c->max_wr = c->queue->sends ? cap->max_send_wr : cap->max_recv_wr;
	c->max_sge = c->queue->sends ? cap->max_send_sge : cap->max_recv_sge;
	c->max_inline = cap->max_inline_data;
	c->port_num = rdmaez_impl_qp_now_port(&now, &c->device);
	if (!now.known)
		c->unanswered = now.error;
}

/* Starts the record of a failure, and asks for its device. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_begin(struct rdmaez_impl_wr_case *c,
					   const struct rdmaez_impl_wr_queue *queue,
					   struct ibv_context *context, struct rdmaez_diag *diag)
{
	memset(c, 0, sizeof(*c));
	c->queue = queue;
	c->context = context;
	c->state = -1;
	c->error = diag->error;
	c->diag = diag;
	if (rdmaez_impl_ask_device(context, &c->device, &c->driver, diag))
		c->device.atomic_cap = IBV_ATOMIC_HCA;
	c->checks = c->driver->checks;
	if (queue->is_ex)
		c->checks &= c->checks & RDMAEZ_DRIVER_CHECKS_EX
				     ? RDMAEZ_DRIVER_CHECKS_SGES | RDMAEZ_DRIVER_CHECKS_INLINE |
					       RDMAEZ_DRIVER_CHECKS_STATES
				     : 0;
}

/* Checks what only one driver minds. efa_query_qp() does not tell whether sq_sig_all is set. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wr_explain_driver(const struct rdmaez_impl_wr_case *c,
						     const struct ibv_send_wr *wr)
{
	static const struct rdmaez_impl_site unsignaled = {"send_flags", RDMAEZ_WHY_WR_UNSIGNALED,
							   RDMAEZ_VALUE_FLAGS, 0, 0};

	if (c->error == EINVAL && !(wr->send_flags & IBV_SEND_SIGNALED) &&
	    (c->driver->traits & RDMAEZ_DRIVER_SIGNALED))
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_LIKELY, &unsignaled, IBV_SEND_SIGNALED,
					0, wr->send_flags);
}

#define RDMAEZ_IMPL_WR(opcode) (UINT32_C(1) << IBV_WR_##opcode)
#define RDMAEZ_IMPL_WR_ATOMICS \
	(RDMAEZ_IMPL_WR(ATOMIC_CMP_AND_SWP) | RDMAEZ_IMPL_WR(ATOMIC_FETCH_AND_ADD))

/* Returns how certain it is: it is if the provider looks at this before it takes a work request. */
RDMAEZ_IMPL_COLD enum rdmaez_severity rdmaez_impl_wr_certain(const struct rdmaez_impl_wr_case *c,
							     unsigned int check)
{
	return c->checks & check ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY;
}

/*
 * Judges an atomic: its length, of which providers refuse at most one below 8 bytes, and the
 * address at the peer.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wr_explain_atomic(const struct rdmaez_impl_wr_case *c,
						     const struct ibv_send_wr *wr, uint64_t length)
{
	static const struct rdmaez_impl_site size = {"sg_list", RDMAEZ_WHY_WR_ATOMIC,
						     RDMAEZ_VALUE_BYTES, 8, 8};
	static const struct rdmaez_impl_site address = {
		"wr.atomic.remote_addr", RDMAEZ_WHY_WR_ATOMIC, RDMAEZ_VALUE_ADDRESS, 0, 0};

	if (length != 8)
		rdmaez_impl_find(
			c->diag,
			rdmaez_impl_wr_certain(c, length < 8 ? RDMAEZ_DRIVER_CHECKS_ATOMICS : 0),
			&size, length);
	if (wr->wr.atomic.remote_addr % 8)
		rdmaez_impl_find(c->diag, rdmaez_impl_wr_certain(c, RDMAEZ_DRIVER_CHECKS_ATOMICS),
				 &address, wr->wr.atomic.remote_addr);
}

/*
 * Judges inline data: how much there is, and whether the operation, which `writes` or not, can have
 * any.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wr_explain_inline(const struct rdmaez_impl_wr_case *c,
						     unsigned int opcode, bool writes,
						     uint64_t length)
{
	static const struct rdmaez_impl_site too_long = {"sg_list", RDMAEZ_WHY_WR_INLINE,
							 RDMAEZ_VALUE_BYTES, 0, 0};
	static const struct rdmaez_impl_site never_inline = {
		"send_flags", RDMAEZ_WHY_WR_INLINE_OPCODE, RDMAEZ_VALUE_OPCODE, 0, 0};

	if (c->has_limits && length > c->max_inline)
		rdmaez_impl_find_within(
			c->diag,
			rdmaez_impl_wr_certain(c, writes ? RDMAEZ_DRIVER_CHECKS_INLINE : 0),
			&too_long, length, 0, c->max_inline);
	if (!writes)
		rdmaez_impl_find(c->diag, RDMAEZ_DIAG_LIKELY, &never_inline, opcode);
}

/*
 * Judges the SGEs. Returns whether all of them can be read. No queue takes more than the device
 * does.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_wr_explain_sges(const struct rdmaez_impl_wr_case *c, int num_sge,
						  const struct ibv_sge *sg_list, unsigned int check)
{
	static const struct rdmaez_impl_site number = {"num_sge", RDMAEZ_WHY_WR_SGE,
						       RDMAEZ_VALUE_NUMBER, 0, 0};
	const int max = c->has_limits ? (int)c->max_sge : c->device.max_sge;
	const bool known = c->has_limits || max;

	if (num_sge < 0 || (known && num_sge > max))
		rdmaez_impl_find_within(c->diag, rdmaez_impl_wr_certain(c, check), &number,
					(uint64_t)num_sge, 0, (uint64_t)max);
	else if (num_sge && !sg_list)
		rdmaez_impl_refuse(c->diag, c->error, RDMAEZ_WHY_NULL_ARGUMENT, "sg_list");
	else
		return known;
	return false;
}

/* Judges a send over UD: it needs a handle of the same domain, and fits into one packet. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wr_explain_ud(const struct rdmaez_impl_wr_case *c,
						 const struct ibv_send_wr *wr, uint64_t length)
{
	static const struct rdmaez_impl_site too_long = {"sg_list", RDMAEZ_WHY_WR_UD_LENGTH,
							 RDMAEZ_VALUE_BYTES, 0, 0};
	struct ibv_port_attr port;
	int mtu = 0;

	if (!wr->wr.ud.ah)
		rdmaez_impl_refuse(c->diag, c->error, RDMAEZ_WHY_NULL_ARGUMENT, "wr.ud.ah");
	else if (wr->wr.ud.ah->pd != c->qp->pd)
		rdmaez_impl_find_plain(c->diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_WR_AH_PD,
				       "wr.ud.ah");
	if (wr->opcode != IBV_WR_TSO && c->port_num &&
	    !ibv_query_port(c->context, c->port_num, &port))
		mtu = rdmaez_mtu_bytes(port.active_mtu);
	if (mtu && length > (uint64_t)mtu)
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_LIKELY, &too_long, length, 0,
					(uint64_t)mtu);
}

/*
 * Returns the opcodes that a type takes, as ibv_post_send(3) lists them. FLUSH and ATOMIC_WRITE, 14
 * and 15, got their names in rdma-core 58 and 44. DRIVER1 and the driver types follow their driver.
 */
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
		return unreliable | RDMAEZ_IMPL_WR(RDMA_READ) | RDMAEZ_IMPL_WR_ATOMICS |
		       UINT32_C(3) << 14;
	case IBV_QPT_XRC_RECV:
		return 0;
	default:
		return UINT32_MAX;
	}
}

/*
 * Judges whether the device has the operation, a bit of RDMAEZ_IMPL_WR(). It is certain where the
 * provider refuses all that it does not have: push_send_wqe() of siw.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_wr_lacks(const struct rdmaez_impl_wr_case *c,
					    unsigned int opcode, uint32_t is)
{
	static const struct rdmaez_impl_site lacks = {"opcode", RDMAEZ_WHY_WR_DEVICE_OPCODE,
						      RDMAEZ_VALUE_OPCODE, 0, 0};
	const uint32_t few = RDMAEZ_IMPL_WR(SEND) | RDMAEZ_IMPL_WR(SEND_WITH_INV) |
			     RDMAEZ_IMPL_WR(RDMA_WRITE) | RDMAEZ_IMPL_WR(RDMA_READ);
	const bool sure = (c->checks & RDMAEZ_DRIVER_CHECKS_FEW) && opcode <= IBV_WR_DRIVER1;

	if (!(sure && !(is & few)) &&
	    !(is & RDMAEZ_IMPL_WR_ATOMICS && c->device.atomic_cap == IBV_ATOMIC_NONE))
		return false;
	rdmaez_impl_find(c->diag, sure ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY, &lacks, opcode);
	return true;
}

/*
 * Finds what is wrong with a send work request by itself, whatever the queue and the state are
 * like.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_one(const struct rdmaez_impl_wr_case *c,
						 const struct ibv_send_wr *wr)
{
	static const struct rdmaez_impl_site not_taken = {"opcode", RDMAEZ_WHY_WR_OPCODE,
							  RDMAEZ_VALUE_OPCODE, 0, 0};
	const unsigned int opcode = (unsigned int)wr->opcode;
	const uint32_t is = opcode < 32 ? UINT32_C(1) << opcode : 0;
	const bool is_inline = (wr->send_flags & IBV_SEND_INLINE) != 0;
	bool lacks = false;
	uint64_t length;

	if (!(is & rdmaez_impl_wr_opcodes(c->qp->qp_type)))
		rdmaez_impl_find(c->diag, rdmaez_impl_wr_certain(c, RDMAEZ_DRIVER_CHECKS_OPCODES),
				 &not_taken, opcode);
	else
		lacks = rdmaez_impl_wr_lacks(c, opcode, is);
	if (!rdmaez_impl_wr_explain_sges(c, wr->num_sge, wr->sg_list,
					 is_inline ? RDMAEZ_DRIVER_CHECKS_SGES_INLINE
						   : RDMAEZ_DRIVER_CHECKS_SGES))
		return;
	length = rdmaez_impl_wr_length(wr, NULL);
	if (is_inline)
		rdmaez_impl_wr_explain_inline(
			c, opcode, !(is & (RDMAEZ_IMPL_WR_ATOMICS | RDMAEZ_IMPL_WR(RDMA_READ))),
			length);
	if (is & RDMAEZ_IMPL_WR_ATOMICS && !lacks)
		rdmaez_impl_wr_explain_atomic(c, wr, length);
	if (c->qp->qp_type == IBV_QPT_UD)
		rdmaez_impl_wr_explain_ud(c, wr, length);
}

/*
 * Explains a failure without a certain finding: the queue seems full or, if there is no finding at
 * all, the errno value says all there is.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wr_explain_rest(const struct rdmaez_impl_wr_case *c,
						   bool nothing)
{
	struct rdmaez_impl_site site = {c->queue->depth, RDMAEZ_WHY_WR_NO_QUEUE,
					RDMAEZ_VALUE_NUMBER, 1, UINT32_MAX};

	if (c->has_limits && !c->max_wr) {
		rdmaez_impl_find(c->diag, RDMAEZ_DIAG_ERROR, &site, 0);
	} else if (c->error == ENOMEM || (c->error == ENOSPC && c->queue->is_ex)) {
		site.why = RDMAEZ_WHY_WR_QUEUE_FULL;
		site.kind = c->has_limits ? RDMAEZ_VALUE_LIMIT : RDMAEZ_VALUE_NONE;
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_LIKELY, &site, 0, 0, c->max_wr);
	} else if (nothing) {
		rdmaez_impl_explain_errno(c->diag);
	}
}

/*
 * Judges the state: it is too early, or too late for some drivers. siw_query_qp() does not tell it
 * before Linux 6.12, but siw_post_send() returns ENOTCONN for all but RTS.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wr_explain_state(const struct rdmaez_impl_wr_case *c)
{
	static const struct rdmaez_impl_site early = {"qp_state", RDMAEZ_WHY_WR_STATE,
						      RDMAEZ_VALUE_STATE_NOW, 0, 0};
	static const struct rdmaez_impl_site late = {"qp_state", RDMAEZ_WHY_WR_QP_ERROR,
						     RDMAEZ_VALUE_STATE_NOW, 0, 0};
	const uint32_t ready = c->queue->ready;

	if (c->state < 0) {
		if (c->error == ENOTCONN)
			rdmaez_impl_find_plain(c->diag, RDMAEZ_DIAG_LIKELY, early.why, early.field);
		return;
	}
	if (!(ready >> c->state & 1))
		rdmaez_impl_find_within(
			c->diag,
			rdmaez_impl_wr_certain(c, c->state_told ? RDMAEZ_DRIVER_CHECKS_STATES : 0),
			&early, (uint64_t)c->state, 0, ready);
	else if (c->state == IBV_QPS_ERR || c->state == IBV_QPS_SQE)
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_LIKELY, &late, (uint64_t)c->state, 0,
					ready & ~(UINT32_C(3) << IBV_QPS_SQE));
}

/*
 * Returns whether the record says with certainty what is wrong, besides which work request it is.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_wr_is_certain(const struct rdmaez_diag *diag)
{
	for (unsigned int i = 0; i < diag->count; i++)
		if (diag->finding[i].severity == RDMAEZ_DIAG_ERROR &&
		    diag->finding[i].reason != RDMAEZ_WHY_WR_BAD)
			return true;
	return false;
}

/* Returns the next work request of a list. Both kinds have the pointer in the same place. */
RDMAEZ_IMPL_COLD const void *rdmaez_impl_wr_next(const void *wr)
{
	memcpy(&wr, (const char *)wr + offsetof(struct ibv_recv_wr, next), sizeof(wr));
	return wr;
}

/* Returns the work request that the provider names, or the only one, or NULL if it could be any. */
RDMAEZ_IMPL_SMALL const void *rdmaez_impl_wr_locate(const struct rdmaez_impl_wr_case *c,
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
	if (!rdmaez_impl_wr_next(wr))
		return wr;
	rdmaez_impl_find_plain(c->diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_WR_BAD_UNKNOWN, "bad_wr");
	return NULL;
}

/* Finds the work request that was refused, and what is wrong with it. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain(const struct rdmaez_impl_wr_case *c, const void *wr,
					     const void *bad)
{
	static const struct rdmaez_impl_site none = {"num_sge", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_NUMBER, 0, 0};
	unsigned int before;

	if (!wr) {
		rdmaez_impl_refuse(c->diag, c->error, RDMAEZ_WHY_NULL_ARGUMENT, "wr");
		return;
	}
	bad = rdmaez_impl_wr_locate(c, wr, bad);
	if (c->qp && c->qp->srq && !c->queue->sends) {
		rdmaez_impl_refuse(c->diag, c->error, RDMAEZ_WHY_WR_SRQ, "srq");
		return;
	}
	before = c->diag->count;
	rdmaez_impl_wr_explain_state(c);
	if (bad && c->queue->sends) {
		rdmaez_impl_wr_explain_one(c, (const struct ibv_send_wr *)bad);
	} else if (bad && (c->max_wr || !c->has_limits)) {
		const struct ibv_recv_wr *const recv = (const struct ibv_recv_wr *)bad;

		if (!recv->num_sge && c->error == EINVAL &&
		    (c->checks & RDMAEZ_DRIVER_CHECKS_RECV_SGE))
			rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_ERROR, &none, 0, 1,
						c->has_limits ? c->max_sge
							      : (uint64_t)c->device.max_sge);
		rdmaez_impl_wr_explain_sges(c, recv->num_sge, recv->sg_list,
					    RDMAEZ_DRIVER_CHECKS_SGES);
	}
	if (c->diag->count == before && c->queue->sends)
		rdmaez_impl_wr_explain_driver(c, (const struct ibv_send_wr *)(bad ? bad : wr));
	if (!rdmaez_impl_wr_is_certain(c->diag))
		rdmaez_impl_wr_explain_rest(c, c->diag->count == before);
	if (c->unanswered)
		rdmaez_impl_find_plain(c->diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_QUERY_REFUSED,
				       c->qp ? "ibv_query_qp" : "ibv_query_srq");
}

/* Explains the refusal of either queue of a queue pair. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_explain_qp(const struct rdmaez_impl_wr_queue *queue,
						struct ibv_qp *qp, const void *wr, const void *bad,
						struct rdmaez_diag *diag)
{
	struct rdmaez_impl_wr_case c;

	rdmaez_impl_wr_begin(&c, queue, qp->context, diag);
	rdmaez_impl_wr_ask(&c, qp);
	rdmaez_impl_wr_explain(&c, wr, bad);
}

/* Says what rdmaez_wr_post_ex() itself objects to, or why the verb did not post. */
RDMAEZ_SEAM void rdmaez_impl_wr_explain_ex(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr,
					   struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_wr_queue queue = {"cap.max_send_wr", true,
							  RDMAEZ_IMPL_WR_SENDING, true};
	const struct ibv_send_wr *at = wr;

	while (qp && at && rdmaez_impl_wr_ex_has(qp, at))
		at = at->next;
	if (!qp) {
		rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "qp");
	} else if (at) {
		rdmaez_impl_wr_ex_refuse(at, diag);
	} else {
		diag->verb = "ibv_wr_complete";
		rdmaez_impl_wr_explain_qp(&queue, &qp->qp_base, wr, NULL, diag);
	}
}

RDMAEZ_SEAM void rdmaez_impl_wr_explain_send(struct ibv_qp *qp, const struct ibv_send_wr *wr,
					     const struct ibv_send_wr *bad,
					     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_wr_queue queue = {"cap.max_send_wr", true,
							  RDMAEZ_IMPL_WR_SENDING, false};

	rdmaez_impl_wr_explain_qp(&queue, qp, wr, bad, diag);
}

RDMAEZ_SEAM void rdmaez_impl_wr_explain_recv(struct ibv_qp *qp, const struct ibv_recv_wr *wr,
					     const struct ibv_recv_wr *bad,
					     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_wr_queue queue = {
		"cap.max_recv_wr", false,
		1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR | RDMAEZ_IMPL_WR_SENDING, false};

	rdmaez_impl_wr_explain_qp(&queue, qp, wr, bad, diag);
}

RDMAEZ_SEAM void rdmaez_impl_wr_explain_srq(struct ibv_srq *srq, const struct ibv_recv_wr *wr,
					    const struct ibv_recv_wr *bad, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_wr_queue queue = {"attr.max_wr", false, 0, false};
	struct rdmaez_impl_wr_case c;
	struct ibv_srq_attr attr;

	rdmaez_impl_wr_begin(&c, &queue, srq->context, diag);
	memset(&attr, 0, sizeof(attr));
	c.unanswered = rdmaez_impl_error(ibv_query_srq(srq, &attr));
	c.has_limits = !c.unanswered;
	c.max_wr = attr.max_wr;
	c.max_sge = attr.max_sge;
	rdmaez_impl_wr_explain(&c, wr, bad);
}

RDMAEZ_IMPL_END

#endif
