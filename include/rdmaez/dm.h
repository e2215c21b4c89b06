/* SPDX-License-Identifier: MIT */
/**
 * @file dm.h
 * @brief Device memory: allocate it, copy to and from it, register it, close it.
 *
 * `struct ibv_dm` does not contain its length, so you would have to keep it yourself, and a provider's own range check
 * lets some out-of-bounds ranges through. A `struct rdmaez_dm` contains the memory and its length, and no range outside
 * it reaches the provider. See [device memory](@ref device_memory) for a tour, and dm_share.h for more than one
 * process.
 *
 * `<rdmaez.h>` does not include this header.
 *
 * @par Offsets
 * Offsets count bytes from the beginning of the memory, in copies, regions and addresses alike. A range must end at or
 * before `length` of struct rdmaez_dm.
 *
 * @par Why a copy is refused
 * The checks are made in this order: no memory, or closed memory (EINVAL); a range out of bounds (EFAULT); an offset or
 * length that is not a multiple of 4 (EINVAL), which the functions ending in `_bytes` accept; memory that the CPU
 * cannot reach (EOPNOTSUPP); no buffer (EINVAL). A length of 0 is valid, and needs no buffer. A refused copy never
 * reaches the provider. Copies take no record, so a record that you have says nothing about them. Call
 * rdmaez_dm_check() for an explanation. Any other errno is the provider's own, and part of the data may have been
 * copied.
 *
 * @par What a copy does not do
 * It is atomic only for each 4-byte word. The CPU's writes may linger in its write-combining buffers. They are flushed
 * by the next request that the same thread posts. If a peer learns of the data in any other way, you need a store fence
 * before that, `_mm_sfence()` on x86.
 *
 * @par Threads
 * Any number of threads may copy to and from the same memory at once; overlapping copies mix in 4-byte
 * words. No other thread may use the memory during rdmaez_dm_close().
 *
 * @par Verbs calls
 * Those that the names say: ibv_alloc_dm(), ibv_free_dm() or ibv_unimport_dm(), ibv_memcpy_to_dm(),
 * ibv_memcpy_from_dm(), ibv_reg_dm_mr(). Also one ibv_query_device_ex() to adopt memory, or to say why none was
 * allocated.
 * @par Sources
 * ibv_alloc_dm(), and the drivers that have such memory, as listed with each function.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_DM_H
#define RDMAEZ_DM_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Who owns the memory, which decides what rdmaez_dm_close() does. */
enum rdmaez_dm_owner {
	RDMAEZ_DM_NOBODY,    /**< there is no memory: never opened, or closed */
	RDMAEZ_DM_ALLOCATED, /**< rdmaez_dm_alloc() allocated it: close frees it */
	RDMAEZ_DM_WRAPPED,   /**< rdmaez_dm_wrap() adopted it: close frees it */
	RDMAEZ_DM_IMPORTED   /**< it was imported: close unimports it and frees nothing */
};

/** @brief Device memory. All zero is closed. Copy it only to move it: two copies would close twice. */
struct rdmaez_dm {
	struct ibv_dm *dm;           /**< the verbs object; NULL once closed */
	struct ibv_context *context; /**< the device it is on; NULL once closed */
	size_t length; /**< the length requested, and the bound of every check: it may be lowered */
	size_t alloc_length;        /**< the length requested from the device, at least `length` */
	size_t alignment;           /**< the alignment requested, in bytes; 0: the device's own */
	enum rdmaez_dm_owner owner; /**< who owns it */
	/** unimports memory that ibv_import_dm() did not import; NULL: ibv_unimport_dm() */
	void (*unimport)(struct ibv_dm *dm);
};

/** @brief Bits of rdmaez_dm_opts.flags. */
enum rdmaez_dm_flags {
	RDMAEZ_DM_EXACT = 1 << 4 /**< request the exact length from the device, not rounded up */
};

/** @brief How to allocate. All zero: rounded up, with the device's own alignment. */
struct rdmaez_dm_opts {
	unsigned int flags; /**< enum rdmaez_dm_flags; 0: none */
	/**
	 * alignment of the address on the device, in bytes, a power of two up to 2^31; 0: the device's own.
	 * That is 64 on mlx5, where less has no effect. Devices do not report the maximum.
	 */
	size_t alignment;
};

/** @brief Part of device memory. */
struct rdmaez_dm_range {
	uint64_t offset; /**< the first byte */
	size_t length;   /**< how many bytes */
};

/**
 * @brief A memory region on device memory, for work requests. Filled by rdmaez_dm_reg().
 *
 * Deregister it with `ibv_dereg_mr(region.mr)` before you close the memory. You may also set the four members yourself,
 * for a region that you have registered yourself.
 */
struct rdmaez_dm_region {
	struct ibv_dm *dm; /**< the memory */
	struct ibv_mr *mr; /**< the region on it, with its keys */
	uint64_t offset;   /**< where in the memory it begins */
	size_t length; /**< how many bytes of the memory it covers; `mr->length` may be more: rdmaez_dm_reg() */
};

/** @brief What a region is for; bits for rdmaez_dm_access(). */
enum rdmaez_dm_use {
	RDMAEZ_DM_PEER_READS = 1 << 0,   /**< peers read it: RDMA READ */
	RDMAEZ_DM_PEER_WRITES = 1 << 1,  /**< peers write it: RDMA WRITE */
	RDMAEZ_DM_PEER_ATOMICS = 1 << 2, /**< peers use atomics on it */
	RDMAEZ_DM_OWN_WRITES = 1 << 3    /**< local requests write it: receives, results of READs */
};

/* ---- Allocate and close ------------------------------------------------------------------- */

/**
 * @brief Allocates device memory.
 *
 * Devices allocate in units of 64 bytes, and some refuse to register part of a unit, so the request is rounded up to
 * whole units. Checks still use @p length. `max_dm_size` need not be a multiple of 64. If rounding up would exceed it,
 * the function requests @p length unchanged. The initial contents are undefined. It makes one ibv_query_device_ex() and
 * one ibv_alloc_dm().
 *
 * @param context the device
 * @param length how many bytes, at least 1 and at most the device's `max_dm_size`, which limits a single allocation and
 *         does not say what is free
 * @param opts how; NULL: the defaults
 * @param dm receives the memory; written on success only. Close it with rdmaez_dm_close()
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p dm is the memory
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); unknown flags (#RDMAEZ_WHY_OPTION_UNKNOWN); an
 *         alignment that is not a power of two up to 2^31 (#RDMAEZ_WHY_DM_ALIGNMENT); a length out of range
 *         (#RDMAEZ_WHY_RANGE); likely, for an alignment above 64, more than the device supports
 *         (#RDMAEZ_WHY_DM_ALIGNMENT)
 * @retval EOPNOTSUPP the device has no device memory, or its driver reports none (#RDMAEZ_WHY_DM_NONE). In that case
 *         ibv_alloc_dm() is not called, because some drivers (`mana`, for one) return memory whose copy functions crash
 * @retval ENOMEM likely not enough is free in one piece (#RDMAEZ_WHY_DM_FULL); also EAGAIN and ENOSPC
 * @retval EPROTONOSUPPORT the kernel has no device memory for this driver (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno of ibv_query_device_ex() (#RDMAEZ_WHY_QUERY_REFUSED) or of ibv_alloc_dm()
 *         (#RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_NOT_SUPPORTED,
 *         #RDMAEZ_WHY_UNEXPLAINED)
 *
 * Sources: `handle_alloc_dm_memic()` of mlx5, ibv_alloc_dm(3).
 */
RDMAEZ_API int rdmaez_dm_alloc(struct ibv_context *context, size_t length,
			       const struct rdmaez_dm_opts *opts, struct rdmaez_dm *dm,
			       struct rdmaez_diag *diag);

/**
 * @brief Adopts device memory that you have allocated. rdmaez_dm_close() then frees it.
 *
 * To take it back instead, use `dm.dm` and discard the rest, because no other state is kept. For memory that
 * ibv_import_dm() returned, use rdmaez_dm_wrap_imported(): otherwise closing would free it for everyone who shares it.
 * The function makes one ibv_query_device_ex(), unless the memory has no copy functions. If that fails, the memory is
 * adopted.
 *
 * @param memory what ibv_alloc_dm() returned
 * @param length the length it was allocated with: no verb reports it, and a larger one defeats the checks
 * @param dm receives the memory; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p dm is the memory
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), or @p length is 0 (#RDMAEZ_WHY_RANGE)
 * @retval EOPNOTSUPP the memory has copy functions, but the device reports a `max_dm_size` of 0 (#RDMAEZ_WHY_DM_NONE):
 *         the `mana` driver does, and never sets the pointers to its copy functions. Memory without copy functions,
 *         such as the SW_ICM types of mlx5dv_alloc_dm(), is adopted on any device
 *
 * Source: `mana_alloc_dm()` of rdma-core 62 to 65.
 */
RDMAEZ_API int rdmaez_dm_wrap(struct ibv_dm *memory, size_t length, struct rdmaez_dm *dm,
			      struct rdmaez_diag *diag);

/**
 * @brief Adopts device memory that you have imported. rdmaez_dm_close() then unimports it.
 *
 * Unimporting frees nothing: the memory stays with its owner. rdmaez_dm_import() of dm_share.h imports and adopts in
 * one call. The function needs rdma-core 35. It makes the verbs calls of rdmaez_dm_wrap().
 *
 * @param memory what ibv_import_dm() returned
 * @param length the length that its owner allocated; a larger one defeats the checks
 * @param dm receives the memory; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p dm is the memory
 * @retval EINVAL as for rdmaez_dm_wrap()
 * @retval EOPNOTSUPP as for rdmaez_dm_wrap(); or the program is linked with a libibverbs that lacks
 *         ibv_unimport_dm(), so it could not be closed (#RDMAEZ_WHY_DM_NO_IMPORT)
 */
RDMAEZ_API int rdmaez_dm_wrap_imported(struct ibv_dm *memory, size_t length, struct rdmaez_dm *dm,
				       struct rdmaez_diag *diag);

/**
 * @brief Closes device memory: frees it if it was allocated or wrapped, unimports it if it was imported.
 *
 * Deregister all regions on it first, including those of other processes. Until then the kernel refuses with EBUSY,
 * nothing changes, and you may call again. The function makes one ibv_free_dm() or ibv_unimport_dm(), and both if the
 * first fails with ENOENT.
 *
 * @param dm the memory; all zero afterwards, unless it stays open
 * @param diag receives the explanation; may be NULL
 * @retval 0 it is closed
 * @retval EINVAL @p dm is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), already closed or without an owner
 *         (#RDMAEZ_WHY_DM_CLOSED); nothing changes
 * @retval EBUSY likely a region on it is still registered, here or in another process, or another thread is using it
 *         (#RDMAEZ_WHY_DM_IN_USE); it stays open
 * @retval ENOENT someone else has freed it (#RDMAEZ_WHY_DM_STALE); it is closed here
 * @return any other errno of ibv_free_dm(), such as EIO when the device is gone (#RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_NOT_SUPPORTED,
 *         #RDMAEZ_WHY_UNEXPLAINED); it stays open
 */
RDMAEZ_API int rdmaez_dm_close(struct rdmaez_dm *dm, struct rdmaez_diag *diag);

/* ---- Copies of words ---------------------------------------------------------------------- */

/**
 * @brief Explains why a copy of this range would be refused, if there is a buffer. It calls no verb.
 *
 * @param dm the memory
 * @param offset the first byte
 * @param length how many bytes
 * @param diag receives the explanation; may be NULL
 * @retval 0 the range can be copied
 * @retval EINVAL @p dm is NULL (#RDMAEZ_WHY_NULL_ARGUMENT) or closed (#RDMAEZ_WHY_DM_CLOSED); @p offset, @p length
 *         or both are not multiples of 4 (#RDMAEZ_WHY_DM_GRANULARITY)
 * @retval EFAULT the range is out of bounds (#RDMAEZ_WHY_DM_RANGE)
 * @retval EOPNOTSUPP the driver lacks one or both copy functions, as for the SW_ICM types of
 *         mlx5dv_alloc_dm() (#RDMAEZ_WHY_DM_NO_CPU)
 */
RDMAEZ_API int rdmaez_dm_check(const struct rdmaez_dm *dm, uint64_t offset, size_t length,
			       struct rdmaez_diag *diag);

/**
 * @brief Copies into device memory: one ibv_memcpy_to_dm().
 *
 * If @p src is not aligned to 4 bytes, it makes one call for each 256 bytes, because providers read whole words there.
 *
 * @param dm the memory
 * @param offset where to, a multiple of 4
 * @param src what to copy, at any address; NULL only with a length of 0
 * @param length how many bytes, a multiple of 4
 * @return 0, or why it was refused: see the head of this file
 */
RDMAEZ_INLINE int rdmaez_dm_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				    size_t length);

/**
 * @brief Copies out of device memory: one ibv_memcpy_from_dm(). It is slow: each word crosses the bus.
 *
 * If @p dst is not aligned to 4 bytes, it makes one call for each 256 bytes, because providers write whole words there.
 *
 * @param dm the memory
 * @param offset where from, a multiple of 4
 * @param dst where to, at any address; NULL only with a length of 0; not written if the copy is refused
 * @param length how many bytes, a multiple of 4
 * @return 0, or why it was refused: see the head of this file
 */
RDMAEZ_INLINE int rdmaez_dm_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
				      size_t length);

/**
 * @brief Fills device memory with one byte value, as memset() does: one ibv_memcpy_to_dm() for each 256 bytes.
 *
 * @param dm the memory
 * @param offset where to begin, a multiple of 4
 * @param byte the value; only the low 8 bits are used
 * @param length how many bytes, a multiple of 4
 * @return 0, or why it was refused: see the head of this file
 */
RDMAEZ_API int rdmaez_dm_fill(const struct rdmaez_dm *dm, uint64_t offset, int byte, size_t length);

/* ---- Copies of bytes ---------------------------------------------------------------------- */

/**
 * @brief Copies any number of bytes into device memory, to any offset.
 *
 * If only part of the first or last word changes, the function reads that word first and writes it back whole. **That
 * is not atomic**: what the device, a peer or another thread writes to these words meanwhile is lost. If that can
 * happen, use multiples of 4 and rdmaez_dm_copy_to(). For multiples of 4 this function calls it too. Otherwise it makes
 * one ibv_memcpy_to_dm() for each 256 bytes, and at most two ibv_memcpy_from_dm().
 *
 * @param dm the memory
 * @param offset where to
 * @param src what to copy, at any address; NULL only with a length of 0
 * @param length how many bytes
 * @return 0, or why it was refused: see the head of this file. Also EFAULT if the last word ends beyond
 *         `alloc_length`, which is possible for memory that was wrapped, imported or allocated with
 *         #RDMAEZ_DM_EXACT; EOPNOTSUPP if either copy function is missing
 */
RDMAEZ_API int rdmaez_dm_copy_to_bytes(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				       size_t length);

/**
 * @brief Copies any number of bytes out of device memory, from any offset.
 *
 * For multiples of 4 it calls rdmaez_dm_copy_from(). Otherwise it makes one ibv_memcpy_from_dm() for each 256 bytes.
 *
 * @param dm the memory
 * @param offset where from
 * @param dst where to, at any address; NULL only with a length of 0; no byte beyond @p length is written
 * @param length how many bytes
 * @return 0, or why it was refused: as for rdmaez_dm_copy_to_bytes()
 */
RDMAEZ_API int rdmaez_dm_copy_from_bytes(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
					 size_t length);

/* ---- Regions ------------------------------------------------------------------------------ */

/**
 * @brief Returns the access flags of a region for its uses, with local write added where it is required.
 *
 * Do not pass IBV_ACCESS_ bits: their values overlap with other meanings. IBV_ACCESS_REMOTE_WRITE equals
 * #RDMAEZ_DM_PEER_WRITES, but IBV_ACCESS_LOCAL_WRITE equals #RDMAEZ_DM_PEER_READS.
 *
 * @param uses bits of enum rdmaez_dm_use; 0: the device only reads it, for local sends and writes
 * @return IBV_ACCESS_ bits for rdmaez_dm_reg(); unknown bits of @p uses have no effect
 */
RDMAEZ_API unsigned int rdmaez_dm_access(unsigned int uses);

/**
 * @brief Registers device memory as a memory region: one ibv_reg_dm_mr().
 *
 * It always adds IBV_ACCESS_ZERO_BASED, so addresses count from 0 at the region's first byte. rdmaez_dm_sge() and
 * rdmaez_dm_remote() compute them from offsets in the memory.
 *
 * @param dm the memory
 * @param pd the protection domain, of the same context: verbs do not check, and would register other memory
 *        with the same handle there
 * @param range what to register, at least 1 byte; NULL: all of it, to the end of `alloc_length`, because some firmware
 *         accepts only whole units of 64 bytes. Peers can then reach the bytes after `length`, which belong to the same
 *         allocation
 * @param access IBV_ACCESS_LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC and ZERO_BASED, or what
 *        rdmaez_dm_access() returns
 * @param region receives the region; written on success only. Deregister it with `ibv_dereg_mr(region->mr)`
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p region is the region
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); the memory is closed (#RDMAEZ_WHY_DM_CLOSED); @p pd
 *         is of another context (#RDMAEZ_WHY_DM_OTHER_CONTEXT); a range that is out of bounds
 *         (#RDMAEZ_WHY_DM_RANGE) or empty (#RDMAEZ_WHY_RANGE); remote write or atomic without local write
 *         (#RDMAEZ_WHY_MR_LOCAL_WRITE); relaxed ordering or another optional flag
 *         (#RDMAEZ_WHY_DM_RELAXED); other flags (#RDMAEZ_WHY_DM_ACCESS_BITS); likely a range that is not in
 *         units of 64 bytes (#RDMAEZ_WHY_DM_BLOCKS)
 * @retval ENOENT someone else has freed the memory (#RDMAEZ_WHY_DM_STALE)
 * @retval EOPNOTSUPP likely the memory is emulated, and the range does not begin at a multiple of the page
 *         size (#RDMAEZ_WHY_DM_EMU_PAGE); or the driver does not support it (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno of ibv_reg_dm_mr() (#RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED)
 *
 * Sources: `ib_uverbs_dm_mr_reg` and `mlx5_ib_reg_dm_mr()` of Linux 6.1, `mana_ib_reg_dm_mr()` of 7.2, and pull request
 * 11178 of UCX for the units of 64 bytes.
 */
RDMAEZ_API int rdmaez_dm_reg(const struct rdmaez_dm *dm, struct ibv_pd *pd,
			     const struct rdmaez_dm_range *range, unsigned int access,
			     struct rdmaez_dm_region *region, struct rdmaez_diag *diag);

/* ---- Addresses ---------------------------------------------------------------------------- */

/**
 * @brief Fills the scatter/gather element for part of device memory in a local work request.
 *
 * For all of the region: `rdmaez_dm_sge(&region, region.offset, region.length, &sge, diag)`.
 *
 * @param region the region
 * @param offset the first byte, in the memory (not in the region), as for a copy
 * @param length how many bytes
 * @param sge receives the element; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p sge is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); `region->mr` is NULL or a region of host memory
 *         (#RDMAEZ_WHY_DM_NOT_REGION), or shorter than @p region says (#RDMAEZ_WHY_RANGE); more than
 *         4 GiB - 1, the most an element holds (#RDMAEZ_WHY_RANGE)
 * @retval EFAULT the range is not inside the region (#RDMAEZ_WHY_DM_RANGE)
 */
RDMAEZ_API int rdmaez_dm_sge(const struct rdmaez_dm_region *region, uint64_t offset, size_t length,
			     struct ibv_sge *sge, struct rdmaez_diag *diag);

/**
 * @brief Computes the `remote_addr` at which a peer reaches part of device memory, with `region.mr->rkey`.
 *
 * @param region the region
 * @param offset the first byte, in the memory (not in the region), as for a copy
 * @param length how many bytes the peer will access
 * @param remote_addr receives the address; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p remote_addr is written
 * @retval EINVAL as for rdmaez_dm_sge(), but without the 4 GiB limit
 * @retval EFAULT the range is not inside the region (#RDMAEZ_WHY_DM_RANGE)
 */
RDMAEZ_COLD int rdmaez_dm_remote(const struct rdmaez_dm_region *region, uint64_t offset,
				 size_t length, uint64_t *remote_addr, struct rdmaez_diag *diag);

/**
 * @brief Computes the `remote_addr` for an atomic, which works on 8 bytes at a multiple of 8.
 *
 * @param region the region
 * @param offset the first of the 8 bytes, in the memory (not in the region)
 * @param remote_addr receives the address; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p remote_addr is written
 * @retval EINVAL as for rdmaez_dm_remote(); or @p offset, or its address in the region, is not a multiple
 *         of 8 (#RDMAEZ_WHY_WR_ATOMIC)
 * @retval EFAULT the 8 bytes are not inside the region (#RDMAEZ_WHY_DM_RANGE)
 */
RDMAEZ_COLD int rdmaez_dm_remote_atomic(const struct rdmaez_dm_region *region, uint64_t offset,
					uint64_t *remote_addr, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

/**
 * @brief Whether ibv_import_dm() is available. If you do not define it, that is determined when the program is linked.
 *
 * Define it as 1 to call the function directly, which needs verbs.h of rdma-core 35 or newer. Define it as 0 never to
 * call it. A compiler without weak symbols gets 0.
 */
#if !defined(RDMAEZ_HAVE_IMPORT_DM) && !defined(__GNUC__)
#define RDMAEZ_HAVE_IMPORT_DM 0
#endif

/** @brief The same for ibv_dm_export_dmabuf_fd() of rdma-core 62. */
#if !defined(RDMAEZ_HAVE_DM_DMABUF) && !defined(__GNUC__)
#define RDMAEZ_HAVE_DM_DMABUF 0
#endif

#include "impl/dm.h"

#endif
