/* SPDX-License-Identifier: MIT */
/* Implements caps.h: from the answers of verbs to a struct, and what two devices have in common. */
#ifndef RDMAEZ_IMPL_CAPS_H
#define RDMAEZ_IMPL_CAPS_H

#ifndef RDMAEZ_CAPS_H
#include "../caps.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_CAPS_TABLE_H
#include "caps_table.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_DRIVER_H
#include "driver.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_IMPL_TEXT_H
#include "text.h"
#endif

RDMAEZ_IMPL_BEGIN

/*
 * This is where phys_port_cnt_ex lies, behind xrc_odp_caps, whether or not this verbs.h names it.
 */
#define RDMAEZ_IMPL_PORTS_AT (offsetof(struct ibv_device_attr_ex, xrc_odp_caps) + sizeof(uint32_t))

RDMAEZ_COLD struct rdmaez_caps_table rdmaez_caps_fields(const struct rdmaez_caps *caps)
{
#define RDMAEZ_P(id, group, member, type, kind, merge, what) \
	{#member,                                            \
	 #group,                                             \
	 what,                                               \
	 RDMAEZ_KIND_##kind,                                 \
	 RDMAEZ_MERGE_##merge,                               \
	 offsetof(struct rdmaez_caps, group.member),         \
	 sizeof(caps->group.member),                         \
	 RDMAEZ_IMPL_SIGN_##type,                            \
	 RDMAEZ_IMPL_TOLD_PLAIN,                             \
	 offsetof(struct ibv_device_attr_ex, orig_attr.member)},
#define RDMAEZ_X(id, group, member, type, kind, merge, told, path, what) \
	{#path,                                                          \
	 #group,                                                         \
	 what,                                                           \
	 RDMAEZ_KIND_##kind,                                             \
	 RDMAEZ_MERGE_##merge,                                           \
	 offsetof(struct rdmaez_caps, group.member),                     \
	 sizeof(caps->group.member),                                     \
	 RDMAEZ_IMPL_SIGN_##type,                                        \
	 RDMAEZ_IMPL_TOLD_##told,                                        \
	 offsetof(struct ibv_device_attr_ex, path)},
#define RDMAEZ_A(id, group, member, type, kind, merge, told, place, what) \
	{#member,                                                         \
	 #group,                                                          \
	 what,                                                            \
	 RDMAEZ_KIND_##kind,                                              \
	 RDMAEZ_MERGE_##merge,                                            \
	 offsetof(struct rdmaez_caps, group.member),                      \
	 sizeof(caps->group.member),                                      \
	 RDMAEZ_IMPL_SIGN_##type,                                         \
	 RDMAEZ_IMPL_TOLD_##told,                                         \
	 place},
#define RDMAEZ_O(id, group, member, type, kind, merge, told, name, what) \
	{#name,                                                          \
	 #group,                                                         \
	 what,                                                           \
	 RDMAEZ_KIND_##kind,                                             \
	 RDMAEZ_MERGE_##merge,                                           \
	 offsetof(struct rdmaez_caps, group.member),                     \
	 sizeof(caps->group.member),                                     \
	 RDMAEZ_IMPL_SIGN_##type,                                        \
	 RDMAEZ_IMPL_TOLD_##told,                                        \
	 RDMAEZ_IMPL_NOT_COPIED},
	static const struct rdmaez_caps_field fields[] = {
#include "caps_rows.h"
	};
	RDMAEZ_IMPL_ASSERT(sizeof(fields) / sizeof(fields[0]) == RDMAEZ_CAPS_ID_COUNT,
			   "rdmaez: a field of the device has no row");
#undef RDMAEZ_P
#undef RDMAEZ_X
#undef RDMAEZ_A
#undef RDMAEZ_O
	struct rdmaez_caps_table table;

	table.fields = fields;
	table.count = RDMAEZ_CAPS_ID_COUNT;
	table.base = caps;
	table.source = caps ? caps->source : NULL;
	table.partial = RDMAEZ_CAPS_ID_COUNT;
	table.unreported = 0;
	/* Only device_cap_flags_ex has bits 32 to 63 of the flags. */
	if (caps && !caps->features.device_cap_flags_ex &&
	    caps->source[RDMAEZ_CAPS_DEVICE_CAP_FLAGS_EX] > RDMAEZ_SOURCE_CORRECTED) {
		table.partial = RDMAEZ_CAPS_FLAGS;
		table.unreported = ~UINT64_C(0) << 32;
	}
	return table;
}

/* Fills what follows from other fields. */
RDMAEZ_IMPL void rdmaez_impl_caps_derive(struct rdmaez_caps *caps)
{
	const uint64_t flags = caps->features.device_cap_flags | caps->features.device_cap_flags_ex;

	caps->device.port_count = caps->device.phys_port_cnt_ex ? caps->device.phys_port_cnt_ex
								: caps->device.phys_port_cnt;
	caps->features.flags = flags;
	/* A code beyond IBTA's five bits, or a clock beyond all reason, means nothing. */
	if (caps->limits.local_ca_ack_delay <= 31)
		caps->limits.local_ca_ack_delay_ns = UINT64_C(4096)
						     << caps->limits.local_ca_ack_delay;
	if (caps->timestamps.hca_core_clock <= UINT64_MAX / 1000)
		caps->timestamps.hca_core_clock_hz = caps->timestamps.hca_core_clock * 1000;
	caps->odp.supported = caps->odp.general_caps & 1; /* IBV_ODP_SUPPORT */
	caps->odp.implicit = caps->odp.general_caps >> 1 & 1;
	caps->memory_windows.type_1 = flags >> 17 & 1; /* IBV_DEVICE_MEM_WINDOW */
	caps->memory_windows.type_2a = flags >> 23 & 1;
	caps->memory_windows.type_2b = flags >> 24 & 1;
}

/*
 * Returns whether a driver's library fills a field that only it reports, so that a zero means no.
 */
RDMAEZ_IMPL bool rdmaez_impl_caps_filled(const struct rdmaez_caps *caps, unsigned int id,
					 unsigned int fills)
{
	switch (id) {
	case RDMAEZ_CAPS_PCI_FETCH_ADD:
	case RDMAEZ_CAPS_PCI_SWAP:
	case RDMAEZ_CAPS_PCI_COMPARE_SWAP:
		return (fills & RDMAEZ_DRIVER_FILLS_ATOMICS) != 0 ||
		       (caps->atomics.fetch_add | caps->atomics.swap |
			caps->atomics.compare_swap) != 0;
	case RDMAEZ_CAPS_QP_RATE_LIMIT_MIN:
	case RDMAEZ_CAPS_QP_RATE_LIMIT_MAX:
	case RDMAEZ_CAPS_PACING_SUPPORTED_QPTS:
		return (fills & RDMAEZ_DRIVER_FILLS_PACING) != 0 ||
		       caps->packet_pacing.qp_rate_limit_max;
	case RDMAEZ_CAPS_COMP_MASK: /* the library zeroes it */
		return true;
	default:
		return (fills & RDMAEZ_DRIVER_FILLS_OFFLOADS) != 0;
	}
}

/* Marks zeros that mean only that the driver does not report the field. */
RDMAEZ_IMPL void rdmaez_impl_caps_silent(struct rdmaez_caps *caps,
					 const struct rdmaez_driver *driver)
{
	const struct rdmaez_caps_table table = rdmaez_caps_fields(caps);
	struct rdmaez_caps_item item;

	for (unsigned int id = 0; !rdmaez_caps_get(table, id, &item); id++) {
		if (item.value || item.source != RDMAEZ_SOURCE_DEVICE)
			continue;
		if ((item.field->told == RDMAEZ_IMPL_TOLD_PROVIDER &&
		     !rdmaez_impl_caps_filled(caps, id, driver->fills)) ||
		    (id == RDMAEZ_CAPS_MAX_DM_SIZE &&
		     (driver->habits & RDMAEZ_DRIVER_HABIT_NO_DM_SIZE)))
			caps->source[id] = RDMAEZ_SOURCE_DRIVER;
	}
}

/* Decodes an answer. last is the last part that the running kernel is known to report, or 0. */
RDMAEZ_IMPL void rdmaez_impl_caps_decode(const struct ibv_device_attr_ex *attr, int last,
					 struct rdmaez_caps *caps)
{
	const struct rdmaez_caps_table table = rdmaez_caps_fields(caps);
	uint8_t *const source = caps->source;

	memset(caps, 0, sizeof(*caps));
	rdmaez_impl_caps_copy(table, caps, attr, sizeof(*attr));
	caps->device.fw_ver[sizeof(caps->device.fw_ver) - 1] = '\0';
	rdmaez_impl_caps_derive(caps);
	rdmaez_impl_caps_sources(table, 0, last, source);
	source[RDMAEZ_CAPS_ODP_SUPPORTED] = source[RDMAEZ_CAPS_ODP_GENERAL_CAPS];
	source[RDMAEZ_CAPS_ODP_IMPLICIT] = source[RDMAEZ_CAPS_ODP_GENERAL_CAPS];
	source[RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ] = source[RDMAEZ_CAPS_HCA_CORE_CLOCK];
	if (caps->timestamps.hca_core_clock && !caps->timestamps.hca_core_clock_hz)
		source[RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ] = RDMAEZ_SOURCE_DRIVER;
	rdmaez_impl_caps_silent(caps, rdmaez_driver_of(&attr->orig_attr));
}

RDMAEZ_COLD void rdmaez_caps_decode(const struct ibv_device_attr_ex *attr, struct rdmaez_caps *caps)
{
	rdmaez_impl_caps_decode(attr, 0, caps);
}

/*
 * Corrects the two depths, which erdma and bnxt_re report the other way round. This shows in how
 * they judge ibv_modify_qp(): each compares max_rd_atomic with what it calls max_qp_rd_atom.
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

/* Fills what only an open device tells. */
RDMAEZ_IMPL void rdmaez_impl_caps_open(const struct ibv_context *context, struct rdmaez_caps *caps)
{
	const struct ibv_device *device = context->device;

	caps->device.num_comp_vectors = context->num_comp_vectors;
	caps->source[RDMAEZ_CAPS_NUM_COMP_VECTORS] = RDMAEZ_SOURCE_DEVICE;
	if (!device)
		return;
	/* The struct was zeroed, so the last byte stays the NUL that it is. */
	memcpy(caps->device.name, device->name, sizeof(caps->device.name) - 1);
	memcpy(caps->device.dev_name, device->dev_name, sizeof(caps->device.dev_name) - 1);
	caps->device.node_type = (int)device->node_type;
	caps->device.transport_type = (int)device->transport_type;
	for (int id = RDMAEZ_CAPS_NAME; id <= RDMAEZ_CAPS_TRANSPORT_TYPE; id++)
		caps->source[id] = RDMAEZ_SOURCE_DEVICE;
}

RDMAEZ_COLD int rdmaez_caps_query(struct ibv_context *context, struct rdmaez_caps *caps,
				  struct rdmaez_diag *diag)
{
	const char *verb = "ibv_query_device_ex";
	struct ibv_device_attr_ex attr;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_caps_query");
	if (!context || !caps)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  context ? "caps" : "context");
	rdmaez_impl_diag_device(diag, context);
	errno = 0;
	memset(&attr, 0, sizeof(attr));
	error = rdmaez_impl_error(ibv_query_device_ex(context, NULL, &attr));
	if (error == EOPNOTSUPP || error == ENOSYS) {
		/* verbs.h does this by itself, but not if a provider returns it negated. */
		verb = "ibv_query_device";
		memset(&attr, 0, sizeof(attr));
		error = rdmaez_impl_error(ibv_query_device(context, &attr.orig_attr));
	}
	if (error)
		return rdmaez_impl_refuse_verb(diag, error, RDMAEZ_WHY_QUERY_REFUSED, verb);
	/* From Linux 5.1 on the kernel reports all parts. */
	rdmaez_impl_caps_decode(
		&attr, rdmaez_impl_linux_version() >= 501 ? RDMAEZ_IMPL_TOLD_XRC_ODP : 0, caps);
	rdmaez_impl_caps_correct(caps, rdmaez_driver_of(&attr.orig_attr)->traits);
	rdmaez_impl_caps_open(context, caps);
	return 0;
}

/*
 * Returns the source of what two values have in common, whichever comes first. That one of them is
 * unknown outweighs that they differ, and this outweighs where a value comes from.
 */
RDMAEZ_IMPL uint8_t rdmaez_impl_caps_weightier(uint8_t a, uint8_t b)
{
	if (a == RDMAEZ_SOURCE_DIFFERS)
		return b > RDMAEZ_SOURCE_CORRECTED ? b : a;
	if (b == RDMAEZ_SOURCE_DIFFERS)
		return a > RDMAEZ_SOURCE_CORRECTED ? a : b;
	return a > b ? a : b;
}

/* Writes a member. What does not fit is cut. */
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

/* Reduces a field of `all` to what `one` has as well. */
RDMAEZ_IMPL void rdmaez_impl_caps_reduce(struct rdmaez_caps *all, const struct rdmaez_caps *one,
					 unsigned int id)
{
	struct rdmaez_caps_item a, b;
	char *member;

	if (rdmaez_caps_get(rdmaez_caps_fields(all), id, &a) ||
	    rdmaez_caps_get(rdmaez_caps_fields(one), id, &b))
		return;
	member = (char *)all + a.field->offset;
	all->source[id] = rdmaez_impl_caps_weightier(all->source[id], one->source[id]);
	if (!rdmaez_impl_caps_known(&a) || !rdmaez_impl_caps_known(&b)) {
		memset(member, 0, a.field->size);
	} else if (a.field->merge == RDMAEZ_MERGE_BITS) {
		rdmaez_impl_caps_store(member, a.field->size, a.value & b.value);
	} else if (a.field->merge != RDMAEZ_MERGE_SAME) {
		if (rdmaez_impl_caps_meets(&a, &b))
			rdmaez_impl_caps_store(member, a.field->size, b.value);
	} else if (!rdmaez_impl_caps_same(&a, &b)) {
		memset(member, 0, a.field->size);
		all->source[id] = RDMAEZ_SOURCE_DIFFERS;
	}
}

RDMAEZ_COLD int rdmaez_caps_common(const struct rdmaez_caps *list, size_t count,
				   struct rdmaez_caps *common, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site none = {"count", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_NUMBER,
						     1, INT64_MAX};
	struct rdmaez_caps all;

	rdmaez_impl_diag_reset(diag, "rdmaez_caps_common");
	if (!list || !common)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  list ? "common" : "list");
	if (!count)
		return rdmaez_impl_refuse_at(diag, EINVAL, &none, 0);
	all = list[0];
	for (size_t i = 1; i < count; i++)
		for (unsigned int id = 0; id < RDMAEZ_CAPS_ID_COUNT; id++)
			rdmaez_impl_caps_reduce(&all, &list[i], id);
	*common = all;
	return 0;
}

RDMAEZ_COLD int rdmaez_caps_format(const struct rdmaez_caps *caps, char *buf, size_t size)
{
	return rdmaez_impl_tell_caps_format ? rdmaez_impl_tell_caps_format(caps, buf, size)
					    : rdmaez_impl_format_untold(NULL, buf, size);
}

RDMAEZ_COLD int rdmaez_caps_json(const struct rdmaez_caps *caps, char *buf, size_t size)
{
	return rdmaez_impl_tell_caps_json ? rdmaez_impl_tell_caps_json(caps, buf, size)
					  : rdmaez_impl_json_untold(buf, size);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
