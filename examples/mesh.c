/* SPDX-License-Identifier: MIT */
/*
 * A full mesh over MPI: every rank connects a queue pair to every other rank, after one MPI_Allgather() has told all
 * of all, and tries it by an RDMA WRITE whose bytes the receiver compares. Prints what each step takes.
 *
 * Build:  mpicc -std=c11 -Iinclude examples/mesh.c -libverbs -o mesh
 * Run:    mpirun -n 8 ./mesh, or on a machine without RDMA: make mesh
 *
 * Ranks may use different devices: mpirun -n 4 ./mesh -d mlx5_0 : -n 4 ./mesh -d mlx5_1
 * What is open at the end is left to the kernel to close.
 */
#include <getopt.h>
#include <stdlib.h>

#include <mpi.h>
#include <rdmaez.h>
#include <rdmaez/implementation.h>

enum {
	SIZE = 4096, /* of what each queue pair writes */
	BATCH = 64   /* completions polled together */
};

static const char usage[] =
	"usage: mpirun -n RANKS mesh [OPTION...]\n"
	"\n"
	"Connects every rank to every other and tries each connection by an RDMA WRITE.\n"
	"\n"
	"  -d DEVICE   the device (the first that has an active port)\n"
	"  -q COUNT    queue pairs to each peer, the same for all ranks (1)\n"
	"  -h, --help  this text\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

static const uint64_t PATIENCE_NS = UINT64_C(60000000000); /* for the next completion */

/* A queue pair, and its memory: what it writes, and where its peer does. Slots count a rank's queue pairs by peer. */
struct link {
	struct ibv_qp *qp;
	int peer, slot;
	struct rdmaez_endpoint own, remote;
	uint8_t out[SIZE], in[SIZE];
};

static int rank, ranks, per_peer = 1;
static struct link *links, *end;
static struct ibv_cq *cq;
static struct ibv_mr *mr; /* of all links */
/* Many ranks may share a processor: an acknowledgement may take a second. */
static struct rdmaez_qp_opts opts = {.access = IBV_ACCESS_REMOTE_WRITE, .timeout = 18};
static struct rdmaez_diag diag;
static const char *doing; /* the step */

/* One rank's failure is the end of all. */
static void fail(const char *why)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, doing, why);
	MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	exit(EXIT_FAILURE);
}

static void check(int error)
{
	char text[4096];

	if (!error)
		return;
	rdmaez_diag_format(&diag, text, sizeof(text));
	fail(text);
}

static void *need_memory(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		fail("no memory");
	return memory;
}

/* Begins a step, and ends the one before, which has lasted until the slowest rank was done. */
static void step(const char *name)
{
	static double began;
	double ms;

	MPI_Barrier(MPI_COMM_WORLD);
	ms = (MPI_Wtime() - began) * 1e3;
	if (began > 0 && rank == 0)
		printf("%-10s %10.2f ms %8.3f ms per queue pair\n", doing, ms,
		       ms / (double)(end - links));
	doing = name;
	began = MPI_Wtime();
}

/* Byte i of what one rank writes to another by the queue pair of that slot. */
static uint8_t pattern(int from, int to, int slot, int i)
{
	return (uint8_t)(1 + 31 * from + 57 * to + 11 * (slot % per_peer) + i + i / 256);
}

static void open_device(const char *name)
{
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	const int count = (ranks - 1) * per_peer;
	struct ibv_context *context;
	struct ibv_pd *pd;

	links = (struct link *)need_memory((size_t)count, sizeof(*links));
	end = links + count;
	check(rdmaez_device_open(name, &context, &diag));
	pd = ibv_alloc_pd(context);
	if (!pd)
		fail(strerror(errno));
	check(rdmaez_cq_create(context, 2 * count, NULL, 0, &cq, &diag));
	check(rdmaez_mr_reg(pd, links, (size_t)count * sizeof(*links), access, &mr, &diag));
}

static void create(void)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
	int slot = 0;

	init.send_cq = init.recv_cq = cq;
	for (struct link *link = links; link < end; link++, slot++) {
		if (slot == rank * per_peer)
			slot += per_peer; /* none to oneself */
		link->slot = slot;
		link->peer = slot / per_peer;
		check(rdmaez_qp_create(mr->pd, &init, &link->qp, &diag));
	}
}

/* The port is asked once; each queue pair adds itself and its memory. */
static void describe(uint8_t *told)
{
	struct rdmaez_endpoint port;

	check(rdmaez_endpoint_port(mr->context, &opts, &port, &diag));
	for (struct link *link = links; link < end; link++) {
		link->own = port;
		check(rdmaez_endpoint_set_qp(&link->own, link->qp, &diag));
		link->own.memory = (struct rdmaez_remote){(uintptr_t)link->in, SIZE, mr->rkey};
		rdmaez_endpoint_pack(&link->own, told + link->slot * RDMAEZ_ENDPOINT_BYTES);
	}
}

/* What a peer tells us is in its block, in the slots of our rank. */
static void connect_all(const uint8_t *told)
{
	for (struct link *link = links; link < end; link++) {
		const int block = link->peer * ranks * per_peer;
		const int slot = rank * per_peer + link->slot % per_peer;
		const uint8_t *bytes = told + (size_t)(block + slot) * RDMAEZ_ENDPOINT_BYTES;
		struct ibv_recv_wr room = {.wr_id = (uintptr_t)link}, *bad;

		check(rdmaez_endpoint_unpack(bytes, &link->remote, &diag));
		check(rdmaez_qp_connect(link->qp, &link->own, &link->remote, &opts, &diag));
		check(rdmaez_wr_post_recv(link->qp, &room, &bad, &diag));
	}
}

/* Writes into every peer's memory. The immediate, by which the receiver learns of it, tells who has written. */
static void post_writes(void)
{
	for (struct link *link = links; link < end; link++) {
		struct ibv_sge sge = {(uintptr_t)link->out, SIZE, mr->lkey};
		struct ibv_send_wr write = {.wr_id = (uintptr_t)link}, *bad;

		for (int i = 0; i < SIZE; i++)
			link->out[i] = pattern(rank, link->peer, link->slot, i);
		if (rdmaez_wr_write(&write, &sge, &link->remote.memory, 0, &diag))
			fail("the peer's memory is too small");
		rdmaez_wr_imm(&write, (uint32_t)rank, &diag);
		write.send_flags = IBV_SEND_SIGNALED;
		check(rdmaez_wr_post_send(link->qp, &write, &bad, &diag));
	}
}

/* How many bytes have come by this completion, all of which must be right. */
static int judge(const struct ibv_wc *wc)
{
	const struct link *link = (const struct link *)(uintptr_t)wc->wr_id;
	uint32_t from;

	if (wc->status != IBV_WC_SUCCESS) {
		rdmaez_wc_explain_qp(wc, link->qp, &diag);
		check(EIO);
	}
	if (rdmaez_wc_imm(wc, &from))
		return 0; /* this was our own WRITE */
	if (from != (uint32_t)link->peer)
		fail("another rank has written here");
	for (int i = 0; i < SIZE; i++)
		if (link->in[i] != pattern(link->peer, rank, link->slot, i))
			fail("what came is not what was written");
	return SIZE;
}

/* Waits for two completions by each queue pair, of what it has written and of what has come. */
static long long await_all(void)
{
	struct ibv_wc wc[BATCH];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = BATCH};
	long long bytes = 0;
	int error;

	for (long missing = 2 * (end - links); missing > 0; missing -= batch.count) {
		error = rdmaez_wc_wait(cq, NULL, &batch, PATIENCE_NS, &diag);
		for (int i = 0; i < batch.count; i++)
			bytes += judge(&wc[i]);
		check(error);
	}
	return bytes;
}

int main(int argc, char **argv)
{
	const char *device = NULL;
	long long right, sum;
	bool asked = false;

	for (int letter; (letter = getopt_long(argc, argv, "d:q:h", help, NULL)) != -1;) {
		if (letter == 'd')
			device = optarg;
		else
			per_peer = letter == 'q' ? atoi(optarg) : 0;
		asked |= letter == 'h';
	}
	if (per_peer < 1 || optind < argc) {
		fputs(usage, asked ? stdout : stderr);
		return asked ? EXIT_SUCCESS : 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	doing = "start";
	if (ranks < 2)
		fail("a mesh takes two ranks: start it with mpirun -n");
	const int bytes = ranks * per_peer * RDMAEZ_ENDPOINT_BYTES;
	uint8_t *own = (uint8_t *)need_memory(1, (size_t)bytes);
	uint8_t *all = (uint8_t *)need_memory((size_t)ranks, (size_t)bytes);

	doing = "open";
	open_device(device);
	step("create");
	create();
	step("endpoint");
	describe(own);
	step("all-gather");
	MPI_Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
	step("connect");
	connect_all(all);
	step("verify"); /* all are in RTS and have a receive posted: now they may write */
	post_writes();
	right = await_all();
	step("the end");
	MPI_Reduce(&right, &sum, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks, %d queue pairs each; %d bytes told by each, %lld in all\n"
		       "%lld pairs verified, %lld bytes written and compared\n",
		       ranks, (int)(end - links), bytes, (long long)bytes * ranks,
		       sum / SIZE / per_peer, sum);
	MPI_Finalize();
	return EXIT_SUCCESS;
}
