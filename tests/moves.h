/* SPDX-License-Identifier: MIT */
/* The two moves without options, in the form of the others, for tables of all six. */
#ifndef MOVES_H
#define MOVES_H

#include <rdmaez.h>

static inline int move_to_err(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
			      struct rdmaez_diag *diag)
{
	(void)opts;
	return rdmaez_qp_to_err(qp, diag);
}

static inline int move_to_reset(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag)
{
	(void)opts;
	return rdmaez_qp_to_reset(qp, diag);
}

#endif
