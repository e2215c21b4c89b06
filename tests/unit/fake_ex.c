/* SPDX-License-Identifier: MIT */
/* The fake's extended interface: that it keeps errors to the end, and counts what providers do not notice. */
#include <errno.h>
#include <string.h>

#include "fake_verbs.h"
#include "tap.h"

static struct fake_device *dev;
static struct ibv_qp *qp;
static struct ibv_qp_ex *ex;

static struct ibv_qp *create(enum ibv_qp_type type, uint64_t flags)
{
	struct ibv_qp_init_attr_ex init;
	struct ibv_context *ctx = fake_open(dev);

	memset(&init, 0, sizeof(init));
	init.qp_type = type;
	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.send_ops_flags = flags;
	init.pd = ibv_alloc_pd(ctx);
	init.send_cq = init.recv_cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	init.cap.max_send_wr = 2;
	init.cap.max_send_sge = 1;
	init.cap.max_inline_data = 8;
	return ibv_create_qp_ex(ctx, &init);
}

static void start(enum fake_profile profile, enum ibv_qp_type type)
{
	dev = fake_reset();
	fake_profile(dev, profile);
	qp = create(type, IBV_QP_EX_WITH_SEND);
	ex = ibv_qp_to_qp_ex(qp);
	fake_qp_force(qp, IBV_QPS_RTS);
	fake_reset_log();
}

/* A send that is as it should be. */
static void build(uint64_t wr_id)
{
	ex->wr_id = wr_id;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 1, 2, 3);
}

static void check_session(void)
{
	start(FAKE_PROFILE_PLAIN, IBV_QPT_RC);
	ibv_wr_start(ex);
	build(7);
	build(8);
	tap_eq_int(ibv_wr_complete(ex), 0, "two fit");
	tap_eq_int(fake_built(qp, 0)->wr.wr_id, 7, "the first");
	tap_eq_int(fake_built(qp, 1)->sge[0].length, 3, "and the second");
	tap_ok(!fake_built(qp, 2), "there are no more");
	tap_eq_int(fake_last(FAKE_WR_COMPLETE)->index, 2, "as many are recorded");
	ibv_wr_start(ex);
	build(9);
	tap_eq_int(ibv_wr_complete(ex), ENOMEM, "then the queue is full");
	fake_qp_work_done(qp);
	ibv_wr_start(ex);
	ibv_wr_abort(ex);
	tap_eq_int(fake_misused(), 0, "all of that is right");
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, dev, 9);
	build(10);
	tap_eq_int(ibv_wr_complete(ex), EINVAL, "the first error is kept");
	fake_qp_force(qp, IBV_QPS_RTR);
	ibv_wr_start(ex);
	build(11);
	tap_eq_int(ibv_wr_complete(ex), EINVAL, "it is too early");
	fake_qp_force(qp, IBV_QPS_RTS);
	ibv_wr_start(ex);
	build(12);
	build(13);
	tap_eq_int(ibv_wr_complete(ex), 0, "and neither was kept");
	start(FAKE_PROFILE_RXE, IBV_QPT_RC);
	fake_qp_force(qp, IBV_QPS_RTR);
	ibv_wr_start(ex);
	build(14);
	build(15);
	tap_eq_int(ibv_wr_complete(ex), EINVAL, "too early for rxe");
	ibv_wr_start(ex);
	build(16);
	tap_eq_int(ibv_wr_complete(ex), ENOSPC, "which keeps them");
}

static void check_misuse(void)
{
	struct ibv_send_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	start(FAKE_PROFILE_PLAIN, IBV_QPT_RC);
	build(1);
	tap_eq_int(fake_misused(), 2, "a builder and a setter outside");
	start(FAKE_PROFILE_PLAIN, IBV_QPT_RC);
	ibv_wr_start(ex);
	ibv_wr_start(ex);
	tap_eq_int(fake_misused(), 1, "begun twice");
	ibv_wr_send(ex);
	ibv_wr_complete(ex);
	tap_eq_int(fake_misused(), 2, "no setter");
	ibv_wr_complete(ex);
	tap_ok(fake_misused() > 2, "ended twice");
	start(FAKE_PROFILE_PLAIN, IBV_QPT_UD);
	ibv_wr_start(ex);
	build(1);
	build(2);
	tap_eq_int(fake_misused(), 1, "no address");
	ibv_wr_set_sge(ex, 1, 2, 3);
	tap_eq_int(fake_misused(), 2, "data twice");
	ibv_post_send(qp, &wr, &bad);
	tap_eq_int(fake_misused(), 3, "another post between");
}

static void check_creation(void)
{
	start(FAKE_PROFILE_PLAIN, IBV_QPT_RC);
	tap_ok(ex->wr_send && !ex->wr_send_imm, "there is what was asked for");
	tap_ok(!create(IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_WRITE), "UD has no WRITE");
	tap_eq_int(errno, EOPNOTSUPP, "and says so");
	tap_ok(!ibv_qp_to_qp_ex(fake_qp(fake_open(dev), IBV_QPT_RC)), "others have none of it");
	start(FAKE_PROFILE_MLX5, IBV_QPT_RC);
	tap_ok(ex->wr_send && ex->wr_send_imm, "mlx5 has all");
}

int main(void)
{
	check_session();
	check_misuse();
	check_creation();
	fake_close_all();
	return tap_done();
}
