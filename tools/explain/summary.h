/* SPDX-License-Identifier: MIT */
/* What the launcher writes: texts that were left to it, and how it was with each process. */
#ifndef RDMAEZ_EXPLAIN_SUMMARY_H
#define RDMAEZ_EXPLAIN_SUMMARY_H

#include <sys/types.h>

#include "share.h"

/* Reported unless --only names others: queries are only counted, and advice is to be asked for. */
#define EXPLAIN_USUAL_KINDS (~(1u << EXPLAIN_QUERY | 1u << EXPLAIN_ADVICE))

/*
 * Where the launcher writes, and how. Its own: of `share`, which whoever runs in the command can write, it believes
 * nothing, and takes what it needs of it once.
 */
struct explain_output {
	bool line, summary;
	int log, json; /* descriptors; -1: stderr, and none */
	const char *log_name, *json_name;
};

const char *explain_kind_name(enum explain_kind kind);

/* Copies what others may write meanwhile. From there on only the copy is looked at. */
void explain_copy(void *to, const void *from, size_t size);
/* Whatever a text holds, it is lines: no program gets at the terminal of who reads it. `but` is what may stand there, too. */
void explain_make_plain(char *text, size_t size, const char *but);
/* The kernel's release. */
const char *explain_kernel(void);
/* A name or a label, as a line and JSON can hold it. */
void explain_make_word(char *word, size_t size);

void explain_write_log(const struct explain_output *output, const char *text, size_t size);
void explain_write_json(const struct explain_output *output, const char *text, size_t size);

/* The texts that cannot be a probe's any more; at the end, all. */
void explain_write_waiting(struct explain_share *share, const struct explain_output *output,
			   bool at_end);

/* Notes a process that has opened a device, and of which nothing is seen. */
void explain_look_for_unseen(const struct explain_share *share, pid_t child);

/* Before the command begins. */
void explain_ends_begin(void);
/* So the launcher's own child has ended, as waitpid() has it. */
void explain_ends_first(struct explain_share *share, pid_t pid, int status);
/*
 * Of each process that a signal has ended, which nobody sends: what it did last, if it used verbs. Several times a
 * second; and at the end of the command, which may have failed.
 */
void explain_write_ends(const struct explain_share *share, const struct explain_output *output,
			bool at_end, bool has_failed);

/* A summary of each process that has something to tell, and whether anything was seen at all. */
void explain_write_summaries(const struct explain_share *share, const struct explain_output *output,
			     const char *command);

#endif
