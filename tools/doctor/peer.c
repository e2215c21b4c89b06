/* SPDX-License-Identifier: MIT */
/* A second doctor at the peer: reaching it, and saying hello. */
#include "peer.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	CONNECT_MS = 4000 /* for TCP; the kernel looks three seconds for a neighbour */
};

/* What a record says first: of a completion its status, else the errno value; and the reason. */
void put_why(const struct rdmaez_diag *diag, char *text, size_t size)
{
	snprintf(text, size, "%s: %s", diag->status ? diag->status : rdmaez_errno_str(diag->error),
		 diag->count ? rdmaez_why_str(diag->finding[0].reason) : diag->call);
}

const char *fix_of(const struct rdmaez_diag *diag)
{
	return diag->count ? rdmaez_why_fix(diag->finding[0].reason) : "";
}

void say_record(const struct rdmaez_diag *diag)
{
	char line[1024];

	rdmaez_diag_line(diag, line, sizeof(line));
	doctor_evidence("%s", line);
}

unsigned int resent(int tcp)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);

	memset(&info, 0, sizeof(info));
	getsockopt(tcp, IPPROTO_TCP, TCP_INFO, &info, &size);
	return info.tcpi_total_retrans;
}

void keep_small(int tcp)
{
	const int segment = 536, yes = 1;

	setsockopt(tcp, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment));
	setsockopt(tcp, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

/* Connects to one of the addresses; returns the socket, or -1 with errno. */
static int connect_to(const struct addrinfo *to)
{
	const int tcp = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd ready = {.fd = tcp, .events = POLLOUT, .revents = 0};
	socklen_t size = sizeof(int);
	int error = 0;

	if (tcp < 0)
		return -1;
	keep_small(tcp);
	if (connect(tcp, to->ai_addr, to->ai_addrlen))
		error = errno;
	if (error == EINPROGRESS) {
		error = ETIMEDOUT;
		if (poll(&ready, 1, CONNECT_MS) > 0)
			getsockopt(tcp, SOL_SOCKET, SO_ERROR, &error, &size);
	}
	if (!error)
		return tcp;
	close(tcp);
	errno = error;
	return -1;
}

static void say_unreached(const struct peer_name *name, int error)
{
	const char *const host = name->host, *const port = name->port;

	if (error == ECONNREFUSED)
		doctor_say(DOCTOR_FAILED, "", "%s refuses TCP port %s: nobody listens there", host,
			   port);
	else if (error == ETIMEDOUT)
		doctor_say(DOCTOR_FAILED, "", "%s does not answer on TCP port %s within %d s", host,
			   port, CONNECT_MS / 1000);
	else if (error == EHOSTUNREACH)
		doctor_say(DOCTOR_FAILED, "", "%s is not reached by TCP: nobody has its address",
			   host);
	else if (error == ENETUNREACH)
		doctor_say(DOCTOR_FAILED, "", "%s is not reached by TCP: no route leads there",
			   host);
	else
		doctor_say(DOCTOR_FAILED, "", "%s is not reached by TCP: %s", host,
			   strerror(error));
	doctor_evidence("connect(): %s", rdmaez_errno_str(error));
	if (error == ECONNREFUSED)
		doctor_next("on %s: rdmaez-doctor --listen %s", host, port);
	else if (error == ETIMEDOUT)
		doctor_next(
			"see whether it is up: ping %s; and whether a firewall drops TCP port %s",
			host, port);
	else if (error == EHOSTUNREACH)
		doctor_next("see whether it is up, in the same subnet and VLAN: ip neighbour show");
	else
		doctor_next("ip route get %s", host);
}

struct addrinfo *peer_look_up(const struct peer_name *name)
{
	struct addrinfo hints, *found;
	int error;

	memset(&hints, 0, sizeof(hints));
	hints.ai_socktype = SOCK_STREAM;
	doctor_step("looking up %s", name->host);
	error = getaddrinfo(name->host, name->port, &hints, &found);
	if (!error)
		return found;
	doctor_say(DOCTOR_FAILED, "", "%s is not found: %s", name->host, gai_strerror(error));
	doctor_next("getent ahosts %s", name->host);
	return NULL;
}

/* A connection with the peer, or -1, which is said. */
static int reach(const struct peer_name *name)
{
	struct addrinfo *const found = peer_look_up(name);
	int tcp = -1, error = 0;

	if (!found)
		return -1;
	for (const struct addrinfo *at = found; at && tcp < 0; at = at->ai_next) {
		doctor_step("connecting to %s port %s by TCP", name->host, name->port);
		tcp = connect_to(at);
		error = errno;
	}
	freeaddrinfo(found);
	if (tcp < 0)
		say_unreached(name, error);
	return tcp;
}

/* What came is no hello. */
static void say_no_hello(const char *peer, enum talk_end end, const struct talk *talk)
{
	switch (end) {
	case TALK_SILENT:
		doctor_say(DOCTOR_FAILED, peer, "takes the TCP connection and says nothing");
		doctor_next("see whether another peer is being served; else whether it is "
			    "rdmaez-doctor --listen that listens there: ss --listening --tcp "
			    "--processes");
		break;
	case TALK_NEWER:
		doctor_say(DOCTOR_FAILED, peer, "speaks version %u of the protocol, this end %d",
			   talk->version, TALK_VERSION);
		doctor_next("install the same version of rdmaez at both ends");
		break;
	case TALK_CLOSED:
		doctor_say(DOCTOR_FAILED, peer, "takes the TCP connection and closes it");
		doctor_next("see what listens there: ss --listening --tcp --processes");
		break;
	default:
		doctor_say(DOCTOR_FAILED, peer, "is no rdmaez-doctor");
		doctor_evidence("it sent \"%s\"", talk->text);
		doctor_next("see what listens there: ss --listening --tcp --processes");
		break;
	}
}

void session_say(const struct session *s)
{
	const struct side *const own = &s->own, *const other = &s->other;

	doctor_say(DOCTOR_OK, s->peer, "is %s: kernel %s, rdma-core %s, rdmaez %s; here %s, %s, %s",
		   other->host, other->kernel, other->rdma_core, other->rdmaez, own->kernel,
		   own->rdma_core, own->rdmaez);
	if (own->problem[0]) {
		doctor_say(DOCTOR_FAILED, "", "this end has nothing to probe with: %s",
			   own->problem);
		doctor_next("rdmaez-doctor");
	}
	if (other->problem[0]) {
		doctor_say(DOCTOR_FAILED, s->peer, "has nothing to probe with: %s", other->problem);
		doctor_next("on the peer: rdmaez-doctor");
	}
}

/* Who speaks at both ends of the connection. */
void session_begin(struct session *s, int tcp)
{
	union socket_address own, peer;
	socklen_t size = sizeof(own);

	memset(s, 0, sizeof(*s));
	memset(&own, 0, sizeof(own));
	memset(&peer, 0, sizeof(peer));
	s->tcp = tcp;
	getsockname(tcp, &own.any, &size);
	size = sizeof(peer);
	getpeername(tcp, &peer.any, &size);
	address_text(&peer, s->peer);
	if (rdmaez_exchange_peer(tcp, &s->address, NULL))
		memset(&s->address, 0, sizeof(s->address));
	side_look(&s->own, &own);
	snprintf(s->here, sizeof(s->here), "%s/%u", s->own.port.device, s->own.port.port);
}

void doctor_check_probe(void)
{
	static struct talk talk;
	struct peer_name name;
	struct session s;
	enum talk_end end;
	int tcp;

	if (!doctor_options.peer || !peer_parse(doctor_options.peer, &name))
		return;
	tcp = reach(&name);
	if (tcp < 0)
		return;
	session_begin(&s, tcp);
	doctor_step("waiting for what %s says", s.peer);
	side_tell(&s.own, &talk);
	end = talk_send(tcp, &talk, peer_in_ms(ANSWER_MS));
	if (end == TALK_WELL)
		end = talk_receive(tcp, &talk, "hello", peer_in_ms(ANSWER_MS));
	if (end == TALK_WELL && !side_take(&s.other, &talk))
		end = TALK_FOREIGN;
	if (end != TALK_WELL) {
		say_no_hello(s.peer, end, &talk);
		return;
	}
	session_say(&s);
	if (!s.own.problem[0] && !s.other.problem[0] && session_compare(&s))
		session_probe(&s);
	close(tcp);
}
