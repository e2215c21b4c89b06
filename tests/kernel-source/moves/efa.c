/* SPDX-License-Identifier: MIT */
/* hw/efa: efa_modify_qp(), efa_modify_qp_validate(), efa_modify_srd_qp_is_ok() */
#include "hw/efa/efa_verbs.c"
#include "glue.h"

GLUE_RETURNS_0(efa_com_modify_qp)

void *moves_qp(const struct moves_device *device, int type)
{
	struct efa_dev *const dev = kzalloc_here(sizeof(*dev));
	struct efa_qp *const qp = kzalloc_here(sizeof(*qp));

	glue_device(&dev->ibdev, device);
	glue_qp(&qp->ibqp, &dev->ibdev, type);
	qp->state = IB_QPS_RESET;
	return &qp->ibqp;
}

int moves_modify(void *qp, const struct moves_attr *attr, int mask)
{
	return glue_modify(efa_modify_qp, qp, attr, mask);
}

int moves_state(void *qp)
{
	return to_eqp(qp)->state;
}
