/* SPDX-License-Identifier: MIT */
/*
 * What signalling, inline data and lists of work requests are worth on a device: the same small RDMA WRITEs, posted in
 * four ways, and the time of each.
 *
 * Build:  cc -std=c11 -O2 -Iinclude examples/tuning.c -libverbs -o tuning
 * Run:    ./tuning [DEVICE], or on a machine without RDMA, whose times mean little: tools/softroce ./tuning
 */
#define _POSIX_C_SOURCE 200809L
#include <getopt.h>
#include <stdlib.h>
#include <time.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>

enum {
	WRITES = 8192,
	DEPTH = 128,
	LIST = 16,
	BYTES = 16
};

static const char usage[] = "usage: tuning [DEVICE]\n"
			    "\n"
			    "Writes by RDMA in four ways, and prints how long each takes.\n"
			    "Without DEVICE it takes the first that has an active port.\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

/* Ends the program with the reason unless a call works. */
#define NEED(call) rdmaez_diag_need(call, &diag)

static struct rdmaez_diag diag;
static struct rdmaez_simple it;
static struct rdmaez_remote remote;
static uint8_t memory[2][BYTES];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Takes the completions that are there. */
static void collect(struct rdmaez_credit *credit)
{
	struct ibv_wc wc[LIST];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = LIST};

	NEED(rdmaez_wc_poll(it.send_cq, it.qp, &batch, &diag));
	for (int i = 0; i < batch.count; i++)
		rdmaez_credit_give(credit, wc[i].wr_id);
}

/* All writes: one in `every` is signaled, `list` of them are posted by one call. */
static void run(const char *name, uint32_t every, int list, bool is_inline)
{
	struct ibv_sge sge = {(uintptr_t)memory[0], BYTES, it.mr->lkey};
	struct ibv_send_wr wr[LIST];
	struct rdmaez_credit credit;
	const double start = now();

	NEED(rdmaez_credit_init(&credit, DEPTH, every, &diag));
	for (int posted = 0; posted < WRITES; posted += list) {
		memset(wr, 0, sizeof(wr));
		for (int i = 0; i < list; i++) {
			NEED(rdmaez_wr_write(&wr[i], &sge, &remote, BYTES, &diag));
			if (is_inline)
				NEED(rdmaez_wr_inline(&wr[i], BYTES, &diag));
			while (rdmaez_credit_take(&credit, &wr[i])) /* the queue is full */
				collect(&credit);
			wr[i].next = i + 1 < list ? &wr[i + 1] : NULL;
		}
		NEED(rdmaez_wr_post_send(it.qp, wr, NULL, &diag));
	}
	while (credit.given < WRITES)
		collect(&credit);
	printf("%-40s %8.0f ns\n", name, (now() - start) / (int)WRITES);
}

int main(int argc, char **argv)
{
	struct rdmaez_simple_opts objects = {
		.sends = DEPTH,
		.inline_data = BYTES,
		.flags = RDMAEZ_SIMPLE_UNSIGNALED,
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		.buffer = memory,
		.length = sizeof(memory),
	};
	struct rdmaez_qp_opts opts = {.access = IBV_ACCESS_REMOTE_WRITE};
	const int letter = getopt_long(argc, argv, "h", help, NULL);

	if (letter != -1 || argc - optind > 1) {
		fputs(usage, letter == 'h' ? stdout : stderr);
		return letter == 'h' ? EXIT_SUCCESS : 2;
	}
	NEED(rdmaez_simple_open(argv[optind], &objects, &it, &diag));
	NEED(rdmaez_qp_connect_loopback(it.qp, it.qp, &opts, &diag));
	NEED(rdmaez_mr_remote(it.mr, &remote, &diag));
	run("each write signaled, one by one", 1, 1, false);
	run("one in 16 signaled", LIST, 1, false);
	run("one in 16 signaled, inline", LIST, 1, true);
	run("one in 16 signaled, inline, lists of 16", LIST, LIST, true);
	NEED(rdmaez_simple_close(&it, &diag));
	return EXIT_SUCCESS;
}
