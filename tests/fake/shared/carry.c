/* SPDX-License-Identifier: MIT */
/*
 * Data from queue pairs of the process to each other, if FAKE_CARRIES is set: each send is done when it is posted, and
 * ends as adapters end it. A key is right if its last byte is 0, as that of all regions of the fake; one gather entry is
 * looked at.
 *
 * FAKE_SPOILS=WHAT makes it wrong, FAKE_SPOILS=WHAT:4 only of the operation with this number in enum ibv_wr_opcode:
 *
 *     bytes    the last byte that comes is another
 *     device   the first byte that comes from device memory is another
 *     old      an atomic brings another value
 *     length   a receive has one byte less
 *     imm      immediate data are others
 *     plain    there are none
 *     lost     nothing comes, and the sender is not told
 *     takes    what should fail succeeds
 *     status   what fails does so for no reason that rdmaez knows
 *     flushed  what fails is flushed, as newer rxe does with its own mistakes
 *     dropped  a receive that is too short is flushed
 *     mute     a receive that fails is not told
 *     few      one of several receives is not flushed
 *
 * What goes to a queue pair of another process is lost, or comes back as from a peer that sends back all it receives,
 * with FAKE_PEER=echo; with FAKE_PEER=echo:512 only what goes in packets of no more bytes.
 */
#include "../fake_internal.h"

#include <stdio.h>

/* The fake's own, and what its files call in its place. */
void fake_work_entered(struct fake_qp *qp, enum ibv_qp_state from);
void fake_shared_work_entered(struct fake_qp *qp, enum ibv_qp_state from);
void fake_shared_carry(struct verbs_context *verbs);

enum {
	RECEIVES = 64,
	QPS = 16,
	GRH = 40
};

static struct {
	struct ibv_srq *srq;
	uint32_t qp_num; /* 0: the receive is of the SRQ */
	uint64_t wr_id;
	struct ibv_sge sge;
} receives[RECEIVES];
static unsigned int posted;

static struct {
	struct fake_qp *qp;
	uint32_t number;
} seen[QPS];
static unsigned int changes;

static struct {
	uint32_t key;
	uint8_t *bytes;
} device_memory;

static struct ibv_context_ops plain;
static struct verbs_context whole;

static bool spoils(const char *what, const struct ibv_send_wr *wr)
{
	const char *const set = getenv("FAKE_SPOILS");
	const size_t length = strlen(what);

	return set && strncmp(set, what, length) == 0 &&
	       (!set[length] || (set[length] == ':' && atoi(set + length + 1) == (int)wr->opcode));
}

/* ---- What there is -------------------------------------------------------------------------- */

static void forget_receive(unsigned int at)
{
	memmove(receives + at, receives + at + 1, (--posted - at) * sizeof(*receives));
}

/* A queue pair that has come anywhere is found by its number. */
void fake_shared_work_entered(struct fake_qp *qp, enum ibv_qp_state from)
{
	const bool is_over = qp->attr.qp_state == IBV_QPS_ERR || qp->attr.qp_state == IBV_QPS_RESET;

	if (!whole.create_qp_ex) { /* nothing is carried, and threads may be here */
		fake_work_entered(qp, from);
		return;
	}
	seen[changes % QPS].qp = qp;
	seen[changes++ % QPS].number = qp->verbs.qp_num;
	for (unsigned int i = posted; is_over && i--;)
		if (receives[i].qp_num == qp->verbs.qp_num)
			forget_receive(i);
	if (qp->attr.qp_state == IBV_QPS_ERR && qp->receives.count > 1 && spoils("few", NULL))
		qp->receives.count--;
	fake_work_entered(qp, from);
}

static struct fake_qp *find_qp(uint32_t number)
{
	for (unsigned int i = 0; i < QPS; i++)
		if (seen[i].qp && seen[i].number == number)
			return seen[i].qp;
	return NULL;
}

static void remember(const struct ibv_recv_wr *wr, struct ibv_srq *srq, uint32_t qp_num)
{
	for (; wr; wr = wr->next) {
		if (posted == RECEIVES)
			forget_receive(0);
		receives[posted].srq = srq;
		receives[posted].qp_num = qp_num;
		receives[posted].wr_id = wr->wr_id;
		receives[posted++].sge = wr->num_sge ? *wr->sg_list : (struct ibv_sge){0};
	}
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	const int error = plain.post_recv(qp, wr, bad_wr);

	if (!error)
		remember(wr, NULL, qp->qp_num);
	return error;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	const int error = plain.post_srq_recv(srq, wr, bad_wr);

	if (!error)
		remember(wr, srq, 0);
	return error;
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
				size_t length, unsigned int access)
{
	struct ibv_mr *const mr = whole.reg_dm_mr(pd, dm, offset, length, access);

	if (mr) {
		device_memory.key = mr->rkey;
		device_memory.bytes = fake_dm(dm)->bytes + offset;
	}
	return mr;
}

/* The memory behind an address and a key; NULL: the key is wrong. */
static uint8_t *memory_at(uint64_t address, uint32_t key)
{
	if (key == device_memory.key && device_memory.bytes)
		return device_memory.bytes + address;
	return key & 0xff ? NULL : (uint8_t *)(uintptr_t)address;
}

/* ---- How a send ends ------------------------------------------------------------------------ */

static void copy(uint8_t *to, const uint8_t *from, uint32_t length, const struct ibv_send_wr *wr)
{
	memcpy(to, from, length);
	if (length && spoils("bytes", wr))
		to[length - 1] ^= 1;
}

static bool has_imm(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* The completion of the receive with this number. */
static void complete_receive(unsigned int at, struct fake_qp *to, const struct fake_qp *from,
			     const struct ibv_send_wr *wr, struct ibv_wc *wc)
{
	struct fake_srq *const srq = receives[at].srq ? fake_srq_find(receives[at].srq) : NULL;

	wc->wr_id = receives[at].wr_id;
	wc->qp_num = to->verbs.qp_num;
	wc->src_qp = from->verbs.qp_num;
	wc->opcode =
		wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	wc->byte_len -= spoils("length", wr);
	if (has_imm(wr) && !spoils("plain", wr)) {
		wc->wc_flags |= IBV_WC_WITH_IMM;
		wc->imm_data = spoils("imm", wr) ? ~wr->imm_data : wr->imm_data;
	}
	forget_receive(at);
	if (srq)
		srq->receives--;
	else
		to->receives.count--;
	if (!wc->status || !spoils("mute", wr))
		fake_cq_push(srq && srq->cq ? srq->cq : to->verbs.recv_cq, wc);
}

/* What a message of a datagram has before it. */
static void put_header(uint8_t *at, struct ibv_context *context)
{
	const struct fake_gid *gid = NULL;

	memset(at, 0, GRH);
	at[0] = 0x60;
	at[6] = fake_port_is_roce(fake_dev(context), 1) ? 17 : 0x1b; /* UDP, or a BTH */
	at[7] = 64;
	fake_gid_row(fake_dev(context), 1, fake_port_is_roce(fake_dev(context), 1) ? 3 : 0, &gid);
	memcpy(at + 8, &gid->gid, 16);
	memcpy(at + 24, &gid->gid, 16);
}

/* The first receive that there is for it, and its bytes; those of a WRITE are there already. */
static enum ibv_wc_status deliver(struct fake_qp *from, struct fake_qp *to,
				  const struct ibv_send_wr *wr, const uint8_t *data,
				  uint32_t length)
{
	const bool is_ud = from->verbs.qp_type == IBV_QPT_UD;
	const bool is_xrc = from->verbs.qp_type == IBV_QPT_XRC_SEND;
	const uint32_t before = is_ud ? GRH : 0;
	struct ibv_wc wc = {.byte_len = before + length, .wc_flags = is_ud ? IBV_WC_GRH : 0};
	unsigned int at = 0;

	while (at < posted &&
	       (is_xrc ? receives[at].srq && receives[at].srq->handle != wr->qp_type.xrc.remote_srqn
		: to->verbs.srq ? receives[at].srq != to->verbs.srq
				: receives[at].qp_num != to->verbs.qp_num))
		at++;
	if (at == posted)
		return is_ud || spoils("takes", wr) ? IBV_WC_SUCCESS : IBV_WC_RNR_RETRY_EXC_ERR;
	if (before + length > receives[at].sge.length && !spoils("takes", wr)) {
		wc.status = spoils("dropped", wr) ? IBV_WC_WR_FLUSH_ERR : IBV_WC_LOC_LEN_ERR;
		complete_receive(at, to, from, wr, &wc);
		fake_qp_force(&to->verbs, IBV_QPS_ERR);
		return IBV_WC_REM_INV_REQ_ERR;
	}
	if (wr->opcode != IBV_WR_RDMA_WRITE_WITH_IMM) {
		uint8_t *const place = (uint8_t *)(uintptr_t)receives[at].sge.addr;

		if (is_ud)
			put_header(place, from->verbs.context);
		copy(place + before, data, length, wr);
	}
	complete_receive(at, to, from, wr, &wc);
	return IBV_WC_SUCCESS;
}

static enum ibv_wc_status do_atomic(const struct ibv_send_wr *wr, uint8_t *local)
{
	uint64_t *const remote =
		(uint64_t *)(void *)memory_at(wr->wr.atomic.remote_addr, wr->wr.atomic.rkey);
	uint64_t was;

	if (!remote)
		return IBV_WC_REM_ACCESS_ERR;
	was = *remote + spoils("old", wr);
	memcpy(local, &was, sizeof(was));
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		*remote += wr->wr.atomic.compare_add + spoils("bytes", wr);
	else if (*remote == wr->wr.atomic.compare_add)
		*remote = wr->wr.atomic.swap + spoils("bytes", wr);
	return IBV_WC_SUCCESS;
}

/* Whose receive a message to another process comes to: the sender's own, or nobody's. */
static struct fake_qp *far_away(struct fake_qp *from, uint32_t length)
{
	const char *const peer = getenv("FAKE_PEER");
	const uint32_t mtu = from->attr.path_mtu ? 128u << from->attr.path_mtu : 4096;
	unsigned int least = 4096;

	if (!peer || strncmp(peer, "echo", 4) != 0)
		return NULL;
	sscanf(peer, "echo:%u", &least);
	return (length < mtu ? length : mtu) > least ? NULL : from;
}

static enum ibv_wc_status do_send(struct fake_qp *from, const struct ibv_send_wr *wr)
{
	const bool is_ud = from->verbs.qp_type == IBV_QPT_UD;
	const bool is_send = wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM;
	struct fake_qp *to = find_qp(is_ud ? wr->wr.ud.remote_qpn : from->attr.dest_qp_num);
	const struct ibv_sge sge = wr->num_sge ? *wr->sg_list : (struct ibv_sge){0};
	uint8_t *const local = memory_at(sge.addr, sge.lkey);
	const uint32_t length = sge.length;
	uint8_t *remote;

	if (!local)
		return IBV_WC_LOC_PROT_ERR;
	if (!to)
		to = far_away(from, length);
	if (!to || to->attr.qp_state < IBV_QPS_RTR || to->attr.qp_state == IBV_QPS_ERR)
		return is_ud ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR;
	if (is_ud && to != from && wr->wr.ud.remote_qkey != to->attr.qkey && !spoils("takes", wr))
		return IBV_WC_SUCCESS;
	if (is_send)
		return deliver(from, to, wr, local, length);
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		return do_atomic(wr, local);
	remote = memory_at(wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
	if (!remote)
		return IBV_WC_REM_ACCESS_ERR;
	if (!(to->attr.qp_access_flags &
	      (wr->opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE)))
		return IBV_WC_REM_INV_REQ_ERR;
	if (wr->opcode == IBV_WR_RDMA_READ) {
		copy(local, remote, length, wr);
		*local ^= spoils("device", wr) && wr->wr.rdma.rkey == device_memory.key;
	} else {
		copy(remote, local, length, wr);
	}
	return has_imm(wr) ? deliver(from, to, wr, local, length) : IBV_WC_SUCCESS;
}

/* The oldest send is done: it completes, and if it has failed, so has its queue pair. */
static void carry(struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	struct ibv_wc wc = {.wr_id = wr->wr_id, .qp_num = qp->verbs.qp_num};

	if (!spoils("lost", wr))
		wc.status = do_send(qp, wr);
	if (!wc.status || spoils("takes", wr)) {
		fake_qp_sends_succeed(&qp->verbs, 1);
		return;
	}
	if (spoils("status", wr))
		wc.status = IBV_WC_GENERAL_ERR;
	if (spoils("flushed", wr))
		wc.status = IBV_WC_WR_FLUSH_ERR;
	qp->sends.count--;
	fake_cq_push(qp->verbs.send_cq, &wc);
	fake_qp_force(&qp->verbs, IBV_QPS_ERR);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	const int error = plain.post_send(qp, wr, bad_wr);

	for (; !error && wr; wr = wr->next)
		carry(fake_container(qp, struct fake_qp, verbs), wr);
	return error;
}

static int (*own_wr_complete)(struct ibv_qp_ex *ex);

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct fake_qp *const qp = fake_container(ex, struct fake_qp, ex);
	const int error = own_wr_complete(ex);

	for (unsigned int i = 0; !error && i < qp->session->count; i++)
		carry(qp, &qp->session->built[i].wr);
	return error;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp *const qp = whole.create_qp_ex(context, init);

	if (qp && ibv_qp_to_qp_ex(qp)) {
		own_wr_complete = ibv_qp_to_qp_ex(qp)->wr_complete;
		ibv_qp_to_qp_ex(qp)->wr_complete = wr_complete;
	}
	return qp;
}

void fake_shared_carry(struct verbs_context *verbs)
{
	plain = verbs->context.ops;
	whole = *verbs;
	verbs->context.ops.post_send = post_send;
	verbs->context.ops.post_recv = post_recv;
	verbs->context.ops.post_srq_recv = post_srq_recv;
	verbs->create_qp_ex = create_qp_ex;
	verbs->reg_dm_mr = reg_dm_mr;
}
