/* SPDX-License-Identifier: MIT */
/*
 * Runs the checks and prints what they said.
 *
 * A check talks to this process through a pipe, in records: a head, then strings that each end with a NUL. They are
 * kept as they came and read when the report is printed. This process never waits for a check but in poll(): one that
 * the kernel does not let go, not even by SIGKILL, is left behind.
 */
#include "doctor.h"

#include <rdmaez.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum kind {
	KIND_LINE,     /* subject, finding; its verdict in the head */
	KIND_EVIDENCE, /* text */
	KIND_NEXT,     /* text */
	KIND_GID,      /* the members of struct doctor_gid in their order */
	KIND_SLEEP     /* milliseconds */
};

struct head {
	uint16_t length; /* of the strings */
	uint8_t kind;
	uint8_t verdict;
};

#define STRINGS_MAX 4000 /* with its head, a record fits into PIPE_BUF */
#define STEP_MAX    512

static const char *const verdict_text[] = {"ok", "note", "WARN", "FAIL"};
static const char *const verdict_word[] = {"ok", "note", "warning", "failed"};

/* --- In the process of a check --------------------------------------------------------------------- */

static int record_fd = -1;
static char *step;

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

void doctor_next(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	send_text(KIND_NEXT, DOCTOR_OK, NULL, format, args);
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

/* --- The processes ---------------------------------------------------------------------------------- */

/* A check that runs or has run. */
struct run {
	const struct doctor_check *check;
	pid_t pid; /* 0: it has ended */
	int fd;    /* -1: its records have ended */
	char *step;
	int64_t deadline;
	char *records;
	size_t length;
	size_t scanned; /* how far sleeping was looked for */
	size_t room;
};

/* What it all amounts to. */
struct tally {
	unsigned int count[4];
	unsigned int gids;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The record that begins at this place, or NULL if it has not come, not all of it. */
static const char *record_at(const struct run *run, size_t at, struct head *head)
{
	if (run->length - at < sizeof(*head))
		return NULL;
	memcpy(head, run->records + at, sizeof(*head));
	return run->length - at - sizeof(*head) < head->length ? NULL
							       : run->records + at + sizeof(*head);
}

static void add(struct run *run, const void *bytes, size_t size)
{
	char *records = run->records;

	if (run->length + size > run->room) {
		run->room = 2 * (run->length + size);
		records = (char *)realloc(records, run->room);
		if (!records) {
			fputs("rdmaez-doctor: out of memory\n", stderr);
			exit(1);
		}
		run->records = records;
	}
	memcpy(records + run->length, bytes, size);
	run->length += size;
}

/* Adds a line in the place of the check, which cannot speak any more. */
static void add_failure(struct run *run, const char *format, ...)
{
	char strings[STRINGS_MAX] = "";
	struct head head, last;
	size_t at = 0;
	va_list args;

	while (record_at(run, at, &last))
		at += sizeof(last) + last.length;
	run->length = at;
	va_start(args, format);
	vsnprintf(strings + 1, sizeof(strings) - 1, format, args);
	va_end(args);
	head.length = (uint16_t)(strlen(strings + 1) + 2);
	head.kind = KIND_LINE;
	head.verdict = DOCTOR_FAILED;
	add(run, &head, sizeof(head));
	add(run, strings, head.length);
	if (!run->step || !run->step[0])
		return;
	run->step[STEP_MAX - 1] = '\0';
	head.length = (uint16_t)(strlen(run->step) + 1);
	head.kind = KIND_EVIDENCE;
	add(run, &head, sizeof(head));
	add(run, run->step, head.length);
}

static void start(struct run *run)
{
	pid_t parent = getpid();
	int fd[2];

	run->fd = -1;
	run->step = (char *)mmap(NULL, STEP_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				 -1, 0);
	if (run->step == MAP_FAILED || pipe2(fd, O_CLOEXEC)) {
		perror("rdmaez-doctor");
		exit(1);
	}
	run->pid = fork();
	if (run->pid < 0) {
		perror("rdmaez-doctor: fork");
		exit(1);
	}
	if (run->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		record_fd = fd[1];
		step = run->step;
		run->check->run();
		_exit(0);
	}
	close(fd[1]);
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	run->fd = fd[0];
	run->deadline = now_ms() + run->check->deadline_ms;
}

static void hang_up(struct run *run)
{
	if (run->fd >= 0)
		close(run->fd);
	run->fd = -1;
}

/* Has a check that closed its pipe ended? It may take long to close the device after that. */
static void reap(struct run *run)
{
	int status;

	if (waitpid(run->pid, &status, WNOHANG) != run->pid)
		return;
	run->pid = 0;
	if (WIFSIGNALED(status))
		add_failure(run, "the check ended by signal %d (%s)", WTERMSIG(status),
			    strsignal(WTERMSIG(status)));
}

/* Ends a check that does not answer. One that the kernel keeps even so is left behind. */
static void kill_check(struct run *run)
{
	int tries;

	kill(run->pid, SIGKILL);
	hang_up(run);
	for (tries = 0; tries < 50 && waitpid(run->pid, NULL, WNOHANG) == 0; tries++)
		poll(NULL, 0, 1);
	run->pid = 0;
}

/* Sleeping moves the deadline. */
static void look_for_sleep(struct run *run)
{
	const char *strings;
	struct head head;

	for (; (strings = record_at(run, run->scanned, &head)) != NULL;
	     run->scanned += sizeof(head) + head.length)
		if (head.kind == KIND_SLEEP)
			run->deadline += (int64_t)strtoul(strings, NULL, 10);
}

static void receive(struct run *run)
{
	char bytes[4096];
	ssize_t n;

	while ((n = read(run->fd, bytes, sizeof(bytes))) > 0)
		add(run, bytes, (size_t)n);
	look_for_sleep(run);
	if (n == 0)
		hang_up(run);
}

/* Waits until the check says something or its time is over; false when it has ended. */
static bool attend(struct run *run, int64_t end)
{
	int64_t now = now_ms(), wait = (run->deadline < end ? run->deadline : end) - now;
	struct pollfd fd = {run->fd, POLLIN, 0}; /* poll() passes over -1 */

	if (run->fd < 0)
		reap(run);
	if (!run->pid)
		return false;
	if (wait <= 0) {
		kill_check(run);
		if (now >= run->deadline)
			add_failure(run, "no answer within %u ms", run->check->deadline_ms);
		else
			add_failure(run, "no answer within the time of the whole run");
		return false;
	}
	if (poll(&fd, 1, run->fd < 0 ? 1 : (int)wait) > 0)
		receive(run);
	return true;
}

/* One after the other, so that none sees what another does to the device. */
static void run_check(struct run *run, const struct doctor_check *check, int64_t end)
{
	run->check = check;
	if (now_ms() >= end) {
		add_failure(run, "not looked at: the time of the whole run is over");
		return;
	}
	start(run);
	while (attend(run, end))
		;
}

/* --- What is printed -------------------------------------------------------------------------------- */

/* Writes a JSON string; what is no UTF-8 becomes U+FFFD, byte by byte. */
static void put_json(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned int more, i;

	for (putchar('"'); *s; s++) {
		more = *s < 0x80                 ? 0
		       : *s >= 0xc2 && *s < 0xe0 ? 1
		       : *s >= 0xe0 && *s < 0xf0 ? 2
						 : 4;
		for (i = 1; i <= more && more < 4; i++)
			if ((s[i] & 0xc0) != 0x80)
				more = 4;
		if (*s == 0xe0 && s[1] < 0xa0)
			more = 4;
		if (*s == 0xed && s[1] >= 0xa0)
			more = 4;
		if (more == 4)
			fputs("\\ufffd", stdout);
		else if (*s < 0x20 || *s == '"' || *s == '\\' || *s == 0x7f)
			printf("\\u%04x", *s);
		else
			for (putchar(*s); more; more--)
				putchar(*++s);
	}
	putchar('"');
}

static void put_member(const char *before, const char *name, const char *text)
{
	printf("%s\"%s\": ", before, name);
	put_json(text);
}

/* What a terminal would take for a command is not for it. */
static void put_text(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

static const char *after(const char *string)
{
	return string + strlen(string) + 1;
}

/* The texts of one kind that follow a line, as JSON: ["...", "..."]. */
static void put_list(const struct run *run, size_t at, enum kind kind)
{
	const char *strings, *comma = "";
	struct head head;

	for (putchar('['); (strings = record_at(run, at, &head)) != NULL && head.kind != KIND_LINE;
	     at += sizeof(head) + head.length) {
		if (head.kind != kind)
			continue;
		fputs(comma, stdout);
		put_json(strings);
		comma = ", ";
	}
	putchar(']');
}

static void put_json_line(const struct run *run, const struct head *head, const char *strings,
			  size_t at)
{
	put_member("{", "check", run->check->name);
	put_member(", ", "subject", strings);
	put_member(", ", "verdict", verdict_word[head->verdict]);
	put_member(", ", "finding", after(strings));
	fputs(", \"evidence\": ", stdout);
	put_list(run, at, KIND_EVIDENCE);
	fputs(", \"next\": ", stdout);
	put_list(run, at, KIND_NEXT);
	putchar('}');
}

static void put_text_line(const struct run *run, const struct head *head, const char *strings)
{
	printf("%-4s %s", verdict_text[head->verdict], run->check->name);
	if (strings[0]) {
		putchar(' ');
		put_text(strings);
	}
	fputs(": ", stdout);
	put_text(after(strings));
	putchar('\n');
}

/* Where a line is ok, only the line itself is shown. */
static void put_detail(enum doctor_verdict verdict, const char *lead, const char *text)
{
	if (verdict == DOCTOR_OK)
		return;
	fputs(lead, stdout);
	put_text(text);
	putchar('\n');
}

static void put_gid_json(const char *strings)
{
	const char *port = after(strings), *index = after(port), *gid = after(index);
	const char *address = after(gid), *type = after(address), *state = after(after(type));

	put_member("{", "device", strings);
	printf(", \"port\": %s, \"index\": %s", port, index);
	put_member(", ", "gid", gid);
	put_member(", ", "address", address);
	put_member(", ", "type", type);
	put_member(", ", "netdev", after(type));
	put_member(", ", "state", state);
	printf(", \"chosen\": %s}", *after(state) ? "true" : "false");
}

static void put_gid_text(const char *device, const char *port, const char *index, const char *gid,
			 const char *address, const char *type, const char *netdev,
			 const char *state, const char *chosen)
{
	printf("%-15s %-4s %-5s %-39s %-15s %-7s %-15s %-*s%s\n", device, port, index, gid, address,
	       type, netdev, *chosen ? 10 : 0, state, chosen);
}

static void put_gid_row(const char *strings)
{
	const char *port = after(strings), *index = after(port), *gid = after(index);
	const char *address = after(gid), *type = after(address), *netdev = after(type);
	const char *state = after(netdev);

	put_gid_text(strings, port, index, gid, address, type, netdev, state, after(state));
}

static bool is_shown(enum doctor_verdict verdict)
{
	return !(doctor_options.quiet && verdict == DOCTOR_OK);
}

static void put_checks_text(const struct run *run, struct tally *tally)
{
	enum doctor_verdict verdict = DOCTOR_OK;
	const char *strings;
	struct head head;
	size_t at;

	for (at = 0; (strings = record_at(run, at, &head)) != NULL;
	     at += sizeof(head) + head.length) {
		if (head.kind == KIND_LINE) {
			verdict = (enum doctor_verdict)head.verdict;
			tally->count[verdict]++;
			if (is_shown(verdict))
				put_text_line(run, &head, strings);
		} else if (head.kind == KIND_EVIDENCE) {
			put_detail(verdict, "       ", strings);
		} else if (head.kind == KIND_NEXT) {
			put_detail(verdict, "     > ", strings);
		}
	}
}

static void put_checks_json(const struct run *run, struct tally *tally)
{
	unsigned int before = tally->count[0] + tally->count[1] + tally->count[2] + tally->count[3];
	const char *strings;
	struct head head;
	size_t at;

	for (at = 0; (strings = record_at(run, at, &head)) != NULL;) {
		at += sizeof(head) + head.length;
		if (head.kind != KIND_LINE)
			continue;
		tally->count[head.verdict]++;
		fputs(before++ ? ",\n    " : "\n    ", stdout);
		put_json_line(run, &head, strings, at);
	}
}

static void put_gids(const struct run *run, struct tally *tally)
{
	const char *strings;
	struct head head;
	size_t at;

	for (at = 0; (strings = record_at(run, at, &head)) != NULL;
	     at += sizeof(head) + head.length) {
		if (head.kind != KIND_GID)
			continue;
		if (doctor_options.json) {
			fputs(tally->gids ? ",\n    " : "\n    ", stdout);
			put_gid_json(strings);
		} else {
			put_gid_row(strings);
		}
		tally->gids++;
	}
}

static void report_json(const struct run *run, unsigned int runs, struct tally *tally)
{
	struct utsname name;
	unsigned int i;

	put_member("{\n  ", "version", RDMAEZ_VERSION_STRING);
	put_member(",\n  ", "host", doctor_options.root || uname(&name) ? "" : name.nodename);
	fputs(",\n  \"checks\": [", stdout);
	for (i = 0; i < runs; i++)
		put_checks_json(&run[i], tally);
	fputs("\n  ],\n  \"gids\": [", stdout);
	for (i = 0; i < runs; i++)
		put_gids(&run[i], tally);
	printf("%s],\n  \"summary\": {\"ok\": %u, \"note\": %u, \"warning\": %u, \"failed\": "
	       "%u}\n}\n",
	       tally->gids ? "\n  " : "", tally->count[DOCTOR_OK], tally->count[DOCTOR_NOTE],
	       tally->count[DOCTOR_WARNING], tally->count[DOCTOR_FAILED]);
}

/* The table is for programs as well: what failed goes elsewhere. */
static void complain(const struct run *run, struct tally *tally)
{
	const char *strings;
	struct head head;
	size_t at;

	for (at = 0; (strings = record_at(run, at, &head)) != NULL;
	     at += sizeof(head) + head.length) {
		if (head.kind != KIND_LINE || head.verdict != DOCTOR_FAILED)
			continue;
		tally->count[DOCTOR_FAILED]++;
		fprintf(stderr, "rdmaez-doctor: %s%s%s\n", strings, strings[0] ? ": " : "",
			after(strings));
	}
}

static void put_summary(const struct tally *tally)
{
	const unsigned int *n = tally->count;

	if (!doctor_options.quiet || n[DOCTOR_NOTE] + n[DOCTOR_WARNING] + n[DOCTOR_FAILED])
		printf("rdmaez-doctor: %u failed, %u warning%s, %u note%s, %u ok\n",
		       n[DOCTOR_FAILED], n[DOCTOR_WARNING], n[DOCTOR_WARNING] == 1 ? "" : "s",
		       n[DOCTOR_NOTE], n[DOCTOR_NOTE] == 1 ? "" : "s", n[DOCTOR_OK]);
}

int doctor_report(const struct doctor_check *check, unsigned int checks)
{
	struct tally tally = {{0, 0, 0, 0}, 0};
	struct run *run = (struct run *)calloc(checks, sizeof(*run));
	int64_t end = now_ms() + doctor_options.timeout_ms;
	bool text = !doctor_options.json && !doctor_options.gids;
	unsigned int i;

	if (!run) {
		perror("rdmaez-doctor");
		return 1;
	}
	if (doctor_options.gids && !doctor_options.json)
		put_gid_text("DEVICE", "PORT", "INDEX", "GID", "IPV4", "TYPE", "NETDEV", "STATE",
			     "CHOSEN");
	for (i = 0; i < checks; i++) {
		run_check(&run[i], &check[i], end);
		if (text) {
			put_checks_text(&run[i], &tally);
		} else if (!doctor_options.json) {
			put_gids(&run[i], &tally);
			complain(&run[i], &tally);
		}
		fflush(stdout);
	}
	if (doctor_options.json)
		report_json(run, checks, &tally);
	else if (text)
		put_summary(&tally);
	for (i = 0; i < checks; i++)
		free(run[i].records);
	free(run);
	return tally.count[DOCTOR_FAILED] ? 1 : 0;
}
