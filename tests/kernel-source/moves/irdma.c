/* SPDX-License-Identifier: MIT */
/* hw/irdma: irdma_modify_qp_roce() and, for iWARP, irdma_modify_qp() */
#include "hw/irdma/verbs.c"
#include "glue.h"

GLUE_RETURNS_0(irdma_sc_qp_setctx_roce)
GLUE_RETURNS_0(irdma_sc_qp_setctx)
GLUE_RETURNS_0(irdma_add_arp)
GLUE_RETURNS_0(irdma_arp_table)
GLUE_RETURNS_0(irdma_qp_rem_qos)
GLUE_RETURNS_0(irdma_qp_add_qos)
GLUE_RETURNS_0(irdma_flush_wqes)
GLUE_RETURNS_0(irdma_cm_disconn)
GLUE_RETURNS_0(irdma_copy_ip_ntohl)

/*
 * utils.c and hw.c: the adapter does what it is asked to. It has suspended a queue pair that goes to SQD, and tells its
 * state, as irdma_process_aeq() notes it.
 */
int irdma_hw_modify_qp(struct irdma_device *iwdev, struct irdma_qp *iwqp,
		       struct irdma_modify_qp_info *info, bool wait)
{
	iwqp->suspend_pending = 0;
	iwqp->hw_iwarp_state = info->next_iwarp_state;
	return 0;
}

static int ws_add(struct irdma_sc_vsi *vsi, u8 user_pri)
{
	return 0;
}

static void ws_remove(struct irdma_sc_vsi *vsi, u8 user_pri)
{
}

static bool is_iwarp;

void *moves_qp(const struct moves_device *device, int type)
{
	struct irdma_device *const dev = kzalloc_here(sizeof(*dev));
	struct irdma_qp *const qp = kzalloc_here(sizeof(*qp));

	is_iwarp = device->is_iwarp;
	dev->rf = kzalloc_here(sizeof(*dev->rf));
	/* irdma_query_device() */
	dev->rf->sc_dev.hw_attrs.max_hw_ird = device->max_qp_rd_atom;
	dev->rf->sc_dev.hw_attrs.max_hw_ord = device->max_qp_init_rd_atom;
	dev->rf->sc_dev.ws_add = (void *)ws_add;
	dev->rf->sc_dev.ws_remove = (void *)ws_remove;
	glue_device(&dev->ibdev, device);
	glue_qp(&qp->ibqp, &dev->ibdev, type);
	qp->ibqp.pd = kzalloc_here(sizeof(struct irdma_pd));
	qp->iwdev = dev;
	qp->sc_qp.vsi = kzalloc_here(sizeof(*qp->sc_qp.vsi));
	qp->iwscq = qp->iwrcq = kzalloc_here(sizeof(struct irdma_cq));
	qp->ctx_info.roce_info = &qp->roce_info;
	qp->ctx_info.iwarp_info = &qp->iwarp_info;
	qp->user_mode = 1;
	qp->ibqp_state = IB_QPS_RESET;
	return &qp->ibqp;
}

int moves_modify(void *qp, const struct moves_attr *attr, int mask)
{
	return glue_modify(is_iwarp ? irdma_modify_qp : irdma_modify_qp_roce, qp, attr, mask);
}

int moves_state(void *qp)
{
	return to_iwqp(qp)->ibqp_state;
}
