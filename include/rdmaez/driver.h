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

/**
 * @brief Recognises the driver of a device.
 * @param device what ibv_query_device() filled; NULL: nothing is known
 * @return static data, never NULL
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API const struct rdmaez_driver *rdmaez_driver_of(const struct ibv_device_attr *device);

#ifdef __cplusplus
}
#endif

#include "impl/driver.h"

#endif
