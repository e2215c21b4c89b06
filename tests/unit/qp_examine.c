/* SPDX-License-Identifier: MIT */
/* Why nothing happens: what rdmaez_qp_examine() finds, finding by finding, and what it makes of missing answers. */
#define _GNU_SOURCE /* mkdtemp() */
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "findings.h"
#include "fixture.h"

enum {
	PEER = 17,
	ROW = 3, /* of the GID table: IPv4-mapped, RoCE v2 */
	LIMITED = 0x7fff,
	/* What is wanted of queue pairs that count READs and time. */
	WAITS = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS,
	ALWAYS = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_EN_SQD_ASYNC_NOTIFY,
	PATH = IBV_QP_DEST_QPN | IBV_QP_PATH_MTU | IBV_QP_AV,
};

static struct {
	struct fake_device *dev;
	struct ibv_port_attr *port;
	struct ibv_qp *qp;
	struct ibv_qp_attr *is; /* the hardware's own */
	struct rdmaez_diag diag;
	char path[64]; /* of files that stand for sysfs */
} t;

/* Nothing is wrong with this queue pair of rxe, nor with its port. */
static void start(enum ibv_qp_type type, enum ibv_qp_state state)
{
	static const uint8_t peer[16] = {[10] = 0xff, 0xff, 192, 0, 2, 77};

	t.dev = fake_reset();
	t.dev->attr.orig_attr.vendor_id = 0xffffff;
	snprintf(t.dev->verbs.ibdev_path, sizeof(t.dev->verbs.ibdev_path), "%s", t.path);
	t.port = &t.dev->port[1].attr;
	t.qp = fixture_qp(fake_open(t.dev), type, state);
	t.is = fixture_truth(t.qp);
	t.is->timeout = 14;
	t.is->retry_cnt = 7;
	t.is->rnr_retry = 6;
	t.is->retry_cnt = 6;
	t.is->min_rnr_timer = 12;
	t.is->max_rd_atomic = t.is->max_dest_rd_atomic = 1;
	t.is->qp_access_flags = IBV_ACCESS_REMOTE_READ;
	t.is->path_mtu = IBV_MTU_1024;
	t.is->dest_qp_num = PEER;
	t.is->ah_attr.is_global = 1;
	t.is->ah_attr.grh.sgid_index = ROW;
	memcpy(t.is->ah_attr.grh.dgid.raw, peer, sizeof(peer));
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

static int examine(void)
{
	return rdmaez_qp_examine(t.qp, &t.diag);
}

#define CERTAIN(reason, field, ...) {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define LIKELY(reason, field, ...)  {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define ADVICE(reason, field, ...)  {RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define NUMBERLESS                  RDMAEZ_VALUE_NONE, 0, 0, 0
#define COUNTED(n)                  RDMAEZ_VALUE_COUNTED, n, 0, 0
#define SUITS(row)                  LIKELY(GID_SUITS, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_GID_INDEX, row, 0, 0)
#define NOTHING                     ADVICE(QP_NOTHING_FOUND, "qp", NUMBERLESS)
#define CHECK(name, ...) \
	CHECK_FINDINGS(&t.diag, examine(), 0, "rdmaez_qp_examine", name, __VA_ARGS__)

static void check_nothing(void)
{
	static const struct {
		enum ibv_qp_type type;
		int asked;
	} rows[] = {
		{IBV_QPT_RC, ALWAYS | WAITS | PATH},
		{IBV_QPT_XRC_SEND, ALWAYS | WAITS | PATH},
		{IBV_QPT_XRC_RECV, ALWAYS | WAITS | PATH},
		{IBV_QPT_UC, ALWAYS | PATH},
		{IBV_QPT_UD, ALWAYS},
		{IBV_QPT_RAW_PACKET, ALWAYS},
		{IBV_QPT_DRIVER, ALWAYS | WAITS},
	};

	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.dev->attr.orig_attr.max_mcast_grp = 8;
	CHECK("a device with multicast, of which RC has none", NOTHING);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		start(rows[i].type, IBV_QPS_RTS);
		CHECK("nothing is wrong", NOTHING);
		tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask, rows[i].asked,
			   "no more is asked than the type has");
		tap_eq_int(fake_count(FAKE_ANY), rows[i].asked & IBV_QP_AV ? 5 : 3,
			   "device, queue pair, port and perhaps GIDs are asked, once");
		tap_eq_int(fake_count(FAKE_QUERY_GID_EX), rows[i].asked & IBV_QP_AV ? 1 : 0,
			   "the GID where there is a path");
		tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), rows[i].asked & IBV_QP_AV ? 1 : 0,
			   "and the others");
		tap_eq_int(t.diag.qp_num, t.qp->qp_num, "the record names the queue pair");
		tap_eq_int(t.diag.qp_type, rows[i].type, "its type");
		tap_eq_int(t.diag.from, IBV_QPS_RTS, "its state");
		tap_eq_int(t.diag.to, -1, "and no other");
		tap_eq_str(t.diag.device, "fake0", "the device");
		tap_eq_str(t.diag.driver, "rdma_rxe", "and the driver");
	}
	start(IBV_QPT_RC, IBV_QPS_RTS);
	tap_eq_int(rdmaez_qp_examine(t.qp, NULL), 0, "without a record there is nothing to do");
	tap_eq_int(fake_count(FAKE_ANY), 0, "and nothing is asked");
	tap_eq_int(rdmaez_qp_examine(NULL, NULL), EINVAL, "no queue pair, no record");
	CHECK_FINDINGS(&t.diag, rdmaez_qp_examine(NULL, &t.diag), EINVAL, "rdmaez_qp_examine",
		       "no queue pair", CERTAIN(NULL_ARGUMENT, "qp", NUMBERLESS));
}

/* ---- The state ---------------------------------------------------------------------------- */

#define RTS_ONLY      (1 << IBV_QPS_RTS)
#define RECEIVES      (1 << IBV_QPS_RTR | 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE)
#define STATE(needed) RDMAEZ_VALUE_STATE_NOW, (uint64_t)t.is->qp_state, 0, needed

static void check_states(void)
{
	for (int state = IBV_QPS_RESET; state <= IBV_QPS_INIT; state++) {
		start(IBV_QPT_RC, (enum ibv_qp_state)state);
		CHECK("neither way", CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)),
		      CERTAIN(QP_NO_RECEIVES, "qp_state", STATE(RECEIVES)));
		start(IBV_QPT_XRC_SEND, (enum ibv_qp_state)state);
		CHECK("an end that only sends", CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)));
		start(IBV_QPT_XRC_RECV, (enum ibv_qp_state)state);
		CHECK("an end that only receives",
		      CERTAIN(QP_NO_RECEIVES, "qp_state", STATE(RECEIVES)));
		start(IBV_QPT_RAW_PACKET, (enum ibv_qp_state)state);
		CHECK("a type with ways of its own",
		      LIKELY(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)),
		      LIKELY(QP_NO_RECEIVES, "qp_state", STATE(RECEIVES)));
	}
	start(IBV_QPT_UD, IBV_QPS_RTR);
	CHECK("RTR", CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)));
	start(IBV_QPT_XRC_RECV, IBV_QPS_RTR);
	CHECK("RTR is enough to receive", NOTHING);
	start(IBV_QPT_UC, IBV_QPS_SQE);
	CHECK("SQE", CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)));
	start(IBV_QPT_RC, IBV_QPS_SQD);
	CHECK("SQD, drained", CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)));
	t.is->sq_draining = 1;
	CHECK("SQD, draining", CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)),
	      LIKELY(SQ_DRAINING, "sq_draining", RDMAEZ_VALUE_NUMBER, 1, 0, 0));
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->sq_draining = 1;
	CHECK("draining, but not in SQD", NOTHING);
	start(IBV_QPT_RC, IBV_QPS_ERR);
	CHECK("ERR", CERTAIN(WR_QP_ERROR, "qp_state", STATE(RTS_ONLY)));
	tap_eq_int(t.diag.from, IBV_QPS_ERR, "the record has the state");
}

/* An error on the wire moves a queue pair, and libibverbs does not know. */
static void check_stale(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	fake_qp_force(t.qp, IBV_QPS_ERR);
	CHECK("qp->state is stale", CERTAIN(WR_QP_ERROR, "qp_state", STATE(RTS_ONLY)),
	      ADVICE(QP_STALE, "state", NUMBERLESS));
	tap_eq_int(t.qp->state, IBV_QPS_ERR, "and then refreshed");
	CHECK("the second time it is not", CERTAIN(WR_QP_ERROR, "qp_state", STATE(RTS_ONLY)));
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.dev->verbs.transport_type = IBV_TRANSPORT_IWARP;
	t.qp->state = IBV_QPS_INIT;
	CHECK("rdma_cm moves queue pairs of iWARP", NOTHING);
}

/* ---- Numbers and the path ----------------------------------------------------------------- */

static void check_numbers(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->max_rd_atomic = 0;
	CHECK("a READ that never leaves",
	      LIKELY(DEPTH_ZERO_HANG, "max_rd_atomic", RDMAEZ_VALUE_NUMBER, 0, 1, 255));
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->timeout = 0;
	CHECK("no ACK timer", LIKELY(TIMEOUT_ZERO, "timeout", RDMAEZ_VALUE_NUMBER, 0, 1, 31));
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->rnr_retry = 7;
	CHECK("RNR retries without end",
	      ADVICE(RNR_ENDLESS, "rnr_retry", RDMAEZ_VALUE_NUMBER, 7, 0, 6));
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->retry_cnt = 7;
	CHECK("retries without end, on rxe",
	      ADVICE(RETRY_ENDLESS, "retry_cnt", RDMAEZ_VALUE_NUMBER, 7, 0, 6));
	t.dev->attr.orig_attr.vendor_id = 0x2c9;
	t.dev->attr.orig_attr.vendor_part_id = 0x1017;
	CHECK("and no more than seven on mlx5", NOTHING);
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->max_dest_rd_atomic = 0;
	CHECK("no READ is accepted",
	      ADVICE(DEPTH_ZERO, "max_dest_rd_atomic", RDMAEZ_VALUE_NUMBER, 0, 1, 255));
	t.is->qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC;
	CHECK("no atomic is accepted",
	      ADVICE(DEPTH_ZERO, "max_dest_rd_atomic", RDMAEZ_VALUE_NUMBER, 0, 1, 255));
	t.is->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	CHECK("nor is any allowed", NOTHING);
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->min_rnr_timer = 0;
	CHECK("the longest RNR timer",
	      ADVICE(RNR_TIMER_ZERO, "min_rnr_timer", RDMAEZ_VALUE_NUMBER, 0, 1, 31));

	/* Each end of XRC has half of them. In RTR what the sender needs is not set yet. */
	for (int i = 0; i < 4; i++) {
		static const struct {
			enum ibv_qp_type type;
			enum ibv_qp_state state;
		} ends[] = {{IBV_QPT_XRC_SEND, IBV_QPS_RTS},
			    {IBV_QPT_XRC_RECV, IBV_QPS_RTS},
			    {IBV_QPT_RC, IBV_QPS_RTR},
			    {IBV_QPT_RC, IBV_QPS_SQD}};

		start(ends[i].type, ends[i].state);
		t.is->max_rd_atomic = t.is->timeout = 0;
		t.is->rnr_retry = 7;
		t.is->max_dest_rd_atomic = t.is->min_rnr_timer = 0;
		examine();
		tap_eq_int(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_TIMEOUT_ZERO) != NULL, i % 3 == 0,
			   "end %d and its timeout", i);
		tap_eq_int(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_RNR_ENDLESS) != NULL, i % 3 == 0,
			   "end %d and its RNR retries", i);
		tap_eq_int(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_DEPTH_ZERO_HANG) != NULL,
			   i % 3 == 0, "end %d and its READs", i);
		tap_eq_int(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_DEPTH_ZERO) != NULL, i > 0,
			   "end %d and the peer's READs", i);
		tap_eq_int(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_RNR_TIMER_ZERO) != NULL, i > 0,
			   "end %d and its RNR timer", i);
	}
	start(IBV_QPT_UC, IBV_QPS_RTS);
	t.is->timeout = t.is->max_rd_atomic = t.is->max_dest_rd_atomic = t.is->min_rnr_timer = 0;
	t.is->rnr_retry = 7;
	CHECK("UC has none of them", NOTHING);
}

static void check_path(void)
{
	struct fake_gid *row;

	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->dest_qp_num = 0;
	CHECK("no peer", LIKELY(RANGE, "dest_qp_num", RDMAEZ_VALUE_HEX, 0, 1, 0xffffff));
	start(IBV_QPT_UC, IBV_QPS_RTR);
	t.is->path_mtu = IBV_MTU_2048;
	CHECK("packets that are too large", CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)),
	      LIKELY(MTU_ABOVE_ACTIVE, "path_mtu", RDMAEZ_VALUE_MTU, IBV_MTU_2048, IBV_MTU_256,
		     IBV_MTU_1024));
	start(IBV_QPT_RC, IBV_QPS_SQD);
	row = &t.dev->port[1].gid[ROW];
	row->ifindex = 0;
	CHECK("a GID without an interface", CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)),
	      LIKELY(GID_NO_NETDEV, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_INDEX, ROW, 0, 0),
	      SUITS(2));
	start(IBV_QPT_RC, IBV_QPS_RTS);
	row->gid = t.dev->port[1].gid[5].gid;
	CHECK("another GID than on the way to RTR",
	      LIKELY(GID_FAMILY, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_INDEX, ROW, 0, 0),
	      SUITS(2));
	tap_eq_int(t.diag.source.gid_index, ROW, "the record has the index");
	tap_eq_int(t.diag.source.gid.raw[0], 0x20, "the GID");
	tap_eq_int(t.diag.destination.raw[15], 77, "and the peer's");
	t.is->ah_attr.grh.dgid.raw[12] = 224;
	CHECK("a multicast group needs no route", NOTHING);
	memset(&row->gid, 0, sizeof(row->gid));
	CHECK("an empty row",
	      LIKELY(GID_EMPTY, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_INDEX, ROW, 0, 0), SUITS(2));
	tap_eq_int(t.diag.source.gid_index, ROW, "the record has its index");
	tap_eq_int(t.diag.source.port_num, 1, "and its port");
	fake_fail(FAKE_QUERY_GID_EX, 1, EIO);
	CHECK("a row that is not told", LIKELY(DEVICE_GONE, "ibv_query_gid_ex", NUMBERLESS));
	tap_eq_int(t.diag.source.gid.raw[0], 0, "has no GID");
	fake_fail(FAKE_QUERY_GID_EX, 1, EINVAL);
	CHECK("nor why", LIKELY(QUERY_REFUSED, "ibv_query_gid_ex", NUMBERLESS));
	t.is->ah_attr.grh.dgid.raw[12] = 192;
	CHECK("an empty row, and a peer to find",
	      LIKELY(GID_EMPTY, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_INDEX, ROW, 0, 0), SUITS(2));
	t.is->ah_attr.is_global = 0;
	CHECK("no GRH, no row", NOTHING);

	/* Attributes that are set on the way to RTR. */
	start(IBV_QPT_RC, IBV_QPS_INIT);
	t.is->dest_qp_num = 0;
	t.is->path_mtu = IBV_MTU_4096;
	t.is->ah_attr.grh.sgid_index = 9;
	t.is->max_dest_rd_atomic = 0;
	CHECK("there is no path in INIT", CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)),
	      CERTAIN(QP_NO_RECEIVES, "qp_state", STATE(RECEIVES)));
	fixture_state(t.qp, IBV_QPS_ERR);
	CHECK("and none that matters in ERR", CERTAIN(WR_QP_ERROR, "qp_state", STATE(RTS_ONLY)));

	start(IBV_QPT_RC, IBV_QPS_RTS);
	fake_port_infiniband(&t.dev->port[1]);
	t.is->ah_attr.grh.sgid_index = 0;
	CHECK("InfiniBand has no interfaces, and resolves nothing", NOTHING);
}

/* The way to the peer, as the kernel's routing and its neighbours tell it. */
static void check_way(void)
{
#define INDEX(row)     RDMAEZ_VALUE_INDEX, row, 0, 0
#define GID_INDEX(row) RDMAEZ_VALUE_GID_INDEX, row, 0, 0
	struct fake_gid *row;

	start(IBV_QPT_RC, IBV_QPS_RTS);
	fake_tree_new();
	row = t.dev->port[1].gid;
	row[7] = row[ROW];
	memcpy(&row[7].gid.raw[12], (const uint8_t[4]){192, 0, 3, 1}, 4);
	fake_route_from("192.0.3.1");
	CHECK("another index", LIKELY(GID_BY_ROUTE, "ah_attr.grh.sgid_index", GID_INDEX(7)));
	fake_route_from("192.0.4.1");
	CHECK("another interface", ADVICE(ROUTE_ELSEWHERE, "ah_attr.grh.dgid", INDEX(ROW)));
	fake_route_from("192.0.2.1");
	CHECK("the way from here", NOTHING);
	fake_route(ENETUNREACH);
	CHECK("no way", LIKELY(NO_ROUTE, "ah_attr.grh.dgid", INDEX(ROW)));
	fake_route(0);
	fake_tree_file("/proc/net/arp", "IP address HW type Flags\n192.0.2.77 0x1 0x0 0 * veth0\n");
	CHECK("the kernel looks for the peer", LIKELY(NEIGHBOUR, "ah_attr.grh.dgid", INDEX(ROW)));
	fake_tree_file("/proc/net/arp", "IP address HW type Flags\n192.0.2.77 0x1 0x2 0 * veth0\n");
	CHECK("and has found it", NOTHING);
	t.is->ah_attr.grh.sgid_index = 9;
	memset(row, 0, 16 * sizeof(*row));
	CHECK("an empty table", LIKELY(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX(9)),
	      LIKELY(GID_TABLE_EMPTY, "ah_attr.grh.sgid_index", INDEX(9)));
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->ah_attr.grh.sgid_index = 1;
	t.is->ah_attr.grh.dgid = t.dev->port[1].gid[1].gid;
	CHECK("link-local at both ends",
	      LIKELY(GID_ROUTABLE, "ah_attr.grh.sgid_index", GID_INDEX(ROW)));
	tap_eq_int(fake_route_count(), 0, "is not asked for a route");
	start(IBV_QPT_RC, IBV_QPS_RTS);
	fake_port_infiniband(&t.dev->port[1]);
	t.is->ah_attr.grh.sgid_index = 0;
	fake_route(ENETUNREACH);
	CHECK("InfiniBand", NOTHING);
	tap_eq_int(fake_route_count(), 0, "has no routes");
#undef INDEX
}

/* What MLNX_OFED has in files of the priorities that lose nothing: here of DSCPs 24 to 31 by default. */
static void check_class(void)
{
#define LOSSY(value, least)                                                              \
	ADVICE(QP_LOSSY, "ah_attr.grh.traffic_class", RDMAEZ_VALUE_NUMBER, value, least, \
	       (least) + 31)
#define UNTAGGED   ADVICE(QP_UNTAGGED, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_INDEX, ROW, 0, 0)
#define TAG(value) ADVICE(QP_VLAN_PRIORITY, "ah_attr.sl", RDMAEZ_VALUE_NUMBER, value, 3, 3)
	static const char pfc[] = "/sys/class/net/veth0/qos/pfc";
	static const char all[] = "/sys/fake0/tc/1/traffic_class";
	static const char trust[] = "/sys/class/net/veth0/qos/trust";

	start(IBV_QPT_RC, IBV_QPS_RTS);
	fake_tree_new();
	fake_netdev(t.dev->port[1].gid[ROW].ifindex, "veth0");
	snprintf(t.dev->verbs.ibdev_path, sizeof(t.dev->verbs.ibdev_path), "/sys/fake0");
	fake_tree_file(pfc, "00010000\n");
	CHECK("without what decides", NOTHING);
	fake_tree_file(trust, "dscp\n");
	CHECK("the default class", LOSSY(0, 96));
	t.is->ah_attr.grh.traffic_class = 104;
	CHECK("one that is protected", NOTHING);
	t.is->ah_attr.grh.traffic_class = 95;
	CHECK("the last one below", LOSSY(95, 96));
	t.is->ah_attr.grh.traffic_class = 128;
	CHECK("the first one above", LOSSY(128, 96));
	fake_tree_file(all, "Global tclass=106\n");
	CHECK("a class for all that is protected", NOTHING);
	t.is->ah_attr.grh.traffic_class = 104;
	fake_tree_file(all, "Global tclass=8\n");
	CHECK("a class for all that is not", LOSSY(8, 96));
	fake_tree_file(all, "Global tclass=-1\n");
	CHECK("no class for all", NOTHING);
	fake_tree_file(all, "Global tclass=:\n");
	CHECK("a sign behind the digits", NOTHING);
	fake_tree_file(all, "Global tclass=256\n");
	CHECK("a class beyond the last", NOTHING);
	fake_tree_file(all, NULL);
	fake_tree_file(pfc, "10000001\n");
	CHECK("other priorities", LOSSY(104, 0));
	fake_tree_file(pfc, "00000000\n");
	CHECK("no priority at all", NOTHING);
	fake_tree_file(pfc, "0001\n");
	CHECK("a file that is something else", NOTHING);
	fake_tree_file(pfc, "10000000\n");
	fake_tree_file(trust, "pcp\n");
	CHECK("tags decide, and what has none is protected", NOTHING);
	fake_tree_file(pfc, "00010000\n");
	CHECK("what has none is not", UNTAGGED);
	t.dev->port[1].gid[ROW].type = IBV_GID_TYPE_ROCE_V1;
	examine();
	tap_ok(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_QP_UNTAGGED), "nor with RoCE v1");
	t.dev->port[1].gid[ROW].type = IBV_GID_TYPE_ROCE_V2;
	fake_tree_file(pfc, "00000000\n");
	CHECK("tags decide, and nothing is protected", NOTHING);
	fake_tree_file(pfc, "00010000\n");
	fake_netdev(t.dev->port[1].gid[ROW].ifindex, "veth0.100");
	fake_netdev(99, "veth0");
	CHECK("an interface of its own", NOTHING);
	fake_tree_file("/sys/class/net/veth0.100/iflink", "99\n");
	fake_tree_file("/sys/class/net/veth0.100/uevent", "DEVTYPE=macvlan\n");
	CHECK("one that is no VLAN's", NOTHING);
	fake_tree_file("/sys/class/net/veth0.100/uevent", "DEVTYPE=vlan\nINTERFACE=veth0.100\n");
	CHECK("a VLAN's tag", TAG(0));
	t.is->ah_attr.sl = 3;
	CHECK("with the protected priority", NOTHING);
	t.is->ah_attr.sl = 12;
	CHECK("of which three bits count", TAG(12));
	fake_tree_file(trust, "dscp\n");
	CHECK("where the tag does not count", NOTHING);
	t.is->ah_attr.grh.traffic_class = 8;
	CHECK("but the traffic class does", LOSSY(8, 96));
	t.is->ah_attr.grh.traffic_class = 104;
	t.is->ah_attr.sl = 0;
	fake_tree_file(trust, "pcp\n");
	fake_tree_file("/sys/class/net/veth0.100/iflink", "98\n");
	CHECK("above one of another network namespace", NOTHING);
	fake_netdev(t.dev->port[1].gid[ROW].ifindex, "veth0");
	fake_tree_file(trust, "dscp\n");
	t.dev->port[1].gid[ROW].type = IBV_GID_TYPE_ROCE_V1;
	examine();
	tap_ok(!rdmaez_diag_find(&t.diag, RDMAEZ_WHY_QP_LOSSY), "which has no DSCP");
#undef LOSSY
#undef TAG
#undef UNTAGGED
}

/* ---- The port ----------------------------------------------------------------------------- */

static void check_port(void)
{
	for (int state = 0; state <= 5; state++) {
		start(IBV_QPT_RC, IBV_QPS_RTS);
		t.port->state = (enum ibv_port_state)state;
		if (state == 0 || state >= IBV_PORT_ACTIVE)
			CHECK("a port that works, or whose state is not told", NOTHING);
		else
			CHECK("a port without a link",
			      LIKELY(PORT_DOWN, "port_attr.state", RDMAEZ_VALUE_PORT_STATE,
				     (uint64_t)state, IBV_PORT_ACTIVE, IBV_PORT_ACTIVE));
	}
	start(IBV_QPT_UD, IBV_QPS_RTS);
	fake_port_infiniband(&t.dev->port[1]);
	t.port->state = IBV_PORT_INIT;
	CHECK("a port without a subnet manager",
	      LIKELY(PORT_NO_SM, "port_attr.state", RDMAEZ_VALUE_PORT_STATE, IBV_PORT_INIT,
		     IBV_PORT_ACTIVE, IBV_PORT_ACTIVE));
	start(IBV_QPT_UD, IBV_QPS_RTS);
	t.port->qkey_viol_cntr = 1;
	CHECK("a wrong Q_Key", NOTHING, ADVICE(COUNTED_QKEY, "qkey_viol_cntr", COUNTED(1)));
	t.port->bad_pkey_cntr = 3;
	CHECK("and a wrong P_Key", NOTHING, ADVICE(COUNTED_QKEY, "qkey_viol_cntr", COUNTED(1)),
	      ADVICE(COUNTED_PKEY, "bad_pkey_cntr", COUNTED(3)));
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.port->qkey_viol_cntr = 1;
	CHECK("which RC does not have", NOTHING);
	t.dev->ports = 2;
	t.is->port_num = 2;
	t.dev->port[2].attr.bad_pkey_cntr = 9;
	CHECK("the second port", NOTHING, ADVICE(COUNTED_PKEY, "bad_pkey_cntr", COUNTED(9)));
	t.dev->ports = 1;
	CHECK("bonded mlx4 names a port that there is not", NOTHING);
	fake_fail(FAKE_QUERY_DEVICE, 1, ENOENT);
	fake_fail(FAKE_QUERY_PORT, 1, ENOENT);
	CHECK("or there may be", LIKELY(QUERY_REFUSED, "ibv_query_device", NUMBERLESS),
	      LIKELY(QUERY_REFUSED, "ibv_query_port", NUMBERLESS));
}

static void check_pkey(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->pkey_index = 200;
	CHECK("on Ethernet the P_Key index does not matter", NOTHING);
	fake_port_infiniband(&t.dev->port[1]);
	t.is->ah_attr.grh.sgid_index = 0;
	CHECK("beyond the table",
	      LIKELY(PKEY_INDEX, "pkey_index", RDMAEZ_VALUE_NUMBER, 200, 0, 15));
	t.is->pkey_index = 16;
	CHECK("just beyond the table",
	      LIKELY(PKEY_INDEX, "pkey_index", RDMAEZ_VALUE_NUMBER, 16, 0, 15));
	tap_eq_int(fake_count(FAKE_QUERY_PKEY), 0, "is not asked for");
	t.is->pkey_index = 15;
	CHECK("an empty row", LIKELY(PKEY_EMPTY, "pkey_index", RDMAEZ_VALUE_PKEY, 0, 0, 0));
	t.dev->port[1].pkey[15] = LIMITED;
	CHECK("a limited member",
	      ADVICE(PKEY_LIMITED, "pkey_index", RDMAEZ_VALUE_PKEY, LIMITED, 0, 0));
	t.dev->port[1].pkey[15] = 1;
	CHECK("another", ADVICE(PKEY_LIMITED, "pkey_index", RDMAEZ_VALUE_PKEY, 1, 0, 0));
	t.dev->port[1].pkey[15] = 0x8001;
	CHECK("a full member",
	      ADVICE(PKEY_PARTITION, "pkey_index", RDMAEZ_VALUE_PKEY, 0x8001, 0, 0));
	t.dev->port[1].pkey[15] = 0xffff;
	CHECK("of the default partition", NOTHING);
	fake_fail(FAKE_QUERY_PKEY, 1, EIO);
	CHECK("a row that is not told", NOTHING);
	t.dev->habits.query_refused = ~IBV_QP_STATE;
	t.is->pkey_index = 200;
	CHECK("an index that is not told", NOTHING);
	start(IBV_QPT_UD, IBV_QPS_RESET);
	fake_port_infiniband(&t.dev->port[1]);
	t.is->port_num = 1;
	t.is->pkey_index = 200;
	CHECK("no P_Key index is set before INIT",
	      CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)),
	      CERTAIN(QP_NO_RECEIVES, "qp_state", STATE(RECEIVES)));
}

/* ---- Counters ----------------------------------------------------------------------------- */

/* A file that stands for a counter of sysfs; NULL removes it. */
static void counter(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/ports/1/%s", t.path, name);
	if (!text) {
		unlink(path);
		return;
	}
	file = fopen(path, "w");
	if (!file)
		tap_bail("%s cannot be written", path);
	fputs(text, file);
	fclose(file);
}

static void check_counters(void)
{
	const int fd = fixture_next_fd();
	static const struct {
		const char *name;
		enum rdmaez_why why;
		bool reliable;
	} rows[] = {
		{"hw_counters/rcvd_rnr_err", RDMAEZ_WHY_COUNTED_RNR, true},
		{"hw_counters/rnr_nak_retry_err", RDMAEZ_WHY_COUNTED_RNR, true},
		{"hw_counters/rnr_naks_rcvd", RDMAEZ_WHY_COUNTED_RNR, true},
		{"hw_counters/sq_num_rnr", RDMAEZ_WHY_COUNTED_RNR, true},
		{"hw_counters/requester_rnr_nak", RDMAEZ_WHY_COUNTED_RNR, true},
		{"hw_counters/send_rnr_err", RDMAEZ_WHY_COUNTED_NO_RECEIVE, false},
		{"hw_counters/out_of_buffer", RDMAEZ_WHY_COUNTED_NO_RECEIVE, false},
		{"hw_counters/rx_out_of_buffer", RDMAEZ_WHY_COUNTED_NO_RECEIVE, false},
		{"hw_counters/rq_num_rnr", RDMAEZ_WHY_COUNTED_NO_RECEIVE, false},
		{"hw_counters/responder_rnr_nak", RDMAEZ_WHY_COUNTED_NO_RECEIVE, false},
		{"hw_counters/completer_retry_err", RDMAEZ_WHY_COUNTED_NO_ACK, true},
		{"hw_counters/local_ack_timeout_err", RDMAEZ_WHY_COUNTED_NO_ACK, true},
		{"hw_counters/to_retransmits", RDMAEZ_WHY_COUNTED_NO_ACK, true},
		{"hw_counters/requester_timeout", RDMAEZ_WHY_COUNTED_NO_ACK, true},
		{"hw_counters/retrans_timeout_events", RDMAEZ_WHY_COUNTED_NO_ACK, true},
		{"hw_counters/out_of_seq_request", RDMAEZ_WHY_COUNTED_LOSS, false},
		{"hw_counters/out_of_sequence", RDMAEZ_WHY_COUNTED_LOSS, false},
		{"hw_counters/oos_drop_count", RDMAEZ_WHY_COUNTED_LOSS, false},
		{"hw_counters/requester_oos_nak", RDMAEZ_WHY_COUNTED_LOSS, false},
		{"hw_counters/rx_drops", RDMAEZ_WHY_COUNTED_LOSS, false},
		{"counters/port_rcv_errors", RDMAEZ_WHY_COUNTED_LOSS, false},
		{"counters/port_xmit_discards", RDMAEZ_WHY_COUNTED_LOSS, false},
		{"counters/link_downed", RDMAEZ_WHY_COUNTED_DOWN, false},
		{"hw_counters/link_downed", RDMAEZ_WHY_COUNTED_DOWN, false},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct expected counted[] = {
			NOTHING,
			{RDMAEZ_DIAG_ADVICE, rows[i].why, rows[i].name, COUNTED(1000000007)}};

		counter(rows[i].name, "1000000007\n");
		start(IBV_QPT_RC, IBV_QPS_RTS);
		check_findings(&t.diag, examine(), 0, "rdmaez_qp_examine", counted, 2,
			       rows[i].name);
		start(IBV_QPT_UD, IBV_QPS_RTS);
		if (rows[i].reliable)
			CHECK("UD is not acknowledged", NOTHING);
		else
			check_findings(&t.diag, examine(), 0, "rdmaez_qp_examine", counted, 2,
				       rows[i].name);
		counter(rows[i].name, NULL);
	}
	counter(rows[0].name, "0\n");
	start(IBV_QPT_RC, IBV_QPS_RTS);
	CHECK("nothing is counted", NOTHING);
	counter(rows[0].name, "");
	CHECK("nothing is written", NOTHING);
	counter(rows[0].name, "N/A\n");
	CHECK("no number is written", NOTHING);
	counter(rows[0].name, "18446744073709551615");
	counter(rows[1].name, "5\n");
	CHECK("the greatest, and of each reason one", NOTHING,
	      ADVICE(COUNTED_RNR, "hw_counters/rcvd_rnr_err", COUNTED(UINT64_MAX)));
	t.is->rnr_retry = 7;
	counter(rows[5].name, "9\n");
	CHECK("what anybody may have moved comes last",
	      ADVICE(RNR_ENDLESS, "rnr_retry", RDMAEZ_VALUE_NUMBER, 7, 0, 6),
	      ADVICE(COUNTED_RNR, "hw_counters/rcvd_rnr_err", COUNTED(UINT64_MAX)),
	      ADVICE(COUNTED_NO_RECEIVE, "hw_counters/send_rnr_err", COUNTED(9)));
	counter(rows[0].name, NULL);
	counter(rows[1].name, NULL);
	counter(rows[5].name, NULL);
	tap_eq_int(fixture_next_fd(), fd, "no file is left open");
	memset(t.dev->verbs.ibdev_path, 'x', sizeof(t.dev->verbs.ibdev_path) - 1);
	t.is->rnr_retry = 6;
	CHECK("a path as long as can be", NOTHING);
}

/* ---- Who does not answer ------------------------------------------------------------------ */

static void check_unanswered(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	t.port->qkey_viol_cntr = t.port->bad_pkey_cntr = 1;
	t.is->timeout = 0;
	CHECK("a port that does not answer",
	      LIKELY(TIMEOUT_ZERO, "timeout", RDMAEZ_VALUE_NUMBER, 0, 1, 31),
	      LIKELY(DEVICE_GONE, "ibv_query_port", NUMBERLESS));
	tap_eq_int(fake_count(FAKE_QUERY_GID_EX), 0, "is asked for no GID");

	start(IBV_QPT_RC, IBV_QPS_RTS);
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK("a device that does not answer", LIKELY(DEVICE_GONE, "ibv_query_device", NUMBERLESS));
	tap_eq_ptr(t.diag.driver, NULL, "has a driver that is not known");

	start(IBV_QPT_RC, IBV_QPS_RTR);
	t.dev->habits.query_refused = IBV_QP_AV;
	t.qp->state = IBV_QPS_RTS;
	CHECK("a question that is refused, and a smaller one that is not",
	      CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)),
	      ADVICE(QP_STALE, "state", NUMBERLESS));

	start(IBV_QPT_RC, IBV_QPS_INIT);
	fake_fail(FAKE_QUERY_QP, 0, EIO);
	CHECK("a queue pair that does not answer", LIKELY(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)),
	      LIKELY(QP_NO_RECEIVES, "qp_state", STATE(RECEIVES)),
	      LIKELY(DEVICE_GONE, "ibv_query_qp", NUMBERLESS));
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1, "is not asked for less where that would not help");
	tap_eq_int(t.diag.from, IBV_QPS_INIT, "libibverbs knows the state");
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "there is only one port");
	t.dev->ports = 2;
	examine();
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "of two, any could be its own");
	t.qp->state = IBV_QPS_ERR;
	CHECK("libibverbs knows of ERR",
	      LIKELY(WR_QP_ERROR, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_ERR, 0, RTS_ONLY),
	      LIKELY(DEVICE_GONE, "ibv_query_qp", NUMBERLESS));
	t.qp->state = (enum ibv_qp_state)64;
	CHECK("nor does libibverbs", LIKELY(DEVICE_GONE, "ibv_query_qp", NUMBERLESS));
	tap_eq_int(t.diag.from, -1, "know the state");
	t.qp->state = IBV_QPS_RESET;
	t.dev->verbs.transport_type = IBV_TRANSPORT_IWARP;
	CHECK("nor with iWARP", LIKELY(DEVICE_GONE, "ibv_query_qp", NUMBERLESS));
}

/* What drivers leave as the kernel's memory was, or fill with something else. */
static void check_unfilled(void)
{
	static const struct {
		const char *name;
		uint32_t vendor_id, part_id;
		const char *release;
		int left_alone;
	} rows[] = {
		{"rxe", 0xffffff, 0, "6.1.0", 0},
		{"mlx5_ib", 0x2c9, 0x1017, "6.1.0", 0},
		{"bnxt_re", 0x14e4, 0, "6.11.0", IBV_QP_PORT | IBV_QP_EN_SQD_ASYNC_NOTIFY},
		{"ionic", 0x1dd8, 0, "7.2.0", IBV_QP_PORT | IBV_QP_PKEY_INDEX},
		{"irdma", 0x8086, 0, "6.1.0",
		 IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER | IBV_QP_PKEY_INDEX |
			 IBV_QP_EN_SQD_ASYNC_NOTIFY},
		{"mlx4_ib", 0x2c9, 0x1003, "6.1.0", IBV_QP_AV},
		{"ocrdma", 0x10df, 0, "6.1.0", IBV_QP_MIN_RNR_TIMER},
		{"erdma", 0x1ded, 0, "7.2.0", ~IBV_QP_STATE},
		{"usnic", 0x1137, 0, "6.1.0", ~IBV_QP_STATE},
		{"efa", 0x1d0f, 0, "6.1.0",
		 ~(IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_RNR_RETRY)},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const int asked = (ALWAYS | WAITS | PATH) & ~rows[i].left_alone;

		start(IBV_QPT_RC, IBV_QPS_RTS);
		fake_uname(rows[i].release);
		t.dev->attr.orig_attr.vendor_id = rows[i].vendor_id;
		t.dev->attr.orig_attr.vendor_part_id = rows[i].part_id;
		t.dev->habits.query_unfilled = rows[i].left_alone & ~IBV_QP_STATE & ~IBV_QP_CAP;
		CHECK(rows[i].name, NOTHING);
		tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask, asked,
			   "%s: asked for what it fills", rows[i].name);
		t.dev->habits.stale = IBV_QPS_SQD;
		CHECK(rows[i].name, NOTHING);
	}
	start(IBV_QPT_RC, IBV_QPS_SQD);
	fake_uname("6.12.0-fake");
	fake_profile(t.dev, FAKE_PROFILE_BNXT_RE);
	t.dev->habits.stale = 1;
	CHECK("bnxt_re does not tell whether the send queue drains",
	      CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)));
	start(IBV_QPT_RC, IBV_QPS_RTS);
	fake_profile(t.dev, FAKE_PROFILE_BNXT_RE);
	t.dev->habits.stale = 77;
	t.port->bad_pkey_cntr = 2;
	CHECK("its only port is its port", NOTHING,
	      ADVICE(COUNTED_PKEY, "bad_pkey_cntr", COUNTED(2)));
	t.dev->ports = 2;
	t.dev->habits.stale = 2;
	t.dev->port[2].attr.bad_pkey_cntr = 1;
	CHECK("of two it could be any", NOTHING);
}

static void check_drivers(void)
{
	static const uint8_t stale[] = {0, IBV_QPS_ERR, 64, 255};

	for (size_t i = 0; i < COUNT_OF(stale); i++) {
		start(IBV_QPT_RC, IBV_QPS_RTS);
		fake_profile(t.dev, FAKE_PROFILE_SIW);
		t.dev->habits.stale = stale[i];
		t.qp->state = IBV_QPS_INIT;
		CHECK("siw tells nothing that counts", NOTHING);
		tap_eq_int(fake_count(FAKE_QUERY_QP), 0, "and is not asked");
		tap_eq_int(t.qp->state, IBV_QPS_INIT, "so that qp->state is not spoilt");
		tap_eq_int(t.diag.from, -1, "the state is not known");
		start(IBV_QPT_RC, IBV_QPS_RTS);
		t.dev->attr.orig_attr.vendor_id = 0;
		t.dev->habits.query_unfilled = IBV_QP_STATE;
		t.dev->habits.stale = 64 | stale[i];
		CHECK("a state that is none, of a driver that is not known", NOTHING);
		tap_eq_int(t.diag.from, -1, "is not known");
		tap_eq_int(t.qp->state, IBV_QPS_RTS, "nor kept");
	}
	start(IBV_QPT_DRIVER, IBV_QPS_INIT);
	fake_profile(t.dev, FAKE_PROFILE_EFA);
	t.port->qkey_viol_cntr = 1;
	t.is->rnr_retry = 7;
	CHECK("efa", CERTAIN(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)),
	      CERTAIN(QP_NO_RECEIVES, "qp_state", STATE(RECEIVES)));
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1, "efa answers what it is asked");
	fixture_state(t.qp, IBV_QPS_RTS);
	CHECK("SRD and RNR retries",
	      ADVICE(RNR_ENDLESS, "rnr_retry", RDMAEZ_VALUE_NUMBER, 7, 0, 6));
	/* A driver like it that is not known. */
	t.dev->attr.orig_attr.vendor_id = 0;
	CHECK("a driver that is not known, and takes few questions", NOTHING);
	tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask, IBV_QP_STATE,
		   "less is asked for where more is refused");

	/* mlx5_ib_dct_query_qp() */
	start(IBV_QPT_DRIVER, IBV_QPS_RTR);
	t.dev->attr.orig_attr.vendor_id = 0x2c9;
	t.dev->attr.orig_attr.vendor_part_id = 0x1017;
	t.dev->habits.query_refused =
		~(IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT | IBV_QP_MIN_RNR_TIMER |
		  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_PKEY_INDEX);
	t.is->min_rnr_timer = 0;
	CHECK("a DCT", ADVICE(RNR_TIMER_ZERO, "min_rnr_timer", RDMAEZ_VALUE_NUMBER, 0, 1, 31));
	tap_eq_int(fake_count(FAKE_QUERY_QP), 2, "is asked for less");
	tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask,
		   IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER,
		   "which it takes");
	t.dev->habits.query_refused = ~IBV_QP_STATE;
	CHECK("and for its state alone", NOTHING);
	tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask, IBV_QP_STATE, "at last");
	fixture_state(t.qp, IBV_QPS_INIT);
	CHECK("a type that the driver knows better",
	      LIKELY(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)),
	      LIKELY(QP_NO_RECEIVES, "qp_state", STATE(RECEIVES)));

	start(IBV_QPT_UD, IBV_QPS_RTR);
	t.dev->attr.orig_attr.vendor_id = 0;
	CHECK("a driver that is not known", LIKELY(QP_NO_SENDS, "qp_state", STATE(RTS_ONLY)));

	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.dev->attr.orig_attr.vendor_id = 0x1414;
	t.dev->habits.query_errno = EOPNOTSUPP;
	CHECK("mana tells nothing", LIKELY(NOT_SUPPORTED, "ibv_query_qp", NUMBERLESS));
}

/* Whatever a driver leaves alone: a state is certain only if it is the true one, and all else is well. */
static void check_profiles(void)
{
	static const char *const releases[] = {"6.1.0", "6.12.0", "7.2.0"};
	static const uint8_t stale[] = {0, IBV_QPS_RTS, IBV_QPS_ERR, 0xa5};
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC,       IBV_QPT_UC,       IBV_QPT_UD,    IBV_QPT_RAW_PACKET,
		IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, IBV_QPT_DRIVER};
	const int cases = FAKE_PROFILE_COUNT * 3 * 4 * 7 * 7;
	int wrong = 0, told = 0, spoilt = 0;

	for (int i = 0; i < cases; i++) {
		const enum ibv_qp_state state = (enum ibv_qp_state)(i / 84 % 7);

		start(types[i / 12 % 7], state);
		fake_uname(releases[i / 4 % 3]);
		fake_profile(t.dev, (enum fake_profile)(i / 588));
		t.dev->habits.stale = stale[i % 4];
		if (t.port->link_layer == IBV_LINK_LAYER_INFINIBAND)
			t.is->ah_attr.grh.sgid_index = 0;
		examine();
		spoilt += t.qp->state != state;
		for (unsigned int n = 0; n < t.diag.count; n++) {
			const struct rdmaez_finding *found = &t.diag.finding[n];
			const bool of_state = found->kind == RDMAEZ_VALUE_STATE_NOW;

			told += of_state && found->severity == RDMAEZ_DIAG_ERROR;
			if (of_state ? found->value != (uint64_t)state || (state == IBV_QPS_RTS)
				     : found->reason != RDMAEZ_WHY_QP_NOTHING_FOUND &&
					       found->reason != RDMAEZ_WHY_NOT_SUPPORTED) {
				wrong++;
				tap_diag("profile %d, type %d, state %d, stale %d: %s", i / 588,
					 (int)t.qp->qp_type, (int)state, stale[i % 4],
					 rdmaez_why_id(found->reason));
			}
		}
	}
	tap_eq_int(wrong, 0, "no driver makes it say what is not so");
	tap_eq_int(spoilt, 0, "or spoils qp->state");
	tap_ok(told > 1000, "most tell their states: %d", told);
}

int main(void)
{
	char path[96];
	static const char *const below[] = {"", "/ports", "/ports/1", "/ports/1/counters",
					    "/ports/1/hw_counters"};

	snprintf(t.path, sizeof(t.path), "/tmp/rdmaez-examine.XXXXXX");
	if (!mkdtemp(t.path))
		tap_bail("no directory");
	for (size_t i = 1; i < COUNT_OF(below); i++) {
		snprintf(path, sizeof(path), "%s%s", t.path, below[i]);
		mkdir(path, 0700);
	}
	check_nothing();
	check_states();
	check_stale();
	check_numbers();
	check_path();
	check_way();
	check_class();
	check_port();
	check_pkey();
	check_counters();
	check_unanswered();
	check_unfilled();
	check_drivers();
	check_profiles();
	fake_close_all();
	for (size_t i = COUNT_OF(below); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", t.path, below[i]);
		rmdir(path);
	}
	return tap_done();
}
