/* SPDX-License-Identifier: MIT */
/*
 * Requests that fail on siw, and what is said of their completions and events. siw reports little: a refused
 * WRITE has succeeded long before, a refused READ is flushed, and the reason is told to the responder only. But
 * where the sender is slow, its peer has seen the header, refused the request and closed the connection before
 * all is sent: siw_qp_sq_process() then makes it IBV_WC_LOC_QP_OP_ERR and IBV_EVENT_QP_FATAL.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include "connection.h"

enum {
	NOTHING = -1
};

/* What somebody does, and what comes of it. */
struct scene {
	const char *name;
	void (*act)(struct connection *c);
	int near_send;      /* the status of the near end's first send; NOTHING: no completion */
	int far_receive[2]; /* of the far end's two receives */
	int near_event, far_event;
};

static void send_one(struct connection *c, enum ibv_wr_opcode opcode, uint32_t length,
		     uint32_t lkey, uint32_t rkey)
{
	struct ibv_sge sge = {(uintptr_t)c->near->memory, length, lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)(c->far->memory + RIG_HALF);
	wr.wr.rdma.rkey = rkey;
	net_must(ibv_post_send(c->near->qp, &wr, &bad), "ibv_post_send");
}

static void disconnect(struct connection *c)
{
	net_must(rdma_disconnect(c->active), "rdma_disconnect");
}

/* libibverbs does not know that librdmacm has moved the queue pair on. */
static void go_to_err(struct connection *c)
{
	struct rdmaez_diag diag;
	char text[2048];

	tap_eq_int(rdmaez_qp_to_err(c->near->qp, &diag), 0, "rdmaez_qp_to_err() is not in the way");
	if (!diag.error)
		return;
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_bail("%s", text);
}

static void read_by_stale_key(struct connection *c)
{
	send_one(c, IBV_WR_RDMA_READ, 64, c->near->mr->lkey, c->far->mr->rkey ^ 0x100);
}

static void write_by_stale_key(struct connection *c)
{
	send_one(c, IBV_WR_RDMA_WRITE, 64, c->near->mr->lkey, c->far->mr->rkey ^ 0x100);
}

static void write_out_of_bounds(struct connection *c)
{
	send_one(c, IBV_WR_RDMA_WRITE, RIG_BYTES, c->near->mr->lkey, c->far->mr->rkey);
}

static void send_too_much(struct connection *c)
{
	send_one(c, IBV_WR_SEND, RIG_BYTES, c->near->mr->lkey, 0);
}

static void send_by_stale_key(struct connection *c)
{
	send_one(c, IBV_WR_SEND, 64, c->near->mr->lkey ^ 0x100, 0);
}

/* The next completion, if one comes soon. */
static bool comes(struct ibv_cq *cq, struct ibv_wc *wc, bool expected)
{
	const struct timespec moment = {.tv_nsec = 1000 * 1000};

	for (int i = 0; i < (expected ? RIG_SECONDS * 1000 : 50); i++) {
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

/* Whether a list of drivers, as an advice has it, holds siw: "all drivers", "most drivers, not X", "X Y". */
static bool names_siw(const char *producers)
{
	const bool other =
		strncmp(producers, "all ", 4) != 0 && strncmp(producers, "most ", 5) != 0;

	return (strstr(producers, "siw") != NULL) == other;
}

static void expect_advice(const struct rdmaez_advice *advice, int code, const char *what)
{
	tap_eq_int(advice->code, code, "%s: there is advice", what);
	tap_ok(names_siw(advice->producers), "%s: siw is among those that report it: %s", what,
	       advice->producers);
}

/* Certain is of these completions only that a flush is a flush; and siw does not tell the state. */
static void expect_truth(const struct rdmaez_diag *diag, bool flushed, const char *what)
{
	char text[4096];

	for (unsigned int i = 0; i < diag->count; i++)
		if (diag->finding[i].severity == RDMAEZ_DIAG_ERROR)
			tap_ok(flushed && diag->finding[i].reason == RDMAEZ_WHY_WC_FLUSHED,
			       "%s: %s is certain", what, rdmaez_why_id(diag->finding[i].reason));
	rdmaez_diag_format(diag, text, sizeof(text));
	tap_ok(!strstr(text, "in RESET"), "%s: the queue pair is not said to be in RESET", what);
	if (strstr(text, "in RESET"))
		tap_diag("%s", text);
}

/* A completion with this status, or with the other one; whether it was that. */
static bool expect_completion(struct ibv_cq *cq, struct ibv_qp *qp, int status, int other,
			      const char *what)
{
	struct rdmaez_diag diag;
	struct ibv_wc wc;
	bool is_other;

	memset(&wc, 0, sizeof(wc));
	if (!comes(cq, &wc, status != NOTHING)) {
		tap_eq_int(NOTHING, status, "%s: no completion", what);
		return false;
	}
	is_other = (int)wc.status == other;
	if (is_other)
		status = other;
	tap_eq_str(ibv_wc_status_str(wc.status),
		   status < 0 ? "none" : ibv_wc_status_str((enum ibv_wc_status)status),
		   "%s: the status", what);
	if (!wc.status)
		return false;
	expect_advice(rdmaez_wc_explain(&wc), wc.status, what);
	tap_eq_int(rdmaez_wc_explain_qp(&wc, qp, &diag), 0, "%s: the queue pair is asked", what);
	expect_truth(&diag, wc.status == IBV_WC_WR_FLUSH_ERR, what);
	return is_other;
}

/* All events that there are, of which those of the near and the far end are as expected. */
static void expect_events(struct net *net, const struct connection *c, const struct scene *scene)
{
	struct pollfd readable = {.fd = net->rig.context->async_fd, .events = POLLIN};
	struct ibv_async_event event;
	struct rdmaez_diag diag;
	int near = NOTHING, far = NOTHING;

	/* What is expected comes in the end, however slow the machine is; of anything more, some would be here soon. */
	while (poll(&readable, 1,
		    near == scene->near_event && far == scene->far_event
			    ? 50
			    : RIG_SECONDS * 1000) == 1 &&
	       !ibv_get_async_event(net->rig.context, &event)) {
		if (event.element.qp == c->near->qp)
			near = (int)event.event_type;
		else
			far = (int)event.event_type;
		expect_advice(rdmaez_event_explain(&event), (int)event.event_type,
			      ibv_event_type_str(event.event_type));
		tap_eq_int(rdmaez_event_explain_qp(&event, &diag), 0, "%s: the queue pair is asked",
			   scene->name);
		expect_truth(&diag, false, scene->name);
		ibv_ack_async_event(&event);
	}
	tap_eq_int(near, scene->near_event, "%s: the near end's event", scene->name);
	tap_eq_int(far, scene->far_event, "%s: the far end's event", scene->name);
}

static void play(struct net *net, const struct scene *scene)
{
	struct connection c = connection_open(net);
	const int early =
		scene->near_send == IBV_WC_SUCCESS ? (int)IBV_WC_LOC_QP_OP_ERR : (int)NOTHING;
	struct scene seen = *scene;
	char what[128];

	for (int i = 0; i < 2; i++)
		net_must(side_post_receive(c.far), "ibv_post_recv");
	scene->act(&c);
	snprintf(what, sizeof(what), "%s: near", scene->name);
	if (expect_completion(c.near->send_cq, c.near->qp, scene->near_send, early, what))
		seen.near_event = IBV_EVENT_QP_FATAL;
	for (int i = 0; i < 2; i++) {
		snprintf(what, sizeof(what), "%s: far receive %d", scene->name, i);
		expect_completion(c.far->recv_cq, c.far->qp, scene->far_receive[i], NOTHING, what);
	}
	expect_events(net, &c, &seen);
	connection_close(net, &c);
}

/* A message each way, and both kinds of RDMA. */
static void play_well(struct net *net)
{
	struct connection c = connection_open(net);

	tap_ok(rig_send(c.near, c.far, NULL), "a message arrives");
	tap_ok(rig_send(c.far, c.near, NULL), "a message arrives the other way");
	tap_ok(rig_rdma(c.near, c.far, IBV_WR_RDMA_WRITE), "a WRITE arrives");
	tap_ok(rig_rdma(c.near, c.far, IBV_WR_RDMA_READ), "a READ brings what is there");
	connection_close(net, &c);
}

int main(void)
{
	static const struct scene scenes[] = {
		{"disconnected",
		 disconnect,
		 NOTHING,
		 {IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR},
		 NOTHING,
		 NOTHING},
		{"the peer in ERR",
		 go_to_err,
		 NOTHING,
		 {IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR},
		 NOTHING,
		 NOTHING},
		{"READ by a stale key",
		 read_by_stale_key,
		 IBV_WC_WR_FLUSH_ERR,
		 {NOTHING, NOTHING},
		 NOTHING,
		 IBV_EVENT_QP_REQ_ERR},
		{"WRITE by a stale key",
		 write_by_stale_key,
		 IBV_WC_SUCCESS,
		 {IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR},
		 NOTHING,
		 NOTHING},
		{"WRITE out of bounds",
		 write_out_of_bounds,
		 IBV_WC_SUCCESS,
		 {IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR},
		 NOTHING,
		 IBV_EVENT_QP_ACCESS_ERR},
		{"SEND beyond the receive",
		 send_too_much,
		 IBV_WC_SUCCESS,
		 {IBV_WC_LOC_LEN_ERR, IBV_WC_WR_FLUSH_ERR},
		 NOTHING,
		 IBV_EVENT_QP_FATAL},
		{"SEND by a stale key",
		 send_by_stale_key,
		 IBV_WC_LOC_QP_OP_ERR,
		 {IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR},
		 IBV_EVENT_QP_FATAL,
		 NOTHING},
	};
	struct net net = net_open();

	play_well(&net);
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		play(&net, &scenes[i]);
	net_close(&net);
	return tap_done();
}
