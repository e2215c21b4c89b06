/* SPDX-License-Identifier: MIT */
/**
 * @file dm.h
 * @brief Device memory: allocate it, copy into it and out of it, register it, give it back.
 *
 * `struct ibv_dm` does not say how long it is, so every caller of verbs carries the length along, and the
 * provider's own test of a range lets some through that are outside. A `struct rdmaez_dm` holds the
 * memory and its length together, and nothing outside of it reaches the provider. See
 * [device memory](@ref device_memory) for a tour, and dm_share.h for more than one process.
 *
 * @par What a copy is refused for
 * In this order: no memory, or one that is closed (EINVAL); a range that is not inside (EFAULT); an
 * offset or a length that is no multiple of 4 (EINVAL), which the functions ending in `_bytes` take; memory
 * that the processor cannot reach (EOPNOTSUPP); no buffer (EINVAL). A length of 0 is fine, and the provider
 * is not called. rdmaez_dm_check() tells which it is, in words. Buffers may have any address.
 *
 * @par What a copy does not do
 * It is atomic for each word of 4 bytes only. The processor's writes may linger in its write-combining
 * buffers: a peer that is told of them by some other way than a request posted afterwards by the same
 * thread needs a store fence before, `_mm_sfence()` on x86.
 *
 * @par Threads
 * Copies of one memory may be made by any number of threads at once; of overlapping ranges they mix in
 * words of 4 bytes. rdmaez_dm_close() needs the memory for itself.
 */
#ifndef RDMAEZ_DM_H
#define RDMAEZ_DM_H

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Whose the memory is, which decides what rdmaez_dm_close() does. */
enum rdmaez_dm_owner {
	RDMAEZ_DM_NOBODY,    /**< there is none, or no more */
	RDMAEZ_DM_ALLOCATED, /**< rdmaez_dm_alloc() has made it: close frees it */
	RDMAEZ_DM_WRAPPED,   /**< rdmaez_dm_wrap() has adopted it: close frees it */
	RDMAEZ_DM_IMPORTED /**< it was imported, another has made it: close unimports, frees nothing */
};

/** @brief Device memory. From zero, it is closed. Copy it only to move it: two copies close twice. */
struct rdmaez_dm {
	struct ibv_dm *dm;           /**< what verbs takes; NULL once closed */
	struct ibv_context *context; /**< the device it is on; NULL once closed */
	size_t length;               /**< what was asked for: ranges lie between 0 and this */
	size_t alloc_length;         /**< what the device was asked for, at least `length` */
	size_t alignment;            /**< asked for, in bytes; 0: the device's own */
	enum rdmaez_dm_owner owner;  /**< whose it is */
	/** how far copies go by the short way; set by rdmaez from `length`, and 0 is right, if slower */
	size_t direct;
};

/** @brief Bits of rdmaez_dm_opts.flags. */
enum rdmaez_dm_flags {
	RDMAEZ_DM_EXACT = 1 << 0 /**< ask the device for the length as it is, not rounded up */
};

/** @brief How to allocate. From zero: rounded up, and aligned as the device does it. */
struct rdmaez_dm_opts {
	int flags; /**< enum rdmaez_dm_flags; 0: none */
	/**
	 * of the address on the device, in bytes, a power of two up to 2^31; 0: the device's own, which is
	 * 64 on mlx5, where less than that has no effect. How much a device can do is not to be had.
	 */
	size_t alignment;
};

/** @brief Part of device memory. */
struct rdmaez_dm_range {
	uint64_t offset; /**< the first byte */
	size_t length;   /**< how many */
};

/** @brief What a region on device memory is for; bits for rdmaez_dm_access(). */
enum rdmaez_dm_use {
	RDMAEZ_DM_PEER_READS = 1 << 0,   /**< peers read it: RDMA READ */
	RDMAEZ_DM_PEER_WRITES = 1 << 1,  /**< peers write it: RDMA WRITE */
	RDMAEZ_DM_PEER_ATOMICS = 1 << 2, /**< peers add and swap */
	RDMAEZ_DM_OWN_WRITES = 1 << 3    /**< own requests write it: receives, what a READ brings */
};

/* ---- Life --------------------------------------------------------------------------------- */

/**
 * @brief Allocates device memory.
 *
 * Devices hand it out in units of 64 bytes. Asked for less, some keep the rest to themselves and then
 * refuse regions on it, so the device is asked for whole units, and @p length is what counts here. Where
 * whole units would be more than `max_dm_size`, which need be no multiple of 64, it is asked for @p length as
 * it is. What the memory holds at first is not defined.
 *
 * @param context the device
 * @param length how many bytes, at least 1 and at most the device's `max_dm_size`, which is the most that
 *        one allocation may have, not what is free
 * @param opts how; NULL: the defaults
 * @param dm receives the memory; written on success only; ends with rdmaez_dm_close()
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p dm is the memory
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); unknown flags (#RDMAEZ_WHY_OPTION_UNKNOWN); an
 *         alignment that is no power of two up to 2^31 (#RDMAEZ_WHY_DM_ALIGNMENT); a length out of range
 *         (#RDMAEZ_WHY_RANGE); likely, where more than 64 was asked for, more alignment than the device can
 *         do (#RDMAEZ_WHY_DM_ALIGNMENT)
 * @retval EOPNOTSUPP the device has no device memory, or its driver tells nothing of it
 *         (#RDMAEZ_WHY_DM_NONE), in which case it is not asked for any: the `mana` driver, for one, hands
 *         out memory that crashes whoever copies into it
 * @retval ENOMEM likely not enough of it is free in one piece (#RDMAEZ_WHY_DM_FULL); EAGAIN and ENOSPC
 *         likewise
 * @retval EPROTONOSUPPORT the kernel has no device memory for this driver (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno of ibv_query_device_ex() (#RDMAEZ_WHY_QUERY_REFUSED) or of ibv_alloc_dm()
 *         (#RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_NOT_SUPPORTED,
 *         #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_query_device_ex(), one ibv_alloc_dm().
 * @since rdmaez 0.1; rdma-core 33. Sources: `handle_alloc_dm_memic()` and ibv_alloc_dm(3)
 */
RDMAEZ_API int rdmaez_dm_alloc(struct ibv_context *context, size_t length,
			       const struct rdmaez_dm_opts *opts, struct rdmaez_dm *dm,
			       struct rdmaez_diag *diag);

/**
 * @brief Adopts device memory that the application has allocated, which rdmaez_dm_close() then frees.
 *
 * To have it back instead, take `dm.dm` and forget the rest: nothing is kept elsewhere.
 *
 * Not for memory that ibv_import_dm() has returned, which closing would free for everyone: that is
 * rdmaez_dm_wrap_imported().
 *
 * @param memory what ibv_alloc_dm() has returned
 * @param length the length that was asked for then: there is no way to ask for it, and a greater one
 *        defeats the checks
 * @param dm receives the memory; written on success only
 * @retval 0 @p dm is the memory
 * @retval EINVAL a NULL argument, or @p length is 0
 * @retval EOPNOTSUPP the memory has copy functions, but the device reports a `max_dm_size` of 0: the `mana`
 *         driver does, and its copy functions are pointers that nobody has set. Memory without them,
 *         as mlx5dv_alloc_dm() makes of the types SW_ICM, is adopted on any device
 * @par Verbs calls
 * One ibv_query_device_ex(), unless the memory has no copy functions. Where it fails the memory is adopted.
 * @since rdmaez 0.1; rdma-core 33. Source: `mana_alloc_dm()` of rdma-core 62 to 65
 */
RDMAEZ_API int rdmaez_dm_wrap(struct ibv_dm *memory, size_t length, struct rdmaez_dm *dm);

/**
 * @brief Adopts device memory that the application has imported, which rdmaez_dm_close() then unimports.
 *
 * Nothing is freed by that: the memory stays with who has allocated it. rdmaez_dm_import() of dm_share.h
 * imports and adopts in one.
 *
 * @param memory what ibv_import_dm() has returned
 * @param length the length that it was allocated with, which whoever allocated it has to tell; a greater
 *        one defeats the checks
 * @param dm receives the memory; written on success only
 * @retval 0 @p dm is the memory
 * @retval EINVAL a NULL argument, or @p length is 0
 * @retval EOPNOTSUPP as rdmaez_dm_wrap(); or the program is linked with a libibverbs that has no
 *         ibv_unimport_dm(), so that closing could not give it up
 * @par Verbs calls
 * As rdmaez_dm_wrap().
 * @since rdmaez 0.1; rdma-core 35, EOPNOTSUPP before
 */
RDMAEZ_API int rdmaez_dm_wrap_imported(struct ibv_dm *memory, size_t length, struct rdmaez_dm *dm);

/**
 * @brief Gives device memory back: frees what was allocated or wrapped, unimports what was imported.
 *
 * All regions on it must be deregistered before, also those of other processes; until then the kernel
 * refuses, nothing is changed, and it can be tried again.
 *
 * @param dm the memory; all zero afterwards, unless it was refused
 * @retval 0 it is closed
 * @retval EINVAL @p dm is NULL, closed already, or has no owner; nothing is touched
 * @retval EBUSY regions on it are left, or another thread uses it; it stays open
 * @retval ENOENT someone else has freed it; it is closed here
 * @return any other errno of ibv_free_dm(), EIO for one when the device is gone; it stays open
 * @par Verbs calls
 * One ibv_free_dm() or ibv_unimport_dm(); both where the answer was ENOENT.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_close(struct rdmaez_dm *dm);

/* ---- Ranges ------------------------------------------------------------------------------- */

/**
 * @brief Tells why a copy of this range would be refused. Asks nobody and touches nothing.
 *
 * rdmaez_dm_copy_to() and its kind return the same errno values and leave it at that.
 *
 * @param dm the memory
 * @param offset the first byte
 * @param length how many
 * @param diag receives the explanation; may be NULL
 * @retval 0 the range can be copied, given a buffer
 * @retval EINVAL @p dm is NULL (#RDMAEZ_WHY_NULL_ARGUMENT) or closed (#RDMAEZ_WHY_DM_CLOSED); @p offset, @p length
 *         or both are no multiples of 4 (#RDMAEZ_WHY_DM_GRANULARITY)
 * @retval EFAULT the range is not inside (#RDMAEZ_WHY_DM_RANGE)
 * @retval EOPNOTSUPP the driver gives one or both of the copy functions not, as for memory of
 *         mlx5dv_alloc_dm() of the types SW_ICM (#RDMAEZ_WHY_DM_NO_CPU)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_check(const struct rdmaez_dm *dm, uint64_t offset, size_t length,
			       struct rdmaez_diag *diag);

/* ---- Copies of words ---------------------------------------------------------------------- */

/**
 * @brief Copies into device memory.
 *
 * @param dm the memory
 * @param offset where to in it, a multiple of 4
 * @param src what to copy, at any address; NULL only with a length of 0
 * @param length how many bytes, a multiple of 4
 * @retval 0 all is copied
 * @retval EINVAL no memory or buffer, or no multiples of 4; see the head of this file
 * @retval EFAULT the range is not inside the memory
 * @retval EOPNOTSUPP the processor cannot reach this memory
 * @return what else ibv_memcpy_to_dm() returns, as it is: mlx5, the one driver that copies, has no other
 *         errors. Part may be copied where @p src is no multiple of 4
 * @par Verbs calls
 * One ibv_memcpy_to_dm(); one for each 256 bytes where @p src is no multiple of 4, because providers read
 * words from there.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_INLINE int rdmaez_dm_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				    size_t length);

/**
 * @brief Copies out of device memory, which is slow: each word is fetched over the bus.
 *
 * @param dm the memory
 * @param offset where from in it, a multiple of 4
 * @param dst where to, at any address; NULL only with a length of 0; where the copy is refused nothing is
 *        written there
 * @param length how many bytes, a multiple of 4
 * @retval 0 all is copied
 * @retval EINVAL no memory or buffer, or no multiples of 4; see the head of this file
 * @retval EFAULT the range is not inside the memory
 * @retval EOPNOTSUPP the processor cannot reach this memory
 * @return what else ibv_memcpy_from_dm() returns, as it is: mlx5, the one driver that copies, has no other
 *         errors. Part may be copied where @p dst is no multiple of 4
 * @par Verbs calls
 * One ibv_memcpy_from_dm(); one for each 256 bytes where @p dst is no multiple of 4, because providers
 * write words there.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_INLINE int rdmaez_dm_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
				      size_t length);

/**
 * @brief Fills device memory with one byte value, as memset() does.
 *
 * @param dm the memory
 * @param offset where to begin, a multiple of 4
 * @param byte the value, of which the low 8 bits count
 * @param length how many bytes, a multiple of 4
 * @retval 0 all is filled
 * @retval EINVAL no memory, or no multiples of 4; see the head of this file
 * @retval EFAULT the range is not inside the memory
 * @retval EOPNOTSUPP the processor cannot reach this memory
 * @return any other errno of ibv_memcpy_to_dm(); part may be filled
 * @par Verbs calls
 * One ibv_memcpy_to_dm() for each 256 bytes.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_fill(const struct rdmaez_dm *dm, uint64_t offset, int byte, size_t length);

/**
 * @brief Compares device memory with memory of the host.
 *
 * @param dm the memory
 * @param offset where to begin in it, a multiple of 4
 * @param data what to compare with, at any address; NULL only with a length of 0
 * @param length how many bytes, a multiple of 4
 * @param same receives how many bytes are the same before the first that differs: @p length where all
 *        are; written on success only
 * @retval 0 @p same is written
 * @retval EINVAL no memory, buffer or @p same, or no multiples of 4; see the head of this file
 * @retval EFAULT the range is not inside the memory
 * @retval EOPNOTSUPP the processor cannot reach this memory
 * @return any other errno of ibv_memcpy_from_dm()
 * @par Verbs calls
 * One ibv_memcpy_from_dm() for each 256 bytes up to the first difference.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_compare(const struct rdmaez_dm *dm, uint64_t offset, const void *data,
				 size_t length, size_t *same);

/* ---- Copies of bytes ---------------------------------------------------------------------- */

/**
 * @brief Copies into device memory, any number of bytes to any offset.
 *
 * Of the first and the last word, where only part is meant, the rest is read first and written back
 * with it. **That is not atomic**: what the device, a peer or another thread writes to these words
 * meanwhile is lost. Where that can happen use multiples of 4 and rdmaez_dm_copy_to().
 *
 * @param dm the memory
 * @param offset where to in it
 * @param src what to copy, at any address; NULL only with a length of 0
 * @param length how many bytes
 * @retval 0 all is copied
 * @retval EINVAL no memory or buffer
 * @retval EFAULT the range is not inside the memory, or its last word is not inside `alloc_length`,
 *         which can be of memory that was wrapped, imported or allocated with #RDMAEZ_DM_EXACT
 * @retval EOPNOTSUPP the processor cannot reach this memory
 * @return any other errno of ibv_memcpy_to_dm() or ibv_memcpy_from_dm(); part may be copied
 * @par Verbs calls
 * As rdmaez_dm_copy_to() where offset and length are multiples of 4. Else one ibv_memcpy_to_dm() for each
 * 256 bytes, and at most two ibv_memcpy_from_dm() of 4 bytes.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_copy_to_bytes(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				       size_t length);

/**
 * @brief Copies out of device memory, any number of bytes from any offset.
 *
 * @param dm the memory
 * @param offset where from in it
 * @param dst where to, at any address; NULL only with a length of 0; no byte beyond @p length is written
 * @param length how many bytes
 * @retval 0 all is copied
 * @retval EINVAL no memory or buffer
 * @retval EFAULT as rdmaez_dm_copy_to_bytes()
 * @retval EOPNOTSUPP the processor cannot reach this memory
 * @return any other errno of ibv_memcpy_from_dm(); part may be copied
 * @par Verbs calls
 * As rdmaez_dm_copy_from() where offset and length are multiples of 4, else one ibv_memcpy_from_dm() for
 * each 256 bytes.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_copy_from_bytes(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
					 size_t length);

/* ---- Regions ------------------------------------------------------------------------------ */

/**
 * @brief The access flags of a region for what it is to be used for, local write where it is needed.
 *
 * It takes no IBV_ACCESS_ bits: these have the same values with other meanings, which nobody can see
 * afterwards. IBV_ACCESS_REMOTE_WRITE, for one, is #RDMAEZ_DM_PEER_WRITES, but IBV_ACCESS_LOCAL_WRITE is
 * #RDMAEZ_DM_PEER_READS.
 *
 * @param uses bits of enum rdmaez_dm_use, no others; 0: the device only reads it, for own sends and writes
 * @return IBV_ACCESS_ bits for rdmaez_dm_reg(); bits of @p uses that are unknown have no effect
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API unsigned int rdmaez_dm_access(unsigned int uses);

/**
 * @brief Registers device memory, for requests and peers to use.
 *
 * Addresses in the region count from 0 at its first byte, as IBV_ACCESS_ZERO_BASED says, which is always
 * added: rdmaez_dm_sge() and rdmaez_dm_remote() make them of offsets. The region is deregistered with
 * ibv_dereg_mr(), before the memory is closed.
 *
 * @param dm the memory
 * @param pd the protection domain, of the same context: verbs does not look, and would register other
 *        memory that has the same number there
 * @param range what to register, at least 1 byte; NULL: all of it, to the end of `alloc_length`, because some
 *        firmware takes whole units of 64 bytes only. Peers reach what is behind `length` then, which is
 *        of the same allocation and nobody else's
 * @param access of IBV_ACCESS_LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC and ZERO_BASED, or what
 *        rdmaez_dm_access() returns
 * @param mr receives the region; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p mr is the region
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); the memory is closed (#RDMAEZ_WHY_DM_CLOSED); @p pd
 *         is of another context (#RDMAEZ_WHY_DM_OTHER_CONTEXT); a range that is not inside
 *         (#RDMAEZ_WHY_DM_RANGE) or empty (#RDMAEZ_WHY_RANGE); remote write or atomic without local write
 *         (#RDMAEZ_WHY_MR_LOCAL_WRITE); relaxed ordering and all flags that are optional
 *         (#RDMAEZ_WHY_DM_RELAXED); other flags (#RDMAEZ_WHY_DM_ACCESS_BITS); likely a range not in units of 64
 *         bytes (#RDMAEZ_WHY_DM_BLOCKS)
 * @retval ENOENT someone else has freed the memory (#RDMAEZ_WHY_DM_STALE)
 * @retval EOPNOTSUPP the memory is emulated, and the range does not begin at a multiple of the page size
 *         (#RDMAEZ_WHY_DM_EMU_PAGE)
 * @return any other errno of ibv_reg_dm_mr() (#RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_NOT_SUPPORTED, #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_reg_dm_mr().
 * @since rdmaez 0.1; rdma-core 33. Sources: `ib_uverbs_dm_mr_reg` and `mlx5_ib_reg_dm_mr()` of Linux 6.1
 */
RDMAEZ_API int rdmaez_dm_reg(const struct rdmaez_dm *dm, struct ibv_pd *pd,
			     const struct rdmaez_dm_range *range, unsigned int access,
			     struct ibv_mr **mr, struct rdmaez_diag *diag);

/* ---- Addresses ---------------------------------------------------------------------------- */

/**
 * @brief Makes the scatter/gather element that names part of device memory in an own request.
 *
 * @param dm the memory
 * @param mr a region on it
 * @param start where in the memory the region begins: 0, or the offset of the range it was registered with
 * @param range the part, by its offset in the memory; NULL: all of the memory that is in the region, which
 *        ends at `length` at the latest
 * @param sge receives the element; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p sge is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); the memory is closed (#RDMAEZ_WHY_DM_CLOSED); the
 *         region is of another context (#RDMAEZ_WHY_DM_OTHER_CONTEXT), of the host's memory
 *         (#RDMAEZ_WHY_DM_NOT_REGION), or would end beyond `alloc_length` (#RDMAEZ_WHY_RANGE); more than 4 GiB - 1,
 *         the most an element holds (#RDMAEZ_WHY_RANGE)
 * @retval EFAULT the range is not inside the region (#RDMAEZ_WHY_DM_RANGE)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_sge(const struct rdmaez_dm *dm, const struct ibv_mr *mr, uint64_t start,
			     const struct rdmaez_dm_range *range, struct ibv_sge *sge,
			     struct rdmaez_diag *diag);

/**
 * @brief Tells the `remote_addr` by which a peer reaches part of device memory, with the region's rkey.
 *
 * @param dm the memory
 * @param mr a region on it
 * @param start where in the memory the region begins: 0, or the offset of the range it was registered with
 * @param range the part, by its offset in the memory; NULL: all of the memory that is in the region, which
 *        ends at `length` at the latest
 * @param remote_addr receives the address; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p remote_addr is written
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); the memory is closed (#RDMAEZ_WHY_DM_CLOSED); the
 *         region is of another context (#RDMAEZ_WHY_DM_OTHER_CONTEXT), of the host's memory
 *         (#RDMAEZ_WHY_DM_NOT_REGION), or would end beyond `alloc_length` (#RDMAEZ_WHY_RANGE)
 * @retval EFAULT the range is not inside the region (#RDMAEZ_WHY_DM_RANGE)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_remote(const struct rdmaez_dm *dm, const struct ibv_mr *mr, uint64_t start,
				const struct rdmaez_dm_range *range, uint64_t *remote_addr,
				struct rdmaez_diag *diag);

/**
 * @brief The same for an atomic, which works on 8 bytes at a multiple of 8.
 *
 * @param dm the memory
 * @param mr a region on it
 * @param start where in the memory the region begins: 0, or the offset of the range it was registered with
 * @param range the 8 bytes, by their offset in the memory; NULL: all of the memory that is in the region
 * @param remote_addr receives the address; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p remote_addr is written
 * @retval EINVAL as rdmaez_dm_remote(), and where the range is not 8 bytes long, or its offset in the
 *         memory or its address in the region is no multiple of 8 (#RDMAEZ_WHY_WR_ATOMIC)
 * @retval EFAULT the range is not inside the region (#RDMAEZ_WHY_DM_RANGE)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_remote_atomic(const struct rdmaez_dm *dm, const struct ibv_mr *mr,
				       uint64_t start, const struct rdmaez_dm_range *range,
				       uint64_t *remote_addr, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#include "impl/dm.h"

#endif
