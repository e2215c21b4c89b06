/* SPDX-License-Identifier: MIT */
/* Bodies of gid.h. */
#ifndef RDMAEZ_IMPL_GID_H
#define RDMAEZ_IMPL_GID_H

#ifndef RDMAEZ_GID_H
#include "../gid.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_FOLD bool rdmaez_gid_is_zero(const union ibv_gid *gid)
{
	uint64_t half[2];

	memcpy(half, gid->raw, sizeof(half));
	return !(half[0] | half[1]);
}

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

#include "text.h"
#include "diag.h"

RDMAEZ_IMPL_BEGIN

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

/* Whether one address is IPv4 and the other is not: the kernel routes nothing between the families. */
RDMAEZ_IMPL bool rdmaez_impl_gid_family_differs(const union ibv_gid *a, const union ibv_gid *b)
{
	return (rdmaez_gid_class(a) == RDMAEZ_GID_CLASS_IPV4) !=
	       (rdmaez_gid_class(b) == RDMAEZ_GID_CLASS_IPV4);
}

/*
 * Whether the kernel looks up the peer's Ethernet address, which takes GIDs of one family: not for a
 * multicast group, nor for a link-local peer of RoCE v1, whose GIDs hold the address.
 */
RDMAEZ_IMPL bool rdmaez_impl_gid_is_resolved(const struct ibv_gid_entry *own,
					     const union ibv_gid *peer)
{
	const enum rdmaez_gid_class of = rdmaez_gid_class(peer);

	if (of == RDMAEZ_GID_CLASS_LINK_LOCAL)
		return own->gid_type != IBV_GID_TYPE_ROCE_V1;
	return of != RDMAEZ_GID_CLASS_MULTICAST &&
	       !(of == RDMAEZ_GID_CLASS_IPV4 && (peer->raw[12] & 0xf0) == 0xe0);
}

/* How many leading bits two GIDs have in common. */
RDMAEZ_IMPL int rdmaez_impl_gid_common(const union ibv_gid *a, const union ibv_gid *b)
{
	int bits = 0;

	while (bits < 128 && !((a->raw[bits / 8] ^ b->raw[bits / 8]) & (uint8_t)(0x80 >> bits % 8)))
		bits++;
	return bits;
}

/* The class of the wanted peer; ZERO where it is unknown. */
RDMAEZ_IMPL enum rdmaez_gid_class rdmaez_impl_gid_peer(const struct rdmaez_gid_want *want)
{
	return want ? rdmaez_gid_class(&want->peer) : RDMAEZ_GID_CLASS_ZERO;
}

/*
 * rdmaez_gid_rank() with the peer's class known, for those who go through a table. A multicast group of IPv4
 * wants a GID of IPv4, though rdmaez_impl_gid_is_resolved() says that the kernel looks up neither kind.
 */
RDMAEZ_IMPL int rdmaez_impl_gid_rank(const struct ibv_gid_entry *entry,
				     const struct rdmaez_gid_want *want, enum rdmaez_gid_class peer,
				     enum rdmaez_why *why)
{
	const enum rdmaez_gid_class own = rdmaez_gid_class(&entry->gid);
	const bool roce = entry->gid_type != IBV_GID_TYPE_IB;
	const bool same_link = peer == RDMAEZ_GID_CLASS_LINK_LOCAL;
	enum rdmaez_why reason = RDMAEZ_WHY_NONE;
	int rank = 0;

	if (own == RDMAEZ_GID_CLASS_ZERO) {
		reason = RDMAEZ_WHY_GID_EMPTY;
	} else if (want && want->type && (uint32_t)want->type != entry->gid_type) {
		reason = RDMAEZ_WHY_GID_TYPE;
	} else if (want && want->ndev_ifindex && want->ndev_ifindex != entry->ndev_ifindex) {
		reason = RDMAEZ_WHY_GID_OTHER_NETDEV;
	} else if (!roce) {
		rank = RDMAEZ_GID_RANK_BEST;
	} else if (!entry->ndev_ifindex) {
		reason = RDMAEZ_WHY_GID_NO_NETDEV;
	} else if (peer != RDMAEZ_GID_CLASS_ZERO && peer != RDMAEZ_GID_CLASS_MULTICAST &&
		   rdmaez_impl_gid_family_differs(&want->peer, &entry->gid)) {
		reason = RDMAEZ_WHY_GID_FAMILY;
	} else {
		rank = own == RDMAEZ_GID_CLASS_IPV4 ? 3 : own == RDMAEZ_GID_CLASS_GLOBAL ? 2 : 1;
		if (own == RDMAEZ_GID_CLASS_LINK_LOCAL) {
			rank = same_link ? 3 : 1;
			reason = same_link ? RDMAEZ_WHY_NONE : RDMAEZ_WHY_GID_LINK_LOCAL;
		}
		if (entry->gid_type == IBV_GID_TYPE_ROCE_V2)
			rank += 3;
		else
			reason = RDMAEZ_WHY_GID_ROCE_V1;
	}
	if (why)
		*why = reason;
	return rank;
}

RDMAEZ_API int rdmaez_gid_rank(const struct ibv_gid_entry *entry,
			       const struct rdmaez_gid_want *want, enum rdmaez_why *why)
{
	return rdmaez_impl_gid_rank(entry, want, rdmaez_impl_gid_peer(want), why);
}

/* The first of the longest run of zero groups, if it has two at least; `length` receives its length. */
RDMAEZ_IMPL int rdmaez_impl_zero_run(const unsigned int group[8], int *length)
{
	int first = 0;

	*length = 1;
	for (int i = 0, run = 0; i < 8; i++) {
		run = group[i] ? 0 : run + 1;
		if (run > *length) {
			*length = run;
			first = i + 1 - run;
		}
	}
	return *length > 1 ? first : -1;
}

RDMAEZ_COLD int rdmaez_gid_format(const union ibv_gid *gid, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const uint8_t *const byte = gid->raw;
	unsigned int group[8];
	int run, first;

	for (int i = 0; i < 8; i++)
		group[i] = (unsigned int)byte[2 * i] << 8 | byte[2 * i + 1];
	first = rdmaez_impl_zero_run(group, &run);
	if (rdmaez_gid_class(gid) == RDMAEZ_GID_CLASS_IPV4)
		rdmaez_impl_put(&text, "::ffff:%u.%u.%u.%u", byte[12], byte[13], byte[14],
				byte[15]);
	else
		for (int i = 0; i < 8; i++) {
			if (first >= 0 && i > first && i < first + run)
				continue;
			if (i == first)
				rdmaez_impl_put(&text, run == 8 - first ? "::" : ":");
			else
				rdmaez_impl_put(&text, i ? ":%x" : "%x", group[i]);
		}
	return (int)text.length;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
