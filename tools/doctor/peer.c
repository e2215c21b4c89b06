/* SPDX-License-Identifier: MIT */
/* The check of data between both ends: reaching the peer, saying hello, and asking for probes. */
#include "ask.h"
#include "reach.h"

#include <unistd.h>

/* What came is no hello. */
static void say_no_hello(const char *peer, enum talk_end end, const struct talk *talk)
{
	switch (end) {
	case TALK_SILENT:
		doctor_say(DOCTOR_FAILED, peer, "accepts the TCP connection and says nothing");
		doctor_next(
			"check whether it is serving another peer, or whether something other than "
			"rdmaez-doctor --listen listens there: ss --listening --tcp --processes");
		break;
	case TALK_NEWER:
		doctor_say(DOCTOR_FAILED, peer,
			   "speaks version %u of the protocol, and this end speaks version %d",
			   talk->version, TALK_VERSION);
		doctor_next("install the same version of rdmaez at both ends");
		break;
	case TALK_CLOSED:
		doctor_say(DOCTOR_FAILED, peer, "accepts the TCP connection and closes it");
		doctor_next("check what listens there: ss --listening --tcp --processes");
		break;
	default:
		doctor_say(DOCTOR_FAILED, peer, "is no rdmaez-doctor");
		doctor_evidence("it sent \"%s\"", talk->text);
		doctor_next("check what listens there: ss --listening --tcp --processes");
		break;
	}
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
	tcp = peer_reach(&name);
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
	if (!s.own.problem[0] && !s.other.problem[0] && side_compare(&s.own, &s.other, s.here))
		ask_for_probes(&s);
	close(tcp);
}
