/* SPDX-License-Identifier: MIT */
/* Bodies of simple.h. */
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

RDMAEZ_IMPL int rdmaez_impl_simple_pd(struct rdmaez_simple *simple, struct rdmaez_diag *diag)
{
	int error = rdmaez_impl_begin(diag, "rdmaez_simple_open", simple->context, NULL);

	simple->pd = ibv_alloc_pd(simple->context);
	if (simple->pd)
		return 0;
	error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_alloc_pd");
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_explain_rest, (diag, "pd", NULL, 0));
	return error;
}

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
}

/* All but the device. */
RDMAEZ_IMPL int rdmaez_impl_simple_fill(const struct rdmaez_simple_opts *opts,
					struct rdmaez_simple *simple, struct rdmaez_diag *diag)
{
	struct ibv_qp_init_attr init;
	int error;

	rdmaez_simple_init_attr(simple, opts, &init);
	error = rdmaez_impl_simple_pd(simple, diag);
	if (!error)
		error = rdmaez_cq_create(simple->context, (int)init.cap.max_send_wr, NULL, 0,
					 &simple->send_cq, diag);
	if (!error)
		error = rdmaez_cq_create(simple->context, (int)init.cap.max_recv_wr, NULL, 0,
					 &simple->recv_cq, diag);
	if (!error && opts && opts->length)
		error = rdmaez_mr_reg(
			simple->pd, opts->buffer, opts->length,
			(unsigned int)rdmaez_impl_option(opts->access, IBV_ACCESS_LOCAL_WRITE),
			&simple->mr, diag);
	init.send_cq = simple->send_cq;
	init.recv_cq = simple->recv_cq;
	return error ? error : rdmaez_qp_create(simple->pd, &init, &simple->qp, diag);
}

/* Destroys a queue pair, or closes a device where there is none. */
RDMAEZ_IMPL int rdmaez_impl_simple_end(struct ibv_context *context, struct ibv_qp *qp,
				       struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_begin(diag, "rdmaez_simple_close", context, NULL);

	if (error)
		return error;
	if (!qp)
		return rdmaez_impl_end(diag, ibv_close_device(context), "ibv_close_device",
				       "context", RDMAEZ_WHY_BUSY);
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
		error = rdmaez_impl_simple_end(simple->qp->context, simple->qp, diag);
	if (!error)
		simple->qp = NULL;
	if (!error && simple->mr)
		error = rdmaez_mr_dereg(simple->mr, diag);
	if (!error)
		simple->mr = NULL;
	if (!error && simple->recv_cq && simple->recv_cq != simple->send_cq)
		error = rdmaez_cq_destroy(simple->recv_cq, diag);
	if (!error)
		simple->recv_cq = NULL;
	if (!error && simple->send_cq)
		error = rdmaez_cq_destroy(simple->send_cq, diag);
	if (!error)
		simple->send_cq = NULL;
	if (!error && simple->pd)
		error = rdmaez_pd_dealloc(simple->pd, diag);
	if (!error)
		simple->pd = NULL;
	if (!error && simple->context)
		error = rdmaez_impl_simple_end(simple->context, NULL, diag);
	if (!error)
		simple->context = NULL;
	return error;
}

RDMAEZ_API int rdmaez_simple_open(const char *device, const struct rdmaez_simple_opts *opts,
				  struct rdmaez_simple *simple, struct rdmaez_diag *diag)
{
	struct rdmaez_simple made;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_simple_open");
	if (!simple)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "simple");
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
