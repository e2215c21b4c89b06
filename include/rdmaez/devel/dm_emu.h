/* SPDX-License-Identifier: MIT */
/**
 * @file devel/dm_emu.h
 * @brief Emulated device memory, for development and tests on devices that have none.
 *
 * rdmaez_dm_emu_attach() makes `ibv_alloc_dm`, the copies, `ibv_free_dm`, `ibv_reg_dm_mr` and the
 * `max_dm_size` of `ibv_query_device_ex` work on an open context of any device, Soft-RoCE for one. The
 * rules are those of mlx5, the one driver with device memory that the CPU can reach: what is refused
 * here, and with which errno, is refused there. Memory regions are zero-based and real: a peer's RDMA
 * READ, WRITE and atomics reach them.
 *
 * This is equipment for development: the "device memory" is host memory, so nothing gets faster by it.
 * `<rdmaez.h>` does not include this header; include it by its name where it is wanted.
 *
 * How: those verbs are called through pointers in the context, which are replaced and put back.
 * The memory is a file in memory, so that several contexts, of other processes as well, can share it.
 * libibverbs knows nothing of it: `ibv_import_dm` is not among the verbs that can be replaced, and
 * dm_share.h goes round it.
 *
 * @par Threads
 * What the verbs allow with a context is allowed with one that has emulated device memory.
 * Attaching, detaching and rdmaez_dm_emu_fail() want the context for themselves.
 *
 * @par Where it differs from mlx5
 * - A copy out of bounds is EFAULT even where mlx5's sum of offset and length wraps around.
 * - A region must begin at a multiple of the page size, else EOPNOTSUPP: the kernel takes host memory
 *   for address 0 only where a page begins (`ib_uverbs_reg_mr()`). mlx5 takes any offset.
 * - Whether a region is still registered is asked of the kernel, which can tell since Linux 5.9. Before
 *   that, ibv_free_dm() never answers EBUSY.
 * - A region that another process has registered counts until that process deregisters it and then
 *   makes any other call for device memory, or ends.
 * - What a process has is given back when it ends, however it does, unless it has forked: a child that
 *   has not called exec() has inherited the lock that says that the process lives, and keeps what its
 *   parent had until it ends, too.
 */
#ifndef RDMAEZ_DEVEL_DM_EMU_H
#define RDMAEZ_DEVEL_DM_EMU_H

#include "../dm.h"
#include "../dm_share.h"
#include "impl/dm_emu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Bits of rdmaez_dm_emu_opts.flags. */
enum rdmaez_dm_emu_flag {
	RDMAEZ_DM_EMU_FORCE = 1 << 0 /**< attach even where the device has memory of its own */
};

/** @brief The calls that rdmaez_dm_emu_fail() can make fail. */
enum rdmaez_dm_emu_call {
	RDMAEZ_DM_EMU_ALLOC,     /**< ibv_alloc_dm() */
	RDMAEZ_DM_EMU_FREE,      /**< ibv_free_dm() */
	RDMAEZ_DM_EMU_REG,       /**< ibv_reg_dm_mr() */
	RDMAEZ_DM_EMU_COPY_TO,   /**< ibv_memcpy_to_dm() */
	RDMAEZ_DM_EMU_COPY_FROM, /**< ibv_memcpy_from_dm() */
	RDMAEZ_DM_EMU_QUERY,     /**< ibv_query_device_ex() */
	RDMAEZ_DM_EMU_IMPORT     /**< what stands in for ibv_import_dm() */
};

/** @brief How much memory to emulate, or whose; all zero is a good beginning. */
struct rdmaez_dm_emu_opts {
	int flags; /**< RDMAEZ_DM_EMU_ bits */
	int fd; /**< the memory to share, from rdmaez_dm_emu_fd() in this or another process; 0: new
			memory. Stays the caller's */
	size_t size; /**< bytes of all device memory, rounded up to pages; 0: 256 KiB. Ignored with
			`fd`: the memory has its size */
	size_t max_alloc; /**< what the device reports as `max_dm_size`, up to the rounded `size`; 0: all
			     of that. Ignored with `fd` as well */
};

/**
 * @brief The state of an emulation, in memory of the caller's.
 *
 * It starts from zero, `= {0}`, by which rdmaez_dm_emu_attach() knows that it is not in use, and must stay
 * where it is from attaching to detaching. Nothing in it is for the caller.
 */
struct rdmaez_dm_emu {
	struct rdmaez_impl_dm_emu_state state; /**< the emulation's own */
};

/* ---- Locks ------------------------------------------------------------------------------------- */

/* ---- Is a region still registered? ------------------------------------------------------------- */

/* ---- The directory; all of it under the lock --------------------------------------------------- */

/* ---- The verbs --------------------------------------------------------------------------------- */

/* ---- Attaching --------------------------------------------------------------------------------- */

/**
 * @brief Gives an open context emulated device memory.
 *
 * From here on the verbs of device memory work on @p context, until rdmaez_dm_emu_detach(). Detach before
 * ibv_close_device().
 *
 * Each piece takes whole pages of the memory, as it does on the device, so there may be fewer of them
 * than their lengths suggest. Alignment goes up to 4096 bytes, `log_align_req` 12.
 *
 * @param context the device
 * @param opts how much memory, or whose; NULL: 256 KiB of new memory
 * @param emu the state, in memory that starts from zero, `= {0}`, and stays in its place; after a failure it
 *        is detached, unless the failure is that it was attached already: then nothing is changed
 * @param diag receives the explanation; may be NULL
 * @retval 0 attached
 * @retval EINVAL @p context or @p emu is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); of new memory, `max_alloc` is above
 *         the rounded `size`, or `size` above what there can be (#RDMAEZ_WHY_RANGE); unknown flags
 *         (#RDMAEZ_WHY_OPTION_UNKNOWN)
 * @retval EEXIST the device has device memory of its own, and #RDMAEZ_DM_EMU_FORCE is not set
 *         (#RDMAEZ_WHY_DM_EMU_REAL)
 * @retval EBUSY @p context has an emulation already, or @p emu is attached, to this context or another
 *         (#RDMAEZ_WHY_DM_EMU_ATTACHED)
 * @retval EBADF `fd` is not what rdmaez_dm_emu_fd() of this version of rdmaez tells, such as a file that
 *         could be cut while it is used (#RDMAEZ_WHY_DM_EMU_FD)
 * @retval ENOSPC 64 contexts share the memory already (#RDMAEZ_WHY_NO_RESOURCES)
 * @retval ENOMEM no memory, or no address space (#RDMAEZ_WHY_NO_RESOURCES)
 * @retval EOPNOTSUPP not a context of rdma-core's libibverbs (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno of memfd_create() and mmap() (#RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_query_device_ex(), without #RDMAEZ_DM_EMU_FORCE.
 * @since rdmaez 0.1; rdma-core 33; Linux 3.17 with /proc. Source of the rules: mlx5 of rdma-core 18 to 65
 *        and of Linux 6.1 to 7.2
 */
RDMAEZ_API int rdmaez_dm_emu_attach(struct ibv_context *context,
				    const struct rdmaez_dm_emu_opts *opts,
				    struct rdmaez_dm_emu *emu, struct rdmaez_diag *diag);

/**
 * @brief Takes the emulation away again: the context is as it was before.
 *
 * The memory itself lives on while others share it.
 *
 * @param emu what rdmaez_dm_emu_attach() has filled
 * @retval 0 detached
 * @retval EINVAL @p emu is NULL, or detached already
 * @retval EBUSY device memory that was allocated or imported on the context is still there; nothing is
 *         changed
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_emu_detach(struct rdmaez_dm_emu *emu);

/**
 * @brief Whether the device memory of a context is emulated.
 * @param context the device; NULL: no
 * @return true from rdmaez_dm_emu_attach() to rdmaez_dm_emu_detach()
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API bool rdmaez_dm_emu_is_attached(const struct ibv_context *context);

/**
 * @brief The file descriptor by which another context, or process, can share the memory.
 *
 * Pass it over a Unix socket, as rdmaez_dm_send() does, and give it to rdmaez_dm_emu_attach() at the
 * other end.
 *
 * @param emu what rdmaez_dm_emu_attach() has filled
 * @return the descriptor, which stays the emulation's; -1: not attached
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_emu_fd(const struct rdmaez_dm_emu *emu);

/**
 * @brief Lets a call fail, as a device in trouble would.
 *
 * The call then has no effect. A second order for the same call replaces the first.
 *
 * @param emu what rdmaez_dm_emu_attach() has filled
 * @param call which
 * @param nth the first such call from now on is 1; 0: every one
 * @param error the errno value; 0: as if nothing had been ordered
 * @retval 0 so it will be
 * @retval EINVAL @p emu is NULL or detached, no such @p call, or @p error is negative
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_emu_fail(struct rdmaez_dm_emu *emu, enum rdmaez_dm_emu_call call,
				  unsigned int nth, int error);

/**
 * @brief Opens the device of shared memory that is emulated: `open` of struct rdmaez_dm_share_opts.
 *
 * @param fd what came with the token; stays the caller's
 * @param token tells the device: its GUID, or where that is 0 its name
 * @param arg the struct rdmaez_dm_emu to attach, from zero, `arg` of the options
 * @return the context with the emulation attached, for rdmaez_dm_emu_close(); NULL and errno: ENODEV
 *         where there is no such device, else as ibv_open_device() and rdmaez_dm_emu_attach()
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API struct ibv_context *rdmaez_dm_emu_open(int fd, const struct rdmaez_dm_token *token,
						  void *arg);

/**
 * @brief Closes what rdmaez_dm_emu_open() has opened: `close` of struct rdmaez_dm_share_opts.
 *
 * @param context the device
 * @param arg the struct rdmaez_dm_emu
 * @retval 0 detached and closed
 * @retval EBUSY device memory is still there; nothing is closed
 * @retval EINVAL @p arg is not attached
 * @return any errno of ibv_close_device()
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_emu_close(struct ibv_context *context, void *arg);

#ifdef __cplusplus
}
#endif

#include "impl/dm_emu.h"

#endif
