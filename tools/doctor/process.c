/* SPDX-License-Identifier: MIT */
/* Processes, as /proc shows them. Nothing here stops or touches one. */
#include "process.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- What is meant -------------------------------------------------------------------------------------- */

static bool read_uid(const char *text, uid_t *uid)
{
	const struct passwd *const user = getpwnam(text);
	char *end;

	if (user) {
		*uid = user->pw_uid;
		return true;
	}
	*uid = (uid_t)strtoul(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && !*end;
}

const char *process_parse(const char *text, struct process_job *job)
{
	job->kind = PROCESS_COMMAND;
	job->value = text;
	job->uid = 0;
	if (strncmp(text, "command=", 8) == 0) {
		job->value = text + 8;
	} else if (strncmp(text, "cgroup=", 7) == 0) {
		job->kind = PROCESS_CGROUP;
		job->value = text + 7;
		if (job->value[0] != '/')
			return "--job cgroup= takes the path that /proc/PID/cgroup shows, which "
			       "begins with /";
	} else if (strncmp(text, "user=", 5) == 0) {
		job->kind = PROCESS_USER;
		job->value = text + 5;
		if (!read_uid(job->value, &job->uid))
			return "--job user= takes a user's name or number";
	}
	return job->value[0] ? NULL : "--job takes command=NAME, cgroup=PATH or user=NAME";
}

/* The name in the kernel has 15 characters; the first word of the command line may say more. */
static bool is_command(pid_t pid, const char *name)
{
	char text[PATH_MAX], *last;

	doctor_read(text, sizeof(text), "/proc/%d/comm", pid);
	if (strcmp(text, name) == 0)
		return true;
	doctor_read_all(text, sizeof(text), "/proc/%d/cmdline", pid);
	last = strrchr(text, '/');
	return strcmp(last ? last + 1 : text, name) == 0;
}

/* Lines are "0::/path", or "4:memory:/path" of version 1. */
static bool is_in_group(pid_t pid, const char *group)
{
	const size_t length = strlen(group) - (group[strlen(group) - 1] == '/');
	char groups[8192], *line, *path, *rest = groups;

	doctor_read_all(groups, sizeof(groups), "/proc/%d/cgroup", pid);
	while ((line = strsep(&rest, "\n")) != NULL) {
		path = strchr(line, ':');
		path = path ? strchr(path + 1, ':') : NULL;
		if (path && strncmp(path + 1, group, length) == 0 &&
		    (path[1 + length] == '\0' || path[1 + length] == '/'))
			return true;
	}
	return false;
}

/* The number after a word at the start of a line, as "Uid:	0	0". */
static bool number_of(const char *status, const char *word, uint64_t *n)
{
	const char *at = strstr(status, word);
	char *end;

	if (!at)
		return false;
	at += strlen(word);
	*n = strtoull(at, &end, 10);
	return end != at;
}

bool process_matches(pid_t pid, const struct process_job *job)
{
	char status[4096];
	uint64_t uid;

	switch (job->kind) {
	case PROCESS_COMMAND:
		return is_command(pid, job->value);
	case PROCESS_CGROUP:
		return is_in_group(pid, job->value);
	default:
		doctor_read_all(status, sizeof(status), "/proc/%d/status", pid);
		return number_of(status, "\nUid:", &uid) && uid == job->uid;
	}
}

/* --- One process ---------------------------------------------------------------------------------------- */

static void read_status(struct process *p)
{
	char status[8192], *at, *end;
	uint64_t n;

	doctor_read_all(status, sizeof(status), "/proc/%d/status", p->pid);
	at = strstr(status, "\nState:");
	if (at) {
		at += 7 + strspn(at + 7, " \t");
		p->state = *at;
		snprintf(p->state_text, sizeof(p->state_text), "%.*s", (int)strcspn(at, "\n"), at);
	}
	if (number_of(status, "\nUid:", &n))
		p->uid = (uid_t)n;
	if (number_of(status, "\nVmPin:", &n))
		p->pinned = 1024 * n;
	if (number_of(status, "\nVmLck:", &n))
		p->locked = 1024 * n;
	at = strstr(status, "\nCapEff:");
	p->locks_all = at && strtoull(at + 8, NULL, 16) >> 14 & 1;
	at = strstr(status, "\nNSpid:");
	if (!at)
		return;
	(void)strtoul(at + 7, &end, 10);
	p->other_pid_namespace = *end == '\t';
}

static uint64_t limit_of(const char *limits, const char *word)
{
	uint64_t limit;

	return number_of(limits, word, &limit) ? limit : UINT64_MAX;
}

static void read_threads(struct process *p)
{
	struct dirent **names;
	int i, n = doctor_list(&names, "/proc/%d/task", p->pid);

	p->thread = (pid_t *)calloc(n > 0 ? (size_t)n : 1, sizeof(*p->thread));
	if (!p->thread)
		return;
	for (i = 0; i < n; i++)
		p->thread[p->threads++] = atoi(names[i]->d_name);
}

/* "uverbs0, rdma_cm" of what lies below /dev/infiniband; the kernel asks for the right to debug the process. */
static void read_files(struct process *p)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct dirent **names;
	int i, n = doctor_list(&names, "/proc/%d/fd", p->pid);
	const char *name;
	ssize_t length;

	p->files = n;
	for (i = 0; i < n; i++) {
		doctor_path(path, sizeof(path), "/proc/%d/fd/%s", p->pid, names[i]->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		if (strncmp(target, "/dev/infiniband/", 16) != 0)
			continue;
		name = target + 16;
		if (!strstr(p->uverbs, name) &&
		    strlen(p->uverbs) + strlen(name) + 3 < sizeof(p->uverbs)) {
			strcat(p->uverbs, p->uverbs[0] ? ", " : "");
			strcat(p->uverbs, name);
		}
	}
}

/* Fields 14 and 15 of /proc/PID/stat, counted from behind the name, which may have any character. */
static uint64_t read_ticks(pid_t pid)
{
	unsigned long long user = 0, system = 0;
	char stat[1024];
	const char *at;

	doctor_read_all(stat, sizeof(stat), "/proc/%d/stat", pid);
	at = strrchr(stat, ')');
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			  &system) != 2)
		return 0;
	return user + system;
}

int process_read(pid_t pid, struct process *p)
{
	char limits[4096];
	int error;

	memset(p, 0, sizeof(*p));
	p->pid = pid;
	error = doctor_read(p->name, sizeof(p->name), "/proc/%d/comm", pid);
	if (error)
		return error;
	read_status(p);
	doctor_read_all(limits, sizeof(limits), "/proc/%d/limits", pid);
	p->may_lock = limit_of(limits, "Max locked memory");
	p->may_open = limit_of(limits, "Max open files");
	doctor_read(p->waits_in, sizeof(p->waits_in), "/proc/%d/wchan", pid);
	if (strcmp(p->waits_in, "0") == 0)
		p->waits_in[0] = '\0';
	doctor_read(p->cgroup, sizeof(p->cgroup), "/proc/%d/cgroup", pid);
	p->ticks = read_ticks(pid);
	read_threads(p);
	read_files(p);
	return 0;
}

bool process_has_thread(const struct process *process, uint32_t thread)
{
	unsigned int i;

	for (i = 0; i < process->threads; i++)
		if ((uint32_t)process->thread[i] == thread)
			return true;
	return false;
}

/* /proc has threads by their numbers as well, though it does not list them. */
pid_t process_of_thread(uint32_t thread)
{
	char status[2048];
	uint64_t pid;

	doctor_read_all(status, sizeof(status), "/proc/%u/status", thread);
	return number_of(status, "\nTgid:", &pid) ? (pid_t)pid : 0;
}

static bool add(struct process **processes, unsigned int *count, pid_t pid)
{
	struct process *more =
		(struct process *)realloc(*processes, (*count + 1) * sizeof(**processes));

	if (!more)
		return false;
	*processes = more;
	if (process_read(pid, &more[*count]) == 0)
		++*count;
	return true;
}

unsigned int process_find(struct process **processes)
{
	struct process_job job;
	unsigned int count = 0;
	struct dirent **names;
	int i, n;

	*processes = NULL;
	if (doctor_options.pid) {
		add(processes, &count, doctor_options.pid);
		return count;
	}
	process_parse(doctor_options.job, &job);
	n = doctor_list(&names, "/proc");
	for (i = 0; i < n; i++) {
		const pid_t pid = atoi(names[i]->d_name);

		if (pid > 0 && pid != getpid() && pid != getppid() && process_matches(pid, &job))
			add(processes, &count, pid);
	}
	return count;
}

const char *process_held(const struct process *process)
{
	switch (process->state) {
	case 'T':
		return "is stopped";
	case 't':
		return "is stopped by a debugger";
	case 'Z':
		return "has ended, and its parent has not waited for it";
	default:
		return NULL;
	}
}
