/* SPDX-License-Identifier: MIT */
/* What librdmacm's errno values and statuses mean: the rows of the headers, explain/cm.h. */
#include <string.h>

#include "cm.h"

struct explain_finding cm_finding(const char *of, int status)
{
	const struct rdmaez_impl_cm_row *const row = rdmaez_impl_cm_find(of, status);

	return (struct explain_finding){.severity = row->severity,
					.reason = row->id,
					.field = row->field,
					.what = row->words,
					.next = row->words + strlen(row->words) + 1};
}
