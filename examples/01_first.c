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
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = devices && *devices ? ibv_open_device(*devices) : NULL;
	struct ibv_cq *cq = context ? ibv_create_cq(context, 1, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
	struct ibv_qp *qp = cq ? ibv_create_qp(ibv_alloc_pd(context), &init) : NULL;
	struct rdmaez_qp_opts opts = {0};
	struct ibv_gid_entry self;
	struct rdmaez_diag diag;

	if (qp && rdmaez_port_choose_gid(context, 1, NULL, &self, &diag) == 0) {
		opts.dest_qp_num = qp->qp_num;
		opts.sq_psn = opts.rq_psn = rdmaez_psn_random();
		opts.path.dgid = self.gid;
		opts.path.sgid_index = rdmaez_exactly((int)self.gid_index);
		if (rdmaez_qp_to_init(qp, &opts, &diag) == 0 &&
		    rdmaez_qp_to_rtr(qp, &opts, &diag) == 0 &&
		    rdmaez_qp_to_rts(qp, &opts, &diag) == 0)
			return printf("QP %u is ready to send to itself\n", qp->qp_num) < 0;
	}
	if (qp)
		rdmaez_diag_print(&diag, stderr);
	else
		fputs("there is no RDMA device\n", stderr);
	return 1;
}
