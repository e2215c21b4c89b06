/* SPDX-License-Identifier: MIT */
/**
 * @file ah.h
 * @brief Create an address handle for UD sends, and explain why it failed.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_AH_H
#define RDMAEZ_AH_H

#ifndef RDMAEZ_PATH_H
#include "path.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Creates an address handle for UD sends along a path, and explains a failure.
 *
 * The handle has a GRH only if the port requires one. On RoCE a GID index is chosen unless the path names
 * one, and the kernel resolves the peer's Ethernet address, which may take a second. Destroy the handle
 * with ibv_destroy_ah().
 *
 * @param pd the protection domain of the queue pairs that will use the handle
 * @param path the path to the peer
 * @param port_num the port to send from, 1 to 255
 * @param ah receives the handle; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p ah is the handle
 * @retval EINVAL a pointer is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); no such port (#RDMAEZ_WHY_PORT); the path as in
 *         rdmaez_path_ah_attr(); a GID of another address family than the peer's (#RDMAEZ_WHY_GID_FAMILY),
 *         or of a type that the driver refuses (#RDMAEZ_WHY_GID_TYPE_REFUSED)
 * @retval EADDRNOTAVAIL the port has no suitable GID (#RDMAEZ_WHY_GID_NONE), or likely the kernel has no
 *         IPv6 (#RDMAEZ_WHY_NO_IPV6)
 * @retval ENODATA the GID index named is empty (#RDMAEZ_WHY_GID_EMPTY)
 * @retval ETIMEDOUT likely the peer does not answer on the network (#RDMAEZ_WHY_NEIGHBOUR); with this and the next,
 *         the way to the peer is explained as by rdmaez_qp_modify()
 * @retval ENETUNREACH likely no route (#RDMAEZ_WHY_NO_ROUTE); also EHOSTUNREACH and ENETDOWN
 * @retval ENODEV likely the GID's network interface is gone (#RDMAEZ_WHY_GID_NO_NETDEV)
 * @return any other errno of ibv_query_port(), ibv_query_gid_ex() (#RDMAEZ_WHY_QUERY_REFUSED) or
 *         ibv_create_ah() (#RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_NOT_SUPPORTED, #RDMAEZ_WHY_UNEXPLAINED; on efa
 *         #RDMAEZ_WHY_AH_UNKNOWN)
 * @par Verbs calls
 * One ibv_query_port(), one ibv_query_gid_table() if a GID index has to be chosen, one ibv_create_ah().
 * If the last fails and @p diag is not NULL, one ibv_query_device(), at most one ibv_query_gid_ex() and three
 * ibv_query_gid_table() more.
 * @par Threads
 * May be called from any thread.
 */
RDMAEZ_API int rdmaez_ah_create(struct ibv_pd *pd, const struct rdmaez_path *path, int port_num,
				struct ibv_ah **ah, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/ah.h"
#endif

#endif
