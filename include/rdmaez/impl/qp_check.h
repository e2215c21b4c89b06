/* SPDX-License-Identifier: MIT */
/* Bodies of rdmaez_qp_check(), and of what explains a refusal of ibv_modify_qp(). */
#ifndef RDMAEZ_IMPL_QP_CHECK_H
#define RDMAEZ_IMPL_QP_CHECK_H

#if RDMAEZ_IMPL_BODIES

#include <net/if.h>

#include "../driver.h"
#include "../port.h"
#include "../qp_rules.h"
#include "../units.h"
#include "explain.h"
#include "linux.h"
#include "port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A row of a GID table that the request names. */
struct rdmaez_impl_qp_row {
	struct ibv_gid_entry entry; /* zero where the row is empty or was not read */
	int error;                  /* what reading it ended in, ENODATA for an empty row */
};

/* A request, what is known about those it concerns, and the judgement as it grows. */
struct rdmaez_impl_qp_case {
	const struct ibv_qp_attr *attr; /* the request */
	int mask;
	enum ibv_qp_type type;
	enum ibv_transport_type transport;
	const struct rdmaez_driver *driver;
	struct ibv_device_attr device; /* phys_port_cnt 255 where the device did not answer */
	struct ibv_qp_attr now;        /* the queue pair as it is */
	bool port_known;
	struct ibv_port_attr port; /* of the port that the request is about */
	struct rdmaez_impl_qp_row row, alt_row;
	int pkey;          /* the row's P_Key; negative: not read */
	int linux_version; /* 601 for 6.1; 0: not known */
	struct rdmaez_diag *diag;
	int error; /* the first that the kernel would return */
};

/* Something the kernel refuses, with this error if nothing was refused before. */
RDMAEZ_IMPL void rdmaez_impl_qp_wrong(struct rdmaez_impl_qp_case *c, int error,
				      enum rdmaez_why reason, const char *field,
				      enum rdmaez_value kind, int64_t value, int64_t min,
				      int64_t max)
{
	if (!c->error)
		c->error = error;
	if (c->diag)
		rdmaez_impl_diag_add(c->diag, RDMAEZ_DIAG_ERROR, reason, field, kind,
				     (uint64_t)value, (uint64_t)min, (uint64_t)max);
}

/* Something the kernel accepts: advice, or likely to be refused by a driver. */
RDMAEZ_IMPL void rdmaez_impl_qp_doubt(struct rdmaez_impl_qp_case *c, enum rdmaez_severity severity,
				      enum rdmaez_why reason, const char *field,
				      enum rdmaez_value kind, int64_t value, int64_t min,
				      int64_t max)
{
	if (c->diag)
		rdmaez_impl_diag_add(c->diag, severity, reason, field, kind, (uint64_t)value,
				     (uint64_t)min, (uint64_t)max);
}

/* A number that this driver refuses, or that is merely unwise. */
RDMAEZ_IMPL void rdmaez_impl_qp_number(struct rdmaez_impl_qp_case *c, int refusing_traits,
				       enum rdmaez_why reason, const char *field, int64_t value,
				       int64_t min, int64_t max)
{
	if (c->driver->traits & refusing_traits)
		rdmaez_impl_qp_wrong(c, EINVAL, reason, field, RDMAEZ_VALUE_NUMBER, value, min,
				     max);
	else
		rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_ADVICE, reason, field, RDMAEZ_VALUE_NUMBER,
				     value, min, max);
}

RDMAEZ_IMPL bool rdmaez_impl_qp_is_roce(const struct rdmaez_impl_qp_case *c)
{
	return c->transport == IBV_TRANSPORT_IB && c->port_known &&
	       c->port.link_layer == IBV_LINK_LAYER_ETHERNET;
}

/* The state asked for: the system call carries eight bits of it. */
RDMAEZ_IMPL int rdmaez_impl_qp_wanted(const struct rdmaez_impl_qp_case *c)
{
	return (uint8_t)c->attr->qp_state;
}

/* Bits that the library or the system call turns away before anything else is looked at. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_bits(struct rdmaez_impl_qp_case *c)
{
	const int standard = (IBV_QP_DEST_QPN << 1) - 1;
	const int unknown = c->mask & ~(standard | IBV_QP_RATE_LIMIT);

	if (unknown)
		rdmaez_impl_qp_wrong(c, EOPNOTSUPP, RDMAEZ_WHY_MASK_UNKNOWN, "attr_mask",
				     RDMAEZ_VALUE_ATTR_MASK, (unsigned int)unknown, 0,
				     (unsigned int)c->mask);
	if ((c->mask & IBV_QP_RATE_LIMIT) && !(c->driver->traits & RDMAEZ_DRIVER_RATE_LIMIT))
		rdmaez_impl_qp_wrong(c, EOPNOTSUPP, RDMAEZ_WHY_MASK_RATE_LIMIT, "attr_mask",
				     RDMAEZ_VALUE_ATTR_MASK, IBV_QP_RATE_LIMIT, 0,
				     (unsigned int)c->mask);
}

RDMAEZ_IMPL bool rdmaez_impl_qp_judge_port(struct rdmaez_impl_qp_case *c, const char *field,
					   int port_num)
{
	if (port_num >= 1 && port_num <= c->device.phys_port_cnt)
		return true;
	rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_PORT, field, RDMAEZ_VALUE_NUMBER, port_num, 1,
			     c->device.phys_port_cnt);
	return false;
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_ports(struct rdmaez_impl_qp_case *c)
{
	const struct ibv_qp_attr *attr = c->attr;

	if (c->mask & IBV_QP_PORT)
		rdmaez_impl_qp_judge_port(c, "port_num", attr->port_num);
	if (c->mask & IBV_QP_AV) {
		const bool to_rtr =
			(c->mask & IBV_QP_STATE) && rdmaez_impl_qp_wanted(c) == IBV_QPS_RTR;
		const int want = to_rtr ? c->now.port_num : attr->port_num;

		if (rdmaez_impl_qp_judge_port(c, "ah_attr.port_num", attr->ah_attr.port_num) &&
		    (to_rtr || (c->mask & IBV_QP_PORT)) && attr->ah_attr.port_num != want)
			rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_PORT_MISMATCH,
					     "ah_attr.port_num", RDMAEZ_VALUE_NUMBER,
					     attr->ah_attr.port_num, want, want);
	}
	if ((c->mask & IBV_QP_ALT_PATH) &&
	    rdmaez_impl_qp_judge_port(c, "alt_port_num", attr->alt_port_num) &&
	    rdmaez_impl_qp_judge_port(c, "alt_ah_attr.port_num", attr->alt_ah_attr.port_num) &&
	    attr->alt_port_num != attr->alt_ah_attr.port_num)
		rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_PORT_MISMATCH, "alt_ah_attr.port_num",
				     RDMAEZ_VALUE_NUMBER, attr->alt_ah_attr.port_num,
				     attr->alt_port_num, attr->alt_port_num);
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_states(struct rdmaez_impl_qp_case *c)
{
	if ((c->mask & IBV_QP_CUR_STATE) && (uint8_t)c->attr->cur_qp_state > IBV_QPS_ERR)
		rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_QP_STATE, "cur_qp_state",
				     RDMAEZ_VALUE_NUMBER, (int)c->attr->cur_qp_state, IBV_QPS_RESET,
				     IBV_QPS_ERR);
	if ((c->mask & IBV_QP_STATE) && rdmaez_impl_qp_wanted(c) > IBV_QPS_ERR)
		rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_QP_STATE, "qp_state",
				     RDMAEZ_VALUE_NUMBER, (int)c->attr->qp_state, IBV_QPS_RESET,
				     IBV_QPS_ERR);
	/* Whether the process is privileged, or the administrator lifted this, cannot be seen. */
	if ((c->mask & IBV_QP_QKEY) && c->attr->qkey >> 31)
		rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_QKEY_PRIVILEGED, "qkey",
				     RDMAEZ_VALUE_NUMBER, c->attr->qkey, 0, INT32_MAX);
}

/* The GRH and the GID row of one address vector; false where the kernel goes no further. */
RDMAEZ_IMPL bool rdmaez_impl_qp_judge_grh(struct rdmaez_impl_qp_case *c,
					  const struct ibv_ah_attr *ah,
					  const struct rdmaez_impl_qp_row *row, bool alternate)
{
	const char *const is_global = alternate ? "alt_ah_attr.is_global" : "ah_attr.is_global";
	const char *const index =
		alternate ? "alt_ah_attr.grh.sgid_index" : "ah_attr.grh.sgid_index";

	if (!ah->is_global) {
		if (!rdmaez_impl_qp_is_roce(c) && !(c->port.flags & IBV_QPF_GRH_REQUIRED))
			return true;
		rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_GRH_MISSING, is_global,
				     RDMAEZ_VALUE_NUMBER, 0, 1, 1);
		return false;
	}
	if (ah->grh.sgid_index >= c->port.gid_tbl_len)
		rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_GID_INDEX, index, RDMAEZ_VALUE_NUMBER,
				     ah->grh.sgid_index, 0, c->port.gid_tbl_len - 1);
	else if (row->error == ENODATA)
		rdmaez_impl_qp_wrong(c, ENODATA, RDMAEZ_WHY_GID_EMPTY, index, RDMAEZ_VALUE_ROW,
				     ah->grh.sgid_index, 0, 0);
	else
		return !row->error;
	return false;
}

/* Whether a GID is a multicast one, be it IPv6 or IPv4-mapped. */
RDMAEZ_IMPL bool rdmaez_impl_qp_is_multicast(const union ibv_gid *gid)
{
	const enum rdmaez_gid_class of = rdmaez_gid_class(gid);

	return of == RDMAEZ_GID_CLASS_MULTICAST ||
	       (of == RDMAEZ_GID_CLASS_IPV4 && (gid->raw[12] & 0xf0) == 0xe0);
}

/* How the kernel would find the peer's Ethernet address. Neighbours and routes are left to it. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_route(struct rdmaez_impl_qp_case *c)
{
	const struct ibv_global_route *grh = &c->attr->ah_attr.grh;
	const struct ibv_gid_entry *row = &c->row.entry;
	const enum rdmaez_gid_class own = rdmaez_gid_class(&row->gid);
	const enum rdmaez_gid_class peer = rdmaez_gid_class(&grh->dgid);
	const bool peer_is_near = peer == RDMAEZ_GID_CLASS_LINK_LOCAL;
	const bool v1 = row->gid_type == IBV_GID_TYPE_ROCE_V1;

	if (rdmaez_impl_qp_is_multicast(&grh->dgid) || (peer_is_near && v1))
		return;
	if ((own == RDMAEZ_GID_CLASS_IPV4) != (peer == RDMAEZ_GID_CLASS_IPV4))
		rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_GID_FAMILY, "ah_attr.grh.sgid_index",
				     RDMAEZ_VALUE_ROW, grh->sgid_index, 0, 0);
	else if (!row->ndev_ifindex)
		rdmaez_impl_qp_wrong(c, ENODEV, RDMAEZ_WHY_GID_NO_NETDEV, "ah_attr.grh.sgid_index",
				     RDMAEZ_VALUE_ROW, grh->sgid_index, 0, 0);
	else if (own == RDMAEZ_GID_CLASS_LINK_LOCAL && !peer_is_near)
		rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_GID_LINK_LOCAL,
				     "ah_attr.grh.sgid_index", RDMAEZ_VALUE_ROW, grh->sgid_index, 0,
				     0);
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_address(struct rdmaez_impl_qp_case *c)
{
	const struct ibv_ah_attr *ah = &c->attr->ah_attr;
	const bool roce = rdmaez_impl_qp_is_roce(c);

	if (!c->port_known)
		return;
	if ((c->mask & IBV_QP_AV) && rdmaez_impl_qp_judge_grh(c, ah, &c->row, false) &&
	    ah->is_global) {
		const enum rdmaez_gid_class peer = rdmaez_gid_class(&ah->grh.dgid);

		if (roce && c->type != IBV_QPT_UD && c->type != IBV_QPT_RAW_PACKET)
			rdmaez_impl_qp_judge_route(c);
		if (roce && c->row.entry.gid_type == IBV_GID_TYPE_ROCE_V1 &&
		    !(c->driver->traits & RDMAEZ_DRIVER_ROCE_V2))
			rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_GID_ROCE_V1,
					     "ah_attr.grh.sgid_index", RDMAEZ_VALUE_ROW,
					     ah->grh.sgid_index, 0, 0);
		if (ah->grh.hop_limit <= 1 && peer != RDMAEZ_GID_CLASS_LINK_LOCAL)
			rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_HOP_LIMIT,
					     "ah_attr.grh.hop_limit", RDMAEZ_VALUE_NUMBER,
					     ah->grh.hop_limit, 2, 255);
	}
	if (c->mask & IBV_QP_ALT_PATH) {
		rdmaez_impl_qp_judge_grh(c, &c->attr->alt_ah_attr, &c->alt_row, true);
		if (roce)
			rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_APM, "alt_ah_attr",
					     RDMAEZ_VALUE_NONE, 0, 0, 0);
	}
}

/* The state that the driver starts from: some believe the caller. */
RDMAEZ_IMPL enum ibv_qp_state rdmaez_impl_qp_start(const struct rdmaez_impl_qp_case *c)
{
	if ((c->mask & IBV_QP_CUR_STATE) && (c->driver->traits & RDMAEZ_DRIVER_TRUSTS_CUR))
		return (enum ibv_qp_state)(uint8_t)c->attr->cur_qp_state;
	return c->now.qp_state;
}

/* The mask as the table sees it: without what is dropped for XRC, with the vector's own port. */
RDMAEZ_IMPL int rdmaez_impl_qp_table_mask(const struct rdmaez_impl_qp_case *c)
{
	const bool to_rtr = (c->mask & IBV_QP_STATE) && rdmaez_impl_qp_wanted(c) == IBV_QPS_RTR;
	int mask = c->mask;

	if (c->type == IBV_QPT_XRC_SEND)
		mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (c->type == IBV_QPT_XRC_RECV)
		mask &= ~(IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
	if ((mask & IBV_QP_AV) && !to_rtr)
		mask |= IBV_QP_PORT;
	return mask;
}

/* Whether this driver is certain to judge this mask by the table. */
RDMAEZ_IMPL bool rdmaez_impl_qp_table_rules(const struct rdmaez_impl_qp_case *c)
{
	const int traits = c->driver->traits;
	const bool rxe = (traits & RDMAEZ_DRIVER_DEPTH_RXE) != 0;

	if (c->transport != IBV_TRANSPORT_IB || (traits & RDMAEZ_DRIVER_NO_TABLE))
		return false;
	if (c->mask & IBV_QP_STATE)
		return true;
	/* rxe has looked at the table only when the state is in the mask since Linux 6.4. */
	return !(traits & RDMAEZ_DRIVER_LENIENT) && !(rxe && c->linux_version >= 604);
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_mask(struct rdmaez_impl_qp_case *c)
{
	const enum ibv_qp_state from = rdmaez_impl_qp_start(c);
	const enum ibv_qp_state to =
		c->mask & IBV_QP_STATE ? (enum ibv_qp_state)rdmaez_impl_qp_wanted(c) : from;
	const bool certain = rdmaez_impl_qp_table_rules(c);
	int mask = rdmaez_impl_qp_table_mask(c);

	rdmaez_impl_qp_mask_bits(c->diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_MASK_DROPPED,
				 c->mask & ~mask, c->mask);
	if ((c->mask & IBV_QP_CUR_STATE) && (uint8_t)c->attr->cur_qp_state != c->now.qp_state)
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_CUR_EQUAL, RDMAEZ_WHY_CUR_STATE,
				      "cur_qp_state", (uint8_t)c->attr->cur_qp_state,
				      c->now.qp_state, c->now.qp_state);
	if (!(c->driver->traits & RDMAEZ_DRIVER_RATE_LIMIT) || c->linux_version >= 700)
		mask &= ~IBV_QP_RATE_LIMIT; /* refused earlier, or left to the driver */
	if (!rdmaez_impl_qp_mask_check(c->type, from, to, mask, NULL))
		return;
	if (certain && !c->error)
		c->error = EINVAL;
	if (c->diag)
		rdmaez_impl_qp_mask_explain(c->type, from, to, mask,
					    certain ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY,
					    c->diag);
}

/* What a driver cannot do at all. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_driver(struct rdmaez_impl_qp_case *c)
{
	const int traits = c->driver->traits;
	const bool moves = (c->mask & IBV_QP_STATE) != 0;
	const int to = moves ? rdmaez_impl_qp_wanted(c) : (int)c->now.qp_state;
	const int efa_mask = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY |
			     IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_SQ_PSN |
			     IBV_QP_RNR_RETRY;

	if (c->transport == IBV_TRANSPORT_IWARP) {
		if (moves && to == IBV_QPS_RTS)
			rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_IWARP, "qp_state",
					     RDMAEZ_VALUE_NONE, 0, 0, 0);
		else
			rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_IWARP, "attr_mask",
					     RDMAEZ_VALUE_NONE, 0, 0, 0);
	}
	if ((traits & RDMAEZ_DRIVER_EFA) && (c->mask & ~efa_mask))
		rdmaez_impl_qp_wrong(c, EOPNOTSUPP, RDMAEZ_WHY_MASK_DRIVER, "attr_mask",
				     RDMAEZ_VALUE_ATTR_MASK, (unsigned int)(c->mask & ~efa_mask), 0,
				     (unsigned int)c->mask);
	if ((traits & RDMAEZ_DRIVER_NO_SQD) && to == IBV_QPS_SQD)
		rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_NO_SQD, "qp_state", RDMAEZ_VALUE_NONE, 0,
				     0, 0);
	if ((traits & RDMAEZ_DRIVER_RESET_FINAL) && moves && to == IBV_QPS_RESET)
		rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_RESET_FINAL, "qp_state",
				     RDMAEZ_VALUE_NONE, 0, 0, 0);
	if ((traits & RDMAEZ_DRIVER_DRAINS) && moves && to != IBV_QPS_ERR &&
	    rdmaez_impl_qp_start(c) == IBV_QPS_SQD && c->now.sq_draining)
		rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_SQ_DRAINING, "sq_draining",
				     RDMAEZ_VALUE_NUMBER, 1, 0, 0);
	if ((traits & RDMAEZ_DRIVER_ROCE_V2) && (c->mask & IBV_QP_AV) &&
	    c->attr->ah_attr.is_global && c->row.entry.gid_type == IBV_GID_TYPE_ROCE_V1)
		rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_GID_TYPE_REFUSED,
				     "ah_attr.grh.sgid_index", RDMAEZ_VALUE_ROW,
				     c->attr->ah_attr.grh.sgid_index, 0, 0);
	if (moves && to == IBV_QPS_RTR && c->port_known && c->port.state != IBV_PORT_ACTIVE &&
	    c->port.state != IBV_PORT_ACTIVE_DEFER)
		rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_PORT_DOWN, "port_num",
				     RDMAEZ_VALUE_NUMBER, c->port.state, IBV_PORT_ACTIVE,
				     IBV_PORT_ACTIVE);
}

/* The path MTU: the system call carries eight bits of it. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_mtu(struct rdmaez_impl_qp_case *c)
{
	const int given = (int)c->attr->path_mtu, sent = (uint8_t)given;
	const enum rdmaez_why reason = given >= 256 ? RDMAEZ_WHY_MTU_IN_BYTES : RDMAEZ_WHY_ENUM;
	const int traits = c->driver->traits;

	if (!rdmaez_mtu_bytes((enum ibv_mtu)sent) || sent != given) {
		const bool refused =
			((traits & RDMAEZ_DRIVER_MTU_ENUM) &&
			 !rdmaez_mtu_bytes((enum ibv_mtu)sent)) ||
			((traits & RDMAEZ_DRIVER_MTU_MAX) && sent > (int)c->port.max_mtu);

		if (refused)
			rdmaez_impl_qp_wrong(c, EINVAL, reason, "path_mtu", RDMAEZ_VALUE_MTU, given,
					     IBV_MTU_256, IBV_MTU_4096);
		else
			rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_LIKELY, reason, "path_mtu",
					     RDMAEZ_VALUE_MTU, given, IBV_MTU_256, IBV_MTU_4096);
	} else if (c->port_known && sent > (int)c->port.max_mtu) {
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_MTU_MAX | RDMAEZ_DRIVER_MTU_ACTIVE,
				      RDMAEZ_WHY_MTU_ABOVE_MAX, "path_mtu", sent, IBV_MTU_256,
				      c->port.max_mtu);
	} else if (c->port_known && sent > (int)c->port.active_mtu) {
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_MTU_ACTIVE, RDMAEZ_WHY_MTU_ABOVE_ACTIVE,
				      "path_mtu", sent, IBV_MTU_256, c->port.active_mtu);
	}
}

/* What peers may do. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_access(struct rdmaez_impl_qp_case *c)
{
	/* FLUSH_GLOBAL and FLUSH_PERSISTENT, bits 8 and 9, have names from rdma-core 58. */
	const unsigned int known = 0x31fu, flags = c->attr->qp_access_flags;
	const unsigned int reads = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	/* What rxe takes since Linux 6.12 at the latest: these, IBV_ACCESS_ON_DEMAND, the optional ones. */
	const unsigned int rxe_known = known | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_OPTIONAL_RANGE;
	const bool rxe_looks =
		(c->driver->traits & RDMAEZ_DRIVER_DEPTH_RXE) && c->linux_version >= 612;

	if (rxe_looks && (flags & ~rxe_known))
		rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_ACCESS_BITS, "qp_access_flags",
				     RDMAEZ_VALUE_ACCESS, flags & ~rxe_known, 0, flags);
	else if (flags & ~known)
		rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_ACCESS_BITS,
				     "qp_access_flags", RDMAEZ_VALUE_ACCESS, flags & ~known, 0,
				     flags);
	if (rxe_looks && c->type != IBV_QPT_RC && c->type != IBV_QPT_UC)
		rdmaez_impl_qp_wrong(c, EINVAL, RDMAEZ_WHY_ACCESS_TYPE, "qp_access_flags",
				     RDMAEZ_VALUE_ACCESS, flags, 0, flags);
	if (c->type == IBV_QPT_UC && (flags & reads))
		rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_ACCESS_TYPE,
				     "qp_access_flags", RDMAEZ_VALUE_ACCESS, flags & reads, 0,
				     flags);
	if ((flags & IBV_ACCESS_REMOTE_ATOMIC) && c->device.atomic_cap == IBV_ATOMIC_NONE)
		rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_ACCESS_ATOMIC,
				     "qp_access_flags", RDMAEZ_VALUE_ACCESS,
				     IBV_ACCESS_REMOTE_ATOMIC, 0, flags);
}

/* READs and atomics in flight, in both directions. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_depths(struct rdmaez_impl_qp_case *c)
{
	const bool rxe = (c->driver->traits & RDMAEZ_DRIVER_DEPTH_RXE) != 0;
	const unsigned int reads = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	const int as_requester = rxe ? c->device.max_qp_rd_atom : c->device.max_qp_init_rd_atom;
	const int as_responder = c->device.max_qp_rd_atom;
	const unsigned int access =
		c->mask & IBV_QP_ACCESS_FLAGS ? c->attr->qp_access_flags : c->now.qp_access_flags;

	if ((c->mask & IBV_QP_MAX_QP_RD_ATOMIC) && c->attr->max_rd_atomic > as_requester)
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_DEPTHS | RDMAEZ_DRIVER_DEPTH_RXE,
				      RDMAEZ_WHY_DEPTH_LIMIT, "max_rd_atomic",
				      c->attr->max_rd_atomic, 0, as_requester);
	if ((c->mask & IBV_QP_MAX_DEST_RD_ATOMIC) && c->attr->max_dest_rd_atomic > as_responder)
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_DEPTHS, RDMAEZ_WHY_DEPTH_LIMIT,
				      "max_dest_rd_atomic", c->attr->max_dest_rd_atomic, 0,
				      as_responder);
	if ((c->mask & IBV_QP_MAX_QP_RD_ATOMIC) && !c->attr->max_rd_atomic && rxe)
		rdmaez_impl_qp_number(c, 0, RDMAEZ_WHY_DEPTH_ZERO_HANG, "max_rd_atomic", 0, 1,
				      as_requester);
	if ((c->mask & IBV_QP_MAX_DEST_RD_ATOMIC) && !c->attr->max_dest_rd_atomic &&
	    (access & reads))
		rdmaez_impl_qp_number(c, 0, RDMAEZ_WHY_DEPTH_ZERO, "max_dest_rd_atomic", 0, 1,
				      as_responder);
}

/* Timers and counters: too wide, or zero where zero is a surprise. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_timers(struct rdmaez_impl_qp_case *c)
{
	const struct ibv_qp_attr *attr = c->attr;

	if ((c->mask & IBV_QP_TIMEOUT) && attr->timeout > 31)
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_TIMEOUT_31, RDMAEZ_WHY_WIDTH, "timeout",
				      attr->timeout, 0, 31);
	if ((c->mask & IBV_QP_TIMEOUT) && attr->timeout == 0)
		rdmaez_impl_qp_number(c, 0, RDMAEZ_WHY_TIMEOUT_ZERO, "timeout", 0, 1, 31);
	if ((c->mask & IBV_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31)
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_STRICT, RDMAEZ_WHY_WIDTH, "min_rnr_timer",
				      attr->min_rnr_timer, 0, 31);
	if ((c->mask & IBV_QP_MIN_RNR_TIMER) && attr->min_rnr_timer == 0)
		rdmaez_impl_qp_number(c, 0, RDMAEZ_WHY_RNR_TIMER_ZERO, "min_rnr_timer", 0, 1, 31);
	if ((c->mask & IBV_QP_RETRY_CNT) && attr->retry_cnt > 7)
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_STRICT, RDMAEZ_WHY_WIDTH, "retry_cnt",
				      attr->retry_cnt, 0, 7);
	if ((c->mask & IBV_QP_RETRY_CNT) && attr->retry_cnt == 0)
		rdmaez_impl_qp_number(c, 0, RDMAEZ_WHY_RETRY_ZERO, "retry_cnt", 0, 1, 7);
	if ((c->mask & IBV_QP_RNR_RETRY) && attr->rnr_retry > 7)
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_STRICT, RDMAEZ_WHY_WIDTH, "rnr_retry",
				      attr->rnr_retry, 0, 7);
	if ((c->mask & IBV_QP_RNR_RETRY) && attr->rnr_retry == 0)
		rdmaez_impl_qp_number(c, 0, RDMAEZ_WHY_RNR_RETRY_ZERO, "rnr_retry", 0, 1, 7);
}

/* Numbers of 24 bits, and the P_Key. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_numbers(struct rdmaez_impl_qp_case *c)
{
	const struct ibv_qp_attr *attr = c->attr;

	if ((c->mask & IBV_QP_RQ_PSN) && attr->rq_psn > RDMAEZ_24_BITS)
		rdmaez_impl_qp_number(c, 0, RDMAEZ_WHY_PSN_WIDTH, "rq_psn", attr->rq_psn, 0,
				      RDMAEZ_24_BITS);
	if ((c->mask & IBV_QP_SQ_PSN) && attr->sq_psn > RDMAEZ_24_BITS)
		rdmaez_impl_qp_number(c, 0, RDMAEZ_WHY_PSN_WIDTH, "sq_psn", attr->sq_psn, 0,
				      RDMAEZ_24_BITS);
	if ((c->mask & IBV_QP_DEST_QPN) && attr->dest_qp_num > RDMAEZ_24_BITS)
		rdmaez_impl_qp_number(c, 0, RDMAEZ_WHY_WIDTH, "dest_qp_num", attr->dest_qp_num, 0,
				      RDMAEZ_24_BITS);
	if (!(c->mask & IBV_QP_PKEY_INDEX) || !c->port_known)
		return;
	if (attr->pkey_index >= c->port.pkey_tbl_len)
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_PKEY, RDMAEZ_WHY_PKEY_INDEX, "pkey_index",
				      attr->pkey_index, 0, c->port.pkey_tbl_len - 1);
	else if (c->pkey >= 0 && !(c->pkey & 0x7fff))
		rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_PKEY_EMPTY, "pkey_index",
				     RDMAEZ_VALUE_PKEY, c->pkey, 0, 0);
	else if (c->pkey >= 0 && !(c->pkey & 0x8000))
		rdmaez_impl_qp_doubt(c, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_PKEY_LIMITED, "pkey_index",
				     RDMAEZ_VALUE_PKEY, c->pkey, 0, 0);
}

/* All of it, in the kernel's order. */
RDMAEZ_IMPL_COLD int rdmaez_impl_qp_judge(struct rdmaez_impl_qp_case *c)
{
	c->error = 0;
	rdmaez_impl_qp_judge_bits(c);
	rdmaez_impl_qp_judge_ports(c);
	rdmaez_impl_qp_judge_states(c);
	rdmaez_impl_qp_judge_address(c);
	rdmaez_impl_qp_judge_mask(c);
	c->mask &= rdmaez_impl_qp_table_mask(c); /* the driver never sees what was dropped */
	rdmaez_impl_qp_judge_driver(c);
	if (c->mask & IBV_QP_PATH_MTU)
		rdmaez_impl_qp_judge_mtu(c);
	if (c->mask & IBV_QP_ACCESS_FLAGS)
		rdmaez_impl_qp_judge_access(c);
	rdmaez_impl_qp_judge_depths(c);
	rdmaez_impl_qp_judge_timers(c);
	rdmaez_impl_qp_judge_numbers(c);
	return c->error;
}

RDMAEZ_IMPL void rdmaez_impl_qp_read_row(struct ibv_context *context, const struct ibv_ah_attr *ah,
					 struct rdmaez_impl_qp_row *row)
{
	memset(row, 0, sizeof(*row));
	if (!ah->is_global)
		return;
	row->error = rdmaez_impl_error(
		ibv_query_gid_ex(context, ah->port_num, ah->grh.sgid_index, &row->entry, 0));
	if (row->error)
		memset(&row->entry, 0, sizeof(row->entry));
}

/* Asks the device for whatever the request is about; 0, or the errno of ibv_query_qp(). */
RDMAEZ_IMPL int rdmaez_impl_qp_gather(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask,
				      struct rdmaez_diag *diag, struct rdmaez_impl_qp_case *c)
{
	const int all = (IBV_QP_DEST_QPN << 1) - 1;
	struct ibv_qp_init_attr init;
	int port_num, error;

	memset(c, 0, sizeof(*c));
	memset(&init, 0, sizeof(init));
	c->attr = attr;
	c->mask = mask;
	c->diag = diag;
	c->type = qp->qp_type;
	c->pkey = -1;
	c->linux_version = rdmaez_impl_linux_version();
	c->transport = qp->context->device->transport_type;
	error = rdmaez_impl_error(ibv_query_qp(qp, &c->now, all, &init));
	if (error)
		return error;
	if (ibv_query_device(qp->context, &c->device))
		c->device.phys_port_cnt = 255;
	c->driver = rdmaez_driver_of(&c->device);
	port_num = mask & IBV_QP_AV         ? attr->ah_attr.port_num
		   : mask & IBV_QP_ALT_PATH ? attr->alt_ah_attr.port_num
		   : mask & IBV_QP_PORT     ? attr->port_num
					    : c->now.port_num;
	c->port_known = port_num >= 1 && port_num <= c->device.phys_port_cnt &&
			!ibv_query_port(qp->context, (uint8_t)port_num, &c->port);
	if (!c->port_known)
		return 0;
	if (mask & IBV_QP_AV)
		rdmaez_impl_qp_read_row(qp->context, &attr->ah_attr, &c->row);
	if (mask & IBV_QP_ALT_PATH)
		rdmaez_impl_qp_read_row(qp->context, &attr->alt_ah_attr, &c->alt_row);
	if ((mask & IBV_QP_PKEY_INDEX) && attr->pkey_index < c->port.pkey_tbl_len)
		c->pkey = rdmaez_impl_port_pkey(qp->context, port_num, attr->pkey_index);
	return 0;
}

/* Notes in the record what the findings are about. */
RDMAEZ_IMPL void rdmaez_impl_qp_note(const struct rdmaez_impl_qp_case *c)
{
	struct rdmaez_diag *diag = c->diag;

	if (!diag)
		return;
	diag->driver = c->driver->vendor_id ? c->driver->name : NULL;
	rdmaez_impl_diag_transition(diag, c->type, c->now.qp_state,
				    c->mask & IBV_QP_STATE ? c->attr->qp_state : c->now.qp_state);
	if ((c->mask & IBV_QP_AV) && c->attr->ah_attr.is_global) {
		diag->source = c->row.entry;
		diag->source.gid_index = c->attr->ah_attr.grh.sgid_index; /* also of an empty row */
		diag->destination = c->attr->ah_attr.grh.dgid;
		if (!if_indextoname(c->row.entry.ndev_ifindex, diag->netdev))
			diag->netdev[0] = '\0';
	}
}

RDMAEZ_API int rdmaez_qp_check(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int attr_mask,
			       struct rdmaez_diag *diag)
{
	struct rdmaez_impl_qp_case c;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_check");
	if (!qp || !attr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  qp ? "attr" : "qp");
	rdmaez_impl_diag_qp(diag, qp);
	error = rdmaez_impl_qp_gather(qp, attr, attr_mask, diag, &c);
	if (error)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_qp");
	rdmaez_impl_qp_note(&c);
	error = rdmaez_impl_qp_judge(&c);
	if (diag)
		diag->error = error;
	return error;
}

/* What an errno of ibv_modify_qp() usually means for this request. */
RDMAEZ_IMPL_COLD enum rdmaez_why rdmaez_impl_qp_meaning(const struct rdmaez_impl_qp_case *c,
							int error)
{
	const bool resolves = (c->mask & IBV_QP_AV) && rdmaez_impl_qp_is_roce(c);
	const enum rdmaez_why route = resolves ? rdmaez_impl_route_meaning(error) : RDMAEZ_WHY_NONE;

	if (route != RDMAEZ_WHY_NONE)
		return route;
	if (error == EPERM && (c->mask & IBV_QP_QKEY))
		return RDMAEZ_WHY_QKEY_PRIVILEGED;
	if (error == EPERM || error == EACCES)
		return RDMAEZ_WHY_SECURITY;
	return rdmaez_impl_errno_meaning(error, RDMAEZ_WHY_REFUSED);
}

/* After a refusal: judge the request, and where that does not explain it, say what the errno means. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_explain(struct ibv_qp *qp, const struct ibv_qp_attr *attr,
					     int attr_mask, int error, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_qp_case c;
	int query_error = rdmaez_impl_qp_gather(qp, attr, attr_mask, diag, &c);

	if (query_error) {
		rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_qp");
		return;
	}
	rdmaez_impl_qp_note(&c);
	diag->error = error;
	if (rdmaez_impl_qp_judge(&c) == error)
		return;
	rdmaez_impl_qp_doubt(&c, RDMAEZ_DIAG_LIKELY, rdmaez_impl_qp_meaning(&c, error),
			     "ibv_modify_qp", RDMAEZ_VALUE_NONE, 0, 0, 0);
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
