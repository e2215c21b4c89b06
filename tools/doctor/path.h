/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --peer: addresses, and the RDMA ports that send from them. */
#ifndef RDMAEZ_DOCTOR_PATH_H
#define RDMAEZ_DOCTOR_PATH_H

#include "doctor.h"

#include <rdmaez.h>

#include <netinet/in.h>
#include <sys/socket.h>

#define ADDRESS_TEXT 64

union socket_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* The address without its port, "192.0.2.1" or "fe80::1%eth0". */
const char *address_text(const union socket_address *address, char text[ADDRESS_TEXT]);
/* The same as a GID, IPv4-mapped for IPv4. */
union ibv_gid address_gid(const union socket_address *address);
/* A GID as people know its address: without "::ffff:" before IPv4. */
const char *gid_text(const union ibv_gid *gid, char text[ADDRESS_TEXT]);

/* A port of an RDMA device; device "": there is none. */
struct rdma_port {
	char device[IBV_SYSFS_NAME_MAX];
	unsigned int port;
};
/* The RDMA port that sends by a network interface. */
struct rdma_port path_port_of(const char *netdev);
/* The network interface that has this address; "": none. */
void path_netdev_of(const union socket_address *address, char netdev[16]);
/* The network interface of an RDMA port; "": none. */
void path_netdev_of_port(const struct rdma_port *port, char netdev[16]);

/*
 * The interface by which the kernel sends from one IPv4 address of this machine to another one, of 4 bytes each. Returns 0
 * or an errno value; EADDRINUSE: both are of this machine.
 */
int path_leaves_by(const unsigned char *from, const unsigned char *to, char netdev[16]);

#endif
