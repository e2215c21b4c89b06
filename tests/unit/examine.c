/* SPDX-License-Identifier: MIT */
/* Why nothing happens, by what the program knows as well; and what a wait says whose time is over. */
#define _GNU_SOURCE /* mkdtemp(), syscall() */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include <rdmaez/examine.h>
#include "findings.h"
#include "fixture.h"

enum {
	ROW = 3, /* of the GID table: IPv4-mapped, RoCE v2 */
	CQE = 16
};

#define MS UINT64_C(1000000)

static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_qp *qp;
	struct ibv_qp_attr *is; /* the hardware's own */
	struct ibv_port_attr *port;
	struct rdmaez_qp_known known;
	struct rdmaez_cq_known cq_known;
	struct rdmaez_port_counts before;
	struct rdmaez_diag diag;
	char path[64]; /* of files that stand for sysfs */
} t;

/* A clock of its own, which each look moves on. */
static struct {
	bool ticks;
	uint64_t ns;
} at;

int clock_gettime(clockid_t id, struct timespec *time)
{
	if (!at.ticks)
		return (int)syscall(SYS_clock_gettime, id, time);
	at.ns += 100 * MS;
	time->tv_sec = (time_t)(at.ns / (1000 * MS));
	time->tv_nsec = (long)(at.ns % (1000 * MS));
	return 0;
}

int nanosleep(const struct timespec *rest, struct timespec *left)
{
	return at.ticks ? 0 : (int)syscall(SYS_nanosleep, rest, left);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	const int ms = at.ticks ? 0 : timeout;
	const struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	return ppoll(fds, count, ms < 0 ? NULL : &rest, NULL);
}

/* What TCP tells of a socket; negative: the kernel's own. */
static int unacked = -1;

int getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	const uint32_t word = (uint32_t)unacked;

	if (unacked < 0 || level != IPPROTO_TCP)
		return (int)syscall(SYS_getsockopt, fd, level, name, value, size);
	memset(value, 0, *size);
	memset(value, 1, 1);
	memcpy((char *)value + 24, &word, sizeof(word));
	return 0;
}

/* Nothing is wrong with this queue pair, nor with its port. Its two completion queues are two. */
static void start(enum ibv_qp_type type, enum ibv_qp_state state)
{
	static const uint8_t peer[16] = {[10] = 0xff, 0xff, 192, 0, 2, 77};

	fake_close_all();
	t.dev = fake_reset();
	fake_profile(t.dev, FAKE_PROFILE_RXE);
	snprintf(t.dev->verbs.ibdev_path, sizeof(t.dev->verbs.ibdev_path), "%s", t.path);
	t.port = &t.dev->port[1].attr;
	t.ctx = fake_open(t.dev);
	t.qp = fixture_qp(t.ctx, type, state);
	t.qp->send_cq = ibv_create_cq(t.ctx, CQE, NULL, NULL, 0);
	t.qp->recv_cq = ibv_create_cq(t.ctx, CQE, NULL, NULL, 0);
	if (!t.qp->send_cq || !t.qp->recv_cq)
		tap_bail("no completion queues");
	t.is = fixture_truth(t.qp);
	t.is->timeout = 14;
	t.is->retry_cnt = t.is->rnr_retry = 6;
	t.is->min_rnr_timer = 12;
	t.is->max_rd_atomic = t.is->max_dest_rd_atomic = 1;
	t.is->path_mtu = IBV_MTU_1024;
	t.is->dest_qp_num = 17;
	t.is->ah_attr.is_global = 1;
	t.is->ah_attr.grh.sgid_index = ROW;
	memcpy(t.is->ah_attr.grh.dgid.raw, peer, sizeof(peer));
	memset(&t.known, 0, sizeof(t.known));
	memset(&t.cq_known, 0, sizeof(t.cq_known));
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

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

#define CERTAIN(reason, field, ...) {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define LIKELY(reason, field, ...)  {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define ADVICE(reason, field, ...)  {RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define NUMBERLESS                  RDMAEZ_VALUE_NONE, 0, 0, 0
#define COUNTED(n)                  RDMAEZ_VALUE_COUNTED, n, 0, 0
#define STATE(is, needed)           RDMAEZ_VALUE_STATE_NOW, is, 0, needed
#define RTS_ONLY                    (1 << IBV_QPS_RTS)
#define RECEIVES                    (1 << IBV_QPS_RTR | 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE)
#define NOTHING                     ADVICE(QP_NOTHING_FOUND, "qp", NUMBERLESS)
#define CHECK(name, ...)                                                            \
	CHECK_FINDINGS(&t.diag, rdmaez_qp_examine_with(t.qp, &t.known, &t.diag), 0, \
		       "rdmaez_qp_examine_with", name, __VA_ARGS__)
#define CHECK_CQ(name, ...)                                                                \
	CHECK_FINDINGS(&t.diag, rdmaez_cq_examine(t.qp->send_cq, &t.cq_known, &t.diag), 0, \
		       "rdmaez_cq_examine", name, __VA_ARGS__)

/* ---- A queue pair ------------------------------------------------------------------------- */

static void check_arguments(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	check_refusal(&t.diag, rdmaez_qp_examine_with(NULL, &t.known, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
	tap_eq_int(rdmaez_qp_examine_with(NULL, NULL, NULL), EINVAL, "nor a record");
	tap_eq_int(rdmaez_qp_examine_with(t.qp, NULL, NULL), 0, "without a record");
	tap_eq_int(fake_count(FAKE_ANY), 0, "nothing is asked");
	t.known.waits = 4;
	check_refusal(&t.diag, rdmaez_qp_examine_with(t.qp, &t.known, &t.diag), EINVAL,
		      RDMAEZ_WHY_OPTION_UNKNOWN, "known.waits", "a third queue");
	t.known.waits = 0;
	t.known.sends = -1;
	check_refusal(&t.diag, rdmaez_qp_examine_with(t.qp, &t.known, &t.diag), EINVAL,
		      RDMAEZ_WHY_RANGE, "known.sends", "fewer sends than none");
	t.known.sends = 0;
	t.known.signaled = -1;
	check_refusal(&t.diag, rdmaez_qp_examine_with(t.qp, &t.known, &t.diag), EINVAL,
		      RDMAEZ_WHY_RANGE, "known.signaled", "fewer signaled than none");
	t.known.signaled = 0;
	t.known.recvs = -1;
	check_refusal(&t.diag, rdmaez_qp_examine_with(t.qp, &t.known, &t.diag), EINVAL,
		      RDMAEZ_WHY_RANGE, "known.recvs", "fewer receives than none");
	t.known.recvs = 0;
	CHECK("nothing is known", NOTHING);
	CHECK_FINDINGS(&t.diag, rdmaez_qp_examine_with(t.qp, NULL, &t.diag), 0,
		       "rdmaez_qp_examine_with", "not even that", NOTHING);
}

/* Nothing is outstanding, so no setting and no counter of others holds anything up. */
static void check_idle(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->timeout = t.is->max_rd_atomic = t.is->min_rnr_timer = t.is->max_dest_rd_atomic = 0;
	t.is->qp_access_flags = IBV_ACCESS_REMOTE_READ;
	t.is->rnr_retry = t.is->retry_cnt = 7;
	t.port->bad_pkey_cntr = 4;
	t.known.sends = t.known.recvs = RDMAEZ_ZERO;
	counter("hw_counters/send_rnr_err", "8");
	CHECK("idle", NOTHING);
	t.known.recvs = 1;
	CHECK("a receive is posted",
	      ADVICE(DEPTH_ZERO, "max_dest_rd_atomic", RDMAEZ_VALUE_NUMBER, 0, 1, 255),
	      ADVICE(RNR_TIMER_ZERO, "min_rnr_timer", RDMAEZ_VALUE_NUMBER, 0, 1, 31),
	      ADVICE(COUNTED_PKEY, "bad_pkey_cntr", COUNTED(4)),
	      ADVICE(COUNTED_NO_RECEIVE, "hw_counters/send_rnr_err", COUNTED(8)));
	counter("hw_counters/send_rnr_err", NULL);
	fake_qp_force(t.qp, IBV_QPS_ERR);
	t.known.recvs = RDMAEZ_ZERO;
	CHECK("idle, and failed", CERTAIN(WR_QP_ERROR, "qp_state", STATE(IBV_QPS_ERR, RTS_ONLY)),
	      ADVICE(QP_STALE, "state", NUMBERLESS));
}

static void check_awaited(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.known.waits = RDMAEZ_QUEUE_SEND;
	t.known.sends = RDMAEZ_ZERO;
	CHECK("no send to wait for", CERTAIN(NOTHING_POSTED, "sends", NUMBERLESS));
	t.known.sends = 3;
	CHECK("three sends", NOTHING);
	t.known.signaled = RDMAEZ_ZERO;
	t.is->timeout = 0;
	CHECK("none of which is signaled", CERTAIN(UNSIGNALED, "send_flags", NUMBERLESS),
	      LIKELY(TIMEOUT_ZERO, "timeout", RDMAEZ_VALUE_NUMBER, 0, 1, 31));
	t.known.sends = 0;
	t.is->timeout = 14;
	CHECK("however many they are", CERTAIN(UNSIGNALED, "send_flags", NUMBERLESS));
	t.known.waits = RDMAEZ_QUEUE_RECV;
	CHECK("which matters to who waits for them", NOTHING);
	t.known.recvs = RDMAEZ_ZERO;
	CHECK("no receive to wait for", CERTAIN(NOTHING_POSTED, "recvs", NUMBERLESS));
	t.known.waits = RDMAEZ_QUEUE_RECV | RDMAEZ_QUEUE_SEND;
	t.known.sends = RDMAEZ_ZERO;
	CHECK("nothing to wait for", CERTAIN(NOTHING_POSTED, "sends", NUMBERLESS),
	      CERTAIN(NOTHING_POSTED, "recvs", NUMBERLESS));
}

static void check_polled(void)
{
	struct ibv_cq *other;

	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.known.cq = t.qp->recv_cq;
	CHECK("one of its queues", NOTHING);
	t.known.waits = RDMAEZ_QUEUE_RECV;
	CHECK("the right one", NOTHING);
	t.known.waits = RDMAEZ_QUEUE_SEND;
	CHECK("the wrong one", CERTAIN(CQ_NOT_POLLED, "send_cq", NUMBERLESS));
	t.known.waits |= RDMAEZ_QUEUE_RECV;
	CHECK("half of them", CERTAIN(CQ_NOT_POLLED, "send_cq", NUMBERLESS));
	t.known.cq = t.qp->send_cq;
	CHECK("the other half", CERTAIN(CQ_NOT_POLLED, "recv_cq", NUMBERLESS));
	other = ibv_create_cq(t.ctx, CQE, NULL, NULL, 0);
	t.known.cq = other;
	t.known.waits = 0;
	CHECK("none of them", CERTAIN(CQ_NOT_POLLED, "send_cq", NUMBERLESS),
	      CERTAIN(CQ_NOT_POLLED, "recv_cq", NUMBERLESS));
	t.qp->recv_cq = NULL;
	CHECK("a queue pair with one", CERTAIN(CQ_NOT_POLLED, "send_cq", NUMBERLESS));
	t.known.cq = t.qp->recv_cq = t.qp->send_cq;
	t.known.waits = RDMAEZ_QUEUE_RECV | RDMAEZ_QUEUE_SEND;
	CHECK("one for both", NOTHING);
	t.known.sends = t.known.signaled = t.known.recvs = CQE / 2;
	CHECK("room for all", NOTHING);
	t.known.recvs++;
	CHECK("for all but one",
	      LIKELY(DRAIN_CQ, "send_cq", RDMAEZ_VALUE_NUMBER, CQE, CQE + 1, INT32_MAX));
	t.known.recvs = RDMAEZ_ZERO;
	t.known.waits = RDMAEZ_QUEUE_SEND;
	t.known.sends = CQE + 1;
	CHECK("unsignaled ones take none", NOTHING);
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.known.sends = t.known.signaled = t.known.recvs = CQE + 1;
	CHECK("too many for either",
	      LIKELY(DRAIN_CQ, "send_cq", RDMAEZ_VALUE_NUMBER, CQE, CQE + 1, INT32_MAX),
	      LIKELY(DRAIN_CQ, "recv_cq", RDMAEZ_VALUE_NUMBER, CQE, CQE + 1, INT32_MAX));
}

/* Who waits for one queue alone may have no use for the other. */
static void check_states(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTR);
	CHECK("RTR", CERTAIN(QP_NO_SENDS, "qp_state", STATE(IBV_QPS_RTR, RTS_ONLY)));
	t.known.waits = RDMAEZ_QUEUE_RECV;
	CHECK("RTR, and a wait for a receive",
	      LIKELY(QP_NO_SENDS, "qp_state", STATE(IBV_QPS_RTR, RTS_ONLY)));
	t.known.sends = RDMAEZ_ZERO;
	CHECK("and nothing was sent", NOTHING);
	t.known.sends = 1;
	t.known.waits = RDMAEZ_QUEUE_SEND;
	CHECK("and something was", CERTAIN(QP_NO_SENDS, "qp_state", STATE(IBV_QPS_RTR, RTS_ONLY)));
	start(IBV_QPT_RC, IBV_QPS_INIT);
	t.known.waits = RDMAEZ_QUEUE_SEND;
	CHECK("INIT, and a wait for a send",
	      CERTAIN(QP_NO_SENDS, "qp_state", STATE(IBV_QPS_INIT, RTS_ONLY)),
	      LIKELY(QP_NO_RECEIVES, "qp_state", STATE(IBV_QPS_INIT, RECEIVES)));
	t.known.recvs = RDMAEZ_ZERO;
	CHECK("and no receive is posted",
	      CERTAIN(QP_NO_SENDS, "qp_state", STATE(IBV_QPS_INIT, RTS_ONLY)));
	t.known.waits = RDMAEZ_QUEUE_RECV;
	t.known.recvs = 2;
	CHECK("INIT, and a wait for a receive",
	      CERTAIN(QP_NO_RECEIVES, "qp_state", STATE(IBV_QPS_INIT, RECEIVES)),
	      LIKELY(QP_NO_SENDS, "qp_state", STATE(IBV_QPS_INIT, RTS_ONLY)));
}

static void check_requests(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};

	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->max_rd_atomic = 0;
	t.is->rnr_retry = 7;
	t.known.sends = 1;
	CHECK("some request",
	      LIKELY(DEPTH_ZERO_HANG, "max_rd_atomic", RDMAEZ_VALUE_NUMBER, 0, 1, 255),
	      ADVICE(RNR_ENDLESS, "rnr_retry", RDMAEZ_VALUE_NUMBER, 7, 0, 6));
	t.known.wr = &wr;
	CHECK("a WRITE needs neither", NOTHING);
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	CHECK("with immediate data a receive",
	      ADVICE(RNR_ENDLESS, "rnr_retry", RDMAEZ_VALUE_NUMBER, 7, 0, 6));
	wr.opcode = IBV_WR_SEND;
	CHECK("as a SEND", ADVICE(RNR_ENDLESS, "rnr_retry", RDMAEZ_VALUE_NUMBER, 7, 0, 6));
	wr.opcode = IBV_WR_RDMA_READ;
	CHECK("a READ", LIKELY(DEPTH_ZERO_HANG, "max_rd_atomic", RDMAEZ_VALUE_NUMBER, 0, 1, 255));
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	CHECK("an atomic",
	      LIKELY(DEPTH_ZERO_HANG, "max_rd_atomic", RDMAEZ_VALUE_NUMBER, 0, 1, 255));
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	CHECK("the other",
	      LIKELY(DEPTH_ZERO_HANG, "max_rd_atomic", RDMAEZ_VALUE_NUMBER, 0, 1, 255));
}

/* timeout 14 is 67 ms, and each of seven tries takes up to four times as long. */
static void check_retries(void)
{
	const uint64_t each = UINT64_C(67108864);

	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.known.sends = 1;
	t.known.quiet_ns = 28 * each - 1;
	CHECK("retries that may still go on",
	      ADVICE(RETRIES_LAST, "timeout", RDMAEZ_VALUE_NS, each, 7 * each, 28 * each));
	t.known.quiet_ns++;
	CHECK("and may not", NOTHING);
	t.known.quiet_ns = 1;
	t.known.sends = RDMAEZ_ZERO;
	CHECK("nothing to send again", NOTHING);
	t.known.sends = 0;
	t.is->retry_cnt = 7;
	CHECK("without end, on rxe",
	      ADVICE(RETRY_ENDLESS, "retry_cnt", RDMAEZ_VALUE_NUMBER, 7, 0, 6));
	fake_profile(t.dev, FAKE_PROFILE_MLX5);
	CHECK("seven on mlx5",
	      ADVICE(RETRIES_LAST, "timeout", RDMAEZ_VALUE_NS, each, 8 * each, 32 * each));
	start(IBV_QPT_UD, IBV_QPS_RTS);
	t.known.sends = 1;
	t.known.quiet_ns = 1;
	CHECK("UD has none", NOTHING);
}

/* ---- Counters ----------------------------------------------------------------------------- */

static void check_growth(void)
{
	struct rdmaez_port_counts none = {0};

	start(IBV_QPT_RC, IBV_QPS_RTS);
	counter("hw_counters/completer_retry_err", "700");
	counter("hw_counters/rcvd_rnr_err", "40");
	t.port->bad_pkey_cntr = 2;
	tap_eq_int(rdmaez_port_count(t.ctx, 1, &t.before, &t.diag), 0, "a snapshot");
	check_success(&t.diag, 0, "of the port");
	tap_eq_str(t.diag.call, "rdmaez_port_count", "by its name");
	tap_eq_int(fake_count(FAKE_ANY), 1, "takes one verb");
	tap_eq_int(t.before.port, 1, "tells the port");
	tap_eq_str(t.before.device, "fake0", "and the device");
	tap_ok(t.before.ns > 0, "and when");
	t.known.before = &none;
	CHECK("a snapshot that was not taken", NOTHING,
	      ADVICE(COUNTED_PKEY, "bad_pkey_cntr", COUNTED(2)),
	      ADVICE(COUNTED_RNR, "hw_counters/rcvd_rnr_err", COUNTED(40)),
	      ADVICE(COUNTED_NO_ACK, "hw_counters/completer_retry_err", COUNTED(700)));
	t.known.before = &t.before;
	CHECK("nothing has grown", NOTHING);
	counter("hw_counters/completer_retry_err", "703");
	CHECK("one has", LIKELY(COUNTED_NO_ACK, "hw_counters/completer_retry_err", COUNTED(3)));
	t.port->bad_pkey_cntr = 9;
	t.is->rnr_retry = 7;
	CHECK("two have", LIKELY(COUNTED_PKEY, "bad_pkey_cntr", COUNTED(7)),
	      LIKELY(COUNTED_NO_ACK, "hw_counters/completer_retry_err", COUNTED(3)),
	      ADVICE(RNR_ENDLESS, "rnr_retry", RDMAEZ_VALUE_NUMBER, 7, 0, 6));
	t.is->rnr_retry = 6;
	t.port->bad_pkey_cntr = 1;
	counter("hw_counters/completer_retry_err", "5");
	CHECK("what was set back has not grown", NOTHING);
	counter("hw_counters/completer_retry_err", "900");
	t.known.sends = RDMAEZ_ZERO;
	CHECK("others wait for an acknowledgement", NOTHING);
	t.known.sends = 1;
	t.before.port = 2;
	CHECK("another port's snapshot", NOTHING, ADVICE(COUNTED_PKEY, "bad_pkey_cntr", COUNTED(1)),
	      ADVICE(COUNTED_RNR, "hw_counters/rcvd_rnr_err", COUNTED(40)),
	      ADVICE(COUNTED_NO_ACK, "hw_counters/completer_retry_err", COUNTED(900)));
	t.before.port = 1;
	t.before.device[0] = 'x';
	t.port->bad_pkey_cntr = 0;
	counter("hw_counters/rcvd_rnr_err", NULL);
	CHECK("another device's", NOTHING,
	      ADVICE(COUNTED_NO_ACK, "hw_counters/completer_retry_err", COUNTED(900)));
	counter("hw_counters/completer_retry_err", NULL);
	start(IBV_QPT_UD, IBV_QPS_RTS);
	t.port->qkey_viol_cntr = 5;
	rdmaez_port_count(t.ctx, 1, &t.before, NULL);
	t.known.before = &t.before;
	t.port->qkey_viol_cntr = 6;
	CHECK("a wrong Q_Key", LIKELY(COUNTED_QKEY, "qkey_viol_cntr", COUNTED(1)));

	check_refusal(&t.diag, rdmaez_port_count(NULL, 1, &t.before, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "no device");
	check_refusal(&t.diag, rdmaez_port_count(t.ctx, 1, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "counts", "no room");
	none = t.before;
	tap_eq_int(rdmaez_port_count(t.ctx, 2, &t.before, &t.diag), EINVAL, "no such port");
	tap_ok(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_PORT), "is said");
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	tap_eq_int(rdmaez_port_count(t.ctx, 1, &t.before, NULL), EIO, "a port that fails");
	tap_ok(!memcmp(&t.before, &none, sizeof(none)), "leaves the snapshot alone");
}

static void check_unread(void)
{
	struct ibv_async_event event = {.event_type = IBV_EVENT_CQ_ERR};

	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.port->bad_pkey_cntr = 1;
	event.element.cq = t.qp->send_cq;
	fake_event(t.ctx, &event);
	CHECK("an event", NOTHING, ADVICE(EVENT_UNREAD, "async_fd", NUMBERLESS),
	      ADVICE(COUNTED_PKEY, "bad_pkey_cntr", COUNTED(1)));
	CHECK_CQ("of the queue", ADVICE(EVENT_UNREAD, "async_fd", NUMBERLESS));
	tap_eq_int(ibv_get_async_event(t.ctx, &event), 0, "stays there");
	ibv_ack_async_event(&event);
	CHECK_CQ("and no more", ADVICE(CQ_NOTHING_FOUND, "cq", NUMBERLESS));
	t.cq_known.flags = RDMAEZ_CQ_FAILED;
	CHECK_CQ("it overran", CERTAIN(CQ_OVERRUN, "cq", NUMBERLESS));
}

/* ---- A completion queue ------------------------------------------------------------------- */

static void check_events(void)
{
	struct rdmaez_cq_watch watch = {0};
	struct ibv_comp_channel *channel;
	struct ibv_wc wc = {0};
	struct ibv_cq *of;
	void *context;

	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.cq_known.flags = RDMAEZ_CQ_BY_EVENT | RDMAEZ_CQ_ARMED | RDMAEZ_CQ_POLLED;
	CHECK_CQ("no channel", CERTAIN(CQ_NO_CHANNEL, "channel", NUMBERLESS));
	channel = ibv_create_comp_channel(t.ctx);
	t.qp->send_cq = ibv_create_cq(t.ctx, CQE, NULL, channel, 0);
	CHECK_CQ("armed, polled, and waited for", ADVICE(CQ_NOTHING_FOUND, "cq", NUMBERLESS));
	t.cq_known.flags = RDMAEZ_CQ_BY_EVENT;
	CHECK_CQ("not armed", CERTAIN(CQ_UNARMED, "cq", NUMBERLESS));
	t.cq_known.flags = RDMAEZ_CQ_BY_EVENT | RDMAEZ_CQ_ARMED;
	CHECK_CQ("armed and not polled", LIKELY(CQ_ARMED_LATE, "cq", NUMBERLESS));
	watch.cq = t.qp->send_cq;
	watch.flags = RDMAEZ_CQ_SOLICITED;
	t.cq_known.watch = &watch;
	t.cq_known.flags = RDMAEZ_CQ_BY_EVENT | RDMAEZ_CQ_POLLED;
	CHECK_CQ("not armed any more", CERTAIN(CQ_UNARMED, "cq", NUMBERLESS));
	t.cq_known.flags |= RDMAEZ_CQ_ARMED;
	CHECK_CQ("armed for solicited ones", ADVICE(CQ_SOLICITED, "flags", NUMBERLESS));
	watch.flags = 0;
	ibv_req_notify_cq(t.qp->send_cq, 0);
	if (!fake_cq_push(t.qp->send_cq, &wc))
		tap_bail("the queue is full");
	CHECK_CQ("an event is there", LIKELY(CQ_EVENT_WAITS, "channel", NUMBERLESS));
	t.cq_known.flags = RDMAEZ_CQ_BY_EVENT;
	CHECK_CQ("of a queue that is not armed any more",
		 LIKELY(CQ_EVENT_WAITS, "channel", NUMBERLESS));
	tap_eq_int(fake_count(FAKE_POLL_CQ), 0, "nothing is polled");
	tap_eq_int(ibv_get_cq_event(channel, &of, &context), 0, "the event stays there");
	watch.events = 1;
	t.cq_known.flags = RDMAEZ_CQ_ENDS;
	t.cq_known.outstanding = RDMAEZ_ZERO;
	CHECK_CQ("it is to be destroyed", CERTAIN(CQ_UNACKED, "events", COUNTED(1)));
	rdmaez_cq_ack(&watch);
	CHECK_CQ("and can be", ADVICE(CQ_NOTHING_FOUND, "cq", NUMBERLESS));
	watch.events = 3;
	watch.cq = t.qp->recv_cq;
	CHECK_CQ("another queue's watch", ADVICE(CQ_NOTHING_FOUND, "cq", NUMBERLESS));
}

static void check_queue(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	CHECK_FINDINGS(&t.diag, rdmaez_cq_examine(t.qp->send_cq, NULL, &t.diag), 0,
		       "rdmaez_cq_examine", "nothing is known",
		       ADVICE(CQ_NOTHING_FOUND, "cq", NUMBERLESS));
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	tap_eq_int(fake_count(FAKE_ANY), 0, "and no verb is called");
	t.cq_known.outstanding = RDMAEZ_ZERO;
	CHECK_CQ("nothing is outstanding", CERTAIN(NOTHING_POSTED, "outstanding", NUMBERLESS));
	t.cq_known.outstanding = CQE;
	CHECK_CQ("room for all", ADVICE(CQ_NOTHING_FOUND, "cq", NUMBERLESS));
	t.cq_known.outstanding++;
	CHECK_CQ("too many", LIKELY(DRAIN_CQ, "cqe", RDMAEZ_VALUE_NUMBER, CQE, CQE + 1, INT32_MAX));
	t.cq_known.signaled = RDMAEZ_ZERO;
	CHECK_CQ("none of which asks for a completion",
		 CERTAIN(UNSIGNALED, "send_flags", NUMBERLESS));
	check_refusal(&t.diag, rdmaez_cq_examine(NULL, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "cq", "no queue");
	tap_eq_int(rdmaez_cq_examine(t.qp->send_cq, &t.cq_known, NULL), 0, "no record");
	t.cq_known.signaled = -1;
	check_refusal(&t.diag, rdmaez_cq_examine(t.qp->send_cq, &t.cq_known, &t.diag), EINVAL,
		      RDMAEZ_WHY_RANGE, "known.signaled", "fewer than none");
	t.cq_known.outstanding = -1;
	check_refusal(&t.diag, rdmaez_cq_examine(t.qp->send_cq, &t.cq_known, &t.diag), EINVAL,
		      RDMAEZ_WHY_RANGE, "known.outstanding", "fewer than none");
	t.cq_known.flags = 64;
	check_refusal(&t.diag, rdmaez_cq_examine(t.qp->send_cq, &t.cq_known, &t.diag), EINVAL,
		      RDMAEZ_WHY_OPTION_UNKNOWN, "known.flags", "an unknown flag");
	t.cq_known.flags = RDMAEZ_CQ_SOLICITED;
	check_refusal(&t.diag, rdmaez_cq_examine(t.qp->send_cq, &t.cq_known, &t.diag), EINVAL,
		      RDMAEZ_WHY_OPTION_UNKNOWN, "known.flags", "a flag of rdmaez_cq_arm()");
}

/* ---- Waits that are late ------------------------------------------------------------------ */

/* Waits for one completion that does not come. */
static int wait_for(struct ibv_cq *cq, uint64_t timeout_ns)
{
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1, .want = 1};
	int error;

	at.ticks = true;
	error = rdmaez_wc_wait(cq, t.qp, &batch, timeout_ns, &t.diag);
	at.ticks = false;
	return error;
}

#define LATE CERTAIN(WC_LATE, "count", RDMAEZ_VALUE_NUMBER, 0, 1, 1)
#define CHECK_LATE(cq, ns, name, ...) \
	CHECK_FINDINGS(&t.diag, wait_for(cq, ns), ETIMEDOUT, "rdmaez_wc_wait", name, __VA_ARGS__)

static void check_late(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1, .want = 1};
	struct ibv_cq *other;
	int error;

	start(IBV_QPT_RC, IBV_QPS_RTS);
	CHECK_LATE(t.qp->send_cq, 999 * MS, "less than a second", LATE);
	tap_eq_int(fake_count(FAKE_QUERY_QP), 0, "asks nothing");
	CHECK_LATE(t.qp->send_cq, RDMAEZ_NS_NOW, "one look", LATE);
	tap_eq_int(fake_count(FAKE_QUERY_QP), 0, "neither");
	CHECK_LATE(t.qp->send_cq, 3000 * MS, "three seconds", LATE, NOTHING,
		   ADVICE(CQ_OTHER_SIDE, "send_cq", NUMBERLESS));
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1, "ask once");
	tap_eq_int(t.diag.from, IBV_QPS_RTS, "the record has the state");
	CHECK_LATE(t.qp->recv_cq, 0, "ten seconds", LATE, NOTHING,
		   ADVICE(CQ_OTHER_SIDE, "recv_cq", NUMBERLESS));
	other = ibv_create_cq(t.ctx, CQE, NULL, NULL, 0);
	CHECK_LATE(other, 3000 * MS, "a queue of none", LATE,
		   CERTAIN(CQ_NOT_POLLED, "send_cq", NUMBERLESS),
		   CERTAIN(CQ_NOT_POLLED, "recv_cq", NUMBERLESS));
	fake_qp_force(t.qp, IBV_QPS_ERR);
	CHECK_LATE(t.qp->send_cq, 3000 * MS, "in ERR", LATE,
		   CERTAIN(WR_QP_ERROR, "qp_state", STATE(IBV_QPS_ERR, RTS_ONLY)),
		   ADVICE(QP_STALE, "state", NUMBERLESS),
		   ADVICE(CQ_OTHER_SIDE, "send_cq", NUMBERLESS));
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.is->rnr_retry = 7;
	t.qp->recv_cq = t.qp->send_cq;
	counter("hw_counters/completer_retry_err", "12");
	CHECK_LATE(t.qp->send_cq, 3000 * MS, "one queue for both, and totals", LATE,
		   ADVICE(RNR_ENDLESS, "rnr_retry", RDMAEZ_VALUE_NUMBER, 7, 0, 6),
		   ADVICE(COUNTED_NO_ACK, "hw_counters/completer_retry_err", COUNTED(12)));
	counter("hw_counters/completer_retry_err", NULL);
	t.is->rnr_retry = 6;
	CHECK_LATE(t.qp->send_cq, 1000 * MS, "a second of two", LATE,
		   ADVICE(RETRIES_LAST, "timeout", RDMAEZ_VALUE_NS, 67108864,
			  7 * UINT64_C(67108864), 28 * UINT64_C(67108864)));

	channel = ibv_create_comp_channel(t.ctx);
	t.qp->recv_cq = ibv_create_cq(t.ctx, CQE, NULL, channel, 0);
	t.is->timeout = 0;
	at.ticks = true;
	error = rdmaez_cq_wait(t.qp->recv_cq, t.qp, &batch, 3000 * MS, &t.diag);
	at.ticks = false;
	CHECK_FINDINGS(&t.diag, error, ETIMEDOUT, "rdmaez_cq_wait", "by events", LATE,
		       LIKELY(TIMEOUT_ZERO, "timeout", RDMAEZ_VALUE_NUMBER, 0, 1, 31),
		       ADVICE(CQ_OTHER_SIDE, "recv_cq", NUMBERLESS));
}

/* A send queue that does not drain waits for the peer; in ERR neither port nor peer matter any more. */
static void check_drains(void)
{
	struct ibv_async_event event = {.event_type = IBV_EVENT_CQ_ERR};
	struct rdmaez_drain_opts opts = {.flags = RDMAEZ_DRAIN_DISCARD, .timeout_ns = 2000 * MS};
	int error;

	for (int i = 0; i < 2; i++) {
		start(IBV_QPT_RC, IBV_QPS_RTS);
		t.is->timeout = 0;
		fake_qp_drains(t.qp, -1);
		at.ticks = true;
		error = rdmaez_qp_quiesce(t.qp, i ? 2000 * MS : 999 * MS, &t.diag);
		at.ticks = false;
		tap_eq_int(error, ETIMEDOUT, "a send queue does not drain");
		tap_eq_int(t.diag.finding[0].reason, RDMAEZ_WHY_SQ_DRAINING, "is said first");
		tap_eq_count(&t.diag, i ? 2 : 1, "and after a second why");
		tap_eq_int(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_TIMEOUT_ZERO) != NULL, i,
			   "by its settings");
		tap_ok(!rdmaez_diag_find(&t.diag, RDMAEZ_WHY_QP_NO_SENDS), "not by SQD itself");
	}
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.port->state = IBV_PORT_DOWN;
	t.is->timeout = 0;
	opts.sends = 3;
	opts.recvs = RDMAEZ_ZERO;
	event.element.cq = t.qp->send_cq;
	fake_event(t.ctx, &event);
	fake_fail(FAKE_MODIFY_QP, 2, EIO);
	fake_profile(t.dev, FAKE_PROFILE_SIW);
	at.ticks = true;
	error = rdmaez_qp_drain(t.qp, &opts, NULL, &t.diag);
	at.ticks = false;
	CHECK_FINDINGS(&t.diag, error, ETIMEDOUT, "rdmaez_qp_drain", "three sends that do not end",
		       CERTAIN(DRAIN_LEFT, "opts.sends", COUNTED(3)),
		       LIKELY(DRAIN_CQ, "send_cq", RDMAEZ_VALUE_NUMBER, CQE, CQE + 1, INT32_MAX),
		       ADVICE(EVENT_UNREAD, "async_fd", NUMBERLESS));
	tap_eq_int(ibv_get_async_event(t.ctx, &event), 0, "the event stays there");
	ibv_ack_async_event(&event);
}

/* ---- An exchange that is late ------------------------------------------------------------- */

#define EXCHANGE_HEAD 24

/* A peer whose host is there, and whose program has not accepted the connection. */
static void check_exchange(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size) ||
	    connect(fd, (struct sockaddr *)&address, size))
		tap_bail("no connection");
	if (!UNDER_QEMU) /* which answers TCP_INFO with its first four bytes */
		CHECK_FINDINGS(&t.diag, rdmaez_exchange_barrier(fd, NULL, 500 * MS, &t.diag),
			       ETIMEDOUT, "rdmaez_exchange_barrier", "a peer that does not accept",
			       CERTAIN(EXCHANGE_SILENT, "recv", RDMAEZ_VALUE_BYTES, 0,
				       EXCHANGE_HEAD, EXCHANGE_HEAD),
			       ADVICE(EXCHANGE_ACKED, "TCP_INFO", NUMBERLESS));
	unacked = 2;
	CHECK_FINDINGS(&t.diag, rdmaez_exchange_barrier(fd, NULL, MS, &t.diag), ETIMEDOUT,
		       "rdmaez_exchange_barrier", "a host that does not acknowledge",
		       CERTAIN(EXCHANGE_SILENT, "recv", RDMAEZ_VALUE_BYTES, 0, EXCHANGE_HEAD,
			       EXCHANGE_HEAD),
		       LIKELY(EXCHANGE_UNACKED, "TCP_INFO", COUNTED(2)));
	unacked = -1;
	close(fd);
	close(listener);
}

int main(void)
{
	static const char *const below[] = {"", "/ports", "/ports/1", "/ports/1/counters",
					    "/ports/1/hw_counters"};
	char path[96];

	snprintf(t.path, sizeof(t.path), "/tmp/rdmaez-known.XXXXXX");
	if (!mkdtemp(t.path))
		tap_bail("no directory");
	for (size_t i = 1; i < COUNT_OF(below); i++) {
		snprintf(path, sizeof(path), "%s%s", t.path, below[i]);
		mkdir(path, 0700);
	}
	check_arguments();
	check_idle();
	check_awaited();
	check_polled();
	check_states();
	check_requests();
	check_retries();
	check_growth();
	check_unread();
	check_events();
	check_queue();
	check_late();
	check_drains();
	check_exchange();
	fake_close_all();
	for (size_t i = COUNT_OF(below); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", t.path, below[i]);
		rmdir(path);
	}
	return tap_done();
}
