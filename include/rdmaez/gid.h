/* SPDX-License-Identifier: MIT */
/**
 * @file gid.h
 * @brief What a GID is, and how good a row of a GID table is for reaching a peer.
 *
 * Everything here is pure, calls no verb and may be called from any thread.
 */
#ifndef RDMAEZ_GID_H
#define RDMAEZ_GID_H

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The kinds of GID that routing tells apart. A GID has the form of an IPv6 address. */
enum rdmaez_gid_class {
	RDMAEZ_GID_CLASS_ZERO,       /**< all bytes zero: no GID */
	RDMAEZ_GID_CLASS_LINK_LOCAL, /**< `fe80::/10`: the default GID of every port */
	RDMAEZ_GID_CLASS_IPV4,       /**< IPv4-mapped: an IPv4 address in IPv6 form */
	RDMAEZ_GID_CLASS_MULTICAST,  /**< `ff00::/8` */
	RDMAEZ_GID_CLASS_GLOBAL      /**< any other: routed IPv6, or an InfiniBand subnet prefix */
};

/**
 * @brief Which kind of GID this is.
 * @param gid the GID, not NULL
 * @return its class
 */
RDMAEZ_API enum rdmaez_gid_class rdmaez_gid_class(const union ibv_gid *gid);

/**
 * @brief Whether a GID is all zero, as in an empty row of a GID table.
 * @param gid the GID, not NULL
 * @return true where no byte is set
 */
RDMAEZ_FOLD bool rdmaez_gid_is_zero(const union ibv_gid *gid);

/** @brief What to look for in a GID table. All zero: the best row for any peer. */
struct rdmaez_gid_want {
	int type;              /**< IBV_GID_TYPE_ROCE_V1 or _V2: only these. 0: any, v2 first */
	uint32_t ndev_ifindex; /**< only rows of this network interface. 0: any */
	union ibv_gid peer;    /**< the peer's GID, to match its family. Zero: not known yet */
};

/** @brief No row ranks higher, so a search may stop here. */
#define RDMAEZ_GID_RANK_BEST 6

/**
 * @brief How good a row of a GID table is for reaching a peer.
 *
 * On RoCE v2 comes before v1, then the scope counts: a link-local row is best for a link-local peer
 * and worst for any other, and IPv4-mapped comes before global IPv6 where the peer is unknown. A row
 * that cannot work ranks 0: empty, without a network interface, of another family than the peer, or
 * against @p want. On InfiniBand every row that is not empty is equally good, and the first is used.
 * Sources: kernel addr_resolve() and rdma_resolve_ip_route() refuse mixed families and rows without
 * interface; rxe refuses RoCE v1.
 *
 * @param row the row as ibv_query_gid_ex() filled it; an empty one has an all-zero GID
 * @param want what to look for, NULL: the best for any peer
 * @param why receives what speaks against the row, or for a better one; #RDMAEZ_WHY_NONE where nothing
 *        does. May be NULL
 * @return 0 where the row is of no use, else 1 to #RDMAEZ_GID_RANK_BEST, greater for a better row
 */
RDMAEZ_API int rdmaez_gid_rank(const struct ibv_gid_entry *row, const struct rdmaez_gid_want *want,
			       enum rdmaez_why *why);

/** @brief A buffer of this size holds every GID as text. */
#define RDMAEZ_GID_TEXT 46

/**
 * @brief A GID in the form of an IPv6 address: "fe80::1", "::ffff:192.0.2.1".
 * @param gid the GID, not NULL
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; #RDMAEZ_GID_TEXT is always enough
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_gid_format(const union ibv_gid *gid, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#include "impl/gid.h"

#endif
