/* SPDX-License-Identifier: MIT */
/* The end that listens: it serves one peer after the other, and sends back what they send. */
#include "reach.h"
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	HELLO_MS = 2000,  /* of who connects; the next one in line waits longer for its answer */
	PROBE_MS = 15000, /* for what comes between two messages */
};

/* The connection that is served. */
static int served = -1;

/* What was asked for; false: nothing that can be. */
static bool take_probe(const struct session *s, const struct talk *talk, struct probe *probe)
{
	const char *const type = talk_value(talk, "type", NULL);
	const char *const gid = talk_value(talk, "gid", NULL);

	memset(probe, 0, sizeof(*probe));
	if (!type || !gid || (strcmp(type, "RC") != 0 && strcmp(type, "UD") != 0) ||
	    sscanf(gid, "%4d", &probe->gid_index) != 1 || probe->gid_index < -1 ||
	    probe->gid_index >= RDMAEZ_PATH_GIDS)
		return false;
	probe->type = type[0] == 'U' ? IBV_QPT_UD : IBV_QPT_RC;
	probe->port = s->own.port;
	probe->peer = s->address;
	return true;
}

static void add_why(struct talk *talk, const struct rdmaez_diag *diag)
{
	char why[256];

	put_why(diag, why, sizeof(why));
	talk_add(talk, "why %.199s", why);
	talk_add(talk, "fix %.199s", fix_of(diag));
}

static void say_served(const struct session *s, const struct probe_end *end, int error,
		       bool is_connected)
{
	const char *const type = end->type == IBV_QPT_UD ? "UD" : "RC";
	char why[256];

	if (!error && end->got) {
		doctor_say(DOCTOR_OK, s->here, "%s with %s: %u message%s came and went back", type,
			   s->peer, end->got, end->got == 1 ? "" : "s");
		return;
	}
	if (!error) {
		doctor_say(DOCTOR_WARNING, s->here, "%s with %s: connected, and no message came",
			   type, s->peer);
		return;
	}
	put_why(&end->diag, why, sizeof(why));
	doctor_say(DOCTOR_WARNING, s->here, "%s with %s: %s: %s", type, s->peer,
		   is_connected ? "messages could not be sent back" : "not connected", why);
	say_record(&end->diag);
}

/* Serves one probe; false: the conversation is over. */
static bool serve_probe(struct session *s, struct talk *talk)
{
	struct probe_counters after;
	struct probe_end end;
	struct probe probe;
	bool is_connected, is_heard;
	char growth[512];
	int error;

	if (!take_probe(s, talk, &probe))
		return false;
	if (probe.type == IBV_QPT_RC)
		probe_count(&s->own.port, &s->before);
	doctor_step("opening a queue pair on %s", s->here);
	error = probe_open(&end, &probe);
	talk_begin(talk, "ready");
	if (error)
		add_why(talk, &end.diag);
	is_heard = talk_send(s->tcp, talk, peer_in_ms(ANSWER_MS)) == TALK_WELL;
	if (error)
		say_served(s, &end, error, false);
	if (error || !is_heard) {
		probe_close(&end);
		return is_heard;
	}
	doctor_step("serving %s", s->peer);
	error = probe_connect(&end, s->tcp);
	is_connected = !error;
	if (!error)
		error = probe_echo(&end, s->tcp, peer_in_ms(PROBE_MS));
	if (talk_receive(s->tcp, talk, "done", peer_in_ms(PROBE_MS)) != TALK_WELL) {
		say_served(s, &end, error, is_connected);
		probe_close(&end);
		return false;
	}
	poll(NULL, 0, 30); /* as in say_loss() */
	probe_count(&s->own.port, &after);
	talk_begin(talk, "report");
	talk_add(talk, "got %u", end.got);
	if (error)
		add_why(talk, &end.diag);
	if (probe_growth(&s->before, &after, growth, sizeof(growth)))
		talk_add(talk, "growth %s", growth);
	say_served(s, &end, error, is_connected);
	probe_close(&end);
	return talk_send(s->tcp, talk, peer_in_ms(ANSWER_MS)) == TALK_WELL;
}

/* Who connected is no doctor, or of another version. */
static void say_stranger(const char *peer, enum talk_end end, const struct talk *talk)
{
	if (end == TALK_SILENT) {
		doctor_say(DOCTOR_NOTE, peer, "connected, and said nothing");
	} else if (end == TALK_CLOSED) {
		doctor_say(DOCTOR_NOTE, peer, "connected, and left");
	} else if (end == TALK_NEWER) {
		doctor_say(DOCTOR_WARNING, peer, "speaks version %u of the protocol, this end %d",
			   talk->version, TALK_VERSION);
		doctor_next("install the same version of rdmaez at both ends");
	} else {
		doctor_say(DOCTOR_NOTE, peer, "connected, and is no rdmaez-doctor");
		doctor_evidence("it sent \"%s\"", talk->text);
	}
}

static void serve(void)
{
	static struct talk talk, own;
	struct session s;
	enum talk_end end;

	keep_small(served);
	session_begin(&s, served);
	side_tell(&s.own, &own);
	end = talk_receive(served, &talk, "hello", peer_in_ms(HELLO_MS));
	/* To one of another version as well, so that it knows. */
	if (end == TALK_WELL || end == TALK_NEWER)
		talk_send(served, &own, peer_in_ms(ANSWER_MS));
	if (end == TALK_WELL && !side_take(&s.other, &talk))
		end = TALK_FOREIGN;
	if (end != TALK_WELL) {
		say_stranger(s.peer, end, &talk);
		return;
	}
	session_say(&s);
	do
		end = talk_receive(served, &talk, "probe", peer_in_ms(PROBE_MS));
	while (end == TALK_WELL && serve_probe(&s, &talk));
}

/* A socket that takes IPv6 and IPv4; where there is no IPv6, IPv4 alone. */
static int listen_on(uint16_t port)
{
	union socket_address any;
	const int yes = 1, no = 0;
	int tcp = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const bool is_v6 = tcp >= 0;

	memset(&any, 0, sizeof(any));
	if (is_v6) {
		any.v6.sin6_family = AF_INET6;
		any.v6.sin6_port = htons(port);
		setsockopt(tcp, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	} else {
		tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		any.v4.sin_family = AF_INET;
		any.v4.sin_port = htons(port);
	}
	if (tcp < 0)
		return -1;
	setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	keep_small(tcp);
	if (!bind(tcp, &any.any, is_v6 ? sizeof(any.v6) : sizeof(any.v4)) && !listen(tcp, 8))
		return tcp;
	close(tcp);
	return -1;
}

int doctor_listen(void)
{
	static const struct doctor_check check = {"serve", "", serve, 55000};
	const uint16_t port = doctor_options.port ? doctor_options.port : PEER_PORT;
	const int tcp = listen_on(port);

	if (tcp < 0) {
		fprintf(stderr, "rdmaez-doctor: cannot listen on TCP port %u: %s\n", port,
			strerror(errno));
		return 1;
	}
	fprintf(stderr, "rdmaez-doctor: listening on TCP port %u\n", port);
	for (;;) {
		served = accept4(tcp, NULL, NULL, SOCK_CLOEXEC);
		if (served < 0 && errno != EINTR && errno != ECONNABORTED)
			break;
		if (served < 0)
			continue;
		doctor_report(&check, 1);
		fflush(stdout);
		close(served);
	}
	fprintf(stderr, "rdmaez-doctor: accept(): %s\n", strerror(errno));
	return 1;
}
