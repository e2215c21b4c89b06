/* SPDX-License-Identifier: MIT */
/*
 * Reading capabilities under libFuzzer: any bytes are read or refused, and what is read has just one
 * meaning. With an argument that is a number and no fuzzer, it damages that many texts at random and
 * prints those that are read all the same.
 */
#include <stdlib.h>

#include <rdmaez.h>
#include <rdmaez/caps_parse.h>

static void must(bool held)
{
	if (!held)
		abort();
}

/* Reads from just as many bytes, so that the sanitizer sees one too many. */
static int parse(const char *text, size_t length, struct rdmaez_caps *caps)
{
	char *exact = (char *)malloc(length + !length);
	struct rdmaez_caps untouched;
	struct rdmaez_diag diag;
	int error;

	must(exact);
	memcpy(exact, text, length);
	memset(caps, 0xa5, sizeof(*caps));
	untouched = *caps;
	error = rdmaez_caps_parse(exact, length, caps, &diag);
	must(rdmaez_caps_parse(exact, length, caps, NULL) == error);
	free(exact);
	must(diag.error == error && diag.count == (error ? 1 : 0));
	if (error) {
		must(error == EINVAL && memcmp(caps, &untouched, sizeof(untouched)) == 0);
		must(diag.finding[0].kind != RDMAEZ_VALUE_POSITION || diag.finding[0].value <= length);
	}
	return error;
}

/* What is written is read as the same. */
static void write_and_read(const struct rdmaez_caps *caps)
{
	static char json[65536];
	struct rdmaez_caps again;
	const int length = rdmaez_caps_json(caps, json, sizeof(json));

	must(length < (int)sizeof(json) && !parse(json, (size_t)length, &again));
	for (int id = 0; id < RDMAEZ_CAPS_ID_COUNT; id++) {
		const struct rdmaez_caps_field *field =
			rdmaez_caps_describe((enum rdmaez_caps_id)id);

		must(caps->source[id] == again.source[id]);
		must(memcmp((const char *)caps + field->offset, (char *)&again + field->offset,
			    field->size) == 0);
	}
}

/* Any device, from any bytes. */
static void make_device(const uint8_t *data, size_t size, struct rdmaez_caps *caps)
{
	uint8_t *const all = (uint8_t *)caps;

	memset(caps, 0, sizeof(*caps));
	for (size_t i = 0; size && i < sizeof(*caps); i++)
		all[i] = (uint8_t)(data[i % size] ^ (i / size * 29));
	for (int id = 0; id < RDMAEZ_CAPS_ID_COUNT; id++) {
		const struct rdmaez_caps_field *field =
			rdmaez_caps_describe((enum rdmaez_caps_id)id);

		caps->source[id] %= RDMAEZ_SOURCE_COUNT;
		for (size_t i = 1; field->kind == RDMAEZ_KIND_TEXT && i < field->size; i++)
			if (!all[field->offset + i - 1]) /* no text goes on behind its end */
				all[field->offset + i] = 0;
		if (field->kind == RDMAEZ_KIND_TEXT)
			all[field->offset + field->size - 1] = 0;
		if (field->kind == RDMAEZ_KIND_BOOL)
			all[field->offset] &= 1;
		else if (caps->source[id] % 2)
			memset(all + field->offset, 0, field->size);
	}
}

/* The text of one of eight devices, which are made once: writing takes much longer than reading. */
static size_t get_text(unsigned int which, char *text, size_t room)
{
	static char texts[8][32768];
	static size_t lengths[8];

	which %= 8;
	if (!lengths[which]) {
		struct rdmaez_caps caps;
		uint8_t data[40];

		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = (uint8_t)((i + 3) * (which * 20 + 7));
		make_device(data, sizeof(data), &caps);
		lengths[which] = (size_t)rdmaez_caps_json(&caps, texts[which], sizeof(texts[0]));
		must(lengths[which] < sizeof(texts[0]));
	}
	must(lengths[which] < room);
	memcpy(text, texts[which], lengths[which]);
	return lengths[which];
}

/* Puts some bytes of the input over, or between, those of a device's text. */
static size_t make_damaged(const uint8_t *data, size_t size, char *text, size_t room)
{
	size_t length, at, count;

	if (size < 4)
		return 0;
	length = get_text(data[2] >> 4, text, room - 8);
	at = (size_t)(data[0] | data[1] << 8) % length;
	count = 1 + data[2] % (size < 11 ? size - 3 : 8);
	count = count < length - at ? count : length - at;
	if (data[2] >> 7) {
		memmove(text + at + count, text + at, length - at);
		length += count;
	}
	memcpy(text + at, data + 3, count);
	return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[65536];
	struct rdmaez_caps caps;

	if (!parse((const char *)data, size, &caps))
		write_and_read(&caps);
	parse(text, make_damaged(data, size, text, sizeof(text)), &caps);
	if (size && data[0] % 64 == 0) {
		make_device(data, size, &caps);
		write_and_read(&caps);
	}
	return 0;
}

#ifdef PRINT_JSON
/* Bytes that are likely to do harm in JSON. */
static const char harm[] = "{}[]\",:\\u0123456789abcdef-+.eE truefalsnl\t\x7f\x01\xc3\xa9\xed\xf4";

int main(int argc, char **argv)
{
	static char text[65536];
	uint32_t seed = 1;

	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
		struct rdmaez_caps caps;
		uint8_t data[12];
		size_t length;

		for (size_t b = 0; b < sizeof(data); b++) {
			seed = seed * 1664525u + 1013904223u;
			data[b] = (uint8_t)(seed >> 24);
			if (b > 2)
				data[b] = (uint8_t)harm[data[b] % (sizeof(harm) - 1)];
		}
		data[2] &= 0xf3; /* one to four bytes */
		length = make_damaged(data, sizeof(data), text, sizeof(text));
		if (!parse(text, length, &caps))
			printf("%.*s\n", (int)length, text);
	}
	return 0;
}
#endif
