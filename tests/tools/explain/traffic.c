/* SPDX-License-Identifier: MIT */
/*
 * Two processes that send to each other over the first device, and do one thing wrong: traffic CASE. It prints what the
 * client sees, which must be the same with and without rdmaez-explain. It knows nothing of rdmaez.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/verbs.h>

enum {
	ROUNDS = 100,
	SIZE = 4096
};

struct told {
	union ibv_gid gid;
	uint32_t qp_num, rkey;
	uint64_t addr;
};

static char buffer[SIZE];
static int peer; /* a socket */
static bool is_client;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq_ex *queue; /* of the extended interfaces */
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_qp_ex *extended;
static struct told told;

#define CHECK(what)                                             \
	do {                                                    \
		if (!(what)) {                                  \
			fprintf(stderr, "failed: " #what "\n"); \
			_exit(1);                               \
		}                                               \
	} while (0)

/* ---- The connection ---------------------------------------------------------------------------------- */

static void create(bool is_extended)
{
	struct ibv_cq_init_attr_ex of_cq = {.cqe = 64, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN};
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_RC};
	struct ibv_device **list = ibv_get_device_list(NULL);

	CHECK(list && list[0] && (context = ibv_open_device(list[0])));
	CHECK((pd = ibv_alloc_pd(context)));
	CHECK((mr = ibv_reg_mr(pd, buffer, SIZE,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)));
	if (is_extended)
		CHECK((queue = ibv_create_cq_ex(context, &of_cq)));
	CHECK((cq = is_extended ? ibv_cq_ex_to_cq(queue)
				: ibv_create_cq(context, 64, NULL, NULL, 0)));
	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	if (is_extended)
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.pd = pd;
	init.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE;
	init.send_cq = init.recv_cq = cq;
	init.cap.max_send_wr = init.cap.max_recv_wr = 8;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	init.cap.max_inline_data = 32;
	CHECK((qp = ibv_create_qp_ex(context, &init)));
	if (is_extended)
		CHECK((extended = ibv_qp_to_qp_ex(qp)));
	ibv_free_device_list(list);
}

static void modify(enum ibv_qp_state state, struct ibv_qp_attr *attr, int attr_mask)
{
	attr->qp_state = state;
	CHECK(!ibv_modify_qp(qp, attr, attr_mask | IBV_QP_STATE));
}

static void to_init(void)
{
	struct ibv_qp_attr attr = {.port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	modify(IBV_QPS_INIT, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static void connect_qp(void)
{
	struct ibv_qp_attr attr = {.path_mtu = IBV_MTU_1024,
				   .max_dest_rd_atomic = 1,
				   .min_rnr_timer = 1,
				   .max_rd_atomic = 1,
				   .timeout = 12,
				   .retry_cnt = 3,
				   .rnr_retry = 1};
	struct told own = {.qp_num = qp->qp_num, .rkey = mr->rkey, .addr = (uintptr_t)buffer};

	CHECK(!ibv_query_gid(context, 1, 0, &own.gid));
	CHECK(write(peer, &own, sizeof(own)) == sizeof(own));
	CHECK(read(peer, &told, sizeof(told)) == sizeof(told));
	attr.dest_qp_num = told.qp_num;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = told.gid;
	attr.ah_attr.grh.hop_limit = 64;
	modify(IBV_QPS_RTR, &attr,
	       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	modify(IBV_QPS_RTS, &attr,
	       IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		       IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Both ends come here before either goes on. */
static void meet(void)
{
	char byte = 0;

	CHECK(write(peer, &byte, 1) == 1);
	CHECK(read(peer, &byte, 1) == 1);
}

/* ---- Work ----------------------------------------------------------------------------------------------- */

static void receive(void)
{
	struct ibv_sge sge = {(uintptr_t)buffer, 64, mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	CHECK(!ibv_post_recv(qp, &wr, &bad));
}

static int post(enum ibv_wr_opcode opcode, uint32_t lkey, int num_sge)
{
	struct ibv_sge sge[4] = {{(uintptr_t)buffer, 64, lkey}};
	struct ibv_send_wr wr = {.wr_id = 1, .sg_list = sge, .num_sge = num_sge}, *bad = NULL;

	wr.opcode = opcode;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = told.addr;
	wr.wr.rdma.rkey = told.rkey + 1;
	return ibv_post_send(qp, &wr, &bad);
}

static int build(int count, size_t inlined)
{
	ibv_wr_start(extended);
	for (int i = 0; i < count; i++) {
		extended->wr_id = 1;
		extended->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(extended);
		if (inlined)
			ibv_wr_set_inline_data(extended, buffer, inlined);
		else
			ibv_wr_set_sge(extended, mr->lkey, (uintptr_t)buffer, 64);
	}
	return ibv_wr_complete(extended);
}

/* Waits for a completion, and returns its status. */
static int wait_for_one(void)
{
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc wc;
	int status;

	if (!queue) {
		while (!(status = ibv_poll_cq(cq, 1, &wc)))
			;
		return status < 0 ? status : (int)wc.status;
	}
	while (ibv_start_poll(queue, &attr))
		;
	status = (int)queue->status;
	ibv_end_poll(queue);
	return status;
}

static void pingpong(void)
{
	receive();
	meet();
	for (int i = 0; i < ROUNDS; i++) {
		if (is_client || i)
			CHECK(!(extended ? build(1, 0) : post(IBV_WR_SEND, mr->lkey, 1)));
		for (int left = is_client || i ? 2 : 1; left; left--)
			CHECK(!wait_for_one());
		if (i + 1 < ROUNDS)
			receive();
	}
	if (!is_client) {
		CHECK(!(extended ? build(1, 0) : post(IBV_WR_SEND, mr->lkey, 1)));
		CHECK(!wait_for_one());
	}
	printf("%d rounds\n", ROUNDS);
}

/* The first completion that the client sees of one request. */
static void client_sends(enum ibv_wr_opcode opcode, uint32_t lkey)
{
	int result;

	if (!is_client)
		return;
	result = extended ? build(1, 0) : post(opcode, lkey, 1);
	printf("posted %d\n", result);
	if (!result)
		printf("status %d\n", wait_for_one());
}

/* ---- The cases --------------------------------------------------------------------------------------------- */

static void not_ready(void)
{
	client_sends(IBV_WR_SEND, mr->lkey);
}

static void wrong_rkey(void)
{
	if (!is_client)
		receive();
	meet();
	client_sends(IBV_WR_RDMA_WRITE, mr->lkey);
	meet();
	/* The hardware has moved this end, too. */
	if (!is_client)
		CHECK(wait_for_one() == IBV_WC_WR_FLUSH_ERR);
}

static void wrong_lkey(void)
{
	client_sends(IBV_WR_SEND, mr->lkey + 1);
}

static void killed(void)
{
	if (!is_client)
		raise(SIGKILL);
	waitpid(-1, NULL, 0);
	client_sends(IBV_WR_SEND, mr->lkey);
	_exit(0);
}

static void own_flush(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	receive();
	receive();
	modify(IBV_QPS_ERR, &attr, 0);
	printf("flushed %d", wait_for_one());
	printf(" %d\n", wait_for_one());
}

static void many_sges(void)
{
	printf("posted %d\n", is_client ? post(IBV_WR_SEND, mr->lkey, 3) : 0);
}

static void full(void)
{
	printf("posted %d\n", is_client ? build(100, 0) : 0);
}

static void long_inline(void)
{
	printf("posted %d\n", is_client ? build(1, 4000) : 0);
}

static const struct {
	const char *name;
	void (*run)(void);
	bool is_extended;
} cases[] = {
	{"pingpong", pingpong, false},     {"not_ready", not_ready, false},
	{"wrong_rkey", wrong_rkey, false}, {"wrong_lkey", wrong_lkey, false},
	{"killed", killed, false},         {"own_flush", own_flush, false},
	{"many_sges", many_sges, false},   {"ex_pingpong", pingpong, true},
	{"ex_not_ready", not_ready, true}, {"ex_killed", killed, true},
	{"ex_full", full, true},           {"ex_long_inline", long_inline, true},
};

static int run(unsigned int which, const int ends[2], pid_t child)
{
	is_client = child > 0;
	peer = ends[is_client];
	close(ends[!is_client]);
	if (!is_client)
		CHECK(freopen("/dev/null", "w", stdout));
	create(cases[which].is_extended);
	to_init();
	connect_qp();
	meet();
	cases[which].run();
	meet();
	return ibv_destroy_qp(qp) || ibv_destroy_cq(cq) || ibv_dereg_mr(mr) || ibv_dealloc_pd(pd) ||
	       ibv_close_device(context);
}

int main(int argc, char *argv[])
{
	int ends[2], status = 0, code;
	pid_t child;

	for (unsigned int i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
		child = fork();
		code = run(i, ends, child);
		if (child)
			waitpid(child, &status, 0);
		return code || (child && status);
	}
	return 2;
}
