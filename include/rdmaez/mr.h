/* SPDX-License-Identifier: MIT */
/**
 * @file mr.h
 * @brief Register memory, deregister it, and explain why it failed. Describe it for a peer.
 *
 * ibv_reg_mr() returns EINVAL for access flags that do not go together, ENOMEM for a resource limit of the process, and
 * EFAULT for memory that it cannot register, most often a GPU's. rdmaez_mr_reg() says which it is, as far as the
 * process can find out about itself. If a GPU's memory cannot be registered by its address, it can often be registered
 * as a dma-buf.
 *
 * On iWARP the memory that a READ writes to needs IBV_ACCESS_REMOTE_WRITE besides IBV_ACCESS_LOCAL_WRITE (RFC 5040).
 * siw is an exception: its siw_proc_rresp() asks for the latter only.
 *
 * @par Threads
 * May be called from any thread.
 * @par Sources
 * ibv_reg_mr(), `ib_check_mr_access()` and `ib_umem_get()` of Linux 6.1 to 7.2, libibverbs/memory.c.
 * @since rdmaez 0.1; rdma-core 33, of a dma-buf 34
 */
#ifndef RDMAEZ_MR_H
#define RDMAEZ_MR_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Registers memory, as ibv_reg_mr() does, and explains a failure.
 *
 * `access` may have flags of the optional range, such as IBV_ACCESS_RELAXED_ORDERING. A kernel that does not know them
 * ignores them. Deregister the region with rdmaez_mr_dereg() or ibv_dereg_mr().
 *
 * @param pd the protection domain
 * @param addr the first byte
 * @param length how many bytes, at least 1; rxe takes 0 at an address that does not begin a page, most devices do not
 * @param access IBV_ACCESS_ bits; 0: the device may read locally. IBV_ACCESS_REMOTE_WRITE and
 *        IBV_ACCESS_REMOTE_ATOMIC also need IBV_ACCESS_LOCAL_WRITE
 * @param mr receives the region; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p mr is the region
 * @retval EINVAL @p pd or @p mr is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); remote write or atomic without local
 *         write (#RDMAEZ_WHY_MR_LOCAL_WRITE); bits that are not access flags (#RDMAEZ_WHY_MR_ACCESS_BITS); no
 *         on-demand paging (#RDMAEZ_WHY_MR_ON_DEMAND); more than the device's `max_mr_size` (#RDMAEZ_WHY_RANGE);
 *         likely a length of 0 or beyond the last address (#RDMAEZ_WHY_RANGE); a flag that this device lacks
 *         (#RDMAEZ_WHY_MR_ACCESS_REFUSED), fork protection of huge pages (#RDMAEZ_WHY_MR_FORK_HUGE), or a GPU's memory,
 *         as with EFAULT, or so much that part of it is not mapped (#RDMAEZ_WHY_MR_UNMAPPED)
 * @retval EOPNOTSUPP the flags are refused, as with EINVAL; or, more likely, the memory is a shared mapping of a file on
 *         a DAX file system (#RDMAEZ_WHY_MR_FILE)
 * @retval EFAULT part of the memory is not mapped (#RDMAEZ_WHY_MR_UNMAPPED, likely without /proc); likely it is a
 *         GPU's, judging by what the process has mapped (#RDMAEZ_WHY_MR_GPU_SEGMENTS, #RDMAEZ_WHY_MR_GPU_NO_PEER,
 *         #RDMAEZ_WHY_MR_GPU_BAR1 with the size of the smallest BAR1 as `max`, or else #RDMAEZ_WHY_MR_GPU); a shared
 *         mapping of a file (#RDMAEZ_WHY_MR_FILE); gdrcopy's window onto a GPU's memory (#RDMAEZ_WHY_MR_GDRCOPY); or its
 *         protection does not permit this access (#RDMAEZ_WHY_MR_PROTECTION)
 * @retval ENOMEM RLIMIT_MEMLOCK, unless this and what is pinned already fit within it, or the process has CAP_IPC_LOCK
 *         (#RDMAEZ_WHY_MEMLOCK with the bytes as `value`, those pinned already as `min` and the soft limit as `max`),
 *         certain if the driver is known and the numbers prove it; likely RLIMIT_AS, unless that is unlimited
 *         (#RDMAEZ_WHY_ADDRESS_SPACE); vm.max_map_count (#RDMAEZ_WHY_MR_MAPPINGS); a quota of regions, or memory
 *         (#RDMAEZ_WHY_NO_RESOURCES with `max_mr` as `max`); with fork protection also as EFAULT
 * @retval EPERM RLIMIT_MEMLOCK is 0 (#RDMAEZ_WHY_MEMLOCK)
 * @retval EAGAIN likely vm.max_map_count with fork protection (#RDMAEZ_WHY_MR_MAPPINGS), or a limit of the cgroup
 *         (#RDMAEZ_WHY_CGROUP)
 * @return any other errno of ibv_reg_mr(): more than `max_mr_size` (#RDMAEZ_WHY_RANGE), or what it usually means
 *         (#RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_NOT_SUPPORTED,
 *         #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_reg_mr(). If that fails and @p diag is not NULL, it also makes one ibv_query_device(), at most one
 * ibv_query_device_ex() and ibv_is_fork_initialized(), and reads files of /proc and /sys.
 */
RDMAEZ_COLD int rdmaez_mr_reg(struct ibv_pd *pd, void *addr, size_t length, unsigned int access,
			      struct ibv_mr **mr, struct rdmaez_diag *diag);

/** @brief Bytes of a dma-buf. */
struct rdmaez_mr_dmabuf {
	uint64_t offset; /**< where they begin in the dma-buf */
	size_t length;   /**< how many, at least 1 */
	/** The address that requests use for the first byte. Its bits below the page size must be offset's. */
	uint64_t iova;
	int fd; /**< the dma-buf's file descriptor; you may close it afterwards */
};

/**
 * @brief Registers a dma-buf, as ibv_reg_dmabuf_mr() does, and explains a failure.
 *
 * A dma-buf gives other devices access to a device's memory. Most often that device is a GPU, and
 * cuMemGetHandleForAddressRange(), hsa_amd_portable_export_dmabuf() or another function exports the dma-buf. Deregister
 * the region with rdmaez_mr_dereg().
 *
 * @param pd the protection domain
 * @param dmabuf the bytes
 * @param access IBV_ACCESS_LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC and optional flags, together as for
 *        rdmaez_mr_reg()
 * @param mr receives the region; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p mr is the region
 * @retval EINVAL a pointer other than @p diag is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); remote write or atomic without local
 *         write
 *         (#RDMAEZ_WHY_MR_LOCAL_WRITE); offset and iova differ below the page size (#RDMAEZ_WHY_MR_DMABUF_IOVA); a
 *         length of 0 (#RDMAEZ_WHY_RANGE); an offset or length beyond the dma-buf's end, with the most that there is
 *         as `max` (#RDMAEZ_WHY_MR_DMABUF_END); a descriptor of something else (#RDMAEZ_WHY_MR_DMABUF_FD); likely
 *         another flag (#RDMAEZ_WHY_MR_ACCESS_REFUSED); or else likely the exporter
 *         (#RDMAEZ_WHY_MR_DMABUF_EXPORTER)
 * @retval EBADF the descriptor is not open (#RDMAEZ_WHY_MR_DMABUF_FD)
 * @retval EOPNOTSUPP libibverbs is older than rdma-core 34, the kernel is older than Linux 5.12, which returns
 *         EPROTONOSUPPORT, or the driver cannot (#RDMAEZ_WHY_MR_NO_DMABUF); likely the driver can, but not with these
 *         flags (#RDMAEZ_WHY_MR_ACCESS_REFUSED), or the exporter does not let the device in
 *         (#RDMAEZ_WHY_MR_DMABUF_EXPORTER). ENOSYS and 524, the kernel's ENOTSUPP, are explained in the same way
 * @retval EPERM likely the exporter, without peer-to-peer (#RDMAEZ_WHY_MR_DMABUF_EXPORTER)
 * @retval ENODEV likely the exporter, whose device was reset (#RDMAEZ_WHY_MR_DMABUF_EXPORTER)
 * @return any other errno of ibv_reg_dmabuf_mr(), also the exporter's (#RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY,
 *         #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_reg_dmabuf_mr(). If that fails with EOPNOTSUPP or its like and @p diag is not NULL, it makes one or two more,
 * with a descriptor of -1. They register nothing, and only show whether the driver can.
 *
 * Source: UVERBS_METHOD_REG_DMABUF_MR, `ib_umem_dmabuf_get()` and `dma_buf_llseek()` of Linux 6.1; attach, pin and map
 * of the exporters nvidia, amdgpu, xe, habanalabs and vfio-pci.
 */
RDMAEZ_COLD int rdmaez_mr_reg_dmabuf(struct ibv_pd *pd, const struct rdmaez_mr_dmabuf *dmabuf,
				     unsigned int access, struct ibv_mr **mr,
				     struct rdmaez_diag *diag);

/**
 * @brief Deregisters memory, as ibv_dereg_mr() does, and explains a failure.
 *
 * A region that could not be deregistered stays as it was.
 *
 * @param mr the region
 * @param diag receives the explanation; may be NULL
 * @retval 0 the region is deregistered
 * @retval EINVAL @p mr is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); or likely as EBUSY, which is how rxe reports it
 * @retval EBUSY likely a memory window is bound to it (#RDMAEZ_WHY_MR_IN_USE)
 * @return any other errno of ibv_dereg_mr(), as for rdmaez_mr_reg()
 * @par Verbs calls
 * One ibv_dereg_mr().
 *
 * Source: `rxe_dereg_mr()` of Linux 6.1 to 7.2. Devices that let windows outlive their region succeed.
 */
RDMAEZ_API int rdmaez_mr_dereg(struct ibv_mr *mr, struct rdmaez_diag *diag);

/** @brief Memory that a peer may reach by RDMA: what the peer has to know, and bounds to check requests against. */
struct rdmaez_remote {
	uint64_t
		addr; /**< the address by which requests name the first byte; 0 in zero-based regions */
	uint64_t length; /**< how many bytes; 0: none */
	uint32_t rkey;   /**< `ibv_mr.rkey` */
};

/**
 * @brief Describes a whole region for a peer.
 *
 * For part of a region, add to `addr` and set `length`. An `ibv_mr` does not say which addresses requests have to use.
 * With ibv_reg_mr() these are its own addresses, and with ibv_reg_dm_mr() they are offsets. After ibv_reg_mr_iova(),
 * rdmaez_mr_reg_dmabuf() or ibv_reg_dmabuf_mr(), set `addr` to the iova that you passed. If you passed
 * IBV_ACCESS_ZERO_BASED, set it to 0.
 *
 * @param mr the region
 * @param remote receives the description; written on success only
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 @p remote describes the region
 * @retval EINVAL @p mr or @p remote is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @par Verbs calls
 * None.
 *
 * Source: the members that ibv_reg_mr_iova2(), ibv_reg_dmabuf_mr() and ibv_cmd_reg_dm_mr() of rdma-core 65 set.
 */
RDMAEZ_API int rdmaez_mr_remote(const struct ibv_mr *mr, struct rdmaez_remote *remote,
				struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

/**
 * @brief Whether ibv_reg_dmabuf_mr() is available. If you do not define it, that is determined when the program is
 * linked.
 *
 * Define it as 1 to call the function directly, which needs verbs.h of rdma-core 34 or newer. Define it as 0 never to
 * call it. A compiler without weak symbols gets 0.
 */
#if !defined(RDMAEZ_HAVE_DMABUF_MR) && !defined(__GNUC__)
#define RDMAEZ_HAVE_DMABUF_MR 0
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/mr.h"
#endif

#endif
