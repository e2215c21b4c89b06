/* SPDX-License-Identifier: MIT */
/* hw/bnxt_re: bnxt_re_modify_qp(), and bnxt_re_is_modify_ok() where there is one */
#include "hw/bnxt_re/ib_verbs.c"
#include <linux/version.h>
#include "glue.h"

/*
 * qplib_fp.c: the adapter does what it is asked to. What the driver's function notes even where no state was asked for
 * is that of a move that was refused before: a fault of it, which is not compared.
 */
int bnxt_qplib_modify_qp(struct bnxt_qplib_res *res, struct bnxt_qplib_qp *qp)
{
	if (qp->modify_flags & CMDQ_MODIFY_QP_MODIFY_MASK_STATE)
		qp->cur_qp_state = qp->state;
	return 0;
}

void *moves_qp(const struct moves_device *device, int type)
{
	struct bnxt_re_dev *const rdev = kzalloc_here(sizeof(*rdev));
	struct bnxt_re_qp *const qp = kzalloc_here(sizeof(*qp));
	struct bnxt_qplib_dev_attr *attr = (void *)&rdev->dev_attr;

	/* A pointer in later releases. */
	if (sizeof(rdev->dev_attr) == sizeof(void *)) {
		attr = kzalloc_here(sizeof(*attr));
		*(void **)&rdev->dev_attr = attr;
	}
	/* bnxt_re_query_device() */
	attr->max_qp_rd_atom = device->max_qp_rd_atom;
	attr->max_qp_init_rd_atom = device->max_qp_init_rd_atom;
	attr->max_qp_wqes = 128;
	attr->max_qp_sges = 6;
	attr->max_inline_data = 96;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	/* An adapter that limits the rate of RC. */
	attr->dev_cap_flags2 = CREQ_QUERY_FUNC_RESP_SB_MODIFY_QP_RATE_LIMIT_SUPPORTED;
	qp->qplib_qp.cctx = kzalloc_here(sizeof(*qp->qplib_qp.cctx));
	qp->qplib_qp.type = type;
#endif
	glue_device(&rdev->ibdev, device);
	rdev->netdev = glue_netdev;
	glue_qp(&qp->ib_qp, &rdev->ibdev, type);
	qp->rdev = rdev;
	qp->sumem = kzalloc_here(64);
	qp->qplib_qp.cur_qp_state = qp->qplib_qp.state = CMDQ_MODIFY_QP_NEW_STATE_RESET;
	return &qp->ib_qp;
}

int moves_modify(void *qp, const struct moves_attr *attr, int mask)
{
	return glue_modify(bnxt_re_modify_qp, qp, attr, mask);
}

int moves_state(void *qp)
{
	return __to_ib_qp_state(
		container_of((struct ib_qp *)qp, struct bnxt_re_qp, ib_qp)->qplib_qp.cur_qp_state);
}
