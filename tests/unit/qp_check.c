/* SPDX-License-Identifier: MIT */
/*
 * rdmaez_qp_check() on the fake, which has the types and drivers that no software device has: the
 * answer to random requests is foreseen, and every mistake is told by reason, severity and field.
 * (tests/device/random_check.c does the first on a real kernel.)
 */
#include "fake_verbs.h"
#include "random_request.h"

static const enum ibv_qp_type types[] = {
	IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV,
};

/* Drivers by their ids, and the quirks that make the fake behave like them. */
static const struct model {
	const char *driver;
	uint32_t vendor_id;
	uint32_t part_id;
	uint32_t quirks;
	bool infiniband;
} models[] = {
	{"mlx4_ib", 0x2c9, 0x1003, FAKE_PRIVILEGED_QKEY, false},
	{"mlx4_ib", 0x2c9, 0x1003, FAKE_PRIVILEGED_QKEY, true},
	{"mlx5_ib", 0x2c9, 0x1017, FAKE_PRIVILEGED_QKEY | FAKE_NO_SQD | FAKE_EXTENDED_MODIFY,
	 false},
	{"mlx5_ib", 0x2c9, 0xa2d6, FAKE_PRIVILEGED_QKEY | FAKE_NO_SQD | FAKE_EXTENDED_MODIFY, true},
	{"hns_roce", 0x19e5, 0xa222,
	 FAKE_PRIVILEGED_QKEY | FAKE_CUR_STATE_EQUAL | FAKE_NO_SQD | FAKE_MTU_UP_TO_ACTIVE, false},
};

static struct fake_device *dev;
static struct ibv_context *context;

static void start(const struct model *model)
{
	dev = fake_reset();
	dev->attr.orig_attr.vendor_id = model->vendor_id;
	dev->attr.orig_attr.vendor_part_id = model->part_id;
	dev->quirks = model->quirks;
	if (model->infiniband)
		fake_port_infiniband(&dev->port[1]);
	context = fake_open(dev);
}

static void foresee(const struct model *model)
{
	tap_eq_str(rdmaez_driver_of(&dev->attr.orig_attr)->name, model->driver,
		   "%s is recognised by its ids", model->driver);
	for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
		struct tally tally;
		char name[64];

		memset(&tally, 0, sizeof(tally));
		tally.keeps_port = true;
		/* It may be an underlay queue pair, which is told by nothing. */
		tally.own_reasons = types[t] == IBV_QPT_UD && model->infiniband &&
				    model->quirks & FAKE_NO_SQD;
		for (int i = 0; i < 60; i++) {
			struct ibv_qp *qp;

			start(model);
			if (rdmaez_port_gids(context, 1, gids, 64, &gid_count, NULL))
				tap_bail("no GIDs");
			qp = fake_qp(context, types[t]);
			for (int j = 0; j < 100; j++)
				one_request(qp, &tally);
		}
		snprintf(name, sizeof(name), "%s%s, %s", model->driver,
			 model->infiniband ? " on InfiniBand" : "", rdmaez_qp_type_str(types[t]));
		judge(&tally, name);
	}
}

/* ---- Mistakes, one by one ----------------------------------------------------------------- */

/* A right request for the transition, to be spoilt. */
static struct rdmaez_qp_move right(struct ibv_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to)
{
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;

	memset(&opts, 0, sizeof(opts));
	opts.path.dgid.raw[10] = opts.path.dgid.raw[11] = 0xff;
	opts.path.dgid.raw[12] = 192;
	opts.path.dgid.raw[15] = 9;
	opts.path.sgid_index = 3;
	opts.dest_qp_num = 17;
	memset(&move, 0, sizeof(move));
	if (rdmaez_qp_attr(qp->qp_type, from, to, &opts, &move, NULL))
		tap_bail("no right request for %s to %s", rdmaez_qp_state_str(from),
			 rdmaez_qp_state_str(to));
	return move;
}

/* A queue pair brought to a state by right requests. */
static struct ibv_qp *qp_in(enum ibv_qp_type type, enum ibv_qp_state state)
{
	static const enum ibv_qp_state way[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
						IBV_QPS_RTS, IBV_QPS_SQD};
	struct ibv_qp *qp = fake_qp(context, type);

	for (int i = 1; i < 5 && qp->state != state; i++) {
		struct rdmaez_qp_move move = right(qp, way[i - 1], way[i]);

		if (ibv_modify_qp(qp, &move.attr, move.attr_mask))
			tap_bail("cannot bring a queue pair to %s", rdmaez_qp_state_str(way[i]));
	}
	return qp;
}

static void expect(struct ibv_qp *qp, struct rdmaez_qp_move *move, int error,
		   enum rdmaez_why reason, enum rdmaez_severity severity, const char *field,
		   const char *what)
{
	const struct rdmaez_finding *finding;
	struct rdmaez_diag diag;
	unsigned int calls = fake_count(FAKE_MODIFY_QP);

	tap_eq_int(rdmaez_qp_check(qp, &move->attr, move->attr_mask, &diag), error,
		   "%s: check answers %s", what, rdmaez_errno_str(error));
	tap_eq_int(rdmaez_qp_check(qp, &move->attr, move->attr_mask, NULL), error,
		   "%s: also without a record", what);
	tap_eq_int(fake_count(FAKE_MODIFY_QP), calls, "%s: nothing was modified", what);
	finding = rdmaez_diag_find(&diag, reason);
	if (!tap_ok(finding, "%s: the reason is %s", what, rdmaez_why_id(reason))) {
		char text[4096];

		rdmaez_diag_format(&diag, text, sizeof(text));
		tap_diag("%s", text);
		return;
	}
	tap_eq_int(finding->severity, severity, "%s: with the right severity", what);
	tap_eq_str(finding->field, field, "%s: of %s", what, field);
	for (unsigned int i = 1; i < diag.count; i++)
		if (diag.finding[i - 1].severity > diag.finding[i].severity)
			tap_ok(false, "%s: errors come before advice", what);
}

#define MLX4 (&models[0])
#define MLX5 (&models[2])
#define HNS  (&models[4])

/* Makes a right request on a fresh device, spoils it by a statement, and expects a finding. */
#define MISTAKE(model, type, from, to, spoilt, error, reason, severity, field)               \
	do {                                                                                 \
		start(model);                                                                \
		struct ibv_qp *qp = qp_in(type, from);                                       \
		struct rdmaez_qp_move move = right(qp, from, to);                            \
		struct ibv_qp_attr *attr = &move.attr;                                       \
		(void)attr;                                                                  \
		spoilt;                                                                      \
		expect(qp, &move, error, RDMAEZ_WHY_##reason, RDMAEZ_DIAG_##severity, field, \
		       #reason ": " #spoilt);                                                \
	} while (0)

#define RESET IBV_QPS_RESET
#define INIT  IBV_QPS_INIT
#define RTR   IBV_QPS_RTR
#define RTS   IBV_QPS_RTS
#define SQD   IBV_QPS_SQD
#define RC    IBV_QPT_RC
#define UC    IBV_QPT_UC
#define UD    IBV_QPT_UD

/* As if requests were still on their way. */
static void drain(const struct ibv_qp *qp)
{
	struct ibv_qp_attr *truth;

	memcpy(&truth, &(const struct ibv_qp_attr *){fake_qp_true(qp)}, sizeof(truth));
	truth->sq_draining = 1;
}

static void refusals(void)
{
	static const struct model siw = {"siw", 0x626d74, 1, 0, false};
	static const struct model plain = {"unknown", 1, 1, 0, false};
	static const struct model efa = {"efa", 0x1d0f, 0, 0, false};
	static const struct model strict = {"hfi1", 0x1175, 0, FAKE_STRICT_RANGES, false};
	static const struct model rxe = {"rdma_rxe", 0xffffff, 0, FAKE_NO_ROCE_V1, false};

	MISTAKE(MLX4, RC, INIT, RTR, attr->qp_state = RTS, EINVAL, TRANSITION, ERROR, "qp_state");
	MISTAKE(MLX4, RC, INIT, RTR, move.attr_mask &= ~IBV_QP_DEST_QPN, EINVAL, MASK_MISSING,
		ERROR, "attr_mask");
	MISTAKE(MLX4, RC, RTR, RTS, move.attr_mask |= IBV_QP_PATH_MTU, EINVAL, MASK_NOT_ALLOWED,
		ERROR, "attr_mask");
	MISTAKE(MLX4, RC, RTR, RTS, move.attr_mask |= IBV_QP_CAP, EINVAL, MASK_CAP, ERROR,
		"attr_mask");
	MISTAKE(MLX4, RC, RTR, RTS, move.attr_mask |= 1 << 21, EOPNOTSUPP, MASK_UNKNOWN, ERROR,
		"attr_mask");
	MISTAKE(MLX4, RC, RTR, RTS, move.attr_mask |= IBV_QP_RATE_LIMIT, EOPNOTSUPP,
		MASK_RATE_LIMIT, ERROR, "attr_mask");
	MISTAKE(MLX4, IBV_QPT_XRC_SEND, RTR, RTS, move.attr_mask |= IBV_QP_MIN_RNR_TIMER, 0,
		MASK_DROPPED, ADVICE, "attr_mask");
	MISTAKE(&efa, UD, RESET, INIT, move.attr_mask |= IBV_QP_TIMEOUT, EINVAL, MASK_DRIVER, ERROR,
		"attr_mask");
	MISTAKE(MLX4, RC, INIT, RTR, attr->qp_state = (enum ibv_qp_state)7, EINVAL, QP_STATE, ERROR,
		"qp_state");
	MISTAKE(MLX4, RC, RESET, INIT, attr->port_num = 2, EINVAL, PORT, ERROR, "port_num");
	MISTAKE(MLX4, RC, RESET, INIT, attr->port_num = 0, EINVAL, PORT, ERROR, "port_num");
	MISTAKE(MLX4, RC, INIT, RTR, attr->ah_attr.port_num = 9, EINVAL, PORT, ERROR,
		"ah_attr.port_num");
	MISTAKE(MLX4, RC, INIT, RTR,
		(dev->ports = 2, dev->port[2] = dev->port[1], attr->ah_attr.port_num = 2), EINVAL,
		PORT_MISMATCH, ERROR, "ah_attr.port_num");
	MISTAKE(MLX4, RC, INIT, RTR, attr->ah_attr.is_global = 0, EINVAL, GRH_MISSING, ERROR,
		"ah_attr.is_global");
	MISTAKE(MLX4, RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 200, EINVAL, GID_INDEX, ERROR,
		"ah_attr.grh.sgid_index");
	MISTAKE(MLX4, RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 9, ENODATA, GID_EMPTY, ERROR,
		"ah_attr.grh.sgid_index");
	MISTAKE(MLX4, RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 5, EINVAL, GID_FAMILY, ERROR,
		"ah_attr.grh.sgid_index");
	MISTAKE(MLX4, RC, INIT, RTR, dev->port[1].gid[3].ifindex = 0, ENODEV, GID_NO_NETDEV, ERROR,
		"ah_attr.grh.sgid_index");
	MISTAKE(&rxe, RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 2, EINVAL, GID_TYPE_REFUSED,
		ERROR, "ah_attr.grh.sgid_index");
	MISTAKE(MLX4, RC, INIT, RTR,
		(move.attr_mask |= IBV_QP_ALT_PATH, attr->alt_ah_attr = attr->ah_attr,
		 attr->alt_port_num = 1),
		EINVAL, APM, ERROR, "alt_ah_attr");
	MISTAKE(MLX4, RC, RESET, INIT, attr->pkey_index = 200, EINVAL, PKEY_INDEX, ERROR,
		"pkey_index");
	MISTAKE(MLX4, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)1024, EINVAL, MTU_IN_BYTES,
		ERROR, "path_mtu");
	MISTAKE(MLX4, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)6, EINVAL, ENUM, ERROR,
		"path_mtu");
	MISTAKE(HNS, RC, INIT, RTR, attr->path_mtu = IBV_MTU_2048, EINVAL, MTU_ABOVE_ACTIVE, ERROR,
		"path_mtu");
	MISTAKE(&rxe, RC, INIT, RTR,
		(dev->port[1].attr.max_mtu = IBV_MTU_1024, attr->path_mtu = IBV_MTU_2048), EINVAL,
		MTU_ABOVE_MAX, ERROR, "path_mtu");
	MISTAKE(MLX4, RC, RTR, RTS, attr->max_rd_atomic = 17, EINVAL, DEPTH_LIMIT, ERROR,
		"max_rd_atomic");
	MISTAKE(MLX4, RC, INIT, RTR, attr->max_dest_rd_atomic = 17, EINVAL, DEPTH_LIMIT, ERROR,
		"max_dest_rd_atomic");
	MISTAKE(&rxe, RC, RTR, RTS, attr->timeout = 32, EINVAL, WIDTH, ERROR, "timeout");
	MISTAKE(&strict, RC, RTR, RTS, attr->retry_cnt = 8, EINVAL, WIDTH, ERROR, "retry_cnt");
	MISTAKE(&strict, RC, RTR, RTS, attr->rnr_retry = 8, EINVAL, WIDTH, ERROR, "rnr_retry");
	MISTAKE(&strict, RC, INIT, RTR, attr->min_rnr_timer = 32, EINVAL, WIDTH, ERROR,
		"min_rnr_timer");
	MISTAKE(MLX5, RC, RTS, SQD, (void)0, EINVAL, NO_SQD, ERROR, "qp_state");
	MISTAKE(HNS, RC, RTR, RTS, (move.attr_mask |= IBV_QP_CUR_STATE, attr->cur_qp_state = RTS),
		EINVAL, CUR_STATE, ERROR, "cur_qp_state");
	MISTAKE(&rxe, RC, SQD, RTS, drain(qp), EINVAL, SQ_DRAINING, ERROR, "sq_draining");
	MISTAKE(&siw, RC, RTR, RTS, dev->verbs.transport_type = IBV_TRANSPORT_IWARP, EINVAL, IWARP,
		ERROR, "qp_state");
	MISTAKE(&siw, RC, INIT, RTR, dev->verbs.transport_type = IBV_TRANSPORT_IWARP, 0, IWARP,
		ADVICE, "attr_mask");
	MISTAKE(&plain, UD, RESET, INIT, attr->qkey = 0x80010000u, 0, QKEY_PRIVILEGED, LIKELY,
		"qkey");
}

static void advice(void)
{
	static const struct model rxe = {"rdma_rxe", 0xffffff, 0, 0, false};
	static const struct model irdma = {"irdma", 0x8086, 0x1592, FAKE_RESET_IS_FINAL, false};

	MISTAKE(MLX4, RC, INIT, RTR, attr->ah_attr.grh.hop_limit = 1, 0, HOP_LIMIT, ADVICE,
		"ah_attr.grh.hop_limit");
	MISTAKE(MLX4, RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 2, 0, GID_ROCE_V1, ADVICE,
		"ah_attr.grh.sgid_index");
	MISTAKE(MLX4, RC, INIT, RTR,
		(attr->ah_attr.grh.sgid_index = 1,
		 attr->ah_attr.grh.dgid = dev->port[1].gid[5].gid),
		0, GID_LINK_LOCAL, ADVICE, "ah_attr.grh.sgid_index");
	MISTAKE(MLX4, RC, INIT, RTR, attr->min_rnr_timer = 0, 0, RNR_TIMER_ZERO, ADVICE,
		"min_rnr_timer");
	MISTAKE(MLX4, RC, RTR, RTS, attr->timeout = 0, 0, TIMEOUT_ZERO, ADVICE, "timeout");
	MISTAKE(MLX4, RC, RTR, RTS, attr->rnr_retry = 0, 0, RNR_RETRY_ZERO, ADVICE, "rnr_retry");
	MISTAKE(MLX4, RC, RTR, RTS, attr->retry_cnt = 0, 0, RETRY_ZERO, ADVICE, "retry_cnt");
	MISTAKE(MLX4, RC, RTR, RTS, attr->retry_cnt = 8, 0, WIDTH, ADVICE, "retry_cnt");
	MISTAKE(MLX4, RC, INIT, RTR, attr->path_mtu = IBV_MTU_4096, 0, MTU_ABOVE_ACTIVE, ADVICE,
		"path_mtu");
	MISTAKE(MLX4, RC, INIT, RTR, attr->max_dest_rd_atomic = 0, 0, DEPTH_ZERO, ADVICE,
		"max_dest_rd_atomic");
	MISTAKE(&rxe, RC, RTR, RTS, attr->max_rd_atomic = 0, 0, DEPTH_ZERO_HANG, ADVICE,
		"max_rd_atomic");
	MISTAKE(MLX4, RC, INIT, RTR, attr->rq_psn = 1u << 24, 0, PSN_WIDTH, ADVICE, "rq_psn");
	MISTAKE(MLX4, RC, RTR, RTS, attr->sq_psn = 1u << 24, 0, PSN_WIDTH, ADVICE, "sq_psn");
	MISTAKE(MLX4, RC, INIT, RTR, attr->dest_qp_num = 1u << 24, 0, WIDTH, ADVICE, "dest_qp_num");
	MISTAKE(MLX4, RC, INIT, RTR, dev->port[1].attr.state = IBV_PORT_DOWN, 0, PORT_DOWN, ADVICE,
		"port_num");
	MISTAKE(MLX4, RC, RESET, INIT,
		(dev->port[1].attr.pkey_tbl_len = 2, dev->port[1].pkey[1] = 0,
		 attr->pkey_index = 1),
		0, PKEY_EMPTY, ADVICE, "pkey_index");
	MISTAKE(MLX4, RC, RESET, INIT, dev->port[1].pkey[0] = 0x7fff, 0, PKEY_LIMITED, ADVICE,
		"pkey_index");
	MISTAKE(MLX4, UC, RESET, INIT, attr->qp_access_flags = IBV_ACCESS_REMOTE_READ, 0,
		ACCESS_TYPE, ADVICE, "qp_access_flags");
	MISTAKE(MLX4, RC, RESET, INIT,
		(dev->attr.orig_attr.atomic_cap = IBV_ATOMIC_NONE,
		 attr->qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC),
		0, ACCESS_ATOMIC, ADVICE, "qp_access_flags");
	MISTAKE(MLX4, RC, RESET, INIT, attr->qp_access_flags = IBV_ACCESS_ZERO_BASED, 0,
		ACCESS_BITS, LIKELY, "qp_access_flags");
	MISTAKE(&irdma, RC, RTS, RESET, (void)0, 0, RESET_FINAL, ADVICE, "qp_state");
}

/* What only the errno of a refused call tells. */
static void afterwards(void)
{
	static const struct {
		int error;
		enum rdmaez_why reason;
	} meanings[] = {
		{ETIMEDOUT, RDMAEZ_WHY_NEIGHBOUR},
		{ENETUNREACH, RDMAEZ_WHY_NO_ROUTE},
		{EHOSTUNREACH, RDMAEZ_WHY_NO_ROUTE},
		{EADDRNOTAVAIL, RDMAEZ_WHY_NO_IPV6},
		{ENODEV, RDMAEZ_WHY_GID_NO_NETDEV},
		{EACCES, RDMAEZ_WHY_SECURITY},
		{ENOMEM, RDMAEZ_WHY_NO_RESOURCES},
		{EAGAIN, RDMAEZ_WHY_BUSY},
		{EBUSY, RDMAEZ_WHY_BUSY},
		{EIO, RDMAEZ_WHY_DEVICE_GONE},
		{EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED},
		{EINVAL, RDMAEZ_WHY_REFUSED},
	};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++) {
		const char *symbol = rdmaez_errno_str(meanings[i].error);
		struct rdmaez_qp_move move;
		struct rdmaez_diag diag;
		struct ibv_qp *qp;

		start(MLX4);
		qp = qp_in(RC, INIT);
		move = right(qp, INIT, RTR);
		fake_fail(FAKE_MODIFY_QP, 1, meanings[i].error);
		tap_eq_int(rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag),
			   meanings[i].error, "%s is passed on", symbol);
		tap_eq_int(diag.error, meanings[i].error, "%s is in the record", symbol);
		tap_eq_int(diag.count, 1, "%s has one finding", symbol);
		tap_eq_int(diag.finding[0].reason, meanings[i].reason, "%s means %s", symbol,
			   rdmaez_why_id(meanings[i].reason));
		tap_eq_int(diag.finding[0].severity, RDMAEZ_DIAG_LIKELY, "%s is a likely finding",
			   symbol);
	}
	{
		struct rdmaez_qp_move move;
		struct rdmaez_diag diag;
		struct ibv_qp *qp;

		start(&(const struct model){"unknown", 1, 1, 0, false});
		qp = qp_in(UD, RESET);
		move = right(qp, RESET, INIT);
		move.attr.qkey = 1u << 31;
		tap_eq_int(rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), EPERM,
			   "a privileged Q_Key is refused");
		tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_QKEY_PRIVILEGED),
		       "and the Q_Key is blamed");
	}
}

/* Two mistakes hide each other in the errno; both are found, in the kernel's order. */
static void together(void)
{
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	struct ibv_qp *qp;

	start(MLX4);
	qp = qp_in(RC, INIT);
	move = right(qp, INIT, RTR);
	move.attr_mask &= ~IBV_QP_RQ_PSN;
	move.attr.ah_attr.grh.sgid_index = 9;
	move.attr.min_rnr_timer = 0;
	tap_eq_int(rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag), ENODATA,
		   "of an empty GID row and a missing bit the row is reported first");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_GID_EMPTY, "the first finding is the row");
	tap_eq_int(diag.finding[1].reason, RDMAEZ_WHY_MASK_MISSING, "the second is the mask");
	tap_eq_int(diag.finding[2].reason, RDMAEZ_WHY_RNR_TIMER_ZERO, "the third is advice");
	tap_eq_int(diag.count, 3, "and that is all");
	tap_eq_str(diag.device, "fake0", "the record names the device");
	tap_eq_str(diag.driver, "mlx4_ib", "and its driver");
	tap_eq_int(diag.qp_num, qp->qp_num, "and the queue pair");
	tap_eq_int(diag.from, INIT, "and the state it is in");
	tap_eq_int(diag.to, RTR, "and the state asked for");
	fake_qp_force(qp, IBV_QPS_ERR);
	tap_eq_int(rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag), ENODATA,
		   "behind the library's back it went to ERR");
	tap_eq_int(diag.from, IBV_QPS_ERR, "which the record knows");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_TRANSITION), "so the transition is no more");
	tap_eq_int(qp->state, IBV_QPS_ERR, "and qp->state is fresh");
	fake_fail(FAKE_QUERY_QP, 1, EIO);
	tap_eq_int(rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag), EIO,
		   "a queue pair that cannot be asked is an error");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_QUERY_REFUSED, "which is said");
	fake_fail(FAKE_MODIFY_QP, 1, ENOMEM);
	fake_fail(FAKE_QUERY_QP, 1, EIO);
	tap_eq_int(rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), ENOMEM,
		   "so is a refusal that nothing explains");
	tap_eq_str(diag.verb, "ibv_modify_qp", "of the verb that refused");
	tap_eq_int(diag.count, 2, "there are two findings");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_NO_RESOURCES, "what the errno means");
	tap_eq_int(diag.finding[0].severity, RDMAEZ_DIAG_LIKELY, "which is likely");
	tap_eq_int(diag.finding[1].reason, RDMAEZ_WHY_QUERY_REFUSED, "and why there is no more");
	tap_eq_int(diag.finding[1].severity, RDMAEZ_DIAG_LIKELY, "which is not the cause");

	qp = qp_in(RC, RTR);
	move = right(qp, RTR, RTS);
	move.attr_mask |= IBV_QP_ACCESS_FLAGS;
	move.attr.qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC;
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	tap_eq_int(rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag), 0,
		   "a device that does not answer refuses nothing");
	tap_eq_int(diag.count, 0, "and nothing is said of what it did not tell");
	tap_eq_int(rdmaez_qp_check(NULL, &move.attr, 0, &diag), EINVAL,
		   "no queue pair is an error");
	tap_eq_str(diag.finding[0].field, "qp", "of qp");
	tap_eq_int(rdmaez_qp_check(qp, NULL, 0, &diag), EINVAL, "no attributes are an error");
	tap_eq_str(diag.finding[0].field, "attr", "of attr");
}

int main(int argc, char **argv)
{
	seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	for (size_t m = 0; m < sizeof(models) / sizeof(*models); m++) {
		start(&models[m]);
		foresee(&models[m]);
	}
	refusals();
	advice();
	afterwards();
	together();
	fake_close_all();
	return tap_done();
}
