/* SPDX-License-Identifier: MIT */
/* The tests' own helpers: whoever reads that a number of findings is wrong sees the record. */
#define _POSIX_C_SOURCE 200809L /* fork */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
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
	refused();
	tap_ok(tap_eq_count(&diag, 1, "a right count"), "is right");
	return tap_done();
}
