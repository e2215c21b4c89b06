/* SPDX-License-Identifier: MIT */
/*
 * Times and rates, of every code and every number of ns: no sum and no product overflows, more never becomes less, and a
 * code that is made from a time is the shortest that waits as long. The RNR timers are those of IBTA's table.
 *
 * CLOCK is for every timeout, and every clock below 2^63 ns (2^31 ns on 32 bits).
 *
 * parts: TIMEOUT RNR GIVE_UP CLOCK RATE
 * machines: 64 32
 * unwind: 33
 * options: --unsigned-overflow-check
 * defect: TIMEOUT "the shortest code" impl/units.h s/rdmaez_timeout_ns(code) < ns/rdmaez_timeout_ns(code) <= ns/
 * defect: TIMEOUT "no timer" impl/units.h s/timeout <= 31 ?/timeout <= 63 ?/
 * defect: RNR "IBTA" impl/units.h s/UINT64_C(30000) : UINT64_C(40000)/UINT64_C(40000) : UINT64_C(30000)/
 * defect: RNR "waits as long" impl/units.h s/rdmaez_rnr_timer_ns(code) < ns ? 0 : code/code/
 * defect: GIVE_UP "overflow on unsigned" impl/units.h s/retry_cnt < 7 ?/retry_cnt + 1 ?/
 * defect: GIVE_UP "more retries" impl/units.h s/retry_cnt + 1 : 8/retry_cnt : 8/
 * defect: CLOCK "overflow on unsigned" impl/system.h s/timeout_ns < UINT64_MAX - now ?/timeout_ns < UINT64_MAX ?/
 * defect: CLOCK "overflow on unsigned" impl/system.h s/deadline > now ?/deadline ?/
 * defect: RATE "a faster lane" impl/port_caps.h s/return 14062500/return 1406250/
 * defect: RATE "overflow on unsigned" impl/port_caps.h s/speed <= UINT64_MAX . 100000/speed/
 */
#include "prove.h"
#include <rdmaez/units.h>
#include <rdmaez/port_caps.h>
#include <rdmaez/impl/system.h>

#if defined(TIMEOUT)
int main(void)
{
	const unsigned int code = nondet_uint(), next = code + (code < UINT32_MAX ? 1 : 0);
	const uint64_t ns = nondet_u64(), more = nondet_u64();
	const unsigned int made = rdmaez_timeout_from_ns(ns);

	if (code == 0 || code > 31)
		PROVE(rdmaez_timeout_ns(code) == 0, "no timer");
	else
		PROVE(rdmaez_timeout_ns(code) == (UINT64_C(4096) << code),
		      "4.096 us times 2 to the code");
	PROVE(next > 31 || rdmaez_timeout_ns(next) >= rdmaez_timeout_ns(code),
	      "a higher code waits longer");
	if (ns == RDMAEZ_NS_FOREVER) {
		PROVE(made == 0, "no timer for forever");
	} else {
		PROVE(made >= 1 && made <= 31, "a code");
		PROVE(made == 31 || rdmaez_timeout_ns(made) >= ns, "it waits as long");
		PROVE(made == 1 || rdmaez_timeout_ns(made - 1) < ns, "the shortest code");
		PROVE(more < ns || more == RDMAEZ_NS_FOREVER ||
			      rdmaez_timeout_from_ns(more) >= made,
		      "a longer time has no lower code");
	}
	GOAL(made == 31 && ns > UINT64_C(4096) << 31);
	GOAL(made == 14);
	GOAL(made == 0);
	GOAL(code > 31);
	return 0;
}
#elif defined(RNR)
/* IBTA volume 1, encoding of RNR NAK timer codes, in units of 10 us. */
static const uint32_t table[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
				   16,    24,   32,   48,    64,    96,    128,   192,
				   256,   384,  512,  768,   1024,  1536,  2048,  3072,
				   4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

int main(void)
{
	const unsigned int code = nondet_uint();
	const uint64_t ns = nondet_u64();
	const unsigned int made = rdmaez_rnr_timer_from_ns(ns);

	PROVE(rdmaez_rnr_timer_ns(code) == (code < 32 ? table[code] * UINT64_C(10000) : 0),
	      "IBTA's table");
	PROVE(made <= 31, "a code");
	PROVE(ns > UINT64_C(655360000) || rdmaez_rnr_timer_ns(made) >= ns, "it waits as long");
	PROVE(made == 1 || (made ? rdmaez_rnr_timer_ns(made - 1) : 0) < ns || made == 0,
	      "the shortest code");
	PROVE(made || ns > rdmaez_rnr_timer_ns(31), "the longest code only for the longest times");
	GOAL(made == 0);
	GOAL(made == 12);
	GOAL(code > 31);
	return 0;
}
#elif defined(GIVE_UP)
int main(void)
{
	const unsigned int timeout = nondet_uint(), retries = nondet_uint(), more = nondet_uint();
	const struct rdmaez_span_ns span = rdmaez_give_up_ns(timeout, retries);
	const uint64_t rnr = rdmaez_rnr_give_up_ns(timeout, retries);

	PROVE(span.min <= span.max, "bounds");
	PROVE((span.max == RDMAEZ_NS_FOREVER) == (timeout == 0 || timeout > 31),
	      "forever without a timer");
	PROVE(timeout == 0 || timeout > 31 ||
		      (span.min >= rdmaez_timeout_ns(timeout) &&
		       (retries == 0 || span.min >= 2 * rdmaez_timeout_ns(timeout))),
	      "once more than there are retries, and more retries take longer");
	if (more >= retries) {
		PROVE(rdmaez_give_up_ns(timeout, more).min >= span.min,
		      "more retries take no less");
		PROVE(rdmaez_give_up_ns(timeout, more).max >= span.max, "nor do they at most");
		PROVE(rdmaez_rnr_give_up_ns(timeout, more) >= rnr, "more RNR retries take no less");
	}
	PROVE((rnr == RDMAEZ_NS_FOREVER) == (retries >= 7), "seven retry forever");
	GOAL(span.max == (UINT64_C(4096) << 31) * 32);
	GOAL(span.min == RDMAEZ_NS_FOREVER);
	GOAL(rnr == UINT64_C(655360000) * 6);
	return 0;
}
#elif defined(CLOCK)
static long ns;

int rdmaez_impl_clock_gettime(int clock, long *now)
{
	(void)clock;
	now[0] = 0;
	now[1] = ns;
	return 0;
}

int main(void)
{
	const uint64_t timeout = nondet_u64(), more = nondet_u64();
	uint64_t begin, later, until, left;

	/* The clock as a number of ns: a product with seconds is too much for CBMC. */
	ns = nondet_long();
	ASSUME(ns >= 0);
	begin = rdmaez_impl_now();
	until = rdmaez_impl_deadline(timeout);
	PROVE(until >= begin, "no deadline has passed when it begins");
	if (timeout == 0)
		PROVE(until == begin + UINT64_C(10000000000), "10 s by default");
	else
		PROVE(until == (timeout < UINT64_MAX - begin ? begin + timeout : UINT64_MAX),
		      "that much later");
	PROVE(!timeout || more < timeout || rdmaez_impl_deadline(more) >= until,
	      "more time ends no earlier");
	PROVE(timeout != RDMAEZ_NS_NOW || rdmaez_impl_until(timeout) == 0, "now is not later");
	ns = nondet_long();
	ASSUME(ns >= 0);
	later = rdmaez_impl_now();
	left = rdmaez_impl_left(until);
	PROVE(left == (until > later ? until - later : 0), "what is left");
	PROVE(!timeout || later < begin || left <= timeout || until == UINT64_MAX,
	      "no more is left than was given");
	GOAL(left == 0);
	GOAL(until == UINT64_MAX && timeout < UINT64_MAX);
	GOAL(left > 0 && timeout == 0 && later > begin);
	return 0;
}
#else
int main(void)
{
	const uint32_t speed = nondet_u32(), faster = nondet_u32();
	const uint64_t told = nondet_u64(), kbps = rdmaez_impl_port_speed_kbps(told);
	struct rdmaez_port_caps caps;

	PROVE(rdmaez_speed_kbps(faster) == 0 || faster < speed ||
		      rdmaez_speed_kbps(faster) >= rdmaez_speed_kbps(speed),
	      "a faster lane has a higher rate");
	PROVE((kbps == UINT64_MAX) == (told > UINT64_MAX / 100000), "what a port tells");
	rdmaez_impl_port_caps_derive(&caps);
	PROVE(caps.rate_kbps <= UINT64_C(12) * 200000000, "twelve lanes of XDR at most");
	PROVE(caps.lanes == 0 || caps.lanes == 1 || caps.lanes == 2 || caps.lanes == 4 ||
		      caps.lanes == 8 || caps.lanes == 12,
	      "lanes");
	GOAL(caps.rate_kbps == UINT64_C(12) * 200000000);
	GOAL(caps.rate_kbps == 0 && caps.lanes);
	GOAL(kbps == UINT64_MAX);
	GOAL(kbps == 800000000);
	GOAL(rdmaez_speed_kbps(faster) > rdmaez_speed_kbps(speed) && rdmaez_speed_kbps(speed));
	return 0;
}
#endif
