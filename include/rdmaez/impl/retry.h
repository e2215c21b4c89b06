/* SPDX-License-Identifier: MIT */
/* Trying again what the kernel refuses because it does not find the peer. */
#ifndef RDMAEZ_IMPL_RETRY_H
#define RDMAEZ_IMPL_RETRY_H

#ifndef RDMAEZ_UNITS_H
#include "../units.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_CLOCK_H
#include "clock.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif

RDMAEZ_IMPL_BEGIN

/* Tries so far; all but the first member begin as 0. */
struct rdmaez_impl_retry {
	uint64_t retry_ns; /* the option; 0: there is one try */
	uint64_t begun;    /* when the first one had failed */
	uint64_t rest;     /* about how long the next rest is */
	unsigned int tries;
};

/*
 * Whether what has ended in `error` is to be tried again, and a rest before that. As long as it may heal: the peer's
 * Ethernet address is not found (ETIMEDOUT), or its route leads nowhere for now (EHOSTUNREACH). The first rest is 5
 * to 15 ms, and each is about twice as long as the one before, up to a second: many queue pairs do not ask at once.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_try_again(struct rdmaez_impl_retry *r, int error)
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

/* After the last error's explanation: how often it was tried, if more than once. */
RDMAEZ_IMPL_COLD void rdmaez_impl_retried(const struct rdmaez_impl_retry *r,
					  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"opts.retry_ns", RDMAEZ_WHY_RETRIED,
						     RDMAEZ_VALUE_COUNTED, 0, 0};

	if (r->tries > 1)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ADVICE, &site, r->tries);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
