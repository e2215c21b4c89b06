/* SPDX-License-Identifier: MIT */
/* Implements connect.h. */
#ifndef RDMAEZ_IMPL_CONNECT_H
#define RDMAEZ_IMPL_CONNECT_H

#ifndef RDMAEZ_CONNECT_H
#include "../connect.h"
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
#ifndef RDMAEZ_IMPL_QP_H
#include "qp.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif
#ifndef RDMAEZ_PATH_H
#include "../path.h"
#endif

RDMAEZ_IMPL_BEGIN

/* This is all that both ends have agreed to, so that nothing need be asked. */
struct rdmaez_impl_connect {
	struct rdmaez_qp_opts agreed;
	struct ibv_port_attr port;
};

/* Returns whether a queue pair has no peer of its own, and stays in RTS for the next one. */
RDMAEZ_IMPL bool rdmaez_impl_connect_is_ud(const struct rdmaez_endpoint *local)
{
	return local->qp_type == IBV_QPT_UD || local->qp_type == RDMAEZ_QPT_SRD;
}

/* Sets the ECE options that both ends can do. mlx5 keeps them for the next transition. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_connect_ece(struct ibv_qp *qp,
					      const struct rdmaez_endpoint *local,
					      const struct rdmaez_endpoint *remote,
					      struct rdmaez_diag *diag)
{
	struct ibv_ece ece;
	int error;

	rdmaez_impl_endpoint_ece(local, remote, &ece);
	if (!ece.vendor_id)
		return 0;
	error = rdmaez_impl_error(ibv_set_ece(qp, &ece));
	return error == EOPNOTSUPP ? 0 : rdmaez_impl_verb(diag, error, "ibv_set_ece");
}

/*
 * Fills what a bring-up needs of the port, from the endpoint that was filled with it. The GID index
 * was in the table then. Now the kernel judges it.
 */
RDMAEZ_IMPL void rdmaez_impl_connect_port(const struct rdmaez_endpoint *local,
					  struct rdmaez_impl_connect *c)
{
	memset(&c->port, 0, sizeof(c->port));
	c->port.link_layer = local->link_layer;
	c->port.flags = local->port_flags;
	c->port.lid = local->lid;
	c->port.active_mtu = local->mtu;
	c->port.gid_tbl_len = RDMAEZ_PATH_GIDS;
	c->agreed.port_attr = &c->port;
}

/* Brings a queue pair to RTS from two endpoints. */
RDMAEZ_IMPL_COLD int rdmaez_impl_connect_qp(struct ibv_qp *qp, const struct rdmaez_endpoint *local,
					    const struct rdmaez_endpoint *remote,
					    const struct rdmaez_qp_opts *opts,
					    struct rdmaez_impl_connect *c, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site stranger = {
		"local.qp_num", RDMAEZ_WHY_CONNECT_OTHER_QP, RDMAEZ_VALUE_NUMBER, 0, 0};
	static const struct rdmaez_impl_site late = {
		"qp->state", RDMAEZ_WHY_CONNECT_STATE, RDMAEZ_VALUE_STATE_NOW, 0,
		1 << IBV_QPS_RESET | 1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR};
	int error, state, last;

	if (!qp || !local || !remote)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  !qp     ? "qp"
					  : local ? "remote"
						  : "local");
	rdmaez_impl_diag_qp(diag, qp);
	error = rdmaez_impl_endpoint_negotiate(local, remote, opts, &c->agreed, diag);
	if (local->qp_num != qp->qp_num)
		error = rdmaez_impl_refuse_within(diag, EINVAL, &stranger, local->qp_num,
						  qp->qp_num, qp->qp_num);
	state = (int)qp->state;
	if (state > IBV_QPS_RTS || (state == IBV_QPS_RTS && !rdmaez_impl_connect_is_ud(local)))
		error = rdmaez_impl_refuse_at(diag, EINVAL, &late, state);
	if (error)
		return error;
	rdmaez_impl_connect_port(local, c);
	if (local->ece.vendor_id && state < IBV_QPS_RTR)
		error = rdmaez_impl_connect_ece(qp, local, remote, diag);
	last = local->qp_type == RDMAEZ_QPT_DCT ? IBV_QPS_RTR : IBV_QPS_RTS;
	while (!error && state++ < last)
		error = rdmaez_impl_qp_move(qp, (enum ibv_qp_state)state, &c->agreed, diag);
	return error;
}

RDMAEZ_API int rdmaez_qp_connect(struct ibv_qp *qp, const struct rdmaez_endpoint *local,
				 const struct rdmaez_endpoint *remote,
				 const struct rdmaez_qp_opts *opts, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_connect c;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_connect");
	return rdmaez_impl_connect_qp(qp, local, remote, opts, &c, diag);
}

RDMAEZ_API int rdmaez_qp_connect_ud(struct ibv_qp *qp, const struct rdmaez_endpoint *local,
				    const struct rdmaez_endpoint *remote,
				    const struct rdmaez_qp_opts *opts, struct ibv_ah **ah,
				    struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site type = {"qp->qp_type", RDMAEZ_WHY_CONNECT_NO_AH,
						     RDMAEZ_VALUE_TYPE, 0, 0};
	struct rdmaez_impl_retry retry = {opts ? opts->retry_ns : 0, 0, 0, 0};
	struct rdmaez_impl_connect c;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_connect_ud");
	if (!ah)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "ah");
	if (local && !rdmaez_impl_connect_is_ud(local))
		return rdmaez_impl_refuse_at(diag, EINVAL, &type, (int)local->qp_type);
	error = rdmaez_impl_connect_qp(qp, local, remote, opts, &c, diag);
	if (error)
		return error;
	do {
		rdmaez_impl_diag_forget(diag);
		error = rdmaez_impl_ah_create(qp->pd, &c.agreed.path, local->port, &c.port, ah,
					      diag);
	} while (error && retry.retry_ns && rdmaez_impl_try_again(&retry, error));
	if (error)
		rdmaez_impl_retried(&retry, diag);
	else if (diag)
		diag->verb = NULL;
	return error;
}

RDMAEZ_COLD int rdmaez_qp_connect_loopback(struct ibv_qp *qp, struct ibv_qp *other,
					   const struct rdmaez_qp_opts *opts,
					   struct rdmaez_diag *diag)
{
	struct rdmaez_qp_opts there;
	struct rdmaez_endpoint a, b;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_connect_loopback");
	if (!qp || !other)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  qp ? "other" : "qp");
	memset(&there, 0, sizeof(there));
	if (opts)
		there = *opts;
	there.port_attr = NULL;
	there.device_attr = NULL;
	error = rdmaez_endpoint_local(qp, opts, &a, diag);
	if (!error && other->context != qp->context)
		error = rdmaez_endpoint_local(other, &there, &b, diag);
	else if (!error)
		b = a;
	if (!error && other->context == qp->context && other != qp)
		error = rdmaez_endpoint_set_qp(&b, other, diag);
	if (!error)
		error = rdmaez_qp_connect(qp, &a, &b, opts, diag);
	if (!error && other != qp)
		error = rdmaez_qp_connect(other, &b, &a, opts, diag);
	if (diag)
		diag->call = "rdmaez_qp_connect_loopback";
	return error;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
