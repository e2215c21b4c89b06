/* SPDX-License-Identifier: MIT */
/*
 * What nobody should pass, against the fake: whatever it is, the answer is a positive errno value with
 * the right reason and field, ibv_modify_qp() is not called, and the queue pair stays as it was.
 */
#include <limits.h>

#include "check.h"
#include "member.h"
#include "moves.h"

static struct fake_device *dev;
static struct ibv_context *ctx;

/* Every check runs twice: with a record to fill, and without. */
static struct rdmaez_diag record, *diag;

typedef int move_fn(struct ibv_qp *, const struct rdmaez_qp_opts *, struct rdmaez_diag *);

static const struct {
	const char *name;
	move_fn *call;
} moves[] = {
	{"rdmaez_qp_to_init", rdmaez_qp_to_init}, {"rdmaez_qp_to_rtr", rdmaez_qp_to_rtr},
	{"rdmaez_qp_to_rts", rdmaez_qp_to_rts},   {"rdmaez_qp_to_sqd", rdmaez_qp_to_sqd},
	{"rdmaez_qp_to_err", move_to_err},        {"rdmaez_qp_to_reset", move_to_reset},
};

static void start(void)
{
	dev = fake_reset();
	ctx = fake_open(dev);
	dev->ports = 2;
	memset(&record, 0xa5, sizeof(record));
}

static struct rdmaez_qp_opts good_opts(void)
{
	struct rdmaez_qp_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.dest_qp_num = 0x77;
	opts.path.dgid = gid_of("::ffff:192.0.2.9");
	return opts;
}

/* A queue pair in RESET, INIT, RTR, RTS or SQD, and an empty log. */
static struct ibv_qp *qp_in(enum ibv_qp_type type, enum ibv_qp_state state)
{
	const struct rdmaez_qp_opts opts = good_opts();
	struct ibv_qp *qp = fake_qp(ctx, type);

	for (int i = 0; i < (int)state; i++)
		if (moves[i].call(qp, &opts, NULL))
			tap_bail("%s failed", moves[i].name);
	fake_reset_log();
	return qp;
}

/* One call that must not reach the device: opts is wrong in one thing. */
static void check_refused(enum ibv_qp_type type, enum ibv_qp_state from, move_fn *move,
			  const struct rdmaez_qp_opts *opts, int error, enum rdmaez_why reason,
			  const char *field, const char *name)
{
	struct ibv_qp *qp = qp_in(type, from);
	struct ibv_qp_attr before;
	const struct ibv_qp_attr *after = fake_qp_true(qp);

	memcpy(&before, after, sizeof(before));
	check_refusal(diag, move(qp, opts, diag), error, reason, field, "%s", name);
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "%s: nothing is tried", name);
	tap_eq_int(fake_out_of_bounds(), 0, "%s: the provider sees no wrong port", name);
	tap_eq_int(qp->state, from, "%s: qp->state stays", name);
	tap_eq_int(memcmp(&before, after, sizeof(before)), 0, "%s: the queue pair is unchanged",
		   name);
}

static void check_null(void)
{
	struct ibv_gid_entry row;
	struct ibv_port_attr port;
	struct ibv_ah_attr ah;
	struct rdmaez_path path;
	enum ibv_qp_state state;
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;
	size_t count;
	int index;

	start();
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS);
	memset(&attr, 0, sizeof(attr));
	memset(&path, 0, sizeof(path));
	for (size_t i = 0; i < COUNT_OF(moves); i++) {
		const struct rdmaez_qp_opts opts = good_opts();

		check_refusal(diag, moves[i].call(NULL, &opts, diag), EINVAL,
			      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "%s of nothing", moves[i].name);
		if (diag)
			tap_eq_str(diag->call, moves[i].name, "the record names the call");
	}
	check_refusal(diag, rdmaez_qp_modify(NULL, &attr, 0, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "rdmaez_qp_modify of nothing");
	check_refusal(diag, rdmaez_qp_modify(qp, NULL, 0, diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "attr", "rdmaez_qp_modify with nothing");
	check_refusal(diag, rdmaez_qp_state(NULL, &state, diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "qp", "rdmaez_qp_state of nothing");
	check_refusal(diag, rdmaez_qp_state(qp, NULL, diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "state", "rdmaez_qp_state to nowhere");
	check_refusal(diag,
		      rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, NULL, NULL, diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "move", "rdmaez_qp_attr to nowhere");
	check_refusal(diag, rdmaez_path_ah_attr(NULL, 1, NULL, &ah, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "path", "rdmaez_path_ah_attr of nothing");
	check_refusal(diag, rdmaez_path_ah_attr(&path, 1, NULL, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "ah", "rdmaez_path_ah_attr to nowhere");
	check_refusal(diag, rdmaez_port_query(NULL, 1, &port, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "rdmaez_port_query of nothing");
	check_refusal(diag, rdmaez_port_query(ctx, 1, NULL, diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "attr", "rdmaez_port_query to nowhere");
	check_refusal(diag, rdmaez_port_gids(NULL, 1, &row, 1, &count, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "rdmaez_port_gids of nothing");
	check_refusal(diag, rdmaez_port_gids(ctx, 1, NULL, 1, &count, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "entries", "rdmaez_port_gids to nowhere");
	check_refusal(diag, rdmaez_port_gids(ctx, 1, &row, 1, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "count", "rdmaez_port_gids without a count");
	check_refusal(diag, rdmaez_port_choose_gid(NULL, 1, NULL, &row, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "rdmaez_port_choose_gid of nothing");
	check_refusal(diag, rdmaez_port_choose_gid(ctx, 1, NULL, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "chosen", "rdmaez_port_choose_gid to nowhere");
	check_refusal(diag, rdmaez_port_find_pkey(NULL, 1, 0xffff, &index, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "rdmaez_port_find_pkey of nothing");
	check_refusal(diag, rdmaez_port_find_pkey(ctx, 1, 0xffff, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "index", "rdmaez_port_find_pkey to nowhere");
	tap_eq_int(rdmaez_mtu_from_bytes(1024, NULL), EINVAL, "rdmaez_mtu_from_bytes to nowhere");
	tap_eq_int(rdmaez_diag_format(NULL, NULL, 0), 0, "rdmaez_diag_format of nothing");
	tap_eq_int(fake_count(FAKE_ANY), 0, "no verb was called for any of these");
	tap_eq_int(qp->state, IBV_QPS_RTS, "the queue pair stays");
}

static void check_ports(void)
{
	static const int ports[] = {RDMAEZ_ZERO, -1, 3, 255, 256, 257, 65537, INT_MIN, INT_MAX};
	struct ibv_device_attr device;

	start();
	memset(&device, 0, sizeof(device));
	device.phys_port_cnt = 2;
	for (size_t i = 0; i < COUNT_OF(ports); i++) {
		static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UD, IBV_QPT_RAW_PACKET,
							 IBV_QPT_XRC_RECV};
		struct rdmaez_qp_opts opts = good_opts();
		char name[80];

		opts.port = ports[i];
		for (size_t t = 0; t < COUNT_OF(types); t++) {
			snprintf(name, sizeof(name), "%s to INIT on port %d",
				 rdmaez_qp_type_str(types[t]), ports[i]);
			opts.device_attr = NULL;
			check_refused(types[t], IBV_QPS_RESET, rdmaez_qp_to_init, &opts, EINVAL,
				      RDMAEZ_WHY_PORT, "port_num", name);
			opts.device_attr = &device;
			check_refused(types[t], IBV_QPS_RESET, rdmaez_qp_to_init, &opts, EINVAL,
				      RDMAEZ_WHY_PORT, "port_num", name);
		}
		opts.device_attr = NULL;
		snprintf(name, sizeof(name), "to RTR by port %d", ports[i]);
		check_refused(IBV_QPT_RC, IBV_QPS_INIT, rdmaez_qp_to_rtr, &opts, EINVAL,
			      RDMAEZ_WHY_PORT, "port_num", name);
		opts.optional = IBV_QP_AV;
		snprintf(name, sizeof(name), "within SQD to port %d", ports[i]);
		check_refused(IBV_QPT_RC, IBV_QPS_SQD, rdmaez_qp_to_sqd, &opts, EINVAL,
			      RDMAEZ_WHY_PORT, "port_num", name);
		opts.optional = IBV_QP_PORT;
		check_refused(IBV_QPT_RC, IBV_QPS_SQD, rdmaez_qp_to_sqd, &opts, EINVAL,
			      RDMAEZ_WHY_PORT, "port_num", name);
	}
}

static void check_gid_rows(void)
{
	static const int rows[] = {16, 255, 256, 1024, -1, INT_MIN, INT_MAX};
	struct rdmaez_qp_opts opts = good_opts();
	struct ibv_qp *qp;

	start();
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char name[80];

		opts.path.sgid_index = rows[i];
		snprintf(name, sizeof(name), "row %d of a table of 16", rows[i]);
		check_refused(IBV_QPT_RC, IBV_QPS_INIT, rdmaez_qp_to_rtr, &opts, EINVAL,
			      RDMAEZ_WHY_GID_INDEX, "ah_attr.grh.sgid_index", name);
	}
	dev->port[1].attr.gid_tbl_len = FAKE_MAX_GIDS;
	opts.path.sgid_index = 256;
	check_refused(IBV_QPT_RC, IBV_QPS_INIT, rdmaez_qp_to_rtr, &opts, EINVAL,
		      RDMAEZ_WHY_GID_INDEX, "ah_attr.grh.sgid_index", "row 256 of a table of 512");

	/* Only the device can tell that a row is empty: it is asked, and nothing changes. */
	opts.path.sgid_index = 200;
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	tap_eq_int(rdmaez_qp_to_rtr(qp, &opts, diag), ENODATA, "an empty row is refused");
	if (diag)
		tap_ok(rdmaez_diag_find(diag, RDMAEZ_WHY_GID_EMPTY), "as what it is");
	tap_eq_int(qp->state, IBV_QPS_INIT, "the queue pair stays in INIT");
	tap_eq_int(fake_qp_true(qp)->qp_state, IBV_QPS_INIT, "really");
}

#define OPTION(name) MEMBER(rdmaez_qp_opts, name)

/* One option each, with the call that sends it and what is wrong with it. */
static void check_values(void)
{
	enum {
		NEGATIVE = 1
	}; /* also -1 and INT_MIN + 1, whose bytes in the other order are no queue pair number */
	static const struct {
		const char *field;
		struct member option;
		enum ibv_qp_state to;
		enum rdmaez_why reason;
		int64_t value;
		int also;
	} cases[] = {
		{"path_mtu", OPTION(mtu), IBV_QPS_RTR, RDMAEZ_WHY_MTU_IN_BYTES, 256, 0},
		{"path_mtu", OPTION(mtu), IBV_QPS_RTR, RDMAEZ_WHY_MTU_IN_BYTES, 1024, 0},
		{"path_mtu", OPTION(mtu), IBV_QPS_RTR, RDMAEZ_WHY_MTU_IN_BYTES, 4096, 0},
		{"path_mtu", OPTION(mtu), IBV_QPS_RTR, RDMAEZ_WHY_ENUM, 6, NEGATIVE},
		{"dest_qp_num", OPTION(dest_qp_num), IBV_QPS_RTR, RDMAEZ_WHY_RANGE, 0, 0},
		{"dest_qp_num", OPTION(dest_qp_num), IBV_QPS_RTR, RDMAEZ_WHY_RANGE, 0x1000000,
		 NEGATIVE},
		{"rq_psn", OPTION(rq_psn), IBV_QPS_RTR, RDMAEZ_WHY_RANGE, 0x1000000, NEGATIVE},
		{"sq_psn", OPTION(sq_psn), IBV_QPS_RTS, RDMAEZ_WHY_RANGE, 0x1000000, NEGATIVE},
		{"pkey_index", OPTION(pkey_index), IBV_QPS_INIT, RDMAEZ_WHY_RANGE, 65536, NEGATIVE},
		{"qp_access_flags", OPTION(access), IBV_QPS_INIT, RDMAEZ_WHY_ACCESS_BITS,
		 IBV_ACCESS_RELAXED_ORDERING, NEGATIVE},
		{"qp_access_flags", OPTION(access), IBV_QPS_INIT, RDMAEZ_WHY_ACCESS_BITS, 1 << 5,
		 0},
		{"max_rd_atomic", OPTION(max_rd_atomic), IBV_QPS_RTS, RDMAEZ_WHY_RANGE, -2,
		 NEGATIVE},
		{"max_dest_rd_atomic", OPTION(max_dest_rd_atomic), IBV_QPS_RTR, RDMAEZ_WHY_RANGE,
		 -2, NEGATIVE},
		{"min_rnr_timer", OPTION(min_rnr_timer), IBV_QPS_RTR, RDMAEZ_WHY_RANGE, 32,
		 NEGATIVE},
		{"timeout", OPTION(timeout), IBV_QPS_RTS, RDMAEZ_WHY_RANGE, 32, NEGATIVE},
		{"timeout", OPTION(timeout), IBV_QPS_RTS, RDMAEZ_WHY_RANGE, 256 + 14, 0},
		{"retry_cnt", OPTION(retry_cnt), IBV_QPS_RTS, RDMAEZ_WHY_RANGE, 8, NEGATIVE},
		{"rnr_retry", OPTION(rnr_retry), IBV_QPS_RTS, RDMAEZ_WHY_RANGE, 8, NEGATIVE},
		{"ah_attr.grh.hop_limit", OPTION(path.hop_limit), IBV_QPS_RTR, RDMAEZ_WHY_RANGE,
		 256, NEGATIVE},
		{"ah_attr.grh.flow_label", OPTION(path.flow_label), IBV_QPS_RTR, RDMAEZ_WHY_RANGE,
		 0x100000, NEGATIVE},
		{"ah_attr.grh.traffic_class", OPTION(path.traffic_class), IBV_QPS_RTR,
		 RDMAEZ_WHY_RANGE, 256, NEGATIVE},
		{"ah_attr.sl", OPTION(path.sl), IBV_QPS_RTR, RDMAEZ_WHY_RANGE, 16, 0},
		{"ah_attr.src_path_bits", OPTION(path.src_path_bits), IBV_QPS_RTR, RDMAEZ_WHY_RANGE,
		 128, 0},
		{"alt_ah_attr.port_num", OPTION(alt_port), IBV_QPS_SQD, RDMAEZ_WHY_RANGE, 256,
		 NEGATIVE},
		{"alt_ah_attr.port_num", OPTION(alt_port), IBV_QPS_SQD, RDMAEZ_WHY_RANGE,
		 RDMAEZ_ZERO, 0},
		{"alt_pkey_index", OPTION(alt_pkey_index), IBV_QPS_SQD, RDMAEZ_WHY_RANGE, 65536,
		 NEGATIVE},
		{"alt_timeout", OPTION(alt_timeout), IBV_QPS_SQD, RDMAEZ_WHY_RANGE, 32, NEGATIVE},
		{"alt_ah_attr.sl", OPTION(alt.sl), IBV_QPS_SQD, RDMAEZ_WHY_RANGE, 16, 0},
		{"path_mig_state", OPTION(path_mig_state), IBV_QPS_SQD, RDMAEZ_WHY_ENUM, 3,
		 NEGATIVE},
		{"opts.flags", OPTION(flags), IBV_QPS_INIT, RDMAEZ_WHY_OPTION_UNKNOWN, 4, NEGATIVE},
		{"path.flags", OPTION(path.flags), IBV_QPS_RTR, RDMAEZ_WHY_OPTION_UNKNOWN, 2, 0},
		{"path.flags", OPTION(path.flags), IBV_QPS_RTR, RDMAEZ_WHY_OPTION_UNKNOWN, 1u << 31,
		 0},
		{"alt.flags", OPTION(alt.flags), IBV_QPS_SQD, RDMAEZ_WHY_OPTION_UNKNOWN, 2, 0},
	};

	start();
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const int64_t values[] = {cases[i].value, -1, INT_MIN + 1};

		for (size_t n = 0; n < (cases[i].also & NEGATIVE ? 3u : 1u); n++) {
			struct rdmaez_qp_opts opts = good_opts();
			/* Within SQD are the alternate path and the migration state. */
			const enum ibv_qp_state from =
				cases[i].to == IBV_QPS_SQD ? IBV_QPS_SQD
							   : (enum ibv_qp_state)(cases[i].to - 1);
			char name[80];

			if (from == IBV_QPS_SQD)
				opts.optional = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
			set_member(&opts, cases[i].option, values[n]);
			snprintf(name, sizeof(name), "%s of %lld", cases[i].field,
				 (long long)values[n]);
			check_refused(IBV_QPT_RC, from, moves[cases[i].to - 1].call, &opts, EINVAL,
				      cases[i].reason, cases[i].field, name);
		}
	}
}

static enum rdmaez_why refusal_of(int bit)
{
	return 1u << bit == IBV_QP_CAP          ? RDMAEZ_WHY_MASK_CAP
	       : 1u << bit == IBV_QP_RATE_LIMIT ? RDMAEZ_WHY_MASK_RATE_LIMIT
						: RDMAEZ_WHY_MASK_NOT_ALLOWED;
}

/* Bits of `optional` that no transition takes, in every state, by every function. */
static void check_optional_bits(void)
{
	for (int bit = 19; bit < 32; bit++) {
		struct rdmaez_qp_opts opts = good_opts();
		char name[80];

		if (bit == 20) /* IBV_QP_DEST_QPN, which RTR takes */
			continue;
		start();
		opts.optional = (int)(1u << bit);
		for (int to = IBV_QPS_INIT; to <= IBV_QPS_SQD; to++) {
			/* What Linux 7 leaves to the driver is the kernel's to judge, in RTR and RTS. */
			if (1u << bit == IBV_QP_RATE_LIMIT && to <= IBV_QPS_RTS)
				continue;
			snprintf(name, sizeof(name), "optional bit %d by %s", bit,
				 moves[to - 1].name);
			check_refused(IBV_QPT_RC, (enum ibv_qp_state)(to - 1), moves[to - 1].call,
				      &opts, EINVAL, refusal_of(bit), "attr_mask", name);
		}
	}
}

/* A struct ibv_qp that was trampled on, or of a type that has no rules. */
static void check_qps(void)
{
	static const int types[] = {0, 1, 7, 11, 0xf0, 258, -1, INT_MAX};
	static const int states[] = {IBV_QPS_UNKNOWN, 8, 255, -1, INT_MAX, INT_MIN};

	start();
	for (size_t i = 0; i < COUNT_OF(types); i++)
		for (size_t m = 0; m < COUNT_OF(moves); m++) {
			const struct rdmaez_qp_opts opts = good_opts();
			struct ibv_qp *qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS);

			qp->qp_type = (enum ibv_qp_type)types[i];
			check_refusal(diag, moves[m].call(qp, &opts, diag), EINVAL,
				      RDMAEZ_WHY_QP_TYPE, "qp_type", "%s of type %d", moves[m].name,
				      types[i]);
			tap_eq_int(fake_count(FAKE_ANY), 0, "no verb was called");
			qp->qp_type = IBV_QPT_RC;
		}
	for (size_t i = 0; i < COUNT_OF(states); i++)
		for (size_t m = 0; m < COUNT_OF(moves); m++) {
			const struct rdmaez_qp_opts opts = good_opts();
			struct ibv_qp *qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS);

			qp->state = (enum ibv_qp_state)states[i];
			check_refusal(diag, moves[m].call(qp, &opts, diag), EINVAL,
				      RDMAEZ_WHY_QP_STATE, "cur_qp_state", "%s from state %d",
				      moves[m].name, states[i]);
			tap_eq_int(fake_count(FAKE_ANY), 0, "no verb was called");
		}
}

/* A request that ibv_modify_qp() is handed as it is: the device refuses, and nothing changes. */
static void check_modify(void)
{
	/* The system call carries eight bits, and these hold no state in them. */
	static const int states[] = {IBV_QPS_UNKNOWN, 8, 255, -1, INT_MAX};
	struct ibv_qp_attr attr, before;
	struct ibv_qp *qp;

	start();
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS);
	memcpy(&before, fake_qp_true(qp), sizeof(before));
	memset(&attr, 0xff, sizeof(attr));
	tap_eq_int(rdmaez_qp_modify(qp, &attr, -1, diag), EOPNOTSUPP, "all bits, all ones");
	if (diag)
		tap_ok(rdmaez_diag_find(diag, RDMAEZ_WHY_MASK_UNKNOWN), "is explained");
	for (int bit = 21; bit < 32; bit++) {
		tap_eq_int(rdmaez_qp_modify(qp, &attr, (int)(1u << bit), diag), EOPNOTSUPP,
			   "attribute bit %d alone", bit);
		if (diag)
			tap_eq_int(diag->error, EOPNOTSUPP, "and so says the record");
	}
	for (size_t i = 0; i < COUNT_OF(states); i++) {
		attr.qp_state = (enum ibv_qp_state)states[i];
		tap_eq_int(rdmaez_qp_modify(qp, &attr, IBV_QP_STATE, diag), EINVAL, "to state %d",
			   states[i]);
		if (diag)
			tap_ok(diag->count > 0, "with a finding");
	}
	tap_eq_int(memcmp(&before, fake_qp_true(qp), sizeof(before)), 0,
		   "the queue pair is unchanged");
	tap_eq_int(qp->state, IBV_QPS_RTS, "and its state");
}

int main(void)
{
	for (int explained = 0; explained <= 1; explained++) {
		diag = explained ? &record : NULL;
		tap_diag("%s a record", explained ? "with" : "without");
		check_null();
		check_ports();
		check_gid_rows();
		check_values();
		check_optional_bits();
		check_qps();
		check_modify();
	}
	fake_close_all();
	return tap_done();
}
