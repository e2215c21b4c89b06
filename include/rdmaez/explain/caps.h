/* SPDX-License-Identifier: MIT */
/* Writes capabilities as text and as JSON. */
#ifndef RDMAEZ_EXPLAIN_CAPS_H
#define RDMAEZ_EXPLAIN_CAPS_H

#include <poll.h>

#include "diag.h"

RDMAEZ_IMPL_BEGIN

/* Writes a heading at the start of a group: its name with spaces. */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_heading(struct rdmaez_impl_text *text, const char *before,
					      const char *group)
{
	if (before && strcmp(before, group) == 0)
		return;
	if (before)
		rdmaez_impl_put(text, "\n");
	for (; *group; group++)
		rdmaez_impl_put(text, "%c", *group == '_' ? ' ' : *group);
	rdmaez_impl_put(text, "\n");
}

/* Returns a field's name without the structs that it lies in. */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_caps_leaf(const struct rdmaez_caps_field *field)
{
	const char *dot = strrchr(field->name, '.');

	return dot ? dot + 1 : field->name;
}

/* Writes the name of a bit or a value, or its number if it has no name. */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_kind(struct rdmaez_impl_text *text,
					   enum rdmaez_caps_kind kind, uint64_t number)
{
	const char *name = rdmaez_caps_kind_str(kind, number);

	if (strcmp(name, "unknown") != 0)
		rdmaez_impl_put(text, "%s", name);
	else if (rdmaez_caps_kind_is_set(kind))
		rdmaez_impl_put(text, "bit_%llu", (unsigned long long)number);
	else
		rdmaez_impl_put(text, "unknown");
}

/* Returns whether 0 of a kind is better called "none" than a 0 with its unit. */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_caps_zero_is_none(enum rdmaez_caps_kind kind)
{
	return kind == RDMAEZ_KIND_TEXT || kind == RDMAEZ_KIND_BYTES || kind == RDMAEZ_KIND_SIZES ||
	       kind == RDMAEZ_KIND_MASK || kind == RDMAEZ_KIND_US ||
	       (kind >= RDMAEZ_KIND_HZ && kind <= RDMAEZ_KIND_KBPS) ||
	       rdmaez_caps_kind_is_set(kind);
}

/*
 * Writes a number with the greatest of the units that leaves it whole. Each unit is `step` times
 * the one before.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_unit(struct rdmaez_impl_text *text, uint64_t value,
					   unsigned int step, const char *const *units)
{
	while (units[1] && value && value % step == 0) {
		value /= step;
		units++;
	}
	rdmaez_impl_put(text, "%llu %s", (unsigned long long)value, units[0]);
}

/* Writes a rate or a clock: "25 Gbit/s", "156250 kHz". */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_decimal(struct rdmaez_impl_text *text, uint64_t value,
					       enum rdmaez_caps_kind kind)
{
	static const char *const rates[] = {"kbit/s", "Mbit/s", "Gbit/s", NULL};
	static const char *const clocks[] = {"Hz", "kHz", "MHz", "GHz", NULL};

	if (kind == RDMAEZ_KIND_KBPS)
		rdmaez_impl_put_unit(text, value, 1000, rates);
	else
		rdmaez_impl_put_unit(text, value, 1000, clocks + (kind == RDMAEZ_KIND_KHZ));
}

/*
 * Writes a GUID as people write it. It is in network byte order, so its bytes are in the right
 * order.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_guid(struct rdmaez_impl_text *text, uint64_t guid)
{
	uint8_t byte[8];

	memcpy(byte, &guid, sizeof(byte));
	for (int i = 0; i < 8; i += 2)
		rdmaez_impl_put(text, i ? ":%02x%02x" : "%02x%02x", byte[i], byte[i + 1]);
}

/* Writes a size: "4 KiB", "1000 bytes". */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_size(struct rdmaez_impl_text *text, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", NULL};

	if (bytes == 1)
		rdmaez_impl_put(text, "1 byte");
	else
		rdmaez_impl_put_unit(text, bytes, 1024, units);
}

/* Writes the sizes of a set, as ranges: "4 KiB to 2 GiB, 16 GiB". */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_sizes(struct rdmaez_impl_text *text, uint64_t set)
{
	const char *between = "";

	for (int first = 0, last; first < 64; first = last + 1) {
		last = first;
		if (!(set >> first & 1))
			continue;
		while (last < 63 && set >> (last + 1) & 1)
			last++;
		rdmaez_impl_put(text, "%s", between);
		rdmaez_impl_put_size(text, UINT64_C(1) << first);
		if (last > first) {
			rdmaez_impl_put(text, " to ");
			rdmaez_impl_put_size(text, UINT64_C(1) << last);
		}
		between = ", ";
	}
}

/* Writes a value of a kind that is not a set, with its unit. */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_scalar(struct rdmaez_impl_text *text,
					     const struct rdmaez_caps_item *item)
{
	const unsigned long long value = item->value;
	const enum rdmaez_caps_kind kind = item->field->kind;

	if (!value && !*item->text && rdmaez_impl_caps_zero_is_none(kind)) {
		rdmaez_impl_put(text, "none");
		return;
	}
	switch ((int)kind) {
	case RDMAEZ_KIND_TEXT:
		for (size_t i = 0; i < item->field->size && item->text[i]; i++)
			rdmaez_impl_put(text, "%c",
					item->text[i] < ' ' || item->text[i] > '~' ? '?'
										   : item->text[i]);
		return;
	case RDMAEZ_KIND_GUID:
		rdmaez_impl_put_guid(text, item->value);
		return;
	case RDMAEZ_KIND_ID:
		rdmaez_impl_put(text, "0x%04llx", value);
		return;
	case RDMAEZ_KIND_BOOL:
		rdmaez_impl_put(text, value ? "yes" : "no");
		return;
	case RDMAEZ_KIND_BYTES:
		if (value == UINT64_MAX)
			rdmaez_impl_put(text, "no limit");
		else
			rdmaez_impl_put_size(text, value);
		return;
	case RDMAEZ_KIND_SIZES:
		rdmaez_impl_put(text, "0x%llx: ", value);
		rdmaez_impl_put_sizes(text, value);
		return;
	case RDMAEZ_KIND_NS:
		rdmaez_impl_put_ns(text, value);
		return;
	case RDMAEZ_KIND_US:
		rdmaez_impl_put(text, "%llu us", value);
		return;
	case RDMAEZ_KIND_HZ:
	case RDMAEZ_KIND_KHZ:
	case RDMAEZ_KIND_KBPS:
		rdmaez_impl_put_decimal(text, value, kind);
		return;
	case RDMAEZ_KIND_MASK:
		rdmaez_impl_put(text, "0x%016llx", value);
		return;
	default:
		if (rdmaez_caps_kind_is_enum(kind)) {
			rdmaez_impl_put_kind(text, kind, value);
			rdmaez_impl_put(text, " (%lld)", (long long)value);
		} else if (item->field->is_signed) {
			rdmaez_impl_put(text, "%lld", (long long)value);
		} else {
			rdmaez_impl_put(text, "%llu", value);
		}
	}
}

/*
 * Writes a value in one line: a set by the names of its bits, and for an unknown value the reason.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_item(struct rdmaez_impl_text *text,
					   const struct rdmaez_caps_item *item, const char *between)
{
	const char *before = ": ";

	if (!rdmaez_impl_caps_known(item)) {
		rdmaez_impl_put(text, "unknown: %s", rdmaez_caps_source_str(item->source));
		return;
	}
	if (rdmaez_caps_kind_is_set(item->field->kind)) {
		if (item->value)
			rdmaez_impl_put(text, "0x%llx", (unsigned long long)item->value);
		else
			rdmaez_impl_put(text, "none");
		for (unsigned int bit = 0; bit < 64; bit++)
			if (item->value >> bit & 1) {
				rdmaez_impl_put(text, "%s", before);
				rdmaez_impl_put_kind(text, item->field->kind, bit);
				before = between;
			}
	} else {
		rdmaez_impl_put_scalar(text, item);
	}
	if (item->source == RDMAEZ_SOURCE_CORRECTED)
		rdmaez_impl_put(text, " (%s)", rdmaez_caps_source_str(item->source));
}

/* Writes a name and a value, aligned. Long values go on in lines of their own. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_line(struct rdmaez_impl_text *text,
					    const struct rdmaez_caps_item *item)
{
	char name[64], words[2048];
	struct rdmaez_impl_text line = rdmaez_impl_text_in(name, sizeof(name));

	rdmaez_impl_put(&line, "  %-30s  ", rdmaez_impl_caps_leaf(item->field));
	line = rdmaez_impl_text_in(words, sizeof(words));
	rdmaez_impl_put_item(&line, item, " ");
	rdmaez_impl_put_wrapped(text, name, "                                  ", words);
}

/* Writes all fields of a table. Returns the last heading, or NULL if there is none. */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_put_table(struct rdmaez_impl_text *text,
						   struct rdmaez_caps_table table)
{
	struct rdmaez_caps_item item;
	const char *group = NULL;

	for (unsigned int id = 0; !rdmaez_caps_get(table, id, &item); id++) {
		rdmaez_impl_put_heading(text, group, item.field->group);
		group = item.field->group;
		rdmaez_impl_put_line(text, &item);
	}
	return group;
}

RDMAEZ_SEAM int rdmaez_impl_tell_caps_format(const struct rdmaez_caps *caps, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	rdmaez_impl_put_table(&text, rdmaez_caps_fields(caps));
	return (int)text.length;
}

/* Returns how many characters of two paths are the same structs: up to and with the last dot. */
RDMAEZ_IMPL_SMALL size_t rdmaez_impl_same_structs(const char *a, const char *b)
{
	size_t same = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '.')
			same = i + 1;
	return same;
}

/*
 * Writes the key of a field: closes the objects that the one before lay in, and opens this one's.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_json_key(struct rdmaez_impl_text *text, const char *before,
					       const char *path)
{
	const size_t same = rdmaez_impl_same_structs(before, path);

	for (before += same; *before; before++)
		if (*before == '.')
			rdmaez_impl_put(text, "}");
	rdmaez_impl_put(text, ",");
	for (path += same; strchr(path, '.'); path = strchr(path, '.') + 1)
		rdmaez_impl_put(text, "\"%.*s\":{", (int)strcspn(path, "."), path);
	if (*path)
		rdmaez_impl_put(text, "\"%s\":", path);
}

/* Writes where values come from that are not the device's own. */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_json_sources(struct rdmaez_impl_text *text,
						   struct rdmaez_caps_table table)
{
	const char *comma = "";
	struct rdmaez_caps_item item;

	rdmaez_impl_put_json_key(text, table.fields[table.count - 1].name, "sources");
	rdmaez_impl_put(text, "{");
	for (unsigned int id = 0; !rdmaez_caps_get(table, id, &item); id++) {
		if (item.source == RDMAEZ_SOURCE_DEVICE)
			continue;
		rdmaez_impl_put_json_pair(text, comma, item.field->name,
					  rdmaez_caps_source_id(item.source));
		comma = ",";
	}
	rdmaez_impl_put(text, "}");
}

/*
 * Writes what a value means, beside it: the names of a set's bits, the name of an enum's value, or
 * a set of sizes.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_json_meaning(struct rdmaez_impl_text *text,
						   const struct rdmaez_caps_item *item)
{
	const enum rdmaez_caps_kind kind = item->field->kind;
	const char *leaf = rdmaez_impl_caps_leaf(item->field);
	const char *comma = "";

	if (rdmaez_caps_kind_is_enum(kind)) {
		rdmaez_impl_put(text, ",\"%s_name\":\"", leaf);
		rdmaez_impl_put_kind(text, kind, item->value);
		rdmaez_impl_put(text, "\"");
		return;
	}
	if (kind != RDMAEZ_KIND_SIZES && !rdmaez_caps_kind_is_set(kind))
		return;
	rdmaez_impl_put(text, ",\"%s_%s\":[", leaf, kind == RDMAEZ_KIND_SIZES ? "bytes" : "names");
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(item->value >> bit & 1))
			continue;
		rdmaez_impl_put(text, "%s", comma);
		if (kind == RDMAEZ_KIND_SIZES) {
			rdmaez_impl_put(text, "%llu", 1ULL << bit);
		} else {
			rdmaez_impl_put(text, "\"");
			rdmaez_impl_put_kind(text, kind, bit);
			rdmaez_impl_put(text, "\"");
		}
		comma = ",";
	}
	rdmaez_impl_put(text, "]");
}

/* Writes a field's value, and what it means. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_json_item(struct rdmaez_impl_text *text,
						 const struct rdmaez_caps_item *item)
{
	if (!rdmaez_impl_caps_known(item)) {
		rdmaez_impl_put(text, "null");
		return;
	}
	switch ((int)item->field->kind) {
	case RDMAEZ_KIND_TEXT:
		rdmaez_impl_put_json_chars(text, item->text, item->field->size - 1);
		break;
	case RDMAEZ_KIND_GUID:
		rdmaez_impl_put(text, "\"");
		rdmaez_impl_put_guid(text, item->value);
		rdmaez_impl_put(text, "\"");
		break;
	case RDMAEZ_KIND_BOOL:
		rdmaez_impl_put(text, item->value ? "true" : "false");
		break;
	default:
		if (item->field->is_signed)
			rdmaez_impl_put(text, "%lld", (long long)item->value);
		else
			rdmaez_impl_put(text, "%llu", (unsigned long long)item->value);
	}
	rdmaez_impl_put_json_meaning(text, item);
}

/* Writes the version and all fields of an object that has been begun. */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_json_table(struct rdmaez_impl_text *text, const char *version,
						 struct rdmaez_caps_table table)
{
	const char *before = "";
	struct rdmaez_caps_item item;

	rdmaez_impl_put(text, "\"%s\":%d", version, RDMAEZ_CAPS_JSON_VERSION);
	for (unsigned int id = 0; !rdmaez_caps_get(table, id, &item); id++) {
		rdmaez_impl_put_json_key(text, before, item.field->name);
		rdmaez_impl_put_json_item(text, &item);
		before = item.field->name;
	}
}

RDMAEZ_SEAM int rdmaez_impl_tell_caps_json(const struct rdmaez_caps *caps, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	rdmaez_impl_put(&text, "{");
	if (caps) {
		rdmaez_impl_put_json_table(&text, "rdmaez_caps", rdmaez_caps_fields(caps));
		rdmaez_impl_put_json_sources(&text, rdmaez_caps_fields(caps));
	}
	rdmaez_impl_put(&text, "}");
	return (int)text.length;
}

RDMAEZ_SEAM int rdmaez_impl_tell_caps_item_format(const struct rdmaez_caps_item *item, char *buf,
						  size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	if (item)
		rdmaez_impl_put_item(&text, item, " ");
	return (int)text.length;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* ---- Comparison ----------------------------------------------------------------------------- */

/* Writes both values in a line and, for sets, what only one of them has. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_difference(struct rdmaez_impl_text *text,
						  enum rdmaez_caps_relation relation,
						  struct rdmaez_caps_item *a,
						  struct rdmaez_caps_item *b)
{
	static const char *const relations[] = {"", "lacks", "exceeds", "differs", "unclear"};
	struct rdmaez_impl_text line;
	char head[96], words[4096];

	if (rdmaez_caps_kind_is_set(a->field->kind) && relation != RDMAEZ_RELATION_UNCLEAR) {
		const uint64_t both = a->value & b->value;

		a->value &= ~both;
		b->value &= ~both;
	}
	line = rdmaez_impl_text_in(head, sizeof(head));
	rdmaez_impl_put(&line, "%-40s  %-8s  ", a->field->name, relations[relation]);
	line = rdmaez_impl_text_in(words, sizeof(words));
	rdmaez_impl_put_item(&line, a, " ");
	rdmaez_impl_put(&line, " -> ");
	rdmaez_impl_put_item(&line, b, " ");
	rdmaez_impl_put_wrapped(text, head, "        ", words);
}

RDMAEZ_SEAM int rdmaez_impl_tell_caps_diff_format(struct rdmaez_caps_table first,
						  struct rdmaez_caps_table second, char *buf,
						  size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	struct rdmaez_caps_item a, b;

	for (unsigned int id = 0; first.count == second.count && !rdmaez_caps_get(first, id, &a) &&
				  !rdmaez_caps_get(second, id, &b);
	     id++) {
		const enum rdmaez_caps_relation relation = rdmaez_caps_relate(first, second, id);

		if (relation != RDMAEZ_RELATION_EQUAL &&
		    a.field->told != RDMAEZ_IMPL_TOLD_DERIVED &&
		    a.field->told != RDMAEZ_IMPL_TOLD_CODE)
			rdmaez_impl_put_difference(&text, relation, &a, &b);
	}
	return (int)text.length;
}

/* ---- Needs ---------------------------------------------------------------------------------- */

/* Returns a number of a field's kind, which is known without its field. */
RDMAEZ_IMPL_SMALL struct rdmaez_caps_item
rdmaez_impl_caps_number(const struct rdmaez_caps_field *field, uint64_t value)
{
	struct rdmaez_caps_item item;

	item.field = field;
	item.value = value;
	item.text = "";
	item.source = RDMAEZ_SOURCE_DEVICE;
	return item;
}

/*
 * Writes what was asked for, what is offered if that is known, and which bits of a set are missing.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_need_text(struct rdmaez_impl_text *text,
						 const struct rdmaez_finding *finding,
						 const struct rdmaez_caps_field *field)
{
	struct rdmaez_caps_item item = rdmaez_impl_caps_number(field, finding->value);

	if (field->kind == RDMAEZ_KIND_TEXT)
		return;
	rdmaez_impl_put(text, " Asked for: ");
	rdmaez_impl_put_item(text, &item, "|");
	if (finding->reason == RDMAEZ_WHY_NEED_UNMET) {
		item.value = finding->max;
		rdmaez_impl_put(text, "; offered: ");
		rdmaez_impl_put_item(text, &item, "|");
		item.value = finding->value & ~finding->max;
		if (rdmaez_caps_kind_is_set(field->kind)) {
			rdmaez_impl_put(text, "; missing: ");
			rdmaez_impl_put_item(text, &item, "|");
		}
	}
	rdmaez_impl_put(text, ".");
}

/* Writes a member of an object, signed as the field is. */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_need_number(struct rdmaez_impl_text *text, const char *name,
						  const struct rdmaez_caps_field *field,
						  uint64_t value)
{
	if (field->is_signed)
		rdmaez_impl_put(text, ",\"%s\":%lld", name, (long long)value);
	else
		rdmaez_impl_put(text, ",\"%s\":%llu", name, (unsigned long long)value);
}

/*
 * Writes the same as members of an object. What is unknown is not offered, and a text is no number.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_need_json(struct rdmaez_impl_text *text,
						 const struct rdmaez_finding *finding,
						 const struct rdmaez_caps_field *field)
{
	const uint64_t missing = finding->value & ~finding->max;
	const char *comma = "";

	if (field->kind == RDMAEZ_KIND_TEXT)
		return;
	rdmaez_impl_put_need_number(text, "asked", field, finding->value);
	if (finding->reason != RDMAEZ_WHY_NEED_UNMET)
		return;
	rdmaez_impl_put_need_number(text, "offered", field, finding->max);
	if (!rdmaez_caps_kind_is_set(field->kind))
		return;
	rdmaez_impl_put(text, ",\"missing\":[");
	for (unsigned int bit = 0; bit < 64; bit++)
		if (missing >> bit & 1) {
			rdmaez_impl_put(text, "%s\"", comma);
			rdmaez_impl_put_kind(text, field->kind, bit);
			rdmaez_impl_put(text, "\"");
			comma = ",";
		}
	rdmaez_impl_put(text, "]");
}

/* Writes a finding of rdmaez_caps_require(). */
RDMAEZ_SEAM int rdmaez_impl_caps_need(const struct rdmaez_finding *finding,
				      enum rdmaez_finding_form form, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	struct rdmaez_caps_field field;

	memset(&field, 0, sizeof(field));
	field.kind = (enum rdmaez_caps_kind)finding->min;
	/* The numbers that verbs have signed are counts, and the values of enums. */
	field.is_signed = field.kind == RDMAEZ_KIND_COUNT || rdmaez_caps_kind_is_enum(field.kind);
	if (form == RDMAEZ_FINDING_JSON)
		rdmaez_impl_put_need_json(&text, finding, &field);
	else
		rdmaez_impl_put_need_text(&text, finding, &field);
	return (int)text.length;
}

/* clang-format off */

/*
 * Returns all names of a kind, one after the other, each behind its number: a bit's place in a set,
 * or a value of an enum. The names are those of verbs.h. IB_UVERBS_ is for bits that only the
 * kernel's headers name (ib_user_verbs.h, ib_user_ioctl_verbs.h), and verbs.h leaves some codes to
 * IBTA. The last name is empty.
 */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_caps_names(enum rdmaez_caps_kind kind)
{
	switch ((int)kind) {
	case RDMAEZ_KIND_NODE_TYPE:
		return "1:IBV_NODE_CA\0"
		       "2:IBV_NODE_SWITCH\0"
		       "3:IBV_NODE_ROUTER\0"
		       "4:IBV_NODE_RNIC\0"
		       "5:IBV_NODE_USNIC\0"
		       "6:IBV_NODE_USNIC_UDP\0"
		       "7:IBV_NODE_UNSPECIFIED\0";
	case RDMAEZ_KIND_TRANSPORT:
		return "0:IBV_TRANSPORT_IB\0"
		       "1:IBV_TRANSPORT_IWARP\0"
		       "2:IBV_TRANSPORT_USNIC\0"
		       "3:IBV_TRANSPORT_USNIC_UDP\0"
		       "4:IBV_TRANSPORT_UNSPECIFIED\0";
	case RDMAEZ_KIND_ATOMIC_CAP:
		return "0:IBV_ATOMIC_NONE\0"
		       "1:IBV_ATOMIC_HCA\0"
		       "2:IBV_ATOMIC_GLOB\0";
	case RDMAEZ_KIND_PORT_STATE:
		return "0:IBV_PORT_NOP\0"
		       "1:IBV_PORT_DOWN\0"
		       "2:IBV_PORT_INIT\0"
		       "3:IBV_PORT_ARMED\0"
		       "4:IBV_PORT_ACTIVE\0"
		       "5:IBV_PORT_ACTIVE_DEFER\0";
	case RDMAEZ_KIND_MTU:
		return "1:IBV_MTU_256\0"
		       "2:IBV_MTU_512\0"
		       "3:IBV_MTU_1024\0"
		       "4:IBV_MTU_2048\0"
		       "5:IBV_MTU_4096\0";
	case RDMAEZ_KIND_LINK_LAYER:
		return "0:IBV_LINK_LAYER_UNSPECIFIED\0"
		       "1:IBV_LINK_LAYER_INFINIBAND\0"
		       "2:IBV_LINK_LAYER_ETHERNET\0";
	case RDMAEZ_KIND_PHYS_STATE:
		return "1:SLEEP\0"
		       "2:POLLING\0"
		       "3:DISABLED\0"
		       "4:TRAINING\0"
		       "5:LINK_UP\0"
		       "6:LINK_ERROR_RECOVERY\0"
		       "7:PHY_TEST\0";
	case RDMAEZ_KIND_WIDTH:
		return "1:1X\0"
		       "2:4X\0"
		       "4:8X\0"
		       "8:12X\0"
		       "16:2X\0";
	case RDMAEZ_KIND_SPEED:
		return "1:SDR\0"
		       "2:DDR\0"
		       "4:QDR\0"
		       "8:FDR10\0"
		       "16:FDR\0"
		       "32:EDR\0"
		       "64:HDR\0"
		       "128:NDR\0"
		       "256:XDR\0";
	case RDMAEZ_KIND_VL:
		return "1:VL0\0"
		       "2:VL0 to VL1\0"
		       "3:VL0 to VL3\0"
		       "4:VL0 to VL7\0"
		       "5:VL0 to VL14\0";
	case RDMAEZ_KIND_DEVICE_FLAGS:
		return "0:IBV_DEVICE_RESIZE_MAX_WR\0"
		       "1:IBV_DEVICE_BAD_PKEY_CNTR\0"
		       "2:IBV_DEVICE_BAD_QKEY_CNTR\0"
		       "3:IBV_DEVICE_RAW_MULTI\0"
		       "4:IBV_DEVICE_AUTO_PATH_MIG\0"
		       "5:IBV_DEVICE_CHANGE_PHY_PORT\0"
		       "6:IBV_DEVICE_UD_AV_PORT_ENFORCE\0"
		       "7:IBV_DEVICE_CURR_QP_STATE_MOD\0"
		       "8:IBV_DEVICE_SHUTDOWN_PORT\0"
		       "9:IBV_DEVICE_INIT_TYPE\0"
		       "10:IBV_DEVICE_PORT_ACTIVE_EVENT\0"
		       "11:IBV_DEVICE_SYS_IMAGE_GUID\0"
		       "12:IBV_DEVICE_RC_RNR_NAK_GEN\0"
		       "13:IBV_DEVICE_SRQ_RESIZE\0"
		       "14:IBV_DEVICE_N_NOTIFY_CQ\0"
		       "17:IBV_DEVICE_MEM_WINDOW\0"
		       "18:IBV_DEVICE_UD_IP_CSUM\0"
		       "20:IBV_DEVICE_XRC\0"
		       "21:IBV_DEVICE_MEM_MGT_EXTENSIONS\0"
		       "23:IBV_DEVICE_MEM_WINDOW_TYPE_2A\0"
		       "24:IBV_DEVICE_MEM_WINDOW_TYPE_2B\0"
		       "25:IBV_DEVICE_RC_IP_CSUM\0"
		       "26:IBV_DEVICE_RAW_IP_CSUM\0"
		       "29:IBV_DEVICE_MANAGED_FLOW_STEERING\0"
		       "34:IBV_DEVICE_RAW_SCATTER_FCS\0"
		       "36:IBV_DEVICE_PCI_WRITE_END_PADDING\0"
		       "38:IB_UVERBS_DEVICE_FLUSH_GLOBAL\0"
		       "39:IB_UVERBS_DEVICE_FLUSH_PERSISTENT\0"
		       "40:IB_UVERBS_DEVICE_ATOMIC_WRITE\0"
		       "41:IBV_DEVICE_CC_DMA_BOUNCE\0";
	case RDMAEZ_KIND_ODP_GENERAL:
		return "0:IBV_ODP_SUPPORT\0"
		       "1:IBV_ODP_SUPPORT_IMPLICIT\0";
	case RDMAEZ_KIND_ODP_TRANSPORT:
		return "0:IBV_ODP_SUPPORT_SEND\0"
		       "1:IBV_ODP_SUPPORT_RECV\0"
		       "2:IBV_ODP_SUPPORT_WRITE\0"
		       "3:IBV_ODP_SUPPORT_READ\0"
		       "4:IBV_ODP_SUPPORT_ATOMIC\0"
		       "5:IBV_ODP_SUPPORT_SRQ_RECV\0"
		       "6:IBV_ODP_SUPPORT_FLUSH\0"
		       "7:IBV_ODP_SUPPORT_ATOMIC_WRITE\0";
	case RDMAEZ_KIND_RAW_PACKET:
		return "0:IBV_RAW_PACKET_CAP_CVLAN_STRIPPING\0"
		       "1:IBV_RAW_PACKET_CAP_SCATTER_FCS\0"
		       "2:IBV_RAW_PACKET_CAP_IP_CSUM\0"
		       "3:IBV_RAW_PACKET_CAP_DELAY_DROP\0";
	case RDMAEZ_KIND_RX_HASH_FUNCTION:
		return "0:IBV_RX_HASH_FUNC_TOEPLITZ\0";
	case RDMAEZ_KIND_RX_HASH_FIELDS:
		return "0:IBV_RX_HASH_SRC_IPV4\0"
		       "1:IBV_RX_HASH_DST_IPV4\0"
		       "2:IBV_RX_HASH_SRC_IPV6\0"
		       "3:IBV_RX_HASH_DST_IPV6\0"
		       "4:IBV_RX_HASH_SRC_PORT_TCP\0"
		       "5:IBV_RX_HASH_DST_PORT_TCP\0"
		       "6:IBV_RX_HASH_SRC_PORT_UDP\0"
		       "7:IBV_RX_HASH_DST_PORT_UDP\0"
		       "8:IBV_RX_HASH_IPSEC_SPI\0"
		       "31:IBV_RX_HASH_INNER\0";
	case RDMAEZ_KIND_TM_FLAGS:
		return "0:IBV_TM_CAP_RC\0";
	case RDMAEZ_KIND_PCI_ATOMIC:
		return "0:IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP\0"
		       "1:IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP\0"
		       "2:IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP\0";
	case RDMAEZ_KIND_QP_TYPES:
		return "2:IBV_QPT_RC\0"
		       "3:IBV_QPT_UC\0"
		       "4:IBV_QPT_UD\0"
		       "8:IBV_QPT_RAW_PACKET\0"
		       "9:IBV_QPT_XRC_SEND\0"
		       "10:IBV_QPT_XRC_RECV\0";
	case RDMAEZ_KIND_PORT_FLAGS:
		return "1:IBV_PORT_SM\0"
		       "2:IBV_PORT_NOTICE_SUP\0"
		       "3:IBV_PORT_TRAP_SUP\0"
		       "4:IBV_PORT_OPT_IPD_SUP\0"
		       "5:IBV_PORT_AUTO_MIGR_SUP\0"
		       "6:IBV_PORT_SL_MAP_SUP\0"
		       "7:IBV_PORT_MKEY_NVRAM\0"
		       "8:IBV_PORT_PKEY_NVRAM\0"
		       "9:IBV_PORT_LED_INFO_SUP\0"
		       "10:IB_UVERBS_PCF_SM_DISABLED\0"
		       "11:IBV_PORT_SYS_IMAGE_GUID_SUP\0"
		       "12:IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP\0"
		       "14:IBV_PORT_EXTENDED_SPEEDS_SUP\0"
		       "15:IBV_PORT_CAP_MASK2_SUP\0"
		       "16:IBV_PORT_CM_SUP\0"
		       "17:IBV_PORT_SNMP_TUNNEL_SUP\0"
		       "18:IBV_PORT_REINIT_SUP\0"
		       "19:IBV_PORT_DEVICE_MGMT_SUP\0"
		       "20:IBV_PORT_VENDOR_CLASS_SUP\0"
		       "21:IBV_PORT_DR_NOTICE_SUP\0"
		       "22:IBV_PORT_CAP_MASK_NOTICE_SUP\0"
		       "23:IBV_PORT_BOOT_MGMT_SUP\0"
		       "24:IBV_PORT_LINK_LATENCY_SUP\0"
		       "25:IBV_PORT_CLIENT_REG_SUP\0"
		       "26:IBV_PORT_IP_BASED_GIDS\0"
		       "27:IB_UVERBS_PCF_LINK_SPEED_WIDTH_TABLE_SUP\0"
		       "28:IB_UVERBS_PCF_VENDOR_SPECIFIC_MADS_TABLE_SUP\0"
		       "29:IB_UVERBS_PCF_MCAST_PKEY_TRAP_SUPPRESSION_SUP\0"
		       "30:IB_UVERBS_PCF_MCAST_FDB_TOP_SUP\0"
		       "31:IB_UVERBS_PCF_HIERARCHY_INFO_SUP\0";
	case RDMAEZ_KIND_PORT_FLAGS2:
		return "0:IBV_PORT_SET_NODE_DESC_SUP\0"
		       "1:IBV_PORT_INFO_EXT_SUP\0"
		       "2:IBV_PORT_VIRT_SUP\0"
		       "3:IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP\0"
		       "4:IBV_PORT_LINK_WIDTH_2X_SUP\0"
		       "5:IBV_PORT_LINK_SPEED_HDR_SUP\0"
		       "10:IBV_PORT_LINK_SPEED_NDR_SUP\0"
		       "12:IBV_PORT_LINK_SPEED_XDR_SUP\0";
	case RDMAEZ_KIND_PORT_QPF:
		return "0:IBV_QPF_GRH_REQUIRED\0";
	default:
		return "";
	}
}

/* clang-format on */

RDMAEZ_SEAM const char *rdmaez_impl_tell_caps_kind_str(int kind, uint64_t number)
{
	for (const char *name = rdmaez_impl_caps_names((enum rdmaez_caps_kind)kind); *name;
	     name += strlen(name) + 1) {
		unsigned int place = 0;

		for (; *name != ':'; name++)
			place = place * 10 + (unsigned int)(*name - '0');
		name++;
		if (place == number)
			return name;
	}
	return "unknown";
}

RDMAEZ_IMPL_END

#endif
