/* SPDX-License-Identifier: MIT */
/**
 * @file devel/dm_emu.h
 * @brief Emulated device memory, for development and tests on devices that have none.
 *
 * rdmaez_dm_emu_attach() makes `ibv_alloc_dm`, the copies, `ibv_free_dm`, `ibv_reg_dm_mr` and the
 * `max_dm_size` of `ibv_query_device_ex` work on an open context of any device, Soft-RoCE for one. The
 * rules and errno values are those of mlx5, the only driver whose device memory the CPU can reach. Memory
 * regions are zero-based and real: a peer's RDMA READ, WRITE and atomics reach them.
 *
 * This is for development only: the "device memory" is host memory, so it makes nothing faster.
 * `<rdmaez.h>` does not include this header.
 *
 * @par How
 * These verbs are called through pointers in the context, which are replaced on attach and restored on
 * detach. The memory is a memfd, so several contexts can share it, also across processes. `ibv_import_dm`
 * cannot be replaced this way: rdmaez_dm_emu_ops() tells dm_share.h what to call instead.
 *
 * The context holds the state's address in `_ABI_placeholder3` of struct verbs_context, a word that
 * libibverbs of rdma-core 33 to 65 leaves at 0. Only the replacement functions look it up, so it is known to
 * be theirs. If several shared objects or source files of a program each have a copy of this emulation, the
 * one that finds the word in use refuses to attach (EBUSY) and never dereferences it. A state may be passed
 * from one to another, which refuses a state of another version. Memory that was not allocated here is
 * passed on to the original verbs.
 *
 * @par Threads
 * Emulation does not change which threads may use a context. No other thread may use it during attach,
 * detach and rdmaez_dm_emu_fail().
 *
 * @par Where it differs from mlx5
 * - A copy out of bounds fails with EFAULT even where mlx5's sum of offset and length wraps around.
 * - A region must begin at a multiple of the page size, else EOPNOTSUPP: the kernel accepts host memory
 *   at address 0 only from a page boundary (`ib_uverbs_reg_mr()`). mlx5 accepts any offset.
 * - ibv_free_dm() of imported memory fails with EINVAL. mlx5 frees it, for everyone.
 * - The kernel can tell whether a region is still registered only since Linux 5.9. Before that,
 *   ibv_free_dm() never returns EBUSY.
 * - A region that another process has registered counts until that process deregisters it and then
 *   allocates, frees, imports or registers something, or ends.
 * - Allocating, freeing and registering wait for another process that has the memory's lock, and fail with
 *   ETIMEDOUT (#RDMAEZ_WHY_TIMED_OUT of rdmaez_dm_alloc(), rdmaez_dm_close() and rdmaez_dm_reg()) after
 *   `timeout_ns` if it does not continue or end; nothing is changed then. Attaching, detaching, copying and
 *   rdmaez_dm_shared_close() wait for nobody. Importing waits as long as rdmaez_dm_receive() still may.
 * - A process's memory is freed when it ends, however it ends, unless it has forked: a child that has not
 *   called exec() has inherited the locks that hold the memory, and keeps them.
 *
 * @par Verbs calls
 * One ibv_query_device_ex() to attach, to see whether the device has memory of its own.
 * @par Sources
 * mlx5 of rdma-core 18 to 65 and of Linux 6.1 to 7.2.
 * @since rdmaez 0.1; rdma-core 33; Linux 3.17 with /proc
 */
#ifndef RDMAEZ_DEVEL_DM_EMU_H
#define RDMAEZ_DEVEL_DM_EMU_H

#include "../dm_share.h"
#include "impl/dm_emu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Bits of rdmaez_dm_emu_opts.flags. */
enum rdmaez_dm_emu_flags {
	RDMAEZ_DM_EMU_FORCE = 1 << 0 /**< attach even if the device has its own memory */
};

/** @brief The calls that rdmaez_dm_emu_fail() can make fail. */
enum rdmaez_dm_emu_call {
	RDMAEZ_DM_EMU_ALLOC,     /**< ibv_alloc_dm() */
	RDMAEZ_DM_EMU_FREE,      /**< ibv_free_dm(), with any errno but ENOENT */
	RDMAEZ_DM_EMU_REG,       /**< ibv_reg_dm_mr() */
	RDMAEZ_DM_EMU_COPY_TO,   /**< ibv_memcpy_to_dm() */
	RDMAEZ_DM_EMU_COPY_FROM, /**< ibv_memcpy_from_dm() */
	RDMAEZ_DM_EMU_QUERY,     /**< ibv_query_device_ex() */
	RDMAEZ_DM_EMU_IMPORT     /**< what stands in for ibv_import_dm() */
};

/** @brief How much memory to emulate, or whose. All zero: 256 KiB of new memory. */
struct rdmaez_dm_emu_opts {
	/** enum rdmaez_dm_emu_flags; 0: none */
	unsigned int flags;
	/** the memory to share, from rdmaez_dm_emu_fd() in this or another process; 0: new memory. Stays the
	 *  caller's */
	int fd;
	/** bytes of all device memory, rounded up to pages, which is also what the device reports as
	 *  `max_dm_size`; at most 64 MiB; 0: 256 KiB. Ignored with `fd`: the memory has its size */
	size_t size;
	/** how long to wait for another process that has the memory's lock, in ns; 0: 10 s; #RDMAEZ_NS_NOW:
	 *  it looks once; #RDMAEZ_NS_FOREVER: forever */
	uint64_t timeout_ns;
};

/**
 * @brief The state of an emulation, in the caller's memory.
 *
 * Start from zero, `= {0}`, so that rdmaez_dm_emu_attach() knows that it is not in use. It must not move
 * while attached, and its members are private.
 */
struct rdmaez_dm_emu {
	struct rdmaez_impl_emu state; /**< the emulation's own */
};

/**
 * @brief Gives an open context emulated device memory.
 *
 * The device memory verbs then work on @p context until rdmaez_dm_emu_detach(); call that before
 * ibv_close_device(). As on the device, each allocation takes whole pages, so fewer may fit than their
 * lengths suggest. The alignment may be up to 4096 bytes, `log_align_req` 12. One ibv_query_device_ex(),
 * without #RDMAEZ_DM_EMU_FORCE.
 *
 * @param context the device
 * @param opts how much memory, or whose; NULL: 256 KiB of new memory
 * @param emu the state, from zero; detached after a failure, unless it was already attached: then nothing
 *        changes
 * @param diag receives the explanation; may be NULL
 * @retval 0 attached
 * @retval EINVAL @p context or @p emu is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); `size` is above
 *         64 MiB (#RDMAEZ_WHY_RANGE); unknown flags (#RDMAEZ_WHY_OPTION_UNKNOWN)
 * @retval EEXIST the device has its own device memory, and #RDMAEZ_DM_EMU_FORCE is not set
 *         (#RDMAEZ_WHY_DM_EMU_REAL)
 * @retval EBUSY @p context already has an emulation, of any version, or @p emu is attached to this or
 *         another context (#RDMAEZ_WHY_DM_EMU_ATTACHED)
 * @retval EBADF `fd` is not from rdmaez_dm_emu_fd() of this version of rdmaez: for instance, a file that
 *         could be truncated while in use (#RDMAEZ_WHY_DM_EMU_FD)
 * @retval ENOMEM no memory, or no address space (#RDMAEZ_WHY_NO_RESOURCES)
 * @retval EOPNOTSUPP not a context of rdma-core's libibverbs (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno of memfd_create() and mmap() (#RDMAEZ_WHY_UNEXPLAINED)
 */
RDMAEZ_API int rdmaez_dm_emu_attach(struct ibv_context *context,
				    const struct rdmaez_dm_emu_opts *opts,
				    struct rdmaez_dm_emu *emu, struct rdmaez_diag *diag);

/**
 * @brief Detaches the emulation, and restores what it replaced.
 *
 * The memory itself remains while others share it.
 *
 * @param emu what rdmaez_dm_emu_attach() has filled
 * @param diag receives the explanation; may be NULL
 * @retval 0 detached
 * @retval EINVAL @p emu is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), or not attached, or by another version of rdmaez
 *         (#RDMAEZ_WHY_DM_CLOSED)
 * @retval EBUSY device memory that was allocated or imported on the context is still there
 *         (#RDMAEZ_WHY_DM_EMU_USED); nothing is changed
 */
RDMAEZ_API int rdmaez_dm_emu_detach(struct rdmaez_dm_emu *emu, struct rdmaez_diag *diag);

/**
 * @brief Whether the device memory of a context is emulated.
 * @param context the device; NULL: no
 * @return true from rdmaez_dm_emu_attach() to rdmaez_dm_emu_detach()
 */
RDMAEZ_API bool rdmaez_dm_emu_is_attached(const struct ibv_context *context);

/**
 * @brief The file descriptor by which another context, or process, can share the memory.
 *
 * For `fd` in the options of rdmaez_dm_emu_attach(). rdmaez_dm_send() sends it automatically.
 *
 * @param emu what rdmaez_dm_emu_attach() has filled
 * @return the descriptor, which stays the emulation's; -1: not attached
 */
RDMAEZ_API int rdmaez_dm_emu_fd(const struct rdmaez_dm_emu *emu);

/**
 * @brief Makes a call fail, to test error paths.
 *
 * The failing call has no effect. A second setting for the same call replaces the first.
 *
 * @param emu what rdmaez_dm_emu_attach() has filled
 * @param call which call
 * @param nth 1 is the next such call; 0: every one
 * @param error the errno value; 0: do not fail
 * @param diag receives the explanation; may be NULL
 * @retval 0 set
 * @retval EINVAL @p emu is NULL (#RDMAEZ_WHY_NULL_ARGUMENT) or not attached (#RDMAEZ_WHY_DM_CLOSED); no such
 *         @p call, a negative @p error, or ENOENT for #RDMAEZ_DM_EMU_FREE, after which rdmaez_dm_close() would
 *         hand the memory to ibv_unimport_dm() (#RDMAEZ_WHY_RANGE)
 */
RDMAEZ_API int rdmaez_dm_emu_fail(struct rdmaez_dm_emu *emu, enum rdmaez_dm_emu_call call,
				  unsigned int nth, int error, struct rdmaez_diag *diag);

/**
 * @brief How emulated memory is shared: `ops` of struct rdmaez_dm_share_opts, for both processes.
 *
 * `arg` of the options is a struct rdmaez_dm_emu: the attached one for rdmaez_dm_send(), a zeroed one for
 * rdmaez_dm_receive(), which attaches it to the context that it opens, with #RDMAEZ_DM_EMU_FORCE. The device
 * is the one with the token's name. A program may always set both: real device memory is shared as usual.
 *
 * @return static
 */
RDMAEZ_API const struct rdmaez_dm_share_ops *rdmaez_dm_emu_ops(void);

#ifdef __cplusplus
}
#endif

#include "impl/dm_emu.h"

#endif
