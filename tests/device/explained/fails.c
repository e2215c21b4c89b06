/* SPDX-License-Identifier: MIT */
/*
 * fails MISTAKE: one mistake by which a completion fails, with two queue pairs of the first device, which each end opens
 * for itself. Prints the status of what has failed first, ends with it, and with 99 if nothing did within seconds. Knows
 * nothing of rdmaez.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <infiniband/verbs.h>

enum {
	GID_INDEX = 1,
	SIZE = 65536,
	NOTHING = 99
};

struct end {
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *buffer;
};

static const char *mistake;
static struct ibv_device *device;
static union ibv_gid gid;
static struct end a, b; /* a sends to b */

static int is(const char *name)
{
	return strcmp(mistake, name) == 0;
}

static void must(int held, const char *what)
{
	if (held)
		return;
	perror(what);
	exit(1);
}

static int is_ud(void)
{
	return strncmp(mistake, "ud_", 3) == 0;
}

static void open_end(struct end *end)
{
	const unsigned int remote =
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	const unsigned int access = is("mr_no_remote") && end == &b ? 0 : remote;
	struct ibv_qp_init_attr init = {
		.qp_type = is_ud() ? IBV_QPT_UD : IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_context *const context = ibv_open_device(device);

	must(context && !ibv_query_gid(context, 1, GID_INDEX, &gid), "open");
	end->pd = ibv_alloc_pd(context);
	end->send_cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	end->recv_cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	end->buffer = (char *)mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);
	end->mr = ibv_reg_mr(end->pd, end->buffer, SIZE, IBV_ACCESS_LOCAL_WRITE | access);
	must(end->mr != NULL, "register");
	init.send_cq = end->send_cq;
	init.recv_cq = end->recv_cq;
	end->qp = ibv_create_qp(end->pd, &init);
	must(end->qp != NULL, "queue pair");
}

static void to_init(struct end *end)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11};

	attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE;
	if (!is("acc_none") || end == &a)
		attr.qp_access_flags |=
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	must(!ibv_modify_qp(end->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    (is_ud() ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)),
	     "INIT");
}

static void connect_end(struct end *end, const struct end *peer)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = end == &b ? 200 : 100,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = gid, .sgid_index = GID_INDEX, .hop_limit = 64}}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .sq_psn = end == &b ? 100 : 200,
				  .timeout = 10,
				  .retry_cnt = 3,
				  .rnr_retry = is("rnr0") ? 0 : 1,
				  .max_rd_atomic = 1};

	if (is("psn_mismatch") && end == &b)
		rtr.rq_psn = 999;
	if (is("qp_num") && end == &b)
		rtr.dest_qp_num = 9999;
	must(!ibv_modify_qp(end->qp, &rtr,
			    is_ud() ? IBV_QP_STATE
				    : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					      IBV_QP_MIN_RNR_TIMER),
	     "RTR");
	must(!ibv_modify_qp(end->qp, &rts,
			    IBV_QP_STATE | IBV_QP_SQ_PSN |
				    (is_ud() ? 0
					     : IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)),
	     "RTS");
}

static void post_recv(uint32_t length, uint32_t lkey)
{
	struct ibv_sge sge = {(uintptr_t)b.buffer, length, lkey};
	struct ibv_recv_wr wr = {.wr_id = 77, .sg_list = &sge, .num_sge = 1}, *bad;

	must(!ibv_post_recv(b.qp, &wr, &bad), "receive");
}

/* The status of the first completion that failed, of either end. */
static int first_failure(void)
{
	struct ibv_cq *const cq[] = {a.send_cq, b.recv_cq};
	struct ibv_wc wc;
	int good = 0;

	for (int i = 0; i < 2000; i++) {
		for (int which = 0; which < 2; which++) {
			if (ibv_poll_cq(cq[which], 1, &wc) <= 0)
				continue;
			printf("%s: %s\n", which ? "receive" : "send",
			       ibv_wc_status_str(wc.status));
			/* The peer's own flushes are no cause. */
			if (wc.status == IBV_WC_WR_FLUSH_ERR)
				continue;
			if (wc.status)
				return (int)wc.status;
			good++;
		}
		if (good == 2)
			return NOTHING;
		usleep(5000);
	}
	return NOTHING;
}

/* What the program does before it posts, and what it posts. */
static void spoil(struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};

	if (is("recv_short"))
		post_recv(8, b.mr->lkey);
	else if (is("recv_lkey"))
		post_recv(4096, b.mr->lkey ^ 0x5500u);
	else if (is("ud_no_grh"))
		post_recv(64, b.mr->lkey);
	else if (!is("rnr0") && !is("missing_recv") && !is("write_imm_norecv"))
		post_recv(4096, b.mr->lkey);
	if (is("wrong_rkey") || is("rkey_of_this_end") || is("wrong_raddr") || is("mr_no_remote") ||
	    is("acc_none") || is("freed_remote_mr") || is("ud_write"))
		wr->opcode = IBV_WR_RDMA_WRITE;
	if (is("write_imm_norecv"))
		wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	if (is("wrong_lkey"))
		sge->lkey ^= 0x5500u;
	if (is("lkey_other_pd"))
		sge->lkey = b.mr->lkey;
	if (is("wrong_laddr"))
		sge->addr += 1 << 20;
	if (is("length_huge"))
		sge->length = 0x90000000u;
	if (is("wrong_rkey"))
		wr->wr.rdma.rkey ^= 0x5500u;
	if (is("rkey_of_this_end"))
		wr->wr.rdma.rkey = a.mr->rkey;
	if (is("wrong_raddr"))
		wr->wr.rdma.remote_addr += 1 << 20;
	if (is("freed_mr"))
		must(!ibv_dereg_mr(a.mr), "deregister");
	if (is("freed_remote_mr"))
		must(!ibv_dereg_mr(b.mr), "deregister");
	if (is("peer_err"))
		must(!ibv_modify_qp(b.qp, &err, IBV_QP_STATE), "ERR");
	if (is("peer_destroyed"))
		must(!ibv_destroy_qp(b.qp), "destroy");
}

int main(int argc, char **argv)
{
	struct ibv_device **const list = ibv_get_device_list(NULL);
	struct ibv_send_wr wr = {.wr_id = 5, .opcode = IBV_WR_SEND, .num_sge = 1}, *bad;
	struct ibv_sge sge;
	int status;

	if (argc < 2)
		return 2;
	mistake = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	must(list && *list, "devices");
	device = *list;
	open_end(&a);
	open_end(&b);
	ibv_free_device_list(list);
	to_init(&a);
	to_init(&b);
	connect_end(&a, &b);
	if (!is("rtr_one_end"))
		connect_end(&b, &a);
	sge = (struct ibv_sge){(uintptr_t)a.buffer, 64, a.mr->lkey};
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = (uintptr_t)b.buffer;
	wr.wr.rdma.rkey = b.mr->rkey;
	spoil(&wr, &sge);
	if (is_ud()) {
		struct ibv_ah_attr attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {.dgid = gid, .sgid_index = GID_INDEX, .hop_limit = 64}};

		wr.wr.ud.ah = ibv_create_ah(a.pd, &attr);
		must(wr.wr.ud.ah != NULL, "address handle");
		wr.wr.ud.remote_qpn = b.qp->qp_num;
		wr.wr.ud.remote_qkey = 0x11;
	}
	status = ibv_post_send(a.qp, &wr, &bad);
	if (status) {
		printf("post: %s\n", strerror(status));
		return 98;
	}
	status = first_failure();
	if (status == NOTHING)
		puts("nothing has failed");
	return status;
}
