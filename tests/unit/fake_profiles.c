/* SPDX-License-Identifier: MIT */
/* The drivers that the fake stands for: every habit that a profile claims, with its exact answers. */
#include <errno.h>
#include <sys/utsname.h>
#include "tap.h"
#include "fake_verbs.h"

enum {
	STALE = 0xa5, /* what the kernel's memory held before */
	ALL_BITS = (1 << 21) - 1,
};

static struct fake_device *dev;
static struct ibv_context *ctx;

/* A device of this driver in this kernel, opened. */
static void start(const char *release, enum fake_profile profile)
{
	dev = fake_reset();
	fake_uname(release);
	fake_profile(dev, profile);
	dev->habits.stale = STALE;
	ctx = fake_open(dev);
}

static struct ibv_qp_attr query(struct ibv_qp *qp, int attr_mask, int error)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	memset(&attr, 0x77, sizeof(attr));
	tap_eq_int(ibv_query_qp(qp, &attr, attr_mask, &init), error, "asking for 0x%x yields %d",
		   (unsigned int)attr_mask, error);
	return attr;
}

static void test_release(void)
{
	struct utsname name;

	fake_reset();
	tap_eq_int(uname(&name), 0, "uname() answers");
	tap_eq_str(name.sysname, "Linux", "it is Linux");
	tap_eq_str(name.release, "6.1.0-fake", "of the default release");
	fake_uname("6.12.0-fake");
	tap_eq_int(uname(&name), 0, "uname() answers again");
	tap_eq_str(name.release, "6.12.0-fake", "with the release that it was told");
	fake_uname(NULL);
	errno = 0;
	tap_eq_int(uname(&name), -1, "without a release it fails");
	tap_eq_int(errno, EFAULT, "with EFAULT");
	fake_reset();
	tap_eq_int(uname(&name), 0, "and no more after a reset");
	tap_eq_str(name.release, "6.1.0-fake", "which sets the default again");
}

static void test_efa(void)
{
	const int taken = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY |
			  IBV_QP_SQ_PSN | IBV_QP_CAP | IBV_QP_RNR_RETRY;
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	start("6.1.0", FAKE_PROFILE_EFA);
	qp = fake_qp(ctx, IBV_QPT_DRIVER);
	fake_qp_force(qp, IBV_QPS_RTS);
	for (int bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1)
		query(qp, bit, bit & taken ? 0 : EOPNOTSUPP);
	attr = query(qp, taken, 0);
	tap_eq_int(attr.qp_state, IBV_QPS_RTS, "efa tells the state");
	tap_eq_int(attr.port_num, 1, "and its only port");
}

static void test_siw(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	start("6.1.0", FAKE_PROFILE_SIW);
	qp = fake_qp(ctx, IBV_QPT_RC);
	fake_qp_force(qp, IBV_QPS_RTS);
	attr = query(qp, ALL_BITS, 0);
	tap_eq_int(attr.qp_state, STALE, "siw of Linux 6.1 does not tell the state");
	tap_eq_int(qp->state, STALE, "and libibverbs believes what it got");
	tap_eq_int(attr.port_num, STALE, "nor does it tell the port");
	tap_eq_int(attr.cap.max_send_wr, 16, "but the queues' sizes");

	start("6.12.0", FAKE_PROFILE_SIW);
	qp = fake_qp(ctx, IBV_QPT_RC);
	fake_qp_force(qp, IBV_QPS_RTS);
	attr = query(qp, ALL_BITS, 0);
	tap_eq_int(attr.qp_state, IBV_QPS_RTS, "siw of Linux 6.12 tells the state");
	tap_eq_int(attr.port_num, STALE, "and still no port");
}

static void test_bnxt_re(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	start("6.1.0", FAKE_PROFILE_BNXT_RE);
	qp = fake_qp(ctx, IBV_QPT_RC);
	fake_qp_force(qp, IBV_QPS_INIT);
	attr = query(qp, ALL_BITS, 0);
	tap_eq_int(attr.qp_state, IBV_QPS_INIT, "bnxt_re of Linux 6.1 tells the state");
	tap_eq_int(attr.port_num, STALE, "but not the port");

	start("6.12.0", FAKE_PROFILE_BNXT_RE);
	qp = fake_qp(ctx, IBV_QPT_RC);
	fake_qp_force(qp, IBV_QPS_INIT);
	attr = query(qp, ALL_BITS, 0);
	tap_eq_int(attr.port_num, 1, "bnxt_re of Linux 6.12 tells the port");
}

int main(void)
{
	test_release();
	test_efa();
	test_siw();
	test_bnxt_re();
	fake_close_all();
	return tap_done();
}
