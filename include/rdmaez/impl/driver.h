/* SPDX-License-Identifier: MIT */
/* Bodies of driver.h. */
#ifndef RDMAEZ_IMPL_DRIVER_H
#define RDMAEZ_IMPL_DRIVER_H

#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif

#if RDMAEZ_IMPL_BODIES

RDMAEZ_IMPL_BEGIN

/* The two Mellanox drivers have their devices in two ranges of part ids each. */
#define RDMAEZ_IMPL_DRIVER_MLX4                                                     \
	(RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_MTU_ENUM | RDMAEZ_DRIVER_DEPTHS | \
	 RDMAEZ_DRIVER_PKEY)
#define RDMAEZ_IMPL_DRIVER_MLX5 \
	(RDMAEZ_IMPL_DRIVER_MLX4 | RDMAEZ_DRIVER_NO_SQD | RDMAEZ_DRIVER_RATE_LIMIT)

RDMAEZ_API const struct rdmaez_driver *rdmaez_driver_of(const struct ibv_device_attr *device)
{
	static const struct rdmaez_driver drivers[] = {
		{"rdma_rxe", 0xffffff, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_MTU_MAX | RDMAEZ_DRIVER_ROCE_V2 |
			 RDMAEZ_DRIVER_TIMEOUT_31 | RDMAEZ_DRIVER_DEPTH_RXE | RDMAEZ_DRIVER_DRAINS},
		{"mlx5_ib", 0x2c9, 0x1011, 0x1fff, RDMAEZ_IMPL_DRIVER_MLX5},
		{"mlx5_ib", 0x2c9, 0xa2d0, 0xa2ff, RDMAEZ_IMPL_DRIVER_MLX5}, /* BlueField */
		{"mlx4_ib", 0x2c9, 0x1000, 0x1010, RDMAEZ_IMPL_DRIVER_MLX4},
		{"mlx4_ib", 0x2c9, 0x6340, 0x6778, RDMAEZ_IMPL_DRIVER_MLX4},
		{"ib_mthca", 0x2c9, 0x5a44, 0x6282, RDMAEZ_DRIVER_TRUSTS_CUR},
		{"hns_roce", 0x19e5, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_CUR_EQUAL | RDMAEZ_DRIVER_NO_SQD | RDMAEZ_DRIVER_MTU_ENUM |
			 RDMAEZ_DRIVER_MTU_ACTIVE | RDMAEZ_DRIVER_DEPTHS | RDMAEZ_DRIVER_PKEY},
		{"irdma", 0x8086, 0, UINT32_MAX, RDMAEZ_DRIVER_LENIENT | RDMAEZ_DRIVER_RESET_FINAL},
		{"bnxt_re", 0x14e4, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_LENIENT | RDMAEZ_DRIVER_MTU_ACTIVE | RDMAEZ_DRIVER_SWAPS},
		{"efa", 0x1d0f, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_EFA | RDMAEZ_DRIVER_SIGNALED},
		{"hfi1 or ib_qib", 0x1175, 0, UINT32_MAX,
		 RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_STRICT},
		{"qedr", 0x1077, 0, UINT32_MAX, RDMAEZ_DRIVER_MTU_ENUM},
		{"ocrdma", 0x10df, 0, UINT32_MAX, 0},
		{"vmw_pvrdma", 0x15ad, 0, UINT32_MAX, RDMAEZ_DRIVER_TRUSTS_CUR},
		{"ionic_rdma", 0x1dd8, 0, UINT32_MAX, 0},
		{"mana_ib", 0x1414, 0, UINT32_MAX, RDMAEZ_DRIVER_NO_TABLE},
		{"usnic_verbs", 0x1137, 0, UINT32_MAX, RDMAEZ_DRIVER_NO_TABLE},
		{"iw_cxgb4", 0x1425, 0, UINT32_MAX, RDMAEZ_DRIVER_NO_TABLE},
		{"erdma", 0x1ded, 0, UINT32_MAX, RDMAEZ_DRIVER_NO_TABLE | RDMAEZ_DRIVER_SWAPS},
		{"siw", 0x626d74, 0, UINT32_MAX, RDMAEZ_DRIVER_NO_TABLE},
	};
	static const struct rdmaez_driver unknown = {"unknown", 0, 0, 0, 0};

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
