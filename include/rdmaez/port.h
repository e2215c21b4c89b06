/* SPDX-License-Identifier: MIT */
/**
 * @file port.h
 * @brief Ask a port: its attributes, its GID table, its P_Key table.
 *
 * The functions here make verbs calls and no changes. They may be called from any thread.
 */
#ifndef RDMAEZ_PORT_H
#define RDMAEZ_PORT_H

#include "path.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Asks a port for its attributes.
 *
 * As ibv_query_port(), with the port number checked before the provider sees it, the struct zeroed,
 * and the ports that exist named where it fails.
 *
 * @param context the open device
 * @param port_num 1 to the device's number of ports
 * @param attr receives the attributes; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p attr is filled
 * @retval EINVAL no such port (#RDMAEZ_WHY_PORT), or a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any other errno of ibv_query_port() (#RDMAEZ_WHY_QUERY_REFUSED)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_port_query(struct ibv_context *context, int port_num,
				 struct ibv_port_attr *attr, struct rdmaez_diag *diag);

/**
 * @brief Lists the rows of a port's GID table that are not empty.
 *
 * @param context the open device
 * @param port_num 1 to the device's number of ports
 * @param rows receives the rows, in the order of the table; may be NULL where @p capacity is 0
 * @param capacity how many rows @p rows can take
 * @param count receives how many rows there are, also where that is more than @p capacity; written on
 *        success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 the first @p capacity rows, or all, are in @p rows
 * @retval EINVAL no such port (#RDMAEZ_WHY_PORT), or a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any other errno of ibv_query_port() or ibv_query_gid_ex() (#RDMAEZ_WHY_QUERY_REFUSED)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_port_gids(struct ibv_context *context, int port_num,
				struct ibv_gid_entry *rows, size_t capacity, size_t *count,
				struct rdmaez_diag *diag);

/**
 * @brief Chooses the row of a port's GID table that is best for reaching a peer.
 *
 * The policy is rdmaez_gid_rank()'s; of equals the first row wins. Rows beyond the 256 that an
 * address vector can name are not looked at. Costs one ibv_query_port() and one ibv_query_gid_ex()
 * per row up to the first that cannot be bettered, so keep the answer if many queue pairs share it.
 *
 * @param context the open device
 * @param port_num 1 to the device's number of ports
 * @param want what to look for, with the peer's GID where it is known; NULL: the best for any peer
 * @param chosen receives the row: index, GID, type and network interface; written on success only
 * @param diag receives, on failure, what speaks against every row; may be NULL
 * @retval 0 @p chosen is filled
 * @retval EINVAL no such port (#RDMAEZ_WHY_PORT), or a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @retval EADDRNOTAVAIL no row will do (#RDMAEZ_WHY_GID_NONE)
 * @return any other errno of ibv_query_port() or ibv_query_gid_ex() (#RDMAEZ_WHY_QUERY_REFUSED)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_port_choose_gid(struct ibv_context *context, int port_num,
				      const struct rdmaez_gid_want *want,
				      struct ibv_gid_entry *chosen, struct rdmaez_diag *diag);

/** @brief A row of a port's P_Key table. */
struct rdmaez_pkey_entry {
	uint32_t pkey_index; /**< which row */
	uint16_t pkey;       /**< what it holds, in host byte order; bit 15: full membership */
};

/**
 * @brief Lists the rows of a port's P_Key table that are not empty.
 *
 * A row is empty where its low 15 bits, which name the partition, are zero. Costs one
 * ibv_query_port() and one ibv_query_pkey() per row of the table.
 *
 * @param context the open device
 * @param port_num 1 to the device's number of ports
 * @param rows receives the rows, in the order of the table; may be NULL where @p capacity is 0
 * @param capacity how many rows @p rows can take
 * @param count receives how many rows there are, also where that is more than @p capacity; written on
 *        success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 the first @p capacity rows, or all, are in @p rows
 * @retval EINVAL no such port (#RDMAEZ_WHY_PORT), or a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any other errno of ibv_query_port() or ibv_query_pkey() (#RDMAEZ_WHY_QUERY_REFUSED)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_port_pkeys(struct ibv_context *context, int port_num,
				 struct rdmaez_pkey_entry *rows, size_t capacity, size_t *count,
				 struct rdmaez_diag *diag);

/**
 * @brief Finds the row of a port's P_Key table that holds a partition key.
 *
 * The low 15 bits name the partition, the top bit says full membership. A row with full membership is
 * preferred; a limited one is taken where there is no other. Costs one ibv_query_port() and up to one
 * ibv_query_pkey() per row of the table.
 *
 * @param context the open device
 * @param port_num 1 to the device's number of ports
 * @param pkey the partition key in host byte order; 0xffff is the default partition
 * @param index receives the row, for `pkey_index`; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p index is written
 * @retval EINVAL no such port (#RDMAEZ_WHY_PORT), or a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @retval ENOENT the table does not hold the key (#RDMAEZ_WHY_PKEY_NOT_FOUND)
 * @return any other errno of ibv_query_port() or ibv_query_pkey() (#RDMAEZ_WHY_QUERY_REFUSED)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_port_find_pkey(struct ibv_context *context, int port_num, uint16_t pkey,
				     int *index, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#include "impl/port.h"

#endif
