/* SPDX-License-Identifier: MIT */
/* How a process of the command finds what the launcher shares with it. */
#ifndef RDMAEZ_EXPLAIN_ATTACH_H
#define RDMAEZ_EXPLAIN_ATTACH_H

#include "explain.h"

struct explain_rows;

/*
 * Maps what the environment names, and copies the options. NULL: there is nothing, or it is not to be trusted. What this
 * process may not have, it tells of on stderr, once for all that it executes.
 */
struct explain_share *explain_attach(struct explain_options *options);

/* The same for what --waiting and --json add. NULL: neither was asked for, or the launcher has just ended. */
struct explain_rows *explain_attach_rows(const struct explain_options *options);

/* Whether the launcher is still there: its process id may be a stranger's by now. */
bool explain_attached(const struct explain_options *options);

#endif
