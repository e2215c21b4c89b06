/* SPDX-License-Identifier: MIT */
/*
 * The functions that move queue pairs, against the fake: which verbs are called, in which order, with
 * which attributes, and what is said where one of them fails.
 */
#include "check.h"
#include "findings.h"
#include "fixture.h"
#include "moves.h"

static struct fake_device *dev;
static struct ibv_context *ctx;

/* Every check runs twice: with a record to fill, and without. */
static struct rdmaez_diag record, *diag;

typedef int move_fn(struct ibv_qp *, const struct rdmaez_qp_opts *, struct rdmaez_diag *);

/* By the state they lead to; SQE is none. */
static move_fn *const move_to[] = {
	move_to_reset, rdmaez_qp_to_init, rdmaez_qp_to_rtr, rdmaez_qp_to_rts, rdmaez_qp_to_sqd,
	NULL,          move_to_err,
};
static const char *const move_name[] = {
	"rdmaez_qp_to_reset", "rdmaez_qp_to_init", "rdmaez_qp_to_rtr",
	"rdmaez_qp_to_rts",   "rdmaez_qp_to_sqd",  NULL,
	"rdmaez_qp_to_err",
};
static const enum ibv_qp_type types[] = {
	IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV,
};

static void start(void)
{
	dev = fake_reset();
	ctx = fake_open(dev);
	memset(&record, 0xa5, sizeof(record));
}

static bool is_connected(enum ibv_qp_type type)
{
	return type != IBV_QPT_UD && type != IBV_QPT_RAW_PACKET;
}

static struct rdmaez_qp_opts peer(const char *dgid)
{
	struct rdmaez_qp_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.dest_qp_num = 0x77;
	opts.path.dgid = gid_of(dgid);
	return opts;
}

/* A queue pair of this type brought to this state by the functions under test; the log is empty. */
static struct ibv_qp *qp_in(enum ibv_qp_type type, enum ibv_qp_state state)
{
	static const enum ibv_qp_state way[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
						IBV_QPS_SQD};
	const struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");
	struct ibv_qp *qp = fake_qp(ctx, type);

	for (size_t i = 0; i < COUNT_OF(way) && way[i] <= state; i++)
		if (move_to[way[i]](qp, &opts, NULL))
			tap_bail("no %s queue pair comes to %s", rdmaez_qp_type_str(type),
				 rdmaez_qp_state_str(way[i]));
	fake_reset_log();
	return qp;
}

static void check_states(const struct ibv_qp *qp, enum ibv_qp_state state)
{
	tap_eq_str(rdmaez_qp_state_str(qp->state), rdmaez_qp_state_str(state), "qp->state is %s",
		   rdmaez_qp_state_str(state));
	tap_eq_str(rdmaez_qp_state_str(fake_qp_true(qp)->qp_state), rdmaez_qp_state_str(state),
		   "and so is the true state");
}

static void check_record(const struct ibv_qp *qp, const char *call, enum ibv_qp_state from,
			 enum ibv_qp_state to)
{
	if (!diag)
		return;
	tap_eq_str(diag->call, call, "the record names the call");
	tap_eq_str(diag->device, "fake0", "and the device");
	tap_eq_int(diag->qp_num, qp->qp_num, "and the queue pair");
	tap_eq_int(diag->qp_type, qp->qp_type, "and its type");
	tap_eq_str(rdmaez_qp_state_str((enum ibv_qp_state)diag->from), rdmaez_qp_state_str(from),
		   "and where it starts from");
	tap_eq_str(rdmaez_qp_state_str((enum ibv_qp_state)diag->to), rdmaez_qp_state_str(to),
		   "and where it goes");
}

/* The calls made, in order; the list ends with FAKE_ANY. */
static void check_log(const enum fake_verb *verbs, const char *name)
{
	unsigned int count = 0;

	for (; verbs[count] != FAKE_ANY; count++) {
		const struct fake_call *call = fake_nth(count + 1);

		tap_eq_str(call ? fake_verb_str(call->verb) : NULL, fake_verb_str(verbs[count]),
			   "%s: call %u", name, count + 1);
	}
	tap_eq_int(fake_count(FAKE_ANY), count, "%s: no other call", name);
}

#define CHECK_LOG(name, ...)                                                         \
	do {                                                                         \
		static const enum fake_verb check_verbs[] = {__VA_ARGS__, FAKE_ANY}; \
		check_log(check_verbs, name);                                        \
	} while (0)

/* What reached ibv_modify_qp() last. */
static void check_sent(int mask, const struct ibv_qp_attr *attr)
{
	const struct fake_call *call = fake_last(FAKE_MODIFY_QP);

	tap_eq_hex(call->attr_mask, mask, "the mask sent");
	tap_eq_str(attr_difference(&call->arg.qp_attr, attr), NULL, "and every attribute");
}

static struct ibv_qp_attr attr_to(enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = state;
	return attr;
}

/* A device refused: the errno, and a finding of this reason among others there may be. */
static void check_device_refused(int got, int error, enum rdmaez_why reason, const char *name)
{
	tap_eq_int(got, error, "%s: %s", name, rdmaez_errno_str(error));
	if (!diag)
		return;
	tap_eq_int(diag->error, error, "%s: the record holds the errno", name);
	tap_ok(rdmaez_diag_find(diag, reason), "%s: the reason is %s", name, rdmaez_why_id(reason));
}

/* ---- The way up and down ------------------------------------------------------------------ */

/* What each step of a bring-up sends to a RoCE peer ::ffff:192.0.2.9 with number 0x77. */
static struct ibv_qp_attr step_attr(enum ibv_qp_type type, enum ibv_qp_state to)
{
	const bool requester = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
	const bool responder = type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV;
	struct ibv_qp_attr attr = attr_to(to);

	if (to == IBV_QPS_INIT) {
		attr.port_num = 1;
		if (type == IBV_QPT_UD)
			attr.qkey = 0x11111111;
	}
	if (to == IBV_QPS_RTR && is_connected(type)) {
		attr.path_mtu = IBV_MTU_1024;
		attr.dest_qp_num = 0x77;
		attr.ah_attr.is_global = 1;
		attr.ah_attr.port_num = 1;
		attr.ah_attr.grh.dgid = gid_of("::ffff:192.0.2.9");
		attr.ah_attr.grh.sgid_index = 3;
		attr.ah_attr.grh.hop_limit = 64;
		if (responder) {
			attr.max_dest_rd_atomic = 16;
			attr.min_rnr_timer = 12;
		}
	}
	if (to == IBV_QPS_RTS) {
		if (requester || responder)
			attr.timeout = 14;
		if (requester) {
			attr.retry_cnt = 7;
			attr.rnr_retry = 7;
			attr.max_rd_atomic = 16;
		}
	}
	return attr;
}

static void check_bring_up(void)
{
	static const enum ibv_qp_state way[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
						IBV_QPS_SQD,  IBV_QPS_RTS, IBV_QPS_ERR,
						IBV_QPS_RESET};

	for (size_t t = 0; t < COUNT_OF(types); t++) {
		const struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");
		enum ibv_qp_state from = IBV_QPS_RESET;
		struct ibv_qp *qp;

		start();
		qp = fake_qp(ctx, types[t]);
		for (size_t i = 0; i < COUNT_OF(way); i++) {
			const bool back = from == IBV_QPS_SQD;
			const int mask =
				fake_qp_rule(types[t], from, way[i]).required | IBV_QP_STATE;
			const struct ibv_qp_attr attr =
				back ? attr_to(IBV_QPS_RTS) : step_attr(types[t], way[i]);
			const bool depth = attr.max_rd_atomic || attr.max_dest_rd_atomic;
			const bool path = way[i] == IBV_QPS_RTR && is_connected(types[t]);

			fake_reset_log();
			check_success(diag, move_to[way[i]](qp, &opts, diag), "%s %s to %s",
				      rdmaez_qp_type_str(types[t]), rdmaez_qp_state_str(from),
				      rdmaez_qp_state_str(way[i]));
			check_record(qp, move_name[way[i]], from, way[i]);
			check_states(qp, way[i]);
			check_sent(mask, &attr);
			tap_eq_int(fake_count(FAKE_MODIFY_QP), 1, "the queue pair is moved once");
			tap_eq_int(fake_count(FAKE_QUERY_DEVICE), depth, "device, for a depth");
			tap_eq_int(fake_count(FAKE_QUERY_PORT), path, "port, for a path");
			tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), path, "GIDs, for a path");
			tap_eq_int(fake_count(FAKE_ANY), 1 + depth + 2 * path, "calls in all");
			from = way[i];
		}
		tap_eq_int(fake_out_of_bounds(), 0, "no port that does not exist was sent");
	}
}

/* Without options, where no peer is needed. */
static void check_no_opts(void)
{
	static const enum ibv_qp_type unconnected[] = {IBV_QPT_UD, IBV_QPT_RAW_PACKET};
	static const enum ibv_qp_state way[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
						IBV_QPS_SQD,  IBV_QPS_ERR, IBV_QPS_RESET};

	for (size_t t = 0; t < COUNT_OF(unconnected); t++) {
		struct ibv_qp *qp;

		start();
		qp = fake_qp(ctx, unconnected[t]);
		for (size_t i = 0; i < COUNT_OF(way); i++)
			check_success(
				diag, move_to[way[i]](qp, NULL, diag), "%s to %s without options",
				rdmaez_qp_type_str(unconnected[t]), rdmaez_qp_state_str(way[i]));
		tap_eq_int(fake_count(FAKE_ANY), COUNT_OF(way), "one call each");
	}
	start();
	tap_eq_int(rdmaez_qp_to_rtr(qp_in(IBV_QPT_RC, IBV_QPS_INIT), NULL, diag), EINVAL,
		   "RC comes to RTR with a peer only");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "which is known before it is tried");
	if (diag) {
		tap_eq_count(diag, 2, "two things are missing");
		tap_eq_str(rdmaez_why_id(diag->finding[0].reason), "GRH_MISSING", "the GID");
		tap_eq_str(diag->finding[0].field, "ah_attr.grh.dgid", "by name");
		tap_eq_str(rdmaez_why_id(diag->finding[1].reason), "RANGE", "and the number");
		tap_eq_str(diag->finding[1].field, "dest_qp_num", "by name");
	}
}

/* ---- Which calls -------------------------------------------------------------------------- */

static void check_init_calls(void)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct rdmaez_qp_opts opts;
	struct ibv_qp *qp;

	start();
	dev->ports = 2;
	memset(&opts, 0, sizeof(opts));
	opts.port = 1;
	check_success(diag, rdmaez_qp_to_init(fake_qp(ctx, IBV_QPT_RC), &opts, diag), "to port 1");
	CHECK_LOG("to port 1", FAKE_MODIFY_QP);

	opts.port = 2;
	qp = fake_qp(ctx, IBV_QPT_RC);
	fake_reset_log();
	check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "to port 2");
	CHECK_LOG("to port 2", FAKE_QUERY_DEVICE, FAKE_MODIFY_QP);
	tap_eq_int(fake_qp_true(qp)->port_num, 2, "the queue pair is on port 2");

	/* Within INIT the port is optional, and asked for only where it is sent. */
	fake_reset_log();
	opts.optional = IBV_QP_PKEY_INDEX;
	check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "INIT again");
	CHECK_LOG("INIT again", FAKE_MODIFY_QP);
	tap_eq_hex(fake_last(FAKE_MODIFY_QP)->attr_mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX,
		   "sends what is asked for");
	fake_reset_log();
	opts.optional = IBV_QP_PORT;
	check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "INIT again with a port");
	CHECK_LOG("INIT again with a port", FAKE_QUERY_DEVICE, FAKE_MODIFY_QP);

	tap_eq_int(ibv_query_device(ctx, &device), 0, "the device tells its limits");
	opts.optional = 0;
	opts.device_attr = &device;
	qp = fake_qp(ctx, IBV_QPT_RC);
	fake_reset_log();
	check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "to port 2, the device known");
	CHECK_LOG("to port 2, the device known", FAKE_MODIFY_QP);

	/* Whoever has asked the port knows that it exists. */
	tap_eq_int(ibv_query_port(ctx, 2, &port), 0, "port 2 tells its attributes");
	opts.device_attr = NULL;
	opts.port_attr = &port;
	qp = fake_qp(ctx, IBV_QPT_RC);
	fake_reset_log();
	check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "to port 2, the port known");
	CHECK_LOG("to port 2, the port known", FAKE_MODIFY_QP);
	tap_eq_int(fake_qp_true(qp)->port_num, 2, "the queue pair is on port 2");
}

/* Ports that do not exist are refused before a provider sees them. */
static void check_no_port(void)
{
	static const struct {
		int given, value;
	} ports[] = {{3, 3}, {255, 255}, {256, 256}, {-1, -1}, {RDMAEZ_ZERO, 0}};
	struct rdmaez_qp_opts opts;
	struct ibv_port_attr port;
	struct ibv_qp *qp;

	memset(&opts, 0, sizeof(opts));
	for (size_t i = 0; i < COUNT_OF(ports); i++) {
		start();
		dev->ports = 2;
		opts.port = ports[i].given;
		qp = fake_qp(ctx, IBV_QPT_RAW_PACKET);
		fake_reset_log();
		CHECK_VERB_FINDINGS(diag, rdmaez_qp_to_init(qp, &opts, diag), EINVAL,
				    "rdmaez_qp_to_init", NULL, "a port that does not exist",
				    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_PORT, "port_num",
				     RDMAEZ_VALUE_NUMBER, (uint64_t)(int64_t)ports[i].value, 1, 2});
		CHECK_LOG("a port that does not exist", FAKE_QUERY_DEVICE);
	}
	tap_eq_int(fake_out_of_bounds(), 0, "no port that does not exist was sent");

	/* Of a device that does not answer it is not known. */
	opts.port = 255;
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	check_refusal(diag, rdmaez_qp_to_init(qp, &opts, diag), EIO, RDMAEZ_WHY_QUERY_REFUSED,
		      "ibv_query_device", "a port that may exist");

	/* Nor is one taken from attributes that are another port's. */
	for (int i = 0; i < 4; i++) {
		start();
		qp = fixture_qp(ctx, IBV_QPT_RC, IBV_QPS_INIT);
		ibv_query_port(ctx, 1, &port);
		opts.port = i & 1 ? 2 : RDMAEZ_ZERO;
		opts.port_attr = &port;
		opts.dest_qp_num = 17;
		opts.path.dgid = gid_of("::ffff:192.0.2.9");
		if (i & 2)
			fake_fail(FAKE_QUERY_GID_TABLE, 0, EOPNOTSUPP);
		check_refusal(diag, rdmaez_qp_to_rtr(qp, &opts, diag), EINVAL, RDMAEZ_WHY_PORT,
			      "port_num", "a path by a port that does not exist");
	}
	opts.port = 255;
	fake_fail(FAKE_QUERY_DEVICE, 0, EIO);
	fake_fail(FAKE_QUERY_GID_TABLE, 0, 0);
	check_refusal(diag, rdmaez_qp_to_rtr(qp, &opts, diag), EIO, RDMAEZ_WHY_QUERY_REFUSED,
		      "ibv_query_device", "a path by one that may exist");
}

/* ---- Depths ------------------------------------------------------------------------------- */

static void set_depth_limits(int budget, int out, int in)
{
	dev->attr.orig_attr.max_res_rd_atom = budget;
	dev->attr.orig_attr.max_qp_init_rd_atom = out;
	dev->attr.orig_attr.max_qp_rd_atom = in;
}

/* Both depths of an RC bring-up, and how often the device was asked in each step. */
static void check_depths_are(const struct rdmaez_qp_opts *opts, unsigned int asked, int in, int out,
			     const char *name)
{
	struct ibv_qp *qp = fake_qp(ctx, IBV_QPT_RC);

	fake_reset_log();
	check_success(diag, rdmaez_qp_to_init(qp, opts, diag), "%s: INIT", name);
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 0, "%s: INIT asks no device", name);
	check_success(diag, rdmaez_qp_to_rtr(qp, opts, diag), "%s: RTR", name);
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), asked, "%s: RTR asks the device", name);
	fake_reset_log();
	check_success(diag, rdmaez_qp_to_rts(qp, opts, diag), "%s: RTS", name);
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), asked, "%s: RTS asks the device", name);
	tap_eq_int(fake_count(FAKE_ANY), 1 + asked, "%s: and nobody else", name);
	tap_eq_int(fake_qp_true(qp)->max_dest_rd_atomic, in, "%s: as responder", name);
	tap_eq_int(fake_qp_true(qp)->max_rd_atomic, out, "%s: as requester", name);
}

static void check_depths(void)
{
	struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct ibv_qp *qp;

	start();
	set_depth_limits(0, 128, 64);
	check_depths_are(&opts, 1, 16, 16, "left open");
	set_depth_limits(4096, 8, 4);
	check_depths_are(&opts, 1, 4, 8, "left open, the device can do less");
	set_depth_limits(16, 16, 16);
	check_depths_are(&opts, 1, 1, 1, "left open, a budget of 16 for all");
	dev->attr.orig_attr.vendor_id = 0x14e4; /* bnxt_re */
	dev->habits.depth = dev->habits.dest_depth = FAKE_LIMIT_OTHER;
	set_depth_limits(0, 8, 4);
	check_depths_are(&opts, 1, 8, 4, "left open, the limits swapped");

	dev->attr.orig_attr.vendor_id = 0;
	dev->habits.depth = dev->habits.dest_depth = FAKE_LIMIT_NONE;
	set_depth_limits(16, 8, 4);
	opts.max_rd_atomic = 100;
	opts.max_dest_rd_atomic = 99;
	check_depths_are(&opts, 0, 99, 100, "named");
	opts.max_rd_atomic = opts.max_dest_rd_atomic = RDMAEZ_ZERO;
	check_depths_are(&opts, 0, 0, 0, "named as none");

	opts.max_rd_atomic = opts.max_dest_rd_atomic = 0;
	tap_eq_int(ibv_query_device(ctx, &device), 0, "the device tells its limits");
	device.max_res_rd_atom = 96;
	opts.device_attr = &device;
	check_depths_are(&opts, 0, 4, 6, "left open, the device known");

	/* One question for both depths and the port, which it judges too. */
	dev->ports = 2;
	opts.device_attr = NULL;
	qp = qp_in(IBV_QPT_RC, IBV_QPS_SQD);
	set_depth_limits(0, 8, 4);
	opts.port = 2;
	opts.optional = IBV_QP_PORT | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC;
	check_success(diag, rdmaez_qp_to_sqd(qp, &opts, diag), "depths and port within SQD");
	CHECK_LOG("depths and port within SQD", FAKE_QUERY_DEVICE, FAKE_MODIFY_QP);
	tap_eq_int(fake_qp_true(qp)->max_dest_rd_atomic, 4, "as responder");
	tap_eq_int(fake_qp_true(qp)->max_rd_atomic, 8, "as requester");
	fake_reset_log();
	tap_eq_int(ibv_query_port(ctx, 2, &port), 0, "port 2 tells its attributes");
	fake_reset_log();
	opts.port = 3;
	opts.port_attr = &port;
	CHECK_FINDINGS(
		diag, rdmaez_qp_to_sqd(qp, &opts, diag), EINVAL, "rdmaez_qp_to_sqd",
		"depths and port 3 of 2",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_PORT, "port_num", RDMAEZ_VALUE_NUMBER, 3, 1, 2});
	CHECK_LOG("depths and port 3 of 2", FAKE_QUERY_DEVICE);
}

/* A device that does not answer costs depth, not the connection. */
static void check_depths_unanswered(void)
{
	struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");
	struct ibv_qp *qp;

	start();
	set_depth_limits(0, 128, 128);
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "RTR without the device's answer");
	CHECK_LOG("RTR without the device's answer", FAKE_QUERY_DEVICE, FAKE_QUERY_PORT,
		  FAKE_QUERY_GID_TABLE, FAKE_MODIFY_QP);
	tap_eq_int(fake_qp_true(qp)->max_dest_rd_atomic, 1, "as responder");
	fake_reset_log();
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	check_success(diag, rdmaez_qp_to_rts(qp, &opts, diag), "RTS without the device's answer");
	CHECK_LOG("RTS without the device's answer", FAKE_QUERY_DEVICE, FAKE_MODIFY_QP);
	tap_eq_int(fake_qp_true(qp)->max_rd_atomic, 1, "as requester");
}

/* One RTR: which GID index is chosen for a peer, and with which calls. */
static void check_rtr_index(const char *dgid, int index)
{
	const struct rdmaez_qp_opts opts = peer(dgid);
	struct ibv_qp *qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	const struct fake_call *call;

	check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "RTR to %s", dgid);
	call = fake_last(FAKE_MODIFY_QP);
	tap_eq_int(call->arg.qp_attr.ah_attr.grh.sgid_index, index, "%s is reached from index %d",
		   dgid, index);
	CHECK_LOG(dgid, FAKE_QUERY_DEVICE, FAKE_QUERY_PORT, FAKE_QUERY_GID_TABLE, FAKE_MODIFY_QP);
}

static void check_rtr_calls(void)
{
	struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");
	struct ibv_port_attr port;
	struct ibv_qp *qp;

	start();
	check_rtr_index("::ffff:192.0.2.9", 3);
	check_rtr_index("2001:db8::9", 5);
	check_rtr_index("fe80::9", 1);

	tap_eq_int(ibv_query_port(ctx, 1, &port), 0, "the port tells its attributes");
	opts.port_attr = &port;
	opts.max_dest_rd_atomic = 4;
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "RTR, the port known");
	CHECK_LOG("RTR, the port known", FAKE_QUERY_GID_TABLE, FAKE_MODIFY_QP);
	opts.path.sgid_index = 3;
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "RTR, port and row known");
	CHECK_LOG("RTR, port and row known", FAKE_MODIFY_QP);
	opts.port_attr = NULL;
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "RTR, the row known");
	CHECK_LOG("RTR, the row known", FAKE_QUERY_PORT, FAKE_MODIFY_QP);
	opts.path.sgid_index = RDMAEZ_ZERO;
	opts.path.dgid = gid_of("fe80::9");
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "RTR from row 0 by request");
	CHECK_LOG("RTR from row 0 by request", FAKE_QUERY_PORT, FAKE_MODIFY_QP);
	tap_eq_int(fake_last(FAKE_MODIFY_QP)->arg.qp_attr.ah_attr.grh.sgid_index, 0, "row 0");

	/* The attributes of one port, and a port that does not exist: it is the port that is wrong. */
	opts = peer("::ffff:192.0.2.9");
	opts.port_attr = &port;
	opts.port = 3;
	for (int table = 0; table < 2; table++) {
		qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
		if (table)
			fake_fail(FAKE_QUERY_GID_TABLE, 1, EOPNOTSUPP);
		CHECK_FINDINGS(diag, rdmaez_qp_to_rtr(qp, &opts, diag), EINVAL, "rdmaez_qp_to_rtr",
			       "port 3 of 2, with the attributes of port 1",
			       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_PORT, "port_num", RDMAEZ_VALUE_NUMBER,
				3, 1, dev->ports});
	}
	/* Port 2 exists and has no GID, which its caller learns. */
	dev->ports = 2;
	memset(dev->port[2].gid, 0, sizeof(dev->port[2].gid));
	opts.port = 2;
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	CHECK_FINDINGS(diag, rdmaez_qp_to_rtr(qp, &opts, diag), EADDRNOTAVAIL, "rdmaez_qp_to_rtr",
		       "port 2, which has no GID",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_GID_NONE, "ah_attr.grh.sgid_index",
			RDMAEZ_VALUE_NONE, 0, 0, 0});

	/* The best row may be row 0, which must not be taken for no choice at all. */
	start();
	dev->port[1].gid[0] = dev->port[1].gid[3];
	check_rtr_index("::ffff:192.0.2.9", 0);
}

static void check_mtu(void)
{
	static const struct {
		enum ibv_mtu active, asked;
		unsigned int flags;
		enum ibv_mtu sent;
	} cases[] = {
		{IBV_MTU_1024, (enum ibv_mtu)0, 0, IBV_MTU_1024},
		{IBV_MTU_4096, (enum ibv_mtu)0, 0, IBV_MTU_4096},
		{IBV_MTU_4096, IBV_MTU_2048, 0, IBV_MTU_2048},
		{IBV_MTU_1024, IBV_MTU_2048, 0, IBV_MTU_1024},
		{IBV_MTU_1024, IBV_MTU_2048, RDMAEZ_QP_MTU_EXACT, IBV_MTU_2048},
	};
	struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");

	start();
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct ibv_qp *qp = qp_in(IBV_QPT_UC, IBV_QPS_INIT);

		dev->port[1].attr.active_mtu = cases[i].active;
		opts.mtu = cases[i].asked;
		opts.flags = cases[i].flags;
		check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "MTU case %zu", i);
		tap_eq_str(rdmaez_mtu_str(fake_qp_true(qp)->path_mtu),
			   rdmaez_mtu_str(cases[i].sent), "the path MTU of case %zu", i);
	}
}

/* What SQD is for: another path, other timers, other depths. */
static void check_sqd_changes(void)
{
	struct rdmaez_qp_opts opts = peer("2001:db8::9");
	struct ibv_qp_attr want = attr_to(IBV_QPS_SQD);
	struct ibv_qp *qp;

	start();
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS);
	opts.optional = IBV_QP_EN_SQD_ASYNC_NOTIFY;
	want.en_sqd_async_notify = 1;
	check_success(diag, rdmaez_qp_to_sqd(qp, &opts, diag), "RTS to SQD with an event");
	CHECK_LOG("RTS to SQD with an event", FAKE_MODIFY_QP);
	check_sent(IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY, &want);

	fake_reset_log();
	opts.optional = IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MAX_QP_RD_ATOMIC;
	opts.timeout = 20;
	opts.max_rd_atomic = 3;
	want = attr_to(IBV_QPS_SQD);
	want.timeout = 20;
	want.max_rd_atomic = 3;
	want.ah_attr.is_global = 1;
	want.ah_attr.port_num = 1;
	want.ah_attr.grh.dgid = gid_of("2001:db8::9");
	want.ah_attr.grh.sgid_index = 5;
	want.ah_attr.grh.hop_limit = 64;
	check_success(diag, rdmaez_qp_to_sqd(qp, &opts, diag), "another path within SQD");
	check_sent(IBV_QP_STATE | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MAX_QP_RD_ATOMIC, &want);
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "the port was asked");
	tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), 1, "and its GID table");
	tap_eq_int(fake_count(FAKE_ANY), 3, "and the queue pair moved");

	/* To another port: both its number and its rows are asked for. */
	dev->ports = 2;
	fake_reset_log();
	opts.port = 2;
	opts.optional = IBV_QP_AV | IBV_QP_PORT;
	want = attr_to(IBV_QPS_SQD);
	want.port_num = 2;
	want.ah_attr.is_global = 1;
	want.ah_attr.port_num = 2;
	want.ah_attr.grh.dgid = gid_of("2001:db8::9");
	want.ah_attr.grh.sgid_index = 5;
	want.ah_attr.grh.hop_limit = 64;
	check_success(diag, rdmaez_qp_to_sqd(qp, &opts, diag), "another port within SQD");
	check_sent(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PORT, &want);
	tap_eq_int(fake_nth(1)->verb, FAKE_QUERY_DEVICE, "the device was asked for its ports");
	tap_eq_int(fake_nth(2)->verb, FAKE_QUERY_PORT, "and the port");
	tap_eq_int(fake_nth(2)->port, 2, "which is the new one");
	tap_eq_int(fake_count(FAKE_ANY), 4, "and its rows");

	fake_reset_log();
	opts.optional = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS;
	opts.access = IBV_ACCESS_REMOTE_WRITE;
	want = attr_to(IBV_QPS_RTS);
	want.cur_qp_state = IBV_QPS_SQD;
	want.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	dev->quirks = FAKE_CUR_STATE_EQUAL;
	check_success(diag, rdmaez_qp_to_rts(qp, &opts, diag), "back to RTS with other rights");
	CHECK_LOG("back to RTS with other rights", FAKE_MODIFY_QP);
	check_sent(IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS, &want);
	check_states(qp, IBV_QPS_RTS);

	fake_reset_log();
	opts.optional = IBV_QP_MIN_RNR_TIMER;
	opts.min_rnr_timer = 1;
	check_success(diag, rdmaez_qp_to_rts(qp, &opts, diag), "another RNR timer within RTS");
	CHECK_LOG("another RNR timer within RTS", FAKE_MODIFY_QP);
	tap_eq_int(fake_qp_true(qp)->min_rnr_timer, 1, "which the queue pair has now");
}

/* ---- Optional attributes ------------------------------------------------------------------ */

/* The bits of `bits` that the last transition has sent. */
static int sent(int bits)
{
	return fake_last(FAKE_MODIFY_QP)->attr_mask & bits;
}

/* One struct serves a bring-up: each step sends what it takes, and none refuses what another takes. */
static void check_optional(void)
{
	static const struct {
		enum ibv_qp_type type;
		int bits, init, rtr, rts; /* named, and sent by each step */
	} cases[] = {
		{IBV_QPT_RC, IBV_QP_MIN_RNR_TIMER, 0, IBV_QP_MIN_RNR_TIMER, IBV_QP_MIN_RNR_TIMER},
		{IBV_QPT_RC, IBV_QP_TIMEOUT | IBV_QP_AV | IBV_QP_PORT, IBV_QP_PORT, IBV_QP_AV,
		 IBV_QP_TIMEOUT},
		{IBV_QPT_RC, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS, IBV_QP_ACCESS_FLAGS,
		 IBV_QP_ACCESS_FLAGS, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
		{IBV_QPT_UC, IBV_QP_CUR_STATE | IBV_QP_SQ_PSN, 0, 0,
		 IBV_QP_CUR_STATE | IBV_QP_SQ_PSN},
		{IBV_QPT_UD, IBV_QP_QKEY | IBV_QP_PKEY_INDEX, IBV_QP_QKEY | IBV_QP_PKEY_INDEX,
		 IBV_QP_QKEY | IBV_QP_PKEY_INDEX, IBV_QP_QKEY},
		{IBV_QPT_RAW_PACKET, IBV_QP_PORT, IBV_QP_PORT, 0, 0},
	};
	struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");
	struct ibv_qp *qp;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		start();
		qp = fake_qp(ctx, cases[i].type);
		opts.optional = cases[i].bits;
		check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "case %zu to INIT", i);
		tap_eq_hex(sent(cases[i].bits), cases[i].init, "case %zu: INIT sends its own", i);
		check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "case %zu to RTR", i);
		tap_eq_hex(sent(cases[i].bits), cases[i].rtr, "case %zu: RTR sends its own", i);
		check_success(diag, rdmaez_qp_to_rts(qp, &opts, diag), "case %zu to RTS", i);
		tap_eq_hex(sent(cases[i].bits), cases[i].rts, "case %zu: RTS sends its own", i);
	}
}

/* What no step takes for the type is refused by the first, and elsewhere what the transition does not take. */
static void check_optional_refused(void)
{
	static const struct {
		enum ibv_qp_type type;
		enum ibv_qp_state from, to;
		int bit;
	} cases[] = {
		{IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_MIN_RNR_TIMER},
		{IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_QKEY},
		{IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_QKEY},
		{IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_QKEY},
		{IBV_QPT_UC, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_RATE_LIMIT},
		{IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_INIT, IBV_QP_MIN_RNR_TIMER},
		{IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_TIMEOUT},
		{IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QP_TIMEOUT},
		{IBV_QPT_RC, IBV_QPS_SQD, IBV_QPS_RTS, IBV_QP_TIMEOUT},
	};
	struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct ibv_qp *qp;

		start();
		qp = qp_in(cases[i].type, cases[i].from);
		opts.optional = cases[i].bit;
		check_refusal(diag, move_to[cases[i].to](qp, &opts, diag), EINVAL,
			      cases[i].bit == IBV_QP_RATE_LIMIT ? RDMAEZ_WHY_MASK_RATE_LIMIT
								: RDMAEZ_WHY_MASK_NOT_ALLOWED,
			      "attr_mask", "refused case %zu", i);
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "refused case %zu: nothing is tried", i);
	}
}

/* What the caller insists on goes to RTR unjudged, and the kernel says what it thinks of it. */
static void check_extra(void)
{
	const int newer = 1 << 26;
	struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");
	struct ibv_qp *qp;

	start();
	opts.extra = newer;
	qp = fake_qp(ctx, IBV_QPT_RC);
	check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "INIT with an extra bit");
	tap_eq_hex(sent(newer), 0, "does not send it");
	check_refusal(diag, rdmaez_qp_to_rtr(qp, &opts, diag), EOPNOTSUPP, RDMAEZ_WHY_MASK_UNKNOWN,
		      "attr_mask", "RTR with an extra bit");
	tap_eq_hex(sent(~0),
		   newer | IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		   "sends it besides what RTR requires");
	opts.extra = 0;
	check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "RTR without it");
	opts.extra = newer;
	check_success(diag, rdmaez_qp_to_rts(qp, &opts, diag), "RTS with an extra bit");
	tap_eq_hex(sent(newer), 0, "does not send it, either");

	/* A raw packet queue pair has no destination, but may have a service level. */
	memset(&opts, 0, sizeof(opts));
	opts.extra = IBV_QP_AV;
	opts.path.sl = 5;
	qp = qp_in(IBV_QPT_RAW_PACKET, IBV_QPS_INIT);
	check_refusal(diag, rdmaez_qp_to_rtr(qp, &opts, diag), EINVAL, RDMAEZ_WHY_MASK_NOT_ALLOWED,
		      "attr_mask", "RTR of a raw packet queue pair with an address vector");
	tap_eq_hex(sent(~0), IBV_QP_STATE | IBV_QP_AV, "sends it all the same");
	tap_eq_int(fake_last(FAKE_MODIFY_QP)->arg.qp_attr.ah_attr.sl, 5, "with the service level");
	tap_eq_int(fake_last(FAKE_MODIFY_QP)->arg.qp_attr.ah_attr.port_num, 1, "and the port");
	tap_eq_int(fake_last(FAKE_MODIFY_QP)->arg.qp_attr.ah_attr.is_global, 1,
		   "with a GRH, which the port demands");
}

/* ---- InfiniBand --------------------------------------------------------------------------- */

static void check_infiniband(void)
{
	struct rdmaez_qp_opts opts = peer("2001:db8::9");
	const struct ibv_ah_attr *ah;
	struct ibv_qp *qp;

	start();
	fake_port_infiniband(&dev->port[1]);
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RESET);
	check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "INIT on InfiniBand");
	fake_reset_log();
	check_refusal(diag, rdmaez_qp_to_rtr(qp, &opts, diag), EINVAL, RDMAEZ_WHY_PATH_EMPTY,
		      "ah_attr.dlid", "RTR on InfiniBand without a LID");
	CHECK_LOG("RTR on InfiniBand without a LID", FAKE_QUERY_DEVICE, FAKE_QUERY_PORT);
	check_states(qp, IBV_QPS_INIT);

	opts.path.dlid = 5;
	fake_reset_log();
	check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "RTR on InfiniBand");
	CHECK_LOG("RTR on InfiniBand", FAKE_QUERY_DEVICE, FAKE_QUERY_PORT, FAKE_MODIFY_QP);
	ah = &fake_qp_true(qp)->ah_attr;
	tap_eq_int(ah->is_global, 0, "without a GRH");
	tap_eq_int(ah->dlid, 5, "to the LID");
	tap_ok(rdmaez_gid_is_zero(&ah->grh.dgid), "and no GID");

	check_success(diag, rdmaez_qp_to_rts(qp, &opts, diag), "RTS on InfiniBand");
	fake_reset_log();
	opts.optional = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
	opts.alt.dlid = 6;
	opts.path_mig_state = IBV_MIG_REARM;
	check_success(diag, rdmaez_qp_to_rts(qp, &opts, diag), "an alternate path on InfiniBand");
	CHECK_LOG("an alternate path on InfiniBand", FAKE_MODIFY_QP);
	tap_eq_int(fake_qp_true(qp)->alt_ah_attr.dlid, 6, "to its LID");
	tap_eq_int(fake_qp_true(qp)->alt_timeout, 14, "with its timeout");
	tap_eq_int(fake_qp_true(qp)->path_mig_state, IBV_MIG_REARM, "and its migration state");

	opts.optional = 0;
	opts.path.flags = RDMAEZ_PATH_GRH;
	qp = fake_qp(ctx, IBV_QPT_RC);
	check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "INIT once more");
	fake_reset_log();
	check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "RTR with a GRH by request");
	CHECK_LOG("RTR with a GRH by request", FAKE_QUERY_DEVICE, FAKE_QUERY_PORT,
		  FAKE_QUERY_GID_TABLE, FAKE_MODIFY_QP);
	ah = &fake_qp_true(qp)->ah_attr;
	tap_eq_int(ah->is_global, 1, "with a GRH");
	tap_eq_int(ah->grh.sgid_index, 0, "from row 0");

	/* A virtual port demands the GRH itself. */
	dev->port[1].attr.flags = IBV_QPF_GRH_REQUIRED;
	opts.path.flags = 0;
	qp = fake_qp(ctx, IBV_QPT_RC);
	check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "INIT on a virtual port");
	fake_reset_log();
	check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "RTR on a virtual port");
	CHECK_LOG("RTR on a virtual port", FAKE_QUERY_DEVICE, FAKE_QUERY_PORT, FAKE_QUERY_GID_TABLE,
		  FAKE_MODIFY_QP);
	tap_eq_int(fake_qp_true(qp)->ah_attr.is_global, 1, "with a GRH");
}

/* ---- Refusals of the device --------------------------------------------------------------- */

/* ibv_modify_qp() fails at each step: the errno is passed on and nothing has moved. */
static void check_modify_fails(void)
{
	static const enum ibv_qp_state steps[][2] = {
		{IBV_QPS_RESET, IBV_QPS_INIT}, {IBV_QPS_INIT, IBV_QPS_RTR},
		{IBV_QPS_RTR, IBV_QPS_RTS},    {IBV_QPS_RTS, IBV_QPS_SQD},
		{IBV_QPS_SQD, IBV_QPS_RTS},    {IBV_QPS_RTS, IBV_QPS_ERR},
		{IBV_QPS_RTS, IBV_QPS_RESET},
	};
	const struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");

	for (size_t t = 0; t < COUNT_OF(types); t++)
		for (size_t i = 0; i < COUNT_OF(steps); i++) {
			struct ibv_qp *qp;

			start();
			qp = qp_in(types[t], steps[i][0]);
			fake_fail(FAKE_MODIFY_QP, 1, EPROTO);
			check_device_refused(move_to[steps[i][1]](qp, &opts, diag), EPROTO,
					     RDMAEZ_WHY_REFUSED, "a move that fails");
			check_record(qp, move_name[steps[i][1]], steps[i][0], steps[i][1]);
			check_states(qp, steps[i][0]);
			tap_eq_int(fake_count(FAKE_MODIFY_QP), 1, "it is not tried again");
		}
}

static void check_query_fails(void)
{
	struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");
	struct ibv_qp *qp;

	start();
	dev->ports = 2;
	memset(dev->port[2].gid, 0, sizeof(dev->port[2].gid));
	opts.port = 2;
	qp = fake_qp(ctx, IBV_QPT_RC);
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	check_refusal(diag, rdmaez_qp_to_init(qp, &opts, diag), EIO, RDMAEZ_WHY_QUERY_REFUSED,
		      "ibv_query_device", "INIT where the device does not answer");
	check_states(qp, IBV_QPS_RESET);
	CHECK_LOG("INIT where the device does not answer", FAKE_QUERY_DEVICE);

	opts.port = 0;
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	fake_fail(FAKE_QUERY_PORT, 1, EAGAIN);
	check_refusal(diag, rdmaez_qp_to_rtr(qp, &opts, diag), EAGAIN, RDMAEZ_WHY_QUERY_REFUSED,
		      "ibv_query_port", "RTR where the port does not answer");
	check_states(qp, IBV_QPS_INIT);
	CHECK_LOG("RTR where the port does not answer", FAKE_QUERY_DEVICE, FAKE_QUERY_PORT);

	for (unsigned int nth = 1; nth <= 4; nth++) {
		fake_reset_log();
		fake_fail(FAKE_QUERY_GID_TABLE, 1, EOPNOTSUPP); /* as before Linux 5.10 */
		fake_fail(FAKE_QUERY_GID_EX, nth, ENOMEM);
		check_refusal(diag, rdmaez_qp_to_rtr(qp, &opts, diag), ENOMEM,
			      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_gid_ex",
			      "RTR where GID index %u does not answer", nth - 1);
		check_record(qp, "rdmaez_qp_to_rtr", IBV_QPS_INIT, IBV_QPS_RTR);
		check_states(qp, IBV_QPS_INIT);
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "the queue pair is not moved");
	}
	/* Nothing was spoiled: the same call works once the device answers. */
	check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "RTR where all answer");
	check_states(qp, IBV_QPS_RTR);

	/* The explanation itself fails: the errno is still that of the move. */
	fake_reset_log();
	fake_fail(FAKE_MODIFY_QP, 1, EBUSY);
	fake_fail(FAKE_QUERY_QP, 1, EIO);
	tap_eq_int(rdmaez_qp_to_rts(qp, &opts, diag), EBUSY, "a refusal that cannot be explained");
	if (diag) {
		tap_eq_int(diag->error, EBUSY, "the record holds the move's errno");
		tap_ok(diag->count > 0, "and a finding");
	}
	check_states(qp, IBV_QPS_RTR);
}

static void check_gid_refusals(void)
{
	struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");
	struct ibv_qp *qp;

	start();
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	opts.path.sgid_index = 9;
	check_device_refused(rdmaez_qp_to_rtr(qp, &opts, diag), ENODATA, RDMAEZ_WHY_GID_EMPTY,
			     "RTR from an empty row");
	if (diag) {
		const struct rdmaez_finding *empty = rdmaez_diag_find(diag, RDMAEZ_WHY_GID_EMPTY);

		tap_eq_str(empty->field, "ah_attr.grh.sgid_index", "the finding names the field");
		tap_eq_int(empty->value, 9, "and the row");
	}
	check_states(qp, IBV_QPS_INIT);
	opts.path.sgid_index = 5;
	check_device_refused(rdmaez_qp_to_rtr(qp, &opts, diag), EINVAL, RDMAEZ_WHY_GID_FAMILY,
			     "RTR from a row of another family");

	memset(dev->port[1].gid, 0, sizeof(dev->port[1].gid));
	opts.path.sgid_index = 0;
	fake_reset_log();
	check_refusal(diag, rdmaez_qp_to_rtr(qp, &opts, diag), EADDRNOTAVAIL, RDMAEZ_WHY_GID_NONE,
		      "ah_attr.grh.sgid_index", "RTR from an empty table");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "the queue pair is not moved");
	check_states(qp, IBV_QPS_INIT);
}

/* A hardware that has its own mind: what it refuses is passed on, and what it can take is sent. */
static void check_quirks(void)
{
	struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");
	struct ibv_qp *qp;

	start();
	dev->quirks = FAKE_NEGATIVE_ERRNO | FAKE_NO_SQD;
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS);
	check_device_refused(rdmaez_qp_to_sqd(qp, &opts, diag), EINVAL, RDMAEZ_WHY_REFUSED,
			     "SQD on a device that has none, and answers -EINVAL");
	tap_eq_int(fake_last(FAKE_MODIFY_QP)->result, -EINVAL, "the provider's answer is negative");
	check_states(qp, IBV_QPS_RTS);

	/* All defaults please the strictest providers at once. */
	start();
	dev->quirks = FAKE_MTU_UP_TO_ACTIVE | FAKE_NO_ROCE_V1 | FAKE_STRICT_RANGES |
		      FAKE_CUR_STATE_EQUAL | FAKE_NEGATIVE_ERRNO;
	for (size_t t = 0; t < COUNT_OF(types); t++)
		check_states(qp_in(types[t], IBV_QPS_SQD), IBV_QPS_SQD);

	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	opts.mtu = IBV_MTU_2048;
	opts.flags = RDMAEZ_QP_MTU_EXACT;
	check_device_refused(rdmaez_qp_to_rtr(qp, &opts, diag), EINVAL, RDMAEZ_WHY_MTU_ABOVE_ACTIVE,
			     "an MTU above the active one");
	opts.flags = 0;
	opts.path.sgid_index = 2;
	check_device_refused(rdmaez_qp_to_rtr(qp, &opts, diag), EINVAL, RDMAEZ_WHY_GID_ROCE_V1,
			     "a RoCE v1 row");
	check_states(qp, IBV_QPS_INIT);

	start();
	dev->quirks = FAKE_RESET_IS_FINAL;
	qp = qp_in(IBV_QPT_UD, IBV_QPS_RTS);
	check_success(diag, rdmaez_qp_to_reset(qp, diag), "RESET for good");
	check_device_refused(rdmaez_qp_to_init(qp, NULL, diag), EINVAL, RDMAEZ_WHY_REFUSED,
			     "INIT after RESET for good");
	check_states(qp, IBV_QPS_RESET);

	memset(&opts, 0, sizeof(opts));
	opts.qkey = 0x80000000;
	start();
	qp = fake_qp(ctx, IBV_QPT_UD);
	check_device_refused(rdmaez_qp_to_init(qp, &opts, diag), EPERM, RDMAEZ_WHY_QKEY_PRIVILEGED,
			     "a privileged Q_Key");
	dev->quirks = FAKE_PRIVILEGED_QKEY;
	check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "a Q_Key with the privilege");
	tap_eq_hex(fake_qp_true(qp)->qkey, 0x80000000, "is set");

	opts.optional = IBV_QP_RATE_LIMIT;
	opts.rate_limit = 5000;
	qp = qp_in(IBV_QPT_RAW_PACKET, IBV_QPS_RTR);
	check_device_refused(rdmaez_qp_to_rts(qp, &opts, diag), EOPNOTSUPP,
			     RDMAEZ_WHY_MASK_RATE_LIMIT,
			     "a rate limit on a device that takes none");
	check_states(qp, IBV_QPS_RTR);
	dev->quirks = FAKE_EXTENDED_MODIFY;
	check_success(diag, rdmaez_qp_to_rts(qp, &opts, diag), "a rate limit on one that does");
	tap_eq_int(fake_qp_true(qp)->rate_limit, 5000, "is set");

	start();
	opts = peer("::ffff:192.0.2.9");
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	dev->neighbour_errno = ETIMEDOUT;
	check_device_refused(rdmaez_qp_to_rtr(qp, &opts, diag), ETIMEDOUT, RDMAEZ_WHY_NEIGHBOUR,
			     "a peer that nobody knows");
	dev->neighbour_errno = ENETUNREACH;
	check_device_refused(rdmaez_qp_to_rtr(qp, &opts, diag), ENETUNREACH, RDMAEZ_WHY_NO_ROUTE,
			     "a peer to whom no route leads");
	check_states(qp, IBV_QPS_INIT);

	opts.optional = IBV_QP_ALT_PATH;
	opts.alt = opts.path;
	dev->neighbour_errno = 0;
	check_device_refused(rdmaez_qp_to_rtr(qp, &opts, diag), EINVAL, RDMAEZ_WHY_APM,
			     "an alternate path on RoCE");
}

/* ---- State that is not what it seems ------------------------------------------------------ */

static void check_sqe(void)
{
	static const enum ibv_qp_type with_sqe[] = {IBV_QPT_UC, IBV_QPT_UD};

	for (size_t t = 0; t < COUNT_OF(with_sqe); t++) {
		enum ibv_qp_state state = IBV_QPS_UNKNOWN;
		const struct ibv_qp_attr want = attr_to(IBV_QPS_RTS);
		struct ibv_qp *qp;

		start();
		qp = qp_in(with_sqe[t], IBV_QPS_RTS);
		fake_qp_force(qp, IBV_QPS_SQE);
		tap_eq_int(qp->state, IBV_QPS_RTS, "qp->state knows nothing of SQE");
		check_success(diag, rdmaez_qp_state(qp, &state, diag), "%s: the state is asked for",
			      rdmaez_qp_type_str(with_sqe[t]));
		CHECK_LOG("the state is asked for", FAKE_QUERY_QP);
		tap_eq_int(state, IBV_QPS_SQE, "and is SQE");
		check_states(qp, IBV_QPS_SQE);
		if (diag) {
			tap_eq_str(diag->call, "rdmaez_qp_state", "the record names the call");
			tap_eq_int(diag->qp_num, qp->qp_num, "and the queue pair");
			tap_eq_int(diag->qp_type, with_sqe[t], "and its type");
			tap_eq_int(diag->to, -1, "and no transition");
		}
		fake_reset_log();
		check_success(diag, rdmaez_qp_to_rts(qp, NULL, diag), "and left for RTS");
		CHECK_LOG("SQE is left", FAKE_MODIFY_QP);
		check_sent(IBV_QP_STATE, &want);
		check_states(qp, IBV_QPS_RTS);

		/* Without asking first it works as well, from where it seems to be. */
		fake_qp_force(qp, IBV_QPS_SQE);
		check_success(diag, rdmaez_qp_to_rts(qp, NULL, diag), "SQE is left unseen");
		check_states(qp, IBV_QPS_RTS);
	}
}

static void check_stale(void)
{
	const struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");
	const struct rdmaez_finding *finding;
	struct ibv_qp *qp;

	start();
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS);
	fake_qp_force(qp, IBV_QPS_ERR);
	check_device_refused(rdmaez_qp_to_sqd(qp, &opts, diag), EINVAL, RDMAEZ_WHY_TRANSITION,
			     "SQD from RTS that is ERR");
	check_record(qp, "rdmaez_qp_to_sqd", IBV_QPS_ERR, IBV_QPS_SQD);
	finding = rdmaez_diag_find(diag, RDMAEZ_WHY_TRANSITION);
	if (diag && finding) {
		tap_eq_int(finding->value, IBV_QPS_SQD, "the state asked for is told");
		tap_eq_hex(finding->max, 1u << IBV_QPS_RESET | 1u << IBV_QPS_ERR,
			   "and those that may follow ERR");
	}
	tap_eq_int(qp->state, diag ? IBV_QPS_ERR : IBV_QPS_RTS,
		   "an explanation refreshes qp->state");

	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	fake_qp_force(qp, IBV_QPS_RESET);
	check_device_refused(rdmaez_qp_to_init(qp, &opts, diag), EINVAL, RDMAEZ_WHY_MASK_MISSING,
			     "INIT again from INIT that is RESET");
	check_record(qp, "rdmaez_qp_to_init", IBV_QPS_RESET, IBV_QPS_INIT);
	finding = rdmaez_diag_find(diag, RDMAEZ_WHY_MASK_MISSING);
	if (diag && finding)
		tap_eq_hex(finding->value, IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS,
			   "what RESET to INIT needs is told");
}

/* siw_qp_modify() of Linux 6.1 takes ERR in each state, and libibverbs still says RESET where rdma_cm connected. */
static void check_iwarp(void)
{
	struct ibv_qp *qp;

	start();
	dev->verbs.transport_type = IBV_TRANSPORT_IWARP;
	qp = fake_qp(ctx, IBV_QPT_RC);
	fake_qp_force(qp, IBV_QPS_RTS);
	check_success(diag, rdmaez_qp_to_err(qp, diag), "ERR from RESET on iWARP");
	tap_eq_hex(fake_last(FAKE_MODIFY_QP)->attr_mask, IBV_QP_STATE, "the mask sent");
	check_states(qp, IBV_QPS_ERR);
}

static void check_transitions(void)
{
	const struct rdmaez_qp_opts opts = peer("::ffff:192.0.2.9");

	/* All that do not exist, by all functions: no verb is called. */
	for (int from = 0; from <= IBV_QPS_ERR; from++)
		for (int to = 0; to <= IBV_QPS_ERR; to++) {
			struct ibv_qp *qp;

			if (!move_to[to] ||
			    fake_qp_rule(IBV_QPT_RC, (enum ibv_qp_state)from, (enum ibv_qp_state)to)
				    .legal)
				continue;
			start();
			qp = fake_qp(ctx, IBV_QPT_RC);
			fixture_state(qp, (enum ibv_qp_state)from);
			check_refusal(diag, move_to[to](qp, &opts, diag), EINVAL,
				      RDMAEZ_WHY_TRANSITION, "qp_state", "%s to %s",
				      rdmaez_qp_state_str((enum ibv_qp_state)from),
				      rdmaez_qp_state_str((enum ibv_qp_state)to));
			check_record(qp, move_name[to], (enum ibv_qp_state)from,
				     (enum ibv_qp_state)to);
			check_states(qp, (enum ibv_qp_state)from);
			tap_eq_int(fake_count(FAKE_ANY), 0, "no verb was called");
		}
}

/* ---- rdmaez_qp_modify() and rdmaez_qp_state() --------------------------------------------- */

static void check_modify(void)
{
	struct ibv_qp_attr attr = attr_to(IBV_QPS_INIT);
	const int mask = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY;
	const struct rdmaez_finding *finding;
	struct ibv_qp *qp;

	start();
	attr.port_num = 1;
	attr.qkey = 7;
	qp = fake_qp(ctx, IBV_QPT_UD);
	check_success(diag, rdmaez_qp_modify(qp, &attr, mask, diag), "a plain modify");
	CHECK_LOG("a plain modify", FAKE_MODIFY_QP);
	check_sent(mask, &attr);
	check_states(qp, IBV_QPS_INIT);
	if (diag)
		tap_eq_str(diag->call, "rdmaez_qp_modify", "the record names the call");

	attr.qkey = 9;
	check_success(diag, rdmaez_qp_modify(qp, &attr, IBV_QP_QKEY, diag), "no state, one value");
	check_states(qp, IBV_QPS_INIT);
	tap_eq_int(fake_qp_true(qp)->qkey, 9, "which is set");

	fake_reset_log();
	attr.qp_state = IBV_QPS_RTS;
	check_device_refused(rdmaez_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN, diag),
			     EINVAL, RDMAEZ_WHY_TRANSITION, "INIT to RTS");
	check_record(qp, "rdmaez_qp_modify", IBV_QPS_INIT, IBV_QPS_RTS);
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 1, "it is tried once");
	check_states(qp, IBV_QPS_INIT);
	if (!diag)
		tap_eq_int(fake_count(FAKE_ANY), 1, "and nobody is asked why");

	attr.qp_state = IBV_QPS_RTR;
	check_device_refused(rdmaez_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_PORT, diag), EINVAL,
			     RDMAEZ_WHY_MASK_NOT_ALLOWED, "INIT to RTR with a port");
	finding = rdmaez_diag_find(diag, RDMAEZ_WHY_MASK_NOT_ALLOWED);
	if (diag && finding)
		tap_eq_hex(finding->value, IBV_QP_PORT, "the port's bit is named");
	check_device_refused(rdmaez_qp_modify(qp, &attr, IBV_QP_SQ_PSN, diag), EINVAL,
			     RDMAEZ_WHY_MASK_NOT_ALLOWED, "a PSN within INIT");
	check_record(qp, "rdmaez_qp_modify", IBV_QPS_INIT, IBV_QPS_INIT);

	dev->quirks = FAKE_NEGATIVE_ERRNO;
	fake_fail(FAKE_MODIFY_QP, 1, EBUSY);
	check_device_refused(rdmaez_qp_modify(qp, &attr, IBV_QP_STATE, diag), EBUSY,
			     RDMAEZ_WHY_BUSY, "a negative EBUSY");
	check_states(qp, IBV_QPS_INIT);

	check_refusal(diag, rdmaez_qp_modify(NULL, &attr, mask, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "a modify of nothing");
	check_refusal(diag, rdmaez_qp_modify(qp, NULL, mask, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "attr", "a modify with nothing");
}

static void check_state(void)
{
	enum ibv_qp_state state = IBV_QPS_UNKNOWN;
	struct ibv_qp *qp;

	start();
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS);
	fake_qp_force(qp, IBV_QPS_ERR);
	fake_fail(FAKE_QUERY_QP, 1, EIO);
	check_refusal(diag, rdmaez_qp_state(qp, &state, diag), EIO, RDMAEZ_WHY_QUERY_REFUSED,
		      "ibv_query_qp", "a state that cannot be had");
	tap_eq_int(state, IBV_QPS_UNKNOWN, "nothing is written");
	tap_eq_int(qp->state, IBV_QPS_RTS, "qp->state stays");
	check_success(diag, rdmaez_qp_state(qp, &state, diag), "a state that can");
	tap_eq_int(state, IBV_QPS_ERR, "is the true one");
	tap_eq_int(qp->state, IBV_QPS_ERR, "also in qp->state");
	tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask, IBV_QP_STATE,
		   "only the state is asked for");
	check_refusal(diag, rdmaez_qp_state(NULL, &state, diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "qp", "the state of nothing");
	check_refusal(diag, rdmaez_qp_state(qp, NULL, diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "state", "a state to nowhere");
}

int main(void)
{
	for (int explained = 0; explained <= 1; explained++) {
		diag = explained ? &record : NULL;
		tap_diag("%s a record", explained ? "with" : "without");
		check_bring_up();
		check_no_opts();
		check_init_calls();
		check_no_port();
		check_depths();
		check_depths_unanswered();
		check_rtr_calls();
		check_mtu();
		check_sqd_changes();
		check_optional();
		check_optional_refused();
		check_extra();
		check_infiniband();
		check_modify_fails();
		check_query_fails();
		check_gid_refusals();
		check_quirks();
		check_sqe();
		check_stale();
		check_iwarp();
		check_transitions();
		check_modify();
		check_state();
	}
	fake_close_all();
	return tap_done();
}
