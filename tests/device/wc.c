/* SPDX-License-Identifier: MIT */
/* Requests that fail for real, and what is said of their completions. */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include "rig.h"
#include <rdmaez/implementation.h>

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
	/* With nothing to receive into, newer kernels count the peer's silence before its RNR NAK: no machine is
	 * too slow for 17 s of it. */
	opts.timeout = peer ? 8 : 22;
	opts.retry_cnt = peer ? 1 : 7;
	opts.rnr_retry = rnr_retry;
	opts.min_rnr_timer = 1;
	if (rdmaez_qp_to_init(side->qp, &opts, &diag) || rdmaez_qp_to_rtr(side->qp, &opts, &diag) ||
	    rdmaez_qp_to_rts(side->qp, &opts, &diag))
		tap_bail("cannot bring a queue pair up");
	return side;
}

/* ---- A peer that does not answer ------------------------------------------------------------ */

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
	tap_ok(finding && finding->severity == RDMAEZ_DIAG_LIKELY, "%s: %s is likely", what,
	       rdmaez_why_id(reason));
	tap_eq_str(diag.driver, "rdma_rxe", "%s: the driver is known", what);
	tap_eq_str(diag.status, rdmaez_wc_explain(&wc[0])->name, "%s: the status is noted", what);
	tap_eq_int(diag.wr_id, 1, "%s: and which request it was", what);
	tap_eq_int(rdmaez_wc_explain_qp(&wc[1], side->qp, &diag), 0, "%s: so is the flush", what);
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_WC_FLUSHED), "%s: it may have been carried out",
	       what);
	tap_ok(rdmaez_wc_format(&wc[0], text, sizeof(text)) > 0 &&
		       rdmaez_diag_format(&diag, text, sizeof(text)) > 0,
	       "%s: there is a text", what);
}

/* ---- Receives that rxe refuses -------------------------------------------------------------- */

/* What is wrong with a receive. */
enum flaw {
	TOO_SHORT,
	READ_ONLY,
	STALE_LKEY,
	OTHER_PD,
	OUT_OF_BOUNDS,
	NO_ROOM
};

/* Brings two queue pairs up towards each other. */
static void connect_sides(struct rig *rig, struct side *from, struct side *to)
{
	for (int i = 0; i < 2; i++) {
		struct side *side = i ? to : from;
		struct rdmaez_qp_opts opts = {0};

		opts.port_attr = &rig->port;
		opts.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
		opts.dest_qp_num = (i ? from : to)->qp->qp_num;
		opts.path.dgid = rig->self.gid;
		opts.path.sgid_index = rdmaez_exactly((int)rig->self.gid_index);
		opts.timeout = 22; /* a slow machine must not look like a peer that is silent */
		if (rdmaez_qp_to_init(side->qp, &opts, NULL) ||
		    rdmaez_qp_to_rtr(side->qp, &opts, NULL) ||
		    rdmaez_qp_to_rts(side->qp, &opts, NULL))
			tap_bail("cannot bring a queue pair up");
	}
}

/* The next completion. */
static struct ibv_wc next_wc(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int polled;

	RIG_UNTIL((polled = ibv_poll_cq(cq, 1, &wc)) != 0);
	if (polled != 1)
		tap_bail("no completion");
	return wc;
}

/* The findings of a record, as rdmaez_diag_line() writes them. */
static const char *findings(const struct rdmaez_diag *diag)
{
	static char line[4096];

	rdmaez_diag_line(diag, line, sizeof(line));
	return strstr(line, " finding=") ? strstr(line, " finding=") : "";
}

/* One of the findings is this. */
static void found(const struct rdmaez_diag *diag, enum rdmaez_why reason, const char *what)
{
	if (!tap_ok(rdmaez_diag_find(diag, reason), "%s: %s is among the causes", what,
		    rdmaez_why_id(reason)))
		tap_diag("%s", findings(diag));
	if (!tap_ok(diag->count <= 5, "%s: of which there are few", what))
		show_record(diag);
}

/* Linux 6.12 tells less of some mistakes. */
static bool newer(void)
{
	return rdmaez_impl_linux_version() >= 612;
}

/* Posts a receive with this flaw, and sends 256 bytes into it. */
static void refuse(struct rig *rig, enum ibv_qp_type type, enum flaw flaw, enum rdmaez_why reason,
		   const char *what)
{
	const bool ud = type == IBV_QPT_UD;
	struct side *from = side_open(rig, type), *to = side_open(rig, type);
	struct ibv_pd *pd = ibv_alloc_pd(rig->context);
	struct ibv_mr *mr = ibv_reg_mr(flaw == OTHER_PD ? pd : rig->pd, to->memory, RIG_HALF,
				       flaw == READ_ONLY ? 0 : IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge in = {.addr = (uintptr_t)to->memory, .length = RIG_HALF, .lkey = mr->lkey};
	struct ibv_sge out = {
		.addr = (uintptr_t)from->memory, .length = 256, .lkey = from->mr->lkey};
	struct ibv_recv_wr recv = {.wr_id = 7, .sg_list = &in, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {
		.wr_id = 8, .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_send_wr *bad_send;
	struct rdmaez_path path = {0};
	struct ibv_ah *ah = NULL;
	struct rdmaez_diag diag;
	struct ibv_wc wc;

	connect_sides(rig, from, to);
	if (flaw == TOO_SHORT || flaw == NO_ROOM)
		in.length = flaw == TOO_SHORT ? 100 : 20;
	if (flaw == OUT_OF_BOUNDS)
		in.addr += RIG_HALF - 100;
	if (flaw == STALE_LKEY && ibv_dereg_mr(mr))
		tap_bail("cannot deregister");
	if (ud) {
		path.dgid = rig->self.gid;
		path.sgid_index = rdmaez_exactly((int)rig->self.gid_index);
		if (rdmaez_ah_create(rig->pd, &path, 1, &ah, &diag))
			tap_bail("no address handle");
		send.wr.ud.ah = ah;
		send.wr.ud.remote_qpn = to->qp->qp_num;
		send.wr.ud.remote_qkey = RDMAEZ_QP_QKEY;
	}
	if (ibv_post_recv(to->qp, &recv, &bad_recv) || ibv_post_send(from->qp, &send, &bad_send))
		tap_bail("posting failed");
	/* Linux 6.12 drops what a UD receive has no room for, as other devices do. */
	if (ud && newer()) {
		tap_ok(rig_is_quiet(to->recv_cq), "%s: this kernel drops the message", what);
	} else {
		wc = next_wc(to->recv_cq);
		tap_eq_int(wc.status, IBV_WC_LOC_QP_OP_ERR, "%s: so rxe calls it", what);
		tap_eq_int(rdmaez_wc_explain_recv(&wc, to->qp, &recv, &diag), 0,
			   "%s: it is explained", what);
		found(&diag, reason, what);
		tap_ok(!rdmaez_diag_find(&diag, RDMAEZ_WHY_WR_OPCODE), "%s: no send is blamed",
		       what);
	}
	if (!ud) {
		wc = next_wc(from->send_cq);
		tap_eq_int(wc.status, IBV_WC_REM_OP_ERR, "%s: the sender is told so", what);
		tap_eq_int(rdmaez_wc_explain_send(&wc, from->qp, &send, &diag), 0,
			   "%s: that is explained", what);
		found(&diag,
		      flaw == TOO_SHORT ? RDMAEZ_WHY_WC_PEER_RECV : RDMAEZ_WHY_WC_PEER_BUFFER,
		      what);
	}
	if ((ah && ibv_destroy_ah(ah)) || (flaw != STALE_LKEY && ibv_dereg_mr(mr)))
		tap_bail("cannot clean up");
	side_close(from);
	side_close(to);
	if (ibv_dealloc_pd(pd))
		tap_bail("cannot clean up");
}

/* A request whose own memory is wrong. */
static void refuse_send(struct rig *rig, enum ibv_wr_opcode opcode, enum flaw flaw,
			enum ibv_wc_status status, enum rdmaez_why reason, const char *what)
{
	const bool flushed = opcode == IBV_WR_SEND && newer(); /* found before it is sent */
	struct side *from = side_open(rig, IBV_QPT_RC), *to = side_open(rig, IBV_QPT_RC);
	struct ibv_mr *mr = ibv_reg_mr(rig->pd, from->memory, RIG_HALF,
				       flaw == READ_ONLY ? 0 : IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge = {.addr = (uintptr_t)from->memory, .length = 256, .lkey = mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 9, .sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;
	struct rdmaez_diag diag;
	struct ibv_wc wc;

	connect_sides(rig, from, to);
	wr.wr.rdma.remote_addr = (uintptr_t)to->memory;
	wr.wr.rdma.rkey = to->mr->rkey;
	if (flaw == STALE_LKEY && ibv_dereg_mr(mr))
		tap_bail("cannot deregister");
	if (flaw == OUT_OF_BOUNDS)
		sge.addr += RIG_HALF - 100;
	if (ibv_post_send(from->qp, &wr, &bad))
		tap_bail("posting failed");
	wc = next_wc(from->send_cq);
	tap_eq_int(wc.status, flushed ? IBV_WC_WR_FLUSH_ERR : status, "%s: so rxe calls it", what);
	tap_eq_int(rdmaez_wc_explain_send(&wc, from->qp, &wr, &diag), 0, "%s: it is explained",
		   what);
	found(&diag, flushed ? RDMAEZ_WHY_WC_FLUSHED_OWN : reason, what);
	if (flaw != STALE_LKEY && ibv_dereg_mr(mr))
		tap_bail("cannot clean up");
	side_close(from);
	side_close(to);
}

/* A WRITE into memory of which the peer does not have the key: both ends are told. */
static void refuse_rkey(struct rig *rig)
{
	struct side *from = side_open(rig, IBV_QPT_RC), *to = side_open(rig, IBV_QPT_RC);
	struct ibv_sge sge = {
		.addr = (uintptr_t)from->memory, .length = 64, .lkey = from->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE_WITH_IMM},
			   *bad;
	struct rdmaez_diag diag;
	struct ibv_wc wc;

	connect_sides(rig, from, to);
	wr.wr.rdma.remote_addr = (uintptr_t)to->memory;
	wr.wr.rdma.rkey = to->mr->rkey ^ 0xff;
	if (side_post_receive(to) || ibv_post_send(from->qp, &wr, &bad))
		tap_bail("posting failed");
	wc = next_wc(from->send_cq);
	tap_eq_int(wc.status, IBV_WC_REM_ACCESS_ERR, "a wrong rkey: the requester is told");
	tap_eq_int(rdmaez_wc_explain_send(&wc, from->qp, &wr, &diag), 0, "a wrong rkey: why");
	tap_eq_str(findings(&diag),
		   " finding=likely:WC_RKEY:wr.rdma.rkey:none"
		   " finding=likely:WC_REMOTE_BOUNDS:wr.rdma.remote_addr:none"
		   " finding=likely:WC_REGION_RIGHT:access:access:IBV_ACCESS_REMOTE_WRITE",
		   "a wrong rkey: three causes, and not the rights by default");
	wc = next_wc(to->recv_cq);
	tap_ok(wc.status == IBV_WC_REM_ACCESS_ERR || wc.status == IBV_WC_WR_FLUSH_ERR,
	       "a wrong rkey: the responder's receive fails");
	tap_eq_int(rdmaez_wc_explain_recv(&wc, to->qp, NULL, &diag), 0,
		   "a wrong rkey: the responder asks why");
	found(&diag, RDMAEZ_WHY_WC_RESPONDER, "a wrong rkey at the responder");
	side_close(from);
	side_close(to);
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

	refuse(&rig, IBV_QPT_RC, TOO_SHORT, RDMAEZ_WHY_WC_RECV_SHORT, "a receive too short");
	refuse(&rig, IBV_QPT_RC, READ_ONLY, RDMAEZ_WHY_WC_LOCAL_WRITE, "a receive without a right");
	refuse(&rig, IBV_QPT_RC, STALE_LKEY, RDMAEZ_WHY_WC_LKEY, "a receive of a stale lkey");
	refuse(&rig, IBV_QPT_RC, OTHER_PD, RDMAEZ_WHY_WC_LKEY, "a receive of another PD's region");
	refuse(&rig, IBV_QPT_RC, OUT_OF_BOUNDS, RDMAEZ_WHY_WC_BOUNDS, "a receive out of bounds");
	refuse(&rig, IBV_QPT_UD, NO_ROOM, RDMAEZ_WHY_WC_GRH_ROOM, "a UD receive without room");
	refuse_send(&rig, IBV_WR_SEND, STALE_LKEY, IBV_WC_LOC_QP_OP_ERR, RDMAEZ_WHY_WC_LKEY,
		    "a SEND of a stale lkey");
	refuse_send(&rig, IBV_WR_SEND, OUT_OF_BOUNDS, IBV_WC_LOC_PROT_ERR, RDMAEZ_WHY_WC_BOUNDS,
		    "a SEND out of bounds");
	refuse_send(&rig, IBV_WR_RDMA_READ, READ_ONLY, IBV_WC_LOC_PROT_ERR,
		    RDMAEZ_WHY_WC_LOCAL_WRITE, "a READ into read-only memory");
	refuse_rkey(&rig);
	rig_close(&rig);
	return tap_done();
}
