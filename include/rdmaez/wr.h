/* SPDX-License-Identifier: MIT */
/**
 * @file wr.h
 * @brief Post work requests, and say why not.
 *
 * ibv_post_send() answers ENOMEM or EINVAL for a full queue, too many SGEs, too much inline data, a queue
 * pair that cannot send yet and a dozen more, and each driver in its own way. Here posting costs what the
 * verb costs; all the rest happens after a failure.
 */
#ifndef RDMAEZ_WR_H
#define RDMAEZ_WR_H

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief ibv_post_send(), and an explanation where it fails.
 *
 * Costs what ibv_post_send() costs when it works, and so neither checks its arguments nor touches
 * @p bad_wr and @p diag then. What may be wrong with a work request, with the queue and with the state
 * is looked into after a failure only.
 *
 * @param qp the queue pair, not NULL
 * @param wr the first work request of a list that ends with `next` NULL
 * @param bad_wr receives, on failure only, the first work request that was not posted; those before it
 *        are. NULL there: the provider does not say which. May be NULL
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 all are posted
 * @return any errno of ibv_post_send(), ENOMEM and EINVAL most of all, positive also where a provider
 *         returns it negative; with #RDMAEZ_WHY_WR_BAD, which holds the place in the list, or
 *         #RDMAEZ_WHY_WR_BAD_UNKNOWN, and with what is wrong: #RDMAEZ_WHY_WR_STATE, #RDMAEZ_WHY_WR_OPCODE,
 *         #RDMAEZ_WHY_WR_SGE, #RDMAEZ_WHY_WR_INLINE, #RDMAEZ_WHY_WR_ATOMIC, #RDMAEZ_WHY_WR_UNSIGNALED,
 *         #RDMAEZ_WHY_WR_NO_QUEUE, #RDMAEZ_WHY_NULL_ARGUMENT; or likely #RDMAEZ_WHY_WR_QUEUE_FULL,
 *         #RDMAEZ_WHY_WR_QP_ERROR, #RDMAEZ_WHY_WR_INLINE_OPCODE, #RDMAEZ_WHY_WR_UD_LENGTH, #RDMAEZ_WHY_WR_AH_PD; or
 *         what the errno usually means: #RDMAEZ_WHY_NOT_SUPPORTED, #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_UNEXPLAINED; #RDMAEZ_WHY_QUERY_REFUSED where ibv_query_qp() fails
 * @par Verbs calls
 * One ibv_post_send(). When that fails and there is a record to fill, one ibv_query_qp(), which
 * refreshes `qp->state`, and at most one ibv_query_port() and one ibv_query_device().
 * @par Threads
 * As ibv_post_send().
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_FOLD int rdmaez_wr_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
				    struct ibv_send_wr **bad_wr, struct rdmaez_diag *diag);

/**
 * @brief ibv_post_recv(), and an explanation where it fails.
 *
 * As rdmaez_wr_post_send(): it costs what the verb costs when it works.
 *
 * @param qp the queue pair, not NULL
 * @param wr the first work request of a list that ends with `next` NULL
 * @param bad_wr receives, on failure only, the first work request that was not posted; those before it
 *        are. NULL there: the provider does not say which. May be NULL
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 all are posted
 * @return any errno of ibv_post_recv(), ENOMEM and EINVAL most of all, positive also where a provider
 *         returns it negative; with #RDMAEZ_WHY_WR_BAD, which holds the place in the list, or
 *         #RDMAEZ_WHY_WR_BAD_UNKNOWN, and with what is wrong: #RDMAEZ_WHY_WR_SRQ, #RDMAEZ_WHY_WR_STATE,
 *         #RDMAEZ_WHY_WR_SGE, #RDMAEZ_WHY_WR_NO_QUEUE, #RDMAEZ_WHY_NULL_ARGUMENT; or likely
 *         #RDMAEZ_WHY_WR_QUEUE_FULL, #RDMAEZ_WHY_WR_QP_ERROR; or what the errno usually means, as
 *         rdmaez_wr_post_send()
 * @par Verbs calls
 * One ibv_post_recv(). When that fails and there is a record to fill, one ibv_query_qp(), which
 * refreshes `qp->state`.
 * @par Threads
 * As ibv_post_recv().
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_FOLD int rdmaez_wr_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				    struct ibv_recv_wr **bad_wr, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#include "impl/wr.h"

#endif
