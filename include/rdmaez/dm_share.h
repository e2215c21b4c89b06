/* SPDX-License-Identifier: MIT */
/**
 * @file dm_share.h
 * @brief Share device memory with another process.
 *
 * The process that has the memory exports a token and sends it over a Unix socket, together with the file descriptor of
 * its open device. The other process receives and imports both in one call, and uses the memory like its own:
 * rdmaez_dm_copy_to(), rdmaez_dm_reg() and everything else in dm.h.
 *
 * `<rdmaez.h>` does not include this header.
 *
 * @par Tokens
 * No verb reports the length of device memory, and only its owner knows its handle. A token contains both, names the
 * device, and may contain the handles of a protection domain and a memory region. It is everything that the other
 * process has to know, in 144 bytes that have the same layout on every machine. A token is not a secret and grants
 * nothing. Access comes from the file descriptor that travels with it.
 *
 * @par Who frees
 * The process that allocated the memory frees it, with rdmaez_dm_close(). All others call rdmaez_dm_shared_close(),
 * which frees nothing. They may do so in any order, with two limits. The kernel refuses to free memory on which any
 * process still has a region (EBUSY), and importing freed memory fails (#RDMAEZ_WHY_DM_STALE). But the kernel reuses
 * handles, so a stale handle may refer to other memory. Keep the memory until the other process confirms that it has
 * imported it.
 *
 * @par Trust
 * A process with the file descriptor can do anything to every object of that open device. Send it only to
 * a process that you trust as much as your own.
 *
 * @par Threads
 * May be called from any thread. Only one thread at a time may use an object or a socket. If a signal is handled
 * meanwhile, the wait goes on.
 *
 * @par Verbs calls
 * To import: ibv_import_device(), ibv_import_dm() and, if you ask for it, ibv_import_pd() and ibv_import_mr(). To
 * close: the verbs that undo these, and ibv_close_device(). For a dma-buf: ibv_dm_export_dmabuf_fd(). Exporting,
 * sending and tokens need none.
 * @par Sources
 * The verbs' manual pages, rdma-core 65.
 * @since rdmaez 0.1; rdma-core 35, EOPNOTSUPP before
 */
#ifndef RDMAEZ_DM_SHARE_H
#define RDMAEZ_DM_SHARE_H

#ifndef RDMAEZ_DM_H
#include "dm.h"
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

/** @brief What to import with the memory; bits of rdmaez_dm_share_opts.flags. */
enum rdmaez_dm_share_flags {
	RDMAEZ_DM_SHARE_PD = 1 << 0, /**< the protection domain, which the token must hold */
	RDMAEZ_DM_SHARE_MR = 1 << 1  /**< the memory region, and its domain with it */
};

/**
 * @brief How to share memory that no driver knows, such as that from rdmaez_dm_emu_ops().
 *
 * It is used for memory for which `fd` returns a descriptor, and for tokens with #RDMAEZ_DM_TOKEN_EMULATED. Other
 * memory is shared as usual. If a function is NULL, that of libibverbs is used.
 */
struct rdmaez_dm_share_ops {
	/** the descriptor to send for memory on this context, still owned by the context; -1: not such memory */
	int (*fd)(const struct ibv_context *context, void *arg);
	/** opens the device of a descriptor, and leaves the descriptor to its caller; NULL and errno on failure */
	struct ibv_context *(*open)(int fd, const struct rdmaez_dm_token *token, void *arg);
	/** closes what `open` has opened, as ibv_close_device() */
	int (*close)(struct ibv_context *context, void *arg);
	/** imports memory by its handle, as ibv_import_dm(). It fails with ETIMEDOUT if that would take longer than
	 *  `timeout_ns`, which is never 0; #RDMAEZ_NS_NOW: if it would have to wait */
	struct ibv_dm *(*import)(struct ibv_context *context, uint32_t handle, uint64_t timeout_ns,
				 void *arg);
	/** unimports it, as ibv_unimport_dm() */
	void (*unimport)(struct ibv_dm *dm);
};

/** @brief How to share. All zero: the memory alone, within ten seconds. */
struct rdmaez_dm_share_opts {
	/** enum rdmaez_dm_share_flags, not rdmaez_dm_send()'s; 0: the memory alone */
	unsigned int flags;
	/** how long to wait for the other process, in ns; 0: 10 s; #RDMAEZ_NS_NOW: it looks once;
	 *  #RDMAEZ_NS_FOREVER: forever */
	uint64_t timeout_ns;
	/** for memory that no driver knows; NULL: such memory is refused. Must outlive what is shared */
	const struct rdmaez_dm_share_ops *ops;
	void *arg; /**< passed to the functions of `ops` */
};

/** @brief Device memory of another process. Filled by rdmaez_dm_receive(). */
struct rdmaez_dm_shared {
	struct ibv_context *context;           /**< the device, opened for this; NULL once closed */
	struct rdmaez_dm dm;                   /**< the memory, for all functions of dm.h */
	struct ibv_pd *pd;                     /**< the protection domain; NULL: not requested */
	struct rdmaez_dm_region region;        /**< the region; all zero: not requested */
	struct rdmaez_dm_token token;          /**< the token of the other process */
	const struct rdmaez_dm_share_ops *ops; /**< what opened it; NULL: libibverbs */
	void *arg;                             /**< passed to them */
};

/* ---- Tokens ---------------------------------------------------------------------------------- */

/**
 * @brief Packs a token into bytes that are the same on every machine.
 *
 * The bytes are big endian: "RZDM", the version and the flags (16 bits each), the five 32-bit and the six 64-bit
 * numbers in the order of struct rdmaez_dm_token, the name, and a CRC-32 of everything before it.
 *
 * @param token a token from rdmaez_dm_export()
 * @param buf receives the bytes; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p buf is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), or an invalid field, which is named
 *         (#RDMAEZ_WHY_DM_TOKEN_FIELD)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_token_pack(const struct rdmaez_dm_token *token,
				    uint8_t buf[RDMAEZ_DM_TOKEN_BYTES], struct rdmaez_diag *diag);

/**
 * @brief Unpacks a token, and refuses bytes that are not a token or were changed.
 *
 * The function looks up nothing that the token names. Anyone can make a well-formed token, so do not rely on one until
 * rdmaez_dm_import() has accepted it.
 *
 * @param buf #RDMAEZ_DM_TOKEN_BYTES bytes from anywhere
 * @param token receives the token; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p token is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), not a token (#RDMAEZ_WHY_DM_TOKEN_MAGIC),
 *         another version (#RDMAEZ_WHY_DM_TOKEN_VERSION), an invalid field, which is named
 *         (#RDMAEZ_WHY_DM_TOKEN_FIELD), or any other change (#RDMAEZ_WHY_DM_TOKEN_SUM)
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_token_unpack(const uint8_t buf[RDMAEZ_DM_TOKEN_BYTES],
				      struct rdmaez_dm_token *token, struct rdmaez_diag *diag);

/* ---- Export ---------------------------------------------------------------------------------- */

/**
 * @brief Makes the token with which another process can import device memory.
 *
 * Nothing changes, no verb is called, and this process must still free the memory. The token is valid for as long as
 * the objects that it names exist. For emulated memory it lacks #RDMAEZ_DM_TOKEN_EMULATED, which rdmaez_dm_send() adds.
 *
 * @param dm the memory; it may be imported itself
 * @param pd a protection domain to share with it; NULL: that of @p region, or none
 * @param region a region on the memory to share with it; NULL: none
 * @param token receives the token; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p token is filled
 * @retval EINVAL @p dm or @p token is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); the memory is closed
 *         (#RDMAEZ_WHY_DM_CLOSED); @p pd or @p region is of another context, or @p region of another domain or
 *         other memory (#RDMAEZ_WHY_DM_OTHER_CONTEXT); `region->mr` is NULL or a region of host memory
 *         (#RDMAEZ_WHY_DM_NOT_REGION), or @p region is empty or longer than the memory (#RDMAEZ_WHY_RANGE)
 * @retval EOPNOTSUPP the memory has no handle, as before rdma-core 35 (#RDMAEZ_WHY_DM_NO_HANDLE)
 */
RDMAEZ_API int rdmaez_dm_export(const struct rdmaez_dm *dm, const struct ibv_pd *pd,
				const struct rdmaez_dm_region *region,
				struct rdmaez_dm_token *token, struct rdmaez_diag *diag);

/* ---- Over a Unix socket ---------------------------------------------------------------------- */

/**
 * @brief Sends device memory to another process, which receives it with rdmaez_dm_receive().
 *
 * It sends one message of #RDMAEZ_DM_TOKEN_BYTES bytes with the file descriptor of the memory's context, whole or not
 * at all. The socket may be of type SOCK_STREAM, SOCK_SEQPACKET or SOCK_DGRAM, and may carry other messages before and
 * after.
 *
 * @param socket a connected Unix socket
 * @param dm the memory
 * @param token its token; NULL: the memory alone, as rdmaez_dm_export() makes it without domain and region
 * @param opts how long to wait for room in the socket, and the `ops` of emulated memory; NULL: ten seconds,
 *        none. `flags` is ignored
 * @param diag receives the explanation; may be NULL
 * @retval 0 the message is sent. Keep the memory until the other process confirms that it has imported it
 * @retval EINVAL @p dm is NULL (#RDMAEZ_WHY_NULL_ARGUMENT) or closed (#RDMAEZ_WHY_DM_CLOSED); the token is for
 *         other memory (#RDMAEZ_WHY_DM_TOKEN_OTHER) or invalid (#RDMAEZ_WHY_DM_TOKEN_FIELD)
 * @retval EOPNOTSUPP as for rdmaez_dm_export()
 * @retval ETIMEDOUT the other process has not read what is in the socket (#RDMAEZ_WHY_PEER_SILENT)
 * @retval EPIPE the other process has closed the socket (#RDMAEZ_WHY_PEER_CLOSED); also ECONNRESET
 * @retval EAFNOSUPPORT not a Unix socket (#RDMAEZ_WHY_SOCKET)
 * @retval EAGAIN another thread has filled the socket meanwhile (#RDMAEZ_WHY_SOCKET)
 * @return any other errno of poll() and sendmsg() (#RDMAEZ_WHY_SOCKET)
 */
RDMAEZ_API int rdmaez_dm_send(int socket, const struct rdmaez_dm *dm,
			      const struct rdmaez_dm_token *token,
			      const struct rdmaez_dm_share_opts *opts, struct rdmaez_diag *diag);

/* ---- Import ---------------------------------------------------------------------------------- */

/**
 * @brief Imports device memory from a token and a descriptor that arrived in some other way.
 *
 * rdmaez_dm_receive() calls this. A failure leaves nothing open, with one rare exception. If the driver fails while
 * this process closes another descriptor of the same file, the function cannot tell whether the driver has closed its
 * duplicate of @p fd, and the duplicate stays open.
 *
 * @param fd the descriptor of the device file, or of the emulation; you keep it
 * @param token what rdmaez_dm_token_unpack() returned
 * @param opts what to import with the memory, and the `ops` of emulated memory; NULL: the memory alone
 * @param shared receives the memory; written on success only. Close it with rdmaez_dm_shared_close()
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p shared is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); an invalid token
 *         (#RDMAEZ_WHY_DM_TOKEN_FIELD); flags that are unknown (#RDMAEZ_WHY_OPTION_UNKNOWN) or ask for what the
 *         token does not have (#RDMAEZ_WHY_DM_NOT_SHARED); @p fd is not an RDMA device (#RDMAEZ_WHY_DM_FD)
 * @retval ENODEV the device of @p fd does not exist (#RDMAEZ_WHY_DM_FD)
 * @retval EBADF @p fd is not open for reading (#RDMAEZ_WHY_DM_FD)
 * @retval EMFILE the process may not have more descriptors (#RDMAEZ_WHY_DM_FD)
 * @retval EXDEV the device of @p fd is not the token's (#RDMAEZ_WHY_DM_OTHER_DEVICE)
 * @retval ENOENT the memory, domain or region does not exist (#RDMAEZ_WHY_DM_STALE)
 * @retval ETIMEDOUT the memory is emulated, and another process does not release its lock (#RDMAEZ_WHY_PEER_SILENT)
 * @retval EOPNOTSUPP this libibverbs is older than rdma-core 35 (#RDMAEZ_WHY_DM_NO_IMPORT); the memory is
 *         emulated and `ops.open` is missing (#RDMAEZ_WHY_DM_EMULATED); a domain or region of emulated memory
 *         is requested (#RDMAEZ_WHY_DM_EMU_ALONE); the driver cannot import, which only mlx5 can
 *         (#RDMAEZ_WHY_NOT_SUPPORTED)
 * @return any other errno of ibv_import_device(), ibv_import_dm(), ibv_import_pd() or ibv_import_mr()
 *         (#RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_TIMED_OUT,
 *         #RDMAEZ_WHY_UNEXPLAINED), of setting a record lock on @p fd (#RDMAEZ_WHY_DM_FD), or of `ops`, with the
 *         same reasons and #RDMAEZ_WHY_DM_FD for EINVAL, ENODEV and EBADF of `ops.open`
 */
RDMAEZ_API int rdmaez_dm_import(int fd, const struct rdmaez_dm_token *token,
				const struct rdmaez_dm_share_opts *opts,
				struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag);

/**
 * @brief Receives device memory that another process sends with rdmaez_dm_send(), ready for use.
 *
 * It reads exactly one message from the socket, even if it refuses the message. It closes the descriptors in it in
 * every case.
 *
 * @param socket a connected Unix socket
 * @param opts what to import, how long to wait; NULL: the memory alone, within ten seconds
 * @param shared receives the memory; written on success only. Close it with rdmaez_dm_shared_close()
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p shared is filled
 * @retval EINVAL @p shared is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); rdmaez_dm_token_unpack() refuses the token
 *         (#RDMAEZ_WHY_DM_TOKEN_MAGIC, #RDMAEZ_WHY_DM_TOKEN_VERSION, #RDMAEZ_WHY_DM_TOKEN_FIELD,
 *         #RDMAEZ_WHY_DM_TOKEN_SUM); the rest as for rdmaez_dm_import()
 * @retval EBADMSG the message is too short or too long (#RDMAEZ_WHY_DM_MESSAGE_SIZE), or does not have
 *         exactly one descriptor, or this process has no room for it (#RDMAEZ_WHY_DM_MESSAGE_FD)
 * @retval ETIMEDOUT nothing arrived, or emulated memory is locked (#RDMAEZ_WHY_PEER_SILENT). `timeout_ns`
 *         covers both waits together
 * @retval ECONNRESET the other process has closed the socket (#RDMAEZ_WHY_PEER_CLOSED)
 * @retval EAFNOSUPPORT not a Unix socket (#RDMAEZ_WHY_SOCKET)
 * @retval EAGAIN another thread has read the message (#RDMAEZ_WHY_SOCKET)
 * @return any other errno of poll() and recvmsg() (#RDMAEZ_WHY_SOCKET), and of rdmaez_dm_import()
 */
RDMAEZ_API int rdmaez_dm_receive(int socket, const struct rdmaez_dm_share_opts *opts,
				 struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag);

/**
 * @brief Closes device memory of another process, which keeps it.
 *
 * It unimports the region, the memory and the domain, in this order, and closes the device. As with ibv_close_device(),
 * first destroy everything that you created on `shared->context`, including regions on the memory. You may already have
 * closed the memory itself with rdmaez_dm_close().
 *
 * @param shared what rdmaez_dm_receive() or rdmaez_dm_import() has filled; all zero after success
 * @param diag receives the explanation; may be NULL
 * @retval 0 it is closed
 * @retval EINVAL @p shared is NULL (#RDMAEZ_WHY_NULL_ARGUMENT) or already closed (#RDMAEZ_WHY_DM_CLOSED)
 * @return any errno of closing the device, such as EBUSY if emulated memory is still allocated on it
 *         (#RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_TIMED_OUT,
 *         #RDMAEZ_WHY_NOT_SUPPORTED, #RDMAEZ_WHY_UNEXPLAINED). Only the device then stays open; call this
 *         again to close it
 */
RDMAEZ_API int rdmaez_dm_shared_close(struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag);

/* ---- dma-buf --------------------------------------------------------------------------------- */

/**
 * @brief Exports device memory as a dma-buf, for other drivers, such as a GPU's.
 *
 * It needs rdma-core 62. It is not available for emulated memory.
 *
 * @param dm the memory
 * @param fd receives a file descriptor, which you close; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p fd is a dma-buf
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); the memory is closed (#RDMAEZ_WHY_DM_CLOSED)
 * @retval EOPNOTSUPP this libibverbs is older than rdma-core 62, or the driver cannot export
 *         (#RDMAEZ_WHY_DM_NO_DMABUF)
 * @return any other errno of ibv_dm_export_dmabuf_fd() (#RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_BUSY,
 *         #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED)
 */
RDMAEZ_COLD int rdmaez_dm_dmabuf(const struct rdmaez_dm *dm, int *fd, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/dm_share.h"
#endif

#endif
