/* SPDX-License-Identifier: MIT */
/* Bodies of qp_create.h. */
#ifndef RDMAEZ_IMPL_QP_CREATE_H
#define RDMAEZ_IMPL_QP_CREATE_H

#ifndef RDMAEZ_QP_CREATE_H
#include "../qp_create.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_CREATE_H
#include "create.h"
#endif

RDMAEZ_IMPL_BEGIN

/* The numbers of the queues that this type has by itself: of sends, then of receives. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_explain_cap(const struct ibv_device_attr *device,
						     const struct ibv_qp_init_attr *init,
						     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_limit limits[] = {
		RDMAEZ_IMPL_LIMIT("cap.", ibv_qp_cap, max_send_wr, 0, max_qp_wr, SEND_WR),
		RDMAEZ_IMPL_LIMIT("cap.", ibv_qp_cap, max_send_sge, 0, max_sge, SGE),
		RDMAEZ_IMPL_LIMIT("cap.", ibv_qp_cap, max_recv_wr, 0, max_qp_wr, RECV_WR),
		RDMAEZ_IMPL_LIMIT("cap.", ibv_qp_cap, max_recv_sge, 0, max_sge, SGE),
	};
	size_t count = 4;

	if (init->qp_type == IBV_QPT_XRC_RECV)
		count = 0;
	else if (init->qp_type == IBV_QPT_XRC_SEND || init->srq)
		count = 2;
	rdmaez_impl_explain_limits(diag, limits, count, &init->cap, device);
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

	if (error != EINVAL && error != EPERM && error != EOPNOTSUPP && error != ENOSYS)
		return;
	if (known && (!xrc || (device->device_cap_flags & IBV_DEVICE_XRC))) {
		if (!has_domain)
			site.why = RDMAEZ_WHY_CREATE_DOMAIN;
		else if (type == IBV_QPT_RAW_PACKET && error == EPERM)
			site.why = RDMAEZ_WHY_CREATE_PRIVILEGE;
		else if (error == EOPNOTSUPP || error == ENOSYS)
			sure = RDMAEZ_DIAG_LIKELY;
		else
			return;
		if (site.why == RDMAEZ_WHY_CREATE_PRIVILEGE &&
		    rdmaez_impl_capability(RDMAEZ_IMPL_CAP_NET_RAW))
			sure = RDMAEZ_DIAG_LIKELY;
	}
	rdmaez_impl_find(diag, sure, &site, (unsigned int)type);
}

/* The objects that the queue pair is to be made of. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_explain_parts(struct ibv_context *context,
						       const struct ibv_qp_init_attr *init,
						       const struct ibv_pd *pd,
						       struct rdmaez_diag *diag)
{
	if (init->srq && init->qp_type == IBV_QPT_XRC_SEND && rdmaez_impl_is_judged(diag->error))
		rdmaez_impl_find_plain(
			diag, diag->error == ENOMEM ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ERROR,
			RDMAEZ_WHY_CREATE_SRQ, "srq");
	if (pd)
		rdmaez_impl_explain_context(diag, "pd", pd->context, context);
	if (init->send_cq)
		rdmaez_impl_explain_context(diag, "send_cq", init->send_cq->context, context);
	if (init->recv_cq)
		rdmaez_impl_explain_context(diag, "recv_cq", init->recv_cq->context, context);
	if (!init->srq)
		return;
	rdmaez_impl_explain_context(diag, "srq", init->srq->context, context);
	if (pd && init->srq->pd != pd && init->srq->context == context)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_SRQ_PD, "srq");
}

/*
 * What no limit shows: inline data, and where nothing else was found, the numbers together. Of ENOMEM they are one cause
 * of several, for queues of at least a quarter of what the device has.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_suspect(const struct ibv_device_attr *device,
						 const struct ibv_qp_cap *cap,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site much_inline = {
		"cap.max_inline_data", RDMAEZ_WHY_CAP_INLINE, RDMAEZ_VALUE_BYTES, 0, -1};
	const bool is_send = cap->max_send_wr >= cap->max_recv_wr;
	const struct rdmaez_impl_site deep = {is_send ? "cap.max_send_wr" : "cap.max_recv_wr",
					      RDMAEZ_WHY_CAP_TOGETHER, RDMAEZ_VALUE_NUMBER, 0, 0};
	const uint32_t depth = is_send ? cap->max_send_wr : cap->max_recv_wr;
	const uint32_t most = device->max_qp_wr > 0 ? (uint32_t)device->max_qp_wr : 0;
	const bool is_first = !diag->count;

	if (cap->max_inline_data)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &much_inline, cap->max_inline_data);
	if (!is_first)
		return;
	if (most && depth >= most / 4 && diag->error == ENOMEM)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &deep, depth, 0, most);
	else if (!most || diag->error != ENOMEM)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_TOGETHER, "cap");
	rdmaez_impl_explain_count(diag, device, "max_qp", device->max_qp);
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
	rdmaez_impl_create_ask(context, &device);
	rdmaez_impl_create_explain_type(&device, init->qp_type, has_domain, error, diag);
	rdmaez_impl_create_explain_cap(&device, init, diag);
	rdmaez_impl_create_explain_parts(context, init, pd, diag);
	if ((error == EINVAL || error == ENOMEM) && !rdmaez_impl_is_certain(diag))
		rdmaez_impl_create_suspect(&device, &init->cap, diag);
	rdmaez_impl_explain_rest(diag, "cap", "max_qp", device.max_qp);
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
	int error;

	if (!init)
		missing = "init_attr";
	if (!pd)
		missing = "pd";
	if (!missing)
		missing = rdmaez_impl_create_missing(init->qp_type, init->send_cq, init->recv_cq);
	error = rdmaez_impl_begin(diag, call, rdmaez_impl_why_objects, pd ? pd->context : NULL,
				  missing);
	if (error)
		return error;
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

/* The IBV_QP_EX_WITH_ bits that queue pairs of a type can have at all: ibv_create_qp_ex(3), ibv_wr_post(3). */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_create_ops(enum ibv_qp_type type)
{
	switch ((int)type) {
	case IBV_QPT_UD:
		return 0x40c; /* SEND, SEND_WITH_IMM, TSO */
	case IBV_QPT_RAW_PACKET:
		return 0x404; /* SEND, TSO */
	case IBV_QPT_UC:
		return 0x38f; /* WRITE, WRITE_WITH_IMM, SEND, SEND_WITH_IMM, LOCAL_INV, BIND_MW, SEND_WITH_INV */
	case IBV_QPT_XRC_RECV:
		return 0;
	default:
		return 0x1bff; /* all but TSO; FLUSH and ATOMIC_WRITE are the last two */
	}
}

/*
 * EOPNOTSUPP of ibv_create_qp_ex(): one of what only it can ask for. An operation that the type has on no
 * device leaves nothing else to explain: then this is true.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_create_explain_extension(enum ibv_qp_type type, uint32_t mask,
							   uint32_t domain, uint64_t ops,
							   struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site extension = {"comp_mask", RDMAEZ_WHY_NOT_SUPPORTED,
							  RDMAEZ_VALUE_FLAGS, 0, 0};
	static const struct rdmaez_impl_site operation = {
		"send_ops_flags", RDMAEZ_WHY_NOT_SUPPORTED, RDMAEZ_VALUE_FLAGS, 0, 0};
	const uint64_t unknown = ops & ~rdmaez_impl_create_ops(type);
	const uint32_t more = mask & ~domain & ~(uint32_t)IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &operation,
					unknown ? unknown : ops, 0, ops);
	if (more)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &extension, more, 0, mask);
	return (mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) && unknown;
}

RDMAEZ_API int rdmaez_qp_create_ex(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *init_attr, struct ibv_qp **qp,
				   struct rdmaez_diag *diag)
{
	const char *missing = !context ? "context" : !init_attr ? "init_attr" : !qp ? "qp" : NULL;
	struct ibv_qp_init_attr asked; /* a provider may write over it, then refuse */
	uint32_t mask, domain;
	const struct ibv_pd *pd;
	struct ibv_qp *made;
	uint64_t ops;
	int error;

	rdmaez_impl_diag_reset_for(diag, "rdmaez_qp_create_ex", rdmaez_impl_why_objects);
	if (context)
		rdmaez_impl_diag_device(diag, context);
	if (!missing)
		missing = rdmaez_impl_create_missing_ex(init_attr);
	if (missing)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	asked = rdmaez_impl_create_base(init_attr);
	mask = init_attr->comp_mask;
	ops = init_attr->send_ops_flags;
	pd = mask & IBV_QP_INIT_ATTR_PD ? init_attr->pd : NULL;
	domain = asked.qp_type == IBV_QPT_XRC_RECV ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD;
	errno = 0;
	made = ibv_create_qp_ex(context, init_attr);
	if (made) {
		*qp = made;
		return 0;
	}
	error = rdmaez_impl_error_of_null();
	if (!diag)
		return error;
	diag->error = error;
	diag->verb = "ibv_create_qp_ex";
	diag->qp_type = (int)asked.qp_type;
	if (error == EOPNOTSUPP &&
	    rdmaez_impl_create_explain_extension(asked.qp_type, mask, domain, ops, diag))
		return error;
	return rdmaez_impl_create_explain(context, &asked, pd, (mask & domain) != 0, error, diag);
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
