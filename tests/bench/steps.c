/* SPDX-License-Identifier: MIT */
/*
 * The attributes of each step of an RC bring-up, built three ways.
 *
 *	ez_*       by rdmaez_qp_attr()
 *	checked_*  by hand, with the range checks that rdmaez makes of what is known at run time only
 *	bare_*     by hand, trusting every value
 *
 * The three take the same run-time data and must leave the same bytes; bench.c sees to that. They lie
 * in a file without their callers, so that nothing run-time reaches them as a constant. By hand means
 * well done by hand: everything is checked first and then written in place, once.
 */
#include "bench.h"

/* Written into both hand-made versions of a function, so that neither calls the other. */
#define BY_HAND static inline __attribute__((always_inline))

/* ---- RESET to INIT ------------------------------------------------------------------------ */

BY_HAND int fill_init(int port_num)
{
	struct rdmaez_qp_move move = {.attr.qp_state = IBV_QPS_INIT};

	move.attr.port_num = (uint8_t)port_num;
	move.attr.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	move.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	return take(&move);
}

/* All is known when compiling. */
int ez_init(const struct input *in)
{
	struct rdmaez_qp_move move;

	(void)in;
	return rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, NULL, &move, NULL)
		       ? EINVAL
		       : take(&move);
}

int checked_init(const struct input *in)
{
	(void)in;
	return fill_init(1);
}

int bare_init(const struct input *in)
{
	(void)in;
	return fill_init(1);
}

/* The port comes from the command line. */
int ez_init_args(const struct input *in)
{
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_qp_move move;

	opts.port = in->port_num;
	return rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, &opts, &move, NULL)
		       ? EINVAL
		       : take(&move);
}

int checked_init_args(const struct input *in)
{
	if (in->port_num < 1 || in->port_num > 255)
		return EINVAL;
	return fill_init(in->port_num);
}

int bare_init_args(const struct input *in)
{
	return fill_init(in->port_num);
}

/* ---- INIT to RTR: the peer comes over a socket -------------------------------------------- */

BY_HAND int fill_rtr(const struct input *in, int port_num, int row, bool global, enum ibv_mtu mtu)
{
	struct rdmaez_qp_move move = {.attr.qp_state = IBV_QPS_RTR};

	move.attr.path_mtu = mtu;
	move.attr.dest_qp_num = in->dest_qp_num;
	move.attr.rq_psn = in->rq_psn;
	move.attr.max_dest_rd_atomic = 1;
	move.attr.min_rnr_timer = 12;
	move.attr.ah_attr.dlid = in->dlid;
	move.attr.ah_attr.port_num = (uint8_t)port_num;
	if (global) {
		move.attr.ah_attr.is_global = 1;
		move.attr.ah_attr.grh.dgid = in->dgid;
		move.attr.ah_attr.grh.sgid_index = (uint8_t)row;
		move.attr.ah_attr.grh.hop_limit = 64;
	}
	move.attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return take(&move);
}

BY_HAND bool has_gid(const struct input *in)
{
	return in->dgid.global.subnet_prefix | in->dgid.global.interface_id;
}

BY_HAND bool peer_is_bad(const struct input *in, uint32_t least_qp_num)
{
	return in->dest_qp_num < least_qp_num || in->dest_qp_num > 0xffffff ||
	       in->rq_psn > 0xffffff;
}

BY_HAND bool port_is_global(const struct ibv_port_attr *port)
{
	return port->link_layer == IBV_LINK_LAYER_ETHERNET || port->flags & IBV_QPF_GRH_REQUIRED;
}

BY_HAND void set_peer(const struct input *in, struct rdmaez_qp_opts *opts)
{
	opts->dest_qp_num = in->dest_qp_num;
	opts->rq_psn = in->rq_psn;
	opts->path.dgid = in->dgid;
	opts->path.dlid = in->dlid;
}

/* Nothing is known of the port: where the peer has a GID there is a GRH. */
int ez_rtr(const struct input *in)
{
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_qp_move move;

	set_peer(in, &opts);
	return rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, NULL)
		       ? EINVAL
		       : take(&move);
}

int checked_rtr(const struct input *in)
{
	const bool global = has_gid(in);

	if (peer_is_bad(in, 0))
		return EINVAL;
	return fill_rtr(in, 1, 0, global, IBV_MTU_1024);
}

int bare_rtr(const struct input *in)
{
	return fill_rtr(in, 1, 0, has_gid(in), IBV_MTU_1024);
}

/* The port has been asked: it says whether there is a GRH, how long the GID table is, and its MTU. */
int ez_rtr_port(const struct input *in)
{
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_qp_move move;

	set_peer(in, &opts);
	opts.port_attr = &in->port;
	return rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, NULL)
		       ? EINVAL
		       : take(&move);
}

BY_HAND bool port_forbids(const struct input *in, bool global, int row)
{
	const int rows = in->port.gid_tbl_len < 256 ? in->port.gid_tbl_len : 256;

	return global ? !has_gid(in) || row < 0 || row >= rows : !in->dlid;
}

BY_HAND enum ibv_mtu port_mtu(const struct ibv_port_attr *port)
{
	const bool known = port->active_mtu >= IBV_MTU_256 && port->active_mtu <= IBV_MTU_4096;

	return known ? port->active_mtu : IBV_MTU_1024;
}

int checked_rtr_port(const struct input *in)
{
	const bool global = port_is_global(&in->port);

	if (peer_is_bad(in, 1) || port_forbids(in, global, 0))
		return EINVAL;
	return fill_rtr(in, 1, 0, global, port_mtu(&in->port));
}

int bare_rtr_port(const struct input *in)
{
	return fill_rtr(in, 1, 0, port_is_global(&in->port), in->port.active_mtu);
}

/* The same, and port and GID row come from the command line. */
int ez_rtr_args(const struct input *in)
{
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_qp_move move;

	set_peer(in, &opts);
	opts.port = in->port_num;
	opts.path.sgid_index = in->sgid_index;
	opts.port_attr = &in->port;
	return rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, NULL)
		       ? EINVAL
		       : take(&move);
}

int checked_rtr_args(const struct input *in)
{
	const bool global = port_is_global(&in->port);

	if (peer_is_bad(in, 1) || in->port_num < 1 || in->port_num > 255 ||
	    port_forbids(in, global, in->sgid_index))
		return EINVAL;
	return fill_rtr(in, in->port_num, in->sgid_index, global, port_mtu(&in->port));
}

int bare_rtr_args(const struct input *in)
{
	return fill_rtr(in, in->port_num, in->sgid_index, port_is_global(&in->port),
			in->port.active_mtu);
}

/* ---- RTR to RTS --------------------------------------------------------------------------- */

BY_HAND int fill_rts(const struct input *in, int depth)
{
	struct rdmaez_qp_move move = {.attr.qp_state = IBV_QPS_RTS};

	move.attr.sq_psn = in->sq_psn;
	move.attr.max_rd_atomic = (uint8_t)depth;
	move.attr.timeout = 14;
	move.attr.retry_cnt = 7;
	move.attr.rnr_retry = 7;
	move.attr_mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
	return take(&move);
}

int ez_rts(const struct input *in)
{
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_qp_move move;

	opts.sq_psn = in->sq_psn;
	return rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, &opts, &move, NULL)
		       ? EINVAL
		       : take(&move);
}

int checked_rts(const struct input *in)
{
	if (in->sq_psn > 0xffffff)
		return EINVAL;
	return fill_rts(in, 1);
}

int bare_rts(const struct input *in)
{
	return fill_rts(in, 1);
}

/* The device has been asked: the depth is as much of 16 as it can. */
int ez_rts_device(const struct input *in)
{
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_qp_move move;

	opts.sq_psn = in->sq_psn;
	opts.device_attr = &in->device;
	return rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, &opts, &move, NULL)
		       ? EINVAL
		       : take(&move);
}

int checked_rts_device(const struct input *in)
{
	const int limit = in->device.max_qp_init_rd_atom;

	if (in->sq_psn > 0xffffff)
		return EINVAL;
	/* A negative limit is nonsense from the provider: cut nothing, ask for the one in use. */
	return fill_rts(in, limit < 0 ? 1 : limit < 16 ? limit : 16);
}

int bare_rts_device(const struct input *in)
{
	const int limit = in->device.max_qp_init_rd_atom;

	return fill_rts(in, limit < 16 ? limit : 16);
}
