/* SPDX-License-Identifier: MIT */
/* Queue pairs: made, moved and destroyed, and what is attached to them. */
#include "verbs.h"
#include "watch.h"

/* ---- Made and destroyed ------------------------------------------------------------------------------ */

void explain_has_qp(struct ibv_qp *qp, int sig_all, const struct ibv_qp_cap *cap)
{
	explain_made(EXPLAIN_QP, qp);
	explain_qp_made(qp);
	explain_watch_qp(qp, sig_all != 0, cap);
}

/* One as it was asked for by either verb, with this much inline data instead; it is gone again, and true if it was made. */
static bool takes_inline(struct ibv_pd *pd, const struct ibv_qp_init_attr *asked,
			 struct ibv_context *context, const struct ibv_qp_init_attr_ex *asked_ex,
			 uint32_t bytes)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_init_attr_ex init_ex;
	struct ibv_qp *qp;

	if (asked) {
		init = *asked;
		init.cap.max_inline_data = bytes;
		qp = REAL(ibv_create_qp)(pd, &init);
	} else {
		init_ex = *asked_ex;
		init_ex.cap.max_inline_data = bytes;
		qp = explain_originals(context)->create_qp_ex(context, &init_ex);
	}
	if (qp)
		REAL(ibv_destroy_qp)(qp);
	return qp != NULL;
}

/*
 * No query tells how much inline data a queue pair may have, and whoever runs a program of others cannot call
 * rdmaez_qp_max_inline(): so the limit is looked for here. If there is one, with all other numbers as they were, then
 * none of those was the cause.
 */
static void find_inline(struct rdmaez_diag *diag, uint32_t refused, struct ibv_pd *pd,
			const struct ibv_qp_init_attr *asked, struct ibv_context *context,
			const struct ibv_qp_init_attr_ex *asked_ex)
{
	const struct rdmaez_finding *const found = rdmaez_diag_find(diag, RDMAEZ_WHY_CAP_INLINE);
	uint32_t low = 0;

	if (!found || !takes_inline(pd, asked, context, asked_ex, 0))
		return;
	if (refused > RDMAEZ_QP_INLINE_PROBED)
		refused = RDMAEZ_QP_INLINE_PROBED;
	while (refused - low > 1) {
		const uint32_t middle = low + (refused - low) / 2;

		if (takes_inline(pd, asked, context, asked_ex, middle))
			low = middle;
		else
			refused = middle;
	}
	diag->finding[0] = *found;
	diag->finding[0].min = 0;
	diag->finding[0].max = low;
	diag->count = 1;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr)
{
	/* A provider may write over it, then refuse: the headers are shown what the program asked for. */
	struct ibv_qp_init_attr asked = *init_attr;
	struct ibv_qp *qp;

	EXPLAIN_POINTER(struct ibv_qp, explain_verb_create_qp, REAL(ibv_create_qp)(pd, init_attr),
			pd->context, explain_has_qp(result, asked.sq_sig_all, &init_attr->cap),
			rdmaez_qp_create(pd, &asked, &qp, call.diag);
			find_inline(call.diag, asked.cap.max_inline_data, pd, &asked, NULL, NULL));
}

struct ibv_qp_init_attr_ex explain_qp_asked(const struct ibv_qp_init_attr_ex *init_attr)
{
	static const struct {
		uint32_t bit;
		size_t end;
	} part[] = {
#define END(member) offsetof(struct ibv_qp_init_attr_ex, member)
		{IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, sizeof(struct ibv_qp_init_attr_ex)},
		{IBV_QP_INIT_ATTR_RX_HASH, END(source_qpn)},
		{IBV_QP_INIT_ATTR_IND_TABLE, END(rx_hash_conf)},
		{IBV_QP_INIT_ATTR_MAX_TSO_HEADER, END(rwq_ind_tbl)},
		{IBV_QP_INIT_ATTR_CREATE_FLAGS, END(max_tso_header)},
		{IBV_QP_INIT_ATTR_XRCD, END(create_flags)},
		{IBV_QP_INIT_ATTR_PD, END(xrcd)},
		{0, END(pd)},
#undef END
	};
	/* Which a creation flag adds, without a bit of its own. */
	const bool has_source = init_attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
				init_attr->create_flags & IBV_QP_CREATE_SOURCE_QPN;
	struct ibv_qp_init_attr_ex asked = {0};
	size_t i = 0;

	while (part[i].bit && !(init_attr->comp_mask & part[i].bit))
		i++;
	memcpy(&asked, init_attr, part[i].end);
	if (has_source)
		asked.source_qpn = init_attr->source_qpn;
	return asked;
}

struct ibv_qp *explain_create_qp_ex(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *init_attr)
{
	struct ibv_qp_init_attr_ex asked = explain_qp_asked(init_attr);
	struct ibv_qp *qp;

	EXPLAIN_POINTER(
		struct ibv_qp, explain_verb_create_qp_ex,
		explain_originals(context)->create_qp_ex(context, init_attr), context,
		explain_has_qp(result, asked.sq_sig_all, &init_attr->cap),
		rdmaez_qp_create_ex(context, &asked, &qp, call.diag);
		find_inline(call.diag, asked.cap.max_inline_data, NULL, NULL, context, &asked));
}

struct ibv_qp *explain_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	EXPLAIN_POINTER(struct ibv_qp, "ibv_open_qp",
			explain_originals(context)->open_qp(context, attr), context,
			explain_has_qp(result, 0, NULL), EXPLAIN_NOTHING);
}

EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct explain_call call = EXPLAIN_CALL(ibv_destroy_qp, EXPLAIN_REFUSAL);
	struct explain_watch_call waits;
	struct ibv_context *context;
	unsigned int row;
	int result;

	if (explain_answered(&call, &result))
		return result;
	explain_does(call.verb, EXPLAIN_QP, qp);
	context = qp->context;
	explain_does_qp(qp->qp_num);
	explain_qp_excuse(qp);
	explain_qp_gone(qp);
	row = explain_watch_leave_qp(qp);
	waits = explain_watch_enter(EXPLAIN_DESTROY_QP, row, __builtin_frame_address(0));
	explain_enter();
	result = REAL(ibv_destroy_qp)(qp);
	explain_watch_exit(&waits);
	explain_watch_left_qp(row, qp, result);
	if (result)
		explain_qp_made(qp); /* it is still there */
	/* rdmaez_qp_destroy() would drain it. */
	if (explain_leave(&call, result)) {
		call.diag->qp_num = qp->qp_num;
		call.diag->qp_type = (int)qp->qp_type;
		explain_refused(&call, context);
	} else if (!result) {
		explain_destroyed(EXPLAIN_QP, qp);
	}
	return result;
}

/* ---- Moved ------------------------------------------------------------------------------------------- */

/* Leaves in a record what is advice, and not a reason for a refusal, which is explained if there is one. */
static void keep_advice(struct rdmaez_diag *diag)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < diag->count; i++)
		if (diag->finding[i].severity == RDMAEZ_DIAG_ADVICE)
			diag->finding[kept++] = diag->finding[i];
	diag->count = kept;
}

/* What an expert would choose otherwise: looked for before a move, and said once it is accepted. */
static void look_for_advice(struct explain_call *call, struct ibv_qp *qp,
			    const struct ibv_qp_attr *attr, int attr_mask,
			    struct rdmaez_diag *advice)
{
	const enum ibv_qp_state state = qp->state;

	advice->count = 0;
	/* librdmacm's moves are not the program's choice. */
	if (!explain_options || !explain_options->advice || explain_thread.outer ||
	    !explain_begin(call))
		return;
	rdmaez_qp_check(qp, attr, attr_mask, call->diag);
	explain_keep_state(qp, state);
	keep_advice(call->diag);
	*advice = *call->diag;
	advice->error = 0;
	explain_drop(call);
}

static void give_advice(struct explain_call *call, const struct rdmaez_diag *advice)
{
	if (!advice->count || !explain_begin(call))
		return;
	*call->diag = *advice;
	explain_end(call);
}

/* What becomes of a queue pair by a move that was accepted. */
static void moved(struct ibv_qp *qp, enum ibv_qp_state to, uint32_t old_qp_num)
{
	if (to == IBV_QPS_RESET)
		explain_qp_reset(qp);
	if (to == IBV_QPS_RTR)
		explain_qp_renew(qp);
	/* A DCT of mlx5 has its number from RTR on. */
	if (qp->qp_num != old_qp_num)
		explain_qp_renumbered(qp, old_qp_num);
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct explain_call call = EXPLAIN_CALL(ibv_modify_qp, EXPLAIN_REFUSAL);
	struct explain_call counsel = EXPLAIN_CALL(ibv_modify_qp, EXPLAIN_ADVICE);
	struct rdmaez_diag advice;
	const bool is_move = attr_mask & IBV_QP_STATE;
	uint32_t qp_num;
	int result;

	if (explain_answered(&call, &result))
		return result;
	explain_does(call.verb, EXPLAIN_QP, qp);
	qp_num = qp->qp_num;
	explain_does_qp(qp_num);
	if (is_move && (attr->qp_state == IBV_QPS_ERR || attr->qp_state == IBV_QPS_RESET))
		explain_qp_excuse(qp);
	look_for_advice(&counsel, qp, attr, attr_mask, &advice);
	explain_enter();
	result = REAL(ibv_modify_qp)(qp, attr, attr_mask);
	if (!result && is_move)
		moved(qp, attr->qp_state, qp_num);
	if (!result)
		explain_watch_moved(qp, attr, attr_mask);
	if (explain_leave(&call, result)) {
		const enum ibv_qp_state state = qp->state;

		rdmaez_qp_modify(qp, attr, attr_mask, call.diag);
		explain_keep_state(qp, state);
		explain_refused(&call, qp->context);
	} else if (!result) {
		if (attr_mask & IBV_QP_AV)
			explain_has_path(qp->context, &attr->ah_attr);
		give_advice(&counsel, &advice);
	}
	return result;
}

int explain_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_modify_qp_rate_limit",
		       explain_originals(qp->context)->modify_qp_rate_limit(qp, attr), qp->context,
		       EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	struct explain_call call = EXPLAIN_CALL(ibv_set_ece, EXPLAIN_REFUSAL);
	int result;

	if (explain_answered(&call, &result))
		return result;
	explain_enter();
	result = REAL(ibv_set_ece)(qp, ece);
	/* Few devices have ECE, and whoever has a use for it tries. */
	if (explain_leave(&call, result == EOPNOTSUPP ? 0 : result))
		explain_refused(&call, qp->context);
	return result;
}

/* ---- Attached ---------------------------------------------------------------------------------------- */

EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_attach_mcast", REAL(ibv_attach_mcast)(qp, gid, lid),
		       qp->context, EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_detach_mcast", REAL(ibv_detach_mcast)(qp, gid, lid),
		       qp->context, EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

struct ibv_flow *explain_ibv_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	EXPLAIN_POINTER(struct ibv_flow, "ibv_create_flow",
			explain_originals(qp->context)->ibv_create_flow(qp, attr), qp->context,
			EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_ibv_destroy_flow(struct ibv_flow *flow)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_destroy_flow",
		       explain_originals(flow->context)->ibv_destroy_flow(flow), flow->context,
		       EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}
