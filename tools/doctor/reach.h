/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --peer: what it names, and TCP to there. */
#ifndef RDMAEZ_DOCTOR_REACH_H
#define RDMAEZ_DOCTOR_REACH_H

#include "doctor.h"

#include <netdb.h>

#define PEER_PORT 18510 /* unless --listen or --peer names another */

/* What --peer names. */
struct peer_name {
	char host[256];
	char port[8];
};
/* False: it is no HOST, HOST:PORT or [HOST]:PORT. */
bool peer_parse(const char *text, struct peer_name *name);
/* Its addresses, for freeaddrinfo(); NULL: there are none, which is said. */
struct addrinfo *peer_look_up(const struct peer_name *name);

/* A connection with the peer, or -1, which is said. */
int peer_reach(const struct peer_name *name);

/* So that a network that loses large packets does not lose what the two say. */
void keep_small(int tcp);
/* How many packets TCP had to send again. */
unsigned int resent(int tcp);
/* How long a packet of TCP and its acknowledgement take at least, which only kernels see to; 0: not known. */
uint64_t way_ns(int tcp);

#endif
