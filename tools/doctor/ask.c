/* SPDX-License-Identifier: MIT */
/* Data between both ends: the probes, at the end that asks for them, and what comes of them. */
#include "ask.h"
#include "reach.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAIRS = 4, /* of GIDs that are tried */
	ROUND_TRIPS = 100,
	ROUND_TRIPS_MS = 3000,
	DATAGRAMS = 64,
	MANY = 3, /* packets of TCP that were lost: a firewall loses none, and what TCP says is short */
	PATIENT = 19, /* a timeout's code: 2.1 s, which is more than any way on Earth */
	TCP_TIMEOUT_NS = 1000000000,
	LONG_NS = 20000000 /* for a round trip: busy machines need some milliseconds */
};

/* --- One probe, at the end that asks ---------------------------------------------------------------- */

/* What was tried, and what came of it. */
struct attempt {
	struct probe probe;
	int peer_gid; /* the peer's GID index; -1: the one that it chooses */
	struct probe_end end;
	bool is_open; /* both ends have a queue pair */
	bool is_connected;
	int error;
	uint32_t failed; /* bytes of the message that did not come back; 0: none was sent */
	bool is_acked;   /* the peer's port has acknowledged that message */
	uint64_t ns[ROUND_TRIPS]; /* what each round trip took, in order of size */
	size_t round_trips;
	/* What the peer reports. */
	unsigned int peer_got;
	char peer_why[200], peer_fix[200];
};

static void next_loss(const struct session *s)
{
	if (side_is_ethernet(&s->own))
		doctor_next(
			"look for loss: ip -s link show dev %s, ethtool -S %s, at both ends and in "
			"the switches; on RoCE check flow control (PFC) and congestion control "
			"(ECN)",
			s->own.netdev, s->own.netdev);
	else
		doctor_next("look for loss in the subnet: ibqueryerrors # as root");
}

/* How many packets TCP has lost: on a way that is as long as its first timeout of 1 s it repeats others as well. */
static unsigned int lost_by_tcp(const struct session *s)
{
	return way_ns(s->tcp) > TCP_TIMEOUT_NS / 2 ? 0 : resent(s->tcp);
}

static void next_busy(void)
{
	doctor_next("see what keeps this machine and the peer busy: uptime; top");
}

/* Says that the conversation has ended where it should not. */
static void broken(struct session *s, enum talk_end end)
{
	static const char *const what[] = {
		[TALK_WELL] = "",
		[TALK_SILENT] = "says no more",
		[TALK_CLOSED] = "has closed the connection",
		[TALK_FOREIGN] = "sends something that rdmaez-doctor never sends",
		[TALK_NEWER] = "speaks another version",
		[TALK_STEP] = "is at another step",
	};

	if (!s->is_broken) {
		doctor_say(end == TALK_SILENT ? DOCTOR_WARNING : DOCTOR_FAILED, s->here,
			   "the peer %s: the probe ends here", what[end]);
		doctor_evidence("TCP has sent %u packets again", resent(s->tcp));
		doctor_next("read what rdmaez-doctor --listen says on the peer, and begin again");
		if (lost_by_tcp(s))
			next_loss(s);
		else if (end == TALK_SILENT)
			next_busy();
	}
	s->is_broken = true;
}

/* Asks the peer for its end of a probe. False: it has none. */
static bool ask_for(struct session *s, struct attempt *attempt)
{
	struct talk talk;
	const char *why;
	enum talk_end end;

	talk_begin(&talk, "probe");
	talk_add(&talk, "type %s", attempt->probe.type == IBV_QPT_UD ? "UD" : "RC");
	talk_add(&talk, "gid %d", attempt->peer_gid);
	if (attempt->probe.timeout)
		talk_add(&talk, "timeout %u", attempt->probe.timeout);
	end = talk_send(s->tcp, &talk, peer_in_ms(ANSWER_MS));
	if (end == TALK_WELL)
		end = talk_receive(s->tcp, &talk, "ready", peer_in_ms(ANSWER_MS));
	if (end != TALK_WELL) {
		broken(s, end);
		return false;
	}
	why = talk_value(&talk, "why", NULL);
	if (!why)
		return true;
	attempt->error = ECONNABORTED;
	snprintf(attempt->peer_why, sizeof(attempt->peer_why), "%.199s", why);
	talk_text(&talk, "fix", attempt->peer_fix, sizeof(attempt->peer_fix));
	return false;
}

/* Ends the probe at the peer, and hears what it saw. */
static void hear_report(struct session *s, struct attempt *attempt)
{
	struct talk talk;
	const char *got, *waited;
	enum talk_end end;

	talk_begin(&talk, "done");
	end = talk_send(s->tcp, &talk, peer_in_ms(ANSWER_MS));
	if (end == TALK_WELL)
		end = talk_receive(s->tcp, &talk, "report", peer_in_ms(3 * ANSWER_MS));
	if (end != TALK_WELL) {
		broken(s, end);
		return;
	}
	got = talk_value(&talk, "got", NULL);
	attempt->peer_got = got ? (unsigned int)strtoul(got, NULL, 10) : 0;
	waited = talk_value(&talk, "waited", NULL);
	s->peer_starved_ns = waited ? strtoull(waited, NULL, 10) : 0;
	s->starved_ns = session_starved_ns();
	if (talk_value(&talk, "why", NULL)) {
		talk_text(&talk, "why", attempt->peer_why, sizeof(attempt->peer_why));
		talk_text(&talk, "fix", attempt->peer_fix, sizeof(attempt->peer_fix));
	}
	if (talk_value(&talk, "growth", NULL))
		talk_text(&talk, "growth", s->growth, sizeof(s->growth));
	if (!probe_is_growth(s->growth))
		s->growth[0] = '\0';
}

/* One message after the other, until one does not come back. */
static void ping(const struct session *s, struct attempt *attempt, const uint32_t *bytes,
		 size_t count)
{
	for (size_t i = 0; i < count && !attempt->error; i++) {
		doctor_step("sending %u bytes by RC from %s", bytes[i], s->here);
		attempt->error = probe_ping(&attempt->end, bytes[i]);
		attempt->failed = attempt->error ? bytes[i] : 0;
	}
	attempt->is_acked = attempt->error && attempt->end.sent > attempt->end.got;
}

/* Both ends of a probe, connected. Whatever comes of it, end_attempt() follows if it returns true. */
static bool begin_attempt(struct session *s, struct attempt *attempt)
{
	attempt->error = 0;
	attempt->failed = 0;
	attempt->round_trips = 0;
	attempt->is_open = attempt->is_connected = attempt->is_acked = false;
	attempt->peer_why[0] = attempt->peer_fix[0] = '\0';
	attempt->probe.port = s->own.port;
	attempt->probe.peer = s->address;
	if (attempt->probe.type == IBV_QPT_RC) {
		probe_count(&s->own.port, &s->before);
		s->ack_ns = probe_ack_ns(&attempt->probe);
		s->growth[0] = '\0';
	}
	doctor_step("opening a queue pair on %s", s->here);
	attempt->error = probe_open(&attempt->end, &attempt->probe);
	if (attempt->error || !ask_for(s, attempt)) {
		probe_close(&attempt->end);
		return false;
	}
	attempt->is_open = true;
	doctor_step("connecting a queue pair of %s", s->here);
	attempt->error = probe_connect(&attempt->end, s->tcp);
	attempt->is_connected = !attempt->error;
	return true;
}

static void end_attempt(struct session *s, struct attempt *attempt)
{
	hear_report(s, attempt);
	probe_close(&attempt->end);
}

/* --- What it means ---------------------------------------------------------------------------------- */

/* "RC from GID 1 (192.0.2.1) to 192.0.2.2" */
static void put_pair(const struct attempt *attempt, char *text, size_t size)
{
	const char *const type = attempt->probe.type == IBV_QPT_UD ? "UD" : "RC";
	const struct rdmaez_path *const path = &attempt->end.agreed.path;
	const struct rdmaez_endpoint *const local = &attempt->end.local;
	char from[ADDRESS_TEXT] = "", to[ADDRESS_TEXT];
	const int index = path->sgid_index == RDMAEZ_ZERO ? 0 : path->sgid_index;

	if (!attempt->is_connected || rdmaez_gid_is_zero(&path->dgid)) {
		snprintf(text, size, "%s", type);
		return;
	}
	for (unsigned int i = 0; i < local->gid_count; i++)
		if ((int)local->gid[i].gid_index == index)
			gid_text(&local->gid[i].gid, from);
	snprintf(text, size, "%s from GID %d (%s) to %s", type, index, from,
		 gid_text(&path->dgid, to));
}

static bool is_roce_v1(const struct attempt *attempt)
{
	const struct rdmaez_endpoint *const local = &attempt->end.local;
	const struct rdmaez_path *const path = &attempt->end.agreed.path;
	const int index = path->sgid_index == RDMAEZ_ZERO ? 0 : path->sgid_index;

	for (unsigned int i = 0; i < local->gid_count; i++)
		if ((int)local->gid[i].gid_index == index)
			return local->gid[i].gid_type == IBV_GID_TYPE_ROCE_V1;
	return false;
}

static bool is_unanswered(const struct attempt *attempt)
{
	return attempt->error == ETIMEDOUT ||
	       (attempt->error == EIO && attempt->end.diag.status_code == IBV_WC_RETRY_EXC_ERR);
}

/* It did not come to a connection. */
static void say_unconnected(const struct session *s, const struct attempt *attempt)
{
	const char *const type = attempt->probe.type == IBV_QPT_UD ? "UD" : "RC";
	const struct rdmaez_diag *const diag = &attempt->end.diag;
	char why[256];

	/* What this end has failed with, the peer knows only as this end's failure. */
	if (attempt->peer_why[0] && attempt->error == ECONNABORTED) {
		doctor_say(DOCTOR_FAILED, s->here, "%s: the peer cannot connect: %s", type,
			   attempt->peer_why);
		if (attempt->peer_fix[0])
			doctor_next("on the peer %s: %s", s->peer, attempt->peer_fix);
		return;
	}
	put_why(diag, why, sizeof(why));
	doctor_say(DOCTOR_FAILED, s->here, "%s: this end cannot connect: %s", type, why);
	say_record(diag);
	if (fix_of(diag)[0])
		doctor_next("%s", fix_of(diag));
}

/* Not one message came back, though TCP and the addresses are in order. */
static void say_blocked(const struct session *s, const struct attempt *attempt)
{
	const bool is_ethernet = side_is_ethernet(&s->own);
	const char *const what = !is_ethernet          ? "packet of InfiniBand"
				 : is_roce_v1(attempt) ? "packet of RoCE v1 (Ethertype 0x8915)"
						       : "packet of RoCE v2 (UDP port 4791)";
	const bool arrives = attempt->peer_got > 0;
	char pair[160], why[256];

	put_pair(attempt, pair, sizeof(pair));
	doctor_say(DOCTOR_FAILED, s->here,
		   "%s: connected, but no %s gets through %s, while TCP does", pair, what,
		   arrives ? "from the peer to here" : "from here to the peer");
	put_why(&attempt->end.diag, why, sizeof(why));
	doctor_evidence("%s; the peer received %u message%s", why, attempt->peer_got,
			attempt->peer_got == 1 ? "" : "s");
	say_record(&attempt->end.diag);
	if (!is_ethernet)
		doctor_next("ibtracert, and the partition and service level of both ports");
	else if (is_roce_v1(attempt))
		doctor_next("check that the switches forward it; routers do not forward RoCE v1, "
			    "so use GIDs of RoCE v2");
	else
		doctor_next("open UDP port 4791 in the firewall of %s: nft list ruleset, iptables "
			    "--list-rules; in security groups, and in switch ACLs on the way",
			    arrives ? "this machine" : "the peer");
}

/* A message did not come back, and TCP fares no better. */
static void say_lost(const struct session *s, const struct attempt *attempt)
{
	char pair[160], why[256];

	put_pair(attempt, pair, sizeof(pair));
	put_why(&attempt->end.diag, why, sizeof(why));
	doctor_say(
		DOCTOR_FAILED, s->here,
		"%s: connected, but a message of %u bytes did not come back; TCP lost %u packets, "
		"and sent them again",
		pair, attempt->failed, resent(s->tcp));
	doctor_evidence("%s; the peer received %u message%s", why, attempt->peer_got,
			attempt->peer_got == 1 ? "" : "s");
	say_record(&attempt->end.diag);
	next_loss(s);
}

/* The network carries messages and acknowledgements, so that it is not what keeps the answer. */
static void say_no_answer(const struct session *s, const struct attempt *attempt)
{
	char pair[160];

	put_pair(attempt, pair, sizeof(pair));
	doctor_say(DOCTOR_WARNING, s->here,
		   "%s: the peer's port acknowledged a message of %u bytes, but its doctor did not "
		   "send it back in time: not known",
		   pair, attempt->failed);
	say_record(&attempt->end.diag);
	next_busy();
}

/* Of another pair of GIDs than the first a word is enough. */
static void say_nor(const struct session *s, const struct attempt *attempt)
{
	char from[ADDRESS_TEXT] = "", why[256];

	if (attempt->end.local.gid_count)
		gid_text(&attempt->end.local.gid[0].gid, from);
	if (attempt->error == EBADMSG)
		snprintf(why, sizeof(why), "a message of %u bytes came back damaged",
			 attempt->failed);
	else
		put_why(&attempt->end.diag, why, sizeof(why));
	doctor_say(DOCTOR_NOTE, s->here, "data does not pass by GID %d (%s) either",
		   attempt->probe.gid_index, from);
	doctor_evidence("%s", attempt->peer_why[0] ? attempt->peer_why : why);
}

static void say_failed(const struct session *s, const struct attempt *attempt)
{
	const struct rdmaez_diag *const diag = &attempt->end.diag;
	char pair[160], why[256];

	if (s->is_broken)
		return;
	if (attempt->probe.gid_index >= 0 && attempt->probe.type == IBV_QPT_RC) {
		say_nor(s, attempt);
		return;
	}
	if (!attempt->is_connected) {
		say_unconnected(s, attempt);
		return;
	}
	if (attempt->error == ETIMEDOUT && attempt->is_acked && !attempt->peer_why[0]) {
		say_no_answer(s, attempt);
		return;
	}
	if (is_unanswered(attempt) && lost_by_tcp(s) >= MANY) {
		say_lost(s, attempt);
		return;
	}
	if (attempt->failed == 1 && is_unanswered(attempt)) {
		say_blocked(s, attempt);
		return;
	}
	put_pair(attempt, pair, sizeof(pair));
	if (attempt->error == EBADMSG) {
		doctor_say(DOCTOR_FAILED, s->here, "%s: a message of %u bytes came back damaged",
			   pair, attempt->failed);
		doctor_next("compare the counters of both ports: rdmaez-doctor --only counters");
		return;
	}
	put_why(diag, why, sizeof(why));
	doctor_say(DOCTOR_FAILED, s->here, "%s: a message of %u bytes did not come back: %s", pair,
		   attempt->failed, why);
	say_record(diag);
	if (attempt->peer_why[0])
		doctor_evidence("at the peer: %s", attempt->peer_why);
	if (fix_of(diag)[0])
		doctor_next("%s", fix_of(diag));
}

/* --- RC --------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Measures how long a message of 8 bytes and its answer take. */
static void measure(struct session *s, struct attempt *attempt)
{
	const uint64_t until = peer_in_ms(ROUND_TRIPS_MS);
	uint64_t *const ns = attempt->ns;
	size_t count = 0;

	doctor_step("measuring the round trip from %s", s->here);
	while (count < ROUND_TRIPS && peer_ms_left(until) && !attempt->error) {
		const uint64_t begin = peer_in_ms(0);

		attempt->error = probe_ping(&attempt->end, 8);
		ns[count++] = peer_in_ms(0) - begin;
	}
	if (attempt->error) {
		attempt->failed = 8;
		attempt->is_acked = attempt->end.sent > attempt->end.got;
		return;
	}
	qsort(ns, count, sizeof(ns[0]), by_size);
	s->round_trip_ns = ns[count / 2];
	s->longest_ns = ns[count - 1];
	attempt->round_trips = count;
}

/* Whether most of this time is spent on the way, and not by the machines. */
static bool is_far(const struct session *s, uint64_t ns)
{
	return way_ns(s->tcp) >= ns / 2;
}

static void say_round_trip(const struct session *s, const struct attempt *attempt)
{
	const uint64_t *const ns = attempt->ns, median = s->round_trip_ns;
	const size_t count = attempt->round_trips;

	doctor_say(median > LONG_NS ? DOCTOR_NOTE : DOCTOR_OK, s->here,
		   "a message of 8 bytes and its answer take %.1f us (median of %zu; %.1f to %.1f)",
		   (double)median / 1e3, count, (double)ns[0] / 1e3, (double)ns[count - 1] / 1e3);
	if (median <= LONG_NS)
		return;
	doctor_evidence(
		"a packet of TCP and its acknowledgement take %.1f us; so far, this process "
		"has waited %.0f ms for a processor, and that of the peer %.0f ms",
		(double)way_ns(s->tcp) / 1e3, (double)s->starved_ns / 1e6,
		(double)s->peer_starved_ns / 1e6);
	if (is_far(s, median))
		doctor_next("find out what makes the way long: ping and traceroute to the peer; "
			    "tc qdisc show dev %s",
			    s->own.netdev);
	else if (probe_signs(s->growth) & (PROBE_LOSS | PROBE_LATE))
		doctor_next("the way is short, but packets were sent again: see below");
	else
		next_busy();
}

/* Packets of the path MTU are lost: the greatest MTU whose packets arrive, in bytes; 0: none. */
static int smaller_mtu(struct session *s, const struct attempt *failed, int mtu)
{
	for (int less = mtu / 2; less >= 256 && !s->is_broken; less /= 2) {
		struct attempt attempt;
		const uint32_t bytes[] = {(uint32_t)less, 3 * (uint32_t)less + 1};

		memset(&attempt, 0, sizeof(attempt));
		attempt.probe = failed->probe;
		attempt.probe.mtu = less;
		attempt.peer_gid = failed->peer_gid;
		if (!begin_attempt(s, &attempt))
			return 0;
		if (attempt.is_connected)
			ping(s, &attempt, bytes, 2);
		end_attempt(s, &attempt);
		if (!attempt.error && !s->is_broken)
			return less;
	}
	return 0;
}

static void say_mtu_lost(const struct session *s, const struct attempt *attempt, int mtu, int less)
{
	char pair[160];

	put_pair(attempt, pair, sizeof(pair));
	doctor_say(DOCTOR_FAILED, s->here,
		   "%s: both ports have a path MTU of %d, but the network loses packets of that "
		   "size; packets of %d pass",
		   pair, mtu, less);
	say_record(&attempt->end.diag);
	if (!side_is_ethernet(&s->own))
		return;
	doctor_next("raise the MTU of every switch port on the way to that of the interfaces, %u",
		    s->own.netdev_mtu);
	doctor_next("or lower that of the interfaces at both ends: ip link set dev %s mtu %d",
		    s->own.netdev, less == 1024 ? 1500 : less + 152);
}

/* One attempt by RC, from its beginning to its end; returns the path MTU in bytes, and 0 if none was agreed on. */
static int run_rc(struct session *s, struct attempt *attempt)
{
	char pair[160];
	int mtu;

	attempt->probe.type = IBV_QPT_RC;
	if (!begin_attempt(s, attempt))
		return 0;
	mtu = rdmaez_mtu_bytes(attempt->end.agreed.mtu);
	if (attempt->is_connected) {
		const uint32_t bytes[] = {1, (uint32_t)mtu, 3 * (uint32_t)mtu + 1};

		ping(s, attempt, bytes, 3);
	}
	put_pair(attempt, pair, sizeof(pair));
	if (!attempt->error) {
		doctor_say(DOCTOR_OK, s->here,
			   "%s: messages of 1, %d and %d bytes pass, at a path MTU of %d", pair,
			   mtu, 3 * mtu + 1, mtu);
		measure(s, attempt);
	}
	end_attempt(s, attempt);
	if (attempt->round_trips)
		say_round_trip(s, attempt);
	return mtu;
}

/* Whether the way, or a machine that has no processor to spare, takes so long that retries may have been used up. */
static bool is_slow(const struct session *s)
{
	const uint64_t much = s->ack_ns / 2;

	return way_ns(s->tcp) > much || session_starved_ns() > much || s->peer_starved_ns > much;
}

/* The same again, with queue pairs that wait far longer for acknowledgements. True: now it works. */
static bool try_patiently(struct session *s, struct attempt *failed)
{
	struct attempt attempt;
	char pair[160], why[256];

	memset(&attempt, 0, sizeof(attempt));
	attempt.probe = failed->probe;
	attempt.probe.timeout = PATIENT;
	attempt.peer_gid = failed->peer_gid;
	run_rc(s, &attempt);
	if (attempt.error || s->is_broken)
		return false;
	put_pair(failed, pair, sizeof(pair));
	put_why(&failed->end.diag, why, sizeof(why));
	doctor_say(DOCTOR_WARNING, s->here,
		   "%s: messages come back only if queue pairs wait longer than %.0f ms for an "
		   "acknowledgement: %s",
		   pair, (double)probe_ack_ns(&failed->probe) / 1e6,
		   is_far(s, s->round_trip_ns) ? "the way is long" : "a machine is busy");
	doctor_evidence("before: %s", why);
	doctor_next("set the queue pairs' timeout to %u or more",
		    rdmaez_timeout_from_ns(2 * s->longest_ns));
	*failed = attempt;
	return true;
}

/* Returns the path MTU that works, in bytes; 0: none. */
static int try_rc(struct session *s, struct attempt *attempt)
{
	const int mtu = run_rc(s, attempt);
	int less;

	if (attempt->is_open && !attempt->error && !s->is_broken)
		return mtu;
	if (attempt->is_open && is_unanswered(attempt) && is_slow(s) && !s->is_broken &&
	    try_patiently(s, attempt))
		return mtu;
	less = attempt->is_open && !s->is_broken && attempt->failed > 8 && is_unanswered(attempt)
		       ? smaller_mtu(s, attempt, mtu)
		       : 0;
	if (less)
		say_mtu_lost(s, attempt, mtu, less);
	else
		say_failed(s, attempt);
	return less;
}

/* --- UD --------------------------------------------------------------------------------------------- */

static void try_ud(struct session *s, struct attempt *attempt, int mtu)
{
	char pair[160];
	unsigned int lost;

	attempt->probe.type = IBV_QPT_UD;
	if (!begin_attempt(s, attempt)) {
		say_failed(s, attempt);
		return;
	}
	doctor_step("sending datagrams from %s", s->here);
	s->fate.sent = s->fate.lost = DATAGRAMS;
	if (attempt->is_connected)
		attempt->error = probe_datagrams(&attempt->end, (uint32_t)mtu, DATAGRAMS,
						 s->longest_ns, &s->fate);
	lost = s->fate.lost;
	end_attempt(s, attempt);
	put_pair(attempt, pair, sizeof(pair));
	if (attempt->error || s->is_broken) {
		attempt->failed = (uint32_t)mtu;
		say_failed(s, attempt);
	} else if (!lost) {
		doctor_say(DOCTOR_OK, s->here, "%s: all of %u datagrams of %d bytes came back",
			   pair, s->fate.sent, mtu);
	} else {
		doctor_say(lost == s->fate.sent ? DOCTOR_FAILED : DOCTOR_WARNING, s->here,
			   "%s: %u of %u datagrams of %d bytes did not come back", pair, lost,
			   s->fate.sent, mtu);
		doctor_evidence("the peer received %u", attempt->peer_got);
		next_loss(s);
	}
}

/* --- All probes ------------------------------------------------------------------------------------- */

/* Whether this pair of GIDs is the one that was agreed on. */
static bool is_tried(const struct session *s, unsigned int i, unsigned int j,
		     const struct attempt *first)
{
	const struct rdmaez_path *const path = &first->end.agreed.path;

	return (int)s->own.gid[i].index ==
		       (path->sgid_index == RDMAEZ_ZERO ? 0 : path->sgid_index) &&
	       memcmp(&s->other.gid[j].gid, &path->dgid, sizeof(path->dgid)) == 0;
}

/* The other pairs of GIDs, until one works. */
static int try_other_pairs(struct session *s, const struct attempt *first, struct attempt *attempt)
{
	unsigned int tried = 1;

	for (unsigned int i = 0; i < s->own.gids; i++) {
		for (unsigned int j = 0; j < s->other.gids; j++) {
			int mtu;

			if (!side_is_pair(&s->own, i, &s->other, j) || is_tried(s, i, j, first))
				continue;
			if (tried++ == PAIRS || s->is_broken)
				return 0;
			memset(attempt, 0, sizeof(*attempt));
			attempt->probe.gid_index = (int)s->own.gid[i].index;
			attempt->peer_gid = (int)s->other.gid[j].index;
			mtu = try_rc(s, attempt);
			if (!mtu)
				continue;
			doctor_say(
				DOCTOR_WARNING, s->here,
				"data passes by GID %u, but not by the GID that the route leads to",
				s->own.gid[i].index);
			doctor_next("name it in programs: NCCL_IB_GID_INDEX=%u, "
				    "UCX_IB_GID_INDEX=%u, ib_write_bw -x %u",
				    s->own.gid[i].index, s->own.gid[i].index, s->own.gid[i].index);
			return mtu;
		}
	}
	return 0;
}

/* Why packets were sent again, or counted as lost, as far as datagrams, times and counters tell. */
enum why_again {
	AGAIN_LOST, /* or not known */
	AGAIN_TWICE,
	AGAIN_LATE,   /* the way takes longer than the timeout */
	AGAIN_SLOWLY, /* some answers may have taken so long */
	AGAIN_OVERTAKEN
};

static enum why_again why_again(const struct session *s, unsigned int signs)
{
	if (s->fate.lost)
		return AGAIN_LOST;
	if (s->fate.twice || signs == PROBE_TWICE)
		return AGAIN_TWICE;
	if (s->round_trip_ns > s->ack_ns)
		return AGAIN_LATE;
	if (s->fate.overtaken)
		return AGAIN_OVERTAKEN;
	return s->longest_ns > LONG_NS && !(signs & PROBE_LOSS) && !lost_by_tcp(s) ? AGAIN_SLOWLY
										   : AGAIN_LOST;
}

static void say_why_again(const struct session *s, enum why_again why)
{
	switch (why) {
	case AGAIN_TWICE:
		doctor_say(DOCTOR_WARNING, s->here,
			   "packets arrive twice: something on the way repeats them");
		break;
	case AGAIN_LATE:
		doctor_say(DOCTOR_WARNING, s->here,
			   "packets were sent again although none was lost: the way takes %.0f ms, "
			   "and the queue pair waits only %.0f ms for an acknowledgement",
			   (double)s->round_trip_ns / 1e6, (double)s->ack_ns / 1e6);
		break;
	case AGAIN_SLOWLY:
		doctor_say(DOCTOR_WARNING, s->here,
			   "packets were sent again although no datagram was lost: answers take up "
			   "to %.0f ms, and acknowledgements may come too late",
			   (double)s->longest_ns / 1e6);
		break;
	case AGAIN_OVERTAKEN:
		doctor_say(DOCTOR_WARNING, s->here,
			   "packets overtake one another: RC treats those that come too early as "
			   "lost, and the sender repeats them");
		break;
	default:
		doctor_say(DOCTOR_WARNING, s->here,
			   "packets were lost or sent again during the probe, although all "
			   "messages arrived");
		break;
	}
}

static void next_why_again(const struct session *s, enum why_again why)
{
	switch (why) {
	case AGAIN_TWICE:
		doctor_next("look for two ways that are used at once: a bond that sends on all "
			    "links, a loop between switches, tc qdisc show dev %s",
			    s->own.netdev);
		break;
	case AGAIN_LATE:
	case AGAIN_SLOWLY:
		doctor_next("set the queue pairs' timeout to %u or more for such a %s",
			    rdmaez_timeout_from_ns(2 * s->longest_ns),
			    is_far(s, s->longest_ns) ? "way" : "peer");
		if (!is_far(s, s->longest_ns))
			next_busy();
		break;
	case AGAIN_OVERTAKEN:
		doctor_next("keep each flow on one way: have ECMP and bonds hash the UDP source "
			    "port, and use no adaptive routing that the adapters do not know of");
		break;
	default:
		next_loss(s);
		break;
	}
}

static void say_loss(const struct session *s)
{
	struct probe_counters after;
	char growth[512];
	enum why_again why;
	size_t length;

	poll(NULL, 0, 30); /* mlx5 refreshes its counters every 10 ms */
	probe_count(&s->own.port, &after);
	length = probe_growth(&s->before, &after, growth, sizeof(growth));
	if (!length && !s->growth[0] && !s->fate.twice && !s->fate.overtaken) {
		doctor_say(DOCTOR_OK, s->here,
			   "no counter of losses or retries grew at either end");
		return;
	}
	why = why_again(s, probe_signs(growth) | probe_signs(s->growth));
	say_why_again(s, why);
	doctor_evidence("here %s; at the peer %s; TCP has sent %u packets again",
			length ? growth : "nothing", s->growth[0] ? s->growth : "nothing",
			resent(s->tcp));
	doctor_evidence("of %u datagrams %u did not come back, %u came more than once, %u after a "
			"later one",
			s->fate.sent, s->fate.lost, s->fate.twice, s->fate.overtaken);
	next_why_again(s, why);
}

void ask_for_probes(struct session *s)
{
	struct attempt first, other;
	struct attempt *works = &first;
	int mtu;

	memset(&first, 0, sizeof(first));
	first.probe.gid_index = -1;
	first.peer_gid = -1;
	mtu = try_rc(s, &first);
	if (!mtu && first.is_open && !s->is_broken && side_is_ethernet(&s->own)) {
		works = &other;
		mtu = try_other_pairs(s, &first, &other);
	}
	if (!mtu || s->is_broken)
		return;
	try_ud(s, works, mtu);
	if (!s->is_broken)
		say_loss(s);
}
