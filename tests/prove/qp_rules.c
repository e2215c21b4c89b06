/* SPDX-License-Identifier: MIT */
/*
 * Rules and masks of rdmaez_qp_rule() and rdmaez_qp_mask_check() against the tables of tests/data, which were read from
 * the kernel: for every number as type, state and mask, also those that no enumerator has. RECORD does the same with a
 * record, where the rule comes from the table of numbers, rdmaez_impl_qp_rule().
 *
 * The runner makes rules.h out of the tables: RULE(from, to, type, required, optional).
 *
 * parts: PLAIN RECORD
 * machines: 64 32
 * unwind: 180
 * defect: PLAIN "the rule" impl/qp_rules.h s/IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_DEST_RD_ATOMIC : 0/IBV_QP_MIN_RNR_TIMER : 0/
 * defect: PLAIN "the mask" impl/qp_rules.h s/!(attr_mask \& ~(rule.required | rule.optional))/1/
 * defect: PLAIN "the rule" impl/qp_rules.h s/((type) + 0u) >> 4 == 15/((type) + 0u) >> 4/
 * defect: RECORD "the mask" impl/qp_rules.h s/{0x4c00a, 0x4400a, 0x42, 0x2000000/{0x4c00a, 0x4400a, 0x42, 0/
 * defect: RECORD "the record" impl/qp_rules.h s/rdmaez_impl_failed(diag, EINVAL, NULL)/(void)0/
 */
#include "prove.h"
#include <rdmaez/qp_rules.h>

static const struct {
	int from, to, type, required, optional;
} rules[] = {
#define RULE(from, to, type, required, optional) \
	{IBV_QPS_##from, IBV_QPS_##to, type, required, optional},
#include "rules.h"
};

void rdmaez_impl_qp_mask_explain(enum ibv_qp_type type, enum ibv_qp_state from,
				 enum ibv_qp_state to, int attr_mask, enum rdmaez_severity severity,
				 struct rdmaez_diag *diag)
{
	(void)type;
	(void)from;
	(void)to;
	(void)attr_mask;
	PROVE(diag->error == EINVAL && severity == RDMAEZ_DIAG_ERROR, "what is explained");
}

int main(void)
{
	const int type = nondet_int(), from = nondet_int(), to = nondet_int(), mask = nondet_int();
	const struct rdmaez_qp_rule rule = rdmaez_qp_rule(
		(enum ibv_qp_type)type, (enum ibv_qp_state)from, (enum ibv_qp_state)to);
	bool legal = false, fits;
	int required = 0, optional = 0, got;
	struct rdmaez_diag *record = NULL;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].type == type && rules[i].from == from && rules[i].to == to) {
			legal = true;
			required = rules[i].required;
			optional = rules[i].optional;
		}
	}
	/* The kernel allows the state everywhere, and mlx5 requires it of its own types. */
	if (legal && (from != to || type > 0xf1))
		required |= IBV_QP_STATE;
	else if (legal)
		optional |= IBV_QP_STATE;
	fits = legal && (mask & required) == required && !(mask & ~(required | optional));
#ifdef RECORD
	struct rdmaez_diag diag;

	record = &diag;
#endif
	got = rdmaez_qp_mask_check((enum ibv_qp_type)type, (enum ibv_qp_state)from,
				   (enum ibv_qp_state)to, mask, record);
	PROVE(rule.legal == legal && rule.required == required && rule.optional == optional,
	      "the rule is that of the table");
	PROVE(got == (fits ? 0 : EINVAL), "the mask is accepted exactly if the table does");
#ifdef RECORD
	PROVE(diag.error == got, "the record has the errno value");
#endif
	GOAL(fits && type == IBV_QPT_RC && from == IBV_QPS_RTR && to == IBV_QPS_RTS);
	GOAL(legal && !fits);
	GOAL(!legal && rdmaez_qp_type_has_rules((enum ibv_qp_type)type));
	GOAL(type > 1000 && from < 0);
	GOAL(fits && type > 0xf1);
	return 0;
}
