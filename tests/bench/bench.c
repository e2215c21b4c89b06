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
	return fake_close_all() > 0 ? 0 : 1;
}
