/* SPDX-License-Identifier: MIT */
/*
 * rdmaez_qp_attr(), for every number as type and state, and all options without `port_attr` and `device_attr`: what it
 * makes has the mask that the rule requires, with what the options add, and nothing else. Each attribute that the mask
 * names is what its option says, or the default. All others are 0. A refusal writes nothing.
 *
 * Options with a time in ns are left out: the proof of times shows which code they become.
 *
 * unwind: 22
 * defect: "timeout" impl/qp.h s/X(IBV_QP_TIMEOUT, timeout, timeout/X(IBV_QP_TIMEOUT, timeout, retry_cnt/
 * defect: "rnr_retry" impl/qp.h s/X(IBV_QP_RNR_RETRY, rnr_retry/X(IBV_QP_RETRY_CNT, rnr_retry/
 * defect: "the mask" impl/qp.h s/move->attr_mask = mask | b->extra/move->attr_mask = mask/
 * defect: "pkey_index" impl/qp.h s/if (left \& f->bit)/if (left \& f->bit || f->bit == IBV_QP_PKEY_INDEX)/
 * defect: "a refusal" impl/qp.h s/\*move = made;/; *move = made;/
 */
#include "copy.h"
#include <rdmaez/qp.h>

/* What an option means that is the default for 0, and 0 for RDMAEZ_ZERO. */
static uint32_t meant(int64_t given, uint32_t otherwise)
{
	return given == 0 ? otherwise : given == RDMAEZ_ZERO ? 0 : (uint32_t)given;
}

/* A depth without a device's limits: 1, or what is asked for, as far as 8 bits go. */
static uint32_t depth(int given)
{
	const uint32_t wanted = meant(given, 1);

	return wanted < 255 ? wanted : 255;
}

/* An attribute is what it is to be if the mask names it, and else 0. */
#define FIELD(bit, field, value) \
	PROVE((uint32_t)attr->field == (move.attr_mask & (bit) ? (uint32_t)(value) : 0), #field)

static void path(const struct ibv_ah_attr *attr, const struct rdmaez_path *from, bool there,
		 int port)
{
	const bool grh = there && attr->is_global;

	PROVE(attr->is_global == 0 || there, "is_global");
	PROVE(attr->dlid == (there ? from->dlid : 0), "dlid");
	PROVE(attr->sl == (there ? from->sl : 0), "sl");
	PROVE(attr->src_path_bits == (there ? from->src_path_bits : 0), "src_path_bits");
	PROVE(attr->static_rate == (there ? from->static_rate : 0), "static_rate");
	PROVE(attr->port_num == (there ? port : 0), "port_num");
	PROVE(attr->grh.hop_limit == (grh ? meant(from->hop_limit, 64) : 0), "hop_limit");
	PROVE(attr->grh.flow_label == (grh ? from->flow_label : 0), "flow_label");
	PROVE(attr->grh.traffic_class == (grh ? meant(from->traffic_class, 0) : 0),
	      "traffic_class");
	PROVE(attr->grh.sgid_index == (grh ? meant(from->sgid_index, 0) : 0), "sgid_index");
	PROVE(attr->grh.dgid.global.subnet_prefix == (grh ? from->dgid.global.subnet_prefix : 0),
	      "dgid");
	PROVE(attr->grh.dgid.global.interface_id == (grh ? from->dgid.global.interface_id : 0),
	      "dgid");
}

int main(void)
{
	const enum ibv_qp_type type = (enum ibv_qp_type)nondet_int();
	const enum ibv_qp_state from = (enum ibv_qp_state)nondet_int(),
				to = (enum ibv_qp_state)nondet_int();
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	const struct ibv_qp_attr *const attr = &move.attr;
	const int mask = move.attr_mask;
	enum ibv_qp_type rules = type;
	struct rdmaez_qp_rule rule;
	int port, got;

	opts.port_attr = NULL;
	opts.device_attr = NULL;
	opts.gid_entry = NULL;
	opts.timeout_ns = opts.alt_timeout_ns = opts.min_rnr_timer_ns = 0;
	move.attr.qp_state = IBV_QPS_UNKNOWN;
	got = rdmaez_qp_attr(type, from, to, &opts, &move, NULL);
	PROVE(got == 0 || got == EINVAL, "the documented errno value");
	if (got) {
		PROVE(move.attr_mask == mask && attr->qp_state == IBV_QPS_UNKNOWN,
		      "a refusal writes nothing");
		return 0;
	}
	if (type == IBV_QPT_DRIVER)
		rules = (int)opts.driver_type ? opts.driver_type : (enum ibv_qp_type)0xf1;
	rule = rdmaez_qp_rule(rules, from, to);
	port = (int)meant(opts.port, 1);
	PROVE(rule.legal, "a transition that exists");
	PROVE(move.attr_mask == (rule.required | IBV_QP_STATE | opts.optional | opts.extra),
	      "the mask");
	PROVE(!(opts.optional & ~(rule.required | rule.optional | IBV_QP_STATE)),
	      "what is optional");
	PROVE(attr->qp_state == to, "qp_state");
	FIELD(IBV_QP_CUR_STATE, cur_qp_state, from);
	FIELD(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify, 1);
	FIELD(IBV_QP_ACCESS_FLAGS, qp_access_flags, meant(opts.access, 0));
	FIELD(IBV_QP_PKEY_INDEX, pkey_index, meant(opts.pkey_index, 0));
	FIELD(IBV_QP_PORT, port_num, port);
	FIELD(IBV_QP_QKEY, qkey, meant(opts.qkey, RDMAEZ_QP_QKEY));
	FIELD(IBV_QP_PATH_MTU, path_mtu, meant(opts.mtu, IBV_MTU_1024));
	FIELD(IBV_QP_DEST_QPN, dest_qp_num, opts.dest_qp_num);
	FIELD(IBV_QP_RQ_PSN, rq_psn, opts.rq_psn);
	FIELD(IBV_QP_SQ_PSN, sq_psn, opts.sq_psn);
	FIELD(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, depth(opts.max_dest_rd_atomic));
	FIELD(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic, depth(opts.max_rd_atomic));
	FIELD(IBV_QP_MIN_RNR_TIMER, min_rnr_timer, meant(opts.min_rnr_timer, 12));
	FIELD(IBV_QP_TIMEOUT, timeout, meant(opts.timeout, 14));
	FIELD(IBV_QP_RETRY_CNT, retry_cnt, meant(opts.retry_cnt, 7));
	FIELD(IBV_QP_RNR_RETRY, rnr_retry, meant(opts.rnr_retry, 7));
	FIELD(IBV_QP_ALT_PATH, alt_port_num, meant(opts.alt_port, (uint32_t)port));
	FIELD(IBV_QP_ALT_PATH, alt_pkey_index, meant(opts.alt_pkey_index, 0));
	FIELD(IBV_QP_ALT_PATH, alt_timeout, meant(opts.alt_timeout, 14));
	FIELD(IBV_QP_PATH_MIG_STATE, path_mig_state, meant(opts.path_mig_state, IBV_MIG_MIGRATED));
	FIELD(IBV_QP_RATE_LIMIT, rate_limit, opts.rate_limit);
	PROVE(attr->sq_draining == 0 && attr->cap.max_send_wr == 0 && attr->cap.max_recv_wr == 0 &&
		      attr->cap.max_send_sge == 0 && attr->cap.max_recv_sge == 0 &&
		      attr->cap.max_inline_data == 0,
	      "what no option fills");
	path(&attr->ah_attr, &opts.path, move.attr_mask & IBV_QP_AV, port);
	path(&attr->alt_ah_attr, &opts.alt, move.attr_mask & IBV_QP_ALT_PATH,
	     (int)meant(opts.alt_port, (uint32_t)port));
	GOAL(type == IBV_QPT_RC && from == IBV_QPS_INIT && to == IBV_QPS_RTR &&
	     attr->ah_attr.is_global);
	GOAL(type == IBV_QPT_RC && from == IBV_QPS_RTR && move.attr_mask & IBV_QP_ALT_PATH);
	GOAL(type == IBV_QPT_UD && to == IBV_QPS_INIT && attr->qkey == 0);
	GOAL(type == IBV_QPT_DRIVER && to == IBV_QPS_RTS);
	return 0;
}
