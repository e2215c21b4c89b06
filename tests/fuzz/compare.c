/* SPDX-License-Identifier: MIT */
/*
 * Files for rdmaez-explain --compare under libFuzzer: whatever is in one, it is taken or refused, what is printed is
 * text that a terminal may have, and a state that was taken is written as it was read.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "must.h"

static char *written(const struct explain_state *state, size_t *length)
{
	char *text;

	*length = explain_state_write(state, NULL, 0);
	text = malloc(*length + 1);
	must(text != NULL);
	must(explain_state_write(state, text, *length + 1) == *length && strlen(text) == *length);
	return text;
}

/* What is written of a state is read as the same. */
static void comes_back(const struct explain_state *state)
{
	struct explain_read again = {.files = 0};
	size_t length, second;
	char *const text = written(state, &length);
	char *other;

	explain_read_text(&again, "again", text, length);
	must(again.count == 1 && again.problems == 0 && again.without == 0);
	other = written(again.state, &second);
	must(length == second && !memcmp(text, other, length));
	free(other);
	free(text);
	explain_read_free(&again);
}

static void is_text(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		must(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct explain_read read = {.files = 0};
	char *page = NULL, *const text = malloc(size + 1);
	size_t length = 0, found;
	FILE *out;

	must(text != NULL);
	memcpy(text, data, size);
	explain_read_text(&read, "\x1b]0;name\x07", text, size);
	free(text); /* nothing of it is kept */
	for (size_t i = 0; i < read.count; i++)
		comes_back(&read.state[i]);
	for (size_t i = 0; i < read.problems; i++)
		is_text(read.problem[i], strlen(read.problem[i]));
	out = open_memstream(&page, &length);
	must(out != NULL);
	found = explain_compare_states(read.state, read.count, out);
	fclose(out);
	must((found > 0) == (length > 0));
	is_text(page, length);
	free(page);
	explain_read_free(&read);
	must(read.rows == 0);
	return 0;
}
