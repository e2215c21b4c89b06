/* SPDX-License-Identifier: MIT */
/* Bodies of driver.h. */
#ifndef RDMAEZ_IMPL_DRIVER_H
#define RDMAEZ_IMPL_DRIVER_H

#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif

#if RDMAEZ_IMPL_BODIES

RDMAEZ_IMPL_BEGIN

/* RDMAEZ_DRIVER_SWAPS without the table, for the way that works: bnxt_re and erdma. */
RDMAEZ_FOLD bool rdmaez_impl_driver_swaps(const struct ibv_device_attr *device)
{
	return device->vendor_id == 0x14e4 || device->vendor_id == 0x1ded;
}

/*
 * The two Mellanox drivers have their devices in two ranges of part ids each.
 * hw/mlx4/qp.c: _mlx4_ib_modify_qp(), __mlx4_ib_modify_qp(); mlx4_ib_query_qp(), whose
 * sgid_index is the hardware's.
 */
#define RDMAEZ_IMPL_DRIVER_MLX4                                                        \
	(RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_MTU_ENUM | RDMAEZ_DRIVER_DEPTH_OUT | \
	 RDMAEZ_DRIVER_DEPTH_IN | RDMAEZ_DRIVER_PKEY)
/* hw/mlx5/qp.c: mlx5_ib_modify_qp(), __mlx5_ib_modify_qp() and its optab, validate_rd_atomic(), query_qp_attr(). */
#define RDMAEZ_IMPL_DRIVER_MLX5                                                      \
	(RDMAEZ_IMPL_DRIVER_MLX4 | RDMAEZ_DRIVER_NO_SQD | RDMAEZ_DRIVER_RATE_LIMIT | \
	 RDMAEZ_DRIVER_DC)

RDMAEZ_API const struct rdmaez_driver *rdmaez_driver_of(const struct ibv_device_attr *device)
{
	static const struct rdmaez_driver drivers[] = {
		/* sw/rxe/rxe_qp.c: rxe_qp_chk_attr(), rxe_qp_to_attr(); rxe_av.c: chk_attr(). */
		{"rdma_rxe", 0xffffff, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_MTU_MAX | RDMAEZ_DRIVER_ROCE_V2 |
			 RDMAEZ_DRIVER_TIMEOUT_31 | RDMAEZ_DRIVER_DEPTH_RXE |
			 RDMAEZ_DRIVER_DEPTH_OUT | RDMAEZ_DRIVER_DRAINS,
		 ~0},
		{"mlx5_ib", 0x2c9, 0x1011, 0x1fff, RDMAEZ_IMPL_DRIVER_MLX5, ~0},
		{"mlx5_ib", 0x2c9, 0xa2d0, 0xa2ff, RDMAEZ_IMPL_DRIVER_MLX5, ~0}, /* BlueField */
		{"mlx4_ib", 0x2c9, 0x1000, 0x1010, RDMAEZ_IMPL_DRIVER_MLX4, ~IBV_QP_AV},
		{"mlx4_ib", 0x2c9, 0x6340, 0x6778, RDMAEZ_IMPL_DRIVER_MLX4, ~IBV_QP_AV},
		/* hw/mthca/mthca_qp.c: mthca_modify_qp(), __mthca_modify_qp(), mthca_query_qp(). */
		{"ib_mthca", 0x2c9, 0x5a44, 0x6282,
		 RDMAEZ_IMPL_DRIVER_MLX4 | RDMAEZ_DRIVER_MTU_2048, ~0},
		/* hw/hns/hns_roce_qp.c: hns_roce_modify_qp(), hns_roce_check_qp_attr(), check_mtu_validate(),
		 * hns_roce_v2_query_qp(). */
		{"hns_roce", 0x19e5, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_CUR_EQUAL | RDMAEZ_DRIVER_NO_SQD | RDMAEZ_DRIVER_MTU_ENUM |
			 RDMAEZ_DRIVER_MTU_ACTIVE | RDMAEZ_DRIVER_DEPTH_OUT |
			 RDMAEZ_DRIVER_DEPTH_IN | RDMAEZ_DRIVER_PKEY,
		 ~IBV_QP_PKEY_INDEX},
		/* hw/irdma/verbs.c: irdma_modify_qp_roce(), irdma_query_qp(), whose pkey_index is the P_Key itself. */
		{"irdma", 0x8086, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_LENIENT | RDMAEZ_DRIVER_RESET_FINAL | RDMAEZ_DRIVER_DEPTH_OUT |
			 RDMAEZ_DRIVER_DEPTH_IN | RDMAEZ_DRIVER_PKEY,
		 ~(IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER | IBV_QP_PKEY_INDEX |
		   IBV_QP_EN_SQD_ASYNC_NOTIFY)},
		/* hw/bnxt_re/ib_verbs.c: bnxt_re_modify_qp(), bnxt_re_is_modify_ok(), bnxt_re_query_qp(), without
		 * a port before Linux 6.12. */
		{"bnxt_re", 0x14e4, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_LENIENT | RDMAEZ_DRIVER_MTU_ACTIVE | RDMAEZ_DRIVER_SWAPS |
			 RDMAEZ_DRIVER_DEPTH_IN | RDMAEZ_DRIVER_RATE_LIMIT_RC,
		 ~(IBV_QP_PORT | IBV_QP_EN_SQD_ASYNC_NOTIFY)},
		/* hw/efa/efa_verbs.c: efa_modify_qp_validate(), efa_query_qp(); the provider's
		 * efa_post_send_validate(), efa_post_recv_validate(). */
		{"efa", 0x1d0f, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_EFA | RDMAEZ_DRIVER_SIGNALED |
			 RDMAEZ_DRIVER_NO_BEACON,
		 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_CAP | IBV_QP_RNR_RETRY},
		/* sw/rdmavt/qp.c: rvt_modify_qp(), rvt_query_qp(); rvt_error_qp() does nothing in ERR, and the
		 * provider's post_recv() does not call the kernel. */
		{"hfi1 or ib_qib", 0x1175, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_STRICT | RDMAEZ_DRIVER_RNR_TIMER_31 |
			 RDMAEZ_DRIVER_DEPTH_IN | RDMAEZ_DRIVER_PKEY | RDMAEZ_DRIVER_NO_RECV_BEACON,
		 ~0},
		/* hw/qedr/verbs.c: qedr_modify_qp(), which has limits of its own for the depths; qedr_query_qp(),
		 * for which all in SQD are draining. */
		{"qedr", 0x1077, 0, UINT32_MAX, RDMAEZ_DRIVER_MTU_ENUM | RDMAEZ_DRIVER_PKEY,
		 ~IBV_QP_EN_SQD_ASYNC_NOTIFY},
		/* hw/ocrdma/ocrdma_hw.c: ocrdma_set_qp_params(); ocrdma_verbs.c: ocrdma_query_qp(); the provider's
		 * ocrdma_post_send(), ocrdma_post_recv(). */
		{"ocrdma", 0x10df, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_MTU_ENUM | RDMAEZ_DRIVER_MTU_512 | RDMAEZ_DRIVER_DEPTH_OUT |
			 RDMAEZ_DRIVER_NO_BEACON,
		 ~IBV_QP_MIN_RNR_TIMER},
		/* hw/vmw_pvrdma/pvrdma_qp.c: pvrdma_modify_qp(); pvrdma_query_qp(), of which the port
		 * is the host's, and the capacities are missing in RESET. */
		{"vmw_pvrdma", 0x15ad, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_RNR_TIMER_31 | RDMAEZ_DRIVER_PKEY,
		 ~(IBV_QP_PORT | IBV_QP_CAP)},
		/* hw/ionic/ionic_controlpath.c: ionic_check_modify_qp(), ionic_qp_cur_state_is_ok(),
		 * ionic_query_qp_cmd(). */
		{"ionic_rdma", 0x1dd8, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_CUR_IONIC | RDMAEZ_DRIVER_QKEY |
			 RDMAEZ_DRIVER_RATE_LIMIT_RC,
		 ~(IBV_QP_PORT | IBV_QP_PKEY_INDEX)},
		/* hw/mana/qp.c: mana_ib_modify_qp(); no query_qp; before Linux 7 no vendor either; the provider's
		 * mana_ib_post_send(), mana_ib_post_recv(). */
		{"mana_ib", 0x1414, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_NO_TABLE | RDMAEZ_DRIVER_RC_ONLY | RDMAEZ_DRIVER_NO_BEACON, ~0},
		/* hw/usnic/usnic_ib_qp_grp.c: usnic_ib_qp_grp_modify(); usnic_ib_verbs.c: usnic_ib_query_qp(). */
		{"usnic_verbs", 0x1137, 0, UINT32_MAX, RDMAEZ_DRIVER_NO_TABLE, IBV_QP_STATE},
		/* hw/cxgb4/qp.c: c4iw_ib_modify_qp(), c4iw_ib_query_qp(); the provider's c4iw_post_send(),
		 * c4iw_post_receive(). */
		{"iw_cxgb4", 0x1425, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_NO_TABLE | RDMAEZ_DRIVER_NO_BEACON, IBV_QP_STATE | IBV_QP_CAP},
		/* hw/erdma/erdma_verbs.c: erdma_check_qp_attrs() of Linux 7, where iWARP has no table; erdma_query_qp();
		 * the provider's erdma_post_send(), erdma_post_recv(). */
		{"erdma", 0x1ded, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_ROCE_V2 | RDMAEZ_DRIVER_PKEY |
			 RDMAEZ_DRIVER_SWAPS | RDMAEZ_DRIVER_NO_BEACON,
		 IBV_QP_STATE | IBV_QP_CAP},
		/* sw/siw/siw_verbs.c: siw_verbs_modify_qp(), siw_query_qp(), without a state before Linux 6.12;
		 * siw_post_send(), to which the provider's passes no request. */
		{"siw", 0x626d74, 0, UINT32_MAX, RDMAEZ_DRIVER_NO_TABLE | RDMAEZ_DRIVER_NO_BEACON,
		 IBV_QP_CAP},
	};
	static const struct rdmaez_driver unknown = {"unknown", 0, 0, 0, RDMAEZ_DRIVER_NO_TABLE,
						     ~0};

	for (size_t i = 0; device && i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (device->vendor_id == drivers[i].vendor_id &&
		    device->vendor_part_id >= drivers[i].first_part &&
		    device->vendor_part_id <= drivers[i].last_part)
			return &drivers[i];
	return &unknown;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
