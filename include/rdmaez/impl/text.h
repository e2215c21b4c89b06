/* SPDX-License-Identifier: MIT */
/* Writes a text into a buffer that never overruns. */
/* This is before the guard, because the bodies of diag.h need this file. */
#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

#ifndef RDMAEZ_IMPL_TEXT_H
#define RDMAEZ_IMPL_TEXT_H

#if RDMAEZ_IMPL_BODIES

#include <stdarg.h>
#include <stdio.h>

RDMAEZ_IMPL_BEGIN

/* This is where a text goes, and how long it has become. */
struct rdmaez_impl_text {
	char *buf;
	size_t size;
	size_t length;
};

RDMAEZ_IMPL struct rdmaez_impl_text rdmaez_impl_text_in(char *buf, size_t size)
{
	struct rdmaez_impl_text text;

	text.buf = buf;
	text.size = size;
	text.length = 0;
	if (size)
		buf[0] = '\0';
	return text;
}

#if defined(__GNUC__)
__attribute__((__format__(__printf__, 2, 3)))
#endif
RDMAEZ_IMPL void
rdmaez_impl_put(struct rdmaez_impl_text *text, const char *format, ...)
{
	const bool room = text->length < text->size;
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(room ? text->buf + text->length : NULL,
			 room ? text->size - text->length : 0, format, arguments);
	va_end(arguments);
	if (more > 0)
		text->length += (size_t)more;
}

/*
 * Writes what stands for a text of the explanations: what a record holds without them, what to
 * include, and what ends it.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_text_untold(const struct rdmaez_diag *diag, const char *end,
					      char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	if (diag && diag->call)
		rdmaez_impl_put(&text, "%s: errno %d%s%s; ", diag->call, diag->error,
				diag->verb ? " of " : "", diag->verb ? diag->verb : "");
	rdmaez_impl_put(&text, "%s%s", RDMAEZ_IMPL_UNTOLD, end);
	return (int)text.length;
}

/* Does the same for lines, and for what is part of one. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_format_untold(const struct rdmaez_diag *diag, char *buf,
						size_t size)
{
	return rdmaez_impl_text_untold(diag, "\n", buf, size);
}

RDMAEZ_IMPL_COLD int rdmaez_impl_line_untold(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	return rdmaez_impl_text_untold(diag, "", buf, size);
}

/* Does the same for JSON. */
RDMAEZ_IMPL_COLD int rdmaez_impl_json_untold(char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	rdmaez_impl_put(&text, "{\"missing\":\"%s\"}", RDMAEZ_IMPL_UNTOLD);
	return (int)text.length;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
