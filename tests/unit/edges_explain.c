/* SPDX-License-Identifier: MIT */
/*
 * What seldom is, in the explanations: questions that no device, kernel or program of the other tests answers so. Each
 * function is called by itself, with a case of which one condition alone decides.
 */
#define _DEFAULT_SOURCE
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Whether getrlimit() fails. */
static bool no_limits;

static inline int test_getrlimit(struct rlimit *limit)
{
	memset(limit, 0, sizeof(*limit));
	limit->rlim_cur = no_limits ? 1 : 4096;
	return no_limits ? -1 : 0;
}

#define getrlimit(resource, limit) test_getrlimit(limit)
#include <rdmaez/implementation.h>
#undef getrlimit
#include "check.h"
#include "fixture.h"

#define MS UINT64_C(1000000)

static struct rdmaez_diag diag;

/* The record of a verb that has failed. */
static void failed(int error, const char *verb)
{
	rdmaez_impl_diag_reset(&diag, "rdmaez_edges");
	diag.error = error;
	diag.verb = verb;
}

/* The reason of the only finding; NONE if there is none, -1 if there are more. */
static int reason(void)
{
	return diag.count > 1 ? -1 : diag.count ? (int)diag.finding[0].reason : RDMAEZ_WHY_NONE;
}

/* ---- Texts ------------------------------------------------------------------------------------- */

static void check_texts(void)
{
	static const char *const units[] = {"a", "b", NULL};
	struct rdmaez_finding finding = {.kind = RDMAEZ_VALUE_GID_INDEX, .value = 0};
	char buf[300], gid[RDMAEZ_GID_TEXT] = "as before", words[100];
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, sizeof(buf));

	tap_ok(rdmaez_impl_caps_zero_is_none(RDMAEZ_KIND_DEVICE_FLAGS), "no bit of a set is none");
	tap_ok(!rdmaez_impl_caps_zero_is_none(RDMAEZ_KIND_COUNT), "a count of 0 is 0");
	rdmaez_impl_put_unit(&text, 0, 10, units);
	tap_eq_str(buf, "0 a", "nothing has the smallest unit");
	text.length = 0;
	rdmaez_impl_put_unit(&text, 10, 10, units);
	tap_eq_str(buf, "1 b", "one of the next has that");

	rdmaez_impl_diag_reset(&diag, "rdmaez_edges");
	tap_ok(!rdmaez_impl_suggested(&diag, &finding, gid), "no GID is no suggestion");
	tap_eq_str(gid, "as before", "the output is not written");
	diag.suggested.gid = gid_of("fe80::1");
	tap_ok(rdmaez_impl_suggested(&diag, &finding, gid), "a GID is one");
	tap_eq_str(gid, "fe80::1", "and this one");

	memset(words, 'x', 60);
	memcpy(words + 60, " ", 2);
	text.length = 0;
	rdmaez_impl_put_wrapped(&text, "", "  ", words);
	words[60] = '\n';
	tap_eq_str(buf, words, "no space is written behind the last word");
}

/* ---- Files of the kernel ------------------------------------------------------------------------- */

static void check_files(void)
{
	struct rdmaez_impl_mr_case mapped = {.diag = &diag, .mappings = 100};

	fake_reset();
	fake_tree_new();
	fake_tree_file("/sys/class/infiniband", "no folder");
	tap_eq_int(rdmaez_impl_class_has(NULL), -1, "a class that is no folder cannot be asked");
	fake_tree_file("/sys/class/infiniband", NULL);
	tap_eq_int(rdmaez_impl_class_has(NULL), 0, "one that is not there has no device");
	fake_tree_link("/dev/infiniband/uverbs0", "/dev/null");
	tap_eq_int(rdmaez_impl_node_wrong("uverbs0"), RDMAEZ_WHY_NONE,
		   "a node whose number sysfs does not tell");
	fake_tree_file("/sys/class/infiniband_verbs/uverbs0/dev", "231:192\n");
	tap_eq_int(rdmaez_impl_node_wrong("uverbs0"), RDMAEZ_WHY_DEVICE_OTHER_NODE,
		   "one that has another");

	fake_tree_file("/proc/self/maps", "1000-2000 r--p 0 0:0 0 /usr/bin/a\n");
	tap_eq_int((int)rdmaez_impl_library_release(), 0, "a program without libibverbs.so");
	fake_tree_file("/proc/self/maps", "1000-2000 r--p 0 0:0 0 /lib/libibverbs.so.1.14.39.0\n");
	tap_eq_int((int)rdmaez_impl_library_release(), 39, "that of rdma-core 39");
	tap_eq_hex(rdmaez_impl_maps_of("rw", "/file"), 0, "two permissions share nothing");
	tap_eq_hex(rdmaez_impl_maps_of("rw-s", "/file"),
		   RDMAEZ_IMPL_MAPS_FILE | RDMAEZ_IMPL_MAPS_WRITE, "the fourth says that");

	fake_tree_file("/proc/kallsyms", "0 T ib_register_client\t[ib_core]\n");
	fake_tree_file("/sys/module/ib_core/refcnt", "1\n");
	tap_eq_int(rdmaez_impl_mr_no_peer(true, true), RDMAEZ_WHY_NONE, "GPUs of both makers");
	tap_eq_int(rdmaez_impl_mr_no_peer(false, false), RDMAEZ_WHY_NONE, "of another maker");
	tap_eq_int(rdmaez_impl_mr_no_peer(true, false), RDMAEZ_WHY_MR_GPU_NO_INTERFACE,
		   "of NVIDIA alone");
	tap_eq_int(rdmaez_impl_mr_no_peer(false, true), RDMAEZ_WHY_MR_GPU_AMD, "of AMD alone");

	fake_tree_file("/proc/sys/vm/max_map_count", "1\n");
	failed(ENOMEM, "ibv_reg_mr");
	rdmaez_impl_mr_explain_mappings(&mapped);
	tap_eq_int(reason(), RDMAEZ_WHY_MR_MAPPINGS, "a hundred mappings where there may be one");
	failed(ENOMEM, "ibv_reg_mr");
	mapped.mappings = 0;
	rdmaez_impl_mr_explain_mappings(&mapped);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "nothing is said of mappings that are not known");

	fake_tree_file("/proc/thread-self/status", "Uid:\t0\t0\t0\t0\n");
	fake_tree_file("/proc/self/uid_map", "         0     100000      65536\n");
	failed(ENOMEM, "ibv_reg_mr");
	unsetenv("KUBERNETES_SERVICE_HOST");
	unsetenv("SLURM_JOB_ID");
	setenv("container", "podman", 1);
	rdmaez_impl_suggest_memlock(&diag, "addr");
	tap_eq_int(reason(), RDMAEZ_WHY_MEMLOCK_CONTAINER, "root of a container is not root");
	fake_tree_file("/proc/self/uid_map", "         0          0 4294967295\n");
	failed(ENOMEM, "ibv_reg_mr");
	rdmaez_impl_suggest_memlock(&diag, "addr");
	tap_eq_int(reason(), RDMAEZ_WHY_MEMLOCK_ROOT, "that of the machine is");
	unsetenv("container");
	fake_tree(NULL);
}

/* ---- Limits of the process ------------------------------------------------------------------------ */

static void check_limits(void)
{
	const struct rdmaez_driver *const driver = rdmaez_driver_of(NULL);

	for (int i = 0; i < 2; i++) {
		no_limits = !i;
		failed(ENOMEM, "ibv_create_cq");
		rdmaez_impl_suspect_space(&diag, "cqe");
		tap_eq_int(reason(), i ? RDMAEZ_WHY_ADDRESS_SPACE : RDMAEZ_WHY_NONE,
			   "an address space %s limit", i ? "with a" : "of unknown");
		failed(ENOMEM, "ibv_reg_mr");
		rdmaez_impl_suspect_memlock(&diag, "addr", 1u << 20, driver);
		tap_eq_int(!diag.count || diag.finding[0].reason != RDMAEZ_WHY_MEMLOCK,
			   !i || !rdmaez_impl_memlock_binds(driver), "and locked memory");
	}
	failed(EIO, NULL);
	rdmaez_impl_explain_rest(&diag, "cqe", NULL, 0);
	tap_ok(!rdmaez_diag_find(&diag, RDMAEZ_WHY_PROVIDER_FAULT),
	       "EIO of no verb is nobody's fault");
	failed(EIO, "ibv_create_cq");
	rdmaez_impl_explain_rest(&diag, "cqe", NULL, 0);
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_PROVIDER_FAULT) != NULL,
	       "of a verb that creates it is the provider's");
}

/* A number less than 0, and what the device does not limit. */
static void check_negative(void)
{
	struct rdmaez_impl_limit limit =
		RDMAEZ_IMPL_LIMIT("attr.", ibv_srq_attr, max_wr, 1, max_srq_wr, SRQ_WR);
	const struct ibv_srq_attr asked = {.max_wr = 0xfffffffe};
	struct ibv_device_attr device;

	memset(&device, 0, sizeof(device));
	failed(EINVAL, "ibv_modify_srq");
	rdmaez_impl_explain_limits(&diag, &limit, 1, &asked, &device);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "much of what has no limit");
	limit.is_int = true;
	rdmaez_impl_explain_limits(&diag, &limit, 1, &asked, &device);
	tap_eq_int(reason(), RDMAEZ_WHY_RANGE, "the same number, if it is one less than 0");
	tap_eq_int((int64_t)diag.finding[0].value, -2, "is told as such");
	tap_eq_int(diag.finding[0].min, 1, "with the least that there is");
	tap_eq_int(diag.finding[0].max, INT32_MAX, "and the most");
}

/* ---- Devices, and objects of them ------------------------------------------------------------------ */

static void check_devices(void)
{
	struct fake_device *const dev = fake_reset();
	struct ibv_context *const ctx = fake_open(dev);
	struct ibv_device **list = ibv_get_device_list(NULL);

	fake_tree_new();
	fake_tree_file("/sys/class/infiniband/other/name", "x");
	failed(ENODEV, NULL);
	rdmaez_impl_device_none(&diag, NULL, "fake7");
	tap_eq_int(reason(), RDMAEZ_WHY_DEVICE_NAME, "a name that is not there, without a list");
	failed(ENODEV, NULL);
	rdmaez_impl_device_none(&diag, list, "fake7");
	tap_eq_count(&diag, 2, "with one, what it has is told");
	tap_eq_str(rdmaez_why_id(diag.finding[1].reason), rdmaez_why_id(RDMAEZ_WHY_DEVICE_THERE),
		   "by its name");
	ibv_free_device_list(list);
	fake_device_add("fake1");
	list = ibv_get_device_list(NULL);
	tap_eq_ptr(rdmaez_impl_device_in(list, "fake1"), list[1], "the second one of a list");
	ibv_free_device_list(list);
	fake_tree(NULL);
	tap_ok(ctx != NULL, "a device is open");
	fake_close_all();
}

/* What each kind of object is told of a refusal. */
static void check_objects(void)
{
	static const struct {
		int error;
		enum rdmaez_why why;
	} fixed[] = {{EINVAL, RDMAEZ_WHY_SRQ_FIXED},
		     {EOPNOTSUPP, RDMAEZ_WHY_SRQ_FIXED},
		     {ENOSYS, RDMAEZ_WHY_SRQ_FIXED},
		     {EBUSY, RDMAEZ_WHY_NONE}};
	struct fake_device *const dev = fake_reset();
	struct ibv_context *const ctx = fake_open(dev);
	struct ibv_srq *const srq = fake_srq(ctx, IBV_SRQT_BASIC);
	struct ibv_srq_attr attr = {.max_wr = 8};
	struct ibv_cq_init_attr_ex cq = {.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .srq = srq};
	struct ibv_pd *const pd = ibv_alloc_pd(ctx);

	dev->attr.orig_attr.device_cap_flags &= ~(unsigned int)IBV_DEVICE_SRQ_RESIZE;
	for (size_t i = 0; i < COUNT_OF(fixed); i++) {
		failed(fixed[i].error, "ibv_modify_srq");
		rdmaez_impl_srq_explain_modify(srq, &attr, IBV_SRQ_MAX_WR, &diag);
		tap_eq_int(rdmaez_diag_find(&diag, RDMAEZ_WHY_SRQ_FIXED) != NULL,
			   fixed[i].why == RDMAEZ_WHY_SRQ_FIXED, "%s of a queue of fixed size",
			   rdmaez_errno_str(fixed[i].error));
	}
	failed(EOPNOTSUPP, "ibv_create_cq_ex");
	rdmaez_impl_cq_explain_flags(&cq, &diag);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "flags that are asked for, of which there are none");
	cq.flags = 1;
	rdmaez_impl_cq_explain_flags(&cq, &diag);
	tap_eq_int(reason(), RDMAEZ_WHY_NOT_SUPPORTED, "one that there is");
	tap_eq_str(diag.finding[0].field, "flags", "by its field");

	failed(EINVAL, "ibv_create_qp");
	rdmaez_impl_create_explain_parts(ctx, &init, NULL, &diag);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "no domain is none of another");
	rdmaez_impl_create_explain_parts(ctx, &init, pd, &diag);
	tap_eq_int(reason(), RDMAEZ_WHY_CREATE_SRQ_PD, "a domain that is not the queue's");
	failed(ENOMEM, "ibv_create_qp");
	init.qp_type = IBV_QPT_XRC_SEND;
	rdmaez_impl_create_explain_parts(ctx, &init, NULL, &diag);
	tap_eq_int(reason(), RDMAEZ_WHY_CREATE_SRQ, "a queue that the type does not take");
	tap_eq_int(diag.finding[0].severity, RDMAEZ_DIAG_LIKELY, "is one cause of ENOMEM");
	fake_close_all();
}

static void check_memory(void)
{
	struct fake_device *const dev = fake_reset();
	struct ibv_context *const ctx = fake_open(dev);
	struct rdmaez_impl_mr_case c = {.context = ctx, .diag = &diag};

	c.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
	failed(EINVAL, "ibv_reg_mr");
	rdmaez_impl_mr_explain_writes(&c);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "remote writes with local ones");
	c.access = IBV_ACCESS_REMOTE_WRITE;
	rdmaez_impl_mr_explain_writes(&c);
	tap_eq_int(reason(), RDMAEZ_WHY_MR_LOCAL_WRITE, "and without");

	c.access = IBV_ACCESS_ON_DEMAND;
	for (int i = 0; i < 2; i++) {
		failed(EINVAL, "ibv_reg_mr");
		fake_fail(FAKE_QUERY_DEVICE_EX, 0, i ? 0 : EIO);
		fake_fail(FAKE_QUERY_DEVICE, 0, i ? 0 : EIO);
		rdmaez_impl_mr_explain_access(&c, false);
		tap_eq_int(rdmaez_diag_find(&diag, RDMAEZ_WHY_MR_ON_DEMAND) != NULL, i,
			   "paging on demand, %s",
			   i ? "which a device does not have"
			     : "of which the device does not tell");
	}
	fake_close_all();
}

static void check_handles(void)
{
	struct fake_device *const dev = fixture_device(FAKE_PROFILE_EFA, "6.1.0");
	struct ibv_context *const ctx = fake_open(dev);
	struct ibv_ah_attr attr = {.port_num = 1};
	struct ibv_port_attr port;

	if (ibv_query_port(ctx, 1, &port))
		tap_bail("no port");
	failed(EINVAL, "ibv_create_ah");
	rdmaez_impl_ah_explain(ctx, &attr, &port, &diag);
	tap_eq_int(reason(), RDMAEZ_WHY_AH_UNKNOWN, "efa does not know the address");
	failed(EINVAL, "ibv_create_ah");
	rdmaez_impl_find_plain(&diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_GID_EMPTY, "sgid_index");
	rdmaez_impl_ah_explain(ctx, &attr, &port, &diag);
	tap_eq_int(reason(), RDMAEZ_WHY_GID_EMPTY, "unless there is another cause");
	fake_close_all();
}

static void check_endpoints(void)
{
	struct rdmaez_endpoint local, remote;

	memset(&local, 0, sizeof(local));
	local.port = 1;
	local.qp_num = 5;
	local.pkey = 0xffff;
	local.qp_type = (enum ibv_qp_type)99;
	remote = local;
	remote.qp_type = (enum ibv_qp_type)0;
	failed(EINVAL, NULL);
	rdmaez_impl_endpoint_explain_misfit(&local, &remote, &diag);
	tap_eq_int(reason(), RDMAEZ_WHY_ENDPOINT_QP_TYPES, "a type that meets none, and no type");
	local.qp_type = remote.qp_type = IBV_QPT_RC;
	failed(EINVAL, NULL);
	rdmaez_impl_endpoint_explain_misfit(&local, &remote, &diag);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "two that meet");
}

static void check_multicast(void)
{
	struct fake_device *const dev = fake_reset();
	struct ibv_context *const ctx = fake_open(dev);
	struct ibv_qp *const qp = fake_qp(ctx, IBV_QPT_UD);
	const struct rdmaez_path group = {.dgid = gid_of("ff0e::1"), .sgid_index = 5};
	struct ibv_port_attr port;

	ibv_query_port(ctx, 1, &port);
	for (int i = 0; i < 2; i++) {
		for (int row = 0; row < 16; row++)
			dev->port[1].gid[row].ifindex = (uint32_t)i;
		rdmaez_impl_diag_reset(&diag, "rdmaez_multicast_examine");
		rdmaez_impl_multicast_exam(ctx, &group, 1, &port, &diag);
		tap_eq_int((int)diag.source.gid_index, 5, "by the GID of RoCE v2 at index 5");
		tap_eq_int(rdmaez_diag_find(&diag, RDMAEZ_WHY_MULTICAST_MISSING) != NULL, i,
			   "membership on %s", i ? "an interface" : "none");
	}
	for (int i = 0; i < 2; i++) {
		dev->attr.orig_attr.max_mcast_grp = 0;
		fake_fail(FAKE_QUERY_DEVICE, 0, i ? 0 : EIO);
		rdmaez_multicast_examine(qp, &group, 1, &diag);
		tap_eq_int(rdmaez_diag_find(&diag, RDMAEZ_WHY_NOT_SUPPORTED) != NULL, i,
			   "multicast of a device that %s", i ? "has none" : "does not tell");
	}
	fake_close_all();
}

/* ---- The way to the peer ---------------------------------------------------------------------------- */

static void check_ways(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_ah_attr ah = {.is_global = 1, .port_num = 1};
	struct ibv_port_attr port, empty;
	struct ibv_gid_entry own;
	const struct rdmaez_impl_reach r = {ctx, &port, &ah, &own, &diag, false};
	const struct rdmaez_impl_reach none = {ctx, &empty, &ah, &own, &diag, false};
	struct rdmaez_impl_route route;

	ibv_query_port(ctx, 1, &port);
	empty = port;
	empty.gid_tbl_len = 0;
	if (ibv_query_gid_ex(ctx, 1, 1, &own, 0))
		tap_bail("no GID");
	ah.grh.sgid_index = 1;
	ah.grh.dgid = gid_of("::ffff:192.0.2.9");
	memset(&route, 0, sizeof(route));
	route.error = ENETUNREACH;
	failed(ENETUNREACH, "ibv_modify_qp");
	rdmaez_impl_reach_source(&none, RDMAEZ_DIAG_LIKELY, &route);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "without a table there is no GID that is nearer");
	rdmaez_impl_reach_source(&r, RDMAEZ_DIAG_LIKELY, &route);
	tap_eq_int(reason(), RDMAEZ_WHY_GID_NEARER, "with one there is");

	failed(ETIMEDOUT, "ibv_modify_qp");
	rdmaez_impl_reach_beyond_link(&none, RDMAEZ_DIAG_LIKELY);
	tap_eq_int(reason(), RDMAEZ_WHY_GID_LINK_LOCAL, "nor one that leaves the link");
	failed(ETIMEDOUT, "ibv_modify_qp");
	rdmaez_impl_reach_beyond_link(&r, RDMAEZ_DIAG_LIKELY);
	tap_eq_int(reason(), RDMAEZ_WHY_GID_ROUTABLE, "with one there is");
	tap_eq_int((int)diag.finding[0].value, 3, "of the peer's family, and of v2");
	ah.grh.dgid = gid_of("fe80::9");
	failed(ETIMEDOUT, "ibv_modify_qp");
	rdmaez_impl_reach_beyond_link(&none, RDMAEZ_DIAG_LIKELY);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "which a peer on the link does not need");

	if (ibv_query_gid_ex(ctx, 1, 2, &own, 0))
		tap_bail("no GID");
	ah.grh.dgid = gid_of("::ffff:192.0.2.9");
	failed(ETIMEDOUT, "ibv_modify_qp");
	rdmaez_impl_reach_newer(&r, RDMAEZ_DIAG_LIKELY);
	tap_eq_int(reason(), RDMAEZ_WHY_GID_SUITS, "one of v2 in place of v1");
	failed(ETIMEDOUT, "ibv_modify_qp");
	rdmaez_impl_find_plain(&diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_GID_NEARER, "sgid_index");
	rdmaez_impl_reach_newer(&r, RDMAEZ_DIAG_LIKELY);
	tap_eq_int(reason(), RDMAEZ_WHY_GID_NEARER, "unless one that is nearer was named");
	fake_close_all();
}

/* ---- Queue pairs -------------------------------------------------------------------------------------- */

static void check_meanings(void)
{
	struct rdmaez_driver driver;
	struct rdmaez_impl_qp_case c;

	memset(&driver, 0, sizeof(driver));
	memset(&c, 0, sizeof(c));
	c.driver = &driver;
	c.type = IBV_QPT_DRIVER;
	c.to = IBV_QPS_ERR;
	tap_ok(rdmaez_impl_qp_meaning(&c, EINVAL) != RDMAEZ_WHY_DCT_FINAL, "no DCT of a driver");
	driver.traits = RDMAEZ_DRIVER_DC;
	tap_eq_int(rdmaez_impl_qp_meaning(&c, EINVAL), RDMAEZ_WHY_DCT_FINAL, "one to ERR");
	c.to = IBV_QPS_RESET;
	tap_eq_int(rdmaez_impl_qp_meaning(&c, EINVAL), RDMAEZ_WHY_DCT_FINAL, "one to RESET");
	c.to = IBV_QPS_RTR;
	tap_ok(rdmaez_impl_qp_meaning(&c, EINVAL) != RDMAEZ_WHY_DCT_FINAL, "but not to RTR");
}

/* A queue pair that sends, of which the program knows these. */
static struct rdmaez_impl_qp_exam exam(struct ibv_qp *qp, int sends, int recvs)
{
	struct rdmaez_impl_qp_exam e;

	memset(&e, 0, sizeof(e));
	e.context = qp->context;
	e.type = qp->qp_type;
	e.state = IBV_QPS_RTS;
	e.port_num = 1;
	e.diag = &diag;
	e.sends = e.signaled = sends;
	e.recvs = recvs;
	ibv_query_port(qp->context, 1, &e.port);
	failed(0, NULL);
	return e;
}

static void check_rooms(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_qp *const qp = fake_qp(ctx, IBV_QPT_RC);
	struct ibv_srq *const srq = fake_srq(ctx, IBV_SRQT_BASIC);
	const int room = qp->send_cq->cqe, huge = INT32_MAX / 2;
	struct rdmaez_impl_qp_exam e = exam(qp, room, 1);

	qp->recv_cq = qp->send_cq;
	rdmaez_impl_qp_exam_rooms(&e, qp);
	tap_eq_int(reason(), RDMAEZ_WHY_DRAIN_CQ, "one more than one queue has room for");
	tap_eq_int((int64_t)diag.finding[0].min, room + 1, "in both together");
	e = exam(qp, huge, 1);
	rdmaez_impl_qp_exam_rooms(&e, qp);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "sends that no sum may have");
	e = exam(qp, 1, huge);
	rdmaez_impl_qp_exam_rooms(&e, qp);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "nor receives");
	e = exam(qp, room, 1);
	qp->srq = srq;
	rdmaez_impl_qp_exam_rooms(&e, qp);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "shared receives may complete elsewhere");
	qp->srq = NULL;
	fake_close_all();
}

static void check_retries(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_qp *const qp = fake_qp(ctx, IBV_QPT_RC);
	struct rdmaez_impl_qp_exam e = exam(qp, 1, 0);

	e.now.known = IBV_QP_TIMEOUT | IBV_QP_PKEY_INDEX;
	e.now.attr.timeout = 20;
	e.retries = 7;
	e.known.quiet_ns = 1000 * MS;
	e.type = IBV_QPT_XRC_RECV;
	rdmaez_impl_qp_exam_retries(&e);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "a type that only receives retries nothing");
	e.type = IBV_QPT_RC;
	rdmaez_impl_qp_exam_retries(&e);
	tap_eq_int(reason(), RDMAEZ_WHY_RETRIES_LAST, "one that sends does");

	failed(0, NULL);
	e.now.attr.pkey_index = 999;
	e.port.link_layer = IBV_LINK_LAYER_INFINIBAND;
	e.state = IBV_QPS_RESET;
	rdmaez_impl_qp_exam_pkey(&e);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "in RESET there is no P_Key");
	e.state = IBV_QPS_INIT;
	rdmaez_impl_qp_exam_pkey(&e);
	tap_eq_int(reason(), RDMAEZ_WHY_PKEY_INDEX, "in INIT there is none at this index");
	fake_close_all();
}

/* What a queue pair in RTS lacks for a request to its peer. */
static bool lacks_recv(struct ibv_qp *qp, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr = {.opcode = opcode};
	struct rdmaez_impl_qp_exam e = exam(qp, 1, 0);

	e.known.wr = &wr;
	e.now.known = IBV_QP_RNR_RETRY;
	e.now.attr.rnr_retry = 7;
	rdmaez_impl_qp_exam_numbers(&e);
	return rdmaez_diag_find(&diag, RDMAEZ_WHY_RNR_ENDLESS) != NULL;
}

static void check_requests(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_qp *const qp = fake_qp(ctx, IBV_QPT_RC);

	tap_ok(lacks_recv(qp, IBV_WR_SEND), "a SEND takes a receive");
	tap_ok(lacks_recv(qp, IBV_WR_SEND_WITH_IMM), "so does one with immediate data");
	tap_ok(lacks_recv(qp, IBV_WR_SEND_WITH_INV), "one that invalidates");
	tap_ok(lacks_recv(qp, IBV_WR_RDMA_WRITE_WITH_IMM), "a WRITE with immediate data");
	tap_ok(!lacks_recv(qp, IBV_WR_RDMA_WRITE), "and one without does not");
	fake_close_all();
}

static void check_late(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_qp *const qp = fixture_qp(ctx, IBV_QPT_RC, IBV_QPS_RTS);
	struct ibv_cq *const send_cq = qp->send_cq;
	struct ibv_cq *const recv_cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	struct {
		struct ibv_cq *send, *recv, *waited;
		int is_one;
	} const row[] = {{send_cq, recv_cq, send_cq, 1},
			 {send_cq, NULL, send_cq, 0},
			 {NULL, recv_cq, recv_cq, 0},
			 {send_cq, recv_cq, NULL, 0}};

	for (size_t i = 0; i < COUNT_OF(row); i++) {
		qp->send_cq = row[i].send;
		qp->recv_cq = row[i].recv;
		rdmaez_impl_diag_reset(&diag, "rdmaez_wc_wait");
		rdmaez_impl_late_wait(row[i].waited, qp, UINT64_MAX, &diag);
		tap_eq_int(rdmaez_diag_find(&diag, RDMAEZ_WHY_CQ_OTHER_SIDE) != NULL, row[i].is_one,
			   "row %zu: whether the other queue may be meant", i);
	}
	tap_ok(!rdmaez_impl_exam_readable(-1), "no descriptor has nothing to read");
	tap_ok(!rdmaez_impl_exam_readable(1 << 20), "nor has one that is not open");
	fake_close_all();
}

/* ---- Completions and work requests ----------------------------------------------------------------------- */

static void check_completions(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_qp *const qp = fake_qp(ctx, IBV_QPT_RC);
	struct ibv_device *const device = ctx->device;
	struct rdmaez_impl_wc_row row = {.why = RDMAEZ_WHY_WR_OPCODE, .field = "opcode"};
	struct rdmaez_impl_wc_case here;

	memset(&here, 0, sizeof(here));
	here.qp = qp;
	here.diag = &diag;
	here.types = RDMAEZ_IMPL_WC_RC;
	here.opcode = IBV_WR_RDMA_READ;
	failed(0, NULL);
	rdmaez_impl_wc_opcode(&here, &row);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "RC has READ");
	qp->qp_type = IBV_QPT_UC;
	rdmaez_impl_wc_opcode(&here, &row);
	tap_eq_int(reason(), RDMAEZ_WHY_WR_OPCODE, "UC has not");
	tap_eq_int((int64_t)diag.finding[0].value, IBV_WR_RDMA_READ, "as the finding says");
	qp->qp_type = IBV_QPT_RC;

	row.why = RDMAEZ_WHY_WC_PEER_MTU;
	failed(0, NULL);
	here.now.attr.path_mtu = IBV_MTU_4096;
	rdmaez_impl_wc_mtu(&here, &row);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "an MTU of the port that is none");
	here.port.active_mtu = IBV_MTU_1024;
	rdmaez_impl_wc_mtu(&here, &row);
	tap_eq_int(reason(), RDMAEZ_WHY_WC_PEER_MTU, "one that is less than the path's");
	failed(0, NULL);
	here.now.attr.path_mtu = (enum ibv_mtu)0;
	rdmaez_impl_wc_own_mtu(&here, &row);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "an MTU of the path that is none");
	here.now.attr.path_mtu = IBV_MTU_4096;
	rdmaez_impl_wc_own_mtu(&here, &row);
	tap_eq_int((int64_t)diag.finding[0].value, 4096, "one that is");

	ctx->device = NULL;
	tap_ok(!rdmaez_impl_wc_iwarp(&here), "a context without a device is not of iWARP");
	ctx->device = device;
	device->transport_type = IBV_TRANSPORT_IWARP;
	tap_ok(rdmaez_impl_wc_iwarp(&here), "a device may be");
	failed(0, NULL);
	here.opcode = -1;
	here.requests = RDMAEZ_IMPL_WC_WRITE;
	row.why = RDMAEZ_WHY_WC_PEER_RIGHT;
	rdmaez_impl_wc_rights(&here, &row);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "whose flags tell nothing");
	rdmaez_impl_wc_depth(&here, &row);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "nor its depths");
	device->transport_type = IBV_TRANSPORT_IB;
	rdmaez_impl_wc_depth(&here, &row);
	tap_eq_int(reason(), RDMAEZ_WHY_DEPTH_ZERO, "others' do");

	failed(0, NULL);
	here.failed = 1;
	here.error = EIO;
	here.verb[0] = "ibv_query_port";
	tap_eq_int(rdmaez_impl_wc_end(&here), EIO, "a question that was not answered");
	tap_eq_int(diag.error, EIO, "is in the record");
	here.diag = NULL;
	tap_eq_int(rdmaez_impl_wc_end(&here), EIO, "or not, without one");
	fake_close_all();
}

static void check_posting(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_qp *const qp = fake_qp(ctx, IBV_QPT_UD);
	struct ibv_ah ah = {.pd = qp->pd};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct rdmaez_impl_wr_case c;

	memset(&c, 0, sizeof(c));
	c.qp = qp;
	c.context = ctx;
	c.error = EINVAL;
	c.diag = &diag;
	wr.wr.ud.ah = &ah;
	failed(EINVAL, "ibv_post_send");
	rdmaez_impl_wr_explain_ud(&c, &wr, 5000);
	tap_eq_int(reason(), RDMAEZ_WHY_NONE, "a port that is not known limits nothing");
	c.port_num = 1;
	rdmaez_impl_wr_explain_ud(&c, &wr, 5000);
	tap_eq_int(reason(), RDMAEZ_WHY_WR_UD_LENGTH, "one that is does");
	tap_eq_int((int64_t)diag.finding[0].max, 1024, "to its MTU");

	/* A queue pair with a shared receive queue sends all the same. */
	for (int i = 0; i < 2; i++) {
		const struct rdmaez_impl_wr_queue queue = {.depth = "cap.max_send_wr",
							   .sends = i != 0};

		c.queue = &queue;
		c.driver = rdmaez_driver_of(NULL);
		c.state = -1;
		qp->srq = fake_srq(ctx, IBV_SRQT_BASIC);
		failed(EINVAL, "ibv_post_send");
		rdmaez_impl_wr_explain(&c, &wr, NULL);
		tap_eq_int(rdmaez_diag_find(&diag, RDMAEZ_WHY_WR_SRQ) != NULL, !i,
			   "%s of a queue pair with a shared queue", i ? "sends" : "receives");
		qp->srq = NULL;
	}
	fake_close_all();
}

int main(void)
{
	check_texts();
	check_files();
	check_limits();
	check_negative();
	check_devices();
	check_objects();
	check_memory();
	check_handles();
	check_endpoints();
	check_multicast();
	check_ways();
	check_meanings();
	check_rooms();
	check_retries();
	check_requests();
	check_late();
	check_completions();
	check_posting();
	return tap_done();
}
