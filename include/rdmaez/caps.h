/* SPDX-License-Identifier: MIT */
/**
 * @file caps.h
 * @brief What a device can do: `ibv_device_attr_ex` decoded, with "yes", "no" and "nobody says" apart.
 *
 * struct rdmaez_caps groups the fields of `ibv_device_attr_ex`, each under its verbs name, and adds
 * what they mean: ns for an exponent, Hz for kHz, bools for the bits most asked for. Every field is
 * written down once, in the lists below; the structs, the text, the JSON and the documentation are
 * made from them.
 *
 * A zero has several meanings. The device may lack the feature; or the question never reached it,
 * because the kernel, the library or the provider is older than the field. rdmaez_caps_answer() tells
 * yes, no and unknown apart, and rdmaez_caps_source_str() says why something is unknown.
 *
 * Everything here but rdmaez_caps_query() is pure. All may be called from any thread.
 */
#ifndef RDMAEZ_CAPS_H
#define RDMAEZ_CAPS_H

#include <sys/utsname.h>

#include "caps_fields.h"
#include "caps_kind.h"
#include "driver.h"
#include "units.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The version of the JSON that rdmaez_caps_json() writes and rdmaez_caps_parse() reads. */
#define RDMAEZ_CAPS_JSON_VERSION 1

#define RDMAEZ_IMPL_CAPS_ENUM(id, ...) RDMAEZ_CAPS_##id,

/** @brief The fields of struct rdmaez_caps: `RDMAEZ_CAPS_` and the ids of the lists. */
enum rdmaez_caps_id {
	RDMAEZ_IMPL_CAPS_FIELDS(RDMAEZ_IMPL_CAPS_ENUM, RDMAEZ_IMPL_CAPS_ENUM, RDMAEZ_IMPL_CAPS_ENUM,
				RDMAEZ_IMPL_CAPS_ENUM)
	RDMAEZ_CAPS_ID_COUNT /**< how many there are */
};

/** @brief How the values of two devices compare, and what both together can be relied on for. */
enum rdmaez_caps_merge {
	RDMAEZ_MERGE_SAME,  /**< equal, or there is nothing in common */
	RDMAEZ_MERGE_LEAST, /**< the more the better: the least of them can be relied on */
	RDMAEZ_MERGE_MOST,  /**< the less the better: the greatest must be reckoned with */
	RDMAEZ_MERGE_BITS   /**< the bits that both have */
};

/**
 * @brief Where a value comes from, or why there is none, once: id and sentence.
 *
 * The first two are those of a value that can be believed, a zero included. Ids are stable.
 */
#define RDMAEZ_SOURCES(X)                                                        \
	X(DEVICE, "the device says so")                                          \
	X(CORRECTED, "corrected: this driver reports it otherwise")              \
	X(NOT_ASKED, "no open device was asked")                                 \
	X(PLAIN, "kernel and provider answered the plain query only")            \
	X(OLD_KERNEL, "the kernel may be too old to say")                        \
	X(OLD_LIBRARY, "libibverbs is too old to say")                           \
	X(OLD_HEADER, "the program was compiled with a verbs.h that is too old") \
	X(DRIVER, "this driver does not say")                                    \
	X(DIFFERS, "the devices have nothing in common here")

#define RDMAEZ_IMPL_SOURCE_ID(id, what) RDMAEZ_SOURCE_##id,

/** @brief Where a value comes from: `RDMAEZ_SOURCE_` and the ids of #RDMAEZ_SOURCES. */
enum rdmaez_caps_source {
	RDMAEZ_SOURCES(RDMAEZ_IMPL_SOURCE_ID) RDMAEZ_SOURCE_COUNT /**< how many there are */
};

/** @brief Whether a device has something. */
enum rdmaez_answer {
	RDMAEZ_ANSWER_UNKNOWN, /**< nobody says: it may or may not */
	RDMAEZ_ANSWER_NO,      /**< it has not */
	RDMAEZ_ANSWER_YES      /**< it has */
};

/** @brief A field: what is written down about it. */
struct rdmaez_caps_field {
	const char *name;             /**< its path in `ibv_device_attr_ex`, without `orig_attr.` */
	const char *group;            /**< the member of struct rdmaez_caps that it lies in */
	const char *what;             /**< what it is, a sentence without its full stop */
	enum rdmaez_caps_kind kind;   /**< how to read it */
	enum rdmaez_caps_merge merge; /**< how two of it compare */
	bool is_signed;               /**< the type in verbs is signed */
	int told;                     /**< internal: who tells it */
	size_t offset;                /**< internal: where it lies in its struct */
	size_t size;                  /**< internal: how many bytes it has there */
};

/** @brief The value of a field. */
struct rdmaez_caps_item {
	const struct rdmaez_caps_field *field; /**< which field; static */
	uint64_t value;                        /**< the number, sign-extended; 0 of a text */
	const char *text;               /**< of #RDMAEZ_KIND_TEXT, inside the struct; else "" */
	enum rdmaez_caps_source source; /**< where it comes from */
};

#define RDMAEZ_IMPL_CAPS_MEMBER(id, group, member, type, ...) type member;
#define RDMAEZ_IMPL_CAPS_CHARS(id, group, member, size, ...)  char member[size];
#define RDMAEZ_IMPL_CAPS_MEMBERS(list)                                                  \
	list(RDMAEZ_IMPL_CAPS_MEMBER, RDMAEZ_IMPL_CAPS_MEMBER, RDMAEZ_IMPL_CAPS_MEMBER, \
	     RDMAEZ_IMPL_CAPS_CHARS)

/** @brief Which device it is. */
struct rdmaez_caps_device {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_DEVICE)
};

/** @brief The capability bits. */
struct rdmaez_caps_features {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_FEATURES)
};

/** @brief How many of each object, and how large. */
struct rdmaez_caps_limits {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_LIMITS)
};

/** @brief RDMA READs and atomics in flight. */
struct rdmaez_caps_depths {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_DEPTHS)
};

/** @brief Atomic operations, in the fabric and across PCI. */
struct rdmaez_caps_atomics {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_ATOMICS)
};

/** @brief On-demand paging. */
struct rdmaez_caps_odp {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_ODP)
};

/** @brief Memory on the device, `ibv_alloc_dm()`. */
struct rdmaez_caps_device_memory {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_DEVICE_MEMORY)
};

/** @brief Hardware timestamps. */
struct rdmaez_caps_timestamps {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_TIMESTAMPS)
};

/** @brief TCP segmentation offload. */
struct rdmaez_caps_tso {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_TSO)
};

/** @brief Receive side scaling. */
struct rdmaez_caps_rss {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_RSS)
};

/** @brief Offloads of raw packet queue pairs. */
struct rdmaez_caps_raw_packet {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_RAW_PACKET)
};

/** @brief Rate limits of a queue pair. */
struct rdmaez_caps_packet_pacing {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_PACKET_PACING)
};

/** @brief Tag matching in shared receive queues. */
struct rdmaez_caps_tag_matching {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_TAG_MATCHING)
};

/** @brief Fewer events for many completions. */
struct rdmaez_caps_cq_moderation {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_CQ_MODERATION)
};

/** @brief Memory windows. */
struct rdmaez_caps_memory_windows {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_MEMORY_WINDOWS)
};

/** @brief Shared receive queues. */
struct rdmaez_caps_srq {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_SRQ)
};

/** @brief Multicast. */
struct rdmaez_caps_multicast {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_MULTICAST)
};

/** @brief What is always zero, or means nothing any more. */
struct rdmaez_caps_obsolete {
	RDMAEZ_IMPL_CAPS_MEMBERS(RDMAEZ_IMPL_CAPS_OBSOLETE)
};

/** @brief What a device can do. See the head of this file. */
struct rdmaez_caps {
	struct rdmaez_caps_device device;                 /**< which device it is */
	struct rdmaez_caps_features features;             /**< the capability bits */
	struct rdmaez_caps_limits limits;                 /**< how many, and how large */
	struct rdmaez_caps_depths depths;                 /**< READs and atomics in flight */
	struct rdmaez_caps_atomics atomics;               /**< atomic operations */
	struct rdmaez_caps_odp odp;                       /**< on-demand paging */
	struct rdmaez_caps_device_memory device_memory;   /**< memory on the device */
	struct rdmaez_caps_timestamps timestamps;         /**< hardware timestamps */
	struct rdmaez_caps_tso tso;                       /**< TCP segmentation offload */
	struct rdmaez_caps_rss rss;                       /**< receive side scaling */
	struct rdmaez_caps_raw_packet raw_packet;         /**< raw packet offloads */
	struct rdmaez_caps_packet_pacing packet_pacing;   /**< rate limits */
	struct rdmaez_caps_tag_matching tag_matching;     /**< tag matching */
	struct rdmaez_caps_cq_moderation cq_moderation;   /**< CQ moderation */
	struct rdmaez_caps_memory_windows memory_windows; /**< memory windows */
	struct rdmaez_caps_srq srq;                       /**< shared receive queues */
	struct rdmaez_caps_multicast multicast;           /**< multicast */
	struct rdmaez_caps_obsolete obsolete;             /**< what is of no use any more */
	uint8_t source[RDMAEZ_CAPS_ID_COUNT]; /**< of each field, its enum rdmaez_caps_source */
};

/**
 * @brief Says where a value comes from, or why there is none.
 * @param source any value
 * @return a sentence without its full stop, static; "unknown" for any other value
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API const char *rdmaez_caps_source_str(enum rdmaez_caps_source source)
{
#define RDMAEZ_IMPL_SOURCE_WHAT(id, what) what,
	static const char *const sentences[] = {RDMAEZ_SOURCES(RDMAEZ_IMPL_SOURCE_WHAT)};
#undef RDMAEZ_IMPL_SOURCE_WHAT

	return (unsigned int)source < RDMAEZ_SOURCE_COUNT ? sentences[source] : "unknown";
}

/**
 * @brief The name of a source without its prefix, "OLD_KERNEL" for #RDMAEZ_SOURCE_OLD_KERNEL.
 * @param source any value
 * @return static text; "unknown" for any other value
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API const char *rdmaez_caps_source_id(enum rdmaez_caps_source source)
{
#define RDMAEZ_IMPL_SOURCE_NAME(id, what) #id,
	static const char *const names[] = {RDMAEZ_SOURCES(RDMAEZ_IMPL_SOURCE_NAME)};
#undef RDMAEZ_IMPL_SOURCE_NAME

	return (unsigned int)source < RDMAEZ_SOURCE_COUNT ? names[source] : "unknown";
}

/* A member of at most eight bytes as a number, sign-extended where it has a sign. */
RDMAEZ_API uint64_t rdmaez_impl_caps_load(const void *member, size_t size, bool is_signed)
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
RDMAEZ_API void rdmaez_impl_caps_store(void *member, size_t size, uint64_t value)
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
RDMAEZ_API void rdmaez_impl_caps_item(const struct rdmaez_caps_field *field, const void *base,
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
RDMAEZ_API bool rdmaez_impl_caps_said(const struct rdmaez_caps_item *item)
{
	return item->value || *item->text || item->source <= RDMAEZ_SOURCE_CORRECTED;
}

/* Yes, no, or nobody says. */
RDMAEZ_API enum rdmaez_answer rdmaez_impl_caps_answer(const struct rdmaez_caps_item *item)
{
	if (item->value || *item->text)
		return RDMAEZ_ANSWER_YES;
	return rdmaez_impl_caps_said(item) ? RDMAEZ_ANSWER_NO : RDMAEZ_ANSWER_UNKNOWN;
}

/**
 * @brief What is written down about a field.
 * @param id which field
 * @return static data; NULL where @p id is none
 * @since rdmaez 0.1; rdma-core 33
 */
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

/**
 * @brief The value of a field, by its id.
 *
 * A loop over all ids visits every field in the order in which they are shown; it is how one makes
 * output of one's own.
 *
 * @param caps what was decoded or queried, not NULL
 * @param id which field
 * @param item receives the field, its value and where it comes from; not NULL
 * @return 0; EINVAL where @p id is none, and @p item is left alone
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_caps_get(const struct rdmaez_caps *caps, enum rdmaez_caps_id id,
			       struct rdmaez_caps_item *item)
{
	const struct rdmaez_caps_field *field = rdmaez_caps_describe(id);

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

/**
 * @brief Whether a device has what a field tells: yes, no, or nobody says.
 *
 * Yes where the field is not zero. No where it is zero and the device said so. Else unknown:
 * `caps->source[id]` is the reason, and rdmaez_caps_source_str() its sentence.
 *
 * @param caps what was decoded or queried, not NULL
 * @param id which field; one that is none is unknown
 * @return the answer
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API enum rdmaez_answer rdmaez_caps_answer(const struct rdmaez_caps *caps,
						 enum rdmaez_caps_id id)
{
	struct rdmaez_caps_item item;

	return rdmaez_caps_get(caps, id, &item) ? RDMAEZ_ANSWER_UNKNOWN
						: rdmaez_impl_caps_answer(&item);
}

/* phys_port_cnt_ex, which lies behind xrc_odp_caps whether or not this verbs.h names it. */
RDMAEZ_API uint32_t rdmaez_impl_caps_ports(const struct ibv_device_attr_ex *attr)
{
	const size_t at = offsetof(struct ibv_device_attr_ex, xrc_odp_caps) + sizeof(uint32_t);
	uint32_t ports = 0;

	if (sizeof(*attr) >= at + sizeof(ports))
		memcpy(&ports, (const char *)attr + at, sizeof(ports));
	return ports;
}

/* What follows from other fields, and where it comes from. */
RDMAEZ_API void rdmaez_impl_caps_derive(struct rdmaez_caps *caps)
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
RDMAEZ_API enum rdmaez_caps_source rdmaez_impl_caps_zero(int told, bool extended, int last)
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
RDMAEZ_API void rdmaez_impl_caps_sources(struct rdmaez_caps *caps, int last)
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
RDMAEZ_API bool rdmaez_impl_caps_filled(const struct rdmaez_caps *caps, int id, const char *driver)
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
RDMAEZ_API void rdmaez_impl_caps_silent(struct rdmaez_caps *caps, const char *driver)
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
RDMAEZ_API void rdmaez_impl_caps_decode(const struct ibv_device_attr_ex *attr, int last,
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

/**
 * @brief Decodes what ibv_query_device_ex() filled.
 *
 * Nothing is corrected. What only an open device tells (its name and type, its completion vectors) is
 * unknown, and so are zeros that the kernel may have been too old to fill: the struct shows how much
 * was answered, but not by which kernel. rdmaez_caps_query() knows more. Pure.
 *
 * @param attr filled by ibv_query_device_ex(), not NULL
 * @param caps receives the decoded fields, all of them; not NULL
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API void rdmaez_caps_decode(const struct ibv_device_attr_ex *attr, struct rdmaez_caps *caps)
{
	rdmaez_impl_caps_decode(attr, 0, caps);
}

/* The last part that the running kernel tells: all of them from Linux 5.1 on, else who knows. */
RDMAEZ_API int rdmaez_impl_caps_kernel(void)
{
	struct utsname name;
	const char *end;
	int major = 0, minor = 0;

	if (uname(&name) || strcmp(name.sysname, "Linux") != 0)
		return 0;
	for (end = name.release; *end >= '0' && *end <= '9' && major < 1000; end++)
		major = major * 10 + (*end - '0');
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9' && minor < 1000; end++)
			minor = minor * 10 + (*end - '0');
	return major > 5 || (major == 5 && minor >= 1) ? RDMAEZ_IMPL_TOLD_XRC_ODP : 0;
}

/*
 * erdma and bnxt_re report the two depths the other way round, which shows in how they judge
 * ibv_modify_qp(): each compares max_rd_atomic with what it calls max_qp_rd_atom.
 */
RDMAEZ_API void rdmaez_impl_caps_correct(struct rdmaez_caps *caps, int traits)
{
	const int serves = caps->depths.max_qp_rd_atom;

	if (!(traits & RDMAEZ_DRIVER_SWAPS))
		return;
	caps->depths.max_qp_rd_atom = caps->depths.max_qp_init_rd_atom;
	caps->depths.max_qp_init_rd_atom = serves;
	caps->source[RDMAEZ_CAPS_MAX_QP_RD_ATOM] = RDMAEZ_SOURCE_CORRECTED;
	caps->source[RDMAEZ_CAPS_MAX_QP_INIT_RD_ATOM] = RDMAEZ_SOURCE_CORRECTED;
}

/**
 * @brief Asks a device for everything it says of itself.
 *
 * The struct is zeroed first; where the extended query is not supported, the plain one is asked, and
 * what only the extended one tells is unknown. The number of ports is right also where phys_port_cnt_ex
 * is not told, and the READ depths are right on the drivers that report them the other way round.
 * Costs one ibv_query_device_ex(), one ibv_query_device() where that is not supported, and one uname().
 *
 * @param context the open device
 * @param caps receives the answer; written on success only
 * @retval 0 @p caps is filled
 * @retval EINVAL an argument is NULL
 * @return any other errno of ibv_query_device_ex() or ibv_query_device(), as EIO of a device that is gone
 * @since rdmaez 0.1; rdma-core 33
 */
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

#ifdef __cplusplus
}
#endif

#endif
