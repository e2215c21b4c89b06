/* SPDX-License-Identifier: MIT */
/* What the kernel's routing says of the way to an address. */
#ifndef RDMAEZ_IMPL_ROUTE_H
#define RDMAEZ_IMPL_ROUTE_H

#ifndef RDMAEZ_GID_H
#include "../gid.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

RDMAEZ_IMPL_BEGIN

/* The C library hides it from a program that is compiled as plain C11; most processors have this number. */
#ifdef SO_BINDTODEVICE
#define RDMAEZ_IMPL_BIND_DEVICE SO_BINDTODEVICE
#else
#define RDMAEZ_IMPL_BIND_DEVICE 25
#endif

/*
 * What came of asking: 0 and the local address that the kernel would send from; ENETUNREACH or EHOSTUNREACH where
 * no route leads there; another errno value where it could not be asked.
 */
struct rdmaez_impl_route {
	int error;
	union ibv_gid source;
};

/*
 * A GID as a struct sockaddr_in or sockaddr_in6: family, port, and the address at byte 4 or 8; of IPv6 also the
 * interface at byte 24, which the kernel reads for link-local addresses only. Returns the length.
 */
RDMAEZ_IMPL_COLD socklen_t rdmaez_impl_route_address(const union ibv_gid *gid, uint32_t ifindex,
						     struct sockaddr_storage *address)
{
	const bool ipv4 = rdmaez_gid_class(gid) == RDMAEZ_GID_CLASS_IPV4;
	char *const bytes = (char *)address;

	memset(address, 0, sizeof(*address));
	address->ss_family = ipv4 ? AF_INET : AF_INET6;
	memcpy(&bytes[ipv4 ? 4 : 8], &gid->raw[ipv4 ? 12 : 0], ipv4 ? 4 : 16);
	if (!ipv4)
		memcpy(&bytes[24], &ifindex, sizeof(ifindex));
	return ipv4 ? 16 : 28;
}

/*
 * Binds a socket to a GID's interface and address; whether it is bound to one of them at least. Before Linux 5.7
 * the interface takes privilege (sock_setbindtodevice(), net/core/sock.c); the address of a default GID need not
 * be one of the host's.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_route_bind(int fd, const struct ibv_gid_entry *from)
{
	struct sockaddr_storage own;
	const socklen_t size = rdmaez_impl_route_address(&from->gid, from->ndev_ifindex, &own);
	char name[IF_NAMESIZE] = "";
	const bool bound = if_indextoname(from->ndev_ifindex, name) &&
			   !setsockopt(fd, SOL_SOCKET, RDMAEZ_IMPL_BIND_DEVICE, name, sizeof(name));

	return !bind(fd, (const struct sockaddr *)&own, size) || bound;
}

/*
 * Has the kernel choose an address that stays over a temporary one, RFC 4941: when that is removed, its GID is as well.
 * Without the wish an interface's `use_tempaddr` decides. Numbers of <linux/in6.h>.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_route_prefer(int fd)
{
	const int ipproto_ipv6 = 41, ipv6_addr_preferences = 72, prefer_src_public = 2;

	(void)setsockopt(fd, ipproto_ipv6, ipv6_addr_preferences, &prefer_src_public,
			 sizeof(prefer_src_public));
}

/*
 * Asks which way leads to a GID's address, by connecting a UDP socket, which sends nothing: `from` NULL: the
 * host's own choice; else from this entry's interface and address. Bound to an interface, an IPv4 address without
 * a route counts as one on that interface's own segment (ip_route_output_key_hash_rcu(), net/ipv4/route.c). A
 * link-local address needs `from` (EINVAL, __ip6_datagram_connect(), net/ipv6/datagram.c).
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_route_ask(const union ibv_gid *peer,
					    const struct ibv_gid_entry *from,
					    struct rdmaez_impl_route *route)
{
	struct sockaddr_storage to, own;
	const socklen_t size = rdmaez_impl_route_address(peer, from ? from->ndev_ifindex : 0, &to);
	const int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const bool ipv4 = to.ss_family == AF_INET;
	socklen_t length = sizeof(own);

	memset(route, 0, sizeof(*route));
	memset(&own, 0, sizeof(own));
	((char *)&to)[3] = 1; /* a port, any but 0 */
	if (fd >= 0 && !ipv4)
		rdmaez_impl_route_prefer(fd);
	if (fd < 0 || (from && !rdmaez_impl_route_bind(fd, from)) ||
	    connect(fd, (const struct sockaddr *)&to, size) ||
	    getsockname(fd, (struct sockaddr *)&own, &length))
		route->error = errno;
	else if (ipv4)
		memset(&route->source.raw[10], 0xff, 2);
	if (!route->error)
		memcpy(&route->source.raw[ipv4 ? 12 : 0], &((char *)&own)[ipv4 ? 4 : 8],
		       ipv4 ? 4 : 16);
	if (fd >= 0)
		close(fd);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
