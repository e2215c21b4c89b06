/* SPDX-License-Identifier: MIT */
/* The fake's protection domains, windows, XRC domains and shared receive queues, and what is kept busy by what. */
#define _POSIX_C_SOURCE 200809L /* mkstemp, O_ flags */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_verbs.h"
#include "tap.h"

static struct fake_device *dev;
static struct ibv_context *ctx;

static void start(void)
{
	dev = fake_reset();
	ctx = fake_open(dev);
}

/* The call failed with this errno and was recorded so, or (error 0) succeeded. */
static void check_ptr(const void *ptr, enum fake_verb verb, int error, const char *what)
{
	tap_eq_int(ptr ? 0 : errno, error, "%s", what);
	tap_eq_int(fake_last(verb)->error, error, "%s: so it is recorded", what);
}

/* ---- What is in use ----------------------------------------------------------------------- */

static void test_pd_is_busy(void)
{
	struct ibv_srq_init_attr srq_init;
	struct ibv_ah_attr path;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	char byte;
	int left;

	start();
	pd = ibv_alloc_pd(ctx);
	memset(&srq_init, 0, sizeof(srq_init));
	srq_init.attr.max_wr = 1;
	srq_init.attr.max_sge = 1;
	memset(&path, 0, sizeof(path));
	path.port_num = 1;
	path.is_global = 1;
	path.grh.dgid = dev->port[1].gid[1].gid;
	path.grh.sgid_index = 1;

	mr = ibv_reg_mr(pd, &byte, 1, 0);
	tap_eq_int(ibv_dealloc_pd(pd), EBUSY, "a protection domain with a region is busy");
	ibv_dereg_mr(mr);
	srq = ibv_create_srq(pd, &srq_init);
	tap_eq_int(ibv_dealloc_pd(pd), EBUSY, "with a shared receive queue it is busy");
	tap_eq_int(ibv_destroy_srq(srq), 0, "which nothing uses");
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	tap_eq_int(ibv_dealloc_pd(pd), EBUSY, "with a window it is busy");
	tap_eq_int(ibv_dealloc_mw(mw), 0, "which can go");
	ah = ibv_create_ah(pd, &path);
	tap_eq_int(ibv_dealloc_pd(pd), EBUSY, "with an address handle it is busy");
	left = fake_open_count();
	ibv_destroy_ah(ah);
	tap_eq_int(fake_open_count(), left - 1, "until that is gone");
	dev->quirks |= FAKE_USER_AH;
	ah = ibv_create_ah(pd, &path);
	dev->quirks = 0; /* what counts is how it was created */
	tap_eq_int(ibv_dealloc_pd(pd), 0, "but the kernel knows no handle of mlx5's library");
	(void)ah;
	fake_close_all();
}

static void test_windows(void)
{
	struct ibv_mw_bind bind;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	char byte;

	start();
	qp = fake_qp(ctx, IBV_QPT_RC);
	mr = ibv_reg_mr(qp->pd, &byte, 1, IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(qp->pd, IBV_MW_TYPE_1);
	memset(&bind, 0, sizeof(bind));
	bind.bind_info.mr = mr;
	tap_eq_int(ibv_bind_mw(qp, mw, &bind), 0, "a window is bound to a region");
	tap_eq_int(ibv_dereg_mr(mr), EINVAL,
		   "which cannot be deregistered, as rxe_dereg_mr() says");
	bind.bind_info.mr = NULL;
	tap_eq_int(ibv_bind_mw(qp, mw, &bind), 0, "it is bound to none");
	tap_eq_int(ibv_dereg_mr(mr), 0, "and the region can go");

	mr = ibv_reg_mr(qp->pd, &byte, 1, IBV_ACCESS_MW_BIND);
	bind.bind_info.mr = mr;
	ibv_bind_mw(qp, mw, &bind);
	tap_eq_int(ibv_dealloc_mw(mw), 0, "a bound window can go");
	tap_eq_int(ibv_dereg_mr(mr), 0, "which frees its region");
	check_ptr(ibv_alloc_mw(qp->pd, (enum ibv_mw_type)3), FAKE_ALLOC_MW, EINVAL,
		  "there are two types of windows");
	fake_close_all();
}

static void test_window_by_request(void)
{
	struct ibv_send_wr wr, *bad = NULL;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char byte;

	start();
	qp = fake_qp(ctx, IBV_QPT_RC);
	fake_qp_force(qp, IBV_QPS_RTS);
	mr = ibv_reg_mr(qp->pd, &byte, 1, IBV_ACCESS_MW_BIND);
	memset(&wr, 0, sizeof(wr));
	wr.opcode = IBV_WR_BIND_MW;
	wr.bind_mw.mw = ibv_alloc_mw(qp->pd, IBV_MW_TYPE_2);
	wr.bind_mw.bind_info.mr = mr;
	tap_eq_int(ibv_post_send(qp, &wr, &bad), 0,
		   "a window of type 2 is bound by a work request");
	tap_eq_int(ibv_dereg_mr(mr), EINVAL, "and holds its region");
	fake_close_all();
}

/* ---- XRC domains -------------------------------------------------------------------------- */

static void test_xrcd(void)
{
	struct ibv_xrcd_init_attr init;
	struct ibv_xrcd *xrcd, *other;
	char name[] = "/tmp/fake_objects.XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0)
		tap_bail("no file can be made in /tmp");
	unlink(name);
	start();
	memset(&init, 0, sizeof(init));
	init.comp_mask = IBV_XRCD_INIT_ATTR_FD;
	init.fd = -1;
	check_ptr(ibv_open_xrcd(ctx, &init), FAKE_OPEN_XRCD, EINVAL, "the flags must be told");
	init.comp_mask = IBV_XRCD_INIT_ATTR_RESERVED;
	check_ptr(ibv_open_xrcd(ctx, &init), FAKE_OPEN_XRCD, EOPNOTSUPP,
		  "an unknown field is not taken");
	init.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	init.fd = 1000000;
	check_ptr(ibv_open_xrcd(ctx, &init), FAKE_OPEN_XRCD, EBADF, "the file must be open");
	init.fd = fd;
	check_ptr(ibv_open_xrcd(ctx, &init), FAKE_OPEN_XRCD, EAGAIN,
		  "a file without a domain takes O_CREAT");
	init.oflags = O_CREAT | O_EXCL;
	xrcd = ibv_open_xrcd(ctx, &init);
	check_ptr(xrcd, FAKE_OPEN_XRCD, 0, "which makes one");
	check_ptr(ibv_open_xrcd(ctx, &init), FAKE_OPEN_XRCD, EINVAL, "O_EXCL refuses an old one");
	init.oflags = 0;
	other = ibv_open_xrcd(ctx, &init);
	check_ptr(other, FAKE_OPEN_XRCD, 0, "and it can be shared");
	tap_eq_int(ibv_close_xrcd(xrcd), 0, "one handle is closed");
	xrcd = ibv_open_xrcd(fake_open(fake_device_add("fake1")), &init);
	check_ptr(xrcd, FAKE_OPEN_XRCD, EAGAIN, "another device has no domain of this file");
	tap_eq_int(ibv_close_xrcd(other), 0, "so is the other");
	check_ptr(ibv_open_xrcd(ctx, &init), FAKE_OPEN_XRCD, EAGAIN, "then the domain is gone");

	dev->attr.orig_attr.device_cap_flags &= ~(unsigned int)IBV_DEVICE_XRC;
	init.fd = -1;
	check_ptr(ibv_open_xrcd(ctx, &init), FAKE_OPEN_XRCD, EOPNOTSUPP,
		  "a device without XRC has no domains");
	fake_close_all();
	close(fd);
}

/* ---- Shared receive queues ---------------------------------------------------------------- */

static struct ibv_srq_init_attr_ex basic(uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr_ex init;

	memset(&init, 0, sizeof(init));
	init.attr.max_wr = max_wr;
	init.attr.max_sge = max_sge;
	init.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	init.pd = ibv_alloc_pd(ctx);
	return init;
}

static void test_srq_limits(void)
{
	struct ibv_srq_init_attr_ex init;

	start();
	init = basic(16384, 30);
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, 0,
		  "the greatest queue is created");
	tap_eq_int(fake_last(FAKE_CREATE_SRQ)->arg.srq.attr.max_wr, 16384, "it is recorded");
	init = basic(16385, 30);
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EINVAL, "no longer one");
	init = basic(16384, 31);
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EINVAL, "nor one of more SGEs");
	init = basic(0, 1);
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EINVAL, "nor an empty one");
	dev->quirks = FAKE_SRQ_EMPTY;
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, 0, "which mlx5 creates");
	dev->habits.srq_wr_less = 1;
	init = basic(16384, 1);
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EINVAL,
		  "max_srq_wr itself is too much for bnxt_re");
	init.attr.max_wr = 16383;
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, 0, "one less is not");
	dev->attr.orig_attr.max_srq = 3;
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, ENOMEM,
		  "a fourth of three is ENOMEM");
	dev->habits.srq_count_errno = EINVAL;
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EINVAL, "or EINVAL, as of rxe");
	dev->attr.orig_attr.max_srq = 0;
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EOPNOTSUPP,
		  "a device without such queues says EOPNOTSUPP");
	fake_close_all();
}

static void test_srq_of_xrc(void)
{
	struct ibv_srq_init_attr_ex init;
	struct ibv_xrcd_init_attr domain;
	struct ibv_srq *srq;
	uint32_t number = 0;

	start();
	memset(&domain, 0, sizeof(domain));
	domain.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	domain.fd = -1;
	init = basic(1, 1);
	init.comp_mask |= IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD;
	init.srq_type = IBV_SRQT_XRC;
	init.xrcd = ibv_open_xrcd(ctx, &domain);
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EINVAL,
		  "an XRC queue takes a completion queue");
	init.comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
	init.cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	srq = ibv_create_srq_ex(ctx, &init);
	check_ptr(srq, FAKE_CREATE_SRQ, 0, "with it, it is created");
	tap_eq_int(ibv_get_srq_num(srq, &number), 0, "it has a number");
	tap_eq_int(number, srq->handle, "for its peers");
	tap_eq_int(ibv_close_xrcd(init.xrcd), EBUSY, "its domain is busy");
	tap_eq_int(ibv_destroy_cq(init.cq), EBUSY, "and its completion queue");
	tap_eq_int(ibv_destroy_srq(srq), 0, "until it is gone");
	tap_eq_int(ibv_close_xrcd(init.xrcd), 0, "the domain can be closed");
	init.comp_mask &= ~(uint32_t)IBV_SRQ_INIT_ATTR_PD;
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EINVAL, "a domain must be told");
	init.comp_mask |= IBV_SRQ_INIT_ATTR_PD;
	init.comp_mask |= IBV_SRQ_INIT_ATTR_RESERVED;
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EOPNOTSUPP, "what is not known");
	init.comp_mask = IBV_SRQ_INIT_ATTR_RESERVED;
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EOPNOTSUPP, "comes first");
	init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
			 IBV_SRQ_INIT_ATTR_CQ;
	init.srq_type = IBV_SRQT_TM;
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EOPNOTSUPP, "no tag matching");
	init.srq_type = IBV_SRQT_XRC;
	dev->attr.orig_attr.device_cap_flags &= ~(unsigned int)IBV_DEVICE_XRC;
	check_ptr(ibv_create_srq_ex(ctx, &init), FAKE_CREATE_SRQ, EOPNOTSUPP, "nor XRC without it");
	tap_eq_int(ibv_get_srq_num(fake_srq(ctx, IBV_SRQT_BASIC), &number), EOPNOTSUPP,
		   "a basic queue has no number");
	fake_close_all();
}

int main(void)
{
	test_pd_is_busy();
	test_windows();
	test_window_by_request();
	test_xrcd();
	test_srq_limits();
	test_srq_of_xrc();
	return tap_done();
}
