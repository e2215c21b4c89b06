/* SPDX-License-Identifier: MIT */
/* What texts are made of: a buffer that never overruns, wrapped lines, times, JSON strings. */
#ifndef RDMAEZ_IMPL_TEXT_H
#define RDMAEZ_IMPL_TEXT_H

#ifndef RDMAEZ_UNITS_H
#include "../units.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes a JSON string of at most so many bytes, with its quotes and by snprintf()'s rule, in ASCII alone: it can be
 * cut, logged and mailed. UTF-8 is decoded; a byte that is none counts as a character of Latin-1. The tools call it,
 * too.
 */
RDMAEZ_COLD int rdmaez_impl_json_string(const char *string, size_t most, char *buf, size_t size);

#ifdef __cplusplus
}
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

/* The character that UTF-8 begins here with, and its number of bytes; 0: these bytes are no UTF-8 (RFC 3629). */
RDMAEZ_IMPL size_t rdmaez_impl_utf8(const unsigned char *bytes, size_t most, uint32_t *character)
{
	const size_t size = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
	uint32_t value = bytes[0] & (0xffu >> (size + 1));

	if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || most < size)
		return 0;
	for (size_t i = 1; i < size; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	/* Longer than it need be, half of a pair, or beyond Unicode. */
	if ((size == 3 && value < 0x800) || (size == 4 && value < 0x10000) || value > 0x10ffff ||
	    (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*character = value;
	return size;
}

RDMAEZ_COLD int rdmaez_impl_json_string(const char *string, size_t most, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const unsigned char *const bytes = (const unsigned char *)string;
	size_t end = 0;

	while (end < most && bytes[end])
		end++;
	rdmaez_impl_put(&text, "\"");
	for (size_t i = 0; i < end;) {
		uint32_t character = bytes[i];
		const size_t length = rdmaez_impl_utf8(bytes + i, end - i, &character);

		if (character == '"' || character == '\\')
			rdmaez_impl_put(&text, "\\%c", (int)character);
		else if (character >= 0x20 && character < 0x7f)
			rdmaez_impl_put(&text, "%c", (int)character);
		else if (character < 0x10000)
			rdmaez_impl_put(&text, "\\u%04x", (unsigned int)character);
		else
			rdmaez_impl_put(&text, "\\u%04x\\u%04x",
					(unsigned int)(0xd7c0 + (character >> 10)),
					(unsigned int)(0xdc00 | (character & 0x3ff)));
		i += length ? length : 1;
	}
	rdmaez_impl_put(&text, "\"");
	return (int)text.length;
}

/* The same at the end of a text. */
RDMAEZ_IMPL void rdmaez_impl_put_json_chars(struct rdmaez_impl_text *text, const char *string,
					    size_t most)
{
	const bool room = text->length < text->size;

	text->length += (size_t)rdmaez_impl_json_string(string, most,
							room ? text->buf + text->length : NULL,
							room ? text->size - text->length : 0);
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
