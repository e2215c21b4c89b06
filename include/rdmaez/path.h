/* SPDX-License-Identifier: MIT */
/**
 * @file path.h
 * @brief The way to a peer, and the `ibv_ah_attr` made from it.
 *
 * Connected queue pairs take an address vector when they go to RTR; UD sends name an address handle.
 * Both are an `ibv_ah_attr`, and both go wrong in the same ways: no GRH where the port demands one, a
 * hop limit that the first router uses up, a field wider than its bits. Everything here is pure,
 * calls no verb and may be called from any thread.
 */
#ifndef RDMAEZ_PATH_H
#define RDMAEZ_PATH_H

#include "gid.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Option of struct rdmaez_path: send a GRH also where the port does not demand one. */
#define RDMAEZ_PATH_GRH 0x1u

/** @brief `ibv_ah_attr.grh.sgid_index` has eight bits; rows of a GID table beyond are out of reach. */
#define RDMAEZ_PATH_GIDS 256

/** @brief The way to a peer. Start from all zero and set the destination. */
struct rdmaez_path {
	unsigned int flags;  /**< RDMAEZ_PATH_ bits. 0: a GRH exactly where the port demands it */
	int sgid_index;      /**< own GID index, 0 to 255. 0: the best one for @p dgid, if a device
				  can be asked, else 0. #RDMAEZ_ZERO: 0 */
	union ibv_gid dgid;  /**< the peer's GID. Zero: none, which only InfiniBand can do with */
	uint32_t flow_label; /**< 20 bits. 0: none */
	int hop_limit;       /**< 1 to 255. 0: 64 (the first router uses up 1) */
	int traffic_class;   /**< 0 to 255; on RoCE v2 the IP header's DSCP and ECN bits. 0: 0 */
	int dlid;            /**< the peer's LID, on InfiniBand. 0: none, as on RoCE */
	int sl;              /**< service level, 0 to 15 */
	int src_path_bits;   /**< low bits of the source LID, 0 to 127 */
	int static_rate;     /**< enum ibv_rate. 0: as fast as the port */
};

/**
 * @brief Whether a port sends and receives with a global route header only.
 *
 * True on every Ethernet port and where the port says so itself (IBV_QPF_GRH_REQUIRED, set for
 * virtualised InfiniBand ports; kernels that do not report the flag show 0).
 *
 * @param port what ibv_query_port() filled, not NULL
 * @return true where the port demands a GRH
 */
RDMAEZ_FOLD bool rdmaez_path_needs_grh(const struct ibv_port_attr *port);

#ifdef __cplusplus
}
#endif

#include "impl/path.h"

#endif
