/* SPDX-License-Identifier: MIT */
/* rdmaez-explain --compare: what the states of a job's processes say together, and none says alone. */
#ifndef RDMAEZ_EXPLAIN_COMPARE_H
#define RDMAEZ_EXPLAIN_COMPARE_H

#include <stdio.h>

#include "state.h"

/*
 * Writes what disagrees, who waits for whom and what one chose differently, the most telling first; nothing if there is
 * nothing. The answer is the number of findings. The states may be of any processes and hosts; of a process with several,
 * the newest counts. They are only read.
 */
size_t explain_compare_states(const struct explain_state *states, size_t count, FILE *out);

/* The same without what only differs: for a job of which something does not go on. */
size_t explain_compare_trouble(const struct explain_state *states, size_t count, FILE *out);

/* What was read from files. Zeros before the first. */
struct explain_read {
	struct explain_state *state;
	size_t count, room;
	size_t rows;             /* of all states */
	struct text_block *text; /* what texts point into */
	char (*problem)[256];
	size_t problems, problem_room;
	size_t files, without; /* those without a state, and without a problem */
};

/*
 * Takes the lines of a file that hold a state. Whatever the bytes are, no more than that happens: a line that is no
 * JSON, or no state as the schema has it, is left out, and a problem more is noted.
 */
void explain_read_text(struct explain_read *read, const char *name, const char *text, size_t size);
void explain_read_file(struct explain_read *read, const char *name);
void explain_read_free(struct explain_read *read);

/* All of --compare; the answer is the exit status: 0 if nothing was found, else 1. */
int explain_compare_files(char *const names[], size_t count, FILE *out);

#endif
