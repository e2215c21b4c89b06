/* SPDX-License-Identifier: MIT */
/*
 * hw/erdma: erdma_modify_qp(), with erdma_modify_qp_internal() of erdma_qp.c; where there is RoCE, also
 * erdma_check_qp_attrs()
 */
#include "hw/erdma/erdma_verbs.c"
#include "hw/erdma/erdma_qp.c"
#include "glue.h"

GLUE_RETURNS_0(erdma_post_cmd_wait)
GLUE_RETURNS_0(erdma_cmdq_build_reqhdr)

void *moves_qp(const struct moves_device *device, int type)
{
	struct erdma_dev *const dev = kzalloc_here(sizeof(*dev));
	struct erdma_qp *const qp = kzalloc_here(sizeof(*qp));

	/* erdma_query_device() */
	dev->attrs.max_ord = device->max_qp_rd_atom;
	dev->attrs.max_ird = device->max_qp_init_rd_atom;
#ifdef ERDMA_REGS_DEV_PROTO_REG
	dev->proto = device->is_iwarp ? ERDMA_PROTO_IWARP : ERDMA_PROTO_ROCEV2;
#endif
	glue_device(&dev->ibdev, device);
	glue_qp(&qp->ibqp, &dev->ibdev, type);
	qp->dev = dev;
	return &qp->ibqp;
}

int moves_modify(void *qp, const struct moves_attr *attr, int mask)
{
	return glue_modify(erdma_modify_qp, qp, attr, mask);
}

/* RESET and INIT are one to it. */
int moves_state(void *qp)
{
	return -1;
}
