/* SPDX-License-Identifier: MIT */
/* hw/irdma: irdma_query_device(), irdma_create_cq(); irdma_create_qp(), with irdma_validate_qp_attrs() */
#include "hw/irdma/verbs.c"
#include "glue.h"

static struct irdma_device *dev;

void limits_begin(void)
{
	struct irdma_hw_attrs *attrs;

	dev = kzalloc_here(sizeof(*dev));
	dev->rf = kzalloc_here(sizeof(*dev->rf));
	dev->rf->pcidev = kzalloc_here(sizeof(*dev->rf->pcidev));
	dev->rf->max_cqe = CQE;
	dev->rf->sc_dev.hw = kzalloc_here(sizeof(*dev->rf->sc_dev.hw));
	attrs = &dev->rf->sc_dev.hw_attrs;
	attrs->max_qp_wr = SEND_WR;
	attrs->uk_attrs.max_hw_wq_frags = SEND_SGE;
	attrs->uk_attrs.max_hw_wq_quanta = 8192;
	attrs->uk_attrs.max_hw_rq_quanta = 32768;
	attrs->uk_attrs.max_hw_inline = 101;
	glue_device(&dev->ibdev, &glue_port);
	dev->netdev = glue_netdev;
	dev->netdev->dev_addr = kzalloc_here(ETH_ALEN);
	glue_query(irdma_query_device, &dev->ibdev);
}

int limits_cq(const struct limits_request *request)
{
	return glue_cq(irdma_create_cq, kzalloc_here(sizeof(struct irdma_cq)), &dev->ibdev,
		       request);
}

int limits_qp(const struct limits_request *request)
{
	return glue_create_qp(irdma_create_qp, kzalloc_here(sizeof(struct irdma_qp)),
			      glue_pd(sizeof(struct irdma_pd), &dev->ibdev), request);
}
