/* SPDX-License-Identifier: MIT */
/**
 * @file diag.h
 * @brief The explanation record: what was refused, which field, why, and what to do.
 *
 * A `struct rdmaez_diag` usually lives on the caller's stack. It holds only numbers and pointers to literals and
 * functions, so it may be copied and kept. Every function that takes one accepts NULL for "do not explain", and
 * rewrites the whole record on success and on failure. The functions that post work requests (wr.h) and
 * rdmaez_wc_poll() leave it alone on success, and those that take no record leave it as it was: where several functions
 * share one, its `call` tells whose it is. Print it with rdmaez_diag_print() or rdmaez_diag_format() (fmt.h); in code,
 * test for reasons with rdmaez_diag_find().
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_DIAG_H
#define RDMAEZ_DIAG_H

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
	/** `value` bytes were to be locked, `min` are locked already, at most `max` may be; `value` 0: not known */
	RDMAEZ_VALUE_LOCKED,
	RDMAEZ_VALUE_TYPES, /**< `value` and `max` are this end's and the peer's enum ibv_qp_type */
	RDMAEZ_VALUE_PKEYS, /**< the same of P_Keys, in host byte order */
	RDMAEZ_VALUE_ERRNO  /**< `value` is an errno value of the peer */
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
	/** Writes the numbers as snprintf() does, where only the finder knows how; else NULL. */
	int (*format)(const struct rdmaez_finding *finding, enum rdmaez_finding_form form,
		      char *buf, size_t size);
};

/** @brief The number of findings a record keeps; any more are counted in `dropped`. */
#define RDMAEZ_DIAG_FINDINGS 12

/** @brief What a function found. See the head of this file. */
struct rdmaez_diag {
	int error;        /**< what the function returned: 0 or a positive errno value */
	const char *call; /**< the rdmaez function that wrote the record, a literal; NULL: none */
	/** The verb that failed, or the member of the options called in its place; a literal. NULL: none. */
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
	char netdev[16];           /**< the name of the source's interface; "": not known */
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

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/diag.h"
#endif

#endif
