/* SPDX-License-Identifier: MIT */
/* The verbs that libibverbs exports. */
#include "explain.h"

/* Private to rdma-core, but what every way of opening a device comes to; its form has not changed since 2018. */
struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data);

EXPORT struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data)
{
	struct ibv_context *context;

	explain_enter();
	context = REAL(verbs_open_device)(device, private_data);
	explain_thread.depth--;
	if (context)
		explain_wrap_context(context);
	return context;
}

/* Those that only the headers need here. Each goes by REAL(), since a reference without a version would be bound to
 * the ABI of 2006; the link fails (-z defs) for one that is forgotten. */
#undef ibv_query_port
#undef ibv_get_device_list
#define PASS(type, name, parameters, arguments) \
	EXPORT type name parameters             \
	{                                       \
		return REAL(name) arguments;    \
	}
struct _compat_ibv_port_attr;
PASS(int, _ibv_query_gid_ex,
     (struct ibv_context * c, uint32_t p, uint32_t i, struct ibv_gid_entry *e, uint32_t f,
      size_t s),
     (c, p, i, e, f, s))
PASS(ssize_t, _ibv_query_gid_table,
     (struct ibv_context * c, struct ibv_gid_entry *e, size_t m, uint32_t f, size_t s),
     (c, e, m, f, s))
PASS(struct ibv_pd *, ibv_alloc_pd, (struct ibv_context * c), (c))
PASS(int, ibv_close_device, (struct ibv_context * c), (c))
PASS(struct ibv_ah *, ibv_create_ah, (struct ibv_pd * pd, struct ibv_ah_attr *a), (pd, a))
PASS(struct ibv_cq *, ibv_create_cq,
     (struct ibv_context * c, int n, void *x, struct ibv_comp_channel *h, int v), (c, n, x, h, v))
PASS(struct ibv_qp *, ibv_create_qp, (struct ibv_pd * pd, struct ibv_qp_init_attr *a), (pd, a))
PASS(struct ibv_srq *, ibv_create_srq, (struct ibv_pd * pd, struct ibv_srq_init_attr *a), (pd, a))
PASS(int, ibv_dealloc_pd, (struct ibv_pd * pd), (pd))
PASS(int, ibv_dereg_mr, (struct ibv_mr * mr), (mr))
PASS(int, ibv_destroy_cq, (struct ibv_cq * cq), (cq))
PASS(int, ibv_destroy_qp, (struct ibv_qp * qp), (qp))
PASS(int, ibv_destroy_srq, (struct ibv_srq * srq), (srq))
PASS(int, ibv_get_async_event, (struct ibv_context * c, struct ibv_async_event *e), (c, e))
PASS(__be64, ibv_get_device_guid, (struct ibv_device * d), (d))
PASS(struct ibv_device **, ibv_get_device_list, (int *n), (n))
PASS(struct ibv_context *, ibv_import_device, (int fd), (fd))
PASS(struct ibv_mr *, ibv_import_mr, (struct ibv_pd * pd, uint32_t h), (pd, h))
PASS(struct ibv_pd *, ibv_import_pd, (struct ibv_context * c, uint32_t h), (c, h))
PASS(struct ibv_context *, ibv_open_device, (struct ibv_device * d), (d))
PASS(int, ibv_query_device, (struct ibv_context * c, struct ibv_device_attr *a), (c, a))
PASS(int, ibv_query_ece, (struct ibv_qp * qp, struct ibv_ece *e), (qp, e))
PASS(int, ibv_query_pkey, (struct ibv_context * c, uint8_t p, int i, __be16 *k), (c, p, i, k))
PASS(int, ibv_query_port, (struct ibv_context * c, uint8_t p, struct _compat_ibv_port_attr *a),
     (c, p, a))
PASS(int, ibv_query_qp,
     (struct ibv_qp * qp, struct ibv_qp_attr *a, int m, struct ibv_qp_init_attr *i), (qp, a, m, i))
PASS(int, ibv_query_srq, (struct ibv_srq * srq, struct ibv_srq_attr *a), (srq, a))
PASS(struct ibv_mr *, ibv_reg_mr_iova2,
     (struct ibv_pd * pd, void *a, size_t l, uint64_t i, unsigned int x), (pd, a, l, i, x))
PASS(int, ibv_resize_cq, (struct ibv_cq * cq, int n), (cq, n))
PASS(int, ibv_set_ece, (struct ibv_qp * qp, struct ibv_ece *e), (qp, e))
EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	REAL(ibv_ack_async_event)(event);
}
EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	REAL(ibv_free_device_list)(list);
}
EXPORT void ibv_unimport_mr(struct ibv_mr *mr)
{
	REAL(ibv_unimport_mr)(mr);
}
EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
	REAL(ibv_unimport_pd)(pd);
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct explain_call call = EXPLAIN_CALL(ibv_modify_qp, EXPLAIN_REFUSAL);
	int result;

	if (explain_replayed(&call, &result))
		return result;
	explain_enter();
	result = REAL(ibv_modify_qp)(qp, attr, attr_mask);
	if (explain_leave(&call, result)) {
		rdmaez_qp_modify(qp, attr, attr_mask, call.diag);
		explain_end(&call);
	}
	return result;
}
