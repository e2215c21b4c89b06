/* SPDX-License-Identifier: MIT */
/*
 * The first program: a queue pair that is connected to itself writes from one half of its memory into the other.
 *
 * Build:  cc -std=c11 -Iinclude examples/01_first.c -libverbs -o 01_first
 * Run:    ./01_first, or on a machine without RDMA: tools/softroce ./01_first
 */
#include <string.h>
#include <rdmaez.h>
#include <rdmaez/implementation.h>

static const char usage[] = "usage: 01_first\n\n"
			    "Writes by RDMA from one half of its memory into the other.\n";

/* Ends the program with the reason unless a call works. */
#define NEED(call) rdmaez_diag_need(call, &diag)

int main(int argc, char **argv)
{
	const bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
	char memory[2][32] = {"written by an RDMA WRITE"};
	struct rdmaez_simple_opts objects = {
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		.buffer = memory,
		.length = sizeof(memory),
	};
	struct rdmaez_qp_opts opts = {.access = IBV_ACCESS_REMOTE_WRITE};
	struct rdmaez_simple it;
	struct rdmaez_remote remote;
	struct rdmaez_diag diag;
	struct ibv_send_wr wr = {0};
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1};

	if (argc > 1) {
		fputs(usage, help ? stdout : stderr);
		return help ? 0 : 2;
	}

	/* Device, completion queues, memory region and queue pair; and the peer, which is the same. */
	NEED(rdmaez_simple_open(NULL, &objects, &it, &diag));
	NEED(rdmaez_qp_connect_loopback(it.qp, it.qp, &opts, &diag));
	NEED(rdmaez_mr_remote(it.mr, &remote, &diag));

	/* A WRITE of the first half to the second, and its completion, for which it waits at most ten seconds. */
	struct ibv_sge sge = {(uintptr_t)memory[0], sizeof(memory[0]), it.mr->lkey};

	NEED(rdmaez_wr_write(&wr, &sge, &remote, sizeof(memory[0]), &diag));
	NEED(rdmaez_wr_post_send(it.qp, &wr, NULL, &diag));
	NEED(rdmaez_wc_wait(it.send_cq, it.qp, &batch, 10000000000, &diag));

	printf("%s: %s\n", ibv_get_device_name(it.context->device), memory[1]);
	NEED(rdmaez_simple_close(&it, &diag));
	return 0;
}
