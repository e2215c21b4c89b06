/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez-doctor takes from another doctor, under libFuzzer: any bytes that come over the connection are a message or
 * are refused, nothing is read behind a message, and of what is told only what can be printed gets through.
 */
#include <sys/ioctl.h>

#include "../../tools/doctor/afar.c"
#include "../../tools/doctor/serve.c"

#include "must.h"

enum {
	MOST = 1500, /* bytes of an input that are used */
	REPEATS = 30
};

struct doctor_options doctor_options;

/* The report: each line is put together, so that each text is read to its end, and must be plain. */
static void say(const char *format, va_list args)
{
	char line[4096];

	vsnprintf(line, sizeof(line), format, args);
	for (const char *at = line; *at; at++)
		must(*at >= ' ' && *at <= '~');
}

#define SAYS(name, ...)                 \
	void name(__VA_ARGS__)          \
	{                               \
		va_list args;           \
                                        \
		va_start(args, format); \
		say(format, args);      \
		va_end(args);           \
	}
SAYS(doctor_evidence, const char *format, ...)
SAYS(doctor_next, const char *format, ...)
SAYS(doctor_step, const char *format, ...)

void doctor_say(enum doctor_verdict verdict, const char *subject, const char *format, ...)
{
	va_list args;

	(void)verdict;
	must(strlen(subject) < 200);
	va_start(args, format);
	say(format, args);
	va_end(args);
}

static void must_be_plain(const char *text, size_t size)
{
	const char *const end = (const char *)memchr(text, 0, size);

	must(end != NULL);
	for (; text < end; text++)
		must(*text >= ' ' && *text <= '~');
}

/* What is asked for is in the bounds that verbs have. */
static void ask(const struct talk *talk)
{
	struct session session;
	struct probe probe;

	memset(&session, 0, sizeof(session));
	if (!take_probe(&session, talk, &probe))
		return;
	must(probe.type == IBV_QPT_RC || probe.type == IBV_QPT_UD);
	must(probe.gid_index >= -1 && probe.gid_index < RDMAEZ_PATH_GIDS);
}

/* What a hello tells, and what it is good for beside this end, which has said the same. */
static void meet(const struct talk *talk)
{
	static struct talk own;
	struct side side, again;

	if (!side_take(&side, talk))
		return;
	must_be_plain(side.host, sizeof(side.host));
	must_be_plain(side.kernel, sizeof(side.kernel));
	must_be_plain(side.rdma_core, sizeof(side.rdma_core));
	must_be_plain(side.rdmaez, sizeof(side.rdmaez));
	must_be_plain(side.problem, sizeof(side.problem));
	must_be_plain(side.port.device, sizeof(side.port.device));
	must_be_plain(side.netdev, sizeof(side.netdev));
	must(side.gids <= SIDE_GIDS);
	for (unsigned int i = 0; i < side.gids; i++)
		must(side.gid[i].index < RDMAEZ_PATH_GIDS && side.gid[i].version <= 2);
	side_tell(&side, &own);
	must(side_take(&again, &own));
	must(again.gids == side.gids && again.mtu == side.mtu &&
	     memcmp(again.gid, side.gid, sizeof(side.gid)) == 0);
	if (!side.problem[0])
		side_compare(&again, &side, "mlx5_0/1");
}

/* ---- Questions about queue pairs, at a host that has one ---------------------------------------------- */

bool doctor_is_meant(const char *device)
{
	return strcmp(device, "rxe0") == 0;
}

int objects_list(struct objects *objects)
{
	static struct objects_device device = {.name = "rxe0"};
	static struct object qp = {.device = &device,
				   .is = {.has = NLDEV_LQPN | TOLD,
					  .lqpn = 98,
					  .rqpn = 97,
					  .type = 2,
					  .state = 3,
					  .sq_psn = 0xffffff,
					  .rq_psn = 7}};

	memset(objects, 0, sizeof(*objects));
	objects->devices = 1;
	objects->device = &device;
	objects->count[OBJECTS_QP] = 1;
	objects->list[OBJECTS_QP] = &qp;
	return 0;
}

uint32_t objects_owner(const struct objects *objects, const struct object *object)
{
	return objects && object ? 4711 : 0;
}

pid_t process_of_thread(uint32_t thread)
{
	return (pid_t)thread;
}

int process_read(pid_t pid, struct process *process)
{
	process->pid = pid;
	process->state = 'T';
	snprintf(process->name, sizeof(process->name), "a name of 31 letters and blanks");
	return 0;
}

/* What is answered is taken as it was meant. Of what a peer answers, device names that differ are kept for good. */
static void question(const struct talk *talk)
{
	static struct talk answer;
	const char *value = NULL;
	struct afar told;
	unsigned int own;

	memset(&told, 0, sizeof(told));
	must(afar_answer(talk, &answer) <= ASK_AT_ONCE);
	must(answer.length <= sizeof(answer.text));
	while ((value = talk_value(&answer, "qp", value)))
		take(&told, value);
	own = told.objects.count[OBJECTS_QP];
	while ((value = talk_value(talk, "qp", value)))
		if (strncmp(value, "rxe0 ", 5) == 0)
			take(&told, value);
	for (unsigned int i = 0; i < told.objects.count[OBJECTS_QP]; i++) {
		const struct object *const qp = &told.objects.list[OBJECTS_QP][i];
		const struct process *const process = afar_process(&told, qp);

		must(strcmp(qp->device->name, "rxe0") == 0);
		must((qp->is.has & ~(uint32_t)TOLD) == NLDEV_LQPN && process->pid >= 0);
		must_be_plain(process->name, sizeof(process->name));
		if (i >= own)
			continue;
		must(qp->is.lqpn == 98 && qp->is.rqpn == 97 && qp->is.state == 3);
		must(!(qp->is.has & NLDEV_SQ_PSN) ||
		     (qp->is.sq_psn == 0xffffff && process->pid == 4711 && process->state == 'T'));
	}
	free(told.objects.list[OBJECTS_QP]);
	free(told.process);
}

static size_t left_in(int fd)
{
	int count = 0;

	must(ioctl(fd, FIONREAD, &count) == 0);
	return (size_t)count;
}

/* How many bytes the message at the beginning has; 0: it has no end. */
static size_t length_of(const uint8_t *bytes, size_t size)
{
	for (size_t i = 1; i < size; i++)
		if (bytes[i] == '\n' && bytes[i - 1] == '\n')
			return i + 1;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const kinds[] = {"hello", "probe", "ready", "report", NULL};
	static struct talk talk;
	enum talk_end end;
	const char *kind;
	uint8_t *bytes;
	size_t times;
	int ends[2];

	if (!size || size > MOST)
		return 0;
	kind = kinds[data[0] % 5];
	/* A message that goes on: all of it so often. */
	times = data[0] & 0x80 ? REPEATS : 1;
	data++;
	size--;
	bytes = (uint8_t *)malloc(size * times + 1);
	must(bytes != NULL);
	for (size_t i = 0; i < times && size; i++)
		memcpy(bytes + i * size, data, size);
	size *= times;
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	must(send(ends[1], bytes, size, 0) == (ssize_t)size);
	close(ends[1]);
	memset(&talk, 0xa5, sizeof(talk));
	end = talk_receive(ends[0], &talk, kind, peer_in_ms(1000));
	must_be_plain(talk.kind, sizeof(talk.kind));
	if (end == TALK_WELL || end == TALK_STEP) {
		must(talk.version == TALK_VERSION && talk.length <= sizeof(talk.text));
		must(left_in(ends[0]) == size - length_of(bytes, size));
		must((end == TALK_STEP) == (kind && strcmp(kind, talk.kind) != 0));
		for (const char *why = NULL; (why = talk_value(&talk, "why", why));)
			must_be_plain(why, TALK_LINE);
		ask(&talk);
		meet(&talk);
		question(&talk);
	} else {
		must_be_plain(talk.text, sizeof(talk.text));
		say_stranger("192.0.2.9", end, &talk);
	}
	close(ends[0]);
	free(bytes);
	return 0;
}
