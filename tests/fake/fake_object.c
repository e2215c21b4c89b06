/* SPDX-License-Identifier: MIT */
/* The objects around a queue pair: domains, memory, completions, addresses. */
#include <fcntl.h>
#include "fake_internal.h"

/* ---- Protection domains ------------------------------------------------------------------- */

struct ibv_pd *fake_new_pd(struct ibv_context *ctx)
{
	struct fake_pd *pd = (struct fake_pd *)fake_object_new(sizeof(*pd), NULL);
	const struct fake_kernel_object *kept = fake_kernel_add(ctx, FAKE_KERNEL_PD);

	pd->verbs.context = ctx;
	pd->verbs.handle = kept ? kept->handle : fake_number();
	return &pd->verbs;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct fake_call *call = fake_enter(FAKE_ALLOC_PD, context);

	return (struct ibv_pd *)fake_return_ptr(call, call->error,
						call->error ? NULL : fake_new_pd(context));
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	struct fake_call *call = fake_enter(FAKE_DEALLOC_PD, pd);
	struct fake_pd *fpd = fake_pd(pd);
	int err = call->error;

	if (!err && fpd->users)
		err = EBUSY;
	if (!err) {
		fake_kernel_remove(fake_kernel_find(pd->context, FAKE_KERNEL_PD, pd->handle));
		fake_object_free(&fpd->object);
	}
	return fake_return(call, err);
}

/* ---- Memory ------------------------------------------------------------------------------- */

/* The verb ends: with this error, or with a region. */
static struct ibv_mr *fake_mr_new(struct ibv_pd *pd, struct fake_call *call, int err, void *addr,
				  size_t length)
{
	struct fake_kernel_object *kept;
	struct fake_mr *mr;

	if (err)
		return (struct ibv_mr *)fake_return_ptr(call, err, NULL);
	mr = (struct fake_mr *)fake_object_new(sizeof(*mr), NULL);
	mr->verbs.context = pd->context;
	mr->verbs.pd = pd;
	mr->verbs.addr = addr;
	mr->verbs.length = length;
	kept = fake_kernel_add(pd->context, FAKE_KERNEL_MR);
	mr->verbs.handle = kept ? kept->handle : fake_number();
	if (kept)
		kept->length = length;
	mr->verbs.lkey = mr->verbs.handle << 8;
	mr->verbs.rkey = mr->verbs.lkey;
	fake_pd(pd)->users++;
	return (struct ibv_mr *)fake_return_ptr(call, 0, &mr->verbs);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	const unsigned int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	/* The kernel's flags of Linux 6.1, and those that may be dropped. */
	const unsigned int known = 0xff | (unsigned int)IBV_ACCESS_OPTIONAL_RANGE;
	struct fake_call *call = fake_enter(FAKE_REG_MR, pd);
	int err = call->error;

	(void)iova;
	call->attr_mask = (int)access;
	if (!err && (access & remote) && !(access & IBV_ACCESS_LOCAL_WRITE))
		err = EINVAL;
	if (!err && (access & ~known))
		err = EINVAL;
	if (!err && access & IBV_ACCESS_ON_DEMAND &&
	    !(fake_dev(pd->context)->attr.odp_caps.general_caps & IBV_ODP_SUPPORT))
		err = EINVAL;
	/* "All memory", as on-demand paging spells it, is neither empty nor too long. */
	if (!err && !(access & IBV_ACCESS_ON_DEMAND) &&
	    (!length || length > UINTPTR_MAX - (uintptr_t)addr ||
	     length > fake_dev(pd->context)->attr.orig_attr.max_mr_size))
		err = EINVAL;
	return fake_mr_new(pd, call, err, addr, length);
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

#undef ibv_reg_mr_iova
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			       int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

static int fork_status = 2;
static uint64_t dmabuf_bytes;
static unsigned int dmabuf_access;

void fake_fork(int status)
{
	fork_status = status;
}

/* Under this name, because verbs.h before rdma-core 35 has neither the verb nor its enum. */
int fake_is_fork_initialized(void) __asm__("ibv_is_fork_initialized");

int fake_is_fork_initialized(void)
{
	return fork_status;
}

void fake_dmabuf(uint64_t bytes)
{
	dmabuf_bytes = bytes;
	dmabuf_access = ~0u;
}

void fake_dmabuf_access(unsigned int access)
{
	dmabuf_access = access;
}

/* The kernel's UVERBS_METHOD_REG_DMABUF_MR, in its order, then ib_umem_dmabuf_get(). */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	const unsigned int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	const unsigned int known = remote | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				   (unsigned int)IBV_ACCESS_OPTIONAL_RANGE;
	struct fake_call *call = fake_enter(FAKE_REG_DMABUF_MR, pd);
	int err = call->error;

	call->attr_mask = access;
	if (!err && (offset ^ iova) & 4095)
		err = EINVAL;
	if (!err && ((unsigned int)access & ~known ||
		     ((unsigned int)access & remote && !(access & IBV_ACCESS_LOCAL_WRITE))))
		err = EINVAL;
	if (!err && (unsigned int)access & ~dmabuf_access)
		err = EOPNOTSUPP;
	if (!err && fcntl(fd, F_GETFD) < 0)
		err = EBADF;
	if (!err && (!length || offset > dmabuf_bytes || length > dmabuf_bytes - offset))
		err = EINVAL;
	return fake_mr_new(pd, call, err, (void *)(uintptr_t)offset, length);
}

/* For everyone, also if it was imported; the device memory under it has one user less. */
static void fake_kernel_mr_gone(const struct ibv_mr *mr)
{
	struct fake_kernel_object *kept = fake_kernel_find(mr->context, FAKE_KERNEL_MR, mr->handle);
	struct fake_kernel_object *memory =
		kept ? fake_kernel_find(mr->context, FAKE_KERNEL_DM, kept->dm) : NULL;

	if (memory)
		memory->users--;
	fake_kernel_remove(kept);
}

/*
 * As libibverbs has it, of a driver that gives a region new keys with a new place. An error that fake_fail() has below
 * zero is the code that libibverbs returns.
 */
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access)
{
	struct fake_call *call = fake_enter(FAKE_REREG_MR, mr);
	int result = call->error > 0 ? IBV_REREG_MR_ERR_CMD : call->error;
	const int error = call->error > 0 ? call->error : EINVAL;

	call->attr_mask = flags;
	if (!result && (flags & ~7 || (access && !(flags & IBV_REREG_MR_CHANGE_ACCESS)) ||
			(flags & IBV_REREG_MR_CHANGE_TRANSLATION && (!addr || !length))))
		result = IBV_REREG_MR_ERR_INPUT;
	if (!result || result == IBV_REREG_MR_ERR_DO_FORK_OLD) {
		if (flags & IBV_REREG_MR_CHANGE_PD) {
			fake_pd(mr->pd)->users--;
			mr->pd = pd;
			fake_pd(pd)->users++;
		}
		if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
			mr->addr = addr;
			mr->length = length;
			mr->rkey = ++mr->lkey;
		}
	}
	fake_return(call, result ? error : 0);
	if (result)
		errno = error;
	return result;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct fake_call *call = fake_enter(FAKE_DEREG_MR, mr);
	int err = call->error;

	/* The driver's answer, not the kernel's: rxe_dereg_mr(). */
	if (!err && fake_mr(mr)->windows)
		err = EINVAL;
	if (!err) {
		fake_kernel_mr_gone(mr);
		fake_pd(mr->pd)->users--;
		fake_object_free(&fake_mr(mr)->object);
	}
	return fake_return(call, err);
}

/* ---- Completion queues -------------------------------------------------------------------- */

static void destroy_cq(struct fake_object *object)
{
	struct fake_cq *cq = fake_container(object, struct fake_cq, object);

	pthread_mutex_destroy(&cq->verbs.mutex);
	pthread_cond_destroy(&cq->verbs.cond);
	free(cq->wc);
}

struct ibv_cq *fake_new_cq(struct ibv_context *ctx, int cqe)
{
	struct fake_cq *cq = (struct fake_cq *)fake_object_new(sizeof(*cq), destroy_cq);

	cq->wc = (struct ibv_wc *)calloc((size_t)cqe, sizeof(*cq->wc));
	if (!cq->wc)
		abort();
	cq->verbs.context = ctx;
	cq->verbs.handle = fake_number();
	cq->verbs.cqe = cqe;
	pthread_mutex_init(&cq->verbs.mutex, NULL);
	pthread_cond_init(&cq->verbs.cond, NULL);
	return &cq->verbs;
}

/* Whether the device takes a completion queue of this many. */
static bool cq_may_hold(struct ibv_context *context, int cqe)
{
	const struct fake_device *dev = fake_dev(context);

	return cqe > 0 && cqe <= dev->attr.orig_attr.max_cqe &&
	       (!dev->habits.cq_hidden || cqe <= dev->habits.cq_hidden);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct fake_call *call = fake_enter(FAKE_CREATE_CQ, context);
	const struct fake_habits *habits = &fake_dev(context)->habits;
	struct ibv_cq *cq;
	int err = call->error;

	call->index = (uint32_t)cqe;
	if (!err && cqe < habits->cq_rounded)
		cqe = habits->cq_rounded;
	if (!err && (!cq_may_hold(context, cqe) || comp_vector < 0 ||
		     comp_vector >= context->num_comp_vectors))
		err = habits->cq_errno ? habits->cq_errno : EINVAL;
	if (err)
		return (struct ibv_cq *)fake_return_ptr(call, err, NULL);
	cq = fake_new_cq(context, cqe);
	cq->cq_context = cq_context;
	cq->channel = channel;
	fake_channel_join(channel);
	return (struct ibv_cq *)fake_return_ptr(call, 0, cq);
}

/* As rxe_resize_cq(): what waits in the queue must fit into the new one. */
int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	struct fake_call *call = fake_enter(FAKE_RESIZE_CQ, cq);
	struct fake_cq *fcq = fake_cq(cq);
	struct ibv_wc *wc;
	unsigned int i;

	call->index = (uint32_t)cqe;
	if (call->error)
		return fake_return(call, call->error);
	if (fake_dev(cq->context)->habits.cq_fixed)
		return fake_return(call, EOPNOTSUPP);
	if (!cq_may_hold(cq->context, cqe) || (unsigned int)cqe < fcq->count)
		return fake_return(call, EINVAL);
	wc = (struct ibv_wc *)calloc((size_t)cqe, sizeof(*wc));
	if (!wc)
		abort();
	for (i = 0; i < fcq->count; i++)
		wc[i] = fcq->wc[(fcq->head + i) % (unsigned int)cq->cqe];
	free(fcq->wc);
	fcq->wc = wc;
	fcq->head = 0;
	cq->cqe = cqe;
	return fake_return(call, 0);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct fake_call *call = fake_enter(FAKE_DESTROY_CQ, cq);
	struct fake_cq *fcq = fake_cq(cq);
	int err = call->error;

	if (!err && fcq->users)
		err = EBUSY;
	if (!err && (fcq->events || fcq->comp_events))
		err = EDEADLK;
	if (!err) {
		fake_events_drop(cq->context, cq);
		fake_channel_leave(fcq);
		fake_object_free(&fcq->object);
	}
	return fake_return(call, err);
}

bool fake_cq_push(struct ibv_cq *cq, const struct ibv_wc *wc)
{
	struct fake_cq *fcq = fake_cq(cq);
	unsigned int size = (unsigned int)cq->cqe;

	if (fcq->count == size)
		return false;
	fcq->wc[(fcq->head + fcq->count++) % size] = *wc;
	fake_channel_notify(fcq, wc);
	return true;
}

static bool cq_pop(struct fake_cq *cq, struct ibv_wc *wc)
{
	if (!cq->count)
		return false;
	*wc = cq->wc[cq->head];
	cq->head = (cq->head + 1) % (unsigned int)cq->verbs.cqe;
	cq->count--;
	return true;
}

void fake_cq_purge(struct ibv_cq *cq, uint32_t qp_num)
{
	struct ibv_wc wc;
	unsigned int left;

	if (!cq)
		return;
	for (left = fake_cq(cq)->count; left; left--)
		if (cq_pop(fake_cq(cq), &wc) && wc.qp_num != qp_num)
			fake_cq_push(cq, &wc);
}

static int poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	struct fake_call *call = fake_enter(FAKE_POLL_CQ, cq);
	int n;

	call->index = (uint32_t)num_entries;
	if (call->error)
		return call->result = -1;
	for (n = 0; n < num_entries && cq_pop(fake_cq(cq), &wc[n]); n++)
		;
	return call->result = n;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	struct fake_call *call = fake_enter(FAKE_REQ_NOTIFY_CQ, cq);

	call->index = (uint32_t)solicited_only;
	if (!call->error)
		fake_cq(cq)->armed = solicited_only ? FAKE_CQ_SOLICITED : FAKE_CQ_ARMED;
	return fake_return(call, call->error);
}

/* ---- Address handles ---------------------------------------------------------------------- */

struct fake_ah {
	struct fake_object object;
	struct ibv_ah verbs;
	int kept; /* by the kernel: 1 or 0 */
};

struct ibv_ah *fake_new_ah(struct ibv_pd *pd, const struct ibv_ah_attr *attr)
{
	struct fake_call *call = fake_enter(FAKE_CREATE_AH, pd);
	struct ibv_ah_attr path = *attr; /* the kernel's copy: the caller sees no route in it */
	struct fake_ah *ah;
	int err = call->error;

	call->port = attr->port_num;
	call->arg.ah_attr = *attr;
	if (!err)
		err = fake_check_path(fake_dev(pd->context), &path, true);
	if (err)
		return (struct ibv_ah *)fake_return_ptr(call, err, NULL);
	ah = (struct fake_ah *)fake_object_new(sizeof(*ah), NULL);
	ah->verbs.context = pd->context;
	ah->verbs.pd = pd;
	ah->verbs.handle = fake_number();
	ah->kept = !(fake_dev(pd->context)->quirks & FAKE_USER_AH);
	fake_pd(pd)->users += ah->kept;
	return (struct ibv_ah *)fake_return_ptr(call, 0, &ah->verbs);
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	return fake_new_ah(pd, attr);
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	struct fake_call *call = fake_enter(FAKE_DESTROY_AH, ah);

	if (!call->error) {
		fake_pd(ah->pd)->users -= fake_container(ah, struct fake_ah, verbs)->kept;
		fake_object_free(&fake_container(ah, struct fake_ah, verbs)->object);
	}
	return fake_return(call, call->error);
}

void fake_object_ops(struct verbs_context *verbs)
{
	verbs->context.ops.poll_cq = poll_cq;
	verbs->context.ops.req_notify_cq = req_notify_cq;
}
