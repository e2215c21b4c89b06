/* SPDX-License-Identifier: MIT */
/* What each limits/NAME.c has in common, after the driver's own file. */
#ifndef LIMITS_GLUE_H
#define LIMITS_GLUE_H

#include <linux/version.h>
#include "../moves/glue.h"
#include "provider/limits.h"

/* The adapters' limits, different from each other, so that none passes for another. */
enum {
	LOG_CQE = 12,
	LOG_WR = 10,
	LOG_SRQ_WR = 9,
	CQE = 5000,
	SEND_WR = 900,
	RECV_WR = 800,
	SEND_SGE = 6,
	RECV_SGE = 5,
	SRQ_WR = 700,
	SRQ_SGE = 3
};

/* uverbs_cmd.c reads it from the program's memory. */
unsigned long _copy_from_user(void *to, const void *from, unsigned long size)
{
	memcpy(to, from, size);
	return 0;
}
GLUE_RETURNS_0(_copy_to_user)

static struct ib_udata *glue_told(const void *told, unsigned long size)
{
	struct ib_udata *const udata = &glue_call.bundle.driver_udata;

	if (!glue_call.bundle.context)
		glue_call.bundle.context = kzalloc_here(65536);
	udata->inbuf = told;
	udata->inlen = size;
	udata->outbuf = NULL;
	udata->outlen = told ? 4096 : 0;
	return udata;
}

static struct ib_device_attr reported_attr;

/* It may go beyond what is asked here, when it has told the limits. */
static void glue_query(int (*query)(struct ib_device *, struct ib_device_attr *, struct ib_udata *),
		       struct ib_device *dev)
{
	query(dev, &reported_attr, glue_told(NULL, 0));
}

/* copy_query_dev_fields() of uverbs_cmd.c */
void limits_reported(struct limits *to)
{
	to->max_cqe = reported_attr.max_cqe;
	to->max_qp_wr = reported_attr.max_qp_wr;
	to->max_sge = min(reported_attr.max_send_sge, reported_attr.max_recv_sge);
	to->max_srq_wr = reported_attr.max_srq_wr;
	to->max_srq_sge = reported_attr.max_srq_sge;
}

static int glue_cq(int (*create)(struct ib_cq *, const struct ib_cq_init_attr *, struct ib_udata *),
		   struct ib_cq *cq, struct ib_device *dev, const struct limits_request *request)
{
	const struct ib_cq_init_attr attr = {.cqe = request->cqe};

	/* create_cq() of core/uverbs_cmd.c */
	if (LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0) && !attr.cqe)
		return EINVAL;
	cq->device = dev;
	cq->uobject = kzalloc_here(4096);
	cq->res.user = true;
	return -create(cq, &attr, glue_told(request->told, request->size));
}

/* A driver's protection domain, which begins with the kernel's. */
static struct ib_pd *glue_pd(size_t size, struct ib_device *dev)
{
	struct ib_pd *const pd = kzalloc_here(size);

	pd->device = dev;
	return pd;
}

static int glue_srq(int (*create)(struct ib_srq *, struct ib_srq_init_attr *, struct ib_udata *),
		    struct ib_srq *srq, struct ib_pd *pd, const struct limits_request *request)
{
	struct ib_srq_init_attr attr = {
		.srq_type = IB_SRQT_BASIC,
		.attr = {.max_wr = request->max_wr, .max_sge = request->max_sge}};

	srq->device = pd->device;
	srq->pd = pd;
	srq->uobject = kzalloc_here(4096);
	return -create(srq, &attr, glue_told(request->told, request->size));
}

static int glue_create_qp(int (*create)(struct ib_qp *, struct ib_qp_init_attr *,
					struct ib_udata *),
			  struct ib_qp *qp, struct ib_pd *pd, const struct limits_request *request)
{
	struct ib_qp_init_attr attr = {.qp_type = request->type,
				       .cap = {.max_send_wr = request->max_send_wr,
					       .max_recv_wr = request->max_recv_wr,
					       .max_send_sge = request->max_send_sge,
					       .max_recv_sge = request->max_recv_sge}};

	glue_qp(qp, pd->device, request->type);
	qp->pd = pd;
	return -create(qp, &attr, glue_told(request->told, request->size));
}

static const struct moves_device glue_port = {
	.is_ethernet = 1, .ports = 1, .gids = 1, .pkeys = 1, .mtu_bytes = 4200};

#endif
