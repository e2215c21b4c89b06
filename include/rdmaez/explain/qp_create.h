/* SPDX-License-Identifier: MIT */
/* Explains why a queue pair was not created. */
#ifndef RDMAEZ_EXPLAIN_QP_CREATE_H
#define RDMAEZ_EXPLAIN_QP_CREATE_H

#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/*
 * Judges the numbers of the queues that this type has itself: those of sends, then those of
 * receives.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_create_explain_cap(const struct ibv_device_attr *device,
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

/*
 * Judges the type: it may be unknown, without its domain, of another device, or for the privileged.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_create_explain_type(const struct ibv_device_attr *device,
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

/* Judges the objects that the queue pair is to be made of. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_create_explain_parts(struct ibv_context *context,
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
 * Suspects what no limit shows: inline data and, if nothing else was found, the numbers together.
 * ENOMEM has several causes, and they are only one of them, if the queues are at least a quarter of
 * what the device has.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_create_suspect(const struct ibv_device_attr *device,
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

/*
 * Explains a refusal by the type, the limits and the parts and, if all are right, by the usual
 * suspects.
 */
RDMAEZ_SEAM void rdmaez_impl_create_explain(struct ibv_context *context,
					    const struct ibv_qp_init_attr *init,
					    const struct ibv_pd *pd, bool has_domain,
					    struct rdmaez_diag *diag)
{
	struct ibv_device_attr device;
	const int error = diag->error;

	rdmaez_impl_create_ask(context, &device, diag);
	rdmaez_impl_create_explain_type(&device, init->qp_type, has_domain, error, diag);
	rdmaez_impl_create_explain_cap(&device, init, diag);
	rdmaez_impl_create_explain_parts(context, init, pd, diag);
	if ((error == EINVAL || error == ENOMEM) && !rdmaez_impl_is_certain(diag))
		rdmaez_impl_create_suspect(&device, &init->cap, diag);
	if (error == EFAULT &&
	    (rdmaez_driver_of(&device)->habits & RDMAEZ_DRIVER_HABIT_COMMANDS_63) &&
	    rdmaez_impl_library_release() < 63)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_BNXT_COMMANDS,
				       diag->verb);
	rdmaez_impl_explain_rest(diag, "cap", "max_qp", device.max_qp);
}

/* Returns what an explanation looks at: what both kinds of attributes have. */
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

/*
 * Returns the IBV_QP_EX_WITH_ bits that queue pairs of a type can have at all: ibv_create_qp_ex(3),
 * ibv_wr_post(3).
 */
RDMAEZ_IMPL_SMALL uint64_t rdmaez_impl_create_ops(enum ibv_qp_type type)
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
 * Explains EOPNOTSUPP of ibv_create_qp_ex() by what only it can ask for. If the type has an
 * operation on no device, nothing else needs to be explained, and this returns true.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_create_explain_parts_ex(enum ibv_qp_type type, uint32_t mask,
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

/* Explains a refusal of ibv_create_qp_ex(): first what only it takes, then what both take. */
RDMAEZ_SEAM void rdmaez_impl_create_explain_ex(struct ibv_context *context,
					       const struct ibv_qp_init_attr_ex *init,
					       struct rdmaez_diag *diag)
{
	const struct ibv_qp_init_attr base = rdmaez_impl_create_base(init);
	const uint32_t domain =
		init->qp_type == IBV_QPT_XRC_RECV ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD;
	const uint32_t mask = init->comp_mask;

	diag->qp_type = (int)init->qp_type;
	if (diag->error == EOPNOTSUPP &&
	    rdmaez_impl_create_explain_parts_ex(init->qp_type, mask, domain, init->send_ops_flags,
						diag))
		return;
	rdmaez_impl_create_explain(context, &base, mask & IBV_QP_INIT_ATTR_PD ? init->pd : NULL,
				   (mask & domain) != 0, diag);
}

RDMAEZ_IMPL_END

#endif
