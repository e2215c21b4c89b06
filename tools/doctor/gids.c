/* SPDX-License-Identifier: MIT */
/*
 * GIDs: the table that people know as show_gids, and what is wrong with it.
 *
 * The device tells which entries are in use, where it can be opened; without it, the kernel's files do.
 */
#include "port.h"

#include <rdmaez.h>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIDS_MAX 4096 /* of a port; drivers have 16 to 1024 */

struct gid {
	struct ibv_gid_entry entry;
	char netdev[IF_NAMESIZE]; /* "": none */
	bool here;                /* the interface is in this network namespace */
	bool up;
	bool has_address; /* the interface has it as its address, or nobody knows */
	bool is_address;  /* it has it for certain */
};

/* Those of one port. */
struct gids {
	struct gid gid[GIDS_MAX];
	unsigned int count;
	int chosen; /* -1: none */
	bool asked; /* the device was */
	int error;  /* of the first file that could not be read, as a positive errno value */
};

/* --- Reading ----------------------------------------------------------------------------------- */

static bool ask_device(const struct doctor_port *port, struct gids *gids)
{
	static struct ibv_gid_entry entries[GIDS_MAX];
	struct ibv_context *context = doctor_open(port->device);
	size_t i, count = 0;
	int err;

	if (!context)
		return false;
	doctor_step("asking %s for its GIDs", port->subject);
	err = rdmaez_port_gids(context, (int)port->num, entries, GIDS_MAX, &count, NULL);
	ibv_close_device(context);
	for (i = 0; !err && i < count; i++)
		gids->gid[i].entry = entries[i];
	gids->count = err ? 0 : (unsigned int)count;
	return !err;
}

static uint32_t type_from_text(const char *text, bool ethernet)
{
	if (strstr(text, "v2"))
		return IBV_GID_TYPE_ROCE_V2;
	return ethernet ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_IB;
}

static void read_files(const struct doctor_port *port, struct gids *gids)
{
	struct ibv_gid_entry *entry;
	struct dirent **names;
	char text[64];
	int i, count, err;

	count = doctor_list(&names, "/sys/class/infiniband/%s/ports/%u/gids", port->device,
			    port->num);
	gids->error = count < 0 ? -count : 0;
	for (i = 0; i < count && gids->count < GIDS_MAX; i++) {
		entry = &gids->gid[gids->count].entry;
		err = doctor_read(text, sizeof(text), "/sys/class/infiniband/%s/ports/%u/gids/%s",
				  port->device, port->num, names[i]->d_name);
		if (err && !gids->error)
			gids->error = -err;
		if (err || inet_pton(AF_INET6, text, entry->gid.raw) != 1 ||
		    rdmaez_gid_is_zero(&entry->gid))
			continue;
		entry->gid_index = (uint32_t)strtoul(names[i]->d_name, NULL, 10);
		entry->port_num = port->num;
		doctor_read(text, sizeof(text),
			    "/sys/class/infiniband/%s/ports/%u/gid_attrs/types/%s", port->device,
			    port->num, names[i]->d_name);
		entry->gid_type = type_from_text(text, port->ethernet);
		gids->count++;
	}
}

static bool same_address(const union ibv_gid *gid, const struct sockaddr *address)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)address;
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;

	if (address->sa_family == AF_INET6)
		return !memcmp(gid->raw, &in6->sin6_addr, 16);
	return address->sa_family == AF_INET && !memcmp(gid->raw, mapped, 12) &&
	       !memcmp(gid->raw + 12, &in->sin_addr, 4);
}

/* An address may have a label, "eth0:1", for its name. */
static bool is_of(const struct ifaddrs *address, const char *netdev)
{
	const size_t length = strlen(netdev);

	return address->ifa_addr && !strncmp(address->ifa_name, netdev, length) &&
	       (address->ifa_name[length] == '\0' || address->ifa_name[length] == ':');
}

static bool is_address_of(const struct ifaddrs *list, const struct gid *gid)
{
	for (; list; list = list->ifa_next)
		if (is_of(list, gid->netdev) && same_address(&gid->entry.gid, list->ifa_addr))
			return true;
	return false;
}

/* What is known of the interface of an entry. */
static void look_at_netdev(const struct doctor_port *port, struct gid *gid,
			   const struct ifaddrs *addresses)
{
	uint64_t number;

	doctor_read(gid->netdev, sizeof(gid->netdev),
		    "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%u", port->device, port->num,
		    gid->entry.gid_index);
	gid->here = doctor_netdev_is_here(gid->netdev);
	gid->up = gid->here &&
		  doctor_read_number(&number, "/sys/class/net/%s/flags", gid->netdev) &&
		  (number & IFF_UP);
	gid->is_address = is_address_of(addresses, gid);
	gid->has_address = !addresses || !gid->up || gid->is_address;
	if (doctor_options.root || !gid->entry.ndev_ifindex)
		gid->entry.ndev_ifindex = gid->netdev[0] ? 1 : 0;
}

static void choose(const struct doctor_port *port, struct gids *gids)
{
	int rank, best = 0;
	unsigned int i;

	gids->chosen = -1;
	for (i = 0; i < gids->count && (port->roce || port->infiniband); i++) {
		rank = rdmaez_gid_rank(&gids->gid[i].entry, NULL, NULL);
		if (rank > best) {
			best = rank;
			gids->chosen = (int)i;
		}
	}
}

static void read_gids(const struct doctor_port *port, struct gids *gids,
		      const struct ifaddrs *addresses)
{
	unsigned int i;

	memset(gids, 0, sizeof(*gids));
	gids->asked = ask_device(port, gids);
	if (!gids->asked)
		read_files(port, gids);
	for (i = 0; i < gids->count; i++)
		look_at_netdev(port, &gids->gid[i], addresses);
	choose(port, gids);
}

/* --- The table --------------------------------------------------------------------------------- */

static const char *type_text(const struct doctor_port *port, const struct gid *gid)
{
	if (port->ethernet && !port->roce)
		return "iWARP";
	if (gid->entry.gid_type == IBV_GID_TYPE_ROCE_V2)
		return "RoCE v2";
	return gid->entry.gid_type == IBV_GID_TYPE_ROCE_V1 ? "RoCE v1" : "IB";
}

static void send_row(const struct doctor_port *port, const struct gid *gid, bool chosen)
{
	const uint8_t *raw = gid->entry.gid.raw;
	struct doctor_gid row;
	size_t i, at = 0;

	memset(&row, 0, sizeof(row));
	snprintf(row.device, sizeof(row.device), "%s", port->device);
	row.port = port->num;
	row.index = gid->entry.gid_index;
	for (i = 0; i < 16; i += 2)
		at += (size_t)snprintf(row.gid + at, sizeof(row.gid) - at, "%s%02x%02x",
				       i ? ":" : "", raw[i], raw[i + 1]);
	if (rdmaez_gid_class(&gid->entry.gid) == RDMAEZ_GID_CLASS_IPV4)
		inet_ntop(AF_INET, raw + 12, row.address, sizeof(row.address));
	snprintf(row.type, sizeof(row.type), "%s", type_text(port, gid));
	snprintf(row.netdev, sizeof(row.netdev), "%s", gid->netdev);
	row.state = !gid->netdev[0] ? "" : !gid->here ? "elsewhere" : gid->up ? "up" : "down";
	row.chosen = chosen;
	doctor_gid(&row);
}

/* --- Findings ---------------------------------------------------------------------------------- */

/* The indices of a set of entries, "0, 1, 4"; long ones are cut. */
struct indices {
	char text[96];
	unsigned int count;
};

static void add_index(struct indices *indices, const struct gid *gid)
{
	size_t length = strlen(indices->text);

	if (length < sizeof(indices->text) - 16)
		snprintf(indices->text + length, sizeof(indices->text) - length, "%s%u",
			 indices->count ? ", " : "", gid->entry.gid_index);
	else if (indices->text[length - 1] != '.')
		snprintf(indices->text + length, sizeof(indices->text) - length, ", ...");
	indices->count++;
}

static const char *plural(const struct indices *indices)
{
	return indices->count == 1 ? "index" : "indices";
}

static bool is_link_local(const struct gid *gid)
{
	return rdmaez_gid_class(&gid->entry.gid) == RDMAEZ_GID_CLASS_LINK_LOCAL;
}

static void show_source(const struct doctor_port *port, const struct gids *gids)
{
	if (gids->asked)
		doctor_evidence("ibv_query_gid_table: port %u, entries %u", port->num, gids->count);
	else
		doctor_evidence("/sys/class/infiniband/%s/ports/%u/gids: entries %u", port->device,
				port->num, gids->count);
}

static void say_empty(const struct doctor_port *port, const struct gids *gids)
{
	if (gids->error) {
		doctor_say(DOCTOR_NOTE, port->subject, "the GIDs cannot be read");
		doctor_evidence("/sys/class/infiniband/%s/ports/%u/gids: %s", port->device,
				port->num, strerror(gids->error));
		return;
	}
	doctor_say(DOCTOR_FAILED, port->subject,
		   "the GID table is empty, so no queue pair of this port can be connected");
	show_source(port, gids);
	if (port->netdev[0])
		doctor_next("ip link set %s up && ip address add ADDRESS/PREFIX dev %s",
			    port->netdev, port->netdev);
	else
		doctor_next("give this network namespace an interface of %s: macvlan, SR-IOV, or "
			    "the interface itself",
			    port->device);
}

/* Which entry a program gets that leaves the choice to rdmaez, and which others are as good. */
static void say_chosen(const struct doctor_port *port, const struct gids *gids)
{
	const struct gid *chosen = &gids->gid[gids->chosen];
	const int rank = rdmaez_gid_rank(&chosen->entry, NULL, NULL);
	struct indices equal = {"", 0};
	char gid[RDMAEZ_GID_TEXT];
	unsigned int i;

	rdmaez_gid_format(&chosen->entry.gid, gid, sizeof(gid));
	doctor_say(DOCTOR_OK, port->subject, "GIDs: %u; rdmaez would choose index %u, %s, %s%s%s",
		   gids->count, chosen->entry.gid_index, gid, type_text(port, chosen),
		   chosen->netdev[0] ? ", " : "", chosen->netdev);
	show_source(port, gids);
	for (i = 0; i < gids->count; i++)
		if (rdmaez_gid_rank(&gids->gid[i].entry, NULL, NULL) == rank)
			add_index(&equal, &gids->gid[i]);
	if (equal.count < 2 || port->infiniband)
		return;
	doctor_say(DOCTOR_NOTE, port->subject,
		   "indices %s are equally good: use the one from whose address the route to the "
		   "peer starts",
		   equal.text);
	show_source(port, gids);
	doctor_next("ip route get PEER # its src is the address; --gids shows the index of it");
}

static void say_link_local(const struct doctor_port *port, const struct gids *gids)
{
	struct indices others = {"", 0};
	unsigned int i;

	for (i = 0; i < gids->count; i++)
		if (!is_link_local(&gids->gid[i]))
			add_index(&others, &gids->gid[i]);
	if (!others.count) {
		doctor_say(DOCTOR_WARNING, port->subject,
			   "only link-local GIDs: interface %s has no address, so it reaches peers "
			   "only on the same Ethernet segment, and programs that want an IPv4 GID "
			   "find none",
			   port->netdev[0] ? port->netdev : "of the port");
		show_source(port, gids);
		doctor_next("ip address add ADDRESS/PREFIX dev %s",
			    port->netdev[0] ? port->netdev : "INTERFACE");
	} else if (gids->count && !gids->gid[0].entry.gid_index && is_link_local(&gids->gid[0]) &&
		   gids->chosen > 0) {
		unsigned int index = gids->gid[gids->chosen].entry.gid_index;

		doctor_say(DOCTOR_NOTE, port->subject,
			   "index 0 is link-local, and many programs use it unless you name "
			   "another: name index %u",
			   index);
		show_source(port, gids);
		doctor_next("ib_write_bw -x %u, ibv_rc_pingpong -g %u, UCX_IB_GID_INDEX=%u, "
			    "NCCL_IB_GID_INDEX=%u",
			    index, index, index, index);
	}
}

/* Most adapters list each address twice, as RoCE v1 and as v2. */
static void say_versions(const struct doctor_port *port, const struct gids *gids)
{
	struct indices v1 = {"", 0}, v2 = {"", 0};
	unsigned int i;

	for (i = 0; i < gids->count; i++)
		add_index(gids->gid[i].entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? &v2 : &v1,
			  &gids->gid[i]);
	if (!v1.count)
		return;
	if (!v2.count) {
		doctor_say(DOCTOR_WARNING, port->subject,
			   "RoCE v1 only: routers do not forward it, and peers with RoCE v2 do not "
			   "answer");
	} else {
		doctor_say(DOCTOR_NOTE, port->subject,
			   "the same address as RoCE v1 (%s %s) and as v2 (%s %s): both ends must "
			   "use the same version, and routers forward only v2",
			   plural(&v1), v1.text, plural(&v2), v2.text);
	}
	show_source(port, gids);
}

/* Those whose interface is in another network namespace are counted by the check of that name. */
static void say_netdevs(const struct doctor_port *port, const struct gids *gids)
{
	struct indices none = {"", 0}, down = {"", 0};
	const struct gid *gid;
	unsigned int i;

	for (i = 0; i < gids->count; i++) {
		gid = &gids->gid[i];
		if (!gid->netdev[0])
			add_index(&none, gid);
		else if (gid->here && !gid->up)
			add_index(&down, gid);
	}
	if (none.count) {
		doctor_say(DOCTOR_WARNING, port->subject,
			   "%s %s belongs to no interface, so the kernel refuses a queue pair that "
			   "uses it",
			   plural(&none), none.text);
		show_source(port, gids);
	}
	if (down.count) {
		doctor_say(DOCTOR_WARNING, port->subject, "%s %s: the interface is down",
			   plural(&down), down.text);
		show_source(port, gids);
		doctor_next("rdmaez-doctor --gids; ip link set INTERFACE up");
	}
}

/*
 * A link-local GID that is made of an Ethernet address (EUI-64), but of another one than the interface has now: the address
 * was changed, and the default GID was not, which happened to virtual functions before Linux 7.0 (9af0feae8016). Peers
 * look for a neighbour that there is not. It may also be the interface's IPv6 address that was not changed: that answers.
 */
static void say_other_mac(const struct doctor_port *port, const struct gids *gids)
{
	unsigned int i, mac[6];
	char address[32];

	for (i = 0; i < gids->count; i++) {
		const struct gid *const gid = &gids->gid[i];
		const uint8_t *const raw = gid->entry.gid.raw;

		if (gid->is_address || !is_link_local(gid) || raw[11] != 0xff || raw[12] != 0xfe ||
		    !gid->netdev[0] ||
		    doctor_read(address, sizeof(address), "/sys/class/net/%s/address",
				gid->netdev) ||
		    sscanf(address, "%2x:%2x:%2x:%2x:%2x:%2x", &mac[0], &mac[1], &mac[2], &mac[3],
			   &mac[4], &mac[5]) != 6 ||
		    (raw[8] == (mac[0] ^ 2) && raw[9] == mac[1] && raw[10] == mac[2] &&
		     raw[13] == mac[3] && raw[14] == mac[4] && raw[15] == mac[5]))
			continue;
		doctor_say(DOCTOR_WARNING, port->subject,
			   "index %u was made from the Ethernet address "
			   "%02x:%02x:%02x:%02x:%02x:%02x, and %s now has another one",
			   gid->entry.gid_index, raw[8] ^ 2, raw[9], raw[10], raw[13], raw[14],
			   raw[15], gid->netdev);
		doctor_evidence("/sys/class/net/%s/address: %s", gid->netdev, address);
		doctor_next("as root: ip link set %s down; ip link set %s up; for a virtual "
			    "function, set its address before you load its driver",
			    gid->netdev, gid->netdev);
		return;
	}
}

/* --- GIDs and addresses ------------------------------------------------------------------------ */

/*
 * The kernel makes the default GID from the interface's Ethernet address, whether or not the interface has that
 * address: with stable-privacy it has another one, and nobody answers neighbour solicitations for the GID.
 */
static void say_no_address(const struct doctor_port *port, const struct gids *gids)
{
	struct indices lacking = {"", 0};
	const struct gid *gid = NULL;
	char text[RDMAEZ_GID_TEXT];
	unsigned int i;
	bool local = true;

	for (i = 0; i < gids->count; i++) {
		if (gids->gid[i].has_address)
			continue;
		gid = &gids->gid[i];
		local = local && is_link_local(gid);
		add_index(&lacking, gid);
	}
	if (!gid)
		return;
	rdmaez_gid_format(&gid->entry.gid, text, sizeof(text));
	doctor_say(local ? DOCTOR_NOTE : DOCTOR_WARNING, port->subject,
		   "%s %s: %s is not an address of %s, so peers do not find it by RoCE v2",
		   plural(&lacking), lacking.text, text, gid->netdev);
	doctor_evidence("getifaddrs: %s does not have it", gid->netdev);
	doctor_next("use another index, or: ip address add %s/64 dev %s", text, gid->netdev);
}

static bool has_gid(const struct gids *gids, const struct ifaddrs *address)
{
	unsigned int i;

	for (i = 0; i < gids->count; i++)
		if (same_address(&gids->gid[i].entry.gid, address->ifa_addr))
			return true;
	return false;
}

/* Writes an address that should have a GID; a link-local one need not, as its GID is the default one. */
static bool wants_gid(const struct sockaddr *address, char text[INET6_ADDRSTRLEN])
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)address;
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;

	if (address->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
		return inet_ntop(AF_INET6, &in6->sin6_addr, text, INET6_ADDRSTRLEN) != NULL;
	return address->sa_family == AF_INET &&
	       inet_ntop(AF_INET, &in->sin_addr, text, INET6_ADDRSTRLEN) != NULL;
}

static void say_no_gid(const struct doctor_port *port, const struct gids *gids,
		       const struct ifaddrs *list)
{
	char text[INET6_ADDRSTRLEN], first[INET6_ADDRSTRLEN] = "";
	unsigned int count = 0;

	for (; list; list = list->ifa_next)
		if (is_of(list, port->netdev) && !has_gid(gids, list) &&
		    wants_gid(list->ifa_addr, text) && count++ == 0)
			snprintf(first, sizeof(first), "%s", text);
	if (!count)
		return;
	doctor_say(DOCTOR_WARNING, port->subject,
		   "addresses of %s without a GID: %u, such as %s; the table is full, or the "
		   "driver does not follow",
		   port->netdev, count, first);
	show_source(port, gids);
	doctor_next("remove addresses that you do not need, then remove and add this one: ip "
		    "address del %s dev %s",
		    first, port->netdev);
}

/* --- The check --------------------------------------------------------------------------------- */

static void check_port(const struct doctor_port *port, const struct gids *gids,
		       const struct ifaddrs *addresses)
{
	if (!port->roce && !port->infiniband)
		return; /* iWARP is connected by rdma_cm alone, EFA in its own way */
	if (!gids->count) {
		if (port->roce)
			say_empty(port, gids);
		return;
	}
	if (gids->chosen >= 0)
		say_chosen(port, gids);
	if (!port->roce)
		return;
	say_link_local(port, gids);
	say_versions(port, gids);
	say_netdevs(port, gids);
	say_other_mac(port, gids);
	say_no_address(port, gids);
	if (addresses && port->netdev_here)
		say_no_gid(port, gids, addresses);
}

void doctor_check_gids(void)
{
	static struct gids gids;
	const struct doctor_port *ports;
	struct ifaddrs *addresses = NULL;
	unsigned int i, n, count = doctor_ports(&ports);

	if (!doctor_options.root && getifaddrs(&addresses))
		addresses = NULL;
	for (i = 0; i < count; i++) {
		read_gids(&ports[i], &gids, addresses);
		for (n = 0; n < gids.count; n++)
			send_row(&ports[i], &gids.gid[n], (int)n == gids.chosen);
		check_port(&ports[i], &gids, addresses);
	}
	if (addresses)
		freeifaddrs(addresses);
}
