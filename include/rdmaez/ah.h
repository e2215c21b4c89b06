/* SPDX-License-Identifier: MIT */
/**
 * @file ah.h
 * @brief UD: find out where a message came from, and create address handles to answer it or to reach other peers.
 *
 * A UD receive puts 40 bytes before the message. rdmaez_wc_grh() (wc.h) reads them.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * As listed with each function; rdmaez_ah_create_from_wc() makes those of rdmaez_path_from_wc() and of
 * rdmaez_ah_create().
 * @par Sources
 * ibv_create_ah(), ibv_create_ah_from_wc() and ibv_init_ah_from_wc() of rdma-core 65; IBTA annex A17 for RoCE v2.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_AH_H
#define RDMAEZ_AH_H

#ifndef RDMAEZ_PATH_H
#include "path.h"
#endif
#ifndef RDMAEZ_WC_H
#include "wc.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Creates an address handle for UD sends along a path, and explains a failure.
 *
 * The handle has a GRH only if the port requires one. On RoCE, rdmaez chooses a GID index unless the path names one,
 * and the kernel resolves the peer's Ethernet address, which may take a second. Destroy the handle with
 * rdmaez_ah_destroy().
 *
 * @param pd the protection domain of the queue pairs that will use the handle
 * @param path the path to the peer
 * @param port the port to send from, 1 to 255
 * @param ah receives the handle; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p ah is the handle
 * @retval EINVAL a pointer is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); no such port (#RDMAEZ_WHY_PORT); the path as in
 *         rdmaez_path_ah_attr(); a GID of another address family than the peer's (#RDMAEZ_WHY_GID_FAMILY),
 *         or of a type that the driver refuses (#RDMAEZ_WHY_GID_TYPE_REFUSED)
 * @retval EADDRNOTAVAIL the port has no suitable GID (#RDMAEZ_WHY_GID_NONE), or likely the kernel was built without
 *         IPv6 (#RDMAEZ_WHY_NO_IPV6)
 * @retval EAFNOSUPPORT likely IPv6 is off (#RDMAEZ_WHY_NO_IPV6)
 * @retval ENODATA the GID index named is empty (#RDMAEZ_WHY_GID_EMPTY)
 * @retval ETIMEDOUT likely the peer does not answer on the network (#RDMAEZ_WHY_NEIGHBOUR). For this error and the
 *         next, the way to the peer is explained as by rdmaez_qp_modify()
 * @retval ENETUNREACH likely no route (#RDMAEZ_WHY_NO_ROUTE); also EHOSTUNREACH and ENETDOWN
 * @retval ENODEV likely the GID's network interface is gone (#RDMAEZ_WHY_GID_NO_NETDEV)
 * @return any other errno of ibv_query_port(), ibv_query_gid_ex() (#RDMAEZ_WHY_QUERY_REFUSED) or
 *         ibv_create_ah() (#RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_NOT_SUPPORTED, #RDMAEZ_WHY_UNEXPLAINED; on efa
 *         #RDMAEZ_WHY_AH_UNKNOWN)
 * @par Verbs calls
 * One ibv_query_port(), one ibv_query_gid_table() if a GID index has to be chosen, one ibv_create_ah().
 * If the last fails and @p diag is not NULL, it also makes one ibv_query_device(), at most one ibv_query_gid_ex() and
 * at most three ibv_query_gid_table().
 */
RDMAEZ_COLD int rdmaez_ah_create(struct ibv_pd *pd, const struct rdmaez_path *path, int port,
				 struct ibv_ah **ah, struct rdmaez_diag *diag);

/**
 * @brief Makes the path that leads back to the sender of a UD message.
 *
 * The message contains the sender's GID or LID, the service level, the flow label and the DSCP. It also says which of
 * your GIDs it was sent to, and the path uses that GID as its `sgid_index`. The hop limit keeps its default, because
 * the one that arrived has already been counted down on the way. The ECN bits keep theirs too, because the network sets
 * them. If the message went to a multicast group, `sgid_index` stays 0, and rdmaez_ah_create() chooses one.
 *
 * @param context the device
 * @param wc the receive's completion
 * @param buffer where the receive's first SGE begins; may be NULL if IBV_WC_GRH is not set
 * @param port the port of the queue pair that received it
 * @param path receives the path; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p path leads to the sender
 * @retval EINVAL a pointer is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); @p wc has failed, or is not of a UD receive
 *         (#RDMAEZ_WHY_WC_NO_SENDER); it has neither IBV_WC_GRH nor a LID, as with efa (#RDMAEZ_WHY_PATH_EMPTY)
 * @retval EPROTONOSUPPORT IBV_WC_GRH is set, but there is no header (#RDMAEZ_WHY_WC_NO_HEADER)
 * @retval EADDRNOTAVAIL the port does not have, or no longer has, the GID that the message was sent to
 *         (#RDMAEZ_WHY_WC_GID_GONE)
 * @return any other errno of ibv_query_gid_ex() (#RDMAEZ_WHY_QUERY_REFUSED)
 * @par Verbs calls
 * One ibv_query_gid_table() if there is a header. If the device does not answer that, one ibv_query_gid_ex() for each
 * index.
 */
RDMAEZ_COLD int rdmaez_path_from_wc(struct ibv_context *context, const struct ibv_wc *wc,
				    const void *buffer, int port, struct rdmaez_path *path,
				    struct rdmaez_diag *diag);

/**
 * @brief Creates the address handle that leads back to the sender of a UD message.
 *
 * It calls rdmaez_path_from_wc() and then rdmaez_ah_create(). The sender's queue pair number is `ibv_wc.src_qp`. Its
 * Q_Key is not in the message, so the two programs must agree on one.
 *
 * @param pd the protection domain of the queue pairs that will use the handle
 * @param wc the receive's completion
 * @param buffer where the receive's first SGE begins; may be NULL if IBV_WC_GRH is not set
 * @param port the port of the queue pair that received it
 * @param ah receives the handle; written on success only. Destroy it with rdmaez_ah_destroy()
 * @param diag receives the explanation; may be NULL
 * @return as these two functions
 */
RDMAEZ_API int rdmaez_ah_create_from_wc(struct ibv_pd *pd, const struct ibv_wc *wc,
					const void *buffer, int port, struct ibv_ah **ah,
					struct rdmaez_diag *diag);

/**
 * @brief Destroys an address handle, as ibv_destroy_ah() does, and explains a failure.
 *
 * No send that uses the handle may be outstanding. Nothing checks that: on some devices such a send fails with
 * IBV_WC_LOC_QP_OP_ERR, on others it is lost.
 *
 * @param ah the handle; no other thread may use it
 * @param diag receives the explanation; may be NULL
 * @retval 0 it is gone
 * @retval EINVAL @p ah is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any errno of ibv_destroy_ah() (#RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_destroy_ah().
 */
RDMAEZ_API int rdmaez_ah_destroy(struct ibv_ah *ah, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/ah.h"
#endif

#endif
