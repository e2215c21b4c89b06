/* SPDX-License-Identifier: MIT */
/**
 * @file caps_compare.h
 * @brief Two devices, or two moments of one: what the second lacks, what all have in common, and
 *        whether a device has what a program needs.
 *
 * How a field compares is written down with the field, enum rdmaez_caps_merge: of most numbers more is
 * better, of a few less is, sets are compared bit by bit, and names are equal or not. Everything here
 * is pure, calls no verb and may be called from any thread.
 */
#ifndef RDMAEZ_CAPS_COMPARE_H
#define RDMAEZ_CAPS_COMPARE_H

#include "caps.h"
#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief How a second device stands to a first one in a field. */
enum rdmaez_caps_relation {
	RDMAEZ_RELATION_EQUAL,   /**< it has the same */
	RDMAEZ_RELATION_LACKS,   /**< it has less, or lacks bits */
	RDMAEZ_RELATION_EXCEEDS, /**< it has more, and all that the first has */
	RDMAEZ_RELATION_DIFFERS, /**< it has something else, which is neither more nor less */
	RDMAEZ_RELATION_UNCLEAR  /**< of one of the two nobody says */
};

/* Whether a number is below another, of the same field. */
RDMAEZ_API bool rdmaez_impl_caps_below(const struct rdmaez_caps_field *field, uint64_t a,
				       uint64_t b)
{
	return field->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* Whether two values are the same. A text that fills its array has no NUL. */
RDMAEZ_API bool rdmaez_impl_caps_same(const struct rdmaez_caps_item *a,
				      const struct rdmaez_caps_item *b)
{
	return a->value == b->value && strncmp(a->text, b->text, a->field->size) == 0;
}

/* Whether a value is enough where another is asked for. */
RDMAEZ_API bool rdmaez_impl_caps_meets(const struct rdmaez_caps_item *have,
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

/* How a second value stands to a first one of the same field. */
RDMAEZ_API enum rdmaez_caps_relation rdmaez_impl_caps_relation(const struct rdmaez_caps_item *a,
							       const struct rdmaez_caps_item *b)
{
	if (rdmaez_impl_caps_said(a) != rdmaez_impl_caps_said(b))
		return RDMAEZ_RELATION_UNCLEAR;
	if (rdmaez_impl_caps_same(a, b))
		return RDMAEZ_RELATION_EQUAL;
	if (a->field->merge == RDMAEZ_MERGE_SAME)
		return RDMAEZ_RELATION_DIFFERS;
	return rdmaez_impl_caps_meets(b, a) ? RDMAEZ_RELATION_EXCEEDS : RDMAEZ_RELATION_LACKS;
}

/* Whether all that is lacking of `flags` are bits that only a field which nobody told would tell. */
RDMAEZ_API bool rdmaez_impl_caps_beyond(const struct rdmaez_caps *have,
					const struct rdmaez_caps_item *offered,
					const struct rdmaez_caps_item *asked)
{
	return offered->field == rdmaez_caps_describe(RDMAEZ_CAPS_FLAGS) &&
	       (asked->value & ~offered->value) && !have->features.device_cap_flags_ex &&
	       have->source[RDMAEZ_CAPS_DEVICE_CAP_FLAGS_EX] > RDMAEZ_SOURCE_CORRECTED &&
	       !(uint32_t)(asked->value & ~offered->value);
}

/**
 * @brief How a second device stands to a first one in a field.
 *
 * A loop over all ids compares two devices; rdmaez_caps_diff_format() writes such a comparison.
 *
 * @param first one device, not NULL
 * @param second the other, or the same later; not NULL
 * @param id which field; one that is none is unclear
 * @return the relation
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API enum rdmaez_caps_relation rdmaez_caps_relate(const struct rdmaez_caps *first,
							const struct rdmaez_caps *second,
							enum rdmaez_caps_id id)
{
	struct rdmaez_caps_item a, b;

	if (rdmaez_caps_get(first, id, &a) || rdmaez_caps_get(second, id, &b))
		return RDMAEZ_RELATION_UNCLEAR;
	if (rdmaez_impl_caps_beyond(second, &b, &a) || rdmaez_impl_caps_beyond(first, &a, &b))
		return RDMAEZ_RELATION_UNCLEAR;
	return rdmaez_impl_caps_relation(&a, &b);
}

/*
 * The source of what two values have in common, whichever comes first: why one of them is unknown
 * outweighs that they differ, which outweighs where a value comes from.
 */
RDMAEZ_API uint8_t rdmaez_impl_caps_weightier(uint8_t a, uint8_t b)
{
	if (a == RDMAEZ_SOURCE_DIFFERS)
		return b > RDMAEZ_SOURCE_CORRECTED ? b : a;
	if (b == RDMAEZ_SOURCE_DIFFERS)
		return a > RDMAEZ_SOURCE_CORRECTED ? a : b;
	return a > b ? a : b;
}

/* Reduces a field of `all` to what `one` has as well. */
RDMAEZ_API void rdmaez_impl_caps_reduce(struct rdmaez_caps *all, const struct rdmaez_caps *one,
					enum rdmaez_caps_id id)
{
	struct rdmaez_caps_item a, b;
	uint64_t value;
	char *member;

	if (rdmaez_caps_get(all, id, &a) || rdmaez_caps_get(one, id, &b))
		return;
	member = (char *)all + a.field->offset;
	value = a.value;
	all->source[id] = rdmaez_impl_caps_weightier(all->source[id], one->source[id]);
	if (!rdmaez_impl_caps_said(&a) || !rdmaez_impl_caps_said(&b)) {
		memset(member, 0, a.field->size);
		return;
	}
	if (a.field->merge == RDMAEZ_MERGE_BITS)
		value &= b.value;
	else if (a.field->merge != RDMAEZ_MERGE_SAME && rdmaez_impl_caps_meets(&a, &b))
		value = b.value;
	if (a.field->merge != RDMAEZ_MERGE_SAME) {
		rdmaez_impl_caps_store(member, a.field->size, value);
	} else if (!rdmaez_impl_caps_same(&a, &b)) {
		memset(member, 0, a.field->size);
		all->source[id] = RDMAEZ_SOURCE_DIFFERS;
	}
}

/**
 * @brief What several devices have in common: what a program may rely on wherever it runs.
 *
 * Of each limit the worst, of each set the bits that all have. A field that one of them does not tell
 * is unknown, and names that differ are #RDMAEZ_SOURCE_DIFFERS.
 *
 * @param list the devices
 * @param count how many, at least 1
 * @param common receives what they have in common; may be one of them; written on success only
 * @retval 0 @p common is filled
 * @retval EINVAL a pointer is NULL or @p count is 0
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_caps_common(const struct rdmaez_caps *list, size_t count,
				  struct rdmaez_caps *common)
{
	struct rdmaez_caps all;

	if (!list || !count || !common)
		return EINVAL;
	all = list[0];
	for (size_t i = 1; i < count; i++)
		for (int id = 0; id < RDMAEZ_CAPS_ID_COUNT; id++)
			rdmaez_impl_caps_reduce(&all, &list[i], (enum rdmaez_caps_id)id);
	*common = all;
	return 0;
}

/**
 * @brief Whether a device has everything that a program needs.
 *
 * Start @p need from zero and set what is needed, in the same members that tell what is there:
 * @code
 * struct rdmaez_caps need;
 *
 * memset(&need, 0, sizeof(need));
 * need.device_memory.max_dm_size = 64 * 1024;
 * need.odp.rc = IBV_ODP_SUPPORT_READ;
 * need.depths.max_qp_init_rd_atom = 16;
 * need.atomics.fetch_add = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP;
 * error = rdmaez_caps_require(&caps, &need, &diag);
 * @endcode
 * A member that is zero asks for nothing, and so does a misspelt key of needs that rdmaez_caps_parse() read.
 * Of limits at least as much is needed; of qp_rate_limit_min and
 * local_ca_ack_delay at most as much; of sets all bits; of names the same.
 *
 * @param have what the device says
 * @param need what is needed
 * @param diag receives a finding for each need that is not met, with the field and, unless it is a text,
 *        what is asked and offered; as many as a record holds, and the number of the others; may be NULL
 * @retval 0 the device has it all
 * @retval EINVAL an argument is NULL (#RDMAEZ_NULL_ARGUMENT)
 * @retval EOPNOTSUPP the device has less (#RDMAEZ_NEED_UNMET)
 * @retval ENODATA the device has all that it tells of, but of some needs nobody says
 *         (#RDMAEZ_NEED_UNKNOWN)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_caps_require(const struct rdmaez_caps *have, const struct rdmaez_caps *need,
				   struct rdmaez_diag *diag)
{
	struct rdmaez_caps_item offered, asked;
	int result = 0;

	rdmaez_impl_diag_reset(diag, "rdmaez_caps_require");
	if (!have || !need)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_NULL_ARGUMENT,
					  have ? "need" : "have");
	if (diag)
		memcpy(diag->device, have->device.name, sizeof(diag->device) - 1);
	for (int id = 0; !rdmaez_caps_get(need, (enum rdmaez_caps_id)id, &asked) &&
			 !rdmaez_caps_get(have, (enum rdmaez_caps_id)id, &offered);
	     id++) {
		enum rdmaez_reason reason = RDMAEZ_NEED_UNMET;
		int error = EOPNOTSUPP;
		bool said;

		if (!asked.value && !*asked.text)
			continue;
		said = rdmaez_impl_caps_said(&offered);
		/* A zero that nobody stands for would do where less is better. */
		if (said && rdmaez_impl_caps_meets(&offered, &asked))
			continue;
		if (!said || rdmaez_impl_caps_beyond(have, &offered, &asked)) {
			reason = RDMAEZ_NEED_UNKNOWN;
			error = ENODATA;
		}
		rdmaez_impl_refuse_value(diag, error, reason, asked.field->name, RDMAEZ_VALUE_CAPS,
					 (int64_t)asked.value, id, (int64_t)offered.value);
		result = result == EOPNOTSUPP ? result : error;
	}
	if (diag)
		diag->error = result;
	return result;
}

#ifdef __cplusplus
}
#endif

#endif
