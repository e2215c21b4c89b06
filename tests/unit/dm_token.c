/* SPDX-License-Identifier: MIT */
/* What a token may hold, to the last number: each limit from both sides, and what a refusal says of it. */
#include <rdmaez/dm_share.h>
#include <rdmaez/implementation.h>

#include "findings.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct rdmaez_diag diag;

static struct rdmaez_dm_token good(void)
{
	struct rdmaez_dm_token token;

	memset(&token, 0, sizeof(token));
	token.flags = RDMAEZ_DM_TOKEN_PD | RDMAEZ_DM_TOKEN_MR;
	token.length = 4096;
	token.alloc_length = 8192;
	token.alignment = 64;
	token.mr_offset = 96;
	token.mr_length = 4000;
	strcpy(token.device, "mlx5_0");
	return token;
}

/* It is packed, and what is unpacked is the same. */
static void accepts(const struct rdmaez_dm_token *token, const char *name)
{
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES];
	struct rdmaez_dm_token found;

	memset(&diag, 0x55, sizeof(diag));
	tap_eq_int(rdmaez_dm_token_pack(token, bytes, &diag), 0, "%s is packed", name);
	tap_eq_count(&diag, 0, "%s: with nothing to tell", name);
	tap_eq_str(diag.call, "rdmaez_dm_token_pack", "%s: by this function", name);
	memset(&found, 0xa5, sizeof(found));
	tap_eq_int(rdmaez_dm_token_unpack(bytes, &found, &diag), 0, "%s is unpacked", name);
	tap_eq_str(diag.call, "rdmaez_dm_token_unpack", "%s: by that one", name);
	tap_ok(memcmp(&found, token, sizeof(found)) == 0, "%s: as it was", name);
}

/* It is not, for this reason, and nothing is written; nor is it unpacked where somebody else has packed it. */
static void refuses(const struct rdmaez_dm_token *token, const struct expected *want,
		    const char *name)
{
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES], untouched[RDMAEZ_DM_TOKEN_BYTES];
	struct rdmaez_dm_token found, before;

	memset(bytes, 0xa5, sizeof(bytes));
	memcpy(untouched, bytes, sizeof(bytes));
	check_findings(&diag, rdmaez_dm_token_pack(token, bytes, &diag), EINVAL,
		       "rdmaez_dm_token_pack", want, 1, name);
	tap_ok(memcmp(bytes, untouched, sizeof(bytes)) == 0, "%s: nothing is written", name);
	tap_eq_int(rdmaez_dm_token_pack(token, bytes, NULL), EINVAL, "%s: without a record", name);
	rdmaez_impl_dm_token_write(token, bytes);
	memset(&found, 0xa5, sizeof(found));
	before = found;
	check_findings(&diag, rdmaez_dm_token_unpack(bytes, &found, &diag), EINVAL,
		       "rdmaez_dm_token_unpack", want, 1, name);
	tap_ok(memcmp(&found, &before, sizeof(found)) == 0, "%s: nothing is written", name);
}

#define REFUSES(token, field, name, ...)                                                           \
	do {                                                                                       \
		const struct expected want = {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_TOKEN_FIELD, field, \
					      __VA_ARGS__};                                        \
                                                                                                   \
		refuses(token, &want, name);                                                       \
	} while (0)
#define NOTHING RDMAEZ_VALUE_NONE, 0, 0, 0

static void check_flags(void)
{
	struct rdmaez_dm_token token = good();

	token.flags = 0;
	token.mr_offset = token.mr_length = 0;
	accepts(&token, "the memory alone");
	token.flags = RDMAEZ_DM_TOKEN_EMULATED;
	accepts(&token, "emulated memory");
	token.flags = RDMAEZ_DM_TOKEN_PD;
	accepts(&token, "memory with a domain");
	token = good();
	token.flags |= RDMAEZ_DM_TOKEN_EMULATED;
	accepts(&token, "all of it");
	token.flags = RDMAEZ_DM_TOKEN_PD | 0x48;
	REFUSES(&token, "token.flags", "flags of a later version", RDMAEZ_VALUE_FLAGS, 0x48, 0,
		RDMAEZ_DM_TOKEN_PD | 0x48);
	token.flags = RDMAEZ_DM_TOKEN_MR;
	REFUSES(&token, "token.flags", "a region without its domain", RDMAEZ_VALUE_FLAGS,
		RDMAEZ_DM_TOKEN_MR, 0, RDMAEZ_DM_TOKEN_MR);
	token.flags = RDMAEZ_DM_TOKEN_MR | 0x8000;
	REFUSES(&token, "token.flags", "both", RDMAEZ_VALUE_FLAGS, RDMAEZ_DM_TOKEN_MR | 0x8000, 0,
		RDMAEZ_DM_TOKEN_MR | 0x8000);
}

static void check_lengths(void)
{
	struct rdmaez_dm_token token = good();

	token.flags = 0;
	token.mr_offset = token.mr_length = 0;
	token.length = token.alloc_length = 1;
	accepts(&token, "one byte");
	token.length = token.alloc_length = SIZE_MAX;
	accepts(&token, "as much as there can be");
	token.alloc_length = 0;
	REFUSES(&token, "token.alloc_length", "no memory", RDMAEZ_VALUE_BYTES, 0, 1, SIZE_MAX);
	token.alloc_length = 8192;
	token.length = 0;
	REFUSES(&token, "token.length", "none of the memory", RDMAEZ_VALUE_BYTES, 0, 1, 8192);
	token.length = 8193;
	REFUSES(&token, "token.length", "more than there is", RDMAEZ_VALUE_BYTES, 8193, 1, 8192);
#if SIZE_MAX < UINT64_MAX
	token.alloc_length = (uint64_t)SIZE_MAX + 1;
	REFUSES(&token, "token.alloc_length", "more than a size_t", RDMAEZ_VALUE_BYTES,
		(uint64_t)SIZE_MAX + 1, 1, SIZE_MAX);
#endif
}

static void check_alignment(void)
{
	static const uint64_t wrong[] = {3,         5, 6, 96, UINT64_C(1) << 32, UINT64_C(1) << 63,
					 UINT64_MAX};
	struct rdmaez_dm_token token = good();

	token.alignment = 0;
	accepts(&token, "no alignment");
	for (int bit = 0; bit < 32; bit++) {
		token.alignment = UINT64_C(1) << bit;
		accepts(&token, "a power of two");
	}
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		token.alignment = wrong[i];
		REFUSES(&token, "token.alignment", "another alignment", NOTHING);
	}
}

static void check_region(void)
{
	struct rdmaez_dm_token token = good();

	token.mr_offset = 0;
	token.mr_length = 1;
	accepts(&token, "a region of the first byte");
	token.mr_offset = 4095;
	accepts(&token, "one of the last");
	token.mr_offset = 4096;
	REFUSES(&token, "token.mr_offset", "one behind it", RDMAEZ_VALUE_BYTES, 4096, 0, 4095);
	token.mr_offset = 0;
	token.mr_length = 4096;
	accepts(&token, "one of all");
	token.mr_length = 4097;
	REFUSES(&token, "token.mr_length", "one of more", RDMAEZ_VALUE_BYTES, 4097, 1, 4096);
	token.mr_length = 0;
	REFUSES(&token, "token.mr_length", "an empty one", RDMAEZ_VALUE_BYTES, 0, 1, 4096);
	token.mr_length = 4000;
	token.mr_offset = 97;
	REFUSES(&token, "token.mr_offset", "one that ends too late", RDMAEZ_VALUE_BYTES, 97, 0, 96);
}

/* What the flags do not announce is zero, whatever else it is. */
static void check_absent(void)
{
	struct rdmaez_dm_token token = good();

	token.flags = 0;
	token.mr_offset = token.mr_length = 0;
#define ABSENT(member)                                                                       \
	do {                                                                                 \
		token.member = 1;                                                            \
		REFUSES(&token, "token." #member, #member " of what is not there", NOTHING); \
		token.member = 0;                                                            \
	} while (0)
	ABSENT(pd_handle);
	ABSENT(mr_handle);
	ABSENT(lkey);
	ABSENT(rkey);
	ABSENT(mr_offset);
	ABSENT(mr_length);
	token.flags = RDMAEZ_DM_TOKEN_PD;
	token.pd_handle = 1;
	accepts(&token, "a domain's handle with its domain");
	ABSENT(mr_handle);
}

/* A name of this many letters, and this letter behind the token. */
static void check_name(size_t length, char behind, bool is_good)
{
	struct {
		struct rdmaez_dm_token token;
		char behind[8];
	} in;
	char name[80];

	in.token = good();
	memset(in.token.device, 0, sizeof(in.token.device));
	memset(in.token.device, 'n', length);
	memset(in.behind, behind, sizeof(in.behind));
	snprintf(name, sizeof(name), "a name of %zu letters with %d behind it", length, behind);
	if (is_good)
		accepts(&in.token, name);
	else
		REFUSES(&in.token, "token.device", name, NOTHING);
}

static void check_names(void)
{
	struct rdmaez_dm_token token = good();

	for (int letter = -128; letter < 128; letter++) {
		char name[80];

		snprintf(name, sizeof(name), "the character %d in a name", letter);
		memset(token.device, 0, sizeof(token.device));
		strcpy(token.device, "a?b");
		token.device[1] = (char)letter;
		if (letter > ' ' && letter < 127 && letter != '/')
			accepts(&token, name);
		else
			REFUSES(&token, "token.device", name, NOTHING);
	}
	memset(token.device, 0, sizeof(token.device));
	token.device[63] = 'x';
	REFUSES(&token, "token.device", "no name, and something at its end", NOTHING);
	for (int i = 0; i < 2; i++) {
		const char behind = i ? 'x' : '\0';

		check_name(0, behind, false);
		check_name(1, behind, true);
		check_name(63, behind, true);
		check_name(64, behind, false);
	}
}

/* The head: of another kind, or of another version. */
static void check_head(void)
{
	const struct rdmaez_dm_token token = good();
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES];
	struct rdmaez_dm_token found;

	for (int version = 0; version < 65536; version += version < 4 ? 1 : 65531) {
		if (version == 1)
			continue;
		rdmaez_impl_dm_token_write(&token, bytes);
		bytes[4] = (uint8_t)(version >> 8);
		bytes[5] = (uint8_t)version;
		CHECK_FINDINGS(&diag, rdmaez_dm_token_unpack(bytes, &found, &diag), EINVAL,
			       "rdmaez_dm_token_unpack", "another version",
			       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_TOKEN_VERSION, "token.version",
				RDMAEZ_VALUE_NUMBER, (uint64_t)version, 1, 1});
	}
	for (int i = 0; i < 4; i++) {
		rdmaez_impl_dm_token_write(&token, bytes);
		bytes[i] ^= 0x20;
		CHECK_FINDINGS(
			&diag, rdmaez_dm_token_unpack(bytes, &found, &diag), EINVAL,
			"rdmaez_dm_token_unpack", "something else",
			{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_TOKEN_MAGIC, "token.magic", NOTHING});
	}
	rdmaez_impl_dm_token_write(&token, bytes);
	bytes[RDMAEZ_DM_TOKEN_BYTES - 1] ^= 1;
	CHECK_FINDINGS(&diag, rdmaez_dm_token_unpack(bytes, &found, &diag), EINVAL,
		       "rdmaez_dm_token_unpack", "another sum",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_TOKEN_SUM, "token.checksum", NOTHING});
	CHECK_FINDINGS(&diag, rdmaez_dm_token_unpack(NULL, &found, &diag), EINVAL,
		       "rdmaez_dm_token_unpack", "no bytes",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NULL_ARGUMENT, "buf", NOTHING});
	CHECK_FINDINGS(&diag, rdmaez_dm_token_pack(NULL, bytes, &diag), EINVAL,
		       "rdmaez_dm_token_pack", "no token",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NULL_ARGUMENT, "token", NOTHING});
}

int main(void)
{
	const struct rdmaez_dm_token token = good();

	tap_eq_hex(rdmaez_impl_dm_token_sum((const uint8_t *)"123456789", 9), 0xcbf43926,
		   "the sum is the well-known CRC-32");
	accepts(&token, "a token");
	check_flags();
	check_lengths();
	check_alignment();
	check_region();
	check_absent();
	check_names();
	check_head();
	return tap_done();
}
