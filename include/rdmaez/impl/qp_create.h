/* SPDX-License-Identifier: MIT */
/* Bodies of qp_create.h. */
#ifndef RDMAEZ_IMPL_QP_CREATE_H
#define RDMAEZ_IMPL_QP_CREATE_H

#include "../qp_create.h"

#if RDMAEZ_IMPL_BODIES

#include "explain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One number of struct ibv_qp_cap against the device's; a limit of 0 says nothing. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_limit(struct rdmaez_diag *diag, const char *field,
					       uint32_t given, int limit)
{
	if (limit > 0 && given > (uint32_t)limit)
		rdmaez_impl_diag_add(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CAP_LIMIT, field,
				     RDMAEZ_VALUE_NUMBER, given, 0, (uint64_t)limit);
}

/* The type: unknown, without its domain, of another device, or for the privileged. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_explain_type(const struct ibv_device_attr *device,
						      enum ibv_qp_type type, bool has_domain,
						      int error, struct rdmaez_diag *diag)
{
	const bool xrc = type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV;
	const bool known = xrc || type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_UD ||
			   type == IBV_QPT_RAW_PACKET || type == IBV_QPT_DRIVER;
	enum rdmaez_severity sure = RDMAEZ_DIAG_ERROR;
	enum rdmaez_why reason = RDMAEZ_WHY_NONE;

	if (!known || (xrc && !(device->device_cap_flags & IBV_DEVICE_XRC))) {
		reason = RDMAEZ_WHY_CREATE_TYPE;
	} else if (!has_domain) {
		reason = RDMAEZ_WHY_CREATE_DOMAIN;
	} else if (type == IBV_QPT_RAW_PACKET && error == EPERM) {
		reason = RDMAEZ_WHY_CREATE_PRIVILEGE;
	} else if (error == EOPNOTSUPP || error == ENOSYS) {
		reason = RDMAEZ_WHY_CREATE_TYPE;
		sure = RDMAEZ_DIAG_LIKELY;
	}
	if (reason != RDMAEZ_WHY_NONE)
		rdmaez_impl_diag_add(diag, sure, reason, "qp_type", RDMAEZ_VALUE_TYPE,
				     (uint64_t)(unsigned int)type, 0, 0);
}

/* A part of another context: rarely meant, though the kernel only sees a number it may not know. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_explain_context(struct rdmaez_diag *diag,
							 const char *field,
							 const struct ibv_context *part,
							 const struct ibv_context *context)
{
	if (part != context)
		rdmaez_impl_suspect(diag, RDMAEZ_WHY_CREATE_CONTEXT, field, RDMAEZ_VALUE_NONE, 0, 0,
				    0);
}

/* The objects that the queue pair is to be made of. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_explain_parts(struct ibv_context *context,
						       const struct ibv_qp_init_attr *init,
						       const struct ibv_pd *pd,
						       struct rdmaez_diag *diag)
{
	if (init->srq && init->qp_type == IBV_QPT_XRC_SEND)
		rdmaez_impl_diag_add(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CREATE_SRQ, "srq",
				     RDMAEZ_VALUE_NONE, 0, 0, 0);
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
		rdmaez_impl_suspect(diag, RDMAEZ_WHY_CREATE_SRQ_PD, "srq", RDMAEZ_VALUE_NONE, 0, 0,
				    0);
}

/* What no limit and no rule shows. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_suspect(const struct ibv_device_attr *device,
						 const struct ibv_qp_cap *cap, int error,
						 struct rdmaez_diag *diag)
{
	if (error != EINVAL && error != ENOMEM) {
		rdmaez_impl_explain_errno(diag, "ibv_create_qp", error);
		return;
	}
	if (cap->max_inline_data)
		rdmaez_impl_suspect(diag, RDMAEZ_WHY_CAP_INLINE, "cap.max_inline_data",
				    RDMAEZ_VALUE_BYTES, cap->max_inline_data, 0, UINT64_MAX);
	rdmaez_impl_suspect(diag, RDMAEZ_WHY_CAP_TOGETHER, "cap", RDMAEZ_VALUE_NONE, 0, 0, 0);
	if (error == ENOMEM) {
		rdmaez_impl_suspect_memlock(diag, "cap", RDMAEZ_VALUE_LIMIT, 0);
		rdmaez_impl_suspect(diag, RDMAEZ_WHY_NO_RESOURCES, "max_qp", RDMAEZ_VALUE_LIMIT, 0,
				    0, (uint64_t)device->max_qp);
	}
}

/* After a refusal: the type, the limits, the parts, and where all are right the usual suspects. */
RDMAEZ_IMPL_COLD int rdmaez_impl_create_explain(struct ibv_context *context,
						const struct ibv_qp_init_attr *init,
						const struct ibv_pd *pd, bool has_domain, int error,
						struct rdmaez_diag *diag)
{
	const bool sends = init->qp_type != IBV_QPT_XRC_RECV;
	const bool receives = sends && init->qp_type != IBV_QPT_XRC_SEND && !init->srq;
	struct ibv_device_attr device;

	if (!diag)
		return error;
	memset(&device, 0, sizeof(device));
	if (ibv_query_device(context, &device))
		memset(&device, 0, sizeof(device));
	else
		rdmaez_impl_create_explain_type(&device, init->qp_type, has_domain, error, diag);
	if (sends) {
		rdmaez_impl_create_limit(diag, "cap.max_send_wr", init->cap.max_send_wr,
					 device.max_qp_wr);
		rdmaez_impl_create_limit(diag, "cap.max_send_sge", init->cap.max_send_sge,
					 device.max_sge);
	}
	if (receives) {
		rdmaez_impl_create_limit(diag, "cap.max_recv_wr", init->cap.max_recv_wr,
					 device.max_qp_wr);
		rdmaez_impl_create_limit(diag, "cap.max_recv_sge", init->cap.max_recv_sge,
					 device.max_sge);
	}
	rdmaez_impl_create_explain_parts(context, init, pd, diag);
	if (!diag->count)
		rdmaez_impl_create_suspect(&device, &init->cap, error, diag);
	diag->error = error;
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
					 const void *output, const char *call,
					 struct rdmaez_diag *diag)
{
	const char *missing = !pd ? "pd" : !init ? "init_attr" : !output ? "output" : NULL;

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

RDMAEZ_API int rdmaez_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
				struct ibv_qp **qp, struct rdmaez_diag *diag)
{
	int error = rdmaez_impl_create_begin(pd, init_attr, qp, "ibv_create_qp", diag);
	struct ibv_qp_init_attr asked;
	struct ibv_qp *made;

	if (error)
		return error;
	asked = *init_attr; /* a provider may have written over it before it refused */
	errno = 0;
	made = ibv_create_qp(pd, init_attr);
	if (!made)
		return rdmaez_impl_create_explain(pd->context, &asked, pd,
						  asked.qp_type != IBV_QPT_XRC_RECV,
						  rdmaez_impl_error_of_null(), diag);
	*qp = made;
	return 0;
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

RDMAEZ_API int rdmaez_qp_create_ex(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *init_attr, struct ibv_qp **qp,
				   struct rdmaez_diag *diag)
{
	const char *missing = !context ? "context" : !init_attr ? "init_attr" : !qp ? "qp" : NULL;
	struct ibv_qp_init_attr asked;
	uint32_t domain, mask;
	struct ibv_qp *made;
	int error;

	rdmaez_impl_diag_reset(diag, "ibv_create_qp_ex");
	if (missing)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	rdmaez_impl_diag_device(diag, context);
	asked = rdmaez_impl_create_base(init_attr);
	mask = init_attr->comp_mask;
	/* With an indirection table the receiving end is elsewhere, and the sending end may be. */
	if (!(mask & IBV_QP_INIT_ATTR_IND_TABLE))
		missing = rdmaez_impl_create_missing(asked.qp_type, asked.send_cq, asked.recv_cq);
	if ((mask & IBV_QP_INIT_ATTR_PD) && !init_attr->pd)
		missing = "pd";
	if ((mask & IBV_QP_INIT_ATTR_XRCD) && !init_attr->xrcd)
		missing = "xrcd";
	if (missing)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	errno = 0;
	made = ibv_create_qp_ex(context, init_attr);
	if (made) {
		*qp = made;
		return 0;
	}
	error = rdmaez_impl_error_of_null();
	if (!diag)
		return error;
	diag->qp_type = (int)asked.qp_type;
	domain = asked.qp_type == IBV_QPT_XRC_RECV ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD;
	if (error == EOPNOTSUPP && (mask & ~domain))
		rdmaez_impl_suspect(diag, RDMAEZ_WHY_NOT_SUPPORTED, "comp_mask", RDMAEZ_VALUE_FLAGS,
				    mask & ~domain, 0, mask);
	return rdmaez_impl_create_explain(context, &asked,
					  mask & IBV_QP_INIT_ATTR_PD ? init_attr->pd : NULL,
					  (mask & domain) != 0, error, diag);
}

/* Creates a queue pair with this much inline data, destroys it, and tells what was granted. */
RDMAEZ_IMPL int rdmaez_impl_create_probe(struct ibv_pd *pd, const struct ibv_qp_init_attr *init,
					 uint32_t bytes, uint32_t *granted,
					 struct rdmaez_diag *diag)
{
	struct ibv_qp_init_attr trial = *init;
	struct ibv_qp *qp = NULL;
	int error;

	trial.cap.max_inline_data = bytes;
	error = rdmaez_qp_create(pd, &trial, &qp, diag);
	if (error)
		return error;
	*granted = trial.cap.max_inline_data;
	error = rdmaez_impl_error(ibv_destroy_qp(qp));
	if (error && diag) {
		diag->call = "ibv_destroy_qp";
		diag->error = error;
		rdmaez_impl_explain_errno(diag, "ibv_destroy_qp", error);
	}
	return error;
}

RDMAEZ_API int rdmaez_qp_max_inline(struct ibv_pd *pd, const struct ibv_qp_init_attr *init_attr,
				    uint32_t *bytes, struct rdmaez_diag *diag)
{
	uint32_t low = 0, high = RDMAEZ_QP_INLINE_PROBED, granted = 0;
	int error = rdmaez_impl_create_begin(pd, init_attr, bytes, "rdmaez_qp_max_inline", diag);

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
			error = 0;
			high = middle - 1;
		} else if (!error && granted < middle) {
			high = middle - 1;
		}
	}
	if (error)
		return error;
	/* The record forgets what was tried on the way. */
	rdmaez_impl_create_begin(pd, init_attr, bytes, "rdmaez_qp_max_inline", diag);
	*bytes = low;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
