/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-doctor --peer and --listen: a conversation.
 *
 * Two doctors meet over TCP. Both say hello, each with the port it will use, and then the one with --peer asks for one
 * probe after the other: a queue pair at each end, and messages that the one with --listen sends back.
 *
 * Each file calls only those before it: talk.c and reach.c, path.c, side.c and probe.c, session.c, ask.c, and at last
 * peer.c at this end and serve.c at the other. A doctor that looks at a process asks by afar.c, without a hello.
 */
#ifndef RDMAEZ_DOCTOR_SESSION_H
#define RDMAEZ_DOCTOR_SESSION_H

#include "probe.h"
#include "side.h"

enum {
	ANSWER_MS = 5000, /* how long a message may take */
	HELLO_MS = 6000   /* the first one, before which who connects looks at its devices */
};

/* A conversation with the peer. */
struct session {
	int tcp;
	char peer[ADDRESS_TEXT]; /* its address */
	union ibv_gid address;   /* the same, zero if it is of no use */
	struct side own, other;
	char here[96];  /* the subject of lines about the port of this end */
	bool is_broken; /* the conversation, so that no more can be asked */
	/* Of the last RC probe, and of UD after it: the counters before, and what grew at the peer. */
	struct probe_counters before;
	char growth[TALK_LINE];
	uint64_t round_trip_ns; /* the median; 0: not measured */
	uint64_t longest_ns;    /* round trip */
	uint64_t ack_ns;        /* how long its queue pairs wait for an acknowledgement */
	/* How long this process, and that of the peer, have waited for a processor, as the kernel counts it. */
	uint64_t starved_ns, peer_starved_ns;
	struct probe_fate fate; /* of the datagrams */
};

/* Begins it on a connection. */
void session_begin(struct session *s, int tcp);
/* Says who is at both ends. */
void session_say(const struct session *s);
/* How long this process has waited for a processor; 0: the kernel does not count it. */
uint64_t session_starved_ns(void);
/* What a record says first: of a completion its status, else the errno value; and the reason. */
void put_why(const struct rdmaez_diag *diag, char *text, size_t size);
/* What to do about it; "": not known. */
const char *fix_of(const struct rdmaez_diag *diag);
/* The record as evidence of the line just begun. */
void say_record(const struct rdmaez_diag *diag);

#endif
