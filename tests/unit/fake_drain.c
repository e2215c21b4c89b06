/* SPDX-License-Identifier: MIT */
/* The fake's habits in ERR and SQD: what is flushed, when, and by whose doing; and its events. */
#include <fcntl.h>
#include <poll.h>

#include "fake_verbs.h"
#include "fixture.h"
#include "tap.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_qp *qp;
} t;

static void start(enum fake_profile profile, const char *release)
{
	t.dev = fixture_device(profile, release);
	t.ctx = fake_open(t.dev);
	t.qp = fixture_qp(t.ctx, IBV_QPT_RC, IBV_QPS_RTS);
}

static int post_send(uint64_t wr_id, unsigned int flags)
{
	struct ibv_send_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = wr_id;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = flags;
	return ibv_post_send(t.qp, &wr, &bad);
}

static int post_recv(uint64_t wr_id)
{
	struct ibv_sge sge = {0, 0, 0};
	struct ibv_recv_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = wr_id;
	wr.sg_list = &sge;
	wr.num_sge = t.dev->habits.recv_least_sge;
	return ibv_post_recv(t.qp, &wr, &bad);
}

static int modify(enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = state;
	return ibv_modify_qp(t.qp, &attr, IBV_QP_STATE);
}

/* The flushes that are there now, as the digits of their wr_id. */
static const char *flushed(void)
{
	static char text[33];
	struct ibv_wc wc[32];
	const int count = ibv_poll_cq(t.qp->send_cq, 32, wc);
	int i;

	for (i = 0; i < count; i++)
		text[i] = (char)(wc[i].status == IBV_WC_WR_FLUSH_ERR && wc[i].qp_num == t.qp->qp_num
					 ? '0' + wc[i].wr_id
					 : '?');
	text[i] = '\0';
	return text;
}

/* ---- In ERR ------------------------------------------------------------------------------- */

/* What comes of a send, 4, and a receive, 5, that are posted late. */
struct late {
	enum fake_profile profile;
	const char *release;
	int refused;           /* what posting ends in where struct ibv_qp says ERR */
	const char *known;     /* flushed at once where it does */
	const char *known_err; /* and after another move to ERR */
	const char *stale;     /* flushed at once where it says RTS */
	const char *stale_err; /* and after a move to ERR */
	const char *source;
};

static const struct late lates[] = {
	{FAKE_PROFILE_MLX5, "6.1.0", 0, "45", "", "45", "", "the hardware"},
	{FAKE_PROFILE_MLX4, "6.1.0", 0, "45", "", "45", "", "the hardware"},
	{FAKE_PROFILE_BNXT_RE, "6.1.0", 0, "45", "", "45", "", "bnxt_re_poll_flush_wcs()"},
	{FAKE_PROFILE_IONIC, "7.2.0", 0, "45", "", "45", "", "ionic_flush_send()"},
	{FAKE_PROFILE_RXE, "6.1.0", 0, "4", "5", "4", "5", "rxe_post_recv(), rxe_qp_error()"},
	{FAKE_PROFILE_HNS, "6.1.0", 0, "45", "", "", "45", "hns_roce_u_v2_post_send()"},
	{FAKE_PROFILE_IRDMA, "6.1.0", 0, "45", "", "", "", "irdma_issue_flush()"},
	{FAKE_PROFILE_RDMAVT, "6.1.0", 0, "4", "", "4", "", "rvt_error_qp()"},
	{FAKE_PROFILE_QIB, "6.1.0", 0, "4", "", "4", "", "rvt_error_qp()"},
	{FAKE_PROFILE_SIW, "6.1.0", 0, "", "", "", "", "siw_sq_flush_wr()"},
	{FAKE_PROFILE_EFA, "6.1.0", EINVAL, "", "", "", "", "efa_post_send_validate()"},
	{FAKE_PROFILE_MANA, "7.2.0", EINVAL, "", "", "45", "", "mana_ib_post_send()"},
	{FAKE_PROFILE_ERDMA, "6.1.0", -EIO, "", "", "45", "", "erdma_post_send()"},
	{FAKE_PROFILE_OCRDMA, "6.1.0", EINVAL, "", "", "45", "", "ocrdma_post_send()"},
	{FAKE_PROFILE_CXGB4, "6.1.0", EINVAL, "", "", NULL, "", "c4iw_post_send()"},
};

static void check_late(const struct late *l)
{
	start(l->profile, l->release);
	if (l->profile == FAKE_PROFILE_EFA) /* which has no RC */
		t.qp->qp_type = IBV_QPT_RC;
	post_recv(3);
	tap_eq_int(post_send(1, IBV_SEND_SIGNALED), 0, "%s: a send is posted", l->source);
	if (!(t.dev->quirks & FAKE_SIGNALED_ONLY))
		post_send(2, 0);
	tap_eq_int(modify(IBV_QPS_ERR), 0, "%s: and the queue pair moved to ERR", l->source);
	tap_eq_str(flushed(), t.dev->quirks & FAKE_SIGNALED_ONLY ? "13" : "123",
		   "%s: all is flushed, signaled or not, in order", l->source);
	tap_eq_int(post_send(4, IBV_SEND_SIGNALED), l->refused, "%s: a late send", l->source);
	tap_eq_int(post_recv(5), l->refused, "%s: and a late receive", l->source);
	tap_eq_str(flushed(), l->known, "%s: what is flushed at once", l->source);
	tap_eq_int(modify(IBV_QPS_ERR), 0, "%s: ERR again", l->source);
	tap_eq_str(flushed(), l->known_err, "%s: what is flushed then", l->source);

	start(l->profile, l->release);
	post_recv(3);
	fake_qp_force(t.qp, IBV_QPS_ERR);
	tap_eq_str(flushed(), "3", "%s: an error flushes as well", l->source);
	if (!l->stale) {
		tap_eq_int(post_send(4, IBV_SEND_SIGNALED), l->refused,
			   "%s: the hardware's state counts", l->source);
		return;
	}
	if (l->profile == FAKE_PROFILE_EFA)
		return;
	post_send(4, IBV_SEND_SIGNALED);
	post_recv(5);
	tap_eq_str(flushed(), l->stale, "%s: where the library has not seen ERR", l->source);
	modify(IBV_QPS_ERR);
	tap_eq_str(flushed(), l->stale_err, "%s: and after it has", l->source);
}

static void check_sqd(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	start(FAKE_PROFILE_RXE, "6.1.0");
	fake_qp_drains(t.qp, 2);
	tap_eq_int(modify(IBV_QPS_SQD), 0, "rxe: SQD");
	tap_eq_int(modify(IBV_QPS_RTS), EINVAL, "rxe_qp_chk_attr(): not left while it drains");
	memset(&attr, 0, sizeof(attr));
	ibv_query_qp(t.qp, &attr, IBV_QP_STATE, &init);
	tap_eq_int(attr.sq_draining, 1, "it drains for two queries");
	ibv_query_qp(t.qp, &attr, IBV_QP_STATE, &init);
	tap_eq_int(attr.sq_draining, 0, "the second is the last");
	tap_eq_int(modify(IBV_QPS_RTS), 0, "then it is left");
	start(FAKE_PROFILE_RXE, "6.12.0");
	modify(IBV_QPS_SQD);
	tap_eq_int(fake_qp_true(t.qp)->sq_draining, 0, "a queue pair that has drained");
	modify(IBV_QPS_SQD);
	tap_eq_int(fake_qp_true(t.qp)->sq_draining, 1, "drains again: rxe_qp_sqd() of Linux 6.12");
	tap_eq_int(modify(IBV_QPS_RTS), EINVAL, "before it can leave");
	start(FAKE_PROFILE_QEDR, "6.1.0");
	modify(IBV_QPS_SQD);
	memset(&attr, 0, sizeof(attr));
	ibv_query_qp(t.qp, &attr, IBV_QP_STATE, &init);
	tap_eq_int(attr.sq_draining, 1, "qedr_query_qp() says it of every queue pair in SQD");
	fake_close_all();
}

/* ---- Events ------------------------------------------------------------------------------- */

static void check_last_wqe(void)
{
	static const struct {
		enum fake_profile profile;
		const char *release;
		bool comes;
		const char *source;
	} rows[] = {
		{FAKE_PROFILE_MLX5, "6.1.0", true, "mlx5_ib_qp_event()"},
		{FAKE_PROFILE_RXE, "6.1.0", false, "rxe_responder()"},
		{FAKE_PROFILE_RXE, "6.12.0", true, "flush_recv_queue()"},
		{FAKE_PROFILE_IRDMA, "7.2.0", false, "irdma"},
		{FAKE_PROFILE_SIW, "6.12.0", false, "siw"},
	};
	struct ibv_async_event event;
	struct ibv_qp_init_attr init;
	struct pollfd readable;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		start(rows[i].profile, rows[i].release);
		memset(&init, 0, sizeof(init));
		init.qp_type = IBV_QPT_RC;
		init.srq = fake_srq(t.ctx, IBV_SRQT_BASIC);
		init.send_cq = init.recv_cq = t.qp->send_cq;
		t.qp = ibv_create_qp(t.qp->pd, &init);
		fake_qp_force(t.qp, IBV_QPS_RTS);
		fake_qp_force(t.qp, IBV_QPS_ERR);
		readable.fd = t.ctx->async_fd;
		readable.events = POLLIN;
		tap_eq_int(poll(&readable, 1, 0), rows[i].comes, "%s of Linux %s: the last one",
			   rows[i].source, rows[i].release);
		if (!rows[i].comes)
			continue;
		tap_eq_int(ibv_get_async_event(t.ctx, &event), 0, "the event is read");
		tap_eq_int(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED, "what it says");
		tap_eq_ptr(event.element.qp, t.qp, "and of whom");
		tap_eq_int(poll(&readable, 1, 0), 0, "it was the only one");
		tap_eq_int(ibv_destroy_qp(t.qp), EDEADLK, "ibv_destroy_qp() would wait for ever");
		ibv_ack_async_event(&event);
		tap_eq_int(ibv_destroy_qp(t.qp), 0, "not once it is acknowledged");
	}
	fake_close_all();
}

static void check_events(void)
{
	struct ibv_async_event event, seen;

	start(FAKE_PROFILE_PLAIN, "6.1.0");
	memset(&event, 0, sizeof(event));
	event.event_type = IBV_EVENT_PORT_ERR;
	event.element.port_num = 1;
	fake_event(t.ctx, &event);
	event.event_type = IBV_EVENT_CQ_ERR;
	event.element.cq = t.qp->send_cq;
	fake_event(t.ctx, &event);
	event.event_type = IBV_EVENT_QP_FATAL;
	event.element.qp = t.qp;
	fake_event(t.ctx, &event);
	tap_eq_int(ibv_get_async_event(t.ctx, &seen), 0, "of three events");
	tap_eq_int(seen.event_type, IBV_EVENT_PORT_ERR, "the oldest comes first");
	ibv_ack_async_event(&seen);
	tap_eq_int(ibv_destroy_qp(t.qp), 0, "an event that nobody has read goes with its object");
	tap_eq_int(ibv_get_async_event(t.ctx, &seen), 0, "the other stays");
	tap_eq_int(ibv_destroy_cq(seen.element.cq), EDEADLK, "ibv_destroy_cq() waits, too");
	ibv_ack_async_event(&seen);
	tap_eq_int(ibv_destroy_cq(seen.element.cq), 0, "not for what is acknowledged");
	fcntl(t.ctx->async_fd, F_SETFL, O_NONBLOCK);
	tap_eq_int(ibv_get_async_event(t.ctx, &seen), -1, "there are no more");
	tap_eq_int(errno, EAGAIN, "which a descriptor that does not block tells so");
	fake_close_all();
}

int main(void)
{
	for (size_t i = 0; i < COUNT_OF(lates); i++)
		check_late(&lates[i]);
	check_sqd();
	check_last_wqe();
	check_events();
	return tap_done();
}
