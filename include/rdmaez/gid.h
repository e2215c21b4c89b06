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
RDMAEZ_API enum rdmaez_gid_class rdmaez_gid_class(const union ibv_gid *gid)
{
	const uint8_t *const byte = gid->raw;
	uint64_t half[2];

	memcpy(half, gid->raw, sizeof(half));
	if (!half[0] && !half[1])
		return RDMAEZ_GID_CLASS_ZERO;
	if (!half[0] && !byte[8] && !byte[9] && byte[10] == 0xff && byte[11] == 0xff)
		return RDMAEZ_GID_CLASS_IPV4;
	if (byte[0] == 0xfe && (byte[1] & 0xc0) == 0x80)
		return RDMAEZ_GID_CLASS_LINK_LOCAL;
	if (byte[0] == 0xff)
		return RDMAEZ_GID_CLASS_MULTICAST;
	return RDMAEZ_GID_CLASS_GLOBAL;
}

/**
 * @brief Whether a GID is all zero, as in an empty row of a GID table.
 * @param gid the GID, not NULL
 * @return true where no byte is set
 */
RDMAEZ_IMPL_FOLD bool rdmaez_gid_is_zero(const union ibv_gid *gid)
{
	uint64_t half[2];

	memcpy(half, gid->raw, sizeof(half));
	return !(half[0] | half[1]);
}

/** @brief What to look for in a GID table. All zero: the best row for any peer. */
struct rdmaez_gid_want {
	int type;              /**< IBV_GID_TYPE_ROCE_V1 or _V2: only these. 0: any, v2 first */
	uint32_t ndev_ifindex; /**< only rows of this network interface. 0: any */
	union ibv_gid peer;    /**< the peer's GID, to match its family. Zero: not known yet */
};

/** @brief No row ranks higher, so a search may stop here. */
#define RDMAEZ_GID_RANK_BEST 6

/* The class of the peer that somebody wants to reach. */
RDMAEZ_API enum rdmaez_gid_class rdmaez_impl_gid_peer(const struct rdmaez_gid_want *want)
{
	return want ? rdmaez_gid_class(&want->peer) : RDMAEZ_GID_CLASS_ZERO;
}

/* rdmaez_gid_rank() with the peer's class known, for those who go through a table. */
RDMAEZ_API int rdmaez_impl_gid_rank(const struct ibv_gid_entry *row,
				    const struct rdmaez_gid_want *want, enum rdmaez_gid_class peer,
				    enum rdmaez_reason *why)
{
	const enum rdmaez_gid_class own = rdmaez_gid_class(&row->gid);
	const bool roce = row->gid_type != IBV_GID_TYPE_IB;
	const bool same_link = peer == RDMAEZ_GID_CLASS_LINK_LOCAL;
	enum rdmaez_reason reason = RDMAEZ_NONE;
	int rank = 0;

	if (own == RDMAEZ_GID_CLASS_ZERO) {
		reason = RDMAEZ_GID_EMPTY;
	} else if (want && want->type && (uint32_t)want->type != row->gid_type) {
		reason = RDMAEZ_GID_TYPE;
	} else if (want && want->ndev_ifindex && want->ndev_ifindex != row->ndev_ifindex) {
		reason = RDMAEZ_GID_OTHER_NETDEV;
	} else if (!roce) {
		rank = RDMAEZ_GID_RANK_BEST;
	} else if (!row->ndev_ifindex) {
		reason = RDMAEZ_GID_NO_NETDEV;
	} else if (peer != RDMAEZ_GID_CLASS_ZERO && peer != RDMAEZ_GID_CLASS_MULTICAST &&
		   (peer == RDMAEZ_GID_CLASS_IPV4) != (own == RDMAEZ_GID_CLASS_IPV4)) {
		reason = RDMAEZ_GID_FAMILY;
	} else {
		rank = own == RDMAEZ_GID_CLASS_IPV4 ? 3 : own == RDMAEZ_GID_CLASS_GLOBAL ? 2 : 1;
		if (own == RDMAEZ_GID_CLASS_LINK_LOCAL) {
			rank = same_link ? 3 : 1;
			reason = same_link ? RDMAEZ_NONE : RDMAEZ_GID_LINK_LOCAL;
		}
		if (row->gid_type == IBV_GID_TYPE_ROCE_V2)
			rank += 3;
		else
			reason = RDMAEZ_GID_ROCE_V1;
	}
	if (why)
		*why = reason;
	return rank;
}

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
 * @param why receives what speaks against the row, or for a better one; #RDMAEZ_NONE where nothing
 *        does. May be NULL
 * @return 0 where the row is of no use, else 1 to #RDMAEZ_GID_RANK_BEST, greater for a better row
 */
RDMAEZ_API int rdmaez_gid_rank(const struct ibv_gid_entry *row, const struct rdmaez_gid_want *want,
			       enum rdmaez_reason *why)
{
	return rdmaez_impl_gid_rank(row, want, rdmaez_impl_gid_peer(want), why);
}

#ifdef __cplusplus
}
#endif

#endif
