/* SPDX-License-Identifier: MIT */
/*
 * What the harnesses have in common. A variable without a value has every value, and so has what nondet_X() returns.
 * GOAL() names a case that the inputs must reach, since a proof about no inputs always holds.
 */
#ifndef PROVE_H
#define PROVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool nondet_bool(void);
int nondet_int(void);
long nondet_long(void);
unsigned int nondet_uint(void);
uint8_t nondet_u8(void);
uint32_t nondet_u32(void);
uint64_t nondet_u64(void);
size_t nondet_size(void);
uintptr_t nondet_address(void);

#define PROVE(cond, what) __CPROVER_assert(cond, what)
#define ASSUME(cond)      __CPROVER_assume(cond)
#ifdef GOALS
#define GOAL(cond) __CPROVER_cover(cond)
#else
#define GOAL(cond) ((void)0)
#endif

#endif
