/* SPDX-License-Identifier: MIT */
/* Bodies of qp_rules.h. */
#ifndef RDMAEZ_IMPL_QP_RULES_H
#define RDMAEZ_IMPL_QP_RULES_H

#ifndef RDMAEZ_QP_RULES_H
#include "../qp_rules.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_FOLD unsigned int rdmaez_qp_next_states(enum ibv_qp_state from)
{
	const unsigned int reset = 1u << IBV_QPS_RESET, init = 1u << IBV_QPS_INIT,
			   rtr = 1u << IBV_QPS_RTR, rts = 1u << IBV_QPS_RTS,
			   sqd = 1u << IBV_QPS_SQD, err = 1u << IBV_QPS_ERR;

	switch ((int)from) {
	case IBV_QPS_RESET:
		return reset | init;
	case IBV_QPS_INIT:
		return reset | err | init | rtr;
	case IBV_QPS_RTR:
		return reset | err | rts;
	case IBV_QPS_RTS:
	case IBV_QPS_SQD:
		return reset | err | rts | sqd;
	case IBV_QPS_SQE:
		return reset | err | rts;
	case IBV_QPS_ERR:
		return reset | err;
	default:
		return 0;
	}
}

RDMAEZ_FOLD bool rdmaez_qp_type_has_rules(enum ibv_qp_type type)
{
	switch ((int)type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
	case IBV_QPT_RAW_PACKET:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return true;
	default:
		return false;
	}
}

/* Function and struct share a name, which g++ -Wshadow takes for a hidden constructor. */
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

RDMAEZ_FOLD struct rdmaez_qp_rule rdmaez_qp_rule(enum ibv_qp_type type, enum ibv_qp_state from,
						 enum ibv_qp_state to)
{
	const bool rc = type == IBV_QPT_RC, uc = type == IBV_QPT_UC, ud = type == IBV_QPT_UD,
		   raw = type == IBV_QPT_RAW_PACKET, xrc_send = type == IBV_QPT_XRC_SEND,
		   xrc_recv = type == IBV_QPT_XRC_RECV;
	/* Who has a far end, who takes requests from it, who sends requests and retries them. */
	const bool connected = rc || uc || xrc_send || xrc_recv;
	const bool responder = rc || xrc_recv, requester = rc || xrc_send;
	const int alternate = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
	/* What a queue pair takes on the way to RTS it also takes within it. */
	const int ready = connected ? IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | alternate |
					      (responder ? IBV_QP_MIN_RNR_TIMER : 0)
			  : ud ? IBV_QP_CUR_STATE | IBV_QP_QKEY
			       : 0;
	struct rdmaez_qp_rule rule = {false, 0, 0};
	int required = 0, optional = 0;

	if (!rdmaez_qp_type_has_rules(type) || (unsigned int)to > IBV_QPS_ERR ||
	    !(rdmaez_qp_next_states(from) >> (unsigned int)to & 1u))
		return rule;

	switch ((int)from * 8 + (int)to) {
	case IBV_QPS_RESET * 8 + IBV_QPS_INIT:
		required = IBV_QP_PORT;
		if (!raw)
			required |= IBV_QP_PKEY_INDEX | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
		break;
	case IBV_QPS_INIT * 8 + IBV_QPS_INIT:
		if (!raw)
			optional = IBV_QP_PORT | IBV_QP_PKEY_INDEX |
				   (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
		break;
	case IBV_QPS_INIT * 8 + IBV_QPS_RTR:
		if (ud)
			optional = IBV_QP_PKEY_INDEX | IBV_QP_QKEY;
		if (connected) {
			required = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
			optional = IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH;
		}
		if (responder)
			required |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		break;
	case IBV_QPS_RTR * 8 + IBV_QPS_RTS:
		if (!raw)
			required = IBV_QP_SQ_PSN;
		if (rc || xrc_send || xrc_recv)
			required |= IBV_QP_TIMEOUT;
		if (requester)
			required |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
		optional = raw ? IBV_QP_RATE_LIMIT : ready;
		break;
	case IBV_QPS_RTS * 8 + IBV_QPS_RTS:
		optional = raw ? IBV_QP_RATE_LIMIT : ready;
		break;
	case IBV_QPS_SQD * 8 + IBV_QPS_RTS:
		optional = ready;
		break;
	case IBV_QPS_RTS * 8 + IBV_QPS_SQD:
		if (!raw)
			optional = IBV_QP_EN_SQD_ASYNC_NOTIFY;
		break;
	case IBV_QPS_SQD * 8 + IBV_QPS_SQD:
		if (ud)
			optional = IBV_QP_PKEY_INDEX | IBV_QP_QKEY;
		if (connected)
			optional = IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_AV | alternate;
		if (rc || xrc_send || xrc_recv)
			optional |= IBV_QP_PORT | IBV_QP_TIMEOUT;
		if (requester)
			optional |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
		if (responder)
			optional |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		break;
	case IBV_QPS_SQE * 8 + IBV_QPS_RTS:
		if (ud)
			optional = IBV_QP_CUR_STATE | IBV_QP_QKEY;
		if (uc)
			optional = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS;
		break;
	default: /* to RESET and to ERR: the state and nothing else */
		break;
	}

	rule.legal = true;
	rule.required = from == to ? required : required | IBV_QP_STATE;
	rule.optional = from == to ? optional | IBV_QP_STATE : optional;
	return rule;
}

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* Whether a mask is what a rule accepts. */
RDMAEZ_FOLD bool rdmaez_impl_qp_mask_fits(struct rdmaez_qp_rule rule, int attr_mask)
{
	return rule.legal && (attr_mask & rule.required) == rule.required &&
	       !(attr_mask & ~(rule.required | rule.optional));
}

/* rdmaez_qp_mask_check() where there is a record to fill. */
RDMAEZ_COLD int rdmaez_impl_qp_mask_judge(enum ibv_qp_type type, enum ibv_qp_state from,
					  enum ibv_qp_state to, int attr_mask,
					  struct rdmaez_diag *diag);

RDMAEZ_FOLD int rdmaez_qp_mask_check(enum ibv_qp_type type, enum ibv_qp_state from,
				     enum ibv_qp_state to, int attr_mask, struct rdmaez_diag *diag)
{
	if (diag)
		return rdmaez_impl_qp_mask_judge(type, from, to, attr_mask, diag);
	return rdmaez_impl_qp_mask_fits(rdmaez_qp_rule(type, from, to), attr_mask) ? 0 : EINVAL;
}

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

#include "diag.h"

RDMAEZ_IMPL_BEGIN

/* The rule where nothing is constant: one copy of it. */
RDMAEZ_IMPL_ONCE struct rdmaez_qp_rule
rdmaez_impl_qp_rule(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to)
{
	return rdmaez_qp_rule(type, from, to);
}

/* One finding about bits of the mask, if there are any. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_mask_bits(struct rdmaez_diag *diag,
					       enum rdmaez_severity severity, enum rdmaez_why why,
					       int bits, int attr_mask)
{
	struct rdmaez_impl_site site;

	site.field = "attr_mask";
	site.why = why;
	site.kind = RDMAEZ_VALUE_ATTR_MASK;
	if (bits)
		rdmaez_impl_find_within(diag, severity, &site, (unsigned int)bits, 0,
					(unsigned int)attr_mask);
}

/* Says what is wrong with a mask that the rule refuses. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_mask_explain(enum ibv_qp_type type, enum ibv_qp_state from,
						  enum ibv_qp_state to, int attr_mask,
						  enum rdmaez_severity severity,
						  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site no_rules = {"qp_type", RDMAEZ_WHY_QP_TYPE,
							 RDMAEZ_VALUE_TYPE, 0, 0};
	static const struct rdmaez_impl_site no_from = {"cur_qp_state", RDMAEZ_WHY_QP_STATE,
							RDMAEZ_VALUE_NUMBER, IBV_QPS_RESET,
							IBV_QPS_ERR};
	static const struct rdmaez_impl_site no_to = {
		"qp_state", RDMAEZ_WHY_QP_STATE, RDMAEZ_VALUE_NUMBER, IBV_QPS_RESET, IBV_QPS_ERR};
	static const struct rdmaez_impl_site transition = {"qp_state", RDMAEZ_WHY_TRANSITION,
							   RDMAEZ_VALUE_STATE, 0, 0};
	const struct rdmaez_qp_rule rule = rdmaez_impl_qp_rule(type, from, to);
	const int foreign = attr_mask & ~(rule.required | rule.optional);
	const int special = IBV_QP_CAP | IBV_QP_RATE_LIMIT;

	if (!rdmaez_qp_type_has_rules(type)) {
		rdmaez_impl_find(diag, severity, &no_rules, (uint64_t)type);
	} else if ((unsigned int)from > IBV_QPS_ERR) {
		rdmaez_impl_find(diag, severity, &no_from, (uint64_t)(int)from);
	} else if ((unsigned int)to > IBV_QPS_ERR) {
		rdmaez_impl_find(diag, severity, &no_to, (uint64_t)(int)to);
	} else if (!rule.legal) {
		rdmaez_impl_find_within(diag, severity, &transition, (uint64_t)to, 0,
					rdmaez_qp_next_states(from));
	} else {
		rdmaez_impl_qp_mask_bits(diag, severity, RDMAEZ_WHY_MASK_MISSING,
					 rule.required & ~attr_mask, attr_mask);
		rdmaez_impl_qp_mask_bits(diag, severity, RDMAEZ_WHY_MASK_NOT_ALLOWED,
					 foreign & ~special, attr_mask);
		rdmaez_impl_qp_mask_bits(diag, severity, RDMAEZ_WHY_MASK_CAP, foreign & IBV_QP_CAP,
					 attr_mask);
		rdmaez_impl_qp_mask_bits(diag, severity, RDMAEZ_WHY_MASK_RATE_LIMIT,
					 foreign & IBV_QP_RATE_LIMIT, attr_mask);
	}
}

/* The same for a call that ends with it; EINVAL. */
RDMAEZ_IMPL_COLD int rdmaez_impl_qp_mask_refuse(enum ibv_qp_type type, enum ibv_qp_state from,
						enum ibv_qp_state to, int attr_mask,
						struct rdmaez_diag *diag)
{
	rdmaez_impl_qp_mask_explain(type, from, to, attr_mask, RDMAEZ_DIAG_ERROR, diag);
	if (diag)
		diag->error = EINVAL;
	return EINVAL;
}

RDMAEZ_COLD int rdmaez_impl_qp_mask_judge(enum ibv_qp_type type, enum ibv_qp_state from,
					  enum ibv_qp_state to, int attr_mask,
					  struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_qp_mask_check");
	rdmaez_impl_diag_transition(diag, type, from, to);
	if (rdmaez_impl_qp_mask_fits(rdmaez_impl_qp_rule(type, from, to), attr_mask))
		return 0;
	return rdmaez_impl_qp_mask_refuse(type, from, to, attr_mask, diag);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
