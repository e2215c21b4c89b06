/* SPDX-License-Identifier: MIT */
/* The tables of a context, through which inline verbs go. */
#include "explain.h"
#include "data.h"

void explain_wrap_context(struct ibv_context *context)
{
	explain_wrap_data(context);
}

void explain_unwrap_context(struct ibv_context *context)
{
	(void)context;
}
