/* SPDX-License-Identifier: MIT */
/* Judges whether a record's texts tell what it holds, and shows a record that is not as it should be. */
#ifndef TELLS_H
#define TELLS_H

#include <rdmaez.h>

#include "tap.h"

/*
 * Whether both texts of a record tell each reason as rdmaez_why_str() and rdmaez_why_fix() do: the function must have
 * entered its group's texts for that. JSON has them in one line, and the plain text has what printing takes from there.
 */
static inline bool record_tells_all(const struct rdmaez_diag *diag)
{
	char text[16384], json[16384], members[1024];
	bool all = true;

	rdmaez_diag_format(diag, text, sizeof(text));
	rdmaez_diag_json(diag, json, sizeof(json));
	for (unsigned int i = 0; i < diag->count; i++) {
		const enum rdmaez_why reason = diag->finding[i].reason;
		const enum rdmaez_value kind = diag->finding[i].kind;

		/* Calls and events of librdmacm have words of their own: tests/unit/cm.c. */
		if (kind == RDMAEZ_VALUE_CM_EVENT || kind == RDMAEZ_VALUE_CM_CALL)
			continue;
		snprintf(members, sizeof(members), "\"what\":\"%s\",\"next\":\"%s\"",
			 rdmaez_why_str(reason), rdmaez_why_fix(reason));
		if (strstr(json, members) && !strstr(text, "unknown reason"))
			continue;
		tap_diag("%s gives %s, and its text does not tell it", diag->call,
			 rdmaez_why_id(reason));
		all = false;
	}
	return all;
}

/* Whether each number that is certainly wrong lies outside of what its finding says is accepted. */
static inline bool record_is_consistent(const struct rdmaez_diag *diag)
{
	bool all = true;

	for (unsigned int i = 0; i < diag->count; i++) {
		const struct rdmaez_finding *finding = &diag->finding[i];
		const bool is_signed = finding->kind == RDMAEZ_VALUE_NUMBER;
		const bool is_range = is_signed || finding->kind == RDMAEZ_VALUE_HEX ||
				      finding->kind == RDMAEZ_VALUE_BYTES;
		const bool below = is_signed ? (int64_t)finding->value < (int64_t)finding->min
					     : finding->value < finding->min;
		const bool above = is_signed ? (int64_t)finding->value > (int64_t)finding->max
					     : finding->value > finding->max;

		/* These are about more than the range, and a length may have no greatest. */
		const bool is_more = finding->reason == RDMAEZ_WHY_DM_ALIGNMENT ||
				     (!is_signed && finding->max == UINT64_MAX);

		if (finding->severity != RDMAEZ_DIAG_ERROR || !is_range || is_more || below ||
		    above)
			continue;
		tap_diag("%s of %s: %llu is refused, and %llu to %llu accepted",
			 rdmaez_why_id(finding->reason), finding->field,
			 (unsigned long long)finding->value, (unsigned long long)finding->min,
			 (unsigned long long)finding->max);
		all = false;
	}
	return all;
}

/* The record, for whoever reads the output of a test that has failed. */
static inline void show_record(const struct rdmaez_diag *diag)
{
	char text[16384];

	if (diag->count > RDMAEZ_DIAG_FINDINGS) {
		tap_diag("nothing was written into the record");
		return;
	}
	rdmaez_diag_format(diag, text, sizeof(text));
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		tap_diag("%s", line);
	}
}

static inline bool show_record_unless(bool held, const struct rdmaez_diag *diag)
{
	if (!held)
		show_record(diag);
	return held;
}

/* As many findings as that. A number alone would not tell which of them is one too many, or missing. */
#define tap_eq_count(diag, want, ...) \
	show_record_unless(tap_eq_int((diag)->count, want, __VA_ARGS__), diag)

#endif
