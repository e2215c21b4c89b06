/* SPDX-License-Identifier: MIT */
/* Implements caps_table.h: how a row is read and compared. */
#ifndef RDMAEZ_IMPL_CAPS_TABLE_H
#define RDMAEZ_IMPL_CAPS_TABLE_H

#ifndef RDMAEZ_CAPS_TABLE_H
#include "../caps_table.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_IMPL_TEXT_H
#include "text.h"
#endif
#ifndef RDMAEZ_WHY_H
#include "../why.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_COLD bool rdmaez_caps_kind_is_set(enum rdmaez_caps_kind kind)
{
	return (int)kind >= (int)RDMAEZ_KIND_DEVICE_FLAGS && (int)kind < (int)RDMAEZ_KIND_TOTAL;
}

RDMAEZ_COLD bool rdmaez_caps_kind_is_enum(enum rdmaez_caps_kind kind)
{
	return (int)kind >= (int)RDMAEZ_KIND_NODE_TYPE && (int)kind <= (int)RDMAEZ_KIND_VL;
}

/*
 * This is who reports a field, which decides what a zero means. From ODP on it is the kernel, in an
 * answer that grew by these parts in this order. So a kernel that reports one reports all before it
 * (struct ib_uverbs_ex_query_device_resp, the last part with Linux 5.1; then, for a port, struct
 * ib_uverbs_query_port_resp_ex).
 */
enum rdmaez_impl_told {
	RDMAEZ_IMPL_TOLD_PLAIN,    /* the plain query, which is always answered */
	RDMAEZ_IMPL_TOLD_CONTEXT,  /* the open device */
	RDMAEZ_IMPL_TOLD_DERIVED,  /* it follows from another field */
	RDMAEZ_IMPL_TOLD_CODE,     /* so does this, from a code that may have no meaning */
	RDMAEZ_IMPL_TOLD_LIBRARY,  /* libibverbs, from 35 on */
	RDMAEZ_IMPL_TOLD_PROVIDER, /* the provider's library, in the extended query */
	RDMAEZ_IMPL_TOLD_ODP,      /* the kernel, in the extended query; so all that follow */
	RDMAEZ_IMPL_TOLD_STAMP,
	RDMAEZ_IMPL_TOLD_CLOCK,
	RDMAEZ_IMPL_TOLD_FLAGS_EX,
	RDMAEZ_IMPL_TOLD_RSS,
	RDMAEZ_IMPL_TOLD_WQ,
	RDMAEZ_IMPL_TOLD_RAW,
	RDMAEZ_IMPL_TOLD_TM,
	RDMAEZ_IMPL_TOLD_CQ,
	RDMAEZ_IMPL_TOLD_DM,
	RDMAEZ_IMPL_TOLD_XRC_ODP,
	RDMAEZ_IMPL_TOLD_PORT_FLAGS,  /* a port's flags, from Linux 4.19 on */
	RDMAEZ_IMPL_TOLD_PORT_FLAGS2, /* the second set, from 5.0 on */
	RDMAEZ_IMPL_TOLD_SPEED_EX     /* speeds beyond eight bits, from 6.7 and rdma-core 49 on */
};

/* Returns a member of at most eight bytes as a number, sign-extended if it has a sign. */
RDMAEZ_IMPL uint64_t rdmaez_impl_caps_load(const void *member, size_t size, bool is_signed)
{
	uint64_t whole;
	uint32_t word;
	uint16_t half;

	switch (size) {
	case sizeof(whole):
		memcpy(&whole, member, sizeof(whole));
		return whole;
	case sizeof(word):
		memcpy(&word, member, sizeof(word));
		return is_signed && word >> 31 ? word | ~UINT64_C(0) << 32 : word;
	case sizeof(half):
		memcpy(&half, member, sizeof(half));
		return half;
	default:
		return *(const uint8_t *)member;
	}
}

RDMAEZ_COLD int rdmaez_caps_get(struct rdmaez_caps_table table, unsigned int id,
				struct rdmaez_caps_item *item)
{
	const struct rdmaez_caps_field *field;
	const char *member;

	if (id >= table.count || !table.base)
		return EINVAL;
	field = &table.fields[id];
	member = (const char *)table.base + field->offset;
	item->field = field;
	item->value = 0;
	item->text = "";
	item->source = (enum rdmaez_caps_source)table.source[id];
	if (field->kind == RDMAEZ_KIND_TEXT)
		item->text = member;
	else
		item->value = rdmaez_impl_caps_load(member, field->size, field->is_signed);
	return 0;
}

/* Returns whether a value is known, that is, anything but a zero that was not reported. */
RDMAEZ_IMPL bool rdmaez_impl_caps_known(const struct rdmaez_caps_item *item)
{
	return item->value || *item->text || item->source <= RDMAEZ_SOURCE_CORRECTED;
}

RDMAEZ_COLD enum rdmaez_answer rdmaez_caps_answer(struct rdmaez_caps_table table, unsigned int id)
{
	struct rdmaez_caps_item item;

	if (rdmaez_caps_get(table, id, &item) || !rdmaez_impl_caps_known(&item))
		return RDMAEZ_ANSWER_UNKNOWN;
	return item.value || *item.text ? RDMAEZ_ANSWER_YES : RDMAEZ_ANSWER_NO;
}

/* This stands for the place of a field that is not simply copied from a struct of verbs. */
#define RDMAEZ_IMPL_NOT_COPIED UINT16_MAX

/* This tells whether a row's type is signed. A char is part of a text. */
enum {
	RDMAEZ_IMPL_SIGN_char = 0,
	RDMAEZ_IMPL_SIGN_bool = 0,
	RDMAEZ_IMPL_SIGN_int = 1,
	RDMAEZ_IMPL_SIGN_uint8_t = 0,
	RDMAEZ_IMPL_SIGN_uint16_t = 0,
	RDMAEZ_IMPL_SIGN_uint32_t = 0,
	RDMAEZ_IMPL_SIGN_uint64_t = 0
};

/*
 * Returns why a zero is a zero. known is the last part that was answered, or 0 for the plain query
 * alone.
 */
RDMAEZ_IMPL enum rdmaez_caps_source rdmaez_impl_caps_zero(const struct rdmaez_caps_field *field,
							  int known)
{
	switch (field->told) {
	case RDMAEZ_IMPL_TOLD_PLAIN:
		return field->kind <= RDMAEZ_KIND_GUID ? RDMAEZ_SOURCE_DRIVER
						       : RDMAEZ_SOURCE_DEVICE;
	case RDMAEZ_IMPL_TOLD_CONTEXT:
		return RDMAEZ_SOURCE_NOT_ASKED;
	case RDMAEZ_IMPL_TOLD_DERIVED:
		return RDMAEZ_SOURCE_DEVICE;
	case RDMAEZ_IMPL_TOLD_CODE:
		return RDMAEZ_SOURCE_DRIVER;
	default:
		break;
	}
	if (!known)
		return RDMAEZ_SOURCE_PLAIN;
	if (field->told == RDMAEZ_IMPL_TOLD_LIBRARY)
		return RDMAEZ_SOURCE_OLD_LIBRARY;
	if (field->told == RDMAEZ_IMPL_TOLD_PROVIDER || field->told <= known)
		return RDMAEZ_SOURCE_DEVICE;
	return RDMAEZ_SOURCE_OLD_KERNEL;
}

/* Copies the fields from a struct of verbs of so many bytes, as far as they lie in it. */
RDMAEZ_IMPL void rdmaez_impl_caps_copy(struct rdmaez_caps_table table, void *caps, const void *attr,
				       size_t size)
{
	for (unsigned int id = 0; id < table.count; id++) {
		const struct rdmaez_caps_field *field = &table.fields[id];

		if ((size_t)field->from + field->size <= size)
			memcpy((char *)caps + field->offset, (const char *)attr + field->from,
			       field->size);
	}
}

/*
 * Finds out where every value comes from. A value in a part shows that this part and all before it
 * were answered. `known` is the last part that was answered even if it has no value. `last` is the
 * last one that the running kernel reports to a caller who got more than the plain answer. Both may
 * be 0.
 */
RDMAEZ_IMPL void rdmaez_impl_caps_sources(struct rdmaez_caps_table table, int known, int last,
					  uint8_t *source)
{
	struct rdmaez_caps_item item;

	for (unsigned int id = 0; !rdmaez_caps_get(table, id, &item); id++)
		if (item.value && item.field->told >= RDMAEZ_IMPL_TOLD_LIBRARY &&
		    item.field->told > known)
			known = item.field->told;
	if (known && known < last)
		known = last;
	for (unsigned int id = 0; !rdmaez_caps_get(table, id, &item); id++)
		source[id] = (uint8_t)(item.value || *item.text
					       ? RDMAEZ_SOURCE_DEVICE
					       : rdmaez_impl_caps_zero(item.field, known));
}

/* Returns whether a number is below another one of the same field. */
RDMAEZ_IMPL bool rdmaez_impl_caps_below(const struct rdmaez_caps_field *field, uint64_t a,
					uint64_t b)
{
	return field->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* Returns whether two values are the same. A text that fills its array has no NUL. */
RDMAEZ_IMPL bool rdmaez_impl_caps_same(const struct rdmaez_caps_item *a,
				       const struct rdmaez_caps_item *b)
{
	return a->value == b->value && strncmp(a->text, b->text, a->field->size) == 0;
}

/* Returns whether a value is enough for what is asked for. */
RDMAEZ_IMPL bool rdmaez_impl_caps_meets(const struct rdmaez_caps_item *have,
					const struct rdmaez_caps_item *need)
{
	switch ((int)have->field->merge) {
	case RDMAEZ_MERGE_LEAST:
		return !rdmaez_impl_caps_below(have->field, have->value, need->value);
	case RDMAEZ_MERGE_MOST:
		/* The least rate of a device without rates is none, which is no low one. */
		if (have->field->kind == RDMAEZ_KIND_KBPS && !(have->value && need->value))
			return !need->value;
		return !rdmaez_impl_caps_below(have->field, need->value, have->value);
	case RDMAEZ_MERGE_BITS:
		return (have->value & need->value) == need->value;
	default:
		return rdmaez_impl_caps_same(have, need);
	}
}

/* Returns whether all bits that a row lacks are in the part of the set that is not reported. */
RDMAEZ_IMPL bool rdmaez_impl_caps_beyond(struct rdmaez_caps_table table, unsigned int id,
					 uint64_t lacking)
{
	return table.partial == id && lacking && !(lacking & ~table.unreported);
}

RDMAEZ_COLD enum rdmaez_caps_relation
rdmaez_caps_relate(struct rdmaez_caps_table first, struct rdmaez_caps_table second, unsigned int id)
{
	struct rdmaez_caps_item a, b;

	if (first.count != second.count || rdmaez_caps_get(first, id, &a) ||
	    rdmaez_caps_get(second, id, &b) ||
	    rdmaez_impl_caps_known(&a) != rdmaez_impl_caps_known(&b) ||
	    rdmaez_impl_caps_beyond(first, id, b.value & ~a.value) ||
	    rdmaez_impl_caps_beyond(second, id, a.value & ~b.value))
		return RDMAEZ_RELATION_UNCLEAR;
	if (rdmaez_impl_caps_same(&a, &b))
		return RDMAEZ_RELATION_EQUAL;
	if (a.field->merge == RDMAEZ_MERGE_SAME)
		return RDMAEZ_RELATION_DIFFERS;
	return rdmaez_impl_caps_meets(&b, &a) ? RDMAEZ_RELATION_EXCEEDS : RDMAEZ_RELATION_LACKS;
}

/* Adds a need that is not met, or not known to be. Returns the errno value. */
RDMAEZ_IMPL_COLD int rdmaez_impl_caps_unmet(struct rdmaez_diag *diag,
					    const struct rdmaez_caps_item *offered,
					    const struct rdmaez_caps_item *asked,
					    enum rdmaez_why why)
{
	struct rdmaez_impl_site site;

	site.field = asked->field->name;
	site.why = why;
	site.kind = RDMAEZ_VALUE_CAPS;
	site.min = asked->field->kind;
	site.max = (int64_t)offered->value;
	rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &site, asked->value);
	/* All findings are errors, so the last one is this one. */
	if (diag && diag->count && !diag->dropped)
		diag->finding[diag->count - 1].format = rdmaez_impl_caps_need;
	return why == RDMAEZ_WHY_NEED_UNKNOWN ? ENODATA : EOPNOTSUPP;
}

RDMAEZ_COLD int rdmaez_caps_require(struct rdmaez_caps_table have, struct rdmaez_caps_table need,
				    struct rdmaez_diag *diag)
{
	struct rdmaez_caps_item offered, asked;
	int result = 0;

	rdmaez_impl_diag_reset(diag, "rdmaez_caps_require");
	if (!have.base || !need.base)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  have.base ? "need" : "have");
	if (have.count != need.count)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_CAPS_TABLE, "need");
	/* A device's first row is its name. */
	if (diag && have.fields[0].kind == RDMAEZ_KIND_TEXT)
		memcpy(diag->device, (const char *)have.base + have.fields[0].offset,
		       sizeof(diag->device) - 1);
	for (unsigned int id = 0; !rdmaez_caps_get(need, id, &asked); id++) {
		bool known, beyond;
		int error;

		rdmaez_caps_get(have, id, &offered);
		known = rdmaez_impl_caps_known(&offered);
		/* An unknown zero is not enough, even if less is better. */
		if ((!asked.value && !*asked.text) ||
		    (known && rdmaez_impl_caps_meets(&offered, &asked)))
			continue;
		beyond = rdmaez_impl_caps_beyond(have, id, asked.value & ~offered.value);
		error = rdmaez_impl_caps_unmet(diag, &offered, &asked,
					       known && !beyond ? RDMAEZ_WHY_NEED_UNMET
								: RDMAEZ_WHY_NEED_UNKNOWN);
		result = result == EOPNOTSUPP ? result : error;
	}
	if (diag)
		diag->error = result;
	return result;
}

RDMAEZ_COLD const char *rdmaez_caps_source_str(enum rdmaez_caps_source source)
{
	switch ((int)source) {
	case RDMAEZ_SOURCE_DEVICE:
		return "reported by the device";
	case RDMAEZ_SOURCE_CORRECTED:
		return "corrected: this driver reports it otherwise";
	case RDMAEZ_SOURCE_NOT_ASKED:
		return "no open device was asked";
	case RDMAEZ_SOURCE_PLAIN:
		return "kernel and provider answered the plain query only";
	case RDMAEZ_SOURCE_OLD_KERNEL:
		return "the kernel may be too old to report it";
	case RDMAEZ_SOURCE_OLD_LIBRARY:
		return "libibverbs is too old to report it";
	case RDMAEZ_SOURCE_OLD_HEADER:
		return "the program was compiled with a verbs.h that is too old";
	case RDMAEZ_SOURCE_DRIVER:
		return "this driver does not report it";
	case RDMAEZ_SOURCE_DIFFERS:
		return "the devices have nothing in common here";
	default:
		return "unknown";
	}
}

RDMAEZ_COLD const char *rdmaez_caps_source_id(enum rdmaez_caps_source source)
{
	static const char *const names[] = {"DEVICE",     "CORRECTED",  "NOT_ASKED",
					    "PLAIN",      "OLD_KERNEL", "OLD_LIBRARY",
					    "OLD_HEADER", "DRIVER",     "DIFFERS"};

	return (unsigned int)source < RDMAEZ_SOURCE_COUNT ? names[source] : "unknown";
}

RDMAEZ_COLD int rdmaez_caps_item_format(const struct rdmaez_caps_item *item, char *buf, size_t size)
{
	return rdmaez_impl_tell_caps_item_format
		       ? rdmaez_impl_tell_caps_item_format(item, buf, size)
		       : rdmaez_impl_line_untold(NULL, buf, size);
}

RDMAEZ_COLD int rdmaez_caps_diff_format(struct rdmaez_caps_table first,
					struct rdmaez_caps_table second, char *buf, size_t size)
{
	return rdmaez_impl_tell_caps_diff_format
		       ? rdmaez_impl_tell_caps_diff_format(first, second, buf, size)
		       : rdmaez_impl_format_untold(NULL, buf, size);
}

RDMAEZ_COLD const char *rdmaez_caps_kind_str(enum rdmaez_caps_kind kind, uint64_t number)
{
	return rdmaez_impl_tell_caps_kind_str ? rdmaez_impl_tell_caps_kind_str((int)kind, number)
					      : "unknown";
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
