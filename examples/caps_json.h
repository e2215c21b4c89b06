/* SPDX-License-Identifier: MIT */
/*
 * Capabilities read back from the JSON that rdmaez_caps_json() writes, for caps.c: json-c takes the text
 * apart, and rdmaez_caps_fields() knows every key. A key that is not known is refused, so that a misspelt
 * one does not go unnoticed; one that is missing leaves its field unknown.
 */
#ifndef CAPS_JSON_H
#define CAPS_JSON_H

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>

#include <json-c/json.h>
#include <rdmaez.h>
#include <rdmaez/caps.h>
#include <rdmaez/port_caps.h>

/* Reading one device: where to, and what is wrong. */
struct reading {
	struct rdmaez_caps caps;
	bool has_value[RDMAEZ_CAPS_ID_COUNT];
	char wrong[256]; /* "" while nothing is */
};

/* Says what is wrong, once. Returns false. */
static bool wrong(struct reading *reading, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!*reading->wrong)
		vsnprintf(reading->wrong, sizeof(reading->wrong), format, arguments);
	va_end(arguments);
	return false;
}

/* The id of a field by its path; RDMAEZ_CAPS_ID_COUNT where there is none. */
static unsigned int field_named(const char *path)
{
	const struct rdmaez_caps_table table = rdmaez_caps_fields(NULL);
	unsigned int id = 0;

	while (id < table.count && strcmp(table.fields[id].name, path) != 0)
		id++;
	return id;
}

/* A text: one byte for each character, the last byte stays 0. json-c gives UTF-8. */
static bool read_text(struct reading *reading, const struct rdmaez_caps_field *field,
		      struct json_object *value, char *member)
{
	const char *from = json_object_get_string(value);
	const char *end = from + json_object_get_string_len(value);
	size_t length = 0;

	for (; from < end; from++) {
		unsigned char byte = (unsigned char)*from;

		if (byte == 0xc2 || byte == 0xc3)
			byte = (unsigned char)(byte << 6 | (*++from & 0x3f));
		else if (byte >= 0x80)
			return wrong(reading, "%s: a character beyond U+00FF", field->name);
		if (!byte)
			return wrong(reading, "%s: a NUL", field->name);
		if (length + 1 == field->size)
			return wrong(reading, "%s: longer than %d characters", field->name,
				     field->size - 1);
		member[length++] = (char)byte;
	}
	return true;
}

/* A GUID: four groups of four hexadecimal digits, which are its bytes in their order. */
static bool read_guid(struct reading *reading, const struct rdmaez_caps_field *field,
		      struct json_object *value, char *member)
{
	const char *text = json_object_get_string(value);
	bool good = json_object_get_string_len(value) == 19;
	unsigned int group[4];

	for (int i = 0; good && i < 19; i++)
		good = i % 5 == 4 ? text[i] == ':' : isxdigit((unsigned char)text[i]);
	if (!good || sscanf(text, "%x:%x:%x:%x", &group[0], &group[1], &group[2], &group[3]) != 4)
		return wrong(reading, "%s: not a GUID such as 0011:2233:4455:6677", field->name);
	for (int i = 0; i < 4; i++) {
		member[2 * i] = (char)(group[i] >> 8);
		member[2 * i + 1] = (char)group[i];
	}
	return true;
}

static bool read_number(struct reading *reading, const struct rdmaez_caps_field *field,
			struct json_object *value, char *member)
{
	const uint64_t most = UINT64_MAX >> (64 - 8 * field->size + field->is_signed);
	const int64_t least = field->is_signed ? -(int64_t)most - 1 : 0;
	const uint64_t number = json_object_get_uint64(value); /* 0 where it is negative */
	const int64_t below = json_object_get_int64(value);

	if (below < least || number > most)
		return wrong(reading, "%s: out of range, which is %" PRId64 " to %" PRIu64,
			     field->name, least, most);
	if (field->is_signed) {
		const int32_t word = (int32_t)below;

		memcpy(member, &word, sizeof(word));
	} else if (field->size == 1) {
		*member = (char)number;
	} else if (field->size == 2) {
		const uint16_t half = (uint16_t)number;

		memcpy(member, &half, sizeof(half));
	} else if (field->size == 4) {
		const uint32_t word = (uint32_t)number;

		memcpy(member, &word, sizeof(word));
	} else {
		memcpy(member, &number, sizeof(number));
	}
	return true;
}

static bool read_field(struct reading *reading, unsigned int id, struct json_object *value)
{
	const struct rdmaez_caps_field *field = &rdmaez_caps_fields(NULL).fields[id];
	char *member = (char *)&reading->caps + field->offset;

	if (json_object_is_type(value, json_type_null))
		return true;
	reading->has_value[id] = true;
	switch ((int)field->kind) {
	case RDMAEZ_KIND_TEXT:
		return json_object_is_type(value, json_type_string)
			       ? read_text(reading, field, value, member)
			       : wrong(reading, "%s: not a text", field->name);
	case RDMAEZ_KIND_GUID:
		return json_object_is_type(value, json_type_string)
			       ? read_guid(reading, field, value, member)
			       : wrong(reading, "%s: not a text", field->name);
	case RDMAEZ_KIND_BOOL:
		*(bool *)member = json_object_get_boolean(value);
		return json_object_is_type(value, json_type_boolean) ||
		       wrong(reading, "%s: neither true nor false", field->name);
	default:
		return json_object_is_type(value, json_type_int)
			       ? read_number(reading, field, value, member)
			       : wrong(reading, "%s: not a whole number", field->name);
	}
}

/* Where values come from: {"max_qp":"DRIVER", ...}. */
static bool read_sources(struct reading *reading, struct json_object *sources)
{
	if (!json_object_is_type(sources, json_type_object))
		return wrong(reading, "sources: not an object");
	json_object_object_foreach(sources, key, value)
	{
		const unsigned int id = field_named(key);
		int source = 0;

		if (id == RDMAEZ_CAPS_ID_COUNT)
			return wrong(reading, "unknown key \"%s\" in sources", key);
		while (source < RDMAEZ_SOURCE_COUNT &&
		       (!json_object_is_type(value, json_type_string) ||
			strcmp(rdmaez_caps_source_id((enum rdmaez_caps_source)source),
			       json_object_get_string(value)) != 0))
			source++;
		if (source == RDMAEZ_SOURCE_COUNT)
			return wrong(reading, "sources: not a source of %s", key);
		reading->caps.source[id] = (uint8_t)source;
	}
	return true;
}

/* Whether a key tells what the value beside it means, so that there is nothing to read. */
static bool is_meaning(const char *path)
{
	static const char *const endings[] = {"_names", "_name", "_bytes"};
	char field[96];

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		const size_t length = strlen(path), ending = strlen(endings[i]);

		if (length <= ending || strcmp(path + length - ending, endings[i]) != 0)
			continue;
		snprintf(field, sizeof(field), "%.*s", (int)(length - ending), path);
		if (field_named(field) < RDMAEZ_CAPS_ID_COUNT)
			return true;
	}
	return false;
}

/* Whether fields lie in the struct of this path, which ends in a dot. */
static bool is_struct(const char *path)
{
	const struct rdmaez_caps_table table = rdmaez_caps_fields(NULL);

	for (unsigned int id = 0; id < table.count; id++)
		if (strncmp(table.fields[id].name, path, strlen(path)) == 0)
			return true;
	return false;
}

/* An object of fields; `prefix` is the path of its struct, with a dot behind it, or "". */
static bool read_object(struct reading *reading, const char *prefix, struct json_object *object)
{
	json_object_object_foreach(object, key, value)
	{
		char path[96], inside[97];
		unsigned int id;
		bool good = true;

		snprintf(path, sizeof(path), "%s%s", prefix, key);
		snprintf(inside, sizeof(inside), "%s.", path);
		id = strchr(key, '.') ? RDMAEZ_CAPS_ID_COUNT : field_named(path);
		if (id < RDMAEZ_CAPS_ID_COUNT)
			good = read_field(reading, id, value);
		else if (strcmp(path, "sources") == 0)
			good = read_sources(reading, value);
		else if (!strchr(key, '.') && is_struct(inside))
			good = json_object_is_type(value, json_type_object)
				       ? read_object(reading, inside, value)
				       : wrong(reading, "%s: not an object", path);
		else if (strcmp(path, "rdmaez_caps") != 0 && strcmp(path, "board_id") != 0 &&
			 strcmp(path, "ports") != 0 && !is_meaning(path))
			good = wrong(reading, "unknown key \"%s%s\"", prefix, key);
		if (!good)
			return false;
	}
	return true;
}

/* Whether a number that starts here is one that 64 bits do not hold, which json-c would cut. */
static bool is_huge(const char *text)
{
	const size_t digits = strspn(text, "0123456789");

	return digits > 20 || (digits == 20 && strncmp(text, "18446744073709551615", 20) > 0);
}

/* Whether a key, which starts here with its quote, is among those before it. */
static bool is_twice(const char *const *keys, const char *key, size_t length, int count)
{
	while (count-- > 0)
		if (strncmp(keys[count], key, length) == 0)
			return true;
	return false;
}

/* What json-c lets pass in a text that it has read: keys that come twice, large numbers, other quotes. */
static bool check_text(struct reading *reading, const char *text, size_t length)
{
	static const char *keys[1024];
	int first[64] = {0}, depth = 0, count = 0;

	for (size_t i = 0; i < length; i++) {
		const char *at = text + i;
		size_t string = 1;

		if (*at == '\'')
			return wrong(reading, "not JSON, at byte %zu: a single quote", i);
		if (*at >= '1' && *at <= '9') {
			if (is_huge(at))
				return wrong(reading, "a number of more than 64 bits, at byte %zu",
					     i);
			i += strspn(at, "0123456789") - 1;
		} else if (*at == '{') {
			first[++depth] = count; /* json-c reads 32 levels */
		} else if (*at == '}') {
			count = first[depth--];
		}
		if (*at != '"')
			continue;
		while (at[string] != '"')
			string += at[string] == '\\' ? 2 : 1;
		string++;
		i += string - 1;
		if (at[string + strspn(at + string, " \t\r\n")] != ':')
			continue;
		if (is_twice(keys + first[depth], at, string, count - first[depth]))
			return wrong(reading, "the key %.*s is there twice", (int)string, at);
		if (count == sizeof(keys) / sizeof(keys[0]))
			return wrong(reading, "too many keys");
		keys[count++] = at;
	}
	return true;
}

/* Programs that keep numbers as doubles, as jq before 1.7, round 64 bits that are all set. */
static void undo_rounding(char *text)
{
	static const char rounded[] = "18446744073709552000", all[] = "18446744073709551615";

	for (char *at = text; (at = strstr(at, rounded)) != NULL; at += sizeof(all) - 1)
		if (at > text && strchr(": \t\r\n", at[-1]) &&
		    strchr(",} \t\r\n", at[sizeof(all) - 1]))
			memcpy(at, all, sizeof(all) - 1);
}

/*
 * Has json-c parse a text of so many bytes and a NUL up to *end, strictly. Where char is signed, the strict
 * json-c 0.18 takes each byte above 127 for a control character, so such bytes go to it by themselves.
 */
static struct json_object *parse(struct json_tokener *tokener, const char *text, size_t length,
				 size_t *end)
{
	const int flags = JSON_TOKENER_VALIDATE_UTF8 | JSON_TOKENER_ALLOW_TRAILING_CHARS;
	struct json_object *object;

	*end = 0;
	do {
		const bool ascii = (unsigned char)text[*end] < 128;
		size_t run = 1;

		while (*end + run <= length && ((unsigned char)text[*end + run] < 128) == ascii)
			run++;
		json_tokener_set_flags(tokener, ascii ? flags | JSON_TOKENER_STRICT : flags);
		object = json_tokener_parse_ex(tokener, text + *end, (int)run);
		*end += json_tokener_get_parse_end(tokener);
	} while (json_tokener_get_error(tokener) == json_tokener_continue && *end <= length);
	return object;
}

/*
 * Reads the first object of a text of so many bytes and a NUL; what follows on further lines is not looked
 * at. Returns NULL and fills caps, or returns what is wrong, static.
 */
static const char *read_caps(char *text, size_t length, struct rdmaez_caps *caps)
{
	static struct reading reading;
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object = NULL, *version;
	enum json_tokener_error error;
	size_t end;

	memset(&reading, 0, sizeof(reading));
	if (!tokener || length != strlen(text))
		return "not a text";
	undo_rounding(text);
	object = parse(tokener, text, length, &end);
	error = json_tokener_get_error(tokener);
	if (end > length)
		end = length;
	while (end && strchr(" \t\r\n", text[end - 1])) /* json-c reads on behind the object */
		end--;
	if (error == json_tokener_error_parse_number && !check_text(&reading, text, end))
		; /* too large for json-c since 0.18 */
	else if (error != json_tokener_success)
		wrong(&reading, "not JSON, at byte %zu: %s", end, json_tokener_error_desc(error));
	else if (!json_object_is_type(object, json_type_object))
		wrong(&reading, "not a JSON object");
	else if (text[end + strspn(text + end, " \t\r")] &&
		 text[end + strspn(text + end, " \t\r")] != '\n')
		wrong(&reading, "not JSON, at byte %zu: more than one object in a line", end);
	else if (!json_object_object_get_ex(object, "rdmaez_caps", &version) ||
		 !json_object_is_type(version, json_type_int) ||
		 json_object_get_int(version) != RDMAEZ_CAPS_JSON_VERSION)
		wrong(&reading, "the key \"rdmaez_caps\" is not %d: not capabilities known here",
		      RDMAEZ_CAPS_JSON_VERSION);
	else if (check_text(&reading, text, end))
		read_object(&reading, "", object);
	json_object_put(object);
	json_tokener_free(tokener);
	if (*reading.wrong)
		return reading.wrong;
	for (int id = 0; id < RDMAEZ_CAPS_ID_COUNT; id++)
		if (!reading.has_value[id] && reading.caps.source[id] <= RDMAEZ_SOURCE_CORRECTED)
			reading.caps.source[id] = RDMAEZ_SOURCE_NOT_ASKED;
	*caps = reading.caps;
	return NULL;
}

#endif
