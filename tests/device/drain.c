/* SPDX-License-Identifier: MIT */
/* Queue pairs with real work outstanding: drained, used again, changed, resumed and recovered. */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include "rig.h"

enum {
	SECONDS = RIG_SECONDS, /* a deadline that no slow machine meets by accident */
	WORK = 3               /* of each queue */
};

static const uint64_t ns = 1000000000u;

/* What was handed over: how often each wr_id, and how it ended. */
static struct {
	int times[2 * WORK + 1];
	int flushed, failed, succeeded, others;
	uint32_t qp_num;
} seen;

static void completed(void *arg, const struct ibv_wc *wc)
{
	(void)arg;
	if (wc->qp_num != seen.qp_num) {
		seen.others++;
		return;
	}
	if (wc->wr_id <= 2 * WORK)
		seen.times[wc->wr_id]++;
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		seen.flushed++;
	else if (wc->status == IBV_WC_SUCCESS)
		seen.succeeded++;
	else
		seen.failed++;
}

static struct rdmaez_drain_opts drain_opts(const struct side *side)
{
	struct rdmaez_drain_opts opts = {0};

	memset(&seen, 0, sizeof(seen));
	seen.qp_num = side->qp->qp_num;
	opts.timeout_ns = SECONDS * ns;
	opts.completed = completed;
	return opts;
}

/* Of queue pairs that have their completion queues for themselves. */
static const struct rdmaez_drain_opts discard = {.flags = RDMAEZ_DRAIN_DISCARD};

static void must(int error, const struct rdmaez_diag *diag, const char *what)
{
	if (error)
		show_record(diag);
	tap_eq_int(error, 0, "%s", what);
}

/* Brings a queue pair up towards another one, or towards a number that nobody has. */
static void bring_up(struct rig *rig, struct side *side, uint32_t towards, uint32_t psn,
		     uint32_t peer_psn)
{
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_diag diag;

	opts.port_attr = &rig->port;
	opts.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	opts.dest_qp_num = towards;
	opts.sq_psn = psn;
	opts.rq_psn = peer_psn;
	opts.path.dgid = rig->self.gid;
	opts.path.sgid_index = rdmaez_exactly((int)rig->self.gid_index);
	opts.timeout = 22;
	if (rdmaez_qp_to_init(side->qp, &opts, &diag) || rdmaez_qp_to_rtr(side->qp, &opts, &diag) ||
	    rdmaez_qp_to_rts(side->qp, &opts, &diag)) {
		show_record(&diag);
		tap_bail("cannot bring a queue pair up");
	}
}

static void connect_sides(struct rig *rig, struct side *one, struct side *other)
{
	const uint32_t psn[2] = {rdmaez_psn_random(), rdmaez_psn_random()};

	bring_up(rig, one, other->qp->qp_num, psn[0], psn[1]);
	bring_up(rig, other, one->qp->qp_num, psn[1], psn[0]);
}

/* Work that stays outstanding: sends for which there is no receive, and receives for which there is no send. */
static void post_work(struct side *side, struct ibv_ah *ah)
{
	struct ibv_sge sge = {(uintptr_t)side->memory, 64, side->mr->lkey};
	struct ibv_send_wr send = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad_recv;

	for (uint64_t i = 1; i <= WORK; i++) {
		recv.wr_id = WORK + i;
		send.wr_id = i;
		send.wr.ud.ah = ah;
		send.wr.ud.remote_qpn = side->qp->qp_num + 77;
		if (ibv_post_recv(side->qp, &recv, &bad_recv) ||
		    ibv_post_send(side->qp, &send, &bad))
			tap_bail("cannot post");
	}
}

static void check_work(const struct rdmaez_drained *drained, const char *what)
{
	tap_eq_int(seen.flushed + seen.failed + seen.succeeded, 2 * WORK,
		   "%s: as many as were posted complete", what);
	for (int i = 1; i <= 2 * WORK; i++)
		tap_eq_int(seen.times[i], 1, "%s: request %d once", what, i);
	tap_eq_int(drained->flushed, seen.flushed, "%s: flushes are counted", what);
	tap_eq_int(drained->completed, seen.failed + seen.succeeded, "%s: so are others", what);
	tap_eq_int(drained->open, 0, "%s: both ends are seen", what);
}

/* What is left of a side whose queue pair is destroyed. */
static void close_rest(struct side *side)
{
	if (ibv_destroy_cq(side->send_cq) || ibv_destroy_cq(side->recv_cq) ||
	    ibv_dereg_mr(side->mr))
		tap_bail("cannot destroy what is left: %s", strerror(errno));
	free(side);
}

/* ---- Draining ----------------------------------------------------------------------------- */

static void check_drain(struct rig *rig, enum ibv_qp_type type, const char *what)
{
	struct side *near = side_open(rig, type), *far = side_open(rig, type);
	struct rdmaez_drain_opts opts = drain_opts(near);
	struct rdmaez_drained drained;
	struct rdmaez_diag diag;

	connect_sides(rig, near, far);
	tap_ok(type == IBV_QPT_UC || rig_send(near, far, NULL), "%s: data flows", what);
	post_work(near, NULL);
	must(rdmaez_qp_drain(near->qp, &opts, &drained, &diag), &diag, what);
	check_work(&drained, what);
	tap_ok(rig_is_quiet(near->send_cq) && rig_is_quiet(near->recv_cq),
	       "%s: nothing comes afterwards", what);
	opts = drain_opts(near);
	must(rdmaez_qp_drain(near->qp, &opts, &drained, &diag), &diag, "drained again");
	tap_eq_int(drained.flushed + drained.completed, 0, "%s: there is nothing", what);
	opts = drain_opts(far);
	must(rdmaez_qp_drain(far->qp, &opts, NULL, &diag), &diag, "and the other end");
	must(rdmaez_qp_to_reset(near->qp, &diag), &diag, "RESET");
	must(rdmaez_qp_to_reset(far->qp, &diag), &diag, "of both");
	connect_sides(rig, near, far);
	tap_ok(rig_send(near, far, NULL) && rig_send(far, near, NULL), "%s: data flows again",
	       what);
	side_close(near);
	side_close(far);
}

/* An address handle for this end itself. */
static struct ibv_ah *own_ah(struct rig *rig)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	struct ibv_ah *ah;

	attr.grh.dgid = rig->self.gid;
	attr.grh.sgid_index = (uint8_t)rig->self.gid_index;
	attr.grh.hop_limit = 64;
	ah = ibv_create_ah(rig->pd, &attr);
	rig_need(ah, "ibv_create_ah");
	return ah;
}

static void check_ud(struct rig *rig)
{
	struct side *side = side_open(rig, IBV_QPT_UD);
	struct rdmaez_drain_opts opts = drain_opts(side);
	struct rdmaez_drained drained;
	struct rdmaez_diag diag;
	struct ibv_ah *const ah = own_ah(rig);

	bring_up(rig, side, 0, 1, 0);
	post_work(side, ah);
	opts.ah = ah;
	must(rdmaez_qp_drain(side->qp, &opts, &drained, &diag), &diag, "UD");
	check_work(&drained, "UD");
	side_close(side);
	side = side_open(rig, IBV_QPT_UD);
	opts = drain_opts(side);
	bring_up(rig, side, 0, 1, 0);
	post_work(side, ah);
	must(rdmaez_qp_drain(side->qp, &opts, &drained, &diag), &diag, "UD without a handle");
	check_work(&drained, "UD without a handle");
	side_close(side);
	ibv_destroy_ah(ah);
}

/* A UD queue pair that has had nothing to do goes at once, by what a destructor of C++ calls, and leaves nothing. */
static void check_idle(struct rig *rig)
{
	struct side *side = side_open(rig, IBV_QPT_UD);
	struct rdmaez_drain_opts opts = drain_opts(side);
	struct rdmaez_diag diag;

	bring_up(rig, side, 0, 1, 0);
	opts.flags = RDMAEZ_DRAIN_ANYWAY;
	opts.timeout_ns = RDMAEZ_NS_FOREVER;
	must(rdmaez_qp_destroy(side->qp, &opts, NULL, &diag), &diag, "an idle UD queue pair goes");
	close_rest(side); /* which bails out of the test if something is left */
	tap_eq_int(seen.flushed + seen.failed + seen.succeeded + seen.others, 0, "with nothing");
}

/*
 * A server with one completion queue: a client leaves while a completion of another one is there. It is not lost
 * without a word: either nothing happens, or it is handed over.
 */
static void check_leaving(struct rig *rig)
{
	struct side *stays = side_open(rig, IBV_QPT_RC), *leaves = side_open(rig, IBV_QPT_RC);
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.send_cq = stays->send_cq,
		.recv_cq = stays->send_cq};
	struct rdmaez_drain_opts opts;
	struct rdmaez_diag diag;
	struct ibv_wc wc;
	int rest = 0;

	ibv_destroy_qp(leaves->qp);
	leaves->qp = ibv_create_qp(rig->pd, &init);
	rig_need(leaves->qp, "ibv_create_qp");
	bring_up(rig, stays, stays->qp->qp_num, 1, 1);
	bring_up(rig, leaves, leaves->qp->qp_num, 1, 1);
	tap_eq_int(side_post_receive(stays), 0, "the one that stays has a receive");
	rdmaez_qp_to_err(stays->qp, NULL); /* of which the flush is in its own queue */
	tap_eq_int(rig_status(stays->recv_cq), IBV_WC_WR_FLUSH_ERR, "it is flushed");
	post_work(stays, NULL);
	tap_eq_int(rig_status(stays->send_cq), IBV_WC_WR_FLUSH_ERR, "so is its first send");
	tap_eq_int(rdmaez_qp_destroy(leaves->qp, NULL, NULL, &diag), EINVAL,
		   "leaving is refused where completions have nowhere to go");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_DRAIN_NOWHERE), "which is said");
	tap_eq_int(leaves->qp->state, IBV_QPS_RTS, "and nothing has happened");
	opts = drain_opts(leaves);
	opts.flags = RDMAEZ_DRAIN_ANYWAY;
	must(rdmaez_qp_destroy(leaves->qp, &opts, NULL, &diag), &diag, "leaving with an inbox");
	RIG_UNTIL(seen.others + rest == WORK - 1 ||
		  (rest += ibv_poll_cq(stays->send_cq, 1, &wc)) < 0);
	tap_eq_int(seen.others + rest, WORK - 1, "loses no completion of the one that stays");
	tap_ok(seen.others > 0, "since those that it polled are handed over");
	close_rest(leaves);
	rig_empty(stays->recv_cq);
	side_close(stays);
}

/* Two queue pairs with one completion queue. */
static void check_shared(struct rig *rig)
{
	struct side *near = side_open(rig, IBV_QPT_RC), *far = side_open(rig, IBV_QPT_RC);
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1};
	struct rdmaez_drain_opts opts;
	struct rdmaez_drained drained;
	struct ibv_qp *other = near->qp;
	struct rdmaez_diag diag;

	init.send_cq = init.recv_cq = far->send_cq;
	ibv_destroy_qp(far->qp);
	far->qp = ibv_create_qp(rig->pd, &init);
	near->qp = ibv_create_qp(rig->pd, &init);
	rig_need(near->qp, "ibv_create_qp");
	bring_up(rig, near, near->qp->qp_num + 77, 1, 1);
	bring_up(rig, far, far->qp->qp_num + 77, 1, 1);
	tap_eq_int(side_post_receive(near), 0, "another queue pair has a receive");
	rdmaez_qp_to_err(near->qp, NULL);
	post_work(far, NULL);
	opts = drain_opts(far);
	must(rdmaez_qp_drain(far->qp, &opts, &drained, &diag), &diag, "with one completion queue");
	check_work(&drained, "with one completion queue");
	tap_eq_int(drained.others, 1, "the other's flush is handed over");
	tap_eq_int(seen.others, 1, "as one of another queue pair");
	ibv_destroy_qp(near->qp);
	near->qp = other;
	side_close(far);
	side_close(near);
}

static void check_srq(struct rig *rig)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct side *side = side_open(rig, IBV_QPT_RC);
	struct ibv_qp_init_attr init = {.cap = {.max_send_wr = 4, .max_send_sge = 1},
					.qp_type = IBV_QPT_RC,
					.send_cq = side->send_cq,
					.recv_cq = side->recv_cq};
	struct rdmaez_drained drained;
	struct ibv_async_event event;
	struct rdmaez_diag diag;

	init.srq = ibv_create_srq(rig->pd, &attr);
	rig_need(init.srq, "ibv_create_srq");
	ibv_destroy_qp(side->qp);
	side->qp = ibv_create_qp(rig->pd, &init);
	rig_need(side->qp, "ibv_create_qp");
	bring_up(rig, side, side->qp->qp_num, 1, 1);
	must(rdmaez_qp_drain(side->qp, &discard, &drained, &diag), &diag, "a shared receive queue");
	tap_eq_int(drained.open, RDMAEZ_QUEUE_RECV, "has no end that can be marked");
	if (rig_linux() >= 612) {
		tap_eq_int(rdmaez_event_next(rig->context, SECONDS * ns, &event, &diag), 0,
			   "rxe of Linux 6.12 tells it");
		tap_eq_int(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED, "by this event");
		tap_eq_ptr(event.element.qp, side->qp, "of this queue pair");
	} else {
		tap_eq_int(rdmaez_event_next(rig->context, ns / 5, &event, &diag), ETIMEDOUT,
			   "rxe of Linux 6.1 does not tell it");
	}
	must(rdmaez_qp_destroy(side->qp, &discard, NULL, &diag), &diag, "it is destroyed in order");
	tap_eq_int(ibv_destroy_srq(init.srq), 0, "and so is the other queue");
	close_rest(side);
}

/* ---- Recovery ----------------------------------------------------------------------------- */

/* A peer that is gone: the library says RTS, the device ERR. */
static void check_recover(struct rig *rig)
{
	struct side *near = side_open(rig, IBV_QPT_RC), *far = side_open(rig, IBV_QPT_RC);
	struct rdmaez_recover_opts recovery = {.drain = drain_opts(near)};
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_endpoint local[2];
	struct rdmaez_drained drained;
	struct rdmaez_diag diag;
	const uint32_t number = near->qp->qp_num;

	opts.port_attr = &rig->port;
	opts.dest_qp_num = number + 77;
	opts.path.dgid = rig->self.gid;
	opts.path.sgid_index = rdmaez_exactly((int)rig->self.gid_index);
	opts.timeout = 8;
	opts.retry_cnt = 1;
	tap_ok(!rdmaez_qp_to_init(near->qp, &opts, NULL) &&
		       !rdmaez_qp_to_rtr(near->qp, &opts, NULL) &&
		       !rdmaez_qp_to_rts(near->qp, &opts, NULL),
	       "a queue pair towards nobody");
	post_work(near, NULL);
	RIG_UNTIL(rdmaez_qp_examine(near->qp, &diag) || near->qp->state == IBV_QPS_ERR);
	tap_eq_int(near->qp->state, IBV_QPS_ERR, "fails");
	near->qp->state = IBV_QPS_RTS; /* as it is where nobody has asked */
	recovery.qp = NULL;
	must(rdmaez_qp_recover(&near->qp, &recovery, &local[0], &drained, &diag), &diag,
	     "it is recovered");
	check_work(&drained, "recovered");
	tap_eq_int(seen.failed, 1, "the first request says why");
	tap_eq_int(near->qp->qp_num, number, "rxe uses it again");
	tap_eq_int(near->qp->state, IBV_QPS_RESET, "from RESET");
	must(rdmaez_qp_recover(&far->qp, NULL, &local[1], NULL, &diag), &diag,
	     "a new one need not be recovered, but may be");
	bring_up(rig, near, local[1].qp_num, local[0].psn, local[1].psn);
	bring_up(rig, far, local[0].qp_num, local[1].psn, local[0].psn);
	tap_ok(rig_send(near, far, NULL) && rig_rdma(far, near, IBV_WR_RDMA_WRITE),
	       "data flows by what the endpoints say");
	side_close(near);
	side_close(far);
}

/* A send whose own memory is wrong. rxe goes to ERR, where others go to SQE. */
static void check_resume(struct rig *rig, enum ibv_qp_type type, const char *what)
{
	struct side *near = side_open(rig, type), *far = side_open(rig, type);
	struct ibv_sge sge = {(uintptr_t)near->memory, 64, near->mr->lkey ^ 0x100};
	struct ibv_send_wr send = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	struct rdmaez_recover_opts recovery = {.drain = drain_opts(near)};
	const struct rdmaez_finding *finding;
	struct rdmaez_endpoint local;
	struct rdmaez_diag diag;
	struct ibv_ah *const ah = own_ah(rig);

	connect_sides(rig, near, far);
	send.wr.ud.ah = type == IBV_QPT_UD ? ah : NULL;
	send.wr.ud.remote_qpn = type == IBV_QPT_UD ? far->qp->qp_num : 0;
	tap_eq_int(ibv_post_send(near->qp, &send, &bad), 0, "%s: a bad lkey", what);
	tap_ok(rig_status(near->send_cq) > IBV_WC_SUCCESS, "%s: fails", what);
	tap_eq_int(near->qp->state, IBV_QPS_RTS, "%s: the library does not know", what);
	tap_eq_int(rdmaez_qp_resume(near->qp, &diag), EINVAL, "%s: it does not resume", what);
	finding = rdmaez_diag_find(&diag, RDMAEZ_WHY_RESUME_STATE);
	tap_ok(finding && finding->value == IBV_QPS_ERR, "%s: since rxe is in ERR", what);
	recovery.drain.ah = ah;
	must(rdmaez_qp_recover(&near->qp, &recovery, &local, NULL, &diag), &diag, what);
	must(rdmaez_qp_recover(&far->qp, &recovery, &local, NULL, &diag), &diag, what);
	connect_sides(rig, near, far);
	tap_ok(rig_send(near, far, type == IBV_QPT_UD ? ah : NULL), "%s: data flows again", what);
	must(rdmaez_qp_resume(near->qp, &diag), &diag, "what is in RTS stays there");
	side_close(near);
	side_close(far);
	ibv_destroy_ah(ah);
}

/* ---- SQD ---------------------------------------------------------------------------------- */

static void check_sqd(struct rig *rig)
{
	struct side *near = side_open(rig, IBV_QPT_RC), *far = side_open(rig, IBV_QPT_RC);
	struct rdmaez_qp_opts opts = {0};
	struct ibv_async_event event;
	struct ibv_qp_init_attr init;
	struct rdmaez_diag diag;
	struct ibv_qp_attr attr;
	int error;

	connect_sides(rig, near, far);
	for (int i = 0; i < 3; i++)
		tap_ok(rig_send(near, far, NULL), "data flows");
	must(rdmaez_qp_quiesce(near->qp, SECONDS * ns, &diag), &diag, "a queue pair is quiet");
	tap_eq_int(near->qp->state, IBV_QPS_SQD, "in SQD");
	tap_ok(rig_send(far, near, NULL), "it still receives");
	must(rdmaez_qp_resume(near->qp, &diag), &diag, "and resumes");
	tap_ok(rig_send(near, far, NULL), "and sends");

	opts.port_attr = &rig->port;
	opts.optional = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_AV;
	opts.timeout = 21;
	opts.retry_cnt = 5;
	opts.rnr_retry = 4;
	opts.path.dgid = rig->self.gid;
	opts.path.sgid_index = rdmaez_exactly((int)rig->self.gid_index);
	opts.path.traffic_class = 32;
	must(rdmaez_qp_change(near->qp, &opts, SECONDS * ns, &diag), &diag,
	     "timers and path are changed");
	memset(&attr, 0, sizeof(attr));
	tap_eq_int(ibv_query_qp(near->qp, &attr, IBV_QP_STATE, &init), 0, "they are");
	tap_eq_int(attr.qp_state, IBV_QPS_RTS, "it is in RTS");
	tap_eq_int(attr.timeout, 21, "the timeout");
	tap_eq_int(attr.retry_cnt, 5, "the retries");
	tap_eq_int(attr.rnr_retry, 4, "those of RNR");
	tap_eq_int(attr.ah_attr.grh.traffic_class, 32, "the traffic class");
	tap_ok(rig_send(near, far, NULL) && rig_send(far, near, NULL), "data flows");
	memset(&opts, 0, sizeof(opts));
	opts.optional = IBV_QP_MIN_RNR_TIMER;
	opts.min_rnr_timer = 9;
	must(rdmaez_qp_change(near->qp, &opts, 0, &diag), &diag, "what RTS takes");
	tap_ok(!ibv_query_qp(near->qp, &attr, IBV_QP_STATE, &init) && attr.min_rnr_timer == 9,
	       "is changed there");
	opts.optional = IBV_QP_SQ_PSN;
	tap_eq_int(rdmaez_qp_change(near->qp, &opts, 0, &diag), EINVAL,
		   "what nothing takes is not");
	tap_ok(rig_send(near, far, NULL), "data flows all the same");

	/* Both kernels tell when it has drained, to whoever reads. */
	error = rdmaez_event_next(rig->context, SECONDS * ns, &event, &diag);
	must(error, &diag, "an event");
	tap_ok(error || event.event_type == IBV_EVENT_SQ_DRAINED, "that it has drained");
	while (!rdmaez_event_next(rig->context, RDMAEZ_NS_NOW, &event, NULL))
		continue;
	must(rdmaez_qp_destroy(near->qp, &discard, NULL, &diag), &diag,
	     "which keeps nobody waiting");
	close_rest(near);
	side_close(far);
}

int main(void)
{
	struct rig rig = rig_open();

	check_drain(&rig, IBV_QPT_RC, "RC");
	check_drain(&rig, IBV_QPT_UC, "UC");
	check_ud(&rig);
	check_idle(&rig);
	check_leaving(&rig);
	check_shared(&rig);
	check_srq(&rig);
	check_recover(&rig);
	check_resume(&rig, IBV_QPT_UD, "UD");
	check_resume(&rig, IBV_QPT_UC, "UC");
	check_sqd(&rig);
	rig_close(&rig);
	return tap_done();
}
