/* SPDX-License-Identifier: MIT */
/**
 * @file port.h
 * @brief Query a port's attributes, its GID table and its P_Key table; choose a GID index.
 *
 * These functions query a device and change nothing. Each takes an open device, a port number from 1 to the device's
 * number of ports, and a record that may be NULL. Outputs are written only on success. If an entry of a list could not
 * be read, the entries before it are written nevertheless. Each function can fail with
 *
 * - EINVAL, for a port that does not exist (#RDMAEZ_WHY_PORT) or an argument that is NULL
 *   (#RDMAEZ_WHY_NULL_ARGUMENT);
 * - any other errno value of a query (#RDMAEZ_WHY_QUERY_REFUSED, with the verb as its field).
 *
 * @par Threads
 * May be called from any thread.
 *
 * @par Verbs calls
 * The functions make the calls that their names suggest: ibv_query_port(), ibv_query_pkey() for each entry,
 * ibv_query_gid_table() once. If a device does not support the last one, they call ibv_query_gid_ex() for each entry. If
 * the number of ports matters, they also call ibv_query_device().
 * @par Sources
 * The verbs' manual pages, rdma-core 65.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_PORT_H
#define RDMAEZ_PORT_H

#ifndef RDMAEZ_PATH_H
#include "path.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Queries a port's attributes.
 *
 * It is like ibv_query_port(), with three differences. It zeroes the struct first. It checks the port number before the
 * provider sees it. If there is no such port, the explanation names those that exist. It makes one ibv_query_port().
 *
 * @param context the open device
 * @param port the port
 * @param attr receives the attributes
 * @param diag receives the explanation
 * @return 0, or an error as at the head of this file
 */
RDMAEZ_API int rdmaez_port_query(struct ibv_context *context, int port, struct ibv_port_attr *attr,
				 struct rdmaez_diag *diag);

/**
 * @brief Lists the entries of a port's GID table that are not empty.
 *
 * It makes one ibv_query_port() and one ibv_query_gid_table(), as rdmaez_port_choose_gid() does.
 *
 * @param context the open device
 * @param port the port
 * @param entries receives the entries in the order of the table; may be NULL if @p capacity is 0
 * @param capacity how many entries there is room for
 * @param count receives how many entries the table holds, even if that is more than @p capacity
 * @param diag receives the explanation
 * @return 0 with the first @p capacity entries, or all, in @p entries; or an error as at the head of this
 *         file
 */
RDMAEZ_COLD int rdmaez_port_gids(struct ibv_context *context, int port,
				 struct ibv_gid_entry *entries, size_t capacity, size_t *count,
				 struct rdmaez_diag *diag);

/**
 * @brief Chooses the best GID index of a port for reaching a peer.
 *
 * On RoCE, it considers the entries that can work at all (rdmaez_gid_rank()), and takes
 *
 * 1. the one from whose address the kernel itself sends to the peer, or to a group. This follows VLANs, several
 *    interfaces and routers. If two GIDs could be used, it connects a UDP socket to learn that address, and sends
 *    nothing. A link-local peer has no such route (#RDMAEZ_WHY_GID_BY_ROUTE);
 * 2. else one whose scope is the peer's, link-local or not (#RDMAEZ_WHY_GID_BY_SCOPE);
 * 3. else, unless the peer is a group, the one with most leading bits in common with it
 *    (#RDMAEZ_WHY_GID_BY_PREFIX);
 * 4. else the one of highest rank, and among equals the lowest index (#RDMAEZ_WHY_GID_BY_RANK).
 *
 * A link-local peer (`fe80::/10`) may be on any interface, so name the interface by `want->ndev_ifindex`. On InfiniBand
 * the function takes the first entry, and opens no socket.
 *
 * Each function that finds `sgid_index` 0 chooses anew. If you tell the peer another GID than the one in use, the peer
 * replies to the wrong address. So choose once, tell the peer `chosen.gid`, and name its index: `opts.path.sgid_index =
 * rdmaez_exactly((int)chosen.gid_index)`. Without a peer, the rank decides. rdmaez_qp_to_rtr() and
 * rdmaez_ah_create() record what they used: `source`, `netdev`, and why (`chosen`).
 *
 * Only the 256 indices that fit into an address vector are considered. The function makes one ibv_query_port() and one
 * ibv_query_gid_table(). If the latter is not supported, it makes one ibv_query_gid_ex() per entry up to the best
 * possible one. Keep the result if many queue pairs share it.
 *
 * @param context the open device
 * @param port the port
 * @param want what to look for, with the peer's GID if it is known; NULL: the best for any peer
 * @param chosen receives the entry: index, GID, type and network interface
 * @param diag receives the entry and why it was chosen; on failure, why each was rejected
 * @retval 0 @p chosen is filled
 * @retval EADDRNOTAVAIL no entry is suitable (#RDMAEZ_WHY_GID_NONE)
 * @return any other error as at the head of this file
 */
RDMAEZ_COLD int rdmaez_port_choose_gid(struct ibv_context *context, int port,
				       const struct rdmaez_gid_want *want,
				       struct ibv_gid_entry *chosen, struct rdmaez_diag *diag);

/** @brief An entry of a port's P_Key table. */
struct rdmaez_pkey_entry {
	uint32_t pkey_index; /**< its P_Key index */
	uint16_t pkey;       /**< the P_Key, in host byte order; bit 15 means full membership */
};

/**
 * @brief Lists the entries of a port's P_Key table that are not empty.
 *
 * An entry is empty if its low 15 bits, which name the partition, are zero. The function makes one ibv_query_port() and
 * one ibv_query_pkey() per entry of the table.
 *
 * @param context the open device
 * @param port the port
 * @param entries receives the entries in the order of the table; may be NULL if @p capacity is 0
 * @param capacity how many entries there is room for
 * @param count receives how many entries the table holds, even if that is more than @p capacity
 * @param diag receives the explanation
 * @return 0 with the first @p capacity entries, or all, in @p entries; or an error as at the head of this
 *         file
 */
RDMAEZ_COLD int rdmaez_port_pkeys(struct ibv_context *context, int port,
				  struct rdmaez_pkey_entry *entries, size_t capacity, size_t *count,
				  struct rdmaez_diag *diag);

/**
 * @brief Finds the P_Key index of a partition key.
 *
 * It compares only the low 15 bits. It prefers an entry with full membership to a limited one. It makes one
 * ibv_query_port() and at most one ibv_query_pkey() per entry of the table.
 *
 * @param context the open device
 * @param port the port
 * @param pkey the partition key in host byte order; 0xffff is the default partition
 * @param index receives the index, for `pkey_index`
 * @param diag receives the explanation
 * @retval 0 @p index is written
 * @retval ENOENT the key is not in the table (#RDMAEZ_WHY_PKEY_NOT_FOUND)
 * @return any other error as at the head of this file
 */
RDMAEZ_COLD int rdmaez_port_find_pkey(struct ibv_context *context, int port, uint16_t pkey,
				      int *index, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/port.h"
#endif

#endif
