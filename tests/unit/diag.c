/* SPDX-License-Identifier: MIT */
/* The explanation record, and what fmt.h makes of it: every text to the letter. */
#define _POSIX_C_SOURCE 200809L /* strtok_r() */

#include <limits.h>

#include "check.h"

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
	tap_eq_str(rdmaez_why_fix(RDMAEZ_WHY_PORT), "use a port within the range", "its remedy");
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
	tap_eq_int(diag.count, RDMAEZ_DIAG_FINDINGS, "the record is full");
	tap_eq_int(diag.dropped, WRONG - RDMAEZ_DIAG_FINDINGS, "and counts what it cannot hold");
	tap_eq_int(diag.error, EINVAL, "it holds the errno");
	tap_eq_str(diag.finding[0].field, "qp_access_flags", "the first finding was the first");
	for (unsigned int i = 0; i < diag.count; i++) {
		tap_ok(diag.finding[i].field, "finding %u names a field", i);
		tap_eq_int(diag.finding[i].severity, RDMAEZ_DIAG_ERROR, "finding %u is certain", i);
	}
	tap_eq_ptr(rdmaez_diag_find(&diag, RDMAEZ_WHY_ACCESS_BITS), &diag.finding[0],
		   "a finding is found by its reason");
	tap_eq_ptr(rdmaez_diag_find(&diag, RDMAEZ_WHY_RANGE), &diag.finding[1], "the first of several");
	tap_eq_ptr(rdmaez_diag_find(&diag, RDMAEZ_WHY_PORT), NULL, "one that is not there is not");
	diag.count = 1;
	tap_eq_ptr(rdmaez_diag_find(&diag, RDMAEZ_WHY_RANGE), NULL, "only what is counted is found");
	tap_eq_ptr(rdmaez_diag_find(NULL, RDMAEZ_WHY_RANGE), NULL, "nor in no record");

	tap_eq_int(rdmaez_qp_attr(IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, NULL, &move, &diag), 0,
		   "then nothing is wrong");
	tap_eq_int(diag.count, 0, "the old findings are gone");
	tap_eq_int(diag.dropped, 0, "and what was dropped");
	tap_eq_int(diag.error, 0, "and the errno");
	tap_eq_int(diag.qp_type, IBV_QPT_UD, "the type is the new one");
	tap_eq_int(diag.to, IBV_QPS_INIT, "so is the state asked for");
	tap_eq_ptr(rdmaez_diag_find(&diag, RDMAEZ_WHY_ACCESS_BITS), NULL,
		   "what lies behind the last finding is not found");
}

/* Errors come before what is likely, and that before advice; each kind in the order of discovery. */
static void check_order(void)
{
	static const enum rdmaez_severity given[] = {RDMAEZ_DIAG_ADVICE, RDMAEZ_DIAG_ERROR,  RDMAEZ_DIAG_LIKELY,
						     RDMAEZ_DIAG_ADVICE, RDMAEZ_DIAG_LIKELY, RDMAEZ_DIAG_ERROR};
	static const unsigned int value[] = {1, 5, 2, 4, 0, 3}; /* in the order expected */
	struct rdmaez_diag diag;

	rdmaez_impl_diag_reset(&diag, "test");
	for (unsigned int i = 0; i < COUNT_OF(given); i++)
		rdmaez_impl_diag_add(&diag, given[i], RDMAEZ_WHY_RANGE, "field", RDMAEZ_VALUE_NUMBER, i,
				     0, 0);
	tap_eq_int(diag.count, COUNT_OF(given), "all findings are there");
	for (unsigned int i = 0; i < COUNT_OF(value); i++) {
		tap_eq_int(diag.finding[i].value, value[i], "finding %u came as number %u", i,
			   value[i]);
		tap_eq_int(diag.finding[i].severity, given[value[i]], "with its severity");
	}

	/* An error that comes late pushes advice out of a full record, and advice nothing. */
	rdmaez_impl_diag_reset(&diag, "test");
	for (unsigned int i = 0; i < RDMAEZ_DIAG_FINDINGS; i++)
		rdmaez_impl_diag_add(&diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_RANGE, "advice",
				     RDMAEZ_VALUE_NUMBER, i, 0, 0);
	rdmaez_impl_diag_add(&diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_ENUM, "error", RDMAEZ_VALUE_NUMBER, 99, 0,
			     0);
	tap_eq_str(diag.finding[0].field, "error", "a late error comes first");
	tap_eq_int(diag.finding[RDMAEZ_DIAG_FINDINGS - 1].value, RDMAEZ_DIAG_FINDINGS - 2,
		   "the last advice fell out");
	tap_eq_int(diag.count, RDMAEZ_DIAG_FINDINGS, "the record is full");
	tap_eq_int(diag.dropped, 1, "one was dropped");
	rdmaez_impl_diag_add(&diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_ENUM, "late", RDMAEZ_VALUE_NUMBER, 99, 0,
			     0);
	tap_eq_str(diag.finding[RDMAEZ_DIAG_FINDINGS - 1].field, "advice",
		   "late advice is dropped");
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
	memset(&diag, 0, sizeof(diag));
	check_cut(format_diag, &diag, "", "a record that nobody filled");

	rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, NULL, &move, &diag);
	check_cut(format_diag, &diag, "rdmaez_qp_attr: no error, RC, RESET to INIT.\n",
		  "a success");
	check_cut(format_line, &diag, "call=rdmaez_qp_attr error=0 type=RC from=RESET to=INIT",
		  "a success in a line");

	rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_RTR, NULL, &move, &diag);
	check_cut(format_diag, &diag,
		  "rdmaez_qp_attr failed with EINVAL, RC, RESET to RTR.\n"
		  "  qp_state: no queue pair may make this transition. Asked for: RTR; possible: "
		  "RESET, INIT. Next: go\n    through one of the states listed.\n",
		  "a transition that does not exist");
	check_cut(format_line, &diag,
		  "call=rdmaez_qp_attr error=EINVAL type=RC from=RESET to=RTR "
		  "finding=error:TRANSITION:qp_state:0x2",
		  "a transition that does not exist, in a line");

	rdmaez_qp_mask_check(IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT,
			     IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS | IBV_QP_SQ_PSN |
				     IBV_QP_CUR_STATE,
			     &diag);
	check_cut(
		format_diag, &diag,
		"rdmaez_qp_mask_check failed with EINVAL, UD, RESET to INIT.\n"
		"  attr_mask: attributes that this transition requires are not in the mask. These "
		"are:\n    IBV_QP_PKEY_INDEX|IBV_QP_PORT. Next: fill them and add their bits.\n"
		"  attr_mask: attributes that this transition does not take are in the mask. These "
		"are:\n    IBV_QP_CUR_STATE|IBV_QP_ACCESS_FLAGS|IBV_QP_SQ_PSN. IBV_QP_CUR_STATE "
		"belongs to RTR to RTS. No\n    transition of UD takes IBV_QP_ACCESS_FLAGS. "
		"IBV_QP_SQ_PSN belongs to RTR to RTS. Next: remove\n    their bits: a superset is "
		"refused too.\n",
		"a mask with mistakes of both kinds");

	rdmaez_qp_attr((enum ibv_qp_type)5, IBV_QPS_RESET, IBV_QPS_INIT, NULL, &move, &diag);
	check_cut(
		format_diag, &diag,
		"rdmaez_qp_attr failed with EINVAL, unknown, RESET to INIT.\n"
		"  qp_type: this queue pair type has no transition table of its own in verbs. "
		"Given: unknown (5).\n    Next: use RC, UC, UD, RAW_PACKET, XRC_SEND or XRC_RECV; "
		"driver types follow their driver.\n",
		"an unknown type");

	rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, &diag);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strstr(text, "\n  qp_access_flags: these access flags belong to memory regions, not "
			    "to queue pairs. These are:\n    IBV_ACCESS_RELAXED_ORDERING. Next: "),
	       "access flags are named");
	tap_ok(strstr(text, "\n  pkey_index: the value is outside its range. Given: -1; accepted: "
			    "0 to 65535. Next: use a value\n    within the range.\n"),
	       "a negative number is written as one");
	tap_ok(strstr(text,
		      "\n  path.flags: the options hold bits that this version does not know. "
		      "These are: 0x2. Next: "),
	       "flags are a number");
	tap_ok(strstr(text, "\n  And 8 more.\n") &&
		       strlen(strstr(text, "\n  And 8 more.\n")) == strlen("\n  And 8 more.\n"),
	       "the last line counts what was dropped");
	rdmaez_diag_line(&diag, text, sizeof(text));
	tap_ok(strstr(text, " finding=error:RANGE:pkey_index:0xffffffffffffffff ") &&
		       strstr(text, " dropped=8"),
	       "in a line the same");

	/* The longest finding there is: each attribute named, and where it belongs. */
	rdmaez_qp_mask_check(IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_ERR, 0x7fffffff, &diag);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strstr(text, " refused too.\n"), "the longest explanation is not cut");
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

/* The rest of what a record can hold, put together by hand. */
static void check_values(void)
{
	struct rdmaez_diag diag;

	memset(&diag, 0, sizeof(diag));
	diag.call = "ibv_modify_qp";
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
	diag.count = 4;
	diag.finding[0].reason = RDMAEZ_WHY_MTU_IN_BYTES;
	diag.finding[0].kind = RDMAEZ_VALUE_MTU;
	diag.finding[0].field = "path_mtu";
	diag.finding[0].value = 1024;
	diag.finding[0].min = IBV_MTU_256;
	diag.finding[0].max = IBV_MTU_4096;
	diag.finding[1].severity = RDMAEZ_DIAG_LIKELY;
	diag.finding[1].reason = RDMAEZ_WHY_PKEY_NOT_FOUND;
	diag.finding[1].kind = RDMAEZ_VALUE_PKEY;
	diag.finding[1].field = "pkey";
	diag.finding[1].value = 0x42;
	diag.finding[2].severity = RDMAEZ_DIAG_ADVICE;
	diag.finding[2].reason = RDMAEZ_WHY_NULL_ARGUMENT;
	diag.finding[2].field = "attr";
	diag.finding[3].severity = RDMAEZ_DIAG_ADVICE;
	diag.finding[3].reason = RDMAEZ_WHY_PORT;
	diag.finding[3].kind = (enum rdmaez_value)99;
	diag.finding[3].field = "thing";
	check_cut(
		format_diag, &diag,
		"ibv_modify_qp failed with ETIMEDOUT on fake0 (driver fake_drv), QP 4000000000, in "
		"RTS, from GID row\n    3 (::ffff:192.0.2.1, RoCE v2, interface 7) to "
		"2001:db8::9.\n"
		"  path_mtu: an MTU is an enum ibv_mtu, not a number of bytes. Given: 1024; "
		"accepted: 1 (IBV_MTU_256)\n    to 5 (IBV_MTU_4096). Next: use IBV_MTU_256 to "
		"IBV_MTU_4096, or rdmaez_mtu_from_bytes().\n"
		"  Likely, pkey: the port's P_Key table does not hold this partition key. Given: "
		"0x0042. Next: ask\n    the subnet manager for it, or use the default partition "
		"0xffff.\n"
		"  Advice, attr: a required pointer is NULL. Next: pass the object.\n"
		"  Advice, thing: the device has no such port. Next: use a port within the "
		"range.\n",
		"values of every other kind");
	check_lines(&diag, "values of every other kind");
	check_cut(format_line, &diag,
		  "call=ibv_modify_qp error=ETIMEDOUT device=fake0 driver=fake_drv qp=4000000000 "
		  "state=RTS finding=error:MTU_IN_BYTES:path_mtu:0x400 "
		  "finding=likely:PKEY_NOT_FOUND:pkey:0x42 finding=advice:NULL_ARGUMENT:attr:0x0 "
		  "finding=advice:PORT:thing:0x0",
		  "the same in a line");
	diag.count = 1;
	diag.dropped = 2;
	check_cut(format_json, &diag,
		  "{\"call\":\"ibv_modify_qp\",\"error\":110,\"errno\":\"ETIMEDOUT\","
		  "\"device\":\"fake0\",\"driver\":\"fake_drv\",\"qp_num\":4000000000,"
		  "\"state\":\"RTS\",\"sgid\":\"::ffff:192.0.2.1\",\"sgid_index\":3,"
		  "\"dgid\":\"2001:db8::9\",\"dropped\":2,\"findings\":[{\"severity\":\"error\","
		  "\"reason\":\"MTU_IN_BYTES\",\"field\":\"path_mtu\",\"value\":1024,\"min\":1,"
		  "\"max\":5,\"what\":\"an MTU is an enum ibv_mtu, not a number of bytes\","
		  "\"next\":\"use IBV_MTU_256 to IBV_MTU_4096, or rdmaez_mtu_from_bytes()\"}]}",
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

int main(void)
{
	check_reasons();
	check_record();
	check_order();
	check_small_texts();
	check_calls();
	check_values();
	return tap_done();
}
