/* SPDX-License-Identifier: MIT */
/*
 * Explains why a transition is refused. It judges the request as uverbs, the kernel's core and the
 * driver do, in their order.
 */
#ifndef RDMAEZ_EXPLAIN_QP_CHECK_H
#define RDMAEZ_EXPLAIN_QP_CHECK_H

#include "path.h"
#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/* This is an entry of a GID table that the request names. */
struct rdmaez_impl_qp_gid {
	struct ibv_gid_entry entry; /* zero where it is empty or was not read */
	int error;                  /* what reading it ended in, ENODATA for an empty one */
};

/*
 * A case is a request, what is known of the objects that it concerns, and the judgement as it
 * grows.
 */
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

/* Returns whether the request asks for a state. The system call carries eight bits of it. */
RDMAEZ_IMPL bool rdmaez_impl_qp_moves_to(const struct rdmaez_impl_qp_case *c,
					 enum ibv_qp_state state)
{
	return (c->mask & IBV_QP_STATE) && (uint8_t)c->attr->qp_state == (uint8_t)state;
}

/*
 * Returns the traits of the driver that apply to this queue pair. iWARP drivers look at little but
 * the state. mlx5's DCI and DCT have depth limits that no query tells (validate_rd_atomic()), and
 * mlx5_ib_modify_dct() does not look at a DCT's values.
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

/* Returns what the judgement needs to know of the queue pair, as bits for ibv_query_qp(). */
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

/*
 * Asks the driver about the queue pair. If it does not tell the state, libibverbs' copy stands for
 * it.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_qp_ask_qp(struct ibv_qp *qp, struct rdmaez_impl_qp_case *c)
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

/*
 * Finds out the states that the request leads from and to. Some drivers believe the caller's word
 * for the first.
 */
RDMAEZ_IMPL void rdmaez_impl_qp_step(struct rdmaez_impl_qp_case *c)
{
	const bool told =
		(c->mask & IBV_QP_CUR_STATE) && (c->traits & RDMAEZ_DRIVER_TRUSTS_CUR) != 0;

	c->from = told ? (enum ibv_qp_state)(uint8_t)c->attr->cur_qp_state : c->now.qp_state;
	c->to = c->mask & IBV_QP_STATE ? (enum ibv_qp_state)(uint8_t)c->attr->qp_state : c->from;
	c->from_known = told || (c->answered & IBV_QP_STATE) != 0;
}

/* Asks the device for its limits, and finds its driver. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_qp_ask_limits(struct ibv_context *context,
						 struct rdmaez_impl_qp_case *c)
{
	if (rdmaez_impl_ask_device(context, &c->device, &c->driver, c->diag)) {
		c->device.phys_port_cnt = UINT8_MAX;
		c->device.max_qp_rd_atom = UINT8_MAX;
		c->device.max_qp_init_rd_atom = UINT8_MAX;
		c->device.atomic_cap = IBV_ATOMIC_HCA;
	}
}

/*
 * Returns the port that the request is about: the one that it names, the only one, or the queue
 * pair's. 0 means that it is not known.
 */
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

/*
 * Reads the entry of the GID table that an address vector names. `gid` must be zero before the
 * call, and apart from the error it stays so on failure.
 */
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

/* Asks for everything that the request is about. A question without an answer is not a failure. */
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
	/* efa has one type beyond those of verbs. */
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

RDMAEZ_IMPL bool rdmaez_impl_qp_has_trait(const struct rdmaez_impl_qp_case *c, unsigned int traits)
{
	return (c->traits & traits) != 0;
}

/* Remembers the first errno value that the kernel would return, or may return. */
RDMAEZ_IMPL void rdmaez_impl_qp_errno(struct rdmaez_impl_qp_case *c, enum rdmaez_severity severity,
				      int error)
{
	int *const first = severity == RDMAEZ_DIAG_ERROR ? &c->error : &c->likely;

	if (severity != RDMAEZ_DIAG_ADVICE && !*first)
		*first = error;
}

/*
 * Adds a finding. The kernel refuses with EINVAL, unless the case has noted another errno value
 * before.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_find_within(struct rdmaez_impl_qp_case *c,
						 enum rdmaez_severity severity,
						 const struct rdmaez_impl_site *site, int64_t value,
						 int64_t min, int64_t max)
{
	rdmaez_impl_qp_errno(c, severity, EINVAL);
	rdmaez_impl_find_within(c->diag, severity, site, (uint64_t)value, (uint64_t)min,
				(uint64_t)max);
}

/* Does the same with the bounds of the site. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_find(struct rdmaez_impl_qp_case *c,
					  enum rdmaez_severity severity,
					  const struct rdmaez_impl_site *site, int64_t value)
{
	rdmaez_impl_qp_find_within(c, severity, site, value, site->min, site->max);
}

/*
 * Returns how certain a refusal is. Drivers with one of these traits refuse; others accept, or let
 * their device decide, which may be what an EINVAL came from.
 */
RDMAEZ_IMPL enum rdmaez_severity rdmaez_impl_qp_severity(const struct rdmaez_impl_qp_case *c,
							 unsigned int refusing)
{
	if (rdmaez_impl_qp_has_trait(c, refusing))
		return RDMAEZ_DIAG_ERROR;
	return refusing && (!c->driver->vendor_id || c->refused == EINVAL) ? RDMAEZ_DIAG_LIKELY
									   : RDMAEZ_DIAG_ADVICE;
}

/*
 * Judges a number that drivers with one of these traits refuse, and that is merely unwise on
 * others.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_number(struct rdmaez_impl_qp_case *c, unsigned int refusing,
					    const struct rdmaez_impl_site *site, int64_t value,
					    int64_t max)
{
	rdmaez_impl_qp_find_within(c, rdmaez_impl_qp_severity(c, refusing), site, value, site->min,
				   max);
}

/* Adds a finding about the wrong bits of a field, if there are any. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_bits(struct rdmaez_impl_qp_case *c,
					  enum rdmaez_severity severity,
					  const struct rdmaez_impl_site *site, unsigned int bits,
					  unsigned int all)
{
	if (bits)
		rdmaez_impl_qp_find_within(c, severity, site, bits, 0, all);
}

RDMAEZ_IMPL bool rdmaez_impl_qp_is_roce(const struct rdmaez_impl_qp_case *c)
{
	return c->transport == IBV_TRANSPORT_IB && c->port_known &&
	       c->port.link_layer == IBV_LINK_LAYER_ETHERNET;
}

/*
 * Returns whether the kernel looks up the peer of this type: is_qp_type_connected() in
 * core/verbs.c.
 */
RDMAEZ_IMPL bool rdmaez_impl_qp_is_connected(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_XRC_SEND ||
	       type == IBV_QPT_XRC_RECV;
}

/* Returns whether the table judges a rate limit, as it does for mlx5 before Linux 7. */
RDMAEZ_IMPL bool rdmaez_impl_qp_rate_in_table(const struct rdmaez_impl_qp_case *c)
{
	return rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_RATE_LIMIT) && c->linux_version &&
	       c->linux_version < 700;
}

/*
 * Judges a rate limit. mlx5 has it in the table before Linux 7, and decides by type since then.
 * Since Linux 7, bnxt_re and ionic take it for RC on the way to RTS and in RTS, if the library and
 * the device do. All other drivers refuse it, or the library does so for them.
 */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_rate(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site rate = {"attr_mask", RDMAEZ_WHY_MASK_RATE_LIMIT,
						     RDMAEZ_VALUE_ATTR_MASK, 0, 0};
	const bool old = c->linux_version && c->linux_version < 700;
	const bool unsure =
		!c->driver->vendor_id ||
		(!old && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_RATE_LIMIT |
							     RDMAEZ_DRIVER_RATE_LIMIT_RC));
	const int step = (int)c->from * 8 + (int)c->to;
	const bool taken =
		rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_RATE_LIMIT)
			? c->type == IBV_QPT_RAW_PACKET
			: c->type == IBV_QPT_RC && (step == IBV_QPS_INIT * 8 + IBV_QPS_RTR ||
						    step == IBV_QPS_RTR * 8 + IBV_QPS_RTS ||
						    step == IBV_QPS_RTS * 8 + IBV_QPS_RTS);
	const enum rdmaez_severity severity = unsure ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ERROR;

	if (!(c->mask & IBV_QP_RATE_LIMIT) || (unsure && c->driver->vendor_id && taken) ||
	    rdmaez_impl_qp_rate_in_table(c))
		return;
	rdmaez_impl_qp_errno(c, severity, EOPNOTSUPP);
	rdmaez_impl_qp_bits(c, severity, &rate, IBV_QP_RATE_LIMIT, (unsigned int)c->mask);
}

/*
 * Finds bits and types that the library, the system call or the driver turns away before it looks
 * at anything else.
 */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_bits(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site unknown = {"attr_mask", RDMAEZ_WHY_MASK_UNKNOWN,
							RDMAEZ_VALUE_ATTR_MASK, 0, 0};
	static const struct rdmaez_impl_site rc_only = {"qp_type", RDMAEZ_WHY_NOT_SUPPORTED,
							RDMAEZ_VALUE_TYPE, 0, 0};
	const unsigned int mask = (unsigned int)c->mask;
	const unsigned int known = RDMAEZ_IMPL_QP_BITS;
	const unsigned int reserved = (IBV_QP_RATE_LIMIT - 1) & ~known;

	/*
	 * Bits 21 to 24 are the kernel's own. The releases of mlx5's vendor have
	 * IBV_QP_OOO_RW_DATA_PLACEMENT beyond them.
	 */
	if (mask & ~known) {
		const bool vendor = !c->driver->vendor_id || (c->driver->traits & RDMAEZ_DRIVER_DC);
		const enum rdmaez_severity severity =
			vendor && !(mask & reserved) && c->refused != EOPNOTSUPP
				? RDMAEZ_DIAG_LIKELY
				: RDMAEZ_DIAG_ERROR;

		rdmaez_impl_qp_errno(c, severity, EOPNOTSUPP);
		rdmaez_impl_qp_bits(c, severity, &unknown, mask & ~known, mask);
	}
	rdmaez_impl_qp_judge_rate(c);
	/*
	 * This holds for all of rdma-core up to version 65, and for mana_ib_modify_qp() of Linux
	 * 6.12.
	 */
	if (rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_RC_ONLY) && c->type != IBV_QPT_RC) {
		rdmaez_impl_qp_errno(c, RDMAEZ_DIAG_LIKELY, EOPNOTSUPP);
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_LIKELY, &rc_only, (int)c->type);
	}
}

RDMAEZ_IMPL_COLD bool rdmaez_impl_qp_judge_port(struct rdmaez_impl_qp_case *c, const char *field,
						int port_num)
{
	struct rdmaez_impl_site site;

	if (port_num >= 1 && port_num <= c->device.phys_port_cnt)
		return true;
	site.field = field;
	site.why = RDMAEZ_WHY_PORT;
	site.kind = RDMAEZ_VALUE_NUMBER;
	rdmaez_impl_qp_find_within(c, RDMAEZ_DIAG_ERROR, &site, port_num, 1,
				   c->device.phys_port_cnt);
	return false;
}

/*
 * Judges the vector's port. The kernel compares it with the port that was set on the way to INIT
 * (qp->port, modify_qp() in core/uverbs_cmd.c). No query tells that port: drivers report their own,
 * or nothing. If a device has one port, both are 1, whatever it reports (bonded mlx4 reports 2).
 * Only rxe keeps its copy through RESET.
 */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_own_port(struct rdmaez_impl_qp_case *c,
					       const struct rdmaez_impl_site *mismatch)
{
	const int given = c->attr->ah_attr.port_num, own = c->now.port_num;
	const bool rxe = rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DEPTH_RXE);
	const bool in_init = (c->answered & IBV_QP_STATE) && c->now.qp_state == IBV_QPS_INIT &&
			     own >= 1 && own <= c->device.phys_port_cnt;

	if ((c->answered & IBV_QP_PORT) && (rxe || in_init) && given != own)
		rdmaez_impl_qp_find_within(
			c, c->driver->vendor_id ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY, mismatch,
			given, own, own);
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_ports(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site mismatch = {
		"ah_attr.port_num", RDMAEZ_WHY_PORT_MISMATCH, RDMAEZ_VALUE_NUMBER, 0, 0};
	static const struct rdmaez_impl_site alt_mismatch = {
		"alt_ah_attr.port_num", RDMAEZ_WHY_PORT_MISMATCH, RDMAEZ_VALUE_NUMBER, 0, 0};
	const struct ibv_qp_attr *attr = c->attr;

	if (c->mask & IBV_QP_PORT)
		rdmaez_impl_qp_judge_port(c, "port_num", attr->port_num);
	if ((c->mask & IBV_QP_AV) &&
	    rdmaez_impl_qp_judge_port(c, "ah_attr.port_num", attr->ah_attr.port_num)) {
		if (rdmaez_impl_qp_moves_to(c, IBV_QPS_RTR))
			rdmaez_impl_qp_judge_own_port(c, &mismatch);
		else if ((c->mask & IBV_QP_PORT) && attr->ah_attr.port_num != attr->port_num)
			rdmaez_impl_qp_find_within(c, RDMAEZ_DIAG_ERROR, &mismatch,
						   attr->ah_attr.port_num, attr->port_num,
						   attr->port_num);
	}
	if ((c->mask & IBV_QP_ALT_PATH) &&
	    rdmaez_impl_qp_judge_port(c, "alt_port_num", attr->alt_port_num) &&
	    rdmaez_impl_qp_judge_port(c, "alt_ah_attr.port_num", attr->alt_ah_attr.port_num) &&
	    attr->alt_port_num != attr->alt_ah_attr.port_num)
		rdmaez_impl_qp_find_within(c, RDMAEZ_DIAG_ERROR, &alt_mismatch,
					   attr->alt_ah_attr.port_num, attr->alt_port_num,
					   attr->alt_port_num);
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_states(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site cur = {"cur_qp_state", RDMAEZ_WHY_QP_STATE,
						    RDMAEZ_VALUE_NUMBER, IBV_QPS_RESET,
						    IBV_QPS_ERR};
	static const struct rdmaez_impl_site wanted = {
		"qp_state", RDMAEZ_WHY_QP_STATE, RDMAEZ_VALUE_NUMBER, IBV_QPS_RESET, IBV_QPS_ERR};
	static const struct rdmaez_impl_site qkey = {"qkey", RDMAEZ_WHY_QKEY_PRIVILEGED,
						     RDMAEZ_VALUE_HEX, 0, INT32_MAX};

	if ((c->mask & IBV_QP_CUR_STATE) && (uint8_t)c->attr->cur_qp_state > IBV_QPS_ERR)
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ERROR, &cur, (int)c->attr->cur_qp_state);
	if ((c->mask & IBV_QP_STATE) && (uint8_t)c->attr->qp_state > IBV_QPS_ERR)
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ERROR, &wanted, (int)c->attr->qp_state);
	/* The driver that refuses it to everybody does so at the end. */
	if ((c->mask & IBV_QP_QKEY) && c->attr->qkey >> 31 &&
	    !rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_QKEY)) {
		const int refused = rdmaez_impl_qkey_refused();
		const enum rdmaez_severity severity =
			refused > 0 ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY;

		if (!refused && c->refused != EPERM)
			return;
		rdmaez_impl_qp_errno(c, severity, EPERM);
		rdmaez_impl_qp_find(c, severity, &qkey, c->attr->qkey);
	}
}

/*
 * Judges the GRH and the GID index of an address vector. Returns whether there is a GID, which can
 * then be judged further.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_qp_judge_grh(struct rdmaez_impl_qp_case *c,
					       const struct ibv_ah_attr *ah,
					       const struct rdmaez_impl_qp_gid *gid,
					       unsigned int alt)
{
	struct rdmaez_impl_site site = {"alt_ah_attr.is_global", RDMAEZ_WHY_GRH_MISSING,
					RDMAEZ_VALUE_NUMBER, 1, 1};

	if (!ah->is_global) {
		site.field += 4 - alt;
		if (rdmaez_impl_qp_is_roce(c) || (c->port.flags & IBV_QPF_GRH_REQUIRED))
			rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ERROR, &site, 0);
		return false;
	}
	site.field = &"alt_ah_attr.grh.sgid_index"[4 - alt];
	if (ah->grh.sgid_index >= c->port.gid_tbl_len) {
		site.why = RDMAEZ_WHY_GID_INDEX;
		rdmaez_impl_qp_find_within(c, RDMAEZ_DIAG_ERROR, &site, ah->grh.sgid_index, 0,
					   c->port.gid_tbl_len - 1);
	} else if (gid->error == ENODATA) {
		site.why = RDMAEZ_WHY_GID_EMPTY;
		site.kind = RDMAEZ_VALUE_INDEX;
		rdmaez_impl_qp_errno(c, RDMAEZ_DIAG_ERROR, ENODATA);
		rdmaez_impl_qp_find_within(c, RDMAEZ_DIAG_ERROR, &site, ah->grh.sgid_index, 0, 0);
		if (!alt)
			rdmaez_impl_reach_instead(&c->reach);
	} else {
		return !gid->error;
	}
	return false;
}

/* Adds a finding about a GID index that the request names. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_about_gid(struct rdmaez_impl_qp_case *c,
					       enum rdmaez_severity severity, int error,
					       enum rdmaez_why why)
{
	rdmaez_impl_qp_errno(c, severity, error);
	rdmaez_impl_reach_find(&c->reach, severity, why, c->reach.ah->grh.sgid_index);
	if (severity == RDMAEZ_DIAG_ERROR)
		rdmaez_impl_reach_instead(&c->reach);
}

/* Explains why the kernel did not find the peer's Ethernet address. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_explain_way(struct rdmaez_impl_qp_case *c)
{
	c->likely = c->refused;
	rdmaez_impl_reach_way(&c->reach, RDMAEZ_DIAG_LIKELY, c->refused);
}

/* Judges how the kernel would find the peer's Ethernet address, or explains why it did not. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_route(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site nobody = {"ah_attr.grh.dgid", RDMAEZ_WHY_PATH_EMPTY,
						       RDMAEZ_VALUE_NONE, 0, 0};
	const union ibv_gid *const peer = &c->reach.ah->grh.dgid;
	const enum rdmaez_why why = rdmaez_impl_reach_objection(c->reach.own, peer);

	if (!rdmaez_impl_gid_is_resolved(c->reach.own, peer))
		return;
	if (rdmaez_gid_is_zero(peer))
		rdmaez_impl_qp_find(
			c, why == RDMAEZ_WHY_GID_FAMILY ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY,
			&nobody, 0);
	else if (why == RDMAEZ_WHY_GID_FAMILY)
		rdmaez_impl_qp_about_gid(c, RDMAEZ_DIAG_ERROR, EINVAL, why);
	else if (why == RDMAEZ_WHY_GID_NO_NETDEV)
		/*
		 * Before Linux 5.10 libibverbs asks sysfs, which may not answer:
		 * query_sysfs_gid_ndev_ifindex().
		 */
		rdmaez_impl_qp_about_gid(
			c, c->linux_version ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY, ENODEV, why);
	else if (c->diag && rdmaez_impl_reach_meaning(c->refused) != RDMAEZ_WHY_NONE)
		rdmaez_impl_qp_explain_way(c);
	/* What is left of the routes is the one of type blackhole: ip6_rt_type_to_error(). */
	else if (c->diag && rdmaez_impl_reach_way(&c->reach, RDMAEZ_DIAG_ADVICE, 0) == EINVAL)
		c->likely = EINVAL;
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_address(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site hops = {"ah_attr.grh.hop_limit", RDMAEZ_WHY_HOP_LIMIT,
						     RDMAEZ_VALUE_NUMBER, 2, 255};
	static const struct rdmaez_impl_site apm = {"alt_ah_attr", RDMAEZ_WHY_APM,
						    RDMAEZ_VALUE_NONE, 0, 0};
	static const struct rdmaez_impl_site self = {"dest_qp_num", RDMAEZ_WHY_QP_SELF,
						     RDMAEZ_VALUE_NUMBER, 1, RDMAEZ_QP_NUM_MAX};
	const struct ibv_ah_attr *ah = &c->attr->ah_attr;
	const bool roce = rdmaez_impl_qp_is_roce(c);

	if (!c->port_known)
		return;
	if ((c->mask & IBV_QP_AV) && rdmaez_impl_qp_judge_grh(c, ah, &c->gid, 0)) {
		if (roce && rdmaez_impl_qp_is_connected(c->type))
			rdmaez_impl_qp_judge_route(c);
		if (roce && c->gid.entry.gid_type == IBV_GID_TYPE_ROCE_V1 &&
		    !rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_ROCE_V2)) {
			if (c->diag)
				rdmaez_impl_reach_newer(&c->reach, RDMAEZ_DIAG_ADVICE);
			rdmaez_impl_qp_about_gid(c, RDMAEZ_DIAG_ADVICE, 0, RDMAEZ_WHY_GID_ROCE_V1);
		}
		if (ah->grh.hop_limit <= 1 &&
		    rdmaez_gid_class(&ah->grh.dgid) != RDMAEZ_GID_CLASS_LINK_LOCAL)
			rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ADVICE, &hops, ah->grh.hop_limit);
	}
	if ((c->mask & IBV_QP_AV) && (c->mask & IBV_QP_DEST_QPN) && c->diag &&
	    c->attr->dest_qp_num == c->diag->qp_num &&
	    (ah->is_global ? !memcmp(&ah->grh.dgid, &c->gid.entry.gid, sizeof(ah->grh.dgid))
			   : ah->dlid == c->port.lid))
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ADVICE, &self, c->attr->dest_qp_num);
	if (c->mask & IBV_QP_ALT_PATH) {
		rdmaez_impl_qp_judge_grh(c, &c->attr->alt_ah_attr, &c->alt_gid, 4);
		if (roce || c->transport != IBV_TRANSPORT_IB)
			rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ERROR, &apm, 0);
	}
}

/*
 * Returns the mask as the table sees it: without the bits that are dropped for XRC, and with the
 * vector's own port.
 */
RDMAEZ_IMPL int rdmaez_impl_qp_table_mask(const struct rdmaez_impl_qp_case *c)
{
	int mask = c->mask;

	if (c->type == IBV_QPT_XRC_SEND)
		mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (c->type == IBV_QPT_XRC_RECV)
		mask &= ~(IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
	if ((mask & IBV_QP_AV) && !rdmaez_impl_qp_moves_to(c, IBV_QPS_RTR))
		mask |= IBV_QP_PORT;
	return mask;
}

/* Returns whether this driver certainly judges this mask by the table. */
RDMAEZ_IMPL bool rdmaez_impl_qp_table_rules(const struct rdmaez_impl_qp_case *c)
{
	const int underlay = IBV_QP_STATE | IBV_QP_CUR_STATE;
	const bool efa = rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_EFA);
	const bool dc = rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DC);

	/* The caller may be wrong about a driver's type. */
	if ((c->type == RDMAEZ_QPT_SRD && !efa) ||
	    ((c->type == RDMAEZ_QPT_DCI || c->type == RDMAEZ_QPT_DCT) && !dc))
		return false;
	if (rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_NO_TABLE) || !c->from_known ||
	    (c->transport != IBV_TRANSPORT_IB && !efa))
		return false;
	/*
	 * Every query reports an underlay queue pair (IBV_QP_CREATE_SOURCE_QPN) as UD on
	 * InfiniBand. It takes these two bits in any state, and no others: mlx5_ib_modify_qp().
	 */
	if (c->type == IBV_QPT_UD && dc && !rdmaez_impl_qp_is_roce(c) && !(c->mask & ~underlay))
		return false;
	if (c->mask & IBV_QP_STATE)
		return true;
	/* Since Linux 6.4 rxe looks at the table only if the state is in the mask. */
	return !rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_LENIENT) &&
	       !(rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DEPTH_RXE) &&
		 (!c->linux_version || c->linux_version >= 604));
}

/* Judges the state that the caller says the queue pair is in. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_cur_state(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site cur = {"cur_qp_state", RDMAEZ_WHY_CUR_STATE,
						    RDMAEZ_VALUE_NUMBER, 0, 0};
	const int said = (uint8_t)c->attr->cur_qp_state, is = (int)c->now.qp_state;
	const bool related = rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_CUR_IONIC) &&
			     (said == IBV_QPS_ERR ||
			      (said == IBV_QPS_SQE && (is == IBV_QPS_RTS || is == IBV_QPS_SQD)));
	enum rdmaez_severity severity = RDMAEZ_DIAG_ADVICE;

	if (!(c->mask & IBV_QP_CUR_STATE) || said == is)
		return;
	if (!related &&
	    rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_CUR_EQUAL | RDMAEZ_DRIVER_CUR_IONIC))
		severity = c->answered & IBV_QP_STATE ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY;
	rdmaez_impl_qp_find_within(c, severity, &cur, said, is, is);
}

/*
 * Returns whether mlx5's DCI or its DCT takes the mask. Both are the same driver type, so only what
 * both refuse is certain.
 */
RDMAEZ_IMPL bool rdmaez_impl_qp_fits_either(enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	return rdmaez_impl_qp_mask_fits(rdmaez_impl_qp_rule(RDMAEZ_QPT_DCI, from, to), mask) ||
	       rdmaez_impl_qp_mask_fits(rdmaez_impl_qp_rule(RDMAEZ_QPT_DCT, from, to), mask);
}

/* Adds a finding about bits of the mask, if there are any. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_mask_bits(struct rdmaez_diag *diag,
					       enum rdmaez_severity severity, enum rdmaez_why why,
					       int bits, int attr_mask)
{
	struct rdmaez_impl_site site;

	site.field = "attr_mask";
	site.why = why;
	site.kind = RDMAEZ_VALUE_ATTR_MASK;
	if (bits)
		rdmaez_impl_find_within(diag, severity, &site, (unsigned int)bits, 0,
					(unsigned int)attr_mask);
}

/* Says what is wrong with a mask that the rule refuses. */
RDMAEZ_SEAM void rdmaez_impl_qp_mask_explain(enum ibv_qp_type type, enum ibv_qp_state from,
					     enum ibv_qp_state to, int attr_mask,
					     enum rdmaez_severity severity,
					     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site no_rules = {"qp_type", RDMAEZ_WHY_QP_TYPE,
							 RDMAEZ_VALUE_TYPE, 0, 0};
	static const struct rdmaez_impl_site no_from = {"cur_qp_state", RDMAEZ_WHY_QP_STATE,
							RDMAEZ_VALUE_NUMBER, IBV_QPS_RESET,
							IBV_QPS_ERR};
	static const struct rdmaez_impl_site no_to = {
		"qp_state", RDMAEZ_WHY_QP_STATE, RDMAEZ_VALUE_NUMBER, IBV_QPS_RESET, IBV_QPS_ERR};
	static const struct rdmaez_impl_site transition = {"qp_state", RDMAEZ_WHY_TRANSITION,
							   RDMAEZ_VALUE_STATE, 0, 0};
	const struct rdmaez_qp_rule rule = rdmaez_impl_qp_rule(type, from, to);
	const unsigned int next = rdmaez_impl_qp_next_states(type, from);
	const int foreign = attr_mask & ~(rule.required | rule.optional);
	const int special = IBV_QP_CAP | IBV_QP_RATE_LIMIT;

	if (!rdmaez_qp_type_has_rules(type)) {
		rdmaez_impl_find(diag, severity, &no_rules, (uint64_t)type);
	} else if ((unsigned int)from > IBV_QPS_ERR) {
		rdmaez_impl_find(diag, severity, &no_from, (uint64_t)(int)from);
	} else if ((unsigned int)to > IBV_QPS_ERR) {
		rdmaez_impl_find(diag, severity, &no_to, (uint64_t)(int)to);
	} else if (!rule.legal && !next) {
		rdmaez_impl_find_plain(diag, severity, RDMAEZ_WHY_DCT_FINAL, "qp_state");
	} else if (!rule.legal) {
		rdmaez_impl_find_within(diag, severity, &transition, (uint64_t)to, 0, next);
	} else {
		rdmaez_impl_qp_mask_bits(diag, severity, RDMAEZ_WHY_MASK_MISSING,
					 rule.required & ~attr_mask, attr_mask);
		rdmaez_impl_qp_mask_bits(diag, severity, RDMAEZ_WHY_MASK_NOT_ALLOWED,
					 foreign & ~special, attr_mask);
		rdmaez_impl_qp_mask_bits(diag, severity, RDMAEZ_WHY_MASK_CAP, foreign & IBV_QP_CAP,
					 attr_mask);
		rdmaez_impl_qp_mask_bits(diag, severity, RDMAEZ_WHY_MASK_RATE_LIMIT,
					 foreign & IBV_QP_RATE_LIMIT, attr_mask);
	}
}

/*
 * Returns the name that verbs have for an attribute, or NULL if the row is not an attribute of a
 * queue pair.
 */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_qp_field_name(const struct rdmaez_impl_field *field)
{
#define RDMAEZ_IMPL_QP_NAME(bit, field, option, how, otherwise, min, max, rule, unit, source) \
	#field,
	static const char *const names[] = {RDMAEZ_IMPL_QP_FIELDS(RDMAEZ_IMPL_QP_NAME)};
#undef RDMAEZ_IMPL_QP_NAME

	return names[field - rdmaez_impl_qp_fields()];
}

/*
 * Explains what is wrong with options as a whole: with the type, with the mask if it is not 0, and
 * with the flags.
 */
RDMAEZ_SEAM void rdmaez_impl_qp_explain_options(const struct rdmaez_impl_qp_build *build, int mask,
						struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site unfit = {
		"opts.driver_type", RDMAEZ_WHY_DRIVER_TYPE_UNFIT, RDMAEZ_VALUE_TYPE, 0, 0};
	static const struct rdmaez_impl_site flags = {"opts.flags", RDMAEZ_WHY_OPTION_UNKNOWN,
						      RDMAEZ_VALUE_FLAGS, 0, RDMAEZ_IMPL_QP_FLAGS};
	const int told = (int)build->opts->driver_type;
	const unsigned int unknown = build->opts->flags & ~RDMAEZ_IMPL_QP_FLAGS;

	if (build->type == IBV_QPT_DRIVER && told)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &unfit, (uint64_t)told);
	else if (build->type == IBV_QPT_DRIVER)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DRIVER_TYPE_UNTOLD,
				       unfit.field);
	if (build->type == IBV_QPT_DRIVER)
		return;
	if (mask)
		rdmaez_impl_qp_mask_explain(build->type, build->from, build->to, mask,
					    RDMAEZ_DIAG_ERROR, diag);
	if (unknown)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &flags, unknown);
}

/* Explains what is wrong with the values of options. */
RDMAEZ_SEAM void rdmaez_impl_qp_explain_values(const struct rdmaez_impl_qp_build *build, int mask,
					       struct rdmaez_diag *diag)
{
	const struct rdmaez_impl_field *f = rdmaez_impl_qp_fields();
	struct rdmaez_impl_path_build path;

	if (mask & IBV_QP_AV) {
		rdmaez_impl_qp_path(build, false, &path);
		rdmaez_impl_path_explain(&path, diag);
	}
	for (; f->bit; f++) {
		const struct rdmaez_impl_value v = rdmaez_impl_qp_value_of(build, f);

		if ((uint32_t)mask & f->bit)
			rdmaez_impl_field_explain(diag, f, rdmaez_impl_qp_field_name(f), &v);
	}
	if (mask & IBV_QP_ALT_PATH) {
		rdmaez_impl_qp_path(build, true, &path);
		rdmaez_impl_path_explain(&path, diag);
	}
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_mask(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site dc = {"attr_mask", RDMAEZ_WHY_DRIVER_TYPE,
						   RDMAEZ_VALUE_ATTR_MASK, 0, 0};
	const enum ibv_qp_state from = c->from, to = c->to;
	const enum rdmaez_severity severity =
		rdmaez_impl_qp_table_rules(c) ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY;
	const bool either =
		c->type == IBV_QPT_DRIVER && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DC);
	int mask = rdmaez_impl_qp_table_mask(c);

	rdmaez_impl_qp_mask_bits(c->diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_MASK_DROPPED,
				 c->mask & ~mask, c->mask);
	rdmaez_impl_qp_judge_cur_state(c);
	if ((unsigned int)from > IBV_QPS_ERR || (unsigned int)to > IBV_QPS_ERR)
		return; /* this was reported, and nothing is known of the queue pair */
	/* iWARP has no table. Since Linux 7 mlx5 keeps a rate limit that comes alone for later. */
	if (c->transport == IBV_TRANSPORT_IWARP ||
	    (mask == IBV_QP_RATE_LIMIT && !rdmaez_impl_qp_rate_in_table(c)))
		return;
	/*
	 * Leaves out unknown bits, which were reported before, and the rate limit if the driver
	 * decides about it.
	 */
	mask &= RDMAEZ_IMPL_QP_BITS & ~IBV_QP_RATE_LIMIT;
	if (rdmaez_impl_qp_rate_in_table(c))
		mask |= c->mask & IBV_QP_RATE_LIMIT;
	if (either && !rdmaez_impl_qp_fits_either(from, to, mask))
		rdmaez_impl_qp_bits(c, severity, &dc, (unsigned int)mask, (unsigned int)mask);
	if (either || rdmaez_impl_qp_mask_fits(rdmaez_impl_qp_rule(c->type, from, to), mask))
		return;
	/* Nothing is known of another driver's type. */
	if (rdmaez_qp_type_has_rules(c->type)) {
		rdmaez_impl_qp_errno(c, severity, EINVAL);
		rdmaez_impl_qp_mask_explain(c->type, from, to, mask, severity, c->diag);
	} else {
		rdmaez_impl_qp_mask_explain(c->type, from, to, mask, RDMAEZ_DIAG_ADVICE, c->diag);
	}
}

/*
 * Judges a request on iWARP. The connection manager moves its queue pairs to RTS, and drivers
 * refuse callers that try without it.
 */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_iwarp(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site rts = {"qp_state", RDMAEZ_WHY_IWARP, RDMAEZ_VALUE_NONE,
						    0, 0};
	static const struct rdmaez_impl_site any = {"attr_mask", RDMAEZ_WHY_IWARP,
						    RDMAEZ_VALUE_NONE, 0, 0};

	if (c->transport != IBV_TRANSPORT_IWARP)
		return;
	if (rdmaez_impl_qp_moves_to(c, IBV_QPS_RTS) && c->now.qp_state != IBV_QPS_RTS)
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_LIKELY, &rts, 0);
	else
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ADVICE, &any, 0);
}

/*
 * Judges a request as efa does, which returns EOPNOTSUPP for anything unknown before it looks at
 * the table.
 */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_efa(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site site = {"attr_mask", RDMAEZ_WHY_MASK_DRIVER,
						     RDMAEZ_VALUE_ATTR_MASK, 0, 0};
	const int known = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY |
			  IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_SQ_PSN |
			  IBV_QP_RNR_RETRY;
	const int unknown = c->mask & RDMAEZ_IMPL_QP_BITS & ~(known | IBV_QP_RATE_LIMIT);

	if (!rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_EFA) || !unknown)
		return;
	rdmaez_impl_qp_errno(c, RDMAEZ_DIAG_ERROR, EOPNOTSUPP);
	rdmaez_impl_qp_bits(c, RDMAEZ_DIAG_ERROR, &site, (unsigned int)unknown,
			    (unsigned int)c->mask);
}

/*
 * Returns whether the request leads from RESET to RESET, which programs ask for to be sure. A
 * driver that cannot use a queue pair again then moves it to its error state, or refuses
 * (irdma_modify_qp_roce(), if iwqp->iwarp_state is IRDMA_QP_STATE_ERROR). The program can leave
 * this request out on any device.
 */
RDMAEZ_IMPL bool rdmaez_impl_qp_resets_twice(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site twice = {"qp_state", RDMAEZ_WHY_RESET_TWICE,
						      RDMAEZ_VALUE_NONE, 0, 0};
	const bool is_refused = c->refused == EINVAL;

	if (!(c->mask & IBV_QP_STATE) || c->to != IBV_QPS_RESET || !c->from_known ||
	    c->from != IBV_QPS_RESET ||
	    !(is_refused || rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_RESET_FINAL)))
		return false;
	if (is_refused)
		c->likely = c->refused;
	rdmaez_impl_qp_find(c, is_refused ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ADVICE, &twice, 0);
	return true;
}

/* Finds what the request asks of a driver that cannot do it at all. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_driver(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site no_sqd = {"qp_state", RDMAEZ_WHY_NO_SQD,
						       RDMAEZ_VALUE_NONE, 0, 0};
	static const struct rdmaez_impl_site final = {"qp_state", RDMAEZ_WHY_RESET_FINAL,
						      RDMAEZ_VALUE_NONE, 0, 0};
	static const struct rdmaez_impl_site draining = {"sq_draining", RDMAEZ_WHY_SQ_DRAINING,
							 RDMAEZ_VALUE_NUMBER, 0, 0};
	static const struct rdmaez_impl_site qkey = {"qkey", RDMAEZ_WHY_QKEY_NEVER,
						     RDMAEZ_VALUE_HEX, 0, INT32_MAX};
	const bool moves = (c->mask & IBV_QP_STATE) != 0;
	const enum ibv_qp_state from = c->from, to = c->to;

	if (to == IBV_QPS_SQD && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_NO_SQD) &&
	    (moves || c->from_known))
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ERROR, &no_sqd, 0);
	if (rdmaez_impl_qp_resets_twice(c))
		;
	else if (moves && to == IBV_QPS_RESET &&
		 rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_RESET_FINAL))
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ADVICE, &final, 0);
	if (moves && to != IBV_QPS_ERR && from == IBV_QPS_SQD && c->now.sq_draining &&
	    rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DRAINS))
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ERROR, &draining, 1);
	if (c->gid.entry.gid_type == IBV_GID_TYPE_ROCE_V1 &&
	    rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_ROCE_V2))
		rdmaez_impl_qp_about_gid(c, RDMAEZ_DIAG_ERROR, EINVAL, RDMAEZ_WHY_GID_TYPE_REFUSED);
	if ((c->mask & IBV_QP_QKEY) && c->attr->qkey >> 31 &&
	    rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_QKEY)) {
		rdmaez_impl_qp_errno(c, RDMAEZ_DIAG_ERROR, EPERM);
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ERROR, &qkey, c->attr->qkey);
	}
	if (moves && to == IBV_QPS_RTR && c->port_known)
		rdmaez_impl_reach_port(&c->port, RDMAEZ_DIAG_ADVICE, c->diag);
}

/* Judges the path MTU, of which the system call carries eight bits. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_mtu(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site not_one = {
		"path_mtu", RDMAEZ_WHY_ENUM, RDMAEZ_VALUE_MTU, IBV_MTU_256, IBV_MTU_4096};
	static const struct rdmaez_impl_site bytes = {"path_mtu", RDMAEZ_WHY_MTU_IN_BYTES,
						      RDMAEZ_VALUE_MTU, IBV_MTU_256, IBV_MTU_4096};
	static const struct rdmaez_impl_site above_max = {"path_mtu", RDMAEZ_WHY_MTU_ABOVE_MAX,
							  RDMAEZ_VALUE_MTU, IBV_MTU_256, 0};
	static const struct rdmaez_impl_site above_active = {
		"path_mtu", RDMAEZ_WHY_MTU_ABOVE_ACTIVE, RDMAEZ_VALUE_MTU, IBV_MTU_256, 0};
	static const struct rdmaez_impl_site to_2048 = {
		"path_mtu", RDMAEZ_WHY_MTU_DRIVER, RDMAEZ_VALUE_MTU, IBV_MTU_256, IBV_MTU_2048};
	static const struct rdmaez_impl_site from_512 = {
		"path_mtu", RDMAEZ_WHY_MTU_DRIVER, RDMAEZ_VALUE_MTU, IBV_MTU_512, IBV_MTU_4096};
	const int given = (int)c->attr->path_mtu, sent = (uint8_t)given;
	const bool is_mtu = rdmaez_mtu_bytes((enum ibv_mtu)sent) != 0;
	/* bnxt_re looks at it only on the way to RTR: bnxt_re_modify_qp(). */
	const bool looks = rdmaez_impl_qp_moves_to(c, IBV_QPS_RTR) ||
			   !rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_LENIENT);
	const unsigned int active = looks ? (unsigned int)RDMAEZ_DRIVER_MTU_ACTIVE : 0u;

	const bool to_max = c->port_known && sent > (int)c->port.max_mtu;
	const bool to_active = c->port_known && is_mtu && sent > (int)c->port.active_mtu;
	const bool refused =
		(!is_mtu && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_MTU_ENUM)) ||
		(to_max && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_MTU_MAX)) ||
		(to_active && rdmaez_impl_qp_has_trait(c, active)) ||
		(sent > IBV_MTU_2048 && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_MTU_2048)) ||
		(sent < IBV_MTU_512 && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_MTU_512));

	if (!is_mtu || sent != given)
		rdmaez_impl_qp_find(c, refused ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY,
				    given >= 256 ? &bytes : &not_one, given);
	else if (sent > IBV_MTU_2048 && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_MTU_2048))
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ERROR, &to_2048, sent);
	else if (sent < IBV_MTU_512 && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_MTU_512))
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ERROR, &from_512, sent);
	else if (to_max)
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_MTU_MAX | active, &above_max, sent,
				      c->port.max_mtu);
	else if (to_active)
		rdmaez_impl_qp_number(c, active, &above_active, sent, c->port.active_mtu);
}

/* Judges what the peer may do. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_access(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site unknown = {"qp_access_flags", RDMAEZ_WHY_ACCESS_BITS,
							RDMAEZ_VALUE_ACCESS, 0, 0};
	static const struct rdmaez_impl_site type = {"qp_access_flags", RDMAEZ_WHY_ACCESS_TYPE,
						     RDMAEZ_VALUE_ACCESS, 0, 0};
	static const struct rdmaez_impl_site atomic = {"qp_access_flags", RDMAEZ_WHY_ACCESS_ATOMIC,
						       RDMAEZ_VALUE_ACCESS, 0, 0};
	const unsigned int flags = c->attr->qp_access_flags;
	/*
	 * Since Linux 6.12 at the latest, rxe takes these flags, IBV_ACCESS_ON_DEMAND, and the
	 * optional ones.
	 */
	const unsigned int rxe_known = RDMAEZ_IMPL_QP_ACCESS | (unsigned int)IBV_ACCESS_ON_DEMAND |
				       (unsigned int)IBV_ACCESS_OPTIONAL_RANGE;
	const bool rxe_looks =
		c->linux_version >= 612 && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DEPTH_RXE);

	if (rxe_looks && (flags & ~rxe_known))
		rdmaez_impl_qp_bits(c, RDMAEZ_DIAG_ERROR, &unknown, flags & ~rxe_known, flags);
	else
		rdmaez_impl_qp_bits(c, RDMAEZ_DIAG_LIKELY, &unknown, flags & ~RDMAEZ_IMPL_QP_ACCESS,
				    flags);
	if (rxe_looks && c->type != IBV_QPT_RC && c->type != IBV_QPT_UC)
		rdmaez_impl_qp_find_within(c, RDMAEZ_DIAG_ERROR, &type, flags, 0, flags);
	if (c->type == IBV_QPT_UC)
		rdmaez_impl_qp_bits(c, RDMAEZ_DIAG_ADVICE, &type,
				    flags & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC),
				    flags);
	if (c->device.atomic_cap == IBV_ATOMIC_NONE)
		rdmaez_impl_qp_bits(c, RDMAEZ_DIAG_ADVICE, &atomic,
				    flags & IBV_ACCESS_REMOTE_ATOMIC, flags);
}

/*
 * Returns how certain it is that a depth above the limit is refused. For drivers without a rule of
 * their own it is open.
 */
RDMAEZ_IMPL enum rdmaez_severity rdmaez_impl_qp_depth(const struct rdmaez_impl_qp_case *c,
						      unsigned int refusing)
{
	if (rdmaez_impl_qp_has_trait(c, refusing))
		return RDMAEZ_DIAG_ERROR;
	return rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DEPTH_OUT | RDMAEZ_DRIVER_DEPTH_IN)
		       ? RDMAEZ_DIAG_ADVICE
		       : RDMAEZ_DIAG_LIKELY;
}

/* Judges the READs and atomics in flight, in both directions. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_depths(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site out = {"max_rd_atomic", RDMAEZ_WHY_DEPTH_LIMIT,
						    RDMAEZ_VALUE_NUMBER, 0, 0};
	static const struct rdmaez_impl_site in = {"max_dest_rd_atomic", RDMAEZ_WHY_DEPTH_LIMIT,
						   RDMAEZ_VALUE_NUMBER, 0, 0};
	static const struct rdmaez_impl_site no_out = {"max_rd_atomic", RDMAEZ_WHY_DEPTH_ZERO_HANG,
						       RDMAEZ_VALUE_NUMBER, 1, 0};
	static const struct rdmaez_impl_site no_in = {"max_dest_rd_atomic", RDMAEZ_WHY_DEPTH_ZERO,
						      RDMAEZ_VALUE_NUMBER, 1, 0};
	const bool swaps = rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_SWAPS);
	const bool rxe = rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DEPTH_RXE);
	const int requester =
		rxe || swaps ? c->device.max_qp_rd_atom : c->device.max_qp_init_rd_atom;
	const int responder = swaps ? c->device.max_qp_init_rd_atom : c->device.max_qp_rd_atom;
	const unsigned int access = c->mask & IBV_QP_ACCESS_FLAGS       ? c->attr->qp_access_flags
				    : c->answered & IBV_QP_ACCESS_FLAGS ? c->now.qp_access_flags
									: 0;

	if (c->mask & IBV_QP_MAX_QP_RD_ATOMIC) {
		if (c->attr->max_rd_atomic > requester)
			rdmaez_impl_qp_find_within(c,
						   rdmaez_impl_qp_depth(c, RDMAEZ_DRIVER_DEPTH_OUT),
						   &out, c->attr->max_rd_atomic, 0, requester);
		if (!c->attr->max_rd_atomic && rxe)
			rdmaez_impl_qp_number(c, 0, &no_out, 0, requester);
	}
	if (c->mask & IBV_QP_MAX_DEST_RD_ATOMIC) {
		if (c->attr->max_dest_rd_atomic > responder)
			rdmaez_impl_qp_find_within(c,
						   rdmaez_impl_qp_depth(c, RDMAEZ_DRIVER_DEPTH_IN),
						   &in, c->attr->max_dest_rd_atomic, 0, responder);
		if (!c->attr->max_dest_rd_atomic &&
		    (access & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)))
			rdmaez_impl_qp_number(c, 0, &no_in, 0, responder);
	}
}

/*
 * A row has what is said of a value that is too wide, which drivers refuse it, and what is said of
 * a zero.
 */
struct rdmaez_impl_qp_width {
	int bit;
	enum rdmaez_why wide;
	unsigned int refusing; /* traits */
	enum rdmaez_why zero;  /* RDMAEZ_WHY_NONE: nothing */
};

/* Judges numbers, timers and counters that are too wide, or zero where a zero is a surprise. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_widths(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_qp_width widths[] = {
		{IBV_QP_TIMEOUT, RDMAEZ_WHY_WIDTH, RDMAEZ_DRIVER_TIMEOUT_31,
		 RDMAEZ_WHY_TIMEOUT_ZERO},
		{IBV_QP_MIN_RNR_TIMER, RDMAEZ_WHY_WIDTH, RDMAEZ_DRIVER_RNR_TIMER_31,
		 RDMAEZ_WHY_RNR_TIMER_ZERO},
		{IBV_QP_RETRY_CNT, RDMAEZ_WHY_WIDTH, RDMAEZ_DRIVER_STRICT, RDMAEZ_WHY_RETRY_ZERO},
		{IBV_QP_RNR_RETRY, RDMAEZ_WHY_WIDTH, RDMAEZ_DRIVER_STRICT,
		 RDMAEZ_WHY_RNR_RETRY_ZERO},
		{IBV_QP_RQ_PSN, RDMAEZ_WHY_PSN_WIDTH, 0, RDMAEZ_WHY_NONE},
		{IBV_QP_SQ_PSN, RDMAEZ_WHY_PSN_WIDTH, 0, RDMAEZ_WHY_NONE},
		{IBV_QP_DEST_QPN, RDMAEZ_WHY_WIDTH, RDMAEZ_DRIVER_STRICT, RDMAEZ_WHY_RANGE},
	};
	struct rdmaez_impl_site site;

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		const struct rdmaez_impl_field *field = rdmaez_impl_qp_fields();
		uint32_t value;

		if (!(c->mask & widths[i].bit))
			continue;
		while (field->bit != (unsigned int)widths[i].bit)
			field++;
		value = rdmaez_impl_field_get(field, c->attr);
		site.field = rdmaez_impl_qp_field_name(field);
		site.kind = field->max > UINT16_MAX ? RDMAEZ_VALUE_HEX : RDMAEZ_VALUE_NUMBER;
		site.min = 0;
		site.why = widths[i].wide;
		if (value > field->max)
			rdmaez_impl_qp_number(c, widths[i].refusing, &site, value, field->max);
		if (widths[i].bit == IBV_QP_DEST_QPN)
			rdmaez_impl_suspect_order(c->diag, site.field, value, field->max);
		site.min = 1;
		site.why = widths[i].zero;
		if (!value && site.why != RDMAEZ_WHY_NONE)
			rdmaez_impl_qp_number(c, 0, &site, 0, field->max);
	}
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_pkey(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site beyond = {"pkey_index", RDMAEZ_WHY_PKEY_INDEX,
						       RDMAEZ_VALUE_NUMBER, 0, 0};
	const int index = c->attr->pkey_index, length = c->port.pkey_tbl_len;
	const unsigned int pkey = RDMAEZ_DRIVER_PKEY;

	if (!(c->mask & IBV_QP_PKEY_INDEX) || !c->port_known)
		return;
	if (index && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_EFA)) {
		rdmaez_impl_qp_errno(c, RDMAEZ_DIAG_ERROR, EOPNOTSUPP);
		rdmaez_impl_qp_find(c, RDMAEZ_DIAG_ERROR, &beyond, index);
	} else if (index >= length) {
		/*
		 * On RoCE, mlx4 and mlx5 report a table of 1, and compare with the size that
		 * InfiniBand would have.
		 */
		rdmaez_impl_qp_number(c, index < c->device.max_pkeys ? 0u : pkey, &beyond, index,
				      length - 1);
	} else if (c->pkey <= 0x8000) { /* any full member's is right */
		rdmaez_impl_reach_pkey(c->pkey, RDMAEZ_DIAG_ADVICE, RDMAEZ_DIAG_ADVICE, c->diag);
	}
}

/* Judges the whole request, in the kernel's order. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_qp_judge(struct rdmaez_impl_qp_case *c)
{
	rdmaez_impl_qp_judge_bits(c);
	rdmaez_impl_qp_judge_ports(c);
	rdmaez_impl_qp_judge_states(c);
	rdmaez_impl_qp_judge_address(c);
	rdmaez_impl_qp_judge_efa(c);
	rdmaez_impl_qp_judge_mask(c);
	c->mask &= rdmaez_impl_qp_table_mask(c); /* the driver never sees what was dropped */
	rdmaez_impl_qp_judge_iwarp(c);
	rdmaez_impl_qp_judge_driver(c);
	if (c->transport == IBV_TRANSPORT_IWARP)
		return; /* its drivers look at none of the rest */
	if (c->mask & IBV_QP_PATH_MTU)
		rdmaez_impl_qp_judge_mtu(c);
	if (c->mask & IBV_QP_ACCESS_FLAGS)
		rdmaez_impl_qp_judge_access(c);
	rdmaez_impl_qp_judge_depths(c);
	rdmaez_impl_qp_judge_widths(c);
	rdmaez_impl_qp_judge_pkey(c);
}

/* Notes in the record what the findings are about. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_qp_note(const struct rdmaez_impl_qp_case *c)
{
	rdmaez_impl_diag_transition(c->diag, c->type, c->now.qp_state,
				    c->mask & IBV_QP_STATE ? c->attr->qp_state : c->now.qp_state);
	if ((c->mask & IBV_QP_AV) && c->reach.ah->is_global)
		rdmaez_impl_reach_note(&c->reach);
}

/* Fills a case, and judges it. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_consider(struct ibv_qp *qp, struct rdmaez_impl_qp_case *c)
{
	if (qp->qp_type != IBV_QPT_DRIVER)
		c->type = qp->qp_type;
	else if ((unsigned int)c->type < 0xf0)
		c->type = IBV_QPT_DRIVER; /* it is none of the driver types */
	rdmaez_impl_qp_gather(qp, c);
	rdmaez_impl_qp_note(c);
	rdmaez_impl_qp_judge(c);
}

/* Says that the queue pair did not answer, unless that is its driver's habit. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_unanswered(const struct rdmaez_impl_qp_case *c)
{
	if (c->silence)
		rdmaez_impl_find_plain(c->diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_QUERY_REFUSED,
				       "ibv_query_qp");
}

RDMAEZ_IMPL_COLD int rdmaez_impl_qp_check(struct ibv_qp *qp, enum ibv_qp_type type,
					  const struct ibv_qp_attr *attr, int attr_mask,
					  struct rdmaez_diag *diag)
{
	struct rdmaez_impl_qp_case c;

	memset(&c, 0, sizeof(c));
	c.type = type;
	c.attr = attr;
	c.mask = attr_mask;
	c.diag = diag;
	rdmaez_impl_diag_qp(diag, qp);
	rdmaez_impl_qp_consider(qp, &c);
	rdmaez_impl_qp_unanswered(&c);
	if (diag)
		diag->error = c.error;
	return c.error;
}

RDMAEZ_SEAM int rdmaez_impl_tell_qp_check_as(struct ibv_qp *qp, enum ibv_qp_type type,
					     const struct ibv_qp_attr *attr, int attr_mask,
					     struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_qp_check_as");
	if (!qp || !attr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  qp ? "attr" : "qp");
	return rdmaez_impl_qp_check(qp, type, attr, attr_mask, diag);
}

RDMAEZ_SEAM int rdmaez_impl_tell_qp_check(struct ibv_qp *qp, const struct ibv_qp_attr *attr,
					  int attr_mask, struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_qp_check");
	if (!qp || !attr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  qp ? "attr" : "qp");
	return rdmaez_impl_qp_check(qp, qp->qp_type, attr, attr_mask, diag);
}

/*
 * Returns what an errno value of ibv_modify_qp() usually means for this request, if the way to the
 * peer is not the cause.
 */
RDMAEZ_IMPL_COLD enum rdmaez_why rdmaez_impl_qp_meaning(const struct rdmaez_impl_qp_case *c,
							int error)
{
	if (error == EPERM && (c->mask & IBV_QP_QKEY))
		return RDMAEZ_WHY_QKEY_PRIVILEGED;
	/*
	 * A policy is asked only if a port of the device is native InfiniBand:
	 * ib_create_qp_security().
	 */
	if (error == EPERM || error == EACCES)
		return rdmaez_impl_qp_is_roce(c) && c->device.phys_port_cnt == 1
			       ? RDMAEZ_WHY_REFUSED
			       : RDMAEZ_WHY_SECURITY;
	/*
	 * No driver returns EAGAIN because it is busy: cmd_status_to_err() of mlx5 for "no
	 * resources", ocrdma_get_mbx_errno().
	 */
	if (error == EAGAIN)
		return RDMAEZ_WHY_NO_RESOURCES;
	/* irdma reports a queue pair that it has used up as RESET: irdma_modify_qp_roce(). */
	if (error == EINVAL && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_RESET_FINAL) &&
	    c->now.qp_state == IBV_QPS_RESET)
		return RDMAEZ_WHY_RESET_FINAL;
	/* A DCI goes there, so this seems to be a DCT: mlx5_ib_modify_dct(). */
	if (error == EINVAL && c->type == IBV_QPT_DRIVER &&
	    (c->driver->traits & RDMAEZ_DRIVER_DC) &&
	    (c->to == IBV_QPS_RESET || c->to == IBV_QPS_ERR))
		return RDMAEZ_WHY_DCT_FINAL;
	return rdmaez_impl_errno_meaning(error, RDMAEZ_WHY_REFUSED);
}

/*
 * Explains a refusal that nothing in the request explains. An address may not have been resolved,
 * though the GID is not known. The READs and atomics may be beyond what the device has for all
 * queue pairs; ionic reports there what one of them may have (ionic_ibdev.c). If it is neither,
 * this says what the errno value means.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_qp_explain_rest(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site in = {"max_dest_rd_atomic", RDMAEZ_WHY_DEPTH_BUDGET,
						   RDMAEZ_VALUE_LIMIT, 0, 0};
	static const struct rdmaez_impl_site out = {"max_rd_atomic", RDMAEZ_WHY_DEPTH_BUDGET,
						    RDMAEZ_VALUE_LIMIT, 0, 0};
	const int depth = c->mask & IBV_QP_MAX_DEST_RD_ATOMIC ? c->attr->max_dest_rd_atomic
			  : c->mask & IBV_QP_MAX_QP_RD_ATOMIC ? c->attr->max_rd_atomic
							      : 0;
	const int budget = c->device.max_res_rd_atom;

	if ((c->mask & IBV_QP_AV) && c->reach.ah->is_global && rdmaez_impl_qp_is_roce(c) &&
	    rdmaez_impl_reach_meaning(c->refused) != RDMAEZ_WHY_NONE)
		rdmaez_impl_qp_explain_way(c);
	else if ((c->refused == EINVAL || c->refused == ENOMEM) && budget > 0 &&
		 budget < 256 * depth)
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_LIKELY,
					c->mask & IBV_QP_MAX_DEST_RD_ATOMIC ? &in : &out, 0, 0,
					(uint64_t)budget);
	else
		rdmaez_impl_find_plain(c->diag, RDMAEZ_DIAG_LIKELY,
				       rdmaez_impl_qp_meaning(c, c->refused), "ibv_modify_qp");
}

/*
 * Explains a refusal: judges the request and, if that does not explain it, says what the errno
 * value means.
 */
RDMAEZ_SEAM void rdmaez_impl_qp_explain(struct ibv_qp *qp, enum ibv_qp_type type,
					const struct ibv_qp_attr *attr, int attr_mask,
					struct rdmaez_diag *diag)
{
	const int error = diag->error;
	struct rdmaez_impl_qp_case c;

	memset(&c, 0, sizeof(c));
	c.type = type;
	c.attr = attr;
	c.mask = attr_mask;
	c.diag = diag;
	c.refused = error;
	rdmaez_impl_qp_consider(qp, &c);
	if (c.error != error && c.likely != error)
		rdmaez_impl_qp_explain_rest(&c);
	rdmaez_impl_qp_unanswered(&c);
}

/*
 * Returns the port that a queue pair uses, or 0 if it could be any of several. Bonded mlx4 has one,
 * and reports another.
 */
RDMAEZ_IMPL_COLD uint8_t rdmaez_impl_qp_now_port(const struct rdmaez_impl_qp_now *now,
						 const struct ibv_device_attr *device)
{
	const uint8_t ports = device->phys_port_cnt ? device->phys_port_cnt : UINT8_MAX;

	if ((now->known & IBV_QP_PORT) && now->attr.port_num && now->attr.port_num <= ports)
		return now->attr.port_num;
	return ports == 1;
}

RDMAEZ_IMPL_END

#endif
