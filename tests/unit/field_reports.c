/* SPDX-License-Identifier: MIT */
/*
 * What people have reported, and what they are told: 105 reports of failed verbs programs, in 29 clusters of a
 * cause each. Where a cause can be known it is an error and stands first, where it is likely it is among the
 * first two, and where it lies at the peer or in the network the record says who knows more.
 */
#define _DEFAULT_SOURCE /* setenv() */
#include <stdlib.h>
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
	fake_tree_file("/proc/thread-self/status", "Name:\ttest\nCapEff:\t0000000000000000\n");
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
	static struct ibv_device_attr device;
	static struct ibv_port_attr port;
	struct rdmaez_qp_opts opts = good_opts();

	start(profile);
	if (next != IBV_QPS_INIT)
		move_to(next == IBV_QPS_RTS ? IBV_QPS_RTR : IBV_QPS_INIT);
	ibv_query_port(t.ctx, 1, &port);
	opts.port_attr = &port;
	ibv_query_device(t.ctx, &device);
	opts.device_attr = &device;
	if (rdmaez_qp_attr(IBV_QPT_RC, t.qp->state, next, &opts, &t.move, &t.diag))
		tap_bail("no attributes: %s", rdmaez_why_id(t.diag.finding[0].reason));
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

/* A registration at an address that may be nobody's; error 0: it ends as on the device. */
static void registers(uintptr_t address, size_t length, unsigned int access, int error)
{
	char *start_of;
	struct ibv_mr *mr;

	memcpy(&start_of, &address, sizeof(start_of));
	if (error)
		fake_fail(FAKE_REG_MR, 0, error);
	t.error = rdmaez_mr_reg(t.pd, start_of, length, access, &mr, &t.diag);
}

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

/* ---- Memory --------------------------------------------------------------------------------- */

enum {
	HOST = 0x10000,          /* ordinary memory of the mappings below */
	HUGE_PAGES = 0x40000000, /* 4 MiB in pages of 2 MiB */
	GPU = 0x20000000
};

static const char host_maps[] = "00010000-00110000 rw-p 00000000 00:00 0 \n";
static const char gpu_maps[] = "00010000-00110000 rw-p 00000000 00:00 0 \n"
			       "20000000-30000000 ---p 00000000 00:00 0 \n"
			       "7f3c00000000-7f3c00200000 rw-s 00000000 00:05 613 /dev/nvidiactl\n";

/* A process that uses a GPU registers its memory; whether the peer memory module is there. */
static void registers_gpu(bool has_module, int error)
{
	start(FAKE_PROFILE_MLX5);
	fake_tree_file("/proc/self/maps", gpu_maps);
	fake_tree_file("/sys/module/ib_core/refcnt", "1\n");
	if (has_module)
		fake_tree_file("/sys/module/nvidia_peermem/refcnt", "1\n");
	registers(GPU, 1 << 20, IBV_ACCESS_LOCAL_WRITE, error);
}

static void peermem(void)
{
	registers_gpu(false, EFAULT);
}

/* The kernel's own ib_core, and one that a vendor has extended. */
static void peermem_of(const char *symbols)
{
	start(FAKE_PROFILE_MLX5);
	fake_tree_file("/proc/self/maps", gpu_maps);
	fake_tree_file("/sys/module/ib_core/refcnt", "1\n");
	fake_tree_file("/proc/kallsyms", symbols);
	registers(GPU, 1 << 20, IBV_ACCESS_LOCAL_WRITE, EFAULT);
}

static void peermem_inbox(void)
{
	peermem_of("0000000000000000 T schedule\n"
		   "0000000000000000 T ib_register_device\t[ib_core]\n"
		   "0000000000000000 T ib_register_client\t[ib_core]\n");
}

static void peermem_extended(void)
{
	peermem_of("0000000000000000 T ib_register_device\t[ib_core]\n"
		   "0000000000000000 T ib_register_peer_memory_client\t[ib_core]\n");
}

static void peermem_old(void)
{
	start(FAKE_PROFILE_MLX5);
	fake_tree_file("/proc/self/maps", gpu_maps);
	fake_tree_file("/sys/module/nv_peer_mem/refcnt", "1\n");
	registers(GPU, 1 << 20, IBV_ACCESS_LOCAL_WRITE, EFAULT);
}

static void peermem_amd(void)
{
	start(FAKE_PROFILE_MLX5);
	fake_tree_file("/proc/self/maps",
		       "20000000-30000000 ---p 00000000 00:00 0 \n"
		       "7f3c00000000-7f3c00200000 rw-s 00000000 00:05 613 /dev/kfd\n");
	fake_tree_file("/sys/module/ib_core/refcnt", "1\n");
	registers(GPU, 1 << 20, IBV_ACCESS_LOCAL_WRITE, EINVAL);
}

static void peermem_einval(void)
{
	registers_gpu(false, EINVAL);
}

static void peermem_gpu(void)
{
	registers_gpu(true, EFAULT);
}

static void gpuvmm(void)
{
	setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", 1);
	registers_gpu(true, EFAULT);
	unsetenv("PYTORCH_CUDA_ALLOC_CONF");
}

static void bar1(void)
{
	start(FAKE_PROFILE_MLX5);
	fake_tree_file("/proc/self/maps", gpu_maps);
	fake_tree_file("/sys/module/nvidia_peermem/refcnt", "1\n");
	fake_tree_file("/proc/bus/pci/devices",
		       "5e00\t10de2206\t12\t0\t0\t0\t0\t0\t0\t0\t1000000\t10000000\t0\t"
		       "2000000\t0\t80\t20000000\tnvidia\n");
	registers(GPU, 4096, IBV_ACCESS_LOCAL_WRITE, EFAULT);
}

static void hugefork(void)
{
	start(FAKE_PROFILE_MLX5);
	fake_fork(1);
	fake_tree_file("/proc/self/maps",
		       "40000000-40400000 rw-p 00000000 00:0f 1 /anon_hugepage\n");
	fake_tree_file("/proc/self/smaps",
		       "40000000-40400000 rw-p 00000000 00:0f 1 /anon_hugepage\n"
		       "KernelPageSize:     2048 kB\n");
	registers(HUGE_PAGES + 4096, 1 << 20, IBV_ACCESS_LOCAL_WRITE, EINVAL);
}

static void hugefork_mappings(void)
{
	start(FAKE_PROFILE_MLX5);
	fake_fork(1);
	fake_tree_file("/proc/self/maps", host_maps);
	fake_tree_file("/proc/sys/vm/max_map_count", "1\n");
	registers(HOST, 4096, IBV_ACCESS_LOCAL_WRITE, ENOMEM);
}

static void unsup_dmabuf(void)
{
	struct rdmaez_mr_dmabuf dmabuf;
	struct ibv_mr *mr;

	start(FAKE_PROFILE_MLX5);
	memset(&dmabuf, 0, sizeof(dmabuf));
	dmabuf.length = 4096;
	fake_fail(FAKE_REG_DMABUF_MR, 0, EOPNOTSUPP);
	t.error = rdmaez_mr_reg_dmabuf(t.pd, &dmabuf, IBV_ACCESS_LOCAL_WRITE, &mr, &t.diag);
	fake_fail(FAKE_REG_DMABUF_MR, 0, 0);
}

static void mrkey_flags(void)
{
	start(FAKE_PROFILE_MLX5);
	registers(HOST, 4096, IBV_ACCESS_REMOTE_WRITE, 0);
}

static void mrkey_remote(void)
{
	completes(FAKE_PROFILE_MLX5, IBV_WC_REM_ACCESS_ERR, IBV_WR_RDMA_WRITE);
}

static void mrkey_sink(void)
{
	start(FAKE_PROFILE_ERDMA);
	complete(IBV_WC_LOC_ACCESS_ERR, IBV_WR_RDMA_READ);
}

static void acs(void)
{
	start(FAKE_PROFILE_MLX5);
	move_to(IBV_QPS_RTS);
	fake_tree_file("/proc/self/maps", gpu_maps);
	fake_tree_file("/sys/kernel/iommu_groups/0/type", "DMA-FQ\n");
	complete(IBV_WC_LOC_PROT_ERR, IBV_WR_RDMA_WRITE);
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
	registers(HOST, 4096, IBV_ACCESS_LOCAL_WRITE, ENOMEM);
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

/* A process of this user in a container that this variable or file tells. */
static void memlock_of(unsigned int user, const char *sign)
{
	char status[200];

	snprintf(status, sizeof(status),
		 "Name:\ttest\nUid:\t0\t%u\t%u\t%u\nVmLck:\t       0 kB\nVmPin:\t      32 kB\n"
		 "CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n",
		 user, user, user);
	start(FAKE_PROFILE_MLX5);
	fake_tree_file("/proc/thread-self/status", status);
	if (*sign == '/')
		fake_tree_file(sign, "");
	else
		setenv(sign, "1", 1);
	registers(HOST, 1 << 20, IBV_ACCESS_LOCAL_WRITE, ENOMEM);
	unsetenv(sign);
}

static void no_memory_for_pod(void)
{
	memlock_of(1000, "KUBERNETES_SERVICE_HOST");
}

static void no_memory_for_root(void)
{
	memlock_of(0, "KUBERNETES_SERVICE_HOST");
}

static void no_memory_for_container(void)
{
	memlock_of(1000, "container");
}

/* Docker sets no variable. */
static void no_memory_for_docker(void)
{
	memlock_of(1000, "/.dockerenv");
}

static void no_memory_for_step(void)
{
	memlock_of(1000, "SLURM_JOB_ID");
}

/* Without a limit of locked memory, on a kernel that keeps memory for another one. */
static void unpinnable_mr(void)
{
	start(FAKE_PROFILE_MLX5);
	fake_tree_file("/proc/thread-self/status",
		       "Name:\ttest\nVmPin:\t      32 kB\nCapEff:\tffffffffffffffff\n");
	fake_tree_file("/proc/meminfo",
		       "MemTotal: 1 kB\nCmaTotal:       0 kB\nCmaFree:  9700000 kB\n");
	registers(HOST, 4096, IBV_ACCESS_LOCAL_WRITE, ENOMEM);
}

static void memlock_pod(void)
{
	limited(no_memory_for_pod);
}

static void memlock_root(void)
{
	limited(no_memory_for_root);
}

static void memlock_container(void)
{
	limited(no_memory_for_container);
}

static void memlock_docker(void)
{
	limited(no_memory_for_docker);
}

static void memlock_step(void)
{
	limited(no_memory_for_step);
}

static void no_memory_for_much(void)
{
	start(FAKE_PROFILE_MLX5);
	fake_tree_file("/proc/thread-self/status",
		       "Name:\ttest\nVmLck:\t       0 kB\nVmPin:\t      32 kB\n"
		       "CapEff:\t0000000000000000\n");
	registers(HOST, 1 << 20, IBV_ACCESS_LOCAL_WRITE, ENOMEM);
}

static void memlock_much(void)
{
	limited(no_memory_for_much);
}

static void no_memory_for_qp(void)
{
	start(FAKE_PROFILE_MLX5);
	fake_fail(FAKE_CREATE_QP, 1, ENOMEM);
	create_qp(1, 0);
}

static void memlock_qp(void)
{
	limited(no_memory_for_qp);
}

static void memlock_cq(void)
{
	limited(no_memory_for_cq);
}

static void maxmr(void)
{
	start(FAKE_PROFILE_MLX5);
	t.dev->attr.orig_attr.max_mr_size = 2048;
	registers(HOST, 4096, IBV_ACCESS_LOCAL_WRITE, 0);
}

static void maxmr_eio(void)
{
	start(FAKE_PROFILE_ERDMA);
	t.dev->attr.orig_attr.max_mr_size = 2048;
	registers(HOST, 4096, IBV_ACCESS_LOCAL_WRITE, EIO);
}

/* ---- Addressing ----------------------------------------------------------------------------- */

static void grh(void)
{
	ready_for(FAKE_PROFILE_MLX5, IBV_QPS_RTR);
	t.move.attr.ah_attr.is_global = 0;
	modify();
}

/* A move to RTR from this GID index to this peer, whose Ethernet address is looked up with this outcome. */
static void reaches(int sgid_index, const char *peer, int outcome)
{
	ready_for(FAKE_PROFILE_MLX5, IBV_QPS_RTR);
	t.move.attr.ah_attr.grh.sgid_index = (uint8_t)sgid_index;
	t.move.attr.ah_attr.grh.dgid = gid_of(peer);
	t.dev->neighbour_errno = outcome;
	fake_route(outcome == ETIMEDOUT ? 0 : outcome);
	modify();
}

/* A connection that was made, from this GID index to this peer, and then loses its packets. */
static void connected(enum fake_profile profile, int sgid_index, const char *peer)
{
	struct rdmaez_qp_opts opts = good_opts();
	int error;

	start(profile);
	opts.path.sgid_index = rdmaez_exactly(sgid_index);
	opts.path.dgid = gid_of(peer);
	error = rdmaez_qp_to_init(t.qp, &opts, &t.diag);
	if (!error)
		error = rdmaez_qp_to_rtr(t.qp, &opts, &t.diag);
	if (!error)
		error = rdmaez_qp_to_rts(t.qp, &opts, &t.diag);
	if (error)
		tap_bail("no connection");
}

static void gidll_global(void)
{
	reaches(1, "2001:db8::9", ETIMEDOUT);
}

static void gidll_local(void)
{
	reaches(1, "fe80::9", ETIMEDOUT);
}

static void gidll_other_family(void)
{
	reaches(1, "::ffff:192.0.2.9", 0);
}

static void gidll_completion(void)
{
	connected(FAKE_PROFILE_MLX5, 1, "fe80::9");
	complete(IBV_WC_RETRY_EXC_ERR, IBV_WR_SEND);
}

/* Index 0, which NCCL, UCX and libfabric took unless they were told: on adapters link-local, of RoCE v1. */
static void gidll_zero(void)
{
	connected(FAKE_PROFILE_MLX5, 0, "fe80::9");
	complete(IBV_WC_RETRY_EXC_ERR, IBV_WR_SEND);
}

static void gidll_zero_global(void)
{
	reaches(0, "2001:db8::9", ETIMEDOUT);
}

static void gidll_zero_ipv4(void)
{
	reaches(0, "::ffff:192.0.2.9", 0);
}

static void gidll_zero_advised(void)
{
	ready_for(FAKE_PROFILE_MLX5, IBV_QPS_RTR);
	t.move.attr.ah_attr.grh.sgid_index = 0;
	t.move.attr.ah_attr.grh.dgid = gid_of("fe80::9");
	t.error = rdmaez_qp_check(t.qp, &t.move.attr, t.move.attr_mask, &t.diag);
}

static void gidll_zero_examined(void)
{
	connected(FAKE_PROFILE_MLX5, 0, "fe80::9");
	t.error = rdmaez_qp_examine(t.qp, &t.diag);
}

/* RoCE v1 of an address that is routable: v2 of the same one. */
static void gidll_old(void)
{
	connected(FAKE_PROFILE_MLX5, 2, "::ffff:192.0.2.9");
	complete(IBV_WC_RETRY_EXC_ERR, IBV_WR_SEND);
}

static void route_none(void)
{
	reaches(3, "::ffff:10.7.7.2", ENETUNREACH);
}

static void route_rail(void)
{
	fake_reset();
	ready_for(FAKE_PROFILE_MLX5, IBV_QPS_RTR);
	t.move.attr.ah_attr.grh.dgid = gid_of("::ffff:10.7.7.2");
	t.dev->neighbour_errno = ETIMEDOUT;
	fake_route_from("10.7.7.1");
	modify();
}

static void route_ah(void)
{
	struct rdmaez_path path;
	struct ibv_ah *ah;

	start(FAKE_PROFILE_MLX5);
	memset(&path, 0, sizeof(path));
	path.dgid = gid_of("::ffff:10.7.7.2");
	path.sgid_index = 3;
	fake_route_from("10.7.7.1");
	fake_fail(FAKE_CREATE_AH, 1, EINVAL);
	t.error = rdmaez_ah_create(t.pd, &path, 1, &ah, &t.diag);
}

static void route_nobody(void)
{
	reaches(3, "::ffff:192.0.2.9", ETIMEDOUT);
}

static void route_completion(void)
{
	connected(FAKE_PROFILE_MLX5, 3, "::ffff:10.7.7.2");
	fake_route_from("10.7.7.1");
	complete(IBV_WC_RETRY_EXC_ERR, IBV_WR_SEND);
}

/* The ends have other path MTUs: what the peer answers to a READ is of another length. */
static void mtu_unequal_read(void)
{
	completes(FAKE_PROFILE_MLX5, IBV_WC_LOC_LEN_ERR, IBV_WR_RDMA_READ);
}

static void mrkey_atomic(void)
{
	completes(FAKE_PROFILE_MLX5, IBV_WC_REM_ACCESS_ERR, IBV_WR_ATOMIC_FETCH_AND_ADD);
}

static void gidpeer_family(void)
{
	reaches(5, "::ffff:192.0.2.9", 0);
}

static void gidpeer_row(void)
{
	reaches(15, "::ffff:192.0.2.9", 0);
}

static void netns_empty(void)
{
	ready_for(FAKE_PROFILE_MLX5, IBV_QPS_RTR);
	memset(t.dev->port[1].gid, 0, sizeof(t.dev->port[1].gid));
	modify();
}

static void netns_netdev(void)
{
	reaches(3, "::ffff:192.0.2.9", ENODEV);
}

static void efa_ah(void)
{
	struct rdmaez_path path;
	struct ibv_ah *ah;

	start(FAKE_PROFILE_EFA);
	memset(&path, 0, sizeof(path));
	path.dgid = gid_of("fe80::9");
	fake_fail(FAKE_CREATE_AH, 1, EINVAL);
	t.error = rdmaez_ah_create(t.pd, &path, 1, &ah, &t.diag);
}

static void efa_silent(void)
{
	start(FAKE_PROFILE_EFA);
	t.qp = fake_qp_driver(t.ctx, FAKE_SRD);
	fake_qp_force(t.qp, IBV_QPS_RTS);
	complete(IBV_WC_RESP_TIMEOUT_ERR, IBV_WR_SEND);
}

/* On InfiniBand, where partitions are kept apart, packets of a wrong one are dropped without a word. */
static void pkey_examine(uint16_t pkey)
{
	start(FAKE_PROFILE_MLX5);
	move_to(IBV_QPS_RTS);
	t.dev->port[1].attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
	t.dev->port[1].attr.flags = 0;
	t.dev->port[1].pkey[0] = pkey;
	t.error = rdmaez_qp_examine(t.qp, &t.diag);
}

static void pkey_partition(void)
{
	pkey_examine(0x8001);
}

static void pkey_limited(void)
{
	pkey_examine(0x7fff);
}

static void pkey_empty(void)
{
	pkey_examine(0);
}

static void mtu_unequal(void)
{
	completes(FAKE_PROFILE_MLX5, IBV_WC_REM_INV_REQ_ERR, IBV_WR_SEND);
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

static void inline_create(void)
{
	start(FAKE_PROFILE_MLX5);
	create_qp(1, 988);
}

/* A command that was garbled on its way, with this release of rdma-core. */
static void fault_qp(enum fake_profile profile, const char *library)
{
	start(profile);
	fake_tree_file("/proc/self/maps", library);
	fake_fail(FAKE_CREATE_QP, 1, EFAULT);
	create_qp(1, 0);
}

static void fault_qp_39(void)
{
	fault_qp(FAKE_PROFILE_BNXT_RE, "1-2 r-xp 0 0:0 0 /usr/lib/libibverbs.so.1.14.39.0\n");
}

static void fault_qp_63(void)
{
	fault_qp(FAKE_PROFILE_BNXT_RE, "1-2 r-xp 0 0:0 0 /usr/lib/libibverbs.so.1.16.63.0\n");
}

static void fault_qp_other(void)
{
	fault_qp(FAKE_PROFILE_MLX5, "1-2 r-xp 0 0:0 0 /usr/lib/libibverbs.so.1.14.39.0\n");
}

static void fault_cq(void)
{
	struct ibv_cq *cq;

	start(FAKE_PROFILE_BNXT_RE);
	fake_fail(FAKE_CREATE_CQ, 1, EIO);
	t.error = rdmaez_cq_create(t.ctx, 100, NULL, 0, &cq, &t.diag);
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

static void cqsize_memory(void)
{
	struct ibv_cq *cq;

	start(FAKE_PROFILE_MLX5);
	fake_fail(FAKE_CREATE_CQ, 1, ENOMEM);
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
	fake_tree_file("/proc/thread-self/status", "Name:\ttest\nCapEff:\tffffffffffffffff\n");
	fake_fail(FAKE_CREATE_QP, 1, ENOMEM);
	create_qp(1, 0);
}

static void quota_cq(void)
{
	struct ibv_cq *cq;

	start(FAKE_PROFILE_MLX5);
	fake_tree_file("/proc/thread-self/status", "Name:\ttest\nCapEff:\tffffffffffffffff\n");
	fake_fail(FAKE_CREATE_CQ, 1, ENOMEM);
	t.error = rdmaez_cq_create(t.ctx, 100, NULL, 0, &cq, &t.diag);
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
	fake_tree_file("/proc/thread-self/status", "Name:\ttest\nCapEff:\tffffffffffffffff\n");
	registers(HOST, 4096, IBV_ACCESS_LOCAL_WRITE, ENOMEM);
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

static void rnr_endless(void)
{
	start(FAKE_PROFILE_MLX5);
	move_to(IBV_QPS_RTS);
	t.error = rdmaez_qp_examine(t.qp, &t.diag);
}

static void port_no_sm(void)
{
	start(FAKE_PROFILE_MLX5);
	move_to(IBV_QPS_RTS);
	fake_port_infiniband(&t.dev->port[1]);
	t.dev->port[1].attr.state = IBV_PORT_INIT;
	complete(IBV_WC_RETRY_EXC_ERR, IBV_WR_SEND);
}

static void counted(const char *counter)
{
	char path[400];

	start(FAKE_PROFILE_MLX5);
	snprintf(t.dev->verbs.ibdev_path, sizeof(t.dev->verbs.ibdev_path),
		 "/sys/class/infiniband/fake0");
	snprintf(path, sizeof(path), "%s/ports/1/%s", t.dev->verbs.ibdev_path, counter);
	fake_tree_file(path, "12\n");
	move_to(IBV_QPS_RTS);
	complete(IBV_WC_RETRY_EXC_ERR, IBV_WR_SEND);
}

static void lossy_counted(void)
{
	counted("hw_counters/out_of_sequence");
}

static void port_flaps(void)
{
	counted("counters/link_downed");
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

/* irdma judges this itself. */
static void unsup_reset(void)
{
	start(FAKE_PROFILE_IRDMA);
	fake_fail(FAKE_MODIFY_QP, 1, EINVAL);
	t.error = rdmaez_qp_to_reset(t.qp, &t.diag);
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

static void errstate_send(void)
{
	start(FAKE_PROFILE_MLX5);
	move_to(IBV_QPS_RTS);
	fake_qp_force(t.qp, IBV_QPS_ERR);
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	post(1, 1, 8, 0);
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

static void appbug_garbled(void)
{
	struct rdmaez_path path;
	struct ibv_ah *ah;

	start(FAKE_PROFILE_MLX5);
	memset(&path, 0, sizeof(path));
	path.dgid = gid_of("::ffff:0.16.7.201");
	path.sgid_index = 3;
	t.dev->neighbour_errno = ENETUNREACH;
	fake_route(ENETUNREACH);
	t.error = rdmaez_ah_create(t.pd, &path, 1, &ah, &t.diag);
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
	{"MRKEY", 1, 10, LIKELY, "beyond the region", mrkey_remote, RDMAEZ_WHY_WC_REMOTE_BOUNDS,
	 "wr.rdma.remote_addr"},
	{"MRKEY", 1, 10, WHO_KNOWS, "rights that the peer's region lacks", mrkey_remote,
	 RDMAEZ_WHY_WC_REGION_RIGHT, "access"},
	{"MRKEY", 1, 10, LIKELY, "a wrong or stale lkey", mrkey_local, RDMAEZ_WHY_WC_LKEY,
	 "sg_list.lkey"},
	{"MRKEY", 1, 10, LIKELY, "no right for a READ's memory, on iWARP", mrkey_sink,
	 RDMAEZ_WHY_WC_IWARP_READ, "access"},
	{"GID-LL", 11, 16, LIKELY, "link-local, to a peer elsewhere", gidll_global,
	 RDMAEZ_WHY_GID_ROUTABLE, "ah_attr.grh.sgid_index"},
	{"GID-LL", 11, 16, LIKELY, "link-local at both ends", gidll_local, RDMAEZ_WHY_GID_ROUTABLE,
	 "ah_attr.grh.sgid_index"},
	{"GID-LL", 11, 16, CERTAIN, "link-local, to an IPv4 peer", gidll_other_family,
	 RDMAEZ_WHY_GID_FAMILY, "ah_attr.grh.sgid_index"},
	{"GID-LL", 11, 16, LIKELY, "link-local, once connected", gidll_completion,
	 RDMAEZ_WHY_GID_ROUTABLE, "ah_attr.grh.sgid_index"},
	{"PROVIDER", 17, 22, CERTAIN, "no provider", provider_none, RDMAEZ_WHY_DEVICE_PROVIDER,
	 "device"},
	{"PROVIDER", 17, 22, LIKELY, "none installed", provider_none, RDMAEZ_WHY_PROVIDER_MISSING,
	 "/etc/libibverbs.d"},
	{"PROVIDER", 17, 22, LIKELY, "of another release", provider_release,
	 RDMAEZ_WHY_PROVIDER_RELEASE, "/etc/libibverbs.d"},
	{"PROVIDER", 17, 22, LIKELY, "none for this device", provider_unfit,
	 RDMAEZ_WHY_PROVIDER_UNFIT, "/etc/libibverbs.d"},
	{"MEMLOCK", 23, 27, CERTAIN, "more than may be locked", memlock_much, RDMAEZ_WHY_MEMLOCK,
	 "length"},
	{"MEMLOCK", 23, 27, LIKELY, "perhaps more than is left", memlock_mr, RDMAEZ_WHY_MEMLOCK,
	 "length"},
	{"MEMLOCK", 23, 27, LIKELY, "a completion queue", memlock_cq, RDMAEZ_WHY_MEMLOCK, "cqe"},
	{"MEMLOCK", 23, 27, LIKELY, "a queue pair", memlock_qp, RDMAEZ_WHY_MEMLOCK, "cap"},
	{"ROUTE", 28, 32, LIKELY, "no route", route_none, RDMAEZ_WHY_NO_ROUTE, "ah_attr.grh.dgid"},
	{"ROUTE", 28, 32, LIKELY, "from another interface", route_rail, RDMAEZ_WHY_ROUTE_ELSEWHERE,
	 "ah_attr.grh.dgid"},
	{"ROUTE", 28, 32, LIKELY, "nobody answers", route_nobody, RDMAEZ_WHY_NEIGHBOUR,
	 "ah_attr.grh.dgid"},
	{"ROUTE", 28, 32, LIKELY, "from another interface, once connected", route_completion,
	 RDMAEZ_WHY_ROUTE_ELSEWHERE, "ah_attr.grh.dgid"},
	{"PEERMEM", 33, 37, LIKELY, "no module", peermem, RDMAEZ_WHY_MR_GPU_NO_PEER, "addr"},
	{"PEERMEM", 33, 37, LIKELY, "no module, with another errno", peermem_einval,
	 RDMAEZ_WHY_MR_GPU_NO_PEER, "addr"},
	{"PEERMEM", 33, 37, LIKELY, "a GPU that cannot", peermem_gpu, RDMAEZ_WHY_MR_GPU, "addr"},
	{"GID-PEER", 38, 41, CERTAIN, "of the other family", gidpeer_family, RDMAEZ_WHY_GID_FAMILY,
	 "ah_attr.grh.sgid_index"},
	{"GID-PEER", 38, 41, CERTAIN, "an index that only the peer has", gidpeer_row,
	 RDMAEZ_WHY_GID_EMPTY, "ah_attr.grh.sgid_index"},
	{"GID-PEER", 38, 41, LIKELY, "another version of RoCE", gidll_old, RDMAEZ_WHY_GID_ROCE_V1,
	 "ah_attr.grh.sgid_index"},
	{"GID-PEER", 38, 41, WHO_KNOWS, "another version, of the peer's", retries,
	 RDMAEZ_WHY_WC_RETRIES, "timeout"},
	{"GPUVMM", 42, 45, LIKELY, "expandable segments", gpuvmm, RDMAEZ_WHY_MR_GPU_SEGMENTS,
	 "addr"},
	{"GPUVMM", 42, 45, WHO_KNOWS, "a region that covers one segment", mrkey_remote,
	 RDMAEZ_WHY_WC_REMOTE_BOUNDS, "wr.rdma.remote_addr"},
	{"INLINE", 46, 49, LIKELY, "too much when created", inline_create, RDMAEZ_WHY_CAP_INLINE,
	 "cap.max_inline_data"},
	{"INLINE", 46, 49, CERTAIN, "none when created", inline_post, RDMAEZ_WHY_WR_INLINE,
	 "sg_list"},
	{"HUGEFORK", 50, 53, LIKELY, "part of a huge page", hugefork, RDMAEZ_WHY_MR_FORK_HUGE,
	 "addr"},
	{"HUGEFORK", 50, 53, LIKELY, "too many mappings", hugefork_mappings, RDMAEZ_WHY_MR_MAPPINGS,
	 "addr"},
	{"GRH", 54, 57, CERTAIN, "none on RoCE", grh, RDMAEZ_WHY_GRH_MISSING, "ah_attr.is_global"},
	{"QUOTA", 58, 61, LIKELY, "queue pairs", quota_qp, RDMAEZ_WHY_NO_RESOURCES, "max_qp"},
	{"QUOTA", 58, 61, LIKELY, "completion queues", quota_cq, RDMAEZ_WHY_NO_RESOURCES, "max_cq"},
	{"QUOTA", 58, 61, LIKELY, "work requests", quota_wr, RDMAEZ_WHY_CAP_TOGETHER,
	 "cap.max_send_wr"},
	{"QUOTA", 58, 61, LIKELY, "regions", quota_mr, RDMAEZ_WHY_NO_RESOURCES, "max_mr"},
	{"SQFULL", 62, 65, LIKELY, "more outstanding than fit", sqfull, RDMAEZ_WHY_WR_QUEUE_FULL,
	 "cap.max_send_wr"},
	{"SQFULL", 62, 65, CERTAIN, "more SGEs than fit", sqfull_sge, RDMAEZ_WHY_WR_SGE, "num_sge"},
	{"SQFULL", 62, 65, WHO_KNOWS, "a completion queue too small: its event", sqfull_cq,
	 RDMAEZ_WHY_NONE, NULL},
	{"RNR", 66, 69, LIKELY, "no receive in time", rnr, RDMAEZ_WHY_WC_RNR, "rnr_retry"},
	{"RNR", 66, 69, LIKELY, "no receive, and no end", rnr_endless, RDMAEZ_WHY_RNR_ENDLESS,
	 "rnr_retry"},
	{"PORT", 70, 73, LIKELY, "down", port_down, RDMAEZ_WHY_PORT_DOWN, "port_attr.state"},
	{"PORT", 70, 73, LIKELY, "without a subnet manager", port_no_sm, RDMAEZ_WHY_PORT_NO_SM,
	 "port_attr.state"},
	{"PORT", 70, 73, LIKELY, "a link that flaps", port_flaps, RDMAEZ_WHY_COUNTED_DOWN,
	 "counters/link_downed"},
	{"PORT", 70, 73, CERTAIN, "the GID has moved to another row", port_row_gone,
	 RDMAEZ_WHY_GID_EMPTY, "ah_attr.grh.sgid_index"},
	{"PORT", 70, 73, WHO_KNOWS, "the fabric's paths", retries, RDMAEZ_WHY_WC_FABRIC, "status"},
	{"DEVNODE", 74, 76, CERTAIN, "missing", devnode_missing, RDMAEZ_WHY_DEVICE_NO_NODE,
	 "/dev/infiniband"},
	{"DEVNODE", 74, 76, CERTAIN, "mounted only", devnode_forbidden, RDMAEZ_WHY_DEVICE_FORBIDDEN,
	 "/dev/infiniband"},
	{"DEVNODE", 74, 76, CERTAIN, "of another group", devnode_rights, RDMAEZ_WHY_DEVICE_RIGHTS,
	 "/dev/infiniband"},
	{"CQSIZE", 77, 79, CERTAIN, "above max_cqe", cqsize, RDMAEZ_WHY_CAP_LIMIT, "cqe"},
	{"CQSIZE", 77, 79, LIKELY, "above max_cqe, or no memory", cqsize_memory,
	 RDMAEZ_WHY_CAP_LIMIT, "cqe"},
	{"CQSIZE", 77, 79, LIKELY, "a limit that is not reported", cqsize_hidden,
	 RDMAEZ_WHY_CQ_HIDDEN, "cqe"},
	{"RDATOM", 80, 82, CERTAIN, "of the peer's, above the limit", rdatom,
	 RDMAEZ_WHY_DEPTH_LIMIT, "max_dest_rd_atomic"},
	{"RDATOM", 80, 82, CERTAIN, "of its own, above the limit", rdatom_rts,
	 RDMAEZ_WHY_DEPTH_LIMIT, "max_rd_atomic"},
	{"RDATOM", 80, 82, LIKELY, "the device's budget is used up", rdatom_budget,
	 RDMAEZ_WHY_DEPTH_BUDGET, "max_dest_rd_atomic"},
	{"EFA", 83, 85, LIKELY, "a GID of another zone", efa_ah, RDMAEZ_WHY_AH_UNKNOWN,
	 "ah_attr.grh.dgid"},
	{"EFA", 83, 85, WHO_KNOWS, "a security group", efa_silent, RDMAEZ_WHY_WC_PEER_SILENT,
	 "wr.ud.ah"},
	{"UNSUP", 86, 88, CERTAIN, "resizing on iWARP", unsup_resize, RDMAEZ_WHY_CQ_FIXED, "cq"},
	{"UNSUP", 86, 88, CERTAIN, "a dma-buf", unsup_dmabuf, RDMAEZ_WHY_MR_NO_DMABUF,
	 "ibv_reg_dmabuf_mr"},
	{"UNSUP", 86, 88, LIKELY, "RESET in RESET", unsup_reset, RDMAEZ_WHY_RESET_TWICE,
	 "qp_state"},
	{"NETNS", 89, 91, CERTAIN, "no GID at the index", port_row_gone, RDMAEZ_WHY_GID_EMPTY,
	 "ah_attr.grh.sgid_index"},
	{"NETNS", 89, 91, LIKELY, "no GID at any", netns_empty, RDMAEZ_WHY_GID_TABLE_EMPTY,
	 "ah_attr.grh.sgid_index"},
	{"NETNS", 89, 91, LIKELY, "its address has gone", netns_netdev, RDMAEZ_WHY_GID_NO_NETDEV,
	 "ah_attr.grh.sgid_index"},
	{"NETNS", 89, 91, CERTAIN, "the device is elsewhere", netns_device, RDMAEZ_WHY_DEVICE_NETNS,
	 "device"},
	{"MTU", 92, 93, CERTAIN, "above the active one", mtu, RDMAEZ_WHY_MTU_ABOVE_ACTIVE,
	 "path_mtu"},
	{"MTU", 92, 93, LIKELY, "other than the peer's", mtu_unequal, RDMAEZ_WHY_WC_PEER_MTU,
	 "path_mtu"},
	{"MAXMR", 94, 95, CERTAIN, "longer than max_mr_size", maxmr, RDMAEZ_WHY_RANGE, "length"},
	{"MAXMR", 94, 95, CERTAIN, "longer, and EIO", maxmr_eio, RDMAEZ_WHY_RANGE, "length"},
	{"BAR1", 96, 97, LIKELY, "of 256 MiB", bar1, RDMAEZ_WHY_MR_GPU_BAR1, "length"},
	{"LOSSY", 98, 99, WHO_KNOWS, "lost packets that nobody counts", retries,
	 RDMAEZ_WHY_WC_FABRIC, "status"},
	{"LOSSY", 98, 99, LIKELY, "lost packets that are counted", lossy_counted,
	 RDMAEZ_WHY_COUNTED_LOSS, "hw_counters/out_of_sequence"},
	{"ERRSTATE", 100, 101, LIKELY, "flushed", errstate_flush, RDMAEZ_WHY_WC_FLUSHED, "status"},
	{"ERRSTATE", 100, 101, LIKELY, "refused", errstate_post, RDMAEZ_WHY_WR_QP_ERROR,
	 "qp_state"},
	{"ERRSTATE", 100, 101, LIKELY, "a send, refused", errstate_send, RDMAEZ_WHY_WR_QP_ERROR,
	 "qp_state"},
	{"APPBUG", 102, 103, LIKELY, "a number with its bytes swapped", appbug_number,
	 RDMAEZ_WHY_QPN_SWAPPED, "dest_qp_num"},
	{"APPBUG", 102, 103, CERTAIN, "no GID", appbug_gid, RDMAEZ_WHY_PATH_EMPTY,
	 "ah_attr.grh.dgid"},
	{"APPBUG", 102, 103, LIKELY, "a garbled GID", appbug_garbled, RDMAEZ_WHY_NO_ROUTE,
	 "ah_attr.grh.dgid"},
	{"APPBUG", 102, 103, WHO_KNOWS, "two queue pairs with one peer", retries,
	 RDMAEZ_WHY_WC_RETRIES, "timeout"},
	{"ACS", 104, 104, LIKELY, "a GPU behind an IOMMU", acs, RDMAEZ_WHY_WC_GPU_PATH,
	 "sg_list.addr"},
	{"PKEY", 105, 105, LIKELY, "of a partition of its own", pkey_partition,
	 RDMAEZ_WHY_PKEY_PARTITION, "pkey_index"},
	{"PKEY", 105, 105, LIKELY, "of a limited member", pkey_limited, RDMAEZ_WHY_PKEY_LIMITED,
	 "pkey_index"},
	{"PKEY", 105, 105, LIKELY, "none at the index", pkey_empty, RDMAEZ_WHY_PKEY_EMPTY,
	 "pkey_index"},
};

/* Reports by their number, and what has helped: the finding that must stand at this place, with this value. */
static const struct remedy {
	const char *reports, *form;
	void (*make)(void);
	unsigned int place;
	enum rdmaez_why reason;
	const char *field;
	uint64_t value;
} remedies[] = {
	{"F11 F12 F14 F16", "index 0, once connected", gidll_zero, 0, RDMAEZ_WHY_GID_ROUTABLE,
	 "ah_attr.grh.sgid_index", 3},
	{"F11 F12 F14 F16", "and only then what is wrong with it", gidll_zero, 1,
	 RDMAEZ_WHY_GID_ROCE_V1, "ah_attr.grh.sgid_index", 0},
	{"F11 F12 F14 F16", "index 0, to a peer elsewhere", gidll_zero_global, 0,
	 RDMAEZ_WHY_GID_ROUTABLE, "ah_attr.grh.sgid_index", 5},
	{"F11 F12 F14 F16", "index 0, to an IPv4 peer", gidll_zero_ipv4, 1, RDMAEZ_WHY_GID_SUITS,
	 "ah_attr.grh.sgid_index", 3},
	{"F11 F12 F14 F16", "index 0, as advice", gidll_zero_advised, 0, RDMAEZ_WHY_GID_ROUTABLE,
	 "ah_attr.grh.sgid_index", 3},
	{"F11 F12 F14 F16", "index 0, and nothing happens", gidll_zero_examined, 0,
	 RDMAEZ_WHY_GID_ROUTABLE, "ah_attr.grh.sgid_index", 3},
	{"F02", "an atomic", mrkey_atomic, 0, RDMAEZ_WHY_WC_REGION_RIGHT, "access",
	 IBV_ACCESS_REMOTE_ATOMIC},
	{"F72", "a link that flaps", port_flaps, 0, RDMAEZ_WHY_COUNTED_DOWN, "counters/link_downed",
	 12},
	{"F92", "a READ, and unequal MTUs", mtu_unequal_read, 0, RDMAEZ_WHY_WC_PEER_MTU, "path_mtu",
	 1024},
	{"F88", "RESET of a new queue pair", unsup_reset, 0, RDMAEZ_WHY_RESET_TWICE, "qp_state", 0},
	{"F98", "lost packets", lossy_counted, 0, RDMAEZ_WHY_COUNTED_LOSS,
	 "hw_counters/out_of_sequence", 12},
	{"F32", "an address handle, and the route leaves elsewhere", route_ah, 0,
	 RDMAEZ_WHY_ROUTE_ELSEWHERE, "ah_attr.grh.dgid", 3},
	{"F37", "ib_core without peer memory", peermem_inbox, 0, RDMAEZ_WHY_MR_GPU_NO_INTERFACE,
	 "addr", GPU},
	{"F37", "ib_core with peer memory", peermem_extended, 0, RDMAEZ_WHY_MR_GPU_NO_PEER, "addr",
	 GPU},
	{"N27", "the older module", peermem_old, 0, RDMAEZ_WHY_MR_GPU_OLD_PEER, "addr", GPU},
	{"F36", "an AMD GPU", peermem_amd, 0, RDMAEZ_WHY_MR_GPU_AMD, "addr", GPU},
	{"nvcf#1353", "a user in a pod", memlock_pod, 1, RDMAEZ_WHY_MEMLOCK_POD, "length", 0},
	{"nvcf#1354", "root in a pod", memlock_root, 1, RDMAEZ_WHY_MEMLOCK_ROOT, "length", 0},
	{"nvcf#1354", "a user in a container", memlock_container, 1, RDMAEZ_WHY_MEMLOCK_CONTAINER,
	 "length", 0},
	{"nvcf#1354", "a user in a container of Docker's", memlock_docker, 1,
	 RDMAEZ_WHY_MEMLOCK_CONTAINER, "length", 0},
	{"nvcf#1354", "a step of Slurm's", memlock_step, 1, RDMAEZ_WHY_MEMLOCK_JOB, "length", 0},
	{"N07", "a provider that garbles commands", fault_qp_39, 0, RDMAEZ_WHY_BNXT_COMMANDS,
	 "ibv_create_qp", 0},
	{"N07", "behind it the rule", fault_qp_39, 1, RDMAEZ_WHY_PROVIDER_FAULT, "ibv_create_qp",
	 0},
	{"N07", "a release that does not", fault_qp_63, 0, RDMAEZ_WHY_PROVIDER_FAULT,
	 "ibv_create_qp", 0},
	{"N07", "another provider", fault_qp_other, 0, RDMAEZ_WHY_PROVIDER_FAULT, "ibv_create_qp",
	 0},
	{"MAD#191", "a driver and firmware that do not fit", fault_cq, 0, RDMAEZ_WHY_PROVIDER_FAULT,
	 "ibv_create_cq", 0},
	{"NV-Kernels#591", "memory that must not be pinned", unpinnable_mr, 0,
	 RDMAEZ_WHY_MR_UNPINNABLE, "addr", 9700000ull << 10},
	{"F38", "RoCE v1 of a routable address", gidll_old, 0, RDMAEZ_WHY_GID_SUITS,
	 "ah_attr.grh.sgid_index", 3},
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

/* Whether a finding is another view of the same cause, or tells where it is. */
static bool is_of_the_cause(enum rdmaez_why reason)
{
	return reason == RDMAEZ_WHY_WR_BAD || reason == RDMAEZ_WHY_DEVICE_PROVIDER ||
	       reason == RDMAEZ_WHY_GID_EMPTY;
}

/* An error that is not the cause would be a false one. */
static bool has_other_error(const struct row *row)
{
	for (unsigned int i = 0; i < t.diag.count; i++)
		if (t.diag.finding[i].severity == RDMAEZ_DIAG_ERROR &&
		    t.diag.finding[i].reason != row->reason &&
		    !is_of_the_cause(t.diag.finding[i].reason))
			return true;
	return false;
}

/* What was likely is not an error; what stands up without a call that failed is advice. */
static bool is_answered(const struct row *row, int rank, enum rdmaez_severity severity)
{
	switch (row->answer) {
	case CERTAIN:
		return rank == 0 && severity == RDMAEZ_DIAG_ERROR;
	case LIKELY:
		return (rank == 0 || rank == 1) &&
		       severity ==
			       (t.diag.error || t.diag.status ? RDMAEZ_DIAG_LIKELY : severity) &&
		       severity != RDMAEZ_DIAG_ERROR;
	default:
		return rank >= 0 && severity != RDMAEZ_DIAG_ERROR;
	}
}

static void check_row(const struct row *row)
{
	enum rdmaez_severity severity = RDMAEZ_DIAG_ADVICE;
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
	if (!tap_ok(is_answered(row, rank, severity) && !has_other_error(row) &&
			    record_tells_all(&t.diag),
		    "%s, %s: %s is %s", row->cluster, row->form, rdmaez_why_id(row->reason),
		    answer_str[row->answer]))
		show();
}

static void check_remedy(const struct remedy *remedy)
{
	const struct rdmaez_finding *at = &t.diag.finding[remedy->place];

	memset(&t, 0, sizeof(t));
	remedy->make();
	if (!tap_ok(t.diag.count > remedy->place && at->reason == remedy->reason &&
			    strcmp(at->field, remedy->field) == 0 && at->value == remedy->value,
		    "%s, %s: %s comes in place %u", remedy->reports, remedy->form,
		    rdmaez_why_id(remedy->reason), remedy->place))
		show();
}

/* Every report belongs to a row, every cluster has one, and what can be said of them is not less than it was. */
static void check_summary(void)
{
	static const int expected[ANSWERS] = {24, 54, 8, 0};
	int rows_of[ANSWERS] = {0}, clusters = 0, reports = 0, last = 0;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		rows_of[rows[i].answer]++;
		if (i && strcmp(rows[i].cluster, rows[i - 1].cluster) == 0)
			continue;
		clusters++;
		tap_eq_int(rows[i].first, last + 1, "%s goes on where the last cluster ended",
			   rows[i].cluster);
		last = rows[i].last;
		reports += rows[i].last - rows[i].first + 1;
	}
	tap_eq_int(clusters, CLUSTERS, "there is a row for every cluster");
	tap_eq_int(reports, REPORTS, "and for every report");
	for (int i = 0; i < ANSWERS; i++)
		tap_eq_int(rows_of[i], expected[i], "rows whose cause is %s", answer_str[i]);
}

int main(void)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check_row(&rows[i]);
	for (size_t i = 0; i < COUNT_OF(remedies); i++)
		check_remedy(&remedies[i]);
	check_summary();
	fake_close_all();
	return tap_done();
}
