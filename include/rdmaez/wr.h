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
 * #RDMAEZ_WHY_WR_BAD_UNKNOWN if the provider does not say which of several it is. The causes follow.
 * #RDMAEZ_WHY_NULL_ARGUMENT and #RDMAEZ_WHY_WR_NO_QUEUE are certain. #RDMAEZ_WHY_WR_STATE,
 * #RDMAEZ_WHY_WR_SGE, #RDMAEZ_WHY_WR_INLINE, #RDMAEZ_WHY_WR_OPCODE and #RDMAEZ_WHY_WR_ATOMIC are certain with the
 * providers that look at it before they take a work request, as of rdma-core 65, and likely with others, which
 * may accept the mistake and complete it with an error. #RDMAEZ_WHY_WR_QUEUE_FULL and #RDMAEZ_WHY_WR_QP_ERROR are
 * likely. If there is no cause, it is what the errno usually means: #RDMAEZ_WHY_NOT_SUPPORTED,
 * #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_TIMED_OUT,
 * #RDMAEZ_WHY_UNEXPLAINED. #RDMAEZ_WHY_QUERY_REFUSED says that the limits and the state are not known.
 *
 * @par Verbs calls
 * The one that posts. If it fails and @p diag is not NULL, ibv_query_device() and ibv_query_qp(), which refreshes
 * `qp->state`, or ibv_query_srq(); ibv_query_qp() again for less where that is refused; for a UD send
 * ibv_query_port().
 * @par Threads
 * As for the verb.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_WR_H
#define RDMAEZ_WR_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

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
 *         of this file, and with the likely causes #RDMAEZ_WHY_WR_UNSIGNALED, #RDMAEZ_WHY_WR_INLINE_OPCODE,
 *         #RDMAEZ_WHY_WR_UD_LENGTH, #RDMAEZ_WHY_WR_AH_PD
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

/**
 * @brief Posts receives to a shared receive queue, as ibv_post_srq_recv() does, and explains a failure.
 *
 * @param srq the shared receive queue, not NULL
 * @param wr the first work request of a list that ends with `next` NULL
 * @param bad_wr as for rdmaez_wr_post_send()
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 all are posted
 * @retval ENOMEM mostly the queue is full (#RDMAEZ_WHY_WR_QUEUE_FULL); of mlx4 and mthca, which return -1, any
 *         failure
 * @return any other errno of ibv_post_srq_recv(), made positive; explained as at the head of this file
 */
RDMAEZ_FOLD int rdmaez_wr_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
					struct ibv_recv_wr **bad_wr, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#include "impl/wr.h"

#endif
