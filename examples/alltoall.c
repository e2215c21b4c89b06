/* SPDX-License-Identifier: MIT */
/*
 * All to all, without polling: eight processes write to each other, and sleep until all completions are there.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdmaez.h>
#include <rdmaez/implementation.h>

static const char usage[] =
	"usage: alltoall\n\nEight processes write to each other by RDMA, ten times.\n";

#define NEED(call) rdmaez_diag_need(call, &diag)
#define RANKS      8
#define BLOCK      4096
#define ROUNDS     10

struct board {
	atomic_uint at;
	uint8_t endpoint[RANKS][RANKS][RDMAEZ_ENDPOINT_BYTES]; /* [from][to] */
};

static void barrier(struct board *board)
{
	const unsigned int end = (atomic_fetch_add(&board->at, 1) / RANKS + 1) * RANKS;

	while (atomic_load(&board->at) < end)
		sched_yield();
}

static int run(struct board *board, int rank)
{
	static uint8_t memory[2][RANKS][BLOCK]; /* what goes out, and what comes in */
	struct rdmaez_simple_opts objects = {
		.flags = RDMAEZ_SIMPLE_CHANNEL | RDMAEZ_SIMPLE_NO_QP,
		.cqes = 2 * RANKS * (ROUNDS + 2),
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		.buffer = memory,
		.length = sizeof(memory),
	};
	struct rdmaez_qp_opts opts = {.access = IBV_ACCESS_REMOTE_WRITE};
	struct rdmaez_endpoint local[RANKS], remote[RANKS];
	struct ibv_wc wc[2 * RANKS];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 2 * RANKS, .want = 2 * RANKS};
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp[RANKS];
	struct ibv_recv_wr recv = {0};
	struct ibv_send_wr wr = {0};
	struct ibv_sge sge;
	struct rdmaez_simple it;
	struct rdmaez_diag diag;
	int wrong = 0;

	alarm(60); /* if another fails */
	NEED(rdmaez_simple_open(NULL, &objects, &it, &diag));
	for (int i = 0; i < RANKS; i++) {
		rdmaez_simple_init_attr(&it, &objects, &init);
		NEED(rdmaez_qp_create(it.pd, &init, &qp[i], &diag));
		NEED(rdmaez_endpoint_local(qp[i], &opts, &local[i], &diag));
		NEED(rdmaez_mr_remote(it.mr, &local[i].memory, &diag));
		NEED(rdmaez_endpoint_pack(&local[i], board->endpoint[rank][i]));
	}
	barrier(board);
	for (int i = 0; i < RANKS; i++) {
		NEED(rdmaez_endpoint_unpack(board->endpoint[i][rank], &remote[i], &diag));
		NEED(rdmaez_qp_connect(qp[i], &local[i], &remote[i], &opts, &diag));
		for (int r = 0; r < ROUNDS; r++)
			NEED(rdmaez_wr_post_recv(qp[i], &recv, NULL, &diag));
	}
	for (int r = 0; r < ROUNDS; r++) {
		barrier(board); /* nobody overwrites what is not checked yet */
		for (int i = 0; i < RANKS; i++) {
			memset(memory[0][i], rank * RANKS + i + r, BLOCK);
			NEED(rdmaez_mr_sge(it.mr, memory[0][i], BLOCK, &sge, &diag));
			NEED(rdmaez_wr_write(&wr, &sge, &remote[i].memory,
					     (uint64_t)(RANKS + rank) * BLOCK, &diag));
			NEED(rdmaez_wr_imm(&wr, (uint32_t)r,
					   &diag)); /* so that it takes a receive */
			NEED(rdmaez_wr_post_send(qp[i], &wr, NULL, &diag));
		}
		NEED(rdmaez_cq_wait(it.send_cq, NULL, &batch, 0, &diag));
		for (int i = 0; i < RANKS * BLOCK; i++)
			wrong += memory[1][i / BLOCK][i % BLOCK] !=
				 (uint8_t)(i / BLOCK * RANKS + rank + r);
	}
	barrier(board);
	fprintf(stderr, "rank %d: %d rounds, %d wrong bytes\n", rank, ROUNDS, wrong);
	for (int i = 0; i < RANKS; i++)
		ibv_destroy_qp(qp[i]);
	NEED(rdmaez_simple_close(&it, &diag));
	return wrong != 0;
}

int main(int argc, char **argv)
{
	const bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
	struct board *board = (struct board *)mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
						   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int failed = board == MAP_FAILED, status;

	if (argc > 1) {
		fputs(usage, help ? stdout : stderr);
		return help ? 0 : 2;
	}
	for (int rank = 0; rank < RANKS && !failed; rank++)
		if (!fork())
			_exit(run(board, rank));
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}
