/* SPDX-License-Identifier: MIT */
/* hw/efa: efa_query_device(); efa_create_cq(), or efa_create_user_cq() in later releases */
#include "hw/efa/efa_verbs.c"
#include <linux/version.h>
#include "glue.h"

static struct efa_dev *dev;

void limits_begin(void)
{
	dev = kzalloc_here(sizeof(*dev));
	dev->pdev = kzalloc_here(sizeof(*dev->pdev));
	dev->dev_attr.max_cq_depth = CQE;
	dev->dev_attr.max_sq_depth = SEND_WR;
	dev->dev_attr.max_rq_depth = RECV_WR;
	dev->dev_attr.max_sq_sge = SEND_SGE;
	dev->dev_attr.max_rq_sge = RECV_SGE;
	dev->dev_attr.sub_cqs_per_cq = 1;
	glue_device(&dev->ibdev, &glue_port);
	glue_query(efa_query_device, &dev->ibdev);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define efa_create_cq efa_create_user_cq
#endif

int limits_cq(const struct limits_request *request)
{
	return glue_cq(efa_create_cq, kzalloc_here(sizeof(struct efa_cq)), &dev->ibdev, request);
}
