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
