/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs of driver types, moved against the fake as the drivers treat them: efa's SRD, mlx5's DCI and DCT.
 * And a rate limit for RC, which is the kernel's to judge.
 */
#include "check.h"
#include "findings.h"
#include "fixture.h"

static struct fake_device *dev;
static struct ibv_context *ctx;
static struct rdmaez_diag diag;

static void start(enum fake_profile profile, const char *release)
{
	dev = fixture_device(profile, release);
	ctx = fake_open(dev);
	memset(&diag, 0xa5, sizeof(diag));
}

static struct rdmaez_qp_opts opts_of(enum ibv_qp_type type)
{
	struct rdmaez_qp_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.driver_type = type;
	return opts;
}

static struct ibv_qp_attr attr_to(enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = state;
	return attr;
}

/* The move succeeded, and sent this and nothing else. */
static void check_moved(const struct ibv_qp *qp, int error, int mask,
			const struct ibv_qp_attr *attr, const char *name)
{
	const struct fake_call *call = fake_last(FAKE_MODIFY_QP);

	check_success(&diag, error, "%s", name);
	tap_eq_hex(call ? call->attr_mask : 0, mask, "%s: the mask sent", name);
	tap_eq_str(call ? attr_difference(&call->arg.qp_attr, attr) : "nothing", NULL,
		   "%s: and every attribute", name);
	tap_eq_int(qp->state, attr->qp_state, "%s: qp->state", name);
	tap_eq_int(fake_qp_true(qp)->qp_state, attr->qp_state, "%s: and the true one", name);
}

static void check_srd(void)
{
	struct rdmaez_qp_opts opts = opts_of(RDMAEZ_QPT_SRD);
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	start(FAKE_PROFILE_EFA, "6.12.0-fake");
	qp = fake_qp_driver(ctx, FAKE_SRD);
	fake_reset_log();
	attr = attr_to(IBV_QPS_INIT);
	attr.port_num = 1;
	attr.qkey = 0x11111111;
	check_moved(qp, rdmaez_qp_to_init(qp, &opts, &diag),
		    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, &attr,
		    "SRD to INIT");
	attr = attr_to(IBV_QPS_RTR);
	check_moved(qp, rdmaez_qp_to_rtr(qp, &opts, &diag), IBV_QP_STATE, &attr, "SRD to RTR");
	attr = attr_to(IBV_QPS_RTS);
	attr.sq_psn = 0x123456;
	attr.rnr_retry = 3;
	opts.optional = IBV_QP_RNR_RETRY;
	opts.sq_psn = 0x123456;
	opts.rnr_retry = 3;
	check_moved(qp, rdmaez_qp_to_rts(qp, &opts, &diag),
		    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RNR_RETRY, &attr, "SRD to RTS");
	attr = attr_to(IBV_QPS_SQD);
	attr.en_sqd_async_notify = 1;
	opts.optional = IBV_QP_EN_SQD_ASYNC_NOTIFY;
	check_moved(qp, rdmaez_qp_to_sqd(qp, &opts, &diag),
		    IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY, &attr, "SRD to SQD");
	attr = attr_to(IBV_QPS_ERR);
	check_moved(qp, rdmaez_qp_to_err(qp, &diag), IBV_QP_STATE, &attr, "SRD to ERR");
	tap_eq_int(fake_count(FAKE_ANY), 5, "five moves, five calls");
	attr = attr_to(IBV_QPS_RESET);
	check_moved(qp, rdmaez_qp_to_reset(qp, &diag), IBV_QP_STATE, &attr, "SRD to RESET");
	check_moved(qp, rdmaez_qp_to_reset(qp, &diag), IBV_QP_STATE, &attr, "and again");
}

static void check_dci(void)
{
	struct rdmaez_qp_opts opts = opts_of(RDMAEZ_QPT_DCI);
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	start(FAKE_PROFILE_MLX5, "6.12.0-fake");
	qp = fake_qp_driver(ctx, FAKE_DCI);
	fake_reset_log();
	attr = attr_to(IBV_QPS_INIT);
	attr.port_num = 1;
	check_moved(qp, rdmaez_qp_to_init(qp, &opts, &diag),
		    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT, &attr, "DCI to INIT");
	attr.port_num = 0;
	check_moved(qp, rdmaez_qp_to_init(qp, &opts, &diag), IBV_QP_STATE, &attr,
		    "DCI within INIT");
	tap_eq_int(fake_count(FAKE_ANY), 2, "neither asks anything");
	dev->port[1].attr.active_mtu = IBV_MTU_4096;
	attr = attr_to(IBV_QPS_RTR);
	attr.path_mtu = IBV_MTU_4096;
	check_moved(qp, rdmaez_qp_to_rtr(qp, &opts, &diag), IBV_QP_STATE | IBV_QP_PATH_MTU, &attr,
		    "DCI to RTR");
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "the port is asked for its MTU");
	tap_eq_int(fake_count(FAKE_ANY), 4, "and nothing else");
	attr = attr_to(IBV_QPS_RTS);
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 16;
	check_moved(qp, rdmaez_qp_to_rts(qp, &opts, &diag),
		    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			    IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN,
		    &attr, "DCI to RTS");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "the device is asked for its depth");
	attr = attr_to(IBV_QPS_RTS);
	attr.min_rnr_timer = 12;
	opts.optional = IBV_QP_MIN_RNR_TIMER;
	check_moved(qp, rdmaez_qp_to_rts(qp, &opts, &diag), IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER,
		    &attr, "DCI within RTS");
	CHECK_FINDINGS(&diag, rdmaez_qp_to_sqd(qp, &opts, &diag), EINVAL, "rdmaez_qp_to_sqd",
		       "a DCI has no SQD",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_TRANSITION, "qp_state", RDMAEZ_VALUE_STATE,
			IBV_QPS_SQD, 0,
			1u << IBV_QPS_RESET | 1u << IBV_QPS_ERR | 1u << IBV_QPS_RTS});
	tap_eq_int(diag.qp_type, (int)RDMAEZ_QPT_DCI, "the record tells that it is one");
	attr = attr_to(IBV_QPS_ERR);
	check_moved(qp, rdmaez_qp_to_err(qp, &diag), IBV_QP_STATE, &attr, "DCI to ERR");
	attr = attr_to(IBV_QPS_RESET);
	check_moved(qp, rdmaez_qp_to_reset(qp, &diag), IBV_QP_STATE, &attr, "DCI to RESET");

	/* With an address vector. */
	opts = opts_of(RDMAEZ_QPT_DCI);
	opts.optional = IBV_QP_AV;
	opts.path.traffic_class = 106;
	rdmaez_qp_to_init(qp, NULL, NULL);
	tap_eq_int(qp->state, IBV_QPS_RESET, "without options it goes nowhere");
	opts.optional = 0;
	check_success(&diag, rdmaez_qp_to_init(qp, &opts, &diag), "DCI to INIT again");
	opts.optional = IBV_QP_AV;
	attr = attr_to(IBV_QPS_RTR);
	attr.path_mtu = IBV_MTU_4096;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.sgid_index = 3;
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.grh.traffic_class = 106;
	check_moved(qp, rdmaez_qp_to_rtr(qp, &opts, &diag),
		    IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_AV, &attr,
		    "DCI to RTR with an address vector");
}

/* A DCT in INIT, from which it is moved on. */
static struct ibv_qp *dct_in_init(const struct rdmaez_qp_opts *opts)
{
	struct ibv_qp *qp = fake_qp_driver(ctx, FAKE_DCT);
	struct ibv_qp_attr attr = attr_to(IBV_QPS_INIT);

	attr.port_num = 1;
	attr.qp_access_flags = opts->access;
	check_moved(qp, rdmaez_qp_to_init(qp, opts, &diag),
		    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, &attr,
		    "DCT to INIT");
	fake_reset_log();
	return qp;
}

static void check_dct(void)
{
	const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER;
	struct rdmaez_qp_opts opts = opts_of(RDMAEZ_QPT_DCT);
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTR);
	struct ibv_qp *qp;

	start(FAKE_PROFILE_MLX5, "6.12.0-fake");
	opts.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	qp = dct_in_init(&opts);
	attr.path_mtu = IBV_MTU_1024;
	attr.min_rnr_timer = 12;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.sgid_index = 3;
	attr.ah_attr.grh.hop_limit = 64;
	tap_eq_int(qp->qp_num, 0, "a DCT has no number in INIT");
	check_moved(qp, rdmaez_qp_to_rtr(qp, &opts, &diag), mask, &attr,
		    "DCT to RTR, with the GID index that is best for any peer");
	tap_ok(qp->qp_num, "and a number in RTR");
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "the port is asked");
	tap_eq_int(fake_count(FAKE_ANY), 3, "and its GIDs");

	qp = dct_in_init(&opts);
	attr.ah_attr.grh.sgid_index = 5;
	opts.path.sgid_index = 5;
	check_moved(qp, rdmaez_qp_to_rtr(qp, &opts, &diag), mask, &attr,
		    "DCT to RTR with a GID index");
	tap_eq_int(fake_count(FAKE_ANY), 2, "which asks no GID");

	qp = dct_in_init(&opts);
	opts.path.sgid_index = 0;
	opts.path.dgid = gid_of("2001:db8::9");
	attr.ah_attr.grh.dgid = opts.path.dgid;
	check_moved(qp, rdmaez_qp_to_rtr(qp, &opts, &diag), mask, &attr,
		    "DCT to RTR with a peer, for which its GID index is chosen");

	/* From RTR it goes nowhere. */
	fake_reset_log();
	CHECK_FINDINGS(
		&diag, rdmaez_qp_to_rts(qp, &opts, &diag), EINVAL, "rdmaez_qp_to_rts",
		"a DCT does not send",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DCT_FINAL, "qp_state", RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_int(fake_count(FAKE_ANY), 0, "nothing is tried");
	tap_eq_int(rdmaez_qp_to_err(qp, &diag), EINVAL, "nor does it go to ERR");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_DCT_FINAL), "it is told why");
	tap_eq_int(rdmaez_diag_find(&diag, RDMAEZ_WHY_DCT_FINAL)->severity, RDMAEZ_DIAG_LIKELY,
		   "as likely, for nobody said that it is a DCT");
	tap_eq_str(rdmaez_diag_find(&diag, RDMAEZ_WHY_DCT_FINAL)->field, "ibv_modify_qp",
		   "and the verb has said so");
	tap_eq_str(diag.verb, "ibv_modify_qp", "the kernel was asked");
	tap_eq_int(rdmaez_qp_to_reset(qp, &diag), EINVAL, "nor to RESET");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_DCT_FINAL), "which is told, too");
	tap_eq_int(rdmaez_qp_to_reset(qp, NULL), EINVAL, "nor without a record");
	tap_eq_int(qp->state, IBV_QPS_RTR, "it is in RTR still");

	/* On InfiniBand it needs no GRH. */
	start(FAKE_PROFILE_MLX5, "6.12.0-fake");
	fake_port_infiniband(&dev->port[1]);
	opts = opts_of(RDMAEZ_QPT_DCT);
	qp = dct_in_init(&opts);
	attr = attr_to(IBV_QPS_RTR);
	attr.path_mtu = dev->port[1].attr.active_mtu;
	attr.min_rnr_timer = 12;
	attr.ah_attr.port_num = 1;
	check_moved(qp, rdmaez_qp_to_rtr(qp, &opts, &diag), mask, &attr,
		    "DCT to RTR on InfiniBand");
	tap_eq_int(fake_count(FAKE_ANY), 2, "which asks no GID either");

	/* No GID at all. */
	start(FAKE_PROFILE_MLX5, "6.12.0-fake");
	opts = opts_of(RDMAEZ_QPT_DCT);
	qp = dct_in_init(&opts);
	dev->port[1].attr.gid_tbl_len = 0;
	CHECK_FINDINGS(&diag, rdmaez_qp_to_rtr(qp, &opts, &diag), EADDRNOTAVAIL, "rdmaez_qp_to_rtr",
		       "a port without a GID",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_GID_NONE, "ah_attr.grh.sgid_index",
			RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "nothing is tried");
}

typedef int move_fn(struct ibv_qp *, const struct rdmaez_qp_opts *, struct rdmaez_diag *);

/* The options do not tell, or tell of a queue pair that verbs have a type for. */
static void check_untold(void)
{
	static move_fn *const moves[] = {rdmaez_qp_to_init, rdmaez_qp_to_rtr, rdmaez_qp_to_rts,
					 rdmaez_qp_to_sqd};
	static const char *const names[] = {"rdmaez_qp_to_init", "rdmaez_qp_to_rtr",
					    "rdmaez_qp_to_rts", "rdmaez_qp_to_sqd"};
	const struct rdmaez_qp_opts none = opts_of((enum ibv_qp_type)0);
	const struct rdmaez_qp_opts srd = opts_of(RDMAEZ_QPT_SRD);
	struct ibv_qp *qp, *rc;

	start(FAKE_PROFILE_MLX5, "6.12.0-fake");
	qp = fake_qp_driver(ctx, FAKE_DCI);
	rc = fake_qp(ctx, IBV_QPT_RC);
	fake_reset_log();
	for (size_t i = 0; i < COUNT_OF(moves); i++) {
		CHECK_FINDINGS(&diag, moves[i](qp, &none, &diag), EINVAL, names[i],
			       "a driver's queue pair, and nobody tells",
			       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DRIVER_TYPE_UNTOLD,
				"opts.driver_type", RDMAEZ_VALUE_NONE, 0, 0, 0});
		tap_eq_int(moves[i](qp, NULL, NULL), EINVAL, "nor without options or record");
		CHECK_FINDINGS(&diag, moves[i](rc, &srd, &diag), EINVAL, names[i],
			       "an RC queue pair, called SRD",
			       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DRIVER_TYPE_UNFIT, "opts.driver_type",
				RDMAEZ_VALUE_TYPE, 0xf1, 0, 0});
		tap_eq_int(diag.qp_type, IBV_QPT_RC, "the record knows better");
	}
	CHECK_FINDINGS(&diag, rdmaez_qp_to_err(qp, &diag), EINVAL, "rdmaez_qp_to_err",
		       "from RESET to ERR",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_TRANSITION, "qp_state", RDMAEZ_VALUE_STATE,
			IBV_QPS_ERR, 0, 1u << IBV_QPS_RESET | 1u << IBV_QPS_INIT});
	tap_eq_int(fake_count(FAKE_ANY), 0, "no verb was called");
}

/* A rate limit, from RESET to RTS and once more: the kernel is asked where a driver of Linux 7 may take it. */
static void check_rate(enum fake_profile profile, const char *release, enum ibv_qp_type type,
		       bool taken, int error)
{
	struct rdmaez_qp_opts opts = opts_of((enum ibv_qp_type)0);
	struct rdmaez_qp_opts plain;
	struct ibv_qp *qp;

	start(profile, release);
	qp = fake_qp(ctx, type);
	opts.dest_qp_num = 9;
	opts.path.dgid = gid_of("::ffff:192.0.2.9");
	opts.rate_limit = 1000000;
	plain = opts;
	opts.optional = IBV_QP_RATE_LIMIT;
	if (type == IBV_QPT_RC || type == IBV_QPT_RAW_PACKET) {
		check_success(&diag, rdmaez_qp_to_init(qp, &opts, &diag), "on the way to INIT");
		tap_eq_hex(fake_last(FAKE_MODIFY_QP)->attr_mask & IBV_QP_RATE_LIMIT, 0,
			   "it is left for later");
	} else {
		check_refusal(&diag, rdmaez_qp_to_init(qp, &opts, &diag), EINVAL,
			      RDMAEZ_WHY_MASK_RATE_LIMIT, "attr_mask", "on the way to INIT");
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "nobody takes it, so nothing is tried");
		if (rdmaez_qp_to_init(qp, &plain, NULL))
			tap_bail("no way to INIT");
	}
	for (int i = 0; i < 3; i++) {
		move_fn *const move = i ? rdmaez_qp_to_rts : rdmaez_qp_to_rtr;

		fake_reset_log();
		tap_eq_int(move(qp, &opts, &diag), error, "step %d: %s", i,
			   rdmaez_errno_str(error));
		tap_eq_int(fake_count(FAKE_MODIFY_QP), taken,
			   "step %d: the kernel was asked, or not", i);
		if (error) {
			tap_ok(release[0] == '7' ||
				       rdmaez_diag_find(&diag, RDMAEZ_WHY_MASK_RATE_LIMIT),
			       "step %d: it is told that Linux 6 refuses the rate limit", i);
			if (move(qp, &plain, NULL))
				tap_bail("no way on");
		} else {
			tap_eq_int(fake_qp_true(qp)->rate_limit, 1000000, "step %d: it is set", i);
		}
	}
	if (profile == FAKE_PROFILE_RXE) {
		if (rdmaez_qp_to_sqd(qp, &plain, NULL))
			tap_bail("no way to SQD");
		fake_reset_log();
		check_refusal(&diag, rdmaez_qp_to_rts(qp, &opts, &diag), EINVAL,
			      RDMAEZ_WHY_MASK_RATE_LIMIT, "attr_mask", "back from SQD");
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "nobody takes it there, either");
	}
	check_refusal(&diag,
		      rdmaez_qp_attr(type, IBV_QPS_INIT, IBV_QPS_RTR, &opts,
				     &(struct rdmaez_qp_move){.attr_mask = 0}, &diag),
		      EINVAL, RDMAEZ_WHY_MASK_RATE_LIMIT, "attr_mask",
		      "the builder says as Linux 6");
}

int main(void)
{
	check_srd();
	check_dci();
	check_dct();
	check_untold();
	check_rate(FAKE_PROFILE_BNXT_RE, "7.2.0-fake", IBV_QPT_RC, true, 0);
	check_rate(FAKE_PROFILE_IONIC, "7.2.0-fake", IBV_QPT_RC, true,
		   EOPNOTSUPP); /* its library */
	check_rate(FAKE_PROFILE_BNXT_RE, "6.12.0-fake", IBV_QPT_RC, true, EOPNOTSUPP);
	check_rate(FAKE_PROFILE_RXE, "6.12.0-fake", IBV_QPT_RC, true, EOPNOTSUPP);
	check_rate(FAKE_PROFILE_RXE, "6.12.0-fake", IBV_QPT_UC, false, EINVAL);
	fake_close_all();
	return tap_done();
}
