/* SPDX-License-Identifier: MIT */
/* How many objects there are of the kind of which no more could be made. */
#ifndef RDMAEZ_EXPLAIN_HELD_H
#define RDMAEZ_EXPLAIN_HELD_H

#include "explain.h"

struct explain_held {
	const char *one, *many; /* "queue pair", "queue pairs" */
	const char *key;        /* "QP" */
	unsigned int process;   /* that this process has made by verbs, and not destroyed */
	bool is_all_known;
	uint64_t all;  /* that the device has, of all processes and of the kernel; if known */
	uint64_t most; /* that it may have; 0: not known */
};

/*
 * Asks the kernel by netlink, which is quick, but no call for a program that goes on. False: the call does not make such
 * an object, or was refused for a reason with which their number has nothing to do.
 */
bool explain_held(const struct explain_call *call, const struct rdmaez_diag *diag,
		  struct explain_held *held);

#endif
