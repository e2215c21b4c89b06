/* SPDX-License-Identifier: MIT */
/* A number in a struct, for tables of cases: MEMBER(rdmaez_qp_opts, timeout). */
#ifndef MEMBER_H
#define MEMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct member {
	size_t at, size;
};

#define MEMBER(type, name) {offsetof(struct type, name), sizeof(((struct type *)0)->name)}

/* Cut to the member's size, as an assignment would. */
static inline void set_member(void *object, struct member member, int64_t value)
{
	const uint8_t one = (uint8_t)value;
	const uint16_t two = (uint16_t)value;
	const uint32_t four = (uint32_t)value;
	const void *const from = member.size == 1   ? (const void *)&one
				 : member.size == 2 ? (const void *)&two
				 : member.size == 4 ? (const void *)&four
						    : (const void *)&value;

	memcpy((char *)object + member.at, from, member.size);
}

/* Without a sign. */
static inline int64_t get_member(const void *object, struct member member)
{
	const char *const from = (const char *)object + member.at;
	uint8_t one;
	uint16_t two;
	uint32_t four;

	memcpy(&one, from, 1);
	if (member.size == 1)
		return one;
	memcpy(&two, from, 2);
	if (member.size == 2)
		return two;
	memcpy(&four, from, 4);
	return four;
}

#endif
