/* SPDX-License-Identifier: MIT */
/**
 * @file wr.h
 * @brief Post work requests, and explain why a post failed.
 *
 * ibv_post_send() returns ENOMEM or EINVAL for a full queue, too many SGEs, too much inline data, a queue
 * pair that cannot send yet and a dozen other causes, and drivers disagree on which. Posting here costs
 * what the verb costs and checks no argument; everything else happens after a failure.
 *
 * On failure, the first finding is the work request: #RDMAEZ_WHY_WR_BAD with its place in the list, or
 * #RDMAEZ_WHY_WR_BAD_UNKNOWN if the provider does not say. The causes follow. Certain ones are
 * #RDMAEZ_WHY_WR_STATE, #RDMAEZ_WHY_WR_SGE, #RDMAEZ_WHY_WR_NO_QUEUE, #RDMAEZ_WHY_NULL_ARGUMENT; likely ones
 * are #RDMAEZ_WHY_WR_QUEUE_FULL, #RDMAEZ_WHY_WR_QP_ERROR. If there is no other cause, it is what the errno
 * usually means: #RDMAEZ_WHY_NOT_SUPPORTED, #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE,
 * #RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED. If the queue pair cannot be
 * queried, there is only #RDMAEZ_WHY_QUERY_REFUSED.
 *
 * @par Verbs calls
 * The one that posts. If it fails and @p diag is not NULL, one ibv_query_qp(), which refreshes `qp->state`;
 * for a send at most one ibv_query_port() and one ibv_query_device() more.
 * @par Threads
 * As for the verb.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_WR_H
#define RDMAEZ_WR_H

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Posts sends, as ibv_post_send() does, and explains a failure.
 *
 * @param qp the queue pair, not NULL
 * @param wr the first work request of a list that ends with `next` NULL
 * @param bad_wr receives, on failure only, the first work request that was not posted; those before it
 *        were. Set to NULL if the provider does not say which. May be NULL
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 all are posted
 * @return any errno of ibv_post_send(), mostly ENOMEM and EINVAL, made positive; explained as at the head
 *         of this file, and with the certain causes #RDMAEZ_WHY_WR_OPCODE, #RDMAEZ_WHY_WR_INLINE,
 *         #RDMAEZ_WHY_WR_ATOMIC, #RDMAEZ_WHY_WR_UNSIGNALED and the likely ones
 *         #RDMAEZ_WHY_WR_INLINE_OPCODE, #RDMAEZ_WHY_WR_UD_LENGTH, #RDMAEZ_WHY_WR_AH_PD
 */
RDMAEZ_FOLD int rdmaez_wr_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
				    struct ibv_send_wr **bad_wr, struct rdmaez_diag *diag);

/**
 * @brief Posts receives, as ibv_post_recv() does, and explains a failure.
 *
 * @param qp the queue pair, not NULL
 * @param wr the first work request of a list that ends with `next` NULL
 * @param bad_wr as for rdmaez_wr_post_send()
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 all are posted
 * @return any errno of ibv_post_recv(), mostly ENOMEM and EINVAL, made positive; explained as at the head
 *         of this file, and with the certain cause #RDMAEZ_WHY_WR_SRQ
 */
RDMAEZ_FOLD int rdmaez_wr_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				    struct ibv_recv_wr **bad_wr, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#include "impl/wr.h"

#endif
