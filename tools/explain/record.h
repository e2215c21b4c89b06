/* SPDX-License-Identifier: MIT */
/* In the launcher: what is known of each process of the command, as lines of --json and for a comparison of all. */
#ifndef RDMAEZ_EXPLAIN_RECORD_H
#define RDMAEZ_EXPLAIN_RECORD_H

#include "judge.h"

void explain_record_begin(const struct explain_share *share);

/* Several times a second: writes the state of what has ended. */
void explain_record_look(const struct explain_output *output);

/* The launcher passes on a signal that is to end the command. */
void explain_record_signal(int signal);

/* How the command's first process has ended, as waitpid() has it. What others leave behind is not waited for. */
void explain_record_ended(int pid, int status);

#endif
