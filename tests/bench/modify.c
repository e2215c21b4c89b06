/* SPDX-License-Identifier: MIT */
/* One ibv_modify_qp() that succeeds, explained and plain. */
#include "bench.h"

int ez_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	return rdmaez_qp_modify(qp, attr, attr_mask, NULL);
}

int bare_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	return ibv_modify_qp(qp, attr, attr_mask);
}
