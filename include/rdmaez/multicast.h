/* SPDX-License-Identifier: MIT */
/**
 * @file multicast.h
 * @brief UD multicast: read a group's address, join and leave a group, send to it, and learn why nothing arrives.
 *
 * One UD message to a group reaches every queue pair that is attached to it.
 *
 * `<rdmaez.h>` does not include this header.
 *
 * You describe a group by a struct rdmaez_path. Its `dgid` is the group's GID, its `sgid_index` names the GID of this end
 * as in path.h, and its `dlid` is the MLID on InfiniBand. Sender and receiver use the same GID:
 *
 * | group | its GID |
 * |---|---|
 * | RoCE v2, IPv4: 239.1.2.3 | "::ffff:239.1.2.3" |
 * | RoCE v2, IPv6: "ff0e::9" | "ff0e::9" |
 * | RoCE v1, IPv4 as rdma_cm writes it | "ff0e::ffff:239.1.2.3" |
 * | InfiniBand | the MGID, as the subnet manager knows it |
 *
 * @par What a receiver needs
 * The queue pair must be attached (ibv_attach_mcast()), be in RTR at least, have the sender's Q_Key, and have receives
 * posted. On RoCE v2 the host must be a member of the IP group as well. Otherwise switches that snoop do not send the
 * group's packets to this host, the kernel drops those that reach rxe, and no verb fails. rdmaez_multicast_join()
 * attaches the queue pair and makes the host a member. The membership belongs to a socket that you get. It ends when
 * you close the socket or the process ends. On InfiniBand the subnet manager keeps the members and assigns the MLID. No
 * verb asks it, but librdmacm's rdma_join_multicast() does.
 *
 * @par What a sender needs
 * A sender needs an address handle (rdmaez_multicast_ah_create()), the queue pair number #RDMAEZ_MULTICAST_QPN and the
 * receivers' Q_Key. It needs no membership. A message is at most the MTU.
 *
 * @par With librdmacm
 * On RoCE v2 rdma_join_multicast() makes the host a member, in Linux 6.1 only of IPv4 groups. On InfiniBand it asks the
 * subnet manager. The event then has the GID, the MLID and the Q_Key in `param.ud`. If the rdma_cm_id has a queue pair,
 * librdmacm attaches that. For any other queue pair call rdmaez_multicast_join() with `fd` NULL.
 *
 * @par Threads
 * May be called from any thread. Call rdmaez_multicast_leave() once for each join.
 * @par Verbs calls
 * As listed with each function.
 * @par Cost
 * No function is meant for the data path; each says what it calls.
 * @par Sources
 * ibv_attach_mcast(); ib_attach_mcast(), cma_iboe_set_mgid(), cma_iboe_join_multicast() and rxe_mcast_add() of Linux 6.1;
 * IBTA volume 1, 10.5, and annex A17. What concerns InfiniBand was tested with a fake libibverbs, and on no hardware.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_MULTICAST_H
#define RDMAEZ_MULTICAST_H

#ifndef RDMAEZ_AH_H
#include "ah.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct sockaddr;

/** @brief The queue pair number to send to, which reaches all queue pairs that are attached to a group. */
#define RDMAEZ_MULTICAST_QPN 0xffffffu

/**
 * @brief Reads a group's address: "239.1.2.3", "ff0e::9", or an MGID in the form of an IPv6 address.
 *
 * An IPv4 address becomes an IPv4-mapped GID, as RoCE v2 has it. An IPv6 address is the GID.
 *
 * @param text the address, not a host's name
 * @param gid receives the GID: `path.dgid`; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p gid is a group's
 * @retval EINVAL a pointer is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); this is no address, or one of a single host
 *         (#RDMAEZ_WHY_MULTICAST_ADDRESS)
 */
RDMAEZ_API int rdmaez_multicast_gid(const char *text, union ibv_gid *gid, struct rdmaez_diag *diag);

/**
 * @brief Reads a group's address from a socket address, such as getaddrinfo() gives and rdma_join_multicast() takes.
 * @param address a struct sockaddr_in, sockaddr_in6 or sockaddr_ib; its port does not matter
 * @param gid receives the GID: `path.dgid`; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p gid is a group's
 * @retval EINVAL a pointer is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); another family, or the address of a single host
 *         (#RDMAEZ_WHY_MULTICAST_ADDRESS)
 */
RDMAEZ_API int rdmaez_multicast_gid_of(const struct sockaddr *address, union ibv_gid *gid,
				       struct rdmaez_diag *diag);

/**
 * @brief Attaches a queue pair to a group, and makes the host a member of the IP group where that is needed.
 *
 * On RoCE v2 the call opens a UDP socket, which receives nothing. With this socket it joins the group on the interface
 * of the GID: `MCAST_JOIN_GROUP`, which is IP_ADD_MEMBERSHIP or IPV6_JOIN_GROUP. If `sgid_index` is 0, the GID is the
 * one that rdmaez_port_choose_gid() chooses for the group, as for its senders. On InfiniBand and RoCE v1 there is no
 * socket. If the queue pair is attached already, it stays so.
 *
 * Join after INIT, because some drivers refuse a queue pair in RESET. The call makes one ibv_query_port() and one
 * ibv_attach_mcast(), and between them, unless @p fd is NULL, one ibv_query_gid_table() or, with a GID index, one
 * ibv_query_gid_ex(). A failure leaves nothing behind.
 *
 * @param qp a UD queue pair
 * @param group the group; of it `dgid`, `sgid_index` and `dlid` count
 * @param port the port, 1 to 255
 * @param fd receives the socket that holds the membership, or -1 if none is needed. Pass it to
 *         rdmaez_multicast_leave(). Written on success only. NULL: the host is a member already, for example by
 *         librdmacm; the call only attaches the queue pair
 * @param diag receives the explanation; may be NULL
 * @retval 0 messages to the group arrive
 * @retval EINVAL @p qp or @p group is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); the queue pair is not UD
 *         (#RDMAEZ_WHY_MULTICAST_TYPE); `dgid` is no group's (#RDMAEZ_WHY_MULTICAST_ADDRESS); on InfiniBand `dlid` is no
 *         MLID (#RDMAEZ_WHY_MULTICAST_LID), elsewhere it has more than 16 bits (#RDMAEZ_WHY_RANGE); no such port
 *         (#RDMAEZ_WHY_PORT); a GID index beyond the table (#RDMAEZ_WHY_GID_INDEX); the driver refuses, in RESET likely for that
 *         (#RDMAEZ_WHY_MULTICAST_RESET)
 * @retval EADDRNOTAVAIL the port has no suitable GID (#RDMAEZ_WHY_GID_NONE)
 * @retval ENODATA the GID index named is empty (#RDMAEZ_WHY_GID_EMPTY)
 * @retval ENODEV the GID has no network interface (#RDMAEZ_WHY_GID_NO_NETDEV), or it is in another network namespace
 *         (#RDMAEZ_WHY_MULTICAST_MEMBER)
 * @retval EOPNOTSUPP likely the driver has no multicast (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @retval ENOMEM likely a limit of the device is reached: `max_mcast_grp`, `max_mcast_qp_attach` or
 *         `max_total_mcast_qp_attach` (#RDMAEZ_WHY_NO_RESOURCES)
 * @return any other errno value of a query, of ibv_attach_mcast(), or of a socket (#RDMAEZ_WHY_MULTICAST_MEMBER)
 */
RDMAEZ_COLD int rdmaez_multicast_join(struct ibv_qp *qp, const struct rdmaez_path *group, int port,
				      int *fd, struct rdmaez_diag *diag);

/**
 * @brief Detaches a queue pair from a group, and closes the socket that holds the membership.
 *
 * You cannot destroy a queue pair that is attached (EBUSY). The call makes one ibv_detach_mcast(), and closes the socket
 * even if that fails.
 *
 * @param qp the queue pair
 * @param group the group as it was joined: `dgid` and `dlid`
 * @param fd what rdmaez_multicast_join() wrote; negative: none
 * @param diag receives the explanation; may be NULL
 * @retval 0 the queue pair is detached
 * @retval EINVAL @p qp or @p group is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); likely the queue pair is not attached to this
 *         group (#RDMAEZ_WHY_MULTICAST_LEFT)
 * @return any other errno value of ibv_detach_mcast()
 */
RDMAEZ_COLD int rdmaez_multicast_leave(struct ibv_qp *qp, const struct rdmaez_path *group, int fd,
				       struct rdmaez_diag *diag);

/**
 * @brief Creates an address handle for sending to a group.
 *
 * It does what rdmaez_ah_create() does, with the same verbs calls. But it checks the group's address and MLID first,
 * and sends a GRH on every port. On RoCE the kernel derives the Ethernet address from the group's, so it does not wait
 * for a peer. Destroy the handle with rdmaez_ah_destroy().
 *
 * @param pd the protection domain of the queue pairs that will send
 * @param group the group; all of the path counts, such as `hop_limit` and `traffic_class`
 * @param port the port to send from, 1 to 255
 * @param ah receives the handle; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p ah is the handle
 * @retval EINVAL as rdmaez_ah_create(); `dgid` is no group's (#RDMAEZ_WHY_MULTICAST_ADDRESS); on InfiniBand `dlid` is no
 *         MLID (#RDMAEZ_WHY_MULTICAST_LID)
 * @return any other as rdmaez_ah_create()
 */
RDMAEZ_COLD int rdmaez_multicast_ah_create(struct ibv_pd *pd, const struct rdmaez_path *group,
					   int port, struct ibv_ah **ah, struct rdmaez_diag *diag);

/**
 * @brief Says why a queue pair receives nothing from a group, or why nothing that it sends arrives.
 *
 * The record gets what rdmaez_qp_examine() finds, and what concerns the group. Above all it says whether this host has
 * not joined the IP group on the GID's interface (#RDMAEZ_WHY_MULTICAST_MISSING). It reads that from `/proc/net/igmp`
 * or `/proc/net/igmp6`, as `ip maddress` does. That finding is likely, and never certain: an adapter may deliver the
 * packets nevertheless, and with a VRF the membership is elsewhere. No verb reports which groups a queue pair is
 * attached to.
 *
 * The call changes nothing. It makes the verbs calls of rdmaez_qp_examine(), ibv_query_device(), and those that
 * rdmaez_multicast_join() makes before it attaches, and reads one file of the kernel's.
 *
 * @param qp the queue pair
 * @param group the group, as it is joined
 * @param port the port, 1 to 255
 * @param diag receives the findings, #RDMAEZ_WHY_QP_NOTHING_FOUND if there are none. NULL: nothing is done
 * @retval 0 the findings are in @p diag
 * @retval EINVAL @p qp or @p group is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @retval EOPNOTSUPP the program does not include implementation.h (#RDMAEZ_WHY_NOT_SUPPORTED)
 */
RDMAEZ_COLD int rdmaez_multicast_examine(struct ibv_qp *qp, const struct rdmaez_path *group,
					 int port, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/multicast.h"
#endif

#endif
