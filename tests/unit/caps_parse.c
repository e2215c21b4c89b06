/* SPDX-License-Identifier: MIT */
/* Capabilities read back from JSON: what was written comes back, and nothing else is believed. */
#include <rdmaez.h>
#include <rdmaez/caps_parse.h>

#include "check.h"
#include "findings.h"

static struct {
	struct rdmaez_caps caps;
	struct rdmaez_diag diag;
	size_t marked; /* where the text had a ^ */
} t;

/* Reads a text that lies in just as many bytes, so that the sanitizer sees one too many. */
static int parse(const char *text, size_t length)
{
	char *exact = (char *)malloc(length + !length);
	struct rdmaez_caps before;
	int error;

	memset(&t.caps, 0x5a, sizeof(t.caps));
	before = t.caps;
	memset(&t.diag, 0x55, sizeof(t.diag));
	memcpy(exact, text, length);
	error = rdmaez_caps_parse(exact, length, &t.caps, &t.diag);
	if (error && memcmp(&before, &t.caps, sizeof(before)) != 0)
		tap_ok(false, "a failure writes nothing");
	free(exact);
	return error;
}

/* The same of a text for people: ' stands for ", and ^ is not in it but marks a place. */
static int parse_easy(const char *easy)
{
	char text[4096];
	size_t length = 0;

	t.marked = SIZE_MAX;
	for (; *easy; easy++)
		if (*easy == '^')
			t.marked = length;
		else
			text[length++] = *easy == '\'' ? '"' : *easy;
	return parse(text, length);
}

/* The first field in which two devices differ, sources included; NULL: none. */
static const char *difference(const struct rdmaez_caps *a, const struct rdmaez_caps *b)
{
	struct rdmaez_caps_item x, y;

	for (int id = 0; !rdmaez_caps_get(a, (enum rdmaez_caps_id)id, &x); id++) {
		const size_t at = x.field->offset;

		rdmaez_caps_get(b, (enum rdmaez_caps_id)id, &y);
		if (x.source != y.source ||
		    memcmp((const char *)a + at, (const char *)b + at, x.field->size) != 0)
			return x.field->name;
	}
	return NULL;
}

/* ---- What was written comes back -------------------------------------------------------------- */

/* Ends the texts, as all are that a device or rdmaez_caps_parse() gives. */
static void end_texts(struct rdmaez_caps *caps)
{
	caps->device.name[sizeof(caps->device.name) - 1] = '\0';
	caps->device.dev_name[sizeof(caps->device.dev_name) - 1] = '\0';
	caps->device.fw_ver[sizeof(caps->device.fw_ver) - 1] = '\0';
}

static void check_round(const struct rdmaez_caps *caps, const char *name)
{
	static char json[32768];
	const int length = rdmaez_caps_json(caps, json, sizeof(json));

	check_success(&t.diag, parse(json, (size_t)length), "%s: the JSON is read", name);
	tap_eq_str(t.diag.call, "rdmaez_caps_parse", "%s: the record names the call", name);
	tap_eq_str(difference(caps, &t.caps), NULL, "%s: every field and source is back", name);
}

static uint32_t seed = 1;

static uint32_t random_byte(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 24;
}

/* Any device: half of its numbers zero, every source, texts of every length up to all of the array. */
static void make_random(struct rdmaez_caps *caps)
{
	memset(caps, 0, sizeof(*caps));
	for (int id = 0; id < RDMAEZ_CAPS_ID_COUNT; id++) {
		const struct rdmaez_caps_field *field =
			rdmaez_caps_describe((enum rdmaez_caps_id)id);
		char *member = (char *)caps + field->offset;
		size_t size = field->size;

		caps->source[id] = (uint8_t)(random_byte() % RDMAEZ_SOURCE_COUNT);
		if (field->kind == RDMAEZ_KIND_TEXT)
			size = random_byte() % (size + 1);
		if (random_byte() % 2)
			continue;
		for (size_t i = 0; i < size; i++)
			member[i] = (char)(field->kind == RDMAEZ_KIND_TEXT ? random_byte() % 255 + 1
					   : field->kind == RDMAEZ_KIND_BOOL ? random_byte() % 2
									     : random_byte());
	}
}

static void check_rounds(void)
{
	struct rdmaez_caps caps;
	char name[40];

	memset(&caps, 0, sizeof(caps));
	check_round(&caps, "all zero");
	for (int source = 0; source < RDMAEZ_SOURCE_COUNT; source++) {
		memset(caps.source, source, sizeof(caps.source));
		snprintf(name, sizeof(name), "all zero because of %s",
			 rdmaez_caps_source_id((enum rdmaez_caps_source)source));
		check_round(&caps, name);
	}
	memset(&caps, 0xff, sizeof(caps));
	memset(caps.source, RDMAEZ_SOURCE_DIFFERS, sizeof(caps.source));
	caps.odp.supported = caps.odp.implicit = caps.memory_windows.type_1 = true;
	caps.memory_windows.type_2a = caps.memory_windows.type_2b = true;
	end_texts(&caps);
	check_round(&caps, "all bits set");
	for (unsigned int first = 1; first < 256; first += 63) {
		for (unsigned int i = 0; i < 63; i++)
			caps.device.fw_ver[i] = (char)(first + i > 255 ? 0 : first + i);
		end_texts(&caps);
		snprintf(name, sizeof(name), "the characters from %u on", first);
		check_round(&caps, name);
	}
	for (int i = 0; i < 300; i++) {
		make_random(&caps);
		end_texts(&caps);
		end_texts(&caps);
		snprintf(name, sizeof(name), "random device %d", i);
		check_round(&caps, name);
	}
}

/* ---- What others make of it ------------------------------------------------------------------- */

static void check_layout(void)
{
	check_success(
		&t.diag,
		parse_easy(
			" \r\n{ 'sources' :\t{ 'max_dm_size' : 'OLD_KERNEL', 'no.field' : {}, "
			"'tso_caps.max_tso':'DRIVER' } , 'tso_caps' : { 'max_tso' : null , "
			"'supported_qpts' : 4 } ,\n 'odp_caps':{'per_transport_caps':{"
			"'rc_odp_caps':5},'general_caps':1},\n 'max_qp':\n7,'rdmaez_caps':1 }\n"),
		"spaces, and keys in another order");
	tap_eq_int(t.caps.limits.max_qp, 7, "a number at the top");
	tap_eq_int(t.caps.tso.supported_qpts, 4, "one in an object");
	tap_eq_int(t.caps.odp.rc, 5, "one in an object of an object");
	tap_eq_int(t.caps.odp.general_caps, 1, "one behind it");
	tap_eq_int(t.caps.source[RDMAEZ_CAPS_MAX_QP], RDMAEZ_SOURCE_DEVICE, "is the device's");
	tap_eq_int(t.caps.source[RDMAEZ_CAPS_MAX_DM_SIZE], RDMAEZ_SOURCE_OLD_KERNEL,
		   "a source of what is not there is kept");
	tap_eq_int(t.caps.source[RDMAEZ_CAPS_MAX_TSO], RDMAEZ_SOURCE_DRIVER, "so is that of null");
	tap_eq_int(t.caps.source[RDMAEZ_CAPS_MAX_MR], RDMAEZ_SOURCE_NOT_ASKED,
		   "what is missing is unknown");
	tap_eq_int(rdmaez_caps_answer(&t.caps, RDMAEZ_CAPS_MAX_MR), RDMAEZ_ANSWER_UNKNOWN,
		   "and not a no");

	check_success(&t.diag,
		      parse_easy("{'rdmaez_caps':1,'max_qp':null,'max_cq':null,'max_mr':0,"
				 "'sources':{'max_cq':'CORRECTED','max_mr':'CORRECTED'}}"),
		      "null without a source");
	tap_eq_int(t.caps.source[RDMAEZ_CAPS_MAX_QP], RDMAEZ_SOURCE_NOT_ASKED, "is unknown");
	tap_eq_int(t.caps.source[RDMAEZ_CAPS_MAX_CQ], RDMAEZ_SOURCE_NOT_ASKED,
		   "so is null with the source of a value");
	tap_eq_int(t.caps.source[RDMAEZ_CAPS_MAX_MR], RDMAEZ_SOURCE_CORRECTED, "but not a zero");
}

/* What is no field is passed over, whatever it is, and whatever names it has inside. */
static void check_unknown_keys(void)
{
	check_success(
		&t.diag,
		parse_easy(
			"{'rdmaez_caps':1,'ports':[{'max_qp':1,'gids':[{'gid':'::'}],'x':[]},{}],"
			"'':0,'a':-0.5e+7,'b':true,'c':false,'d':null,'e':'\\ud800\\\"\xe2\x82\xac'"
			","
			"'f':999999999999999999999999,'g':[1,[2,'3'],{'4':5}],'max_qp_':3,"
			"'a_key_that_is_longer_than_every_path_that_there_is_in_the_descriptions_"
			"of_"
			"the_fields_of_today':1,'tso_caps.max_tso':4,'tso_caps':{'max_tso':9,"
			"'max_qp':5,'sources':6,'rdmaez_caps':7,'ma\\u0000x_tso':1}}"),
		"keys that nobody knows");
	tap_eq_int(t.caps.tso.max_tso, 9, "a dot in a key leads nowhere");
	tap_eq_int(t.caps.limits.max_qp, 0, "a field's name elsewhere means nothing");
	check_success(&t.diag, parse_easy("{'\\u0072dmaez_caps':1,'max\\u005Fq\\u0070':6}"),
		      "keys with escapes");
	tap_eq_int(t.caps.limits.max_qp, 6, "are what they stand for");
}

static void check_texts(void)
{
	check_success(
		&t.diag,
		parse_easy("{'rdmaez_caps':1,'fw_ver':'\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\xc3\xbf"
			   "\\u00FF\x7f','node_guid':'00Aa:bbFF:0102:fE99',"
			   "'name':'"
			   "012345678901234567890123456789012345678901234567890123456789012'}"),
		"texts with escapes");
	tap_eq_str(t.caps.device.fw_ver, "\"\\/\b\f\n\r\t\xe9\xff\xff\x7f", "are as they were");
	tap_ok(memcmp(&t.caps.device.node_guid, "\x00\xaa\xbb\xff\x01\x02\xfe\x99", 8) == 0,
	       "a GUID's bytes are in their order");
	tap_eq_str(t.caps.device.name + 60, "012", "a text may fill its array but for the NUL");
}

static void check_numbers(void)
{
	static const struct {
		const char *text;
		uint64_t value;
	} numbers[] = {
		{"0", 0},
		{"-0", 0},
		{"0e99999999999999999999", 0},
		{"0.000", 0},
		{"18446744073709551615", UINT64_MAX},
		{"18446744073709551615.000e0", UINT64_MAX},
		{"1.8446744073709551615e19", UINT64_MAX},
		{"18446744073709551615000e-3", UINT64_MAX},
		{"9007199254740993", UINT64_C(9007199254740993)},
		{"1e+18", UINT64_C(1000000000000000000)},
		{"1E19", UINT64_C(10000000000000000000)},
		{"0.00000000000000000000000125E26", 125},
		{"100e-2", 1},
		{"1.50e1", 15},
		{"10000000000000000000000000000000e-30", 10},
		{"18446744073709552000", UINT64_MAX},
		{"1.8446744073709552e+19", UINT64_MAX},
	};
	char text[100];

	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		snprintf(text, sizeof(text), "{'rdmaez_caps':1.0,'max_mr_size':%s}",
			 numbers[i].text);
		check_success(&t.diag, parse_easy(text), "the number %s", numbers[i].text);
		tap_eq_hex(t.caps.limits.max_mr_size, numbers[i].value, "is exact");
	}
}

/* Reads a field, in the objects that its path names, from this text. */
static int parse_field(const char *path, const char *value)
{
	char text[300], *at = text + sprintf(text, "{'rdmaez_caps':1,");
	int open = 1;

	for (; strchr(path, '.'); path = strchr(path, '.') + 1, open++)
		at += sprintf(at, "'%.*s':{", (int)strcspn(path, "."), path);
	at += sprintf(at, "'%s':^%s", path, value);
	memcpy(at, "}}}}", 4);
	at[open] = '\0';
	return parse_easy(text);
}

static void check_end(enum rdmaez_caps_id id, const char *end, uint64_t value)
{
	const char *path = rdmaez_caps_describe(id)->name;
	struct rdmaez_caps_item item;

	check_success(&t.diag, parse_field(path, end), "%s takes %s", path, end);
	rdmaez_caps_get(&t.caps, id, &item);
	tap_eq_hex(item.value, value, "and holds it");
	tap_eq_int(item.source, RDMAEZ_SOURCE_DEVICE, "from the device");
}

/* A text was refused, by the reason and the marked place. */
static void check_place(int returned, enum rdmaez_why reason, const char *field,
			const char *name)
{
	CHECK_FINDINGS(&t.diag, returned, EINVAL, "rdmaez_caps_parse", name,
		       {RDMAEZ_DIAG_ERROR, reason, field, RDMAEZ_VALUE_POSITION, t.marked, 0, 0});
}

static void check_beyond(const char *path, const char *number, int64_t value, int64_t min,
			 int64_t max)
{
	CHECK_FINDINGS(&t.diag, parse_field(path, number), EINVAL, "rdmaez_caps_parse", path,
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, path, RDMAEZ_VALUE_NUMBER, (uint64_t)value,
			(uint64_t)min, (uint64_t)max});
}

/* The ends of every field's type, and what lies beyond them. */
static void check_ranges(void)
{
	static const char *const unsigned_ends[] = {"255", "65535", "4294967295"};
	static const char *const beyond[] = {"256", "65536", "4294967296"};

	for (int i = 0; i < RDMAEZ_CAPS_ID_COUNT; i++) {
		const enum rdmaez_caps_id id = (enum rdmaez_caps_id)i;
		const struct rdmaez_caps_field *field = rdmaez_caps_describe(id);
		const int width = field->size == 1 ? 0 : field->size == 2 ? 1 : 2;
		const int64_t most = (INT64_C(1) << (8 << width)) - 1;

		if (field->kind == RDMAEZ_KIND_TEXT || field->kind == RDMAEZ_KIND_GUID ||
		    field->kind == RDMAEZ_KIND_BOOL)
			continue;
		if (field->is_signed) {
			check_end(id, "2147483647", INT32_MAX);
			check_end(id, "-2147483648", (uint64_t)INT32_MIN);
			check_beyond(field->name, "2147483648", INT64_C(2147483648), INT32_MIN,
				     INT32_MAX);
			check_beyond(field->name, "-2147483649", -INT64_C(2147483649), INT32_MIN,
				     INT32_MAX);
		} else if (field->size < 8) {
			check_end(id, unsigned_ends[width], (uint64_t)most);
			check_beyond(field->name, beyond[width], most + 1, 0, most);
			check_beyond(field->name, "-1", -1, 0, most);
			check_beyond(field->name, "9223372036854775807", INT64_MAX, 0, most);
		} else {
			check_end(id, "18446744073709551615", UINT64_MAX);
			check_place(parse_field(field->name, "18446744073709551616"),
				    RDMAEZ_WHY_JSON_RANGE, field->name, field->name);
			check_place(parse_field(field->name, "-1"), RDMAEZ_WHY_JSON_RANGE, field->name,
				    "below 0");
		}
	}
	check_place(parse_field("max_qp", "9223372036854775808"), RDMAEZ_WHY_JSON_RANGE, "max_qp",
		    "63 bits do not hold it");
	check_place(parse_field("max_qp", "-9223372036854775808"), RDMAEZ_WHY_JSON_RANGE, "max_qp",
		    "nor this");
	check_place(parse_field("max_qp", "1e20"), RDMAEZ_WHY_JSON_RANGE, "max_qp", "far too large");
	check_place(parse_field("max_qp", "1e999999999999999999999999"), RDMAEZ_WHY_JSON_RANGE,
		    "max_qp", "still larger");
	check_place(parse_field("max_qp", "18446744073709552000"), RDMAEZ_WHY_JSON_RANGE, "max_qp",
		    "all bits of another size");
	check_place(parse_field("max_mr_size", "-18446744073709552000"), RDMAEZ_WHY_JSON_RANGE,
		    "max_mr_size", "all bits below 0");
	check_place(parse_field("max_mr_size", "18446744073709552001"), RDMAEZ_WHY_JSON_RANGE,
		    "max_mr_size", "one more than all bits as a double");
	check_place(parse_field("max_mr_size", "184467440737095520000"), RDMAEZ_WHY_JSON_RANGE,
		    "max_mr_size", "ten times that");
	check_place(parse_field("max_mr_size", "184467440737095516161"), RDMAEZ_WHY_JSON_RANGE,
		    "max_mr_size", "what 64 bits would cut to 1");
	check_place(parse_field("max_mr_size", "123456789012345678901234567890"), RDMAEZ_WHY_JSON_RANGE,
		    "max_mr_size", "more digits than 64 bits have");
}

/* ---- What is refused -------------------------------------------------------------------------- */

static void check_types(void)
{
	static const char *const values[] = {"1",  "'1'", "true",   "false",
					     "[]", "{}",  "[null]", "{'a':1}"};

	for (int i = 0; i < RDMAEZ_CAPS_ID_COUNT; i++) {
		const struct rdmaez_caps_field *field =
			rdmaez_caps_describe((enum rdmaez_caps_id)i);

		for (size_t v = 0; v < COUNT_OF(values); v++) {
			enum rdmaez_why reason = RDMAEZ_WHY_JSON_TYPE;

			if (field->kind == RDMAEZ_KIND_BOOL && (v == 2 || v == 3))
				continue;
			if (field->kind == RDMAEZ_KIND_TEXT && v == 1)
				continue;
			if (field->kind == RDMAEZ_KIND_GUID && v == 1)
				reason = RDMAEZ_WHY_JSON_TEXT;
			if (field->kind > RDMAEZ_KIND_GUID && field->kind != RDMAEZ_KIND_BOOL && !v)
				continue;
			check_place(parse_field(field->name, values[v]), reason, field->name,
				    field->name);
		}
	}
	check_place(parse_field("max_qp", "1.5"), RDMAEZ_WHY_JSON_TYPE, "max_qp", "a fraction");
	check_place(parse_field("max_qp", "15e-1"), RDMAEZ_WHY_JSON_TYPE, "max_qp",
		    "a fraction by its power");
	check_place(parse_field("max_qp", "1e-99999999999999999999999"), RDMAEZ_WHY_JSON_TYPE, "max_qp",
		    "very little");
	check_place(parse_easy("{'rdmaez_caps':1,'tso_caps':^1}"), RDMAEZ_WHY_JSON_TYPE,
		    "tso_caps.max_tso", "a number instead of an object");
	check_place(parse_easy("{'rdmaez_caps':1,'odp_caps':{'per_transport_caps': ^null}}"),
		    RDMAEZ_WHY_JSON_TYPE, "odp_caps.per_transport_caps.rc_odp_caps",
		    "null instead of an object");
	check_place(parse_easy("{'rdmaez_caps':1,'sources': ^[]}"), RDMAEZ_WHY_JSON_TYPE, "sources",
		    "a list of sources");
	check_place(parse_easy("{'rdmaez_caps':1,'sources':{'max_qp': ^1}}"), RDMAEZ_WHY_JSON_TYPE,
		    "sources", "a number as a source");
	check_place(parse_easy("{'rdmaez_caps':^'1'}"), RDMAEZ_WHY_JSON_TYPE, "rdmaez_caps",
		    "a text as the version");
}

static void check_meaning(void)
{
	static const char *const guids[] = {
		"''",
		"'0011:2233:4455:667'",
		"'0011:2233:4455:66777'",
		"'0011:2233:4455:667g'",
		"'00112233:4455:6677 '",
		"'0011-2233-4455-6677'",
		"'0011:2233:4455::677'",
	};
	static const char *const unknown[] = {"''",
					      "'DEVICES'",
					      "'DEVIC'",
					      "'device'",
					      "'unknown'",
					      "'DEVICE\\u0000'",
					      "'A_SOURCE_WITH_A_NAME_OF_SO_MANY_CHARACTERS'"};
	char text[200];

	for (size_t i = 0; i < COUNT_OF(guids); i++)
		check_place(parse_field("node_guid", guids[i]), RDMAEZ_WHY_JSON_TEXT, "node_guid",
			    guids[i]);
	for (size_t i = 0; i < COUNT_OF(unknown); i++) {
		snprintf(text, sizeof(text), "{'rdmaez_caps':1,'sources':{'max_qp':^%s}}",
			 unknown[i]);
		check_place(parse_easy(text), RDMAEZ_WHY_ENUM, "sources", unknown[i]);
	}
	check_place(parse_field("fw_ver", "'\xc4\x80'"), RDMAEZ_WHY_JSON_TEXT, "fw_ver",
		    "a character of two bytes");
	check_place(parse_field("fw_ver", "'a\\u0000'"), RDMAEZ_WHY_JSON_TEXT, "fw_ver", "a NUL");
	check_place(parse_field("name", "'01234567890123456789012345678901234567890123456789012345"
					"67890123'"),
		    RDMAEZ_WHY_JSON_TEXT, "name", "64 characters");
	check_place(parse_easy("{'rdmaez_caps':1,'max_qp':1, 'max_qp':^1}"), RDMAEZ_WHY_JSON_TWICE,
		    "max_qp", "a field twice");
	check_place(parse_easy("{'rdmaez_caps':1,'tso_caps':{'max_tso':null},"
			       "'tso_caps':{'max_tso':^1}}"),
		    RDMAEZ_WHY_JSON_TWICE, "tso_caps.max_tso",
		    "a field of an object that is there twice");
	check_place(parse_easy("{'rdmaez_caps':1,'sources':{'max_qp':'DEVICE','max_qp':^'PLAIN'}}"),
		    RDMAEZ_WHY_JSON_TWICE, "sources", "a source twice");
	check_place(parse_easy("{'rdmaez_caps':1,'rdmaez_caps':^1}"), RDMAEZ_WHY_JSON_TWICE,
		    "rdmaez_caps", "the version twice");
	check_place(parse_easy("{'rdmaez_caps':^2}"), RDMAEZ_WHY_JSON_VERSION, "rdmaez_caps",
		    "the next version");
	check_place(parse_easy("{'rdmaez_caps':^-1}"), RDMAEZ_WHY_JSON_VERSION, "rdmaez_caps",
		    "a version below 0");
	check_place(parse_easy("{'rdmaez_caps':^1.5}"), RDMAEZ_WHY_JSON_VERSION, "rdmaez_caps",
		    "half a version");
	check_refusal(&t.diag, parse_easy("{'max_qp':1}"), EINVAL, RDMAEZ_WHY_JSON_VERSION,
		      "rdmaez_caps", "no version");
	check_refusal(&t.diag, parse_easy("{}"), EINVAL, RDMAEZ_WHY_JSON_VERSION, "rdmaez_caps",
		      "nothing");
}

static void check_syntax(void)
{
	static const char *const texts[] = {
		"^",
		" \n^",
		"^null",
		"^[]",
		"^1",
		"^'x'",
		"^\xef\xbb\xbf{}",
		"^,",
		"{^",
		"{^,}",
		"{'a'^}",
		"{'a':^}",
		"{'a'  ^1}",
		"{'a':1^",
		"{'a':1,^}",
		"{'a':1 ^'b':2}",
		"{^a:1}",
		"{^1:1}",
		"{'a':^tru}",
		"{'a':^True}",
		"{'a':^nul}",
		"{'a':null^null}",
		"{'a':^NaN}",
		"{'a':^+1}",
		"{'a':^.5}",
		"{'a':-^}",
		"{'a':-^ 1}",
		"{'a':-^-1}",
		"{'a':0^1}",
		"{'a':1.^}",
		"{'a':1.^e1}",
		"{'a':1e^}",
		"{'a':1e+^}",
		"{'a':1e^ 1}",
		"{'a':1e+^-1}",
		"{'a':0^x10}",
		"{'a':1^_0}",
		"{'a':[1^}",
		"{'a':[^}",
		"{'a':[^,1]}",
		"{'a':[1,^]}",
		"{'a':[1 ^2]}",
		"{'a':{^]}",
		"{'a':{'b':1^]}",
		"{'a':'b^",
		"{'a':'^\n'}",
		"{'a':'^\t'}",
		"{'a':'^\x1f'}",
		"{'a':'^\\x'}",
		"{'a':'^\\",
		"{'a':'^\\u12'}",
		"{'a':'^\\u12g4'}",
		"{'a':'^\\u",
		"{'a':'^\\U0041'}",
		"{'a':'^\x80'}",
		"{'a':'^\xbf\x80'}",
		"{'a':'^\xc3'}",
		"{'a':'^\xc3",
		"{'a':'^\xc3\xc3'}",
		"{'a':'^\xc0\xaf'}",
		"{'a':'^\xc1\xbf'}",
		"{'a':'^\xe0\x9f\xbf'}",
		"{'a':'^\xed\xa0\x80'}",
		"{'a':'^\xed\xbf\xbf'}",
		"{'a':'^\xf0\x8f\xbf\xbf'}",
		"{'a':'^\xf4\x90\x80\x80'}",
		"{'a':'^\xf5\x80\x80\x80'}",
		"{'a':'^\xff'}",
		"{'a':'^\xf8\x90\x80\x80'}",
		"{'a':'^\xf8\x88\x80\x80\x80'}",
		"{'^\x01':1}",
		"{'max_qp':^x}",
		"{'max_qp':^nul}",
		"{'max_qp':-^}",
		"{'name':'^\n'}",
		"{'node_guid':'^\\q'}",
		"{'odp_caps':{'supported':^tru}}",
		"{'tso_caps':{'max_tso':1^",
		"{'sources':{^",
		"{'sources':{'max_qp'^}}",
		"{'sources':{'max_qp':'DEVICE^",
		"{'sources':^",
		"{'rdmaez_caps':-^}",
		"{'rdmaez_caps':1}^,",
		"{'rdmaez_caps':1} ^{}",
		"{'rdmaez_caps':1}\t\r^x\n",
		"{'rdmaez_caps':1}^}",
		"^/",
		"{^/",
	};

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s", texts[i]);
		for (char *c = name; *c; c++)
			*c = *c < ' ' || *c > '~' ? '?' : *c;
		check_place(parse_easy(texts[i]), RDMAEZ_WHY_JSON_SYNTAX, "json", name);
	}
	check_refusal(&t.diag, parse("{\"rdmaez_caps\":1}\0", 18), EINVAL, RDMAEZ_WHY_JSON_SYNTAX,
		      "json", "a NUL behind the object");
	check_refusal(&t.diag, parse("{\"rdmaez_caps\"\0:1}", 18), EINVAL, RDMAEZ_WHY_JSON_SYNTAX,
		      "json", "a NUL in it");
	check_success(&t.diag,
		      parse_easy("{'rdmaez_caps':1,'a':'\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf"
				 "\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf'}"),
		      "the ends of what UTF-8 can say");
}

/* Of a whole answer no beginning is taken for the whole. */
static void check_beginnings(void)
{
	static char json[32768];
	struct rdmaez_caps caps;
	int length, wrong = 0;

	make_random(&caps);
	end_texts(&caps);
	length = rdmaez_caps_json(&caps, json, sizeof(json));
	for (int i = 0; i < length; i++)
		if (parse(json, (size_t)i) != EINVAL || t.diag.count != 1 ||
		    t.diag.finding[0].reason != RDMAEZ_WHY_JSON_SYNTAX ||
		    t.diag.finding[0].value > (uint64_t)i)
			wrong++;
	tap_eq_int(wrong, 0, "each of %d beginnings is refused", length);
	tap_eq_int(parse(json, (size_t)length), 0, "and the whole is not");
}

static void check_further_lines(void)
{
	check_success(&t.diag, parse_easy("{'rdmaez_caps':1,'max_qp':4} \r\n{'max_qp':5}"),
		      "a second object on a line of its own");
	tap_eq_int(t.caps.limits.max_qp, 4, "is not read");
	check_success(&t.diag, parse_easy("{'rdmaez_caps':1}\n\xff}{"), "nor is anything else");
}

/* So many lists in each other, in the object. */
static int parse_deep(int lists)
{
	char text[200];

	snprintf(text, sizeof(text), "{'rdmaez_caps':1,'a':%.*s^[%.*s}", lists - 1,
		 "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", lists,
		 "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
	return parse_easy(text);
}

static void check_depth(void)
{
	check_success(&t.diag, parse_deep(31), "31 lists in the object");
	check_place(parse_deep(32), RDMAEZ_WHY_JSON_DEPTH, "json", "32 lists in the object");
	check_success(
		&t.diag,
		parse_easy("{'rdmaez_caps':1,'a':[{},[],{},[],{},[],{},[],{},[],{},[],{},[],{},"
			   "[],{},[],{},[],{},[],{},[],{},[],{},[],{},[],{},[],{},[],{},[]]}"),
		"many lists beside each other");
}

static void check_null(void)
{
	check_refusal(&t.diag, rdmaez_caps_parse(NULL, 0, &t.caps, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "json", "no text");
	check_refusal(&t.diag, rdmaez_caps_parse("{}", 2, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "caps", "nowhere to put it");
	tap_eq_int(rdmaez_caps_parse("{}", 2, &t.caps, NULL), EINVAL, "without a record");
	tap_eq_int(rdmaez_caps_parse("{\"rdmaez_caps\":1}", 17, &t.caps, NULL), 0,
		   "without a record, good");
}

int main(void)
{
	check_rounds();
	check_layout();
	check_unknown_keys();
	check_texts();
	check_numbers();
	check_ranges();
	check_types();
	check_meaning();
	check_syntax();
	check_beginnings();
	check_further_lines();
	check_depth();
	check_null();
	return tap_done();
}
