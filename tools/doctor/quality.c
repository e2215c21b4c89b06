/* SPDX-License-Identifier: MIT */
/*
 * Quality of service of RoCE ports: which priorities lose nothing (PFC), and what gives a packet its priority. The
 * kernel tells it by DCB; MLNX_OFED and DOCA have files of their own, and a traffic class for all of a device.
 */
#include "dcb.h"
#include "driver.h"
#include "port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where each came from. */
struct sources {
	char pfc[80], trust[80], map[96];
};

/* "00010000", priority 0 first. */
static void read_pfc(const char *netdev, struct doctor_dcb *dcb, struct sources *from)
{
	char text[16];

	if (doctor_read(text, sizeof(text), "/sys/class/net/%s/qos/pfc", netdev) ||
	    strlen(text) != 8 || strspn(text, "01") != 8)
		return;
	dcb->has_pfc = true;
	dcb->pfc = 0;
	for (unsigned int i = 0; i < 8; i++)
		dcb->pfc = (uint8_t)(dcb->pfc | (text[i] == '1') << i);
	snprintf(from->pfc, sizeof(from->pfc), "/sys/class/net/%.15s/qos/pfc: %s", netdev, text);
}

static void read_trust(const char *netdev, struct doctor_dcb *dcb, struct sources *from)
{
	char text[16];

	if (doctor_read(text, sizeof(text), "/sys/class/net/%s/qos/trust", netdev) ||
	    (strcmp(text, "dscp") != 0 && strcmp(text, "pcp") != 0))
		return;
	dcb->has_trust = true;
	dcb->trusts_dscp = text[0] == 'd';
	snprintf(from->trust, sizeof(from->trust), "/sys/class/net/%.15s/qos/trust: %s", netdev,
		 text);
}

/*
 * Which priority each DSCP leads to, where it is a file that says what is trusted: then DCB has no such table. A line of
 * names, and "26 3" in each that follows, as mlnx_qos reads it (print_dscp2prio_sysfs()).
 */
static void read_map(const char *netdev, struct doctor_dcb *dcb, struct sources *from)
{
	char text[2048], *line = text;
	unsigned int dscp, priority;

	if (!dcb->has_trust || !dcb->trusts_dscp || dcb->mapped ||
	    doctor_read_all(text, sizeof(text), "/sys/class/net/%s/qos/dscp2prio", netdev) < 0)
		return;
	while ((line = strchr(line, '\n')) != NULL && *++line) {
		if (sscanf(line, "%u %u", &dscp, &priority) != 2 || dscp >= DCB_DSCPS ||
		    priority > 7)
			continue;
		dcb->mapped += dcb->priority[dscp] == DCB_NOT_KNOWN;
		dcb->priority[dscp] = (uint8_t)priority;
	}
	if (dcb->mapped)
		snprintf(from->map, sizeof(from->map),
			 "/sys/class/net/%.15s/qos/dscp2prio: %u DSCPs have a priority", netdev,
			 dcb->mapped);
}

/* mlx5 lists all DSCPs while it trusts them, and none else: mlx5e_dcbnl_init_app(), mlx5e_dcbnl_ieee_delapp(). */
static void conclude_trust(const char *netdev, struct doctor_dcb *dcb, struct sources *from)
{
	char driver[64];

	if (!dcb->has_trust &&
	    !doctor_read_link(driver, sizeof(driver), "/sys/class/net/%s/device/driver", netdev) &&
	    doctor_driver_by_parent(driver) == doctor_driver_by_name("mlx5_ib")) {
		dcb->has_trust = true;
		dcb->trusts_dscp = dcb->mapped > 0;
	}
	if (dcb->has_trust && !from->trust[0])
		snprintf(from->trust, sizeof(from->trust),
			 "DCB: trust %s, %u DSCPs have a priority",
			 dcb->trusts_dscp ? "dscp" : "pcp", dcb->mapped);
}

static void look(const char *netdev, struct doctor_dcb *dcb, struct sources *from)
{
	bool has_dcb = false;

	memset(from, 0, sizeof(*from));
	doctor_dcb_clear(dcb);
	if (!doctor_options.root) {
		doctor_step("asking the kernel for the priorities of %s", netdev);
		has_dcb = !doctor_dcb_ask(netdev, dcb);
		if (dcb->has_pfc)
			snprintf(from->pfc, sizeof(from->pfc), "DCB of %.15s: pfc_en 0x%02x",
				 netdev, dcb->pfc);
	}
	if (!dcb->has_pfc)
		read_pfc(netdev, dcb, from);
	if (!dcb->has_trust)
		read_trust(netdev, dcb, from);
	read_map(netdev, dcb, from);
	if (has_dcb)
		conclude_trust(netdev, dcb, from);
}

/* The traffic class that MLNX_OFED gives all queue pairs of a port; -1: none, or there is no such file. */
static int fixed_class(const struct doctor_port *port)
{
	char text[64];
	int value;

	if (doctor_read(text, sizeof(text), "/sys/class/infiniband/%s/tc/%u/traffic_class",
			port->device, port->num) ||
	    sscanf(text, "Global tclass=%d", &value) != 1 || value < 0 || value > 255)
		return -1;
	return value;
}

/* "priority 3", "priorities 3, 4" */
static const char *put_priorities(char *text, size_t size, unsigned int mask)
{
	const unsigned int count = (unsigned int)__builtin_popcount(mask);
	size_t length =
		(size_t)snprintf(text, size, "%s", count == 1 ? "priority " : "priorities ");
	const char *between = "";

	for (unsigned int i = 0; i < 8; i++) {
		if (!(mask >> i & 1))
			continue;
		length += (size_t)snprintf(text + length, size - length, "%s%u", between, i);
		between = ", ";
	}
	return text;
}

static void show(const struct sources *from)
{
	doctor_evidence("%s", from->pfc);
	if (from->trust[0])
		doctor_evidence("%s", from->trust);
	if (from->map[0])
		doctor_evidence("%s", from->map);
}

/* The first DSCP whose priority is lossless; -1: none is known. */
static int lossless_dscp(const struct doctor_dcb *dcb)
{
	for (int i = 0; i < DCB_DSCPS; i++)
		if (dcb->priority[i] != DCB_NOT_KNOWN && dcb->pfc >> dcb->priority[i] & 1)
			return i;
	return -1;
}

static void judge_class(const struct doctor_port *port, const struct doctor_dcb *dcb,
			const struct sources *from, int fixed)
{
	const unsigned int dscp = fixed < 0 ? 0 : (unsigned int)fixed >> 2;
	const unsigned int priority = dcb->trusts_dscp ? dcb->priority[dscp] : 0;
	const int better = lossless_dscp(dcb);
	char mask[40], whose[96];
	bool is_lossless;

	put_priorities(mask, sizeof(mask), dcb->pfc);
	if (!dcb->has_trust || priority == DCB_NOT_KNOWN) {
		doctor_say(DOCTOR_OK, port->subject, "%s %s protected from loss (PFC)", mask,
			   dcb->pfc & (dcb->pfc - 1) ? "are" : "is");
		show(from);
		doctor_evidence("rdmaez-doctor does not know which packets have it");
		return;
	}
	if (!dcb->trusts_dscp)
		snprintf(whose, sizeof(whose), "packets without a VLAN tag");
	else if (fixed < 0)
		snprintf(whose, sizeof(whose), "packets of programs that set no traffic class");
	else
		snprintf(whose, sizeof(whose),
			 "packets of traffic class %d, DSCP %u, which the device uses for all "
			 "queue pairs,",
			 fixed, dscp);
	is_lossless = dcb->pfc >> priority & 1;
	if (is_lossless)
		doctor_say(DOCTOR_OK, port->subject,
			   "%s have priority %u, which is protected from loss (PFC)", whose,
			   priority);
	else
		doctor_say(fixed < 0 ? DOCTOR_NOTE : DOCTOR_WARNING, port->subject,
			   "%s have priority %u, but only %s %s protected from loss (PFC)", whose,
			   priority, mask, dcb->pfc & (dcb->pfc - 1) ? "are" : "is");
	show(from);
	if (fixed >= 0)
		doctor_evidence("/sys/class/infiniband/%s/tc/%u/traffic_class: %d", port->device,
				port->num, fixed);
	if (is_lossless)
		return;
	if (!dcb->trusts_dscp)
		doctor_next(
			"as root: mlnx_qos -i %s --trust dscp, or: dcb app add dev %s dscp-prio "
			"26:3; then set the traffic class of DSCP 26, 104",
			port->netdev, port->netdev);
	else if (better >= 0 && fixed >= 0)
		doctor_next("as root: echo %d >/sys/class/infiniband/%s/tc/%u/traffic_class # DSCP "
			    "%d; a class that a program sets does not count",
			    better << 2, port->device, port->num, better);
	else if (better >= 0)
		doctor_next("set traffic class %d, DSCP %d: path.traffic_class, "
			    "UCX_IB_TRAFFIC_CLASS, NCCL_IB_TC",
			    better << 2, better);
}

/*
 * The traffic class that rdma_cm gives connections whose program sets none (RDMA_OPTION_ID_TOS): cma_resolve_iboe_route()
 * of the kernel's cma.c. The folder of a device is there once somebody has made it, as cma_roce_tos does.
 */
static void judge_cm(const struct doctor_port *port, const struct doctor_dcb *dcb, int fixed)
{
	static const char file[] = "/sys/kernel/config/rdma_cm/%s/ports/%u/default_roce_tos";
	const int better = lossless_dscp(dcb);
	uint64_t tos;
	unsigned int priority;

	if (fixed >= 0 || !dcb->has_trust || !dcb->trusts_dscp ||
	    !doctor_read_number(&tos, file, port->device, port->num) || tos > 255)
		return;
	priority = dcb->priority[tos >> 2];
	if (priority == DCB_NOT_KNOWN)
		return;
	if (dcb->pfc >> priority & 1) {
		doctor_say(DOCTOR_OK, port->subject,
			   "connections of rdma_cm have priority %u, which is protected from loss "
			   "(PFC)",
			   priority);
		return;
	}
	doctor_say(
		DOCTOR_NOTE, port->subject,
		"connections of rdma_cm have priority %u, which is not protected from loss (PFC)",
		priority);
	doctor_evidence("/sys/kernel/config/rdma_cm/%s/ports/%u/default_roce_tos: %u, DSCP %u",
			port->device, port->num, (unsigned int)tos, (unsigned int)tos >> 2);
	if (better >= 0)
		doctor_next("as root: echo %d >/sys/kernel/config/rdma_cm/%s/ports/%u/"
			    "default_roce_tos, or in the program RDMA_OPTION_ID_TOS",
			    better << 2, port->device, port->num);
}

/* Congestion control by marks, as the files of MLNX_OFED show it for each priority. */
static void judge_ecn(const struct doctor_port *port, const struct doctor_dcb *dcb)
{
	static const char *const ends[] = {"roce_np", "roce_rp"};
	uint64_t value;

	for (unsigned int i = 0; i < 8; i++) {
		for (unsigned int end = 0; end < 2; end++) {
			if (!(dcb->pfc >> i & 1) ||
			    !doctor_read_number(&value, "/sys/class/net/%s/ecn/%s/enable/%u",
						port->netdev, ends[end], i) ||
			    value)
				continue;
			doctor_say(DOCTOR_NOTE, port->subject,
				   "priority %u %s ECN: only pauses hold back a sender that is too "
				   "fast",
				   i, end ? "does not slow down by" : "does not answer marks of");
			doctor_evidence("/sys/class/net/%s/ecn/%s/enable/%u: 0", port->netdev,
					ends[end], i);
			doctor_next("as root: echo 1 >/sys/class/net/%s/ecn/%s/enable/%u",
				    port->netdev, ends[end], i);
		}
	}
}

static void check_port(const struct doctor_port *port)
{
	struct doctor_dcb dcb;
	struct sources from;

	look(port->netdev, &dcb, &from);
	if (!dcb.has_pfc)
		return;
	if (dcb.pfc) {
		judge_class(port, &dcb, &from, fixed_class(port));
		judge_cm(port, &dcb, fixed_class(port));
		judge_ecn(port, &dcb);
		return;
	}
	doctor_say(DOCTOR_NOTE, port->subject,
		   "no priority is lossless (PFC is off): if a switch or this port is full, "
		   "packets are dropped and sent again");
	show(&from);
	doctor_next("if the network is meant to be lossless, set PFC here and in every switch: dcb "
		    "pfc set dev %s prio-pfc 3:on, or mlnx_qos -i %s --pfc 0,0,0,1,0,0,0,0",
		    port->netdev, port->netdev);
}

void doctor_check_quality(void)
{
	const struct doctor_port *ports;
	unsigned int i, count = doctor_ports(&ports);

	for (i = 0; i < count; i++)
		if (ports[i].roce && ports[i].netdev_here)
			check_port(&ports[i]);
}
