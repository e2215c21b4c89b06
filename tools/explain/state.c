/* SPDX-License-Identifier: MIT */
/* The line of JSON that carries a process's state. */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "state.h"

#define FIELD_PROCESS(type, name) \
	{#name, EXPLAIN_STATE_##type, offsetof(struct explain_state, name)},
#define FIELD_PORT(type, name) \
	{#name, EXPLAIN_STATE_##type, offsetof(struct explain_state_port, name)},
#define FIELD_GIDS(type, name) \
	{#name, EXPLAIN_STATE_##type, offsetof(struct explain_state_gids, name)},
#define FIELD_QP(type, name) {#name, EXPLAIN_STATE_##type, offsetof(struct explain_state_qp, name)},
#define FIELD_CQ(type, name) {#name, EXPLAIN_STATE_##type, offsetof(struct explain_state_cq, name)},
#define FIELD_SRQ(type, name) \
	{#name, EXPLAIN_STATE_##type, offsetof(struct explain_state_srq, name)},
#define FIELD_MR(type, name) {#name, EXPLAIN_STATE_##type, offsetof(struct explain_state_mr, name)},

#define FIELDS(member, list, upper, lower) \
	static const struct explain_state_field lower##_fields[] = {list(FIELD_##upper)};
EXPLAIN_STATE_ARRAYS(FIELDS)
static const struct explain_state_field process_fields[] = {EXPLAIN_STATE_PROCESS(FIELD_PROCESS)};

_Static_assert(EXPLAIN_STATE_QP_COUNT <= 64, "a bit of `has` for each member");

#define TABLE(member, list, upper, lower)        \
	{#member,                                \
	 lower##_fields,                         \
	 EXPLAIN_STATE_##upper##_COUNT,          \
	 sizeof(struct explain_state_##lower),   \
	 offsetof(struct explain_state, member), \
	 offsetof(struct explain_state, member##_count)},
const struct explain_state_table explain_state_tables[EXPLAIN_STATE_TABLES] = {
	EXPLAIN_STATE_ARRAYS(TABLE)};
const struct explain_state_table explain_state_process = {
	NULL, process_fields, EXPLAIN_STATE_PROCESS_COUNT, sizeof(struct explain_state), 0, 0};

/* ---- Rank ----------------------------------------------------------------------------------------- */

static bool number_of(const char *const names[], size_t count, uint32_t *number)
{
	for (size_t i = 0; i < count; i++) {
		const char *const text = getenv(names[i]);
		char *end;
		unsigned long is;

		if (!text || text[0] < '0' || text[0] > '9')
			continue;
		is = strtoul(text, &end, 10);
		if (*end || is > INT32_MAX)
			continue;
		*number = (uint32_t)is;
		return true;
	}
	return false;
}

/* Open MPI, then what it and others get from PMIx or PMI; Slurm's last, which a shell of sbatch has as well. */
void explain_state_rank(struct explain_state *state)
{
	static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "RANK",
					    "SLURM_PROCID"};
	static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "WORLD_SIZE",
					    "SLURM_NTASKS"};
	uint32_t number;

	if (number_of(ranks, sizeof(ranks) / sizeof(*ranks), &number))
		EXPLAIN_STATE_SET(PROCESS, state, rank, number);
	if (number_of(sizes, sizeof(sizes) / sizeof(*sizes), &number))
		EXPLAIN_STATE_SET(PROCESS, state, ranks, number);
}

/* ---- The line ------------------------------------------------------------------------------------- */

struct line {
	char *buf;
	size_t size, length;
};

static void put_byte(struct line *line, char byte)
{
	if (line->length < line->size)
		line->buf[line->length] = byte;
	line->length++;
}

__attribute__((__format__(__printf__, 2, 3))) static void put(struct line *line, const char *format,
							      ...)
{
	char text[128];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (const char *at = text; *at; at++)
		put_byte(line, *at);
}

/* In ASCII: what is none is '?', as the reader would have it. */
static void put_text(struct line *line, const char *text)
{
	put_byte(line, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			put_byte(line, '\\');
		put_byte(line, *text >= ' ' && *text <= '~' ? *text : '?');
	}
	put_byte(line, '"');
}

static void put_time(struct line *line, uint64_t ms)
{
	const time_t seconds = (time_t)(ms / 1000);
	struct tm is;

	if (!gmtime_r(&seconds, &is))
		memset(&is, 0, sizeof(is));
	put(line, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03uZ\"", is.tm_year + 1900, is.tm_mon + 1,
	    is.tm_mday, is.tm_hour, is.tm_min, is.tm_sec, (unsigned int)(ms % 1000));
}

static void put_value(struct line *line, enum explain_state_type type, const void *at)
{
	char gid[INET6_ADDRSTRLEN] = "";
	const char *text;
	uint32_t u32;
	uint64_t u64;

	switch (type) {
	case EXPLAIN_STATE_TEXT:
		memcpy(&text, at, sizeof(text));
		put_text(line, text);
		break;
	case EXPLAIN_STATE_U32:
		memcpy(&u32, at, sizeof(u32));
		put(line, "%u", u32);
		break;
	case EXPLAIN_STATE_U64:
		memcpy(&u64, at, sizeof(u64));
		put(line, "%llu", (unsigned long long)u64);
		break;
	case EXPLAIN_STATE_TIME:
		memcpy(&u64, at, sizeof(u64));
		put_time(line, u64);
		break;
	case EXPLAIN_STATE_BOOL:
		put(line, *(const bool *)at ? "true" : "false");
		break;
	case EXPLAIN_STATE_GID:
		inet_ntop(AF_INET6, at, gid, sizeof(gid));
		put_text(line, gid);
		break;
	}
}

static bool is_known(const struct explain_state_table *table, size_t field, const char *row)
{
	const char *text;
	uint64_t has;

	memcpy(&has, row, sizeof(has));
	if (table->field[field].type != EXPLAIN_STATE_TEXT)
		return has >> field & 1;
	memcpy(&text, row + table->field[field].offset, sizeof(text));
	return text;
}

static void put_fields(struct line *line, const struct explain_state_table *table, const char *row)
{
	const char *before = "{";

	for (size_t i = 0; i < table->fields; i++) {
		const struct explain_state_field *const field = &table->field[i];

		if (!is_known(table, i, row))
			continue;
		put(line, "%s\"%s\":", before,
		    field->type == EXPLAIN_STATE_TIME ? "time" : field->name);
		put_value(line, field->type, row + field->offset);
		before = ",";
	}
	if (before[0] == '{')
		put_byte(line, '{');
}

size_t explain_state_write(const struct explain_state *state, char *buf, size_t size)
{
	struct line line = {.buf = buf, .size = size};
	struct explain_state copy = *state;

	copy.kind = "state";
	put_fields(&line, &explain_state_process, (const char *)&copy);
	for (size_t i = 0; i < EXPLAIN_STATE_TABLES; i++) {
		const struct explain_state_table *const table = &explain_state_tables[i];
		const char *rows;
		size_t count;

		memcpy(&rows, (const char *)state + table->rows, sizeof(rows));
		memcpy(&count, (const char *)state + table->count, sizeof(count));
		if (!count)
			continue;
		put(&line, ",\"%s\":[", table->name);
		for (size_t n = 0; n < count; n++) {
			if (n)
				put_byte(&line, ',');
			put_fields(&line, table, rows + n * table->size);
			put_byte(&line, '}');
		}
		put_byte(&line, ']');
	}
	put(&line, "}\n");
	if (size)
		buf[line.length < size ? line.length : size - 1] = '\0';
	return line.length;
}
