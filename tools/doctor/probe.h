/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --peer and --listen: messages between two queue pairs. */
#ifndef RDMAEZ_DOCTOR_PROBE_H
#define RDMAEZ_DOCTOR_PROBE_H

#include "path.h"

/* What is tried. */
struct probe {
	struct rdma_port port; /* of this end */
	enum ibv_qp_type type; /* RC or UD */
	int gid_index;         /* of this end; -1: the one that rdmaez chooses */
	int mtu;               /* of the path, in bytes; 0: what both ports have */
	unsigned int timeout;  /* of the queue pair, a code; 0: the usual one */
	union ibv_gid peer;    /* the address by which the peer is known */
};

/* A queue pair, and what it needs; what came of it. */
struct probe_end {
	struct rdmaez_simple it;
	struct rdmaez_qp_opts opts;
	struct rdmaez_endpoint local, remote;
	struct rdmaez_qp_opts agreed;
	struct ibv_ah *ah;
	enum ibv_qp_type type;
	unsigned int slots;
	uint32_t slot_bytes;
	unsigned int sent, got;  /* messages, without failures */
	struct rdmaez_diag diag; /* of the last call that failed */
};

/* Each returns 0 or an errno value, and explains it in `end->diag`. */
int probe_open(struct probe_end *end, const struct probe *probe);
int probe_connect(struct probe_end *end, int tcp);
/* Sends a message of this many bytes, and takes in that it comes back the same. */
int probe_ping(struct probe_end *end, uint32_t bytes);
/* What became of datagrams on their way there and back. */
struct probe_fate {
	unsigned int sent;
	unsigned int lost;      /* did not come back */
	unsigned int twice;     /* came back more than once */
	unsigned int overtaken; /* came back after one that was sent later */
};
/*
 * Sends so many datagrams, each of this many bytes, or fewer if they take long; `round_trip_ns` is the longest time that
 * one is known to have taken.
 */
int probe_datagrams(struct probe_end *end, uint32_t bytes, unsigned int count,
		    uint64_t round_trip_ns, struct probe_fate *fate);
/* How long the queue pairs of a probe wait for an acknowledgement at least. */
uint64_t probe_ack_ns(const struct probe *probe);
/* Sends back what comes, until something comes by TCP or the time is over. */
int probe_echo(struct probe_end *end, int tcp, uint64_t until);
void probe_close(struct probe_end *end);

/* Counters of a port by which loss shows. */
enum {
	PROBE_COUNTERS = 32
};
struct probe_counters {
	uint64_t value[PROBE_COUNTERS];
};
void probe_count(const struct rdma_port *port, struct probe_counters *counters);
/* Writes what grew, "out_of_sequence +3, duplicate_request +1"; returns its length, 0: nothing did. */
size_t probe_growth(const struct probe_counters *before, const struct probe_counters *after,
		    char *text, size_t size);
/* Whether it is such a text, with these counters or others: it comes from the peer, who could say anything. */
bool probe_is_growth(const char *growth);
/* What such a text tells of: bits. */
enum probe_sign {
	PROBE_LOSS = 1, /* packets were missing, or damaged */
	PROBE_LATE = 2, /* no acknowledgement came in time, be it late or lost */
	PROBE_TWICE = 4 /* packets came again, be it from the sender or from the network */
};
unsigned int probe_signs(const char *growth);

#endif
