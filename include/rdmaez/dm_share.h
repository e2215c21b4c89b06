/* SPDX-License-Identifier: MIT */
/**
 * @file dm_share.h
 * @brief Share device memory with another process.
 *
 * The process that has the memory exports a token (dm_token.h) and sends it over a Unix socket, together
 * with the file descriptor of its open device. The other one receives and imports both in one call, and
 * uses the memory as its own: rdmaez_dm_copy_to(), rdmaez_dm_reg() and all else in dm.h.
 *
 * @par Who frees
 * The process that allocated the memory frees it, with rdmaez_dm_close(). All others call
 * rdmaez_dm_shared_close(), which frees nothing. The order is free, with two limits: the kernel refuses to
 * free memory on which any process still has a region (EBUSY), and an import after it was freed is refused
 * (#RDMAEZ_WHY_DM_STALE). The kernel reuses its numbers, however: a number that was freed may by now be
 * other memory's. So keep the memory until the other process has said that it has it.
 *
 * @par Trust
 * Whoever gets the file descriptor can do anything to every object of that open device. Send it only to
 * a process that you trust as much as your own.
 *
 * @par Threads
 * Any thread may call these functions, but not two at once on one object or one socket.
 *
 * @since rdmaez 0.1; rdma-core 35, EOPNOTSUPP before
 */
#ifndef RDMAEZ_DM_SHARE_H
#define RDMAEZ_DM_SHARE_H

#include "dm_token.h"
#include "dm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief What to import beside the memory; bits of rdmaez_dm_share_opts.flags. */
enum rdmaez_dm_share_flags {
	RDMAEZ_DM_SHARE_PD = 1 << 0, /**< the protection domain, which the token must hold */
	RDMAEZ_DM_SHARE_MR = 1 << 1  /**< the memory region, and its domain with it */
};

/**
 * @brief How to share memory that no driver knows, such as that of rdmaez_dm_emu_ops().
 *
 * It is used for the memory for which `fd` has a descriptor, and for tokens that say
 * #RDMAEZ_DM_TOKEN_EMULATED; other memory is shared as if this were not there. A function that is NULL is
 * libibverbs' own.
 */
struct rdmaez_dm_share_ops {
	/** the descriptor to send for memory on this context, which stays its owner's; -1: not such memory */
	int (*fd)(const struct ibv_context *context, void *arg);
	/** opens the device of a descriptor that stays the caller's; NULL and errno where it cannot */
	struct ibv_context *(*open)(int fd, const struct rdmaez_dm_token *token, void *arg);
	/** closes what `open` has opened, as ibv_close_device() */
	int (*close)(struct ibv_context *context, void *arg);
	/** imports memory by its number, as ibv_import_dm() */
	struct ibv_dm *(*import)(struct ibv_context *context, uint32_t handle, void *arg);
	/** gives it up, as ibv_unimport_dm() */
	void (*unimport)(struct ibv_dm *dm);
};

/** @brief How to share. All zero: the memory alone, within ten seconds. */
struct rdmaez_dm_share_opts {
	unsigned int flags; /**< enum rdmaez_dm_share_flags; 0: the memory alone */
	uint64_t
		timeout_ns; /**< how long to wait for the other process; 0: 10 s; #RDMAEZ_ZERO: do not wait */
	/** for memory that no driver knows; NULL: such memory is refused. Outlives what is shared */
	const struct rdmaez_dm_share_ops *ops;
	void *arg; /**< handed to the functions of `ops` */
};

/** @brief Device memory of another process. Filled by rdmaez_dm_receive(). */
struct rdmaez_dm_shared {
	struct ibv_context *context;           /**< the device, opened for this; NULL once closed */
	struct rdmaez_dm dm;                   /**< the memory, for everything that dm.h does */
	struct ibv_pd *pd;                     /**< the protection domain; NULL: not wanted */
	struct rdmaez_dm_region region;        /**< the region; all zero: not wanted */
	struct rdmaez_dm_token token;          /**< what the other process has told */
	const struct rdmaez_dm_share_ops *ops; /**< where it was these that opened it; else NULL */
	void *arg;                             /**< handed to them */
};

/* ---- Export ---------------------------------------------------------------------------------- */

/**
 * @brief Makes the token by which another process can find device memory.
 *
 * Nothing is changed, no verb is called, and the memory stays this process's to free. The token is good for
 * as long as the objects in it exist. Of emulated memory it lacks #RDMAEZ_DM_TOKEN_EMULATED, which
 * rdmaez_dm_send() adds.
 *
 * @param dm the memory; it may be imported itself
 * @param pd a protection domain to share with it; NULL: that of @p region, or none
 * @param region a region on the memory to share with it; NULL: none
 * @param token receives the token; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p token is filled
 * @retval EINVAL @p dm or @p token is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); the memory is closed
 *         (#RDMAEZ_WHY_DM_CLOSED); @p pd or @p region is of another context, or @p region of another domain or
 *         other memory (#RDMAEZ_WHY_DM_OTHER_CONTEXT); @p region has no region or one of the host's memory
 *         (#RDMAEZ_WHY_DM_NOT_REGION), or is empty or longer than the memory (#RDMAEZ_WHY_RANGE)
 * @retval EOPNOTSUPP the memory has no number, as before rdma-core 35 (#RDMAEZ_WHY_DM_NO_HANDLE)
 */
RDMAEZ_API int rdmaez_dm_export(const struct rdmaez_dm *dm, const struct ibv_pd *pd,
				const struct rdmaez_dm_region *region,
				struct rdmaez_dm_token *token, struct rdmaez_diag *diag);

/* ---- Over a Unix socket ---------------------------------------------------------------------- */

/**
 * @brief Sends device memory to another process, which receives it with rdmaez_dm_receive().
 *
 * One message of #RDMAEZ_DM_TOKEN_BYTES bytes with the file descriptor of the memory's context. It
 * is sent whole or not at all. The socket may be of type SOCK_STREAM, SOCK_SEQPACKET or SOCK_DGRAM, and
 * other messages may go before and after.
 *
 * @param socket a connected Unix socket
 * @param dm the memory
 * @param token its token; NULL: the memory alone, as rdmaez_dm_export() makes it without domain and region
 * @param opts how long to wait for room in the socket, and the `ops` of emulated memory; NULL: ten seconds,
 *        none. Its flags have no meaning here
 * @param diag receives the explanation; may be NULL
 * @retval 0 the message is on its way. Keep the memory until the other process has said that it has it
 * @retval EINVAL @p dm is NULL (#RDMAEZ_WHY_NULL_ARGUMENT) or closed (#RDMAEZ_WHY_DM_CLOSED); the token is for
 *         other memory (#RDMAEZ_WHY_DM_TOKEN_OTHER), or no token at all (#RDMAEZ_WHY_DM_TOKEN_FIELD)
 * @retval EOPNOTSUPP as rdmaez_dm_export()
 * @retval ETIMEDOUT the other process has not read what is in the socket (#RDMAEZ_WHY_PEER_SILENT)
 * @retval EPIPE the other process has closed the socket (#RDMAEZ_WHY_PEER_CLOSED); ECONNRESET likewise
 * @retval EAFNOSUPPORT this is no Unix socket (#RDMAEZ_WHY_SOCKET)
 * @retval EINTR a signal came first, and nothing was sent (#RDMAEZ_WHY_SOCKET)
 * @retval EAGAIN another thread has filled the socket meanwhile (#RDMAEZ_WHY_SOCKET)
 * @return any other errno of poll() and sendmsg() (#RDMAEZ_WHY_SOCKET)
 */
RDMAEZ_API int rdmaez_dm_send(int socket, const struct rdmaez_dm *dm,
			      const struct rdmaez_dm_token *token,
			      const struct rdmaez_dm_share_opts *opts, struct rdmaez_diag *diag);

/* ---- Import ---------------------------------------------------------------------------------- */

/**
 * @brief Imports device memory whose token and descriptor have come in some other way.
 *
 * rdmaez_dm_receive() does this with what it has received. A failure leaves nothing open, with one rare
 * exception: where the driver fails, and it cannot be told whether it has closed its duplicate of @p fd,
 * because this process has closed a descriptor of the same file meanwhile, the duplicate stays open.
 *
 * @param fd the descriptor of the device file, or of the emulation; it stays the caller's
 * @param token what rdmaez_dm_token_unpack() has read
 * @param opts what to import beside the memory, and the `ops` of emulated memory; NULL: the memory
 * @param shared receives the memory; written on success only; ends with rdmaez_dm_shared_close()
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p shared is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); a token that no rdmaez makes
 *         (#RDMAEZ_WHY_DM_TOKEN_FIELD); flags that are unknown (#RDMAEZ_WHY_OPTION_UNKNOWN) or ask for what the
 *         token does not have (#RDMAEZ_WHY_DM_NOT_SHARED); @p fd is no RDMA device (#RDMAEZ_WHY_DM_FD)
 * @retval ENODEV the device of @p fd is not there (#RDMAEZ_WHY_DM_FD)
 * @retval EBADF @p fd is not open for reading (#RDMAEZ_WHY_DM_FD)
 * @retval EMFILE the process may not have more descriptors (#RDMAEZ_WHY_DM_FD)
 * @retval EXDEV the device of @p fd is not the token's (#RDMAEZ_WHY_DM_OTHER_DEVICE)
 * @retval ENOENT the memory, domain or region does not exist, or no longer (#RDMAEZ_WHY_DM_STALE)
 * @retval EOPNOTSUPP this libibverbs is older than rdma-core 35 (#RDMAEZ_WHY_DM_NO_IMPORT); the memory is
 *         emulated and `ops.open` is missing (#RDMAEZ_WHY_DM_EMULATED); a domain or region of emulated memory
 *         is wanted (#RDMAEZ_WHY_DM_EMU_ALONE); the driver has no import, as all but mlx5
 *         (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno of ibv_import_device(), ibv_import_dm(), ibv_import_pd() or ibv_import_mr()
 *         (#RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_TIMED_OUT,
 *         #RDMAEZ_WHY_UNEXPLAINED) or of setting a record lock on @p fd (#RDMAEZ_WHY_DM_FD), and whatever `ops`
 *         says: the same reasons, and #RDMAEZ_WHY_DM_FD for EINVAL, ENODEV and EBADF of `ops.open`
 */
RDMAEZ_API int rdmaez_dm_import(int fd, const struct rdmaez_dm_token *token,
				const struct rdmaez_dm_share_opts *opts,
				struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag);

/**
 * @brief Receives device memory that another process sends with rdmaez_dm_send(), ready for use.
 *
 * One message is read from the socket, also where it is refused, and never more than its own bytes. The
 * descriptors in it are closed, whatever comes of it.
 *
 * @param socket a connected Unix socket
 * @param opts what to import, how long to wait; NULL: the memory alone, within ten seconds
 * @param shared receives the memory; written on success only; ends with rdmaez_dm_shared_close()
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p shared is filled
 * @retval EINVAL @p shared is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); the bytes are no token, as
 *         rdmaez_dm_token_unpack() tells (#RDMAEZ_WHY_DM_TOKEN_MAGIC, #RDMAEZ_WHY_DM_TOKEN_VERSION,
 *         #RDMAEZ_WHY_DM_TOKEN_FIELD, #RDMAEZ_WHY_DM_TOKEN_SUM); the rest as rdmaez_dm_import()
 * @retval EBADMSG the message is too short or too long (#RDMAEZ_WHY_DM_MESSAGE_SIZE), or does not have
 *         exactly one descriptor, or this process has no room for it (#RDMAEZ_WHY_DM_MESSAGE_FD)
 * @retval ETIMEDOUT nothing came (#RDMAEZ_WHY_PEER_SILENT)
 * @retval ECONNRESET the other process has closed the socket (#RDMAEZ_WHY_PEER_CLOSED)
 * @retval EAFNOSUPPORT this is no Unix socket (#RDMAEZ_WHY_SOCKET)
 * @retval EINTR a signal came first, and nothing was read (#RDMAEZ_WHY_SOCKET)
 * @retval EAGAIN another thread has read the message (#RDMAEZ_WHY_SOCKET)
 * @return any other errno of poll() and recvmsg() (#RDMAEZ_WHY_SOCKET), and of rdmaez_dm_import()
 */
RDMAEZ_API int rdmaez_dm_receive(int socket, const struct rdmaez_dm_share_opts *opts,
				 struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag);

/**
 * @brief Gives up device memory of another process, which keeps it.
 *
 * Unimports the region, the memory and the domain, in this order, and closes the device. What was
 * created on `shared->context`, regions on the memory included, must be gone by then, as with
 * ibv_close_device(). The memory itself may have been closed with rdmaez_dm_close() before.
 *
 * @param shared what rdmaez_dm_receive() or rdmaez_dm_import() has filled; all zero after success
 * @param diag receives the explanation; may be NULL
 * @retval 0 it is closed
 * @retval EINVAL @p shared is NULL (#RDMAEZ_WHY_NULL_ARGUMENT) or closed already (#RDMAEZ_WHY_DM_CLOSED)
 * @return any errno of closing the device, such as EBUSY of the emulation while memory of it is still
 *         there (#RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_TIMED_OUT,
 *         #RDMAEZ_WHY_NOT_SUPPORTED, #RDMAEZ_WHY_UNEXPLAINED): then the device stays open, and can be closed
 *         again; all else is gone
 */
RDMAEZ_API int rdmaez_dm_shared_close(struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag);

/* ---- dma-buf --------------------------------------------------------------------------------- */

/**
 * @brief Makes a dma-buf of device memory, for other drivers, such as a GPU's, to reach it.
 *
 * Needs rdma-core 62. There is none of emulated memory.
 *
 * @param dm the memory
 * @param fd receives a file descriptor that the caller closes; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p fd is a dma-buf
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); the memory is closed (#RDMAEZ_WHY_DM_CLOSED)
 * @retval EOPNOTSUPP this libibverbs is older than rdma-core 62, or the driver cannot
 *         (#RDMAEZ_WHY_DM_NO_DMABUF)
 * @return any other errno of ibv_dm_export_dmabuf_fd() (#RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY,
 *         #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED)
 */
RDMAEZ_API int rdmaez_dm_dmabuf(const struct rdmaez_dm *dm, int *fd, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/dm_share.h"
#endif

#endif
