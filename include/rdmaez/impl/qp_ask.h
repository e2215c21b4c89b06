/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez_qp_check() finds out before it judges. Drivers answer partly: some refuse a question for more
 * than they know, some answer and leave fields alone. ib_uverbs_query_qp() of the kernel does not clear the
 * answer, so such a field holds anything, and nothing that the caller puts there first would survive the
 * copy from the kernel. So only what the judgement needs is asked for, and only what this driver is known to
 * fill is believed. What stays open makes findings likely or silent.
 */
#ifndef RDMAEZ_IMPL_QP_ASK_H
#define RDMAEZ_IMPL_QP_ASK_H

#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif
#ifndef RDMAEZ_PORT_H
#include "../port.h"
#endif
#ifndef RDMAEZ_QP_RULES_H
#include "../qp_rules.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_LINUX_H
#include "linux.h"
#endif
#ifndef RDMAEZ_IMPL_PORT_H
#include "port.h"
#endif
#ifndef RDMAEZ_IMPL_QP_QUERY_H
#include "qp_query.h"
#endif
#ifndef RDMAEZ_IMPL_REACH_H
#include "reach.h"
#endif

RDMAEZ_IMPL_BEGIN

/* An entry of a GID table that the request names. */
struct rdmaez_impl_qp_gid {
	struct ibv_gid_entry entry; /* zero where it is empty or was not read */
	int error;                  /* what reading it ended in, ENODATA for an empty one */
};

/* A request, what is known about those it concerns, and the judgement as it grows. */
struct rdmaez_impl_qp_case {
	const struct ibv_qp_attr *attr; /* the request */
	int mask;
	enum ibv_qp_type type;
	enum ibv_transport_type transport;
	const struct rdmaez_driver *driver;
	unsigned int traits; /* the driver's, as far as they concern this type and transport */
	struct ibv_device_attr device; /* what no request exceeds where the device did not answer */
	struct ibv_qp_attr now; /* the queue pair as it is; its state may be the library's copy */
	int answered;           /* what the driver has told of that */
	enum ibv_qp_state from, to; /* the states that the driver starts from and is to end in */
	bool from_known;            /* whether the former is the driver's own word */
	int silence; /* the errno of ibv_query_qp() where it is not the driver's habit */
	bool port_known;
	struct ibv_port_attr port; /* of the port that the request is about */
	struct rdmaez_impl_qp_gid gid, alt_gid;
	struct rdmaez_impl_reach reach; /* what impl/reach.h is told of all this */
	int pkey;          /* the P_Key at an index within the table; negative: not read */
	int linux_version; /* 601 for 6.1; 0: not known, or older than what was read */
	int refused;       /* what the verb has returned, to be explained; 0: it was not called */
	struct rdmaez_diag *diag;
	int error;  /* the first that the kernel would return */
	int likely; /* the first that it may return for what is likely */
};

/* Whether a state is asked for, of which the system call carries eight bits. */
RDMAEZ_IMPL bool rdmaez_impl_qp_moves_to(const struct rdmaez_impl_qp_case *c,
					 enum ibv_qp_state state)
{
	return (c->mask & IBV_QP_STATE) && (uint8_t)c->attr->qp_state == (uint8_t)state;
}

/*
 * What applies to this queue pair of all that is known about its driver. iWARP drivers look at little but
 * the state. DCI and DCT of mlx5 have depth limits that no query tells (validate_rd_atomic()), and a DCT
 * takes its values unseen (mlx5_ib_modify_dct()).
 */
RDMAEZ_IMPL unsigned int rdmaez_impl_qp_traits(const struct rdmaez_impl_qp_case *c)
{
	const unsigned int depths = RDMAEZ_DRIVER_DEPTH_OUT | RDMAEZ_DRIVER_DEPTH_IN;
	const unsigned int traits = c->driver->traits;

	if (c->transport == IBV_TRANSPORT_IWARP)
		return traits & RDMAEZ_DRIVER_RESET_FINAL;
	if (c->type == RDMAEZ_QPT_DCI)
		return traits & ~depths;
	if (c->type == RDMAEZ_QPT_DCT || c->type == IBV_QPT_DRIVER)
		return traits & ~(depths | RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_MTU_ENUM |
				  RDMAEZ_DRIVER_PKEY);
	return traits;
}

/* What the judgement needs to know of the queue pair: bits for ibv_query_qp(). */
RDMAEZ_IMPL int rdmaez_impl_qp_question(const struct rdmaez_impl_qp_case *c)
{
	const int named = IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_PORT;
	int question = IBV_QP_STATE;

	if (!(c->mask & named) ||
	    ((c->mask & IBV_QP_AV) && rdmaez_impl_qp_moves_to(c, IBV_QPS_RTR)))
		question |= IBV_QP_PORT;
	if ((c->mask & IBV_QP_MAX_DEST_RD_ATOMIC) && !c->attr->max_dest_rd_atomic &&
	    !(c->mask & IBV_QP_ACCESS_FLAGS))
		question |= IBV_QP_ACCESS_FLAGS;
	return question;
}

/* Asks the driver about the queue pair. Where it does not tell the state, the library's copy stands for it. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_ask_qp(struct ibv_qp *qp, struct rdmaez_impl_qp_case *c)
{
	const enum ibv_qp_state kept = qp->state;
	struct rdmaez_impl_qp_now now;

	rdmaez_impl_qp_ask_now(qp, c->driver, rdmaez_impl_qp_question(c), &now);
	c->now = now.attr;
	c->answered = now.known;
	if (!(now.known & IBV_QP_STATE))
		c->now.qp_state = kept;
	if (now.error != EOPNOTSUPP && now.error != EINVAL)
		c->silence = now.error;
}

/* From where to where the request leads: some drivers believe what the caller says of the former. */
RDMAEZ_IMPL void rdmaez_impl_qp_step(struct rdmaez_impl_qp_case *c)
{
	const bool told =
		(c->mask & IBV_QP_CUR_STATE) && (c->traits & RDMAEZ_DRIVER_TRUSTS_CUR) != 0;

	c->from = told ? (enum ibv_qp_state)(uint8_t)c->attr->cur_qp_state : c->now.qp_state;
	c->to = c->mask & IBV_QP_STATE ? (enum ibv_qp_state)(uint8_t)c->attr->qp_state : c->from;
	c->from_known = told || (c->answered & IBV_QP_STATE) != 0;
}

/* The device's limits and its driver. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_ask_limits(struct ibv_context *context,
						struct rdmaez_impl_qp_case *c)
{
	if (rdmaez_impl_ask_device(context, &c->device, &c->driver, c->diag)) {
		c->device.phys_port_cnt = UINT8_MAX;
		c->device.max_qp_rd_atom = UINT8_MAX;
		c->device.max_qp_init_rd_atom = UINT8_MAX;
		c->device.atomic_cap = IBV_ATOMIC_HCA;
	}
}

/* The port that the request is about: named in it, the only one, or the queue pair's; 0: not known. */
RDMAEZ_IMPL int rdmaez_impl_qp_port(const struct rdmaez_impl_qp_case *c)
{
	if (c->mask & IBV_QP_AV)
		return c->attr->ah_attr.port_num;
	if (c->mask & IBV_QP_ALT_PATH)
		return c->attr->alt_ah_attr.port_num;
	if (c->mask & IBV_QP_PORT)
		return c->attr->port_num;
	if (c->device.phys_port_cnt == 1)
		return 1;
	return (c->answered & IBV_QP_PORT) && c->driver->vendor_id ? c->now.port_num : 0;
}

/* `gid` is zero until then. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_read_gid(struct ibv_context *context,
					      const struct ibv_ah_attr *ah,
					      struct rdmaez_impl_qp_gid *gid)
{
	if (!ah->is_global)
		return;
	gid->error = rdmaez_impl_error(
		ibv_query_gid_ex(context, ah->port_num, ah->grh.sgid_index, &gid->entry, 0));
	if (gid->error)
		memset(&gid->entry, 0, sizeof(gid->entry));
}

/* Asks for whatever the request is about. No answer is no failure. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_gather(struct ibv_qp *qp, struct rdmaez_impl_qp_case *c)
{
	const struct ibv_qp_attr *const attr = c->attr;
	int port_num;

	c->linux_version = rdmaez_impl_linux_version();
	if (c->linux_version < 601)
		c->linux_version =
			0; /* vendors put newer drivers into kernels with an older number */
	c->reach.context = qp->context;
	c->reach.port = &c->port;
	c->reach.ah = &attr->ah_attr;
	c->reach.own = &c->gid.entry;
	c->reach.diag = c->diag;
	c->transport = qp->context->device->transport_type;
	rdmaez_impl_qp_ask_limits(qp->context, c);
	/* Of efa's types beyond verbs there is one. */
	if (c->type == IBV_QPT_DRIVER && (c->driver->traits & RDMAEZ_DRIVER_EFA))
		c->type = RDMAEZ_QPT_SRD;
	c->traits = rdmaez_impl_qp_traits(c);
	rdmaez_impl_qp_ask_qp(qp, c);
	rdmaez_impl_qp_step(c);
	port_num = rdmaez_impl_qp_port(c);
	c->port_known = port_num >= 1 && port_num <= c->device.phys_port_cnt &&
			!ibv_query_port(qp->context, (uint8_t)port_num, &c->port);
	if (!c->port_known)
		return;
	if (c->mask & IBV_QP_AV)
		rdmaez_impl_qp_read_gid(qp->context, &attr->ah_attr, &c->gid);
	if (c->mask & IBV_QP_ALT_PATH)
		rdmaez_impl_qp_read_gid(qp->context, &attr->alt_ah_attr, &c->alt_gid);
	if ((c->mask & IBV_QP_PKEY_INDEX) && attr->pkey_index < c->port.pkey_tbl_len)
		c->pkey = rdmaez_impl_port_pkey(qp->context, port_num, attr->pkey_index);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
