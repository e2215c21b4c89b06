/* SPDX-License-Identifier: MIT */
/**
 * @file gid.h
 * @brief Classify GIDs, and rank a port's GIDs by how well they suit a peer.
 *
 * All functions are pure.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @par Sources
 * ibv_query_gid_ex(), RFC 4291, and IBTA annexes A16 and A17 for RoCE v1 and v2.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_GID_H
#define RDMAEZ_GID_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The kinds of GID that matter for routing. A GID has the form of an IPv6 address. */
enum rdmaez_gid_class {
	RDMAEZ_GID_CLASS_ZERO,       /**< all bytes zero: no GID */
	RDMAEZ_GID_CLASS_LINK_LOCAL, /**< `fe80::/10`: the default GID of every port */
	RDMAEZ_GID_CLASS_IPV4,       /**< IPv4-mapped: an IPv4 address in IPv6 form */
	RDMAEZ_GID_CLASS_MULTICAST,  /**< `ff00::/8` */
	RDMAEZ_GID_CLASS_GLOBAL      /**< any other: routed IPv6, or an InfiniBand subnet prefix */
};

/**
 * @brief Classifies a GID.
 * @param gid the GID, not NULL
 * @return its class
 */
RDMAEZ_API enum rdmaez_gid_class rdmaez_gid_class(const union ibv_gid *gid);

/**
 * @brief Returns whether a GID is all zero, like an empty entry of a GID table.
 * @param gid the GID, not NULL
 * @return true if no byte is set
 */
RDMAEZ_FOLD bool rdmaez_gid_is_zero(const union ibv_gid *gid);

/** @brief What to look for in a GID table. All zero: the best GID for any peer. */
struct rdmaez_gid_want {
	int type;              /**< IBV_GID_TYPE_ROCE_V1 or _V2: only these. 0: any, v2 first */
	uint32_t ndev_ifindex; /**< only GIDs of this network interface. 0: of any */
	union ibv_gid peer;    /**< the peer's GID, or a group's. Zero: unknown */
};

/** @brief The highest rank: a search may stop here. */
#define RDMAEZ_GID_RANK_BEST 6

/**
 * @brief Ranks an entry of a GID table by how suitable it is for reaching a peer.
 *
 * On RoCE the scope decides first: a link-local GID (`fe80::/10` or 169.254.0.0/16) suits a link-local peer or group,
 * and others suit the rest. Then v2 ranks above v1. For an unknown peer v2 ranks above v1, and then IPv4-mapped above
 * IPv6 above link-local. An entry that cannot work ranks 0: it is empty, has no network interface, has a different
 * address family from the peer, or is excluded by @p want. On InfiniBand all non-empty entries rank the same, and the
 * first is used. If several addresses suit the peer, only the kernel knows which one the route uses.
 * rdmaez_port_choose_gid() asks it.
 *
 * Sources: the kernel's addr_resolve() and rdma_resolve_ip() refuse mixed families and entries without an interface.
 * RoCE v2 sends IPv4 or IPv6 by the family of its own GID, so a group needs a GID of its family. RoCE v1 carries the
 * Ethernet address of a group and of a link-local peer in the GID (ib_resolve_eth_dmac()) and takes either.
 *
 * @param entry the entry as ibv_query_gid_ex() filled it; an empty one has an all-zero GID
 * @param want what to look for; NULL: the best for any peer
 * @param why receives the objection to this entry, or the reason to prefer another; #RDMAEZ_WHY_NONE if
 *        there is none. May be NULL
 * @return 0 if the entry cannot be used, else 1 to #RDMAEZ_GID_RANK_BEST, higher is better
 */
RDMAEZ_API int rdmaez_gid_rank(const struct ibv_gid_entry *entry,
			       const struct rdmaez_gid_want *want, enum rdmaez_why *why);

/** @brief A buffer of this size holds every GID as text. */
#define RDMAEZ_GID_TEXT 46

/**
 * @brief Writes a GID in the form of an IPv6 address: "fe80::1", "::ffff:192.0.2.1".
 * @param gid the GID, not NULL
 * @param buf receives the text; may be NULL if @p size is 0
 * @param size bytes in @p buf; #RDMAEZ_GID_TEXT is always enough
 * @return the length of the whole text, as snprintf()
 */
RDMAEZ_COLD int rdmaez_gid_format(const union ibv_gid *gid, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#include "impl/gid.h"

#endif
