/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --certify: the queue pairs of its steps. */
#include "certify.h"

#include <string.h>

static uint8_t memory[CERTIFY_SLOTS * CERTIFY_SLOT] __attribute__((aligned(4096)));

void *certify_memory(void)
{
	return memory;
}

static int create_srq(struct certify *c, struct certify_end *end, enum ibv_qp_type type,
		      struct rdmaez_diag *diag)
{
	struct ibv_srq_init_attr_ex init;

	memset(&init, 0, sizeof(init));
	init.attr.max_wr = CERTIFY_DEPTH;
	init.attr.max_sge = 1;
	if (type != IBV_QPT_XRC_RECV) {
		struct ibv_srq_init_attr plain = {NULL, init.attr};

		return rdmaez_srq_create(c->pd, &plain, &end->srq, diag);
	}
	init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
			 IBV_SRQ_INIT_ATTR_CQ;
	init.srq_type = IBV_SRQT_XRC;
	init.pd = c->pd;
	init.xrcd = c->xrcd;
	init.cq = end->cq;
	return rdmaez_srq_create_ex(c->context, &init, &end->srq, diag);
}

static int create_qp(struct certify *c, struct certify_end *end,
		     const struct certify_end_opts *opts, struct rdmaez_diag *diag)
{
	const bool receives = opts->type != IBV_QPT_XRC_SEND && opts->type != IBV_QPT_XRC_RECV;
	struct ibv_qp_init_attr_ex init;
	struct ibv_qp_init_attr plain;

	memset(&init, 0, sizeof(init));
	init.qp_type = opts->type;
	if (opts->type == IBV_QPT_XRC_RECV) {
		init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		init.xrcd = c->xrcd;
		return rdmaez_qp_create_ex(c->context, &init, &end->qp, diag);
	}
	init.send_cq = init.recv_cq = end->cq;
	init.srq = end->srq;
	init.sq_sig_all = 1;
	init.cap.max_send_wr = CERTIFY_DEPTH;
	init.cap.max_send_sge = 1;
	init.cap.max_recv_wr = receives && !end->srq ? CERTIFY_DEPTH : 0;
	init.cap.max_recv_sge = receives && !end->srq ? 1 : 0;
	init.cap.max_inline_data = opts->is_inline ? CERTIFY_INLINE : 0;
	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.pd = c->pd;
	init.send_ops_flags = IBV_QP_EX_WITH_SEND;
	if (opts->is_extended)
		return rdmaez_qp_create_ex(c->context, &init, &end->qp, diag);
	memset(&plain, 0, sizeof(plain));
	plain.send_cq = plain.recv_cq = end->cq;
	plain.srq = end->srq;
	plain.cap = init.cap;
	plain.qp_type = opts->type;
	plain.sq_sig_all = 1;
	return rdmaez_qp_create(c->pd, &plain, &end->qp, diag);
}

int certify_end_open(struct certify *c, struct certify_end *end,
		     const struct certify_end_opts *opts, unsigned int place,
		     struct rdmaez_diag *diag)
{
	struct ibv_comp_channel *channel = NULL;
	struct rdmaez_diag ignored;
	int error = 0;

	memset(end, 0, sizeof(*end));
	end->slot = memory + 2 * CERTIFY_SLOT * (size_t)place;
	if (opts->has_channel)
		error = rdmaez_channel_create(c->context, &channel, diag);
	if (!error)
		error = rdmaez_cq_create(c->context, 4 * CERTIFY_DEPTH, channel, 0, &end->cq, diag);
	if (error && channel)
		rdmaez_channel_destroy(channel, &ignored);
	if (!error && (opts->srq || opts->type == IBV_QPT_XRC_RECV))
		error = create_srq(c, end, opts->type, diag);
	if (!error)
		error = create_qp(c, end, opts, diag);
	if (error)
		certify_end_close(end, &ignored);
	return error;
}

int certify_end_close(struct certify_end *end, struct rdmaez_diag *diag)
{
	struct ibv_comp_channel *const channel = end->cq ? end->cq->channel : NULL;
	struct rdmaez_drain_opts drain = {0};
	int error = 0;

	drain.flags = RDMAEZ_DRAIN_ANYWAY | RDMAEZ_DRAIN_DISCARD;
	drain.sends = drain.recvs = RDMAEZ_ZERO; /* what is left goes with the queue */
	if (end->ah)
		error = rdmaez_ah_destroy(end->ah, diag);
	if (!error && end->qp)
		error = rdmaez_qp_destroy(end->qp, &drain, NULL, diag);
	if (!error && end->srq)
		error = rdmaez_srq_destroy(end->srq, diag);
	if (!error && end->cq)
		error = rdmaez_cq_destroy(end->cq, diag);
	if (!error && channel)
		error = rdmaez_channel_destroy(channel, diag);
	return error;
}

static int step_to(struct certify *c, struct ibv_qp *qp, enum ibv_qp_state to,
		   struct rdmaez_diag *diag)
{
	struct rdmaez_qp_opts opts = c->opts;

	opts.dest_qp_num = qp->qp_num;
	switch (to) {
	case IBV_QPS_INIT:
		return rdmaez_qp_to_init(qp, &opts, diag);
	case IBV_QPS_RTR:
		return rdmaez_qp_to_rtr(qp, &opts, diag);
	case IBV_QPS_RTS:
		return rdmaez_qp_to_rts(qp, &opts, diag);
	case IBV_QPS_SQD:
		return rdmaez_qp_quiesce(qp, c->wait_ns, diag);
	default:
		return rdmaez_qp_to_err(qp, diag);
	}
}

int certify_walk(struct certify *c, struct ibv_qp *qp, enum ibv_qp_state to,
		 struct rdmaez_diag *diag)
{
	int error = 0;

	if (to == IBV_QPS_ERR) {
		error = step_to(c, qp, IBV_QPS_INIT, diag);
		return error ? error : step_to(c, qp, to, diag);
	}
	for (int state = IBV_QPS_INIT; state <= (int)to && !error; state++)
		error = step_to(c, qp, (enum ibv_qp_state)state, diag);
	return error;
}

/* Connects both ends of UD, each of which gets a handle of the other. */
static int connect_ud(struct certify_pair *pair, const struct rdmaez_qp_opts *opts,
		      struct rdmaez_diag *diag)
{
	struct rdmaez_endpoint a, b;
	int error = rdmaez_endpoint_local(pair->a.qp, opts, &a, diag);

	if (!error)
		error = rdmaez_endpoint_local(pair->b.qp, opts, &b, diag);
	if (!error)
		error = rdmaez_qp_connect_ud(pair->a.qp, &a, &b, opts, &pair->a.ah, diag);
	if (!error)
		error = rdmaez_qp_connect_ud(pair->b.qp, &b, &a, opts, &pair->b.ah, diag);
	return error;
}

int certify_pair_open(struct certify *c, struct certify_pair *pair,
		      const struct certify_end_opts *opts, const struct rdmaez_qp_opts *qp,
		      struct rdmaez_diag *diag)
{
	struct certify_end_opts other = *opts;
	struct rdmaez_diag ignored;
	int error;

	memset(pair, 0, sizeof(*pair));
	if (opts->type == IBV_QPT_XRC_SEND)
		other.type = IBV_QPT_XRC_RECV;
	error = certify_end_open(c, &pair->a, opts, 0, diag);
	if (error)
		return error;
	error = certify_end_open(c, &pair->b, &other, 1, diag);
	if (error)
		memset(&pair->b, 0, sizeof(pair->b));
	else if (opts->type == IBV_QPT_UD)
		error = connect_ud(pair, qp, diag);
	else
		error = rdmaez_qp_connect_loopback(pair->a.qp, pair->b.qp, qp, diag);
	if (error)
		certify_pair_close(pair, &ignored);
	return error;
}

int certify_pair_close(struct certify_pair *pair, struct rdmaez_diag *diag)
{
	struct rdmaez_diag other;
	const int error = certify_end_close(&pair->a, diag);
	const int also = certify_end_close(&pair->b, &other);

	if (!error && also)
		*diag = other;
	return error ? error : also;
}

bool certify_pair(struct certify *c, struct certify_pair *pair, enum ibv_qp_type type,
		  const char *step)
{
	struct certify_end_opts opts = {0};
	struct rdmaez_diag diag;
	int error;

	opts.type = type;
	error = certify_pair_open(c, pair, &opts, &c->opts, &diag);
	if (error)
		certify_is(c, step, error, &diag);
	return !error;
}
