/* SPDX-License-Identifier: MIT */
/*
 * A test program's few lines of TAP, for prove.
 *
 *	int main(void)
 *	{
 *		tap_eq_int(1 + 1, 2, "one and one make %d", 2);
 *		return tap_done();
 *	}
 *
 * The last arguments of every assertion are a printf format and its values: the test's name, which
 * is a sentence. Every assertion evaluates each argument once and yields whether it held, so a test
 * can add tap_diag() lines of its own. The counters belong to the source file that includes this.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	int run; /* numbers printed, skips included */
	int skipped;
	int failed;
} tap;

/* The condition holds. */
#define tap_ok(cond, ...) tap_result((cond) ? true : false, __FILE__, __LINE__, #cond, __VA_ARGS__)

/* Two numbers are equal: decimal for counts and errno values, hexadecimal for masks and flags. */
#define tap_eq_int(got, want, ...) \
	tap_eq_int_at((long long)(got), (long long)(want), __FILE__, __LINE__, #got, __VA_ARGS__)
#define tap_eq_hex(got, want, ...)                                                               \
	tap_eq_hex_at((unsigned long long)(got), (unsigned long long)(want), __FILE__, __LINE__, \
		      #got, __VA_ARGS__)

/* Two strings have the same text (NULL equals only NULL), two pointers the same value. */
#define tap_eq_str(got, want, ...) tap_eq_str_at(got, want, __FILE__, __LINE__, #got, __VA_ARGS__)
#define tap_eq_ptr(got, want, ...) tap_eq_ptr_at(got, want, __FILE__, __LINE__, #got, __VA_ARGS__)

/* Whether qemu-user stands between a test and the kernel, and does not pass on all that is said. */
#ifndef UNDER_QEMU
#define UNDER_QEMU 0
#endif

#define TAP_PRINTF(fmt) __attribute__((format(printf, fmt, fmt + 1)))

static inline void tap_line(const char *prefix, const char *fmt, va_list args)
{
	fputs(prefix, stdout);
	vprintf(fmt, args);
	putchar('\n');
	fflush(stdout); /* a crash after this line must not lose it */
}

/* A line for whoever reads the output. */
static inline TAP_PRINTF(1) void tap_diag(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tap_line("# ", fmt, args);
	va_end(args);
}

/* One test that cannot run here, and why. A program that only skipped does not pass. */
static inline TAP_PRINTF(1) void tap_skip(const char *fmt, ...)
{
	va_list args;

	tap.skipped++;
	printf("ok %d ", ++tap.run);
	va_start(args, fmt);
	tap_line("# SKIP ", fmt, args);
	va_end(args);
}

/* Nothing more can be learned, here or in the programs after this one: stops prove itself. */
static inline TAP_PRINTF(1) void tap_bail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tap_line("Bail out! ", fmt, args);
	va_end(args);
	exit(EXIT_FAILURE);
}

static inline bool tap_vresult(bool held, const char *file, int line, const char *expr,
			       const char *fmt, va_list args)
{
	printf("%s %d", held ? "ok" : "not ok", ++tap.run);
	tap_line(" - ", fmt, args);
	if (!held) {
		tap.failed++;
		tap_diag("%s:%d: %s", file, line, expr);
	}
	return held;
}

static inline TAP_PRINTF(5) bool tap_result(bool held, const char *file, int line, const char *expr,
					    const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tap_vresult(held, file, line, expr, fmt, args);
	va_end(args);
	return held;
}

/* The comparisons differ in how they compare two values and in how they show one. */
#define TAP_DEFINE_EQ(name, type, equal, format, shown)                                        \
	static inline TAP_PRINTF(6) bool name(type got, type want, const char *file, int line, \
					      const char *expr, const char *fmt, ...)          \
	{                                                                                      \
		bool held = equal(got, want);                                                  \
		va_list args;                                                                  \
                                                                                               \
		va_start(args, fmt);                                                           \
		tap_vresult(held, file, line, expr, fmt, args);                                \
		va_end(args);                                                                  \
		if (!held) {                                                                   \
			tap_diag("   got: " format, shown(got));                               \
			tap_diag("  want: " format, shown(want));                              \
		}                                                                              \
		return held;                                                                   \
	}

#define TAP_SAME(got, want) ((got) == (want))
#define TAP_ITSELF(value)   (value)
#define TAP_TEXT(value)     ((value) ? (value) : "(NULL)")

static inline bool tap_same_str(const char *got, const char *want)
{
	return got && want ? strcmp(got, want) == 0 : got == want;
}

TAP_DEFINE_EQ(tap_eq_int_at, long long, TAP_SAME, "%lld", TAP_ITSELF)
TAP_DEFINE_EQ(tap_eq_hex_at, unsigned long long, TAP_SAME, "0x%llx", TAP_ITSELF)
TAP_DEFINE_EQ(tap_eq_ptr_at, const void *, TAP_SAME, "%p", TAP_ITSELF)
TAP_DEFINE_EQ(tap_eq_str_at, const char *, tap_same_str, "%s", TAP_TEXT)

/* The plan comes last, so a program that dies on the way fails. Returns main()'s exit status. */
static inline int tap_done(void)
{
	printf("1..%d\n", tap.run);
	fflush(stdout);
	return tap.failed || tap.run == tap.skipped ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
