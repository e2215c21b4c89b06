/* SPDX-License-Identifier: MIT */
/*
 * A whole bring-up of an RC queue pair by rdmaez, without a record. Compiled twice, because a program has one
 * bring-up, and a compiler inlines what is called once: as ez_up_known(), where port and device have been asked
 * before and the GID index is given (IS_KNOWN 1), and as ez_up_asking(), with none of them (IS_KNOWN 0).
 */
#include "bench.h"

int NAME(struct ibv_qp *qp, const struct input *in)
{
	struct rdmaez_qp_opts opts = {0};
	int error;

	opts.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	opts.dest_qp_num = in->dest_qp_num;
	opts.rq_psn = in->rq_psn;
	opts.sq_psn = in->sq_psn;
	opts.path.dgid = in->dgid;
	opts.path.dlid = in->dlid;
	if (IS_KNOWN) {
		opts.port_attr = &in->port;
		opts.device_attr = &in->device;
		opts.path.sgid_index = rdmaez_exactly(in->sgid_index);
	}
	error = rdmaez_qp_to_init(qp, &opts, NULL);
	if (!error)
		error = rdmaez_qp_to_rtr(qp, &opts, NULL);
	if (!error)
		error = rdmaez_qp_to_rts(qp, &opts, NULL);
	return error;
}
