/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-doctor --pid and --job: what the queue pairs of processes wait for, as far as anyone can see who is not the
 * process. The kernel is asked twice, some time apart: what moved meanwhile works.
 */
#include "afar.h"
#include "counters.h"

#include <rdmaez.h>

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <rdma/rdma_netlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct process *processes;
static unsigned int process_count;
static struct objects before, now;
static struct afar afar_before, afar; /* of the host that --peer names */

/* The device whose objects of ended threads can only be those of the one process that is looked at; NULL: none. */
static const char *orphans_device;

/* Whether all processes of this machine are seen here: the kernel's own number of the first namespace. */
static bool sees_all_processes(void)
{
	char link[64];

	return !doctor_read_link(link, sizeof(link), "/proc/self/ns/pid") &&
	       strcmp(link, "pid:[4026531836]") == 0;
}

/*
 * Made by a thread that has ended, and by nothing that would tell of which process it was; or by one of a PID namespace
 * that is not seen here.
 */
static bool is_orphan(const struct object *object)
{
	return !(object->is.has & NLDEV_KERNEL) && !objects_owner(&now, object);
}

static const struct process *process_of(const struct object *object)
{
	const uint32_t thread = objects_owner(&now, object);
	unsigned int i;

	if (orphans_device && strcmp(object->device->name, orphans_device) == 0 &&
	    is_orphan(object))
		return &processes[0];

	for (i = 0; thread && i < process_count; i++)
		if (process_has_thread(&processes[i], thread))
			return &processes[i];
	return NULL;
}

static bool is_used(const char *device)
{
	const struct object *object;
	unsigned int i, kind;

	for (kind = 0; kind < OBJECTS_KINDS; kind++) {
		for (i = 0; i < now.count[kind]; i++) {
			object = &now.list[kind][i];
			if (strcmp(object->device->name, device) == 0 && process_of(object))
				return true;
		}
	}
	return false;
}

/* --- Objects of threads that have ended ------------------------------------------------------------- */

static unsigned int count_orphans(const char *device)
{
	unsigned int i, count = 0;

	for (i = 0; i < now.count[OBJECTS_QP]; i++)
		count += strcmp(now.list[OBJECTS_QP][i].device->name, device) == 0 &&
			 is_orphan(&now.list[OBJECTS_QP][i]);
	return count;
}

/* The device that a node is of, as "rxe0" of "uverbs0". */
static bool has_node_open(const struct process *p, const char *device)
{
	char of[IBV_SYSFS_NAME_MAX], files[sizeof(p->uverbs)], *rest = files, *node;

	snprintf(files, sizeof(files), "%s", p->uverbs);
	while ((node = strsep(&rest, ", ")) != NULL)
		if (node[0] &&
		    !doctor_read(of, sizeof(of), "/sys/class/infiniband_verbs/%s/ibdev", node) &&
		    strcmp(of, device) == 0)
			return true;
	return false;
}

/* Whether no other process has the device open; one whose files are hidden may have. */
static bool is_only_user(const struct process *p, const char *device)
{
	struct process other;
	struct dirent **names;
	int i, n = doctor_list(&names, "/proc");
	bool only = n > 0 && has_node_open(p, device);
	pid_t pid;

	for (i = 0; only && i < n; i++) {
		pid = atoi(names[i]->d_name);
		if (pid <= 0 || pid == p->pid || process_read(pid, &other))
			continue;
		only = other.files >= 0 && !has_node_open(&other, device);
		free(other.thread);
	}
	return only;
}

static void find_orphans(void)
{
	unsigned int i;

	if (!sees_all_processes())
		return;
	for (i = 0; doctor_options.pid && i < now.devices && !orphans_device; i++)
		if (count_orphans(now.device[i].name) &&
		    is_only_user(&processes[0], now.device[i].name))
			orphans_device = strdup(now.device[i].name);
}

static void say_orphans(void)
{
	unsigned int i, count;

	for (i = 0; i < now.devices; i++) {
		count = count_orphans(now.device[i].name);
		if (!count)
			continue;
		doctor_say(
			DOCTOR_NOTE, now.device[i].name,
			"%u queue pair%s made by threads that have ended%s, so the kernel does not "
			"tell whose they are%s",
			count, count == 1 ? " was" : "s were",
			sees_all_processes() ? "" : ", or by processes of another PID namespace",
			orphans_device && strcmp(orphans_device, now.device[i].name) == 0
				? "; no other process has the device open, so they are counted here"
				: "");
	}
}

/* --- Addresses of rdma_cm --------------------------------------------------------------------------- */

#define ADDRESS_ROOM (INET6_ADDRSTRLEN + 8)

static const char *put_address(const struct sockaddr_storage *address, char *text, size_t size)
{
	char ip[INET6_ADDRSTRLEN] = "?";
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	if (address->ss_family == AF_INET) {
		memcpy(&v4, address, sizeof(v4));
		inet_ntop(AF_INET, &v4.sin_addr, ip, sizeof(ip));
		snprintf(text, size, "%s:%u", ip, ntohs(v4.sin_port));
	} else if (address->ss_family == AF_INET6) {
		memcpy(&v6, address, sizeof(v6));
		inet_ntop(AF_INET6, &v6.sin6_addr, ip, sizeof(ip));
		snprintf(text, size, "[%s]:%u", ip, ntohs(v6.sin6_port));
	} else {
		snprintf(text, size, "an address of family %u", address->ss_family);
	}
	return text;
}

static bool same_ip(const struct sockaddr *a, const struct sockaddr_storage *b)
{
	struct sockaddr_in6 a6, b6;
	struct sockaddr_in a4, b4;

	if (!a || a->sa_family != b->ss_family)
		return false;
	if (a->sa_family == AF_INET) {
		memcpy(&a4, a, sizeof(a4));
		memcpy(&b4, b, sizeof(b4));
		return a4.sin_addr.s_addr == b4.sin_addr.s_addr;
	}
	if (a->sa_family != AF_INET6)
		return false;
	memcpy(&a6, a, sizeof(a6));
	memcpy(&b6, b, sizeof(b6));
	return memcmp(&a6.sin6_addr, &b6.sin6_addr, 16) == 0;
}

/* Whether an address is one of this network namespace. */
static bool is_local(const struct sockaddr_storage *address)
{
	static struct ifaddrs *all;
	const struct ifaddrs *each;

	if (!all && getifaddrs(&all))
		return true;
	for (each = all; each; each = each->ifa_next)
		if (same_ip(each->ifa_addr, address))
			return true;
	return false;
}

/* As the kernel's enum rdma_cm_state. */
enum {
	CM_DISCONNECT = 6,
	CM_LISTEN = 8
};

static const char *cm_state(unsigned int state)
{
	static const char *const names[] = {"IDLE",           "ADDR_QUERY",     "ADDR_RESOLVED",
					    "ROUTE_QUERY",    "ROUTE_RESOLVED", "CONNECT",
					    "DISCONNECT",     "ADDR_BOUND",     "LISTEN",
					    "DEVICE_REMOVAL", "DESTROYING"};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "in a newer state";
}

/* The cm_id of a queue pair; NULL: there is none. */
static const struct object *cm_of(const struct object *qp)
{
	const struct object *id;
	unsigned int i;

	for (i = 0; i < now.count[OBJECTS_CM_ID]; i++) {
		id = &now.list[OBJECTS_CM_ID][i];
		if (id->device == qp->device && id->is.has & NLDEV_LQPN &&
		    id->is.lqpn == qp->is.lqpn)
			return id;
	}
	return NULL;
}

/* --- The peer ------------------------------------------------------------------------------------------- */

enum peer_kind {
	PEER_NO_NUMBER,  /* the queue pair has none: not connected, or of a type without */
	PEER_HERE,       /* one queue pair of this host has the number, and points back */
	PEER_STRANGER,   /* one has the number, and does not point back */
	PEER_SEVERAL,    /* more than one may be meant */
	PEER_NOT_HERE,   /* no queue pair of this host has the number */
	PEER_OTHER_HOST, /* rdma_cm knows an address of another host */
	PEER_GONE,  /* rdma_cm knows an address of this host, and no queue pair has the number */
	PEER_THERE, /* as HERE, on the host of --peer */
	PEER_STRANGER_THERE, /* as STRANGER, there */
	PEER_GONE_THERE,     /* rdma_cm knows an address of that host, which has none */
	PEER_NOWHERE         /* neither host has one */
};

struct peer {
	enum peer_kind kind;
	const struct object *qp; /* HERE, STRANGER, THERE, STRANGER_THERE */
	struct process process;  /* pid 0: not known */
	char address[ADDRESS_ROOM];
};

static bool has_path(const struct object *qp)
{
	return (qp->is.has & NLDEV_RQPN) && qp->is.rqpn != 0;
}

static bool has_psns(const struct object *qp)
{
	const uint32_t both = NLDEV_RQ_PSN | NLDEV_SQ_PSN;

	return (qp->is.has & both) == both;
}

/* Packets from one PSN to another: negative where it is behind. */
static int32_t psn_distance(uint32_t from, uint32_t to)
{
	const uint32_t d = (to - from) & 0xffffff;

	return d < 0x800000 ? (int32_t)d : (int32_t)d - 0x1000000;
}

/* PSNs of both directions within what may be on its way: pairs by chance are not. */
static bool psns_are_near(const struct object *a, const struct object *b)
{
	return has_psns(a) && has_psns(b) &&
	       abs(psn_distance(b->is.rq_psn, a->is.sq_psn)) < 0x8000 &&
	       abs(psn_distance(a->is.rq_psn, b->is.sq_psn)) < 0x8000;
}

/* Only where nothing else has the number, or its own PSNs agree, is a queue pair taken for its own peer. */
static const struct object *pick(const struct objects *in, const struct object *qp,
				 unsigned int *both, unsigned int *one_way)
{
	const struct object *other, *found = NULL, *near = NULL, *stranger = NULL, *itself = NULL;
	unsigned int i, nears = 0;

	*both = *one_way = 0;
	for (i = 0; i < in->count[OBJECTS_QP]; i++) {
		other = &in->list[OBJECTS_QP][i];
		if (!(other->is.has & NLDEV_LQPN) || other->is.lqpn != qp->is.rqpn ||
		    !(other->is.has & NLDEV_RQPN))
			continue;
		if (other->is.rqpn != qp->is.lqpn) {
			++*one_way;
			stranger = other;
			continue;
		}
		if (other == qp && has_psns(qp) && qp->is.sq_psn != qp->is.rq_psn) {
			itself = qp;
			continue;
		}
		++*both;
		found = other;
		if (psns_are_near(qp, other)) {
			nears++;
			near = other;
		}
	}
	if (*both > 1 && nears == 1) {
		*both = 1;
		return near;
	}
	if (itself && !*both && !*one_way) {
		*both = 1;
		return itself;
	}
	return *both ? found : stranger;
}

/* Whether rdma_cm knows the peer by the address of --peer. */
static bool is_afar(const struct sockaddr_storage *address)
{
	return same_ip((const struct sockaddr *)&afar.address, address);
}

static void find_here(const struct object *qp, struct peer *peer)
{
	const struct process *own;
	unsigned int both, one_way;
	pid_t pid;

	peer->qp = pick(&now, qp, &both, &one_way);
	if (both == 1 || (both == 0 && one_way == 1)) {
		peer->kind = both ? PEER_HERE : PEER_STRANGER;
		pid = process_of_thread(objects_owner(&now, peer->qp));
		own = process_of(peer->qp);
		if (own)
			peer->process = *own;
		else if (pid)
			process_read(pid, &peer->process);
	} else if (both || one_way) {
		peer->kind = PEER_SEVERAL;
		peer->qp = NULL;
	} else {
		peer->kind = peer->address[0] ? PEER_GONE : PEER_NOT_HERE;
	}
}

/*
 * What the host of --peer has is taken where this one has nothing that fits as well: numbers of two hosts are often the
 * same by chance.
 */
static void find_there(const struct object *qp, const struct object *id, struct peer *peer)
{
	const bool is_known = id && id->is.has & NLDEV_DST && is_afar(&id->is.dst);
	const bool is_elsewhere = peer->kind == PEER_OTHER_HOST && !is_known;
	const struct object *found;
	unsigned int both, one_way;

	if (!afar.name[0] || afar.why[0] || is_elsewhere ||
	    (peer->kind == PEER_HERE && (!has_psns(qp) || psns_are_near(qp, peer->qp))))
		return;
	found = pick(&afar.objects, qp, &both, &one_way);
	if (both == 1 || (both == 0 && one_way == 1)) {
		if (peer->kind == PEER_HERE && (!both || !psns_are_near(qp, found)))
			return;
		peer->kind = both ? PEER_THERE : PEER_STRANGER_THERE;
		peer->qp = found;
		peer->process = *afar_process(&afar, found);
	} else if (both || one_way) {
		peer->kind = PEER_SEVERAL;
		peer->qp = NULL;
	} else if (is_known) {
		peer->kind = PEER_GONE_THERE;
	} else if (peer->kind == PEER_NOT_HERE) {
		peer->kind = PEER_NOWHERE;
	}
}

static void find_peer(const struct object *qp, struct peer *peer)
{
	const struct object *const id = cm_of(qp);

	memset(peer, 0, sizeof(*peer));
	if (id && id->is.has & NLDEV_DST)
		put_address(&id->is.dst, peer->address, sizeof(peer->address));
	if (!has_path(qp))
		return;
	if (peer->address[0] && !is_local(&id->is.dst))
		peer->kind = PEER_OTHER_HOST;
	else
		find_here(qp, peer);
	find_there(qp, id, peer);
}

/* Whether it was found on the other host. */
static bool is_there(const struct peer *peer)
{
	return peer->kind == PEER_THERE || peer->kind == PEER_STRANGER_THERE;
}

/* Whether both ends point at each other. */
static bool is_pair(const struct peer *peer)
{
	return peer->kind == PEER_HERE || peer->kind == PEER_THERE;
}

/* --- What is said of one queue pair ------------------------------------------------------------------- */

/* The lower, the more likely it is what everything else waits for. */
enum weight {
	WEIGHT_PEER_HELD,
	WEIGHT_BROKEN,
	WEIGHT_MISMATCH,
	WEIGHT_PEER_STATE,
	WEIGHT_GONE,
	WEIGHT_NOT_TAKEN,
	WEIGHT_STATE,
	WEIGHT_PEER_UNKNOWN,
	WEIGHT_WELL
};

struct judged {
	const struct object *qp;
	const struct process *process;
	struct peer peer;
	bool seen_before, moved;
	bool is_counted;   /* what moved is not a PSN but a counter of its own */
	int32_t not_taken; /* packets that were sent and that the peer has not taken */
	enum doctor_verdict verdict;
	enum weight weight;
	char what[320]; /* the same for all queue pairs of which the same is to be said */
	char next[200];
	char evidence[320];
	bool told;
};

static void judge(struct judged *j, enum doctor_verdict verdict, enum weight weight,
		  const char *next, const char *format, ...) __attribute__((format(printf, 5, 6)));
static void judge(struct judged *j, enum doctor_verdict verdict, enum weight weight,
		  const char *next, const char *format, ...)
{
	va_list args;

	j->verdict = verdict;
	j->weight = weight;
	snprintf(j->next, sizeof(j->next), "%s", next);
	va_start(args, format);
	vsnprintf(j->what, sizeof(j->what), format, args);
	va_end(args);
}

static const char *state_of(const struct object *qp)
{
	return qp->is.has & NLDEV_STATE ? rdmaez_qp_state_str((enum ibv_qp_state)qp->is.state)
					: "?";
}

static const char *type_of(const struct object *qp)
{
	return qp->is.has & NLDEV_TYPE ? rdmaez_qp_type_str((enum ibv_qp_type)qp->is.type) : "?";
}

static bool is_in(const struct object *qp, unsigned int states)
{
	return qp->is.has & NLDEV_STATE && qp->is.state < 32 && (states >> qp->is.state & 1);
}

#define STATE(name) (1u << IBV_QPS_##name)

/* Whether a type sends or receives; XRC ends do one of both. */
static bool is_type(const struct object *qp, enum ibv_qp_type type)
{
	return qp->is.has & NLDEV_TYPE && qp->is.type == (unsigned int)type;
}

static const char *name_of(const struct peer *peer, char *text, size_t size)
{
	const struct process *const process = &peer->process;
	const bool far = is_there(peer);

	if (process->pid)
		snprintf(text, size, "process %d (%s)%s%s", process->pid, process->name,
			 far ? " on " : "", far ? afar.name : "");
	else
		snprintf(text, size, "a process %s%s", far ? "on " : "that cannot be seen here",
			 far ? afar.name : "");
	return text;
}

/* A state in which nothing moves, or half of it. */
static bool judge_state(struct judged *j)
{
	const char *const state = state_of(j->qp);

	/* One that is only sent to needs no more. */
	if (j->moved && is_in(j->qp, STATE(RTR)))
		return false;
	if (is_in(j->qp, STATE(ERR)))
		judge(j, DOCTOR_FAILED, WEIGHT_BROKEN, rdmaez_why_fix(RDMAEZ_WHY_WR_QP_ERROR),
		      "ERR: the queue pair has stopped working; whatever is posted ends in "
		      "IBV_WC_WR_FLUSH_ERR");
	else if (is_in(j->qp, STATE(SQE)))
		judge(j, DOCTOR_FAILED, WEIGHT_BROKEN,
		      "poll for the completion with an error, then move it to RTS again",
		      "SQE: a send has failed, and %s", rdmaez_why_str(RDMAEZ_WHY_QP_NO_SENDS));
	else if (is_in(j->qp, STATE(RESET) | STATE(INIT)))
		judge(j, DOCTOR_WARNING, WEIGHT_STATE,
		      "find out whether the program waits for its peer's data, or leaves out the "
		      "moves to RTR and RTS",
		      "%s: it neither sends nor receives, because it is not connected", state);
	else if (is_in(j->qp, STATE(SQD)))
		judge(j, DOCTOR_WARNING, WEIGHT_STATE, rdmaez_why_fix(RDMAEZ_WHY_QP_NO_SENDS),
		      "SQD: %s", rdmaez_why_str(RDMAEZ_WHY_QP_NO_SENDS));
	else if (is_in(j->qp, STATE(RTR)) && !is_type(j->qp, IBV_QPT_XRC_RECV) &&
		 !is_type(j->qp, IBV_QPT_DRIVER))
		judge(j, DOCTOR_WARNING, WEIGHT_STATE, rdmaez_why_fix(RDMAEZ_WHY_QP_NO_SENDS),
		      "RTR: it receives, but sends nothing");
	else
		return false;
	return true;
}

/* What the peer's end has that this one cannot work with. */
static bool judge_peer(struct judged *j)
{
	const char *const held = j->peer.process.pid ? process_held(&j->peer.process) : NULL;
	const struct object *const peer = j->peer.qp;
	char name[160], next[128] = "";

	if (!peer)
		return false;
	name_of(&j->peer, name, sizeof(name));
	if (held && is_pair(&j->peer)) {
		if (j->peer.process.state == 'T')
			snprintf(next, sizeof(next), "%s%s%skill -CONT %d",
				 is_there(&j->peer) ? "on " : "",
				 is_there(&j->peer) ? afar.name : "",
				 is_there(&j->peer) ? ": " : "", j->peer.process.pid);
		judge(j, DOCTOR_WARNING, WEIGHT_PEER_HELD, next, "its peer, %s, %s: State %s", name,
		      held, j->peer.process.state_text);
	} else if (j->qp->is.has & peer->is.has & NLDEV_TYPE && j->qp->is.type != peer->is.type &&
		   !(is_type(j->qp, IBV_QPT_XRC_SEND) && is_type(peer, IBV_QPT_XRC_RECV)) &&
		   !(is_type(j->qp, IBV_QPT_XRC_RECV) && is_type(peer, IBV_QPT_XRC_SEND))) {
		judge(j, DOCTOR_WARNING, WEIGHT_MISMATCH, "create both queue pairs with one type",
		      "its type is %s, but its peer, of %s, has the type %s, so packets are "
		      "dropped",
		      type_of(j->qp), name, type_of(peer));
	} else if (is_in(peer, STATE(ERR) | STATE(SQE) | STATE(RESET) | STATE(INIT) | STATE(RTR))) {
		judge(j, DOCTOR_WARNING, WEIGHT_PEER_STATE,
		      is_in(peer, STATE(ERR)) ? "reconnect both ends" : "look at that process",
		      "%s here, but %s at its peer, of %s: %s", state_of(j->qp), state_of(peer),
		      name,
		      is_in(peer, STATE(RTR)) ? "that end receives, but sends nothing"
					      : "that end does not accept what is sent to it");
	} else if (j->peer.kind == PEER_STRANGER || j->peer.kind == PEER_STRANGER_THERE) {
		judge(j, DOCTOR_WARNING, WEIGHT_MISMATCH,
		      "compare the queue pair numbers that the ends have exchanged",
		      "the queue pair of %s that has its peer's number, of %s, is connected to "
		      "another one: the numbers were mixed up, or the peer is on another host",
		      is_there(&j->peer) ? afar.name : "this host", name);
	} else {
		return false;
	}
	return true;
}

/* How many packets the peer has not taken that this end has sent. */
static bool judge_psns(struct judged *j)
{
	const struct object *const peer = j->peer.qp;
	const struct objects *const then = is_there(&j->peer) ? &afar_before.objects : &before;
	const struct object *const peer_before = peer ? objects_same(then, peer) : NULL;
	char name[160];

	if (!is_pair(&j->peer) || !peer_before || j->moved || !j->seen_before || !has_psns(j->qp) ||
	    !has_psns(peer) || peer_before->is.rq_psn != peer->is.rq_psn)
		return false;
	j->not_taken = psn_distance(peer->is.rq_psn, j->qp->is.sq_psn);
	if (!j->not_taken)
		return false;
	name_of(&j->peer, name, sizeof(name));
	if (j->not_taken > 0)
		judge(j, DOCTOR_WARNING, WEIGHT_NOT_TAKEN,
		      "if the difference is that of the two ends' first PSNs, set rq_psn of each "
		      "end to the other's sq_psn; otherwise look for missing receives at the peer, "
		      "and for loss",
		      "it does not move, and its peer, of %s, has not accepted what was sent",
		      name);
	else
		judge(j, DOCTOR_WARNING, WEIGHT_MISMATCH,
		      "set rq_psn of each end to the other's sq_psn",
		      "it does not move, and its peer, of %s, expects a PSN beyond what was sent, "
		      "so what arrives counts as a duplicate",
		      name);
	return true;
}

static void judge_rest(struct judged *j)
{
	char name[160];

	name_of(&j->peer, name, sizeof(name));
	if (j->moved)
		judge(j, DOCTOR_OK, WEIGHT_WELL, "", "it moves: its %s have advanced",
		      j->is_counted ? "counters of requests" : "PSNs");
	else if (j->peer.kind == PEER_GONE)
		judge(j, DOCTOR_WARNING, WEIGHT_GONE, "reconnect it",
		      "its peer at %s is gone: there is no queue pair %u on this host",
		      j->peer.address, j->qp->is.rqpn);
	else if (j->peer.kind == PEER_GONE_THERE)
		judge(j, DOCTOR_WARNING, WEIGHT_GONE, "reconnect it",
		      "its peer at %s is gone: there is no queue pair %u on that host",
		      j->peer.address, j->qp->is.rqpn);
	else if (j->peer.kind == PEER_NOWHERE)
		judge(j, DOCTOR_NOTE, WEIGHT_PEER_UNKNOWN,
		      "reconnect it; if its peer is on a third host, name that one",
		      "it does not move, and there is no queue pair %u on this host nor on %s: its "
		      "peer is gone, or on a third host",
		      j->qp->is.rqpn, afar.name);
	else if (j->peer.kind == PEER_NOT_HERE)
		judge(j, DOCTOR_NOTE, WEIGHT_PEER_UNKNOWN,
		      "look at the peer's host: run rdmaez-doctor --listen there, and --peer here; "
		      "if the peer is on this host, reconnect",
		      "it does not move, and there is no queue pair %u on this host: its peer is "
		      "on another one, or is gone",
		      j->qp->is.rqpn);
	else if (j->peer.kind == PEER_OTHER_HOST)
		judge(j, DOCTOR_NOTE, WEIGHT_PEER_UNKNOWN,
		      "look at that host as well: run rdmaez-doctor --listen there, and --peer "
		      "here",
		      "it does not move; its peer is at %s, on another host", j->peer.address);
	else if (j->peer.kind == PEER_SEVERAL)
		judge(j, DOCTOR_NOTE, WEIGHT_PEER_UNKNOWN, "",
		      "it does not move; several queue pairs have its peer's number, "
		      "and only the process knows the GIDs that tell them apart");
	else if (is_pair(&j->peer) && has_psns(j->qp) && has_psns(j->peer.qp) &&
		 j->peer.qp->is.rq_psn == j->qp->is.sq_psn)
		judge(j, DOCTOR_OK, WEIGHT_WELL, "",
		      "idle: neither it nor its peer, of %s, moves, and their PSNs agree", name);
	else if (is_pair(&j->peer))
		judge(j, DOCTOR_OK, WEIGHT_WELL, "", "ready; its peer belongs to %s", name);
	else
		judge(j, DOCTOR_OK, WEIGHT_WELL, "", "ready%s",
		      has_psns(j->qp) || !(j->qp->is.has & NLDEV_SQ_PSN)
			      ? ""
			      : "; queue pairs of this type have no peer");
}

static void put_evidence(struct judged *j)
{
	const struct object *const old = objects_same(&before, j->qp), *const peer = j->peer.qp;
	size_t at =
		(size_t)snprintf(j->evidence, sizeof(j->evidence), "queue pair %u", j->qp->is.lqpn);

#define EVIDENCE(...)                                                                             \
	at += at < sizeof(j->evidence)                                                            \
		      ? (size_t)snprintf(j->evidence + at, sizeof(j->evidence) - at, __VA_ARGS__) \
		      : 0
	if (process_count > 1 && j->process)
		EVIDENCE(" of process %d", j->process->pid);
	if (has_psns(j->qp))
		EVIDENCE(": sq_psn %u, rq_psn %u", j->qp->is.sq_psn, j->qp->is.rq_psn);
	else if (j->qp->is.has & NLDEV_SQ_PSN)
		EVIDENCE(": sq_psn %u", j->qp->is.sq_psn);
	if (has_psns(j->qp) && old && j->moved)
		EVIDENCE(", before %u, %u", old->is.sq_psn, old->is.rq_psn);
	else if (j->qp->is.has & NLDEV_SQ_PSN && old && j->moved)
		EVIDENCE(", before %u", old->is.sq_psn);
	if (has_path(j->qp))
		EVIDENCE("; peer %u", j->qp->is.rqpn);
	if (peer) {
		EVIDENCE(" of %s", peer->device->name);
		if (is_there(&j->peer))
			EVIDENCE(" on %s", afar.name);
		if (peer->is.has & NLDEV_KERNEL)
			EVIDENCE(", the kernel's %s", peer->is.kernel);
		EVIDENCE(" (%s, %s)", type_of(peer), state_of(peer));
		if (has_psns(peer))
			EVIDENCE(": sq_psn %u, rq_psn %u", peer->is.sq_psn, peer->is.rq_psn);
		if (!is_pair(&j->peer))
			EVIDENCE(", its peer is %u", peer->is.rqpn);
	}
	if (j->not_taken)
		EVIDENCE("; the difference is %d", psn_distance(peer->is.rq_psn, j->qp->is.sq_psn));
#undef EVIDENCE
}

/* What it counted of this kind before; of a counter that was bound meanwhile, nothing is known. */
static uint64_t counted_before(const struct objects_counter *c)
{
	const struct objects_counter *old;
	unsigned int i;

	for (i = 0; i < before.counters; i++) {
		old = &before.counter[i];
		if (old->device->index == c->device->index && old->counter == c->counter &&
		    old->qp_num == c->qp_num && strcmp(old->name, c->name) == 0)
			return old->value;
	}
	return c->value;
}

/* Whether a counter of its own has counted requests of its peer, such as mlx5's rx_write_requests. */
static bool has_counted(const struct object *qp)
{
	const struct objects_counter *c;
	unsigned int i;

	for (i = 0; i < now.counters; i++) {
		c = &now.counter[i];
		if (c->device == qp->device && c->qp_num == qp->is.lqpn &&
		    strncmp(c->name, "rx_", 3) == 0 && strstr(c->name, "_requests") &&
		    c->value > counted_before(c))
			return true;
	}
	return false;
}

/* UD has no rq_psn here, but it sends as well. */
static bool has_advanced(const struct object *old, const struct object *qp)
{
	const uint32_t both = old->is.has & qp->is.has;

	return (both & NLDEV_SQ_PSN && old->is.sq_psn != qp->is.sq_psn) ||
	       (both & NLDEV_RQ_PSN && old->is.rq_psn != qp->is.rq_psn);
}

static void judge_qp(struct judged *j)
{
	const struct object *const old = objects_same(&before, j->qp);

	j->seen_before = old != NULL;
	j->moved = old && has_advanced(old, j->qp);
	j->is_counted = !j->moved && has_counted(j->qp);
	j->moved = j->moved || j->is_counted;
	find_peer(j->qp, &j->peer);
	/* A queue pair that moves works, whatever else is strange about it. */
	if (!judge_state(j) && !(!j->moved && (judge_peer(j) || judge_psns(j))))
		judge_rest(j);
	put_evidence(j);
}

static void send_row(const struct judged *j)
{
	static const char *const where[] = {"",     "here",  "here",  "",     "none", "elsewhere",
					    "none", "there", "there", "none", "none"};
	struct doctor_queue_pair row;

	memset(&row, 0, sizeof(row));
	snprintf(row.device, sizeof(row.device), "%s", j->qp->device->name);
	row.qp_num = j->qp->is.lqpn;
	row.type = type_of(j->qp);
	row.state = state_of(j->qp);
	row.pid = j->process->pid;
	row.has_peer = has_path(j->qp);
	row.peer_qp_num = j->qp->is.rqpn;
	row.has_psn = has_psns(j->qp);
	row.sq_psn = j->qp->is.sq_psn;
	row.rq_psn = j->qp->is.rq_psn;
	row.moved = j->moved;
	row.where = where[j->peer.kind];
	row.peer_pid = j->peer.process.pid;
	row.device_of_peer = j->peer.qp ? j->peer.qp->device->name : "";
	doctor_queue_pair(&row);
}

/* --- All of them ------------------------------------------------------------------------------------------ */

static struct judged *judged;
static unsigned int judged_count;

/* Asks the host of --peer for the other ends of what is looked at. */
static bool ask_afar(struct afar *of)
{
	struct afar_pair *const pair =
		(struct afar_pair *)calloc(now.count[OBJECTS_QP] + 1, sizeof(*pair));
	unsigned int i, pairs = 0;
	const struct object *qp;
	bool told;

	for (i = 0; pair && i < now.count[OBJECTS_QP]; i++) {
		qp = &now.list[OBJECTS_QP][i];
		if (!has_path(qp) || !process_of(qp) || !doctor_is_meant(qp->device->name))
			continue;
		pair[pairs].lqpn = qp->is.lqpn;
		pair[pairs++].rqpn = qp->is.rqpn;
	}
	told = pair && afar_ask(of, pair, pairs);
	free(pair);
	return told;
}

static void judge_all(void)
{
	const struct object *qp;
	const struct process *process;
	unsigned int i;

	judged = (struct judged *)calloc(now.count[OBJECTS_QP] + 1, sizeof(*judged));
	for (i = 0; judged && i < now.count[OBJECTS_QP]; i++) {
		qp = &now.list[OBJECTS_QP][i];
		process = process_of(qp);
		if (!process || !doctor_is_meant(qp->device->name))
			continue;
		judged[judged_count].qp = qp;
		judged[judged_count].process = process;
		judge_qp(&judged[judged_count++]);
	}
}

/* "4711", or the job. */
static const char *subject(void)
{
	static char text[128];

	if (doctor_options.pid)
		snprintf(text, sizeof(text), "%d", doctor_options.pid);
	else
		snprintf(text, sizeof(text), "%s", doctor_options.job);
	return text;
}

/* What there is: "ibv_rc_pingpong", or "8 processes". */
static const char *who(void)
{
	static char text[64];

	if (doctor_options.pid)
		snprintf(text, sizeof(text), "%s", processes[0].name);
	else
		snprintf(text, sizeof(text), "%u process%s", process_count,
			 process_count == 1 ? "" : "es");
	return text;
}

static bool say_the_same(const struct judged *a, const struct judged *b)
{
	return a->qp->device == b->qp->device && a->qp->is.type == b->qp->is.type &&
	       a->qp->is.state == b->qp->is.state && a->verdict == b->verdict &&
	       strcmp(a->what, b->what) == 0 && strcmp(a->next, b->next) == 0;
}

/* "17 to 80, 90" */
static void put_numbers(char *text, size_t size, const unsigned int *number, unsigned int count)
{
	unsigned int i, last;
	size_t at = 0;

	text[0] = '\0';
	for (i = 0; i < count && at < size; i = last + 1) {
		for (last = i; last + 1 < count && number[last + 1] == number[last] + 1; last++)
			;
		if (at + 40 > size) {
			snprintf(text + at, size - at, ", ...");
			return;
		}
		at += (size_t)snprintf(text + at, size - at, "%s%u", at ? ", " : "", number[i]);
		if (last > i)
			at += (size_t)snprintf(text + at, size - at, " to %u", number[last]);
	}
}

enum {
	EXAMPLES = 3
};

/* All queue pairs of which the same is to be said, once; `sentence`: as the first line of the report. */
static void say_group(struct judged *first, bool sentence)
{
	unsigned int *const number = (unsigned int *)calloc(judged_count, sizeof(*number));
	const char *const device = first->qp->device->name;
	char numbers[200], lead[300] = "";
	unsigned int count = 0;
	struct judged *j;

	if (!number)
		return;
	for (j = first; j < judged + judged_count; j++) {
		if (j->told || !say_the_same(first, j))
			continue;
		j->told = true;
		number[count++] = j->qp->is.lqpn;
	}
	put_numbers(numbers, sizeof(numbers), number, count);
	if (sentence)
		snprintf(lead, sizeof(lead), "%s: on %s, ", who(), device);
	if (count == 1)
		doctor_say(first->verdict, sentence ? subject() : device,
			   "%squeue pair %s (%s, %s): %s", lead, numbers, type_of(first->qp),
			   state_of(first->qp), first->what);
	else
		doctor_say(first->verdict, sentence ? subject() : device,
			   "%s%u queue pairs, %s (%s, %s): %s", lead, count, numbers,
			   type_of(first->qp), state_of(first->qp), first->what);
	count = 0;
	for (j = first; j < judged + judged_count; j++)
		if (j->told && say_the_same(first, j) && count++ < EXAMPLES)
			doctor_evidence("%s", j->evidence);
	if (count > EXAMPLES)
		doctor_evidence("and %u more", count - EXAMPLES);
	if (first->next[0])
		doctor_next("%s", first->next);
	free(number);
}

static void say_queue_pairs(void)
{
	int weight;
	unsigned int i;

	for (weight = WEIGHT_PEER_HELD; weight <= WEIGHT_WELL; weight++)
		for (i = 0; i < judged_count; i++)
			if (!judged[i].told && judged[i].weight == (enum weight)weight)
				say_group(&judged[i], false);
	for (i = 0; i < judged_count; i++)
		send_row(&judged[i]);
}

/* --- The sentence that matters ----------------------------------------------------------------------- */

static struct judged *worst(void)
{
	struct judged *found = NULL;
	unsigned int i;

	for (i = 0; i < judged_count; i++)
		if (!found || judged[i].weight < found->weight)
			found = &judged[i];
	return found;
}

static const struct process *held_process(void)
{
	unsigned int i;

	for (i = 0; i < process_count; i++)
		if (process_held(&processes[i]))
			return &processes[i];
	return NULL;
}

static unsigned int count_of(enum objects_kind kind)
{
	unsigned int i, count = 0;

	for (i = 0; i < now.count[kind]; i++)
		count += process_of(&now.list[kind][i]) != NULL;
	return count;
}

static void say_nothing_found(void)
{
	const struct process *const p = &processes[0];

	doctor_say(DOCTOR_NOTE, subject(),
		   "%s: no RDMA objects: no queue pair, no cm_id and no memory region", who());
	if (p->uverbs[0])
		doctor_evidence("it has %s open", p->uverbs);
	if (p->files < 0)
		doctor_evidence("/proc/%d/fd: %s: it may belong to another user", p->pid,
				rdmaez_errno_str(-p->files));
	if (p->other_pid_namespace)
		doctor_evidence(
			"it is in a PID namespace of its own, whose objects some kernels do "
			"not show here");
	if (p->other_pid_namespace)
		doctor_next(
			"as root: nsenter --target %d --pid --net --mount rdmaez-doctor --pid N, "
			"with N of that namespace",
			p->pid);
	else
		doctor_next("look for a child that has them, or look in its network namespace, "
			    "which alone shows its objects: rdma resource show");
}

static bool listens(void)
{
	unsigned int i;

	for (i = 0; i < now.count[OBJECTS_CM_ID]; i++)
		if (process_of(&now.list[OBJECTS_CM_ID][i]) &&
		    now.list[OBJECTS_CM_ID][i].is.state == CM_LISTEN)
			return true;
	return false;
}

/* Whether each queue pair has what moves when it works. */
static bool shows_movement(void)
{
	unsigned int i;

	for (i = 0; i < judged_count; i++)
		if (!(judged[i].qp->is.has & (NLDEV_SQ_PSN | NLDEV_RQ_PSN)))
			return false;
	return judged_count > 0;
}

static void say_sentence(unsigned int grown, const char *growth)
{
	const struct process *const held = held_process();
	struct judged *const j = worst();
	unsigned int moved = 0, i;

	for (i = 0; i < judged_count; i++)
		moved += judged[i].moved;
	if (held) {
		doctor_say(DOCTOR_FAILED, subject(), "%s: process %d %s: State %s", who(),
			   held->pid, process_held(held), held->state_text);
		doctor_evidence("/proc/%d/status", held->pid);
		if (held->state == 'T')
			doctor_next("kill -CONT %d", held->pid);
	} else if (j && j->weight < WEIGHT_NOT_TAKEN) {
		say_group(j, true);
	} else if (moved) {
		/* What stands beside it is no hang: it may be for later, or left from before. */
		doctor_say(grown || j->weight < WEIGHT_WELL ? DOCTOR_NOTE : DOCTOR_OK, subject(),
			   "%s: it works: %u of %u queue pair%s moved in %u s%s%s", who(), moved,
			   judged_count, judged_count == 1 ? "" : "s", doctor_options.seconds,
			   grown ? "; meanwhile " : "", growth);
	} else if (grown) {
		doctor_say(DOCTOR_WARNING, subject(),
			   "%s: %s; the port counts for all of its queue pairs", who(), growth);
	} else if (j && j->weight < WEIGHT_WELL) {
		say_group(j, true);
	} else {
		doctor_say(DOCTOR_OK, subject(), "%s: nothing visible is wrong: %s", who(),
			   shows_movement() ? "all queue pairs are idle"
			   : judged_count
				   ? "all queue pairs are ready, and the driver does not show "
				     "whether they move"
			   : listens() ? "no queue pair yet, and a cm_id that listens"
				       : "no queue pair");
	}
}

/* --- What else there is -------------------------------------------------------------------------------- */

static void put_bytes(char *text, size_t size, uint64_t bytes)
{
	if (bytes == UINT64_MAX)
		snprintf(text, size, "unlimited");
	else if (bytes >= UINT64_C(1) << 30)
		snprintf(text, size, "%.4g GiB", (double)bytes / (1 << 30));
	else if (bytes >= 1 << 20)
		snprintf(text, size, "%.4g MiB", (double)bytes / (1 << 20));
	else if (bytes >= 1 << 10)
		snprintf(text, size, "%.4g KiB", (double)bytes / (1 << 10));
	else
		snprintf(text, size, "%ju bytes", bytes);
}

static void say_objects(void)
{
	unsigned int i, entries = 0, keys = 0, regions = 0;
	uint64_t bytes = 0;
	const struct object *o;
	char size[32];

	for (i = 0; i < now.count[OBJECTS_CQ]; i++)
		if (process_of(&now.list[OBJECTS_CQ][i]))
			entries += now.list[OBJECTS_CQ][i].is.cqe;
	for (i = 0; i < now.count[OBJECTS_MR]; i++) {
		o = &now.list[OBJECTS_MR][i];
		if (!process_of(o))
			continue;
		regions++;
		bytes += o->is.bytes;
		keys += (o->is.has & NLDEV_RKEY) != 0;
	}
	put_bytes(size, sizeof(size), bytes);
	doctor_say(DOCTOR_OK, subject(),
		   "contexts: %u; protection domains: %u; completion queues: %u, of %u entries; "
		   "memory regions: %u, of %s; shared receive queues: %u; cm_ids: %u",
		   count_of(OBJECTS_CONTEXT), count_of(OBJECTS_PD), count_of(OBJECTS_CQ), entries,
		   regions, size, count_of(OBJECTS_SRQ), count_of(OBJECTS_CM_ID));
	if (regions && !keys)
		doctor_evidence("the keys of the memory regions are shown with CAP_NET_ADMIN");
	for (i = 0; regions <= 8 && i < now.count[OBJECTS_MR]; i++) {
		o = &now.list[OBJECTS_MR][i];
		if (!process_of(o))
			continue;
		put_bytes(size, sizeof(size), o->is.bytes);
		if (o->is.has & NLDEV_RKEY && o->is.rkey)
			doctor_evidence("memory region of %s: %s, rkey 0x%x", o->device->name, size,
					o->is.rkey);
		else
			doctor_evidence("memory region of %s: %s", o->device->name, size);
	}
}

static void say_cm_ids(void)
{
	char from[ADDRESS_ROOM], to[ADDRESS_ROOM];
	unsigned int i, told = 0, all = count_of(OBJECTS_CM_ID);
	const struct object *id;

	for (i = 0; i < now.count[OBJECTS_CM_ID]; i++) {
		id = &now.list[OBJECTS_CM_ID][i];
		if (!process_of(id) || !doctor_is_meant(id->device->name))
			continue;
		if (told++ == 16) {
			doctor_say(DOCTOR_OK, subject(), "%u more cm_id%s", all - 16,
				   all == 17 ? "" : "s");
			return;
		}
		snprintf(from, sizeof(from), "no address");
		if (id->is.has & NLDEV_SRC)
			put_address(&id->is.src, from, sizeof(from));
		if (id->is.has & NLDEV_LQPN)
			doctor_say(id->is.state == CM_DISCONNECT ? DOCTOR_NOTE : DOCTOR_OK,
				   id->device->name, "cm_id: %s, from %s to %s, queue pair %u",
				   cm_state(id->is.state), from,
				   put_address(&id->is.dst, to, sizeof(to)), id->is.lqpn);
		else
			doctor_say(DOCTOR_OK, id->device->name, "cm_id: %s, at %s",
				   cm_state(id->is.state), from);
	}
}

static void say_counters_of_qps(void)
{
	const struct objects_counter *c;
	unsigned int i, q;
	uint64_t first;

	for (q = 0; q < judged_count; q++) {
		for (i = 0; i < now.counters; i++) {
			c = &now.counter[i];
			if (c->device != judged[q].qp->device ||
			    c->qp_num != judged[q].qp->is.lqpn || !c->value)
				continue;
			first = counted_before(c);
			doctor_say(c->value > first ? DOCTOR_NOTE : DOCTOR_OK, c->device->name,
				   "counter %u, of queue pair %u: %s is %ju, and grew by %ju",
				   c->counter, c->qp_num, c->name, c->value,
				   c->value > first ? c->value - first : 0);
		}
	}
}

/* Seconds of a processor in each second, in percent. One that ends meanwhile shows none. */
static unsigned int busy_percent(const struct process *then, const struct process *p)
{
	const uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);

	if (p->ticks < then->ticks)
		return 0;
	return (unsigned int)(100 * (p->ticks - then->ticks) /
			      (per_second * doctor_options.seconds));
}

static void say_process(const struct process *then, const struct process *p)
{
	char pinned[32], limit[32], files[64], about[24] = "", waits[96] = "";
	enum doctor_verdict verdict = DOCTOR_OK;
	const unsigned int busy = busy_percent(then, p);

	put_bytes(pinned, sizeof(pinned), p->pinned);
	put_bytes(limit, sizeof(limit), p->may_lock);
	if (process_count > 1)
		snprintf(about, sizeof(about), "process %d: ", p->pid);
	if (p->files >= 0)
		snprintf(files, sizeof(files), "%d files are open (limit: %ju)", p->files,
			 p->may_open);
	else
		snprintf(files, sizeof(files), "it may open %ju files", p->may_open);
	if (p->files >= 0 && (uint64_t)p->files + 8 > p->may_open)
		verdict = DOCTOR_WARNING;
	if (!p->locks_all && p->pinned + p->locked > p->may_lock - p->may_lock / 10)
		verdict = DOCTOR_WARNING;
	if (p->waits_in[0] && busy < 50)
		snprintf(waits, sizeof(waits), ", in %s", p->waits_in);
	doctor_say(verdict, subject(),
		   "%s%s, %u thread%s, %s%s; %s; %s of memory are pinned (limit: %s)", about,
		   p->state_text, p->threads, p->threads == 1 ? "" : "s",
		   busy >= 50 ? "busy: it computes, or polls" : "mostly asleep", waits, files,
		   pinned, limit);
	doctor_evidence("/proc/%d: %u %% of a processor in %u s%s%s", p->pid, busy,
			doctor_options.seconds, p->cgroup[0] ? "; cgroup " : "", p->cgroup);
	if (verdict == DOCTOR_WARNING)
		doctor_next("raise the limit that it is about to reach: /proc/%d/limits", p->pid);
}

static void say_processes(const struct process *then)
{
	unsigned int i;

	for (i = 0; i < process_count && i < 8; i++)
		say_process(&then[i], &processes[i]);
	if (process_count > 8)
		doctor_say(DOCTOR_OK, subject(), "and %u more process%s", process_count - 8,
			   process_count == 9 ? "" : "es");
}

/* What could not be asked, and what it would take. */
static void say_limits(void)
{
	unsigned int kind, i, hidden = 0;

	for (kind = 0; kind < OBJECTS_KINDS; kind++) {
		if (!now.error[kind])
			continue;
		doctor_say(DOCTOR_NOTE, subject(), "this kernel does not list %s: %s",
			   objects_name[kind], rdmaez_errno_str(now.error[kind]));
		doctor_evidence("RDMA netlink; contexts and shared receive queues are listed since "
				"Linux 5.13, the others since 4.17");
	}
	if (afar.why[0]) {
		doctor_say(DOCTOR_NOTE, subject(), "%s lists no queue pair: %s", afar.name,
			   afar.why);
		doctor_next("on %s: rdmaez-doctor", afar.name);
	}
	for (i = 0; i < process_count; i++)
		hidden += processes[i].files < 0;
	if (hidden) {
		doctor_say(
			DOCTOR_NOTE, subject(),
			"open files and the function in which it waits are hidden from this user");
		doctor_evidence("/proc/PID/fd and wchan need the right to debug a process: its own "
				"user, or CAP_SYS_PTRACE");
	}
	doctor_say(
		DOCTOR_NOTE, subject(),
		"only the process itself can tell what is posted and has not completed, how many "
		"receives are posted, and whether completions wait to be polled");
	doctor_next("start it under rdmaez-explain, or call rdmaez_qp_examine() in it");
}

/* --- The check -------------------------------------------------------------------------------------------- */

static bool anything_found(void)
{
	unsigned int kind;

	for (kind = 0; kind < OBJECTS_KINDS; kind++)
		if (count_of((enum objects_kind)kind))
			return true;
	return false;
}

/* Of a job, those that have to do with RDMA; of them all where none has. */
static void keep_those_with_objects(void)
{
	unsigned int i, k, kind, kept = 0;
	bool has;

	for (i = 0; !doctor_options.pid && i < process_count; i++) {
		has = false;
		for (kind = 0; kind < OBJECTS_KINDS && !has; kind++)
			for (k = 0; k < now.count[kind] && !has; k++)
				has = process_of(&now.list[kind][k]) == &processes[i];
		if (has)
			processes[kept++] = processes[i];
	}
	if (kept)
		process_count = kept;
}

static void look_again(struct process *then)
{
	unsigned int i;

	for (i = 0; i < process_count; i++) {
		then[i] = processes[i];
		if (process_read(then[i].pid, &processes[i]))
			processes[i] = then[i]; /* it has ended meanwhile */
	}
}

void doctor_check_process(void)
{
	struct process *then;
	char growth[300] = "";
	unsigned int grown;
	int error;

	if (!doctor_options.pid && !doctor_options.job)
		return;
	process_count = process_find(&processes);
	if (!process_count) {
		doctor_say(DOCTOR_FAILED, subject(), "there is no such process here");
		doctor_evidence("/proc; this is the PID namespace of process %d", getpid());
		return;
	}
	error = doctor_exists("/sys/class/infiniband") ? objects_list(&now) : ENODEV;
	if (error || !now.devices) {
		doctor_say(DOCTOR_FAILED, subject(), "%s: the kernel shows no RDMA device here",
			   who());
		doctor_evidence("RDMA netlink: %s", error ? rdmaez_errno_str(error) : "no device");
		return;
	}
	find_orphans();
	if (!anything_found()) {
		say_nothing_found();
		say_orphans();
		return;
	}
	keep_those_with_objects();
	counters_watch(is_used);
	before = now;
	if (doctor_options.peer && !ask_afar(&afar_before))
		doctor_options.peer = NULL;
	doctor_sleep(1000 * doctor_options.seconds);
	objects_list(&now);
	if (doctor_options.peer)
		ask_afar(&afar);
	then = (struct process *)calloc(process_count, sizeof(*then));
	if (!then)
		return;
	look_again(then);
	grown = counters_grown(growth, sizeof(growth));
	judge_all();
	say_sentence(grown, growth);
	say_queue_pairs();
	say_counters_of_qps();
	counters_tell();
	say_cm_ids();
	say_objects();
	say_orphans();
	say_processes(then);
	say_limits();
}
