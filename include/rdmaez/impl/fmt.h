/* SPDX-License-Identifier: MIT */
/* Bodies of fmt.h, and what is printed where a program has no explanations. */
#ifndef RDMAEZ_IMPL_FMT_H
#define RDMAEZ_IMPL_FMT_H

#ifndef RDMAEZ_FMT_H
#include "../fmt.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_COLD __attribute__((__noreturn__)) void
rdmaez_impl_diag_exit(int error, const struct rdmaez_diag *diag);

RDMAEZ_INLINE void rdmaez_diag_need(int error, const struct rdmaez_diag *diag)
{
	if (error)
		rdmaez_impl_diag_exit(error, diag);
}

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

#include <stdio.h>

/* exit() under a name of our own, for the same reason as close() in system.h. */
#ifdef __GNUC__
RDMAEZ_IMPL_BEGIN
extern __attribute__((__noreturn__)) void rdmaez_impl_exit(int status) __asm__("exit");
RDMAEZ_IMPL_END
#else
#include <stdlib.h>
#define rdmaez_impl_exit exit
#endif

#ifndef RDMAEZ_IMPL_STR_H
#include "str.h"
#endif
#ifndef RDMAEZ_IMPL_TEXT_H
#include "text.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

RDMAEZ_IMPL_BEGIN

/* The names of the bits that are set, with something between them; bits without a name as one hex number. */
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

/* The same to a stream, as rdmaez_diag_print() returns it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_print_untold(const struct rdmaez_diag *diag, FILE *stream)
{
	char text[256];

	rdmaez_impl_format_untold(diag, text, sizeof(text));
	errno = 0;
	if (fputs(text, stream) >= 0)
		return 0;
	return errno > 0 ? errno : EIO;
}

RDMAEZ_COLD int rdmaez_diag_print(const struct rdmaez_diag *diag, FILE *stream)
{
	return rdmaez_impl_tell_diag_print ? rdmaez_impl_tell_diag_print(diag, stream)
					   : rdmaez_impl_print_untold(diag, stream);
}

RDMAEZ_COLD void rdmaez_impl_diag_exit(int error, const struct rdmaez_diag *diag)
{
	if (diag && diag->error == error)
		rdmaez_diag_print(diag, stderr);
	else
		fprintf(stderr, "%s (%d)\n", rdmaez_errno_str(error), error);
	rdmaez_impl_exit(1); /* EXIT_FAILURE */
}

RDMAEZ_COLD int rdmaez_diag_format(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	return rdmaez_impl_tell_diag_format ? rdmaez_impl_tell_diag_format(diag, buf, size)
					    : rdmaez_impl_format_untold(diag, buf, size);
}

RDMAEZ_COLD int rdmaez_diag_line(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	return rdmaez_impl_tell_diag_line ? rdmaez_impl_tell_diag_line(diag, buf, size)
					  : rdmaez_impl_line_untold(diag, buf, size);
}

RDMAEZ_COLD int rdmaez_diag_json(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	return rdmaez_impl_tell_diag_json ? rdmaez_impl_tell_diag_json(diag, buf, size)
					  : rdmaez_impl_json_untold(buf, size);
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
