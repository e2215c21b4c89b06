/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --certify: the file. Each fact and each step is a line of it, so that people can read it as well. */
#include "certify.h"
#include "record.h"

#include <rdmaez/impl/seam.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Says why nothing can be written there. Returns false. */
static bool refuse(const char *path, int error)
{
	fprintf(stderr, "rdmaez-doctor: cannot write %s: %s\n", path, strerror(error));
	return false;
}

/* Where a file takes the place of an older one as a whole: beside it, under another name until it is complete. Nothing
   can take the place of a device or of a pipe, nor stand beside a file if the directory is read-only. */
struct place {
	char path[PATH_MAX], part[PATH_MAX + 8];
	bool is_replaced;
};

/* Opens it for writing. Returns a descriptor, or -1 with errno. */
static int open_place(const char *path, struct place *place)
{
	struct stat status;
	bool is_there;
	mode_t mask;
	int fd;

	if (!realpath(path, place->path))
		snprintf(place->path, sizeof(place->path), "%s", path);
	place->is_replaced = false;
	is_there = stat(place->path, &status) == 0;
	if (is_there) {
		if (access(place->path, W_OK) != 0)
			return -1;
		if (!S_ISREG(status.st_mode))
			return open(place->path, O_WRONLY | O_CLOEXEC);
	}
	snprintf(place->part, sizeof(place->part), "%s.XXXXXX", place->path);
	fd = mkstemp(place->part);
	if (fd < 0)
		return is_there ? open(place->path, O_WRONLY | O_TRUNC | O_CLOEXEC) : -1;
	place->is_replaced = true;
	mask = umask(0);
	umask(mask);
	fchmod(fd, is_there ? status.st_mode & 0777 : 0666 & ~mask);
	return fd;
}

/* Writes all of it. Returns 0 or an errno value. */
static int put_text(int fd, const char *text, size_t length)
{
	int error = 0;

	while (length && !error) {
		const ssize_t n = write(fd, text, length);

		if (n < 0 && errno != EINTR)
			error = errno;
		if (n > 0) {
			text += n;
			length -= (size_t)n;
		}
	}
	return error;
}

static int write_file(const char *path, const char *text, size_t length)
{
	struct place place;
	int error, fd = open_place(path, &place);

	if (fd < 0)
		return errno;
	error = put_text(fd, text, length);
	if (close(fd) != 0 && !error)
		error = errno;
	if (place.is_replaced && !error && rename(place.part, place.path) != 0)
		error = errno;
	if (place.is_replaced && error)
		unlink(place.part);
	return error;
}

/* A run takes minutes, so this asks before. A file that is there stays as it is. */
bool certify_can_write(const char *path)
{
	struct place place;
	struct stat status;
	int fd;

	if (stat(path, &status) == 0) {
		if (S_ISDIR(status.st_mode))
			return refuse(path, EISDIR);
		return access(path, W_OK) == 0 || refuse(path, errno);
	}
	fd = open_place(path, &place);
	if (fd < 0)
		return refuse(path, errno);
	close(fd);
	unlink(place.part);
	return true;
}

bool certify_write(const struct run *run, unsigned int runs, const char *path)
{
	struct file file;
	char *text = NULL;
	size_t length;
	int error;

	memset(&file, 0, sizeof(file));
	if (!has_begun(&run[runs - 1]))
		return false;
	file.stream = open_memstream(&text, &length);
	if (!file.stream)
		return refuse(path, errno);
	put_runs(&file, run, runs);
	error = fclose(file.stream) != 0 ? errno : write_file(path, text, length);
	if (error) {
		refuse(path, error);
		if (!doctor_options.json && text)
			printf("rdmaez-doctor: the results that it would have:\n%s", text);
	} else if (!doctor_options.json) {
		printf("rdmaez-doctor: %s has the results, without names and addresses\n", path);
	}
	free(text);
	return !error && file.is_complete && !file.count[CERTIFY_FAIL];
}
