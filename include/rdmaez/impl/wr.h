/* SPDX-License-Identifier: MIT */
/* Implements wr.h. */
#ifndef RDMAEZ_IMPL_WR_H
#define RDMAEZ_IMPL_WR_H

#ifndef RDMAEZ_WR_H
#include "../wr.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- Posting ------------------------------------------------------------------------------ */

/* These return the errno value of a verb that did not post, and fill a record of it. */
RDMAEZ_COLD int rdmaez_impl_wr_send_failed(struct ibv_qp *qp, const struct ibv_send_wr *wr,
					   const struct ibv_send_wr *bad, int returned,
					   struct rdmaez_diag *diag);
RDMAEZ_COLD int rdmaez_impl_wr_recv_failed(struct ibv_qp *qp, const struct ibv_recv_wr *wr,
					   const struct ibv_recv_wr *bad, int returned,
					   struct rdmaez_diag *diag);
RDMAEZ_COLD int rdmaez_impl_wr_srq_failed(struct ibv_srq *srq, const struct ibv_recv_wr *wr,
					  const struct ibv_recv_wr *bad, int returned,
					  struct rdmaez_diag *diag);

RDMAEZ_FOLD int rdmaez_wr_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
				    struct ibv_send_wr **bad_wr, struct rdmaez_diag *diag)
{
	struct ibv_send_wr *bad = NULL;
	const int returned = ibv_post_send(qp, wr, &bad);

	if (!returned)
		return 0;
	if (bad_wr)
		*bad_wr = bad;
	return rdmaez_impl_wr_send_failed(qp, wr, bad, returned, diag);
}

RDMAEZ_FOLD int rdmaez_wr_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				    struct ibv_recv_wr **bad_wr, struct rdmaez_diag *diag)
{
	struct ibv_recv_wr *bad = NULL;
	const int returned = ibv_post_recv(qp, wr, &bad);

	if (!returned)
		return 0;
	if (bad_wr)
		*bad_wr = bad;
	return rdmaez_impl_wr_recv_failed(qp, wr, bad, returned, diag);
}

RDMAEZ_FOLD int rdmaez_wr_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
					struct ibv_recv_wr **bad_wr, struct rdmaez_diag *diag)
{
	struct ibv_recv_wr *bad = NULL;
	const int returned = ibv_post_srq_recv(srq, wr, &bad);

	if (!returned)
		return 0;
	if (bad_wr)
		*bad_wr = bad;
	return rdmaez_impl_wr_srq_failed(srq, wr, bad, returned, diag);
}

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_UNITS_H
#include "../units.h"
#endif
#ifndef RDMAEZ_MR_H
#include "../mr.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- Descriptions ------------------------------------------------------------------------- */

/* Says why a region does not have these bytes. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_tell_sge(const struct ibv_mr *mr, const void *addr,
					      size_t length, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site most = {"length", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_BYTES,
						     0, INT32_MAX},
					     start = {"addr", RDMAEZ_WHY_WR_REGION,
						      RDMAEZ_VALUE_ADDRESS, 0, 0},
					     end = {"length", RDMAEZ_WHY_WR_REGION,
						    RDMAEZ_VALUE_BYTES, 0, 0};
	const uintptr_t offset = (uintptr_t)addr - (uintptr_t)mr->addr;

	rdmaez_impl_diag_reset(diag, "rdmaez_mr_sge");
	if (offset > mr->length)
		rdmaez_impl_refuse_at(diag, ERANGE, &start, (int64_t)(uintptr_t)addr);
	else if (length > mr->length - offset)
		rdmaez_impl_refuse_within(diag, ERANGE, &end, (int64_t)length, 0,
					  (int64_t)(mr->length - offset));
	else
		rdmaez_impl_refuse_at(diag, ERANGE, &most, (int64_t)length);
}

RDMAEZ_API int rdmaez_mr_sge(const struct ibv_mr *mr, const void *addr, size_t length,
			     struct ibv_sge *sge, struct rdmaez_diag *diag)
{
	const uintptr_t offset = (uintptr_t)addr - (uintptr_t)mr->addr;

	if (offset > mr->length || length > mr->length - offset || length > INT32_MAX) {
		if (diag)
			rdmaez_impl_wr_tell_sge(mr, addr, length, diag);
		return ERANGE;
	}
	sge->addr = (uintptr_t)addr;
	sge->length = (uint32_t)length;
	sge->lkey = mr->lkey;
	return 0;
}

/* Returns how many bytes of data there are: in one SGE, or in all that the work request has. */
RDMAEZ_FOLD uint64_t rdmaez_impl_wr_length(const struct ibv_send_wr *wr, const struct ibv_sge *sge)
{
	uint64_t length = 0;

	if (sge)
		return sge->length;
	for (int i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	return length;
}

RDMAEZ_FOLD void rdmaez_impl_wr_set(struct ibv_send_wr *wr, enum ibv_wr_opcode opcode,
				    struct ibv_sge *sge)
{
	wr->opcode = opcode;
	if (sge) {
		wr->sg_list = sge;
		wr->num_sge = 1;
	}
}

RDMAEZ_API void rdmaez_wr_send(struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	rdmaez_impl_wr_set(wr, IBV_WR_SEND, sge);
}

RDMAEZ_IMPL_COLD void rdmaez_impl_wr_tell_ud(const struct ibv_ah *ah, uint32_t qp_num,
					     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site wide = {"qp_num", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_HEX,
						     0, RDMAEZ_QP_NUM_MAX};

	rdmaez_impl_diag_reset(diag, "rdmaez_wr_send_to");
	if (!ah)
		rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "ah");
	if (qp_num >> 24)
		rdmaez_impl_refuse_at(diag, EINVAL, &wide, qp_num);
}

RDMAEZ_API int rdmaez_wr_send_to(struct ibv_send_wr *wr, struct ibv_sge *sge, struct ibv_ah *ah,
				 uint32_t qp_num, uint32_t qkey, struct rdmaez_diag *diag)
{
	if (!ah || qp_num >> 24) {
		if (diag)
			rdmaez_impl_wr_tell_ud(ah, qp_num, diag);
		return EINVAL;
	}
	rdmaez_impl_wr_set(wr, IBV_WR_SEND, sge);
	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = qp_num;
	wr->wr.ud.remote_qkey = qkey;
	return 0;
}

/* Says why so many bytes are not all in the peer's memory. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wr_tell_remote(uint64_t length,
						  const struct rdmaez_remote *remote,
						  uint64_t offset, const char *call,
						  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site start = {"offset", RDMAEZ_WHY_WR_REMOTE,
						      RDMAEZ_VALUE_NUMBER, 0, 0},
					     end = {"sge.length", RDMAEZ_WHY_WR_REMOTE,
						    RDMAEZ_VALUE_BYTES, 0, 0};

	rdmaez_impl_diag_reset(diag, call);
	if (offset > remote->length)
		rdmaez_impl_refuse_within(diag, ERANGE, &start, (int64_t)offset, 0,
					  (int64_t)remote->length);
	else
		rdmaez_impl_refuse_within(diag, ERANGE, &end, (int64_t)length, 0,
					  (int64_t)(remote->length - offset));
}

RDMAEZ_FOLD int rdmaez_impl_wr_rdma(struct ibv_send_wr *wr, enum ibv_wr_opcode opcode,
				    struct ibv_sge *sge, const struct rdmaez_remote *remote,
				    uint64_t offset, const char *call, struct rdmaez_diag *diag)
{
	const uint64_t length = rdmaez_impl_wr_length(wr, sge);

	if (offset > remote->length || length > remote->length - offset) {
		if (diag)
			rdmaez_impl_wr_tell_remote(length, remote, offset, call, diag);
		return ERANGE;
	}
	rdmaez_impl_wr_set(wr, opcode, sge);
	wr->wr.rdma.remote_addr = remote->addr + offset;
	wr->wr.rdma.rkey = remote->rkey;
	return 0;
}

RDMAEZ_API int rdmaez_wr_write(struct ibv_send_wr *wr, struct ibv_sge *sge,
			       const struct rdmaez_remote *remote, uint64_t offset,
			       struct rdmaez_diag *diag)
{
	return rdmaez_impl_wr_rdma(wr, IBV_WR_RDMA_WRITE, sge, remote, offset, "rdmaez_wr_write",
				   diag);
}

RDMAEZ_API int rdmaez_wr_read(struct ibv_send_wr *wr, struct ibv_sge *sge,
			      const struct rdmaez_remote *remote, uint64_t offset,
			      struct rdmaez_diag *diag)
{
	return rdmaez_impl_wr_rdma(wr, IBV_WR_RDMA_READ, sge, remote, offset, "rdmaez_wr_read",
				   diag);
}

/* Says what is wrong with an atomic: where its number is, how long it is, or how it is aligned. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wr_atomic_failed(uint64_t length,
						  const struct rdmaez_remote *remote,
						  uint64_t offset, const char *call,
						  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site size = {"sge.length", RDMAEZ_WHY_WR_ATOMIC,
						     RDMAEZ_VALUE_BYTES, 8, 8},
					     place = {"remote.addr", RDMAEZ_WHY_WR_ATOMIC,
						      RDMAEZ_VALUE_ADDRESS, 0, 0};

	if (offset > remote->length || remote->length - offset < 8) {
		if (diag)
			rdmaez_impl_wr_tell_remote(8, remote, offset, call, diag);
		return ERANGE;
	}
	rdmaez_impl_diag_reset(diag, call);
	if (length != 8)
		rdmaez_impl_refuse_at(diag, EINVAL, &size, (int64_t)length);
	if ((remote->addr + offset) % 8)
		rdmaez_impl_refuse_at(diag, EINVAL, &place, (int64_t)(remote->addr + offset));
	return EINVAL;
}

RDMAEZ_IMPL int rdmaez_impl_wr_atomic(struct ibv_send_wr *wr, struct ibv_sge *sge,
				      const struct rdmaez_remote *remote, uint64_t offset,
				      const char *call, struct rdmaez_diag *diag)
{
	const uint64_t length = rdmaez_impl_wr_length(wr, sge);

	if (offset > remote->length || remote->length - offset < 8 || length != 8 ||
	    (remote->addr + offset) % 8)
		return rdmaez_impl_wr_atomic_failed(length, remote, offset, call, diag);
	rdmaez_impl_wr_set(wr, IBV_WR_ATOMIC_FETCH_AND_ADD, sge);
	wr->wr.atomic.remote_addr = remote->addr + offset;
	wr->wr.atomic.rkey = remote->rkey;
	return 0;
}

RDMAEZ_API int rdmaez_wr_fetch_add(struct ibv_send_wr *wr, struct ibv_sge *sge,
				   const struct rdmaez_remote *remote, uint64_t offset,
				   uint64_t add, struct rdmaez_diag *diag)
{
	const int error =
		rdmaez_impl_wr_atomic(wr, sge, remote, offset, "rdmaez_wr_fetch_add", diag);

	if (!error)
		wr->wr.atomic.compare_add = add;
	return error;
}

RDMAEZ_API int rdmaez_wr_compare_swap(struct ibv_send_wr *wr, struct ibv_sge *sge,
				      const struct rdmaez_remote *remote, uint64_t offset,
				      const struct rdmaez_wr_swap *values, struct rdmaez_diag *diag)
{
	const int error =
		rdmaez_impl_wr_atomic(wr, sge, remote, offset, "rdmaez_wr_compare_swap", diag);

	if (error)
		return error;
	wr->opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr->wr.atomic.compare_add = values->compare;
	wr->wr.atomic.swap = values->swap;
	return 0;
}

/* Converts to big endian, and from it. */
RDMAEZ_FOLD uint32_t rdmaez_impl_be32(uint32_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return value;
#else
	return value >> 24 | (value >> 8 & 0xff00) | (value & 0xff00) << 8 | value << 24;
#endif
}

/* Says that an operation cannot have what is asked for. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wr_tell_opcode(int opcode, enum rdmaez_why why, const char *call,
						 struct rdmaez_diag *diag)
{
	struct rdmaez_impl_site site = {"opcode", RDMAEZ_WHY_NONE, RDMAEZ_VALUE_OPCODE, 0, 0};

	site.why = why;
	rdmaez_impl_diag_reset(diag, call);
	rdmaez_impl_refuse_at(diag, EINVAL, &site, opcode);
}

/* In the enum, each of the two that may have immediate data stands before the one that has it. */
RDMAEZ_API int rdmaez_wr_imm(struct ibv_send_wr *wr, uint32_t imm, struct rdmaez_diag *diag)
{
	if ((unsigned int)wr->opcode > IBV_WR_SEND_WITH_IMM) {
		if (diag)
			rdmaez_impl_wr_tell_opcode((int)wr->opcode, RDMAEZ_WHY_WR_IMM_OPCODE,
						   "rdmaez_wr_imm", diag);
		return EINVAL;
	}
	wr->opcode = (enum ibv_wr_opcode)((unsigned int)wr->opcode | 1u);
	wr->imm_data = rdmaez_impl_be32(imm);
	return 0;
}

RDMAEZ_IMPL_COLD void rdmaez_impl_wr_tell_inline(uint64_t length, uint32_t max_inline,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"max_inline", RDMAEZ_WHY_WR_INLINE,
						     RDMAEZ_VALUE_BYTES, 0, 0};

	rdmaez_impl_diag_reset(diag, "rdmaez_wr_inline");
	rdmaez_impl_refuse_within(diag, EMSGSIZE, &site, (int64_t)length, 0, max_inline);
}

RDMAEZ_API int rdmaez_wr_inline(struct ibv_send_wr *wr, uint32_t max_inline,
				struct rdmaez_diag *diag)
{
	const uint64_t length = rdmaez_impl_wr_length(wr, NULL);

	if ((unsigned int)wr->opcode > IBV_WR_SEND_WITH_IMM && wr->opcode != IBV_WR_SEND_WITH_INV) {
		if (diag)
			rdmaez_impl_wr_tell_opcode((int)wr->opcode, RDMAEZ_WHY_WR_INLINE_OPCODE,
						   "rdmaez_wr_inline", diag);
		return EINVAL;
	}
	if (length > max_inline) {
		if (diag)
			rdmaez_impl_wr_tell_inline(length, max_inline, diag);
		return EMSGSIZE;
	}
	wr->send_flags |= IBV_SEND_INLINE;
	return 0;
}

/* Inline data have at most this many SGEs. */
#define RDMAEZ_IMPL_WR_BUFFERS 32

/* Returns whether the queue pair has a function for this, by the opcode's place in the enum. */
RDMAEZ_FOLD bool rdmaez_impl_wr_ex_has(const struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	static const size_t place[] = {
		offsetof(struct ibv_qp_ex, wr_rdma_write),
		offsetof(struct ibv_qp_ex, wr_rdma_write_imm),
		offsetof(struct ibv_qp_ex, wr_send),
		offsetof(struct ibv_qp_ex, wr_send_imm),
		offsetof(struct ibv_qp_ex, wr_rdma_read),
		offsetof(struct ibv_qp_ex, wr_atomic_cmp_swp),
		offsetof(struct ibv_qp_ex, wr_atomic_fetch_add),
		offsetof(struct ibv_qp_ex, wr_local_inv),
		offsetof(struct ibv_qp_ex, wr_bind_mw),
		offsetof(struct ibv_qp_ex, wr_send_inv),
		offsetof(struct ibv_qp_ex, wr_send_tso),
	};
	void (*function)(void);

	if ((unsigned int)wr->opcode >= sizeof(place) / sizeof(place[0]))
		return false;
	memcpy(&function, (const char *)qp + place[(unsigned int)wr->opcode], sizeof(function));
	return function && qp->qp_base.qp_type != IBV_QPT_DRIVER &&
	       (!(wr->send_flags & IBV_SEND_INLINE) || wr->num_sge <= RDMAEZ_IMPL_WR_BUFFERS);
}

RDMAEZ_IMPL bool rdmaez_impl_wr_ex_has_all(const struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	for (; wr; wr = wr->next)
		if (!rdmaez_impl_wr_ex_has(qp, wr))
			return false;
	return true;
}

/* Begins the operation itself. Tells whether it has data, and a peer. */
RDMAEZ_FOLD bool rdmaez_impl_wr_ex_begin(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr,
					 int opcode)
{
	struct ibv_mw_bind_info bind_info;

	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, wr->imm_data);
		break;
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qp, wr->imm_data);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qp, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				      wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qp, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
		break;
	case IBV_WR_SEND_WITH_INV:
		ibv_wr_send_inv(qp, wr->invalidate_rkey);
		break;
	case IBV_WR_TSO:
		ibv_wr_send_tso(qp, wr->tso.hdr, wr->tso.hdr_sz, wr->tso.mss);
		break;
	case IBV_WR_LOCAL_INV:
		ibv_wr_local_inv(qp, wr->invalidate_rkey);
		return false;
	default:
		bind_info = wr->bind_mw.bind_info;
		ibv_wr_bind_mw(qp, wr->bind_mw.mw, wr->bind_mw.rkey, &bind_info);
		return false;
	}
	return true;
}

/* Sets inline data, if they are not one SGE. */
RDMAEZ_IMPL void rdmaez_impl_wr_ex_inline(struct ibv_qp_ex *qp, const struct ibv_sge *sge,
					  int num_sge)
{
	struct ibv_data_buf buffers[RDMAEZ_IMPL_WR_BUFFERS];
	size_t count = 0;

	for (; (int)count < num_sge; count++) {
		buffers[count].addr = (void *)(uintptr_t)sge[count].addr;
		buffers[count].length = sge[count].length;
	}
	ibv_wr_set_inline_data_list(qp, count, buffers);
}

/*
 * Builds a whole work request: both members that stay set, the operation, the setters. Everything
 * that decides is read before the first call, after which a compiler may take a constant in memory
 * for a variable.
 */
RDMAEZ_FOLD void rdmaez_impl_wr_ex_build(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr,
					 int opcode, bool is_inline, int num_sge)
{
	qp->wr_id = wr->wr_id;
	qp->wr_flags = wr->send_flags;
	if (!rdmaez_impl_wr_ex_begin(qp, wr, opcode))
		return;
	if (qp->qp_base.qp_type == IBV_QPT_UD)
		ibv_wr_set_ud_addr(qp, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	else if (qp->qp_base.qp_type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(qp, wr->qp_type.xrc.remote_srqn);
	if (is_inline && num_sge == 1)
		ibv_wr_set_inline_data(qp, (void *)(uintptr_t)wr->sg_list->addr,
				       wr->sg_list->length);
	else if (is_inline)
		rdmaez_impl_wr_ex_inline(qp, wr->sg_list, num_sge);
	else if (num_sge == 1)
		ibv_wr_set_sge(qp, wr->sg_list->lkey, wr->sg_list->addr, wr->sg_list->length);
	else
		ibv_wr_set_sge_list(qp, (size_t)num_sge, wr->sg_list);
}

RDMAEZ_IMPL void rdmaez_impl_wr_ex_list(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	for (; wr; wr = wr->next)
		rdmaez_impl_wr_ex_build(qp, wr, (int)wr->opcode,
					(wr->send_flags & IBV_SEND_INLINE) != 0, wr->num_sge);
}

RDMAEZ_IMPL_COLD int rdmaez_impl_wr_ex_failed(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr,
					      int returned, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_error(returned);

	rdmaez_impl_diag_reset(diag, "rdmaez_wr_post_ex");
	if (qp)
		rdmaez_impl_diag_qp(diag, &qp->qp_base);
	rdmaez_impl_failed(diag, error, NULL);
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_wr_explain_ex, (qp, wr, diag));
	return error;
}

RDMAEZ_API int rdmaez_wr_post_ex(struct ibv_qp_ex *qp, struct ibv_send_wr *wr,
				 struct ibv_send_wr **bad_wr, struct rdmaez_diag *diag)
{
	const bool is_inline = (wr->send_flags & IBV_SEND_INLINE) != 0;
	const int opcode = (int)wr->opcode, num_sge = wr->num_sge;
	struct ibv_send_wr *const next = wr->next;
	struct ibv_send_wr told;
	int returned = EINVAL;

	if (qp && rdmaez_impl_wr_ex_has(qp, wr) && (!next || rdmaez_impl_wr_ex_has_all(qp, next))) {
		ibv_wr_start(qp);
		rdmaez_impl_wr_ex_build(qp, wr, opcode, is_inline, num_sge);
		if (next)
			rdmaez_impl_wr_ex_list(qp, next);
		returned = ibv_wr_complete(qp);
		if (!returned)
			return 0;
	}
	if (bad_wr)
		*bad_wr = NULL;
	/*
	 * This copy has all that is explained. The work request itself then needs no memory,
	 * because no pointer to it reaches any call. The remote address is where UD has its handle.
	 */
	memset(&told, 0, sizeof(told));
	told.next = next;
	told.sg_list = wr->sg_list;
	told.num_sge = num_sge;
	told.opcode = wr->opcode;
	told.send_flags = wr->send_flags;
	told.wr.atomic.remote_addr = wr->wr.atomic.remote_addr;
	return rdmaez_impl_wr_ex_failed(qp, &told, returned, diag);
}

/* Begins the record of a verb that did not post, and returns its errno value. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_wr_failed(const char *call, const char *verb,
					    const struct ibv_context *context,
					    const struct ibv_qp *qp, int error,
					    struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, call);
	rdmaez_impl_diag_device(diag, context);
	if (qp)
		rdmaez_impl_diag_qp(diag, qp);
	return rdmaez_impl_failed(diag, error, verb);
}

RDMAEZ_COLD int rdmaez_impl_wr_send_failed(struct ibv_qp *qp, const struct ibv_send_wr *wr,
					   const struct ibv_send_wr *bad, int returned,
					   struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_wr_failed("rdmaez_wr_post_send", "ibv_post_send", qp->context,
						qp, rdmaez_impl_error(returned), diag);

	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_wr_explain_send, (qp, wr, bad, diag));
	return error;
}

RDMAEZ_COLD int rdmaez_impl_wr_recv_failed(struct ibv_qp *qp, const struct ibv_recv_wr *wr,
					   const struct ibv_recv_wr *bad, int returned,
					   struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_wr_failed("rdmaez_wr_post_recv", "ibv_post_recv", qp->context,
						qp, rdmaez_impl_error(returned), diag);

	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_wr_explain_recv, (qp, wr, bad, diag));
	return error;
}

/* mlx4 and mthca return -1 for whatever is wrong, and set no errno. */
RDMAEZ_COLD int rdmaez_impl_wr_srq_failed(struct ibv_srq *srq, const struct ibv_recv_wr *wr,
					  const struct ibv_recv_wr *bad, int returned,
					  struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_wr_failed(
		"rdmaez_wr_post_srq_recv", "ibv_post_srq_recv", srq->context, NULL,
		returned == -1 ? ENOMEM : rdmaez_impl_error(returned), diag);

	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_wr_explain_srq, (srq, wr, bad, diag));
	return error;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
