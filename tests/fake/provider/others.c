/* SPDX-License-Identifier: MIT */
/* The libraries of other providers, each with its name for what makes a queue: what they make is the fake's. */
#include <errno.h>
#include <string.h>

#include "fake_verbs.h"

#define CREATES_QP(name)                                                                        \
	struct ibv_qp *name(struct ibv_context *context, struct ibv_qp_init_attr_ex *init_attr, \
			    void *vendor, uint32_t size);                                       \
	struct ibv_qp *name(struct ibv_context *context, struct ibv_qp_init_attr_ex *init_attr, \
			    void *vendor, uint32_t size)                                        \
	{                                                                                       \
		(void)vendor;                                                                   \
		(void)size;                                                                     \
		return verbs_get_ctx(context)->create_qp_ex(context, init_attr);                \
	}

#if defined(EFA)
CREATES_QP(efadv_create_qp_ex)

struct ibv_cq_ex *efadv_create_cq(struct ibv_context *context,
				  struct ibv_cq_init_attr_ex *init_attr, void *vendor,
				  uint32_t size);
struct ibv_cq_ex *efadv_create_cq(struct ibv_context *context,
				  struct ibv_cq_init_attr_ex *init_attr, void *vendor,
				  uint32_t size)
{
	(void)vendor;
	(void)size;
	return verbs_get_ctx(context)->create_cq_ex(context, init_attr);
}

struct ibv_qp *efadv_create_driver_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
				      uint32_t type);
struct ibv_qp *efadv_create_driver_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
				      uint32_t type)
{
	struct ibv_qp_init_attr_ex init = {.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd};

	(void)type;
	memcpy(&init, init_attr, sizeof(*init_attr));
	return verbs_get_ctx(pd->context)->create_qp_ex(pd->context, &init);
}

void *efadv_create_comp_cntr(struct ibv_context *context, void *attr, void *vendor, uint32_t size);
void *efadv_create_comp_cntr(struct ibv_context *context, void *attr, void *vendor, uint32_t size)
{
	(void)context;
	(void)vendor;
	(void)size;
	if (!attr)
		errno = ENOMEM;
	return attr;
}
#elif defined(HNS)
CREATES_QP(hnsdv_create_qp)
#elif defined(MLX4)
CREATES_QP(mlx4dv_create_qp)
#else
struct ibv_qp *bnxt_re_dv_create_qp(struct ibv_pd *pd, void *vendor);
struct ibv_cq *bnxt_re_dv_create_cq(struct ibv_context *context, void *vendor);
int bnxt_re_dv_destroy_qp(struct ibv_qp *qp);
int bnxt_re_dv_destroy_cq(struct ibv_cq *cq);

struct ibv_qp *bnxt_re_dv_create_qp(struct ibv_pd *pd, void *vendor)
{
	(void)pd;
	if (!vendor)
		errno = ENOMEM;
	return (struct ibv_qp *)vendor;
}

struct ibv_cq *bnxt_re_dv_create_cq(struct ibv_context *context, void *vendor)
{
	(void)context;
	if (!vendor)
		errno = EINVAL;
	return (struct ibv_cq *)vendor;
}

int bnxt_re_dv_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

int bnxt_re_dv_destroy_cq(struct ibv_cq *cq)
{
	return cq->comp_events_completed ? EBUSY : 0;
}
#endif
