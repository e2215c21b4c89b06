/* SPDX-License-Identifier: MIT */
/* The explanation record, and what fmt.h makes of it: every text to the letter. */
#define _GNU_SOURCE /* strtok_r(), fopencookie() */

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include <rdmaez/implementation.h>

static void check_reasons(void)
{
	for (int i = 0; i < RDMAEZ_WHY_COUNT; i++) {
		const enum rdmaez_why reason = (enum rdmaez_why)i;
		const char *what = rdmaez_why_str(reason), *fix = rdmaez_why_fix(reason);
		int same = 0;

		for (int other = 0; other < RDMAEZ_WHY_COUNT; other++) {
			const enum rdmaez_why twin = (enum rdmaez_why)other;

			same += strcmp(rdmaez_why_id(reason), rdmaez_why_id(twin)) == 0 ||
				strcmp(what, rdmaez_why_str(twin)) == 0;
		}
		tap_eq_int(same, 1, "%s has an id and a sentence of its own",
			   rdmaez_why_id(reason));
		tap_ok(strlen(what) > 10 && what[strlen(what) - 1] != '.' &&
			       strcmp(what, "unknown reason") != 0,
		       "%s: what is wrong is said, without a full stop", rdmaez_why_id(reason));
		tap_ok(strlen(fix) > 3 && fix[strlen(fix) - 1] != '.',
		       "%s: so is what to do about it", rdmaez_why_id(reason));
	}
	tap_eq_str(rdmaez_why_id(RDMAEZ_WHY_NONE), "NONE", "the first reason is none");
	tap_eq_int(RDMAEZ_WHY_NONE, 0, "and is 0");
	tap_eq_str(rdmaez_why_id(RDMAEZ_WHY_MASK_MISSING), "MASK_MISSING", "an id has no prefix");
	tap_eq_str(rdmaez_why_str(RDMAEZ_WHY_PORT), "the device has no such port", "a sentence");
	tap_eq_str(rdmaez_why_fix(RDMAEZ_WHY_PORT), "use a port number within the range",
		   "its remedy");
	for (int i = 0; i < 4; i++) {
		static const int none[] = {-1, RDMAEZ_WHY_COUNT, INT_MAX, INT_MIN};
		const enum rdmaez_why reason = (enum rdmaez_why)none[i];

		tap_eq_str(rdmaez_why_str(reason), "unknown reason", "%d is no reason", none[i]);
		tap_eq_str(rdmaez_why_fix(reason), "", "%d has no remedy", none[i]);
		tap_eq_str(rdmaez_why_id(reason), "?", "%d has no id", none[i]);
	}
}

/* An INIT to RTR in which this many things are wrong: more than a record holds. */
enum {
	WRONG = 20,
};

static struct rdmaez_qp_opts wrong_opts(void)
{
	struct rdmaez_qp_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.optional = IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_ALT_PATH;
	opts.access = 1u << 20;
	opts.pkey_index = -1;
	opts.port = 256;
	opts.path.flags = 2;
	opts.path.dgid = gid_of("2001:db8::9");
	opts.path.sgid_index = 256;
	opts.path.hop_limit = 256;
	opts.path.flow_label = 1u << 20;
	opts.path.traffic_class = 256;
	opts.path.sl = 16;
	opts.path.src_path_bits = 128;
	opts.mtu = (enum ibv_mtu)1024;
	opts.dest_qp_num = 1u << 24;
	opts.rq_psn = 1u << 24;
	opts.max_dest_rd_atomic = -1;
	opts.min_rnr_timer = 32;
	opts.alt.sl = 16;
	opts.alt.src_path_bits = 128;
	opts.alt_port = -1;
	opts.alt_pkey_index = 65536;
	opts.alt_timeout = 32;
	return opts;
}

static void check_record(void)
{
	const struct rdmaez_qp_opts opts = wrong_opts();
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;

	memset(&diag, 0xa5, sizeof(diag));
	tap_eq_int(rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, &diag),
		   EINVAL, "much is wrong at once");
	tap_eq_count(&diag, RDMAEZ_DIAG_FINDINGS, "the record is full");
	tap_eq_int(diag.dropped, WRONG - RDMAEZ_DIAG_FINDINGS, "and counts what it cannot hold");
	tap_eq_int(diag.error, EINVAL, "it holds the errno");
	tap_eq_str(diag.finding[0].field, "path.flags", "the first finding was the first");
	for (unsigned int i = 0; i < diag.count; i++) {
		tap_ok(diag.finding[i].field, "finding %u names a field", i);
		tap_eq_int(diag.finding[i].severity, RDMAEZ_DIAG_ERROR, "finding %u is certain", i);
	}
	tap_eq_ptr(rdmaez_diag_find(&diag, RDMAEZ_WHY_OPTION_UNKNOWN), &diag.finding[0],
		   "a finding is found by its reason");
	tap_eq_ptr(rdmaez_diag_find(&diag, RDMAEZ_WHY_RANGE), &diag.finding[1],
		   "the first of several");
	tap_eq_ptr(rdmaez_diag_find(&diag, RDMAEZ_WHY_PORT), NULL, "one that is not there is not");
	diag.count = 1;
	tap_eq_ptr(rdmaez_diag_find(&diag, RDMAEZ_WHY_RANGE), NULL,
		   "only what is counted is found");
	tap_eq_ptr(rdmaez_diag_find(NULL, RDMAEZ_WHY_RANGE), NULL, "nor in no record");

	tap_eq_int(rdmaez_qp_attr(IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, NULL, &move, &diag), 0,
		   "then nothing is wrong");
	tap_eq_count(&diag, 0, "the old findings are gone");
	tap_eq_int(diag.dropped, 0, "and what was dropped");
	tap_eq_int(diag.error, 0, "and the errno");
	tap_eq_int(diag.qp_type, IBV_QPT_UD, "the type is the new one");
	tap_eq_int(diag.to, IBV_QPS_INIT, "so is the state asked for");
	tap_eq_ptr(rdmaez_diag_find(&diag, RDMAEZ_WHY_ACCESS_BITS), NULL,
		   "what lies behind the last finding is not found");
}

/* What is noted in a record, one after the other; all else stays zero. */
static void check_notes(void)
{
	struct rdmaez_diag diag, want;
	struct ibv_context context;
	struct ibv_device device;
	struct ibv_qp qp;

	memset(&context, 0, sizeof(context));
	memset(&device, 0, sizeof(device));
	memset(&qp, 0, sizeof(qp));
	memset(&want, 0, sizeof(want));
	memset(&diag, 0x55, sizeof(diag));
	rdmaez_impl_diag_reset(&diag, "f");
	want.call = "f";
	want.from = want.to = -1;
	tap_ok(memcmp(&diag, &want, sizeof(diag)) == 0, "a record begins with its call alone");

	qp.context = &context;
	qp.qp_num = 17;
	qp.qp_type = IBV_QPT_UC;
	rdmaez_impl_diag_qp(&diag, &qp);
	want.qp_num = 17;
	want.qp_type = IBV_QPT_UC;
	tap_ok(memcmp(&diag, &want, sizeof(diag)) == 0, "a queue pair of no device is noted");
	context.device = &device;
	memset(device.name, 'd', sizeof(device.name) - 1);
	rdmaez_impl_diag_qp(&diag, &qp);
	memset(want.device, 'd', sizeof(want.device) - 1);
	tap_ok(memcmp(&diag, &want, sizeof(diag)) == 0, "and one of a device with its name");
	rdmaez_impl_diag_transition(&diag, IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_SQE);
	want.qp_type = IBV_QPT_UD;
	want.from = IBV_QPS_INIT;
	want.to = IBV_QPS_SQE;
	tap_ok(memcmp(&diag, &want, sizeof(diag)) == 0, "a transition is noted");

	tap_eq_int(rdmaez_impl_refuse_verb(&diag, EIO, RDMAEZ_WHY_RANGE, "v"), EIO,
		   "a verb's errno is returned");
	want.verb = want.finding[0].field = "v";
	want.error = EIO;
	want.count = 1;
	want.finding[0].reason = RDMAEZ_WHY_RANGE;
	tap_ok(memcmp(&diag, &want, sizeof(diag)) == 0, "and is all that the finding tells");
	diag.dropped = 3;
	rdmaez_impl_diag_forget(&diag);
	tap_eq_count(&diag, 0, "findings are forgotten");
	tap_eq_int(diag.dropped + (unsigned int)diag.error, 0,
		   "with what was dropped, and the errno");
	tap_eq_str(diag.verb, "v", "and nothing else");
	rdmaez_impl_diag_reset(NULL, "f");
	rdmaez_impl_diag_qp(NULL, &qp);
	rdmaez_impl_diag_device(NULL, &context);
	rdmaez_impl_diag_transition(NULL, IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_SQE);
	rdmaez_impl_diag_forget(NULL);
	tap_eq_int(rdmaez_impl_refuse_verb(NULL, EIO, RDMAEZ_WHY_RANGE, "v"), EIO,
		   "without a record the errno is all");
}

/* Errors come before what is likely, and that before advice; each kind in the order of discovery. */
static void check_order(void)
{
	static const enum rdmaez_severity given[] = {RDMAEZ_DIAG_ADVICE, RDMAEZ_DIAG_ERROR,
						     RDMAEZ_DIAG_LIKELY, RDMAEZ_DIAG_ADVICE,
						     RDMAEZ_DIAG_LIKELY, RDMAEZ_DIAG_ERROR};
	static const unsigned int value[] = {1, 5, 2, 4, 0, 3}; /* in the order expected */
	static const struct rdmaez_impl_site field = {"field", RDMAEZ_WHY_RANGE,
						      RDMAEZ_VALUE_NUMBER, 0, 0};
	static const struct rdmaez_impl_site early = {"early", RDMAEZ_WHY_RANGE,
						      RDMAEZ_VALUE_NUMBER, 0, 0};
	static const struct rdmaez_impl_site late = {"late", RDMAEZ_WHY_ENUM, RDMAEZ_VALUE_NUMBER,
						     0, 0};
	struct rdmaez_diag diag;

	rdmaez_impl_diag_reset(&diag, "test");
	for (unsigned int i = 0; i < COUNT_OF(given); i++)
		rdmaez_impl_find(&diag, given[i], &field, i);
	tap_eq_count(&diag, COUNT_OF(given), "all findings are there");
	for (unsigned int i = 0; i < COUNT_OF(value); i++) {
		tap_eq_int(diag.finding[i].value, value[i], "finding %u came as number %u", i,
			   value[i]);
		tap_eq_int(diag.finding[i].severity, given[value[i]], "with its severity");
	}

	/* An error that comes late pushes advice out of a full record, and advice nothing. */
	rdmaez_impl_diag_reset(&diag, "test");
	for (unsigned int i = 0; i < RDMAEZ_DIAG_FINDINGS; i++)
		rdmaez_impl_find(&diag, RDMAEZ_DIAG_ADVICE, &early, i);
	rdmaez_impl_find(&diag, RDMAEZ_DIAG_ERROR, &late, 99);
	tap_eq_str(diag.finding[0].field, "late", "a late error comes first");
	tap_eq_int(diag.finding[RDMAEZ_DIAG_FINDINGS - 1].value, RDMAEZ_DIAG_FINDINGS - 2,
		   "the last advice fell out");
	tap_eq_count(&diag, RDMAEZ_DIAG_FINDINGS, "the record is full");
	tap_eq_int(diag.dropped, 1, "one was dropped");
	rdmaez_impl_find(&diag, RDMAEZ_DIAG_ADVICE, &late, 99);
	tap_eq_str(diag.finding[RDMAEZ_DIAG_FINDINGS - 1].field, "early", "late advice is dropped");
	tap_eq_int(diag.dropped, 2, "and counted");
}

/* A text in every size of buffer: cut where it must be, ended, and never a byte beyond. */
static void check_cut(int (*format)(const void *, char *, size_t), const void *what,
		      const char *text, const char *name)
{
	const size_t length = strlen(text);
	char *buf = (char *)malloc(length + 3);
	int wrong = 0;

	if (!buf)
		abort();
	tap_eq_int(format(what, NULL, 0), length, "%s: the length without a buffer", name);
	for (size_t size = 0; size <= length + 2; size++) {
		const size_t kept = !size ? 0 : size <= length ? size - 1 : length;

		memset(buf, '~', length + 3);
		wrong += format(what, buf, size) != (int)length || memcmp(buf, text, kept) != 0 ||
			 (size && buf[kept] != '\0') || buf[size] != '~';
	}
	tap_eq_int(wrong, 0, "%s: cut as snprintf would in %zu sizes of buffer", name, length + 3);
	format(what, buf, length + 1);
	tap_eq_str(buf, text, "%s: the text", name);
	free(buf);
}

static int format_diag(const void *what, char *buf, size_t size)
{
	return rdmaez_diag_format((const struct rdmaez_diag *)what, buf, size);
}

static int format_line(const void *what, char *buf, size_t size)
{
	return rdmaez_diag_line((const struct rdmaez_diag *)what, buf, size);
}

static int format_json(const void *what, char *buf, size_t size)
{
	return rdmaez_diag_json((const struct rdmaez_diag *)what, buf, size);
}

static int format_gid(const void *what, char *buf, size_t size)
{
	return rdmaez_gid_format((const union ibv_gid *)what, buf, size);
}

static int format_mask(const void *what, char *buf, size_t size)
{
	return rdmaez_qp_attr_mask_format(*(const int *)what, buf, size);
}

static int format_access(const void *what, char *buf, size_t size)
{
	return rdmaez_access_format(*(const unsigned int *)what, buf, size);
}

static void check_small_texts(void)
{
	static const struct {
		unsigned int mask;
		const char *text;
	} masks[] = {
		{0, "0"},
		{0x1, "IBV_QP_STATE"},
		{0x21, "IBV_QP_STATE|IBV_QP_PORT"},
		{0x2000000, "IBV_QP_RATE_LIMIT"},
		{0x200000, "0x200000"},
		{0x80000000, "0x80000000"},
		{0xffe00000, "IBV_QP_RATE_LIMIT|0xfde00000"},
		{0xc0000001, "IBV_QP_STATE|0xc0000000"},
	};
	static const char *const gids[] = {
		"::",          "::1",
		"fe80::1",     "::ffff:192.0.2.1",
		"2001:db8::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"};
	char buf[RDMAEZ_GID_TEXT];
	unsigned int access;
	union ibv_gid gid;
	int mask;

	for (size_t i = 0; i < COUNT_OF(masks); i++) {
		mask = (int)masks[i].mask;
		check_cut(format_mask, &mask, masks[i].text, masks[i].text);
	}
	access = 0;
	check_cut(format_access, &access, "0", "no access");
	access = 0x6;
	check_cut(format_access, &access, "IBV_ACCESS_REMOTE_WRITE|IBV_ACCESS_REMOTE_READ",
		  "two access flags");
	access = 0xfff00c01;
	check_cut(format_access, &access,
		  "IBV_ACCESS_LOCAL_WRITE|IBV_ACCESS_RELAXED_ORDERING|0xffe00c00",
		  "access flags without a name");
	for (size_t i = 0; i < COUNT_OF(gids); i++) {
		gid = gid_of(gids[i]);
		check_cut(format_gid, &gid, gids[i], gids[i]);
		tap_eq_int(rdmaez_gid_format(&gid, buf, sizeof(buf)), strlen(gids[i]),
			   "%s fits into RDMAEZ_GID_TEXT", gids[i]);
	}
}

static void check_calls(void)
{
	const struct rdmaez_qp_opts opts = wrong_opts();
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	char text[4096];

	check_cut(format_diag, NULL, "", "no record");
	check_cut(format_line, NULL, "", "no record in a line");
	memset(&diag, 0, sizeof(diag));
	check_cut(format_diag, &diag, "", "a record that nobody filled");
	check_cut(format_line, &diag, "", "a record that nobody filled, in a line");
	check_cut(format_json, &diag, "{}", "a record that nobody filled, as JSON");

	rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, NULL, &move, &diag);
	check_cut(format_diag, &diag, "rdmaez_qp_attr: no error, RC, RESET to INIT.\n",
		  "a success");
	check_cut(format_line, &diag, "call=rdmaez_qp_attr error=0 type=RC from=RESET to=INIT",
		  "a success in a line");

	rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_RTR, NULL, &move, &diag);
	check_cut(format_diag, &diag,
		  "rdmaez_qp_attr failed with EINVAL (22), RC, RESET to RTR.\n"
		  "  qp_state: queue pairs cannot make this transition. Asked for: RTR; possible: "
		  "RESET, INIT. Next: go\n    through one of the states listed.\n",
		  "a transition that does not exist");
	check_cut(format_line, &diag,
		  "call=rdmaez_qp_attr error=EINVAL type=RC from=RESET to=RTR "
		  "finding=error:TRANSITION:qp_state:state:RTR:RESET|INIT",
		  "a transition that does not exist, in a line");

	rdmaez_qp_mask_check(IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT,
			     IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS | IBV_QP_SQ_PSN |
				     IBV_QP_CUR_STATE,
			     &diag);
	check_cut(
		format_diag, &diag,
		"rdmaez_qp_mask_check failed with EINVAL (22), UD, RESET to INIT.\n"
		"  attr_mask: the mask lacks attributes that this transition requires. Bits: "
		"IBV_QP_PKEY_INDEX|\n    IBV_QP_PORT. Next: set them and add their bits to "
		"attr_mask.\n"
		"  attr_mask: the mask has attributes that this transition does not take. Bits: "
		"IBV_QP_CUR_STATE|\n    IBV_QP_ACCESS_FLAGS|IBV_QP_SQ_PSN. IBV_QP_CUR_STATE "
		"belongs "
		"to RTR to RTS. No transition of UD\n    takes IBV_QP_ACCESS_FLAGS. IBV_QP_SQ_PSN "
		"belongs to RTR to RTS. Next: remove their bits; extra\n    attributes are "
		"refused, "
		"not ignored.\n",
		"a mask with mistakes of both kinds");

	rdmaez_qp_attr((enum ibv_qp_type)5, IBV_QPS_RESET, IBV_QPS_INIT, NULL, &move, &diag);
	check_cut(format_diag, &diag,
		  "rdmaez_qp_attr failed with EINVAL (22), unknown, RESET to INIT.\n"
		  "  qp_type: verbs have no transition table for this queue pair type. Given: "
		  "unknown (5). "
		  "Next: use\n    RC, UC, UD, RAW_PACKET, XRC_SEND or XRC_RECV; for "
		  "IBV_QPT_DRIVER name the driver's type:\n    RDMAEZ_QPT_SRD, "
		  "RDMAEZ_QPT_DCI or RDMAEZ_QPT_DCT.\n",
		  "an unknown type");

	rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, &diag);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strstr(text, "\n  qp_access_flags: these access flags apply to memory regions, not "
			    "to queue pairs. Bits:\n    IBV_ACCESS_RELAXED_ORDERING. Next: "),
	       "access flags are named");
	tap_ok(strstr(text, "\n  pkey_index: the value is out of range. Given: -1; accepted: "
			    "0 to 65535. Next: use a value within\n    the range.\n"),
	       "a negative number is written as one");
	tap_ok(strstr(text, "\n  path.flags: the options have bits set that this version of rdmaez "
			    "does not know. "
			    "Bits: 0x2. Next:"),
	       "flags are a number");
	tap_ok(strstr(text, "\n  And 8 more.\n") &&
		       strlen(strstr(text, "\n  And 8 more.\n")) == strlen("\n  And 8 more.\n"),
	       "the last line counts what was dropped");
	rdmaez_diag_line(&diag, text, sizeof(text));
	tap_ok(strstr(text, " finding=error:RANGE:pkey_index:number:-1:0..65535 ") &&
		       strstr(text, " dropped=8"),
	       "in a line the same");

	/* The longest finding there is: each attribute named, and where it belongs. */
	rdmaez_qp_mask_check(IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_ERR, 0x7fffffff, &diag);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strstr(text, "not ignored.\n"), "the longest explanation is not cut");
}

/* No line of a text has more than 100 columns, and none ends in a space. */
static void check_lines(const struct rdmaez_diag *diag, const char *name)
{
	char text[8192];
	size_t longest = 0;
	int spaces = 0;

	rdmaez_diag_format(diag, text, sizeof(text));
	for (char *rest, *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		const size_t length = strlen(line);

		longest = length > longest ? length : longest;
		spaces += line[length - 1] == ' ';
	}
	tap_ok(longest <= 100, "%s: the longest line has %zu columns", name, longest);
	tap_eq_int(spaces, 0, "%s: no line ends in a space", name);
}

/* A finding of this kind, in three forms: in the text behind "x: nothing is wrong.". */
static void check_kind(enum rdmaez_value kind, uint64_t value, uint64_t min, uint64_t max,
		       const char *text, const char *line, const char *json)
{
	char want[400];
	struct rdmaez_diag diag;

	memset(&diag, 0, sizeof(diag));
	diag.call = "f";
	diag.from = -1;
	diag.to = -1;
	diag.count = 1;
	diag.finding[0].kind = kind;
	diag.finding[0].field = "x";
	diag.finding[0].value = value;
	diag.finding[0].min = min;
	diag.finding[0].max = max;
	/* Only the longest of them takes a second line. */
	snprintf(want, sizeof(want), "f.\n  x: nothing is wrong.%s Next: nothing to%sdo.\n", text,
		 strlen(text) > 55 ? "\n    " : " ");
	check_cut(format_diag, &diag, want, text);
	snprintf(want, sizeof(want), "call=f error=0 finding=error:NONE:x:%s", line);
	check_cut(format_line, &diag, want, line);
	snprintf(want, sizeof(want),
		 "{\"call\":\"f\",\"error\":0,\"errno\":\"0\",\"dropped\":0,\"findings\":[{"
		 "\"severity\":\"error\",\"reason\":\"NONE\",\"field\":\"x\",\"kind\":%s,"
		 "\"what\":\"nothing is wrong\",\"next\":\"nothing to do\"}]}",
		 json);
	check_cut(format_json, &diag, want, json);
}

static void check_kinds(void)
{
	const uint64_t minus = (uint64_t)-1;

	check_kind(RDMAEZ_VALUE_NONE, 7, 8, 9, "", "none", "\"none\"");
	check_kind(RDMAEZ_VALUE_NUMBER, minus, 0, 31, " Given: -1; accepted: 0 to 31.",
		   "number:-1:0..31", "\"number\",\"value\":-1,\"min\":0,\"max\":31");
	check_kind(RDMAEZ_VALUE_NUMBER, 3, 1, 1, " Given: 3; accepted: 1.", "number:3:1..1",
		   "\"number\",\"value\":3,\"min\":1,\"max\":1");
	check_kind(RDMAEZ_VALUE_NUMBER, 0, 0, UINT64_MAX, " Given: 0.", "number:0",
		   "\"number\",\"value\":0");
	check_kind(RDMAEZ_VALUE_BYTES, 5, 4, 4, " Given: 5 bytes; accepted: 4.", "bytes:5:4..4",
		   "\"bytes\",\"value\":5,\"min\":4,\"max\":4");
	check_kind(RDMAEZ_VALUE_BYTES, 5, 1, 0, " Given: 5 bytes.", "bytes:5",
		   "\"bytes\",\"value\":5");
	check_kind(RDMAEZ_VALUE_ATTR_MASK, IBV_QP_STATE | IBV_QP_PORT | 1 << 30, 0, 5,
		   " Bits: IBV_QP_STATE|IBV_QP_PORT|0x40000000.",
		   "attr_mask:IBV_QP_STATE|IBV_QP_PORT|0x40000000",
		   "\"attr_mask\",\"value\":1073741857,"
		   "\"names\":[\"IBV_QP_STATE\",\"IBV_QP_PORT\",\"0x40000000\"]");
	check_kind(RDMAEZ_VALUE_ACCESS, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ, 0, 5,
		   " Bits: IBV_ACCESS_LOCAL_WRITE|IBV_ACCESS_REMOTE_READ.",
		   "access:IBV_ACCESS_LOCAL_WRITE|IBV_ACCESS_REMOTE_READ",
		   "\"access\",\"value\":5,"
		   "\"names\":[\"IBV_ACCESS_LOCAL_WRITE\",\"IBV_ACCESS_REMOTE_READ\"]");
	check_kind(RDMAEZ_VALUE_ACCESS, 0, 0, 5, " Bits: 0.", "access:0",
		   "\"access\",\"value\":0,\"names\":[]");
	check_kind(RDMAEZ_VALUE_FLAGS, 6, 0, 7, " Bits: 0x6.", "flags:0x6",
		   "\"flags\",\"value\":6");
	check_kind(RDMAEZ_VALUE_STATE, IBV_QPS_RTS, 0, 0x41,
		   " Asked for: RTS; possible: RESET, ERR.", "state:RTS:RESET|ERR",
		   "\"state\",\"value\":3,\"name\":\"RTS\",\"accepted\":[\"RESET\",\"ERR\"]");
	check_kind(RDMAEZ_VALUE_STATE_NOW, IBV_QPS_INIT, 0, 8, " State: INIT; needed: RTS.",
		   "state_now:INIT:RTS",
		   "\"state_now\",\"value\":1,\"name\":\"INIT\",\"accepted\":[\"RTS\"]");
	check_kind(RDMAEZ_VALUE_TYPE, IBV_QPT_UD, 0, 0, " Given: UD (4).", "type:UD",
		   "\"type\",\"value\":4,\"name\":\"UD\"");
	check_kind(RDMAEZ_VALUE_OPCODE, IBV_WR_RDMA_READ, 0, 0, " Given: RDMA_READ (4).",
		   "opcode:RDMA_READ", "\"opcode\",\"value\":4,\"name\":\"RDMA_READ\"");
	check_kind(RDMAEZ_VALUE_MTU, 1024, IBV_MTU_256, IBV_MTU_4096,
		   " Given: 1024; accepted: 1 (IBV_MTU_256) to 5 (IBV_MTU_4096).", "mtu:1024:1..5",
		   "\"mtu\",\"value\":1024,\"min\":1,\"max\":5");
	check_kind(RDMAEZ_VALUE_INDEX, 15, 0, 0, " Index: 15.", "index:15",
		   "\"index\",\"value\":15");
	check_kind(RDMAEZ_VALUE_PKEY, 0x42, 0, 0, " P_Key: 0x0042.", "pkey:0x0042",
		   "\"pkey\",\"value\":66");
	check_kind(RDMAEZ_VALUE_LIMIT, 0, 0, 128, " At most: 128.", "limit::..128",
		   "\"limit\",\"max\":128");
	check_kind(RDMAEZ_VALUE_NS, 67108864, 536870912, 2147483648,
		   " Each time: 67.1 ms; in all: 536.9 ms to 2.1 s.",
		   "ns:67108864:536870912..2147483648",
		   "\"ns\",\"value\":67108864,\"min\":536870912,\"max\":2147483648");
	check_kind(RDMAEZ_VALUE_BYTES, UINT64_C(1) << 63, 1, 64,
		   " Given: 9223372036854775808 bytes; accepted: 1 to 64.",
		   "bytes:9223372036854775808:1..64",
		   "\"bytes\",\"value\":9223372036854775808,\"min\":1,\"max\":64");
	check_kind(RDMAEZ_VALUE_BYTES, 3, 0, UINT64_MAX, " Given: 3 bytes.", "bytes:3:0..",
		   "\"bytes\",\"value\":3,\"min\":0");
	check_kind(RDMAEZ_VALUE_POSITION, 2, 0, 0, " Position: 2.", "position:2",
		   "\"position\",\"value\":2");
	check_kind(RDMAEZ_VALUE_ADDRESS, 0xdeadbeef, 0, 0, " Address: 0xdeadbeef.",
		   "address:0xdeadbeef", "\"address\",\"value\":3735928559");
	check_kind(RDMAEZ_VALUE_COUNTED, 37, 0, 0, " Counted: 37.", "counted:37",
		   "\"counted\",\"value\":37");
	check_kind(RDMAEZ_VALUE_PORT_STATE, IBV_PORT_DOWN, IBV_PORT_ACTIVE, IBV_PORT_ACTIVE,
		   " State: DOWN (1); needed: ACTIVE (4).", "port_state:DOWN:ACTIVE..ACTIVE",
		   "\"port_state\",\"value\":1,\"name\":\"DOWN\",\"min\":4,\"max\":4");
	check_kind(RDMAEZ_VALUE_LOCKED, 4096, 1024, 65536,
		   " Given: 4096 bytes. Locked already: 1024 of 65536.", "locked:4096:1024..65536",
		   "\"locked\",\"value\":4096,\"min\":1024,\"max\":65536");
	check_kind(RDMAEZ_VALUE_LOCKED, 0, 2048, 1024, " Locked already: 2048 of 1024.",
		   "locked:0:2048..1024", "\"locked\",\"value\":0,\"min\":2048,\"max\":1024");
	check_kind(RDMAEZ_VALUE_TYPES, IBV_QPT_UC, 0, IBV_QPT_RC,
		   " This end: UC (3); the peer: RC (2).", "types:UC:..RC",
		   "\"types\",\"value\":3,\"name\":\"UC\",\"max\":2");
	check_kind(RDMAEZ_VALUE_PKEYS, 0x7fff, 0, 0x8001, " This end: 0x7fff; the peer: 0x8001.",
		   "pkeys:0x7fff:..0x8001", "\"pkeys\",\"value\":32767,\"max\":32769");
	check_kind(RDMAEZ_VALUE_ERRNO, EHOSTUNREACH, 0, 0, " The peer's: EHOSTUNREACH (113).",
		   "errno:EHOSTUNREACH", "\"errno\",\"value\":113,\"name\":\"EHOSTUNREACH\"");
	check_kind(RDMAEZ_VALUE_CM_EVENT, (uint64_t)-110, 0, 0, " Status: -110.", "cm_event:-110",
		   "\"cm_event\",\"value\":-110");
	check_kind(RDMAEZ_VALUE_CM_CALL, 101, 0, 0, "", "cm_call", "\"cm_call\"");
	check_kind(RDMAEZ_VALUE_HEX, 0x3e010000, 0, 0xffffff,
		   " Given: 0x3e010000; accepted: 0x0 to 0xffffff.", "hex:0x3e010000:0x0..0xffffff",
		   "\"hex\",\"value\":1040252928,\"min\":0,\"max\":16777215");
	check_kind(RDMAEZ_VALUE_HEX, 0x3e010000, 0x13e, 0x13e,
		   " Given: 0x3e010000; accepted: 0x13e.", "hex:0x3e010000:0x13e..0x13e",
		   "\"hex\",\"value\":1040252928,\"min\":318,\"max\":318");
	check_kind((enum rdmaez_value)(RDMAEZ_VALUE_GID_INDEX + 1), 7, 8, 9, "", "none",
		   "\"none\"");
	check_kind((enum rdmaez_value)99, 7, 8, 9, "", "none", "\"none\"");
}

/* A time is rounded to a tenth of the unit that it is at least one of. */
static void check_times(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = {
		{0, "0 us"},
		{1, "1 ns"},
		{99, "99 ns"},
		{100, "0.1 us"},
		{149, "0.1 us"},
		{150, "0.2 us"},
		{999, "1 us"},
		{4096, "4.1 us"},
		{999900, "999.9 us"},
		{999999, "1000 us"},
		{1000000, "1 ms"},
		{1549999, "1.5 ms"},
		{1550000, "1.6 ms"},
		{999900000, "999.9 ms"},
		{1000000000, "1 s"},
		{UINT64_C(1000000000000), "1000 s"},
		{UINT64_C(8796093022208), "8796.1 s"},
		{RDMAEZ_NS_FOREVER, "forever"},
	};
	struct rdmaez_diag diag;
	char want[200];

	for (size_t i = 0; i < COUNT_OF(times); i++) {
		rdmaez_impl_diag_reset(&diag, "f");
		diag.count = 1;
		diag.finding[0].kind = RDMAEZ_VALUE_NS;
		diag.finding[0].field = "x";
		diag.finding[0].value = times[i].ns;
		diag.finding[0].min = diag.finding[0].max = 1000;
		snprintf(want, sizeof(want),
			 "f.\n  x: nothing is wrong. Each time: %s; in all: 1 us. Next: nothing to "
			 "do.\n",
			 times[i].text);
		check_cut(format_diag, &diag, want, times[i].text);
	}
}

/* A line holds 100 columns and no more, whether the next word follows a bar or a space. */
static void check_wrapped(void)
{
	for (int n = 90; n < 110; n++)
		for (int bar = 0; bar < 2; bar++) {
			const bool fits = n + 1 + 4 <= 100;
			char words[200], want[200], got[200];
			struct rdmaez_impl_text text = rdmaez_impl_text_in(got, sizeof(got));

			memset(words, 'a', (size_t)n);
			snprintf(words + n, sizeof(words) - (size_t)n, "%cbbbb", bar ? '|' : ' ');
			snprintf(want, sizeof(want), "%.*s%s%sbbbb\n", n, words,
				 bar ? "|" : (fits ? " " : ""), fits ? "" : "\n    ");
			/* A first word that is too long for a line has the second to itself. */
			if (n + bar > 100)
				snprintf(want, sizeof(want), "\n    %.*s%s\n    bbbb\n", n, words,
					 bar ? "|" : "");
			rdmaez_impl_put_wrapped(&text, "", "    ", words);
			tap_eq_str(got, want, "a word of %d columns, a %s, and one of 4", n,
				   bar ? "bar" : "space");
		}
}

/* Every byte in a JSON string: as itself where it is printable ASCII, but for the two that are escaped. */
static void check_json_bytes(void)
{
	for (int byte = 1; byte < 256; byte++) {
		const char string[2] = {(char)byte, '\0'};
		char want[16], got[16];
		struct rdmaez_impl_text text = rdmaez_impl_text_in(got, sizeof(got));

		if (byte == '"' || byte == '\\')
			snprintf(want, sizeof(want), "\"\\%c\"", byte);
		else if (byte >= ' ' && byte <= '~')
			snprintf(want, sizeof(want), "\"%c\"", byte);
		else
			snprintf(want, sizeof(want), "\"\\u%04x\"", (unsigned int)byte);
		rdmaez_impl_put_json_string(&text, string);
		tap_eq_str(got, want, "byte %d in JSON", byte);
	}
}

/* A name as a terminal may have it. */
static void check_plain(void)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{"mlx5_0", "mlx5_0"},
		{"M\xc3\xbcller \xe2\x82\xac \xf0\x9f\x98\x80",
		 "M\xc3\xbcller \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"\x1b]0;OWNED\a\x1b[31m\x7f", "?]0;OWNED?"
					       "?[31m?"},
		{"a\xc2\x9b"
		 "31m\xc2\x9d"
		 "0;",
		 "a?31m?0;"},
		{"\xc2\x9f\xc2\xa0", "?\xc2\xa0"},
		{"half \xc3", "half ?"},
		{"\xe2\x82", "??"},
		{"\x9b\x80\xff", "???"},
		/* What nobody sees: the first and the last of each range, between its neighbours. */
		{"\xc2\xac\xc2\xad\xc2\xae", "\xc2\xac?\xc2\xae"},
		{"\xd8\x9b\xd8\x9c\xd8\x9d", "\xd8\x9b?\xd8\x9d"},
		{"\xe1\xa0\x8d\xe1\xa0\x8e\xe1\xa0\x8f", "\xe1\xa0\x8d?\xe1\xa0\x8f"},
		{"\xe2\x80\x8a\xe2\x80\x8b\xe2\x80\x8f\xe2\x80\x90", "\xe2\x80\x8a??\xe2\x80\x90"},
		{"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf", "\xe2\x80\xa7??\xe2\x80\xaf"},
		{"\xe2\x81\x9f\xe2\x81\xa0\xe2\x81\xaf\xe2\x81\xb0", "\xe2\x81\x9f??\xe2\x81\xb0"},
		{"\xef\xbb\xbe\xef\xbb\xbf\xef\xbc\x80", "\xef\xbb\xbe?\xef\xbc\x80"},
		{"\xef\xbf\xb8\xef\xbf\xb9\xef\xbf\xbb\xef\xbf\xbc", "\xef\xbf\xb8??\xef\xbf\xbc"},
		{"\xf3\x9f\xbf\xbf\xf3\xa0\x80\x80\xf3\xa0\xbf\xbf\xf3\xa1\x80\x80",
		 "\xf3\x9f\xbf\xbf??\xf3\xa1\x80\x80"},
	};
	char got[64], line[8192];
	struct rdmaez_diag diag;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tap_eq_int(rdmaez_impl_plain(rows[i].name, SIZE_MAX, got, sizeof(got)),
			   (int)strlen(rows[i].want), "name %zu: its length", i);
		tap_eq_str(got, rows[i].want, "name %zu", i);
	}
	tap_eq_int(rdmaez_impl_plain("mlx5\xc3\xa9", 5, got, sizeof(got)), 5,
		   "as much as is asked for");
	tap_eq_str(got, "mlx5?", "and no half character");

	/* All that prints a record has names from elsewhere. */
	rdmaez_impl_diag_reset(&diag, "rdmaez_qp_modify");
	diag.error = EINVAL;
	snprintf(diag.device, sizeof(diag.device), "rxe\x1b[2J\xc2\x9b");
	snprintf(diag.netdev, sizeof(diag.netdev), "eth\x1b[2J\xc2\x9b\xc3");
	diag.source.gid.raw[0] = 0xfe;
	diag.source.gid.raw[1] = 0x80;
	rdmaez_diag_format(&diag, line, sizeof(line));
	tap_ok(strstr(line, " on rxe?[2J?") && strstr(line, "eth?[2J?"
							    "?)"),
	       "in text: %s", line);
	rdmaez_diag_line(&diag, line, sizeof(line));
	tap_ok(strstr(line, " device=rxe?[2J?") && strstr(line, " netdev=eth?[2J?"
								"?"),
	       "in a line: %s", line);
	snprintf(diag.device, sizeof(diag.device), "rxe0 error=0");
	rdmaez_diag_line(&diag, line, sizeof(line));
	tap_ok(strstr(line, " device=rxe0?error=0 "), "a name is one word of a line: %s", line);
	rdmaez_diag_format(&diag, line, sizeof(line));
	tap_ok(strstr(line, " on rxe0 error=0"), "and in text as it is: %s", line);
}

/* UTF-8 comes out as the characters that it stands for; what is not quite UTF-8 byte by byte. */
static void check_json_characters(void)
{
	static const struct {
		const char *string, *want;
	} rows[] = {
		{"M\xc3\xbcller", "\"M\\u00fcller\""},
		{"\xc2\x80 \xdf\xbf", "\"\\u0080 \\u07ff\""},
		{"\xe0\xa0\x80 \xe2\x82\xac \xef\xbf\xbf", "\"\\u0800 \\u20ac \\uffff\""},
		{"\xed\x9f\xbf \xee\x80\x80", "\"\\ud7ff \\ue000\""},
		{"\xf0\x90\x80\x80 \xf0\x9f\x98\x80", "\"\\ud800\\udc00 \\ud83d\\ude00\""},
		{"\xf4\x8f\xbf\xbf", "\"\\udbff\\udfff\""},
		{"\xc3", "\"\\u00c3\""},
		{"\xc3x", "\"\\u00c3x\""},
		{"\xe2\x82", "\"\\u00e2\\u0082\""},
		{"\xc0\x80", "\"\\u00c0\\u0080\""},
		{"\xc1\xbf", "\"\\u00c1\\u00bf\""},
		{"\xe0\x9f\xbf", "\"\\u00e0\\u009f\\u00bf\""},
		{"\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\""},
		{"\xf0\x8f\xbf\xbf", "\"\\u00f0\\u008f\\u00bf\\u00bf\""},
		{"\xf4\x90\x80\x80", "\"\\u00f4\\u0090\\u0080\\u0080\""},
		{"\xf5\x80\x80\x80", "\"\\u00f5\\u0080\\u0080\\u0080\""},
		{"\x80", "\"\\u0080\""},
	};
	char got[64];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const size_t length = strlen(rows[i].want);

		tap_eq_int(rdmaez_impl_json_string(rows[i].string, SIZE_MAX, got, sizeof(got)),
			   (long long)length, "the length of %s", rows[i].want);
		tap_eq_str(got, rows[i].want, "%s in JSON", rows[i].want);
		tap_eq_int(rdmaez_impl_json_string(rows[i].string, SIZE_MAX, got, 4),
			   (long long)length, "and cut");
		tap_ok(!strncmp(got, rows[i].want, 3) && !got[3], "where snprintf() would");
	}
	rdmaez_impl_json_string("\xe2\x82\xac", 2, got, sizeof(got));
	tap_eq_str(got, "\"\\u00e2\\u0082\"", "a character that goes on behind the end");
	tap_eq_int(rdmaez_impl_json_string("abc", 2, NULL, 0), 4, "without room");
}

/* Numbers that would do with their bytes in the other order, and what they would be. */
static void check_swapped(void)
{
	static const struct {
		uint32_t value, max, swapped; /* 0: nothing is suspected */
	} rows[] = {
		{0xa0b1c300, 0xffffff, 0xc3b1a0},
		{0xa1b0c300, 0xffffff, 0xc3b0a1},
		{0x02000000, 0xffffff, 2},
		{0x01000000, 0xffffff, 0},
		{0x80000001, 0x7fffffff, 0x01000080},
		{0x80000001, 0xffffff, 0},
		{0xffffff, 0xffffff, 0},
		{0x010100, 0x010100, 0},
		{0x01ffffff, 0xffffff, 0},
		{0xffff0000, 0xffff, 0xffff},
		{0xffff0000, 0xfffe, 0},
	};
	struct rdmaez_diag diag;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct rdmaez_finding *const found = diag.finding;

		rdmaez_impl_diag_reset(&diag, "f");
		rdmaez_impl_suspect_order(&diag, "x", rows[i].value, rows[i].max);
		tap_eq_count(&diag, rows[i].swapped != 0, "%#x, at most %#x", rows[i].value,
			     rows[i].max);
		if (diag.count)
			tap_ok(found->severity == RDMAEZ_DIAG_LIKELY &&
				       found->reason == RDMAEZ_WHY_QPN_SWAPPED &&
				       found->kind == RDMAEZ_VALUE_HEX &&
				       strcmp(found->field, "x") == 0 &&
				       found->value == rows[i].value &&
				       found->min == rows[i].swapped &&
				       found->max == rows[i].swapped,
			       "%#x may be meant for %#x", rows[i].value, rows[i].swapped);
	}
}

/* The rest of what a record can hold, put together by hand. */
static void check_values(void)
{
	struct rdmaez_diag diag;

	memset(&diag, 0, sizeof(diag));
	diag.call = "rdmaez_qp_modify";
	diag.verb = "ibv_modify_qp";
	diag.error = ETIMEDOUT;
	strcpy(diag.device, "fake0");
	diag.driver = "fake_drv";
	diag.qp_num = 4000000000u;
	diag.from = IBV_QPS_RTS;
	diag.to = -1;
	diag.source.gid_index = 3;
	diag.source.gid_type = IBV_GID_TYPE_ROCE_V2;
	diag.source.ndev_ifindex = 7;
	diag.source.gid = gid_of("::ffff:192.0.2.1");
	diag.destination = gid_of("2001:db8::9");
	diag.count = 3;
	diag.finding[0].field = "path_mtu";
	diag.finding[1].severity = RDMAEZ_DIAG_LIKELY;
	diag.finding[1].field = "pkey";
	diag.finding[2].severity = RDMAEZ_DIAG_ADVICE;
	diag.finding[2].field = "attr";
	check_cut(format_diag, &diag,
		  "rdmaez_qp_modify: ibv_modify_qp failed with ETIMEDOUT (110) on fake0 (driver "
		  "fake_drv), QP\n    4000000000, in RTS, from GID index 3 (::ffff:192.0.2.1, RoCE "
		  "v2, "
		  "interface 7) to 2001:db8::9.\n"
		  "  path_mtu: nothing is wrong. Next: nothing to do.\n"
		  "  Likely, pkey: nothing is wrong. Next: nothing to do.\n"
		  "  Advice, attr: nothing is wrong. Next: nothing to do.\n",
		  "a verb that failed");
	check_lines(&diag, "a verb that failed");
	check_cut(format_line, &diag,
		  "call=rdmaez_qp_modify verb=ibv_modify_qp error=ETIMEDOUT device=fake0 "
		  "driver=fake_drv qp=4000000000 state=RTS sgid=::ffff:192.0.2.1 sgid_index=3 "
		  "dgid=2001:db8::9 finding=error:NONE:path_mtu:none finding=likely:NONE:pkey:none "
		  "finding=advice:NONE:attr:none",
		  "the same in a line");
	strcpy(diag.netdev, "eth7");
	diag.count = 0;
	diag.dropped = 2;
	check_cut(format_diag, &diag,
		  "rdmaez_qp_modify: ibv_modify_qp failed with ETIMEDOUT (110) on fake0 (driver "
		  "fake_drv), QP\n    4000000000, in RTS, from GID index 3 (::ffff:192.0.2.1, RoCE "
		  "v2, "
		  "interface eth7) to 2001:db8::9.\n  And 2 more.\n",
		  "an interface with a name");
	check_cut(format_json, &diag,
		  "{\"call\":\"rdmaez_qp_modify\",\"verb\":\"ibv_modify_qp\",\"error\":110,"
		  "\"errno\":\"ETIMEDOUT\",\"device\":\"fake0\",\"driver\":\"fake_drv\","
		  "\"qp_num\":4000000000,\"state\":\"RTS\",\"sgid\":\"::ffff:192.0.2.1\","
		  "\"sgid_index\":3,\"dgid\":\"2001:db8::9\",\"netdev\":\"eth7\",\"dropped\":2,"
		  "\"findings\":[]}",
		  "and as JSON");
	check_cut(format_json, NULL, "{}", "no record as JSON");

	/* A device may bear any name. */
	memset(&diag, 0, sizeof(diag));
	diag.call = "x";
	strcpy(diag.device, "a\"b\\c\n\x7f\xc3");
	diag.from = -1;
	diag.to = -1;
	check_cut(format_json, &diag,
		  "{\"call\":\"x\",\"error\":0,\"errno\":\"0\","
		  "\"device\":\"a\\\"b\\\\c\\u000a\\u007f\\u00c3\",\"dropped\":0,\"findings\":[]}",
		  "a strange name as JSON");
}

/* A completion's record tells which it is about, and never that there was no error; so does an event's. */
static void check_completions(void)
{
	struct rdmaez_diag diag;

	memset(&diag, 0, sizeof(diag));
	diag.call = "rdmaez_wc_explain_send";
	diag.from = IBV_QPS_ERR;
	diag.to = -1;
	diag.status = "IBV_WC_REM_ACCESS_ERR";
	diag.status_code = IBV_WC_REM_ACCESS_ERR;
	diag.wr_id = UINT64_C(0xfedcba9876543210);
	diag.vendor_err = 0x88;
	strcpy(diag.device, "fake0");
	diag.qp_num = 17;
	diag.qp_type = IBV_QPT_RC;
	check_cut(format_diag, &diag,
		  "rdmaez_wc_explain_send: IBV_WC_REM_ACCESS_ERR, wr_id 0xfedcba9876543210, "
		  "vendor_err "
		  "0x88 on fake0,\n    QP 17, RC, in ERR.\n",
		  "a completion");
	check_cut(format_line, &diag,
		  "call=rdmaez_wc_explain_send error=0 device=fake0 qp=17 type=RC state=ERR "
		  "status=IBV_WC_REM_ACCESS_ERR wr_id=0xfedcba9876543210 vendor_err=0x88",
		  "a completion in a line");
	check_cut(format_json, &diag,
		  "{\"call\":\"rdmaez_wc_explain_send\",\"error\":0,\"errno\":\"0\",\"device\":"
		  "\"fake0\",\"qp_num\":17,\"qp_type\":\"RC\",\"state\":\"ERR\",\"status\":"
		  "\"IBV_WC_REM_ACCESS_ERR\",\"status_code\":10,\"wr_id\":18364758544493064720,"
		  "\"vendor_err\":136,"
		  "\"dropped\":0,\"findings\":[]}",
		  "a completion as JSON");
	diag.error = EIO;
	diag.verb = "ibv_query_qp";
	diag.wr_id = 0;
	diag.vendor_err = 0;
	check_cut(format_diag, &diag,
		  "rdmaez_wc_explain_send: ibv_query_qp failed with EIO (5) for "
		  "IBV_WC_REM_ACCESS_ERR, "
		  "wr_id "
		  "0x0,\n    vendor_err 0x0 on fake0, QP 17, RC, in ERR.\n",
		  "a completion, and the device is mute");

	memset(&diag, 0, sizeof(diag));
	diag.call = "rdmaez_wc_explain_send";
	diag.from = -1;
	diag.to = -1;
	diag.status = "unknown";
	diag.status_code = 77;
	check_cut(format_diag, &diag,
		  "rdmaez_wc_explain_send: unknown status 77, wr_id 0x0, vendor_err 0x0.\n",
		  "a status without a name");
	check_cut(format_line, &diag,
		  "call=rdmaez_wc_explain_send error=0 status=77 wr_id=0x0 vendor_err=0x0",
		  "a status without a name in a line");
	check_cut(format_json, &diag,
		  "{\"call\":\"rdmaez_wc_explain_send\",\"error\":0,\"errno\":\"0\",\"status\":"
		  "\"unknown\",\"status_code\":77,\"wr_id\":0,\"vendor_err\":0,\"dropped\":0,"
		  "\"findings\":[]}",
		  "a status without a name as JSON");

	memset(&diag, 0, sizeof(diag));
	diag.call = "rdmaez_event_explain_qp";
	diag.from = -1;
	diag.to = -1;
	diag.qp_num = 17;
	diag.event = "IBV_EVENT_QP_FATAL";
	check_cut(format_diag, &diag, "rdmaez_event_explain_qp: IBV_EVENT_QP_FATAL, QP 17.\n",
		  "an event");
	check_cut(format_line, &diag,
		  "call=rdmaez_event_explain_qp error=0 qp=17 event=IBV_EVENT_QP_FATAL",
		  "an event in a line");
	check_cut(format_json, &diag,
		  "{\"call\":\"rdmaez_event_explain_qp\",\"error\":0,\"errno\":\"0\",\"qp_num\":17,"
		  "\"event\":\"IBV_EVENT_QP_FATAL\",\"dropped\":0,\"findings\":[]}",
		  "an event as JSON");
	diag.error = EIO;
	check_cut(format_diag, &diag,
		  "rdmaez_event_explain_qp failed with EIO (5) for IBV_EVENT_QP_FATAL, QP 17.\n",
		  "an event, and the device is mute");
}

/* An errno value is told by its name and its number; by the number alone in a line where it has no name. */
static void check_errno_texts(void)
{
	struct rdmaez_diag diag;

	rdmaez_impl_diag_reset(&diag, "f");
	diag.error = 524;
	check_cut(format_diag, &diag, "f failed with ENOTSUPP (524).\n",
		  "an errno of the kernel's own");
	check_cut(format_line, &diag, "call=f error=ENOTSUPP", "the same in a line");
	check_cut(format_json, &diag,
		  "{\"call\":\"f\",\"error\":524,\"errno\":\"ENOTSUPP\",\"dropped\":0,"
		  "\"findings\":[]}",
		  "and as JSON");
	diag.error = 4711;
	check_cut(format_diag, &diag, "f failed with unknown (4711).\n", "an errno without a name");
	check_cut(format_line, &diag, "call=f error=4711", "the same in a line");
}

/* The lines of a completion's advice: a word each, or a line that goes on, by four columns. */
static void check_advice(void)
{
	int wrong = 0, going_on = 0;
	char text[4096];

	for (int status = 0; status <= IBV_WC_TM_RNDV_INCOMPLETE; status++) {
		struct ibv_wc wc;

		memset(&wc, 0, sizeof(wc));
		wc.status = (enum ibv_wc_status)status;
		rdmaez_wc_format(&wc, text, sizeof(text));
		for (const char *line = strchr(text, '\n'); line && line[1];
		     line = strchr(line + 1, '\n')) {
			const bool goes_on = strncmp(line, "\n    ", 5) == 0 && line[5] != ' ';

			going_on += goes_on;
			if (goes_on || strncmp(line, "\n  What: ", 9) == 0 ||
			    strncmp(line, "\n  Likely: ", 11) == 0 ||
			    strncmp(line, "\n  Next: ", 9) == 0)
				continue;
			tap_diag("status %d:%s", status, line);
			wrong++;
		}
	}
	tap_eq_int(wrong, 0, "every line of every status begins as it should");
	tap_ok(going_on > 0, "some of them go on: %d", going_on);
}

/* What stands for one finding's numbers where only its finder knows how. */
static int own_numbers(const struct rdmaez_finding *finding, enum rdmaez_finding_form form,
		       char *buf, size_t size)
{
	return snprintf(buf, size, form == RDMAEZ_FINDING_TEXT ? " Own: %u." : ",\"own\":%u",
			(unsigned int)finding->value);
}

static int no_numbers(const struct rdmaez_finding *finding, enum rdmaez_finding_form form,
		      char *buf, size_t size)
{
	(void)finding;
	(void)form;
	if (size)
		buf[0] = '\0';
	return -1;
}

/* As little as there can be. */
static int one_letter(const struct rdmaez_finding *finding, enum rdmaez_finding_form form,
		      char *buf, size_t size)
{
	(void)finding;
	(void)form;
	return snprintf(buf, size, "!");
}

static void check_own_numbers(void)
{
	struct rdmaez_diag diag;

	memset(&diag, 0, sizeof(diag));
	diag.call = "f";
	diag.from = -1;
	diag.to = -1;
	diag.count = 1;
	diag.finding[0].kind = RDMAEZ_VALUE_CAPS;
	diag.finding[0].field = "x";
	diag.finding[0].value = 42;
	diag.finding[0].format = own_numbers;
	check_cut(format_diag, &diag, "f.\n  x: nothing is wrong. Own: 42. Next: nothing to do.\n",
		  "numbers of a finding's own");
	check_cut(format_line, &diag, "call=f error=0 finding=error:NONE:x:caps:0x2a",
		  "they are one number in a line");
	check_cut(format_json, &diag,
		  "{\"call\":\"f\",\"error\":0,\"errno\":\"0\",\"dropped\":0,\"findings\":[{"
		  "\"severity\":\"error\",\"reason\":\"NONE\",\"field\":\"x\",\"kind\":\"caps\","
		  "\"own\":42,\"what\":\"nothing is wrong\",\"next\":\"nothing to do\"}]}",
		  "and members of the object");
	diag.finding[0].severity = RDMAEZ_DIAG_ADVICE;
	rdmaez_impl_find_plain(&diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NONE, "y");
	tap_ok(!diag.finding[0].format && diag.finding[1].format == own_numbers,
	       "a finding put before it does not inherit its function");
	diag.finding[0] = diag.finding[1];
	diag.finding[0].severity = RDMAEZ_DIAG_ERROR;
	diag.count = 1;
	diag.finding[0].reason = RDMAEZ_WHY_NEED_UNMET;
	diag.finding[0].max = 7;
	check_cut(format_line, &diag, "call=f error=0 finding=error:NEED_UNMET:x:caps:0x2a:0x7",
		  "a need and what there is");
	diag.finding[0].reason = RDMAEZ_WHY_NONE;
	diag.finding[0].format = one_letter;
	check_cut(format_diag, &diag, "f.\n  x: nothing is wrong.! Next: nothing to do.\n",
		  "a single letter is written");
	diag.finding[0].format = no_numbers;
	check_cut(format_diag, &diag, "f.\n  x: nothing is wrong. Next: nothing to do.\n",
		  "where it fails, nothing is written");
}

/* Where each attribute belongs that a transition does not take, by the table read another way. */
static void check_homes(void)
{
	static const int types[] = {IBV_QPT_RC,         IBV_QPT_UC,       IBV_QPT_UD,
				    IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV,
				    RDMAEZ_QPT_SRD,     RDMAEZ_QPT_DCI,   RDMAEZ_QPT_DCT};
	int wrong = 0;

	for (size_t i = 0; i < COUNT_OF(types); i++)
		for (int bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
			const enum ibv_qp_type type = (enum ibv_qp_type)types[i];
			const char *from_of[2] = {NULL, NULL}, *to_of[2] = {NULL, NULL};
			char want[200], text[400];
			struct rdmaez_diag diag;
			int best;

			for (int from = IBV_QPS_ERR; from >= IBV_QPS_RESET; from--)
				for (int to = IBV_QPS_ERR; to >= IBV_QPS_RESET; to--) {
					const struct rdmaez_qp_rule rule =
						rdmaez_qp_rule(type, (enum ibv_qp_state)from,
							       (enum ibv_qp_state)to);

					for (int n = 0; n < 2; n++)
						if ((n ? rule.optional : rule.required) & bit) {
							from_of[n] = rdmaez_qp_state_str(
								(enum ibv_qp_state)from);
							to_of[n] = rdmaez_qp_state_str(
								(enum ibv_qp_state)to);
						}
				}
			best = from_of[0] ? 0 : 1;
			if (from_of[best])
				snprintf(want, sizeof(want), ". %s belongs to %s to %s. Next: ",
					 rdmaez_qp_attr_str(bit), from_of[best], to_of[best]);
			else
				snprintf(want, sizeof(want),
					 ". No transition of %s takes %s. Next: ",
					 rdmaez_qp_type_str(type), rdmaez_qp_attr_str(bit));
			memset(&diag, 0, sizeof(diag));
			diag.call = "f";
			diag.from = -1;
			diag.to = -1;
			diag.qp_type = types[i];
			diag.count = 1;
			diag.finding[0].reason = RDMAEZ_WHY_MASK_NOT_ALLOWED;
			diag.finding[0].field = "x";
			diag.finding[0].kind = RDMAEZ_VALUE_ATTR_MASK;
			diag.finding[0].value = (unsigned int)bit;
			rdmaez_diag_format(&diag, text, sizeof(text));
			/* Line breaks are spaces with an indentation. */
			for (char *line = strstr(text, "\n    "); line;
			     line = strstr(line, "\n    ")) {
				memmove(line + 1, line + 5, strlen(line + 5) + 1);
				*line = ' ';
			}
			if (!strstr(text, want)) {
				tap_diag("%s has not: %s", text, want);
				wrong++;
			}
		}
	tap_eq_int(wrong, 0, "every attribute of every type belongs where the table says");
}

/* Whether a record tells of an error is told by its first finding, if no errno does. */
static void check_first_finding(void)
{
	struct rdmaez_diag diag;

	memset(&diag, 0, sizeof(diag));
	diag.call = "f";
	diag.from = -1;
	diag.to = -1;
	diag.count = 2;
	diag.finding[0].field = "x";
	diag.finding[1].field = "y";
	diag.finding[1].severity = RDMAEZ_DIAG_ADVICE;
	check_cut(format_diag, &diag,
		  "f.\n  x: nothing is wrong. Next: nothing to do.\n"
		  "  Advice, y: nothing is wrong. Next: nothing to do.\n",
		  "an error and advice");
	check_cut(format_json, &diag,
		  "{\"call\":\"f\",\"error\":0,\"errno\":\"0\",\"dropped\":0,\"findings\":["
		  "{\"severity\":\"error\",\"reason\":\"NONE\",\"field\":\"x\",\"kind\":"
		  "\"none\",\"what\":\"nothing is wrong\",\"next\":\"nothing to do\"},"
		  "{\"severity\":\"advice\",\"reason\":\"NONE\",\"field\":\"y\",\"kind\":"
		  "\"none\",\"what\":\"nothing is wrong\",\"next\":\"nothing to do\"}]}",
		  "both as JSON");
	diag.finding[0].severity = RDMAEZ_DIAG_LIKELY;
	diag.count = 1;
	check_cut(format_diag, &diag,
		  "f: no error.\n  Likely, x: nothing is wrong. Next: nothing to do.\n",
		  "only something likely");
}

/* RESET is 0, and a name may be one character: both are something. */
static void check_small_values(void)
{
	struct rdmaez_diag diag;

	memset(&diag, 0, sizeof(diag));
	diag.call = "f";
	diag.from = IBV_QPS_RESET;
	diag.to = -1;
	strcpy(diag.device, "d");
	strcpy(diag.netdev, "n");
	diag.source.gid = gid_of("::1");
	diag.destination = gid_of("::2");
	check_cut(format_diag, &diag,
		  "f: no error on d, in RESET, from GID index 0 (::1, IB, interface n) to ::2.\n",
		  "in RESET");
	check_cut(format_line, &diag,
		  "call=f error=0 device=d state=RESET sgid=::1 sgid_index=0 dgid=::2 netdev=n",
		  "in RESET, in a line");
	check_cut(format_json, &diag,
		  "{\"call\":\"f\",\"error\":0,\"errno\":\"0\",\"device\":\"d\",\"state\":"
		  "\"RESET\",\"sgid\":\"::1\",\"sgid_index\":0,\"dgid\":\"::2\",\"netdev\":\"n\","
		  "\"dropped\":0,\"findings\":[]}",
		  "in RESET, as JSON");
	memset(&diag.destination, 0, sizeof(diag.destination));
	memset(&diag.source, 0, sizeof(diag.source));
	diag.netdev[0] = '\0';
	diag.from = -1;
	diag.to = IBV_QPS_RESET;
	check_cut(format_diag, &diag, "f: no error on d, unknown to RESET.\n", "to RESET");
	check_cut(format_line, &diag, "call=f error=0 device=d from=unknown to=RESET",
		  "to RESET, in a line");
	check_cut(format_json, &diag,
		  "{\"call\":\"f\",\"error\":0,\"errno\":\"0\",\"device\":\"d\",\"from\":"
		  "\"unknown\",\"to\":\"RESET\",\"dropped\":0,\"findings\":[]}",
		  "to RESET, as JSON");
}

/* A GID index that was chosen, without a peer; and one that the caller has named, of which nothing is known. */
static void check_ends(void)
{
	struct rdmaez_diag diag;

	memset(&diag, 0, sizeof(diag));
	diag.call = "f";
	diag.from = -1;
	diag.to = -1;
	diag.source.gid_index = 3;
	diag.source.gid_type = IBV_GID_TYPE_ROCE_V2;
	diag.source.gid = gid_of("::ffff:10.5.5.1");
	diag.chosen = RDMAEZ_WHY_GID_ONLY;
	strcpy(diag.netdev, "eth0.5");
	check_cut(format_diag, &diag,
		  "f: no error, from GID index 3 (::ffff:10.5.5.1, RoCE v2, interface eth0.5), "
		  "chosen because no other\n    GID of the port would do.\n",
		  "the one GID there is");
	check_cut(format_line, &diag,
		  "call=f error=0 sgid=::ffff:10.5.5.1 sgid_index=3 netdev=eth0.5 chosen=GID_ONLY",
		  "in a line");
	check_cut(format_json, &diag,
		  "{\"call\":\"f\",\"error\":0,\"errno\":\"0\",\"sgid\":\"::ffff:10.5.5.1\","
		  "\"sgid_index\":3,\"netdev\":\"eth0.5\",\"chosen\":\"GID_ONLY\",\"dropped\":0,"
		  "\"findings\":[]}",
		  "and as JSON");
	diag.destination = gid_of("::ffff:10.5.5.2");
	diag.chosen = RDMAEZ_WHY_GID_BY_ROUTE;
	check_cut(
		format_diag, &diag,
		"f: no error, from GID index 3 (::ffff:10.5.5.1, RoCE v2, interface eth0.5) to "
		"::ffff:10.5.5.2,\n    chosen because the kernel sends to the peer from this GID's "
		"address.\n",
		"the one that is on the way to the peer");
	memset(&diag.source.gid, 0, sizeof(diag.source.gid));
	diag.netdev[0] = '\0';
	diag.chosen = RDMAEZ_WHY_NONE;
	check_cut(format_diag, &diag, "f: no error, from GID index 3 to ::ffff:10.5.5.2.\n",
		  "one that was named");
	check_cut(format_line, &diag, "call=f error=0 sgid_index=3 dgid=::ffff:10.5.5.2",
		  "in a line, named");
	check_cut(format_json, &diag,
		  "{\"call\":\"f\",\"error\":0,\"errno\":\"0\",\"sgid_index\":3,"
		  "\"dgid\":\"::ffff:10.5.5.2\",\"dropped\":0,\"findings\":[]}",
		  "and as JSON, named");
}

/* Another GID index is a suggestion, with its GID where the record has that. */
static void check_suggestion(void)
{
	static const struct rdmaez_impl_site site = {"ah_attr.grh.sgid_index", RDMAEZ_WHY_GID_SUITS,
						     RDMAEZ_VALUE_GID_INDEX, 0, 0};
	struct rdmaez_diag diag;

	rdmaez_impl_diag_reset(&diag, "f");
	diag.error = EINVAL;
	rdmaez_impl_find(&diag, RDMAEZ_DIAG_LIKELY, &site, 3);
	diag.suggested.gid = gid_of("::ffff:192.0.2.1");
	diag.suggested.gid_index = 3;
	check_cut(format_diag, &diag,
		  "f failed with EINVAL (22).\n"
		  "  Suggestion, ah_attr.grh.sgid_index: use GID index 3 (::ffff:192.0.2.1); this "
		  "GID "
		  "is of the peer's\n    family.\n",
		  "another GID index");
	check_cut(format_line, &diag,
		  "call=f error=EINVAL finding=likely:GID_SUITS:ah_attr.grh.sgid_index:gid_index:3",
		  "in a line, suggested");
	check_cut(format_json, &diag,
		  "{\"call\":\"f\",\"error\":22,\"errno\":\"EINVAL\",\"dropped\":0,\"findings\":["
		  "{\"severity\":\"likely\",\"reason\":\"GID_SUITS\","
		  "\"field\":\"ah_attr.grh.sgid_index\",\"kind\":\"gid_index\",\"value\":3,"
		  "\"gid\":\"::ffff:192.0.2.1\",\"what\":\"this GID is of the peer's family\","
		  "\"next\":\"use this GID index\"}]}",
		  "and as JSON, suggested");
	diag.suggested.gid_index = 4;
	check_cut(
		format_diag, &diag,
		"f failed with EINVAL (22).\n"
		"  Suggestion, ah_attr.grh.sgid_index: use GID index 3; this GID is of the peer's "
		"family.\n",
		"whose GID is not in the record");
}

/* A stream's own errors: the errno that `arg` points to, or none. */
static ssize_t write_nothing(void *arg, const char *buf, size_t size)
{
	(void)buf;
	(void)size;
	errno = *(const int *)arg;
	return 0;
}

static void check_print_refused(void)
{
	static const struct {
		int given, want;
	} rows[] = {{0, EIO}, {EPERM, EPERM}, {EPIPE, EPIPE}};
	const cookie_io_functions_t io = {NULL, write_nothing, NULL, NULL};
	struct rdmaez_diag diag;

	rdmaez_impl_diag_reset(&diag, "f");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int given = rows[i].given;
		FILE *stream = fopencookie(&given, "w", io);

		if (!stream)
			tap_bail("no stream");
		setvbuf(stream, NULL, _IONBF, 0);
		errno = ENOENT; /* of something before */
		tap_eq_int(rdmaez_diag_print(&diag, stream), rows[i].want,
			   "a stream that refuses with errno %d", given);
		fclose(stream);
	}
}

/* To a stream goes what would go into a buffer, and an error of the stream is told. */
static void check_print(void)
{
	const struct rdmaez_qp_opts opts = wrong_opts();
	char text[8192], *printed = NULL;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	size_t length = 0;
	FILE *stream = open_memstream(&printed, &length);

	rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTS, &opts, &move, &diag);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_eq_int(rdmaez_diag_print(NULL, stream), 0, "no record is printed");
	tap_eq_int(rdmaez_diag_print(&diag, stream), 0, "a record is printed");
	fclose(stream);
	tap_eq_str(printed, text, "it is what would be in a buffer");
	free(printed);
	tap_eq_int(rdmaez_diag_print(&diag, NULL), EINVAL, "no stream");
	stream = fopen("/dev/full", "w");
	setvbuf(stream, NULL, _IONBF, 0);
	tap_eq_int(rdmaez_diag_print(&diag, stream), ENOSPC, "a full device");
	fclose(stream);
}

/* What a process of its own leaves on stderr, and its exit status; 7 if it gets beyond the call. */
static int need_in_child(int error, const struct rdmaez_diag *diag, char text[4096])
{
	int ends[2], status = -1;
	FILE *stream;
	pid_t pid;

	if (pipe(ends))
		tap_bail("pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		rdmaez_diag_need(error, diag);
		_exit(7);
	}
	close(ends[1]);
	stream = fdopen(ends[0], "r");
	text[fread(text, 1, 4095, stream)] = '\0';
	fclose(stream);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_need(void)
{
	struct rdmaez_diag diag;
	char text[4096], want[4096];

	rdmaez_impl_diag_reset(&diag, "f");
	rdmaez_impl_refuse(&diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "x");
	rdmaez_diag_format(&diag, want, sizeof(want));
	tap_eq_int(need_in_child(0, &diag, text), 7, "what worked lets the program go on");
	tap_eq_str(text, "", "without a word");
	tap_eq_int(need_in_child(EINVAL, &diag, text), EXIT_FAILURE, "what did not ends it");
	tap_eq_str(text, want, "with the explanation");
	tap_eq_int(need_in_child(ERANGE, &diag, text), EXIT_FAILURE, "a call without a record");
	tap_eq_str(text, "ERANGE (34)\n", "is told by its errno value, not by another's record");
	tap_eq_int(need_in_child(EINVAL, NULL, text), EXIT_FAILURE, "no record at all");
	tap_eq_str(text, "EINVAL (22)\n", "is told the same way");
}

/* A record of a refusal on a device, with one finding. */
static struct rdmaez_diag refused_on(const char *device, enum rdmaez_why why)
{
	struct rdmaez_diag diag;

	rdmaez_impl_diag_reset(&diag, "f");
	rdmaez_impl_find_plain(&diag, RDMAEZ_DIAG_LIKELY, why, "ibv_modify_qp");
	diag.error = EINVAL;
	snprintf(diag.device, sizeof(diag.device), "%s", device);
	return diag;
}

/* Where the library, the driver or the firmware may be at fault, their versions come last. */
static void check_versions(void)
{
	static const enum rdmaez_why with[] = {
		RDMAEZ_WHY_REFUSED,        RDMAEZ_WHY_UNEXPLAINED,   RDMAEZ_WHY_NOT_SUPPORTED,
		RDMAEZ_WHY_PROVIDER_FAULT, RDMAEZ_WHY_BNXT_COMMANDS, RDMAEZ_WHY_DEVICE_GONE,
		RDMAEZ_WHY_TIMED_OUT,      RDMAEZ_WHY_MR_NO_DMABUF,  RDMAEZ_WHY_MR_DMABUF_EXPORTER};
	static const struct {
		const char *driver, *maps, *want;
	} providers[] = {
		{"bnxt_re",
		 "1-2 r-xp 0 0:0 0 /usr/lib/libibverbs/libmlx4-rdmav59.so\n"
		 "1-2 r-xp 0 0:0 0 /usr/lib/libibverbs/libbnxt_re-rdmav59.so\n"
		 "1-2 r-xp 0 0:0 0 /usr/lib/libibverbs.so.1.15.59.0\n",
		 ", rdma-core 59, libbnxt_re-rdmav59.so.\n"},
		{"mlx5_ib",
		 "1-2 r-xp 0 0:0 0 /usr/lib/libmlx5x-rdmav34.so\n"
		 "1-2 r-xp 0 0:0 0 /usr/lib/libmlx5.so.1.25.63.0\n",
		 ", libmlx5.so.1.25.63.0.\n"},
		{"bnxt_re", "1-2 r-xp 0 0:0 0 /usr/lib/libmlx4-rdmav59.so\n", "Linux 6.1.0-50.\n"},
		{"my_own", "1-2 r-xp 0 0:0 0 /usr/lib/libmlx4-rdmav59.so\n", "Linux 6.1.0-50.\n"},
		{NULL, "1-2 r-xp 0 0:0 0 /usr/lib/libmlx4-rdmav59.so\n", "Linux 6.1.0-50.\n"},
	};
	static const char all[] = "\n  Versions: Linux 6.1.0-50, driver 5.8-2.0.3, firmware "
				  "20.31.1014, rdma-core 44.\n";
	static const char kernel[] = "\n  Versions: Linux 6.1.0-50, rdma-core 44.\n";
	struct rdmaez_diag diag;
	char text[4096];

	fake_reset();
	fake_uname("6.1.0-50");
	fake_tree_new();
	fake_tree_file("/sys/class/infiniband/mlx5_0/fw_ver", "20.31.1014\n");
	fake_tree_file("/sys/class/infiniband/mlx5_0/device/driver/module/version", "5.8-2.0.3\n");
	fake_tree_file("/sys/class/fw_ver", "1\n");
	fake_tree_file("/proc/self/maps", "1-2 r-xp 0 0:0 0 /usr/lib/libibverbs.so.1.14.44.0\n");
	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		diag = refused_on("mlx5_0", with[i]);
		rdmaez_diag_format(&diag, text, sizeof(text));
		tap_ok(strstr(text, all) && strlen(strstr(text, all)) == strlen(all),
		       "%s: the last line has the versions", rdmaez_why_id(with[i]));
	}
	rdmaez_diag_json(&diag, text, sizeof(text));
	tap_ok(strstr(text, "}],\"versions\":{\"kernel\":\"6.1.0-50\",\"driver\":\"5.8-2.0.3\","
			    "\"firmware\":\"20.31.1014\",\"rdma_core\":44}}"),
	       "JSON has them, too");
	diag.dropped = 3;
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strstr(text, "\n  And 3 more.\n  Versions: Linux"), "they stand behind the count");
	for (size_t i = 0; i < COUNT_OF(providers); i++) {
		fake_tree_file("/proc/self/maps", providers[i].maps);
		diag = refused_on("other0", RDMAEZ_WHY_PROVIDER_FAULT);
		diag.driver = providers[i].driver;
		rdmaez_diag_format(&diag, text, sizeof(text));
		tap_ok(strstr(text, providers[i].want), "the provider, case %zu", i);
	}
	fake_tree_file("/proc/self/maps", providers[0].maps);
	diag.driver = providers[0].driver;
	rdmaez_diag_json(&diag, text, sizeof(text));
	tap_ok(strstr(text, ",\"rdma_core\":59,\"provider\":\"libbnxt_re-rdmav59.so\"}}"),
	       "JSON has it, too");
	fake_tree_file("/proc/self/maps", "1-2 r-xp 0 0:0 0 /usr/lib/libibverbs.so.1.14.44.0\n");
	diag = refused_on("mlx5_0", RDMAEZ_WHY_NULL_ARGUMENT);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(!strstr(text, "Versions"), "a mistake of the program has none");
	diag = refused_on("mlx5_0", RDMAEZ_WHY_REFUSED);
	diag.error = 0;
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(!strstr(text, "Versions"), "nor has a call that worked");
	rdmaez_diag_json(&diag, text, sizeof(text));
	tap_ok(!strstr(text, "versions"), "in JSON neither");
	diag = refused_on("..", RDMAEZ_WHY_REFUSED);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strstr(text, kernel), "a name that leads out of the folder is not followed");
	diag = refused_on("a/..", RDMAEZ_WHY_REFUSED);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strstr(text, kernel), "nor is one with a slash");
	diag = refused_on("", RDMAEZ_WHY_REFUSED);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strstr(text, kernel), "and without a device there is no firmware");
	fake_tree_file("/sys/class/infiniband/mlx5_1/fw_ver", "1\033[2J\nmore\n");
	fake_tree_file("/proc/self/maps", "1-2 r-xp 0 0:0 0 /usr/bin/program\n");
	diag = refused_on("mlx5_1", RDMAEZ_WHY_REFUSED);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strstr(text, "\n  Versions: Linux 6.1.0-50, firmware 1?[2J.\n"),
	       "what a file holds cannot reach the terminal, and a static program has no library");
	fake_uname(NULL);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(!strstr(text, "Versions"), "without a kernel's there are none");
	rdmaez_diag_json(&diag, text, sizeof(text));
	tap_ok(strstr(text, "\"}]}"), "and JSON ends as it should");
}

int main(void)
{
	check_versions();
	check_need();
	check_reasons();
	check_record();
	check_notes();
	check_order();
	check_small_texts();
	check_calls();
	check_kinds();
	check_times();
	check_swapped();
	check_wrapped();
	check_json_bytes();
	check_plain();
	check_json_characters();
	check_values();
	check_completions();
	check_errno_texts();
	check_advice();
	check_own_numbers();
	check_homes();
	check_small_values();
	check_ends();
	check_suggestion();
	check_first_finding();
	check_print();
	check_print_refused();
	return tap_done();
}
