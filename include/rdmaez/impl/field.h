/* SPDX-License-Identifier: MIT */
/*
 * Fills fields of verbs structs from options. Everything that is known of a field is written down
 * once, as a row of a list. The row fills the field, and judges a value that somebody else has
 * chosen.
 */
#ifndef RDMAEZ_IMPL_FIELD_H
#define RDMAEZ_IMPL_FIELD_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

#if RDMAEZ_IMPL_BODIES

RDMAEZ_IMPL_BEGIN

/*
 * This is what decides a value or its bounds besides the row, and how a value out of bounds is
 * explained.
 */
enum rdmaez_impl_field_rule {
	RDMAEZ_IMPL_FIELD_PLAIN,  /* nothing does */
	RDMAEZ_IMPL_FIELD_ENUM,   /* nothing does; the value is an enum's */
	RDMAEZ_IMPL_FIELD_GID,    /* the length of the GID table */
	RDMAEZ_IMPL_FIELD_PORT,   /* the number of ports */
	RDMAEZ_IMPL_FIELD_ALT,    /* the primary port */
	RDMAEZ_IMPL_FIELD_ACCESS, /* nothing does; `max` is the mask of what is accepted */
	RDMAEZ_IMPL_FIELD_MTU,    /* the port */
	RDMAEZ_IMPL_FIELD_PEER,  /* whether a port is known: then it is for use, and needs a peer */
	RDMAEZ_IMPL_FIELD_DEPTH, /* the device */
	RDMAEZ_IMPL_FIELD_ACK,   /* a time in ns, for an ACK timeout */
	RDMAEZ_IMPL_FIELD_RNR    /* the same for an RNR timer */
};

/* This is how an option of 32 bits is read. A negative one is above every bound. */
enum rdmaez_impl_field_option {
	RDMAEZ_IMPL_AS_UINT = 0,   /* as it is */
	RDMAEZ_IMPL_AS_SIGNED = 1, /* as it is, with a sign */
	RDMAEZ_IMPL_AS_BITS = 2,   /* RDMAEZ_ZERO is 0 */
	RDMAEZ_IMPL_AS_INT = 3     /* RDMAEZ_ZERO is 0, with a sign */
};

/* This is a row of a table. Only the explanations know what verbs call the field. */
struct rdmaez_impl_field {
	uint32_t bit;         /* when it is filled: a bit of the mask; 0: always */
	uint32_t otherwise;   /* the default */
	uint32_t max;         /* the greatest accepted */
	uint16_t from, to;    /* where the option and the field lie */
	uint8_t min;          /* the least accepted */
	uint8_t size;         /* of the field */
	uint8_t option, rule; /* enum rdmaez_impl_field_option, enum rdmaez_impl_field_rule */
};

/* This is an option, what it amounts to, and what is accepted. */
struct rdmaez_impl_value {
	uint32_t given, value, min, max;
};

/* Returns an option by itself: the default for 0, and 0 for RDMAEZ_ZERO. */
RDMAEZ_FOLD uint32_t rdmaez_impl_field_meant(int option, uint32_t given, uint32_t otherwise)
{
	if (!given)
		return otherwise;
	return given == RDMAEZ_ZERO && option >= RDMAEZ_IMPL_AS_BITS ? 0 : given;
}

/* Returns what an option amounts to, and what is accepted, by the row alone. */
RDMAEZ_FOLD struct rdmaez_impl_value rdmaez_impl_field_of(const struct rdmaez_impl_field *field,
							  uint32_t given)
{
	struct rdmaez_impl_value v;

	v.given = given;
	v.value = rdmaez_impl_field_meant(field->option, given, field->otherwise);
	v.min = field->min;
	v.max = field->max;
	return v;
}

/* Returns the option of a row, as it is given. */
RDMAEZ_FOLD uint32_t rdmaez_impl_field_given(const struct rdmaez_impl_field *field,
					     const void *options)
{
	uint32_t given;

	memcpy(&given, (const char *)options + field->from, sizeof(given));
	return given;
}

/*
 * Returns whether a value is refused, because it is out of its range. What is refused for another
 * reason has UINT32_MAX for its least value.
 */
RDMAEZ_FOLD bool rdmaez_impl_field_refused(struct rdmaez_impl_value v)
{
	return v.value < v.min || v.value > v.max;
}

/* Returns the value of a field that somebody else has filled. */
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

/* Writes the field of a row. */
RDMAEZ_IMPL void rdmaez_impl_field_set(const struct rdmaez_impl_field *field, void *attributes,
				       uint32_t word)
{
	char *const at = (char *)attributes + field->to;
	const uint16_t half = (uint16_t)word;

	if (field->size == 1)
		*at = (char)word;
	else if (field->size == sizeof(half))
		memcpy(at, &half, sizeof(half));
	else
		memcpy(at, &word, sizeof(word));
}

/* Does the same for an option. Returns whether it is refused. */
RDMAEZ_FOLD bool rdmaez_impl_field_put(const struct rdmaez_impl_field *field,
				       struct rdmaez_impl_value v, void *attributes)
{
	rdmaez_impl_field_set(field, attributes, v.value);
	return rdmaez_impl_field_refused(v);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
