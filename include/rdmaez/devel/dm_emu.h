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
 * @par How
 * These verbs are called through pointers in the context, which are replaced and put back. The memory is
 * a file in memory, so that several contexts, of other processes too, can share it. libibverbs knows
 * nothing of it, and `ibv_import_dm` is not among the verbs that can be replaced: rdmaez_dm_emu_ops() tells
 * dm_share.h what to call instead.
 *
 * The context keeps the state's address in a word, `_ABI_placeholder3` of struct verbs_context, that
 * libibverbs of rdma-core 33 to 65 leaves at 0. The state is looked up there by the replacing functions
 * only, so it is known to be theirs. Where several shared objects of a program bring a copy of this
 * emulation each, or several source files do, the one that finds the word taken refuses to attach (EBUSY)
 * and never looks at what is behind it. A state may be handed from one to another, which refuses a state of
 * another version. Memory that was not allocated here is handed on to the verbs that were replaced.
 *
 * @par Threads
 * What the verbs allow with a context is allowed with one that has emulated device memory. Attaching,
 * detaching and rdmaez_dm_emu_fail() need the context to themselves.
 *
 * @par Where it differs from mlx5
 * - A copy out of bounds is EFAULT even where mlx5's sum of offset and length wraps around.
 * - A region must begin at a multiple of the page size, else EOPNOTSUPP: the kernel takes host memory
 *   for address 0 only where a page begins (`ib_uverbs_reg_mr()`). mlx5 takes any offset.
 * - ibv_free_dm() of imported memory is EINVAL. mlx5 frees it, for everyone.
 * - Whether a region is still registered is asked of the kernel, which can tell since Linux 5.9. Before
 *   that, ibv_free_dm() never answers EBUSY.
 * - A region that another process has registered counts until that process deregisters it and then
 *   allocates, frees, imports or registers something, or ends.
 * - A process that stops or dies while it holds the memory's lock makes the others' calls fail with
 *   ETIMEDOUT after a second, until it goes on or ends.
 * - What a process has is given back when it ends, however it does, unless it has forked: a child that has
 *   not called exec() has inherited the locks by which its parent holds the memory, and keeps them.
 *
 * @since rdmaez 0.1; rdma-core 33; Linux 3.17 with /proc. Source of the rules: mlx5 of rdma-core 18 to 65
 *        and of Linux 6.1 to 7.2
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
	RDMAEZ_DM_EMU_FORCE = 1 << 0 /**< attach even where the device has memory of its own */
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
	unsigned int flags; /**< enum rdmaez_dm_emu_flags; 0: none */
	int fd; /**< the memory to share, from rdmaez_dm_emu_fd() in this or another process; 0: new
			memory. Stays the caller's */
	size_t size; /**< bytes of all device memory, rounded up to pages, which is also what the device
			reports as `max_dm_size`; 0: 256 KiB. Ignored with `fd`: the memory has its size */
};

/**
 * @brief The state of an emulation, in the caller's memory.
 *
 * It starts from zero, `= {0}`, by which rdmaez_dm_emu_attach() knows that it is not in use, and must stay
 * where it is from attaching to detaching. Nothing in it is for the caller.
 */
struct rdmaez_dm_emu {
	struct rdmaez_impl_emu state; /**< the emulation's own */
};

/**
 * @brief Gives an open context emulated device memory.
 *
 * From here on the verbs of device memory work on @p context, until rdmaez_dm_emu_detach(), which comes
 * before ibv_close_device(). Each piece takes whole pages of the memory, as it does on the device, so there
 * may be fewer of them than their lengths suggest. Alignment goes up to 4096 bytes,
 * `log_align_req` 12. One ibv_query_device_ex(), without #RDMAEZ_DM_EMU_FORCE.
 *
 * @param context the device
 * @param opts how much memory, or whose; NULL: 256 KiB of new memory
 * @param emu the state, from zero; after a failure it is detached, unless the failure is that it was
 *        attached already: then nothing is changed
 * @param diag receives the explanation; may be NULL
 * @retval 0 attached
 * @retval EINVAL @p context or @p emu is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); `size` is above what
 *         there can be (#RDMAEZ_WHY_RANGE); unknown flags (#RDMAEZ_WHY_OPTION_UNKNOWN)
 * @retval EEXIST the device has device memory of its own, and #RDMAEZ_DM_EMU_FORCE is not set
 *         (#RDMAEZ_WHY_DM_EMU_REAL)
 * @retval EBUSY @p context has an emulation already, of whichever version, or @p emu is attached, to this
 *         context or another (#RDMAEZ_WHY_DM_EMU_ATTACHED)
 * @retval EBADF `fd` is not from rdmaez_dm_emu_fd() of this version of rdmaez: for instance, a file that
 *         could be cut while it is used (#RDMAEZ_WHY_DM_EMU_FD)
 * @retval ENOMEM no memory, or no address space (#RDMAEZ_WHY_NO_RESOURCES)
 * @retval EOPNOTSUPP not a context of rdma-core's libibverbs (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno of memfd_create() and mmap() (#RDMAEZ_WHY_UNEXPLAINED)
 */
RDMAEZ_API int rdmaez_dm_emu_attach(struct ibv_context *context,
				    const struct rdmaez_dm_emu_opts *opts,
				    struct rdmaez_dm_emu *emu, struct rdmaez_diag *diag);

/**
 * @brief Takes the emulation away again, and puts back what it replaced.
 *
 * The memory itself lives on while others share it.
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
 * For `fd` of the options of rdmaez_dm_emu_attach(). rdmaez_dm_send() sends it by itself.
 *
 * @param emu what rdmaez_dm_emu_attach() has filled
 * @return the descriptor, which stays the emulation's; -1: not attached
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
 * @param diag receives the explanation; may be NULL
 * @retval 0 the order is taken
 * @retval EINVAL @p emu is NULL (#RDMAEZ_WHY_NULL_ARGUMENT) or not attached (#RDMAEZ_WHY_DM_CLOSED); no such
 *         @p call, a negative @p error, or ENOENT for #RDMAEZ_DM_EMU_FREE, after which rdmaez_dm_close() would
 *         hand the memory to ibv_unimport_dm() (#RDMAEZ_WHY_RANGE)
 */
RDMAEZ_API int rdmaez_dm_emu_fail(struct rdmaez_dm_emu *emu, enum rdmaez_dm_emu_call call,
				  unsigned int nth, int error, struct rdmaez_diag *diag);

/**
 * @brief How emulated memory is shared: `ops` of struct rdmaez_dm_share_opts, for both processes.
 *
 * `arg` of the options is a struct rdmaez_dm_emu: the attached one for rdmaez_dm_send(); for
 * rdmaez_dm_receive() one from zero, which is attached to the context that it opens, with
 * #RDMAEZ_DM_EMU_FORCE. The device is the one with the token's name. A program may always set the two:
 * memory of a device is shared as usual.
 *
 * @return static
 */
RDMAEZ_API const struct rdmaez_dm_share_ops *rdmaez_dm_emu_ops(void);

#ifdef __cplusplus
}
#endif

#include "impl/dm_emu.h"

#endif
