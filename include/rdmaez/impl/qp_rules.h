/* SPDX-License-Identifier: MIT */
/* Bodies of qp_rules.h. */
#ifndef RDMAEZ_IMPL_QP_RULES_H
#define RDMAEZ_IMPL_QP_RULES_H

#ifndef RDMAEZ_QP_RULES_H
#include "../qp_rules.h"
#endif

RDMAEZ_IMPL_BEGIN

/*
 * The rules, as constant expressions: qp_state_table of drivers/infiniband/core/verbs.c, srd_qp_state_table of
 * hw/efa/efa_verbs.c, modify_dci_qp_is_ok() and mlx5_ib_modify_dct() of hw/mlx5/qp.c. rdmaez_qp_rule() and
 * RDMAEZ_QP_REQUIRED() and its neighbours are made of them.
 *
 * A set of types has bit n for type n, bit 16 + n for driver type 0xf0 + n; a step is two octal digits, the
 * state it starts from and the state it leads to.
 */
/* clang-format off */
#define RDMAEZ_IMPL_QP_CONNECTED 0x60cu   /* RC, UC, XRC_SEND, XRC_RECV: have a far end */
#define RDMAEZ_IMPL_QP_RELIABLE  0x604u   /* RC, XRC_SEND, XRC_RECV */
#define RDMAEZ_IMPL_QP_RESPONDER 0x404u   /* RC, XRC_RECV: take requests */
#define RDMAEZ_IMPL_QP_REQUESTER 0x204u   /* RC, XRC_SEND: make requests and retry them */
#define RDMAEZ_IMPL_QP_DATAGRAM  0x20010u /* UD, SRD */
#define RDMAEZ_IMPL_QP_UC        0x8u
#define RDMAEZ_IMPL_QP_RAW       0x100u
#define RDMAEZ_IMPL_QP_SRD       0x20000u
#define RDMAEZ_IMPL_QP_DCI       0x40000u
#define RDMAEZ_IMPL_QP_DCT       0x80000u
#define RDMAEZ_IMPL_QP_KERNEL    0x71cu   /* whom the kernel's table covers */

/* The set that has this type alone. */
#define RDMAEZ_IMPL_QP_SET(type) \
	((type) + 0u < 16 || ((type) + 0u) >> 4 == 15 ? 1u << (((type) + 0u) & 31) : 0u)

/* 077 where one of the two is not a state. */
#define RDMAEZ_IMPL_QP_STEP(from, to) \
	((((from) + 0u) | ((to) + 0u)) < 8 ? ((from) + 0u) * 8 + (to) : 077u)

/* The legal steps: bit n for step n, so the states that may follow are a byte for each state. */
#define RDMAEZ_IMPL_QP_STEPS(set) \
	((set) & (RDMAEZ_IMPL_QP_KERNEL | RDMAEZ_IMPL_QP_SRD) ? 0x0041495959494703u \
	 : (set) & RDMAEZ_IMPL_QP_DCI ? 0x0041414149494703u \
	 : (set) & RDMAEZ_IMPL_QP_DCT ? 0x0402u : 0u)
#define RDMAEZ_IMPL_QP_LEGAL(set, step) (RDMAEZ_IMPL_QP_STEPS(set) >> (step) & 1)

/* IBV_QP_STATE is required where the state changes, and by mlx5's own types always. */
#define RDMAEZ_IMPL_QP_MOVES(set, step) \
	((step) >> 3 != ((step) & 7) || ((set) & (RDMAEZ_IMPL_QP_DCI | RDMAEZ_IMPL_QP_DCT)))

#define RDMAEZ_IMPL_QP_IF(set, types, bits) ((set) & (types) ? bits : 0)

/* What a step requires, and what else it takes, besides IBV_QP_STATE; steps that are not here: nothing. */
#define RDMAEZ_IMPL_QP_NEEDS_001(set) \
	(IBV_QP_PORT | RDMAEZ_IMPL_QP_IF(set, ~RDMAEZ_IMPL_QP_RAW, IBV_QP_PKEY_INDEX) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_DATAGRAM, IBV_QP_QKEY) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_CONNECTED | RDMAEZ_IMPL_QP_DCT, IBV_QP_ACCESS_FLAGS))
#define RDMAEZ_IMPL_QP_NEEDS_012(set) \
	(RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_CONNECTED, IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_CONNECTED | RDMAEZ_IMPL_QP_DCT, IBV_QP_AV | IBV_QP_PATH_MTU) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_DCI, IBV_QP_PATH_MTU) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_RESPONDER, IBV_QP_MAX_DEST_RD_ATOMIC) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_RESPONDER | RDMAEZ_IMPL_QP_DCT, IBV_QP_MIN_RNR_TIMER))
#define RDMAEZ_IMPL_QP_NEEDS_023(set) \
	(RDMAEZ_IMPL_QP_IF(set, ~RDMAEZ_IMPL_QP_RAW, IBV_QP_SQ_PSN) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_RELIABLE | RDMAEZ_IMPL_QP_DCI, IBV_QP_TIMEOUT) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_REQUESTER | RDMAEZ_IMPL_QP_DCI, \
			   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))

#define RDMAEZ_IMPL_QP_TAKES_011(set) \
	(RDMAEZ_IMPL_QP_IF(set, ~RDMAEZ_IMPL_QP_RAW, IBV_QP_PKEY_INDEX | IBV_QP_PORT) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_DATAGRAM, IBV_QP_QKEY) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_CONNECTED, IBV_QP_ACCESS_FLAGS))
#define RDMAEZ_IMPL_QP_TAKES_012(set) \
	(RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_DATAGRAM, IBV_QP_PKEY_INDEX | IBV_QP_QKEY) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_CONNECTED, \
			   IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_DCI, IBV_QP_PKEY_INDEX | IBV_QP_AV))
/* To RTS from SQD; from RTR and within RTS some more. */
#define RDMAEZ_IMPL_QP_TAKES_043(set) \
	(RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_DATAGRAM, IBV_QP_CUR_STATE | IBV_QP_QKEY) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_CONNECTED, \
			   IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_RESPONDER, IBV_QP_MIN_RNR_TIMER))
#define RDMAEZ_IMPL_QP_TAKES_033(set) \
	(RDMAEZ_IMPL_QP_TAKES_043(set) | RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_RAW, IBV_QP_RATE_LIMIT) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_DCI, IBV_QP_MIN_RNR_TIMER))
#define RDMAEZ_IMPL_QP_TAKES_023(set) \
	(RDMAEZ_IMPL_QP_TAKES_033(set) | RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_SRD, IBV_QP_RNR_RETRY))
#define RDMAEZ_IMPL_QP_TAKES_034(set) \
	RDMAEZ_IMPL_QP_IF(set, ~RDMAEZ_IMPL_QP_RAW, IBV_QP_EN_SQD_ASYNC_NOTIFY)
#define RDMAEZ_IMPL_QP_TAKES_044(set) \
	(RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_DATAGRAM, IBV_QP_PKEY_INDEX | IBV_QP_QKEY) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_CONNECTED, \
			   IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_AV | IBV_QP_ALT_PATH | \
				   IBV_QP_PATH_MIG_STATE) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_RELIABLE, IBV_QP_PORT | IBV_QP_TIMEOUT) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_REQUESTER, \
			   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_RESPONDER, IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
#define RDMAEZ_IMPL_QP_TAKES_053(set) \
	(RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_DATAGRAM, IBV_QP_CUR_STATE | IBV_QP_QKEY) | \
	 RDMAEZ_IMPL_QP_IF(set, RDMAEZ_IMPL_QP_UC, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS))

/* All of it in one expression. */
#define RDMAEZ_IMPL_QP_REQUIRED(set, step) \
	(!RDMAEZ_IMPL_QP_LEGAL(set, step) ? 0 \
	 : (RDMAEZ_IMPL_QP_MOVES(set, step) ? IBV_QP_STATE : 0) | \
	   ((step) == 001   ? RDMAEZ_IMPL_QP_NEEDS_001(set) \
	    : (step) == 012 ? RDMAEZ_IMPL_QP_NEEDS_012(set) \
	    : (step) == 023 ? RDMAEZ_IMPL_QP_NEEDS_023(set) \
			    : 0))
#define RDMAEZ_IMPL_QP_OPTIONAL(set, step) \
	(!RDMAEZ_IMPL_QP_LEGAL(set, step) ? 0 \
	 : (RDMAEZ_IMPL_QP_MOVES(set, step) ? 0 : IBV_QP_STATE) | \
	   ((step) == 011   ? RDMAEZ_IMPL_QP_TAKES_011(set) \
	    : (step) == 012 ? RDMAEZ_IMPL_QP_TAKES_012(set) \
	    : (step) == 023 ? RDMAEZ_IMPL_QP_TAKES_023(set) \
	    : (step) == 033 ? RDMAEZ_IMPL_QP_TAKES_033(set) \
	    : (step) == 034 ? RDMAEZ_IMPL_QP_TAKES_034(set) \
	    : (step) == 043 ? RDMAEZ_IMPL_QP_TAKES_043(set) \
	    : (step) == 044 ? RDMAEZ_IMPL_QP_TAKES_044(set) \
	    : (step) == 053 ? RDMAEZ_IMPL_QP_TAKES_053(set) \
			    : 0))
/* clang-format on */

/* The states that may follow, for one type. */
RDMAEZ_FOLD unsigned int rdmaez_impl_qp_next_states(enum ibv_qp_type type, enum ibv_qp_state from)
{
	const unsigned int set = RDMAEZ_IMPL_QP_SET((unsigned int)type), state = (unsigned int)from;

	return state > IBV_QPS_ERR ? 0
				   : (unsigned int)(RDMAEZ_IMPL_QP_STEPS(set) >> state * 8) & 0xff;
}

RDMAEZ_FOLD unsigned int rdmaez_qp_next_states(enum ibv_qp_state from)
{
	return rdmaez_impl_qp_next_states(IBV_QPT_RC, from);
}

RDMAEZ_FOLD bool rdmaez_qp_type_has_rules(enum ibv_qp_type type)
{
	return RDMAEZ_IMPL_QP_STEPS(RDMAEZ_IMPL_QP_SET((unsigned int)type)) != 0;
}

/* Function and struct share a name, which g++ -Wshadow takes for a hidden constructor. */
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

RDMAEZ_FOLD struct rdmaez_qp_rule rdmaez_qp_rule(enum ibv_qp_type type, enum ibv_qp_state from,
						 enum ibv_qp_state to)
{
	const unsigned int set = RDMAEZ_IMPL_QP_SET((unsigned int)type);
	const unsigned int step = RDMAEZ_IMPL_QP_STEP((unsigned int)from, (unsigned int)to);
	struct rdmaez_qp_rule rule = {false, 0, 0};

	if (!RDMAEZ_IMPL_QP_LEGAL(set, step))
		return rule;
	switch (step) {
	case 001:
		rule.required = RDMAEZ_IMPL_QP_NEEDS_001(set);
		break;
	case 011:
		rule.optional = RDMAEZ_IMPL_QP_TAKES_011(set);
		break;
	case 012:
		rule.required = RDMAEZ_IMPL_QP_NEEDS_012(set);
		rule.optional = RDMAEZ_IMPL_QP_TAKES_012(set);
		break;
	case 023:
		rule.required = RDMAEZ_IMPL_QP_NEEDS_023(set);
		rule.optional = RDMAEZ_IMPL_QP_TAKES_023(set);
		break;
	case 033:
		rule.optional = RDMAEZ_IMPL_QP_TAKES_033(set);
		break;
	case 034:
		rule.optional = RDMAEZ_IMPL_QP_TAKES_034(set);
		break;
	case 043:
		rule.optional = RDMAEZ_IMPL_QP_TAKES_043(set);
		break;
	case 044:
		rule.optional = RDMAEZ_IMPL_QP_TAKES_044(set);
		break;
	case 053:
		rule.optional = RDMAEZ_IMPL_QP_TAKES_053(set);
		break;
	default: /* to RESET and to ERR: the state and nothing else */
		break;
	}
	rule.legal = true;
	*(RDMAEZ_IMPL_QP_MOVES(set, step) ? &rule.required : &rule.optional) |= IBV_QP_STATE;
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
					rdmaez_impl_qp_next_states(type, from));
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
