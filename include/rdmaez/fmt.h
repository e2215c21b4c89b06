/* SPDX-License-Identifier: MIT */
/**
 * @file fmt.h
 * @brief Write completions, events and masks as text.
 *
 * Functions with a buffer work like snprintf(). They write at most @p size bytes including the NUL, and return the
 * length of the whole text without the NUL. If that is @p size or more, the text was truncated.
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
 * @brief Explains a completion for people: its status, what happened, the likely causes, what to do.
 *
 * The first line has the status by name and number, the queue pair, the `wr_id` and, after a failure, `vendor_err`. To
 * write a completion as a line for logs or as JSON, use its record: call rdmaez_wc_explain_qp(), then
 * rdmaez_diag_line() or rdmaez_diag_json().
 *
 * @param wc the completion; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 1024 is enough
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_wc_format(const struct ibv_wc *wc, char *buf, size_t size);

/**
 * @brief Explains an asynchronous event for people: what happened to which object, the likely causes, what to do.
 *
 * The first line has the event by name and number, and the object. The last one says to acknowledge the event.
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
