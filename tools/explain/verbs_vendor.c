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
struct bnxt_re_dv_qp_init_attr;
struct bnxt_re_dv_cq_init_attr;
struct mlx5dv_devx_obj;
/* Of releases behind rdma-core 65; its attributes need not be known here. */
struct ibv_comp_cntr;
struct ibv_comp_cntr_init_attr;
struct efadv_comp_cntr_init_attr;

/* As libmlx5.so.1 and the others declare them. */
struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init_attr,
				struct mlx5dv_qp_init_attr *vendor);
struct ibv_cq_ex *mlx5dv_create_cq(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *init_attr,
				   struct mlx5dv_cq_init_attr *vendor);
struct ibv_dm *mlx5dv_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr,
			       struct mlx5dv_alloc_dm_attr *vendor);
struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				    uint64_t iova, int fd, int access, int vendor);
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
struct ibv_comp_cntr *efadv_create_comp_cntr(struct ibv_context *context,
					     struct ibv_comp_cntr_init_attr *attr,
					     struct efadv_comp_cntr_init_attr *vendor,
					     uint32_t size);
struct ibv_qp *hnsdv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init_attr,
			       struct hns_roce_qp_init_attr *vendor);
struct ibv_qp *bnxt_re_dv_create_qp(struct ibv_pd *pd, struct bnxt_re_dv_qp_init_attr *vendor);
struct ibv_cq *bnxt_re_dv_create_cq(struct ibv_context *context,
				    struct bnxt_re_dv_cq_init_attr *vendor);
int bnxt_re_dv_destroy_qp(struct ibv_qp *qp);
int bnxt_re_dv_destroy_cq(struct ibv_cq *cq);
struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in,
					       size_t in_size, void *out, size_t out_size);
int mlx5dv_devx_obj_modify(struct mlx5dv_devx_obj *object, const void *in, size_t in_size,
			   void *out, size_t out_size);

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

/* Memory of a GPU; `vendor` may ask for a way around the root complex. Requests name it as they name any region. */
EXPORT struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					   uint64_t iova, int fd, int access, int vendor)
{
	const struct rdmaez_mr_dmabuf dmabuf = {offset, length, iova, fd};
	struct ibv_mr *mr;

	/* As with ibv_reg_dmabuf_mr(): that asks whether there is such a thing at all. */
	if (fd < 0)
		return REAL(mlx5dv_reg_dmabuf_mr)(pd, offset, length, iova, fd, access, vendor);
	EXPLAIN_POINTER(struct ibv_mr, "mlx5dv_reg_dmabuf_mr",
			REAL(mlx5dv_reg_dmabuf_mr)(pd, offset, length, iova, fd, access, vendor),
			pd->context, explain_made(EXPLAIN_MR, result);
			explain_watch_mr(result, (unsigned int)access, iova);
			, explain_replay_as(explain_verb_reg_dmabuf_mr);
			rdmaez_mr_reg_dmabuf(pd, &dmabuf, (unsigned int)access, &mr, call.diag));
}

EXPORT struct ibv_comp_cntr *efadv_create_comp_cntr(struct ibv_context *context,
						    struct ibv_comp_cntr_init_attr *attr,
						    struct efadv_comp_cntr_init_attr *vendor,
						    uint32_t size)
{
	EXPLAIN_POINTER(struct ibv_comp_cntr, "efadv_create_comp_cntr",
			REAL(efadv_create_comp_cntr)(context, attr, vendor, size), context,
			EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

/* The program drives them itself, so that no verb is seen of them. */
static void count_direct(unsigned int queues)
{
	if (explain_process && !explain_thread.depth)
		atomic_fetch_add(&explain_process->direct, queues);
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
	const unsigned int queues = (unsigned int)__builtin_popcountll(type & 0xf);

	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "mlx5dv_init_obj", REAL(mlx5dv_init_obj)(object, type),
		       NULL, count_direct(queues);
		       note_direct(object, type), EXPLAIN_NOTHING);
}

/* Their queues lie in memory of the program's, which alone looks at them. */
EXPORT struct ibv_qp *bnxt_re_dv_create_qp(struct ibv_pd *pd,
					   struct bnxt_re_dv_qp_init_attr *vendor)
{
	EXPLAIN_POINTER(struct ibv_qp, "bnxt_re_dv_create_qp",
			REAL(bnxt_re_dv_create_qp)(pd, vendor), pd->context,
			explain_made(EXPLAIN_QP, result);
			count_direct(1), EXPLAIN_NOTHING);
}

EXPORT struct ibv_cq *bnxt_re_dv_create_cq(struct ibv_context *context,
					   struct bnxt_re_dv_cq_init_attr *vendor)
{
	EXPLAIN_POINTER(struct ibv_cq, "bnxt_re_dv_create_cq",
			REAL(bnxt_re_dv_create_cq)(context, vendor), context,
			explain_made(EXPLAIN_CQ, result);
			count_direct(1), EXPLAIN_NOTHING);
}

EXPORT int bnxt_re_dv_destroy_qp(struct ibv_qp *qp)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "bnxt_re_dv_destroy_qp", REAL(bnxt_re_dv_destroy_qp)(qp),
		       qp->context, explain_destroyed(EXPLAIN_QP, qp), EXPLAIN_NOTHING);
}

EXPORT int bnxt_re_dv_destroy_cq(struct ibv_cq *cq)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "bnxt_re_dv_destroy_cq", REAL(bnxt_re_dv_destroy_cq)(cq),
		       cq->context, explain_destroyed(EXPLAIN_CQ, cq), EXPLAIN_NOTHING);
}

/* ---- DEVX ------------------------------------------------------------------------------------------------ */

/*
 * Commands to the firmware, which mlx5_ifc.h of Linux and of rdma-core describe: a command begins with its number, of 16
 * bits; an answer with the status, of 8 bits, and has the syndrome in its second 32 bits. All is big endian.
 */
static const struct {
	unsigned int number;
	const char *name;
	bool makes_queue;
} commands[] = {
	{0x200, "CREATE_MKEY", false},
	{0x301, "CREATE_EQ", false},
	{0x400, "CREATE_CQ", true},
	{0x403, "MODIFY_CQ", false},
	{0x500, "CREATE_QP", true},
	{0x502, "RST2INIT_QP", false},
	{0x503, "INIT2RTR_QP", false},
	{0x504, "RTR2RTS_QP", false},
	{0x505, "RTS2RTS_QP", false},
	{0x506, "SQERR2RTS_QP", false},
	{0x507, "2ERR_QP", false},
	{0x50a, "2RST_QP", false},
	{0x50e, "INIT2INIT_QP", false},
	{0x700, "CREATE_SRQ", true},
	{0x705, "CREATE_XRC_SRQ", true},
	{0x710, "CREATE_DCT", true},
	{0x900, "CREATE_TIR", false},
	{0x904, "CREATE_SQ", true},
	{0x905, "MODIFY_SQ", false},
	{0x908, "CREATE_RQ", true},
	{0x909, "MODIFY_RQ", false},
	{0x90c, "CREATE_RMP", true},
	{0x912, "CREATE_TIS", false},
	{0x916, "CREATE_RQT", false},
	{0xa00, "CREATE_GENERAL_OBJECT", false},
};
static const struct {
	unsigned int number;
	const char *name;
} statuses[] = {
	{0x1, "INT_ERR"},
	{0x2, "BAD_OP_ERR"},
	{0x3, "BAD_PARAM_ERR"},
	{0x4, "BAD_SYS_STATE_ERR"},
	{0x5, "BAD_RES_ERR"},
	{0x6, "RES_BUSY"},
	{0x8, "LIM_ERR"},
	{0x9, "BAD_RES_STATE_ERR"},
	{0xa, "IX_ERR"},
	{0xf, "NO_RES_ERR"},
	{0x10, "BAD_QP_STATE_ERR"},
	{0x30, "BAD_PKT_ERR"},
	{0x40, "BAD_SIZE_OUTS_CQES_ERR"},
	{0x50, "BAD_INP_LEN_ERR"},
	{0x51, "BAD_OUTP_LEN_ERR"},
};

static int command_of(const void *in, size_t size)
{
	const uint8_t *const bytes = in;

	for (size_t i = 0; size >= 2 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].number == (unsigned int)(bytes[0] << 8 | bytes[1]))
			return (int)i;
	return -1;
}

static const char *status_name(unsigned int number)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].number == number)
			return statuses[i].name;
	return "unknown";
}

struct devx {
	const void *in;
	size_t in_size;
	const void *out;
	size_t out_size;
};

/* The firmware's word, if it has given one: without it the kernel or the library has refused. */
static void explain_devx(struct explain_call *call, const struct ibv_context *context,
			 const struct devx *devx)
{
	const uint8_t *const out = devx->out;
	const int command = command_of(devx->in, devx->in_size);
	char title[96], label[64], what[160];
	struct explain_text text = {
		.title = title,
		.label = label,
		.error = call->error,
		.device = context && context->device ? context->device->name : NULL,
		.count = 1,
		.finding = {{.severity = RDMAEZ_DIAG_ERROR,
			     .reason = "DEVX_REFUSED",
			     .field = "out",
			     .what = what,
			     .next = "compare the command with the device's reference manual; ask "
				     "the vendor what the syndrome stands for"}},
	};

	if (!out || devx->out_size < 8 || !out[0]) {
		explain_refused(call, context);
		return;
	}
	snprintf(title, sizeof(title), "%s failed with %s (%d)", call->verb,
		 rdmaez_errno_str(call->error), call->error);
	snprintf(label, sizeof(label), "%s %s", call->verb, rdmaez_errno_str(call->error));
	snprintf(what, sizeof(what), "the firmware has refused %s: status %s (0x%x), syndrome 0x%x",
		 command < 0 ? "the command" : commands[command].name, status_name(out[0]), out[0],
		 (unsigned int)out[4] << 24 | (unsigned int)out[5] << 16 |
			 (unsigned int)out[6] << 8 | out[7]);
	explain_say(call, &text);
}

EXPORT struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in,
						      size_t in_size, void *out, size_t out_size)
{
	struct explain_call call = EXPLAIN_CALL(mlx5dv_devx_obj_create, EXPLAIN_REFUSAL);
	const struct devx devx = {in, in_size, out, out_size};
	struct mlx5dv_devx_obj *result;
	int command;

	if (explain_answered_null(&call))
		return NULL;
	explain_does_new(call.verb);
	explain_enter();
	result = REAL(mlx5dv_devx_obj_create)(context, in, in_size, out, out_size);
	if (explain_leave_null(&call, result)) {
		explain_devx(&call, context, &devx);
	} else if (result) {
		command = command_of(in, in_size);
		count_direct(command >= 0 && commands[command].makes_queue);
	}
	return result;
}

EXPORT int mlx5dv_devx_obj_modify(struct mlx5dv_devx_obj *object, const void *in, size_t in_size,
				  void *out, size_t out_size)
{
	struct explain_call call = EXPLAIN_CALL(mlx5dv_devx_obj_modify, EXPLAIN_REFUSAL);
	const struct devx devx = {in, in_size, out, out_size};
	int result;

	if (explain_answered(&call, &result))
		return result;
	explain_does_new(call.verb);
	explain_enter();
	result = REAL(mlx5dv_devx_obj_modify)(object, in, in_size, out, out_size);
	if (explain_leave(&call, result))
		explain_devx(&call, NULL, &devx);
	return result;
}
