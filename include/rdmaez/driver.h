/* SPDX-License-Identifier: MIT */
/**
 * @file driver.h
 * @brief Which driver a device has, and where that driver departs from the kernel's common rules.
 *
 * Verbs do not report a device's driver, and the device's name may be anything, so the driver is recognised
 * by the vendor id and part id that ibv_query_device() reports. Of a driver that is not listed nothing is
 * certain (#RDMAEZ_DRIVER_NO_TABLE), nor of a device that reports no vendor, as mana_ib before Linux 7.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @par Sources
 * The drivers' source, Linux 6.1, 6.12 and 7.2; each row of the table says where.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_DRIVER_H
#define RDMAEZ_DRIVER_H

#ifndef RDMAEZ_BASE_H
#include "base.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Where a driver departs from the common rules: bits of `struct rdmaez_driver`. */
enum rdmaez_driver_trait {
	RDMAEZ_DRIVER_LENIENT = 1 << 0,      /**< checks a mask against the table only if it
						  holds IBV_QP_STATE */
	RDMAEZ_DRIVER_TRUSTS_CUR = 1 << 1,   /**< believes cur_qp_state */
	RDMAEZ_DRIVER_CUR_EQUAL = 1 << 2,    /**< refuses a wrong cur_qp_state */
	RDMAEZ_DRIVER_NO_SQD = 1 << 3,       /**< never enters SQD */
	RDMAEZ_DRIVER_RATE_LIMIT = 1 << 4,   /**< passes IBV_QP_RATE_LIMIT on to the kernel */
	RDMAEZ_DRIVER_MTU_ENUM = 1 << 5,     /**< refuses a path MTU outside the enum */
	RDMAEZ_DRIVER_MTU_ACTIVE = 1 << 6,   /**< refuses a path MTU above the active MTU */
	RDMAEZ_DRIVER_MTU_MAX = 1 << 7,      /**< refuses a path MTU above the port's max_mtu */
	RDMAEZ_DRIVER_ROCE_V2 = 1 << 8,      /**< refuses RoCE v1 GIDs */
	RDMAEZ_DRIVER_TIMEOUT_31 = 1 << 9,   /**< refuses timeouts above 31 */
	RDMAEZ_DRIVER_STRICT = 1 << 10,      /**< refuses retry counts above 7 and queue pair
						  numbers above 24 bits */
	RDMAEZ_DRIVER_DEPTH_OUT = 1 << 11,   /**< refuses a max_rd_atomic above the limit */
	RDMAEZ_DRIVER_DEPTH_RXE = 1 << 12,   /**< compares max_rd_atomic with max_qp_rd_atom */
	RDMAEZ_DRIVER_PKEY = 1 << 13,        /**< refuses P_Key indices beyond the table */
	RDMAEZ_DRIVER_RESET_FINAL = 1 << 14, /**< cannot use a queue pair again after RESET */
	RDMAEZ_DRIVER_EFA = 1 << 15,         /**< takes few attributes, EOPNOTSUPP for the rest;
						  its driver type is SRD */
	RDMAEZ_DRIVER_DRAINS = 1 << 16,      /**< leaves SQD only for ERR while draining */
	RDMAEZ_DRIVER_NO_TABLE = 1 << 17,    /**< not known to check every mask against the table */
	RDMAEZ_DRIVER_SWAPS = 1 << 18,       /**< reports the two READ depths swapped */
	RDMAEZ_DRIVER_SIGNALED = 1 << 19,    /**< takes only signaled work requests */
	RDMAEZ_DRIVER_DEPTH_IN = 1 << 20,    /**< refuses a max_dest_rd_atomic above the limit */
	RDMAEZ_DRIVER_RNR_TIMER_31 = 1 << 21, /**< refuses RNR timer codes above 31 */
	RDMAEZ_DRIVER_MTU_2048 = 1 << 22,     /**< refuses a path MTU above 2048 */
	RDMAEZ_DRIVER_CUR_IONIC = 1 << 23, /**< believes cur_qp_state if it is the true one, ERR, or
						   SQE in RTS and SQD; refuses others */
	RDMAEZ_DRIVER_QKEY = 1 << 24,      /**< refuses privileged Q_Keys to everybody */
	RDMAEZ_DRIVER_RATE_LIMIT_RC = 1 << 25, /**< takes IBV_QP_RATE_LIMIT for RC since Linux 7 */
	RDMAEZ_DRIVER_DC = 1 << 26,        /**< its driver types are DCI and DCT; UD on InfiniBand
						   may be an underlay queue pair */
	RDMAEZ_DRIVER_RC_ONLY = 1 << 27,   /**< moves RC queue pairs only */
	RDMAEZ_DRIVER_MTU_512 = 1 << 28,   /**< refuses a path MTU below 512 */
	RDMAEZ_DRIVER_NO_BEACON = 1 << 29, /**< completes nothing that is posted in ERR */
	RDMAEZ_DRIVER_NO_RECV_BEACON = 1 << 30 /**< completes no receive that is posted in ERR */
};

/** @brief A driver, recognised by the ids of its devices. */
struct rdmaez_driver {
	const char *name;    /**< the kernel module's name; "unknown" for a driver not listed */
	uint32_t vendor_id;  /**< `ibv_device_attr.vendor_id` */
	uint32_t first_part; /**< least `vendor_part_id` */
	uint32_t last_part;  /**< greatest `vendor_part_id` */
	unsigned int traits; /**< enum rdmaez_driver_trait bits */
	/** The attributes that ibv_query_qp() reports: enum ibv_qp_attr_mask bits. The kernel does not clear the
	 *  others, so they hold anything. IBV_QP_EN_SQD_ASYNC_NOTIFY stands for `sq_draining`. */
	int reports;
};

/**
 * @brief Recognises a device's driver.
 * @param device what ibv_query_device() filled; NULL: nothing is known
 * @return static data, never NULL
 */
RDMAEZ_API const struct rdmaez_driver *rdmaez_driver_of(const struct ibv_device_attr *device);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/driver.h"
#endif

#endif
