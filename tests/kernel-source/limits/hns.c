/* SPDX-License-Identifier: MIT */
/* hw/hns: hns_roce_query_device(), hns_roce_create_cq() with verify_cq_create_attr(), hns_roce_create_srq() with
 * set_srq_basic_param(). What a queue pair asks for the provider looks at. */
#include "hw/hns/hns_roce_main.c"
#include "hw/hns/hns_roce_cq.c"
#include "hw/hns/hns_roce_srq.c"
#include "glue.h"

static struct hns_roce_dev *dev;

void limits_begin(void)
{
	dev = kzalloc_here(sizeof(*dev));
	dev->pci_dev = kzalloc_here(sizeof(*dev->pci_dev));
	dev->pci_dev->revision = PCI_REVISION_ID_HIP09;
	dev->caps.flags = HNS_ROCE_CAP_FLAG_SRQ;
	dev->caps.num_comp_vectors = 1;
	dev->caps.max_cqes = CQE;
	dev->caps.max_wqes = SEND_WR;
	dev->caps.max_sq_sg = SEND_SGE;
	dev->caps.max_rq_sg = RECV_SGE;
	dev->caps.max_srq_wrs = SRQ_WR;
	dev->caps.max_srq_sges = SRQ_SGE;
	dev->caps.cqe_sz = 64;
	glue_device(&dev->ib_dev, &glue_port);
	glue_query(hns_roce_query_device, &dev->ib_dev);
}

int limits_cq(const struct limits_request *request)
{
	return glue_cq(hns_roce_create_cq, kzalloc_here(sizeof(struct hns_roce_cq)), &dev->ib_dev,
		       request);
}

int limits_srq(const struct limits_request *request)
{
	return glue_srq(hns_roce_create_srq, kzalloc_here(sizeof(struct hns_roce_srq)),
			glue_pd(sizeof(struct hns_roce_pd), &dev->ib_dev), request);
}
