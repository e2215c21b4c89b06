/* SPDX-License-Identifier: MIT */
/* The verbs that move data: functions that stand in the tables of contexts, queue pairs and completion queues. */
#ifndef RDMAEZ_EXPLAIN_DATA_H
#define RDMAEZ_EXPLAIN_DATA_H

#include "explain.h"

/* The entries of struct ibv_context_ops that are replaced. poll_cq is the last, by which one sees that all are. */
#define EXPLAIN_DATA(X) \
	X(req_notify_cq) X(post_send) X(post_recv) X(post_srq_recv) X(bind_mw) X(poll_cq)

/* Puts the functions of data.c there, under explain_lock(). A context that has them already is left as it is. */
void explain_wrap_data(struct ibv_context *context);

/* The functions of a completion queue of the extended interface (extended.c). */
void explain_wrap_cq(struct ibv_cq_ex *cq);

/* The queue itself is refused; ibv_poll_cq() does not tell why, which counts as EIO. */
void explain_cq_refused(struct explain_call call, const struct ibv_cq *cq, int error);

/* The headers have explained ibv_post_send(): what they say of the verb itself is of this one. */
void explain_rename(struct rdmaez_diag *diag, const char *verb);

#endif
