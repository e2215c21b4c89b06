/* SPDX-License-Identifier: MIT */
/*
 * The extended interface, ibv_wr_*(), as providers have it: builders return nothing, the first error is kept, and
 * ibv_wr_complete() then drops all that was built. Misuse, which they do not notice, is counted.
 */
#include "fake_internal.h"

static unsigned int misused;

unsigned int fake_misused(void)
{
	return misused;
}

void fake_note_misuse(void)
{
	misused++;
}

void fake_misuse_reset(void)
{
	misused = 0;
}

/* What is to be set for a work request, and is. */
enum {
	SET_DATA = 1 << 0,
	SET_UD = 1 << 1,
	SET_XRC = 1 << 2,
};

static struct fake_qp *to_qp(struct ibv_qp_ex *ex)
{
	return fake_container(ex, struct fake_qp, ex);
}

/* The operations that have no data. */
static bool is_bare(const struct fake_built *built)
{
	return built->wr.opcode == IBV_WR_LOCAL_INV || built->wr.opcode == IBV_WR_BIND_MW;
}

/* The last work request must be complete before another follows or the end comes. */
static void finish_last(struct fake_qp *qp)
{
	const enum ibv_qp_type type = qp->verbs.qp_type;
	const struct fake_session *session = qp->session;
	unsigned int needed = SET_DATA;

	if (!session->count)
		return;
	if (type == IBV_QPT_UD)
		needed |= SET_UD;
	if (type == IBV_QPT_XRC_SEND)
		needed |= SET_XRC;
	if (is_bare(&session->built[session->count - 1]))
		needed = 0;
	if (session->set != needed)
		misused++;
}

static void fail(struct fake_session *session, int err)
{
	if (!session->err)
		session->err = err;
}

/* One more; what is built past the end of the queue goes nowhere. */
static struct ibv_send_wr *build(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
	static struct fake_built nowhere;
	struct fake_qp *qp = to_qp(ex);
	struct fake_session *session = qp->session;
	const struct fake_habits *habits = &fake_dev(qp->verbs.context)->habits;
	struct fake_built *built = &nowhere;

	if (!session->open)
		misused++;
	finish_last(qp);
	session->set = 0;
	if (qp->sends.count + session->count >= qp->attr.cap.max_send_wr)
		fail(session, habits->ex_full_errno ? habits->ex_full_errno : ENOMEM);
	if (fake_dev(qp->verbs.context)->quirks & FAKE_SIGNALED_ONLY &&
	    !(ex->wr_flags & IBV_SEND_SIGNALED) && !qp->sq_sig_all)
		fail(session, EINVAL);
	if (session->count < FAKE_BUILT_MAX)
		built = &session->built[session->count++];
	memset(built, 0, sizeof(*built));
	built->wr.wr_id = ex->wr_id;
	built->wr.send_flags = ex->wr_flags;
	built->wr.opcode = opcode;
	built->wr.sg_list = built->sge;
	return &built->wr;
}

static void rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	struct ibv_send_wr *wr = build(ex, IBV_WR_RDMA_WRITE);

	wr->wr.rdma.rkey = rkey;
	wr->wr.rdma.remote_addr = remote_addr;
}

static void rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			   __be32 imm_data)
{
	struct ibv_send_wr *wr = build(ex, IBV_WR_RDMA_WRITE_WITH_IMM);

	wr->wr.rdma.rkey = rkey;
	wr->wr.rdma.remote_addr = remote_addr;
	wr->imm_data = imm_data;
}

static void rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	struct ibv_send_wr *wr = build(ex, IBV_WR_RDMA_READ);

	wr->wr.rdma.rkey = rkey;
	wr->wr.rdma.remote_addr = remote_addr;
}

static void send_plain(struct ibv_qp_ex *ex)
{
	build(ex, IBV_WR_SEND);
}

static void send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	build(ex, IBV_WR_SEND_WITH_IMM)->imm_data = imm_data;
}

static void send_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	build(ex, IBV_WR_SEND_WITH_INV)->invalidate_rkey = invalidate_rkey;
}

static void send_tso(struct ibv_qp_ex *ex, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	struct ibv_send_wr *wr = build(ex, IBV_WR_TSO);

	wr->tso.hdr = hdr;
	wr->tso.hdr_sz = hdr_sz;
	wr->tso.mss = mss;
}

static void atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			   uint64_t compare, uint64_t swap)
{
	struct ibv_send_wr *wr = build(ex, IBV_WR_ATOMIC_CMP_AND_SWP);

	wr->wr.atomic.rkey = rkey;
	wr->wr.atomic.remote_addr = remote_addr;
	wr->wr.atomic.compare_add = compare;
	wr->wr.atomic.swap = swap;
}

static void atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			     uint64_t add)
{
	struct ibv_send_wr *wr = build(ex, IBV_WR_ATOMIC_FETCH_AND_ADD);

	wr->wr.atomic.rkey = rkey;
	wr->wr.atomic.remote_addr = remote_addr;
	wr->wr.atomic.compare_add = add;
}

static void local_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	build(ex, IBV_WR_LOCAL_INV)->invalidate_rkey = invalidate_rkey;
}

static void bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		    const struct ibv_mw_bind_info *bind_info)
{
	struct ibv_send_wr *wr = build(ex, IBV_WR_BIND_MW);

	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = rkey;
	wr->bind_mw.bind_info = *bind_info;
}

/* ---- Setters ------------------------------------------------------------------------------ */

/* Each once; NULL: there is nothing to set it for. */
static struct fake_built *set(struct ibv_qp_ex *ex, unsigned int what)
{
	struct fake_session *session = to_qp(ex)->session;

	if (!session->open || !session->count || session->set & what) {
		misused++;
		return NULL;
	}
	session->set |= what;
	return &session->built[session->count - 1];
}

static void set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t remote_qpn,
			uint32_t remote_qkey)
{
	struct fake_built *built = set(ex, SET_UD);

	if (!built)
		return;
	built->wr.wr.ud.ah = ah;
	built->wr.wr.ud.remote_qpn = remote_qpn;
	built->wr.wr.ud.remote_qkey = remote_qkey;
}

static void set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t remote_srqn)
{
	struct fake_built *built = set(ex, SET_XRC);

	if (built)
		built->wr.qp_type.xrc.remote_srqn = remote_srqn;
}

static void fail_size(struct ibv_qp_ex *ex)
{
	const int err = fake_dev(ex->qp_base.context)->habits.ex_size_errno;

	fail(to_qp(ex)->session, err ? err : EINVAL);
}

static void set_sge_list(struct ibv_qp_ex *ex, size_t num_sge, const struct ibv_sge *sg_list)
{
	struct fake_built *built = set(ex, SET_DATA);

	if (!built)
		return;
	if (num_sge > to_qp(ex)->attr.cap.max_send_sge || num_sge > FAKE_BUILT_SGES) {
		fail_size(ex);
		return;
	}
	built->wr.num_sge = (int)num_sge;
	for (size_t i = 0; i < num_sge; i++)
		built->sge[i] = sg_list[i];
}

static void set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct fake_built *built = set(ex, SET_DATA);

	if (!built)
		return;
	built->wr.num_sge = 1;
	built->sge[0].lkey = lkey;
	built->sge[0].addr = addr;
	built->sge[0].length = length;
}

static void set_inline_data_list(struct ibv_qp_ex *ex, size_t num_buf,
				 const struct ibv_data_buf *buf_list)
{
	struct fake_built *built = set(ex, SET_DATA);
	size_t length = 0;

	if (!built)
		return;
	built->is_inline = true;
	for (size_t i = 0; i < num_buf; i++) {
		if (length + buf_list[i].length > to_qp(ex)->attr.cap.max_inline_data ||
		    length + buf_list[i].length > FAKE_BUILT_INLINE) {
			fail_size(ex);
			return;
		}
		if (buf_list[i].length)
			memcpy(built->data + length, buf_list[i].addr, buf_list[i].length);
		length += buf_list[i].length;
	}
	built->wr.num_sge = 1;
	built->sge[0].addr = (uintptr_t)built->data;
	built->sge[0].length = (uint32_t)length;
}

static void set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	const struct ibv_data_buf buf = {addr, length};

	set_inline_data_list(ex, 1, &buf);
}

/* ---- A session ---------------------------------------------------------------------------- */

static void wr_start(struct ibv_qp_ex *ex)
{
	struct fake_session *session = to_qp(ex)->session;

	fake_enter(FAKE_WR_START, ex);
	if (session->open)
		misused++;
	session->open = true;
	session->err = 0;
	session->count = 0;
	session->set = 0;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct fake_call *call = fake_enter(FAKE_WR_COMPLETE, ex);
	struct fake_qp *qp = to_qp(ex);
	struct fake_session *session = qp->session;
	int err = call->error;

	if (!session->open)
		misused++;
	finish_last(qp);
	session->open = false;
	call->index = session->count;
	if (session->count)
		call->arg.send_wr = session->built[0].wr;
	if (!err)
		err = session->err;
	if (!err)
		err = fake_ex_post(qp);
	return fake_return_post(call, ex->qp_base.context, err);
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	struct fake_session *session = to_qp(ex)->session;

	fake_enter(FAKE_WR_ABORT, ex);
	if (!session->open)
		misused++;
	session->open = false;
	session->count = 0;
}

const struct fake_built *fake_built(const struct ibv_qp *qp, unsigned int nth)
{
	const struct fake_session *session =
		((const struct fake_qp *)((uintptr_t)qp - offsetof(struct fake_qp, verbs)))
			->session;

	return session && nth < session->count ? &session->built[nth] : NULL;
}

/* ---- Creating ----------------------------------------------------------------------------- */

/* What a type can do, as rxe and mlx5 have it. */
static uint64_t flags_of(enum ibv_qp_type type)
{
	const uint64_t sends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	const uint64_t writes = sends | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_WRITE |
				IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_LOCAL_INV |
				IBV_QP_EX_WITH_BIND_MW;

	switch ((int)type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return writes | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	case IBV_QPT_UC:
		return writes;
	case IBV_QPT_UD:
		return sends | IBV_QP_EX_WITH_TSO;
	case IBV_QPT_RAW_PACKET:
		return IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO;
	case IBV_QPT_DRIVER:
		return sends | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE;
	default:
		return 0;
	}
}

int fake_ex_check(const struct ibv_qp_init_attr_ex *init)
{
	if (!(init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return 0;
	return init->send_ops_flags & ~flags_of(init->qp_type) ? EOPNOTSUPP : 0;
}

void fake_ex_create(struct fake_qp *qp, uint64_t flags)
{
	struct ibv_qp_ex *ex = &qp->ex;

	qp->session = (struct fake_session *)calloc(1, sizeof(*qp->session));
	if (!qp->session)
		abort();
	if (fake_dev(qp->verbs.context)->habits.ex_fills_all)
		flags = flags_of(qp->verbs.qp_type);
#define FILL(flag, name)                     \
	if (flags & IBV_QP_EX_WITH_##flag) { \
		ex->wr_##name = name;        \
	}
	FILL(RDMA_WRITE, rdma_write)
	FILL(RDMA_WRITE_WITH_IMM, rdma_write_imm)
	FILL(RDMA_READ, rdma_read)
	FILL(SEND_WITH_IMM, send_imm)
	FILL(SEND_WITH_INV, send_inv)
	FILL(TSO, send_tso)
	FILL(ATOMIC_CMP_AND_SWP, atomic_cmp_swp)
	FILL(ATOMIC_FETCH_AND_ADD, atomic_fetch_add)
	FILL(LOCAL_INV, local_inv)
	FILL(BIND_MW, bind_mw)
#undef FILL
	if (flags & IBV_QP_EX_WITH_SEND)
		ex->wr_send = send_plain;
	if (qp->verbs.qp_type == IBV_QPT_UD)
		ex->wr_set_ud_addr = set_ud_addr;
	if (qp->verbs.qp_type == IBV_QPT_XRC_SEND)
		ex->wr_set_xrc_srqn = set_xrc_srqn;
	ex->wr_set_sge = set_sge;
	ex->wr_set_sge_list = set_sge_list;
	ex->wr_set_inline_data = set_inline_data;
	ex->wr_set_inline_data_list = set_inline_data_list;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	struct fake_qp *own = fake_container(qp, struct fake_qp, verbs);

	return own->session ? &own->ex : NULL;
}
