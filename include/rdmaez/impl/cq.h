/* SPDX-License-Identifier: MIT */
/* Implements cq.h. */
#ifndef RDMAEZ_IMPL_CQ_H
#define RDMAEZ_IMPL_CQ_H

#ifndef RDMAEZ_CQ_H
#include "../cq.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <fcntl.h>
#include <poll.h>

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif
#ifndef RDMAEZ_IMPL_WC_H
#include "wc.h"
#endif
#ifndef RDMAEZ_WHY_H
#include "../why.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- Channels ----------------------------------------------------------------------------- */

/* So many events of a queue are acknowledged at once. */
#define RDMAEZ_IMPL_CQ_EVENTS 64

RDMAEZ_API int rdmaez_channel_nonblock(struct ibv_comp_channel *channel, struct rdmaez_diag *diag)
{
	const int error =
		rdmaez_impl_begin(diag, "rdmaez_channel_nonblock",
				  channel ? channel->context : NULL, channel ? NULL : "channel");
	int flags;

	if (error)
		return error;
	flags = fcntl(channel->fd, F_GETFL);
	if (flags >= 0)
		flags = fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK);
	return flags < 0 ? rdmaez_impl_verb(diag, -1, "fcntl") : 0;
}

/* Takes an event as soon as one is there, or NULL if none was in time. */
RDMAEZ_IMPL_COLD int rdmaez_impl_channel_take(struct ibv_comp_channel *channel, uint64_t deadline,
					      struct ibv_cq **cq)
{
	void *context;
	int error;

	for (;;) {
		error = rdmaez_impl_wait(channel->fd, POLLIN, deadline);
		if (error == ETIMEDOUT)
			*cq = NULL;
		if (error)
			return error == ETIMEDOUT ? 0 : error;
		errno = 0;
		if (!ibv_get_cq_event(channel, cq, &context))
			return 0;
		error = rdmaez_impl_error(-1);
		if (error != EAGAIN && error != EINTR)
			return error;
	}
}

/* Begins the record of a function that leaves it alone on success. */
RDMAEZ_IMPL_COLD void rdmaez_impl_channel_record(const struct ibv_comp_channel *channel,
						 struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_channel_next");
	if (channel)
		rdmaez_impl_diag_device(diag, channel->context);
}

RDMAEZ_API void rdmaez_cq_ack(struct rdmaez_cq_watch *watch)
{
	if (watch->events)
		ibv_ack_cq_events(watch->cq, watch->events);
	watch->events = 0;
}

RDMAEZ_COLD int rdmaez_channel_next(struct ibv_comp_channel *channel,
				    struct rdmaez_cq_watch *watched, size_t count,
				    uint64_t timeout_ns, struct rdmaez_cq_watch **which,
				    struct rdmaez_diag *diag)
{
	const char *const missing = !channel   ? "channel"
				    : !watched ? "watched"
				    : which    ? NULL
					       : "which";
	struct ibv_cq *cq = NULL;
	size_t at = 0;
	int error;

	if (missing) {
		rdmaez_impl_channel_record(channel, diag);
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	}
	error = rdmaez_impl_channel_take(channel, rdmaez_impl_until(timeout_ns), &cq);
	if (error) {
		rdmaez_impl_channel_record(channel, diag);
		return rdmaez_impl_verb(diag, error, "ibv_get_cq_event");
	}
	while (cq && at < count && watched[at].cq != cq)
		at++;
	if (cq && at == count) {
		ibv_ack_cq_events(cq, 1);
		rdmaez_impl_channel_record(channel, diag);
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_CQ_OTHER_EVENT, "watched");
	}
	if (cq) {
		if (++watched[at].events == RDMAEZ_IMPL_CQ_EVENTS)
			rdmaez_cq_ack(&watched[at]);
		error = rdmaez_impl_error(
			ibv_req_notify_cq(cq, watched[at].flags & RDMAEZ_CQ_SOLICITED));
	}
	if (error) {
		rdmaez_impl_channel_record(channel, diag);
		return rdmaez_impl_verb(diag, error, "ibv_req_notify_cq");
	}
	*which = cq ? &watched[at] : NULL;
	return 0;
}

/* ---- One queue ---------------------------------------------------------------------------- */

RDMAEZ_API int rdmaez_cq_arm(struct ibv_cq *cq, unsigned int flags, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_cq_arm";
	int error;

	if (!cq || !cq->channel) {
		error = rdmaez_impl_begin(diag, call, cq ? cq->context : NULL, cq ? NULL : "cq");
		return error ? error
			     : rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_CQ_NO_CHANNEL,
						  "channel");
	}
	error = rdmaez_impl_error(ibv_req_notify_cq(cq, flags & RDMAEZ_CQ_SOLICITED));
	if (error) {
		rdmaez_impl_wc_begin_record(cq, NULL, diag, call);
		return rdmaez_impl_verb(diag, error, "ibv_req_notify_cq");
	}
	return 0;
}

/*
 * Arms a queue on a channel of its own, after taking what earlier arming has left in the channel.
 * That is one event for each time that the queue had something after it was armed. The kernel would
 * take more and more memory for them.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_cq_arm(struct ibv_cq *cq, const char **verb)
{
	struct ibv_cq *of;
	int error;

	do {
		error = rdmaez_impl_channel_take(cq->channel, 0, &of);
		if (!error && of)
			ibv_ack_cq_events(of, 1);
	} while (!error && of == cq);
	*verb = error || of ? "ibv_get_cq_event" : "ibv_req_notify_cq";
	if (error || of)
		return error ? error : EXDEV;
	return rdmaez_impl_error(ibv_req_notify_cq(cq, 0));
}

/*
 * Waits for the event of an armed queue. Returns 0, ETIMEDOUT, EXDEV for an event of another queue,
 * or the verb's errno value.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_cq_sleep(struct ibv_cq *cq, uint64_t deadline, const char **verb)
{
	struct ibv_cq *of;
	const int error = rdmaez_impl_channel_take(cq->channel, deadline, &of);

	*verb = "ibv_get_cq_event";
	if (error)
		return error;
	if (!of)
		return ETIMEDOUT;
	ibv_ack_cq_events(of, 1);
	return of == cq ? 0 : EXDEV;
}

/* Notes that the waiting failed, but not because the time is over. */
RDMAEZ_IMPL_COLD int rdmaez_impl_cq_refuse(struct ibv_cq *cq, struct ibv_qp *qp, int error,
					   const char *verb, struct rdmaez_diag *diag)
{
	rdmaez_impl_wc_begin_record(cq, qp, diag, "rdmaez_cq_wait");
	if (error == EXDEV)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_CQ_OTHER_EVENT, "channel");
	if (!verb)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_CQ_NO_CHANNEL, "channel");
	return rdmaez_impl_verb(diag, error, verb);
}

RDMAEZ_COLD int rdmaez_cq_wait(struct ibv_cq *cq, struct ibv_qp *qp, struct rdmaez_wc_batch *batch,
			       uint64_t timeout_ns, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_cq_wait";
	int got, want, count = 0, error = 0;
	bool is_armed = false;
	unsigned int failed = 0;
	uint64_t deadline = 0;
	const char *verb = NULL;

	if (batch)
		batch->count = 0;
	if (!cq || !batch || !batch->wc || batch->capacity < 1 || batch->want < 0 ||
	    batch->want > batch->capacity)
		return rdmaez_impl_wc_refuse(cq, qp, batch, diag, call);
	if (!cq->channel)
		return rdmaez_impl_cq_refuse(cq, qp, EINVAL, NULL, diag);
	want = batch->want ? batch->want : 1;
	for (;;) {
		got = ibv_poll_cq(cq, batch->capacity - count, batch->wc + count);
		if (got < 0)
			return rdmaez_impl_wc_refuse(cq, qp, batch, diag, call);
		for (got += count; count < got; count++)
			failed |= (unsigned int)batch->wc[count].status;
		batch->count = count;
		if (failed)
			return rdmaez_impl_wc_fail(cq, qp, batch, 0, diag, call);
		if (count >= want)
			return 0;
		if (timeout_ns == RDMAEZ_NS_NOW || error == ETIMEDOUT)
			break;
		if (!is_armed) {
			error = rdmaez_impl_cq_arm(cq, &verb);
		} else {
			deadline = deadline ? deadline : rdmaez_impl_until(timeout_ns);
			error = rdmaez_impl_cq_sleep(cq, deadline, &verb);
		}
		is_armed = !is_armed;
		if (error && (is_armed || error != ETIMEDOUT))
			return rdmaez_impl_cq_refuse(cq, qp, error, verb, diag);
	}
	return batch->want ? rdmaez_impl_wc_fail(cq, qp, batch,
						 timeout_ns ? timeout_ns : RDMAEZ_IMPL_WAIT_NS,
						 diag, call)
			   : 0;
}

/* ---- Extended queues ---------------------------------------------------------------------- */

/* Returns those bits of `flags` for which the queue has no reader. */
RDMAEZ_IMPL uint64_t rdmaez_impl_cq_ex_lacks(const struct ibv_cq_ex *cq, uint64_t flags)
{
	uint64_t lacks = 0;

	lacks |= cq->read_byte_len ? 0 : IBV_WC_EX_WITH_BYTE_LEN;
	lacks |= cq->read_imm_data ? 0 : IBV_WC_EX_WITH_IMM;
	lacks |= cq->read_qp_num ? 0 : IBV_WC_EX_WITH_QP_NUM;
	lacks |= cq->read_src_qp ? 0 : IBV_WC_EX_WITH_SRC_QP;
	lacks |= cq->read_slid ? 0 : IBV_WC_EX_WITH_SLID;
	lacks |= cq->read_sl ? 0 : IBV_WC_EX_WITH_SL;
	lacks |= cq->read_dlid_path_bits ? 0 : IBV_WC_EX_WITH_DLID_PATH_BITS;
	lacks |= cq->read_completion_ts ? 0 : IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	lacks |= cq->read_cvlan ? 0 : IBV_WC_EX_WITH_CVLAN;
	lacks |= cq->read_flow_tag ? 0 : IBV_WC_EX_WITH_FLOW_TAG;
	lacks |= cq->read_tm_info ? 0 : IBV_WC_EX_WITH_TM_INFO;
	lacks |= cq->read_completion_wallclock_ns ? 0
						  : IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	return flags & lacks;
}

/* Reads the completion at which the queue stands. */
RDMAEZ_IMPL void rdmaez_impl_cq_ex_read(struct ibv_cq_ex *cq, uint64_t flags, uint32_t qp_num,
					struct ibv_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cq->wr_id;
	wc->status = cq->status;
	wc->vendor_err = ibv_wc_read_vendor_err(cq);
	wc->qp_num = flags & IBV_WC_EX_WITH_QP_NUM ? ibv_wc_read_qp_num(cq) : qp_num;
	if (wc->status != IBV_WC_SUCCESS)
		return;
	wc->opcode = ibv_wc_read_opcode(cq);
	wc->wc_flags = ibv_wc_read_wc_flags(cq);
	if (flags & IBV_WC_EX_WITH_BYTE_LEN)
		wc->byte_len = ibv_wc_read_byte_len(cq);
	if ((flags & IBV_WC_EX_WITH_IMM) && (wc->wc_flags & IBV_WC_WITH_IMM))
		wc->imm_data = ibv_wc_read_imm_data(cq);
	else if ((flags & IBV_WC_EX_WITH_IMM) && (wc->wc_flags & IBV_WC_WITH_INV))
		wc->invalidated_rkey = ibv_wc_read_invalidated_rkey(cq);
	if (flags & IBV_WC_EX_WITH_SRC_QP)
		wc->src_qp = ibv_wc_read_src_qp(cq);
	if (flags & IBV_WC_EX_WITH_SLID)
		wc->slid = (uint16_t)ibv_wc_read_slid(cq);
	if (flags & IBV_WC_EX_WITH_SL)
		wc->sl = ibv_wc_read_sl(cq);
	if (flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		wc->dlid_path_bits = ibv_wc_read_dlid_path_bits(cq);
}

/* Says why nothing more was read: because of the arguments, or of what a verb has returned. */
RDMAEZ_IMPL_COLD int rdmaez_impl_cq_ex_refuse(struct ibv_cq_ex *cq, struct ibv_qp *qp,
					      const struct rdmaez_wc_batch *batch, uint64_t lacks,
					      uint64_t flags, const char *verb,
					      struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_cq_poll_ex";
	static const struct rdmaez_impl_site site = {"opts.wc_flags", RDMAEZ_WHY_CQ_EX_FLAGS,
						     RDMAEZ_VALUE_FLAGS, 0, 0};
	struct ibv_cq *const plain = cq ? ibv_cq_ex_to_cq(cq) : NULL;

	if (!verb && !lacks)
		return rdmaez_impl_wc_refuse(plain, qp, batch, diag, call);
	rdmaez_impl_wc_begin_record(plain, qp, diag, call);
	return lacks ? rdmaez_impl_refuse_within(diag, EINVAL, &site, (int64_t)lacks, 0,
						 (int64_t)flags)
		     : rdmaez_impl_verb(diag, EIO, verb);
}

RDMAEZ_COLD int rdmaez_cq_poll_ex(struct ibv_cq_ex *cq, struct ibv_qp *qp,
				  const struct rdmaez_cq_ex_opts *opts,
				  struct rdmaez_wc_batch *batch, struct rdmaez_diag *diag)
{
	const uint64_t flags = opts ? opts->wc_flags : 0;
	const uint32_t qp_num = qp ? qp->qp_num : 0;
	const uint64_t lacks = cq ? rdmaez_impl_cq_ex_lacks(cq, flags) : 0;
	struct ibv_poll_cq_attr attr;
	unsigned int failed = 0;
	int count = 0, error = 0;

	if (batch)
		batch->count = 0;
	if (!cq || !batch || !batch->wc || batch->capacity < 1 || lacks)
		return rdmaez_impl_cq_ex_refuse(cq, qp, batch, lacks, flags, NULL, diag);
	memset(&attr, 0, sizeof(attr));
	/*
	 * One by one, without ibv_next_poll(). If that finds nothing, rxe's has unlocked the queue already, and
	 * ibv_end_poll() skips a completion that is still to come. With mlx5 it must be called even then.
	 */
	while (count < batch->capacity) {
		struct ibv_wc *const wc = &batch->wc[count];

		error = ibv_start_poll(cq, &attr);
		if (error)
			break;
		rdmaez_impl_cq_ex_read(cq, flags, qp_num, wc);
		failed |= (unsigned int)wc->status;
		if (opts && opts->completed)
			opts->completed(opts->arg, cq, wc);
		ibv_end_poll(cq);
		count++;
	}
	batch->count = count;
	if (failed)
		return rdmaez_impl_wc_fail(ibv_cq_ex_to_cq(cq), qp, batch, 0, diag,
					   "rdmaez_cq_poll_ex");
	return error && error != ENOENT
		       ? rdmaez_impl_cq_ex_refuse(cq, qp, batch, 0, flags, "ibv_start_poll", diag)
		       : 0;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
