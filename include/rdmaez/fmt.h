/* SPDX-License-Identifier: MIT */
/**
 * @file fmt.h
 * @brief Everything that writes text: explanations, completions, masks.
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

#ifdef __cplusplus
}
#endif

#include "impl/fmt.h"

#endif
