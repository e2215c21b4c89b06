/* SPDX-License-Identifier: MIT */
/* hw/mlx5: mlx5_ib_query_device(), mlx5_ib_create_cq(), mlx5_ib_create_srq() */
#include "hw/mlx5/main.c"
#include "hw/mlx5/cq.c"
#include "hw/mlx5/srq.c"
#include "glue.h"

/* The adapter tells who it is, and which firmware it has. */
GLUE_RETURNS_0(mlx5_query_nic_vport_system_image_guid)
GLUE_RETURNS_0(mlx5_core_query_vendor_id)
GLUE_RETURNS_0(mlx5_get_flow_namespace)
GLUE_RETURNS_0(ioread32be)

static struct mlx5_ib_dev *dev;

void limits_begin(void)
{
	void *caps;

	dev = kzalloc_here(sizeof(*dev));
	dev->mdev = kzalloc_here(sizeof(*dev->mdev));
	dev->mdev->pdev = kzalloc_here(sizeof(*dev->mdev->pdev));
	dev->mdev->iseg = kzalloc_here(4096);
	dev->num_ports = 1;
	for (unsigned int i = 0; i < ARRAY_SIZE(dev->mdev->caps.hca); i++)
		dev->mdev->caps.hca[i] = kzalloc_here(sizeof(*dev->mdev->caps.hca[i]));
	caps = dev->mdev->caps.hca[MLX5_CAP_GENERAL]->cur;
	MLX5_SET(cmd_hca_cap, caps, port_type, MLX5_CAP_PORT_TYPE_ETH);
	MLX5_SET(cmd_hca_cap, caps, log_max_cq_sz, LOG_CQE);
	MLX5_SET(cmd_hca_cap, caps, log_max_qp_sz, LOG_WR);
	MLX5_SET(cmd_hca_cap, caps, log_max_srq_sz, LOG_SRQ_WR);
	MLX5_SET(cmd_hca_cap, caps, max_wqe_sz_sq, 256);
	MLX5_SET(cmd_hca_cap, caps, max_wqe_sz_rq, 128);
	glue_device(&dev->ib_dev, &glue_port);
	glue_query(mlx5_ib_query_device, &dev->ib_dev);
}

int limits_cq(const struct limits_request *request)
{
	return glue_cq(mlx5_ib_create_cq, kzalloc_here(sizeof(struct mlx5_ib_cq)), &dev->ib_dev,
		       request);
}

int limits_srq(const struct limits_request *request)
{
	return glue_srq(mlx5_ib_create_srq, kzalloc_here(sizeof(struct mlx5_ib_srq)),
			glue_pd(sizeof(struct mlx5_ib_pd), &dev->ib_dev), request);
}
