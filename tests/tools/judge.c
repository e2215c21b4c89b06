/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez-explain --waiting says of rows that are made here: each sentence, and where each begins. explain_judge.t
 * compiles it. Two queue pairs that fit are QP 17 of process 10 and QP 18 of process 11; each case changes what differs,
 * and expects all that is found, as severity, reason, sentence and advice. Seconds are those of a clock made here.
 */
#include <sys/mman.h>

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
static const char *gid_of_port, *state_of_port, *device_of_port;

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
	return pid && tid;
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
	if (!strstr(path, "/gids/0") || !gid_of_port)
		return false;
	snprintf(text, size, "%s", gid_of_port);
	return true;
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
	growing = gid_of_port = state_of_port = NULL;
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

static void test_datagrams(void)
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
	finds("likely:WAIT_QKEY|QP 17, of sender[10], sends datagrams to it with the Q_Key 0x11, "
	      "and this one has 0x22, so they are dropped, and neither end gets an error|send with "
	      "the Q_Key that the receiving queue pair has",
	      "Q_Keys that differ");
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
}

int main(void)
{
	share = calloc(1, sizeof(*share));
	made = calloc(1, sizeof(*made));
	output.log = memfd_create("log", 0);
	output.json = memfd_create("json", 0);
	if (!share || !made || output.log < 0 || output.json < 0)
		tap_bail("no memory");
	explain_sight = (struct explain_sight){clock_of_test, state_in_test, time_in_test,
					       thread_in_test, read_in_test};
	explain_judge_begin(made, share, LIMIT);
	test_process();
	test_ends_with_it();
	test_held();
	test_connection();
	test_requests();
	test_ports();
	test_receives();
	test_patience();
	test_events();
	test_stall();
	test_queues();
	test_dropped();
	test_lost();
	test_unpolled();
	test_datagrams();
	test_calls();
	test_failed_regions();
	test_failed_peers();
	test_failed_types();
	test_failed_receives();
	test_silence();
	test_sleep();
	test_polled();
	test_once();
	test_text();
	test_alike();
	return tap_done();
}
