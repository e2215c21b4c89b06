/* SPDX-License-Identifier: MIT */
/*
 * Questions with constant arguments. Each function must compile to its answer and a return; the script
 * reads the machine code.
 */
#include <rdmaez.h>

int fold_mask_right(void);
int fold_mask_wrong(void);
int fold_rule_required(void);
int fold_rule_optional(void);

#define RTR_MASK                                                                        \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)

int fold_mask_right(void)
{
	return rdmaez_qp_mask_check(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, RTR_MASK, NULL);
}

int fold_mask_wrong(void)
{
	return rdmaez_qp_mask_check(IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR, RTR_MASK, NULL);
}

int fold_rule_required(void)
{
	return rdmaez_qp_rule(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR).required;
}

int fold_rule_optional(void)
{
	return rdmaez_qp_rule(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR).optional;
}
