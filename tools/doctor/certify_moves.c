/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-doctor --certify: every move of a queue pair between its states, and some that are none. Each is first judged
 * by rdmaez_qp_check() and then made, and both must come to the same errno value. What is refused here is refused by
 * the kernel, before the adapter hears of it.
 */
#include "certify.h"

#include <stdio.h>
#include <string.h>

enum {
	STATES = IBV_QPS_ERR + 1
};

/* Whether the kernel itself refuses a wrong move. */
static bool is_table(const struct certify *c)
{
	return !c->is_iwarp && !(c->driver->traits & RDMAEZ_DRIVER_NO_TABLE);
}

/* Opens a queue pair of its own in this state, for a step. False, and said: it is not reached. */
static bool open_at(struct certify *c, struct certify_end *end, enum ibv_qp_type type,
		    enum ibv_qp_state state, const char *step)
{
	struct certify_end_opts opts = {0};
	struct rdmaez_diag diag, ignored;
	int error;

	doctor_step("%s: %s", c->group, step);
	opts.type = type;
	error = certify_end_open(c, end, &opts, 0, &diag);
	if (!error) {
		error = certify_walk(c, end->qp, state, &diag);
		if (error)
			certify_end_close(end, &ignored);
	}
	if (error)
		certify_step_of(c, certify_judge(error, &diag), step, &diag, "%s is not reached",
				rdmaez_qp_state_str(state));
	return !error;
}

static void close_after(struct certify *c, struct certify_end *end, const char *step)
{
	struct rdmaez_diag diag;

	if (certify_end_close(end, &diag))
		certify_step_of(c, CERTIFY_FAIL, step, &diag, "the queue pair cannot be destroyed");
}

/* A move by the rules, with the least mask. */
static int move_of(struct certify *c, struct ibv_qp *qp, enum ibv_qp_state from,
		   enum ibv_qp_state to, struct rdmaez_qp_move *move)
{
	struct rdmaez_qp_opts opts = c->opts;

	opts.dest_qp_num = qp->qp_num;
	return rdmaez_qp_attr(qp->qp_type, from, to, &opts, move, NULL);
}

/* --- Moves that there are ---------------------------------------------------------------------------- */

static void say_move(struct certify *c, const char *step, int said, int got,
		     const struct rdmaez_diag *foreseen, const struct rdmaez_diag *diag)
{
	if (!said && got && !is_table(c))
		certify_step_of(c, CERTIFY_NOT_OFFERED, step, diag,
				"rdmaez does not know all rules of this driver");
	else if (said == got)
		certify_step_of(c, said ? CERTIFY_NOT_OFFERED : CERTIFY_PASS, step,
				said ? foreseen : NULL, "%s", said ? "as predicted" : "");
	else
		certify_step_of(c, CERTIFY_FAIL, step, got ? diag : foreseen,
				"rdmaez predicted %s, and the kernel returned %s",
				said ? rdmaez_errno_str(said) : "0",
				got ? rdmaez_errno_str(got) : "0");
}

static void try_move(struct certify *c, struct ibv_qp *qp, const char *step, enum ibv_qp_state from,
		     enum ibv_qp_state to)
{
	struct rdmaez_diag foreseen, diag;
	enum ibv_qp_state is = from;
	struct rdmaez_qp_move move;
	int said, got;

	if (move_of(c, qp, from, to, &move)) {
		certify_step(c, CERTIFY_FAIL, step, "rdmaez_qp_attr() refused the move");
		return;
	}
	said = rdmaez_qp_check(qp, &move.attr, move.attr_mask, &foreseen);
	got = rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag);
	if (!said && !got && (c->driver->reports & IBV_QP_STATE) &&
	    !rdmaez_qp_state(qp, &is, NULL) && is != to)
		certify_step(c, CERTIFY_FAIL, step, "the queue pair is in %s",
			     rdmaez_qp_state_str(is));
	else
		say_move(c, step, said, got, &foreseen, &diag);
}

static void certify_move(struct certify *c, enum ibv_qp_type type, enum ibv_qp_state from,
			 enum ibv_qp_state to)
{
	struct certify_end end;
	char step[64];

	snprintf(step, sizeof(step), "%s to %s", rdmaez_qp_state_str(from),
		 rdmaez_qp_state_str(to));
	if (!open_at(c, &end, type, from, step))
		return;
	try_move(c, end.qp, step, from, to);
	close_after(c, &end, step);
}

/* --- Moves that there are not ------------------------------------------------------------------------- */

/*
 * Makes a request that should be refused, as foreseen. False: it is not refused, or nobody foresees that, so the queue
 * pair must not be used again.
 */
static bool refuse(struct certify *c, struct ibv_qp *qp, struct rdmaez_qp_move *move,
		   const char *step)
{
	struct rdmaez_diag foreseen, diag;
	const int said = rdmaez_qp_check(qp, &move->attr, move->attr_mask, &foreseen);
	const int got = said ? rdmaez_qp_modify(qp, &move->attr, move->attr_mask, &diag) : 0;

	if (!said)
		certify_step(c, CERTIFY_FAIL, step, "rdmaez predicted no refusal");
	else if (said == got)
		certify_step_of(c, CERTIFY_PASS, step, &foreseen, "refused, as predicted");
	else
		certify_step_of(c, CERTIFY_FAIL, step, got ? &diag : &foreseen,
				"rdmaez predicted %s, and the kernel returned %s",
				rdmaez_errno_str(said), got ? rdmaez_errno_str(got) : "0");
	return got != 0;
}

/* The least bit of a mask, or of those that it lacks. */
static int bit_of(int mask)
{
	return mask & -mask;
}

/* A move that there is, but with another mask than it takes: each bit that it needs is left out, and one is added. */
static bool refuse_masks(struct certify *c, struct ibv_qp *qp, enum ibv_qp_state from,
			 enum ibv_qp_state to)
{
	const struct rdmaez_qp_rule rule = rdmaez_qp_rule(qp->qp_type, from, to);
	const char *const start = rdmaez_qp_state_str(from), *const end = rdmaez_qp_state_str(to);
	struct rdmaez_qp_move move, other;
	char step[96];

	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR || move_of(c, qp, from, to, &move))
		return true;
	for (int left = rule.required & ~IBV_QP_STATE; left; left &= left - 1) {
		other = move;
		other.attr_mask &= ~bit_of(left);
		snprintf(step, sizeof(step), "wrong: %s to %s without %s", start, end,
			 rdmaez_qp_attr_str(bit_of(left)));
		if (!refuse(c, qp, &other, step))
			return false;
	}
	other = move;
	other.attr_mask |=
		bit_of(~(rule.required | rule.optional | IBV_QP_STATE | IBV_QP_CUR_STATE));
	snprintf(step, sizeof(step), "wrong: %s to %s with %s", start, end,
		 rdmaez_qp_attr_str(other.attr_mask & ~move.attr_mask));
	return refuse(c, qp, &other, step);
}

/* What is wrong about going to one state. */
static bool refuse_to(struct certify *c, struct ibv_qp *qp, enum ibv_qp_state from,
		      enum ibv_qp_state to)
{
	struct rdmaez_qp_move move;
	char step[96];

	if (rdmaez_qp_rule(qp->qp_type, from, to).legal)
		return refuse_masks(c, qp, from, to);
	memset(&move, 0, sizeof(move));
	move.attr.qp_state = to;
	move.attr_mask = IBV_QP_STATE;
	snprintf(step, sizeof(step), "wrong: %s to %s", rdmaez_qp_state_str(from),
		 rdmaez_qp_state_str(to));
	return refuse(c, qp, &move, step);
}

static void certify_refusals(struct certify *c, enum ibv_qp_type type, enum ibv_qp_state from)
{
	struct certify_end end;
	bool goes_on = true;
	char step[64];

	snprintf(step, sizeof(step), "wrong moves from %s", rdmaez_qp_state_str(from));
	if (!open_at(c, &end, type, from, step))
		return;
	for (int to = 0; to < STATES && goes_on; to++)
		goes_on = refuse_to(c, end.qp, from, (enum ibv_qp_state)to);
	if (!goes_on)
		certify_step(c, CERTIFY_NOT_TRIED, step,
			     "one wrong move was not refused, so the others were not tried");
	close_after(c, &end, step);
}

/* --- A type ------------------------------------------------------------------------------------------- */

static bool is_for_cm(const struct certify *c, enum ibv_qp_state from, enum ibv_qp_state to)
{
	return c->is_iwarp && (from == IBV_QPS_RTR || from == IBV_QPS_RTS || from == IBV_QPS_SQD ||
			       to == IBV_QPS_RTR);
}

static void certify_from(struct certify *c, enum ibv_qp_type type, enum ibv_qp_state from)
{
	for (int i = 0; i < STATES; i++) {
		const enum ibv_qp_state to = (enum ibv_qp_state)i;

		if (rdmaez_qp_rule(type, from, to).legal && !is_for_cm(c, from, to))
			certify_move(c, type, from, to);
	}
	if (is_table(c))
		certify_refusals(c, type, from);
}

bool certify_moves(struct certify *c, enum ibv_qp_type type)
{
	static const enum ibv_qp_state from[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
						 IBV_QPS_RTS,   IBV_QPS_SQD,  IBV_QPS_ERR};
	struct certify_end_opts opts = {0};
	struct certify_end end;
	struct rdmaez_diag diag;

	doctor_step("%s: creating a queue pair", c->group);
	opts.type = type;
	if (!certify_is(c, "create a queue pair", certify_end_open(c, &end, &opts, 0, &diag),
			&diag))
		return false;
	certify_is(c, "destroy the queue pair", certify_end_close(&end, &diag), &diag);
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++)
		certify_from(c, type, from[i]);
	if (!is_table(c))
		certify_step(c, CERTIFY_NOT_TRIED, "wrong moves",
			     "the driver may leave it to the adapter to refuse them");
	if (c->is_iwarp)
		certify_step(c, CERTIFY_NOT_TRIED, "moves to and from RTR, RTS and SQD",
			     "on iWARP, rdma_cm moves a queue pair");
	else if (type != IBV_QPT_RC)
		certify_step(c, CERTIFY_NOT_TRIED, "moves from SQE",
			     "only a send that fails on some devices leads there");
	return true;
}
