/* SPDX-License-Identifier: MIT */
/**
 * @file credit.h
 * @brief Send credit: how many sends a queue pair may still take.
 *
 * A device gives the places of a send queue back by the completions that are polled, and only a signaled send has one,
 * which gives back all places before its own, also if it failed. So the sends of a queue pair are numbered: `wr_id` is
 * a send's position, from 0 on, and what belongs to it may stand at `wr_id % capacity` of an array. With a completion
 * queue for several queue pairs, `ibv_wc.qp_num` tells whose credit it is; for receives as well, give those a `wr_id`
 * with the top bit set, as `opcode` is not valid in a failed completion.
 *
 * @code
 * int post_when_there_is_room(struct ibv_qp *qp, struct rdmaez_credit *credit, struct ibv_send_wr *wr)
 * {
 *         struct ibv_wc wc;
 *
 *         while (rdmaez_credit_take(credit, wr))
 *                 if (ibv_poll_cq(qp->send_cq, 1, &wc) == 1)
 *                         rdmaez_credit_give(credit, wc.wr_id);
 *         const int error = rdmaez_wr_post_send(qp, wr, NULL, NULL);
 *         if (error)
 *                 credit->taken = wr->wr_id; // of a list: that of *bad_wr
 *         return error;
 * }
 * @endcode
 *
 * A flush completes every outstanding work request, signaled or not: create the completion queue for `capacity`
 * entries of each queue pair, and the receives.
 *
 * @par Threads
 * One thread at a time uses a credit.
 * @par Verbs calls
 * None.
 * @par Sources
 * ibv_post_send() and ibv_poll_cq().
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_CREDIT_H
#define RDMAEZ_CREDIT_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The sends of one queue pair, by their positions. rdmaez_credit_init() fills it. */
struct rdmaez_credit {
	uint64_t taken;    /**< the position of the next send */
	uint64_t given;    /**< sends before this position are done */
	uint32_t capacity; /**< `cap.max_send_wr` */
	uint32_t mask; /**< a send is signaled if no bit of this is set in the position behind it */
};

/**
 * @brief Fills a credit for an empty queue.
 * @param credit receives it; written on success only
 * @param capacity `cap.max_send_wr`, as granted when the queue pair was created
 * @param every one send in this many is signaled, rounded down to a power of two; 0: half of @p capacity. 1
 *        for drivers that take only signaled work requests (#RDMAEZ_DRIVER_SIGNALED)
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p credit is filled
 * @retval EINVAL @p capacity is 0 (#RDMAEZ_WHY_RANGE), or @p every is more: the queue would be full before a send is
 *         signaled (#RDMAEZ_WHY_CREDIT_EVERY)
 */
RDMAEZ_API int rdmaez_credit_init(struct rdmaez_credit *credit, uint32_t capacity, uint32_t every,
				  struct rdmaez_diag *diag);

/**
 * @brief Takes a place in the queue for a send, which is to be posted next.
 *
 * Set IBV_SEND_SIGNALED yourself for the last send before a pause: else the sends since the last signaled one stay
 * outstanding, and their buffers in use.
 *
 * @param credit the credit
 * @param wr the work request; receives its `wr_id`, and IBV_SEND_SIGNALED when that is due. One that is used again keeps
 *        the flag until the caller clears it
 * @retval 0 there is a place
 * @retval EAGAIN the queue is full: poll for completions
 */
RDMAEZ_INLINE int rdmaez_credit_take(struct rdmaez_credit *credit, struct ibv_send_wr *wr);

/**
 * @brief Gives back what a polled completion, successful or not, shows to be done.
 * @param credit the credit
 * @param wr_id the completion's; others than of an outstanding send have no effect
 * @return how many sends are done
 */
RDMAEZ_INLINE uint32_t rdmaez_credit_give(struct rdmaez_credit *credit, uint64_t wr_id);

#ifdef __cplusplus
}
#endif

#include "impl/credit.h"

#endif
