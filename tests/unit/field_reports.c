/* SPDX-License-Identifier: MIT */
/*
 * What people have reported, and what they are told: 105 reports of failed verbs programs, in 29 clusters of a
 * cause each. Where a cause can be known it is an error and stands first, where it is likely it is among the
 * first two, and where it lies at the peer or in the network the record says who knows more.
 */
#include <sys/resource.h>

#include "check.h"

/* How much can be known where the call fails. */
enum answer {
	CERTAIN,
	LIKELY,
	WHO_KNOWS,
	NOT_MADE, /* the fake cannot */
	ANSWERS
};

static const char *const answer_str[ANSWERS] = {"certain", "likely", "who knows", "not made"};

enum {
	REPORTS = 105,
	CLUSTERS = 29
};

static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	int error;
	bool is_said; /* where a text says it, and no finding */
} t;

/* ---- What they have in common --------------------------------------------------------------- */

/* A device of this driver with a queue pair in RESET, in a process that has no privilege and no limit. */
static void start(enum fake_profile profile)
{
	t.dev = fake_reset();
	fake_tree_new();
	fake_tree_file("/proc/self/status", "Name:\ttest\nCapEff:\t0000000000000000\n");
	fake_tree_file("/proc/self/uid_map", "         0          0 4294967295\n");
	fake_profile(t.dev, profile);
	t.ctx = fake_open(t.dev);
	t.pd = ibv_alloc_pd(t.ctx);
	t.qp = fake_qp(t.ctx, IBV_QPT_RC);
	fake_reset_log();
}

/* Options for a peer in the same subnet, with which every move succeeds. */
static struct rdmaez_qp_opts good_opts(void)
{
	struct rdmaez_qp_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.dest_qp_num = 17;
	opts.path.dgid = gid_of("::ffff:192.0.2.9");
	opts.path.sgid_index = 3;
	return opts;
}

/* That queue pair in this state by good options. */
static void move_to(enum ibv_qp_state state)
{
	const struct rdmaez_qp_opts opts = good_opts();
	int error = rdmaez_qp_to_init(t.qp, &opts, &t.diag);

	if (!error && state != IBV_QPS_INIT)
		error = rdmaez_qp_to_rtr(t.qp, &opts, &t.diag);
	if (!error && state != IBV_QPS_INIT && state != IBV_QPS_RTR)
		error = rdmaez_qp_to_rts(t.qp, &opts, &t.diag);
	if (error)
		tap_bail("no queue pair in state %d", (int)state);
}

/* The same up to a state, and what would move it to the next one, for a row to change. */
static void ready_for(enum fake_profile profile, enum ibv_qp_state next)
{
	static struct ibv_port_attr port;
	struct rdmaez_qp_opts opts = good_opts();

	start(profile);
	move_to(next == IBV_QPS_RTS ? IBV_QPS_RTR : IBV_QPS_INIT);
	ibv_query_port(t.ctx, 1, &port);
	opts.port_attr = &port;
	opts.device_attr = &t.dev->attr.orig_attr;
	if (rdmaez_qp_attr(IBV_QPT_RC, t.qp->state, next, &opts, &t.move, &t.diag))
		tap_bail("no attributes");
}

static void modify(void)
{
	t.error = rdmaez_qp_modify(t.qp, &t.move.attr, t.move.attr_mask, &t.diag);
}

/* A completion of that queue pair with an error. */
static void complete(enum ibv_wc_status status, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	memset(&wr, 0, sizeof(wr));
	memset(&wc, 0, sizeof(wc));
	wr.opcode = opcode;
	wc.status = status;
	wc.qp_num = t.qp->qp_num;
	t.error = rdmaez_wc_explain_send(&wc, t.qp, &wr, &t.diag);
}

static void completes(enum fake_profile profile, enum ibv_wc_status status,
		      enum ibv_wr_opcode opcode)
{
	start(profile);
	move_to(IBV_QPS_RTS);
	complete(status, opcode);
}

/* A registration that ends so. */
static void registers(size_t length, unsigned int access, int error)
{
	static char memory[4096];
	struct ibv_mr *mr;

	if (error)
		fake_fail(FAKE_REG_MR, 0, error);
	t.error = rdmaez_mr_reg(t.pd, memory, length, access, &mr, &t.diag);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void mrkey_flags(void)
{
	start(FAKE_PROFILE_MLX5);
	registers(4096, IBV_ACCESS_REMOTE_WRITE, 0);
}

static void mrkey_remote(void)
{
	completes(FAKE_PROFILE_MLX5, IBV_WC_REM_ACCESS_ERR, IBV_WR_RDMA_WRITE);
}

static void mrkey_bounds(void)
{
	mrkey_remote();
}

static void mrkey_local(void)
{
	completes(FAKE_PROFILE_MLX5, IBV_WC_LOC_PROT_ERR, IBV_WR_SEND);
}

/* The soft limit of this process is lowered, which needs no privilege and can be undone. */
static void limited(void (*make)(void))
{
	struct rlimit before, low;

	getrlimit(RLIMIT_MEMLOCK, &before);
	low = before;
	low.rlim_cur = 65536;
	setrlimit(RLIMIT_MEMLOCK, &low);
	make();
	setrlimit(RLIMIT_MEMLOCK, &before);
}

static void no_memory_for_mr(void)
{
	start(FAKE_PROFILE_MLX5);
	registers(4096, IBV_ACCESS_LOCAL_WRITE, ENOMEM);
}

static void no_memory_for_cq(void)
{
	struct ibv_cq *cq;

	start(FAKE_PROFILE_MLX5);
	fake_fail(FAKE_CREATE_CQ, 1, ENOMEM);
	t.error = rdmaez_cq_create(t.ctx, 100, NULL, 0, &cq, &t.diag);
}

static void memlock_mr(void)
{
	limited(no_memory_for_mr);
}

static void memlock_cq(void)
{
	limited(no_memory_for_cq);
}

static void maxmr(void)
{
	start(FAKE_PROFILE_MLX5);
	t.dev->attr.orig_attr.max_mr_size = 2048;
	registers(4096, IBV_ACCESS_LOCAL_WRITE, 0);
}

static void maxmr_eio(void)
{
	start(FAKE_PROFILE_ERDMA);
	t.dev->attr.orig_attr.max_mr_size = 2048;
	registers(4096, IBV_ACCESS_LOCAL_WRITE, EIO);
}

/* ---- Addressing ----------------------------------------------------------------------------- */

static void grh(void)
{
	ready_for(FAKE_PROFILE_MLX5, IBV_QPS_RTR);
	t.move.attr.ah_attr.is_global = 0;
	modify();
}

static void mtu(void)
{
	ready_for(FAKE_PROFILE_BNXT_RE, IBV_QPS_RTR);
	t.move.attr.path_mtu = IBV_MTU_4096;
	modify();
}

static void port_row_gone(void)
{
	ready_for(FAKE_PROFILE_MLX5, IBV_QPS_RTR);
	memset(&t.dev->port[1].gid[3], 0, sizeof(t.dev->port[1].gid[3]));
	modify();
}

/* ---- Sizes and capacities ------------------------------------------------------------------- */

static int create_qp(uint32_t wr, uint32_t max_inline)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;

	memset(&init, 0, sizeof(init));
	init.qp_type = IBV_QPT_RC;
	init.send_cq = init.recv_cq = t.qp->send_cq;
	init.cap.max_send_wr = init.cap.max_recv_wr = wr;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	init.cap.max_inline_data = max_inline;
	return t.error = rdmaez_qp_create(t.qp->pd, &init, &qp, &t.diag);
}

static void inline_create(void)
{
	start(FAKE_PROFILE_MLX5);
	create_qp(1, 988);
}

/* Posts one request of so many bytes, until that fails or has been done so often. */
static void post(unsigned int times, int num_sge, uint32_t length, unsigned int flags)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge[32];

	memset(&wr, 0, sizeof(wr));
	memset(sge, 0, sizeof(sge));
	sge[0].length = length;
	wr.opcode = IBV_WR_SEND;
	wr.sg_list = sge;
	wr.num_sge = num_sge;
	wr.send_flags = flags;
	do
		t.error = rdmaez_wr_post_send(t.qp, &wr, &bad, &t.diag);
	while (!t.error && --times);
}

static void inline_post(void)
{
	start(FAKE_PROFILE_MLX5);
	move_to(IBV_QPS_RTS);
	post(1, 1, 200, IBV_SEND_INLINE);
}

static void cqsize(void)
{
	struct ibv_cq *cq;

	start(FAKE_PROFILE_RXE);
	t.error = rdmaez_cq_create(t.ctx, t.dev->attr.orig_attr.max_cqe + 1, NULL, 0, &cq, &t.diag);
}

static void cqsize_hidden(void)
{
	struct ibv_cq *cq;

	start(FAKE_PROFILE_MLX4);
	t.dev->habits.cq_hidden = 8192;
	t.error = rdmaez_cq_create(t.ctx, 10000, NULL, 0, &cq, &t.diag);
}

static void rdatom(void)
{
	ready_for(FAKE_PROFILE_MLX5, IBV_QPS_RTR);
	t.move.attr.max_dest_rd_atomic = 17;
	modify();
}

static void rdatom_rts(void)
{
	ready_for(FAKE_PROFILE_MLX5, IBV_QPS_RTS);
	t.move.attr.max_rd_atomic = 128;
	modify();
}

static void rdatom_budget(void)
{
	ready_for(FAKE_PROFILE_IONIC, IBV_QPS_RTR);
	t.dev->attr.orig_attr.max_res_rd_atom = 16;
	t.move.attr.max_dest_rd_atomic = 16;
	fake_fail(FAKE_MODIFY_QP, 1, EINVAL);
	modify();
}

static void quota_qp(void)
{
	start(FAKE_PROFILE_MLX5);
	fake_tree_file("/proc/self/status", "Name:\ttest\nCapEff:\tffffffffffffffff\n");
	fake_fail(FAKE_CREATE_QP, 1, ENOMEM);
	create_qp(1, 0);
}

static void quota_wr(void)
{
	quota_qp();
	fake_fail(FAKE_CREATE_QP, 1, ENOMEM);
	create_qp(16384, 0);
}

static void quota_mr(void)
{
	start(FAKE_PROFILE_MLX5);
	fake_tree_file("/proc/self/status", "Name:\ttest\nCapEff:\tffffffffffffffff\n");
	registers(4096, IBV_ACCESS_LOCAL_WRITE, ENOMEM);
}

static void sqfull(void)
{
	start(FAKE_PROFILE_MLX5);
	move_to(IBV_QPS_RTS);
	post(100000, 1, 8, 0);
}

static void sqfull_sge(void)
{
	start(FAKE_PROFILE_MLX5);
	move_to(IBV_QPS_RTS);
	post(1, 32, 8, 0);
}

static void sqfull_cq(void)
{
	struct ibv_async_event event;

	start(FAKE_PROFILE_MLX5);
	memset(&event, 0, sizeof(event));
	event.event_type = IBV_EVENT_CQ_ERR;
	t.is_said = strstr(rdmaez_event_explain(&event)->cause[0], "more completions came") != NULL;
}

/* ---- Peer, fabric, port --------------------------------------------------------------------- */

static void rnr(void)
{
	completes(FAKE_PROFILE_MLX5, IBV_WC_RNR_RETRY_EXC_ERR, IBV_WR_SEND);
}

static void port_down(void)
{
	start(FAKE_PROFILE_MLX5);
	move_to(IBV_QPS_RTS);
	t.dev->port[1].attr.state = IBV_PORT_DOWN;
	complete(IBV_WC_RETRY_EXC_ERR, IBV_WR_SEND);
}

static void retries(void)
{
	completes(FAKE_PROFILE_MLX5, IBV_WC_RETRY_EXC_ERR, IBV_WR_SEND);
}

/* ---- Installation --------------------------------------------------------------------------- */

/* The kernel has the device, and its node. */
static void start_without_list(bool is_unlisted)
{
	start(FAKE_PROFILE_MLX5);
	t.dev->is_unlisted = is_unlisted;
	fake_tree_file("/sys/class/infiniband/fake0/node_type", "1: CA\n");
	fake_tree_file("/sys/class/infiniband_verbs/uverbs0/ibdev", "fake0\n");
	fake_tree_file("/sys/class/infiniband_verbs/uverbs0/dev", "1:3\n");
	fake_tree_link("/dev/infiniband/uverbs0", "/dev/null");
	fake_tree_file("/etc/libibverbs.d/mlx5.driver", "driver mlx5\n");
	fake_tree_file("/proc/self/maps", "1-2 r-xp 0 0:0 0 /usr/lib/libibverbs.so.1.14.44.0\n"
					  "3-4 r-xp 0 0:0 0 /usr/lib/librxe-rdmav34.so\n");
}

static void open_device(void)
{
	struct ibv_context *context;

	t.error = rdmaez_device_open(NULL, &context, &t.diag);
}

static void provider_none(void)
{
	start_without_list(true);
	fake_tree_file("/etc/libibverbs.d/mlx5.driver", NULL);
	fake_tree_file("/etc/libibverbs.d", NULL);
	fake_tree_file("/proc/self/maps", "1-2 r-xp 0 0:0 0 /usr/lib/libibverbs.so.1.14.44.0\n");
	open_device();
}

static void provider_release(void)
{
	start_without_list(true);
	fake_tree_file("/proc/self/maps", "1-2 r-xp 0 0:0 0 /usr/local/lib/libibverbs.so.1\n");
	open_device();
}

static void provider_unfit(void)
{
	start_without_list(true);
	open_device();
}

static void devnode_missing(void)
{
	start_without_list(true);
	fake_tree_file("/dev/infiniband/uverbs0", NULL);
	open_device();
}

static void devnode_forbidden(void)
{
	start_without_list(false);
	fake_tree_refuse("/dev/infiniband/uverbs0", EPERM);
	fake_fail(FAKE_OPEN_DEVICE, 1, ENOENT);
	open_device();
}

static void devnode_rights(void)
{
	start_without_list(false);
	fake_tree_refuse("/dev/infiniband/uverbs0", EACCES);
	fake_fail(FAKE_OPEN_DEVICE, 1, EACCES);
	open_device();
}

static void netns_device(void)
{
	start_without_list(true);
	fake_tree_file("/sys/class/infiniband/fake0/node_type", NULL);
	fake_tree_file("/sys/class/infiniband/fake0", NULL);
	open_device();
}

static void unsup_resize(void)
{
	start(FAKE_PROFILE_SIW);
	t.error = rdmaez_cq_resize(t.qp->send_cq, 8, &t.diag);
}

/* ---- State and exchange --------------------------------------------------------------------- */

static void errstate_flush(void)
{
	completes(FAKE_PROFILE_MLX5, IBV_WC_WR_FLUSH_ERR, IBV_WR_SEND);
}

static void errstate_post(void)
{
	struct ibv_recv_wr wr, *bad;

	start(FAKE_PROFILE_MLX5);
	move_to(IBV_QPS_RTS);
	fake_qp_force(t.qp, IBV_QPS_ERR);
	fake_fail(FAKE_POST_RECV, 1, ENOMEM);
	memset(&wr, 0, sizeof(wr));
	t.error = rdmaez_wr_post_recv(t.qp, &wr, &bad, &t.diag);
}

static void appbug_number(void)
{
	ready_for(FAKE_PROFILE_MLX5, IBV_QPS_RTR);
	t.move.attr.dest_qp_num = 0x6b000000;
	fake_fail(FAKE_MODIFY_QP, 1, EINVAL);
	modify();
}

static void appbug_gid(void)
{
	ready_for(FAKE_PROFILE_MLX5, IBV_QPS_RTR);
	memset(&t.move.attr.ah_attr.grh.dgid, 0, sizeof(t.move.attr.ah_attr.grh.dgid));
	fake_fail(FAKE_MODIFY_QP, 1, EINVAL);
	modify();
}

/* ---- The table ------------------------------------------------------------------------------ */

/* One way in which the reports of a cluster fail. `field` NULL: a text says it, or why it cannot be made. */
static const struct row {
	const char *cluster;
	int first, last; /* the reports' numbers */
	enum answer answer;
	const char *form;
	void (*make)(void);
	enum rdmaez_why reason;
	const char *field;
} rows[] = {
	{"MRKEY", 1, 10, CERTAIN, "access flags at registration", mrkey_flags,
	 RDMAEZ_WHY_MR_LOCAL_WRITE, "access"},
	{"MRKEY", 1, 10, LIKELY, "a wrong or stale rkey", mrkey_remote, RDMAEZ_WHY_WC_RKEY,
	 "wr.rdma.rkey"},
	{"MRKEY", 1, 10, LIKELY, "beyond the region", mrkey_bounds, RDMAEZ_WHY_WC_REMOTE_BOUNDS,
	 "wr.rdma.remote_addr"},
	{"MRKEY", 1, 10, LIKELY, "a wrong or stale lkey", mrkey_local, RDMAEZ_WHY_WC_LKEY,
	 "sg_list.lkey"},
	{"PROVIDER", 17, 22, CERTAIN, "no provider", provider_none, RDMAEZ_WHY_DEVICE_PROVIDER,
	 "name"},
	{"PROVIDER", 17, 22, LIKELY, "none installed", provider_none, RDMAEZ_WHY_PROVIDER_MISSING,
	 "/etc/libibverbs.d"},
	{"PROVIDER", 17, 22, LIKELY, "of another release", provider_release,
	 RDMAEZ_WHY_PROVIDER_RELEASE, "/etc/libibverbs.d"},
	{"PROVIDER", 17, 22, LIKELY, "none for this device", provider_unfit,
	 RDMAEZ_WHY_PROVIDER_UNFIT, "/etc/libibverbs.d"},
	{"MEMLOCK", 23, 27, LIKELY, "a memory region", memlock_mr, RDMAEZ_WHY_MEMLOCK, "length"},
	{"MEMLOCK", 23, 27, LIKELY, "a completion queue", memlock_cq, RDMAEZ_WHY_MEMLOCK, "cqe"},
	{"INLINE", 46, 49, LIKELY, "too much when created", inline_create, RDMAEZ_WHY_CAP_INLINE,
	 "cap.max_inline_data"},
	{"INLINE", 46, 49, CERTAIN, "none when created", inline_post, RDMAEZ_WHY_WR_INLINE,
	 "sg_list"},
	{"GRH", 54, 57, CERTAIN, "none on RoCE", grh, RDMAEZ_WHY_GRH_MISSING, "ah_attr.is_global"},
	{"QUOTA", 58, 61, LIKELY, "queue pairs", quota_qp, RDMAEZ_WHY_NO_RESOURCES, "max_qp"},
	{"QUOTA", 58, 61, LIKELY, "work requests", quota_wr, RDMAEZ_WHY_CAP_TOGETHER, "cap"},
	{"QUOTA", 58, 61, LIKELY, "regions", quota_mr, RDMAEZ_WHY_NO_RESOURCES, "ibv_reg_mr"},
	{"SQFULL", 62, 65, LIKELY, "more outstanding than fit", sqfull, RDMAEZ_WHY_WR_QUEUE_FULL,
	 "cap.max_send_wr"},
	{"SQFULL", 62, 65, CERTAIN, "more SGEs than fit", sqfull_sge, RDMAEZ_WHY_WR_SGE, "num_sge"},
	{"SQFULL", 62, 65, WHO_KNOWS, "a completion queue too small: its event", sqfull_cq,
	 RDMAEZ_WHY_NONE, NULL},
	{"RNR", 66, 69, LIKELY, "no receive in time", rnr, RDMAEZ_WHY_WC_RNR, "rnr_retry"},
	{"PORT", 70, 73, LIKELY, "down", port_down, RDMAEZ_WHY_PORT_DOWN, "port_attr.state"},
	{"PORT", 70, 73, CERTAIN, "the GID has moved to another row", port_row_gone,
	 RDMAEZ_WHY_GID_EMPTY, "ah_attr.grh.sgid_index"},
	{"DEVNODE", 74, 76, CERTAIN, "missing", devnode_missing, RDMAEZ_WHY_DEVICE_NO_NODE,
	 "/dev/infiniband"},
	{"DEVNODE", 74, 76, CERTAIN, "mounted only", devnode_forbidden, RDMAEZ_WHY_DEVICE_FORBIDDEN,
	 "/dev/infiniband"},
	{"DEVNODE", 74, 76, CERTAIN, "of another group", devnode_rights, RDMAEZ_WHY_DEVICE_RIGHTS,
	 "/dev/infiniband"},
	{"CQSIZE", 77, 79, CERTAIN, "above max_cqe", cqsize, RDMAEZ_WHY_CAP_LIMIT, "cqe"},
	{"CQSIZE", 77, 79, LIKELY, "a limit that is not reported", cqsize_hidden,
	 RDMAEZ_WHY_CQ_HIDDEN, "cqe"},
	{"RDATOM", 80, 82, CERTAIN, "of the peer's, above the limit", rdatom,
	 RDMAEZ_WHY_DEPTH_LIMIT, "max_dest_rd_atomic"},
	{"RDATOM", 80, 82, CERTAIN, "of its own, above the limit", rdatom_rts,
	 RDMAEZ_WHY_DEPTH_LIMIT, "max_rd_atomic"},
	{"UNSUP", 86, 88, CERTAIN, "resizing on iWARP", unsup_resize, RDMAEZ_WHY_CQ_FIXED, "cq"},
	{"NETNS", 89, 91, CERTAIN, "the device is elsewhere", netns_device, RDMAEZ_WHY_DEVICE_NETNS,
	 "name"},
	{"MTU", 92, 93, CERTAIN, "above the active one", mtu, RDMAEZ_WHY_MTU_ABOVE_ACTIVE,
	 "path_mtu"},
	{"MAXMR", 94, 95, CERTAIN, "longer than max_mr_size", maxmr, RDMAEZ_WHY_RANGE, "length"},
	{"MAXMR", 94, 95, CERTAIN, "on erdma", maxmr_eio, RDMAEZ_WHY_RANGE, "length"},
	{"LOSSY", 98, 99, WHO_KNOWS, "retries used up", retries, RDMAEZ_WHY_WC_RETRIES, "timeout"},
	{"ERRSTATE", 100, 101, LIKELY, "flushed", errstate_flush, RDMAEZ_WHY_WC_FLUSHED, "status"},
	{"ERRSTATE", 100, 101, LIKELY, "refused", errstate_post, RDMAEZ_WHY_WR_QP_ERROR,
	 "qp_state"},
	{"APPBUG", 102, 103, LIKELY, "a number with its bytes swapped", appbug_number,
	 RDMAEZ_WHY_QPN_SWAPPED, "dest_qp_num"},
	{"APPBUG", 102, 103, LIKELY, "no GID", appbug_gid, RDMAEZ_WHY_PATH_EMPTY,
	 "ah_attr.grh.dgid"},
	{"APPBUG", 102, 103, WHO_KNOWS, "two queue pairs with one peer", retries,
	 RDMAEZ_WHY_WC_RETRIES, "timeout"},
	{"RDATOM", 80, 82, LIKELY, "the device's budget is used up", rdatom_budget,
	 RDMAEZ_WHY_DEPTH_LIMIT, "max_dest_rd_atomic"},
};

static void show(void)
{
	for (unsigned int i = 0; i < t.diag.count; i++)
		tap_diag("  %u: severity %d, %s of %s", i, (int)t.diag.finding[i].severity,
			 rdmaez_why_id(t.diag.finding[i].reason), t.diag.finding[i].field);
}

/* Where a reason stands among the causes: behind how many others. Which work request it is, is no cause. */
static int rank_of(const struct row *row, enum rdmaez_severity *severity)
{
	int rank = 0;

	for (unsigned int i = 0; i < t.diag.count; i++) {
		const struct rdmaez_finding *const at = &t.diag.finding[i];

		*severity = at->severity;
		if (at->reason == row->reason && strcmp(at->field, row->field) == 0)
			return rank;
		rank += at->reason != RDMAEZ_WHY_WR_BAD && at->reason != RDMAEZ_WHY_WR_BAD_UNKNOWN;
	}
	return -1;
}

/* An error that is not the cause would be a false one. */
static bool has_other_error(const struct row *row)
{
	for (unsigned int i = 0; i < t.diag.count; i++)
		if (t.diag.finding[i].severity == RDMAEZ_DIAG_ERROR &&
		    t.diag.finding[i].reason != row->reason &&
		    t.diag.finding[i].reason != RDMAEZ_WHY_WR_BAD &&
		    t.diag.finding[i].reason != RDMAEZ_WHY_DEVICE_PROVIDER)
			return true;
	return false;
}

static void check_row(const struct row *row)
{
	enum rdmaez_severity severity = RDMAEZ_DIAG_ADVICE;
	bool is_right;
	int rank;

	memset(&t, 0, sizeof(t));
	if (row->answer == NOT_MADE)
		return;
	row->make();
	if (!row->field) {
		tap_ok(t.is_said, "%s, %s: is said", row->cluster, row->form);
		return;
	}
	rank = rank_of(row, &severity);
	is_right = row->answer == CERTAIN ? rank == 0 && severity == RDMAEZ_DIAG_ERROR
		   : row->answer == LIKELY
			   ? (rank == 0 || rank == 1) && severity == RDMAEZ_DIAG_LIKELY
			   : rank >= 0 && severity != RDMAEZ_DIAG_ERROR;
	if (!tap_ok(is_right && !has_other_error(row), "%s, %s: %s is %s", row->cluster, row->form,
		    rdmaez_why_id(row->reason), answer_str[row->answer]))
		show();
}

int main(void)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check_row(&rows[i]);
	fake_close_all();
	return tap_done();
}
