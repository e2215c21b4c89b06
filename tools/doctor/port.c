/* SPDX-License-Identifier: MIT */
/*
 * Ports: state, link, MTU, P_Keys.
 *
 * What the kernel's files do not have, the MTU in use above all, is asked of the device where it can be opened.
 */
#include "load.h"
#include "port.h"

#include <rdmaez.h>
#include <rdmaez/port_caps.h>

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- The list of ports ------------------------------------------------------------------------- */

/* Soft-RoCE names its interface in a file; of a PCI device all are listed, each with the number of its port. */
static void find_netdev_by_device(struct doctor_port *port)
{
	struct dirent **names;
	uint64_t dev_port;
	int i, count;

	if (!doctor_read(port->netdev, sizeof(port->netdev), "/sys/class/infiniband/%s/parent",
			 port->device))
		return;
	count = doctor_list(&names, "/sys/class/infiniband/%s/device/net", port->device);
	for (i = 0; i < count; i++) {
		if (!doctor_read_number(&dev_port, "/sys/class/net/%s/dev_port", names[i]->d_name))
			dev_port = 0;
		if (count > 1 && dev_port + 1 != port->num)
			continue;
		snprintf(port->netdev, sizeof(port->netdev), "%.15s", names[i]->d_name);
		return;
	}
}

/* The GID of an iWARP port begins with the Ethernet address of its interface. */
static void find_netdev_by_gid(struct doctor_port *port)
{
	char gid[64], address[32], wanted[32];
	struct dirent **names;
	int i, count;

	if (port->roce ||
	    doctor_read(gid, sizeof(gid), "/sys/class/infiniband/%s/ports/%u/gids/0", port->device,
			port->num) ||
	    strlen(gid) < 14)
		return;
	snprintf(wanted, sizeof(wanted), "%.2s:%.2s:%.2s:%.2s:%.2s:%.2s", gid, gid + 2, gid + 5,
		 gid + 7, gid + 10, gid + 12);
	count = doctor_list(&names, "/sys/class/net");
	for (i = 0; i < count; i++) {
		if (doctor_read(address, sizeof(address), "/sys/class/net/%s/address",
				names[i]->d_name) ||
		    strcmp(address, wanted) != 0)
			continue;
		snprintf(port->netdev, sizeof(port->netdev), "%.15s", names[i]->d_name);
		return;
	}
}

bool doctor_netdev_is_here(const char *netdev)
{
	if (!netdev[0])
		return false;
	return doctor_options.root ? doctor_exists("/sys/class/net/%s", netdev)
				   : if_nametoindex(netdev) != 0;
}

static void find_netdev(struct doctor_port *port)
{
	struct dirent **names;
	int i, count;

	count = doctor_list(&names, "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs",
			    port->device, port->num);
	for (i = 0; i < count && i < 16; i++)
		if (!doctor_read(port->netdev, sizeof(port->netdev),
				 "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%s",
				 port->device, port->num, names[i]->d_name))
			break;
	if (!port->netdev[0])
		find_netdev_by_device(port);
	if (!port->netdev[0])
		find_netdev_by_gid(port);
	port->netdev_here = doctor_netdev_is_here(port->netdev);
}

static void read_port(struct doctor_port *port, const char *device, unsigned int num)
{
	char line[32];
	uint64_t number;

	memset(port, 0, sizeof(*port));
	port->device = device;
	port->num = num;
	snprintf(port->subject, sizeof(port->subject), "%s/%u", device, num);
	if (doctor_read_number(&number, "/sys/class/infiniband/%s/ports/%u/state", device, num))
		port->state = (unsigned int)number;
	if (doctor_read_number(&number, "/sys/class/infiniband/%s/ports/%u/phys_state", device,
			       num))
		port->phys_state = (unsigned int)number;
	doctor_read(line, sizeof(line), "/sys/class/infiniband/%s/ports/%u/link_layer", device,
		    num);
	port->ethernet = !strcmp(line, "Ethernet");
	port->infiniband = !strcmp(line, "InfiniBand");
	doctor_read(line, sizeof(line), "/sys/class/infiniband/%s/node_type", device);
	port->roce = port->ethernet && line[0] != '4'; /* RDMA_NODE_RNIC is iWARP */
	if (port->ethernet)
		find_netdev(port);
}

unsigned int doctor_ports(const struct doctor_port **ports)
{
	struct doctor_port *list = NULL, *more;
	unsigned int i, count = 0;
	struct dirent **names;
	int n, names_count;

	for (i = 0; i < doctor_device_count(); i++) {
		names_count =
			doctor_list(&names, "/sys/class/infiniband/%s/ports", doctor_device(i));
		for (n = 0; n < names_count; n++) {
			more = (struct doctor_port *)realloc(list, (count + 1) * sizeof(*list));
			if (!more)
				break;
			list = more;
			read_port(&list[count++], doctor_device(i),
				  (unsigned int)strtoul(names[n]->d_name, NULL, 10));
		}
	}
	*ports = list;
	return count;
}

struct ibv_context *doctor_open(const char *device)
{
	struct ibv_context *context;

	if (doctor_options.root)
		return NULL;
	doctor_step("opening %s", device);
	if (load_error())
		return NULL;
	return rdmaez_device_open(device, &context, NULL) ? NULL : context;
}

int doctor_ethtool(const char *netdev, void *request)
{
	struct ifreq ifr;
	int fd, err = 0;

	if (doctor_options.root)
		return -EOPNOTSUPP;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	memset(&ifr, 0, sizeof(ifr));
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", netdev);
	ifr.ifr_data = (char *)request;
	doctor_step("asking %s by SIOCETHTOOL", netdev);
	if (ioctl(fd, SIOCETHTOOL, &ifr))
		err = -errno;
	close(fd);
	return err;
}

/* --- State ------------------------------------------------------------------------------------- */

/* What physical states mean while a port is DOWN. Some drivers of Ethernet report nothing but Disabled. */
static const char *phys_state_meaning(unsigned int phys_state)
{
	static const char *const meaning[] = {
		[1] = "the port sleeps",
		[2] = "the port is looking for its other end: there is no cable, or the port at "
		      "its other end is down",
		[3] = "the port is disabled",
		[4] = "the link is training; if that does not end, the cable or one of the ports "
		      "is bad",
		[6] = "the link is recovering from errors: check the cable and the transceiver",
		[7] = "the port is in a test of its physical layer",
	};

	if (phys_state >= sizeof(meaning) / sizeof(meaning[0]) || !meaning[phys_state])
		return "there is no link";
	return meaning[phys_state];
}

static void show_states(const struct doctor_port *port)
{
	char state[48], phys_state[48];

	doctor_read(state, sizeof(state), "/sys/class/infiniband/%s/ports/%u/state", port->device,
		    port->num);
	doctor_read(phys_state, sizeof(phys_state), "/sys/class/infiniband/%s/ports/%u/phys_state",
		    port->device, port->num);
	doctor_evidence("state %s, phys_state %s", state, phys_state);
}

/* One port without a link keeps programs from RDMA if it is the only one. */
static void say_down(const struct doctor_port *port, enum doctor_verdict verdict)
{
	uint64_t flags = 0, carrier = 1;

	if (port->netdev_here) {
		doctor_read_number(&flags, "/sys/class/net/%s/flags", port->netdev);
		if (!doctor_read_number(&carrier, "/sys/class/net/%s/carrier", port->netdev))
			carrier = 0; /* EINVAL while the interface is down */
	}
	if (port->netdev_here && !(flags & IFF_UP)) {
		doctor_say(verdict, port->subject,
			   "DOWN: its interface %s is down; its GIDs are still listed, but do not "
			   "work",
			   port->netdev);
		show_states(port);
		doctor_evidence("/sys/class/net/%s/flags: 0x%llx, without IFF_UP", port->netdev,
				(unsigned long long)flags);
		doctor_next("ip link set %s up", port->netdev);
	} else if (port->netdev_here && !carrier) {
		doctor_say(verdict, port->subject,
			   "DOWN: its interface %s is up, but has no carrier: check the cable, the "
			   "transceiver and the port at the other end",
			   port->netdev);
		show_states(port);
		doctor_evidence("/sys/class/net/%s/carrier: 0", port->netdev);
		doctor_next("ethtool %s", port->netdev);
	} else {
		doctor_say(verdict, port->subject, "DOWN: %s",
			   phys_state_meaning(port->phys_state));
		show_states(port);
		doctor_next(port->infiniband ? "ibstat %s %u" : "rdma link show %s/%u",
			    port->device, port->num);
	}
}

static void say_waiting(const struct doctor_port *port, enum doctor_verdict verdict)
{
	if (port->state == IBV_PORT_INIT && port->infiniband) {
		doctor_say(verdict, port->subject,
			   "INIT: the link is up, but no subnet manager has configured the port");
		show_states(port);
		doctor_next("start a subnet manager, in the switch or on one host: systemctl start "
			    "opensm");
	} else if (port->state == IBV_PORT_ARMED) {
		doctor_say(verdict, port->subject,
			   "ARMED: the subnet manager has configured the port, but has not "
			   "activated it yet");
		show_states(port);
		doctor_next("if it stays so, look at the subnet manager's log");
	} else if (port->state == IBV_PORT_ACTIVE_DEFER) {
		doctor_say(DOCTOR_WARNING, port->subject,
			   "ACTIVE_DEFER: the link was lost a moment ago, and should come back");
		show_states(port);
	} else {
		doctor_say(verdict, port->subject, "not ACTIVE");
		show_states(port);
	}
}

/* Returns whether the port can be used. */
static bool check_state(const struct doctor_port *port, bool other_active)
{
	enum doctor_verdict verdict = other_active ? DOCTOR_WARNING : DOCTOR_FAILED;
	char rate[48], operstate[24];

	if (port->state == IBV_PORT_DOWN) {
		say_down(port, verdict);
	} else if (!port->state) {
		doctor_say(DOCTOR_WARNING, port->subject, "its state cannot be read");
	} else if (port->state != IBV_PORT_ACTIVE) {
		say_waiting(port, verdict);
	} else {
		doctor_read(rate, sizeof(rate), "/sys/class/infiniband/%s/ports/%u/rate",
			    port->device, port->num);
		doctor_say(DOCTOR_OK, port->subject, "ACTIVE, %s%s%s",
			   rate[0] ? rate : "of unknown rate",
			   port->netdev[0] ? ", interface " : "", port->netdev);
		show_states(port);
		if (!doctor_read(operstate, sizeof(operstate), "/sys/class/net/%s/operstate",
				 port->netdev[0] ? port->netdev : "-"))
			doctor_evidence("%s: operstate %s", port->netdev, operstate);
	}
	return port->state == IBV_PORT_ACTIVE;
}

/* --- Link -------------------------------------------------------------------------------------- */

/* Gbit/s of the link modes of ethtool.h: from a bit on to the next row. 0: says nothing of speed. */
static const struct {
	uint16_t bit, gbit;
} link_modes[] = {
	{0, 0},    {12, 10},  {13, 0},   {18, 10},  {20, 0},   {21, 20},  {23, 40},
	{27, 56},  {31, 25},  {34, 50},  {36, 100}, {40, 50},  {41, 0},   {42, 10},
	{47, 0},   {52, 50},  {57, 100}, {62, 200}, {67, 0},   {69, 400}, {74, 0},
	{75, 100}, {80, 200}, {85, 400}, {90, 0},   {93, 800}, {99, 0},
};

/* The link modes that an interface supports, as 32-bit words. Returns how many words it has; 0: it does not say. */
static unsigned int supported_modes(const char *netdev, uint32_t *words, unsigned int room)
{
	const size_t head = sizeof(struct ethtool_link_settings);
	uint32_t buf[256]; /* the head, and three sets of at most 127 words cut to what fits */
	struct ethtool_link_settings link;
	unsigned int count;

	memset(&link, 0, sizeof(link));
	link.cmd = ETHTOOL_GLINKSETTINGS;
	memset(buf, 0, sizeof(buf));
	memcpy(buf, &link, head);
	if (doctor_ethtool(netdev, buf))
		return 0;
	memcpy(&link, buf, head);
	if (link.link_mode_masks_nwords >= 0)
		return 0;
	link.link_mode_masks_nwords = (__s8)-link.link_mode_masks_nwords;
	count = (unsigned int)link.link_mode_masks_nwords;
	if (head + 3 * count * sizeof(*buf) > sizeof(buf))
		return 0;
	link.cmd = ETHTOOL_GLINKSETTINGS;
	memcpy(buf, &link, head);
	if (doctor_ethtool(netdev, buf))
		return 0;
	count = count < room ? count : room;
	memcpy(words, (const char *)buf + head, count * sizeof(*words));
	return count;
}

/* The fastest of them in Gbit/s; 0: none is known. */
static unsigned int netdev_supports(const char *netdev)
{
	uint32_t words[4];
	unsigned int bits = 32 * supported_modes(netdev, words, 4), bit, row, best = 0;

	for (bit = 0; bit < bits; bit++) {
		if (!(words[bit / 32] >> bit % 32 & 1))
			continue;
		for (row = 0; row + 1 < sizeof(link_modes) / sizeof(link_modes[0]); row++)
			if (bit < link_modes[row + 1].bit)
				break;
		if (link_modes[row].gbit > best)
			best = link_modes[row].gbit;
	}
	return best;
}

static void check_speed(const struct doctor_port *port)
{
	unsigned int supported;
	uint64_t speed;
	bool slow;

	if (!port->netdev_here ||
	    !doctor_read_number(&speed, "/sys/class/net/%s/speed", port->netdev))
		return;
	supported = netdev_supports(port->netdev);
	if (!supported)
		return;
	slow = speed < supported * UINT64_C(1000);
	if (slow)
		doctor_say(
			DOCTOR_WARNING, port->subject,
			"the link runs at %g Gbit/s, but the device supports %u: the cable, the "
			"transceiver or the switch's port is slower, or somebody has set a speed",
			(double)speed / 1000, supported);
	else
		doctor_say(DOCTOR_OK, port->subject, "the link runs at the device's full speed");
	doctor_evidence("/sys/class/net/%s/speed: %llu; ETHTOOL_GLINKSETTINGS: up to %u000",
			port->netdev, (unsigned long long)speed, supported);
	if (slow)
		doctor_next("ethtool %s", port->netdev);
}

/* A link of InfiniBand falls to one lane, or to SDR, where the cable is bad. Its own maximum takes a MAD to ask. */
static void check_infiniband_link(const struct doctor_port *port)
{
	char rate[48];

	if (!port->infiniband ||
	    doctor_read(rate, sizeof(rate), "/sys/class/infiniband/%s/ports/%u/rate", port->device,
			port->num))
		return;
	if (!strstr(rate, "(1X") && !strstr(rate, " SDR)"))
		return;
	doctor_say(DOCTOR_WARNING, port->subject,
		   "the link runs at %s, to which links fall back if the cable or a port is bad",
		   rate);
	doctor_evidence("/sys/class/infiniband/%s/ports/%u/rate", port->device, port->num);
	doctor_next(
		"iblinkinfo --switches-only # as root: shows what each link supports, and runs at");
}

/* --- MTU --------------------------------------------------------------------------------------- */

enum {
	ROCE_HEADERS = 96,     /* what the kernel leaves room for: iboe_get_mtu() */
	ROCE_HEADERS_MIN = 44, /* IPv4, UDP, BTH and ICRC: no packet has fewer */
	ROCE_MTU_FULL = 4200   /* the usual MTU of an interface for a path MTU of 4096 */
};

static unsigned int roce_mtu(uint64_t netdev_mtu)
{
	enum ibv_mtu mtu;
	int room = netdev_mtu > INT32_MAX ? INT32_MAX : (int)netdev_mtu;

	if (room <= ROCE_HEADERS || rdmaez_mtu_from_bytes(room - ROCE_HEADERS, &mtu))
		return 0;
	return (unsigned int)rdmaez_mtu_bytes(mtu);
}

static void show_mtu(const struct doctor_port *port, uint64_t netdev_mtu,
		     const struct rdmaez_port_caps *caps)
{
	if (caps)
		doctor_evidence("ibv_query_port: active_mtu %u, max_mtu %u", caps->active_mtu_bytes,
				caps->max_mtu_bytes);
	else
		doctor_evidence("computed from the interface's MTU: the device was not opened");
	doctor_evidence("/sys/class/net/%s/mtu: %llu", port->netdev,
			(unsigned long long)netdev_mtu);
}

/* What the active MTU of a RoCE port is, and whether it is what the interface's MTU allows. */
static void judge_roce_mtu(const struct doctor_port *port, uint64_t netdev_mtu,
			   const struct rdmaez_port_caps *caps)
{
	unsigned int allowed = roce_mtu(netdev_mtu);
	const unsigned int active = caps ? caps->active_mtu_bytes : allowed;
	const unsigned int max = caps ? caps->max_mtu_bytes : 4096;
	const unsigned long long mtu = netdev_mtu;

	allowed = allowed > max ? max : allowed;
	if (!allowed || active + ROCE_HEADERS_MIN > netdev_mtu) {
		doctor_say(DOCTOR_WARNING, port->subject,
			   "MTU %llu of %s is too small for RoCE packets of %u bytes and their "
			   "headers",
			   mtu, port->netdev, active ? active : 256);
		show_mtu(port, netdev_mtu, caps);
		doctor_next("ip link set %s mtu 1500", port->netdev);
	} else if (active < allowed) {
		doctor_say(DOCTOR_WARNING, port->subject,
			   "MTU %u, although the MTU %llu of %s would allow %u: the driver has not "
			   "followed",
			   active, mtu, port->netdev, allowed);
		show_mtu(port, netdev_mtu, caps);
		doctor_next("ip link set %s down && ip link set %s up", port->netdev, port->netdev);
	} else if (active < 1024) {
		doctor_say(DOCTOR_WARNING, port->subject,
			   "MTU %u, because %s has %llu, less than the 1500 of Ethernet; peers "
			   "with a larger path MTU cannot reach this port",
			   active, port->netdev, mtu);
		show_mtu(port, netdev_mtu, caps);
		doctor_next("ip link set %s mtu 1500", port->netdev);
	} else if (active < max) {
		doctor_say(DOCTOR_NOTE, port->subject,
			   "MTU %u, from %llu of %s; %d there, at the peers and in the switches "
			   "would give %u",
			   active, mtu, port->netdev, max == 2048 ? 2200 : ROCE_MTU_FULL, max);
		show_mtu(port, netdev_mtu, caps);
		doctor_next("ip link set %s mtu %d", port->netdev,
			    max == 2048 ? 2200 : ROCE_MTU_FULL);
	} else {
		doctor_say(DOCTOR_OK, port->subject, "MTU %u, from %llu of %s", active, mtu,
			   port->netdev);
		show_mtu(port, netdev_mtu, caps);
	}
}

static void check_roce_mtu(const struct doctor_port *port, const struct rdmaez_port_caps *caps)
{
	uint64_t mtu;

	if (port->netdev_here && doctor_read_number(&mtu, "/sys/class/net/%s/mtu", port->netdev))
		judge_roce_mtu(port, mtu, caps);
}

static void check_infiniband_mtu(const struct doctor_port *port,
				 const struct rdmaez_port_caps *caps)
{
	if (!port->infiniband || !caps)
		return;
	if (caps->active_mtu_bytes < caps->max_mtu_bytes)
		doctor_say(DOCTOR_NOTE, port->subject,
			   "MTU %u, as the subnet manager has set it; the device supports %u",
			   caps->active_mtu_bytes, caps->max_mtu_bytes);
	else
		doctor_say(DOCTOR_OK, port->subject, "MTU %u", caps->active_mtu_bytes);
	doctor_evidence("ibv_query_port: active_mtu %u, max_mtu %u", caps->active_mtu_bytes,
			caps->max_mtu_bytes);
}

/* --- P_Keys ------------------------------------------------------------------------------------- */

static void check_pkeys(const struct doctor_port *port)
{
	unsigned int full = 0, limited = 0, read = 0;
	struct dirent **names;
	uint64_t pkey;
	int i, count;

	count = doctor_list(&names, "/sys/class/infiniband/%s/ports/%u/pkeys", port->device,
			    port->num);
	for (i = 0; i < count; i++) {
		if (!doctor_read_number(&pkey, "/sys/class/infiniband/%s/ports/%u/pkeys/%s",
					port->device, port->num, names[i]->d_name))
			continue;
		read++;
		if (pkey & 0x7fff)
			pkey & 0x8000 ? full++ : limited++;
	}
	if (!read || !port->infiniband)
		return;
	if (!full && !limited)
		doctor_say(DOCTOR_FAILED, port->subject,
			   "no P_Key: the port belongs to no partition, so it reaches nobody");
	else if (!full)
		doctor_say(DOCTOR_NOTE, port->subject,
			   "the port is a limited member of its partitions, so it reaches only "
			   "full members");
	else
		doctor_say(DOCTOR_OK, port->subject, "in %u partition%s", full + limited,
			   full + limited == 1 ? "" : "s");
	doctor_evidence("/sys/class/infiniband/%s/ports/%u/pkeys: %u full, %u limited",
			port->device, port->num, full, limited);
	if (!full && !limited)
		doctor_next("add the port to a partition of the subnet manager: partitions.conf of "
			    "opensm");
}

/* --- The check --------------------------------------------------------------------------------- */

/* What files tell comes first, since opening a device may take all the time there is. */
static void check_port(const struct doctor_port *port, bool other_active)
{
	const bool active = check_state(port, other_active);
	struct ibv_context *context = doctor_open(port->device);
	struct rdmaez_port_caps caps;
	const bool known = context && !rdmaez_port_caps_query(context, (int)port->num, &caps, NULL);

	if (active) {
		check_speed(port);
		check_infiniband_link(port);
		check_infiniband_mtu(port, known ? &caps : NULL);
		check_pkeys(port);
	}
	if (port->roce)
		check_roce_mtu(port, known ? &caps : NULL);
	if (context)
		ibv_close_device(context);
}

void doctor_check_port(void)
{
	const struct doctor_port *ports;
	unsigned int i, count = doctor_ports(&ports);
	bool active = false;

	for (i = 0; i < count; i++)
		active = active || ports[i].state == IBV_PORT_ACTIVE;
	for (i = 0; i < count; i++)
		check_port(&ports[i], active);
}
