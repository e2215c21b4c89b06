/* SPDX-License-Identifier: MIT */
/* Draining where nothing that is posted in ERR completes, so that the program counts, and recovery by another queue pair. */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include "connection.h"

enum {
	SENDS = 2,
	RECVS = 3
};

static const uint64_t ns = 1000000000u;

/* What was handed over: how often each wr_id. */
static int times[SENDS + RECVS + 1];

static void completed(void *arg, const struct ibv_wc *wc)
{
	(void)arg;
	if (wc->wr_id <= SENDS + RECVS)
		times[wc->wr_id]++;
}

static struct rdmaez_drain_opts drain_opts(int sends, int recvs)
{
	struct rdmaez_drain_opts opts = {0};

	memset(times, 0, sizeof(times));
	opts.timeout_ns = RIG_SECONDS * ns;
	opts.completed = completed;
	opts.sends = sends;
	opts.recvs = recvs;
	return opts;
}

/* Work for the near end: sends that may succeed or be flushed, and receives for which nothing comes. */
static void post_work(struct connection *c)
{
	struct ibv_sge sge = {(uintptr_t)c->near->memory, 64, c->near->mr->lkey};
	struct ibv_send_wr send = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad_recv;

	for (uint64_t i = 1; i <= RECVS; i++) {
		recv.wr_id = SENDS + i;
		net_must(ibv_post_recv(c->near->qp, &recv, &bad_recv), "ibv_post_recv");
	}
	for (uint64_t i = 1; i <= SENDS; i++) {
		net_must(side_post_receive(c->far), "ibv_post_recv");
		send.wr_id = i;
		net_must(ibv_post_send(c->near->qp, &send, &bad), "ibv_post_send");
	}
}

static void check_work(const struct rdmaez_drained *drained, const char *what)
{
	tap_eq_int(drained->flushed + drained->completed, SENDS + RECVS,
		   "%s: as many as were posted complete", what);
	tap_ok(drained->flushed >= RECVS, "%s: all receives by a flush", what);
	for (int i = 1; i <= SENDS + RECVS; i++)
		tap_eq_int(times[i], 1, "%s: request %d once", what, i);
}

static void check_counted(struct net *net)
{
	struct connection c = connection_open(net);
	struct rdmaez_drain_opts opts = drain_opts(SENDS, RECVS);
	struct rdmaez_drained drained;
	struct rdmaez_diag diag;

	post_work(&c);
	tap_eq_int(c.near->qp->state, IBV_QPS_RESET, "the library knows of no connection");
	tap_eq_int(rdmaez_qp_drain(c.near->qp, &opts, &drained, &diag), 0, "counted: drained");
	if (diag.error)
		show_record(&diag);
	check_work(&drained, "counted");
	tap_eq_int(drained.open, 0, "counted: both ends are seen");
	tap_eq_str(diag.driver, "siw", "the driver is known");
	opts = drain_opts(RDMAEZ_ZERO, RDMAEZ_ZERO);
	tap_eq_int(rdmaez_qp_drain(c.near->qp, &opts, &drained, &diag), 0, "drained again");
	tap_eq_int(drained.flushed + drained.completed, 0, "there is nothing");
	connection_close(net, &c);
}

static void check_uncounted(struct net *net)
{
	struct connection c = connection_open(net);
	struct rdmaez_drain_opts opts = drain_opts(0, 0);
	struct rdmaez_drained drained;
	struct rdmaez_diag diag;

	post_work(&c);
	opts.timeout_ns = 2 * ns;
	tap_eq_int(rdmaez_qp_drain(c.near->qp, &opts, &drained, &diag), ETIMEDOUT,
		   "not counted: the end is not known");
	tap_eq_count(&diag, 2, "not counted: of both queues");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_DRAIN_UNCOUNTED), "not counted: for that reason");
	tap_eq_hex(drained.open, RDMAEZ_QUEUE_SEND | RDMAEZ_QUEUE_RECV, "which the result tells");
	check_work(&drained, "not counted");
	tap_eq_int(rdmaez_qp_quiesce(c.far->qp, ns, &diag), EOPNOTSUPP, "SQD would disconnect");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_SQD_CLOSES), "and that is said");
	connection_close(net, &c);
}

static void check_recover(struct net *net)
{
	struct connection c = connection_open(net);
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct rdmaez_recover_opts recovery = {.drain = drain_opts(SENDS, RECVS)};
	const uint32_t near = c.near->qp->qp_num, far = c.far->qp->qp_num;
	struct rdmaez_endpoint local;
	struct rdmaez_drained drained;
	struct rdmaez_diag diag;

	post_work(&c);
	tap_eq_int(rdmaez_qp_recover(&c.near->qp, &recovery, &local, &drained, &diag), EINVAL,
		   "without attributes nothing is done");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_RESET_FINAL), "since siw takes a new one");
	recovery.init_attr = &init;
	tap_eq_int(rdmaez_qp_recover(&c.near->qp, &recovery, &local, &drained, &diag), 0,
		   "recovered");
	if (diag.error)
		show_record(&diag);
	check_work(&drained, "recovered");
	tap_ok(c.near->qp->qp_num != near, "with another number");
	tap_eq_int(local.qp_num, c.near->qp->qp_num, "which the endpoint has");
	recovery.drain = drain_opts(RDMAEZ_ZERO, 0);
	recovery.drain.timeout_ns = ns;
	recovery.drain.flags = RDMAEZ_DRAIN_ANYWAY;
	tap_eq_int(rdmaez_qp_recover(&c.far->qp, &recovery, &local, &drained, &diag), 0,
		   "so is the other, whatever it has left");
	tap_eq_hex(drained.open, RDMAEZ_QUEUE_RECV, "of which it does not know");
	tap_ok(c.far->qp->qp_num != far, "with another number");
	connection_forget(net, &c);
	rig_empty(c.near->send_cq);
	rig_empty(c.near->recv_cq);
	rig_empty(c.far->send_cq);
	rig_empty(c.far->recv_cq);
	connection_join(net, &c);
	tap_ok(rig_send(c.near, c.far, NULL), "data flows again");
	tap_ok(rig_send(c.far, c.near, NULL), "both ways");
	connection_close(net, &c);
}

int main(void)
{
	struct net net = net_open();

	check_counted(&net);
	check_uncounted(&net);
	check_recover(&net);
	net_close(&net);
	return tap_done();
}
