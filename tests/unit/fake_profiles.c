/* SPDX-License-Identifier: MIT */
/*
 * The drivers that the fake stands for: what no other test would notice of a profile's habits, with its exact answers.
 * How they judge a move is compared with rdmaez's records of the drivers by the random requests of qp_check.c, but
 * where they keep their reasons to themselves, as on iWARP.
 */
#include <errno.h>
#include <sys/utsname.h>

#include "fake_verbs.h"
#include "fixture.h"
#include "tap.h"

enum {
	STALE = 0xa5, /* what the kernel's memory held before */
	STATES = IBV_QP_STATE | IBV_QP_CUR_STATE,
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct fake_device *dev;
static struct ibv_context *ctx;

/* A device of this driver in this kernel, opened. */
static void start(const char *release, enum fake_profile profile)
{
	dev = fixture_device(profile, release);
	dev->habits.stale = STALE;
	ctx = fake_open(dev);
}

/* A queue pair put in a state. */
static struct ibv_qp *qp_in(enum ibv_qp_type type, enum ibv_qp_state state)
{
	struct ibv_qp *qp = fake_qp(ctx, type);

	fake_qp_force(qp, state);
	return qp;
}

static struct ibv_qp_attr query(struct ibv_qp *qp, int attr_mask, int error)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	memset(&attr, 0x77, sizeof(attr));
	tap_eq_int(ibv_query_qp(qp, &attr, attr_mask, &init), error, "asking for 0x%x yields %d",
		   (unsigned int)attr_mask, error);
	return attr;
}

/* Values that every driver takes, to a state. */
static struct ibv_qp_attr values(enum ibv_qp_state to)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = to;
	attr.port_num = 1;
	attr.path_mtu = IBV_MTU_1024;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.sgid_index = dev->port[1].attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	attr.ah_attr.grh.dgid = dev->port[1].gid[attr.ah_attr.grh.sgid_index].gid;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 7;
	attr.min_rnr_timer = 12;
	return attr;
}

static void check_modify(struct ibv_qp *qp, struct ibv_qp_attr attr, int attr_mask, int result,
			 const char *what)
{
	tap_eq_int(ibv_modify_qp(qp, &attr, attr_mask), result, "%s", what);
}

/* What the kernel's table demands of a move, on a queue pair of this type. */
static int mask_of(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to)
{
	return fake_qp_rule(type, from, to).required | IBV_QP_STATE;
}

/* ---- The kernel and the devices ----------------------------------------------------------- */

static void test_no_release(void)
{
	struct utsname name;

	fake_reset();
	fake_uname(NULL);
	errno = 0;
	tap_eq_int(uname(&name), -1, "without a release uname() fails");
	tap_eq_int(errno, EFAULT, "with EFAULT");
}

static void test_plain(void)
{
	static struct fake_device before;

	dev = fake_reset();
	before = *dev;
	fake_profile(dev, FAKE_PROFILE_PLAIN);
	tap_ok(!memcmp(dev, &before, sizeof(before)), "the plain profile is the device of a reset");
}

#define RC  FAKE_QPT(IBV_QPT_RC)
#define UC  FAKE_QPT(IBV_QPT_UC)
#define UD  FAKE_QPT(IBV_QPT_UD)
#define RAW FAKE_QPT(IBV_QPT_RAW_PACKET)
#define XRC (FAKE_QPT(IBV_QPT_XRC_SEND) | FAKE_QPT(IBV_QPT_XRC_RECV))

#define RXE_QUIRKS  (FAKE_MTU_UP_TO_MAX | FAKE_NO_ROCE_V1 | FAKE_QUEUE_THEN_CHECK)
#define MLX4_QUIRKS (FAKE_RESET_PURGES_CQ | FAKE_SRQ_EMPTY | FAKE_USER_AH)
#define MLX5_QUIRKS                                                                          \
	(FAKE_NO_SQD | FAKE_EXTENDED_MODIFY | FAKE_POST_SEND_ENOMEM | FAKE_RESET_PURGES_CQ | \
	 FAKE_SRQ_EMPTY)
#define HNS_QUIRKS \
	(FAKE_CUR_STATE_EQUAL | FAKE_NO_SQD | FAKE_MTU_UP_TO_ACTIVE | FAKE_RESET_PURGES_CQ)
#define BNXT_RE_QUIRKS (FAKE_MTU_UP_TO_ACTIVE | FAKE_CUR_STATE_IGNORED)

/* What ibv_query_device(), ibv_query_port() and struct ibv_device tell. */
static void test_devices(void)
{
	static const struct {
		const char *release;
		enum fake_profile profile;
		uint32_t vendor_id, part_id, types;
		int node, transport, link, gids, pkeys, max_pkeys, has_srq;
		uint32_t quirks;
	} rows[] = {
		{"6.1", FAKE_PROFILE_RXE, 0xffffff, 0, RC | UC | UD, 1, 0, 2, 16, 1, 64, 1,
		 RXE_QUIRKS},
		{"6.4", FAKE_PROFILE_RXE, 0xffffff, 0, RC | UC | UD, 1, 0, 2, 16, 1, 64, 1,
		 RXE_QUIRKS},
		{"6.12", FAKE_PROFILE_RXE, 0xffffff, 0, RC | UC | UD, 1, 0, 2, 16, 1, 64, 1,
		 RXE_QUIRKS},
		{"6.1", FAKE_PROFILE_MLX5, 0x2c9, 0x1017, RC | UC | UD | RAW | XRC, 1, 0, 2, 16, 1,
		 128, 1, MLX5_QUIRKS},
		{"7.0", FAKE_PROFILE_MLX5, 0x2c9, 0x1017, RC | UC | UD | RAW | XRC, 1, 0, 2, 16, 1,
		 128, 1, MLX5_QUIRKS},
		{"6.1", FAKE_PROFILE_MLX5_UNDERLAY, 0x2c9, 0x1017, RC | UC | UD | RAW | XRC, 1, 0,
		 1, 16, 128, 128, 1, MLX5_QUIRKS | FAKE_USER_AH},
		{"6.1", FAKE_PROFILE_MLX4, 0x2c9, 0x1003, RC | UC | UD | RAW | XRC, 1, 0, 2, 16, 1,
		 128, 1, MLX4_QUIRKS},
		{"6.1", FAKE_PROFILE_MLX4_BONDED, 0x2c9, 0x1003, RC | UC | UD | RAW | XRC, 1, 0, 2,
		 16, 1, 128, 1, MLX4_QUIRKS},
		{"6.1", FAKE_PROFILE_EFA, 0x1d0f, 0xefa0, UD | 1u << 31, 7, 4, 0, 1, 1, 1, 0,
		 FAKE_SIGNALED_ONLY},
		{"6.1", FAKE_PROFILE_SIW, 0x626d74, 0, RC, 4, 1, 2, 1, 0, 0, 1,
		 FAKE_NEGATIVE_POST | FAKE_QUEUE_THEN_CHECK | FAKE_FEW_OPCODES},
		{"6.12", FAKE_PROFILE_SIW, 0x626d74, 0, RC, 4, 1, 2, 1, 0, 0, 1,
		 FAKE_NEGATIVE_POST | FAKE_QUEUE_THEN_CHECK | FAKE_FEW_OPCODES},
		{"6.1", FAKE_PROFILE_BNXT_RE, 0x14e4, 0x1750, RC | UD, 1, 0, 2, 16, 1, 1, 1,
		 BNXT_RE_QUIRKS},
		{"6.12", FAKE_PROFILE_BNXT_RE, 0x14e4, 0x1750, RC | UD, 1, 0, 2, 16, 1, 1, 1,
		 BNXT_RE_QUIRKS},
		{"7.2", FAKE_PROFILE_BNXT_RE, 0x14e4, 0x1750, RC | UD, 1, 0, 2, 16, 1, 1, 1,
		 BNXT_RE_QUIRKS | FAKE_EXTENDED_MODIFY},
		{"6.1", FAKE_PROFILE_ERDMA, 0x1ded, 0x107f, RC, 4, 1, 2, 1, 0, 0, 0,
		 FAKE_NEGATIVE_POST},
		{"7.2", FAKE_PROFILE_ERDMA_ROCE, 0x1ded, 0x107f, RC | UD, 1, 0, 2, 16, 1, 1, 0,
		 FAKE_NEGATIVE_POST | FAKE_NO_ROCE_V1},
		{"6.12", FAKE_PROFILE_MANA, 0, 0, RC | RAW, 1, 0, 2, 16, 1, 1, 0, 0},
		{"7.2", FAKE_PROFILE_MANA, 0x1414, 3, RC | RAW, 1, 0, 2, 16, 1, 1, 0, 0},
		{"7.2", FAKE_PROFILE_IONIC, 0x1dd8, 0x1003, RC | UC | UD, 1, 0, 2, 16, 1, 1, 0, 0},
		{"6.1", FAKE_PROFILE_HNS, 0x19e5, 0xa222, RC | UD | XRC, 1, 0, 2, 16, 1, 1, 1,
		 HNS_QUIRKS},
		{"6.1", FAKE_PROFILE_IRDMA, 0x8086, 0x1592, RC | UD, 1, 0, 2, 16, 1, 1, 0,
		 FAKE_CUR_STATE_IGNORED | FAKE_RESET_IS_FINAL},
		{"6.1", FAKE_PROFILE_MTHCA, 0x2c9, 0x6274, RC | UC | UD, 1, 0, 1, 16, 128, 128, 1,
		 0},
		{"6.1", FAKE_PROFILE_OCRDMA, 0x10df, 0x720, RC | UC | UD, 1, 0, 2, 16, 1, 1, 1,
		 FAKE_CUR_STATE_IGNORED},
		{"6.1", FAKE_PROFILE_QEDR, 0x1077, 0x1656, RC, 1, 0, 2, 16, 1, 1, 1,
		 FAKE_CUR_STATE_IGNORED | FAKE_NEGATIVE_ERRNO},
		{"6.1", FAKE_PROFILE_PVRDMA, 0x15ad, 0x820, RC | UD, 1, 0, 2, 16, 1, 1, 1, 0},
		{"6.1", FAKE_PROFILE_RDMAVT, 0x1175, 0x24f0, RC | UC | UD, 1, 0, 1, 16, 128, 128, 1,
		 0},
		{"6.1", FAKE_PROFILE_QIB, 0x1175, 0x7322, RC | UC | UD, 1, 0, 1, 16, 128, 128, 1,
		 0},
		{"6.1", FAKE_PROFILE_USNIC, 0x1137, 0xcf, UD, IBV_NODE_USNIC_UDP,
		 IBV_TRANSPORT_USNIC_UDP, 2, 1, 1, 1, 0, 0},
		{"7.2", FAKE_PROFILE_IRDMA, 0x8086, 0x1592, RC | UD, 1, 0, 2, 16, 1, 1, 1,
		 FAKE_CUR_STATE_IGNORED | FAKE_RESET_IS_FINAL},
		{"6.1", FAKE_PROFILE_IRDMA_IWARP, 0x8086, 0x1592, RC, 4, 1, 2, 1, 0, 0, 0, 0},
		{"6.1", FAKE_PROFILE_CXGB4, 0x1425, 0x5401, RC, 4, 1, 2, 1, 0, 0, 1, 0},
	};
	unsigned int tested = 0;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct ibv_device_attr attr;
		struct ibv_port_attr port;
		int number = (int)rows[i].profile;

		start(rows[i].release, rows[i].profile);
		tested |= 1u << number;
		tap_eq_int(ibv_query_device(ctx, &attr), 0, "profile %d of %s answers", number,
			   rows[i].release);
		tap_eq_hex(attr.vendor_id, rows[i].vendor_id, "profile %d: vendor", number);
		tap_eq_hex(attr.vendor_part_id, rows[i].part_id, "profile %d: part", number);
		tap_eq_hex(dev->qp_types, rows[i].types, "profile %d: types", number);
		tap_eq_hex(dev->quirks, rows[i].quirks, "profile %d: quirks", number);
		tap_eq_int(attr.max_srq > 0, rows[i].has_srq, "profile %d: shared queues", number);
		tap_eq_int(attr.max_srq_wr > 0, rows[i].has_srq, "profile %d: their size", number);
		tap_eq_int(ctx->device->node_type, rows[i].node, "profile %d: node", number);
		tap_eq_int(ctx->device->transport_type, rows[i].transport, "profile %d: transport",
			   number);
		tap_eq_int(ibv_query_port(ctx, 1, &port), 0, "profile %d has a port", number);
		tap_eq_int(port.link_layer, rows[i].link, "profile %d: link layer", number);
		tap_eq_int(port.gid_tbl_len, rows[i].gids, "profile %d: GIDs", number);
		tap_eq_int(port.pkey_tbl_len, rows[i].pkeys, "profile %d: P_Keys", number);
		tap_eq_int(attr.max_pkeys, rows[i].max_pkeys, "profile %d: P_Keys of all", number);
		tap_eq_int(!!(attr.device_cap_flags & IBV_DEVICE_XRC), !!(rows[i].types & XRC),
			   "profile %d: XRC", number);
		tap_eq_int(port.flags & IBV_QPF_GRH_REQUIRED,
			   rows[i].link == 2 && !rows[i].transport ? IBV_QPF_GRH_REQUIRED : 0,
			   "profile %d: addresses", number);
	}
	tap_eq_hex(tested, FIXTURE_DRIVERS, "each driver of the fake is in the list");
}

/* ---- Asking ------------------------------------------------------------------------------- */

/*
 * Which fields are told, by their bits, and which port; the others are 0 or what was there. The truth has a
 * number of its own in each.
 */
static void check_fields(const char *release, enum fake_profile profile, enum ibv_qp_type type,
			 int told, int other, int port)
{
	const uint32_t wide = other ? 0xa5a5a5a5u : 0;
	struct ibv_qp_attr attr, *truth;
	struct ibv_qp *qp;

	start(release, profile);
	dev->port[1].pkey[4] = 0x8004;
	qp = qp_in(type, IBV_QPS_RTR);
	truth = fixture_truth(qp);
	truth->port_num = 3;
	truth->qkey = 5;
	truth->timeout = 6;
	truth->ah_attr.sl = 7;
	truth->ah_attr.port_num = 8;
	truth->alt_timeout = 9;
	truth->pkey_index = 4;
	truth->min_rnr_timer = 10;
	truth->rq_psn = 11;
	truth->dest_qp_num = 12;
	truth->sq_draining = 13;
	attr = query(qp, (1 << 21) - 1, 0);
	tap_eq_int(attr.qp_state, told & IBV_QP_STATE ? IBV_QPS_RTR : other, "the state");
	tap_eq_int(qp->state, attr.qp_state, "is what libibverbs believes");
	tap_eq_int(attr.cur_qp_state, told & IBV_QP_CUR_STATE ? IBV_QPS_RTR : other,
		   "the current state");
	tap_eq_int(attr.port_num, port, "the port");
	tap_eq_int(attr.cap.max_send_wr, told & IBV_QP_CAP ? 16 : wide, "the queues");
	tap_eq_hex(attr.qkey, told & IBV_QP_QKEY ? 5 : wide, "the Q_Key");
	tap_eq_int(attr.timeout, told & IBV_QP_TIMEOUT ? 6 : other, "the timeout");
	tap_eq_int(attr.ah_attr.sl, told & IBV_QP_AV ? 7 : other, "the path");
	tap_eq_int(attr.ah_attr.port_num, told & FAKE_FIELD_AH_PORT ? 8 : other, "its port");
	tap_eq_int(attr.alt_timeout, told & IBV_QP_ALT_PATH ? 9 : other, "the other path");
	tap_eq_int(attr.min_rnr_timer, told & IBV_QP_MIN_RNR_TIMER ? 10 : other, "the RNR timer");
	tap_eq_hex(attr.rq_psn, told & IBV_QP_RQ_PSN ? 11 : wide, "the PSN");
	tap_eq_hex(attr.dest_qp_num, told & IBV_QP_DEST_QPN ? 12 : wide, "the peer");
	tap_eq_int(attr.sq_draining, told & FAKE_FIELD_SQ_DRAINING ? 13 : other, "draining");
	tap_eq_hex(attr.pkey_index,
		   !(told & IBV_QP_PKEY_INDEX)     ? (uint16_t)wide
		   : profile == FAKE_PROFILE_IRDMA ? 0x8004
						   : 4,
		   "the P_Key");
}

static void test_query(void)
{
	const int all = ((1 << 21) - 1) | FAKE_FIELD_SQ_DRAINING | FAKE_FIELD_AH_PORT;
	const int path = IBV_QP_AV | IBV_QP_ALT_PATH | FAKE_FIELD_AH_PORT;
	const int bnxt = all & ~(IBV_QP_ALT_PATH | FAKE_FIELD_AH_PORT | FAKE_FIELD_SQ_DRAINING);
	const int erdma = IBV_QP_CAP | STATES | IBV_QP_RQ_PSN | FAKE_FIELD_SQ_DRAINING |
			  IBV_QP_PKEY_INDEX | IBV_QP_DEST_QPN;
	const int raw = STATES | IBV_QP_CAP | IBV_QP_PORT;
	const struct {
		const char *release;
		enum fake_profile profile;
		enum ibv_qp_type type;
		int told, other, port;
	} rows[] = {
		{"6.1", FAKE_PROFILE_PLAIN, IBV_QPT_RC, all, STALE, 3},
		{"6.1", FAKE_PROFILE_RXE, IBV_QPT_RC, all & ~IBV_QP_CUR_STATE, 0, 3},
		{"6.4", FAKE_PROFILE_RXE, IBV_QPT_RC, all, 0, 3},
		{"6.1", FAKE_PROFILE_MLX5, IBV_QPT_RC, all, 0, 3},
		{"6.1", FAKE_PROFILE_MLX5, IBV_QPT_UD, all & ~path, 0, 3},
		{"6.1", FAKE_PROFILE_MLX5, IBV_QPT_RAW_PACKET, raw, 0, 1},
		{"6.1", FAKE_PROFILE_MLX5_UNDERLAY, IBV_QPT_UD, raw, 0, 1},
		{"6.1", FAKE_PROFILE_MLX4, IBV_QPT_UD, all & ~path, STALE, 3},
		{"6.1", FAKE_PROFILE_MLX4, IBV_QPT_RC, all, STALE, 3},
		{"6.1", FAKE_PROFILE_MLX4, IBV_QPT_XRC_RECV, all, STALE, 3},
		{"6.1", FAKE_PROFILE_MLX4, IBV_QPT_XRC_SEND, all, STALE, 3},
		{"6.1", FAKE_PROFILE_MLX4, IBV_QPT_UC, all, STALE, 3},
		{"6.1", FAKE_PROFILE_MLX4_BONDED, IBV_QPT_RC, all, STALE, 2},
		{"6.1", FAKE_PROFILE_SIW, IBV_QPT_RC, IBV_QP_CAP, STALE, STALE},
		{"6.12", FAKE_PROFILE_SIW, IBV_QPT_RC, IBV_QP_CAP | IBV_QP_STATE, STALE, STALE},
		{"6.1", FAKE_PROFILE_BNXT_RE, IBV_QPT_RC, bnxt & ~IBV_QP_PORT, STALE, STALE},
		{"6.12", FAKE_PROFILE_BNXT_RE, IBV_QPT_RC, bnxt, STALE, 3},
		{"7.2", FAKE_PROFILE_BNXT_RE, IBV_QPT_RC, bnxt, STALE, 3},
		{"6.1", FAKE_PROFILE_ERDMA, IBV_QPT_RC, IBV_QP_CAP | STATES, STALE, STALE},
		{"7.2", FAKE_PROFILE_ERDMA_ROCE, IBV_QPT_RC, erdma | IBV_QP_AV | FAKE_FIELD_AH_PORT,
		 STALE, STALE},
		{"7.2", FAKE_PROFILE_ERDMA_ROCE, IBV_QPT_UD, erdma, STALE, STALE},
		{"7.2", FAKE_PROFILE_IONIC, IBV_QPT_RC,
		 all & ~(IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ALT_PATH), 0, 0},
		{"6.1", FAKE_PROFILE_HNS, IBV_QPT_RC, all & ~(IBV_QP_PKEY_INDEX | IBV_QP_ALT_PATH),
		 0, 3},
		{"6.1", FAKE_PROFILE_HNS, IBV_QPT_UD, all & ~(IBV_QP_PKEY_INDEX | path), 0, 3},
		{"6.1", FAKE_PROFILE_IRDMA, IBV_QPT_RC,
		 all & ~(path | IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER | FAKE_FIELD_SQ_DRAINING), 0,
		 1},
		{"6.1", FAKE_PROFILE_IRDMA_IWARP, IBV_QPT_RC, IBV_QP_CAP | STATES, 0, 1},
		{"6.1", FAKE_PROFILE_CXGB4, IBV_QPT_RC, IBV_QP_CAP | STATES, 0, 0},
		{"6.1", FAKE_PROFILE_MTHCA, IBV_QPT_UD, all & ~path, STALE, 3},
		{"6.1", FAKE_PROFILE_OCRDMA, IBV_QPT_UD, all, STALE, 1},
		{"6.1", FAKE_PROFILE_QEDR, IBV_QPT_RC, all & ~(IBV_QP_QKEY | IBV_QP_ALT_PATH), 0,
		 1},
		{"6.1", FAKE_PROFILE_PVRDMA, IBV_QPT_RC, all, STALE, 3},
		{"6.1", FAKE_PROFILE_RDMAVT, IBV_QPT_UD, all, STALE, 3},
		{"6.1", FAKE_PROFILE_QIB, IBV_QPT_UD, all, STALE, 3},
		{"6.1", FAKE_PROFILE_USNIC, IBV_QPT_UD, STATES, 0, 0},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check_fields(rows[i].release, rows[i].profile, rows[i].type, rows[i].told,
			     rows[i].other, rows[i].port);
}

/* In RESET, mlx4 leaves the rest alone, and hns clears it. */
static void test_query_in_reset(void)
{
	struct ibv_qp_attr attr;

	start("6.1", FAKE_PROFILE_MLX4);
	attr = query(fake_qp(ctx, IBV_QPT_RC), IBV_QP_STATE, 0);
	tap_eq_int(attr.qp_state, IBV_QPS_RESET, "mlx4 tells that it is in RESET");
	tap_eq_int(attr.port_num, STALE, "but nothing of the port");
	tap_eq_int(attr.retry_cnt, STALE, "nor of the rest");
	start("6.1", FAKE_PROFILE_HNS);
	dev->habits.query_clears = false; /* to see that it is not filled */
	attr = query(fake_qp(ctx, IBV_QPT_RC), IBV_QP_STATE, 0);
	tap_eq_int(attr.qp_state, IBV_QPS_RESET, "hns tells that it is in RESET");
	tap_eq_int(attr.retry_cnt, STALE, "and nothing else");
	start("6.1", FAKE_PROFILE_MTHCA);
	attr = query(fake_qp(ctx, IBV_QPT_RC), IBV_QP_STATE, 0);
	tap_eq_int(attr.qp_state, IBV_QPS_RESET, "mthca tells that it is in RESET");
	tap_eq_int(attr.cap.max_send_wr, 16, "and the queues");
	tap_eq_int(attr.port_num, STALE, "but nothing of the port");
	start("6.1", FAKE_PROFILE_PVRDMA);
	attr = query(fake_qp(ctx, IBV_QPT_RC), IBV_QP_STATE, 0);
	tap_eq_int(attr.cur_qp_state, IBV_QPS_RESET, "pvrdma tells that it is in RESET");
	tap_eq_int(attr.port_num, STALE, "but nothing of the port");
	tap_eq_int(attr.cap.max_send_wr, 0xa5a5a5a5u, "nor of the queues");
}

static void test_query_refused(void)
{
	const int efa = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY |
			IBV_QP_SQ_PSN | IBV_QP_CAP | IBV_QP_RNR_RETRY;
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	start("6.1", FAKE_PROFILE_EFA);
	qp = fake_qp_driver(ctx, FAKE_SRD);
	fake_qp_force(qp, IBV_QPS_RTS);
	for (int bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1)
		query(qp, bit, bit & efa ? 0 : EOPNOTSUPP);
	attr = query(qp, efa, 0);
	tap_eq_int(attr.qp_state, IBV_QPS_RTS, "efa tells the state");
	tap_eq_int(attr.cur_qp_state, 0, "not the current one");
	tap_eq_int(attr.port_num, 1, "its only port");
	tap_eq_int(attr.cap.max_recv_wr, 16, "and the queues");
	attr = query(fake_qp(ctx, IBV_QPT_UD), efa, 0);
	tap_eq_int(attr.port_num, 1, "the port even in RESET");

	start("6.12", FAKE_PROFILE_MANA);
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS);
	query(qp, IBV_QP_STATE, EOPNOTSUPP);
	query(qp, 0, EOPNOTSUPP);
	tap_eq_int(qp->state, IBV_QPS_RESET, "mana answers nothing, and no state becomes known");
}

static void test_query_elsewhere(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	start("6.1", FAKE_PROFILE_MLX4_BONDED);
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	attr = query(qp, IBV_QP_PORT, 0);
	tap_eq_int(attr.port_num, 2, "a bonded mlx4 has the queue pair on another port");
	tap_eq_int(fake_qp_true(qp)->port_num, 1, "than the one that the core keeps");

	start("6.1", FAKE_PROFILE_IRDMA);
	attr = query(qp_in(IBV_QPT_RC, IBV_QPS_INIT), IBV_QP_PKEY_INDEX, 0);
	tap_eq_hex(attr.pkey_index, 0xffff, "irdma tells a P_Key in place of its index");
	tap_eq_int(attr.port_num, 1, "and its only port");

	qp = fake_qp(ctx, IBV_QPT_RC);
	memset(&attr, 0, sizeof(attr));
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_QKEY), 0, "irdma takes a Q_Key in RESET");
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	tap_eq_int(
		ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0, "and is not moved by that: it enters INIT, unlike after RESET");

	start("7.2", FAKE_PROFILE_IONIC);
	dev->habits.query_clears = false; /* to see what is not filled */
	attr = query(qp_in(IBV_QPT_RC, IBV_QPS_RTR), IBV_QP_STATE, 0);
	tap_eq_int(attr.ah_attr.sl, STALE, "ionic tells the path only if it is asked for it");
	attr = query(qp_in(IBV_QPT_RC, IBV_QPS_RTR), IBV_QP_AV, 0);
	tap_eq_int(attr.ah_attr.sl, 0, "and then it does");
}

/* ---- Moves: what takes no part in the table ------------------------------------------------ */

static void test_iwarp_of(const char *release, enum fake_profile profile, int closing)
{
	static const struct {
		enum ibv_qp_state from, to, after;
		int error; /* -1: where a closing connection is left */
	} rows[] = {
		{IBV_QPS_INIT, IBV_QPS_RESET, IBV_QPS_INIT, 0},
		{IBV_QPS_INIT, IBV_QPS_INIT, IBV_QPS_INIT, 0},
		{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_INIT, 0},
		{IBV_QPS_INIT, IBV_QPS_RTS, IBV_QPS_INIT, EINVAL},
		{IBV_QPS_INIT, IBV_QPS_SQD, IBV_QPS_INIT, 0},
		{IBV_QPS_INIT, IBV_QPS_ERR, IBV_QPS_ERR, 0},
		{IBV_QPS_RTS, IBV_QPS_RESET, IBV_QPS_RTS, 0},
		{IBV_QPS_RTS, IBV_QPS_INIT, IBV_QPS_RTS, 0},
		{IBV_QPS_RTS, IBV_QPS_RTR, IBV_QPS_RTS, 0},
		{IBV_QPS_RTS, IBV_QPS_RTS, IBV_QPS_RTS, 0},
		{IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQD, 0},
		{IBV_QPS_RTS, IBV_QPS_SQE, IBV_QPS_SQE, 0},
		{IBV_QPS_RTS, IBV_QPS_ERR, IBV_QPS_ERR, 0},
		{IBV_QPS_SQD, IBV_QPS_RESET, IBV_QPS_INIT, 0},
		{IBV_QPS_SQD, IBV_QPS_RTS, IBV_QPS_SQD, -1},
		{IBV_QPS_SQD, IBV_QPS_SQD, IBV_QPS_SQD, 0},
		{IBV_QPS_SQD, IBV_QPS_ERR, IBV_QPS_ERR, 0},
		{IBV_QPS_SQE, IBV_QPS_RTS, IBV_QPS_SQE, 0},
		{IBV_QPS_SQE, IBV_QPS_ERR, IBV_QPS_ERR, 0},
		{IBV_QPS_ERR, IBV_QPS_RESET, IBV_QPS_ERR, 0},
		{IBV_QPS_ERR, IBV_QPS_RTS, IBV_QPS_ERR, 0},
	};

	start(release, profile);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct ibv_qp *qp = qp_in(IBV_QPT_RC, rows[i].from);
		int error = rows[i].error < 0 ? closing : rows[i].error;

		check_modify(qp, values(rows[i].to), IBV_QP_STATE, error, "an iWARP move");
		tap_eq_int(fake_qp_true(qp)->qp_state, rows[i].after, "from %d to %d it is in %d",
			   rows[i].from, rows[i].to, rows[i].after);
		if (!error)
			tap_eq_int(qp->state, rows[i].to, "libibverbs believes that it worked");
	}
}

/* All forty-nine moves of a driver, as a row of states for each: what follows, or - for EINVAL. */
static void test_all_iwarp_moves(enum fake_profile profile, const char *const table[7])
{
	static const char names[] = "RIrtdeE"; /* RESET, INIT, rtr, rts, sqd, sqe, ERR */

	start("6.1", profile);
	for (int from = 0; from < 7; from++) {
		if (table[from][0] == '?')
			continue; /* it is never there */
		for (int to = 0; to < 7; to++) {
			struct ibv_qp *qp = qp_in(IBV_QPT_RC, (enum ibv_qp_state)from);
			char want = table[from][to];

			check_modify(qp, values((enum ibv_qp_state)to), IBV_QP_STATE,
				     want == '-' ? EINVAL : 0, "an iWARP move");
			tap_eq_int(names[fake_qp_true(qp)->qp_state],
				   want == '-' ? names[from] : want, "from %c to %c it is in %c",
				   names[from], names[to], want);
		}
	}
}

/* Only the state counts, and the port, of which there is one. */
static void test_usnic(void)
{
	static const char *const table[7] = {"RI--  E", "R-r-  E", "RI-t  E", "RI--  E",
					     "       ", "       ", "R---  -"};

	start("6.1", FAKE_PROFILE_USNIC);
	for (int from = 0; from < 7; from++)
		for (int to = 0; to < 7; to++) {
			struct ibv_qp *qp;

			if (table[from][to] == ' ')
				continue; /* the kernel asks its table before, or it is never there */
			qp = qp_in(IBV_QPT_UD, (enum ibv_qp_state)from);
			check_modify(qp, values((enum ibv_qp_state)to), IBV_QP_STATE,
				     table[from][to] == '-' ? EINVAL : 0, "a move of usnic");
			tap_eq_int(fake_qp_true(qp)->qp_state, table[from][to] == '-' ? from : to,
				   "from %d to %d it is there, or has stayed", from, to);
		}
	check_modify(qp_in(IBV_QPT_UD, IBV_QPS_RTS), values(IBV_QPS_RTS), IBV_QP_QKEY, EINVAL,
		     "usnic takes nothing without a state");
}

static void test_iwarp_of_others(void)
{
	/* A row for each state that it is in, of a letter for each that it is told. */
	static const char *const cxgb4[7] = {"?",       "III---E", "?",      "--ttdeE",
					     "--d-d--", "--e--e-", "IIE---E"};
	static const char *const irdma[7] = {"RIr-ReE", "RIr-IeE", "RIr-reE", "R--tdeE",
					     "R---deE", "R---e-E", "R---E-E"};
	struct ibv_qp *qp;

	test_all_iwarp_moves(FAKE_PROFILE_CXGB4, cxgb4);
	test_all_iwarp_moves(FAKE_PROFILE_IRDMA_IWARP, irdma);
	start("6.1", FAKE_PROFILE_CXGB4);
	check_modify(fake_qp(ctx, IBV_QPT_RC), values(IBV_QPS_RTR), IBV_QP_STATE | IBV_QP_RQ_PSN,
		     EINVAL, "cxgb4 takes no PSN");
	check_modify(fake_qp(ctx, IBV_QPT_RC), values(IBV_QPS_INIT), IBV_QP_ACCESS_FLAGS, 0,
		     "rights, at the beginning");
	check_modify(qp_in(IBV_QPT_RC, IBV_QPS_RTS), values(IBV_QPS_RTS), IBV_QP_ACCESS_FLAGS, EIO,
		     "and not later");
	start("6.1", FAKE_PROFILE_IRDMA_IWARP);
	qp = fake_qp(ctx, IBV_QPT_RC);
	tap_eq_int(fake_qp_true(qp)->qp_state, IBV_QPS_RESET, "irdma begins in RESET");
	check_modify(qp, values(IBV_QPS_RESET), IBV_QP_STATE, 0, "and may be put there");
	check_modify(qp, values(IBV_QPS_INIT), IBV_QP_STATE, EINVAL, "but then it is useless");
	check_modify(qp, values(IBV_QPS_SQD), IBV_QP_STATE, 0, "whatever it says to SQD");
}

static void test_iwarp(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	test_iwarp_of("6.1", FAKE_PROFILE_SIW, 0);
	test_iwarp_of("6.12", FAKE_PROFILE_SIW, 0);
	test_iwarp_of("6.1", FAKE_PROFILE_ERDMA, ECONNABORTED);

	start("6.12", FAKE_PROFILE_SIW);
	qp = fake_qp(ctx, IBV_QPT_RC);
	attr = query(qp, IBV_QP_STATE, 0);
	tap_eq_int(attr.qp_state, IBV_QPS_INIT, "a new queue pair of siw is in INIT");
	tap_eq_int(attr.path_mtu, IBV_MTU_1024, "its MTU is the port's");
	tap_eq_int(attr.max_rd_atomic, 16, "its depths the device's");
	tap_eq_hex(attr.qp_access_flags, 7, "and its rights are always the same");
	attr = values(IBV_QPS_RESET);
	attr.max_rd_atomic = attr.max_dest_rd_atomic = 255;
	attr.path_mtu = (enum ibv_mtu)77;
	attr.pkey_index = 99;
	attr.timeout = attr.retry_cnt = attr.rnr_retry = attr.min_rnr_timer = 255;
	check_modify(qp, attr,
		     IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_PATH_MTU |
			     IBV_QP_PKEY_INDEX | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER | IBV_QP_QKEY | IBV_QP_CAP,
		     0, "siw ignores all else");
	check_modify(qp, attr, 0, 0, "as well as nothing");
	attr = query(qp, IBV_QP_PATH_MTU, 0);
	tap_eq_int(attr.path_mtu, IBV_MTU_1024, "nothing changed");
	tap_eq_int(attr.max_rd_atomic, 16, "indeed nothing");
}

static void test_mana(void)
{
	struct ibv_qp *qp;

	for (int i = 0; i < 2; i++) {
		start(i ? "7.2" : "6.12", FAKE_PROFILE_MANA);
		qp = fake_qp(ctx, IBV_QPT_RC);
		check_modify(qp, values(IBV_QPS_RTS), IBV_QP_STATE, 0,
			     "mana leaves it to the hardware");
		check_modify(qp, values(IBV_QPS_INIT), IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_PORT, 0,
			     "whatever it is");
		check_modify(fake_qp(ctx, IBV_QPT_RAW_PACKET), values(IBV_QPS_INIT),
			     IBV_QP_STATE | IBV_QP_PORT, EOPNOTSUPP, "but for RC alone");
		query(qp, IBV_QP_STATE, EOPNOTSUPP);
	}
}

/* ---- Moves: types of a driver's own -------------------------------------------------------- */

#define INIT_DCT (IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define RTR_DCT  (IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU)
#define RTS_DCI                                                                           \
	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | \
	 IBV_QP_SQ_PSN)

/* Written down once more from shared tables of the drivers: srd_qp_state_table and mlx5's functions. */
static void test_own_rules(void)
{
	static const struct {
		enum fake_driver_type type;
		enum ibv_qp_state from, to;
		int legal, required, optional;
	} rows[] = {
		{FAKE_DCI, IBV_QPS_RESET, IBV_QPS_INIT, 1, IBV_QP_PKEY_INDEX | IBV_QP_PORT, 0},
		{FAKE_DCI, IBV_QPS_INIT, IBV_QPS_INIT, 1, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT},
		{FAKE_DCI, IBV_QPS_INIT, IBV_QPS_RTR, 1, IBV_QP_PATH_MTU,
		 IBV_QP_PKEY_INDEX | IBV_QP_AV},
		{FAKE_DCI, IBV_QPS_RTR, IBV_QPS_RTS, 1, RTS_DCI, IBV_QP_MIN_RNR_TIMER},
		{FAKE_DCI, IBV_QPS_RTS, IBV_QPS_RTS, 1, 0, IBV_QP_MIN_RNR_TIMER},
		{FAKE_DCI, IBV_QPS_RESET, IBV_QPS_RESET, 1, 0, 0},
		{FAKE_DCI, IBV_QPS_RTS, IBV_QPS_RESET, 1, 0, 0},
		{FAKE_DCI, IBV_QPS_SQE, IBV_QPS_ERR, 1, 0, 0},
		{FAKE_DCI, IBV_QPS_RESET, IBV_QPS_ERR, 0, 0, 0},
		{FAKE_DCI, IBV_QPS_RTS, IBV_QPS_SQD, 0, 0, 0},
		{FAKE_DCI, IBV_QPS_SQE, IBV_QPS_RTS, 0, 0, 0},
		{FAKE_DCT, IBV_QPS_RESET, IBV_QPS_INIT, 1, INIT_DCT, 0},
		{FAKE_DCT, IBV_QPS_INIT, IBV_QPS_RTR, 1, RTR_DCT, 0},
		{FAKE_DCT, IBV_QPS_INIT, IBV_QPS_INIT, 0, 0, 0},
		{FAKE_DCT, IBV_QPS_RTR, IBV_QPS_RTS, 0, 0, 0},
		{FAKE_DCT, IBV_QPS_RTR, IBV_QPS_RESET, 0, 0, 0},
		{FAKE_DCT, IBV_QPS_RTR, IBV_QPS_ERR, 0, 0, 0},
		{FAKE_DCT, IBV_QPS_RESET, IBV_QPS_RESET, 0, 0, 0},
		{FAKE_UNDERLAY, IBV_QPS_RESET, IBV_QPS_INIT, 1, 0, IBV_QP_CUR_STATE},
		{FAKE_UNDERLAY, IBV_QPS_RTR, IBV_QPS_RTS, 1, 0, IBV_QP_CUR_STATE},
		{FAKE_UNDERLAY, IBV_QPS_RESET, IBV_QPS_RTS, 0, 0, 0},
		{FAKE_UNDERLAY, IBV_QPS_RESET, IBV_QPS_ERR, 1, 0, IBV_QP_CUR_STATE},
		{FAKE_UNDERLAY, IBV_QPS_RTS, IBV_QPS_SQD, 0, 0, 0},
		{FAKE_UNDERLAY, IBV_QPS_SQE, IBV_QPS_RTS, 1, 0, IBV_QP_CUR_STATE},
		{FAKE_NO_DRIVER_TYPE, IBV_QPS_RESET, IBV_QPS_INIT, 0, 0, 0},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fake_rule rule = fake_driver_rule(rows[i].type, rows[i].from, rows[i].to);

		tap_eq_int(rule.legal, rows[i].legal, "type %d, %d to %d: legal", rows[i].type,
			   rows[i].from, rows[i].to);
		tap_eq_hex(rule.required, rows[i].required, "type %d, %d to %d: required",
			   rows[i].type, rows[i].from, rows[i].to);
		tap_eq_hex(rule.optional, rows[i].optional, "type %d, %d to %d: optional",
			   rows[i].type, rows[i].from, rows[i].to);
	}
}

static void test_dci(void)
{
	struct ibv_qp *qp;

	start("6.1", FAKE_PROFILE_MLX5);
	qp = fake_qp_driver(ctx, FAKE_DCI);
	check_modify(qp, values(IBV_QPS_INIT),
		     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, EINVAL,
		     "a DCI has no rights to give");
	check_modify(qp, values(IBV_QPS_INIT), IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT, 0,
		     "to INIT");
	check_modify(qp, values(IBV_QPS_RTR), IBV_QP_STATE | IBV_QP_PATH_MTU, 0, "to RTR");
	check_modify(qp, values(IBV_QPS_RTS), IBV_QP_STATE | RTS_DCI, 0, "to RTS");
	check_modify(qp, values(IBV_QPS_RTS), IBV_QP_MIN_RNR_TIMER, EINVAL, "always with a state");
	check_modify(qp, values(IBV_QPS_RTS), IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER, 0, "so");
	check_modify(qp, values(IBV_QPS_SQD), IBV_QP_STATE, EINVAL, "there is no SQD");
	check_modify(qp, values(IBV_QPS_ERR), IBV_QP_STATE, 0, "to ERR");
	check_modify(qp, values(IBV_QPS_RESET), IBV_QP_STATE, 0, "to RESET");
}

/* ---- Moves: by the table, more or less ----------------------------------------------------- */

/* Where only a state is judged, cur_qp_state alone changes nothing. */
static void test_cur_state_alone(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	start("6.12", FAKE_PROFILE_RXE);
	attr = values(IBV_QPS_RTS);
	attr.cur_qp_state = IBV_QPS_RTS;
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	check_modify(qp, attr, IBV_QP_CUR_STATE, 0, "rxe of 6.12 takes cur_qp_state alone");
	tap_eq_int(fake_qp_true(qp)->qp_state, IBV_QPS_INIT, "and stays where it is");
	start("6.1", FAKE_PROFILE_MLX5);
	qp = qp_in(IBV_QPT_RC, IBV_QPS_SQD);
	check_modify(qp, attr, IBV_QP_CUR_STATE, 0, "mlx5 takes it, too");
	tap_eq_int(fake_qp_true(qp)->qp_state, IBV_QPS_RTS, "and believes it");
}

static void check_rate(const char *release, enum fake_profile profile, enum ibv_qp_type type,
		       int attr_mask, int error)
{
	struct ibv_qp_attr attr;

	start(release, profile);
	attr = values(IBV_QPS_RTS);
	attr.rate_limit = 1000;
	check_modify(qp_in(type, IBV_QPS_RTS), attr, attr_mask | IBV_QP_RATE_LIMIT, error,
		     "a rate limit");
}

static void test_rate(void)
{
	check_rate("6.12", FAKE_PROFILE_MLX5, IBV_QPT_RAW_PACKET, IBV_QP_STATE, 0);
	check_rate("6.12", FAKE_PROFILE_MLX5, IBV_QPT_RC, IBV_QP_STATE, EINVAL);
	check_rate("7.2", FAKE_PROFILE_MLX5, IBV_QPT_RAW_PACKET, IBV_QP_STATE, 0);
	check_rate("7.2", FAKE_PROFILE_MLX5, IBV_QPT_RC, IBV_QP_STATE, EOPNOTSUPP);
	check_rate("6.12", FAKE_PROFILE_BNXT_RE, IBV_QPT_RC, IBV_QP_STATE, EOPNOTSUPP);
	check_rate("7.2", FAKE_PROFILE_BNXT_RE, IBV_QPT_RC, IBV_QP_STATE, 0);
	check_rate("7.2", FAKE_PROFILE_BNXT_RE, IBV_QPT_UD, IBV_QP_STATE, EINVAL);
	check_rate("7.2", FAKE_PROFILE_IONIC, IBV_QPT_RC, IBV_QP_STATE, EOPNOTSUPP);

	start("7.2", FAKE_PROFILE_IONIC);
	dev->quirks |= FAKE_EXTENDED_MODIFY; /* a library that passes it on */
	check_modify(qp_in(IBV_QPT_RC, IBV_QPS_RTR), values(IBV_QPS_RTS),
		     mask_of(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS) | IBV_QP_RATE_LIMIT, 0,
		     "ionic takes a rate to RTS");
	check_modify(qp_in(IBV_QPT_RC, IBV_QPS_INIT), values(IBV_QPS_RTR),
		     mask_of(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR) | IBV_QP_RATE_LIMIT, 0,
		     "and to RTR");
	check_modify(qp_in(IBV_QPT_RC, IBV_QPS_RESET), values(IBV_QPS_INIT),
		     mask_of(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT) | IBV_QP_RATE_LIMIT, EINVAL,
		     "not to INIT");
	check_modify(qp_in(IBV_QPT_RC, IBV_QPS_INIT), values(IBV_QPS_INIT), IBV_QP_RATE_LIMIT,
		     EINVAL, "nor in it");
	check_modify(qp_in(IBV_QPT_RC, IBV_QPS_RTS), values(IBV_QPS_ERR),
		     IBV_QP_STATE | IBV_QP_RATE_LIMIT, EINVAL, "nor to ERR");
	check_modify(qp_in(IBV_QPT_RC, IBV_QPS_SQD), values(IBV_QPS_RTS),
		     IBV_QP_STATE | IBV_QP_RATE_LIMIT, EINVAL, "nor out of SQD");
	start("7.2", FAKE_PROFILE_MLX5);
	check_modify(qp_in(IBV_QPT_RAW_PACKET, IBV_QPS_RTR), values(IBV_QPS_RTR), IBV_QP_RATE_LIMIT,
		     0, "mlx5 keeps a rate for later, where there is no move");
	check_modify(qp_in(IBV_QPT_RC, IBV_QPS_RTR), values(IBV_QPS_RTR), IBV_QP_RATE_LIMIT,
		     EOPNOTSUPP, "of RAW_PACKET");
	check_modify(qp_in(IBV_QPT_RAW_PACKET, IBV_QPS_RTR), values(IBV_QPS_RTR),
		     IBV_QP_RATE_LIMIT | IBV_QP_STATE, EINVAL, "and not with the state");
	start("6.12", FAKE_PROFILE_MLX5);
	check_modify(qp_in(IBV_QPT_RAW_PACKET, IBV_QPS_INIT), values(IBV_QPS_INIT),
		     IBV_QP_RATE_LIMIT, EINVAL, "before Linux 7 it does not");
}

static void test_access(void)
{
	const int mask = IBV_QP_ACCESS_FLAGS;
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	memset(&attr, 0, sizeof(attr));
	for (int i = 0; i < 2; i++) {
		start(i ? "6.12" : "6.1", FAKE_PROFILE_BNXT_RE);
		qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
		check_modify(qp, attr, mask, 0, "bnxt_re takes no rights");
		tap_eq_hex(fake_qp_true(qp)->qp_access_flags, 7, "and gives some up to Linux 6.12");
	}
	start("7.2", FAKE_PROFILE_BNXT_RE);
	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT);
	check_modify(qp, attr, mask, 0, "bnxt_re takes no rights");
	tap_eq_hex(fake_qp_true(qp)->qp_access_flags, 1, "and gives none away in Linux 7");
}

/* ---- Values ------------------------------------------------------------------------------- */

/* What each driver says to one value that others do not take; the result of all of them. */
struct judged {
	const char *release;
	enum fake_profile profile;
	int depth, dest_depth; /* one above the device's limit */
	int other, dest_other; /* one above the limit of the other depth, which is less */
	int pkey;              /* a row beyond the table */
	int mtu_0, mtu_256,
		mtu_4096;        /* no MTU; the least; the port's greatest, above the active one */
	int timeout, rnr, retry; /* 32, 32 and 8 */
};

static int judge(struct ibv_qp_attr attr, enum ibv_qp_state from, enum ibv_qp_state to)
{
	int result = ibv_modify_qp(qp_in(IBV_QPT_RC, from), &attr, mask_of(IBV_QPT_RC, from, to));

	return result < 0 ? -result : result;
}

static void check_judged(const struct judged *row)
{
	struct ibv_device_attr *limit;
	struct ibv_qp_attr rtr, rts, init;

	start(row->release, row->profile);
	limit = &dev->attr.orig_attr;
	rtr = values(IBV_QPS_RTR);
	rts = values(IBV_QPS_RTS);
	init = values(IBV_QPS_INIT);
#define JUDGE(attr, field, value, from, to, want)                                                  \
	do {                                                                                       \
		struct ibv_qp_attr with = attr;                                                    \
		with.field = value;                                                                \
		tap_eq_int(judge(with, from, to), want, "profile %d of %s: " #field " is " #value, \
			   (int)row->profile, row->release);                                       \
	} while (0)
	limit->max_qp_init_rd_atom = 4;
	limit->max_qp_rd_atom = 8;
	JUDGE(rts, max_rd_atomic, 9, IBV_QPS_RTR, IBV_QPS_RTS, row->depth);
	JUDGE(rts, max_rd_atomic, 5, IBV_QPS_RTR, IBV_QPS_RTS, row->other ? 0 : row->depth);
	limit->max_qp_init_rd_atom = 8;
	limit->max_qp_rd_atom = 4;
	JUDGE(rtr, max_dest_rd_atomic, 9, IBV_QPS_INIT, IBV_QPS_RTR, row->dest_depth);
	JUDGE(rtr, max_dest_rd_atomic, 5, IBV_QPS_INIT, IBV_QPS_RTR,
	      row->dest_other ? 0 : row->dest_depth);
	JUDGE(init, pkey_index, 200, IBV_QPS_RESET, IBV_QPS_INIT, row->pkey ? EINVAL : 0);
	limit->max_pkeys = 200;
	JUDGE(init, pkey_index, 200, IBV_QPS_RESET, IBV_QPS_INIT, row->pkey ? EINVAL : 0);
	/* A row that the device has, and the port's table does not tell. */
	limit->max_pkeys = 201;
	JUDGE(init, pkey_index, 200, IBV_QPS_RESET, IBV_QPS_INIT, row->pkey < 0 ? 0 : row->pkey);
	JUDGE(rtr, path_mtu, (enum ibv_mtu)0, IBV_QPS_INIT, IBV_QPS_RTR, row->mtu_0);
	JUDGE(rtr, path_mtu, IBV_MTU_256, IBV_QPS_INIT, IBV_QPS_RTR, row->mtu_256);
	JUDGE(rtr, path_mtu, IBV_MTU_4096, IBV_QPS_INIT, IBV_QPS_RTR, row->mtu_4096);
	JUDGE(rtr, path_mtu, (enum ibv_mtu)6, IBV_QPS_INIT, IBV_QPS_RTR,
	      row->profile == FAKE_PROFILE_RXE      ? EINVAL
	      : row->profile == FAKE_PROFILE_RDMAVT ? 0
						    : row->mtu_0);
	JUDGE(rtr, path_mtu, (enum ibv_mtu)8, IBV_QPS_INIT, IBV_QPS_RTR,
	      row->profile == FAKE_PROFILE_RXE ? EINVAL : row->mtu_0);
	JUDGE(rts, timeout, 32, IBV_QPS_RTR, IBV_QPS_RTS, row->timeout);
	JUDGE(rts, timeout, 31, IBV_QPS_RTR, IBV_QPS_RTS, 0);
	JUDGE(rtr, min_rnr_timer, 31, IBV_QPS_INIT, IBV_QPS_RTR, 0);
	JUDGE(rts, retry_cnt, 7, IBV_QPS_RTR, IBV_QPS_RTS, 0);
	JUDGE(rtr, min_rnr_timer, 32, IBV_QPS_INIT, IBV_QPS_RTR, row->rnr);
	JUDGE(rts, retry_cnt, 8, IBV_QPS_RTR, IBV_QPS_RTS, row->retry);
	JUDGE(rts, rnr_retry, 8, IBV_QPS_RTR, IBV_QPS_RTS, row->retry);
#undef JUDGE
}

static void test_values(void)
{
	enum {
		E = EINVAL,
		D = -1, /* EINVAL, but for those that the device has */
	};
	static const struct judged rows[] = {
		{"6.1", FAKE_PROFILE_PLAIN, E, E, 0, 0, E, E, 0, 0, 0, 0, 0},
		{"6.1", FAKE_PROFILE_RXE, E, 0, 1, 0, 0, 0, 0, 0, E, 0, 0},
		{"6.12", FAKE_PROFILE_RXE, E, 0, 1, 0, 0, 0, 0, 0, E, 0, 0},
		{"6.1", FAKE_PROFILE_MLX5, E, E, 0, 0, D, E, 0, 0, 0, 0, 0},
		{"6.1", FAKE_PROFILE_MLX4, E, E, 0, 0, D, E, 0, 0, 0, 0, 0},
		{"6.1", FAKE_PROFILE_BNXT_RE, 0, E, 0, 1, 0, 0, 0, E, 0, 0, 0},
		{"7.2", FAKE_PROFILE_BNXT_RE, 0, E, 0, 1, 0, 0, 0, E, 0, 0, 0},
		{"7.2", FAKE_PROFILE_ERDMA_ROCE, 0, 0, 0, 0, E, 0, 0, 0, 0, 0, 0},
		{"7.2", FAKE_PROFILE_IONIC, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{"6.1", FAKE_PROFILE_HNS, E, E, 0, 0, E, E, 0, E, 0, 0, 0},
		{"6.1", FAKE_PROFILE_IRDMA, E, E, 0, 0, E, 0, 0, 0, 0, 0, 0},
		{"6.1", FAKE_PROFILE_MTHCA, E, E, 0, 0, D, E, 0, E, 0, 0, 0},
		{"6.1", FAKE_PROFILE_OCRDMA, E, E, 0, 0, 0, E, E, 0, 0, 0, 0},
		{"6.1", FAKE_PROFILE_QEDR, E, E, 0, 0, E, E, 0, 0, 0, 0, 0},
		{"6.1", FAKE_PROFILE_PVRDMA, 0, 0, 0, 0, D, 0, 0, 0, 0, E, 0},
		{"6.1", FAKE_PROFILE_RDMAVT, 0, E, 0, 0, E, E, 0, 0, 0, E, E},
		{"6.1", FAKE_PROFILE_QIB, 0, E, 0, 0, E, E, 0, 0, 0, E, E},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check_judged(&rows[i]);
}

/* ---- What is not a move ------------------------------------------------------------------- */

static void check_send(struct ibv_qp *qp, int result, bool bad)
{
	struct ibv_send_wr wr, *bad_wr = NULL;

	memset(&wr, 0, sizeof(wr));
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	tap_eq_int(ibv_post_send(qp, &wr, &bad_wr), result, "a send in state %d yields %d",
		   fake_qp_true(qp)->qp_state, result);
	tap_eq_ptr(bad_wr, bad ? &wr : NULL, "bad_wr %s", bad ? "tells" : "is not set");
}

static void check_recv(struct ibv_qp *qp, int num_sge, int result)
{
	struct ibv_recv_wr wr, *bad_wr = NULL;
	struct ibv_sge sge[5];

	memset(&wr, 0, sizeof(wr));
	memset(sge, 0, sizeof(sge));
	wr.num_sge = num_sge;
	wr.sg_list = sge;
	tap_eq_int(ibv_post_recv(qp, &wr, &bad_wr), result, "a receive of %d SGEs yields %d",
		   num_sge, result);
	tap_eq_ptr(bad_wr, result ? &wr : NULL, "bad_wr");
}

static void test_posting(void)
{
	struct ibv_qp *qp;

	start("6.1", FAKE_PROFILE_SIW);
	qp = fake_qp(ctx, IBV_QPT_RC);
	check_send(qp, -1, false);
	check_recv(qp, 0, -EINVAL);
	check_recv(qp, 1, 0);
	check_recv(qp, 5, -EINVAL);
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS);
	for (int i = 0; i < 16; i++)
		check_send(qp, 0, false);
	check_send(qp, -ENOMEM, true);

	start("6.1", FAKE_PROFILE_ERDMA);
	qp = fake_qp(ctx, IBV_QPT_RC);
	check_send(qp, 0, false);
	check_recv(qp, 0, 0);
	qp->state = IBV_QPS_ERR;
	check_send(qp, -EIO, true);
	check_recv(qp, 1, -EIO);

	start("6.1", FAKE_PROFILE_RXE);
	check_send(qp_in(IBV_QPT_RC, IBV_QPS_INIT), EINVAL, false);
	start("6.1", FAKE_PROFILE_MLX5);
	check_send(qp_in(IBV_QPT_RC, IBV_QPS_INIT), ENOMEM, true);
}

/* Whether one of this size can be created; the errno value if not. */
static int create_srq(uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr init;

	memset(&init, 0, sizeof(init));
	init.attr.max_wr = max_wr;
	init.attr.max_sge = max_sge;
	return ibv_create_srq(ibv_alloc_pd(ctx), &init) ? 0 : errno;
}

static void test_shared_receives(void)
{
	struct ibv_recv_wr wr, *bad_wr;
	struct ibv_srq *srq;

	memset(&wr, 0, sizeof(wr));
	wr.num_sge = 5;
	start("6.1", FAKE_PROFILE_MLX4);
	srq = fake_srq(ctx, IBV_SRQT_BASIC);
	tap_eq_int(ibv_post_srq_recv(srq, &wr, &bad_wr), -1, "mlx4 says -1");
	wr.num_sge = 4;
	for (int i = 0; i < 16; i++)
		tap_eq_int(ibv_post_srq_recv(srq, &wr, &bad_wr), 0, "there is room");
	tap_eq_int(ibv_post_srq_recv(srq, &wr, &bad_wr), -1, "and -1 where there is none");
	wr.num_sge = 5;
	start("6.1", FAKE_PROFILE_BNXT_RE);
	tap_eq_int(ibv_post_srq_recv(fake_srq(ctx, IBV_SRQT_BASIC), &wr, &bad_wr), ENOMEM,
		   "bnxt_re says ENOMEM");
	tap_eq_int(create_srq(16384, 1), EINVAL, "and takes less than it promises");
	tap_eq_int(create_srq(16383, 1), 0, "by one");
	start("6.1", FAKE_PROFILE_SIW);
	tap_eq_int(ibv_post_srq_recv(fake_srq(ctx, IBV_SRQT_BASIC), &wr, &bad_wr), -EINVAL,
		   "siw says -EINVAL");
	start("6.1", FAKE_PROFILE_HNS);
	tap_eq_int(create_srq(1, 0), EINVAL, "hns takes no queue without SGEs");
	start("6.1", FAKE_PROFILE_MLX5);
	tap_eq_int(create_srq(0, 0), 0, "which mlx5 takes, even empty");
	start("6.1", FAKE_PROFILE_RXE);
	dev->attr.orig_attr.max_srq = 0;
	tap_eq_int(create_srq(1, 1), EOPNOTSUPP, "no queues at all");
	dev->attr.orig_attr.max_srq = 1;
	tap_eq_int(create_srq(1, 1), 0, "one queue");
	tap_eq_int(create_srq(1, 1), EINVAL, "for rxe, one too many is EINVAL");
}

static void check_ece(struct ibv_qp *qp, int result, uint32_t options, const char *what)
{
	struct ibv_ece ece = {1, 2, 3};

	tap_eq_int(ibv_query_ece(qp, &ece), result, "%s: asking for ECE", what);
	tap_eq_int(ece.vendor_id, result ? 1 : 0x15b3, "%s: the vendor", what);
	tap_eq_int(ece.options, result ? 2 : options, "%s: the options", what);
	tap_eq_int(ece.comp_mask, result ? 3 : 0, "%s: the mask", what);
}

static void check_set_ece(struct ibv_qp *qp, uint32_t vendor, uint32_t comp_mask, int result)
{
	struct ibv_ece ece = {vendor, 0x30000001, comp_mask};

	tap_eq_int(ibv_set_ece(qp, &ece), result, "setting ECE of 0x%x, mask %u", vendor,
		   comp_mask);
	tap_eq_int(fake_last(FAKE_SET_ECE)->arg.ece.options, 0x30000001, "is recorded");
}

static void test_ece(void)
{
	const int mask = mask_of(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT);
	struct ibv_qp *qp;

	start("6.1", FAKE_PROFILE_RXE);
	qp = fake_qp(ctx, IBV_QPT_RC);
	check_ece(qp, EOPNOTSUPP, 0, "rxe");
	check_set_ece(qp, 0x15b3, 0, EOPNOTSUPP);
	start("6.1", FAKE_PROFILE_MLX5);
	qp = fake_qp(ctx, IBV_QPT_RC);
	check_ece(qp, 0, 0, "mlx5 answers even where the firmware has none");
	check_set_ece(qp, 0x15b3, 0, EOPNOTSUPP);
	dev->ece_options = 0x10000001;
	qp = fake_qp(ctx, IBV_QPT_RC);
	check_ece(qp, 0, 0x10000001, "mlx5 tells what the firmware offers");
	check_set_ece(qp, 0, 0, EOPNOTSUPP);
	check_set_ece(qp, 0x15b4, 0, EINVAL);
	check_set_ece(qp, 0x15b3, 1, EINVAL);
	check_ece(qp, 0, 0x10000001, "a refusal changes nothing");
	check_set_ece(qp, 0x15b3, 0, 0);
	check_ece(qp, 0, 0, "what was set is only kept");
	check_modify(qp, values(IBV_QPS_RTR), mask, EINVAL, "a move is refused");
	check_ece(qp, 0, 0, "it is still kept");
	check_modify(qp, values(IBV_QPS_INIT), mask, 0, "the next move succeeds");
	check_ece(qp, 0, 0x10000001, "and has taken it, as far as the firmware can");
	fake_fail(FAKE_QUERY_ECE, 1, EIO);
	check_ece(qp, EIO, 0, "asking is made to fail");
	fake_fail(FAKE_SET_ECE, 1, EIO);
	check_set_ece(qp, 0x15b3, 0, EIO);
}

int main(void)
{
	test_no_release();
	test_plain();
	test_devices();
	test_query();
	test_query_in_reset();
	test_query_refused();
	test_query_elsewhere();
	test_iwarp();
	test_iwarp_of_others();
	test_usnic();
	test_mana();
	test_own_rules();
	test_dci();
	test_cur_state_alone();
	test_rate();
	test_access();
	test_values();
	test_posting();
	test_shared_receives();
	test_ece();
	fake_close_all();
	return tap_done();
}
