/* SPDX-License-Identifier: MIT */
/* The program's objects: which queue pair a completion is of, and what was never destroyed. */
#include "explain.h"

void explain_made(enum explain_object kind, const void *object)
{
	(void)object;
	if (explain_process && !explain_thread.explaining)
		atomic_fetch_add(&explain_process->objects[kind], 1);
}

void explain_destroyed(enum explain_object kind, const void *object)
{
	explain_probe_gone(object);
	if (explain_process && !explain_thread.explaining)
		atomic_fetch_sub(&explain_process->objects[kind], 1);
}

struct ibv_qp *explain_qp_hold(const struct ibv_context *context, uint32_t qp_num)
{
	(void)context;
	(void)qp_num;
	return NULL;
}

void explain_qp_release(struct ibv_qp *qp)
{
	(void)qp;
}
