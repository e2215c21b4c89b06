/* SPDX-License-Identifier: MIT */
/*
 * Four threads on one device: they share its context, protection domain and memory region, and each has a queue pair and
 * a completion queue of its own. So nothing here needs a lock.
 *
 * Build:  cc -std=c11 -Iinclude examples/threads.c -libverbs -pthread -o threads
 * Run:    ./threads [DEVICE], or on a machine without RDMA: tools/softroce ./threads
 */
#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>

enum {
	THREADS = 4,
	WRITES = 500
};

static const char usage[] = "usage: threads [DEVICE]\n"
			    "\n"
			    "Four threads write by RDMA, each through a queue pair of its own.\n"
			    "Without DEVICE it takes the first that has an active port.\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

/* Ends the program with the reason unless a call works. */
#define NEED(call) rdmaez_diag_need(call, &diag)

/* What one thread writes, and where; no two threads share a cache line. */
struct slot {
	uint64_t out, in;
	char unused[48];
};

static struct slot slots[THREADS];
static struct rdmaez_simple shared; /* written before the threads start, read by all */
static const struct rdmaez_simple_opts objects = {
	.flags = RDMAEZ_SIMPLE_NO_QP,
	.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	.buffer = slots,
	.length = sizeof(slots),
};

/* Counts by RDMA: each WRITE copies `out` to `in`, through a queue pair that is connected to itself. */
static void *count(void *arg)
{
	struct slot *const slot = (struct slot *)arg;
	struct rdmaez_qp_opts opts = {.access = IBV_ACCESS_REMOTE_WRITE};
	struct ibv_sge sge = {(uintptr_t)&slot->out, sizeof(slot->out), shared.mr->lkey};
	const uint64_t offset = (uint64_t)((char *)&slot->in - (char *)slots);
	struct rdmaez_diag diag; /* a record of its own, too */
	struct ibv_qp_init_attr init;
	struct rdmaez_remote remote;
	struct ibv_send_wr wr = {0};
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1, .want = 1};

	NEED(rdmaez_cq_create(shared.context, 128, NULL, 0, &cq, &diag));
	rdmaez_simple_init_attr(&shared, &objects, &init);
	init.send_cq = init.recv_cq = cq;
	NEED(rdmaez_qp_create(shared.pd, &init, &qp, &diag));
	NEED(rdmaez_qp_connect_loopback(qp, qp, &opts, &diag));
	NEED(rdmaez_mr_remote(shared.mr, &remote, &diag));
	NEED(rdmaez_wr_write(&wr, &sge, &remote, offset, &diag));
	while (slot->in < WRITES) {
		slot->out = slot->in + 1;
		NEED(rdmaez_wr_post_send(qp, &wr, NULL, &diag));
		NEED(rdmaez_wc_wait(cq, qp, &batch, 0, &diag));
	}
	ibv_destroy_qp(qp);
	NEED(rdmaez_cq_destroy(cq, &diag));
	return NULL;
}

int main(int argc, char **argv)
{
	struct rdmaez_diag diag;
	pthread_t threads[THREADS];
	const int letter = getopt_long(argc, argv, "h", help, NULL);

	if (letter != -1 || argc - optind > 1) {
		fputs(usage, letter == 'h' ? stdout : stderr);
		return letter == 'h' ? EXIT_SUCCESS : 2;
	}
	NEED(rdmaez_simple_open(argv[optind], &objects, &shared, &diag));
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, count, &slots[i]))
			abort();
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		printf("thread %d: %llu writes arrived\n", i, (unsigned long long)slots[i].in);
	}
	NEED(rdmaez_simple_close(&shared, &diag)); /* when no thread uses anything of it */
	return EXIT_SUCCESS;
}
