/* SPDX-License-Identifier: MIT */
/* How a finding is written: for people, as a line, as JSON; and where to. */
#ifndef RDMAEZ_EXPLAIN_WRITE_H
#define RDMAEZ_EXPLAIN_WRITE_H

#include "explain.h"

/* What is to be written; either may be empty. */
struct explain_words {
	size_t text, json; /* bytes of each, one behind the other */
	char bytes[EXPLAIN_BYTES];
};

/* Puts the record, or what stands in its place, into words, as the options have it. */
void explain_words_make(struct explain_words *words, const struct explain_call *call,
			const struct rdmaez_diag *diag, const struct explain_text *said);

/* Which descriptor 2 is now is stderr: what the program puts there later is its own. */
void explain_words_begin(void);

/* One write(2) to each place. What could not be written from here is left in the words, and the answer is false. */
bool explain_words_write(struct explain_words *words);

#endif
