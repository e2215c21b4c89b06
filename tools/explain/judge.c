/* SPDX-License-Identifier: MIT */
/*
 * What a queue pair waits for.
 *
 * Not every program that is silent waits: a server is idle, and another program computes. So something is said of a
 * queue pair only if a completion is outstanding that no idle program would have, and if the program looks for it: it has
 * polled the completion queue meanwhile, or waits for its event. Receives alone are idle, unless the peer is known and
 * tells otherwise. What is judged are counters that have not changed for a while, never totals.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "judge.h"
#include "text.h"

/* As <infiniband/verbs.h> has them; the launcher has no need of libibverbs. */
enum {
	RC = 2,
	UC = 3,
	UD = 4,
	XRC_SEND = 9,
	XRC_RECV = 10
};
enum {
	RESET,
	INIT,
	RTR,
	RTS,
	SQD,
	SQE,
	ERR,
	STATES
};
enum {
	WRITE,
	WRITE_IMM,
	SEND,
	SEND_IMM,
	READ,
	CMP_SWP,
	FETCH_ADD
};
enum {
	MASK_TIMEOUT = 1 << 9,
	MASK_RETRY = 1 << 10,
	MASK_RNR = 1 << 11,
	MASK_RD = 1 << 13,
	MASK_SQ_PSN = 1 << 16,
	MASK_DEST_QPN = 1 << 20
};
enum {
	RQ_PSN_KNOWN = 1 << 12,
	ACCESS_WRITE = 1 << 1,
	ACCESS_READ = 1 << 2,
	ACCESS_ATOMIC = 1 << 3
};

static const uint64_t second = UINT64_C(1000000000);

#define AT_ONCE_NS (2 * second)

/* ---- The machine --------------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec;
}

static bool read_file(const char *path, char *text, size_t size)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t length;

	if (file < 0)
		return false;
	length = read(file, text, size - 1);
	close(file);
	if (length < 0)
		return false;
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/* What follows the name in /proc/PID/stat: its third field. */
static const char *stat_of(int pid, char *text, size_t size)
{
	char path[64];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!read_file(path, text, size))
		return NULL;
	at = strrchr(text, ')');
	return at && at[1] ? at + 2 : NULL;
}

static char state_of(int pid)
{
	char text[512];
	const char *const at = stat_of(pid, text, sizeof(text));

	return !at || *at == 'Z' || *at == 'X' ? '\0' : *at;
}

static uint64_t time_of(int pid)
{
	char text[512];
	const char *const at = stat_of(pid, text, sizeof(text));
	unsigned long user, system;

	if (!at ||
	    sscanf(at, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
		return 0;
	return (user + system) * 1000 / (unsigned long)sysconf(_SC_CLK_TCK);
}

static bool has_thread(int pid, int tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	return access(path, F_OK) == 0;
}

static bool read_sys(const char *path, char *text, size_t size)
{
	char full[320];

	return snprintf(full, sizeof(full), "/sys/class/infiniband/%s", path) < (int)sizeof(full) &&
	       read_file(full, text, size);
}

struct explain_sight explain_sight = {now_ns, state_of, time_of, has_thread, read_sys};
bool explain_judge_still;

/* ---- Rows ------------------------------------------------------------------------------------------------ */

static const struct explain_rows *rows;
static const struct explain_share *processes;
static uint64_t limit; /* ns */
static bool speaks;    /* otherwise only the states are asked for */

void (*explain_judge_before)(const struct explain_output *output, enum explain_occasion occasion,
			     bool waits);

/* Copies of this moment; `row.pid` is 0 where there is none. */
static struct explain_qp_row qps[EXPLAIN_QP_ROWS];
static struct explain_cq_row cqs[EXPLAIN_CQ_ROWS];
static struct explain_call_row calls[EXPLAIN_CALL_ROWS];
static struct explain_srq_row srqs[EXPLAIN_SRQ_ROWS];
static struct explain_ah_row ahs[EXPLAIN_AH_ROWS];

/* What the launcher has seen of them, and since when. */
static struct {
	int pid;
	uint32_t version;
	uint64_t sends, sends_done, recvs, recvs_done, errors;
	uint64_t posted_since, sends_since, recvs_since, changed_at;
	uint64_t time, time_at; /* that its process had used at some time within */
	uint64_t alive_at;      /* when its process was seen last */
	bool is_told;
} seen_qp[EXPLAIN_QP_ROWS];

static struct {
	int pid;
	uint32_t version;
	uint64_t polls, polled_at, made_at, armed, armed_at;
} seen_cq[EXPLAIN_CQ_ROWS];

static struct {
	uint64_t since;
	bool is_told;
} seen_call[EXPLAIN_CALL_ROWS];

/* When the failure was that was told of. */
static uint64_t seen_failed[EXPLAIN_QP_ROWS];

/* A name of a directory below /sys, and nothing else. */
static void make_name(char *name, size_t size)
{
	explain_make_word(name, size);
	if (strchr(name, '/') || strchr(name, '=') || strchr(name, ' ') || name[0] == '.')
		snprintf(name, size, "?");
}

static bool take_row(void *to, const void *from, size_t size)
{
	const struct explain_row *const row = from;
	struct explain_row *const its = to;
	const uint32_t version = atomic_load(&row->version);

	its->pid = 0;
	if (row->pid <= 0 || version % 2)
		return false;
	explain_copy(to, from, size);
	if (its->pid > 0 && its->version == version && atomic_load(&row->version) == version)
		return true;
	its->pid = 0;
	return false;
}

static uint32_t bound(uint32_t value, uint32_t most)
{
	return value <= most ? value : 0;
}

static void take_qp(unsigned int at)
{
	struct explain_qp_row *const qp = &qps[at];

	if (!take_row(qp, &rows->qp[at], sizeof(*qp)))
		return;
	make_name(qp->device, sizeof(qp->device));
	qp->state = bound(qp->state, STATES - 1);
	qp->send_cq = bound(qp->send_cq, EXPLAIN_CQ_ROWS);
	qp->recv_cq = bound(qp->recv_cq, EXPLAIN_CQ_ROWS);
	qp->path_mtu = bound(qp->path_mtu, 5);
	qp->port = bound(qp->port, 255);
	qp->srq = bound(qp->srq, EXPLAIN_SRQ_ROWS);
	qp->active_mtu = bound(qp->active_mtu, 5);
}

static void take_cq(unsigned int at)
{
	if (take_row(&cqs[at], &rows->cq[at], sizeof(cqs[at])))
		make_name(cqs[at].device, sizeof(cqs[at].device));
}

static void take_srq(unsigned int at)
{
	if (take_row(&srqs[at], &rows->srq[at], sizeof(srqs[at])))
		make_name(srqs[at].device, sizeof(srqs[at].device));
}

static void take_call(unsigned int at)
{
	explain_copy(&calls[at], &rows->call[at], sizeof(calls[at]));
	if (calls[at].pid <= 0 || calls[at].tid <= 0 || calls[at].verb >= EXPLAIN_VERB_COUNT ||
	    calls[at].verb == EXPLAIN_NO_CALL ||
	    !explain_sight.has_thread(calls[at].pid, calls[at].tid))
		calls[at].verb = EXPLAIN_NO_CALL;
	if (calls[at].verb == EXPLAIN_DESTROY_CQ)
		calls[at].of = bound(calls[at].of, EXPLAIN_CQ_ROWS);
	if (calls[at].verb == EXPLAIN_DESTROY_QP)
		calls[at].of = bound(calls[at].of, EXPLAIN_QP_ROWS);
}

static void take_all(void)
{
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++)
		take_qp(i);
	for (unsigned int i = 0; i < EXPLAIN_CQ_ROWS; i++)
		take_cq(i);
	for (unsigned int i = 0; i < EXPLAIN_CALL_ROWS; i++)
		take_call(i);
	for (unsigned int i = 0; i < EXPLAIN_SRQ_ROWS; i++)
		take_srq(i);
	for (unsigned int i = 0; i < EXPLAIN_AH_ROWS; i++)
		take_row(&ahs[i], &rows->ah[i], sizeof(ahs[i]));
}

/* By 1 + its index; NULL: it is not known. */
static const struct explain_cq_row *cq_of(unsigned int at)
{
	return at && cqs[at - 1].row.pid ? &cqs[at - 1] : NULL;
}

static uint64_t beyond(uint64_t more, uint64_t less)
{
	return more > less ? more - less : 0;
}

/* Receives of a shared receive queue that a completion was polled of, of whichever of its queue pairs. */
static uint64_t shared_done(unsigned int srq)
{
	uint64_t done = 0;

	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++)
		if (qps[i].row.pid && qps[i].srq == srq && qps[i].row.pid == srqs[srq - 1].row.pid)
			done += qps[i].recvs_done;
	return done;
}

/* Receives that it has had and has left, its own or those that it shares. False: they are not known. */
static bool receives_of(const struct explain_qp_row *qp, uint64_t *posted, uint64_t *left)
{
	*posted = qp->recvs;
	*left = beyond(qp->recvs, qp->recvs_done);
	if (qp->direct)
		return false;
	if (!qp->has_srq)
		return true;
	if (!qp->srq || srqs[qp->srq - 1].row.pid != qp->row.pid)
		return false;
	*posted = srqs[qp->srq - 1].posted;
	*left = beyond(*posted, shared_done(qp->srq));
	return true;
}

/* The address that a datagram goes to. NULL: it is not known. */
static const struct explain_ah_row *ah_of(const struct explain_qp_row *qp,
					  const struct explain_request *request)
{
	const struct explain_ah_row *found = NULL;

	for (unsigned int i = 0; request->ah && i < EXPLAIN_AH_ROWS; i++)
		if (ahs[i].row.pid == qp->row.pid && ahs[i].ah == request->ah && ahs[i].has_gids &&
		    (!found || !ahs[i].row.gone))
			found = &ahs[i];
	return found;
}

/* Those of which a completion is to come. */
static uint64_t sends_of(const struct explain_qp_row *qp)
{
	return beyond(qp->signaled, qp->sends_done);
}

static uint64_t recvs_of(const struct explain_qp_row *qp)
{
	return beyond(qp->recvs, qp->recvs_done);
}

/* ---- Port counters ------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	enum {
		REPEATS,
		NOT_READY,
		SEQUENCE,
		NO_RECEIVE
	} tells;
} counters[] = {
	{"completer_retry_err", REPEATS}, {"local_ack_timeout_err", REPEATS},
	{"rcvd_rnr_err", NOT_READY},      {"rnr_nak_retry_err", NOT_READY},
	{"out_of_seq_request", SEQUENCE}, {"out_of_sequence", SEQUENCE},
	{"rcvd_seq_err", SEQUENCE},       {"packet_seq_err", SEQUENCE},
	{"duplicate_request", SEQUENCE},  {"implied_nak_seq_err", SEQUENCE},
	{"send_rnr_err", NO_RECEIVE},     {"out_of_buffer", NO_RECEIVE},
};

enum {
	COUNTERS = sizeof(counters) / sizeof(counters[0]),
	PORTS = 8
};

/* Of the ports of queue pairs that have been quiet for a moment. */
static struct counted {
	char device[EXPLAIN_DEVICE];
	uint32_t port;
	bool is_used; /* since the last look */
	uint64_t value[COUNTERS];
} counted[PORTS];

static uint64_t counter(const struct counted *port, int which)
{
	char path[200], text[64];

	snprintf(path, sizeof(path), "%s/ports/%u/hw_counters/%s", port->device, port->port,
		 counters[which].name);
	return explain_sight.read(path, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

static struct counted *counted_of(const struct explain_qp_row *qp)
{
	for (int i = 0; i < PORTS; i++)
		if (counted[i].device[0] && counted[i].port == qp->port &&
		    !strcmp(counted[i].device, qp->device))
			return &counted[i];
	return NULL;
}

static void count_port(const struct explain_qp_row *qp)
{
	struct counted *port = counted_of(qp);

	for (int i = 0; i < PORTS && !port; i++) {
		if (counted[i].device[0])
			continue;
		port = &counted[i];
		memcpy(port->device, qp->device, sizeof(port->device));
		port->port = qp->port;
		for (int k = 0; k < COUNTERS; k++)
			port->value[k] = counter(port, k);
	}
	if (port)
		port->is_used = true;
}

static void forget_ports(void)
{
	for (int i = 0; i < PORTS; i++) {
		if (!counted[i].is_used)
			counted[i].device[0] = '\0';
		counted[i].is_used = false;
	}
}

/* By how much each has grown since the port was noted. */
static void growth_of(const struct explain_qp_row *qp, uint64_t *grown)
{
	const struct counted *const port = counted_of(qp);

	for (int i = 0; i < COUNTERS; i++)
		grown[i] = port ? beyond(counter(port, i), port->value[i]) : 0;
}

static bool has_grown(const uint64_t *grown, int tells)
{
	for (int i = 0; i < COUNTERS; i++)
		if (grown[i] && (int)counters[i].tells == tells)
			return true;
	return false;
}

/* ---- Texts ----------------------------------------------------------------------------------------------- */

struct text {
	size_t length;
	char bytes[8192];
};

__attribute__((__format__(__printf__, 2, 3))) static void put(struct text *text, const char *format,
							      ...)
{
	va_list arguments;

	va_start(arguments, format);
	explain_text_add(text->bytes, sizeof(text->bytes), &text->length, format, arguments);
	va_end(arguments);
}

/* Breaks the line that began there, as those of a record are broken. */
static void wrap(struct text *text, size_t start)
{
	enum {
		COLUMNS = 100,
		INDENT = 4
	};
	size_t line = start, space = start;

	for (size_t at = start; at < text->length; at++) {
		if (at - line > COLUMNS && space > line &&
		    text->length + INDENT < sizeof(text->bytes)) {
			memmove(text->bytes + space + 1 + INDENT, text->bytes + space + 1,
				text->length - space);
			memset(text->bytes + space + 1, ' ', INDENT);
			text->bytes[space] = '\n';
			text->length += INDENT;
			line = space + 1;
			at = space += INDENT;
		} else if (text->bytes[at] == ' ' && at > line + INDENT) {
			space = at;
		}
	}
}

static const char *const types[16] = {[RC] = "RC", [UC] = "UC", [UD] = "UD"};
static const char *const states[STATES] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
static const unsigned int mtus[] = {0, 256, 512, 1024, 2048, 4096};

static const char *type_name(const struct explain_qp_row *qp)
{
	return qp->type < 16 && types[qp->type] ? types[qp->type] : "another type";
}

static const char *operation(uint32_t opcode)
{
	static const char *const names[] = {"WRITE",         "WRITE_WITH_IMM", "SEND",
					    "SEND_WITH_IMM", "READ",           "CMP_AND_SWP",
					    "FETCH_AND_ADD"};

	return opcode < sizeof(names) / sizeof(names[0]) ? names[opcode] : "request";
}

/* The process's name; of one that nobody knows, "?". */
static const char *name_of(int pid)
{
	static char names[2][16];
	static int turn;
	char *const name = names[turn ^= 1];

	snprintf(name, sizeof(names[0]), "?");
	for (int i = 0; i < EXPLAIN_PROCESSES; i++) {
		if (processes->process[i].pid != pid)
			continue;
		explain_copy(name, processes->process[i].name, sizeof(names[0]));
		explain_make_word(name, sizeof(names[0]));
		break;
	}
	return name;
}

/* ---- Findings ----------------------------------------------------------------------------------------------- */

/* As those of a record. */
enum severity {
	CERTAIN,
	LIKELY,
	ADVICE
};
static const char *const severities[] = {"error", "likely", "advice"};
static const char *const sure[] = {"Also, ", "Likely, ", "Advice, "};

struct verdict {
	unsigned int count;
	struct {
		enum severity severity;
		const char *reason, *next;
		char what[240];
	} finding[6];
};

__attribute__((__format__(__printf__, 5, 6))) static void find(struct verdict *verdict,
							       enum severity severity,
							       const char *reason, const char *next,
							       const char *format, ...)
{
	va_list arguments;

	if (verdict->count == sizeof(verdict->finding) / sizeof(verdict->finding[0]))
		return;
	verdict->finding[verdict->count].severity = severity;
	verdict->finding[verdict->count].reason = reason;
	verdict->finding[verdict->count].next = next;
	va_start(arguments, format);
	vsnprintf(verdict->finding[verdict->count].what,
		  sizeof(verdict->finding[verdict->count].what), format, arguments);
	va_end(arguments);
	verdict->count++;
}

/* The oldest request that is kept and whose completion is outstanding; else the last one; NULL: none is kept. */
static const struct explain_request *oldest(const struct explain_qp_row *qp)
{
	const struct explain_request *found = NULL, *latest = NULL;

	for (unsigned int i = 0; i < EXPLAIN_REQUESTS; i++) {
		const struct explain_request *const request = &qp->request[i];

		if (!request->number)
			continue;
		if (!latest || request->number > latest->number)
			latest = request;
		if (request->signaled >= qp->sends_done &&
		    (!found || request->number < found->number))
			found = request;
	}
	return found ? found : latest;
}

static bool takes_receive(const struct explain_request *request)
{
	return request && (request->opcode == WRITE_IMM || request->opcode == SEND ||
			   request->opcode == SEND_IMM);
}

static bool is_answered(const struct explain_request *request)
{
	return request && request->opcode >= READ && request->opcode <= FETCH_ADD;
}

/* ---- The peer ---------------------------------------------------------------------------------------------- */

/* Whether a port that has no queue pair in RTR yet would be reached by this GID. */
static bool has_gid(const struct explain_qp_row *qp, const uint8_t *gid)
{
	char path[200], text[64], wanted[40];
	int length = 0;

	for (int i = 0; i < 16; i += 2)
		length += snprintf(wanted + length, sizeof(wanted) - (size_t)length, "%s%02x%02x",
				   i ? ":" : "", gid[i], gid[i + 1]);
	for (int i = 0; i < 32; i++) {
		snprintf(path, sizeof(path), "%s/ports/%u/gids/%d", qp->device,
			 qp->port ? qp->port : 1, i);
		if (!explain_sight.read(path, text, sizeof(text)))
			break;
		if (!strcmp(text, wanted))
			return true;
	}
	return false;
}

static bool is_connected(const struct explain_qp_row *qp)
{
	return qp->type == RC || qp->type == UC;
}

/* Whether `other` takes `qp` for its peer. */
static bool points_to(const struct explain_qp_row *other, const struct explain_qp_row *qp)
{
	return is_connected(other) && other->state >= RTR && other->has_gids && qp->has_gids &&
	       other->dest_qp_num == qp->qp_num &&
	       !memcmp(other->peer_gid, qp->gid, sizeof(qp->gid));
}

/* The queue pair that this one sends to; of several with this number and GID, one that is still there. NULL: not known. */
static const struct explain_qp_row *peer_of(const struct explain_qp_row *qp)
{
	const struct explain_qp_row *gone = NULL;

	if (!is_connected(qp) || !qp->has_gids)
		return NULL;
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++) {
		const struct explain_qp_row *const other = &qps[i];

		if (!other->row.pid || other == qp || other->qp_num != qp->dest_qp_num)
			continue;
		if (other->has_gids ? memcmp(other->gid, qp->peer_gid, sizeof(other->gid)) != 0
				    : !has_gid(other, qp->peer_gid))
			continue;
		if (!other->row.gone)
			return other;
		if (points_to(other, qp))
			gone = other;
	}
	return gone;
}

static enum explain_occasion now_is;

static const char restart[] =
	"start both ends again, and end them in an order in which nobody waits";

/* False: nobody is there any more. */
static bool judge_process(struct verdict *verdict, const struct explain_qp_row *peer)
{
	const char state = explain_sight.state_of(peer->row.pid);

	/* At the end all have ended; and by a signal that all processes get, some end at once, be it this one itself. */
	if (!state && (now_is == EXPLAIN_AT_END ||
		       (now_is == EXPLAIN_SIGNAL &&
			explain_sight.now_ns() - seen_qp[peer - qps].alive_at < AT_ONCE_NS)))
		return true;
	if (!state) {
		find(verdict, CERTAIN, "WAIT_PEER_ENDED", restart,
		     "the process of the peer's QP %u, %s[%d], has ended, so nobody will answer",
		     peer->qp_num, name_of(peer->row.pid), peer->row.pid);
		return false;
	}
	if (peer->row.gone) {
		find(verdict, CERTAIN, "WAIT_PEER_DESTROYED", restart,
		     "the peer, %s[%d], has destroyed its QP %u", name_of(peer->row.pid),
		     peer->row.pid, peer->qp_num);
		return false;
	}
	if (explain_is_stopped(state))
		find(verdict, CERTAIN, "WAIT_PEER_STOPPED",
		     "let it continue: a debugger has stopped it, or SIGSTOP has, which `kill "
		     "-CONT` undoes",
		     "the peer's process %s[%d] is stopped", name_of(peer->row.pid), peer->row.pid);
	return true;
}

static const char post_receives[] = "have the peer post receives before this end sends";

/* What differs of two ends that are connected. */
static void judge_connection(struct verdict *verdict, const struct explain_qp_row *qp,
			     const struct explain_qp_row *peer,
			     const struct explain_request *request)
{
	static const char numbers[] = "have each end connect to the other end's qp_num";
	static const char psns[] = "set the rq_psn of each end to the other's sq_psn";

	if (peer->dest_qp_num != qp->qp_num)
		find(verdict, CERTAIN, "WAIT_PEER_QPN", numbers,
		     "the peer's dest_qp_num is %u, but this queue pair is %u, so it accepts "
		     "nothing from here",
		     peer->dest_qp_num, qp->qp_num);
	else if (peer->has_gids && memcmp(peer->peer_gid, qp->gid, sizeof(qp->gid)) != 0)
		find(verdict, CERTAIN, "WAIT_PEER_GID",
		     "give the peer the GID that this end sends from, at its sgid_index",
		     "the peer's dgid is not the GID that this end sends from, at index %u",
		     qp->sgid_index);
	if (peer->rq_psn != qp->sq_psn)
		find(verdict, CERTAIN, "WAIT_PSN", psns,
		     "the PSNs differ: this end sends from %u, and the peer expects %u (its "
		     "rq_psn)",
		     qp->sq_psn, peer->rq_psn);
	if (peer->state >= RTS && peer->sq_psn != qp->rq_psn)
		find(verdict, LIKELY, "WAIT_PSN_BACK", psns,
		     "the PSNs of the way back differ: the peer sends from %u, and this end "
		     "expects %u",
		     peer->sq_psn, qp->rq_psn);
	if (peer->path_mtu != qp->path_mtu)
		find(verdict, LIKELY, "WAIT_MTU", "use the smaller one at both ends",
		     "path_mtu is %u here and %u at the peer", mtus[qp->path_mtu],
		     mtus[peer->path_mtu]);
	if (is_answered(request) && !peer->max_dest_rd_atomic)
		find(verdict, CERTAIN, "WAIT_DEST_RD_ATOMIC",
		     "have the peer set max_dest_rd_atomic to 1 or more",
		     "the peer's max_dest_rd_atomic is 0, and a %s waits",
		     operation(request->opcode));
}

static void judge_peer(struct verdict *verdict, const struct explain_qp_row *qp,
		       const struct explain_qp_row *peer, const struct explain_request *request)
{
	uint64_t posted, left;

	if (!judge_process(verdict, peer))
		return;
	if (peer->type != qp->type) {
		find(verdict, CERTAIN, "WAIT_TYPE", "use one type at both ends",
		     "the peer's queue pair is of type %s and this one of %s, so its device drops "
		     "what comes",
		     type_name(peer), type_name(qp));
		return;
	}
	if (peer->state < RTR) {
		find(verdict, CERTAIN, "WAIT_PEER_STATE",
		     "have the peer move it to RTR before this end sends",
		     "the peer's QP %u, of %s[%d], is still in %s, where it accepts nothing",
		     peer->qp_num, name_of(peer->row.pid), peer->row.pid, states[peer->state]);
		return;
	}
	if (peer->state == ERR)
		find(verdict, CERTAIN, "WAIT_PEER_STATE",
		     "find out why: its first failed completion tells",
		     "the peer's QP %u is in ERR", peer->qp_num);
	judge_connection(verdict, qp, peer, request);
	if (!takes_receive(request) || !receives_of(peer, &posted, &left) || left)
		return;
	if (posted)
		find(verdict, CERTAIN, "WAIT_NO_RECEIVE", post_receives,
		     "the peer has no receive posted: it has posted %llu, and all are used",
		     (unsigned long long)posted);
	else
		find(verdict, CERTAIN, "WAIT_NO_RECEIVE", post_receives,
		     "the peer has never posted a receive");
}

/* Whether somebody else takes this queue pair for its peer, where the one that it names is not known. */
static void judge_number(struct verdict *verdict, const struct explain_qp_row *qp)
{
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++) {
		const struct explain_qp_row *const other = &qps[i];

		if (!other->row.pid || other->row.gone || other == qp || !points_to(other, qp))
			continue;
		find(verdict, CERTAIN, "WAIT_QPN", "connect to the peer's qp_num",
		     "dest_qp_num is %u, but it is QP %u, of %s[%d], that is connected to this one",
		     qp->dest_qp_num, other->qp_num, name_of(other->row.pid), other->row.pid);
		return;
	}
}

static void judge_twin(struct verdict *verdict, const struct explain_qp_row *qp)
{
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++) {
		const struct explain_qp_row *const other = &qps[i];

		if (other == qp || other->row.pid != qp->row.pid || other->row.gone ||
		    !is_connected(other) || other->state < RTR || other->state == ERR ||
		    !other->has_gids || other->dest_qp_num != qp->dest_qp_num ||
		    memcmp(other->peer_gid, qp->peer_gid, sizeof(qp->peer_gid)) != 0)
			continue;
		find(verdict, CERTAIN, "WAIT_TWO_TO_ONE", "connect each to a queue pair of its own",
		     "QP %u of this process is connected to the same queue pair of the peer, QP %u",
		     other->qp_num, qp->dest_qp_num);
		return;
	}
}

/* ---- Who looks for it --------------------------------------------------------------------------------------- */

enum look {
	NOBODY,
	POLLS,
	CALLS, /* ibv_get_cq_event() */
	SLEEPS /* the queue is armed, and the process uses no time: it may wait by epoll() */
};

/* A call that has waited for as long as that. */
static bool is_in_call(const struct explain_cq_row *cq, uint64_t at_least)
{
	const uint64_t now = explain_sight.now_ns();

	for (unsigned int i = 0; i < EXPLAIN_CALL_ROWS; i++)
		if (calls[i].verb == EXPLAIN_GET_CQ_EVENT && calls[i].pid == cq->row.pid &&
		    cq->channel >= 0 && calls[i].of == (uint32_t)cq->channel + 1 &&
		    now >= calls[i].since && now - calls[i].since >= at_least)
			return true;
	return false;
}

static bool is_armed(const struct explain_cq_row *cq)
{
	return cq->armed && cq->events <= cq->events_at;
}

/* `half` is the time for which nothing has changed, halved: by then somebody looks. */
static enum look who_looks(unsigned int cq_at, const struct explain_qp_row *qp, uint64_t since)
{
	const struct explain_cq_row *const cq = cq_of(cq_at);
	const unsigned int at = (unsigned int)(qp - qps);
	const uint64_t now = explain_sight.now_ns();
	const uint64_t half = (now - since) / 2;

	if (!cq || cq->row.gone || cq->direct)
		return NOBODY;
	if (is_in_call(cq, explain_judge_still ? 0 : half))
		return CALLS;
	if (explain_judge_still)
		return cq->polls ? POLLS : NOBODY;
	if (seen_cq[cq_at - 1].polled_at >= since + half)
		return POLLS;
	/* At most 5 % of a processor. */
	if (is_armed(cq) && seen_qp[at].time_at && now > seen_qp[at].time_at &&
	    explain_sight.time_of(qp->row.pid) - seen_qp[at].time <=
		    (now - seen_qp[at].time_at) / 20000000)
		return SLEEPS;
	return NOBODY;
}

/* Whether anything may still come into a completion queue. */
static bool may_get(unsigned int cq_at)
{
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++) {
		const struct explain_qp_row *const qp = &qps[i];

		if (!qp->row.pid || qp->row.gone || qp->row.pid != cqs[cq_at - 1].row.pid)
			continue;
		if (qp->send_cq == cq_at && (sends_of(qp) || qp->direct || qp->errors))
			return true;
		if (qp->recv_cq == cq_at &&
		    (recvs_of(qp) || qp->has_srq || qp->direct || qp->errors))
			return true;
	}
	return false;
}

/* Another completion queue of the process that is polled, and into which nothing can come. 0: there is none. */
static unsigned int wrong_cq(const struct explain_qp_row *qp, uint64_t since)
{
	for (unsigned int i = 1; i <= EXPLAIN_CQ_ROWS; i++) {
		if (cqs[i - 1].row.pid != qp->row.pid || i == qp->send_cq || may_get(i))
			continue;
		if (who_looks(i, qp, since) == POLLS)
			return i;
	}
	return 0;
}

/* The queue pair whose receives, of which there are none, would complete into this queue. NULL: there is none. */
static const struct explain_qp_row *without_receives(unsigned int cq_at)
{
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++)
		if (qps[i].row.pid == cqs[cq_at - 1].row.pid && !qps[i].row.gone &&
		    qps[i].recv_cq == cq_at && qps[i].state >= RTR)
			return &qps[i];
	return NULL;
}

/* Whoever polls the receive CQ of the queue pair that has sent has mistaken it for the other one. */
static void judge_wrong_cq(struct verdict *verdict, const struct explain_qp_row *sender,
			   unsigned int cq_at)
{
	const struct explain_qp_row *const qp = without_receives(cq_at);

	if (qp && sender->recv_cq != cq_at)
		find(verdict, CERTAIN, "WAIT_NO_RECEIVE",
		     "post receives before the peer sends; or poll the send CQ, if you wait for a "
		     "send",
		     "the program polls the receive CQ of QP %u, for which no receive is posted",
		     qp->qp_num);
	else
		find(verdict, CERTAIN, "WAIT_WRONG_CQ", "poll the queue pair's send_cq",
		     "the program has never polled this queue pair's send CQ, and polls another "
		     "one, into which nothing can come");
}

/* Whether the program looks for what may come elsewhere: then it may poll this queue in passing, as UCX does. */
static bool looks_elsewhere(const struct explain_qp_row *qp, uint64_t since)
{
	for (unsigned int i = 1; i <= EXPLAIN_CQ_ROWS; i++)
		if (cqs[i - 1].row.pid == qp->row.pid && i != qp->send_cq && may_get(i) &&
		    who_looks(i, qp, since) != NOBODY)
			return true;
	return false;
}

/* ---- Queue pairs ------------------------------------------------------------------------------------------------ */

static void judge_events(struct verdict *verdict, const struct explain_cq_row *cq, enum look how,
			 bool has_come)
{
	static const char arm[] =
		"poll until it is empty, call ibv_req_notify_cq(), poll again, then wait";

	if (how != CALLS && how != SLEEPS)
		return;
	if (!cq->armed)
		find(verdict, CERTAIN, "WAIT_NOT_ARMED", arm,
		     "the program waits for an event, but has never armed the completion queue");
	else if (!is_armed(cq))
		find(verdict, CERTAIN, "WAIT_NOT_ARMED_AGAIN", arm,
		     "the program waits for an event, but has not armed the completion queue again "
		     "since the last one");
	else if (cq->emptied == cq->emptied_at)
		find(verdict, has_come ? CERTAIN : LIKELY, "WAIT_ARMED_LATE", arm,
		     "the completion queue was armed but not polled after that: what came before "
		     "gives no event");
}

static void judge_settings(struct verdict *verdict, const struct explain_qp_row *qp,
			   const struct explain_request *request)
{
	if (qp->state == SQD)
		find(verdict, CERTAIN, "WAIT_SQD", "move it to RTS",
		     "the queue pair is in SQD, where requests wait until it is moved to RTS "
		     "again");
	/* Over iWARP the kernel moves them, and no attribute of RTR was given. */
	else if (qp->state == RTR && (qp->type == UD || qp->mask & MASK_DEST_QPN))
		find(verdict, CERTAIN, "WAIT_NOT_RTS", "move it to RTS before it sends",
		     "the queue pair is in RTR, where it sends nothing");
	if (qp->type == RC && qp->mask & MASK_RD && !qp->max_rd_atomic && is_answered(request))
		find(verdict, CERTAIN, "WAIT_RD_ATOMIC", "set max_rd_atomic to 1 or more",
		     "max_rd_atomic is 0, so the %s that waits is never sent",
		     operation(request->opcode));
}

/* `of`: whose port it is. */
static void judge_port(struct verdict *verdict, const struct explain_qp_row *qp, const char *of)
{
	static const char *const names[] = {"", "DOWN", "in INIT", "ARMED, and not ACTIVE"};
	char path[200], text[64];

	snprintf(path, sizeof(path), "%s/ports/%u/state", qp->device, qp->port);
	if (!qp->port || !explain_sight.read(path, text, sizeof(text)) || text[0] < '1' ||
	    text[0] > '3')
		return;
	find(verdict, CERTAIN, "WAIT_PORT_DOWN",
	     "bring the link up: see the interface, the cable and the switch; on InfiniBand also "
	     "the subnet manager",
	     "port %u of %s%s is %s", qp->port, qp->device, of, names[text[0] - '0']);
}

/* What this end knows where the peer is not known. */
static void judge_alone(struct verdict *verdict, uint32_t type,
			const struct explain_request *request, const uint64_t *grown)
{
	if (takes_receive(request) && has_grown(grown, NOT_READY))
		find(verdict, LIKELY, "WAIT_NO_RECEIVE", post_receives,
		     "the peer answers that it has no receive posted");
	else if (type == RC || has_grown(grown, REPEATS))
		find(verdict, LIKELY, "WAIT_NO_ANSWER",
		     "compare both ends: type, state, numbers, PSNs, GIDs and MTUs; and check that "
		     "the peer's process is there",
		     "no acknowledgement comes: the peer drops the requests, or nobody is there");
}

static bool has_found(const struct verdict *verdict, const char *reason)
{
	for (unsigned int i = 0; i < verdict->count; i++)
		if (!strcmp(verdict->finding[i].reason, reason))
			return true;
	return false;
}

/* What makes it wait instead of failing. */
static void judge_patience(struct verdict *verdict, const struct explain_qp_row *qp)
{
	if (qp->type != RC)
		return;
	if (qp->mask & MASK_TIMEOUT && !qp->timeout)
		find(verdict, ADVICE, "WAIT_TIMEOUT_0", "set timeout to 14 or so",
		     "timeout is 0, so what is lost is not sent again, and no error reports it");
	if (has_found(verdict, "WAIT_NO_RECEIVE")) {
		if (qp->mask & MASK_RNR && qp->rnr_retry == 7)
			find(verdict, ADVICE, "WAIT_RNR_7",
			     "set it to less if you would rather have an error",
			     "rnr_retry is 7, so a send waits forever for a receive");
	} else if (qp->mask & MASK_RETRY && qp->retry_cnt == 7 && !strncmp(qp->device, "rxe", 3)) {
		find(verdict, ADVICE, "WAIT_RETRY_7",
		     "set it to 6 or less if you would rather have an error",
		     "retry_cnt is 7, which rdma_rxe treats as no limit");
	}
}

/* Signaled sends whose completions do not come. */
static void judge_sends(struct verdict *verdict, const struct explain_qp_row *qp, enum look how,
			const uint64_t *grown)
{
	const struct explain_request *const request = oldest(qp);
	const struct explain_cq_row *const cq = cq_of(qp->send_cq);
	const struct explain_qp_row *const peer = peer_of(qp);

	judge_settings(verdict, qp, request);
	judge_port(verdict, qp, "");
	if (peer && (peer->port != qp->port || strcmp(peer->device, qp->device) != 0))
		judge_port(verdict, peer, ", the peer's,");
	if (cq && sends_of(qp) > cq->cqe)
		find(verdict, LIKELY, "WAIT_CQ_OVERRUN",
		     "give the completion queue room for all that may complete into it between two "
		     "polls",
		     "the completion queue has room for %u, and %llu completions are due: it was "
		     "overrun, and what did not fit is lost",
		     cq->cqe, (unsigned long long)sends_of(qp));
	if (peer)
		judge_peer(verdict, qp, peer, request);
	else if (is_connected(qp))
		judge_number(verdict, qp);
	if (cq)
		judge_events(verdict, cq, how, false);
	judge_twin(verdict, qp);
	if (!verdict->count)
		judge_alone(verdict, qp->type, request, grown);
	judge_patience(verdict, qp);
}

static void find_no_receive(struct verdict *verdict, const struct explain_qp_row *sender)
{
	find(verdict, LIKELY, "WAIT_NO_RECEIVE",
	     "post receives before the peer sends, and each one again once it is used",
	     "QP %u, of %s[%d], sends to it, but it has no receive posted, so what comes is "
	     "dropped, and neither end gets an error",
	     sender->qp_num, name_of(sender->row.pid), sender->row.pid);
}

/* A datagram for this queue pair that it drops. */
static void judge_datagrams(struct verdict *verdict, const struct explain_qp_row *qp)
{
	const struct explain_qp_row *twin = NULL;

	if (qp->type != UD || qp->state < RTR)
		return;
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++)
		if (&qps[i] != qp && qps[i].row.pid && !qps[i].row.gone && qps[i].type == UD &&
		    qps[i].qp_num == qp->qp_num)
			twin = &qps[i];
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++) {
		const struct explain_qp_row *const other = &qps[i];
		const struct explain_request *last = NULL;
		const struct explain_ah_row *ah;
		uint32_t qkey;

		/* Of two that have this number, it may be meant for the other one. */
		if (other == qp || !other->row.pid || other->type != UD || (twin && twin != other))
			continue;
		for (unsigned int k = 0; k < EXPLAIN_REQUESTS; k++)
			if (other->request[k].number &&
			    (!last || other->request[k].number > last->number))
				last = &other->request[k];
		if (!last || last->qp_num != qp->qp_num)
			continue;
		ah = ah_of(other, last);
		if (ah && !has_gid(qp, ah->peer_gid))
			continue;
		if (!recvs_of(qp)) {
			find_no_receive(verdict, other);
			return;
		}
		/* With the highest bit, the sender's own is taken. */
		qkey = last->qkey >> 31 ? other->qkey : last->qkey;
		if (last->length > mtus[other->active_mtu] && mtus[other->active_mtu]) {
			find(verdict, LIKELY, "WAIT_DATAGRAM",
			     "send no more than the MTU of the port in one datagram",
			     "QP %u, of %s[%d], sends datagrams of %llu bytes to it, but the MTU "
			     "of its port is %u, so they are never sent, but complete all the same",
			     other->qp_num, name_of(other->row.pid), other->row.pid,
			     (unsigned long long)last->length, mtus[other->active_mtu]);
			return;
		}
		if (qkey == qp->qkey)
			continue;
		find(verdict, LIKELY, "WAIT_QKEY",
		     "send with the Q_Key that the receiving queue pair has",
		     "QP %u, of %s[%d], sends datagrams to it with the Q_Key 0x%x, and this one "
		     "has 0x%x, so they are dropped, and neither end gets an error",
		     other->qp_num, name_of(other->row.pid), other->row.pid, qkey, qp->qkey);
		return;
	}
}

/* Of the requests that are kept, those that take a receive and whose completions the program has not polled. */
static uint64_t unseen_messages(const struct explain_qp_row *qp)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < EXPLAIN_REQUESTS; i++)
		if (qp->request[i].number && qp->request[i].signaled >= qp->sends_done &&
		    takes_receive(&qp->request[i]))
			count++;
	return count;
}

/* Whether more of the peer's messages have been completed than the program has polled. */
static bool has_messages(const struct explain_qp_row *qp)
{
	const struct explain_qp_row *const peer = peer_of(qp);

	return peer && points_to(peer, qp) && peer->messages > qp->recvs_done;
}

/*
 * Receives, which may be idle: only what the peer is known for counts. That it has ended or stands still, or that a
 * message was lost, is no news to a server that goes on; but of a program that is about to be ended, or asked about, it
 * may be why.
 */
static void judge_recvs(struct verdict *verdict, const struct explain_qp_row *qp, enum look how,
			uint64_t since)
{
	const struct explain_qp_row *const peer = peer_of(qp);
	const struct explain_cq_row *const cq = cq_of(qp->recv_cq);

	judge_datagrams(verdict, qp);
	if (!peer || !points_to(peer, qp))
		return;
	if (sends_of(peer)) {
		/* Where the peer looks for them it is told there. This end has taken events before. */
		if (peer->type == RC && cq && cq->events &&
		    peer->messages + unseen_messages(peer) > qp->recvs_done &&
		    who_looks(peer->send_cq, peer, since) == NOBODY)
			judge_events(verdict, cq, how, false);
		return;
	}
	if (now_is != EXPLAIN_QUIET && !judge_process(verdict, peer))
		return;
	if (now_is != EXPLAIN_QUIET && qp->type == UC && has_messages(qp))
		find(verdict, LIKELY, "WAIT_LOST",
		     "have the receiver ask again after a while, or use RC",
		     "the peer has sent more messages (%llu) than have come (%llu): on UC, what is "
		     "dropped is not sent again",
		     (unsigned long long)peer->messages, (unsigned long long)qp->recvs_done);
	if (has_messages(qp) && peer->type == RC && cq)
		judge_events(verdict, cq, how, true);
}

/* One that looks for what cannot come, for lack of a receive. On RC the sender waits as well, and is told. */
static void judge_no_recvs(struct verdict *verdict, const struct explain_qp_row *qp)
{
	judge_datagrams(verdict, qp);
	if (qp->type == UC && qp->state >= RTR && has_messages(qp))
		find_no_receive(verdict, peer_of(qp));
}

/* ---- Saying --------------------------------------------------------------------------------------------------- */

static unsigned int seconds_since(uint64_t since)
{
	if (explain_judge_still)
		return 0;
	return (unsigned int)((explain_sight.now_ns() - since) / second);
}

static void put_findings(struct text *text, const struct verdict *verdict)
{
	size_t start;

	for (unsigned int i = 0; i < verdict->count; i++) {
		start = i ? text->length : 0;
		put(text, "%s%s%s. Next: %s.\n", i ? "  " : "",
		    i ? sure[verdict->finding[i].severity] : "", verdict->finding[i].what,
		    verdict->finding[i].next);
		wrap(text, start);
	}
}

static void put_json_findings(struct text *text, const struct verdict *verdict)
{
	put(text, ",\"findings\":[");
	for (unsigned int i = 0; i < verdict->count; i++)
		put(text,
		    "%s{\"severity\":\"%s\",\"reason\":\"%s\",\"what\":\"%s\",\"next\":\"%s\"}",
		    i ? "," : "", severities[verdict->finding[i].severity],
		    verdict->finding[i].reason, verdict->finding[i].what, verdict->finding[i].next);
	put(text, "]");
}

static void put_outstanding(struct text *text, const struct explain_qp_row *qp)
{
	const struct explain_request *const request = oldest(qp);
	const size_t start = text->length;

	put(text, "  Outstanding: %llu of %llu signaled sends, %llu of %llu receives",
	    (unsigned long long)sends_of(qp), (unsigned long long)qp->signaled,
	    (unsigned long long)recvs_of(qp), (unsigned long long)qp->recvs);
	if (sends_of(qp) && request)
		put(text, "; the oldest that is kept is a %s of %llu bytes, wr_id 0x%llx",
		    operation(request->opcode), (unsigned long long)request->length,
		    (unsigned long long)request->wr_id);
	if (qp->direct)
		put(text, "; what is written to its queues without verbs is not seen");
	put(text, ".\n");
	wrap(text, start);
}

static void put_peer(struct text *text, const struct explain_qp_row *qp)
{
	const struct explain_qp_row *const peer = peer_of(qp);

	if (peer)
		put(text, "  Its peer: QP %u of %s, %s[%d], %s.\n", peer->qp_num, peer->device,
		    name_of(peer->row.pid), peer->row.pid, states[peer->state]);
	else if (is_connected(qp) && qp->state >= RTR)
		put(text, "  Its peer, QP %u, is not known here.\n", qp->dest_qp_num);
}

static void put_cq(struct text *text, const char *which, unsigned int cq_at)
{
	const struct explain_cq_row *const cq = cq_of(cq_at);

	if (!cq)
		return;
	put(text, "  Its %s CQ: ", which);
	if (cq->direct)
		put(text, "read without verbs, unseen");
	else if (!cq->polls)
		put(text, "never polled");
	else {
		put(text, "polls: %llu", (unsigned long long)cq->polls);
		if (!explain_judge_still)
			put(text, ", the last one %u s ago",
			    seconds_since(seen_cq[cq_at - 1].polled_at));
		put(text, "; completions: %llu", (unsigned long long)cq->got);
	}
	if (cq->armed)
		put(text, "; armed%s: %llu, events taken: %llu, acknowledged: %llu",
		    cq->direct ? " by verbs" : "", (unsigned long long)cq->armed,
		    (unsigned long long)cq->events, (unsigned long long)cq->acked);
	put(text, "%s.\n", cq->extended ? " (extended interface)" : "");
}

static void put_growth(struct text *text, const struct explain_qp_row *qp, const uint64_t *grown)
{
	const char *before = " counted meanwhile: ";
	const size_t start = text->length;

	for (int i = 0; i < COUNTERS; i++) {
		if (!grown[i])
			continue;
		if (before[1] == 'c')
			put(text, "  Port %u of %s", qp->port, qp->device);
		put(text, "%s%s %llu", before, counters[i].name, (unsigned long long)grown[i]);
		before = ", ";
	}
	if (before[0] == ',') {
		put(text, ".\n");
		wrap(text, start);
	}
}

static const char *const occasions[] = {"quiet", "asked", "signal", "end"};

static void write_qp_text(const struct explain_output *output, const struct explain_qp_row *qp,
			  const struct verdict *verdict, uint64_t since, const uint64_t *grown,
			  unsigned int alike)
{
	static struct text text;

	text.length = 0;
	put(&text, "rdmaez-explain: %s[%d]: QP %u of %s (%s, %s) ", name_of(qp->row.pid),
	    qp->row.pid, qp->qp_num, qp->device, type_name(qp), states[qp->state]);
	if (explain_judge_still)
		put(&text, "has something outstanding");
	else
		put(&text, "has waited for %u s", seconds_since(since));
	put(&text, !verdict->count                           ? ".\n"
		   : verdict->finding[0].severity != CERTAIN ? ", likely because "
							     : ": ");
	put_findings(&text, verdict);
	put_outstanding(&text, qp);
	put_peer(&text, qp);
	put_cq(&text, qp->send_cq == qp->recv_cq ? "only" : "send", qp->send_cq);
	if (qp->send_cq != qp->recv_cq)
		put_cq(&text, "receive", qp->recv_cq);
	put_growth(&text, qp, grown);
	if (alike)
		put(&text, "  The same holds for %u more of its queue pairs.\n", alike);
	explain_make_plain(text.bytes, text.length, "\n");
	explain_write_log(output, text.bytes, text.length);
}

static void write_qp_line(const struct explain_output *output, const struct explain_qp_row *qp,
			  const struct verdict *verdict, uint64_t since, const uint64_t *grown,
			  unsigned int alike)
{
	static struct text text;

	text.length = 0;
	put(&text,
	    "program=%s pid=%d kind=waiting seconds=%u device=%s qp=%u type=%s state=%s sends=%llu "
	    "recvs=%llu alike=%u",
	    name_of(qp->row.pid), qp->row.pid, seconds_since(since), qp->device, qp->qp_num,
	    qp->type < 16 && types[qp->type] ? types[qp->type] : "other", states[qp->state],
	    (unsigned long long)sends_of(qp), (unsigned long long)recvs_of(qp), alike);
	for (unsigned int i = 0; i < verdict->count; i++)
		put(&text, " finding=%s:%s", severities[verdict->finding[i].severity],
		    verdict->finding[i].reason);
	for (int i = 0; i < COUNTERS; i++)
		if (grown[i])
			put(&text, " counter=%s:%llu", counters[i].name,
			    (unsigned long long)grown[i]);
	put(&text, "\n");
	explain_make_plain(text.bytes, text.length, "\n");
	explain_write_log(output, text.bytes, text.length);
}

static void write_qp_json(const struct explain_output *output, const struct explain_qp_row *qp,
			  const struct verdict *verdict, uint64_t since, const uint64_t *grown,
			  enum explain_occasion occasion)
{
	static struct text text;
	const char *before = "";

	text.length = 0;
	put(&text,
	    "{\"program\":\"%s\",\"pid\":%d,\"kind\":\"waiting\",\"occasion\":\"%s\",\"seconds\":%"
	    "u,"
	    "\"device\":\"%s\",\"port\":%u,\"qp_num\":%u,\"type\":\"%s\",\"state\":\"%s\","
	    "\"sends_outstanding\":%llu,\"recvs_outstanding\":%llu",
	    name_of(qp->row.pid), qp->row.pid, occasions[occasion], seconds_since(since),
	    qp->device, qp->port, qp->qp_num,
	    qp->type < 16 && types[qp->type] ? types[qp->type] : "other", states[qp->state],
	    (unsigned long long)sends_of(qp), (unsigned long long)recvs_of(qp));
	put_json_findings(&text, verdict);
	put(&text, ",\"counters\":{");
	for (int i = 0; i < COUNTERS; i++) {
		if (!grown[i])
			continue;
		put(&text, "%s\"%s\":%llu", before, counters[i].name, (unsigned long long)grown[i]);
		before = ",";
	}
	put(&text, "}}\n");
	explain_make_plain(text.bytes, text.length, "\n");
	explain_write_json(output, text.bytes, text.length);
}

/* ---- Who waits ---------------------------------------------------------------------------------------------- */

/* For how long it must have waited. When it is about to end, a moment is enough. */
static uint64_t patience(enum explain_occasion occasion)
{
	return occasion == EXPLAIN_QUIET || (limit && limit < second) ? limit : second;
}

/* A program may compute for as long as it likes. But of one that is asked about, or is about to be ended, it may be why. */
static bool judge_unpolled(struct verdict *verdict, unsigned int cq_at, const char *queue,
			   const char *what, uint64_t since)
{
	const struct explain_cq_row *const cq = cq_of(cq_at);

	if (now_is == EXPLAIN_QUIET || !cq || cq->direct || seen_cq[cq_at - 1].polled_at >= since)
		return false;
	find(verdict, LIKELY, "WAIT_NOT_POLLED", "poll it, or arm it and wait for its event",
	     "the program has not polled the %s CQ since %s, so it cannot know what has completed",
	     queue, what);
	return true;
}

/* Whether it waits, and for what; `since` is when that began. */
static bool judge_qp(unsigned int at, enum explain_occasion occasion, struct verdict *verdict,
		     const uint64_t *grown, uint64_t *since)
{
	const struct explain_qp_row *const qp = &qps[at];
	const uint64_t now = explain_sight.now_ns(), enough = patience(occasion);
	unsigned int wrong;
	enum look how;

	verdict->count = 0;
	now_is = occasion;
	if (occasion != EXPLAIN_AT_END && !explain_sight.state_of(qp->row.pid))
		return false;
	if (!qp->row.pid || qp->row.gone || qp->direct || qp->errors || qp->state == ERR ||
	    qp->state == RESET)
		return false;
	*since = seen_qp[at].sends_since;
	if (sends_of(qp) && now - *since >= enough) {
		how = who_looks(qp->send_cq, qp, *since);
		if (how != NOBODY) {
			judge_sends(verdict, qp, how, grown);
			return true;
		}
		if (qp->send_cq && !cqs[qp->send_cq - 1].polls && !cqs[qp->send_cq - 1].direct &&
		    (wrong = wrong_cq(qp, *since))) {
			judge_wrong_cq(verdict, qp, wrong);
			return true;
		}
		if (judge_unpolled(verdict, qp->send_cq, "send", "it posted the oldest send",
				   *since))
			return true;
	}
	*since = seen_qp[at].posted_since;
	if (qp->sends && !qp->signaled && qp->send_cq && now - *since >= enough &&
	    !may_get(qp->send_cq) && who_looks(qp->send_cq, qp, *since) != NOBODY &&
	    !looks_elsewhere(qp, *since)) {
		find(verdict, LIKELY, "WAIT_UNSIGNALED",
		     "set IBV_SEND_SIGNALED in the requests that you wait for, or sq_sig_all",
		     "none of the %llu sends was signaled, so no completion comes, but the program "
		     "looks for one",
		     (unsigned long long)qp->sends);
		return true;
	}
	*since = seen_qp[at].recvs_since;
	if (now - *since < enough)
		return false;
	how = who_looks(qp->recv_cq, qp, *since);
	if (how != NOBODY && recvs_of(qp))
		judge_recvs(verdict, qp, how, *since);
	else if (how != NOBODY && !may_get(qp->recv_cq))
		judge_no_recvs(verdict, qp);
	else if (how == NOBODY && recvs_of(qp) && has_messages(qp))
		judge_unpolled(verdict, qp->recv_cq, "receive", "the peer sent", *since);
	return verdict->count > 0;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

static const char *const verbs[] = {
	[EXPLAIN_GET_CQ_EVENT] = "ibv_get_cq_event",  [EXPLAIN_DESTROY_CQ] = "ibv_destroy_cq",
	[EXPLAIN_DESTROY_QP] = "ibv_destroy_qp",      [EXPLAIN_DESTROY_SRQ] = "ibv_destroy_srq",
	[EXPLAIN_GET_CM_EVENT] = "rdma_get_cm_event", [EXPLAIN_DESTROY_ID] = "rdma_destroy_id",
};

static void judge_call(struct verdict *verdict, const struct explain_call_row *call)
{
	const struct explain_cq_row *cq;

	verdict->count = 0;
	switch ((uint32_t)call->verb) {
	case EXPLAIN_DESTROY_CQ:
		cq = cq_of(call->of);
		if (cq && cq->row.pid == call->pid && cq->events > cq->acked)
			find(verdict, CERTAIN, "WAIT_CQ_EVENTS",
			     "call ibv_ack_cq_events() for each event that ibv_get_cq_event() has "
			     "returned",
			     "it waits until each event of the completion queue is acknowledged: "
			     "%llu were taken, %llu acknowledged",
			     (unsigned long long)cq->events, (unsigned long long)cq->acked);
		break;
	case EXPLAIN_DESTROY_QP:
	case EXPLAIN_DESTROY_SRQ:
		find(verdict, LIKELY, "WAIT_ASYNC_EVENTS",
		     "call ibv_ack_async_event() for each event that ibv_get_async_event() has "
		     "returned",
		     "an asynchronous event of it was taken but not acknowledged");
		break;
	case EXPLAIN_DESTROY_ID:
		find(verdict, LIKELY, "WAIT_CM_EVENTS",
		     "call rdma_ack_cm_event() for each event that rdma_get_cm_event() has "
		     "returned",
		     "an event of the id was taken but not acknowledged");
		break;
	default:
		break;
	}
}

static void write_call(const struct explain_output *output, const struct explain_call_row *call,
		       enum explain_occasion occasion)
{
	static struct text text;
	struct verdict verdict;

	judge_call(&verdict, call);
	text.length = 0;
	if (output->line) {
		put(&text, "program=%s pid=%d kind=waiting seconds=%u thread=%d call=%s",
		    name_of(call->pid), call->pid, seconds_since(call->since), call->tid,
		    verbs[call->verb]);
		for (unsigned int i = 0; i < verdict.count; i++)
			put(&text, " finding=%s:%s", severities[verdict.finding[i].severity],
			    verdict.finding[i].reason);
		put(&text, "\n");
	} else {
		put(&text, "rdmaez-explain: %s[%d]: thread %d %s in %s", name_of(call->pid),
		    call->pid, call->tid, explain_judge_still ? "is" : "has been",
		    verbs[call->verb]);
		if (!explain_judge_still)
			put(&text, " for %u s", seconds_since(call->since));
		put(&text,
		    verdict.count
			    ? verdict.finding[0].severity != CERTAIN ? ", likely because " : ": "
			    : ".\n");
		put_findings(&text, &verdict);
	}
	explain_make_plain(text.bytes, text.length, "\n");
	explain_write_log(output, text.bytes, text.length);
	text.length = 0;
	put(&text,
	    "{\"program\":\"%s\",\"pid\":%d,\"kind\":\"waiting\",\"occasion\":\"%s\",\"seconds\":%"
	    "u,"
	    "\"thread\":%d,\"call\":\"%s\"",
	    name_of(call->pid), call->pid, occasions[occasion], seconds_since(call->since),
	    call->tid, verbs[call->verb]);
	put_json_findings(&text, &verdict);
	put(&text, "}\n");
	explain_make_plain(text.bytes, text.length, "\n");
	explain_write_json(output, text.bytes, text.length);
}

/* Whether a call waits for what the program itself must do. An event may be waited for as long as a program likes. */
static bool is_stuck(const struct explain_call_row *call, enum explain_occasion occasion)
{
	const uint64_t now = explain_sight.now_ns();

	if (call->verb == EXPLAIN_NO_CALL || now < call->since ||
	    now - call->since < patience(occasion))
		return false;
	return occasion == EXPLAIN_ASKED || call->verb == EXPLAIN_DESTROY_CQ ||
	       call->verb == EXPLAIN_DESTROY_QP || call->verb == EXPLAIN_DESTROY_SRQ ||
	       call->verb == EXPLAIN_DESTROY_ID;
}

/* ---- Looking ------------------------------------------------------------------------------------------------------- */

static uint64_t last_look;

/* As of this look; rows of one process follow one another. */
static char state_now(int pid, uint64_t now)
{
	static int last_pid;
	static uint64_t at;
	static char state;

	if (pid <= 0)
		return '\0';
	if (pid != last_pid || at != now) {
		last_pid = pid;
		at = now;
		state = explain_sight.state_of(pid);
	}
	return state;
}

/*
 * For how long a process was held since the last look, by a debugger or a signal: meanwhile nobody looks for anything,
 * and nobody waits. What is said of it is said as of the moment when it was stopped.
 */
static uint64_t held_for(int pid, uint64_t now)
{
	return explain_is_stopped(state_now(pid, now)) && now > last_look ? now - last_look : 0;
}

/* Of one queue pair; whether it has been quiet for a moment, with sends under way. */
static bool look_at_qp(unsigned int at, uint64_t now)
{
	const struct explain_qp_row *const qp = &rows->qp[at];
	const uint64_t sends = qp->sends, sends_done = qp->sends_done, recvs_done = qp->recvs_done;
	const uint64_t signaled = qp->signaled, recvs = qp->recvs, errors = qp->errors;
	const uint32_t version = qp->row.version;
	const int pid = qp->row.pid;
	const uint64_t held = held_for(pid, now);

	if (seen_qp[at].pid != pid || seen_qp[at].version != version) {
		memset(&seen_qp[at], 0, sizeof(seen_qp[at]));
		seen_qp[at].pid = pid;
		seen_qp[at].version = version;
		seen_qp[at].sends_since = seen_qp[at].recvs_since = seen_qp[at].posted_since = now;
		seen_qp[at].changed_at = now;
	} else if (held) {
		seen_qp[at].sends_since += held;
		seen_qp[at].recvs_since += held;
		seen_qp[at].posted_since += held;
		if (seen_qp[at].time_at)
			seen_qp[at].time_at += held;
	}
	if (state_now(pid, now))
		seen_qp[at].alive_at = now;
	if (sends != seen_qp[at].sends || sends_done != seen_qp[at].sends_done ||
	    recvs != seen_qp[at].recvs || recvs_done != seen_qp[at].recvs_done ||
	    errors != seen_qp[at].errors)
		seen_qp[at].changed_at = now;
	if (sends != seen_qp[at].sends)
		seen_qp[at].posted_since = now;
	if (sends_done != seen_qp[at].sends_done || signaled <= sends_done) {
		seen_qp[at].sends_since = now;
		seen_qp[at].is_told &= sends_done == seen_qp[at].sends_done;
		seen_qp[at].time_at = 0;
	}
	if (recvs_done != seen_qp[at].recvs_done) {
		seen_qp[at].recvs_since = now;
		seen_qp[at].is_told = false;
		seen_qp[at].time_at = 0;
	}
	seen_qp[at].sends = sends;
	seen_qp[at].sends_done = sends_done;
	seen_qp[at].recvs = recvs;
	seen_qp[at].recvs_done = recvs_done;
	seen_qp[at].errors = errors;
	return signaled > sends_done && now - seen_qp[at].sends_since >= 2 * second / 5;
}

static void look_at_cq(unsigned int at, uint64_t now)
{
	const struct explain_cq_row *const cq = &rows->cq[at];
	const uint64_t polls = cq->polls;
	const uint32_t version = cq->row.version;
	const int pid = cq->row.pid;
	const uint64_t held = held_for(pid, now);

	if (seen_cq[at].pid != pid || seen_cq[at].version != version) {
		memset(&seen_cq[at], 0, sizeof(seen_cq[at]));
		seen_cq[at].pid = pid;
		seen_cq[at].version = version;
		seen_cq[at].made_at = now;
	} else if (held && seen_cq[at].polled_at) {
		seen_cq[at].polled_at += held;
	}
	if (polls != seen_cq[at].polls)
		seen_cq[at].polled_at = now;
	seen_cq[at].polls = polls;
}

static uint64_t looked_at;

/* The rows of this moment, and what is seen of them: to read the counters of ports may have taken seconds. */
static void look_and_take_all(void)
{
	looked_at = explain_sight.now_ns();
	for (unsigned int i = 0; i < EXPLAIN_CQ_ROWS; i++)
		if (rows->cq[i].row.pid || seen_cq[i].pid)
			look_at_cq(i, looked_at);
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++)
		if (rows->qp[i].row.pid || seen_qp[i].pid)
			look_at_qp(i, looked_at);
	last_look = looked_at;
	take_all();
}

static void look_at_all(uint64_t now)
{
	int last_pid = 0;
	uint64_t time = 0;

	for (unsigned int i = 0; i < EXPLAIN_CQ_ROWS; i++)
		if (rows->cq[i].row.pid || seen_cq[i].pid)
			look_at_cq(i, now);
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++) {
		if (!rows->qp[i].row.pid && !seen_qp[i].pid)
			continue;
		if (look_at_qp(i, now)) {
			take_qp(i);
			if (qps[i].row.pid)
				count_port(&qps[i]);
		}
		if (seen_qp[i].time_at || seen_qp[i].pid <= 0 || rows->qp[i].row.gone)
			continue;
		if (seen_qp[i].pid != last_pid) {
			last_pid = seen_qp[i].pid;
			time = explain_sight.time_of(last_pid);
		}
		seen_qp[i].time = time;
		seen_qp[i].time_at = now;
	}
	last_look = now;
	forget_ports();
}

/* Whether something may have waited for long enough that was not told. */
static bool is_due(uint64_t now)
{
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++)
		if (seen_qp[i].pid > 0 && !seen_qp[i].is_told && !rows->qp[i].row.gone &&
		    (now - seen_qp[i].sends_since >= limit ||
		     now - seen_qp[i].recvs_since >= limit ||
		     now - seen_qp[i].posted_since >= limit))
			return true;
	for (unsigned int i = 0; i < EXPLAIN_CALL_ROWS; i++)
		if (rows->call[i].verb != EXPLAIN_NO_CALL)
			return true;
	return false;
}

/* ---- Completions that failed ------------------------------------------------------------------------------------ */

/* As <infiniband/verbs.h> has them. */
enum {
	LOC_LEN = 1,
	LOC_QP_OP = 2,
	LOC_PROT = 4,
	REM_INV_REQ = 9,
	REM_ACCESS = 10,
	REM_OP = 11,
	RETRY_EXC = 12,
	RNR_RETRY = 13
};
enum {
	ACCESS_LOCAL_WRITE = 1,
	SEND_INLINE = 1 << 3
};

static const char *status_name(uint32_t status)
{
	static const char *const names[] = {
		[LOC_LEN] = "IBV_WC_LOC_LEN_ERR",         [LOC_QP_OP] = "IBV_WC_LOC_QP_OP_ERR",
		[LOC_PROT] = "IBV_WC_LOC_PROT_ERR",       [REM_ACCESS] = "IBV_WC_REM_ACCESS_ERR",
		[REM_INV_REQ] = "IBV_WC_REM_INV_REQ_ERR", [REM_OP] = "IBV_WC_REM_OP_ERR",
		[RETRY_EXC] = "IBV_WC_RETRY_EXC_ERR",     [RNR_RETRY] = "IBV_WC_RNR_RETRY_EXC_ERR",
	};

	return status < sizeof(names) / sizeof(names[0]) ? names[status] : NULL;
}

/* Whether a region was not deregistered yet, nor registered anew. */
static bool was_there(const struct explain_mr_row *mr, uint64_t then)
{
	return mr->gone_at ? mr->gone_at >= then : !mr->row.gone;
}

/*
 * The region that a process had then by this key: one that was there rather than one that was gone. *has_any: there is
 * one by this key, which may have come later.
 */
static bool find_mr(const struct explain_qp_row *whose, uint32_t key, bool is_remote, uint64_t then,
		    struct explain_mr_row *found, bool *has_any)
{
	static struct explain_mr_row mr;
	const int pid = whose->row.pid;
	bool has = false;

	*has_any = false;
	for (unsigned int i = 0; i < EXPLAIN_MR_ROWS; i++) {
		if (rows->mr[i].row.pid != pid || !take_row(&mr, &rows->mr[i], sizeof(mr)) ||
		    mr.row.pid != pid || (is_remote ? mr.rkey : mr.lkey) != key)
			continue;
		*has_any = true;
		if (mr.made_at > then)
			continue;
		/* Devices number their keys each for itself. */
		if (has && (found->pd == whose->pd || was_there(found, then)) &&
		    (mr.pd != whose->pd || !was_there(&mr, then)))
			continue;
		*found = mr;
		has = true;
	}
	return has;
}

/* Whether every region is kept that there ever was. */
static bool has_all_mrs(void)
{
	for (unsigned int i = EXPLAIN_MR_ROWS; i; i--)
		if (!rows->mr[i - 1].row.pid)
			return true;
	return false;
}

static const char other_memory[] = "use the key, the address and the length of a registered region";

/* Memory that a request or a receive names. */
struct named {
	const struct explain_qp_row
		*whose;          /* the queue pair of the process that must have registered it */
	const char *who, *which; /* "the peer", "rkey" */
	bool is_remote;          /* by its rkey */
	uint32_t key;
	uint64_t addr, length;
	uint64_t then; /* when it failed */
};

/* What is wrong with it. */
static void judge_region(struct verdict *verdict, const struct named *named, uint32_t needs)
{
	const struct explain_qp_row *const whose = named->whose;
	const bool is_remote = named->is_remote;
	const uint32_t key = named->key;
	const uint64_t addr = named->addr;
	const char *const which = named->which, *const who = named->who;
	enum severity severity;
	struct explain_mr_row mr;
	bool has_any;

	if (!find_mr(whose, key, is_remote, named->then, &mr, &has_any)) {
		if (!has_any && has_all_mrs())
			find(verdict, LIKELY, "FAILED_KEY", other_memory,
			     "%s 0x%x: %s has never registered memory with this key", which, key,
			     who);
		return;
	}
	/* What was changed meanwhile may not be what the request has met. */
	severity = mr.rereg & EXPLAIN_MR_ANEW ? LIKELY : CERTAIN;
	if (mr.rereg & EXPLAIN_MR_ENDED && mr.gone_at < named->then) {
		if (mr.next[is_remote] != key)
			find(verdict, severity, "FAILED_REREGISTERED",
			     "use the keys that the region has after ibv_rereg_mr()",
			     "%s 0x%x: %s has registered this region again, and since then its %s "
			     "is 0x%x",
			     which, key, who, which, mr.next[is_remote]);
	} else if (mr.gone_at && mr.gone_at < named->then)
		find(verdict, CERTAIN, "FAILED_DEREGISTERED",
		     "keep memory registered until everything that uses it is done",
		     "%s 0x%x: %s had this region (0x%llx, %llu bytes) and has deregistered it",
		     which, key, who, (unsigned long long)mr.addr, (unsigned long long)mr.length);
	else if (mr.rereg & EXPLAIN_MR_BROKEN)
		find(verdict, LIKELY, "FAILED_REREGISTERED",
		     "deregister it, and register the memory again",
		     "%s 0x%x: ibv_rereg_mr() has failed for this region of %s, which must not be "
		     "used since then",
		     which, key, who);
	else if (strcmp(mr.device, whose->device) != 0)
		find(verdict, LIKELY, "FAILED_PD",
		     "register the memory in the queue pair's protection domain",
		     "%s 0x%x: %s has this region on %s, and the queue pair is on %s", which, key,
		     who, mr.device, whose->device);
	else if (mr.pd != whose->pd)
		find(verdict, severity, "FAILED_PD",
		     "register the memory in the queue pair's protection domain",
		     "%s 0x%x: %s has this region in another protection domain than the queue pair",
		     which, key, who);
	else if (addr < mr.addr || named->length > mr.length ||
		 addr - mr.addr > mr.length - named->length)
		find(verdict, LIKELY, "FAILED_BOUNDS", other_memory,
		     "%s 0x%x: the region of %s is %llu bytes at 0x%llx, but the request is for "
		     "%llu at 0x%llx",
		     which, key, who, (unsigned long long)mr.length, (unsigned long long)mr.addr,
		     (unsigned long long)named->length, (unsigned long long)addr);
	else if (needs & ~mr.access)
		find(verdict, severity, "FAILED_RIGHTS", "register the memory with this right",
		     "%s 0x%x: the region of %s has the access flags 0x%x, which lack 0x%x", which,
		     key, who, mr.access, needs & ~mr.access);
}

/* The request that a completion is of. NULL: it is not kept, or nobody knows which of several it is. */
static const struct explain_request *failed_request(const struct explain_qp_row *qp)
{
	const struct explain_request *const first = oldest(qp), *found = NULL;

	if (!first || first->signaled > qp->sends_done)
		return NULL;
	for (unsigned int i = 0; i < EXPLAIN_REQUESTS; i++) {
		const struct explain_request *const request = &qp->request[i];

		if (!request->number || request->wr_id != qp->failed_id ||
		    request->signaled < qp->sends_done)
			continue;
		if (!found || request->number < found->number)
			found = request;
	}
	return found;
}

static uint32_t remote_right(uint32_t opcode)
{
	return opcode <= WRITE_IMM                        ? ACCESS_WRITE
	       : opcode == READ                           ? ACCESS_READ
	       : opcode == CMP_SWP || opcode == FETCH_ADD ? ACCESS_ATOMIC
							  : 0;
}

/* Whether queue pairs of this type do not have this operation. */
static bool lacks(uint32_t type, uint32_t opcode)
{
	if (opcode > FETCH_ADD)
		return false;
	return (type == UD && opcode != SEND && opcode != SEND_IMM) ||
	       (type == UC && opcode >= READ);
}

/* What is wrong with the memory of the last receive of a queue pair. */
static void judge_receive(struct verdict *verdict, const struct explain_qp_row *of, bool is_peer,
			  uint64_t then)
{
	const struct named named = {.whose = of,
				    .who = is_peer ? "the peer" : "this process",
				    .which = is_peer ? "the peer's last receive has lkey"
						     : "the last receive has lkey",
				    .key = of->recv_lkey,
				    .addr = of->recv_addr,
				    .length = of->recv_length,
				    .then = then};

	if (of->recvs && of->recv_length)
		judge_region(verdict, &named, ACCESS_LOCAL_WRITE);
}

/* The longest message that is kept of those that were sent to a queue pair; 0: none is kept. */
static uint64_t longest_to(const struct explain_qp_row *qp)
{
	const struct explain_qp_row *const peer = peer_of(qp);
	uint64_t longest = 0;

	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++) {
		const struct explain_qp_row *const from = &qps[i];

		if (!from->row.pid || from->type != qp->type || (peer && from != peer) ||
		    (!peer && qp->type != UD))
			continue;
		for (unsigned int k = 0; k < EXPLAIN_REQUESTS; k++) {
			const struct explain_request *const request = &from->request[k];

			if (request->number && takes_receive(request) &&
			    (qp->type != UD || request->qp_num == qp->qp_num) &&
			    request->length > longest)
				longest = request->length;
		}
	}
	return longest;
}

enum {
	GRH_BYTES = 40
};

/* A receive that failed: of several, only the last one is kept. */
static void judge_failed_receive(struct verdict *verdict, const struct explain_qp_row *qp)
{
	const uint64_t more = qp->type == UD ? GRH_BYTES : 0;
	const uint64_t longest = longest_to(qp);

	verdict->count = 0;
	if (qp->failed_id != qp->recv_id || qp->has_srq ||
	    (qp->failed_status != LOC_QP_OP && qp->failed_status != LOC_PROT &&
	     qp->failed_status != LOC_LEN))
		return;
	if (longest && qp->recv_length < longest + more) {
		find(verdict, LIKELY, "FAILED_RECV_SHORT",
		     more ? "post receives 40 bytes longer than the longest message"
			  : "post receives for the longest message",
		     "the receive has %llu bytes, and a message of %llu%s came",
		     (unsigned long long)qp->recv_length, (unsigned long long)longest,
		     more ? " with 40 of the global route header" : "");
		return;
	}
	if (qp->failed_status != LOC_LEN)
		judge_receive(verdict, qp, false, qp->failed_at);
}

/* The retries are used up, and the ends do not disagree. */
static void judge_unanswered(struct verdict *verdict, const struct explain_qp_row *qp,
			     const struct explain_qp_row *peer,
			     const struct explain_request *request)
{
	if (peer->type != qp->type)
		find(verdict, CERTAIN, "FAILED_TYPE", "create both queue pairs with one type",
		     "the peer's QP %u is of type %s, but this one is of type %s, so packets are "
		     "dropped",
		     peer->qp_num, type_name(peer), type_name(qp));
	else if (peer->state < RTR && !peer->row.gone)
		find(verdict, LIKELY, "FAILED_PEER_STATE",
		     "have the peer move it to RTR before this end sends",
		     "the peer's QP %u is in %s", peer->qp_num, states[peer->state]);
	else if (peer->state == ERR && !peer->row.gone)
		find(verdict, LIKELY, "FAILED_PEER_STATE",
		     "find out why the peer has given it up, and connect both ends again",
		     "the peer has moved its QP %u to ERR", peer->qp_num);
	else if (peer->state >= RTR && peer->state != ERR)
		judge_connection(verdict, qp, peer, request);
}

/* Nothing else tells why: there is nobody any more. */
static void judge_gone(struct verdict *verdict, const struct explain_qp_row *qp,
		       const struct explain_qp_row *peer)
{
	const bool has_ended =
		!explain_sight.state_of(peer->row.pid) && explain_sight.state_of(qp->row.pid);

	if (has_ended)
		find(verdict, LIKELY, "FAILED_PEER_ENDED", restart,
		     "the process of the peer's QP %u, %s[%d], has ended", peer->qp_num,
		     name_of(peer->row.pid), peer->row.pid);
	else if (peer->row.gone)
		find(verdict, LIKELY, "FAILED_PEER_DESTROYED", restart,
		     "the peer, %s[%d], has destroyed its QP %u", name_of(peer->row.pid),
		     peer->row.pid, peer->qp_num);
}

/* Whether a request that takes a receive found none. `was_told`: the peer has said so. */
static void judge_no_receive(struct verdict *verdict, const struct explain_qp_row *peer,
			     bool was_told)
{
	if (peer->has_srq || peer->direct || peer->state < RTR || peer->row.gone)
		return;
	if (!peer->recvs)
		find(verdict, LIKELY, "FAILED_NO_RECEIVE", post_receives,
		     "the peer has never posted a receive");
	else if (was_told && !recvs_of(peer))
		find(verdict, LIKELY, "FAILED_NO_RECEIVE",
		     "post more receives, and each one again once it is used",
		     "all %llu receives that the peer has posted are used",
		     (unsigned long long)peer->recvs);
}

static void judge_failed(struct verdict *verdict, const struct explain_qp_row *qp,
			 const struct explain_request *request)
{
	const struct explain_qp_row *const peer = peer_of(qp);
	const uint32_t right = remote_right(request->opcode), status = qp->failed_status;
	const struct named own = {.whose = qp,
				  .who = "this process",
				  .which = "lkey",
				  .key = request->lkey,
				  .addr = request->addr,
				  .length = request->length,
				  .then = qp->failed_at};
	struct named remote = {.who = "the peer",
			       .which = "rkey",
			       .is_remote = true,
			       .key = request->rkey,
			       .addr = request->remote_addr,
			       .length = request->length,
			       .then = qp->failed_at};

	verdict->count = 0;
	if (status == LOC_QP_OP && lacks(qp->type, request->opcode)) {
		find(verdict, CERTAIN, "FAILED_OPCODE", "use an operation that the type has",
		     "queue pairs of type %s have no %s", type_name(qp),
		     operation(request->opcode));
		return;
	}
	/* rdma_rxe has the first one for both. */
	if ((status == LOC_QP_OP || status == LOC_PROT) && !(request->flags & SEND_INLINE) &&
	    request->length)
		judge_region(verdict, &own, is_answered(request) ? ACCESS_LOCAL_WRITE : 0);
	if (status == RETRY_EXC && !peer && is_connected(qp))
		judge_number(verdict, qp);
	if (status == RETRY_EXC)
		judge_twin(verdict, qp);
	if (!peer)
		return;
	if ((status == REM_ACCESS || status == REM_INV_REQ) && right) {
		remote.whose = peer;
		if (right & ~peer->access)
			find(verdict, CERTAIN, "FAILED_QP_RIGHTS",
			     "have the peer set the right in qp_access_flags",
			     "the peer's QP %u has the qp_access_flags 0x%x, which lack 0x%x for a "
			     "%s",
			     peer->qp_num, peer->access, right & ~peer->access,
			     operation(request->opcode));
		else if (status == REM_ACCESS)
			judge_region(verdict, &remote, right);
	}
	if (status == REM_OP && takes_receive(request) && !peer->has_srq) {
		if (peer->recv_length < request->length)
			find(verdict, LIKELY, "FAILED_RECV_SHORT",
			     "post receives for the longest message",
			     "the peer's last receive has %llu bytes, and the message %llu",
			     (unsigned long long)peer->recv_length,
			     (unsigned long long)request->length);
		else
			judge_receive(verdict, peer, true, qp->failed_at);
	}
	if (status == RETRY_EXC)
		judge_unanswered(verdict, qp, peer, request);
	if ((status == RETRY_EXC || status == RNR_RETRY) && takes_receive(request) &&
	    !verdict->count)
		judge_no_receive(verdict, peer, status == RNR_RETRY);
	if (status == RETRY_EXC && !verdict->count)
		judge_gone(verdict, qp, peer);
}

/* `what`: "SEND", of so many bytes. */
static void write_failed(const struct explain_output *output, const struct explain_qp_row *qp,
			 const char *what, uint64_t length, const struct verdict *verdict)
{
	static struct text text;

	text.length = 0;
	if (output->line)
		put(&text,
		    "program=%s pid=%d kind=failed device=%s qp=%u status=%s wr_id=0x%llx "
		    "finding=%s:%s\n",
		    name_of(qp->row.pid), qp->row.pid, qp->device, qp->qp_num,
		    status_name(qp->failed_status), (unsigned long long)qp->failed_id,
		    severities[verdict->finding[0].severity], verdict->finding[0].reason);
	else
		put(&text,
		    "rdmaez-explain: %s[%d]: %s of QP %u of %s, a %s of %llu bytes, wr_id 0x%llx%s",
		    name_of(qp->row.pid), qp->row.pid, status_name(qp->failed_status), qp->qp_num,
		    qp->device, what, (unsigned long long)length, (unsigned long long)qp->failed_id,
		    verdict->finding[0].severity == CERTAIN ? ": " : ", likely because ");
	if (!output->line)
		put_findings(&text, verdict);
	explain_make_plain(text.bytes, text.length, "\n");
	explain_write_log(output, text.bytes, text.length);
	text.length = 0;
	put(&text,
	    "{\"program\":\"%s\",\"pid\":%d,\"kind\":\"failed\",\"status\":\"%s\",\"device\":\"%"
	    "s\",\"port\":%u,\"qp_num\":%u",
	    name_of(qp->row.pid), qp->row.pid, status_name(qp->failed_status), qp->device, qp->port,
	    qp->qp_num);
	put_json_findings(&text, verdict);
	put(&text, "}\n");
	explain_make_plain(text.bytes, text.length, "\n");
	explain_write_json(output, text.bytes, text.length);
}

/* Once for each queue pair: what was posted and registered tells of its first completion that failed. */
void explain_judge_failures(const struct explain_output *output)
{
	bool has_all = false;

	for (unsigned int i = 0; rows && speaks && i < EXPLAIN_QP_ROWS; i++) {
		const uint64_t failed_at = rows->qp[i].failed_at;
		const struct explain_request *request;
		struct verdict verdict;
		const char *what;
		uint64_t length;

		if (!failed_at || !rows->qp[i].row.pid || failed_at == seen_failed[i])
			continue;
		if (!has_all)
			take_all();
		has_all = true;
		if (!qps[i].row.pid || !status_name(qps[i].failed_status))
			continue;
		seen_failed[i] = failed_at;
		request =
			qps[i].failed_queue == EXPLAIN_RECV_QUEUE ? NULL : failed_request(&qps[i]);
		if (request) {
			judge_failed(&verdict, &qps[i], request);
			what = operation(request->opcode);
			length = request->length;
		} else if (qps[i].failed_queue != EXPLAIN_SEND_QUEUE) {
			judge_failed_receive(&verdict, &qps[i]);
			what = "receive";
			length = qps[i].recv_length;
		} else {
			continue;
		}
		if (verdict.count)
			write_failed(output, &qps[i], what, length, &verdict);
	}
}

void explain_judge_begin(const struct explain_rows *of, const struct explain_share *share,
			 unsigned int seconds)
{
	rows = of;
	processes = share;
	speaks = seconds != EXPLAIN_ONLY_KEEPS;
	limit = speaks ? seconds * second : 0;
}

enum {
	AT_ONCE = 8 /* so many queue pairs of a process are told of, of those that differ */
};

/* What was told of before, at this moment. */
static struct {
	int pid;
	const char *reason;
	unsigned int at, alike;
	/* as it was judged, since to write the states takes a while */
	struct verdict verdict;
	uint64_t since, grown[COUNTERS];
} told[AT_ONCE * 8];

static bool is_alike(unsigned int count, int pid, const char *reason)
{
	for (unsigned int i = 0; i < count; i++) {
		if (told[i].pid != pid || strcmp(told[i].reason, reason) != 0)
			continue;
		told[i].alike++;
		return true;
	}
	return false;
}

static void say_qp(const struct explain_output *output, unsigned int which,
		   enum explain_occasion occasion)
{
	const struct explain_qp_row *const qp = &qps[told[which].at];

	(output->line ? write_qp_line : write_qp_text)(output, qp, &told[which].verdict,
						       told[which].since, told[which].grown,
						       told[which].alike);
	write_qp_json(output, qp, &told[which].verdict, told[which].since, told[which].grown,
		      occasion);
}

/* What is to be told of, into `told`: how much it is, and how many of it wait. */
static unsigned int gather(enum explain_occasion occasion, unsigned int *waiting)
{
	uint64_t grown[COUNTERS], since;
	struct verdict verdict;
	unsigned int count = 0;

	*waiting = 0;
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++) {
		const char *reason;
		bool waits;

		if (!qps[i].row.pid || qps[i].row.gone ||
		    (seen_qp[i].is_told && occasion != EXPLAIN_ASKED))
			continue;
		growth_of(&qps[i], grown);
		waits = judge_qp(i, occasion, &verdict, grown, &since);
		if (!waits && !(occasion == EXPLAIN_ASKED &&
				(sends_of(&qps[i]) || recvs_of(&qps[i]) || qps[i].direct)))
			continue;
		seen_qp[i].is_told = waits;
		*waiting += waits;
		reason = verdict.count ? verdict.finding[0].reason : waits ? "waits" : "idle";
		if (is_alike(count, qps[i].row.pid, reason) ||
		    count == sizeof(told) / sizeof(told[0]))
			continue;
		told[count].pid = qps[i].row.pid;
		told[count].reason = reason;
		told[count].at = i;
		told[count].verdict = verdict;
		told[count].since = waits ? since : seen_qp[i].recvs_since;
		memcpy(told[count].grown, grown, sizeof(grown));
		told[count++].alike = 0;
	}
	return count;
}

static void say_calls(const struct explain_output *output, enum explain_occasion occasion)
{
	for (unsigned int i = 0; i < EXPLAIN_CALL_ROWS; i++) {
		if (calls[i].since != seen_call[i].since)
			seen_call[i].is_told = false;
		seen_call[i].since = calls[i].since;
		if ((seen_call[i].is_told && occasion != EXPLAIN_ASKED) ||
		    !is_stuck(&calls[i], occasion))
			continue;
		seen_call[i].is_told = true;
		write_call(output, &calls[i], occasion);
	}
}

/* The states are asked for whenever somebody asks, and otherwise where something waits. */
static void say_before(const struct explain_output *output, enum explain_occasion occasion,
		       unsigned int waiting)
{
	if (explain_judge_before && (occasion != EXPLAIN_QUIET || waiting))
		explain_judge_before(output, occasion, waiting > 0);
}

void explain_judge_say(const struct explain_output *output, enum explain_occasion occasion)
{
	static const char nothing[] = "rdmaez-explain: nothing is outstanding.\n";
	unsigned int count, waiting;

	if (!rows)
		return;
	look_and_take_all();
	count = gather(occasion, &waiting);
	say_before(output, occasion, waiting);
	if (!speaks)
		return;
	say_calls(output, occasion);
	for (unsigned int i = 0; i < count; i++)
		say_qp(output, i, occasion);
	if (!count && occasion == EXPLAIN_ASKED && !output->line)
		explain_write_log(output, nothing, sizeof(nothing) - 1);
}

void explain_judge_end(const struct explain_output *output, bool is_bad)
{
	unsigned int waiting = 0;

	if (!rows)
		return;
	look_and_take_all();
	if (is_bad)
		gather(EXPLAIN_AT_END, &waiting);
	say_before(output, EXPLAIN_AT_END, waiting);
}

void explain_judge_look(const struct explain_output *output)
{
	const uint64_t now = explain_sight.now_ns();

	if (!rows)
		return;
	look_at_all(now);
	explain_judge_failures(output);
	if (limit && is_due(now))
		explain_judge_say(output, EXPLAIN_QUIET);
}

/* ---- For the states ----------------------------------------------------------------------------------------- */

void explain_judge_take(void)
{
	look_and_take_all();
}

uint64_t explain_judge_moment(void)
{
	return looked_at;
}

const struct explain_qp_row *explain_judge_qp(unsigned int at)
{
	return qps[at].row.pid ? &qps[at] : NULL;
}

const struct explain_cq_row *explain_judge_cq(unsigned int at)
{
	return cqs[at].row.pid ? &cqs[at] : NULL;
}

const struct explain_srq_row *explain_judge_srq(unsigned int at, uint64_t *done)
{
	if (!srqs[at].row.pid)
		return NULL;
	*done = shared_done(at + 1);
	return &srqs[at];
}

bool explain_judge_mr(unsigned int at, struct explain_mr_row *mr)
{
	if (!take_row(mr, &rows->mr[at], sizeof(*mr)))
		return false;
	make_name(mr->device, sizeof(mr->device));
	return true;
}

const struct explain_ah_row *explain_judge_ah(const struct explain_qp_row *qp,
					      const struct explain_request *request)
{
	return ah_of(qp, request);
}

const struct explain_request *explain_judge_request(const struct explain_qp_row *qp)
{
	if (qp->failed_at)
		return failed_request(qp);
	return sends_of(qp) ? oldest(qp) : NULL;
}

const char *explain_judge_failed(const struct explain_qp_row *qp)
{
	return qp->failed_at ? status_name(qp->failed_status) : NULL;
}

bool explain_judge_armed(const struct explain_cq_row *cq)
{
	return is_armed(cq);
}

void explain_judge_seen(unsigned int at, uint64_t *changed_at, uint64_t *waits_since)
{
	*changed_at = seen_qp[at].changed_at;
	*waits_since = seen_qp[at].sends_since;
}

uint64_t explain_judge_polled(unsigned int cq)
{
	return seen_cq[cq].polled_at ? seen_cq[cq].polled_at : seen_cq[cq].made_at;
}

const char *explain_judge_operation(uint32_t opcode)
{
	static const char *const names[] = {
		"RDMA_WRITE",         "RDMA_WRITE_WITH_IMM", "SEND", "SEND_WITH_IMM", "RDMA_READ",
		"ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD"};

	return opcode < sizeof(names) / sizeof(names[0]) ? names[opcode] : NULL;
}

const char *explain_judge_type(const struct explain_qp_row *qp)
{
	if (qp->type == XRC_SEND || qp->type == XRC_RECV)
		return qp->type == XRC_SEND ? "XRC_SEND" : "XRC_RECV";
	return qp->type < 16 ? types[qp->type] : NULL;
}

const char *explain_judge_state(const struct explain_qp_row *qp)
{
	return states[qp->state];
}

unsigned int explain_judge_mtu(uint32_t mtu)
{
	return mtus[mtu];
}
