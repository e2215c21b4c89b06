/* SPDX-License-Identifier: MIT */
/* Has what the host offers: files, clocks, waiting, trying again, bytes in network order. */
#ifndef RDMAEZ_IMPL_SYSTEM_H
#define RDMAEZ_IMPL_SYSTEM_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <poll.h>
#include <sys/utsname.h>

/* This is close() under a name of our own. unistd.h would cost every file more than all of this. */
#ifdef __GNUC__
RDMAEZ_IMPL_BEGIN
extern int rdmaez_impl_close(int fd) __asm__("close");
RDMAEZ_IMPL_END
#else
#include <unistd.h>
#define rdmaez_impl_close close
#endif

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_UNITS_H
#include "units.h"
#endif

RDMAEZ_IMPL_BEGIN

/* Writes the low bytes of a number, the highest first, and returns what follows them. */
RDMAEZ_IMPL uint8_t *rdmaez_impl_bytes_put(uint8_t *to, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--) {
		to[i] = (uint8_t)value;
		value >>= 8;
	}
	return to + bytes;
}

/* Reads such a number and moves on. */
RDMAEZ_IMPL uint64_t rdmaez_impl_bytes_get(const uint8_t **from, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value = value << 8 | *(*from)++;
	return value;
}

/*
 * These are the C library's own. time.h hides them from strict C, and may give struct timespec
 * another layout.
 */
extern int rdmaez_impl_clock_gettime(int id, long now[4]) __asm__("clock_gettime");
extern int rdmaez_impl_nanosleep(const long rest[4], long left[4]) __asm__("nanosleep");

/* Returns the time in ns, by CLOCK_MONOTONIC, which nobody sets. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_now(void)
{
	long now[4] = {0, 0, 0, 0};

	rdmaez_impl_clock_gettime(1, now);
	return (uint64_t)now[0] * 1000000000u + (uint64_t)now[1];
}

/* Rests for so many ns, or until a signal is handled. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_rest(uint64_t ns)
{
	const long rest[4] = {(long)(ns / 1000000000u), (long)(ns % 1000000000u), 0, 0};

	rdmaez_impl_nanosleep(rest, NULL);
}

/* A wait may take this long if the caller does not say: 10 s. */
#define RDMAEZ_IMPL_WAIT_NS UINT64_C(10000000000)

/* Returns when something that begins now is to end. UINT64_MAX means never. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_deadline(uint64_t timeout_ns)
{
	const uint64_t now = rdmaez_impl_now();

	if (!timeout_ns)
		timeout_ns = RDMAEZ_IMPL_WAIT_NS;
	return timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
}

/*
 * Does the same for callers that do not even look at the clock for RDMAEZ_NS_NOW, for which it
 * returns 0.
 */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_until(uint64_t timeout_ns)
{
	return timeout_ns == RDMAEZ_NS_NOW ? 0 : rdmaez_impl_deadline(timeout_ns);
}

/* Returns how many ns are left until then. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_left(uint64_t deadline)
{
	const uint64_t now = rdmaez_impl_now();

	return deadline > now ? deadline - now : 0;
}

/* Waits until a descriptor is ready. Returns 0, ETIMEDOUT, or why it cannot wait. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_wait(int fd, int events, uint64_t deadline)
{
	struct pollfd ready;
	uint64_t left;
	int count;

	ready.fd = fd;
	ready.events = (short)events;
	do {
		left = rdmaez_impl_left(deadline);
		/* This is in ms, rounded up, and at most an hour at once. */
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

/*
 * Returns 601 for Linux 6.1, and 699 for 6.99 and beyond. Returns 0 if the release is unknown, or
 * the system is another one.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_linux_version(void)
{
	struct utsname name;
	int part[2] = {0, 0};
	const char *text = name.release;

	if (uname(&name) || strcmp(name.sysname, "Linux") != 0)
		return 0;
	for (int i = 0; i < 2; i++) {
		while (*text >= '0' && *text <= '9' && part[i] < 1000)
			part[i] = part[i] * 10 + (*text++ - '0');
		if (*text == '.')
			text++;
	}
	return part[0] * 100 + (part[1] < 99 ? part[1] : 99);
}

/* This counts the tries so far. All but the first member begin as 0. */
struct rdmaez_impl_retry {
	uint64_t retry_ns; /* the option; 0: there is one try */
	uint64_t begun;    /* when the first one had failed */
	uint64_t rest;     /* about how long the next rest is */
	unsigned int tries;
};

/*
 * Returns whether to try again what has ended in `error`, after a rest. It tries again as long as
 * the error may heal: the peer's Ethernet address is not found (ETIMEDOUT), or its route leads
 * nowhere for now (EHOSTUNREACH). The first rest is 5 to 15 ms, and each is about twice as long as
 * the one before, up to a second, so that many queue pairs do not ask at once.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_try_again(struct rdmaez_impl_retry *r, int error)
{
	const uint64_t now = rdmaez_impl_now();
	uint64_t left, rest;

	if (!r->tries++) {
		r->begun = now;
		r->rest = 10000000u;
	}
	if ((error != ETIMEDOUT && error != EHOSTUNREACH) || now - r->begun >= r->retry_ns)
		return false;
	left = r->retry_ns - (now - r->begun);
	rest = r->rest / 2 + (r->rest * rdmaez_psn_random() >> 24);
	rdmaez_impl_rest(rest < left ? rest : left);
	if (r->rest < 640000000u)
		r->rest *= 2;
	return true;
}

/* Says after the last error's explanation how often it was tried, if more than once. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_retried(const struct rdmaez_impl_retry *r,
					   struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"opts.retry_ns", RDMAEZ_WHY_RETRIED,
						     RDMAEZ_VALUE_COUNTED, 0, 0};

	if (r->tries > 1)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ADVICE, &site, r->tries);
}

/*
 * Returns the number that comes next behind blanks, and where it ends, or 0 if there is none.
 * Letters are in lower case.
 */
RDMAEZ_IMPL_SMALL uint64_t rdmaez_impl_number(const char **text, unsigned int base)
{
	const char *at = *text;
	uint64_t number = 0;
	unsigned int digit;

	while (*at == ' ' || *at == '\t')
		at++;
	for (; (digit = (unsigned int)(*at > '9' ? *at - 'a' + 10 : *at - '0')) < base; at++)
		number = number * base + digit;
	*text = at;
	return number;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
