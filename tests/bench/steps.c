/* SPDX-License-Identifier: MIT */
/*
 * The attributes of each step of an RC bring-up, built by rdmaez_qp_attr() (ez_*) and by hand, trusting every
 * value (bare_*). Both must leave the same bytes; bench.c sees to that. They lie in a file without their
 * callers, so that nothing run-time reaches them as a constant.
 */
#include "bench.h"

#define BY_HAND static inline __attribute__((always_inline))

/* ---- RESET to INIT ------------------------------------------------------------------------ */

/* All is known when compiling. */
int ez_init(const struct input *in)
{
	struct rdmaez_qp_move move;

	(void)in;
	return rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, NULL, &move, NULL)
		       ? EINVAL
		       : take(&move);
}

int bare_init(const struct input *in)
{
	struct rdmaez_qp_move move = {.attr.qp_state = IBV_QPS_INIT};

	(void)in;
	move.attr.port_num = 1;
	move.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	return take(&move);
}

/* ---- INIT to RTR: the peer comes over a socket -------------------------------------------- */

BY_HAND int fill_rtr(const struct input *in, bool global, enum ibv_mtu mtu)
{
	struct rdmaez_qp_move move = {.attr.qp_state = IBV_QPS_RTR};

	move.attr.path_mtu = mtu;
	move.attr.dest_qp_num = in->dest_qp_num;
	move.attr.rq_psn = in->rq_psn;
	move.attr.max_dest_rd_atomic = 1;
	move.attr.min_rnr_timer = 12;
	move.attr.ah_attr.dlid = in->dlid;
	move.attr.ah_attr.port_num = 1;
	if (global) {
		move.attr.ah_attr.is_global = 1;
		move.attr.ah_attr.grh.dgid = in->dgid;
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

int bare_rtr(const struct input *in)
{
	return fill_rtr(in, has_gid(in), IBV_MTU_1024);
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

int bare_rtr_port(const struct input *in)
{
	return fill_rtr(in, port_is_global(&in->port), in->port.active_mtu);
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

int bare_rts_device(const struct input *in)
{
	const int limit = in->device.max_qp_init_rd_atom;

	return fill_rts(in, limit < 16 ? limit : 16);
}
