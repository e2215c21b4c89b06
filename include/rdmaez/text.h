/* SPDX-License-Identifier: MIT */
/**
 * @file text.h
 * @brief What texts are made of: a buffer that never overruns, wrapped lines, times, GIDs, JSON strings.
 *
 * The only header that uses stdio; fmt.h and caps_fmt.h build on it. Everything here is pure, calls no
 * verb and may be called from any thread.
 */
#ifndef RDMAEZ_TEXT_H
#define RDMAEZ_TEXT_H

#include <stdarg.h>
#include <stdio.h>

#include "gid.h"
#include "units.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a text goes, and how long it has become. */
struct rdmaez_impl_text {
	char *buf;
	size_t size;
	size_t length;
};

RDMAEZ_API struct rdmaez_impl_text rdmaez_impl_text_in(char *buf, size_t size)
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
__attribute__((format(printf, 2, 3)))
#endif
RDMAEZ_API void
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

/** @brief A buffer of this size holds every GID as text. */
#define RDMAEZ_GID_TEXT 46

/* The first of the longest run of zero groups, if it has two at least; `length` receives its length. */
RDMAEZ_API int rdmaez_impl_zero_run(const unsigned int group[8], int *length)
{
	int first = 0;

	*length = 1;
	for (int i = 0, run = 0; i < 8; i++) {
		run = group[i] ? 0 : run + 1;
		if (run > *length) {
			*length = run;
			first = i + 1 - run;
		}
	}
	return *length > 1 ? first : -1;
}

/**
 * @brief A GID in the form of an IPv6 address: "fe80::1", "::ffff:192.0.2.1".
 * @param gid the GID, not NULL
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; #RDMAEZ_GID_TEXT is always enough
 * @return the length of the whole text
 */
RDMAEZ_API int rdmaez_gid_format(const union ibv_gid *gid, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const uint8_t *const byte = gid->raw;
	unsigned int group[8];
	int run, first;

	for (int i = 0; i < 8; i++)
		group[i] = (unsigned int)byte[2 * i] << 8 | byte[2 * i + 1];
	first = rdmaez_impl_zero_run(group, &run);
	if (rdmaez_gid_class(gid) == RDMAEZ_GID_CLASS_IPV4)
		rdmaez_impl_put(&text, "::ffff:%u.%u.%u.%u", byte[12], byte[13], byte[14],
				byte[15]);
	else
		for (int i = 0; i < 8; i++) {
			if (first >= 0 && i > first && i < first + run)
				continue;
			if (i == first)
				rdmaez_impl_put(&text, run == 8 - first ? "::" : ":");
			else
				rdmaez_impl_put(&text, i ? ":%x" : "%x", group[i]);
		}
	return (int)text.length;
}

/* A time in the unit that suits it, with a decimal where that says more: "67.1 ms". */
RDMAEZ_API void rdmaez_impl_put_ns(struct rdmaez_impl_text *text, uint64_t ns)
{
	static const char *const units[] = {"us", "ms", "s"};
	uint64_t tenth = 100; /* of a microsecond */
	unsigned int unit = 0;

	if (ns == RDMAEZ_FOR_EVER) {
		rdmaez_impl_put(text, "for ever");
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
RDMAEZ_API void rdmaez_impl_put_wrapped(struct rdmaez_impl_text *text, const char *first,
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
			words++;
			/* A space is worth writing only if a word fits behind it. */
			if (column + 1 + strcspn(words, " |") <= 100 && *words) {
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
RDMAEZ_API void rdmaez_impl_put_json_chars(struct rdmaez_impl_text *text, const char *string,
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
RDMAEZ_API void rdmaez_impl_put_json_string(struct rdmaez_impl_text *text, const char *string)
{
	rdmaez_impl_put_json_chars(text, string, SIZE_MAX);
}

/* `,"key":"value"`; the comma is left out at the start of an object. */
RDMAEZ_API void rdmaez_impl_put_json_pair(struct rdmaez_impl_text *text, const char *comma,
					  const char *key, const char *value)
{
	rdmaez_impl_put(text, "%s\"%s\":", comma, key);
	rdmaez_impl_put_json_string(text, value);
}

#ifdef __cplusplus
}
#endif

#endif
