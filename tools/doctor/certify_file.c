/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --certify: the file. Each fact and each step is a line of it, so that people can read it as well. */
#include "certify.h"
#include "record.h"

#include <rdmaez/impl/seam.h>

#include <stdio.h>
#include <string.h>

static const char *const result_word[] = {"pass", "fail", "not offered", "not tried"};

/* What has been written. */
struct file {
	FILE *stream;
	unsigned int facts, steps;
	unsigned int count[4];
	bool is_complete;
};

static const char *after(const char *string)
{
	return string + strlen(string) + 1;
}

static void put_string(FILE *stream, const char *text)
{
	static char string[6 * STRINGS_MAX + 3];

	rdmaez_impl_json_string(text, STRINGS_MAX, string, sizeof(string));
	fputs(string, stream);
}

/* A member of a step that has something to say. */
static void put_member(FILE *stream, const char *name, const char *text)
{
	if (!text[0])
		return;
	fprintf(stream, ", \"%s\": ", name);
	put_string(stream, text);
}

static void put_fact(struct file *file, const char *strings)
{
	const char *const form = after(strings), *const value = after(form);

	if (strcmp(strings, "complete") == 0) {
		file->is_complete = true;
		return;
	}
	fprintf(file->stream, ",\n  \"%s\": ", strings);
	if (strcmp(form, "number") == 0)
		fputs(value, file->stream);
	else
		put_string(file->stream, value);
	file->facts++;
}

static void put_step(struct file *file, enum certify_result result, const char *group,
		     const char *step, const char *error, const char *status, const char *reason,
		     const char *words)
{
	FILE *const stream = file->stream;

	file->count[result]++;
	fprintf(stream, "%s\n    {\"result\": \"%s\", \"group\": ", file->steps++ ? "," : "",
		result_word[result]);
	put_string(stream, group);
	put_member(stream, "step", step);
	put_member(stream, "errno", error);
	put_member(stream, "status", status);
	put_member(stream, "reason", reason);
	put_member(stream, "detail", words);
	fputc('}', stream);
}

static void put_recorded_step(struct file *file, unsigned int result, const char *group)
{
	const char *const step = after(group), *const error = after(step);
	const char *const status = after(error), *const reason = after(status);

	put_step(file, (enum certify_result)(result & 3), group, step, error, status, reason,
		 after(reason));
}

/* All records of a kind. */
static void put_all(struct file *file, const struct run *run, enum kind kind)
{
	const char *strings;
	struct head head;

	for (size_t at = 0; (strings = doctor_record(run, at, &head)) != NULL;
	     at += sizeof(head) + head.length)
		if (head.kind == kind && kind == KIND_FACT)
			put_fact(file, strings);
		else if (head.kind == kind)
			put_recorded_step(file, head.verdict, strings);
}

/* Of the way to a peer only how many lines were how: the lines themselves have addresses. */
static void put_peer(struct file *file, const struct run *run)
{
	unsigned int count[4] = {0, 0, 0, 0};
	struct head head;
	char words[96];

	for (size_t at = 0; doctor_record(run, at, &head); at += sizeof(head) + head.length)
		if (head.kind == KIND_LINE)
			count[head.verdict & 3]++;
	snprintf(words, sizeof(words), "%u failed, %u warnings, %u notes, %u ok",
		 count[DOCTOR_FAILED], count[DOCTOR_WARNING], count[DOCTOR_NOTE], count[DOCTOR_OK]);
	put_step(file, count[DOCTOR_FAILED] || !count[DOCTOR_OK] ? CERTIFY_FAIL : CERTIFY_PASS,
		 "second host", run->check->name, "", "", "", words);
}

static void put_runs(struct file *file, const struct run *run, unsigned int runs)
{
	fputs("{\n  \"format\": \"rdmaez-certify 1\"", file->stream);
	put_all(file, &run[runs - 1], KIND_FACT);
	fputs(",\n  \"steps\": [", file->stream);
	put_all(file, &run[runs - 1], KIND_STEP);
	if (!file->is_complete)
		put_step(file, CERTIFY_FAIL, "end", "end the run", "", "", "",
			 "the run ended after the step above");
	for (unsigned int i = 0; i + 1 < runs; i++)
		put_peer(file, &run[i]);
	if (runs == 1)
		put_step(file, CERTIFY_NOT_TRIED, "second host", "probe", "", "", "",
			 "--peer was not given");
	fprintf(file->stream,
		"\n  ],\n  \"summary\": {\"pass\": %u, \"fail\": %u, "
		"\"not offered\": %u, \"not tried\": %u}\n}\n",
		file->count[CERTIFY_PASS], file->count[CERTIFY_FAIL],
		file->count[CERTIFY_NOT_OFFERED], file->count[CERTIFY_NOT_TRIED]);
}

/* Whether a device was there to begin with. */
static bool has_begun(const struct run *run)
{
	struct head head;

	for (size_t at = 0; doctor_record(run, at, &head); at += sizeof(head) + head.length)
		if (head.kind == KIND_STEP)
			return true;
	return false;
}

bool certify_write(const struct run *run, unsigned int runs, const char *path)
{
	struct file file;
	bool is_bad;

	memset(&file, 0, sizeof(file));
	if (!has_begun(&run[runs - 1]))
		return false;
	file.stream = fopen(path, "w");
	if (!file.stream) {
		perror(path);
		return false;
	}
	put_runs(&file, run, runs);
	is_bad = ferror(file.stream) != 0;
	is_bad |= fclose(file.stream) != 0;
	if (is_bad) {
		perror(path);
		return false;
	}
	if (!doctor_options.json)
		printf("rdmaez-doctor: %s has the results, without names and addresses\n", path);
	return file.is_complete && !file.count[CERTIFY_FAIL];
}
