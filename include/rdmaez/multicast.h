/* SPDX-License-Identifier: MIT */
/**
 * @file multicast.h
 * @brief UD multicast: a group's address as a GID, joining and leaving it, sending to it, and why nothing arrives.
 *
 * One UD message that is sent to a group reaches every queue pair that is attached to it.
 *
 * `<rdmaez.h>` does not include this header.
 *
 * A group is described by a struct rdmaez_path: `dgid` is its GID, `sgid_index` the GID of this end as in path.h, and
 * `dlid` its MLID on InfiniBand. Sender and receiver write the same GID:
 *
 * | group | its GID |
 * |---|---|
 * | RoCE v2, IPv4: 239.1.2.3 | "::ffff:239.1.2.3" |
 * | RoCE v2, IPv6: "ff0e::9" | "ff0e::9" |
 * | RoCE v1, IPv4 as rdma_cm writes it | "ff0e::ffff:239.1.2.3" |
 * | InfiniBand | the MGID, as the subnet manager knows it |
 *
 * @par What a receiver needs
 * A queue pair that is attached (ibv_attach_mcast()), in RTR at least, with the sender's Q_Key and with receives. On RoCE
 * v2 the host has to be a member of the IP group as well: otherwise switches that snoop do not send its packets here, the
 * kernel drops those that come by rxe, and no verb fails. rdmaez_multicast_join() does both. The membership belongs to a
 * socket that the caller gets, and ends when it is closed, or with the process. On InfiniBand the subnet manager has the
 * membership, and gives out the MLID: no verb asks it, but librdmacm's rdma_join_multicast() does.
 *
 * @par What a sender needs
 * An address handle (rdmaez_multicast_ah_create()), the queue pair number #RDMAEZ_MULTICAST_QPN, the receivers' Q_Key, and
 * no membership: `rdmaez_wr_send_to(&wr, &sge, ah, RDMAEZ_MULTICAST_QPN, qkey)`. A message is at most the MTU.
 *
 * @par With librdmacm
 * rdma_join_multicast() joins the IP group, for RoCE v2 an IPv4 one alone in Linux 6.1, or asks the subnet manager; then
 * its event has the GID, MLID and Q_Key in `param.ud`. With a queue pair of the rdma_cm_id it has attached that as well.
 * For any other queue pair call rdmaez_multicast_join() with `fd` NULL.
 *
 * @par Threads
 * May be called from any thread, rdmaez_multicast_leave() once for each join.
 * @par Verbs calls
 * As listed with each function.
 * @par Cost
 * Each function says what it calls; none is for the data path. They take up to 14 kB of stack, as
 * rdmaez_port_choose_gid() does, without a GID index to choose less than 2 kB.
 * @par Sources
 * ibv_attach_mcast(); ib_attach_mcast(), cma_iboe_set_mgid(), cma_iboe_join_multicast() and rxe_mcast_add() of Linux 6.1;
 * IBTA volume 1, 10.5, and annex A17. What concerns InfiniBand has met a fake libibverbs, and no hardware.
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

/** @brief The queue pair number to which one sends to reach all that are attached to a group. */
#define RDMAEZ_MULTICAST_QPN 0xffffffu

/**
 * @brief Reads a group's address: "239.1.2.3", "ff0e::9", or an MGID in the form of an IPv6 address.
 *
 * An IPv4 address becomes an IPv4-mapped GID, as RoCE v2 has it; an IPv6 address is the GID.
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
 * @brief The same for a socket address, such as getaddrinfo() gives and rdma_join_multicast() takes.
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
 * On RoCE v2 a UDP socket is opened that receives nothing, and by it the interface of the GID index joins the group:
 * `MCAST_JOIN_GROUP`, which is IP_ADD_MEMBERSHIP or IPV6_JOIN_GROUP. Without a GID index it is the one that
 * rdmaez_port_choose_gid() chooses for the group, as for its senders. On InfiniBand and RoCE v1 there is no socket. What
 * the queue pair is attached to already stays attached.
 *
 * Attach after INIT, as not all drivers take a queue pair in RESET. ibv_query_port(), then where a membership is wanted
 * ibv_query_gid_table() or, with a GID index, ibv_query_gid_ex(); ibv_attach_mcast(). No failure leaves anything behind.
 *
 * @param qp a UD queue pair
 * @param group the group; of it `dgid`, `sgid_index` and `dlid` count
 * @param port the port, 1 to 255
 * @param fd receives the socket that holds the membership, -1 where none is needed: pass it to rdmaez_multicast_leave().
 *        Written on success only. NULL: the host is a member already, as by librdmacm; the queue pair is attached alone
 * @param diag receives the explanation; may be NULL
 * @retval 0 messages to the group arrive
 * @retval EINVAL @p qp or @p group is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); the queue pair is not UD
 *         (#RDMAEZ_WHY_MULTICAST_TYPE); `dgid` is no group's (#RDMAEZ_WHY_MULTICAST_ADDRESS); on InfiniBand `dlid` is no
 *         MLID (#RDMAEZ_WHY_MULTICAST_LID), elsewhere it has more than 16 bits (#RDMAEZ_WHY_RANGE); no such port
 *         (#RDMAEZ_WHY_PORT); a GID index above 255 (#RDMAEZ_WHY_GID_INDEX); the driver refuses, in RESET likely for that
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
 * A queue pair that is attached cannot be destroyed (EBUSY). One ibv_detach_mcast(); less than 1 kB of stack. The socket
 * is closed even where that fails.
 *
 * @param qp the queue pair
 * @param group the group as it was joined: `dgid` and `dlid`
 * @param fd what rdmaez_multicast_join() has written; negative: none
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
 * Like rdmaez_ah_create(), with a GRH on every port, and after a look at the group's address and MLID. On RoCE no peer is
 * resolved: the Ethernet address follows from the group's. Its verbs calls are those of rdmaez_ah_create(). Destroy the
 * handle with ibv_destroy_ah().
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
 * It finds what rdmaez_qp_examine() finds, and what concerns the group. Above all: no socket of this host, nor librdmacm,
 * holds the membership of the IP group on the GID's interface (#RDMAEZ_WHY_MULTICAST_MISSING), by `/proc/net/igmp` or
 * `/proc/net/igmp6`, which `ip maddress` shows as well. That is likely, and never certain: an adapter may take the packets
 * nevertheless, and the membership may be a VRF's. No verb tells what a queue pair is attached to.
 *
 * Nothing is changed. The calls of rdmaez_qp_examine(), ibv_query_device(), and those that rdmaez_multicast_join() makes
 * before it attaches; a file of the kernel's is read.
 *
 * @param qp the queue pair
 * @param group the group, as it is joined
 * @param port the port, 1 to 255
 * @param diag receives the findings, #RDMAEZ_WHY_QP_NOTHING_FOUND if there are none. NULL: there is nothing to do
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
