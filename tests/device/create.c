/* SPDX-License-Identifier: MIT */
/*
 * What a real device and kernel refuse when objects and work requests are made, and when objects are
 * destroyed in the wrong order, and that rdmaez puts it down to the right cause. All that Soft-RoCE can
 * refuse is here; the rest is left to the unit tests.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, seteuid */
#include <arpa/inet.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/resource.h>

#include "findings.h"
#include "rig.h"

enum {
	NOBODY = 65534,
	DEPTH = 4,
	REGION = 1 << 20,
};

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_device_attr device;
	struct ibv_gid_entry row; /* the best of port 1 */
	char *memory;             /* REGION bytes */
	struct rdmaez_diag diag;
} t;

/* Findings of a certain and of a likely cause. */
#define WRONG(reason, field, ...)  {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define LIKELY(reason, field, ...) {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define NOTHING                    RDMAEZ_VALUE_NONE, 0, 0, 0
#define NUMBER(given, least, most) \
	RDMAEZ_VALUE_NUMBER, (uint64_t)(given), (uint64_t)(least), (uint64_t)(most)
#define CHECK(got, error, call, verb, name, ...) \
	CHECK_VERB_FINDINGS(&t.diag, got, error, call, verb, name, __VA_ARGS__)

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	t.context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (list)
		ibv_free_device_list(list);
	if (!t.context) {
		printf("1..0 # SKIP no RDMA device\n");
		exit(77);
	}
	t.pd = ibv_alloc_pd(t.context);
	t.cq = ibv_create_cq(t.context, 64, NULL, NULL, 0);
	if (!t.pd || !t.cq || ibv_query_device(t.context, &t.device) ||
	    rdmaez_port_choose_gid(t.context, 1, NULL, &t.row, NULL))
		tap_bail("the device does not work at all");
}

static void close_device(void)
{
	tap_eq_int(ibv_destroy_cq(t.cq), 0, "nothing is left on the completion queue");
	tap_eq_int(ibv_dealloc_pd(t.pd), 0, "nothing is left in the protection domain");
	ibv_close_device(t.context);
}

static struct ibv_qp_init_attr init_attr(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init;

	memset(&init, 0, sizeof(init));
	init.qp_type = type;
	init.send_cq = init.recv_cq = t.cq;
	init.cap.max_send_wr = init.cap.max_recv_wr = DEPTH;
	init.cap.max_send_sge = init.cap.max_recv_sge = 2;
	return init;
}

static int create(struct ibv_qp_init_attr *init)
{
	struct ibv_qp *qp = (struct ibv_qp *)&t;
	const int error = rdmaez_qp_create(t.pd, init, &qp, &t.diag);

	if (error)
		tap_eq_ptr(qp, &t, "the output is not written");
	else
		ibv_destroy_qp(qp);
	return error;
}

/*
 * A queue pair in this state; connected types are their own peers, and ask for ever: one that gave up on a slow
 * machine would be in ERR.
 */
static struct ibv_qp *qp_in(enum ibv_qp_type type, enum ibv_qp_state state, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = init_attr(type);
	struct rdmaez_qp_opts opts;
	struct ibv_qp *qp;
	int error;

	init.srq = srq;
	error = rdmaez_qp_create(t.pd, &init, &qp, NULL);
	if (error)
		tap_bail("no queue pair: %s", rdmaez_errno_str(error));
	memset(&opts, 0, sizeof(opts));
	opts.path.dgid = t.row.gid;
	opts.path.sgid_index = rdmaez_exactly((int)t.row.gid_index);
	opts.dest_qp_num = qp->qp_num;
	opts.timeout = RDMAEZ_ZERO;
	if (state >= IBV_QPS_INIT)
		error = rdmaez_qp_to_init(qp, &opts, NULL);
	if (!error && state >= IBV_QPS_RTR)
		error = rdmaez_qp_to_rtr(qp, &opts, NULL);
	if (!error && state >= IBV_QPS_RTS)
		error = rdmaez_qp_to_rts(qp, &opts, NULL);
	if (error)
		tap_bail("the queue pair does not come up: %s", rdmaez_errno_str(error));
	return qp;
}

/* ---- Queue pairs -------------------------------------------------------------------------- */

static void check_limits(void)
{
	const uint32_t wr = (uint32_t)t.device.max_qp_wr, sge = (uint32_t)t.device.max_sge;
	struct ibv_qp_init_attr init = init_attr(IBV_QPT_RC);

	init.cap.max_send_sge = init.cap.max_recv_sge = sge;
	tap_eq_int(create(&init), 0, "as many SGEs as the device has");
	init = init_attr(IBV_QPT_RC);
	init.cap.max_send_wr = wr + 1;
	CHECK(create(&init), EINVAL, "rdmaez_qp_create", "ibv_create_qp", "too many sends",
	      WRONG(CAP_LIMIT, "cap.max_send_wr", RDMAEZ_VALUE_NUMBER, wr + 1, 0, wr));
	init = init_attr(IBV_QPT_UC);
	init.cap.max_recv_wr = UINT32_MAX;
	CHECK(create(&init), EINVAL, "rdmaez_qp_create", "ibv_create_qp", "too many receives",
	      WRONG(CAP_LIMIT, "cap.max_recv_wr", RDMAEZ_VALUE_NUMBER, UINT32_MAX, 0, wr));
	init = init_attr(IBV_QPT_UD);
	init.cap.max_send_sge = sge + 1;
	init.cap.max_recv_sge = sge + 2;
	CHECK(create(&init), EINVAL, "rdmaez_qp_create", "ibv_create_qp", "too many SGEs",
	      WRONG(CAP_LIMIT, "cap.max_send_sge", RDMAEZ_VALUE_NUMBER, sge + 1, 0, sge),
	      WRONG(CAP_LIMIT, "cap.max_recv_sge", RDMAEZ_VALUE_NUMBER, sge + 2, 0, sge));
	tap_eq_str(t.diag.device, ibv_get_device_name(t.context->device),
		   "the record names the device");
}

static void check_srq_limits(void)
{
	struct ibv_srq_init_attr attr;
	struct ibv_qp_init_attr init = init_attr(IBV_QPT_RC);

	memset(&attr, 0, sizeof(attr));
	attr.attr.max_wr = attr.attr.max_sge = 1;
	init.srq = ibv_create_srq(t.pd, &attr);
	init.cap.max_recv_wr = UINT32_MAX;
	init.cap.max_recv_sge = UINT32_MAX;
	tap_eq_int(create(&init), 0, "with an SRQ the limits of receives do not hold");
	init.cap.max_recv_wr = UINT32_MAX;
	init.cap.max_send_sge = 1000;
	CHECK(create(&init), EINVAL, "rdmaez_qp_create", "ibv_create_qp", "those of sends do",
	      WRONG(CAP_LIMIT, "cap.max_send_sge", RDMAEZ_VALUE_NUMBER, 1000, 0,
		    (uint32_t)t.device.max_sge));
	ibv_destroy_srq(init.srq);
}

/* The limit that is found is the one that there is. */
static void check_inline_limit(enum ibv_qp_type type, uint32_t sges)
{
	struct ibv_qp_init_attr init = init_attr(type);
	uint32_t bytes = 0;

	init.cap.max_send_sge = sges;
	tap_eq_int(rdmaez_qp_max_inline(t.pd, &init, &bytes, &t.diag), 0,
		   "how much inline data %s takes with %u SGEs", rdmaez_qp_type_str(type), sges);
	tap_diag("%u bytes", bytes);
	tap_eq_count(&t.diag, 0, "the record is empty");
	tap_eq_int(t.diag.error, 0, "and tells of no error");
	init.cap.max_inline_data = bytes;
	tap_eq_int(create(&init), 0, "that much is granted");
	tap_ok(init.cap.max_inline_data >= bytes, "and nothing less");
	init.cap.max_inline_data = bytes + 1;
	CHECK(create(&init), EINVAL, "rdmaez_qp_create", "ibv_create_qp", "a byte more is not",
	      LIKELY(CAP_INLINE, "cap.max_inline_data", RDMAEZ_VALUE_BYTES, bytes + 1, 0,
		     UINT64_MAX),
	      LIKELY(CAP_TOGETHER, "cap", NOTHING),
	      LIKELY(NO_RESOURCES, "max_qp", RDMAEZ_VALUE_LIMIT, 0, 0, (uint64_t)t.device.max_qp));
}

static void check_types(void)
{
	struct ibv_qp_init_attr init = init_attr(IBV_QPT_RAW_PACKET);

	CHECK(create(&init), EOPNOTSUPP, "rdmaez_qp_create", "ibv_create_qp",
	      "RAW_PACKET, which rxe lacks",
	      LIKELY(CREATE_TYPE, "qp_type", RDMAEZ_VALUE_TYPE, IBV_QPT_RAW_PACKET, 0, 0));
	init = init_attr(IBV_QPT_XRC_SEND);
	CHECK(create(&init), EOPNOTSUPP, "rdmaez_qp_create", "ibv_create_qp",
	      "XRC_SEND, which rxe says it lacks",
	      WRONG(CREATE_TYPE, "qp_type", RDMAEZ_VALUE_TYPE, IBV_QPT_XRC_SEND, 0, 0));
	init = init_attr((enum ibv_qp_type)77);
	CHECK(create(&init), EINVAL, "rdmaez_qp_create", "ibv_create_qp", "a type that is none",
	      WRONG(CREATE_TYPE, "qp_type", RDMAEZ_VALUE_TYPE, 77, 0, 0));
}

static void check_foreign_parts(void)
{
	struct ibv_context *other = ibv_open_device(t.context->device);
	struct ibv_qp_init_attr init = init_attr(IBV_QPT_RC);
	struct ibv_pd *pds[16];
	struct ibv_cq *cq;

	/* Objects have numbers, by which the other context's must not happen to be one of ours. */
	for (int i = 0; i < 16; i++)
		pds[i] = ibv_alloc_pd(other);
	cq = ibv_create_cq(other, 4, NULL, NULL, 0);
	init.send_cq = cq;
	CHECK(create(&init), ENOENT, "rdmaez_qp_create", "ibv_create_qp",
	      "a completion queue of another context", LIKELY(CREATE_CONTEXT, "send_cq", NOTHING));
	ibv_destroy_cq(cq);
	for (int i = 0; i < 16; i++)
		ibv_dealloc_pd(pds[i]);
	ibv_close_device(other);
}

/* An operation of the extended call that the provider does not know: not the type is to blame. */
static void check_operations(void)
{
	struct ibv_qp_init_attr init = init_attr(IBV_QPT_RC);
	struct ibv_qp_init_attr_ex ex;
	struct ibv_qp *qp = (struct ibv_qp *)&t;

	memset(&ex, 0, sizeof(ex));
	ex.send_cq = ex.recv_cq = t.cq;
	ex.cap = init.cap;
	ex.qp_type = IBV_QPT_RC;
	ex.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	ex.pd = t.pd;
	ex.send_ops_flags = IBV_QP_EX_WITH_SEND | UINT64_C(1) << 40;
	CHECK(rdmaez_qp_create_ex(t.context, &ex, &qp, &t.diag), EOPNOTSUPP, "rdmaez_qp_create_ex",
	      "ibv_create_qp_ex", "an operation that nobody knows",
	      LIKELY(NOT_SUPPORTED, "send_ops_flags", RDMAEZ_VALUE_FLAGS, UINT64_C(1) << 40, 0,
		     ex.send_ops_flags));
	tap_eq_ptr(qp, &t, "the output is not written");
}

/* ---- Other objects ------------------------------------------------------------------------ */

static void check_cqs(void)
{
	const int most = t.device.max_cqe, vectors = t.context->num_comp_vectors;
	struct ibv_context *other = ibv_open_device(t.context->device);
	struct ibv_comp_channel *channel = ibv_create_comp_channel(t.context);
	struct ibv_comp_channel *foreign = ibv_create_comp_channel(other);
	struct ibv_cq_init_attr_ex ex;
	struct ibv_cq_ex *extended;
	struct ibv_cq *cq = NULL;

	tap_eq_int(rdmaez_cq_create(t.context, most, channel, vectors - 1, &cq, &t.diag), 0,
		   "a completion queue of %d entries on vector %d", most, vectors - 1);
	tap_eq_int(rdmaez_cq_destroy(cq, &t.diag), 0, "which is destroyed");
	tap_eq_int(ibv_destroy_comp_channel(channel), 0, "and was the channel's only one");
	cq = (struct ibv_cq *)&t;
	CHECK(rdmaez_cq_create(t.context, most + 1, NULL, 0, &cq, &t.diag), EINVAL,
	      "rdmaez_cq_create", "ibv_create_cq", "too many entries",
	      WRONG(CAP_LIMIT, "cqe", NUMBER(most + 1, 1, most)));
	CHECK(rdmaez_cq_create(t.context, 0, NULL, 0, &cq, &t.diag), EINVAL, "rdmaez_cq_create",
	      "ibv_create_cq", "no entries", LIKELY(RANGE, "cqe", NUMBER(0, 1, most)));
	CHECK(rdmaez_cq_create(t.context, 1, NULL, vectors, &cq, &t.diag), EINVAL,
	      "rdmaez_cq_create", "ibv_create_cq", "a vector too high",
	      WRONG(RANGE, "comp_vector", NUMBER(vectors, 0, vectors - 1)));
	CHECK(rdmaez_cq_create(t.context, 1, NULL, -1, &cq, &t.diag), EINVAL, "rdmaez_cq_create",
	      "ibv_create_cq", "a vector too low",
	      WRONG(RANGE, "comp_vector", NUMBER(-1, 0, vectors - 1)));
	CHECK(rdmaez_cq_create(t.context, 1, foreign, 0, &cq, &t.diag), EBADF, "rdmaez_cq_create",
	      "ibv_create_cq", "a channel of another context",
	      LIKELY(CREATE_CONTEXT, "channel", NOTHING));
	tap_eq_ptr(cq, &t, "the output is not written");
	ibv_destroy_comp_channel(foreign);
	ibv_close_device(other);

	memset(&ex, 0, sizeof(ex));
	ex.cqe = 1;
	ex.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	CHECK(rdmaez_cq_create_ex(t.context, &ex, &extended, &t.diag), EOPNOTSUPP,
	      "rdmaez_cq_create_ex", "ibv_create_cq_ex", "timestamps, which rxe lacks",
	      LIKELY(NOT_SUPPORTED, "wc_flags", RDMAEZ_VALUE_FLAGS,
		     IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, 0, ex.wc_flags));
	ex.wc_flags = IBV_WC_EX_WITH_BYTE_LEN;
	tap_eq_int(rdmaez_cq_create_ex(t.context, &ex, &extended, &t.diag), 0, "without them");
	tap_eq_int(rdmaez_cq_destroy(ibv_cq_ex_to_cq(extended), &t.diag), 0, "it is destroyed");
}

#define CHECK_RESIZE(cqe, name, ...)                                                           \
	CHECK(rdmaez_cq_resize(cq, cqe, &t.diag), EINVAL, "rdmaez_cq_resize", "ibv_resize_cq", \
	      name, __VA_ARGS__)

/* Three flushed receives wait in a queue that is made larger, then smaller. */
static void check_resize(void)
{
	const int most = t.device.max_cqe;
	struct ibv_qp_init_attr init = init_attr(IBV_QPT_RC);
	struct ibv_recv_wr wr, *bad;
	struct ibv_cq *cq = NULL;
	struct ibv_qp *qp = NULL;
	struct ibv_wc wc[DEPTH];

	memset(&wr, 0, sizeof(wr));
	tap_eq_int(rdmaez_cq_create(t.context, DEPTH, NULL, 0, &cq, NULL), 0, "a small queue");
	init.send_cq = init.recv_cq = cq;
	if (rdmaez_qp_create(t.pd, &init, &qp, NULL) || rdmaez_qp_to_init(qp, NULL, NULL))
		tap_bail("no queue pair");
	for (int i = 0; i < 3; i++)
		tap_eq_int(ibv_post_recv(qp, &wr, &bad), 0, "a receive");
	tap_eq_int(rdmaez_qp_to_err(qp, NULL), 0, "is flushed");
	for (int i = 0; i < 10000 && rdmaez_cq_resize(cq, 2, NULL) == 0; i++)
		usleep(1000); /* until all three wait */
	tap_eq_int(rdmaez_cq_resize(cq, 100, &t.diag), 0, "the queue grows");
	tap_ok(cq->cqe >= 100, "to what was asked for");
	CHECK_RESIZE(2, "below what waits",
		     LIKELY(CQ_WAITING, "cqe", RDMAEZ_VALUE_NUMBER, 2, 1, 0));
	CHECK_RESIZE(most + 1, "beyond the limit",
		     WRONG(CAP_LIMIT, "cqe", NUMBER(most + 1, 1, most)));
	tap_eq_int(rdmaez_cq_resize(cq, DEPTH, &t.diag), 0, "it shrinks");
	tap_eq_int(ibv_poll_cq(cq, DEPTH, wc), 3, "and has lost nothing");
	ibv_destroy_qp(qp);
	tap_eq_int(rdmaez_cq_destroy(cq, &t.diag), 0, "it is destroyed");
}

static int create_srq(uint32_t max_wr, uint32_t max_sge, uint32_t limit)
{
	struct ibv_srq *srq = (struct ibv_srq *)&t;
	struct ibv_srq_init_attr init;
	int error;

	memset(&init, 0, sizeof(init));
	init.attr.max_wr = max_wr;
	init.attr.max_sge = max_sge;
	init.attr.srq_limit = limit;
	error = rdmaez_srq_create(t.pd, &init, &srq, &t.diag);
	if (error)
		tap_eq_ptr(srq, &t, "the output is not written");
	else
		tap_eq_int(rdmaez_srq_destroy(srq, NULL), 0, "it is destroyed");
	return error;
}

static void check_srqs(void)
{
	const uint32_t wr = (uint32_t)t.device.max_srq_wr, sge = (uint32_t)t.device.max_srq_sge;
	struct ibv_srq_init_attr_ex ex;
	struct ibv_srq *srq;

	tap_eq_int(create_srq(8, sge, 0), 0, "an SRQ of %u SGEs", sge);
	tap_eq_int(create_srq(8, 1, 9), 0, "and one whose limit is too high, which rxe takes");
	CHECK(create_srq(wr + 1, sge + 1, 0), EINVAL, "rdmaez_srq_create", "ibv_create_srq",
	      "too much of both", WRONG(CAP_LIMIT, "attr.max_wr", NUMBER(wr + 1, 1, wr)),
	      WRONG(CAP_LIMIT, "attr.max_sge", NUMBER(sge + 1, 0, sge)));
	CHECK(create_srq(0, 1, 0), EINVAL, "rdmaez_srq_create", "ibv_create_srq",
	      "no work requests", LIKELY(RANGE, "attr.max_wr", NUMBER(0, 1, wr)));

	memset(&ex, 0, sizeof(ex));
	ex.attr.max_wr = ex.attr.max_sge = 1;
	ex.pd = t.pd;
	ex.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
	ex.srq_type = IBV_SRQT_XRC;
	CHECK(rdmaez_srq_create_ex(t.context, &ex, &srq, &t.diag), EINVAL, "rdmaez_srq_create_ex",
	      "ibv_create_srq_ex", "XRC without its parts, which rxe says it lacks",
	      WRONG(SRQ_PARTS, "comp_mask", RDMAEZ_VALUE_FLAGS,
		    IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ, 0, ex.comp_mask),
	      WRONG(NO_XRC, "srq_type", NOTHING));
	ex.srq_type = IBV_SRQT_BASIC;
	tap_eq_int(rdmaez_srq_create_ex(t.context, &ex, &srq, &t.diag), 0, "a basic one");
	tap_eq_int(rdmaez_srq_destroy(srq, NULL), 0, "is destroyed");
}

static void check_xrcd(void)
{
	struct ibv_xrcd *xrcd = (struct ibv_xrcd *)&t;
	struct ibv_xrcd_init_attr init;

	memset(&init, 0, sizeof(init));
	init.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	init.fd = -1;
	CHECK(rdmaez_xrcd_open(t.context, &init, &xrcd, &t.diag), EOPNOTSUPP, "rdmaez_xrcd_open",
	      "ibv_open_xrcd", "an XRC domain, which rxe lacks",
	      WRONG(NO_XRC, "device_cap_flags", NOTHING));
	tap_eq_ptr(xrcd, &t, "the output is not written");
}

/* ---- The order of the end ----------------------------------------------------------------- */

/* The domain with one thing in it, which that thing's own function must then remove. */
static void check_domain(struct ibv_pd *pd, const char *what)
{
	CHECK(rdmaez_pd_dealloc(pd, &t.diag), EBUSY, "rdmaez_pd_dealloc", "ibv_dealloc_pd", what,
	      LIKELY(PD_IN_USE, "pd", NOTHING));
}

static void check_order(void)
{
	struct ibv_qp_init_attr init = init_attr(IBV_QPT_RC);
	struct ibv_srq_init_attr srq_attr;
	struct rdmaez_path path;
	struct ibv_srq *srq;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_pd *pd = ibv_alloc_pd(t.context);
	struct ibv_cq *cq = ibv_create_cq(t.context, 4, NULL, NULL, 0);
	struct ibv_qp *qp;

	memset(&srq_attr, 0, sizeof(srq_attr));
	srq_attr.attr.max_wr = srq_attr.attr.max_sge = 1;
	srq = ibv_create_srq(pd, &srq_attr);
	init.send_cq = init.recv_cq = cq;
	init.srq = srq;
	if (!pd || !cq || !srq || rdmaez_qp_create(pd, &init, &qp, &t.diag))
		tap_bail("no queue pair with an SRQ");
	check_domain(pd, "a domain with a queue pair and an SRQ");
	CHECK(rdmaez_srq_destroy(srq, &t.diag), EBUSY, "rdmaez_srq_destroy", "ibv_destroy_srq",
	      "an SRQ with a queue pair", LIKELY(SRQ_IN_USE, "srq", NOTHING));
	CHECK(rdmaez_cq_destroy(cq, &t.diag), EBUSY, "rdmaez_cq_destroy", "ibv_destroy_cq",
	      "a completion queue with a queue pair", LIKELY(CQ_IN_USE, "cq", NOTHING));
	ibv_destroy_qp(qp);
	tap_eq_int(rdmaez_cq_destroy(cq, &t.diag), 0, "without it the completion queue goes");
	check_domain(pd, "a domain with an SRQ");
	tap_eq_int(rdmaez_srq_destroy(srq, &t.diag), 0, "and so does the SRQ");
	if (rdmaez_mr_reg(pd, t.memory, 4096, 0, &mr, &t.diag))
		tap_bail("no region");
	check_domain(pd, "a domain with a region");
	tap_eq_int(rdmaez_mr_dereg(mr, &t.diag), 0, "which goes");
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	if (!mw)
		tap_bail("no window");
	check_domain(pd, "a domain with a window");
	ibv_dealloc_mw(mw);
	memset(&path, 0, sizeof(path));
	path.dgid = t.row.gid;
	if (rdmaez_ah_create(pd, &path, 1, &ah, &t.diag))
		tap_bail("no address handle");
	check_domain(pd, "a domain with an address handle");
	ibv_destroy_ah(ah);
	tap_eq_int(rdmaez_pd_dealloc(pd, &t.diag), 0, "an empty domain goes");
}

/* A window bound to a region, which rxe answers with EINVAL. */
static void check_window(void)
{
	struct ibv_qp *qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS, NULL);
	struct ibv_mw *mw = ibv_alloc_mw(t.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr, *bad;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	int polled = 0;

	if (!mw || rdmaez_mr_reg(t.pd, t.memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
				 &mr, &t.diag))
		tap_bail("no region, or no window");
	memset(&wr, 0, sizeof(wr));
	wr.opcode = IBV_WR_BIND_MW;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info.mr = mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)t.memory;
	wr.bind_mw.bind_info.length = 4096;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
	tap_eq_int(ibv_post_send(qp, &wr, &bad), 0, "a window is bound");
	RIG_UNTIL((polled = ibv_poll_cq(t.cq, 1, &wc)) != 0);
	tap_ok(polled == 1 && wc.status == IBV_WC_SUCCESS, "with success");
	CHECK(rdmaez_mr_dereg(mr, &t.diag), EINVAL, "rdmaez_mr_dereg", "ibv_dereg_mr",
	      "a region with a window", LIKELY(MR_IN_USE, "mr", NOTHING));
	ibv_dealloc_mw(mw);
	tap_eq_int(rdmaez_mr_dereg(mr, &t.diag), 0, "without it the region goes");
	ibv_destroy_qp(qp);
}

/* ---- Memory ------------------------------------------------------------------------------- */

static int reg(void *addr, size_t length, unsigned int access)
{
	struct ibv_mr *mr = (struct ibv_mr *)&t;
	const int error = rdmaez_mr_reg(t.pd, addr, length, access, &mr, &t.diag);

	if (error)
		tap_eq_ptr(mr, &t, "the output is not written");
	else
		ibv_dereg_mr(mr);
	return error;
}

static void check_flags(void)
{
	const unsigned int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	const unsigned int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_device_attr_ex ex;

	tap_eq_int(reg(t.memory, REGION, 0), 0, "memory for local reading");
	tap_eq_int(reg(t.memory + 3, 1, all), 0, "one byte for everything");
	tap_eq_int(reg(t.memory, REGION, all | IBV_ACCESS_RELAXED_ORDERING), 0,
		   "memory with an optional flag");
	CHECK(reg(t.memory, REGION, remote), EINVAL, "rdmaez_mr_reg", "ibv_reg_mr",
	      "remote without local write",
	      WRONG(MR_LOCAL_WRITE, "access", RDMAEZ_VALUE_ACCESS, remote, 0, remote));
	CHECK(reg(t.memory, REGION, 1 << 15), EINVAL, "rdmaez_mr_reg", "ibv_reg_mr",
	      "a bit without a meaning",
	      WRONG(MR_ACCESS_BITS, "access", RDMAEZ_VALUE_ACCESS, 1 << 15, 0, 1 << 15));
	if (!ibv_query_device_ex(t.context, NULL, &ex) &&
	    !(ex.odp_caps.general_caps & IBV_ODP_SUPPORT)) {
		const int error = reg(t.memory, REGION, IBV_ACCESS_ON_DEMAND);

		/* Linux 6.1 says EINVAL, 6.12 the other. */
		CHECK(error, error == EOPNOTSUPP ? EOPNOTSUPP : EINVAL, "rdmaez_mr_reg",
		      "ibv_reg_mr", "on-demand paging where there is none",
		      WRONG(MR_ON_DEMAND, "access", RDMAEZ_VALUE_ACCESS, IBV_ACCESS_ON_DEMAND, 0,
			    IBV_ACCESS_ON_DEMAND));
	}
}

static void check_memory(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = (char *)mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uintptr_t start = (uintptr_t)memory;
	const uint64_t most = UINTPTR_MAX - start;

	munmap(memory + 2 * page, page);
	CHECK(reg(memory, 0, 0), EINVAL, "rdmaez_mr_reg", "ibv_reg_mr", "no length",
	      LIKELY(RANGE, "length", RDMAEZ_VALUE_BYTES, 0, 1,
		     t.device.max_mr_size < most ? t.device.max_mr_size : most));
	/* rxe counts a page for no bytes that do not begin at one, so that the flags are all that is wrong. */
	tap_eq_int(reg(memory + 8, 0, 0), 0, "no bytes within a page are registered");
	CHECK(reg(memory + 8, 0, IBV_ACCESS_REMOTE_WRITE), EINVAL, "rdmaez_mr_reg", "ibv_reg_mr",
	      "no bytes, and wrong flags",
	      WRONG(MR_LOCAL_WRITE, "access", RDMAEZ_VALUE_ACCESS, IBV_ACCESS_REMOTE_WRITE, 0,
		    IBV_ACCESS_REMOTE_WRITE));
	CHECK(reg((char *)(UINTPTR_MAX - 99), 100, 0), EINVAL, "rdmaez_mr_reg", "ibv_reg_mr",
	      "beyond the last address", LIKELY(RANGE, "length", RDMAEZ_VALUE_BYTES, 100, 1, 99));
	CHECK(reg(memory, 2 * page + 1, 0), EFAULT, "rdmaez_mr_reg", "ibv_reg_mr",
	      "memory that ends too early",
	      WRONG(MR_UNMAPPED, "addr", RDMAEZ_VALUE_ADDRESS, start, 0, 0));
	CHECK(reg(memory, 2 * page, IBV_ACCESS_LOCAL_WRITE), EFAULT, "rdmaez_mr_reg", "ibv_reg_mr",
	      "read-only memory to be written",
	      LIKELY(MR_PROTECTION, "addr", RDMAEZ_VALUE_ADDRESS, start, 0, 0));
	munmap(memory, 2 * page);
}

/* ---- Address handles ---------------------------------------------------------------------- */

/* The first row of a global IPv6 address, as an option. */
static int global_row(int rows)
{
	struct ibv_gid_entry row;

	for (int i = 0; i < rows; i++)
		if (!ibv_query_gid_ex(t.context, 1, (uint32_t)i, &row, 0) &&
		    rdmaez_gid_class(&row.gid) == RDMAEZ_GID_CLASS_GLOBAL)
			return rdmaez_exactly(i);
	tap_bail("port 1 has no global IPv6 address");
	return 0;
}

static void check_handles(void)
{
	struct ibv_ah *ah = (struct ibv_ah *)&t;
	struct ibv_gid_entry row;
	struct ibv_port_attr port;
	struct rdmaez_path path;
	int empty;

	memset(&path, 0, sizeof(path));
	path.dgid = t.row.gid;
	tap_eq_int(rdmaez_ah_create(t.pd, &path, 1, &ah, &t.diag), 0, "a handle for oneself");
	tap_eq_int(ibv_destroy_ah(ah), 0, "that exists");
	if (rdmaez_port_query(t.context, 1, &port, NULL))
		tap_bail("port 1 does not answer");
	for (empty = 1; empty < port.gid_tbl_len; empty++)
		if (ibv_query_gid_ex(t.context, 1, (uint32_t)empty, &row, 0) == ENODATA)
			break;
	path.sgid_index = empty;
	ah = (struct ibv_ah *)&t;
	CHECK(rdmaez_ah_create(t.pd, &path, 1, &ah, &t.diag), ENODATA, "rdmaez_ah_create",
	      "ibv_create_ah", "an empty row",
	      WRONG(GID_EMPTY, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_INDEX, (uint64_t)empty, 0, 0),
	      LIKELY(GID_SUITS, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_GID_INDEX, t.row.gid_index,
		     0, 0));
	tap_eq_ptr(ah, &t, "the output is not written");

	/* The best row is an IPv4 one, so a peer of IPv6 does not go with it, whoever it is. */
	path.sgid_index = rdmaez_exactly((int)t.row.gid_index);
	inet_pton(AF_INET6, "2001:db8::99", path.dgid.raw);
	CHECK(rdmaez_ah_create(t.pd, &path, 1, &ah, &t.diag), EINVAL, "rdmaez_ah_create",
	      "ibv_create_ah", "a row of the other family",
	      WRONG(GID_FAMILY, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_INDEX, t.row.gid_index, 0,
		    0),
	      LIKELY(GID_SUITS, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_GID_INDEX,
		     (uint64_t)global_row(port.gid_tbl_len), 0, 0));
	tap_ok(!memcmp(&t.diag.source.gid, &t.row.gid, sizeof(t.row.gid)) &&
		       !memcmp(&t.diag.destination, &path.dgid, sizeof(path.dgid)) &&
		       t.diag.netdev[0],
	       "the record has both GIDs and the interface, %s", t.diag.netdev);
	path.sgid_index = global_row(port.gid_tbl_len);
	inet_pton(AF_INET6, "2001:db9::1", path.dgid.raw);
	CHECK(rdmaez_ah_create(t.pd, &path, 1, &ah, &t.diag), ENETUNREACH, "rdmaez_ah_create",
	      "ibv_create_ah", "a peer without a route",
	      LIKELY(NO_ROUTE, "ah_attr.grh.dgid", RDMAEZ_VALUE_INDEX, (uint64_t)path.sgid_index, 0,
		     0));
	path.sgid_index = 0;
	path.dgid = t.row.gid;
	path.dgid.raw[15] = 0xee; /* in the same network, and nobody's */
	CHECK(rdmaez_ah_create(t.pd, &path, 1, &ah, &t.diag), ETIMEDOUT, "rdmaez_ah_create",
	      "ibv_create_ah", "a peer that is not there",
	      LIKELY(NEIGHBOUR, "ah_attr.grh.dgid", RDMAEZ_VALUE_INDEX, t.row.gid_index, 0, 0));
}

/* ---- Work requests ------------------------------------------------------------------------ */

/* Three sends, or three receives, of eight bytes each. */
struct work {
	struct ibv_send_wr send[3], *bad_send;
	struct ibv_recv_wr recv[3], *bad_recv;
	struct ibv_sge sge[64];
};

static void fill(struct work *work, const struct ibv_mr *mr)
{
	memset(work, 0, sizeof(*work));
	for (int i = 0; i < 64; i++) {
		work->sge[i].addr = (uintptr_t)mr->addr;
		work->sge[i].length = 8;
		work->sge[i].lkey = mr->lkey;
	}
	for (int i = 0; i < 3; i++) {
		work->send[i].opcode = IBV_WR_SEND;
		work->send[i].sg_list = work->recv[i].sg_list = work->sge;
		work->send[i].num_sge = work->recv[i].num_sge = 1;
		work->send[i].next = i < 2 ? &work->send[i + 1] : NULL;
		work->recv[i].next = i < 2 ? &work->recv[i + 1] : NULL;
	}
}

static int post_send(struct ibv_qp *qp, struct work *work)
{
	return rdmaez_wr_post_send(qp, work->send, &work->bad_send, &t.diag);
}

static int post_recv(struct ibv_qp *qp, struct work *work)
{
	return rdmaez_wr_post_recv(qp, work->recv, &work->bad_recv, &t.diag);
}

#define AT(position) \
	{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_WR_BAD, "bad_wr", RDMAEZ_VALUE_POSITION, position, 0, 0}

/* What was granted, which may be more than was asked for. */
static struct ibv_qp_cap granted(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_CAP, &init))
		tap_bail("a queue pair does not answer");
	return attr.cap;
}

static void check_requests(struct ibv_mr *mr)
{
	struct ibv_qp *qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS, NULL);
	const struct ibv_qp_cap cap = granted(qp);
	struct work work;

	fill(&work, mr);
	work.send[1].num_sge = (int)cap.max_send_sge + 1;
	CHECK(post_send(qp, &work), EINVAL, "rdmaez_wr_post_send", "ibv_post_send", "too many SGEs",
	      AT(1),
	      WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, cap.max_send_sge + 1, 0,
		    cap.max_send_sge));
	tap_eq_ptr(work.bad_send, &work.send[1], "bad_wr is the second");
	ibv_destroy_qp(qp);

	/* Another queue pair: the send that is under way would end in ERR here, because the region may not be written. */
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS, NULL);
	work.recv[2].num_sge = (int)cap.max_recv_sge + 1;
	CHECK(post_recv(qp, &work), EINVAL, "rdmaez_wr_post_recv", "ibv_post_recv", "too many SGEs",
	      AT(2),
	      WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, cap.max_recv_sge + 1, 0,
		    cap.max_recv_sge));
	tap_eq_ptr(work.bad_recv, &work.recv[2], "bad_wr is the third");
	ibv_destroy_qp(qp);

	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS, NULL);
	fill(&work, mr);
	work.send[0].send_flags = work.send[1].send_flags = IBV_SEND_INLINE;
	work.sge[0].length = cap.max_inline_data;
	work.sge[1].length = cap.max_inline_data + 1;
	work.send[1].sg_list = &work.sge[1];
	CHECK(post_send(qp, &work), EINVAL, "rdmaez_wr_post_send", "ibv_post_send",
	      "one byte too much inline", AT(1),
	      WRONG(WR_INLINE, "sg_list", RDMAEZ_VALUE_BYTES, cap.max_inline_data + 1, 0,
		    cap.max_inline_data));
	ibv_destroy_qp(qp);

	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS, NULL);
	fill(&work, mr);
	work.send[0].opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	work.send[0].wr.atomic.remote_addr = 0x1001;
	work.sge[0].length = 4;
	CHECK(post_send(qp, &work), EINVAL, "rdmaez_wr_post_send", "ibv_post_send",
	      "an atomic of four bytes", AT(0),
	      WRONG(WR_ATOMIC, "sg_list", RDMAEZ_VALUE_BYTES, 4, 8, 8),
	      WRONG(WR_ATOMIC, "wr.atomic.remote_addr", RDMAEZ_VALUE_ADDRESS, 0x1001, 0, 0));
	ibv_destroy_qp(qp);
}

/* Posts lists of three until one is refused; how many single requests went in. */
static void check_full(struct ibv_mr *mr)
{
	struct ibv_qp *qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS, NULL);
	const struct ibv_qp_cap cap = granted(qp);
	struct work work;
	uint32_t posted = 0;
	int error;

	/* Nothing is received, and the peer is asked without end, so the sends stay. */
	fill(&work, mr);
	while (!(error = post_send(qp, &work)) && posted < 1000)
		posted += 3;
	for (struct ibv_send_wr *wr = work.send; wr && wr != work.bad_send; wr = wr->next)
		posted++;
	CHECK(error, ENOMEM, "rdmaez_wr_post_send", "ibv_post_send", "a full send queue",
	      AT(posted % 3),
	      LIKELY(WR_QUEUE_FULL, "cap.max_send_wr", RDMAEZ_VALUE_LIMIT, 0, 0, cap.max_send_wr));
	tap_eq_int(posted, cap.max_send_wr, "it held what was granted");
	ibv_destroy_qp(qp);

	qp = qp_in(IBV_QPT_RC, IBV_QPS_INIT, NULL);
	posted = 0;
	while (!(error = post_recv(qp, &work)) && posted < 1000)
		posted += 3;
	for (struct ibv_recv_wr *wr = work.recv; wr && wr != work.bad_recv; wr = wr->next)
		posted++;
	CHECK(error, ENOMEM, "rdmaez_wr_post_recv", "ibv_post_recv", "a full receive queue",
	      AT(posted % 3),
	      LIKELY(WR_QUEUE_FULL, "cap.max_recv_wr", RDMAEZ_VALUE_LIMIT, 0, 0, cap.max_recv_wr));
	tap_eq_int(posted, cap.max_recv_wr, "it held what was granted");
	ibv_destroy_qp(qp);
}

static void check_states(struct ibv_mr *mr)
{
	const uint64_t sends =
		1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE | 1 << IBV_QPS_ERR;
	const uint64_t receives = sends | 1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR;
	struct ibv_srq_init_attr srq_attr;
	struct ibv_srq *srq;
	struct work work;
	struct ibv_qp *qp;

	fill(&work, mr);
	for (int state = IBV_QPS_RESET; state < IBV_QPS_RTS; state++) {
		qp = qp_in(IBV_QPT_RC, (enum ibv_qp_state)state, NULL);
		work.bad_send = work.send;
		/* rxe queues all of them before the kernel refuses, and names none. */
		CHECK(post_send(qp, &work), EINVAL, "rdmaez_wr_post_send", "ibv_post_send",
		      "sending too early",
		      WRONG(WR_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, (uint64_t)state, 0,
			    sends),
		      LIKELY(WR_BAD_UNKNOWN, "bad_wr", NOTHING));
		tap_eq_ptr(work.bad_send, NULL, "bad_wr names none");
		ibv_destroy_qp(qp);
	}
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RESET, NULL);
	CHECK(post_recv(qp, &work), EINVAL, "rdmaez_wr_post_recv", "ibv_post_recv",
	      "receiving too early",
	      WRONG(WR_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_RESET, 0, receives),
	      LIKELY(WR_BAD_UNKNOWN, "bad_wr", NOTHING));
	ibv_destroy_qp(qp);

	memset(&srq_attr, 0, sizeof(srq_attr));
	srq_attr.attr.max_wr = srq_attr.attr.max_sge = 1;
	srq = ibv_create_srq(t.pd, &srq_attr);
	qp = qp_in(IBV_QPT_RC, IBV_QPS_RTS, srq);
	CHECK(post_recv(qp, &work), EINVAL, "rdmaez_wr_post_recv", "ibv_post_recv",
	      "receives that belong into an SRQ", WRONG(WR_SRQ, "srq", NOTHING),
	      LIKELY(WR_BAD_UNKNOWN, "bad_wr", NOTHING));
	ibv_destroy_qp(qp);
	ibv_destroy_srq(srq);
}

/* A shared receive queue holds what was granted, of work requests and of SGEs. */
static void check_shared(struct ibv_mr *mr)
{
	struct ibv_srq_init_attr init;
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;
	struct work work;
	uint32_t posted = 0;
	int error;

	memset(&init, 0, sizeof(init));
	init.attr.max_wr = 4;
	init.attr.max_sge = 1;
	srq = ibv_create_srq(t.pd, &init);
	if (!srq || ibv_query_srq(srq, &attr))
		tap_bail("no shared receive queue");
	fill(&work, mr);
	work.recv[2].num_sge = (int)attr.max_sge + 1;
	CHECK(rdmaez_wr_post_srq_recv(srq, work.recv, &work.bad_recv, &t.diag), EINVAL,
	      "rdmaez_wr_post_srq_recv", "ibv_post_srq_recv", "too many SGEs", AT(2),
	      WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, attr.max_sge + 1, 0, attr.max_sge));
	tap_eq_ptr(work.bad_recv, &work.recv[2], "bad_wr is the third");
	posted = 2;
	work.recv[0].next = NULL;
	while (!(error = rdmaez_wr_post_srq_recv(srq, work.recv, NULL, &t.diag)) && posted < 1000)
		posted++;
	CHECK(error, ENOMEM, "rdmaez_wr_post_srq_recv", "ibv_post_srq_recv", "a full shared queue",
	      AT(0), LIKELY(WR_QUEUE_FULL, "attr.max_wr", RDMAEZ_VALUE_LIMIT, 0, 0, attr.max_wr));
	tap_eq_int(posted, attr.max_wr, "it held what was granted");
	ibv_destroy_srq(srq);
}

/* ---- Without privileges ------------------------------------------------------------------- */

static void limit_memlock(rlim_t bytes)
{
	struct rlimit limit;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	limit.rlim_cur = bytes;
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		tap_bail("RLIMIT_MEMLOCK cannot be lowered");
}

/* So much memory may not be locked: some is already, of this limit. The machine may have the files of a container. */
static void check_locked(size_t length, int error, uint64_t locked, uint64_t limit,
			 const char *name)
{
	if (access("/.dockerenv", R_OK) == 0)
		CHECK(reg(t.memory, length, 0), error, "rdmaez_mr_reg", "ibv_reg_mr", name,
		      WRONG(MEMLOCK, "length", RDMAEZ_VALUE_LOCKED, length, locked, limit),
		      LIKELY(MEMLOCK_CONTAINER, "length", RDMAEZ_VALUE_NONE, 0, 0, 0));
	else
		CHECK(reg(t.memory, length, 0), error, "rdmaez_mr_reg", "ibv_reg_mr", name,
		      WRONG(MEMLOCK, "length", RDMAEZ_VALUE_LOCKED, length, locked, limit));
}

/* Where memory may be locked without limit, it is not what was short. */
static void check_address_space(void)
{
	struct ibv_cq *cq = (struct ibv_cq *)&t;
	struct rlimit space, memlock, less;
	int error;

	getrlimit(RLIMIT_AS, &space);
	getrlimit(RLIMIT_MEMLOCK, &memlock);
	less = space;
	less.rlim_cur = REGION; /* what is mapped stays so, and no more can be */
	limit_memlock(REGION);
	if (setrlimit(RLIMIT_AS, &less))
		tap_bail("RLIMIT_AS cannot be lowered");
	error = rdmaez_cq_create(t.context, t.device.max_cqe, NULL, 0, &cq, &t.diag);
	setrlimit(RLIMIT_AS, &space);
	setrlimit(RLIMIT_MEMLOCK, &memlock);
	CHECK(error, ENOMEM, "rdmaez_cq_create", "ibv_create_cq", "no room for the queue",
	      LIKELY(ADDRESS_SPACE, "cqe", RDMAEZ_VALUE_LIMIT, 0, 0, REGION),
	      LIKELY(NO_RESOURCES, "max_cq", RDMAEZ_VALUE_LIMIT, 0, 0, (uint32_t)t.device.max_cq));
	tap_eq_ptr(cq, &t, "the output is not written");
}

/* The kernel judges by who the process is, and a device must have been opened by the same. */
static void check_unprivileged(void)
{
	const uid_t before = geteuid();
	struct ibv_qp_init_attr init;
	struct ibv_mr *mr = NULL;

	if (seteuid(NOBODY) && geteuid() == 0)
		tap_bail("privileges cannot be given up");
	open_device();
	init = init_attr(IBV_QPT_RAW_PACKET);
	CHECK(create(&init), EPERM, "rdmaez_qp_create", "ibv_create_qp",
	      "RAW_PACKET without CAP_NET_RAW",
	      WRONG(CREATE_PRIVILEGE, "qp_type", RDMAEZ_VALUE_TYPE, IBV_QPT_RAW_PACKET, 0, 0));

	limit_memlock(REGION / 2);
	check_locked(REGION, ENOMEM, 0, REGION / 2, "more than may be locked");
	tap_eq_int(rdmaez_mr_reg(t.pd, t.memory, REGION / 4, 0, &mr, NULL), 0, "half of it");
	check_locked(REGION / 2, ENOMEM, REGION / 4, REGION / 2, "what is registered counts");
	ibv_dereg_mr(mr);
	tap_eq_int(reg(t.memory, REGION / 2, 0), 0, "and no longer when it is not");
	limit_memlock(0);
	check_locked(1, EPERM, 0, 0, "nothing may be locked");
	close_device();
	/* The search for leaks at the end needs to trace this process. */
	if (seteuid(before))
		tap_bail("privileges cannot be taken back");
}

int main(void)
{
	struct ibv_mr *mr = NULL;

	open_device();
	t.memory = (char *)mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);
	check_limits();
	check_srq_limits();
	check_inline_limit(IBV_QPT_RC, 1);
	check_inline_limit(IBV_QPT_RC, 8);
	check_inline_limit(IBV_QPT_UD, 2);
	check_types();
	check_operations();
	check_foreign_parts();
	check_cqs();
	check_resize();
	check_srqs();
	check_xrcd();
	check_order();
	check_window();
	check_flags();
	check_memory();
	check_handles();
	tap_eq_int(rdmaez_mr_reg(t.pd, t.memory, REGION, 0, &mr, &t.diag), 0, "memory to send");
	check_requests(mr);
	check_full(mr);
	check_states(mr);
	check_shared(mr);
	ibv_dereg_mr(mr);
	check_address_space();
	close_device();
	check_unprivileged();
	return tap_done();
}
