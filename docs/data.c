/* SPDX-License-Identifier: MIT */
/*
 * Prints what rdmaez knows about verbs:
 *
 *	data TABLE          one table as JSON, for programs in other languages
 *	data caps.schema    the JSON Schema of what rdmaez_caps_json() and rdmaez_port_caps_json() write
 *	data --table NAME   a table of the documentation's pages, as Markdown
 *	data --enumerators  Doxygen comments for the enumerators that lists make
 *
 * Everything comes from the headers' own lists, so only the schemas in docs/schema have to be kept in
 * step. A new JSON table is a function, a line in tables[] below, a schema, and its name in the Makefile;
 * a new table of a page is a function and a line in page_tables[]. Calls no verb and links nothing.
 */
#include <ctype.h>
#include <stdlib.h>

#include <rdmaez/implementation.h>

#include "../tools/doctor/counters.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The schemas' version: raised when a program that could read a table may need a change. */
#define SCHEMA_VERSION 1

/* ---- JSON: commas, line breaks and quotes ---------------------------------------------------- */

static struct {
	char close;
	bool lines; /* an element a line, so that a diff of two versions can be read */
	bool any;
} level[16];
static int depth;

static void indent(void)
{
	putchar('\n');
	for (int i = 0; i < depth; i++)
		putchar('\t');
}

static void string(const char *value)
{
	char buf[1024];
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, sizeof(buf));

	rdmaez_impl_put_json_string(&text, value);
	if (text.length >= sizeof(buf))
		abort();
	fputs(buf, stdout);
}

/* What stands before every element. The key is NULL in an array. */
static void next(const char *key)
{
	if (depth && level[depth].any)
		putchar(',');
	if (depth && level[depth].lines)
		indent();
	else if (depth && level[depth].any)
		putchar(' ');
	level[depth].any = true;
	if (key) {
		string(key);
		fputs(": ", stdout);
	}
}

static void begin(const char *key, const char *brackets, bool lines)
{
	next(key);
	putchar(brackets[0]);
	depth++;
	level[depth].close = brackets[1];
	level[depth].lines = lines;
	level[depth].any = false;
}

static void end(void)
{
	const int ended = depth--;

	if (level[ended].lines)
		indent();
	putchar(level[ended].close);
}

/* An object of an array, in one line; closed by end(). */
static void row(void)
{
	begin(NULL, "{}", false);
}

static void text(const char *key, const char *value)
{
	next(key);
	string(value);
}

static void number(const char *key, unsigned long long value)
{
	next(key);
	printf("%llu", value);
}

static void yes_or_no(const char *key, bool value)
{
	next(key);
	fputs(value ? "true" : "false", stdout);
}

/* The names of a mask's bits. */
static void names(const char *key, unsigned int mask, const char *(*name)(int bit))
{
	begin(key, "[]", false);
	for (unsigned int bit = 0; bit < 31; bit++)
		if (mask >> bit & 1)
			text(NULL, name(1 << bit));
	end();
}

/* ---- The transitions of queue pairs ---------------------------------------------------------- */

static void transition(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to)
{
	const struct rdmaez_qp_rule rule = rdmaez_qp_rule(type, from, to);

	row();
	text("type", rdmaez_qp_type_str(type));
	text("from", rdmaez_qp_state_str(from));
	text("to", rdmaez_qp_state_str(to));
	yes_or_no("legal", rule.legal);
	names("required", (unsigned int)rule.required, rdmaez_qp_attr_str);
	number("required_mask", (unsigned int)rule.required);
	names("optional", (unsigned int)rule.optional, rdmaez_qp_attr_str);
	number("optional_mask", (unsigned int)rule.optional);
	end();
}

static void transitions(void)
{
	begin("transitions", "[]", true);
	for (int type = 0; type <= IBV_QPT_DRIVER; type++)
		for (int from = IBV_QPS_RESET; from <= IBV_QPS_ERR; from++)
			for (int to = IBV_QPS_RESET; to <= IBV_QPS_ERR; to++)
				if (rdmaez_qp_type_has_rules((enum ibv_qp_type)type))
					transition((enum ibv_qp_type)type, (enum ibv_qp_state)from,
						   (enum ibv_qp_state)to);
	end();
}

/* ---- The reasons ----------------------------------------------------------------------------- */

static void reasons(void)
{
	begin("reasons", "[]", true);
	for (int i = 0; i < RDMAEZ_WHY_COUNT; i++) {
		row();
		text("id", rdmaez_why_id((enum rdmaez_why)i));
		number("number", (unsigned int)i);
		text("what", rdmaez_why_str((enum rdmaez_why)i));
		text("next", rdmaez_why_fix((enum rdmaez_why)i));
		end();
	}
	end();
}

/* ---- The attributes of a queue pair ---------------------------------------------------------- */

/* What only the documentation reads of a row: the option, the unit and the source. */
static const struct attribute {
	const char *name, *option, *unit, *source;
	struct rdmaez_impl_field field;
} attributes[] = {
#define QP_FIELD(bit, field, option, how, otherwise, min, max, rule, unit, source) \
	{#field, #option, unit, source, {bit, otherwise, max, 0, 0, min, 0, how, rule}},
	RDMAEZ_IMPL_QP_FIELDS(QP_FIELD)
#undef QP_FIELD
#define PATH_FIELD(when, field, option, how, otherwise, min, max, rule, unit, source) \
	{"ah_attr." #field,                                                           \
	 "path." #option,                                                             \
	 unit,                                                                        \
	 source,                                                                      \
	 {IBV_QP_AV, otherwise, max, 0, 0, min, 0, how, rule}},
		RDMAEZ_IMPL_PATH_FIELDS(PATH_FIELD)
#undef PATH_FIELD
};

/* What else decides the default or what is accepted; "" where the numbers say it all. */
static const char *attribute_note(const struct rdmaez_impl_field *field)
{
	switch (field->rule) {
	case RDMAEZ_IMPL_FIELD_GID:
		return "by default the best one for the peer; accepted up to the length of the GID "
		       "table";
	case RDMAEZ_IMPL_FIELD_PORT:
		return "accepted up to the number of ports, where the device is known";
	case RDMAEZ_IMPL_FIELD_ALT:
		return "by default the primary port";
	case RDMAEZ_IMPL_FIELD_ACCESS:
		return "by default nothing: no right is granted by forgetting it";
	case RDMAEZ_IMPL_FIELD_MTU:
		return "by default the port's active MTU, which is also the limit unless "
		       "RDMAEZ_QP_MTU_EXACT is set";
	case RDMAEZ_IMPL_FIELD_PEER:
		return "at least 1 where a port is known";
	case RDMAEZ_IMPL_FIELD_DEPTH:
		return "at most what the device can do, and by default a sixteenth of what it can "
		       "for "
		       "all queue pairs together; by default 1 where the device is not known";
	default:
		return "";
	}
}

/* The transitions that require an attribute, or take it: "INIT to RTR". */
static void attribute_moves(const char *key, int bit, bool required)
{
	char words[64];

	begin(key, "[]", false);
	for (int i = 0; i < 49; i++) {
		struct rdmaez_qp_rule all = {false, 0, 0};

		for (int type = 0; type <= IBV_QPT_DRIVER; type++) {
			const struct rdmaez_qp_rule rule =
				rdmaez_qp_rule((enum ibv_qp_type)type, (enum ibv_qp_state)(i / 7),
					       (enum ibv_qp_state)(i % 7));

			all.required |= rule.required;
			all.optional |= rule.optional;
		}
		if (!((required ? all.required : all.optional) & bit))
			continue;
		snprintf(words, sizeof(words), "%s to %s",
			 rdmaez_qp_state_str((enum ibv_qp_state)(i / 7)),
			 rdmaez_qp_state_str((enum ibv_qp_state)(i % 7)));
		next(NULL);
		string(words);
	}
	end();
}

static void all_attributes(void)
{
	begin("attributes", "[]", true);
	for (size_t i = 0; i < LENGTH(attributes); i++) {
		const struct rdmaez_impl_field *field = &attributes[i].field;

		row();
		text("field", attributes[i].name);
		text("option", attributes[i].option);
		text("bit", rdmaez_qp_attr_str((int)field->bit));
		number("default", field->otherwise);
		number("min", field->min);
		number("max", field->max);
		text("note", attribute_note(field));
		text("unit", attributes[i].unit);
		text("source", attributes[i].source);
		attribute_moves("required", (int)field->bit, true);
		attribute_moves("optional", (int)field->bit, false);
		end();
	}
	end();
}

/* ---- The names of verbs' numbers ------------------------------------------------------------- */

/* The functions of str.h, as functions of an int. */
#define NAMED(object, type)                                \
	static const char *name_##object(int value)        \
	{                                                  \
		return rdmaez_##object##_str((type)value); \
	}
NAMED(qp_state, enum ibv_qp_state)
NAMED(qp_type, enum ibv_qp_type)
NAMED(mtu, enum ibv_mtu)
NAMED(mig_state, enum ibv_mig_state)
NAMED(link_layer, uint8_t)
NAMED(gid_type, uint32_t)
NAMED(qp_attr, int)
NAMED(access, int)
NAMED(wr_opcode, enum ibv_wr_opcode)

static const struct named {
	const char *key;
	const char *of;
	const char *prefix;
	bool flags;
	const char *(*name)(int value);
} named[] = {
	{"qp_type", "enum ibv_qp_type", "IBV_QPT_", false, name_qp_type},
	{"qp_state", "enum ibv_qp_state", "IBV_QPS_", false, name_qp_state},
	{"qp_attr", "enum ibv_qp_attr_mask", "", true, name_qp_attr},
	{"access", "enum ibv_access_flags", "", true, name_access},
	{"wr_opcode", "enum ibv_wr_opcode", "IBV_WR_", false, name_wr_opcode},
	{"mtu", "enum ibv_mtu", "IBV_MTU_", false, name_mtu},
	{"mig_state", "enum ibv_mig_state", "IBV_MIG_", false, name_mig_state},
	{"link_layer", "ibv_port_attr.link_layer", "IBV_LINK_LAYER_", false, name_link_layer},
	{"gid_type", "ibv_gid_entry.gid_type", "IBV_GID_TYPE_", false, name_gid_type},
};

/* What verbs.h calls a name that people write otherwise: IBV_GID_TYPE_ROCE_V2 for "RoCE v2". */
static void constant(const char *prefix, const char *name)
{
	char buf[64];
	const int length = snprintf(buf, sizeof(buf), "%s%s", prefix, name);

	for (int i = (int)strlen(prefix); i < length; i++)
		buf[i] = (char)(buf[i] == ' ' ? '_' : toupper((unsigned char)buf[i]));
	text("constant", buf);
}

static void named_value(const struct named *set, int value)
{
	const char *name = set->name(value);

	if (strcmp(name, "unknown") == 0)
		return;
	row();
	number("value", (unsigned int)value);
	text("name", name);
	/* verbs.h has no names for what a driver calls its own types. */
	constant(set->name == name_qp_type && value >= (int)RDMAEZ_QPT_SRD &&
				 value <= (int)RDMAEZ_QPT_DCT
			 ? "RDMAEZ_QPT_"
			 : set->prefix,
		 name);
	end();
}

static void all_names(void)
{
	begin("names", "{}", true);
	for (size_t i = 0; i < LENGTH(named); i++) {
		begin(named[i].key, "{}", true);
		text("of", named[i].of);
		yes_or_no("flags", named[i].flags);
		begin("values", "[]", true);
		for (int n = 0; n < (named[i].flags ? 31 : 256); n++)
			named_value(&named[i], named[i].flags ? 1 << n : n);
		end();
		end();
	}
	end();
}

/* ---- Completions and events ------------------------------------------------------------------ */

/* The bits of enum rdmaez_valid, from the lowest on: members of ibv_wc, then of an event's element. */
static const char *valid(int bit)
{
	static const char *const members[] = {"wr_id",  "status", "qp_num",  "vendor_err",
					      "opcode", "rest",   "cq",      "qp",
					      "srq",    "wq",     "port_num"};

	for (size_t i = 0; i < LENGTH(members); i++)
		if (bit == 1 << i)
			return members[i];
	return "unknown";
}

/* Leaves its row open. */
static void advice(const struct rdmaez_advice *known)
{
	row();
	number("number", (unsigned int)known->code);
	text("name", known->name);
	text("what", known->what);
	begin("causes", "[]", false);
	for (int i = 0; i < RDMAEZ_ADVICE_CAUSES && known->cause[i]; i++)
		text(NULL, known->cause[i]);
	end();
	text("next", known->fix);
	names("may_be_read", known->valid, valid);
	text("reported_by", known->producers);
}

static void statuses(void)
{
	struct ibv_wc wc = {0};

	begin("statuses", "[]", true);
	for (int i = 0; i < 256; i++) {
		wc.status = (enum ibv_wc_status)i;
		if (rdmaez_wc_explain(&wc)->code < 0)
			continue;
		advice(rdmaez_wc_explain(&wc));
		yes_or_no("failed", rdmaez_impl_wc_failed(&wc));
		end();
	}
	end();
}

static void vendor_hints(void)
{
	struct ibv_wc wc = {0};

	begin("vendor_hints", "[]", true);
	for (int i = 0; i < 256 * 256; i++) {
		wc.status = (enum ibv_wc_status)(i / 256);
		wc.vendor_err = (uint32_t)i % 256;
		if (!*rdmaez_wc_vendor_str(&wc))
			continue;
		row();
		text("status", rdmaez_wc_explain(&wc)->name);
		number("vendor_err", wc.vendor_err);
		text("what", rdmaez_wc_vendor_str(&wc));
		end();
	}
	end();
}

/* The bits of a cause: queues, types of queue pairs, kinds of requests. */
static const char *queue(int bit)
{
	return bit == RDMAEZ_IMPL_WC_SQ ? "send" : "receive";
}

static const char *type_of_cause(int bit)
{
	static const char *const types[] = {"RC", "UC", "UD", "XRC_SEND", "XRC_RECV", "other"};
	int i = 0;

	while (bit >> i > 1)
		i++;
	return types[i];
}

static const char *request(int bit)
{
	static const char *const requests[] = {"SEND",       "SEND_WITH_INV", "RDMA_WRITE_WITH_IMM",
					       "RDMA_WRITE", "RDMA_READ",     "ATOMIC",
					       "local"};
	int i = 0;

	while (bit >> i > 1)
		i++;
	return requests[i];
}

/* The status or event that a cause is one of. */
static const char *of_cause(const struct rdmaez_impl_wc_row *cause)
{
	struct ibv_wc wc = {0};

	if (cause->status == RDMAEZ_IMPL_WC_REQ_EVENT)
		return "IBV_EVENT_QP_REQ_ERR";
	if (cause->status == RDMAEZ_IMPL_WC_ACCESS_EVENT)
		return "IBV_EVENT_QP_ACCESS_ERR";
	wc.status = (enum ibv_wc_status)cause->status;
	return rdmaez_wc_explain(&wc)->name;
}

/* The driver whose own cause it is; "" for a cause that is not one driver's. */
static const char *driver_of_cause(const struct rdmaez_impl_wc_row *cause)
{
#define DRIVER(name, vendor, first, last, first_2, last_2, traits, reports, compares, checks, \
	       fills, habits, causes, module, provider, parents, announced, functions)        \
	{name, causes},
	static const struct {
		const char *name;
		int causes;
	} drivers[] = {RDMAEZ_IMPL_DRIVERS(DRIVER)};
#undef DRIVER

	if (cause->causes != RDMAEZ_DRIVER_CAUSES_ALL)
		for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
			if (drivers[i].causes == cause->causes)
				return drivers[i].name;
	return "";
}

static void all_causes(void)
{
	size_t count;
	const struct rdmaez_impl_wc_row *cause = rdmaez_impl_wc_rows(&count);

	begin("causes", "[]", true);
	for (; count; count--, cause++) {
		row();
		text("of", of_cause(cause));
		names("queues", cause->queues, queue);
		names("types", cause->types, type_of_cause);
		names("requests", cause->requests, request);
		if (*driver_of_cause(cause))
			text("driver", driver_of_cause(cause));
		text("reason", rdmaez_why_id((enum rdmaez_why)cause->why));
		text("field", cause->field);
		names("asked", (unsigned int)cause->need, rdmaez_qp_attr_str);
		end();
	}
	end();
}

static void completions(void)
{
	struct ibv_async_event event = {0};

	statuses();
	begin("events", "[]", true);
	for (int i = 0; i < 256; i++) {
		event.event_type = (enum ibv_event_type)i;
		if (rdmaez_event_explain(&event)->code < 0)
			continue;
		advice(rdmaez_event_explain(&event));
		end();
	}
	end();
	all_causes();
	vendor_hints();
}

/* ---- The fields of capabilities -------------------------------------------------------------- */

/* The kinds, in the order of enum rdmaez_caps_kind: their form and unit. */
static const struct {
	const char *id;
	const char *form;
	const char *unit; /* NULL: none */
} kinds[] = {
	{"TEXT", "text", NULL},
	{"GUID", "guid", NULL},
	{"ID", "number", NULL},
	{"NUMBER", "number", NULL},
	{"BOOL", "bool", NULL},
	{"COUNT", "number", NULL},
	{"BYTES", "number", "bytes"},
	{"SIZES", "sizes", NULL},
	{"TIMER", "timer", NULL},
	{"NS", "number", "ns"},
	{"US", "number", "us"},
	{"HZ", "number", "Hz"},
	{"KHZ", "number", "kHz"},
	{"KBPS", "number", "kbit/s"},
	{"MASK", "mask", NULL},
	{"NODE_TYPE", "enum", NULL},
	{"TRANSPORT", "enum", NULL},
	{"ATOMIC_CAP", "enum", NULL},
	{"PORT_STATE", "enum", NULL},
	{"MTU", "enum", NULL},
	{"LINK_LAYER", "enum", NULL},
	{"PHYS_STATE", "enum", NULL},
	{"WIDTH", "enum", NULL},
	{"SPEED", "enum", NULL},
	{"VL", "enum", NULL},
	{"DEVICE_FLAGS", "set", NULL},
	{"ODP_GENERAL", "set", NULL},
	{"ODP_TRANSPORT", "set", NULL},
	{"RAW_PACKET", "set", NULL},
	{"RX_HASH_FUNCTION", "set", NULL},
	{"RX_HASH_FIELDS", "set", NULL},
	{"TM_FLAGS", "set", NULL},
	{"PCI_ATOMIC", "set", NULL},
	{"QP_TYPES", "set", NULL},
	{"PORT_FLAGS", "set", NULL},
	{"PORT_FLAGS2", "set", NULL},
	{"PORT_QPF", "set", NULL},
};
_Static_assert(LENGTH(kinds) == RDMAEZ_KIND_TOTAL, "a kind has no line");

/* The first name of a kind from this number on, which it becomes; NULL where there are no more. */
static const char *kind_name(int kind, unsigned int *number)
{
	for (; *number < 512; ++*number) {
		const char *name = rdmaez_caps_kind_str((enum rdmaez_caps_kind)kind, *number);

		if (strcmp(name, "unknown") != 0)
			return name;
	}
	return NULL;
}

static void all_kinds(void)
{
	begin("kinds", "{}", true);
	for (int kind = 0; kind < RDMAEZ_KIND_TOTAL; kind++) {
		const bool set = rdmaez_caps_kind_is_set((enum rdmaez_caps_kind)kind);
		const bool has_names = set || rdmaez_caps_kind_is_enum((enum rdmaez_caps_kind)kind);
		const char *name;

		begin(kinds[kind].id, "{}", has_names);
		text("form", kinds[kind].form);
		if (kinds[kind].unit)
			text("unit", kinds[kind].unit);
		if (has_names)
			begin(set ? "bits" : "values", "[]", true);
		for (unsigned int n = 0; has_names && (name = kind_name(kind, &n)) != NULL; n++) {
			row();
			number(set ? "bit" : "value", n);
			text("name", name);
			end();
		}
		if (has_names)
			end();
		end();
	}
	end();
}

static const char *told_by(int told)
{
	static const char *const who[] = {"plain",   "context", "derived",
					  "derived", "library", "provider"};

	_Static_assert(LENGTH(who) == RDMAEZ_IMPL_TOLD_ODP, "all from TOLD_ODP on is the kernel");
	return told < RDMAEZ_IMPL_TOLD_ODP ? who[told] : "kernel";
}

/* What a list of fields says beyond their descriptions. */
struct listed {
	const char *id;
	const char *member;
	const char *merge;
};

static void field(const struct listed *listed, const struct rdmaez_caps_field *known)
{
	row();
	text("id", listed->id);
	text("name", known->name);
	text("group", known->group);
	text("member", listed->member);
	text("kind", kinds[known->kind].id);
	text("merge", listed->merge);
	yes_or_no("signed", known->is_signed);
	number("bytes", known->size);
	text("told_by", told_by(known->told));
	text("what", known->what);
	end();
}

#define RDMAEZ_P(id, group, member, type, kind, merge, ...) {#id, #group "." #member, #merge},
#define RDMAEZ_X                                            RDMAEZ_P
#define RDMAEZ_A                                            RDMAEZ_P
#define RDMAEZ_O                                            RDMAEZ_P
static const struct listed device_fields[] = {
#include <rdmaez/impl/caps_rows.h>
};
#undef RDMAEZ_P

/* A port's struct is flat, whatever the group. */
#define RDMAEZ_P(id, group, member, type, kind, merge, ...) {#id, #member, #merge},
static const struct listed port_fields[] = {
#include <rdmaez/impl/port_caps_rows.h>
};

static void fields(void)
{
	begin("device", "[]", true);
	for (size_t i = 0; i < LENGTH(device_fields); i++)
		field(&device_fields[i], &rdmaez_caps_fields(NULL).fields[i]);
	end();
	begin("port", "[]", true);
	for (size_t i = 0; i < LENGTH(port_fields); i++)
		field(&port_fields[i], &rdmaez_port_caps_fields(NULL).fields[i]);
	end();
	all_kinds();
	begin("sources", "[]", true);
	for (int i = 0; i < RDMAEZ_SOURCE_COUNT; i++) {
		row();
		text("id", rdmaez_caps_source_id((enum rdmaez_caps_source)i));
		text("what", rdmaez_caps_source_str((enum rdmaez_caps_source)i));
		end();
	}
	end();
}

/* ---- The schema of capabilities as JSON ------------------------------------------------------ */

/* A field of a table; NULL behind the last. */
static const struct rdmaez_caps_field *at(struct rdmaez_caps_table table, unsigned int i)
{
	return i < table.count ? &table.fields[i] : NULL;
}

/* {"description": ..., "type": [TYPE, "null"], left open. */
static void property(const char *key, const char *description, const char *type)
{
	begin(key, "{}", false);
	text("description", description);
	begin("type", "[]", false);
	text(NULL, type);
	text(NULL, "null");
	end();
}

static void number_range(const struct rdmaez_caps_field *field)
{
	const unsigned int bits = (unsigned int)(8 * field->size - field->is_signed);
	const unsigned long long most = ~0ULL >> (64 - bits);

	next("minimum");
	printf("%lld", field->is_signed ? -(long long)most - 1 : 0);
	number("maximum", most);
}

/* What a value means stands beside it, unless the value is unknown. */
static void beside(const struct rdmaez_caps_field *field, const char *leaf)
{
	const bool set = rdmaez_caps_kind_is_set(field->kind),
		   sizes = field->kind == RDMAEZ_KIND_SIZES;
	char key[80], ref[64];

	if (!set && !sizes && !rdmaez_caps_kind_is_enum(field->kind))
		return;
	snprintf(key, sizeof(key), "%s_%s", leaf, set ? "names" : sizes ? "bytes" : "name");
	snprintf(ref, sizeof(ref), "#/$defs/%s", kinds[field->kind].id);
	begin(key, "{}", false);
	text("$ref", ref);
	end();
}

static void value(const struct rdmaez_caps_field *field, const char *leaf)
{
	switch ((int)field->kind) {
	case RDMAEZ_KIND_TEXT:
		property(leaf, field->what, "string");
		number("maxLength", field->size - 1);
		break;
	case RDMAEZ_KIND_GUID:
		property(leaf, field->what, "string");
		text("pattern", "^[0-9a-f]{4}(:[0-9a-f]{4}){3}$");
		break;
	case RDMAEZ_KIND_BOOL:
		property(leaf, field->what, "boolean");
		break;
	default:
		property(leaf, field->what, "integer");
		number_range(field);
	}
	end();
	beside(field, leaf);
}

/* The first part of what is left of a path, and how long it is. */
static size_t part(const char *path, char key[64])
{
	const size_t length = strcspn(path, ".");

	snprintf(key, 64, "%.*s", (int)length, path);
	return length;
}

/* The first field, from this one on, that does not lie in the struct named by so much of its path. */
static unsigned int behind(struct rdmaez_caps_table list, unsigned int first, size_t length)
{
	unsigned int i = first;

	while (at(list, i) && strncmp(at(list, i)->name, at(list, first)->name, length) == 0)
		i++;
	return i;
}

/* An object's keys from the first field on: those of the struct that so much of its path names. */
static void members(struct rdmaez_caps_table list, unsigned int first, size_t length,
		    const char *version)
{
	const unsigned int after = behind(list, first, length);
	size_t more;
	char key[64];

	text("type", "object");
	yes_or_no("additionalProperties", false);
	begin("required", "[]", false);
	if (version)
		text(NULL, version);
	for (unsigned int i = first; i < after; i = behind(list, i, length + more + 1)) {
		more = part(at(list, i)->name + length, key);
		text(NULL, key);
	}
	if (version)
		text(NULL, "sources");
	end();
	begin("properties", "{}", true);
	for (unsigned int i = first; i < after; i = behind(list, i, length + more + 1)) {
		more = part(at(list, i)->name + length, key);
		if (at(list, i)->name[length + more] == '\0') {
			value(at(list, i), key);
		} else {
			begin(key, "{}", true);
			members(list, i, length + more + 1, NULL);
			end();
		}
	}
	if (!version)
		end();
}

/* A whole object: the version, the fields, where they come from. Left open within its properties. */
static void object(struct rdmaez_caps_table list, const char *version)
{
	members(list, 0, 0, version);
	begin(version, "{}", false);
	number("const", RDMAEZ_CAPS_JSON_VERSION);
	end();
	begin("sources", "{}", true);
	text("description",
	     "Of what is null or was corrected: where it comes from, or why it is unknown.");
	text("type", "object");
	begin("propertyNames", "{}", false);
	begin("enum", "[]", false);
	for (unsigned int i = 0; at(list, i); i++)
		text(NULL, at(list, i)->name);
	end();
	end();
	begin("additionalProperties", "{}", false);
	begin("enum", "[]", false);
	for (int i = 1; i < RDMAEZ_SOURCE_COUNT; i++)
		text(NULL, rdmaez_caps_source_id((enum rdmaez_caps_source)i));
	text(NULL, "unknown");
	end();
	end();
	end();
}

/* JSON as it is. */
static void raw(const char *key, const char *json)
{
	next(key);
	fputs(json, stdout);
}

/* The names that stand beside values: one for an enum's, a list for a set's. */
static void names_of_kinds(void)
{
	for (int kind = RDMAEZ_KIND_NODE_TYPE; kind < RDMAEZ_KIND_TOTAL; kind++) {
		const bool set = rdmaez_caps_kind_is_set((enum rdmaez_caps_kind)kind);
		const char *name;

		begin(kinds[kind].id, "{}", false);
		if (set) {
			text("type", "array");
			yes_or_no("uniqueItems", true);
			begin("items", "{}", false);
			begin("anyOf", "[]", false);
			raw(NULL, "{\"type\": \"string\", \"pattern\": \"^bit_[0-9]+$\"}");
			row();
		}
		begin("enum", "[]", false);
		for (unsigned int n = 0; (name = kind_name(kind, &n)) != NULL; n++)
			text(NULL, name);
		if (!set)
			text(NULL, "unknown");
		end();
		for (int open = set ? 3 : 0; open > 0; open--)
			end();
		end();
	}
	raw("SIZES", "{\"type\": \"array\", \"uniqueItems\": true,"
		     " \"items\": {\"type\": \"integer\", \"minimum\": 1}}");
}

/* The rows of a port's tables. */
static void rows_of_tables(void)
{
	raw("gids", "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/gid\"}}");
	raw("pkeys", "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/pkey\"}}");
	end();
	end();
	raw("gid",
	    "{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"gid_index\","
	    " \"gid\", \"gid_type\", \"gid_type_name\", \"ndev_ifindex\", \"ndev_name\"],"
	    " \"properties\": {\"gid_index\": {\"$ref\": \"#/$defs/count\"},"
	    " \"gid\": {\"type\": \"string\", \"pattern\": \"^[0-9a-f:.]+$\"},"
	    " \"gid_type\": {\"$ref\": \"#/$defs/count\"}, \"gid_type_name\": {\"type\": "
	    "\"string\"},"
	    " \"ndev_ifindex\": {\"$ref\": \"#/$defs/count\"},"
	    " \"ndev_name\": {\"type\": [\"string\", \"null\"]}}}");
	raw("pkey",
	    "{\"type\": \"object\", \"additionalProperties\": false,"
	    " \"required\": [\"pkey_index\", \"pkey\", \"full\"],"
	    " \"properties\": {\"pkey_index\": {\"$ref\": \"#/$defs/count\"},"
	    " \"pkey\": {\"$ref\": \"#/$defs/count\"}, \"full\": {\"type\": \"boolean\"}}}");
	raw("count", "{\"type\": \"integer\", \"minimum\": 0}");
}

static void caps_schema(void)
{
	text("$schema", "https://json-schema.org/draft/2020-12/schema");
	text("$comment", "SPDX-License-Identifier: MIT. Made by rdmaez " RDMAEZ_VERSION_STRING
			 " from its lists of fields.");
	text("title", "Capabilities of a device");
	text("description",
	     "What rdmaez_caps_json() writes, with the device's board_id and ports where the "
	     "program adds them. A port as rdmaez_port_caps_json() writes it is #/$defs/port.");
	object(rdmaez_caps_fields(NULL), "rdmaez_caps");
	raw("board_id", "{\"type\": \"string\"}");
	raw("ports", "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/port\"}}");
	end();
	begin("$defs", "{}", true);
	begin("port", "{}", true);
	object(rdmaez_port_caps_fields(NULL), "rdmaez_port_caps");
	rows_of_tables();
	names_of_kinds();
	end();
}

static void head(const char *table)
{
	char schema[64];

	snprintf(schema, sizeof(schema), "%s.schema.json", table);
	text("$schema", schema);
	number("schema_version", SCHEMA_VERSION);
	text("rdmaez", RDMAEZ_VERSION_STRING);
}

/* ---- Tables of the documentation's pages ----------------------------------------------------- */

/* One cell of a Markdown table; a bar would end it. */
static void cell(const char *content)
{
	fputs(" ", stdout);
	for (; *content; content++)
		printf(*content == '|' ? "\\|" : "%c", *content);
	fputs(" |", stdout);
}

/* What ibv_modify_qp(3) lists: the required attributes of three steps, for four types. */
static bool in_manual_page(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to)
{
	if (type != IBV_QPT_RC && type != IBV_QPT_UC && type != IBV_QPT_UD &&
	    type != IBV_QPT_RAW_PACKET)
		return false;
	return to == (enum ibv_qp_state)(from + 1) && to <= IBV_QPS_RTS;
}

/* Attributes without the prefix that they share, but for the state, which every transition has. */
static void page_attributes(int mask)
{
	for (int bit = 1; bit <= RDMAEZ_IMPL_QP_BITS; bit <<= 1)
		if (mask & bit & ~IBV_QP_STATE)
			printf(" `%s`", rdmaez_qp_attr_str(bit) + strlen("IBV_QP_"));
	fputs(" |", stdout);
}

static void page_transition(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to)
{
	const struct rdmaez_qp_rule rule = rdmaez_qp_rule(type, from, to);

	if (!rule.legal || to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return;
	printf("| %s | %s |", rdmaez_qp_state_str(from), rdmaez_qp_state_str(to));
	page_attributes(rule.required);
	page_attributes(rule.optional);
	if (!in_manual_page(type, from, to))
		puts(" **missing** |");
	else
		puts(rule.optional & ~IBV_QP_STATE ? " **required ones only** |" : " complete |");
}

/* What each transition of a type takes, without those to RESET and ERR, which take the state alone. */
static bool page_transitions(const char *type_name)
{
	int type = 0;

	while (type <= IBV_QPT_DRIVER &&
	       (!rdmaez_qp_type_has_rules((enum ibv_qp_type)type) ||
		strcmp(rdmaez_qp_type_str((enum ibv_qp_type)type), type_name) != 0))
		type++;
	if (type > IBV_QPT_DRIVER)
		return false;
	puts("| from | to | required | optional | ibv_modify_qp(3) |\n|---|---|---|---|---|");
	for (int from = IBV_QPS_RESET; from <= IBV_QPS_ERR; from++)
		for (int to = IBV_QPS_RESET; to <= IBV_QPS_ERR; to++)
			page_transition((enum ibv_qp_type)type, (enum ibv_qp_state)from,
					(enum ibv_qp_state)to);
	return true;
}

/* Some of a cause's bits; all of them are no restriction, and all but one are told by that one. */
static void page_bits(const char **comma, unsigned int bits, unsigned int all,
		      const char *(*name)(int bit))
{
	const unsigned int others = all & ~bits;
	const bool but_one = others && !(others & (others - 1)) && all > 3;
	const unsigned int told = but_one ? others : bits;

	for (unsigned int bit = 1; others && bit <= all; bit <<= 1) {
		if (!(told & bit))
			continue;
		printf("%s%s%s", *comma, but_one ? "not " : "", name((int)bit));
		*comma = ", ";
	}
}

/* What rdmaez chooses from for a status or an event, as a table below its section. */
static void page_causes(const char *name)
{
	size_t count;
	const struct rdmaez_impl_wc_row *cause = rdmaez_impl_wc_rows(&count);
	bool any = false;

	for (; count; count--, cause++) {
		const char *driver = driver_of_cause(cause), *comma = "";

		if (strcmp(of_cause(cause), name) != 0)
			continue;
		if (!any)
			puts("\n| finding | field | only for |\n|---|---|---|");
		any = true;
		printf("| %s | `%s` | ", rdmaez_why_str((enum rdmaez_why)cause->why), cause->field);
		if (*driver) {
			fputs(driver, stdout);
			comma = ", ";
		}
		page_bits(&comma, cause->queues, RDMAEZ_IMPL_WC_ANY_Q, queue);
		page_bits(&comma, cause->types, RDMAEZ_IMPL_WC_ANY_TYPE, type_of_cause);
		page_bits(&comma, cause->requests, RDMAEZ_IMPL_WC_ANY, request);
		puts(*comma ? " |" : "|");
	}
}

/* What is known of the vendor_err that comes with a status. */
static void page_vendor_hints(int status)
{
	const char *begin = "\n**`vendor_err` of mlx5 and mlx4**: ";
	struct ibv_wc wc = {0};

	wc.status = (enum ibv_wc_status)status;
	for (; wc.vendor_err < 256; wc.vendor_err++) {
		if (!*rdmaez_wc_vendor_str(&wc))
			continue;
		printf("%s0x%x, %s", begin, wc.vendor_err, rdmaez_wc_vendor_str(&wc));
		begin = "; ";
	}
	if (*begin == ';')
		puts(".");
}

/* A status or an event has a heading of its own, which is what a person with an error looks for. */
static void page_section(const struct rdmaez_advice *known)
{
	const bool status = strncmp(known->name, "IBV_WC_", 7) == 0;
	const char *comma = "";

	printf("%s### %s\n\n%s %d", known->code ? "\n" : "", known->name,
	       status ? "Status" : "Event", known->code);
	/* Programs print these names of libibverbs, so they are what people search for. */
	if (status && known->code <= IBV_WC_GENERAL_ERR)
		printf(", \"%s\"", ibv_wc_status_str((enum ibv_wc_status)known->code));
	if (!status && known->code <= IBV_EVENT_WQ_FATAL)
		printf(", \"%s\"", ibv_event_type_str((enum ibv_event_type)known->code));
	printf(": %s.\n", known->what);
	if (known->cause[0])
		puts("\nLikely causes, in order:\n");
	for (int i = 0; i < RDMAEZ_ADVICE_CAUSES && known->cause[i]; i++)
		printf("%d. %s\n", i + 1, known->cause[i]);
	printf("\n**What to do**: %s.\n\n**May be read**: ", known->fix);
	for (unsigned int bit = 1; bit <= RDMAEZ_VALID_PORT_NUM; bit <<= 1) {
		if (!(known->valid & bit))
			continue;
		printf(bit == RDMAEZ_VALID_REST ? "%sthe rest" : "%s`%s`", comma, valid((int)bit));
		comma = ", ";
	}
	printf("%s.\n\n**Reported by**: %s.\n", *comma ? "" : "nothing", known->producers);
	if (status)
		page_vendor_hints(known->code);
	page_causes(known->name);
}

static void page_statuses(void)
{
	struct ibv_wc wc = {0};

	for (int i = 0; i < 256; i++) {
		wc.status = (enum ibv_wc_status)i;
		if (rdmaez_wc_explain(&wc)->code >= 0)
			page_section(rdmaez_wc_explain(&wc));
	}
}

static void page_events(void)
{
	struct ibv_async_event event = {0};

	for (int i = 0; i < 256; i++) {
		event.event_type = (enum ibv_event_type)i;
		if (rdmaez_event_explain(&event)->code >= 0)
			page_section(rdmaez_event_explain(&event));
	}
}

/* What each step of a bring-up requires beyond IBV_QP_STATE. */
static void page_bring_up(void)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
						 IBV_QPT_RAW_PACKET};

	puts("| type | RESET to INIT | INIT to RTR | RTR to RTS |\n|---|---|---|---|");
	for (size_t i = 0; i < LENGTH(types); i++) {
		printf("| %s |", rdmaez_qp_type_str(types[i]));
		for (int from = IBV_QPS_RESET; from <= IBV_QPS_RTR; from++) {
			const struct rdmaez_qp_rule rule = rdmaez_qp_rule(
				types[i], (enum ibv_qp_state)from, (enum ibv_qp_state)(from + 1));
			const char *comma = " ";

			for (int bit = 1; bit <= rule.required; bit <<= 1) {
				if (!(rule.required & bit) || bit == IBV_QP_STATE)
					continue;
				printf("%s`%s`", comma, rdmaez_qp_attr_str(bit));
				comma = ", ";
			}
			fputs(*comma == ' ' ? " nothing |" : " |", stdout);
		}
		putchar('\n');
	}
}

static void page_options(void)
{
	puts("| option | attribute | default | accepted | | unit | source "
	     "|\n|---|---|---|---|---|---|---|");
	for (size_t i = 0; i < LENGTH(attributes); i++) {
		const struct rdmaez_impl_field *field = &attributes[i].field;

		printf("| `%s` | `%s` |", attributes[i].option, attributes[i].name);
		if (field->otherwise > 65535)
			printf(" 0x%x |", field->otherwise);
		else
			printf(" %u |", field->otherwise);
		if (field->rule == RDMAEZ_IMPL_FIELD_ACCESS)
			printf(" bits of 0x%x |", field->max);
		else if (field->max == UINT32_MAX)
			fputs(" 32 bits |", stdout);
		else
			printf(" %u to %u |", field->min, field->max);
		cell(attribute_note(field));
		cell(attributes[i].unit);
		cell(attributes[i].source);
		putchar('\n');
	}
}

/* What rdmaez-doctor knows of a counter: its names, who has it, when it is told, what it means. */
static void page_counter(const char *names, const char *drivers, enum counter_when when,
			 const char *meaning)
{
	static const char *const told[] = {"", "never", "growth, as a note", "growth",
					   "growth; as a note, any"};

	if (when == COUNTER_TRAFFIC)
		return;
	fputs("| `", stdout);
	for (; *names; names++)
		fputs(*names == '|' ? "` `" : (const char[]){*names, '\0'}, stdout);
	fputs("` | ", stdout);
	for (; *drivers; drivers++)
		fputs(*drivers == ' ' ? ", " : (const char[]){*drivers, '\0'}, stdout);
	printf(" | %s | %s |\n", told[when], meaning);
}

static void page_counters(void)
{
	puts("| counters | drivers | reported | meaning |\n|---|---|---|---|");
#define PAGE_COUNTER(names, drivers, when, meaning, next) \
	page_counter(names, drivers, when, meaning);
	RDMA_COUNTERS(PAGE_COUNTER)
	NETDEV_COUNTERS(PAGE_COUNTER)
#undef PAGE_COUNTER
}

/* ---- Enumerators that lists make ------------------------------------------------------------- */

static void enumerators(void)
{
	puts("/** @file */");
	for (int i = 0; i < RDMAEZ_WHY_COUNT; i++)
		printf("/** @var RDMAEZ_WHY_%s\n * %s. Next: %s. */\n",
		       rdmaez_why_id((enum rdmaez_why)i), rdmaez_why_str((enum rdmaez_why)i),
		       rdmaez_why_fix((enum rdmaez_why)i));
}

/* ---------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*print)(void);
} tables[] =
	{
		{"attributes", all_attributes},
		{"completions", completions},
		{"fields", fields},
		{"names", all_names},
		{"reasons", reasons},
		{"transitions", transitions},
		{"caps.schema", caps_schema},
},
  page_tables[] = {
	  {"statuses", page_statuses}, {"events", page_events},     {"bring_up", page_bring_up},
	  {"options", page_options},   {"counters", page_counters},
};

static int finish(void)
{
	return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int page_table(const char *name)
{
	static const char transitions_of[] = "transitions of ";

	if (strncmp(name, transitions_of, strlen(transitions_of)) == 0 &&
	    page_transitions(name + strlen(transitions_of)))
		return finish();
	for (size_t i = 0; i < LENGTH(page_tables); i++)
		if (strcmp(name, page_tables[i].name) == 0) {
			page_tables[i].print();
			return finish();
		}
	fprintf(stderr, "data: there is no table of %s\n", name);
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--table") == 0)
		return page_table(argv[2]);
	if (argc == 2 && strcmp(argv[1], "--enumerators") == 0) {
		enumerators();
		return finish();
	}
	for (size_t i = 0; argc == 2 && i < LENGTH(tables); i++) {
		if (strcmp(argv[1], tables[i].name) != 0)
			continue;
		begin(NULL, "{}", true);
		if (tables[i].print != caps_schema)
			head(tables[i].name);
		tables[i].print();
		end();
		putchar('\n');
		return finish();
	}
	fputs("usage: data --table NAME, or --enumerators, or TABLE, one of:", stderr);
	for (size_t i = 0; i < LENGTH(tables); i++)
		fprintf(stderr, " %s", tables[i].name);
	fputs("\n", stderr);
	return EXIT_FAILURE;
}
