/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs of a real device through all their states. After each step ibv_query_qp() must show every
 * attribute that was asked for or defaulted so far, messages must arrive, and a refused step must leave
 * the queue pair as it was.
 */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>

#include "moves.h"
#include "rig.h"

/* --- What a queue pair is like, and what it should be like -------------------------------------- */

/* What the steps so far have set, and which bits of it. */
struct known {
	struct ibv_qp_attr attr;
	int mask;
};

static struct ibv_qp_attr query(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	memset(&attr, 0, sizeof(attr));
	if (ibv_query_qp(qp, &attr, (1 << 21) - 1, &init))
		tap_bail("ibv_query_qp: %s", strerror(errno));
	return attr;
}

static bool same(const char *field, unsigned long long got, unsigned long long want)
{
	if (got != want)
		tap_diag("%s: got %llu, want %llu", field, got, want);
	return got == want;
}

/* The address vector as rxe keeps it: rxe_av_from_attr() stores port and GRH, and no more. */
static bool same_path(const struct ibv_ah_attr *got, const struct ibv_ah_attr *want)
{
	bool ok = same("ah_attr.is_global", got->is_global, want->is_global);

	ok &= same("ah_attr.port_num", got->port_num, want->port_num);
	ok &= same("ah_attr.grh.sgid_index", got->grh.sgid_index, want->grh.sgid_index);
	ok &= same("ah_attr.grh.flow_label", got->grh.flow_label, want->grh.flow_label);
	ok &= same("ah_attr.grh.hop_limit", got->grh.hop_limit, want->grh.hop_limit);
	ok &= same("ah_attr.grh.traffic_class", got->grh.traffic_class, want->grh.traffic_class);
	if (memcmp(&got->grh.dgid, &want->grh.dgid, sizeof(got->grh.dgid)) != 0)
		ok = same("ah_attr.grh.dgid differs", 1, 0);
	return ok;
}

#define SAME(bit, field)           \
	(!(known->mask & (bit)) || \
	 same(#field, (unsigned long long)got.field, (unsigned long long)want->field))

/* The device shows all that is known, and libibverbs the same state. */
static bool shows(struct ibv_qp *qp, const struct known *known)
{
	const struct ibv_qp_attr got = query(qp), *want = &known->attr;
	enum ibv_qp_state state = IBV_QPS_UNKNOWN;
	bool ok = SAME(IBV_QP_STATE, qp_state);

	/* Not en_sqd_async_notify: struct ib_uverbs_query_qp_resp has no place for it. */
	ok &= SAME(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	ok &= SAME(IBV_QP_PKEY_INDEX, pkey_index);
	ok &= SAME(IBV_QP_PORT, port_num);
	ok &= SAME(IBV_QP_QKEY, qkey);
	ok &= SAME(IBV_QP_PATH_MTU, path_mtu);
	ok &= SAME(IBV_QP_TIMEOUT, timeout);
	ok &= SAME(IBV_QP_RETRY_CNT, retry_cnt);
	ok &= SAME(IBV_QP_RNR_RETRY, rnr_retry);
	ok &= SAME(IBV_QP_RQ_PSN, rq_psn);
	ok &= SAME(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	ok &= SAME(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	ok &= SAME(IBV_QP_SQ_PSN, sq_psn);
	ok &= SAME(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	ok &= SAME(IBV_QP_PATH_MIG_STATE, path_mig_state);
	ok &= SAME(IBV_QP_DEST_QPN, dest_qp_num);
	if (known->mask & IBV_QP_AV)
		ok &= same_path(&got.ah_attr, &want->ah_attr);
	ok &= same("qp->state", qp->state, want->qp_state);
	ok &= same("rdmaez_qp_state()", (unsigned int)rdmaez_qp_state(qp, &state, NULL), 0);
	ok &= same("its state", state, want->qp_state);
	return ok;
}

/* A step worked, and the device shows what is known after it. */
static void stepped(int error, const struct rdmaez_diag *diag, struct ibv_qp *qp,
		    const struct known *known, const char *name)
{
	char text[2048];

	if (!tap_eq_int(error, 0, "%s", name)) {
		rdmaez_diag_format(diag, text, sizeof(text));
		tap_diag("%s", text);
	}
	tap_ok(shows(qp, known), "%s: the device shows every attribute", name);
}

/* --- Bringing up -------------------------------------------------------------------------------- */

/* What the options of connect_to() lead to on an RC queue pair that leaves the rest to defaults. */
static struct known rc_defaults(struct rig *rig, struct ibv_qp *peer)
{
	struct known known = {{.qp_state = IBV_QPS_RTS}, 0};

	known.attr.port_num = 1;
	known.attr.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	known.attr.path_mtu = rig->port.active_mtu;
	known.attr.dest_qp_num = peer->qp_num;
	known.attr.max_dest_rd_atomic = 16; /* rxe has 128, and enough for all queue pairs */
	known.attr.min_rnr_timer = 12;
	known.attr.timeout = 14;
	known.attr.retry_cnt = 7;
	known.attr.rnr_retry = 7;
	known.attr.max_rd_atomic = 16;
	known.attr.ah_attr.is_global = 1;
	known.attr.ah_attr.port_num = 1;
	known.attr.ah_attr.grh.dgid = rig->self.gid;
	known.attr.ah_attr.grh.sgid_index = (uint8_t)rig->self.gid_index;
	known.attr.ah_attr.grh.hop_limit = 64;
	return known;
}

enum {
	AT_INIT = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT,
	UC_AT_RTR = AT_INIT | IBV_QP_ACCESS_FLAGS | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		    IBV_QP_RQ_PSN,
	RC_AT_RTR = UC_AT_RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	RC_AT_RTS = RC_AT_RTR | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
};

/* The options that connect to a queue pair of the same port. */
static struct rdmaez_qp_opts opts_to(struct rig *rig, struct ibv_qp *peer)
{
	struct rdmaez_qp_opts opts = {0};

	if (peer->qp_type != IBV_QPT_UD)
		opts.access = IBV_ACCESS_REMOTE_WRITE;
	if (peer->qp_type == IBV_QPT_RC)
		opts.access |= IBV_ACCESS_REMOTE_READ;
	opts.dest_qp_num = peer->qp_num;
	opts.path.dgid = rig->self.gid;
	return opts;
}

static int bring_up(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts)
{
	int error = rdmaez_qp_to_init(qp, opts, NULL);

	if (!error)
		error = rdmaez_qp_to_rtr(qp, opts, NULL);
	return error ? error : rdmaez_qp_to_rts(qp, opts, NULL);
}

static void bring_up_both(struct rig *rig, struct side *a, struct side *b)
{
	const struct rdmaez_qp_opts to_a = opts_to(rig, a->qp), to_b = opts_to(rig, b->qp);

	if (bring_up(a->qp, &to_b) || bring_up(b->qp, &to_a))
		tap_bail("cannot bring up two queue pairs");
}

static void traffic(struct side *a, struct side *b, const char *when)
{
	const enum ibv_qp_type type = a->qp->qp_type;

	tap_ok(rig_send(a, b, NULL), "%s: a message arrives intact", when);
	tap_ok(rig_send(b, a, NULL), "%s: and one the other way", when);
	tap_ok(rig_rdma(a, b, IBV_WR_RDMA_WRITE), "%s: an RDMA WRITE arrives intact", when);
	if (type == IBV_QPT_RC)
		tap_ok(rig_rdma(a, b, IBV_WR_RDMA_READ), "%s: an RDMA READ brings the bytes", when);
}

/* The state of rxe's send queue goes from draining to drained in a task of its own. */
static bool drained(struct ibv_qp *qp)
{
	RIG_UNTIL(!query(qp).sq_draining);
	return !query(qp).sq_draining;
}

/* Whether this event comes for this queue pair. */
static bool event_comes(struct ibv_qp *qp, enum ibv_event_type type)
{
	struct pollfd ready = {.fd = qp->context->async_fd, .events = POLLIN};
	struct ibv_async_event event;
	bool right;

	if (poll(&ready, 1, RIG_SECONDS * 1000) != 1 || ibv_get_async_event(qp->context, &event))
		return false;
	right = event.event_type == type && event.element.qp == qp;
	ibv_ack_async_event(&event);
	return right;
}

/* --- RC ----------------------------------------------------------------------------------------- */

static void test_rc_defaults(struct rig *rig)
{
	struct side *a = side_open(rig, IBV_QPT_RC), *b = side_open(rig, IBV_QPT_RC);
	const struct rdmaez_qp_opts to_b = opts_to(rig, b->qp), to_a = opts_to(rig, a->qp);
	struct known known = rc_defaults(rig, b->qp);
	struct rdmaez_diag diag;

	known.attr.qp_state = IBV_QPS_INIT;
	known.mask = AT_INIT | IBV_QP_ACCESS_FLAGS;
	stepped(rdmaez_qp_to_init(a->qp, &to_b, &diag), &diag, a->qp, &known, "RC, RESET to INIT");
	known.attr.qp_state = IBV_QPS_RTR;
	known.mask = RC_AT_RTR;
	stepped(rdmaez_qp_to_rtr(a->qp, &to_b, &diag), &diag, a->qp, &known, "RC, INIT to RTR");
	known.attr.qp_state = IBV_QPS_RTS;
	known.mask = RC_AT_RTS;
	stepped(rdmaez_qp_to_rts(a->qp, &to_b, &diag), &diag, a->qp, &known, "RC, RTR to RTS");
	tap_eq_int(diag.error, 0, "after a success the record holds no error");
	tap_eq_count(&diag, 0, "and no finding");
	tap_eq_int(bring_up(b->qp, &to_a), 0, "the other end comes up without a record");
	traffic(a, b, "RC");

	/* rxe shows the numbers to come, and traffic has moved them. */
	known.mask &= ~(IBV_QP_SQ_PSN | IBV_QP_RQ_PSN);
	known.attr.qp_state = IBV_QPS_SQD;
	stepped(rdmaez_qp_to_sqd(a->qp, NULL, &diag), &diag, a->qp, &known, "RC, RTS to SQD");
	tap_ok(drained(a->qp), "the send queue drains");
	known.attr.qp_state = IBV_QPS_RTS;
	known.mask &=
		~(IBV_QP_SQ_PSN | IBV_QP_RQ_PSN); /* rxe shows the next ones, and they moved */
	stepped(rdmaez_qp_to_rts(a->qp, NULL, &diag), &diag, a->qp, &known, "RC, SQD to RTS");
	traffic(a, b, "RC back from SQD");

	tap_eq_int(side_post_receive(a), 0, "a receive is posted");
	known.attr.qp_state = IBV_QPS_ERR;
	stepped(rdmaez_qp_to_err(a->qp, &diag), &diag, a->qp, &known, "RC, RTS to ERR");
	tap_eq_int(rig_status(a->recv_cq), IBV_WC_WR_FLUSH_ERR, "in ERR the receive is flushed");
	known.attr.qp_state = IBV_QPS_RESET;
	known.mask = IBV_QP_STATE;
	stepped(rdmaez_qp_to_reset(a->qp, &diag), &diag, a->qp, &known, "RC, ERR to RESET");
	tap_eq_int(rdmaez_qp_to_reset(b->qp, &diag), 0, "RC, RTS to RESET");
	bring_up_both(rig, a, b);
	known = rc_defaults(rig, b->qp);
	known.mask = RC_AT_RTS;
	tap_ok(shows(a->qp, &known), "RC, up again: the device shows every attribute");
	traffic(a, b, "RC, up again");

	side_close(a);
	side_close(b);
}

/* Every option away from its default; each value unlike any other, so that none is mistaken. */
static struct rdmaez_qp_opts rc_special(struct rig *rig, struct ibv_qp *peer)
{
	struct rdmaez_qp_opts opts = opts_to(rig, peer);

	opts.port_attr = &rig->port;
	opts.device_attr = &rig->device;
	opts.access = IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE;
	opts.mtu = IBV_MTU_512;
	opts.rq_psn = 0xabcdef;
	opts.sq_psn = 0x123456;
	opts.max_dest_rd_atomic = 5;
	opts.max_rd_atomic = 3;
	opts.min_rnr_timer = 9;
	opts.timeout = 17;
	opts.retry_cnt = 4;
	opts.rnr_retry = 6;
	opts.path.sgid_index = rdmaez_exactly((int)rig->self.gid_index);
	opts.path.traffic_class = 0x68;
	opts.path.flow_label = 0xbeef;
	opts.path.hop_limit = 9;
	return opts;
}

static struct known rc_special_known(struct rig *rig, struct ibv_qp *peer)
{
	struct known known = rc_defaults(rig, peer);

	known.attr.qp_access_flags =
		IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE;
	known.attr.path_mtu = IBV_MTU_512;
	known.attr.rq_psn = 0xabcdef;
	known.attr.sq_psn = 0x123456;
	/* rxe_qp_from_attr() rounds depths up to a power of two: 5 and 3. */
	known.attr.max_dest_rd_atomic = 8;
	known.attr.max_rd_atomic = 4;
	known.attr.min_rnr_timer = 9;
	known.attr.timeout = 17;
	known.attr.retry_cnt = 4;
	known.attr.rnr_retry = 6;
	known.attr.ah_attr.grh.traffic_class = 0x68;
	known.attr.ah_attr.grh.flow_label = 0xbeef;
	/* Not 9: ib_resolve_unicast_gid_dmac() takes the hop limit of the route, Linux's 64. */
	known.attr.ah_attr.grh.hop_limit = 64;
	return known;
}

static void test_rc_options(struct rig *rig)
{
	struct side *a = side_open(rig, IBV_QPT_RC), *b = side_open(rig, IBV_QPT_RC);
	struct rdmaez_qp_opts opts = rc_special(rig, b->qp);
	struct known known = rc_special_known(rig, b->qp);
	struct rdmaez_diag diag;

	known.attr.qp_state = IBV_QPS_INIT;
	known.mask = AT_INIT | IBV_QP_ACCESS_FLAGS;
	stepped(rdmaez_qp_to_init(a->qp, &opts, &diag), &diag, a->qp, &known,
		"RC with options, RESET to INIT");

	opts.optional = IBV_QP_ACCESS_FLAGS | IBV_QP_PORT | IBV_QP_PKEY_INDEX;
	opts.access = RDMAEZ_ZERO;
	known.attr.qp_access_flags = 0;
	stepped(rdmaez_qp_to_init(a->qp, &opts, &diag), &diag, a->qp, &known,
		"RC with options, INIT to INIT taking the access flags away");

	opts.optional = IBV_QP_ACCESS_FLAGS;
	opts.access = IBV_ACCESS_REMOTE_WRITE;
	known.attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	known.attr.qp_state = IBV_QPS_RTR;
	known.mask = RC_AT_RTR;
	stepped(rdmaez_qp_to_rtr(a->qp, &opts, &diag), &diag, a->qp, &known,
		"RC with options, INIT to RTR with other access flags");

	opts.optional = IBV_QP_CUR_STATE | IBV_QP_MIN_RNR_TIMER;
	opts.min_rnr_timer = RDMAEZ_ZERO;
	known.attr.min_rnr_timer = 0;
	known.attr.qp_state = IBV_QPS_RTS;
	known.mask = RC_AT_RTS;
	stepped(rdmaez_qp_to_rts(a->qp, &opts, &diag), &diag, a->qp, &known,
		"RC with options, RTR to RTS with another RNR timer");

	opts.optional = IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS;
	opts.min_rnr_timer = 31;
	opts.access = IBV_ACCESS_REMOTE_READ;
	known.attr.min_rnr_timer = 31;
	known.attr.qp_access_flags = IBV_ACCESS_REMOTE_READ;
	stepped(rdmaez_qp_to_rts(a->qp, &opts, &diag), &diag, a->qp, &known,
		"RC with options, RTS to RTS");

	opts.optional = IBV_QP_EN_SQD_ASYNC_NOTIFY;
	known.attr.qp_state = IBV_QPS_SQD;
	stepped(rdmaez_qp_to_sqd(a->qp, &opts, &diag), &diag, a->qp, &known,
		"RC with options, RTS to SQD asking for the event");
	tap_ok(event_comes(a->qp, IBV_EVENT_SQ_DRAINED), "the event says that the queue drained");
	tap_ok(drained(a->qp), "and so does the query");

	/*
	 * Not max_dest_rd_atomic: rxe_qp_from_attr() of Linux 6.1 stores the new depth before it frees as
	 * many entries of the old array, beyond the end of which it reads where the depth grows.
	 */
	opts.optional = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_ACCESS_FLAGS |
			IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV;
	opts.timeout = RDMAEZ_ZERO;
	opts.retry_cnt = RDMAEZ_ZERO;
	opts.rnr_retry = RDMAEZ_ZERO;
	opts.min_rnr_timer = 1;
	opts.max_rd_atomic = 0;
	opts.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	opts.path.traffic_class = 0;
	opts.path.flow_label = 0;
	known.attr.timeout = 0;
	known.attr.retry_cnt = 0;
	known.attr.rnr_retry = 0;
	known.attr.min_rnr_timer = 1;
	known.attr.max_rd_atomic = 16; /* the default */
	known.attr.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	known.attr.ah_attr.grh.traffic_class = 0;
	known.attr.ah_attr.grh.flow_label = 0;
	stepped(rdmaez_qp_to_sqd(a->qp, &opts, &diag), &diag, a->qp, &known,
		"RC with options, SQD to SQD changing timers, depths and path");
	tap_ok(drained(a->qp),
	       "RC with options drains once more, which takes newer kernels a while");

	opts.optional = 0;
	known.attr.qp_state = IBV_QPS_RTS;
	stepped(rdmaez_qp_to_rts(a->qp, &opts, &diag), &diag, a->qp, &known,
		"RC with options, SQD to RTS");

	opts = opts_to(rig, a->qp);
	opts.mtu = IBV_MTU_512;
	opts.rq_psn = 0x123456;
	opts.sq_psn = 0xabcdef;
	tap_eq_int(bring_up(b->qp, &opts), 0, "the other end comes up with the mirrored numbers");
	traffic(a, b, "RC with options");

	side_close(a);
	side_close(b);
}

/* The state to be in before the step that is tested. */
static struct side *side_at(struct rig *rig, enum ibv_qp_type type, enum ibv_qp_state state)
{
	struct side *side = side_open(rig, type);
	const struct rdmaez_qp_opts opts = opts_to(rig, side->qp);
	int error = 0;

	if (state != IBV_QPS_RESET)
		error = rdmaez_qp_to_init(side->qp, &opts, NULL);
	if (!error && (state == IBV_QPS_RTR || state == IBV_QPS_RTS))
		error = rdmaez_qp_to_rtr(side->qp, &opts, NULL);
	if (!error && state == IBV_QPS_RTS)
		error = rdmaez_qp_to_rts(side->qp, &opts, NULL);
	if (error)
		tap_bail("cannot bring a queue pair to state %d: %s", (int)state, strerror(error));
	return side;
}

/* What path_mtu the device shows after RTR. */
static int mtu_after_rtr(struct rig *rig, enum ibv_mtu mtu, unsigned int flags)
{
	struct side *side = side_at(rig, IBV_QPT_RC, IBV_QPS_INIT);
	struct rdmaez_qp_opts opts = opts_to(rig, side->qp);
	int got;

	opts.mtu = mtu;
	opts.flags = flags;
	if (rdmaez_qp_to_rtr(side->qp, &opts, NULL))
		got = -1;
	else
		got = (int)query(side->qp).path_mtu;
	side_close(side);
	return got;
}

static void test_mtu(struct rig *rig)
{
	const enum ibv_mtu active = rig->port.active_mtu;

	tap_ok(active < IBV_MTU_4096, "the port's active MTU is below the largest");
	tap_eq_int(mtu_after_rtr(rig, (enum ibv_mtu)0, 0), active, "no MTU gives the active one");
	for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
		tap_eq_int(mtu_after_rtr(rig, (enum ibv_mtu)mtu, 0),
			   mtu < (int)active ? mtu : (int)active,
			   "IBV_MTU_%s gives that or the active one, whichever is smaller",
			   rdmaez_mtu_str((enum ibv_mtu)mtu));
		tap_eq_int(mtu_after_rtr(rig, (enum ibv_mtu)mtu, RDMAEZ_QP_MTU_EXACT), mtu,
			   "IBV_MTU_%s with MTU_EXACT gives just that",
			   rdmaez_mtu_str((enum ibv_mtu)mtu));
	}
}

/* Which row the device shows after RTR towards a GID. */
static int row_after_rtr(struct rig *rig, const union ibv_gid *dgid, int sgid_index)
{
	struct side *side = side_at(rig, IBV_QPT_RC, IBV_QPS_INIT);
	struct rdmaez_qp_opts opts = opts_to(rig, side->qp);
	int got;

	opts.path.dgid = *dgid;
	opts.path.sgid_index = sgid_index;
	if (rdmaez_qp_to_rtr(side->qp, &opts, NULL))
		got = -1;
	else
		got = query(side->qp).ah_attr.grh.sgid_index;
	side_close(side);
	return got;
}

static void test_gid_choice(struct rig *rig)
{
	struct ibv_gid_entry row;
	int kinds = 0;

	tap_eq_int(rig->self.gid_type, IBV_GID_TYPE_ROCE_V2,
		   "the row that reaches IPv4 is RoCE v2");
	for (uint32_t i = 0; i < (uint32_t)rig->port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(rig->context, 1, i, &row, 0) ||
		    row.gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		tap_eq_int(row_after_rtr(rig, &row.gid, 0), i,
			   "towards the GID of row %u that row is chosen", i);
		tap_eq_int(row_after_rtr(rig, &row.gid, rdmaez_exactly((int)i)), i,
			   "and it is sent where it is named");
		kinds |= 1 << rdmaez_gid_class(&row.gid);
	}
	tap_eq_hex(kinds,
		   1 << RDMAEZ_GID_CLASS_LINK_LOCAL | 1 << RDMAEZ_GID_CLASS_IPV4 |
			   1 << RDMAEZ_GID_CLASS_GLOBAL,
		   "there were link-local, IPv4 and global rows to choose from");
}

/* --- UC and UD ---------------------------------------------------------------------------------- */

static void test_uc(struct rig *rig)
{
	struct side *a = side_open(rig, IBV_QPT_UC), *b = side_open(rig, IBV_QPT_UC);
	const struct rdmaez_qp_opts to_a = opts_to(rig, a->qp);
	struct rdmaez_qp_opts to_b = opts_to(rig, b->qp);
	struct known known = rc_defaults(rig, b->qp);
	struct rdmaez_diag diag;

	to_b.rq_psn = 0;
	known.attr.qp_state = IBV_QPS_INIT;
	known.attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	known.mask = AT_INIT | IBV_QP_ACCESS_FLAGS;
	stepped(rdmaez_qp_to_init(a->qp, &to_b, &diag), &diag, a->qp, &known, "UC, RESET to INIT");
	known.attr.qp_state = IBV_QPS_RTR;
	known.mask = UC_AT_RTR;
	stepped(rdmaez_qp_to_rtr(a->qp, &to_b, &diag), &diag, a->qp, &known, "UC, INIT to RTR");
	known.attr.qp_state = IBV_QPS_RTS;
	known.mask |= IBV_QP_SQ_PSN;
	stepped(rdmaez_qp_to_rts(a->qp, &to_b, &diag), &diag, a->qp, &known, "UC, RTR to RTS");
	tap_eq_int(bring_up(b->qp, &to_a), 0, "the other UC end comes up");
	traffic(a, b, "UC");

	known.mask &= ~(IBV_QP_SQ_PSN | IBV_QP_RQ_PSN);
	to_b.optional = IBV_QP_ACCESS_FLAGS;
	to_b.access = RDMAEZ_ZERO;
	known.attr.qp_access_flags = 0;
	stepped(rdmaez_qp_to_rts(a->qp, &to_b, &diag), &diag, a->qp, &known, "UC, RTS to RTS");
	known.attr.qp_state = IBV_QPS_SQD;
	stepped(rdmaez_qp_to_sqd(a->qp, NULL, &diag), &diag, a->qp, &known, "UC, RTS to SQD");
	tap_ok(drained(a->qp), "UC drains");
	to_b.access = IBV_ACCESS_REMOTE_WRITE;
	known.attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	stepped(rdmaez_qp_to_sqd(a->qp, &to_b, &diag), &diag, a->qp, &known, "UC, SQD to SQD");
	tap_ok(drained(a->qp), "UC drains once more");
	known.attr.qp_state = IBV_QPS_RTS;
	stepped(rdmaez_qp_to_rts(a->qp, NULL, &diag), &diag, a->qp, &known, "UC, SQD to RTS");
	traffic(a, b, "UC back from SQD");
	known.attr.qp_state = IBV_QPS_ERR;
	stepped(rdmaez_qp_to_err(a->qp, &diag), &diag, a->qp, &known, "UC, RTS to ERR");
	known.attr.qp_state = IBV_QPS_RESET;
	known.mask = IBV_QP_STATE;
	stepped(rdmaez_qp_to_reset(a->qp, &diag), &diag, a->qp, &known, "UC, ERR to RESET");
	tap_eq_int(rdmaez_qp_to_reset(b->qp, NULL), 0, "UC, RTS to RESET");
	bring_up_both(rig, a, b);
	traffic(a, b, "UC, up again");

	side_close(a);
	side_close(b);
}

static void ud_traffic(struct rig *rig, struct side *a, struct side *b, const char *when)
{
	struct rdmaez_path path = {0};
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;

	path.dgid = rig->self.gid;
	path.sgid_index = rdmaez_exactly((int)rig->self.gid_index);
	tap_eq_int(rdmaez_path_ah_attr(&path, 1, &rig->port, &attr, NULL), 0,
		   "%s: the path gives an address", when);
	ah = ibv_create_ah(rig->pd, &attr);
	rig_need(ah, "ibv_create_ah");
	tap_ok(rig_send(a, b, ah), "%s: a message arrives intact", when);
	tap_ok(rig_send(b, a, ah), "%s: and one the other way", when);
	ibv_destroy_ah(ah);
}

static void test_ud(struct rig *rig)
{
	struct side *a = side_open(rig, IBV_QPT_UD), *b = side_open(rig, IBV_QPT_UD);
	struct rdmaez_qp_opts opts = {0};
	struct known known = {{.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11111111}, 0};
	struct rdmaez_diag diag;

	known.mask = AT_INIT | IBV_QP_QKEY;
	stepped(rdmaez_qp_to_init(a->qp, NULL, &diag), &diag, a->qp, &known, "UD, RESET to INIT");
	known.attr.qp_state = IBV_QPS_RTR;
	stepped(rdmaez_qp_to_rtr(a->qp, NULL, &diag), &diag, a->qp, &known, "UD, INIT to RTR");
	known.attr.qp_state = IBV_QPS_RTS;
	known.attr.sq_psn = 0xfffff0;
	known.mask |= IBV_QP_SQ_PSN;
	opts.sq_psn = 0xfffff0;
	stepped(rdmaez_qp_to_rts(a->qp, &opts, &diag), &diag, a->qp, &known, "UD, RTR to RTS");
	tap_eq_int(bring_up(b->qp, NULL), 0, "the other UD end comes up without options");
	ud_traffic(rig, a, b, "UD");

	known.mask &= ~IBV_QP_SQ_PSN;
	opts.optional = IBV_QP_QKEY;
	opts.qkey = 0x7ead;
	known.attr.qkey = 0x7ead;
	stepped(rdmaez_qp_to_rts(a->qp, &opts, &diag), &diag, a->qp, &known, "UD, RTS to RTS");
	known.attr.qp_state = IBV_QPS_SQD;
	stepped(rdmaez_qp_to_sqd(a->qp, NULL, &diag), &diag, a->qp, &known, "UD, RTS to SQD");
	tap_ok(drained(a->qp), "UD drains");
	opts.qkey = RDMAEZ_ZERO;
	known.attr.qkey = 0;
	stepped(rdmaez_qp_to_sqd(a->qp, &opts, &diag), &diag, a->qp, &known, "UD, SQD to SQD");
	tap_ok(drained(a->qp), "UD drains once more");
	opts.qkey = 0;
	known.attr.qkey = RDMAEZ_QP_QKEY;
	known.attr.qp_state = IBV_QPS_RTS;
	stepped(rdmaez_qp_to_rts(a->qp, &opts, &diag), &diag, a->qp, &known, "UD, SQD to RTS");
	ud_traffic(rig, a, b, "UD back from SQD");
	known.attr.qp_state = IBV_QPS_ERR;
	stepped(rdmaez_qp_to_err(a->qp, &diag), &diag, a->qp, &known, "UD, RTS to ERR");
	known.attr.qp_state = IBV_QPS_RESET;
	known.mask = IBV_QP_STATE;
	stepped(rdmaez_qp_to_reset(a->qp, &diag), &diag, a->qp, &known, "UD, ERR to RESET");
	tap_eq_int(bring_up(a->qp, NULL), 0, "UD comes up again");
	ud_traffic(rig, a, b, "UD, up again");

	side_close(a);
	side_close(b);
}

/* --- Access ------------------------------------------------------------------------------------- */

/* Access that was not granted must be refused by the device: the flags really arrived there. */
static void test_no_access(struct rig *rig)
{
	struct side *a = side_open(rig, IBV_QPT_RC), *b = side_open(rig, IBV_QPT_RC);
	const struct rdmaez_qp_opts to_b = opts_to(rig, b->qp);
	struct rdmaez_qp_opts to_a = opts_to(rig, a->qp);

	to_a.access = 0;
	tap_eq_int(bring_up(a->qp, &to_b) | bring_up(b->qp, &to_a), 0, "one end names no access");
	/* rxe's check_op_valid() takes what the flags forbid for an unknown request. */
	tap_eq_int(rig_rdma_status(a, b, IBV_WR_RDMA_WRITE), IBV_WC_REM_INV_REQ_ERR,
		   "an RDMA WRITE to it is refused");
	side_close(a);
	side_close(b);
}

/* --- Bad input ---------------------------------------------------------------------------------- */

typedef int step_function(struct ibv_qp *, const struct rdmaez_qp_opts *, struct rdmaez_diag *);

/* The step must fail with this errno, this reason and this field, and change nothing. */
static void refused(struct rig *rig, enum ibv_qp_state state, step_function *step,
		    const struct rdmaez_qp_opts *opts, int want, enum rdmaez_why reason,
		    const char *field, const char *name)
{
	struct side *side = side_at(rig, IBV_QPT_RC, state);
	const struct ibv_qp_attr before = query(side->qp);
	const struct rdmaez_finding *finding;
	struct ibv_qp_attr after;
	struct rdmaez_diag diag;

	memset(&diag, 0xa5, sizeof(diag));
	tap_eq_int(step(side->qp, opts, &diag), want, "%s: errno", name);
	tap_eq_int(diag.error, want, "%s: the record holds it", name);
	finding = rdmaez_diag_find(&diag, reason);
	if (tap_ok(finding, "%s: the reason is %s", name, rdmaez_why_id(reason)))
		tap_eq_str(finding->field, field, "%s: and the field", name);
	else
		for (unsigned int i = 0; i < diag.count; i++)
			tap_diag("found: %s of %s", rdmaez_why_id(diag.finding[i].reason),
				 diag.finding[i].field);
	tap_eq_int(step(side->qp, opts, NULL), want, "%s: the same without a record", name);
	after = query(side->qp);
	tap_ok(memcmp(&before, &after, sizeof(before)) == 0, "%s: the device shows no change",
	       name);
	tap_eq_int(side->qp->state, state, "%s: nor does qp->state", name);
	side_close(side);
}

/* One option of a good bring-up made bad. */
#define BAD(state, step, assignment, want, reason, field)                       \
	do {                                                                    \
		struct rdmaez_qp_opts o = opts_to(rig, peer);                   \
                                                                                \
		assignment;                                                     \
		refused(rig, state, step, &o, want, RDMAEZ_WHY_##reason, field, \
			#step ", " #assignment);                                \
	} while (0)

static void test_bad_options(struct rig *rig)
{
	struct side *side = side_open(rig, IBV_QPT_RC);
	struct ibv_qp *peer = side->qp;
	const int rows = rig->port.gid_tbl_len;

#define INIT(assignment, reason, field) \
	BAD(IBV_QPS_RESET, rdmaez_qp_to_init, assignment, EINVAL, reason, field)
#define RTR(assignment, reason, field) \
	BAD(IBV_QPS_INIT, rdmaez_qp_to_rtr, assignment, EINVAL, reason, field)
#define RTS(assignment, reason, field) \
	BAD(IBV_QPS_RTR, rdmaez_qp_to_rts, assignment, EINVAL, reason, field)

	INIT(o.port = RDMAEZ_ZERO, PORT, "port_num");
	INIT(o.port = 2, PORT, "port_num");
	INIT(o.port = 255, PORT, "port_num");
	INIT(o.port = 256, PORT, "port_num");
	INIT(o.port = -1, PORT, "port_num");
	INIT(o.pkey_index = 65536, RANGE, "pkey_index");
	INIT(o.pkey_index = -1, RANGE, "pkey_index");
	INIT(o.flags = 0x80000000u, OPTION_UNKNOWN, "opts.flags");
	INIT(o.access = 1u << 30, ACCESS_BITS, "qp_access_flags");
	INIT(o.optional = IBV_QP_QKEY, MASK_NOT_ALLOWED, "attr_mask");
	INIT(o.optional = IBV_QP_CAP, MASK_CAP, "attr_mask");

	RTR(o.port = 2, PORT, "port_num");
	RTR(o.mtu = (enum ibv_mtu)1024, MTU_IN_BYTES, "path_mtu");
	RTR(o.mtu = (enum ibv_mtu)6, ENUM, "path_mtu");
	RTR(o.mtu = (enum ibv_mtu) - 1, ENUM, "path_mtu");
	RTR(o.dest_qp_num = 0, RANGE, "dest_qp_num");
	RTR(o.dest_qp_num = 1u << 24, RANGE, "dest_qp_num");
	RTR(o.rq_psn = 1u << 24, RANGE, "rq_psn");
	RTR(o.min_rnr_timer = 32, RANGE, "min_rnr_timer");
	RTR(o.min_rnr_timer = -1, RANGE, "min_rnr_timer");
	RTR(o.max_dest_rd_atomic = -1, RANGE, "max_dest_rd_atomic");
	RTR(o.path.flags = 0x80000000u, OPTION_UNKNOWN, "path.flags");
	RTR(memset(&o.path.dgid, 0, sizeof(o.path.dgid)), GRH_MISSING, "ah_attr.grh.dgid");
	RTR(o.path.sgid_index = rows, GID_INDEX, "ah_attr.grh.sgid_index");
	RTR(o.path.sgid_index = -1, GID_INDEX, "ah_attr.grh.sgid_index");
	RTR(o.path.hop_limit = 256, RANGE, "ah_attr.grh.hop_limit");
	RTR(o.path.traffic_class = 256, RANGE, "ah_attr.grh.traffic_class");
	RTR(o.path.flow_label = 1u << 20, RANGE, "ah_attr.grh.flow_label");
	RTR(o.path.sl = 16, RANGE, "ah_attr.sl");
	RTR(o.path.src_path_bits = 128, RANGE, "ah_attr.src_path_bits");
	BAD(IBV_QPS_INIT, rdmaez_qp_to_rtr, o.path.sgid_index = 200, ENODATA, GID_EMPTY,
	    "ah_attr.grh.sgid_index");

	RTS(o.sq_psn = 1u << 24, RANGE, "sq_psn");
	RTS(o.timeout = 32, RANGE, "timeout");
	RTS(o.timeout = -1, RANGE, "timeout");
	RTS(o.retry_cnt = 8, RANGE, "retry_cnt");
	RTS(o.rnr_retry = 8, RANGE, "rnr_retry");
	RTS(o.max_rd_atomic = -1, RANGE, "max_rd_atomic");

	BAD(IBV_QPS_RESET, rdmaez_qp_to_rts, o.port = 0, EINVAL, TRANSITION, "qp_state");
	BAD(IBV_QPS_RESET, move_to_err, o.port = 0, EINVAL, TRANSITION, "qp_state");
	BAD(IBV_QPS_RTR, rdmaez_qp_to_sqd, o.port = 0, EINVAL, TRANSITION, "qp_state");
	BAD(IBV_QPS_RTS, rdmaez_qp_to_init, o.port = 0, EINVAL, TRANSITION, "qp_state");
	side_close(side);
}

/* An address that no row of this table can reach, for want of the family. */
static void test_family(struct rig *rig)
{
	struct side *side = side_open(rig, IBV_QPT_RC);
	struct ibv_qp *peer = side->qp;
	struct ibv_gid_entry row;

	if (ibv_query_gid_ex(rig->context, 1, 0, &row, 0))
		tap_bail("no row 0: %s", strerror(errno));
	tap_eq_int(rdmaez_gid_class(&row.gid), RDMAEZ_GID_CLASS_LINK_LOCAL, "row 0 is link-local");
	BAD(IBV_QPS_INIT, rdmaez_qp_to_rtr, o.path.sgid_index = RDMAEZ_ZERO, EINVAL, GID_FAMILY,
	    "ah_attr.grh.sgid_index");
	side_close(side);
}

static void test_nulls(struct rig *rig)
{
	static step_function *const steps[] = {rdmaez_qp_to_init, rdmaez_qp_to_rtr,
					       rdmaez_qp_to_rts,  rdmaez_qp_to_sqd,
					       move_to_err,       move_to_reset};
	struct side *side = side_open(rig, IBV_QPT_RC);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	enum ibv_qp_state state = IBV_QPS_UNKNOWN;
	const struct rdmaez_finding *finding;
	struct rdmaez_diag diag;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		tap_eq_int(steps[i](NULL, NULL, &diag), EINVAL, "step %zu without a queue pair", i);
		finding = rdmaez_diag_find(&diag, RDMAEZ_WHY_NULL_ARGUMENT);
		if (tap_ok(finding, "step %zu: the reason is NULL_ARGUMENT", i))
			tap_eq_str(finding->field, "qp", "step %zu: and the field", i);
		tap_eq_int(steps[i](NULL, NULL, NULL), EINVAL, "step %zu: and without a record", i);
	}
	tap_eq_int(rdmaez_qp_state(NULL, &state, NULL), EINVAL, "the state of no queue pair");
	tap_eq_int(state, IBV_QPS_UNKNOWN, "is not written");
	tap_eq_int(rdmaez_qp_state(side->qp, NULL, NULL), EINVAL, "the state to nowhere");
	tap_eq_int(rdmaez_qp_modify(NULL, &attr, IBV_QP_STATE, NULL), EINVAL, "no queue pair");
	tap_eq_int(rdmaez_qp_modify(side->qp, NULL, IBV_QP_STATE, NULL), EINVAL, "no attributes");
	tap_eq_int(query(side->qp).qp_state, IBV_QPS_RESET, "after all that it is in RESET");
	side_close(side);
}

/* What the kernel refuses is explained after the fact. */
static void test_modify(struct rig *rig)
{
	struct side *side = side_open(rig, IBV_QPT_RC);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	const struct rdmaez_finding *finding;
	struct rdmaez_diag diag;

	tap_eq_int(
		rdmaez_qp_modify(side->qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_QKEY, &diag),
		EINVAL, "ibv_modify_qp() with a wrong mask");
	finding = rdmaez_diag_find(&diag, RDMAEZ_WHY_MASK_MISSING);
	if (tap_ok(finding, "bits are missing"))
		tap_eq_hex(finding->value, IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS, "these");
	finding = rdmaez_diag_find(&diag, RDMAEZ_WHY_MASK_NOT_ALLOWED);
	if (tap_ok(finding, "bits are too many"))
		tap_eq_hex(finding->value, IBV_QP_QKEY, "this one");
	tap_eq_int(side->qp->state, IBV_QPS_RESET, "and it is still in RESET");
	tap_eq_int(rdmaez_qp_modify(side->qp, &attr,
				    IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
					    IBV_QP_ACCESS_FLAGS,
				    &diag),
		   0, "with the right mask it works");
	tap_eq_int(side->qp->state, IBV_QPS_INIT, "and it is in INIT");
	side_close(side);
}

int main(void)
{
	struct rig rig = rig_open();

	test_rc_defaults(&rig);
	test_rc_options(&rig);
	test_mtu(&rig);
	test_gid_choice(&rig);
	test_uc(&rig);
	test_ud(&rig);
	test_no_access(&rig);
	test_bad_options(&rig);
	test_family(&rig);
	test_nulls(&rig);
	test_modify(&rig);
	rig_close(&rig);
	return tap_done();
}
