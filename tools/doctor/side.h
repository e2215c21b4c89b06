/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --peer and --listen: what an end has for the other. */
#ifndef RDMAEZ_DOCTOR_SIDE_H
#define RDMAEZ_DOCTOR_SIDE_H

#include "path.h"
#include "talk.h"

enum {
	SIDE_GIDS = 16 /* that one end tells the other */
};

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
	} gid[SIDE_GIDS];
};

/* The version of rdma-core that libibverbs is of, "44.0"; "?": its file's name does not tell. */
void side_rdma_core(char *text, size_t size);
/* What this end has for a peer that is reached from this address. */
void side_look(struct side *side, const union socket_address *own);
/* Tells it, as a hello. */
void side_tell(const struct side *side, struct talk *talk);
/* Takes the peer's hello. False: it is none. */
bool side_take(struct side *side, const struct talk *talk);
/* Whether its port is one of RoCE or iWARP, which has a network interface. */
bool side_is_ethernet(const struct side *side);
/* Whether two GIDs, by their positions, can be used together. */
bool side_is_pair(const struct side *own, unsigned int i, const struct side *peer, unsigned int j);
/* Says what does not go together, in lines about `here`, the port of this end. False: a probe makes no sense. */
bool side_compare(const struct side *own, const struct side *peer, const char *here);

#endif
