/* SPDX-License-Identifier: MIT */
/* Judges a refusal to the last number, where one call may have several findings. */
#ifndef FINDINGS_H
#define FINDINGS_H

#include <rdmaez.h>

#include "tap.h"
#include "tells.h"

/* A finding, as it should be. */
struct expected {
	enum rdmaez_severity severity;
	enum rdmaez_why reason;
	const char *field;
	enum rdmaez_value kind;
	uint64_t value, min, max;
};

/* Shown where a finding is not the expected one. */
static inline void show_finding(const char *which, enum rdmaez_severity severity,
				enum rdmaez_why reason, const char *field, enum rdmaez_value kind,
				uint64_t value, uint64_t min, uint64_t max)
{
	tap_diag("%s severity %d, %s of %s, kind %d: %llu, %llu to %llu", which, (int)severity,
		 rdmaez_why_id(reason), field, (int)kind, (unsigned long long)value,
		 (unsigned long long)min, (unsigned long long)max);
}

static inline bool finding_is(const struct rdmaez_finding *got, const struct expected *want)
{
	if (got->severity == want->severity && got->reason == want->reason &&
	    strcmp(got->field, want->field) == 0 && got->kind == want->kind &&
	    got->value == want->value && got->min == want->min && got->max == want->max)
		return true;
	show_finding(" got:", got->severity, got->reason, got->field, got->kind, got->value,
		     got->min, got->max);
	show_finding("want:", want->severity, want->reason, want->field, want->kind, want->value,
		     want->min, want->max);
	return false;
}

/* A call returned this errno, and its record holds it, the call's name, and just these findings. */
static inline void check_findings(const struct rdmaez_diag *diag, int got, int error,
				  const char *call, const struct expected *want, size_t count,
				  const char *name)
{
	tap_eq_str(rdmaez_errno_str(got), rdmaez_errno_str(error), "%s: the errno", name);
	if (!diag) /* the same call without a record */
		return;
	tap_eq_int(diag->error, error, "%s: the record holds it", name);
	tap_eq_str(diag->call, call, "%s: and the call's name", name);
	tap_eq_count(diag, count, "%s: as many findings as there should be", name);
	tap_ok(record_tells_all(diag), "%s: whose texts tell each reason", name);
	tap_ok(record_is_consistent(diag), "%s: and none accepts what it refuses", name);
	for (size_t i = 0; i < diag->count && i < count; i++)
		tap_ok(finding_is(&diag->finding[i], &want[i]), "%s: finding %d is %s of %s", name,
		       (int)i, rdmaez_why_id(want[i].reason), want[i].field);
}

/* The findings in braces: CHECK_FINDINGS(&diag, error, EINVAL, "call", "name", {RDMAEZ_DIAG_ERROR, ...}) */
#define CHECK_FINDINGS(diag, got, error, call, name, ...)                     \
	do {                                                                  \
		const struct expected expected[] = {__VA_ARGS__};             \
                                                                              \
		check_findings(diag, got, error, call, expected,              \
			       sizeof(expected) / sizeof(expected[0]), name); \
	} while (0)

/* The same where a verb has refused, or with NULL where none has: the record names it besides our function. */
#define CHECK_VERB_FINDINGS(diag, got, error, call, refused, name, ...)                  \
	do {                                                                             \
		const struct rdmaez_diag *const verb_of = (diag);                        \
                                                                                         \
		CHECK_FINDINGS(verb_of, got, error, call, name, __VA_ARGS__);            \
		if (verb_of)                                                             \
			tap_eq_str(verb_of->verb, refused, "%s: the verb's name", name); \
	} while (0)

#endif
