/* SPDX-License-Identifier: MIT */
/* Implements wc.h: polling and counting. */
#ifndef RDMAEZ_IMPL_WC_H
#define RDMAEZ_IMPL_WC_H

#ifndef RDMAEZ_WC_H
#include "../wc.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_COLD int rdmaez_impl_wc_refuse(struct ibv_cq *cq, struct ibv_qp *qp,
				      const struct rdmaez_wc_batch *batch, struct rdmaez_diag *diag,
				      const char *call);
RDMAEZ_COLD int rdmaez_impl_wc_poll(struct ibv_cq *cq, struct ibv_qp *qp, struct ibv_wc *wc,
				    int capacity, int got, bool answered, struct rdmaez_diag *diag);
RDMAEZ_COLD int rdmaez_impl_wc_wait(struct ibv_cq *cq, struct ibv_qp *qp,
				    struct rdmaez_wc_batch *batch, int got, uint64_t timeout_ns,
				    struct rdmaez_diag *diag);

/*
 * The function that explains a failure gets the batch in parts, so that a compiler may keep it in
 * registers. The errno value is a constant, so that `count` need not survive if it is not looked
 * at.
 */
RDMAEZ_INLINE int rdmaez_wc_poll(struct ibv_cq *cq, struct ibv_qp *qp,
				 struct rdmaez_wc_batch *batch, struct rdmaez_diag *diag)
{
	int got = -1, good = 1;

	if (!batch)
		return rdmaez_impl_wc_refuse(cq, qp, NULL, diag, "rdmaez_wc_poll");
	if (cq && batch->wc && batch->capacity > 0) {
		got = ibv_poll_cq(cq, batch->capacity, batch->wc);
		batch->count = got;
		if (!got)
			return 0;
		if (got > 0 && batch->wc->status == IBV_WC_SUCCESS) {
			if (got == 1 || batch->capacity == 1) /* or gcc sees a second one */
				return 0;
			while (batch->wc[good].status == IBV_WC_SUCCESS)
				if (++good == got)
					return 0;
		}
	}
	batch->count =
		rdmaez_impl_wc_poll(cq, qp, batch->wc, batch->capacity, got, batch->answered, diag);
	return cq && batch->wc && batch->capacity > 0 ? EIO : EINVAL;
}

/* In the usual case one look is enough. */
RDMAEZ_INLINE int rdmaez_wc_wait(struct ibv_cq *cq, struct ibv_qp *qp,
				 struct rdmaez_wc_batch *batch, uint64_t timeout_ns,
				 struct rdmaez_diag *diag)
{
	struct rdmaez_wc_batch rest;
	int got = -1, good = 0, error;

	if (!batch)
		return rdmaez_impl_wc_wait(cq, qp, NULL, got, timeout_ns, diag);
	if (cq && batch->wc && batch->capacity > 0 &&
	    (unsigned int)batch->want <= (unsigned int)batch->capacity) {
		got = ibv_poll_cq(cq, batch->capacity, batch->wc);
		while (good < got && batch->wc[good].status == IBV_WC_SUCCESS)
			good++;
		if (good == got && got > 0 && got >= batch->want) {
			batch->count = got;
			return 0;
		}
	}
	rest.wc = batch->wc;
	rest.capacity = batch->capacity;
	rest.want = batch->want;
	rest.count = 0;
	rest.answered = batch->answered;
	error = rdmaez_impl_wc_wait(cq, qp, &rest, got, timeout_ns, diag);
	batch->count = rest.count;
	return error;
}

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif
#ifndef RDMAEZ_IMPL_WR_H
#include "wr.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

/* Returns the advice that stands for all advice. */
RDMAEZ_IMPL_COLD const struct rdmaez_advice *rdmaez_impl_advice_untold(void)
{
	static const struct rdmaez_advice advice = {
		0, 0, "unknown", "the program has no explanations", RDMAEZ_IMPL_UNTOLD, "", {NULL}};

	return &advice;
}

/* Returns whether a completion of this status failed. A rendezvous left to the program did not. */
RDMAEZ_IMPL bool rdmaez_impl_wc_failed(const struct ibv_wc *wc)
{
	return wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_TM_RNDV_INCOMPLETE;
}

RDMAEZ_API const struct ibv_wc *rdmaez_wc_first_error(const struct ibv_wc *wc, int count,
						      uint32_t qp_num)
{
	const struct ibv_wc *flush = NULL;

	for (int i = 0; wc && i < count; i++) {
		if (wc[i].qp_num != qp_num || !rdmaez_impl_wc_failed(&wc[i]))
			continue;
		if (wc[i].status != IBV_WC_WR_FLUSH_ERR)
			return &wc[i];
		if (!flush)
			flush = &wc[i];
	}
	return flush;
}

RDMAEZ_API size_t rdmaez_wc_position(const struct ibv_wc *wc, struct ibv_qp *const qp[],
				     size_t count)
{
	size_t at = 0;

	while (at < count && !(qp[at] && qp[at]->qp_num == wc->qp_num))
		at++;
	return at;
}

RDMAEZ_API void rdmaez_wc_errors_add(struct rdmaez_wc_errors *errors, const struct ibv_wc *wc,
				     int count)
{
	const struct ibv_wc *first = rdmaez_wc_first_error(wc, count, errors->qp_num);

	if (!first)
		return;
	if (!errors->failed && (!errors->flushed || first->status != IBV_WC_WR_FLUSH_ERR))
		errors->first = *first;
	for (int i = 0; i < count; i++) {
		if (wc[i].qp_num != errors->qp_num || !rdmaez_impl_wc_failed(&wc[i]))
			continue;
		if (wc[i].status == IBV_WC_WR_FLUSH_ERR)
			errors->flushed++;
		else
			errors->failed++;
	}
}

/* make_send_cqe() of rxe sets the flag for the sender as well, which gets no immediate data. */
RDMAEZ_API int rdmaez_wc_imm(const struct ibv_wc *wc, uint32_t *imm)
{
	if (wc->status != IBV_WC_SUCCESS || !(wc->wc_flags & IBV_WC_WITH_IMM) ||
	    !(wc->opcode & IBV_WC_RECV))
		return ENODATA;
	*imm = rdmaez_impl_be32(wc->imm_data);
	return 0;
}

/*
 * Returns whether an IPv4 header of five words stands here. The sum of its 16-bit words, itself
 * included, has all bits set.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_grh_is_ipv4(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	return ip[0] == 0x45 && (sum & 0xffff) + (sum >> 16) == 0xffff;
}

/* Writes an address of IPv4 as a GID. */
RDMAEZ_IMPL void rdmaez_impl_grh_map(union ibv_gid *gid, const uint8_t *address)
{
	memset(gid, 0, sizeof(*gid));
	gid->raw[10] = gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, address, 4);
}

/* Says why a message has no header to read, and returns the errno value. */
RDMAEZ_IMPL_COLD int rdmaez_impl_grh_refuse(int error, enum rdmaez_why why, const char *field,
					    struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_wc_grh");
	return rdmaez_impl_refuse(diag, error, why, field);
}

RDMAEZ_API int rdmaez_wc_grh(const struct ibv_wc *wc, const void *buffer, struct rdmaez_grh *grh,
			     struct rdmaez_diag *diag)
{
	const uint8_t *const byte = (const uint8_t *)buffer, *const ip = byte + 20;
	struct rdmaez_grh found;

	if (wc->status != IBV_WC_SUCCESS || !(wc->opcode & IBV_WC_RECV) || wc->byte_len < 40)
		return rdmaez_impl_grh_refuse(EINVAL, RDMAEZ_WHY_WC_NO_SENDER, "wc", diag);
	memset(&found, 0, sizeof(found));
	found.payload = byte + 40;
	found.length = wc->byte_len - 40;
	if (!(wc->wc_flags & IBV_WC_GRH)) {
		*grh = found;
		return 0;
	}
	if (byte[0] >> 4 == 6 ? rdmaez_impl_grh_is_ipv4(ip) : ip[0] >> 4 == 4) {
		found.version = 4;
		found.traffic_class = ip[1];
		found.hop_limit = ip[8];
		found.next_header = ip[9];
		rdmaez_impl_grh_map(&found.sgid, ip + 12);
		rdmaez_impl_grh_map(&found.dgid, ip + 16);
	} else if (byte[0] >> 4 == 6) {
		found.version = 6;
		found.traffic_class = (uint8_t)(byte[0] << 4 | byte[1] >> 4);
		found.flow_label = (byte[1] & 0xfu) << 16 | (uint32_t)byte[2] << 8 | byte[3];
		found.next_header = byte[6];
		found.hop_limit = byte[7];
		memcpy(found.sgid.raw, byte + 8, 16);
		memcpy(found.dgid.raw, byte + 24, 16);
	} else {
		return rdmaez_impl_grh_refuse(EPROTONOSUPPORT, RDMAEZ_WHY_WC_NO_HEADER, "buffer",
					      diag);
	}
	*grh = found;
	return 0;
}

/*
 * Returns whether the time is over, counted from the first call. If it has waited long, it rests.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_wc_is_late(uint64_t *begun, uint64_t timeout_ns)
{
	const uint64_t now = rdmaez_impl_now();

	if (!*begun)
		*begun = now;
	if (now - *begun >= timeout_ns)
		return true;
	if (now - *begun > 1000000)
		rdmaez_impl_rest(timeout_ns - (now - *begun) < 50000 ? timeout_ns - (now - *begun)
								     : 50000);
	return false;
}

/* Begins the record of a function that has polled, and failed. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_begin_record(struct ibv_cq *cq, struct ibv_qp *qp,
						   struct rdmaez_diag *diag, const char *call)
{
	rdmaez_impl_diag_reset(diag, call);
	if (cq)
		rdmaez_impl_diag_device(diag, cq->context);
	if (cq && qp)
		rdmaez_impl_diag_qp(diag, qp);
}

/*
 * Notes that nothing was polled, because of the arguments or because the verb has failed. Returns
 * the errno value.
 */
RDMAEZ_COLD int rdmaez_impl_wc_refuse(struct ibv_cq *cq, struct ibv_qp *qp,
				      const struct rdmaez_wc_batch *batch, struct rdmaez_diag *diag,
				      const char *call)
{
	static const struct rdmaez_impl_site room = {"capacity", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_NUMBER, 1, INT32_MAX};
	static const struct rdmaez_impl_site most = {"want", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_NUMBER,
						     0, 0};

	rdmaez_impl_wc_begin_record(cq, qp, diag, call);
	if (!cq || !batch || !batch->wc)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  !cq     ? "cq"
					  : batch ? "wc"
						  : "batch");
	if (batch->capacity < 1)
		return rdmaez_impl_refuse_at(diag, EINVAL, &room, batch->capacity);
	if ((unsigned int)batch->want > (unsigned int)batch->capacity)
		return rdmaez_impl_refuse_within(diag, EINVAL, &most, batch->want, 0,
						 batch->capacity);
	return rdmaez_impl_verb(diag, EIO, "ibv_poll_cq");
}

/*
 * Notes that one of the completions that were polled has failed or, if the number of ns is not 0,
 * that too few have come in that time.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_wc_fail(struct ibv_cq *cq, struct ibv_qp *qp,
					  const struct rdmaez_wc_batch *batch, uint64_t waited_ns,
					  struct rdmaez_diag *diag, const char *call)
{
	static const struct rdmaez_impl_site late = {"count", RDMAEZ_WHY_WC_LATE,
						     RDMAEZ_VALUE_NUMBER, 0, 0};
	int error = EIO;

	rdmaez_impl_wc_begin_record(cq, qp, diag, call);
	if (waited_ns)
		error = rdmaez_impl_refuse_within(diag, ETIMEDOUT, &late, batch->count, batch->want,
						  batch->capacity);
	else if (diag)
		diag->error = error;
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_wc_poll_explain, (cq, qp, batch, waited_ns, diag));
	return error;
}

/*
 * Says why a look has failed that found `got` completions. If `got` is negative, the verb has
 * failed, or was not called. Returns how many there are.
 */
RDMAEZ_COLD int rdmaez_impl_wc_poll(struct ibv_cq *cq, struct ibv_qp *qp, struct ibv_wc *wc,
				    int capacity, int got, bool answered, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_wc_poll";
	struct rdmaez_wc_batch batch;

	batch.answered = answered;
	batch.wc = wc;
	batch.capacity = capacity;
	batch.want = 0;
	batch.count = got > 0 ? got : 0;
	if (got < 0)
		rdmaez_impl_wc_refuse(cq, qp, &batch, diag, call);
	else
		rdmaez_impl_wc_fail(cq, qp, &batch, 0, diag, call);
	return batch.count;
}

/*
 * Does the rest of rdmaez_wc_wait(), after a first look that found `got` completions. If `got` is
 * negative, the verb has failed, or the arguments are wrong and there was no look.
 */
RDMAEZ_COLD int rdmaez_impl_wc_wait(struct ibv_cq *cq, struct ibv_qp *qp,
				    struct rdmaez_wc_batch *batch, int got, uint64_t timeout_ns,
				    struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_wc_wait";
	unsigned int empty = 0, failed = 0;
	uint64_t begun = 0;
	int count = 0;

	if (batch)
		batch->count = 0;
	if (got < 0)
		return rdmaez_impl_wc_refuse(cq, qp, batch, diag, call);
	if (!batch->want)
		batch->want = 1;
	if (!timeout_ns)
		timeout_ns = RDMAEZ_IMPL_WAIT_NS;
	for (;;) {
		for (got += count; count < got; count++)
			failed |= (unsigned int)batch->wc[count].status;
		batch->count = count;
		if (!failed && count >= batch->want)
			return 0;
		if (failed || timeout_ns == RDMAEZ_NS_NOW ||
		    (++empty % 16 == 0 && rdmaez_impl_wc_is_late(&begun, timeout_ns)))
			return rdmaez_impl_wc_fail(cq, qp, batch, failed ? 0 : timeout_ns, diag,
						   call);
		got = ibv_poll_cq(cq, batch->capacity - count, batch->wc + count);
		if (got < 0)
			return rdmaez_impl_wc_refuse(cq, qp, batch, diag, call);
	}
}

RDMAEZ_COLD const struct rdmaez_advice *rdmaez_wc_explain(const struct ibv_wc *wc)
{
	return rdmaez_impl_tell_wc_explain ? rdmaez_impl_tell_wc_explain(wc)
					   : rdmaez_impl_advice_untold();
}

RDMAEZ_COLD const char *rdmaez_wc_vendor_str(const struct ibv_wc *wc)
{
	return rdmaez_impl_tell_wc_vendor_str ? rdmaez_impl_tell_wc_vendor_str(wc) : "";
}

RDMAEZ_COLD int rdmaez_wc_explain_qp(const struct ibv_wc *wc, struct ibv_qp *qp,
				     struct rdmaez_diag *diag)
{
	return rdmaez_impl_tell_wc_explain_qp ? rdmaez_impl_tell_wc_explain_qp(wc, qp, diag)
					      : rdmaez_impl_untold(diag, "rdmaez_wc_explain_qp");
}

RDMAEZ_COLD int rdmaez_wc_explain_send(const struct ibv_wc *wc, struct ibv_qp *qp,
				       const struct ibv_send_wr *wr, struct rdmaez_diag *diag)
{
	return rdmaez_impl_tell_wc_explain_send
		       ? rdmaez_impl_tell_wc_explain_send(wc, qp, wr, diag)
		       : rdmaez_impl_untold(diag, "rdmaez_wc_explain_send");
}

RDMAEZ_COLD int rdmaez_wc_explain_recv(const struct ibv_wc *wc, struct ibv_qp *qp,
				       const struct ibv_recv_wr *wr, struct rdmaez_diag *diag)
{
	return rdmaez_impl_tell_wc_explain_recv
		       ? rdmaez_impl_tell_wc_explain_recv(wc, qp, wr, diag)
		       : rdmaez_impl_untold(diag, "rdmaez_wc_explain_recv");
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
