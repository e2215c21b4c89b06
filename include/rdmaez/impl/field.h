/* SPDX-License-Identifier: MIT */
/*
 * Fields of verbs structs that are filled from options. All that is known of one is written down once, as a
 * row of a list; the list is made into code that fills the fields, and into a table for whoever explains why
 * an option was refused, or looks at fields that somebody else has filled.
 */
#ifndef RDMAEZ_IMPL_FIELD_H
#define RDMAEZ_IMPL_FIELD_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif

RDMAEZ_IMPL_BEGIN

/* What decides a value or its bounds besides the row, and how a value out of bounds is explained. */
enum rdmaez_impl_field_rule {
	RDMAEZ_IMPL_FIELD_PLAIN,  /* nothing does */
	RDMAEZ_IMPL_FIELD_ENUM,   /* nothing does; the value is an enum's */
	RDMAEZ_IMPL_FIELD_GID,    /* the length of the GID table */
	RDMAEZ_IMPL_FIELD_PORT,   /* the number of ports */
	RDMAEZ_IMPL_FIELD_ALT,    /* the primary port */
	RDMAEZ_IMPL_FIELD_ACCESS, /* nothing does; `max` is the mask of what is accepted */
	RDMAEZ_IMPL_FIELD_MTU,    /* the port */
	RDMAEZ_IMPL_FIELD_PEER, /* whether a port is known: then it is for use, and needs a peer */
	RDMAEZ_IMPL_FIELD_DEPTH /* the device */
};

/* How an option of 32 bits is read. A negative one is above every bound. */
enum rdmaez_impl_field_option {
	RDMAEZ_IMPL_AS_UINT = 0,   /* as it is */
	RDMAEZ_IMPL_AS_SIGNED = 1, /* as it is, with a sign */
	RDMAEZ_IMPL_AS_BITS = 2,   /* RDMAEZ_ZERO is 0 */
	RDMAEZ_IMPL_AS_INT = 3     /* RDMAEZ_ZERO is 0, with a sign */
};

/* A row of a table. */
struct rdmaez_impl_field {
	const char *name;   /* as verbs call it */
	uint32_t bit;       /* when it is filled: a bit of the mask; 0: always */
	uint32_t otherwise; /* the default */
	uint32_t min, max;  /* what is accepted */
	uint16_t from, to;  /* where the option and the field lie */
	uint8_t size;       /* of the field */
	uint8_t option;     /* enum rdmaez_impl_field_option */
	uint8_t rule;       /* enum rdmaez_impl_field_rule */
};

/* An option, what it amounts to, and what is accepted. */
struct rdmaez_impl_value {
	uint32_t given, value, min, max;
};

/* An option by itself: the default for 0, and 0 for RDMAEZ_ZERO. */
RDMAEZ_FOLD uint32_t rdmaez_impl_field_meant(int option, uint32_t given, uint32_t otherwise)
{
	if (otherwise && !given)
		return otherwise;
	return given == RDMAEZ_ZERO && option >= RDMAEZ_IMPL_AS_BITS ? 0 : given;
}

/* What an option amounts to, and what is accepted, by the row alone. */
RDMAEZ_FOLD struct rdmaez_impl_value
rdmaez_impl_field_value(int option, uint32_t given, uint32_t otherwise, uint32_t min, uint32_t max)
{
	struct rdmaez_impl_value v;

	v.given = given;
	v.value = rdmaez_impl_field_meant(option, given, otherwise);
	v.min = min;
	v.max = max;
	return v;
}

/* Whether a value is refused: it is out of its range, or has a bit that is not in the mask. */
RDMAEZ_FOLD bool rdmaez_impl_field_refused(int rule, struct rdmaez_impl_value v)
{
	if (rule == RDMAEZ_IMPL_FIELD_ACCESS)
		return (v.value & ~v.max) != 0;
	if (rule == RDMAEZ_IMPL_FIELD_GID) /* of a table without entries `max` is -1 */
		return (int32_t)v.value < 0 || (int32_t)v.value > (int32_t)v.max;
	return v.value < v.min || v.value > v.max;
}

/* Puts a value into a field of so many bytes. */
RDMAEZ_FOLD void rdmaez_impl_field_put(void *field, size_t size, uint32_t word)
{
	const uint16_t half = (uint16_t)word;
	const uint8_t byte = (uint8_t)word;

	if (size == sizeof(byte))
		memcpy(field, &byte, sizeof(byte));
	else if (size == sizeof(half))
		memcpy(field, &half, sizeof(half));
	else
		memcpy(field, &word, sizeof(word));
}

/* The value of a field that somebody else has filled. */
RDMAEZ_IMPL uint32_t rdmaez_impl_field_get(const struct rdmaez_impl_field *field,
					   const void *attributes)
{
	const char *const at = (const char *)attributes + field->to;
	uint32_t word;
	uint16_t half;
	uint8_t byte;

	if (field->size == sizeof(byte)) {
		memcpy(&byte, at, sizeof(byte));
		return byte;
	}
	if (field->size == sizeof(half)) {
		memcpy(&half, at, sizeof(half));
		return half;
	}
	memcpy(&word, at, sizeof(word));
	return word;
}

/* The option of a field. */
RDMAEZ_IMPL uint32_t rdmaez_impl_field_given(const struct rdmaez_impl_field *field,
					     const void *options)
{
	uint32_t word;

	memcpy(&word, (const char *)options + field->from, sizeof(word));
	return word;
}

/* A number that is too large, and would not be with its bytes in the other order. */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect_order(struct rdmaez_diag *diag, const char *name,
						uint32_t value, uint32_t max)
{
	const uint32_t swapped =
		value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24;
	struct rdmaez_impl_site site;

	site.field = name;
	site.why = RDMAEZ_WHY_QPN_SWAPPED;
	site.kind = RDMAEZ_VALUE_NUMBER;
	if (value > max && swapped <= max && swapped > 1) /* 0 and 1 are no peer's */
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &site, value, swapped, swapped);
}

/* Says that an option was refused, under a name that may be shorter than the row's. */
RDMAEZ_IMPL_COLD void rdmaez_impl_field_refuse(struct rdmaez_diag *diag,
					       const struct rdmaez_impl_field *field,
					       const char *name, struct rdmaez_impl_value v)
{
	const bool is_signed = (field->option & RDMAEZ_IMPL_AS_SIGNED) != 0;
	struct rdmaez_impl_site site;

	site.field = name;
	site.why = RDMAEZ_WHY_RANGE;
	site.kind = RDMAEZ_VALUE_NUMBER;
	switch (field->rule) {
	case RDMAEZ_IMPL_FIELD_ENUM:
		site.why = RDMAEZ_WHY_ENUM;
		break;
	case RDMAEZ_IMPL_FIELD_GID:
		site.why = RDMAEZ_WHY_GID_INDEX;
		break;
	case RDMAEZ_IMPL_FIELD_PORT:
		site.why = RDMAEZ_WHY_PORT;
		break;
	case RDMAEZ_IMPL_FIELD_ACCESS:
		site.why = RDMAEZ_WHY_ACCESS_BITS;
		site.kind = RDMAEZ_VALUE_ACCESS;
		v.value &= ~v.max;
		break;
	case RDMAEZ_IMPL_FIELD_MTU:
		site.why = (int32_t)v.value >= 256 ? RDMAEZ_WHY_MTU_IN_BYTES : RDMAEZ_WHY_ENUM;
		site.kind = RDMAEZ_VALUE_MTU;
		break;
	default:
		break;
	}
	rdmaez_impl_refuse_within(diag, EINVAL, &site,
				  is_signed ? (int64_t)(int32_t)v.value : (int64_t)v.value,
				  (int32_t)v.min, is_signed ? (int64_t)(int32_t)v.max : v.max);
	if (field->rule == RDMAEZ_IMPL_FIELD_PEER)
		rdmaez_impl_suspect_order(diag, name, v.value, v.max);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
