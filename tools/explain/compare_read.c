/* SPDX-License-Identifier: MIT */
/* The states in files of JSON lines, which anybody may have written. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare_job.h"

/* More than any job has, and no more than a machine can hold. */
enum {
	DEPTH = 16,
	LONGEST_TEXT = 256,
	MOST_STATES = 1 << 17,
	MOST_ROWS = 1 << 22,
	MOST_PROBLEMS = 1 << 12,
	BLOCK = 65536
};
#define MOST_BYTES ((size_t)256 << 20)

struct text_block {
	struct text_block *next;
	size_t used;
	char bytes[BLOCK];
};

static void *grown(void *array, size_t *room, size_t size)
{
	*room = *room ? *room * 2 : 16;
	return explain_job_realloc(array, *room * size);
}

/* A name as it may be shown: a terminal obeys some of what is not printable. */
static void put_plain(char *to, size_t size, const char *from)
{
	size_t at = 0;

	for (; *from && at + 1 < size; from++)
		to[at++] = *from >= ' ' && *from <= '~' ? *from : '?';
	to[at] = '\0';
}

__attribute__((__format__(__printf__, 3, 4))) static void
problem(struct explain_read *read, const char *name, const char *format, ...)
{
	char text[160], plain[90];
	va_list arguments;

	if (read->problems == MOST_PROBLEMS)
		return;
	if (read->problems == read->problem_room)
		read->problem = grown(read->problem, &read->problem_room, sizeof(*read->problem));
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	/* The end of a long path tells files apart. */
	put_plain(plain, sizeof(plain),
		  strlen(name) < sizeof(plain) ? name : name + strlen(name) - sizeof(plain) + 1);
	snprintf(read->problem[read->problems++], sizeof(*read->problem), "%s: %s", plain, text);
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

struct json {
	const char *at, *end;
	const char *why; /* NULL: all is well */
	struct explain_read *read;
};

static bool bad(struct json *json, const char *why)
{
	if (!json->why)
		json->why = why;
	return false;
}

static void skip_space(struct json *json)
{
	while (json->at < json->end && (*json->at == ' ' || *json->at == '\t' || *json->at == '\r'))
		json->at++;
}

static bool next_is(struct json *json, char byte)
{
	skip_space(json);
	if (json->at == json->end || *json->at != byte)
		return false;
	json->at++;
	return true;
}

static bool hex4(struct json *json, unsigned int *number)
{
	*number = 0;
	for (int i = 0; i < 4; i++) {
		const char c = json->at < json->end ? *json->at++ : '\0';

		*number *= 16;
		if (c >= '0' && c <= '9')
			*number += (unsigned int)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			*number += (unsigned int)((c | 32) - 'a' + 10);
		else
			return bad(json, "not JSON: an escape of four digits has other characters");
	}
	return true;
}

/* After the backslash. */
static bool escaped(struct json *json, char *byte)
{
	const char c = json->at < json->end ? *json->at++ : '\0';
	unsigned int number = 0;

	if (c == '"' || c == '\\' || c == '/')
		*byte = c;
	else if (c && strchr("bfnrt", c))
		*byte = '?';
	else if (c == 'u' && hex4(json, &number))
		*byte = number >= ' ' && number <= '~' ? (char)number : '?';
	else
		return bad(json, "not JSON: an unknown escape");
	return true;
}

/* As ASCII that can be printed, cut off if it is long; `to` may be NULL. */
static bool get_string(struct json *json, char *to, size_t size)
{
	size_t length = 0;

	if (!next_is(json, '"'))
		return bad(json, "not JSON: a string is missing");
	while (json->at < json->end && *json->at != '"') {
		char byte = *json->at++;

		if ((unsigned char)byte < ' ')
			return bad(json, "not JSON: a control character in a string");
		if (byte == '\\' && !escaped(json, &byte))
			return false;
		if (((unsigned char)byte & 0xc0) == 0x80)
			continue; /* the rest of a character */
		if (to && length + 1 < size)
			to[length++] = byte <= '~' && byte >= ' ' ? byte : '?';
	}
	if (json->at == json->end)
		return bad(json, "not JSON: it ends within a string");
	json->at++;
	if (to)
		to[length] = '\0';
	return true;
}

static bool get_number(struct json *json, uint64_t most, uint64_t *number)
{
	const char *const start = json->at;

	*number = 0;
	while (json->at < json->end && *json->at >= '0' && *json->at <= '9') {
		const uint64_t digit = (uint64_t)(*json->at++ - '0');

		if (*number > (UINT64_MAX - digit) / 10)
			return bad(json, "a number that is too large");
		*number = *number * 10 + digit;
	}
	if (json->at == start || (*start == '0' && json->at > start + 1) ||
	    (json->at < json->end && strchr(".eE", *json->at)))
		return bad(json, "a number where only 0, 1, 2 and so on will do");
	return *number <= most || bad(json, "a number that is too large");
}

static bool digits(struct json *json)
{
	const char *const start = json->at;

	while (json->at < json->end && *json->at >= '0' && *json->at <= '9')
		json->at++;
	return json->at > start || bad(json, "not JSON: a number without digits");
}

static bool skip_number(struct json *json)
{
	json->at += *json->at == '-';
	if (json->at + 1 < json->end && json->at[0] == '0' && json->at[1] >= '0' &&
	    json->at[1] <= '9')
		return bad(json, "not JSON: a number begins with 0");
	if (!digits(json))
		return false;
	if (json->at < json->end && *json->at == '.') {
		json->at++;
		if (!digits(json))
			return false;
	}
	if (json->at < json->end && (*json->at | 32) == 'e') {
		json->at++;
		json->at += json->at < json->end && (*json->at == '+' || *json->at == '-');
		return digits(json);
	}
	return true;
}

static bool word(struct json *json, const char *is)
{
	const size_t length = strlen(is);

	skip_space(json);
	if ((size_t)(json->end - json->at) < length || memcmp(json->at, is, length))
		return false;
	json->at += length;
	return true;
}

static bool skip_value(struct json *json, int depth)
{
	char close;

	skip_space(json);
	if (json->at == json->end)
		return bad(json, "not JSON: it ends too early");
	if (*json->at == '"')
		return get_string(json, NULL, 0);
	if (*json->at == '-' || (*json->at >= '0' && *json->at <= '9'))
		return skip_number(json);
	if (*json->at != '{' && *json->at != '[')
		return word(json, "true") || word(json, "false") || word(json, "null") ||
		       bad(json, "not JSON: no value where one should be");
	if (depth == DEPTH)
		return bad(json, "it is nested too deeply");
	close = *json->at++ == '{' ? '}' : ']';
	if (next_is(json, close))
		return true;
	do {
		if (close == '}' &&
		    (!get_string(json, NULL, 0) ||
		     !(next_is(json, ':') || bad(json, "not JSON: a colon is missing"))))
			return false;
		if (!skip_value(json, depth + 1))
			return false;
	} while (next_is(json, ','));
	return next_is(json, close) || bad(json, "not JSON: an object or array has no end");
}

/* ---- Values ------------------------------------------------------------------------------------------ */

static const char *keep(struct explain_read *read, const char *text)
{
	const size_t size = strlen(text) + 1;
	struct text_block *block = read->text;
	char *kept;

	if (!block || BLOCK - block->used < size) {
		block = explain_job_realloc(NULL, sizeof(*block));
		block->next = read->text;
		block->used = 0;
		read->text = block;
	}
	kept = block->bytes + block->used;
	memcpy(kept, text, size);
	block->used += size;
	return kept;
}

static unsigned int two(const char *digits_at)
{
	return (unsigned int)(digits_at[0] - '0') * 10 + (unsigned int)(digits_at[1] - '0');
}

/* "2026-01-31T23:59:59.000Z", and nothing else. Days are counted from March, in eras of 400 years. */
static bool get_time(struct json *json, uint64_t *ms)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.dddZ";
	unsigned int year, month, day, hour, minute, second, era, of_era;
	char text[sizeof(form) + 1];

	if (!get_string(json, text, sizeof(text)))
		return false;
	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return bad(json, "an invalid time");
	year = two(text) * 100 + two(text + 2);
	month = two(text + 5);
	day = two(text + 8);
	hour = two(text + 11);
	minute = two(text + 14);
	second = two(text + 17);
	if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 ||
	    minute > 59 || second > 60)
		return bad(json, "an invalid time");
	year -= month <= 2;
	era = year / 400;
	of_era = year % 400;
	day += (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 - 1;
	*ms = (uint64_t)era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day - 719468;
	*ms = ((*ms * 24 + hour) * 60 + minute) * 60 + second;
	*ms = *ms * 1000 + (unsigned int)(text[20] - '0') * 100 + two(text + 21);
	return true;
}

/* An IPv4 address is the IPv6 address that it is mapped to. */
static bool get_gid(struct json *json, struct explain_gid *gid)
{
	char text[INET6_ADDRSTRLEN + 1];

	if (!get_string(json, text, sizeof(text)))
		return false;
	if (inet_pton(AF_INET6, text, gid->raw) == 1)
		return true;
	memcpy(gid->raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
	return inet_pton(AF_INET, text, gid->raw + 12) == 1 || bad(json, "an invalid GID");
}

/* The row above, if it is not NULL, often has the same text. */
static bool get_text(struct json *json, const char **to, const char *const *above)
{
	char text[LONGEST_TEXT];

	if (!get_string(json, text, sizeof(text)))
		return false;
	*to = above && *above && !strcmp(*above, text) ? *above : keep(json->read, text);
	return true;
}

static bool get_value(struct json *json, const struct explain_state_field *field, char *row,
		      const char *above)
{
	void *const at = row + field->offset;
	const void *const there = above ? above + field->offset : NULL;
	uint64_t number = 0;
	uint32_t u32;
	bool is;

	skip_space(json);
	switch (field->type) {
	case EXPLAIN_STATE_TEXT:
		return get_text(json, at, there);
	case EXPLAIN_STATE_U32:
		if (!get_number(json, UINT32_MAX, &number))
			return false;
		u32 = (uint32_t)number;
		memcpy(at, &u32, sizeof(u32));
		return true;
	case EXPLAIN_STATE_U64:
		if (!get_number(json, UINT64_MAX, &number))
			return false;
		memcpy(at, &number, sizeof(number));
		return true;
	case EXPLAIN_STATE_TIME:
		if (!get_time(json, &number))
			return false;
		memcpy(at, &number, sizeof(number));
		return true;
	case EXPLAIN_STATE_BOOL:
		is = word(json, "true");
		memcpy(at, &is, sizeof(is));
		return is || word(json, "false") || bad(json, "neither true nor false");
	case EXPLAIN_STATE_GID:
		return get_gid(json, at);
	}
	return false;
}

/* The members mostly come in the order of the table. */
static size_t find_field(const struct explain_state_table *table, const char *name, size_t guess)
{
	for (size_t i = 0; i < table->fields; i++) {
		const size_t at = (guess + i) % table->fields;
		const struct explain_state_field *const field = &table->field[at];

		if (!strcmp(name, field->type == EXPLAIN_STATE_TIME ? "time" : field->name))
			return at;
	}
	return table->fields;
}

static bool get_rows(struct json *json, const struct explain_state_table *table,
		     struct explain_state *state);

/* The object's brace is behind us. Only the process itself has arrays. */
static bool get_object(struct json *json, const struct explain_state_table *table, char *row,
		       const char *above, struct explain_state *state)
{
	uint64_t has = 0;
	size_t at = 0;

	if (next_is(json, '}'))
		return true;
	do {
		char name[32];
		size_t i = 0;

		if (!get_string(json, name, sizeof(name)))
			return false;
		if (!next_is(json, ':'))
			return bad(json, "not JSON: a colon is missing");
		at = find_field(table, name, at);
		while (state && i < EXPLAIN_STATE_TABLES &&
		       strcmp(name, explain_state_tables[i].name))
			i++;
		if (word(json, "null"))
			continue;
		if (at < table->fields) {
			if (!get_value(json, &table->field[at], row, above))
				return false;
			has |= UINT64_C(1) << at;
			memcpy(row, &has, sizeof(has));
			at++;
		} else if (state && i < EXPLAIN_STATE_TABLES) {
			if (!get_rows(json, &explain_state_tables[i], state))
				return false;
		} else if (!skip_value(json, 1)) {
			return false;
		}
	} while (next_is(json, ','));
	return next_is(json, '}') || bad(json, "not JSON: an object has no end");
}

static bool get_rows(struct json *json, const struct explain_state_table *table,
		     struct explain_state *state)
{
	size_t room = 0, count = 0;
	char *rows, *more;
	bool good = true;

	memcpy(&rows, (char *)state + table->rows, sizeof(rows));
	if (rows)
		return bad(json, "the same array twice");
	if (!next_is(json, '['))
		return bad(json, "no array where one is expected");
	if (next_is(json, ']'))
		return true;
	do {
		if (!next_is(json, '{')) {
			good = bad(json, "no object where one is expected");
			break;
		}
		if (json->read->rows == MOST_ROWS) {
			good = bad(json, "too many rows in all");
			break;
		}
		if (count == room)
			rows = grown(rows, &room, table->size);
		more = rows + count * table->size;
		memset(more, 0, table->size);
		count++;
		json->read->rows++;
		good = get_object(json, table, more, count > 1 ? more - table->size : NULL, NULL);
	} while (good && next_is(json, ','));
	if (good && !next_is(json, ']'))
		good = bad(json, "not JSON: an array has no end");
	memcpy((char *)state + table->rows, &rows, sizeof(rows));
	memcpy((char *)state + table->count, &count, sizeof(count));
	return good;
}

/* ---- Lines and files ---------------------------------------------------------------------------------- */

static void free_rows(struct explain_read *read, struct explain_state *state)
{
	for (size_t i = 0; i < EXPLAIN_STATE_TABLES; i++) {
		size_t count;
		void *rows;

		memcpy(&rows, (char *)state + explain_state_tables[i].rows, sizeof(rows));
		memcpy(&count, (char *)state + explain_state_tables[i].count, sizeof(count));
		read->rows -= count;
		free(rows);
	}
}

static const char *check_identity(const struct explain_state *state)
{
	if (!state->program || !state->host || !EXPLAIN_STATE_HAS(PROCESS, state, pid) ||
	    !EXPLAIN_STATE_HAS(PROCESS, state, time_ms))
		return "a state without program, pid, host or time";
	return NULL;
}

/* Whether it is a state; json->why tells of one that is not taken. */
static bool get_line(struct json *json)
{
	struct explain_read *const read = json->read;
	struct explain_state state;
	bool good;

	memset(&state, 0, sizeof(state));
	good = next_is(json, '{') || bad(json, "not JSON: no object");
	good = good && get_object(json, &explain_state_process, (char *)&state, NULL, &state);
	skip_space(json);
	if (good && json->at < json->end)
		good = bad(json, "not JSON: something follows the object");
	if (good && (!state.kind || strcmp(state.kind, "state"))) {
		free_rows(read, &state);
		return false; /* a finding or a summary */
	}
	if (good)
		json->why = check_identity(&state);
	if (!json->why && read->count == MOST_STATES)
		json->why = "too many states in all";
	if (json->why) {
		free_rows(read, &state);
		return false;
	}
	if (read->count == read->room)
		read->state = grown(read->state, &read->room, sizeof(*read->state));
	read->state[read->count++] = state;
	return true;
}

void explain_read_text(struct explain_read *read, const char *name, const char *text, size_t size)
{
	const size_t before = read->count, problems = read->problems;
	const char *const end = text + size;
	size_t line = 0, broken = 0, first = 0;
	const char *why = NULL;

	read->files++;
	while (text < end) {
		const char *const newline = memchr(text, '\n', (size_t)(end - text));
		struct json json = {.at = text, .end = newline ? newline : end, .read = read};

		line++;
		skip_space(&json);
		if (json.at < json.end)
			get_line(&json);
		if (json.why && !newline) {
			problem(read, name, "line %zu is cut off: %s", line, json.why);
		} else if (json.why && !broken++) {
			first = line;
			why = json.why;
		}
		text = newline ? newline + 1 : end;
	}
	if (broken > 1)
		problem(read, name, "line %zu and %zu more: %s", first, broken - 1, why);
	else if (broken)
		problem(read, name, "line %zu: %s", first, why);
	read->without += read->count == before && read->problems == problems;
}

static bool read_all(int file, char *to, size_t size, size_t *length)
{
	*length = 0;
	while (*length < size) {
		const ssize_t more = read(file, to + *length, size - *length);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return false;
		if (!more)
			break;
		*length += (size_t)more;
	}
	return true;
}

/* A device or FIFO may never end, or wait. */
void explain_read_file(struct explain_read *read, const char *name)
{
	const int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat is;
	size_t length;
	char *text;

	if (file < 0 || fstat(file, &is)) {
		read->files++;
		problem(read, name, "%s", strerror(errno));
	} else if (!S_ISREG(is.st_mode)) {
		read->files++;
		problem(read, name, "not a regular file");
	} else if ((uint64_t)is.st_size > MOST_BYTES) {
		read->files++;
		problem(read, name, "larger than %zu MiB", MOST_BYTES >> 20);
	} else {
		text = explain_job_realloc(NULL, (size_t)is.st_size + 1);
		if (read_all(file, text, (size_t)is.st_size, &length)) {
			explain_read_text(read, name, text, length);
		} else {
			read->files++;
			problem(read, name, "%s", strerror(errno));
		}
		free(text);
	}
	if (file >= 0)
		close(file);
}

void explain_read_free(struct explain_read *read)
{
	for (size_t i = 0; i < read->count; i++)
		free_rows(read, &read->state[i]);
	while (read->text) {
		struct text_block *const next = read->text->next;

		free(read->text);
		read->text = next;
	}
	free(read->state);
	free(read->problem);
	memset(read, 0, sizeof(*read));
}
