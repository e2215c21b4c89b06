/* SPDX-License-Identifier: MIT */
/* A field of a verbs struct that is filled from an option: all that is known of it, written down once. */
#ifndef RDMAEZ_IMPL_FIELD_H
#define RDMAEZ_IMPL_FIELD_H

#include "../diag.h"

#if RDMAEZ_IMPL_BODIES

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What decides a value or its bounds besides the row, and how a value out of bounds is explained. */
enum rdmaez_impl_field_rule {
	RDMAEZ_IMPL_FIELD_PLAIN,  /* nothing does */
	RDMAEZ_IMPL_FIELD_ENUM,   /* nothing does; the value is an enum's */
	RDMAEZ_IMPL_FIELD_GID,    /* the GID index chosen, and the length of the GID table */
	RDMAEZ_IMPL_FIELD_PORT,   /* the number of ports */
	RDMAEZ_IMPL_FIELD_ACCESS, /* the type; `max` is the mask of what is accepted */
	RDMAEZ_IMPL_FIELD_MTU,    /* the port */
	RDMAEZ_IMPL_FIELD_PEER,  /* whether a port is known: then it is for use, and needs a peer */
	RDMAEZ_IMPL_FIELD_DEPTH, /* the device */
	RDMAEZ_IMPL_FIELD_PATH   /* a whole path, which has rows of its own */
};

/* How an option of 32 bits is read. */
enum rdmaez_impl_field_option {
	RDMAEZ_IMPL_AS_UINT, /* as it is */
	RDMAEZ_IMPL_AS_BITS, /* RDMAEZ_ZERO is 0 */
	RDMAEZ_IMPL_AS_INT   /* RDMAEZ_ZERO is 0, and it has a sign */
};

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

/* An option as it was given. */
RDMAEZ_IMPL int64_t rdmaez_impl_field_given(const struct rdmaez_impl_field *field,
					    const void *options)
{
	uint32_t word;

	memcpy(&word, (const char *)options + field->from, sizeof(word));
	return field->option == RDMAEZ_IMPL_AS_INT ? (int64_t)(int32_t)word : (int64_t)word;
}

/* What it means: the default for 0, and 0 for RDMAEZ_ZERO. */
RDMAEZ_IMPL int64_t rdmaez_impl_field_meant(const struct rdmaez_impl_field *field, int64_t given)
{
	if (!given)
		return field->otherwise;
	return given == RDMAEZ_ZERO && field->option != RDMAEZ_IMPL_AS_UINT ? 0 : given;
}

/* Puts a value where it belongs. */
RDMAEZ_IMPL void rdmaez_impl_field_put(const struct rdmaez_impl_field *field, void *attributes,
				       int64_t value)
{
	char *const at = (char *)attributes + field->to;
	const uint32_t word = (uint32_t)value;
	const uint16_t half = (uint16_t)value;
	const uint8_t byte = (uint8_t)value;

	if (field->size == sizeof(byte))
		memcpy(at, &byte, sizeof(byte));
	else if (field->size == sizeof(half))
		memcpy(at, &half, sizeof(half));
	else
		memcpy(at, &word, sizeof(word));
}

/* The value of a field. */
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

/* Whether a value is one of those accepted: a range, or a mask for bits. */
RDMAEZ_IMPL bool rdmaez_impl_field_accepts(const struct rdmaez_impl_field *field, int64_t value,
					   int64_t min, int64_t max)
{
	if (field->rule == RDMAEZ_IMPL_FIELD_ACCESS)
		return !(value & ~max);
	return value >= min && value <= max;
}

/* Says that an option is out of bounds; EINVAL. */
RDMAEZ_IMPL_COLD int rdmaez_impl_field_refuse(struct rdmaez_diag *diag,
					      const struct rdmaez_impl_field *field,
					      const char *name, int64_t value, int64_t min,
					      int64_t max)
{
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
		value &= ~max;
		break;
	case RDMAEZ_IMPL_FIELD_MTU:
		site.why = value >= 256 ? RDMAEZ_WHY_MTU_IN_BYTES : RDMAEZ_WHY_ENUM;
		site.kind = RDMAEZ_VALUE_MTU;
		break;
	default:
		break;
	}
	return rdmaez_impl_refuse_within(diag, EINVAL, &site, value, min, max);
}

/* A number outside its range that has no row; 0 or EINVAL. */
RDMAEZ_IMPL int rdmaez_impl_range(struct rdmaez_diag *diag, const char *field, int64_t value,
				  int64_t min, int64_t max)
{
	struct rdmaez_impl_site site;

	if (value >= min && value <= max)
		return 0;
	site.field = field;
	site.why = RDMAEZ_WHY_RANGE;
	site.kind = RDMAEZ_VALUE_NUMBER;
	return rdmaez_impl_refuse_within(diag, EINVAL, &site, value, min, max);
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
