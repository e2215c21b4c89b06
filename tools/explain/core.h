/* SPDX-License-Identifier: MIT */
/* rdmaez-explain --core: what a program waited for when a core was made of it. */
#ifndef RDMAEZ_EXPLAIN_CORE_H
#define RDMAEZ_EXPLAIN_CORE_H

#include "summary.h"

/* Writes it to stdout. The answer is the exit status: 0, or 1 if the file does not have it, which stderr says. */
int explain_core(const char *name, struct explain_output *output);

#endif
