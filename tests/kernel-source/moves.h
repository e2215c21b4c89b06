/* SPDX-License-Identifier: MIT */
/*
 * What the two halves of the comparison of moves tell each other, in words that both have: moves.c is a program of
 * libibverbs' headers, and moves/NAME.c is compiled with the kernel's, whose names are others.
 */
#ifndef MOVES_BOTH_H
#define MOVES_BOTH_H

/* What kernel and libibverbs call alike, with the bit of the mask that names it. */
#define MOVES_FIELDS(X)                                \
	X(qp_state, QP_STATE)                          \
	X(cur_qp_state, QP_CUR_STATE)                  \
	X(en_sqd_async_notify, QP_EN_SQD_ASYNC_NOTIFY) \
	X(qp_access_flags, QP_ACCESS_FLAGS)            \
	X(pkey_index, QP_PKEY_INDEX)                   \
	X(port_num, QP_PORT)                           \
	X(qkey, QP_QKEY)                               \
	X(path_mtu, QP_PATH_MTU)                       \
	X(timeout, QP_TIMEOUT)                         \
	X(retry_cnt, QP_RETRY_CNT)                     \
	X(rnr_retry, QP_RNR_RETRY)                     \
	X(rq_psn, QP_RQ_PSN)                           \
	X(max_rd_atomic, QP_MAX_QP_RD_ATOMIC)          \
	X(alt_pkey_index, QP_ALT_PATH)                 \
	X(alt_port_num, QP_ALT_PATH)                   \
	X(alt_timeout, QP_ALT_PATH)                    \
	X(min_rnr_timer, QP_MIN_RNR_TIMER)             \
	X(sq_psn, QP_SQ_PSN)                           \
	X(max_dest_rd_atomic, QP_MAX_DEST_RD_ATOMIC)   \
	X(path_mig_state, QP_PATH_MIG_STATE)           \
	X(dest_qp_num, QP_DEST_QPN)                    \
	X(rate_limit, QP_RATE_LIMIT)

/* A path; the GID at sgid_index is the port's. */
struct moves_path {
	unsigned int sl, static_rate, port_num, dlid, src_path_bits, is_global;
	unsigned int flow_label, sgid_index, hop_limit, traffic_class;
	unsigned int gid_type; /* enum ibv_gid_type, which are ib_uverbs_gid_type's numbers */
	unsigned char dgid[16], sgid[16];
};

struct moves_attr {
#define MOVES_FIELD(name, bit) unsigned int name;
	MOVES_FIELDS(MOVES_FIELD)
#undef MOVES_FIELD
	struct moves_path ah_attr, alt_ah_attr;
};

/* The device, as libibverbs reports it. The limits are different from each other, so that none passes for another. */
struct moves_device {
	int is_ethernet, is_iwarp, ports, gids, pkeys, max_pkeys;
	int max_qp_rd_atom, max_qp_init_rd_atom, active_mtu, mtu_bytes;
};

/* The mark of types that only the driver has; else it is an enum ibv_qp_type, whose numbers are the kernel's. */
enum {
	MOVES_SRD = 0x1001,
	MOVES_DCI,
	MOVES_DCT,
	MOVES_UNDERLAY
};

/* A queue pair of the driver in RESET, never freed. */
void *moves_qp(const struct moves_device *device, int type);

/* The driver's own modify_qp: 0, or a positive errno value. The mask is that of both. */
int moves_modify(void *qp, const struct moves_attr *attr, int mask);

/* The state that the driver keeps. */
int moves_state(void *qp);

#endif
