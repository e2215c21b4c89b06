/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez-explain --waiting says of rows that are made here: each sentence, and where each begins. explain_judge.t
 * compiles it. Two queue pairs that fit are QP 17 of process 10 and QP 18 of process 11; each case changes what differs,
 * and expects all that is found, as severity, reason, sentence and advice. Seconds are those of a clock made here.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tap.h"
#ifndef SUMMARY
#define SUMMARY "../../tools/explain/summary.c"
#endif
#include SUMMARY
/* Both have a struct text, and their functions. */
#define text judge_text
#define put  judge_put
#ifndef JUDGE
#define JUDGE "../../tools/explain/judge.c"
#endif
#include JUDGE
#undef text
#undef put

enum {
	PROCESS = 10,
	PEER = 11,
	ENDED = 99, /* a thread */
	LIMIT = 5,
	POLL_NS = 200000000
};

static struct explain_share *share;
static struct explain_rows *made;
static struct explain_output output = {.log = -1, .json = -1};

/* ---- The machine ------------------------------------------------------------------------------------- */

static uint64_t now = 1000 * UINT64_C(1000000000);
static char states_of[64];          /* by process */
static uint64_t used_ms, used_step; /* of processors: until now, and in each look */
static const char *growing;         /* a counter of the port that grows with each look */
static uint64_t counter_value;
static const char *state_of_port, *device_of_port;
static const char *
	gids_of_port; /* a directory; it has the GID 0f1e:... at `gid_index`, others before, and none after */
static int gid_index;

static uint64_t clock_of_test(void)
{
	return now;
}

static char state_in_test(int pid)
{
	return states_of[pid % 64];
}

static uint64_t time_in_test(int pid)
{
	(void)pid;
	return used_ms;
}

static bool thread_in_test(int pid, int tid)
{
	return pid && tid && tid != ENDED;
}

static bool read_in_test(const char *path, char *text, size_t size)
{
	if (growing && strstr(path, growing)) {
		snprintf(text, size, "%llu", (unsigned long long)counter_value);
		return true;
	}
	if (state_of_port && !strncmp(path, device_of_port, strlen(device_of_port)) &&
	    !strcmp(path + strlen(device_of_port), "/ports/1/state")) {
		snprintf(text, size, "%s", state_of_port);
		return true;
	}
	if (gids_of_port && !strncmp(path, gids_of_port, strlen(gids_of_port))) {
		const int index = atoi(path + strlen(gids_of_port));

		snprintf(text, size, "%s",
			 index == gid_index ? "0f1e:2d3c:4b5a:6978:8796:a5b4:c3d2:e1f0"
					    : "fe80:0000:0000:0000:0000:0000:0000:0001");
		return index <= gid_index;
	}
	return false;
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

/* Which completion queues are polled at each look. */
static bool is_polled[8];

static struct explain_qp_row *qp(unsigned int which)
{
	return &made->qp[which];
}

static struct explain_cq_row *cq(unsigned int which)
{
	return &made->cq[which];
}

static void name(struct explain_process *process, int pid, const char *is)
{
	process->pid = pid;
	snprintf(process->name, sizeof(process->name), "%s", is);
}

/* A queue pair of RC in RTS, with a completion queue for each of its queues, and its peer. */
static void make_qp(unsigned int which, int pid, uint32_t qp_num, uint32_t peer)
{
	struct explain_qp_row *const row = qp(which);

	memset(row, 0, sizeof(*row));
	row->row.pid = pid;
	row->row.version = 2;
	snprintf(row->device, sizeof(row->device), "mlx5_0");
	row->qp_num = qp_num;
	row->dest_qp_num = peer;
	row->type = RC;
	row->state = RTS;
	row->port = 1;
	row->send_cq = 2 * which + 1;
	row->recv_cq = 2 * which + 2;
	row->mask = UINT32_MAX;
	row->sq_psn = 100 * qp_num;
	row->rq_psn = 100 * peer;
	row->path_mtu = 3;
	row->timeout = 14;
	row->retry_cnt = row->rnr_retry = 6;
	row->max_rd_atomic = row->max_dest_rd_atomic = 1;
	row->access = ACCESS_WRITE | ACCESS_READ | ACCESS_ATOMIC;
	row->has_gids = 1;
	row->gid[15] = (uint8_t)qp_num;
	row->peer_gid[15] = (uint8_t)peer;
	for (unsigned int i = 0; i < 2; i++) {
		struct explain_cq_row *const queue = cq(2 * which + i);

		memset(queue, 0, sizeof(*queue));
		queue->row.pid = pid;
		queue->row.version = 2;
		queue->cqe = 64;
		queue->channel = -1;
	}
}

/* QP 17 has sent, and polls for it; QP 18 has posted a receive. */
static void post(uint32_t opcode)
{
	struct explain_request *const request = &qp(0)->request[0];

	qp(0)->sends = qp(0)->signaled = 1;
	request->number = 1;
	request->signaled = 0;
	request->wr_id = 5;
	request->opcode = opcode;
	request->length = 64;
	request->lkey = 0x111;
	request->rkey = 0x222;
	request->addr = 0x1000;
	request->remote_addr = 0x2000;
	is_polled[0] = true;
}

static void reset(void)
{
	memset(share, 0, sizeof(*share));
	memset(made, 0, sizeof(*made));
	memset(seen_qp, 0, sizeof(seen_qp));
	memset(seen_cq, 0, sizeof(seen_cq));
	memset(seen_call, 0, sizeof(seen_call));
	memset(seen_failed, 0, sizeof(seen_failed));
	memset(counted, 0, sizeof(counted));
	memset(is_polled, 0, sizeof(is_polled));
	memset(states_of, 'S', sizeof(states_of));
	used_step = 100;
	growing = gids_of_port = state_of_port = NULL;
	gid_index = 0;
	name(&share->process[0], PROCESS, "sender");
	name(&share->process[1], PEER, "receiver");
	make_qp(0, PROCESS, 17, 18);
	make_qp(1, PEER, 18, 17);
	qp(1)->recvs = 1;
	qp(1)->recv_length = 64;
	qp(1)->recv_lkey = 0x111;
	qp(1)->recv_addr = 0x2000;
	qp(1)->recv_id = 77;
}

static void fit(void)
{
	reset();
	post(SEND);
}

/* ---- Looking ------------------------------------------------------------------------------------------------ */

static const char *written(int file)
{
	static char bytes[1 << 16];
	const ssize_t length = pread(file, bytes, sizeof(bytes) - 1, 0);

	bytes[length > 0 ? length : 0] = '\0';
	if (ftruncate(file, 0) || lseek(file, 0, SEEK_SET))
		tap_bail("a file in memory cannot be emptied");
	return bytes;
}

static void clear(void)
{
	written(output.log);
	written(output.json);
}

/* As the launcher does it, five times a second. */
static void look(double seconds)
{
	for (uint64_t end = now + (uint64_t)(seconds * 1e9 + .5); now < end;) {
		now += POLL_NS;
		used_ms += used_step;
		counter_value++;
		for (unsigned int i = 0; i < 8; i++)
			if (is_polled[i]) {
				cq(i)->polls++;
				cq(i)->emptied++;
			}
		explain_judge_look(&output);
	}
}

/* The findings of the first line of JSON, each as severity:reason|what|next, with a space between. */
static const char *found(void)
{
	static char all[4096];
	const char *at = strstr(written(output.json), "\"findings\":[");
	const char *const end = at ? strchr(at, ']') : NULL;
	char severity[16], reason[40], what[300], next[200];
	size_t length = 0;

	all[0] = '\0';
	while (at && (at = strstr(at, "{\"severity\":\"")) && at < end) {
		if (sscanf(at,
			   "{\"severity\":\"%15[^\"]\",\"reason\":\"%39[^\"]\",\"what\":\"%299[^\"]"
			   "\",\"next\":\"%199[^\"]",
			   severity, reason, what, next) != 4)
			break;
		length += (size_t)snprintf(all + length, sizeof(all) - length, "%s%s:%s|%s|%s",
					   length ? " " : "", severity, reason, what, next);
		at++;
	}
	return all;
}

/* After the limit this is found; before it, nothing. */
static void finds(const char *wanted, const char *case_of)
{
	clear();
	look(LIMIT);
	tap_eq_str(written(output.log), "", "%s: nothing before its time", case_of);
	look(.4);
	tap_eq_str(found(), wanted, "%s", case_of);
}

static void finds_nothing(const char *case_of)
{
	clear();
	look(4 * LIMIT);
	tap_eq_str(written(output.log), "", "%s: nothing", case_of);
}

/* ---- The peer ------------------------------------------------------------------------------------------------ */

#define RESTART "|start both ends again, and end them in an order in which nobody waits"
#define PSNS    "|set the rq_psn of each end to the other's sq_psn"
#define RECEIVE "|have the peer post receives before this end sends"
#define NO_ANSWER                                                                          \
	"likely:WAIT_NO_ANSWER|no acknowledgement comes: the peer drops the requests, or " \
	"nobody is there|compare both ends: type, state, numbers, PSNs, GIDs and MTUs; "   \
	"and check that the peer's process is there"

/* A signal that all processes get ends some at once: that is not why the others wait. Who ended before is. */
static void test_ends_with_it(void)
{
	for (int i = 0; i < 2; i++) {
		fit();
		if (i)
			states_of[PEER] = '\0';
		clear();
		look(LIMIT * .7);
		states_of[PEER] = '\0';
		explain_judge_say(&output, EXPLAIN_SIGNAL);
		tap_ok((strstr(found(), "WAIT_PEER_ENDED") != NULL) == (i == 1), "%s",
		       i ? "a peer that had ended" : "a peer that ends with it");
	}
}

/* What a program did before a debugger stopped it is what counts, for as long as it is stopped. */
static void test_held(void)
{
	fit();
	states_of[PEER] = '\0';
	clear();
	look(LIMIT * .7);
	states_of[PROCESS] = 't';
	is_polled[0] = false;
	look(20 * LIMIT);
	tap_eq_str(written(output.log), "", "a program in a debugger: nothing by itself");
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_ok(strstr(found(), "WAIT_PEER_ENDED") != NULL, "and the cause to who asks");
	states_of[PROCESS] = 'R';
}

static void test_process(void)
{
	fit();
	states_of[PEER] = '\0';
	finds("error:WAIT_PEER_ENDED|the process of the peer's QP 18, receiver[11], has ended, so "
	      "nobody will answer" RESTART,
	      "a peer that has ended");
	fit();
	qp(1)->row.gone = 1;
	finds("error:WAIT_PEER_DESTROYED|the peer, receiver[11], has destroyed its QP 18" RESTART,
	      "a peer that was destroyed");
	fit();
	qp(1)->row.gone = 1;
	qp(1)->dest_qp_num = 99;
	finds(NO_ANSWER, "one that is gone, and was somebody else's peer");
	fit();
	qp(1)->row.gone = 1;
	make_qp(2, PEER, 18, 17);
	qp(2)->state = RTR;
	qp(2)->rq_psn = 999;
	qp(2)->recvs = 1;
	finds("error:WAIT_PSN|the PSNs differ: this end sends from 1700, and the peer expects 999 "
	      "(its rq_psn)" PSNS,
	      "one that is gone, and another in its place");
	for (int i = 0; i < 2; i++) {
		fit();
		states_of[PEER] = i ? 't' : 'T';
		finds("error:WAIT_PEER_STOPPED|the peer's process receiver[11] is stopped|let it "
		      "continue: a debugger has stopped it, or SIGSTOP has, which `kill -CONT` "
		      "undoes",
		      i ? "a peer in a debugger" : "a peer that is stopped");
	}
	fit();
	qp(1)->state = INIT;
	finds("error:WAIT_PEER_STATE|the peer's QP 18, of receiver[11], is still in INIT, where it "
	      "accepts nothing|have the peer move it to RTR before this end sends",
	      "a peer in INIT");
	fit();
	qp(1)->state = ERR;
	finds("error:WAIT_PEER_STATE|the peer's QP 18 is in ERR|find out why: its first failed "
	      "completion tells",
	      "a peer in ERR");
}

/* The GID that the test's port has. */
static void make_gid(uint8_t *gid)
{
	for (int i = 0; i < 16; i++)
		gid[i] = (uint8_t)(15 * i + 15);
}

/* A peer without a path is one by the GIDs of its port, of which 32 are read. */
static void test_gids(void)
{
	static const struct {
		uint32_t port;
		const char *gids;
		int index;
		bool is_it;
	} cases[] = {
		{0, "mlx5_0/ports/1/gids/", 0, true},   {1, "mlx5_0/ports/1/gids/", 31, true},
		{1, "mlx5_0/ports/1/gids/", 32, false}, {2, "mlx5_0/ports/2/gids/", 3, true},
		{2, "mlx5_0/ports/1/gids/", 0, false},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fit();
		make_gid(qp(0)->peer_gid);
		qp(1)->state = INIT;
		qp(1)->has_gids = 0;
		qp(1)->port = cases[i].port;
		gids_of_port = cases[i].gids;
		gid_index = cases[i].index;
		finds(cases[i].is_it
			      ? "error:WAIT_PEER_STATE|the peer's QP 18, of receiver[11], is still "
				"in INIT, where it accepts nothing|have the peer move it to RTR "
				"before this end sends"
			      : NO_ANSWER,
		      cases[i].gids);
	}
}

static void test_connection(void)
{
	fit();
	qp(1)->type = UC;
	finds("error:WAIT_TYPE|the peer's queue pair is of type UC and this one of RC, so its "
	      "device drops what comes|use one type at both ends",
	      "types that differ");
	fit();
	qp(1)->dest_qp_num = 99;
	finds("error:WAIT_PEER_QPN|the peer's dest_qp_num is 99, but this queue pair is 17, so it "
	      "accepts nothing from here|have each end connect to the other end's qp_num",
	      "a peer with another peer");
	fit();
	qp(0)->sgid_index = 3;
	qp(1)->peer_gid[0] = 1;
	finds("error:WAIT_PEER_GID|the peer's dgid is not the GID that this end sends from, at "
	      "index 3|give the peer the GID that this end sends from, at its sgid_index",
	      "a peer with another GID");
	fit();
	qp(1)->rq_psn = 999;
	finds("error:WAIT_PSN|the PSNs differ: this end sends from 1700, and the peer expects 999 "
	      "(its rq_psn)" PSNS,
	      "PSNs that differ");
	fit();
	qp(1)->sq_psn = 999;
	finds("likely:WAIT_PSN_BACK|the PSNs of the way back differ: the peer sends from 999, and "
	      "this end expects 1800" PSNS,
	      "PSNs of the way back");
	fit();
	qp(1)->sq_psn = 999;
	qp(1)->state = RTR;
	finds(NO_ANSWER, "a peer in RTR, which has no such PSN yet");
	fit();
	qp(1)->path_mtu = 5;
	finds("likely:WAIT_MTU|path_mtu is 1024 here and 4096 at the peer|use the smaller one at "
	      "both ends",
	      "MTUs that differ");
	fit();
	qp(0)->dest_qp_num = 99;
	finds("error:WAIT_QPN|dest_qp_num is 99, but it is QP 18, of receiver[11], that is "
	      "connected to this one|connect to the peer's qp_num",
	      "a wrong number");
	fit();
	make_qp(2, PROCESS, 19, 18);
	finds("error:WAIT_TWO_TO_ONE|QP 19 of this process is connected to the same queue pair of "
	      "the peer, QP 18|connect each to a queue pair of its own",
	      "two queue pairs to one");
	fit();
	make_qp(2, PROCESS, 19, 18);
	qp(2)->state = INIT;
	finds(NO_ANSWER, "another one that is not connected yet");
	for (int i = 0; i < 6; i++) {
		fit();
		make_qp(2, PROCESS, 19, 18);
		qp(2)->has_gids = i != 0;
		qp(2)->dest_qp_num = i == 1 ? 20 : 18;
		qp(2)->state = i == 2 ? ERR : RTS;
		qp(2)->row.gone = i == 3;
		qp(2)->type = i == 4 ? UD : RC;
		qp(2)->peer_gid[0] = i == 5;
		finds(NO_ANSWER, "another one that is not connected to it");
	}
}

static void test_requests(void)
{
	reset();
	post(READ);
	qp(1)->max_dest_rd_atomic = 0;
	finds("error:WAIT_DEST_RD_ATOMIC|the peer's max_dest_rd_atomic is 0, and a READ waits|have "
	      "the peer set max_dest_rd_atomic to 1 or more",
	      "a read that the peer has no room for");
	reset();
	post(WRITE);
	qp(1)->max_dest_rd_atomic = 0;
	finds(NO_ANSWER, "a write, which needs no such room");
	reset();
	post(FETCH_ADD);
	qp(0)->max_rd_atomic = 0;
	finds("error:WAIT_RD_ATOMIC|max_rd_atomic is 0, so the FETCH_AND_ADD that waits is never "
	      "sent|set max_rd_atomic to 1 or more",
	      "an atomic that is never sent");
	reset();
	post(SEND);
	qp(0)->max_rd_atomic = 0;
	finds(NO_ANSWER, "a send, which does not need it");
	fit();
	qp(0)->state = SQD;
	finds("error:WAIT_SQD|the queue pair is in SQD, where requests wait until it is moved to "
	      "RTS again|move it to RTS",
	      "SQD");
	fit();
	qp(0)->state = RTR;
	finds("error:WAIT_NOT_RTS|the queue pair is in RTR, where it sends nothing|move it to RTS "
	      "before it sends",
	      "RTR");
	fit();
	qp(0)->state = RTR;
	qp(0)->mask &= ~UINT32_C(0x100000);
	finds(NO_ANSWER, "RTR, as far as is known of iWARP");
}

#define LINK                                                                                       \
	"|bring the link up: see the interface, the cable and the switch; on InfiniBand also the " \
	"subnet manager"

static void test_ports(void)
{
	static const struct {
		const char *state, *wanted;
	} cases[] = {
		{"1: DOWN", "error:WAIT_PORT_DOWN|port 1 of mlx5_0 is DOWN" LINK},
		{"2: INIT", "error:WAIT_PORT_DOWN|port 1 of mlx5_0 is in INIT" LINK},
		{"3: ARMED", "error:WAIT_PORT_DOWN|port 1 of mlx5_0 is ARMED, and not ACTIVE" LINK},
		{"4: ACTIVE", NO_ANSWER},
		{"0: NOP", NO_ANSWER},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fit();
		device_of_port = "mlx5_0";
		state_of_port = cases[i].state;
		finds(cases[i].wanted, cases[i].state);
	}
	fit();
	snprintf(qp(1)->device, sizeof(qp(1)->device), "mlx5_1");
	device_of_port = "mlx5_1";
	state_of_port = "1: DOWN";
	finds("error:WAIT_PORT_DOWN|port 1 of mlx5_1, the peer's, is DOWN" LINK, "the peer's port");
}

static void test_receives(void)
{
	fit();
	qp(1)->recvs = 0;
	finds("error:WAIT_NO_RECEIVE|the peer has never posted a receive" RECEIVE,
	      "a peer that has posted no receive");
	fit();
	qp(1)->recvs = qp(1)->recvs_done = 7;
	finds("error:WAIT_NO_RECEIVE|the peer has no receive posted: it has posted 7, and all are "
	      "used" RECEIVE,
	      "a peer that has used all");
	fit();
	qp(1)->recvs = 8;
	qp(1)->recvs_done = 7;
	finds(NO_ANSWER, "a peer that has one left");
	reset();
	post(WRITE);
	qp(1)->recvs = 0;
	finds(NO_ANSWER, "a write, which takes no receive");
	fit();
	qp(1)->recvs = 0;
	qp(1)->has_srq = 1;
	finds(NO_ANSWER, "a peer with a shared receive queue");
	for (int i = 0; i < 7; i++) {
		fit();
		made->srq[0].row.pid = PEER;
		made->srq[0].row.version = 2;
		made->srq[0].posted = 3;
		qp(1)->recvs = 0;
		qp(1)->recvs_done = 2;
		qp(1)->has_srq = qp(1)->srq = 1;
		make_qp(2, PEER, 19, 99);
		qp(2)->recvs_done = qp(2)->srq = 1;
		make_qp(3, PROCESS, 20, 98);
		qp(3)->recvs_done = qp(3)->srq = 1;
		made->srq[0].posted = i == 1 ? 4 : 3;
		made->srq[0].row.pid = i == 2 ? PROCESS : PEER;
		made->srq[0].row.version = i == 3 ? 3 : 2;
		if (i == 4 || i == 5)
			qp(1)->srq = i == 4 ? 0 : EXPLAIN_SRQ_ROWS + 1;
		qp(1)->direct = i == 6;
		finds(i ? NO_ANSWER
			: "error:WAIT_NO_RECEIVE|the peer has no receive posted: it has posted 3, "
			  "and all are used" RECEIVE,
		      i == 0   ? "a shared receive queue that two queue pairs have used"
		      : i == 1 ? "one with a receive left"
			       : "one of which nobody knows");
	}
	fit();
	memset(qp(1), 0, sizeof(*qp(1)));
	growing = "rcvd_rnr_err";
	finds("likely:WAIT_NO_RECEIVE|the peer answers that it has no receive posted" RECEIVE,
	      "a peer elsewhere that answers so");
	fit();
	memset(qp(1), 0, sizeof(*qp(1)));
	growing = "local_ack_timeout_err";
	finds(NO_ANSWER, "a peer elsewhere that does not answer");
}

/* Of a type that waits for no answer, a counter has to tell. */
static void test_counters(void)
{
	static const struct {
		const char *name, *wanted;
	} cases[] = {
		{"completer_retry_err", NO_ANSWER},
		{"local_ack_timeout_err", NO_ANSWER},
		{"rcvd_rnr_err", "likely:WAIT_NO_RECEIVE|the peer answers that it has no receive "
				 "posted" RECEIVE},
		{"rnr_nak_retry_err", "likely:WAIT_NO_RECEIVE|the peer answers that it has no "
				      "receive posted" RECEIVE},
		{"out_of_seq_request", ""},
		{"duplicate_request", ""},
		{"send_rnr_err", ""},
		{"out_of_buffer", ""},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fit();
		qp(0)->type = qp(1)->type = UC;
		qp(0)->timeout = 0;
		growing = cases[i].name;
		finds(cases[i].wanted, cases[i].name);
	}
}

static unsigned int count_of(const char *text, const char *word)
{
	unsigned int count = 0;

	for (; (text = strstr(text, word)) != NULL; text++)
		count++;
	return count;
}

/* Of eight ports the counters are kept, and of each for as long as something waits there. */
static void test_many_ports(void)
{
	reset();
	memset(made, 0, sizeof(*made));
	for (unsigned int i = 0; i < 9; i++) {
		make_qp(i, 20 + (int)i, 17, 18);
		qp(i)->port = i + 1;
		qp(i)->sends = qp(i)->signaled = 1;
		qp(i)->direct = 1;
	}
	growing = "out_of_buffer";
	look(2);
	clear();
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_eq_int(count_of(written(output.json), "\"counters\":{\"out_of_buffer\":7}"), 8,
		   "what eight ports have counted");
	qp(0)->signaled = 0;
	look(.2);
	qp(0)->signaled = 1;
	look(1.4);
	clear();
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_eq_str(strrchr(written(output.json), '{'), "{\"out_of_buffer\":6}}\n",
		   "the ninth, in the place of one where nothing has waited");
}

static void test_patience(void)
{
	static const char timeout[] =
		NO_ANSWER " advice:WAIT_TIMEOUT_0|timeout is 0, so what is lost is not sent again, "
			  "and no error reports it|set timeout to 14 or so";
	static const char retry[] =
		NO_ANSWER " advice:WAIT_RETRY_7|retry_cnt is 7, which rdma_rxe treats as no limit|"
			  "set it to 6 or less if you would rather have an error";
	static const char rnr[] =
		"error:WAIT_NO_RECEIVE|the peer has never posted a receive" RECEIVE
		" advice:WAIT_RNR_7|rnr_retry is 7, so a send waits forever for a receive|set "
		"it to less if you would rather have an error";

	fit();
	qp(0)->timeout = 0;
	finds(timeout, "a timeout of 0");
	fit();
	qp(0)->timeout = 0;
	qp(0)->mask = 0;
	finds(NO_ANSWER, "a timeout that nobody has set");
	fit();
	qp(0)->retry_cnt = 7;
	finds(NO_ANSWER, "a retry_cnt of 7 on a device that counts it");
	fit();
	qp(0)->retry_cnt = 7;
	snprintf(qp(0)->device, sizeof(qp(0)->device), "rxe0");
	finds(retry, "a retry_cnt of 7 on rxe");
	fit();
	qp(0)->rnr_retry = 7;
	qp(1)->recvs = 0;
	finds(rnr, "an rnr_retry of 7 without a receive");
	fit();
	qp(0)->rnr_retry = 7;
	finds(NO_ANSWER, "an rnr_retry of 7 with one");
}

/* ---- Completion queues --------------------------------------------------------------------------------------- */

#define ARM "|poll until it is empty, call ibv_req_notify_cq(), poll again, then wait"

/* A thread waits for an event of the queue, and does not poll. */
static void wait_for_event(void)
{
	fit();
	is_polled[0] = false;
	cq(0)->channel = 7;
	made->call[0].pid = PROCESS;
	made->call[0].tid = PROCESS;
	made->call[0].verb = EXPLAIN_GET_CQ_EVENT;
	made->call[0].of = 8;
	made->call[0].since = now;
}

static void test_events(void)
{
	wait_for_event();
	finds("error:WAIT_NOT_ARMED|the program waits for an event, but has never armed the "
	      "completion queue" ARM,
	      "a queue that was never armed");
	wait_for_event();
	cq(0)->armed = cq(0)->events = 1;
	cq(0)->emptied = 1;
	finds("error:WAIT_NOT_ARMED_AGAIN|the program waits for an event, but has not armed the "
	      "completion queue again since the last one" ARM,
	      "a queue that was not armed again");
	wait_for_event();
	cq(0)->armed = 1;
	finds("likely:WAIT_ARMED_LATE|the completion queue was armed but not polled after that: "
	      "what came before gives no event" ARM,
	      "a queue that was armed too late");
	wait_for_event();
	cq(0)->armed = 2;
	cq(0)->events = cq(0)->events_at = 1;
	cq(0)->emptied = 2;
	cq(0)->emptied_at = 1;
	finds(NO_ANSWER, "a queue that was armed and polled again");
	wait_for_event();
	made->call[0].of = 9;
	finds_nothing("an event of another channel");
}

/* QP 18 takes one completion for each event; QP 17 does not look for its own. */
static void stall(void)
{
	fit();
	is_polled[0] = false;
	qp(0)->sends = qp(0)->signaled = 2;
	qp(0)->request[1].number = 2;
	qp(0)->request[1].signaled = 1;
	qp(0)->request[1].opcode = SEND;
	qp(1)->recvs = 4;
	qp(1)->recvs_done = 1;
	cq(3)->channel = 7;
	cq(3)->armed = 2;
	cq(3)->events = cq(3)->events_at = 1;
	made->call[0].pid = made->call[0].tid = PEER;
	made->call[0].verb = EXPLAIN_GET_CQ_EVENT;
	made->call[0].of = 8;
	made->call[0].since = now;
}

static void test_stall(void)
{
	stall();
	finds("likely:WAIT_ARMED_LATE|the completion queue was armed but not polled after that: "
	      "what came before gives no event" ARM,
	      "one completion for each event");
	stall();
	qp(1)->recvs_done = 2;
	finds_nothing("all that was sent has been taken");
	stall();
	cq(3)->emptied = 1;
	finds_nothing("a queue that was polled until it was empty");
	stall();
	qp(0)->request[1].opcode = WRITE;
	finds_nothing("a write, of which the receiver sees nothing");
	stall();
	cq(3)->events = cq(3)->events_at = 0;
	finds_nothing("a receiver that has had no event yet");
}

static void test_queues(void)
{
	fit();
	qp(0)->sends = qp(0)->signaled = 2;
	cq(0)->cqe = 1;
	finds("likely:WAIT_CQ_OVERRUN|the completion queue has room for 1, and 2 completions are "
	      "due: it was overrun, and what did not fit is lost|give the completion queue room "
	      "for all that may complete into it between two polls",
	      "a queue that was overrun");
	fit();
	cq(0)->cqe = 1;
	finds(NO_ANSWER, "a queue that is full");
	fit();
	is_polled[0] = false;
	is_polled[1] = true;
	finds("error:WAIT_WRONG_CQ|the program has never polled this queue pair's send CQ, and "
	      "polls another one, into which nothing can come|poll the queue pair's send_cq",
	      "another queue that is polled");
	fit();
	make_qp(1, PROCESS, 18, 17);
	is_polled[0] = false;
	is_polled[3] = true;
	finds("error:WAIT_NO_RECEIVE|the program polls the receive CQ of QP 18, for which no "
	      "receive "
	      "is posted|post receives before the peer sends; or poll the send CQ, if you wait for "
	      "a send",
	      "the receive CQ of a queue pair without receives");
	fit();
	is_polled[0] = false;
	is_polled[1] = true;
	qp(0)->recvs = 1;
	finds_nothing("another queue, into which a receive can come");
	fit();
	qp(0)->signaled = 0;
	qp(0)->sends = 3;
	finds("likely:WAIT_UNSIGNALED|none of the 3 sends was signaled, so no completion comes, "
	      "but the program looks for one|set IBV_SEND_SIGNALED in the requests that you wait "
	      "for, or sq_sig_all",
	      "sends that were not signaled");
	fit();
	qp(0)->signaled = 0;
	qp(0)->sends = 3;
	qp(0)->recvs = 4;
	is_polled[1] = true;
	finds_nothing("such sends of a program that polls for receives as well");
}

#define WRONG_CQ                                                                                 \
	"error:WAIT_WRONG_CQ|the program has never polled this queue pair's send CQ, and polls " \
	"another one, into which nothing can come|poll the queue pair's send_cq"

/* QP 17 waits for what nobody polls; the program polls a queue of its QP 19. */
static void test_other_queues(void)
{
	static const char receive[] =
		"error:WAIT_NO_RECEIVE|the program polls the receive CQ of QP 19, for which no "
		"receive is posted|post receives before the peer sends; or poll the send CQ, if "
		"you wait for a send";
	static const struct {
		bool is_recv_cq;
		uint32_t direct, errors, recvs, has_srq, state, gone;
		const char *wanted, *what;
	} cases[] = {
		{false, 0, 0, 0, 0, RTS, 0, WRONG_CQ, "the send CQ of one that sends nothing"},
		{false, 1, 0, 0, 0, RTS, 0, "", "the send CQ of one that is used without verbs"},
		{false, 0, 1, 0, 0, RTS, 0, "", "the send CQ of one that has failed"},
		{false, 0, 0, 1, 1, RTS, 0, WRONG_CQ, "the send CQ of one that may receive"},
		{true, 0, 0, 0, 0, RTS, 0, receive, "the receive CQ of one without receives"},
		{true, 0, 0, 0, 0, RTR, 0, receive, "of one in RTR without receives"},
		{true, 0, 0, 0, 0, INIT, 0, WRONG_CQ, "of one that can receive nothing yet"},
		{true, 0, 0, 1, 0, RTS, 0, "", "of one with a receive"},
		{true, 0, 0, 0, 1, RTS, 0, "", "of one with a shared receive queue"},
		{true, 1, 0, 0, 0, RTS, 0, "", "of one that is used without verbs"},
		{true, 0, 1, 0, 0, RTS, 0, "", "of one that has failed"},
		{true, 0, 0, 1, 0, RTS, 1, WRONG_CQ, "of one that is gone"},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fit();
		is_polled[0] = false;
		is_polled[cases[i].is_recv_cq ? 5 : 4] = true;
		make_qp(2, PROCESS, 19, 98);
		qp(2)->direct = cases[i].direct;
		qp(2)->errors = cases[i].errors;
		qp(2)->recvs = cases[i].recvs;
		qp(2)->has_srq = cases[i].has_srq;
		qp(2)->state = cases[i].state;
		qp(2)->row.gone = cases[i].gone;
		if (cases[i].wanted[0])
			finds(cases[i].wanted, cases[i].what);
		else
			finds_nothing(cases[i].what);
	}
}

#define NO_RECEIVE                                                                                 \
	"likely:WAIT_NO_RECEIVE|QP 17, of sender[10], sends to it, but it has no receive posted, " \
	"so what comes is dropped, and neither end gets an error|post receives before the peer "   \
	"sends, and each one again once it is used"

/* Nobody waits but for what was dropped. */
static void test_dropped(void)
{
	for (int i = 0; i < 5; i++) {
		reset();
		qp(0)->type = qp(1)->type = i < 3 ? UC : UD;
		post(SEND);
		qp(0)->sends_done = 1;
		qp(0)->messages = 1;
		qp(0)->request[0].qp_num = 18;
		qp(1)->recvs = qp(1)->recvs_done = i == 1;
		qp(1)->has_srq = i == 2 || i == 4;
		is_polled[0] = false;
		is_polled[3] = true;
		if (i == 0 || i == 3)
			finds(NO_RECEIVE, i ? "a datagram for which no receive is posted"
					    : "a message of UC for which none is");
		else
			finds_nothing(i == 1 ? "a message that was received"
					     : "one for a shared receive queue");
	}
}

/* A receiver is told why nothing comes if somebody asks; and by itself, if it cannot see what has come. */
static void test_receivers(void)
{
	static const char *const wanted[] = {
		"error:WAIT_PEER_ENDED|the process of the peer's QP 17, sender[10], has ended, so "
		"nobody will answer" RESTART,
		"error:WAIT_PEER_DESTROYED|the peer, sender[10], has destroyed its QP 17" RESTART,
		"error:WAIT_PEER_STOPPED|the peer's process sender[10] is stopped|let it "
		"continue: a debugger has stopped it, or SIGSTOP has, which `kill -CONT` undoes",
		""};

	for (unsigned int i = 0; i < 4; i++) {
		reset();
		is_polled[3] = true;
		states_of[PROCESS] = (char[]){'\0', 'S', 'T', 'S'}[i];
		qp(0)->row.gone = i == 1;
		finds_nothing("a server that goes on");
		explain_judge_say(&output, EXPLAIN_ASKED);
		tap_eq_str(found(), wanted[i], "%s", wanted[i]);
	}
	for (int i = 0; i < 4; i++) {
		reset();
		cq(3)->channel = 7;
		cq(3)->armed = 1;
		made->call[0].pid = made->call[0].tid = PEER;
		made->call[0].verb = EXPLAIN_GET_CQ_EVENT;
		made->call[0].of = 8;
		made->call[0].since = now;
		qp(0)->messages = i != 1;
		qp(0)->type = qp(1)->type = i == 2 ? UC : RC;
		qp(0)->dest_qp_num = i == 3 ? 99 : 18;
		if (i)
			finds_nothing(i == 1   ? "no message"
				      : i == 2 ? "a message of UC, which may be lost"
					       : "one for another queue pair");
		else
			finds("error:WAIT_ARMED_LATE|the completion queue was armed but not polled "
			      "after that: what came before gives no event" ARM,
			      "a message that came before the queue was armed");
	}
}

/* What was lost is told to who asks. */
static void test_lost(void)
{
	for (int i = 0; i < 3; i++) {
		reset();
		qp(0)->type = qp(1)->type = i < 2 ? UC : RC;
		post(SEND);
		qp(0)->sends_done = 1;
		qp(0)->messages = 1 + (i != 1);
		qp(1)->recvs = 2;
		qp(1)->recvs_done = 1;
		is_polled[0] = false;
		is_polled[3] = true;
		finds_nothing("a message less than there were sent, of a program that goes on");
		explain_judge_say(&output, EXPLAIN_ASKED);
		tap_eq_str(found(),
			   i ? ""
			     : "likely:WAIT_LOST|the peer has sent more messages (2) than have "
			       "come (1): on "
			       "UC, what is dropped is not sent again|have the receiver ask again "
			       "after a while, or use RC",
			   "%s, where it is asked",
			   i == 0   ? "a message that was lost"
			   : i == 1 ? "one that has come"
				    : "one of RC");
	}
}

/* Who asks is told that nobody has polled since; a program that goes on may compute. */
static void test_unpolled(void)
{
	static const char tail[] =
		", so it cannot know what has completed|poll it, or arm it and wait for its event";
	char wanted[256];

	for (int i = 0; i < 4; i++) {
		reset();
		if (i % 2) {
			qp(0)->messages = i == 1;
			qp(1)->recvs = 1;
		} else {
			post(SEND);
			is_polled[0] = false;
			cq(0)->direct = i == 2;
		}
		finds_nothing("a program that computes");
		snprintf(wanted, sizeof(wanted),
			 "likely:WAIT_NOT_POLLED|the program has not polled the %s CQ since %s%s",
			 i ? "receive" : "send", i ? "the peer sent" : "it posted the oldest send",
			 tail);
		explain_judge_say(&output, EXPLAIN_ASKED);
		tap_eq_str(found(), i < 2 ? wanted : "", "%s, where it is asked",
			   i == 0   ? "a send that nobody looks for"
			   : i == 1 ? "a message that nobody looks for"
			   : i == 2 ? "a queue that is read without verbs"
				    : "no message");
	}
}

/* QP 17 has sent one to QP 18, which has another Q_Key. */
static void send_datagram(void)
{
	reset();
	for (unsigned int i = 0; i < 2; i++) {
		qp(i)->type = UD;
		qp(i)->has_gids = 0;
	}
	post(SEND);
	qp(0)->sends_done = 1;
	qp(0)->request[0].qp_num = 18;
	qp(0)->request[0].qkey = 0x11;
	qp(1)->qkey = 0x22;
	is_polled[3] = true;
}

#define QKEYS                                                                                    \
	"likely:WAIT_QKEY|QP 17, of sender[10], sends datagrams to it with the Q_Key 0x11, and " \
	"this one has 0x22, so they are dropped, and neither end gets an error|send with the "   \
	"Q_Key that the receiving queue pair has"

static void test_datagrams(void)
{
	send_datagram();
	finds(QKEYS, "Q_Keys that differ");
	send_datagram();
	qp(1)->state = INIT;
	finds_nothing("a queue pair that takes none yet");
	qp(1)->state = RTR;
	memset(seen_qp, 0, sizeof(seen_qp));
	qp(0)->request[0].qkey = UINT32_C(0x80000000);
	qp(0)->qkey = 0x22;
	finds_nothing("the highest bit, which means the sender's own");
	memset(seen_qp, 0, sizeof(seen_qp));
	qp(0)->request[0].qkey = 0x22;
	finds_nothing("the same Q_Key");
	for (int i = 0; i < 2; i++) {
		memset(seen_qp, 0, sizeof(seen_qp));
		qp(0)->active_mtu = 3;
		qp(0)->request[0].length = 1024 + (uint64_t)i;
		if (i)
			finds("likely:WAIT_DATAGRAM|QP 17, of sender[10], sends datagrams of 1025 "
			      "bytes to it, but the MTU of its port is 1024, so they are never "
			      "sent, but complete all the same|send no more than the MTU of the "
			      "port in "
			      "one datagram",
			      "a datagram that is too long");
		else
			finds_nothing("one that is just short enough");
	}
	memset(seen_qp, 0, sizeof(seen_qp));
	qp(0)->active_mtu = 0;
	finds_nothing("a datagram, where the port's MTU is not known");
	qp(0)->request[0].length = 64;
	make_qp(2, 12, 18, 0);
	qp(2)->type = UD;
	qp(0)->request[0].qkey = 0x11;
	memset(seen_qp, 0, sizeof(seen_qp));
	finds_nothing("two queue pairs with that number");
	qp(2)->row.gone = 1;
	memset(seen_qp, 0, sizeof(seen_qp));
	finds(QKEYS, "two of which one is gone");
	qp(2)->row.gone = 0;
	qp(2)->type = UC;
	memset(seen_qp, 0, sizeof(seen_qp));
	finds(QKEYS, "two of which one is of another type");
	qp(2)->row.pid = 0;
	for (unsigned int i = 1; i <= 3; i++) {
		memset(seen_qp, 0, sizeof(seen_qp));
		qp(0)->request[0].number = 2;
		qp(0)->request[1].number = i;
		qp(0)->request[1].qp_num = 99;
		if (i == 1)
			finds(QKEYS, "an earlier datagram to another one");
		else if (i == 3)
			finds_nothing("a later one");
	}
}

/* Of what address a datagram is for tells its handle: one that is there rather than one that is gone. */
static void test_addresses(void)
{
	static const struct {
		struct {
			int pid;
			uint64_t ah;
			bool is_gone, has_gids, is_it;
		} row[2];
		bool is_found;
		const char *what;
	} cases[] = {
		{{{PROCESS, 7, false, true, true}}, true, "a handle for this port"},
		{{{PROCESS, 7, false, true, false}}, false, "a handle for another port"},
		{{{PROCESS, 7, true, true, false}, {PROCESS, 7, false, true, true}},
		 true,
		 "one in the place of one that is gone"},
		{{{PROCESS, 7, false, true, true}, {PROCESS, 7, true, true, false}},
		 true,
		 "one, and then one that is gone"},
		{{{PROCESS, 7, true, true, true}, {PROCESS, 7, true, true, false}},
		 true,
		 "the first of two that are gone"},
		{{{PEER, 7, false, true, false}}, true, "another process's handle"},
		{{{PROCESS, 8, false, true, false}}, true, "another handle"},
		{{{PROCESS, 7, false, false, false}}, true, "a handle without GIDs"},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		send_datagram();
		gids_of_port = "mlx5_0/ports/1/gids/";
		qp(0)->request[0].ah = 7;
		for (unsigned int k = 0; k < 2; k++) {
			struct explain_ah_row *const row = &made->ah[k];

			row->row.pid = cases[i].row[k].pid;
			row->row.version = 2;
			row->row.gone = cases[i].row[k].is_gone;
			row->ah = cases[i].row[k].ah;
			row->has_gids = cases[i].row[k].has_gids;
			if (cases[i].row[k].is_it)
				make_gid(row->peer_gid);
		}
		if (cases[i].is_found)
			finds(QKEYS, cases[i].what);
		else
			finds_nothing(cases[i].what);
	}
	tap_eq_ptr(explain_judge_ah(qp(0), &qp(0)->request[0]), NULL, "no handle with GIDs");
	made->ah[0].has_gids = 1;
	explain_judge_take();
	tap_ok(explain_judge_ah(qp(0), &qp(0)->request[0]) == &ahs[0], "a handle");
	qp(0)->request[0].ah = 0;
	tap_eq_ptr(explain_judge_ah(qp(0), &qp(0)->request[0]), NULL, "a request without one");
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

static void stay_in(enum explain_verb verb)
{
	reset();
	made->call[0].pid = PROCESS;
	made->call[0].tid = PROCESS;
	made->call[0].verb = verb;
	made->call[0].of = 1;
	made->call[0].since = now + POLL_NS; /* as a queue pair's, from the first look on */
}

static void test_calls(void)
{
	stay_in(EXPLAIN_DESTROY_CQ);
	cq(0)->events = 3;
	cq(0)->acked = 1;
	finds("error:WAIT_CQ_EVENTS|it waits until each event of the completion queue is "
	      "acknowledged: 3 were taken, 1 acknowledged|call ibv_ack_cq_events() for each event "
	      "that ibv_get_cq_event() has returned",
	      "a completion queue with events");
	for (int i = 0; i < 2; i++) {
		stay_in(i ? EXPLAIN_DESTROY_SRQ : EXPLAIN_DESTROY_QP);
		finds("likely:WAIT_ASYNC_EVENTS|an asynchronous event of it was taken but not "
		      "acknowledged|call ibv_ack_async_event() for each event that "
		      "ibv_get_async_event() has returned",
		      i ? "a shared receive queue with events" : "a queue pair with events");
	}
	stay_in(EXPLAIN_DESTROY_ID);
	finds("likely:WAIT_CM_EVENTS|an event of the id was taken but not acknowledged|call "
	      "rdma_ack_cm_event() for each event that rdma_get_cm_event() has returned",
	      "an id with events");
	stay_in(EXPLAIN_GET_CM_EVENT);
	finds_nothing("an event that is waited for");
	stay_in(EXPLAIN_GET_CQ_EVENT);
	finds_nothing("a completion event that is waited for");
	for (int i = 0; i < 6; i++) {
		stay_in(EXPLAIN_DESTROY_QP);
		if (i == 0)
			made->call[0].pid = -PROCESS;
		else if (i == 1)
			made->call[0].tid = -PROCESS;
		else if (i == 2)
			made->call[0].tid = ENDED;
		else if (i < 5)
			made->call[0].verb = i == 3 ? EXPLAIN_NO_CALL : EXPLAIN_VERB_COUNT;
		else
			made->call[0].since = now + 100 * second;
		finds_nothing("no call");
	}
}

/* All that is said of a call, in each form. */
static void test_call_texts(void)
{
	stay_in(EXPLAIN_DESTROY_CQ);
	cq(0)->events = 3;
	cq(0)->acked = 1;
	clear();
	look(LIMIT + .4);
	tap_eq_str(written(output.log),
		   "rdmaez-explain: sender[10]: thread 10 has been in ibv_destroy_cq for 5 s: it "
		   "waits until each event\n"
		   "    of the completion queue is acknowledged: 3 were taken, 1 "
		   "acknowledged. Next: call\n"
		   "    ibv_ack_cq_events() for each event that ibv_get_cq_event() has "
		   "returned.\n",
		   "the text of a call");
	tap_eq_str(written(output.json),
		   "{\"program\":\"sender\",\"pid\":10,\"kind\":\"waiting\",\"occasion\":\"quiet\","
		   "\"seconds\":5,\"thread\":10,\"call\":\"ibv_destroy_cq\",\"findings\":[{"
		   "\"severity\":\"error\",\"reason\":\"WAIT_CQ_EVENTS\",\"what\":\"it waits until "
		   "each event of the completion queue is acknowledged: 3 were taken, 1 "
		   "acknowledged\",\"next\":\"call ibv_ack_cq_events() for each event that "
		   "ibv_get_cq_event() has returned\"}]}\n",
		   "its JSON");
	look(2 * LIMIT);
	tap_eq_str(written(output.log), "", "it is said once");
	made->call[0].since = now;
	output.line = true;
	look(LIMIT + .4);
	tap_eq_str(written(output.log),
		   "program=sender pid=10 kind=waiting seconds=5 thread=10 call=ibv_destroy_cq "
		   "finding=error:WAIT_CQ_EVENTS\n",
		   "the line of the next call");
	output.line = false;
	for (int i = 0; i < 3; i++) {
		stay_in(EXPLAIN_DESTROY_CQ);
		cq(0)->events = cq(0)->acked = 3;
		if (i)
			cq(0)->acked = 1;
		if (i == 1)
			made->call[0].of = EXPLAIN_CQ_ROWS + 1;
		if (i == 2)
			cq(0)->row.pid = PEER;
		clear();
		look(LIMIT + .4);
		tap_eq_str(written(output.log),
			   "rdmaez-explain: sender[10]: thread 10 has been in ibv_destroy_cq for 5 "
			   "s.\n",
			   "%s", i == 0 ? "all is acknowledged" : "a queue that is none");
	}
	stay_in(EXPLAIN_GET_CQ_EVENT);
	made->call[0].pid = made->call[0].tid = 12;
	qp(1)->recvs = 0;
	clear();
	look(1);
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_eq_str(written(output.log), "rdmaez-explain: nothing is outstanding.\n",
		   "an event that is waited for since a moment");
	look(.2);
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_eq_str(written(output.log),
		   "rdmaez-explain: ?[12]: thread 12 has been in ibv_get_cq_event for 1 s.\n"
		   "rdmaez-explain: nothing is outstanding.\n",
		   "an event that is waited for, to who asks");
	explain_judge_still = true;
	explain_judge_say(&output, EXPLAIN_ASKED);
	explain_judge_still = false;
	tap_eq_str(written(output.log),
		   "rdmaez-explain: ?[12]: thread 12 is in ibv_get_cq_event.\n"
		   "rdmaez-explain: nothing is outstanding.\n",
		   "the same of a core");
}

/* ---- Completions that failed ------------------------------------------------------------------------------------ */

static void fail(uint32_t status, uint32_t opcode)
{
	static const struct explain_mr_row region = {.lkey = 0x111,
						     .rkey = 0x222,
						     .access = ACCESS_LOCAL_WRITE | ACCESS_WRITE,
						     .addr = 0x1000,
						     .length = 64};

	reset();
	post(opcode);
	for (unsigned int i = 0; i < 2; i++) {
		memcpy(&made->mr[i], &region, sizeof(region));
		made->mr[i].row.pid = i ? PEER : PROCESS;
		made->mr[i].row.version = 2;
		snprintf(made->mr[i].device, sizeof(made->mr[i].device), "mlx5_0");
	}
	made->mr[1].addr = 0x2000;
	qp(0)->state = ERR;
	qp(0)->errors = 1;
	qp(0)->failed_id = 5;
	qp(0)->failed_status = status;
	qp(0)->failed_at = now;
}

static void tells(const char *wanted, const char *case_of)
{
	clear();
	look(.2);
	tap_eq_str(found(), wanted, "%s", case_of);
	look(LIMIT);
	tap_eq_str(written(output.json), "", "%s: once", case_of);
}

#define OTHER "|use the key, the address and the length of a registered region"

static void test_failed_regions(void)
{
	fail(REM_ACCESS, WRITE);
	tells("", "a request that fits its region to the last byte");
	fail(REM_ACCESS, WRITE);
	qp(0)->request[0].remote_addr++;
	tells("likely:FAILED_BOUNDS|rkey 0x222: the region of the peer is 64 bytes at 0x2000, but "
	      "the request is for 64 at 0x2001" OTHER,
	      "one that reaches a byte beyond");
	fail(REM_ACCESS, WRITE);
	qp(0)->request[0].remote_addr--;
	tells("likely:FAILED_BOUNDS|rkey 0x222: the region of the peer is 64 bytes at 0x2000, but "
	      "the request is for 64 at 0x1fff" OTHER,
	      "one that begins a byte before");
	fail(REM_ACCESS, WRITE);
	qp(0)->request[0].rkey = 0x333;
	tells("likely:FAILED_KEY|rkey 0x333: the peer has never registered memory with this "
	      "key" OTHER,
	      "a key that there was never");
	fail(REM_ACCESS, WRITE);
	made->mr[1].row.gone = 1;
	made->mr[1].gone_at = now - 1;
	tells("error:FAILED_DEREGISTERED|rkey 0x222: the peer had this region (0x2000, 64 bytes) "
	      "and has deregistered it|keep memory registered until everything that uses it is "
	      "done",
	      "a region that is gone");
	fail(REM_ACCESS, WRITE);
	made->mr[1].row.gone = 1;
	made->mr[1].gone_at = now;
	tells("", "a region that went when it had failed");
	fail(REM_ACCESS, WRITE);
	qp(0)->request[0].remote_addr++;
	made->mr[1].made_at = now + 1;
	tells("", "a key that there was only later");
	fail(REM_ACCESS, WRITE);
	qp(0)->request[0].remote_addr++;
	memcpy(&made->mr[2], &made->mr[1], sizeof(made->mr[1]));
	made->mr[2].length = 65;
	made->mr[2].rereg = EXPLAIN_MR_ANEW;
	made->mr[2].made_at = now + 1;
	made->mr[1].row.gone = 1;
	made->mr[1].gone_at = now;
	made->mr[1].rereg = EXPLAIN_MR_ENDED;
	made->mr[1].next[1] = 0x222;
	tells("likely:FAILED_BOUNDS|rkey 0x222: the region of the peer is 64 bytes at 0x2000, but "
	      "the request is for 64 at 0x2001" OTHER,
	      "what a region was before it was registered anew");
	fail(REM_ACCESS, WRITE);
	made->mr[2].made_at = now - 1;
	made->mr[2].access = ACCESS_LOCAL_WRITE;
	made->mr[1].row.gone = 1;
	made->mr[1].gone_at = now - 2;
	made->mr[1].rereg = EXPLAIN_MR_ENDED;
	made->mr[1].next[1] = 0x222;
	memcpy(&made->mr[2].row, &made->mr[0].row, sizeof(made->mr[0].row));
	memcpy(made->mr[2].device, made->mr[0].device, sizeof(made->mr[0].device));
	made->mr[2].row.pid = PEER;
	made->mr[2].rkey = 0x222;
	made->mr[2].addr = 0x2000;
	made->mr[2].length = 64;
	made->mr[2].rereg = EXPLAIN_MR_ANEW;
	tells("likely:FAILED_RIGHTS|rkey 0x222: the region of the peer has the access flags 0x1, "
	      "which lack 0x2|register the memory with this right",
	      "what it is since, which the request may have met or not");
	fail(REM_ACCESS, WRITE);
	made->mr[1].row.gone = 1;
	made->mr[1].gone_at = now - 1;
	made->mr[1].rereg = EXPLAIN_MR_ENDED;
	made->mr[1].next[1] = 0x222;
	tells("", "a failure while it was registered anew");
	fail(REM_ACCESS, WRITE);
	made->mr[1].row.gone = 1;
	made->mr[1].gone_at = now - 1;
	made->mr[1].rereg = EXPLAIN_MR_ENDED;
	made->mr[1].next[1] = 0x223;
	tells("error:FAILED_REREGISTERED|rkey 0x222: the peer has registered this region again, "
	      "and since then its rkey is 0x223|use the keys that the region has after "
	      "ibv_rereg_mr()",
	      "a key that a region had");
	fail(LOC_PROT, READ);
	made->mr[0].access = 0;
	made->mr[0].rereg = EXPLAIN_MR_BROKEN;
	tells("likely:FAILED_REREGISTERED|lkey 0x111: ibv_rereg_mr() has failed for this region of "
	      "this process, which must not be used since then|deregister it, and register the "
	      "memory "
	      "again",
	      "a region that nobody knows any more");
	fail(REM_ACCESS, WRITE);
	made->mr[1].pd = 4;
	tells("error:FAILED_PD|rkey 0x222: the peer has this region in another protection domain "
	      "than the queue pair|register the memory in the queue pair's protection domain",
	      "another protection domain");
	fail(REM_ACCESS, WRITE);
	snprintf(made->mr[1].device, sizeof(made->mr[1].device), "mlx5_1");
	tells("likely:FAILED_PD|rkey 0x222: the peer has this region on mlx5_1, and the queue pair "
	      "is on mlx5_0|register the memory in the queue pair's protection domain",
	      "another device");
	fail(REM_ACCESS, READ);
	tells("error:FAILED_RIGHTS|rkey 0x222: the region of the peer has the access flags 0x3, "
	      "which lack 0x4|register the memory with this right",
	      "a right that a region lacks");
	fail(LOC_PROT, READ);
	made->mr[0].access = 0;
	tells("error:FAILED_RIGHTS|lkey 0x111: the region of this process has the access flags "
	      "0x0, which lack 0x1|register the memory with this right",
	      "a right that a region of this end lacks");
	fail(LOC_PROT, SEND);
	made->mr[0].access = 0;
	tells("", "a send, which needs no right");
	fail(LOC_QP_OP, SEND);
	qp(0)->request[0].lkey = 0x333;
	tells("likely:FAILED_KEY|lkey 0x333: this process has never registered memory with this "
	      "key" OTHER,
	      "a key of this end");
	fail(LOC_QP_OP, SEND);
	qp(0)->request[0].lkey = 0x333;
	qp(0)->request[0].flags = SEND_INLINE;
	tells("", "an inline request, which has no key");
	fail(LOC_QP_OP, SEND);
	qp(0)->request[0].lkey = 0x333;
	qp(0)->request[0].length = 0;
	tells("", "one without bytes, whose key nobody reads");
	fail(LOC_QP_OP, SEND);
	qp(0)->request[0].lkey = 0x333;
	for (unsigned int i = 0; i < EXPLAIN_MR_ROWS; i++)
		made->mr[i].row.pid = PEER;
	tells("", "a key, where there have been more regions than are kept");
	fail(REM_ACCESS, WRITE);
	made->mr[1].pd = 4;
	made->mr[1].rereg = EXPLAIN_MR_ANEW;
	tells("likely:FAILED_PD|rkey 0x222: the peer has this region in another protection domain "
	      "than the queue pair|register the memory in the queue pair's protection domain",
	      "another protection domain since it was registered anew");
}

/* Of two regions with one key, which devices may give each for itself. */
static void test_same_keys(void)
{
	static const char pd[] =
		"error:FAILED_PD|rkey 0x222: the peer has this region in another protection domain "
		"than the queue pair|register the memory in the queue pair's protection domain";
	static const char gone[] =
		"error:FAILED_DEREGISTERED|rkey 0x222: the peer had this region (0x2000, 64 bytes) "
		"and has deregistered it|keep memory registered until everything that uses it is "
		"done";
	static const char of_first[] =
		"error:FAILED_RIGHTS|rkey 0x222: the region of the peer has the access flags 0x0, "
		"which lack 0x2|register the memory with this right";
	static const char of_second[] =
		"error:FAILED_RIGHTS|rkey 0x222: the region of the peer has the access flags 0x1, "
		"which lack 0x2|register the memory with this right";
	static const struct {
		bool is_other, is_gone, and_other, and_gone;
		const char *wanted;
	} cases[] = {
		{false, false, false, false, of_second}, {false, false, true, false, of_first},
		{true, false, false, true, pd},          {true, true, true, false, pd},
		{false, true, false, false, of_second},  {false, true, true, false, gone},
		{false, false, false, true, of_first},   {true, false, false, false, of_second},
		{true, false, true, false, pd},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fail(REM_ACCESS, WRITE);
		memcpy(&made->mr[2], &made->mr[1], sizeof(made->mr[1]));
		made->mr[1].access = 0;
		made->mr[1].pd = cases[i].is_other;
		made->mr[1].row.gone = cases[i].is_gone;
		made->mr[1].gone_at = cases[i].is_gone ? now - 1 : 0;
		made->mr[2].access = ACCESS_LOCAL_WRITE;
		made->mr[2].pd = cases[i].and_other;
		made->mr[2].row.gone = cases[i].and_gone;
		made->mr[2].gone_at = cases[i].and_gone ? now - 1 : 0;
		tells(cases[i].wanted, "two regions with one key");
	}
	fail(REM_ACCESS, WRITE);
	made->mr[1].row.version = 3;
	tells("likely:FAILED_KEY|rkey 0x222: the peer has never registered memory with this "
	      "key" OTHER,
	      "a row that is being changed");
	fail(LOC_PROT, READ);
	made->mr[0].rkey = 0x111;
	made->mr[0].lkey = 0x112;
	tells("likely:FAILED_KEY|lkey 0x111: this process has never registered memory with this "
	      "key" OTHER,
	      "an rkey in place of an lkey");
}

static void test_failed_peers(void)
{
	fail(REM_ACCESS, FETCH_ADD);
	qp(1)->access = ACCESS_WRITE;
	tells("error:FAILED_QP_RIGHTS|the peer's QP 18 has the qp_access_flags 0x2, which lack 0x8 "
	      "for a FETCH_AND_ADD|have the peer set the right in qp_access_flags",
	      "a right that the queue pair lacks");
	fail(REM_OP, SEND);
	qp(1)->recv_length = 63;
	tells("likely:FAILED_RECV_SHORT|the peer's last receive has 63 bytes, and the message "
	      "64|post receives for the longest message",
	      "a receive that is too short");
	fail(REM_OP, SEND);
	tells("", "a receive that is long enough");
	fail(REM_OP, SEND);
	qp(1)->recv_lkey = 0x333;
	tells("likely:FAILED_KEY|the peer's last receive has lkey 0x333: the peer has never "
	      "registered memory with this key" OTHER,
	      "a receive into memory that there was never");
	fail(REM_OP, SEND);
	qp(1)->recv_addr = 0x2001;
	tells("likely:FAILED_BOUNDS|the peer's last receive has lkey 0x111: the region of the peer "
	      "is 64 bytes at 0x2000, but the request is for 64 at 0x2001" OTHER,
	      "a receive that reaches beyond its region");
	fail(RNR_RETRY, SEND);
	qp(1)->recvs = 0;
	tells("likely:FAILED_NO_RECEIVE|the peer has never posted a receive" RECEIVE, "no receive");
	fail(RNR_RETRY, WRITE);
	qp(1)->recvs = 0;
	tells("", "a write, which takes none");
	for (int i = 0; i < 4; i++) {
		fail(RNR_RETRY, SEND);
		qp(1)->recvs = 0;
		qp(1)->has_srq = i == 0;
		qp(1)->direct = i == 1;
		qp(1)->state = i == 2 ? INIT : RTR;
		qp(1)->row.gone = i == 3;
		tells("", "a peer whose receives are not known");
	}
	fail(RNR_RETRY, SEND);
	tells("", "a peer that has a receive");
	fail(REM_OP, SEND);
	qp(1)->recv_length = 63;
	qp(1)->has_srq = 1;
	tells("", "a receive of a shared queue");
	fail(REM_INV_REQ, READ);
	qp(1)->access = ACCESS_WRITE | ACCESS_ATOMIC;
	tells("error:FAILED_QP_RIGHTS|the peer's QP 18 has the qp_access_flags 0xa, which lack 0x4 "
	      "for a READ|have the peer set the right in qp_access_flags",
	      "a right to read that the queue pair lacks");
	fail(REM_INV_REQ, WRITE_IMM);
	made->mr[1].access = 0;
	tells("", "a request that is invalid, of which the region tells nothing");
	fail(RNR_RETRY, SEND);
	qp(1)->recvs = qp(1)->recvs_done = 3;
	tells("likely:FAILED_NO_RECEIVE|all 3 receives that the peer has posted are used|post more "
	      "receives, and each one again once it is used",
	      "receives that are used");
	fail(RETRY_EXC, SEND);
	qp(1)->recvs = qp(1)->recvs_done = 3;
	tells("", "receives that are used, and a peer that does not answer");
	fail(RETRY_EXC, SEND);
	qp(1)->state = INIT;
	tells("likely:FAILED_PEER_STATE|the peer's QP 18 is in INIT|have the peer move it to RTR "
	      "before this end sends",
	      "a peer in INIT");
	fail(RETRY_EXC, SEND);
	qp(1)->rq_psn = 999;
	tells("error:WAIT_PSN|the PSNs differ: this end sends from 1700, and the peer expects 999 "
	      "(its rq_psn)" PSNS,
	      "PSNs that differ, after the retries");
	fail(RETRY_EXC, SEND);
	qp(1)->state = ERR;
	tells("likely:FAILED_PEER_STATE|the peer has moved its QP 18 to ERR|find out why the peer "
	      "has given it up, and connect both ends again",
	      "a peer in ERR");
	fail(RETRY_EXC, SEND);
	qp(1)->type = UC;
	tells("error:FAILED_TYPE|the peer's QP 18 is of type UC, but this one is of type RC, so "
	      "packets are dropped|create both queue pairs with one type",
	      "another type");
	fail(RETRY_EXC, SEND);
	make_qp(2, PROCESS, 19, 18);
	tells("error:WAIT_TWO_TO_ONE|QP 19 of this process is connected to the same queue pair of "
	      "the peer, QP 18|connect each to a queue pair of its own",
	      "two queue pairs to one, after the retries");
	fail(RETRY_EXC, SEND);
	qp(1)->row.pid = 0;
	make_qp(2, PROCESS, 19, 18);
	tells("error:WAIT_TWO_TO_ONE|QP 19 of this process is connected to the same queue pair of "
	      "the peer, QP 18|connect each to a queue pair of its own",
	      "to one of a peer that is elsewhere");
	fail(RNR_RETRY, SEND);
	make_qp(2, PROCESS, 19, 18);
	tells("", "which is no reason where the peer answers");
	fail(RETRY_EXC, SEND);
	qp(0)->dest_qp_num = 99;
	tells("error:WAIT_QPN|dest_qp_num is 99, but it is QP 18, of receiver[11], that is "
	      "connected to this one|connect to the peer's qp_num",
	      "a wrong number, after the retries");
	fail(RETRY_EXC, WRITE);
	qp(1)->row.gone = 1;
	tells("likely:FAILED_PEER_DESTROYED|the peer, receiver[11], has destroyed its QP "
	      "18" RESTART,
	      "a peer that has destroyed it");
	fail(RETRY_EXC, WRITE);
	states_of[PEER] = '\0';
	tells("likely:FAILED_PEER_ENDED|the process of the peer's QP 18, receiver[11], has "
	      "ended" RESTART,
	      "a peer that has ended");
	fail(RETRY_EXC, WRITE);
	states_of[PEER] = states_of[PROCESS] = '\0';
	tells("", "both have ended, and nobody knows which came first");
}

static void test_failed_types(void)
{
	fail(LOC_QP_OP, WRITE);
	qp(0)->type = UD;
	tells("error:FAILED_OPCODE|queue pairs of type UD have no WRITE|use an operation that the "
	      "type has",
	      "an operation that UD does not have");
	fail(LOC_QP_OP, READ);
	qp(0)->type = UC;
	tells("error:FAILED_OPCODE|queue pairs of type UC have no READ|use an operation that the "
	      "type has",
	      "one that UC does not have");
	fail(LOC_QP_OP, WRITE_IMM);
	qp(0)->type = UC;
	tells("", "one that it has");
	fail(LOC_QP_OP, SEND);
	qp(0)->type = UD;
	tells("", "a datagram");
	fail(LOC_QP_OP, FETCH_ADD + 1);
	qp(0)->type = UD;
	tells("", "an operation that nobody knows");
	fail(LOC_QP_OP, FETCH_ADD + 1);
	qp(0)->request[0].lkey = 0x333;
	clear();
	look(.2);
	tap_ok(strstr(written(output.log), " a request of 64 bytes, ") != NULL, "it has no name");
}

/* QP 18's last receive has failed, for which QP 17 has sent 64 bytes. */
static void fail_receive(uint32_t status, uint32_t type)
{
	fail(0, SEND);
	qp(0)->failed_at = 0;
	qp(0)->type = qp(1)->type = type;
	qp(0)->request[0].qp_num = 18;
	qp(1)->failed_id = 77;
	qp(1)->failed_status = status;
	qp(1)->failed_queue = EXPLAIN_RECV_QUEUE;
	qp(1)->failed_at = now;
}

static void test_failed_receives(void)
{
	fail_receive(LOC_LEN, RC);
	tells("", "a receive that is just long enough");
	fail_receive(LOC_LEN, RC);
	qp(1)->recv_length = 63;
	qp(1)->has_srq = 1;
	tells("", "one of a shared receive queue");
	fail_receive(REM_OP, RC);
	qp(1)->recv_length = 63;
	tells("", "one that failed for another reason");
	fail_receive(LOC_LEN, RC);
	qp(1)->recv_lkey = 0x333;
	tells("", "one whose memory was not the reason");
	fail_receive(LOC_LEN, RC);
	qp(0)->dest_qp_num = 99;
	qp(0)->qp_num = 16;
	qp(1)->recv_length = 63;
	tells("", "one whose sender is not known");
	for (int i = 0; i < 3; i++) {
		fail_receive(LOC_LEN, i == 2 ? UD : RC);
		qp(0)->request[i ? 2 : 1] = qp(0)->request[0];
		qp(0)->request[i ? 2 : 1].length = 100;
		qp(0)->request[i ? 2 : 1].opcode = i ? SEND_IMM : WRITE;
		make_qp(2, PROCESS, 19, 98);
		qp(2)->type = i ? RC : UD;
		qp(2)->request[0] = qp(0)->request[0];
		qp(2)->request[0].length = 5000;
		qp(1)->recv_length = i == 2 ? 139 : 99;
		tells(i == 0   ? ""
		      : i == 1 ? "likely:FAILED_RECV_SHORT|the receive has 99 bytes, and a message "
				 "of 100 came|post receives for the longest message"
			       : "likely:FAILED_RECV_SHORT|the receive has 139 bytes, and a "
				 "message of 100 with 40 of the global route header came|post "
				 "receives 40 bytes longer than the longest message",
		      i ? "the longest of several messages" : "a longer write, which takes none");
	}
	fail_receive(LOC_LEN, RC);
	qp(1)->recv_length = 63;
	tells("likely:FAILED_RECV_SHORT|the receive has 63 bytes, and a message of 64 came|post "
	      "receives for the longest message",
	      "one that is too short");
	fail_receive(LOC_QP_OP, UD);
	qp(1)->recv_length = 103;
	tells("likely:FAILED_RECV_SHORT|the receive has 103 bytes, and a message of 64 with 40 of "
	      "the global route header came|post receives 40 bytes longer than the longest message",
	      "one without room for the global route header");
	fail_receive(LOC_LEN, UD);
	qp(1)->recv_length = 104;
	tells("", "one with room for it");
	fail_receive(LOC_LEN, UD);
	qp(1)->recv_length = 64;
	qp(0)->request[0].qp_num = 19;
	tells("", "a datagram to another one");
	fail_receive(LOC_PROT, RC);
	qp(1)->recv_lkey = 0x333;
	tells("likely:FAILED_KEY|the last receive has lkey 0x333: this process has never "
	      "registered "
	      "memory with this key" OTHER,
	      "a receive into memory that there was never");
	fail_receive(LOC_PROT, RC);
	made->mr[1].access = 0;
	tells("error:FAILED_RIGHTS|the last receive has lkey 0x111: the region of this process has "
	      "the access flags 0x0, which lack 0x1|register the memory with this right",
	      "one into memory that is only read");
	fail_receive(LOC_PROT, RC);
	qp(1)->recv_lkey = 0x333;
	qp(1)->failed_id = 76;
	tells("", "one before the last, which is not kept");
	fail_receive(LOC_PROT, RC);
	qp(1)->recv_lkey = 0x333;
	qp(1)->failed_queue = EXPLAIN_SEND_QUEUE;
	tells("", "a send of the same id that is not kept");
	fail_receive(LOC_PROT, RC);
	qp(1)->recv_lkey = 0x333;
	qp(1)->failed_queue = EXPLAIN_EITHER_QUEUE;
	tells("likely:FAILED_KEY|the last receive has lkey 0x333: this process has never "
	      "registered "
	      "memory with this key" OTHER,
	      "a completion queue for both queues");
}

/* Which request is the oldest, and which one has failed. */
static void test_oldest(void)
{
	static const struct {
		uint64_t done, failed_id;
		int failed, oldest;
	} cases[] = {
		{0, 7, -1, 1}, {2, 7, 1, 1}, {2, 8, 2, 1}, {2, 9, -1, 1},
		{3, 7, 0, 2},  {3, 8, 2, 2}, {4, 7, 0, 0}, {5, 7, -1, 0},
	};
	struct explain_qp_row *const row = qp(0);

	reset();
	tap_eq_ptr(explain_judge_request(row), NULL, "nothing is outstanding");
	row->signaled = 6;
	tap_eq_ptr(explain_judge_request(row), NULL, "nothing is kept");
	for (unsigned int i = 0; i < 3; i++) {
		row->request[i].number = (uint64_t[]){5, 3, 4}[i];
		row->request[i].signaled = (uint64_t[]){4, 2, 3}[i];
		row->request[i].wr_id = (uint64_t[]){7, 7, 8}[i];
	}
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		row->sends_done = cases[i].done;
		row->failed_at = 0;
		tap_ok(explain_judge_request(row) == &row->request[cases[i].oldest],
		       "the oldest after %u", (unsigned int)cases[i].done);
		row->failed_at = 1;
		row->failed_id = cases[i].failed_id;
		tap_ok(explain_judge_request(row) ==
			       (cases[i].failed < 0 ? NULL : &row->request[cases[i].failed]),
		       "the one that failed, by the id %u, after %u",
		       (unsigned int)cases[i].failed_id, (unsigned int)cases[i].done);
	}
}

/* ---- Who waits ---------------------------------------------------------------------------------------------------- */

static void test_silence(void)
{
	reset();
	is_polled[0] = is_polled[3] = true;
	finds_nothing("receives alone");
	fit();
	is_polled[0] = false;
	finds_nothing("a program that does not look");
	fit();
	qp(0)->errors = 1;
	finds_nothing("a queue pair that has failed");
	fit();
	qp(0)->direct = 1;
	finds_nothing("one that is used without verbs");
	fit();
	qp(0)->row.gone = 1;
	finds_nothing("one that is gone");
	fit();
	states_of[PROCESS] = '\0';
	finds_nothing("a process that has ended");
	fit();
	clear();
	for (int i = 0; i < 10; i++) {
		look(LIMIT - 1);
		qp(0)->sends = qp(0)->signaled = qp(0)->signaled + 1;
		qp(0)->sends_done = qp(0)->sends_done + 1;
	}
	tap_eq_str(written(output.log), "", "progress now and then: nothing");
}

/* A queue that is armed, and a process that uses no more than a twentieth of a processor, is waited for. */
static void test_sleep(void)
{
	for (uint64_t ms = 10; ms <= 11; ms++) {
		fit();
		is_polled[0] = false;
		cq(0)->armed = 1;
		cq(0)->emptied = 1;
		used_step = ms;
		if (ms == 10)
			finds(NO_ANSWER, "a twentieth of a processor");
		else
			finds_nothing("more than a twentieth of a processor");
	}
}

static void test_polled(void)
{
	uint64_t born;

	fit();
	is_polled[0] = false;
	look(.2);
	born = now;
	look(2);
	tap_eq_int((intmax_t)explain_judge_polled(0), (intmax_t)born,
		   "a queue that was never polled is as old as it is");
	is_polled[0] = true;
	look(2);
	tap_eq_int((intmax_t)explain_judge_polled(0), (intmax_t)now,
		   "one that was polled just now");
}

static void test_once(void)
{
	fit();
	finds(NO_ANSWER, "the first time");
	clear();
	look(4 * LIMIT);
	tap_eq_str(written(output.log), "", "it is said once");
	qp(0)->sends = qp(0)->signaled = 2;
	qp(0)->sends_done = 1;
	qp(0)->request[1].number = 2;
	qp(0)->request[1].signaled = 1;
	look(LIMIT + .4);
	tap_ok(written(output.log)[0] != '\0', "and again after there was progress");
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_ok(written(output.log)[0] != '\0', "and whenever it is asked");
	qp(0)->row.version = 4;
	finds(NO_ANSWER, "another queue pair in its place");
	fit();
	is_polled[0] = false;
	clear();
	look(2);
	cq(0)->polls = 1;
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_eq_str(found(), NO_ANSWER, "what was polled just now");
	stay_in(EXPLAIN_DESTROY_QP);
	qp(0)->row.pid = qp(1)->row.pid = 0;
	clear();
	look(LIMIT + .4);
	tap_ok(written(output.log)[0] != '\0', "a call of a program without queue pairs");
}

/* ---- All of its words ----------------------------------------------------------------------------------------- */

static void test_text(void)
{
	fit();
	qp(1)->rq_psn = 999;
	growing = "local_ack_timeout_err";
	counter_value = 0;
	clear();
	look(LIMIT + .4);
	tap_eq_str(written(output.log),
		   "rdmaez-explain: sender[10]: QP 17 of mlx5_0 (RC, RTS) has waited for 5 s: the "
		   "PSNs differ: this end\n"
		   "    sends from 1700, and the peer expects 999 (its rq_psn). Next: set the "
		   "rq_psn of each end to the\n"
		   "    other's sq_psn.\n"
		   "  Outstanding: 1 of 1 signaled sends, 0 of 0 receives; the oldest that is kept "
		   "is a SEND of 64\n"
		   "    bytes, wr_id 0x5.\n"
		   "  Its peer: QP 18 of mlx5_0, receiver[11], RTS.\n"
		   "  Its send CQ: polls: 26, the last one 0 s ago; completions: 0.\n"
		   "  Its receive CQ: never polled.\n"
		   "  Port 1 of mlx5_0 counted meanwhile: local_ack_timeout_err 23.\n",
		   "the text");
	fit();
	qp(0)->direct = cq(0)->direct = 1;
	cq(0)->armed = 2;
	cq(0)->events = 1;
	clear();
	look(.2);
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_ok(strstr(written(output.log), "  Its send CQ: read without verbs, unseen; armed by "
					   "verbs: 2, events taken: 1, "
					   "acknowledged: 0.\n") != NULL,
	       "one that is polled without verbs and armed by them");
	fit();
	qp(1)->rq_psn = 999;
	output.line = true;
	clear();
	look(LIMIT + .4);
	output.line = false;
	tap_eq_str(written(output.log),
		   "program=sender pid=10 kind=waiting seconds=5 device=mlx5_0 qp=17 type=RC "
		   "state=RTS sends=1 recvs=0 alike=0 finding=error:WAIT_PSN\n",
		   "the line");
}

/* Six findings have room, and each says how sure it is. */
static void test_findings(void)
{
	fit();
	qp(0)->state = SQD;
	device_of_port = "mlx5_0";
	state_of_port = "1: DOWN";
	qp(0)->sends = qp(0)->signaled = 2;
	cq(0)->cqe = 1;
	qp(1)->dest_qp_num = 99;
	qp(1)->rq_psn = qp(1)->sq_psn = 999;
	qp(1)->path_mtu = 5;
	qp(0)->timeout = 0;
	clear();
	look(LIMIT + .4);
	tap_eq_str(written(output.log),
		   "rdmaez-explain: sender[10]: QP 17 of mlx5_0 (RC, SQD) has waited for 5 s: the "
		   "queue pair is in SQD,\n"
		   "    where requests wait until it is moved to RTS again. Next: move it to RTS.\n"
		   "  Also, port 1 of mlx5_0 is DOWN. Next: bring the link up: see the interface, "
		   "the cable and the\n"
		   "    switch; on InfiniBand also the subnet manager.\n"
		   "  Likely, the completion queue has room for 1, and 2 completions are due: it "
		   "was overrun, and what\n"
		   "    did not fit is lost. Next: give the completion queue room for all that may "
		   "complete into it\n"
		   "    between two polls.\n"
		   "  Also, the peer's dest_qp_num is 99, but this queue pair is 17, so it accepts "
		   "nothing from here.\n"
		   "    Next: have each end connect to the other end's qp_num.\n"
		   "  Also, the PSNs differ: this end sends from 1700, and the peer expects 999 "
		   "(its rq_psn). Next: set\n"
		   "    the rq_psn of each end to the other's sq_psn.\n"
		   "  Likely, the PSNs of the way back differ: the peer sends from 999, and this "
		   "end expects 1800. Next:\n"
		   "    set the rq_psn of each end to the other's sq_psn.\n"
		   "  Outstanding: 2 of 2 signaled sends, 0 of 0 receives; the oldest that is kept "
		   "is a SEND of 64\n"
		   "    bytes, wr_id 0x5.\n"
		   "  Its peer: QP 18 of mlx5_0, receiver[11], RTS.\n"
		   "  Its send CQ: polls: 26, the last one 0 s ago; completions: 0.\n"
		   "  Its receive CQ: never polled.\n",
		   "six findings");
	fit();
	clear();
	look(LIMIT + .4);
	tap_ok(strstr(written(output.log),
		      " has waited for 5 s, likely because no\n    acknowledgement comes: ") !=
		       NULL,
	       "what is likely is said so");
}

/* All that is said of one without a finding, whose peer is not known, and of its only completion queue. */
static void test_plain(void)
{
	static const char *const names[] = {"mlx5/0", "mlx5=0", "mlx5 0", ".mlx5_0", "mlx5\"0"};

	reset();
	memset(qp(1), 0, sizeof(*qp(1)));
	post(WRITE_IMM);
	qp(0)->type = UC;
	qp(0)->recv_cq = qp(0)->send_cq;
	qp(0)->recvs = 3;
	qp(0)->recvs_done = 1;
	qp(0)->messages = 9;
	cq(0)->got = 4;
	cq(0)->armed = 3;
	cq(0)->events = 2;
	cq(0)->events_at = 2;
	cq(0)->acked = 1;
	cq(0)->extended = 1;
	clear();
	look(LIMIT + .4);
	tap_eq_str(written(output.log),
		   "rdmaez-explain: sender[10]: QP 17 of mlx5_0 (UC, RTS) has waited for 5 s.\n"
		   "  Outstanding: 1 of 1 signaled sends, 2 of 3 receives; the oldest that is kept "
		   "is a WRITE_WITH_IMM\n"
		   "    of 64 bytes, wr_id 0x5.\n"
		   "  Its peer, QP 18, is not known here.\n"
		   "  Its only CQ: polls: 26, the last one 0 s ago; completions: 4; armed: 3, "
		   "events taken: 2, acknowledged: 1 (extended interface).\n",
		   "one without a finding");
	tap_eq_str(written(output.json),
		   "{\"program\":\"sender\",\"pid\":10,\"kind\":\"waiting\",\"occasion\":\"quiet\","
		   "\"seconds\":5,\"device\":\"mlx5_0\",\"port\":1,\"qp_num\":17,\"type\":\"UC\","
		   "\"state\":\"RTS\",\"sends_outstanding\":1,\"recvs_outstanding\":2,"
		   "\"findings\":[],\"counters\":{}}\n",
		   "its JSON");
	qp(0)->state = INIT;
	qp(0)->recv_cq = 0;
	qp(0)->sends_done = 1;
	explain_judge_still = true;
	explain_judge_say(&output, EXPLAIN_ASKED);
	explain_judge_still = false;
	tap_eq_str(written(output.log),
		   "rdmaez-explain: sender[10]: QP 17 of mlx5_0 (UC, INIT) has something "
		   "outstanding.\n"
		   "  Outstanding: 0 of 1 signaled sends, 2 of 3 receives.\n"
		   "  Its send CQ: polls: 27; completions: 4; armed: 3, events taken: 2, "
		   "acknowledged: 1 (extended interface).\n",
		   "the same of a core, where it has no peer yet");
	tap_ok(strstr(written(output.json), "\"occasion\":\"asked\",\"seconds\":0,") != NULL,
	       "and its JSON");
	qp(0)->type = 5;
	qp(0)->direct = 1;
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_eq_str(written(output.log),
		   "rdmaez-explain: sender[10]: QP 17 of mlx5_0 (another type, INIT) has waited "
		   "for 5 s.\n"
		   "  Outstanding: 0 of 1 signaled sends, 2 of 3 receives; what is written to its "
		   "queues without verbs\n"
		   "    is not seen.\n"
		   "  Its send CQ: polls: 27, the last one 0 s ago; completions: 4; armed: 3, "
		   "events taken: 2, acknowledged: 1 (extended interface).\n",
		   "one of a type that nobody knows");
	tap_ok(strstr(written(output.json), "\"type\":\"other\"") != NULL, "its type in JSON");
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(qp(0)->device, sizeof(qp(0)->device), "%s", names[i]);
		output.line = true;
		explain_judge_say(&output, EXPLAIN_ASKED);
		output.line = false;
		tap_eq_str(written(output.log),
			   i == 4 ? "program=sender pid=10 kind=waiting seconds=5 device=mlx5_0 "
				    "qp=17 type=other state=INIT sends=0 recvs=2 alike=0\n"
				  : "program=sender pid=10 kind=waiting seconds=5 device=? qp=17 "
				    "type=other state=INIT sends=0 recvs=2 alike=0\n",
			   "%s is no device's name", names[i]);
	}
	fit();
	qp(1)->rq_psn = qp(1)->sq_psn = 999;
	growing = "hw_counters/";
	output.line = true;
	clear();
	look(LIMIT + .4);
	output.line = false;
	tap_eq_str(written(output.log),
		   "program=sender pid=10 kind=waiting seconds=5 device=mlx5_0 qp=17 type=RC "
		   "state=RTS sends=1 recvs=0 alike=0 finding=error:WAIT_PSN "
		   "finding=likely:WAIT_PSN_BACK counter=completer_retry_err:23 "
		   "counter=local_ack_timeout_err:23 counter=rcvd_rnr_err:23 "
		   "counter=rnr_nak_retry_err:23 counter=out_of_seq_request:23 "
		   "counter=out_of_sequence:23 counter=rcvd_seq_err:23 "
		   "counter=packet_seq_err:23 counter=duplicate_request:23 "
		   "counter=implied_nak_seq_err:23 counter=send_rnr_err:23 "
		   "counter=out_of_buffer:23\n",
		   "the line of one with counters");
	tap_ok(strstr(written(output.json),
		      ",\"counters\":{\"completer_retry_err\":23,\"local_ack_timeout_err\":23,"
		      "\"rcvd_rnr_err\":23,\"rnr_nak_retry_err\":23,\"out_of_seq_request\":23,"
		      "\"out_of_sequence\":23,\"rcvd_seq_err\":23,\"packet_seq_err\":23,"
		      "\"duplicate_request\":23,\"implied_nak_seq_err\":23,\"send_rnr_err\":23,"
		      "\"out_of_buffer\":23}}\n") != NULL,
	       "and its JSON");
	fit();
	for (int i = 0; i < 5; i++) {
		look(.2);
		qp(0)->row.version = i % 2 ? 2 : 3;
		explain_judge_say(&output, EXPLAIN_ASKED);
		if (i % 2 == 0)
			tap_ok(!strstr(written(output.log), "sender[10]: QP"),
			       "a row that is being changed");
		else
			tap_ok(strstr(written(output.log), "sender[10]: QP") != NULL,
			       "and has been");
	}
}

/* A failure in each form; it is told once, and the next one again. */
static void test_failed_texts(void)
{
	fail(REM_ACCESS, WRITE);
	qp(0)->request[0].rkey = 0x333;
	qp(1)->rq_psn = 999;
	clear();
	look(.2);
	tap_eq_str(written(output.log),
		   "rdmaez-explain: sender[10]: IBV_WC_REM_ACCESS_ERR of QP 17 of mlx5_0, a WRITE "
		   "of 64 bytes, wr_id\n"
		   "    0x5, likely because rkey 0x333: the peer has never registered memory with "
		   "this key. Next: use\n"
		   "    the key, the address and the length of a registered region.\n",
		   "the text of a failure");
	tap_eq_str(written(output.json),
		   "{\"program\":\"sender\",\"pid\":10,\"kind\":\"failed\",\"status\":"
		   "\"IBV_WC_REM_ACCESS_ERR\",\"device\":\"mlx5_0\",\"port\":1,\"qp_num\":17,"
		   "\"findings\":[{\"severity\":\"likely\",\"reason\":\"FAILED_KEY\",\"what\":"
		   "\"rkey 0x333: the peer has never registered memory with this key\",\"next\":"
		   "\"use the key, the address and the length of a registered region\"}]}\n",
		   "its JSON");
	qp(0)->failed_at = now;
	qp(0)->failed_status = RETRY_EXC;
	explain_judge_failures(&output);
	tap_eq_str(written(output.log),
		   "rdmaez-explain: sender[10]: IBV_WC_RETRY_EXC_ERR of QP 17 of mlx5_0, a WRITE "
		   "of 64 bytes, wr_id 0x5:\n"
		   "    the PSNs differ: this end sends from 1700, and the peer expects 999 "
		   "(its rq_psn). Next: set the\n"
		   "    rq_psn of each end to the other's sq_psn.\n",
		   "the next one");
	qp(0)->failed_at = now + 1;
	output.line = true;
	explain_judge_failures(&output);
	output.line = false;
	tap_eq_str(written(output.log),
		   "program=sender pid=10 kind=failed device=mlx5_0 qp=17 "
		   "status=IBV_WC_RETRY_EXC_ERR wr_id=0x5 finding=error:WAIT_PSN\n",
		   "the line of a third");
	fail_receive(LOC_PROT, RC);
	qp(1)->recv_lkey = 0x333;
	clear();
	look(.2);
	tap_eq_str(written(output.log),
		   "rdmaez-explain: receiver[11]: IBV_WC_LOC_PROT_ERR of QP 18 of mlx5_0, a "
		   "receive of 64 bytes, wr_id\n"
		   "    0x4d, likely because the last receive has lkey 0x333: this process has "
		   "never registered memory\n"
		   "    with this key. Next: use the key, the address and the length of a "
		   "registered region.\n",
		   "the text of a receive");
	for (uint32_t status = 0; status < 16; status++) {
		static const char *const names[16] = {
			[1] = "IBV_WC_LOC_LEN_ERR",     [2] = "IBV_WC_LOC_QP_OP_ERR",
			[4] = "IBV_WC_LOC_PROT_ERR",    [9] = "IBV_WC_REM_INV_REQ_ERR",
			[10] = "IBV_WC_REM_ACCESS_ERR", [11] = "IBV_WC_REM_OP_ERR",
			[12] = "IBV_WC_RETRY_EXC_ERR",  [13] = "IBV_WC_RNR_RETRY_EXC_ERR",
		};

		qp(0)->failed_at = 1;
		qp(0)->failed_status = status;
		tap_eq_str(explain_judge_failed(qp(0)), names[status], "status %u", status);
	}
	fail(5, WRITE);
	qp(0)->request[0].rkey = 0x333;
	tells("", "a flush, of which there is no reason");
	qp(0)->failed_at = 0;
	tap_eq_str(explain_judge_failed(qp(0)), NULL, "none that failed");
}

static struct {
	enum explain_occasion occasion;
	bool waits;
	int count;
} before;

static void note_before(const struct explain_output *to, enum explain_occasion occasion, bool waits)
{
	before.occasion = occasion;
	before.waits = waits;
	before.count += to == &output;
}

/* Who wants the states is called first: where something waits, or somebody asks, or all is over. */
static void test_before(void)
{
	explain_judge_before = note_before;
	for (int i = 0; i < 2; i++) {
		fit();
		memset(&before, 0, sizeof(before));
		clear();
		look(LIMIT);
		tap_eq_int(before.count, 0, "nothing waits");
		explain_judge_end(&output, i);
		tap_ok(before.count == 1 && before.occasion == EXPLAIN_AT_END &&
			       before.waits == (i == 1),
		       "the end, %s", i ? "with something that waits" : "which is a good one");
	}
	fit();
	states_of[PROCESS] = states_of[PEER] = '\0';
	look(LIMIT);
	explain_judge_end(&output, true);
	tap_ok(before.count == 2 && before.waits, "it has waited until it was ended");
	fit();
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_ok(before.count == 3 && before.occasion == EXPLAIN_ASKED && !before.waits,
	       "somebody asks at once");
	explain_judge_say(&output, EXPLAIN_QUIET);
	tap_eq_int(before.count, 3, "nobody asks");
	clear();
	look(LIMIT + .4);
	tap_ok(before.count == 4 && before.occasion == EXPLAIN_QUIET && before.waits,
	       "something waits");
	explain_judge_begin(made, share, EXPLAIN_ONLY_KEEPS);
	fit();
	qp(1)->row.gone = 1;
	qp(1)->row.pid = 0;
	clear();
	look(LIMIT);
	tap_eq_int(before.count, 4, "nothing is looked for, where only the states are wanted");
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_ok(before.count == 5 && before.occasion == EXPLAIN_ASKED && before.waits &&
		       !written(output.log)[0],
	       "and nothing said");
	fail(REM_ACCESS, WRITE);
	qp(0)->request[0].rkey = 0x333;
	tells("", "nor of what has failed");
	explain_judge_begin(NULL, share, LIMIT);
	explain_judge_look(&output);
	explain_judge_say(&output, EXPLAIN_ASKED);
	explain_judge_end(&output, true);
	explain_judge_failures(&output);
	tap_ok(before.count == 5 && !written(output.log)[0], "without rows there is nothing");
	explain_judge_before = NULL;
	explain_judge_begin(made, share, 0);
	fit();
	clear();
	look(LIMIT);
	tap_eq_str(written(output.log), "", "without seconds nothing is said by itself");
	fit();
	look(1);
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_eq_str(found(), "", "what is outstanding for less than a second is no finding");
	look(.2);
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_eq_str(found(), NO_ANSWER, "and after a second");
	explain_judge_begin(made, share, LIMIT);
}

/* The rows of a core: who polled ever has looked, and who waits for an event as well. */
static void test_still(void)
{
	explain_judge_begin(made, share, 0);
	for (int i = 0; i < 4; i++) {
		if (i < 2)
			fit();
		else
			wait_for_event();
		is_polled[0] = false;
		cq(0)->polls = i == 0;
		look(.2);
		now += 2 * second;
		if (i == 2)
			made->call[0].since = now;
		if (i == 3)
			made->call[0].since = now + 1;
		explain_judge_still = true;
		clear();
		explain_judge_say(&output, EXPLAIN_ASKED);
		explain_judge_still = false;
		tap_eq_str(found(),
			   i == 0 ? NO_ANSWER
			   : i == 2
				   ? "error:WAIT_NOT_ARMED|the program waits for an event, but has "
				     "never armed the completion queue" ARM
				   : "likely:WAIT_NOT_POLLED|the program has not polled the send "
				     "CQ since it posted the oldest send, so it cannot know what "
				     "has completed|poll it, or arm it and wait for its event",
			   "%s",
			   i == 0   ? "a queue that was polled"
			   : i == 1 ? "one that was never polled"
			   : i == 2 ? "one whose event somebody waits for"
				    : "a call of another moment");
	}
	explain_judge_begin(made, share, LIMIT);
}

/* What others ask for. */
static void test_answers(void)
{
	static const char *const operations[] = {
		"RDMA_WRITE",         "RDMA_WRITE_WITH_IMM",  "SEND", "SEND_WITH_IMM", "RDMA_READ",
		"ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD", NULL};
	static const char *const types_of[17] = {
		[2] = "RC", [3] = "UC", [4] = "UD", [9] = "XRC_SEND", [10] = "XRC_RECV"};
	static const char *const state_names[] = {"RESET", "INIT", "RTR", "RTS",
						  "SQD",   "SQE",  "ERR"};
	static const unsigned int mtus_of[] = {0, 256, 512, 1024, 2048, 4096};
	struct explain_mr_row mr;
	uint64_t done = 0, changed, since;

	for (uint32_t i = 0; i < 8; i++)
		tap_eq_str(explain_judge_operation(i), operations[i], "operation %u", i);
	reset();
	for (uint32_t i = 0; i < 17; i++) {
		qp(0)->type = i;
		tap_eq_str(explain_judge_type(qp(0)), types_of[i], "type %u", i);
	}
	for (uint32_t i = 0; i < 7; i++) {
		qp(0)->state = i;
		tap_eq_str(explain_judge_state(qp(0)), state_names[i], "state %u", i);
	}
	for (uint32_t i = 0; i < 6; i++)
		tap_eq_int(explain_judge_mtu(i), mtus_of[i], "MTU %u", i);
	fail(REM_ACCESS, WRITE);
	made->srq[1].row.pid = PEER;
	made->srq[1].row.version = 2;
	snprintf(made->srq[1].device, sizeof(made->srq[1].device), "mlx5/1");
	qp(1)->srq = 2;
	qp(1)->recvs_done = 7;
	qp(1)->path_mtu = qp(1)->active_mtu = 6;
	qp(1)->port = 256;
	qp(1)->state = 7;
	qp(1)->send_cq = qp(1)->recv_cq = EXPLAIN_CQ_ROWS + 1;
	qp(0)->srq = EXPLAIN_SRQ_ROWS + 1;
	made->mr[1].lkey = 0x444;
	explain_judge_take();
	tap_eq_int((intmax_t)explain_judge_moment(), (intmax_t)now, "the moment");
	tap_ok(explain_judge_qp(0) == &qps[0] && explain_judge_qp(0)->qp_num == 17, "a queue pair");
	tap_eq_ptr(explain_judge_qp(2), NULL, "no queue pair");
	tap_ok(explain_judge_cq(1) == &cqs[1], "a completion queue");
	tap_eq_ptr(explain_judge_cq(4), NULL, "no completion queue");
	tap_ok(explain_judge_srq(1, &done) == &srqs[1] && done == 7, "a shared receive queue");
	tap_eq_str(srqs[1].device, "?", "whose device is none");
	tap_eq_ptr(explain_judge_srq(0, &done), NULL, "no shared receive queue");
	tap_ok(explain_judge_mr(1, &mr) && mr.lkey == 0x444, "a region");
	tap_ok(!explain_judge_mr(2, &mr), "no region");
	tap_ok(!qps[1].path_mtu && !qps[1].active_mtu && !qps[1].port && !qps[1].state &&
		       !qps[1].send_cq && !qps[1].recv_cq && !qps[0].srq,
	       "what is out of bounds is not known");
	qp(1)->path_mtu = qp(1)->active_mtu = 5;
	qp(1)->port = 255;
	qp(1)->state = 6;
	qp(1)->send_cq = qp(1)->recv_cq = EXPLAIN_CQ_ROWS;
	qp(1)->srq = EXPLAIN_SRQ_ROWS;
	explain_judge_take();
	tap_ok(qps[1].path_mtu == 5 && qps[1].active_mtu == 5 && qps[1].port == 255 &&
		       qps[1].state == 6 && qps[1].send_cq == EXPLAIN_CQ_ROWS &&
		       qps[1].recv_cq == EXPLAIN_CQ_ROWS && qps[1].srq == EXPLAIN_SRQ_ROWS,
	       "and what is just within them is");
	cq(0)->armed = 2;
	cq(0)->events = 2;
	cq(0)->events_at = 1;
	tap_ok(!explain_judge_armed(cq(0)), "a queue whose event has come");
	cq(0)->events_at = 2;
	tap_ok(explain_judge_armed(cq(0)), "one that was armed after it");
	cq(0)->armed = 0;
	tap_ok(!explain_judge_armed(cq(0)), "one that was never armed");
	fit();
	look(1);
	qp(0)->recvs = 1;
	look(.2);
	done = now;
	look(1);
	explain_judge_seen(0, &changed, &since);
	tap_ok(changed == done && since == done - second, "since when it is so");
}

static void test_machine(const struct explain_sight *machine)
{
	char text[8], name_of_file[] = "/tmp/judge.XXXXXX", longer[400];
	const int file = mkstemp(name_of_file);
	struct rusage usage;
	uint64_t at, used;
	siginfo_t ended;
	pid_t child;

	at = machine->now_ns();
	usleep(1000);
	used = machine->now_ns() - at;
	tap_ok(used >= 1000000 && used < 60 * second, "a millisecond passes");
	prctl(PR_SET_NAME, "a) b (c");
	tap_eq_int(machine->state_of(getpid()), 'R', "this process runs");
	do {
		getrusage(RUSAGE_SELF, &usage);
		used = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
		       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
	} while (used < 100);
	at = machine->time_of(getpid());
	tap_ok(at + 50 > used && at < used + 50, "what it has used");
	tap_ok(machine->has_thread(getpid(), getpid()), "its thread");
	tap_ok(!machine->has_thread(getpid(), getppid()), "and none of another process");
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	kill(child, SIGSTOP);
	waitpid(child, NULL, WUNTRACED);
	tap_eq_int(machine->state_of(child), 'T', "a process that is stopped");
	kill(child, SIGKILL);
	waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT);
	tap_eq_int(machine->state_of(child), '\0', "one that has ended");
	waitpid(child, NULL, 0);
	tap_eq_int(machine->state_of(child), '\0', "and is no more");
	tap_eq_int((intmax_t)machine->time_of(child), 0, "which has used nothing");
	if (file < 0 || write(file, "one two\nthree\n", 14) != 14)
		tap_bail("cannot write a file");
	tap_ok(read_file(name_of_file, text, sizeof(text)) && !strcmp(text, "one two"),
	       "the first line of a file");
	tap_ok(read_file(name_of_file, text, 4) && !strcmp(text, "one"), "as far as it has room");
	snprintf(longer, sizeof(longer), "/proc/self/fd/%d", file);
	tap_ok(!read_file(longer, text, sizeof(text)), "no other file, by a link");
	tap_ok(!read_file("/tmp", text, sizeof(text)), "no directory");
	unlink(name_of_file);
	tap_ok(!read_file(name_of_file, text, sizeof(text)), "no file");
	close(file);
	tap_ok(!machine->read("none/ports/1/state", text, sizeof(text)), "no device");
	memset(longer, '/', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	tap_ok(!machine->read(longer, text, sizeof(text)), "no path that is too long");
}

/* Nine that are alike are told of once. */
static void test_alike(void)
{
	fit();
	for (unsigned int i = 2; i < 10; i++) {
		make_qp(i, PROCESS, 100 + i, 200 + i);
		qp(i)->send_cq = 1;
		qp(i)->recv_cq = 2;
		qp(i)->signaled = qp(i)->sends = 1;
		memcpy(qp(i)->request, qp(0)->request, sizeof(qp(0)->request));
	}
	clear();
	look(LIMIT + .4);
	tap_ok(strstr(written(output.log), "The same holds for 8 more of its queue pairs.") != NULL,
	       "what is alike is said once");
	reset();
	for (unsigned int i = 0; i < 66; i++) {
		make_qp(i, 100 + (int)i, 17, 99);
		qp(i)->sends = qp(i)->signaled = 1;
	}
	name(&share->process[2], 100, "a\"b\\c");
	clear();
	look(.2);
	explain_judge_say(&output, EXPLAIN_ASKED);
	tap_eq_int(count_of(written(output.log), "rdmaez-explain: "), 64, "of 66, 64 are told of");
	tap_ok(!strncmp(written(output.json), "{\"program\":\"a_b_c\",\"pid\":100,", 29),
	       "a name that JSON could not hold");
}

int main(void)
{
	share = calloc(1, sizeof(*share));
	made = calloc(1, sizeof(*made));
	output.log = memfd_create("log", 0);
	output.json = memfd_create("json", 0);
	if (!share || !made || output.log < 0 || output.json < 0)
		tap_bail("no memory");
	test_machine(&explain_sight);
	explain_sight = (struct explain_sight){clock_of_test, state_in_test, time_in_test,
					       thread_in_test, read_in_test};
	explain_judge_begin(made, share, LIMIT);
	test_process();
	test_ends_with_it();
	test_held();
	test_gids();
	test_connection();
	test_requests();
	test_ports();
	test_receives();
	test_counters();
	test_many_ports();
	test_patience();
	test_events();
	test_stall();
	test_queues();
	test_other_queues();
	test_dropped();
	test_receivers();
	test_lost();
	test_unpolled();
	test_datagrams();
	test_addresses();
	test_calls();
	test_call_texts();
	test_failed_regions();
	test_same_keys();
	test_oldest();
	test_failed_peers();
	test_failed_types();
	test_failed_receives();
	test_silence();
	test_sleep();
	test_polled();
	test_once();
	test_text();
	test_findings();
	test_plain();
	test_failed_texts();
	test_before();
	test_still();
	test_answers();
	test_alike();
	return tap_done();
}
