/* SPDX-License-Identifier: MIT */
/* The check of data between both ends: reaching the peer, saying hello, and asking for probes. */
#include "ask.h"
#include "reach.h"

#include <unistd.h>

enum {
	GREETING_MS =
		3 * ANSWER_MS /* a machine that is busy may take long to look at its devices */
};

/* What came is no hello. */
static void say_no_hello(const char *peer, enum talk_end end, const struct talk *talk, bool is_late)
{
	switch (is_late ? TALK_WELL : end) {
	case TALK_WELL:
		doctor_say(DOCTOR_WARNING, peer,
			   "has closed the TCP connection, because this machine needed more than "
			   "%d s to look at its own devices: not known",
			   HELLO_MS / 1000);
		doctor_next("see what keeps this machine busy: uptime; top");
		break;
	case TALK_SILENT:
		doctor_say(DOCTOR_WARNING, peer,
			   "accepts the TCP connection, and says nothing within %d s: not known",
			   GREETING_MS / 1000);
		doctor_next(
			"check on the peer whether it is busy: uptime; or whether something other "
			"than rdmaez-doctor --listen listens there: ss --listening --tcp "
			"--processes");
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
	uint64_t patient_until;
	enum talk_end end;
	bool is_late;
	int tcp;

	peer_parse(doctor_options.peer, &name); /* or the command line was refused */
	tcp = peer_reach(&name);
	if (tcp < 0)
		return;
	patient_until = peer_in_ms(HELLO_MS);
	session_begin(&s, tcp);
	is_late = peer_ms_left(patient_until) == 0;
	doctor_step("waiting for what %s says", s.peer);
	side_tell(&s.own, &talk);
	end = talk_send(tcp, &talk, peer_in_ms(ANSWER_MS));
	if (end == TALK_WELL)
		end = talk_receive(tcp, &talk, "hello", peer_in_ms(GREETING_MS));
	if (end == TALK_WELL && !side_take(&s.other, &talk))
		end = TALK_FOREIGN;
	if (end != TALK_WELL) {
		say_no_hello(s.peer, end, &talk, is_late && end == TALK_CLOSED);
		return;
	}
	session_say(&s);
	if (!s.own.problem[0] && !s.other.problem[0] && side_compare(&s.own, &s.other, s.here))
		ask_for_probes(&s);
	close(tcp);
}
