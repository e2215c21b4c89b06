/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --certify: data from a port to itself, by each type of queue pair, and what else carries data. */
#include "certify.h"

#include <rdmaez/dm.h>

#include <errno.h>
#include <string.h>
#include <time.h>

enum {
	GRH = 40,
	IMM = 0x12345678
};

static uint8_t *sent_from(struct certify_end *end)
{
	return end->slot;
}

static uint8_t *received_at(struct certify_end *end)
{
	return end->slot + CERTIFY_SLOT;
}

/* Other bytes each time, and none of them where they will arrive. */
static void fill(uint8_t *from, uint8_t *to)
{
	static uint8_t seed;

	seed++;
	for (unsigned int i = 0; i < CERTIFY_BYTES; i++)
		from[i] = (uint8_t)(seed + 7 * i);
	memset(to, ~seed, CERTIFY_SLOT);
}

int certify_post_receive(struct certify *c, struct certify_end *end, uint32_t bytes,
			 struct rdmaez_diag *diag)
{
	struct ibv_sge sge = {(uintptr_t)received_at(end), bytes, c->mr->lkey};
	struct ibv_recv_wr wr;

	memset(&wr, 0, sizeof(wr));
	wr.sg_list = &sge;
	wr.num_sge = 1;
	return end->srq ? rdmaez_wr_post_srq_recv(end->srq, &wr, NULL, diag)
			: rdmaez_wr_post_recv(end->qp, &wr, NULL, diag);
}

int certify_wait(struct certify *c, struct certify_end *end, struct ibv_wc *wc,
		 struct rdmaez_diag *diag)
{
	struct rdmaez_wc_batch batch;

	memset(&batch, 0, sizeof(batch));
	batch.wc = wc;
	batch.capacity = 1;
	batch.want = 1;
	return end->cq->channel ? rdmaez_cq_wait(end->cq, end->qp, &batch, c->wait_ns, diag)
				: rdmaez_wc_wait(end->cq, end->qp, &batch, c->wait_ns, diag);
}

/* What a work request does, from its first end to the second. */
struct op {
	const char *step;
	enum ibv_wr_opcode opcode;
	bool is_inline, is_extended;
};

static bool has_imm(const struct op *op)
{
	return op->opcode == IBV_WR_SEND_WITH_IMM || op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_send(const struct op *op)
{
	return op->opcode == IBV_WR_SEND || op->opcode == IBV_WR_SEND_WITH_IMM;
}

static bool is_atomic(const struct op *op)
{
	return op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static uint32_t length_of(const struct op *op)
{
	return op->is_inline ? CERTIFY_INLINE : is_atomic(op) ? 8 : CERTIFY_BYTES;
}

/* The peer's memory, from where messages arrive on. */
static struct rdmaez_remote remote_of(struct certify *c, uint8_t *at)
{
	struct rdmaez_remote remote = {(uintptr_t)at, CERTIFY_SLOT, c->mr->rkey};

	return remote;
}

static int describe(struct certify *c, const struct op *op, struct certify_end *from,
		    struct certify_end *to, struct ibv_send_wr *wr, struct ibv_sge *sge,
		    struct rdmaez_diag *diag)
{
	static const struct rdmaez_wr_swap swap = {5, 8};
	const struct rdmaez_remote write = remote_of(c, received_at(to));
	const struct rdmaez_remote read = remote_of(c, sent_from(to));

	switch (op->opcode) {
	case IBV_WR_RDMA_READ:
		return rdmaez_wr_read(wr, sge, &read, 0, diag);
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return rdmaez_wr_write(wr, sge, &write, 0, diag);
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return rdmaez_wr_fetch_add(wr, sge, &read, 0, 3, diag);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return rdmaez_wr_compare_swap(wr, sge, &read, 0, &swap, diag);
	default:
		if (from->ah)
			return rdmaez_wr_send_to(wr, sge, from->ah, to->qp->qp_num, RDMAEZ_QP_QKEY,
						 diag);
		rdmaez_wr_send(wr, sge);
		return 0;
	}
}

static int post(struct certify *c, const struct op *op, struct certify_end *from,
		struct certify_end *to, struct rdmaez_diag *diag)
{
	const bool brings = op->opcode == IBV_WR_RDMA_READ || is_atomic(op);
	struct ibv_sge sge = {(uintptr_t)(brings ? received_at(from) : sent_from(from)),
			      length_of(op), c->mr->lkey};
	struct ibv_send_wr wr;
	int error;

	memset(&wr, 0, sizeof(wr));
	error = describe(c, op, from, to, &wr, &sge, diag);
	if (!error && has_imm(op))
		error = rdmaez_wr_imm(&wr, IMM, diag);
	if (!error && op->is_inline)
		error = rdmaez_wr_inline(&wr, CERTIFY_INLINE, diag);
	if (from->qp->qp_type == IBV_QPT_XRC_SEND && (is_send(op) || has_imm(op)))
		error = error ? error : ibv_get_srq_num(to->srq, &wr.qp_type.xrc.remote_srqn);
	if (error)
		return error;
	return op->is_extended ? rdmaez_wr_post_ex(ibv_qp_to_qp_ex(from->qp), &wr, NULL, diag)
			       : rdmaez_wr_post_send(from->qp, &wr, NULL, diag);
}

/* A WRITE over UC completes before it has arrived. */
static bool comes(struct certify *c, const uint8_t *want, const uint8_t *at, uint32_t length)
{
	const struct timespec moment = {0, 1000000};

	for (uint64_t waited = 0; memcmp(want, at, length) != 0; waited += 1000000) {
		if (waited > c->wait_ns)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

/* Whether an atomic has brought what was there, and left what should be there then. */
static bool is_done(struct certify_end *from, struct certify_end *to)
{
	uint64_t was, is;

	memcpy(&was, received_at(from), sizeof(was));
	memcpy(&is, sent_from(to), sizeof(is));
	return was == 5 && is == 8;
}

/* What came is what was sent. */
static int compare(struct certify *c, const struct op *op, struct certify_end *from,
		   struct certify_end *to, const struct ibv_wc *wc)
{
	const uint32_t skipped = from->ah ? GRH : 0;
	uint32_t imm = 0;

	if (is_atomic(op))
		return is_done(from, to) ? 0 : EBADMSG;
	if (op->opcode == IBV_WR_RDMA_READ)
		return memcmp(sent_from(to), received_at(from), CERTIFY_BYTES) ? EBADMSG : 0;
	if (has_imm(op) && (rdmaez_wc_imm(wc, &imm) || imm != IMM))
		return EBADMSG;
	if (is_send(op) && wc->byte_len != length_of(op) + skipped)
		return EBADMSG;
	return comes(c, sent_from(from), received_at(to) + skipped, length_of(op)) ? 0 : EBADMSG;
}

static int carry(struct certify *c, const struct op *op, struct certify_end *from,
		 struct certify_end *to, struct rdmaez_diag *diag)
{
	const uint64_t before = 5;
	struct ibv_wc wc;
	int error = 0;

	memset(diag, 0, sizeof(*diag));
	memset(&wc, 0, sizeof(wc));
	if (op->opcode == IBV_WR_RDMA_READ)
		fill(sent_from(to), received_at(from));
	else
		fill(sent_from(from), received_at(to));
	if (is_atomic(op))
		memcpy(sent_from(to), &before, sizeof(before));
	if (is_send(op) || has_imm(op))
		error = certify_post_receive(c, to, CERTIFY_SLOT, diag);
	if (!error)
		error = post(c, op, from, to, diag);
	if (!error)
		error = certify_wait(c, from, &wc, diag);
	if (!error && (is_send(op) || has_imm(op)))
		error = certify_wait(c, to, &wc, diag);
	return error ? error : compare(c, op, from, to, &wc);
}

int certify_send(struct certify *c, struct certify_end *from, struct certify_end *to,
		 struct rdmaez_diag *diag)
{
	static const struct op op = {"SEND", IBV_WR_SEND, false, false};

	return carry(c, &op, from, to, diag);
}

/* --- Each type ---------------------------------------------------------------------------------------- */

static bool has(const struct op *op, enum ibv_qp_type type)
{
	if (type == IBV_QPT_UD)
		return is_send(op);
	return type != IBV_QPT_UC || (op->opcode != IBV_WR_RDMA_READ && !is_atomic(op));
}

/* Sends back to where a message came from, by what the message says of that. */
static void answer(struct certify *c, struct certify_pair *pair)
{
	struct rdmaez_diag diag;
	struct ibv_ah *ah = NULL, *const before = pair->b.ah;
	static const struct op op = {"SEND", IBV_WR_SEND, false, false};
	struct ibv_wc wc;
	int error = certify_post_receive(c, &pair->b, CERTIFY_SLOT, &diag);

	if (!error)
		error = post(c, &op, &pair->a, &pair->b, &diag);
	if (!error)
		error = certify_wait(c, &pair->a, &wc, &diag);
	if (!error)
		error = certify_wait(c, &pair->b, &wc, &diag);
	if (!error)
		error = rdmaez_ah_create_from_wc(c->pd, &wc, received_at(&pair->b), c->port, &ah,
						 &diag);
	if (!error) {
		pair->b.ah = ah;
		error = certify_send(c, &pair->b, &pair->a, &diag);
		pair->b.ah = before;
	}
	certify_is(c, "SEND back to where a datagram came from", error, &diag);
	if (ah)
		ibv_destroy_ah(ah);
}

/* A queue pair that has failed carries no more: false. */
static bool carry_all(struct certify *c, struct certify_pair *pair, enum ibv_qp_type type)
{
	static const struct op ops[] = {
		{"SEND", IBV_WR_SEND, false, false},
		{"SEND with immediate data", IBV_WR_SEND_WITH_IMM, false, false},
		{"WRITE", IBV_WR_RDMA_WRITE, false, false},
		{"WRITE with immediate data", IBV_WR_RDMA_WRITE_WITH_IMM, false, false},
		{"READ", IBV_WR_RDMA_READ, false, false},
		{"FETCH_AND_ADD", IBV_WR_ATOMIC_FETCH_AND_ADD, false, false},
		{"CMP_AND_SWP", IBV_WR_ATOMIC_CMP_AND_SWP, false, false}};
	struct rdmaez_diag diag;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!has(&ops[i], type))
			continue;
		doctor_step("%s: %s", c->group, ops[i].step);
		if (is_atomic(&ops[i]) && !c->has_atomics) {
			certify_step(c, CERTIFY_NOT_OFFERED, ops[i].step,
				     "the device reports no atomics");
			continue;
		}
		if (!certify_is(c, ops[i].step, carry(c, &ops[i], &pair->a, &pair->b, &diag),
				&diag))
			return false;
	}
	if (type == IBV_QPT_UD)
		answer(c, pair);
	else if (type != IBV_QPT_XRC_SEND)
		certify_is(c, "SEND in the other direction",
			   certify_send(c, &pair->b, &pair->a, &diag), &diag);
	return true;
}

bool certify_traffic(struct certify *c, enum ibv_qp_type type)
{
	struct certify_pair pair;
	struct rdmaez_diag diag;
	bool is_good;

	if (!certify_pair(c, &pair, type, "connect two queue pairs"))
		return false;
	certify_step(c, CERTIFY_PASS, "connect two queue pairs", "%s", "");
	is_good = carry_all(c, &pair, type);
	certify_is(c, "destroy both queue pairs", certify_pair_close(&pair, &diag), &diag);
	return is_good;
}

/* --- What else carries data --------------------------------------------------------------------------- */

static void extra(struct certify *c, const char *step, const struct certify_end_opts *opts,
		  const struct op *op)
{
	struct certify_pair pair;
	struct rdmaez_diag diag, ignored;
	int error;

	doctor_step("%s: %s", c->group, step);
	error = certify_pair_open(c, &pair, opts, &c->opts, &diag);
	if (!error) {
		error = carry(c, op, &pair.a, &pair.b, &diag);
		certify_pair_close(&pair, &ignored);
	}
	certify_is(c, step, error, &diag);
}

void certify_extras(struct certify *c)
{
	static const struct certify_end_opts srq = {IBV_QPT_RC, true, false, false, false};
	static const struct certify_end_opts in_line = {IBV_QPT_RC, false, true, false, false};
	static const struct certify_end_opts extended = {IBV_QPT_RC, false, false, true, false};
	static const struct certify_end_opts channel = {IBV_QPT_RC, false, false, false, true};
	static const struct op plain = {"", IBV_WR_SEND, false, false};
	static const struct op with_inline = {"", IBV_WR_SEND, true, false};
	static const struct op with_functions = {"", IBV_WR_SEND, false, true};

	extra(c, "SEND to a shared receive queue", &srq, &plain);
	extra(c, "SEND of inline data", &in_line, &with_inline);
	extra(c, "SEND by the extended interface", &extended, &with_functions);
	extra(c, "SEND with a completion channel", &channel, &plain);
}

/* --- Device memory ------------------------------------------------------------------------------------ */

/* By RDMA: from host memory into the device's, and back to other host memory. */
static int through_device(struct certify *c, struct certify_pair *pair,
			  const struct rdmaez_dm_region *region, struct rdmaez_diag *diag)
{
	struct certify_end *const a = &pair->a;
	struct ibv_sge out = {(uintptr_t)sent_from(a), 64, c->mr->lkey};
	struct ibv_sge in = {(uintptr_t)received_at(a), 64, c->mr->lkey};
	struct rdmaez_remote remote = {0, 64, region->mr->rkey};
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	int error = rdmaez_dm_remote(region, 0, 64, &remote.addr, diag);

	fill(sent_from(a), received_at(a));
	memset(&wr, 0, sizeof(wr));
	if (!error)
		error = rdmaez_wr_write(&wr, &out, &remote, 0, diag);
	if (!error)
		error = rdmaez_wr_post_send(a->qp, &wr, NULL, diag);
	if (!error)
		error = certify_wait(c, a, &wc, diag);
	memset(&wr, 0, sizeof(wr));
	if (!error)
		error = rdmaez_wr_read(&wr, &in, &remote, 0, diag);
	if (!error)
		error = rdmaez_wr_post_send(a->qp, &wr, NULL, diag);
	if (!error)
		error = certify_wait(c, a, &wc, diag);
	if (!error && memcmp(sent_from(a), received_at(a), 64) != 0)
		error = EBADMSG;
	return error;
}

static void copy_both_ways(struct certify *c, const struct rdmaez_dm *dm)
{
	uint8_t *const out = c->mr->addr, *const in = out + CERTIFY_SLOT;
	int error;

	fill(out, in);
	error = rdmaez_dm_copy_to(dm, 0, out, 64);
	if (!error)
		error = rdmaez_dm_copy_from(dm, 0, in, 64);
	if (!error && memcmp(out, in, 64) != 0)
		error = EBADMSG;
	if (error)
		certify_step(c, CERTIFY_FAIL, "copy into the device memory and out of it", "%s",
			     rdmaez_errno_str(error));
	else
		certify_step(c, CERTIFY_PASS, "copy into the device memory and out of it", "%s",
			     "");
}

static void use_device_memory(struct certify *c, const struct rdmaez_dm *dm, bool has_rc)
{
	struct rdmaez_dm_region region;
	struct certify_pair pair;
	struct rdmaez_diag diag, ignored;

	copy_both_ways(c, dm);
	if (!certify_is(
		    c, "register the device memory",
		    rdmaez_dm_reg(dm, c->pd, NULL,
				  rdmaez_dm_access(RDMAEZ_DM_PEER_READS | RDMAEZ_DM_PEER_WRITES),
				  &region, &diag),
		    &diag))
		return;
	if (!has_rc) {
		certify_step(c, CERTIFY_NOT_TRIED, "WRITE to the device memory and READ from it",
			     "no data passed over RC before");
	} else if (certify_pair(c, &pair, IBV_QPT_RC,
				"WRITE to the device memory and READ from it")) {
		certify_is(c, "WRITE to the device memory and READ from it",
			   through_device(c, &pair, &region, &diag), &diag);
		certify_pair_close(&pair, &ignored);
	}
	certify_is(c, "deregister the device memory", rdmaez_mr_dereg(region.mr, &diag), &diag);
}

void certify_device_memory(struct certify *c, bool has_rc)
{
	struct rdmaez_diag diag;
	struct rdmaez_dm dm;

	doctor_step("%s: allocating some", c->group);
	if (!certify_is(c, "allocate 64 bytes", rdmaez_dm_alloc(c->context, 64, NULL, &dm, &diag),
			&diag))
		return;
	use_device_memory(c, &dm, has_rc);
	certify_is(c, "free the device memory", rdmaez_dm_close(&dm, &diag), &diag);
}
