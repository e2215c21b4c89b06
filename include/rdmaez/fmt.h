/* SPDX-License-Identifier: MIT */
/**
 * @file fmt.h
 * @brief Explanations, completions and masks as text.
 *
 * Functions with a buffer work like snprintf(): they write at most @p size bytes including the NUL, and
 * return the length of the whole text without the NUL; if that is @p size or more, the text was truncated.
 *
 * Texts for people have lines of at most 100 columns, and the last line ends in a newline too.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_FMT_H
#define RDMAEZ_FMT_H

#include <stdio.h>

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_WC_H
#include "wc.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Writes an attribute mask as the names of its bits: "IBV_QP_STATE|IBV_QP_PORT".
 * @param attr_mask bits of `enum ibv_qp_attr_mask`; unknown ones are written as a hex number, none as 0
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_qp_attr_mask_format(int attr_mask, char *buf, size_t size);

/**
 * @brief Writes access flags by name: "IBV_ACCESS_LOCAL_WRITE|IBV_ACCESS_REMOTE_READ".
 * @param access bits of `enum ibv_access_flags`; unknown ones are written as a hex number, none as 0
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_access_format(unsigned int access, char *buf, size_t size);

/**
 * @brief Writes an explanation for people: what failed, then a paragraph per finding.
 *
 * The first line names the function, the verb if one failed, the errno value, and the completion or event,
 * device, queue pair, transition and path if there are any. Each finding names a field, what is wrong with it,
 * the value given, the values accepted, and the next step. Likely findings and advice are marked as such.
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
 * For small programs and first versions: each call that may fail stands in one of these. It ends by
 * `exit(EXIT_FAILURE)`, and leaves it to the kernel to close what is open.
 *
 * @param error what the call returned; 0: nothing is done
 * @param diag the call's record. NULL, or the record of another call, which holds another errno value: only
 *        the name of @p error is printed
 */
RDMAEZ_INLINE void rdmaez_diag_need(int error, const struct rdmaez_diag *diag);

/**
 * @brief Writes an explanation as one line of key=value pairs, for logs.
 *
 * `call=rdmaez_qp_modify verb=ibv_modify_qp error=EINVAL device=rxe0 driver=rdma_rxe qp=17 type=RC from=INIT
 * to=RTR finding=error:MASK_MISSING:attr_mask:attr_mask:IBV_QP_AV|IBV_QP_PATH_MTU`, with one `finding` for
 * each: severity, reason id, field, kind (enum rdmaez_value without its prefix, in lower case) and, if the
 * kind has them, the value (masks, states, types and opcodes by name) and the accepted values (`0..31`,
 * `RESET|INIT`). Values contain no spaces. There is no newline. The record of a completion has
 * `status=IBV_WC_RETRY_EXC_ERR wr_id=0x2a vendor_err=0x81` before its findings, that of an event
 * `event=IBV_EVENT_QP_FATAL`. A status without a name is its number, `status=77`. Where GIDs are known,
 * `sgid=2001:db8::1 sgid_index=3 dgid=2001:db8::2 netdev=eth0.5 chosen=GID_BY_ROUTE` stand there too.
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
 * Keys: `call`, `error` (number), `errno` (symbol) and, if known, `verb`, `device`, `driver`, `qp_num`,
 * `qp_type`, `from` and `to` or `state`, of a completion `status` (by name, or "unknown"), `status_code`,
 * `wr_id` (number) and `vendor_err`, of an event `event`, `sgid`, `sgid_index`, `dgid`, `netdev`, `chosen`
 * (the reason for this GID index); then `dropped` and the array `findings` of objects with `severity`
 * ("error", "likely", "advice"), `reason`, `field`, `kind`, `what` and `next`. Depending on its kind, a finding
 * also has `value`; `name` (a state, type, opcode, device or device node) or `names` (the bits of a mask); `min`
 * and `max` if they are bounds, or `accepted`, an array of states. A need that a device does not meet has `asked`
 * and `offered` instead. The JSON is valid for any record.
 *
 * @param diag what a function found; NULL gives `{}`
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 4096 is enough for most
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_diag_json(const struct rdmaez_diag *diag, char *buf, size_t size);

/**
 * @brief Explains a completion for people: its status, what happened, the likely causes, what to do.
 *
 * The first line has the status by name and number, the queue pair, the `wr_id` and, after a failure,
 * `vendor_err`. As a line for logs or as JSON, a completion is written by its record: rdmaez_wc_explain_qp(),
 * then rdmaez_diag_line() or rdmaez_diag_json().
 *
 * @param wc the completion; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 1024 is enough
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_wc_format(const struct ibv_wc *wc, char *buf, size_t size);

/**
 * @brief Explains an asynchronous event for people: what happened to which object, the likely causes,
 *        what to do.
 *
 * The first line has the event by name and number, and the object; the last one says to acknowledge it.
 *
 * @param event the event, not acknowledged yet, so that its object still exists; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 1024 is enough
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_event_format(const struct ibv_async_event *event, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#include "impl/fmt.h"

#endif
