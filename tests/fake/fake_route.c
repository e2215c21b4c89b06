/* SPDX-License-Identifier: MIT */
/* Routes of the host, in place of the C library's connect(), so that nothing depends on the network. */
#include <netinet/in.h>
#include <sys/socket.h>
#include "fake_internal.h"

static int route_errno;
static struct sockaddr_storage asked;

void fake_route(int error)
{
	route_errno = error;
	memset(&asked, 0, sizeof(asked));
}

const struct sockaddr_storage *fake_routed(void)
{
	return &asked;
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	const bool is_ip =
		(address->sa_family == AF_INET && length == sizeof(struct sockaddr_in)) ||
		(address->sa_family == AF_INET6 && length == sizeof(struct sockaddr_in6));

	if (is_ip)
		memcpy(&asked, address, length);
	errno = is_ip ? route_errno : EAFNOSUPPORT;
	return fd >= 0 && !errno ? 0 : -1;
}
