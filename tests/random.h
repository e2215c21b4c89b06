/* SPDX-License-Identifier: MIT */
/* Numbers that look random, the same after each seed. The including test sets the seed, and says which. */
#ifndef RDMAEZ_TESTS_RANDOM_H
#define RDMAEZ_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

static uint32_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)seed * below >> 32);
}

static bool one_in(uint32_t n)
{
	return any(n) == 0;
}

#endif
