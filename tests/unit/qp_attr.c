/* SPDX-License-Identifier: MIT */
/*
 * The pure builder rdmaez_qp_attr(): nine types, 49 pairs, every optional bit, every option. What a
 * transition takes is read from the tables of the kernel and of the drivers, not from qp_rules.h, and
 * every expected attribute is written out here.
 */
#include <limits.h>

#include "check.h"
#include "findings.h"
#include "member.h"
#include "rules_file.h"

static struct fake_rule table[RULES_TYPES][RULES_STATES][RULES_STATES];

/* One place in the table. */
struct cell {
	enum ibv_qp_type type;
	enum ibv_qp_state from, to;
	struct fake_rule rule;
	char name[64];
};

static void each_cell(void (*check)(const struct cell *))
{
	for (int t = 0; t < RULES_TYPES; t++)
		for (int from = 0; from <= IBV_QPS_ERR; from++)
			for (int to = 0; to <= IBV_QPS_ERR; to++) {
				struct cell cell;

				cell.type = rules_type[t];
				cell.from = (enum ibv_qp_state)from;
				cell.to = (enum ibv_qp_state)to;
				cell.rule = table[t][from][to];
				snprintf(cell.name, sizeof(cell.name), "%s %s to %s",
					 rdmaez_qp_type_str(cell.type),
					 rdmaez_qp_state_str(cell.from),
					 rdmaez_qp_state_str(cell.to));
				check(&cell);
			}
}

/* The attributes that the documentation of struct rdmaez_qp_opts promises for no option at all. */
static struct ibv_qp_attr default_attr(const struct cell *cell, int mask)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = cell->to;
	if (mask & IBV_QP_CUR_STATE)
		attr.cur_qp_state = cell->from;
	if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		attr.en_sqd_async_notify = 1;
	if (mask & IBV_QP_PORT)
		attr.port_num = 1;
	if (mask & IBV_QP_QKEY)
		attr.qkey = 0x11111111;
	if (mask & IBV_QP_AV)
		attr.ah_attr.port_num = 1;
	if (mask & IBV_QP_PATH_MTU)
		attr.path_mtu = IBV_MTU_1024;
	if (mask & IBV_QP_TIMEOUT)
		attr.timeout = 14;
	if (mask & IBV_QP_RETRY_CNT)
		attr.retry_cnt = 7;
	if (mask & IBV_QP_RNR_RETRY)
		attr.rnr_retry = 7;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		attr.min_rnr_timer = 12;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		attr.max_rd_atomic = 1;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		attr.max_dest_rd_atomic = 1;
	if (mask & IBV_QP_ALT_PATH) {
		attr.alt_ah_attr.port_num = 1;
		attr.alt_port_num = 1;
		attr.alt_timeout = 14;
	}
	return attr;
}

/* Every option set, to values that are all different. */
static struct rdmaez_qp_opts explicit_opts(void)
{
	struct rdmaez_qp_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.port = 2;
	opts.pkey_index = 65535;
	opts.access = IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
	opts.qkey = 0x80001234;
	opts.mtu = IBV_MTU_2048;
	opts.dest_qp_num = 0xabcdef;
	opts.rq_psn = 0xffffff;
	opts.sq_psn = 0x123456;
	opts.max_rd_atomic = 4;
	opts.max_dest_rd_atomic = 5;
	opts.min_rnr_timer = 31;
	opts.timeout = 30;
	opts.retry_cnt = 6;
	opts.rnr_retry = 3;
	opts.path.sgid_index = 9;
	opts.path.dgid = gid_of("2001:db8::9");
	opts.path.flow_label = 0xfffff;
	opts.path.hop_limit = 10;
	opts.path.traffic_class = 11;
	opts.path.dlid = 12;
	opts.path.sl = 13;
	opts.path.src_path_bits = 14;
	opts.path.static_rate = 15;
	opts.alt.flags = RDMAEZ_PATH_GRH;
	opts.alt.sgid_index = 19;
	opts.alt.dgid = gid_of("2001:db8::19");
	opts.alt.dlid = 20;
	opts.alt_port = 21;
	opts.alt_pkey_index = 22;
	opts.alt_timeout = 23;
	opts.path_mig_state = IBV_MIG_ARMED;
	opts.rate_limit = 1000000;
	return opts;
}

static struct ibv_qp_attr explicit_attr(const struct cell *cell, int mask)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = cell->to;
	if (mask & IBV_QP_CUR_STATE)
		attr.cur_qp_state = cell->from;
	if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		attr.en_sqd_async_notify = 1;
	if (mask & IBV_QP_ACCESS_FLAGS)
		attr.qp_access_flags = 0x19;
	if (mask & IBV_QP_PKEY_INDEX)
		attr.pkey_index = 65535;
	if (mask & IBV_QP_PORT)
		attr.port_num = 2;
	if (mask & IBV_QP_QKEY)
		attr.qkey = 0x80001234;
	if (mask & IBV_QP_AV) {
		attr.ah_attr.grh.dgid = gid_of("2001:db8::9");
		attr.ah_attr.grh.flow_label = 0xfffff;
		attr.ah_attr.grh.sgid_index = 9;
		attr.ah_attr.grh.hop_limit = 10;
		attr.ah_attr.grh.traffic_class = 11;
		attr.ah_attr.dlid = 12;
		attr.ah_attr.sl = 13;
		attr.ah_attr.src_path_bits = 14;
		attr.ah_attr.static_rate = 15;
		attr.ah_attr.is_global = 1;
		attr.ah_attr.port_num = 2;
	}
	if (mask & IBV_QP_PATH_MTU)
		attr.path_mtu = IBV_MTU_2048;
	if (mask & IBV_QP_TIMEOUT)
		attr.timeout = 30;
	if (mask & IBV_QP_RETRY_CNT)
		attr.retry_cnt = 6;
	if (mask & IBV_QP_RNR_RETRY)
		attr.rnr_retry = 3;
	if (mask & IBV_QP_RQ_PSN)
		attr.rq_psn = 0xffffff;
	if (mask & IBV_QP_SQ_PSN)
		attr.sq_psn = 0x123456;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		attr.max_rd_atomic = 4;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		attr.max_dest_rd_atomic = 5;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		attr.min_rnr_timer = 31;
	if (mask & IBV_QP_DEST_QPN)
		attr.dest_qp_num = 0xabcdef;
	if (mask & IBV_QP_ALT_PATH) {
		attr.alt_ah_attr.grh.dgid = gid_of("2001:db8::19");
		attr.alt_ah_attr.grh.sgid_index = 19;
		attr.alt_ah_attr.grh.hop_limit = 64;
		attr.alt_ah_attr.dlid = 20;
		attr.alt_ah_attr.is_global = 1;
		attr.alt_ah_attr.port_num = 21;
		attr.alt_port_num = 21;
		attr.alt_pkey_index = 22;
		attr.alt_timeout = 23;
	}
	if (mask & IBV_QP_PATH_MIG_STATE)
		attr.path_mig_state = IBV_MIG_ARMED;
	if (mask & IBV_QP_RATE_LIMIT)
		attr.rate_limit = 1000000;
	return attr;
}

/* Builds into memory full of other things, and tells whether nothing of it was written. */
static int build(const struct cell *cell, const struct rdmaez_qp_opts *opts,
		 struct rdmaez_qp_move *move, struct rdmaez_diag *diag, bool *untouched)
{
	struct rdmaez_qp_move before;
	int error;

	memset(&before, 0xa5, sizeof(before));
	memcpy(move, &before, sizeof(*move));
	error = rdmaez_qp_attr(cell->type, cell->from, cell->to, opts, move, diag);
	*untouched = memcmp(move, &before, sizeof(before)) == 0;
	return error;
}

/* The transition can be built, into exactly this. */
static void check_built(const struct cell *cell, const struct rdmaez_qp_opts *opts, int mask,
			const struct ibv_qp_attr *attr, const char *with)
{
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;

	tap_eq_int(build(cell, opts, &move, NULL, &untouched), 0, "%s %s can be built", cell->name,
		   with);
	tap_eq_hex(move.attr_mask, mask, "%s %s: the mask", cell->name, with);
	tap_eq_str(attr_difference(&move.attr, attr), NULL, "%s %s: every attribute", cell->name,
		   with);
	tap_eq_int(rdmaez_qp_mask_check(cell->type, cell->from, cell->to, move.attr_mask, NULL), 0,
		   "%s %s: the mask passes the check", cell->name, with);
	check_success(&diag, build(cell, opts, &move, &diag, &untouched), "%s %s, with a record",
		      cell->name, with);
	tap_eq_str(attr_difference(&move.attr, attr), NULL, "%s %s: the same with a record",
		   cell->name, with);
}

static void check_illegal(const struct cell *cell, const struct rdmaez_qp_opts *opts)
{
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;

	check_refusal(&diag, build(cell, opts, &move, &diag, &untouched), EINVAL,
		      cell->type == RDMAEZ_QPT_DCT && cell->from >= IBV_QPS_RTR
			      ? RDMAEZ_WHY_DCT_FINAL
			      : RDMAEZ_WHY_TRANSITION,
		      "qp_state", "%s does not exist", cell->name);
	tap_ok(untouched, "%s: nothing is written", cell->name);
	tap_eq_int(build(cell, opts, &move, NULL, &untouched), EINVAL, "%s: nor without a record",
		   cell->name);
	tap_ok(untouched, "%s: nor written", cell->name);
	tap_eq_str(diag.call, "rdmaez_qp_attr", "%s: the call", cell->name);
	tap_eq_int(diag.qp_type, cell->type, "%s: the type", cell->name);
	tap_eq_int(diag.from, cell->from, "%s: the state it starts from", cell->name);
	tap_eq_int(diag.to, cell->to, "%s: the state asked for", cell->name);
}

static void check_defaults(const struct cell *cell)
{
	const int mask = cell->rule.required | IBV_QP_STATE;
	const struct ibv_qp_attr attr = default_attr(cell, mask);
	struct rdmaez_qp_opts zero;

	memset(&zero, 0, sizeof(zero));
	if (cell->rule.legal) {
		check_built(cell, NULL, mask, &attr, "without options");
		check_built(cell, &zero, mask, &attr, "with options of zeros");
	} else {
		check_illegal(cell, NULL);
		check_illegal(cell, &zero);
	}
}

static void check_optional_together(const struct cell *cell)
{
	const int mask = cell->rule.required | cell->rule.optional | IBV_QP_STATE;
	const struct ibv_qp_attr defaults = default_attr(cell, mask);
	const struct ibv_qp_attr explicits = explicit_attr(cell, mask);
	struct rdmaez_qp_opts opts;

	if (!cell->rule.legal)
		return;
	memset(&opts, 0, sizeof(opts));
	opts.optional = cell->rule.optional;
	check_built(cell, &opts, mask, &defaults, "with all that is optional");
	opts = explicit_opts();
	opts.optional = cell->rule.optional;
	check_built(cell, &opts, mask, &explicits, "with all options set");
	opts.optional = mask;
	check_built(cell, &opts, mask, &explicits, "with the required bits named as well");
}

/* Each of the 32 bits alone: built where the kernel's table takes it, refused elsewhere. */
static void check_optional_bit(const struct cell *cell, int bit)
{
	const int accepted = cell->rule.required | cell->rule.optional | IBV_QP_STATE;
	const int mask = cell->rule.required | IBV_QP_STATE | bit;
	const int without_option = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY;
	struct rdmaez_qp_opts opts = explicit_opts();
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;
	int error;

	opts.optional = bit;
	error = build(cell, &opts, &move, &diag, &untouched);
	if (accepted & bit) {
		const struct ibv_qp_attr attr = explicit_attr(cell, mask);
		const struct ibv_qp_attr alone = explicit_attr(cell, bit);
		const struct ibv_qp_attr zero = default_attr(cell, bit);

		/* Or nothing would be compared. */
		tap_ok(bit & without_option || attr_difference(&alone, &zero),
		       "%s: %s has a value of its own to be told by", cell->name,
		       rdmaez_qp_attr_str(bit));
		tap_ok(error == 0 && move.attr_mask == mask && !attr_difference(&move.attr, &attr),
		       "%s: %s goes with it", cell->name, rdmaez_qp_attr_str(bit));
		return;
	}
	tap_ok(error == EINVAL && untouched && diag.error == EINVAL && diag.count == 1 &&
		       strcmp(diag.finding[0].field, "attr_mask") == 0 &&
		       diag.finding[0].kind == RDMAEZ_VALUE_ATTR_MASK &&
		       diag.finding[0].value == (unsigned int)bit &&
		       diag.finding[0].max == (unsigned int)mask,
	       "%s: bit 0x%x is refused by name", cell->name, (unsigned int)bit);
	tap_eq_str(rdmaez_why_id(diag.finding[0].reason),
		   bit == IBV_QP_CAP          ? "MASK_CAP"
		   : bit == IBV_QP_RATE_LIMIT ? "MASK_RATE_LIMIT"
					      : "MASK_NOT_ALLOWED",
		   "%s: bit 0x%x: the reason", cell->name, (unsigned int)bit);
	tap_ok(build(cell, &opts, &move, NULL, &untouched) == EINVAL && untouched,
	       "%s: bit 0x%x is refused without a record", cell->name, (unsigned int)bit);
}

static void check_optional_bits(const struct cell *cell)
{
	for (int i = 0; cell->rule.legal && i < 32; i++)
		check_optional_bit(cell, (int)(1u << i));
}

static const struct cell to_init = {
	IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, {true, 0, 0}, "RESET to INIT"};
static const struct cell to_rtr = {
	IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, {true, 0, 0}, "INIT to RTR"};
static const struct cell to_rts = {
	IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, {true, 0, 0}, "RTR to RTS"};
static const struct cell ud_to_init = {
	IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, {true, 0, 0}, "UD to INIT"};

static void check_really_zero(void)
{
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	bool untouched;

	memset(&opts, 0, sizeof(opts));
	opts.access = RDMAEZ_ZERO;
	opts.qkey = RDMAEZ_ZERO;
	opts.max_rd_atomic = RDMAEZ_ZERO;
	opts.max_dest_rd_atomic = RDMAEZ_ZERO;
	opts.min_rnr_timer = RDMAEZ_ZERO;
	opts.timeout = RDMAEZ_ZERO;
	opts.retry_cnt = RDMAEZ_ZERO;
	opts.rnr_retry = RDMAEZ_ZERO;
	opts.alt_timeout = RDMAEZ_ZERO;
	opts.path.sgid_index = RDMAEZ_ZERO;
	opts.path.dgid = gid_of("fe80::1");
	opts.alt = opts.path;

	tap_eq_int(build(&to_init, &opts, &move, NULL, &untouched), 0, "INIT with zeros is built");
	tap_eq_hex(move.attr.qp_access_flags, 0, "RDMAEZ_ZERO is no access at all");
	tap_eq_int(build(&ud_to_init, &opts, &move, NULL, &untouched), 0,
		   "INIT of UD with zeros is built");
	tap_eq_hex(move.attr.qkey, 0, "RDMAEZ_ZERO is Q_Key 0");
	opts.optional = IBV_QP_ALT_PATH;
	tap_eq_int(build(&to_rtr, &opts, &move, NULL, &untouched), 0, "RTR with zeros is built");
	tap_eq_int(move.attr.max_dest_rd_atomic, 0, "RDMAEZ_ZERO lets nothing in");
	tap_eq_int(move.attr.min_rnr_timer, 0, "RDMAEZ_ZERO is RNR timer code 0");
	tap_eq_int(move.attr.alt_timeout, 0, "RDMAEZ_ZERO is no alternate timeout");
	tap_eq_int(move.attr.ah_attr.grh.sgid_index, 0, "RDMAEZ_ZERO is GID row 0");
	tap_eq_int(move.attr.alt_ah_attr.grh.sgid_index, 0, "also of the alternate path");
	opts.optional = 0;
	tap_eq_int(build(&to_rts, &opts, &move, NULL, &untouched), 0, "RTS with zeros is built");
	tap_eq_int(move.attr.max_rd_atomic, 0, "RDMAEZ_ZERO lets nothing out");
	tap_eq_int(move.attr.timeout, 0, "RDMAEZ_ZERO is no timeout");
	tap_eq_int(move.attr.retry_cnt, 0, "RDMAEZ_ZERO is no retry");
	tap_eq_int(move.attr.rnr_retry, 0, "RDMAEZ_ZERO is no RNR retry");
}

/* Bits that the caller insists on are in the mask, and those that have an option are filled. */
static void check_extra(void)
{
	struct rdmaez_qp_opts opts = explicit_opts();
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;
	const int newer = 1 << 26,
		  before = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS;

	opts.extra = newer | IBV_QP_QKEY | (int)(1u << 31);
	check_success(&diag, build(&to_init, &opts, &move, &diag, &untouched), "extra bits");
	tap_eq_hex(move.attr_mask, before | newer | IBV_QP_QKEY | (int)(1u << 31),
		   "are in the mask");
	tap_eq_hex(move.attr.qkey, 0x80001234, "a known one is filled");
	opts.optional = IBV_QP_TIMEOUT;
	check_refusal(&diag, build(&to_init, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_MASK_NOT_ALLOWED, "attr_mask", "an optional bit besides");
	tap_eq_hex(diag.finding[0].value, IBV_QP_TIMEOUT, "which alone is named");
	opts.optional = 0;
	opts.extra = IBV_QP_TIMEOUT;
	opts.timeout = 32;
	check_refusal(&diag, build(&to_init, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_RANGE, "timeout", "an extra one whose option is out of range");
}

/* Timers in ns become the shortest code that waits as long. */
static void check_times(void)
{
	static const struct {
		uint64_t ns;
		int ack, rnr;
	} times[] = {
		{1, 1, 1},
		{8192, 1, 1},
		{8193, 2, 1},
		{10001, 2, 2},
		{UINT64_C(67108864), 14, 26},
		{UINT64_C(67108865), 15, 26},
		{UINT64_C(491520000), 17, 31},
		{UINT64_C(491520001), 17, 0},
		{UINT64_C(10000000000), 22, 0},
		{UINT64_C(8796093022208), 31, 0},
		{RDMAEZ_NS_FOREVER - 1, 31, 0},
		{RDMAEZ_NS_FOREVER, 0, 0},
	};
	static const int codes[] = {1, 14, 31, 99, -1, RDMAEZ_ZERO};
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;

	memset(&opts, 0, sizeof(opts));
	opts.path.dgid = gid_of("2001:db8::9");
	opts.alt = opts.path;
	opts.optional = IBV_QP_ALT_PATH;
	for (size_t i = 0; i < COUNT_OF(times); i++) {
		opts.timeout_ns = opts.alt_timeout_ns = opts.min_rnr_timer_ns = times[i].ns;
		check_success(&diag, build(&to_rtr, &opts, &move, &diag, &untouched),
			      "RTR with time %zu", i);
		tap_eq_int(move.attr.min_rnr_timer, times[i].rnr, "time %zu as an RNR timer", i);
		tap_eq_int(move.attr.alt_timeout, times[i].ack, "as the alternate timeout");
		check_success(&diag, build(&to_rts, &opts, &move, &diag, &untouched),
			      "RTS with time %zu", i);
		tap_eq_int(move.attr.timeout, times[i].ack, "as a timeout");
	}

	/* A code besides is one too many, whatever it is. */
	for (size_t i = 0; i < COUNT_OF(codes); i++) {
		memset(&opts, 0, sizeof(opts));
		opts.timeout = codes[i];
		opts.timeout_ns = 8192;
		check_refusal(&diag, build(&to_rts, &opts, &move, &diag, &untouched), EINVAL,
			      RDMAEZ_WHY_OPTION_TWICE, "timeout", "code %d and a time", codes[i]);
		tap_ok(untouched, "nothing is written");
		opts.min_rnr_timer = codes[i];
		opts.min_rnr_timer_ns = 8192;
		check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
			      RDMAEZ_WHY_OPTION_TWICE, "min_rnr_timer", "RNR code %d and a time",
			      codes[i]);
		opts.min_rnr_timer = 0;
		opts.optional = IBV_QP_ALT_PATH;
		opts.alt.dgid = gid_of("2001:db8::9");
		opts.alt_timeout = codes[i];
		opts.alt_timeout_ns = 8192;
		check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
			      RDMAEZ_WHY_OPTION_TWICE, "alt_timeout",
			      "alternate code %d and a time", codes[i]);
	}
	opts.optional = 0;
	check_success(&diag, build(&to_init, &opts, &move, &diag, &untouched),
		      "where they are not sent, they are not looked at");
}

/* Rights are what was asked for, on every type: a variable that is 0 grants none. */
static void check_rights(const struct cell *cell)
{
	static const unsigned int asked[][2] = {
		{0, 0},
		{RDMAEZ_ZERO, 0},
		{IBV_ACCESS_REMOTE_READ, 0x4},
		{IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE, 0x6},
		{IBV_ACCESS_REMOTE_ATOMIC, 0x8},
		{IBV_ACCESS_LOCAL_WRITE, 0x1},
	};
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	bool untouched;

	if (!((cell->rule.required | cell->rule.optional) & IBV_QP_ACCESS_FLAGS))
		return;
	memset(&opts, 0, sizeof(opts));
	opts.optional = IBV_QP_ACCESS_FLAGS;
	for (size_t i = 0; i < COUNT_OF(asked); i++) {
		opts.access = asked[i][0];
		tap_eq_int(build(cell, &opts, &move, NULL, &untouched), 0, "%s with rights 0x%x",
			   cell->name, asked[i][0]);
		tap_eq_hex(move.attr.qp_access_flags, asked[i][1], "%s sends rights 0x%x",
			   cell->name, asked[i][1]);
	}
}

/* The default leaves others their share of what the whole device has; a depth that is named is sent. */
static void check_budgets(void)
{
	static const struct {
		int budget, device, becomes; /* 0: not reported */
	} budgets[] = {
		{0, 128, 16},    {1, 128, 1},       {15, 128, 1},       {16, 16, 1},
		{31, 128, 1},    {32, 128, 2},      {63, 128, 3},       {255, 128, 15},
		{256, 128, 16},  {272, 128, 16},    {255, 4, 4},        {16, 0, 0},
		{512, 8, 8},     {258048, 128, 16}, {INT_MAX, 128, 16}, {-1, 128, 16},
		{INT_MIN, 4, 4},
	};
	struct ibv_device_attr device;
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	bool untouched;

	memset(&device, 0, sizeof(device));
	memset(&opts, 0, sizeof(opts));
	device.phys_port_cnt = 1;
	opts.device_attr = &device;
	for (size_t i = 0; i < COUNT_OF(budgets); i++) {
		device.max_res_rd_atom = budgets[i].budget;
		device.max_qp_rd_atom = device.max_qp_init_rd_atom = budgets[i].device;
		opts.max_rd_atomic = opts.max_dest_rd_atomic = 0;
		tap_eq_int(build(&to_rts, &opts, &move, NULL, &untouched), 0,
			   "RTS where all share %d", budgets[i].budget);
		tap_eq_int(move.attr.max_rd_atomic, budgets[i].becomes,
			   "where all share %d and each can %d: as requester", budgets[i].budget,
			   budgets[i].device);
		tap_eq_int(build(&to_rtr, &opts, &move, NULL, &untouched), 0,
			   "RTR where all share %d", budgets[i].budget);
		tap_eq_int(move.attr.max_dest_rd_atomic, budgets[i].becomes,
			   "where all share %d and each can %d: as responder", budgets[i].budget,
			   budgets[i].device);
		opts.max_rd_atomic = opts.max_dest_rd_atomic = 128;
		tap_eq_int(build(&to_rts, &opts, &move, NULL, &untouched), 0, "128 by name");
		tap_eq_int(move.attr.max_rd_atomic, budgets[i].device,
			   "by name it is all that one can, as requester");
		tap_eq_int(build(&to_rtr, &opts, &move, NULL, &untouched), 0, "128 by name");
		tap_eq_int(move.attr.max_dest_rd_atomic, budgets[i].device, "and as responder");
	}
}

/* What a depth becomes, by what was given and what the device can do; device -1: not known. */
static void check_depths(void)
{
	static const struct {
		int given, device, becomes;
	} depths[] = {
		{0, -1, 1},         {0, 0, 0},       {0, 4, 4},           {0, 16, 16},
		{0, 255, 16},       {0, 300, 16},    {1, -1, 1},          {1, 0, 0},
		{1, 4, 1},          {5, 4, 4},       {16, -1, 16},        {16, 16, 16},
		{17, 16, 16},       {254, 300, 254}, {255, 255, 255},     {256, 255, 255},
		{255, -1, 255},     {256, -1, 255},  {300, 300, 255},     {999, 254, 254},
		{INT_MAX, -1, 255}, {INT_MAX, 4, 4}, {RDMAEZ_ZERO, 4, 0}, {RDMAEZ_ZERO, -1, 0},
	};
	static const int negative[] = {-1, -16, INT_MIN};
	struct ibv_device_attr device;
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;

	memset(&device, 0, sizeof(device));
	device.phys_port_cnt = 1;
	memset(&opts, 0, sizeof(opts));
	for (size_t i = 0; i < COUNT_OF(depths); i++) {
		opts.device_attr = depths[i].device < 0 ? NULL : &device;
		opts.max_rd_atomic = opts.max_dest_rd_atomic = depths[i].given;
		/* The other limit must not matter. */
		device.max_qp_init_rd_atom = depths[i].device;
		device.max_qp_rd_atom = 99;
		tap_eq_int(build(&to_rts, &opts, &move, NULL, &untouched), 0,
			   "depth %d where the device can %d is built", depths[i].given,
			   depths[i].device);
		tap_eq_int(move.attr.max_rd_atomic, depths[i].becomes,
			   "depth %d where the device can %d: as requester", depths[i].given,
			   depths[i].device);
		device.max_qp_init_rd_atom = 99;
		device.max_qp_rd_atom = depths[i].device;
		tap_eq_int(build(&to_rtr, &opts, &move, NULL, &untouched), 0,
			   "depth %d where the device can %d is built for RTR", depths[i].given,
			   depths[i].device);
		tap_eq_int(move.attr.max_dest_rd_atomic, depths[i].becomes,
			   "depth %d where the device can %d: as responder", depths[i].given,
			   depths[i].device);
	}
	/* Two drivers report them the other way round. */
	opts.device_attr = &device;
	opts.max_rd_atomic = opts.max_dest_rd_atomic = 255;
	device.vendor_id = 0x14e4;
	device.max_qp_rd_atom = 4;
	device.max_qp_init_rd_atom = 8;
	tap_eq_int(build(&to_rts, &opts, &move, NULL, &untouched), 0, "bnxt_re's depth for RTS");
	tap_eq_int(move.attr.max_rd_atomic, 4, "as requester bnxt_re can max_qp_rd_atom");
	tap_eq_int(build(&to_rtr, &opts, &move, NULL, &untouched), 0, "bnxt_re's depth for RTR");
	tap_eq_int(move.attr.max_dest_rd_atomic, 8, "as responder max_qp_init_rd_atom");
	opts.max_rd_atomic = opts.max_dest_rd_atomic = 0;
	device.vendor_id = 0x1ded;
	tap_eq_int(build(&to_rts, &opts, &move, NULL, &untouched), 0, "erdma's default for RTS");
	tap_eq_int(move.attr.max_rd_atomic, 4, "is max_qp_rd_atom");
	tap_eq_int(build(&to_rtr, &opts, &move, NULL, &untouched), 0, "erdma's default for RTR");
	tap_eq_int(move.attr.max_dest_rd_atomic, 8, "is max_qp_init_rd_atom");
	device.vendor_id = 0;
	check_budgets();
	for (size_t i = 0; i < COUNT_OF(negative); i++) {
		opts.device_attr = NULL;
		opts.max_rd_atomic = opts.max_dest_rd_atomic = negative[i];
		check_refusal(&diag, build(&to_rts, &opts, &move, &diag, &untouched), EINVAL,
			      RDMAEZ_WHY_RANGE, "max_rd_atomic", "requester's depth %d",
			      negative[i]);
		tap_ok(untouched, "nothing is written");
		tap_eq_int((int64_t)diag.finding[0].value, negative[i], "the value given");
		tap_eq_int(diag.finding[0].min, 0, "the least accepted");
		tap_eq_int(diag.finding[0].max, 255, "the greatest accepted");
		opts.device_attr = &device;
		device.max_qp_rd_atom = 4;
		check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
			      RDMAEZ_WHY_RANGE, "max_dest_rd_atomic", "responder's depth %d",
			      negative[i]);
		tap_eq_int(diag.finding[0].max, 4, "the greatest accepted is the device's");
	}
}

/* What an MTU becomes, by what was asked for and the port's active one; -1: no port known. */
static void check_mtu(void)
{
	static const struct {
		int asked, active;
		unsigned int flags;
		int becomes;
	} mtus[] = {
		{0, -1, 0, IBV_MTU_1024},
		{0, IBV_MTU_256, 0, IBV_MTU_256},
		{0, IBV_MTU_4096, 0, IBV_MTU_4096},
		{0, 0, 0, IBV_MTU_1024},
		{0, 6, 0, IBV_MTU_1024},
		{0, IBV_MTU_4096, RDMAEZ_QP_MTU_EXACT, IBV_MTU_4096},
		{IBV_MTU_256, IBV_MTU_4096, 0, IBV_MTU_256},
		{IBV_MTU_512, IBV_MTU_1024, 0, IBV_MTU_512},
		{IBV_MTU_1024, IBV_MTU_1024, 0, IBV_MTU_1024},
		{IBV_MTU_2048, IBV_MTU_1024, 0, IBV_MTU_1024},
		{IBV_MTU_4096, IBV_MTU_1024, 0, IBV_MTU_1024},
		{IBV_MTU_4096, IBV_MTU_1024, RDMAEZ_QP_MTU_EXACT, IBV_MTU_4096},
		{IBV_MTU_512, IBV_MTU_1024, RDMAEZ_QP_MTU_EXACT, IBV_MTU_512},
		{IBV_MTU_4096, -1, 0, IBV_MTU_4096},
		{IBV_MTU_256, -1, 0, IBV_MTU_256},
		{IBV_MTU_4096, 0, 0, IBV_MTU_4096},
		{IBV_MTU_256, 6, 0, IBV_MTU_256},
	};
	static const struct {
		int asked;
		enum rdmaez_why reason;
	} wrong[] = {{-1, RDMAEZ_WHY_ENUM},
		     {INT_MIN, RDMAEZ_WHY_ENUM},
		     {6, RDMAEZ_WHY_ENUM},
		     {255, RDMAEZ_WHY_ENUM},
		     {256, RDMAEZ_WHY_MTU_IN_BYTES},
		     {1024, RDMAEZ_WHY_MTU_IN_BYTES},
		     {1500, RDMAEZ_WHY_MTU_IN_BYTES},
		     {4096, RDMAEZ_WHY_MTU_IN_BYTES},
		     {INT_MAX, RDMAEZ_WHY_MTU_IN_BYTES}};
	struct ibv_port_attr port;
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;

	memset(&port, 0, sizeof(port));
	port.link_layer = IBV_LINK_LAYER_INFINIBAND;
	memset(&opts, 0, sizeof(opts));
	opts.path.dlid = 1;
	opts.dest_qp_num = 1;
	for (size_t i = 0; i < COUNT_OF(mtus); i++) {
		port.active_mtu = (enum ibv_mtu)mtus[i].active;
		opts.port_attr = mtus[i].active < 0 ? NULL : &port;
		opts.flags = mtus[i].flags;
		opts.mtu = (enum ibv_mtu)mtus[i].asked;
		tap_eq_int(build(&to_rtr, &opts, &move, NULL, &untouched), 0,
			   "MTU %d, active %d, flags %u is built", mtus[i].asked, mtus[i].active,
			   mtus[i].flags);
		tap_eq_int(move.attr.path_mtu, mtus[i].becomes, "MTU %d, active %d, flags %u",
			   mtus[i].asked, mtus[i].active, mtus[i].flags);
	}
	opts.port_attr = NULL;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		opts.mtu = (enum ibv_mtu)wrong[i].asked;
		opts.flags = i % 2 ? RDMAEZ_QP_MTU_EXACT : 0;
		check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
			      wrong[i].reason, "path_mtu", "an MTU of %d", wrong[i].asked);
		tap_eq_int((int64_t)diag.finding[0].value, wrong[i].asked, "the value given");
		tap_eq_int(diag.finding[0].kind, RDMAEZ_VALUE_MTU, "is an MTU");
		tap_eq_int(diag.finding[0].min, IBV_MTU_256, "the least accepted");
		tap_eq_int(diag.finding[0].max, IBV_MTU_4096, "the greatest accepted");
	}
}

/* Integer options that are refused outside their range, with the transition that sends them. */
static void check_ranges(void)
{
	static const struct {
		const char *field;
		struct member option, sent;
		enum rdmaez_why reason;
		const struct cell *cell;
		int optional;
		int64_t min, max;
		bool is_int; /* and may thus be negative */
	} ranges[] = {
		{"port_num", MEMBER(rdmaez_qp_opts, port), MEMBER(ibv_qp_attr, port_num),
		 RDMAEZ_WHY_PORT, &to_init, 0, 1, 255, true},
		{"pkey_index", MEMBER(rdmaez_qp_opts, pkey_index), MEMBER(ibv_qp_attr, pkey_index),
		 RDMAEZ_WHY_RANGE, &to_init, 0, 0, 65535, true},
		{"dest_qp_num", MEMBER(rdmaez_qp_opts, dest_qp_num),
		 MEMBER(ibv_qp_attr, dest_qp_num), RDMAEZ_WHY_RANGE, &to_rtr, 0, 0, 0xffffff,
		 false},
		{"rq_psn", MEMBER(rdmaez_qp_opts, rq_psn), MEMBER(ibv_qp_attr, rq_psn),
		 RDMAEZ_WHY_RANGE, &to_rtr, 0, 0, 0xffffff, false},
		{"sq_psn", MEMBER(rdmaez_qp_opts, sq_psn), MEMBER(ibv_qp_attr, sq_psn),
		 RDMAEZ_WHY_RANGE, &to_rts, 0, 0, 0xffffff, false},
		{"min_rnr_timer", MEMBER(rdmaez_qp_opts, min_rnr_timer),
		 MEMBER(ibv_qp_attr, min_rnr_timer), RDMAEZ_WHY_RANGE, &to_rtr, 0, 0, 31, true},
		{"timeout", MEMBER(rdmaez_qp_opts, timeout), MEMBER(ibv_qp_attr, timeout),
		 RDMAEZ_WHY_RANGE, &to_rts, 0, 0, 31, true},
		{"retry_cnt", MEMBER(rdmaez_qp_opts, retry_cnt), MEMBER(ibv_qp_attr, retry_cnt),
		 RDMAEZ_WHY_RANGE, &to_rts, 0, 0, 7, true},
		{"rnr_retry", MEMBER(rdmaez_qp_opts, rnr_retry), MEMBER(ibv_qp_attr, rnr_retry),
		 RDMAEZ_WHY_RANGE, &to_rts, 0, 0, 7, true},
		{"alt_ah_attr.port_num", MEMBER(rdmaez_qp_opts, alt_port),
		 MEMBER(ibv_qp_attr, alt_ah_attr.port_num), RDMAEZ_WHY_RANGE, &to_rtr,
		 IBV_QP_ALT_PATH, 1, 255, true},
		{"alt_ah_attr.port_num", MEMBER(rdmaez_qp_opts, alt_port),
		 MEMBER(ibv_qp_attr, alt_port_num), RDMAEZ_WHY_RANGE, &to_rtr, IBV_QP_ALT_PATH, 1,
		 255, true},
		{"alt_pkey_index", MEMBER(rdmaez_qp_opts, alt_pkey_index),
		 MEMBER(ibv_qp_attr, alt_pkey_index), RDMAEZ_WHY_RANGE, &to_rtr, IBV_QP_ALT_PATH, 0,
		 65535, true},
		{"alt_timeout", MEMBER(rdmaez_qp_opts, alt_timeout),
		 MEMBER(ibv_qp_attr, alt_timeout), RDMAEZ_WHY_RANGE, &to_rtr, IBV_QP_ALT_PATH, 0,
		 31, true},
		{"path_mig_state", MEMBER(rdmaez_qp_opts, path_mig_state),
		 MEMBER(ibv_qp_attr, path_mig_state), RDMAEZ_WHY_ENUM, &to_rts,
		 IBV_QP_PATH_MIG_STATE, 0, 2, true},
	};

	for (size_t i = 0; i < COUNT_OF(ranges); i++) {
		const int64_t good[] = {1, ranges[i].max};
		const int64_t bad[] = {ranges[i].max + 1, ranges[i].is_int ? INT_MAX : UINT32_MAX,
				       -1, INT_MIN};
		struct rdmaez_qp_opts opts;
		struct rdmaez_qp_move move;
		struct rdmaez_diag diag;
		bool untouched;

		memset(&opts, 0, sizeof(opts));
		opts.optional = ranges[i].optional;
		for (size_t n = 0; n < COUNT_OF(good); n++) {
			set_member(&opts, ranges[i].option, good[n]);
			check_success(&diag, build(ranges[i].cell, &opts, &move, &diag, &untouched),
				      "%s of %lld", ranges[i].field, (long long)good[n]);
			tap_eq_int(get_member(&move.attr, ranges[i].sent), good[n], "%s is sent",
				   ranges[i].field);
		}
		for (size_t n = 0; n < (ranges[i].is_int ? 4u : 2u); n++) {
			set_member(&opts, ranges[i].option, bad[n]);
			check_refusal(&diag, build(ranges[i].cell, &opts, &move, &diag, &untouched),
				      EINVAL, ranges[i].reason, ranges[i].field, "%s of %lld",
				      ranges[i].field, (long long)bad[n]);
			tap_ok(untouched, "nothing is written");
			tap_eq_int((int64_t)diag.finding[0].value, bad[n], "the value given");
			tap_eq_int(diag.finding[0].kind,
				   ranges[i].max == 0xffffff ? RDMAEZ_VALUE_HEX
							     : RDMAEZ_VALUE_NUMBER,
				   "is a number, of 24 bits in hexadecimal");
			tap_eq_int(diag.finding[0].min, ranges[i].min, "the least accepted");
			tap_eq_int(diag.finding[0].max, ranges[i].max, "the greatest accepted");
			tap_eq_int(build(ranges[i].cell, &opts, &move, NULL, &untouched), EINVAL,
				   "and without a record");
		}
	}
}

/* A queue pair number as it comes from a machine with the other byte order. */
static void check_order(void)
{
	static const struct {
		uint32_t right, swapped;
	} numbers[] = {
		{107, 0x6b000000}, {0x123456, 0x56341200}, {0xffffff, 0xffffff00}, {2, 0x2000000}};
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;

	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		const uint32_t swapped = numbers[i].swapped, right = numbers[i].right;

		memset(&opts, 0, sizeof(opts));
		opts.dest_qp_num = swapped;
		CHECK_FINDINGS(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
			       "rdmaez_qp_attr", "a number in the other order",
			       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "dest_qp_num",
				RDMAEZ_VALUE_HEX, swapped, 0, 0xffffff},
			       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_QPN_SWAPPED, "dest_qp_num",
				RDMAEZ_VALUE_HEX, swapped, right, right});
	}
}

/* With the device known, its number of ports is the limit. */
static void check_ports(void)
{
	static const int ports[] = {RDMAEZ_ZERO, 3, 255, 256, -1};
	struct ibv_device_attr device;
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;

	memset(&device, 0, sizeof(device));
	device.phys_port_cnt = 2;
	memset(&opts, 0, sizeof(opts));
	opts.device_attr = &device;
	opts.port = 2;
	check_success(&diag, build(&to_init, &opts, &move, &diag, &untouched), "port 2 of two");
	tap_eq_int(move.attr.port_num, 2, "port 2 is sent");
	for (size_t i = 0; i < COUNT_OF(ports); i++) {
		opts.port = ports[i];
		check_refusal(&diag, build(&to_init, &opts, &move, &diag, &untouched), EINVAL,
			      RDMAEZ_WHY_PORT, "port_num", "port option %d of two ports", ports[i]);
		tap_eq_int((int64_t)diag.finding[0].value, ports[i] == RDMAEZ_ZERO ? 0 : ports[i],
			   "the port given");
		tap_eq_int(diag.finding[0].max, 2, "there are two");
	}

	/* The alternate path's port is the primary's unless it is given. */
	memset(&opts, 0, sizeof(opts));
	opts.port = 2;
	opts.optional = IBV_QP_ALT_PATH;
	tap_eq_int(build(&to_rtr, &opts, &move, NULL, &untouched), 0, "an alternate path is built");
	tap_eq_int(move.attr.ah_attr.port_num, 2, "the path has the port");
	tap_eq_int(move.attr.alt_ah_attr.port_num, 2, "the alternate path has it too");
	tap_eq_int(move.attr.alt_port_num, 2, "and says so twice");
	opts.alt_port = RDMAEZ_ZERO;
	check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_RANGE, "alt_ah_attr.port_num", "alternate port 0");
}

static void check_access(void)
{
	const struct cell uc = {IBV_QPT_UC, IBV_QPS_RESET, IBV_QPS_INIT, {true, 0, 0}, "UC"};
	struct ibv_device_attr device;
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;

	memset(&device, 0, sizeof(device));
	memset(&opts, 0, sizeof(opts));
	device.phys_port_cnt = 1; /* which limits the port, and no flag */
	opts.device_attr = &device;
	for (int bit = 0; bit < 32; bit++) {
		const bool for_qp = bit <= 4 || bit == 8 || bit == 9;

		opts.access = 1u << bit;
		if (for_qp) {
			check_success(&diag, build(&uc, &opts, &move, &diag, &untouched),
				      "access bit %d is for queue pairs", bit);
			tap_eq_hex(move.attr.qp_access_flags, 1u << bit, "and is sent");
			continue;
		}
		opts.access |= IBV_ACCESS_REMOTE_WRITE;
		check_refusal(&diag, build(&uc, &opts, &move, &diag, &untouched), EINVAL,
			      RDMAEZ_WHY_ACCESS_BITS, "qp_access_flags", "access bit %d", bit);
		tap_ok(untouched, "nothing is written");
		tap_eq_hex(diag.finding[0].value, 1u << bit, "the bit is named, and no other");
		tap_eq_hex(diag.finding[0].min, 0, "none need be there");
		tap_eq_hex(diag.finding[0].max, 0x31f, "and those accepted");
		tap_eq_int(diag.finding[0].kind, RDMAEZ_VALUE_ACCESS, "as access flags");
	}
}

/* The port's attributes decide about the GRH, and make a peer necessary. */
static void check_peer(void)
{
	struct ibv_port_attr port;
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;

	memset(&port, 0, sizeof(port));
	port.link_layer = IBV_LINK_LAYER_ETHERNET;
	port.gid_tbl_len = 4;
	memset(&opts, 0, sizeof(opts));
	opts.port_attr = &port;
	opts.dest_qp_num = 1;
	check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_GRH_MISSING, "ah_attr.grh.dgid", "no peer on Ethernet");
	opts.path.dgid = gid_of("2001:db8::9");
	opts.path.sgid_index = 4;
	check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_GID_INDEX, "ah_attr.grh.sgid_index", "row 4 of four");
	opts.path.sgid_index = 3;
	opts.dest_qp_num = 0;
	check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_RANGE, "dest_qp_num", "no peer's number");
	tap_eq_int(diag.finding[0].min, 1, "which is at least 1");
	opts.dest_qp_num = 1;
	check_success(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), "a peer on Ethernet");
	tap_eq_int(move.attr.ah_attr.is_global, 1, "with a GRH");
	tap_eq_int(move.attr.ah_attr.grh.sgid_index, 3, "from row 3");
	port.link_layer = IBV_LINK_LAYER_INFINIBAND;
	check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_PATH_EMPTY, "ah_attr.dlid", "no LID on InfiniBand");
	opts.path.dlid = 7;
	check_success(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), "a peer's LID");
	tap_eq_int(move.attr.ah_attr.is_global, 0, "without a GRH");

	/* The alternate path is judged by the port where it leaves by the same, else by nothing. */
	opts.optional = IBV_QP_ALT_PATH;
	check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_PATH_EMPTY, "alt_ah_attr.dlid", "no alternate LID on InfiniBand");
	opts.alt_port = 1;
	check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_PATH_EMPTY, "alt_ah_attr.dlid", "nor if its port is named");
	opts.alt_port = 2;
	check_success(&diag, build(&to_rtr, &opts, &move, &diag, &untouched),
		      "an alternate path by another port");
	opts.alt.flags = 0x10;
	check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_OPTION_UNKNOWN, "alt.flags", "a flag of the alternate path");
	opts.alt.flags = RDMAEZ_PATH_GRH;
	check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_GRH_MISSING, "alt_ah_attr.grh.dgid", "no alternate GID");
	opts.alt.dgid = gid_of("2001:db8::19");
	opts.alt.sl = 16;
	check_refusal(&diag, build(&to_rtr, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_RANGE, "alt_ah_attr.sl", "an alternate service level of 16");
}

static void check_wrong_calls(void)
{
	static const int bad_types[] = {-1,   0,    1,    5,       7,       11,
					0xf0, 0xf4, 0xfe, 256 + 2, INT_MAX, INT_MIN};
	static const int bad_states[] = {-1, 7, 8, 255, 256, INT_MAX, INT_MIN};
	struct cell cell = to_init;
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	bool untouched;

	check_refusal(&diag,
		      rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, NULL, NULL, &diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "move", "there must be an output");
	tap_eq_int(rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, NULL, NULL, NULL),
		   EINVAL, "also without a record");
	for (size_t i = 0; i < COUNT_OF(bad_types); i++) {
		cell.type = (enum ibv_qp_type)bad_types[i];
		check_refusal(&diag, build(&cell, NULL, &move, &diag, &untouched), EINVAL,
			      RDMAEZ_WHY_QP_TYPE, "qp_type", "type %d", bad_types[i]);
		tap_ok(untouched, "nothing is written");
	}
	cell = to_init;
	for (size_t i = 0; i < COUNT_OF(bad_states); i++) {
		cell.to = (enum ibv_qp_state)bad_states[i];
		check_refusal(&diag, build(&cell, NULL, &move, &diag, &untouched), EINVAL,
			      RDMAEZ_WHY_QP_STATE, "qp_state", "to state %d", bad_states[i]);
		tap_ok(untouched, "nothing is written");
		cell.from = cell.to;
		cell.to = IBV_QPS_INIT;
		check_refusal(&diag, build(&cell, NULL, &move, &diag, &untouched), EINVAL,
			      RDMAEZ_WHY_QP_STATE, "cur_qp_state", "from state %d", bad_states[i]);
		cell.from = IBV_QPS_RESET;
	}

	memset(&opts, 0, sizeof(opts));
	for (int bit = 2; bit < 32; bit++) {
		opts.flags = 1u << bit | RDMAEZ_QP_MTU_EXACT;
		check_refusal(&diag, build(&to_init, &opts, &move, &diag, &untouched), EINVAL,
			      RDMAEZ_WHY_OPTION_UNKNOWN, "opts.flags", "option flag bit %d", bit);
		tap_eq_hex(diag.finding[0].value, 1u << bit, "that bit is named");
		tap_eq_hex(diag.finding[0].min, 0, "none need be there");
		tap_eq_hex(diag.finding[0].max, RDMAEZ_QP_MTU_EXACT | RDMAEZ_QP_ECE,
			   "and the two there are");
		tap_ok(untouched, "nothing is written");
	}
	opts.flags = RDMAEZ_QP_MTU_EXACT | RDMAEZ_QP_ECE;
	check_success(&diag, build(&to_init, &opts, &move, &diag, &untouched), "the two there are");

	/* Values are not looked at where the mask or the flags are wrong. */
	opts = explicit_opts();
	opts.pkey_index = -1;
	opts.flags = 4;
	check_refusal(&diag, build(&to_init, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_OPTION_UNKNOWN, "opts.flags", "a wrong flag and a wrong value");
	opts.flags = 0;
	opts.optional = IBV_QP_CAP;
	check_refusal(&diag, build(&to_init, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_MASK_CAP, "attr_mask", "a wrong bit and a wrong value");

	/* Options that a transition does not send are not looked at. */
	opts = explicit_opts();
	opts.timeout = -1;
	opts.mtu = (enum ibv_mtu)4096;
	opts.rq_psn = UINT32_MAX;
	opts.path.sl = 255;
	opts.alt_timeout = 99;
	check_success(&diag, build(&to_init, &opts, &move, &diag, &untouched),
		      "what INIT does not send may be wrong");
}

/* What driver_type says for IBV_QPT_DRIVER, and what it must not say. */
static void check_driver_type(void)
{
	static const int others[] = {-1, 1, IBV_QPT_RC, 0xf0, 0xf4, IBV_QPT_DRIVER, 256 + 0xf1};
	struct cell cell = to_init;
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move told, named;
	struct rdmaez_diag diag;
	bool untouched;

	memset(&opts, 0, sizeof(opts));
	for (int t = RULES_KERNEL_TYPES; t < RULES_TYPES; t++) {
		cell.type = rules_type[t];
		check_success(NULL, build(&cell, &opts, &named, NULL, &untouched), "%s by name",
			      rdmaez_qp_type_str(cell.type));
		opts.driver_type = rules_type[t];
		check_success(NULL, build(&cell, &opts, &named, NULL, &untouched),
			      "and with its name in the options as well");
		cell.type = IBV_QPT_DRIVER;
		check_success(&diag, build(&cell, &opts, &told, &diag, &untouched),
			      "IBV_QPT_DRIVER, and the options tell");
		tap_ok(told.attr_mask == named.attr_mask &&
			       !attr_difference(&told.attr, &named.attr),
		       "the same is built");
		tap_eq_int(diag.qp_type, rules_type[t], "the record tells what it is");
		cell.type = rules_type[t] == RDMAEZ_QPT_SRD ? RDMAEZ_QPT_DCI : RDMAEZ_QPT_SRD;
		CHECK_FINDINGS(&diag, build(&cell, &opts, &told, &diag, &untouched), EINVAL,
			       "rdmaez_qp_attr", "two different driver types",
			       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DRIVER_TYPE_UNFIT, "opts.driver_type",
				RDMAEZ_VALUE_TYPE, (uint64_t)rules_type[t], 0, 0});
		cell.type = IBV_QPT_RC;
		CHECK_FINDINGS(&diag, build(&cell, &opts, &told, &diag, &untouched), EINVAL,
			       "rdmaez_qp_attr", "RC has no driver type",
			       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DRIVER_TYPE_UNFIT, "opts.driver_type",
				RDMAEZ_VALUE_TYPE, (uint64_t)rules_type[t], 0, 0});
		tap_ok(untouched, "nothing is written");
		opts.driver_type = (enum ibv_qp_type)0;
	}
	cell.type = IBV_QPT_DRIVER;
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		opts.driver_type = (enum ibv_qp_type)others[i];
		CHECK_FINDINGS(&diag, build(&cell, &opts, &told, &diag, &untouched), EINVAL,
			       "rdmaez_qp_attr", "a number that is no driver type",
			       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DRIVER_TYPE_UNFIT, "opts.driver_type",
				RDMAEZ_VALUE_TYPE, (uint64_t)(int64_t)others[i], 0, 0});
	}
	opts.driver_type = IBV_QPT_RC;
	cell.type = IBV_QPT_RC;
	tap_eq_int(build(&cell, &opts, &told, NULL, &untouched), EINVAL, "RC is none, even to RC");

	opts.driver_type = (enum ibv_qp_type)0;
	cell.type = IBV_QPT_DRIVER;
	CHECK_FINDINGS(&diag, build(&cell, &opts, &told, &diag, &untouched), EINVAL,
		       "rdmaez_qp_attr", "IBV_QPT_DRIVER, and nothing tells",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DRIVER_TYPE_UNTOLD, "opts.driver_type",
			RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_int(diag.qp_type, IBV_QPT_DRIVER, "the record tells no more than there is to tell");
	for (int from = IBV_QPS_RESET; from <= IBV_QPS_ERR; from++) {
		cell.from = (enum ibv_qp_state)from;
		cell.to = IBV_QPS_RESET;
		check_success(&diag, build(&cell, NULL, &told, &diag, &untouched),
			      "to RESET from %s it need not be told",
			      rdmaez_qp_state_str(cell.from));
		tap_eq_hex(told.attr_mask, IBV_QP_STATE, "the state, and nothing else");
		cell.to = IBV_QPS_ERR;
		tap_eq_int(build(&cell, NULL, &told, &diag, &untouched), from ? 0 : EINVAL,
			   "nor to ERR, except from RESET");
	}
}

/* The address vector of mlx5's own types is that of their own end. */
static void check_own_end(void)
{
	const struct cell cell = {
		RDMAEZ_QPT_DCT, IBV_QPS_INIT, IBV_QPS_RTR, {true, 0, 0}, "DCT INIT to RTR"};
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	struct ibv_port_attr port;
	struct rdmaez_diag diag;
	bool untouched;

	memset(&opts, 0, sizeof(opts));
	memset(&port, 0, sizeof(port));
	port.gid_tbl_len = 8;
	port.active_mtu = IBV_MTU_4096;
	opts.port_attr = &port;
	port.link_layer = IBV_LINK_LAYER_INFINIBAND;
	check_success(&diag, build(&cell, &opts, &move, &diag, &untouched),
		      "a DCT on InfiniBand, with no destination at all");
	tap_eq_int(move.attr.ah_attr.is_global, 0, "has no GRH");
	tap_eq_int(move.attr.ah_attr.port_num, 1, "leaves by port 1");
	tap_eq_int(move.attr.path_mtu, IBV_MTU_4096, "and has the port's active MTU");
	port.link_layer = IBV_LINK_LAYER_ETHERNET;
	opts.path.sgid_index = 3;
	opts.path.traffic_class = 106;
	check_success(&diag, build(&cell, &opts, &move, &diag, &untouched),
		      "a DCT on Ethernet, with a GID index and no destination");
	tap_eq_int(move.attr.ah_attr.is_global, 1, "has a GRH");
	tap_eq_int(move.attr.ah_attr.grh.sgid_index, 3, "with the GID index");
	tap_eq_int(move.attr.ah_attr.grh.hop_limit, 64, "64 hops");
	tap_eq_int(move.attr.ah_attr.grh.traffic_class, 106, "and the traffic class");
	tap_ok(rdmaez_gid_is_zero(&move.attr.ah_attr.grh.dgid), "to nowhere");
	opts.path.sgid_index = 8;
	check_refusal(&diag, build(&cell, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_GID_INDEX, "ah_attr.grh.sgid_index", "a GID index that is none");
	opts.path.sgid_index = RDMAEZ_ZERO;
	opts.port_attr = NULL;
	check_success(&diag, build(&cell, &opts, &move, &diag, &untouched),
		      "the port is not known, and a GID index is given");
	tap_eq_int(move.attr.ah_attr.is_global, 1, "so there is a GRH");
	tap_eq_int(move.attr.ah_attr.grh.sgid_index, 0, "with GID index 0");
	opts.path.sl = 16;
	check_refusal(&diag, build(&cell, &opts, &move, &diag, &untouched), EINVAL,
		      RDMAEZ_WHY_RANGE, "ah_attr.sl", "the rest is judged as ever");
}

/* Each attribute that may change where a state stays, one at a time: the fake keeps what it is told. */
static void check_kept(enum ibv_qp_state state)
{
	const struct rdmaez_qp_rule rule = rdmaez_qp_rule(IBV_QPT_RC, state, state);
	const int without_value =
		IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ALT_PATH; /* on RoCE there is none */

	for (int i = 0; i < 31; i++) {
		struct rdmaez_qp_opts opts = explicit_opts();
		struct fake_device *dev = fake_reset();
		struct ibv_qp *qp = fake_qp(fake_open(dev), IBV_QPT_RC);
		struct ibv_qp_attr before;
		struct rdmaez_qp_move move;

		if (!(rule.optional & ~without_value & 1 << i))
			continue;
		dev->ports = 2;
		fake_qp_force(qp, state);
		before = *fake_qp_true(qp);
		opts.optional = 1 << i;
		opts.pkey_index = 1;
		opts.path.sgid_index = 3;
		opts.path.dgid = gid_of("::ffff:192.0.2.9");
		tap_ok(!rdmaez_qp_attr(IBV_QPT_RC, state, state, &opts, &move, NULL) &&
			       !ibv_modify_qp(qp, &move.attr, move.attr_mask),
		       "within %s the fake takes %s", rdmaez_qp_state_str(state),
		       rdmaez_qp_attr_str(1 << i));
		tap_ok(attr_difference(&before, fake_qp_true(qp)), "and keeps it");
	}
}

int main(void)
{
	tap_eq_int(rules_read(RULES_KERNEL, table) + rules_read(RULES_DRIVERS, table), 174,
		   "the tables have 174 transitions");
	each_cell(check_defaults);
	each_cell(check_optional_together);
	each_cell(check_optional_bits);
	each_cell(check_rights);
	check_extra();
	check_times();
	check_really_zero();
	check_depths();
	check_mtu();
	check_ranges();
	check_order();
	check_ports();
	check_access();
	check_peer();
	check_wrong_calls();
	check_driver_type();
	check_own_end();
	check_kept(IBV_QPS_INIT);
	check_kept(IBV_QPS_RTS);
	check_kept(IBV_QPS_SQD);
	return tap_done();
}
