/* SPDX-License-Identifier: MIT */
/*
 * Completion channels of siw: a wait sleeps until something completes, and ends where nothing does; several queues on
 * one channel; extended queues, which libsiw has none of; and what a wait says after the end of the connection.
 */

#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include "connection.h"

enum {
	ROUNDS = 20,
	DEPTH = 16
};

#define SECOND     UINT64_C(1000000000)
#define NEED(call) rdmaez_diag_need(call, &diag)

static struct rdmaez_diag diag;

/* A side's queue pair once more, with completion queues on a channel: one for both of its queues, or one for each. */
static struct ibv_comp_channel *listen_to(struct net *net, struct side *side, bool one)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_comp_channel *channel;

	if (ibv_destroy_qp(side->qp) || ibv_destroy_cq(side->send_cq) ||
	    ibv_destroy_cq(side->recv_cq))
		tap_bail("a queue is not destroyed: %s", strerror(errno));
	NEED(rdmaez_channel_create(net->rig.context, &channel, &diag));
	NEED(rdmaez_cq_create(net->rig.context, DEPTH, channel, 0, &side->send_cq, &diag));
	NEED(rdmaez_cq_create(net->rig.context, DEPTH, one ? NULL : channel, 0, &side->recv_cq,
			      &diag));
	init.send_cq = side->send_cq;
	init.recv_cq = one ? side->send_cq : side->recv_cq;
	NEED(rdmaez_qp_create(net->rig.pd, &init, &side->qp, &diag));
	return channel;
}

static void close_all(struct net *net, struct connection *c, struct ibv_comp_channel *channel)
{
	connection_close(net, c);
	tap_eq_int(rdmaez_channel_destroy(channel, &diag), 0, "the channel is destroyed");
}

/* libsiw refuses a receive without an SGE. */
static void receive(struct side *at)
{
	struct ibv_sge sge = {(uintptr_t)at->memory + RIG_HALF, RIG_HALF, at->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};

	NEED(rdmaez_wr_post_recv(at->qp, &wr, NULL, &diag));
}

static void send_from(struct side *from, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)from->memory, 64, from->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = wr_id};

	rdmaez_wr_send(&wr, &sge);
	NEED(rdmaez_wr_post_send(from->qp, &wr, NULL, &diag));
}

static void test_wait(struct net *net)
{
	struct connection c = connection_none(net);
	struct ibv_comp_channel *const channel = listen_to(net, c.near, true);
	struct ibv_wc wc[DEPTH];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = DEPTH};
	struct ibv_cq *const cq = c.near->send_cq;
	int wrong = 0;

	connection_join(net, &c);
	tap_eq_int(rdmaez_cq_wait(cq, c.near->qp, &batch, SECOND / 20, &diag), 0,
		   "nothing comes, and is no error");
	tap_eq_int(batch.count, 0, "there is none");
	batch.want = 2;
	for (uint64_t i = 0; i < ROUNDS; i++) {
		receive(c.far);
		receive(c.near);
		send_from(c.near, i);
		wrong += rig_status(c.far->recv_cq) != IBV_WC_SUCCESS;
		send_from(c.far, i);
		NEED(rdmaez_cq_wait(cq, c.near->qp, &batch, RIG_SECONDS * SECOND, &diag));
		wrong += batch.count != 2;
		wrong += rig_status(c.far->send_cq) != IBV_WC_SUCCESS;
	}
	tap_eq_int(wrong, 0, "%d messages each way, a wait for those of a round", ROUNDS);
	tap_eq_int(rdmaez_cq_wait(cq, c.near->qp, &batch, SECOND / 20, &diag), ETIMEDOUT,
		   "what is wanted and does not come is late");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_WC_LATE) != NULL, "which the record says");
	batch.want = 1;
	receive(c.near);
	net_must(rdma_disconnect(c.active), "rdma_disconnect");
	tap_eq_int(rdmaez_cq_wait(cq, c.near->qp, &batch, RIG_SECONDS * SECOND, &diag), EIO,
		   "the end of the connection wakes a wait");
	tap_eq_int(wc[0].status, IBV_WC_WR_FLUSH_ERR, "by a receive that is flushed");
	close_all(net, &c, channel);
}

static void test_several(struct net *net)
{
	struct connection c = connection_none(net);
	struct ibv_comp_channel *const channel = listen_to(net, c.near, false);
	struct ibv_wc wc[DEPTH];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = DEPTH};
	struct rdmaez_cq_watch watched[2] = {{.cq = c.near->send_cq}, {.cq = c.near->recv_cq}};
	struct rdmaez_cq_watch *which = watched;
	int came[2] = {0, 0}, events[2] = {0, 0}, wrong = 0;

	connection_join(net, &c);
	NEED(rdmaez_channel_nonblock(channel, &diag));
	for (int i = 0; i < 2; i++)
		NEED(rdmaez_cq_arm(watched[i].cq, 0, &diag));
	tap_eq_int(rdmaez_channel_next(channel, watched, 2, RDMAEZ_NS_NOW, &which, &diag), 0,
		   "no event yet is no error");
	tap_ok(!which, "and no queue");
	for (int round = 0; round < ROUNDS; round++) {
		receive(c.far);
		receive(c.near);
		send_from(c.near, 0);
		wrong += rig_status(c.far->recv_cq) != IBV_WC_SUCCESS;
		send_from(c.far, 0);
		while (came[0] + came[1] < 2 * round + 2) {
			NEED(rdmaez_channel_next(channel, watched, 2, RIG_SECONDS * SECOND, &which,
						 &diag));
			if (!which)
				tap_bail("no event comes");
			events[which - watched]++;
			do {
				NEED(rdmaez_wc_poll(which->cq, c.near->qp, &batch, &diag));
				came[which - watched] += batch.count;
			} while (batch.count);
		}
		wrong += rig_status(c.far->send_cq) != IBV_WC_SUCCESS;
	}
	tap_eq_int(wrong, 0, "the peer has seen all");
	for (int i = 0; i < 2; i++) {
		tap_eq_int(came[i], ROUNDS, "queue %d of two on a channel has all of its own", i);
		tap_ok(events[i] > 0, "by %d events", events[i]);
		rdmaez_cq_ack(&watched[i]);
	}
	close_all(net, &c, channel);
}

static void test_extended(struct net *net)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = DEPTH, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_cq_ex *cq;

	tap_eq_int(rdmaez_cq_create_ex(net->rig.context, &attr, &cq, &diag), EOPNOTSUPP,
		   "libsiw has no extended queues");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_NOT_SUPPORTED) != NULL, "which the record says");
}

int main(void)
{
	struct net net = net_open();

	test_wait(&net);
	test_several(&net);
	test_extended(&net);
	net_close(&net);
	return tap_done();
}
