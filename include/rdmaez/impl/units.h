/* SPDX-License-Identifier: MIT */
/* Implements units.h. */
#ifndef RDMAEZ_IMPL_UNITS_H
#define RDMAEZ_IMPL_UNITS_H

#ifndef RDMAEZ_UNITS_H
#include "../units.h"
#endif

#if RDMAEZ_IMPL_BODIES
#include <sys/random.h>
#include <time.h>
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_INLINE int rdmaez_mtu_bytes(enum ibv_mtu mtu)
{
	const int code = (int)mtu;

	return code >= IBV_MTU_256 && code <= IBV_MTU_4096 ? 128 << code : 0;
}

RDMAEZ_INLINE int rdmaez_mtu_from_bytes(int bytes, enum ibv_mtu *mtu)
{
	int code = IBV_MTU_4096;

	while (code >= IBV_MTU_256 && bytes < 128 << code)
		code--;
	if (code < IBV_MTU_256 || !mtu)
		return EINVAL;
	*mtu = (enum ibv_mtu)code;
	return 0;
}

RDMAEZ_INLINE uint64_t rdmaez_timeout_ns(unsigned int timeout)
{
	return timeout >= 1 && timeout <= 31 ? UINT64_C(4096) << timeout : 0;
}

RDMAEZ_INLINE unsigned int rdmaez_timeout_from_ns(uint64_t ns)
{
	unsigned int code = 1;

	while (code < 31 && rdmaez_timeout_ns(code) < ns)
		code++;
	return ns < RDMAEZ_NS_FOREVER ? code : 0;
}

RDMAEZ_INLINE uint64_t rdmaez_rnr_timer_ns(unsigned int min_rnr_timer)
{
	if (min_rnr_timer == 0)
		return UINT64_C(655360000);
	if (min_rnr_timer > 31)
		return 0;
	/*
	 * The codes are 10 and 20 us, then pairs: 2 and 3 times 10 us, doubled at every second code
	 * after it.
	 */
	if (min_rnr_timer <= 2)
		return UINT64_C(10000) * min_rnr_timer;
	return (min_rnr_timer % 2 ? UINT64_C(30000) : UINT64_C(40000)) << ((min_rnr_timer - 3) / 2);
}

RDMAEZ_INLINE unsigned int rdmaez_rnr_timer_from_ns(uint64_t ns)
{
	unsigned int code = 1;

	while (code < 31 && rdmaez_rnr_timer_ns(code) < ns)
		code++;
	return rdmaez_rnr_timer_ns(code) < ns ? 0 : code;
}

RDMAEZ_INLINE struct rdmaez_span_ns rdmaez_give_up_ns(unsigned int timeout, unsigned int retry_cnt)
{
	const uint64_t once = rdmaez_timeout_ns(timeout);
	const uint64_t tries = retry_cnt < 7 ? retry_cnt + 1 : 8;
	struct rdmaez_span_ns span;

	span.min = once ? once * tries : RDMAEZ_NS_FOREVER;
	span.max = once ? once * tries * 4 : RDMAEZ_NS_FOREVER;
	return span;
}

RDMAEZ_INLINE uint64_t rdmaez_rnr_give_up_ns(unsigned int min_rnr_timer, unsigned int rnr_retry)
{
	return rnr_retry < 7 ? rdmaez_rnr_timer_ns(min_rnr_timer) * rnr_retry : RDMAEZ_NS_FOREVER;
}

RDMAEZ_INLINE uint32_t rdmaez_psn_add(uint32_t psn, uint32_t packets)
{
	return (uint32_t)(((uint64_t)psn + packets) & RDMAEZ_PSN_MAX);
}

RDMAEZ_INLINE int32_t rdmaez_psn_diff(uint32_t psn, uint32_t base)
{
	const uint32_t ahead =
		((psn | (UINT32_C(1) << 24)) - (base & RDMAEZ_PSN_MAX)) & RDMAEZ_PSN_MAX;

	return ahead < 0x800000u ? (int32_t)ahead : (int32_t)ahead - 0x1000000;
}

#if RDMAEZ_IMPL_BODIES

/*
 * Returns what differs between two calls, threads and processes. The multiplier, 2^64 by the golden
 * ratio, spreads it.
 */
RDMAEZ_IMPL_SMALL uint64_t rdmaez_impl_random_of_clock(void)
{
	struct timespec now = {0, 0}; /* as it stays if there is no clock */

	timespec_get(&now, TIME_UTC);
	return (((uint64_t)now.tv_sec << 30) + (uint64_t)now.tv_nsec + (uintptr_t)&now) *
	       UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * Returns random bits, of which the upper 24 are to be a PSN. The clock's are worse the lower they
 * are.
 */
RDMAEZ_IMPL uint64_t rdmaez_impl_random(void)
{
	uint64_t bits;

	return getrandom(&bits, sizeof(bits), GRND_NONBLOCK) == (ssize_t)sizeof(bits)
		       ? bits
		       : rdmaez_impl_random_of_clock();
}

RDMAEZ_API uint32_t rdmaez_psn_random(void)
{
	return (uint32_t)(rdmaez_impl_random() >> 40);
}

#endif /* RDMAEZ_IMPL_BODIES */

RDMAEZ_IMPL_END

#endif
