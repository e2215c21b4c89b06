/* SPDX-License-Identifier: MIT */
/*
 * ranks DIRECTORY MISTAKE [SECONDS]: a rank of a job, by OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE. Rank 0 has a
 * queue pair with each other rank, and they write and send to each other for some rounds. The last rank makes the mistake.
 * The ranks meet by files in the directory. One that then waits for three seconds says so; one that waits for SECONDS
 * gives up, and ends with 9; one whose completion fails destroys its queue pairs, and ends with 1. Knows nothing of
 * rdmaez.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

enum {
	GID_INDEX = 1,
	SIZE = 4096,
	ROUNDS = 3,
	MOST = 64,
	GRH = 40
};

/* What one rank tells another of the queue pair that is for it. */
struct told {
	uint32_t qp_num, rkey, psn;
	uint64_t addr;
	union ibv_gid gid;
};

static const char *directory, *mistake;
static int rank, ranks, seconds = 4, is_ready;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *send_cq, *recv_cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_qp *qps[MOST];
static struct ibv_ah *ahs[MOST];
static struct told peer[MOST];
static char *buffer;

static int is(const char *name)
{
	return strcmp(mistake, name) == 0;
}

/* Whether this rank is to make that mistake. */
static int does(const char *name)
{
	return is(name) && rank == ranks - 1;
}

static int is_ud(void)
{
	return is("qkey") || is("ud");
}

static void must(int held, const char *what)
{
	if (held)
		return;
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Whether it has waited for too long, for one thing. To start the others may take a while. */
static int gives_up(double since)
{
	static int has_said;

	if (is_ready && !has_said && now() - since > 3) {
		puts("waits");
		has_said = 1;
	}
	return now() - since > (is_ready ? seconds : seconds + 60);
}

/* ---- Files ------------------------------------------------------------------------------------------- */

static void tell(const char *what, int to, const void *bytes, size_t size)
{
	char path[512], temporary[520];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.%d.%d", directory, what, rank, to);
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	file = fopen(temporary, "w");
	must(file && fwrite(bytes, 1, size, file) == size && !fclose(file), path);
	must(!rename(temporary, path), path);
}

static void hear(const char *what, int from, void *bytes, size_t size)
{
	const double start = now();
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.%d.%d", directory, what, from, rank);
	while (!(file = fopen(path, "r"))) {
		if (gives_up(start))
			exit(9);
		usleep(10000);
	}
	must(fread(bytes, 1, size, file) == size, path);
	fclose(file);
}

/* The others of this rank. */
static int first(void)
{
	return rank ? 0 : 1;
}

static int last(void)
{
	return rank ? 0 : ranks - 1;
}

static void meet(const char *what)
{
	char byte = 1;

	for (int i = first(); i <= last(); i++)
		tell(what, i, &byte, 1);
	for (int i = first(); i <= last(); i++)
		hear(what, i, &byte, 1);
}

/* ---- Queue pairs ---------------------------------------------------------------------------------------- */

static void open_device(void)
{
	struct ibv_device **const list = ibv_get_device_list(NULL);
	struct ibv_srq_init_attr shared = {.attr = {.max_wr = 256, .max_sge = 1}};

	must(list && *list, "devices");
	context = ibv_open_device(*list);
	must(context != NULL, "open");
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	send_cq = ibv_create_cq(context, 256, NULL, NULL, 0);
	recv_cq = ibv_create_cq(context, 256, NULL, NULL, 0);
	buffer = (char *)mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			      -1, 0);
	mr = ibv_reg_mr(pd, buffer, 2 * SIZE,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	must(mr != NULL, "register");
	if (is("srq") || is("srq_empty"))
		must((srq = ibv_create_srq(pd, &shared)) != NULL, "SRQ");
}

static void make_qp(int to)
{
	struct ibv_qp_init_attr init = {.send_cq = send_cq,
					.recv_cq = recv_cq,
					.srq = srq,
					.cap = {16, 64, 1, 1, 0},
					.qp_type = is_ud() ? IBV_QPT_UD : IBV_QPT_RC,
					.sq_sig_all = 1};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qkey = does("qkey") ? 0x22 : 0x11,
				   .qp_access_flags = does("rights") ? 0 : IBV_ACCESS_REMOTE_WRITE};
	struct told told = {.psn = 1000u * (unsigned int)(rank + 1)};

	qps[to] = ibv_create_qp(pd, &init);
	must(qps[to] != NULL, "queue pair");
	must(!ibv_modify_qp(qps[to], &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    (is_ud() ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)),
	     "INIT");
	told.qp_num = qps[to]->qp_num;
	told.rkey = mr->rkey;
	told.addr = (uintptr_t)buffer + SIZE;
	must(!ibv_query_gid(context, 1, GID_INDEX, &told.gid), "GID");
	tell("qp", to, &told, sizeof(told));
}

static struct ibv_ah_attr path_to(int to)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = {.dgid = peer[to].gid, .sgid_index = GID_INDEX, .hop_limit = 64}};
}

static void connect_to(int to)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = does("mtu") ? IBV_MTU_512 : IBV_MTU_1024,
				   .rq_psn = peer[to].psn + (does("psn") ? 77 : 0),
				   .dest_qp_num = does("dest") ? 9999 : peer[to].qp_num,
				   .max_dest_rd_atomic = 1,
				   .min_rnr_timer = 12,
				   .ah_attr = path_to(to)};

	if (is_ud()) {
		ahs[to] = ibv_create_ah(pd, &attr.ah_attr);
		must(ahs[to] != NULL, "address handle");
	}
	must(!ibv_modify_qp(qps[to], &attr,
			    is_ud() ? IBV_QP_STATE
				    : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					      IBV_QP_MIN_RNR_TIMER),
	     "RTR");
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 1000u * (unsigned int)(rank + 1);
	attr.timeout = 12;
	attr.retry_cnt = attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	must(!ibv_modify_qp(qps[to], &attr,
			    IBV_QP_STATE | IBV_QP_SQ_PSN |
				    (is_ud() ? 0
					     : IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)),
	     "RTS");
}

/* ---- Messages ------------------------------------------------------------------------------------------- */

static void post_recv(int from)
{
	struct ibv_sge sge = {(uintptr_t)buffer, SIZE, mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	if (does("no_receive") || does("srq_empty"))
		return;
	must(!(srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qps[from], &wr, &bad)),
	     "receive");
}

static void post(int to, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = {(uintptr_t)buffer, is_ud() ? 512 : SIZE, mr->lkey};
	struct ibv_send_wr wr = {.opcode = opcode, .sg_list = &sge, .num_sge = 1}, *bad;

	if (is_ud()) {
		wr.wr.ud.ah = ahs[to];
		wr.wr.ud.remote_qpn = peer[to].qp_num;
		wr.wr.ud.remote_qkey = 0x11;
	} else {
		wr.wr.rdma.remote_addr = peer[to].addr;
		wr.wr.rdma.rkey = peer[to].rkey;
	}
	must(!ibv_post_send(qps[to], &wr, &bad), "send");
}

static void close_all(void)
{
	for (int i = first(); i <= last(); i++)
		ibv_destroy_qp(qps[i]);
	ibv_dereg_mr(mr);
}

static void wait_for(struct ibv_cq *cq, int count)
{
	const double start = now();
	struct ibv_wc wc;

	while (count) {
		const int got = ibv_poll_cq(cq, 1, &wc);

		if (got && (got < 0 || wc.status != IBV_WC_SUCCESS)) {
			printf("status %d\n", got > 0 ? (int)wc.status : -1);
			close_all();
			exit(1);
		}
		count -= got;
		if (!got && gives_up(start)) {
			puts("hangs");
			exit(9);
		}
		if (!got)
			usleep(1000);
	}
}

static void round_of(void)
{
	const int others = last() - first() + 1;

	for (int i = first(); i <= last(); i++) {
		if (!is_ud() && !rank)
			post(i, IBV_WR_RDMA_WRITE);
		post(i, IBV_WR_SEND);
	}
	wait_for(send_cq, (!is_ud() && !rank ? 2 : 1) * others);
	wait_for(recv_cq, others);
}

int main(int argc, char **argv)
{
	const char *const number = getenv("OMPI_COMM_WORLD_RANK"), *const size = getenv(
									   "OMPI_COMM_WORLD_SIZE");

	if (argc < 3 || !number || !size)
		return 2;
	directory = argv[1];
	mistake = argv[2];
	if (argc > 3)
		seconds = atoi(argv[3]);
	rank = atoi(number);
	ranks = atoi(size);
	must(ranks <= MOST, "too many ranks");
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_device();
	for (int i = first(); i <= last(); i++)
		make_qp(i);
	for (int i = first(); i <= last(); i++) {
		hear("qp", i, &peer[i], sizeof(peer[i]));
		/* All of them: rank 0 counts messages of any rank, so it may be rounds ahead of one. */
		for (int j = 0; j < ROUNDS; j++)
			post_recv(i);
		connect_to(i);
	}
	if (does("region"))
		must(!ibv_dereg_mr(mr), "deregister");
	if (does("region"))
		mr = ibv_reg_mr(pd, buffer, 2 * SIZE, IBV_ACCESS_LOCAL_WRITE);
	meet("ready");
	is_ready = 1;
	for (int i = 0; i < ROUNDS; i++)
		round_of();
	/* Nobody leaves while others are still at it. */
	meet("done");
	close_all();
	return 0;
}
