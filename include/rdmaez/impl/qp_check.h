/* SPDX-License-Identifier: MIT */
/* Bodies of rdmaez_qp_check(), and of what explains a refusal of ibv_modify_qp(). */
#ifndef RDMAEZ_IMPL_QP_CHECK_H
#define RDMAEZ_IMPL_QP_CHECK_H

#if RDMAEZ_IMPL_BODIES

#include <net/if.h>

#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif
#ifndef RDMAEZ_PORT_H
#include "../port.h"
#endif
#ifndef RDMAEZ_QP_RULES_H
#include "../qp_rules.h"
#endif
#ifndef RDMAEZ_UNITS_H
#include "../units.h"
#endif
#include "explain.h"
#include "gid.h"
#include "linux.h"
#include "port.h"
#include "qp_fields.h"
#include "qp_rules.h"

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
	struct ibv_device_attr device; /* what no request exceeds where the device did not answer */
	struct ibv_qp_attr now;        /* the queue pair as it is */
	bool port_known;
	struct ibv_port_attr port; /* of the port that the request is about */
	struct rdmaez_impl_qp_gid gid, alt_gid;
	int pkey;          /* the P_Key at the index; negative: not read */
	int linux_version; /* 601 for 6.1; 0: not known */
	struct rdmaez_diag *diag;
	int error; /* the first that the kernel would return */
};

RDMAEZ_IMPL bool rdmaez_impl_qp_has_trait(const struct rdmaez_impl_qp_case *c, unsigned int traits)
{
	return (c->driver->traits & traits) != 0;
}

/* Something the kernel refuses, with this error if nothing was refused before. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_wrong_within(struct rdmaez_impl_qp_case *c, int error,
						  const struct rdmaez_impl_site *site,
						  int64_t value, int64_t min, int64_t max)
{
	if (!c->error)
		c->error = error;
	rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_ERROR, site, (uint64_t)value, (uint64_t)min,
				(uint64_t)max);
}

RDMAEZ_IMPL_COLD void rdmaez_impl_qp_wrong(struct rdmaez_impl_qp_case *c, int error,
					   const struct rdmaez_impl_site *site, int64_t value)
{
	rdmaez_impl_qp_wrong_within(c, error, site, value, site->min, site->max);
}

/* Something the kernel accepts, and an expert would not ask for. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_advise(struct rdmaez_impl_qp_case *c,
					    const struct rdmaez_impl_site *site, int64_t value)
{
	rdmaez_impl_find(c->diag, RDMAEZ_DIAG_ADVICE, site, (uint64_t)value);
}

/* A number that drivers with one of these traits refuse, and that is merely unwise elsewhere. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_number(struct rdmaez_impl_qp_case *c, unsigned int refusing,
					    const struct rdmaez_impl_site *site, int64_t value,
					    int64_t max)
{
	if (rdmaez_impl_qp_has_trait(c, refusing))
		rdmaez_impl_qp_wrong_within(c, EINVAL, site, value, site->min, max);
	else
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_ADVICE, site, (uint64_t)value,
					(uint64_t)site->min, (uint64_t)max);
}

/* Bits that are wrong, of all those in a field. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_bits(struct rdmaez_impl_qp_case *c, int error,
					  enum rdmaez_severity severity,
					  const struct rdmaez_impl_site *site, unsigned int bits,
					  unsigned int all)
{
	if (!bits)
		return;
	if (severity == RDMAEZ_DIAG_ERROR && !c->error)
		c->error = error;
	rdmaez_impl_find_within(c->diag, severity, site, bits, 0, all);
}

RDMAEZ_IMPL bool rdmaez_impl_qp_is_roce(const struct rdmaez_impl_qp_case *c)
{
	return c->transport == IBV_TRANSPORT_IB && c->port_known &&
	       c->port.link_layer == IBV_LINK_LAYER_ETHERNET;
}

/* The state asked for, of which the system call carries eight bits; the present one where none is. */
RDMAEZ_IMPL int rdmaez_impl_qp_wanted(const struct rdmaez_impl_qp_case *c)
{
	return c->mask & IBV_QP_STATE ? (int)(uint8_t)c->attr->qp_state : (int)c->now.qp_state;
}

RDMAEZ_IMPL bool rdmaez_impl_qp_moves_to(const struct rdmaez_impl_qp_case *c,
					 enum ibv_qp_state state)
{
	return (c->mask & IBV_QP_STATE) && rdmaez_impl_qp_wanted(c) == (int)state;
}

/* Bits that the library or the system call turns away before anything else is looked at. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_bits(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site unknown = {"attr_mask", RDMAEZ_WHY_MASK_UNKNOWN,
							RDMAEZ_VALUE_ATTR_MASK, 0, 0};
	static const struct rdmaez_impl_site rate = {"attr_mask", RDMAEZ_WHY_MASK_RATE_LIMIT,
						     RDMAEZ_VALUE_ATTR_MASK, 0, 0};
	const unsigned int mask = (unsigned int)c->mask;
	const unsigned int standard = (IBV_QP_DEST_QPN << 1) - 1;

	rdmaez_impl_qp_bits(c, EOPNOTSUPP, RDMAEZ_DIAG_ERROR, &unknown,
			    mask & ~(standard | IBV_QP_RATE_LIMIT), mask);
	if (!rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_RATE_LIMIT))
		rdmaez_impl_qp_bits(c, EOPNOTSUPP, RDMAEZ_DIAG_ERROR, &rate,
				    mask & IBV_QP_RATE_LIMIT, mask);
}

RDMAEZ_IMPL_ONCE bool rdmaez_impl_qp_judge_port(struct rdmaez_impl_qp_case *c, const char *field,
						int port_num)
{
	struct rdmaez_impl_site site;

	if (port_num >= 1 && port_num <= c->device.phys_port_cnt)
		return true;
	site.field = field;
	site.why = RDMAEZ_WHY_PORT;
	site.kind = RDMAEZ_VALUE_NUMBER;
	rdmaez_impl_qp_wrong_within(c, EINVAL, &site, port_num, 1, c->device.phys_port_cnt);
	return false;
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
	if (c->mask & IBV_QP_AV) {
		const bool to_rtr = rdmaez_impl_qp_moves_to(c, IBV_QPS_RTR);
		const int want = to_rtr ? c->now.port_num : attr->port_num;

		if (rdmaez_impl_qp_judge_port(c, "ah_attr.port_num", attr->ah_attr.port_num) &&
		    (to_rtr || (c->mask & IBV_QP_PORT)) && attr->ah_attr.port_num != want)
			rdmaez_impl_qp_wrong_within(c, EINVAL, &mismatch, attr->ah_attr.port_num,
						    want, want);
	}
	if ((c->mask & IBV_QP_ALT_PATH) &&
	    rdmaez_impl_qp_judge_port(c, "alt_port_num", attr->alt_port_num) &&
	    rdmaez_impl_qp_judge_port(c, "alt_ah_attr.port_num", attr->alt_ah_attr.port_num) &&
	    attr->alt_port_num != attr->alt_ah_attr.port_num)
		rdmaez_impl_qp_wrong_within(c, EINVAL, &alt_mismatch, attr->alt_ah_attr.port_num,
					    attr->alt_port_num, attr->alt_port_num);
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_states(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site cur = {"cur_qp_state", RDMAEZ_WHY_QP_STATE,
						    RDMAEZ_VALUE_NUMBER, IBV_QPS_RESET,
						    IBV_QPS_ERR};
	static const struct rdmaez_impl_site wanted = {
		"qp_state", RDMAEZ_WHY_QP_STATE, RDMAEZ_VALUE_NUMBER, IBV_QPS_RESET, IBV_QPS_ERR};
	static const struct rdmaez_impl_site qkey = {"qkey", RDMAEZ_WHY_QKEY_PRIVILEGED,
						     RDMAEZ_VALUE_NUMBER, 0, INT32_MAX};

	if ((c->mask & IBV_QP_CUR_STATE) && (uint8_t)c->attr->cur_qp_state > IBV_QPS_ERR)
		rdmaez_impl_qp_wrong(c, EINVAL, &cur, (int)c->attr->cur_qp_state);
	if ((c->mask & IBV_QP_STATE) && rdmaez_impl_qp_wanted(c) > IBV_QPS_ERR)
		rdmaez_impl_qp_wrong(c, EINVAL, &wanted, (int)c->attr->qp_state);
	/* Whether the process is privileged, or the administrator lifted this, cannot be seen. */
	if ((c->mask & IBV_QP_QKEY) && c->attr->qkey >> 31)
		rdmaez_impl_find(c->diag, RDMAEZ_DIAG_LIKELY, &qkey, c->attr->qkey);
}

/* The GRH and the GID index of one address vector; false where the kernel goes no further. */
RDMAEZ_IMPL_ONCE bool rdmaez_impl_qp_judge_grh(struct rdmaez_impl_qp_case *c,
					       const struct ibv_ah_attr *ah,
					       const struct rdmaez_impl_qp_gid *gid,
					       unsigned int alt)
{
	struct rdmaez_impl_site site = {"alt_ah_attr.is_global", RDMAEZ_WHY_GRH_MISSING,
					RDMAEZ_VALUE_NUMBER, 1, 1};

	if (!ah->is_global) {
		if (!rdmaez_impl_qp_is_roce(c) && !(c->port.flags & IBV_QPF_GRH_REQUIRED))
			return true;
		site.field += 4 - alt;
		rdmaez_impl_qp_wrong(c, EINVAL, &site, 0);
		return false;
	}
	site.field = &"alt_ah_attr.grh.sgid_index"[4 - alt];
	if (ah->grh.sgid_index >= c->port.gid_tbl_len) {
		site.why = RDMAEZ_WHY_GID_INDEX;
		rdmaez_impl_qp_wrong_within(c, EINVAL, &site, ah->grh.sgid_index, 0,
					    c->port.gid_tbl_len - 1);
	} else if (gid->error == ENODATA) {
		site.why = RDMAEZ_WHY_GID_EMPTY;
		site.kind = RDMAEZ_VALUE_INDEX;
		rdmaez_impl_qp_wrong_within(c, ENODATA, &site, ah->grh.sgid_index, 0, 0);
	} else {
		return !gid->error;
	}
	return false;
}

/* Something about the GID index that a request names. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_about_gid(struct rdmaez_impl_qp_case *c, int error,
					       enum rdmaez_why why)
{
	struct rdmaez_impl_site site = {"ah_attr.grh.sgid_index", RDMAEZ_WHY_NONE,
					RDMAEZ_VALUE_INDEX, 0, 0};

	site.why = why;
	if (error)
		rdmaez_impl_qp_wrong(c, error, &site, c->attr->ah_attr.grh.sgid_index);
	else
		rdmaez_impl_qp_advise(c, &site, c->attr->ah_attr.grh.sgid_index);
}

/* How the kernel would find the peer's Ethernet address. Neighbours and routes are left to it. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_route(struct rdmaez_impl_qp_case *c)
{
	const union ibv_gid *const peer = &c->attr->ah_attr.grh.dgid;
	const struct ibv_gid_entry *const own = &c->gid.entry;

	if (!rdmaez_impl_gid_is_resolved(own, peer))
		return;
	if (rdmaez_impl_gid_family_differs(&own->gid, peer))
		rdmaez_impl_qp_about_gid(c, EINVAL, RDMAEZ_WHY_GID_FAMILY);
	else if (!own->ndev_ifindex)
		rdmaez_impl_qp_about_gid(c, ENODEV, RDMAEZ_WHY_GID_NO_NETDEV);
	else if (rdmaez_gid_class(peer) != RDMAEZ_GID_CLASS_LINK_LOCAL &&
		 rdmaez_gid_class(&own->gid) == RDMAEZ_GID_CLASS_LINK_LOCAL)
		rdmaez_impl_qp_about_gid(c, 0, RDMAEZ_WHY_GID_LINK_LOCAL);
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_address(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site hops = {"ah_attr.grh.hop_limit", RDMAEZ_WHY_HOP_LIMIT,
						     RDMAEZ_VALUE_NUMBER, 2, 255};
	const struct ibv_ah_attr *ah = &c->attr->ah_attr;
	const bool roce = rdmaez_impl_qp_is_roce(c);

	if (!c->port_known)
		return;
	if ((c->mask & IBV_QP_AV) && rdmaez_impl_qp_judge_grh(c, ah, &c->gid, 0) && ah->is_global) {
		if (roce && c->type != IBV_QPT_UD && c->type != IBV_QPT_RAW_PACKET)
			rdmaez_impl_qp_judge_route(c);
		if (roce && c->gid.entry.gid_type == IBV_GID_TYPE_ROCE_V1 &&
		    !rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_ROCE_V2))
			rdmaez_impl_qp_about_gid(c, 0, RDMAEZ_WHY_GID_ROCE_V1);
		if (ah->grh.hop_limit <= 1 &&
		    rdmaez_gid_class(&ah->grh.dgid) != RDMAEZ_GID_CLASS_LINK_LOCAL)
			rdmaez_impl_qp_advise(c, &hops, ah->grh.hop_limit);
	}
	if (c->mask & IBV_QP_ALT_PATH) {
		rdmaez_impl_qp_judge_grh(c, &c->attr->alt_ah_attr, &c->alt_gid, 4);
		if (roce && !c->error)
			c->error = EINVAL;
		if (roce)
			rdmaez_impl_find_plain(c->diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_APM,
					       "alt_ah_attr");
	}
}

/* The state that the driver starts from: some believe the caller. */
RDMAEZ_IMPL enum ibv_qp_state rdmaez_impl_qp_start(const struct rdmaez_impl_qp_case *c)
{
	if ((c->mask & IBV_QP_CUR_STATE) && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_TRUSTS_CUR))
		return (enum ibv_qp_state)(uint8_t)c->attr->cur_qp_state;
	return c->now.qp_state;
}

/* The mask as the table sees it: without what is dropped for XRC, with the vector's own port. */
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

/* Whether this driver is certain to judge this mask by the table. */
RDMAEZ_IMPL bool rdmaez_impl_qp_table_rules(const struct rdmaez_impl_qp_case *c)
{
	if (c->transport != IBV_TRANSPORT_IB || rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_NO_TABLE))
		return false;
	if (c->mask & IBV_QP_STATE)
		return true;
	/* rxe has looked at the table only when the state is in the mask since Linux 6.4. */
	return !rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_LENIENT) &&
	       !(rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DEPTH_RXE) && c->linux_version >= 604);
}

RDMAEZ_IMPL void rdmaez_impl_qp_judge_mask(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site cur = {"cur_qp_state", RDMAEZ_WHY_CUR_STATE,
						    RDMAEZ_VALUE_NUMBER, 0, 0};
	const enum ibv_qp_state from = rdmaez_impl_qp_start(c);
	const enum ibv_qp_state to =
		c->mask & IBV_QP_STATE ? (enum ibv_qp_state)rdmaez_impl_qp_wanted(c) : from;
	const int said = (uint8_t)c->attr->cur_qp_state, is = (int)c->now.qp_state;
	const bool certain = rdmaez_impl_qp_table_rules(c);
	int mask = rdmaez_impl_qp_table_mask(c);

	rdmaez_impl_qp_mask_bits(c->diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_MASK_DROPPED,
				 c->mask & ~mask, c->mask);
	if ((c->mask & IBV_QP_CUR_STATE) && said != is) {
		if (rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_CUR_EQUAL))
			rdmaez_impl_qp_wrong_within(c, EINVAL, &cur, said, is, is);
		else
			rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_ADVICE, &cur, (uint64_t)said,
						(uint64_t)is, (uint64_t)is);
	}
	if (!rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_RATE_LIMIT) || c->linux_version >= 700)
		mask &= ~IBV_QP_RATE_LIMIT; /* refused earlier, or left to the driver */
	if (rdmaez_impl_qp_mask_fits(rdmaez_impl_qp_rule(c->type, from, to), mask))
		return;
	if (certain && !c->error)
		c->error = EINVAL;
	rdmaez_impl_qp_mask_explain(c->type, from, to, mask,
				    certain ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY, c->diag);
}

/* What the request asks of a driver that cannot do it at all. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_driver(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site iwarp_rts = {"qp_state", RDMAEZ_WHY_IWARP,
							  RDMAEZ_VALUE_NONE, 0, 0};
	static const struct rdmaez_impl_site iwarp = {"attr_mask", RDMAEZ_WHY_IWARP,
						      RDMAEZ_VALUE_NONE, 0, 0};
	static const struct rdmaez_impl_site efa = {"attr_mask", RDMAEZ_WHY_MASK_DRIVER,
						    RDMAEZ_VALUE_ATTR_MASK, 0, 0};
	static const struct rdmaez_impl_site no_sqd = {"qp_state", RDMAEZ_WHY_NO_SQD,
						       RDMAEZ_VALUE_NONE, 0, 0};
	static const struct rdmaez_impl_site final = {"qp_state", RDMAEZ_WHY_RESET_FINAL,
						      RDMAEZ_VALUE_NONE, 0, 0};
	static const struct rdmaez_impl_site draining = {"sq_draining", RDMAEZ_WHY_SQ_DRAINING,
							 RDMAEZ_VALUE_NUMBER, 0, 0};
	static const struct rdmaez_impl_site down = {"port_num", RDMAEZ_WHY_PORT_DOWN,
						     RDMAEZ_VALUE_NUMBER, IBV_PORT_ACTIVE,
						     IBV_PORT_ACTIVE};
	const bool moves = (c->mask & IBV_QP_STATE) != 0;
	const int to = rdmaez_impl_qp_wanted(c);
	const int efa_mask = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY |
			     IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_SQ_PSN |
			     IBV_QP_RNR_RETRY;

	if (c->transport == IBV_TRANSPORT_IWARP && moves && to == IBV_QPS_RTS)
		rdmaez_impl_qp_wrong(c, EINVAL, &iwarp_rts, 0);
	else if (c->transport == IBV_TRANSPORT_IWARP)
		rdmaez_impl_qp_advise(c, &iwarp, 0);
	if (rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_EFA))
		rdmaez_impl_qp_bits(c, EOPNOTSUPP, RDMAEZ_DIAG_ERROR, &efa,
				    (unsigned int)(c->mask & ~efa_mask), (unsigned int)c->mask);
	if (to == IBV_QPS_SQD && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_NO_SQD))
		rdmaez_impl_qp_wrong(c, EINVAL, &no_sqd, 0);
	if (moves && to == IBV_QPS_RESET && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_RESET_FINAL))
		rdmaez_impl_qp_advise(c, &final, 0);
	if (moves && to != IBV_QPS_ERR && rdmaez_impl_qp_start(c) == IBV_QPS_SQD &&
	    c->now.sq_draining && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DRAINS))
		rdmaez_impl_qp_wrong(c, EINVAL, &draining, 1);
	if ((c->mask & IBV_QP_AV) && c->attr->ah_attr.is_global &&
	    c->gid.entry.gid_type == IBV_GID_TYPE_ROCE_V1 &&
	    rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_ROCE_V2))
		rdmaez_impl_qp_about_gid(c, EINVAL, RDMAEZ_WHY_GID_TYPE_REFUSED);
	if (moves && to == IBV_QPS_RTR && c->port_known && c->port.state != IBV_PORT_ACTIVE &&
	    c->port.state != IBV_PORT_ACTIVE_DEFER)
		rdmaez_impl_qp_advise(c, &down, c->port.state);
}

/* The path MTU: the system call carries eight bits of it. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_mtu(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site not_one = {
		"path_mtu", RDMAEZ_WHY_ENUM, RDMAEZ_VALUE_MTU, IBV_MTU_256, IBV_MTU_4096};
	static const struct rdmaez_impl_site bytes = {"path_mtu", RDMAEZ_WHY_MTU_IN_BYTES,
						      RDMAEZ_VALUE_MTU, IBV_MTU_256, IBV_MTU_4096};
	static const struct rdmaez_impl_site above_max = {"path_mtu", RDMAEZ_WHY_MTU_ABOVE_MAX,
							  RDMAEZ_VALUE_NUMBER, IBV_MTU_256, 0};
	static const struct rdmaez_impl_site above_active = {
		"path_mtu", RDMAEZ_WHY_MTU_ABOVE_ACTIVE, RDMAEZ_VALUE_NUMBER, IBV_MTU_256, 0};
	const int given = (int)c->attr->path_mtu, sent = (uint8_t)given;
	const bool is_mtu = rdmaez_mtu_bytes((enum ibv_mtu)sent) != 0;
	const struct rdmaez_impl_site *site = given >= 256 ? &bytes : &not_one;

	if (!is_mtu || sent != given) {
		if ((!is_mtu && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_MTU_ENUM)) ||
		    (c->port_known && sent > (int)c->port.max_mtu &&
		     rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_MTU_MAX)))
			rdmaez_impl_qp_wrong(c, EINVAL, site, given);
		else
			rdmaez_impl_find(c->diag, RDMAEZ_DIAG_LIKELY, site, (uint64_t)given);
	} else if (c->port_known && sent > (int)c->port.max_mtu) {
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_MTU_MAX | RDMAEZ_DRIVER_MTU_ACTIVE,
				      &above_max, sent, c->port.max_mtu);
	} else if (c->port_known && sent > (int)c->port.active_mtu) {
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_MTU_ACTIVE, &above_active, sent,
				      c->port.active_mtu);
	}
}

/* What peers may do. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_access(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_site unknown = {"qp_access_flags", RDMAEZ_WHY_ACCESS_BITS,
							RDMAEZ_VALUE_ACCESS, 0, 0};
	static const struct rdmaez_impl_site type = {"qp_access_flags", RDMAEZ_WHY_ACCESS_TYPE,
						     RDMAEZ_VALUE_ACCESS, 0, 0};
	static const struct rdmaez_impl_site atomic = {"qp_access_flags", RDMAEZ_WHY_ACCESS_ATOMIC,
						       RDMAEZ_VALUE_ACCESS, 0, 0};
	const unsigned int flags = c->attr->qp_access_flags;
	/* What rxe takes since Linux 6.12 at the latest: these, IBV_ACCESS_ON_DEMAND, the optional ones. */
	const unsigned int rxe_known = RDMAEZ_IMPL_QP_ACCESS | (unsigned int)IBV_ACCESS_ON_DEMAND |
				       (unsigned int)IBV_ACCESS_OPTIONAL_RANGE;
	const bool rxe_looks =
		c->linux_version >= 612 && rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DEPTH_RXE);

	if (rxe_looks && (flags & ~rxe_known))
		rdmaez_impl_qp_bits(c, EINVAL, RDMAEZ_DIAG_ERROR, &unknown, flags & ~rxe_known,
				    flags);
	else
		rdmaez_impl_qp_bits(c, 0, RDMAEZ_DIAG_LIKELY, &unknown,
				    flags & ~RDMAEZ_IMPL_QP_ACCESS, flags);
	if (rxe_looks && c->type != IBV_QPT_RC && c->type != IBV_QPT_UC)
		rdmaez_impl_qp_wrong_within(c, EINVAL, &type, flags, 0, flags);
	if (c->type == IBV_QPT_UC)
		rdmaez_impl_qp_bits(c, 0, RDMAEZ_DIAG_ADVICE, &type,
				    flags & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC),
				    flags);
	if (c->device.atomic_cap == IBV_ATOMIC_NONE)
		rdmaez_impl_qp_bits(c, 0, RDMAEZ_DIAG_ADVICE, &atomic,
				    flags & IBV_ACCESS_REMOTE_ATOMIC, flags);
}

/* READs and atomics in flight, in both directions. */
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
	const bool rxe = rdmaez_impl_qp_has_trait(c, RDMAEZ_DRIVER_DEPTH_RXE);
	const int as_requester = rxe ? c->device.max_qp_rd_atom : c->device.max_qp_init_rd_atom;
	const int as_responder = c->device.max_qp_rd_atom;
	const unsigned int access =
		c->mask & IBV_QP_ACCESS_FLAGS ? c->attr->qp_access_flags : c->now.qp_access_flags;

	if (c->mask & IBV_QP_MAX_QP_RD_ATOMIC) {
		if (c->attr->max_rd_atomic > as_requester)
			rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_DEPTHS | RDMAEZ_DRIVER_DEPTH_RXE,
					      &out, c->attr->max_rd_atomic, as_requester);
		if (!c->attr->max_rd_atomic && rxe)
			rdmaez_impl_qp_number(c, 0, &no_out, 0, as_requester);
	}
	if (c->mask & IBV_QP_MAX_DEST_RD_ATOMIC) {
		if (c->attr->max_dest_rd_atomic > as_responder)
			rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_DEPTHS, &in,
					      c->attr->max_dest_rd_atomic, as_responder);
		if (!c->attr->max_dest_rd_atomic &&
		    (access & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)))
			rdmaez_impl_qp_number(c, 0, &no_in, 0, as_responder);
	}
}

/* Of a field: what is said of a value that is too wide, who refuses it, and what is said of a zero. */
struct rdmaez_impl_qp_width {
	int bit;
	enum rdmaez_why wide;
	unsigned int refusing; /* traits */
	enum rdmaez_why zero;  /* RDMAEZ_WHY_NONE: nothing */
};

/* Numbers, timers and counters: too wide, or zero where zero is a surprise. */
RDMAEZ_IMPL void rdmaez_impl_qp_judge_widths(struct rdmaez_impl_qp_case *c)
{
	static const struct rdmaez_impl_qp_width widths[] = {
		{IBV_QP_TIMEOUT, RDMAEZ_WHY_WIDTH, RDMAEZ_DRIVER_TIMEOUT_31,
		 RDMAEZ_WHY_TIMEOUT_ZERO},
		{IBV_QP_MIN_RNR_TIMER, RDMAEZ_WHY_WIDTH, RDMAEZ_DRIVER_STRICT,
		 RDMAEZ_WHY_RNR_TIMER_ZERO},
		{IBV_QP_RETRY_CNT, RDMAEZ_WHY_WIDTH, RDMAEZ_DRIVER_STRICT, RDMAEZ_WHY_RETRY_ZERO},
		{IBV_QP_RNR_RETRY, RDMAEZ_WHY_WIDTH, RDMAEZ_DRIVER_STRICT,
		 RDMAEZ_WHY_RNR_RETRY_ZERO},
		{IBV_QP_RQ_PSN, RDMAEZ_WHY_PSN_WIDTH, 0, RDMAEZ_WHY_NONE},
		{IBV_QP_SQ_PSN, RDMAEZ_WHY_PSN_WIDTH, 0, RDMAEZ_WHY_NONE},
		{IBV_QP_DEST_QPN, RDMAEZ_WHY_WIDTH, 0, RDMAEZ_WHY_NONE},
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
		site.field = field->name;
		site.kind = RDMAEZ_VALUE_NUMBER;
		site.min = 0;
		site.why = widths[i].wide;
		if (value > field->max)
			rdmaez_impl_qp_number(c, widths[i].refusing, &site, value, field->max);
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
	static const struct rdmaez_impl_site empty = {"pkey_index", RDMAEZ_WHY_PKEY_EMPTY,
						      RDMAEZ_VALUE_PKEY, 0, 0};
	static const struct rdmaez_impl_site limited = {"pkey_index", RDMAEZ_WHY_PKEY_LIMITED,
							RDMAEZ_VALUE_PKEY, 0, 0};

	if (!(c->mask & IBV_QP_PKEY_INDEX) || !c->port_known)
		return;
	if (c->attr->pkey_index >= c->port.pkey_tbl_len)
		rdmaez_impl_qp_number(c, RDMAEZ_DRIVER_PKEY, &beyond, c->attr->pkey_index,
				      c->port.pkey_tbl_len - 1);
	else if (c->pkey >= 0 && !(c->pkey & 0x7fff))
		rdmaez_impl_qp_advise(c, &empty, c->pkey);
	else if (c->pkey >= 0 && !(c->pkey & 0x8000))
		rdmaez_impl_qp_advise(c, &limited, c->pkey);
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
	rdmaez_impl_qp_judge_widths(c);
	rdmaez_impl_qp_judge_pkey(c);
	return c->error;
}

RDMAEZ_IMPL_COLD void rdmaez_impl_qp_read_gid(struct ibv_context *context,
					      const struct ibv_ah_attr *ah,
					      struct rdmaez_impl_qp_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (!ah->is_global)
		return;
	gid->error = rdmaez_impl_error(
		ibv_query_gid_ex(context, ah->port_num, ah->grh.sgid_index, &gid->entry, 0));
	if (gid->error)
		memset(&gid->entry, 0, sizeof(gid->entry));
}

/* Asks the device for whatever the request is about; 0, or the errno of ibv_query_qp(). */
RDMAEZ_IMPL_COLD int rdmaez_impl_qp_gather(struct ibv_qp *qp, const struct ibv_qp_attr *attr,
					   int mask, struct rdmaez_diag *diag,
					   struct rdmaez_impl_qp_case *c)
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
	if (ibv_query_device(qp->context, &c->device)) {
		memset(&c->device, 0, sizeof(c->device));
		c->device.phys_port_cnt = UINT8_MAX;
		c->device.max_qp_rd_atom = UINT8_MAX;
		c->device.max_qp_init_rd_atom = UINT8_MAX;
		c->device.atomic_cap = IBV_ATOMIC_HCA;
	}
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
		rdmaez_impl_qp_read_gid(qp->context, &attr->ah_attr, &c->gid);
	if (mask & IBV_QP_ALT_PATH)
		rdmaez_impl_qp_read_gid(qp->context, &attr->alt_ah_attr, &c->alt_gid);
	if ((mask & IBV_QP_PKEY_INDEX) && attr->pkey_index < c->port.pkey_tbl_len)
		c->pkey = rdmaez_impl_port_pkey(qp->context, port_num, attr->pkey_index);
	return 0;
}

/* Notes in the record what the findings are about. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_note(const struct rdmaez_impl_qp_case *c)
{
	struct rdmaez_diag *diag = c->diag;

	if (!diag)
		return;
	diag->driver = c->driver->vendor_id ? c->driver->name : NULL;
	rdmaez_impl_diag_transition(diag, c->type, c->now.qp_state,
				    c->mask & IBV_QP_STATE ? c->attr->qp_state : c->now.qp_state);
	if ((c->mask & IBV_QP_AV) && c->attr->ah_attr.is_global) {
		diag->source = c->gid.entry;
		diag->source.gid_index = c->attr->ah_attr.grh.sgid_index; /* also of an empty one */
		diag->destination = c->attr->ah_attr.grh.dgid;
		if (!if_indextoname(c->gid.entry.ndev_ifindex, diag->netdev))
			diag->netdev[0] = '\0';
	}
}

RDMAEZ_COLD int rdmaez_qp_check(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int attr_mask,
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
		return rdmaez_impl_refuse_verb(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
					       "ibv_query_qp");
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
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_explain(struct ibv_qp *qp, enum ibv_qp_type type,
					     const struct ibv_qp_attr *attr, int attr_mask,
					     int error, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_qp_case c;

	/* Asked here and not by the caller, so that gcc drops all of it where no caller has a record. */
	if (!diag)
		return;
	diag->verb = "ibv_modify_qp";
	diag->error = error;
	if (rdmaez_impl_qp_gather(qp, attr, attr_mask, diag, &c)) {
		rdmaez_impl_explain_errno(diag, "ibv_modify_qp", error);
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_QUERY_REFUSED,
				       "ibv_query_qp");
		return;
	}
	c.type = type;
	rdmaez_impl_qp_note(&c);
	if (rdmaez_impl_qp_judge(&c) != error)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, rdmaez_impl_qp_meaning(&c, error),
				       "ibv_modify_qp");
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
