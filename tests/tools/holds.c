/* SPDX-License-Identifier: MIT */
/*
 * holds STATE [PAIRS]: brings pairs of queue pairs of the first device into a state, writes "ready", and waits to be
 * killed. For what rdmaez-doctor says of processes.
 *
 *     init, err        both ends
 *     rtr              one end is in RTR, the other in RTS
 *     idle, uc         both in RTS, of RC and UC
 *     psn              the two ends have other PSNs, and one sends
 *     oneway           one end is in RTR, and the other writes to it for ever; a pair beside it is in INIT
 *     datagrams        UD, of which one end sends for ever
 *     receive          one sends, and the other has no receive posted
 *     twins            as psn, with ends of two devices that have one number
 *     thread           as idle; the thread that has created all is gone
 *     region           no queue pair, and 1 MiB of registered memory
 *     shared           the same memory on two devices, for writes by peers; it ends at once
 */
#include <rdmaez.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *state;
static int pairs;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq, *other_cq;
static struct ibv_mr *mr;
static char *memory;

static void need(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, rdmaez_errno_str(error));
	exit(1);
}

static struct ibv_qp *create_on(struct ibv_pd *of, struct ibv_cq *with, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;

	memset(&init, 0, sizeof(init));
	init.send_cq = init.recv_cq = with;
	init.qp_type = type;
	init.cap.max_send_wr = init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	qp = ibv_create_qp(of, &init);
	need(!qp, "ibv_create_qp");
	return qp;
}

static struct ibv_qp *create(enum ibv_qp_type type)
{
	return create_on(pd, cq, type);
}

static void bring_up(struct ibv_qp *qp, const struct ibv_qp *peer, const union ibv_gid *gid,
		     uint32_t rq_psn, int last)
{
	struct rdmaez_qp_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.path.dgid = *gid;
	opts.path.sgid_index = rdmaez_exactly(1);
	opts.dest_qp_num = peer->qp_num;
	opts.access = IBV_ACCESS_REMOTE_WRITE;
	opts.sq_psn = 1000;
	opts.rq_psn = rq_psn;
	need(rdmaez_qp_to_init(qp, &opts, NULL), "INIT");
	if (last >= IBV_QPS_RTR)
		need(rdmaez_qp_to_rtr(qp, &opts, NULL), "RTR");
	if (last >= IBV_QPS_RTS)
		need(rdmaez_qp_to_rts(qp, &opts, NULL), "RTS");
	if (last == IBV_QPS_ERR)
		need(rdmaez_qp_to_err(qp, NULL), "ERR");
}

static void post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_sge sge = {(uintptr_t)memory, 64, mr->lkey};
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	need(ibv_post_send(qp, wr, &bad), "ibv_post_send");
}

static void send_one(struct ibv_qp *qp)
{
	struct ibv_send_wr wr;

	memset(&wr, 0, sizeof(wr));
	wr.opcode = IBV_WR_SEND;
	post(qp, &wr);
}

/* Posts the same again and again, a few hundred times in a second. */
static void repeat(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_wc wc;
	int n;

	for (;;) {
		post(qp, wr);
		while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
			usleep(1000);
		need(n < 0 || wc.status, "the completion");
		usleep(2000);
	}
}

static int is(const char *name)
{
	return strcmp(state, name) == 0;
}

static void share(struct ibv_device *device)
{
	const int writes = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_context *const other = device ? ibv_open_device(device) : NULL;
	struct ibv_pd *const other_pd = other ? ibv_alloc_pd(other) : NULL;

	need(!other_pd, "the other device");
	need(!ibv_reg_mr(pd, memory, 1 << 20, writes), "ibv_reg_mr");
	need(!ibv_reg_mr(other_pd, memory + 4096, 4096, writes), "ibv_reg_mr");
	need(!ibv_reg_mr(other_pd, &pd, sizeof(pd), writes), "ibv_reg_mr");
}

/* Each device counts its queue pairs for itself. */
static void make_twins(struct ibv_device *device, const union ibv_gid *gid)
{
	struct ibv_context *const other = device ? ibv_open_device(device) : NULL;
	struct ibv_pd *const other_pd = other ? ibv_alloc_pd(other) : NULL;
	struct ibv_qp *a, *b;
	union ibv_gid other_gid;

	other_cq = other_pd ? ibv_create_cq(other, 16, NULL, NULL, 0) : NULL;
	need(!other_cq || ibv_query_gid(other, 1, 1, &other_gid), "the other device");
	a = create_on(other_pd, other_cq, IBV_QPT_RC);
	b = create(IBV_QPT_RC);
	while (a->qp_num != b->qp_num) {
		if (a->qp_num < b->qp_num) {
			need(ibv_destroy_qp(a), "ibv_destroy_qp");
			a = create_on(other_pd, other_cq, IBV_QPT_RC);
		} else {
			need(ibv_destroy_qp(b), "ibv_destroy_qp");
			b = create(IBV_QPT_RC);
		}
	}
	bring_up(a, b, gid, 5000, IBV_QPS_RTS);
	bring_up(b, a, &other_gid, 2000, IBV_QPS_RTS);
	send_one(b);
}

static void write_on(struct ibv_qp *qp)
{
	struct ibv_send_wr wr;

	memset(&wr, 0, sizeof(wr));
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr.rdma.remote_addr = (uintptr_t)memory;
	wr.wr.rdma.rkey = mr->rkey;
	repeat(qp, &wr);
}

static void send_datagrams_on(const union ibv_gid *gid)
{
	struct ibv_qp *const from = create(IBV_QPT_UD), *const to = create(IBV_QPT_UD);
	struct rdmaez_qp_opts opts;
	struct rdmaez_path path;
	struct ibv_send_wr wr;

	memset(&opts, 0, sizeof(opts));
	memset(&path, 0, sizeof(path));
	memset(&wr, 0, sizeof(wr));
	path.dgid = *gid;
	path.sgid_index = rdmaez_exactly(1);
	opts.qkey = 0x1234;
	need(rdmaez_qp_to_init(from, &opts, NULL), "INIT");
	need(rdmaez_qp_to_rtr(from, &opts, NULL), "RTR");
	need(rdmaez_qp_to_rts(from, &opts, NULL), "RTS");
	wr.opcode = IBV_WR_SEND;
	need(rdmaez_ah_create(pd, &path, 1, &wr.wr.ud.ah, NULL), "the address handle");
	wr.wr.ud.remote_qpn = to->qp_num;
	wr.wr.ud.remote_qkey = 0x1234;
	repeat(from, &wr);
}

static struct ibv_qp *writer;
static union ibv_gid own_gid;

static void *prepare(void *unused)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp *a, *b = NULL;
	union ibv_gid gid;
	int i, last;

	(void)unused;
	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	need(!context, "ibv_open_device");
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 256, NULL, NULL, 0);
	memory = (char *)aligned_alloc(4096, 1 << 20);
	need(!pd || !cq || !memory, "objects");
	mr = ibv_reg_mr(pd, memory, 1 << 20, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	need(!mr || ibv_query_gid(context, 1, 1, &gid), "memory and GID");
	own_gid = gid;
	last = is("init") ? IBV_QPS_INIT : is("err") ? IBV_QPS_ERR : IBV_QPS_RTS;
	if (is("shared"))
		share(list[1]);
	if (is("twins"))
		make_twins(list[1], &gid);
	for (i = 0; i < pairs && !is("region") && !is("shared") && !is("twins") && !is("datagrams");
	     i++) {
		a = create(is("uc") ? IBV_QPT_UC : IBV_QPT_RC);
		b = create(is("uc") ? IBV_QPT_UC : IBV_QPT_RC);
		bring_up(a, b, &gid, is("psn") ? 5000 : 1000,
			 is("rtr") || is("oneway") ? IBV_QPS_RTR : last);
		bring_up(b, a, &gid, 1000, last);
		writer = b;
		if (is("psn") || is("receive"))
			send_one(b);
	}
	if (is("oneway"))
		bring_up(create(IBV_QPT_RC), b, &gid, 1000, IBV_QPS_INIT);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	state = argc > 1 ? argv[1] : "idle";
	pairs = argc > 2 ? atoi(argv[2]) : 1;
	if (is("thread")) {
		need(pthread_create(&thread, NULL, prepare, NULL), "pthread_create");
		pthread_join(thread, NULL);
	} else {
		prepare(NULL);
	}
	if (is("shared"))
		return 0;
	puts("ready");
	fflush(stdout);
	if (is("oneway"))
		write_on(writer);
	if (is("datagrams"))
		send_datagrams_on(&own_gid);
	for (;;)
		pause();
}
