/* SPDX-License-Identifier: MIT */
/**
 * @file fmt.h
 * @brief Everything that writes text: explanations, completions, masks; with caps_fmt.h, capabilities.
 *
 * Every function follows snprintf's rule: it writes at most @p size
 * bytes, the last one a NUL, and returns how long the whole text is without the NUL; more than
 * `size - 1` means that the text was cut. With size 0 the buffer may be NULL.
 *
 * Everything here is pure, calls no verb and may be called from any thread.
 */
#ifndef RDMAEZ_FMT_H
#define RDMAEZ_FMT_H

#include "diag.h"
#include "wc.h"
#include "caps.h"
#include "port_caps.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief An attribute mask by the names of its bits: "IBV_QP_STATE|IBV_QP_PORT".
 * @param attr_mask bits of `enum ibv_qp_attr_mask`; unknown ones are written as a hex number, none as 0
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf
 * @return the length of the whole text
 */
RDMAEZ_API int rdmaez_qp_attr_mask_format(int attr_mask, char *buf, size_t size);

/**
 * @brief Access flags by name: "IBV_ACCESS_LOCAL_WRITE|IBV_ACCESS_REMOTE_READ".
 * @param access bits of `enum ibv_access_flags`; unknown ones are written as a hex number, none as 0
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf
 * @return the length of the whole text
 */
RDMAEZ_API int rdmaez_access_format(unsigned int access, char *buf, size_t size);

/**
 * @brief An explanation for people: what failed, then a paragraph per finding.
 *
 * The first line tells the call, the errno by name, and the device, queue pair, transition and path
 * where there are any. Each finding tells a field, what is wrong with it, what was given and accepted,
 * and the next step; likely ones and advice say that they are. Lines have at most 100 columns, and the
 * last ends in a newline too.
 *
 * @param diag what a function found; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 2048 is enough for most
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_diag_format(const struct rdmaez_diag *diag, char *buf, size_t size);

/**
 * @brief An explanation as one line of key=value pairs, for logs.
 *
 * `call=ibv_modify_qp error=EINVAL device=rxe0 driver=rdma_rxe qp=17 type=RC from=INIT to=RTR
 * finding=error:MASK_MISSING:attr_mask:0x8000`, with one `finding` per finding: severity, reason id,
 * field, value. No value holds a space. There is no newline.
 *
 * @param diag what a function found; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 1024 is enough for most
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_diag_line(const struct rdmaez_diag *diag, char *buf, size_t size);

/**
 * @brief An explanation as one JSON object, for programs.
 *
 * Keys: `call`, `error` (number), `errno` (symbol), and where they are known `device`, `driver`,
 * `qp_num`, `qp_type`, `from`, `to`, `sgid`, `sgid_index`, `dgid`, `netdev`; then `dropped` and the array
 * `findings` of objects with `severity` ("error", "likely", "advice"), `reason`, `field`, `value`,
 * `min`, `max`, `what` and `next`. The numbers are as in struct rdmaez_finding; a need that a device does
 * not meet has `asked` and `offered` instead. Valid for any record.
 *
 * @param diag what a function found; NULL gives `{}`
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 4096 is enough for most
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_diag_json(const struct rdmaez_diag *diag, char *buf, size_t size);

/**
 * @brief A completion explained for people: its status, what happened, the likely causes, what to do.
 *
 * The first line tells the status by name and number, the queue pair, the `wr_id`, and, where it
 * failed, `vendor_err`. Each further line is a sentence. Lines have at most 100 columns, and the last
 * ends in a newline too.
 *
 * @param wc the completion; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 1024 is enough
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_wc_format(const struct ibv_wc *wc, char *buf, size_t size);

/**
 * @brief An asynchronous event explained for people: what happened to which object, the likely
 *        causes, what to do.
 *
 * The first line tells the event by name and number and the object it happened to, the last one to
 * acknowledge it. Lines have at most 100 columns, and the last ends in a newline too.
 *
 * @param event the event, not acknowledged yet, so that its object still exists; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 1024 is enough
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_event_format(const struct ibv_async_event *event, char *buf, size_t size);

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

#include "impl/fmt.h"

#endif
