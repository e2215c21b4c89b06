/* SPDX-License-Identifier: MIT */
/*
 * Structs of capabilities, all zero, all ones, and random: for each a line with what its JSON should hold,
 * then the JSON itself. caps_json.t lets jq compare them.
 *
 * A line of what should be is an array of [path, value], as jq's setpath() takes them. Numbers are strings.
 */
#include <locale.h>
#include <stdlib.h>
#include <wchar.h>

#include <rdmaez/implementation.h>

#include "caps_list.h"

static uint32_t seed = 1;

static uint32_t random_number(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

/* Many bytes are zero, so that every field is now and then. */
static void fill(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(random_number() % 4 ? random_number() : 0);
	for (size_t zeros = random_number() % 8; zeros; zeros--) {
		const size_t at = random_number() % size;
		const size_t most = size - at < 64 ? size - at : 64;

		memset(bytes + at, 0, 1 + random_number() % most);
	}
}

/* Each character by its number, as JSON may spell it. What is no UTF-8 counts as Latin-1. The C library decodes. */
static void print_text(const char *text, size_t size)
{
	size_t end = 0;

	while (end < size && text[end])
		end++;
	printf("\"");
	for (size_t i = 0; i < end;) {
		mbstate_t state = {0};
		wchar_t wide = 0;
		const size_t length = mbrtowc(&wide, text + i, end - i, &state);
		unsigned long character = (unsigned long)wide;

		if (length > 4 || character > 0x10ffff || character >> 11 == 0xd800 >> 11) {
			printf("\\u%04x", (unsigned char)text[i++]);
			continue;
		}
		i += length;
		if (character > 0xffff)
			printf("\\u%04lx", 0xd7c0 + (character >> 10));
		printf("\\u%04lx", character > 0xffff ? 0xdc00 | (character & 0x3ff) : character);
	}
	printf("\"");
}

/* `[["a","b"],` for the path "a.b", and what stands beside it: `[["a","b_names"],`. */
static void print_path(const char *path, const char *beside)
{
	printf("[[");
	for (; strchr(path, '.'); path = strchr(path, '.') + 1)
		printf("\"%.*s\",", (int)strcspn(path, "."), path);
	printf("\"%s%s\"],", path, beside);
}

static void print_name(enum rdmaez_caps_kind kind, uint64_t number)
{
	const char *name = rdmaez_caps_kind_str(kind, number);

	if (rdmaez_caps_kind_is_set(kind) && strcmp(name, "unknown") == 0)
		printf("\"bit_%u\"", (unsigned int)number);
	else
		printf("\"%s\"", name);
}

/* What stands beside a set, an enum or a set of sizes. */
static void print_beside(const struct rdmaez_caps_field *field, const char *name, uint64_t value)
{
	const bool sizes = field->kind == RDMAEZ_KIND_SIZES;
	const char *comma = "";

	if (rdmaez_caps_kind_is_enum(field->kind)) {
		printf(",");
		print_path(name, "_name");
		print_name(field->kind, value);
		printf("]");
	}
	if (!sizes && !rdmaez_caps_kind_is_set(field->kind))
		return;
	printf(",");
	print_path(name, sizes ? "_bytes" : "_names");
	printf("[");
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(value >> bit & 1))
			continue;
		printf("%s", comma);
		if (sizes)
			printf("\"%llu\"", 1ULL << bit);
		else
			print_name(field->kind, bit);
		comma = ",";
	}
	printf("]]");
}

static void print_field(const struct rdmaez_caps_item *item, const char *name)
{
	const struct rdmaez_caps_field *field = item->field;
	uint8_t byte[8];

	memcpy(byte, &item->value, sizeof(byte));
	putchar(',');
	print_path(name, "");
	if (!item->value && !*item->text && item->source > RDMAEZ_SOURCE_CORRECTED) {
		printf("null]");
		return;
	}
	if (field->kind == RDMAEZ_KIND_TEXT)
		print_text(item->text, field->size - 1);
	else if (field->kind == RDMAEZ_KIND_BOOL)
		printf(item->value ? "true" : "false");
	else if (field->kind == RDMAEZ_KIND_GUID)
		printf("\"%02x%02x:%02x%02x:%02x%02x:%02x%02x\"", byte[0], byte[1], byte[2],
		       byte[3], byte[4], byte[5], byte[6], byte[7]);
	else if (field->size == sizeof(int) && (int64_t)item->value < 0)
		printf("\"%lld\"", (long long)item->value);
	else
		printf("\"%llu\"", (unsigned long long)item->value);
	printf("]");
	print_beside(field, name, item->value);
}

/* Why nobody says, or who else does. */
static void print_source(const struct rdmaez_caps_item *item, const char *name)
{
	if (item->source != RDMAEZ_SOURCE_DEVICE)
		printf(",[[\"sources\",\"%s\"],\"%s\"]", name, rdmaez_caps_source_id(item->source));
}

static void print(const struct rdmaez_caps *caps)
{
	static char json[65536];
	struct rdmaez_caps_item item;

	printf("[[[\"rdmaez_caps\"],\"1\"],[[\"sources\"],{}]");
	for (size_t i = 0; i < CAPS_EXPECTED; i++) {
		rdmaez_caps_get(rdmaez_caps_fields(caps), caps_expected[i].id, &item);
		print_field(&item, caps_expected[i].name);
		print_source(&item, caps_expected[i].name);
	}
	puts("]");
	if (rdmaez_caps_json(caps, json, sizeof(json)) >= (int)sizeof(json))
		abort();
	puts(json);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	struct ibv_device_attr_ex attr;
	struct rdmaez_caps caps;

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	memset(&caps, 0, sizeof(caps));
	print(&caps);
	memset(&attr, 0, sizeof(attr));
	rdmaez_caps_decode(&attr, &caps);
	print(&caps);
	memset(&attr, 0xff, sizeof(attr));
	rdmaez_caps_decode(&attr, &caps);
	print(&caps);
	memset(&caps, 0xff, sizeof(caps));
	print(&caps);
	for (; count > 0; count--) {
		if (count % 2) {
			fill((uint8_t *)&attr, sizeof(attr));
			rdmaez_caps_decode(&attr, &caps);
		} else {
			fill((uint8_t *)&caps, sizeof(caps));
			for (int id = 0; id < RDMAEZ_CAPS_ID_COUNT; id++)
				caps.source[id] %= RDMAEZ_SOURCE_COUNT + 1;
		}
		print(&caps);
	}
	return 0;
}
