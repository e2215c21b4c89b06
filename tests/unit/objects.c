/* SPDX-License-Identifier: MIT */
/* Completion queues, SRQs and XRC domains: what a refusal is put down to, and what still uses them. */
#include "process.h"

#define getrlimit test_getrlimit
#define open      test_open

#include "check.h"
#include <rdmaez/implementation.h>
#include "findings.h"

#define WRONG(reason, field, ...)  {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define LIKELY(reason, field, ...) {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define NOTHING                    RDMAEZ_VALUE_NONE, 0, 0, 0
#define NUMBER(given, least, most) RDMAEZ_VALUE_NUMBER, (uint64_t)(int64_t)(given), least, most
#define BITS(value, mask)          RDMAEZ_VALUE_FLAGS, value, 0, mask
#define LIMIT(most)                RDMAEZ_VALUE_LIMIT, 0, 0, most

/* What every test begins with. */
static struct {
	struct fake_device *dev;
	struct ibv_context *ctx, *other; /* both of the device */
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;
	struct ibv_srq *srq;
	struct ibv_xrcd *xrcd;
	struct rdmaez_diag diag;
} t;

static void start(void)
{
	process_reset(PROCESS_CAP_OTHERS);
	t.dev = fake_reset();
	t.dev->attr.orig_attr.vendor_id = 0xffffff; /* rxe, which compares with all its limits */
	t.ctx = fake_open(t.dev);
	t.other = fake_open(t.dev);
	t.pd = ibv_alloc_pd(t.ctx);
	t.cq = NULL;
	t.cq_ex = NULL;
	t.srq = NULL;
	t.xrcd = NULL;
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

/* ---- Completion queues -------------------------------------------------------------------- */

static int create_cq(int cqe, int comp_vector)
{
	return rdmaez_cq_create(t.ctx, cqe, NULL, comp_vector, &t.cq, &t.diag);
}

#define CHECK_CQ(got, error, name, ...)                                                     \
	CHECK_VERB_FINDINGS(&t.diag, got, error, "rdmaez_cq_create", "ibv_create_cq", name, \
			    __VA_ARGS__)

static void check_cq(void)
{
	static const int unsupported[] = {EOPNOTSUPP, ENOSYS, EPROTONOSUPPORT, 524};
	struct ibv_comp_channel channel;
	int most, vectors;

	start();
	most = t.dev->attr.orig_attr.max_cqe;
	vectors = t.ctx->num_comp_vectors;
	memset(&channel, 0, sizeof(channel));
	channel.context = t.ctx;
	check_success(&t.diag, rdmaez_cq_create(t.ctx, most, &channel, vectors - 1, &t.cq, &t.diag),
		      "a completion queue is created");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one verbs call");
	tap_eq_int(t.cq->cqe, most, "with as many entries as asked for");
	tap_eq_ptr(t.cq->channel, &channel, "and the channel");
	tap_eq_ptr(t.cq->cq_context, NULL, "and no context of its own");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	tap_eq_int(rdmaez_cq_create(t.ctx, 1, NULL, 0, &t.cq, NULL), 0, "one entry will do");

	start();
	CHECK_CQ(create_cq(most + 1, vectors), EINVAL, "too many, on a vector too high",
		 WRONG(CAP_LIMIT, "cqe", NUMBER(most + 1, 1, (uint64_t)most)),
		 WRONG(RANGE, "comp_vector", NUMBER(vectors, 0, (uint64_t)vectors - 1)));
	tap_eq_ptr(t.cq, NULL, "the output is not written");
	tap_eq_int(fake_count(FAKE_ANY), 2, "the explanation takes one more call");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "which asks the device");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	tap_eq_int(rdmaez_cq_create(t.ctx, 0, NULL, 0, &t.cq, NULL), EINVAL, "without a record");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "nothing is asked");
	CHECK_CQ(create_cq(0, 0), EINVAL, "none",
		 LIKELY(RANGE, "cqe", NUMBER(0, 1, (uint64_t)most)));
	CHECK_CQ(create_cq(-1, 0), EINVAL, "less than none",
		 WRONG(RANGE, "cqe", NUMBER(-1, 1, (uint64_t)most)));
	CHECK_CQ(create_cq(1, -1), EINVAL, "a vector below all",
		 WRONG(RANGE, "comp_vector", NUMBER(-1, 0, (uint64_t)vectors - 1)));
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_CQ(create_cq(0, 0), EINVAL, "none, of a device that does not answer",
		 LIKELY(RANGE, "cqe", NUMBER(0, 1, INT32_MAX)));
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_CQ(create_cq(INT32_MAX, 0), EINVAL, "too many, of such a device",
		 LIKELY(UNEXPLAINED, "ibv_create_cq", NOTHING));

	fake_fail(FAKE_CREATE_CQ, 0, ENOMEM);
	process.memlock = 1 << 20;
	process.space = 1 << 30;
	CHECK_CQ(create_cq(1, 0), ENOMEM, "no memory", LIKELY(MEMLOCK, "cqe", LIMIT(1 << 20)),
		 LIKELY(ADDRESS_SPACE, "cqe", LIMIT(1 << 30)),
		 LIKELY(NO_RESOURCES, "max_cq", LIMIT((uint64_t)t.dev->attr.orig_attr.max_cq)));
	CHECK_CQ(create_cq(most + 1, vectors), ENOMEM, "too many, and perhaps no memory",
		 LIKELY(CAP_LIMIT, "cqe", NUMBER(most + 1, 1, (uint64_t)most)),
		 LIKELY(RANGE, "comp_vector", NUMBER(vectors, 0, (uint64_t)vectors - 1)),
		 LIKELY(MEMLOCK, "cqe", LIMIT(1 << 20)),
		 LIKELY(ADDRESS_SPACE, "cqe", LIMIT(1 << 30)),
		 LIKELY(NO_RESOURCES, "max_cq", LIMIT((uint64_t)t.dev->attr.orig_attr.max_cq)));
	fake_fail(FAKE_CREATE_CQ, 0, EBADF);
	channel.context = t.other;
	CHECK_CQ(rdmaez_cq_create(t.ctx, most + 1, &channel, vectors, &t.cq, &t.diag), EBADF,
		 "a channel of another context", LIKELY(CREATE_CONTEXT, "channel", NOTHING));
	fake_fail(FAKE_CREATE_CQ, 0, ETIMEDOUT);
	CHECK_CQ(create_cq(most + 1, vectors), ETIMEDOUT, "an errno that is not about numbers",
		 LIKELY(TIMED_OUT, "ibv_create_cq", NOTHING));

	/* What says in words of its own that something is not there; 524 is the kernel's ENOTSUPP. */
	for (size_t i = 0; i < COUNT_OF(unsupported); i++) {
		fake_fail(FAKE_CREATE_CQ, 0, unsupported[i]);
		CHECK_CQ(create_cq(1, 0), unsupported[i], rdmaez_errno_str(unsupported[i]),
			 LIKELY(NOT_SUPPORTED, "ibv_create_cq", NOTHING));
	}
}

static struct ibv_cq_ex *cq_answer;
static struct ibv_cq_init_attr_ex cq_asked;
static int cq_errno;

static struct ibv_cq_ex *answer_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *init)
{
	(void)context;
	cq_asked = *init;
	if (cq_errno)
		errno = cq_errno;
	return cq_answer;
}

static int create_cq_ex(struct ibv_cq_init_attr_ex *init, int error)
{
	verbs_get_ctx(t.ctx)->create_cq_ex = answer_cq_ex;
	cq_errno = error;
	cq_answer = error ? NULL : (struct ibv_cq_ex *)&t;
	errno = EBUSY;
	return rdmaez_cq_create_ex(t.ctx, init, &t.cq_ex, &t.diag);
}

#define CHECK_CQ_EX(got, error, name, ...)                                                        \
	CHECK_VERB_FINDINGS(&t.diag, got, error, "rdmaez_cq_create_ex", "ibv_create_cq_ex", name, \
			    __VA_ARGS__)

static void check_cq_ex(void)
{
	const uint64_t all = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	struct ibv_cq_init_attr_ex init;
	int most;

	start();
	most = t.dev->attr.orig_attr.max_cqe;
	memset(&init, 0, sizeof(init));
	init.cqe = 4;
	init.wc_flags = all;
	check_success(&t.diag, create_cq_ex(&init, 0), "an extended one");
	tap_eq_int(fake_count(FAKE_ANY), 0, "by nothing but its verb");
	tap_ok(!memcmp(&init, &cq_asked, sizeof(init)), "which gets the attributes");
	tap_eq_ptr(t.cq_ex, &t, "it is handed over");
	t.cq_ex = NULL;
	CHECK_CQ_EX(
		create_cq_ex(&init, EOPNOTSUPP), EOPNOTSUPP, "a field that not all can",
		LIKELY(NOT_SUPPORTED, "wc_flags", BITS(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, all)));
	tap_eq_ptr(t.cq_ex, NULL, "the output is not written");
	init.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	init.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
	CHECK_CQ_EX(
		create_cq_ex(&init, EOPNOTSUPP), EOPNOTSUPP, "and more of the kind",
		LIKELY(NOT_SUPPORTED, "wc_flags", BITS(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, all)),
		LIKELY(NOT_SUPPORTED, "flags",
		       BITS(IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)),
		LIKELY(NOT_SUPPORTED, "comp_mask", BITS(IBV_CQ_INIT_ATTR_MASK_PD, init.comp_mask)));
	init.comp_mask = 0; /* so that the flags are of no account */
	init.wc_flags = IBV_WC_STANDARD_FLAGS;
	CHECK_CQ_EX(create_cq_ex(&init, EOPNOTSUPP), EOPNOTSUPP, "nothing of the kind",
		    LIKELY(NOT_SUPPORTED, "ibv_create_cq_ex", NOTHING));
	init.comp_mask = 1u << 31;
	errno = EBUSY;
	verbs_get_ctx(t.ctx)->create_cq_ex = answer_cq_ex;
	cq_errno = 0;
	cq_answer = NULL;
	CHECK_CQ_EX(rdmaez_cq_create_ex(t.ctx, &init, &t.cq_ex, &t.diag), EIO,
		    "a bit that the library refuses, without setting errno",
		    LIKELY(NOT_SUPPORTED, "comp_mask", BITS(1u << 31, 1u << 31)),
		    LIKELY(DEVICE_GONE, "ibv_create_cq_ex", NOTHING));
	init.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	init.wc_flags = all;
	init.cqe = (uint32_t)most + 1;
	CHECK_CQ_EX(create_cq_ex(&init, EINVAL), EINVAL, "a number above the limit",
		    WRONG(CAP_LIMIT, "cqe", NUMBER(most + 1, 1, (uint64_t)most)));
	tap_eq_int(rdmaez_cq_create_ex(t.ctx, &init, &t.cq_ex, NULL), EINVAL, "without a record");
	verbs_get_ctx(t.ctx)->create_cq_ex = NULL;
	init.cqe = 1;
	init.comp_mask = 0;
	init.wc_flags = 0;
	CHECK_CQ_EX(rdmaez_cq_create_ex(t.ctx, &init, &t.cq_ex, &t.diag), EOPNOTSUPP,
		    "without the verb", LIKELY(NOT_SUPPORTED, "ibv_create_cq_ex", NOTHING));
}

/* Within the limits: one that no query tells, and on rxe as many queues as there can be. */
static void check_cq_hidden(void)
{
	start();
	t.dev->habits.cq_hidden = 8192;
	CHECK_CQ(create_cq(8193, 0), EINVAL, "more than rxe takes, or one queue too many",
		 LIKELY(CQ_HIDDEN, "cqe", RDMAEZ_VALUE_NUMBER, 8193, 1, 0),
		 LIKELY(NO_RESOURCES, "max_cq", LIMIT((uint64_t)t.dev->attr.orig_attr.max_cq)));
	t.dev->attr.orig_attr.max_cq = 1;
	CHECK_CQ(create_cq(8193, 0), EINVAL, "more than one queue",
		 LIKELY(CQ_HIDDEN, "cqe", RDMAEZ_VALUE_NUMBER, 8193, 1, 0),
		 LIKELY(NO_RESOURCES, "max_cq", LIMIT(1)));
	t.dev->attr.orig_attr.max_cq = 0;
	CHECK_CQ(create_cq(8193, 0), EINVAL, "of a number that is not told",
		 LIKELY(CQ_HIDDEN, "cqe", RDMAEZ_VALUE_NUMBER, 8193, 1, 0));
	fake_profile(t.dev, FAKE_PROFILE_MLX4);
	t.dev->habits.cq_hidden = 8192;
	CHECK_CQ(create_cq(8193, 0), EINVAL, "a virtual function",
		 LIKELY(CQ_HIDDEN, "cqe", RDMAEZ_VALUE_NUMBER, 8193, 1, 0));
	check_success(&t.diag, create_cq(8192, 0), "which takes one less");
	CHECK_CQ(create_cq(0, 0), EINVAL, "none",
		 LIKELY(RANGE, "cqe", NUMBER(0, 1, (uint64_t)t.dev->attr.orig_attr.max_cqe)));
	fake_fail(FAKE_CREATE_CQ, 0, EIO);
	CHECK_CQ(create_cq(1, 0), EIO, "another errno says more",
		 LIKELY(PROVIDER_FAULT, "ibv_create_cq", NOTHING),
		 LIKELY(DEVICE_GONE, "ibv_create_cq", NOTHING));
	tap_eq_str(t.diag.driver, "mlx4_ib", "the record names the driver");
}

#define CHECK_RESIZE(cqe, error, name, ...)                                       \
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_cq_resize(t.cq, cqe, &t.diag), error, \
			    "rdmaez_cq_resize", "ibv_resize_cq", name, __VA_ARGS__)

static void check_cq_resize(void)
{
	const struct ibv_wc wc = {.wr_id = 7};
	uint64_t most;

	start();
	most = (uint64_t)t.dev->attr.orig_attr.max_cqe;
	t.cq = ibv_create_cq(t.ctx, 4, NULL, NULL, 0);
	fake_reset_log();
	check_success(&t.diag, rdmaez_cq_resize(t.cq, 8, &t.diag), "a queue grows");
	tap_eq_int(t.cq->cqe, 8, "to what was asked for");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one verbs call");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	check_refusal(&t.diag, rdmaez_cq_resize(NULL, 8, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "cq", "no queue");
	CHECK_RESIZE((int)most + 1, EINVAL, "beyond the limit",
		     WRONG(CAP_LIMIT, "cqe", NUMBER(most + 1, 1, most)));
	CHECK_RESIZE(0, EINVAL, "to nothing", LIKELY(RANGE, "cqe", NUMBER(0, 1, most)));
	CHECK_RESIZE(-1, EINVAL, "below nothing", WRONG(RANGE, "cqe", NUMBER(-1, 1, most)));
	for (int i = 0; i < 3; i++)
		fake_cq_push(t.cq, &wc);
	CHECK_RESIZE(2, EINVAL, "below what it holds",
		     LIKELY(CQ_WAITING, "cqe", RDMAEZ_VALUE_NUMBER, 2, 1, 0));
	tap_eq_int(fake_count(FAKE_POLL_CQ), 0, "nothing is polled to find out");
	check_success(&t.diag, rdmaez_cq_resize(t.cq, 3, &t.diag), "just what it holds");
	tap_eq_int(rdmaez_cq_resize(t.cq, 2, NULL), EINVAL, "without a record");

	fake_fail(FAKE_RESIZE_CQ, 1, EINVAL);
	CHECK_RESIZE(3, EINVAL, "to the size that it has",
		     LIKELY(CQ_HIDDEN, "cqe", RDMAEZ_VALUE_NUMBER, 3, 1, 0));
	t.dev->habits.cq_hidden = 100;
	CHECK_RESIZE(101, EINVAL, "beyond a limit that no query tells",
		     LIKELY(CQ_HIDDEN, "cqe", RDMAEZ_VALUE_NUMBER, 101, 1, 0));
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_RESIZE(101, EINVAL, "of a device that does not answer",
		     LIKELY(UNEXPLAINED, "ibv_resize_cq", NOTHING));
	process.memlock = 1 << 20;
	fake_fail(FAKE_RESIZE_CQ, 0, ENOMEM);
	CHECK_RESIZE(5, ENOMEM, "no memory", LIKELY(MEMLOCK, "cqe", LIMIT(1 << 20)),
		     LIKELY(NO_RESOURCES, "ibv_resize_cq", NOTHING));
	fake_fail(FAKE_RESIZE_CQ, 0, -EBUSY);
	CHECK_RESIZE(2, EBUSY, "a resize that goes on, of a provider that returns it negative",
		     LIKELY(BUSY, "ibv_resize_cq", NOTHING));
	fake_fail(FAKE_RESIZE_CQ, 0, ENOSYS);
	CHECK_RESIZE(5, ENOSYS, "without the firmware", WRONG(CQ_FIXED, "cq", NOTHING));
	fake_fail(FAKE_RESIZE_CQ, 0, 0);
	fake_profile(t.dev, FAKE_PROFILE_SIW);
	CHECK_RESIZE((int)most + 1, EOPNOTSUPP, "on a driver that cannot",
		     WRONG(CQ_FIXED, "cq", NOTHING));
	tap_eq_int(fake_last(FAKE_ANY)->verb, FAKE_RESIZE_CQ, "the device is not asked then");
}

/* ---- SRQs --------------------------------------------------------------------------------- */

static struct ibv_srq_init_attr_ex srq_attr(uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr_ex init;

	memset(&init, 0, sizeof(init));
	init.attr.max_wr = max_wr;
	init.attr.max_sge = max_sge;
	return init;
}

static int create_srq(uint32_t max_wr, uint32_t max_sge, uint32_t srq_limit)
{
	struct ibv_srq_init_attr init;

	memset(&init, 0, sizeof(init));
	init.attr.max_wr = max_wr;
	init.attr.max_sge = max_sge;
	init.attr.srq_limit = srq_limit;
	return rdmaez_srq_create(t.pd, &init, &t.srq, &t.diag);
}

#define CHECK_SRQ(got, error, name, ...)                                                      \
	CHECK_VERB_FINDINGS(&t.diag, got, error, "rdmaez_srq_create", "ibv_create_srq", name, \
			    __VA_ARGS__)

static void check_srq(void)
{
	const struct ibv_device_attr *device;
	uint32_t wr, sge;

	start();
	device = &t.dev->attr.orig_attr;
	wr = (uint32_t)device->max_srq_wr;
	sge = (uint32_t)device->max_srq_sge;
	check_success(&t.diag, create_srq(wr, sge, wr), "an SRQ is created");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one verbs call");
	tap_ok(t.srq && t.srq->pd == t.pd, "and handed over");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");

	start();
	CHECK_SRQ(create_srq(wr + 1, sge + 2, wr + 1), EINVAL, "too much of both",
		  WRONG(CAP_LIMIT, "attr.max_wr", NUMBER(wr + 1, 1, wr)),
		  WRONG(CAP_LIMIT, "attr.max_sge", NUMBER(sge + 2, 0, sge)));
	tap_eq_ptr(t.srq, NULL, "the output is not written");
	tap_eq_int(fake_count(FAKE_ANY), 2, "the explanation takes one more call");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "which asks the device");
	CHECK_SRQ(create_srq(0, 0, 0), EINVAL, "none",
		  LIKELY(RANGE, "attr.max_wr", NUMBER(0, 1, wr)));
	t.dev->attr.orig_attr.max_srq_sge = 1;
	CHECK_SRQ(create_srq(1, 2, 0), EINVAL, "a limit of one",
		  WRONG(CAP_LIMIT, "attr.max_sge", NUMBER(2, 0, 1)));
	t.dev->attr.orig_attr.max_srq_sge = (int)sge;
	t.dev->attr.orig_attr.max_srq_wr = 1;
	CHECK_SRQ(create_srq(0, 1, 0), EINVAL, "none, where there can be one",
		  LIKELY(RANGE, "attr.max_wr", NUMBER(0, 1, 1)));
	t.dev->attr.orig_attr.max_srq_wr = (int)wr;
	fake_fail(FAKE_CREATE_SRQ, 1, EINVAL);
	CHECK_SRQ(create_srq(8, 1, 9), EINVAL, "a limit above the size, as siw sees it",
		  LIKELY(RANGE, "attr.srq_limit", NUMBER(9, 0, 8)));
	fake_fail(FAKE_CREATE_SRQ, 1, EINVAL);
	CHECK_SRQ(create_srq(wr, sge, wr), EINVAL, "just what the device has",
		  LIKELY(CAP_TOGETHER, "attr", NOTHING),
		  LIKELY(NO_RESOURCES, "max_srq", LIMIT((uint64_t)t.dev->attr.orig_attr.max_srq)));
	fake_fail(FAKE_CREATE_SRQ, 1, ENOMEM);
	process.memlock = 1 << 20;
	CHECK_SRQ(create_srq(1, 1, 2), ENOMEM, "no memory", LIKELY(CAP_TOGETHER, "attr", NOTHING),
		  LIKELY(MEMLOCK, "attr", LIMIT(1 << 20)),
		  LIKELY(NO_RESOURCES, "max_srq", LIMIT((uint64_t)device->max_srq)));
	t.dev->attr.orig_attr.max_srq = 0;
	CHECK_SRQ(create_srq(1, 1, 0), EOPNOTSUPP, "a device without SRQs",
		  LIKELY(NOT_SUPPORTED, "ibv_create_srq", NOTHING));
}

/* What drivers make of an SRQ of just the size that they report: none of it is a certain mistake. */
static void check_srq_drivers(void)
{
	static const struct {
		enum fake_profile profile;
		int error;
	} drivers[] = {{FAKE_PROFILE_RXE, 0},          {FAKE_PROFILE_MLX5, 0},
		       {FAKE_PROFILE_MLX4, 0},         {FAKE_PROFILE_SIW, 0},
		       {FAKE_PROFILE_BNXT_RE, EINVAL}, {FAKE_PROFILE_EFA, EOPNOTSUPP}};
	const struct ibv_device_attr *device;

	for (size_t i = 0; i < COUNT_OF(drivers); i++) {
		start();
		fake_profile(t.dev, drivers[i].profile);
		device = &t.dev->attr.orig_attr;
		tap_eq_int(create_srq((uint32_t)device->max_srq_wr, 1, 0), drivers[i].error,
			   "driver %d takes an SRQ of %d", (int)drivers[i].profile,
			   device->max_srq_wr);
		if (drivers[i].error == EINVAL)
			CHECK_SRQ(create_srq((uint32_t)device->max_srq_wr, 1, 0), EINVAL,
				  "or needs one for itself", LIKELY(CAP_TOGETHER, "attr", NOTHING));
		else if (drivers[i].error)
			CHECK_SRQ(create_srq(1, 1, 0), EOPNOTSUPP, "or has none",
				  LIKELY(NOT_SUPPORTED, "ibv_create_srq", NOTHING));
	}
}

/* Which numbers above a limit each driver is known to refuse: cqe, max_srq_wr, max_srq_sge. */
static void check_certain(void)
{
	static const struct {
		const char *name;
		uint32_t vendor_id, part_id;
		bool cqe, wr, sge;
	} drivers[] = {
		{"rxe", 0xffffff, 0, true, true, true},
		{"siw", 0x626d74, 0, true, true, true},
		{"mlx4", 0x2c9, 0x1003, true, true, true},
		{"mthca", 0x2c9, 0x6274, true, true, true},
		{"hns", 0x19e5, 0xa222, true, true, true},
		{"pvrdma", 0x15ad, 0x820, true, true, true},
		{"hfi1", 0x1175, 0x24f0, true, true, true},
		{"mlx5", 0x2c9, 0x1017, true, true, false},
		{"bnxt_re", 0x14e4, 0x1750, true, true, false},
		{"irdma", 0x8086, 0x1592, false, false, true},
		{"qedr", 0x1077, 0x1656, false, true, false},
		{"ocrdma", 0x10df, 0x720, true, true, false},
		{"cxgb4", 0x1425, 0x5401, true, true, true},
		{"efa", 0x1d0f, 0xefa0, true, false, false},
		{"erdma", 0x1ded, 0x107f, false, false, false},
		{"ionic", 0x1dd8, 0x1003, true, false, false},
		{"mana", 0x1414, 3, false, false, false},
		{"mana before Linux 7", 0, 0, false, false, false},
		{"usnic", 0x1137, 0x43, false, false, false},
	};
	const uint64_t cqe = 65536, wr = 16384, sge = 30;

	for (size_t i = 0; i < COUNT_OF(drivers); i++) {
		start();
		t.dev->attr.orig_attr.vendor_id = drivers[i].vendor_id;
		t.dev->attr.orig_attr.vendor_part_id = drivers[i].part_id;
		fake_fail(FAKE_CREATE_CQ, 0, EINVAL);
		fake_fail(FAKE_CREATE_SRQ, 0, EINVAL);
		CHECK_CQ(create_cq((int)cqe + 1, 0), EINVAL, drivers[i].name,
			 {drivers[i].cqe ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY,
			  RDMAEZ_WHY_CAP_LIMIT, "cqe", NUMBER(cqe + 1, 1, cqe)});
		CHECK_SRQ(create_srq((uint32_t)wr + 1, 1, 0), EINVAL, drivers[i].name,
			  {drivers[i].wr ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY,
			   RDMAEZ_WHY_CAP_LIMIT, "attr.max_wr", NUMBER(wr + 1, 1, wr)});
		CHECK_SRQ(create_srq(1, (uint32_t)sge + 1, 0), EINVAL, drivers[i].name,
			  {drivers[i].sge ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY,
			   RDMAEZ_WHY_CAP_LIMIT, "attr.max_sge", NUMBER(sge + 1, 0, sge)});
	}

	/* It reports max_qp_wr as max_cqe: mana_ib_query_device(). */
	start();
	fake_profile(t.dev, FAKE_PROFILE_MANA);
	t.dev->attr.orig_attr.max_cqe = 16384;
	fake_fail(FAKE_CREATE_CQ, 0, ENOMEM);
	process.memlock = 1 << 20;
	process.space = 1 << 30;
	CHECK_CQ(create_cq(20000, 0), ENOMEM, "what mana takes is no reason to say no more",
		 LIKELY(CAP_LIMIT, "cqe", NUMBER(20000, 1, 16384)),
		 LIKELY(MEMLOCK, "cqe", LIMIT(1 << 20)),
		 LIKELY(ADDRESS_SPACE, "cqe", LIMIT(1 << 30)),
		 LIKELY(NO_RESOURCES, "max_cq", LIMIT(1024)));
}

static int create_srq_ex(struct ibv_srq_init_attr_ex *init)
{
	return rdmaez_srq_create_ex(t.ctx, init, &t.srq, &t.diag);
}

#define CHECK_SRQ_EX(got, error, name, ...)                                                   \
	CHECK_VERB_FINDINGS(&t.diag, got, error, "rdmaez_srq_create_ex", "ibv_create_srq_ex", \
			    name, __VA_ARGS__)

/* All that XRC needs, in this context. */
static struct ibv_srq_init_attr_ex xrc_attr(struct ibv_context *ctx)
{
	struct ibv_srq_init_attr_ex init = srq_attr(4, 1);
	struct ibv_xrcd_init_attr xrcd;

	memset(&xrcd, 0, sizeof(xrcd));
	xrcd.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	xrcd.fd = -1;
	init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
			 IBV_SRQ_INIT_ATTR_CQ;
	init.srq_type = IBV_SRQT_XRC;
	init.pd = ibv_alloc_pd(ctx);
	init.cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	init.xrcd = ibv_open_xrcd(ctx, &xrcd);
	if (!init.pd || !init.cq || !init.xrcd)
		tap_bail("no parts of an XRC SRQ");
	fake_reset_log();
	return init;
}

/* Refused though nothing is wrong with it: what is found then. */
static struct ibv_srq_init_attr_ex failing_xrc(int error)
{
	struct ibv_srq_init_attr_ex init;

	start();
	init = xrc_attr(t.ctx);
	fake_fail(FAKE_CREATE_SRQ, 0, error);
	return init;
}

static void check_xrc(void)
{
	const uint32_t xrc = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	struct ibv_srq_init_attr_ex init;
	struct ibv_cq *cq;

	start();
	init = xrc_attr(t.ctx);
	check_success(&t.diag, create_srq_ex(&init), "an SRQ for XRC");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one verbs call");
	tap_ok(t.srq && t.srq->pd == init.pd, "and handed over");
	t.srq = NULL;
	init.comp_mask &= ~xrc;
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "without the bits of its parts",
		     WRONG(SRQ_PARTS, "comp_mask", BITS(xrc, init.comp_mask)));
	tap_eq_ptr(t.srq, NULL, "the output is not written");
	init.comp_mask = xrc | IBV_SRQ_INIT_ATTR_TYPE;
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "without that of its protection domain",
		     WRONG(SRQ_PARTS, "comp_mask", BITS(IBV_SRQ_INIT_ATTR_PD, init.comp_mask)));
	init.comp_mask = xrc; /* without its bit the type is of no account */
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "without all but those",
		     LIKELY(SRQ_PARTS, "comp_mask", BITS(IBV_SRQ_INIT_ATTR_PD, init.comp_mask)));
	init.attr.max_sge = (uint32_t)t.dev->attr.orig_attr.max_srq_sge + 1;
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "and too large",
		     WRONG(CAP_LIMIT, "attr.max_sge",
			   NUMBER(init.attr.max_sge, 0, init.attr.max_sge - 1)),
		     LIKELY(SRQ_PARTS, "comp_mask", BITS(IBV_SRQ_INIT_ATTR_PD, init.comp_mask)));
	init.attr.max_wr = 0;
	init.attr.max_sge = 1;
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "and too small",
		     LIKELY(RANGE, "attr.max_wr",
			    NUMBER(0, 1, (uint64_t)t.dev->attr.orig_attr.max_srq_wr)),
		     LIKELY(SRQ_PARTS, "comp_mask", BITS(IBV_SRQ_INIT_ATTR_PD, init.comp_mask)));
	init.attr.max_wr = 4;
	tap_eq_int(rdmaez_srq_create_ex(t.ctx, &init, &t.srq, NULL), EINVAL, "without a record");
	init.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	fake_fail(FAKE_CREATE_SRQ, 1, EINVAL);
	CHECK_SRQ_EX(
		create_srq_ex(&init), EINVAL, "nor does it then need its parts",
		LIKELY(CAP_TOGETHER, "attr", NOTHING),
		LIKELY(NO_RESOURCES, "max_srq", LIMIT((uint64_t)t.dev->attr.orig_attr.max_srq)));

	init = failing_xrc(EOPNOTSUPP);
	CHECK_SRQ_EX(create_srq_ex(&init), EOPNOTSUPP, "where the device says that it has XRC",
		     LIKELY(NOT_SUPPORTED, "ibv_create_srq_ex", NOTHING));
	t.dev->attr.orig_attr.device_cap_flags &= ~(unsigned int)IBV_DEVICE_XRC;
	CHECK_SRQ_EX(create_srq_ex(&init), EOPNOTSUPP, "where it says that it has none",
		     WRONG(NO_XRC, "srq_type", NOTHING));
	fake_fail(FAKE_CREATE_SRQ, 0, ETIMEDOUT);
	CHECK_SRQ_EX(create_srq_ex(&init), ETIMEDOUT, "which another errno does not say",
		     LIKELY(TIMED_OUT, "ibv_create_srq_ex", NOTHING));
	fake_fail(FAKE_CREATE_SRQ, 0, EOPNOTSUPP);
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_SRQ_EX(create_srq_ex(&init), EOPNOTSUPP, "where it says nothing",
		     LIKELY(NOT_SUPPORTED, "ibv_create_srq_ex", NOTHING));

	init = failing_xrc(EINVAL);
	t.dev->attr.orig_attr.device_cap_flags &= ~(unsigned int)IBV_DEVICE_XRC;
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "where it says so with this errno",
		     WRONG(NO_XRC, "srq_type", NOTHING));
	fake_fail(FAKE_CREATE_SRQ, 0, ENOSYS);
	CHECK_SRQ_EX(create_srq_ex(&init), ENOSYS, "or with this",
		     WRONG(NO_XRC, "srq_type", NOTHING));

	init = failing_xrc(ENOENT);
	cq = init.cq;
	init = xrc_attr(t.other);
	fake_fail(FAKE_CREATE_SRQ, 0, ENOENT);
	CHECK_SRQ_EX(create_srq_ex(&init), ENOENT, "all of another context",
		     LIKELY(CREATE_CONTEXT, "pd", NOTHING), LIKELY(CREATE_CONTEXT, "xrcd", NOTHING),
		     LIKELY(CREATE_CONTEXT, "cq", NOTHING));
	init.comp_mask &= ~(uint32_t)IBV_SRQ_INIT_ATTR_XRCD;
	init.cq = cq;
	init.pd = t.pd;
	CHECK_SRQ_EX(create_srq_ex(&init), ENOENT, "a domain without its bit is of no account",
		     LIKELY(NO_OBJECT, "ibv_create_srq_ex", NOTHING));
	fake_fail(FAKE_CREATE_SRQ, 0, EIO);
	CHECK_SRQ_EX(create_srq_ex(&init), EIO, "a provider that sets no errno",
		     WRONG(SRQ_PARTS, "comp_mask", BITS(IBV_SRQ_INIT_ATTR_XRCD, init.comp_mask)));
}

static void check_tags(void)
{
	struct ibv_tm_caps *caps;
	struct ibv_srq_init_attr_ex init;

	start();
	caps = &t.dev->attr.tm_caps;
	memset(caps, 0, sizeof(*caps));
	t.dev->attr.orig_attr.vendor_id = 0x2c9;
	t.dev->attr.orig_attr.vendor_part_id = 0x1017; /* mlx5, the only one with tag matching */
	init = xrc_attr(t.ctx);
	init.srq_type = IBV_SRQT_TM;
	init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	fake_fail(FAKE_CREATE_SRQ, 0, EINVAL);
	caps->max_num_tags = 63;
	caps->max_ops = 8;
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "tag matching without its parts",
		     WRONG(SRQ_PARTS, "comp_mask",
			   BITS(IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM, init.comp_mask)));
	init.comp_mask |= IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
	init.tm_cap.max_num_tags = 64;
	init.tm_cap.max_ops = 9;
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "too many tags and operations",
		     WRONG(CAP_LIMIT, "tm_cap.max_num_tags", NUMBER(64, 1, 63)),
		     WRONG(CAP_LIMIT, "tm_cap.max_ops", NUMBER(9, 0, 8)));
	fake_fail(FAKE_CREATE_SRQ, 0, ENOMEM);
	CHECK_SRQ_EX(
		create_srq_ex(&init), ENOMEM, "which may be for another reason",
		LIKELY(CAP_LIMIT, "tm_cap.max_num_tags", NUMBER(64, 1, 63)),
		LIKELY(CAP_LIMIT, "tm_cap.max_ops", NUMBER(9, 0, 8)),
		LIKELY(NO_RESOURCES, "max_srq", LIMIT((uint64_t)t.dev->attr.orig_attr.max_srq)));
	fake_fail(FAKE_CREATE_SRQ, 0, EINVAL);
	t.dev->attr.orig_attr.vendor_id = 0;
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "nor is it certain of an unknown driver",
		     LIKELY(CAP_LIMIT, "tm_cap.max_num_tags", NUMBER(64, 1, 63)),
		     LIKELY(CAP_LIMIT, "tm_cap.max_ops", NUMBER(9, 0, 8)));
	t.dev->attr.orig_attr.vendor_id = 0x2c9;
	init.tm_cap.max_num_tags = 63;
	init.tm_cap.max_ops = 8;
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "just as many as there are",
		     LIKELY(CAP_TOGETHER, "attr", NOTHING));
	init.tm_cap.max_num_tags = 0;
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "no tags at all",
		     WRONG(RANGE, "tm_cap.max_num_tags", NUMBER(0, 1, 63)));
	fake_fail(FAKE_CREATE_SRQ, 0, ETIMEDOUT);
	CHECK_SRQ_EX(create_srq_ex(&init), ETIMEDOUT, "an errno that is not about them",
		     LIKELY(TIMED_OUT, "ibv_create_srq_ex", NOTHING));
	init.tm_cap.max_ops = 9;
	fake_fail(FAKE_CREATE_SRQ, 0, EINVAL);
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "no tags, and too many operations",
		     WRONG(RANGE, "tm_cap.max_num_tags", NUMBER(0, 1, 63)),
		     WRONG(CAP_LIMIT, "tm_cap.max_ops", NUMBER(9, 0, 8)));
	caps->max_num_tags = 0;
	fake_fail(FAKE_CREATE_SRQ, 0, EOPNOTSUPP);
	CHECK_SRQ_EX(create_srq_ex(&init), EOPNOTSUPP, "a device without tag matching",
		     LIKELY(NOT_SUPPORTED, "srq_type", NOTHING));
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EIO);
	CHECK_SRQ_EX(create_srq_ex(&init), EOPNOTSUPP, "one that does not say",
		     LIKELY(NOT_SUPPORTED, "ibv_create_srq_ex", NOTHING));

	start();
	init = srq_attr(4, 1);
	init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	init.pd = t.pd;
	init.srq_type = (enum ibv_srq_type)3;
	fake_fail(FAKE_CREATE_SRQ, 1, EINVAL);
	CHECK_SRQ_EX(create_srq_ex(&init), EINVAL, "no type",
		     WRONG(ENUM, "srq_type", NUMBER(3, 0, 2)));
	fake_fail(FAKE_CREATE_SRQ, 1, ETIMEDOUT);
	CHECK_SRQ_EX(create_srq_ex(&init), ETIMEDOUT, "no type, and an errno that is not about it",
		     LIKELY(TIMED_OUT, "ibv_create_srq_ex", NOTHING));
	init = srq_attr((uint32_t)t.dev->attr.orig_attr.max_srq_wr + 1, 1);
	init.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	init.pd = t.pd;
	CHECK_SRQ_EX(
		create_srq_ex(&init), EINVAL, "a basic one, too large",
		WRONG(CAP_LIMIT, "attr.max_wr", NUMBER(init.attr.max_wr, 1, init.attr.max_wr - 1)));
}

/* ---- XRC domains -------------------------------------------------------------------------- */

static int open_xrcd(uint32_t comp_mask, int fd, int oflags)
{
	struct ibv_xrcd_init_attr init;

	memset(&init, 0, sizeof(init));
	init.comp_mask = comp_mask;
	init.fd = fd;
	init.oflags = oflags;
	return rdmaez_xrcd_open(t.ctx, &init, &t.xrcd, &t.diag);
}

#define CHECK_XRCD(got, error, name, ...)                                                   \
	CHECK_VERB_FINDINGS(&t.diag, got, error, "rdmaez_xrcd_open", "ibv_open_xrcd", name, \
			    __VA_ARGS__)

static void check_xrcd(void)
{
	const uint32_t both = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;

	start();
	check_success(&t.diag, open_xrcd(both, -1, 0), "a domain of one's own");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one verbs call");
	tap_ok(t.xrcd && t.xrcd->context == t.ctx, "and handed over");
	t.xrcd = NULL;
	CHECK_XRCD(open_xrcd(IBV_XRCD_INIT_ATTR_FD, -1, 0), EINVAL, "without the flags",
		   WRONG(XRCD_PARTS, "comp_mask",
			 BITS(IBV_XRCD_INIT_ATTR_OFLAGS, IBV_XRCD_INIT_ATTR_FD)));
	tap_eq_ptr(t.xrcd, NULL, "the output is not written");
	CHECK_XRCD(open_xrcd(IBV_XRCD_INIT_ATTR_OFLAGS, 0, O_CREAT), EINVAL, "without the file",
		   WRONG(XRCD_PARTS, "comp_mask",
			 BITS(IBV_XRCD_INIT_ATTR_FD, IBV_XRCD_INIT_ATTR_OFLAGS)));
	CHECK_XRCD(open_xrcd(both, 1000, O_CREAT), EBADF, "no file at all",
		   WRONG(XRCD_FILE, "fd", NUMBER(1000, 1, 0)));
	CHECK_XRCD(open_xrcd(both, -2, O_CREAT), EBADF, "nor this",
		   WRONG(XRCD_FILE, "fd", NUMBER(-2, 1, 0)));
	CHECK_XRCD(open_xrcd(both, 0, 0), EAGAIN, "nobody has opened it yet",
		   LIKELY(XRCD_NONE, "oflags", NOTHING), LIKELY(CGROUP, "ibv_open_xrcd", NOTHING),
		   LIKELY(BUSY, "ibv_open_xrcd", NOTHING));
	fake_fail(FAKE_OPEN_XRCD, 1, EAGAIN);
	CHECK_XRCD(open_xrcd(both, 0, O_CREAT), EAGAIN, "the same errno for another reason",
		   LIKELY(CGROUP, "ibv_open_xrcd", NOTHING),
		   LIKELY(BUSY, "ibv_open_xrcd", NOTHING));
	check_success(&t.diag, open_xrcd(both, 0, O_CREAT), "now somebody has");
	check_success(&t.diag, open_xrcd(both, 0, 0), "and it can be shared");
	CHECK_XRCD(open_xrcd(both, 0, O_CREAT | O_EXCL), EINVAL, "but not made again",
		   LIKELY(XRCD_EXISTS, "oflags", NOTHING));
	fake_fail(FAKE_OPEN_XRCD, 0, EINVAL);
	CHECK_XRCD(open_xrcd(both, 0, O_CREAT), EINVAL, "refused for no known reason",
		   LIKELY(UNEXPLAINED, "ibv_open_xrcd", NOTHING));
	CHECK_XRCD(open_xrcd(both, -1, O_EXCL), EINVAL, "without a file nothing can exist",
		   LIKELY(UNEXPLAINED, "ibv_open_xrcd", NOTHING));
	fake_fail(FAKE_OPEN_XRCD, 0, 0);
	t.dev->attr.orig_attr.device_cap_flags &= ~(unsigned int)IBV_DEVICE_XRC;
	CHECK_XRCD(open_xrcd(both, -1, 0), EOPNOTSUPP, "a device without XRC",
		   WRONG(NO_XRC, "device_cap_flags", NOTHING));
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_XRCD(open_xrcd(both, -1, 0), EOPNOTSUPP, "if it does not say so",
		   LIKELY(NOT_SUPPORTED, "ibv_open_xrcd", NOTHING));
	fake_fail(FAKE_OPEN_XRCD, 1, ENOSYS);
	CHECK_XRCD(open_xrcd(both, -1, 0), ENOSYS, "the same with another errno",
		   WRONG(NO_XRC, "device_cap_flags", NOTHING));
	fake_fail(FAKE_OPEN_XRCD, 1, ENOMEM);
	process.space = 1 << 30;
	CHECK_XRCD(open_xrcd(both, -1, 0), ENOMEM, "no memory",
		   LIKELY(ADDRESS_SPACE, "ibv_open_xrcd", LIMIT(1 << 30)),
		   LIKELY(NO_RESOURCES, "ibv_open_xrcd", NOTHING));
}

/* ---- The end ------------------------------------------------------------------------------ */

#define CHECK_END(got, error, call, verb, ...) \
	CHECK_VERB_FINDINGS(&t.diag, got, error, call, verb, verb, __VA_ARGS__)

/* What is built of the four, and taken down in the wrong order, then in the right one. */
static void check_order(void)
{
	struct ibv_qp_init_attr qp_attr;
	struct ibv_srq_init_attr_ex init;
	struct ibv_srq *basic;
	struct ibv_qp *qp;
	struct ibv_mr *mr;

	start();
	init = xrc_attr(t.ctx);
	tap_eq_int(create_srq_ex(&init), 0, "an SRQ for XRC");
	basic = fake_srq(t.ctx, IBV_SRQT_BASIC);
	memset(&qp_attr, 0, sizeof(qp_attr));
	qp_attr.qp_type = IBV_QPT_RC;
	qp_attr.send_cq = qp_attr.recv_cq = init.cq;
	qp_attr.srq = basic;
	qp = ibv_create_qp(basic->pd, &qp_attr);
	mr = ibv_reg_mr(init.pd, &t, 1, 0);
	if (!qp || !mr)
		tap_bail("no queue pair, or no region");
	fake_reset_log();

	CHECK_END(rdmaez_srq_destroy(basic, &t.diag), EBUSY, "rdmaez_srq_destroy",
		  "ibv_destroy_srq", LIKELY(SRQ_IN_USE, "srq", NOTHING));
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	CHECK_END(rdmaez_cq_destroy(init.cq, &t.diag), EBUSY, "rdmaez_cq_destroy", "ibv_destroy_cq",
		  LIKELY(CQ_IN_USE, "cq", NOTHING));
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	CHECK_END(rdmaez_pd_dealloc(init.pd, &t.diag), EBUSY, "rdmaez_pd_dealloc", "ibv_dealloc_pd",
		  LIKELY(PD_IN_USE, "pd", NOTHING));
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	CHECK_END(rdmaez_xrcd_close(init.xrcd, &t.diag), EBUSY, "rdmaez_xrcd_close",
		  "ibv_close_xrcd", LIKELY(XRCD_IN_USE, "xrcd", NOTHING));
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	tap_eq_int(fake_count(FAKE_ANY), 4, "by one verbs call each");

	ibv_destroy_qp(qp);
	CHECK_END(rdmaez_cq_destroy(init.cq, &t.diag), EBUSY, "rdmaez_cq_destroy", "ibv_destroy_cq",
		  LIKELY(CQ_IN_USE, "cq", NOTHING));
	check_success(&t.diag, rdmaez_srq_destroy(t.srq, &t.diag), "the SRQ for XRC goes");
	check_success(&t.diag, rdmaez_srq_destroy(basic, &t.diag), "the other one goes");
	check_success(&t.diag, rdmaez_cq_destroy(init.cq, &t.diag), "so does its queue");
	check_success(&t.diag, rdmaez_xrcd_close(init.xrcd, &t.diag), "and its XRC domain");
	CHECK_END(rdmaez_pd_dealloc(init.pd, &t.diag), EBUSY, "rdmaez_pd_dealloc", "ibv_dealloc_pd",
		  LIKELY(PD_IN_USE, "pd", NOTHING));
	check_success(&t.diag, rdmaez_mr_dereg(mr, &t.diag), "the region goes");
	check_success(&t.diag, rdmaez_pd_dealloc(init.pd, &t.diag), "and its protection domain");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
}

/* Other errnos, and no record. */
static void check_ends(void)
{
	struct ibv_srq_init_attr_ex init;
	void *compatible;

	start();
	init = xrc_attr(t.ctx);
	t.srq = fake_srq(t.ctx, IBV_SRQT_BASIC);
	fake_fail(FAKE_ANY, 0, EIO);
	CHECK_END(rdmaez_srq_destroy(t.srq, &t.diag), EIO, "rdmaez_srq_destroy", "ibv_destroy_srq",
		  LIKELY(DEVICE_GONE, "ibv_destroy_srq", NOTHING));
	CHECK_END(rdmaez_cq_destroy(init.cq, &t.diag), EIO, "rdmaez_cq_destroy", "ibv_destroy_cq",
		  LIKELY(DEVICE_GONE, "ibv_destroy_cq", NOTHING));
	CHECK_END(rdmaez_pd_dealloc(init.pd, &t.diag), EIO, "rdmaez_pd_dealloc", "ibv_dealloc_pd",
		  LIKELY(DEVICE_GONE, "ibv_dealloc_pd", NOTHING));
	CHECK_END(rdmaez_xrcd_close(init.xrcd, &t.diag), EIO, "rdmaez_xrcd_close", "ibv_close_xrcd",
		  LIKELY(DEVICE_GONE, "ibv_close_xrcd", NOTHING));
	fake_fail(FAKE_ANY, 0, EBUSY);
	tap_eq_int(rdmaez_srq_destroy(t.srq, NULL), EBUSY, "an SRQ without a record");
	tap_eq_int(rdmaez_cq_destroy(init.cq, NULL), EBUSY, "a completion queue");
	tap_eq_int(rdmaez_pd_dealloc(init.pd, NULL), EBUSY, "a protection domain");
	tap_eq_int(rdmaez_xrcd_close(init.xrcd, NULL), EBUSY, "an XRC domain");
	compatible = t.ctx->abi_compat;
	t.ctx->abi_compat = NULL;
	tap_eq_int(rdmaez_xrcd_close(init.xrcd, NULL), EOPNOTSUPP, "in a context without the verb");
	t.ctx->abi_compat = compatible;
	fake_fail(FAKE_ANY, 0, 0);
	tap_eq_int(rdmaez_srq_destroy(t.srq, NULL), 0, "they all go in the end");
	tap_eq_int(rdmaez_cq_destroy(init.cq, NULL), 0, "without a record");
	tap_eq_int(rdmaez_pd_dealloc(init.pd, NULL), 0, "as well");
	tap_eq_int(rdmaez_xrcd_close(init.xrcd, NULL), 0, "as with one");
}

#define CHECK_NULL(call, name, argument)                                                          \
	do {                                                                                      \
		check_refusal(&t.diag, call, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, argument, "no %s", \
			      argument);                                                          \
		check_call_and_verb(&t.diag, name, NULL);                                         \
	} while (0)

static void check_null(void)
{
	struct ibv_cq_init_attr_ex cq_init;
	struct ibv_srq_init_attr_ex ex;
	struct ibv_srq_init_attr init;
	struct ibv_xrcd_init_attr xrcd;

	start();
	ex = xrc_attr(t.ctx);
	memset(&init, 0, sizeof(init));
	memset(&xrcd, 0, sizeof(xrcd));
	memset(&cq_init, 0, sizeof(cq_init));
	CHECK_NULL(rdmaez_cq_create(NULL, 1, NULL, 0, &t.cq, &t.diag), "rdmaez_cq_create",
		   "context");
	CHECK_NULL(rdmaez_cq_create(t.ctx, 1, NULL, 0, NULL, &t.diag), "rdmaez_cq_create", "cq");
	CHECK_NULL(rdmaez_cq_create_ex(NULL, &cq_init, &t.cq_ex, &t.diag), "rdmaez_cq_create_ex",
		   "context");
	CHECK_NULL(rdmaez_cq_create_ex(t.ctx, NULL, &t.cq_ex, &t.diag), "rdmaez_cq_create_ex",
		   "init_attr");
	CHECK_NULL(rdmaez_cq_create_ex(t.ctx, &cq_init, NULL, &t.diag), "rdmaez_cq_create_ex",
		   "cq");
	CHECK_NULL(rdmaez_srq_create(NULL, &init, &t.srq, &t.diag), "rdmaez_srq_create", "pd");
	CHECK_NULL(rdmaez_srq_create(t.pd, NULL, &t.srq, &t.diag), "rdmaez_srq_create",
		   "init_attr");
	CHECK_NULL(rdmaez_srq_create(t.pd, &init, NULL, &t.diag), "rdmaez_srq_create", "srq");
	CHECK_NULL(rdmaez_srq_create_ex(NULL, &ex, &t.srq, &t.diag), "rdmaez_srq_create_ex",
		   "context");
	CHECK_NULL(rdmaez_srq_create_ex(t.ctx, NULL, &t.srq, &t.diag), "rdmaez_srq_create_ex",
		   "init_attr");
	CHECK_NULL(rdmaez_srq_create_ex(t.ctx, &ex, NULL, &t.diag), "rdmaez_srq_create_ex", "srq");
	ex.cq = NULL;
	CHECK_NULL(rdmaez_srq_create_ex(t.ctx, &ex, &t.srq, &t.diag), "rdmaez_srq_create_ex", "cq");
	ex.xrcd = NULL;
	CHECK_NULL(rdmaez_srq_create_ex(t.ctx, &ex, &t.srq, &t.diag), "rdmaez_srq_create_ex",
		   "xrcd");
	ex.pd = NULL;
	CHECK_NULL(rdmaez_srq_create_ex(t.ctx, &ex, &t.srq, &t.diag), "rdmaez_srq_create_ex", "pd");
	CHECK_NULL(rdmaez_xrcd_open(NULL, &xrcd, &t.xrcd, &t.diag), "rdmaez_xrcd_open", "context");
	CHECK_NULL(rdmaez_xrcd_open(t.ctx, NULL, &t.xrcd, &t.diag), "rdmaez_xrcd_open",
		   "init_attr");
	CHECK_NULL(rdmaez_xrcd_open(t.ctx, &xrcd, NULL, &t.diag), "rdmaez_xrcd_open", "xrcd");
	CHECK_NULL(rdmaez_pd_dealloc(NULL, &t.diag), "rdmaez_pd_dealloc", "pd");
	CHECK_NULL(rdmaez_cq_destroy(NULL, &t.diag), "rdmaez_cq_destroy", "cq");
	CHECK_NULL(rdmaez_srq_destroy(NULL, &t.diag), "rdmaez_srq_destroy", "srq");
	CHECK_NULL(rdmaez_xrcd_close(NULL, &t.diag), "rdmaez_xrcd_close", "xrcd");
	tap_eq_int(fake_count(FAKE_ANY), 0, "none of these has reached the library");
	ex = srq_attr(1, 1);
	ex.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	ex.pd = t.pd;
	check_success(&t.diag, rdmaez_srq_create_ex(t.ctx, &ex, &t.srq, &t.diag),
		      "what the mask does not name may be NULL");
}

/* ---- Protection domains and channels, and what SRQs become --------------------------------- */

static void check_pd(void)
{
	struct ibv_pd *pd = NULL;

	start();
	check_success(&t.diag, rdmaez_pd_alloc(t.ctx, &pd, &t.diag), "a protection domain");
	tap_ok(pd && pd->context == t.ctx, "is there");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one verbs call");
	fake_fail(FAKE_ALLOC_PD, 1, ENOSPC);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_pd_alloc(t.ctx, &pd, &t.diag), ENOSPC,
			    "rdmaez_pd_alloc", "ibv_alloc_pd", "no more",
			    LIKELY(NO_RESOURCES, "ibv_alloc_pd", NOTHING));
	check_refusal(&t.diag, rdmaez_pd_alloc(NULL, &pd, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "no device");
	check_refusal(&t.diag, rdmaez_pd_alloc(t.ctx, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "pd", "nowhere to put it");
}

static void check_channel(void)
{
	struct ibv_comp_channel *channel = NULL;

	start();
	check_success(&t.diag, rdmaez_channel_create(t.ctx, &channel, &t.diag), "a channel");
	tap_eq_int(rdmaez_cq_create(t.ctx, 4, channel, 0, &t.cq, NULL), 0, "with a queue");
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_channel_destroy(channel, &t.diag), EBUSY,
			    "rdmaez_channel_destroy", "ibv_destroy_comp_channel", "is in use",
			    WRONG(CHANNEL_IN_USE, "channel", NOTHING));
	rdmaez_cq_destroy(t.cq, NULL);
	fake_fail(FAKE_DESTROY_CHANNEL, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_channel_destroy(channel, &t.diag), EIO,
			    "rdmaez_channel_destroy", "ibv_destroy_comp_channel", "does not go",
			    LIKELY(DEVICE_GONE, "ibv_destroy_comp_channel", NOTHING));
	check_success(&t.diag, rdmaez_channel_destroy(channel, &t.diag), "it goes");
	channel = NULL;
	fake_fail(FAKE_CREATE_CHANNEL, 1, EMFILE);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_channel_create(t.ctx, &channel, &t.diag), EMFILE,
			    "rdmaez_channel_create", "ibv_create_comp_channel", "too many files",
			    LIKELY(UNEXPLAINED, "ibv_create_comp_channel", NOTHING));
	tap_eq_ptr(channel, NULL, "nothing is written");
	check_refusal(&t.diag, rdmaez_channel_create(NULL, &channel, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "no device");
	check_refusal(&t.diag, rdmaez_channel_create(t.ctx, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "channel", "nowhere to put it");
	check_refusal(&t.diag, rdmaez_channel_destroy(NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "channel", "no channel");
}

#define CHECK_SRQ_NOW(got, error, call, name, ...) \
	CHECK_VERB_FINDINGS(&t.diag, got, error, call, "ibv_modify_srq", name, __VA_ARGS__)

static void check_srq_changed(void)
{
	struct ibv_srq_attr attr = {0}, now;
	struct ibv_srq *srq;
	uint32_t most;

	start();
	srq = fake_srq(t.ctx, IBV_SRQT_BASIC); /* of 16 */
	most = (uint32_t)t.dev->attr.orig_attr.max_srq_wr;
	t.dev->attr.orig_attr.device_cap_flags |= IBV_DEVICE_SRQ_RESIZE;
	fake_reset_log();
	check_success(&t.diag, rdmaez_srq_arm(srq, 16, &t.diag), "the limit is armed");
	tap_eq_int(fake_last(FAKE_MODIFY_SRQ)->attr_mask, IBV_SRQ_LIMIT, "and nothing else");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one verbs call");
	ibv_query_srq(srq, &now);
	tap_eq_int(now.srq_limit, 16, "as asked for");
	CHECK_SRQ_NOW(rdmaez_srq_arm(srq, 17, &t.diag), EINVAL, "rdmaez_srq_arm",
		      "a limit above its size", LIKELY(RANGE, "attr.srq_limit", NUMBER(17, 0, 16)));
	attr.max_wr = 32;
	attr.srq_limit = 20;
	check_success(&t.diag,
		      rdmaez_srq_modify(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, &t.diag),
		      "both at once");
	ibv_query_srq(srq, &now);
	tap_eq_int(now.max_wr, 32, "it has the new size");
	attr.srq_limit = 33;
	CHECK_SRQ_NOW(rdmaez_srq_modify(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, &t.diag),
		      EINVAL, "rdmaez_srq_modify", "a limit above the new size",
		      LIKELY(RANGE, "attr.srq_limit", NUMBER(33, 0, 32)));
	attr.max_wr = most + 1;
	CHECK_SRQ_NOW(rdmaez_srq_modify(srq, &attr, IBV_SRQ_MAX_WR, &t.diag), EINVAL,
		      "rdmaez_srq_modify", "larger than the device has them",
		      WRONG(CAP_LIMIT, "attr.max_wr", NUMBER(most + 1, 1, most)));
	attr.max_wr = 0;
	CHECK_SRQ_NOW(rdmaez_srq_modify(srq, &attr, IBV_SRQ_MAX_WR, &t.diag), EINVAL,
		      "rdmaez_srq_modify", "of no size",
		      LIKELY(RANGE, "attr.max_wr", NUMBER(0, 1, most)));
	t.dev->attr.orig_attr.device_cap_flags &= ~(unsigned int)IBV_DEVICE_SRQ_RESIZE;
	attr.max_wr = 8;
	CHECK_SRQ_NOW(rdmaez_srq_modify(srq, &attr, IBV_SRQ_MAX_WR, &t.diag), EINVAL,
		      "rdmaez_srq_modify", "a device that cannot",
		      LIKELY(SRQ_FIXED, "attr.max_wr", NOTHING));
	fake_fail(FAKE_MODIFY_SRQ, 1, EOPNOTSUPP);
	CHECK_SRQ_NOW(rdmaez_srq_arm(srq, 1, &t.diag), EOPNOTSUPP, "rdmaez_srq_arm",
		      "a driver without the verb",
		      LIKELY(NOT_SUPPORTED, "ibv_modify_srq", NOTHING));
	fake_fail(FAKE_QUERY_SRQ, 1, EIO);
	CHECK_SRQ_NOW(rdmaez_srq_arm(srq, 99, &t.diag), EINVAL, "rdmaez_srq_arm",
		      "one that does not tell its size",
		      LIKELY(UNEXPLAINED, "ibv_modify_srq", NOTHING));
	tap_eq_int(rdmaez_srq_arm(srq, 99, NULL), EINVAL, "without a record");
	check_refusal(&t.diag, rdmaez_srq_arm(NULL, 1, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "srq", "no queue");
	check_refusal(&t.diag, rdmaez_srq_modify(srq, NULL, 0, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "attr", "no attributes");
}

int main(void)
{
	check_pd();
	check_channel();
	check_srq_changed();
	check_cq();
	check_cq_hidden();
	check_cq_resize();
	check_cq_ex();
	check_srq();
	check_srq_drivers();
	check_certain();
	check_xrc();
	check_tags();
	check_xrcd();
	check_order();
	check_ends();
	check_null();
	fake_close_all();
	return tap_done();
}
