/* SPDX-License-Identifier: MIT */
/**
 * @file caps_table.h
 * @brief Capabilities as a table with one row per field, to print, compare or require.
 *
 * rdmaez_caps_fields() makes the table of a device (caps.h), and rdmaez_port_caps_fields() that of a port
 * (port_caps.h). Each row has the name of a field, how to read and compare it, its value, and the source of the value:
 * @code
 * #include <stdio.h>
 * #include <rdmaez/caps.h>
 *
 * void print_numbers(const struct rdmaez_caps *caps)
 * {
 *         const struct rdmaez_caps_table table = rdmaez_caps_fields(caps);
 *         struct rdmaez_caps_item item;
 *
 *         for (unsigned int id = 0; id < table.count; id++)
 *                 if (!rdmaez_caps_get(table, id, &item))
 *                         printf("%s %llu\n", item.field->name, (unsigned long long)item.value);
 * }
 * @endcode
 *
 * Functions that write text work like snprintf(): they write at most @p size bytes including the NUL, and
 * return the length of the whole text without it.
 *
 * `<rdmaez.h>` does not include this header.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_CAPS_TABLE_H
#define RDMAEZ_CAPS_TABLE_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Where a value comes from, or why it is unknown. With the first two, a zero is really zero. */
enum rdmaez_caps_source {
	RDMAEZ_SOURCE_DEVICE,      /**< reported by the device */
	RDMAEZ_SOURCE_CORRECTED,   /**< corrected: this driver reports it otherwise */
	RDMAEZ_SOURCE_NOT_ASKED,   /**< no open device was asked */
	RDMAEZ_SOURCE_PLAIN,       /**< kernel and provider answered the plain query only */
	RDMAEZ_SOURCE_OLD_KERNEL,  /**< the kernel may be too old to report it */
	RDMAEZ_SOURCE_OLD_LIBRARY, /**< libibverbs is too old to report it */
	RDMAEZ_SOURCE_OLD_HEADER,  /**< the program was compiled with a verbs.h that is too old */
	RDMAEZ_SOURCE_DRIVER,      /**< this driver does not report it */
	RDMAEZ_SOURCE_DIFFERS,     /**< the devices have nothing in common here */
	RDMAEZ_SOURCE_COUNT        /**< how many there are */
};

/** @brief Whether a device has a capability. */
enum rdmaez_answer {
	RDMAEZ_ANSWER_UNKNOWN, /**< not reported */
	RDMAEZ_ANSWER_NO,      /**< it does not have it */
	RDMAEZ_ANSWER_YES      /**< it has it */
};

/** @brief How a second device compares to a first one in a field. */
enum rdmaez_caps_relation {
	RDMAEZ_RELATION_EQUAL,   /**< it has the same */
	RDMAEZ_RELATION_LACKS,   /**< it has less, or lacks bits */
	RDMAEZ_RELATION_EXCEEDS, /**< it has everything the first has, and more */
	RDMAEZ_RELATION_DIFFERS, /**< they differ, and neither is more */
	RDMAEZ_RELATION_UNCLEAR  /**< it is unknown for at least one of the two */
};

/** @brief How two values of a field compare, and what several devices have in common. */
enum rdmaez_caps_merge {
	RDMAEZ_MERGE_SAME,  /**< equal, or nothing in common */
	RDMAEZ_MERGE_LEAST, /**< more is better: rely on the least */
	RDMAEZ_MERGE_MOST,  /**< less is better: expect the greatest */
	RDMAEZ_MERGE_BITS   /**< the bits that all have */
};

/** @brief How to read the value of a field. */
enum rdmaez_caps_kind {
	RDMAEZ_KIND_TEXT,         /**< characters, not a number */
	RDMAEZ_KIND_GUID,         /**< 64 bits in network byte order */
	RDMAEZ_KIND_ID,           /**< an identifier, shown in hexadecimal */
	RDMAEZ_KIND_NUMBER,       /**< an identifier, a code or a counter, shown in decimal */
	RDMAEZ_KIND_BOOL,         /**< 0 or 1 */
	RDMAEZ_KIND_COUNT,        /**< a number of things */
	RDMAEZ_KIND_BYTES,        /**< a size in bytes */
	RDMAEZ_KIND_SIZES,        /**< a set of sizes: bit n stands for 2 to the power of n bytes */
	RDMAEZ_KIND_TIMER,        /**< an exponent: 4.096 us times 2 to its power */
	RDMAEZ_KIND_NS,           /**< a time in ns */
	RDMAEZ_KIND_US,           /**< a time in us */
	RDMAEZ_KIND_HZ,           /**< a clock in Hz */
	RDMAEZ_KIND_KHZ,          /**< a clock in kHz */
	RDMAEZ_KIND_KBPS,         /**< a rate in kbit/s, 1000 bits each */
	RDMAEZ_KIND_MASK,         /**< which bits of another number are valid */
	RDMAEZ_KIND_NODE_TYPE,    /**< `enum ibv_node_type` */
	RDMAEZ_KIND_TRANSPORT,    /**< `enum ibv_transport_type` */
	RDMAEZ_KIND_ATOMIC_CAP,   /**< `enum ibv_atomic_cap` */
	RDMAEZ_KIND_PORT_STATE,   /**< `enum ibv_port_state` */
	RDMAEZ_KIND_MTU,          /**< `enum ibv_mtu` */
	RDMAEZ_KIND_LINK_LAYER,   /**< `IBV_LINK_LAYER_` */
	RDMAEZ_KIND_PHYS_STATE,   /**< the port's physical state, by the codes of IBTA */
	RDMAEZ_KIND_WIDTH,        /**< the link's width, by the codes of IBTA */
	RDMAEZ_KIND_SPEED,        /**< a lane's speed, by the codes of IBTA */
	RDMAEZ_KIND_VL,           /**< the greatest virtual lane, by the codes of IBTA */
	RDMAEZ_KIND_DEVICE_FLAGS, /**< a set of `IBV_DEVICE_` bits, 64 wide */
	RDMAEZ_KIND_ODP_GENERAL,  /**< a set of `enum ibv_odp_general_caps` */
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

/** @brief The version of the JSON that rdmaez_caps_json() and rdmaez_port_caps_json() write. */
#define RDMAEZ_CAPS_JSON_VERSION 1

/** @brief A field of struct rdmaez_caps or struct rdmaez_port_caps. */
struct rdmaez_caps_field {
	const char *name;             /**< its path in the verbs struct, without `orig_attr.` */
	const char *group;            /**< the heading it is shown under */
	const char *what;             /**< what it is, a sentence without its full stop */
	enum rdmaez_caps_kind kind;   /**< how to read it */
	enum rdmaez_caps_merge merge; /**< how two values compare */
	uint16_t offset;              /**< its offset in the struct */
	uint16_t size;                /**< its size there, in bytes */
	bool is_signed;               /**< the number is signed */
	uint8_t told;                 /**< internal: who reports it */
	uint16_t from;                /**< internal: its offset in the verbs struct */
};

/** @brief A device or a port as a table. A field's id is its row number. */
struct rdmaez_caps_table {
	const struct rdmaez_caps_field *fields; /**< the rows; static */
	unsigned int count;                     /**< the number of rows */
	const void *base;      /**< the struct that holds the values; may be NULL */
	const uint8_t *source; /**< the source of each value; NULL if @p base is */
	unsigned int partial;  /**< internal: the row of a partly reported set, or @p count */
	uint64_t unreported;   /**< internal: the bits of it that are not reported */
};

/** @brief The value of a field. */
struct rdmaez_caps_item {
	const struct rdmaez_caps_field *field; /**< which field; static */
	uint64_t value;                        /**< the number, sign-extended; 0 for text */
	const char *text;                      /**< for #RDMAEZ_KIND_TEXT, in the struct; else "" */
	enum rdmaez_caps_source source;        /**< where it comes from */
};

/**
 * @brief Gets the value of a field.
 *
 * @param table a device or a port
 * @param id the field: an enum rdmaez_caps_id or an enum rdmaez_port_caps_id
 * @param item receives the field, its value and where it comes from; not NULL; written on success only
 * @return 0; EINVAL if @p table has no such row, or no values
 */
RDMAEZ_COLD int rdmaez_caps_get(struct rdmaez_caps_table table, unsigned int id,
				struct rdmaez_caps_item *item);

/**
 * @brief Returns whether a device or a port has what a field reports: yes, no, or unknown.
 *
 * The answer is yes if the field is not zero, and no if it is reported as zero. Otherwise it is unknown, and
 * `table.source[id]` says why.
 *
 * @param table a device or a port
 * @param id the field; one that does not exist is unknown
 * @return the answer
 */
RDMAEZ_COLD enum rdmaez_answer rdmaez_caps_answer(struct rdmaez_caps_table table, unsigned int id);

/**
 * @brief Checks whether a device or a port has everything that your program needs.
 *
 * Start from all zero, and set your needs in the members that report the capabilities:
 * @code
 * #include <string.h>
 * #include <rdmaez/caps.h>
 *
 * int require(const struct rdmaez_caps *caps, struct rdmaez_diag *diag)
 * {
 *         struct rdmaez_caps need;
 *
 *         memset(&need, 0, sizeof(need));
 *         need.device_memory.max_dm_size = 64 * 1024;
 *         need.odp.rc = IBV_ODP_SUPPORT_READ;
 *         need.depths.max_qp_init_rd_atom = 16;
 *         return rdmaez_caps_require(rdmaez_caps_fields(caps), rdmaez_caps_fields(&need), diag);
 * }
 * @endcode
 * A member that is zero requires nothing. A limit must be at least the value given. Where less is better
 * (#RDMAEZ_MERGE_MOST), it must be at most that value. A set must have all the bits. A name must be equal.
 *
 * @param have what the device or port reports
 * @param need what is needed
 * @param diag receives a finding for each need that is not met, with the field and, unless it is text, the
 *        values needed and offered; may be NULL
 * @retval 0 all needs are met
 * @retval EINVAL a table has no values (#RDMAEZ_WHY_NULL_ARGUMENT), or one is of a device and the other of a
 *         port (#RDMAEZ_WHY_CAPS_TABLE)
 * @retval EOPNOTSUPP a need is not met (#RDMAEZ_WHY_NEED_UNMET)
 * @retval ENODATA no need is known to be unmet, but some are unknown (#RDMAEZ_WHY_NEED_UNKNOWN)
 */
RDMAEZ_COLD int rdmaez_caps_require(struct rdmaez_caps_table have, struct rdmaez_caps_table need,
				    struct rdmaez_diag *diag);

/**
 * @brief Compares one field of a second device or port with that of a first one.
 * @param first a device or a port
 * @param second another one, or the same one later
 * @param id the field
 * @return the relation; unclear if there is no such field, or if one table is of a device and the other of a port
 */
RDMAEZ_COLD enum rdmaez_caps_relation rdmaez_caps_relate(struct rdmaez_caps_table first,
							 struct rdmaez_caps_table second,
							 unsigned int id);

/**
 * @brief Writes how a second device or port differs from a first one, for people: one line per field.
 *
 * Each line has the field's name, how the second compares (`lacks`, `exceeds`, `differs`, `unclear`), and both values.
 * For a set, the line has the bits that only one of the two has. Equal fields are left out.
 *
 * @param first a device or a port; without values there is nothing to compare
 * @param second another one, or the same one later
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 24576 is enough for any two
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_caps_diff_format(struct rdmaez_caps_table first,
					struct rdmaez_caps_table second, char *buf, size_t size);

/**
 * @brief Writes the value of a field on one line: with its unit, by name, or why it is unknown.
 * @param item what rdmaez_caps_get() has filled; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 2048 is enough for any field
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_caps_item_format(const struct rdmaez_caps_item *item, char *buf,
					size_t size);

/**
 * @brief Describes where a value comes from, or why it is unknown.
 * @param source any value
 * @return static text without a full stop; "unknown" for any other value
 */
RDMAEZ_COLD const char *rdmaez_caps_source_str(enum rdmaez_caps_source source);

/**
 * @brief Returns the name of a source without its prefix, "OLD_KERNEL" for #RDMAEZ_SOURCE_OLD_KERNEL.
 * @param source any value
 * @return static text; "unknown" for any other value
 */
RDMAEZ_COLD const char *rdmaez_caps_source_id(enum rdmaez_caps_source source);

/**
 * @brief Names a bit of a set, or a value of an enum.
 *
 * `rdmaez_caps_kind_str(RDMAEZ_KIND_DEVICE_FLAGS, 20)` is "IBV_DEVICE_XRC";
 * `rdmaez_caps_kind_str(RDMAEZ_KIND_SPEED, 64)` is "HDR".
 *
 * @param kind any value
 * @param number the bit's number, from 0, if @p kind is a set; else the value
 * @return static text; "unknown" if the number has no name
 */
RDMAEZ_COLD const char *rdmaez_caps_kind_str(enum rdmaez_caps_kind kind, uint64_t number);

/**
 * @brief Returns whether a kind is a set of bits that have names.
 * @param kind any value
 * @return true from #RDMAEZ_KIND_DEVICE_FLAGS on
 */
RDMAEZ_COLD bool rdmaez_caps_kind_is_set(enum rdmaez_caps_kind kind);

/**
 * @brief Returns whether a kind is an enum whose values have names.
 * @param kind any value
 * @return true from #RDMAEZ_KIND_NODE_TYPE to #RDMAEZ_KIND_VL
 */
RDMAEZ_COLD bool rdmaez_caps_kind_is_enum(enum rdmaez_caps_kind kind);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/caps_table.h"
#endif

#endif
