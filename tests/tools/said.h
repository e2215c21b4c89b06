/* SPDX-License-Identifier: MIT */
/*
 * In place of rdmaez-doctor's report, what a check said, as one line: each verdict and its sentence, "|" before what it
 * was read from, and ">" before what to do.
 */
#ifndef RDMAEZ_TESTS_TOOLS_SAID_H
#define RDMAEZ_TESTS_TOOLS_SAID_H

#include <stdarg.h>

static char said[1024];

static inline void said_more(const char *before, const char *format, va_list args)
{
	size_t length = strlen(said);

	length += (size_t)snprintf(said + length, sizeof(said) - length, "%s", before);
	vsnprintf(said + length, sizeof(said) - length, format, args);
}

void doctor_say(enum doctor_verdict verdict, const char *subject, const char *format, ...)
{
	static const char *const verdicts[] = {"ok ", "note ", "WARN ", "FAIL "};
	va_list args;

	(void)subject;
	va_start(args, format);
	said_more(verdicts[verdict], format, args);
	va_end(args);
}

void doctor_evidence(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	said_more("|", format, args);
	va_end(args);
}

void doctor_next(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	said_more(">", format, args);
	va_end(args);
}

static inline void check_says(void (*check)(void), const char *wanted, const char *what)
{
	said[0] = '\0';
	check();
	tap_eq_str(said, wanted, "%s", what);
}

#endif
