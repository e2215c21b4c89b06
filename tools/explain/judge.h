/* SPDX-License-Identifier: MIT */
/* With --waiting, in the launcher: what a queue pair waits for, from the rows that the processes keep. */
#ifndef RDMAEZ_EXPLAIN_JUDGE_H
#define RDMAEZ_EXPLAIN_JUDGE_H

#include <limits.h>
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
/* The rows are of a core: for how long anything has waited is not known, nor who looked last. */
extern bool explain_judge_still;

enum explain_occasion {
	EXPLAIN_QUIET,  /* as long as --waiting says */
	EXPLAIN_ASKED,  /* by a signal to the launcher: all that is outstanding */
	EXPLAIN_SIGNAL, /* the program is about to be ended */
	EXPLAIN_AT_END  /* a signal has ended it */
};

/* In place of seconds: nothing is said, and the states alone are asked for. */
#define EXPLAIN_ONLY_KEEPS UINT_MAX

void explain_judge_begin(const struct explain_rows *rows, const struct explain_share *share,
			 unsigned int seconds);

/* Several times a second: notes what has changed, and says what has waited for long enough. */
void explain_judge_look(const struct explain_output *output);

/* Says it now. */
void explain_judge_say(const struct explain_output *output, enum explain_occasion occasion);

/* Once for each queue pair, what posted requests and registered memory tell of a failed completion; also by a look. */
void explain_judge_failures(const struct explain_output *output);

/* The command has ended by itself; badly, if its exit status says so. */
void explain_judge_end(const struct explain_output *output, bool is_bad);

/*
 * Called before anything is said: something waits, or somebody asks, or all is over. The rows are of this moment. NULL:
 * nobody wants to know.
 */
extern void (*explain_judge_before)(const struct explain_output *output,
				    enum explain_occasion occasion, bool waits);

/* Copies all rows anew. */
void explain_judge_take(void);

/* When they were copied and looked at. CLOCK_MONOTONIC, in ns. */
uint64_t explain_judge_moment(void);

/* ---- For the states: rows that were copied and checked, and what was seen of them --------------------------- */

/* NULL, or false: there is none. `done`: completions of its receives that were polled. */
const struct explain_qp_row *explain_judge_qp(unsigned int at);
const struct explain_cq_row *explain_judge_cq(unsigned int at);
const struct explain_srq_row *explain_judge_srq(unsigned int at, uint64_t *done);
bool explain_judge_mr(unsigned int at, struct explain_mr_row *mr);
const struct explain_ah_row *explain_judge_ah(const struct explain_qp_row *qp,
					      const struct explain_request *request);

/* Whether a debugger or a signal holds a process of that state, as /proc has it. */
static inline bool explain_is_stopped(char state)
{
	return state == 'T' || state == 't';
}

/* The request that failed, or else the oldest that is outstanding; and the status, by its name. NULL: not known. */
const struct explain_request *explain_judge_request(const struct explain_qp_row *qp);
const char *explain_judge_failed(const struct explain_qp_row *qp);

/* When it has changed, and since when sends have been outstanding; when it was polled. CLOCK_MONOTONIC, in ns. */
void explain_judge_seen(unsigned int at, uint64_t *changed_at, uint64_t *waits_since);
uint64_t explain_judge_polled(unsigned int cq);
bool explain_judge_armed(const struct explain_cq_row *cq);

/* Names, without IBV_ and what follows it; NULL: there is none. The MTU in bytes; 0: not known. */
const char *explain_judge_operation(uint32_t opcode);
const char *explain_judge_type(const struct explain_qp_row *qp);
const char *explain_judge_state(const struct explain_qp_row *qp);
unsigned int explain_judge_mtu(uint32_t mtu);

#endif
