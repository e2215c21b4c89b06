/* SPDX-License-Identifier: MIT */
/* What a check calls to be heard. All of this happens in the check's own process. */
#include "record.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int record_fd = -1;
static char *step;

void doctor_speak(int fd, char *where)
{
	record_fd = fd;
	step = where;
}

static void send_record(enum kind kind, enum doctor_verdict verdict, const char *strings,
			size_t length)
{
	struct {
		struct head head;
		char strings[STRINGS_MAX];
	} record;
	size_t sent = 0, size = sizeof(record.head) + length;
	ssize_t n;

	record.head.length = (uint16_t)length;
	record.head.kind = (uint8_t)kind;
	record.head.verdict = (uint8_t)verdict;
	memcpy(record.strings, strings, length);
	while (sent < size) {
		n = write(record_fd, (const char *)&record + sent, size - sent);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			_exit(1);
		sent += (size_t)n;
	}
}

/* Sends `first` and the formatted text; first NULL: the text alone. */
static void send_text(enum kind kind, enum doctor_verdict verdict, const char *first,
		      const char *format, va_list args)
{
	char strings[STRINGS_MAX];
	size_t at = 0;
	int n;

	if (first)
		at = (size_t)snprintf(strings, 128, "%.127s", first) + 1;
	n = vsnprintf(strings + at, sizeof(strings) - at, format, args);
	at += n < 0 ? 0 : (size_t)n;
	if (at >= sizeof(strings))
		at = sizeof(strings) - 1;
	strings[at] = '\0';
	send_record(kind, verdict, strings, at + 1);
}

void doctor_strings(enum kind kind, enum doctor_verdict verdict, unsigned int count, ...)
{
	char strings[STRINGS_MAX];
	size_t at = 0;
	va_list args;

	va_start(args, count);
	for (unsigned int i = 0; i < count; i++)
		at += (size_t)snprintf(strings + at, 512, "%.511s", va_arg(args, const char *)) + 1;
	va_end(args);
	send_record(kind, verdict, strings, at);
}

void doctor_say(enum doctor_verdict verdict, const char *subject, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	send_text(KIND_LINE, verdict, subject, format, args);
	va_end(args);
}

void doctor_evidence(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	send_text(KIND_EVIDENCE, DOCTOR_OK, NULL, format, args);
	va_end(args);
}

/* --- Commands, which somebody may paste into a shell: names within them are names ------------------- */

enum {
	NAME_BEGINS = '\001',
	NAME_ENDS = '\002'
};

/* Copies a format with a mark before and behind each %s, unless it is nothing else. False: it is too long. */
static bool mark_names(const char *format, char *marked, size_t size)
{
	size_t at = 0;

	if (strcmp(format, "%s") == 0)
		return false;
	while (*format && at + 16 < size) {
		const size_t length = *format == '%' ? 2 + strspn(format + 1, ".*0123456789lz") : 1;
		const bool is_name = length > 1 && format[length - 1] == 's';

		if (is_name)
			marked[at++] = NAME_BEGINS;
		memcpy(marked + at, format, length);
		at += length;
		if (is_name)
			marked[at++] = NAME_ENDS;
		format += length;
	}
	marked[at] = '\0';
	return !*format;
}

static unsigned int count_marks(const char *text)
{
	unsigned int count = 0;

	for (; *text; text++)
		count += *text == NAME_BEGINS || *text == NAME_ENDS;
	return count;
}

/*
 * Takes the marks out, and from between them what a shell obeys. `wanted`: how many there should be; if a name has marks
 * as well, all of the text counts as names.
 */
static void disarm(char *text, unsigned int wanted)
{
	const bool all = count_marks(text) != wanted;
	bool is_name = all;
	char *to = text;

	for (const char *at = text; *at; at++) {
		if (*at == NAME_BEGINS || *at == NAME_ENDS)
			is_name = all || *at == NAME_BEGINS;
		else if (is_name && *at == '`')
			*to++ = '\'';
		else
			*to++ = (char)(is_name && strchr("$;&|<>\\\n", *at) ? '?' : *at);
	}
	*to = '\0';
}

void doctor_next(const char *format, ...)
{
	char marked[1024], text[STRINGS_MAX];
	const bool is_marked = mark_names(format, marked, sizeof(marked));
	va_list args;

	va_start(args, format);
	if (is_marked) {
		vsnprintf(text, sizeof(text), marked, args);
		disarm(text, count_marks(marked));
		send_record(KIND_NEXT, DOCTOR_OK, text, strlen(text) + 1);
	} else {
		send_text(KIND_NEXT, DOCTOR_OK, NULL, format, args);
	}
	va_end(args);
}

void doctor_step(const char *format, ...)
{
	va_list args;

	if (!step)
		return;
	va_start(args, format);
	vsnprintf(step, STEP_MAX, format, args);
	va_end(args);
}

void doctor_sleep(unsigned int ms)
{
	char number[16];
	int n = snprintf(number, sizeof(number), "%u", ms);

	send_record(KIND_SLEEP, DOCTOR_OK, number, (size_t)n + 1);
	poll(NULL, 0, (int)ms);
}

void doctor_gid(const struct doctor_gid *gid)
{
	char strings[sizeof(*gid) + 32];
	int n = snprintf(strings, sizeof(strings), "%s%c%u%c%u%c%s%c%s%c%s%c%s%c%s%c%s",
			 gid->device, 0, gid->port, 0, gid->index, 0, gid->gid, 0, gid->address, 0,
			 gid->type, 0, gid->netdev, 0, gid->state, 0, gid->chosen ? "yes" : "");

	send_record(KIND_GID, DOCTOR_OK, strings, (size_t)n + 1);
}

/* A device's name may have any character; here in ASCII, without what JSON escapes. */
static void put_plain(char *plain, const char *name)
{
	size_t i;

	for (i = 0; name[i] && i < IBV_SYSFS_NAME_MAX - 1; i++)
		plain[i] =
			name[i] < ' ' || name[i] > '~' || strchr("\"\\", name[i]) ? '?' : name[i];
	plain[i] = '\0';
}

void doctor_queue_pair(const struct doctor_queue_pair *qp)
{
	char device[IBV_SYSFS_NAME_MAX], peer_device[IBV_SYSFS_NAME_MAX];
	char json[1024], peer[64] = "null", psns[128] = "\"sq_psn\": null, \"rq_psn\": null";
	int n;

	put_plain(device, qp->device);
	put_plain(peer_device, qp->device_of_peer);
	if (qp->has_peer)
		snprintf(peer, sizeof(peer), "%u", qp->peer_qp_num);
	if (qp->has_psn)
		snprintf(psns, sizeof(psns), "\"sq_psn\": %u, \"rq_psn\": %u", qp->sq_psn,
			 qp->rq_psn);
	n = snprintf(json, sizeof(json),
		     "{\"device\": \"%s\", \"qp_num\": %u, \"type\": \"%s\", \"state\": \"%s\", "
		     "\"pid\": %d, %s, \"moved\": %s, \"peer_qp_num\": %s, \"peer\": \"%s\", "
		     "\"peer_device\": \"%s\", \"peer_pid\": %d}",
		     device, qp->qp_num, qp->type, qp->state, qp->pid, psns,
		     qp->moved ? "true" : "false", peer, qp->where, peer_device, qp->peer_pid);
	send_record(KIND_QP, DOCTOR_OK, json, (size_t)n + 1);
}
