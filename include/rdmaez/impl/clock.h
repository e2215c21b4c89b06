/* SPDX-License-Identifier: MIT */
/* Time that passes, and rest, for what waits with a deadline. */
#ifndef RDMAEZ_IMPL_CLOCK_H
#define RDMAEZ_IMPL_CLOCK_H

#ifndef RDMAEZ_BASE_H
#include "../base.h"
#endif

#if RDMAEZ_IMPL_BODIES

RDMAEZ_IMPL_BEGIN

/* The C library's own: time.h hides them from strict C, and may give struct timespec another layout. */
extern int rdmaez_impl_clock_gettime(int id, long now[4]) __asm__("clock_gettime");
extern int rdmaez_impl_nanosleep(const long rest[4], long left[4]) __asm__("nanosleep");

/* The time in ns, by CLOCK_MONOTONIC, which nobody sets. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_now(void)
{
	long now[4] = {0, 0, 0, 0};

	rdmaez_impl_clock_gettime(1, now);
	return (uint64_t)now[0] * 1000000000u + (uint64_t)now[1];
}

/* Rests for so many ns, or until a signal is handled. */
RDMAEZ_IMPL_COLD void rdmaez_impl_rest(uint64_t ns)
{
	const long rest[4] = {(long)(ns / 1000000000u), (long)(ns % 1000000000u), 0, 0};

	rdmaez_impl_nanosleep(rest, NULL);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
