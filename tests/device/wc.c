/* SPDX-License-Identifier: MIT */
/* Requests that fail for real, and what is said of their completions. */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include "rig.h"

/* An RC queue pair towards another, which is left as it is. */
static struct side *towards(struct rig *rig, const struct side *peer, int rnr_retry)
{
	struct side *side = side_open(rig, IBV_QPT_RC);
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_diag diag;

	opts.port_attr = &rig->port;
	opts.dest_qp_num = peer ? peer->qp->qp_num : side->qp->qp_num;
	opts.path.dgid = rig->self.gid;
	opts.path.sgid_index = rdmaez_exactly((int)rig->self.gid_index);
	opts.timeout = 8;
	opts.retry_cnt = 1;
	opts.rnr_retry = rnr_retry;
	opts.min_rnr_timer = 1;
	if (rdmaez_qp_to_init(side->qp, &opts, &diag) || rdmaez_qp_to_rtr(side->qp, &opts, &diag) ||
	    rdmaez_qp_to_rts(side->qp, &opts, &diag))
		tap_bail("cannot bring a queue pair up");
	return side;
}

/* Posts two sends and waits for both completions. */
static int fail_twice(struct side *side, struct ibv_wc wc[2])
{
	struct ibv_sge sge = {(uintptr_t)side->memory, 64, side->mr->lkey};
	struct ibv_send_wr second = {
		.wr_id = 2, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_send_wr first = {
		.wr_id = 1, .next = &second, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	const time_t deadline = time(NULL) + RIG_SECONDS;
	struct ibv_send_wr *bad;
	int count = 0;

	if (ibv_post_send(side->qp, &first, &bad))
		tap_bail("ibv_post_send failed");
	while (count < 2 && time(NULL) < deadline)
		count += ibv_poll_cq(side->send_cq, 2 - count, wc + count);
	return count;
}

static void expect(struct side *side, enum ibv_wc_status status, enum rdmaez_why reason,
		   const char *what)
{
	const struct rdmaez_finding *finding;
	struct rdmaez_diag diag;
	struct ibv_wc wc[2];
	const struct ibv_wc *cause;
	char text[4096];

	memset(wc, 0, sizeof(wc));
	tap_eq_int(fail_twice(side, wc), 2, "%s: both requests end", what);
	tap_eq_int(wc[0].status, status, "%s: the first with its cause", what);
	tap_eq_int(wc[1].status, IBV_WC_WR_FLUSH_ERR, "%s: the second is flushed", what);
	cause = rdmaez_wc_first_error(wc, 2, side->qp->qp_num);
	tap_eq_ptr(cause, &wc[0], "%s: the cause is told from the flush", what);
	tap_eq_int(rdmaez_wc_explain(&wc[0])->code, status, "%s: there is advice for it", what);
	tap_eq_int(rdmaez_wc_explain_qp(&wc[0], side->qp, &diag), 0,
		   "%s: the queue pair is asked about it", what);
	finding = rdmaez_diag_find(&diag, reason);
	tap_ok(finding && finding->severity == RDMAEZ_DIAG_ERROR, "%s: %s is certain", what,
	       rdmaez_why_id(reason));
	tap_ok(rdmaez_wc_format(&wc[0], text, sizeof(text)) > 0 &&
		       rdmaez_diag_format(&diag, text, sizeof(text)) > 0,
	       "%s: there is a text", what);
}

int main(void)
{
	struct rig rig = rig_open();
	struct side *mute = side_open(&rig, IBV_QPT_RC);
	struct side *lonely = towards(&rig, mute, 7), *hasty = towards(&rig, NULL, 1);

	/* A peer that is still in RESET answers nothing; hasty talks to itself and posted no receive. */
	expect(lonely, IBV_WC_RETRY_EXC_ERR, RDMAEZ_WHY_WC_RETRIES, "nobody answers");
	expect(hasty, IBV_WC_RNR_RETRY_EXC_ERR, RDMAEZ_WHY_WC_RNR, "nothing to receive into");
	side_close(lonely);
	side_close(hasty);
	side_close(mute);
	rig_close(&rig);
	return tap_done();
}
