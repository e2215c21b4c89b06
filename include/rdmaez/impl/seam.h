/* SPDX-License-Identifier: MIT */
/*
 * Joins the two layers. This file has each function of the explanations that the core calls. A
 * program without them has no body for any of these, and the core passes over the call (see
 * RDMAEZ_SEAM in base.h). Those for reasons are in why.h, on which records are built. Those for
 * findings are in diag.h, by which records are filled.
 */
/* This is before the guard, because the bodies of diag.h need this file. */
#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

#ifndef RDMAEZ_IMPL_SEAM_H
#define RDMAEZ_IMPL_SEAM_H

#include <stdio.h>

RDMAEZ_IMPL_BEGIN

struct rdmaez_advice;
struct rdmaez_caps;
struct rdmaez_caps_item;
struct rdmaez_caps_table;
struct rdmaez_cq_known;
struct rdmaez_diag;
struct rdmaez_dm_range;
struct rdmaez_endpoint;
struct rdmaez_finding;
struct rdmaez_gid_want;
struct rdmaez_impl_cm_row;
struct rdmaez_impl_exchange;
struct rdmaez_impl_path_build;
struct rdmaez_impl_port_choice;
struct rdmaez_impl_qp_build;
struct rdmaez_mr_dmabuf;
struct rdmaez_path;
struct rdmaez_port_caps;
struct rdmaez_port_counts;
struct rdmaez_port_tables;
struct rdmaez_qp_known;
struct rdmaez_wc_batch;
struct sockaddr;

/* explain/ah.h */
RDMAEZ_SEAM void rdmaez_impl_ah_explain(struct ibv_context *context, const struct ibv_ah_attr *attr,
					const struct ibv_port_attr *port, struct rdmaez_diag *diag);

/* explain/caps.h */
RDMAEZ_SEAM int rdmaez_impl_tell_caps_format(const struct rdmaez_caps *caps, char *buf,
					     size_t size);
RDMAEZ_SEAM int rdmaez_impl_tell_caps_json(const struct rdmaez_caps *caps, char *buf, size_t size);
RDMAEZ_SEAM int rdmaez_impl_tell_caps_item_format(const struct rdmaez_caps_item *item, char *buf,
						  size_t size);
RDMAEZ_SEAM int rdmaez_impl_tell_caps_diff_format(struct rdmaez_caps_table first,
						  struct rdmaez_caps_table second, char *buf,
						  size_t size);
RDMAEZ_SEAM int rdmaez_impl_caps_need(const struct rdmaez_finding *finding,
				      enum rdmaez_finding_form form, char *buf, size_t size);
RDMAEZ_SEAM const char *rdmaez_impl_tell_caps_kind_str(int kind, uint64_t number);

/* explain/cm.h */
RDMAEZ_SEAM void rdmaez_impl_cm_explain(struct rdmaez_diag *diag, const char *of, int status,
					bool is_event);
RDMAEZ_SEAM const struct rdmaez_impl_cm_row *rdmaez_impl_cm_find(const char *of, int status);
RDMAEZ_SEAM void rdmaez_impl_cm_explain_address(struct rdmaez_diag *diag, const struct sockaddr *to,
						int cause);
RDMAEZ_SEAM int rdmaez_impl_cm_route_cause(const struct sockaddr *to, int cause, int error);
RDMAEZ_SEAM int rdmaez_impl_cm_why_no_node(void);
RDMAEZ_SEAM const char *rdmaez_impl_cm_words(const struct rdmaez_diag *diag,
					     const struct rdmaez_finding *finding);

/* explain/cq_examine.h */
RDMAEZ_SEAM int rdmaez_impl_tell_cq_examine(struct ibv_cq *cq, const struct rdmaez_cq_known *known,
					    struct rdmaez_diag *diag);

/* explain/device.h */
RDMAEZ_SEAM void rdmaez_impl_device_explain(struct rdmaez_diag *diag, struct ibv_device **list,
					    const char *name, const struct ibv_device *refused);

/* explain/diag.h */
RDMAEZ_SEAM int rdmaez_impl_tell_diag_format(const struct rdmaez_diag *diag, char *buf,
					     size_t size);
RDMAEZ_SEAM int rdmaez_impl_tell_diag_print(const struct rdmaez_diag *diag, FILE *stream);
RDMAEZ_SEAM int rdmaez_impl_tell_diag_line(const struct rdmaez_diag *diag, char *buf, size_t size);
RDMAEZ_SEAM int rdmaez_impl_tell_diag_json(const struct rdmaez_diag *diag, char *buf, size_t size);
RDMAEZ_SEAM int rdmaez_impl_plain(const char *string, size_t most, char *buf, size_t size);
RDMAEZ_SEAM int rdmaez_impl_json_string(const char *string, size_t most, char *buf, size_t size);

/* explain/dm.h */
RDMAEZ_SEAM void rdmaez_impl_dm_explain_alloc(const struct ibv_alloc_dm_attr *attr,
					      struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_dm_explain_reg(const struct rdmaez_dm_range *range,
					    struct rdmaez_diag *diag);

/* explain/endpoint.h */
RDMAEZ_SEAM void rdmaez_impl_endpoint_explain(const struct rdmaez_endpoint *endpoint,
					      struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_endpoint_explain_misfit(const struct rdmaez_endpoint *local,
						     const struct rdmaez_endpoint *remote,
						     struct rdmaez_diag *diag);

/* explain/exchange.h */
RDMAEZ_SEAM void rdmaez_impl_exchange_explain_stop(const struct rdmaez_impl_exchange *x,
						   bool is_send, struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_exchange_explain_word(unsigned int word, int64_t theirs, int64_t mine,
						   struct rdmaez_diag *diag);

/* explain/late.h */
RDMAEZ_SEAM void rdmaez_impl_late_drain(struct ibv_qp *qp, uint64_t timeout_ns,
					struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_late_exchange(const struct rdmaez_impl_exchange *x,
					   struct rdmaez_diag *diag);

/* explain/refusal.h */
RDMAEZ_SEAM enum rdmaez_why rdmaez_impl_errno_meaning(int error, enum rdmaez_why otherwise);
RDMAEZ_SEAM void rdmaez_impl_explain_errno(struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_explain_rest(struct rdmaez_diag *diag, const char *field,
					  const char *limit, int count);

/* explain/path.h */
RDMAEZ_SEAM void rdmaez_impl_path_explain(const struct rdmaez_impl_path_build *build,
					  struct rdmaez_diag *diag);

/* explain/wc.h */
RDMAEZ_SEAM int rdmaez_impl_tell_wc_format(const struct ibv_wc *wc, char *buf, size_t size);
RDMAEZ_SEAM int rdmaez_impl_tell_event_format(const struct ibv_async_event *event, char *buf,
					      size_t size);
RDMAEZ_SEAM const struct rdmaez_advice *rdmaez_impl_tell_wc_explain(const struct ibv_wc *wc);
RDMAEZ_SEAM const struct rdmaez_advice *
rdmaez_impl_tell_event_explain(const struct ibv_async_event *event);
RDMAEZ_SEAM const char *rdmaez_impl_tell_wc_vendor_str(const struct ibv_wc *wc);

/* explain/mr.h */
RDMAEZ_SEAM void rdmaez_impl_mr_explain(struct ibv_context *context, void *addr, size_t length,
					unsigned int access, struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_mr_explain_dmabuf(struct ibv_pd *pd,
					       const struct rdmaez_mr_dmabuf *dmabuf,
					       unsigned int access, struct rdmaez_diag *diag);

/* explain/multicast.h */
RDMAEZ_SEAM void rdmaez_impl_multicast_explain(const struct ibv_qp *qp, struct rdmaez_diag *diag);
RDMAEZ_SEAM int rdmaez_impl_tell_multicast_examine(struct ibv_qp *qp,
						   const struct rdmaez_path *group, int port,
						   struct rdmaez_diag *diag);

/* explain/objects.h */
RDMAEZ_SEAM void rdmaez_impl_cq_explain(struct ibv_context *context,
					const struct ibv_cq_init_attr_ex *init, bool is_ex,
					struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_cq_explain_resize(const struct ibv_cq *cq, int cqe,
					       struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_srq_explain(struct ibv_context *context,
					 const struct ibv_srq_init_attr_ex *init,
					 struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_srq_explain_modify(struct ibv_srq *srq,
						const struct ibv_srq_attr *attr, int attr_mask,
						struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_xrcd_explain(struct ibv_context *context,
					  const struct ibv_xrcd_init_attr *init,
					  struct rdmaez_diag *diag);

/* explain/port.h */
RDMAEZ_SEAM void rdmaez_impl_port_explain(struct ibv_context *context, int port_num,
					  struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_port_explain_choice(const struct rdmaez_impl_port_choice *choice,
						 bool all, struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_port_explain_gids(struct ibv_context *context, int port_num,
					       const struct ibv_port_attr *port,
					       const struct rdmaez_gid_want *want,
					       struct rdmaez_diag *diag);

/* explain/port_caps.h */
RDMAEZ_SEAM int rdmaez_impl_tell_port_caps_format(const struct rdmaez_port_caps *caps,
						  const struct rdmaez_port_tables *tables,
						  char *buf, size_t size);
RDMAEZ_SEAM int rdmaez_impl_tell_port_caps_json(const struct rdmaez_port_caps *caps,
						const struct rdmaez_port_tables *tables, char *buf,
						size_t size);

/* explain/qp_check.h */
RDMAEZ_SEAM int rdmaez_impl_tell_qp_check_as(struct ibv_qp *qp, enum ibv_qp_type type,
					     const struct ibv_qp_attr *attr, int attr_mask,
					     struct rdmaez_diag *diag);
RDMAEZ_SEAM int rdmaez_impl_tell_qp_check(struct ibv_qp *qp, const struct ibv_qp_attr *attr,
					  int attr_mask, struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_qp_explain(struct ibv_qp *qp, enum ibv_qp_type type,
					const struct ibv_qp_attr *attr, int attr_mask,
					struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_qp_explain_options(const struct rdmaez_impl_qp_build *build, int mask,
						struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_qp_explain_values(const struct rdmaez_impl_qp_build *build, int mask,
					       struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_qp_mask_explain(enum ibv_qp_type type, enum ibv_qp_state from,
					     enum ibv_qp_state to, int attr_mask,
					     enum rdmaez_severity severity,
					     struct rdmaez_diag *diag);

/* explain/qp_create.h */
RDMAEZ_SEAM void rdmaez_impl_create_explain(struct ibv_context *context,
					    const struct ibv_qp_init_attr *init,
					    const struct ibv_pd *pd, bool has_domain,
					    struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_create_explain_ex(struct ibv_context *context,
					       const struct ibv_qp_init_attr_ex *init,
					       struct rdmaez_diag *diag);

/* explain/qp_examine.h */
RDMAEZ_SEAM int rdmaez_impl_tell_qp_examine(struct ibv_qp *qp, struct rdmaez_diag *diag);
RDMAEZ_SEAM int rdmaez_impl_tell_qp_examine_with(struct ibv_qp *qp,
						 const struct rdmaez_qp_known *known,
						 struct rdmaez_diag *diag);
RDMAEZ_SEAM int rdmaez_impl_tell_port_count(struct ibv_context *context, int port,
					    struct rdmaez_port_counts *counts,
					    struct rdmaez_diag *diag);

/* explain/wc_explain.h */
RDMAEZ_SEAM int rdmaez_impl_tell_wc_explain_qp(const struct ibv_wc *wc, struct ibv_qp *qp,
					       struct rdmaez_diag *diag);
RDMAEZ_SEAM int rdmaez_impl_tell_wc_explain_send(const struct ibv_wc *wc, struct ibv_qp *qp,
						 const struct ibv_send_wr *wr,
						 struct rdmaez_diag *diag);
RDMAEZ_SEAM int rdmaez_impl_tell_wc_explain_recv(const struct ibv_wc *wc, struct ibv_qp *qp,
						 const struct ibv_recv_wr *wr,
						 struct rdmaez_diag *diag);
RDMAEZ_SEAM int rdmaez_impl_tell_event_explain_qp(const struct ibv_async_event *event,
						  struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_wc_poll_explain(const struct ibv_cq *cq, struct ibv_qp *qp,
					     const struct rdmaez_wc_batch *batch,
					     uint64_t waited_ns, struct rdmaez_diag *diag);

/* explain/wr.h */
RDMAEZ_SEAM void rdmaez_impl_wr_explain_ex(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr,
					   struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_wr_explain_send(struct ibv_qp *qp, const struct ibv_send_wr *wr,
					     const struct ibv_send_wr *bad,
					     struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_wr_explain_recv(struct ibv_qp *qp, const struct ibv_recv_wr *wr,
					     const struct ibv_recv_wr *bad,
					     struct rdmaez_diag *diag);
RDMAEZ_SEAM void rdmaez_impl_wr_explain_srq(struct ibv_srq *srq, const struct ibv_recv_wr *wr,
					    const struct ibv_recv_wr *bad,
					    struct rdmaez_diag *diag);

RDMAEZ_IMPL_END

#endif
