/* SPDX-License-Identifier: MIT */
/* A whole bring-up of an RC queue pair by two endpoints, without a record; it does what bringup.c does by hand. */
#include "bench.h"

int ez_up_connect(struct ibv_qp *qp, const struct input *in)
{
	struct rdmaez_qp_opts opts = {0};

	opts.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	return rdmaez_qp_connect(qp, &in->local, &in->remote, &opts, NULL);
}
