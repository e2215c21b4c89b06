/* SPDX-License-Identifier: MIT */
/* hw/mlx4: mlx4_ib_modify_qp(), with _mlx4_ib_modify_qp(), __mlx4_ib_modify_qp() and _mlx4_set_path() */
#include "hw/mlx4/qp.c"
#include "glue.h"

GLUE_RETURNS_0(mlx4_qp_modify)
GLUE_RETURNS_0(mlx4_register_mac)
GLUE_RETURNS_0(mlx4_unregister_mac)
GLUE_RETURNS_0(mlx4_unregister_vlan)
GLUE_RETURNS_0(mlx4_ib_gid_index_to_real_index) /* main.c, of a GID that is there */

void *moves_qp(const struct moves_device *device, int type)
{
	struct mlx4_ib_dev *const dev = kzalloc_here(sizeof(*dev));
	struct mlx4_ib_qp *const qp = kzalloc_here(sizeof(*qp));
	struct mlx4_caps *caps;

	dev->dev = kzalloc_here(sizeof(*dev->dev));
	dev->num_ports = device->ports;
	dev->dev->phys_caps.base_sqpn = 64;
	/* main.c: mlx4_ib_query_device() */
	caps = &dev->dev->caps;
	caps->num_ports = device->ports;
	caps->max_qp_dest_rdma = device->max_qp_rd_atom;
	caps->max_qp_init_rdma = device->max_qp_init_rd_atom;
	caps->max_msg_sz = 1U << 31;
	for (int i = 1; i <= device->ports; i++) {
		caps->pkey_table_len[i] = device->max_pkeys;
		caps->gid_table_len[i] = device->gids;
	}
	glue_device(&dev->ib_dev, device);
	glue_qp(&qp->ibqp, &dev->ib_dev, type);
	qp->ibqp.pd = kzalloc_here(sizeof(struct mlx4_ib_pd));
	qp->ibqp.send_cq = qp->ibqp.recv_cq = kzalloc_here(sizeof(struct mlx4_ib_cq));
	qp->ibqp.xrcd = kzalloc_here(sizeof(struct mlx4_ib_xrcd));
	to_mxrcd(qp->ibqp.xrcd)->pd = qp->ibqp.pd;
	to_mxrcd(qp->ibqp.xrcd)->cq = qp->ibqp.send_cq;
	qp->mlx4_ib_qp_type = type; /* the same numbers */
	qp->mqp.qpn = qp->ibqp.qp_num;
	INIT_LIST_HEAD(&qp->gid_list);
	qp->pri.vid = qp->alt.vid = 0xffff;
	qp->state = IB_QPS_RESET;
	return &qp->ibqp;
}

int moves_modify(void *qp, const struct moves_attr *attr, int mask)
{
	return glue_modify(mlx4_ib_modify_qp, qp, attr, mask);
}

int moves_state(void *qp)
{
	return to_mqp(qp)->state;
}
