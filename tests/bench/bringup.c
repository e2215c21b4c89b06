/* SPDX-License-Identifier: MIT */
/*
 * A whole bring-up of an RC queue pair, RESET to RTS, by hand: checked_*() with the range checks that
 * rdmaez makes of what is known at run time only, bare_*() trusting every value. bringup_ez.c makes the
 * same verbs calls by rdmaez.
 *
 * In *_known the port has been asked before and the GID row is given. In *_asking the bring-up asks the
 * port, and row after row of its GID table until one is as good as can be: RoCE v2, the peer's family.
 */
#include "bench.h"

#define BY_HAND static inline __attribute__((always_inline))

/* What a bring-up uses of a port. */
struct way {
	const struct ibv_port_attr *port;
	int row;
};

BY_HAND int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

BY_HAND bool is_global(const struct ibv_port_attr *port)
{
	return port->link_layer == IBV_LINK_LAYER_ETHERNET || port->flags & IBV_QPF_GRH_REQUIRED;
}

BY_HAND bool rtr_is_right(const struct input *in, const struct way *way)
{
	const bool has_gid = in->dgid.global.subnet_prefix | in->dgid.global.interface_id;

	if (!in->dest_qp_num || in->dest_qp_num > 0xffffff || in->rq_psn > 0xffffff)
		return false;
	if (!is_global(way->port))
		return in->dlid;
	return has_gid && way->row >= 0 && way->row < 256 && way->row < way->port->gid_tbl_len;
}

BY_HAND enum ibv_mtu checked_mtu(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? mtu : IBV_MTU_1024;
}

BY_HAND int to_rtr(struct ibv_qp *qp, const struct input *in, const struct way *way, bool check)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	if (check && !rtr_is_right(in, way))
		return EINVAL;
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = check ? checked_mtu(way->port->active_mtu) : way->port->active_mtu;
	attr.dest_qp_num = in->dest_qp_num;
	attr.rq_psn = in->rq_psn;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr.dlid = in->dlid;
	attr.ah_attr.port_num = 1;
	if (is_global(way->port)) {
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = in->dgid;
		attr.ah_attr.grh.sgid_index = (uint8_t)way->row;
		attr.ah_attr.grh.hop_limit = 64;
	}
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

BY_HAND int to_rts(struct ibv_qp *qp, const struct input *in, bool check)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	if (check && in->sq_psn > 0xffffff)
		return EINVAL;
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = in->sq_psn;
	attr.max_rd_atomic = 1;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

BY_HAND bool is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	return memcmp(gid->raw, mapped, sizeof(mapped)) == 0;
}

BY_HAND int ask(struct ibv_qp *qp, const struct input *in, struct ibv_port_attr *port,
		struct way *way)
{
	int error = ibv_query_port(qp->context, 1, port);

	way->port = port;
	way->row = 0;
	if (error || !is_global(port))
		return error;
	for (int i = 0; i < port->gid_tbl_len && i < 256; i++) {
		struct ibv_gid_entry row;

		error = ibv_query_gid_ex(qp->context, 1, (uint32_t)i, &row, 0);
		if (error == ENODATA)
			continue;
		if (error)
			return error;
		if (row.gid_type == IBV_GID_TYPE_ROCE_V2 && row.ndev_ifindex &&
		    is_ipv4(&row.gid) == is_ipv4(&in->dgid)) {
			way->row = i;
			return 0;
		}
	}
	return EADDRNOTAVAIL;
}

BY_HAND int known(struct ibv_qp *qp, const struct input *in, bool check)
{
	const struct way way = {&in->port, in->sgid_index};
	int error = to_init(qp);

	if (!error)
		error = to_rtr(qp, in, &way, check);
	if (!error)
		error = to_rts(qp, in, check);
	return error;
}

BY_HAND int asking(struct ibv_qp *qp, const struct input *in, bool check)
{
	struct ibv_port_attr port;
	struct way way;
	int error = to_init(qp);

	if (!error)
		error = ask(qp, in, &port, &way);
	if (!error)
		error = to_rtr(qp, in, &way, check);
	if (!error)
		error = to_rts(qp, in, check);
	return error;
}

int checked_up_known(struct ibv_qp *qp, const struct input *in)
{
	return known(qp, in, true);
}

int checked_up_asking(struct ibv_qp *qp, const struct input *in)
{
	return asking(qp, in, true);
}

int bare_up_known(struct ibv_qp *qp, const struct input *in)
{
	return known(qp, in, false);
}

int bare_up_asking(struct ibv_qp *qp, const struct input *in)
{
	return asking(qp, in, false);
}
