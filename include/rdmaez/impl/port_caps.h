/* SPDX-License-Identifier: MIT */
/* Implements port_caps.h. */
#ifndef RDMAEZ_IMPL_PORT_CAPS_H
#define RDMAEZ_IMPL_PORT_CAPS_H

#ifndef RDMAEZ_PORT_CAPS_H
#include "../port_caps.h"
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
#ifndef RDMAEZ_IMPL_PORT_H
#include "port.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_IMPL_UNITS_H
#include "units.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_IMPL_TEXT_H
#include "text.h"
#endif

RDMAEZ_IMPL_BEGIN

/*
 * This is where active_speed_ex lies, whether or not this verbs.h names it: at the next multiple of
 * four.
 */
#define RDMAEZ_IMPL_SPEED_EX_AT (offsetof(struct ibv_port_attr, port_cap_flags2) + sizeof(uint32_t))

RDMAEZ_COLD struct rdmaez_caps_table rdmaez_port_caps_fields(const struct rdmaez_port_caps *caps)
{
#define RDMAEZ_P(id, group, member, type, kind, merge, what) \
	{#member,                                            \
	 #group,                                             \
	 what,                                               \
	 RDMAEZ_KIND_##kind,                                 \
	 RDMAEZ_MERGE_##merge,                               \
	 offsetof(struct rdmaez_port_caps, member),          \
	 sizeof(caps->member),                               \
	 RDMAEZ_IMPL_SIGN_##type,                            \
	 RDMAEZ_IMPL_TOLD_PLAIN,                             \
	 offsetof(struct ibv_port_attr, member)},
#define RDMAEZ_X(id, group, member, type, kind, merge, told, what) \
	{#member,                                                  \
	 #group,                                                   \
	 what,                                                     \
	 RDMAEZ_KIND_##kind,                                       \
	 RDMAEZ_MERGE_##merge,                                     \
	 offsetof(struct rdmaez_port_caps, member),                \
	 sizeof(caps->member),                                     \
	 RDMAEZ_IMPL_SIGN_##type,                                  \
	 RDMAEZ_IMPL_TOLD_##told,                                  \
	 offsetof(struct ibv_port_attr, member)},
#define RDMAEZ_A(id, group, member, type, kind, merge, told, place, what) \
	{#member,                                                         \
	 #group,                                                          \
	 what,                                                            \
	 RDMAEZ_KIND_##kind,                                              \
	 RDMAEZ_MERGE_##merge,                                            \
	 offsetof(struct rdmaez_port_caps, member),                       \
	 sizeof(caps->member),                                            \
	 RDMAEZ_IMPL_SIGN_##type,                                         \
	 RDMAEZ_IMPL_TOLD_##told,                                         \
	 place},
#define RDMAEZ_O(id, group, member, type, kind, merge, told, what) \
	{#member,                                                  \
	 #group,                                                   \
	 what,                                                     \
	 RDMAEZ_KIND_##kind,                                       \
	 RDMAEZ_MERGE_##merge,                                     \
	 offsetof(struct rdmaez_port_caps, member),                \
	 sizeof(caps->member),                                     \
	 RDMAEZ_IMPL_SIGN_##type,                                  \
	 RDMAEZ_IMPL_TOLD_##told,                                  \
	 RDMAEZ_IMPL_NOT_COPIED},
	static const struct rdmaez_caps_field fields[] = {
#include "port_caps_rows.h"
	};
	RDMAEZ_IMPL_ASSERT(sizeof(fields) / sizeof(fields[0]) == RDMAEZ_PORT_CAPS_ID_COUNT,
			   "rdmaez: a field of the port has no row");
#undef RDMAEZ_P
#undef RDMAEZ_X
#undef RDMAEZ_A
#undef RDMAEZ_O
	struct rdmaez_caps_table table;

	table.fields = fields;
	table.count = RDMAEZ_PORT_CAPS_ID_COUNT;
	table.base = caps;
	table.source = caps ? caps->source : NULL;
	table.partial = RDMAEZ_PORT_CAPS_ID_COUNT;
	table.unreported = 0;
	return table;
}

RDMAEZ_COLD unsigned int rdmaez_width_lanes(unsigned int active_width)
{
	switch (active_width) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

RDMAEZ_COLD uint64_t rdmaez_speed_kbps(uint32_t active_speed)
{
	switch (active_speed) {
	case 1: /* SDR */
		return 2500000;
	case 2: /* DDR */
		return 5000000;
	case 4: /* QDR */
	case 8: /* FDR10 */
		return 10000000;
	case 16: /* FDR */
		return 14062500;
	case 32: /* EDR */
		return 25000000;
	case 64: /* HDR */
		return 50000000;
	case 128: /* NDR */
		return 100000000;
	case 256: /* XDR */
		return 200000000;
	default:
		return 0;
	}
}

/* Fills what follows from other fields. */
RDMAEZ_IMPL void rdmaez_impl_port_caps_derive(struct rdmaez_port_caps *caps)
{
	const uint32_t speed = caps->active_speed_ex ? caps->active_speed_ex : caps->active_speed;

	caps->needs_grh = caps->link_layer == IBV_LINK_LAYER_ETHERNET ||
			  (caps->flags & IBV_QPF_GRH_REQUIRED) != 0;
	caps->max_mtu_bytes = (uint32_t)rdmaez_mtu_bytes((enum ibv_mtu)caps->max_mtu);
	caps->active_mtu_bytes = (uint32_t)rdmaez_mtu_bytes((enum ibv_mtu)caps->active_mtu);
	caps->lanes = rdmaez_width_lanes(caps->active_width);
	caps->rate_kbps = caps->lanes * rdmaez_speed_kbps(speed);
	if (caps->subnet_timeout <= 31)
		caps->subnet_timeout_ns = UINT64_C(4096) << caps->subnet_timeout;
}

/*
 * Decodes a struct of so many bytes. last is the last part that the kernel is known to report, or
 * 0.
 */
RDMAEZ_IMPL void rdmaez_impl_port_caps_decode(const struct ibv_port_attr *attr, size_t size,
					      int last, struct rdmaez_port_caps *caps)
{
	const struct rdmaez_caps_table table = rdmaez_port_caps_fields(caps);
	uint8_t *const source = caps->source;

	memset(caps, 0, sizeof(*caps));
	rdmaez_impl_caps_copy(table, caps, attr, size);
	rdmaez_impl_port_caps_derive(caps);
	/* A port's plain query has grown, so what is before its new parts is always known. */
	rdmaez_impl_caps_sources(table, RDMAEZ_IMPL_TOLD_XRC_ODP, last, source);
	if (size < RDMAEZ_IMPL_SPEED_EX_AT + sizeof(caps->active_speed_ex)) {
		source[RDMAEZ_PORT_CAPS_ACTIVE_SPEED_EX] = RDMAEZ_SOURCE_OLD_HEADER;
		/* If there is no room for faster speeds, the kernel reports NDR for them. */
		if (caps->active_speed == 128) {
			caps->rate_kbps = 0;
			source[RDMAEZ_PORT_CAPS_RATE_KBPS] = RDMAEZ_SOURCE_OLD_HEADER;
		}
	}
	if (!caps->needs_grh)
		source[RDMAEZ_PORT_CAPS_NEEDS_GRH] = source[RDMAEZ_PORT_CAPS_FLAGS];
}

RDMAEZ_COLD void rdmaez_port_caps_decode(const struct ibv_port_attr *attr,
					 struct rdmaez_port_caps *caps)
{
	rdmaez_impl_port_caps_decode(attr, sizeof(*attr), 0, caps);
}

/* Returns kbit/s for a provider's units of 100 Mbit/s, or UINT64_MAX if that is beyond 64 bits. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_port_speed_kbps(uint64_t speed)
{
	return speed <= UINT64_MAX / 100000 ? speed * 100000 : UINT64_MAX;
}

/*
 * Calls ibv_query_port_speed(), which nearly no provider answers. A refusal means only that the
 * speed is not reported.
 */
RDMAEZ_IMPL enum rdmaez_caps_source rdmaez_impl_port_speed(struct ibv_context *context,
							   uint32_t port_num, uint64_t *kbps)
{
#ifdef IBV_DEVICE_CC_DMA_BOUNCE /* rdma-core 64; the verb came with 62 */
	uint64_t speed = 0;
	const int error = rdmaez_impl_error(ibv_query_port_speed(context, port_num, &speed));

	if (!error) {
		*kbps = rdmaez_impl_port_speed_kbps(speed);
		return RDMAEZ_SOURCE_DEVICE;
	}
	/* The kernel returns this for a method that it does not know. */
	return error == EPROTONOSUPPORT ? RDMAEZ_SOURCE_OLD_KERNEL : RDMAEZ_SOURCE_DRIVER;
#else
	(void)context;
	(void)port_num;
	(void)kbps;
	return RDMAEZ_SOURCE_OLD_HEADER;
#endif
}

RDMAEZ_COLD int rdmaez_port_caps_query(struct ibv_context *context, int port,
				       struct rdmaez_port_caps *caps, struct rdmaez_diag *diag)
{
	struct ibv_port_attr attr;
	const char *const missing = !context ? "context" : caps ? NULL : "caps";
	int error = rdmaez_impl_begin(diag, "rdmaez_port_caps_query", context, missing);

	memset(&attr, 0, sizeof(attr));
	if (!error)
		error = rdmaez_impl_port_query(context, port, &attr, diag);
	if (error)
		return error;
	/* The second set of flags came with Linux 5.0. */
	rdmaez_impl_port_caps_decode(
		&attr, sizeof(attr),
		rdmaez_impl_linux_version() >= 501 ? RDMAEZ_IMPL_TOLD_PORT_FLAGS2 : 0, caps);
	caps->port = (uint32_t)port;
	caps->source[RDMAEZ_PORT_CAPS_PORT] = RDMAEZ_SOURCE_DEVICE;
	caps->source[RDMAEZ_PORT_CAPS_EFFECTIVE_RATE_KBPS] =
		(uint8_t)rdmaez_impl_port_speed(context, caps->port, &caps->effective_rate_kbps);
	return 0;
}

RDMAEZ_COLD int rdmaez_port_caps_format(const struct rdmaez_port_caps *caps,
					const struct rdmaez_port_tables *tables, char *buf,
					size_t size)
{
	return rdmaez_impl_tell_port_caps_format
		       ? rdmaez_impl_tell_port_caps_format(caps, tables, buf, size)
		       : rdmaez_impl_format_untold(NULL, buf, size);
}

RDMAEZ_COLD int rdmaez_port_caps_json(const struct rdmaez_port_caps *caps,
				      const struct rdmaez_port_tables *tables, char *buf,
				      size_t size)
{
	return rdmaez_impl_tell_port_caps_json
		       ? rdmaez_impl_tell_port_caps_json(caps, tables, buf, size)
		       : rdmaez_impl_json_untold(buf, size);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
