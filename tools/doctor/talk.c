/* SPDX-License-Identifier: MIT */
/*
 * How two doctors talk: lines of text over TCP, with limits to all of it.
 *
 * rdmaez_exchange() carries endpoints of one size between two ends of the same program, whereas a doctor asks and
 * answers in words of any number, and has to tell what answers in the place of a doctor: another program, another
 * version, silence. rdmaez_exchange_open() tries again where a connection is refused, which a doctor reports at once;
 * the queue pairs themselves do connect by rdmaez_exchange_connect(), in probe_connect().
 */
#include "talk.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static const char magic[] = "rdmaez-doctor ";

uint64_t peer_in_ms(unsigned int ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + ms * UINT64_C(1000000);
}

int peer_ms_left(uint64_t until)
{
	const uint64_t now = peer_in_ms(0);

	return until > now ? (int)((until - now + 999999) / 1000000) : 0;
}

/* --- What is said ----------------------------------------------------------------------------------- */

void talk_begin(struct talk *talk, const char *kind)
{
	snprintf(talk->kind, sizeof(talk->kind), "%s", kind);
	talk->version = TALK_VERSION;
	talk->length = 0;
}

/* A line that has no room left is left out: the peer then knows less. */
void talk_add(struct talk *talk, const char *format, ...)
{
	char line[TALK_LINE];
	va_list args;
	size_t length;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	length = strlen(line) + 1;
	for (char *at = line; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	if (talk->length + length > sizeof(talk->text) - 64)
		return;
	memcpy(talk->text + talk->length, line, length);
	talk->length += length;
}

static enum talk_end put(int fd, const char *bytes, size_t length, uint64_t until)
{
	while (length) {
		struct pollfd ready = {.fd = fd, .events = POLLOUT, .revents = 0};
		ssize_t n;

		if (poll(&ready, 1, peer_ms_left(until)) == 0)
			return TALK_SILENT;
		n = send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return TALK_CLOSED;
		bytes += n;
		length -= (size_t)n;
	}
	return TALK_WELL;
}

enum talk_end talk_send(int fd, const struct talk *talk, uint64_t until)
{
	char bytes[TALK_BYTES];
	size_t at = (size_t)snprintf(bytes, sizeof(bytes), "%s%u %s\n", magic, talk->version,
				     talk->kind);

	memcpy(bytes + at, talk->text, talk->length);
	for (size_t i = at; i < at + talk->length; i++)
		if (!bytes[i])
			bytes[i] = '\n';
	at += talk->length;
	bytes[at++] = '\n';
	return put(fd, bytes, at, until);
}

/* --- What is heard ---------------------------------------------------------------------------------- */

/* Takes in what has come of a line, and nothing behind it, which may be for others. */
static enum talk_end take(int fd, char *line, size_t *length, bool *is_whole)
{
	char bytes[TALK_LINE];
	const ssize_t seen = recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
	const char *end;
	size_t n;

	if (seen < 0 && (errno == EAGAIN || errno == EINTR))
		return TALK_WELL;
	if (seen <= 0)
		return TALK_CLOSED;
	end = (const char *)memchr(bytes, '\n', (size_t)seen);
	n = end ? (size_t)(end - bytes) + 1 : (size_t)seen;
	if (*length + n > TALK_LINE)
		n = TALK_LINE - *length;
	if (recv(fd, line + *length, n, MSG_DONTWAIT) != (ssize_t)n)
		return TALK_CLOSED;
	*length += n;
	*is_whole = *length && line[*length - 1] == '\n';
	return *is_whole || *length < TALK_LINE ? TALK_WELL : TALK_FOREIGN;
}

/* Only what can be printed is kept. */
static void clean(char *line, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (line[i] < ' ' || line[i] > '~')
			line[i] = '?';
	line[length] = '\0';
}

/* Reads a line without its end. One that does not begin as it must is given up at once. */
static enum talk_end hear(int fd, char line[TALK_LINE + 1], const char *begins, uint64_t until)
{
	const size_t wanted = strlen(begins);
	enum talk_end end = TALK_WELL;
	bool is_whole = false;
	size_t length = 0;

	while (end == TALK_WELL && !is_whole) {
		struct pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};

		if (poll(&ready, 1, peer_ms_left(until)) == 0)
			end = TALK_SILENT;
		else
			end = take(fd, line, &length, &is_whole);
		if (end == TALK_WELL &&
		    memcmp(line, begins, length < wanted ? length : wanted) != 0)
			end = TALK_FOREIGN;
	}
	clean(line, length - is_whole);
	return end == TALK_WELL && length - is_whole < wanted ? TALK_FOREIGN : end;
}

enum talk_end talk_receive(int fd, struct talk *talk, const char *kind, uint64_t until)
{
	char line[TALK_LINE + 1];
	enum talk_end end = hear(fd, line, magic, until);

	talk->length = 0;
	talk->version = 0;
	talk->kind[0] = '\0';
	if (end == TALK_WELL &&
	    sscanf(line + sizeof(magic) - 1, "%u %15s", &talk->version, talk->kind) < 1)
		end = TALK_FOREIGN;
	snprintf(talk->text, sizeof(talk->text), "%.40s", line);
	if (end != TALK_WELL)
		return end;
	if (talk->version != TALK_VERSION)
		return TALK_NEWER;
	while ((end = hear(fd, line, "", until)) == TALK_WELL && line[0]) {
		const size_t length = strlen(line) + 1;

		if (talk->length + length > sizeof(talk->text))
			return TALK_FOREIGN;
		memcpy(talk->text + talk->length, line, length);
		talk->length += length;
	}
	if (end != TALK_WELL)
		return end;
	return kind && strcmp(kind, talk->kind) != 0 ? TALK_STEP : TALK_WELL;
}

const char *talk_value(const struct talk *talk, const char *key, const char *after)
{
	const char *const stop = talk->text + talk->length;
	const char *line = after ? after + strlen(after) + 1 : talk->text;
	const size_t length = strlen(key);

	for (; line < stop; line += strlen(line) + 1)
		if (strncmp(line, key, length) == 0 && line[length] == ' ')
			return line + length + 1;
	return NULL;
}

void talk_text(const struct talk *talk, const char *key, char *text, size_t size)
{
	const char *const value = talk_value(talk, key, NULL);

	snprintf(text, size, "%.*s", (int)size - 1, value ? value : "?");
}
