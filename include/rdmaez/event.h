/* SPDX-License-Identifier: MIT */
/**
 * @file event.h
 * @brief Asynchronous events: read them with a deadline, and learn what happened, why, and what to do.
 *
 * Events report what no completion reports: a queue pair has failed, a completion queue has overflowed, a shared
 * receive queue is running low, or a port or its addresses have changed. rdmaez_event_next() reads the next one.
 * rdmaez_event_explain() says what it means, and rdmaez_event_explain_qp() says why it came. rdmaez_event_format() in
 * fmt.h writes it as text. The events of completion queues are different: see cq.h.
 *
 * Events are looked up by number, so they are explained whatever version of verbs.h you have installed.
 *
 * @par Threads
 * May be called from any thread. Only one thread at a time may call rdmaez_event_next() for a device, unless
 * `context->async_fd` does not block.
 * @par Verbs calls
 * None, except as listed with each function.
 * @par Sources
 * ibv_get_async_event(); what the drivers of Linux 7.2 report.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_EVENT_H
#define RDMAEZ_EVENT_H

#ifndef RDMAEZ_WC_H
#include "wc.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Reads the next asynchronous event of a device, with a deadline, and acknowledges it at once.
 *
 * Because it is acknowledged, you can destroy the object that the event is about without waiting. Use `event->element`
 * only to compare, unless you know that the object still exists. The call does not change the flags of
 * `context->async_fd`. If it blocks, no other thread may read events. Otherwise this call may wait beyond its deadline
 * for an event that the other thread has taken.
 *
 * @param context the open device
 * @param timeout_ns how long to wait, in ns. 0: 10 s; #RDMAEZ_NS_NOW: not at all; #RDMAEZ_NS_FOREVER: forever
 * @param event receives the event; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p event is the event; rdmaez_event_explain() tells what it means
 * @retval EINVAL @p context or @p event is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @retval EAGAIN with #RDMAEZ_NS_NOW: there is none now. That is no failure, and the record has no finding
 * @retval ETIMEDOUT none came in the time that it waited (#RDMAEZ_WHY_EVENT_NONE)
 * @return any errno value of ibv_get_async_event() (#RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_get_async_event() and one ibv_ack_async_event().
 */
RDMAEZ_COLD int rdmaez_event_next(struct ibv_context *context, uint64_t timeout_ns,
				  struct ibv_async_event *event, struct rdmaez_diag *diag);

/**
 * @brief Explains an asynchronous event: what happened, the likely causes, what to do, and which member of `element`
 * you may read.
 *
 * If you read events with ibv_get_async_event(), pass each to ibv_ack_async_event() once you no longer need its
 * element. ibv_destroy_qp(), ibv_destroy_cq(), ibv_destroy_srq() and ibv_destroy_wq() wait until all events of their
 * object are acknowledged.
 *
 * @param event the event; only `event_type` is read. NULL counts as an unknown event
 * @return static data, never NULL; its code is -1 if the event is unknown
 */
RDMAEZ_COLD const struct rdmaez_advice *rdmaez_event_explain(const struct ibv_async_event *event);

/**
 * @brief Narrows down the causes of an asynchronous event by its queue pair.
 *
 * IBV_EVENT_QP_REQ_ERR and IBV_EVENT_QP_ACCESS_ERR tell the responder what its peer sees as IBV_WC_REM_INV_REQ_ERR and
 * IBV_WC_REM_ACCESS_ERR. The first things to look at are the peer's key, address and length, then the access flags and
 * depths of this queue pair. For every queue pair event, `diag->from` is the queue pair's current state, and
 * `diag->event` is the event. Events of other objects have no queue pair to query, and no findings.
 *
 * @param event the event, not acknowledged yet, so that its queue pair still exists
 * @param diag receives the findings; its `error` stays 0 if 0 is returned. May be NULL
 * @retval 0 @p diag holds the findings; also if the query fails with EOPNOTSUPP or EINVAL
 * @retval EINVAL @p event or its queue pair is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any other errno of ibv_query_qp(); @p diag still has the findings that do not depend on it, and after
 *         them #RDMAEZ_WHY_QUERY_REFUSED, likely
 * @par Verbs calls
 * For an event of a queue pair, one ibv_query_device() and, if the driver reports anything of it, one ibv_query_qp(),
 * which refreshes `qp->state`. Otherwise none.
 */
RDMAEZ_COLD int rdmaez_event_explain_qp(const struct ibv_async_event *event,
					struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/event.h"
#endif

#endif
