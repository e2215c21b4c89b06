/* SPDX-License-Identifier: MIT */
/* Time that passes, and rest, for what waits with a deadline. */
#ifndef RDMAEZ_IMPL_CLOCK_H
#define RDMAEZ_IMPL_CLOCK_H

#ifndef RDMAEZ_BASE_H
#include "../base.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <poll.h>

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

/* When something that begins now is to end, by a timeout of which 0 stands for another one; UINT64_MAX: never. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_deadline(uint64_t timeout_ns, uint64_t unless)
{
	const uint64_t now = rdmaez_impl_now();

	if (!timeout_ns)
		timeout_ns = unless;
	return timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
}

/* How many ns there are until then. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_left(uint64_t deadline)
{
	const uint64_t now = rdmaez_impl_now();

	return deadline > now ? deadline - now : 0;
}

/* Waits until a descriptor is ready: 0, ETIMEDOUT, or why it cannot. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wait(int fd, int events, uint64_t deadline)
{
	struct pollfd ready;
	uint64_t left;
	int count;

	ready.fd = fd;
	ready.events = (short)events;
	do {
		left = rdmaez_impl_left(deadline);
		/* In ms, rounded up, and at most an hour at once. */
		count = poll(&ready, 1,
			     left < UINT64_C(3600000000000) ? (int)((left + 999999) / 1000000)
							    : 3600000);
		if (count > 0)
			return 0;
		if (count < 0 && errno != EINTR)
			return errno;
	} while (left);
	return ETIMEDOUT;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
