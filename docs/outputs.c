/* SPDX-License-Identifier: MIT */
/*
 * Prints what rdmaez prints in a situation that a page of the documentation describes:
 *
 *	outputs NAME
 *
 * The device is the fake of the unit tests, which follows the kernel's rules and imitates each
 * driver, so that nothing depends on the machine. A page shows the output between `<!-- output of NAME -->`
 * and `<!-- end -->`; `make pages` writes it there. A new output is a function and a line in outputs[] below.
 */
#include <arpa/inet.h>
#include <stdlib.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>
#include <rdmaez/multicast.h>

#include "../tools/explain/compare.h"
#include "fake_verbs.h"

#define main gids_main
#include "../examples/gids.c"
#undef main

static struct fake_device *dev;
static struct ibv_context *context;
static struct ibv_qp *qp;
static struct rdmaez_qp_opts opts;
static struct rdmaez_qp_move move; /* a right request, for an output to spoil */
static struct rdmaez_diag diag;

/* ---- A device, a queue pair, and a request --------------------------------------------------- */

static union ibv_gid gid_of(const char *text)
{
	union ibv_gid gid;

	if (inet_pton(AF_INET6, text, gid.raw) != 1)
		abort();
	return gid;
}

static void print(void)
{
	rdmaez_diag_print(&diag, stdout);
}

static void need(int error)
{
	if (!error)
		return;
	print();
	abort();
}

/* A port whose interface has an IPv4 and an IPv6 address; the process has no privilege, and nothing else runs. */
static void start(enum fake_profile profile, const char *name, enum ibv_qp_type type)
{
	dev = fake_reset();
	fake_tree_new();
	fake_tree_file("/proc/thread-self/status", "Name:\ta.out\nCapEff:\t0000000000000000\n");
	fake_tree_file("/proc/self/uid_map", "         0          0 4294967295\n");
	fake_netdev(2, "enp1s0f0");
	fake_profile(dev, profile);
	snprintf(dev->verbs.name, sizeof(dev->verbs.name), "%s", name);
	context = fake_open(dev);
	qp = fake_qp(context, type);
	memset(&opts, 0, sizeof(opts));
	opts.dest_qp_num = 318;
	opts.path.dgid = gid_of("::ffff:192.0.2.9");
	opts.path.sgid_index = 3;
}

/* The queue pair in this state. */
static void move_to(enum ibv_qp_state state)
{
	if (state >= IBV_QPS_INIT)
		need(rdmaez_qp_to_init(qp, &opts, &diag));
	if (state >= IBV_QPS_RTR)
		need(rdmaez_qp_to_rtr(qp, &opts, &diag));
	if (state >= IBV_QPS_RTS)
		need(rdmaez_qp_to_rts(qp, &opts, &diag));
}

/* Such a device, the queue pair in the state before this one, and what would move it there. */
static void ready_on(enum fake_profile profile, const char *name, enum ibv_qp_type type,
		     enum ibv_qp_state to)
{
	static struct ibv_device_attr device;
	static struct ibv_port_attr port;

	start(profile, name, type);
	move_to((enum ibv_qp_state)(to - 1));
	ibv_query_port(context, 1, &port);
	ibv_query_device(context, &device);
	opts.port_attr = &port;
	opts.device_attr = &device;
	need(rdmaez_qp_attr(type, qp->state, to, &opts, &move, &diag));
}

static void ready(enum ibv_qp_state to)
{
	ready_on(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_RC, to);
}

static void modify(void)
{
	rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag);
	print();
}

static void check(void)
{
	rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag);
	print();
}

/* Without a device's answer: what the errno value alone may mean. */
static void modify_fails(int error)
{
	fake_fail(FAKE_MODIFY_QP, 1, error);
	modify();
}

/* ---- EINVAL: the mask ------------------------------------------------------------------------- */

static void mask_missing(void)
{
	ready(IBV_QPS_RTR);
	move.attr_mask &= ~(IBV_QP_RQ_PSN | IBV_QP_MIN_RNR_TIMER);
	modify();
}

static void mask_too_much(void)
{
	ready(IBV_QPS_RTR);
	move.attr_mask |= IBV_QP_PORT | IBV_QP_TIMEOUT;
	move.attr.port_num = 1;
	move.attr.timeout = 14;
	modify();
}

static void mask_uc(void)
{
	ready_on(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_UC, IBV_QPS_RTR);
	move.attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	move.attr.max_dest_rd_atomic = 16;
	move.attr.min_rnr_timer = 12;
	modify();
}

static void mask_cap(void)
{
	ready(IBV_QPS_RTS);
	move.attr_mask |= IBV_QP_CAP;
	modify();
}

static void mask_rate(void)
{
	ready(IBV_QPS_RTS);
	move.attr_mask |= IBV_QP_RATE_LIMIT;
	move.attr.rate_limit = 1000000;
	modify();
}

/* ---- EINVAL: the state ------------------------------------------------------------------------ */

static void skipped(void)
{
	ready(IBV_QPS_RTR);
	move.attr.qp_state = IBV_QPS_RTS;
	modify();
}

static void stale(void)
{
	start(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_RC);
	move_to(IBV_QPS_RTS);
	fake_qp_force(qp, IBV_QPS_ERR);
	memset(&move, 0, sizeof(move));
	move.attr.qp_state = IBV_QPS_RTS;
	move.attr.min_rnr_timer = 12;
	move.attr_mask = IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER;
	modify();
}

static void no_sqd(void)
{
	start(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_RC);
	move_to(IBV_QPS_RTS);
	rdmaez_qp_to_sqd(qp, NULL, &diag);
	print();
}

static void reset_final(void)
{
	start(FAKE_PROFILE_IRDMA, "rocep1s0f0", IBV_QPT_RC);
	move_to(IBV_QPS_RTS);
	need(rdmaez_qp_to_reset(qp, &diag));
	rdmaez_qp_to_init(qp, NULL, &diag);
	print();
}

static void iwarp(void)
{
	start(FAKE_PROFILE_SIW, "siw0", IBV_QPT_RC);
	rdmaez_qp_to_init(qp, NULL, NULL);
	rdmaez_qp_to_rtr(qp, &opts, NULL);
	memset(&move, 0, sizeof(move));
	move.attr.qp_state = IBV_QPS_RTS;
	move.attr.timeout = 14;
	move.attr.retry_cnt = 7;
	move.attr.rnr_retry = 7;
	move.attr.max_rd_atomic = 1;
	move.attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	modify();
}

/* ---- EINVAL: the address ---------------------------------------------------------------------- */

static void no_grh(void)
{
	ready(IBV_QPS_RTR);
	move.attr.ah_attr.is_global = 0;
	modify();
}

static void family(void)
{
	ready(IBV_QPS_RTR);
	move.attr.ah_attr.grh.sgid_index = 5;
	modify();
}

static void port_number(void)
{
	ready(IBV_QPS_INIT);
	move.attr.port_num = 2;
	modify();
}

static void port_mismatch(void)
{
	start(FAKE_PROFILE_MLX4, "mlx4_0", IBV_QPT_RC);
	dev->ports = 2;
	dev->port[2] = dev->port[1];
	move_to(IBV_QPS_INIT);
	need(rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, &diag));
	move.attr.ah_attr.port_num = 2;
	modify();
}

static void alternate(void)
{
	ready(IBV_QPS_RTR);
	move.attr_mask |= IBV_QP_ALT_PATH;
	move.attr.alt_ah_attr = move.attr.ah_attr;
	move.attr.alt_port_num = 1;
	modify();
}

static void gid_range(void)
{
	ready(IBV_QPS_RTR);
	move.attr.ah_attr.grh.sgid_index = 16;
	modify();
}

/* ---- EINVAL: the values ----------------------------------------------------------------------- */

static void mtu_in_bytes(void)
{
	ready(IBV_QPS_RTR);
	move.attr.path_mtu = (enum ibv_mtu)1024;
	modify();
}

static void mtu_driver(void)
{
	ready_on(FAKE_PROFILE_BNXT_RE, "bnxt_re0", IBV_QPT_RC, IBV_QPS_RTR);
	move.attr.path_mtu = IBV_MTU_4096;
	modify();
}

static void depth(void)
{
	ready(IBV_QPS_RTR);
	move.attr.max_dest_rd_atomic = 32;
	modify();
}

static void depth_budget(void)
{
	ready_on(FAKE_PROFILE_IONIC, "rocep1s0", IBV_QPT_RC, IBV_QPS_RTR);
	dev->attr.orig_attr.max_res_rd_atom = 16;
	move.attr.max_dest_rd_atomic = 16;
	modify_fails(EINVAL);
}

static void pkey_index(void)
{
	ready(IBV_QPS_INIT);
	dev->attr.orig_attr.max_pkeys = 1;
	move.attr.pkey_index = 1;
	modify();
}

static void access_bits(void)
{
	ready_on(FAKE_PROFILE_RXE, "rxe0", IBV_QPT_RC, IBV_QPS_INIT);
	fake_uname("6.12.0");
	fake_profile(dev, FAKE_PROFILE_RXE);
	move.attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED;
	modify();
}

static void qpn_swapped(void)
{
	ready(IBV_QPS_RTR);
	move.attr.dest_qp_num = htonl(318);
	modify_fails(EINVAL);
}

static void several(void)
{
	ready(IBV_QPS_RTR);
	move.attr_mask &= ~IBV_QP_RQ_PSN;
	move.attr.ah_attr.is_global = 0;
	move.attr.path_mtu = (enum ibv_mtu)4096;
	move.attr.min_rnr_timer = 0;
	modify();
}

/* ---- ENODATA ---------------------------------------------------------------------------------- */

static void gid_empty(void)
{
	ready(IBV_QPS_RTR);
	move.attr.ah_attr.grh.sgid_index = 8;
	modify();
}

static void gid_table_empty(void)
{
	ready(IBV_QPS_RTR);
	memset(dev->port[1].gid, 0, sizeof(dev->port[1].gid));
	modify();
}

/* ---- ETIMEDOUT, ENETUNREACH, EHOSTUNREACH ----------------------------------------------------- */

/* From this GID index to this peer, whose Ethernet address is looked for with this outcome. */
static void reaches(int sgid_index, const char *peer, int outcome)
{
	ready(IBV_QPS_RTR);
	move.attr.ah_attr.grh.sgid_index = (uint8_t)sgid_index;
	move.attr.ah_attr.grh.dgid = gid_of(peer);
	dev->neighbour_errno = outcome;
	fake_route(outcome == ETIMEDOUT ? 0 : outcome);
}

static void neighbour(void)
{
	reaches(3, "::ffff:192.0.2.9", ETIMEDOUT);
	modify();
}

static void link_local(void)
{
	reaches(1, "2001:db8::9", ETIMEDOUT);
	modify();
}

static void elsewhere(void)
{
	reaches(3, "::ffff:198.51.100.9", ETIMEDOUT);
	fake_route_from("198.51.100.1");
	modify();
}

/* With a given interface, IPv4 treats a peer without a route as a neighbour. */
static void no_route_ipv4(void)
{
	reaches(3, "::ffff:203.0.113.9", ETIMEDOUT);
	fake_route(ENETUNREACH);
	modify();
}

static void no_route_ipv6(void)
{
	reaches(5, "2001:db8:1::9", ENETUNREACH);
	modify();
}

static void host_unreachable(void)
{
	reaches(5, "2001:db8:1::9", EHOSTUNREACH);
	modify();
}

static void prohibited(void)
{
	reaches(5, "2001:db8:1::9", EACCES);
	modify();
}

static void qkey_never(void)
{
	ready_on(FAKE_PROFILE_IONIC, "rocep1s0", IBV_QPT_UD, IBV_QPS_INIT);
	move.attr.qkey = 0x80010000u;
	modify();
}

/* ---- Other errno values ----------------------------------------------------------------------- */

static void no_netdev(void)
{
	reaches(3, "::ffff:192.0.2.9", ENODEV);
	modify();
}

static void no_ipv6(void)
{
	reaches(5, "2001:db8::9", EAFNOSUPPORT);
	modify();
}

static void privileged(void)
{
	ready_on(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_UD, IBV_QPS_INIT);
	move.attr.qkey = 0x80010000;
	modify();
}

static void unsupported(void)
{
	start(FAKE_PROFILE_EFA, "rdmap0s6", IBV_QPT_UD);
	need(rdmaez_qp_attr(IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, NULL, &move, &diag));
	move.attr.pkey_index = 1;
	modify();
}

static void driver_lacks(void)
{
	start(FAKE_PROFILE_EFA, "rdmap0s6", IBV_QPT_UD);
	need(rdmaez_qp_to_init(qp, NULL, &diag));
	memset(&move, 0, sizeof(move));
	move.attr.qp_state = IBV_QPS_RTR;
	move.attr.min_rnr_timer = 12;
	move.attr_mask = IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER;
	modify();
}

static void timed_out(void)
{
	ready(IBV_QPS_INIT);
	modify_fails(ETIMEDOUT);
}

static void cur_state(void)
{
	ready_on(FAKE_PROFILE_HNS, "hns_0", IBV_QPT_RC, IBV_QPS_RTS);
	move.attr_mask |= IBV_QP_CUR_STATE;
	move.attr.cur_qp_state = IBV_QPS_RTS;
	modify();
}

static void no_memory(void)
{
	ready(IBV_QPS_INIT);
	modify_fails(ENOMEM);
}

static void again(void)
{
	ready(IBV_QPS_RTR);
	modify_fails(EAGAIN);
}

static void busy(void)
{
	ready(IBV_QPS_RTR);
	modify_fails(EBUSY);
}

static void gone(void)
{
	ready(IBV_QPS_RTR);
	modify_fails(EIO);
}

static void no_object(void)
{
	ready(IBV_QPS_RTR);
	modify_fails(ENOENT);
}

static void forbidden(void)
{
	start(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_RC);
	fake_port_infiniband(&dev->port[1]);
	need(rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, NULL, &move, &diag));
	modify_fails(EACCES);
}

static void unexplained(void)
{
	ready(IBV_QPS_RTR);
	fake_uname("6.12.0");
	fake_tree_file("/sys/class/infiniband/mlx5_0/fw_ver", "20.43.2026\n");
	fake_tree_file("/proc/self/maps", "1-2 r-xp 0 0:0 0 /usr/lib/libibverbs.so.1.14.56.0\n");
	modify_fails(EINVAL);
}

/* ---- Accepted, and yet ------------------------------------------------------------------------ */

static void mtu_above(void)
{
	ready(IBV_QPS_RTR);
	move.attr.path_mtu = IBV_MTU_4096;
	check();
}

static void copied(void)
{
	ready(IBV_QPS_RTR);
	move.attr.min_rnr_timer = 0;
	move.attr.max_dest_rd_atomic = 0;
	move.attr.ah_attr.grh.hop_limit = 1;
	check();
}

static void timers(void)
{
	ready(IBV_QPS_RTS);
	move.attr.timeout = 0;
	move.attr.rnr_retry = 0;
	move.attr.max_rd_atomic = 0;
	check();
}

static void other_gid(void)
{
	ready(IBV_QPS_RTR);
	move.attr.ah_attr.grh.dgid = gid_of("2001:db8::9");
	move.attr.ah_attr.grh.sgid_index = 1;
	check();
}

static void examined(void)
{
	start(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_RC);
	move_to(IBV_QPS_RTS);
	dev->port[1].attr.state = IBV_PORT_DOWN;
	rdmaez_qp_examine(qp, &diag);
	print();
}

static void examined_error(void)
{
	start(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_RC);
	move_to(IBV_QPS_RTS);
	fake_qp_force(qp, IBV_QPS_ERR);
	rdmaez_qp_examine(qp, &diag);
	print();
}

static void examined_with(void)
{
	struct rdmaez_port_counts before;
	struct rdmaez_qp_known known;

	start(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_RC);
	move_to(IBV_QPS_RTS);
	need(rdmaez_port_count(qp->context, 1, &before, &diag));
	memset(&known, 0, sizeof(known));
	known.waits = RDMAEZ_QUEUE_SEND;
	known.sends = 8;
	known.signaled = RDMAEZ_ZERO;
	known.cq = qp->send_cq;
	known.before = &before;
	rdmaez_qp_examine_with(qp, &known, &diag);
	print();
}

static void late_wait(void)
{
	struct rdmaez_wc_batch batch;
	struct ibv_wc wc;

	start(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_RC);
	move_to(IBV_QPS_RTS);
	fake_qp_force(qp, IBV_QPS_ERR);
	memset(&batch, 0, sizeof(batch));
	batch.wc = &wc;
	batch.capacity = 1;
	rdmaez_wc_wait(qp->send_cq, qp, &batch, 1000000000, &diag);
	print();
}

static void multicast(void)
{
	struct rdmaez_path group;

	start(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_UD);
	dev->attr.orig_attr.max_mcast_grp = 2097152;
	move_to(IBV_QPS_RTS);
	fake_tree_file("/proc/net/igmp", "2\tenp1s0f0  :     1      V3\n");
	memset(&group, 0, sizeof(group));
	need(rdmaez_multicast_gid("239.1.2.3", &group.dgid, &diag));
	rdmaez_multicast_examine(qp, &group, 1, &diag);
	print();
}

/* ---- No device --------------------------------------------------------------------------------- */

static void no_device(void)
{
	dev = fake_reset();
	fake_tree_new();
	fake_tree_file("/sys/class/net", "");
	fake_fail(FAKE_GET_DEVICE_LIST, 1, ENOSYS);
	rdmaez_device_open(NULL, &context, &diag);
	print();
}

/* ---- Completions ------------------------------------------------------------------------------- */

/* A send that the peer has not acknowledged, or not allowed. */
static struct ibv_wc failed_with(enum ibv_wc_status status, uint32_t vendor_err)
{
	struct ibv_wc wc = {.wr_id = 42, .status = status, .vendor_err = vendor_err};

	start(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_RC);
	move_to(IBV_QPS_RTS);
	fake_qp_force(qp, IBV_QPS_ERR);
	wc.qp_num = qp->qp_num;
	return wc;
}

static void wc_text(void)
{
	const struct ibv_wc wc = failed_with(IBV_WC_RETRY_EXC_ERR, 0x81);
	char text[4096];

	rdmaez_wc_format(&wc, text, sizeof(text));
	fputs(text, stdout);
	rdmaez_wc_explain_send(&wc, qp, NULL, &diag);
	print();
}

static void wc_line(void)
{
	const struct ibv_wc wc = failed_with(IBV_WC_REM_ACCESS_ERR, 0x88);
	char text[1024];

	rdmaez_wc_explain_send(&wc, qp, NULL, &diag);
	rdmaez_diag_line(&diag, text, sizeof(text));
	puts(text);
}

/* ---- The example that lists GIDs --------------------------------------------------------------- */

/* A port whose interface has a VLAN, and a peer there, as the kernel's route knows it. */
static void gids(void)
{
	static char peer[] = "198.51.100.9", one[] = "1", name[] = "mlx5_0", program[] = "gids";
	static char *arguments[] = {program, name, one, peer, NULL};

	start(FAKE_PROFILE_MLX5, name, IBV_QPT_RC);
	fake_netdev(3, "enp1s0f0.100");
	for (int i = 6; i < 8; i++) {
		dev->port[1].gid[i].gid = gid_of("::ffff:198.51.100.1");
		dev->port[1].gid[i].type = i % 2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
		dev->port[1].gid[i].ifindex = 3;
	}
	fake_route_from("198.51.100.1");
	gids_main(4, arguments);
}

/* ---- What a device can do ---------------------------------------------------------------------- */

static struct rdmaez_caps caps_of_device(void)
{
	struct rdmaez_caps caps;

	start(FAKE_PROFILE_MLX5, "mlx5_0", IBV_QPT_RC);
	dev->attr.max_dm_size = 256 * 1024;
	dev->attr.hca_core_clock = 1000000;
	dev->attr.odp_caps.general_caps = IBV_ODP_SUPPORT;
	dev->attr.odp_caps.per_transport_caps.rc_odp_caps =
		IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_READ;
	need(rdmaez_caps_query(context, &caps, &diag));
	return caps;
}

/* Of the text, the paragraphs from one group to another. */
static void caps_text(void)
{
	const struct rdmaez_caps caps = caps_of_device();
	char text[24576];

	rdmaez_caps_format(&caps, text, sizeof(text));
	*strstr(text, "\n\ntso\n") = '\0';
	puts(strstr(text, "depths\n"));
}

/* Of the JSON, the members whose keys begin with one of these; others are left out. */
static void caps_json(void)
{
	static const char *const keys[] = {"rdmaez_caps\"",    "name\"",     "vendor_id\"",
					   "device_cap_flags", "max_qp\"",   "page_size_cap\"",
					   "pci_atomic",       "odp_caps\"", "max_dm_size\"",
					   "hca_core",         "sources\""};
	const struct rdmaez_caps caps = caps_of_device();
	char text[24576], *member = text;
	int depth = 0;

	rdmaez_caps_json(&caps, text, sizeof(text));
	puts("{");
	for (char *at = text + 1; *at; at++) {
		depth += *at == '{' || *at == '[';
		depth -= *at == '}' || *at == ']';
		if (depth > 0 || (depth == 0 && *at != ',')) /* within a member */
			continue;
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (strncmp(member + 2, keys[i], strlen(keys[i])) == 0)
				printf("  %.*s%s\n", (int)(at - member - 1), member + 1,
				       *at == ',' ? "," : "");
		member = at;
	}
	puts("}");
}

static void caps_require(void)
{
	const struct rdmaez_caps caps = caps_of_device();
	struct rdmaez_caps needs;

	memset(&needs, 0, sizeof(needs));
	needs.device_memory.max_dm_size = 64 * 1024;
	needs.odp.rc = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE;
	needs.depths.max_qp_init_rd_atom = 32;
	needs.atomics.fetch_add = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP;
	rdmaez_caps_require(rdmaez_caps_fields(&caps), rdmaez_caps_fields(&needs), &diag);
	print();
}

/* A device before and after an update of its firmware. */
static void caps_diff(void)
{
	const struct rdmaez_caps before = caps_of_device();
	struct rdmaez_caps after;
	char text[24576];

	snprintf(dev->attr.orig_attr.fw_ver, sizeof(dev->attr.orig_attr.fw_ver), "1.1.0");
	dev->attr.max_dm_size = 128 * 1024;
	dev->attr.orig_attr.max_qp *= 2;
	dev->attr.odp_caps.per_transport_caps.rc_odp_caps |= IBV_ODP_SUPPORT_WRITE;
	need(rdmaez_caps_query(context, &after, &diag));
	rdmaez_caps_diff_format(rdmaez_caps_fields(&before), rdmaez_caps_fields(&after), text,
				sizeof(text));
	fputs(text, stdout);
}

/* ---- A record as it is ------------------------------------------------------------------------ */

static void record_line(void)
{
	char text[1024];

	ready(IBV_QPS_RTR);
	move.attr_mask &= ~IBV_QP_RQ_PSN;
	rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag);
	rdmaez_diag_line(&diag, text, sizeof(text));
	puts(text);
}

static void record_json(void)
{
	char text[4096];

	ready(IBV_QPS_RTR);
	move.attr_mask &= ~IBV_QP_RQ_PSN;
	rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag);
	rdmaez_diag_json(&diag, text, sizeof(text));
	puts(text);
}

/* ---- A job ------------------------------------------------------------------------------------ */

enum {
	RANKS = 8
};

/* One end: each rank has a queue pair for the one before it, and one for the one behind it. */
static void job_qp(struct explain_state_qp *end, uint32_t rank, uint32_t peer)
{
	const bool is_sent = peer == (rank + 1) % RANKS; /* to the next, from the last */

	memset(end, 0, sizeof(*end));
	end->device = "mlx5_0";
	end->type = "RC";
	end->state = "RTS";
	EXPLAIN_STATE_SET(QP, end, port, 1);
	EXPLAIN_STATE_SET(QP, end, qp_num, 0x100 + rank * 2 + is_sent);
	EXPLAIN_STATE_SET(QP, end, dest_qp_num, 0x100 + peer * 2 + !is_sent);
	memcpy(end->gid.raw, gid_of("::ffff:192.0.2.0").raw, 16);
	end->gid.raw[15] = (uint8_t)(1 + rank);
	end->peer_gid = end->gid;
	end->peer_gid.raw[15] = (uint8_t)(1 + peer);
	end->has |= UINT64_C(1) << EXPLAIN_STATE_QP_gid | UINT64_C(1) << EXPLAIN_STATE_QP_peer_gid;
	EXPLAIN_STATE_SET(QP, end, path_mtu, rank == 5 ? 1024 : 4096);
	EXPLAIN_STATE_SET(QP, end, sends_posted, is_sent ? 101 : 0);
	EXPLAIN_STATE_SET(QP, end, sends_completed, is_sent ? 100 : 0);
	EXPLAIN_STATE_SET(QP, end, recvs_posted, is_sent ? 0 : 100);
	EXPLAIN_STATE_SET(QP, end, recvs_completed, is_sent ? 0 : 100);
	EXPLAIN_STATE_SET(QP, end, idle_ms, 42000);
	EXPLAIN_STATE_SET(QP, end, oldest_ms, 42000);
	end->oldest_opcode = is_sent ? "SEND" : NULL;
	if (is_sent && rank == 2) /* it has stopped before its next message */
		EXPLAIN_STATE_SET(QP, end, sends_posted, 100);
}

/* Eight ranks in a ring: rank 5 has another path MTU, and rank 2 stands still. */
static void compared(void)
{
	static const char *const host[] = {"node0", "node1", "node2", "node3",
					   "node4", "node5", "node6", "node7"};
	struct explain_state state[RANKS];
	struct explain_state_qp ends[RANKS][2];

	memset(state, 0, sizeof(state));
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		state[rank].program = "train";
		state[rank].host = host[rank];
		state[rank].reason = "request";
		EXPLAIN_STATE_SET(PROCESS, &state[rank], pid, 4000 + rank);
		EXPLAIN_STATE_SET(PROCESS, &state[rank], rank, rank);
		EXPLAIN_STATE_SET(PROCESS, &state[rank], ranks, RANKS);
		EXPLAIN_STATE_SET(PROCESS, &state[rank], time_ms, UINT64_C(1769860800000) + rank);
		job_qp(&ends[rank][0], rank, (rank + RANKS - 1) % RANKS);
		job_qp(&ends[rank][1], rank, (rank + 1) % RANKS);
		state[rank].qps = ends[rank];
		state[rank].qps_count = 2;
	}
	explain_compare_states(state, RANKS, stdout);
}

/* ----------------------------------------------------------------------------------------------- */

#define OUTPUT(name) {#name, name}

static const struct {
	const char *name;
	void (*print)(void);
} outputs[] = {
	OUTPUT(mask_missing),   OUTPUT(mask_too_much),
	OUTPUT(mask_uc),        OUTPUT(mask_cap),
	OUTPUT(mask_rate),      OUTPUT(skipped),
	OUTPUT(stale),          OUTPUT(no_sqd),
	OUTPUT(reset_final),    OUTPUT(iwarp),
	OUTPUT(no_grh),         OUTPUT(family),
	OUTPUT(port_number),    OUTPUT(port_mismatch),
	OUTPUT(alternate),      OUTPUT(gid_range),
	OUTPUT(mtu_in_bytes),   OUTPUT(mtu_driver),
	OUTPUT(depth),          OUTPUT(depth_budget),
	OUTPUT(pkey_index),     OUTPUT(access_bits),
	OUTPUT(qpn_swapped),    OUTPUT(several),
	OUTPUT(gid_empty),      OUTPUT(gid_table_empty),
	OUTPUT(neighbour),      OUTPUT(link_local),
	OUTPUT(elsewhere),      OUTPUT(no_route_ipv4),
	OUTPUT(no_route_ipv6),  OUTPUT(host_unreachable),
	OUTPUT(no_netdev),      OUTPUT(no_ipv6),
	OUTPUT(privileged),     OUTPUT(unsupported),
	OUTPUT(no_memory),      OUTPUT(again),
	OUTPUT(busy),           OUTPUT(gone),
	OUTPUT(forbidden),      OUTPUT(unexplained),
	OUTPUT(prohibited),     OUTPUT(qkey_never),
	OUTPUT(no_object),      OUTPUT(mtu_above),
	OUTPUT(copied),         OUTPUT(timers),
	OUTPUT(other_gid),      OUTPUT(examined),
	OUTPUT(examined_error), OUTPUT(examined_with),
	OUTPUT(late_wait),      OUTPUT(driver_lacks),
	OUTPUT(timed_out),      OUTPUT(cur_state),
	OUTPUT(no_device),      OUTPUT(wc_text),
	OUTPUT(wc_line),        OUTPUT(gids),
	OUTPUT(caps_text),      OUTPUT(caps_json),
	OUTPUT(caps_require),   OUTPUT(caps_diff),
	OUTPUT(record_line),    OUTPUT(record_json),
	OUTPUT(compared),       OUTPUT(multicast),
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(outputs) / sizeof(outputs[0]); i++)
		if (strcmp(argv[1], outputs[i].name) == 0) {
			outputs[i].print();
			fake_close_all();
			return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
		}
	fprintf(stderr, "usage: outputs NAME, one of:");
	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		fprintf(stderr, " %s", outputs[i].name);
	fputs("\n", stderr);
	return EXIT_FAILURE;
}
