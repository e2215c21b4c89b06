/* SPDX-License-Identifier: MIT */
/**
 * @file diag.h
 * @brief The explanation record: what was refused, which field, why, and what to do.
 *
 * A `struct rdmaez_diag` usually lives on your stack. It holds only numbers and pointers to literals and functions, so
 * you may copy it and keep it. Every function that takes a record accepts NULL for "do not explain". It rewrites the
 * whole record on success and on failure, so you need not clear it. Functions on the data path leave it alone on
 * success: those of wr.h, rdmaez_mr_remote(), rdmaez_wc_grh(), and those that poll or wait (wc.h, cq.h). In code, test
 * for reasons with rdmaez_diag_find().
 *
 * Functions with a buffer work like snprintf(). They write at most @p size bytes including the NUL, and return the
 * length of the whole text without the NUL. If that is @p size or more, the text was truncated. Texts for people have
 * lines of at most 100 columns, and the last line ends in a newline too.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_DIAG_H
#define RDMAEZ_DIAG_H

#include <stdio.h>

#ifndef RDMAEZ_STR_H
#include "str.h"
#endif
#ifndef RDMAEZ_WHY_H
#include "why.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief How to read the numbers of a finding. */
enum rdmaez_value {
	RDMAEZ_VALUE_NONE,      /**< no numbers */
	RDMAEZ_VALUE_NUMBER,    /**< `value` is a signed number, `min` to `max` are accepted */
	RDMAEZ_VALUE_ATTR_MASK, /**< `value` has the offending bits, `max` the whole mask */
	RDMAEZ_VALUE_ACCESS,    /**< the same for IBV_ACCESS bits */
	RDMAEZ_VALUE_FLAGS,     /**< the same for the bits of an option */
	RDMAEZ_VALUE_STATE, /**< `value` is the requested state; bit n of `max`: state n is accepted */
	RDMAEZ_VALUE_TYPE, /**< `value` is an enum ibv_qp_type */
	RDMAEZ_VALUE_MTU,  /**< `value` was given as an enum ibv_mtu, `min` to `max` are accepted */
	RDMAEZ_VALUE_INDEX,     /**< `value` is a GID index or P_Key index */
	RDMAEZ_VALUE_PKEY,      /**< `value` is a P_Key, in host byte order */
	RDMAEZ_VALUE_LIMIT,     /**< at most `max` is accepted; the value given is not known */
	RDMAEZ_VALUE_NS,        /**< `value` is one wait in ns, `min` to `max` the total */
	RDMAEZ_VALUE_BYTES,     /**< `value` bytes were given, `min` to `max` are accepted */
	RDMAEZ_VALUE_OPCODE,    /**< `value` is an enum ibv_wr_opcode */
	RDMAEZ_VALUE_STATE_NOW, /**< `value` is the current state; bit n of `max`: state n would do */
	RDMAEZ_VALUE_POSITION, /**< `value` is a position in a list, counted from 0 */
	RDMAEZ_VALUE_ADDRESS,  /**< `value` is an address */
	RDMAEZ_VALUE_COUNTED,  /**< `value` is how often something was counted */
	RDMAEZ_VALUE_CAPS, /**< `value` is needed, `max` offered; `min` is an enum rdmaez_caps_kind */
	RDMAEZ_VALUE_PORT_STATE, /**< `value` is an enum ibv_port_state, `max` the one that is needed */
	/** `value` bytes should be locked, `min` are locked already, at most `max` may be; `value` 0: not known */
	RDMAEZ_VALUE_LOCKED,
	RDMAEZ_VALUE_TYPES, /**< `value` and `max` are this end's and the peer's enum ibv_qp_type */
	RDMAEZ_VALUE_PKEYS, /**< the same of P_Keys, in host byte order */
	RDMAEZ_VALUE_ERRNO, /**< `value` is an errno value of the peer */
	/** `value` is the status of an event of librdmacm: a negative errno value, or a positive reason of the peer's
	 *  connection manager */
	RDMAEZ_VALUE_CM_EVENT,
	RDMAEZ_VALUE_CM_CALL, /**< a call of librdmacm; there is nothing to show */
	/** `value` was given and `min` to `max` are accepted, all in hexadecimal: a queue pair number or PSN of too
	 *  many bits, a Q_Key, a flow label, a multicast LID */
	RDMAEZ_VALUE_HEX,
	/** The finding is a suggestion: `value` is the index of another GID of the port, which is the record's
	 *  `suggested` if that has the same index */
	RDMAEZ_VALUE_GID_INDEX
};

/** @brief How certain a finding is, and how bad. A record keeps its findings in this order. */
enum rdmaez_severity {
	RDMAEZ_DIAG_ERROR,  /**< certain: the call was refused for this, or would be */
	RDMAEZ_DIAG_LIKELY, /**< may be refused, or a usual cause; the device gives no reason */
	RDMAEZ_DIAG_ADVICE  /**< accepted, but an expert would choose differently */
};

/** @brief The output format for the numbers of a finding. */
enum rdmaez_finding_form {
	RDMAEZ_FINDING_TEXT, /**< a sentence that begins with a space */
	RDMAEZ_FINDING_JSON  /**< members of an object, each with a comma before it */
};

/** @brief One thing that is wrong. */
struct rdmaez_finding {
	enum rdmaez_why reason;        /**< why */
	enum rdmaez_severity severity; /**< how sure, and how bad */
	enum rdmaez_value kind;        /**< how to read the numbers below */
	const char *field;             /**< the verbs name of the field, a literal; never NULL */
	uint64_t value;                /**< what was given */
	uint64_t min;                  /**< the least accepted */
	uint64_t max;                  /**< the greatest accepted */
	/** Writes the numbers as snprintf() does, if only the finder knows how; else NULL. */
	int (*format)(const struct rdmaez_finding *finding, enum rdmaez_finding_form form,
		      char *buf, size_t size);
};

/** @brief The number of findings a record keeps; any more are counted in `dropped`. */
#define RDMAEZ_DIAG_FINDINGS 12

/** @brief What a function found. See the head of this file. */
struct rdmaez_diag {
	int error;        /**< what the function returned: 0 or a positive errno value */
	const char *call; /**< the rdmaez function that wrote the record, a literal; NULL: none */
	/** The verb that failed, as a literal. If an option replaces the verb, that member's name. NULL: none. */
	const char *verb;
	char device[IBV_SYSFS_NAME_MAX]; /**< the device's name; "": none was involved */
	const char *driver;              /**< the driver, a literal; NULL: not recognised */
	uint32_t qp_num;                 /**< the queue pair's number; 0: none was involved */
	int qp_type;                     /**< its enum ibv_qp_type; 0: none */
	int from; /**< its enum ibv_qp_state before the call, or now if `to` is -1; -1: not known */
	int to;   /**< the requested enum ibv_qp_state; -1: no transition involved */
	struct ibv_gid_entry source; /**< the source GID, or its index alone; zero: none was read */
	/** Why rdmaez chose `source`, such as #RDMAEZ_WHY_GID_BY_ROUTE; NONE: it was named, or there is none. */
	enum rdmaez_why chosen;
	union ibv_gid destination; /**< the destination GID; zero: none */
	struct ibv_gid_entry
		suggested; /**< the GID to use in place of `source`; zero: none is suggested */
	char netdev[16];   /**< the name of the source's interface; "": not known */
	/** The status of the completion that is explained, a literal, "IBV_WC_RETRY_EXC_ERR" or "unknown"; NULL: none
	 *  is. */
	const char *status;
	int status_code;     /**< the number of that status */
	uint64_t wr_id;      /**< `ibv_wc.wr_id` of that completion */
	uint32_t vendor_err; /**< `ibv_wc.vendor_err` of that completion */
	/** The event that is explained, a literal, "IBV_EVENT_QP_FATAL"; NULL: none is. */
	const char *event;
	unsigned int count;                                  /**< the number of findings */
	unsigned int dropped;                                /**< how many more there were */
	struct rdmaez_finding finding[RDMAEZ_DIAG_FINDINGS]; /**< in order of severity */
};

/**
 * @brief Finds a reason in a record.
 * @param diag the record; may be NULL
 * @param reason what to look for
 * @return the first such finding, or NULL
 */
RDMAEZ_API const struct rdmaez_finding *rdmaez_diag_find(const struct rdmaez_diag *diag,
							 enum rdmaez_why reason);

/**
 * @brief Writes an explanation for people: what failed, then a paragraph per finding.
 *
 * The first line names the function, the verb if one failed, the errno value, and the completion or event, device,
 * queue pair, transition and path if there are any. Each finding names a field, what is wrong with it, the value given,
 * the values accepted, and the next step. Likely findings and advice are marked as such. Another GID index appears as a
 * suggestion: "Suggestion, ah_attr.grh.sgid_index: use GID index 3 (::ffff:192.0.2.1); this GID is of the peer's
 * family."
 *
 * If a finding says that the device, its driver or the library has refused without a reason or may be at fault, the
 * last line has the versions: of the kernel, of a driver that has one, of the firmware, and the release of rdma-core,
 * with the file of the device's provider. They are read now, from uname(2), sysfs and /proc/self/maps.
 *
 * @param diag what a function found; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 2048 is enough for most
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_diag_format(const struct rdmaez_diag *diag, char *buf, size_t size);

/**
 * @brief Prints what rdmaez_diag_format() writes.
 * @param diag what a function found; NULL counts as empty
 * @param stream where to print, such as stderr
 * @retval 0 printed
 * @retval EINVAL @p stream is NULL
 * @return any other errno value of fputs()
 */
RDMAEZ_COLD int rdmaez_diag_print(const struct rdmaez_diag *diag, FILE *stream);

/**
 * @brief Ends the program with the explanation on stderr, unless a call worked.
 *
 * It is for small programs and first versions: put each call that may fail into one of these. It calls
 * `exit(EXIT_FAILURE)`, and the kernel closes whatever is still open.
 *
 * The usual macro is `#define NEED(call) rdmaez_diag_need(call, &diag)`. A few functions take no record:
 * rdmaez_endpoint_pack(), for which rdmaez_endpoint_check() says why; rdmaez_dm_copy_to() and the other functions that
 * copy device memory; rdmaez_wc_imm(), rdmaez_credit_take() and rdmaez_mtu_from_bytes(), whose errno value says enough.
 * If one of them may be the first call, declare the record as `struct rdmaez_diag diag = {0}`. rdmaez recognises the
 * record of another call only by its errno value. After a failure that your program tolerates, set `diag.error` to 0
 * before such a call.
 * @param error what the call returned; 0: nothing is done
 * @param diag the call's record. Only the name of `error` is printed if the record is NULL, or holds another errno
 *         value and so is another call's
 */
RDMAEZ_FOLD void rdmaez_diag_need(int error, const struct rdmaez_diag *diag);

/**
 * @brief Writes an explanation as one line of key=value pairs, for logs.
 *
 * `call=rdmaez_qp_modify verb=ibv_modify_qp error=EINVAL device=rxe0 driver=rdma_rxe qp=17 type=RC from=INIT to=RTR
 * finding=error:MASK_MISSING:attr_mask:attr_mask:IBV_QP_AV|IBV_QP_PATH_MTU`
 *
 * There is one `finding` for each finding of the record. It has the severity, the reason id, the field and the kind
 * (enum rdmaez_value without its prefix, in lower case). If the kind has a value, that follows (masks, states, types
 * and opcodes by name), and after it the accepted values (`0..31`, `RESET|INIT`). Values contain no spaces. There is no
 * newline. The record of a completion has `status=IBV_WC_RETRY_EXC_ERR wr_id=0x2a vendor_err=0x81` before its findings,
 * and that of an event has `event=IBV_EVENT_QP_FATAL`. A status without a name is its number, `status=77`. If GIDs are
 * known, there is also `sgid=2001:db8::1 sgid_index=3 dgid=2001:db8::2 netdev=eth0.5 chosen=GID_BY_ROUTE`.
 *
 * @param diag what a function found; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 1024 is enough for most
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_diag_line(const struct rdmaez_diag *diag, char *buf, size_t size);

/**
 * @brief Writes an explanation as one JSON object, for programs.
 *
 * The keys are `call`, `error` (number), `errno` (symbol) and, if known, `verb`, `device`, `driver`, `qp_num`,
 * `qp_type`, and `from` and `to` or `state`. A completion has `status` (by name, or "unknown"), `status_code`, `wr_id`
 * (number) and `vendor_err`. An event has `event`. Then come `sgid`, `sgid_index`, `dgid`, `netdev` and `chosen` (the
 * reason for this GID index), then `dropped`, and then the array `findings` of objects with `severity` ("error",
 * "likely", "advice"), `reason`, `field`, `kind`, `what` and `next`.
 *
 * Depending on its kind, a finding also has `value`; `name` (a state, type, opcode, device or device node) or `names`
 * (the bits of a mask); `min` and `max` if they are bounds, or `accepted`, an array of states. A suggestion of a GID
 * index also has that GID, as `gid`. A need that a device does not meet has `asked` and `offered` instead. Where
 * rdmaez_diag_format() writes versions, there is an object `versions` with `kernel` and, if known, `driver`, `firmware`,
 * `rdma_core` (number) and `provider`. The JSON is valid for any record.
 *
 * @param diag what a function found; NULL gives `{}`
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 4096 is enough for most
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_diag_json(const struct rdmaez_diag *diag, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#include "impl/diag.h"

#endif
