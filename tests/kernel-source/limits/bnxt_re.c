/* SPDX-License-Identifier: MIT */
/* hw/bnxt_re: bnxt_re_query_device(), bnxt_re_create_srq(); bnxt_re_create_qp(), with bnxt_re_test_qp_limits();
 * bnxt_re_create_cq(), or bnxt_re_create_user_cq() in later releases */
#include "hw/bnxt_re/ib_verbs.c"
#include <linux/version.h>
#include "glue.h"

static struct bnxt_re_dev *dev;

void limits_begin(void)
{
	struct bnxt_qplib_dev_attr *attr;

	dev = kzalloc_here(sizeof(*dev));
	attr = (void *)&dev->dev_attr;
	/* A pointer in later releases. */
	if (sizeof(dev->dev_attr) == sizeof(void *)) {
		attr = kzalloc_here(sizeof(*attr));
		*(void **)&dev->dev_attr = attr;
	}
	attr->max_cq_wqes = CQE;
	attr->max_qp_wqes = SEND_WR;
	attr->max_qp_sges = SEND_SGE;
	attr->max_srq_wqes = SRQ_WR;
	attr->max_srq_sges = SRQ_SGE;
	attr->max_inline_data = 96;
	dev->en_dev = kzalloc_here(sizeof(*dev->en_dev));
	dev->en_dev->pdev = kzalloc_here(sizeof(*dev->en_dev->pdev));
	dev->chip_ctx = kzalloc_here(sizeof(*dev->chip_ctx));
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	dev->nqr = kzalloc_here(sizeof(*dev->nqr));
	dev->qplib_res.dattr = attr;
#endif
	glue_device(&dev->ibdev, &glue_port);
	dev->netdev = glue_netdev;
	dev->netdev->dev_addr = kzalloc_here(ETH_ALEN);
	glue_query(bnxt_re_query_device, &dev->ibdev);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define bnxt_re_create_cq bnxt_re_create_user_cq
#endif

static struct ib_pd *pd(void)
{
	struct bnxt_re_pd *const made = kzalloc_here(sizeof(*made));

	made->rdev = dev;
	made->ib_pd.device = &dev->ibdev;
	return &made->ib_pd;
}

int limits_cq(const struct limits_request *request)
{
	return glue_cq(bnxt_re_create_cq, kzalloc_here(sizeof(struct bnxt_re_cq)), &dev->ibdev,
		       request);
}

int limits_qp(const struct limits_request *request)
{
	return glue_create_qp(bnxt_re_create_qp, kzalloc_here(sizeof(struct bnxt_re_qp)), pd(),
			      request);
}

int limits_srq(const struct limits_request *request)
{
	return glue_srq(bnxt_re_create_srq, kzalloc_here(sizeof(struct bnxt_re_srq)), pd(),
			request);
}
