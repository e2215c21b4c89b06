/* SPDX-License-Identifier: MIT */
/**
 * @file caps_parse.h
 * @brief Reads back what rdmaez_caps_json() writes: a device as it was, or as another machine saw it.
 *
 * For comparison with the caps.h of today, and for tools that have no device at hand. Everything here is
 * pure, calls no verb, uses neither stdio nor memory of its own, and may be called from any thread.
 */
#ifndef RDMAEZ_CAPS_PARSE_H
#define RDMAEZ_CAPS_PARSE_H

#include "caps.h"
#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- JSON ----------------------------------------------------------------------------------- */

/* How deep lists and objects may lie in each other; rdmaez writes four levels. */
#define RDMAEZ_IMPL_JSON_DEPTH 32

/* A text that is read as JSON, and how far. */
struct rdmaez_impl_json {
	const char *text;
	size_t length;
	size_t at;
	unsigned int depth;
	struct rdmaez_diag *diag;
};

/* A number as it is written: digits up to the last that is not zero, times ten to a power. */
struct rdmaez_impl_json_number {
	uint64_t digits;
	int64_t power;
	int64_t zeros; /* while it is read: places that wait for a digit behind them */
	bool negative;
	bool huge; /* the digits do not fit */
};

/* Refuses what begins at a byte of the text. */
RDMAEZ_IMPL int rdmaez_impl_json_wrong(const struct rdmaez_impl_json *json, enum rdmaez_why reason,
				       const char *field, size_t at)
{
	return rdmaez_impl_refuse_value(json->diag, EINVAL, reason, field, RDMAEZ_VALUE_POSITION,
					(int64_t)at, 0, 0);
}

/* Refuses the text from here on. */
RDMAEZ_IMPL int rdmaez_impl_json_syntax(const struct rdmaez_impl_json *json)
{
	return rdmaez_impl_json_wrong(json, RDMAEZ_WHY_JSON_SYNTAX, "json", json->at);
}

/* Goes to what is no space; that byte, or NUL at the end, which no JSON begins with. */
RDMAEZ_IMPL char rdmaez_impl_json_next(struct rdmaez_impl_json *json)
{
	for (; json->at < json->length; json->at++) {
		const char byte = json->text[json->at];

		if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r')
			return byte;
	}
	return '\0';
}

/* Passes over a word or a mark, if that is what comes next. */
RDMAEZ_IMPL bool rdmaez_impl_json_take(struct rdmaez_impl_json *json, const char *word)
{
	const size_t length = strlen(word);

	rdmaez_impl_json_next(json);
	if (json->length - json->at < length || memcmp(json->text + json->at, word, length) != 0)
		return false;
	json->at += length;
	return true;
}

/* Begins an object or a list. */
RDMAEZ_IMPL int rdmaez_impl_json_open(struct rdmaez_impl_json *json, char mark)
{
	const char byte = rdmaez_impl_json_next(json);

	if (byte != mark)
		return rdmaez_impl_json_syntax(json);
	if (json->depth == RDMAEZ_IMPL_JSON_DEPTH)
		return rdmaez_impl_json_wrong(json, RDMAEZ_WHY_JSON_DEPTH, "json", json->at);
	json->at++;
	json->depth++;
	return 0;
}

/* Whether an object or a list has one more member; passes over the comma before it, or the end. */
RDMAEZ_IMPL bool rdmaez_impl_json_more(struct rdmaez_impl_json *json, const char *end, bool first,
				       int *error)
{
	if (*error)
		return false;
	if (rdmaez_impl_json_take(json, end)) {
		json->depth--;
		return false;
	}
	if (!first && !rdmaez_impl_json_take(json, ","))
		*error = rdmaez_impl_json_syntax(json);
	return !*error;
}

/* The value of a hexadecimal digit; -1: it is none. */
RDMAEZ_IMPL int rdmaez_impl_hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* The character behind a backslash. The halves of a surrogate pair count as two. */
RDMAEZ_IMPL bool rdmaez_impl_json_escape(struct rdmaez_impl_json *json, uint32_t *character)
{
	static const char written[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char byte = json->at < json->length ? json->text[json->at++] : '\0';

	for (size_t i = 0; i < sizeof(written) - 1; i++)
		if (byte == written[i]) {
			*character = (unsigned char)meant[i];
			return true;
		}
	if (byte != 'u' || json->length - json->at < 4)
		return false;
	*character = 0;
	for (const size_t end = json->at + 4; json->at < end; json->at++) {
		const int digit = rdmaez_impl_hex_digit(json->text[json->at]);

		if (digit < 0)
			return false;
		*character = *character << 4 | (uint32_t)digit;
	}
	return true;
}

/* A character of UTF-8 that may stand in a string: in its shortest form, and no half of a pair. */
RDMAEZ_IMPL bool rdmaez_impl_json_utf8(struct rdmaez_impl_json *json, uint32_t *character)
{
	static const uint32_t least[] = {0x20, 0x80, 0x800, 0x10000};
	const uint8_t first = (uint8_t)json->text[json->at++];
	const unsigned int more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;

	if (first > 0xf4 || (more && first < 0xc0) || json->length - json->at < more)
		return false;
	*character = more ? first & (0x3fu >> more) : first;
	for (unsigned int i = 0; i < more; i++) {
		const uint8_t next = (uint8_t)json->text[json->at++];

		if (next >> 6 != 2)
			return false;
		*character = *character << 6 | (next & 0x3f);
	}
	return *character >= least[more] && *character <= 0x10ffff && *character >> 11 != 0x1b;
}

/*
 * Reads a string into a buffer, without a NUL at its end. The length is SIZE_MAX where the buffer cannot
 * hold it: it is too long, or has a character that is not one byte, the one that rdmaez_caps_json()
 * writes as the character of that number.
 */
RDMAEZ_IMPL int rdmaez_impl_json_string(struct rdmaez_impl_json *json, char *buf, size_t size,
					size_t *length)
{
	uint32_t character = 0;

	*length = 0;
	if (!rdmaez_impl_json_take(json, "\""))
		return rdmaez_impl_json_syntax(json);
	while (json->at < json->length && json->text[json->at] != '"') {
		const size_t begin = json->at;
		const bool escaped = json->text[begin] == '\\';

		json->at += escaped;
		if (!(escaped ? rdmaez_impl_json_escape(json, &character)
			      : rdmaez_impl_json_utf8(json, &character))) {
			json->at = begin;
			return rdmaez_impl_json_syntax(json);
		}
		if (*length >= size || !character || character > 0xff)
			*length = SIZE_MAX;
		else
			buf[(*length)++] = (char)(uint8_t)character;
	}
	return rdmaez_impl_json_take(json, "\"") ? 0 : rdmaez_impl_json_syntax(json);
}

/* Reads a key and its colon. One that the buffer cannot hold becomes empty: nobody knows it. */
RDMAEZ_IMPL int rdmaez_impl_json_key(struct rdmaez_impl_json *json, char *buf, size_t size)
{
	size_t length;
	const int error = rdmaez_impl_json_string(json, buf, size - 1, &length);

	if (error)
		return error;
	buf[length == SIZE_MAX ? 0 : length] = '\0';
	return rdmaez_impl_json_take(json, ":") ? 0 : rdmaez_impl_json_syntax(json);
}

/* Reads the digits of one part of a number. Zeros wait, because the last ones belong to the power. */
RDMAEZ_IMPL bool rdmaez_impl_json_digits(struct rdmaez_impl_json *json,
					 struct rdmaez_impl_json_number *number, bool fraction)
{
	const size_t begin = json->at;

	for (; json->at < json->length; json->at++) {
		const int byte = json->text[json->at];

		if (byte < '0' || byte > '9')
			break;
		number->power -= fraction;
		number->zeros++;
		for (; byte != '0' && number->zeros; number->zeros--) {
			const uint64_t digit = number->zeros == 1 ? (uint64_t)(byte - '0') : 0;

			number->huge = number->huge || number->digits > (UINT64_MAX - digit) / 10;
			number->digits = number->digits * 10 + digit;
		}
	}
	return json->at > begin;
}

/* Reads what may stand behind an `e`. So much text that the exponent does not fit never comes. */
RDMAEZ_IMPL bool rdmaez_impl_json_exponent(struct rdmaez_impl_json *json, int64_t *power)
{
	bool negative = false, any = false;
	int64_t exponent = 0;

	if (json->at < json->length && (json->text[json->at] == '-' || json->text[json->at] == '+'))
		negative = json->text[json->at++] == '-';
	for (; json->at < json->length; json->at++) {
		const int byte = json->text[json->at];

		if (byte < '0' || byte > '9')
			break;
		any = true;
		if (exponent < INT64_MAX / 100)
			exponent = exponent * 10 + (byte - '0');
	}
	*power += negative ? -exponent : exponent;
	return any;
}

/* Reads a number of any size. */
RDMAEZ_IMPL int rdmaez_impl_json_read_number(struct rdmaez_impl_json *json,
					     struct rdmaez_impl_json_number *number)
{
	bool good;

	memset(number, 0, sizeof(*number));
	number->negative = rdmaez_impl_json_take(json, "-");
	if (json->at < json->length && json->text[json->at] == '0') {
		json->at++; /* no digit may follow a leading zero */
		good = true;
	} else {
		good = rdmaez_impl_json_digits(json, number, false);
	}
	if (good && json->at < json->length && json->text[json->at] == '.') {
		json->at++;
		good = rdmaez_impl_json_digits(json, number, true);
	}
	number->power += number->zeros;
	if (good && json->at < json->length && (json->text[json->at] | 0x20) == 'e') {
		json->at++;
		good = rdmaez_impl_json_exponent(json, &number->power);
	}
	return good ? 0 : rdmaez_impl_json_syntax(json);
}

/* Passes over a value of any type. */
RDMAEZ_IMPL int rdmaez_impl_json_skip(struct rdmaez_impl_json *json)
{
	const char byte = rdmaez_impl_json_next(json);
	struct rdmaez_impl_json_number number;
	size_t length;
	int error;

	if (byte == '"')
		return rdmaez_impl_json_string(json, NULL, 0, &length);
	if (byte == '-' || (byte >= '0' && byte <= '9'))
		return rdmaez_impl_json_read_number(json, &number);
	if (rdmaez_impl_json_take(json, "null") || rdmaez_impl_json_take(json, "true") ||
	    rdmaez_impl_json_take(json, "false"))
		return 0;
	error = rdmaez_impl_json_open(json, byte == '{' ? '{' : '[');
	for (bool first = true; rdmaez_impl_json_more(json, byte == '{' ? "}" : "]", first, &error);
	     first = false) {
		char key[1];

		if (byte == '{')
			error = rdmaez_impl_json_key(json, key, sizeof(key));
		if (!error)
			error = rdmaez_impl_json_skip(json);
	}
	return error;
}

/* Refuses a value for its type, unless it is no value at all. */
RDMAEZ_IMPL int rdmaez_impl_json_mismatch(struct rdmaez_impl_json *json, const char *field)
{
	size_t begin;
	int error;

	rdmaez_impl_json_next(json);
	begin = json->at;
	error = rdmaez_impl_json_skip(json);
	return error ? error : rdmaez_impl_json_wrong(json, RDMAEZ_WHY_JSON_TYPE, field, begin);
}

/* ---- Capabilities --------------------------------------------------------------------------- */

/* What has been read of an object. */
struct rdmaez_impl_caps_reading {
	struct rdmaez_impl_json json;
	struct rdmaez_caps caps;
	bool read[RDMAEZ_CAPS_ID_COUNT];   /* the field has been there */
	bool null[RDMAEZ_CAPS_ID_COUNT];   /* and was null */
	bool source[RDMAEZ_CAPS_ID_COUNT]; /* its source has been there */
	bool version;                      /* the version has been there */
	char path[96];                     /* the key read last, behind those that it lies in */
};

/* The field of a path; RDMAEZ_CAPS_ID_COUNT: none. `inside` receives the first that lies in it, or NULL. */
RDMAEZ_IMPL int rdmaez_impl_caps_find(const char *path, const struct rdmaez_caps_field **inside)
{
	const size_t length = strlen(path);
	int found = RDMAEZ_CAPS_ID_COUNT;

	*inside = NULL;
	for (int id = RDMAEZ_CAPS_ID_COUNT - 1; id >= 0; id--) {
		const struct rdmaez_caps_field *field =
			rdmaez_caps_describe((enum rdmaez_caps_id)id);

		if (!field || strncmp(field->name, path, length) != 0)
			continue;
		if (field->name[length] == '.')
			*inside = field;
		else if (!field->name[length])
			found = id;
	}
	return found;
}

/* Reads a string of at most so many bytes into a member; what it does not fill stays as it is. */
RDMAEZ_IMPL int rdmaez_impl_caps_read_text(struct rdmaez_impl_json *json, const char *field,
					   char *member, size_t size)
{
	const size_t begin = json->at;
	size_t length;
	const int error = rdmaez_impl_json_string(json, member, size, &length);

	if (!error && length == SIZE_MAX)
		return rdmaez_impl_json_wrong(json, RDMAEZ_WHY_JSON_TEXT, field, begin);
	return error;
}

/* Reads a GUID: four groups of four hexadecimal digits, which are its bytes in their order. */
RDMAEZ_IMPL int rdmaez_impl_caps_read_guid(struct rdmaez_impl_json *json, const char *field,
					   char *member)
{
	const size_t begin = json->at;
	char text[19] = {0};
	uint8_t guid[8] = {0};
	bool good = true;
	const int error = rdmaez_impl_caps_read_text(json, field, text, sizeof(text));

	if (error)
		return error;
	for (size_t i = 0; i < sizeof(text); i++) {
		const int digit = rdmaez_impl_hex_digit(text[i]);
		const size_t place = i - i / 5; /* among the digits */

		if (i % 5 == 4 ? text[i] != ':' : digit < 0)
			good = false;
		else if (i % 5 != 4)
			guid[place / 2] = (uint8_t)(guid[place / 2] << 4 | digit);
	}
	if (!good)
		return rdmaez_impl_json_wrong(json, RDMAEZ_WHY_JSON_TEXT, field, begin);
	memcpy(member, guid, sizeof(guid));
	return 0;
}

/* The whole number that a number is, without its sign; false where it has a fraction or is too large. */
RDMAEZ_IMPL bool rdmaez_impl_json_whole(const struct rdmaez_impl_json_number *number,
					uint64_t *value)
{
	*value = number->digits;
	if (number->huge || (*value && number->power < 0))
		return false;
	for (int64_t power = number->power; *value && power > 0; power--) {
		if (*value > UINT64_MAX / 10)
			return false;
		*value *= 10;
	}
	return true;
}

/* Reads a number into a member of `size` bytes. */
RDMAEZ_IMPL int rdmaez_impl_caps_read_number(struct rdmaez_impl_json *json, const char *field,
					     bool is_signed, char *member, size_t size)
{
	const uint64_t most = UINT64_MAX >> (64 - 8 * size + is_signed);
	const size_t begin = json->at;
	struct rdmaez_impl_json_number number;
	uint64_t value;
	const int error = rdmaez_impl_json_read_number(json, &number);
	bool whole;

	if (error)
		return error;
	whole = rdmaez_impl_json_whole(&number, &value);
	if (number.digits && number.power < 0 && !number.huge)
		return rdmaez_impl_json_wrong(json, RDMAEZ_WHY_JSON_TYPE, field, begin);
	/* What programs that count in doubles, as jq before 1.7 does, make of all 64 bits set. */
	if (number.digits == UINT64_C(18446744073709552) && number.power == 3 && !number.huge) {
		value = UINT64_MAX;
		whole = true;
	}
	if (whole && value <= (number.negative ? (most + 1) * is_signed : most)) {
		rdmaez_impl_caps_store(member, size, number.negative ? 0 - value : value);
		return 0;
	}
	if (!whole || value > INT64_MAX || most > INT64_MAX)
		return rdmaez_impl_json_wrong(json, RDMAEZ_WHY_JSON_RANGE, field, begin);
	return rdmaez_impl_refuse_value(json->diag, EINVAL, RDMAEZ_WHY_RANGE, field,
					RDMAEZ_VALUE_NUMBER,
					number.negative ? -(int64_t)value : (int64_t)value,
					is_signed ? -(int64_t)most - 1 : 0, (int64_t)most);
}

/* Reads the value of a field, once. */
RDMAEZ_IMPL int rdmaez_impl_caps_read_field(struct rdmaez_impl_caps_reading *reading, int id)
{
	const struct rdmaez_caps_field *field = rdmaez_caps_describe((enum rdmaez_caps_id)id);
	struct rdmaez_impl_json *json = &reading->json;
	const char byte = rdmaez_impl_json_next(json);
	bool is_text, is_guid;
	char *member;

	if (!field)
		return EINVAL;
	is_text = field->kind == RDMAEZ_KIND_TEXT;
	is_guid = field->kind == RDMAEZ_KIND_GUID;
	member = (char *)&reading->caps + field->offset;
	if (reading->read[id])
		return rdmaez_impl_json_wrong(json, RDMAEZ_WHY_JSON_TWICE, field->name, json->at);
	reading->read[id] = true;
	reading->null[id] = rdmaez_impl_json_take(json, "null");
	if (reading->null[id])
		return 0;
	/* The last byte stays the NUL that it is. */
	if (is_text && byte == '"')
		return rdmaez_impl_caps_read_text(json, field->name, member, field->size - 1);
	if (is_guid && byte == '"')
		return rdmaez_impl_caps_read_guid(json, field->name, member);
	if (field->kind == RDMAEZ_KIND_BOOL) {
		*(bool *)member = rdmaez_impl_json_take(json, "true");
		if (*(bool *)member || rdmaez_impl_json_take(json, "false"))
			return 0;
	} else if (!is_text && !is_guid && (byte == '-' || (byte >= '0' && byte <= '9'))) {
		return rdmaez_impl_caps_read_number(json, field->name, field->is_signed, member,
						    field->size);
	}
	return rdmaez_impl_json_mismatch(json, field->name);
}

/* Reads the source of a field, by its id. */
RDMAEZ_IMPL int rdmaez_impl_caps_read_source(struct rdmaez_impl_caps_reading *reading, int id)
{
	struct rdmaez_impl_json *json = &reading->json;
	const char byte = rdmaez_impl_json_next(json);
	const size_t begin = json->at;
	char name[32];
	size_t length;
	int error;

	if (byte != '"')
		return rdmaez_impl_json_mismatch(json, "sources");
	if (reading->source[id])
		return rdmaez_impl_json_wrong(json, RDMAEZ_WHY_JSON_TWICE, "sources", begin);
	error = rdmaez_impl_json_string(json, name, sizeof(name), &length);
	if (error)
		return error;
	for (int i = 0; i < RDMAEZ_SOURCE_COUNT; i++) {
		const char *known = rdmaez_caps_source_id((enum rdmaez_caps_source)i);

		if (strlen(known) == length && memcmp(known, name, length) == 0) {
			reading->caps.source[id] = (uint8_t)i;
			reading->source[id] = true;
			return 0;
		}
	}
	return rdmaez_impl_json_wrong(json, RDMAEZ_WHY_ENUM, "sources", begin);
}

/* Reads all sources; the keys are paths. */
RDMAEZ_IMPL int rdmaez_impl_caps_read_sources(struct rdmaez_impl_caps_reading *reading)
{
	struct rdmaez_impl_json *json = &reading->json;
	char *const path = reading->path;
	int error;

	if (rdmaez_impl_json_next(json) != '{')
		return rdmaez_impl_json_mismatch(json, "sources");
	error = rdmaez_impl_json_open(json, '{');
	for (bool first = true; rdmaez_impl_json_more(json, "}", first, &error); first = false) {
		error = rdmaez_impl_json_key(json, path, sizeof(reading->path));
		if (!error) {
			const struct rdmaez_caps_field *inside;
			const int id = rdmaez_impl_caps_find(path, &inside);

			error = id < RDMAEZ_CAPS_ID_COUNT
					? rdmaez_impl_caps_read_source(reading, id)
					: rdmaez_impl_json_skip(json);
		}
	}
	return error;
}

/* Reads the version, which has to be ours. */
RDMAEZ_IMPL int rdmaez_impl_caps_read_version(struct rdmaez_impl_caps_reading *reading)
{
	struct rdmaez_impl_json *json = &reading->json;
	const char byte = rdmaez_impl_json_next(json);
	struct rdmaez_impl_json_number number;
	const size_t begin = json->at;
	uint64_t version;
	int error;

	if (byte != '-' && (byte < '0' || byte > '9'))
		return rdmaez_impl_json_mismatch(json, "rdmaez_caps");
	error = rdmaez_impl_json_read_number(json, &number);
	if (error)
		return error;
	if (reading->version)
		return rdmaez_impl_json_wrong(json, RDMAEZ_WHY_JSON_TWICE, "rdmaez_caps", begin);
	reading->version = true;
	if (rdmaez_impl_json_whole(&number, &version) && !number.negative &&
	    version == RDMAEZ_CAPS_JSON_VERSION)
		return 0;
	return rdmaez_impl_json_wrong(json, RDMAEZ_WHY_JSON_VERSION, "rdmaez_caps", begin);
}

/* Reads an object of fields, whose paths begin with the first `prefix` characters of the path. */
RDMAEZ_IMPL int rdmaez_impl_caps_read_object(struct rdmaez_impl_caps_reading *reading,
					     size_t prefix)
{
	struct rdmaez_impl_json *json = &reading->json;
	char *const path = reading->path, *const key = path + prefix;
	int error = rdmaez_impl_json_open(json, '{');

	for (bool first = true; rdmaez_impl_json_more(json, "}", first, &error); first = false) {
		const struct rdmaez_caps_field *inside;
		int field;

		error = rdmaez_impl_json_key(json, key, sizeof(reading->path) - prefix);
		if (error)
			return error;
		if (strchr(key, '.'))
			*key = '\0'; /* a dot in a key does not lead into an object */
		field = rdmaez_impl_caps_find(path, &inside);
		if (field < RDMAEZ_CAPS_ID_COUNT) {
			error = rdmaez_impl_caps_read_field(reading, field);
		} else if (strcmp(path, "sources") == 0) {
			error = rdmaez_impl_caps_read_sources(reading);
		} else if (strcmp(path, "rdmaez_caps") == 0) {
			error = rdmaez_impl_caps_read_version(reading);
		} else if (!inside) {
			error = rdmaez_impl_json_skip(json);
		} else if (rdmaez_impl_json_next(json) == '{') {
			memcpy(key + strlen(key), ".", 2);
			error = rdmaez_impl_caps_read_object(reading, strlen(path));
		} else {
			error = rdmaez_impl_json_mismatch(json, inside->name);
		}
	}
	return error;
}

/* Whether nothing but space follows on the line on which reading has ended. */
RDMAEZ_IMPL bool rdmaez_impl_json_line_ends(struct rdmaez_impl_json *json)
{
	for (; json->at < json->length; json->at++) {
		const char byte = json->text[json->at];

		if (byte == '\n')
			break;
		if (byte != ' ' && byte != '\t' && byte != '\r')
			return false;
	}
	return true;
}

/**
 * @brief Reads what rdmaez_caps_json() has written.
 *
 * The struct is the one that was written, with all its unknowns and their sources. The JSON may have been
 * laid out anew, its keys sorted; keys that are no field are passed over, "ports" among them. A field that
 * is missing, or null without a source, is unknown (#RDMAEZ_SOURCE_NOT_ASKED), so that the needs of a
 * program may be written by hand, for rdmaez_caps_require(): `{"rdmaez_caps":1,"max_qp":100}`.
 *
 * Only the first object is read, and what follows on further lines is ignored. Integers are exact in all
 * 64 bits, with an exponent too. Programs that keep numbers as doubles, as jq before 1.7 does, have rounded
 * those above 2 to the power of 53; what they make of all bits set, 18446744073709552000, is read as that.
 *
 * @param json the text, in UTF-8; needs no NUL at its end
 * @param length how many bytes it has
 * @param caps receives what was read; written on success only
 * @param diag receives the explanation; may be NULL. Its field is the key's path, or "json" for the text;
 *        the place (#RDMAEZ_VALUE_POSITION) is that of a byte in @p json
 * @retval 0 @p caps is filled
 * @retval EINVAL @p json or @p caps is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); the text is no JSON object
 *         (#RDMAEZ_WHY_JSON_SYNTAX), or one more than 32 deep (#RDMAEZ_WHY_JSON_DEPTH); it does not say that it is
 *         of this kind and version (#RDMAEZ_WHY_JSON_VERSION); a value is of another type than the field
 *         (#RDMAEZ_WHY_JSON_TYPE), beyond the field's range (#RDMAEZ_WHY_RANGE, or #RDMAEZ_WHY_JSON_RANGE where 63 bits
 *         do not hold the numbers), no GUID or too long a text (#RDMAEZ_WHY_JSON_TEXT), no source
 *         (#RDMAEZ_WHY_ENUM); a field is there twice (#RDMAEZ_WHY_JSON_TWICE)
 * @since rdmaez 0.1; rdma-core 33. Sources: RFC 8259
 */
RDMAEZ_API int rdmaez_caps_parse(const char *json, size_t length, struct rdmaez_caps *caps,
				 struct rdmaez_diag *diag)
{
	struct rdmaez_impl_caps_reading reading;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_caps_parse");
	if (!json || !caps)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  json ? "caps" : "json");
	memset(&reading, 0, sizeof(reading));
	reading.json.text = json;
	reading.json.length = length;
	reading.json.diag = diag;
	error = rdmaez_impl_caps_read_object(&reading, 0);
	if (error)
		return error;
	if (!rdmaez_impl_json_line_ends(&reading.json))
		return rdmaez_impl_json_syntax(&reading.json);
	if (!reading.version)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_JSON_VERSION, "rdmaez_caps");
	for (int id = 0; id < RDMAEZ_CAPS_ID_COUNT; id++)
		if ((!reading.read[id] || reading.null[id]) &&
		    reading.caps.source[id] <= RDMAEZ_SOURCE_CORRECTED)
			reading.caps.source[id] = RDMAEZ_SOURCE_NOT_ASKED;
	*caps = reading.caps;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif
