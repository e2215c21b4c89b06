/* SPDX-License-Identifier: MIT */
/*
 * Calls every measured function BENCH_CALLS times, for callgrind to count, and prints how many verbs calls
 * the bring-ups make. Fails where the versions of a function do not do the same: the builders must leave the
 * same bytes, the bring-ups must make the same verbs calls with the same attributes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "fake_verbs.h"

/* The GID index of fake0 that is best for an IPv4 peer: IPv4-mapped, RoCE v2. */
#define BEST_INDEX 3

static void must(bool holds, const char *function, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "bench: %s: %s\n", function, what);
	exit(1);
}

/* ---- Builders ----------------------------------------------------------------------------- */

static struct rdmaez_qp_move taken;

int take(const struct rdmaez_qp_move *move)
{
	taken = *move;
	return 0;
}

static struct rdmaez_qp_move build(int (*builder)(const struct input *), const struct input *in,
				   const char *name)
{
	memset(&taken, 0x55, sizeof(taken));
	for (int i = 0; i < BENCH_CALLS; i++)
		must(!builder(in), name, "a builder refuses what is right");
	return taken;
}

static void builders(const struct input *in)
{
	struct rdmaez_qp_move ez, hand;

#define STEP(name)                            \
	ez = build(ez_##name, in, #name);     \
	hand = build(bare_##name, in, #name); \
	must(!memcmp(&ez, &hand, sizeof(ez)), #name, "by hand leaves other bytes");
	BENCH_STEPS(STEP)
#undef STEP
}

/* ---- Bring-ups ---------------------------------------------------------------------------- */

struct calls {
	unsigned int count;
	struct fake_call call[16];
};

/* Back to RESET, and the record of calls empty. */
static void rewind_qp(struct ibv_qp *qp)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

	must(!ibv_modify_qp(qp, &reset, IBV_QP_STATE), "to RESET", "refused");
	fake_reset_log();
}

/* Copies the record of calls, with what a verb does not use set to zero. */
static void note(struct calls *calls, const char *name)
{
	memset(calls, 0, sizeof(*calls));
	calls->count = fake_count(FAKE_ANY);
	must(calls->count <= 16, name, "makes too many calls");
	for (unsigned int i = 0; i < calls->count; i++) {
		const struct fake_call *call = fake_nth(i + 1);

		calls->call[i].verb = call->verb;
		calls->call[i].object = call->object;
		calls->call[i].port = call->port;
		calls->call[i].index = call->index;
		calls->call[i].attr_mask = call->attr_mask;
		if (call->verb == FAKE_MODIFY_QP)
			calls->call[i].arg.qp_attr = call->arg.qp_attr;
	}
}

static void bring_up(struct calls *calls, int (*up)(struct ibv_qp *, const struct input *),
		     struct ibv_qp *qp, const struct input *in, const char *name)
{
	for (int i = 0; i < BENCH_CALLS; i++) {
		rewind_qp(qp);
		must(!up(qp, in), name, "the queue pair is not up");
	}
	note(calls, name);
	must(fake_qp_true(qp)->qp_state == IBV_QPS_RTS, name, "not in RTS");
	must(fake_qp_true(qp)->ah_attr.grh.sgid_index == BEST_INDEX, name, "GID index");
	printf("calls %s %u\n", name, calls->count);
}

static void bring_ups(struct ibv_qp *qp, const struct input *in)
{
	struct calls ez, hand, connected, asking;

	bring_up(&ez, ez_up_known, qp, in, "ez_up_known");
	bring_up(&hand, bare_up_known, qp, in, "bare_up_known");
	must(!memcmp(&ez, &hand, sizeof(ez)), "ez_up_known", "by hand makes other calls");
	bring_up(&connected, ez_up_connect, qp, in, "ez_up_connect");
	must(!memcmp(&connected, &hand, sizeof(hand)), "ez_up_connect",
	     "by hand makes other calls");
	bring_up(&asking, ez_up_asking, qp, in, "ez_up_asking");
}

/* Attributes changed within RTS, where the bring-ups left the queue pair. */
static void modifications(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .min_rnr_timer = 12};
	const int mask = IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER;

	for (int i = 0; i < BENCH_CALLS; i++) {
		must(!ez_modify(qp, &attr, mask), "ez_modify", "refused");
		must(!bare_modify(qp, &attr, mask), "bare_modify", "refused");
	}
}

/* 64 bytes into device memory and out again. */
static void copies(struct ibv_context *context)
{
	static uint64_t sent[8] = {1, 2, 3, 4, 5, 6, 7, 8}, got[8];
	const size_t size = sizeof(sent);
	struct rdmaez_dm dm;

	must(!rdmaez_dm_alloc(context, 4096, NULL, &dm, NULL), "rdmaez_dm_alloc", "refused");
	for (int i = 0; i < BENCH_CALLS; i++) {
		must(!ez_copy_to(&dm, 128, sent, size), "ez_copy_to", "refused");
		must(!bare_copy_to(dm.dm, 384, sent, size), "bare_copy_to", "refused");
	}
#define COPY(function, memory, offset)                                            \
	for (int i = 0; i < BENCH_CALLS; i++) {                                   \
		memset(got, 0, size);                                             \
		must(!function(memory, offset, got, size), #function, "refused"); \
		must(!memcmp(sent, got, size), #function, "other bytes");         \
	}
	COPY(ez_copy_from, &dm, 384)
	COPY(bare_copy_from, dm.dm, 128)
#undef COPY
	must(!rdmaez_dm_close(&dm, NULL), "rdmaez_dm_close", "refused");
}

/* Two ends with four GIDs each; the route leads from the one that the bring-up by hand takes. */
static void endpoints(struct ibv_qp *qp, struct input *in)
{
	must(!rdmaez_endpoint_local(qp, NULL, &in->local, NULL), "endpoints", "refused");
	must(in->local.gid_count == RDMAEZ_ENDPOINT_GIDS, "endpoints", "too few GIDs");
	must(in->local.gid[0].gid_index == BEST_INDEX, "endpoints", "GID index");
	in->local.psn = in->sq_psn;
	in->local.gid[0].by_route = true;
	in->remote = in->local;
	in->remote.qp_num = in->dest_qp_num;
	in->remote.psn = in->rq_psn;
	in->remote.gid[0].gid = in->dgid;
}

/* ---- The data path ------------------------------------------------------------------------ */

/* A queue pair in RTS that has both interfaces. */
static struct ibv_qp *both_interfaces(struct ibv_context *context, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_RC};
	struct ibv_qp *qp;

	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	init.pd = ibv_alloc_pd(context);
	init.send_cq = init.recv_cq = cq;
	init.cap.max_send_wr = 4;
	init.cap.max_send_sge = 1;
	qp = ibv_create_qp_ex(context, &init);
	must(qp != NULL, "ibv_create_qp_ex", "refused");
	fake_qp_force(qp, IBV_QPS_RTS);
	qp->state = IBV_QPS_RTS;
	return qp;
}

/* The first work request that a call has posted, without what points to the caller's memory. */
static struct ibv_send_wr posted(enum fake_verb verb)
{
	struct ibv_send_wr wr = fake_last(verb)->arg.send_wr;

	must(wr.num_sge == 1, "post", "another number of SGEs");
	wr.sg_list = NULL;
	return wr;
}

static void posts(struct ibv_qp *qp, const struct ibv_mr *mr, const struct data *data)
{
	struct ibv_qp_ex *const ex = ibv_qp_to_qp_ex(qp);
	struct ibv_send_wr ez, hand;

#define POST(function, object, verb, as)                          \
	for (int i = 0; i < BENCH_CALLS; i++) {                   \
		must(!function(object, mr, data), #function, ""); \
		as = posted(verb);                                \
		fake_qp_work_done(qp);                            \
		fake_reset_log();                                 \
	}
	POST(ez_data_post, qp, FAKE_POST_SEND, ez)
	POST(bare_data_post, qp, FAKE_POST_SEND, hand)
	must(!memcmp(&ez, &hand, sizeof(ez)), "ez_data_post", "by hand posts other bytes");
	POST(ez_data_ex, ex, FAKE_WR_COMPLETE, ez)
	POST(bare_data_ex, ex, FAKE_WR_COMPLETE, hand)
	must(!memcmp(&ez, &hand, sizeof(ez)), "ez_data_ex", "by hand posts other bytes");
#undef POST
	must(!fake_misused(), "ez_data_ex", "misused");
}

static void polls(struct ibv_cq *cq)
{
	static const struct ibv_wc good;
	struct ibv_wc wc[16];

	for (int i = 0; i < BENCH_CALLS; i++)
		for (int by_hand = 0; by_hand < 2; by_hand++) {
			for (int n = 0; n < 4; n++)
				must(fake_cq_push(cq, &good), "fake_cq_push", "full");
			must(!(by_hand ? bare_data_poll(cq, wc, 4) : ez_data_poll(cq, wc, 4)),
			     "polls", "failed");
			must(!(by_hand ? bare_data_empty(cq, wc) : ez_data_empty(cq, wc)), "polls",
			     "something is there");
			must(fake_cq_push(cq, &good), "fake_cq_push", "full");
			must((by_hand ? bare_data_one(cq, wc) : ez_data_one(cq, wc)) == 1, "polls",
			     "nothing is there");
		}
}

static void credits(void)
{
	struct rdmaez_credit ez, hand;
	struct ibv_send_wr wr = {0}, same = {0};

	must(!rdmaez_credit_init(&ez, 16, 8, NULL), "rdmaez_credit_init", "refused");
	hand = ez;
	for (int i = 0; i < BENCH_CALLS; i++) {
		wr.send_flags = same.send_flags = 0;
		must(!ez_data_credit(&ez, &wr) && !bare_data_credit(&hand, &same), "credit", "");
		must(wr.wr_id == same.wr_id && wr.send_flags == same.send_flags, "credit",
		     "differs");
		ez.given = hand.given = wr.wr_id + 1;
	}
}

static void data_path(struct ibv_context *context)
{
	static char memory[4096];
	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	struct ibv_qp *qp = both_interfaces(context, cq);
	struct ibv_mr *mr = ibv_reg_mr(qp->pd, memory, sizeof(memory), 0);
	const struct data data = {7, memory + 64, 128, 0x12345678, {0x10000, 4096, 9}, 256};

	must(mr != NULL, "ibv_reg_mr", "refused");
	posts(qp, mr, &data);
	polls(cq);
	credits();
}

int main(void)
{
	struct fake_device *device = fake_reset();
	struct ibv_context *context = fake_open(device);
	struct ibv_qp *qp = fake_qp(context, IBV_QPT_RC);
	struct input in = {0};

	device->attr.max_dm_size = 4096;
	in.sgid_index = BEST_INDEX;
	in.dest_qp_num = 0x123456;
	in.rq_psn = 0x789abc;
	in.sq_psn = 0xdef012;
	in.dgid.raw[10] = in.dgid.raw[11] = 0xff;
	in.dgid.raw[12] = 192;
	in.dgid.raw[14] = 2;
	in.dgid.raw[15] = 7;
	in.port = device->port[1].attr;
	must(!ibv_query_device(context, &in.device), "ibv_query_device", "failed");

	endpoints(qp, &in);
	builders(&in);
	bring_ups(qp, &in);
	modifications(qp);
	copies(context);
	data_path(context);
	return fake_close_all() > 0 ? 0 : 1;
}
