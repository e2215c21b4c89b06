/* SPDX-License-Identifier: MIT */
/* A queue pair's driver: which moves and values it takes, and what it answers. */
#include "fake_internal.h"

/* ---- The transition table ----------------------------------------------------------------- */

#define FAKE_RULE(from, to, type, required, optional) \
	[IBV_QPS_##from][IBV_QPS_##to][IBV_QPT_##type] = {true, required, optional},
static const struct fake_rule table[7][7][IBV_QPT_XRC_RECV + 1] = {
#include "qp_table.h"
};

/* The rules of types that the kernel's table does not have. */
struct own_rule {
	enum ibv_qp_state from, to;
	struct fake_rule rule;
};

/* modify_dci_qp_is_ok() in hw/mlx5/qp.c; RESET and ERR are open to all but RESET itself. */
static const struct own_rule dci_rules[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, {true, IBV_QP_PKEY_INDEX | IBV_QP_PORT, 0}},
	{IBV_QPS_INIT, IBV_QPS_INIT, {true, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT}},
	{IBV_QPS_INIT, IBV_QPS_RTR, {true, IBV_QP_PATH_MTU, IBV_QP_PKEY_INDEX | IBV_QP_AV}},
	{IBV_QPS_RTR,
	 IBV_QPS_RTS,
	 {true,
	  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
		  IBV_QP_SQ_PSN,
	  IBV_QP_MIN_RNR_TIMER}},
	{IBV_QPS_RTS, IBV_QPS_RTS, {true, 0, IBV_QP_MIN_RNR_TIMER}},
};

/* mlx5_ib_modify_dct() in hw/mlx5/qp.c */
static const struct own_rule dct_rules[] = {
	{IBV_QPS_RESET,
	 IBV_QPS_INIT,
	 {true, IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT, 0}},
	{IBV_QPS_INIT, IBV_QPS_RTR, {true, IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU, 0}},
};

static struct fake_rule own_rule(const struct own_rule *rules, size_t count, enum ibv_qp_state from,
				 enum ibv_qp_state to)
{
	const struct fake_rule illegal = {false, 0, 0};

	for (size_t i = 0; i < count; i++)
		if (rules[i].from == from && rules[i].to == to)
			return rules[i].rule;
	return illegal;
}

/* srd_qp_state_table in hw/efa/efa_verbs.c: that of UD, which counts RNR retries. */
static struct fake_rule srd_rule(enum ibv_qp_state from, enum ibv_qp_state to)
{
	struct fake_rule rule = fake_qp_rule(IBV_QPT_UD, from, to);

	if (from == IBV_QPS_RTR && to == IBV_QPS_RTS)
		rule.optional |= IBV_QP_RNR_RETRY;
	return rule;
}

/* mlx5_ib_modify_qp() takes nothing but states here, and leaves these to optab of __mlx5_ib_modify_qp(). */
static struct fake_rule underlay_rule(enum ibv_qp_state from, enum ibv_qp_state to)
{
	struct fake_rule rule = fake_qp_rule(IBV_QPT_UD, from, to);

	if (from == IBV_QPS_RESET && to == IBV_QPS_ERR)
		rule.legal = true;
	if (to == IBV_QPS_SQD)
		rule.legal = false;
	rule.required = 0;
	rule.optional = rule.legal ? IBV_QP_CUR_STATE : 0;
	return rule;
}

struct fake_rule fake_driver_rule(enum fake_driver_type type, enum ibv_qp_state from,
				  enum ibv_qp_state to)
{
	const struct fake_rule always = {true, 0, 0};
	const struct fake_rule illegal = {false, 0, 0};

	switch (type) {
	case FAKE_SRD:
		return srd_rule(from, to);
	case FAKE_UNDERLAY:
		return underlay_rule(from, to);
	case FAKE_DCI:
		if (to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET))
			return always;
		return own_rule(dci_rules, sizeof(dci_rules) / sizeof(dci_rules[0]), from, to);
	case FAKE_DCT:
		return own_rule(dct_rules, sizeof(dct_rules) / sizeof(dct_rules[0]), from, to);
	default:
		return illegal;
	}
}

struct fake_rule fake_qp_rule(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to)
{
	const struct fake_rule illegal = {false, 0, 0};

	if (type == IBV_QPT_DRIVER)
		return srd_rule(from, to);
	if ((unsigned int)type > IBV_QPT_XRC_RECV || (unsigned int)from > IBV_QPS_ERR ||
	    (unsigned int)to > IBV_QPS_ERR)
		return illegal;
	return table[from][to][type];
}

/* ---- Moves -------------------------------------------------------------------------------- */

/* Which state the driver starts from: its own, or the one that the caller tells. */
static int state_before(const struct fake_device *dev, const struct fake_qp *qp,
			const struct ibv_qp_attr *attr, int mask, enum ibv_qp_state *from)
{
	const enum ibv_qp_state own = qp->attr.qp_state;

	*from = own;
	if (!(mask & IBV_QP_CUR_STATE) || dev->quirks & FAKE_CUR_STATE_IGNORED)
		return 0;
	if (dev->quirks & FAKE_CUR_STATE_EQUAL && attr->cur_qp_state != own)
		return EINVAL;
	/* ionic_qp_cur_state_is_ok() */
	if (dev->habits.cur_state_or_error && attr->cur_qp_state != own &&
	    attr->cur_qp_state != IBV_QPS_ERR &&
	    !(attr->cur_qp_state == IBV_QPS_SQE && (own == IBV_QPS_RTS || own == IBV_QPS_SQD)))
		return EINVAL;
	*from = attr->cur_qp_state;
	return 0;
}

/* IBV_QP_RATE_LIMIT where it is not in the table, from Linux 7 on: 0 if it may be there. */
static int check_rate(const struct fake_device *dev, const struct fake_qp *qp,
		      enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	const bool reliable = qp->verbs.qp_type == IBV_QPT_RC;

	/* bnxt_re_modify_qp() */
	if (dev->habits.moves != FAKE_MOVES_BY_TABLE && !(mask & IBV_QP_STATE))
		return reliable ? 0 : EOPNOTSUPP;
	/* ionic_is_modify_ok(), bnxt_re_is_modify_ok() */
	return reliable && ((from == IBV_QPS_INIT && to == IBV_QPS_RTR) ||
			    (from == IBV_QPS_RTR && to == IBV_QPS_RTS) ||
			    (from == IBV_QPS_RTS && to == IBV_QPS_RTS))
		       ? 0
		       : EINVAL;
}

/* Whether mlx5 keeps a rate for later and looks at nothing else. */
static bool keeps_rate(const struct fake_device *dev, enum ibv_qp_state from, int mask)
{
	return dev->habits.rate == FAKE_RATE_RAW && mask == IBV_QP_RATE_LIMIT &&
	       from != IBV_QPS_RTS;
}

/* mlx5_ib_modify_qp(): the rate comes after all values, and from RESET to RESET nothing does. */
static int check_rate_last(const struct fake_device *dev, const struct fake_qp *qp,
			   enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	if (dev->habits.rate != FAKE_RATE_RAW || !(mask & IBV_QP_RATE_LIMIT) ||
	    (from == IBV_QPS_RESET && to == IBV_QPS_RESET && !keeps_rate(dev, from, mask)))
		return 0;
	return qp->verbs.qp_type == IBV_QPT_RAW_PACKET ? 0 : EOPNOTSUPP;
}

static int check_mask(const struct fake_qp *qp, struct fake_rule rule, int mask)
{
	if (!rule.legal || (mask & rule.required) != rule.required ||
	    mask & ~(rule.required | rule.optional | IBV_QP_STATE))
		return EINVAL;
	if ((qp->type == FAKE_DCI || qp->type == FAKE_DCT) && !(mask & IBV_QP_STATE))
		return EINVAL;
	return 0;
}

static int check_move(const struct fake_device *dev, const struct fake_qp *qp,
		      enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	const int srd = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY |
			IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_SQ_PSN |
			IBV_QP_RNR_RETRY;
	const int rate = dev->habits.rate && !qp->type ? mask & IBV_QP_RATE_LIMIT : 0;
	int err = 0;

	if (mask & dev->habits.modify_refused || (qp->type == FAKE_SRD && mask & ~srd))
		return EOPNOTSUPP;
	if (keeps_rate(dev, from, mask))
		return 0;
	if (dev->habits.moves == FAKE_MOVES_BY_TABLE || mask & IBV_QP_STATE)
		err = check_mask(qp,
				 qp->type ? fake_driver_rule(qp->type, from, to)
					  : fake_qp_rule(qp->verbs.qp_type, from, to),
				 mask & ~rate);
	if (!err && rate && dev->habits.rate == FAKE_RATE_RC)
		err = check_rate(dev, qp, from, to, mask);
	if (!err && dev->habits.sqd_holds && mask & IBV_QP_STATE && qp->attr.sq_draining &&
	    to != IBV_QPS_ERR)
		err = EINVAL;
	if (!err &&
	    ((dev->quirks & FAKE_NO_SQD && to == IBV_QPS_SQD) || (qp->spent && to == IBV_QPS_INIT)))
		err = EINVAL;
	return err;
}

/* ---- Values ------------------------------------------------------------------------------- */

static int check_mtu(const struct fake_device *dev, const struct fake_port *port, enum ibv_mtu mtu)
{
	const struct fake_habits *habits = &dev->habits;
	const enum ibv_mtu least = habits->least_mtu ? habits->least_mtu : IBV_MTU_256;
	const enum ibv_mtu most = habits->most_mtu ? habits->most_mtu : IBV_MTU_4096;

	if (!habits->mtu_unchecked &&
	    ((unsigned int)mtu < (unsigned int)least || (unsigned int)mtu > (unsigned int)most))
		return EINVAL;
	/* Where nothing else looks, what is no MTU at all has no length that would be too great. */
	if (dev->quirks & FAKE_MTU_UP_TO_ACTIVE && mtu > port->attr.active_mtu &&
	    !(habits->mtu_unchecked && mtu > IBV_MTU_4096))
		return EINVAL;
	if (dev->quirks & FAKE_MTU_UP_TO_MAX && mtu > port->attr.max_mtu)
		return EINVAL;
	return 0;
}

/* The attributes whose range the driver looks at: five bits of a timer, three of a count. */
static int check_ranges(int strict, const struct ibv_qp_attr *attr, int mask)
{
	mask &= strict;
	if ((mask & IBV_QP_TIMEOUT && attr->timeout > 31) ||
	    (mask & IBV_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31) ||
	    (mask & IBV_QP_RETRY_CNT && attr->retry_cnt > 7) ||
	    (mask & IBV_QP_RNR_RETRY && attr->rnr_retry > 7))
		return EINVAL;
	return 0;
}

static bool is_too_deep(enum fake_limit which, int depth, int own, int other)
{
	return which != FAKE_LIMIT_NONE && depth > (which == FAKE_LIMIT_OTHER ? other : own);
}

static bool has_rights(const struct fake_qp *qp)
{
	return qp->verbs.qp_type == IBV_QPT_RC || qp->verbs.qp_type == IBV_QPT_UC;
}

static int check_values(const struct fake_device *dev, const struct fake_qp *qp,
			const struct ibv_qp_attr *attr, int mask)
{
	const int all = IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
	const struct ibv_device_attr *limit = &dev->attr.orig_attr;
	const struct fake_habits *habits = &dev->habits;
	/* Before INIT there is none yet; drivers that look at values then have one port. */
	uint32_t port_num = mask & IBV_QP_PORT ? attr->port_num : qp->port ? qp->port : 1;
	const struct fake_port *port = &dev->port[port_num];
	const struct ibv_ah_attr *ah = &attr->ah_attr;

	if (mask & IBV_QP_PKEY_INDEX && habits->pkey == FAKE_PKEY_FIRST && attr->pkey_index)
		return EOPNOTSUPP;
	if (mask & IBV_QP_PKEY_INDEX && habits->pkey == FAKE_PKEY_TABLE &&
	    attr->pkey_index >= port->attr.pkey_tbl_len)
		return EINVAL;
	if (mask & IBV_QP_PKEY_INDEX && habits->pkey == FAKE_PKEY_DEVICE &&
	    attr->pkey_index >= limit->max_pkeys)
		return EINVAL;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC &&
	    is_too_deep(habits->depth, attr->max_rd_atomic,
			qp->type == FAKE_DCI ? habits->dci_depth : limit->max_qp_init_rd_atom,
			limit->max_qp_rd_atom))
		return EINVAL;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC &&
	    is_too_deep(habits->dest_depth, attr->max_dest_rd_atomic, limit->max_qp_rd_atom,
			limit->max_qp_init_rd_atom))
		return EINVAL;
	/* bnxt_re_modify_qp() looks at it on the way to RTR only. */
	if (mask & IBV_QP_PATH_MTU &&
	    !(dev->quirks & FAKE_MTU_UP_TO_ACTIVE && habits->moves == FAKE_MOVES_WITH_STATE &&
	      !(mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR)) &&
	    check_mtu(dev, port, attr->path_mtu))
		return EINVAL;
	if (mask & IBV_QP_AV && dev->quirks & FAKE_NO_ROCE_V1 && ah->is_global &&
	    dev->port[ah->port_num].gid[ah->grh.sgid_index].type == IBV_GID_TYPE_ROCE_V1)
		return EINVAL;
	if (mask & IBV_QP_ACCESS_FLAGS && habits->access &&
	    (attr->qp_access_flags & ~habits->access || !has_rights(qp)))
		return EINVAL;
	return check_ranges(dev->quirks & FAKE_STRICT_RANGES ? all : habits->strict, attr, mask);
}

/* ---- Modifying ---------------------------------------------------------------------------- */

static void reset(struct fake_qp *qp, uint32_t quirks)
{
	struct ibv_qp_cap cap = qp->attr.cap;
	uint8_t port_num = qp->attr.port_num;

	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->attr.cap = cap;
	qp->attr.port_num = port_num; /* survives, as in rxe */
	qp->was_rts = false;
	fake_work_forget(qp);
	qp->spent = quirks & FAKE_RESET_IS_FINAL;
	if (quirks & FAKE_RESET_PURGES_CQ) {
		fake_cq_purge(qp->verbs.send_cq, qp->verbs.qp_num);
		fake_cq_purge(qp->verbs.recv_cq, qp->verbs.qp_num);
	}
}

static void apply(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask)
{
#define APPLY(bit, field)                        \
	do {                                     \
		if (mask & (bit))                \
			to->field = from->field; \
	} while (0)

	APPLY(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	APPLY(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	APPLY(IBV_QP_PKEY_INDEX, pkey_index);
	APPLY(IBV_QP_PORT, port_num);
	APPLY(IBV_QP_QKEY, qkey);
	APPLY(IBV_QP_AV, ah_attr);
	APPLY(IBV_QP_PATH_MTU, path_mtu);
	APPLY(IBV_QP_TIMEOUT, timeout);
	APPLY(IBV_QP_RETRY_CNT, retry_cnt);
	APPLY(IBV_QP_RNR_RETRY, rnr_retry);
	APPLY(IBV_QP_RQ_PSN, rq_psn);
	APPLY(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	APPLY(IBV_QP_ALT_PATH, alt_ah_attr);
	APPLY(IBV_QP_ALT_PATH, alt_pkey_index);
	APPLY(IBV_QP_ALT_PATH, alt_port_num);
	APPLY(IBV_QP_ALT_PATH, alt_timeout);
	APPLY(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	APPLY(IBV_QP_SQ_PSN, sq_psn);
	APPLY(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	APPLY(IBV_QP_PATH_MIG_STATE, path_mig_state);
	APPLY(IBV_QP_DEST_QPN, dest_qp_num);
	APPLY(IBV_QP_RATE_LIMIT, rate_limit);
#undef APPLY
}

/* What becomes of a connection's end. RTS takes a socket, which only rdma_cm has. */
struct iwarp_move {
	enum ibv_qp_state from, to, after;
	int error;
};

/* siw_qp_modify(), erdma_modify_qp_internal(); what is not told here has no effect, and succeeds. */
static const struct iwarp_move siw_moves[] = {
	{IBV_QPS_INIT, IBV_QPS_RTS, IBV_QPS_INIT, EINVAL},
	{IBV_QPS_INIT, IBV_QPS_ERR, IBV_QPS_ERR, 0},
	{IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQD, 0},
	{IBV_QPS_RTS, IBV_QPS_SQE, IBV_QPS_SQE, 0},
	{IBV_QPS_RTS, IBV_QPS_ERR, IBV_QPS_ERR, 0},
	{IBV_QPS_SQD, IBV_QPS_INIT, IBV_QPS_INIT, 0},
	{IBV_QPS_SQD, IBV_QPS_ERR, IBV_QPS_ERR, 0},
	{IBV_QPS_SQE, IBV_QPS_ERR, IBV_QPS_ERR, 0},
};

/* c4iw_ib_modify_qp(), which drops RTR, and c4iw_modify_qp(); what is not told here is EINVAL. */
static const struct iwarp_move cxgb4_moves[] = {
	{IBV_QPS_INIT, IBV_QPS_INIT, IBV_QPS_INIT, 0}, {IBV_QPS_INIT, IBV_QPS_ERR, IBV_QPS_ERR, 0},
	{IBV_QPS_RTS, IBV_QPS_RTS, IBV_QPS_RTS, 0},    {IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQD, 0},
	{IBV_QPS_RTS, IBV_QPS_SQE, IBV_QPS_SQE, 0},    {IBV_QPS_RTS, IBV_QPS_ERR, IBV_QPS_ERR, 0},
	{IBV_QPS_SQD, IBV_QPS_SQD, IBV_QPS_SQD, 0},    {IBV_QPS_SQE, IBV_QPS_SQE, IBV_QPS_SQE, 0},
	{IBV_QPS_ERR, IBV_QPS_ERR, IBV_QPS_ERR, 0},    {IBV_QPS_ERR, IBV_QPS_INIT, IBV_QPS_INIT, 0},
};

/* irdma_modify_qp(); what is not told here is EINVAL. After RESET it is in error for good. */
static const struct iwarp_move irdma_moves[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_INIT, 0},
	{IBV_QPS_RESET, IBV_QPS_RTR, IBV_QPS_RTR, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, IBV_QPS_INIT, 0},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTR, 0},
	{IBV_QPS_RTR, IBV_QPS_INIT, IBV_QPS_INIT, 0},
	{IBV_QPS_RTR, IBV_QPS_RTR, IBV_QPS_RTR, 0},
	{IBV_QPS_RESET, IBV_QPS_SQD, IBV_QPS_RESET, 0},
	{IBV_QPS_INIT, IBV_QPS_SQD, IBV_QPS_INIT, 0},
	{IBV_QPS_RTR, IBV_QPS_SQD, IBV_QPS_RTR, 0},
	{IBV_QPS_RESET, IBV_QPS_SQE, IBV_QPS_SQE, 0},
	{IBV_QPS_INIT, IBV_QPS_SQE, IBV_QPS_SQE, 0},
	{IBV_QPS_RTR, IBV_QPS_SQE, IBV_QPS_SQE, 0},
	{IBV_QPS_RTS, IBV_QPS_RTS, IBV_QPS_RTS, 0},
	{IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQD, 0},
	{IBV_QPS_RTS, IBV_QPS_SQE, IBV_QPS_SQE, 0},
	{IBV_QPS_SQD, IBV_QPS_SQD, IBV_QPS_SQD, 0},
	{IBV_QPS_SQD, IBV_QPS_SQE, IBV_QPS_SQE, 0},
	{IBV_QPS_SQE, IBV_QPS_SQD, IBV_QPS_SQE, 0},
	{IBV_QPS_ERR, IBV_QPS_SQD, IBV_QPS_ERR, 0},
};

#define IWARP_MOVES(list, other) {list, sizeof(list) / sizeof((list)[0]), other}

static const struct {
	const struct iwarp_move *moves;
	size_t count;
	int other; /* what is said to a move that is not there */
} iwarp[] = {
	[FAKE_IWARP_SIW] = IWARP_MOVES(siw_moves, 0),
	[FAKE_IWARP_ERDMA] = IWARP_MOVES(siw_moves, 0),
	[FAKE_IWARP_CXGB4] = IWARP_MOVES(cxgb4_moves, EINVAL),
	[FAKE_IWARP_IRDMA] = IWARP_MOVES(irdma_moves, EINVAL),
};

static struct iwarp_move iwarp_move(enum fake_iwarp driver, const struct fake_qp *qp,
				    enum ibv_qp_state to)
{
	const enum ibv_qp_state from = qp->attr.qp_state;
	struct iwarp_move stay = {from, to, from, iwarp[driver].other};

	if (driver == FAKE_IWARP_IRDMA && (to == IBV_QPS_RESET || to == IBV_QPS_ERR)) {
		stay.after = to;
		stay.error = 0;
		return stay;
	}
	if (driver == FAKE_IWARP_IRDMA && qp->spent && to != IBV_QPS_SQD)
		return stay;
	if (driver == FAKE_IWARP_CXGB4 && to == IBV_QPS_RTR)
		stay.error = 0;
	if (driver == FAKE_IWARP_ERDMA && from == IBV_QPS_SQD && to != IBV_QPS_SQD)
		stay.error = ECONNABORTED;
	for (size_t i = 0; i < iwarp[driver].count; i++)
		if (iwarp[driver].moves[i].from == from && iwarp[driver].moves[i].to == to)
			return iwarp[driver].moves[i];
	return stay;
}

/* A T5 adapter or newer has no use for PSNs, and rights are set before there is a connection. */
static int cxgb4_check(const struct fake_qp *qp, int mask)
{
	if (mask & (IBV_QP_SQ_PSN | IBV_QP_RQ_PSN))
		return EINVAL;
	return mask & IBV_QP_ACCESS_FLAGS && qp->attr.qp_state != IBV_QPS_INIT ? EIO : 0;
}

static void enter(struct fake_qp *qp, enum ibv_qp_state state)
{
	const enum ibv_qp_state from = qp->attr.qp_state;

	qp->attr.qp_state = qp->attr.cur_qp_state = state;
	fake_work_entered(qp, from);
}

/* Of the rest, nothing but the state counts. RESET and INIT are one, but for irdma. */
static int iwarp_modify(const struct fake_device *dev, struct fake_qp *qp,
			const struct ibv_qp_attr *attr, int mask)
{
	enum ibv_qp_state to = attr->qp_state;
	struct iwarp_move move;
	int err = dev->habits.iwarp == FAKE_IWARP_CXGB4 ? cxgb4_check(qp, mask) : 0;

	if (err || !(mask & IBV_QP_STATE))
		return err;
	if (to == IBV_QPS_RESET && dev->habits.iwarp != FAKE_IWARP_IRDMA)
		to = IBV_QPS_INIT;
	move = iwarp_move(dev->habits.iwarp, qp, to);
	if (move.error)
		return move.error;
	qp->spent = qp->spent || to == IBV_QPS_RESET;
	enter(qp, move.after);
	return 0;
}

/* usnic_ib_modify_qp(), usnic_ib_qp_grp_modify(): from which states it enters one, as bits. It has one port. */
static int usnic_modify(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	const unsigned int reset = 1u << IBV_QPS_RESET, init = 1u << IBV_QPS_INIT,
			   rtr = 1u << IBV_QPS_RTR, rts = 1u << IBV_QPS_RTS,
			   error = 1u << IBV_QPS_ERR;
	const unsigned int enters[] = {
		[IBV_QPS_RESET] = reset | init | rtr | rts | error,
		[IBV_QPS_INIT] = reset | rtr | rts,
		[IBV_QPS_RTR] = init,
		[IBV_QPS_RTS] = rtr,
		[IBV_QPS_ERR] = reset | init | rtr | rts,
	};

	if ((mask & IBV_QP_PORT && attr->port_num != 1) || !(mask & IBV_QP_STATE) ||
	    attr->qp_state > IBV_QPS_ERR || !(enters[attr->qp_state] >> qp->attr.qp_state & 1))
		return EINVAL;
	enter(qp, attr->qp_state);
	return 0;
}

int fake_driver_modify(struct fake_device *dev, struct fake_qp *qp, const struct ibv_qp_attr *attr,
		       int mask)
{
	enum ibv_qp_state from, to;
	int err;

	if (dev->habits.modify_types && !(dev->habits.modify_types & FAKE_QPT(qp->verbs.qp_type)))
		return EOPNOTSUPP;
	if (dev->habits.moves == FAKE_MOVES_IWARP)
		return iwarp_modify(dev, qp, attr, mask);
	if (dev->habits.moves == FAKE_MOVES_USNIC)
		return usnic_modify(qp, attr, mask);
	err = state_before(dev, qp, attr, mask, &from);
	if (err)
		return err;
	to = mask & IBV_QP_STATE ? attr->qp_state : from;
	if (dev->habits.moves == FAKE_MOVES_WITH_STATE && !(mask & IBV_QP_STATE))
		to = qp->attr.qp_state;
	if (dev->habits.keeps_refused)
		apply(&qp->attr, attr, mask);
	if (dev->habits.moves != FAKE_MOVES_ANY) {
		err = check_move(dev, qp, from, to, mask);
		/* Of a DCT, mlx5 looks at none. */
		if (!err && qp->type != FAKE_DCT)
			err = check_values(dev, qp, attr, mask);
		if (!err)
			err = check_rate_last(dev, qp, from, to, mask);
	}
	if (!err && dev->habits.user_qkey_errno && mask & IBV_QP_QKEY && attr->qkey >> 31)
		err = dev->habits.user_qkey_errno;
	if (err)
		return err;
	if (to == IBV_QPS_RESET && mask & IBV_QP_STATE)
		reset(qp, dev->quirks);
	apply(&qp->attr, attr, mask);
	if (mask & IBV_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags |= dev->habits.access_added;
	enter(qp, to);
	if (qp->type == FAKE_DCT && to == IBV_QPS_RTR)
		qp->verbs.qp_num = qp->verbs.handle; /* the library's: modify_dct() */
	return 0;
}

void fake_driver_create(const struct fake_device *dev, struct fake_qp *qp)
{
	const struct ibv_device_attr *limit = &dev->attr.orig_attr;

	if (qp->type == FAKE_DCT)
		qp->verbs.qp_num = 0; /* it has none before RTR */
	if (dev->habits.moves != FAKE_MOVES_IWARP)
		return;
	if (dev->habits.iwarp != FAKE_IWARP_IRDMA)
		qp->attr.qp_state = qp->attr.cur_qp_state = IBV_QPS_INIT;
	/* siw_query_qp(), erdma_query_qp(): all that there is to tell, and nothing changes it. */
	qp->attr.path_mtu = dev->port[1].attr.active_mtu;
	qp->attr.max_rd_atomic = (uint8_t)limit->max_qp_init_rd_atom;
	qp->attr.max_dest_rd_atomic = (uint8_t)limit->max_qp_rd_atom;
	qp->attr.qp_access_flags =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
}

/* ---- Querying ----------------------------------------------------------------------------- */

static bool has_path(const struct fake_qp *qp)
{
	const enum ibv_qp_type type = qp->verbs.qp_type;

	return type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_XRC_SEND ||
	       type == IBV_QPT_XRC_RECV;
}

/* The fields that the driver fills for this queue pair, by their bits, if it is asked for these. */
static int filled_fields(const struct fake_habits *habits, const struct fake_qp *qp, int attr_mask)
{
	const bool raw = qp->verbs.qp_type == IBV_QPT_RAW_PACKET || qp->type == FAKE_UNDERLAY;
	const int asked = attr_mask | (attr_mask & IBV_QP_AV ? FAKE_FIELD_AH_PORT : 0);
	int filled = ~(habits->query_unfilled | (habits->query_if_asked & ~asked));

	if (habits->query_in_reset && qp->attr.qp_state == IBV_QPS_RESET)
		filled &= habits->query_in_reset;
	if (habits->query_of_raw && raw)
		filled &= habits->query_of_raw;
	if (!has_path(qp))
		filled &= ~habits->query_of_path;
	if (qp->type == FAKE_DCT)
		filled &= asked;
	return filled;
}

static uint8_t told_port(const struct fake_habits *habits, const struct fake_qp *qp)
{
	if (qp->verbs.qp_type == IBV_QPT_RAW_PACKET || qp->type == FAKE_UNDERLAY)
		return habits->query_of_raw ? 1 : qp->attr.port_num;
	return habits->query_port ? habits->query_port : qp->attr.port_num;
}

/* What it fills, in memory that nobody has cleared, or only the driver. */
static void fill(const struct fake_device *dev, const struct fake_qp *qp,
		 struct ibv_qp_attr *answer, int filled)
{
	const struct fake_habits *habits = &dev->habits;
	const uint8_t stale = habits->query_clears ? 0 : habits->stale;

	memset(answer, stale, sizeof(*answer));
	/* The system call's answer has eight bits for each of these. */
	answer->qp_state = (enum ibv_qp_state)stale;
	answer->cur_qp_state = (enum ibv_qp_state)stale;
	answer->path_mtu = (enum ibv_mtu)stale;
	answer->path_mig_state = (enum ibv_mig_state)stale;
	apply(answer, &qp->attr, filled);
	if (filled & IBV_QP_STATE)
		answer->qp_state = qp->attr.qp_state;
	if (filled & IBV_QP_CUR_STATE)
		answer->cur_qp_state = qp->attr.cur_qp_state;
	if (filled & IBV_QP_CAP)
		answer->cap = qp->attr.cap;
	if (filled & FAKE_FIELD_SQ_DRAINING)
		answer->sq_draining = qp->attr.sq_draining;
	if (filled & IBV_QP_PORT)
		answer->port_num = told_port(habits, qp);
	if (filled & IBV_QP_PKEY_INDEX && habits->query_pkey_value)
		answer->pkey_index = dev->port[1].pkey[qp->attr.pkey_index % FAKE_MAX_PKEYS];
	if (!(filled & FAKE_FIELD_AH_PORT))
		answer->ah_attr.port_num = stale;
}

int fake_driver_query(struct fake_device *dev, struct fake_qp *qp, struct ibv_qp_attr *answer,
		      int attr_mask)
{
	/* mlx5_ib_dct_query_qp() */
	const int dct = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT | IBV_QP_MIN_RNR_TIMER |
			IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_PKEY_INDEX;

	if (dev->habits.query_errno)
		return dev->habits.query_errno;
	if (attr_mask & dev->habits.query_refused)
		return EOPNOTSUPP;
	if (qp->type == FAKE_DCT && (attr_mask & ~dct || qp->attr.qp_state != IBV_QPS_RTR))
		return EINVAL;
	if (qp->attr.sq_draining && qp->draining > 0 && !--qp->draining)
		qp->attr.sq_draining = dev->habits.sqd_says_draining;
	fill(dev, qp, answer, filled_fields(&dev->habits, qp, attr_mask));
	return 0;
}
