/* SPDX-License-Identifier: MIT */
/*
 * A whole bring-up of an RC queue pair, RESET to RTS, by hand, trusting every value, where port and device have
 * been asked before and the GID index is given. bringup_ez.c makes the same verbs calls by rdmaez.
 */
#include "bench.h"

static uint8_t depth(int limit)
{
	return (uint8_t)(limit < 16 ? limit : 16);
}

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};

	attr.port_num = 1;
	attr.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int to_rtr(struct ibv_qp *qp, const struct input *in)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	attr.path_mtu = in->port.active_mtu;
	attr.dest_qp_num = in->dest_qp_num;
	attr.rq_psn = in->rq_psn;
	attr.max_dest_rd_atomic = depth(in->device.max_qp_rd_atom);
	attr.min_rnr_timer = 12;
	attr.ah_attr.dlid = in->dlid;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.dgid = in->dgid;
	attr.ah_attr.grh.sgid_index = (uint8_t)in->sgid_index;
	attr.ah_attr.grh.hop_limit = 64;
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

static int to_rts(struct ibv_qp *qp, const struct input *in)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};

	attr.sq_psn = in->sq_psn;
	attr.max_rd_atomic = depth(in->device.max_qp_init_rd_atom);
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

int bare_up_known(struct ibv_qp *qp, const struct input *in)
{
	int error = to_init(qp);

	if (!error)
		error = to_rtr(qp, in);
	if (!error)
		error = to_rts(qp, in);
	return error;
}
