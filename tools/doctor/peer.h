/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-doctor --peer and --listen: what its files share.
 *
 * Two doctors meet over TCP. Both say hello, each with the port it will use, and then the one with --peer asks for one
 * probe after the other: a queue pair at each end, and messages that the one with --listen sends back.
 */
#ifndef RDMAEZ_DOCTOR_PEER_H
#define RDMAEZ_DOCTOR_PEER_H

#include "doctor.h"

#include <rdmaez.h>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define PEER_PORT 18510 /* unless --listen or --peer names another */

/* Nanoseconds of CLOCK_MONOTONIC: when something must be over. */
uint64_t peer_in_ms(unsigned int ms);
/* What is left until then, for poll(). */
int peer_ms_left(uint64_t until);

/* --- path.c: the way to an address ------------------------------------------------------------------ */

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

/* --- talk.c: how two doctors talk ------------------------------------------------------------------- */

enum {
	TALK_VERSION = 1,
	TALK_BYTES = 8192, /* of a message at most */
	TALK_LINE = 400    /* of a line at most */
};

/*
 * A message is a line "rdmaez-doctor VERSION KIND", lines "KEY VALUE", and an empty one. What comes is not trusted: its
 * length and time are limited, and only printable ASCII is let in.
 */
struct talk {
	char kind[16];
	unsigned int version;
	size_t length;
	/* the lines, each with a NUL at its end; of a foreign message the beginning */
	char text[TALK_BYTES];
};

enum talk_end {
	TALK_WELL,
	TALK_SILENT,  /* nothing came in time, or not all */
	TALK_CLOSED,  /* the peer closed the connection, or it broke */
	TALK_FOREIGN, /* this is something else */
	TALK_NEWER,   /* another version of the protocol: `version` */
	TALK_STEP     /* a message of another kind: `kind` */
};

void talk_begin(struct talk *talk, const char *kind);
void talk_add(struct talk *talk, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum talk_end talk_send(int fd, const struct talk *talk, uint64_t until);
/* Receives a message of this kind; NULL: of any. */
enum talk_end talk_receive(int fd, struct talk *talk, const char *kind, uint64_t until);
/* The value of the next line with this key: behind `after`, a value returned before; NULL: of the first. NULL: none */
const char *talk_value(const struct talk *talk, const char *key, const char *after);
/* The same as text of this size, cut where it is longer; "?": none. */
void talk_text(const struct talk *talk, const char *key, char *text, size_t size);

/* What --peer names. */
struct peer_name {
	char host[256];
	char port[8];
};
/* False: it is no HOST, HOST:PORT or [HOST]:PORT. */
bool peer_parse(const char *text, struct peer_name *name);
/* Its addresses, for freeaddrinfo(); NULL: there are none, which is said (peer.c). */
struct addrinfo *peer_look_up(const struct peer_name *name);

/* --- side.c: what an end has ------------------------------------------------------------------------ */

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

/* --- probe.c: messages between two queue pairs ------------------------------------------------------ */

/* What is tried. */
struct probe {
	struct rdma_port port; /* of this end */
	enum ibv_qp_type type; /* RC or UD */
	int gid_index;         /* of this end; -1: the one that rdmaez chooses */
	int mtu;               /* of the path, in bytes; 0: what both ports have */
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
/* Sends so many datagrams, each of this many bytes; *lost tells how many did not come back. */
int probe_datagrams(struct probe_end *end, uint32_t bytes, unsigned int count, unsigned int *lost);
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

/* --- peer.c: the conversation ----------------------------------------------------------------------- */

enum {
	ANSWER_MS = 5000 /* how long a message may take */
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
};

/* Begins it on a connection. */
void session_begin(struct session *s, int tcp);
/* Says who is at both ends. */
void session_say(const struct session *s);
/* Says what does not go together; whether a probe makes sense (side.c). */
bool session_compare(const struct session *s);
/* Makes all probes, and says what came of them (ask.c). */
void session_probe(struct session *s);

/* So that a network that loses large packets does not lose what the two say. */
void keep_small(int tcp);
/* How many packets TCP had to send again. */
unsigned int resent(int tcp);
/* What a record says first: of a completion its status, else the errno value; and the reason. */
void put_why(const struct rdmaez_diag *diag, char *text, size_t size);
/* What to do about it; "": not known. */
const char *fix_of(const struct rdmaez_diag *diag);
/* The record as evidence of the line just begun. */
void say_record(const struct rdmaez_diag *diag);

#endif
