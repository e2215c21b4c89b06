/* SPDX-License-Identifier: MIT */
/* Implements simple.h. */
#ifndef RDMAEZ_IMPL_SIMPLE_H
#define RDMAEZ_IMPL_SIMPLE_H

#ifndef RDMAEZ_SIMPLE_H
#include "../simple.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DEVICE_H
#include "device.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_MR_H
#include "mr.h"
#endif
#ifndef RDMAEZ_IMPL_OBJECTS_H
#include "objects.h"
#endif
#ifndef RDMAEZ_IMPL_QP_CREATE_H
#include "qp_create.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_API void rdmaez_simple_init_attr(const struct rdmaez_simple *simple,
					const struct rdmaez_simple_opts *opts,
					struct ibv_qp_init_attr *init)
{
	memset(init, 0, sizeof(*init));
	init->send_cq = simple->send_cq;
	init->recv_cq = simple->recv_cq;
	init->qp_type = opts && opts->qp_type ? opts->qp_type : IBV_QPT_RC;
	init->sq_sig_all = !(opts && (opts->flags & RDMAEZ_SIMPLE_UNSIGNALED));
	init->cap.max_send_wr = (uint32_t)rdmaez_impl_option(opts ? opts->sends : 0, 64) + 1;
	init->cap.max_recv_wr = (uint32_t)rdmaez_impl_option(opts ? opts->recvs : 0, 64) + 1;
	init->cap.max_send_sge = (uint32_t)rdmaez_impl_option(opts ? opts->sges : 0, 1);
	init->cap.max_recv_sge = init->cap.max_send_sge;
	init->cap.max_inline_data = (uint32_t)rdmaez_impl_option(opts ? opts->inline_data : 0, 0);
	init->srq = simple->srq;
}

RDMAEZ_API void rdmaez_simple_init_attr_ex(const struct rdmaez_simple *simple,
					   const struct rdmaez_simple_opts *opts,
					   struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp_init_attr plain;

	rdmaez_simple_init_attr(simple, opts, &plain);
	memset(init, 0, sizeof(*init));
	init->send_cq = plain.send_cq;
	init->recv_cq = plain.recv_cq;
	init->srq = plain.srq;
	init->cap = plain.cap;
	init->qp_type = plain.qp_type;
	init->sq_sig_all = plain.sq_sig_all;
	init->pd = simple->pd;
	init->comp_mask = IBV_QP_INIT_ATTR_PD;
	if (opts && opts->send_ops) {
		init->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init->send_ops_flags = opts->send_ops;
	}
}

/* Creates the completion queues, on a channel if one is asked for. */
RDMAEZ_IMPL int rdmaez_impl_simple_cqs(const struct rdmaez_simple_opts *opts,
				       const struct ibv_qp_cap *cap, struct rdmaez_simple *simple,
				       struct rdmaez_diag *diag)
{
	const unsigned int flags = opts ? opts->flags : 0;
	const bool is_one = flags & (RDMAEZ_SIMPLE_ONE_CQ | RDMAEZ_SIMPLE_CHANNEL);
	uint32_t sends = cap->max_send_wr, recvs = cap->max_recv_wr;
	int error = 0;

	if (opts && opts->cqes)
		sends = recvs = opts->cqes;
	else if (is_one)
		sends += recvs;
	if (flags & RDMAEZ_SIMPLE_CHANNEL)
		error = rdmaez_channel_create(simple->context, &simple->channel, diag);
	if (!error)
		error = rdmaez_cq_create(simple->context, (int)sends, simple->channel, 0,
					 &simple->send_cq, diag);
	if (!error && is_one)
		simple->recv_cq = simple->send_cq;
	else if (!error)
		error = rdmaez_cq_create(simple->context, (int)recvs, NULL, 0, &simple->recv_cq,
					 diag);
	return error;
}

/* Creates everything but the device. */
RDMAEZ_IMPL int rdmaez_impl_simple_fill(const struct rdmaez_simple_opts *opts,
					struct rdmaez_simple *simple, struct rdmaez_diag *diag)
{
	const unsigned int flags = opts ? opts->flags : 0;
	struct ibv_qp_init_attr_ex init_ex;
	struct ibv_srq_init_attr shared;
	struct ibv_qp_init_attr init;
	int error;

	rdmaez_simple_init_attr(simple, opts, &init);
	error = rdmaez_pd_alloc(simple->context, &simple->pd, diag);
	if (!error)
		error = rdmaez_impl_simple_cqs(opts, &init.cap, simple, diag);
	if (!error && opts && opts->length)
		error = rdmaez_mr_reg(
			simple->pd, opts->buffer, opts->length,
			(unsigned int)rdmaez_impl_option(opts->access, IBV_ACCESS_LOCAL_WRITE),
			&simple->mr, diag);
	if (!error && (flags & RDMAEZ_SIMPLE_SRQ)) {
		memset(&shared, 0, sizeof(shared));
		shared.attr.max_wr = init.cap.max_recv_wr - 1;
		shared.attr.max_sge = init.cap.max_recv_sge;
		error = rdmaez_srq_create(simple->pd, &shared, &simple->srq, diag);
	}
	if (error || (flags & RDMAEZ_SIMPLE_NO_QP))
		return error;
	if (opts && opts->send_ops) {
		rdmaez_simple_init_attr_ex(simple, opts, &init_ex);
		return rdmaez_qp_create_ex(simple->context, &init_ex, &simple->qp, diag);
	}
	rdmaez_simple_init_attr(simple, opts, &init);
	return rdmaez_qp_create(simple->pd, &init, &simple->qp, diag);
}

RDMAEZ_IMPL int rdmaez_impl_simple_end(struct ibv_qp *qp, struct rdmaez_diag *diag)
{
	(void)rdmaez_impl_begin(diag, "rdmaez_simple_close", qp->context, NULL);
	rdmaez_impl_diag_qp(diag, qp);
	return rdmaez_impl_end(diag, ibv_destroy_qp(qp), "ibv_destroy_qp", "qp",
			       RDMAEZ_WHY_QP_MULTICAST);
}

RDMAEZ_API int rdmaez_simple_close(struct rdmaez_simple *simple, struct rdmaez_diag *diag)
{
	int error = 0;

	rdmaez_impl_diag_reset(diag, "rdmaez_simple_close");
	if (!simple)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "simple");
	if (simple->qp)
		error = rdmaez_impl_simple_end(simple->qp, diag);
	if (!error)
		simple->qp = NULL;
	if (!error && simple->mr)
		error = rdmaez_mr_dereg(simple->mr, diag);
	if (!error)
		simple->mr = NULL;
	if (!error && simple->srq)
		error = rdmaez_srq_destroy(simple->srq, diag);
	if (!error)
		simple->srq = NULL;
	if (!error && simple->recv_cq && simple->recv_cq != simple->send_cq)
		error = rdmaez_cq_destroy(simple->recv_cq, diag);
	if (!error)
		simple->recv_cq = NULL;
	if (!error && simple->send_cq)
		error = rdmaez_cq_destroy(simple->send_cq, diag);
	if (!error)
		simple->send_cq = NULL;
	if (!error && simple->channel)
		error = rdmaez_channel_destroy(simple->channel, diag);
	if (!error)
		simple->channel = NULL;
	if (!error && simple->pd)
		error = rdmaez_pd_dealloc(simple->pd, diag);
	if (!error)
		simple->pd = NULL;
	if (!error && simple->context)
		error = rdmaez_device_close(simple->context, diag);
	if (!error)
		simple->context = NULL;
	return error;
}

RDMAEZ_COLD int rdmaez_simple_open(const char *device, const struct rdmaez_simple_opts *opts,
				   struct rdmaez_simple *simple, struct rdmaez_diag *diag)
{
	const unsigned int known = RDMAEZ_SIMPLE_NO_QP * 2 - 1;
	static const struct rdmaez_impl_site unknown = {"opts.flags", RDMAEZ_WHY_OPTION_UNKNOWN,
							RDMAEZ_VALUE_FLAGS, 0,
							RDMAEZ_SIMPLE_NO_QP * 2 - 1};
	struct rdmaez_simple made;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_simple_open");
	if (!simple)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "simple");
	if (opts && (opts->flags & ~known))
		return rdmaez_impl_refuse_at(diag, EINVAL, &unknown, opts->flags & ~known);
	memset(&made, 0, sizeof(made));
	error = rdmaez_device_open(device, &made.context, diag);
	if (!error)
		error = rdmaez_impl_simple_fill(opts, &made, diag);
	if (error)
		rdmaez_simple_close(&made, NULL);
	else
		*simple = made;
	return error;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
