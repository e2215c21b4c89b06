/* SPDX-License-Identifier: MIT */
/**
 * @file credit.h
 * @brief Send credit: how many sends a queue pair may still take.
 *
 * A send queue gets its places back only through completions that you poll. Only a signaled send has a completion. It
 * gives back its own place and all places before it, even if the send failed. rdmaez therefore numbers the sends of a
 * queue pair: `wr_id` is a send's position, counted from 0. You can keep what belongs to a send in an array of your
 * own, at `wr_id % capacity`. If several queue pairs share a completion queue, `ibv_wc.qp_num` tells whose credit it
 * is. If it also takes receives, give those a `wr_id` with the top bit set, because `opcode` is not valid in a failed
 * completion.
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
 * A flush completes every outstanding work request, signaled or not. Create the completion queue with room for
 * `capacity` entries of each queue pair, and for the receives.
 *
 * @par Threads
 * Only one thread at a time may use a credit.
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
 * @param every one send in this many is signaled, rounded down to a power of two; 0: half of @p capacity. 1 for drivers
 *         that take only signaled work requests (#RDMAEZ_DRIVER_SIGNALED)
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p credit is filled
 * @retval EINVAL @p capacity is 0 (#RDMAEZ_WHY_RANGE), or @p every is more than @p capacity, so that the queue would be
 *         full before a send is signaled (#RDMAEZ_WHY_CREDIT_EVERY)
 */
RDMAEZ_API int rdmaez_credit_init(struct rdmaez_credit *credit, uint32_t capacity, uint32_t every,
				  struct rdmaez_diag *diag);

/**
 * @brief Takes a place in the queue for a send. Post that send next.
 *
 * Before a pause, set IBV_SEND_SIGNALED yourself on the last send. Otherwise the sends since the last signaled one stay
 * outstanding, and their buffers stay in use.
 *
 * @param credit the credit
 * @param wr the work request; receives its `wr_id`, and IBV_SEND_SIGNALED when that is due. If you use it again, it
 *         keeps the flag until you clear it
 * @retval 0 there is a place
 * @retval EAGAIN the queue is full: poll for completions
 */
RDMAEZ_INLINE int rdmaez_credit_take(struct rdmaez_credit *credit, struct ibv_send_wr *wr);

/**
 * @brief Gives back the places of all sends that a completion shows to be done, whether or not it succeeded.
 * @param credit the credit
 * @param wr_id the completion's; a value that belongs to no outstanding send has no effect
 * @return how many sends are done
 */
RDMAEZ_INLINE uint32_t rdmaez_credit_give(struct rdmaez_credit *credit, uint64_t wr_id);

#ifdef __cplusplus
}
#endif

#include "impl/credit.h"

#endif
