/* SPDX-License-Identifier: MIT */
/*
 * A whole bring-up of an RC queue pair by rdmaez, as bringup.c does it by hand. Compiled once for each
 * variant, because a program has one bring-up, and a compiler inlines what is called once.
 *
 *	NAME      the function
 *	IS_KNOWN  1: the port has been asked before and the GID row is given; 0: neither
 *	RECORD    1: with a record for explanations; 0: with NULL
 */
#include "bench.h"

int NAME(struct ibv_qp *qp, const struct input *in, struct rdmaez_diag *record)
{
	struct rdmaez_diag *diag = RECORD ? record : NULL;
	struct rdmaez_qp_opts opts = {0};
	int error;

	opts.dest_qp_num = in->dest_qp_num;
	opts.rq_psn = in->rq_psn;
	opts.sq_psn = in->sq_psn;
	opts.path.dgid = in->dgid;
	opts.path.dlid = in->dlid;
	if (IS_KNOWN) {
		opts.port_attr = &in->port;
		opts.path.sgid_index = rdmaez_exactly(in->sgid_index);
	}
	error = rdmaez_qp_to_init(qp, &opts, diag);
	if (!error)
		error = rdmaez_qp_to_rtr(qp, &opts, diag);
	if (!error)
		error = rdmaez_qp_to_rts(qp, &opts, diag);
	return error;
}
