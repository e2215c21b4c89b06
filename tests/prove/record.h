/* SPDX-License-Identifier: MIT */
/* A record, and stand-ins for the two functions of explain/diag.h that add to it. They count. */
#ifndef PROVE_RECORD_H
#define PROVE_RECORD_H

#include "prove.h"
#include <rdmaez/diag.h>

static int findings;

void rdmaez_impl_finding(struct rdmaez_diag *diag, enum rdmaez_severity severity,
			 const struct rdmaez_impl_site *site, uint64_t value, uint64_t min,
			 uint64_t max)
{
	(void)value;
	(void)min;
	(void)max;
	PROVE(diag != NULL && site != NULL, "a finding has a record and a site");
	findings += severity == RDMAEZ_DIAG_ERROR;
}

void rdmaez_impl_finding_plain(struct rdmaez_diag *diag, enum rdmaez_severity severity,
			       enum rdmaez_why why, const char *field)
{
	(void)why;
	PROVE(diag != NULL && field != NULL, "a finding has a record and a field");
	findings += severity == RDMAEZ_DIAG_ERROR;
}

#endif
