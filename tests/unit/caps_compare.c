/* SPDX-License-Identifier: MIT */
/* Two devices and more: how they stand to each other, what they have in common, what is needed. */
#include <rdmaez.h>
#include <rdmaez/caps.h>
#include <rdmaez/port_caps.h>

#include "caps_list.h"
#include "check.h"
#include "findings.h"

/* Stores a number in a field, and where it comes from. */
static void put(struct rdmaez_caps *caps, enum rdmaez_caps_id id, uint64_t value, int source)
{
	const struct rdmaez_caps_field *field = caps_field(id);

	caps_put((char *)caps + field->offset, field->size, value);
	caps->source[id] = (uint8_t)source;
}

static uint64_t value_of(const struct rdmaez_caps *caps, enum rdmaez_caps_id id)
{
	struct rdmaez_caps_item item;

	rdmaez_caps_get(rdmaez_caps_fields(caps), id, &item);
	return item.value;
}

/* ---- Two ---------------------------------------------------------------------------------- */

static const char *const relations[] = {"equal", "lacks", "exceeds", "differs", "unclear"};

static void check_relation(enum rdmaez_caps_id id, uint64_t first, uint64_t second,
			   enum rdmaez_caps_relation want)
{
	struct rdmaez_caps a, b;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	put(&a, id, first, RDMAEZ_SOURCE_DEVICE);
	put(&b, id, second, RDMAEZ_SOURCE_CORRECTED);
	tap_eq_str(
		relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b), id)],
		relations[want], "%s: %llx, then %llx", caps_field(id)->name,
		(unsigned long long)first, (unsigned long long)second);
}

static void check_relations(const struct caps_expected *field)
{
	const uint64_t less = field->kind == RDMAEZ_KIND_BOOL ? 0 : 2;
	const uint64_t more = field->kind == RDMAEZ_KIND_BOOL ? 1 : 3;
	enum rdmaez_caps_relation up = RDMAEZ_RELATION_EXCEEDS, down = RDMAEZ_RELATION_LACKS;
	struct rdmaez_caps a, b;

	if (field->merge == RDMAEZ_MERGE_SAME)
		up = down = RDMAEZ_RELATION_DIFFERS;
	if (field->merge == RDMAEZ_MERGE_MOST) {
		up = RDMAEZ_RELATION_LACKS;
		down = RDMAEZ_RELATION_EXCEEDS;
	}
	check_relation(field->id, less, less, RDMAEZ_RELATION_EQUAL);
	check_relation(field->id, less, more, up);
	check_relation(field->id, more, less, down);
	/* The least rate limit of a device that has none is no low one. */
	if (field->id == RDMAEZ_CAPS_QP_RATE_LIMIT_MIN) {
		up = RDMAEZ_RELATION_EXCEEDS;
		down = RDMAEZ_RELATION_LACKS;
	}
	check_relation(field->id, 0, more, up);
	check_relation(field->id, more, 0, down);
	if (field->merge == RDMAEZ_MERGE_BITS && field->kind != RDMAEZ_KIND_BOOL) {
		check_relation(field->id, 1, 2, RDMAEZ_RELATION_LACKS);
		check_relation(field->id, 2, 1, RDMAEZ_RELATION_LACKS);
	}
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	put(&b, field->id, 0, RDMAEZ_SOURCE_NOT_ASKED);
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b),
						field->id)],
		   "unclear", "%s: a zero, then unknown", field->name);
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&b), rdmaez_caps_fields(&a),
						field->id)],
		   "unclear", "%s: unknown, then a zero", field->name);
	put(&a, field->id, more, RDMAEZ_SOURCE_DEVICE);
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b),
						field->id)],
		   "unclear", "%s: a number, then unknown", field->name);
	put(&a, field->id, 0, RDMAEZ_SOURCE_DRIVER);
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b),
						field->id)],
		   "equal", "%s: both unknown", field->name);
}

static void check_relate(void)
{
	struct rdmaez_caps a, b;

	for (size_t i = 0; i < CAPS_EXPECTED; i++)
		if (caps_expected[i].kind != RDMAEZ_KIND_TEXT)
			check_relations(&caps_expected[i]);
	check_relation(RDMAEZ_CAPS_MAX_QP, (uint64_t)-1, 1, RDMAEZ_RELATION_EXCEEDS);
	check_relation(RDMAEZ_CAPS_MAX_QP, 1, (uint64_t)-1, RDMAEZ_RELATION_LACKS);
	check_relation(RDMAEZ_CAPS_MAX_MR_SIZE, UINT64_MAX, 1, RDMAEZ_RELATION_LACKS);
	check_relation(RDMAEZ_CAPS_MAX_TSO, UINT32_MAX, 1, RDMAEZ_RELATION_LACKS);

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	strcpy(a.device.fw_ver, "1.2");
	strcpy(b.device.fw_ver, "1.2");
	b.device.fw_ver[10] = 'x';
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b),
						RDMAEZ_CAPS_FW_VER)],
		   "equal", "texts are compared as texts");
	strcpy(b.device.fw_ver, "1.3");
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b),
						RDMAEZ_CAPS_FW_VER)],
		   "differs", "a text that differs");
	memset(a.device.name, 'n', sizeof(a.device.name));
	memset(b.device.name, 'n', sizeof(b.device.name));
	strcpy(a.device.dev_name, "uverbs0");
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b),
						RDMAEZ_CAPS_NAME)],
		   "equal", "a text without an end ends with its array");
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b),
						RDMAEZ_CAPS_ID_COUNT)],
		   "unclear", "what is no field");
}

/* Of high bits nobody speaks where the plain query alone was answered. */
static void check_flags(void)
{
	struct rdmaez_caps a, b;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	a.features.flags = a.features.device_cap_flags_ex = UINT64_C(1) << 40 | 1;
	b.features.flags = b.features.device_cap_flags = 1;
	b.source[RDMAEZ_CAPS_DEVICE_CAP_FLAGS_EX] = RDMAEZ_SOURCE_PLAIN;
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b),
						RDMAEZ_CAPS_FLAGS)],
		   "unclear", "a high bit, then only the plain flags");
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&b), rdmaez_caps_fields(&a),
						RDMAEZ_CAPS_FLAGS)],
		   "unclear", "the other way round");
	b.features.flags = b.features.device_cap_flags = 0;
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b),
						RDMAEZ_CAPS_FLAGS)],
		   "lacks", "a low bit that is missing is missing");
	b.source[RDMAEZ_CAPS_DEVICE_CAP_FLAGS_EX] = RDMAEZ_SOURCE_DEVICE;
	b.features.flags = 1;
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b),
						RDMAEZ_CAPS_FLAGS)],
		   "lacks", "and so is a high one where all are told");
	b.source[RDMAEZ_CAPS_DEVICE_CAP_FLAGS_EX] = RDMAEZ_SOURCE_PLAIN;
	a.features.flags = b.features.flags = 1;
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(&b),
						RDMAEZ_CAPS_FLAGS)],
		   "equal", "the same ones are the same, even if not all are told");
	tap_eq_str(relations[rdmaez_caps_relate(rdmaez_caps_fields(&a), rdmaez_caps_fields(NULL),
						RDMAEZ_CAPS_FLAGS)],
		   "unclear", "nothing is known of no device");
}

/* ---- Several ------------------------------------------------------------------------------ */

/* What one device may say in one field. */
struct said {
	uint64_t value;
	int source;
};

/* Three devices in every order have this in common, and twice the same changes nothing. */
static void check_three(const struct caps_expected *field, const struct said said[3],
			struct said want)
{
	static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					{1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	bool same = true;

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct rdmaez_caps list[6], common;

		memset(list, 0, sizeof(list));
		for (int k = 0; k < 6; k++)
			put(&list[k], field->id, said[orders[i][k % 3]].value,
			    said[orders[i][k % 3]].source);
		for (size_t count = 3; count <= 6; count += 3) {
			memset(&common, 0x55, sizeof(common));
			if (rdmaez_caps_common(list, count, &common, NULL) ||
			    value_of(&common, field->id) != want.value ||
			    common.source[field->id] != want.source) {
				same = false;
				tap_diag("order %d of %d: %llx of %d, not %llx of %d", (int)i,
					 (int)count,
					 (unsigned long long)value_of(&common, field->id),
					 common.source[field->id], (unsigned long long)want.value,
					 want.source);
			}
		}
	}
	tap_ok(same, "%s: %llx (%d), %llx (%d) and %llx (%d) have %llx (%d) in common", field->name,
	       (unsigned long long)said[0].value, said[0].source, (unsigned long long)said[1].value,
	       said[1].source, (unsigned long long)said[2].value, said[2].source,
	       (unsigned long long)want.value, want.source);
}

static void check_common_field(const struct caps_expected *field)
{
	const uint64_t worst = field->merge == RDMAEZ_MERGE_LEAST  ? 4
			       : field->merge == RDMAEZ_MERGE_MOST ? 7
			       : field->merge == RDMAEZ_MERGE_BITS ? 4
								   : 0;
	const bool same = field->merge == RDMAEZ_MERGE_SAME;
	const bool limit = field->id == RDMAEZ_CAPS_QP_RATE_LIMIT_MIN; /* none has none in common */
	const int device = RDMAEZ_SOURCE_DEVICE, corrected = RDMAEZ_SOURCE_CORRECTED;
	const int plain = RDMAEZ_SOURCE_PLAIN, driver = RDMAEZ_SOURCE_DRIVER;
	const struct said numbers[] = {{6, device}, {7, device}, {4, device}};
	const struct said equal[] = {{6, device}, {6, corrected}, {6, device}};
	const struct said one_silent[] = {{6, device}, {0, plain}, {5, corrected}};
	const struct said two_silent[] = {{0, driver}, {0, plain}, {5, device}};
	const struct said zero_silent[] = {{0, device}, {0, plain}, {0, driver}};
	const struct said with_zero[] = {{6, device}, {0, device}, {6, device}};

	check_three(field, numbers,
		    (struct said){worst, same ? (int)RDMAEZ_SOURCE_DIFFERS : device});
	check_three(field, equal, (struct said){6, corrected});
	check_three(field, one_silent, (struct said){0, plain});
	check_three(field, two_silent, (struct said){0, driver});
	check_three(field, zero_silent, (struct said){0, driver});
	check_three(field, with_zero,
		    (struct said){field->merge == RDMAEZ_MERGE_MOST && !limit ? 6 : 0,
				  same ? (int)RDMAEZ_SOURCE_DIFFERS : device});
}

/* A device without rate limits does not meet a need for low ones. */
static void check_pacing(void)
{
	struct rdmaez_caps have, need;
	struct rdmaez_diag diag;
	char json[2048];

	memset(&have, 0, sizeof(have));
	memset(&need, 0, sizeof(need));
	need.packet_pacing.qp_rate_limit_min = 100;
	tap_eq_int(rdmaez_caps_require(rdmaez_caps_fields(&have), rdmaez_caps_fields(&need), &diag),
		   EOPNOTSUPP, "no rates at all");
	rdmaez_diag_json(&diag, json, sizeof(json));
	tap_ok(strstr(json, "\"field\":\"packet_pacing_caps.qp_rate_limit_min\",\"kind\":\"caps\","
			    "\"asked\":100,"
			    "\"offered\":0,"),
	       "the JSON names the field, what is asked and what is offered");
	have.packet_pacing.qp_rate_limit_min = 101;
	tap_eq_int(rdmaez_caps_require(rdmaez_caps_fields(&have), rdmaez_caps_fields(&need), NULL),
		   EOPNOTSUPP, "too high ones");
	have.packet_pacing.qp_rate_limit_min = 100;
	tap_eq_int(rdmaez_caps_require(rdmaez_caps_fields(&have), rdmaez_caps_fields(&need), NULL),
		   0, "just low enough");
	memset(&need, 0, sizeof(need));
	need.limits.max_mr_size = UINT64_MAX;
	need.limits.max_qp = -1;
	have.limits.max_qp = -2;
	tap_eq_int(rdmaez_caps_require(rdmaez_caps_fields(&have), rdmaez_caps_fields(&need), &diag),
		   EOPNOTSUPP, "all memory");
	rdmaez_diag_json(&diag, json, sizeof(json));
	tap_ok(strstr(json, "\"asked\":18446744073709551615,\"offered\":0,"),
	       "in JSON what has no sign gets none");
	tap_ok(strstr(json, "\"asked\":-1,\"offered\":-2,"), "and what has one keeps it");
}

static void check_common(void)
{
	struct rdmaez_caps list[3], common;
	struct rdmaez_diag diag;

	for (size_t i = 0; i < CAPS_EXPECTED; i++)
		if (caps_expected[i].kind != RDMAEZ_KIND_TEXT &&
		    caps_expected[i].kind != RDMAEZ_KIND_BOOL)
			check_common_field(&caps_expected[i]);

	memset(list, 0, sizeof(list));
	put(&list[0], RDMAEZ_CAPS_MAX_QP, (uint64_t)-1, RDMAEZ_SOURCE_DEVICE);
	put(&list[0], RDMAEZ_CAPS_MAX_MR_SIZE, UINT64_MAX, RDMAEZ_SOURCE_DEVICE);
	put(&list[1], RDMAEZ_CAPS_MAX_QP, 1, RDMAEZ_SOURCE_DEVICE);
	put(&list[1], RDMAEZ_CAPS_MAX_MR_SIZE, 1, RDMAEZ_SOURCE_DEVICE);
	list[0].odp.supported = list[1].odp.supported = list[0].odp.implicit = true;
	strcpy(list[0].device.fw_ver, "1.2");
	strcpy(list[1].device.fw_ver, "1.2");
	strcpy(list[0].device.name, "a0");
	strcpy(list[1].device.name, "b0");
	list[2] = list[0];
	tap_eq_int(rdmaez_caps_common(list, 2, &list[0], NULL), 0,
		   "the result may replace a device");
	common = list[0];
	tap_eq_int(common.limits.max_qp, -1, "of what has a sign the least is negative");
	tap_eq_int(common.limits.max_mr_size, 1, "no limit is more than any");
	tap_ok(common.odp.supported && !common.odp.implicit, "what both have, and what one has");
	tap_eq_str(common.device.fw_ver, "1.2", "a text that both have");
	tap_eq_str(common.device.name, "", "names that differ are none");
	tap_eq_int(common.source[RDMAEZ_CAPS_NAME], RDMAEZ_SOURCE_DIFFERS, "and why");
	tap_eq_int(rdmaez_caps_answer(rdmaez_caps_fields(&common), RDMAEZ_CAPS_NAME),
		   RDMAEZ_ANSWER_UNKNOWN, "so it is unknown");
	tap_eq_int(rdmaez_caps_common(&list[2], 1, &common, NULL), 0, "of one device");
	tap_ok(memcmp(&common, &list[2], sizeof(common)) == 0, "all is common");
	memset(&common, 0x55, sizeof(common));
	check_refusal(&diag, rdmaez_caps_common(list, 0, &common, &diag), EINVAL, RDMAEZ_WHY_RANGE,
		      "count", "of no device: nothing");
	tap_eq_str(diag.call, "rdmaez_caps_common", "the record names the function");
	check_refusal(&diag, rdmaez_caps_common(NULL, 1, &common, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "list", "no list");
	check_refusal(&diag, rdmaez_caps_common(list, 1, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "common", "nowhere to put it");
	check_success(&diag, rdmaez_caps_common(list, 1, &list[1], &diag), "of one device, again");
	tap_eq_int(common.limits.max_qp, 0x55555555, "and nothing is written");
}

/* A device that says something in each field: what it says, or that it is none, or why it is silent. */
static void random_caps(struct rdmaez_caps *caps, uint32_t *seed)
{
	memset(caps, 0, sizeof(*caps));
	for (int i = 0; i < RDMAEZ_CAPS_ID_COUNT; i++) {
		const enum rdmaez_caps_id id = (unsigned int)i;

		*seed = *seed * 1664525u + 1013904223u;
		if (*seed >> 30 == 0)
			caps->source[i] = (uint8_t)(2 + (*seed >> 8) % (RDMAEZ_SOURCE_COUNT - 2));
		else if (caps_field(id)->kind == RDMAEZ_KIND_TEXT)
			*((char *)caps + caps_field(id)->offset) = *seed >> 29 & 1 ? 'a' : 'b';
		else
			put(caps, id,
			    caps_field(id)->kind == RDMAEZ_KIND_BOOL ? *seed >> 28 & 1
								     : *seed >> 26,
			    (int)(*seed >> 8 & 1));
	}
}

static void check_random_order(void)
{
	uint32_t seed = 1;
	int wrong = 0, changed = 0, apart = 0;

	for (int round = 0; round < 300; round++) {
		struct rdmaez_caps list[4], twice[2], common, other;

		for (int i = 0; i < 4; i++)
			random_caps(&list[i], &seed);
		rdmaez_caps_common(list, 4, &common, NULL);
		for (int i = 0; i < 12; i++) {
			const struct rdmaez_caps kept = list[i % 4];

			list[i % 4] = list[i % 3];
			list[i % 3] = kept;
			rdmaez_caps_common(list, 4, &other, NULL);
			wrong += memcmp(&common, &other, sizeof(common)) != 0;
		}
		twice[0] = twice[1] = common;
		rdmaez_caps_common(twice, 2, &other, NULL);
		changed += memcmp(&common, &other, sizeof(common)) != 0;
		/* First two and two, then both together. */
		rdmaez_caps_common(list, 2, &twice[0], NULL);
		rdmaez_caps_common(list + 2, 2, &twice[1], NULL);
		rdmaez_caps_common(twice, 2, &other, NULL);
		apart += memcmp(&common, &other, sizeof(common)) != 0;
	}
	tap_eq_int(wrong, 0, "300 random quadruples have the same in common in any order");
	tap_eq_int(changed, 0, "what is common has itself in common with itself");
	tap_eq_int(apart, 0, "and it may be found pair by pair");
}

/* ---- What is needed ----------------------------------------------------------------------- */

static struct {
	struct rdmaez_caps have, need;
	struct rdmaez_diag diag;
} t;

static void start(void)
{
	memset(&t, 0, sizeof(t));
	memset(&t.diag, 0x55, sizeof(t.diag));
	strcpy(t.have.device.name, "fake0");
}

static int require(void)
{
	return rdmaez_caps_require(rdmaez_caps_fields(&t.have), rdmaez_caps_fields(&t.need),
				   &t.diag);
}

/* A need that the device meets just so, misses, and one that is unknown. */
static void check_need(const struct caps_expected *field)
{
	const bool is_bool = field->kind == RDMAEZ_KIND_BOOL;
	const uint64_t asked = is_bool ? 1 : 6;
	const uint64_t bad = is_bool                              ? 0
			     : field->merge == RDMAEZ_MERGE_MOST  ? 7
			     : field->merge == RDMAEZ_MERGE_LEAST ? 5
								  : 4;
	const uint64_t good = is_bool                             ? 1
			      : field->merge == RDMAEZ_MERGE_MOST ? 5
			      : field->merge == RDMAEZ_MERGE_SAME ? 6
								  : 7;

	start();
	put(&t.need, field->id, asked, RDMAEZ_SOURCE_DEVICE);
	put(&t.have, field->id, asked, RDMAEZ_SOURCE_DEVICE);
	tap_eq_int(require(), 0, "%s: just what is asked for", field->name);
	tap_eq_int(t.diag.count + t.diag.dropped, 0, "%s: and no finding", field->name);
	put(&t.have, field->id, good, RDMAEZ_SOURCE_DEVICE);
	tap_eq_int(require(), 0, "%s: better than that", field->name);
	put(&t.have, field->id, bad, RDMAEZ_SOURCE_DEVICE);
	CHECK_FINDINGS(&t.diag, require(), EOPNOTSUPP, "rdmaez_caps_require", field->name,
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NEED_UNMET, field->name, RDMAEZ_VALUE_CAPS,
			asked, (uint64_t)field->kind, bad});
	put(&t.have, field->id, 0, RDMAEZ_SOURCE_OLD_KERNEL);
	CHECK_FINDINGS(&t.diag, require(), ENODATA, "rdmaez_caps_require", field->name,
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NEED_UNKNOWN, field->name, RDMAEZ_VALUE_CAPS,
			asked, (uint64_t)field->kind, 0});
	put(&t.need, field->id, 0, RDMAEZ_SOURCE_DEVICE);
	tap_eq_int(require(), 0, "%s: nothing is asked for", field->name);
}

static void check_text_need(void)
{
	char text[1024];

	start();
	strcpy(t.need.device.fw_ver, "1.2");
	strcpy(t.have.device.fw_ver, "1.2");
	tap_eq_int(require(), 0, "the same version");
	strcpy(t.have.device.fw_ver, "1.20");
	CHECK_FINDINGS(&t.diag, require(), EOPNOTSUPP, "rdmaez_caps_require", "another version",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NEED_UNMET, "fw_ver", RDMAEZ_VALUE_CAPS, 0,
			RDMAEZ_KIND_TEXT, 0});
	rdmaez_diag_format(&t.diag, text, sizeof(text));
	tap_ok(!strstr(text, "Asked for"), "the record has no room for texts");
	t.have.device.fw_ver[0] = '\0';
	t.have.source[RDMAEZ_CAPS_FW_VER] = RDMAEZ_SOURCE_DRIVER;
	tap_eq_int(require(), ENODATA, "no version");
	/* The first row of all. */
	start();
	strcpy(t.need.device.name, "fake1");
	CHECK_FINDINGS(&t.diag, require(), EOPNOTSUPP, "rdmaez_caps_require", "another device",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NEED_UNMET, "name", RDMAEZ_VALUE_CAPS, 0,
			RDMAEZ_KIND_TEXT, 0});
	strcpy(t.need.device.name, "fake0");
	tap_eq_int(require(), 0, "the same device");
}

/* Without the extended query bits 32 to 63 are unknown; the plain one reports the others. */
static void check_flags_need(void)
{
	start();
	t.have.features.device_cap_flags = 0x30;
	t.have.features.flags = 0x30;
	t.have.source[RDMAEZ_CAPS_DEVICE_CAP_FLAGS_EX] = RDMAEZ_SOURCE_PLAIN;
	t.need.features.flags = UINT64_C(1) << 38 | 0x10;
	CHECK_FINDINGS(&t.diag, require(), ENODATA, "rdmaez_caps_require",
		       "a high bit that is not reported",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NEED_UNKNOWN, "flags", RDMAEZ_VALUE_CAPS,
			t.need.features.flags, RDMAEZ_KIND_DEVICE_FLAGS, 0x30});
	t.need.features.flags = UINT64_C(1) << 38 | 0x40;
	tap_eq_int(require(), EOPNOTSUPP, "a low bit that is not there as well");
	t.need.features.flags = 0x40;
	tap_eq_int(require(), EOPNOTSUPP, "a low bit alone");
	t.need.features.flags = UINT64_C(1) << 38;
	t.have.source[RDMAEZ_CAPS_DEVICE_CAP_FLAGS_EX] = RDMAEZ_SOURCE_DEVICE;
	tap_eq_int(require(), EOPNOTSUPP, "a high bit, and the device says it has none");
	t.have.features.device_cap_flags_ex = UINT64_C(1) << 39;
	t.have.source[RDMAEZ_CAPS_DEVICE_CAP_FLAGS_EX] = RDMAEZ_SOURCE_PLAIN;
	tap_eq_int(require(), EOPNOTSUPP, "a high bit, and the device says which it has");
}

static void check_many_needs(void)
{
	unsigned int asked = 0;

	start();
	for (size_t i = 0; i < CAPS_EXPECTED; i++)
		if (caps_expected[i].kind == RDMAEZ_KIND_COUNT) {
			put(&t.need, caps_expected[i].id, 1, RDMAEZ_SOURCE_DEVICE);
			asked++;
		}
	t.have.source[RDMAEZ_CAPS_MAX_MCAST_GRP] = RDMAEZ_SOURCE_DRIVER;
	tap_eq_int(require(), EOPNOTSUPP, "less outweighs unknown");
	tap_eq_int(t.diag.error, EOPNOTSUPP, "in the record, too");
	tap_eq_count(&t.diag, RDMAEZ_DIAG_FINDINGS, "the record is full");
	tap_eq_int(t.diag.dropped, asked - RDMAEZ_DIAG_FINDINGS, "and counts the others");
	tap_eq_str(t.diag.finding[0].field, "num_comp_vectors",
		   "in the order of the fields: first");
	tap_eq_str(t.diag.finding[1].field, "phys_port_cnt", "second");
	tap_eq_int(
		rdmaez_caps_require(rdmaez_caps_fields(&t.have), rdmaez_caps_fields(&t.need), NULL),
		EOPNOTSUPP, "without a record");
	for (int i = 0; i < RDMAEZ_CAPS_ID_COUNT; i++)
		t.have.source[i] = RDMAEZ_SOURCE_OLD_KERNEL;
	tap_eq_int(require(), ENODATA, "all unknown");
	tap_eq_int(t.diag.error, ENODATA, "in the record as well");
	start();
	t.need.limits.max_qp = 1;
	t.need.srq.max_srq = 1;
	t.have.source[RDMAEZ_CAPS_MAX_QP] = RDMAEZ_SOURCE_DRIVER;
	tap_eq_int(require(), EOPNOTSUPP, "unknown first, then less");
	t.have.source[RDMAEZ_CAPS_MAX_QP] = RDMAEZ_SOURCE_DEVICE;
	t.have.source[RDMAEZ_CAPS_MAX_SRQ] = RDMAEZ_SOURCE_DRIVER;
	tap_eq_int(require(), EOPNOTSUPP, "less first, then unknown");
	tap_eq_int(t.diag.error, EOPNOTSUPP, "the record holds what is returned");
	tap_eq_int(t.diag.finding[0].reason, RDMAEZ_WHY_NEED_UNMET, "each with its own reason");
	tap_eq_int(t.diag.finding[1].reason, RDMAEZ_WHY_NEED_UNKNOWN, "in the order of the fields");
}

static void check_need_text(void)
{
	char text[2048];

	start();
	t.need.device_memory.max_dm_size = 64 * 1024;
	t.need.odp.rc = 1 << 3 | 1 << 2;
	t.need.depths.max_qp_init_rd_atom = 16;
	t.need.atomics.fetch_add = 1 << 1;
	t.have.device_memory.max_dm_size = 4096;
	t.have.odp.rc = 1 << 2;
	t.have.depths.max_qp_init_rd_atom = 8;
	t.have.source[RDMAEZ_CAPS_PCI_FETCH_ADD] = RDMAEZ_SOURCE_DRIVER;
	tap_eq_int(require(), EOPNOTSUPP, "four needs");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	tap_eq_count(&t.diag, 4, "and all four");
	rdmaez_diag_format(&t.diag, text, sizeof(text));
	tap_ok(strstr(text, "fake0"), "the text names the device");
	tap_ok(strstr(text, "Asked for: 16; offered: 8."), "a number asked for, and offered");
	tap_ok(strstr(text, "Asked for: 64 KiB; offered: 4 KiB."), "sizes with their units");
	tap_ok(strstr(text, "IBV_ODP_SUPPORT_WRITE|IBV_ODP_SUPPORT_READ; offered: 0x4: "
			    "IBV_ODP_SUPPORT_WRITE; missing:\n    0x8: IBV_ODP_SUPPORT_READ."),
	       "bits by their names, and which are missing");
	tap_ok(strstr(text, "IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP."),
	       "of what is unknown nothing is offered");
	rdmaez_diag_json(&t.diag, text, sizeof(text));
	tap_ok(strstr(text, "\"asked\":12,\"offered\":4,\"missing\":[\"IBV_ODP_SUPPORT_READ\"],"),
	       "JSON names the missing bits too");
	tap_ok(strstr(text, "\"asked\":2,\"what\""), "but not where that is unknown");
	rdmaez_diag_format(&t.diag, text, sizeof(text));
	tap_diag("%s", text);
}

static void check_require(void)
{
	start();
	for (size_t i = 0; i < CAPS_EXPECTED; i++)
		if (caps_expected[i].kind != RDMAEZ_KIND_TEXT)
			check_need(&caps_expected[i]);
	start();
	tap_eq_int(require(), 0, "nothing is needed");
	put(&t.need, RDMAEZ_CAPS_MAX_MR_SIZE, 1, 0);
	put(&t.have, RDMAEZ_CAPS_MAX_MR_SIZE, UINT64_MAX, 0);
	tap_eq_int(require(), 0, "no limit is enough for anything");
	put(&t.have, RDMAEZ_CAPS_MAX_QP, (uint64_t)-1, 0);
	put(&t.need, RDMAEZ_CAPS_MAX_QP, 1, 0);
	tap_eq_int(require(), EOPNOTSUPP, "a negative number is not");
	memset(t.have.device.name, 'n', sizeof(t.have.device.name));
	require();
	tap_eq_int(strlen(t.diag.device), IBV_SYSFS_NAME_MAX - 1, "a name without an end is cut");

	CHECK_FINDINGS(
		&t.diag,
		rdmaez_caps_require(rdmaez_caps_fields(NULL), rdmaez_caps_fields(&t.need), &t.diag),
		EINVAL, "rdmaez_caps_require", "no device",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NULL_ARGUMENT, "have", RDMAEZ_VALUE_NONE, 0, 0, 0});
	CHECK_FINDINGS(
		&t.diag,
		rdmaez_caps_require(rdmaez_caps_fields(&t.have), rdmaez_caps_fields(NULL), &t.diag),
		EINVAL, "rdmaez_caps_require", "no needs",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NULL_ARGUMENT, "need", RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_int(rdmaez_caps_require(rdmaez_caps_fields(NULL), rdmaez_caps_fields(NULL), NULL),
		   EINVAL, "nothing at all");
}

int main(void)
{
	check_relate();
	check_flags();
	check_pacing();
	check_common();
	check_random_order();
	check_require();
	check_text_need();
	check_flags_need();
	check_many_needs();
	check_need_text();
	return tap_done();
}
