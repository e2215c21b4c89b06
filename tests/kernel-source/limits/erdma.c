/* SPDX-License-Identifier: MIT */
/* hw/erdma: erdma_query_device(), erdma_create_cq() */
#include "hw/erdma/erdma_verbs.c"
#include "glue.h"

static struct erdma_dev *dev;

void limits_begin(void)
{
	dev = kzalloc_here(sizeof(*dev));
	dev->pdev = kzalloc_here(sizeof(*dev->pdev));
	dev->attrs.max_cqe = CQE;
	dev->attrs.max_send_wr = SEND_WR;
	dev->attrs.max_recv_wr = RECV_WR;
	dev->attrs.max_send_sge = SEND_SGE;
	dev->attrs.max_recv_sge = RECV_SGE;
	glue_device(&dev->ibdev, &glue_port);
	glue_query(erdma_query_device, &dev->ibdev);
}

int limits_cq(const struct limits_request *request)
{
	return glue_cq(erdma_create_cq, kzalloc_here(sizeof(struct erdma_cq)), &dev->ibdev,
		       request);
}
