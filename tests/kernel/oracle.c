/* SPDX-License-Identifier: MIT */
/*
 * Compares rdmaez_qp_mask_check() with a running kernel's answers, every mask of every transition.
 *
 *     oracle FILE [BIT]
 *
 * FILE holds the answers that the module rdmaez_oracle gave; with BIT, that bit of them is turned
 * round first, to show that a single wrong answer is noticed.
 *
 * The one documented difference: changing the state takes IBV_QP_STATE here. The kernel's function
 * does not ask for it, because its callers leave out the bit only where the state stays; so those masks
 * must be refused here, whatever it says of them.
 */
#include <rdmaez.h>

#include "oracle.h"
#include "tap.h"

enum {
	STATES = 7,
	MASKS = 1 << ORACLE_BITS,
};

static const enum ibv_qp_type types[] = {
	IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV,
};

enum {
	TRANSITIONS = (int)(sizeof(types) / sizeof(*types)) * STATES * STATES,
};

RDMAEZ_IMPL_ASSERT(ORACLE_MASK(IBV_QP, MASKS - 1) == RDMAEZ_IMPL_QP_BITS,
		   "the kernel is asked about every attribute");

static bool rate_limit_ignored; /* Linux 7 left that bit to the drivers */

static bool answer(const unsigned char *answers, int index)
{
	return answers[index / 8] >> index % 8 & 1;
}

/* One transition: all its masks. */
static void compare(const unsigned char *answers, enum ibv_qp_type type, enum ibv_qp_state from,
		    enum ibv_qp_state to)
{
	const struct rdmaez_qp_rule rule = rdmaez_qp_rule(type, from, to);
	int accepted = 0, wrong = 0;

	/* The rule at compile time, if it is the same, is proven by the same answers. */
	if (RDMAEZ_QP_REQUIRED(type, from, to) != rule.required ||
	    RDMAEZ_QP_OPTIONAL(type, from, to) != rule.optional) {
		tap_diag("the constant expressions differ from rdmaez_qp_rule()");
		wrong++;
	}
	for (int i = 0; i < MASKS; i++) {
		const int mask = ORACLE_MASK(IBV_QP, i);
		const int judged = rate_limit_ignored ? mask & ~IBV_QP_RATE_LIMIT : mask;
		const bool ours = rdmaez_qp_mask_check(type, from, to, judged, NULL) == 0;
		const bool theirs =
			from != to && !(mask & IBV_QP_STATE) ? false : answer(answers, i);

		accepted += ours;
		if (ours != theirs && wrong++ < 3) {
			char names[512];

			rdmaez_qp_attr_mask_format(mask, names, sizeof(names));
			tap_diag("%s: rdmaez says %s, the kernel %s", names, ours ? "yes" : "no",
				 theirs ? "yes" : "no");
		}
	}
	tap_eq_int(wrong, 0, "%s %s to %s: all %d masks, of which %d are accepted",
		   rdmaez_qp_type_str(type), rdmaez_qp_state_str(from), rdmaez_qp_state_str(to),
		   MASKS, accepted);
}

int main(int argc, char **argv)
{
	unsigned char *answers = (unsigned char *)malloc(MASKS / 8);
	const long long turned = argc > 2 ? atoll(argv[2]) : -1;
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;

	if (!file || !answers)
		tap_bail("usage: oracle FILE [BIT], and FILE must be readable");
	for (int i = 0; i < TRANSITIONS; i++) {
		if (fread(answers, MASKS / 8, 1, file) != 1)
			tap_bail("%s ends early, in transition %d", argv[1], i);
		if (turned / MASKS == i && turned >= 0)
			answers[turned % MASKS / 8] ^= (unsigned char)(1 << turned % 8);
		/* RC, RESET to RESET, no more than the rate limit: refused by Linux 6. */
		if (i == 0) {
			rate_limit_ignored = answer(answers, 1 << 21);
			tap_diag("this kernel %s the rate limit",
				 rate_limit_ignored ? "leaves drivers" : "judges");
		}
		compare(answers, types[i / (STATES * STATES)],
			(enum ibv_qp_state)(i / STATES % STATES), (enum ibv_qp_state)(i % STATES));
	}
	tap_ok(fgetc(file) == EOF, "there are no further answers");
	fclose(file);
	free(answers);
	return tap_done();
}
