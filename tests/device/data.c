/* SPDX-License-Identifier: MIT */
/* The data path with real traffic: all operations by both interfaces, UD answers, send credit, polling. */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include <arpa/inet.h>

#include "rig.h"

enum {
	DEPTH = 16,    /* of each queue */
	INLINE = 64,   /* bytes */
	MANY = 10000,  /* sends through such a queue */
	LENGTH = 1024, /* of a message */
	PIECE = 512,   /* of one of several SGEs */
	IMM = 0x12345678,
};

static struct rig rig;

/* A queue pair that has both interfaces, with memory for all operations, and one completion queue. */
struct end {
	struct ibv_qp *qp;
	struct ibv_qp_ex *ex;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct rdmaez_remote remote;
	_Alignas(8) uint8_t memory[RIG_BYTES];
};

static struct end *end_open(enum ibv_qp_type type, uint64_t operations)
{
	struct end *end = (struct end *)calloc(1, sizeof(*end));
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 4,
			.max_recv_sge = 1,
			.max_inline_data = INLINE},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = operations,
		.pd = rig.pd,
	};

	rig_need(end, "calloc");
	end->cq = ibv_create_cq(rig.context, 2 * DEPTH, NULL, NULL, 0);
	rig_need(end->cq, "ibv_create_cq");
	init.send_cq = init.recv_cq = end->cq;
	end->qp = ibv_create_qp_ex(rig.context, &init);
	rig_need(end->qp, "ibv_create_qp_ex");
	end->ex = ibv_qp_to_qp_ex(end->qp);
	rig_need(end->ex, "ibv_qp_to_qp_ex");
	end->mr = ibv_reg_mr(rig.pd, end->memory, RIG_BYTES,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	rig_need(end->mr, "ibv_reg_mr");
	if (rdmaez_mr_remote(end->mr, &end->remote, NULL))
		tap_bail("a region that is none");
	return end;
}

static void end_close(struct end *end)
{
	if (ibv_destroy_qp(end->qp) || ibv_destroy_cq(end->cq) || ibv_dereg_mr(end->mr))
		tap_bail("cannot destroy a queue pair: %s", strerror(errno));
	free(end);
}

static const uint64_t all_operations =
	IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE |
	IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
	IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

/* Two of RC, connected to each other. */
static void pair_open(struct end *end[2])
{
	struct rdmaez_qp_opts opts = {.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
						IBV_ACCESS_REMOTE_ATOMIC,
				      .timeout = 18};
	struct rdmaez_diag diag;

	end[0] = end_open(IBV_QPT_RC, all_operations);
	end[1] = end_open(IBV_QPT_RC, all_operations);
	if (rdmaez_qp_connect_loopback(end[0]->qp, end[1]->qp, &opts, &diag)) {
		rdmaez_diag_print(&diag, stderr);
		tap_bail("cannot connect");
	}
}

/* One completion; whether it came, and was good. */
static bool complete(struct end *end, struct ibv_wc *wc)
{
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 1};
	struct rdmaez_diag diag;

	if (!rdmaez_wc_wait(end->cq, end->qp, &batch, (uint64_t)RIG_SECONDS * 1000000000, &diag))
		return true;
	rdmaez_diag_print(&diag, stderr);
	return false;
}

static bool by_ex;

static int post(struct end *end, struct ibv_send_wr *wr, struct rdmaez_diag *diag)
{
	struct ibv_send_wr *bad;

	return by_ex ? rdmaez_wr_post_ex(end->ex, wr, &bad, diag)
		     : rdmaez_wr_post_send(end->qp, wr, &bad, diag);
}

static bool post_and_complete(struct end *end, struct ibv_send_wr *wr)
{
	struct rdmaez_diag diag;
	struct ibv_wc wc;

	wr->wr_id = 77;
	wr->send_flags |= IBV_SEND_SIGNALED;
	if (post(end, wr, &diag)) {
		rdmaez_diag_print(&diag, stderr);
		return false;
	}
	return complete(end, &wc) && wc.wr_id == 77;
}

static void post_receive(struct end *end)
{
	struct ibv_recv_wr wr = {.num_sge = 1}, *bad;
	struct ibv_sge sge;

	wr.sg_list = &sge;
	if (rdmaez_mr_sge(end->mr, end->memory + RIG_HALF, RIG_HALF, &sge, NULL) ||
	    ibv_post_recv(end->qp, &wr, &bad))
		tap_bail("cannot post a receive");
}

/* New bytes in the first half of one end, and others in the second half of the other. */
static void fill(struct end *from, struct end *to)
{
	static uint8_t seed;

	seed++;
	for (int i = 0; i < RIG_HALF; i++)
		from->memory[i] = (uint8_t)(seed + 7 * i);
	memset(to->memory + RIG_HALF, ~seed, RIG_HALF);
}

static bool has_arrived(const struct end *from, const struct end *to, size_t offset, size_t length)
{
	return memcmp(from->memory, to->memory + RIG_HALF + offset, length) == 0;
}

static struct ibv_sge part(const struct end *end, size_t offset, size_t length)
{
	struct ibv_sge sge;

	if (rdmaez_mr_sge(end->mr, end->memory + offset, length, &sge, NULL))
		tap_bail("part of a region that is not in it");
	return sge;
}

/* ---- Operations ----------------------------------------------------------------------------- */

static void check_sends(struct end *a, struct end *b, const char *how)
{
	/* Of equal lengths: rxe's ibv_wr_set_sge_list() before rdma-core 65 takes the first one's for all. */
	struct ibv_sge sge[3] = {part(a, 0, PIECE), part(a, PIECE, PIECE),
				 part(a, 2 * PIECE, PIECE)};
	struct ibv_send_wr wr = {0};
	struct ibv_wc wc;
	uint32_t imm = 0;

	fill(a, b);
	post_receive(b);
	rdmaez_wr_send(&wr, sge);
	tap_ok(post_and_complete(a, &wr) && complete(b, &wc) && has_arrived(a, b, 0, PIECE),
	       "%s: a send", how);
	tap_eq_int(rdmaez_wc_imm(&wc, &imm), ENODATA, "%s: without a number", how);
	fill(a, b);
	post_receive(b);
	tap_eq_int(rdmaez_wr_imm(&wr, IMM, NULL), 0, "%s: with a number", how);
	wr.sg_list = sge;
	wr.num_sge = 3;
	tap_ok(post_and_complete(a, &wr) && complete(b, &wc) && has_arrived(a, b, 0, 3 * PIECE),
	       "%s: a send of three SGEs", how);
	tap_eq_int(rdmaez_wc_imm(&wc, &imm), 0, "%s: has a number", how);
	tap_eq_hex(imm, IMM, "%s: the one that was sent", how);
	/* And its ibv_wr_set_inline_data_list() has sent nothing. */
	for (int sges = 1; sges <= (by_ex ? 1 : 2); sges++) {
		fill(a, b);
		post_receive(b);
		sge[0] = part(a, 0, 24);
		sge[1] = part(a, 24, 8);
		wr = (struct ibv_send_wr){.sg_list = sge, .num_sge = sges};
		rdmaez_wr_send(&wr, NULL);
		tap_eq_int(rdmaez_wr_inline(&wr, INLINE, NULL), 0, "%s: inline", how);
		tap_ok(post_and_complete(a, &wr) && complete(b, &wc) &&
			       has_arrived(a, b, 0, sges == 1 ? 24 : 32),
		       "%s: inline data of %d SGEs", how, sges);
	}
	post_receive(b);
	wr = (struct ibv_send_wr){0};
	rdmaez_wr_send(&wr, NULL);
	tap_ok(post_and_complete(a, &wr) && complete(b, &wc) && wc.byte_len == 0,
	       "%s: a send of nothing", how);
}

static void check_rdma(struct end *a, struct end *b, const char *how)
{
	struct ibv_sge sge = part(a, 0, LENGTH);
	struct ibv_send_wr wr = {0};
	struct ibv_wc wc;
	uint32_t imm = 0;

	fill(a, b);
	tap_eq_int(rdmaez_wr_write(&wr, &sge, &b->remote, RIG_HALF + 3, NULL), 0, "%s: a WRITE",
		   how);
	tap_ok(post_and_complete(a, &wr) && has_arrived(a, b, 3, LENGTH), "%s: arrives", how);
	fill(a, b);
	post_receive(b);
	tap_ok(!rdmaez_wr_write(&wr, &sge, &b->remote, RIG_HALF, NULL) &&
		       !rdmaez_wr_imm(&wr, IMM, NULL),
	       "%s: a WRITE with a number", how);
	tap_ok(post_and_complete(a, &wr) && complete(b, &wc) && has_arrived(a, b, 0, LENGTH),
	       "%s: arrives", how);
	tap_ok(!rdmaez_wc_imm(&wc, &imm) && imm == IMM, "%s: so does the number", how);
	fill(b, a);
	sge = part(a, RIG_HALF, LENGTH);
	wr = (struct ibv_send_wr){0};
	tap_eq_int(rdmaez_wr_read(&wr, &sge, &b->remote, 0, NULL), 0, "%s: a READ", how);
	tap_ok(post_and_complete(a, &wr) && has_arrived(b, a, 0, LENGTH), "%s: comes back", how);
}

static uint64_t number_at(const struct end *end, size_t offset)
{
	uint64_t number;

	memcpy(&number, end->memory + offset, sizeof(number));
	return number;
}

static void check_atomics(struct end *a, struct end *b, const char *how)
{
	struct ibv_sge sge = part(a, 64, 8);
	struct ibv_send_wr wr = {0};
	const struct rdmaez_wr_swap swap = {1005, 7};
	const uint64_t start = 1000;

	memcpy(b->memory + 128, &start, sizeof(start));
	tap_eq_int(rdmaez_wr_fetch_add(&wr, &sge, &b->remote, 128, 5, NULL), 0, "%s: fetch and add",
		   how);
	tap_ok(post_and_complete(a, &wr), "%s: completes", how);
	tap_eq_int(number_at(a, 64), 1000, "%s: the number before", how);
	tap_eq_int(number_at(b, 128), 1005, "%s: and after", how);
	tap_eq_int(rdmaez_wr_compare_swap(&wr, &sge, &b->remote, 128, &swap, NULL), 0, "%s: swap",
		   how);
	tap_ok(post_and_complete(a, &wr), "%s: completes", how);
	tap_eq_int(number_at(a, 64), 1005, "%s: the number before", how);
	tap_eq_int(number_at(b, 128), 7, "%s: and after", how);
}

static void check_list(struct end *a, struct end *b, const char *how)
{
	struct ibv_sge sge[3];
	struct ibv_send_wr wr[3] = {{0}};
	struct rdmaez_diag diag;
	struct ibv_wc wc[3];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 3, .want = 2};

	fill(a, b);
	for (size_t i = 0; i < 3; i++) {
		sge[i] = part(a, i * LENGTH / 2, LENGTH / 2);
		wr[i].wr_id = i;
		wr[i].send_flags = i ? IBV_SEND_SIGNALED : 0;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
		if (rdmaez_wr_write(&wr[i], &sge[i], &b->remote, RIG_HALF + i * LENGTH / 2, NULL))
			tap_bail("a WRITE that is within bounds");
	}
	tap_eq_int(post(a, wr, &diag), 0, "%s: a list", how);
	tap_eq_int(rdmaez_wc_wait(a->cq, a->qp, &batch, (uint64_t)RIG_SECONDS * 1000000000, &diag),
		   0, "%s: completes", how);
	tap_ok(batch.count == 2 && wc[0].wr_id == 1 && wc[1].wr_id == 2,
	       "%s: each with its own number and flags", how);
	tap_ok(has_arrived(a, b, 0, 3 * LENGTH / 2), "%s: all of it arrives", how);
}

static void check_operations(void)
{
	struct end *end[2];

	pair_open(end);
	for (int i = 0; i < 2; i++) {
		const char *const how = i ? "ibv_wr_*" : "ibv_post_send";

		by_ex = i;
		check_sends(end[0], end[1], how);
		check_rdma(end[0], end[1], how);
		check_atomics(end[0], end[1], how);
		check_list(end[0], end[1], how);
	}
	by_ex = false;
	end_close(end[0]);
	end_close(end[1]);
}

/* What rxe refuses, and rdmaez before it. */
static void check_refused(void)
{
	const uint64_t ready =
		1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE | 1 << IBV_QPS_ERR;
	struct end *end = end_open(IBV_QPT_RC, IBV_QP_EX_WITH_SEND), *pair[2];
	struct ibv_sge sge = part(end, 0, 8), large[4];
	struct ibv_send_wr wr = {0}, *bad;
	const struct rdmaez_finding *found;
	struct rdmaez_diag diag;

	rdmaez_wr_send(&wr, &sge);
	tap_eq_int(rdmaez_wr_post_ex(end->ex, &wr, &bad, &diag), EINVAL, "before RTS");
	found = rdmaez_diag_find(&diag, RDMAEZ_WHY_WR_STATE);
	tap_ok(found && found->severity == RDMAEZ_DIAG_ERROR && found->max == ready,
	       "the state is certain");
	if (rdmaez_wr_read(&wr, &sge, &end->remote, 0, NULL))
		tap_bail("a READ that is within bounds");
	tap_eq_int(rdmaez_wr_post_ex(end->ex, &wr, &bad, &diag), EINVAL, "an operation less");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_WR_EX_OPCODE), "is not called");
	end_close(end);

	pair_open(pair);
	for (int i = 0; i < 4; i++)
		large[i] = part(pair[0], 0, 512);
	wr = (struct ibv_send_wr){.sg_list = large, .num_sge = 4, .send_flags = IBV_SEND_INLINE};
	rdmaez_wr_send(&wr, NULL);
	tap_eq_int(rdmaez_wr_post_ex(pair[0]->ex, &wr, &bad, &diag), ENOSPC,
		   "too much inline data");
	found = rdmaez_diag_find(&diag, RDMAEZ_WHY_WR_INLINE);
	tap_ok(found && found->severity == RDMAEZ_DIAG_ERROR, "is certain");
	end_close(pair[0]);
	end_close(pair[1]);
}

/* ---- UD ------------------------------------------------------------------------------------- */

static struct end *ud_open(void)
{
	struct end *end = end_open(IBV_QPT_UD, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM);
	struct rdmaez_qp_opts opts = {.port_attr = &rig.port};
	struct rdmaez_diag diag;

	if (rdmaez_qp_to_init(end->qp, &opts, &diag) || rdmaez_qp_to_rtr(end->qp, &opts, &diag) ||
	    rdmaez_qp_to_rts(end->qp, &opts, &diag))
		tap_bail("cannot bring a queue pair up");
	return end;
}

/* A message from one to the other, as it arrived. */
static bool send_to(struct end *from, struct end *to, struct ibv_ah *ah, struct ibv_wc *wc)
{
	struct ibv_sge sge = part(from, 0, RIG_UD_SIZE);
	struct ibv_send_wr wr = {0};

	fill(from, to);
	post_receive(to);
	return !rdmaez_wr_send_to(&wr, &sge, ah, to->qp->qp_num, RDMAEZ_QP_QKEY, NULL) &&
	       !rdmaez_wr_imm(&wr, IMM, NULL) && post_and_complete(from, &wr) && complete(to, wc);
}

/* To ourselves by this GID, and back to whoever it came from. */
static void check_answer(const struct ibv_gid_entry *gid, int version, const char *how)
{
	struct end *a = ud_open(), *b = ud_open();
	struct rdmaez_path path = {.dgid = gid->gid,
				   .sgid_index = rdmaez_exactly((int)gid->gid_index),
				   .traffic_class = RDMAEZ_PATH_DSCP(26)};
	struct ibv_ah *ah = NULL, *back = NULL;
	struct rdmaez_grh grh;
	struct rdmaez_diag diag;
	struct ibv_wc wc;

	memset(&grh, 0, sizeof(grh));
	if (rdmaez_ah_create(rig.pd, &path, 1, &ah, &diag)) {
		rdmaez_diag_print(&diag, stderr);
		tap_bail("%s: no handle", how);
	}
	tap_ok(send_to(a, b, ah, &wc), "%s: a message", how);
	tap_eq_int(rdmaez_wc_grh(&wc, b->memory + RIG_HALF, &grh, NULL), 0, "%s: has a header",
		   how);
	tap_eq_int(grh.version, version, "%s: of the version", how);
	tap_ok(!memcmp(&grh.sgid, &gid->gid, 16), "%s: from our GID", how);
	tap_ok(!memcmp(&grh.dgid, &gid->gid, 16), "%s: to our GID", how);
	/* Not an option's: the kernel takes the route's for a handle that it keeps. */
	tap_eq_int(grh.hop_limit, 64, "%s: with the hops", how);
	tap_eq_hex(grh.traffic_class & 0xfc, 26 << 2, "%s: and the DSCP that it was sent with",
		   how);
	tap_eq_int(grh.length, RIG_UD_SIZE, "%s: all of it", how);
	tap_ok(grh.payload && !memcmp(grh.payload, a->memory, RIG_UD_SIZE), "%s: as sent", how);
	if (rdmaez_ah_create_from_wc(rig.pd, &wc, b->memory + RIG_HALF, 1, &back, &diag)) {
		rdmaez_diag_print(&diag, stderr);
		tap_bail("%s: no way back", how);
	}
	tap_eq_int(wc.src_qp, a->qp->qp_num, "%s: the sender is known", how);
	tap_ok(send_to(b, a, back, &wc), "%s: the answer", how);
	tap_eq_int(rdmaez_wc_grh(&wc, a->memory + RIG_HALF, &grh, NULL), 0, "%s: has a header",
		   how);
	tap_eq_int(grh.hop_limit, 64, "%s: with hops of its own", how);
	tap_ok(!memcmp(grh.payload, b->memory, RIG_UD_SIZE), "%s: it arrives", how);
	ibv_destroy_ah(ah);
	ibv_destroy_ah(back);
	end_close(a);
	end_close(b);
}

static void check_ud(void)
{
	struct ibv_gid_entry entry;
	bool has_ipv6 = false;

	for (int i = 0; i < 2; i++) {
		by_ex = i;
		check_answer(&rig.self, 4, i ? "IPv4 by ibv_wr_*" : "IPv4");
	}
	for (uint32_t i = 0; i < (uint32_t)rig.port.gid_tbl_len && !has_ipv6; i++) {
		has_ipv6 = !ibv_query_gid_ex(rig.context, 1, i, &entry, 0) &&
			   entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
			   rdmaez_gid_class(&entry.gid) != RDMAEZ_GID_CLASS_IPV4 &&
			   !rdmaez_gid_is_zero(&entry.gid);
		if (has_ipv6)
			check_answer(&entry, 6, "IPv6");
	}
	by_ex = false;
	tap_ok(has_ipv6, "the port has a GID of IPv6");
}

/* ---- Credit, and polling -------------------------------------------------------------------- */

static void check_credit(void)
{
	struct ibv_wc wc[DEPTH];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = DEPTH};
	unsigned int posted = 0, completions = 0, refused = 0;
	struct rdmaez_credit credit;
	struct rdmaez_diag diag;
	struct end *end[2];
	struct ibv_sge sge;

	pair_open(end);
	fill(end[0], end[1]);
	sge = part(end[0], 0, 64);
	tap_eq_int(rdmaez_credit_init(&credit, DEPTH, 0, NULL), 0, "credit for a queue of %d",
		   DEPTH);
	while (posted < MANY && !refused) {
		struct ibv_send_wr wr = {0};

		by_ex = posted % 3 == 0;
		if (rdmaez_wr_write(&wr, &sge, &end[1]->remote, RIG_HALF, NULL))
			tap_bail("a WRITE that is within bounds");
		wr.send_flags = posted + 1 == MANY ? IBV_SEND_SIGNALED : 0;
		while (rdmaez_credit_take(&credit, &wr) && !refused) {
			refused += rdmaez_wc_wait(end[0]->cq, end[0]->qp, &batch,
						  (uint64_t)RIG_SECONDS * 1000000000, &diag) != 0;
			for (int i = 0; i < batch.count; i++)
				rdmaez_credit_give(&credit, wc[i].wr_id);
			completions += (unsigned int)batch.count;
		}
		refused += post(end[0], &wr, &diag) != 0;
		posted++;
	}
	if (refused)
		rdmaez_diag_print(&diag, stderr);
	tap_eq_int(refused, 0, "%u sends, of which none was refused", posted);
	while (credit.given < credit.taken && complete(end[0], wc)) {
		rdmaez_credit_give(&credit, wc->wr_id);
		completions++;
	}
	tap_ok(credit.given == MANY, "all are done");
	tap_eq_int(completions, MANY / 8, "one completion for eight");
	tap_ok(has_arrived(end[0], end[1], 0, 64), "the last has arrived");
	by_ex = false;
	end_close(end[0]);
	end_close(end[1]);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void check_polling(void)
{
	struct ibv_wc wc[DEPTH];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = DEPTH, .want = 2};
	struct ibv_send_wr wr = {0}, *bad;
	struct rdmaez_remote wrong;
	struct rdmaez_diag diag;
	struct end *end[2];
	struct ibv_sge sge;
	uint64_t begun;

	pair_open(end);
	sge = part(end[0], 0, 64);
	begun = now();
	tap_eq_int(rdmaez_wc_wait(end[0]->cq, end[0]->qp, &batch, 20000000, &diag), ETIMEDOUT,
		   "nothing comes");
	tap_ok(now() - begun >= 20000000, "which takes its time");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_WC_LATE), "and is said");
	tap_eq_int(batch.count, 0, "there is none");
	wrong = end[1]->remote;
	wrong.rkey ^= 0xff00;
	if (rdmaez_wr_write(&wr, &sge, &wrong, 0, NULL))
		tap_bail("a WRITE that is within bounds");
	tap_eq_int(rdmaez_wr_post_send(end[0]->qp, &wr, &bad, NULL), 0,
		   "with a wrong key, unsignaled");
	tap_eq_int(rdmaez_wc_wait(end[0]->cq, end[0]->qp, &batch,
				  (uint64_t)RIG_SECONDS * 1000000000, &diag),
		   EIO, "it fails");
	tap_eq_int(batch.count, 1, "although two were wanted");
	tap_eq_str(diag.status, "IBV_WC_REM_ACCESS_ERR", "by its status");
	tap_eq_int(diag.from, IBV_QPS_ERR, "the queue pair was asked");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_WC_RKEY), "for causes");
	end_close(end[0]);
	end_close(end[1]);
}

int main(void)
{
	rig = rig_open();
	check_operations();
	check_refused();
	check_ud();
	check_credit();
	check_polling();
	rig_close(&rig);
	return tap_done();
}
