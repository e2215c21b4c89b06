/* SPDX-License-Identifier: MIT */
/* Bodies of caps.h. */
#ifndef RDMAEZ_IMPL_CAPS_H
#define RDMAEZ_IMPL_CAPS_H

#include "../caps.h"

#if RDMAEZ_IMPL_BODIES

#include "../driver.h"
#include "../units.h"
#include "caps_kind.h"
#include "diag.h"
#include "linux.h"

#ifdef __cplusplus
extern "C" {
#endif

RDMAEZ_API const char *rdmaez_caps_source_str(enum rdmaez_caps_source source)
{
#define RDMAEZ_IMPL_SOURCE_WHAT(id, what) what,
	static const char *const sentences[] = {RDMAEZ_SOURCES(RDMAEZ_IMPL_SOURCE_WHAT)};
#undef RDMAEZ_IMPL_SOURCE_WHAT

	return (unsigned int)source < RDMAEZ_SOURCE_COUNT ? sentences[source] : "unknown";
}

RDMAEZ_API const char *rdmaez_caps_source_id(enum rdmaez_caps_source source)
{
#define RDMAEZ_IMPL_SOURCE_NAME(id, what) #id,
	static const char *const names[] = {RDMAEZ_SOURCES(RDMAEZ_IMPL_SOURCE_NAME)};
#undef RDMAEZ_IMPL_SOURCE_NAME

	return (unsigned int)source < RDMAEZ_SOURCE_COUNT ? names[source] : "unknown";
}

/* A member of at most eight bytes as a number, sign-extended where it has a sign. */
RDMAEZ_IMPL uint64_t rdmaez_impl_caps_load(const void *member, size_t size, bool is_signed)
{
	uint64_t whole = 0;
	uint32_t word = 0;
	uint16_t half = 0;
	uint8_t byte = 0;

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
		memcpy(&byte, member, sizeof(byte));
		return byte;
	}
}

/* The other way round; what does not fit is cut. */
RDMAEZ_IMPL void rdmaez_impl_caps_store(void *member, size_t size, uint64_t value)
{
	const uint32_t word = (uint32_t)value;
	const uint16_t half = (uint16_t)value;
	const uint8_t byte = (uint8_t)value;

	switch (size) {
	case sizeof(value):
		memcpy(member, &value, sizeof(value));
		return;
	case sizeof(word):
		memcpy(member, &word, sizeof(word));
		return;
	case sizeof(half):
		memcpy(member, &half, sizeof(half));
		return;
	default:
		memcpy(member, &byte, sizeof(byte));
	}
}

/* A field's value; base is the struct that the field lies in. */
RDMAEZ_IMPL void rdmaez_impl_caps_item(const struct rdmaez_caps_field *field, const void *base,
				       uint8_t source, struct rdmaez_caps_item *item)
{
	const char *member = (const char *)base + field->offset;
	const bool is_text = field->kind == RDMAEZ_KIND_TEXT;

	item->field = field;
	item->value = is_text ? 0 : rdmaez_impl_caps_load(member, field->size, field->is_signed);
	item->text = is_text ? member : "";
	item->source = (enum rdmaez_caps_source)source;
}

/* Whether a value is more than a zero that nobody stands for. */
RDMAEZ_IMPL bool rdmaez_impl_caps_said(const struct rdmaez_caps_item *item)
{
	return item->value || *item->text || item->source <= RDMAEZ_SOURCE_CORRECTED;
}

/* Yes, no, or nobody says. */
RDMAEZ_IMPL enum rdmaez_answer rdmaez_impl_caps_answer(const struct rdmaez_caps_item *item)
{
	if (item->value || *item->text)
		return RDMAEZ_ANSWER_YES;
	return rdmaez_impl_caps_said(item) ? RDMAEZ_ANSWER_NO : RDMAEZ_ANSWER_UNKNOWN;
}

RDMAEZ_API const struct rdmaez_caps_field *rdmaez_caps_describe(enum rdmaez_caps_id id)
{
#define RDMAEZ_IMPL_CAPS_LINE(id, group, member, type, kind, merge, told, path, what) \
	{#path,                                                                       \
	 #group,                                                                      \
	 what,                                                                        \
	 RDMAEZ_KIND_##kind,                                                          \
	 RDMAEZ_MERGE_##merge,                                                        \
	 (type)-1 < (type)1,                                                          \
	 RDMAEZ_IMPL_TOLD_##told,                                                     \
	 offsetof(struct rdmaez_caps, group.member),                                  \
	 sizeof(type)},
#define RDMAEZ_IMPL_CAPS_PLAIN_LINE(id, group, member, type, kind, merge, what) \
	RDMAEZ_IMPL_CAPS_LINE(id, group, member, type, kind, merge, PLAIN, member, what)
#define RDMAEZ_IMPL_CAPS_TEXT_LINE(id, group, member, size, kind, merge, told, path, what) \
	{#path,                                                                            \
	 #group,                                                                           \
	 what,                                                                             \
	 RDMAEZ_KIND_##kind,                                                               \
	 RDMAEZ_MERGE_##merge,                                                             \
	 false,                                                                            \
	 RDMAEZ_IMPL_TOLD_##told,                                                          \
	 offsetof(struct rdmaez_caps, group.member),                                       \
	 size},
	static const struct rdmaez_caps_field fields[] = {
		RDMAEZ_IMPL_CAPS_FIELDS(RDMAEZ_IMPL_CAPS_PLAIN_LINE, RDMAEZ_IMPL_CAPS_LINE,
					RDMAEZ_IMPL_CAPS_LINE, RDMAEZ_IMPL_CAPS_TEXT_LINE)};
#undef RDMAEZ_IMPL_CAPS_LINE
#undef RDMAEZ_IMPL_CAPS_PLAIN_LINE
#undef RDMAEZ_IMPL_CAPS_TEXT_LINE

	return (unsigned int)id < RDMAEZ_CAPS_ID_COUNT ? &fields[id] : NULL;
}

RDMAEZ_API int rdmaez_caps_get(const struct rdmaez_caps *caps, enum rdmaez_caps_id id,
			       struct rdmaez_caps_item *item)
{
	const struct rdmaez_caps_field *field = rdmaez_caps_describe(id);

	if (!field)
		return EINVAL;
	rdmaez_impl_caps_item(field, caps, caps->source[id], item);
	return 0;
}

RDMAEZ_API int rdmaez_caps_visit(const struct rdmaez_caps *caps,
				 int (*visit)(const struct rdmaez_caps_item *item, void *argument),
				 void *argument)
{
	struct rdmaez_caps_item item;
	int stop = 0;

	for (int i = 0; !stop && !rdmaez_caps_get(caps, (enum rdmaez_caps_id)i, &item); i++)
		stop = visit(&item, argument);
	return stop;
}

RDMAEZ_API enum rdmaez_answer rdmaez_caps_answer(const struct rdmaez_caps *caps,
						 enum rdmaez_caps_id id)
{
	struct rdmaez_caps_item item;

	return rdmaez_caps_get(caps, id, &item) ? RDMAEZ_ANSWER_UNKNOWN
						: rdmaez_impl_caps_answer(&item);
}

/* phys_port_cnt_ex, which lies behind xrc_odp_caps whether or not this verbs.h names it. */
RDMAEZ_IMPL uint32_t rdmaez_impl_caps_ports(const struct ibv_device_attr_ex *attr)
{
	const size_t at = offsetof(struct ibv_device_attr_ex, xrc_odp_caps) + sizeof(uint32_t);
	uint32_t ports = 0;

	if (sizeof(*attr) >= at + sizeof(ports))
		memcpy(&ports, (const char *)attr + at, sizeof(ports));
	return ports;
}

/* What follows from other fields, and where it comes from. */
RDMAEZ_IMPL void rdmaez_impl_caps_derive(struct rdmaez_caps *caps)
{
	uint8_t *const source = caps->source;

	caps->device.port_count = caps->device.phys_port_cnt_ex ? caps->device.phys_port_cnt_ex
								: caps->device.phys_port_cnt;
	caps->features.flags = caps->features.device_cap_flags | caps->features.device_cap_flags_ex;
	/* A code beyond IBTA's five bits, or a clock beyond all reason, means nothing. */
	if (caps->limits.local_ca_ack_delay <= 31)
		caps->limits.local_ca_ack_delay_ns = UINT64_C(4096)
						     << caps->limits.local_ca_ack_delay;
	else
		source[RDMAEZ_CAPS_LOCAL_CA_ACK_DELAY_NS] = RDMAEZ_SOURCE_DRIVER;
	caps->odp.supported = caps->odp.general_caps & 1; /* IBV_ODP_SUPPORT */
	caps->odp.implicit = caps->odp.general_caps >> 1 & 1;
	caps->memory_windows.type_1 = caps->features.flags >> 17 & 1; /* IBV_DEVICE_MEM_WINDOW */
	caps->memory_windows.type_2a = caps->features.flags >> 23 & 1;
	caps->memory_windows.type_2b = caps->features.flags >> 24 & 1;
	source[RDMAEZ_CAPS_ODP_SUPPORTED] = source[RDMAEZ_CAPS_ODP_GENERAL_CAPS];
	source[RDMAEZ_CAPS_ODP_IMPLICIT] = source[RDMAEZ_CAPS_ODP_GENERAL_CAPS];
	source[RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ] = source[RDMAEZ_CAPS_HCA_CORE_CLOCK];
	if (caps->timestamps.hca_core_clock <= UINT64_MAX / 1000)
		caps->timestamps.hca_core_clock_hz = caps->timestamps.hca_core_clock * 1000;
	else
		source[RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ] = RDMAEZ_SOURCE_DRIVER;
}

/* Why a zero is a zero. told is who tells the field; last is the last part that the kernel told. */
RDMAEZ_IMPL enum rdmaez_caps_source rdmaez_impl_caps_zero(int told, bool extended, int last)
{
	if (told == RDMAEZ_IMPL_TOLD_CONTEXT)
		return RDMAEZ_SOURCE_NOT_ASKED;
	if (told <= RDMAEZ_IMPL_TOLD_DERIVED)
		return RDMAEZ_SOURCE_DEVICE;
	if (!extended)
		return RDMAEZ_SOURCE_PLAIN;
	if (told == RDMAEZ_IMPL_TOLD_LIBRARY)
		return RDMAEZ_SOURCE_OLD_LIBRARY;
	if (told == RDMAEZ_IMPL_TOLD_PROVIDER)
		return RDMAEZ_SOURCE_DEVICE;
	return told <= last ? RDMAEZ_SOURCE_DEVICE : RDMAEZ_SOURCE_OLD_KERNEL;
}

/*
 * Finds out where every value comes from. last is what the kernel is known to tell, or 0; an answer in
 * a part shows that the kernel tells all parts before it.
 */
RDMAEZ_IMPL void rdmaez_impl_caps_sources(struct rdmaez_caps *caps, int last)
{
	const struct rdmaez_caps_field *field;
	struct rdmaez_caps_item item;
	bool extended = false;

	for (int i = 0; !rdmaez_caps_get(caps, (enum rdmaez_caps_id)i, &item); i++) {
		if (!item.value || item.field->told < RDMAEZ_IMPL_TOLD_LIBRARY)
			continue;
		extended = true;
		if (item.field->told >= RDMAEZ_IMPL_TOLD_ODP && item.field->told > last)
			last = item.field->told;
	}
	for (int i = 0; !rdmaez_caps_get(caps, (enum rdmaez_caps_id)i, &item); i++) {
		field = item.field;
		caps->source[i] = RDMAEZ_SOURCE_DEVICE;
		if (item.value || *item.text)
			continue;
		caps->source[i] = (uint8_t)rdmaez_impl_caps_zero(field->told, extended, last);
		if (field->told == RDMAEZ_IMPL_TOLD_PLAIN &&
		    (field->kind == RDMAEZ_KIND_TEXT || field->kind == RDMAEZ_KIND_GUID))
			caps->source[i] = RDMAEZ_SOURCE_DRIVER;
	}
}

/*
 * Whether a driver's library fills a field that only it can tell, so that a zero means no. Read in
 * rdma-core 65: mlx5 fills all, but its PCI atomics only where it was let ask for them; mlx4 offloads;
 * bnxt_re rate limits since 62. The two software devices have none of these features to tell of.
 */
RDMAEZ_IMPL bool rdmaez_impl_caps_filled(const struct rdmaez_caps *caps, int id, const char *driver)
{
	const struct rdmaez_caps_atomics *atomics = &caps->atomics;

	if (strcmp(driver, "rdma_rxe") == 0 || strcmp(driver, "siw") == 0)
		return true;
	switch (id) {
	case RDMAEZ_CAPS_PCI_FETCH_ADD:
	case RDMAEZ_CAPS_PCI_SWAP:
	case RDMAEZ_CAPS_PCI_COMPARE_SWAP:
		return (atomics->fetch_add | atomics->swap | atomics->compare_swap) != 0;
	case RDMAEZ_CAPS_QP_RATE_LIMIT_MIN:
	case RDMAEZ_CAPS_QP_RATE_LIMIT_MAX:
	case RDMAEZ_CAPS_PACING_SUPPORTED_QPTS:
		return strcmp(driver, "mlx5_ib") == 0 || caps->packet_pacing.qp_rate_limit_max;
	case RDMAEZ_CAPS_COMP_MASK: /* which the library zeroes */
		return true;
	default:
		return strcmp(driver, "mlx5_ib") == 0 || strcmp(driver, "mlx4_ib") == 0;
	}
}

/* Zeros that mean no more than that the driver does not say; mana_ib has memory and tells no size. */
RDMAEZ_IMPL void rdmaez_impl_caps_silent(struct rdmaez_caps *caps, const char *driver)
{
	struct rdmaez_caps_item item;

	for (int i = 0; !rdmaez_caps_get(caps, (enum rdmaez_caps_id)i, &item); i++) {
		if (item.value || item.source != RDMAEZ_SOURCE_DEVICE)
			continue;
		if ((item.field->told == RDMAEZ_IMPL_TOLD_PROVIDER &&
		     !rdmaez_impl_caps_filled(caps, i, driver)) ||
		    (i == RDMAEZ_CAPS_MAX_DM_SIZE && strcmp(driver, "mana_ib") == 0))
			caps->source[i] = RDMAEZ_SOURCE_DRIVER;
	}
}

/* The fields copied; last as in rdmaez_impl_caps_sources(). */
RDMAEZ_IMPL void rdmaez_impl_caps_decode(const struct ibv_device_attr_ex *attr, int last,
					 struct rdmaez_caps *caps)
{
#define RDMAEZ_IMPL_CAPS_PLAIN(id, group, member, type, ...) \
	caps->group.member = (type)attr->orig_attr.member;
#define RDMAEZ_IMPL_CAPS_TAKE(id, group, member, type, kind, merge, told, path, what) \
	caps->group.member = (type)attr->path;
#define RDMAEZ_IMPL_CAPS_LATER(...)
	memset(caps, 0, sizeof(*caps));
	RDMAEZ_IMPL_CAPS_FIELDS(RDMAEZ_IMPL_CAPS_PLAIN, RDMAEZ_IMPL_CAPS_TAKE,
				RDMAEZ_IMPL_CAPS_LATER, RDMAEZ_IMPL_CAPS_LATER)
#undef RDMAEZ_IMPL_CAPS_PLAIN
#undef RDMAEZ_IMPL_CAPS_TAKE
#undef RDMAEZ_IMPL_CAPS_LATER
	memcpy(caps->device.fw_ver, attr->orig_attr.fw_ver, sizeof(caps->device.fw_ver));
	caps->device.fw_ver[sizeof(caps->device.fw_ver) - 1] = '\0';
	caps->device.phys_port_cnt_ex = rdmaez_impl_caps_ports(attr);
	rdmaez_impl_caps_sources(caps, last);
	rdmaez_impl_caps_derive(caps);
	rdmaez_impl_caps_silent(caps, rdmaez_driver_of(&attr->orig_attr)->name);
}

RDMAEZ_API void rdmaez_caps_decode(const struct ibv_device_attr_ex *attr, struct rdmaez_caps *caps)
{
	rdmaez_impl_caps_decode(attr, 0, caps);
}

/* The last part that the running kernel tells: all of them from Linux 5.1 on, else who knows. */
RDMAEZ_IMPL int rdmaez_impl_caps_kernel(void)
{
	return rdmaez_impl_linux_version() >= 501 ? RDMAEZ_IMPL_TOLD_XRC_ODP : 0;
}

/*
 * erdma and bnxt_re report the two depths the other way round, which shows in how they judge
 * ibv_modify_qp(): each compares max_rd_atomic with what it calls max_qp_rd_atom.
 */
RDMAEZ_IMPL void rdmaez_impl_caps_correct(struct rdmaez_caps *caps, unsigned int traits)
{
	const int serves = caps->depths.max_qp_rd_atom;

	if (!(traits & RDMAEZ_DRIVER_SWAPS))
		return;
	caps->depths.max_qp_rd_atom = caps->depths.max_qp_init_rd_atom;
	caps->depths.max_qp_init_rd_atom = serves;
	caps->source[RDMAEZ_CAPS_MAX_QP_RD_ATOM] = RDMAEZ_SOURCE_CORRECTED;
	caps->source[RDMAEZ_CAPS_MAX_QP_INIT_RD_ATOM] = RDMAEZ_SOURCE_CORRECTED;
}

RDMAEZ_API int rdmaez_caps_query(struct ibv_context *context, struct rdmaez_caps *caps)
{
	struct ibv_device_attr_ex attr;
	const struct ibv_device *device;
	int error;

	if (!context || !caps)
		return EINVAL;
	memset(&attr, 0, sizeof(attr));
	error = rdmaez_impl_error(ibv_query_device_ex(context, NULL, &attr));
	if (error == EOPNOTSUPP || error == ENOSYS) {
		/* verbs.h does this by itself, but not where a provider returns it negated. */
		memset(&attr, 0, sizeof(attr));
		error = rdmaez_impl_error(ibv_query_device(context, &attr.orig_attr));
	}
	if (error)
		return error;
	rdmaez_impl_caps_decode(&attr, rdmaez_impl_caps_kernel(), caps);
	rdmaez_impl_caps_correct(caps, rdmaez_driver_of(&attr.orig_attr)->traits);
	caps->device.num_comp_vectors = context->num_comp_vectors;
	caps->source[RDMAEZ_CAPS_NUM_COMP_VECTORS] = RDMAEZ_SOURCE_DEVICE;
	device = context->device;
	if (device) {
		/* The struct was zeroed, so the last byte stays the NUL that it is. */
		memcpy(caps->device.name, device->name, sizeof(caps->device.name) - 1);
		memcpy(caps->device.dev_name, device->dev_name, sizeof(caps->device.dev_name) - 1);
		caps->device.node_type = (int)device->node_type;
		caps->device.transport_type = (int)device->transport_type;
		for (int i = RDMAEZ_CAPS_NAME; i <= RDMAEZ_CAPS_TRANSPORT_TYPE; i++)
			caps->source[i] = RDMAEZ_SOURCE_DEVICE;
	}
	return 0;
}

/* Whether a number is below another, of the same field. */
RDMAEZ_IMPL bool rdmaez_impl_caps_below(const struct rdmaez_caps_field *field, uint64_t a,
					uint64_t b)
{
	return field->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* Whether two values are the same. A text that fills its array has no NUL. */
RDMAEZ_IMPL bool rdmaez_impl_caps_same(const struct rdmaez_caps_item *a,
				       const struct rdmaez_caps_item *b)
{
	return a->value == b->value && strncmp(a->text, b->text, a->field->size) == 0;
}

/* Whether a value is enough where another is asked for. */
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

/* How a second value stands to a first one of the same field. */
RDMAEZ_IMPL enum rdmaez_caps_relation rdmaez_impl_caps_relation(const struct rdmaez_caps_item *a,
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
RDMAEZ_IMPL bool rdmaez_impl_caps_beyond(const struct rdmaez_caps *have,
					 const struct rdmaez_caps_item *offered,
					 const struct rdmaez_caps_item *asked)
{
	return offered->field == rdmaez_caps_describe(RDMAEZ_CAPS_FLAGS) &&
	       (asked->value & ~offered->value) && !have->features.device_cap_flags_ex &&
	       have->source[RDMAEZ_CAPS_DEVICE_CAP_FLAGS_EX] > RDMAEZ_SOURCE_CORRECTED &&
	       !(uint32_t)(asked->value & ~offered->value);
}

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
RDMAEZ_IMPL uint8_t rdmaez_impl_caps_weightier(uint8_t a, uint8_t b)
{
	if (a == RDMAEZ_SOURCE_DIFFERS)
		return b > RDMAEZ_SOURCE_CORRECTED ? b : a;
	if (b == RDMAEZ_SOURCE_DIFFERS)
		return a > RDMAEZ_SOURCE_CORRECTED ? a : b;
	return a > b ? a : b;
}

/* Reduces a field of `all` to what `one` has as well. */
RDMAEZ_IMPL void rdmaez_impl_caps_reduce(struct rdmaez_caps *all, const struct rdmaez_caps *one,
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

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#include "caps_fmt.h"

#endif
