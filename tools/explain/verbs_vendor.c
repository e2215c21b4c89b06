/* SPDX-License-Identifier: MIT */
/*
 * Creators that providers export besides libibverbs' own: what they make is the same, and so is why they refuse it, but
 * for what the vendor's own attributes ask for. Those are opaque here, so that no vendor's header is needed.
 */
#include "verbs.h"
#include "watch.h"

struct mlx5dv_qp_init_attr;
struct mlx5dv_cq_init_attr;
struct mlx5dv_alloc_dm_attr;
struct mlx5dv_obj;
struct mlx4dv_qp_init_attr;
struct efadv_qp_init_attr;
struct efadv_cq_init_attr;
struct hns_roce_qp_init_attr;

/* As libmlx5.so.1 and the others declare them. */
struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init_attr,
				struct mlx5dv_qp_init_attr *vendor);
struct ibv_cq_ex *mlx5dv_create_cq(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *init_attr,
				   struct mlx5dv_cq_init_attr *vendor);
struct ibv_dm *mlx5dv_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr,
			       struct mlx5dv_alloc_dm_attr *vendor);
int mlx5dv_init_obj(struct mlx5dv_obj *object, uint64_t type);
struct ibv_qp *mlx4dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init_attr,
				struct mlx4dv_qp_init_attr *vendor);
struct ibv_qp *efadv_create_driver_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
				      uint32_t type);
struct ibv_qp *efadv_create_qp_ex(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *init_attr,
				  struct efadv_qp_init_attr *vendor, uint32_t size);
struct ibv_cq_ex *efadv_create_cq(struct ibv_context *context,
				  struct ibv_cq_init_attr_ex *init_attr,
				  struct efadv_cq_init_attr *vendor, uint32_t size);
struct ibv_qp *hnsdv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init_attr,
			       struct hns_roce_qp_init_attr *vendor);

/* ---- What the headers say ------------------------------------------------------------------------------ */

static void explain_qp(struct explain_call *call, struct ibv_context *context,
		       const struct ibv_qp_init_attr_ex *init_attr)
{
	struct ibv_qp_init_attr_ex asked = explain_qp_asked(init_attr);
	struct ibv_qp *qp;

	/* verbs.h calls the classic verb where nothing else is asked for. */
	explain_replay_as(asked.comp_mask == IBV_QP_INIT_ATTR_PD ? explain_verb_create_qp
								 : explain_verb_create_qp_ex);
	rdmaez_qp_create_ex(context, &asked, &qp, call->diag);
}

static void explain_cq(struct explain_call *call, struct ibv_context *context,
		       const struct ibv_cq_init_attr_ex *init_attr)
{
	struct ibv_cq_init_attr_ex asked = explain_cq_asked(init_attr);
	struct ibv_cq_ex *cq;

	explain_replay_as(explain_verb_create_cq_ex);
	rdmaez_cq_create_ex(context, &asked, &cq, call->diag);
}

/* ---- The creators ---------------------------------------------------------------------------------------- */

#define CREATES_QP(name, parameters, real)                                                      \
	EXPORT struct ibv_qp *name parameters                                                   \
	{                                                                                       \
		EXPLAIN_POINTER(struct ibv_qp, #name, real, context,                            \
				explain_has_qp(result, init_attr->sq_sig_all, &init_attr->cap), \
				explain_qp(&call, context, init_attr));                         \
	}
#define CREATES_CQ(name, parameters, real)                                                      \
	EXPORT struct ibv_cq_ex *name parameters                                                \
	{                                                                                       \
		EXPLAIN_POINTER(struct ibv_cq_ex, #name, real, context, explain_has_cq(result), \
				explain_cq(&call, context, init_attr));                         \
	}

CREATES_QP(mlx5dv_create_qp,
	   (struct ibv_context * context, struct ibv_qp_init_attr_ex *init_attr,
	    struct mlx5dv_qp_init_attr *vendor),
	   REAL(mlx5dv_create_qp)(context, init_attr, vendor))
CREATES_CQ(mlx5dv_create_cq,
	   (struct ibv_context * context, struct ibv_cq_init_attr_ex *init_attr,
	    struct mlx5dv_cq_init_attr *vendor),
	   REAL(mlx5dv_create_cq)(context, init_attr, vendor))
CREATES_QP(mlx4dv_create_qp,
	   (struct ibv_context * context, struct ibv_qp_init_attr_ex *init_attr,
	    struct mlx4dv_qp_init_attr *vendor),
	   REAL(mlx4dv_create_qp)(context, init_attr, vendor))
CREATES_QP(efadv_create_qp_ex,
	   (struct ibv_context * context, struct ibv_qp_init_attr_ex *init_attr,
	    struct efadv_qp_init_attr *vendor, uint32_t size),
	   REAL(efadv_create_qp_ex)(context, init_attr, vendor, size))
CREATES_CQ(efadv_create_cq,
	   (struct ibv_context * context, struct ibv_cq_init_attr_ex *init_attr,
	    struct efadv_cq_init_attr *vendor, uint32_t size),
	   REAL(efadv_create_cq)(context, init_attr, vendor, size))
CREATES_QP(hnsdv_create_qp,
	   (struct ibv_context * context, struct ibv_qp_init_attr_ex *init_attr,
	    struct hns_roce_qp_init_attr *vendor),
	   REAL(hnsdv_create_qp)(context, init_attr, vendor))

EXPORT struct ibv_qp *efadv_create_driver_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
					     uint32_t type)
{
	struct ibv_qp_init_attr asked = *init_attr;
	struct ibv_qp *qp;

	EXPLAIN_POINTER(struct ibv_qp, "efadv_create_driver_qp",
			REAL(efadv_create_driver_qp)(pd, init_attr, type), pd->context,
			explain_has_qp(result, asked.sq_sig_all, &init_attr->cap),
			explain_replay_as(explain_verb_create_qp);
			rdmaez_qp_create(pd, &asked, &qp, call.diag));
}

EXPORT struct ibv_dm *mlx5dv_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr,
				      struct mlx5dv_alloc_dm_attr *vendor)
{
	EXPLAIN_POINTER(struct ibv_dm, "mlx5dv_alloc_dm",
			REAL(mlx5dv_alloc_dm)(context, attr, vendor), context,
			explain_made(EXPLAIN_DM, result), EXPLAIN_NOTHING);
}

/* struct mlx5dv_obj is pairs of pointers, of which the first one is to the object: of a QP, then of a CQ. */
static void note_direct(struct mlx5dv_obj *object, uint64_t type)
{
	void *const *const of = (void *const *)(void *)object;

	if (!explain_watching || !object)
		return;
	explain_watch_direct(type & 1 ? of[0] : NULL, type & 2 ? of[2] : NULL);
}

/* By it a program learns where a queue lies in memory, so as to write and read it without any verb. */
EXPORT int mlx5dv_init_obj(struct mlx5dv_obj *object, uint64_t type)
{
	/* Those of QP, CQ, SRQ and RWQ. */
	const int queues = __builtin_popcountll(type & 0xf);

	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "mlx5dv_init_obj", REAL(mlx5dv_init_obj)(object, type),
		       NULL,
		       if (explain_process && !explain_thread.depth)
			       atomic_fetch_add(&explain_process->direct, (unsigned int)queues);
		       note_direct(object, type), EXPLAIN_NOTHING);
}
