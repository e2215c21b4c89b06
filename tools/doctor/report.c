/* SPDX-License-Identifier: MIT */
/* Prints what the checks said, as text or as JSON. */
#include "certify.h"
#include "record.h"

#include <rdmaez.h>
#include <rdmaez/impl/seam.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static const char *const verdict_text[] = {"ok", "note", "WARN", "FAIL"};
static const char *const verdict_word[] = {"ok", "note", "warning", "failed"};

/* What it all amounts to. */
struct tally {
	unsigned int count[4];
	unsigned int gids;
	unsigned int queue_pairs;
};

static void put_json(const char *text)
{
	static char string[6 * STRINGS_MAX + 3]; /* each byte as \\u00ff, quotes, NUL */

	rdmaez_impl_json_string(text, STRINGS_MAX, string, sizeof(string));
	fputs(string, stdout);
}

static void put_member(const char *before, const char *name, const char *text)
{
	printf("%s\"%s\": ", before, name);
	put_json(text);
}

/* What a terminal would take for a command is not for it. */
static const char *plain(const char *text)
{
	static char string[STRINGS_MAX + 1]; /* it is never longer than the text */

	rdmaez_impl_plain(text, STRINGS_MAX, string, sizeof(string));
	return string;
}

static void put_text(const char *text)
{
	fputs(plain(text), stdout);
}

static const char *after(const char *string)
{
	return string + strlen(string) + 1;
}

/* The texts of one kind that follow a line, as JSON: ["...", "..."]. */
static void put_list(const struct run *run, size_t at, enum kind kind)
{
	const char *strings, *comma = "";
	struct head head;

	for (putchar('[');
	     (strings = doctor_record(run, at, &head)) != NULL && head.kind != KIND_LINE;
	     at += sizeof(head) + head.length) {
		if (head.kind != kind)
			continue;
		fputs(comma, stdout);
		put_json(strings);
		comma = ", ";
	}
	putchar(']');
}

static void put_json_line(const struct run *run, const struct head *head, const char *strings,
			  size_t at)
{
	put_member("{", "check", run->check->name);
	put_member(", ", "subject", strings);
	put_member(", ", "verdict", verdict_word[head->verdict]);
	put_member(", ", "finding", after(strings));
	fputs(", \"evidence\": ", stdout);
	put_list(run, at, KIND_EVIDENCE);
	fputs(", \"next\": ", stdout);
	put_list(run, at, KIND_NEXT);
	putchar('}');
}

static void put_text_line(const struct run *run, const struct head *head, const char *strings)
{
	printf("%-4s %s", verdict_text[head->verdict], run->check->name);
	if (strings[0]) {
		putchar(' ');
		put_text(strings);
	}
	fputs(": ", stdout);
	put_text(after(strings));
	putchar('\n');
}

/* Where a line is ok, only the line itself is shown. */
static void put_detail(enum doctor_verdict verdict, const char *lead, const char *text)
{
	if (verdict == DOCTOR_OK)
		return;
	fputs(lead, stdout);
	put_text(text);
	putchar('\n');
}

static void put_gid_json(const char *strings)
{
	const char *port = after(strings), *index = after(port), *gid = after(index);
	const char *address = after(gid), *type = after(address), *state = after(after(type));

	put_member("{", "device", strings);
	printf(", \"port\": %s, \"index\": %s", port, index);
	put_member(", ", "gid", gid);
	put_member(", ", "address", address);
	put_member(", ", "type", type);
	put_member(", ", "netdev", after(type));
	put_member(", ", "state", state);
	printf(", \"chosen\": %s}", *after(state) ? "true" : "false");
}

/* A column, as wide as its characters and not its bytes, and a blank. */
static void put_column(const char *text, int width)
{
	int columns = 0;

	text = plain(text);
	for (const char *at = text; *at; at++)
		columns += (*at & 0xc0) != 0x80;
	printf("%s%*s ", text, columns < width ? width - columns : 0, "");
}

static void put_gid_text(const char *device, const char *port, const char *index, const char *gid,
			 const char *address, const char *type, const char *netdev,
			 const char *state, const char *chosen)
{
	put_column(device, 15);
	put_column(port, 4);
	put_column(index, 5);
	put_column(gid, 39);
	put_column(address, 15);
	put_column(type, 7);
	put_column(netdev, 15);
	printf("%-*s%s\n", *chosen ? 10 : 0, state, chosen);
}

static void put_gid_row(const char *strings)
{
	const char *port = after(strings), *index = after(port), *gid = after(index);
	const char *address = after(gid), *type = after(address), *netdev = after(type);
	const char *state = after(netdev);

	put_gid_text(strings, port, index, gid, address, type, netdev, state, after(state));
}

static bool is_shown(enum doctor_verdict verdict)
{
	return !(doctor_options.quiet && verdict == DOCTOR_OK);
}

static void put_checks_text(const struct run *run, struct tally *tally)
{
	enum doctor_verdict verdict = DOCTOR_OK;
	const char *strings;
	struct head head;
	size_t at;

	for (at = 0; (strings = doctor_record(run, at, &head)) != NULL;
	     at += sizeof(head) + head.length) {
		if (head.kind == KIND_LINE) {
			verdict = (enum doctor_verdict)head.verdict;
			tally->count[verdict]++;
			if (is_shown(verdict))
				put_text_line(run, &head, strings);
		} else if (head.kind == KIND_EVIDENCE) {
			put_detail(verdict, "       ", strings);
		} else if (head.kind == KIND_NEXT) {
			put_detail(verdict, "     > ", strings);
		}
	}
}

static void put_checks_json(const struct run *run, struct tally *tally)
{
	unsigned int before = tally->count[0] + tally->count[1] + tally->count[2] + tally->count[3];
	const char *strings;
	struct head head;
	size_t at;

	for (at = 0; (strings = doctor_record(run, at, &head)) != NULL;) {
		at += sizeof(head) + head.length;
		if (head.kind != KIND_LINE)
			continue;
		tally->count[head.verdict]++;
		fputs(before++ ? ",\n    " : "\n    ", stdout);
		put_json_line(run, &head, strings, at);
	}
}

static void put_gids(const struct run *run, struct tally *tally)
{
	const char *strings;
	struct head head;
	size_t at;

	for (at = 0; (strings = doctor_record(run, at, &head)) != NULL;
	     at += sizeof(head) + head.length) {
		if (head.kind != KIND_GID)
			continue;
		if (doctor_options.json) {
			fputs(tally->gids ? ",\n    " : "\n    ", stdout);
			put_gid_json(strings);
		} else {
			put_gid_row(strings);
		}
		tally->gids++;
	}
}

/* Those of a check for all queue pairs come as they are printed. */
static void put_queue_pairs(const struct run *run, struct tally *tally)
{
	const char *strings;
	struct head head;
	size_t at;

	for (at = 0; (strings = doctor_record(run, at, &head)) != NULL;
	     at += sizeof(head) + head.length) {
		if (head.kind == KIND_QP)
			printf("%s%s", tally->queue_pairs++ ? ",\n    " : "\n    ", strings);
	}
}

static void report_json(const struct run *run, unsigned int runs, struct tally *tally)
{
	struct utsname name;
	unsigned int i;

	put_member("{\n  ", "version", RDMAEZ_VERSION_STRING);
	put_member(",\n  ", "host", doctor_options.root || uname(&name) ? "" : name.nodename);
	fputs(",\n  \"checks\": [", stdout);
	for (i = 0; i < runs; i++)
		put_checks_json(&run[i], tally);
	fputs("\n  ],\n  \"gids\": [", stdout);
	for (i = 0; i < runs; i++)
		put_gids(&run[i], tally);
	printf("%s],\n  \"queue_pairs\": [", tally->gids ? "\n  " : "");
	for (i = 0; i < runs; i++)
		put_queue_pairs(&run[i], tally);
	printf("%s],\n  \"summary\": {\"ok\": %u, \"note\": %u, \"warning\": %u, \"failed\": "
	       "%u}\n}\n",
	       tally->queue_pairs ? "\n  " : "", tally->count[DOCTOR_OK], tally->count[DOCTOR_NOTE],
	       tally->count[DOCTOR_WARNING], tally->count[DOCTOR_FAILED]);
}

/* The table is for programs as well: what failed goes elsewhere, and that it may not be whole. */
static void complain(const struct run *run, struct tally *tally)
{
	const char *strings;
	struct head head;
	size_t at;

	for (at = 0; (strings = doctor_record(run, at, &head)) != NULL;
	     at += sizeof(head) + head.length) {
		if (head.kind != KIND_LINE || (head.verdict != DOCTOR_FAILED &&
					       strncmp(after(strings), "not known: ", 11) != 0))
			continue;
		tally->count[DOCTOR_FAILED]++;
		fprintf(stderr, "rdmaez-doctor: %s%s", plain(strings), strings[0] ? ": " : "");
		fprintf(stderr, "%s\n", plain(after(strings)));
	}
}

static void put_summary(const struct tally *tally)
{
	const unsigned int *n = tally->count;

	if (!doctor_options.quiet || n[DOCTOR_NOTE] + n[DOCTOR_WARNING] + n[DOCTOR_FAILED])
		printf("rdmaez-doctor: %u failed, %u warning%s, %u note%s, %u ok\n",
		       n[DOCTOR_FAILED], n[DOCTOR_WARNING], n[DOCTOR_WARNING] == 1 ? "" : "s",
		       n[DOCTOR_NOTE], n[DOCTOR_NOTE] == 1 ? "" : "s", n[DOCTOR_OK]);
}

int doctor_report(const struct doctor_check *check, unsigned int checks)
{
	struct tally tally = {{0, 0, 0, 0}, 0, 0};
	struct run *run;
	int64_t end = doctor_now() + doctor_options.timeout_ms;
	bool text = !doctor_options.json && !doctor_options.gids;
	unsigned int i;

	if (doctor_options.certify && !certify_can_write(doctor_options.certify))
		return 1;
	run = (struct run *)calloc(checks, sizeof(*run));
	if (!run) {
		perror("rdmaez-doctor");
		return 1;
	}
	if (doctor_options.gids && !doctor_options.json)
		put_gid_text("DEVICE", "PORT", "INDEX", "GID", "IPV4", "TYPE", "NETDEV", "STATE",
			     "CHOSEN");
	for (i = 0; i < checks; i++) {
		doctor_run(&run[i], &check[i], end);
		if (text) {
			put_checks_text(&run[i], &tally);
		} else if (!doctor_options.json) {
			put_gids(&run[i], &tally);
			complain(&run[i], &tally);
		}
		fflush(stdout);
	}
	if (doctor_options.json)
		report_json(run, checks, &tally);
	else if (text)
		put_summary(&tally);
	if (doctor_options.certify && !certify_write(run, checks, doctor_options.certify))
		tally.count[DOCTOR_FAILED]++;
	for (i = 0; i < checks; i++)
		free(run[i].records);
	free(run);
	return tally.count[DOCTOR_FAILED] ? 1 : 0;
}
