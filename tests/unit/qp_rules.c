/* SPDX-License-Identifier: MIT */
/*
 * The transition rules against the kernel's own table, tests/data/qp-state-table.tsv, and those of the
 * drivers that have types of their own, tests/data/driver-type-table.tsv, cell by cell: nine types, 49 pairs.
 * (tests/kernel asks a running kernel, and the drivers' source, about every mask.)
 */
#include <rdmaez.h>

#include "findings.h"
#include "rules_file.h"

static struct fake_rule table[RULES_TYPES][RULES_STATES][RULES_STATES];

/* mlx5's own functions want IBV_QP_STATE even where the state stays. */
static bool wants_state(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to)
{
	return from != to || type == RDMAEZ_QPT_DCI || type == RDMAEZ_QPT_DCT;
}

/* What the kernel's ib_modify_qp_is_ok() says, and IBV_QP_STATE where the state changes. */
static bool kernel_accepts(const struct fake_rule *cell, enum ibv_qp_type type,
			   enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	if (wants_state(type, from, to) && !(mask & IBV_QP_STATE))
		return false;
	if ((mask & IBV_QP_CUR_STATE) && from != IBV_QPS_RTR && from != IBV_QPS_RTS &&
	    from != IBV_QPS_SQD && from != IBV_QPS_SQE)
		return false;
	return cell->legal && (mask & cell->required) == cell->required &&
	       !(mask & ~(cell->required | cell->optional | IBV_QP_STATE));
}

static void check_cell(int t, int f, int n)
{
	const enum ibv_qp_type type = rules_type[t];
	const enum ibv_qp_state from = (enum ibv_qp_state)f, to = (enum ibv_qp_state)n;
	const struct fake_rule *cell = &table[t][f][n];
	const struct rdmaez_qp_rule rule = rdmaez_qp_rule(type, from, to);
	const struct rdmaez_qp_rule looked_up = rdmaez_impl_qp_rule(type, from, to);
	const bool wanted = wants_state(type, from, to);
	const int state_required = cell->legal && wanted ? IBV_QP_STATE : 0;
	const int state_optional = cell->legal && !wanted ? IBV_QP_STATE : 0;
	struct rdmaez_diag diag;
	uint32_t random = 1;
	int wrong = 0;

	tap_eq_int(rule.legal, cell->legal, "%s %s to %s exists as the kernel says",
		   rdmaez_qp_type_str(type), rdmaez_qp_state_str(from), rdmaez_qp_state_str(to));
	tap_eq_hex((unsigned int)rule.required, (unsigned int)(cell->required | state_required),
		   "%s %s to %s requires the kernel's bits", rdmaez_qp_type_str(type),
		   rdmaez_qp_state_str(from), rdmaez_qp_state_str(to));
	tap_eq_hex((unsigned int)rule.optional, (unsigned int)(cell->optional | state_optional),
		   "%s %s to %s allows the kernel's bits", rdmaez_qp_type_str(type),
		   rdmaez_qp_state_str(from), rdmaez_qp_state_str(to));

	tap_eq_hex((unsigned int)RDMAEZ_QP_REQUIRED(type, from, to), (unsigned int)rule.required,
		   "and so does the constant expression");
	tap_eq_hex((unsigned int)RDMAEZ_QP_OPTIONAL(type, from, to), (unsigned int)rule.optional,
		   "as for the optional ones");
	tap_ok(looked_up.legal == rule.legal && looked_up.required == rule.required &&
		       looked_up.optional == rule.optional,
	       "and the table, bit by bit");

	/* From the right mask away by one bit, by two, and at random around it. */
	for (int i = 0; i < 32 * 32 + 4000; i++) {
		int mask = cell->required | IBV_QP_STATE;

		random = random * 1664525u + 1013904223u;
		if (i < 32 * 32)
			mask ^= (int)(1u << i / 32 ^ 1u << i % 32);
		else
			mask ^= (int)(random >> 6 & (random * 69069u) >> 6);
		wrong += (rdmaez_qp_mask_check(type, from, to, mask, NULL) == 0) !=
			 kernel_accepts(cell, type, from, to, mask);
		/* With a record the rule is looked up in the table. */
		if (i < 32 * 32 || !(i % 40))
			wrong += (rdmaez_qp_mask_check(type, from, to, mask, &diag) == 0) !=
				 kernel_accepts(cell, type, from, to, mask);
	}
	tap_eq_int(wrong, 0, "%s %s to %s: 5024 masks are judged as the kernel judges them",
		   rdmaez_qp_type_str(type), rdmaez_qp_state_str(from), rdmaez_qp_state_str(to));
}

/* Of types and states that are none, the table has no rule, either. */
static void check_strangers(void)
{
	static const int states[] = {-1, 0, 1, 2, 3, 7, 8, 9, 64, 255, 256};
	struct rdmaez_diag diag;
	int wrong = 0, asked = 0;

	for (int type = -2; type < 0x120; type++)
		for (size_t f = 0; f < sizeof(states) / sizeof(states[0]); f++)
			for (size_t n = 0; n < sizeof(states) / sizeof(states[0]); n++) {
				const enum ibv_qp_type t = (enum ibv_qp_type)type;
				const enum ibv_qp_state from = (enum ibv_qp_state)states[f];
				const enum ibv_qp_state to = (enum ibv_qp_state)states[n];
				const int mask = rdmaez_qp_rule(t, from, to).required;

				wrong += rdmaez_qp_mask_check(t, from, to, mask, &diag) !=
					 rdmaez_qp_mask_check(t, from, to, mask, NULL);
				asked++;
			}
	tap_eq_int(wrong, 0, "%d rules of types and states are the same with a record", asked);
}

static void check_explanations(void)
{
	const struct rdmaez_finding *finding;
	struct rdmaez_diag diag;

	tap_eq_int(rdmaez_qp_mask_check(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR,
					IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_RQ_PSN |
						IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_PORT |
						IBV_QP_CAP,
					&diag),
		   EINVAL, "a mask with two bits missing and two too many is refused");
	tap_eq_int(diag.error, EINVAL, "the record holds the errno returned");
	tap_eq_str(diag.call, "rdmaez_qp_mask_check", "the record names the call");
	tap_eq_int(diag.qp_type, IBV_QPT_RC, "the record names the type");
	tap_eq_int(diag.from, IBV_QPS_INIT, "the record names the state it starts from");
	tap_eq_int(diag.to, IBV_QPS_RTR, "the record names the state asked for");
	tap_eq_count(&diag, 3, "there are three findings");
	finding = rdmaez_diag_find(&diag, RDMAEZ_WHY_MASK_MISSING);
	if (tap_ok(finding, "one finding is MASK_MISSING")) {
		tap_eq_hex(finding->value, IBV_QP_DEST_QPN | IBV_QP_MIN_RNR_TIMER,
			   "it holds the missing bits");
		tap_eq_str(finding->field, "attr_mask", "its field is attr_mask");
	}
	finding = rdmaez_diag_find(&diag, RDMAEZ_WHY_MASK_NOT_ALLOWED);
	if (tap_ok(finding, "one is MASK_NOT_ALLOWED"))
		tap_eq_hex(finding->value, IBV_QP_PORT, "it holds the foreign bit");
	finding = rdmaez_diag_find(&diag, RDMAEZ_WHY_MASK_CAP);
	if (tap_ok(finding, "one is MASK_CAP, for no transition takes that bit"))
		tap_eq_hex(finding->value, IBV_QP_CAP, "it holds that bit");

	tap_eq_int(
		rdmaez_qp_mask_check(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS,
				     rdmaez_qp_rule(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS).required |
					     IBV_QP_RATE_LIMIT,
				     &diag),
		EINVAL, "a rate limit on RC is refused, as Linux 6 does");
	tap_eq_count(&diag, 1, "with one finding");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_MASK_RATE_LIMIT,
		   "which explains that the kernel decides");

	tap_eq_int(
		rdmaez_qp_mask_check(IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_ERR, IBV_QP_STATE, &diag),
		EINVAL, "RESET to ERR does not exist");
	tap_eq_count(&diag, 1, "that alone is said");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_TRANSITION, "as TRANSITION");
	tap_eq_hex(diag.finding[0].max, 1u << IBV_QPS_RESET | 1u << IBV_QPS_INIT,
		   "with the states that may follow");

	tap_eq_int(rdmaez_qp_mask_check(IBV_QPT_DRIVER, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_STATE,
					&diag),
		   EINVAL, "a driver's own type has no rules here");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_QP_TYPE, "which is QP_TYPE");
	tap_eq_int(rdmaez_qp_mask_check(IBV_QPT_RC, IBV_QPS_RESET, (enum ibv_qp_state)7,
					IBV_QP_STATE, &diag),
		   EINVAL, "IBV_QPS_UNKNOWN is not a state to go to");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_QP_STATE, "which is QP_STATE");
	tap_eq_str(diag.finding[0].field, "qp_state", "of qp_state");
	tap_eq_int(rdmaez_qp_mask_check(IBV_QPT_RC, (enum ibv_qp_state)99, IBV_QPS_INIT,
					IBV_QP_STATE, &diag),
		   EINVAL, "nor is 99 one to come from");
	tap_eq_str(diag.finding[0].field, "cur_qp_state", "which is cur_qp_state");
	tap_eq_int(rdmaez_qp_mask_check(IBV_QPT_UC, IBV_QPS_ERR, IBV_QPS_ERR, 0, &diag), 0,
		   "an empty mask within a state is accepted");
	tap_eq_count(&diag, 0, "without a finding");
	tap_eq_int(diag.error, 0, "and without an error");
}

/* What may follow: the kernel's for rdmaez_qp_next_states(), the type's own for a finding. */
static void check_next_states(void)
{
	struct rdmaez_diag diag;

	for (int t = 0; t < RULES_TYPES; t++)
		for (int f = 0; f < RULES_STATES; f++) {
			const enum ibv_qp_state from = (enum ibv_qp_state)f;
			unsigned int legal = 0;
			int refused = RULES_STATES, error;

			for (int n = 0; n < RULES_STATES; n++)
				if (table[t][f][n].legal)
					legal |= 1u << n;
				else
					refused = n;
			if (t < RULES_KERNEL_TYPES)
				tap_eq_hex(rdmaez_qp_next_states(from), legal,
					   "the states that may follow %s, as for %s",
					   rdmaez_qp_state_str(from),
					   rdmaez_qp_type_str(rules_type[t]));
			error = rdmaez_qp_mask_check(rules_type[t], from,
						     (enum ibv_qp_state)refused, IBV_QP_STATE,
						     &diag);
			if (legal)
				CHECK_FINDINGS(&diag, error, EINVAL, "rdmaez_qp_mask_check",
					       "a state that may not follow",
					       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_TRANSITION,
						"qp_state", RDMAEZ_VALUE_STATE, (uint64_t)refused,
						0, legal});
			else
				CHECK_FINDINGS(&diag, error, EINVAL, "rdmaez_qp_mask_check",
					       "none may",
					       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DCT_FINAL, "qp_state",
						RDMAEZ_VALUE_NONE, 0, 0, 0});
		}
	for (int wild = -1; wild < 300; wild = wild == -1 ? 7 : wild + 1)
		if (rdmaez_qp_next_states((enum ibv_qp_state)wild))
			tap_ok(false, "nothing follows state %d", wild);
}

static void check_types(void)
{
	int with_rules = 0;

	for (int i = -300; i < 70000; i++)
		with_rules += rdmaez_qp_type_has_rules((enum ibv_qp_type)i);
	for (int t = 0; t < RULES_TYPES; t++)
		tap_ok(rdmaez_qp_type_has_rules(rules_type[t]), "%s has rules",
		       rdmaez_qp_type_str(rules_type[t]));
	tap_eq_int(with_rules, RULES_TYPES, "no other number up to 70000 has");
}

static void check_wild_arguments(void)
{
	static const int wild[] = {-2147483647 - 1, -1, 0, 1, 7, 8, 31, 32, 64, 255, 256,
				   2147483647};
	int accepted = 0, masks = 0;

	for (size_t t = 0; t < sizeof(wild) / sizeof(*wild); t++)
		for (size_t f = 0; f < sizeof(wild) / sizeof(*wild); f++)
			for (size_t n = 0; n < sizeof(wild) / sizeof(*wild); n++) {
				if (rdmaez_qp_type_has_rules((enum ibv_qp_type)wild[t]) &&
				    wild[f] >= 0 && wild[f] <= 6 && wild[n] >= 0 && wild[n] <= 6)
					continue;
				accepted += rdmaez_qp_rule((enum ibv_qp_type)wild[t],
							   (enum ibv_qp_state)wild[f],
							   (enum ibv_qp_state)wild[n])
						    .legal;
				masks |= RDMAEZ_QP_REQUIRED((unsigned int)wild[t],
							    (unsigned int)wild[f],
							    (unsigned int)wild[n]) |
					 RDMAEZ_QP_OPTIONAL((unsigned int)wild[t],
							    (unsigned int)wild[f],
							    (unsigned int)wild[n]);
			}
	tap_eq_int(accepted, 0, "no impossible type or state has a legal transition");
	tap_eq_int(masks, 0, "nor do the constant expressions know one");
}

int main(void)
{
	tap_eq_int(rules_read(RULES_KERNEL, table), RULES_KERNEL_TYPES * 22,
		   "the kernel's table has 22 legal pairs for each type");
	tap_eq_int(rules_read(RULES_DRIVERS, table), 22 + 18 + 2,
		   "the drivers' own have 22 for SRD, 18 for DCI, 2 for DCT");
	for (int t = 0; t < RULES_TYPES; t++)
		for (int f = 0; f < RULES_STATES; f++)
			for (int n = 0; n < RULES_STATES; n++)
				check_cell(t, f, n);
	check_strangers();
	check_explanations();
	check_next_states();
	check_types();
	check_wild_arguments();
	return tap_done();
}
