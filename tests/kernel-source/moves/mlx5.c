/* SPDX-License-Identifier: MIT */
/*
 * hw/mlx5: mlx5_ib_modify_qp(), with __mlx5_ib_modify_qp(), mlx5_ib_modify_dct(), modify_dci_qp_is_ok(),
 * validate_rd_atomic() and mlx5_set_path()
 */
#include "hw/mlx5/qp.c"
#include "glue.h"

GLUE_RETURNS_0(mlx5_core_qp_modify)
GLUE_RETURNS_0(mlx5_core_create_dct)
GLUE_RETURNS_0(mlx5_cmd_check)
GLUE_RETURNS_0(mlx5_ib_get_counters_id)
GLUE_RETURNS_0(mlx5_lag_is_active)
GLUE_RETURNS_0(_copy_to_user)
GLUE_RETURNS_0(_ib_respond_udata)

/* net/ethernet/mellanox/mlx5/core/rl.c, of the adapter's table of rates: there is always room. */
bool mlx5_rl_are_equal(struct mlx5_rate_limit *one, struct mlx5_rate_limit *other)
{
	return one->rate == other->rate && one->max_burst_sz == other->max_burst_sz &&
	       one->typical_pkt_sz == other->typical_pkt_sz;
}
GLUE_RETURNS_0(mlx5_rl_add_rate)
GLUE_RETURNS_0(mlx5_rl_remove_rate)

static int log_2(int value)
{
	return fls(value) - 1;
}

void *moves_qp(const struct moves_device *device, int type)
{
	struct mlx5_ib_dev *const dev = kzalloc_here(sizeof(*dev));
	struct mlx5_ib_qp *const qp = kzalloc_here(sizeof(*qp));
	void *caps;

	dev->mdev = kzalloc_here(sizeof(*dev->mdev));
	dev->num_ports = device->ports;
	dev->pkey_table_len = device->max_pkeys;
	for (unsigned int i = 0; i < ARRAY_SIZE(dev->mdev->caps.hca); i++)
		dev->mdev->caps.hca[i] = kzalloc_here(sizeof(*dev->mdev->caps.hca[i]));
	/* main.c: mlx5_ib_query_device() */
	caps = dev->mdev->caps.hca[MLX5_CAP_GENERAL]->cur;
	MLX5_SET(cmd_hca_cap, caps, log_max_ra_req_qp, log_2(device->max_qp_rd_atom));
	MLX5_SET(cmd_hca_cap, caps, log_max_ra_res_qp, log_2(device->max_qp_init_rd_atom));
	MLX5_SET(cmd_hca_cap, caps, log_max_ra_req_dc, 5);
	MLX5_SET(cmd_hca_cap, caps, log_max_ra_res_dc, 5);
	MLX5_SET(cmd_hca_cap, caps, log_max_msg, 30);
	MLX5_SET(cmd_hca_cap, caps, atomic, 1);
	/* qp.c: get_atomic_mode(), of an adapter that has them */
	caps = dev->mdev->caps.hca[MLX5_CAP_ATOMIC]->cur;
	MLX5_SET(atomic_caps, caps, atomic_operations,
		 MLX5_ATOMIC_OPS_CMP_SWAP | MLX5_ATOMIC_OPS_FETCH_ADD);
	MLX5_SET(atomic_caps, caps, atomic_size_qp, MLX5_ATOMIC_CAPS_ATOMIC_SIZE_QP_8_BYTES);
	MLX5_SET(atomic_caps, caps, atomic_size_dc, MLX5_ATOMIC_CAPS_ATOMIC_SIZE_QP_8_BYTES);
	glue_device(&dev->ib_dev, device);
	glue_qp(&qp->ibqp, &dev->ib_dev, type);
	qp->ibqp.pd = kzalloc_here(sizeof(struct mlx5_ib_pd));
	dev->devr.p0 = qp->ibqp.pd;
	qp->ibqp.send_cq = qp->ibqp.recv_cq = kzalloc_here(sizeof(struct mlx5_ib_cq));
	qp->type = type == MOVES_DCI ? MLX5_IB_QPT_DCI : type == MOVES_DCT ? MLX5_IB_QPT_DCT : type;
	qp->dct.in = type == MOVES_DCT ? kzalloc_here(4096) : qp->dct.in;
	qp->state = IB_QPS_RESET;
	/* The provider has room for the answer. */
	glue_call.bundle.driver_udata.outlen = sizeof(struct mlx5_ib_modify_qp_resp);
	return &qp->ibqp;
}

int moves_modify(void *qp, const struct moves_attr *attr, int mask)
{
	return glue_modify(mlx5_ib_modify_qp, qp, attr, mask);
}

int moves_state(void *qp)
{
	return to_mqp(qp)->state;
}
