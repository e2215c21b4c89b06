/* SPDX-License-Identifier: MIT */
/*
 * The attributes of a queue pair, once. Building, checking and the documentation go by these rows; what no
 * row can say is in impl/qp.h (rdmaez_impl_qp_value()) and impl/qp_check.h.
 */
#ifndef RDMAEZ_IMPL_QP_FIELDS_H
#define RDMAEZ_IMPL_QP_FIELDS_H

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_FIELD_H
#include "field.h"
#endif

RDMAEZ_IMPL_BEGIN

/* What a queue pair may allow its peer. FLUSH_GLOBAL and FLUSH_PERSISTENT have names from rdma-core 58. */
#define RDMAEZ_IMPL_QP_ACCESS 0x31fu

/* clang-format off */

/* X(bit, field, option, how it is read, default, least, greatest, rule, unit, source) */
#define RDMAEZ_IMPL_QP_FIELDS(X) \
	X(IBV_QP_ACCESS_FLAGS, qp_access_flags, access, RDMAEZ_IMPL_AS_BITS, 0, 0, RDMAEZ_IMPL_QP_ACCESS, \
	  RDMAEZ_IMPL_FIELD_ACCESS, "IBV_ACCESS_ bits", "verbs.h") \
	X(IBV_QP_PKEY_INDEX, pkey_index, pkey_index, RDMAEZ_IMPL_AS_INT, 0, 0, 65535, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "P_Key index", "verbs.h: 16 bits") \
	X(IBV_QP_PORT, port_num, port, RDMAEZ_IMPL_AS_INT, 1, 1, 255, \
	  RDMAEZ_IMPL_FIELD_PORT, "port", "ibv_device_attr.phys_port_cnt") \
	X(IBV_QP_QKEY, qkey, qkey, RDMAEZ_IMPL_AS_BITS, RDMAEZ_QP_QKEY, 0, UINT32_MAX, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "Q_Key", "IBTA: 32 bits, the highest privileged") \
	X(IBV_QP_PATH_MTU, path_mtu, mtu, RDMAEZ_IMPL_AS_INT, IBV_MTU_1024, IBV_MTU_256, IBV_MTU_4096, \
	  RDMAEZ_IMPL_FIELD_MTU, "enum ibv_mtu", "ibv_port_attr.active_mtu") \
	X(IBV_QP_DEST_QPN, dest_qp_num, dest_qp_num, RDMAEZ_IMPL_AS_UINT, 0, 0, RDMAEZ_QP_NUM_MAX, \
	  RDMAEZ_IMPL_FIELD_PEER, "queue pair number", "IBTA: 24 bits") \
	X(IBV_QP_RQ_PSN, rq_psn, rq_psn, RDMAEZ_IMPL_AS_UINT, 0, 0, RDMAEZ_PSN_MAX, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "the peer's sq_psn", "IBTA: 24 bits") \
	X(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, max_dest_rd_atomic, RDMAEZ_IMPL_AS_INT, 16, 0, 255, \
	  RDMAEZ_IMPL_FIELD_DEPTH, "READs and atomics", "ibv_device_attr.max_qp_rd_atom") \
	X(IBV_QP_MIN_RNR_TIMER, min_rnr_timer, min_rnr_timer, RDMAEZ_IMPL_AS_INT, 12, 0, 31, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "code of rdmaez_rnr_timer_ns()", "IBTA: 5 bits") \
	X(IBV_QP_SQ_PSN, sq_psn, sq_psn, RDMAEZ_IMPL_AS_UINT, 0, 0, RDMAEZ_PSN_MAX, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "PSN of rdmaez_psn_random()", "IBTA: 24 bits") \
	X(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic, max_rd_atomic, RDMAEZ_IMPL_AS_INT, 16, 0, 255, \
	  RDMAEZ_IMPL_FIELD_DEPTH, "READs and atomics", "ibv_device_attr.max_qp_init_rd_atom") \
	X(IBV_QP_TIMEOUT, timeout, timeout, RDMAEZ_IMPL_AS_INT, 14, 0, 31, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "code of rdmaez_timeout_ns()", "IBTA: 5 bits") \
	X(IBV_QP_RETRY_CNT, retry_cnt, retry_cnt, RDMAEZ_IMPL_AS_INT, 7, 0, 7, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "retries", "IBTA: 3 bits") \
	X(IBV_QP_RNR_RETRY, rnr_retry, rnr_retry, RDMAEZ_IMPL_AS_INT, 7, 0, 7, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "retries", "IBTA: 3 bits; 7 is without end") \
	X(IBV_QP_ALT_PATH, alt_port_num, alt_port, RDMAEZ_IMPL_AS_INT, 0, 0, UINT32_MAX, \
	  RDMAEZ_IMPL_FIELD_ALT, "port", "checked with its path") \
	X(IBV_QP_ALT_PATH, alt_pkey_index, alt_pkey_index, RDMAEZ_IMPL_AS_INT, 0, 0, 65535, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "P_Key index", "verbs.h: 16 bits") \
	X(IBV_QP_ALT_PATH, alt_timeout, alt_timeout, RDMAEZ_IMPL_AS_INT, 14, 0, 31, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "code of rdmaez_timeout_ns()", "IBTA: 5 bits") \
	X(IBV_QP_PATH_MIG_STATE, path_mig_state, path_mig_state, RDMAEZ_IMPL_AS_INT, IBV_MIG_MIGRATED, \
	  IBV_MIG_MIGRATED, IBV_MIG_ARMED, RDMAEZ_IMPL_FIELD_ENUM, "enum ibv_mig_state", "verbs.h") \
	X(IBV_QP_RATE_LIMIT, rate_limit, rate_limit, RDMAEZ_IMPL_AS_UINT, 0, 0, UINT32_MAX, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "kbit/s; 0 is no limit", "ibv_packet_pacing_caps")

#define RDMAEZ_IMPL_QP_ROW(bit, field, option, how, otherwise, min, max, rule, unit, source) \
	{#field, bit, otherwise, min, max, offsetof(struct rdmaez_qp_opts, option), \
	 offsetof(struct ibv_qp_attr, field), (uint8_t)sizeof(((struct ibv_qp_attr *)0)->field), how, rule},

/* The same as code, within rdmaez_impl_qp_fill(). */
#define RDMAEZ_IMPL_QP_FILL(bit, field, option, how, otherwise, min, max, rule, unit, source) \
	if (mask & (bit)) { \
		v = rdmaez_impl_field_value(how, (uint32_t)b->opts->option, otherwise, min, max); \
		refused |= rdmaez_impl_qp_put(b, bit, rule, v, &attr->field, sizeof(attr->field)); \
	}

/* clang-format on */

/* The rows; the last one has no name. */
RDMAEZ_IMPL const struct rdmaez_impl_field *rdmaez_impl_qp_fields(void)
{
	static const struct rdmaez_impl_field fields[] = {
		RDMAEZ_IMPL_QP_FIELDS(RDMAEZ_IMPL_QP_ROW){NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0}};

	return fields;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
