/* SPDX-License-Identifier: MIT */
/* Bodies of wr.h: those that are always inline, and those that describe. */
#ifndef RDMAEZ_IMPL_WR_H
#define RDMAEZ_IMPL_WR_H

#ifndef RDMAEZ_WR_H
#include "../wr.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- Posting ------------------------------------------------------------------------------ */

/* What is looked into once a verb has failed. */
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

/* ---- Send credit -------------------------------------------------------------------------- */

RDMAEZ_INLINE int rdmaez_credit_take(struct rdmaez_credit *credit, struct ibv_send_wr *wr)
{
	if (credit->taken - credit->given >= credit->capacity)
		return EAGAIN;
	wr->wr_id = credit->taken++;
	if (!(credit->taken & credit->mask))
		wr->send_flags |= IBV_SEND_SIGNALED;
	return 0;
}

RDMAEZ_INLINE uint32_t rdmaez_credit_give(struct rdmaez_credit *credit, uint64_t wr_id)
{
	const uint64_t before = wr_id - credit->given;

	if (before >= credit->taken - credit->given)
		return 0;
	credit->given = wr_id + 1;
	return (uint32_t)before + 1;
}

#if RDMAEZ_IMPL_BODIES

/* ---- Descriptions ------------------------------------------------------------------------- */

RDMAEZ_API int rdmaez_mr_sge(const struct ibv_mr *mr, const void *addr, size_t length,
			     struct ibv_sge *sge)
{
	const uintptr_t offset = (uintptr_t)addr - (uintptr_t)mr->addr;

	if (offset > mr->length || length > mr->length - offset || length > INT32_MAX)
		return ERANGE;
	sge->addr = (uintptr_t)addr;
	sge->length = (uint32_t)length;
	sge->lkey = mr->lkey;
	return 0;
}

/* How many bytes of data there are: of one SGE, or of those that the work request has. */
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

RDMAEZ_API_FOLD void rdmaez_wr_send(struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	rdmaez_impl_wr_set(wr, IBV_WR_SEND, sge);
}

RDMAEZ_API_FOLD int rdmaez_wr_send_to(struct ibv_send_wr *wr, struct ibv_sge *sge,
				      struct ibv_ah *ah, uint32_t qp_num, uint32_t qkey)
{
	if (!ah || qp_num >> 24)
		return EINVAL;
	rdmaez_impl_wr_set(wr, IBV_WR_SEND, sge);
	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = qp_num;
	wr->wr.ud.remote_qkey = qkey;
	return 0;
}

RDMAEZ_FOLD int rdmaez_impl_wr_rdma(struct ibv_send_wr *wr, enum ibv_wr_opcode opcode,
				    struct ibv_sge *sge, const struct rdmaez_remote *remote,
				    uint64_t offset)
{
	if (offset > remote->length || rdmaez_impl_wr_length(wr, sge) > remote->length - offset)
		return ERANGE;
	rdmaez_impl_wr_set(wr, opcode, sge);
	wr->wr.rdma.remote_addr = remote->addr + offset;
	wr->wr.rdma.rkey = remote->rkey;
	return 0;
}

RDMAEZ_API_FOLD int rdmaez_wr_write(struct ibv_send_wr *wr, struct ibv_sge *sge,
				    const struct rdmaez_remote *remote, uint64_t offset)
{
	return rdmaez_impl_wr_rdma(wr, IBV_WR_RDMA_WRITE, sge, remote, offset);
}

RDMAEZ_API_FOLD int rdmaez_wr_read(struct ibv_send_wr *wr, struct ibv_sge *sge,
				   const struct rdmaez_remote *remote, uint64_t offset)
{
	return rdmaez_impl_wr_rdma(wr, IBV_WR_RDMA_READ, sge, remote, offset);
}

RDMAEZ_API_FOLD int rdmaez_wr_fetch_add(struct ibv_send_wr *wr, struct ibv_sge *sge,
					const struct rdmaez_remote *remote, uint64_t offset,
					uint64_t add)
{
	if (offset > remote->length || remote->length - offset < 8)
		return ERANGE;
	if (rdmaez_impl_wr_length(wr, sge) != 8 || (remote->addr + offset) % 8)
		return EINVAL;
	rdmaez_impl_wr_set(wr, IBV_WR_ATOMIC_FETCH_AND_ADD, sge);
	wr->wr.atomic.remote_addr = remote->addr + offset;
	wr->wr.atomic.compare_add = add;
	wr->wr.atomic.rkey = remote->rkey;
	return 0;
}

RDMAEZ_API_FOLD int rdmaez_wr_compare_swap(struct ibv_send_wr *wr, struct ibv_sge *sge,
					   const struct rdmaez_remote *remote, uint64_t offset,
					   uint64_t compare, uint64_t swap)
{
	const int error = rdmaez_wr_fetch_add(wr, sge, remote, offset, compare);

	if (error)
		return error;
	wr->opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr->wr.atomic.swap = swap;
	return 0;
}

/* To big endian, and from it. */
RDMAEZ_FOLD uint32_t rdmaez_impl_be32(uint32_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return value;
#else
	return value >> 24 | (value >> 8 & 0xff00) | (value & 0xff00) << 8 | value << 24;
#endif
}

/* In the enum, each of the two that may have immediate data stands before the one that has it. */
RDMAEZ_API_FOLD int rdmaez_wr_imm(struct ibv_send_wr *wr, uint32_t imm)
{
	if ((unsigned int)wr->opcode > IBV_WR_SEND_WITH_IMM)
		return EINVAL;
	wr->opcode = (enum ibv_wr_opcode)((unsigned int)wr->opcode | 1u);
	wr->imm_data = rdmaez_impl_be32(imm);
	return 0;
}

RDMAEZ_API_FOLD int rdmaez_wr_inline(struct ibv_send_wr *wr, uint32_t max_inline)
{
	if ((unsigned int)wr->opcode > IBV_WR_SEND_WITH_IMM && wr->opcode != IBV_WR_SEND_WITH_INV)
		return EINVAL;
	if (rdmaez_impl_wr_length(wr, NULL) > max_inline)
		return EMSGSIZE;
	wr->send_flags |= IBV_SEND_INLINE;
	return 0;
}

#endif /* RDMAEZ_IMPL_BODIES */

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES
#ifndef RDMAEZ_IMPL_WR_EXPLAIN_H
#include "wr_explain.h"
#endif
#endif

#endif
