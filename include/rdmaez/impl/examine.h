/* SPDX-License-Identifier: MIT */
/* Implements examine.h, whose work is all in the explanations. */
#ifndef RDMAEZ_IMPL_EXAMINE_H
#define RDMAEZ_IMPL_EXAMINE_H

#ifndef RDMAEZ_EXAMINE_H
#include "../examine.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_COLD int rdmaez_port_count(struct ibv_context *context, int port,
				  struct rdmaez_port_counts *counts, struct rdmaez_diag *diag)
{
	return rdmaez_impl_tell_port_count
		       ? rdmaez_impl_tell_port_count(context, port, counts, diag)
		       : rdmaez_impl_untold(diag, "rdmaez_port_count");
}

RDMAEZ_COLD int rdmaez_qp_examine_with(struct ibv_qp *qp, const struct rdmaez_qp_known *known,
				       struct rdmaez_diag *diag)
{
	return rdmaez_impl_tell_qp_examine_with
		       ? rdmaez_impl_tell_qp_examine_with(qp, known, diag)
		       : rdmaez_impl_untold(diag, "rdmaez_qp_examine_with");
}

RDMAEZ_COLD int rdmaez_cq_examine(struct ibv_cq *cq, const struct rdmaez_cq_known *known,
				  struct rdmaez_diag *diag)
{
	return rdmaez_impl_tell_cq_examine ? rdmaez_impl_tell_cq_examine(cq, known, diag)
					   : rdmaez_impl_untold(diag, "rdmaez_cq_examine");
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
