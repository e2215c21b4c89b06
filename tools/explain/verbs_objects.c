/* SPDX-License-Identifier: MIT */
/* What a program makes besides queue pairs: each made, changed and destroyed by the verbs here. */
#include <rdmaez/dm.h>

#include "data.h"
#include "verbs.h"
#include "watch.h"

/* Verbs of later releases. A program that asks at run time whether there is one gets the wrapper in any case. */
#define REAL_IF_ANY(name, arguments) \
	(REAL(name) ? REAL(name) arguments : (errno = EOPNOTSUPP, NULL))

#define ORIGINAL(object, entry) explain_originals((object)->context)->entry

/* A provider may write over what it is given, then refuse: the headers are shown what the program asked for. */
#define COPY(of) __typeof__(*(of)) asked = *(of)

/* ---- Protection domains ---------------------------------------------------------------------------- */

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	/* Whichever way the program came to it. */
	explain_wrap_context(context);
	EXPLAIN_POINTER(struct ibv_pd, "ibv_alloc_pd", REAL(ibv_alloc_pd)(context), context,
			explain_made(EXPLAIN_PD, result), EXPLAIN_NOTHING);
}

static const char dealloc_pd[] = "ibv_dealloc_pd";

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	explain_does(dealloc_pd, EXPLAIN_PD, pd);
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, dealloc_pd, REAL(ibv_dealloc_pd)(pd), pd->context,
		       explain_destroyed(EXPLAIN_PD, pd), rdmaez_pd_dealloc(pd, call.diag));
}

EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
	EXPLAIN_POINTER(struct ibv_pd, "ibv_import_pd", REAL(ibv_import_pd)(context, handle),
			context, EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
	if (!explain_thread.explaining)
		REAL(ibv_unimport_pd)(pd);
}

/* ---- Memory regions -------------------------------------------------------------------------------- */

static void explain_reg(struct explain_call *call, struct ibv_pd *pd, void *addr, size_t length,
			unsigned int access)
{
	struct ibv_mr *mr;

	explain_replay_as(explain_verb_reg_mr);
	rdmaez_mr_reg(pd, addr, length, access, &mr, call->diag);
}

/* What requests name its first byte by. */
static uint64_t start_of(const void *addr, int access)
{
	return access & IBV_ACCESS_ZERO_BASED ? 0 : (uintptr_t)addr;
}

#undef ibv_reg_mr
EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	EXPLAIN_POINTER(struct ibv_mr, explain_verb_reg_mr,
			REAL(ibv_reg_mr)(pd, addr, length, access), pd->context,
			explain_made(EXPLAIN_MR, result);
			explain_watch_mr(result, (unsigned int)access, start_of(addr, access));
			explain_order(&call, result, (unsigned int)access),
			explain_reg(&call, pd, addr, length, (unsigned int)access));
}

#undef ibv_reg_mr_iova
EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				      int access)
{
	EXPLAIN_POINTER(struct ibv_mr, "ibv_reg_mr_iova",
			REAL(ibv_reg_mr_iova)(pd, addr, length, iova, access), pd->context,
			explain_made(EXPLAIN_MR, result);
			explain_watch_mr(result, (unsigned int)access, iova);
			explain_order(&call, result, (unsigned int)access),
			explain_reg(&call, pd, addr, length, (unsigned int)access));
}

/* It is what ibv_reg_mr() of the program's source comes to where the access flags are not constant. */
EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				       unsigned int access)
{
	EXPLAIN_POINTER(
		struct ibv_mr, iova == (uintptr_t)addr ? explain_verb_reg_mr : "ibv_reg_mr_iova",
		REAL(ibv_reg_mr_iova2)(pd, addr, length, iova, access), pd->context,
		explain_made(EXPLAIN_MR, result);
		explain_watch_mr(result, access, iova);
		explain_order(&call, result, access), explain_reg(&call, pd, addr, length, access));
}

const char explain_verb_reg_dmabuf_mr[] = "ibv_reg_dmabuf_mr";

EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					uint64_t iova, int fd, int access)
{
	const struct rdmaez_mr_dmabuf dmabuf = {offset, length, iova, fd};
	struct ibv_mr *mr;

	/* By a file descriptor that is none, programs and explanations learn whether the driver has the verb at all. */
	if (fd < 0)
		return REAL_IF_ANY(ibv_reg_dmabuf_mr, (pd, offset, length, iova, fd, access));
	EXPLAIN_POINTER(struct ibv_mr, explain_verb_reg_dmabuf_mr,
			REAL_IF_ANY(ibv_reg_dmabuf_mr, (pd, offset, length, iova, fd, access)),
			pd->context, explain_made(EXPLAIN_MR, result);
			explain_watch_mr(result, (unsigned int)access, iova),
			rdmaez_mr_reg_dmabuf(pd, &dmabuf, (unsigned int)access, &mr, call.diag));
}

/* Of rdma-core 60; its struct need not be known here. */
struct ibv_mr_init_attr;
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr);

EXPORT struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr)
{
	EXPLAIN_POINTER(struct ibv_mr, "ibv_reg_mr_ex", REAL_IF_ANY(ibv_reg_mr_ex, (pd, attr)),
			pd->context, explain_made(EXPLAIN_MR, result), EXPLAIN_NOTHING);
}

struct ibv_mr *explain_alloc_null_mr(struct ibv_pd *pd)
{
	EXPLAIN_POINTER(struct ibv_mr, "ibv_alloc_null_mr", ORIGINAL(pd, alloc_null_mr)(pd),
			pd->context, explain_made(EXPLAIN_MR, result), EXPLAIN_NOTHING);
}

int explain_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		      struct ibv_sge *sge, uint32_t count)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_advise_mr",
		       ORIGINAL(pd, advise_mr)(pd, advice, flags, sge, count), pd->context,
		       EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
			int access)
{
	struct explain_call call = EXPLAIN_CALL(ibv_rereg_mr, EXPLAIN_REFUSAL);
	const uint64_t since = explain_watch_now();
	int result;

	if (explain_answered(&call, &result))
		return result;
	explain_enter();
	result = REAL(ibv_rereg_mr)(mr, flags, pd, addr, length, access);
	explain_watch_rereg(mr, flags, (unsigned int)access, since, result, errno);
	/* The number tells what has become of the region; why, only errno does. */
	if (explain_leave(&call, result ? -1 : 0)) {
		if (flags & IBV_REREG_MR_CHANGE_TRANSLATION && explain_thread.error != EOPNOTSUPP)
			explain_reg(&call, flags & IBV_REREG_MR_CHANGE_PD ? pd : mr->pd, addr,
				    length,
				    flags & IBV_REREG_MR_CHANGE_ACCESS ? (unsigned int)access : 0);
		explain_refused(&call, mr->context);
	}
	return result;
}

static const char dereg_mr[] = "ibv_dereg_mr";

static int dereg_mr_watched(__typeof__(&ibv_dereg_mr) real, struct ibv_mr *mr)
{
	const unsigned int row = explain_watch_leave_mr(mr);
	int result;

	explain_order_gone(mr);
	result = real(mr);
	explain_watch_left_mr(row, result);
	return result;
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	explain_does(dereg_mr, EXPLAIN_MR, mr);
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, dereg_mr, dereg_mr_watched(REAL(ibv_dereg_mr), mr),
		       mr->context, explain_destroyed(EXPLAIN_MR, mr),
		       rdmaez_mr_dereg(mr, call.diag));
}

EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	EXPLAIN_POINTER(struct ibv_mr, "ibv_import_mr", REAL(ibv_import_mr)(pd, handle),
			pd->context, EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

EXPORT void ibv_unimport_mr(struct ibv_mr *mr)
{
	if (!explain_thread.explaining)
		REAL(ibv_unimport_mr)(mr);
}

/* ---- Memory windows -------------------------------------------------------------------------------- */

struct ibv_mw *explain_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	EXPLAIN_POINTER(struct ibv_mw, "ibv_alloc_mw", ORIGINAL(pd, alloc_mw)(pd, type),
			pd->context, explain_made(EXPLAIN_MW, result), EXPLAIN_NOTHING);
}

int explain_dealloc_mw(struct ibv_mw *mw)
{
	explain_does("ibv_dealloc_mw", EXPLAIN_MW, mw);
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_dealloc_mw", ORIGINAL(mw, dealloc_mw)(mw), mw->context,
		       explain_destroyed(EXPLAIN_MW, mw), EXPLAIN_NOTHING);
}

/* ---- Completion queues ----------------------------------------------------------------------------- */

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	explain_wrap_context(context);
	EXPLAIN_POINTER(struct ibv_comp_channel, "ibv_create_comp_channel",
			REAL(ibv_create_comp_channel)(context), context,
			explain_made(EXPLAIN_CHANNEL, result), EXPLAIN_NOTHING);
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	explain_does("ibv_destroy_comp_channel", EXPLAIN_CHANNEL, channel);
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_destroy_comp_channel",
		       REAL(ibv_destroy_comp_channel)(channel), channel->context,
		       explain_destroyed(EXPLAIN_CHANNEL, channel), EXPLAIN_NOTHING);
}

static const char create_cq[] = "ibv_create_cq";

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq *cq;

	explain_wrap_context(context);
	EXPLAIN_POINTER(struct ibv_cq, create_cq,
			REAL(ibv_create_cq)(context, cqe, cq_context, channel, comp_vector),
			context, explain_made(EXPLAIN_CQ, result);
			explain_watch_cq(result, false),
			rdmaez_cq_create(context, cqe, channel, comp_vector, &cq, call.diag));
}

struct ibv_cq_init_attr_ex explain_cq_asked(const struct ibv_cq_init_attr_ex *init_attr)
{
	struct ibv_cq_init_attr_ex asked = {0};

	memcpy(&asked, init_attr,
	       init_attr->comp_mask ? sizeof(asked) : offsetof(struct ibv_cq_init_attr_ex, flags));
	return asked;
}

void explain_has_cq(struct ibv_cq_ex *cq)
{
	explain_made(EXPLAIN_CQ, cq);
	explain_wrap_cq(cq);
	explain_watch_cq(ibv_cq_ex_to_cq(cq), true);
}

struct ibv_cq_ex *explain_create_cq_ex(struct ibv_context *context,
				       struct ibv_cq_init_attr_ex *init_attr)
{
	struct ibv_cq_init_attr_ex asked = explain_cq_asked(init_attr);
	struct ibv_cq_ex *cq;

	EXPLAIN_POINTER(struct ibv_cq_ex, explain_verb_create_cq_ex,
			explain_originals(context)->create_cq_ex(context, init_attr), context,
			explain_has_cq(result),
			rdmaez_cq_create_ex(context, &asked, &cq, call.diag));
}

int explain_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_modify_cq", ORIGINAL(cq, modify_cq)(cq, attr),
		       cq->context, EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

static const char resize_cq[] = "ibv_resize_cq";

EXPORT int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, resize_cq, REAL(ibv_resize_cq)(cq, cqe), cq->context,
		       EXPLAIN_NOTHING, rdmaez_cq_resize(cq, cqe, call.diag));
}

static const char destroy_cq[] = "ibv_destroy_cq";

/* It waits, without an end, until each event that the program took is acknowledged. */
static int destroy_cq_watched(__typeof__(&ibv_destroy_cq) real, struct ibv_cq *cq,
			      const void *frame)
{
	const unsigned int row = explain_watch_leave_cq(cq);
	const struct explain_watch_call waits = explain_watch_enter(EXPLAIN_DESTROY_CQ, row, frame);
	const int result = real(cq);

	explain_watch_exit(&waits);
	explain_watch_left_cq(row, cq, result);
	return result;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
	const void *const frame = __builtin_frame_address(0);

	explain_does(destroy_cq, EXPLAIN_CQ, cq);
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, destroy_cq,
		       destroy_cq_watched(REAL(ibv_destroy_cq), cq, frame), cq->context,
		       explain_destroyed(EXPLAIN_CQ, cq), rdmaez_cq_destroy(cq, call.diag));
}

/* ---- Shared receive queues and XRC domains ----------------------------------------------------------- */

static const char create_srq[] = "ibv_create_srq";
static const char create_srq_ex[] = "ibv_create_srq_ex";

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init_attr)
{
	COPY(init_attr);
	struct ibv_srq *srq;

	EXPLAIN_POINTER(struct ibv_srq, create_srq, REAL(ibv_create_srq)(pd, init_attr),
			pd->context, explain_made(EXPLAIN_SRQ, result);
			explain_watch_srq(result), rdmaez_srq_create(pd, &asked, &srq, call.diag));
}

struct ibv_srq *explain_create_srq_ex(struct ibv_context *context,
				      struct ibv_srq_init_attr_ex *init_attr)
{
	struct ibv_srq_init_attr_ex asked = {0};
	struct ibv_srq *srq;

	memcpy(&asked, init_attr,
	       init_attr->comp_mask & IBV_SRQ_INIT_ATTR_TM
		       ? sizeof(asked)
		       : offsetof(struct ibv_srq_init_attr_ex, tm_cap));
	EXPLAIN_POINTER(struct ibv_srq, create_srq_ex,
			explain_originals(context)->create_srq_ex(context, init_attr), context,
			explain_made(EXPLAIN_SRQ, result);
			explain_watch_srq(result),
			rdmaez_srq_create_ex(context, &asked, &srq, call.diag));
}

EXPORT int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_modify_srq", REAL(ibv_modify_srq)(srq, attr, mask),
		       srq->context, EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

static const char destroy_srq[] = "ibv_destroy_srq";

static int destroy_srq_watched(__typeof__(&ibv_destroy_srq) real, struct ibv_srq *srq,
			       const void *frame)
{
	const unsigned int row = explain_watch_leave_srq(srq);
	const struct explain_watch_call waits = explain_watch_enter(EXPLAIN_DESTROY_SRQ, 0, frame);
	const int result = real(srq);

	explain_watch_exit(&waits);
	explain_watch_left_srq(row, srq, result);
	return result;
}

EXPORT int ibv_destroy_srq(struct ibv_srq *srq)
{
	const void *const frame = __builtin_frame_address(0);

	explain_does(destroy_srq, EXPLAIN_SRQ, srq);
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, destroy_srq,
		       destroy_srq_watched(REAL(ibv_destroy_srq), srq, frame), srq->context,
		       explain_destroyed(EXPLAIN_SRQ, srq), rdmaez_srq_destroy(srq, call.diag));
}

static const char open_xrcd[] = "ibv_open_xrcd";
static const char close_xrcd[] = "ibv_close_xrcd";

struct ibv_xrcd *explain_open_xrcd(struct ibv_context *context,
				   struct ibv_xrcd_init_attr *init_attr)
{
	COPY(init_attr);
	struct ibv_xrcd *xrcd;

	EXPLAIN_POINTER(struct ibv_xrcd, open_xrcd,
			explain_originals(context)->open_xrcd(context, init_attr), context,
			explain_made(EXPLAIN_XRCD, result),
			rdmaez_xrcd_open(context, &asked, &xrcd, call.diag));
}

int explain_close_xrcd(struct ibv_xrcd *xrcd)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, close_xrcd, ORIGINAL(xrcd, close_xrcd)(xrcd), xrcd->context,
		       explain_destroyed(EXPLAIN_XRCD, xrcd), rdmaez_xrcd_close(xrcd, call.diag));
}

/* ---- Address handles ------------------------------------------------------------------------------- */

/* What rdmaez_ah_create() makes these attributes of. */
static struct rdmaez_path path_of(const struct ibv_ah_attr *attr)
{
	struct rdmaez_path path = {0};

	path.dlid = attr->dlid;
	path.sl = attr->sl;
	path.src_path_bits = attr->src_path_bits;
	path.static_rate = attr->static_rate;
	if (!attr->is_global)
		return path;
	path.flags = RDMAEZ_PATH_GRH;
	path.dgid = attr->grh.dgid;
	path.sgid_index = rdmaez_exactly(attr->grh.sgid_index);
	path.flow_label = attr->grh.flow_label;
	path.hop_limit = attr->grh.hop_limit;
	path.traffic_class = attr->grh.traffic_class;
	return path;
}

EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct rdmaez_path path;
	struct ibv_ah *ah;

	EXPLAIN_POINTER(struct ibv_ah, explain_verb_create_ah, REAL(ibv_create_ah)(pd, attr),
			pd->context, explain_made(EXPLAIN_AH, result);
			explain_has_path(pd->context, attr);
			explain_watch_ah(result, attr), path = path_of(attr);
			rdmaez_ah_create(pd, &path, attr->port_num, &ah, call.diag));
}

EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
					    struct ibv_grh *grh, uint8_t port)
{
	struct ibv_ah *ah;

	EXPLAIN_POINTER(struct ibv_ah, "ibv_create_ah_from_wc",
			REAL(ibv_create_ah_from_wc)(pd, wc, grh, port), pd->context,
			explain_made(EXPLAIN_AH, result);
			explain_watch_ah_from_wc(result, wc, grh, port),
			explain_replay_as(explain_verb_create_ah);
			rdmaez_ah_create_from_wc(pd, wc, grh, port, &ah, call.diag));
}

static int destroy_ah_watched(__typeof__(&ibv_destroy_ah) real, struct ibv_ah *ah)
{
	const unsigned int row = explain_watch_leave_ah(ah);
	const int result = real(ah);

	explain_watch_left_ah(row, result);
	return result;
}

EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
	explain_does("ibv_destroy_ah", EXPLAIN_AH, ah);
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_destroy_ah",
		       destroy_ah_watched(REAL(ibv_destroy_ah), ah), ah->context,
		       explain_destroyed(EXPLAIN_AH, ah), EXPLAIN_NOTHING);
}

/* ---- Device memory --------------------------------------------------------------------------------- */

static const char alloc_dm[] = "ibv_alloc_dm";
static const char free_dm[] = "ibv_free_dm";
static const char reg_dm_mr[] = "ibv_reg_dm_mr";

/* The headers take bytes where the verb takes their logarithm. */
static void explain_alloc(struct explain_call *call, struct ibv_context *context,
			  const struct ibv_alloc_dm_attr *attr)
{
	const uint32_t log_align = attr->log_align_req < 63 ? attr->log_align_req : 63;
	const struct rdmaez_dm_opts opts = {
		.flags = RDMAEZ_DM_EXACT,
		.alignment = log_align ? (size_t)1 << log_align : 0,
	};
	struct rdmaez_dm dm;

	rdmaez_dm_alloc(context, attr->length, &opts, &dm, call->diag);
	for (unsigned int i = 0; i < call->diag->count; i++) {
		struct rdmaez_finding *const at = &call->diag->finding[i];

		if (strcmp(at->field, "opts.alignment") != 0)
			continue;
		at->field = "log_align_req";
		at->kind = RDMAEZ_VALUE_NUMBER;
		at->value = attr->log_align_req;
		at->min = 0;
		at->max = 31;
	}
}

struct ibv_dm *explain_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	EXPLAIN_POINTER(struct ibv_dm, alloc_dm,
			explain_originals(context)->alloc_dm(context, attr), context,
			explain_made(EXPLAIN_DM, result), explain_alloc(&call, context, attr));
}

/* No verb tells how long it is. */
static struct rdmaez_dm dm_of(struct ibv_dm *memory)
{
	return (struct rdmaez_dm){.dm = memory,
				  .context = memory->context,
				  .length = SIZE_MAX,
				  .alloc_length = SIZE_MAX,
				  .owner = RDMAEZ_DM_ALLOCATED};
}

int explain_free_dm(struct ibv_dm *memory)
{
	struct rdmaez_dm dm;

	EXPLAIN_STATUS(EXPLAIN_REFUSAL, free_dm, ORIGINAL(memory, free_dm)(memory), memory->context,
		       explain_destroyed(EXPLAIN_DM, memory), dm = dm_of(memory);
		       rdmaez_dm_close(&dm, call.diag));
}

struct ibv_mr *explain_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *memory, uint64_t offset,
				 size_t length, unsigned int access)
{
	struct explain_call call = EXPLAIN_CALL_OF(reg_dm_mr, EXPLAIN_REFUSAL);
	const struct rdmaez_dm_range range = {offset, length};
	struct rdmaez_dm_region region;
	struct rdmaez_dm dm;
	struct ibv_mr *mr;

	if (explain_answered_null(&call))
		return NULL;
	explain_enter();
	mr = ORIGINAL(pd, reg_dm_mr)(pd, memory, offset, length, access);
	if (!explain_leave_null(&call, mr)) {
		if (mr)
			explain_made(EXPLAIN_MR, mr);
		return mr;
	}
	/* rdmaez_dm_reg() adds the flag, so that it would not find it missing. */
	if (access & IBV_ACCESS_ZERO_BASED) {
		dm = dm_of(memory);
		rdmaez_dm_reg(&dm, pd, &range, access, &region, call.diag);
	}
	explain_refused(&call, pd->context);
	return NULL;
}

EXPORT struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
	EXPLAIN_POINTER(struct ibv_dm, "ibv_import_dm",
			REAL_IF_ANY(ibv_import_dm, (context, handle)), context, EXPLAIN_NOTHING,
			EXPLAIN_NOTHING);
}

EXPORT void ibv_unimport_dm(struct ibv_dm *memory)
{
	if (!explain_thread.explaining)
		REAL(ibv_unimport_dm)(memory);
}

/* ---- The rest, which is explained by its errno value ------------------------------------------------- */

struct ibv_td *explain_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	EXPLAIN_POINTER(struct ibv_td, "ibv_alloc_td",
			explain_originals(context)->alloc_td(context, attr), context,
			EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_dealloc_td(struct ibv_td *td)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_dealloc_td", ORIGINAL(td, dealloc_td)(td), td->context,
		       EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

struct ibv_pd *explain_alloc_parent_domain(struct ibv_context *context,
					   struct ibv_parent_domain_init_attr *attr)
{
	EXPLAIN_POINTER(struct ibv_pd, "ibv_alloc_parent_domain",
			explain_originals(context)->alloc_parent_domain(context, attr), context,
			explain_made(EXPLAIN_PD, result), EXPLAIN_NOTHING);
}

struct ibv_wq *explain_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	EXPLAIN_POINTER(struct ibv_wq, "ibv_create_wq",
			explain_originals(context)->create_wq(context, attr), context,
			EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_modify_wq", ORIGINAL(wq, modify_wq)(wq, attr),
		       wq->context, EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_destroy_wq(struct ibv_wq *wq)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_destroy_wq", ORIGINAL(wq, destroy_wq)(wq), wq->context,
		       EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

struct ibv_rwq_ind_table *explain_create_rwq_ind_table(struct ibv_context *context,
						       struct ibv_rwq_ind_table_init_attr *attr)
{
	EXPLAIN_POINTER(struct ibv_rwq_ind_table, "ibv_create_rwq_ind_table",
			explain_originals(context)->create_rwq_ind_table(context, attr), context,
			EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_destroy_rwq_ind_table(struct ibv_rwq_ind_table *ind_table)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_destroy_rwq_ind_table",
		       ORIGINAL(ind_table, destroy_rwq_ind_table)(ind_table), ind_table->context,
		       EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

struct ibv_counters *explain_create_counters(struct ibv_context *context,
					     struct ibv_counters_init_attr *attr)
{
	EXPLAIN_POINTER(struct ibv_counters, "ibv_create_counters",
			explain_originals(context)->create_counters(context, attr), context,
			EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_destroy_counters(struct ibv_counters *counters)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_destroy_counters",
		       ORIGINAL(counters, destroy_counters)(counters), counters->context,
		       EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t count,
			  uint32_t flags)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_read_counters",
		       ORIGINAL(counters, read_counters)(counters, values, count, flags),
		       counters->context, EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_attach_counters_point_flow(struct ibv_counters *counters,
				       struct ibv_counter_attach_attr *attr, struct ibv_flow *flow)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_attach_counters_point_flow",
		       ORIGINAL(counters, attach_counters_point_flow)(counters, attr, flow),
		       counters->context, EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

struct ibv_flow_action *explain_create_flow_action_esp(struct ibv_context *context,
						       struct ibv_flow_action_esp_attr *attr)
{
	EXPLAIN_POINTER(struct ibv_flow_action, "ibv_create_flow_action_esp",
			explain_originals(context)->create_flow_action_esp(context, attr), context,
			EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_modify_flow_action_esp(struct ibv_flow_action *action,
				   struct ibv_flow_action_esp_attr *attr)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_modify_flow_action_esp",
		       ORIGINAL(action, modify_flow_action_esp)(action, attr), action->context,
		       EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_destroy_flow_action(struct ibv_flow_action *action)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_destroy_flow_action",
		       ORIGINAL(action, destroy_flow_action)(action), action->context,
		       EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
	EXPLAIN_STATUS(EXPLAIN_QUERY, "ibv_get_srq_num", ORIGINAL(srq, get_srq_num)(srq, srq_num),
		       srq->context, EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}
