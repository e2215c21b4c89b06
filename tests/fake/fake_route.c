/* SPDX-License-Identifier: MIT */
/*
 * Routes and interfaces of the host, in place of the C library's functions for UDP sockets, so that
 * nothing depends on the network. One such socket is known at a time, and more as members of IP groups; under each lies
 * one of Unix.
 */
#define _DEFAULT_SOURCE     /* struct group_req */
#define _XOPEN_SOURCE   700 /* S_ISSOCK; not _GNU_SOURCE, with which these functions take unions */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "fake_internal.h"

#ifndef IPV6_ADDR_PREFERENCES
#define IPV6_ADDR_PREFERENCES 72
#endif
#define NETDEVS 16
#define MEMBERS 16
#ifndef MCAST_JOIN_GROUP
#define MCAST_JOIN_GROUP 42
#endif

long syscall(long number, ...);

static int route_errno;
static int bind_errno;
static struct sockaddr_storage local; /* family 0: not told */
static struct sockaddr_storage ruled; /* family 0: no rule */
/* Of each thread, as its sockets. */
static _Thread_local struct fake_route_question last, now;
static _Thread_local ino_t now_inode; /* the number of a closed socket is soon another's */
static unsigned int asked;
static struct {
	unsigned int ifindex;
	char name[IF_NAMESIZE];
} netdevs[NETDEVS];
static int member_errno;
static struct {
	int fd;
	ino_t inode;          /* 0: free */
	unsigned int ifindex; /* 0: not a member yet */
	struct sockaddr_storage group;
} members[MEMBERS];

void fake_route_reset(void)
{
	member_errno = 0;
	memset(members, 0, sizeof(members));
	fake_route(0);
	fake_route_from(NULL);
	fake_route_rule(NULL);
	fake_route_bind(0);
	memset(netdevs, 0, sizeof(netdevs));
	fake_netdev(1, "lo");
	asked = 0;
}

void fake_route(int error)
{
	route_errno = error;
	memset(&last, 0, sizeof(last));
}

static void read_address(const char *address, struct sockaddr_storage *into)
{
	struct sockaddr_in *const four = (struct sockaddr_in *)(void *)into;
	struct sockaddr_in6 *const six = (struct sockaddr_in6 *)(void *)into;

	memset(into, 0, sizeof(*into));
	/* musl's inet_pton() also writes what it then refuses. */
	if (address && strchr(address, ':') && inet_pton(AF_INET6, address, &six->sin6_addr) == 1)
		into->ss_family = AF_INET6;
	else if (address && inet_pton(AF_INET, address, &four->sin_addr) == 1)
		into->ss_family = AF_INET;
	else if (address)
		abort();
}

void fake_route_from(const char *address)
{
	read_address(address, &local);
}

void fake_route_rule(const char *address)
{
	read_address(address, &ruled);
}

void fake_route_bind(int error)
{
	bind_errno = error;
}

void fake_netdev(unsigned int ifindex, const char *name)
{
	size_t i = 0;

	while (netdevs[i].ifindex && netdevs[i].ifindex != ifindex)
		if (++i == NETDEVS)
			abort();
	netdevs[i].ifindex = ifindex;
	snprintf(netdevs[i].name, sizeof(netdevs[i].name), "%s", name);
}

const struct sockaddr_storage *fake_routed(void)
{
	return &last.peer;
}

const struct fake_route_question *fake_route_asked(void)
{
	return &last;
}

unsigned int fake_route_count(void)
{
	return asked;
}

static bool is_ip(const struct sockaddr *address, socklen_t length)
{
	return (address->sa_family == AF_INET && length == sizeof(struct sockaddr_in)) ||
	       (address->sa_family == AF_INET6 && length == sizeof(struct sockaddr_in6));
}

static bool is_ours(int fd)
{
	struct stat file;

	return !fstat(fd, &file) && S_ISSOCK(file.st_mode) && file.st_ino == now_inode;
}

/* Whether a member's socket is still open; the number of a closed one is soon another's. */
static bool is_open(size_t i)
{
	struct stat file;

	return members[i].inode && !fstat(members[i].fd, &file) && S_ISSOCK(file.st_mode) &&
	       file.st_ino == members[i].inode;
}

unsigned int fake_member(const char *group)
{
	struct sockaddr_storage wanted;

	read_address(group, &wanted);
	for (size_t i = 0; i < MEMBERS; i++)
		if (is_open(i) && !memcmp(&members[i].group, &wanted, sizeof(wanted)))
			return members[i].ifindex;
	return 0;
}

unsigned int fake_member_count(void)
{
	unsigned int count = 0;

	for (size_t i = 0; i < MEMBERS; i++)
		count += is_open(i) && members[i].ifindex;
	return count;
}

void fake_member_fail(int error)
{
	member_errno = error;
}

static bool is_netdev(unsigned int ifindex)
{
	for (size_t i = 0; ifindex && i < NETDEVS; i++)
		if (netdevs[i].ifindex == ifindex)
			return true;
	return false;
}

/* ip_mc_join_group(), ipv6_sock_mc_join(): the errno value. */
static int join(int fd, int level, const struct group_req *request)
{
	const struct sockaddr_in *const four = (const struct sockaddr_in *)&request->gr_group;
	const struct sockaddr_in6 *const six = (const struct sockaddr_in6 *)&request->gr_group;
	size_t i = 0;

	if ((level == IPPROTO_IPV6) != (now.family == AF_INET6))
		return ENOPROTOOPT;
	if (request->gr_group.ss_family != now.family)
		return level == IPPROTO_IPV6 ? EADDRNOTAVAIL : EINVAL;
	if (level == IPPROTO_IPV6 ? !IN6_IS_ADDR_MULTICAST(&six->sin6_addr)
				  : !IN_MULTICAST(ntohl(four->sin_addr.s_addr)))
		return EINVAL;
	if (member_errno)
		return member_errno;
	if (!is_netdev(request->gr_interface))
		return ENODEV;
	while (is_open(i))
		if (++i == MEMBERS)
			abort();
	members[i].fd = fd;
	members[i].inode = now_inode;
	members[i].ifindex = request->gr_interface;
	members[i].group = request->gr_group;
	return 0;
}

static int done(int error)
{
	if (error)
		errno = error;
	return error ? -1 : 0;
}

/* ---- In place of the C library ------------------------------------------------------------ */

int socket(int family, int type, int protocol)
{
	const bool ip =
		(type & ~SOCK_CLOEXEC) == SOCK_DGRAM && (family == AF_INET || family == AF_INET6);
	const int fd = (int)syscall(SYS_socket, ip ? AF_UNIX : family, type, protocol);
	struct stat file;

	if (ip && !fstat(fd, &file)) {
		memset(&now, 0, sizeof(now));
		now.family = family;
		now.flags = type;
		now_inode = file.st_ino;
	}
	return fd;
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
	if (!is_ours(fd))
		return (int)syscall(SYS_setsockopt, fd, level, option, value, length);
	if (option == MCAST_JOIN_GROUP && length == sizeof(struct group_req)) {
		struct group_req request;

		memcpy(&request, value, sizeof(request));
		return done(join(fd, level, &request));
	}
	if (level != IPPROTO_IPV6 || option != IPV6_ADDR_PREFERENCES ||
	    length != sizeof(now.preferences))
		return done(ENOPROTOOPT);
	memcpy(&now.preferences, value, length);
	return 0;
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
	if (!is_ours(fd))
		return (int)syscall(SYS_bind, fd, address, length);
	if (address->sa_family != now.family || !is_ip(address, length))
		return done(EINVAL);
	if (!bind_errno)
		memcpy(&now.bound, address, length);
	return done(bind_errno);
}

/* A link-local address takes an interface: __ip6_datagram_connect() in net/ipv6/datagram.c. */
static bool lacks_netdev(const struct sockaddr_storage *peer)
{
	const struct sockaddr_in6 *const six = (const struct sockaddr_in6 *)(const void *)peer;

	return six->sin6_family == AF_INET6 && !six->sin6_scope_id &&
	       (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) ||
		IN6_IS_ADDR_MC_LINKLOCAL(&six->sin6_addr) ||
		IN6_IS_ADDR_MC_NODELOCAL(&six->sin6_addr));
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	if (fd >= 0 && !is_ours(fd))
		return (int)syscall(SYS_connect, fd, address, length);
	if (!is_ip(address, length) || (fd >= 0 && address->sa_family != now.family))
		return done(EAFNOSUPPORT);
	memcpy(&now.peer, address, length);
	last = now;
	asked++;
	if (fd < 0)
		return done(EBADF);
	if (lacks_netdev(&now.peer))
		return done(EINVAL);
	if (ruled.ss_family && !memcmp(&ruled, &now.bound, sizeof(ruled)))
		return 0;
	return done(route_errno);
}

/* A socket has the address that it is bound to, or the route's; its port is of no interest. */
int getsockname(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
	const struct sockaddr_storage *const own = now.bound.ss_family ? &now.bound : &local;
	const socklen_t size =
		now.family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);

	if (!is_ours(fd))
		return (int)syscall(SYS_getsockname, fd, address, length);
	if (own->ss_family != now.family)
		return done(ENOBUFS);
	memcpy(address, own, size < *length ? size : *length);
	*length = size;
	return 0;
}

char *if_indextoname(unsigned int ifindex, char name[IF_NAMESIZE])
{
	for (size_t i = 0; ifindex && i < NETDEVS; i++)
		if (netdevs[i].ifindex == ifindex)
			return (char *)memcpy(name, netdevs[i].name, sizeof(netdevs[i].name));
	errno = ENXIO;
	return NULL;
}
