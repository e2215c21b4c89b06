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

#include "port.h"
#include "caps.h"
#include "impl/port_caps_fields.h"

#ifdef __cplusplus
extern "C" {
#endif

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
RDMAEZ_API unsigned int rdmaez_width_lanes(unsigned int active_width);

/**
 * @brief How fast one lane is.
 *
 * The speed by which people know it: 2.5, 5, 10 (QDR and FDR10), 14.0625, 25, 50, 100 and 200 Gbit/s.
 *
 * @param active_speed `ibv_port_attr.active_speed` or `active_speed_ex`; any value
 * @return kbit/s, 1000 bits each; 0 where @p active_speed is none of IBTA's codes
 * @since rdmaez 0.1; rdma-core 33. Source: IBTA volume 1, PortInfo, LinkSpeedActive and LinkSpeedExtActive
 */
RDMAEZ_API uint64_t rdmaez_speed_kbps(uint32_t active_speed);

/**
 * @brief What is written down about a field.
 *
 * Of the description, `group` is the heading that the field is shown under.
 *
 * @param id which field
 * @return static data; NULL where @p id is none
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API const struct rdmaez_caps_field *rdmaez_port_caps_describe(enum rdmaez_port_caps_id id);

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
				    enum rdmaez_port_caps_id id, struct rdmaez_caps_item *item);

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
				      void *argument);

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
						      enum rdmaez_port_caps_id id);

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
							     enum rdmaez_port_caps_id id);

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
					struct rdmaez_port_caps *caps);

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
 * @retval EINVAL no such port (#RDMAEZ_WHY_PORT), or a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any other errno of ibv_query_port() (#RDMAEZ_WHY_QUERY_REFUSED)
 * @since rdmaez 0.1; rdma-core 33; the effective rate rdma-core 64
 */
RDMAEZ_API int rdmaez_port_caps_query(struct ibv_context *context, int port_num,
				      struct rdmaez_port_caps *caps, struct rdmaez_diag *diag);

/** @brief The rows of a port's tables to write down beside its attributes. All zero: none. */
struct rdmaez_port_tables {
	const struct ibv_gid_entry *gids;      /**< as rdmaez_port_gids() lists them. NULL: none */
	const struct rdmaez_pkey_entry *pkeys; /**< as rdmaez_port_pkeys() lists them. NULL: none */
	size_t gid_count;                      /**< rows at @p gids */
	size_t pkey_count;                     /**< rows at @p pkeys */
};

/**
 * @brief Everything that a port says of itself, for people.
 *
 * As rdmaez_caps_format() writes of a device: a field a line, under headings. The rows of the tables
 * follow, a row a line: a GID with its type and its network interface, a P_Key with its membership.
 *
 * @param caps what was decoded or queried; NULL counts as empty
 * @param tables the rows to write; NULL: none
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 8192, and 128 for each row, is enough for any port
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_port_caps_format(const struct rdmaez_port_caps *caps,
				       const struct rdmaez_port_tables *tables, char *buf,
				       size_t size);

/**
 * @brief Everything that a port says of itself, as one JSON object, for programs.
 *
 * As rdmaez_caps_json() writes of a device: the keys and values are those of `ibv_port_attr`, with
 * `_names` beside a set and `_name` beside an enum, null for what nobody says, and `sources`. Fields of
 * rdmaez's own are `port_num`, `needs_grh`, `max_mtu_bytes`, `active_mtu_bytes`, `lanes`, `rate_kbps`,
 * `effective_rate_kbps` and `subnet_timeout_ns`.
 *
 * Where tables are given, `gids` is an array of objects with the keys of `ibv_gid_entry`, `gid` in the
 * form of an IPv6 address, and with `gid_type_name` and `ndev_name`, which is null where there is no
 * such interface; `pkeys` is one of objects with `pkey_index`, `pkey` and `full`, which tells full
 * membership. Valid for any content.
 *
 * @param caps what was decoded or queried; NULL gives `{}`
 * @param tables the rows to write; NULL: none
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 8192, and 192 for each row, is enough for any port
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_port_caps_json(const struct rdmaez_port_caps *caps,
				     const struct rdmaez_port_tables *tables, char *buf,
				     size_t size);

#ifdef __cplusplus
}
#endif

#include "impl/port_caps.h"

#endif
