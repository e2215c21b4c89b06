/* SPDX-License-Identifier: MIT */
/* What goes to another machine or process: numbers with their highest byte first, and a check value. */
#ifndef RDMAEZ_IMPL_BYTES_H
#define RDMAEZ_IMPL_BYTES_H

#ifndef RDMAEZ_BASE_H
#include "../base.h"
#endif

#if RDMAEZ_IMPL_BODIES

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

/* The CRC-32 of Ethernet, four bits at a time. */
RDMAEZ_IMPL_COLD uint32_t rdmaez_impl_bytes_sum(const uint8_t *bytes, size_t count)
{
	static const uint32_t steps[] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
					 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
					 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
					 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
	uint32_t sum = 0xffffffffu;

	for (size_t i = 0; i < count; i++) {
		sum ^= bytes[i];
		sum = sum >> 4 ^ steps[sum & 0xf];
		sum = sum >> 4 ^ steps[sum & 0xf];
	}
	return ~sum;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
