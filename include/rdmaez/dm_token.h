/* SPDX-License-Identifier: MIT */
/**
 * @file dm_token.h
 * @brief What one process tells another about device memory, as 144 bytes.
 *
 * Device memory has a length that no verb reports, and a number that only its owner knows. A token holds
 * these, the device, and where wanted the numbers of a protection domain and of a memory region. The bytes
 * are the same on every machine. A token is no secret and no permission: what gives access is the file
 * descriptor that travels with it (dm_share.h).
 *
 * The functions here call no verbs. Any thread may call them.
 *
 * @since rdmaez 0.1; rdma-core 33
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
	uint64_t alloc_length;           /**< bytes that the device was asked for */
	uint64_t alignment;              /**< of the memory, in bytes; 0: unknown */
	uint64_t mr_offset;              /**< where in the memory the region begins */
	uint64_t mr_length;              /**< bytes of the memory in the region */
	char device[IBV_SYSFS_NAME_MAX]; /**< the device's name, for people: the GUID decides */
};

/**
 * @brief Writes a token as bytes that mean the same on every machine.
 *
 * Big endian: "RZDM", the version and the flags (16 bits each), the five numbers of 32 bits and the six
 * of 64 bits as struct rdmaez_dm_token lists them, the name, and the CRC-32 of all that.
 *
 * @param token a token of rdmaez_dm_export()
 * @param buf receives the bytes; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p buf is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), or a field that no token has, which is named
 *         (#RDMAEZ_WHY_DM_TOKEN_FIELD)
 */
RDMAEZ_API int rdmaez_dm_token_pack(const struct rdmaez_dm_token *token,
				    uint8_t buf[RDMAEZ_DM_TOKEN_BYTES], struct rdmaez_diag *diag);

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
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), no token (#RDMAEZ_WHY_DM_TOKEN_MAGIC), one of
 *         another version (#RDMAEZ_WHY_DM_TOKEN_VERSION), a field that no token has, which is named
 *         (#RDMAEZ_WHY_DM_TOKEN_FIELD), or any other change (#RDMAEZ_WHY_DM_TOKEN_SUM)
 */
RDMAEZ_API int rdmaez_dm_token_unpack(const uint8_t buf[RDMAEZ_DM_TOKEN_BYTES],
				      struct rdmaez_dm_token *token, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/dm_token.h"
#endif

#endif
