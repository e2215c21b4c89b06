/* SPDX-License-Identifier: MIT */
/* The verbs that move data, as they stand in a context's table, and where the originals are kept. */
#ifndef RDMAEZ_EXPLAIN_DATA_H
#define RDMAEZ_EXPLAIN_DATA_H

#include "explain.h"

#define EXPLAIN_SLOT_poll_cq       _compat_create_cq
#define EXPLAIN_SLOT_req_notify_cq _compat_resize_cq
#define EXPLAIN_SLOT_post_send     _compat_create_qp
#define EXPLAIN_SLOT_post_recv     _compat_modify_qp
#define EXPLAIN_SLOT_post_srq_recv _compat_create_srq
#define EXPLAIN_ORIGINAL(context, op) \
	((__typeof__((context)->ops.op))(void (*)(void))(context)->ops.EXPLAIN_SLOT_##op)

int explain_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc);

#endif
