/* SPDX-License-Identifier: MIT */
/**
 * @file driver.h
 * @brief Which driver a device has, and in what it departs from the kernel's common rules.
 *
 * Verbs do not tell the driver, and a device may bear any name, so the driver is recognised by the
 * vendor id and the part id that ibv_query_device() reports. What is noted of a driver was read in its
 * source, Linux 6.1 to 7.2; drivers that are not listed are taken for plain ones.
 *
 * Everything here is pure, calls no verb and may be called from any thread.
 */
#ifndef RDMAEZ_DRIVER_H
#define RDMAEZ_DRIVER_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief In what a driver departs from the common rules. */
enum rdmaez_driver_trait {
	RDMAEZ_DRIVER_LENIENT = 1 << 0,    /**< judges a mask by the table only if the state is
						 in it */
	RDMAEZ_DRIVER_TRUSTS_CUR = 1 << 1, /**< takes cur_qp_state for the truth */
	RDMAEZ_DRIVER_CUR_EQUAL = 1 << 2,  /**< refuses a cur_qp_state that is not the truth */
	RDMAEZ_DRIVER_NO_SQD = 1 << 3,     /**< never enters SQD */
	RDMAEZ_DRIVER_RATE_LIMIT = 1 << 4, /**< takes IBV_QP_RATE_LIMIT to the kernel */
	RDMAEZ_DRIVER_MTU_ENUM = 1 << 5,   /**< refuses a path MTU outside the enum */
	RDMAEZ_DRIVER_MTU_ACTIVE = 1 << 6, /**< refuses a path MTU above the active one */
	RDMAEZ_DRIVER_MTU_MAX = 1 << 7,    /**< refuses a path MTU above the port's greatest */
	RDMAEZ_DRIVER_ROCE_V2 = 1 << 8,    /**< refuses RoCE v1 rows */
	RDMAEZ_DRIVER_TIMEOUT_31 = 1 << 9, /**< refuses timeouts above 31 */
	RDMAEZ_DRIVER_STRICT = 1 << 10,    /**< refuses retry counts above 7, RNR codes above 31 */
	RDMAEZ_DRIVER_DEPTHS = 1 << 11,    /**< refuses depths above the device's limits */
	RDMAEZ_DRIVER_DEPTH_RXE = 1 << 12, /**< compares max_rd_atomic with max_qp_rd_atom */
	RDMAEZ_DRIVER_PKEY = 1 << 13,      /**< refuses P_Key rows beyond the table */
	RDMAEZ_DRIVER_RESET_FINAL = 1 << 14, /**< cannot use a queue pair again after RESET */
	RDMAEZ_DRIVER_EFA = 1 << 15,         /**< takes few attributes, EOPNOTSUPP for the rest */
	RDMAEZ_DRIVER_DRAINS = 1 << 16, /**< refuses to leave SQD for all but ERR while draining */
	RDMAEZ_DRIVER_NO_TABLE = 1 << 17, /**< never judges a mask by the table */
	RDMAEZ_DRIVER_SWAPS = 1 << 18     /**< reports the two READ depths the other way round */
};

/** @brief A driver, by the ids of its devices. */
struct rdmaez_driver {
	const char *name;    /**< the kernel module's name; "unknown" for a driver not listed */
	uint32_t vendor_id;  /**< `ibv_device_attr.vendor_id` */
	uint32_t first_part; /**< least `vendor_part_id` */
	uint32_t last_part;  /**< greatest `vendor_part_id` */
	int traits;          /**< RDMAEZ_DRIVER_ bits */
};

/* The two Mellanox drivers have their devices in two ranges of part ids each. */
#define RDMAEZ_IMPL_DRIVER_MLX4                                                     \
	(RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_MTU_ENUM | RDMAEZ_DRIVER_DEPTHS | \
	 RDMAEZ_DRIVER_PKEY)
#define RDMAEZ_IMPL_DRIVER_MLX5 \
	(RDMAEZ_IMPL_DRIVER_MLX4 | RDMAEZ_DRIVER_NO_SQD | RDMAEZ_DRIVER_RATE_LIMIT)

/**
 * @brief Recognises the driver of a device.
 * @param device what ibv_query_device() filled; NULL: nothing is known
 * @return static data, never NULL
 * @since rdmaez 0.1; rdma-core 33
 */
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
		{"efa", 0x1d0f, 0, UINT32_MAX, RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_EFA},
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

#ifdef __cplusplus
}
#endif

#endif
