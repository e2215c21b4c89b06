/* SPDX-License-Identifier: MIT */
/* Explains why completion queues, SRQs and XRC domains were not created or changed. */
#ifndef RDMAEZ_EXPLAIN_OBJECTS_H
#define RDMAEZ_EXPLAIN_OBJECTS_H

#include <fcntl.h>

#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/* ---- Completion queues -------------------------------------------------------------------- */

/*
 * Judges how many completions were asked for, by what the device reports, and by what it may not
 * report.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_cq_explain_cqe(const struct ibv_cq_init_attr_ex *init,
						 const struct ibv_device_attr *device,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_limit limits[] = {
		{"cqe", offsetof(struct ibv_cq_init_attr_ex, cqe), 1, RDMAEZ_DRIVER_COMPARES_CQE,
		 true, offsetof(struct ibv_device_attr, max_cqe)}};

	rdmaez_impl_explain_limits(diag, limits, 1, init, device);
}

/*
 * Says that the device may not report its limit, if nothing else was found wrong. Returns whether
 * it did so. The finding has no bounds, because the number is within those that are known.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_cq_suspect(const struct ibv_cq_init_attr_ex *init,
					     const struct ibv_device_attr *device,
					     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site secret = {"cqe", RDMAEZ_WHY_CQ_HIDDEN,
						       RDMAEZ_VALUE_NUMBER, 1, 0};

	if (diag->error != EINVAL || diag->count || device->max_cqe <= 0)
		return false;
	rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &secret, init->cqe);
	return true;
}

/* Explains EOPNOTSUPP of ibv_create_cq_ex() by the flags that may be its cause. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_cq_explain_flags(const struct ibv_cq_init_attr_ex *init,
						    struct rdmaez_diag *diag)
{
	struct rdmaez_impl_site site = {"wc_flags", RDMAEZ_WHY_NOT_SUPPORTED, RDMAEZ_VALUE_FLAGS, 0,
					0};
	/* Every driver has these, the fields of struct ibv_wc. */
	const uint64_t rare = init->wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS;

	if (rare)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &site, rare, 0, init->wc_flags);
	site.field = "flags";
	if ((init->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) && init->flags)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &site, init->flags, 0,
					init->flags);
	site.field = "comp_mask";
	if (init->comp_mask & ~(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &site,
					init->comp_mask & ~(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS, 0,
					init->comp_mask);
}

/* Judges what both verbs are given, and what only ibv_create_cq_ex() is. */
RDMAEZ_SEAM void rdmaez_impl_cq_explain(struct ibv_context *context,
					const struct ibv_cq_init_attr_ex *init, bool is_ex,
					struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site vector = {"comp_vector", RDMAEZ_WHY_RANGE,
						       RDMAEZ_VALUE_NUMBER, 0, 0};
	struct ibv_device_attr device;
	const int error = diag->error;

	/* If the library refuses comp_mask, a provider leaves errno as it was. */
	if (is_ex && (error == EOPNOTSUPP || error == EIO))
		rdmaez_impl_cq_explain_flags(init, diag);
	rdmaez_impl_create_ask(context, &device, diag);
	rdmaez_impl_cq_explain_cqe(init, &device, diag);
	/*
	 * create_cq() of uverbs_cmd.c and UVERBS_METHOD_CQ_CREATE look at this. A provider that is
	 * short of memory never asks them.
	 */
	if (rdmaez_impl_is_judged(error) &&
	    init->comp_vector >= (uint32_t)context->num_comp_vectors)
		rdmaez_impl_find_within(diag,
					error == ENOMEM ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ERROR,
					&vector, (uint64_t)(int64_t)(int32_t)init->comp_vector, 0,
					(uint64_t)context->num_comp_vectors - 1);
	if (init->channel)
		rdmaez_impl_explain_context(diag, "channel", init->channel->context, context);
	if (rdmaez_impl_cq_suspect(init, &device, diag))
		rdmaez_impl_explain_count(diag, &device, "max_cq", device.max_cq);
	rdmaez_impl_explain_rest(diag, "cqe", "max_cq", device.max_cq);
}

/* Explains why a queue was not resized. */
RDMAEZ_SEAM void rdmaez_impl_cq_explain_resize(const struct ibv_cq *cq, int cqe,
					       struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site waiting = {"cqe", RDMAEZ_WHY_CQ_WAITING,
							RDMAEZ_VALUE_NUMBER, 1, 0};
	struct ibv_cq_init_attr_ex init;
	struct ibv_device_attr device;
	const int error = diag->error;

	/*
	 * mlx5_ib_resize_cq() returns ENOSYS if the firmware lacks it, and mlx5_resize_cq()
	 * EOPNOTSUPP for memory in a dma-buf.
	 */
	if (error == EOPNOTSUPP || error == ENOSYS) {
		rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_CQ_FIXED, "cq");
		return;
	}
	memset(&init, 0, sizeof(init));
	init.cqe = (uint32_t)cqe;
	rdmaez_impl_create_ask(cq->context, &device, diag);
	rdmaez_impl_cq_explain_cqe(&init, &device, diag);
	/* rxe_resize_cq(), rvt_resize_cq() and mlx4_resize_cq() compare this. */
	if (error == EINVAL && !diag->count && cqe < cq->cqe)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &waiting, init.cqe);
	rdmaez_impl_cq_suspect(&init, &device, diag);
	rdmaez_impl_explain_rest(diag, "cqe", NULL, 0);
}

/* ---- SRQs --------------------------------------------------------------------------------- */

/*
 * Checks what a type needs in comp_mask: ibv_cmd_create_srq_ex() and ibv_icmd_create_srq() of
 * rdma-core. For a basic SRQ mlx4_create_srq_ex() and mlx5_create_srq_ex() do not ask for it.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_srq_explain_parts(const struct ibv_srq_init_attr_ex *init,
						    struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site parts = {"comp_mask", RDMAEZ_WHY_SRQ_PARTS,
						      RDMAEZ_VALUE_FLAGS, 0, 0};
	uint32_t needed = IBV_SRQ_INIT_ATTR_PD;

	if (init->srq_type == IBV_SRQT_XRC)
		needed |= (uint32_t)IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	if (init->srq_type == IBV_SRQT_TM)
		needed |= (uint32_t)IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
	if ((diag->error == EINVAL || diag->error == EIO) && (needed & ~init->comp_mask))
		rdmaez_impl_find_within(diag,
					init->srq_type == IBV_SRQT_BASIC ? RDMAEZ_DIAG_LIKELY
									 : RDMAEZ_DIAG_ERROR,
					&parts, needed & ~init->comp_mask, 0, init->comp_mask);
}

/* Judges tag matching: whether the device has it, and has as many tags and operations. */
RDMAEZ_IMPL_COLD void rdmaez_impl_srq_explain_tags(struct ibv_context *context,
						   const struct ibv_srq_init_attr_ex *init,
						   struct rdmaez_diag *diag)
{
	const struct ibv_tm_cap *const asked = &init->tm_cap;
	struct rdmaez_impl_site site = {"tm_cap.max_num_tags", RDMAEZ_WHY_NONE, RDMAEZ_VALUE_NUMBER,
					0, 0};
	struct ibv_device_attr_ex device;
	enum rdmaez_severity sure;

	memset(&device, 0, sizeof(device));
	if (ibv_query_device_ex(context, NULL, &device))
		return;
	if (!device.tm_caps.max_num_tags) {
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NOT_SUPPORTED,
				       "srq_type");
		return;
	}
	if (!(init->comp_mask & IBV_SRQ_INIT_ATTR_TM))
		return;
	sure = rdmaez_impl_limit_sure(diag, &device.orig_attr, RDMAEZ_DRIVER_COMPARES_TAGS);
	/* ibv_icmd_create_srq() also refuses 0. */
	site.why = asked->max_num_tags ? RDMAEZ_WHY_CAP_LIMIT : RDMAEZ_WHY_RANGE;
	if (asked->max_num_tags - 1 >= device.tm_caps.max_num_tags)
		rdmaez_impl_find_within(diag, sure, &site, asked->max_num_tags, 1,
					device.tm_caps.max_num_tags);
	site.why = RDMAEZ_WHY_CAP_LIMIT;
	site.field = "tm_cap.max_ops";
	if (asked->max_ops > device.tm_caps.max_ops)
		rdmaez_impl_find_within(diag, sure, &site, asked->max_ops, 0,
					device.tm_caps.max_ops);
}

/* Judges what only ibv_create_srq_ex() asks for. The type is the one that counts. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_srq_explain_ex(struct ibv_context *context,
						  const struct ibv_srq_init_attr_ex *init,
						  const struct ibv_device_attr *device,
						  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site type = {"srq_type", RDMAEZ_WHY_ENUM,
						     RDMAEZ_VALUE_NUMBER, 0, IBV_SRQT_TM};
	const bool lacking = diag->error == EOPNOTSUPP || diag->error == ENOSYS;

	if (init->srq_type != IBV_SRQT_BASIC)
		rdmaez_impl_srq_explain_parts(init, diag);
	if (diag->error == EINVAL && (unsigned int)init->srq_type > IBV_SRQT_TM)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &type, (unsigned int)init->srq_type);
	if ((lacking || diag->error == EINVAL) && init->srq_type == IBV_SRQT_XRC &&
	    !(device->device_cap_flags & IBV_DEVICE_XRC))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NO_XRC, "srq_type");
	if ((lacking || rdmaez_impl_is_judged(diag->error)) && init->srq_type == IBV_SRQT_TM)
		rdmaez_impl_srq_explain_tags(context, init, diag);
	rdmaez_impl_explain_context(diag, "pd", init->pd->context, context);
	if (init->comp_mask & IBV_SRQ_INIT_ATTR_XRCD)
		rdmaez_impl_explain_context(diag, "xrcd", init->xrcd->context, context);
	if (init->comp_mask & IBV_SRQ_INIT_ATTR_CQ)
		rdmaez_impl_explain_context(diag, "cq", init->cq->context, context);
}

/* Judges what was asked. ibv_create_srq() was only given `attr`. */
RDMAEZ_SEAM void rdmaez_impl_srq_explain(struct ibv_context *context,
					 const struct ibv_srq_init_attr_ex *init,
					 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_limit limits[] = {
		RDMAEZ_IMPL_LIMIT("attr.", ibv_srq_attr, max_wr, 1, max_srq_wr, SRQ_WR),
		RDMAEZ_IMPL_LIMIT("attr.", ibv_srq_attr, max_sge, 0, max_srq_sge, SRQ_SGE)};
	static const struct rdmaez_impl_site event = {"attr.srq_limit", RDMAEZ_WHY_RANGE,
						      RDMAEZ_VALUE_NUMBER, 0, 0};
	struct ibv_device_attr device;
	const int error = diag->error;

	rdmaez_impl_create_ask(context, &device, diag);
	if (init->pd)
		rdmaez_impl_srq_explain_ex(context, init, &device, diag);
	rdmaez_impl_explain_limits(diag, limits, 2, &init->attr, &device);
	if (init->pd && init->srq_type == IBV_SRQT_BASIC)
		rdmaez_impl_srq_explain_parts(init, diag);
	/* siw minds that (siw_create_srq()), and rxe does not. */
	if (error == EINVAL && init->attr.srq_limit > init->attr.max_wr)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &event, init->attr.srq_limit, 0,
					init->attr.max_wr);
	if ((error == EINVAL || error == ENOMEM) && !diag->count) {
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_TOGETHER, "attr");
		rdmaez_impl_explain_count(diag, &device, "max_srq", device.max_srq);
	}
	rdmaez_impl_explain_rest(diag, "attr", "max_srq", device.max_srq);
}

/*
 * Explains why an SRQ was not changed: by its size and the device's, and by the limit and its size.
 */
RDMAEZ_SEAM void rdmaez_impl_srq_explain_modify(struct ibv_srq *srq,
						const struct ibv_srq_attr *attr, int attr_mask,
						struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_limit limits[] = {
		RDMAEZ_IMPL_LIMIT("attr.", ibv_srq_attr, max_wr, 1, max_srq_wr, SRQ_WR)};
	static const struct rdmaez_impl_site event = {"attr.srq_limit", RDMAEZ_WHY_RANGE,
						      RDMAEZ_VALUE_NUMBER, 0, 0};
	const int error = diag->error;
	const bool resizes = attr_mask & IBV_SRQ_MAX_WR;
	struct ibv_device_attr device;
	struct ibv_srq_attr now;

	memset(&now, 0, sizeof(now));
	rdmaez_impl_create_ask(srq->context, &device, diag);
	if (ibv_query_srq(srq, &now))
		now.max_wr = 0;
	if (resizes)
		rdmaez_impl_explain_limits(diag, limits, 1, attr, &device);
	/* mlx5_ib_modify_srq() and mlx4_ib_modify_srq() return EINVAL. */
	if (resizes && !(device.device_cap_flags & IBV_DEVICE_SRQ_RESIZE) &&
	    (error == EINVAL || error == EOPNOTSUPP || error == ENOSYS))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_SRQ_FIXED,
				       "attr.max_wr");
	if (resizes)
		now.max_wr = attr->max_wr;
	/* rxe_srq_chk_attr(), siw_modify_srq() and rvt_modify_srq() compare this. */
	if (error == EINVAL && (attr_mask & IBV_SRQ_LIMIT) && now.max_wr &&
	    attr->srq_limit > now.max_wr)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &event, attr->srq_limit, 0,
					now.max_wr);
	rdmaez_impl_explain_rest(diag, "attr", NULL, 0);
}

/* ---- XRC domains -------------------------------------------------------------------------- */

/*
 * Says what the errno value means for the file and the flags. Without bits in comp_mask there are
 * none.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_xrcd_explain_file(const struct ibv_xrcd_init_attr *init,
						     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site file = {"fd", RDMAEZ_WHY_XRCD_FILE,
						     RDMAEZ_VALUE_NUMBER, 1, 0};
	const int error = diag->error;

	if (error == EBADF)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &file, (uint64_t)init->fd);
	else if (error == EAGAIN && !(init->oflags & O_CREAT))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_XRCD_NONE, "oflags");
	else if (error == EINVAL && (init->oflags & O_EXCL))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_XRCD_EXISTS, "oflags");
}

/* Explains a refusal by the bits, the device and the file. */
RDMAEZ_SEAM void rdmaez_impl_xrcd_explain(struct ibv_context *context,
					  const struct ibv_xrcd_init_attr *init,
					  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site parts = {"comp_mask", RDMAEZ_WHY_XRCD_PARTS,
						      RDMAEZ_VALUE_FLAGS, 0, 0};
	const uint32_t needed = (uint32_t)IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct ibv_device_attr device;
	const int error = diag->error;

	rdmaez_impl_create_ask(context, &device, diag);
	if (!(device.device_cap_flags & IBV_DEVICE_XRC) && (error == EOPNOTSUPP || error == ENOSYS))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NO_XRC,
				       "device_cap_flags");
	else if ((init->comp_mask & needed) != needed)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_ERROR, &parts, needed & ~init->comp_mask,
					0, init->comp_mask);
	else if (init->fd != -1)
		rdmaez_impl_xrcd_explain_file(init, diag);
	rdmaez_impl_explain_rest(diag, "ibv_open_xrcd", NULL, 0);
}

RDMAEZ_IMPL_END

#endif
