/* SPDX-License-Identifier: MIT */
/* Queue pairs of the peer's host: asking for them, and answering who asks. */
#include "afar.h"

#include <rdmaez.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ASK_AT_ONCE = 32, /* questions in a message: their answers have room in one */
	TELL_MS = 4000,   /* how long an answer may take: the peer lists all that it has */
	TOLD = NLDEV_RQPN | NLDEV_RQ_PSN | NLDEV_SQ_PSN | NLDEV_TYPE | NLDEV_STATE | NLDEV_KERNEL
};

/* --- Who listens ------------------------------------------------------------------------------------ */

/* What the kernel had when the first question of this conversation came. */
static const struct objects *listed(void)
{
	static struct objects objects;
	static bool done;

	if (!done)
		objects_list(&objects);
	done = true;
	return &objects;
}

/*
 * "rxe0 98 97 5f 2 3 1000 2000 4711 T ib_write_bw": numbers are decimal, and which of them there are is hexadecimal. Of a
 * queue pair that points at another one than was named, neither PSNs nor the process are told.
 */
static void tell(struct talk *answer, const struct object *qp, uint32_t named)
{
	const bool is_whole = qp->is.has & NLDEV_RQPN && qp->is.rqpn == named;
	uint32_t has = qp->is.has & TOLD;
	struct process process;
	pid_t pid = 0;

	memset(&process, 0, sizeof(process));
	if (is_whole)
		pid = process_of_thread(objects_owner(listed(), qp));
	else
		has &= ~(uint32_t)(NLDEV_RQ_PSN | NLDEV_SQ_PSN);
	if (pid)
		process_read(pid, &process);
	talk_add(answer, "qp %s %u %u %x %u %u %u %u %d %c%s%s", qp->device->name, qp->is.lqpn,
		 qp->is.rqpn, has, qp->is.type, qp->is.state, is_whole ? qp->is.sq_psn : 0,
		 is_whole ? qp->is.rq_psn : 0, (int)process.pid,
		 process.state ? process.state : '?', process.name[0] ? " " : "", process.name);
}

unsigned int afar_answer(const struct talk *asked, struct talk *answer)
{
	const struct objects *const objects = listed();
	const char *value = NULL;
	unsigned int told = 0, questions = 0;
	uint32_t number, named;

	talk_begin(answer, "queues");
	if (!objects->devices)
		talk_add(answer, "why the kernel lists no RDMA device");
	else if (objects->error[OBJECTS_QP])
		talk_add(answer, "why the kernel does not list queue pairs: %s",
			 rdmaez_errno_str(objects->error[OBJECTS_QP]));
	while (questions++ < ASK_AT_ONCE && (value = talk_value(asked, "ask", value))) {
		if (sscanf(value, "%8u %8u", &number, &named) != 2)
			continue;
		for (unsigned int i = 0; i < objects->count[OBJECTS_QP]; i++) {
			const struct object *const qp = &objects->list[OBJECTS_QP][i];

			if (qp->is.has & NLDEV_LQPN && qp->is.lqpn == number &&
			    doctor_is_meant(qp->device->name)) {
				tell(answer, qp, named);
				told++;
			}
		}
	}
	return told;
}

/* --- Who asks ---------------------------------------------------------------------------------------- */

/* Room for one more in both lists; false: there is no memory. */
static bool has_room(struct afar *afar)
{
	const unsigned int count = afar->objects.count[OBJECTS_QP] + 1;
	struct object *const qp =
		(struct object *)realloc(afar->objects.list[OBJECTS_QP], count * sizeof(*qp));
	struct process *process;

	if (!qp)
		return false;
	afar->objects.list[OBJECTS_QP] = qp;
	process = (struct process *)realloc(afar->process, count * sizeof(*process));
	if (!process)
		return false;
	afar->process = process;
	return true;
}

/* Devices are told apart by name. */
static const struct objects_device *device_of(const char *name)
{
	static struct each {
		struct objects_device device;
		struct each *next;
	} *all;
	struct each *at;

	for (at = all; at; at = at->next)
		if (strcmp(at->device.name, name) == 0)
			return &at->device;
	at = (struct each *)calloc(1, sizeof(*at));
	if (!at)
		return NULL;
	snprintf(at->device.name, sizeof(at->device.name), "%s", name);
	at->device.index = all ? all->device.index + 1 : 0;
	at->next = all;
	all = at;
	return &at->device;
}

/* As /proc/PID/status names them. */
static const char *state_text(char state)
{
	switch (state) {
	case 'T':
		return "T (stopped)";
	case 't':
		return "t (tracing stop)";
	case 'Z':
		return "Z (zombie)";
	default:
		return "";
	}
}

static void take(struct afar *afar, const char *value)
{
	struct process process;
	struct object qp;
	char device[IBV_SYSFS_NAME_MAX], state;
	unsigned int type, qp_state;

	memset(&process, 0, sizeof(process));
	memset(&qp, 0, sizeof(qp));
	if (sscanf(value, "%63s %8u %8u %8x %3u %3u %8u %8u %10d %c %31[^\n]", device, &qp.is.lqpn,
		   &qp.is.rqpn, &qp.is.has, &type, &qp_state, &qp.is.sq_psn, &qp.is.rq_psn,
		   &process.pid, &state, process.name) < 10 ||
	    type > 255 || qp_state > 255 || process.pid < 0)
		return;
	qp.device = device_of(device);
	if (!qp.device || !has_room(afar))
		return;
	qp.is.has = (qp.is.has & TOLD) | NLDEV_LQPN;
	qp.is.type = (uint8_t)type;
	qp.is.state = (uint8_t)qp_state;
	if (qp.is.has & NLDEV_KERNEL)
		snprintf(qp.is.kernel, sizeof(qp.is.kernel), "kernel");
	process.state = state;
	snprintf(process.state_text, sizeof(process.state_text), "%s", state_text(state));
	afar->objects.list[OBJECTS_QP][afar->objects.count[OBJECTS_QP]] = qp;
	afar->process[afar->objects.count[OBJECTS_QP]++] = process;
}

static void say_untold(const struct afar *afar, enum talk_end end, const struct talk *talk)
{
	if (end == TALK_SILENT)
		doctor_say(DOCTOR_FAILED, afar->name, "does not list its queue pairs in time");
	else if (end == TALK_NEWER)
		doctor_say(DOCTOR_FAILED, afar->name,
			   "speaks version %u of the protocol, and this end speaks version %d",
			   talk->version, TALK_VERSION);
	else
		doctor_say(DOCTOR_FAILED, afar->name,
			   "does not list its queue pairs: it is not rdmaez-doctor, or an older "
			   "version of it");
	doctor_next("install the same version of rdmaez at both ends, and check what listens "
		    "there: ss --listening --tcp --processes");
}

/* One message there and one back. */
static enum talk_end ask_some(struct afar *afar, int tcp, struct talk *talk,
			      const struct afar_pair *pair, unsigned int pairs)
{
	const char *value = NULL;
	enum talk_end end;

	talk_begin(talk, "queues");
	for (unsigned int i = 0; i < pairs; i++)
		talk_add(talk, "ask %u %u", pair[i].rqpn, pair[i].lqpn);
	end = talk_send(tcp, talk, peer_in_ms(TELL_MS));
	if (end == TALK_WELL)
		end = talk_receive(tcp, talk, "queues", peer_in_ms(TELL_MS));
	if (end != TALK_WELL)
		return end;
	while ((value = talk_value(talk, "qp", value)))
		take(afar, value);
	if (talk_value(talk, "why", NULL))
		talk_text(talk, "why", afar->why, sizeof(afar->why));
	return end;
}

bool afar_ask(struct afar *afar, const struct afar_pair *pair, unsigned int pairs)
{
	static struct talk talk;
	struct peer_name name;
	enum talk_end end = TALK_WELL;
	unsigned int i, some;
	int tcp;

	memset(afar, 0, sizeof(*afar));
	peer_parse(doctor_options.peer, &name); /* or the command line was refused */
	snprintf(afar->name, sizeof(afar->name), "%.63s", name.host);
	tcp = peer_reach(&name);
	if (tcp < 0)
		return false;
	afar->address_size = sizeof(afar->address);
	getpeername(tcp, (struct sockaddr *)&afar->address, &afar->address_size);
	doctor_step("asking %s for its queue pairs", name.host);
	for (i = 0; end == TALK_WELL && i < pairs; i += some) {
		some = pairs - i < ASK_AT_ONCE ? pairs - i : ASK_AT_ONCE;
		end = ask_some(afar, tcp, &talk, pair + i, some);
	}
	close(tcp);
	if (end != TALK_WELL)
		say_untold(afar, end, &talk);
	return end == TALK_WELL;
}

const struct process *afar_process(const struct afar *afar, const struct object *qp)
{
	const struct object *const list = afar->objects.list[OBJECTS_QP];

	if (!list || qp < list || qp >= list + afar->objects.count[OBJECTS_QP])
		return NULL;
	return &afar->process[qp - list];
}
