/* SPDX-License-Identifier: MIT */
/* Capabilities as text and as JSON: every value found again, every bit by name, every size of buffer. */
#include "caps_list.h"
#include "tap.h"

static struct ibv_device_attr_ex attr;
static struct rdmaez_caps caps;
static char text[32768];

/* ---- Finding a value again ---------------------------------------------------------------- */

/* The value that stands behind a name in a group's paragraph, its lines joined; "" if there is none. */
static const char *shown(const char *group, const char *leaf)
{
	static char value[4096];
	char name[64] = "";
	bool here = false, found = false;

	value[0] = '\0';
	snprintf(name, sizeof(name), "  %-30s  ", leaf);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		const size_t length = strcspn(line, "\n");

		if (line[0] != ' ') {
			here = length == strlen(group) && strncmp(line, group, length) == 0;
			found = false;
		} else if (here && strncmp(line, name, 34) == 0) {
			if (value[0])
				return "found twice";
			found = true;
			snprintf(value, sizeof(value), "%.*s", (int)(length - 34), line + 34);
		} else if (found && strspn(line, " ") == 34) {
			snprintf(value + strlen(value), sizeof(value) - strlen(value), " %.*s",
				 (int)(length - 34), line + 34);
		} else {
			found = false;
		}
	}
	return value;
}

/* The same for a member of struct rdmaez_caps. */
static const char *shown_of(const struct caps_expected *field)
{
	const char *dot = strrchr(field->name, '.');
	char group[64];

	snprintf(group, sizeof(group), "%.*s", (int)strcspn(field->member, "."), field->member);
	for (char *c = group; *c; c++)
		if (*c == '_')
			*c = ' ';
	return shown(group, dot ? dot + 1 : field->name);
}

/* A set, as it should be shown. */
static void expect_set(char *buf, size_t size, enum rdmaez_caps_kind kind, uint64_t value)
{
	const char *between = ": ";
	size_t length = (size_t)snprintf(buf, size, "0x%llx", (unsigned long long)value);

	for (unsigned int bit = 0; bit < 64; bit++) {
		const char *name = rdmaez_caps_kind_str(kind, bit);

		if (!(value >> bit & 1))
			continue;
		if (strcmp(name, "unknown") == 0)
			length += (size_t)snprintf(buf + length, size - length, "%sbit_%u", between,
						   bit);
		else
			length += (size_t)snprintf(buf + length, size - length, "%s%s", between,
						   name);
		between = " ";
	}
}

/* A value that is not zero, as it should be shown; none of the values here ends on a round unit. */
static const char *expect(enum rdmaez_caps_kind kind, uint64_t value)
{
	const unsigned long long v = value;
	static char buf[4096];

	if (rdmaez_caps_kind_is_set(kind))
		expect_set(buf, sizeof(buf), kind, value);
	else if (rdmaez_caps_kind_is_enum(kind))
		snprintf(buf, sizeof(buf), "unknown (%lld)", (long long)value);
	else if (kind == RDMAEZ_KIND_GUID) /* all bytes are the same */
		snprintf(buf, sizeof(buf), "%04llx:%04llx:%04llx:%04llx", v & 0xffff, v & 0xffff,
			 v & 0xffff, v & 0xffff);
	else if (kind == RDMAEZ_KIND_ID)
		snprintf(buf, sizeof(buf), "0x%04llx", v);
	else if (kind == RDMAEZ_KIND_MASK)
		snprintf(buf, sizeof(buf), "0x%016llx", v);
	else
		snprintf(buf, sizeof(buf), "%llu%s", v,
			 kind == RDMAEZ_KIND_BYTES  ? " bytes"
			 : kind == RDMAEZ_KIND_US   ? " us"
			 : kind == RDMAEZ_KIND_KHZ  ? " kHz"
			 : kind == RDMAEZ_KIND_HZ   ? " Hz"
			 : kind == RDMAEZ_KIND_KBPS ? " kbit/s"
						    : "");
	return buf;
}

/* ---- Every field -------------------------------------------------------------------------- */

static void check_distinct(void)
{
	struct rdmaez_caps_item item;

	caps_distinct(&attr);
	attr.orig_attr.page_size_cap = 0xfffff000 | UINT64_C(1) << 63;
	attr.orig_attr.local_ca_ack_delay = 14;
	attr.hca_core_clock = 156251;
	rdmaez_caps_decode(&attr, &caps);
	tap_ok(rdmaez_caps_format(&caps, text, sizeof(text)) < 16384, "the text fits 16384 bytes");
	for (size_t i = 0; i < CAPS_EXPECTED; i++) {
		const struct caps_expected *want = &caps_expected[i];

		rdmaez_caps_get(rdmaez_caps_fields(&caps), want->id, &item);
		if (item.source == RDMAEZ_SOURCE_NOT_ASKED)
			tap_eq_str(shown_of(want), "unknown: no open device was asked",
				   "%s is unknown, and why", want->name);
		else if (want->kind != RDMAEZ_KIND_TEXT && want->kind != RDMAEZ_KIND_BOOL &&
			 want->kind != RDMAEZ_KIND_SIZES && want->kind != RDMAEZ_KIND_NS &&
			 want->id != RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ)
			tap_eq_str(shown_of(want), expect(want->kind, item.value),
				   "%s is found in the text", want->name);
	}
	tap_eq_str(shown("device", "fw_ver"), "12.34.5678", "the version");
	tap_eq_str(shown("limits", "page_size_cap"),
		   "0x80000000fffff000: 4 KiB to 2 GiB, 8388608 TiB", "page sizes as ranges");
	tap_eq_str(shown("limits", "local_ca_ack_delay"), "14", "the exponent");
	tap_eq_str(shown("limits", "local_ca_ack_delay_ns"), "67.1 ms", "and its time");
	tap_eq_str(shown("timestamps", "hca_core_clock_hz"), "156251 kHz", "a clock in Hz");
	tap_eq_str(shown("odp", "supported"), "yes", "yes");
	tap_eq_str(shown("odp", "implicit"), "no", "no");
	strcpy(caps.device.fw_ver, "1\n2");
	rdmaez_caps_format(&caps, text, sizeof(text));
	tap_eq_str(shown("device", "fw_ver"), "1?2", "a text cannot begin a line of its own");
}

/* No line is too wide, none ends with a space, and the groups stand apart. */
static void check_layout(const char *name)
{
	size_t widest = 0;
	int spaces = 0, groups = 0;

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		const size_t length = strcspn(line, "\n");

		widest = length > widest ? length : widest;
		spaces += length && line[length - 1] == ' ';
		groups += length && line[0] != ' ';
	}
	tap_ok(widest <= 100, "%s: lines have at most 100 columns", name);
	tap_eq_int(spaces, 0, "%s: no line ends with a space", name);
	tap_eq_int(groups, 18, "%s: all groups are there", name);
	tap_ok(strncmp(text, "device\n  name ", 14) == 0, "%s: it begins at once", name);
	tap_eq_int(text[strlen(text) - 1], '\n', "%s: the last line ends", name);
}

static void check_zeros(void)
{
	memset(&attr, 0, sizeof(attr));
	rdmaez_caps_decode(&attr, &caps);
	memset(caps.source, RDMAEZ_SOURCE_DEVICE, sizeof(caps.source));
	rdmaez_caps_format(&caps, text, sizeof(text));
	for (size_t i = 0; i < CAPS_EXPECTED; i++) {
		const struct caps_expected *want = &caps_expected[i];
		const char *zero = "0";

		if (rdmaez_caps_kind_is_set(want->kind))
			zero = "none";
		switch ((int)want->kind) {
		case RDMAEZ_KIND_TEXT:
		case RDMAEZ_KIND_BYTES:
		case RDMAEZ_KIND_SIZES:
		case RDMAEZ_KIND_MASK:
		case RDMAEZ_KIND_US:
		case RDMAEZ_KIND_HZ:
		case RDMAEZ_KIND_KHZ:
		case RDMAEZ_KIND_KBPS:
			zero = "none";
			break;
		case RDMAEZ_KIND_GUID:
			zero = "0000:0000:0000:0000";
			break;
		case RDMAEZ_KIND_ID:
			zero = "0x0000";
			break;
		case RDMAEZ_KIND_BOOL:
			zero = "no";
			break;
		case RDMAEZ_KIND_NS:
			zero = "4.1 us";
			break;
		case RDMAEZ_KIND_NODE_TYPE:
			zero = "unknown (0)";
			break;
		case RDMAEZ_KIND_TRANSPORT:
			zero = "IBV_TRANSPORT_IB (0)";
			break;
		case RDMAEZ_KIND_ATOMIC_CAP:
			zero = "IBV_ATOMIC_NONE (0)";
			break;
		default:
			break;
		}
		tap_eq_str(shown_of(want), zero, "%s: how nothing is shown", want->name);
	}
	check_layout("all zero");
}

static void check_unknown(void)
{
	struct rdmaez_caps_item item;

	memset(&caps, 0, sizeof(caps));
	for (int source = RDMAEZ_SOURCE_NOT_ASKED; source <= RDMAEZ_SOURCE_COUNT; source++) {
		const char *why = rdmaez_caps_source_str((enum rdmaez_caps_source)source);
		char want[128];
		int wrong = 0;

		memset(caps.source, source, sizeof(caps.source));
		rdmaez_caps_format(&caps, text, sizeof(text));
		snprintf(want, sizeof(want), "unknown: %s", why);
		for (size_t i = 0; i < CAPS_EXPECTED; i++)
			wrong += strcmp(shown_of(&caps_expected[i]), want) != 0;
		tap_eq_int(wrong, 0, "source %d: each field says why it is unknown", source);
	}
	check_layout("all unknown");
	caps.depths.max_qp_rd_atom = 7;
	caps.source[RDMAEZ_CAPS_MAX_QP_RD_ATOM] = RDMAEZ_SOURCE_CORRECTED;
	caps.source[RDMAEZ_CAPS_DEVICE_CAP_FLAGS] = RDMAEZ_SOURCE_CORRECTED;
	rdmaez_caps_format(&caps, text, sizeof(text));
	tap_eq_str(shown("depths", "max_qp_rd_atom"),
		   "7 (corrected: this driver reports it otherwise)", "a value that was corrected");
	tap_eq_str(shown("features", "device_cap_flags"),
		   "none (corrected: this driver reports it otherwise)", "a set, too");
	rdmaez_caps_get(rdmaez_caps_fields(&caps), RDMAEZ_CAPS_MAX_QP, &item);
	tap_eq_int(item.source, RDMAEZ_SOURCE_COUNT, "a source that is none is kept as it is");
}

/* ---- Every bit ---------------------------------------------------------------------------- */

static void check_bits(const struct caps_expected *field)
{
	const struct rdmaez_caps_field *described = caps_field(field->id);
	const char *dot = strrchr(field->name, '.');
	const char *leaf = dot ? dot + 1 : field->name;
	int wrong_text = 0, wrong_json = 0, without_name = 0, named = 0;

	for (unsigned int bit = 0; bit < 8 * described->size; bit++) {
		const char *name = rdmaez_caps_kind_str(field->kind, bit);
		char want[256], number[16];

		memset(&caps, 0, sizeof(caps));
		caps_put((char *)&caps + described->offset, described->size, UINT64_C(1) << bit);
		snprintf(number, sizeof(number), "bit_%u", bit);
		if (strcmp(name, "unknown") == 0) {
			name = number;
			without_name++;
		} else {
			named++;
		}
		snprintf(want, sizeof(want), "0x%llx: %s", 1ULL << bit, name);
		rdmaez_caps_format(&caps, text, sizeof(text));
		wrong_text += strcmp(shown_of(field), want) != 0;
		rdmaez_caps_json(&caps, text, sizeof(text));
		snprintf(want, sizeof(want), "\"%s\":%llu,\"%s_names\":[\"%s\"]", leaf, 1ULL << bit,
			 leaf, name);
		wrong_json += !strstr(text, want);
	}
	tap_eq_int(wrong_text, 0, "%s: each bit has its name in the text", field->name);
	tap_eq_int(wrong_json, 0, "%s: and in the JSON", field->name);
	tap_ok(named > 0 && without_name > 0, "%s: those without a name have a number",
	       field->name);
}

/* ---- Every kind --------------------------------------------------------------------------- */

static void check_kind(enum rdmaez_caps_id id, uint64_t value, const char *want)
{
	const struct rdmaez_caps_field *field = caps_field(id);
	const struct caps_expected *expected = caps_expected;

	memset(&caps, 0, sizeof(caps));
	caps_put((char *)&caps + field->offset, field->size, value);
	rdmaez_caps_format(&caps, text, sizeof(text));
	while (expected->id != id)
		expected++;
	tap_eq_str(shown_of(expected), want, "%s: %s", field->name, want);
}

static void check_kinds(void)
{
	check_kind(RDMAEZ_CAPS_MAX_MR_SIZE, UINT64_MAX, "no limit");
	check_kind(RDMAEZ_CAPS_MAX_MR_SIZE, UINT64_MAX - 1, "18446744073709551614 bytes");
	check_kind(RDMAEZ_CAPS_MAX_DM_SIZE, 1023, "1023 bytes");
	check_kind(RDMAEZ_CAPS_MAX_DM_SIZE, 1024, "1 KiB");
	check_kind(RDMAEZ_CAPS_MAX_DM_SIZE, 1025, "1025 bytes");
	check_kind(RDMAEZ_CAPS_MAX_DM_SIZE, 1536, "1536 bytes");
	check_kind(RDMAEZ_CAPS_MAX_DM_SIZE, 128 << 20, "128 MiB");
	check_kind(RDMAEZ_CAPS_MAX_DM_SIZE, UINT64_C(1) << 63, "8388608 TiB");
	check_kind(RDMAEZ_CAPS_PAGE_SIZE_CAP, UINT64_C(1) << 12, "0x1000: 4 KiB");
	check_kind(RDMAEZ_CAPS_PAGE_SIZE_CAP, 0x40201000, "0x40201000: 4 KiB, 2 MiB, 1 GiB");
	check_kind(RDMAEZ_CAPS_PAGE_SIZE_CAP, UINT64_MAX,
		   "0xffffffffffffffff: 1 byte to 8388608 TiB");
	check_kind(RDMAEZ_CAPS_HCA_CORE_CLOCK, 156250, "156250 kHz");
	check_kind(RDMAEZ_CAPS_HCA_CORE_CLOCK, 1000, "1 MHz");
	check_kind(RDMAEZ_CAPS_HCA_CORE_CLOCK, 2000000, "2 GHz");
	check_kind(RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ, 999, "999 Hz");
	check_kind(RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ, 5000, "5 kHz");
	check_kind(RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ, UINT64_C(7000000000000), "7000 GHz");
	check_kind(RDMAEZ_CAPS_QP_RATE_LIMIT_MAX, 1, "1 kbit/s");
	check_kind(RDMAEZ_CAPS_QP_RATE_LIMIT_MAX, 25000000, "25 Gbit/s");
	check_kind(RDMAEZ_CAPS_QP_RATE_LIMIT_MAX, 1500, "1500 kbit/s");
	check_kind(RDMAEZ_CAPS_QP_RATE_LIMIT_MAX, 2000, "2 Mbit/s");
	check_kind(RDMAEZ_CAPS_MAX_CQ_PERIOD, 4095, "4095 us");
	check_kind(RDMAEZ_CAPS_LOCAL_CA_ACK_DELAY_NS, 4096, "4.1 us");
	check_kind(RDMAEZ_CAPS_VENDOR_ID, 0x2c9, "0x02c9");
	check_kind(RDMAEZ_CAPS_VENDOR_PART_ID, 4119, "4119");
	check_kind(RDMAEZ_CAPS_COMPLETION_TIMESTAMP_MASK, 0xffff, "0x000000000000ffff");
	check_kind(RDMAEZ_CAPS_ATOMIC_CAP, 2, "IBV_ATOMIC_GLOB (2)");
	check_kind(RDMAEZ_CAPS_NODE_TYPE, 1, "IBV_NODE_CA (1)");
	check_kind(RDMAEZ_CAPS_NODE_TYPE, (uint64_t)-1, "unknown (-1)");
	check_kind(RDMAEZ_CAPS_TRANSPORT_TYPE, 1, "IBV_TRANSPORT_IWARP (1)");
	check_kind(RDMAEZ_CAPS_MAX_QP, (uint64_t)-5, "-5");
	check_kind(RDMAEZ_CAPS_MAX_TSO, UINT32_MAX, "4294967295 bytes");

	memset(&caps, 0, sizeof(caps));
	memcpy(&caps.device.node_guid, "\x02\x00\x5e\xff\xfe\x00\x53\x09", 8);
	rdmaez_caps_format(&caps, text, sizeof(text));
	tap_eq_str(shown("device", "node_guid"), "0200:5eff:fe00:5309", "a GUID by its bytes");
	rdmaez_caps_json(&caps, text, sizeof(text));
	tap_ok(strstr(text, "\"node_guid\":\"0200:5eff:fe00:5309\","), "in JSON as well");
}

/* A struct that no query fills: every byte the same. */
static void check_all_ones(void)
{
	static char json[32768];
	const char *name;

	memset(&attr, 0xff, sizeof(attr));
	rdmaez_caps_decode(&attr, &caps);
	tap_ok(rdmaez_caps_format(&caps, text, sizeof(text)) < 16384, "all ones fit 16384 bytes");
	check_layout("all ones");
	tap_ok(rdmaez_caps_json(&caps, json, sizeof(json)) < 16384, "and so does their JSON");
	memset(&caps, 0xff, sizeof(caps));
	memset(&caps.device.name, 'n', sizeof(caps.device.name));
	rdmaez_caps_format(&caps, text, sizeof(text));
	tap_eq_int(strlen(shown("device", "name")), IBV_SYSFS_NAME_MAX,
		   "a name without an end ends with its array: text");
	rdmaez_caps_json(&caps, json, sizeof(json));
	name = strstr(json, "\"name\":\"n");
	tap_eq_int(name ? strspn(name + 8, "n") : 0, IBV_SYSFS_NAME_MAX - 1,
		   "JSON, which leaves room for a NUL where it is read back");
}

/* ---- The JSON's structure ----------------------------------------------------------------- */

/* The end of a string that begins here: its closing quote. */
static const char *string_end(const char *quote)
{
	do
		quote += *quote == '\\' ? 2 : 1;
	while (*quote && *quote != '"');
	return quote;
}

/* Whether this is how a value's meaning is called, which stands behind the value. */
static bool is_meaning(const char *path, const char *of)
{
	const size_t length = strlen(of);

	return strncmp(path, of, length) == 0 &&
	       (strcmp(path + length, "_name") == 0 || strcmp(path + length, "_names") == 0 ||
		strcmp(path + length, "_bytes") == 0);
}

/* Whether a key, by all it lies in, comes where it should: every field in order, then the sources. */
static bool comes_next(const char *path, unsigned int *id)
{
	const struct rdmaez_caps_table table = rdmaez_caps_fields(NULL);

	if (*id < table.count && strcmp(path, table.fields[*id].name) == 0) {
		++*id;
		return true;
	}
	if (*id == table.count && strncmp(path, "sources", 7) == 0)
		return true;
	if (*id && is_meaning(path, table.fields[*id - 1].name))
		return true;
	/* A struct that the next field lies in. */
	return (*id == 0 && strcmp(path, "rdmaez_caps") == 0) ||
	       (*id < table.count && strncmp(table.fields[*id].name, path, strlen(path)) == 0 &&
		table.fields[*id].name[strlen(path)] == '.');
}

/* Each field lies in the objects that its name says, and all of them are closed again. */
static void check_structure(const char *json, const char *name)
{
	char path[256] = "";
	size_t parent[16] = {0}; /* how much of the path each object is */
	unsigned int depth = 0, id = 0, wrong = 0;

	for (const char *at = json; *at; at++) {
		if (*at == '{' && depth < 15) {
			parent[++depth] = strlen(path);
		} else if (*at == '}' && depth) {
			path[parent[depth--]] = '\0';
		} else if (*at == '"') {
			const char *const end = string_end(at);

			if (end[0] && end[1] == ':') {
				const size_t length = parent[depth];

				snprintf(path + length, sizeof(path) - length, "%s%.*s",
					 length ? "." : "", (int)(end - at - 1), at + 1);
				if (!comes_next(path, &id)) {
					tap_diag("%s comes at the wrong place", path);
					wrong++;
				}
			}
			at = end;
		}
	}
	tap_eq_int(wrong, 0, "%s: every key of the JSON is where it should be", name);
	tap_eq_int(id, RDMAEZ_CAPS_ID_COUNT, "%s: no field is missing", name);
	tap_eq_int(depth, 0, "%s: every object is closed", name);
	tap_ok(strncmp(json, "{\"rdmaez_caps\":1,", 17) == 0 && json[strlen(json) - 1] == '}',
	       "%s: and it is one object", name);
}

static void check_structures(void)
{
	caps_distinct(&attr);
	rdmaez_caps_decode(&attr, &caps);
	rdmaez_caps_json(&caps, text, sizeof(text));
	check_structure(text, "distinct values");
	memset(&caps, 0, sizeof(caps));
	rdmaez_caps_json(&caps, text, sizeof(text));
	check_structure(text, "zeros");
}

/* ---- Characters --------------------------------------------------------------------------- */

/* What cannot be printed is a question mark. */
static void check_characters(void)
{
	for (int letter = 1; letter < 256; letter++) {
		const char want[] = {'a', letter >= ' ' && letter <= '~' ? (char)letter : '?', 'z',
				     '\0'};

		memset(&caps, 0, sizeof(caps));
		caps.device.fw_ver[0] = 'a';
		caps.device.fw_ver[1] = (char)letter;
		caps.device.fw_ver[2] = 'z';
		rdmaez_caps_format(&caps, text, sizeof(text));
		tap_eq_str(shown("device", "fw_ver"), want, "character %d", letter);
	}
}

/* ---- One field ---------------------------------------------------------------------------- */

static void check_item(void)
{
	const struct rdmaez_caps_table table = rdmaez_caps_fields(&caps);
	struct rdmaez_caps_item item;

	memset(&caps, 0, sizeof(caps));
	caps.limits.max_mr_size = 4096;
	caps.features.device_cap_flags = 1 << 20 | 1 << 15;
	caps.source[RDMAEZ_CAPS_MAX_QP] = RDMAEZ_SOURCE_OLD_KERNEL;
	rdmaez_caps_get(table, RDMAEZ_CAPS_MAX_MR_SIZE, &item);
	tap_eq_int(rdmaez_caps_item_format(&item, text, sizeof(text)), 5,
		   "the length of one value");
	tap_eq_str(text, "4 KiB", "which has its unit");
	rdmaez_caps_get(table, RDMAEZ_CAPS_DEVICE_CAP_FLAGS, &item);
	rdmaez_caps_item_format(&item, text, sizeof(text));
	tap_eq_str(text, "0x108000: bit_15 IBV_DEVICE_XRC", "a set by its names, in one line");
	rdmaez_caps_get(table, RDMAEZ_CAPS_MAX_QP, &item);
	rdmaez_caps_item_format(&item, text, sizeof(text));
	tap_eq_str(text, "unknown: the kernel may be too old to report it",
		   "what is unknown, and why");
	tap_eq_int(rdmaez_caps_item_format(&item, NULL, 0), 47, "without a buffer");
	tap_eq_int(rdmaez_caps_item_format(NULL, text, sizeof(text)), 0, "no value");
	tap_eq_str(text, "", "is no text");
}

/* ---- The comparison ----------------------------------------------------------------------- */

static void check_diff(void)
{
	struct rdmaez_caps first, second;

	memset(&first, 0, sizeof(first));
	second = first;
	tap_eq_int(rdmaez_caps_diff_format(rdmaez_caps_fields(&first), rdmaez_caps_fields(&second),
					   text, sizeof(text)),
		   0, "equal: nothing");
	tap_eq_str(text, "", "not a byte");
	strcpy(first.device.fw_ver, "1.0");
	strcpy(second.device.fw_ver, "1.1");
	first.features.device_cap_flags = 1 << 20 | 1 << 17 | 1;
	second.features.device_cap_flags = 1 << 17 | 1 << 15;
	first.features.flags = 1; /* follows from others, so it is not a line of its own */
	first.limits.max_qp = 10;
	second.limits.max_qp = 20;
	first.limits.local_ca_ack_delay = 15;
	second.limits.local_ca_ack_delay = 16;
	first.limits.page_size_cap = 0x1000;
	second.limits.page_size_cap = 0x3000;
	first.device_memory.max_dm_size = 4096;
	second.source[RDMAEZ_CAPS_MAX_DM_SIZE] = RDMAEZ_SOURCE_DRIVER;
	first.odp.rc = 3;
	first.source[RDMAEZ_CAPS_UC_ODP_CAPS] = RDMAEZ_SOURCE_PLAIN;
	second.odp.uc = 3;
	rdmaez_caps_diff_format(rdmaez_caps_fields(&first), rdmaez_caps_fields(&second), text,
				sizeof(text));
	tap_eq_str(
		text,
		"fw_ver                                    differs   1.0 -> 1.1\n"
		"device_cap_flags                          lacks     0x100001: "
		"IBV_DEVICE_RESIZE_MAX_WR\n"
		"        IBV_DEVICE_XRC -> 0x8000: bit_15\n"
		"max_qp                                    exceeds   10 -> 20\n"
		"page_size_cap                             exceeds   0x1000: 4 KiB -> 0x3000: 4 "
		"KiB to 8 KiB\n"
		"local_ca_ack_delay                        lacks     15 -> 16\n"
		"odp_caps.per_transport_caps.rc_odp_caps   lacks     0x3: IBV_ODP_SUPPORT_SEND "
		"IBV_ODP_SUPPORT_RECV\n"
		"        -> none\n"
		"odp_caps.per_transport_caps.uc_odp_caps   unclear   unknown: kernel and provider "
		"answered the plain\n"
		"        query only -> 0x3: IBV_ODP_SUPPORT_SEND IBV_ODP_SUPPORT_RECV\n"
		"max_dm_size                               unclear   4 KiB -> unknown: this driver "
		"does not report it\n",
		"a line for each field that differs, in the order of the fields");
	tap_eq_int(rdmaez_caps_diff_format(rdmaez_caps_fields(NULL), rdmaez_caps_fields(&second),
					   text, sizeof(text)),
		   0, "no first one");
	tap_eq_str(text, "", "is nothing");
	tap_eq_int(rdmaez_caps_diff_format(rdmaez_caps_fields(&first), rdmaez_caps_fields(NULL),
					   text, sizeof(text)),
		   0, "no second one");
	memset(&first, 0, sizeof(first));
	memset(&second, 0xff, sizeof(second));
	tap_ok(rdmaez_caps_diff_format(rdmaez_caps_fields(&first), rdmaez_caps_fields(&second),
				       NULL, 0) < 16384,
	       "nothing against all ones fits 16384 bytes");
}

/* ---- snprintf's rule ---------------------------------------------------------------------- */

static int diff_with_nothing(const struct rdmaez_caps *one, char *buf, size_t size)
{
	struct rdmaez_caps nothing;

	memset(&nothing, 0, sizeof(nothing));
	return rdmaez_caps_diff_format(rdmaez_caps_fields(&nothing), rdmaez_caps_fields(one), buf,
				       size);
}

static void check_sizes(int (*format)(const struct rdmaez_caps *, char *, size_t), const char *name)
{
	const int length = format(&caps, text, sizeof(text));
	int wrong = 0;

	tap_eq_int(strlen(text), length, "%s: the length is that of the text", name);
	tap_eq_int(format(&caps, NULL, 0), length, "%s: without a buffer as well", name);
	for (size_t size = 0; size <= (size_t)length + 2; size++) {
		/* Of its very size, so that the sanitizer sees a byte too many. */
		char *buf = (char *)malloc(size ? size : 1);
		const size_t kept = size && size <= (size_t)length ? size - 1 : (size_t)length;

		if (!buf)
			abort();
		memset(buf, 0x55, size ? size : 1);
		wrong += format(&caps, buf, size) != length;
		if (size)
			wrong += memcmp(buf, text, kept) != 0 || buf[kept] != '\0';
		else
			wrong += buf[0] != 0x55;
		free(buf);
	}
	tap_eq_int(wrong, 0, "%s: every size of buffer from 0 on holds the text's beginning", name);
}

static void check_null(void)
{
	tap_eq_int(rdmaez_caps_format(NULL, text, sizeof(text)), 0, "no device: no text");
	tap_eq_str(text, "", "not a byte");
	tap_eq_int(rdmaez_caps_json(NULL, text, sizeof(text)), 2, "and an empty object");
	tap_eq_str(text, "{}", "that is all");
}

int main(void)
{
	check_distinct();
	check_layout("distinct values");
	check_zeros();
	check_unknown();
	for (size_t i = 0; i < CAPS_EXPECTED; i++)
		if (rdmaez_caps_kind_is_set(caps_expected[i].kind))
			check_bits(&caps_expected[i]);
	check_kinds();
	check_all_ones();
	check_structures();
	check_characters();
	check_item();
	check_diff();
	check_null();
	/* As much as a real device says, so that all sizes are tried in a second. */
	memset(&attr, 0, sizeof(attr));
	attr.orig_attr.max_qp = 1024;
	attr.device_cap_flags_ex = 0x1021a08f;
	strcpy(attr.orig_attr.fw_ver, "1.0 \"x\"");
	rdmaez_caps_decode(&attr, &caps);
	check_sizes(rdmaez_caps_format, "text");
	check_sizes(rdmaez_caps_json, "JSON");
	check_sizes(diff_with_nothing, "comparison");
	return tap_done();
}
