/* SPDX-License-Identifier: MIT */
/* A second doctor at the peer: what both ends have, whether it goes together, and whether data passes. */
#include "peer.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
	GIDS = 16,         /* that one end tells the other */
	CONNECT_MS = 4000, /* for TCP; the kernel looks three seconds for a neighbour */
	ANSWER_MS = 5000,  /* for a message */
	PROBE_MS = 15000,  /* for what comes between two messages at the end that sends back */
	PAIRS = 4,         /* of GIDs that are tried */
	ROUND_TRIPS = 100,
	ROUND_TRIPS_MS = 3000,
	DATAGRAMS = 64
};

/* --- What an end has -------------------------------------------------------------------------------- */

struct side {
	char host[65], kernel[65], rdma_core[16], rdmaez[16];
	char problem[256]; /* why there is no port to probe with; "": there is one */
	struct rdma_port port;
	char link_layer[16], state[16], netdev[16];
	bool is_iwarp;
	int mtu; /* the port's active one, in bytes */
	unsigned int netdev_mtu;
	unsigned int gids;
	struct {
		unsigned int index;
		unsigned int version; /* of RoCE; 0: InfiniBand */
		union ibv_gid gid;
	} gid[GIDS];
};

/* The file that libibverbs is, libibverbs.so.1.14.44.0, ends in rdma-core's version. */
static void rdma_core_version(char *text, size_t size)
{
	char path[PATH_MAX];
	const char *at;
	Dl_info info;

	snprintf(text, size, "?");
	if (!dladdr((const void *)(uintptr_t)ibv_get_device_list, &info) ||
	    !realpath(info.dli_fname, path))
		return;
	at = strstr(path, ".so.1.");
	at = at ? strchr(at + 6, '.') : NULL;
	if (at)
		snprintf(text, size, "%.15s", at + 1);
}

static bool is_named(const char *device)
{
	for (unsigned int i = 0; i < doctor_device_count(); i++)
		if (strcmp(doctor_device(i), device) == 0)
			return true;
	return false;
}

/* The port by whose interface the peer is reached; else the first that is up. */
static struct rdma_port choose_port(const union socket_address *own)
{
	struct rdma_port port, other = {"", 1};
	char netdev[16], state[32];
	struct dirent **ports;

	path_netdev_of(own, netdev);
	port = path_port_of(netdev);
	if (port.device[0] && is_named(port.device))
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
	for (size_t i = 0; i < count && i < RDMAEZ_PATH_GIDS && side->gids < GIDS; i++) {
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
static void look_here(struct side *side, const union socket_address *own)
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
	rdma_core_version(side->rdma_core, sizeof(side->rdma_core));
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

static void tell(const struct side *side, struct talk *talk)
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

static void take_text(const struct talk *talk, const char *key, char *text, size_t size)
{
	const char *const value = talk_value(talk, key, NULL);

	snprintf(text, size, "%.*s", (int)size - 1, value ? value : "?");
}

static void take_told_gids(struct side *side, const struct talk *talk)
{
	const char *value = NULL;
	char text[ADDRESS_TEXT];

	while (side->gids < GIDS && (value = talk_value(talk, "gid", value))) {
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
static bool take_told(struct side *side, const struct talk *talk)
{
	const char *const port = talk_value(talk, "port", NULL);
	const char *const netdev = talk_value(talk, "netdev", NULL);
	const char *const problem = talk_value(talk, "problem", NULL);
	char transport[8] = "";

	memset(side, 0, sizeof(*side));
	take_text(talk, "host", side->host, sizeof(side->host));
	take_text(talk, "kernel", side->kernel, sizeof(side->kernel));
	take_text(talk, "rdma-core", side->rdma_core, sizeof(side->rdma_core));
	take_text(talk, "rdmaez", side->rdmaez, sizeof(side->rdmaez));
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

/* The subject of lines about a port of this end. */
static char here[96];

static bool is_local(const union ibv_gid *gid)
{
	return rdmaez_gid_class(gid) == RDMAEZ_GID_CLASS_LINK_LOCAL;
}

/* As rdmaez_endpoint_negotiate() judges two GIDs. */
static bool is_pair(const struct side *own, unsigned int i, const struct side *peer, unsigned int j)
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
			count += is_pair(own, i, peer, j);
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

static void say_gids(const struct side *own, const struct side *peer)
{
	const bool we_lack = !count_routable(own), it_lacks = !count_routable(peer);
	char ours[160], its[160];

	put_kinds(own, ours, sizeof(ours));
	put_kinds(peer, its, sizeof(its));
	if (!count_pairs(own, peer)) {
		doctor_say(DOCTOR_FAILED, here, "no GID here goes with one of the peer's %s/%u",
			   peer->port.device, peer->port.port);
		doctor_evidence("here %s; at the peer %s", ours, its);
	} else if (we_lack != it_lacks) {
		doctor_say(DOCTOR_WARNING, here, "%s has only link-local GIDs, %s others as well",
			   we_lack ? "this end" : "the peer", we_lack ? "the peer" : "this end");
		doctor_evidence("here %s; at the peer %s", ours, its);
	} else {
		doctor_say(DOCTOR_OK, here, "GIDs of both ends go together");
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

static void say_mtus(const struct side *own, const struct side *peer)
{
	const bool we_are_less = own->mtu < peer->mtu ||
				 (own->mtu == peer->mtu && own->netdev_mtu < peer->netdev_mtu);
	const unsigned int greater = we_are_less ? peer->netdev_mtu : own->netdev_mtu;

	if (own->mtu == peer->mtu && own->netdev_mtu == peer->netdev_mtu) {
		doctor_say(DOCTOR_OK, here, "the MTU is %d at both ends, that of the interfaces %u",
			   own->mtu, own->netdev_mtu);
		return;
	}
	doctor_say(own->mtu == peer->mtu ? DOCTOR_NOTE : DOCTOR_WARNING, here,
		   "the MTU is %d here and %d at the peer, that of the interfaces %u and %u",
		   own->mtu, peer->mtu, own->netdev_mtu, peer->netdev_mtu);
	doctor_evidence("active_mtu of %s/%u here and of %s/%u there", own->port.device,
			own->port.port, peer->port.device, peer->port.port);
	doctor_next("%sip link set dev %s mtu %u",
		    we_are_less ? "" : "on the peer: ", we_are_less ? own->netdev : peer->netdev,
		    greater);
}

/* Whether a probe makes sense. */
static bool compare(const struct side *own, const struct side *peer)
{
	if (strcmp(own->link_layer, peer->link_layer) != 0 || own->is_iwarp != peer->is_iwarp) {
		doctor_say(DOCTOR_FAILED, here, "%s%s here, %s%s at the peer: they cannot connect",
			   own->link_layer, own->is_iwarp ? " with iWARP" : "", peer->link_layer,
			   peer->is_iwarp ? " with iWARP" : "");
		doctor_next("name devices of the same kind at both ends: rdmaez-doctor --list, "
			    "DEVICE");
		return false;
	}
	if (strcmp(own->state, "ACTIVE") != 0 || strcmp(peer->state, "ACTIVE") != 0) {
		const bool ours = strcmp(own->state, "ACTIVE") != 0;
		const struct side *const side = ours ? own : peer;

		doctor_say(DOCTOR_FAILED, here, "port %u of %s, %s, is %s", side->port.port,
			   side->port.device, ours ? "at this end" : "at the peer", side->state);
		doctor_next("%sip link set dev %s up", ours ? "" : "on the peer: ", side->netdev);
		return false;
	}
	say_mtus(own, peer);
	if (own->is_iwarp) {
		doctor_say(DOCTOR_NOTE, here, "iWARP connects by rdma_cm alone: no data was tried");
		doctor_next("rping -s at one end, rping -c -a ADDRESS at the other");
		return false;
	}
	if (strcmp(own->link_layer, "Ethernet") != 0)
		return true;
	say_gids(own, peer);
	return count_pairs(own, peer) > 0;
}

/* --- One probe, at the end that asks ---------------------------------------------------------------- */

/* A conversation with the peer. */
struct session {
	int tcp;
	char peer[ADDRESS_TEXT]; /* its address */
	union ibv_gid address;   /* the same, zero if it is of no use */
	struct side own, other;
	bool is_broken; /* the conversation, so that no more can be asked */
	/* Of the last RC probe, and of UD after it: the counters before, and what grew at the peer. */
	struct probe_counters before;
	char growth[TALK_LINE];
};

/* What was tried, and what came of it. */
struct attempt {
	struct probe probe;
	int peer_gid; /* the peer's GID index; -1: the one that it chooses */
	struct probe_end end;
	bool is_connected;
	int error;
	uint32_t failed; /* bytes of the message that did not come back; 0: none was sent */
	/* What the peer reports. */
	unsigned int peer_got;
	char peer_why[200], peer_fix[200];
};

/* What a record says first: of a completion its status, else the errno value; and the reason. */
static void put_why(const struct rdmaez_diag *diag, char *text, size_t size)
{
	snprintf(text, size, "%s: %s", diag->status ? diag->status : rdmaez_errno_str(diag->error),
		 diag->count ? rdmaez_why_str(diag->finding[0].reason) : diag->call);
}

static const char *fix_of(const struct rdmaez_diag *diag)
{
	return diag->count ? rdmaez_why_fix(diag->finding[0].reason) : "";
}

/* Says that the conversation has ended where it should not. */
static void broken(struct session *s, enum talk_end end)
{
	static const char *const what[] = {
		[TALK_WELL] = "",
		[TALK_SILENT] = "says no more",
		[TALK_CLOSED] = "has closed the connection",
		[TALK_FOREIGN] = "sends what rdmaez-doctor does not",
		[TALK_NEWER] = "speaks another version",
		[TALK_STEP] = "is at another step",
	};

	if (!s->is_broken) {
		doctor_say(DOCTOR_FAILED, here, "the peer %s: the probe ends here", what[end]);
		doctor_next("see what rdmaez-doctor --listen says on the peer, and begin again");
	}
	s->is_broken = true;
}

/* Asks the peer for its end of a probe. False: it has none. */
static bool ask_for(struct session *s, struct attempt *attempt)
{
	struct talk talk;
	const char *why;
	enum talk_end end;

	talk_begin(&talk, "probe");
	talk_add(&talk, "type %s", attempt->probe.type == IBV_QPT_UD ? "UD" : "RC");
	talk_add(&talk, "gid %d", attempt->peer_gid);
	end = talk_send(s->tcp, &talk, peer_in_ms(ANSWER_MS));
	if (end == TALK_WELL)
		end = talk_receive(s->tcp, &talk, "ready", peer_in_ms(ANSWER_MS));
	if (end != TALK_WELL) {
		broken(s, end);
		return false;
	}
	why = talk_value(&talk, "why", NULL);
	if (!why)
		return true;
	attempt->error = ECONNABORTED;
	snprintf(attempt->peer_why, sizeof(attempt->peer_why), "%.199s", why);
	take_text(&talk, "fix", attempt->peer_fix, sizeof(attempt->peer_fix));
	return false;
}

/* Ends the probe at the peer, and hears what it saw. */
static void hear_report(struct session *s, struct attempt *attempt)
{
	struct talk talk;
	const char *got;
	enum talk_end end;

	talk_begin(&talk, "done");
	end = talk_send(s->tcp, &talk, peer_in_ms(ANSWER_MS));
	if (end == TALK_WELL)
		end = talk_receive(s->tcp, &talk, "report", peer_in_ms(3 * ANSWER_MS));
	if (end != TALK_WELL) {
		broken(s, end);
		return;
	}
	got = talk_value(&talk, "got", NULL);
	attempt->peer_got = got ? (unsigned int)strtoul(got, NULL, 10) : 0;
	if (talk_value(&talk, "why", NULL)) {
		take_text(&talk, "why", attempt->peer_why, sizeof(attempt->peer_why));
		take_text(&talk, "fix", attempt->peer_fix, sizeof(attempt->peer_fix));
	}
	if (talk_value(&talk, "growth", NULL))
		take_text(&talk, "growth", s->growth, sizeof(s->growth));
}

/* One message after the other, until one does not come back. */
static void ping(struct attempt *attempt, const uint32_t *bytes, size_t count)
{
	for (size_t i = 0; i < count && !attempt->error; i++) {
		doctor_step("sending %u bytes by RC from %s", bytes[i], here);
		attempt->error = probe_ping(&attempt->end, bytes[i]);
		attempt->failed = attempt->error ? bytes[i] : 0;
	}
}

/* Both ends of a probe, connected. Whatever comes of it, end_attempt() follows if it returns true. */
static bool begin_attempt(struct session *s, struct attempt *attempt)
{
	attempt->error = 0;
	attempt->failed = 0;
	attempt->is_connected = false;
	attempt->peer_why[0] = attempt->peer_fix[0] = '\0';
	attempt->probe.port = s->own.port;
	attempt->probe.peer = s->address;
	if (attempt->probe.type == IBV_QPT_RC) {
		probe_count(&s->own.port, &s->before);
		s->growth[0] = '\0';
	}
	doctor_step("opening a queue pair on %s", here);
	attempt->error = probe_open(&attempt->end, &attempt->probe);
	if (attempt->error || !ask_for(s, attempt)) {
		probe_close(&attempt->end);
		return false;
	}
	doctor_step("connecting a queue pair of %s", here);
	attempt->error = probe_connect(&attempt->end, s->tcp);
	attempt->is_connected = !attempt->error;
	return true;
}

static void end_attempt(struct session *s, struct attempt *attempt)
{
	hear_report(s, attempt);
	probe_close(&attempt->end);
}

/* --- What it means ---------------------------------------------------------------------------------- */

/* "RC from GID 1 (192.0.2.1) to 192.0.2.2" */
static void put_pair(const struct attempt *attempt, char *text, size_t size)
{
	const char *const type = attempt->probe.type == IBV_QPT_UD ? "UD" : "RC";
	const struct rdmaez_path *const path = &attempt->end.agreed.path;
	const struct rdmaez_endpoint *const local = &attempt->end.local;
	char from[ADDRESS_TEXT] = "", to[ADDRESS_TEXT];
	const int index = path->sgid_index == RDMAEZ_ZERO ? 0 : path->sgid_index;

	if (!attempt->is_connected || rdmaez_gid_is_zero(&path->dgid)) {
		snprintf(text, size, "%s", type);
		return;
	}
	for (unsigned int i = 0; i < local->gid_count; i++)
		if ((int)local->gid[i].gid_index == index)
			gid_text(&local->gid[i].gid, from);
	snprintf(text, size, "%s from GID %d (%s) to %s", type, index, from,
		 gid_text(&path->dgid, to));
}

static bool is_roce_v1(const struct attempt *attempt)
{
	const struct rdmaez_endpoint *const local = &attempt->end.local;
	const struct rdmaez_path *const path = &attempt->end.agreed.path;
	const int index = path->sgid_index == RDMAEZ_ZERO ? 0 : path->sgid_index;

	for (unsigned int i = 0; i < local->gid_count; i++)
		if ((int)local->gid[i].gid_index == index)
			return local->gid[i].gid_type == IBV_GID_TYPE_ROCE_V1;
	return false;
}

static bool is_unanswered(const struct attempt *attempt)
{
	return attempt->error == ETIMEDOUT ||
	       (attempt->error == EIO && attempt->end.diag.status_code == IBV_WC_RETRY_EXC_ERR);
}

static void say_record(const struct rdmaez_diag *diag)
{
	char line[1024];

	rdmaez_diag_line(diag, line, sizeof(line));
	doctor_evidence("%s", line);
}

/* It did not come to a connection. */
static void say_unconnected(const struct session *s, const struct attempt *attempt)
{
	const char *const type = attempt->probe.type == IBV_QPT_UD ? "UD" : "RC";
	const struct rdmaez_diag *const diag = &attempt->end.diag;
	char why[256];

	if (attempt->peer_why[0]) {
		doctor_say(DOCTOR_FAILED, here, "%s: the peer cannot connect: %s", type,
			   attempt->peer_why);
		if (attempt->peer_fix[0])
			doctor_next("on the peer %s: %s", s->peer, attempt->peer_fix);
		return;
	}
	put_why(diag, why, sizeof(why));
	doctor_say(DOCTOR_FAILED, here, "%s: this end cannot connect: %s", type, why);
	say_record(diag);
	if (fix_of(diag)[0])
		doctor_next("%s", fix_of(diag));
}

/* Not one message came back, though TCP and the addresses are in order. */
static void say_blocked(const struct session *s, const struct attempt *attempt)
{
	const bool is_ethernet = strcmp(s->own.link_layer, "Ethernet") == 0;
	const char *const what = !is_ethernet          ? "packet of InfiniBand"
				 : is_roce_v1(attempt) ? "packet of RoCE v1 (Ethertype 0x8915)"
						       : "packet of RoCE v2 (UDP port 4791)";
	const bool arrives = attempt->peer_got > 0;
	char pair[160], why[256];

	put_pair(attempt, pair, sizeof(pair));
	doctor_say(DOCTOR_FAILED, here, "%s: connected, but no %s gets through %s, while TCP does",
		   pair, what, arrives ? "from the peer to here" : "from here to the peer");
	put_why(&attempt->end.diag, why, sizeof(why));
	doctor_evidence("%s; the peer received %u message%s", why, attempt->peer_got,
			attempt->peer_got == 1 ? "" : "s");
	say_record(&attempt->end.diag);
	if (!is_ethernet)
		doctor_next("ibtracert, and the partition and service level of both ports");
	else if (is_roce_v1(attempt))
		doctor_next("see whether the switches pass it; RoCE v1 does not pass routers: use "
			    "GIDs of RoCE v2");
	else
		doctor_next("open UDP port 4791 in the firewall of %s: nft list ruleset, iptables "
			    "--list-rules; in security groups and switch ACLs between",
			    arrives ? "this machine" : "the peer");
}

/* Of another pair of GIDs than the first a word is enough. */
static void say_nor(const struct attempt *attempt)
{
	char from[ADDRESS_TEXT] = "", why[256];

	if (attempt->end.local.gid_count)
		gid_text(&attempt->end.local.gid[0].gid, from);
	put_why(&attempt->end.diag, why, sizeof(why));
	doctor_say(DOCTOR_NOTE, here, "nor does data pass by GID %d (%s)", attempt->probe.gid_index,
		   from);
	doctor_evidence("%s", attempt->peer_why[0] ? attempt->peer_why : why);
}

static void say_failed(const struct session *s, const struct attempt *attempt)
{
	const struct rdmaez_diag *const diag = &attempt->end.diag;
	char pair[160], why[256];

	if (s->is_broken)
		return;
	if (attempt->probe.gid_index >= 0 && attempt->probe.type == IBV_QPT_RC) {
		say_nor(attempt);
		return;
	}
	if (!attempt->is_connected) {
		say_unconnected(s, attempt);
		return;
	}
	if (attempt->failed == 1 && is_unanswered(attempt)) {
		say_blocked(s, attempt);
		return;
	}
	put_pair(attempt, pair, sizeof(pair));
	if (attempt->error == EBADMSG) {
		doctor_say(DOCTOR_FAILED, here, "%s: a message of %u bytes came back damaged", pair,
			   attempt->failed);
		doctor_next("see the counters of both ports: rdmaez-doctor --only counters");
		return;
	}
	put_why(diag, why, sizeof(why));
	doctor_say(DOCTOR_FAILED, here, "%s: a message of %u bytes did not come back: %s", pair,
		   attempt->failed, why);
	say_record(diag);
	if (attempt->peer_why[0])
		doctor_evidence("at the peer: %s", attempt->peer_why);
	if (fix_of(diag)[0])
		doctor_next("%s", fix_of(diag));
}

/* --- RC --------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* How long a message of 8 bytes and its answer take. */
static void say_round_trip(struct attempt *attempt)
{
	const uint64_t until = peer_in_ms(ROUND_TRIPS_MS);
	uint64_t ns[ROUND_TRIPS];
	size_t count = 0;

	doctor_step("measuring the round trip from %s", here);
	while (count < ROUND_TRIPS && peer_ms_left(until) && !attempt->error) {
		const uint64_t begin = peer_in_ms(0);

		attempt->error = probe_ping(&attempt->end, 8);
		ns[count++] = peer_in_ms(0) - begin;
	}
	if (attempt->error) {
		attempt->failed = 8;
		return;
	}
	qsort(ns, count, sizeof(ns[0]), by_size);
	doctor_say(DOCTOR_OK, here,
		   "a message of 8 bytes and its answer take %.1f us (median of %zu; %.1f to %.1f)",
		   (double)ns[count / 2] / 1e3, count, (double)ns[0] / 1e3,
		   (double)ns[count - 1] / 1e3);
}

/* Packets of the path MTU are lost: the greatest MTU whose packets arrive, in bytes; 0: none. */
static int smaller_mtu(struct session *s, const struct attempt *failed, int mtu)
{
	for (int less = mtu / 2; less >= 256 && !s->is_broken; less /= 2) {
		struct attempt attempt;
		const uint32_t bytes[] = {(uint32_t)less, 3 * (uint32_t)less + 1};

		memset(&attempt, 0, sizeof(attempt));
		attempt.probe = failed->probe;
		attempt.probe.mtu = less;
		attempt.peer_gid = failed->peer_gid;
		if (!begin_attempt(s, &attempt))
			return 0;
		if (attempt.is_connected)
			ping(&attempt, bytes, 2);
		end_attempt(s, &attempt);
		if (!attempt.error && !s->is_broken)
			return less;
	}
	return 0;
}

static void say_mtu_lost(const struct session *s, const struct attempt *attempt, int mtu, int less)
{
	char pair[160];

	put_pair(attempt, pair, sizeof(pair));
	doctor_say(DOCTOR_FAILED, here,
		   "%s: the network loses packets of the path MTU %d, which both ports have; those "
		   "of %d pass",
		   pair, mtu, less);
	say_record(&attempt->end.diag);
	doctor_next("raise the MTU of every switch port between to that of the interfaces, %u",
		    s->own.netdev_mtu);
	doctor_next("or lower that of the interfaces at both ends: ip link set dev %s mtu %d",
		    s->own.netdev, less == 1024 ? 1500 : less + 152);
}

/* Returns the path MTU that works, in bytes; 0: none. */
static int try_rc(struct session *s, struct attempt *attempt)
{
	char pair[160];
	int mtu, less;

	attempt->probe.type = IBV_QPT_RC;
	if (!begin_attempt(s, attempt)) {
		say_failed(s, attempt);
		return 0;
	}
	mtu = rdmaez_mtu_bytes(attempt->end.agreed.mtu);
	if (attempt->is_connected) {
		const uint32_t bytes[] = {1, (uint32_t)mtu, 3 * (uint32_t)mtu + 1};

		ping(attempt, bytes, 3);
	}
	put_pair(attempt, pair, sizeof(pair));
	if (!attempt->error) {
		doctor_say(DOCTOR_OK, here,
			   "%s: messages of 1, %d and %d bytes pass, at a path MTU of %d", pair,
			   mtu, 3 * mtu + 1, mtu);
		say_round_trip(attempt);
	}
	end_attempt(s, attempt);
	if (!attempt->error && !s->is_broken)
		return mtu;
	less = !s->is_broken && attempt->failed > 8 && is_unanswered(attempt)
		       ? smaller_mtu(s, attempt, mtu)
		       : 0;
	if (less)
		say_mtu_lost(s, attempt, mtu, less);
	else
		say_failed(s, attempt);
	return less;
}

/* --- UD --------------------------------------------------------------------------------------------- */

static void try_ud(struct session *s, struct attempt *attempt, int mtu)
{
	unsigned int lost = DATAGRAMS;
	char pair[160];

	attempt->probe.type = IBV_QPT_UD;
	if (!begin_attempt(s, attempt)) {
		say_failed(s, attempt);
		return;
	}
	doctor_step("sending datagrams from %s", here);
	if (attempt->is_connected)
		attempt->error = probe_datagrams(&attempt->end, (uint32_t)mtu, DATAGRAMS, &lost);
	end_attempt(s, attempt);
	put_pair(attempt, pair, sizeof(pair));
	if (attempt->error || s->is_broken) {
		attempt->failed = (uint32_t)mtu;
		say_failed(s, attempt);
	} else if (!lost) {
		doctor_say(DOCTOR_OK, here, "%s: all of %d datagrams of %d bytes came back", pair,
			   DATAGRAMS, mtu);
	} else {
		doctor_say(lost == DATAGRAMS ? DOCTOR_FAILED : DOCTOR_WARNING, here,
			   "%s: %u of %d datagrams of %d bytes did not come back", pair, lost,
			   DATAGRAMS, mtu);
		doctor_evidence("the peer received %u", attempt->peer_got);
		doctor_next(
			"look for loss: ip -s link show dev %s, ethtool -S %s, at both ends and "
			"in the switches",
			s->own.netdev, s->own.netdev);
	}
}

/* --- All probes ------------------------------------------------------------------------------------- */

/* Whether this pair of GIDs is the one that was agreed on. */
static bool is_tried(const struct session *s, unsigned int i, unsigned int j,
		     const struct attempt *first)
{
	const struct rdmaez_path *const path = &first->end.agreed.path;

	return (int)s->own.gid[i].index ==
		       (path->sgid_index == RDMAEZ_ZERO ? 0 : path->sgid_index) &&
	       memcmp(&s->other.gid[j].gid, &path->dgid, sizeof(path->dgid)) == 0;
}

/* The other pairs of GIDs, until one works. */
static int try_other_pairs(struct session *s, const struct attempt *first, struct attempt *attempt)
{
	unsigned int tried = 1;

	for (unsigned int i = 0; i < s->own.gids; i++) {
		for (unsigned int j = 0; j < s->other.gids; j++) {
			int mtu;

			if (!is_pair(&s->own, i, &s->other, j) || is_tried(s, i, j, first))
				continue;
			if (tried++ == PAIRS || s->is_broken)
				return 0;
			memset(attempt, 0, sizeof(*attempt));
			attempt->probe.gid_index = (int)s->own.gid[i].index;
			attempt->peer_gid = (int)s->other.gid[j].index;
			mtu = try_rc(s, attempt);
			if (!mtu)
				continue;
			doctor_say(DOCTOR_WARNING, here,
				   "data passes by GID %u, not by the one that the route leads to",
				   s->own.gid[i].index);
			doctor_next(
				"name it in programs: NCCL_IB_GID_INDEX=%u, UCX_IB_GID_INDEX=%u, "
				"ib_write_bw -x %u",
				s->own.gid[i].index, s->own.gid[i].index, s->own.gid[i].index);
			return mtu;
		}
	}
	return 0;
}

static void say_loss(const struct session *s)
{
	struct probe_counters after;
	char growth[512];
	size_t length;

	poll(NULL, 0, 30); /* mlx5 refreshes its counters every 10 ms */
	probe_count(&s->own.port, &after);
	length = probe_growth(&s->before, &after, growth, sizeof(growth));
	if (!length && !s->growth[0]) {
		doctor_say(DOCTOR_OK, here, "no counter of losses or retries grew at either end");
		return;
	}
	doctor_say(DOCTOR_WARNING, here,
		   "packets were lost or sent again during the probe, though the messages passed");
	doctor_evidence("here %s; at the peer %s", length ? growth : "nothing",
			s->growth[0] ? s->growth : "nothing");
	doctor_next("look for loss: ip -s link show dev %s, ethtool -S %s, at both ends and in the "
		    "switches; on RoCE see flow control (PFC) and congestion control (ECN)",
		    s->own.netdev, s->own.netdev);
}

static void probe_all(struct session *s)
{
	struct attempt first, other;
	struct attempt *works = &first;
	int mtu;

	memset(&first, 0, sizeof(first));
	first.probe.gid_index = -1;
	first.peer_gid = -1;
	mtu = try_rc(s, &first);
	if (!mtu && !s->is_broken && strcmp(s->own.link_layer, "Ethernet") == 0) {
		works = &other;
		mtu = try_other_pairs(s, &first, &other);
	}
	if (!mtu || s->is_broken)
		return;
	try_ud(s, works, mtu);
	if (!s->is_broken)
		say_loss(s);
}

/* --- Meeting ---------------------------------------------------------------------------------------- */

/* So that a network that loses large packets does not lose what the two say. */
static void keep_small(int tcp)
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
		doctor_say(DOCTOR_FAILED, "", "%s is not reached by TCP: nobody has its address",
			   host);
	else if (error == ENETUNREACH)
		doctor_say(DOCTOR_FAILED, "", "%s is not reached by TCP: no route leads there",
			   host);
	else
		doctor_say(DOCTOR_FAILED, "", "%s is not reached by TCP: %s", host,
			   strerror(error));
	doctor_evidence("connect(): %s", rdmaez_errno_str(error));
	if (error == ECONNREFUSED)
		doctor_next("on %s: rdmaez-doctor --listen %s", host, port);
	else if (error == ETIMEDOUT)
		doctor_next("see whether it is up: ping %s; and whether a firewall drops TCP port "
			    "%s",
			    host, port);
	else if (error == EHOSTUNREACH)
		doctor_next("see whether it is up, in the same subnet and VLAN: ip neighbour show");
	else
		doctor_next("ip route get %s", host);
}

/* A connection with the peer, or -1, which is said. */
static int reach(const struct peer_name *name)
{
	struct addrinfo hints, *found;
	int tcp = -1, error = 0, resolved;

	memset(&hints, 0, sizeof(hints));
	hints.ai_socktype = SOCK_STREAM;
	doctor_step("looking up %s", name->host);
	resolved = getaddrinfo(name->host, name->port, &hints, &found);
	if (resolved) {
		doctor_say(DOCTOR_FAILED, "", "%s is not found: %s", name->host,
			   gai_strerror(resolved));
		doctor_next("getent ahosts %s", name->host);
		return -1;
	}
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

/* What came is no hello. */
static void say_no_hello(const char *peer, enum talk_end end, const struct talk *talk)
{
	switch (end) {
	case TALK_SILENT:
		doctor_say(DOCTOR_FAILED, peer, "takes the TCP connection and says nothing");
		doctor_next("see whether another peer is being served; else whether it is "
			    "rdmaez-doctor --listen that listens there: ss --listening --tcp "
			    "--processes");
		break;
	case TALK_NEWER:
		doctor_say(DOCTOR_FAILED, peer, "speaks version %u of the protocol, this end %d",
			   talk->version, TALK_VERSION);
		doctor_next("install the same version of rdmaez at both ends");
		break;
	case TALK_CLOSED:
		doctor_say(DOCTOR_FAILED, peer, "takes the TCP connection and closes it");
		doctor_next("see what listens there: ss --listening --tcp --processes");
		break;
	default:
		doctor_say(DOCTOR_FAILED, peer, "is no rdmaez-doctor");
		doctor_evidence("it sent \"%s\"", talk->text);
		doctor_next("see what listens there: ss --listening --tcp --processes");
		break;
	}
}

static void say_sides(const struct session *s)
{
	const struct side *const own = &s->own, *const other = &s->other;

	doctor_say(DOCTOR_OK, s->peer, "is %s: kernel %s, rdma-core %s, rdmaez %s; here %s, %s, %s",
		   other->host, other->kernel, other->rdma_core, other->rdmaez, own->kernel,
		   own->rdma_core, own->rdmaez);
	if (own->problem[0]) {
		doctor_say(DOCTOR_FAILED, "", "this end has nothing to probe with: %s",
			   own->problem);
		doctor_next("rdmaez-doctor");
	}
	if (other->problem[0]) {
		doctor_say(DOCTOR_FAILED, s->peer, "has nothing to probe with: %s", other->problem);
		doctor_next("on the peer: rdmaez-doctor");
	}
}

/* Who speaks at both ends of the connection. */
static void begin_session(struct session *s, int tcp)
{
	union socket_address own, peer;
	socklen_t size = sizeof(own);

	memset(s, 0, sizeof(*s));
	memset(&own, 0, sizeof(own));
	memset(&peer, 0, sizeof(peer));
	s->tcp = tcp;
	getsockname(tcp, &own.any, &size);
	size = sizeof(peer);
	getpeername(tcp, &peer.any, &size);
	address_text(&peer, s->peer);
	if (rdmaez_exchange_peer(tcp, &s->address, NULL))
		memset(&s->address, 0, sizeof(s->address));
	look_here(&s->own, &own);
	snprintf(here, sizeof(here), "%s/%u", s->own.port.device, s->own.port.port);
}

void doctor_check_probe(void)
{
	static struct talk talk;
	struct peer_name name;
	struct session s;
	enum talk_end end;
	int tcp;

	if (!doctor_options.peer || !peer_parse(doctor_options.peer, &name))
		return;
	tcp = reach(&name);
	if (tcp < 0)
		return;
	begin_session(&s, tcp);
	doctor_step("waiting for what %s says", s.peer);
	tell(&s.own, &talk);
	end = talk_send(tcp, &talk, peer_in_ms(ANSWER_MS));
	if (end == TALK_WELL)
		end = talk_receive(tcp, &talk, "hello", peer_in_ms(ANSWER_MS));
	if (end == TALK_WELL && !take_told(&s.other, &talk))
		end = TALK_FOREIGN;
	if (end != TALK_WELL) {
		say_no_hello(s.peer, end, &talk);
		return;
	}
	say_sides(&s);
	if (!s.own.problem[0] && !s.other.problem[0] && compare(&s.own, &s.other))
		probe_all(&s);
	close(tcp);
}

/* --- The end that listens --------------------------------------------------------------------------- */

/* The connection that is served. */
static int served = -1;

/* What was asked for; false: nothing that can be. */
static bool take_probe(const struct session *s, const struct talk *talk, struct probe *probe)
{
	const char *const type = talk_value(talk, "type", NULL);
	const char *const gid = talk_value(talk, "gid", NULL);

	memset(probe, 0, sizeof(*probe));
	if (!type || !gid || (strcmp(type, "RC") != 0 && strcmp(type, "UD") != 0) ||
	    sscanf(gid, "%4d", &probe->gid_index) != 1 || probe->gid_index < -1 ||
	    probe->gid_index >= RDMAEZ_PATH_GIDS)
		return false;
	probe->type = type[0] == 'U' ? IBV_QPT_UD : IBV_QPT_RC;
	probe->port = s->own.port;
	probe->peer = s->address;
	return true;
}

static void add_why(struct talk *talk, const struct rdmaez_diag *diag)
{
	char why[256];

	put_why(diag, why, sizeof(why));
	talk_add(talk, "why %.199s", why);
	talk_add(talk, "fix %.199s", fix_of(diag));
}

static void say_served(const struct session *s, const struct probe_end *end, int error,
		       bool is_connected)
{
	const char *const type = end->type == IBV_QPT_UD ? "UD" : "RC";
	char why[256];

	if (!error && end->got) {
		doctor_say(DOCTOR_OK, here, "%s with %s: %u message%s came and went back", type,
			   s->peer, end->got, end->got == 1 ? "" : "s");
		return;
	}
	if (!error) {
		doctor_say(DOCTOR_WARNING, here, "%s with %s: connected, and no message came", type,
			   s->peer);
		return;
	}
	put_why(&end->diag, why, sizeof(why));
	doctor_say(DOCTOR_WARNING, here, "%s with %s: %s: %s", type, s->peer,
		   is_connected ? "messages could not be sent back" : "not connected", why);
	say_record(&end->diag);
}

/* Serves one probe; false: the conversation is over. */
static bool serve_probe(struct session *s, struct talk *talk)
{
	struct probe_counters after;
	struct probe_end end;
	struct probe probe;
	bool is_connected;
	char growth[512];
	int error;

	if (!take_probe(s, talk, &probe))
		return false;
	if (probe.type == IBV_QPT_RC)
		probe_count(&s->own.port, &s->before);
	doctor_step("opening a queue pair on %s", here);
	error = probe_open(&end, &probe);
	talk_begin(talk, "ready");
	if (error)
		add_why(talk, &end.diag);
	if (error || talk_send(s->tcp, talk, peer_in_ms(ANSWER_MS)) != TALK_WELL) {
		if (error)
			talk_send(s->tcp, talk, peer_in_ms(ANSWER_MS));
		say_served(s, &end, error ? error : ECONNRESET, false);
		probe_close(&end);
		return error != 0;
	}
	doctor_step("serving %s", s->peer);
	error = probe_connect(&end, s->tcp);
	is_connected = !error;
	if (!error)
		error = probe_echo(&end, s->tcp, peer_in_ms(PROBE_MS));
	if (talk_receive(s->tcp, talk, "done", peer_in_ms(PROBE_MS)) != TALK_WELL) {
		say_served(s, &end, error, is_connected);
		probe_close(&end);
		return false;
	}
	poll(NULL, 0, 30); /* as in say_loss() */
	probe_count(&s->own.port, &after);
	talk_begin(talk, "report");
	talk_add(talk, "got %u", end.got);
	if (error)
		add_why(talk, &end.diag);
	if (probe_growth(&s->before, &after, growth, sizeof(growth)))
		talk_add(talk, "growth %s", growth);
	say_served(s, &end, error, is_connected);
	probe_close(&end);
	return talk_send(s->tcp, talk, peer_in_ms(ANSWER_MS)) == TALK_WELL;
}

static void serve(void)
{
	static struct talk talk, own;
	struct session s;
	enum talk_end end;

	keep_small(served);
	begin_session(&s, served);
	tell(&s.own, &own);
	end = talk_receive(served, &talk, "hello", peer_in_ms(ANSWER_MS));
	/* To one of another version as well, so that it knows. */
	if (end == TALK_WELL || end == TALK_NEWER)
		talk_send(served, &own, peer_in_ms(ANSWER_MS));
	if (end == TALK_WELL && !take_told(&s.other, &talk))
		end = TALK_FOREIGN;
	if (end != TALK_WELL) {
		say_no_hello(s.peer, end, &talk);
		return;
	}
	say_sides(&s);
	do
		end = talk_receive(served, &talk, "probe", peer_in_ms(PROBE_MS));
	while (end == TALK_WELL && serve_probe(&s, &talk));
}

/* A socket that takes IPv6 and IPv4; where there is no IPv6, IPv4 alone. */
static int listen_on(uint16_t port)
{
	union socket_address any;
	const int yes = 1, no = 0;
	int tcp = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const bool is_v6 = tcp >= 0;

	memset(&any, 0, sizeof(any));
	if (is_v6) {
		any.v6.sin6_family = AF_INET6;
		any.v6.sin6_port = htons(port);
		setsockopt(tcp, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	} else {
		tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		any.v4.sin_family = AF_INET;
		any.v4.sin_port = htons(port);
	}
	if (tcp < 0)
		return -1;
	setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	keep_small(tcp);
	if (!bind(tcp, &any.any, is_v6 ? sizeof(any.v6) : sizeof(any.v4)) && !listen(tcp, 8))
		return tcp;
	close(tcp);
	return -1;
}

int doctor_listen(void)
{
	static const struct doctor_check check = {"serve", "", serve, 55000};
	const uint16_t port = doctor_options.port ? doctor_options.port : PEER_PORT;
	const int tcp = listen_on(port);

	if (tcp < 0) {
		fprintf(stderr, "rdmaez-doctor: cannot listen on TCP port %u: %s\n", port,
			strerror(errno));
		return 1;
	}
	fprintf(stderr, "rdmaez-doctor: listening on TCP port %u\n", port);
	for (;;) {
		served = accept4(tcp, NULL, NULL, SOCK_CLOEXEC);
		if (served < 0 && errno != EINTR && errno != ECONNABORTED)
			break;
		if (served < 0)
			continue;
		doctor_report(&check, 1);
		fflush(stdout);
		close(served);
	}
	fprintf(stderr, "rdmaez-doctor: accept(): %s\n", strerror(errno));
	return 1;
}
