/* SPDX-License-Identifier: MIT */
/* A second doctor at the peer: its name, its addresses, and a connection with it. */
#include "reach.h"

#include <rdmaez.h>

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	CONNECT_MS = 4000 /* for TCP; the kernel looks three seconds for a neighbour */
};

bool peer_parse(const char *text, struct peer_name *name)
{
	const char *colon = strrchr(text, ':'), *host = text;
	size_t length = strlen(text);
	unsigned int port = PEER_PORT;
	char rest;

	if (text[0] == '[') {
		const char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return false;
		host = text + 1;
		length = (size_t)(end - host);
		colon = end[1] ? end + 1 : NULL;
	} else if (colon && strchr(text, ':') != colon) {
		colon = NULL; /* an IPv6 address */
	} else if (colon) {
		length = (size_t)(colon - text);
	}
	if (colon && (sscanf(colon + 1, "%5u%c", &port, &rest) != 1 || !port || port > 65535))
		return false;
	if (!length || length >= sizeof(name->host))
		return false;
	memcpy(name->host, host, length);
	name->host[length] = '\0';
	snprintf(name->port, sizeof(name->port), "%u", port);
	return true;
}

unsigned int resent(int tcp)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);

	memset(&info, 0, sizeof(info));
	getsockopt(tcp, IPPROTO_TCP, TCP_INFO, &info, &size);
	return info.tcpi_total_retrans;
}

uint64_t way_ns(int tcp)
{
	/* <netinet/tcp.h> has less than the kernel's struct tcp_info, which <linux/tcp.h> has and does not go with it. */
	struct {
		struct tcp_info known;
		uint64_t rates_and_bytes[4];
		uint32_t segments_out, segments_in, unsent, min_rtt_us;
	} info;
	socklen_t size = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (getsockopt(tcp, IPPROTO_TCP, TCP_INFO, &info, &size))
		return 0;
	if (size == sizeof(info) && info.min_rtt_us && info.min_rtt_us != UINT32_MAX)
		return info.min_rtt_us * UINT64_C(1000);
	return info.known.tcpi_rtt * UINT64_C(1000);
}

void keep_small(int tcp)
{
	const int segment = 536, yes = 1;

	setsockopt(tcp, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment));
	setsockopt(tcp, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

/* Connects to one of the addresses; returns the socket, or -1 with errno. */
static int connect_to(const struct addrinfo *to)
{
	const int tcp = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd ready = {.fd = tcp, .events = POLLOUT, .revents = 0};
	socklen_t size = sizeof(int);
	int error = 0;

	if (tcp < 0)
		return -1;
	keep_small(tcp);
	if (connect(tcp, to->ai_addr, to->ai_addrlen))
		error = errno;
	if (error == EINPROGRESS) {
		error = ETIMEDOUT;
		if (poll(&ready, 1, CONNECT_MS) > 0)
			getsockopt(tcp, SOL_SOCKET, SO_ERROR, &error, &size);
	}
	if (!error)
		return tcp;
	close(tcp);
	errno = error;
	return -1;
}

static void say_unreached(const struct peer_name *name, int error)
{
	const char *const host = name->host, *const port = name->port;

	if (error == ECONNREFUSED)
		doctor_say(DOCTOR_FAILED, "", "%s refuses TCP port %s: nobody listens there", host,
			   port);
	else if (error == ETIMEDOUT)
		doctor_say(DOCTOR_FAILED, "", "%s does not answer on TCP port %s within %d s", host,
			   port, CONNECT_MS / 1000);
	else if (error == EHOSTUNREACH)
		doctor_say(DOCTOR_FAILED, "", "%s cannot be reached by TCP: nobody has its address",
			   host);
	else if (error == ENETUNREACH)
		doctor_say(DOCTOR_FAILED, "", "%s cannot be reached by TCP: no route leads there",
			   host);
	else
		doctor_say(DOCTOR_FAILED, "", "%s cannot be reached by TCP: %s", host,
			   strerror(error));
	doctor_evidence("connect(): %s", rdmaez_errno_str(error));
	if (error == ECONNREFUSED)
		doctor_next("on %s: rdmaez-doctor --listen %s", host, port);
	else if (error == ETIMEDOUT)
		doctor_next("check that it is up: ping %s; and that no firewall drops TCP port %s",
			    host, port);
	else if (error == EHOSTUNREACH)
		doctor_next("check that it is up, in the same subnet and VLAN: ip neighbour show");
	else
		doctor_next("ip route get %s", host);
}

struct addrinfo *peer_look_up(const struct peer_name *name)
{
	struct addrinfo hints, *found;
	int error;

	memset(&hints, 0, sizeof(hints));
	hints.ai_socktype = SOCK_STREAM;
	doctor_step("looking up %s", name->host);
	error = getaddrinfo(name->host, name->port, &hints, &found);
	if (!error)
		return found;
	doctor_say(DOCTOR_FAILED, "", "%s is not found: %s", name->host, gai_strerror(error));
	doctor_next("getent ahosts %s", name->host);
	return NULL;
}

int peer_reach(const struct peer_name *name)
{
	struct addrinfo *const found = peer_look_up(name);
	int tcp = -1, error = 0;

	if (!found)
		return -1;
	for (const struct addrinfo *at = found; at && tcp < 0; at = at->ai_next) {
		doctor_step("connecting to %s port %s by TCP", name->host, name->port);
		tcp = connect_to(at);
		error = errno;
	}
	freeaddrinfo(found);
	if (tcp < 0)
		say_unreached(name, error);
	return tcp;
}
