/* SPDX-License-Identifier: MIT */
/*
 * Tokens of device memory under libFuzzer: any bytes are read or refused, a token that is read has just
 * one form, and one that was changed on its way is refused.
 */
#include <rdmaez/dm_share.h>
#include <rdmaez/implementation.h>

#include "must.h"

/* Reads exactly as many bytes as a token has, so that the sanitizer sees one too many. */
static int unpack(const uint8_t *bytes, struct rdmaez_dm_token *token)
{
	uint8_t *const copy = exactly(bytes, RDMAEZ_DM_TOKEN_BYTES);
	struct rdmaez_dm_token untouched;
	struct rdmaez_diag diag;
	int error;

	memset(token, 0xa5, sizeof(*token));
	untouched = *token;
	error = rdmaez_dm_token_unpack(copy, token, &diag);
	free(copy);
	must(diag.error == error && diag.count == (error ? 1 : 0));
	if (error) {
		must(error == EINVAL && strncmp(diag.finding[0].field, "token.", 6) == 0);
		must(memcmp(token, &untouched, sizeof(untouched)) == 0);
	}
	return error;
}

/* What was read can be written, and is then what it was. */
static void read_and_write(const uint8_t *bytes)
{
	uint8_t again[RDMAEZ_DM_TOKEN_BYTES];
	struct rdmaez_dm_token token;

	if (unpack(bytes, &token))
		return;
	must(rdmaez_dm_token_pack(&token, again, NULL) == 0);
	must(memcmp(bytes, again, sizeof(again)) == 0);
	must(token.length && token.length <= token.alloc_length);
	must(token.mr_offset <= token.length && token.mr_length <= token.length - token.mr_offset);
	must(memchr(token.device, 0, sizeof(token.device)));
}

/* Gives bytes what every token has, so that nothing but their fields can be wrong. */
static void make_plausible(uint8_t *bytes)
{
	const uint8_t head[] = {'R', 'Z', 'D', 'M', 0, RDMAEZ_IMPL_DM_TOKEN_VERSION, 0};

	memcpy(bytes, head, sizeof(head));
	rdmaez_impl_bytes_put(bytes + RDMAEZ_DM_TOKEN_BYTES - 4,
			      rdmaez_impl_dm_token_sum(bytes, RDMAEZ_DM_TOKEN_BYTES - 4), 4);
}

/* A token that is good, whatever the input: its numbers are brought into their ranges. */
static void make_good(const uint8_t *from, struct rdmaez_dm_token *token)
{
	rdmaez_impl_dm_token_read(from + 6, token);
	token->flags &= 7;
	if (token->flags & RDMAEZ_DM_TOKEN_MR)
		token->flags |= RDMAEZ_DM_TOKEN_PD;
	if (!(token->flags & RDMAEZ_DM_TOKEN_PD))
		token->pd_handle = 0;
	token->alloc_length |= 1;
	token->length = 1 + token->length % token->alloc_length;
	token->alignment = token->alignment % 33 ? UINT64_C(1) << (token->alignment % 32) : 0;
	token->mr_length = 1 + token->mr_length % token->length;
	token->mr_offset %= token->length - token->mr_length + 1;
	if (!(token->flags & RDMAEZ_DM_TOKEN_MR)) {
		token->mr_handle = token->lkey = token->rkey = 0;
		token->mr_offset = token->mr_length = 0;
	}
	memset(token->device, 0, sizeof(token->device));
	memset(token->device, 'a' + from[7] % 26, 1 + from[8] % (sizeof(token->device) - 1));
}

/* Up to four bits flipped anywhere: the sum notices, whatever the fields say. */
static void change(const struct rdmaez_dm_token *token, const uint8_t *where)
{
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES], before[RDMAEZ_DM_TOKEN_BYTES];
	struct rdmaez_dm_token found;

	must(rdmaez_dm_token_pack(token, bytes, NULL) == 0);
	must(unpack(bytes, &found) == 0 && memcmp(&found, token, sizeof(found)) == 0);
	memcpy(before, bytes, sizeof(bytes));
	for (int i = 0; i < 4; i++) {
		const unsigned int bit = (unsigned int)(where[2 * i] << 8 | where[2 * i + 1]);

		bytes[bit / 8 % sizeof(bytes)] ^= (uint8_t)(1 << bit % 8);
	}
	if (memcmp(before, bytes, sizeof(bytes)) != 0)
		must(unpack(bytes, &found) == EINVAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES] = {0};
	struct rdmaez_dm_token token;

	memcpy(bytes, data, size < sizeof(bytes) ? size : sizeof(bytes));
	read_and_write(bytes);
	make_good(bytes, &token);
	change(&token, bytes);
	make_plausible(bytes);
	read_and_write(bytes);
	/* One field from the input in a token that is good otherwise. */
	must(rdmaez_dm_token_pack(&token, bytes, NULL) == 0);
	for (size_t i = 0; i < size % 16; i++)
		bytes[6 + data[size - 1] % (sizeof(bytes) - 32) + i] = data[i];
	make_plausible(bytes);
	read_and_write(bytes);
	return 0;
}
