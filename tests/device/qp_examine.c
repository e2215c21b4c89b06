/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs that are really stuck: no completion comes, rdmaez_qp_examine() says what may be the reason, and
 * where that is put right, the completion comes.
 */
#define _GNU_SOURCE /* nanosleep() */
#include "rig.h"
#include <rdmaez/examine.h>

enum {
	WRONG_QKEY = 0x22222222
};

static struct rig rig;
static struct rdmaez_diag diag;

static struct rdmaez_qp_opts to(const struct side *peer)
{
	struct rdmaez_qp_opts opts = {0};

	opts.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	opts.path.dgid = rig.self.gid;
	opts.path.sgid_index = rdmaez_exactly((int)rig.self.gid_index);
	opts.dest_qp_num = peer->qp->qp_num;
	return opts;
}

static void bring_up(struct side *side, const struct rdmaez_qp_opts *opts, enum ibv_qp_state state)
{
	int error = rdmaez_qp_to_init(side->qp, opts, NULL);

	if (!error && state >= IBV_QPS_RTR)
		error = rdmaez_qp_to_rtr(side->qp, opts, NULL);
	if (!error && state >= IBV_QPS_RTS)
		error = rdmaez_qp_to_rts(side->qp, opts, NULL);
	if (error)
		tap_bail("cannot bring a queue pair up: %s", rdmaez_errno_str(error));
}

/* Two RC queue pairs in RTS; the first as the options say, with the path to the second filled in. */
static void open_pair(struct side **own, struct side **peer, struct rdmaez_qp_opts opts)
{
	struct rdmaez_qp_opts path;

	*own = side_open(&rig, IBV_QPT_RC);
	*peer = side_open(&rig, IBV_QPT_RC);
	path = to(*peer);
	opts.path = path.path;
	opts.access = path.access;
	opts.dest_qp_num = path.dest_qp_num;
	bring_up(*own, &opts, IBV_QPS_RTS);
	path = to(*own);
	bring_up(*peer, &path, IBV_QPS_RTS);
}

/* Posts one send or READ of this side's first half. */
static void post(struct side *side, const struct side *peer, enum ibv_wr_opcode opcode,
		 struct ibv_ah *ah)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)side->memory, .length = RIG_UD_SIZE, .lkey = side->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;

	if (ah) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = peer->qp->qp_num;
		wr.wr.ud.remote_qkey = WRONG_QKEY;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)peer->memory;
		wr.wr.rdma.rkey = peer->mr->rkey;
	}
	if (ibv_post_send(side->qp, &wr, &bad))
		tap_bail("cannot post");
}

/* The record has this finding, of this severity and field. */
static void found(enum rdmaez_why reason, enum rdmaez_severity severity, const char *field,
		  const char *what)
{
	const struct rdmaez_finding *finding = rdmaez_diag_find(&diag, reason);

	if (tap_ok(finding, "%s: found %s", what, rdmaez_why_id(reason))) {
		tap_eq_int(finding->severity, severity, "%s: of the right severity", what);
		tap_eq_str(finding->field, field, "%s: of %s", what, field);
		return;
	}
	show_record(&diag);
}

/* Examines a queue pair; how many findings are certain. */
static int examine(struct side *side, const char *what)
{
	int certain = 0;

	tap_eq_int(rdmaez_qp_examine(side->qp, &diag), 0, "%s: examined", what);
	tap_eq_str(diag.driver, "rdma_rxe", "%s: the driver is known", what);
	for (unsigned int i = 0; i < diag.count; i++)
		certain += diag.finding[i].severity == RDMAEZ_DIAG_ERROR;
	return certain;
}

#define CERTAIN(side, what, count, name) \
	show_record_unless(tap_eq_int(examine(side, what), count, name), &diag)

/* How often the port has counted this; 0 where the record says nothing of it. */
static uint64_t counted(enum rdmaez_why reason)
{
	const struct rdmaez_finding *finding = rdmaez_diag_find(&diag, reason);

	return finding ? finding->value : 0;
}

/* The same as of now. */
static uint64_t counts(struct side *side, enum rdmaez_why reason)
{
	if (rdmaez_qp_examine(side->qp, &diag))
		tap_bail("a queue pair cannot be examined");
	return counted(reason);
}

/* Whether nothing was found but what the port has counted before, in all its time. */
static bool is_healthy(void)
{
	bool healthy = true;

	for (unsigned int i = 0; i < diag.count; i++)
		healthy &= diag.finding[i].kind == RDMAEZ_VALUE_COUNTED ||
			   diag.finding[i].reason == RDMAEZ_WHY_QP_NOTHING_FOUND;
	return healthy && diag.count && diag.finding[0].reason == RDMAEZ_WHY_QP_NOTHING_FOUND;
}

static void check_healthy(void)
{
	struct rdmaez_diag before;
	struct side *own, *peer;

	/* The port counts each repetition, so there must be none: no machine is too slow for 17 s. */
	open_pair(&own, &peer,
		  (struct rdmaez_qp_opts){.rnr_retry = 6, .retry_cnt = 6, .timeout = 22});
	CERTAIN(own, "at first", 0, "at first: nothing is certain");
	before = diag;
	tap_ok(rig_send(own, peer, NULL), "a message arrives");
	CERTAIN(own, "healthy", 0, "healthy: nothing is certain");
	show_record_unless(tap_ok(is_healthy(), "healthy: there is nothing to find"), &diag);
	tap_eq_count(&diag, before.count, "healthy: a message adds nothing");
	for (unsigned int i = 0; i < diag.count && i < before.count; i++)
		tap_eq_int(diag.finding[i].value, before.finding[i].value,
			   "healthy: %s stands still", diag.finding[i].field);
	tap_eq_int(diag.from, IBV_QPS_RTS, "healthy: in RTS");
	side_close(own);
	side_close(peer);
}

static void check_no_receive(void)
{
	struct side *own, *peer;
	uint64_t before;

	open_pair(&own, &peer, (struct rdmaez_qp_opts){0});
	post(own, peer, IBV_WR_SEND, NULL);
	RIG_UNTIL(counts(own, RDMAEZ_WHY_COUNTED_RNR));
	tap_ok(rig_is_quiet(own->send_cq), "no receive: no completion");
	CERTAIN(own, "no receive", 0, "no receive: nothing is certain");
	found(RDMAEZ_WHY_RNR_ENDLESS, RDMAEZ_DIAG_ADVICE, "rnr_retry", "no receive");
	found(RDMAEZ_WHY_RETRY_ENDLESS, RDMAEZ_DIAG_ADVICE, "retry_cnt", "no receive");
	found(RDMAEZ_WHY_COUNTED_RNR, RDMAEZ_DIAG_ADVICE, "hw_counters/rcvd_rnr_err", "no receive");
	before = counted(RDMAEZ_WHY_COUNTED_RNR);
	RIG_UNTIL(counts(own, RDMAEZ_WHY_COUNTED_RNR) > before);
	tap_ok(rig_is_quiet(own->send_cq), "no receive: still no completion");
	examine(own, "no receive, again");
	tap_ok(counted(RDMAEZ_WHY_COUNTED_RNR) > before, "no receive: the counter grows");
	examine(peer, "the peer");
	found(RDMAEZ_WHY_COUNTED_NO_RECEIVE, RDMAEZ_DIAG_ADVICE, "hw_counters/send_rnr_err",
	      "the peer");
	side_post_receive(peer);
	tap_eq_int(rig_status(own->send_cq), IBV_WC_SUCCESS, "with a receive the send completes");
	side_close(own);
	side_close(peer);
}

static void check_no_reads(void)
{
	struct side *own, *peer;

	open_pair(&own, &peer, (struct rdmaez_qp_opts){.max_rd_atomic = RDMAEZ_ZERO});
	post(own, peer, IBV_WR_RDMA_READ, NULL);
	tap_ok(rig_is_quiet(own->send_cq), "READ depth 0: no completion");
	CERTAIN(own, "READ depth 0", 0, "READ depth 0: nothing is certain");
	found(RDMAEZ_WHY_DEPTH_ZERO_HANG, RDMAEZ_DIAG_LIKELY, "max_rd_atomic", "READ depth 0");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_DEPTH_ZERO_HANG, "READ depth 0: comes first");
	side_close(own);
	side_close(peer);
}

static void check_dead_peer(void)
{
	struct side *own, *peer;

	open_pair(&own, &peer, (struct rdmaez_qp_opts){.timeout = RDMAEZ_ZERO});
	if (rdmaez_qp_to_reset(peer->qp, NULL))
		tap_bail("the peer cannot be reset");
	post(own, peer, IBV_WR_SEND, NULL);
	tap_ok(rig_is_quiet(own->send_cq), "timeout 0 and a dead peer: no completion");
	CERTAIN(own, "timeout 0", 0, "timeout 0: nothing is certain");
	found(RDMAEZ_WHY_TIMEOUT_ZERO, RDMAEZ_DIAG_LIKELY, "timeout", "timeout 0");
	examine(peer, "the dead peer");
	found(RDMAEZ_WHY_QP_NO_RECEIVES, RDMAEZ_DIAG_ERROR, "qp_state", "the dead peer");
	side_close(own);
	side_close(peer);
}

static void check_wrong_qkey(void)
{
	struct side *own = side_open(&rig, IBV_QPT_UD), *peer = side_open(&rig, IBV_QPT_UD);
	struct ibv_port_attr port;
	struct rdmaez_path path = {0};
	struct ibv_ah *ah;
	uint32_t before;

	path.dgid = rig.self.gid;
	path.sgid_index = rdmaez_exactly((int)rig.self.gid_index);
	bring_up(own, NULL, IBV_QPS_RTS);
	bring_up(peer, NULL, IBV_QPS_RTS);
	if (rdmaez_ah_create(rig.pd, &path, 1, &ah, NULL) || side_post_receive(peer) ||
	    ibv_query_port(rig.context, 1, &port))
		tap_bail("no datagrams");
	before = port.qkey_viol_cntr;
	CERTAIN(peer, "before", 0, "before: nothing is certain");
	tap_eq_int(counted(RDMAEZ_WHY_COUNTED_QKEY), before, "before: as many as the port says");
	post(own, peer, IBV_WR_SEND, ah);
	tap_eq_int(rig_status(own->send_cq), IBV_WC_SUCCESS, "a wrong Q_Key: it is sent");
	RIG_UNTIL(counts(peer, RDMAEZ_WHY_COUNTED_QKEY) > before);
	tap_ok(rig_is_quiet(peer->recv_cq), "a wrong Q_Key: it does not arrive");
	CERTAIN(peer, "a wrong Q_Key", 0, "a wrong Q_Key: nothing is certain");
	found(RDMAEZ_WHY_COUNTED_QKEY, RDMAEZ_DIAG_ADVICE, "qkey_viol_cntr", "a wrong Q_Key");
	tap_eq_int(counted(RDMAEZ_WHY_COUNTED_QKEY), before + 1, "a wrong Q_Key: counted once");
	ibv_destroy_ah(ah);
	side_close(own);
	side_close(peer);
}

/* A drained queue pair keeps what is posted, until it is in RTS again. */
static void check_drained(void)
{
	struct side *own, *peer;

	open_pair(&own, &peer, (struct rdmaez_qp_opts){0});
	side_post_receive(peer);
	if (rdmaez_qp_to_sqd(own->qp, NULL, NULL))
		tap_bail("SQD cannot be reached");
	post(own, peer, IBV_WR_SEND, NULL);
	RIG_UNTIL(!counts(own, RDMAEZ_WHY_SQ_DRAINING));
	tap_ok(rig_is_quiet(own->send_cq), "SQD: no completion");
	CERTAIN(own, "SQD", 1, "SQD: one finding is certain");
	found(RDMAEZ_WHY_QP_NO_SENDS, RDMAEZ_DIAG_ERROR, "qp_state", "SQD");
	tap_ok(!rdmaez_diag_find(&diag, RDMAEZ_WHY_SQ_DRAINING), "SQD: it has drained");
	if (rdmaez_qp_to_rts(own->qp, NULL, NULL))
		tap_bail("RTS cannot be reached");
	post(own, peer, IBV_WR_RDMA_WRITE, NULL); /* which makes rxe look at its queue */
	tap_eq_int(rig_status(own->send_cq), IBV_WC_SUCCESS, "in RTS again it completes");
	side_close(own);
	side_close(peer);
}

static void check_states(void)
{
	struct side *own = side_open(&rig, IBV_QPT_RC), *peer = side_open(&rig, IBV_QPT_RC);
	const struct rdmaez_qp_opts opts = to(peer);

	CERTAIN(own, "RESET", 2, "RESET: neither way");
	bring_up(own, &opts, IBV_QPS_INIT);
	CERTAIN(own, "INIT", 2, "INIT: neither way");
	if (rdmaez_qp_to_rtr(own->qp, &opts, NULL))
		tap_bail("RTR cannot be reached");
	CERTAIN(own, "RTR", 1, "RTR: no sends");
	found(RDMAEZ_WHY_QP_NO_SENDS, RDMAEZ_DIAG_ERROR, "qp_state", "RTR");
	if (rdmaez_qp_to_err(own->qp, NULL))
		tap_bail("ERR cannot be reached");
	CERTAIN(own, "ERR", 1, "ERR: one finding is certain");
	found(RDMAEZ_WHY_WR_QP_ERROR, RDMAEZ_DIAG_ERROR, "qp_state", "ERR");
	side_close(own);
	side_close(peer);
}

/* ---- By what the program knows --------------------------------------------------------------- */

/* No machine is so slow that it would repeat anything in this time, which is 17 s. */
static const struct rdmaez_qp_opts patient = {.rnr_retry = 6, .retry_cnt = 6, .timeout = 22};

static struct rdmaez_port_counts before;

/* What the port has counted so far does not count from here on. */
static void take_snapshot(void)
{
	if (rdmaez_port_count(rig.context, 1, &before, &diag))
		tap_bail("no snapshot");
}

/* What a program knows that has one send outstanding, and polls for it. */
static struct rdmaez_qp_known one_send(const struct side *side)
{
	return (struct rdmaez_qp_known){.waits = RDMAEZ_QUEUE_SEND,
					.sends = 1,
					.signaled = 1,
					.recvs = RDMAEZ_ZERO,
					.cq = side->send_cq,
					.before = &before};
}

/* The same for a receive. */
static struct rdmaez_qp_known one_receive(const struct side *side)
{
	return (struct rdmaez_qp_known){.waits = RDMAEZ_QUEUE_RECV,
					.sends = RDMAEZ_ZERO,
					.recvs = 1,
					.cq = side->recv_cq,
					.before = &before};
}

/* The reason that comes first. */
static enum rdmaez_why first(const struct side *side, const struct rdmaez_qp_known *known)
{
	if (rdmaez_qp_examine_with(side->qp, known, &diag) || !diag.count)
		tap_bail("a queue pair cannot be examined");
	return diag.finding[0].reason;
}

/* Waits until this comes first, and has the record tell it, so certain, and of this field. */
static void comes_first(const struct side *side, const struct rdmaez_qp_known *known,
			enum rdmaez_why reason, enum rdmaez_severity severity, const char *field,
			const char *what)
{
	RIG_UNTIL(first(side, known) == reason);
	show_record_unless(tap_eq_str(rdmaez_why_id(diag.finding[0].reason), rdmaez_why_id(reason),
				      "%s: the cause comes first", what),
			   &diag);
	tap_eq_int(diag.finding[0].severity, severity, "%s: as sure as it can be", what);
	tap_eq_str(diag.finding[0].field, field, "%s: of %s", what, field);
}

static void known_healthy(void)
{
	struct rdmaez_qp_known known = {0};
	struct side *own, *peer;

	open_pair(&own, &peer, patient);
	take_snapshot();
	tap_ok(rig_send(own, peer, NULL), "known: a message arrives");
	known.sends = known.recvs = RDMAEZ_ZERO;
	tap_eq_str(rdmaez_why_id(first(own, &known)), "QP_NOTHING_FOUND", "idle: nothing is found");
	tap_eq_str(rdmaez_why_id(first(peer, &known)), "QP_NOTHING_FOUND", "nor at the peer");
	known.before = &before;
	tap_eq_str(rdmaez_why_id(first(own, &known)), "QP_NOTHING_FOUND", "nor by a snapshot");
	side_post_receive(peer);
	known = one_receive(peer);
	tap_eq_str(rdmaez_why_id(first(peer, &known)), "QP_NOTHING_FOUND",
		   "a receive that waits: nor then");
	side_close(own);
	side_close(peer);
}

static void known_no_receive(void)
{
	struct side *own, *peer;
	struct rdmaez_qp_known known;

	open_pair(&own, &peer, (struct rdmaez_qp_opts){.timeout = 22});
	take_snapshot();
	post(own, peer, IBV_WR_SEND, NULL);
	known = one_send(own);
	comes_first(own, &known, RDMAEZ_WHY_COUNTED_RNR, RDMAEZ_DIAG_LIKELY,
		    "hw_counters/rcvd_rnr_err", "known: no receive");
	known = one_receive(peer);
	known.recvs = RDMAEZ_ZERO;
	comes_first(peer, &known, RDMAEZ_WHY_NOTHING_POSTED, RDMAEZ_DIAG_ERROR, "recvs",
		    "known: at its peer");
	known.recvs = 0;
	comes_first(peer, &known, RDMAEZ_WHY_COUNTED_NO_RECEIVE, RDMAEZ_DIAG_LIKELY,
		    "hw_counters/send_rnr_err", "known: who does not know");
	side_close(own);
	side_close(peer);
}

/* Another queue pair for a side, for so many sends, which complete by themselves or only if they ask for it. */
static void renew(struct side *side, int sends, int sq_sig_all)
{
	struct ibv_qp_init_attr init = {
		.send_cq = side->send_cq,
		.recv_cq = side->recv_cq,
		.cap = {.max_send_wr = (uint32_t)sends,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = sq_sig_all,
	};

	if (ibv_destroy_qp(side->qp))
		tap_bail("a queue pair cannot be destroyed");
	side->qp = ibv_create_qp(rig.pd, &init);
	rig_need(side->qp, "ibv_create_qp");
}

/* Connects two sides that are there. */
static void join(struct side *own, struct side *peer)
{
	struct rdmaez_qp_opts opts = to(peer);

	opts.rnr_retry = opts.retry_cnt = 6;
	opts.timeout = 22;
	bring_up(own, &opts, IBV_QPS_RTS);
	opts = to(own);
	bring_up(peer, &opts, IBV_QPS_RTS);
}

static void known_unsignaled(void)
{
	struct side *own = side_open(&rig, IBV_QPT_RC), *peer = side_open(&rig, IBV_QPT_RC);
	struct rdmaez_qp_known known;
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1};

	renew(own, 4, 0);
	join(own, peer);
	take_snapshot();
	rig_fill(own, peer);
	post(own, peer, IBV_WR_RDMA_WRITE, NULL);
	RIG_UNTIL(memcmp(own->memory, peer->memory, RIG_UD_SIZE) == 0);
	known = one_send(own);
	known.signaled = RDMAEZ_ZERO;
	comes_first(own, &known, RDMAEZ_WHY_UNSIGNALED, RDMAEZ_DIAG_ERROR, "send_flags",
		    "known: not signaled");
	tap_eq_int(rdmaez_wc_wait(own->send_cq, own->qp, &batch, 1000000000, &diag), ETIMEDOUT,
		   "not signaled: the wait is late");
	tap_eq_str(diag.call, "rdmaez_wc_wait", "not signaled: and says so itself");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_WC_LATE, "not signaled: first of all");
	found(RDMAEZ_WHY_CQ_OTHER_SIDE, RDMAEZ_DIAG_ADVICE, "send_cq", "not signaled");
	for (unsigned int i = 1; i < diag.count; i++)
		show_record_unless(tap_eq_int(diag.finding[i].severity, RDMAEZ_DIAG_ADVICE,
					      "not signaled: %s is no more than advice",
					      rdmaez_why_id(diag.finding[i].reason)),
				   &diag);
	side_close(own);
	side_close(peer);
}

static void known_wrong_cq(void)
{
	struct side *own, *peer;
	struct rdmaez_qp_known known;
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1};

	open_pair(&own, &peer, patient);
	take_snapshot();
	side_post_receive(peer);
	post(own, peer, IBV_WR_SEND, NULL);
	known = one_send(own);
	known.cq = own->recv_cq;
	comes_first(own, &known, RDMAEZ_WHY_CQ_NOT_POLLED, RDMAEZ_DIAG_ERROR, "send_cq",
		    "known: the other queue");
	tap_eq_int(rdmaez_wc_wait(peer->send_cq, own->qp, &batch, 1000000000, &diag), ETIMEDOUT,
		   "a queue of none: the wait is late");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_WC_LATE, "a queue of none: it says so");
	tap_eq_int(diag.finding[1].reason, RDMAEZ_WHY_CQ_NOT_POLLED, "a queue of none: and why");
	side_close(own);
	side_close(peer);
}

static void known_no_reads(void)
{
	struct side *own, *peer;
	struct rdmaez_qp_known known;

	open_pair(&own, &peer,
		  (struct rdmaez_qp_opts){.max_rd_atomic = RDMAEZ_ZERO, .rnr_retry = 6});
	take_snapshot();
	post(own, peer, IBV_WR_RDMA_READ, NULL);
	known = one_send(own);
	comes_first(own, &known, RDMAEZ_WHY_DEPTH_ZERO_HANG, RDMAEZ_DIAG_LIKELY, "max_rd_atomic",
		    "known: READ depth 0");
	side_close(own);
	side_close(peer);
}

/* The peer's process was killed, which destroys its queue pair; rxe's retries have no end. */
static void known_killed(void)
{
	struct side *own, *peer;
	struct rdmaez_qp_known known;

	for (int i = 0; i < 2; i++) {
		open_pair(&own, &peer, (struct rdmaez_qp_opts){.timeout = i ? RDMAEZ_ZERO : 10});
		take_snapshot();
		side_close(peer);
		peer = side_open(&rig, IBV_QPT_RC); /* of another number */
		post(own, peer, IBV_WR_SEND, NULL);
		known = one_send(own);
		if (i)
			comes_first(own, &known, RDMAEZ_WHY_TIMEOUT_ZERO, RDMAEZ_DIAG_LIKELY,
				    "timeout", "known: timeout 0");
		else
			comes_first(own, &known, RDMAEZ_WHY_COUNTED_NO_ACK, RDMAEZ_DIAG_LIKELY,
				    "hw_counters/completer_retry_err", "known: killed");
		side_close(own);
		side_close(peer);
	}
}

/* One end never left INIT. */
static void known_one_end(void)
{
	struct side *own = side_open(&rig, IBV_QPT_RC), *peer = side_open(&rig, IBV_QPT_RC);
	struct rdmaez_qp_opts opts = to(peer);
	struct rdmaez_qp_known known;

	opts.timeout = 10;
	bring_up(own, &opts, IBV_QPS_RTS);
	opts = to(own);
	bring_up(peer, &opts, IBV_QPS_INIT);
	side_post_receive(peer);
	take_snapshot();
	post(own, peer, IBV_WR_SEND, NULL);
	known = one_send(own);
	comes_first(own, &known, RDMAEZ_WHY_COUNTED_NO_ACK, RDMAEZ_DIAG_LIKELY,
		    "hw_counters/completer_retry_err", "known: RTR at one end");
	known = one_receive(peer);
	comes_first(peer, &known, RDMAEZ_WHY_QP_NO_RECEIVES, RDMAEZ_DIAG_ERROR, "qp_state",
		    "known: at the other");
	if (rdmaez_qp_to_err(own->qp, NULL))
		tap_bail("ERR cannot be reached");
	known = one_send(own);
	comes_first(own, &known, RDMAEZ_WHY_WR_QP_ERROR, RDMAEZ_DIAG_ERROR, "qp_state",
		    "known: ERR");
	side_close(own);
	side_close(peer);
}

static void known_drained(void)
{
	struct side *own, *peer;
	struct rdmaez_qp_known known;

	open_pair(&own, &peer, patient);
	take_snapshot();
	side_post_receive(peer);
	if (rdmaez_qp_to_sqd(own->qp, NULL, NULL))
		tap_bail("SQD cannot be reached");
	post(own, peer, IBV_WR_SEND, NULL);
	known = one_send(own);
	comes_first(own, &known, RDMAEZ_WHY_QP_NO_SENDS, RDMAEZ_DIAG_ERROR, "qp_state",
		    "known: SQD");
	side_close(own);
	side_close(peer);
}

static void known_qkey(void)
{
	struct side *own = side_open(&rig, IBV_QPT_UD), *peer = side_open(&rig, IBV_QPT_UD);
	struct rdmaez_path path = {0};
	struct rdmaez_qp_known known;
	struct ibv_ah *ah;

	path.dgid = rig.self.gid;
	path.sgid_index = rdmaez_exactly((int)rig.self.gid_index);
	bring_up(own, NULL, IBV_QPS_RTS);
	bring_up(peer, NULL, IBV_QPS_RTS);
	if (rdmaez_ah_create(rig.pd, &path, 1, &ah, NULL) || side_post_receive(peer))
		tap_bail("no datagrams");
	take_snapshot();
	known = one_receive(peer);
	tap_eq_str(rdmaez_why_id(first(peer, &known)), "QP_NOTHING_FOUND", "known: before it");
	post(own, peer, IBV_WR_SEND, ah);
	comes_first(peer, &known, RDMAEZ_WHY_COUNTED_QKEY, RDMAEZ_DIAG_LIKELY, "qkey_viol_cntr",
		    "known: a wrong Q_Key");
	tap_eq_int(diag.finding[0].value, 1, "known: once");
	ibv_destroy_ah(ah);
	side_close(own);
	side_close(peer);
}

static void link_is(const char *to)
{
	char command[80];

	snprintf(command, sizeof(command), "ip link set dev veth1 %s", to);
	if (system(command))
		tap_bail("%s fails", command);
}

/* The other end of the cable is pulled: this end keeps its addresses. */
static void known_port_down(void)
{
	struct side *own, *peer;
	struct rdmaez_qp_known known;
	struct ibv_port_attr port;

	open_pair(&own, &peer, patient);
	take_snapshot();
	link_is("down");
	known = one_send(own);
	comes_first(own, &known, RDMAEZ_WHY_PORT_DOWN, RDMAEZ_DIAG_LIKELY, "port_attr.state",
		    "known: the port is down");
	link_is("up");
	memset(&port, 0, sizeof(port));
	RIG_UNTIL(!ibv_query_port(rig.context, 1, &port) && port.state == IBV_PORT_ACTIVE);
	tap_eq_int(port.state, IBV_PORT_ACTIVE, "and up again");
	side_close(own);
	side_close(peer);
}

/* Reads the asynchronous events that are there, such as those of the port. */
static void read_events(void)
{
	struct ibv_async_event event;
	bool there = true;

	while (there) {
		struct rdmaez_cq_known known = {0};
		struct ibv_cq *cq = ibv_create_cq(rig.context, 1, NULL, NULL, 0);

		rig_need(cq, "ibv_create_cq");
		rdmaez_cq_examine(cq, &known, &diag);
		there = rdmaez_diag_find(&diag, RDMAEZ_WHY_EVENT_UNREAD) != NULL;
		ibv_destroy_cq(cq);
		if (there && !ibv_get_async_event(rig.context, &event))
			ibv_ack_async_event(&event);
	}
}

/* A completion queue overruns: rxe says so in an asynchronous event. */
static void known_overrun(void)
{
	struct side *own, *peer;
	struct rdmaez_cq_known known = {0};
	struct ibv_async_event event;
	struct ibv_cq *const small = ibv_create_cq(rig.context, 1, NULL, NULL, 0);
	struct ibv_cq *made;

	rig_need(small, "ibv_create_cq");
	own = side_open(&rig, IBV_QPT_RC);
	made = own->send_cq;
	own->send_cq = small;
	renew(own, small->cqe + 2, 1);
	peer = side_open(&rig, IBV_QPT_RC);
	join(own, peer);
	known.outstanding = known.signaled = small->cqe + 2;
	tap_eq_int(rdmaez_cq_examine(small, &known, &diag), 0, "a small queue is examined");
	tap_eq_str(rdmaez_why_id(diag.finding[0].reason), "DRAIN_CQ", "it may overrun");
	read_events();
	for (int i = 0; i < known.outstanding; i++)
		post(own, peer, IBV_WR_RDMA_WRITE, NULL);
	RIG_UNTIL(!rdmaez_cq_examine(small, &known, &diag) &&
		  rdmaez_diag_find(&diag, RDMAEZ_WHY_EVENT_UNREAD));
	found(RDMAEZ_WHY_EVENT_UNREAD, RDMAEZ_DIAG_ADVICE, "async_fd", "overrun");
	if (ibv_get_async_event(rig.context, &event))
		tap_bail("no event");
	tap_eq_int(event.event_type, IBV_EVENT_CQ_ERR, "overrun: it is this event");
	ibv_ack_async_event(&event);
	known.flags = RDMAEZ_CQ_FAILED;
	tap_eq_int(rdmaez_cq_examine(small, &known, &diag), 0, "overrun: examined again");
	tap_eq_str(rdmaez_why_id(diag.finding[0].reason), "CQ_OVERRUN", "overrun: it comes first");
	ibv_destroy_cq(made);
	side_close(own);
	side_close(peer);
}

int main(void)
{
	rig = rig_open();
	check_healthy(); /* first: on a new device nothing is counted yet */
	check_no_receive();
	check_no_reads();
	check_dead_peer();
	check_wrong_qkey();
	check_drained();
	check_states();
	known_healthy();
	known_no_receive();
	known_unsignaled();
	known_wrong_cq();
	known_no_reads();
	known_killed();
	known_one_end();
	known_drained();
	known_qkey();
	known_port_down();
	known_overrun();
	rig_close(&rig);
	return tap_done();
}
