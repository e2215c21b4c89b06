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

/* The CRC-32 of Ethernet, bit by bit: it is needed once per message. */
RDMAEZ_IMPL_COLD uint32_t rdmaez_impl_bytes_sum(const uint8_t *bytes, size_t count)
{
	uint32_t sum = 0xffffffffu;

	for (size_t i = 0; i < count; i++) {
		sum ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
	}
	return ~sum;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
