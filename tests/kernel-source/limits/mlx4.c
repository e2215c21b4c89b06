/* SPDX-License-Identifier: MIT */
/* hw/mlx4: mlx4_ib_query_device(), mlx4_ib_create_cq(), mlx4_ib_create_srq(). What a queue pair asks for the provider
 * looks at. */
#include "hw/mlx4/main.c"
#include "hw/mlx4/cq.c"
#include "hw/mlx4/srq.c"
#include "glue.h"

GLUE_RETURNS_0(mlx4_MAD_IFC) /* the adapter tells who it is */

static struct mlx4_ib_dev *dev;

void limits_begin(void)
{
	struct mlx4_caps *caps;

	dev = kzalloc_here(sizeof(*dev));
	dev->dev = kzalloc_here(sizeof(*dev->dev));
	dev->dev->persist = kzalloc_here(sizeof(*dev->dev->persist));
	dev->dev->persist->pdev = kzalloc_here(sizeof(*dev->dev->persist->pdev));
	caps = &dev->dev->caps;
	caps->max_cqes = CQE;
	caps->max_wqes = SEND_WR;
	caps->max_sq_sg = SEND_SGE;
	caps->max_rq_sg = RECV_SGE;
	caps->max_srq_wqes = SRQ_WR;
	caps->max_srq_sge = SRQ_SGE;
	glue_device(&dev->ib_dev, &glue_port);
	glue_query(mlx4_ib_query_device, &dev->ib_dev);
}

int limits_cq(const struct limits_request *request)
{
	return glue_cq(mlx4_ib_create_cq, kzalloc_here(sizeof(struct mlx4_ib_cq)), &dev->ib_dev,
		       request);
}

int limits_srq(const struct limits_request *request)
{
	return glue_srq(mlx4_ib_create_srq, kzalloc_here(sizeof(struct mlx4_ib_srq)),
			glue_pd(sizeof(struct mlx4_ib_pd), &dev->ib_dev), request);
}
