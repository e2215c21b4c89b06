/* SPDX-License-Identifier: MIT */
/* The way to the peer, as this machine's kernel knows it: route, device and GID, neighbour, MTU. */
#include "path.h"
#include "port.h"
#include "reach.h"
#include "talk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* --- Addresses -------------------------------------------------------------------------------------- */

union ibv_gid address_gid(const union socket_address *address)
{
	union ibv_gid gid;

	memset(&gid, 0, sizeof(gid));
	if (address->any.sa_family == AF_INET) {
		memset(&gid.raw[10], 0xff, 2);
		memcpy(&gid.raw[12], &address->v4.sin_addr, 4);
	} else if (address->any.sa_family == AF_INET6) {
		memcpy(gid.raw, &address->v6.sin6_addr, 16);
	}
	return gid;
}

const char *gid_text(const union ibv_gid *gid, char text[ADDRESS_TEXT])
{
	if (rdmaez_gid_class(gid) == RDMAEZ_GID_CLASS_IPV4)
		inet_ntop(AF_INET, &gid->raw[12], text, ADDRESS_TEXT);
	else
		inet_ntop(AF_INET6, gid->raw, text, ADDRESS_TEXT);
	return text;
}

const char *address_text(const union socket_address *address, char text[ADDRESS_TEXT])
{
	const union ibv_gid gid = address_gid(address);
	char netdev[IF_NAMESIZE];

	gid_text(&gid, text);
	if (address->any.sa_family == AF_INET6 && address->v6.sin6_scope_id &&
	    if_indextoname(address->v6.sin6_scope_id, netdev))
		snprintf(text + strlen(text), ADDRESS_TEXT - strlen(text), "%%%s", netdev);
	return text;
}

static bool is_same(const union ibv_gid *one, const union ibv_gid *other)
{
	return memcmp(one, other, sizeof(*one)) == 0;
}

/* --- Which device is behind an interface ------------------------------------------------------------ */

enum {
	GIDS = 256 /* that an address vector can name */
};

/* A port's GID table, asked for the first entry of an interface, and with this address if there is one. */
static int find_gid(const char *device, const char *port, const char *netdev,
		    const union ibv_gid *gid)
{
	char text[64];
	union ibv_gid entry;

	for (int i = 0; i < GIDS; i++) {
		if (doctor_read(text, sizeof(text),
				"/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs/%d", device,
				port, i) ||
		    strcmp(text, netdev) != 0)
			continue;
		if (!gid)
			return i;
		if (!doctor_read(text, sizeof(text), "/sys/class/infiniband/%s/ports/%s/gids/%d",
				 device, port, i) &&
		    inet_pton(AF_INET6, text, entry.raw) == 1 && is_same(&entry, gid))
			return i;
	}
	return -1;
}

/* IPoIB has no GIDs of its own: its device is the interface's parent, and dev_port counts the ports from 0. */
static struct rdma_port port_of_parent(const char *netdev)
{
	struct rdma_port port = {"", 1};
	struct dirent **names;
	uint64_t number;

	if (doctor_list(&names, "/sys/class/net/%s/device/infiniband", netdev) < 1)
		return port;
	snprintf(port.device, sizeof(port.device), "%.63s", names[0]->d_name);
	if (doctor_read_number(&number, "/sys/class/net/%s/dev_port", netdev))
		port.port = (unsigned int)number + 1;
	return port;
}

/* The GIDs of iWARP do not tell the interface, but the other checks find it. */
static struct rdma_port port_of_iwarp(const char *netdev)
{
	struct rdma_port found = {"", 1};
	const struct doctor_port *ports;
	const unsigned int count = doctor_ports(&ports);

	for (unsigned int i = 0; i < count && !found.device[0]; i++) {
		if (strcmp(ports[i].netdev, netdev) != 0)
			continue;
		snprintf(found.device, sizeof(found.device), "%.63s", ports[i].device);
		found.port = ports[i].num;
	}
	return found;
}

struct rdma_port path_port_of(const char *netdev)
{
	struct rdma_port found = {"", 1};
	struct dirent **devices, **ports;
	const int count = doctor_list(&devices, "/sys/class/infiniband");

	for (int i = 0; i < count; i++) {
		const char *const device = devices[i]->d_name;
		const int n = doctor_list(&ports, "/sys/class/infiniband/%s/ports", device);

		for (int j = 0; j < n; j++) {
			if (find_gid(device, ports[j]->d_name, netdev, NULL) < 0)
				continue;
			snprintf(found.device, sizeof(found.device), "%.63s", device);
			found.port = (unsigned int)atoi(ports[j]->d_name);
			return found;
		}
	}
	if (netdev[0])
		found = port_of_parent(netdev);
	return found.device[0] || !netdev[0] ? found : port_of_iwarp(netdev);
}

void path_netdev_of_port(const struct rdma_port *port, char netdev[16])
{
	const struct doctor_port *ports;
	const unsigned int count = doctor_ports(&ports);
	char text[64];

	netdev[0] = '\0';
	for (int i = 0; i < GIDS && !netdev[0]; i++)
		if (!doctor_read(text, sizeof(text),
				 "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%d",
				 port->device, port->port, i))
			snprintf(netdev, 16, "%.15s", text);
	for (unsigned int i = 0; i < count && !netdev[0]; i++)
		if (ports[i].num == port->port && strcmp(ports[i].device, port->device) == 0)
			snprintf(netdev, 16, "%.15s", ports[i].netdev);
}

void path_netdev_of(const union socket_address *address, char netdev[16])
{
	const union ibv_gid gid = address_gid(address);
	struct ifaddrs *all, *at;

	netdev[0] = '\0';
	if (getifaddrs(&all))
		return;
	for (at = all; at && !netdev[0]; at = at->ifa_next) {
		union socket_address own;
		const size_t size = !at->ifa_addr                         ? 0
				    : at->ifa_addr->sa_family == AF_INET  ? sizeof(own.v4)
				    : at->ifa_addr->sa_family == AF_INET6 ? sizeof(own.v6)
									  : 0;
		union ibv_gid other;

		if (!size)
			continue;
		memcpy(&own, at->ifa_addr, size);
		other = address_gid(&own);
		if (is_same(&other, &gid) &&
		    (rdmaez_gid_class(&gid) != RDMAEZ_GID_CLASS_LINK_LOCAL ||
		     !address->v6.sin6_scope_id ||
		     address->v6.sin6_scope_id == own.v6.sin6_scope_id))
			snprintf(netdev, 16, "%.15s", at->ifa_name);
	}
	freeifaddrs(all);
}

/* Calls this with each RDMA port and its interface. */
static void each_port(void (*take)(const struct rdma_port *port, const char *netdev))
{
	struct dirent **devices, **ports;
	const int count = doctor_list(&devices, "/sys/class/infiniband");

	for (int i = 0; i < count; i++) {
		const int n =
			doctor_list(&ports, "/sys/class/infiniband/%s/ports", devices[i]->d_name);

		for (int j = 0; j < n; j++) {
			struct rdma_port port;
			char netdev[16];

			snprintf(port.device, sizeof(port.device), "%.63s", devices[i]->d_name);
			port.port = (unsigned int)atoi(ports[j]->d_name);
			path_netdev_of_port(&port, netdev);
			if (netdev[0])
				take(&port, netdev);
		}
	}
}

static bool is_down(const char *netdev)
{
	char state[32];

	return !doctor_read(state, sizeof(state), "/sys/class/net/%s/operstate", netdev) &&
	       strstr(state, "down") != NULL;
}

static void next_up(const struct rdma_port *port, const char *netdev)
{
	(void)port;
	if (is_down(netdev))
		doctor_next("ip link set dev %s up", netdev);
}

static void next_network(const struct rdma_port *port, const char *netdev)
{
	if (!is_down(netdev))
		doctor_next("name the peer by its address on the network of %s, to which %s/%u is "
			    "attached",
			    netdev, port->device, port->port);
}

/* --- Netlink ---------------------------------------------------------------------------------------- */

/* What a question is made of: the message's head, and one attribute or two. */
struct question {
	struct nlmsghdr head;
	union {
		struct rtmsg route;
		struct ndmsg neighbour;
	} body;
	char attributes[64];
};

static void add_attribute(struct question *question, unsigned short type, const void *data,
			  size_t size)
{
	struct rtattr attribute = {.rta_len = (unsigned short)(RTA_LENGTH(0) + size),
				   .rta_type = type};
	char *const at = (char *)question + NLMSG_ALIGN(question->head.nlmsg_len);

	memcpy(at, &attribute, sizeof(attribute));
	memcpy(at + RTA_LENGTH(0), data, size);
	question->head.nlmsg_len =
		(uint32_t)(NLMSG_ALIGN(question->head.nlmsg_len) + RTA_ALIGN(attribute.rta_len));
}

/* Passes each answer to `take`; returns 0, or the errno value that the kernel answers. */
static int ask(struct question *question, void (*take)(struct nlmsghdr *answer, void *arg),
	       void *arg)
{
	const struct timeval patience = {.tv_sec = 1, .tv_usec = 0};
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	static char bytes[65536] __attribute__((aligned(8)));
	bool is_over = false;
	int error = 0;

	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (send(fd, question, question->head.nlmsg_len, 0) < 0)
		error = errno;
	while (!error && !is_over) {
		const ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
		struct nlmsghdr *at = (struct nlmsghdr *)(void *)bytes;

		if (n <= 0) {
			error = errno ? errno : EIO;
			break;
		}
		for (size_t left = (size_t)n; NLMSG_OK(at, left) && !is_over;
		     at = NLMSG_NEXT(at, left)) {
			is_over = !(at->nlmsg_flags & NLM_F_MULTI) || at->nlmsg_type == NLMSG_DONE;
			if (at->nlmsg_type == NLMSG_ERROR)
				error = -((const struct nlmsgerr *)NLMSG_DATA(at))->error;
			else if (at->nlmsg_type != NLMSG_DONE)
				take(at, arg);
		}
	}
	close(fd);
	return error;
}

/* What RTM_GETROUTE answers. */
struct route {
	union ibv_gid to, source, gateway; /* zero: none */
	unsigned int ifindex;
	unsigned char type; /* RTN_UNICAST and so on */
	char netdev[IF_NAMESIZE];
};

/* An address of an attribute as a GID. */
static void take_address(struct rtattr *attribute, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (RTA_PAYLOAD(attribute) == 4)
		memset(&gid->raw[10], 0xff, 2);
	memcpy(&gid->raw[RTA_PAYLOAD(attribute) == 4 ? 12 : 0], RTA_DATA(attribute),
	       RTA_PAYLOAD(attribute) == 4 ? 4 : 16);
}

static void take_route(struct nlmsghdr *answer, void *arg)
{
	struct rtmsg *const body = (struct rtmsg *)NLMSG_DATA(answer);
	struct rtattr *at = RTM_RTA(body);
	struct route *const route = (struct route *)arg;

	route->type = body->rtm_type;
	for (size_t left = RTM_PAYLOAD(answer); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
		if (at->rta_type == RTA_OIF)
			memcpy(&route->ifindex, RTA_DATA(at), sizeof(route->ifindex));
		else if (at->rta_type == RTA_PREFSRC)
			take_address(at, &route->source);
		else if (at->rta_type == RTA_GATEWAY)
			take_address(at, &route->gateway);
		else if (at->rta_type == RTA_VIA && RTA_PAYLOAD(at) == sizeof(sa_family_t) + 16)
			memcpy(route->gateway.raw, (const char *)RTA_DATA(at) + sizeof(sa_family_t),
			       16);
	}
}

static int ask_route(const union socket_address *to, struct route *route)
{
	const bool is_v4 = to->any.sa_family == AF_INET;
	struct question question;
	int error;

	memset(&question, 0, sizeof(question));
	memset(route, 0, sizeof(*route));
	route->to = address_gid(to);
	question.head.nlmsg_len = NLMSG_LENGTH(sizeof(question.body.route));
	question.head.nlmsg_type = RTM_GETROUTE;
	question.head.nlmsg_flags = NLM_F_REQUEST;
	question.body.route.rtm_family = (unsigned char)to->any.sa_family;
	question.body.route.rtm_dst_len = is_v4 ? 32 : 128;
	add_attribute(&question, RTA_DST, &route->to.raw[is_v4 ? 12 : 0], is_v4 ? 4 : 16);
	if (!is_v4 && to->v6.sin6_scope_id)
		add_attribute(&question, RTA_OIF, &to->v6.sin6_scope_id, 4);
	error = ask(&question, take_route, route);
	if (!error && !if_indextoname(route->ifindex, route->netdev))
		snprintf(route->netdev, sizeof(route->netdev), "#%u", route->ifindex);
	return error;
}

int path_leaves_by(const unsigned char *from, const unsigned char *to, char netdev[16])
{
	struct question question;
	struct route route;
	int error;

	memset(&question, 0, sizeof(question));
	memset(&route, 0, sizeof(route));
	question.head.nlmsg_len = NLMSG_LENGTH(sizeof(question.body.route));
	question.head.nlmsg_type = RTM_GETROUTE;
	question.head.nlmsg_flags = NLM_F_REQUEST;
	question.body.route.rtm_family = AF_INET;
	question.body.route.rtm_dst_len = question.body.route.rtm_src_len = 32;
	add_attribute(&question, RTA_DST, to, 4);
	add_attribute(&question, RTA_SRC, from, 4);
	error = ask(&question, take_route, &route);
	if (!error && route.type == RTN_LOCAL)
		return EADDRINUSE;
	return error || if_indextoname(route.ifindex, netdev) ? error : ENODEV;
}

/* What RTM_GETNEIGH answers of one neighbour. */
struct neighbour {
	union ibv_gid address;
	unsigned int ifindex;
	unsigned int state; /* NUD_ bits; 0: the kernel knows nothing of it */
	bool is_ethernet;   /* `link` is its address; IPoIB has longer ones */
	unsigned char link[6];
};

static void take_neighbour(struct nlmsghdr *answer, void *arg)
{
	struct ndmsg *const body = (struct ndmsg *)NLMSG_DATA(answer);
	struct neighbour *const neighbour = (struct neighbour *)arg;
	struct rtattr *link = NULL;
	bool is_it = false;
	/* linux/neighbour.h has no macros for these two. */
	struct rtattr *at = (struct rtattr *)(void *)((char *)body + NLMSG_ALIGN(sizeof(*body)));

	for (size_t left = NLMSG_PAYLOAD(answer, sizeof(*body)); RTA_OK(at, left);
	     at = RTA_NEXT(at, left)) {
		union ibv_gid address;

		if (at->rta_type == NDA_LLADDR && RTA_PAYLOAD(at) == sizeof(neighbour->link))
			link = at;
		if (at->rta_type != NDA_DST)
			continue;
		take_address(at, &address);
		is_it = is_same(&address, &neighbour->address) &&
			(unsigned int)body->ndm_ifindex == neighbour->ifindex;
	}
	if (!is_it)
		return;
	neighbour->state = body->ndm_state;
	neighbour->is_ethernet = link != NULL;
	if (link)
		memcpy(neighbour->link, RTA_DATA(link), sizeof(neighbour->link));
}

/* All are asked for: before Linux 5 one alone cannot be. */
static void ask_neighbour(struct neighbour *neighbour)
{
	struct question question;

	memset(&question, 0, sizeof(question));
	question.head.nlmsg_len = NLMSG_LENGTH(sizeof(question.body.neighbour));
	question.head.nlmsg_type = RTM_GETNEIGH;
	question.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	question.body.neighbour.ndm_family =
		rdmaez_gid_class(&neighbour->address) == RDMAEZ_GID_CLASS_IPV4 ? AF_INET : AF_INET6;
	neighbour->state = 0;
	ask(&question, take_neighbour, neighbour);
}

/* --- The lines about route and neighbour ------------------------------------------------------------ */

static void say_no_route(const char *peer, int error)
{
	if (error == ENETUNREACH || error == EHOSTUNREACH || error == EACCES || error == EINVAL) {
		doctor_say(DOCTOR_FAILED, "", "no route leads to %s", peer);
		doctor_evidence("RTM_GETROUTE: %s", strerror(error));
		each_port(next_up);
		doctor_next("ip route get %s", peer);
	} else {
		doctor_say(DOCTOR_NOTE, "", "the kernel does not return the route to %s", peer);
		doctor_evidence("RTM_GETROUTE: %s", strerror(error));
	}
}

/* Whether the GIDs of a port are addresses of its interface: those of InfiniBand and iWARP are not. */
static bool is_roce(const struct rdma_port *port)
{
	const struct doctor_port *ports;
	const unsigned int count = doctor_ports(&ports);

	for (unsigned int i = 0; i < count; i++)
		if (ports[i].num == port->port && strcmp(ports[i].device, port->device) == 0)
			return ports[i].roce;
	return false;
}

/* The interface of the route must be one of an RDMA device, with a GID of its address. */
static void say_device(const struct route *route, const char *peer)
{
	const struct rdma_port port = path_port_of(route->netdev);
	char subject[96], number[12], source[ADDRESS_TEXT];
	int index;

	if (!port.device[0]) {
		doctor_say(
			DOCTOR_FAILED, route->netdev,
			"the route to %s leaves here, but this interface belongs to no RDMA device",
			peer);
		each_port(next_network);
		return;
	}
	snprintf(subject, sizeof(subject), "%s/%u", port.device, port.port);
	if (!doctor_is_meant(port.device)) {
		doctor_say(DOCTOR_FAILED, subject,
			   "the route to %s leaves by %s of this device, not by %s", peer,
			   route->netdev, doctor_options.device[0]);
		doctor_next("use %s for this peer, or name the peer by its address on the network "
			    "of %s",
			    port.device, doctor_options.device[0]);
		return;
	}
	if (rdmaez_gid_is_zero(&route->source))
		return;
	if (!is_roce(&port)) {
		doctor_say(DOCTOR_OK, subject, "the route leaves by its interface %s",
			   route->netdev);
		return;
	}
	snprintf(number, sizeof(number), "%u", port.port);
	index = find_gid(port.device, number, route->netdev, &route->source);
	gid_text(&route->source, source);
	if (index >= 0) {
		doctor_say(DOCTOR_OK, subject, "GID %d is %s, from which the route leaves", index,
			   source);
		return;
	}
	doctor_say(DOCTOR_WARNING, subject, "no GID is %s, from which the route leaves", source);
	doctor_evidence("/sys/class/infiniband/%s/ports/%u/gids", port.device, port.port);
	doctor_next("rdmaez-doctor --gids %s", port.device);
}

static const char *state_text(unsigned int state)
{
	return state & NUD_REACHABLE    ? "REACHABLE"
	       : state & NUD_STALE      ? "STALE"
	       : state & NUD_DELAY      ? "DELAY"
	       : state & NUD_PROBE      ? "PROBE"
	       : state & NUD_PERMANENT  ? "PERMANENT"
	       : state & NUD_NOARP      ? "NOARP"
	       : state & NUD_FAILED     ? "FAILED"
	       : state & NUD_INCOMPLETE ? "INCOMPLETE"
					: "not known";
}

/*
 * Lets the kernel find out, for three seconds by default, what it does not know, or when it knows only that nobody
 * answered some time ago.
 */
static void find_neighbour(struct neighbour *neighbour, int udp)
{
	const uint64_t until = peer_in_ms(4000);
	bool has_sent = false;

	for (ask_neighbour(neighbour); peer_ms_left(until); ask_neighbour(neighbour)) {
		const bool is_old = (neighbour->state & NUD_FAILED) && !has_sent;

		if ((neighbour->state & ~(unsigned int)NUD_INCOMPLETE) && !is_old)
			return;
		if (!neighbour->state || is_old) {
			has_sent = send(udp, "", 1, MSG_DONTWAIT) >= 0;
			if (!has_sent && errno == ENETUNREACH)
				return;
		}
		poll(NULL, 0, 20);
	}
}

/* False: nobody answers. */
static bool say_neighbour(const struct route *route, int udp)
{
	const bool is_direct = rdmaez_gid_is_zero(&route->gateway);
	struct neighbour neighbour = {.address = is_direct ? route->to : route->gateway,
				      .ifindex = route->ifindex};
	const unsigned char *const link = neighbour.link;
	const char *const role = is_direct ? "the peer" : "the gateway";
	char text[ADDRESS_TEXT];

	gid_text(&neighbour.address, text);
	doctor_step("looking for the link-layer address of %s", text);
	find_neighbour(&neighbour, udp);
	if (neighbour.state & (NUD_FAILED | NUD_INCOMPLETE)) {
		doctor_say(DOCTOR_FAILED, route->netdev,
			   "%s, %s, does not answer ARP or neighbour discovery: nobody on the "
			   "network of %s has this address",
			   role, text, route->netdev);
		doctor_evidence("RTM_GETNEIGH: %s", state_text(neighbour.state));
		doctor_next("check that it is up, in the same subnet and VLAN: ip neighbour show "
			    "dev %s",
			    route->netdev);
		return false;
	}
	if (!neighbour.state)
		doctor_say(DOCTOR_NOTE, route->netdev, "the kernel has no neighbour %s", text);
	else if (!neighbour.is_ethernet)
		doctor_say(DOCTOR_OK, route->netdev, "%s, %s, is a neighbour (%s)", role, text,
			   state_text(neighbour.state));
	else
		doctor_say(DOCTOR_OK, route->netdev,
			   "%s, %s, is at %02x:%02x:%02x:%02x:%02x:%02x (%s)", role, text, link[0],
			   link[1], link[2], link[3], link[4], link[5],
			   state_text(neighbour.state));
	return true;
}

/* --- The MTU ---------------------------------------------------------------------------------------- */

/* A UDP socket that sends no fragments, connected to the peer; or -1. */
static int udp_to(const union socket_address *peer)
{
	const bool is_v4 = peer->any.sa_family == AF_INET;
	const int fd = socket(peer->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), whole = 2;

	setsockopt(fd, is_v4 ? IPPROTO_IP : IPPROTO_IPV6,
		   is_v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, &whole, sizeof(whole));
	if (fd < 0 || !connect(fd, &peer->any, is_v4 ? sizeof(peer->v4) : sizeof(peer->v6)))
		return fd;
	close(fd);
	return -1;
}

static unsigned int mtu_of(int udp, bool is_v4)
{
	socklen_t size = sizeof(int);
	int mtu = 0;

	if (getsockopt(udp, is_v4 ? IPPROTO_IP : IPPROTO_IPV6, is_v4 ? IP_MTU : IPV6_MTU, &mtu,
		       &size) ||
	    mtu < 0)
		return 0;
	return (unsigned int)mtu;
}

enum sent {
	SENT_SILENCE,
	SENT_ARRIVED, /* the peer's kernel answers that nobody listens there */
	SENT_TOO_BIG  /* a router or this kernel says so; the socket knows the MTU now */
};

/* What is known of the way while packets of several sizes try it. */
struct tried {
	const union socket_address *peer;
	bool is_v4;
	unsigned int patience_ms; /* for what ICMP says of one packet */
	uint64_t until;           /* when to stop */
};

enum {
	PATIENCE_MS = 200,
	GREAT_PATIENCE_MS = 1500,
	SIZES_MS =
		7000 /* for all packets: the check has 12 s, of which the neighbour may take four */
};

/*
 * Sends a datagram that makes up an IP packet of so many bytes, and waits for what ICMP says. Its socket is its own: an
 * answer to another packet, which comes late, has the port of that one.
 */
static enum sent send_one(const struct tried *tried, unsigned int bytes)
{
	static const char zeros[65536] = {0};
	const size_t length = bytes - (tried->is_v4 ? 28 : 48);
	struct pollfd ready = {.fd = udp_to(tried->peer), .events = POLLIN, .revents = 0};
	const uint64_t until = peer_in_ms(tried->patience_ms);
	socklen_t size = sizeof(int);
	int error = 0;

	if (ready.fd < 0)
		return SENT_SILENCE;
	error = send(ready.fd, zeros, length, 0) < 0 ? errno : 0;
	if (!error && poll(&ready, 1, peer_ms_left(until)) > 0)
		getsockopt(ready.fd, SOL_SOCKET, SO_ERROR, &error, &size);
	close(ready.fd);
	return error == ECONNREFUSED ? SENT_ARRIVED
	       : error == EMSGSIZE   ? SENT_TOO_BIG
				     : SENT_SILENCE;
}

/* The same twice, since any packet may be lost. */
static enum sent send_packet(const struct tried *tried, unsigned int bytes)
{
	const enum sent sent = send_one(tried, bytes);

	return sent == SENT_SILENCE && peer_ms_left(tried->until) ? send_one(tried, bytes) : sent;
}

/* Whether a small packet arrives. How long its answer takes is how long to wait for the others. */
static bool does_small_arrive(struct tried *tried)
{
	const uint64_t begin = peer_in_ms(0);
	uint64_t ms;

	tried->patience_ms = GREAT_PATIENCE_MS;
	if (send_one(tried, 576) != SENT_ARRIVED)
		return false;
	ms = 2 * (peer_in_ms(0) - begin) / 1000000;
	tried->patience_ms = ms < PATIENCE_MS         ? PATIENCE_MS
			     : ms < GREAT_PATIENCE_MS ? (unsigned int)ms
						      : GREAT_PATIENCE_MS;
	return true;
}

/* A packet of RoCE v2 is longer than its data, by 96 bytes at most: iboe_get_mtu() of Linux. */
static unsigned int greatest_that_arrives(const struct tried *tried, unsigned int below)
{
	static const unsigned int sizes[] = {8192, 4192, 2144, 1500, 1280, 1024};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && peer_ms_left(tried->until); i++)
		if (sizes[i] < below && send_packet(tried, sizes[i]) == SENT_ARRIVED)
			return sizes[i];
	return 576;
}

/*
 * Whether packets of this size get lost and smaller ones do not: the largest that arrives; 0: they arrive; 1: none does.
 * What was silent is tried again once it is known how long an answer takes.
 */
static unsigned int is_too_large(struct tried *tried, unsigned int bytes, enum sent sent)
{
	if (sent == SENT_ARRIVED)
		return 0;
	if (!does_small_arrive(tried))
		return 1;
	for (int i = 0; i < 2; i++)
		if (send_packet(tried, bytes) == SENT_ARRIVED)
			return 0;
	return greatest_that_arrives(tried, bytes);
}

/* Sends packets of this MTU, which the kernel makes smaller where it knows better. */
static enum sent send_largest(struct tried *tried, const char *peer, int udp, unsigned int *mtu)
{
	enum sent sent = SENT_TOO_BIG;

	for (int i = 0; i < 4 && sent == SENT_TOO_BIG; i++) {
		doctor_step("sending %u bytes to %s by UDP", *mtu, peer);
		sent = send_packet(tried, *mtu);
		if (sent == SENT_TOO_BIG)
			*mtu = mtu_of(udp, tried->is_v4);
	}
	return sent;
}

static void say_mtu(const struct route *route, const char *peer, int udp,
		    const union socket_address *address)
{
	struct tried tried = {address, address->any.sa_family == AF_INET, PATIENCE_MS,
			      peer_in_ms(SIZES_MS)};
	unsigned int mtu = mtu_of(udp, tried.is_v4), largest;
	enum sent sent;
	uint64_t own = 0;

	doctor_read_number(&own, "/sys/class/net/%s/mtu", route->netdev);
	if (mtu < 576 || mtu > 65535 || !own)
		return;
	sent = send_largest(&tried, peer, udp, &mtu);
	if (mtu < own) {
		doctor_say(DOCTOR_WARNING, route->netdev,
			   "the MTU is %u, but that of the way to %s is only %u", (unsigned int)own,
			   peer, mtu);
		doctor_evidence("IP_MTU");
		doctor_next("run ip route get %s, and check the MTU of the interfaces on the way",
			    peer);
		return;
	}
	largest = is_too_large(&tried, mtu, sent);
	if (!largest) {
		doctor_say(DOCTOR_OK, route->netdev,
			   "packets as large as the MTU, %u bytes, reach %s", mtu, peer);
	} else if (largest == 1) {
		doctor_say(DOCTOR_OK, route->netdev,
			   "the MTU is %u; the peer does not answer datagrams, so the MTU of the "
			   "way is not known",
			   mtu);
	} else {
		doctor_say(DOCTOR_WARNING, route->netdev,
			   "packets as large as the MTU, %u bytes, get lost on the way to %s, and "
			   "no router reports it",
			   mtu, peer);
		doctor_evidence("by UDP; packets of %u bytes arrive", largest);
		doctor_next("raise the MTU of the peer's interface and of the switch ports on the "
			    "way to %u, or lower it at both ends: ip link set dev %s mtu %u",
			    mtu, route->netdev, largest);
	}
}

/* --- The check -------------------------------------------------------------------------------------- */

/* The first address that the name has. */
static bool first_address(const struct peer_name *name, union socket_address *address)
{
	struct addrinfo *const found = peer_look_up(name);

	memset(address, 0, sizeof(*address));
	if (!found)
		return false;
	memcpy(address, found->ai_addr,
	       found->ai_addrlen < sizeof(*address) ? found->ai_addrlen : sizeof(*address));
	freeaddrinfo(found);
	return true;
}

void doctor_check_path(void)
{
	char peer[ADDRESS_TEXT], source[ADDRESS_TEXT], gateway[ADDRESS_TEXT + 8] = "";
	union socket_address address;
	struct peer_name name;
	struct route route;
	int error, udp;

	peer_parse(doctor_options.peer, &name); /* or the command line was refused */
	if (!first_address(&name, &address))
		return;
	address_text(&address, peer);
	error = ask_route(&address, &route);
	if (error || route.type == RTN_UNREACHABLE || route.type == RTN_BLACKHOLE ||
	    route.type == RTN_PROHIBIT) {
		say_no_route(peer, error ? error : EHOSTUNREACH);
		return;
	}
	if (route.type == RTN_LOCAL) {
		doctor_say(DOCTOR_NOTE, "", "%s is this machine: nothing goes over the network",
			   peer);
		return;
	}
	if (!rdmaez_gid_is_zero(&route.gateway))
		snprintf(gateway, sizeof(gateway), ", via %s", gid_text(&route.gateway, source));
	doctor_say(DOCTOR_OK, route.netdev, "the route to %s leaves here, from %s%s", peer,
		   gid_text(&route.source, source), gateway);
	say_device(&route, peer);
	udp = udp_to(&address);
	if (udp >= 0 && say_neighbour(&route, udp))
		say_mtu(&route, peer, udp, &address);
}
