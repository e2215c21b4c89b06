/* SPDX-License-Identifier: MIT */
/*
 * One message from one queue pair to another in the same process, and its arrival checked.
 *
 * Build:  cc -std=c11 -Iinclude examples/02_loopback.c -libverbs -o 02_loopback
 * Run:    ./02_loopback [DEVICE], or on a machine without RDMA: tools/softroce ./02_loopback
 */
#include <getopt.h>
#include <stdlib.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>

enum {
	SIZE = 4096
};

static const char usage[] = "usage: 02_loopback [DEVICE]\n"
			    "\n"
			    "Sends one message from one queue pair to another, both on DEVICE, and "
			    "compares what arrives.\n"
			    "Without DEVICE it takes the first that has an active port.\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

/* Ends the program with the reason unless a call works. */
#define NEED(call) rdmaez_diag_need(call, &diag)

static struct rdmaez_diag diag;

/* Waits for the completion of a queue pair's only work request, at most ten seconds. */
static void await(struct ibv_cq *cq, struct ibv_qp *qp)
{
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1, .want = 1};

	NEED(rdmaez_wc_wait(cq, qp, &batch, 10000000000u, &diag));
}

int main(int argc, char **argv)
{
	static uint8_t buffer[2][SIZE];
	struct rdmaez_simple from, to;
	struct rdmaez_simple_opts opts = {.length = SIZE};
	const int letter = getopt_long(argc, argv, "h", help, NULL);

	if (letter != -1 || argc - optind > 1) {
		fputs(usage, letter == 'h' ? stdout : stderr);
		return letter == 'h' ? EXIT_SUCCESS : 2;
	}

	/* Two ends on one device, each with a buffer. */
	opts.buffer = buffer[0];
	NEED(rdmaez_simple_open(argv[optind], &opts, &from, &diag));
	opts.buffer = buffer[1];
	NEED(rdmaez_simple_open(ibv_get_device_name(from.context->device), &opts, &to, &diag));
	NEED(rdmaez_qp_connect_loopback(from.qp, to.qp, NULL, &diag));

	/* One message from the first to the second. Its receive comes first. */
	struct ibv_sge in = {(uintptr_t)buffer[1], SIZE, to.mr->lkey};
	struct ibv_sge out = {(uintptr_t)buffer[0], SIZE, from.mr->lkey};
	struct ibv_recv_wr receive = {.sg_list = &in, .num_sge = 1};
	struct ibv_send_wr send = {0};

	memset(buffer[0], 0x5a, SIZE);
	rdmaez_wr_send(&send, &out);
	NEED(rdmaez_wr_post_recv(to.qp, &receive, NULL, &diag));
	NEED(rdmaez_wr_post_send(from.qp, &send, NULL, &diag));
	await(from.send_cq, from.qp);
	await(to.recv_cq, to.qp);
	if (memcmp(buffer[0], buffer[1], SIZE) != 0) {
		fprintf(stderr, "the message arrived damaged\n");
		return EXIT_FAILURE;
	}
	printf("%s: %d bytes went from QP %u to QP %u and arrived intact\n",
	       ibv_get_device_name(from.context->device), SIZE, from.qp->qp_num, to.qp->qp_num);
	NEED(rdmaez_simple_close(&to, &diag));
	NEED(rdmaez_simple_close(&from, &diag));
	return EXIT_SUCCESS;
}
