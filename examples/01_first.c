/* SPDX-License-Identifier: MIT */
/*
 * The smallest use there is: one RC queue pair, connected to itself, from RESET to RTS.
 *
 * Build:  cc -std=c11 -Iinclude examples/01_first.c -libverbs -o 01_first
 * Run:    ./01_first, or on a machine without RDMA: tools/softroce ./01_first
 *
 * What is opened is left to the kernel to close; 02_loopback.c cleans up, and sends a message.
 */
#include <rdmaez.h>

int main(void)
{
	struct ibv_context *context;
	struct ibv_gid_entry self;
	struct rdmaez_diag diag;
	int error = rdmaez_device_open(NULL, &context, &diag);
	struct ibv_cq *cq = error ? NULL : ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
	struct ibv_qp *qp = NULL;

	if (!error)
		error = rdmaez_qp_create(ibv_alloc_pd(context), &init, &qp, &diag);
	if (!error)
		error = rdmaez_port_choose_gid(context, 1, NULL, &self, &diag);
	if (!error) {
		struct rdmaez_qp_opts opts = {.dest_qp_num = qp->qp_num};

		opts.sq_psn = opts.rq_psn = rdmaez_psn_random();
		opts.path.dgid = self.gid;
		opts.path.sgid_index = rdmaez_exactly((int)self.gid_index);
		error = rdmaez_qp_to_init(qp, &opts, &diag);
		if (!error)
			error = rdmaez_qp_to_rtr(qp, &opts, &diag);
		if (!error)
			error = rdmaez_qp_to_rts(qp, &opts, &diag);
	}
	if (error)
		rdmaez_diag_print(&diag, stderr);
	else
		printf("QP %u is ready to send to itself\n", qp->qp_num);
	return error != 0;
}
