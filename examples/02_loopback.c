/* SPDX-License-Identifier: MIT */
/*
 * One message from one queue pair to another in the same process, and its arrival checked.
 *
 * Build:  cc -std=c11 -Iinclude examples/02_loopback.c -libverbs -o 02_loopback
 * Run:    ./02_loopback [DEVICE], or on a machine without RDMA: tools/softroce ./02_loopback
 */
#include <stdlib.h>
#include <time.h>

#include <rdmaez.h>

enum {
	SIZE = 4096,
	SEND_ID = 1,
	RECEIVE_ID = 2
};

static _Alignas(64) uint8_t sent[SIZE], received[SIZE];

/* Ends the program unless an object was made. */
static void need(const void *object, const char *what)
{
	if (object)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

/* Ends the program with an explanation unless a call worked. */
static void need_no(int error, const struct rdmaez_diag *diag)
{
	if (!error)
		return;
	rdmaez_diag_print(diag, stderr);
	exit(EXIT_FAILURE);
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	for (int i = 0; devices && devices[i] && !context; i++)
		if (!name || strcmp(name, ibv_get_device_name(devices[i])) == 0)
			context = ibv_open_device(devices[i]);
	if (devices)
		ibv_free_device_list(devices);
	return context;
}

/* Polls until both completions are there, at most ten seconds. */
static void await_both(struct ibv_cq *cq)
{
	const time_t deadline = time(NULL) + 10;
	uint64_t missing = SEND_ID | RECEIVE_ID;
	struct ibv_wc wc;

	while (missing && time(NULL) < deadline) {
		if (ibv_poll_cq(cq, 1, &wc) != 1)
			continue;
		if (wc.status != IBV_WC_SUCCESS) {
			fprintf(stderr, "completion failed: %s\n", ibv_wc_status_str(wc.status));
			exit(EXIT_FAILURE);
		}
		missing &= ~wc.wr_id;
	}
	if (missing) {
		fprintf(stderr, "no completion within ten seconds\n");
		exit(EXIT_FAILURE);
	}
}

int main(int argc, char **argv)
{
	struct rdmaez_diag diag;
	struct ibv_port_attr port;
	struct ibv_gid_entry self;
	struct rdmaez_qp_opts opts = {.port_attr = &port};

	/* The objects are those of every verbs program. */
	struct ibv_context *context = open_device(argc > 1 ? argv[1] : NULL);
	need(context, "no such RDMA device");
	struct ibv_pd *pd = ibv_alloc_pd(context);
	need(pd, "ibv_alloc_pd");
	struct ibv_cq *cq = ibv_create_cq(context, 2, NULL, NULL, 0);
	need(cq, "ibv_create_cq");
	struct ibv_mr *from = ibv_reg_mr(pd, sent, SIZE, 0);
	need(from, "ibv_reg_mr");
	struct ibv_mr *to = ibv_reg_mr(pd, received, SIZE, IBV_ACCESS_LOCAL_WRITE);
	need(to, "ibv_reg_mr");
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp *qp[2];
	for (int i = 0; i < 2; i++) {
		qp[i] = ibv_create_qp(pd, &init);
		need(qp[i], "ibv_create_qp");
	}

	/* Both are on the same port, so the peer's address is our own. */
	need_no(rdmaez_port_query(context, 1, &port, &diag), &diag);
	need_no(rdmaez_port_choose_gid(context, 1, NULL, &self, &diag), &diag);
	const uint32_t psn[2] = {rdmaez_psn_random(), rdmaez_psn_random()};
	opts.path.dgid = self.gid;
	opts.path.sgid_index = rdmaez_exactly((int)self.gid_index);
	opts.path.dlid = port.lid;
	for (int i = 0; i < 2; i++) {
		opts.dest_qp_num = qp[1 - i]->qp_num;
		opts.sq_psn = psn[i];
		opts.rq_psn = psn[1 - i];
		need_no(rdmaez_qp_to_init(qp[i], &opts, &diag), &diag);
		need_no(rdmaez_qp_to_rtr(qp[i], &opts, &diag), &diag);
		need_no(rdmaez_qp_to_rts(qp[i], &opts, &diag), &diag);
	}

	/* One message from the first to the second. */
	struct ibv_sge sge = {.addr = (uintptr_t)received, .length = SIZE, .lkey = to->lkey};
	struct ibv_recv_wr receive = {.wr_id = RECEIVE_ID, .sg_list = &sge, .num_sge = 1}, *bad;
	int error = ibv_post_recv(qp[1], &receive, &bad);

	memset(sent, 0x5a, SIZE);
	struct ibv_sge out = {.addr = (uintptr_t)sent, .length = SIZE, .lkey = from->lkey};
	struct ibv_send_wr send = {
		.wr_id = SEND_ID, .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_send_wr *bad_send;
	if (!error)
		error = ibv_post_send(qp[0], &send, &bad_send);
	if (error) {
		fprintf(stderr, "cannot post: %s\n", rdmaez_errno_str(error));
		return EXIT_FAILURE;
	}
	await_both(cq);
	if (memcmp(sent, received, SIZE) != 0) {
		fprintf(stderr, "the message arrived damaged\n");
		return EXIT_FAILURE;
	}
	printf("%s: %d bytes went from QP %u to QP %u and arrived intact\n",
	       ibv_get_device_name(context->device), SIZE, qp[0]->qp_num, qp[1]->qp_num);

	ibv_destroy_qp(qp[1]);
	ibv_destroy_qp(qp[0]);
	ibv_dereg_mr(to);
	ibv_dereg_mr(from);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	return EXIT_SUCCESS;
}
