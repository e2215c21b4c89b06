/* SPDX-License-Identifier: MIT */
/* What several queue pairs share: memory windows, XRC domains and shared receive queues. */
#include <fcntl.h>
#include <sys/stat.h>
#include "fake_internal.h"

/* ---- Memory windows ----------------------------------------------------------------------- */

void fake_mw_bind(struct fake_mw *mw, struct ibv_mr *mr)
{
	if (mw->mr)
		mw->mr->windows--;
	mw->mr = mr ? fake_mr(mr) : NULL;
	if (mw->mr)
		mw->mr->windows++;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct fake_call *call = fake_enter(FAKE_ALLOC_MW, pd);
	struct fake_mw *mw;
	int err = call->error;

	/* ib_uverbs_alloc_mw(), drivers */
	if (!err && type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		err = EINVAL;
	if (err)
		return (struct ibv_mw *)fake_return_ptr(call, err, NULL);
	mw = (struct fake_mw *)fake_object_new(sizeof(*mw), NULL);
	mw->verbs.context = pd->context;
	mw->verbs.pd = pd;
	mw->verbs.handle = fake_number();
	mw->verbs.rkey = mw->verbs.handle << 8;
	mw->verbs.type = type;
	fake_pd(pd)->users++;
	return (struct ibv_mw *)fake_return_ptr(call, 0, &mw->verbs);
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct fake_call *call = fake_enter(FAKE_BIND_MW, qp);

	if (!call->error)
		fake_mw_bind(fake_mw(mw), bind->bind_info.mr);
	return fake_return_post(call, qp->context, call->error);
}

static int dealloc_mw(struct ibv_mw *mw)
{
	struct fake_call *call = fake_enter(FAKE_DEALLOC_MW, mw);

	if (!call->error) {
		fake_mw_bind(fake_mw(mw), NULL);
		fake_pd(mw->pd)->users--;
		fake_object_free(&fake_mw(mw)->object);
	}
	return fake_return(call, call->error);
}

/* ---- XRC domains -------------------------------------------------------------------------- */

/* Handles of one file's domain. Each has its own users: ib_uxrcd_object.refcnt. */
static struct fake_xrcd *with_file;

static void destroy_xrcd(struct fake_object *object)
{
	struct fake_xrcd *xrcd = fake_container(object, struct fake_xrcd, object);
	struct fake_xrcd **link;

	for (link = &with_file; *link && *link != xrcd; link = &(*link)->next)
		;
	if (*link)
		*link = xrcd->next;
}

struct ibv_xrcd *fake_new_xrcd(struct ibv_context *ctx)
{
	struct fake_xrcd *xrcd = (struct fake_xrcd *)fake_object_new(sizeof(*xrcd), destroy_xrcd);

	xrcd->verbs.context = ctx;
	return &xrcd->verbs;
}

static bool has_domain(const struct fake_device *dev, const uint64_t file[2])
{
	const struct fake_xrcd *xrcd;

	for (xrcd = with_file; xrcd; xrcd = xrcd->next)
		if (fake_dev(xrcd->verbs.context) == dev && xrcd->file[0] == file[0] &&
		    xrcd->file[1] == file[1])
			return true;
	return false;
}

/* ibv_cmd_open_xrcd() of libibverbs, then ib_uverbs_open_xrcd(). */
static int check_xrcd(const struct fake_device *dev, const struct ibv_xrcd_init_attr *init,
		      uint64_t file[2])
{
	const uint32_t needed = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct stat status;
	bool exists;

	if (!(dev->attr.orig_attr.device_cap_flags & IBV_DEVICE_XRC) ||
	    init->comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED)
		return EOPNOTSUPP;
	if ((init->comp_mask & needed) != needed)
		return EINVAL;
	if (init->fd == -1)
		return 0;
	if (fstat(init->fd, &status))
		return EBADF;
	file[0] = (uint64_t)status.st_dev;
	file[1] = (uint64_t)status.st_ino;
	exists = has_domain(dev, file);
	if (!exists && !(init->oflags & O_CREAT))
		return EAGAIN;
	return exists && init->oflags & O_EXCL ? EINVAL : 0;
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *init)
{
	struct fake_call *call = fake_enter(FAKE_OPEN_XRCD, context);
	uint64_t file[2] = {0, 0};
	struct ibv_xrcd *xrcd;
	int err = call->error;

	if (!err)
		err = check_xrcd(fake_dev(context), init, file);
	if (err)
		return (struct ibv_xrcd *)fake_return_ptr(call, err, NULL);
	xrcd = fake_new_xrcd(context);
	memcpy(fake_xrcd(xrcd)->file, file, sizeof(file));
	if (init->fd != -1) {
		fake_xrcd(xrcd)->next = with_file;
		with_file = fake_xrcd(xrcd);
	}
	return (struct ibv_xrcd *)fake_return_ptr(call, 0, xrcd);
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
	struct fake_call *call = fake_enter(FAKE_CLOSE_XRCD, xrcd);
	struct fake_xrcd *fxrcd = fake_xrcd(xrcd);
	int err = call->error;

	if (!err && fxrcd->users)
		err = EBUSY;
	if (!err)
		fake_object_free(&fxrcd->object);
	return fake_return(call, err);
}

/* ---- Shared receive queues ---------------------------------------------------------------- */

static struct fake_srq *srqs;

struct fake_srq *fake_srq_find(const struct ibv_srq *srq)
{
	struct fake_srq *found;

	for (found = srqs; found && &found->verbs != srq; found = found->next)
		;
	return found;
}

static int count_srqs(const struct fake_device *dev)
{
	const struct fake_srq *srq;
	int count = 0;

	for (srq = srqs; srq; srq = srq->next)
		count += fake_dev(srq->verbs.context) == dev;
	return count;
}

static void destroy_srq(struct fake_object *object)
{
	struct fake_srq *srq = fake_container(object, struct fake_srq, object);
	struct fake_srq **link;

	for (link = &srqs; *link != srq; link = &(*link)->next)
		;
	*link = srq->next;

	pthread_mutex_destroy(&srq->verbs.mutex);
	pthread_cond_destroy(&srq->verbs.cond);
}

static void count_users(struct fake_srq *srq, int change)
{
	fake_pd(srq->verbs.pd)->users += change;
	if (srq->xrcd)
		fake_xrcd(srq->xrcd)->users += change;
	if (srq->cq)
		fake_cq(srq->cq)->users += change;
}

static struct ibv_srq *new_srq(struct ibv_context *ctx, const struct ibv_srq_init_attr_ex *init)
{
	struct fake_srq *srq = (struct fake_srq *)fake_object_new(sizeof(*srq), destroy_srq);

	srq->verbs.context = ctx;
	srq->verbs.srq_context = init->srq_context;
	srq->verbs.pd = init->pd;
	srq->verbs.handle = fake_number();
	srq->type = init->comp_mask & IBV_SRQ_INIT_ATTR_TYPE ? init->srq_type : IBV_SRQT_BASIC;
	srq->attr = init->attr;
	if (srq->type == IBV_SRQT_XRC) {
		srq->xrcd = init->xrcd;
		srq->cq = init->cq;
	}
	pthread_mutex_init(&srq->verbs.mutex, NULL);
	pthread_cond_init(&srq->verbs.cond, NULL);
	count_users(srq, 1);
	srq->next = srqs;
	srqs = srq;
	return &srq->verbs;
}

/* In the order of ibv_cmd_create_srq_ex(), ib_uverbs_create_xsrq() and rxe_srq_chk_init(). */
static int check_srq(const struct fake_device *dev, const struct ibv_srq_init_attr_ex *init)
{
	const uint32_t xrc = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	const struct ibv_device_attr *limit = &dev->attr.orig_attr;
	const enum ibv_srq_type type =
		init->comp_mask & IBV_SRQ_INIT_ATTR_TYPE ? init->srq_type : IBV_SRQT_BASIC;

	if (!limit->max_srq || init->comp_mask >= IBV_SRQ_INIT_ATTR_RESERVED)
		return EOPNOTSUPP;
	if (!(init->comp_mask & IBV_SRQ_INIT_ATTR_PD))
		return EINVAL;
	if (type == IBV_SRQT_XRC && (init->comp_mask & xrc) != xrc)
		return EINVAL;
	if (type != IBV_SRQT_BASIC &&
	    (type != IBV_SRQT_XRC || !(limit->device_cap_flags & IBV_DEVICE_XRC)))
		return EOPNOTSUPP;
	if (init->attr.max_wr > (uint32_t)limit->max_srq_wr - dev->habits.srq_wr_less ||
	    init->attr.max_sge > (uint32_t)limit->max_srq_sge)
		return EINVAL;
	if (init->attr.max_sge < dev->habits.srq_least_sge)
		return EINVAL;
	if (!init->attr.max_wr && !(dev->quirks & FAKE_SRQ_EMPTY))
		return EINVAL;
	if (count_srqs(dev) >= limit->max_srq)
		return dev->habits.srq_count_errno ? dev->habits.srq_count_errno : ENOMEM;
	return 0;
}

static struct ibv_srq *create_srq_ex(struct ibv_context *ctx, struct ibv_srq_init_attr_ex *init)
{
	struct fake_call *call = fake_enter(FAKE_CREATE_SRQ, ctx);
	int err = call->error;

	call->arg.srq = *init;
	if (!err)
		err = check_srq(fake_dev(ctx), init);
	return (struct ibv_srq *)fake_return_ptr(call, err, err ? NULL : new_srq(ctx, init));
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr)
{
	struct ibv_srq_init_attr_ex init;

	memset(&init, 0, sizeof(init));
	init.srq_context = srq_init_attr->srq_context;
	init.attr = srq_init_attr->attr;
	init.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	init.pd = pd;
	return create_srq_ex(pd->context, &init);
}

/*
 * In the order of rxe_srq_chk_attr(); of a device without IBV_DEVICE_SRQ_RESIZE mlx5_ib_modify_srq(), which refuses any
 * size.
 */
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask)
{
	struct fake_call *call = fake_enter(FAKE_MODIFY_SRQ, srq);
	const struct ibv_device_attr *dev = &fake_dev(srq->context)->attr.orig_attr;
	struct ibv_srq_attr *now = &fake_srq_find(srq)->attr;
	const bool resizes = srq_attr_mask & IBV_SRQ_MAX_WR;
	const uint32_t room = resizes ? srq_attr->max_wr : now->max_wr;
	int err = call->error;

	call->attr_mask = srq_attr_mask;
	if (!err && resizes &&
	    (!(dev->device_cap_flags & IBV_DEVICE_SRQ_RESIZE) || !room ||
	     room > (uint32_t)dev->max_srq_wr))
		err = EINVAL;
	if (!err && (srq_attr_mask & IBV_SRQ_LIMIT) && srq_attr->srq_limit > room)
		err = EINVAL;
	if (!err) {
		now->max_wr = room;
		if (srq_attr_mask & IBV_SRQ_LIMIT)
			now->srq_limit = srq_attr->srq_limit;
	}
	return fake_return(call, err);
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr)
{
	struct fake_call *call = fake_enter(FAKE_QUERY_SRQ, srq);

	if (!call->error)
		*srq_attr = fake_srq_find(srq)->attr;
	return fake_return(call, call->error);
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct fake_call *call = fake_enter(FAKE_DESTROY_SRQ, srq);
	struct fake_srq *fsrq = fake_srq_find(srq);
	int err = call->error;

	if (!err && fsrq->users)
		err = EBUSY;
	if (!err && fsrq->events)
		err = EDEADLK;
	if (!err) {
		count_users(fsrq, -1);
		fake_events_drop(srq->context, srq);
		fake_object_free(&fsrq->object);
	}
	return fake_return(call, err);
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
	if (fake_srq_find(srq)->type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	*srq_num = srq->handle;
	return 0;
}

/* A driver's result may be negative by itself: error is what it stands for. */
static int check_recv(const struct fake_srq *srq, const struct fake_habits *habits,
		      const struct ibv_recv_wr *wr)
{
	if ((unsigned int)wr->num_sge > srq->attr.max_sge)
		return habits->srq_sge_result ? habits->srq_sge_result : EINVAL;
	if (srq->receives == srq->attr.max_wr)
		return habits->srq_full_result ? habits->srq_full_result : ENOMEM;
	return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct fake_call *call = fake_enter(FAKE_POST_SRQ_RECV, srq);
	struct fake_srq *fsrq = fake_srq_find(srq);
	int err = call->error;

	if (wr)
		call->arg.recv_wr = *wr;
	for (; !err && wr; wr = wr->next) {
		err = check_recv(fsrq, &fake_dev(srq->context)->habits, wr);
		if (err)
			break;
		call->index++;
		fsrq->receives++;
	}
	if (err)
		*bad_wr = wr;
	return fake_return_post(call, srq->context, err);
}

void fake_srq_work_done(struct ibv_srq *srq)
{
	fake_srq_find(srq)->receives = 0;
}

struct ibv_srq *fake_srq(struct ibv_context *ctx, enum ibv_srq_type type)
{
	struct ibv_srq_init_attr_ex init;

	memset(&init, 0, sizeof(init));
	init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	init.srq_type = type;
	init.attr.max_wr = 16;
	init.attr.max_sge = 4;
	init.pd = fake_new_pd(ctx);
	if (type == IBV_SRQT_XRC) {
		init.xrcd = fake_new_xrcd(ctx);
		init.cq = fake_new_cq(ctx, 32);
	}
	return new_srq(ctx, &init);
}

void fake_shared_ops(struct verbs_context *verbs)
{
	verbs->open_xrcd = open_xrcd;
	verbs->close_xrcd = close_xrcd;
	verbs->create_srq_ex = create_srq_ex;
	verbs->get_srq_num = get_srq_num;
	verbs->context.ops.alloc_mw = alloc_mw;
	verbs->context.ops.bind_mw = bind_mw;
	verbs->context.ops.dealloc_mw = dealloc_mw;
	verbs->context.ops.post_srq_recv = post_srq_recv;
}
