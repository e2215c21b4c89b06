/* SPDX-License-Identifier: MIT */
/*
 * Two RC queue pairs of one process, connected to each other: the smallest bring-up there is.
 *
 * Build:  cc -std=c11 -Iinclude examples/01_first.c -libverbs -o 01_first
 * Run:    ./01_first, or on a machine without RDMA: tools/softroce ./01_first
 *
 * What is opened is left to the kernel to close; 02_loopback.c cleans up, and sends a message.
 */
#include <rdmaez.h>

/* From RESET to RTS: every attribute that opts leaves at zero gets a good value. */
static int bring_up(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts, struct rdmaez_diag *diag)
{
	int error = rdmaez_qp_to_init(qp, opts, diag);

	error = error ? error : rdmaez_qp_to_rtr(qp, opts, diag);
	return error ? error : rdmaez_qp_to_rts(qp, opts, diag);
}

int main(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = devices && devices[0] ? ibv_open_device(devices[0]) : NULL;
	struct ibv_cq *cq = context ? ibv_create_cq(context, 1, NULL, NULL, 0) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
	struct ibv_qp *a = cq && pd ? ibv_create_qp(pd, &init) : NULL;
	struct ibv_qp *b = a ? ibv_create_qp(pd, &init) : NULL;

	if (!b) {
		perror("no RDMA device that makes two queue pairs");
		return 1;
	}

	struct rdmaez_diag diag;
	struct rdmaez_qp_opts to_a = {.dest_qp_num = a->qp_num}, to_b = {.dest_qp_num = b->qp_num};
	struct ibv_gid_entry self;

	if (rdmaez_port_choose_gid(context, 1, NULL, &self, &diag) == 0) {
		to_a.path.dgid = to_b.path.dgid = self.gid;
		if (bring_up(a, &to_b, &diag) == 0 && bring_up(b, &to_a, &diag) == 0)
			printf("%s: QP %u and QP %u are connected and ready to send\n",
			       ibv_get_device_name(devices[0]), a->qp_num, b->qp_num);
	}
	if (diag.error) {
		char text[2048];

		rdmaez_diag_format(&diag, text, sizeof(text));
		fputs(text, stderr);
	}
	return diag.error ? 1 : 0;
}
