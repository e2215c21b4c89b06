/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs. ibv_modify_qp() goes through four layers, as it does in reality, and each has a
 * function here: the provider's library, the uverbs system call, the kernel's core, the driver.
 * Which of several mistakes is reported follows from their order.
 */
#include "fake_internal.h"

static struct fake_qp *to_qp(const struct ibv_qp *qp)
{
	return (struct fake_qp *)((uintptr_t)qp - offsetof(struct fake_qp, verbs));
}

/* ---- Creating and destroying -------------------------------------------------------------- */

static void destroy_qp(struct fake_object *object)
{
	struct fake_qp *qp = fake_container(object, struct fake_qp, object);

	fake_mcast_forget(&qp->verbs);
	free(qp->sends.work);
	free(qp->receives.work);
	pthread_mutex_destroy(&qp->verbs.mutex);
	pthread_cond_destroy(&qp->verbs.cond);
	free(qp->session);
}

static bool type_exists(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_UD ||
	       type == IBV_QPT_RAW_PACKET || type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV ||
	       type == IBV_QPT_DRIVER;
}

/* The kernel knows an object by its number and the file that the context has open. */
static bool is_foreign(const struct ibv_context *ctx, const struct ibv_qp_init_attr_ex *init)
{
	return (init->pd && init->pd->context != ctx) ||
	       (init->send_cq && init->send_cq->context != ctx) ||
	       (init->recv_cq && init->recv_cq->context != ctx) ||
	       (init->srq && init->srq->context != ctx);
}

/* Receives that come from a shared queue have no limits here. */
static bool fits(const struct fake_device *dev, const struct ibv_qp_cap *cap, bool receives)
{
	const struct ibv_device_attr *limit = &dev->attr.orig_attr;

	if (cap->max_send_wr > (uint32_t)limit->max_qp_wr ||
	    cap->max_send_sge > (uint32_t)limit->max_sge)
		return false;
	if (receives && (cap->max_recv_wr > (uint32_t)limit->max_qp_wr ||
			 cap->max_recv_sge > (uint32_t)limit->max_sge))
		return false;
	return cap->max_inline_data <= dev->max_inline || dev->quirks & FAKE_INLINE_CUT;
}

static int check_init(struct ibv_context *ctx, const struct ibv_qp_init_attr_ex *init)
{
	const struct fake_device *dev = fake_dev(ctx);
	bool receives_only = init->qp_type == IBV_QPT_XRC_RECV;
	bool sends_only = init->qp_type == IBV_QPT_XRC_SEND;
	const struct fake_srq *srq;

	if (init->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
					  IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;
	if (!(init->comp_mask & (receives_only ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD)))
		return EINVAL;
	if (!type_exists(init->qp_type))
		return EINVAL;
	if (init->qp_type == IBV_QPT_RAW_PACKET && dev->quirks & FAKE_NO_RAW)
		return EPERM;
	if (is_foreign(ctx, init))
		return ENOENT;
	srq = fake_srq_find(init->srq);
	if ((sends_only && init->srq) || (srq && srq->type == IBV_SRQT_XRC))
		return EINVAL;
	if (!(dev->qp_types & FAKE_QPT(init->qp_type)))
		return EOPNOTSUPP;
	if (receives_only)
		return 0;
	if (!init->send_cq || (!init->recv_cq && !sends_only))
		return EINVAL;
	if (!fits(dev, &init->cap, !sends_only && !init->srq))
		return EINVAL;
	return fake_ex_check(init);
}

/* What a provider gives instead of what was asked for. */
static void grant(const struct fake_device *dev, struct ibv_qp_cap *cap)
{
	const uint32_t step = dev->inline_step;

	if (step)
		cap->max_inline_data = (cap->max_inline_data + step - 1) / step * step;
	if (cap->max_inline_data > dev->max_inline)
		cap->max_inline_data = dev->max_inline;
}

static void count_users(struct fake_qp *qp, int change)
{
	if (qp->verbs.pd)
		fake_pd(qp->verbs.pd)->users += change;
	if (qp->xrcd)
		fake_xrcd(qp->xrcd)->users += change;
	if (fake_srq_find(qp->verbs.srq))
		fake_srq_find(qp->verbs.srq)->users += change;
	if (qp->verbs.send_cq)
		fake_cq(qp->verbs.send_cq)->users += change;
	if (qp->verbs.recv_cq)
		fake_cq(qp->verbs.recv_cq)->users += change;
}

/* What the six types cannot tell: SRD is what plain ibv_create_qp() makes of a driver's type. */
static enum fake_driver_type driver_type(const struct fake_device *dev, enum ibv_qp_type type)
{
	if (type == IBV_QPT_DRIVER)
		return FAKE_SRD;
	return type == IBV_QPT_UD && dev->habits.underlay ? FAKE_UNDERLAY : FAKE_NO_DRIVER_TYPE;
}

static struct ibv_qp *new_qp(struct ibv_context *ctx, const struct ibv_qp_init_attr_ex *init)
{
	struct fake_qp *qp = (struct fake_qp *)fake_object_new(sizeof(*qp), destroy_qp);

	qp->verbs.context = ctx;
	qp->verbs.qp_context = init->qp_context;
	qp->verbs.qp_type = init->qp_type;
	qp->verbs.handle = fake_number();
	qp->verbs.qp_num = qp->verbs.handle;
	qp->verbs.state = IBV_QPS_RESET;
	if (init->qp_type == IBV_QPT_XRC_RECV) {
		qp->xrcd = init->xrcd;
	} else {
		qp->verbs.pd = init->pd;
		qp->verbs.send_cq = init->send_cq;
		qp->verbs.recv_cq = init->recv_cq;
		qp->verbs.srq = init->srq;
	}
	qp->type = driver_type(fake_dev(ctx), init->qp_type);
	qp->attr.cap = init->cap;
	qp->sq_sig_all = init->sq_sig_all;
	qp->ece = fake_dev(ctx)->ece_options;
	pthread_mutex_init(&qp->verbs.mutex, NULL);
	pthread_cond_init(&qp->verbs.cond, NULL);
	count_users(qp, 1);
	fake_driver_create(fake_dev(ctx), qp);
	if (init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		fake_ex_create(qp, init->send_ops_flags);
	return &qp->verbs;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	struct fake_call *call = fake_enter(FAKE_CREATE_QP, context);
	int err = call->error;

	call->index = (uint32_t)init->qp_type;
	if (!err)
		err = check_init(context, init);
	if (!err)
		grant(fake_dev(context), &init->cap);
	return (struct ibv_qp *)fake_return_ptr(call, err, err ? NULL : new_qp(context, init));
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex init;
	struct ibv_qp *qp;

	memset(&init, 0, sizeof(init));
	init.qp_context = qp_init_attr->qp_context;
	init.send_cq = qp_init_attr->send_cq;
	init.recv_cq = qp_init_attr->recv_cq;
	init.srq = qp_init_attr->srq;
	init.cap = qp_init_attr->cap;
	init.qp_type = qp_init_attr->qp_type;
	init.sq_sig_all = qp_init_attr->sq_sig_all;
	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	init.pd = pd;
	qp = create_qp_ex(pd->context, &init);
	if (qp)
		qp_init_attr->cap = init.cap;
	return qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct fake_call *call = fake_enter(FAKE_DESTROY_QP, qp);
	/* uverbs_free_qp() of the kernel says EBUSY */
	const int err = call->error          ? call->error
			: to_qp(qp)->events  ? EDEADLK
			: fake_mcast_has(qp) ? EBUSY
					     : 0;

	if (!err) {
		count_users(to_qp(qp), -1);
		fake_events_drop(qp->context, qp);
		fake_object_free(&to_qp(qp)->object);
	}
	return fake_return(call, err);
}

struct ibv_qp *fake_qp(struct ibv_context *ctx, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init;

	memset(&init, 0, sizeof(init));
	init.qp_type = type;
	init.cap.max_send_wr = 16;
	init.cap.max_send_sge = 4;
	init.cap.max_inline_data = 64;
	if (type == IBV_QPT_XRC_RECV) {
		init.xrcd = fake_new_xrcd(ctx);
		return new_qp(ctx, &init);
	}
	init.pd = fake_new_pd(ctx);
	init.send_cq = fake_new_cq(ctx, 32);
	if (type != IBV_QPT_XRC_SEND) {
		init.recv_cq = init.send_cq;
		init.cap.max_recv_wr = 16;
		init.cap.max_recv_sge = 4;
	}
	return new_qp(ctx, &init);
}

struct ibv_qp *fake_qp_driver(struct ibv_context *ctx, enum fake_driver_type type)
{
	struct ibv_qp *qp = fake_qp(ctx, type == FAKE_UNDERLAY ? IBV_QPT_UD : IBV_QPT_DRIVER);

	to_qp(qp)->type = type;
	fake_driver_create(fake_dev(ctx), to_qp(qp));
	return qp;
}

/* ---- Modifying: the kernel's core --------------------------------------------------------- */

static bool is_connected(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_XRC_SEND ||
	       type == IBV_QPT_XRC_RECV;
}

static bool is_native_ib(struct fake_device *dev, uint32_t port_num)
{
	return fake_port(dev, port_num) && dev->verbs.transport_type == IBV_TRANSPORT_IB &&
	       !fake_port_is_roce(dev, port_num);
}

/* attr is the kernel's copy: it gets the route's hop limit, and PSNs that fit. */
static int core_modify(struct fake_device *dev, struct fake_qp *qp, struct ibv_qp_attr *attr,
		       int mask)
{
	uint32_t port_num = mask & IBV_QP_PORT ? attr->port_num : qp->port;
	int err = 0;

	if (mask & IBV_QP_AV)
		err = fake_check_path(dev, &attr->ah_attr, is_connected(qp->verbs.qp_type));
	if (!err && mask & IBV_QP_ALT_PATH) {
		err = fake_check_path(dev, &attr->alt_ah_attr, false);
		if (!err &&
		    !(is_native_ib(dev, attr->alt_ah_attr.port_num) && is_native_ib(dev, port_num)))
			err = EINVAL;
	}
	attr->rq_psn &= 0xffffff;
	attr->sq_psn &= 0xffffff;
	if (!err)
		err = fake_driver_modify(dev, qp, attr, mask);
	if (!err && mask & IBV_QP_PORT)
		qp->port = attr->port_num;
	return err;
}

/* ---- Modifying: the system call ----------------------------------------------------------- */

/* An XRC end has half of RC's attributes; those of the other half are dropped, not refused. */
static int without_ignored(enum ibv_qp_type type, int mask)
{
	if (type == IBV_QPT_XRC_SEND)
		return mask & ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (type == IBV_QPT_XRC_RECV)
		return mask & ~(IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
	return mask;
}

/* The path's port is the queue pair's: that of INIT for the move to RTR, or else given with it. */
static int uverbs_check_av(struct fake_device *dev, const struct fake_qp *qp,
			   struct ibv_qp_attr *attr, int *mask)
{
	uint8_t port_num = attr->ah_attr.port_num;

	if (!fake_port(dev, port_num))
		return EINVAL;
	if (*mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR)
		return port_num == qp->port ? 0 : EINVAL;
	if (*mask & IBV_QP_PORT)
		return port_num == attr->port_num ? 0 : EINVAL;
	*mask |= IBV_QP_PORT;
	attr->port_num = port_num;
	return 0;
}

static int uverbs_modify(struct fake_device *dev, struct fake_qp *qp, struct ibv_qp_attr *attr,
			 int mask)
{
	int known = (IBV_QP_DEST_QPN << 1) - 1;
	int err;

	if (dev->quirks & FAKE_EXTENDED_MODIFY)
		known |= IBV_QP_RATE_LIMIT;
	if (mask & ~known)
		return EOPNOTSUPP; /* beyond bit 24 the library says so, below it the kernel */
	if (mask & IBV_QP_PORT && !fake_port(dev, attr->port_num))
		return EINVAL;
	if (mask & IBV_QP_AV) {
		err = uverbs_check_av(dev, qp, attr, &mask);
		if (err)
			return err;
	}
	if (mask & IBV_QP_ALT_PATH && (!fake_port(dev, attr->alt_port_num) ||
				       attr->alt_port_num != attr->alt_ah_attr.port_num))
		return EINVAL;
	if ((mask & IBV_QP_CUR_STATE && (unsigned int)attr->cur_qp_state > IBV_QPS_ERR) ||
	    (mask & IBV_QP_STATE && (unsigned int)attr->qp_state > IBV_QPS_ERR))
		return EINVAL;
	if (mask & IBV_QP_QKEY && attr->qkey >> 31 && !(dev->quirks & FAKE_PRIVILEGED_QKEY))
		return EPERM;
	return core_modify(dev, qp, attr, without_ignored(qp->verbs.qp_type, mask));
}

/* ---- Enhanced connection establishment ---------------------------------------------------- */

/* libibverbs' providers/mlx5/verbs.c: mlx5_query_ece(), which asks nobody, and mlx5_set_ece(). */
int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	struct fake_call *call = fake_enter(FAKE_QUERY_ECE, qp);
	const uint32_t vendor = fake_dev(qp->context)->habits.ece_vendor;

	if (call->error || !vendor)
		return fake_return(call, call->error ? call->error : EOPNOTSUPP);
	ece->vendor_id = vendor;
	ece->options = to_qp(qp)->ece;
	ece->comp_mask = 0;
	return fake_return(call, 0);
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	struct fake_call *call = fake_enter(FAKE_SET_ECE, qp);
	const struct fake_device *dev = fake_dev(qp->context);
	int err = call->error;

	call->arg.ece = *ece;
	if (!err && (!ece->vendor_id || !dev->habits.ece_vendor))
		err = EOPNOTSUPP;
	if (!err && (ece->comp_mask || ece->vendor_id != dev->habits.ece_vendor))
		err = EINVAL;
	if (!err && !dev->ece_options)
		err = EOPNOTSUPP;
	if (!err) {
		to_qp(qp)->ece_set = ece->options;
		to_qp(qp)->ece = 0;
	}
	return fake_return(call, err);
}

/* mlx5_modify_qp() sends what was set with the first move that succeeds, and forgets it. */
static void take_ece(const struct fake_device *dev, struct fake_qp *qp)
{
	if (qp->ece_set)
		qp->ece = qp->ece_set & dev->ece_options;
	qp->ece_set = 0;
}

/* ---- Modifying and querying: the library -------------------------------------------------- */

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct fake_call *call = fake_enter(FAKE_MODIFY_QP, qp);
	struct fake_device *dev = fake_dev(qp->context);
	struct ibv_qp_attr copy = *attr;
	int err = call->error;

	/* The system call has eight bits for each of these. */
	copy.qp_state = (enum ibv_qp_state)(uint8_t)attr->qp_state;
	copy.cur_qp_state = (enum ibv_qp_state)(uint8_t)attr->cur_qp_state;
	copy.path_mtu = (enum ibv_mtu)(uint8_t)attr->path_mtu;
	copy.path_mig_state = (enum ibv_mig_state)(uint8_t)attr->path_mig_state;
	call->attr_mask = attr_mask;
	call->arg.qp_attr = *attr;
	if (qp->qp_type == IBV_QPT_RAW_PACKET && attr_mask & IBV_QP_PORT &&
	    (!attr->port_num || attr->port_num > dev->ports))
		fake_note_out_of_bounds();
	if (!err)
		err = uverbs_modify(dev, to_qp(qp), &copy, attr_mask);
	if (!err)
		take_ece(dev, to_qp(qp));
	if (!err && attr_mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	fake_return(call, err);
	return call->result = dev->quirks & FAKE_NEGATIVE_ERRNO ? -err : err;
}

/* Whatever was asked for, the answer has every field, except what the command has no field for. */
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr)
{
	struct fake_call *call = fake_enter(FAKE_QUERY_QP, qp);
	struct fake_device *dev = fake_dev(qp->context);
	uint8_t en_sqd_async_notify = attr->en_sqd_async_notify;
	uint32_t rate_limit = attr->rate_limit;
	int err;

	call->attr_mask = attr_mask;
	if (call->error)
		return fake_return(call, call->error);
	err = attr_mask & ~(IBV_QP_RATE_LIMIT - 1)
		      ? EOPNOTSUPP
		      : fake_driver_query(dev, to_qp(qp), attr, attr_mask);
	if (err)
		return fake_return(call, err);
	attr->en_sqd_async_notify = en_sqd_async_notify;
	attr->rate_limit = rate_limit;
	init_attr->qp_context = qp->qp_context;
	init_attr->send_cq = qp->send_cq;
	init_attr->recv_cq = qp->recv_cq;
	init_attr->srq = qp->srq;
	init_attr->cap = attr->cap;
	init_attr->qp_type = qp->qp_type;
	init_attr->sq_sig_all = to_qp(qp)->sq_sig_all;
	if (attr_mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return fake_return(call, 0);
}

const struct ibv_qp_attr *fake_qp_true(const struct ibv_qp *qp)
{
	return &to_qp(qp)->attr;
}

void fake_qp_force(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct fake_qp *fqp = to_qp(qp);
	const enum ibv_qp_state from = fqp->attr.qp_state;

	fqp->attr.qp_state = state;
	fqp->attr.cur_qp_state = state;
	if (state != IBV_QPS_RESET && !fqp->port)
		fqp->port = fqp->attr.port_num = 1;
	if (from != state)
		fake_work_entered(fqp, from);
}

/* ---- Posting ------------------------------------------------------------------------------ */

static bool is_refused_in_err(struct ibv_qp *qp)
{
	const struct fake_habits *habits = &fake_dev(qp->context)->habits;

	return habits->error_state_errno &&
	       (habits->error_state_true ? to_qp(qp)->attr.qp_state : qp->state) == IBV_QPS_ERR;
}

static bool is_early(const struct ibv_qp *qp)
{
	return to_qp(qp)->attr.qp_state < IBV_QPS_RTS && !fake_dev(qp->context)->habits.early_taken;
}

/* The man page's table of types and operations. */
static bool opcode_fits(enum ibv_qp_type type, enum ibv_wr_opcode opcode)
{
	const bool connected = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;

	switch ((int)opcode) {
	case IBV_WR_SEND:
		return true;
	case IBV_WR_SEND_WITH_IMM:
		return type != IBV_QPT_RAW_PACKET;
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return connected;
	case IBV_WR_TSO:
		return type == IBV_QPT_UD || type == IBV_QPT_RAW_PACKET;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
	case IBV_WR_SEND_WITH_INV:
		return connected || type == IBV_QPT_UC;
	default:
		return false;
	}
}

/* map_send_opcode[] of rdma-core's providers/siw/siw.c. */
static bool is_plain(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_INV ||
	       opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_READ;
}

static uint64_t length_of(const struct ibv_sge *sg_list, int num_sge)
{
	uint64_t length = 0;

	for (int i = 0; sg_list && i < num_sge; i++)
		length += sg_list[i].length;
	return length;
}

/* Whether one work request is right, in the order of rxe. */
static int check_send(const struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	const struct ibv_qp_cap *cap = &to_qp(qp)->attr.cap;
	const uint32_t quirks = fake_dev(qp->context)->quirks;
	const int refused = quirks & FAKE_POST_SEND_ENOMEM ? ENOMEM : EINVAL;
	uint64_t length;

	if (quirks & FAKE_FEW_OPCODES && !is_plain(wr->opcode))
		return EINVAL;
	if ((unsigned int)wr->num_sge > cap->max_send_sge)
		return refused;
	length = length_of(wr->sg_list, wr->num_sge);
	if ((wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	     wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) &&
	    (length != 8 || wr->wr.atomic.remote_addr % 8))
		return EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE && length > cap->max_inline_data)
		return refused;
	if (!opcode_fits(qp->qp_type, wr->opcode))
		return EINVAL;
	if (quirks & FAKE_SIGNALED_ONLY && !(wr->send_flags & IBV_SEND_SIGNALED) &&
	    !to_qp(qp)->sq_sig_all)
		return EINVAL;
	return to_qp(qp)->sends.count < cap->max_send_wr ? 0 : ENOMEM;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct fake_call *call = fake_enter(FAKE_POST_SEND, qp);
	const struct fake_habits *habits = &fake_dev(qp->context)->habits;
	const uint32_t quirks = fake_dev(qp->context)->quirks;
	int err = call->error;

	if (wr)
		call->arg.send_wr = *wr;
	if (to_qp(qp)->session && to_qp(qp)->session->open)
		fake_note_misuse();
	if (!err && qp->qp_type == IBV_QPT_XRC_RECV)
		err = EINVAL;
	if (!err && is_refused_in_err(qp))
		err = habits->error_state_errno;
	/* The library's qp_state_max_gs of mlx5 stays -1 until RTS. */
	if (!err && quirks & FAKE_POST_SEND_ENOMEM && !to_qp(qp)->was_rts)
		err = ENOMEM;
	if (!err && is_early(qp) && !(quirks & FAKE_QUEUE_THEN_CHECK))
		err = quirks & FAKE_POST_SEND_ENOMEM ? ENOMEM : EINVAL;
	while (!err && wr) {
		err = check_send(qp, wr);
		if (err)
			break;
		call->index++;
		if (wr->opcode == IBV_WR_BIND_MW && wr->bind_mw.mw)
			fake_mw_bind(fake_mw(wr->bind_mw.mw), wr->bind_mw.bind_info.mr);
		fake_work_posted(to_qp(qp), true, wr->wr_id,
				 wr->send_flags & IBV_SEND_SIGNALED || to_qp(qp)->sq_sig_all);
		wr = wr->next;
	}
	if (err)
		*bad_wr = wr;
	else if (is_early(qp)) {
		*bad_wr = NULL;
		err = habits->early_result ? habits->early_result : EINVAL;
	}
	return fake_return_post(call, qp->context, err);
}

/* All or nothing, except that rxe's kernel looks at the state when the queue holds them already. */
int fake_ex_post(struct fake_qp *qp)
{
	const struct fake_habits *habits = &fake_dev(qp->verbs.context)->habits;
	const uint32_t quirks = fake_dev(qp->verbs.context)->quirks;
	const bool early = is_early(&qp->verbs);

	if (is_refused_in_err(&qp->verbs))
		return habits->error_state_errno;
	/* mlx5_send_wr_complete_error() and hns' wr_start() */
	if (early && !(quirks & FAKE_QUEUE_THEN_CHECK))
		return EINVAL;
	for (unsigned int i = 0; i < qp->session->count; i++)
		fake_work_posted(qp, true, qp->session->built[i].wr.wr_id,
				 qp->session->built[i].wr.send_flags & IBV_SEND_SIGNALED ||
					 qp->sq_sig_all);
	if (!early)
		return 0;
	return habits->early_result ? habits->early_result : EINVAL;
}

static int check_recv(struct ibv_qp *qp)
{
	if (is_refused_in_err(qp))
		return fake_dev(qp->context)->habits.error_state_errno;
	if (!qp->recv_cq || qp->srq)
		return EINVAL;
	return to_qp(qp)->attr.qp_state == IBV_QPS_RESET ? EINVAL : 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct fake_call *call = fake_enter(FAKE_POST_RECV, qp);
	int err = call->error;

	if (wr)
		call->arg.recv_wr = *wr;
	if (!err)
		err = check_recv(qp);
	for (; !err && wr; wr = wr->next) {
		if ((unsigned int)wr->num_sge > to_qp(qp)->attr.cap.max_recv_sge ||
		    wr->num_sge < fake_dev(qp->context)->habits.recv_least_sge) {
			err = EINVAL;
			break;
		}
		if (to_qp(qp)->receives.count == to_qp(qp)->attr.cap.max_recv_wr) {
			err = ENOMEM;
			break;
		}
		call->index++;
		fake_work_posted(to_qp(qp), false, wr->wr_id, true);
	}
	if (err)
		*bad_wr = wr;
	return fake_return_post(call, qp->context, err);
}

void fake_qp_ops(struct verbs_context *verbs)
{
	verbs->create_qp_ex = create_qp_ex;
	verbs->context.ops.post_send = post_send;
	verbs->context.ops.post_recv = post_recv;
}
