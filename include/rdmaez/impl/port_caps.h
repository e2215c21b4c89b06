/* SPDX-License-Identifier: MIT */
/* Bodies of port_caps.h. */
#ifndef RDMAEZ_IMPL_PORT_CAPS_H
#define RDMAEZ_IMPL_PORT_CAPS_H

#include "../port_caps.h"

#if RDMAEZ_IMPL_BODIES

#include "caps.h"
#include "port.h"
#include "../units.h"

#ifdef __cplusplus
extern "C" {
#endif

RDMAEZ_API unsigned int rdmaez_width_lanes(unsigned int active_width)
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

RDMAEZ_API uint64_t rdmaez_speed_kbps(uint32_t active_speed)
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

RDMAEZ_API const struct rdmaez_caps_field *rdmaez_port_caps_describe(enum rdmaez_port_caps_id id)
{
#define RDMAEZ_IMPL_PORT_CAPS_LINE(id, group, member, type, kind, merge, told, path, what) \
	{#path,                                                                            \
	 #group,                                                                           \
	 what,                                                                             \
	 RDMAEZ_KIND_##kind,                                                               \
	 RDMAEZ_MERGE_##merge,                                                             \
	 (type)-1 < (type)1,                                                               \
	 RDMAEZ_IMPL_TOLD_##told,                                                          \
	 offsetof(struct rdmaez_port_caps, member),                                        \
	 sizeof(type)},
#define RDMAEZ_IMPL_PORT_CAPS_PLAIN_LINE(id, group, member, type, kind, merge, what) \
	RDMAEZ_IMPL_PORT_CAPS_LINE(id, group, member, type, kind, merge, PLAIN, member, what)
	static const struct rdmaez_caps_field fields[] = {RDMAEZ_IMPL_PORT_CAPS_FIELDS(
		RDMAEZ_IMPL_PORT_CAPS_PLAIN_LINE, RDMAEZ_IMPL_PORT_CAPS_LINE,
		RDMAEZ_IMPL_PORT_CAPS_LINE, RDMAEZ_IMPL_PORT_CAPS_LINE)};
#undef RDMAEZ_IMPL_PORT_CAPS_LINE
#undef RDMAEZ_IMPL_PORT_CAPS_PLAIN_LINE

	return (unsigned int)id < RDMAEZ_PORT_CAPS_ID_COUNT ? &fields[id] : NULL;
}

RDMAEZ_API int rdmaez_port_caps_get(const struct rdmaez_port_caps *caps,
				    enum rdmaez_port_caps_id id, struct rdmaez_caps_item *item)
{
	const struct rdmaez_caps_field *field = rdmaez_port_caps_describe(id);

	if (!field)
		return EINVAL;
	rdmaez_impl_caps_item(field, caps, caps->source[id], item);
	return 0;
}

RDMAEZ_API int rdmaez_port_caps_visit(const struct rdmaez_port_caps *caps,
				      int (*visit)(const struct rdmaez_caps_item *item,
						   void *argument),
				      void *argument)
{
	struct rdmaez_caps_item item;
	int stop = 0;

	for (int i = 0; !stop && !rdmaez_port_caps_get(caps, (enum rdmaez_port_caps_id)i, &item);
	     i++)
		stop = visit(&item, argument);
	return stop;
}

RDMAEZ_API enum rdmaez_answer rdmaez_port_caps_answer(const struct rdmaez_port_caps *caps,
						      enum rdmaez_port_caps_id id)
{
	struct rdmaez_caps_item item;

	return rdmaez_port_caps_get(caps, id, &item) ? RDMAEZ_ANSWER_UNKNOWN
						     : rdmaez_impl_caps_answer(&item);
}

RDMAEZ_API enum rdmaez_caps_relation rdmaez_port_caps_relate(const struct rdmaez_port_caps *first,
							     const struct rdmaez_port_caps *second,
							     enum rdmaez_port_caps_id id)
{
	struct rdmaez_caps_item a, b;

	if (rdmaez_port_caps_get(first, id, &a) || rdmaez_port_caps_get(second, id, &b))
		return RDMAEZ_RELATION_UNCLEAR;
	return rdmaez_impl_caps_relation(&a, &b);
}

/* Where active_speed_ex lies, whether or not this verbs.h names it: at the next multiple of four. */
#define RDMAEZ_IMPL_SPEED_EX_AT (offsetof(struct ibv_port_attr, port_cap_flags2) + sizeof(uint32_t))

/* What follows from other fields. */
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

/* Why a zero is a zero. told is who tells the field; last is the last part that the kernel told. */
RDMAEZ_IMPL enum rdmaez_caps_source rdmaez_impl_port_caps_zero(int told, int last)
{
	if (told == RDMAEZ_IMPL_TOLD_CONTEXT)
		return RDMAEZ_SOURCE_NOT_ASKED;
	/* It follows from a code, and the driver gave none that has a meaning. */
	if (told == RDMAEZ_IMPL_TOLD_DERIVED)
		return RDMAEZ_SOURCE_DRIVER;
	if (told == RDMAEZ_IMPL_TOLD_PLAIN)
		return RDMAEZ_SOURCE_DEVICE;
	return told <= last ? RDMAEZ_SOURCE_DEVICE : RDMAEZ_SOURCE_OLD_KERNEL;
}

/*
 * Finds out where every value comes from. last is what the kernel is known to tell, or 0; an answer in
 * a part shows that the kernel tells all parts before it.
 */
RDMAEZ_IMPL void rdmaez_impl_port_caps_sources(struct rdmaez_port_caps *caps, bool has_speed_ex,
					       int last)
{
	struct rdmaez_caps_item item;

	for (int i = 0; !rdmaez_port_caps_get(caps, (enum rdmaez_port_caps_id)i, &item); i++)
		if (item.value && item.field->told >= RDMAEZ_IMPL_TOLD_PORT_FLAGS &&
		    item.field->told > last)
			last = item.field->told;
	for (int i = 0; !rdmaez_port_caps_get(caps, (enum rdmaez_port_caps_id)i, &item); i++) {
		caps->source[i] = RDMAEZ_SOURCE_DEVICE;
		if (!item.value)
			caps->source[i] =
				(uint8_t)rdmaez_impl_port_caps_zero(item.field->told, last);
	}
	if (!has_speed_ex)
		caps->source[RDMAEZ_PORT_CAPS_ACTIVE_SPEED_EX] = RDMAEZ_SOURCE_OLD_HEADER;
	/* A kernel that knows faster ones says NDR for them to who has no room for more. */
	if (!has_speed_ex && caps->active_speed == 128) {
		caps->rate_kbps = 0;
		caps->source[RDMAEZ_PORT_CAPS_RATE_KBPS] = RDMAEZ_SOURCE_OLD_HEADER;
	}
	if (!caps->needs_grh)
		caps->source[RDMAEZ_PORT_CAPS_NEEDS_GRH] = caps->source[RDMAEZ_PORT_CAPS_FLAGS];
}

/* The fields copied from a struct of so many bytes; last as in rdmaez_impl_port_caps_sources(). */
RDMAEZ_IMPL void rdmaez_impl_port_caps_decode(const struct ibv_port_attr *attr, size_t size,
					      int last, struct rdmaez_port_caps *caps)
{
	const bool has_speed_ex = size >= RDMAEZ_IMPL_SPEED_EX_AT + sizeof(caps->active_speed_ex);

#define RDMAEZ_IMPL_PORT_CAPS_TAKE(id, group, member, type, ...) caps->member = (type)attr->member;
#define RDMAEZ_IMPL_PORT_CAPS_LATER(...)
	memset(caps, 0, sizeof(*caps));
	RDMAEZ_IMPL_PORT_CAPS_FIELDS(RDMAEZ_IMPL_PORT_CAPS_TAKE, RDMAEZ_IMPL_PORT_CAPS_TAKE,
				     RDMAEZ_IMPL_PORT_CAPS_LATER, RDMAEZ_IMPL_PORT_CAPS_LATER)
#undef RDMAEZ_IMPL_PORT_CAPS_TAKE
#undef RDMAEZ_IMPL_PORT_CAPS_LATER
	if (has_speed_ex)
		memcpy(&caps->active_speed_ex, (const char *)attr + RDMAEZ_IMPL_SPEED_EX_AT,
		       sizeof(caps->active_speed_ex));
	rdmaez_impl_port_caps_derive(caps);
	rdmaez_impl_port_caps_sources(caps, has_speed_ex, last);
}

RDMAEZ_API void rdmaez_port_caps_decode(const struct ibv_port_attr *attr,
					struct rdmaez_port_caps *caps)
{
	rdmaez_impl_port_caps_decode(attr, sizeof(*attr), 0, caps);
}

/* ibv_query_port_speed(), which nearly no provider answers: a refusal is no more than silence. */
RDMAEZ_IMPL enum rdmaez_caps_source rdmaez_impl_port_speed(struct ibv_context *context,
							   uint32_t port_num, uint64_t *kbps)
{
#ifdef IBV_DEVICE_CC_DMA_BOUNCE /* rdma-core 64; the verb came with 62 */
	uint64_t speed = 0;     /* in units of 100 Mbit/s */
	const int error = rdmaez_impl_error(ibv_query_port_speed(context, port_num, &speed));

	if (!error) {
		*kbps = speed * 100000;
		return RDMAEZ_SOURCE_DEVICE;
	}
	/* What the kernel says of a method that it does not know. */
	return error == EPROTONOSUPPORT ? RDMAEZ_SOURCE_OLD_KERNEL : RDMAEZ_SOURCE_DRIVER;
#else
	(void)context;
	(void)port_num;
	(void)kbps;
	return RDMAEZ_SOURCE_OLD_HEADER;
#endif
}

RDMAEZ_API int rdmaez_port_caps_query(struct ibv_context *context, int port_num,
				      struct rdmaez_port_caps *caps, struct rdmaez_diag *diag)
{
	struct ibv_port_attr attr;
	int error = rdmaez_impl_port_begin(diag, "rdmaez_port_caps_query", context,
					   caps ? NULL : "caps");

	memset(&attr, 0, sizeof(attr));
	if (!error)
		error = rdmaez_impl_port_query(context, port_num, &attr, diag);
	if (error)
		return error;
	/* A kernel that fills all of a device's answer fills a port's second set of flags. */
	rdmaez_impl_port_caps_decode(&attr, sizeof(attr),
				     rdmaez_impl_caps_kernel() ? RDMAEZ_IMPL_TOLD_PORT_FLAGS2 : 0,
				     caps);
	caps->port_num = (uint32_t)port_num;
	caps->source[RDMAEZ_PORT_CAPS_PORT_NUM] = RDMAEZ_SOURCE_DEVICE;
	caps->source[RDMAEZ_PORT_CAPS_EFFECTIVE_RATE_KBPS] = (uint8_t)rdmaez_impl_port_speed(
		context, caps->port_num, &caps->effective_rate_kbps);
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#include "port_caps_fmt.h"

#endif
