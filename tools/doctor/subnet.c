/* SPDX-License-Identifier: MIT */
/*
 * Several interfaces of RDMA ports on one machine: how Linux answers ARP for their addresses, and which packets it takes.
 * Adapters send and receive RoCE packets by themselves, but the kernel finds the peer's address for them.
 */
#include "path.h"
#include "port.h"

#include <linux/if.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	RAILS_MAX = 64,
	ADDRESSES_MAX = 1024,
	ADDRESSES_TRIED = 16
};

static const char *rails[RAILS_MAX];
static unsigned int rail_count;

/* An interface may be that of several devices. */
static void find_rails(void)
{
	const struct doctor_port *ports;
	unsigned int i, k, count = doctor_ports(&ports);

	for (i = 0; i < count; i++) {
		if (!ports[i].roce || !ports[i].netdev_here)
			continue;
		for (k = 0; k < rail_count && strcmp(rails[k], ports[i].netdev) != 0; k++)
			;
		if (k == rail_count && rail_count < RAILS_MAX)
			rails[rail_count++] = ports[i].netdev;
	}
}

/* --- ARP ----------------------------------------------------------------------------------------------- */

static void look_for_noarp(const char *netdev)
{
	uint64_t flags = 0, type = 0;

	if (!doctor_read_number(&flags, "/sys/class/net/%s/flags", netdev) ||
	    !doctor_read_number(&type, "/sys/class/net/%s/type", netdev) || type != 1 ||
	    !(flags & IFF_NOARP))
		return;
	doctor_say(DOCTOR_WARNING, netdev,
		   "ARP is off: this end finds only peers with a permanent entry, and peers that "
		   "ask for it get no answer");
	doctor_evidence("/sys/class/net/%s/flags: 0x%jx, with IFF_NOARP", netdev, flags);
	doctor_next("ip link set dev %s arp on", netdev);
}

/* --- One subnet ------------------------------------------------------------------------------------------ */

/* The kernel takes the greater of what is set for all interfaces and for this one; -1: it cannot be read. */
static int setting(const char *netdev, const char *name)
{
	uint64_t all = 0, own = 0;

	if (!doctor_read_number(&all, "/proc/sys/net/ipv4/conf/all/%s", name) ||
	    !doctor_read_number(&own, "/proc/sys/net/ipv4/conf/%s/%s", netdev, name))
		return -1;
	return (int)(all > own ? all : own);
}

/* A line of /proc/net/route, which has addresses as numbers of the host's byte order. */
struct connected {
	char netdev[IF_NAMESIZE];
	uint32_t destination, mask;
};

static unsigned int read_routes(struct connected *routes, unsigned int most)
{
	static char text[65536];
	unsigned int gateway, destination, mask, count = 0;
	char *line, *rest = text;
	char netdev[IF_NAMESIZE];

	doctor_read_all(text, sizeof(text), "/proc/net/route");
	while (count < most && (line = strsep(&rest, "\n")) != NULL) {
		if (sscanf(line, "%15s %8x %8x %*x %*d %*d %*d %8x", netdev, &destination, &gateway,
			   &mask) != 4 ||
		    gateway || !mask)
			continue;
		snprintf(routes[count].netdev, sizeof(routes[count].netdev), "%s", netdev);
		routes[count].destination = destination;
		routes[count++].mask = mask;
	}
	return count;
}

/* The subnet that both are in; false: there is none. */
static bool share(const struct connected *routes, unsigned int count, const char *a, const char *b,
		  char *text, size_t size)
{
	char address[INET_ADDRSTRLEN];
	unsigned int i, k;

	for (i = 0; i < count; i++) {
		for (k = 0; k < count; k++) {
			if (strcmp(routes[i].netdev, a) != 0 || strcmp(routes[k].netdev, b) != 0 ||
			    routes[i].destination != routes[k].destination ||
			    routes[i].mask != routes[k].mask)
				continue;
			inet_ntop(AF_INET, &routes[i].destination, address, sizeof(address));
			snprintf(text, size, "%s/%d", address, __builtin_popcount(routes[i].mask));
			return true;
		}
	}
	return false;
}

/* --- Routes from an address -------------------------------------------------------------------------------- */

/* An interface's IPv4 address that is a GID, and another address of its subnet, which need not be anybody's. */
struct way {
	unsigned char from[4], to[4];
	char text[INET_ADDRSTRLEN], subnet[INET_ADDRSTRLEN + 4];
};

static bool has_ipv4_gid(const char *netdev, unsigned char address[4])
{
	const struct doctor_port *ports;
	unsigned int i, count = doctor_ports(&ports);
	char of[IF_NAMESIZE], gid[40];
	struct dirent **names;
	struct in6_addr raw;
	int k, n;

	for (i = 0; i < count; i++) {
		n = doctor_list(&names, "/sys/class/infiniband/%s/ports/%u/gids", ports[i].device,
				ports[i].num);
		for (k = 0; k < n; k++) {
			if (doctor_read(of, sizeof(of),
					"/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%s",
					ports[i].device, ports[i].num, names[k]->d_name) ||
			    strcmp(of, netdev) != 0 ||
			    doctor_read(gid, sizeof(gid),
					"/sys/class/infiniband/%s/ports/%u/gids/%s",
					ports[i].device, ports[i].num, names[k]->d_name) ||
			    inet_pton(AF_INET6, gid, &raw) != 1 || !IN6_IS_ADDR_V4MAPPED(&raw))
				continue;
			memcpy(address, raw.s6_addr + 12, 4);
			return true;
		}
	}
	return false;
}

static bool find_way(struct way *way, const struct connected *routes, unsigned int count,
		     const char *netdev)
{
	char network[INET_ADDRSTRLEN], by[IF_NAMESIZE];
	uint32_t own, to, last;
	unsigned int i;

	if (!has_ipv4_gid(netdev, way->from))
		return false;
	memcpy(&own, way->from, 4);
	for (i = 0; i < count; i++)
		if (strcmp(routes[i].netdev, netdev) == 0 &&
		    (own & routes[i].mask) == routes[i].destination)
			break;
	if (i == count || ~ntohl(routes[i].mask) < 3)
		return false;
	/* From the last one down: what is this machine's is no peer. */
	last = ntohl(routes[i].destination | ~routes[i].mask);
	for (unsigned int less = 1; less < ADDRESSES_TRIED; less++) {
		to = htonl(last - less);
		memcpy(way->to, &to, 4);
		if (to == routes[i].destination)
			return false;
		if (path_leaves_by(way->from, way->to, by) != EADDRINUSE)
			break;
	}
	inet_ntop(AF_INET, way->from, way->text, sizeof(way->text));
	inet_ntop(AF_INET, &routes[i].destination, network, sizeof(network));
	snprintf(way->subnet, sizeof(way->subnet), "%s/%d", network,
		 __builtin_popcount(routes[i].mask));
	return true;
}

static void next_rule(const struct way *way)
{
	char to[INET_ADDRSTRLEN];

	doctor_next("ip rule show; ip route get %s from %s",
		    inet_ntop(AF_INET, way->to, to, sizeof(to)), way->text);
}

/*
 * Rules of routing (ip rule) come before the routes. TCP, by which programs exchange what they need, asks with the
 * address alone. RoCE also names the interface of its GID, and then a route that does not fit counts as none, and Linux
 * takes the peer to be on the link: ip_route_output_key_hash_rcu().
 */
static void look_at_rules(const struct connected *routes, unsigned int count, const char *netdev)
{
	char by[IF_NAMESIZE], subnet[INET_ADDRSTRLEN + 4];
	struct way way;
	int error;

	if (doctor_options.root || !find_way(&way, routes, count, netdev))
		return;
	error = path_leaves_by(way.from, way.to, by);
	if (error == EACCES || error == EHOSTUNREACH || error == ENETUNREACH || error == EINVAL) {
		doctor_say(DOCTOR_WARNING, netdev,
			   "a rule of routing forbids what leaves from %s to its own subnet, %s: "
			   "TCP, by which programs connect, reaches no peer there, even if RoCE "
			   "does",
			   way.text, way.subnet);
		doctor_evidence("RTM_GETROUTE from %s: %s", way.text, strerror(error));
		next_rule(&way);
		return;
	}
	if (error || strcmp(by, netdev) == 0 ||
	    share(routes, count, netdev, by, subnet, sizeof(subnet)))
		return;
	doctor_say(DOCTOR_WARNING, netdev,
		   "what leaves from %s to its own subnet, %s, takes %s, by a rule of routing or "
		   "another route: TCP, by which programs connect, and RoCE take different ways",
		   way.text, way.subnet, by);
	doctor_evidence("RTM_GETROUTE from %s: %s", way.text, by);
	next_rule(&way);
}

/* --- A pair of interfaces -------------------------------------------------------------------------------- */

static void look_at_filter(const struct connected *routes, unsigned int count, const char *both,
			   const char *netdev, const char *subnet)
{
	char by[IF_NAMESIZE];
	struct way way;

	if (doctor_options.root || !find_way(&way, routes, count, netdev) ||
	    path_leaves_by(way.from, way.to, by) || strcmp(by, netdev) == 0)
		return;
	doctor_say(DOCTOR_WARNING, both,
		   "both are in %s, and with arp_filter %s answers ARP for %s of %s, because the "
		   "route back leaves there: peers send to the wrong port",
		   subnet, by, way.text, netdev);
	doctor_evidence("RTM_GETROUTE from %s: %s", way.text, by);
	doctor_next("ip route add %s dev %s src %s table 100; ip rule add from %s lookup 100",
		    way.subnet, netdev, way.text, way.text);
}

static void look_at_pair(const struct connected *routes, unsigned int count, const char *a,
			 const char *b, const char *subnet)
{
	const int ignore_a = setting(a, "arp_ignore"), ignore_b = setting(b, "arp_ignore");
	const int filter_a = setting(a, "rp_filter"), filter_b = setting(b, "rp_filter");
	const bool by_route = setting(a, "arp_filter") == 1 && setting(b, "arp_filter") == 1;
	char both[2 * IF_NAMESIZE + 2];

	snprintf(both, sizeof(both), "%s, %s", a, b);
	if (filter_a == 1 || filter_b == 1) {
		doctor_say(DOCTOR_WARNING, both,
			   "both are in %s, and the reverse path filter is strict: the kernel "
			   "drops what arrives at the one that the route back does not take",
			   subnet);
		doctor_evidence("rp_filter: %s %d, %s %d; /proc/net/route", a, filter_a, b,
				filter_b);
		doctor_next(
			"sysctl -w net.ipv4.conf.all.rp_filter=2, or a subnet for each interface");
	}
	if ((ignore_a == 0 || ignore_b == 0) && by_route) {
		doctor_say(DOCTOR_NOTE, both,
			   "both are in %s, and arp_filter lets each answer ARP as the routes go",
			   subnet);
		doctor_evidence("arp_filter: %s 1, %s 1", a, b);
		look_at_filter(routes, count, both, a, subnet);
		look_at_filter(routes, count, both, b, subnet);
	} else if (ignore_a == 0 || ignore_b == 0) {
		doctor_say(DOCTOR_WARNING, both,
			   "both are in %s, and each answers ARP for the addresses of the other: "
			   "peers "
			   "may send to the wrong port",
			   subnet);
		doctor_evidence("arp_ignore: %s %d, %s %d; arp_announce: %s %d, %s %d", a, ignore_a,
				b, ignore_b, a, setting(a, "arp_announce"), b,
				setting(b, "arp_announce"));
		doctor_next("sysctl -w net.ipv4.conf.all.arp_ignore=1 "
			    "net.ipv4.conf.all.arp_announce=2, "
			    "or a subnet for each interface");
	} else if (filter_a != 1 && filter_b != 1) {
		doctor_say(DOCTOR_OK, both,
			   "both are in %s, and each answers for its own addresses", subnet);
	}
}

static void look_at_subnets(void)
{
	static struct connected routes[512];
	const unsigned int count = read_routes(routes, 512);
	char subnet[INET_ADDRSTRLEN + 4];
	unsigned int i, k;

	for (i = 0; i < rail_count; i++) {
		/* One pair for each interface: with the next one that shares a subnet. */
		for (k = i + 1; k < rail_count; k++) {
			if (!share(routes, count, rails[i], rails[k], subnet, sizeof(subnet)))
				continue;
			look_at_pair(routes, count, rails[i], rails[k], subnet);
			break;
		}
		look_at_rules(routes, count, rails[i]);
	}
}

/* --- One address twice ----------------------------------------------------------------------------------- */

struct address {
	char gid[40], netdev[IF_NAMESIZE];
	bool told;
};

static struct address addresses[ADDRESSES_MAX];
static unsigned int address_count;

/* Link-local ones are of their interface alone. */
static bool is_address(const char *gid)
{
	return strncmp(gid, "fe80:", 5) != 0 && strspn(gid, "0:") != strlen(gid);
}

static void put_gid(char *text, size_t size, const char *gid)
{
	struct in6_addr raw;

	snprintf(text, size, "%s", gid);
	if (inet_pton(AF_INET6, gid, &raw) != 1)
		return;
	if (IN6_IS_ADDR_V4MAPPED(&raw))
		inet_ntop(AF_INET, raw.s6_addr + 12, text, (socklen_t)size);
	else
		inet_ntop(AF_INET6, &raw, text, (socklen_t)size);
}

static void take_address(const struct doctor_port *port, const char *index)
{
	struct address *const to = &addresses[address_count];
	char text[INET6_ADDRSTRLEN], both[2 * IF_NAMESIZE + 2];
	unsigned int i;

	if (address_count == ADDRESSES_MAX ||
	    doctor_read(to->gid, sizeof(to->gid), "/sys/class/infiniband/%s/ports/%u/gids/%s",
			port->device, port->num, index) ||
	    !is_address(to->gid) ||
	    doctor_read(to->netdev, sizeof(to->netdev),
			"/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%s", port->device,
			port->num, index) ||
	    !doctor_netdev_is_here(to->netdev))
		return;
	for (i = 0; i < address_count; i++)
		if (strcmp(addresses[i].gid, to->gid) == 0)
			break;
	if (i == address_count) {
		address_count++;
		return;
	}
	if (addresses[i].told || strcmp(addresses[i].netdev, to->netdev) == 0)
		return;
	put_gid(text, sizeof(text), to->gid);
	snprintf(both, sizeof(both), "%s, %s", addresses[i].netdev, to->netdev);
	doctor_say(DOCTOR_WARNING, both,
		   "both have the address %s: chance decides which of them peers reach, and by "
		   "which GID",
		   text);
	doctor_evidence("/sys/class/infiniband/%s/ports/%u/gids/%s", port->device, port->num,
			index);
	doctor_next("remove it from one of them: ip address del %s/PREFIX dev %s", text,
		    to->netdev);
	/* As RoCE v1 and as v2 it is one address: what is told once is known. */
	addresses[i].told = true;
}

static void look_at_addresses(void)
{
	const struct doctor_port *ports;
	unsigned int i, count = doctor_ports(&ports);
	struct dirent **names;
	int k, n;

	for (i = 0; i < count; i++) {
		n = ports[i].roce ? doctor_list(&names, "/sys/class/infiniband/%s/ports/%u/gids",
						ports[i].device, ports[i].num)
				  : 0;
		for (k = 0; k < n; k++)
			take_address(&ports[i], names[k]->d_name);
	}
}

/* --- VLANs ------------------------------------------------------------------------------------------------ */

static bool packets(uint64_t *n, const char *netdev, const char *which)
{
	return doctor_read_number(n, "/sys/class/net/%s/statistics/%s_packets", netdev, which);
}

/* The interface below a VLAN's, "lower_eth0" among its files. */
static bool find_lower(char *lower, size_t size, const char *netdev)
{
	struct dirent **names;
	int i, n = doctor_list(&names, "/sys/class/net/%s", netdev);

	for (i = 0; i < n; i++) {
		if (strncmp(names[i]->d_name, "lower_", 6) != 0)
			continue;
		snprintf(lower, size, "%.15s", names[i]->d_name + 6);
		return true;
	}
	return false;
}

/* Where the port has received something: a machine that was just started proves nothing. */
static void look_at_vlan(const char *netdev)
{
	char kind[512], state[16], lower[IF_NAMESIZE];
	uint64_t got = 0, sent = 0, below = 0;

	if (doctor_read_all(kind, sizeof(kind), "/sys/class/net/%s/uevent", netdev) <= 0 ||
	    !strstr(kind, "DEVTYPE=vlan") ||
	    doctor_read(state, sizeof(state), "/sys/class/net/%s/operstate", netdev) ||
	    strcmp(state, "up") != 0 || !packets(&got, netdev, "rx") || got ||
	    !find_lower(lower, sizeof(lower), netdev) || !packets(&below, lower, "rx") || !below)
		return;
	packets(&sent, netdev, "tx");
	doctor_say(DOCTOR_NOTE, netdev,
		   "nothing has ever arrived by this VLAN: its GIDs may reach nobody");
	doctor_evidence("/sys/class/net/%s/statistics: rx_packets 0, tx_packets %ju; of %s "
			"rx_packets %ju",
			netdev, sent, lower, below);
	doctor_next(
		"ping a peer in it; if none answers, have the switch carry the VLAN on this port, "
		"or choose the GID of another interface");
}

/* Those that have GIDs. */
static void look_at_vlans(void)
{
	static char seen[RAILS_MAX][IF_NAMESIZE];
	const struct doctor_port *ports;
	unsigned int i, at, known = 0, count = doctor_ports(&ports);
	struct dirent **names;
	char netdev[IF_NAMESIZE];
	int k, n;

	for (i = 0; i < count; i++) {
		n = ports[i].roce ? doctor_list(&names,
						"/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs",
						ports[i].device, ports[i].num)
				  : 0;
		for (k = 0; k < n; k++) {
			if (doctor_read(netdev, sizeof(netdev),
					"/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%s",
					ports[i].device, ports[i].num, names[k]->d_name) ||
			    !doctor_netdev_is_here(netdev))
				continue;
			for (at = 0; at < known && strcmp(seen[at], netdev) != 0; at++)
				;
			if (at < known || known == RAILS_MAX)
				continue;
			snprintf(seen[known++], IF_NAMESIZE, "%s", netdev);
			look_at_vlan(netdev);
		}
	}
}

void doctor_check_subnet(void)
{
	unsigned int i;

	find_rails();
	for (i = 0; i < rail_count; i++)
		look_for_noarp(rails[i]);
	look_at_subnets();
	look_at_addresses();
	look_at_vlans();
}
