/* SPDX-License-Identifier: MIT */
/* What the kernel's routing says of the way to an address. */
#ifndef RDMAEZ_IMPL_ROUTE_H
#define RDMAEZ_IMPL_ROUTE_H

#ifndef RDMAEZ_GID_H
#include "../gid.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <sys/socket.h>
#include <unistd.h>

RDMAEZ_IMPL_BEGIN

/*
 * What came of asking: 0 and the local address that the kernel would send from; ENETUNREACH or EHOSTUNREACH where
 * no route leads there; another errno value where it could not be asked.
 */
struct rdmaez_impl_route {
	int error;
	union ibv_gid source;
};

/* A GID as a struct sockaddr_in or sockaddr_in6: family, port, and the address at byte 4 or 8. Returns the length. */
RDMAEZ_IMPL_COLD socklen_t rdmaez_impl_route_address(const union ibv_gid *gid,
						     struct sockaddr_storage *address)
{
	const bool ipv4 = rdmaez_gid_class(gid) == RDMAEZ_GID_CLASS_IPV4;

	memset(address, 0, sizeof(*address));
	address->ss_family = ipv4 ? AF_INET : AF_INET6;
	memcpy((char *)address + (ipv4 ? 4 : 8), &gid->raw[ipv4 ? 12 : 0], ipv4 ? 4 : 16);
	return ipv4 ? 16 : 28;
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
 * Asks which way leads to a GID's address, by connecting a UDP socket, which sends nothing: from this address, so that
 * its routing rules count; NULL: from the one that the host chooses. A link-local address would take an interface
 * (EINVAL, __ip6_datagram_connect(), net/ipv6/datagram.c), and on an interface any IPv4 address has a route
 * (ip_route_output_key_hash_rcu(), net/ipv4/route.c), so none is named.
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
	((char *)&to)[3] = 1; /* a port, any but 0 */
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
		close(fd);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
