/* SPDX-License-Identifier: MIT */
/**
 * @file dm.h
 * @brief Device memory: allocate it, copy into it and out of it, register it, give it back.
 *
 * `struct ibv_dm` does not say how long it is, so every caller of verbs carries the length along, and a
 * provider's own range check lets some ranges through that are outside. A `struct rdmaez_dm` holds the
 * memory and its length together, and nothing outside of it reaches the provider. See
 * [device memory](@ref device_memory) for a tour, and dm_share.h for more than one process.
 *
 * @par Offsets
 * An offset is a byte of the memory, counted from its beginning, in copies, regions and addresses alike. A
 * range lies inside where it ends at `length` of struct rdmaez_dm at the latest.
 *
 * @par Why a copy is refused
 * In this order: no memory, or closed memory (EINVAL); a range that is not inside (EFAULT); an offset or a
 * length that is no multiple of 4 (EINVAL), which the functions ending in `_bytes` take; memory that the
 * CPU cannot reach (EOPNOTSUPP); no buffer (EINVAL). A length of 0 is fine, and needs no buffer. A copy that
 * is refused never reaches the provider. Copies take no record: rdmaez_dm_check() tells which it is, in
 * words. Any other errno is the provider's, as it returned it, and part may be copied by then.
 *
 * @par What a copy does not do
 * It is atomic for each word of 4 bytes only. The CPU's writes may linger in its write-combining buffers: a
 * peer that learns of them in some other way than by a request posted afterwards by the same thread needs
 * a store fence first, `_mm_sfence()` on x86.
 *
 * @par Threads
 * Any number of threads may copy to and from one memory at once; overlapping copies mix in words of 4
 * bytes. rdmaez_dm_close() needs the memory to itself.
 *
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_DM_H
#define RDMAEZ_DM_H

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Who owns the memory, which decides what rdmaez_dm_close() does. */
enum rdmaez_dm_owner {
	RDMAEZ_DM_NOBODY,    /**< there is no memory, or no longer */
	RDMAEZ_DM_ALLOCATED, /**< rdmaez_dm_alloc() allocated it: close frees it */
	RDMAEZ_DM_WRAPPED,   /**< rdmaez_dm_wrap() adopted it: close frees it */
	RDMAEZ_DM_IMPORTED   /**< it was imported: close unimports it and frees nothing */
};

/** @brief Device memory. All zero is closed. Copy it only to move it: two copies would close twice. */
struct rdmaez_dm {
	struct ibv_dm *dm;           /**< what verbs takes; NULL once closed */
	struct ibv_context *context; /**< the device it is on; NULL once closed */
	size_t length; /**< what was asked for; the one bound of every check: it may be lowered */
	size_t alloc_length;        /**< what the device was asked for, at least `length` */
	size_t alignment;           /**< asked for, in bytes; 0: the device's own */
	enum rdmaez_dm_owner owner; /**< who owns it */
	/** what unimports it, where it was not ibv_import_dm() that imported it; NULL: ibv_unimport_dm() */
	void (*unimport)(struct ibv_dm *dm);
};

/** @brief Bits of rdmaez_dm_opts.flags. */
enum rdmaez_dm_flags {
	RDMAEZ_DM_EXACT = 1 << 0 /**< ask the device for the length as it is, not rounded up */
};

/** @brief How to allocate. All zero: rounded up, and aligned as the device does it. */
struct rdmaez_dm_opts {
	unsigned int flags; /**< enum rdmaez_dm_flags; 0: none */
	/**
	 * of the address on the device, in bytes, a power of two up to 2^31; 0: the device's own, which is
	 * 64 on mlx5, where less than that has no effect. How much a device can do is not reported.
	 */
	size_t alignment;
};

/** @brief Part of device memory. */
struct rdmaez_dm_range {
	uint64_t offset; /**< the first byte */
	size_t length;   /**< how many */
};

/**
 * @brief A region on device memory: what requests use. Filled by rdmaez_dm_reg().
 *
 * It ends with `ibv_dereg_mr(region.mr)`, before the memory is closed. A region that the application has
 * registered itself serves too, once these four are set.
 */
struct rdmaez_dm_region {
	struct ibv_dm *dm; /**< the memory */
	struct ibv_mr *mr; /**< the region on it: its keys, and what ibv_dereg_mr() takes */
	uint64_t offset;   /**< where in the memory it begins */
	size_t length; /**< how many bytes of the memory are in it; `mr->length` may be more: rdmaez_dm_reg() */
};

/** @brief What a region is for; bits for rdmaez_dm_access(). */
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
 * refuse regions on it, so the device is asked for whole units, while @p length is what counts here. Where
 * whole units would exceed `max_dm_size`, which need be no multiple of 64, the device is asked for
 * @p length as it is. What the memory holds at first is undefined. One ibv_query_device_ex(), one
 * ibv_alloc_dm().
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
 * @retval EOPNOTSUPP the device has no device memory, or its driver reports none (#RDMAEZ_WHY_DM_NONE), in
 *         which case it is not asked for any: the `mana` driver, for one, hands out memory that crashes
 *         whoever copies into it
 * @retval ENOMEM likely not enough of it is free in one piece (#RDMAEZ_WHY_DM_FULL); EAGAIN and ENOSPC
 *         likewise
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
 * @brief Adopts device memory that the application has allocated, which rdmaez_dm_close() then frees.
 *
 * To have it back instead, take `dm.dm` and forget the rest: nothing is kept elsewhere. Not for memory that
 * ibv_import_dm() returned, which closing would free for everyone: that is rdmaez_dm_wrap_imported(). One
 * ibv_query_device_ex(), unless the memory has no copy functions; where it fails the memory is adopted.
 *
 * @param memory what ibv_alloc_dm() returned
 * @param length the length that was asked for then: no verb reports it, and a greater one defeats the checks
 * @param dm receives the memory; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p dm is the memory
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), or @p length is 0 (#RDMAEZ_WHY_RANGE)
 * @retval EOPNOTSUPP the memory has copy functions, but the device reports a `max_dm_size` of 0
 *         (#RDMAEZ_WHY_DM_NONE): the `mana` driver does, and never set the pointers to its copy functions.
 *         Memory without copy functions, as mlx5dv_alloc_dm() makes of the types SW_ICM, is adopted on any
 *         device
 *
 * Source: `mana_alloc_dm()` of rdma-core 62 to 65.
 */
RDMAEZ_API int rdmaez_dm_wrap(struct ibv_dm *memory, size_t length, struct rdmaez_dm *dm,
			      struct rdmaez_diag *diag);

/**
 * @brief Adopts device memory that the application has imported, which rdmaez_dm_close() then unimports.
 *
 * Nothing is freed by that: the memory stays with its owner. rdmaez_dm_import() of dm_share.h imports and
 * adopts in one. Needs rdma-core 35; verbs calls as rdmaez_dm_wrap().
 *
 * @param memory what ibv_import_dm() returned
 * @param length the length that it was allocated with, which its owner has to tell; a greater one defeats
 *        the checks
 * @param dm receives the memory; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p dm is the memory
 * @retval EINVAL as rdmaez_dm_wrap()
 * @retval EOPNOTSUPP as rdmaez_dm_wrap(); or the program is linked with a libibverbs that lacks
 *         ibv_unimport_dm(), so that closing could not give it up (#RDMAEZ_WHY_DM_NO_IMPORT)
 */
RDMAEZ_API int rdmaez_dm_wrap_imported(struct ibv_dm *memory, size_t length, struct rdmaez_dm *dm,
				       struct rdmaez_diag *diag);

/**
 * @brief Gives device memory back: frees what was allocated or wrapped, unimports what was imported.
 *
 * All regions on it must be deregistered first, those of other processes too; until then the kernel
 * refuses, nothing is changed, and it can be tried again. One ibv_free_dm() or ibv_unimport_dm(); both where
 * the answer was ENOENT.
 *
 * @param dm the memory; all zero afterwards, unless it stays open
 * @param diag receives the explanation; may be NULL
 * @retval 0 it is closed
 * @retval EINVAL @p dm is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), closed already or without an owner
 *         (#RDMAEZ_WHY_DM_CLOSED); nothing is touched
 * @retval EBUSY a region on it is still registered, here or in another process, or another thread is using
 *         it (#RDMAEZ_WHY_DM_IN_USE); it stays open
 * @retval ENOENT someone else has freed it (#RDMAEZ_WHY_DM_STALE); it is closed here
 * @return any other errno of ibv_free_dm(), such as EIO when the device is gone (#RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_NOT_SUPPORTED,
 *         #RDMAEZ_WHY_UNEXPLAINED); it stays open
 */
RDMAEZ_API int rdmaez_dm_close(struct rdmaez_dm *dm, struct rdmaez_diag *diag);

/* ---- Copies of words ---------------------------------------------------------------------- */

/**
 * @brief Tells why a copy of this range would be refused, given a buffer. Calls no verb.
 *
 * @param dm the memory
 * @param offset the first byte
 * @param length how many
 * @param diag receives the explanation; may be NULL
 * @retval 0 the range can be copied
 * @retval EINVAL @p dm is NULL (#RDMAEZ_WHY_NULL_ARGUMENT) or closed (#RDMAEZ_WHY_DM_CLOSED); @p offset, @p length
 *         or both are no multiples of 4 (#RDMAEZ_WHY_DM_GRANULARITY)
 * @retval EFAULT the range is not inside (#RDMAEZ_WHY_DM_RANGE)
 * @retval EOPNOTSUPP the driver lacks one or both copy functions, as for memory of mlx5dv_alloc_dm() of the
 *         types SW_ICM (#RDMAEZ_WHY_DM_NO_CPU)
 */
RDMAEZ_API int rdmaez_dm_check(const struct rdmaez_dm *dm, uint64_t offset, size_t length,
			       struct rdmaez_diag *diag);

/**
 * @brief Copies into device memory: one ibv_memcpy_to_dm().
 *
 * From an address that is no multiple of 4 it is one for each 256 bytes, because providers read words there.
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
 * To an address that is no multiple of 4 it is one for each 256 bytes, because providers write words there.
 *
 * @param dm the memory
 * @param offset where from, a multiple of 4
 * @param dst where to, at any address; NULL only with a length of 0; not written where the copy is refused
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
 * @param byte the value, of which the low 8 bits count
 * @param length how many bytes, a multiple of 4
 * @return 0, or why it was refused: see the head of this file
 */
RDMAEZ_API int rdmaez_dm_fill(const struct rdmaez_dm *dm, uint64_t offset, int byte, size_t length);

/* ---- Copies of bytes ---------------------------------------------------------------------- */

/**
 * @brief Copies into device memory, any number of bytes to any offset.
 *
 * Where only part of the first or the last word is meant, that word is read first and written back whole.
 * **That is not atomic**: what the device, a peer or another thread writes to these words meanwhile is
 * lost. Where that can happen use multiples of 4 and rdmaez_dm_copy_to(), which is also what is called
 * for multiples of 4. Else one ibv_memcpy_to_dm() for each 256 bytes, and at most two ibv_memcpy_from_dm().
 *
 * @param dm the memory
 * @param offset where to
 * @param src what to copy, at any address; NULL only with a length of 0
 * @param length how many bytes
 * @return 0, or why it was refused: see the head of this file. EFAULT also where the last word is not inside
 *         `alloc_length`, which can be of memory that was wrapped, imported or allocated with
 *         #RDMAEZ_DM_EXACT; EOPNOTSUPP where either copy function is missing
 */
RDMAEZ_API int rdmaez_dm_copy_to_bytes(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				       size_t length);

/**
 * @brief Copies out of device memory, any number of bytes from any offset.
 *
 * Multiples of 4 are rdmaez_dm_copy_from()'s; else one ibv_memcpy_from_dm() for each 256 bytes.
 *
 * @param dm the memory
 * @param offset where from
 * @param dst where to, at any address; NULL only with a length of 0; no byte beyond @p length is written
 * @param length how many bytes
 * @return 0, or why it was refused: as rdmaez_dm_copy_to_bytes()
 */
RDMAEZ_API int rdmaez_dm_copy_from_bytes(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
					 size_t length);

/* ---- Regions ------------------------------------------------------------------------------ */

/**
 * @brief The access flags of a region by what it is for, local write added where it is needed.
 *
 * It takes no IBV_ACCESS_ bits: these have the same values with other meanings. IBV_ACCESS_REMOTE_WRITE, for
 * one, is #RDMAEZ_DM_PEER_WRITES, but IBV_ACCESS_LOCAL_WRITE is #RDMAEZ_DM_PEER_READS.
 *
 * @param uses bits of enum rdmaez_dm_use; 0: the device only reads it, for own sends and writes
 * @return IBV_ACCESS_ bits for rdmaez_dm_reg(); unknown bits of @p uses have no effect
 */
RDMAEZ_API unsigned int rdmaez_dm_access(unsigned int uses);

/**
 * @brief Registers device memory, for requests and peers to use: one ibv_reg_dm_mr().
 *
 * Addresses in the region count from 0 at its first byte, as IBV_ACCESS_ZERO_BASED says, which is always
 * added: rdmaez_dm_sge() and rdmaez_dm_remote() make them of offsets in the memory.
 *
 * @param dm the memory
 * @param pd the protection domain, of the same context: verbs does not look, and would register other
 *        memory that has the same number there
 * @param range what to register, at least 1 byte; NULL: all of it, to the end of `alloc_length`, because some
 *        firmware takes whole units of 64 bytes only. Peers then reach what is behind `length`, which is
 *        part of the same allocation and of no other
 * @param access of IBV_ACCESS_LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC and ZERO_BASED, or what
 *        rdmaez_dm_access() returns
 * @param region receives the region; written on success only; ends with `ibv_dereg_mr(region->mr)`
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p region is the region
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); the memory is closed (#RDMAEZ_WHY_DM_CLOSED); @p pd
 *         is of another context (#RDMAEZ_WHY_DM_OTHER_CONTEXT); a range that is not inside
 *         (#RDMAEZ_WHY_DM_RANGE) or empty (#RDMAEZ_WHY_RANGE); remote write or atomic without local write
 *         (#RDMAEZ_WHY_MR_LOCAL_WRITE); relaxed ordering and all flags that are optional
 *         (#RDMAEZ_WHY_DM_RELAXED); other flags (#RDMAEZ_WHY_DM_ACCESS_BITS); likely a range not in units of 64
 *         bytes (#RDMAEZ_WHY_DM_BLOCKS)
 * @retval ENOENT someone else has freed the memory (#RDMAEZ_WHY_DM_STALE)
 * @retval EOPNOTSUPP likely the memory is emulated, and the range does not begin at a multiple of the page
 *         size (#RDMAEZ_WHY_DM_EMU_PAGE); or the driver cannot (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno of ibv_reg_dm_mr() (#RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE,
 *         #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED)
 *
 * Sources: `ib_uverbs_dm_mr_reg` and `mlx5_ib_reg_dm_mr()` of Linux 6.1.
 */
RDMAEZ_API int rdmaez_dm_reg(const struct rdmaez_dm *dm, struct ibv_pd *pd,
			     const struct rdmaez_dm_range *range, unsigned int access,
			     struct rdmaez_dm_region *region, struct rdmaez_diag *diag);

/* ---- Addresses ---------------------------------------------------------------------------- */

/**
 * @brief Makes the scatter/gather element that names part of device memory in an own request.
 *
 * For all of the region: `rdmaez_dm_sge(&region, region.offset, region.length, &sge, diag)`.
 *
 * @param region the region
 * @param offset the first byte, in the memory (not in the region), as for a copy
 * @param length how many bytes
 * @param sge receives the element; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p sge is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); @p region has no region, or one of the host's
 *         memory (#RDMAEZ_WHY_DM_NOT_REGION), or is longer than that (#RDMAEZ_WHY_RANGE); more than 4 GiB - 1,
 *         the most an element holds (#RDMAEZ_WHY_RANGE)
 * @retval EFAULT the range is not inside the region (#RDMAEZ_WHY_DM_RANGE)
 */
RDMAEZ_API int rdmaez_dm_sge(const struct rdmaez_dm_region *region, uint64_t offset, size_t length,
			     struct ibv_sge *sge, struct rdmaez_diag *diag);

/**
 * @brief Tells the `remote_addr` by which a peer reaches part of device memory, with `region.mr->rkey`.
 *
 * @param region the region
 * @param offset the first byte, in the memory (not in the region), as for a copy
 * @param length how many bytes the peer may reach from there
 * @param remote_addr receives the address; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p remote_addr is written
 * @retval EINVAL as rdmaez_dm_sge(), which the 4 GiB do not concern
 * @retval EFAULT the range is not inside the region (#RDMAEZ_WHY_DM_RANGE)
 */
RDMAEZ_API int rdmaez_dm_remote(const struct rdmaez_dm_region *region, uint64_t offset,
				size_t length, uint64_t *remote_addr, struct rdmaez_diag *diag);

/**
 * @brief The same for an atomic, which works on 8 bytes at a multiple of 8.
 *
 * @param region the region
 * @param offset the first of the 8 bytes, in the memory (not in the region)
 * @param remote_addr receives the address; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p remote_addr is written
 * @retval EINVAL as rdmaez_dm_remote(); or @p offset, or the address it has in the region, is no multiple of 8
 *         (#RDMAEZ_WHY_WR_ATOMIC)
 * @retval EFAULT the 8 bytes are not inside the region (#RDMAEZ_WHY_DM_RANGE)
 */
RDMAEZ_API int rdmaez_dm_remote_atomic(const struct rdmaez_dm_region *region, uint64_t offset,
				       uint64_t *remote_addr, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

/**
 * @brief Whether ibv_import_dm() is there. Not defined: found out when the program is linked.
 *
 * Define it as 1 where verbs.h is that of rdma-core 35 or newer and the program is to call the function by
 * its name, or as 0 where it must never be called. A compiler without weak symbols gets 0.
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
