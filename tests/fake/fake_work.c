/* SPDX-License-Identifier: MIT */
/* Work requests in their queues: what is posted, succeeds, or is flushed. */
#include "fake_internal.h"

static struct fake_qp *to_qp(const struct ibv_qp *qp)
{
	return (struct fake_qp *)((uintptr_t)qp - offsetof(struct fake_qp, verbs));
}

static void complete(const struct fake_qp *qp, bool is_send, uint64_t wr_id,
		     enum ibv_wc_status status)
{
	struct ibv_cq *cq = is_send ? qp->verbs.send_cq : qp->verbs.recv_cq;
	struct ibv_wc wc;

	memset(&wc, 0, sizeof(wc));
	wc.wr_id = wr_id;
	wc.status = status;
	wc.qp_num = qp->verbs.qp_num;
	if (cq)
		fake_cq_push(cq, &wc); /* one that is full loses it, as rxe_cq_post() does */
}

static void flush(struct fake_qp *qp, bool is_send)
{
	struct fake_queue *queue = is_send ? &qp->sends : &qp->receives;

	for (uint32_t i = 0; i < queue->count; i++)
		complete(qp, is_send, queue->work[i].wr_id, IBV_WC_WR_FLUSH_ERR);
	queue->count = 0;
}

/* Of queue pairs with an SRQ: all that they have taken from it is done. */
static void tell_last(struct fake_qp *qp)
{
	struct ibv_async_event event;

	if (!qp->verbs.srq || !fake_dev(qp->verbs.context)->habits.last_wqe)
		return;
	memset(&event, 0, sizeof(event));
	event.event_type = IBV_EVENT_QP_LAST_WQE_REACHED;
	event.element.qp = &qp->verbs;
	fake_event(qp->verbs.context, &event);
}

void fake_work_entered(struct fake_qp *qp, enum ibv_qp_state from)
{
	const struct fake_habits *habits = &fake_dev(qp->verbs.context)->habits;
	const enum ibv_qp_state to = qp->attr.qp_state;
	const bool again = from == to;

	if (to == IBV_QPS_RTS)
		qp->was_rts = true;
	if (again && habits->sqd_again && to == IBV_QPS_SQD && !qp->draining)
		qp->draining = 1;
	qp->attr.sq_draining = to == IBV_QPS_SQD && (qp->draining || habits->sqd_says_draining);
	if (to == IBV_QPS_SQD && qp->draining == -2) {
		qp->attr.qp_state = qp->attr.cur_qp_state = IBV_QPS_ERR;
		fake_work_entered(qp, to);
		return;
	}
	if (!habits->flushes || (to != IBV_QPS_ERR && to != IBV_QPS_SQE))
		return;
	if (!again || habits->late_send == FAKE_LATE_BY_MODIFY ||
	    habits->late_send == FAKE_LATE_BY_LIBRARY)
		flush(qp, true);
	if (to == IBV_QPS_SQE)
		return;
	if (!again || habits->late_recv == FAKE_LATE_BY_MODIFY ||
	    habits->late_recv == FAKE_LATE_BY_LIBRARY)
		flush(qp, false);
	if (!again)
		tell_last(qp);
}

static void add(struct fake_queue *queue, uint64_t wr_id, bool is_signaled)
{
	if (queue->count == queue->room) {
		queue->room = 2 * queue->room + 16;
		queue->work = (struct fake_work *)realloc(queue->work,
							  queue->room * sizeof(*queue->work));
		if (!queue->work)
			abort();
	}
	queue->work[queue->count].wr_id = wr_id;
	queue->work[queue->count++].is_signaled = is_signaled;
}

void fake_work_posted(struct fake_qp *qp, bool is_send, uint64_t wr_id, bool is_signaled)
{
	const struct fake_device *dev = fake_dev(qp->verbs.context);
	const bool library = qp->verbs.state == IBV_QPS_ERR;
	struct fake_queue *queue = is_send ? &qp->sends : &qp->receives;
	const bool was_empty = !queue->count;
	const enum fake_late late = is_send ? dev->habits.late_send : dev->habits.late_recv;
	const bool in_err = qp->attr.qp_state == IBV_QPS_ERR;

	if (in_err && dev->quirks & FAKE_FLUSH_ON_POST) {
		complete(qp, is_send, wr_id, IBV_WC_WR_FLUSH_ERR);
		return;
	}
	add(queue, wr_id, is_signaled);
	if (in_err && (late == FAKE_LATE_AT_ONCE || (late == FAKE_LATE_BY_LIBRARY && library) ||
		       (late == FAKE_LATE_REFLUSH && library && was_empty)))
		flush(qp, is_send);
}

void fake_work_forget(struct fake_qp *qp)
{
	qp->sends.count = qp->receives.count = 0;
}

void fake_qp_work_done(struct ibv_qp *qp)
{
	fake_work_forget(to_qp(qp));
}

void fake_qp_sends_succeed(struct ibv_qp *qp, uint32_t count)
{
	struct fake_queue *queue = &to_qp(qp)->sends;

	if (count > queue->count)
		abort();
	for (uint32_t i = 0; i < count; i++)
		if (queue->work[i].is_signaled)
			complete(to_qp(qp), true, queue->work[i].wr_id, IBV_WC_SUCCESS);
	queue->count -= count;
	memmove(queue->work, queue->work + count, queue->count * sizeof(*queue->work));
}

uint32_t fake_qp_posted(const struct ibv_qp *qp)
{
	return to_qp(qp)->sends.count + to_qp(qp)->receives.count;
}

void fake_qp_drains(struct ibv_qp *qp, int queries)
{
	to_qp(qp)->draining = queries;
}
