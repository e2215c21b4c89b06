/* SPDX-License-Identifier: MIT */
/**
 * @file driver.h
 * @brief Which driver a device has, and where that driver departs from the kernel's common rules.
 *
 * Verbs do not report a device's driver, and the device's name may be anything. rdmaez recognises the driver by the
 * vendor id and part id that ibv_query_device() reports. If a driver is not listed, nothing is certain about it
 * (#RDMAEZ_DRIVER_NO_TABLE). The same goes for a device that reports no vendor, such as mana_ib before Linux 7.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @par Sources
 * The drivers' source, Linux 6.1, 6.12 and 7.2, and their providers', rdma-core 65; each row of the table says where.
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

/** @brief What a driver compares with the limit that the device reports, when you create an object. The comparison may
 *  be in the kernel or in libibverbs' provider. One more than the limit is always refused. */
enum rdmaez_driver_compare {
	RDMAEZ_DRIVER_COMPARES_CQE = 1 << 0,     /**< the entries of a completion queue */
	RDMAEZ_DRIVER_COMPARES_SEND_WR = 1 << 1, /**< the depth of a send queue */
	RDMAEZ_DRIVER_COMPARES_RECV_WR = 1 << 2, /**< the depth of a receive queue */
	RDMAEZ_DRIVER_COMPARES_SGE = 1 << 3,     /**< the SGEs of either queue */
	RDMAEZ_DRIVER_COMPARES_SRQ_WR = 1 << 4,  /**< the depth of a shared receive queue */
	RDMAEZ_DRIVER_COMPARES_SRQ_SGE = 1 << 5, /**< the SGEs of a shared receive queue */
	RDMAEZ_DRIVER_COMPARES_TAGS = 1 << 6,    /**< what matches tags; only mlx5_ib has it */
	RDMAEZ_DRIVER_COMPARES_ALL = 63,         /**< all but tags */
	RDMAEZ_DRIVER_COMPARES_NOTHING = 1 << 7  /**< none of these */
};

/** @brief What a provider looks at before it takes a work request. If it does not look, a mistake shows later or never,
 *  and a refusal may have another cause. */
enum rdmaez_driver_check {
	RDMAEZ_DRIVER_CHECKS_STATES = 1 << 0,      /**< sends before RTS, receives in RESET */
	RDMAEZ_DRIVER_CHECKS_SGES = 1 << 1,        /**< more than the queue was created for */
	RDMAEZ_DRIVER_CHECKS_SGES_INLINE = 1 << 2, /**< the same with inline data */
	RDMAEZ_DRIVER_CHECKS_INLINE = 1 << 3,      /**< more inline data than the queue was created
						       for */
	RDMAEZ_DRIVER_CHECKS_OPCODES = 1 << 4,     /**< those that ibv_post_send(3) does not list */
	RDMAEZ_DRIVER_CHECKS_ATOMICS = 1 << 5,     /**< less than 8 bytes, and the address */
	RDMAEZ_DRIVER_CHECKS_EX = 1 << 6,          /**< the extended interface at SGES, INLINE and
						       STATES as well */
	RDMAEZ_DRIVER_CHECKS_RECV_SGE = 1 << 7,    /**< a receive without SGEs */
	RDMAEZ_DRIVER_CHECKS_SIZES = 14,           /**< SGES, SGES_INLINE and INLINE */
	RDMAEZ_DRIVER_CHECKS_UNCLAIMED = 1 << 8, /**< none that rdmaez relies on: such a mistake is
						       likely the cause, never certainly */
	RDMAEZ_DRIVER_CHECKS_FEW = 1 << 9        /**< all operations that ibv_post_send(3) lists but
						       SEND, with or without invalidate, RDMA_WRITE
						       and RDMA_READ: it has no others */
};

/** @brief Which of the capabilities that only providers report the driver's provider fills: there a zero means no. */
enum rdmaez_driver_fill {
	RDMAEZ_DRIVER_FILLS_OFFLOADS = 1 << 0, /**< all but the next two */
	RDMAEZ_DRIVER_FILLS_PACING = 1 << 1,   /**< rate limits */
	RDMAEZ_DRIVER_FILLS_ATOMICS = 1 << 2,  /**< PCI atomics */
	RDMAEZ_DRIVER_FILLS_ALL = 7,           /**< all three */
	RDMAEZ_DRIVER_FILLS_NOTHING = 1 << 3   /**< none of these */
};

/** @brief Other ways in which a driver differs. */
enum rdmaez_driver_habit {
	RDMAEZ_DRIVER_HABIT_USUAL = 1 << 0, /**< nothing */
	RDMAEZ_DRIVER_HABIT_PINS = 1
				   << 1, /**< pins memory by itself before Linux 6.12, and asks for
						  no capability in 6.1 */
	RDMAEZ_DRIVER_HABIT_COUNT_EINVAL = 1 << 2, /**< refuses an object too many with EINVAL */
	RDMAEZ_DRIVER_HABIT_RETRIES_7 = 1 << 3,    /**< takes 7 retries for any number of them */
	RDMAEZ_DRIVER_HABIT_RESET_KEEPS =
		1 << 4, /**< RESET leaves what may spoil the next connection */
	RDMAEZ_DRIVER_HABIT_NO_DM_SIZE = 1 << 5, /**< has device memory and reports no size */
	RDMAEZ_DRIVER_HABIT_COMMANDS_63 =
		1 << 6 /**< its provider was reported to garble commands before rdma-core 63 */
};

/** @brief Whether the driver has its own list of causes for a failed completion, or shares that of all others. */
enum rdmaez_driver_causes {
	RDMAEZ_DRIVER_CAUSES_ALL = 1, /**< no causes of its own */
	RDMAEZ_DRIVER_CAUSES_RXE,     /**< those of rdma_rxe */
	RDMAEZ_DRIVER_CAUSES_SIW,     /**< those of siw */
	RDMAEZ_DRIVER_CAUSES_EFA,     /**< those of efa */
	RDMAEZ_DRIVER_CAUSES_ERDMA,   /**< those of erdma */
	RDMAEZ_DRIVER_CAUSES_CXGB4,   /**< those of iw_cxgb4 */
	RDMAEZ_DRIVER_CAUSES_MANA     /**< those of mana_ib */
};

/** @brief All that is known of a driver. rdmaez recognises it by the ids of its devices. No set of bits is 0. */
struct rdmaez_driver {
	const char *name;    /**< the driver's name, usually that of its module; "unknown" for a
				  driver not listed */
	uint32_t vendor_id;  /**< `ibv_device_attr.vendor_id`; 0 for a driver not listed */
	unsigned int traits; /**< enum rdmaez_driver_trait bits */
	/** The attributes that ibv_query_qp() reports: enum ibv_qp_attr_mask bits. The kernel does not clear the
	 *  others, so they hold anything. IBV_QP_EN_SQD_ASYNC_NOTIFY stands for `sq_draining`. */
	int reports;
	/** The vendor's parts that belong to this driver: two ranges of `ibv_device_attr.vendor_part_id`, each with its
	 *  least and its greatest. UINT16_MAX also stands for all that are greater. A range is empty if its least is
	 *  above its greatest. */
	uint16_t parts[4];
	uint16_t checks;  /**< enum rdmaez_driver_check bits */
	uint8_t compares; /**< enum rdmaez_driver_compare bits */
	uint8_t fills;    /**< enum rdmaez_driver_fill bits */
	uint8_t habits;   /**< enum rdmaez_driver_habit bits */
	uint8_t causes;   /**< an enum rdmaez_driver_causes */
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
