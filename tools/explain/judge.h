/* SPDX-License-Identifier: MIT */
/* With --waiting, in the launcher: what a queue pair waits for, from the rows that the processes keep. */
#ifndef RDMAEZ_EXPLAIN_JUDGE_H
#define RDMAEZ_EXPLAIN_JUDGE_H

#include <stddef.h>

#include "rows.h"
#include "summary.h"

/* What is seen of the machine. Tests put something else in its place. */
struct explain_sight {
	uint64_t (*now_ns)(void);
	char (*state_of)(int pid);    /* as /proc has it; 0: it has ended */
	uint64_t (*time_of)(int pid); /* that it has used, in ms */
	bool (*has_thread)(int pid, int tid);
	/* a file below /sys/class/infiniband/; false: there is none */
	bool (*read)(const char *path, char *text, size_t size);
};
extern struct explain_sight explain_sight;

enum explain_occasion {
	EXPLAIN_QUIET,  /* as long as --waiting says */
	EXPLAIN_ASKED,  /* by a signal to the launcher: all that is outstanding */
	EXPLAIN_SIGNAL, /* the program is about to be ended */
	EXPLAIN_AT_END  /* a signal has ended it */
};

void explain_judge_begin(const struct explain_rows *rows, const struct explain_share *share,
			 unsigned int seconds);

/* Several times a second: notes what has changed, and says what has waited for long enough. */
void explain_judge_look(const struct explain_output *output);

/* Says it now. */
void explain_judge_say(const struct explain_output *output, enum explain_occasion occasion);

/* Once for each queue pair, what posted requests and registered memory tell of a failed completion; also by a look. */
void explain_judge_failures(const struct explain_output *output);

#endif
