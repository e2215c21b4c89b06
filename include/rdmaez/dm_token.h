/* SPDX-License-Identifier: MIT */
/**
 * @file dm_token.h
 * @brief Tokens: what one process must tell another about device memory, in 144 bytes.
 *
 * No verb reports the length of device memory, and only its owner knows its handle. A token holds both, the
 * device, and optionally the handles of a protection domain and a memory region. The bytes are the same on
 * every machine. A token is neither secret nor a permission: the file descriptor that travels with it gives
 * access (dm_share.h).
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_DM_TOKEN_H
#define RDMAEZ_DM_TOKEN_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The size of a packed token, in bytes. */
#define RDMAEZ_DM_TOKEN_BYTES 144

/** @brief What a token holds beyond the memory itself; bits of rdmaez_dm_token.flags. */
enum rdmaez_dm_token_flags {
	RDMAEZ_DM_TOKEN_PD = 1 << 0,      /**< a protection domain: `pd_handle` */
	RDMAEZ_DM_TOKEN_MR = 1 << 1,      /**< a memory region: the `mr_` members and the keys */
	RDMAEZ_DM_TOKEN_EMULATED = 1 << 2 /**< the memory is emulated: no device has it */
};

/** @brief What another process needs to know. Made by rdmaez_dm_export(). */
struct rdmaez_dm_token {
	unsigned int flags;    /**< enum rdmaez_dm_token_flags */
	uint32_t dm_handle;    /**< the memory's handle in the open device file */
	uint32_t pd_handle;    /**< the protection domain's */
	uint32_t mr_handle;    /**< the memory region's */
	uint32_t lkey;         /**< the region's local key */
	uint32_t rkey;         /**< the region's remote key */
	uint64_t device_guid;  /**< what ibv_get_device_guid() returns, in host byte order */
	uint64_t length;       /**< bytes that may be used, at least 1 */
	uint64_t alloc_length; /**< bytes requested from the device */
	uint64_t alignment;    /**< of the memory, in bytes; 0: unknown */
	uint64_t mr_offset;    /**< where in the memory the region begins */
	uint64_t mr_length;    /**< bytes of the memory in the region */
	char device[IBV_SYSFS_NAME_MAX]; /**< the device's name, for people: the GUID decides */
};

/**
 * @brief Packs a token into bytes that are the same on every machine.
 *
 * Big endian: "RZDM", the version and the flags (16 bits each), the five 32-bit and the six 64-bit numbers
 * in the order of struct rdmaez_dm_token, the name, and the CRC-32 of all that.
 *
 * @param token a token of rdmaez_dm_export()
 * @param buf receives the bytes; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p buf is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), or an invalid field, which is named
 *         (#RDMAEZ_WHY_DM_TOKEN_FIELD)
 */
RDMAEZ_API int rdmaez_dm_token_pack(const struct rdmaez_dm_token *token,
				    uint8_t buf[RDMAEZ_DM_TOKEN_BYTES], struct rdmaez_diag *diag);

/**
 * @brief Unpacks a token, and refuses bytes that are not one or were changed.
 *
 * Nothing that the token names is looked up. Anyone can make a well-formed token, so a program must not rely
 * on it before rdmaez_dm_import() accepts it.
 *
 * @param buf #RDMAEZ_DM_TOKEN_BYTES bytes from anywhere
 * @param token receives the token; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p token is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), not a token (#RDMAEZ_WHY_DM_TOKEN_MAGIC),
 *         another version (#RDMAEZ_WHY_DM_TOKEN_VERSION), an invalid field, which is named
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
