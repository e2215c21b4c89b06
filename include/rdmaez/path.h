/* SPDX-License-Identifier: MIT */
/**
 * @file path.h
 * @brief The path to a peer, and the `ibv_ah_attr` made from it.
 *
 * Connected queue pairs take an address vector on the way to RTR. UD sends use an address handle. An `ibv_ah_attr`
 * describes both, and the same mistakes occur in both: no GRH although the port requires one, a hop limit that the
 * first router uses up, or a value that is wider than its field.
 *
 * @par Quality of service
 * | option | InfiniBand | RoCE v2 |
 * |---|---|---|
 * | `traffic_class` | GRH traffic class, for routers | the IP header's DSCP (upper six bits) and ECN (lower two) |
 * | `sl` | service level, mapped to virtual lanes | VLAN priority, three bits, where there is a VLAN tag |
 * | `flow_label` | GRH flow label, for routers | the UDP source port, by which switches spread flows (ECMP) |
 *
 * On RoCE v2, congestion control and lossless queues are commonly configured by DSCP. Set it with #RDMAEZ_PATH_DSCP.
 * Leave the ECN bits 0: devices that control congestion set them, and may ignore yours (mlx5_set_path() takes
 * `traffic_class >> 2`). Drivers fold a flow label's 20 bits into a UDP port from 49152 to 65535. If the label is 0,
 * they commonly use the two queue pair numbers of a connection instead (rdma_flow_label_to_udp_sport(),
 * rdma_get_udp_sport() in the kernel's include/rdma/ib_verbs.h). So you need a label only to choose a path through the
 * network. rxe ignores `sl`.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @par Sources
 * ibv_create_ah(), and IBTA volume 1 (LRH and GRH) for the width of each field.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_PATH_H
#define RDMAEZ_PATH_H

#ifndef RDMAEZ_GID_H
#include "gid.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Bits of rdmaez_path::flags. */
enum rdmaez_path_flags {
	RDMAEZ_PATH_GRH = 0x1 /**< send a GRH even if the port does not require one */
};

/** @brief `ibv_ah_attr.grh.sgid_index` has eight bits: GID indices stop below this. */
#define RDMAEZ_PATH_GIDS 256

/** @brief A DSCP, 0 to 63, as a `traffic_class`, with ECN bits of 0: `path.traffic_class = RDMAEZ_PATH_DSCP(26)`. */
#define RDMAEZ_PATH_DSCP(dscp) ((dscp) << 2)

/** @brief The path to a peer. Start from all zero and set the destination. */
struct rdmaez_path {
	/** bits of enum rdmaez_path_flags. 0: a GRH only if the port requires one or, as with efa, has no LIDs */
	unsigned int flags;
	int sgid_index;      /**< GID index of this end, 0 to 255. 0: the best one for `dgid` if a
				  device can be asked, else 0. #RDMAEZ_ZERO: 0 */
	union ibv_gid dgid;  /**< the peer's GID. Zero: none, which works only on InfiniBand */
	uint32_t flow_label; /**< 20 bits */
	int hop_limit;       /**< 1 to 255. 0: 64 (the first router uses up 1) */
	int traffic_class;   /**< 0 to 255; on RoCE v2 see #RDMAEZ_PATH_DSCP */
	int dlid;            /**< the peer's LID, on InfiniBand. 0: none, as on RoCE */
	int sl;              /**< service level, 0 to 15 */
	int src_path_bits;   /**< low bits of the source LID, 0 to 127 */
	int static_rate;     /**< enum ibv_rate. 0: as fast as the port */
};

/**
 * @brief Returns whether a port sends and receives only with a global route header.
 *
 * It is true for every Ethernet port, and for ports that report IBV_QPF_GRH_REQUIRED, as virtualised InfiniBand ports
 * do. Kernels that do not know the flag report 0.
 *
 * @param port what ibv_query_port() filled; not NULL
 * @return true if the port requires a GRH
 */
RDMAEZ_FOLD bool rdmaez_path_needs_grh(const struct ibv_port_attr *port);

/**
 * @brief Fills an `ibv_ah_attr`, for ibv_create_ah() or for a queue pair's address vector.
 *
 * @param path the path to the peer
 * @param port the local port, 1 to 255
 * @param port_attr what ibv_query_port() filled, to decide whether a GRH is needed and to check the GID index.
 *        NULL: not known; then there is a GRH if @p path has a `dgid`
 * @param ah receives the attributes; written only on success
 * @param diag receives all findings; may be NULL
 * @retval 0 @p ah is filled
 * @retval EINVAL a pointer is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); unknown flags
 *         (#RDMAEZ_WHY_OPTION_UNKNOWN); no `dgid` although the port requires a GRH
 *         (#RDMAEZ_WHY_GRH_MISSING); no destination (#RDMAEZ_WHY_PATH_EMPTY); a GID index beyond the table
 *         (#RDMAEZ_WHY_GID_INDEX); a value wider than its field (#RDMAEZ_WHY_RANGE)
 */
RDMAEZ_API int rdmaez_path_ah_attr(const struct rdmaez_path *path, int port,
				   const struct ibv_port_attr *port_attr, struct ibv_ah_attr *ah,
				   struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#include "impl/path.h"

#endif
