/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --pid and --job: processes, as /proc shows them to anyone. */
#ifndef RDMAEZ_DOCTOR_PROCESS_H
#define RDMAEZ_DOCTOR_PROCESS_H

#include "doctor.h"

#include <sys/types.h>

enum process_kind {
	PROCESS_COMMAND,
	PROCESS_CGROUP,
	PROCESS_USER
};

/* What --job names: "command=NAME", "cgroup=PATH", "user=NAME", or NAME of a command alone. */
struct process_job {
	enum process_kind kind;
	const char *value;
	uid_t uid;
};
/* What is wrong with the text; NULL: nothing. */
const char *process_parse(const char *text, struct process_job *job);

struct process {
	pid_t pid;
	char name[32];
	char state; /* of /proc/PID/status: 'R', 'S', 'D', 'T', 't', 'Z' */
	char state_text[40];
	uid_t uid;
	bool locks_all;           /* CAP_IPC_LOCK lifts its limit */
	bool other_pid_namespace; /* it has one of its own */
	unsigned int threads;
	pid_t *thread;               /* their numbers; lives as long as the check */
	uint64_t ticks;              /* of processor time */
	uint64_t pinned, locked;     /* bytes of memory */
	uint64_t may_lock, may_open; /* limits; UINT64_MAX: none, or not known */
	int files;                   /* that it has open, or a negative errno value */
	char uverbs[128];            /* the device nodes among them, "uverbs0, rdma_cm" */
	char waits_in[64];           /* the kernel's function; "": it is not known */
	char cgroup[256];
};

/* Returns 0, or a negative errno value where there is no such process. */
int process_read(pid_t pid, struct process *process);
bool process_has_thread(const struct process *process, uint32_t thread);
/* The process that a thread is of; 0: there is none. */
pid_t process_of_thread(uint32_t thread);
/* Whether it belongs to the job. */
bool process_matches(pid_t pid, const struct process_job *job);
/* All processes of the job, or the one of --pid, *processes as long as the check lives; how many. */
unsigned int process_find(struct process **processes);
/* Whether something keeps it from running: "is stopped", "is stopped by a debugger"; NULL: nothing. */
const char *process_held(const struct process *process);

#endif
