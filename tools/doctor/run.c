/* SPDX-License-Identifier: MIT */
/*
 * Runs checks, each in a process of its own. This process never waits for one but in poll(): one that the kernel does
 * not let go, not even by SIGKILL, is left behind.
 */
#include "record.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	KILL_MS = 1000,
	MORE_TIMES = 2
};

int64_t doctor_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *doctor_record(const struct run *run, size_t at, struct head *head)
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
static void add_line(struct run *run, enum doctor_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void add_line(struct run *run, enum doctor_verdict verdict, const char *format, ...)
{
	char strings[STRINGS_MAX] = "";
	struct head head, last;
	size_t at = 0;
	va_list args;

	while (doctor_record(run, at, &last))
		at += sizeof(last) + last.length;
	run->length = at;
	va_start(args, format);
	vsnprintf(strings + 1, sizeof(strings) - 1, format, args);
	va_end(args);
	head.length = (uint16_t)(strlen(strings + 1) + 2);
	head.kind = KIND_LINE;
	head.verdict = (uint8_t)verdict;
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
		doctor_speak(fd[1], run->step);
		run->check->run();
		_exit(0);
	}
	close(fd[1]);
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	run->fd = fd[0];
	run->deadline = doctor_now() + run->check->deadline_ms;
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
		add_line(run, DOCTOR_FAILED, "the check ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
}

/* Ends a check that does not answer. False: the kernel keeps it even so, and it is left behind. */
static bool kill_check(struct run *run)
{
	bool ended = false;
	int tries;

	kill(run->pid, SIGKILL);
	hang_up(run);
	for (tries = 0; tries < KILL_MS && !ended; tries++) {
		ended = waitpid(run->pid, NULL, WNOHANG) != 0;
		if (!ended)
			poll(NULL, 0, 1);
	}
	run->pid = 0;
	return ended;
}

/* Whether it waits for nothing but a processor, or for the kernel: /proc/PID/stat, behind the name. */
static bool is_at_work(pid_t pid)
{
	char path[32], stat[512] = "";
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	stat[n > 0 ? n : 0] = '\0';
	at = strrchr(stat, ')');
	return at && at[1] == ' ' && (at[2] == 'R' || at[2] == 'D');
}

/* On a busy machine everything takes longer: a check that is at work gets its time twice more. */
static bool gets_more_time(struct run *run, int64_t end)
{
	if (run->extended >= MORE_TIMES || run->deadline >= end || !is_at_work(run->pid))
		return false;
	run->extended++;
	run->deadline += run->check->deadline_ms;
	return true;
}

/*
 * The time is over. That nothing came says nothing of the machine, which may be busy; a check that cannot even be killed
 * does: something in the kernel hangs.
 */
static void give_up(struct run *run, bool whole_run)
{
	const unsigned int ms = (1 + run->extended) * run->check->deadline_ms;

	if (!kill_check(run))
		add_line(run, DOCTOR_FAILED,
			 "no answer within %u ms, and the kernel does not let the check end", ms);
	else if (whole_run)
		add_line(run, DOCTOR_WARNING,
			 "not known: no answer came within the time for the whole run");
	else
		add_line(run, DOCTOR_WARNING, "not known: no answer within %u ms", ms);
}

/* Sleeping moves the deadline. */
static void look_for_sleep(struct run *run)
{
	const char *strings;
	struct head head;

	for (; (strings = doctor_record(run, run->scanned, &head)) != NULL;
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
	int64_t now = doctor_now(), wait = (run->deadline < end ? run->deadline : end) - now;
	struct pollfd fd = {run->fd, POLLIN, 0}; /* poll() passes over -1 */

	if (run->fd < 0)
		reap(run);
	if (!run->pid)
		return false;
	if (wait <= 0 && gets_more_time(run, end))
		return true;
	if (wait <= 0) {
		give_up(run, now < run->deadline);
		return false;
	}
	if (poll(&fd, 1, run->fd < 0 ? 1 : (int)wait) > 0)
		receive(run);
	return true;
}

/* One after the other, so that none sees what another does to the device. */
void doctor_run(struct run *run, const struct doctor_check *check, int64_t end)
{
	run->check = check;
	if (doctor_now() >= end) {
		add_line(run, DOCTOR_WARNING,
			 "not known: the time for the whole run was over before this check began");
		return;
	}
	start(run);
	while (attend(run, end))
		;
}
