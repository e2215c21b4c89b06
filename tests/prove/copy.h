/* SPDX-License-Identifier: MIT */
/*
 * memcpy() for harnesses that copy single numbers: as numbers, which CBMC keeps apart, where bytes would mix whole
 * structs. Numbers and GIDs are copied; of more bytes only the bounds matter, and they may be any. A harness that copies a
 * struct defines PROVE_COPY_STRUCT, which copies those that have its length.
 */
#ifndef PROVE_COPY_H
#define PROVE_COPY_H

#include "prove.h"
#include <infiniband/verbs.h>

void *memcpy(void *to, const void *from, size_t length)
{
	PROVE(length == 0 || __CPROVER_r_ok(from, length), "a copy reads inside");
	PROVE(length == 0 || __CPROVER_w_ok(to, length), "a copy writes inside");
	if (length == 1)
		*(uint8_t *)to = *(const uint8_t *)from;
	else if (length == 2)
		*(uint16_t *)to = *(const uint16_t *)from;
	else if (length == 4)
		*(uint32_t *)to = *(const uint32_t *)from;
	else if (length == 16)
		*(union ibv_gid *)to = *(const union ibv_gid *)from;
#ifdef PROVE_COPY_STRUCT
	PROVE_COPY_STRUCT(to, from, length);
#endif
	return to;
}

#endif
