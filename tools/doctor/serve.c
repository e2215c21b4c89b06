/* SPDX-License-Identifier: MIT */
/* The end that listens: it serves each peer in a process of its own, and sends back what they send. */
#include "afar.h"
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PROBE_MS = 15000, /* for what comes between two messages */
};

/* The connection that is served. */
static int served = -1;

/* What was asked for; false: nothing that can be. */
static bool take_probe(const struct session *s, const struct talk *talk, struct probe *probe)
{
	const char *const type = talk_value(talk, "type", NULL);
	const char *const gid = talk_value(talk, "gid", NULL);
	const char *const timeout = talk_value(talk, "timeout", NULL);

	memset(probe, 0, sizeof(*probe));
	if (!type || !gid || (strcmp(type, "RC") != 0 && strcmp(type, "UD") != 0) ||
	    sscanf(gid, "%4d", &probe->gid_index) != 1 || probe->gid_index < -1 ||
	    probe->gid_index >= RDMAEZ_PATH_GIDS)
		return false;
	if (timeout && (sscanf(timeout, "%2u", &probe->timeout) != 1 || probe->timeout > 31))
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
		doctor_say(DOCTOR_WARNING, s->here, "%s with %s: connected, but no message came",
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
	talk_add(talk, "waited %llu", (unsigned long long)session_starved_ns());
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
		doctor_say(DOCTOR_WARNING, peer,
			   "speaks version %u of the protocol, and this end speaks version %d",
			   talk->version, TALK_VERSION);
		doctor_next("install the same version of rdmaez at both ends");
	} else {
		doctor_say(DOCTOR_NOTE, peer, "connected, but is not rdmaez-doctor");
		doctor_evidence("it sent \"%s\"", talk->text);
	}
}

/* Who looks at a process, and asks what its peers here are, says no hello. */
static void serve_questions(const char *peer, struct talk *talk)
{
	static struct talk answer;
	unsigned int told = 0;
	enum talk_end end;

	do {
		told += afar_answer(talk, &answer);
		end = talk_send(served, &answer, peer_in_ms(ANSWER_MS));
		if (end == TALK_WELL)
			end = talk_receive(served, talk, "queues", peer_in_ms(PROBE_MS));
	} while (end == TALK_WELL);
	doctor_say(DOCTOR_OK, peer, "asked for its queue pairs' peers, and was told of %u here",
		   told);
}

static void serve(void)
{
	static struct talk talk, own;
	struct session s;
	enum talk_end end;

	keep_small(served);
	session_begin(&s, served);
	side_tell(&s.own, &own);
	end = talk_receive(served, &talk, NULL, peer_in_ms(HELLO_MS));
	if (end == TALK_WELL && strcmp(talk.kind, "queues") == 0) {
		serve_questions(s.peer, &talk);
		return;
	}
	if (end == TALK_WELL && strcmp(talk.kind, "hello") != 0)
		end = TALK_STEP;
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

/* --- Who is served ---------------------------------------------------------------------------------- */

enum {
	AT_ONCE = 32,         /* connections, each in a process of its own */
	AT_ONCE_FROM_ONE = 4, /* of them, from one address, or one /64 of IPv6 */
	REST_MS = 100         /* where there is no room for another one */
};

/* The connections that are served now. */
static struct {
	pid_t pid; /* 0: none */
	union socket_address from;
} client[AT_ONCE];

/* A socket that listens at this address, as --bind has it; -1 with errno. */
static int listen_at(const struct sockaddr *at, socklen_t size)
{
	const int tcp = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int yes = 1, only = doctor_options.bind != NULL;
	int error;

	if (tcp < 0)
		return -1;
	if (at->sa_family == AF_INET6)
		setsockopt(tcp, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
	setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	keep_small(tcp);
	if (!bind(tcp, at, size) && !listen(tcp, AT_ONCE))
		return tcp;
	error = errno;
	close(tcp);
	errno = error;
	return -1;
}

/* A socket that takes IPv6 and IPv4; where there is no IPv6, IPv4 alone. */
static int listen_on(uint16_t port)
{
	union socket_address any;
	int tcp;

	memset(&any, 0, sizeof(any));
	any.v6.sin6_family = AF_INET6;
	any.v6.sin6_port = htons(port);
	tcp = listen_at(&any.any, sizeof(any.v6));
	if (tcp >= 0 || errno != EAFNOSUPPORT)
		return tcp;
	memset(&any, 0, sizeof(any));
	any.v4.sin_family = AF_INET;
	any.v4.sin_port = htons(port);
	return listen_at(&any.any, sizeof(any.v4));
}

/* The same at the address of --bind alone; its name or number was looked up, or -2: it is none. */
static int listen_bound(uint16_t port)
{
	struct addrinfo hints, *found;
	char service[8];
	int tcp;

	memset(&hints, 0, sizeof(hints));
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_PASSIVE;
	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(doctor_options.bind, service, &hints, &found))
		return -2;
	tcp = listen_at(found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return tcp;
}

/* Whether both are one peer's: of IPv6 the first half counts, since a host has all of the other. */
static bool is_same_peer(const union socket_address *a, const union socket_address *b)
{
	if (a->any.sa_family != b->any.sa_family)
		return false;
	if (a->any.sa_family == AF_INET)
		return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
	return memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr,
		      IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr) ? 16 : 8) == 0;
}

/* Where the next connection has its place; AT_ONCE: all are taken, by anybody or by this peer. */
static unsigned int place_for(const union socket_address *from, bool *is_greedy)
{
	unsigned int i, same = 0, place = AT_ONCE;

	for (i = 0; i < AT_ONCE; i++) {
		if (client[i].pid && waitpid(client[i].pid, NULL, WNOHANG) == client[i].pid)
			client[i].pid = 0;
		if (!client[i].pid)
			place = i;
		else
			same += is_same_peer(&client[i].from, from);
	}
	*is_greedy = same >= AT_ONCE_FROM_ONE;
	return *is_greedy ? AT_ONCE : place;
}

/* One that was accepted. It is served by a process of its own, so that whoever says nothing keeps nobody waiting. */
static void take_in(int tcp, const union socket_address *from)
{
	static const struct doctor_check check = {"serve", "", serve, 55000};
	const pid_t parent = getpid();
	bool is_greedy;
	const unsigned int i = place_for(from, &is_greedy);
	char address[ADDRESS_TEXT];
	union ibv_gid gid;

	if (i == AT_ONCE) {
		gid = address_gid(from);
		fprintf(stderr, "rdmaez-doctor: %s: turned away: %u connections at once\n",
			gid_text(&gid, address), is_greedy ? AT_ONCE_FROM_ONE : AT_ONCE);
		return;
	}
	client[i].from = *from;
	client[i].pid = fork();
	if (client[i].pid < 0) {
		client[i].pid = 0;
		perror("rdmaez-doctor: fork");
	} else if (client[i].pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		served = tcp;
		doctor_report(&check, 1);
		fflush(stdout);
		_exit(0);
	}
}

/*
 * Whether accept() may go on after an error: those of the network, which the next connection's errors are (accept(2)), or
 * of a rule that forbids it; or a lack that passes.
 */
static bool goes_on(int error)
{
	static const int passing[] = {
		EAGAIN,     EINTR,  ECONNABORTED, ENETDOWN,   EPROTO,      ENOPROTOOPT,
		EHOSTDOWN,  ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, ETIMEDOUT,
		ECONNRESET, EPERM,  EMFILE,       ENFILE,     ENOBUFS,     ENOMEM};

	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (error == passing[i])
			return true;
	return false;
}

int doctor_listen(void)
{
	const uint16_t port = doctor_options.port ? doctor_options.port : PEER_PORT;
	const int tcp = doctor_options.bind ? listen_bound(port) : listen_on(port);
	struct pollfd ready = {.fd = tcp, .events = POLLIN, .revents = 0};
	int error;

	if (tcp < 0) {
		fprintf(stderr, "rdmaez-doctor: cannot listen on TCP port %u%s%s: %s\n", port,
			doctor_options.bind ? " of " : "",
			doctor_options.bind ? doctor_options.bind : "",
			tcp == -2 ? "no such address" : strerror(errno));
		return 1;
	}
	fprintf(stderr, "rdmaez-doctor: listening on TCP port %u\n", port);
	do {
		union socket_address from;
		socklen_t size = sizeof(from);
		int one;

		memset(&from, 0, sizeof(from));
		poll(&ready, 1, -1);
		one = accept4(tcp, &from.any, &size, SOCK_CLOEXEC);
		error = errno;
		if (one >= 0) {
			take_in(one, &from);
			close(one);
			error = 0;
		} else if (error == EMFILE || error == ENFILE || error == ENOBUFS ||
			   error == ENOMEM) {
			poll(NULL, 0, REST_MS);
		}
	} while (!error || goes_on(error));
	fprintf(stderr, "rdmaez-doctor: accept(): %s\n", strerror(error));
	return 1;
}
