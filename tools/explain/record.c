/* SPDX-License-Identifier: MIT */
/*
 * What is known of each process of the command.
 *
 * All of it is from the rows as judge.c has copied and checked them, from the records of processes, taken here in the
 * same way, and from files of the kernel's. A text is a name of a fixed list, or a copy without what a line or JSON
 * could not hold.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "record.h"
#include "text.h"

enum {
	PROCESSES = 512, /* each with a row of its own */
	PORTS = 16,      /* of all devices, and GIDs of each */
	GIDS = 64,
	PORT_ROWS = 1024, /* of all processes */
	GID_ROWS = 16384
};

/* As <infiniband/verbs.h> has them. */
enum {
	MASK_ACCESS = 1 << 3,
	MASK_PKEY_INDEX = 1 << 4,
	MASK_PORT = 1 << 5,
	MASK_QKEY = 1 << 6,
	MASK_AV = 1 << 7,
	MASK_PATH_MTU = 1 << 8,
	MASK_TIMEOUT = 1 << 9,
	MASK_RETRY = 1 << 10,
	MASK_RNR = 1 << 11,
	MASK_RQ_PSN = 1 << 12,
	MASK_RD = 1 << 13,
	MASK_MIN_RNR = 1 << 15,
	MASK_SQ_PSN = 1 << 16,
	MASK_DEST_RD = 1 << 17,
	MASK_DEST_QPN = 1 << 20,
	UD = 4,
	RTR = 2
};

static const uint64_t ms = 1000000; /* ns */
static const struct explain_share *processes;

/* ---- Processes -------------------------------------------------------------------------------------------- */

/* Those that were seen. `ended_at`: when that was noticed, 0: it has not. */
static struct process {
	int pid;
	bool was_alive, is_written;
	uint64_t ended_at;
	int ended_by;  /* a signal; 0: by itself; -1: a signal, and nobody knows which */
	bool is_known; /* how it ended */
	/* copied anew */
	bool has_qps;
	char name[16];
	uint32_t rank, ranks, exited, status;
	char libraries[sizeof(((struct explain_process *)0)->libraries)];
} seen[PROCESSES];
static unsigned int seen_count;
static int passed_on;

/* A process id may have been another's before. */
static struct process *process_of(int pid)
{
	unsigned int i = 0;

	while (i < seen_count && seen[i].pid != pid)
		i++;
	if (i == PROCESSES)
		return NULL;
	if (i == seen_count) {
		memset(&seen[i], 0, sizeof(seen[i]));
		seen[i].pid = pid;
		memcpy(seen[i].name, "?", 2);
		seen_count++;
	}
	return &seen[i];
}

static void take_process(const struct explain_process *from)
{
	static struct explain_process copy;
	struct process *process;

	if (from->pid <= 0)
		return;
	explain_copy(&copy, from, offsetof(struct explain_process, count));
	process = copy.pid > 0 ? process_of(copy.pid) : NULL;
	if (!process)
		return;
	memcpy(process->name, copy.name, sizeof(process->name));
	explain_make_word(process->name, sizeof(process->name));
	memcpy(process->libraries, copy.libraries, sizeof(process->libraries));
	explain_make_word(process->libraries, sizeof(process->libraries));
	process->rank = copy.rank;
	process->ranks = copy.ranks;
	process->exited = copy.exited;
	if (copy.status)
		process->status = copy.status;
}

/* Whoever handles a signal that is to end it, and exits, has not ended of its own accord. */
static int signal_of(int status)
{
	return WIFSIGNALED(status) ? WTERMSIG(status) : passed_on;
}

static void look_at_process(struct process *process, uint64_t now)
{
	if (explain_sight.state_of(process->pid)) {
		if (process->ended_at)
			process->is_written = process->is_known = false;
		process->status = 0;
		process->was_alive = true;
		process->ended_at = 0;
	} else if (!process->ended_at) {
		process->ended_at = now;
	}
	if (!process->ended_at || process->is_known)
		return;
	if (process->status)
		process->ended_by = signal_of((int)(process->status - 1));
	else
		process->ended_by = passed_on ? passed_on : process->exited ? 0 : -1;
}

static void take_processes(uint64_t now)
{
	for (int i = 0; i < EXPLAIN_PROCESSES; i++)
		take_process(&processes->process[i]);
	for (unsigned int i = 0; i < seen_count; i++)
		seen[i].has_qps = false;
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++) {
		const struct explain_qp_row *const qp = explain_judge_qp(i);
		struct process *const process = qp ? process_of(qp->row.pid) : NULL;

		if (process)
			process->has_qps = true;
	}
	for (unsigned int i = 0; i < seen_count; i++)
		look_at_process(&seen[i], now);
}

void explain_record_signal(int signal)
{
	passed_on = signal;
}

void explain_record_ended(int pid, int status)
{
	struct process *const process = process_of(pid);

	if (!process)
		return;
	if (!process->ended_at)
		process->ended_at = explain_sight.now_ns();
	process->is_known = true;
	process->ended_by = signal_of(status);
}

/* ---- Ports ------------------------------------------------------------------------------------------------ */

static struct port {
	char device[EXPLAIN_DEVICE];
	uint32_t port, lid, gids, active_mtu;
	uint64_t rate_mbps;
	const char *link_layer, *state;
	char firmware[64];
	struct explain_state_gids gid[GIDS];
} ports[PORTS];
static unsigned int port_count;

__attribute__((__format__(__printf__, 4, 5))) static bool
read_of(const struct port *port, char *text, size_t size, const char *format, ...)
{
	char path[200];
	va_list arguments;
	size_t length = 0;

	length = (size_t)snprintf(path, sizeof(path), "%s/ports/%u/", port->device, port->port);
	va_start(arguments, format);
	explain_text_add(path, sizeof(path), &length, format, arguments);
	va_end(arguments);
	return explain_sight.read(path, text, size);
}

static const char *gid_type(const struct port *port, uint32_t index)
{
	char text[64];

	if (!read_of(port, text, sizeof(text), "gid_attrs/types/%u", index))
		return NULL;
	if (!strcmp(text, "RoCE v2"))
		return "RoCE v2";
	if (!strcmp(text, "IB/RoCE v1") && port->link_layer)
		return port->link_layer[0] == 'E' ? "RoCE v1" : "IB";
	return NULL;
}

static void read_gids(struct port *port)
{
	static const struct explain_gid zero;
	struct explain_gid gid;
	char text[64];

	/* A table may have hundreds of rows, and files are slow: it ends where many are empty. */
	for (uint32_t i = 0, empty = 0; i < 256 && empty < 8 && port->gids < GIDS; i++) {
		struct explain_state_gids *const row = &port->gid[port->gids];

		if (!read_of(port, text, sizeof(text), "gids/%u", i) ||
		    inet_pton(AF_INET6, text, gid.raw) != 1)
			break;
		empty = memcmp(&gid, &zero, sizeof(gid)) ? 0 : empty + 1;
		if (empty)
			continue;
		memset(row, 0, sizeof(*row));
		row->device = port->device;
		EXPLAIN_STATE_SET(GIDS, row, port, port->port);
		EXPLAIN_STATE_SET(GIDS, row, gid_index, i);
		EXPLAIN_STATE_SET(GIDS, row, gid, gid);
		row->gid_type = gid_type(port, i);
		port->gids++;
	}
}

static void read_port(struct port *port)
{
	static const char *const names[] = {"NOP",   "DOWN",   "INIT",
					    "ARMED", "ACTIVE", "ACTIVE_DEFER"};
	char text[64], path[EXPLAIN_DEVICE + 8];

	snprintf(path, sizeof(path), "%s/fw_ver", port->device);
	if (!explain_sight.read(path, port->firmware, sizeof(port->firmware)))
		port->firmware[0] = '\0';
	explain_make_word(port->firmware, sizeof(port->firmware));
	port->link_layer = port->state = NULL;
	port->gids = port->lid = port->active_mtu = 0;
	port->rate_mbps = 0;
	if (read_of(port, text, sizeof(text), "link_layer"))
		port->link_layer = !strcmp(text, "InfiniBand") ? "InfiniBand"
				   : !strcmp(text, "Ethernet") ? "Ethernet"
							       : NULL;
	if (read_of(port, text, sizeof(text), "state") && text[0] >= '0' && text[0] <= '5')
		port->state = names[text[0] - '0'];
	if (read_of(port, text, sizeof(text), "lid"))
		port->lid = (uint32_t)strtoul(text, NULL, 0) & 0xffff;
	if (read_of(port, text, sizeof(text), "rate")) {
		const double rate = strtod(text, NULL) * 1000;

		port->rate_mbps = rate >= 0 && rate < 1e9 ? (uint64_t)rate : 0;
	}
	read_gids(port);
}

/* NULL: there are more than anybody has. */
static struct port *port_of(const char *device, uint32_t number)
{
	for (unsigned int i = 0; i < port_count; i++)
		if (ports[i].port == number && !strcmp(ports[i].device, device))
			return &ports[i];
	if (port_count == PORTS)
		return NULL;
	snprintf(ports[port_count].device, EXPLAIN_DEVICE, "%s", device);
	ports[port_count].port = number;
	read_port(&ports[port_count]);
	return &ports[port_count++];
}

/* ---- States ----------------------------------------------------------------------------------------------- */

static struct explain_state states[PROCESSES];
static struct process *whose[PROCESSES];
static unsigned int state_count;

static struct explain_state_port port_rows[PORT_ROWS];
static struct explain_state_gids gid_rows[GID_ROWS];
static struct explain_state_qp qp_rows[EXPLAIN_QP_ROWS];
static struct explain_state_cq cq_rows[EXPLAIN_CQ_ROWS];
static struct explain_state_srq srq_rows[EXPLAIN_SRQ_ROWS];
static struct explain_state_mr mr_rows[EXPLAIN_MR_ROWS];
static struct explain_mr_row mrs[EXPLAIN_MR_ROWS];
/* how many of each are used */
static struct {
	size_t ports, gids, qps, cqs, srqs, mrs;
} used;

static char host[65], boot_id[64];

static uint64_t since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

/* From RTR on of a connected one; of UD, what its last datagram was for. */
static void fill_peer(struct explain_state_qp *to, const struct explain_qp_row *qp)
{
	const struct explain_request *last = NULL;
	const struct explain_ah_row *ah;
	struct explain_gid gid;

	if (qp->type != UD) {
		if (qp->mask & MASK_DEST_QPN)
			EXPLAIN_STATE_SET(QP, to, dest_qp_num, qp->dest_qp_num);
		if (!(qp->mask & MASK_AV))
			return;
		EXPLAIN_STATE_SET(QP, to, sl, qp->sl);
		EXPLAIN_STATE_SET(QP, to, traffic_class, qp->traffic_class);
		if (qp->dlid)
			EXPLAIN_STATE_SET(QP, to, peer_lid, qp->dlid);
		if (!qp->has_gids)
			return;
		EXPLAIN_STATE_SET(QP, to, gid_index, qp->sgid_index);
		memcpy(gid.raw, qp->gid, sizeof(gid.raw));
		EXPLAIN_STATE_SET(QP, to, gid, gid);
		memcpy(gid.raw, qp->peer_gid, sizeof(gid.raw));
		EXPLAIN_STATE_SET(QP, to, peer_gid, gid);
		return;
	}
	for (unsigned int i = 0; i < EXPLAIN_REQUESTS; i++)
		if (qp->request[i].number && (!last || qp->request[i].number > last->number))
			last = &qp->request[i];
	if (!last)
		return;
	EXPLAIN_STATE_SET(QP, to, dest_qp_num, last->qp_num);
	EXPLAIN_STATE_SET(QP, to, sent_qkey, last->qkey);
	ah = explain_judge_ah(qp, last);
	if (!ah)
		return;
	EXPLAIN_STATE_SET(QP, to, gid_index, ah->sgid_index);
	memcpy(gid.raw, ah->peer_gid, sizeof(gid.raw));
	EXPLAIN_STATE_SET(QP, to, peer_gid, gid);
}

/* The interface of a GID. */
static bool netdev_of(const struct port *port, uint32_t index, char *name, size_t size)
{
	return read_of(port, name, size, "gid_attrs/ndevs/%u", index) && name[0] &&
	       name[0] != '.' && !strchr(name, '/');
}

/* Whether frames have a tag is known of an interface of hardware, of a bond and of a VLAN; others may be above one. */
static void fill_vlan(struct explain_state_qp *to, const struct port *port, uint32_t index)
{
	char text[512], name[32], path[96];
	const char *kind, *id;

	if (!to->gid_type || strncmp(to->gid_type, "RoCE", 4) != 0 ||
	    !netdev_of(port, index, name, sizeof(name)))
		return;
	snprintf(path, sizeof(path), "../net/%s/uevent", name);
	if (!explain_sight.read(path, text, sizeof(text)))
		return;
	kind = strstr(text, "DEVTYPE=");
	if (!kind || !strncmp(kind, "DEVTYPE=bond", 12)) {
		EXPLAIN_STATE_SET(QP, to, vlan, 0);
		return;
	}
	snprintf(path, sizeof(path), "../../../proc/net/vlan/%s", name);
	if (strncmp(kind, "DEVTYPE=vlan", 12) != 0 || !explain_sight.read(path, text, sizeof(text)))
		return;
	id = strstr(text, "VID: ");
	if (id)
		EXPLAIN_STATE_SET(QP, to, vlan, (uint32_t)strtoul(id + 5, NULL, 10) & 0xfff);
}

/*
 * The priorities that PFC protects on the interface of a GID, where DSCPs decide and no traffic class is set for all of
 * the port's queue pairs. MLNX_OFED and DOCA have these files; of a VLAN's interface there are none.
 */
static void fill_lossless(struct explain_state_qp *to, const struct port *port, uint32_t index)
{
	char text[64], name[32], path[96];
	uint32_t lossless = 0;

	if (!to->gid_type || strcmp(to->gid_type, "RoCE v2") != 0 ||
	    (read_of(port, text, sizeof(text), "../../tc/%u/traffic_class", port->port) &&
	     !strncmp(text, "Global tclass=", 14) && text[14] != '-') ||
	    !netdev_of(port, index, name, sizeof(name)))
		return;
	snprintf(path, sizeof(path), "../net/%s/qos/trust", name);
	if (!explain_sight.read(path, text, sizeof(text)) || strncmp(text, "dscp", 4) != 0)
		return;
	snprintf(path, sizeof(path), "../net/%s/qos/pfc", name);
	if (!explain_sight.read(path, text, sizeof(text)) || strspn(text, "01") != 8)
		return;
	for (unsigned int i = 0; i < 8; i++)
		lossless |= text[i] == '1' ? 1U << i : 0;
	EXPLAIN_STATE_SET(QP, to, lossless, lossless);
}

static void fill_port(struct explain_state_qp *to, const struct explain_qp_row *qp)
{
	struct port *port;
	char text[64];

	if (!(qp->mask & MASK_PORT) || !qp->port)
		return;
	EXPLAIN_STATE_SET(QP, to, port, qp->port);
	if (qp->mask & MASK_PKEY_INDEX)
		EXPLAIN_STATE_SET(QP, to, pkey_index, qp->pkey_index);
	port = port_of(qp->device, qp->port);
	if (!port)
		return;
	if (port->lid)
		EXPLAIN_STATE_SET(QP, to, lid, port->lid);
	if (EXPLAIN_STATE_HAS(QP, to, gid))
		to->gid_type = gid_type(port, qp->sgid_index);
	fill_lossless(to, port, qp->sgid_index);
	fill_vlan(to, port, qp->sgid_index);
	if (qp->mask & MASK_PKEY_INDEX &&
	    read_of(port, text, sizeof(text), "pkeys/%u", qp->pkey_index))
		EXPLAIN_STATE_SET(QP, to, pkey, (uint32_t)strtoul(text, NULL, 0) & 0xffff);
	if (!qp->active_mtu)
		return;
	port->active_mtu = explain_judge_mtu(qp->active_mtu);
	EXPLAIN_STATE_SET(QP, to, active_mtu, port->active_mtu);
}

static void fill_attributes(struct explain_state_qp *to, const struct explain_qp_row *qp)
{
#define TAKE(bit, member, value)   \
	if (qp->mask & MASK_##bit) \
		EXPLAIN_STATE_SET(QP, to, member, value);
	TAKE(ACCESS, access, qp->access)
	TAKE(QKEY, qkey, qp->qkey)
	TAKE(PATH_MTU, path_mtu, explain_judge_mtu(qp->path_mtu))
	TAKE(TIMEOUT, timeout, qp->timeout)
	TAKE(RETRY, retry_cnt, qp->retry_cnt)
	TAKE(RNR, rnr_retry, qp->rnr_retry)
	TAKE(RQ_PSN, rq_psn, qp->rq_psn)
	TAKE(SQ_PSN, sq_psn, qp->sq_psn)
	TAKE(MIN_RNR, min_rnr_timer, qp->min_rnr_timer)
	TAKE(RD, max_rd_atomic, qp->max_rd_atomic)
	TAKE(DEST_RD, max_dest_rd_atomic, qp->max_dest_rd_atomic)
#undef TAKE
	if (qp->max_send_wr)
		EXPLAIN_STATE_SET(QP, to, max_send_wr, qp->max_send_wr);
	if (qp->max_recv_wr)
		EXPLAIN_STATE_SET(QP, to, max_recv_wr, qp->max_recv_wr);
	if (qp->send_cq)
		EXPLAIN_STATE_SET(QP, to, send_cq, qp->send_cq);
	if (qp->recv_cq)
		EXPLAIN_STATE_SET(QP, to, recv_cq, qp->recv_cq);
	if (qp->srq)
		EXPLAIN_STATE_SET(QP, to, srq, qp->srq);
}

static void fill_request(struct explain_state_qp *to, const struct explain_qp_row *qp,
			 uint64_t age_ns)
{
	const struct explain_request *const request = explain_judge_request(qp);

	if (!request)
		return;
	to->oldest_opcode = explain_judge_operation(request->opcode);
	EXPLAIN_STATE_SET(QP, to, oldest_ms, age_ns / ms);
	EXPLAIN_STATE_SET(QP, to, oldest_length, request->length);
	if (qp->type == UD || request->opcode == 2 || request->opcode == 3)
		return;
	EXPLAIN_STATE_SET(QP, to, oldest_addr, request->remote_addr);
	EXPLAIN_STATE_SET(QP, to, oldest_rkey, request->rkey);
}

/* Of what uses its queues without verbs, nobody knows what was posted. Receives that are shared stand with the SRQ. */
static void fill_counters(struct explain_state_qp *to, const struct explain_qp_row *qp,
			  unsigned int at, uint64_t now)
{
	uint64_t changed_at, waits_since;

	explain_judge_seen(at, &changed_at, &waits_since);
	if (qp->failed_at) {
		to->failed_status = explain_judge_failed(qp);
		EXPLAIN_STATE_SET(QP, to, failed_ms, since(now, qp->failed_at) / ms);
	}
	if (qp->direct)
		return;
	EXPLAIN_STATE_SET(QP, to, sends_posted, qp->sends);
	EXPLAIN_STATE_SET(QP, to, sends_signaled, qp->signaled);
	EXPLAIN_STATE_SET(QP, to, sends_completed, qp->sends_done);
	if (!qp->has_srq)
		EXPLAIN_STATE_SET(QP, to, recvs_posted, qp->recvs);
	EXPLAIN_STATE_SET(QP, to, recvs_completed, qp->recvs_done);
	EXPLAIN_STATE_SET(QP, to, failed, qp->errors);
	EXPLAIN_STATE_SET(QP, to, idle_ms, changed_at ? since(now, changed_at) / ms : 0);
	fill_request(to, qp, since(now, waits_since));
}

static void fill_qp(struct explain_state_qp *to, const struct explain_qp_row *qp, unsigned int at,
		    uint64_t now)
{
	memset(to, 0, sizeof(*to));
	to->device = qp->device;
	EXPLAIN_STATE_SET(QP, to, qp_num, qp->qp_num);
	to->type = explain_judge_type(qp);
	to->state = explain_judge_state(qp);
	if (qp->row.gone)
		EXPLAIN_STATE_SET(QP, to, gone, true);
	fill_peer(to, qp);
	fill_port(to, qp);
	fill_attributes(to, qp);
	fill_counters(to, qp, at, now);
}

/* A port and its GIDs, once for each process. */
static void add_port(struct explain_state *state, struct port *port)
{
	struct explain_state_port *row;

	for (size_t i = 0; i < state->ports_count; i++)
		if (state->ports[i].port == port->port &&
		    !strcmp(state->ports[i].device, port->device))
			return;
	if (used.ports == PORT_ROWS || GID_ROWS - used.gids < port->gids)
		return;
	row = &port_rows[used.ports++];
	state->ports_count++;
	memset(row, 0, sizeof(*row));
	row->device = port->device;
	EXPLAIN_STATE_SET(PORT, row, port, port->port);
	row->link_layer = port->link_layer;
	row->state = port->state;
	if (port->active_mtu)
		EXPLAIN_STATE_SET(PORT, row, active_mtu, port->active_mtu);
	if (port->lid)
		EXPLAIN_STATE_SET(PORT, row, lid, port->lid);
	if (port->rate_mbps)
		EXPLAIN_STATE_SET(PORT, row, rate_mbps, port->rate_mbps);
	row->firmware = port->firmware[0] ? port->firmware : NULL;
	memcpy(&gid_rows[used.gids], port->gid, port->gids * sizeof(port->gid[0]));
	used.gids += port->gids;
	state->gids_count += port->gids;
}

static void add_qps(struct explain_state *state, int pid, uint64_t now)
{
	state->qps = &qp_rows[used.qps];
	state->ports = &port_rows[used.ports];
	state->gids = &gid_rows[used.gids];
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++) {
		const struct explain_qp_row *const qp = explain_judge_qp(i);

		if (!qp || qp->row.pid != pid)
			continue;
		fill_qp(&qp_rows[used.qps++], qp, i, now);
		state->qps_count++;
	}
	for (size_t i = 0; i < state->qps_count; i++) {
		struct explain_state_qp *const qp = &state->qps[i];
		struct port *const port =
			EXPLAIN_STATE_HAS(QP, qp, port) ? port_of(qp->device, qp->port) : NULL;

		if (port)
			add_port(state, port);
	}
}

static void add_cqs(struct explain_state *state, int pid, uint64_t now)
{
	state->cqs = &cq_rows[used.cqs];
	for (unsigned int i = 0; i < EXPLAIN_CQ_ROWS; i++) {
		const struct explain_cq_row *const cq = explain_judge_cq(i);
		struct explain_state_cq *const row = &cq_rows[used.cqs];

		if (!cq || cq->row.pid != pid || cq->row.gone || cq->direct)
			continue;
		memset(row, 0, sizeof(*row));
		row->device = cq->device;
		EXPLAIN_STATE_SET(CQ, row, cq_num, i + 1);
		EXPLAIN_STATE_SET(CQ, row, cqe, cq->cqe);
		EXPLAIN_STATE_SET(CQ, row, polls, cq->polls);
		EXPLAIN_STATE_SET(CQ, row, polled_ms, since(now, explain_judge_polled(i)) / ms);
		EXPLAIN_STATE_SET(CQ, row, armed, explain_judge_armed(cq));
		EXPLAIN_STATE_SET(CQ, row, events, cq->events);
		EXPLAIN_STATE_SET(CQ, row, acked, cq->acked);
		used.cqs++;
		state->cqs_count++;
	}
}

static void add_srqs(struct explain_state *state, int pid)
{
	uint64_t done;

	state->srqs = &srq_rows[used.srqs];
	for (unsigned int i = 0; i < EXPLAIN_SRQ_ROWS; i++) {
		const struct explain_srq_row *const srq = explain_judge_srq(i, &done);
		struct explain_state_srq *const row = &srq_rows[used.srqs];

		if (!srq || srq->row.pid != pid || srq->row.gone)
			continue;
		memset(row, 0, sizeof(*row));
		row->device = srq->device;
		EXPLAIN_STATE_SET(SRQ, row, srq_num, i + 1);
		EXPLAIN_STATE_SET(SRQ, row, posted, srq->posted);
		EXPLAIN_STATE_SET(SRQ, row, completed, done);
		used.srqs++;
		state->srqs_count++;
	}
}

static void add_mrs(struct explain_state *state, int pid, uint64_t now)
{
	state->mrs = &mr_rows[used.mrs];
	for (unsigned int i = 0; i < EXPLAIN_MR_ROWS; i++) {
		const struct explain_mr_row *const mr = &mrs[i];
		struct explain_state_mr *const row = &mr_rows[used.mrs];

		if (mr->row.pid != pid)
			continue;
		memset(row, 0, sizeof(*row));
		row->device = mr->device;
		EXPLAIN_STATE_SET(MR, row, rkey, mr->rkey);
		/* What it is after a failed ibv_rereg_mr() nobody knows. */
		if (!(mr->rereg & EXPLAIN_MR_BROKEN)) {
			EXPLAIN_STATE_SET(MR, row, addr, mr->addr);
			EXPLAIN_STATE_SET(MR, row, length, mr->length);
			EXPLAIN_STATE_SET(MR, row, access, mr->access);
		}
		EXPLAIN_STATE_SET(MR, row, since_ms, since(now, mr->made_at) / ms);
		if (mr->row.gone) {
			EXPLAIN_STATE_SET(MR, row, gone, true);
			if (mr->gone_at)
				EXPLAIN_STATE_SET(MR, row, gone_ms, since(now, mr->gone_at) / ms);
		}
		used.mrs++;
		state->mrs_count++;
	}
}

static uint64_t real_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static const char *const reasons[] = {
	[EXPLAIN_QUIET] = "wait",
	[EXPLAIN_ASKED] = "request",
	[EXPLAIN_SIGNAL] = "request",
	[EXPLAIN_AT_END] = "request",
};

static void add_state(struct process *process, enum explain_occasion occasion, uint64_t now,
		      uint64_t real)
{
	struct explain_state *const state = &states[state_count];
	const uint64_t then = process->ended_at ? process->ended_at : now;

	whose[state_count++] = process;
	memset(state, 0, sizeof(*state));
	state->program = process->name;
	EXPLAIN_STATE_SET(PROCESS, state, pid, (uint32_t)process->pid);
	state->host = host;
	EXPLAIN_STATE_SET(PROCESS, state, time_ms, real - since(now, then) / ms);
	state->reason = process->ended_at ? "end" : reasons[occasion];
	if (process->ended_at && process->ended_by)
		EXPLAIN_STATE_SET(PROCESS, state, signal,
				  process->ended_by > 0 ? (uint32_t)process->ended_by : 0);
	if (!process->ended_at && explain_is_stopped(explain_sight.state_of(process->pid)))
		EXPLAIN_STATE_SET(PROCESS, state, stopped, true);
	state->boot_id = boot_id[0] ? boot_id : NULL;
	state->kernel = explain_kernel();
	state->libraries = process->libraries[0] ? process->libraries : NULL;
	if (process->rank)
		EXPLAIN_STATE_SET(PROCESS, state, rank, process->rank - 1);
	if (process->ranks)
		EXPLAIN_STATE_SET(PROCESS, state, ranks, process->ranks - 1);
	add_qps(state, process->pid, then);
	add_cqs(state, process->pid, then);
	add_srqs(state, process->pid);
	add_mrs(state, process->pid, then);
}

/* All that are known by now: what has made a queue pair, or has a rank. */
static void make_states(enum explain_occasion occasion)
{
	const uint64_t now = explain_judge_moment();
	const uint64_t real = real_ms() - since(explain_sight.now_ns(), now) / ms;

	memset(&used, 0, sizeof(used));
	state_count = port_count = 0;
	take_processes(now);
	for (unsigned int i = 0; i < EXPLAIN_MR_ROWS; i++)
		if (!explain_judge_mr(i, &mrs[i]))
			mrs[i].row.pid = 0;
	for (unsigned int i = 0; i < seen_count; i++)
		if (seen[i].has_qps || seen[i].rank)
			add_state(&seen[i], occasion, now, real);
}

/* ---- Writing ---------------------------------------------------------------------------------------------- */

static void write_state(const struct explain_output *output, const struct explain_state *state)
{
	static char *line;
	static size_t room;
	const size_t length = explain_state_write(state, line, room);

	if (length >= room) {
		char *const larger = realloc(line, length + 1);

		if (!larger)
			return;
		line = larger;
		room = length + 1;
		explain_state_write(state, line, room);
	}
	explain_make_plain(line, length, "\n");
	explain_write_json(output, line, length);
}

/* Of what has ended once, and of the others whenever they are asked for. */
static void write_states(const struct explain_output *output, bool ended_alone)
{
	for (unsigned int i = 0; output->json >= 0 && i < state_count; i++) {
		struct process *const process = whose[i];

		if (process->ended_at ? process->is_written : ended_alone)
			continue;
		write_state(output, &states[i]);
	}
	/* Nor is what has ended without a state looked for again. */
	for (unsigned int i = 0; i < seen_count; i++)
		seen[i].is_written = seen[i].ended_at != 0;
}

/* The page is said again once a minute, if something else stands at its top. */
static void write_page(const struct explain_output *output, enum explain_occasion occasion)
{
	static char last[256];
	static uint64_t last_at;
	const uint64_t now = explain_sight.now_ns();
	unsigned int with_qps = 0;
	char *page = NULL, top[256];
	size_t length = 0, found;
	FILE *out;

	for (unsigned int i = 0; i < state_count; i++)
		with_qps += states[i].qps_count > 0;
	if (with_qps < 2 || output->line)
		return;
	if (occasion == EXPLAIN_QUIET && last_at && now - last_at < 60000 * ms)
		return;
	out = open_memstream(&page, &length);
	if (!out)
		return;
	fputs("rdmaez-explain: ", out);
	found = explain_compare_trouble(states, state_count, out);
	if (!fclose(out) && found) {
		snprintf(top, sizeof(top), "%.*s", (int)strcspn(page, "\n"), page);
		if (occasion == EXPLAIN_ASKED || strcmp(top, last) != 0) {
			explain_make_plain(page, length, "\n");
			explain_write_log(output, page, length);
		}
		memcpy(last, top, sizeof(last));
		last_at = now;
	}
	free(page);
}

static bool has_failed(void)
{
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++)
		if (explain_judge_qp(i) && explain_judge_qp(i)->failed_at)
			return true;
	return false;
}

static void before(const struct explain_output *output, enum explain_occasion occasion, bool waits)
{
	static uint64_t written_at;
	const uint64_t now = explain_sight.now_ns();

	/* Many ranks come to wait one by one. */
	if (occasion == EXPLAIN_QUIET && written_at && now - written_at < 2000 * ms)
		return;
	written_at = now;
	make_states(occasion);
	write_states(output, false);
	if (waits || (occasion == EXPLAIN_AT_END && has_failed()))
		write_page(output, occasion);
}

void explain_record_look(const struct explain_output *output)
{
	const uint64_t now = explain_sight.now_ns();
	bool is_news = false;

	if (!processes)
		return;
	for (int i = 0; i < EXPLAIN_PROCESSES; i++)
		take_process(&processes->process[i]);
	for (unsigned int i = 0; i < seen_count; i++) {
		look_at_process(&seen[i], now);
		is_news |= seen[i].ended_at && seen[i].was_alive && !seen[i].is_written;
	}
	if (!is_news || output->json < 0)
		return;
	explain_judge_take();
	make_states(EXPLAIN_AT_END);
	write_states(output, true);
}

void explain_record_begin(const struct explain_share *share)
{
	FILE *const file = fopen("/proc/sys/kernel/random/boot_id", "re");

	processes = share;
	explain_judge_before = before;
	if (gethostname(host, sizeof(host) - 1))
		memcpy(host, "?", 2);
	explain_make_word(host, sizeof(host));
	if (!file)
		return;
	if (!fgets(boot_id, sizeof(boot_id), file))
		boot_id[0] = '\0';
	boot_id[strcspn(boot_id, "\n")] = '\0';
	explain_make_word(boot_id, sizeof(boot_id));
	fclose(file);
}
