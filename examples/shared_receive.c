/* SPDX-License-Identifier: MIT */
/*
 * A shared receive queue: four queue pairs take their receives from one queue, which is filled again when it runs low.
 *
 * Build:  cc -std=c11 -Iinclude examples/shared_receive.c -libverbs -o shared_receive
 * Run:    ./shared_receive [DEVICE], or on a machine without RDMA: tools/softroce ./shared_receive
 */
#include <getopt.h>
#include <stdlib.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>

enum {
	PEERS = 4,
	ROUNDS = 10,
	RECVS = 16,
	LOW = 8
};

static const char usage[] = "usage: shared_receive [DEVICE]\n"
			    "\n"
			    "Sends ten messages to each of four queue pairs that share one receive "
			    "queue.\n"
			    "Without DEVICE it takes the first that has an active port.\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

/* Ends the program with the reason unless a call works. */
#define NEED(call) rdmaez_diag_need(call, &diag)

static struct rdmaez_diag diag;
static struct rdmaez_simple it;
static char buffer[RECVS][64];
static uint64_t idle[RECVS] = {0, 1, 2,  3,  4,  5,  6,  7,
			       8, 9, 10, 11, 12, 13, 14, 15}; /* buffers not in the queue */
static int idles = RECVS, refills;

/* Fills the queue, and asks for an event when fewer than LOW receives are left. */
static void refill(void)
{
	while (idles) {
		const uint64_t i = idle[--idles];
		struct ibv_sge sge = {(uintptr_t)buffer[i], sizeof(buffer[i]), it.mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

		NEED(rdmaez_wr_post_srq_recv(it.srq, &wr, NULL, &diag));
	}
	NEED(rdmaez_srq_arm(it.srq, LOW, &diag));
	refills++;
}

/* Waits for the event, which comes once for each time that the limit was armed. */
static void await_low(void)
{
	struct ibv_async_event event;

	do
		NEED(rdmaez_event_next(it.context, 0, &event, &diag));
	while (event.event_type != IBV_EVENT_SRQ_LIMIT_REACHED);
}

/* One empty message to each queue pair; `got` counts the receives of each. */
static void round_of(struct ibv_qp *const from[], struct ibv_qp *const to[], int got[])
{
	struct ibv_wc wc[2 * PEERS];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 2 * PEERS, .want = 2 * PEERS};
	struct ibv_send_wr wr = {.wr_id = RECVS}; /* no buffer's */

	rdmaez_wr_send(&wr, NULL);
	for (int i = 0; i < PEERS; i++)
		NEED(rdmaez_wr_post_send(from[i], &wr, NULL, &diag));
	NEED(rdmaez_wc_wait(it.send_cq, NULL, &batch, 0, &diag));
	for (int i = 0; i < batch.count; i++) {
		if (wc[i].wr_id == RECVS) /* a send */
			continue;
		got[rdmaez_wc_position(&wc[i], to, PEERS)]++;
		idle[idles++] = wc[i].wr_id;
	}
}

int main(int argc, char **argv)
{
	struct rdmaez_simple_opts opts = {
		.recvs = RECVS,
		.flags = RDMAEZ_SIMPLE_SRQ | RDMAEZ_SIMPLE_ONE_CQ | RDMAEZ_SIMPLE_NO_QP,
		.buffer = buffer,
		.length = sizeof(buffer),
		.cqes = 4 * PEERS + RECVS,
	};
	struct ibv_qp *from[PEERS], *to[PEERS];
	struct ibv_qp_init_attr init;
	int got[PEERS + 1] = {0};
	const int letter = getopt_long(argc, argv, "h", help, NULL);

	if (letter != -1 || argc - optind > 1) {
		fputs(usage, letter == 'h' ? stdout : stderr);
		return letter == 'h' ? EXIT_SUCCESS : 2;
	}
	NEED(rdmaez_simple_open(argv[optind], &opts, &it, &diag));
	for (int i = 0; i < PEERS; i++) {
		rdmaez_simple_init_attr(&it, &opts, &init); /* has the SRQ */
		NEED(rdmaez_qp_create(it.pd, &init, &from[i], &diag));
		rdmaez_simple_init_attr(&it, &opts, &init);
		NEED(rdmaez_qp_create(it.pd, &init, &to[i], &diag));
		NEED(rdmaez_qp_connect_loopback(from[i], to[i], NULL, &diag));
	}
	refill();
	for (int round = 0; round < ROUNDS; round++) {
		round_of(from, to, got);
		if (RECVS - idles < LOW) {
			await_low();
			refill();
		}
	}
	for (int i = 0; i < PEERS; i++) {
		printf("queue pair %d received %d\n", i, got[i]);
		ibv_destroy_qp(from[i]);
		ibv_destroy_qp(to[i]);
	}
	printf("the queue was filled %d times\n", refills);
	NEED(rdmaez_simple_close(&it, &diag));
	return EXIT_SUCCESS;
}
