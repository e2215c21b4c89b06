/* SPDX-License-Identifier: MIT */
/* Bodies of qp_create.h. */
#ifndef RDMAEZ_IMPL_QP_CREATE_H
#define RDMAEZ_IMPL_QP_CREATE_H

#ifndef RDMAEZ_QP_CREATE_H
#include "../qp_create.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include "explain.h"

RDMAEZ_IMPL_BEGIN

/* One number of struct ibv_qp_cap against the device's; a limit of 0 says nothing. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_limit(struct rdmaez_diag *diag, const char *field,
					       uint32_t given, int limit)
{
	const struct rdmaez_impl_site site = {field, RDMAEZ_WHY_CAP_LIMIT, RDMAEZ_VALUE_NUMBER, 0,
					      limit};

	if (limit > 0 && given > (uint32_t)limit)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &site, given);
}

/* The numbers of the queues that this type has by itself. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_explain_cap(const struct ibv_device_attr *device,
						     const struct ibv_qp_init_attr *init,
						     struct rdmaez_diag *diag)
{
	const struct ibv_qp_cap *cap = &init->cap;

	if (init->qp_type == IBV_QPT_XRC_RECV)
		return;
	rdmaez_impl_create_limit(diag, "cap.max_send_wr", cap->max_send_wr, device->max_qp_wr);
	rdmaez_impl_create_limit(diag, "cap.max_send_sge", cap->max_send_sge, device->max_sge);
	if (init->qp_type == IBV_QPT_XRC_SEND || init->srq)
		return;
	rdmaez_impl_create_limit(diag, "cap.max_recv_wr", cap->max_recv_wr, device->max_qp_wr);
	rdmaez_impl_create_limit(diag, "cap.max_recv_sge", cap->max_recv_sge, device->max_sge);
}

/* The type: unknown, without its domain, of another device, or for the privileged. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_explain_type(const struct ibv_device_attr *device,
						      enum ibv_qp_type type, bool has_domain,
						      int error, struct rdmaez_diag *diag)
{
	const bool xrc = type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV;
	const bool known = xrc || type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_UD ||
			   type == IBV_QPT_RAW_PACKET || type == IBV_QPT_DRIVER;
	struct rdmaez_impl_site site = {"qp_type", RDMAEZ_WHY_CREATE_TYPE, RDMAEZ_VALUE_TYPE, 0, 0};
	enum rdmaez_severity sure = RDMAEZ_DIAG_ERROR;

	if (known && (!xrc || (device->device_cap_flags & IBV_DEVICE_XRC))) {
		if (!has_domain)
			site.why = RDMAEZ_WHY_CREATE_DOMAIN;
		else if (type == IBV_QPT_RAW_PACKET && error == EPERM)
			site.why = RDMAEZ_WHY_CREATE_PRIVILEGE;
		else if (error == EOPNOTSUPP || error == ENOSYS)
			sure = RDMAEZ_DIAG_LIKELY;
		else
			return;
	}
	rdmaez_impl_find(diag, sure, &site, (unsigned int)type);
}

/* A part of another context: rarely meant, though the kernel only sees a number it may not know. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_explain_context(struct rdmaez_diag *diag,
							 const char *field,
							 const struct ibv_context *part,
							 const struct ibv_context *context)
{
	if (part != context)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, field);
}

/* The objects that the queue pair is to be made of. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_explain_parts(struct ibv_context *context,
						       const struct ibv_qp_init_attr *init,
						       const struct ibv_pd *pd,
						       struct rdmaez_diag *diag)
{
	if (init->srq && init->qp_type == IBV_QPT_XRC_SEND)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CREATE_SRQ, "srq");
	if (pd)
		rdmaez_impl_create_explain_context(diag, "pd", pd->context, context);
	if (init->send_cq)
		rdmaez_impl_create_explain_context(diag, "send_cq", init->send_cq->context,
						   context);
	if (init->recv_cq)
		rdmaez_impl_create_explain_context(diag, "recv_cq", init->recv_cq->context,
						   context);
	if (!init->srq)
		return;
	rdmaez_impl_create_explain_context(diag, "srq", init->srq->context, context);
	if (pd && init->srq->pd != pd && init->srq->context == context)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_SRQ_PD, "srq");
}

/* What no limit and no rule shows. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_suspect(const struct ibv_device_attr *device,
						 const struct ibv_qp_cap *cap, int error,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site much_inline = {
		"cap.max_inline_data", RDMAEZ_WHY_CAP_INLINE, RDMAEZ_VALUE_BYTES, 0, -1};
	static const struct rdmaez_impl_site memlock = {"cap", RDMAEZ_WHY_MEMLOCK,
							RDMAEZ_VALUE_LIMIT, 0, 0};
	static const struct rdmaez_impl_site pairs = {"max_qp", RDMAEZ_WHY_NO_RESOURCES,
						      RDMAEZ_VALUE_LIMIT, 0, 0};

	if (error != EINVAL && error != ENOMEM) {
		rdmaez_impl_explain_errno(diag, diag->verb, error);
		return;
	}
	if (cap->max_inline_data)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &much_inline, cap->max_inline_data);
	rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_TOGETHER, "cap");
	if (error == ENOMEM) {
		rdmaez_impl_suspect_memlock(diag, &memlock, 0);
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &pairs, 0, 0,
					(uint64_t)device->max_qp);
	}
}

/* After a refusal: the type, the limits, the parts, and where all are right the usual suspects. */
RDMAEZ_IMPL_COLD int rdmaez_impl_create_explain(struct ibv_context *context,
						const struct ibv_qp_init_attr *init,
						const struct ibv_pd *pd, bool has_domain, int error,
						struct rdmaez_diag *diag)
{
	struct ibv_device_attr device;

	if (!diag)
		return error;
	diag->error = error;
	memset(&device, 0, sizeof(device));
	if (ibv_query_device(context, &device))
		memset(&device, 0, sizeof(device));
	else
		rdmaez_impl_create_explain_type(&device, init->qp_type, has_domain, error, diag);
	rdmaez_impl_create_explain_cap(&device, init, diag);
	rdmaez_impl_create_explain_parts(context, init, pd, diag);
	if (!diag->count)
		rdmaez_impl_create_suspect(&device, &init->cap, error, diag);
	return error;
}

/* The completion queue that is missing, NULL if none is. The library follows them unchecked. */
RDMAEZ_IMPL const char *rdmaez_impl_create_missing(enum ibv_qp_type type,
						   const struct ibv_cq *send_cq,
						   const struct ibv_cq *recv_cq)
{
	if (type == IBV_QPT_XRC_RECV)
		return NULL;
	if (!send_cq)
		return "send_cq";
	return recv_cq || type == IBV_QPT_XRC_SEND ? NULL : "recv_cq";
}

/* What creating and probing need: a protection domain, attributes, somewhere to put the answer. */
RDMAEZ_IMPL int rdmaez_impl_create_begin(struct ibv_pd *pd, const struct ibv_qp_init_attr *init,
					 const char *missing, const char *call,
					 struct rdmaez_diag *diag)
{
	if (!init)
		missing = "init_attr";
	if (!pd)
		missing = "pd";
	rdmaez_impl_diag_reset(diag, call);
	if (!missing)
		missing = rdmaez_impl_create_missing(init->qp_type, init->send_cq, init->recv_cq);
	if (missing)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	rdmaez_impl_diag_device(diag, pd->context);
	if (diag)
		diag->qp_type = (int)init->qp_type;
	return 0;
}

/* rdmaez_qp_create() without its reset of the record and its checks. */
RDMAEZ_IMPL int rdmaez_impl_create(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
				   struct ibv_qp **qp, struct rdmaez_diag *diag)
{
	const struct ibv_qp_init_attr asked = *init_attr; /* a provider may write, then refuse */
	struct ibv_qp *made;

	errno = 0;
	made = ibv_create_qp(pd, init_attr);
	if (!made) {
		if (diag)
			diag->verb = "ibv_create_qp";
		return rdmaez_impl_create_explain(pd->context, &asked, pd,
						  asked.qp_type != IBV_QPT_XRC_RECV,
						  rdmaez_impl_error_of_null(), diag);
	}
	*qp = made;
	return 0;
}

RDMAEZ_API int rdmaez_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
				struct ibv_qp **qp, struct rdmaez_diag *diag)
{
	const int error =
		rdmaez_impl_create_begin(pd, init_attr, qp ? NULL : "qp", "rdmaez_qp_create", diag);

	return error ? error : rdmaez_impl_create(pd, init_attr, qp, diag);
}

/* What an explanation looks at, of what both kinds of attributes have. */
RDMAEZ_IMPL struct ibv_qp_init_attr rdmaez_impl_create_base(const struct ibv_qp_init_attr_ex *ex)
{
	struct ibv_qp_init_attr init;

	memset(&init, 0, sizeof(init));
	init.send_cq = ex->send_cq;
	init.recv_cq = ex->recv_cq;
	init.srq = ex->srq;
	init.cap = ex->cap;
	init.qp_type = ex->qp_type;
	return init;
}

/* The part that is missing of those that comp_mask or the type call for, NULL if none is. */
RDMAEZ_IMPL const char *rdmaez_impl_create_missing_ex(const struct ibv_qp_init_attr_ex *ex)
{
	if ((ex->comp_mask & IBV_QP_INIT_ATTR_XRCD) && !ex->xrcd)
		return "xrcd";
	if ((ex->comp_mask & IBV_QP_INIT_ATTR_PD) && !ex->pd)
		return "pd";
	/* With an indirection table the receiving end is elsewhere, and the sending end may be. */
	if (ex->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE)
		return NULL;
	return rdmaez_impl_create_missing(ex->qp_type, ex->send_cq, ex->recv_cq);
}

/* ibv_create_qp_ex() has refused: what only it can ask for may be the cause, besides the usual ones. */
RDMAEZ_IMPL_COLD int rdmaez_impl_create_explain_ex(struct ibv_context *context,
						   const struct ibv_qp_init_attr *asked,
						   const struct ibv_pd *pd, uint32_t mask,
						   int error, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site extension = {"comp_mask", RDMAEZ_WHY_NOT_SUPPORTED,
							  RDMAEZ_VALUE_FLAGS, 0, 0};
	const uint32_t domain =
		asked->qp_type == IBV_QPT_XRC_RECV ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD;

	if (!diag)
		return error;
	diag->verb = "ibv_create_qp_ex";
	diag->qp_type = (int)asked->qp_type;
	if (error == EOPNOTSUPP && (mask & ~domain))
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &extension, mask & ~domain, 0,
					mask);
	return rdmaez_impl_create_explain(context, asked, pd, (mask & domain) != 0, error, diag);
}

RDMAEZ_API int rdmaez_qp_create_ex(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *init_attr, struct ibv_qp **qp,
				   struct rdmaez_diag *diag)
{
	const char *missing = !context ? "context" : !init_attr ? "init_attr" : !qp ? "qp" : NULL;
	struct ibv_qp_init_attr asked; /* a provider may write over it, then refuse */
	const struct ibv_pd *pd;
	struct ibv_qp *made;
	uint32_t mask;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_create_ex");
	if (context)
		rdmaez_impl_diag_device(diag, context);
	if (!missing)
		missing = rdmaez_impl_create_missing_ex(init_attr);
	if (missing)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	asked = rdmaez_impl_create_base(init_attr);
	mask = init_attr->comp_mask;
	pd = mask & IBV_QP_INIT_ATTR_PD ? init_attr->pd : NULL;
	errno = 0;
	made = ibv_create_qp_ex(context, init_attr);
	if (!made)
		return rdmaez_impl_create_explain_ex(context, &asked, pd, mask,
						     rdmaez_impl_error_of_null(), diag);
	*qp = made;
	return 0;
}

/* Creates a queue pair with this much inline data, destroys it, and tells what was granted. */
RDMAEZ_IMPL_COLD int rdmaez_impl_create_probe(struct ibv_pd *pd,
					      const struct ibv_qp_init_attr *init, uint32_t bytes,
					      uint32_t *granted, struct rdmaez_diag *diag)
{
	struct ibv_qp_init_attr trial = *init;
	struct ibv_qp *qp = NULL;
	int error;

	trial.cap.max_inline_data = bytes;
	error = rdmaez_impl_create(pd, &trial, &qp, diag);
	if (error)
		return error;
	*granted = trial.cap.max_inline_data;
	error = rdmaez_impl_error(ibv_destroy_qp(qp));
	if (error && diag) {
		diag->verb = "ibv_destroy_qp";
		diag->error = error;
		rdmaez_impl_explain_errno(diag, "ibv_destroy_qp", error);
	}
	return error;
}

RDMAEZ_COLD int rdmaez_qp_max_inline(struct ibv_pd *pd, const struct ibv_qp_init_attr *init_attr,
				     uint32_t *bytes, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_qp_max_inline";
	uint32_t low = 0, high = RDMAEZ_QP_INLINE_PROBED, granted = 0;
	int error = rdmaez_impl_create_begin(pd, init_attr, bytes ? NULL : "bytes", call, diag);

	if (!error)
		error = rdmaez_impl_create_probe(pd, init_attr, 0, &granted, diag);
	while (!error) {
		/* A provider may round up, or grant less than was asked and say so. */
		if (granted > low)
			low = granted < high ? granted : high;
		if (low == high)
			break;
		const uint32_t middle = low + (high - low + 1) / 2;

		error = rdmaez_impl_create_probe(pd, init_attr, middle, &granted, diag);
		if (error == EINVAL || error == ENOMEM || error == EOPNOTSUPP) {
			/* That was too much, and is no failure: the record starts again. */
			error = rdmaez_impl_create_begin(pd, init_attr, NULL, call, diag);
			high = middle - 1;
		} else if (!error && granted < middle) {
			high = middle - 1;
		}
	}
	if (!error)
		*bytes = low;
	return error;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
