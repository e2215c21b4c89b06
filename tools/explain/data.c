/* SPDX-License-Identifier: MIT */
/*
 * Posting and polling by the context's table.
 *
 * While all is well a wrapper costs the call of the original and one comparison, of the result or of each completion's
 * status: no lock, no atomic, nothing thread-local. So there is no replay here; the headers are given what the verb
 * has returned.
 */
#include "data.h"
#include "verbs.h"
#include "watch.h"

/*
 * The originals lie in entries of the same table that rdma-core fills in for programs of 2006 and never reads, beside
 * those that they stand for. So they are found without a search, and without a lock.
 */
#define SLOT_poll_cq       _compat_create_cq
#define SLOT_req_notify_cq _compat_resize_cq
#define SLOT_post_send     _compat_create_qp
#define SLOT_post_recv     _compat_modify_qp
#define SLOT_post_srq_recv _compat_create_srq
#define SLOT_bind_mw       _compat_destroy_cq
#define ORIGINAL(context, operation) \
	((__typeof__((context)->ops.operation))(void (*)(void))(context)->ops.SLOT_##operation)

/* ---- Completions --------------------------------------------------------------------------------- */

/* Whether this completion is the first to tell of its queue pair's failure. */
static bool completion_tells(const struct ibv_context *context, const struct ibv_wc *wc)
{
	const bool flushed = wc->status == IBV_WC_WR_FLUSH_ERR;
	const unsigned int mark = flushed ? EXPLAIN_QP_FLUSHED : EXPLAIN_QP_FAILED;
	unsigned int before;

	if (wc->status == IBV_WC_SUCCESS || wc->status == IBV_WC_TM_RNDV_INCOMPLETE)
		return false;
	before = explain_qp_mark(context, wc->qp_num, mark);
	/* On iWARP an orderly end flushes, too, and may be polled before librdmacm tells of it. */
	if (flushed && context->device->transport_type == IBV_TRANSPORT_IWARP)
		before |= EXPLAIN_QP_EXCUSED;
	/* Whatever is known of a queue pair is reason enough for a flush. */
	if (!(flushed ? before : before & mark)) {
		explain_qp_failed(context, wc->qp_num);
		return true;
	}
	if (explain_process)
		atomic_fetch_add(flushed ? &explain_process->flushes : &explain_process->later, 1);
	return false;
}

/* A completion whose queue pair is not known, such as one that was destroyed: by its status alone. */
static void explain_alone(struct explain_call *call, const struct ibv_context *context,
			  const struct ibv_wc *wc)
{
	const struct rdmaez_advice *advice = rdmaez_wc_explain(wc);
	const char *name = advice->code < 0 ? "unknown status" : advice->name;
	char title[96], of[24] = "a completion", what[512];
	struct explain_text text = {
		.title = title, .label = name, .device = context->device->name, .count = 1};

	if (wc->qp_num)
		snprintf(of, sizeof(of), "QP %u", wc->qp_num);
	snprintf(title, sizeof(title), "%s of %s, wr_id 0x%llx, vendor_err 0x%x", name, of,
		 (unsigned long long)wc->wr_id, wc->vendor_err);
	snprintf(what, sizeof(what), "%s%s%s", advice->what,
		 advice->cause[0] ? "; most likely " : "",
		 advice->cause[0] ? advice->cause[0] : "");
	text.finding[0] = (struct explain_finding){.severity = RDMAEZ_DIAG_ERROR,
						   .reason = name,
						   .field = "status",
						   .what = what,
						   .next = advice->fix};
	explain_say(call, &text);
}

/*
 * Which of the two queues it is of shows where they have completion queues of their own, or where no receive was posted;
 * and what was posted there, if that was kept. What neither can be is then no cause.
 */
static void explain_of_queue(const struct ibv_cq *cq, const struct ibv_wc *wc, struct ibv_qp *qp,
			     struct rdmaez_diag *diag)
{
	const bool is_send = cq == qp->send_cq;
	const bool is_recv = cq == qp->recv_cq && !(is_send && explain_watch_no_recv(qp));
	const int opcode = is_send ? explain_watch_opcode(qp, wc->wr_id) : -1;
	struct ibv_send_wr wr;

	memset(&wr, 0, sizeof(wr));
	wr.opcode = (enum ibv_wr_opcode)opcode;
	if (is_send && !is_recv)
		rdmaez_wc_explain_send(wc, qp, opcode >= 0 ? &wr : NULL, diag);
	else if (is_recv && !is_send)
		rdmaez_wc_explain_recv(wc, qp, NULL, diag);
	else
		rdmaez_wc_explain_qp(wc, qp, diag);
}

static void explain_completion(const struct ibv_cq *cq, const struct ibv_wc *wc, const void *caller)
{
	struct ibv_context *const context = cq->context;
	struct explain_call call = {
		.verb = "ibv_poll_cq", .caller = caller, .kind = EXPLAIN_COMPLETION};
	struct ibv_qp *qp;

	if (!explain_begin(&call))
		return;
	qp = explain_qp_hold(context, wc->qp_num);
	if (qp) {
		const enum ibv_qp_state state = qp->state;

		explain_of_queue(cq, wc, qp, call.diag);
		explain_keep_state(qp, state);
		explain_qp_release(qp);
		explain_end(&call);
	} else {
		explain_alone(&call, context, wc);
	}
}

void explain_completions(struct ibv_cq *cq, const struct ibv_wc *wc, int count, const void *caller)
{
	for (int i = 0; i < count; i++)
		if (completion_tells(cq->context, &wc[i]))
			explain_completion(cq, &wc[i], caller);
}

__attribute__((__cold__)) void explain_cq_refused(struct explain_call call, const struct ibv_cq *cq,
						  int error)
{
	explain_enter();
	if (explain_leave(&call, error))
		explain_refused(&call, cq->context);
}

__attribute__((__noinline__, __cold__)) static void poll_refused(const struct ibv_cq *cq,
								 const void *caller)
{
	const struct explain_call call = {
		.verb = "ibv_poll_cq", .caller = caller, .kind = EXPLAIN_REFUSAL};

	explain_cq_refused(call, cq, EIO);
}

/*
 * What is done after each operation, for those that stand in the table with --waiting and those that do so without. They
 * are inlined, because the caller is that of the operation.
 */
#define AFTER __attribute__((__always_inline__)) static inline int

AFTER polled(struct ibv_cq *cq, struct ibv_wc *wc, int got)
{
	for (int i = 0; i < got; i++) {
		if (EXPLAIN_RARE(wc[i].status != IBV_WC_SUCCESS)) {
			explain_completions(cq, wc + i, got - i, __builtin_return_address(0));
			return got;
		}
	}
	if (EXPLAIN_RARE(got < 0))
		poll_refused(cq, __builtin_return_address(0));
	return got;
}

AFTER notified(struct ibv_cq *cq, int result)
{
	if (EXPLAIN_RARE(result)) {
		const struct explain_call call = EXPLAIN_CALL(ibv_req_notify_cq, EXPLAIN_REFUSAL);

		explain_cq_refused(call, cq, result);
	}
	return result;
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	return polled(cq, wc, ORIGINAL(cq->context, poll_cq)(cq, count, wc));
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return notified(cq, ORIGINAL(cq->context, req_notify_cq)(cq, solicited_only));
}

/* ---- Posting ------------------------------------------------------------------------------------- */

void explain_rename(struct rdmaez_diag *diag, const char *verb)
{
	diag->verb = verb;
	for (unsigned int i = 0; i < diag->count; i++)
		if (strcmp(diag->finding[i].field, "ibv_post_send") == 0)
			diag->finding[i].field = verb;
}

/* The program's `bad_wr` is only compared with the requests of the list. The headers refresh the queue pair's state. */
__attribute__((__noinline__, __cold__)) static void
explain_send(struct ibv_qp *qp, const struct ibv_send_wr *wr, const void *bad, int result,
	     const char *verb, const void *caller)
{
	struct explain_call call = {.verb = verb, .caller = caller, .kind = EXPLAIN_REFUSAL};
	const enum ibv_qp_state state = qp->state;

	if (!explain_begin(&call))
		return;
	rdmaez_impl_wr_send_failed(qp, wr, bad, result, call.diag);
	explain_rename(call.diag, call.verb);
	explain_keep_state(qp, state);
	call.opener = explain_opener(qp->context);
	explain_end(&call);
}

__attribute__((__noinline__, __cold__)) static void
explain_recv(struct ibv_qp *qp, const struct ibv_recv_wr *wr, const void *bad, int result,
	     const char *verb, const void *caller)
{
	struct explain_call call = {.verb = verb, .caller = caller, .kind = EXPLAIN_REFUSAL};
	const enum ibv_qp_state state = qp->state;

	if (!explain_begin(&call))
		return;
	rdmaez_impl_wr_recv_failed(qp, wr, bad, result, call.diag);
	explain_keep_state(qp, state);
	call.opener = explain_opener(qp->context);
	explain_end(&call);
}

__attribute__((__noinline__, __cold__)) static void
explain_srq_recv(struct ibv_srq *srq, const struct ibv_recv_wr *wr, const void *bad, int result,
		 const char *verb, const void *caller)
{
	struct explain_call call = {.verb = verb, .caller = caller, .kind = EXPLAIN_REFUSAL};

	if (!explain_begin(&call))
		return;
	rdmaez_impl_wr_srq_failed(srq, wr, bad, result, call.diag);
	call.opener = explain_opener(srq->context);
	explain_end(&call);
}

AFTER sent(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad, int result)
{
	if (EXPLAIN_RARE(result))
		explain_send(qp, wr, bad ? *bad : NULL, result, "ibv_post_send",
			     __builtin_return_address(0));
	return result;
}

AFTER received(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad, int result)
{
	if (EXPLAIN_RARE(result))
		explain_recv(qp, wr, bad ? *bad : NULL, result, "ibv_post_recv",
			     __builtin_return_address(0));
	return result;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return sent(qp, wr, bad, ORIGINAL(qp->context, post_send)(qp, wr, bad));
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return received(qp, wr, bad, ORIGINAL(qp->context, post_recv)(qp, wr, bad));
}

AFTER shared(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad, int result)
{
	if (EXPLAIN_RARE(result))
		explain_srq_recv(srq, wr, bad ? *bad : NULL, result, "ibv_post_srq_recv",
				 __builtin_return_address(0));
	return result;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return shared(srq, wr, bad, ORIGINAL(srq->context, post_srq_recv)(srq, wr, bad));
}

/* What providers make of it is a request of the send queue. */
static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	const int result = ORIGINAL(qp->context, bind_mw)(qp, mw, bind);

	if (EXPLAIN_RARE(result)) {
		const struct ibv_send_wr wr = {.wr_id = bind->wr_id,
					       .opcode = IBV_WR_BIND_MW,
					       .send_flags = bind->send_flags};

		explain_send(qp, &wr, NULL, result, "ibv_bind_mw", __builtin_return_address(0));
	}
	return result;
}

/* ---- The same, kept ---------------------------------------------------------------------------------- */

/* With --waiting or --json these stand in the tables, so that the others need not ask whether it is there. */
static int watched_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	const int got = ORIGINAL(cq->context, poll_cq)(cq, count, wc);

	explain_watch_polled(cq, wc, count, got);
	return polled(cq, wc, got);
}

static int watched_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	/* Before, since its event may be taken by another thread at once. */
	explain_watch_armed(cq);
	return notified(cq, ORIGINAL(cq->context, req_notify_cq)(cq, solicited_only));
}

static int watched_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct explain_process *const process =
		explain_watch_posts(EXPLAIN_POSTS_SEND | qp->qp_num);
	int result;

	result = ORIGINAL(qp->context, post_send)(qp, wr, bad);
	explain_watch_posted(process);
	explain_watch_sent(qp, wr, result ? bad ? *bad : wr : NULL);
	return sent(qp, wr, bad, result);
}

static int watched_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct explain_process *const process =
		explain_watch_posts(EXPLAIN_POSTS_RECV | qp->qp_num);
	int result;

	result = ORIGINAL(qp->context, post_recv)(qp, wr, bad);
	explain_watch_posted(process);
	explain_watch_received(qp, wr, result ? bad ? *bad : wr : NULL);
	return received(qp, wr, bad, result);
}

static int watched_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
				 struct ibv_recv_wr **bad)
{
	const int result = ORIGINAL(srq->context, post_srq_recv)(srq, wr, bad);

	explain_watch_shared(srq, wr, result ? bad ? *bad : wr : NULL);
	return shared(srq, wr, bad, result);
}

static int watched_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	const struct ibv_send_wr wr = {
		.wr_id = bind->wr_id, .opcode = IBV_WR_BIND_MW, .send_flags = bind->send_flags};
	const int result = ORIGINAL(qp->context, bind_mw)(qp, mw, bind);

	if (EXPLAIN_RARE(result))
		explain_send(qp, &wr, NULL, result, "ibv_bind_mw", __builtin_return_address(0));
	else
		explain_watch_sent(qp, &wr, NULL);
	return result;
}

/* ---- The table ------------------------------------------------------------------------------------- */

/* Another thread may be in these functions by the time it finds them in the table: the original comes first. */
#define WRAP(operation)                                                                            \
	context->ops.SLOT_##operation =                                                            \
		(__typeof__(context->ops.SLOT_##operation))(void (*)(void))context->ops.operation; \
	__atomic_store_n(&context->ops.operation,                                                  \
			 explain_watching ? watched_##operation : operation, __ATOMIC_RELEASE);

void explain_wrap_data(struct ibv_context *context)
{
	if (context->ops.poll_cq == poll_cq || context->ops.poll_cq == watched_poll_cq)
		return;
	EXPLAIN_DATA(WRAP)
}
