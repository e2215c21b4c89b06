/* SPDX-License-Identifier: MIT */
/**
 * @file port_caps.h
 * @brief What a port says of itself: `ibv_port_attr` decoded, with "yes", "no" and "nobody says" apart.
 *
 * As caps.h does for a device: every field of `ibv_port_attr` under its verbs name, and beside it what
 * it means: bytes for an MTU, lanes for a width, kbit/s for width and speed together, ns for an
 * exponent. rdmaez_port_caps_answer() tells a zero that the port stands for from one that comes of an
 * old kernel, library or verbs.h. The port's tables are listed by port.h.
 *
 * Everything here but rdmaez_port_caps_query() is pure. All may be called from any thread.
 */
#ifndef RDMAEZ_PORT_CAPS_H
#define RDMAEZ_PORT_CAPS_H

#include "caps_compare.h"
#include "port.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Who tells a field of a port, beside those that tell one of a device. The kernel's answer grew by
 * these in this order, so whoever knows one knows all before it (struct ib_uverbs_query_port_resp_ex).
 */
enum rdmaez_impl_port_told {
	/* The flags, from Linux 4.19 on. */
	RDMAEZ_IMPL_TOLD_PORT_FLAGS = RDMAEZ_IMPL_TOLD_XRC_ODP + 1,
	RDMAEZ_IMPL_TOLD_PORT_FLAGS2, /* the second set, from 5.0 on */
	RDMAEZ_IMPL_TOLD_SPEED_EX     /* speeds beyond eight bits, from 6.7 and rdma-core 49 on */
};

/*
 * The fields, once, in the columns of caps_fields.h. The group is the heading that they are shown
 * under; the struct is flat.
 */

/* clang-format off */

#define RDMAEZ_IMPL_PORT_CAPS_FIELDS(P, X, D, T) \
	D(PORT_NUM, port, port_num, uint32_t, NUMBER, SAME, CONTEXT, port_num, \
	  "the port's number, the first being 1") \
	P(STATE, port, state, int, PORT_STATE, SAME, "its logical state, enum ibv_port_state") \
	P(PHYS_STATE, port, phys_state, uint8_t, PHYS_STATE, SAME, \
	  "its physical state, by the codes of IBTA") \
	P(LINK_LAYER, port, link_layer, uint8_t, LINK_LAYER, SAME, \
	  "what it is plugged into, IBV_LINK_LAYER_; 0 counts as InfiniBand") \
	X(FLAGS, port, flags, uint8_t, PORT_QPF, BITS, PORT_FLAGS, flags, \
	  "what it asks of those who use it, IBV_QPF_ bits") \
	D(NEEDS_GRH, port, needs_grh, bool, BOOL, SAME, DERIVED, needs_grh, \
	  "whether it sends and receives with a global route header only") \
	P(MAX_MTU, mtu, max_mtu, int, MTU, LEAST, "the greatest MTU, enum ibv_mtu") \
	D(MAX_MTU_BYTES, mtu, max_mtu_bytes, uint32_t, BYTES, LEAST, DERIVED, max_mtu_bytes, \
	  "the same in bytes") \
	P(ACTIVE_MTU, mtu, active_mtu, int, MTU, LEAST, "the MTU in use, enum ibv_mtu") \
	D(ACTIVE_MTU_BYTES, mtu, active_mtu_bytes, uint32_t, BYTES, LEAST, DERIVED, \
	  active_mtu_bytes, \
	  "the same in bytes") \
	P(MAX_MSG_SZ, mtu, max_msg_sz, uint32_t, BYTES, LEAST, "bytes of the longest message") \
	P(ACTIVE_WIDTH, rate, active_width, uint8_t, WIDTH, SAME, \
	  "the link's width, by the codes of IBTA") \
	D(LANES, rate, lanes, uint32_t, COUNT, LEAST, DERIVED, lanes, \
	  "the same as a number of lanes") \
	P(ACTIVE_SPEED, rate, active_speed, uint8_t, SPEED, SAME, \
	  "a lane's speed, by the codes of IBTA; NDR also stands for all that is faster") \
	D(ACTIVE_SPEED_EX, rate, active_speed_ex, uint32_t, SPEED, SAME, SPEED_EX, active_speed_ex, \
	  "the same, the faster ones as well; from rdma-core 49 and Linux 6.7 on") \
	D(RATE_KBPS, rate, rate_kbps, uint64_t, KBPS, LEAST, DERIVED, rate_kbps, \
	  "lanes times speed, in kbit/s; unknown where NDR may stand for more") \
	D(EFFECTIVE_RATE_KBPS, rate, effective_rate_kbps, uint64_t, KBPS, LEAST, CONTEXT, \
	  effective_rate_kbps, \
	  "what ibv_query_port_speed() says, in kbit/s: all links of a bond together") \
	P(LID, subnet, lid, uint16_t, NUMBER, SAME, "its LID; 0 where there are none, as on Ethernet") \
	P(LMC, subnet, lmc, uint8_t, NUMBER, SAME, "how many low bits of the LID it ignores") \
	P(SM_LID, subnet, sm_lid, uint16_t, NUMBER, SAME, "the subnet manager's LID") \
	P(SM_SL, subnet, sm_sl, uint8_t, NUMBER, SAME, "the service level towards it") \
	P(SUBNET_TIMEOUT, subnet, subnet_timeout, uint8_t, TIMER, MOST, \
	  "how long a packet may take through the subnet, as an exponent") \
	D(SUBNET_TIMEOUT_NS, subnet, subnet_timeout_ns, uint64_t, NS, MOST, DERIVED, \
	  subnet_timeout_ns, \
	  "the same in ns; 0 beyond 31") \
	P(INIT_TYPE_REPLY, subnet, init_type_reply, uint8_t, NUMBER, SAME, \
	  "how the subnet manager has initialised it") \
	P(MAX_VL_NUM, subnet, max_vl_num, uint8_t, VL, LEAST, \
	  "the virtual lanes for data, by the codes of IBTA") \
	P(GID_TBL_LEN, tables, gid_tbl_len, int, COUNT, LEAST, "rows of the GID table") \
	P(PKEY_TBL_LEN, tables, pkey_tbl_len, uint16_t, COUNT, LEAST, "rows of the P_Key table") \
	P(BAD_PKEY_CNTR, counters, bad_pkey_cntr, uint32_t, NUMBER, SAME, \
	  "packets with a P_Key that it does not have") \
	P(QKEY_VIOL_CNTR, counters, qkey_viol_cntr, uint32_t, NUMBER, SAME, \
	  "packets with a wrong Q_Key") \
	P(PORT_CAP_FLAGS, features, port_cap_flags, uint32_t, PORT_FLAGS, BITS, \
	  "capability bits, enum ibv_port_cap_flags") \
	X(PORT_CAP_FLAGS2, features, port_cap_flags2, uint16_t, PORT_FLAGS2, BITS, PORT_FLAGS2, \
	  port_cap_flags2, \
	  "more of them, enum ibv_port_cap_flags2")

/* clang-format on */

#define RDMAEZ_IMPL_PORT_CAPS_ENUM(id, ...) RDMAEZ_PORT_CAPS_##id,

/** @brief The fields of struct rdmaez_port_caps: `RDMAEZ_PORT_CAPS_` and the ids of the list. */
enum rdmaez_port_caps_id {
	RDMAEZ_IMPL_PORT_CAPS_FIELDS(RDMAEZ_IMPL_PORT_CAPS_ENUM, RDMAEZ_IMPL_PORT_CAPS_ENUM,
				     RDMAEZ_IMPL_PORT_CAPS_ENUM, RDMAEZ_IMPL_PORT_CAPS_ENUM)
	RDMAEZ_PORT_CAPS_ID_COUNT /**< how many there are */
};

/** @brief What a port says of itself. See the head of this file. */
struct rdmaez_port_caps {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_PORT_CAPS_FIELDS)
	uint8_t source[RDMAEZ_PORT_CAPS_ID_COUNT]; /**< of each, its enum rdmaez_caps_source */
};

/**
 * @brief How many lanes a link of this width has.
 * @param active_width `ibv_port_attr.active_width`; any value
 * @return 1, 2, 4, 8 or 12; 0 where @p active_width is none of IBTA's codes
 * @since rdmaez 0.1; rdma-core 33. Source: IBTA volume 1, PortInfo, LinkWidthActive
 */
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

/**
 * @brief How fast one lane is.
 *
 * The speed by which people know it: 2.5, 5, 10 (QDR and FDR10), 14.0625, 25, 50, 100 and 200 Gbit/s.
 *
 * @param active_speed `ibv_port_attr.active_speed` or `active_speed_ex`; any value
 * @return kbit/s, 1000 bits each; 0 where @p active_speed is none of IBTA's codes
 * @since rdmaez 0.1; rdma-core 33. Source: IBTA volume 1, PortInfo, LinkSpeedActive and LinkSpeedExtActive
 */
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

/**
 * @brief What is written down about a field.
 *
 * Of the description, `group` is the heading that the field is shown under.
 *
 * @param id which field
 * @return static data; NULL where @p id is none
 * @since rdmaez 0.1; rdma-core 33
 */
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

/**
 * @brief The value of a field, by its id.
 *
 * A loop over all ids visits every field in the order in which they are shown.
 *
 * @param caps what was decoded or queried, not NULL
 * @param id which field
 * @param item receives the field, its value and where it comes from; not NULL
 * @return 0; EINVAL where @p id is none, and @p item is left alone
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_port_caps_get(const struct rdmaez_port_caps *caps,
				    enum rdmaez_port_caps_id id, struct rdmaez_caps_item *item)
{
	const struct rdmaez_caps_field *field = rdmaez_port_caps_describe(id);

	if (!field)
		return EINVAL;
	rdmaez_impl_caps_item(field, caps, caps->source[id], item);
	return 0;
}

/**
 * @brief Calls a function for every field, in the order in which they are shown.
 * @param caps what was decoded or queried, not NULL
 * @param visit is called with each field; anything but 0 ends the round
 * @param argument is passed to @p visit
 * @return what the last call of @p visit returned
 * @since rdmaez 0.1; rdma-core 33
 */
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

/**
 * @brief Whether a port has what a field tells: yes, no, or nobody says.
 *
 * Yes where the field is not zero. No where it is zero and the port said so. Else unknown:
 * `caps->source[id]` is the reason, and rdmaez_caps_source_str() its sentence.
 *
 * @param caps what was decoded or queried, not NULL
 * @param id which field; one that is none is unknown
 * @return the answer
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API enum rdmaez_answer rdmaez_port_caps_answer(const struct rdmaez_port_caps *caps,
						      enum rdmaez_port_caps_id id)
{
	struct rdmaez_caps_item item;

	return rdmaez_port_caps_get(caps, id, &item) ? RDMAEZ_ANSWER_UNKNOWN
						     : rdmaez_impl_caps_answer(&item);
}

/**
 * @brief How a second port stands to a first one in a field, or the same port later.
 * @param first one port, not NULL
 * @param second the other, not NULL
 * @param id which field; one that is none is unclear
 * @return the relation
 * @since rdmaez 0.1; rdma-core 33
 */
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
RDMAEZ_API void rdmaez_impl_port_caps_derive(struct rdmaez_port_caps *caps)
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
RDMAEZ_API enum rdmaez_caps_source rdmaez_impl_port_caps_zero(int told, int last)
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
RDMAEZ_API void rdmaez_impl_port_caps_sources(struct rdmaez_port_caps *caps, bool has_speed_ex,
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
RDMAEZ_API void rdmaez_impl_port_caps_decode(const struct ibv_port_attr *attr, size_t size,
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

/**
 * @brief Decodes what ibv_query_port() filled.
 *
 * What only an open device tells (the port's number, its effective rate) is unknown, and so are zeros
 * that the kernel may have been too old to fill. rdmaez_port_caps_query() knows more. Pure.
 *
 * @param attr filled by ibv_query_port(), not NULL
 * @param caps receives the decoded fields, all of them; not NULL
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API void rdmaez_port_caps_decode(const struct ibv_port_attr *attr,
					struct rdmaez_port_caps *caps)
{
	rdmaez_impl_port_caps_decode(attr, sizeof(*attr), 0, caps);
}

/* ibv_query_port_speed(), which nearly no provider answers: a refusal is no more than silence. */
RDMAEZ_API enum rdmaez_caps_source rdmaez_impl_port_speed(struct ibv_context *context,
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

/**
 * @brief Asks a port for everything it says of itself.
 *
 * The port number is checked as rdmaez_port_query() does. Costs one ibv_query_port() and one uname();
 * compiled with rdma-core 64 or newer also one ibv_query_port_speed(), whose failure is none of this
 * function: the effective rate is unknown then.
 *
 * @param context the open device
 * @param port_num 1 to the device's number of ports
 * @param caps receives the answer; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p caps is filled
 * @retval EINVAL no such port (#RDMAEZ_PORT), or a NULL argument (#RDMAEZ_NULL_ARGUMENT)
 * @return any other errno of ibv_query_port() (#RDMAEZ_QUERY_REFUSED)
 * @since rdmaez 0.1; rdma-core 33; the effective rate rdma-core 64
 */
RDMAEZ_API int rdmaez_port_caps_query(struct ibv_context *context, int port_num,
				      struct rdmaez_port_caps *caps, struct rdmaez_diag *diag)
{
	struct ibv_port_attr attr;
	int error = rdmaez_impl_port_begin(diag, "rdmaez_port_caps_query", context, caps);

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

#endif
