/* SPDX-License-Identifier: MIT */
/* Implements drain.h. */
#ifndef RDMAEZ_IMPL_DRAIN_H
#define RDMAEZ_IMPL_DRAIN_H

#ifndef RDMAEZ_DRAIN_H
#include "../drain.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_AH_H
#include "ah.h"
#endif
#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_ENDPOINT_H
#include "endpoint.h"
#endif
#ifndef RDMAEZ_IMPL_PORT_H
#include "port.h"
#endif
#ifndef RDMAEZ_IMPL_QP_H
#include "qp.h"
#endif
#ifndef RDMAEZ_IMPL_QP_CREATE_H
#include "qp_create.h"
#endif
#ifndef RDMAEZ_IMPL_QP_NOW_H
#include "qp_now.h"
#endif
#ifndef RDMAEZ_IMPL_QP_RULES_H
#include "qp_rules.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif
#ifndef RDMAEZ_WHY_H
#include "../why.h"
#endif
#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif

RDMAEZ_IMPL_BEGIN

/*
 * If nothing tells where the end is, it is reached when nothing has completed for this long: 0.1 s.
 */
#define RDMAEZ_IMPL_DRAIN_QUIET_NS UINT64_C(100000000)

/* These are the ways to recognise the end of a queue. */
#define RDMAEZ_IMPL_END_SEEN   0 /* it is over */
#define RDMAEZ_IMPL_END_BEACON 1 /* by the beacon, which is posted */
#define RDMAEZ_IMPL_END_FULL   2 /* by the beacon, for which there is no room yet */
#define RDMAEZ_IMPL_END_COUNT  3 /* by the number of completions: the driver takes no beacon */
#define RDMAEZ_IMPL_END_NO_AH  4 /* the same, for want of an address handle */

/* ---- Draining ----------------------------------------------------------------------------- */

RDMAEZ_IMPL void rdmaez_impl_drain_end(struct rdmaez_drain *d, int queue)
{
	d->queue[queue] = RDMAEZ_IMPL_END_SEEN;
	d->waits &= ~(1u << queue);
	d->drained.open &= ~(1u << queue) | (d->qp->srq ? RDMAEZ_QUEUE_RECV : 0);
}

/*
 * Returns the wr_id of a beacon. It is an address that stays the program's, and that nobody else
 * has a use for. So a beacon that comes late does no harm, and the next drain knows it.
 */
RDMAEZ_IMPL uint64_t rdmaez_impl_drain_wr_id(const struct ibv_qp *qp, int queue)
{
	return queue ? (uintptr_t)&qp->qp_num : (uintptr_t)&qp->state;
}

/* Posts the beacon of a queue: a request without bytes, which is never carried out in ERR. */
RDMAEZ_IMPL_COLD int rdmaez_impl_drain_beacon(struct rdmaez_drain *d, int queue)
{
	struct ibv_send_wr send, *bad_send;
	struct ibv_recv_wr recv, *bad_recv;
	int returned;

	errno = 0;
	memset(&recv, 0, sizeof(recv));
	recv.wr_id = rdmaez_impl_drain_wr_id(d->qp, queue);
	memset(&send, 0, sizeof(send));
	send.wr_id = rdmaez_impl_drain_wr_id(d->qp, queue);
	send.send_flags = IBV_SEND_SIGNALED;
	send.opcode = IBV_WR_RDMA_WRITE;
	if (d->qp->qp_type == IBV_QPT_UD) {
		send.opcode = IBV_WR_SEND;
		send.wr.ud.ah = d->opts.ah;
		send.wr.ud.remote_qpn = d->qp->qp_num;
	}
	returned = queue ? ibv_post_recv(d->qp, &recv, &bad_recv)
			 : ibv_post_send(d->qp, &send, &bad_send);
	/* mthca_tavor_post_send() and mthca_tavor_post_recv() say no more of a full queue. */
	return returned == -1 && !errno ? ENOMEM : rdmaez_impl_error(returned);
}

/*
 * Posts the beacons that are not posted yet. `empty` has the queues in which nothing can be
 * outstanding if they refuse one. It moves to ERR again, because otherwise rxe flushes no receive
 * that is posted late: rxe_post_recv() of the provider.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_drain_mark(struct rdmaez_drain *d, unsigned int empty)
{
	struct ibv_qp_attr attr;
	bool is_posted = false;
	int error;

	for (int i = 0; i < 2; i++) {
		if (d->queue[i] != RDMAEZ_IMPL_END_FULL)
			continue;
		error = rdmaez_impl_drain_beacon(d, i);
		is_posted = is_posted || !error;
		if (!error)
			d->queue[i] = RDMAEZ_IMPL_END_BEACON;
		else if (empty & 1u << i)
			rdmaez_impl_drain_end(d, i);
		else if (error != ENOMEM && error != EAGAIN) /* ionic_v1_prep_recv() */
			d->queue[i] = RDMAEZ_IMPL_END_COUNT;
	}
	if (!is_posted)
		return;
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_ERR;
	ibv_modify_qp(d->qp, &attr, IBV_QP_STATE);
}

/*
 * Decides how to recognise each queue's end, by its driver and its type. `early` says that no send
 * was ever possible.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_drain_plan(struct rdmaez_drain *d, unsigned int traits,
					     bool early)
{
	const enum ibv_qp_type type = d->qp->qp_type;
	const bool plain = type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_XRC_SEND;
	const bool receives = type != IBV_QPT_XRC_SEND && type != IBV_QPT_XRC_RECV && !d->qp->srq;

	d->queue[0] = plain || type == IBV_QPT_UD ? RDMAEZ_IMPL_END_FULL : RDMAEZ_IMPL_END_COUNT;
	d->queue[1] = RDMAEZ_IMPL_END_FULL;
	if (traits & RDMAEZ_DRIVER_NO_BEACON)
		d->queue[0] = RDMAEZ_IMPL_END_COUNT;
	else if (type == IBV_QPT_UD && !d->opts.ah)
		d->queue[0] = RDMAEZ_IMPL_END_NO_AH;
	if (traits & (RDMAEZ_DRIVER_NO_BEACON | RDMAEZ_DRIVER_NO_RECV_BEACON))
		d->queue[1] = RDMAEZ_IMPL_END_COUNT;
	d->waits = RDMAEZ_QUEUE_SEND | RDMAEZ_QUEUE_RECV;
	d->drained.open = d->waits;
	if (type == IBV_QPT_XRC_RECV || !d->left[0] ||
	    (early && d->left[0] < 0 && d->queue[0] != RDMAEZ_IMPL_END_FULL))
		rdmaez_impl_drain_end(d, 0);
	if (!receives || !d->left[1])
		rdmaez_impl_drain_end(d, 1);
	if (type == IBV_QPT_XRC_RECV)
		d->drained.open = RDMAEZ_QUEUE_RECV;
	if (d->opts.flags & RDMAEZ_DRAIN_LAST_WQE)
		d->drained.open = d->waits;
	d->together = d->qp->send_cq == d->qp->recv_cq;
	if (d->together)
		d->left[0] = d->left[0] < 0 || d->left[1] < 0 || !receives
				     ? -1
				     : (int)((unsigned int)d->left[0] + (unsigned int)d->left[1]);
}

/* Checks the options, and notes them. */
RDMAEZ_IMPL_COLD int rdmaez_impl_drain_start(struct ibv_qp *qp,
					     const struct rdmaez_drain_opts *opts,
					     struct rdmaez_drain *d, struct rdmaez_diag *diag,
					     const char *call)
{
	static const struct rdmaez_impl_site flags = {
		"opts.flags", RDMAEZ_WHY_OPTION_UNKNOWN, RDMAEZ_VALUE_FLAGS, 0,
		RDMAEZ_DRAIN_LAST_WQE | RDMAEZ_DRAIN_ANYWAY | RDMAEZ_DRAIN_DISCARD};
	int error = rdmaez_impl_begin(diag, call, qp ? qp->context : NULL,
				      !qp ? "qp"
				      : d ? NULL
					  : "drain");

	if (error)
		return error;
	rdmaez_impl_diag_qp(diag, qp);
	memset(d, 0, sizeof(*d));
	d->qp = qp;
	if (opts)
		d->opts = *opts;
	if (d->opts.flags & ~(unsigned int)flags.max)
		error = rdmaez_impl_refuse_at(diag, EINVAL, &flags,
					      d->opts.flags & ~(unsigned int)flags.max);
	d->left[0] = (int)rdmaez_impl_option(d->opts.sends, -1);
	d->left[1] = (int)rdmaez_impl_option(d->opts.recvs, -1);
	return error;
}

/* librdmacm connects over iWARP without telling libibverbs that the queue pair has left RESET. */
RDMAEZ_IMPL bool rdmaez_impl_drain_is_iwarp(const struct ibv_qp *qp)
{
	return qp->context->device->transport_type == IBV_TRANSPORT_IWARP;
}

/*
 * Returns whether a completion queue has to be polled: there is one, and something may be
 * outstanding.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_drain_polls(const struct rdmaez_drain *d)
{
	const struct ibv_qp *const qp = d->qp;

	if (qp->state == IBV_QPS_RESET && !rdmaez_impl_drain_is_iwarp(qp))
		return false;
	return (qp->send_cq && d->left[0]) || (qp->recv_cq && (d->left[1] || qp->srq));
}

/* Reads the first GID of a port, as source and destination of a path. */
RDMAEZ_IMPL_COLD void rdmaez_impl_drain_own_gid(struct ibv_context *context, int port_num,
						const struct ibv_port_attr *port,
						struct rdmaez_path *path)
{
	struct rdmaez_impl_port_gids gids;
	struct ibv_gid_entry own;

	rdmaez_impl_port_gids_begin(&gids, context, port_num, rdmaez_impl_port_gid_entries(port));
	if (!rdmaez_impl_port_gids_next(&gids, &own, NULL)) {
		path->dgid = own.gid;
		path->sgid_index = rdmaez_exactly((int)own.gid_index);
	}
}

/*
 * Creates an address handle that leads back to the port of a queue pair, for a beacon, which is
 * never sent. Returns NULL if there is none.
 */
RDMAEZ_IMPL_COLD struct ibv_ah *rdmaez_impl_drain_ah(struct ibv_qp *qp, int port_num)
{
	struct ibv_port_attr port;
	struct rdmaez_path path;
	struct ibv_ah *ah = NULL;

	if (rdmaez_impl_port_query(qp->context, port_num, &port, NULL))
		return NULL;
	memset(&path, 0, sizeof(path));
	path.dlid = port.lid;
	rdmaez_impl_drain_own_gid(qp->context, port_num, &port, &path);
	rdmaez_impl_ah_create(qp->pd, &path, port_num, &port, &ah, NULL);
	return ah;
}

/*
 * Moves a queue pair that has been checked to ERR, and posts its beacons. If an address handle is
 * missing, `ah` receives a new one, which the caller must destroy. If `ah` is NULL, none is made.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_drain_move(struct rdmaez_drain *d, struct ibv_ah **ah,
					    struct rdmaez_diag *diag, const char *call)
{
	struct ibv_qp *const qp = d->qp;
	const bool iwarp = rdmaez_impl_drain_is_iwarp(qp);
	const bool early = qp->state < IBV_QPS_RTS && !iwarp;
	const struct rdmaez_driver *driver;
	struct rdmaez_impl_qp_now now;
	struct ibv_device_attr device;
	unsigned int empty = early ? RDMAEZ_QUEUE_SEND : 0;
	int error, port = 1;

	if (qp->state == IBV_QPS_RESET && !iwarp)
		return 0;
	error = rdmaez_impl_qp_to(qp, IBV_QPS_ERR, NULL, diag, call);
	if (error)
		return error;
	rdmaez_impl_ask_device(qp->context, &device, &driver, diag);
	rdmaez_impl_qp_ask_now(qp, driver, IBV_QP_CAP | IBV_QP_PORT, &now);
	if (now.known & IBV_QP_CAP) {
		d->wr[0] = now.attr.cap.max_send_wr;
		d->wr[1] = now.attr.cap.max_recv_wr;
		/*
		 * Nothing waits in a queue of no size. If such a queue has a size after all, it
		 * takes its beacon.
		 */
		empty |= (d->wr[0] ? 0 : RDMAEZ_QUEUE_SEND) | (d->wr[1] ? 0 : RDMAEZ_QUEUE_RECV);
	}
	/* mlx4's bonded queue pairs may be on a port that the device does not have. */
	if ((now.known & IBV_QP_PORT) && now.attr.port_num <= device.phys_port_cnt)
		port = now.attr.port_num;
	if (ah && qp->qp_type == IBV_QPT_UD && !d->opts.ah && !early && d->left[0] < 0 &&
	    !(driver->traits & RDMAEZ_DRIVER_NO_BEACON))
		d->opts.ah = *ah = rdmaez_impl_drain_ah(qp, port);
	rdmaez_impl_drain_plan(d, driver->traits, early);
	rdmaez_impl_drain_mark(d, empty);
	return 0;
}

RDMAEZ_COLD int rdmaez_drain_begin(struct ibv_qp *qp, const struct rdmaez_drain_opts *opts,
				   struct rdmaez_drain *drain, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_drain_begin";
	const int error = rdmaez_impl_drain_start(qp, opts, drain, diag, call);

	return error ? error : rdmaez_impl_drain_move(drain, NULL, diag, call);
}

RDMAEZ_COLD bool rdmaez_drain_wc(struct rdmaez_drain *drain, const struct ibv_cq *cq,
				 const struct ibv_wc *wc)
{
	const bool is_ours = wc->qp_num == drain->qp->qp_num;
	int *const left = &drain->left[cq != drain->qp->send_cq];

	for (int i = 0; i < 2 && is_ours; i++)
		if (wc->wr_id == rdmaez_impl_drain_wr_id(drain->qp, i)) {
			if (drain->queue[i] == RDMAEZ_IMPL_END_BEACON)
				rdmaez_impl_drain_end(drain, i);
			return true;
		}
	if (!is_ours)
		drain->drained.others++;
	else if (wc->status == IBV_WC_WR_FLUSH_ERR)
		drain->drained.flushed++;
	else
		drain->drained.completed++;
	if (is_ours && *left > 0 && !--*left)
		for (int i = 0; i < 2; i++)
			if (drain->queue[i] >= RDMAEZ_IMPL_END_COUNT &&
			    !drain->left[drain->together ? 0 : i])
				rdmaez_impl_drain_end(drain, i);
	if (drain->opts.completed)
		drain->opts.completed(drain->opts.arg, wc);
	if (is_ours)
		rdmaez_impl_drain_mark(drain, 0);
	return false;
}

/*
 * Polls a completion queue once. Returns how many completions there were, or less than 0 after an
 * error.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_drain_poll(struct rdmaez_drain *d, struct ibv_cq *cq)
{
	struct ibv_wc wc[16];
	const int count = cq ? ibv_poll_cq(cq, 16, wc) : 0;

	for (int i = 0; i < count; i++)
		rdmaez_drain_wc(d, cq, &wc[i]);
	return count;
}

/*
 * Says why the end of each queue was not seen, and which completion queue may have been too small.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_drain_late(const struct rdmaez_drain *d, struct rdmaez_diag *diag)
{
	static const char *const field[] = {"opts.sends", "opts.recvs"};
	static const int why[] = {RDMAEZ_WHY_DRAIN_BEACON, RDMAEZ_WHY_DRAIN_BEACON,
				  RDMAEZ_WHY_DRAIN_FULL, RDMAEZ_WHY_DRAIN_UNCOUNTED,
				  RDMAEZ_WHY_DRAIN_NO_AH};
	struct rdmaez_impl_site site = {NULL, RDMAEZ_WHY_NONE, RDMAEZ_VALUE_NONE, 0, 0};

	for (int i = 0; i < 2; i++) {
		const struct ibv_cq *const cq = i ? d->qp->recv_cq : d->qp->send_cq;
		const bool counts = d->queue[i] >= RDMAEZ_IMPL_END_COUNT;
		const int left = counts ? d->left[d->together ? 0 : i] : 0;
		const uint64_t room =
			(d->together ? (uint64_t)d->wr[0] + d->wr[1] + 2 : (uint64_t)d->wr[i] + 1);

		if (!(d->waits & 1u << i))
			continue;
		site.field = field[i];
		site.why = left > 0 ? RDMAEZ_WHY_DRAIN_LEFT : (enum rdmaez_why)why[d->queue[i]];
		site.kind = left > 0 ? RDMAEZ_VALUE_COUNTED : RDMAEZ_VALUE_NONE;
		rdmaez_impl_refuse_at(diag, ETIMEDOUT, &site, left > 0 ? left : 0);
		site.field = i ? "recv_cq" : "send_cq";
		site.why = RDMAEZ_WHY_DRAIN_CQ;
		site.kind = RDMAEZ_VALUE_NUMBER;
		if (d->wr[i] && (uint64_t)(int64_t)cq->cqe < room)
			rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &site,
						(uint64_t)(int64_t)cq->cqe, room, INT32_MAX);
	}
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_late_drain, (d->qp, d->opts.timeout_ns, diag));
	return ETIMEDOUT;
}

/* Returns whether nothing shows the end of anything that is waited for. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_drain_is_blind(const struct rdmaez_drain *d)
{
	for (int i = 0; i < 2; i++)
		if ((d->waits & 1u << i) &&
		    (d->queue[i] < RDMAEZ_IMPL_END_COUNT || d->left[d->together ? 0 : i] >= 0))
			return false;
	return true;
}

/*
 * Polls until both ends are seen. If an end cannot be seen, it polls until nothing more of the
 * queue pair comes. Receives taken from an SRQ have ended when no more of them are there.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_drain_wait(struct rdmaez_drain *d, struct rdmaez_diag *diag)
{
	const uint64_t since = rdmaez_impl_now();
	const uint64_t deadline = rdmaez_impl_deadline(d->opts.timeout_ns);
	uint64_t now, moved = since;
	unsigned int own = 0;

	do {
		int more = rdmaez_impl_drain_poll(d, d->qp->send_cq);
		const int other =
			more < 0 || d->together ? 0 : rdmaez_impl_drain_poll(d, d->qp->recv_cq);

		more = other < 0 ? other : more + other;
		if (more < 0)
			return rdmaez_impl_refuse_verb(diag, EIO, RDMAEZ_WHY_DEVICE_GONE,
						       "ibv_poll_cq");
		if (!d->waits && (!more || !d->qp->srq))
			return 0;
		now = rdmaez_impl_now();
		if (own != d->drained.flushed + d->drained.completed)
			moved = now;
		own = d->drained.flushed + d->drained.completed;
		if (d->waits && now - moved >= RDMAEZ_IMPL_DRAIN_QUIET_NS &&
		    rdmaez_impl_drain_is_blind(d))
			break;
		if (!more && now - since > 100000)
			rdmaez_impl_rest(50000);
	} while (now < deadline);
	return d->waits ? rdmaez_impl_drain_late(d, diag) : 0;
}

/* Drains a queue pair that has been checked, and whose completions have somewhere to go. */
RDMAEZ_IMPL_COLD int rdmaez_impl_drain_run(struct rdmaez_drain *d, struct rdmaez_drained *drained,
					   struct rdmaez_diag *diag, const char *call)
{
	const bool polls = rdmaez_impl_drain_polls(d);
	struct ibv_ah *ah = NULL;
	int error = rdmaez_impl_drain_move(d, &ah, diag, call);

	if (error)
		return error;
	if (polls)
		error = rdmaez_impl_drain_wait(d, diag);
	if (ah)
		ibv_destroy_ah(ah);
	if (drained && (!error || error == ETIMEDOUT))
		*drained = d->drained;
	return error;
}

/*
 * Checks the options of a call that polls. Unless the caller allows it, the call loses no
 * completion.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_drain_check(struct ibv_qp *qp,
					     const struct rdmaez_drain_opts *opts,
					     struct rdmaez_drain *d, struct rdmaez_diag *diag,
					     const char *call)
{
	const int error = rdmaez_impl_drain_start(qp, opts, d, diag, call);

	if (error || d->opts.completed || (d->opts.flags & RDMAEZ_DRAIN_DISCARD) ||
	    !rdmaez_impl_drain_polls(d))
		return error;
	return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DRAIN_NOWHERE, "opts.completed");
}

RDMAEZ_COLD int rdmaez_qp_drain(struct ibv_qp *qp, const struct rdmaez_drain_opts *opts,
				struct rdmaez_drained *drained, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_qp_drain";
	struct rdmaez_drain drain;
	const int error = rdmaez_impl_drain_check(qp, opts, &drain, diag, call);

	return error ? error : rdmaez_impl_drain_run(&drain, drained, diag, call);
}

/*
 * Drains before the queue pair's end, which may come even if that fails, but not with wrong
 * options.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_drain_last(struct ibv_qp *qp, const struct rdmaez_drain_opts *opts,
					    struct rdmaez_drained *drained,
					    struct rdmaez_diag *diag, const char *call)
{
	struct rdmaez_drain drain;
	int error = rdmaez_impl_drain_check(qp, opts, &drain, diag, call);

	if (error)
		return error;
	error = rdmaez_impl_drain_run(&drain, drained, diag, call);
	if (error && !(drain.opts.flags & RDMAEZ_DRAIN_ANYWAY))
		return error;
	rdmaez_impl_diag_forget(diag);
	return 0;
}

RDMAEZ_COLD int rdmaez_qp_destroy(struct ibv_qp *qp, const struct rdmaez_drain_opts *opts,
				  struct rdmaez_drained *drained, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_drain_last(qp, opts, drained, diag, "rdmaez_qp_destroy");

	return error ? error
		     : rdmaez_impl_end(diag, ibv_destroy_qp(qp), "ibv_destroy_qp", "qp",
				       RDMAEZ_WHY_QP_MULTICAST);
}

/*
 * Puts another queue pair in the place of this one. This one is destroyed last: until then the
 * program can go back to it.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_recreate(struct ibv_qp **qp, const struct ibv_qp_init_attr *asked,
					  struct rdmaez_diag *diag)
{
	struct ibv_qp *const old = *qp;
	struct ibv_qp_init_attr init = *asked;
	struct ibv_qp *made;
	int error;

	if (!init.send_cq)
		init.send_cq = old->send_cq;
	if (!init.recv_cq)
		init.recv_cq = old->recv_cq;
	if (!init.srq)
		init.srq = old->srq;
	error = rdmaez_qp_create(old->pd, &init, &made, diag);
	if (error)
		return error;
	error = rdmaez_impl_end(diag, ibv_destroy_qp(old), "ibv_destroy_qp", "qp",
				RDMAEZ_WHY_QP_MULTICAST);
	if (error)
		ibv_destroy_qp(made);
	else
		*qp = made;
	return error;
}

RDMAEZ_COLD int rdmaez_qp_recover(struct ibv_qp **qp, const struct rdmaez_recover_opts *opts,
				  struct rdmaez_endpoint *local, struct rdmaez_drained *drained,
				  struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_qp_recover";
	const struct ibv_qp_init_attr *const init = opts ? opts->init_attr : NULL;
	const struct rdmaez_driver *driver;
	struct ibv_device_attr device;
	struct rdmaez_impl_qp_now now;
	bool resets;
	int error = rdmaez_impl_begin(diag, call, qp && *qp ? (*qp)->context : NULL,
				      !qp || !*qp ? "qp"
				      : local     ? NULL
						  : "local");

	if (error)
		return error;
	rdmaez_impl_diag_qp(diag, *qp);
	rdmaez_impl_ask_device((*qp)->context, &device, &driver, diag);
	/* No iWARP driver has a way out of ERR, whatever it answers: siw_qp_modify(). */
	resets = !(driver->traits & RDMAEZ_DRIVER_RESET_FINAL) &&
		 (*qp)->context->device->transport_type != IBV_TRANSPORT_IWARP;
	if (!resets && !init)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_RESET_FINAL, "opts.init_attr");
	/*
	 * rxe_qp_reset() leaves comp.opcode, which is that of a READ's last response. If that was
	 * not the READ's last packet, check_ack() refuses the next connection's first
	 * acknowledgement, and completes its request all the same. From 6.12 on check_psn() also
	 * lets through what is behind then.
	 */
	resets = resets && !(init && (driver->habits & RDMAEZ_DRIVER_HABIT_RESET_KEEPS));
	error = rdmaez_impl_drain_last(*qp, opts ? &opts->drain : NULL, drained, diag, call);
	if (error)
		return error;
	rdmaez_impl_qp_ask_now(*qp, driver, resets ? IBV_QP_SQ_PSN : 0, &now);
	if (resets)
		error = rdmaez_impl_qp_to(*qp, IBV_QPS_RESET, NULL, diag, call);
	if (init && (!resets || error))
		error = rdmaez_impl_recreate(qp, init, diag);
	if (!error)
		error = rdmaez_endpoint_local(*qp, opts ? opts->qp : NULL, local, diag);
	/*
	 * These PSNs are ahead of the former ones, so that late ACKs are behind: check_psn() of rxe
	 * takes those that are ahead.
	 */
	if (!error && (now.known & IBV_QP_SQ_PSN))
		local->psn = (now.attr.sq_psn + 0x100000u + local->psn % 0x100000u) & 0xffffffu;
	if (diag)
		diag->call = call;
	return error;
}

/* ---- SQD and SQE -------------------------------------------------------------------------- */

/*
 * Refuses a queue pair that cannot go on from this state. `states` has those from which it could.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_resume_refuse(struct rdmaez_diag *diag, enum ibv_qp_state state,
					       int states)
{
	static const struct rdmaez_impl_site site = {"qp_state", RDMAEZ_WHY_RESUME_STATE,
						     RDMAEZ_VALUE_STATE_NOW, 0, 0};

	return rdmaez_impl_refuse_within(diag, EINVAL, &site, (int)state, 0, states);
}

/*
 * Begins a record about a queue pair, and asks for its driver, its state and whether its send queue
 * drains.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_resume_begin(struct ibv_qp *qp,
					      const struct rdmaez_driver **driver,
					      struct rdmaez_impl_qp_now *now,
					      struct rdmaez_diag *diag, const char *call)
{
	struct ibv_device_attr device;
	const int error = rdmaez_impl_begin(diag, call, qp ? qp->context : NULL, qp ? NULL : "qp");

	if (error)
		return error;
	rdmaez_impl_diag_qp(diag, qp);
	rdmaez_impl_ask_device(qp->context, &device, driver, diag);
	rdmaez_impl_qp_ask_now(qp, *driver, IBV_QP_STATE | RDMAEZ_IMPL_QP_SQ_DRAINING, now);
	return 0;
}

/* Does what rdmaez_qp_quiesce() does, under another name. */
RDMAEZ_IMPL_COLD int rdmaez_impl_quiesce(struct ibv_qp *qp, uint64_t timeout_ns,
					 struct rdmaez_diag *diag, const char *call)
{
	static const struct rdmaez_impl_site draining = {"sq_draining", RDMAEZ_WHY_SQ_DRAINING,
							 RDMAEZ_VALUE_NUMBER, 0, 0};
	const struct rdmaez_driver *driver;
	struct rdmaez_impl_qp_now now;
	uint64_t deadline;
	int error = rdmaez_impl_resume_begin(qp, &driver, &now, diag, call);

	if (error)
		return error;
	if (qp->context->device->transport_type == IBV_TRANSPORT_IWARP)
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_SQD_CLOSES, "qp_state");
	if (driver->traits & RDMAEZ_DRIVER_NO_SQD)
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_NO_SQD, "qp_state");
	/* By EOPNOTSUPP and EINVAL drivers say that they cannot answer. */
	if (now.error && now.error != EOPNOTSUPP && now.error != EINVAL)
		return rdmaez_impl_refuse_verb(diag, now.error, RDMAEZ_WHY_QUERY_REFUSED,
					       "ibv_query_qp");
	if (!(now.known & RDMAEZ_IMPL_QP_SQ_DRAINING))
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_SQD_UNTOLD, "sq_draining");
	if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_SQD)
		return rdmaez_impl_resume_refuse(diag, qp->state,
						 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD);
	deadline = rdmaez_impl_deadline(timeout_ns);
	if (qp->state == IBV_QPS_RTS)
		error = rdmaez_impl_qp_to(qp, IBV_QPS_SQD, NULL, diag, call);
	while (!error) {
		rdmaez_impl_qp_ask_now(qp, driver, IBV_QP_STATE | RDMAEZ_IMPL_QP_SQ_DRAINING, &now);
		if ((now.known & IBV_QP_STATE) && now.attr.qp_state != IBV_QPS_SQD)
			return rdmaez_impl_resume_refuse(diag, now.attr.qp_state, 1 << IBV_QPS_SQD);
		if ((now.known & RDMAEZ_IMPL_QP_SQ_DRAINING) && !now.attr.sq_draining)
			return 0;
		if (rdmaez_impl_now() >= deadline) {
			error = rdmaez_impl_refuse_at(diag, ETIMEDOUT, &draining, 1);
			RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_late_drain, (qp, timeout_ns, diag));
			return error;
		}
		rdmaez_impl_rest(50000);
	}
	return error;
}

RDMAEZ_COLD int rdmaez_qp_quiesce(struct ibv_qp *qp, uint64_t timeout_ns, struct rdmaez_diag *diag)
{
	return rdmaez_impl_quiesce(qp, timeout_ns, diag, "rdmaez_qp_quiesce");
}

RDMAEZ_COLD int rdmaez_qp_change(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				 uint64_t timeout_ns, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_qp_change";
	enum ibv_qp_state in = IBV_QPS_SQD;
	struct rdmaez_qp_move move;
	enum ibv_qp_type type;
	int error = rdmaez_impl_begin(diag, call, qp ? qp->context : NULL,
				      !qp    ? "qp"
				      : opts ? NULL
					     : "opts");

	if (error)
		return error;
	rdmaez_impl_diag_qp(diag, qp);
	if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_SQD)
		return rdmaez_impl_resume_refuse(diag, qp->state,
						 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD);
	type = (int)opts->driver_type ? opts->driver_type : qp->qp_type;
	if (!(opts->optional & ~rdmaez_qp_rule(type, qp->state, IBV_QPS_RTS).optional))
		return rdmaez_impl_qp_to(qp, IBV_QPS_RTS, opts, diag, call);
	error = rdmaez_qp_attr(qp->qp_type, in, in, opts, &move, diag);
	if (error) {
		if (diag) {
			rdmaez_impl_diag_qp(diag, qp);
			diag->call = call;
		}
		return error;
	}
	error = rdmaez_impl_quiesce(qp, timeout_ns, diag, call);
	if (!error)
		error = rdmaez_impl_qp_to(qp, in, opts, diag, call);
	/* After that, rxe of Linux 6.12 drains again: rxe_qp_sqd(). */
	if (!error)
		error = rdmaez_impl_quiesce(qp, timeout_ns, diag, call);
	if (!error)
		return rdmaez_impl_qp_to(qp, IBV_QPS_RTS, NULL, diag, call);
	if (qp->state == in)
		rdmaez_qp_to_rts(qp, NULL, NULL);
	return error;
}

RDMAEZ_COLD int rdmaez_qp_resume(struct ibv_qp *qp, struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_qp_resume";
	const struct rdmaez_driver *driver;
	struct rdmaez_impl_qp_now now;
	const int error = rdmaez_impl_resume_begin(qp, &driver, &now, diag, call);

	if (error)
		return error;
	if (qp->state == IBV_QPS_RTS && (now.known & IBV_QP_STATE))
		return 0;
	if (qp->state == IBV_QPS_SQE || qp->state == IBV_QPS_SQD || qp->state == IBV_QPS_RTS)
		return rdmaez_impl_qp_to(qp, IBV_QPS_RTS, NULL, diag, call);
	return rdmaez_impl_resume_refuse(diag, qp->state, 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
