/* SPDX-License-Identifier: MIT */
/* Implements qp_rules.h. */
#ifndef RDMAEZ_IMPL_QP_RULES_H
#define RDMAEZ_IMPL_QP_RULES_H

#ifndef RDMAEZ_QP_RULES_H
#include "../qp_rules.h"
#endif

RDMAEZ_IMPL_BEGIN

#ifdef __cplusplus
#define RDMAEZ_IMPL_QP_TYPE(number) (static_cast<enum ibv_qp_type>(number))
#else
#define RDMAEZ_IMPL_QP_TYPE(number) ((enum ibv_qp_type)(number))
#endif

/* These are the bits of all attributes that there are. */
#define RDMAEZ_IMPL_QP_BITS (((IBV_QP_DEST_QPN << 1) - 1) | IBV_QP_RATE_LIMIT)

/*
 * These are the rules, as constant expressions, from qp_state_table of
 * drivers/infiniband/core/verbs.c, srd_qp_state_table of hw/efa/efa_verbs.c, modify_dci_qp_is_ok()
 * and mlx5_ib_modify_dct() of hw/mlx5/qp.c. rdmaez_qp_rule(), and RDMAEZ_QP_REQUIRED() and its
 * neighbours, are made of them.
 *
 * A set of types has bit n for type n, and bit 16 + n for driver type 0xf0 + n. A step is two octal
 * digits: the state that it starts from, and the state that it leads to.
 */
/* clang-format off */
#define RDMAEZ_IMPL_QP_CONNECTED 0x60cu   /* RC, UC, XRC_SEND, XRC_RECV: have a far end */
#define RDMAEZ_IMPL_QP_RESPONDER 0x404u   /* RC, XRC_RECV: take requests */
#define RDMAEZ_IMPL_QP_REQUESTER 0x40204u /* RC, XRC_SEND, DCI: make requests and retry them */
#define RDMAEZ_IMPL_QP_DATAGRAM  0x20010u /* UD, SRD */
#define RDMAEZ_IMPL_QP_UC        0x8u
#define RDMAEZ_IMPL_QP_RAW       0x100u
#define RDMAEZ_IMPL_QP_SRD       0x20000u
#define RDMAEZ_IMPL_QP_DCI       0x40000u
#define RDMAEZ_IMPL_QP_DCT       0x80000u

/* This is the set that has this type alone. */
#define RDMAEZ_IMPL_QP_SET(type) \
	((type) + 0u < 16 || ((type) + 0u) >> 4 == 15 ? 1u << (((type) + 0u) & 31) : 0u)

/* This is 077 if one of the two is not a state. */
#define RDMAEZ_IMPL_QP_STEP(from, to) \
	((((from) + 0u) | ((to) + 0u)) < 8 ? ((from) + 0u) * 8 + (to) : 077u)

/*
 * These are the legal steps: bit n is for step n, so the states that may follow are a byte for each
 * state.
 */
#define RDMAEZ_IMPL_QP_STEPS(set) \
	(set & 0x2071cu ? 0x0041495959494703u : set & RDMAEZ_IMPL_QP_DCI ? 0x0041414149494703u \
	 : set & RDMAEZ_IMPL_QP_DCT ? 0x0402u : 0u)
#define RDMAEZ_IMPL_QP_LEGAL(set, step) (RDMAEZ_IMPL_QP_STEPS(set) >> step & 1)

/* IBV_QP_STATE is required if the state changes. mlx5's own types always require it. */
#define RDMAEZ_IMPL_QP_STATE(set, step) \
	(step >> 3 != (step & 7) || set > RDMAEZ_IMPL_QP_SRD ? IBV_QP_STATE : 0)

/* The three steps to RTS require these, too. */
#define RDMAEZ_IMPL_QP_INIT(set) \
	(set & RDMAEZ_IMPL_QP_RAW        ? IBV_QP_PORT \
	 : set & RDMAEZ_IMPL_QP_DATAGRAM ? IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY \
	 : set & RDMAEZ_IMPL_QP_DCI      ? IBV_QP_PORT | IBV_QP_PKEY_INDEX \
					   : IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS)
#define RDMAEZ_IMPL_QP_RTR(set) \
	(set & RDMAEZ_IMPL_QP_CONNECTED \
	 ? IBV_QP_PATH_MTU | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	   (set & RDMAEZ_IMPL_QP_RESPONDER ? IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_DEST_RD_ATOMIC : 0) \
	 : set & RDMAEZ_IMPL_QP_DCI ? IBV_QP_PATH_MTU \
	 : set & RDMAEZ_IMPL_QP_DCT ? IBV_QP_PATH_MTU | IBV_QP_AV | IBV_QP_MIN_RNR_TIMER \
				    : 0)
#define RDMAEZ_IMPL_QP_RTS(set) \
	(set & RDMAEZ_IMPL_QP_REQUESTER \
	 ? IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC \
	 : set & RDMAEZ_IMPL_QP_RESPONDER ? IBV_QP_SQ_PSN | IBV_QP_TIMEOUT \
	 : set & RDMAEZ_IMPL_QP_RAW       ? 0 \
					    : IBV_QP_SQ_PSN)

/* Every step to RTS takes these, except the one from SQE. */
#define RDMAEZ_IMPL_QP_READY(set) \
	(set & RDMAEZ_IMPL_QP_DATAGRAM ? IBV_QP_CUR_STATE | IBV_QP_QKEY \
	 : set & RDMAEZ_IMPL_QP_CONNECTED \
	 ? IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | \
	   (set & RDMAEZ_IMPL_QP_RESPONDER ? IBV_QP_MIN_RNR_TIMER : 0) \
	 : 0)

/*
 * This is what a legal step requires, and what else it takes. `init` and so on are the four macros
 * above.
 */
#define RDMAEZ_IMPL_QP_NEEDS(set, step, init, rtr, rts) \
	(RDMAEZ_IMPL_QP_STATE(set, step) | \
	 (step == 001 ? init : step == 012 ? rtr : step == 023 ? rts : 0))
#define RDMAEZ_IMPL_QP_TAKES(set, step, init, rtr, rts, ready) \
	((RDMAEZ_IMPL_QP_STATE(set, step) ^ IBV_QP_STATE) | \
	 (set & RDMAEZ_IMPL_QP_RAW ? step == 023 || step == 033 ? IBV_QP_RATE_LIMIT : 0 \
	  : step == 011 ? init \
	  : step == 012 \
	  ? set & RDMAEZ_IMPL_QP_DCT ? 0 \
	    : (init & ~IBV_QP_PORT) | (ready & IBV_QP_ALT_PATH) | \
	      (set & RDMAEZ_IMPL_QP_DCI ? IBV_QP_AV : 0) \
	  : step == 043 ? ready \
	  : step == 023 || step == 033 \
	  ? ready | (set & RDMAEZ_IMPL_QP_DCI ? IBV_QP_MIN_RNR_TIMER : 0) | \
	    (set & RDMAEZ_IMPL_QP_SRD && step == 023 ? IBV_QP_RNR_RETRY : 0) \
	  : step == 053 \
	  ? set & (RDMAEZ_IMPL_QP_DATAGRAM | RDMAEZ_IMPL_QP_UC) \
	    ? ready & (IBV_QP_CUR_STATE | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS) : 0 \
	  : step == 034 ? IBV_QP_EN_SQD_ASYNC_NOTIFY \
	  : step == 044 \
	  ? (init & ~IBV_QP_PORT) | (ready & ~IBV_QP_CUR_STATE) | (rts & ~IBV_QP_SQ_PSN) | \
	    (rtr & (IBV_QP_AV | IBV_QP_MAX_DEST_RD_ATOMIC)) | (rts & IBV_QP_TIMEOUT ? IBV_QP_PORT : 0) \
	  : 0))

#define RDMAEZ_IMPL_QP_REQUIRED(set, step) \
	(RDMAEZ_IMPL_QP_LEGAL(set, step) \
	 ? RDMAEZ_IMPL_QP_NEEDS(set, step, RDMAEZ_IMPL_QP_INIT(set), RDMAEZ_IMPL_QP_RTR(set), \
				RDMAEZ_IMPL_QP_RTS(set)) : 0)
#define RDMAEZ_IMPL_QP_OPTIONAL(set, step) \
	(RDMAEZ_IMPL_QP_LEGAL(set, step) \
	 ? RDMAEZ_IMPL_QP_TAKES(set, step, RDMAEZ_IMPL_QP_INIT(set), RDMAEZ_IMPL_QP_RTR(set), \
				RDMAEZ_IMPL_QP_RTS(set), RDMAEZ_IMPL_QP_READY(set)) : 0)
/* clang-format on */

/* Returns the states that may follow, for one type. */
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

	if (RDMAEZ_IMPL_QP_LEGAL(set, step)) {
		const int init = RDMAEZ_IMPL_QP_INIT(set), rtr = RDMAEZ_IMPL_QP_RTR(set);
		const int rts = RDMAEZ_IMPL_QP_RTS(set), ready = RDMAEZ_IMPL_QP_READY(set);

		rule.legal = true;
		rule.required = RDMAEZ_IMPL_QP_NEEDS(set, step, init, rtr, rts);
		rule.optional = RDMAEZ_IMPL_QP_TAKES(set, step, init, rtr, rts, ready);
	}
	return rule;
}

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* Returns whether a rule accepts a mask. */
RDMAEZ_FOLD bool rdmaez_impl_qp_mask_fits(struct rdmaez_qp_rule rule, int attr_mask)
{
	return rule.legal && (attr_mask & rule.required) == rule.required &&
	       !(attr_mask & ~(rule.required | rule.optional));
}

/* Does what rdmaez_qp_mask_check() does, if there is a record to fill. */
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

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

/*
 * Returns the rule if nothing is constant, from a table, because compilers take long for code and
 * no time for numbers. The table has what the expressions above come to, and the tests compare
 * them. IBV_QP_STATE is not in it.
 */
RDMAEZ_IMPL_COLD struct rdmaez_qp_rule
rdmaez_impl_qp_rule(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to)
{
	/* clang-format off */
	/* RC, UC, UD, RAW_PACKET, XRC_SEND, XRC_RECV, SRD, DCI, DCT */
	static const uint32_t masks[12][9] = {
		{0, 0, 0, 0, 0, 0, 0, 0, 0},
		/* required: RESET to INIT, INIT to RTR, RTR to RTS */
		{0x38, 0x38, 0x70, 0x20, 0x38, 0x38, 0x70, 0x30, 0x38},
		{0x129180, 0x101180, 0, 0, 0x101180, 0x129180, 0, 0x100, 0x8180},
		{0x12e00, 0x10000, 0x10000, 0, 0x12e00, 0x10200, 0x10000, 0x12e00, 0},
		/* optional: INIT to INIT, INIT to RTR, RTR to RTS, RTS to RTS, RTS to SQD */
		{0x38, 0x38, 0x70, 0, 0x38, 0x38, 0x70, 0x30, 0},
		{0x4018, 0x4018, 0x50, 0, 0x4018, 0x4018, 0x50, 0x90, 0},
		{0x4c00a, 0x4400a, 0x42, 0x2000000, 0x4400a, 0x4c00a, 0x842, 0x8000, 0},
		{0x4c00a, 0x4400a, 0x42, 0x2000000, 0x4400a, 0x4c00a, 0x42, 0x8000, 0},
		{0x4, 0x4, 0x4, 0, 0x4, 0x4, 0x4, 0, 0},
		/* SQD to RTS, SQD to SQD, SQE to RTS */
		{0x4c00a, 0x4400a, 0x42, 0, 0x4400a, 0x4c00a, 0x42, 0, 0},
		{0x6eeb8, 0x44098, 0x50, 0, 0x46eb8, 0x6c2b8, 0x50, 0, 0},
		{0, 0xa, 0x42, 0, 0, 0, 0x42, 0, 0}};
	/*
	 * This is the row of the optional bits, by the state that a step starts from and the one
	 * that it leads to.
	 */
	static const uint8_t rows[8][8] = {{0}, {0, 4, 5}, {0, 0, 0, 6}, {0, 0, 0, 7, 8}, {0, 0, 0, 9, 10}, {0, 0, 0, 11}};
	/* clang-format on */
	const unsigned int number = (unsigned int)type, f = (unsigned int)from,
			   t = (unsigned int)to;
	const unsigned int set = RDMAEZ_IMPL_QP_SET(number);
	const unsigned int column = number - (number < 8 ? 2 : number < 16 ? 5 : 0xeb);
	const int state = f != t || set > RDMAEZ_IMPL_QP_SRD ? IBV_QP_STATE : 0;
	struct rdmaez_qp_rule rule = {false, 0, 0};

	if ((f | t) < 8 && RDMAEZ_IMPL_QP_LEGAL(set, (f * 8 + t))) {
		rule.legal = true;
		rule.required = state | (int)masks[t == f + 1 && t < 4 ? t : 0][column];
		rule.optional = (state ^ IBV_QP_STATE) | (int)masks[rows[f][t]][column];
	}
	return rule;
}

/* Does the same for a call that ends with it. Returns EINVAL. */
RDMAEZ_IMPL_COLD int rdmaez_impl_qp_mask_refuse(enum ibv_qp_type type, enum ibv_qp_state from,
						enum ibv_qp_state to, int attr_mask,
						struct rdmaez_diag *diag)
{
	rdmaez_impl_failed(diag, EINVAL, NULL);
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_qp_mask_explain,
			    (type, from, to, attr_mask, RDMAEZ_DIAG_ERROR, diag));
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
