/* SPDX-License-Identifier: MIT */
/* rdmaez_wr_post_ex(). */
#ifndef RDMAEZ_IMPL_WR_EX_H
#define RDMAEZ_IMPL_WR_EX_H

#ifndef RDMAEZ_WR_H
#include "../wr.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_WR_EXPLAIN_H
#include "wr_explain.h"
#endif

RDMAEZ_IMPL_BEGIN

/* The most SGEs of inline data. */
#define RDMAEZ_IMPL_WR_BUFFERS 32

/* Whether the queue pair has a function for this, by the opcode's place in the enum. */
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

RDMAEZ_IMPL_ONCE bool rdmaez_impl_wr_ex_has_all(const struct ibv_qp_ex *qp,
						const struct ibv_send_wr *wr)
{
	for (; wr; wr = wr->next)
		if (!rdmaez_impl_wr_ex_has(qp, wr))
			return false;
	return true;
}

/* The operation itself; whether it has data, and a peer. */
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

/* Inline data of other than one SGE. */
RDMAEZ_IMPL_ONCE void rdmaez_impl_wr_ex_inline(struct ibv_qp_ex *qp, const struct ibv_sge *sge,
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
 * A whole work request: both members that stay set, the operation, the setters. What decides is read before the first
 * call, after which a compiler may take a constant in memory for a variable.
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

RDMAEZ_IMPL_ONCE void rdmaez_impl_wr_ex_list(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	for (; wr; wr = wr->next)
		rdmaez_impl_wr_ex_build(qp, wr, (int)wr->opcode,
					(wr->send_flags & IBV_SEND_INLINE) != 0, wr->num_sge);
}

/* What rdmaez_impl_wr_ex_has() objects to. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wr_ex_refuse(const struct ibv_send_wr *wr,
					      struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site lacks = {"opcode", RDMAEZ_WHY_WR_EX_OPCODE,
						      RDMAEZ_VALUE_OPCODE, 0, 0};
	static const struct rdmaez_impl_site many = {
		"num_sge", RDMAEZ_WHY_WR_SGE, RDMAEZ_VALUE_NUMBER, 0, RDMAEZ_IMPL_WR_BUFFERS};

	if ((wr->send_flags & IBV_SEND_INLINE) && wr->num_sge > RDMAEZ_IMPL_WR_BUFFERS)
		return rdmaez_impl_refuse_at(diag, EINVAL, &many, wr->num_sge);
	return rdmaez_impl_refuse_at(diag, EINVAL, &lacks, (int64_t)wr->opcode);
}

RDMAEZ_IMPL_COLD int rdmaez_impl_wr_ex_failed(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr,
					      int returned, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_wr_queue queue = {"rdmaez_wr_post_ex",    "ibv_wr_complete",
							  "cap.max_send_wr",      true,
							  RDMAEZ_IMPL_WR_SENDING, true};
	const struct ibv_send_wr *at = wr;

	while (qp && at && rdmaez_impl_wr_ex_has(qp, at))
		at = at->next;
	if (qp && !at)
		return rdmaez_impl_wr_failed(&queue, &qp->qp_base, wr, NULL, returned, diag);
	rdmaez_impl_diag_reset_for(diag, queue.call, rdmaez_impl_why_wr);
	if (!qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "qp");
	rdmaez_impl_diag_qp(diag, &qp->qp_base);
	return rdmaez_impl_wr_ex_refuse(at, diag);
}

RDMAEZ_API_FOLD int rdmaez_wr_post_ex(struct ibv_qp_ex *qp, struct ibv_send_wr *wr,
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
	 * All that is explained, apart: a work request of which no pointer reaches any call needs no memory. The remote
	 * address stands where UD has its handle.
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

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
