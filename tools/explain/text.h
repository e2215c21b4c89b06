/* SPDX-License-Identifier: MIT */
/* A text in room of a fixed size: what does not fit is cut off. */
#ifndef EXPLAIN_TEXT_H
#define EXPLAIN_TEXT_H

#include <stdarg.h>
#include <stdio.h>

__attribute__((__format__(__printf__, 4, 0))) static inline void
explain_text_add(char *bytes, size_t size, size_t *length, const char *format, va_list arguments)
{
	const int more = vsnprintf(bytes + *length, size - *length, format, arguments);

	if (more > 0)
		*length += (size_t)more;
	if (*length >= size)
		*length = size - 1;
}

#endif
