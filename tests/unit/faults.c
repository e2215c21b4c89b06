/* SPDX-License-Identifier: MIT */
/*
 * Each verbs call of each function that makes any, failing in turn with each plausible errno value: the function returns
 * that value, the record names that verb and claims nothing for certain that is not so, outputs are as they were, no
 * object or descriptor is left, and the same call works afterwards. Then the same without a record, and while the
 * questions that follow a failure fail as well; and then several calls at random.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include <rdmaez/caps.h>
#include <rdmaez/dm_share.h>
#include <rdmaez/handshake.h>
#include <rdmaez/multicast.h>
#include <rdmaez/port_caps.h>
#include "fixture.h"
#include "random.h"

#define MS UINT64_C(1000000)

/* Results of rules. */
#define GOES_ON (-1)
#define SAME    (-2)

enum {
	LENGTH = 256,   /* bytes of memory */
	MANY = 64,      /* verbs calls of a function: more than any makes */
	FEW = 5,        /* errno values for what is less likely to differ by them */
	ROUNDS = 30,    /* at random, of each function */
	MESSAGES = 2048 /* bytes that an end of a handshake sends: more than there are */
};

/* The first few of them are those that functions treat in a way of their own. */
static const int errnos[] = {
	EINVAL, ENOMEM,  EOPNOTSUPP, EIO,         ETIMEDOUT, EPERM,   ENOENT, EINTR,        ENXIO,
	EBADF,  EAGAIN,  EACCES,     EFAULT,      EBUSY,     EEXIST,  ENODEV, EMFILE,       ENOSPC,
	ENOSYS, ENODATA, ENETDOWN,   ENETUNREACH, EPROTO,    ENOLINK, EXDEV,  EHOSTUNREACH, 524};

/* What a flow begins with, and what it writes. */
static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *other_cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_qp *qp, *peer;
	struct rdmaez_simple simple;
	struct rdmaez_endpoint local, remote;
	struct rdmaez_drain_opts drain;
	struct rdmaez_drained drained;
	struct rdmaez_path path;
	struct ibv_qp_init_attr init;
	struct rdmaez_dm dm;
	struct rdmaez_dm_region region;
	struct rdmaez_dm_token token;
	struct rdmaez_dm_shared shared;
	struct rdmaez_handshake shake;
	struct ibv_wc wc[4];
	struct rdmaez_wc_batch batch;
	char memory[LENGTH];
	uint8_t message[MESSAGES]; /* what the other end of a handshake sends */
	size_t messages;
	int end[2];
	int fd;
	union {
		uint8_t bytes[sizeof(struct rdmaez_caps)];
		struct ibv_context *context;
		struct ibv_pd *pd;
		struct ibv_comp_channel *channel;
		struct ibv_cq *cq;
		struct ibv_cq_ex *cq_ex;
		struct ibv_srq *srq;
		struct ibv_xrcd *xrcd;
		struct ibv_mr *mr;
		struct ibv_qp *qp;
		struct ibv_ah *ah;
		struct rdmaez_simple simple;
		struct rdmaez_endpoint endpoint;
		struct rdmaez_caps caps;
		struct rdmaez_port_caps port_caps;
		struct ibv_port_attr port_attr;
		struct ibv_gid_entry gid;
		struct rdmaez_dm dm;
		struct rdmaez_dm_region region;
		struct rdmaez_dm_shared shared;
		enum ibv_qp_state state;
		uint32_t number;
		int fd;
	} out, untouched;
	struct rdmaez_diag record;
	struct rdmaez_diag *diag; /* the record, or NULL */
} t;

struct flow {
	const char *name;
	void (*make)(void); /* NULL: nothing but what all begin with */
	int (*run)(void);
	const char *(*after)(int error); /* what else is wrong after a failure; NULL: nothing */
	bool closes;                     /* what it has destroyed before it failed stays so */
	bool once;                       /* it cannot be repeated */
	bool unrecorded;                 /* it writes no record */
	int works;          /* the errno value in which it ends if no verb fails, mostly 0 */
	unsigned int calls; /* so many of its verbs calls fail; 0: all */
};

/* What differs from "the function returns the verb's errno value and names the verb". The first that fits counts. */
struct rule {
	int (*run)(void); /* of which flow; NULL: any */
	enum fake_verb verb;
	unsigned int nth; /* which of the calls of this verb; 0: any */
	int error;        /* by which errno value; 0: any */
	int result;   /* what the function returns; GOES_ON: as if the call had not failed; SAME */
	bool unnamed; /* the record names another verb, or none */
	int left;     /* how many objects more there are, as the header says */
};

static void finish(void)
{
	for (int i = 0; i < 2; i++)
		if (t.end[i] > 0)
			close(t.end[i]);
	if (t.fd > 0)
		close(t.fd);
	fake_close_all();
}

/* A device, and an object of each kind. */
static void start(const struct flow *flow, bool records)
{
	finish();
	memset(&t, 0, sizeof(t));
	t.dev = fake_reset();
	t.dev->attr.max_dm_size = 4096;
	t.dev->attr.orig_attr.max_mcast_grp = t.dev->attr.orig_attr.max_mcast_qp_attach = 4;
	t.dev->attr.orig_attr.max_total_mcast_qp_attach = 8;
	for (int i = 0; i < 6; i++)
		t.dev->port[1].gid[i].ifindex = 7;
	fake_netdev(7, "eth7");
	t.ctx = fake_open(t.dev);
	t.pd = ibv_alloc_pd(t.ctx);
	t.channel = ibv_create_comp_channel(t.ctx);
	t.cq = ibv_create_cq(t.ctx, 64, NULL, t.channel, 0);
	t.other_cq = ibv_create_cq(t.ctx, 64, NULL, NULL, 0);
	t.mr = ibv_reg_mr(t.pd, t.memory, sizeof(t.memory), IBV_ACCESS_LOCAL_WRITE);
	t.init.qp_type = IBV_QPT_RC;
	t.init.cap.max_send_wr = t.init.cap.max_recv_wr = 8;
	t.init.cap.max_send_sge = t.init.cap.max_recv_sge = 1;
	t.init.send_cq = t.cq;
	t.init.recv_cq = t.other_cq;
	t.drain.flags = RDMAEZ_DRAIN_DISCARD;
	t.drain.timeout_ns = (UNDER_QEMU ? 30 : 3) * MS;
	t.path.dgid = gid_of("::ffff:192.0.2.9");
	t.batch.wc = t.wc;
	t.batch.capacity = COUNT_OF(t.wc);
	if (flow->make)
		flow->make();
	memset(&t.out, 0xa5, sizeof(t.out));
	t.untouched = t.out;
	memset(&t.record, 0x55, sizeof(t.record));
	t.diag = records ? &t.record : NULL;
	fake_reset_log();
}

/* ---- Objects --------------------------------------------------------------------------------- */

static int open_device(void)
{
	return rdmaez_device_open(NULL, &t.out.context, t.diag);
}

static int open_named(void)
{
	return rdmaez_device_open("fake0", &t.out.context, t.diag);
}

static void make_context(void)
{
	t.simple.context = fake_open(t.dev);
}

static int close_device(void)
{
	return rdmaez_device_close(t.simple.context, t.diag);
}

static int alloc_pd(void)
{
	return rdmaez_pd_alloc(t.ctx, &t.out.pd, t.diag);
}

static int create_channel(void)
{
	return rdmaez_channel_create(t.ctx, &t.out.channel, t.diag);
}

static int create_cq(void)
{
	return rdmaez_cq_create(t.ctx, 10, t.channel, 0, &t.out.cq, t.diag);
}

static int create_cq_ex(void)
{
	struct ibv_cq_init_attr_ex init = {.cqe = 10, .wc_flags = IBV_WC_STANDARD_FLAGS};

	return rdmaez_cq_create_ex(t.ctx, &init, &t.out.cq_ex, t.diag);
}

static int resize_cq(void)
{
	return rdmaez_cq_resize(t.cq, 128, t.diag);
}

static int create_srq(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};

	return rdmaez_srq_create(t.pd, &init, &t.out.srq, t.diag);
}

static int create_srq_ex(void)
{
	struct ibv_srq_init_attr_ex init = {.attr = {.max_wr = 8, .max_sge = 1},
					    .comp_mask =
						    IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
					    .srq_type = IBV_SRQT_BASIC,
					    .pd = t.pd};

	return rdmaez_srq_create_ex(t.ctx, &init, &t.out.srq, t.diag);
}

static void make_srq(void)
{
	t.srq = fake_srq(t.ctx, IBV_SRQT_BASIC);
}

static int modify_srq(void)
{
	struct ibv_srq_attr attr = {.max_wr = 8, .srq_limit = 2};

	return rdmaez_srq_modify(t.srq, &attr, IBV_SRQ_LIMIT, t.diag);
}

static int arm_srq(void)
{
	return rdmaez_srq_arm(t.srq, 4, t.diag);
}

static int open_xrcd(void)
{
	struct ibv_xrcd_init_attr init = {.comp_mask =
						  IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					  .fd = -1,
					  .oflags = O_CREAT};

	return rdmaez_xrcd_open(t.ctx, &init, &t.out.xrcd, t.diag);
}

/* Those of start() are destroyed in their order, by one call each. */
static int destroy_all(void)
{
	int error = 0;

#define DESTROY(member, function)                   \
	if (!error && t.member) {                   \
		error = function(t.member, t.diag); \
		if (!error)                         \
			t.member = NULL;            \
	}
	DESTROY(mr, rdmaez_mr_dereg)
	DESTROY(cq, rdmaez_cq_destroy)
	DESTROY(other_cq, rdmaez_cq_destroy)
	DESTROY(channel, rdmaez_channel_destroy)
	DESTROY(pd, rdmaez_pd_dealloc)
	DESTROY(ctx, rdmaez_device_close)
#undef DESTROY
	return error;
}

static int reg_mr(void)
{
	return rdmaez_mr_reg(t.pd, t.memory, sizeof(t.memory), IBV_ACCESS_LOCAL_WRITE, &t.out.mr,
			     t.diag);
}

static void make_dmabuf(void)
{
	fake_dmabuf(LENGTH);
}

static int reg_dmabuf(void)
{
	const struct rdmaez_mr_dmabuf dmabuf = {.fd = 0, .length = LENGTH};

	return rdmaez_mr_reg_dmabuf(t.pd, &dmabuf, IBV_ACCESS_LOCAL_WRITE, &t.out.mr, t.diag);
}

static int create_qp(void)
{
	struct ibv_qp_init_attr init = t.init;

	return rdmaez_qp_create(t.pd, &init, &t.out.qp, t.diag);
}

static int create_qp_ex(void)
{
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_RC,
					   .send_cq = t.cq,
					   .recv_cq = t.cq,
					   .cap = t.init.cap,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = t.pd,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};

	return rdmaez_qp_create_ex(t.ctx, &init, &t.out.qp, t.diag);
}

static int max_inline(void)
{
	return rdmaez_qp_max_inline(t.pd, &t.init, &t.out.number, t.diag);
}

static int open_plain(void)
{
	const struct rdmaez_simple_opts opts = {.buffer = t.memory, .length = sizeof(t.memory)};

	return rdmaez_simple_open(NULL, &opts, &t.out.simple, t.diag);
}

static int open_rich(void)
{
	const struct rdmaez_simple_opts opts = {
		.flags = RDMAEZ_SIMPLE_CHANNEL | RDMAEZ_SIMPLE_SRQ,
		.buffer = t.memory,
		.length = sizeof(t.memory),
		.send_ops = IBV_QP_EX_WITH_SEND,
	};

	return rdmaez_simple_open("fake0", &opts, &t.out.simple, t.diag);
}

static void make_plain(void)
{
	open_plain();
	t.simple = t.out.simple;
}

static void make_rich(void)
{
	open_rich();
	t.simple = t.out.simple;
}

static int close_simple(void)
{
	return rdmaez_simple_close(&t.simple, t.diag);
}

/* ---- Queries --------------------------------------------------------------------------------- */

static int query_port(void)
{
	return rdmaez_port_query(t.ctx, 1, &t.out.port_attr, t.diag);
}

static int choose_gid(void)
{
	const struct rdmaez_gid_want want = {.peer = t.path.dgid};

	return rdmaez_port_choose_gid(t.ctx, 1, &want, &t.out.gid, t.diag);
}

static int find_pkey(void)
{
	return rdmaez_port_find_pkey(t.ctx, 1, 0xffff, &t.out.fd, t.diag);
}

static int query_caps(void)
{
	return rdmaez_caps_query(t.ctx, &t.out.caps, t.diag);
}

static int query_port_caps(void)
{
	return rdmaez_port_caps_query(t.ctx, 1, &t.out.port_caps, t.diag);
}

static int create_ah(void)
{
	return rdmaez_ah_create(t.pd, &t.path, 1, &t.out.ah, t.diag);
}

/* ---- Queue pairs ----------------------------------------------------------------------------- */

static void make_qp(void)
{
	t.qp = ibv_create_qp(t.pd, &t.init);
	t.peer = ibv_create_qp(t.pd, &t.init);
	rdmaez_endpoint_local(t.qp, NULL, &t.local, NULL);
	rdmaez_endpoint_local(t.peer, NULL, &t.remote, NULL);
}

static void make_ud(void)
{
	t.init.qp_type = IBV_QPT_UD;
	make_qp();
}

static void make_rts(void)
{
	make_qp();
	rdmaez_qp_connect(t.qp, &t.local, &t.remote, NULL, NULL);
}

static int query_state(void)
{
	return rdmaez_qp_state(t.qp, &t.out.state, t.diag);
}

/* Each time from RESET, or from where it has come to. */
static int bring_up(void)
{
	const struct rdmaez_qp_opts opts = {.dest_qp_num = 7, .path = t.path};
	int error = 0;

	if (t.qp->state == IBV_QPS_RESET)
		error = rdmaez_qp_to_init(t.qp, &opts, t.diag);
	if (!error && t.qp->state == IBV_QPS_INIT)
		error = rdmaez_qp_to_rtr(t.qp, &opts, t.diag);
	return error ? error : rdmaez_qp_to_rts(t.qp, &opts, t.diag);
}

static int fill_endpoint(void)
{
	return rdmaez_endpoint_local(t.qp, NULL, &t.out.endpoint, t.diag);
}

static int fill_with_ece(void)
{
	const struct rdmaez_qp_opts opts = {.flags = RDMAEZ_QP_ECE};

	return rdmaez_endpoint_local(t.qp, &opts, &t.out.endpoint, t.diag);
}

static int connect_qp(void)
{
	return rdmaez_qp_connect(t.qp, &t.local, &t.remote, NULL, t.diag);
}

static int connect_ud(void)
{
	return rdmaez_qp_connect_ud(t.qp, &t.local, &t.remote, NULL, &t.out.ah, t.diag);
}

static int connect_loopback(void)
{
	return rdmaez_qp_connect_loopback(t.qp, t.peer, NULL, t.diag);
}

static void make_working(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

	make_rts();
	fake_profile(t.dev, FAKE_PROFILE_RXE);
	if (ibv_post_send(t.qp, &wr, &bad) || ibv_post_send(t.qp, &wr, &bad))
		tap_bail("nothing to drain");
}

static int drain(void)
{
	return rdmaez_qp_drain(t.qp, &t.drain, &t.drained, t.diag);
}

static int begin_drain(void)
{
	struct rdmaez_drain drain;

	return rdmaez_drain_begin(t.qp, &t.drain, &drain, t.diag);
}

static int quiesce(void)
{
	return rdmaez_qp_quiesce(t.qp, (UNDER_QEMU ? 30 : 3) * MS, t.diag);
}

static int change(void)
{
	const struct rdmaez_qp_opts opts = {.optional = IBV_QP_RNR_RETRY, .rnr_retry = 3};

	return rdmaez_qp_change(t.qp, &opts, (UNDER_QEMU ? 30 : 3) * MS, t.diag);
}

static void make_held(void)
{
	make_rts();
	rdmaez_qp_to_sqd(t.qp, NULL, NULL);
}

static int resume(void)
{
	return rdmaez_qp_resume(t.qp, t.diag);
}

static int recover(void)
{
	const struct rdmaez_recover_opts opts = {.drain = t.drain, .init_attr = &t.init};

	return rdmaez_qp_recover(&t.qp, &opts, &t.out.endpoint, &t.drained, t.diag);
}

static int destroy(void)
{
	return rdmaez_qp_destroy(t.qp, &t.drain, &t.drained, t.diag);
}

static int reset(void)
{
	int error = rdmaez_qp_to_err(t.qp, t.diag);

	return error ? error : rdmaez_qp_to_reset(t.qp, t.diag);
}

/* ---- Work ------------------------------------------------------------------------------------ */

static int post_send(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad;

	return rdmaez_wr_post_send(t.qp, &wr, &bad, t.diag);
}

static int post_recv(void)
{
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

	return rdmaez_wr_post_recv(t.qp, &wr, &bad, t.diag);
}

static int post_srq(void)
{
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

	return rdmaez_wr_post_srq_recv(t.srq, &wr, &bad, t.diag);
}

/* One completion is there, of a send that succeeded. */
static void make_completion(void)
{
	struct ibv_wc wc = {.wr_id = 3};

	make_rts();
	wc.qp_num = t.qp->qp_num;
	fake_cq_push(t.cq, &wc);
	t.batch.want = 1;
}

static int poll_cq(void)
{
	return rdmaez_wc_poll(t.cq, t.qp, &t.batch, t.diag);
}

static int arm_cq(void)
{
	return rdmaez_cq_arm(t.cq, 0, t.diag);
}

/* It waits for one that is there. */
static int wait_cq(void)
{
	return rdmaez_cq_wait(t.cq, t.qp, &t.batch, (UNDER_QEMU ? 30 : 3) * MS, t.diag);
}

/* ---- Multicast ------------------------------------------------------------------------------- */

static void make_group(void)
{
	make_ud();
	fixture_state(t.qp, IBV_QPS_INIT);
	t.path.dgid = gid_of("::ffff:239.1.2.3");
	t.path.sgid_index = 3;
}

static int join_group(void)
{
	int error = rdmaez_multicast_join(t.qp, &t.path, 1, &t.out.fd, t.diag);

	if (!error)
		t.fd = t.out.fd;
	return error;
}

static void make_joined(void)
{
	make_group();
	join_group();
}

/* Whose socket is closed even then. */
static int leave_group(void)
{
	const int fd = t.fd;

	t.fd = -1;
	return rdmaez_multicast_leave(t.qp, &t.path, fd, t.diag);
}

static int create_group_ah(void)
{
	return rdmaez_multicast_ah_create(t.pd, &t.path, 1, &t.out.ah, t.diag);
}

/* ---- Device memory --------------------------------------------------------------------------- */

static int alloc_dm(void)
{
	return rdmaez_dm_alloc(t.ctx, LENGTH, NULL, &t.out.dm, t.diag);
}

static void make_dm(void)
{
	if (rdmaez_dm_alloc(t.ctx, LENGTH, NULL, &t.dm, NULL))
		tap_bail("no device memory");
}

static int reg_dm(void)
{
	return rdmaez_dm_reg(&t.dm, t.pd, NULL, IBV_ACCESS_REMOTE_READ, &t.out.region, t.diag);
}

static int close_dm(void)
{
	return rdmaez_dm_close(&t.dm, t.diag);
}

static int copy_dm(void)
{
	int error = rdmaez_dm_copy_to(&t.dm, 0, t.memory, LENGTH);

	return error ? error : rdmaez_dm_copy_from(&t.dm, 0, t.memory, LENGTH);
}

static int fill_dm(void)
{
	return rdmaez_dm_fill(&t.dm, 0, 7, LENGTH);
}

static void make_exported(void)
{
	make_dm();
	if (rdmaez_dm_reg(&t.dm, t.pd, NULL, IBV_ACCESS_REMOTE_READ, &t.region, NULL) ||
	    rdmaez_dm_export(&t.dm, NULL, &t.region, &t.token, NULL))
		tap_bail("nothing to share");
}

static int import_dm(void)
{
	const struct rdmaez_dm_share_opts opts = {.flags = RDMAEZ_DM_SHARE_MR};

	return rdmaez_dm_import(t.ctx->cmd_fd, &t.token, &opts, &t.out.shared, t.diag);
}

static void make_sent(void)
{
	make_exported();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, t.end) ||
	    rdmaez_dm_send(t.end[0], &t.dm, &t.token, NULL, NULL))
		tap_bail("nothing is sent");
}

static int receive_dm(void)
{
	const struct rdmaez_dm_share_opts opts = {.flags = RDMAEZ_DM_SHARE_PD};

	return rdmaez_dm_receive(t.end[1], &opts, &t.out.shared, t.diag);
}

static void make_imported(void)
{
	make_exported();
	import_dm();
	t.shared = t.out.shared;
}

static int close_shared(void)
{
	return rdmaez_dm_shared_close(&t.shared, t.diag);
}

static int export_dmabuf(void)
{
	int error = rdmaez_dm_dmabuf(&t.dm, &t.out.fd, t.diag);

	if (!error)
		t.fd = t.out.fd;
	return error;
}

/* ---- Handshakes ------------------------------------------------------------------------------ */

/* What the other end sends, as long as both do well. */
static void make_messages(void)
{
	struct rdmaez_handshake ours, theirs;
	uint8_t bytes[MESSAGES];
	size_t count, taken;

	make_qp();
	t.local.user_length = t.remote.user_length = 0;
	if (rdmaez_handshake_connect(&ours, -1, t.qp, &t.local, NULL, NULL) ||
	    rdmaez_handshake_connect(&theirs, -1, t.peer, &t.remote, NULL, NULL))
		tap_bail("no handshake");
	while (ours.wants || theirs.wants) {
		rdmaez_handshake_take(&ours, bytes, sizeof(bytes), &count, NULL);
		rdmaez_handshake_give(&theirs, bytes, count, &taken, NULL);
		rdmaez_handshake_take(&theirs, t.message + t.messages, MESSAGES - t.messages,
				      &count, NULL);
		rdmaez_handshake_give(&ours, t.message + t.messages, count, &taken, NULL);
		t.messages += count;
	}
	if (ours.error || theirs.error || rdmaez_qp_to_reset(t.qp, NULL))
		tap_bail("no messages");
}

static void make_stream(void)
{
	make_messages();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, t.end) ||
	    write(t.end[1], t.message, t.messages) != (ssize_t)t.messages)
		tap_bail("no stream");
}

static int exchange_told(void)
{
	return rdmaez_exchange_connect(t.end[0], t.qp, &t.local, &t.out.endpoint, NULL, t.diag);
}

static int exchange_asked(void)
{
	return rdmaez_exchange_connect(t.end[0], t.qp, NULL, &t.out.endpoint, NULL, t.diag);
}

/* What came from an end that failed tells the peer that, and by which errno value. */
static const char *fault_of_news(int error)
{
	struct rdmaez_handshake theirs;
	struct rdmaez_diag diag;
	uint8_t bytes[MESSAGES];
	size_t count, taken;
	const ssize_t got = recv(t.end[1], bytes, sizeof(bytes), MSG_DONTWAIT);
	const struct rdmaez_finding *finding;

	if (got < 0 || rdmaez_qp_to_reset(t.peer, NULL) ||
	    rdmaez_handshake_connect(&theirs, -1, t.peer, &t.remote, NULL, NULL))
		return "nothing has come to the peer";
	for (size_t at = 0; !theirs.error && at < (size_t)got; at += taken) {
		uint8_t ours[MESSAGES];

		rdmaez_handshake_take(&theirs, ours, sizeof(ours), &count, &diag);
		if (rdmaez_handshake_give(&theirs, bytes + at, (size_t)got - at, &taken, &diag) ==
			    0 &&
		    !taken)
			break;
	}
	finding = rdmaez_diag_find(&diag, RDMAEZ_WHY_PEER_FAILED);
	if (theirs.error != ECONNABORTED || !finding || finding->value != (uint64_t)error)
		return "the peer is not told";
	return NULL;
}

static int shake_hands(void)
{
	uint8_t bytes[MESSAGES];
	size_t count, taken, at = 0;
	int error = rdmaez_handshake_connect(&t.shake, -1, t.qp, &t.local, NULL, t.diag);

	while (!error && t.shake.wants) {
		error = rdmaez_handshake_take(&t.shake, bytes, sizeof(bytes), &count, t.diag);
		if (!error && at < t.messages)
			error = rdmaez_handshake_give(&t.shake, t.message + at, t.messages - at,
						      &taken, t.diag);
		at += error ? 0 : taken;
	}
	return error;
}

static int next_event(void)
{
	struct ibv_async_event event;

	return rdmaez_event_next(t.ctx, RDMAEZ_NS_NOW, &event, t.diag);
}

static void make_event(void)
{
	const struct ibv_async_event event = {.element.port_num = 1,
					      .event_type = IBV_EVENT_PORT_ACTIVE};

	fake_event(t.ctx, &event);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static const struct flow flows[] = {
	{.name = "rdmaez_device_open, of any", .run = open_device},
	{.name = "rdmaez_device_open, by name", .run = open_named},
	{.name = "rdmaez_device_close", .make = make_context, .run = close_device},
	{.name = "rdmaez_pd_alloc", .run = alloc_pd},
	{.name = "rdmaez_channel_create", .run = create_channel},
	{.name = "rdmaez_cq_create", .run = create_cq},
	{.name = "rdmaez_cq_create_ex", .run = create_cq_ex},
	{.name = "rdmaez_cq_resize", .run = resize_cq},
	{.name = "rdmaez_srq_create", .run = create_srq},
	{.name = "rdmaez_srq_create_ex", .run = create_srq_ex},
	{.name = "rdmaez_srq_modify", .make = make_srq, .run = modify_srq},
	{.name = "rdmaez_srq_arm", .make = make_srq, .run = arm_srq},
	{.name = "rdmaez_xrcd_open", .run = open_xrcd},
	{.name = "destroying each object", .run = destroy_all, .closes = true, .once = true},
	{.name = "rdmaez_mr_reg", .run = reg_mr},
	{.name = "rdmaez_mr_reg_dmabuf", .make = make_dmabuf, .run = reg_dmabuf},
	{.name = "rdmaez_qp_create", .run = create_qp},
	{.name = "rdmaez_qp_create_ex", .run = create_qp_ex},
	{.name = "rdmaez_qp_max_inline", .run = max_inline, .calls = 3},
	{.name = "rdmaez_simple_open", .run = open_plain},
	{.name = "rdmaez_simple_open, with all there is", .run = open_rich},
	{.name = "rdmaez_simple_close", .make = make_plain, .run = close_simple, .closes = true},
	{.name = "rdmaez_simple_close, with all there is",
	 .make = make_rich,
	 .run = close_simple,
	 .closes = true},
	{.name = "rdmaez_port_query", .run = query_port},
	{.name = "rdmaez_port_choose_gid", .run = choose_gid},
	{.name = "rdmaez_port_find_pkey", .run = find_pkey},
	{.name = "rdmaez_caps_query", .run = query_caps},
	{.name = "rdmaez_port_caps_query", .run = query_port_caps},
	{.name = "rdmaez_ah_create", .run = create_ah},
	{.name = "rdmaez_qp_state", .make = make_qp, .run = query_state},
	{.name = "the bring-up of a queue pair", .make = make_qp, .run = bring_up},
	{.name = "rdmaez_endpoint_local", .make = make_qp, .run = fill_endpoint},
	{.name = "rdmaez_endpoint_local, with ECE", .make = make_qp, .run = fill_with_ece},
	{.name = "rdmaez_qp_connect", .make = make_qp, .run = connect_qp},
	{.name = "rdmaez_qp_connect_ud", .make = make_ud, .run = connect_ud},
	{.name = "rdmaez_qp_connect_loopback",
	 .make = make_qp,
	 .run = connect_loopback,
	 .once = true},
	{.name = "rdmaez_qp_drain", .make = make_working, .run = drain},
	{.name = "rdmaez_drain_begin", .make = make_working, .run = begin_drain},
	{.name = "rdmaez_qp_quiesce", .make = make_rts, .run = quiesce},
	{.name = "rdmaez_qp_change", .make = make_rts, .run = change},
	{.name = "rdmaez_qp_resume", .make = make_held, .run = resume},
	{.name = "rdmaez_qp_recover", .make = make_working, .run = recover},
	{.name = "rdmaez_qp_destroy", .make = make_working, .run = destroy},
	{.name = "rdmaez_qp_to_err, rdmaez_qp_to_reset", .make = make_rts, .run = reset},
	{.name = "rdmaez_wr_post_send", .make = make_rts, .run = post_send},
	{.name = "rdmaez_wr_post_recv", .make = make_rts, .run = post_recv},
	{.name = "rdmaez_wr_post_srq_recv", .make = make_srq, .run = post_srq},
	{.name = "rdmaez_wc_poll", .make = make_completion, .run = poll_cq},
	{.name = "rdmaez_cq_arm", .run = arm_cq},
	{.name = "rdmaez_cq_wait", .make = make_completion, .run = wait_cq},
	{.name = "rdmaez_multicast_join", .make = make_group, .run = join_group},
	{.name = "rdmaez_multicast_leave", .make = make_joined, .run = leave_group},
	{.name = "rdmaez_multicast_ah_create", .make = make_group, .run = create_group_ah},
	{.name = "rdmaez_dm_alloc", .run = alloc_dm},
	{.name = "rdmaez_dm_reg", .make = make_dm, .run = reg_dm},
	{.name = "rdmaez_dm_close", .make = make_dm, .run = close_dm},
	{.name = "rdmaez_dm_copy_to, rdmaez_dm_copy_from",
	 .make = make_dm,
	 .run = copy_dm,
	 .unrecorded = true},
	{.name = "rdmaez_dm_fill", .make = make_dm, .run = fill_dm, .unrecorded = true},
	{.name = "rdmaez_dm_import", .make = make_exported, .run = import_dm},
	{.name = "rdmaez_dm_receive", .make = make_sent, .run = receive_dm, .once = true},
	{.name = "rdmaez_dm_shared_close",
	 .make = make_imported,
	 .run = close_shared,
	 .closes = true},
	{.name = "rdmaez_dm_dmabuf", .make = make_dm, .run = export_dmabuf},
	{.name = "rdmaez_exchange_connect",
	 .make = make_stream,
	 .run = exchange_told,
	 .after = fault_of_news,
	 .once = true},
	{.name = "rdmaez_exchange_connect, without an endpoint",
	 .make = make_stream,
	 .run = exchange_asked,
	 .after = fault_of_news,
	 .works = EPROTO,
	 .once = true},
	{.name = "rdmaez_handshake_connect", .make = make_messages, .run = shake_hands},
	{.name = "rdmaez_event_next", .make = make_event, .run = next_event},
};

/* Verbs that are only asked for what may be missing come first, whoever asks. */
static const struct rule rules[] = {
	{.verb = FAKE_QUERY_DEVICE, .result = GOES_ON},
	{.verb = FAKE_QUERY_GID_TABLE, .result = GOES_ON}, /* it asks for each entry */
	{.verb = FAKE_POLL_CQ, .result = EIO},
	{.run = open_device, .verb = FAKE_QUERY_PORT, .result = GOES_ON},
	{.run = open_plain, .verb = FAKE_QUERY_PORT, .result = GOES_ON},
	{.run = query_caps, .verb = FAKE_QUERY_DEVICE_EX, .error = EOPNOTSUPP, .result = GOES_ON},
	{.run = query_caps, .verb = FAKE_QUERY_DEVICE_EX, .error = ENOSYS, .result = GOES_ON},
	{.run = alloc_dm,
	 .verb = FAKE_QUERY_DEVICE_EX,
	 .error = EOPNOTSUPP,
	 .result = EOPNOTSUPP,
	 .unnamed = true},
	{.run = alloc_dm,
	 .verb = FAKE_QUERY_DEVICE_EX,
	 .error = ENOSYS,
	 .result = EOPNOTSUPP,
	 .unnamed = true},
	{.run = fill_with_ece, .verb = FAKE_QUERY_ECE, .error = EOPNOTSUPP, .result = GOES_ON},
	/* The search takes these for "too much", once it has been granted something. */
	{.run = max_inline, .verb = FAKE_CREATE_QP, .nth = 2, .error = ENOMEM, .result = GOES_ON},
	{.run = max_inline, .verb = FAKE_CREATE_QP, .nth = 2, .error = EINVAL, .result = GOES_ON},
	{.run = max_inline,
	 .verb = FAKE_CREATE_QP,
	 .nth = 2,
	 .error = EOPNOTSUPP,
	 .result = GOES_ON},
	{.run = max_inline, .verb = FAKE_DESTROY_QP, .result = SAME, .left = 1},
	/* The functions of libibverbs that end an import return nothing. */
	{.verb = FAKE_UNIMPORT_MR, .result = GOES_ON},
	{.verb = FAKE_UNIMPORT_DM, .result = GOES_ON},
	{.verb = FAKE_UNIMPORT_PD, .result = GOES_ON},
	{.verb = FAKE_ACK_EVENT, .result = GOES_ON},
	/* ibv_import_device() makes ENODEV of it. */
	{.run = import_dm, .verb = FAKE_GET_DEVICE_LIST, .result = ENODEV, .unnamed = true},
	{.run = receive_dm, .verb = FAKE_GET_DEVICE_LIST, .result = ENODEV, .unnamed = true},
	{.run = export_dmabuf,
	 .verb = FAKE_DM_DMABUF,
	 .error = EOPNOTSUPP,
	 .result = SAME,
	 .unnamed = true},
	{.run = export_dmabuf,
	 .verb = FAKE_DM_DMABUF,
	 .error = ENOSYS,
	 .result = SAME,
	 .unnamed = true},
	{.run = close_dm, .verb = FAKE_FREE_DM, .error = ENOENT, .result = SAME, .left = -1},
	{.run = join_group,
	 .verb = FAKE_QUERY_GID_EX,
	 .error = ENODATA,
	 .result = SAME,
	 .unnamed = true},
	/* An event may be another thread's by now, and a signal may come. */
	{.run = next_event,
	 .verb = FAKE_GET_EVENT,
	 .error = EAGAIN,
	 .result = EAGAIN,
	 .unnamed = true},
	{.run = next_event,
	 .verb = FAKE_GET_EVENT,
	 .error = EINTR,
	 .result = EAGAIN,
	 .unnamed = true},
	{.run = next_event,
	 .verb = FAKE_GET_EVENT,
	 .error = ETIMEDOUT,
	 .result = EAGAIN,
	 .unnamed = true},
	{.run = resume, .verb = FAKE_QUERY_QP, .result = GOES_ON},
	/* The driver says that it cannot tell whether it drains; once it could, it is asked again. */
	{.run = quiesce,
	 .verb = FAKE_QUERY_QP,
	 .nth = 1,
	 .error = EINVAL,
	 .result = EOPNOTSUPP,
	 .unnamed = true},
	{.run = quiesce,
	 .verb = FAKE_QUERY_QP,
	 .nth = 1,
	 .error = EOPNOTSUPP,
	 .result = EOPNOTSUPP,
	 .unnamed = true},
	{.run = quiesce, .verb = FAKE_QUERY_QP, .nth = 2, .result = GOES_ON},
	{.run = change,
	 .verb = FAKE_QUERY_QP,
	 .nth = 1,
	 .error = EINVAL,
	 .result = EOPNOTSUPP,
	 .unnamed = true},
	{.run = change,
	 .verb = FAKE_QUERY_QP,
	 .nth = 1,
	 .error = EOPNOTSUPP,
	 .result = EOPNOTSUPP,
	 .unnamed = true},
	{.run = change, .verb = FAKE_QUERY_QP, .nth = 2, .result = GOES_ON},
	{.run = change,
	 .verb = FAKE_QUERY_QP,
	 .nth = 3,
	 .error = EINVAL,
	 .result = EOPNOTSUPP,
	 .unnamed = true},
	{.run = change,
	 .verb = FAKE_QUERY_QP,
	 .nth = 3,
	 .error = EOPNOTSUPP,
	 .result = EOPNOTSUPP,
	 .unnamed = true},
	{.run = change, .verb = FAKE_QUERY_QP, .nth = 4, .result = GOES_ON},
#define DRAINS(flow, late)                                                                                   \
	{.run = flow,                                                                                        \
	 .verb = FAKE_QUERY_QP,                                                                              \
	 .result =                                                                                           \
		 GOES_ON}, /* A queue that is full gets its beacon later; one that takes none has no end. */ \
		{.run = flow, .verb = FAKE_POST_SEND, .error = ENOMEM, .result = GOES_ON},                   \
		{.run = flow, .verb = FAKE_POST_SEND, .error = EAGAIN, .result = GOES_ON},                   \
		{.run = flow, .verb = FAKE_POST_SEND, .result = late, .unnamed = true},                      \
		{.run = flow, .verb = FAKE_POST_RECV, .error = ENOMEM, .result = GOES_ON},                   \
		{.run = flow, .verb = FAKE_POST_RECV, .error = EAGAIN, .result = GOES_ON},                   \
		{.run = flow,                                                                                \
		 .verb = FAKE_POST_RECV,                                                                     \
		 .result = late,                                                                             \
		 .unnamed =                                                                                  \
			 true}, /* rxe does not flush the beacons if it is not told again to. */             \
		{.run = flow, .verb = FAKE_MODIFY_QP, .nth = 2, .result = late, .unnamed = true},
	DRAINS(drain, ETIMEDOUT) DRAINS(begin_drain, GOES_ON) DRAINS(recover, ETIMEDOUT)
		DRAINS(destroy, ETIMEDOUT)
#undef DRAINS
};

/* Reasons that the errno value or the call itself proves, so that they may be certain. */
static const enum rdmaez_why proven[] = {
	RDMAEZ_WHY_QUERY_REFUSED, RDMAEZ_WHY_CHANNEL_IN_USE, RDMAEZ_WHY_CQ_FIXED,
	RDMAEZ_WHY_DM_FD,         RDMAEZ_WHY_DM_STALE,       RDMAEZ_WHY_WR_BAD,
	RDMAEZ_WHY_MR_DMABUF_FD, /* it is another file's, which the fake does not mind */
};

/* The verbs of a run in which nothing fails. */
static struct {
	enum fake_verb verb[MANY];
	unsigned int count;
} calls;

static bool learn(const struct flow *flow)
{
	int error;

	start(flow, true);
	error = flow->run();
	calls.count = fake_count(FAKE_ANY);
	if (!tap_eq_int(error, flow->works, "%s: works, by %u verbs calls", flow->name,
			calls.count))
		show_record(&t.record);
	if (calls.count > MANY)
		tap_bail("more verbs calls than there is room for");
	for (unsigned int i = 0; i < calls.count; i++)
		calls.verb[i] = fake_nth(i + 1)->verb;
	return error == flow->works;
}

/* What the nth call's failure should lead to. */
static struct rule rule_of(const struct flow *flow, unsigned int nth, int error)
{
	const enum fake_verb verb = calls.verb[nth - 1];
	const struct rule plain = {.result = SAME};
	unsigned int which = 0;

	for (unsigned int call = 0; call < nth; call++)
		which += calls.verb[call] == verb;
	for (size_t i = 0; i < COUNT_OF(rules); i++)
		if ((!rules[i].run || rules[i].run == flow->run) && rules[i].verb == verb &&
		    (!rules[i].nth || rules[i].nth == which) &&
		    (!rules[i].error || rules[i].error == error))
			return rules[i];
	return plain;
}

static bool destroys(enum fake_verb verb)
{
	switch (verb) {
	case FAKE_CLOSE_DEVICE:
	case FAKE_DEALLOC_PD:
	case FAKE_DEREG_MR:
	case FAKE_DESTROY_CQ:
	case FAKE_DESTROY_CHANNEL:
	case FAKE_DESTROY_SRQ:
	case FAKE_DESTROY_QP:
	case FAKE_DESTROY_AH:
	case FAKE_CLOSE_XRCD:
	case FAKE_FREE_DM:
	case FAKE_UNIMPORT_DM:
	case FAKE_UNIMPORT_MR:
	case FAKE_UNIMPORT_PD:
		return true;
	default:
		return false;
	}
}

/* What is documented to return an errno value, and is believed: it cannot forget one. */
static bool returns_errno(enum fake_verb verb)
{
	switch (verb) {
	case FAKE_QUERY_PORT:
	case FAKE_QUERY_GID_TABLE:
	case FAKE_QUERY_QP:
	case FAKE_MODIFY_QP:
	case FAKE_POST_SEND:
	case FAKE_POST_RECV:
	case FAKE_POST_SRQ_RECV:
	case FAKE_REQ_NOTIFY_CQ:
	case FAKE_MEMCPY_TO_DM:
	case FAKE_MEMCPY_FROM_DM:
		return true;
	default:
		return false;
	}
}

/* The questions: those that come after a failure fail as well, once each. */
static void fail_questions(unsigned int nth)
{
	static const enum fake_verb questions[] = {
		FAKE_QUERY_DEVICE, FAKE_QUERY_DEVICE_EX, FAKE_QUERY_PORT, FAKE_QUERY_GID,
		FAKE_QUERY_GID_EX, FAKE_QUERY_GID_TABLE, FAKE_QUERY_PKEY, FAKE_GET_PKEY_INDEX,
		FAKE_QUERY_QP,     FAKE_QUERY_SRQ,
	};

	for (size_t i = 0; i < COUNT_OF(questions); i++) {
		unsigned int before = 0;

		for (unsigned int call = 0; call < nth; call++)
			before += calls.verb[call] == questions[i];
		fake_fail(questions[i], before + 1, EIO);
	}
}

/* What these errno values mean, whichever verb returns them: one of the reasons must be in the record. */
static const struct {
	int error;
	enum rdmaez_why reasons[8];
} meanings[] = {
	{EIO, {RDMAEZ_WHY_DEVICE_GONE}},
	{ENXIO, {RDMAEZ_WHY_DEVICE_GONE}},
	{ENODEV,
	 {RDMAEZ_WHY_DEVICE_GONE, RDMAEZ_WHY_GID_NO_NETDEV, RDMAEZ_WHY_DM_FD,
	  RDMAEZ_WHY_DEVICE_NONE}},
	{ENOMEM, {RDMAEZ_WHY_NO_RESOURCES, RDMAEZ_WHY_DM_FULL, RDMAEZ_WHY_WR_QUEUE_FULL}},
	{ENOSPC, {RDMAEZ_WHY_NO_RESOURCES, RDMAEZ_WHY_DM_FULL}},
	{EAGAIN, {RDMAEZ_WHY_BUSY, RDMAEZ_WHY_NO_RESOURCES, RDMAEZ_WHY_DM_FULL}},
	{EBUSY,
	 {RDMAEZ_WHY_BUSY, RDMAEZ_WHY_CHANNEL_IN_USE, RDMAEZ_WHY_CQ_IN_USE, RDMAEZ_WHY_DM_IN_USE,
	  RDMAEZ_WHY_MR_IN_USE, RDMAEZ_WHY_PD_IN_USE, RDMAEZ_WHY_SRQ_IN_USE,
	  RDMAEZ_WHY_QP_MULTICAST}},
	{ENOSYS,
	 {RDMAEZ_WHY_NOT_SUPPORTED, RDMAEZ_WHY_CQ_FIXED, RDMAEZ_WHY_CREATE_TYPE,
	  RDMAEZ_WHY_MR_DMABUF_EXPORTER, RDMAEZ_WHY_DEVICE_NONE}},
	{EOPNOTSUPP,
	 {RDMAEZ_WHY_NOT_SUPPORTED, RDMAEZ_WHY_CQ_FIXED, RDMAEZ_WHY_CREATE_TYPE,
	  RDMAEZ_WHY_MR_DMABUF_EXPORTER}},
	{524, {RDMAEZ_WHY_NOT_SUPPORTED, RDMAEZ_WHY_MR_DMABUF_EXPORTER}},
	{ETIMEDOUT, {RDMAEZ_WHY_TIMED_OUT, RDMAEZ_WHY_NEIGHBOUR}},
};

static bool has_meaning(int error)
{
	const enum rdmaez_why first = t.record.finding[0].reason;

	if (first == RDMAEZ_WHY_QUERY_REFUSED)
		return true;
	for (size_t i = 0; i < COUNT_OF(meanings); i++) {
		if (meanings[i].error != error)
			continue;
		for (size_t why = 0; why < COUNT_OF(meanings[i].reasons); why++)
			if (meanings[i].reasons[why] &&
			    rdmaez_diag_find(&t.record, meanings[i].reasons[why]))
				return true;
		return false;
	}
	return first != RDMAEZ_WHY_DEVICE_GONE && first != RDMAEZ_WHY_NOT_SUPPORTED;
}

static bool is_proven(enum rdmaez_why reason, int error)
{
	if (reason == RDMAEZ_WHY_DEVICE_NONE)
		return error == ENODEV || error == ENOSYS;
	for (size_t i = 0; i < COUNT_OF(proven); i++)
		if (proven[i] == reason)
			return true;
	return false;
}

/* What is wrong with the record of a call that a verb made fail, NULL: nothing. */
static const char *fault_of_record(int error, const char *verb)
{
	const struct rdmaez_finding *const first = &t.record.finding[0];
	const size_t length = strlen(verb);
	char text[16384];

	if (!t.record.verb || strncmp(t.record.verb, verb, length) != 0 ||
	    (t.record.verb[length] && strcmp(t.record.verb + length, "_ex") != 0))
		return "the record names another verb";
	if (!t.record.count)
		return "the record has no finding";
	if (first->severity == RDMAEZ_DIAG_ERROR && !is_proven(first->reason, error) &&
	    strcmp(verb, "ibv_poll_cq") != 0)
		return "the record claims for certain what is not so";
	if (!has_meaning(error) && strcmp(verb, "ibv_poll_cq") != 0)
		return "the record lacks what this errno value means";
	rdmaez_diag_format(&t.record, text, sizeof(text));
	if (!strstr(text, verb) || !strstr(text, rdmaez_errno_str(error)))
		return "the text lacks the verb or the errno value";
	return NULL;
}

/* What has changed that should not have, NULL: nothing. */
static const char *fault_of_state(const struct flow *flow, int objects, int fd)
{
	if (fake_misused() || fake_out_of_bounds())
		return "verbs were misused";
	if (fake_open_count() != objects) {
		tap_diag("%d objects should be there, and %d are", objects, fake_open_count());
		return "objects are left, or gone";
	}
	if (fixture_next_fd() != fd && !flow->closes && flow->run != leave_group)
		return "descriptors are left, or gone";
	if (t.qp && t.qp->state != fake_qp_true(t.qp)->qp_state)
		return "the queue pair's state is another one";
	if (memcmp(&t.out, &t.untouched, sizeof(t.out)) != 0)
		return "an output was written";
	return NULL;
}

/* The same for the record of any failure. */
static const char *fault_of_texts(int error)
{
	if (!error &&
	    t.record.error == 0x55555555) /* those of the data path do not write it then */
		return NULL;
	if (t.record.error != error)
		return "the record has another errno value";
	return record_tells_all(&t.record) && record_is_consistent(&t.record)
		       ? NULL
		       : "the text does not tell the findings";
}

/* How a call fails, beside its errno value. */
enum way {
	PLAIN,
	UNRECORDED, /* without a record */
	QUESTIONS,  /* so do the questions that come after it */
	SILENT,     /* it says -1 or NULL, and leaves errno as it was: that is EIO */
	WAYS
};

/* What is wrong after the nth call failed with this errno value, NULL: nothing. */
static const char *fault_of(const struct flow *flow, unsigned int nth, int err, enum way way)
{
	const bool questions = way == QUESTIONS;
	const struct rule rule = rule_of(flow, nth, err);
	const int fd = fixture_next_fd(), want = rule.result == GOES_ON ? flow->works
						 : rule.result == SAME  ? err
									: rule.result;
	int error, left = fake_open_count() + rule.left;
	const char *fault = NULL;

	if (questions)
		fail_questions(nth);
	fake_fail(FAKE_ANY, nth, way == SILENT ? -1 : err);
	errno = EXDEV;
	error = flow->run();
	for (int i = 0; i < FAKE_VERB_COUNT; i++)
		fake_fail((enum fake_verb)i, 0, 0);
	for (unsigned int i = 0; flow->closes && i + 1 < nth; i++)
		left -= destroys(calls.verb[i]);
	/* Where a question may fail, the next one need not. */
	if (error != want && !(questions && rule.result != SAME)) {
		tap_diag("it is %s", rdmaez_errno_str(error));
		return "the errno value is another one";
	}
	if (error)
		fault = fault_of_state(flow, left, fd);
	if (!fault && t.diag && !flow->unrecorded)
		fault = fault_of_texts(error);
	if (fault || !error)
		return fault;
	if (t.diag && !flow->unrecorded && !rule.unnamed && error == want && rule.result != GOES_ON)
		fault = fault_of_record(error, fake_verb_str(calls.verb[nth - 1]));
	if (!fault && flow->after && rule.result != GOES_ON)
		fault = flow->after(error);
	if (!fault && !flow->once && !rule.left && flow->run())
		fault = "the same call does not work afterwards";
	return fault;
}

static void check_flow(const struct flow *flow)
{
	static const struct {
		const char *text;
		size_t errors; /* how many errno values are tried */
	} ways[WAYS] = {{"", COUNT_OF(errnos)},
			{", without a record", FEW},
			{", and so do the questions after it", FEW},
			{", and does not set errno", 1}};

	if (!learn(flow))
		return;
	for (unsigned int nth = 1; nth <= calls.count && (!flow->calls || nth <= flow->calls);
	     nth++)
		for (unsigned int way = PLAIN; way < WAYS; way++) {
			unsigned int faults = 0;

			if (way == SILENT && returns_errno(calls.verb[nth - 1]))
				continue;
			for (size_t i = 0; i < ways[way].errors; i++) {
				const int err = way == SILENT ? EIO : errnos[i];
				const char *fault;

				start(flow, way != UNRECORDED);
				fault = fault_of(flow, nth, err, (enum way)way);
				faults += fault != NULL;
				if (!fault)
					continue;
				tap_diag("%s: %s", rdmaez_errno_str(err), fault);
				if (way != UNRECORDED && t.record.error)
					show_record(&t.record);
			}
			tap_eq_int(faults, 0, "%s: call %u, %s, fails%s", flow->name, nth,
				   fake_verb_str(calls.verb[nth - 1]), ways[way].text);
		}
}

/* How many calls have destroyed something since start(). */
static int destroyed(void)
{
	int count = 0;

	for (unsigned int nth = 1; nth <= fake_count(FAKE_ANY); nth++)
		if (fake_nth(nth) && destroys(fake_nth(nth)->verb) && !fake_nth(nth)->error)
			count++;
	return count;
}

/* Some calls fail, of those that destroy nothing, which could leave something behind. */
static void fail_some(void)
{
	for (unsigned int i = 0; i < calls.count; i++)
		if (!destroys(calls.verb[i]) && !one_in(3))
			fake_fail(calls.verb[i], 1 + any(2), errnos[any(COUNT_OF(errnos))]);
}

static const char *fault_at_random(const struct flow *flow)
{
	const int objects = fake_open_count(), fd = fixture_next_fd();
	const char *fault = NULL;
	int error;

	fail_some();
	error = flow->run();
	if (error < 0)
		return "that is no errno value";
	if (error)
		fault = fault_of_state(flow, objects - (flow->closes ? destroyed() : 0), fd);
	return fault || flow->unrecorded ? fault : fault_of_texts(error);
}

static void check_at_random(const struct flow *flow, uint32_t first)
{
	unsigned int faults = 0;

	if (!learn(flow) || !calls.count)
		return;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const char *fault;

		seed = first + round;
		start(flow, true);
		fault = fault_at_random(flow);
		faults += fault != NULL;
		if (!fault)
			continue;
		tap_diag("seed %u: %s", first + round, fault);
		show_record(&t.record);
	}
	tap_eq_int(faults, 0, "%s: %d runs with calls that fail at random, from seed %u on",
		   flow->name, ROUNDS, first);
}

int main(int argc, char **argv)
{
	const uint32_t first = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;

	for (size_t i = 0; i < COUNT_OF(flows); i++)
		check_flow(&flows[i]);
	for (size_t i = 0; i < COUNT_OF(flows); i++)
		check_at_random(&flows[i], first);
	finish();
	return tap_done();
}
