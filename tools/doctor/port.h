/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-doctor: the ports of the devices, as all checks of ports begin with them.
 */
#ifndef RDMAEZ_DOCTOR_PORT_H
#define RDMAEZ_DOCTOR_PORT_H

#include "doctor.h"

#include <net/if.h>

#define DOCTOR_SUBJECT 80

struct doctor_port {
	const char *device;
	unsigned int num;
	char subject[DOCTOR_SUBJECT]; /* "mlx5_0/1" */
	char netdev[IF_NAMESIZE];     /* "": none is known */
	bool netdev_here;             /* it is in this network namespace */
	bool ethernet;                /* RoCE or iWARP */
	bool roce;
	bool infiniband;
	unsigned int state;      /* enum ibv_port_state; 0: not readable */
	unsigned int phys_state; /* the same, by the codes of IBTA */
};

/* All ports of the devices that are looked at. *ports lives as long as the check. */
unsigned int doctor_ports(const struct doctor_port **ports);

/* Whether an interface of this name is in this network namespace; /sys may be that of another one. */
bool doctor_netdev_is_here(const char *netdev);

/* Opens a device; NULL under --root, and where that fails, which another check reports. */
struct ibv_context *doctor_open(const char *device);

/* One request to a network interface of this machine, by SIOCETHTOOL. Returns 0 or a negative errno value. */
int doctor_ethtool(const char *netdev, void *request);

#endif
