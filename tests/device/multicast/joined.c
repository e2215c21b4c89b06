/* SPDX-License-Identifier: MIT */
/*
 * joined GROUP: librdmacm joins an IPv4 group, and the page's attach() attaches a queue pair that is not librdmacm's. A second
 * one sends twenty messages to the group. Prints how many arrived. tests/device/multicast.t compiles it with that block
 * of docs/multicast.md.
 */
#include <arpa/inet.h>
#include <stdio.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>

#include "attach.h"

#define NEED(call) rdmaez_diag_need(call, &diag)

enum {
	MESSAGES = 20,
	ROOM = 128
};

static struct rdmaez_diag diag;
static char memory[ROOM * (MESSAGES + 1)];

static void must(int result, const char *what)
{
	if (result) {
		perror(what);
		exit(1);
	}
}

static struct rdmaez_simple open_end(const char *device, uint32_t qkey)
{
	struct rdmaez_simple_opts opts = {
		.qp_type = IBV_QPT_UD, .buffer = memory, .length = sizeof(memory)};
	struct rdmaez_qp_opts to = {.qkey = rdmaez_exactly_u32(qkey)};
	struct rdmaez_simple end;

	NEED(rdmaez_simple_open(device, &opts, &end, &diag));
	NEED(rdmaez_qp_to_init(end.qp, &to, &diag));
	NEED(rdmaez_qp_to_rtr(end.qp, &to, &diag));
	NEED(rdmaez_qp_to_rts(end.qp, &to, &diag));
	return end;
}

/* Returns how many of the messages that `from` sends to the group arrive at `to`. */
static int send_all(struct rdmaez_simple *from, struct rdmaez_simple *to,
		    const struct rdmaez_path *group, uint32_t qkey)
{
	struct ibv_wc wc[MESSAGES];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = MESSAGES, .want = MESSAGES};
	struct ibv_sge out = {(uintptr_t)&memory[ROOM * MESSAGES], 64, from->mr->lkey};
	struct ibv_send_wr send = {0};
	struct ibv_ah *ah;

	NEED(rdmaez_multicast_ah_create(from->pd, group, 1, &ah, &diag));
	NEED(rdmaez_wr_send_to(&send, &out, ah, RDMAEZ_MULTICAST_QPN, qkey, &diag));
	for (int i = 0; i < MESSAGES; i++)
		NEED(rdmaez_wr_post_send(from->qp, &send, NULL, &diag));
	if (rdmaez_wc_wait(to->recv_cq, to->qp, &batch, UINT64_C(10000000000), &diag))
		rdmaez_diag_print(&diag, stdout);
	NEED(rdmaez_ah_destroy(ah, &diag));
	return batch.count;
}

int main(int argc, char **argv)
{
	struct sockaddr_in group = {.sin_family = AF_INET}, own = {.sin_family = AF_INET};
	struct rdma_event_channel *const channel = rdma_create_event_channel();
	struct rdmaez_path path = {0};
	struct rdmaez_simple from, to;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	const char *device;
	uint32_t qkey;

	if (argc != 3 || inet_pton(AF_INET, argv[1], &group.sin_addr) != 1 ||
	    inet_pton(AF_INET, argv[2], &own.sin_addr) != 1 || !channel) {
		fprintf(stderr, "usage: joined GROUP OWN_ADDRESS\n");
		return 2;
	}
	must(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP), "rdma_create_id");
	must(rdma_bind_addr(id, (struct sockaddr *)&own), "rdma_bind_addr");
	must(rdma_join_multicast(id, (struct sockaddr *)&group, NULL), "rdma_join_multicast");
	must(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	must(event->event != RDMA_CM_EVENT_MULTICAST_JOIN, rdma_event_str(event->event));
	qkey = event->param.ud.qkey;
	device = ibv_get_device_name(id->verbs->device);
	from = open_end(device, qkey);
	to = open_end(device, qkey);
	for (int i = 0; i < MESSAGES; i++) {
		struct ibv_sge in = {(uintptr_t)&memory[ROOM * i], ROOM, to.mr->lkey};
		struct ibv_recv_wr recv = {.sg_list = &in, .num_sge = 1};

		NEED(rdmaez_wr_post_recv(to.qp, &recv, NULL, &diag));
	}
	NEED(attach(to.qp, event, &path, &diag));
	must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
	printf("received %d of %d\n", send_all(&from, &to, &path, qkey), MESSAGES);
	NEED(rdmaez_multicast_leave(to.qp, &path, -1, &diag));
	must(rdma_leave_multicast(id, (struct sockaddr *)&group), "rdma_leave_multicast");
	must(rdma_destroy_id(id), "rdma_destroy_id");
	rdma_destroy_event_channel(channel);
	NEED(rdmaez_simple_close(&from, &diag));
	NEED(rdmaez_simple_close(&to, &diag));
	return 0;
}
