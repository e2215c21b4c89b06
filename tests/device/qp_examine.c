/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs that are really stuck: no completion comes, rdmaez_qp_examine() says what may be the reason, and
 * where that is put right, the completion comes.
 */
#define _GNU_SOURCE /* nanosleep() */
#include "rig.h"

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
		healthy &=
			diag.finding[i].kind == RDMAEZ_VALUE_COUNTED ||
			(diag.finding[i].reason == RDMAEZ_WHY_QP_NOTHING_FOUND && diag.count == 1);
	return healthy && diag.count;
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
	found(RDMAEZ_WHY_COUNTED_RNR, RDMAEZ_DIAG_LIKELY, "hw_counters/rcvd_rnr_err", "no receive");
	before = counted(RDMAEZ_WHY_COUNTED_RNR);
	RIG_UNTIL(counts(own, RDMAEZ_WHY_COUNTED_RNR) > before);
	tap_ok(rig_is_quiet(own->send_cq), "no receive: still no completion");
	examine(own, "no receive, again");
	tap_ok(counted(RDMAEZ_WHY_COUNTED_RNR) > before, "no receive: the counter grows");
	examine(peer, "the peer");
	found(RDMAEZ_WHY_COUNTED_NO_RECEIVE, RDMAEZ_DIAG_LIKELY, "hw_counters/send_rnr_err",
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
	found(RDMAEZ_WHY_COUNTED_QKEY, RDMAEZ_DIAG_LIKELY, "qkey_viol_cntr", "a wrong Q_Key");
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
	rig_close(&rig);
	return tap_done();
}
