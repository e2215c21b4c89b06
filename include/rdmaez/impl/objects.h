/* SPDX-License-Identifier: MIT */
/* Implements objects.h. */
#ifndef RDMAEZ_IMPL_OBJECTS_H
#define RDMAEZ_IMPL_OBJECTS_H

#ifndef RDMAEZ_OBJECTS_H
#include "../objects.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

/* Notes what a verb that creates an object has ended in, if no limit of the device tells more. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_objects_fail(struct rdmaez_diag *diag, const char *verb,
					       const char *field)
{
	const int error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), verb);

	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_explain_rest, (diag, field, NULL, 0));
	return error;
}

RDMAEZ_COLD int rdmaez_pd_alloc(struct ibv_context *context, struct ibv_pd **pd,
				struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_begin(diag, "rdmaez_pd_alloc", context,
					    !context ? "context"
					    : pd     ? NULL
						     : "pd");
	struct ibv_pd *made;

	if (error)
		return error;
	made = ibv_alloc_pd(context);
	if (!made)
		return rdmaez_impl_objects_fail(diag, "ibv_alloc_pd", "pd");
	*pd = made;
	return 0;
}

RDMAEZ_COLD int rdmaez_channel_create(struct ibv_context *context,
				      struct ibv_comp_channel **channel, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_begin(diag, "rdmaez_channel_create", context,
					    !context  ? "context"
					    : channel ? NULL
						      : "channel");
	struct ibv_comp_channel *made;

	if (error)
		return error;
	made = ibv_create_comp_channel(context);
	if (!made)
		return rdmaez_impl_objects_fail(diag, "ibv_create_comp_channel", "channel");
	*channel = made;
	return 0;
}

RDMAEZ_COLD int rdmaez_cq_create(struct ibv_context *context, int cqe,
				 struct ibv_comp_channel *channel, int comp_vector,
				 struct ibv_cq **cq, struct rdmaez_diag *diag)
{
	const char *const missing = !context ? "context" : cq ? NULL : "cq";
	int error = rdmaez_impl_begin(diag, "rdmaez_cq_create", context, missing);
	struct ibv_cq_init_attr_ex init;
	struct ibv_cq *made;

	if (error)
		return error;
	made = ibv_create_cq(context, cqe, NULL, channel, comp_vector);
	if (made) {
		*cq = made;
		return 0;
	}
	error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_create_cq");
	memset(&init, 0, sizeof(init));
	init.cqe = (uint32_t)cqe;
	init.channel = channel;
	init.comp_vector = (uint32_t)comp_vector;
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_cq_explain, (context, &init, false, diag));
	return error;
}

RDMAEZ_COLD int rdmaez_cq_create_ex(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *init_attr, struct ibv_cq_ex **cq,
				    struct rdmaez_diag *diag)
{
	const char *const missing = !context     ? "context"
				    : !init_attr ? "init_attr"
				    : cq         ? NULL
						 : "cq";
	int error = rdmaez_impl_begin(diag, "rdmaez_cq_create_ex", context, missing);
	struct ibv_cq_ex *made;

	if (error)
		return error;
	made = ibv_create_cq_ex(context, init_attr);
	if (made) {
		*cq = made;
		return 0;
	}
	error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_create_cq_ex");
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_cq_explain, (context, init_attr, true, diag));
	return error;
}

RDMAEZ_API int rdmaez_cq_resize(struct ibv_cq *cq, int cqe, struct rdmaez_diag *diag)
{
	int error = rdmaez_impl_begin(diag, "rdmaez_cq_resize", cq ? cq->context : NULL,
				      cq ? NULL : "cq");

	if (error)
		return error;
	error = rdmaez_impl_error(ibv_resize_cq(cq, cqe));
	if (error) {
		rdmaez_impl_failed(diag, error, "ibv_resize_cq");
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_cq_explain_resize, (cq, cqe, diag));
	}
	return error;
}

RDMAEZ_COLD int rdmaez_srq_create(struct ibv_pd *pd, struct ibv_srq_init_attr *init_attr,
				  struct ibv_srq **srq, struct rdmaez_diag *diag)
{
	const char *const missing = !pd ? "pd" : !init_attr ? "init_attr" : srq ? NULL : "srq";
	int error = rdmaez_impl_begin(diag, "rdmaez_srq_create", pd ? pd->context : NULL, missing);
	struct ibv_srq_init_attr_ex asked;
	struct ibv_srq *made;

	if (error)
		return error;
	memset(&asked, 0, sizeof(asked));
	asked.attr = init_attr->attr; /* a provider may write over it, then refuse */
	made = ibv_create_srq(pd, init_attr);
	if (made) {
		*srq = made;
		return 0;
	}
	error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_create_srq");
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_srq_explain, (pd->context, &asked, diag));
	return error;
}

/* Returns the name of a domain or queue that is NULL although the library would follow it. */
RDMAEZ_IMPL const char *rdmaez_impl_srq_missing(const struct ibv_srq_init_attr_ex *init)
{
	if (!init->pd)
		return "pd";
	if ((init->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) && !init->xrcd)
		return "xrcd";
	if ((init->comp_mask & IBV_SRQ_INIT_ATTR_CQ) && !init->cq)
		return "cq";
	return NULL;
}

RDMAEZ_COLD int rdmaez_srq_create_ex(struct ibv_context *context,
				     struct ibv_srq_init_attr_ex *init_attr, struct ibv_srq **srq,
				     struct rdmaez_diag *diag)
{
	const char *const missing = !context     ? "context"
				    : !init_attr ? "init_attr"
				    : srq        ? rdmaez_impl_srq_missing(init_attr)
						 : "srq";
	int error = rdmaez_impl_begin(diag, "rdmaez_srq_create_ex", context, missing);
	struct ibv_srq_init_attr_ex asked;
	struct ibv_srq *made;

	if (error)
		return error;
	asked = *init_attr; /* a provider may write over it, then refuse */
	made = ibv_create_srq_ex(context, init_attr);
	if (made) {
		*srq = made;
		return 0;
	}
	error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_create_srq_ex");
	/* Without its bit the type is the basic one. */
	if (!(asked.comp_mask & IBV_SRQ_INIT_ATTR_TYPE))
		asked.srq_type = IBV_SRQT_BASIC;
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_srq_explain, (context, &asked, diag));
	return error;
}

RDMAEZ_IMPL int rdmaez_impl_srq_modify(struct ibv_srq *srq, struct ibv_srq_attr *attr,
				       int attr_mask, struct rdmaez_diag *diag, const char *call)
{
	int error = rdmaez_impl_begin(diag, call, srq ? srq->context : NULL,
				      !srq   ? "srq"
				      : attr ? NULL
					     : "attr");

	if (error)
		return error;
	error = rdmaez_impl_error(ibv_modify_srq(srq, attr, attr_mask));
	if (error) {
		rdmaez_impl_failed(diag, error, "ibv_modify_srq");
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_srq_explain_modify,
				    (srq, attr, attr_mask, diag));
	}
	return error;
}

RDMAEZ_API int rdmaez_srq_modify(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask,
				 struct rdmaez_diag *diag)
{
	return rdmaez_impl_srq_modify(srq, attr, attr_mask, diag, "rdmaez_srq_modify");
}

RDMAEZ_API int rdmaez_srq_arm(struct ibv_srq *srq, uint32_t limit, struct rdmaez_diag *diag)
{
	struct ibv_srq_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.srq_limit = limit;
	return rdmaez_impl_srq_modify(srq, &attr, IBV_SRQ_LIMIT, diag, "rdmaez_srq_arm");
}

RDMAEZ_COLD int rdmaez_xrcd_open(struct ibv_context *context, struct ibv_xrcd_init_attr *init_attr,
				 struct ibv_xrcd **xrcd, struct rdmaez_diag *diag)
{
	const char *const missing = !context     ? "context"
				    : !init_attr ? "init_attr"
				    : xrcd       ? NULL
						 : "xrcd";
	int error = rdmaez_impl_begin(diag, "rdmaez_xrcd_open", context, missing);
	struct ibv_xrcd *made;

	if (error)
		return error;
	made = ibv_open_xrcd(context, init_attr);
	if (made) {
		*xrcd = made;
		return 0;
	}
	error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_open_xrcd");
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_xrcd_explain, (context, init_attr, diag));
	return error;
}

/* ---- The end ------------------------------------------------------------------------------ */

RDMAEZ_API int rdmaez_pd_dealloc(struct ibv_pd *pd, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_begin(diag, "rdmaez_pd_dealloc", pd ? pd->context : NULL,
					    pd ? NULL : "pd");

	return error ? error
		     : rdmaez_impl_end(diag, ibv_dealloc_pd(pd), "ibv_dealloc_pd", "pd",
				       RDMAEZ_WHY_PD_IN_USE);
}

/* libibverbs counts the queues of a channel, and asks nobody. So EBUSY is certain. */
RDMAEZ_API int rdmaez_channel_destroy(struct ibv_comp_channel *channel, struct rdmaez_diag *diag)
{
	int error =
		rdmaez_impl_begin(diag, "rdmaez_channel_destroy", channel ? channel->context : NULL,
				  channel ? NULL : "channel");

	if (error)
		return error;
	error = rdmaez_impl_error(ibv_destroy_comp_channel(channel));
	if (error != EBUSY)
		return rdmaez_impl_verb(diag, error, "ibv_destroy_comp_channel");
	rdmaez_impl_failed(diag, error, "ibv_destroy_comp_channel");
	rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CHANNEL_IN_USE, "channel");
	return error;
}

RDMAEZ_API int rdmaez_cq_destroy(struct ibv_cq *cq, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_begin(diag, "rdmaez_cq_destroy", cq ? cq->context : NULL,
					    cq ? NULL : "cq");

	return error ? error
		     : rdmaez_impl_end(diag, ibv_destroy_cq(cq), "ibv_destroy_cq", "cq",
				       RDMAEZ_WHY_CQ_IN_USE);
}

RDMAEZ_API int rdmaez_srq_destroy(struct ibv_srq *srq, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_begin(diag, "rdmaez_srq_destroy", srq ? srq->context : NULL,
					    srq ? NULL : "srq");

	return error ? error
		     : rdmaez_impl_end(diag, ibv_destroy_srq(srq), "ibv_destroy_srq", "srq",
				       RDMAEZ_WHY_SRQ_IN_USE);
}

RDMAEZ_API int rdmaez_xrcd_close(struct ibv_xrcd *xrcd, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_begin(diag, "rdmaez_xrcd_close", xrcd ? xrcd->context : NULL,
					    xrcd ? NULL : "xrcd");

	if (error)
		return error;
	/* verbs.h asks whether the context has this verb when a domain is opened, not here. */
	return rdmaez_impl_end(diag,
			       verbs_get_ctx(xrcd->context) ? ibv_close_xrcd(xrcd) : EOPNOTSUPP,
			       "ibv_close_xrcd", "xrcd", RDMAEZ_WHY_XRCD_IN_USE);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
