/* SPDX-License-Identifier: MIT */
/* Implements fmt.h. */
#ifndef RDMAEZ_IMPL_FMT_H
#define RDMAEZ_IMPL_FMT_H

#ifndef RDMAEZ_FMT_H
#include "../fmt.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_STR_H
#include "str.h"
#endif
#ifndef RDMAEZ_IMPL_TEXT_H
#include "text.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

/*
 * Writes the names of the bits that are set, with something between them. Bits without a name are
 * one hex number.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_bits(struct rdmaez_impl_text *text, uint64_t bits,
					   const char *(*name)(int), const char *between)
{
	const char *before = "";
	unsigned long long nameless = bits >> 31 << 31;

	for (int i = 0; i < 31; i++) {
		const int bit = 1 << i;

		if (!(bits >> i & 1))
			continue;
		if (!name || strcmp(name(bit), "unknown") == 0) {
			nameless |= (unsigned int)bit;
			continue;
		}
		rdmaez_impl_put(text, "%s%s", before, name(bit));
		before = between;
	}
	if (nameless)
		rdmaez_impl_put(text, "%s0x%llx", before, nameless);
	else if (!bits)
		rdmaez_impl_put(text, "0");
}

RDMAEZ_COLD int rdmaez_qp_attr_mask_format(int attr_mask, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	rdmaez_impl_put_bits(&text, (unsigned int)attr_mask, rdmaez_qp_attr_str, "|");
	return (int)text.length;
}

RDMAEZ_COLD int rdmaez_access_format(unsigned int access, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	rdmaez_impl_put_bits(&text, access, rdmaez_access_str, "|");
	return (int)text.length;
}

RDMAEZ_COLD int rdmaez_wc_format(const struct ibv_wc *wc, char *buf, size_t size)
{
	return rdmaez_impl_tell_wc_format ? rdmaez_impl_tell_wc_format(wc, buf, size)
					  : rdmaez_impl_format_untold(NULL, buf, size);
}

RDMAEZ_COLD int rdmaez_event_format(const struct ibv_async_event *event, char *buf, size_t size)
{
	return rdmaez_impl_tell_event_format ? rdmaez_impl_tell_event_format(event, buf, size)
					     : rdmaez_impl_format_untold(NULL, buf, size);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
