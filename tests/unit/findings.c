/* SPDX-License-Identifier: MIT */
/* The tests' own helpers: whoever reads that a number of findings is wrong sees the record. */
#define _POSIX_C_SOURCE 200809L /* fork */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include <rdmaez/implementation.h>
#include "findings.h"

static struct rdmaez_diag diag;

/* A refusal with one finding. */
static int refused(void)
{
	return rdmaez_qp_examine(NULL, &diag);
}

/* ---- Judgements, each of which fails ---------------------------------------------------------- */

static void one_too_many(void)
{
	CHECK_FINDINGS(
		&diag, refused(), EINVAL, "rdmaez_qp_examine", "two",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NULL_ARGUMENT, "qp", RDMAEZ_VALUE_NONE, 0, 0, 0},
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NULL_ARGUMENT, "qp", RDMAEZ_VALUE_NONE, 0, 0, 0});
}

static void two_for_one(void)
{
	const int error = refused();

	diag.finding[diag.count++] = diag.finding[0];
	check_refusal(&diag, error, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "qp", "one");
}

static void one_for_none(void)
{
	refused();
	diag.error = 0;
	check_success(&diag, 0, "none");
}

static void one_for_five(void)
{
	refused();
	tap_eq_count(&diag, 5, "five");
}

static void nothing_written(void)
{
	memset(&diag, 0x55, sizeof(diag));
	tap_eq_count(&diag, 1, "one");
}

/* A record that refuses a number and says that it would be accepted; the bounds are right or wrong. */
static bool consistent(enum rdmaez_value kind, int64_t value, int64_t min, int64_t max)
{
	rdmaez_impl_diag_reset(&diag, "f");
	diag.count = 1;
	diag.finding[0].field = "x";
	diag.finding[0].kind = kind;
	diag.finding[0].value = (uint64_t)value;
	diag.finding[0].min = (uint64_t)min;
	diag.finding[0].max = (uint64_t)max;
	return record_is_consistent(&diag);
}

static void check_consistent(void)
{
	tap_ok(consistent(RDMAEZ_VALUE_NUMBER, -1, 0, 5), "a number below the range");
	tap_ok(consistent(RDMAEZ_VALUE_NUMBER, 6, 0, 5), "one above it");
	tap_ok(!consistent(RDMAEZ_VALUE_NUMBER, 5, 0, 5), "its last");
	tap_ok(!consistent(RDMAEZ_VALUE_NUMBER, 0, 0, 5), "its first");
	tap_ok(!consistent(RDMAEZ_VALUE_BYTES, 5, 5, 5), "as many bytes as are accepted");
	tap_ok(consistent(RDMAEZ_VALUE_BYTES, -1, 0, 5), "as many as there can be");
	tap_ok(consistent(RDMAEZ_VALUE_BYTES, 5, 0, -1), "bytes without a greatest number");
	diag.finding[0].max = 5;
	diag.finding[0].severity = RDMAEZ_DIAG_LIKELY;
	tap_ok(record_is_consistent(&diag), "what is only likely");
}

/* ---- What they print -------------------------------------------------------------------------- */

/* All that a judgement prints, which another process makes: its failures are not this program's. */
static const char *printed(void (*judge)(void))
{
	static char text[32768];
	size_t length = 0;
	ssize_t got;
	int end[2];
	pid_t child;

	if (pipe(end))
		tap_bail("no pipe");
	child = fork();
	if (!child) {
		dup2(end[1], STDOUT_FILENO);
		tap.run = 0;
		judge();
		_exit(0);
	}
	close(end[1]);
	while ((got = read(end[0], text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	close(end[0]);
	waitpid(child, NULL, 0);
	return text;
}

static bool is_tap(const char *text)
{
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (*text != '#' && strncmp(text, "ok ", 3) != 0 &&
		    strncmp(text, "not ok ", 7) != 0)
			return false;
	return true;
}

static void shows(void (*judge)(void), const char *count, const char *name)
{
	const char *const text = printed(judge);

	tap_ok(strstr(text, "not ok "), "%s: it fails", name);
	if (!tap_ok(strstr(text, count) && strstr(text, "\n# rdmaez_qp_examine") &&
			    strstr(text, "\n#   qp: "),
		    "%s: the record is shown", name))
		tap_diag("%s", text);
	tap_ok(is_tap(text), "%s: every line is TAP", name);
}

int main(void)
{
	const char *text;

	shows(one_too_many, "#    got: 1\n#   want: 2\n#", "two findings expected");
	shows(two_for_one, "#    got: 2\n#   want: 1\n#", "one finding expected");
	shows(one_for_none, "#    got: 1\n#   want: 0\n#", "none expected");
	shows(one_for_five, "#    got: 1\n#   want: 5\n#", "a bare count");
	text = printed(nothing_written);
	tap_ok(strstr(text, "# nothing was written into the record\n") && is_tap(text),
	       "a record that is none is not printed");
	check_consistent();
	refused();
	tap_ok(tap_eq_count(&diag, 1, "a right count"), "is right");
	return tap_done();
}
