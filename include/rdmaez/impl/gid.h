/* SPDX-License-Identifier: MIT */
/* Implements gid.h, and the question by which of its addresses the host sends to a peer. */
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

#include <sys/socket.h>

#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_IMPL_TEXT_H
#include "text.h"
#endif
#ifndef RDMAEZ_WHY_H
#include "../why.h"
#endif

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

/* Returns how many leading bits two GIDs have in common. */
RDMAEZ_IMPL int rdmaez_impl_gid_common(const union ibv_gid *a, const union ibv_gid *b)
{
	uint64_t half[2];
	int bits;

	memcpy(&half[0], a, sizeof(half[0]));
	memcpy(&half[1], b, sizeof(half[1]));
	bits = half[0] == half[1] ? 64 : 0;
	while (bits < 128 && a->raw[bits / 8] == b->raw[bits / 8])
		bits += 8;
	while (bits < 128 && !((a->raw[bits / 8] ^ b->raw[bits / 8]) & (uint8_t)(0x80 >> bits % 8)))
		bits++;
	return bits;
}

/*
 * These bits are what matters of an address when one is chosen: it is IPv4, a group, valid on one
 * link only, or IPv6 on one link.
 */
#define RDMAEZ_IMPL_GID_IPV4  1
#define RDMAEZ_IMPL_GID_GROUP 2
#define RDMAEZ_IMPL_GID_LOCAL 4
#define RDMAEZ_IMPL_GID_LINK  8

/*
 * Returns those bits of an address, or -1 if it is zero. Link-local are fe80::/10 and
 * 169.254.0.0/16, and groups up to scope 2.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_gid_traits(const union ibv_gid *gid)
{
	const uint8_t *const byte = gid->raw;

	switch ((int)rdmaez_gid_class(gid)) {
	case RDMAEZ_GID_CLASS_ZERO:
		return -1;
	case RDMAEZ_GID_CLASS_LINK_LOCAL:
		return RDMAEZ_IMPL_GID_LOCAL | RDMAEZ_IMPL_GID_LINK;
	case RDMAEZ_GID_CLASS_IPV4:
		return RDMAEZ_IMPL_GID_IPV4 |
		       ((byte[12] & 0xf0) == 0xe0 ? RDMAEZ_IMPL_GID_GROUP : 0) |
		       (byte[12] == 169 && byte[13] == 254 ? RDMAEZ_IMPL_GID_LOCAL : 0);
	case RDMAEZ_GID_CLASS_MULTICAST:
		return RDMAEZ_IMPL_GID_GROUP | ((byte[1] & 0xf) <= 2 ? RDMAEZ_IMPL_GID_LOCAL : 0);
	default:
		return 0;
	}
}

/* From this rank on a GID has the scope of the peer, if that is known. */
#define RDMAEZ_IMPL_GID_SCOPE 4

/*
 * Does what rdmaez_gid_rank() does with the peer's bits known, for callers that go through a table.
 * -1 means an unknown peer.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_gid_rank(const struct ibv_gid_entry *entry,
					   const struct rdmaez_gid_want *want, int peer,
					   enum rdmaez_why *why)
{
	const int own = rdmaez_impl_gid_traits(&entry->gid);
	const int v2 = entry->gid_type != IBV_GID_TYPE_ROCE_V1;
	int rank = 0;

	*why = RDMAEZ_WHY_NONE;
	if (own < 0) {
		*why = RDMAEZ_WHY_GID_EMPTY;
	} else if (want && want->type && (uint32_t)want->type != entry->gid_type) {
		*why = RDMAEZ_WHY_GID_TYPE;
	} else if (want && want->ndev_ifindex && want->ndev_ifindex != entry->ndev_ifindex) {
		*why = RDMAEZ_WHY_GID_OTHER_NETDEV;
	} else if (entry->gid_type == IBV_GID_TYPE_IB) {
		rank = RDMAEZ_GID_RANK_BEST;
	} else if (!entry->ndev_ifindex) {
		*why = RDMAEZ_WHY_GID_NO_NETDEV;
	} else if (peer >= 0 && ((own ^ peer) & RDMAEZ_IMPL_GID_IPV4) &&
		   (v2 || !(peer & (RDMAEZ_IMPL_GID_GROUP | RDMAEZ_IMPL_GID_LINK)))) {
		*why = RDMAEZ_WHY_GID_FAMILY;
	} else {
		const bool local = (own & RDMAEZ_IMPL_GID_LOCAL) != 0;

		if (peer < 0)
			rank = 3 * v2 + (local ? 1 : own & RDMAEZ_IMPL_GID_IPV4 ? 3 : 2);
		else
			rank = 2 * v2 +
			       ((own ^ peer) & RDMAEZ_IMPL_GID_LOCAL ? 1 : RDMAEZ_IMPL_GID_SCOPE);
		if (!v2)
			*why = RDMAEZ_WHY_GID_ROCE_V1;
		else if (local && (peer < 0 || rank < RDMAEZ_IMPL_GID_SCOPE))
			*why = RDMAEZ_WHY_GID_LINK_LOCAL;
	}
	return rank;
}

RDMAEZ_API int rdmaez_gid_rank(const struct ibv_gid_entry *entry,
			       const struct rdmaez_gid_want *want, enum rdmaez_why *why)
{
	enum rdmaez_why reason;
	const int rank = rdmaez_impl_gid_rank(
		entry, want, want ? rdmaez_impl_gid_traits(&want->peer) : -1, &reason);

	if (why)
		*why = reason;
	return rank;
}

/*
 * Returns the first of the longest run of zero groups, if it has two at least. `length` receives
 * its length.
 */
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

/*
 * This is the answer about a route: 0 and the local address that the kernel would send from,
 * ENETUNREACH or EHOSTUNREACH if no route leads there, or another errno value if the kernel could
 * not be asked.
 */
struct rdmaez_impl_route {
	int error;
	union ibv_gid source;
};

/*
 * Writes a GID as a struct sockaddr_in or sockaddr_in6: family, port, and the address at byte 4 or
 * 8. Returns the length.
 */
RDMAEZ_IMPL_SMALL socklen_t rdmaez_impl_route_address(const union ibv_gid *gid,
						      struct sockaddr_storage *address)
{
	const bool ipv4 = rdmaez_gid_class(gid) == RDMAEZ_GID_CLASS_IPV4;

	memset(address, 0, sizeof(*address));
	address->ss_family = ipv4 ? AF_INET : AF_INET6;
	memcpy((char *)address + (ipv4 ? 4 : 8), &gid->raw[ipv4 ? 12 : 0], ipv4 ? 4 : 16);
	return ipv4 ? 16 : 28;
}

/*
 * Has the kernel prefer an address that stays to a temporary one (RFC 4941), because a temporary
 * one's GID is removed with it. Without this wish an interface's `use_tempaddr` decides. The
 * numbers are those of <linux/in6.h>.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_route_prefer(int fd)
{
	const int ipproto_ipv6 = 41, ipv6_addr_preferences = 72, prefer_src_public = 2;

	(void)setsockopt(fd, ipproto_ipv6, ipv6_addr_preferences, &prefer_src_public,
			 sizeof(prefer_src_public));
}

/*
 * Asks which way leads to a GID's address, by connecting a UDP socket, which sends nothing. If
 * `from` is given, the socket is bound to it, so that its routing rules count. If it is NULL, the
 * host chooses the address. No interface is named. A link-local address would need one (EINVAL,
 * __ip6_datagram_connect(), net/ipv6/datagram.c), but on an interface any IPv4 address has a route
 * (ip_route_output_key_hash_rcu(), net/ipv4/route.c).
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_route_ask(const union ibv_gid *peer, const union ibv_gid *from,
					    struct rdmaez_impl_route *route)
{
	struct sockaddr_storage to, own;
	const socklen_t size = rdmaez_impl_route_address(peer, &to);
	const int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const bool ipv4 = to.ss_family == AF_INET;
	socklen_t length = from ? rdmaez_impl_route_address(from, &own) : sizeof(own);

	memset(route, 0, sizeof(*route));
	((char *)&to)[3] = 1; /* any port but 0 will do */
	if (fd >= 0 && !ipv4)
		rdmaez_impl_route_prefer(fd);
	if (fd < 0 || (from && bind(fd, (const struct sockaddr *)&own, length)) ||
	    connect(fd, (const struct sockaddr *)&to, size) ||
	    getsockname(fd, (struct sockaddr *)&own, &length))
		route->error = errno;
	else if (ipv4)
		memset(&route->source.raw[10], 0xff, 2);
	if (!route->error)
		memcpy(&route->source.raw[ipv4 ? 12 : 0], &((char *)&own)[ipv4 ? 4 : 8],
		       ipv4 ? 4 : 16);
	if (fd >= 0)
		rdmaez_impl_close(fd);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
