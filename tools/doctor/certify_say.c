/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --certify: facts and results of steps, for the file; the same in short, for the terminal. */
#include "certify.h"
#include "record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const result_text[] = {"passed", "failed", "not offered", "not tried"};

void certify_fact(const char *name, const char *format, ...)
{
	char value[256];
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	doctor_strings(KIND_FACT, DOCTOR_OK, 3, name, "text", value);
}

void certify_number(const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	doctor_strings(KIND_FACT, DOCTOR_OK, 3, name, "number", text);
}

/* Says how many steps of a group ended how: failures have lines of their own. */
void certify_group(struct certify *c, const char *group)
{
	char text[128] = "";
	size_t at = 0;

	for (int i = 0; i < 4; i++)
		if (c->count[i])
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u %s",
					       at ? ", " : "", c->count[i], result_text[i]);
	if (c->group && text[0])
		doctor_say(c->count[CERTIFY_PASS] && !c->count[CERTIFY_FAIL] ? DOCTOR_OK
									     : DOCTOR_NOTE,
			   c->subject, "%s: %s", c->group, text);
	memset(c->count, 0, sizeof(c->count));
	c->group = group;
}

static void say(struct certify *c, enum certify_result result, const char *step,
		const struct rdmaez_diag *diag, const char *words)
{
	const char *const error = diag && diag->error ? rdmaez_errno_str(diag->error) : "";
	const char *const status = diag && diag->status ? diag->status : "";
	const char *const reason =
		diag && diag->count ? rdmaez_why_id(diag->finding[0].reason) : "";
	char line[1024];

	c->count[result]++;
	doctor_strings(KIND_STEP, (enum doctor_verdict)result, 6, c->group, step, error, status,
		       reason, words);
	if (result != CERTIFY_FAIL)
		return;
	doctor_say(DOCTOR_FAILED, c->subject, "%s: %s%s%s", c->group, step, words[0] ? ": " : "",
		   words);
	if (diag && (diag->error || diag->count)) {
		rdmaez_diag_line(diag, line, sizeof(line));
		doctor_evidence("%s", line);
	}
}

void certify_step_of(struct certify *c, enum certify_result result, const char *step,
		     const struct rdmaez_diag *diag, const char *format, ...)
{
	char words[256];
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	say(c, result, step, diag, words);
}

/* The reasons by which rdmaez says that a device lacks something. */
static bool is_lack(const struct rdmaez_diag *diag)
{
	static const enum rdmaez_why lacks[] = {RDMAEZ_WHY_CREATE_TYPE, RDMAEZ_WHY_NO_XRC,
						RDMAEZ_WHY_DM_NONE,     RDMAEZ_WHY_NO_SQD,
						RDMAEZ_WHY_SQD_UNTOLD,  RDMAEZ_WHY_SQD_CLOSES,
						RDMAEZ_WHY_CAP_INLINE};

	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		if (rdmaez_diag_find(diag, lacks[i]))
			return true;
	return false;
}

enum certify_result certify_judge(int error, const struct rdmaez_diag *diag)
{
	if (!error)
		return CERTIFY_PASS;
	if (error == EPERM && rdmaez_diag_find(diag, RDMAEZ_WHY_CREATE_PRIVILEGE))
		return CERTIFY_NOT_TRIED;
	if (error == EOPNOTSUPP || error == ENOSYS || error == EPROTONOSUPPORT || is_lack(diag))
		return CERTIFY_NOT_OFFERED;
	return CERTIFY_FAIL;
}

bool certify_is(struct certify *c, const char *step, int error, const struct rdmaez_diag *diag)
{
	certify_step_of(c, certify_judge(error, diag), step, error ? diag : NULL, "%s",
			error == EBADMSG ? "the bytes that arrived are not those that were sent"
					 : "");
	return !error;
}
