/* SPDX-License-Identifier: MIT */
/* A conversation of two doctors: who is at both ends, and what a record of rdmaez says first. */
#include "session.h"

#include <stdio.h>
#include <string.h>

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

/* /proc/self/schedstat: what it ran, what it waited, and how often; Documentation/scheduler/sched-stats.rst. */
uint64_t session_starved_ns(void)
{
	unsigned long long ran, waited;
	char text[64];

	if (doctor_read(text, sizeof(text), "/proc/self/schedstat") ||
	    sscanf(text, "%llu %llu", &ran, &waited) != 2)
		return 0;
	return waited;
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

void session_say(const struct session *s)
{
	const struct side *const own = &s->own, *const other = &s->other;

	doctor_say(DOCTOR_OK, s->peer, "is %s: kernel %s, rdma-core %s, rdmaez %s; here %s, %s, %s",
		   other->host, other->kernel, other->rdma_core, other->rdmaez, own->kernel,
		   own->rdma_core, own->rdmaez);
	if (own->problem[0]) {
		doctor_say(DOCTOR_FAILED, "", "this end cannot probe: %s", own->problem);
		doctor_next("rdmaez-doctor");
	}
	if (other->problem[0]) {
		doctor_say(DOCTOR_FAILED, s->peer, "cannot probe: %s", other->problem);
		doctor_next("on the peer: rdmaez-doctor");
	}
}
