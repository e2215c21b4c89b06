/* SPDX-License-Identifier: MIT */
/* What texts are made of: a buffer that never overruns, wrapped lines, times, JSON strings. */
#ifndef RDMAEZ_IMPL_TEXT_H
#define RDMAEZ_IMPL_TEXT_H

#ifndef RDMAEZ_UNITS_H
#include "../units.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <stdarg.h>
#include <stdio.h>

RDMAEZ_IMPL_BEGIN

/* Where a text goes, and how long it has become. */
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

/* A time in the unit that suits it, with a decimal where that says more: "67.1 ms". */
RDMAEZ_IMPL void rdmaez_impl_put_ns(struct rdmaez_impl_text *text, uint64_t ns)
{
	static const char *const units[] = {"us", "ms", "s"};
	uint64_t tenth = 100; /* of a microsecond */
	unsigned int unit = 0;

	if (ns == RDMAEZ_NS_FOREVER) {
		rdmaez_impl_put(text, "forever");
		return;
	}
	if (ns && ns < tenth) {
		rdmaez_impl_put(text, "%llu ns", (unsigned long long)ns);
		return;
	}
	while (unit < 2 && ns >= tenth * 10000) {
		tenth *= 1000;
		unit++;
	}
	ns = ns / tenth + (ns % tenth >= tenth / 2);
	rdmaez_impl_put(text, "%llu", (unsigned long long)(ns / 10));
	if (ns % 10)
		rdmaez_impl_put(text, ".%llu", (unsigned long long)(ns % 10));
	rdmaez_impl_put(text, " %s", units[unit]);
}

/* Copies words into the text, in lines of at most 100 columns; breaks at spaces and behind '|'. */
RDMAEZ_IMPL void rdmaez_impl_put_wrapped(struct rdmaez_impl_text *text, const char *first,
					 const char *rest, const char *words)
{
	size_t column = strlen(first);

	rdmaez_impl_put(text, "%s", first);
	while (*words) {
		const size_t word = strcspn(words, " |");
		const size_t length = word + (words[word] == '|');

		if (column + length > 100) {
			rdmaez_impl_put(text, "\n%s", rest);
			column = strlen(rest);
		}
		rdmaez_impl_put(text, "%.*s", (int)length, words);
		column += length;
		words += length;
		if (*words == ' ') {
			const size_t next = strcspn(++words, " |");

			/* A space is worth writing only if a word fits behind it, with its '|'. */
			if (*words && column + 1 + next + (words[next] == '|') <= 100) {
				rdmaez_impl_put(text, " ");
				column++;
			} else {
				column = 101;
			}
		}
	}
	rdmaez_impl_put(text, "\n");
}

/* A JSON string of at most so many bytes; what JSON or ASCII do not take is escaped one by one. */
RDMAEZ_IMPL void rdmaez_impl_put_json_chars(struct rdmaez_impl_text *text, const char *string,
					    size_t most)
{
	rdmaez_impl_put(text, "\"");
	for (size_t i = 0; i < most && string[i]; i++) {
		const unsigned char byte = (unsigned char)string[i];

		if (byte == '"' || byte == '\\')
			rdmaez_impl_put(text, "\\%c", byte);
		else if (byte < 0x20 || byte >= 0x7f)
			rdmaez_impl_put(text, "\\u%04x", byte);
		else
			rdmaez_impl_put(text, "%c", byte);
	}
	rdmaez_impl_put(text, "\"");
}

/* A JSON string. */
RDMAEZ_IMPL void rdmaez_impl_put_json_string(struct rdmaez_impl_text *text, const char *string)
{
	rdmaez_impl_put_json_chars(text, string, SIZE_MAX);
}

/* `,"key":"value"`; the comma is left out at the start of an object. */
RDMAEZ_IMPL void rdmaez_impl_put_json_pair(struct rdmaez_impl_text *text, const char *comma,
					   const char *key, const char *value)
{
	rdmaez_impl_put(text, "%s\"%s\":", comma, key);
	rdmaez_impl_put_json_string(text, value);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
