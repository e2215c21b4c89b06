/* SPDX-License-Identifier: MIT */
/* Bodies of dm_token.h. */
#ifndef RDMAEZ_IMPL_DM_TOKEN_H
#define RDMAEZ_IMPL_DM_TOKEN_H

#ifndef RDMAEZ_DM_TOKEN_H
#include "../dm_token.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BYTES_H
#include "bytes.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_DM_VERBS_H
#include "dm_verbs.h"
#endif

RDMAEZ_IMPL_BEGIN

/* "RZDM" */
#define RDMAEZ_IMPL_DM_TOKEN_MAGIC 0x525a444du

#define RDMAEZ_IMPL_DM_TOKEN_VERSION 1

/* The numbers of one size, in their order on the wire; the flags and the name stand apart. */
#define RDMAEZ_IMPL_DM_TOKEN_32(X) \
	X(dm_handle)               \
	X(pd_handle)               \
	X(mr_handle)               \
	X(lkey)                    \
	X(rkey)
#define RDMAEZ_IMPL_DM_TOKEN_64(X) \
	X(device_guid)             \
	X(length)                  \
	X(alloc_length)            \
	X(alignment)               \
	X(mr_offset)               \
	X(mr_length)

/* One number of a token that must lie in a range. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_token_range(struct rdmaez_diag *diag, const char *field,
						uint64_t value, uint64_t min, uint64_t max)
{
	const struct rdmaez_impl_site site = {field, RDMAEZ_WHY_DM_TOKEN_FIELD, RDMAEZ_VALUE_BYTES,
					      0, 0};

	if (value >= min && value <= max)
		return 0;
	return rdmaez_impl_refuse_within(diag, EINVAL, &site, (int64_t)value, (int64_t)min,
					 (int64_t)max);
}

/* A name: at least one letter, none that is not printed, and zeros to the end. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_dm_token_name_good(const char *name)
{
	size_t length = 0;

	while (length < IBV_SYSFS_NAME_MAX && name[length] > ' ' && name[length] <= '~' &&
	       name[length] != '/')
		length++;
	if (!length || length == IBV_SYSFS_NAME_MAX)
		return false;
	for (size_t i = length; i < IBV_SYSFS_NAME_MAX; i++)
		if (name[i])
			return false;
	return true;
}

/* What the flags say is not there is zero. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_token_absent(const struct rdmaez_dm_token *token,
						 struct rdmaez_diag *diag)
{
	const bool pd = token->flags & RDMAEZ_DM_TOKEN_PD, mr = token->flags & RDMAEZ_DM_TOKEN_MR;
	const char *field = NULL;

	if (!pd && token->pd_handle)
		field = "token.pd_handle";
	else if (!mr && token->mr_handle)
		field = "token.mr_handle";
	else if (!mr && token->lkey)
		field = "token.lkey";
	else if (!mr && token->rkey)
		field = "token.rkey";
	else if (!mr && token->mr_offset)
		field = "token.mr_offset";
	else if (!mr && token->mr_length)
		field = "token.mr_length";
	return field ? rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_FIELD, field) : 0;
}

/* Whether a token can have been made by rdmaez_dm_export(); the first field that cannot is named. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_token_check(const struct rdmaez_dm_token *token,
						struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"token.flags", RDMAEZ_WHY_DM_TOKEN_FIELD,
						     RDMAEZ_VALUE_FLAGS, 0, 0};
	const unsigned int all = RDMAEZ_DM_TOKEN_PD | RDMAEZ_DM_TOKEN_MR | RDMAEZ_DM_TOKEN_EMULATED;
	/* What rdmaez_dm holds is a size_t. */
	const uint64_t most = SIZE_MAX;
	unsigned int wrong = token->flags & ~all;
	int error;

	/* A region is imported into its domain. */
	if (token->flags & RDMAEZ_DM_TOKEN_MR && !(token->flags & RDMAEZ_DM_TOKEN_PD))
		wrong |= RDMAEZ_DM_TOKEN_MR;
	if (wrong)
		return rdmaez_impl_refuse_within(diag, EINVAL, &site, wrong, 0, token->flags);
	error = rdmaez_impl_dm_token_absent(token, diag);
	if (!error)
		error = rdmaez_impl_dm_token_range(diag, "token.alloc_length", token->alloc_length,
						   1, most);
	if (!error)
		error = rdmaez_impl_dm_token_range(diag, "token.length", token->length, 1,
						   token->alloc_length);
	if (!error && (token->alignment & (token->alignment - 1) ||
		       token->alignment > RDMAEZ_IMPL_DM_ALIGNMENT))
		error = rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_FIELD,
					   "token.alignment");
	if (!error && token->flags & RDMAEZ_DM_TOKEN_MR)
		error = rdmaez_impl_dm_token_range(diag, "token.mr_length", token->mr_length, 1,
						   token->length);
	if (!error && token->flags & RDMAEZ_DM_TOKEN_MR)
		error = rdmaez_impl_dm_token_range(diag, "token.mr_offset", token->mr_offset, 0,
						   token->length - token->mr_length);
	if (!error && !rdmaez_impl_dm_token_name_good(token->device))
		error = rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_FIELD, "token.device");
	return error;
}

/* Writes a token that has been checked. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_token_write(const struct rdmaez_dm_token *token, uint8_t *buf)
{
	uint8_t *at = buf;

	at = rdmaez_impl_bytes_put(at, RDMAEZ_IMPL_DM_TOKEN_MAGIC, 4);
	at = rdmaez_impl_bytes_put(at, RDMAEZ_IMPL_DM_TOKEN_VERSION, 2);
	at = rdmaez_impl_bytes_put(at, token->flags, 2);
#define RDMAEZ_IMPL_DM_PUT_32(field) at = rdmaez_impl_bytes_put(at, token->field, 4);
#define RDMAEZ_IMPL_DM_PUT_64(field) at = rdmaez_impl_bytes_put(at, token->field, 8);
	RDMAEZ_IMPL_DM_TOKEN_32(RDMAEZ_IMPL_DM_PUT_32)
	RDMAEZ_IMPL_DM_TOKEN_64(RDMAEZ_IMPL_DM_PUT_64)
#undef RDMAEZ_IMPL_DM_PUT_32
#undef RDMAEZ_IMPL_DM_PUT_64
	memcpy(at, token->device, sizeof(token->device));
	at += sizeof(token->device);
	rdmaez_impl_bytes_put(at, rdmaez_impl_bytes_sum(buf, RDMAEZ_DM_TOKEN_BYTES - 4), 4);
}

RDMAEZ_API int rdmaez_dm_token_pack(const struct rdmaez_dm_token *token,
				    uint8_t buf[RDMAEZ_DM_TOKEN_BYTES], struct rdmaez_diag *diag)
{
	int error;

	rdmaez_impl_diag_reset_for(diag, "rdmaez_dm_token_pack", rdmaez_impl_why_dm);
	if (!token || !buf)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  token ? "buf" : "token");
	error = rdmaez_impl_dm_token_check(token, diag);
	if (!error)
		rdmaez_impl_dm_token_write(token, buf);
	return error;
}

/* The fields, without a look at what they hold. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_token_read(const uint8_t *at, struct rdmaez_dm_token *token)
{
	memset(token, 0, sizeof(*token));
	token->flags = (unsigned int)rdmaez_impl_bytes_get(&at, 2);
#define RDMAEZ_IMPL_DM_GET_32(field) token->field = (uint32_t)rdmaez_impl_bytes_get(&at, 4);
#define RDMAEZ_IMPL_DM_GET_64(field) token->field = rdmaez_impl_bytes_get(&at, 8);
	RDMAEZ_IMPL_DM_TOKEN_32(RDMAEZ_IMPL_DM_GET_32)
	RDMAEZ_IMPL_DM_TOKEN_64(RDMAEZ_IMPL_DM_GET_64)
#undef RDMAEZ_IMPL_DM_GET_32
#undef RDMAEZ_IMPL_DM_GET_64
	memcpy(token->device, at, sizeof(token->device));
}

/* rdmaez_dm_token_unpack() without its reset of the record. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_token_unpack(const uint8_t *buf, struct rdmaez_dm_token *token,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {
		"token.version", RDMAEZ_WHY_DM_TOKEN_VERSION, RDMAEZ_VALUE_NUMBER,
		RDMAEZ_IMPL_DM_TOKEN_VERSION, RDMAEZ_IMPL_DM_TOKEN_VERSION};
	const uint8_t *at = buf, *sum = buf + RDMAEZ_DM_TOKEN_BYTES - 4;
	struct rdmaez_dm_token found;
	uint64_t version;
	int error;

	if (rdmaez_impl_bytes_get(&at, 4) != RDMAEZ_IMPL_DM_TOKEN_MAGIC)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_MAGIC, "token.magic");
	version = rdmaez_impl_bytes_get(&at, 2);
	if (version != RDMAEZ_IMPL_DM_TOKEN_VERSION)
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, (int64_t)version);
	rdmaez_impl_dm_token_read(at, &found);
	error = rdmaez_impl_dm_token_check(&found, diag);
	if (error)
		return error;
	if (rdmaez_impl_bytes_get(&sum, 4) != rdmaez_impl_bytes_sum(buf, RDMAEZ_DM_TOKEN_BYTES - 4))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_SUM, "token.checksum");
	*token = found;
	return 0;
}

RDMAEZ_API int rdmaez_dm_token_unpack(const uint8_t buf[RDMAEZ_DM_TOKEN_BYTES],
				      struct rdmaez_dm_token *token, struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset_for(diag, "rdmaez_dm_token_unpack", rdmaez_impl_why_dm);
	if (!buf || !token)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  buf ? "token" : "buf");
	return rdmaez_impl_dm_token_unpack(buf, token, diag);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
