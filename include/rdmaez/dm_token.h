/* SPDX-License-Identifier: MIT */
/**
 * @file dm_token.h
 * @brief What one process tells another about device memory, as 144 bytes.
 *
 * Device memory has a length that no verb tells, and a number that only those know who made it. A
 * token holds these, the device, and where wanted the numbers of a protection domain and of a memory
 * region. The bytes are the same on every machine. A token is no secret and no permission: what gives
 * access is the file descriptor that travels with it (dm_share.h).
 *
 * The functions here make no verbs calls. They may be called from any thread.
 */
#ifndef RDMAEZ_DM_TOKEN_H
#define RDMAEZ_DM_TOKEN_H

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief How many bytes a packed token has. */
#define RDMAEZ_DM_TOKEN_BYTES 144

/** @brief What a token holds beyond the memory itself; bits of rdmaez_dm_token.flags. */
enum rdmaez_dm_token_flags {
	RDMAEZ_DM_TOKEN_PD = 1 << 0, /**< a protection domain: `pd_handle` */
	RDMAEZ_DM_TOKEN_MR = 1 << 1, /**< a memory region: all that begins with `mr_`, the keys */
	RDMAEZ_DM_TOKEN_EMULATED = 1 << 2 /**< the memory is emulated: no device has it */
};

/** @brief What another process needs to know. Made by rdmaez_dm_export(). */
struct rdmaez_dm_token {
	unsigned int flags;              /**< enum rdmaez_dm_token_flags */
	uint32_t dm_handle;              /**< the memory's number in the open device file */
	uint32_t pd_handle;              /**< the protection domain's */
	uint32_t mr_handle;              /**< the memory region's */
	uint32_t lkey;                   /**< the region's key for requests of this machine */
	uint32_t rkey;                   /**< the region's key for requests of a peer */
	uint64_t device_guid;            /**< what ibv_get_device_guid() says, in host byte order */
	uint64_t length;                 /**< bytes that may be used, at least 1 */
	uint64_t alloc_length;           /**< bytes that were requested of the device */
	uint64_t alignment;              /**< of the memory, in bytes; 0: not known */
	uint64_t mr_offset;              /**< where in the memory the region begins */
	uint64_t mr_length;              /**< bytes of the memory in the region */
	char device[IBV_SYSFS_NAME_MAX]; /**< the device's name, for people: the GUID decides */
};

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

/* Writes the low bytes of a number, the highest first, and returns what follows them. */
RDMAEZ_API uint8_t *rdmaez_impl_dm_put(uint8_t *to, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--) {
		to[i] = (uint8_t)value;
		value >>= 8;
	}
	return to + bytes;
}

/* Reads such a number and moves on. */
RDMAEZ_API uint64_t rdmaez_impl_dm_get(const uint8_t **from, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value = value << 8 | *(*from)++;
	return value;
}

/* The CRC-32 of Ethernet, bit by bit: it is needed once per token. */
RDMAEZ_API uint32_t rdmaez_impl_dm_token_sum(const uint8_t *bytes, size_t count)
{
	uint32_t sum = 0xffffffffu;

	for (size_t i = 0; i < count; i++) {
		sum ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
	}
	return ~sum;
}

/* One number of a token that must lie in a range. */
RDMAEZ_API int rdmaez_impl_dm_token_range(struct rdmaez_diag *diag, const char *field,
					  uint64_t value, uint64_t min, uint64_t max)
{
	if (value >= min && value <= max)
		return 0;
	return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_DM_TOKEN_FIELD, field,
					RDMAEZ_VALUE_BYTES, (int64_t)value, (int64_t)min,
					(int64_t)max);
}

/* A name: at least one letter, none that is not printed, and zeros to the end. */
RDMAEZ_API bool rdmaez_impl_dm_token_name_good(const char *name)
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
RDMAEZ_API int rdmaez_impl_dm_token_absent(const struct rdmaez_dm_token *token,
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
	return field ? rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_DM_TOKEN_FIELD, field) : 0;
}

/* Whether a token can have been made by rdmaez_dm_export(); the first field that cannot is named. */
RDMAEZ_API int rdmaez_impl_dm_token_check(const struct rdmaez_dm_token *token,
					  struct rdmaez_diag *diag)
{
	const unsigned int all = RDMAEZ_DM_TOKEN_PD | RDMAEZ_DM_TOKEN_MR | RDMAEZ_DM_TOKEN_EMULATED;
	/* What rdmaez_dm holds is a size_t. */
	const uint64_t most = SIZE_MAX;
	unsigned int wrong = token->flags & ~all;
	int error;

	/* A region is imported into its domain. */
	if (token->flags & RDMAEZ_DM_TOKEN_MR && !(token->flags & RDMAEZ_DM_TOKEN_PD))
		wrong |= RDMAEZ_DM_TOKEN_MR;
	if (wrong)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_DM_TOKEN_FIELD, "token.flags",
						RDMAEZ_VALUE_FLAGS, wrong, 0, token->flags);
	error = rdmaez_impl_dm_token_absent(token, diag);
	if (!error)
		error = rdmaez_impl_dm_token_range(diag, "token.alloc_length", token->alloc_length,
						   1, most);
	if (!error)
		error = rdmaez_impl_dm_token_range(diag, "token.length", token->length, 1,
						   token->alloc_length);
	if (!error && token->alignment & (token->alignment - 1))
		error = rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_DM_TOKEN_FIELD, "token.alignment");
	if (!error && token->flags & RDMAEZ_DM_TOKEN_MR)
		error = rdmaez_impl_dm_token_range(diag, "token.mr_length", token->mr_length, 1,
						   token->length);
	if (!error && token->flags & RDMAEZ_DM_TOKEN_MR)
		error = rdmaez_impl_dm_token_range(diag, "token.mr_offset", token->mr_offset, 0,
						   token->length - token->mr_length);
	if (!error && !rdmaez_impl_dm_token_name_good(token->device))
		error = rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_DM_TOKEN_FIELD, "token.device");
	return error;
}

/**
 * @brief Writes a token as bytes that mean the same on every machine.
 *
 * Big endian: "RZDM", the version and the flags (16 bits each), the five numbers of 32 bits and the six
 * of 64 bits as struct rdmaez_dm_token lists them, the name, and the CRC-32 of all that.
 *
 * @param token a token of rdmaez_dm_export()
 * @param buf receives the bytes; written on success only
 * @retval 0 @p buf is filled
 * @retval EINVAL a NULL argument, or a token that rdmaez_dm_export() does not make
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_token_pack(const struct rdmaez_dm_token *token,
				    uint8_t buf[RDMAEZ_DM_TOKEN_BYTES])
{
	uint8_t *at = buf;

	if (!token || !buf || rdmaez_impl_dm_token_check(token, NULL))
		return EINVAL;
	at = rdmaez_impl_dm_put(at, RDMAEZ_IMPL_DM_TOKEN_MAGIC, 4);
	at = rdmaez_impl_dm_put(at, RDMAEZ_IMPL_DM_TOKEN_VERSION, 2);
	at = rdmaez_impl_dm_put(at, token->flags, 2);
#define RDMAEZ_IMPL_DM_PUT_32(field) at = rdmaez_impl_dm_put(at, token->field, 4);
#define RDMAEZ_IMPL_DM_PUT_64(field) at = rdmaez_impl_dm_put(at, token->field, 8);
	RDMAEZ_IMPL_DM_TOKEN_32(RDMAEZ_IMPL_DM_PUT_32)
	RDMAEZ_IMPL_DM_TOKEN_64(RDMAEZ_IMPL_DM_PUT_64)
#undef RDMAEZ_IMPL_DM_PUT_32
#undef RDMAEZ_IMPL_DM_PUT_64
	memcpy(at, token->device, sizeof(token->device));
	at += sizeof(token->device);
	rdmaez_impl_dm_put(at, rdmaez_impl_dm_token_sum(buf, (size_t)(at - buf)), 4);
	return 0;
}

/* The fields, without a look at what they hold. */
RDMAEZ_API void rdmaez_impl_dm_token_read(const uint8_t *at, struct rdmaez_dm_token *token)
{
	memset(token, 0, sizeof(*token));
	token->flags = (unsigned int)rdmaez_impl_dm_get(&at, 2);
#define RDMAEZ_IMPL_DM_GET_32(field) token->field = (uint32_t)rdmaez_impl_dm_get(&at, 4);
#define RDMAEZ_IMPL_DM_GET_64(field) token->field = rdmaez_impl_dm_get(&at, 8);
	RDMAEZ_IMPL_DM_TOKEN_32(RDMAEZ_IMPL_DM_GET_32)
	RDMAEZ_IMPL_DM_TOKEN_64(RDMAEZ_IMPL_DM_GET_64)
#undef RDMAEZ_IMPL_DM_GET_32
#undef RDMAEZ_IMPL_DM_GET_64
	memcpy(token->device, at, sizeof(token->device));
}

/* rdmaez_dm_token_unpack() without its reset of the record. */
RDMAEZ_API int rdmaez_impl_dm_token_unpack(const uint8_t *buf, struct rdmaez_dm_token *token,
					   struct rdmaez_diag *diag)
{
	const uint8_t *at = buf, *sum = buf + RDMAEZ_DM_TOKEN_BYTES - 4;
	struct rdmaez_dm_token found;
	uint64_t version;
	int error;

	if (rdmaez_impl_dm_get(&at, 4) != RDMAEZ_IMPL_DM_TOKEN_MAGIC)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_DM_TOKEN_MAGIC, "token.magic");
	version = rdmaez_impl_dm_get(&at, 2);
	if (version != RDMAEZ_IMPL_DM_TOKEN_VERSION)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_DM_TOKEN_VERSION,
						"token.version", RDMAEZ_VALUE_NUMBER,
						(int64_t)version, RDMAEZ_IMPL_DM_TOKEN_VERSION,
						RDMAEZ_IMPL_DM_TOKEN_VERSION);
	rdmaez_impl_dm_token_read(at, &found);
	error = rdmaez_impl_dm_token_check(&found, diag);
	if (error)
		return error;
	if (rdmaez_impl_dm_get(&sum, 4) != rdmaez_impl_dm_token_sum(buf, RDMAEZ_DM_TOKEN_BYTES - 4))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_DM_TOKEN_SUM, "token.checksum");
	*token = found;
	return 0;
}

/**
 * @brief Reads a token, and refuses bytes that are none or were changed.
 *
 * Nothing is done with what the token says. Whoever can send bytes can also make a token that is well
 * formed, so what it names must still be looked up: see rdmaez_dm_import().
 *
 * @param buf #RDMAEZ_DM_TOKEN_BYTES bytes from anywhere
 * @param token receives what they say; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p token is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_NULL_ARGUMENT), no token (#RDMAEZ_DM_TOKEN_MAGIC), one of
 *         another version (#RDMAEZ_DM_TOKEN_VERSION), a field that no token has, which is named
 *         (#RDMAEZ_DM_TOKEN_FIELD), or any other change (#RDMAEZ_DM_TOKEN_SUM)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_token_unpack(const uint8_t buf[RDMAEZ_DM_TOKEN_BYTES],
				      struct rdmaez_dm_token *token, struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_dm_token_unpack");
	if (!buf || !token)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_NULL_ARGUMENT,
					  buf ? "token" : "buf");
	return rdmaez_impl_dm_token_unpack(buf, token, diag);
}

#ifdef __cplusplus
}
#endif

#endif
