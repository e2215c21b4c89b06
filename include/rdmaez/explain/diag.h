/* SPDX-License-Identifier: MIT */
/* Writes records as text, as a line and as JSON, and has the texts of the reasons. */
#ifndef RDMAEZ_EXPLAIN_DIAG_H
#define RDMAEZ_EXPLAIN_DIAG_H

#include <stdio.h>
#include <sys/utsname.h>

#include "refusal.h"
#include "why.h"

RDMAEZ_IMPL_BEGIN

/* ---- Adding a finding ----------------------------------------------------------------------- */

/* Puts a finding behind those of its severity and before the rest. The last one may fall out. */
RDMAEZ_SEAM void rdmaez_impl_finding(struct rdmaez_diag *diag, enum rdmaez_severity severity,
				     const struct rdmaez_impl_site *site, uint64_t value,
				     uint64_t min, uint64_t max)
{
	struct rdmaez_finding *at;
	unsigned int i;

	i = diag->count;
	if (diag->count < RDMAEZ_DIAG_FINDINGS)
		diag->count++;
	else
		diag->dropped++;
	for (; i > 0 && diag->finding[i - 1].severity > severity; i--)
		if (i < RDMAEZ_DIAG_FINDINGS)
			diag->finding[i] = diag->finding[i - 1];
	if (i == RDMAEZ_DIAG_FINDINGS)
		return;
	at = &diag->finding[i];
	at->reason = site->why;
	at->severity = severity;
	at->field = site->field;
	at->kind = site->kind;
	at->value = value;
	at->min = min;
	at->max = max;
	at->format = NULL;
}

/* Adds a finding without numbers. */
RDMAEZ_SEAM void rdmaez_impl_finding_plain(struct rdmaez_diag *diag, enum rdmaez_severity severity,
					   enum rdmaez_why why, const char *field)
{
	struct rdmaez_impl_site site;

	memset(&site, 0, sizeof(site));
	site.field = field;
	site.why = why;
	rdmaez_impl_finding(diag, severity, &site, 0, 0, 0);
}

/* Returns the name of a bit that stands for a state. */
RDMAEZ_IMPL const char *rdmaez_impl_state_bit_str(int bit)
{
	int state = 0;

	while (bit >> state > 1)
		state++;
	return rdmaez_qp_state_str((enum ibv_qp_state)state);
}

/* ---- The numbers of a finding --------------------------------------------------------------- */

/* This is how a number is written. */
enum rdmaez_impl_shape {
	RDMAEZ_IMPL_SHAPE_NONE,
	RDMAEZ_IMPL_SHAPE_SIGNED,
	RDMAEZ_IMPL_SHAPE_BYTES, /* unsigned, and UINT64_MAX is no bound */
	RDMAEZ_IMPL_SHAPE_NS,
	RDMAEZ_IMPL_SHAPE_HEX, /* at least four digits */
	RDMAEZ_IMPL_SHAPE_SHORT_HEX,
	RDMAEZ_IMPL_SHAPE_ATTRS, /* from here on by name */
	RDMAEZ_IMPL_SHAPE_ACCESS,
	RDMAEZ_IMPL_SHAPE_FLAGS,
	RDMAEZ_IMPL_SHAPE_STATE,
	RDMAEZ_IMPL_SHAPE_TYPE,
	RDMAEZ_IMPL_SHAPE_OPCODE,
	RDMAEZ_IMPL_SHAPE_PORT_STATE,
	RDMAEZ_IMPL_SHAPE_ERRNO,
	RDMAEZ_IMPL_SHAPE_MTU
};

/* This is what `min` and `max` are. */
enum rdmaez_impl_bounds {
	RDMAEZ_IMPL_BOUNDS_NONE,
	RDMAEZ_IMPL_BOUNDS_RANGE,  /* of the value's shape */
	RDMAEZ_IMPL_BOUNDS_MAX,    /* the same without a least */
	RDMAEZ_IMPL_BOUNDS_STATES, /* bit n of `max` is state n */
	RDMAEZ_IMPL_BOUNDS_LOCKED  /* `min` of `max` */
};

/*
 * A row describes an enum rdmaez_value: its name, what stands before the value and before the
 * bounds, and their form.
 */
struct rdmaez_impl_kind {
	char name[11], before[15], between[17];
	uint8_t shape, bounds;
};

/* Returns what a finding's numbers are. */
RDMAEZ_IMPL const struct rdmaez_impl_kind *rdmaez_impl_kind_of(const struct rdmaez_finding *finding)
{
	/* The rows are in the order of the enum. */
	static const struct rdmaez_impl_kind kinds[] = {
		{"none", "", "", RDMAEZ_IMPL_SHAPE_NONE, RDMAEZ_IMPL_BOUNDS_NONE},
		{"number", "Given: ", "; accepted: ", RDMAEZ_IMPL_SHAPE_SIGNED,
		 RDMAEZ_IMPL_BOUNDS_RANGE},
		{"attr_mask", "Bits: ", "", RDMAEZ_IMPL_SHAPE_ATTRS, RDMAEZ_IMPL_BOUNDS_NONE},
		{"access", "Bits: ", "", RDMAEZ_IMPL_SHAPE_ACCESS, RDMAEZ_IMPL_BOUNDS_NONE},
		{"flags", "Bits: ", "", RDMAEZ_IMPL_SHAPE_FLAGS, RDMAEZ_IMPL_BOUNDS_NONE},
		{"state", "Asked for: ", "; possible: ", RDMAEZ_IMPL_SHAPE_STATE,
		 RDMAEZ_IMPL_BOUNDS_STATES},
		{"type", "Given: ", "", RDMAEZ_IMPL_SHAPE_TYPE, RDMAEZ_IMPL_BOUNDS_NONE},
		{"mtu", "Given: ", "; accepted: ", RDMAEZ_IMPL_SHAPE_MTU, RDMAEZ_IMPL_BOUNDS_RANGE},
		{"index", "Index: ", "", RDMAEZ_IMPL_SHAPE_SIGNED, RDMAEZ_IMPL_BOUNDS_NONE},
		{"pkey", "P_Key: ", "", RDMAEZ_IMPL_SHAPE_HEX, RDMAEZ_IMPL_BOUNDS_NONE},
		{"limit", "", "At most: ", RDMAEZ_IMPL_SHAPE_NONE, RDMAEZ_IMPL_BOUNDS_MAX},
		{"ns", "Each time: ", "; in all: ", RDMAEZ_IMPL_SHAPE_NS, RDMAEZ_IMPL_BOUNDS_RANGE},
		{"bytes", "Given: ", "; accepted: ", RDMAEZ_IMPL_SHAPE_BYTES,
		 RDMAEZ_IMPL_BOUNDS_RANGE},
		{"opcode", "Given: ", "", RDMAEZ_IMPL_SHAPE_OPCODE, RDMAEZ_IMPL_BOUNDS_NONE},
		{"state_now", "State: ", "; needed: ", RDMAEZ_IMPL_SHAPE_STATE,
		 RDMAEZ_IMPL_BOUNDS_STATES},
		{"position", "Position: ", "", RDMAEZ_IMPL_SHAPE_SIGNED, RDMAEZ_IMPL_BOUNDS_NONE},
		{"address", "Address: ", "", RDMAEZ_IMPL_SHAPE_HEX, RDMAEZ_IMPL_BOUNDS_NONE},
		{"counted", "Counted: ", "", RDMAEZ_IMPL_SHAPE_SIGNED, RDMAEZ_IMPL_BOUNDS_NONE},
		{"caps", "", "", RDMAEZ_IMPL_SHAPE_NONE, RDMAEZ_IMPL_BOUNDS_NONE},
		{"port_state", "State: ", "; needed: ", RDMAEZ_IMPL_SHAPE_PORT_STATE,
		 RDMAEZ_IMPL_BOUNDS_RANGE},
		{"locked", "", "", RDMAEZ_IMPL_SHAPE_BYTES, RDMAEZ_IMPL_BOUNDS_LOCKED},
		{"types", "This end: ", "; the peer: ", RDMAEZ_IMPL_SHAPE_TYPE,
		 RDMAEZ_IMPL_BOUNDS_MAX},
		{"pkeys", "This end: ", "; the peer: ", RDMAEZ_IMPL_SHAPE_HEX,
		 RDMAEZ_IMPL_BOUNDS_MAX},
		{"errno", "The peer's: ", "", RDMAEZ_IMPL_SHAPE_ERRNO, RDMAEZ_IMPL_BOUNDS_NONE},
		{"cm_event", "Status: ", "", RDMAEZ_IMPL_SHAPE_SIGNED, RDMAEZ_IMPL_BOUNDS_NONE},
		{"cm_call", "", "", RDMAEZ_IMPL_SHAPE_NONE, RDMAEZ_IMPL_BOUNDS_NONE},
		{"hex", "Given: ", "; accepted: ", RDMAEZ_IMPL_SHAPE_SHORT_HEX,
		 RDMAEZ_IMPL_BOUNDS_RANGE},
		{"gid_index", "", "", RDMAEZ_IMPL_SHAPE_SIGNED, RDMAEZ_IMPL_BOUNDS_NONE},
	};
	const size_t kind = (size_t)finding->kind;

	return &kinds[kind < sizeof(kinds) / sizeof(kinds[0]) ? kind : 0];
}

/*
 * Returns whether the greatest accepted value is a bound at all. For bytes it may be more than
 * there are.
 */
RDMAEZ_IMPL bool rdmaez_impl_has_max(const struct rdmaez_impl_kind *kind, uint64_t max)
{
	return kind->shape != RDMAEZ_IMPL_SHAPE_BYTES || max != UINT64_MAX;
}

/*
 * Returns what the bounds of a finding are. A range that ends before it begins is none, because
 * nothing is accepted.
 */
RDMAEZ_IMPL int rdmaez_impl_bounds_of(const struct rdmaez_impl_kind *kind,
				      const struct rdmaez_finding *finding)
{
	const bool empty = kind->shape == RDMAEZ_IMPL_SHAPE_BYTES
				   ? finding->min > finding->max
				   : (int64_t)finding->min > (int64_t)finding->max;

	if (kind->bounds == RDMAEZ_IMPL_BOUNDS_RANGE && empty)
		return RDMAEZ_IMPL_BOUNDS_NONE;
	return kind->bounds;
}

/* Writes a time in the unit that suits it, with a decimal if that says more: "67.1 ms". */
RDMAEZ_IMPL void rdmaez_impl_put_ns(struct rdmaez_impl_text *text, uint64_t ns)
{
	static const char *const units[] = {"us", "ms", "s"};
	uint64_t tenth = 100; /* of a microsecond */
	unsigned int unit = 0;

	if (ns == RDMAEZ_NS_FOREVER) {
		rdmaez_impl_put(text, "forever");
		return;
	}
	if (ns && ns < tenth) {
		rdmaez_impl_put(text, "%llu ns", (unsigned long long)ns);
		return;
	}
	while (unit < 2 && ns >= tenth * 10000) {
		tenth *= 1000;
		unit++;
	}
	ns = ns / tenth + (ns % tenth >= tenth / 2);
	rdmaez_impl_put(text, "%llu", (unsigned long long)(ns / 10));
	if (ns % 10)
		rdmaez_impl_put(text, ".%llu", (unsigned long long)(ns % 10));
	rdmaez_impl_put(text, " %s", units[unit]);
}

/*
 * Writes a number. The destination decides what stands between several numbers, and how a time is
 * written.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_shape(struct rdmaez_impl_text *text, int shape,
					    uint64_t number, bool prose)
{
	const long long value = (long long)number;
	const char *name = NULL;

	switch (shape) {
	case RDMAEZ_IMPL_SHAPE_ATTRS:
		rdmaez_impl_put_bits(text, number, rdmaez_qp_attr_str, "|");
		return;
	case RDMAEZ_IMPL_SHAPE_ACCESS:
		rdmaez_impl_put_bits(text, number, rdmaez_access_str, "|");
		return;
	case RDMAEZ_IMPL_SHAPE_FLAGS:
		rdmaez_impl_put_bits(text, number, NULL, "|");
		return;
	case RDMAEZ_IMPL_SHAPE_HEX:
		rdmaez_impl_put(text, "0x%04llx", (unsigned long long)number);
		return;
	case RDMAEZ_IMPL_SHAPE_SHORT_HEX:
		rdmaez_impl_put(text, "0x%llx", (unsigned long long)number);
		return;
	case RDMAEZ_IMPL_SHAPE_STATE:
		rdmaez_impl_put(text, "%s", rdmaez_qp_state_str((enum ibv_qp_state)number));
		return;
	case RDMAEZ_IMPL_SHAPE_TYPE:
		name = rdmaez_qp_type_str((enum ibv_qp_type)number);
		break;
	case RDMAEZ_IMPL_SHAPE_ERRNO:
		name = rdmaez_errno_str((int)number);
		break;
	case RDMAEZ_IMPL_SHAPE_OPCODE:
		name = rdmaez_wr_opcode_str((enum ibv_wr_opcode)number);
		break;
	case RDMAEZ_IMPL_SHAPE_PORT_STATE:
		name = rdmaez_impl_str_nth("NOP\0DOWN\0INIT\0ARMED\0ACTIVE\0ACTIVE_DEFER\0",
					   (unsigned int)number);
		break;
	case RDMAEZ_IMPL_SHAPE_NS:
		if (prose) {
			rdmaez_impl_put_ns(text, number);
			return;
		}
		break;
	default:
		break;
	}
	if (name && prose)
		rdmaez_impl_put(text, "%s (%lld)", name, value);
	else if (name)
		rdmaez_impl_put(text, "%s", name);
	else if (shape == RDMAEZ_IMPL_SHAPE_BYTES || shape == RDMAEZ_IMPL_SHAPE_NS)
		rdmaez_impl_put(text, "%llu", (unsigned long long)number);
	else
		rdmaez_impl_put(text, "%lld", value);
}

/*
 * Writes the numbers of a finding by its own function. This keeps the tables that the function
 * needs out of other programs.
 */
RDMAEZ_IMPL void rdmaez_impl_put_own(struct rdmaez_impl_text *text,
				     const struct rdmaez_finding *finding,
				     enum rdmaez_finding_form form)
{
	const bool room = text->length < text->size;
	const int more = finding->format(finding, form, room ? text->buf + text->length : NULL,
					 room ? text->size - text->length : 0);

	if (more > 0)
		text->length += (size_t)more;
}

/* Writes one of the two bounds in a sentence. An MTU is written with its name. */
RDMAEZ_IMPL void rdmaez_impl_put_bound(struct rdmaez_impl_text *text, int shape, uint64_t bound)
{
	rdmaez_impl_put_shape(text, shape, bound, true);
	if (shape == RDMAEZ_IMPL_SHAPE_MTU)
		rdmaez_impl_put(text, " (IBV_MTU_%s)", rdmaez_mtu_str((enum ibv_mtu)bound));
}

/* Writes what was given and what is accepted as a sentence, or nothing if there is nothing. */
RDMAEZ_IMPL void rdmaez_impl_put_values(struct rdmaez_impl_text *text,
					const struct rdmaez_finding *finding)
{
	const struct rdmaez_impl_kind *kind = rdmaez_impl_kind_of(finding);
	const int bounds = rdmaez_impl_bounds_of(kind, finding);

	if (finding->format) {
		rdmaez_impl_put_own(text, finding, RDMAEZ_FINDING_TEXT);
		return;
	}
	if (bounds == RDMAEZ_IMPL_BOUNDS_LOCKED) {
		if (finding->value)
			rdmaez_impl_put(text, " Given: %llu bytes.",
					(unsigned long long)finding->value);
		rdmaez_impl_put(text, " Locked already: %llu of %llu.",
				(unsigned long long)finding->min, (unsigned long long)finding->max);
		return;
	}
	if (!kind->shape && !bounds)
		return;
	rdmaez_impl_put(text, " %s", kind->before);
	if (kind->shape)
		rdmaez_impl_put_shape(text, kind->shape, finding->value, true);
	if (kind->shape == RDMAEZ_IMPL_SHAPE_BYTES)
		rdmaez_impl_put(text, " bytes");
	if (bounds && rdmaez_impl_has_max(kind, finding->max)) {
		rdmaez_impl_put(text, "%s", kind->between);
		if (bounds == RDMAEZ_IMPL_BOUNDS_STATES)
			rdmaez_impl_put_bits(text, finding->max, rdmaez_impl_state_bit_str, ", ");
		else if (bounds == RDMAEZ_IMPL_BOUNDS_RANGE && finding->min != finding->max) {
			rdmaez_impl_put_bound(text, kind->shape, finding->min);
			rdmaez_impl_put(text, " to ");
		}
		if (bounds != RDMAEZ_IMPL_BOUNDS_STATES)
			rdmaez_impl_put_bound(text, kind->shape, finding->max);
	}
	rdmaez_impl_put(text, ".");
}

/*
 * Writes where an attribute belongs that a transition does not take: the first transition that
 * requires or takes it.
 */
RDMAEZ_IMPL void rdmaez_impl_put_home(struct rdmaez_impl_text *text, enum ibv_qp_type type, int bit)
{
	for (int want = 0; want < 2; want++)
		for (int i = 0; i < 49; i++) {
			const enum ibv_qp_state from = (enum ibv_qp_state)(i / 7);
			const enum ibv_qp_state to = (enum ibv_qp_state)(i % 7);
			const struct rdmaez_qp_rule rule = rdmaez_impl_qp_rule(type, from, to);

			if (!((want ? rule.optional : rule.required) & bit))
				continue;
			rdmaez_impl_put(text, " %s belongs to %s to %s.", rdmaez_qp_attr_str(bit),
					rdmaez_qp_state_str(from), rdmaez_qp_state_str(to));
			return;
		}
	rdmaez_impl_put(text, " No transition of %s takes %s.", rdmaez_qp_type_str(type),
			rdmaez_qp_attr_str(bit));
}

/* ---- Text ----------------------------------------------------------------------------------- */

/* Writes a status by its name, or by its number after `unnamed`. */
RDMAEZ_IMPL void rdmaez_impl_put_status(struct rdmaez_impl_text *text,
					const struct rdmaez_diag *diag, const char *unnamed)
{
	if (strcmp(diag->status, "unknown") == 0)
		rdmaez_impl_put(text, "%s%d", unnamed, diag->status_code);
	else
		rdmaez_impl_put(text, "%s", diag->status);
}

/*
 * Decodes the character that begins here in UTF-8. Returns its number of bytes, or 0 if these bytes
 * are not UTF-8 (RFC 3629).
 */
RDMAEZ_IMPL size_t rdmaez_impl_utf8(const unsigned char *bytes, size_t most, uint32_t *character)
{
	const size_t size = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
	uint32_t value = bytes[0] & (0xffu >> (size + 1));

	if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || most < size)
		return 0;
	for (size_t i = 1; i < size; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	/* The bytes are longer than they need to be, half of a pair, or beyond Unicode. */
	if ((size == 3 && value < 0x800) || (size == 4 && value < 0x10000) || value > 0x10ffff ||
	    (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*character = value;
	return size;
}

/*
 * Whether nobody sees this character, although it ends a line, changes the order in which others are
 * shown, or makes two names look alike: the format characters and separators of Unicode.
 */
RDMAEZ_IMPL bool rdmaez_impl_is_hidden(uint32_t character)
{
	static const uint32_t ranges[][2] = {{0x80, 0x9f},      {0xad, 0xad},     {0x61c, 0x61c},
					     {0x180e, 0x180e},  {0x200b, 0x200f}, {0x2028, 0x202e},
					     {0x2060, 0x206f},  {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
					     {0xe0000, 0xe0fff}};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (character >= ranges[i][0] && character <= ranges[i][1])
			return true;
	return false;
}

/*
 * Writes a name of at most so many bytes, by snprintf()'s rule, in a form that is safe on a
 * terminal. '?' stands for bytes that are not UTF-8, such as half a character where a name was cut,
 * for control characters, and for hidden ones. Those of C1 contain a CSI and an OSC as well. The
 * tools call it, too.
 */
RDMAEZ_SEAM int rdmaez_impl_plain(const char *string, size_t most, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const unsigned char *const bytes = (const unsigned char *)string;
	size_t end = 0;

	while (end < most && bytes[end])
		end++;
	for (size_t i = 0; i < end;) {
		uint32_t character = bytes[i];
		const size_t length = rdmaez_impl_utf8(bytes + i, end - i, &character);
		const bool is_plain = length ? !rdmaez_impl_is_hidden(character)
					     : character >= 0x20 && character < 0x7f;

		/* At the end of the room, too, only whole characters are written. */
		if (is_plain)
			rdmaez_impl_put(&text, "%.*s", length ? (int)length : 1, string + i);
		else
			rdmaez_impl_put(&text, "?");
		i += length ? length : 1;
	}
	return (int)text.length;
}

/* Does the same at the end of a text, after a lead. In a pair, " device=", a blank would end the name. */
RDMAEZ_IMPL void rdmaez_impl_put_name(struct rdmaez_impl_text *text, const char *lead,
				      const char *name)
{
	const bool is_pair = strchr(lead, '=') != NULL;
	char plain[2 * IBV_SYSFS_NAME_MAX];

	rdmaez_impl_plain(name, IBV_SYSFS_NAME_MAX, plain, sizeof(plain));
	for (char *at = plain; *at; at++)
		if (is_pair && *at == ' ')
			*at = '?';
	rdmaez_impl_put(text, "%s%s", lead, plain);
}

/* Writes both ends by their GIDs, and for the source its interface and why it was chosen. */
RDMAEZ_IMPL void rdmaez_impl_put_ends(struct rdmaez_impl_text *text, const struct rdmaez_diag *diag)
{
	const bool is_read = !rdmaez_gid_is_zero(&diag->source.gid);
	const bool has_peer = !rdmaez_gid_is_zero(&diag->destination);
	char gid[RDMAEZ_GID_TEXT];

	if (is_read || has_peer)
		rdmaez_impl_put(text, ", from GID index %u", diag->source.gid_index);
	if (is_read) {
		rdmaez_gid_format(&diag->source.gid, gid, sizeof(gid));
		rdmaez_impl_put(text, " (%s, %s", gid, rdmaez_gid_type_str(diag->source.gid_type));
		if (diag->netdev[0])
			rdmaez_impl_put_name(text, ", interface ", diag->netdev);
		else if (diag->source.ndev_ifindex)
			rdmaez_impl_put(text, ", interface %u", diag->source.ndev_ifindex);
		rdmaez_impl_put(text, ")");
	}
	if (has_peer) {
		rdmaez_gid_format(&diag->destination, gid, sizeof(gid));
		rdmaez_impl_put(text, " to %s", gid);
	}
	if (diag->chosen != RDMAEZ_WHY_NONE)
		rdmaez_impl_put(text, ", chosen because %s", rdmaez_why_str(diag->chosen));
}

/* Writes the first line: what failed, and where. */
RDMAEZ_IMPL void rdmaez_impl_put_headline(struct rdmaez_impl_text *text,
					  const struct rdmaez_diag *diag)
{
	rdmaez_impl_put(text, "%s", diag->call);
	if (diag->verb)
		rdmaez_impl_put(text, ": %s", diag->verb);
	if (diag->error)
		rdmaez_impl_put(text, " failed with %s (%d)", rdmaez_errno_str(diag->error),
				diag->error);
	else if (!diag->status && !diag->event &&
		 (!diag->count || diag->finding[0].severity != RDMAEZ_DIAG_ERROR))
		rdmaez_impl_put(text, ": no error");
	if (diag->status) {
		rdmaez_impl_put(text, "%s ", diag->error ? " for" : ":");
		rdmaez_impl_put_status(text, diag, "unknown status ");
		rdmaez_impl_put(text, ", wr_id 0x%llx, vendor_err 0x%x",
				(unsigned long long)diag->wr_id, diag->vendor_err);
	}
	if (diag->event)
		rdmaez_impl_put(text, "%s %s", diag->error ? " for" : ":", diag->event);
	if (diag->device[0])
		rdmaez_impl_put_name(text, " on ", diag->device);
	if (diag->driver)
		rdmaez_impl_put(text, " (driver %s)", diag->driver);
	if (diag->qp_num)
		rdmaez_impl_put(text, ", QP %u", diag->qp_num);
	if (diag->qp_type)
		rdmaez_impl_put(text, ", %s", rdmaez_qp_type_str((enum ibv_qp_type)diag->qp_type));
	if (diag->from >= 0 || diag->to >= 0)
		rdmaez_impl_put(text, diag->to >= 0 ? ", %s" : ", in %s",
				rdmaez_qp_state_str((enum ibv_qp_state)diag->from));
	if (diag->to >= 0)
		rdmaez_impl_put(text, " to %s", rdmaez_qp_state_str((enum ibv_qp_state)diag->to));
	rdmaez_impl_put_ends(text, diag);
	rdmaez_impl_put(text, ".");
}

/* C compilers need not take a literal as long as these, but those in use do. */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/*
 * Returns one of a row of texts. Each has a zero byte behind it, and an empty text ends the row.
 * One literal, and a walk after a failure, cost less to compile and in the object than an array of
 * pointers.
 */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_why_walk(const char *text, unsigned int behind)
{
	for (; behind && *text; behind--)
		text += strlen(text) + 1;
	return text;
}

RDMAEZ_SEAM const char *rdmaez_impl_tell_why_id(enum rdmaez_why why)
{
#define RDMAEZ_IMPL_WHY_ID(id, what, fix) #id "\0"
	const char *const id =
		rdmaez_impl_why_walk(RDMAEZ_WHY_LIST(RDMAEZ_IMPL_WHY_ID), (unsigned int)why);
#undef RDMAEZ_IMPL_WHY_ID

	return *id ? id : "?";
}

RDMAEZ_SEAM const char *rdmaez_impl_tell_why_str(enum rdmaez_why why)
{
#define RDMAEZ_IMPL_WHY_TEXTS(id, what, fix) what "\0" fix "\0"
	const char *const first = RDMAEZ_WHY_LIST(RDMAEZ_IMPL_WHY_TEXTS);
#undef RDMAEZ_IMPL_WHY_TEXTS
	/* It walks twice instead of twice as far, because that number could be too great. */
	const char *const text = rdmaez_impl_why_walk(
		rdmaez_impl_why_walk(first, (unsigned int)why), (unsigned int)why);

	return *text ? text : "unknown reason\0";
}

/* Returns what to do, from what rdmaez_why_str() returns. */
RDMAEZ_IMPL const char *rdmaez_impl_why_next(const char *what)
{
	return what + strlen(what) + 1;
}

RDMAEZ_SEAM const char *rdmaez_impl_tell_why_fix(enum rdmaez_why why)
{
	return rdmaez_impl_why_next(rdmaez_why_str(why));
}

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

/*
 * Returns what is wrong, by the reason. For librdmacm's calls and events it returns their own
 * words, if the program has them.
 */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_finding_what(const struct rdmaez_diag *diag,
						      const struct rdmaez_finding *finding)
{
	const bool is_cm =
		finding->kind == RDMAEZ_VALUE_CM_EVENT || finding->kind == RDMAEZ_VALUE_CM_CALL;
	const char *const words =
		is_cm && rdmaez_impl_cm_words ? rdmaez_impl_cm_words(diag, finding) : NULL;

	return words ? words : rdmaez_why_str(finding->reason);
}

/*
 * Reads the GID that a finding suggests. Returns false if it suggests none, or if the record holds
 * that of another finding.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_suggested(const struct rdmaez_diag *diag,
					    const struct rdmaez_finding *finding,
					    char gid[RDMAEZ_GID_TEXT])
{
	if (finding->kind != RDMAEZ_VALUE_GID_INDEX || rdmaez_gid_is_zero(&diag->suggested.gid) ||
	    diag->suggested.gid_index != finding->value)
		return false;
	rdmaez_gid_format(&diag->suggested.gid, gid, RDMAEZ_GID_TEXT);
	return true;
}

/* Writes a suggestion of another GID index, which is the next step itself. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_suggestion(struct rdmaez_impl_text *text,
						  const struct rdmaez_diag *diag,
						  const struct rdmaez_finding *finding)
{
	char gid[RDMAEZ_GID_TEXT];

	rdmaez_impl_put(text, "Suggestion, %s: use GID index %llu", finding->field,
			(unsigned long long)finding->value);
	if (rdmaez_impl_suggested(diag, finding, gid))
		rdmaez_impl_put(text, " (%s)", gid);
	rdmaez_impl_put(text, "; %s.", rdmaez_why_str(finding->reason));
}

/* Writes a finding as a paragraph that is not wrapped. */
RDMAEZ_IMPL void rdmaez_impl_put_finding(struct rdmaez_impl_text *text,
					 const struct rdmaez_diag *diag,
					 const struct rdmaez_finding *finding)
{
	const char *const what = rdmaez_impl_finding_what(diag, finding);

	if (finding->kind == RDMAEZ_VALUE_GID_INDEX) {
		rdmaez_impl_put_suggestion(text, diag, finding);
		return;
	}
	if (finding->severity != RDMAEZ_DIAG_ERROR)
		rdmaez_impl_put(text,
				finding->severity == RDMAEZ_DIAG_LIKELY ? "Likely, " : "Advice, ");
	rdmaez_impl_put(text, "%s: %s.", finding->field, what);
	rdmaez_impl_put_values(text, finding);
	for (int bit = 1;
	     finding->reason == RDMAEZ_WHY_MASK_NOT_ALLOWED && bit <= RDMAEZ_IMPL_QP_BITS;
	     bit <<= 1)
		if (finding->value & (uint64_t)(bit & RDMAEZ_IMPL_QP_BITS))
			rdmaez_impl_put_home(text, (enum ibv_qp_type)diag->qp_type, bit);
	rdmaez_impl_put(text, " Next: %s.", rdmaez_impl_why_next(what));
}

/*
 * Copies words into the text, in lines of at most 100 columns. It breaks at spaces and behind '|'.
 */
RDMAEZ_IMPL void rdmaez_impl_put_wrapped(struct rdmaez_impl_text *text, const char *first,
					 const char *rest, const char *words)
{
	size_t column = strlen(first);

	rdmaez_impl_put(text, "%s", first);
	while (*words) {
		const size_t word = strcspn(words, " |");
		const size_t length = word + (words[word] == '|');

		if (column + length > 100) {
			rdmaez_impl_put(text, "\n%s", rest);
			column = strlen(rest);
		}
		rdmaez_impl_put(text, "%.*s", (int)length, words);
		column += length;
		words += length;
		if (*words == ' ') {
			const size_t next = strcspn(++words, " |");

			/* A space is worth writing only if a word fits behind it, with its '|'. */
			if (*words && column + 1 + next + (words[next] == '|') <= 100) {
				rdmaez_impl_put(text, " ");
				column++;
			} else {
				column = 101;
			}
		}
	}
	rdmaez_impl_put(text, "\n");
}

/*
 * Writes a JSON string of at most so many bytes, with its quotes and by snprintf()'s rule. It is in
 * ASCII alone, so that it can be cut, logged and mailed. It decodes UTF-8, and takes a byte that is
 * not UTF-8 as a character of Latin-1. The tools call it, too.
 */
RDMAEZ_SEAM int rdmaez_impl_json_string(const char *string, size_t most, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const unsigned char *const bytes = (const unsigned char *)string;
	size_t end = 0;

	while (end < most && bytes[end])
		end++;
	rdmaez_impl_put(&text, "\"");
	for (size_t i = 0; i < end;) {
		uint32_t character = bytes[i];
		const size_t length = rdmaez_impl_utf8(bytes + i, end - i, &character);

		if (character == '"' || character == '\\')
			rdmaez_impl_put(&text, "\\%c", (int)character);
		else if (character >= 0x20 && character < 0x7f)
			rdmaez_impl_put(&text, "%c", (int)character);
		else if (character < 0x10000)
			rdmaez_impl_put(&text, "\\u%04x", (unsigned int)character);
		else
			rdmaez_impl_put(&text, "\\u%04x\\u%04x",
					(unsigned int)(0xd7c0 + (character >> 10)),
					(unsigned int)(0xdc00 | (character & 0x3ff)));
		i += length ? length : 1;
	}
	rdmaez_impl_put(&text, "\"");
	return (int)text.length;
}

/* Does the same at the end of a text. */
RDMAEZ_IMPL void rdmaez_impl_put_json_chars(struct rdmaez_impl_text *text, const char *string,
					    size_t most)
{
	const bool room = text->length < text->size;

	text->length += (size_t)rdmaez_impl_json_string(string, most,
							room ? text->buf + text->length : NULL,
							room ? text->size - text->length : 0);
}

/* Writes a JSON string. */
RDMAEZ_IMPL void rdmaez_impl_put_json_string(struct rdmaez_impl_text *text, const char *string)
{
	rdmaez_impl_put_json_chars(text, string, SIZE_MAX);
}

/* Writes `,"key":"value"`. The comma is left out at the start of an object. */
RDMAEZ_IMPL void rdmaez_impl_put_json_pair(struct rdmaez_impl_text *text, const char *comma,
					   const char *key, const char *value)
{
	rdmaez_impl_put(text, "%s\"%s\":", comma, key);
	rdmaez_impl_put_json_string(text, value);
}

/*
 * Returns whether a finding leads to the driver, the firmware or the library, of which one may be
 * too old for another.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_wants_versions(const struct rdmaez_diag *diag)
{
	static const uint16_t reasons[] = {
		RDMAEZ_WHY_REFUSED,        RDMAEZ_WHY_UNEXPLAINED,   RDMAEZ_WHY_NOT_SUPPORTED,
		RDMAEZ_WHY_PROVIDER_FAULT, RDMAEZ_WHY_BNXT_COMMANDS, RDMAEZ_WHY_DEVICE_GONE,
		RDMAEZ_WHY_TIMED_OUT,      RDMAEZ_WHY_MR_NO_DMABUF,  RDMAEZ_WHY_MR_DMABUF_EXPORTER};
	bool is_one = false;

	for (size_t i = 0; diag->error && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		is_one |= rdmaez_diag_find(diag, (enum rdmaez_why)reasons[i]) != NULL;
	return is_one;
}

/* Writes the version that a file of the record's device holds, if it can be read. */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_device_version(struct rdmaez_impl_text *text,
						     const struct rdmaez_diag *diag,
						     const char *file, const char *key, bool json)
{
	char path[160], version[64];

	/* A name with a slash would lead out of the folder. No device has one. */
	if (!diag->device[0] || diag->device[0] == '.' ||
	    memchr(diag->device, '/', sizeof(diag->device)))
		return;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%.63s/%s", diag->device, file);
	rdmaez_impl_file_text(path, version, sizeof(version));
	version[strcspn(version, "\n")] = '\0';
	if (!version[0])
		return;
	if (json) {
		rdmaez_impl_put_json_pair(text, ",", key, version);
		return;
	}
	rdmaez_impl_put(text, ", %s", key);
	rdmaez_impl_put_name(text, " ", version);
}

#define RDMAEZ_IMPL_PROVIDER_ROW(name, vendor, first, last, first_2, last_2, traits, reports, \
				 compares, checks, fills, habits, causes, module, provider,   \
				 parents, announced, functions)                               \
	{name, "/lib" provider},

/*
 * Finds the name of a driver's provider, one of the files that the process has mapped:
 * lib<provider>-rdmav<N>.so, or lib<provider>.so.<version> if programs can link with it. libibverbs
 * may have loaded others, too. The name is "" if there is none.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_provider_file(const char *driver, char *name, size_t size)
{
	static const struct {
		const char *driver, *file;
	} rows[] = {RDMAEZ_IMPL_DRIVERS(RDMAEZ_IMPL_PROVIDER_ROW)};
	const char *file = NULL, *line, *at = NULL;
	struct rdmaez_impl_lines lines;

	name[0] = '\0';
	for (size_t i = 0; driver && !file && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].driver, driver) == 0)
			file = rows[i].file;
	if (!file)
		return;
	rdmaez_impl_lines_open(&lines, "/proc/self/maps");
	while (!at && (line = rdmaez_impl_line(&lines))) {
		at = strstr(line, file);
		if (at && strncmp(at + strlen(file), "-rdmav", 6) != 0 &&
		    strncmp(at + strlen(file), ".so", 3) != 0)
			at = NULL;
	}
	if (at)
		snprintf(name, size, "%s", at + 1);
	rdmaez_impl_lines_close(&lines);
}

/*
 * Writes the versions of the kernel, the driver, the firmware and the library, as they are now. A
 * driver of the kernel's own has no version, and what cannot be read is left out.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_put_versions(struct rdmaez_impl_text *text,
					       const struct rdmaez_diag *diag, bool json)
{
	const unsigned int release = rdmaez_impl_library_release();
	struct utsname system;
	char provider[64];

	rdmaez_impl_provider_file(diag->driver, provider, sizeof(provider));
	if (uname(&system))
		return;
	if (json)
		rdmaez_impl_put_json_pair(text, ",\"versions\":{", "kernel", system.release);
	else
		rdmaez_impl_put(text, "Versions: %s %s", system.sysname, system.release);
	rdmaez_impl_put_device_version(text, diag, "device/driver/module/version", "driver", json);
	rdmaez_impl_put_device_version(text, diag, "fw_ver", "firmware", json);
	if (release)
		rdmaez_impl_put(text, json ? ",\"rdma_core\":%u" : ", rdma-core %u", release);
	if (provider[0] && json)
		rdmaez_impl_put_json_pair(text, ",", "provider", provider);
	else if (provider[0])
		rdmaez_impl_put_name(text, ", ", provider);
	rdmaez_impl_put(text, json ? "}" : ".");
}

/*
 * Writes paragraph `at` of a record: the headline, a finding, what was dropped, or the versions.
 * Returns false if there is none.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_put_paragraph(struct rdmaez_impl_text *text,
						const struct rdmaez_diag *diag, unsigned int at)
{
	char words[2048];
	struct rdmaez_impl_text line = rdmaez_impl_text_in(words, sizeof(words));
	unsigned int dropped, last;

	if (!diag || !diag->call)
		return false;
	dropped = diag->count + (diag->dropped != 0);
	last = dropped + rdmaez_impl_wants_versions(diag);
	if (at > last)
		return false;
	if (!at)
		rdmaez_impl_put_headline(&line, diag);
	else if (at <= diag->count)
		rdmaez_impl_put_finding(&line, diag, &diag->finding[at - 1]);
	else if (at <= dropped)
		rdmaez_impl_put(&line, "And %u more.", diag->dropped);
	else
		rdmaez_impl_put_versions(&line, diag, false);
	rdmaez_impl_put_wrapped(text, at ? "  " : "", "    ", words);
	return true;
}

RDMAEZ_SEAM int rdmaez_impl_tell_diag_format(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	for (unsigned int at = 0; rdmaez_impl_put_paragraph(&text, diag, at);)
		at++;
	return (int)text.length;
}

RDMAEZ_SEAM int rdmaez_impl_tell_diag_print(const struct rdmaez_diag *diag, FILE *stream)
{
	char paragraph[4096];
	struct rdmaez_impl_text text;

	if (!stream)
		return EINVAL;
	for (unsigned int at = 0;; at++) {
		text = rdmaez_impl_text_in(paragraph, sizeof(paragraph));
		if (!rdmaez_impl_put_paragraph(&text, diag, at))
			return 0;
		errno = 0;
		if (fputs(paragraph, stream) < 0)
			return errno > 0 ? errno : EIO;
	}
}

/* ---- Both ends, for a line and for JSON ----------------------------------------------------- */

RDMAEZ_IMPL void rdmaez_impl_put_pair(struct rdmaez_impl_text *text, bool json, const char *key,
				      const char *value)
{
	if (json)
		rdmaez_impl_put_json_pair(text, ",", key, value);
	else
		rdmaez_impl_put(text, " %s=%s", key, value);
}

/* Writes the GIDs of both ends, and why that of the source was chosen, as far as they are known. */
RDMAEZ_IMPL void rdmaez_impl_put_pairs(struct rdmaez_impl_text *text,
				       const struct rdmaez_diag *diag, bool json)
{
	const bool is_read = !rdmaez_gid_is_zero(&diag->source.gid);
	const bool has_peer = !rdmaez_gid_is_zero(&diag->destination);
	char gid[RDMAEZ_GID_TEXT];

	if (is_read) {
		rdmaez_gid_format(&diag->source.gid, gid, sizeof(gid));
		rdmaez_impl_put_pair(text, json, "sgid", gid);
	}
	if (is_read || has_peer)
		rdmaez_impl_put(text, json ? ",\"sgid_index\":%u" : " sgid_index=%u",
				diag->source.gid_index);
	if (has_peer) {
		rdmaez_gid_format(&diag->destination, gid, sizeof(gid));
		rdmaez_impl_put_pair(text, json, "dgid", gid);
	}
	if (diag->netdev[0] && json)
		rdmaez_impl_put_json_pair(text, ",", "netdev", diag->netdev);
	else if (diag->netdev[0])
		rdmaez_impl_put_name(text, " netdev=", diag->netdev);
	if (diag->chosen != RDMAEZ_WHY_NONE)
		rdmaez_impl_put_pair(text, json, "chosen", rdmaez_why_id(diag->chosen));
}

/* ---- A line --------------------------------------------------------------------------------- */

/* Returns "error", "likely" or "advice". */
RDMAEZ_IMPL const char *rdmaez_impl_severity_str(enum rdmaez_severity severity)
{
	return severity == RDMAEZ_DIAG_ERROR    ? "error"
	       : severity == RDMAEZ_DIAG_LIKELY ? "likely"
						: "advice";
}

/* Writes an errno value by its name, or by its number if it has none. */
RDMAEZ_IMPL void rdmaez_impl_put_errno(struct rdmaez_impl_text *text, int error)
{
	const char *const name = rdmaez_errno_str(error);

	if (strcmp(name, "unknown") == 0)
		rdmaez_impl_put(text, "%d", error);
	else
		rdmaez_impl_put(text, "%s", name);
}

/* Writes severity:reason:field:kind, then the value and the bounds if there are any. */
RDMAEZ_IMPL void rdmaez_impl_put_line_finding(struct rdmaez_impl_text *text,
					      const struct rdmaez_finding *finding)
{
	const struct rdmaez_impl_kind *kind = rdmaez_impl_kind_of(finding);
	const int bounds = rdmaez_impl_bounds_of(kind, finding);

	rdmaez_impl_put(text, " finding=%s:%s:%s:%s", rdmaez_impl_severity_str(finding->severity),
			rdmaez_why_id(finding->reason), finding->field, kind->name);
	if (finding->format) {
		rdmaez_impl_put(text, ":0x%llx", (unsigned long long)finding->value);
		if (finding->reason == RDMAEZ_WHY_NEED_UNMET)
			rdmaez_impl_put(text, ":0x%llx", (unsigned long long)finding->max);
		return;
	}
	if (kind->shape || bounds)
		rdmaez_impl_put(text, ":");
	if (kind->shape)
		rdmaez_impl_put_shape(text, kind->shape, finding->value, false);
	if (!bounds)
		return;
	rdmaez_impl_put(text, ":");
	if (bounds == RDMAEZ_IMPL_BOUNDS_STATES) {
		rdmaez_impl_put_bits(text, finding->max, rdmaez_impl_state_bit_str, "|");
		return;
	}
	if (bounds == RDMAEZ_IMPL_BOUNDS_RANGE || bounds == RDMAEZ_IMPL_BOUNDS_LOCKED)
		rdmaez_impl_put_shape(text, kind->shape, finding->min, false);
	rdmaez_impl_put(text, "..");
	if (rdmaez_impl_has_max(kind, finding->max))
		rdmaez_impl_put_shape(text, kind->shape, finding->max, false);
}

RDMAEZ_SEAM int rdmaez_impl_tell_diag_line(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	if (!diag || !diag->call)
		return 0;
	rdmaez_impl_put(&text, "call=%s", diag->call);
	if (diag->verb)
		rdmaez_impl_put(&text, " verb=%s", diag->verb);
	rdmaez_impl_put(&text, " error=");
	rdmaez_impl_put_errno(&text, diag->error);
	if (diag->device[0])
		rdmaez_impl_put_name(&text, " device=", diag->device);
	if (diag->driver)
		rdmaez_impl_put(&text, " driver=%s", diag->driver);
	if (diag->qp_num)
		rdmaez_impl_put(&text, " qp=%u", diag->qp_num);
	if (diag->qp_type)
		rdmaez_impl_put(&text, " type=%s",
				rdmaez_qp_type_str((enum ibv_qp_type)diag->qp_type));
	if (diag->from >= 0 || diag->to >= 0)
		rdmaez_impl_put(&text, diag->to >= 0 ? " from=%s" : " state=%s",
				rdmaez_qp_state_str((enum ibv_qp_state)diag->from));
	if (diag->to >= 0)
		rdmaez_impl_put(&text, " to=%s", rdmaez_qp_state_str((enum ibv_qp_state)diag->to));
	if (diag->status) {
		rdmaez_impl_put(&text, " status=");
		rdmaez_impl_put_status(&text, diag, "");
		rdmaez_impl_put(&text, " wr_id=0x%llx vendor_err=0x%x",
				(unsigned long long)diag->wr_id, diag->vendor_err);
	}
	if (diag->event)
		rdmaez_impl_put(&text, " event=%s", diag->event);
	rdmaez_impl_put_pairs(&text, diag, false);
	for (unsigned int i = 0; i < diag->count; i++)
		rdmaez_impl_put_line_finding(&text, &diag->finding[i]);
	if (diag->dropped)
		rdmaez_impl_put(&text, " dropped=%u", diag->dropped);
	return (int)text.length;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Writes `,"key":"name"` if there is a state to name. */
RDMAEZ_IMPL void rdmaez_impl_put_json_state(struct rdmaez_impl_text *text, const char *key,
					    int state)
{
	rdmaez_impl_put_json_pair(text, ",", key, rdmaez_qp_state_str((enum ibv_qp_state)state));
}

/*
 * Writes `,"key":["name","name"]` for the bits that are set. A bit without a name is a hex number
 * in quotes.
 */
RDMAEZ_IMPL void rdmaez_impl_put_json_bits(struct rdmaez_impl_text *text, const char *key,
					   uint64_t bits, const char *(*name)(int))
{
	rdmaez_impl_put(text, ",\"%s\":[", key);
	if (bits) {
		rdmaez_impl_put(text, "\"");
		rdmaez_impl_put_bits(text, bits, name, "\",\"");
		rdmaez_impl_put(text, "\"");
	}
	rdmaez_impl_put(text, "]");
}

/* Writes `,"key":number`, signed if the kind is. */
RDMAEZ_IMPL void rdmaez_impl_put_json_number(struct rdmaez_impl_text *text, const char *key,
					     int shape, uint64_t number)
{
	if (shape == RDMAEZ_IMPL_SHAPE_SIGNED || shape == RDMAEZ_IMPL_SHAPE_MTU)
		rdmaez_impl_put(text, ",\"%s\":%lld", key, (long long)number);
	else
		rdmaez_impl_put(text, ",\"%s\":%llu", key, (unsigned long long)number);
}

/*
 * Writes the kind and the numbers of a finding: names if the kind has them, and bounds if they are
 * bounds.
 */
RDMAEZ_IMPL void rdmaez_impl_put_json_values(struct rdmaez_impl_text *text,
					     const struct rdmaez_finding *finding)
{
	const struct rdmaez_impl_kind *kind = rdmaez_impl_kind_of(finding);
	const int bounds = rdmaez_impl_bounds_of(kind, finding);
	const uint64_t value = finding->value;

	rdmaez_impl_put_json_pair(text, ",", "kind", kind->name);
	if (finding->format) {
		rdmaez_impl_put_own(text, finding, RDMAEZ_FINDING_JSON);
		return;
	}
	if (kind->shape)
		rdmaez_impl_put_json_number(text, "value", kind->shape, value);
	if (kind->shape == RDMAEZ_IMPL_SHAPE_ATTRS)
		rdmaez_impl_put_json_bits(text, "names", value, rdmaez_qp_attr_str);
	else if (kind->shape == RDMAEZ_IMPL_SHAPE_ACCESS)
		rdmaez_impl_put_json_bits(text, "names", value, rdmaez_access_str);
	else if (kind->shape >= RDMAEZ_IMPL_SHAPE_STATE && kind->shape < RDMAEZ_IMPL_SHAPE_MTU) {
		rdmaez_impl_put(text, ",\"name\":\"");
		rdmaez_impl_put_shape(text, kind->shape, value, false);
		rdmaez_impl_put(text, "\"");
	}
	if (bounds == RDMAEZ_IMPL_BOUNDS_STATES)
		rdmaez_impl_put_json_bits(text, "accepted", finding->max,
					  rdmaez_impl_state_bit_str);
	if (bounds == RDMAEZ_IMPL_BOUNDS_RANGE || bounds == RDMAEZ_IMPL_BOUNDS_LOCKED)
		rdmaez_impl_put_json_number(text, "min", kind->shape, finding->min);
	if (bounds && bounds != RDMAEZ_IMPL_BOUNDS_STATES &&
	    rdmaez_impl_has_max(kind, finding->max))
		rdmaez_impl_put_json_number(text, "max", kind->shape, finding->max);
}

/* Writes what the record is about. */
RDMAEZ_IMPL void rdmaez_impl_put_json_head(struct rdmaez_impl_text *text,
					   const struct rdmaez_diag *diag)
{
	rdmaez_impl_put_json_pair(text, "", "call", diag->call);
	if (diag->verb)
		rdmaez_impl_put_json_pair(text, ",", "verb", diag->verb);
	rdmaez_impl_put(text, ",\"error\":%d", diag->error);
	rdmaez_impl_put_json_pair(text, ",", "errno", rdmaez_errno_str(diag->error));
	if (diag->device[0])
		rdmaez_impl_put_json_pair(text, ",", "device", diag->device);
	if (diag->driver)
		rdmaez_impl_put_json_pair(text, ",", "driver", diag->driver);
	if (diag->qp_num)
		rdmaez_impl_put(text, ",\"qp_num\":%u", diag->qp_num);
	if (diag->qp_type)
		rdmaez_impl_put_json_pair(text, ",", "qp_type",
					  rdmaez_qp_type_str((enum ibv_qp_type)diag->qp_type));
	if (diag->to >= 0) {
		rdmaez_impl_put_json_state(text, "from", diag->from);
		rdmaez_impl_put_json_state(text, "to", diag->to);
	} else if (diag->from >= 0) {
		rdmaez_impl_put_json_state(text, "state", diag->from);
	}
	if (diag->status) {
		rdmaez_impl_put_json_pair(text, ",", "status", diag->status);
		rdmaez_impl_put(text, ",\"status_code\":%d,\"wr_id\":%llu,\"vendor_err\":%u",
				diag->status_code, (unsigned long long)diag->wr_id,
				diag->vendor_err);
	}
	if (diag->event)
		rdmaez_impl_put_json_pair(text, ",", "event", diag->event);
	rdmaez_impl_put_pairs(text, diag, true);
}

RDMAEZ_SEAM int rdmaez_impl_tell_diag_json(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	if (!diag || !diag->call) {
		rdmaez_impl_put(&text, "{}");
		return (int)text.length;
	}
	rdmaez_impl_put(&text, "{");
	rdmaez_impl_put_json_head(&text, diag);
	rdmaez_impl_put(&text, ",\"dropped\":%u,\"findings\":[", diag->dropped);
	for (unsigned int i = 0; i < diag->count; i++) {
		const struct rdmaez_finding *finding = &diag->finding[i];
		const char *const what = rdmaez_impl_finding_what(diag, finding);
		char gid[RDMAEZ_GID_TEXT];

		rdmaez_impl_put_json_pair(&text, i ? ",{" : "{", "severity",
					  rdmaez_impl_severity_str(finding->severity));
		rdmaez_impl_put_json_pair(&text, ",", "reason", rdmaez_why_id(finding->reason));
		rdmaez_impl_put_json_pair(&text, ",", "field", finding->field);
		rdmaez_impl_put_json_values(&text, finding);
		if (rdmaez_impl_suggested(diag, finding, gid))
			rdmaez_impl_put_json_pair(&text, ",", "gid", gid);
		rdmaez_impl_put_json_pair(&text, ",", "what", what);
		rdmaez_impl_put_json_pair(&text, ",", "next", rdmaez_impl_why_next(what));
		rdmaez_impl_put(&text, "}");
	}
	rdmaez_impl_put(&text, "]");
	if (rdmaez_impl_wants_versions(diag))
		rdmaez_impl_put_versions(&text, diag, true);
	rdmaez_impl_put(&text, "}");
	return (int)text.length;
}

RDMAEZ_IMPL_END

#endif
