/* SPDX-License-Identifier: MIT */
/*
 * UD multicast over RoCE: one sender, and any number of receivers, which the sender does not know.
 *
 * Build:  cc -std=c11 -Iinclude examples/multicast.c -libverbs -o multicast
 * Run:    ./multicast on some machines, then ./multicast -s on another
 */
#include <stdlib.h>
#include <rdmaez/implementation.h>
#include <rdmaez/multicast.h>

#define NEED(call) rdmaez_diag_need(call, &diag)
enum {
	COUNT = 20,
	ROOM = 40 + 64, /* what a UD message arrives with, and a message */
	QKEY = 0x1234
};

static const char usage[] = "usage: multicast [-s | -n] [GROUP [DEVICE]]\n\n"
			    "Receives 20 messages to GROUP, an IP address (239.1.2.3); -s sends "
			    "them. With -n the host does\n"
			    "not join the group, and is told why nothing arrives.\n";
static char memory[COUNT][ROOM];
static struct rdmaez_simple it;
static struct rdmaez_path group;
static struct rdmaez_diag diag;

static int send_all(struct rdmaez_wc_batch *batch)
{
	struct ibv_sge sge = {(uintptr_t)memory, ROOM - 40, it.mr->lkey};
	struct ibv_send_wr wr = {0};
	struct ibv_ah *ah;

	NEED(rdmaez_multicast_ah_create(it.pd, &group, 1, &ah, &diag));
	NEED(rdmaez_wr_send_to(&wr, &sge, ah, RDMAEZ_MULTICAST_QPN, QKEY, &diag));
	for (int i = 0; i < COUNT; i++) {
		snprintf(memory[0], sge.length, "message %d", i + 1);
		NEED(rdmaez_wr_post_send(it.qp, &wr, NULL, &diag));
		NEED(rdmaez_wc_wait(it.send_cq, it.qp, batch, 0, &diag));
	}
	NEED(rdmaez_ah_destroy(ah, &diag));
	printf("sent %d\n", COUNT);
	return 0;
}

/* Until all have come, or none does for so long that something is wrong. */
static int receive_all(struct rdmaez_wc_batch *batch, bool join)
{
	int got = 0, fd = -1;

	for (uint64_t i = 0; i < COUNT; i++) {
		struct ibv_sge sge = {(uintptr_t)memory[i], ROOM, it.mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

		NEED(rdmaez_wr_post_recv(it.qp, &wr, NULL, &diag));
	}
	NEED(rdmaez_multicast_join(it.qp, &group, 1, join ? &fd : NULL, &diag));
	fprintf(stderr, "ready\n");
	for (; got < COUNT; got++) {
		if (rdmaez_wc_wait(it.recv_cq, it.qp, batch, 20000000000, &diag))
			break;
		printf("%s\n", memory[batch->wc->wr_id] + 40);
	}
	printf("received %d of %d\n", got, COUNT);
	if (got < COUNT && !rdmaez_multicast_examine(it.qp, &group, 1, &diag))
		rdmaez_diag_print(&diag, stdout);
	NEED(rdmaez_multicast_leave(it.qp, &group, fd, &diag));
	return got < COUNT;
}

int main(int argc, char **argv)
{
	const char option = argc > 1 && argv[1][0] == '-' ? argv[1][1] : 0;
	const bool help = option == 'h' || (option == '-' && !strcmp(argv[1], "--help"));
	char **const words = argv + 1 + (option != 0);
	struct rdmaez_simple_opts objects = {
		.recvs = COUNT, .qp_type = IBV_QPT_UD, .buffer = memory, .length = sizeof(memory)};
	struct rdmaez_qp_opts opts = {.qkey = QKEY};
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1};
	int status;

	if (argc - (option != 0) > 3 || (option && option != 's' && option != 'n')) {
		fputs(usage, help ? stdout : stderr);
		return help ? 0 : 2;
	}
	NEED(rdmaez_multicast_gid(words[0] ? words[0] : "239.1.2.3", &group.dgid, &diag));
	NEED(rdmaez_simple_open(words[0] ? words[1] : NULL, &objects, &it, &diag));
	NEED(rdmaez_qp_to_init(it.qp, &opts, &diag));
	NEED(rdmaez_qp_to_rtr(it.qp, &opts, &diag));
	NEED(rdmaez_qp_to_rts(it.qp, &opts, &diag));
	status = option == 's' ? send_all(&batch) : receive_all(&batch, !option);
	NEED(rdmaez_simple_close(&it, &diag));
	return status;
}
