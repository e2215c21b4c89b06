/* SPDX-License-Identifier: MIT */
/* What an end has for a probe, what the peer says that it has, and whether that goes together. */
#include "load.h"
#include "side.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* --- What an end has -------------------------------------------------------------------------------- */

/* The file that libibverbs is, libibverbs.so.1.14.44.0, ends in rdma-core's version. */
void side_rdma_core(char *text, size_t size)
{
	char path[PATH_MAX];
	const char *at;
	Dl_info info;

	snprintf(text, size, "?");
	if (!dladdr(load_verb("ibv_get_device_list"), &info) || !realpath(info.dli_fname, path))
		return;
	at = strstr(path, ".so.1.");
	at = at ? strchr(at + 6, '.') : NULL;
	if (at)
		snprintf(text, size, "%.15s", at + 1);
}

/* The port by whose interface the peer is reached; else the first that is up. */
static struct rdma_port choose_port(const union socket_address *own)
{
	struct rdma_port port, other = {"", 1};
	char netdev[16], state[32];
	struct dirent **ports;

	path_netdev_of(own, netdev);
	port = path_port_of(netdev);
	if (port.device[0] && doctor_is_meant(port.device))
		return port;
	for (unsigned int i = 0; i < doctor_device_count(); i++) {
		const char *const device = doctor_device(i);
		const int n = doctor_list(&ports, "/sys/class/infiniband/%s/ports", device);

		for (int j = 0; j < n; j++) {
			snprintf(port.device, sizeof(port.device), "%.63s", device);
			port.port = (unsigned int)atoi(ports[j]->d_name);
			if (!other.device[0])
				other = port;
			if (!doctor_read(state, sizeof(state),
					 "/sys/class/infiniband/%s/ports/%s/state", device,
					 ports[j]->d_name) &&
			    strstr(state, "ACTIVE"))
				return port;
		}
	}
	return other;
}

static void take_gids(struct side *side, struct ibv_context *context)
{
	struct ibv_gid_entry entries[RDMAEZ_PATH_GIDS];
	size_t count = 0;

	if (rdmaez_port_gids(context, (int)side->port.port, entries, RDMAEZ_PATH_GIDS, &count,
			     NULL))
		return;
	for (size_t i = 0; i < count && i < RDMAEZ_PATH_GIDS && side->gids < SIDE_GIDS; i++) {
		if (entries[i].gid_index >= RDMAEZ_PATH_GIDS)
			continue;
		side->gid[side->gids].index = entries[i].gid_index;
		side->gid[side->gids].version = entries[i].gid_type == IBV_GID_TYPE_ROCE_V1   ? 1
						: entries[i].gid_type == IBV_GID_TYPE_ROCE_V2 ? 2
											      : 0;
		side->gid[side->gids++].gid = entries[i].gid;
	}
}

static void say_problem(struct side *side, const struct rdmaez_diag *diag)
{
	snprintf(side->problem, sizeof(side->problem), "%s: %s (%s)", side->port.device,
		 diag->count ? rdmaez_why_str(diag->finding[0].reason) : diag->call,
		 rdmaez_errno_str(diag->error));
}

static const char *state_text(enum ibv_port_state state)
{
	static const char *const names[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"};

	return (unsigned int)state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

/* What this end has for a peer that is reached from this address. */
void side_look(struct side *side, const union socket_address *own)
{
	struct ibv_context *context;
	struct ibv_port_attr port = {0};
	struct rdmaez_diag diag;
	struct utsname name;
	uint64_t mtu = 0;

	memset(side, 0, sizeof(*side));
	if (!uname(&name)) {
		snprintf(side->host, sizeof(side->host), "%.64s", name.nodename);
		snprintf(side->kernel, sizeof(side->kernel), "%.64s", name.release);
	}
	side_rdma_core(side->rdma_core, sizeof(side->rdma_core));
	snprintf(side->rdmaez, sizeof(side->rdmaez), "%.15s", RDMAEZ_VERSION_STRING);
	side->port = choose_port(own);
	if (!side->port.device[0]) {
		snprintf(side->problem, sizeof(side->problem), "there is no RDMA device");
		return;
	}
	path_netdev_of_port(&side->port, side->netdev);
	doctor_read_number(&mtu, "/sys/class/net/%s/mtu", side->netdev);
	side->netdev_mtu = (unsigned int)mtu;
	doctor_step("opening %s", side->port.device);
	if (load_error()) {
		snprintf(side->problem, sizeof(side->problem),
			 "libibverbs cannot be loaded: %.200s", load_error());
		return;
	}
	if (rdmaez_device_open(side->port.device, &context, &diag)) {
		say_problem(side, &diag);
		return;
	}
	if (rdmaez_port_query(context, (int)side->port.port, &port, &diag)) {
		say_problem(side, &diag);
	} else {
		snprintf(side->link_layer, sizeof(side->link_layer), "%s",
			 rdmaez_link_layer_str(port.link_layer));
		snprintf(side->state, sizeof(side->state), "%s", state_text(port.state));
		side->mtu = rdmaez_mtu_bytes(port.active_mtu);
		side->is_iwarp = context->device->transport_type == IBV_TRANSPORT_IWARP;
		take_gids(side, context);
	}
	ibv_close_device(context);
}

void side_tell(const struct side *side, struct talk *talk)
{
	char text[ADDRESS_TEXT];

	talk_begin(talk, "hello");
	talk_add(talk, "host %s", side->host);
	talk_add(talk, "kernel %s", side->kernel);
	talk_add(talk, "rdma-core %s", side->rdma_core);
	talk_add(talk, "rdmaez %s", side->rdmaez);
	if (side->problem[0]) {
		talk_add(talk, "problem %s", side->problem);
		return;
	}
	talk_add(talk, "port %s %u %s %s %s %d", side->port.device, side->port.port,
		 side->link_layer, side->state, side->is_iwarp ? "iWARP" : "IB", side->mtu);
	talk_add(talk, "netdev %s %u", side->netdev[0] ? side->netdev : "-", side->netdev_mtu);
	for (unsigned int i = 0; i < side->gids; i++) {
		inet_ntop(AF_INET6, side->gid[i].gid.raw, text, sizeof(text));
		talk_add(talk, "gid %u %u %s", side->gid[i].index, side->gid[i].version, text);
	}
}

static void take_told_gids(struct side *side, const struct talk *talk)
{
	const char *value = NULL;
	char text[ADDRESS_TEXT];

	while (side->gids < SIDE_GIDS && (value = talk_value(talk, "gid", value))) {
		unsigned int index, version;

		if (sscanf(value, "%3u %1u %63s", &index, &version, text) != 3 ||
		    index >= RDMAEZ_PATH_GIDS || version > 2 ||
		    inet_pton(AF_INET6, text, side->gid[side->gids].gid.raw) != 1)
			continue;
		side->gid[side->gids].index = index;
		side->gid[side->gids++].version = version;
	}
}

/* What the peer tells of itself. False: not what it must. */
bool side_take(struct side *side, const struct talk *talk)
{
	const char *const port = talk_value(talk, "port", NULL);
	const char *const netdev = talk_value(talk, "netdev", NULL);
	const char *const problem = talk_value(talk, "problem", NULL);
	char transport[8] = "";

	memset(side, 0, sizeof(*side));
	talk_text(talk, "host", side->host, sizeof(side->host));
	talk_text(talk, "kernel", side->kernel, sizeof(side->kernel));
	talk_text(talk, "rdma-core", side->rdma_core, sizeof(side->rdma_core));
	talk_text(talk, "rdmaez", side->rdmaez, sizeof(side->rdmaez));
	if (problem) {
		snprintf(side->problem, sizeof(side->problem), "%.255s", problem);
		return side->problem[0] != '\0';
	}
	if (!port || !netdev ||
	    sscanf(port, "%63s %3u %15s %15s %7s %4d", side->port.device, &side->port.port,
		   side->link_layer, side->state, transport, &side->mtu) != 6 ||
	    sscanf(netdev, "%15s %9u", side->netdev, &side->netdev_mtu) != 2)
		return false;
	if (side->mtu != 256 && side->mtu != 512 && side->mtu != 1024 && side->mtu != 2048 &&
	    side->mtu != 4096)
		return false;
	side->is_iwarp = strcmp(transport, "iWARP") == 0;
	take_told_gids(side, talk);
	return true;
}

/* --- What goes together ----------------------------------------------------------------------------- */

static bool is_local(const union ibv_gid *gid)
{
	return rdmaez_gid_class(gid) == RDMAEZ_GID_CLASS_LINK_LOCAL;
}

bool side_is_ethernet(const struct side *side)
{
	return strcmp(side->link_layer, "Ethernet") == 0;
}

/* As rdmaez_endpoint_negotiate() judges two GIDs. */
bool side_is_pair(const struct side *own, unsigned int i, const struct side *peer, unsigned int j)
{
	const union ibv_gid *const a = &own->gid[i].gid, *const b = &peer->gid[j].gid;

	return own->gid[i].version == peer->gid[j].version && is_local(a) == is_local(b) &&
	       (rdmaez_gid_class(a) == RDMAEZ_GID_CLASS_IPV4) ==
		       (rdmaez_gid_class(b) == RDMAEZ_GID_CLASS_IPV4);
}

static unsigned int count_pairs(const struct side *own, const struct side *peer)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < own->gids; i++)
		for (unsigned int j = 0; j < peer->gids; j++)
			count += side_is_pair(own, i, peer, j);
	return count;
}

static unsigned int count_routable(const struct side *side)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < side->gids; i++)
		count += !is_local(&side->gid[i].gid);
	return count;
}

/* The kinds of GID that an end has: "RoCE v2 IPv4, RoCE v1 link-local". */
static void put_kinds(const struct side *side, char *text, size_t size)
{
	static const char *const families[] = {"link-local", "IPv4", "IPv6"};
	bool seen[3][3] = {{false}};
	size_t at = 0;

	snprintf(text, size, "none");
	for (unsigned int i = 0; i < side->gids; i++) {
		const union ibv_gid *const gid = &side->gid[i].gid;
		const unsigned int version = side->gid[i].version;
		const int family = is_local(gid)                                    ? 0
				   : rdmaez_gid_class(gid) == RDMAEZ_GID_CLASS_IPV4 ? 1
										    : 2;

		if (!seen[version][family] && at + 32 < size)
			at += (size_t)snprintf(text + at, size - at, "%sRoCE v%u %s",
					       at ? ", " : "", version, families[family]);
		seen[version][family] = true;
	}
}

static void say_gids(const struct side *own, const struct side *peer, const char *here)
{
	const bool we_lack = !count_routable(own), it_lacks = !count_routable(peer);
	char ours[160], its[160];

	put_kinds(own, ours, sizeof(ours));
	put_kinds(peer, its, sizeof(its));
	if (!count_pairs(own, peer)) {
		doctor_say(DOCTOR_FAILED, here, "no GID here fits one of the peer's %s/%u",
			   peer->port.device, peer->port.port);
		doctor_evidence("here %s; at the peer %s", ours, its);
	} else if (we_lack != it_lacks) {
		doctor_say(DOCTOR_WARNING, here,
			   "%s has only link-local GIDs, and %s has others as well",
			   we_lack ? "this end" : "the peer", we_lack ? "the peer" : "this end");
		doctor_evidence("here %s; at the peer %s", ours, its);
	} else {
		doctor_say(DOCTOR_OK, here, "GIDs of both ends fit together");
		doctor_evidence("here %s; at the peer %s", ours, its);
	}
	if (we_lack && !it_lacks)
		doctor_next("ip address add ADDRESS/PREFIX dev %s", own->netdev);
	if (it_lacks && !we_lack)
		doctor_next("on the peer: ip address add ADDRESS/PREFIX dev %s", peer->netdev);
	if (!count_pairs(own, peer) && we_lack == it_lacks)
		doctor_next("give both interfaces addresses of the same kind, and see "
			    "rdmaez-doctor --gids at both ends");
}

static void say_mtus(const struct side *own, const struct side *peer, const char *here)
{
	const bool we_are_less = own->netdev_mtu < peer->netdev_mtu;
	const struct side *const less = we_are_less ? own : peer;
	const struct side *const more = we_are_less ? peer : own;

	if (!side_is_ethernet(own)) {
		doctor_say(own->mtu == peer->mtu ? DOCTOR_OK : DOCTOR_NOTE, here,
			   "the MTU is %d here and %d at the peer", own->mtu, peer->mtu);
		return;
	}
	if (own->mtu == peer->mtu && own->netdev_mtu == peer->netdev_mtu) {
		doctor_say(DOCTOR_OK, here,
			   "the MTU is %d at both ends, and that of the interfaces is %u", own->mtu,
			   own->netdev_mtu);
		return;
	}
	doctor_say(own->mtu == peer->mtu ? DOCTOR_NOTE : DOCTOR_WARNING, here,
		   "the MTU is %d here and %d at the peer, and that of the interfaces is %u and %u",
		   own->mtu, peer->mtu, own->netdev_mtu, peer->netdev_mtu);
	doctor_evidence("active_mtu of %s/%u here and of %s/%u there", own->port.device,
			own->port.port, peer->port.device, peer->port.port);
	if (less->netdev_mtu < more->netdev_mtu && less->mtu <= more->mtu)
		doctor_next("%sip link set dev %s mtu %u",
			    we_are_less ? "" : "on the peer: ", less->netdev, more->netdev_mtu);
	else
		doctor_next("set path_mtu to %d at both ends",
			    own->mtu < peer->mtu ? own->mtu : peer->mtu);
}

/* Whether a probe makes sense. */
bool side_compare(const struct side *own, const struct side *peer, const char *here)
{
	if (strcmp(own->link_layer, peer->link_layer) != 0 || own->is_iwarp != peer->is_iwarp) {
		doctor_say(DOCTOR_FAILED, here, "%s%s here, %s%s at the peer: they cannot connect",
			   own->link_layer, own->is_iwarp ? " with iWARP" : "", peer->link_layer,
			   peer->is_iwarp ? " with iWARP" : "");
		doctor_next("name a device of the other kind at one end: ibv_devinfo lists them");
		return false;
	}
	if (strcmp(own->state, "ACTIVE") != 0 || strcmp(peer->state, "ACTIVE") != 0) {
		const bool ours = strcmp(own->state, "ACTIVE") != 0;
		const struct side *const side = ours ? own : peer;

		doctor_say(DOCTOR_FAILED, here, "port %u of %s, %s, is %s", side->port.port,
			   side->port.device, ours ? "at this end" : "at the peer", side->state);
		if (side_is_ethernet(side))
			doctor_next("%sip link set dev %s up",
				    ours ? "" : "on the peer: ", side->netdev);
		else
			doctor_next("%srdmaez-doctor --only port", ours ? "" : "on the peer: ");
		return false;
	}
	say_mtus(own, peer, here);
	if (own->is_iwarp) {
		doctor_say(DOCTOR_NOTE, here,
			   "iWARP connects only by rdma_cm, so no data was tried");
		doctor_next("run rping -s at one end, and rping -c -a ADDRESS at the other");
		return false;
	}
	if (!side_is_ethernet(own))
		return true;
	say_gids(own, peer, here);
	return count_pairs(own, peer) > 0;
}
