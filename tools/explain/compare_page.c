/* SPDX-License-Identifier: MIT */
/* The page that --compare prints. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compare_job.h"

enum {
	COLUMNS = 100,
	ROW = 4,
	MOST_RANGES = 12,
	MOST_NAMES = 4
};

struct explain_part {
	enum explain_level level;
	size_t weight, order, length;
	char *text;
};

void *explain_job_realloc(void *old, size_t size)
{
	void *const is = realloc(old, size ? size : 1);

	if (!is) {
		fputs("rdmaez-explain: out of memory\n", stderr);
		exit(125);
	}
	return is;
}

void *explain_job_zeros(size_t count, size_t size)
{
	return memset(explain_job_realloc(NULL, count * size), 0, count * size);
}

/* ---- Names -------------------------------------------------------------------------------------------- */

static bool has_rank(const struct explain_job *job, uint32_t process)
{
	return EXPLAIN_STATE_HAS(PROCESS, job->process[process].state, rank);
}

static const char *text_or(const char *text, const char *other)
{
	return text && text[0] ? text : other;
}

const char *explain_name(const struct explain_job *job, uint32_t process, char name[EXPLAIN_NAME])
{
	const struct explain_state *const state = job->process[process].state;

	if (has_rank(job, process))
		snprintf(name, EXPLAIN_NAME, "rank %u on %.100s", state->rank,
			 text_or(state->host, "?"));
	else
		snprintf(name, EXPLAIN_NAME, "%.100s[%u] on %.100s", text_or(state->program, "?"),
			 state->pid, text_or(state->host, "?"));
	return name;
}

static bool put_name(char name[EXPLAIN_NAME], const char *text)
{
	const size_t length = strlen(name);

	if (length + strlen(text) + sizeof(", ...)") > EXPLAIN_NAME)
		return false;
	strcpy(name + length, text);
	return true;
}

static void put_ranges(const struct explain_job *job, const bool *is, char name[EXPLAIN_NAME])
{
	unsigned int ranges = 0;
	char text[64];

	for (uint32_t i = 0; i < job->processes; i++) {
		const uint32_t first = job->process[i].state->rank;
		uint32_t last = first;

		if (!is[i])
			continue;
		while (i + 1 < job->processes && is[i + 1] &&
		       job->process[i + 1].state->rank - last <= 1)
			last = job->process[++i].state->rank;
		snprintf(text, sizeof(text), last == first ? "%s%u" : "%s%u-%u", ranges ? ", " : "",
			 first, last);
		if (++ranges > MOST_RANGES || !put_name(name, text)) {
			strcat(name, ", ...");
			return;
		}
	}
}

const char *explain_names(const struct explain_job *job, const bool *is, char name[EXPLAIN_NAME])
{
	size_t count = 0, ranked = 0, named = 0;
	char one[EXPLAIN_NAME];
	uint32_t last = 0;

	for (uint32_t i = 0; i < job->processes; i++) {
		count += is[i];
		ranked += is[i] && has_rank(job, i);
		last = is[i] ? i : last;
	}
	if (count == 1)
		return explain_name(job, last, name);
	snprintf(name, EXPLAIN_NAME, "%zu %s (", count, ranked == count ? "ranks" : "processes");
	if (ranked == count)
		put_ranges(job, is, name);
	for (uint32_t i = 0; i < job->processes && ranked < count; i++) {
		if (!is[i])
			continue;
		explain_name(job, i, one);
		if (named == MOST_NAMES || (named && !put_name(name, ", ")) ||
		    !put_name(name, one)) {
			strcat(name, ", ...");
			break;
		}
		named++;
	}
	return strcat(name, ")");
}

/* ---- Lines -------------------------------------------------------------------------------------------- */

static void put_wrapped(FILE *page, int indent, const char *text)
{
	int column = fprintf(page, "%*s", indent, "");

	while (*text) {
		const size_t length = strcspn(text, " ");

		fprintf(page, "%.*s", (int)length, text);
		column += (int)length;
		text += length;
		if (!*text)
			break;
		text++;
		if (column + 1 + (int)strcspn(text, " ") > COLUMNS)
			column = fprintf(page, "\n%*s", indent + (indent ? 2 : 4), "") - 1;
		else
			column += fprintf(page, " ");
	}
	fputc('\n', page);
}

static void put_line(struct explain_job *job, int indent, const char *before, const char *format,
		     va_list arguments)
{
	char text[2048];
	const int at = snprintf(text, sizeof(text), "%s", before);

	vsnprintf(text + at, sizeof(text) - (size_t)at, format, arguments);
	put_wrapped(job->page, indent, text);
}

void explain_say(struct explain_job *job, int indent, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put_line(job, indent, "", format, arguments);
	va_end(arguments);
}

static size_t put_process(char *to, size_t size, const struct explain_job *job, uint32_t process)
{
	const struct explain_state *const state = job->process[process].state;
	const time_t seconds = (time_t)(state->time_ms / 1000);
	char when[64] = "?", rank[32] = "";
	struct tm is;

	if (EXPLAIN_STATE_HAS(PROCESS, state, time_ms) && gmtime_r(&seconds, &is))
		snprintf(when, sizeof(when), "%04d-%02d-%02dT%02d:%02d:%02d.%03uZ",
			 is.tm_year + 1900, is.tm_mon + 1, is.tm_mday, is.tm_hour, is.tm_min,
			 is.tm_sec, (unsigned int)(state->time_ms % 1000));
	if (has_rank(job, process))
		snprintf(rank, sizeof(rank), "rank %u, ", state->rank);
	return (size_t)snprintf(to, size, "%s%.100s, %.100s[%u], %s: ", rank,
				text_or(state->host, "?"), text_or(state->program, "?"), state->pid,
				when);
}

void explain_process_row(struct explain_job *job, uint32_t process, const char *format, ...)
{
	va_list arguments;
	char before[512];

	put_process(before, sizeof(before), job, process);
	va_start(arguments, format);
	put_line(job, ROW, before, format, arguments);
	va_end(arguments);
}

void explain_row(struct explain_job *job, uint32_t end, const char *format, ...)
{
	const struct explain_state_qp *const qp = job->end[end].qp;
	va_list arguments;
	char before[768];
	size_t at = put_process(before, sizeof(before), job, job->end[end].process);

	if (EXPLAIN_STATE_HAS(QP, qp, qp_num))
		at += (size_t)snprintf(before + at, sizeof(before) - at, "QP %u", qp->qp_num);
	else
		at += (size_t)snprintf(before + at, sizeof(before) - at, "a queue pair");
	if (qp->device)
		at += (size_t)snprintf(before + at, sizeof(before) - at, " of %.64s", qp->device);
	if (EXPLAIN_STATE_HAS(QP, qp, port))
		at += (size_t)snprintf(before + at, sizeof(before) - at, " port %u", qp->port);
	snprintf(before + at, sizeof(before) - at, ": ");
	va_start(arguments, format);
	put_line(job, ROW, before, format, arguments);
	va_end(arguments);
}

/* ---- Parts -------------------------------------------------------------------------------------------- */

void explain_part_begin(struct explain_job *job, enum explain_level level, size_t weight)
{
	struct explain_part *part;

	if (job->page)
		fclose(job->page);
	if (job->parts == job->part_room) {
		job->part_room = job->part_room ? job->part_room * 2 : 64;
		/* A stream under way keeps the address of its text, but none is. */
		job->part = explain_job_realloc(job->part, job->part_room * sizeof(*job->part));
	}
	part = &job->part[job->parts];
	*part = (struct explain_part){.level = level, .weight = weight, .order = job->parts};
	job->parts++;
	job->page = open_memstream(&part->text, &part->length);
	if (!job->page) {
		fputs("rdmaez-explain: out of memory\n", stderr);
		exit(125);
	}
}

static int by_weight(const void *left, const void *right)
{
	const struct explain_part *const a = left, *const b = right;

	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

size_t explain_page_write(struct explain_job *job, enum explain_level most, FILE *out)
{
	size_t written = 0;

	if (job->page)
		fclose(job->page);
	job->page = NULL;
	if (job->parts)
		qsort(job->part, job->parts, sizeof(*job->part), by_weight);
	for (size_t i = 0; i < job->parts; i++) {
		if (job->part[i].level <= most) {
			fwrite(job->part[i].text, 1, job->part[i].length, out);
			written++;
		}
		free(job->part[i].text);
	}
	free(job->part);
	job->part = NULL;
	return written;
}
