/* SPDX-License-Identifier: MIT */
/*
 * What happens to a connection: packets are lost, doubled or late, a link goes down, a peer dies or stops, an address
 * vanishes, somebody else answers. Each time this end gets to know why, in time; and afterwards the connection is up again, and what was lost is
 * sent again.
 *
 * tests/device/ends.t runs the parts that it names on two devices. Without a name this runs what one device can do.
 */
#define _GNU_SOURCE /* nanosleep(), kill() and popen() */

#include "ends.h"

enum {
	MESSAGES = 60,       /* that show that data flows again, each way */
	PATIENCE = 300000000 /* nanoseconds to wait for who says nothing */
};

/* How long it took to explain a fault, and to have data flow again. */
static void took(const char *what, unsigned int explained, unsigned int again)
{
	tap_diag("time: %-44s explained after %5u ms, data again after %5u ms", what, explained,
		 again);
}

/* The first finding of a refusal is this. */
static void refused(const struct end *end, int error, int want, enum rdmaez_why reason,
		    const char *what)
{
	const struct rdmaez_diag *diag = &end->diag;

	tap_eq_int(error == EPIPE ? ECONNRESET : error, want, "%s: the error is told", what);
	if (!tap_ok(diag->count && diag->finding[0].reason == reason, "%s: and why: %s", what,
		    rdmaez_why_id(reason)))
		show_record(diag);
	tap_ok(record_tells_all(diag) && record_is_consistent(diag), "%s: in words", what);
}

/* A request has failed with this status, and this is among the causes. */
static void failed(struct end *end, enum ibv_wc_status status, enum rdmaez_why reason,
		   const char *what)
{
	const struct ibv_wc *first = &end->errors.first;

	tap_eq_int(first->status, status, "%s: a request fails: %s", what,
		   ibv_wc_status_str(status));
	tap_eq_int(rdmaez_wc_explain_qp(first, end->it.qp, &end->diag), 0,
		   "%s: the queue pair is asked why", what);
	if (!tap_ok(rdmaez_diag_find(&end->diag, reason), "%s: %s is among the causes", what,
		    rdmaez_why_id(reason)))
		show_record(&end->diag);
	tap_ok(record_tells_all(&end->diag), "%s: in words", what);
}

/* Moves all that both ends have to send; then neither goes before the other has its last acknowledgement. */
static bool move(struct end *end, int socket)
{
	const bool in_time = ends_flow(end, UINT64_MAX);

	if (ends_failed(end))
		ends_wrong(end, "message %llu: %s", (unsigned long long)end->errors.first.wr_id,
			   ibv_wc_status_str(end->errors.first.status));
	if (!in_time)
		ends_wrong(end, "sent %llu, %llu done, of %llu; %llu arrived of %llu",
			   (unsigned long long)end->posted, (unsigned long long)end->acked,
			   (unsigned long long)end->own.target, (unsigned long long)end->own.got,
			   (unsigned long long)end->peer.target);
	if (in_time && !ends_failed(end) &&
	    rdmaez_exchange_barrier(socket, NULL, ENDS_LONG, &end->diag)) {
		ends_wrong(end, "no barrier after the data");
		show_record(&end->diag);
	}
	return end->wrong == 0;
}

/* Something that a peer must be able to do: tells why it cannot. */
static bool fine(struct end *end, int error, const char *what)
{
	if (!error)
		return true;
	ends_wrong(end, "%s: %s", what, strerror(error));
	show_record(&end->diag);
	return false;
}

/* A peer that works, and waits for the next connection after each: so many. */
static int serve(int socket, int sessions)
{
	struct end end;

	ends_open(&end, 1);
	fine(&end, ends_local(&end), "its endpoint");
	for (int i = 0; i < sessions && !end.wrong; i++) {
		ends_restart(&end, MESSAGES);
		if (fine(&end, ends_connect(&end, socket, ENDS_LONG), "connecting") &&
		    move(&end, socket))
			fine(&end, ends_recover(&end), "recovering");
	}
	ends_close(&end);
	return end.wrong;
}

/* Connects with such a peer after something has gone wrong, and moves data. `since`: when it has. */
static unsigned int again(struct end *end, const struct peer *peer, uint64_t since,
			  const char *what)
{
	unsigned int ms;
	int error = ends_recover(end);

	if (!tap_eq_int(error, 0, "%s: the queue pair is recovered", what))
		show_record(&end->diag);
	ends_restart(end, MESSAGES);
	error = ends_connect(end, peer->socket, ENDS_LONG);
	if (!tap_eq_int(error, 0, "%s: and connected", what))
		show_record(&end->diag);
	ends_flow(end, 1);
	ms = ends_ms(since);
	tap_ok(!error && move(end, peer->socket), "%s: and moves correct data", what);
	return ms;
}

/* ---- Packets that are lost, doubled, or late ------------------------------------------------- */

enum {
	ROUGH_MESSAGES = 400
};

/* What netem does to the packets of both ends, and the counter of rxe that has noticed; of loss there is netem's own. */
struct rough {
	const char *what, *netem, *counter;
	int port; /* for TCP */
};

static int endure_rough(int socket, int port)
{
	struct end end;
	char text[16];
	int tcp;

	(void)socket;
	snprintf(text, sizeof(text), "%d", port);
	ends_open(&end, 1);
	end.opts.timeout = 14;
	end.opts.retry_cnt = 7; /* for rxe: without end */
	ends_restart(&end, ROUGH_MESSAGES);
	if (fine(&end, ends_local(&end), "its endpoint") &&
	    fine(&end, rdmaez_exchange_open("127.0.0.1", text, ENDS_LONG, &tcp, &end.diag),
		 "opening") &&
	    fine(&end, ends_connect(&end, tcp, ENDS_LONG), "connecting"))
		move(&end, tcp);
	ends_close(&end);
	return end.wrong;
}

/* How many packets this interface has been made to lose. */
static unsigned long dropped(const char *netdev)
{
	unsigned long count = 0;
	char command[64], line[256];
	FILE *tc;

	snprintf(command, sizeof(command), "tc -s qdisc show dev %s", netdev);
	tc = popen(command, "r");
	rig_need(tc, "popen");
	while (fgets(line, sizeof(line), tc))
		if (strstr(line, "dropped "))
			sscanf(strstr(line, "dropped "), "dropped %lu", &count);
	pclose(tc);
	return count;
}

/* What both devices have counted. */
static unsigned long counted(const char *counter)
{
	unsigned long sum = 0, count;
	char path[128];
	FILE *file;

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/rxe%d/ports/1/hw_counters/%s",
			 i, counter);
		file = fopen(path, "r");
		rig_need(file, path);
		if (fscanf(file, "%lu", &count) == 1)
			sum += count;
		fclose(file);
	}
	return sum;
}

static unsigned long noticed(const struct rough *rough)
{
	return rough->counter ? counted(rough->counter) : dropped("veth0") + dropped("veth1");
}

/*
 * Since Linux 6.12 rxe takes an old ACK amid the responses of a READ for an error: check_psn() and check_ack(). Its queue
 * pair fails, or its READ lacks data.
 */
static void test_rough(const struct rough *rough)
{
	const char *what = rough->what;
	unsigned long before;
	struct peer peer;
	struct end end;
	char text[16];
	uint64_t since;
	int error, tcp;

	ends_kinds = rig_linux() < 612 ? 3 : 2;
	peer = peer_start(endure_rough, rough->port);
	snprintf(text, sizeof(text), "%d", rough->port);
	for (int i = 0; i < 2; i++)
		ends_run("tc qdisc replace dev veth%d root netem %s", i, rough->netem);
	before = noticed(rough);
	ends_open(&end, 0);
	end.opts.timeout = 14;
	end.opts.retry_cnt = 7;
	ends_restart(&end, ROUGH_MESSAGES);
	error = ends_local(&end);
	if (!error)
		error = rdmaez_exchange_open(NULL, text, ENDS_LONG, &tcp, &end.diag);
	if (!error)
		error = ends_connect(&end, tcp, ENDS_LONG);
	if (!tap_eq_int(error, 0, "%s: two ends meet over TCP and connect", what))
		show_record(&end.diag);
	since = ends_now();
	tap_ok(!error && move(&end, tcp), "%s: all %d messages arrive in order", what,
	       ROUGH_MESSAGES);
	tap_diag("time: %s: %d messages each way in %u ms", what, ROUGH_MESSAGES, ends_ms(since));
	tap_eq_int(peer_wait(&peer), 0, "%s: and those to the peer", what);
	tap_ok(noticed(rough) > before, "%s: so it was, %lu times", what, noticed(rough) - before);
	for (int i = 0; i < 2; i++)
		ends_run("tc qdisc del dev veth%d root", i);
	close(tcp);
	ends_close(&end);
	ends_kinds = 3;
}

static void test_roughs(void)
{
	static const struct rough roughs[] = {
		{"1 % loss", "loss 1%", NULL, 18501},
		{"5 % loss", "loss 5%", NULL, 18505},
		{"duplicates", "duplicate 30%", "duplicate_request", 18506},
		{"packets out of order", "delay 2ms reorder 75% gap 5", "out_of_seq_request",
		 18507},
		{"lost, doubled and out of order", "delay 2ms 1ms loss 1% duplicate 10%",
		 "out_of_seq_request", 18508},
	};

	for (size_t i = 0; i < sizeof(roughs) / sizeof(roughs[0]); i++)
		test_rough(&roughs[i]);
}

/* ---- A link or an address that goes and comes ------------------------------------------------ */

/* Sends until that fails; then recovers, and sends the rest. */
static int endure(int socket, int arg)
{
	struct end end;

	(void)arg;
	ends_open(&end, 1);
	ends_restart(&end, UINT64_MAX);
	if (fine(&end, ends_local(&end), "its endpoint") &&
	    fine(&end, ends_connect(&end, socket, ENDS_LONG), "connecting")) {
		if (!ends_flow(&end, UINT64_MAX))
			ends_wrong(&end, "it does not fail");
		fine(&end, ends_recover(&end), "recovering");
		end.own.target = end.acked + MESSAGES;
		ends_tell(&end);
		if (fine(&end, ends_connect(&end, socket, ENDS_LONG), "connecting again"))
			move(&end, socket);
	}
	ends_close(&end);
	return end.wrong;
}

/* What is done while data flows, and what is said of it. */
struct fault {
	const char *what, *broken, *mended;
	enum ibv_wc_status status;
	enum rdmaez_why reason;
};

/* Moves data, breaks something, wants to know why, mends it, and goes on where it was. */
static void test_break(const struct fault *fault)
{
	const char *what = fault->what;
	struct peer peer = peer_start(endure, 0);
	unsigned int explained;
	uint64_t since, got, posted;
	struct end end;
	int error;

	ends_open(&end, 0);
	ends_restart(&end, UINT64_MAX);
	error = ends_local(&end);
	if (!error)
		error = ends_connect(&end, peer.socket, ENDS_LONG);
	if (!tap_eq_int(error, 0, "%s: two ends are connected", what))
		show_record(&end.diag);
	tap_ok(ends_flow(&end, MESSAGES) && !ends_failed(&end), "%s: data flows", what);
	ends_run("%s", fault->broken);
	since = ends_now();
	tap_ok(ends_flow(&end, UINT64_MAX) && ends_failed(&end), "%s: then no more", what);
	failed(&end, fault->status, fault->reason, what);
	explained = ends_ms(since);
	ends_run("%s", fault->mended);
	since = ends_now();
	error = ends_recover(&end);
	if (!tap_eq_int(error, 0, "%s: the queue pair is recovered", what))
		show_record(&end.diag);
	end.own.target = end.acked + MESSAGES;
	ends_tell(&end);
	got = end.own.got;
	posted = end.posted;
	error = ends_connect(&end, peer.socket, ENDS_LONG);
	if (!tap_eq_int(error, 0, "%s: and connected again", what))
		show_record(&end.diag);
	tap_diag("%s: %llu messages were not acknowledged; the peer had %llu of them", what,
		 (unsigned long long)(posted - end.acked),
		 (unsigned long long)(end.peer.got > end.acked ? end.peer.got - end.acked : 0));
	ends_flow(&end, got + 1);
	took(what, explained, ends_ms(since));
	tap_ok(!error && move(&end, peer.socket), "%s: it goes on where it was", what);
	tap_eq_int(peer_wait(&peer), 0, "%s: so does the peer", what);
	ends_close(&end);
}

static void test_breaks(void)
{
	/* Where it has no route for a packet: finish_packet() and rxe_completer(). */
	const enum ibv_wc_status no_route =
		rig_linux() < 612 ? IBV_WC_LOC_QP_OP_ERR : IBV_WC_WR_FLUSH_ERR;
	const struct fault faults[] = {
		{"the peer's interface down", "ip link set veth1 down", "ip link set veth1 up",
		 IBV_WC_RETRY_EXC_ERR, RDMAEZ_WHY_PORT_DOWN},
		{"the own interface down", "ip link set veth0 down", "ip link set veth0 up",
		 no_route, RDMAEZ_WHY_PORT_DOWN},
		{"the own address gone", "ip address del 192.0.2.1/24 dev veth0",
		 "ip address add 192.0.2.1/24 dev veth0", no_route, RDMAEZ_WHY_GID_EMPTY},
		{"the peer's address gone", "ip address del 192.0.2.2/24 dev veth1",
		 "ip address add 192.0.2.2/24 dev veth1", IBV_WC_RETRY_EXC_ERR,
		 RDMAEZ_WHY_WC_RETRIES},
		{"the peer's address another", "ip address del 192.0.2.2/24 dev veth1",
		 "ip address add 192.0.2.3/24 dev veth1", IBV_WC_RETRY_EXC_ERR,
		 RDMAEZ_WHY_WC_RETRIES}};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		test_break(&faults[i]);
	ends_run("ip address del 192.0.2.3/24 dev veth1");
	ends_run("ip address add 192.0.2.2/24 dev veth1");
}

/* ---- An address that goes between choosing and connecting ------------------------------------ */

/* Connects, and if that fails, recovers and tries again. */
static int insist(int socket, int arg)
{
	struct end end;
	int error;

	(void)arg;
	ends_open(&end, 1);
	end.opts.retry_ns = 0;
	ends_restart(&end, MESSAGES);
	fine(&end, ends_local(&end), "its endpoint");
	send(socket, "", 1, MSG_NOSIGNAL);
	error = ends_connect(&end, socket, ENDS_LONG);
	if (!error)
		ends_wrong(&end, "it connects without an address");
	fine(&end, ends_recover(&end), "recovering");
	if (fine(&end, ends_connect(&end, socket, ENDS_LONG), "connecting again"))
		move(&end, socket);
	ends_close(&end);
	return end.wrong;
}

/* Whether one of a device's GIDs is the address 192.0.2.N. */
static bool has_gid(int device, int last)
{
	char path[128], line[64], want[64];
	bool found = false;

	snprintf(want, sizeof(want), "0000:0000:0000:0000:0000:ffff:c000:02%02x\n", last);
	for (int i = 0; i < 8 && !found; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "/sys/class/infiniband/rxe%d/ports/1/gids/%d", device,
			 i);
		file = fopen(path, "r");
		found = file && fgets(line, sizeof(line), file) && strcmp(line, want) == 0;
		if (file)
			fclose(file);
	}
	return found;
}

/* The address of this end's or the peer's device goes once both have told it. */
static void test_stale_gid(int device, int want, enum rdmaez_why reason)
{
	const char *what = device ? "the peer's address gone before connecting"
				  : "the own address gone before connecting";
	struct peer peer = peer_start(insist, 0);
	unsigned int explained;
	uint64_t begun;
	struct end end;
	char byte;
	int error;

	ends_open(&end, 0);
	end.opts.retry_ns = 0;
	ends_restart(&end, MESSAGES);
	error = ends_local(&end);
	tap_eq_int(error, 0, "%s: there is an endpoint", what);
	tap_eq_int(recv(peer.socket, &byte, 1, 0), 1, "%s: and one of the peer", what);
	ends_run("ip address del 192.0.2.%d/24 dev veth%d", device + 1, device);
	ends_run("ip neighbour flush dev veth%d", !device);
	RIG_UNTIL(!has_gid(device, device + 1));
	begun = ends_now();
	error = ends_connect(&end, peer.socket, ENDS_LONG);
	explained = ends_ms(begun);
	refused(&end, error, want, reason, what);
	ends_run("ip address add 192.0.2.%d/24 dev veth%d", device + 1, device);
	RIG_UNTIL(has_gid(device, device + 1));
	begun = ends_now();
	error = ends_recover(&end);
	if (!error)
		error = ends_connect(&end, peer.socket, ENDS_LONG);
	if (!tap_eq_int(error, 0, "%s: it connects by a new endpoint", what))
		show_record(&end.diag);
	ends_flow(&end, 1);
	took(what, explained, ends_ms(begun));
	tap_ok(!error && move(&end, peer.socket), "%s: and moves correct data", what);
	tap_eq_int(peer_wait(&peer), 0, "%s: so does the peer", what);
	ends_close(&end);
}

/* ---- A peer that is killed or stopped -------------------------------------------------------- */

enum step {
	UNHEARD,
	TALKING,
	EXCHANGED,
	IN_INIT,
	IN_RTR,
	IN_RTS,
	IN_DATA,
	DRAINING,
	STEPS
};

/* The message that rdmaez_exchange() sends. */
static size_t message(const struct rdmaez_endpoint *local, uint8_t *bytes, size_t size)
{
	struct rdmaez_endpoint remote;
	ssize_t got = 0;
	int sockets[2];

	/* However slow the machine is, one of these times is enough to send it. */
	for (uint64_t ms = 20; got < RDMAEZ_ENDPOINT_BYTES; ms *= 2) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
			tap_bail("socketpair: %s", strerror(errno));
		rdmaez_exchange(sockets[0], local, &remote, ms * 1000000u, NULL);
		got = recv(sockets[1], bytes, size, MSG_DONTWAIT);
		close(sockets[0]);
		close(sockets[1]);
	}
	return (size_t)got;
}

/* Goes as far as a step, where it sends a signal to itself, and no further: `step + STEPS * signal`. */
static int end_at(int socket, int arg)
{
	const int step = arg % STEPS, by = arg / STEPS;
	struct rdmaez_qp_opts agreed;
	struct rdmaez_drain drain;
	uint8_t bytes[1024];
	struct end end;
	bool good;

	if (step == UNHEARD)
		kill(getpid(), by);
	ends_open(&end, 1);
	end.opts.min_rnr_timer = 28; /* 164 ms: so slow may a machine be while data flows */
	ends_restart(&end, UINT64_MAX);
	good = fine(&end, ends_local(&end), "its endpoint");
	if (step == TALKING) {
		good = good && send(socket, bytes, message(&end.local, bytes, sizeof(bytes)) / 2,
				    MSG_NOSIGNAL) > 0;
	} else if (step < IN_DATA) {
		good = good &&
		       fine(&end,
			    rdmaez_exchange(socket, &end.local, &end.remote, ENDS_LONG, &end.diag),
			    "exchange");
		good = good && fine(&end,
				    rdmaez_endpoint_negotiate(&end.local, &end.remote, &end.opts,
							      &agreed, &end.diag),
				    "negotiating");
		if (step >= IN_INIT)
			good = good && fine(&end, ends_init(&end), "INIT");
		if (step >= IN_RTR)
			good = good &&
			       fine(&end, rdmaez_qp_to_rtr(end.it.qp, &agreed, &end.diag), "RTR");
		if (step >= IN_RTS)
			good = good &&
			       fine(&end, rdmaez_qp_to_rts(end.it.qp, &agreed, &end.diag), "RTS");
	} else {
		good = good && fine(&end, ends_connect(&end, socket, ENDS_LONG), "connecting");
		good = good && ends_flow(&end, MESSAGES);
		if (step == DRAINING)
			good = good &&
			       fine(&end, rdmaez_drain_begin(end.it.qp, NULL, &drain, &end.diag),
				    "draining");
	}
	if (good)
		kill(getpid(), by);
	return 1;
}

static void test_end(int by)
{
	static const char *const names[STEPS] = {"before the exchange",
						 "in the middle of its message",
						 "after the exchange",
						 "in INIT",
						 "in RTR",
						 "in RTS",
						 "in the middle of data",
						 "while it drains"};
	const bool stop = by == SIGSTOP;
	const char *word = stop ? "stopped" : "killed";
	struct pollfd ready = {.events = POLLIN};
	struct peer victim[STEPS], server;
	unsigned int explained;
	uint64_t since;
	struct end end;
	int error, status;
	char what[64];

	for (int step = 0; step < STEPS; step++)
		victim[step] = peer_start(end_at, step + STEPS * by);
	server = peer_start(serve, STEPS);
	ends_open(&end, 0);
	error = ends_local(&end);
	tap_eq_int(error, 0, "%s: there is an endpoint", word);
	for (int step = 0; step < STEPS; step++) {
		snprintf(what, sizeof(what), "%s %s", word, names[step]);
		ends_restart(&end, UINT64_MAX);
		end.opts.rnr_retry = 3;
		ready.fd = victim[step].socket;
		if (stop && step != UNHEARD && step < IN_DATA)
			poll(&ready, 1,
			     -1); /* a slow machine's peer says nothing for a while, too */
		since = ends_now();
		error = ends_connect(&end, victim[step].socket,
				     stop && step < IN_DATA ? PATIENCE : ENDS_LONG);
		if (step < IN_DATA) {
			explained = ends_ms(since);
			if (stop)
				refused(&end, error, ETIMEDOUT,
					step == TALKING ? RDMAEZ_WHY_EXCHANGE_PART
							: RDMAEZ_WHY_EXCHANGE_SILENT,
					what);
			else
				refused(&end, error, ECONNRESET, RDMAEZ_WHY_EXCHANGE_CLOSED, what);
		} else {
			tap_eq_int(error, 0, "%s: before that it connects", what);
			tap_ok(ends_flow(&end, MESSAGES), "%s: data flows", what);
			since = ends_now();
			tap_ok(ends_flow(&end, UINT64_MAX), "%s: and ends", what);
			if (stop &&
			    step == IN_DATA) /* its queue pair lives, and nobody posts receives */
				failed(&end, IBV_WC_RNR_RETRY_EXC_ERR, RDMAEZ_WHY_WC_RNR, what);
			else
				failed(&end, IBV_WC_RETRY_EXC_ERR, RDMAEZ_WHY_WC_RETRIES, what);
			explained = ends_ms(since);
			error = rdmaez_exchange_barrier(victim[step].socket, NULL,
							stop ? PATIENCE : ENDS_LONG, &end.diag);
			if (stop)
				refused(&end, error, ETIMEDOUT, RDMAEZ_WHY_EXCHANGE_SILENT, what);
			else
				refused(&end, error, ECONNRESET, RDMAEZ_WHY_EXCHANGE_CLOSED, what);
		}
		if (stop)
			tap_ok(waitpid(victim[step].pid, &status, WUNTRACED) == victim[step].pid &&
				       WIFSTOPPED(status) && !kill(victim[step].pid, SIGKILL),
			       "%s: the peer was", what);
		tap_eq_int(peer_wait(&victim[step]), 128 + SIGKILL, "%s: the peer is gone", what);
		end.opts.rnr_retry = 7;
		since = ends_now();
		took(what, explained, again(&end, &server, since, what));
		ends_recover(&end);
	}
	tap_eq_int(peer_wait(&server), 0, "%s: the peer that works has seen nothing wrong", word);
	ends_close(&end);
}

/* ---- Somebody else on the socket ------------------------------------------------------------- */

enum stranger {
	SILENT,
	HTTP,
	NOISE,
	PART,
	CHANGED,
	OTHER_TYPE,
	INFINIBAND,
	NO_QP,
	STRANGERS
};

/* Tells of a queue pair that does not exist, and is ready. */
static void pretend(struct end *end, int socket)
{
	struct rdmaez_exchange_ready ready = {0};

	end->local.qp_num ^= 0x8000;
	if (fine(end, rdmaez_exchange(socket, &end->local, &end->remote, ENDS_LONG, &end->diag),
		 "exchange")) {
		ready.identity = end->local.nonce + end->remote.nonce;
		fine(end, rdmaez_exchange_barrier(socket, &ready, ENDS_LONG, &end->diag),
		     "barrier");
	}
}

static int answer(int socket, int stranger)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n";
	uint8_t bytes[1024];
	size_t length;
	struct end end;

	if (stranger == HTTP) {
		send(socket, http, strlen(http), MSG_NOSIGNAL);
	} else if (stranger == NOISE) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(i * i * 31 + i * 7 + 5);
		send(socket, bytes, sizeof(bytes), MSG_NOSIGNAL);
	} else if (stranger != SILENT) {
		ends_open(&end, 1);
		ends_restart(&end, MESSAGES);
		if (!fine(&end, ends_local(&end), "its endpoint"))
			return 1;
		if (stranger == OTHER_TYPE)
			end.local.qp_type = IBV_QPT_UC;
		if (stranger == INFINIBAND) {
			end.local.link_layer = IBV_LINK_LAYER_INFINIBAND;
			end.local.lid = 7;
		}
		length = message(&end.local, bytes, sizeof(bytes));
		if (stranger == CHANGED)
			bytes[length / 2] ^= 1;
		if (stranger == NO_QP)
			pretend(&end, socket);
		else
			send(socket, bytes, stranger == PART ? length / 2 : length, MSG_NOSIGNAL);
		ends_close(&end);
	}
	while (recv(socket, bytes, sizeof(bytes), 0) > 0)
		continue;
	return 0;
}

static void test_strangers(void)
{
	static const struct {
		const char *name;
		int error;
		enum rdmaez_why reason;
	} cases[STRANGERS] = {
		{"a silent peer", ETIMEDOUT, RDMAEZ_WHY_EXCHANGE_SILENT},
		{"a browser", EBADMSG, RDMAEZ_WHY_EXCHANGE_FOREIGN},
		{"noise", EBADMSG, RDMAEZ_WHY_EXCHANGE_FOREIGN},
		{"half a message", ETIMEDOUT, RDMAEZ_WHY_EXCHANGE_PART},
		{"a changed message", EINVAL, RDMAEZ_WHY_ENDPOINT_SUM},
		{"a UC queue pair", EINVAL, RDMAEZ_WHY_ENDPOINT_QP_TYPES},
		{"an InfiniBand port", EINVAL, RDMAEZ_WHY_ENDPOINT_LINK_LAYERS},
		{"a queue pair that does not exist", 0, RDMAEZ_WHY_WC_RETRIES},
	};
	struct peer stranger[STRANGERS], server;
	unsigned int explained;
	uint64_t since;
	struct end end;
	int error;

	for (int i = 0; i < STRANGERS; i++)
		stranger[i] = peer_start(answer, i);
	server = peer_start(serve, STRANGERS);
	ends_open(&end, 0);
	error = ends_local(&end);
	tap_eq_int(error, 0, "strangers: there is an endpoint");
	for (int i = 0; i < STRANGERS; i++) {
		const char *what = cases[i].name;
		const bool late = cases[i].error == ETIMEDOUT;
		struct pollfd ready = {.fd = stranger[i].socket, .events = POLLIN};

		ends_restart(&end, MESSAGES);
		if (i != SILENT)
			poll(&ready, 1, -1); /* its machine may be slow: that is another matter */
		since = ends_now();
		error = ends_connect(&end, stranger[i].socket, i == NO_QP ? ENDS_LONG : PATIENCE);
		explained = ends_ms(since);
		if (cases[i].error) {
			refused(&end, error, cases[i].error, cases[i].reason, what);
			tap_ok(!late || explained >= 300, "%s: not before its time", what);
		} else {
			tap_eq_int(error, 0, "%s: is connected with", what);
			tap_ok(ends_flow(&end, UINT64_MAX), "%s: but", what);
			failed(&end, IBV_WC_RETRY_EXC_ERR, cases[i].reason, what);
			explained = ends_ms(since);
		}
		tap_ok(explained < 30000, "%s: within its time", what);
		since = ends_now();
		took(what, explained, again(&end, &server, since, what));
		shutdown(stranger[i].socket, SHUT_RDWR);
		tap_eq_int(peer_wait(&stranger[i]), 0, "%s: it was as it should be", what);
		ends_recover(&end);
	}
	tap_eq_int(peer_wait(&server), 0, "strangers: the peer that works has seen nothing wrong");
	ends_close(&end);
}

/* ---- Again and again ------------------------------------------------------------------------- */

/* Creates, connects and destroys a queue pair so many times; each sends one message. */
static int churn(struct end *end, int socket, int times)
{
	const struct rdmaez_drain_opts discard = {.flags = RDMAEZ_DRAIN_DISCARD};
	struct rdmaez_endpoint port;

	if (!fine(end, rdmaez_qp_destroy(end->it.qp, NULL, NULL, &end->diag), "destroying"))
		return end->wrong;
	end->it.qp = NULL;
	if (!fine(end, rdmaez_endpoint_port(end->it.context, &end->opts, &port, &end->diag),
		  "the port's endpoint"))
		return end->wrong;
	for (int i = 0; i < times && !end->wrong; i++) {
		struct ibv_qp_init_attr init = end->init;

		init.send_cq = end->it.send_cq;
		init.recv_cq = end->it.recv_cq;
		if (!fine(end, rdmaez_qp_create(end->it.pd, &init, &end->it.qp, &end->diag),
			  "creating"))
			break;
		end->local = port;
		fine(end, rdmaez_endpoint_set_qp(&end->local, end->it.qp, &end->diag),
		     "its endpoint");
		ends_restart(end, 1);
		if (fine(end, ends_connect(end, socket, ENDS_LONG), "connecting") &&
		    move(end, socket)) {
			end->closing = true;
			fine(end, rdmaez_qp_destroy(end->it.qp, &discard, NULL, &end->diag),
			     "destroying");
			end->it.qp = NULL;
		}
	}
	return end->wrong;
}

static int churn_peer(int socket, int times)
{
	struct end end;

	ends_open(&end, 1);
	churn(&end, socket, times);
	ends_close(&end);
	return end.wrong;
}

/* What all processes have of all devices, and this one of files. */
static void resources(char *text, size_t size)
{
	FILE *rdma = popen("rdma resource show; ls /proc/$PPID/fd | wc -l", "r");
	size_t got;

	rig_need(rdma, "popen");
	got = fread(text, 1, size - 1, rdma);
	text[got] = '\0';
	pclose(rdma);
}

static void test_churn(int times)
{
	static char before[4096], after[4096];
	struct peer peer;
	uint64_t since;
	struct end end;

	resources(before, sizeof(before));
	peer = peer_start(churn_peer, times);
	ends_open(&end, 0);
	since = ends_now();
	tap_eq_int(churn(&end, peer.socket, times), 0, "%d queue pairs come, connect and go",
		   times);
	tap_diag("time: %d connections in %u ms", times, ends_ms(since));
	ends_close(&end);
	tap_eq_int(peer_wait(&peer), 0, "the peer's as well");
	resources(after, sizeof(after));
	tap_eq_str(after, before, "nothing of them is left");
}

/* ---- Late packets ---------------------------------------------------------------------------- */

/*
 * Connects; again if rxe moved the queue pair to ERR between INIT and RTR, at this end or the other. It does so when a
 * packet of the former connection passed rxe_rcv() before the queue pair went to ERR, and reaches rxe_responder() only
 * after RESET: in the middle of a message, where none has begun, it is MISSING_OPCODE_FIRST. One in some hundred. Where the
 * machine is busy, that may be as late as after RTR: then both ends have a failed completion, see leave().
 */
static bool connect_late(struct end *end, int socket)
{
	int error = ends_connect(end, socket, ENDS_LONG);

	for (int i = 0; i < 2 && end->stays && error; i++) {
		struct ibv_qp_init_attr init;
		struct ibv_qp_attr attr;

		if (error != ECONNABORTED &&
		    (ibv_query_qp(end->it.qp, &attr, IBV_QP_STATE, &init) ||
		     attr.qp_state != IBV_QPS_ERR))
			break;
		tap_diag("end %d: connects again after %s", end->number, strerror(error));
		if (!fine(end, ends_recover(end), "recovering"))
			return false;
		error = ends_connect(end, socket, ENDS_LONG);
	}
	return fine(end, error, "connecting");
}

/*
 * Leaves in the middle and connects again, so many times; below 0: with the same queue pair. What is then still on its way
 * is for the former connection.
 */
static int leave(struct end *end, int socket, int times)
{
	const uint32_t qp_num = end->it.qp->qp_num;
	int spare = times < 0 ? 2 : 0;

	end->stays = times < 0;
	end->opts.timeout = 18; /* 1 s: more than two delays */
	end->opts.retry_cnt = 7;
	end->watched = socket;
	ends_restart(end, UINT64_MAX);
	fine(end, ends_local(end), "its endpoint");
	for (int i = 0; i < abs(times) && !end->wrong; i++) {
		if (!connect_late(end, socket))
			break;
		ends_flow(end, end->own.got + 10);
		if (ends_failed(end) && spare--)
			tap_diag("end %d: message %llu: %s", end->number,
				 (unsigned long long)end->errors.first.wr_id,
				 ibv_wc_status_str(end->errors.first.status));
		else if (ends_failed(end))
			ends_wrong(end, "message %llu: %s",
				   (unsigned long long)end->errors.first.wr_id,
				   ibv_wc_status_str(end->errors.first.status));
		fine(end, ends_recover(end), "recovering");
	}
	if ((end->it.qp->qp_num == qp_num) != end->stays)
		ends_wrong(end, "it is %s queue pair", end->stays ? "another" : "the same");
	end->watched = 0;
	end->own.target = end->acked + MESSAGES;
	ends_tell(end);
	if (!end->wrong && connect_late(end, socket))
		move(end, socket);
	return end->wrong;
}

static int leave_peer(int socket, int times)
{
	struct end end;

	ends_open(&end, 1);
	leave(&end, socket, times);
	ends_close(&end);
	return end.wrong;
}

/* rxe cannot use a queue pair again that had READs: rdmaez_qp_recover(). */
static void test_late(int times)
{
	const char *what = times < 0 ? "of one queue pair" : "each of a new queue pair";
	struct peer peer;
	uint64_t since;
	struct end end;

	ends_kinds = times < 0 || rig_linux() >= 612 ? 2 : 3;
	peer = peer_start(leave_peer, times);
	for (int i = 0; i < 2; i++)
		ends_run("tc qdisc replace dev veth%d root netem loss 5%% delay 100ms", i);
	ends_open(&end, 0);
	since = ends_now();
	tap_eq_int(leave(&end, peer.socket, times), 0,
		   "%d connections %s take nothing of each other", abs(times), what);
	tap_diag("time: %d connections %s, left in the middle, %llu messages in %u ms", abs(times),
		 what, (unsigned long long)end.own.got, ends_ms(since));
	tap_eq_int(peer_wait(&peer), 0, "nor do the peer's");
	for (int i = 0; i < 2; i++)
		ends_run("tc qdisc del dev veth%d root", i);
	ends_close(&end);
	ends_kinds = 3;
}

int main(int argc, char **argv)
{
	struct rig rig = rig_open(); /* or the program ends here */

	rig_close(&rig);
	if (argc < 2)
		test_churn(50);
	for (int i = 1; i < argc; i++) {
		const char *part = argv[i];

		if (strcmp(part, "rough") == 0) {
			test_roughs();
		} else if (strcmp(part, "break") == 0) {
			test_breaks();
		} else if (strcmp(part, "gid") == 0) {
			test_stale_gid(0, ENODATA, RDMAEZ_WHY_GID_EMPTY);
			test_stale_gid(1, ETIMEDOUT, RDMAEZ_WHY_NEIGHBOUR);
		} else if (strcmp(part, "kill") == 0) {
			test_end(SIGKILL);
		} else if (strcmp(part, "stop") == 0) {
			test_end(SIGSTOP);
		} else if (strcmp(part, "stranger") == 0) {
			test_strangers();
		} else if (strcmp(part, "late") == 0) {
			test_late(10);
			test_late(-10);
		} else if (strncmp(part, "churn=", 6) == 0) {
			test_churn(atoi(part + 6));
		} else {
			tap_bail("there is no part %s", part);
		}
	}
	return tap_done();
}
