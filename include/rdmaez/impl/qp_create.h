/* SPDX-License-Identifier: MIT */
/* Implements qp_create.h. */
#ifndef RDMAEZ_IMPL_QP_CREATE_H
#define RDMAEZ_IMPL_QP_CREATE_H

#ifndef RDMAEZ_QP_CREATE_H
#include "../qp_create.h"
#endif

#if RDMAEZ_IMPL_BODIES

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

/*
 * Returns the completion queue that is missing, or NULL if none is. The library follows them
 * unchecked.
 */
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

/*
 * Checks what creating and probing need: a protection domain, attributes, somewhere to put the
 * answer.
 */
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
	error = rdmaez_impl_begin(diag, call, pd ? pd->context : NULL, missing);
	if (error)
		return error;
	if (diag)
		diag->qp_type = (int)init->qp_type;
	return 0;
}

/* Does what rdmaez_qp_create() does, without its reset of the record and its checks. */
RDMAEZ_IMPL int rdmaez_impl_create(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
				   struct ibv_qp **qp, struct rdmaez_diag *diag)
{
	const struct ibv_qp_init_attr asked = *init_attr; /* a provider may write, then refuse */
	struct ibv_qp *made;
	int error;

	errno = 0;
	made = ibv_create_qp(pd, init_attr);
	if (!made) {
		error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_create_qp");
		RDMAEZ_IMPL_EXPLAIN(
			diag, rdmaez_impl_create_explain,
			(pd->context, &asked, pd, asked.qp_type != IBV_QPT_XRC_RECV, diag));
		return error;
	}
	*qp = made;
	return 0;
}

RDMAEZ_COLD int rdmaez_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
				 struct ibv_qp **qp, struct rdmaez_diag *diag)
{
	const int error =
		rdmaez_impl_create_begin(pd, init_attr, qp ? NULL : "qp", "rdmaez_qp_create", diag);

	return error ? error : rdmaez_impl_create(pd, init_attr, qp, diag);
}

/*
 * Returns the missing one of the parts that comp_mask or the type call for, or NULL if none is
 * missing.
 */
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

RDMAEZ_COLD int rdmaez_qp_create_ex(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *init_attr, struct ibv_qp **qp,
				    struct rdmaez_diag *diag)
{
	const char *missing = !context ? "context" : !init_attr ? "init_attr" : !qp ? "qp" : NULL;
	struct ibv_qp_init_attr_ex asked; /* a provider may write over it, then refuse */
	struct ibv_qp *made;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_create_ex");
	if (context)
		rdmaez_impl_diag_device(diag, context);
	if (!missing)
		missing = rdmaez_impl_create_missing_ex(init_attr);
	if (missing)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	asked = *init_attr;
	errno = 0;
	made = ibv_create_qp_ex(context, init_attr);
	if (made) {
		*qp = made;
		return 0;
	}
	error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_create_qp_ex");
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_create_explain_ex, (context, &asked, diag));
	return error;
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
	return rdmaez_impl_verb(diag, ibv_destroy_qp(qp), "ibv_destroy_qp");
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
