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

#include "diag.h"
#include "impl/caps_fields.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief How the value of a field is to be read. */
enum rdmaez_caps_kind {
	RDMAEZ_KIND_TEXT,   /**< characters, not a number */
	RDMAEZ_KIND_GUID,   /**< 64 bits in network byte order */
	RDMAEZ_KIND_ID,     /**< an identifier that people know in hexadecimal */
	RDMAEZ_KIND_NUMBER, /**< an identifier, a code or a counter that people know in decimal */
	RDMAEZ_KIND_BOOL,   /**< 0 or 1 */
	RDMAEZ_KIND_COUNT,  /**< how many */
	RDMAEZ_KIND_BYTES,  /**< a size in bytes */
	RDMAEZ_KIND_SIZES,  /**< a set of sizes: bit n stands for 2 to the power of n bytes */
	RDMAEZ_KIND_TIMER,  /**< an exponent: 4.096 us times 2 to its power */
	RDMAEZ_KIND_NS,     /**< a time in ns */
	RDMAEZ_KIND_US,     /**< a time in us */
	RDMAEZ_KIND_HZ,     /**< a clock in Hz */
	RDMAEZ_KIND_KHZ,    /**< a clock in kHz */
	RDMAEZ_KIND_KBPS,   /**< a rate in kbit/s, 1000 bits each */
	RDMAEZ_KIND_MASK,   /**< which bits of another number are valid */
	RDMAEZ_KIND_NODE_TYPE,        /**< `enum ibv_node_type` */
	RDMAEZ_KIND_TRANSPORT,        /**< `enum ibv_transport_type` */
	RDMAEZ_KIND_ATOMIC_CAP,       /**< `enum ibv_atomic_cap` */
	RDMAEZ_KIND_PORT_STATE,       /**< `enum ibv_port_state` */
	RDMAEZ_KIND_MTU,              /**< `enum ibv_mtu` */
	RDMAEZ_KIND_LINK_LAYER,       /**< `IBV_LINK_LAYER_` */
	RDMAEZ_KIND_PHYS_STATE,       /**< the port's physical state, by the codes of IBTA */
	RDMAEZ_KIND_WIDTH,            /**< the link's width, by the codes of IBTA */
	RDMAEZ_KIND_SPEED,            /**< a lane's speed, by the codes of IBTA */
	RDMAEZ_KIND_VL,               /**< the greatest virtual lane, by the codes of IBTA */
	RDMAEZ_KIND_DEVICE_FLAGS,     /**< a set of `IBV_DEVICE_` bits, 64 wide */
	RDMAEZ_KIND_ODP_GENERAL,      /**< a set of `enum ibv_odp_general_caps` */
	RDMAEZ_KIND_ODP_TRANSPORT,    /**< a set of `enum ibv_odp_transport_cap_bits` */
	RDMAEZ_KIND_RAW_PACKET,       /**< a set of `enum ibv_raw_packet_caps` */
	RDMAEZ_KIND_RX_HASH_FUNCTION, /**< a set of `enum ibv_rx_hash_function_flags` */
	RDMAEZ_KIND_RX_HASH_FIELDS,   /**< a set of `enum ibv_rx_hash_fields` */
	RDMAEZ_KIND_TM_FLAGS,         /**< a set of `enum ibv_tm_cap_flags` */
	RDMAEZ_KIND_PCI_ATOMIC,       /**< a set of `enum ibv_pci_atomic_op_size` */
	RDMAEZ_KIND_QP_TYPES,         /**< a set of queue pair types: bit n is type n */
	RDMAEZ_KIND_PORT_FLAGS,       /**< a set of `enum ibv_port_cap_flags` */
	RDMAEZ_KIND_PORT_FLAGS2,      /**< a set of `enum ibv_port_cap_flags2` */
	RDMAEZ_KIND_PORT_QPF,         /**< a set of `IBV_QPF_` bits */
	RDMAEZ_KIND_TOTAL             /**< how many there are */
};

/** @brief The version of the JSON that rdmaez_caps_json() writes and rdmaez_caps_parse() reads. */
#define RDMAEZ_CAPS_JSON_VERSION 1

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
RDMAEZ_API const char *rdmaez_caps_source_str(enum rdmaez_caps_source source);

/**
 * @brief The name of a source without its prefix, "OLD_KERNEL" for #RDMAEZ_SOURCE_OLD_KERNEL.
 * @param source any value
 * @return static text; "unknown" for any other value
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API const char *rdmaez_caps_source_id(enum rdmaez_caps_source source);

/**
 * @brief What is written down about a field.
 * @param id which field
 * @return static data; NULL where @p id is none
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API const struct rdmaez_caps_field *rdmaez_caps_describe(enum rdmaez_caps_id id);

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
			       struct rdmaez_caps_item *item);

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
				 void *argument);

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
						 enum rdmaez_caps_id id);

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
RDMAEZ_API void rdmaez_caps_decode(const struct ibv_device_attr_ex *attr, struct rdmaez_caps *caps);

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
RDMAEZ_API int rdmaez_caps_query(struct ibv_context *context, struct rdmaez_caps *caps);

/**
 * @brief Whether a kind is a set of bits that have names.
 * @param kind any value
 * @return true from #RDMAEZ_KIND_DEVICE_FLAGS on
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API bool rdmaez_caps_kind_is_set(enum rdmaez_caps_kind kind);

/**
 * @brief Whether a kind is an enum whose values have names.
 * @param kind any value
 * @return true from #RDMAEZ_KIND_NODE_TYPE to #RDMAEZ_KIND_VL
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API bool rdmaez_caps_kind_is_enum(enum rdmaez_caps_kind kind);

/**
 * @brief Names a bit of a set, or a value of an enum.
 *
 * `rdmaez_caps_kind_str(RDMAEZ_KIND_DEVICE_FLAGS, 20)` is "IBV_DEVICE_XRC";
 * `rdmaez_caps_kind_str(RDMAEZ_KIND_SPEED, 64)` is "HDR".
 *
 * @param kind any value
 * @param number the bit's place, 0 being the lowest, where @p kind is a set; else the value
 * @return static text; "unknown" where the number has no name
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API const char *rdmaez_caps_kind_str(enum rdmaez_caps_kind kind, uint64_t number);

/** @brief How a second device stands to a first one in a field. */
enum rdmaez_caps_relation {
	RDMAEZ_RELATION_EQUAL,   /**< it has the same */
	RDMAEZ_RELATION_LACKS,   /**< it has less, or lacks bits */
	RDMAEZ_RELATION_EXCEEDS, /**< it has more, and all that the first has */
	RDMAEZ_RELATION_DIFFERS, /**< it has something else, which is neither more nor less */
	RDMAEZ_RELATION_UNCLEAR  /**< of one of the two nobody says */
};

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
							enum rdmaez_caps_id id);

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
				  struct rdmaez_caps *common);

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
 * @retval EINVAL an argument is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @retval EOPNOTSUPP the device has less (#RDMAEZ_WHY_NEED_UNMET)
 * @retval ENODATA the device has all that it tells of, but of some needs nobody says
 *         (#RDMAEZ_WHY_NEED_UNKNOWN)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_caps_require(const struct rdmaez_caps *have, const struct rdmaez_caps *need,
				   struct rdmaez_diag *diag);

/**
 * @brief Everything that a device says of itself, for people.
 *
 * A group a paragraph, a field a line: its verbs name, its value with its unit, the bits of a set by name
 * (`bit_37` for one that nobody has named), and why where nobody says. Lines have at most 100 columns.
 *
 * @param caps what was decoded or queried; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 24576 is enough for any device
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_caps_format(const struct rdmaez_caps *caps, char *buf, size_t size);

/**
 * @brief The most asked for of a device, for people: some twenty lines.
 *
 * Identity, the limits that programs meet first, and which groups of features it has, has not, or does
 * not tell of.
 *
 * @param caps what was decoded or queried; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 4096 is enough for any device
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_caps_format_short(const struct rdmaez_caps *caps, char *buf, size_t size);

/**
 * @brief Everything that a device says of itself, as one JSON object, for programs.
 *
 * The keys are the verbs names, in the structs of `ibv_device_attr_ex`, and the values are those of
 * verbs: `max_qp`, `tso_caps.max_tso`, `device_cap_flags`. The members of `orig_attr` stand at the top.
 * Beside a set stand the names of its bits (`device_cap_flags_names`), beside an enum its value's name
 * (`atomic_cap_name`), beside `page_size_cap` the sizes (`page_size_cap_bytes`). Fields of rdmaez's own
 * are `port_count`, `flags`, `local_ca_ack_delay_ns`, `hca_core_clock_hz`, `odp_caps.supported`,
 * `odp_caps.implicit`, `memory_window_type_1`, `_2a`, `_2b`, and what comes from the open device.
 *
 * What nobody says is null. `sources` tells for each such field, and for those that were corrected, the
 * enum rdmaez_caps_source, without its prefix. Integers have up to 64 bits. The schema is
 * `caps.schema.json` in the documentation. Valid for any content.
 *
 * @param caps what was decoded or queried; NULL gives `{}`
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 24576 is enough for any device
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_caps_json(const struct rdmaez_caps *caps, char *buf, size_t size);

/**
 * @brief How a second device differs from a first one, for people: a line for each field that does.
 *
 * A field's name, then how the second stands to the first (`lacks`, `exceeds`, `differs`, `unclear`),
 * then both values; of sets, the bits that only one of them has. Nothing where all is equal.
 *
 * @param first one device; NULL counts as nothing to compare
 * @param second the other, or the same later; NULL counts as nothing to compare
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 24576 is enough for any two
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_caps_diff_format(const struct rdmaez_caps *first,
				       const struct rdmaez_caps *second, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#include "impl/caps.h"

#endif
