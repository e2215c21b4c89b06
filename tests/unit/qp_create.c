/* SPDX-License-Identifier: MIT */
/* Creating queue pairs: what a refusal is put down to, and what inline data a device is found to take. */
#include "process.h"

#define getrlimit test_getrlimit
#define open      test_open

#include <infiniband/verbs.h>

/* A provider that returns NULL and forgets errno. */
static int forgets;

static struct ibv_qp *test_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	return forgets ? NULL : ibv_create_qp(pd, init);
}
#define ibv_create_qp test_create_qp

#include "check.h"
#include <rdmaez/implementation.h>
#include "findings.h"

/* What every test begins with: a device, and attributes that it accepts. */
static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp_init_attr init;
	struct rdmaez_diag diag;
	struct ibv_qp *qp;
} t;

static void start(enum ibv_qp_type type)
{
	process_reset(PROCESS_CAP_OTHERS);
	t.dev = fake_reset();
	t.dev->attr.orig_attr.vendor_id = 0xffffff; /* rxe, which compares with all its limits */
	t.ctx = fake_open(t.dev);
	t.pd = ibv_alloc_pd(t.ctx);
	t.cq = ibv_create_cq(t.ctx, 16, NULL, NULL, 0);
	memset(&t.init, 0, sizeof(t.init));
	t.init.qp_type = type;
	t.init.send_cq = t.init.recv_cq = t.cq;
	t.init.cap.max_send_wr = t.init.cap.max_recv_wr = 16;
	t.init.cap.max_send_sge = t.init.cap.max_recv_sge = 2;
	t.qp = NULL;
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

static int create(void)
{
	return rdmaez_qp_create(t.pd, &t.init, &t.qp, &t.diag);
}

/* The same attributes, and the protection domain with its bit. */
static struct ibv_qp_init_attr_ex extended(void)
{
	struct ibv_qp_init_attr_ex ex;

	memset(&ex, 0, sizeof(ex));
	ex.send_cq = t.init.send_cq;
	ex.recv_cq = t.init.recv_cq;
	ex.srq = t.init.srq;
	ex.cap = t.init.cap;
	ex.qp_type = t.init.qp_type;
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ex.pd = t.pd;
	return ex;
}

static void check_success_costs_one_call(void)
{
	struct ibv_qp_init_attr_ex ex;

	start(IBV_QPT_RC);
	t.init.cap.max_inline_data = 100;
	t.dev->inline_step = 64;
	check_success(&t.diag, create(), "a queue pair is created");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one verbs call");
	tap_ok(t.qp && t.qp->pd == t.pd, "and handed over");
	tap_eq_int(t.init.cap.max_inline_data, 128, "what was granted is written back");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");

	start(IBV_QPT_RC);
	ex = extended();
	ex.comp_mask |= IBV_QP_INIT_ATTR_XRCD;
	ex.xrcd = (struct ibv_xrcd *)&ex;
	check_success(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag),
		      "the extended call creates one too");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one verbs call");
	tap_ok(t.qp && t.qp->pd == t.pd, "and hands it over");
}

static void check_limits(void)
{
	start(IBV_QPT_RC);
	t.init.cap.max_send_wr = 16385;
	t.init.cap.max_recv_wr = UINT32_MAX;
	t.init.cap.max_send_sge = 31;
	t.init.cap.max_recv_sge = 32;
	t.init.cap.max_inline_data = 1000;
	CHECK_VERB_FINDINGS(&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
			    "everything too large",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CAP_LIMIT, "cap.max_send_wr",
			     RDMAEZ_VALUE_NUMBER, 16385, 0, 16384},
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CAP_LIMIT, "cap.max_send_sge",
			     RDMAEZ_VALUE_NUMBER, 31, 0, 30},
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CAP_LIMIT, "cap.max_recv_wr",
			     RDMAEZ_VALUE_NUMBER, UINT32_MAX, 0, 16384},
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CAP_LIMIT, "cap.max_recv_sge",
			     RDMAEZ_VALUE_NUMBER, 32, 0, 30});
	tap_eq_ptr(t.qp, NULL, "the output is not written");
	tap_eq_int(fake_count(FAKE_ANY), 2, "the explanation takes one more call");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "which asks the device");
	tap_eq_int(t.diag.qp_type, IBV_QPT_RC, "the record names the type");

	start(IBV_QPT_RC);
	t.init.cap.max_send_wr = 16385;
	tap_eq_int(rdmaez_qp_create(t.pd, &t.init, &t.qp, NULL), EINVAL, "without a record");
	tap_eq_int(fake_count(FAKE_ANY), 1, "nothing is asked");

	start(IBV_QPT_RC);
	t.init.cap.max_send_wr = t.init.cap.max_recv_wr = 16384;
	fake_fail(FAKE_CREATE_QP, 1, EINVAL);
	CHECK_VERB_FINDINGS(
		&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
		"just what the device has",
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_TOGETHER, "cap", RDMAEZ_VALUE_NONE, 0, 0, 0},
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "max_qp", RDMAEZ_VALUE_LIMIT, 0, 0,
		 1024});

	start(IBV_QPT_XRC_SEND);
	t.init.cap.max_recv_wr = 16385;
	t.init.recv_cq = NULL;
	check_success(&t.diag, create(), "limits of receives do not concern XRC_SEND");

	start(IBV_QPT_RC);
	t.init.cap.max_send_sge = 31;
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_VERB_FINDINGS(
		&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
		"a device that does not answer",
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_TOGETHER, "cap", RDMAEZ_VALUE_NONE, 0, 0, 0});
}

/* Which numbers above a limit each driver is known to refuse. */
static void check_certain(void)
{
	static const struct {
		const char *name;
		uint32_t vendor_id, part_id;
		bool send, recv, sge;
	} drivers[] = {
		{"rxe", 0xffffff, 0, true, true, true},
		{"siw", 0x626d74, 0, true, true, true},
		{"mlx4", 0x2c9, 0x1003, true, true, true},
		{"mthca", 0x2c9, 0x6274, true, true, true},
		{"hns", 0x19e5, 0xa222, true, true, true},
		{"pvrdma", 0x15ad, 0x820, false, false, false},
		{"hfi1", 0x1175, 0x24f0, true, true, true},
		{"mlx5", 0x2c9, 0x1017, false, false, false},
		{"bnxt_re", 0x14e4, 0x1750, false, false, true},
		{"irdma", 0x8086, 0x1592, false, false, true},
		{"qedr", 0x1077, 0x1656, true, false, true},
		{"ocrdma", 0x10df, 0x720, true, false, false},
		{"cxgb4", 0x1425, 0x5401, false, true, false},
		{"efa", 0x1d0f, 0xefa0, false, false, false},
		{"erdma", 0x1ded, 0x107f, false, false, false},
		{"ionic", 0x1dd8, 0x1003, false, false, false},
		{"mana", 0x1414, 3, false, false, false},
		{"mana before Linux 7", 0, 0, false, false, false},
		{"usnic", 0x1137, 0x43, false, false, false},
	};

	for (size_t i = 0; i < COUNT_OF(drivers); i++) {
		const enum rdmaez_severity send =
			drivers[i].send ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY;
		const enum rdmaez_severity recv =
			drivers[i].recv ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY;
		const enum rdmaez_severity sge =
			drivers[i].sge ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY;

		start(IBV_QPT_RC);
		t.dev->attr.orig_attr.vendor_id = drivers[i].vendor_id;
		t.dev->attr.orig_attr.vendor_part_id = drivers[i].part_id;
		fake_fail(FAKE_CREATE_QP, 0, EINVAL);
		t.init.cap.max_send_wr = 16385;
		CHECK_VERB_FINDINGS(&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
				    drivers[i].name,
				    {send, RDMAEZ_WHY_CAP_LIMIT, "cap.max_send_wr",
				     RDMAEZ_VALUE_NUMBER, 16385, 0, 16384});
		t.init.cap.max_send_wr = 1;
		t.init.cap.max_recv_wr = 16385;
		CHECK_VERB_FINDINGS(&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
				    drivers[i].name,
				    {recv, RDMAEZ_WHY_CAP_LIMIT, "cap.max_recv_wr",
				     RDMAEZ_VALUE_NUMBER, 16385, 0, 16384});
		t.init.cap.max_recv_wr = 1;
		t.init.cap.max_send_sge = t.init.cap.max_recv_sge = 31;
		CHECK_VERB_FINDINGS(&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
				    drivers[i].name,
				    {sge, RDMAEZ_WHY_CAP_LIMIT, "cap.max_send_sge",
				     RDMAEZ_VALUE_NUMBER, 31, 0, 30},
				    {sge, RDMAEZ_WHY_CAP_LIMIT, "cap.max_recv_sge",
				     RDMAEZ_VALUE_NUMBER, 31, 0, 30});
	}

	/* Of usnic, the last of them: what is not certain hides nothing. */
	t.init.cap.max_recv_sge = 1;
	t.init.cap.max_inline_data = 1000;
	CHECK_VERB_FINDINGS(&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
			    "inline data is suspected, too",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_LIMIT, "cap.max_send_sge",
			     RDMAEZ_VALUE_NUMBER, 31, 0, 30},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_INLINE, "cap.max_inline_data",
			     RDMAEZ_VALUE_BYTES, 1000, 0, (uint64_t)-1});

	start(IBV_QPT_RC);
	t.init.cap.max_send_wr = 16385;
	process.memlock = 1 << 20;
	fake_fail(FAKE_CREATE_QP, 0, ENOMEM);
	CHECK_VERB_FINDINGS(
		&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp",
		"ENOMEM has two causes even on rxe",
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_LIMIT, "cap.max_send_wr", RDMAEZ_VALUE_NUMBER,
		 16385, 0, 16384},
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MEMLOCK, "cap", RDMAEZ_VALUE_LIMIT, 0, 0, 1 << 20},
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "max_qp", RDMAEZ_VALUE_LIMIT, 0, 0,
		 1024});
}

/* CapEff stands behind Groups, however long that is and wherever a read ends. */
static void check_groups(void)
{
	static char status[9000];
	int wrong = 0;

	start(IBV_QPT_RAW_PACKET);
	t.dev->quirks = FAKE_NO_RAW;
	for (int length = 0; length < 8000; length += length < 600 ? 1 : 97) {
		snprintf(status, sizeof(status),
			 "Groups:\t%0*d\nCapPrm:\tffffffffffffffff\nCapEff:\t%016x\n", length, 7,
			 (unsigned int)PROCESS_CAP_OTHERS);
		process.status = status;
		wrong += create() != EPERM || t.diag.finding[0].severity != RDMAEZ_DIAG_ERROR;
		snprintf(status, sizeof(status), "Groups:\t%0*d\nCapEff:\t%016x\n", length, 7,
			 (unsigned int)PROCESS_CAP_NET_RAW);
		wrong += create() != EPERM || t.diag.finding[0].severity != RDMAEZ_DIAG_LIKELY;
		snprintf(status, sizeof(status), "Groups:\t%0*d\nCapEff:\t%015x", length, 7, 0u);
		wrong += create() != EPERM || t.diag.finding[0].severity != RDMAEZ_DIAG_LIKELY;
	}
	tap_eq_int(wrong, 0, "capabilities are found behind groups of any number");
}

static struct ibv_srq *srq_in(struct ibv_pd *pd)
{
	struct ibv_srq_init_attr init;
	struct ibv_srq *srq;

	memset(&init, 0, sizeof(init));
	init.attr.max_wr = init.attr.max_sge = 1;
	srq = ibv_create_srq(pd, &init);
	fake_reset_log();
	return srq;
}

static void check_srq(void)
{
	start(IBV_QPT_RC);
	t.init.srq = srq_in(t.pd);
	t.init.cap.max_recv_wr = t.init.cap.max_recv_sge = 100000;
	check_success(&t.diag, create(), "with an SRQ the limits of receives do not hold");
	t.init.cap.max_send_sge = 31;
	CHECK_VERB_FINDINGS(&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
			    "those of sends do",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CAP_LIMIT, "cap.max_send_sge",
			     RDMAEZ_VALUE_NUMBER, 31, 0, 30});

	t.init.cap.max_send_sge = 1;
	t.init.srq = fake_srq(t.ctx, IBV_SRQT_BASIC);
	fake_fail(FAKE_CREATE_QP, 1, EINVAL);
	CHECK_VERB_FINDINGS(
		&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
		"an SRQ of another domain",
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_SRQ_PD, "srq", RDMAEZ_VALUE_NONE, 0, 0, 0});

	start(IBV_QPT_XRC_SEND);
	t.init.srq = srq_in(t.pd);
	CHECK_VERB_FINDINGS(
		&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
		"XRC_SEND with an SRQ",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CREATE_SRQ, "srq", RDMAEZ_VALUE_NONE, 0, 0, 0});
}

static void check_parts(void)
{
	struct ibv_context *other;
	struct ibv_qp_init_attr_ex ex;

	start(IBV_QPT_RC);
	other = fake_open(t.dev);
	t.init.send_cq = ibv_create_cq(other, 16, NULL, NULL, 0);
	t.init.recv_cq = t.init.send_cq;
	t.init.srq = srq_in(ibv_alloc_pd(other));
	CHECK_VERB_FINDINGS(
		&t.diag, create(), ENOENT, "rdmaez_qp_create", "ibv_create_qp",
		"parts of another context",
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, "send_cq", RDMAEZ_VALUE_NONE, 0, 0,
		 0},
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, "recv_cq", RDMAEZ_VALUE_NONE, 0, 0,
		 0},
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, "srq", RDMAEZ_VALUE_NONE, 0, 0, 0});

	t.init.send_cq = t.init.recv_cq = t.cq;
	t.init.srq = NULL;
	ex = extended();
	ex.comp_mask |= IBV_QP_INIT_ATTR_XRCD; /* so that the context is not the domain's */
	ex.xrcd = (struct ibv_xrcd *)&ex;
	ex.send_cq = ex.recv_cq = ibv_create_cq(other, 16, NULL, NULL, 0);
	CHECK_VERB_FINDINGS(
		&t.diag, rdmaez_qp_create_ex(other, &ex, &t.qp, &t.diag), ENOENT,
		"rdmaez_qp_create_ex", "ibv_create_qp_ex", "a domain of another context",
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, "pd", RDMAEZ_VALUE_NONE, 0, 0, 0});
}

static void check_types(void)
{
	struct ibv_qp_init_attr_ex ex;

	start(IBV_QPT_RAW_PACKET);
	t.dev->quirks = FAKE_NO_RAW;
	CHECK_VERB_FINDINGS(&t.diag, create(), EPERM, "rdmaez_qp_create", "ibv_create_qp",
			    "RAW_PACKET for anybody",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CREATE_PRIVILEGE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_RAW_PACKET, 0, 0});

	process_reset(PROCESS_CAP_NET_RAW);
	CHECK_VERB_FINDINGS(&t.diag, create(), EPERM, "rdmaez_qp_create", "ibv_create_qp",
			    "RAW_PACKET for who may",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_PRIVILEGE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_RAW_PACKET, 0, 0});
	process_reset(PROCESS_CAP_OTHERS);
	process.status = NULL;
	CHECK_VERB_FINDINGS(&t.diag, create(), EPERM, "rdmaez_qp_create", "ibv_create_qp",
			    "RAW_PACKET for who knows",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_PRIVILEGE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_RAW_PACKET, 0, 0});
	process_reset(PROCESS_CAP_OTHERS);
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, create(), EPERM, "rdmaez_qp_create", "ibv_create_qp",
			    "RAW_PACKET on a device that does not answer",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CREATE_PRIVILEGE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_RAW_PACKET, 0, 0});

	start(IBV_QPT_UC);
	t.dev->qp_types = FAKE_QPT(IBV_QPT_RC);
	CHECK_VERB_FINDINGS(&t.diag, create(), EOPNOTSUPP, "rdmaez_qp_create", "ibv_create_qp",
			    "UC where there is none",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_TYPE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_UC, 0, 0});
	fake_fail(FAKE_CREATE_QP, 1, ENOSYS);
	CHECK_VERB_FINDINGS(&t.diag, create(), ENOSYS, "rdmaez_qp_create", "ibv_create_qp",
			    "and with another errno",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_TYPE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_UC, 0, 0});

	start((enum ibv_qp_type)77);
	CHECK_VERB_FINDINGS(&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
			    "a type that is none",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CREATE_TYPE, "qp_type",
			     RDMAEZ_VALUE_TYPE, 77, 0, 0});

	start(IBV_QPT_XRC_SEND);
	t.dev->attr.orig_attr.device_cap_flags &= ~(unsigned int)IBV_DEVICE_XRC;
	fake_fail(FAKE_CREATE_QP, 1, EINVAL);
	CHECK_VERB_FINDINGS(&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
			    "XRC where there is none",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CREATE_TYPE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_XRC_SEND, 0, 0});

	fake_fail(FAKE_CREATE_QP, 1, EOPNOTSUPP);
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, create(), EOPNOTSUPP, "rdmaez_qp_create", "ibv_create_qp",
			    "XRC where the device does not answer",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_TYPE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_XRC_SEND, 0, 0});

	start(IBV_QPT_XRC_RECV);
	t.init.send_cq = t.init.recv_cq = NULL;
	t.init.cap.max_send_wr = 100000;
	CHECK_VERB_FINDINGS(&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
			    "XRC_RECV without its domain",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CREATE_DOMAIN, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_XRC_RECV, 0, 0});

	start(IBV_QPT_RC);
	ex = extended();
	ex.comp_mask = 0;
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EINVAL,
			    "rdmaez_qp_create_ex", "ibv_create_qp_ex", "RC without its domain",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CREATE_DOMAIN, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_RC, 0, 0});
	tap_eq_int(t.diag.qp_type, IBV_QPT_RC, "the record names the type");

	ex = extended();
	ex.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EOPNOTSUPP,
			    "rdmaez_qp_create_ex", "ibv_create_qp_ex",
			    "an extension that is not there",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NOT_SUPPORTED, "comp_mask",
			     RDMAEZ_VALUE_FLAGS, IBV_QP_INIT_ATTR_CREATE_FLAGS, 0,
			     IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_TYPE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_RC, 0, 0});
	tap_eq_int(rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, NULL), EOPNOTSUPP, "without a record");
}

/* A provider that returns NULL and forgets errno, or negates it. */
static int errno_left;

static struct ibv_qp *create_nothing(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	(void)context;
	(void)init;
	if (errno_left)
		errno = errno_left;
	return NULL;
}

static void check_extended(void)
{
	struct ibv_qp_init_attr_ex ex;
	struct ibv_pd pd;

	start(IBV_QPT_RC);
	t.init.cap.max_send_wr = 16385;
	ex = extended();
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EINVAL,
			    "rdmaez_qp_create_ex", "ibv_create_qp_ex",
			    "limits hold for the extended call",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CAP_LIMIT, "cap.max_send_wr",
			     RDMAEZ_VALUE_NUMBER, 16385, 0, 16384});
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	tap_eq_ptr(t.qp, NULL, "the output is not written");

	start(IBV_QPT_RC);
	ex = extended();
	ex.send_cq = ex.recv_cq = ibv_create_cq(fake_open(t.dev), 16, NULL, NULL, 0);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), ENOENT,
			    "rdmaez_qp_create_ex", "ibv_create_qp_ex", "queues of another context",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, "send_cq",
			     RDMAEZ_VALUE_NONE, 0, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, "recv_cq",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});

	start(IBV_QPT_XRC_SEND);
	t.init.srq = srq_in(t.pd);
	ex = extended();
	CHECK_VERB_FINDINGS(
		&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EINVAL,
		"rdmaez_qp_create_ex", "ibv_create_qp_ex", "so does what XRC_SEND takes",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CREATE_SRQ, "srq", RDMAEZ_VALUE_NONE, 0, 0, 0});

	start(IBV_QPT_XRC_RECV);
	ex = extended();
	ex.comp_mask = IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	ex.xrcd = (struct ibv_xrcd *)&ex;
	memset(&pd, 0, sizeof(pd)); /* of no context, and without its bit of no account */
	ex.pd = &pd;
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EOPNOTSUPP,
			    "rdmaez_qp_create_ex", "ibv_create_qp_ex", "XRC_RECV with an extension",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NOT_SUPPORTED, "comp_mask",
			     RDMAEZ_VALUE_FLAGS, IBV_QP_INIT_ATTR_CREATE_FLAGS, 0,
			     IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_CREATE_FLAGS},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_TYPE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_XRC_RECV, 0, 0});
	ex.comp_mask = 0;
	ex.pd = NULL;
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EINVAL,
			    "rdmaez_qp_create_ex", "ibv_create_qp_ex",
			    "XRC_RECV without its domain",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CREATE_DOMAIN, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_XRC_RECV, 0, 0});

	start(IBV_QPT_UC);
	t.dev->qp_types = 0;
	ex = extended();
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EOPNOTSUPP,
			    "rdmaez_qp_create_ex", "ibv_create_qp_ex",
			    "without an extension none is to blame",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_TYPE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_UC, 0, 0});

	start(IBV_QPT_RC);
	verbs_get_ctx(t.ctx)->create_qp_ex = create_nothing;
	ex = extended();
	ex.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	errno_left = EIO;
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EIO,
			    "rdmaez_qp_create_ex", "ibv_create_qp_ex",
			    "the verb that failed is named",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_PROVIDER_FAULT, "ibv_create_qp_ex",
			     RDMAEZ_VALUE_NONE, 0, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DEVICE_GONE, "ibv_create_qp_ex",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	errno = ENOENT;
	errno_left = 0;
	tap_eq_int(rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, NULL), EIO, "an errno that is not set");
	errno_left = -ENOSPC;
	tap_eq_int(rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, NULL), ENOSPC, "and a negative one");
}

/* The operations that the extended call asks for: those that the type has on no device are blamed alone. */
static void check_operations(void)
{
	static const struct {
		enum ibv_qp_type type;
		uint64_t ops;
	} can[] = {
		{IBV_QPT_RC, 0x1bff},        {IBV_QPT_UC, 0x38f},   {IBV_QPT_UD, 0x40c},
		{IBV_QPT_RAW_PACKET, 0x404}, {IBV_QPT_XRC_RECV, 0}, {IBV_QPT_XRC_SEND, 0x1bff},
		{IBV_QPT_DRIVER, 0x1bff},
	};
	struct ibv_qp_init_attr_ex ex;
	unsigned int asked;
	uint32_t domain;

	for (size_t i = 0; i < COUNT_OF(can); i++) {
		start(can[i].type);
		ex = extended();
		domain = IBV_QP_INIT_ATTR_PD;
		if (can[i].type == IBV_QPT_XRC_RECV) {
			domain = IBV_QP_INIT_ATTR_XRCD;
			ex.xrcd = (struct ibv_xrcd *)&ex;
		}
		ex.comp_mask = domain | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		fake_fail(FAKE_CREATE_QP, 0, EOPNOTSUPP);
		for (int bit = 0; bit < 14; bit++) {
			ex.send_ops_flags = can[i].ops | UINT64_C(1) << bit;
			tap_eq_int(rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EOPNOTSUPP,
				   "%s with operation %d", rdmaez_qp_type_str(can[i].type), bit);
			tap_eq_count(&t.diag, can[i].ops >> bit & 1 ? 2 : 1,
				     "is blamed alone where it cannot be");
		}
		ex.send_ops_flags = can[i].ops | UINT64_C(1) << 63;
		asked = fake_count(FAKE_QUERY_DEVICE);
		CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag),
				    EOPNOTSUPP, "rdmaez_qp_create_ex", "ibv_create_qp_ex",
				    "an operation that verbs do not know",
				    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NOT_SUPPORTED, "send_ops_flags",
				     RDMAEZ_VALUE_FLAGS, UINT64_C(1) << 63, 0, ex.send_ops_flags});
		tap_eq_int(fake_count(FAKE_QUERY_DEVICE), asked, "the device need not be asked");
		if (!can[i].ops)
			continue;
		ex.send_ops_flags = 4;
		ex.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
		CHECK_VERB_FINDINGS(
			&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EOPNOTSUPP,
			"rdmaez_qp_create_ex", "ibv_create_qp_ex", "one that it may have",
			{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NOT_SUPPORTED, "send_ops_flags",
			 RDMAEZ_VALUE_FLAGS, 4, 0, 4},
			{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NOT_SUPPORTED, "comp_mask",
			 RDMAEZ_VALUE_FLAGS, IBV_QP_INIT_ATTR_CREATE_FLAGS, 0, ex.comp_mask},
			{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_TYPE, "qp_type", RDMAEZ_VALUE_TYPE,
			 can[i].type, 0, 0});
	}
	start(IBV_QPT_UD);
	ex = extended();
	ex.send_ops_flags = 1; /* of no account without its bit */
	fake_fail(FAKE_CREATE_QP, 1, EOPNOTSUPP);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EOPNOTSUPP,
			    "rdmaez_qp_create_ex", "ibv_create_qp_ex", "flags without their bit",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_TYPE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_UD, 0, 0});
}

#define TOGETHER {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_TOGETHER, "cap", RDMAEZ_VALUE_NONE, 0, 0, 0}
#define DEEP(field, depth) \
	{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_TOGETHER, field, RDMAEZ_VALUE_NUMBER, depth, 0, 16384}
#define MANY {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "max_qp", RDMAEZ_VALUE_LIMIT, 0, 0, 1024}
#define FOREIGN \
	{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, "send_cq", RDMAEZ_VALUE_NONE, 0, 0, 0}
#define MEANS(reason) \
	{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, "ibv_create_qp", RDMAEZ_VALUE_NONE, 0, 0, 0}

/* What is found does not hide what the errno means, unless it is certain and goes with the errno. */
static void check_errno_beside(void)
{
	start(IBV_QPT_RC);
	t.init.send_cq = ibv_create_cq(fake_open(t.dev), 16, NULL, NULL, 0);
	fake_fail(FAKE_CREATE_QP, 0, EIO);
	CHECK_VERB_FINDINGS(&t.diag, create(), EIO, "rdmaez_qp_create", "ibv_create_qp",
			    "a foreign part and a device that is gone", FOREIGN,
			    MEANS(DEVICE_GONE));
	fake_fail(FAKE_CREATE_QP, 0, ENOMEM);
	process.space = 1 << 30;
	CHECK_VERB_FINDINGS(&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp",
			    "a foreign part and no memory", FOREIGN,
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_ADDRESS_SPACE, "cap",
			     RDMAEZ_VALUE_LIMIT, 0, 0, 1 << 30},
			    MANY);
	fake_fail(FAKE_CREATE_QP, 0, EOPNOTSUPP);
	t.init.cap.max_send_wr = 16385;
	CHECK_VERB_FINDINGS(&t.diag, create(), EOPNOTSUPP, "rdmaez_qp_create", "ibv_create_qp",
			    "an errno that is not about numbers",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_TYPE, "qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_RC, 0, 0},
			    FOREIGN);
	fake_fail(FAKE_CREATE_QP, 0, EAGAIN);
	t.init.send_cq = t.cq;
	CHECK_VERB_FINDINGS(&t.diag, create(), EAGAIN, "rdmaez_qp_create", "ibv_create_qp",
			    "a cgroup's limit", MEANS(CGROUP), MEANS(BUSY));
	t.init.qp_type = (enum ibv_qp_type)77;
	fake_fail(FAKE_CREATE_QP, 0, ETIMEDOUT);
	CHECK_VERB_FINDINGS(&t.diag, create(), ETIMEDOUT, "rdmaez_qp_create", "ibv_create_qp",
			    "nor about the type", MEANS(TIMED_OUT));
	t.init.qp_type = IBV_QPT_XRC_SEND;
	t.init.srq = srq_in(t.pd);
	fake_fail(FAKE_CREATE_QP, 0, ETIMEDOUT);
	CHECK_VERB_FINDINGS(&t.diag, create(), ETIMEDOUT, "rdmaez_qp_create", "ibv_create_qp",
			    "nor about the SRQ", MEANS(TIMED_OUT));

	start(IBV_QPT_RC);
	forgets = 1;
	errno = EBUSY;
	tap_eq_int(create(), EIO, "an errno that is not set");
	forgets = 0;

	for (int i = 0; i < 2; i++) {
		static const int errors[] = {EIO, E2BIG};

		start(IBV_QPT_RC);
		t.init.cap.max_send_wr = 16385;
		fake_fail(FAKE_CREATE_QP, 0, errors[i]);
		CHECK_VERB_FINDINGS(&t.diag, create(), errors[i], "rdmaez_qp_create",
				    "ibv_create_qp", "a number too large, by another errno",
				    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CAP_LIMIT, "cap.max_send_wr",
				     RDMAEZ_VALUE_NUMBER, 16385, 0, 16384});
	}

	start(IBV_QPT_RC);
	t.dev->attr.orig_attr.max_qp = 1;
	fake_fail(FAKE_CREATE_QP, 0, ENOMEM);
	CHECK_VERB_FINDINGS(&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp",
			    "a device for one queue pair",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "max_qp",
			     RDMAEZ_VALUE_LIMIT, 0, 0, 1});
	t.dev->attr.orig_attr.max_qp = 0;
	fake_fail(FAKE_CREATE_QP, 0, ENOMEM);
	CHECK_VERB_FINDINGS(&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp",
			    "no memory, of who knows what", MEANS(NO_RESOURCES));
	t.dev->attr.orig_attr.max_qp_wr = 0;
	CHECK_VERB_FINDINGS(&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp",
			    "nor how deep a queue may be", TOGETHER, MEANS(NO_RESOURCES));
	t.dev->attr.orig_attr.max_qp_wr = 1;
	t.init.cap.max_send_wr = t.init.cap.max_recv_wr = 1;
	fake_fail(FAKE_CREATE_QP, 0, ENOMEM);
	CHECK_VERB_FINDINGS(&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp",
			    "one work request is all",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_TOGETHER, "cap.max_send_wr",
			     RDMAEZ_VALUE_NUMBER, 1, 0, 1},
			    MEANS(NO_RESOURCES));
}

static void check_suspects(void)
{
	start(IBV_QPT_RC);
	t.init.cap.max_inline_data = 257;
	CHECK_VERB_FINDINGS(
		&t.diag, create(), EINVAL, "rdmaez_qp_create", "ibv_create_qp",
		"too much inline data",
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_INLINE, "cap.max_inline_data",
		 RDMAEZ_VALUE_BYTES, 257, 0, UINT64_MAX},
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CAP_TOGETHER, "cap", RDMAEZ_VALUE_NONE, 0, 0, 0},
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "max_qp", RDMAEZ_VALUE_LIMIT, 0, 0,
		 1024});

	t.init.cap.max_inline_data = 0;
	fake_fail(FAKE_CREATE_QP, 0, ENOMEM);
	process.memlock = 1 << 20;
	CHECK_VERB_FINDINGS(
		&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp", "no memory",
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MEMLOCK, "cap", RDMAEZ_VALUE_LIMIT, 0, 0, 1 << 20},
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "max_qp", RDMAEZ_VALUE_LIMIT, 0, 0,
		 1024});
	process.memlock = RLIM_INFINITY;
	CHECK_VERB_FINDINGS(&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp",
			    "no memory, and no limit of it",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "max_qp",
			     RDMAEZ_VALUE_LIMIT, 0, 0, 1024});

	process.memlock = 1 << 20;
	process.status = "Name:\ttest\nVmPin:\t     104 kB\nCapEff:\t0000000000000000\n";
	CHECK_VERB_FINDINGS(&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp",
			    "how much is pinned already",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MEMLOCK, "cap", RDMAEZ_VALUE_LOCKED, 0,
			     104 << 10, 1 << 20},
			    MANY);
	process.memlock = RLIM_INFINITY;
	t.init.cap.max_send_wr = 4095;
	CHECK_VERB_FINDINGS(&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp",
			    "less than a quarter of the depth", MANY);
	t.init.cap.max_recv_wr = 4096;
	CHECK_VERB_FINDINGS(&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp",
			    "a quarter of it", DEEP("cap.max_recv_wr", 4096), MANY);
	t.init.cap.max_send_wr = 16384;
	CHECK_VERB_FINDINGS(&t.diag, create(), ENOMEM, "rdmaez_qp_create", "ibv_create_qp",
			    "all of it", DEEP("cap.max_send_wr", 16384), MANY);
	t.init.cap.max_send_wr = t.init.cap.max_recv_wr = 1;

	fake_fail(FAKE_CREATE_QP, 0, EIO);
	CHECK_VERB_FINDINGS(&t.diag, create(), EIO, "rdmaez_qp_create", "ibv_create_qp",
			    "a device that is gone",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_PROVIDER_FAULT, "ibv_create_qp",
			     RDMAEZ_VALUE_NONE, 0, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DEVICE_GONE, "ibv_create_qp",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_str(t.diag.driver, "rdma_rxe", "the record names the driver");
	fake_fail(FAKE_CREATE_QP, 0, EBUSY);
	CHECK_VERB_FINDINGS(
		&t.diag, create(), EBUSY, "rdmaez_qp_create", "ibv_create_qp",
		"a device that is busy",
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_BUSY, "ibv_create_qp", RDMAEZ_VALUE_NONE, 0, 0, 0});
	fake_fail(FAKE_CREATE_QP, 0, ETIMEDOUT);
	CHECK_VERB_FINDINGS(&t.diag, create(), ETIMEDOUT, "rdmaez_qp_create", "ibv_create_qp",
			    "a device that is slow",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_TIMED_OUT, "ibv_create_qp",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	fake_fail(FAKE_CREATE_QP, 0, EPERM);
	CHECK_VERB_FINDINGS(&t.diag, create(), EPERM, "rdmaez_qp_create", "ibv_create_qp",
			    "no explanation at all",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, "ibv_create_qp",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
}

static void check_null(void)
{
	struct ibv_qp_init_attr_ex ex;

	start(IBV_QPT_RC);
	check_refusal(&t.diag, rdmaez_qp_create(NULL, &t.init, &t.qp, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "pd", "no domain");
	check_refusal(&t.diag, rdmaez_qp_create(t.pd, NULL, &t.qp, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "init_attr", "no attributes");
	check_refusal(&t.diag, rdmaez_qp_create(t.pd, &t.init, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "nowhere to put it");
	check_call_and_verb(&t.diag, "rdmaez_qp_create", NULL);
	t.init.send_cq = NULL;
	check_refusal(&t.diag, create(), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "send_cq", "no send_cq");
	t.init.send_cq = t.cq;
	t.init.recv_cq = NULL;
	check_refusal(&t.diag, create(), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "recv_cq", "no recv_cq");
	ex = extended();
	check_refusal(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "recv_cq", "extended: no recv_cq");
	ex.recv_cq = t.cq;
	ex.pd = NULL;
	check_refusal(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "pd", "extended: no domain");
	ex.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	check_refusal(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "xrcd", "extended: no XRC domain");
	check_refusal(&t.diag, rdmaez_qp_create_ex(NULL, &ex, &t.qp, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "extended: no context");
	check_refusal(&t.diag, rdmaez_qp_create_ex(t.ctx, NULL, &t.qp, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "init_attr", "extended: no attributes");
	check_refusal(&t.diag, rdmaez_qp_create_ex(t.ctx, &ex, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "extended: nowhere to put it");
	check_call_and_verb(&t.diag, "rdmaez_qp_create_ex", NULL);
	tap_eq_int(fake_count(FAKE_ANY), 0, "none of these has reached the library");
	ex = extended();
	ex.comp_mask |= IBV_QP_INIT_ATTR_IND_TABLE;
	ex.send_cq = ex.recv_cq = NULL;
	tap_eq_int(rdmaez_qp_create_ex(t.ctx, &ex, &t.qp, NULL), EOPNOTSUPP,
		   "with an indirection table there need not be completion queues");
	tap_eq_int(fake_count(FAKE_CREATE_QP), 1, "which the device may judge");
}

/* Finds this limit and leaves nothing behind. */
static void check_inline(uint32_t limit, uint32_t step, uint32_t quirks)
{
	uint32_t bytes = 1;
	int open;

	start(IBV_QPT_RC);
	t.dev->max_inline = limit;
	t.dev->inline_step = step;
	t.dev->quirks = quirks;
	t.init.cap.max_inline_data = 12345;
	open = fake_open_count();
	check_success(&t.diag, rdmaez_qp_max_inline(t.pd, &t.init, &bytes, &t.diag),
		      "a limit of %u, in steps of %u, quirks %#x", limit, step, quirks);
	check_call_and_verb(&t.diag, "rdmaez_qp_max_inline", NULL);
	tap_eq_int(bytes, limit > RDMAEZ_QP_INLINE_PROBED ? RDMAEZ_QP_INLINE_PROBED : limit,
		   "is found");
	tap_eq_int(fake_open_count(), open, "nothing is left behind");
	tap_ok(fake_count(FAKE_CREATE_QP) <= 18, "after %u queue pairs, 18 at most",
	       fake_count(FAKE_CREATE_QP));
	tap_eq_int(t.init.cap.max_inline_data, 12345, "the attributes stay as they were");
}

static void check_inline_probe(void)
{
	static const uint32_t limits[] = {0,    1,    2,     32,    188,   256,
					  1000, 4095, 32768, 65535, 65536, UINT32_MAX};
	uint32_t bytes = 77;

	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		check_inline(limits[i], 0, 0);
		check_inline(limits[i], 0, FAKE_INLINE_CUT);
	}
	check_inline(960, 64, 0);
	check_inline(1000, 64, 0);
	check_inline(UINT32_MAX, 60000, 0);

	start(IBV_QPT_RC);
	t.init.cap.max_send_sge = 31;
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_max_inline(t.pd, &t.init, &bytes, &t.diag), EINVAL,
			    "rdmaez_qp_max_inline", "ibv_create_qp",
			    "attributes that are wrong anyway",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CAP_LIMIT, "cap.max_send_sge",
			     RDMAEZ_VALUE_NUMBER, 31, 0, 30});
	start(IBV_QPT_RC);
	fake_fail(FAKE_CREATE_QP, 3, EIO);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_max_inline(t.pd, &t.init, &bytes, &t.diag), EIO,
			    "rdmaez_qp_max_inline", "ibv_create_qp",
			    "a failure that has nothing to do with size",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_PROVIDER_FAULT, "ibv_create_qp",
			     RDMAEZ_VALUE_NONE, 0, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DEVICE_GONE, "ibv_create_qp",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	for (int i = 0; i < 3; i++) {
		static const int refusals[] = {EINVAL, ENOMEM, EOPNOTSUPP};

		/* The third try is for 49152 bytes, when 32768 have been granted. */
		start(IBV_QPT_RC);
		t.dev->max_inline = UINT32_MAX;
		fake_fail(FAKE_CREATE_QP, 3, refusals[i]);
		tap_eq_int(rdmaez_qp_max_inline(t.pd, &t.init, &bytes, NULL), 0, "refused by %s",
			   rdmaez_errno_str(refusals[i]));
		tap_eq_int(bytes, 49151, "is as good as too much");
	}
	start(IBV_QPT_RC);
	fake_fail(FAKE_DESTROY_QP, 1, EBUSY);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_qp_max_inline(t.pd, &t.init, &bytes, &t.diag), EBUSY,
			    "rdmaez_qp_max_inline", "ibv_destroy_qp",
			    "a queue pair that cannot be destroyed",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_BUSY, "ibv_destroy_qp",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_int(rdmaez_qp_max_inline(t.pd, &t.init, &bytes, NULL), 0, "without a record");
	tap_eq_int(bytes, 256, "the limit is found as well");
	start(IBV_QPT_RC);
	check_refusal(&t.diag, rdmaez_qp_max_inline(t.pd, &t.init, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "bytes", "nowhere to put the limit");
	check_call_and_verb(&t.diag, "rdmaez_qp_max_inline", NULL);
	check_refusal(&t.diag, rdmaez_qp_max_inline(NULL, &t.init, &bytes, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "pd", "no domain to try in");
}

int main(void)
{
	check_success_costs_one_call();
	check_limits();
	check_certain();
	check_groups();
	check_srq();
	check_parts();
	check_types();
	check_extended();
	check_operations();
	check_errno_beside();
	check_suspects();
	check_null();
	check_inline_probe();
	fake_close_all();
	return tap_done();
}
