/* SPDX-License-Identifier: MIT */
/*
 * The tables of a context, through which inline verbs go. The originals of the data path lie in entries of the same
 * table that rdma-core writes and never reads (`_compat_*` of struct ibv_context_ops), so they are found without a
 * search and without a lock.
 */
#include "explain.h"
#include "data.h"

void explain_wrap_context(struct ibv_context *context)
{
	if (context->ops.poll_cq == explain_poll_cq)
		return;
	context->ops.EXPLAIN_SLOT_poll_cq = (void *(*)(void))(void (*)(void))context->ops.poll_cq;
	context->ops.poll_cq = explain_poll_cq;
}

void explain_unwrap_context(struct ibv_context *context)
{
	(void)context;
}
