/* SPDX-License-Identifier: MIT */
/*
 * What the process may do, as the headers see it: setting the real limits and capabilities takes privilege.
 * Include this first, then define getrlimit and open as the test_ functions.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef O_CLOEXEC
#define PROCESS_FLAGS (O_RDONLY | O_CLOEXEC)
#else
#define PROCESS_FLAGS (O_RDONLY | __O_CLOEXEC) /* glibc, in strict C */
#endif

/* The soft limits, and /proc/thread-self/status and uid_map; NULL: it cannot be read. */
static struct {
	rlim_t memlock, space;
	const char *status, *uid_map;
} process;

enum {
	PROCESS_NOBODY = 0,
	PROCESS_CAP_NET_RAW = 1 << 13,
	PROCESS_CAP_IPC_LOCK = 1 << 14,
	PROCESS_CAP_OTHERS = 0xff9fff, /* all around them */
};

/* No limits, these capabilities, and the initial user namespace. */
static void process_reset(unsigned int capabilities)
{
	static char status[200];

	snprintf(status, sizeof(status),
		 "Name:\ttest\nCapInh:\tffffffffffffffff\nCapPrm:\tffffffffffffffff\n"
		 "CapEff:\t%016x\nCapBnd:\tffffffffffffffff\nSeccomp:\t0\n",
		 capabilities);
	process.memlock = process.space = RLIM_INFINITY;
	process.status = status;
	process.uid_map = "         0          0 4294967295\n";
}

static inline int test_getrlimit(int resource, struct rlimit *limit)
{
	if (resource != RLIMIT_MEMLOCK && resource != RLIMIT_AS)
		abort();
	limit->rlim_cur = resource == RLIMIT_AS ? process.space : process.memlock;
	limit->rlim_max = RLIM_INFINITY;
	return 0;
}

/* The text comes out of a pipe. */
static inline int test_open(const char *path, int flags, ...)
{
	const char *text = NULL;
	int ends[2];

	if (strcmp(path, "/proc/thread-self/status") == 0)
		text = process.status;
	else if (strcmp(path, "/proc/self/uid_map") == 0)
		text = process.uid_map;
	else
		return open(path, flags);
	if (!text || flags != PROCESS_FLAGS || pipe(ends))
		return -1;
	if (write(ends[1], text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(ends[1]);
	return ends[0];
}

#endif
