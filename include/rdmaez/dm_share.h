/* SPDX-License-Identifier: MIT */
/**
 * @file dm_share.h
 * @brief Share device memory with another process.
 *
 * The process that has the memory exports a token (dm_token.h) and sends it over a Unix socket,
 * together with the file descriptor of its open device. The other one receives and imports both in one
 * call, and uses the memory as its own: rdmaez_dm_copy_to(), rdmaez_dm_reg() and all else in dm.h.
 *
 * @par Who frees
 * The process that allocated the memory frees it, with rdmaez_dm_close(). All others call
 * rdmaez_dm_shared_close(), which frees nothing. In which order they do is up to them, with two limits:
 * the kernel refuses to free memory on which any of them still has a region (EBUSY), and who comes to
 * import after it was freed is refused (#RDMAEZ_DM_STALE). Numbers are used again, however: a number
 * that was freed may be another memory's by now. So keep the memory until the other process has said
 * that it has it.
 *
 * @par Trust
 * Whoever gets the file descriptor can do anything to every object of that open device. Send it only to
 * a process that is trusted as much as the own one.
 *
 * The functions here may be called from any thread; not at the same time on one object or one socket.
 */
#ifndef RDMAEZ_DM_SHARE_H
#define RDMAEZ_DM_SHARE_H

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explain.h"
#include "dm_token.h"
#include "dm_hook.h"
#include "dm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief What to import beside the memory; bits of rdmaez_dm_share_opts.flags. */
enum rdmaez_dm_share_flags {
	RDMAEZ_DM_SHARE_PD = 1 << 0, /**< the protection domain, which the token must hold */
	RDMAEZ_DM_SHARE_MR = 1 << 1  /**< the memory region, and its domain with it */
};

/** @brief How to share. From zero: the memory alone, within ten seconds. */
struct rdmaez_dm_share_opts {
	/** enum rdmaez_dm_share_flags; 0: the memory alone */
	unsigned int flags;
	/** how long to wait for the other process; 0: 10 s; #RDMAEZ_ZERO: do not wait */
	uint64_t timeout_ns;
	/**
	 * Opens a device for memory that is emulated: rdmaez_dm_emu_open() of dm_emu.h. It gets the
	 * descriptor on loan and returns a context on which the emulation is attached, or NULL and
	 * errno. NULL: emulated memory is refused. Not called for memory of a device.
	 */
	struct ibv_context *(*open)(int fd, const struct rdmaez_dm_token *token, void *arg);
	/** closes what `open` has opened, as ibv_close_device(); NULL: ibv_close_device() */
	int (*close)(struct ibv_context *context, void *arg);
	/** handed to the two functions */
	void *arg;
};

/** @brief Device memory of another process. Filled by rdmaez_dm_receive(). */
struct rdmaez_dm_shared {
	struct ibv_context *context;  /**< the device, opened for this; NULL once closed */
	struct rdmaez_dm dm;          /**< the memory, for everything that dm.h does */
	struct ibv_pd *pd;            /**< the protection domain; NULL: not wanted */
	struct ibv_mr *mr;            /**< the memory region; NULL: not wanted */
	struct rdmaez_dm_token token; /**< what the other process has told */
	/** closes `context`; NULL: ibv_close_device() */
	int (*close)(struct ibv_context *context, void *arg);
	void *arg; /**< handed to it */
};

/* ---- Export ---------------------------------------------------------------------------------- */

/* A device's GUID in host byte order; 0: it has none. */
RDMAEZ_API uint64_t rdmaez_impl_dm_guid(const struct ibv_context *context)
{
	const __be64 guid = ibv_get_device_guid(context->device);
	uint8_t bytes[sizeof(guid)];
	const uint8_t *at = bytes;

	memcpy(bytes, &guid, sizeof(bytes));
	return rdmaez_impl_dm_get(&at, sizeof(bytes));
}

/* The objects that go with the memory must be of its context, and the region of the domain. */
RDMAEZ_API int rdmaez_impl_dm_export_check(const struct rdmaez_dm *dm, const struct ibv_pd *pd,
					   const struct ibv_mr *mr, struct rdmaez_diag *diag)
{
	if (!dm->dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_DM_CLOSED, "dm");
	if (pd && pd->context != dm->context)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_DM_OTHER_CONTEXT, "pd");
	if (mr && (mr->context != dm->context || (pd && mr->pd != pd)))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_DM_OTHER_CONTEXT, "mr");
	/* Memory of the host's has an address there. */
	if (mr && mr->addr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_DM_NOT_REGION, "mr");
	if (mr && (!mr->length || mr->length > rdmaez_impl_dm_whole(dm)))
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_RANGE, "mr.length",
						RDMAEZ_VALUE_BYTES, (int64_t)mr->length, 1,
						(int64_t)rdmaez_impl_dm_whole(dm));
	return 0;
}

/* Adds a domain and a region to a token, which tells how much of the memory is in the region. */
RDMAEZ_API void rdmaez_impl_dm_export_with(struct rdmaez_dm_token *token, const struct ibv_pd *pd,
					   const struct ibv_mr *mr, size_t length)
{
	if (pd) {
		token->flags |= RDMAEZ_DM_TOKEN_PD;
		token->pd_handle = pd->handle;
	}
	if (mr) {
		token->flags |= RDMAEZ_DM_TOKEN_MR;
		token->mr_handle = mr->handle;
		token->lkey = mr->lkey;
		token->rkey = mr->rkey;
		token->mr_length = mr->length < length ? mr->length : length;
	}
}

/**
 * @brief Makes the token by which another process can find device memory.
 *
 * Nothing is changed, and the memory stays this process's to free. The token is good for as long as
 * the objects in it exist.
 *
 * @param dm the memory; also one that was imported
 * @param pd a protection domain to share with it; NULL: the one of @p mr, or none
 * @param mr a region on the memory to share with it; NULL: none. A region does not tell where in the
 *        memory it begins: where that is not at 0, set the token's `mr_offset`. The token's `mr_length` ends
 *        at the memory's `length`, also where the region goes on to the end of `alloc_length`
 * @param token receives the token; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p token is filled
 * @retval EINVAL @p dm or @p token is NULL (#RDMAEZ_NULL_ARGUMENT); the memory is closed
 *         (#RDMAEZ_DM_CLOSED); @p pd or @p mr is of another context, or @p mr of another domain
 *         (#RDMAEZ_DM_OTHER_CONTEXT); @p mr is of the host's memory (#RDMAEZ_DM_NOT_REGION), or longer than
 *         `alloc_length` (#RDMAEZ_RANGE)
 * @retval EOPNOTSUPP the memory has no number, as before rdma-core 35 (#RDMAEZ_DM_NO_HANDLE)
 * @since rdmaez 0.1; rdma-core 35, EOPNOTSUPP before
 */
RDMAEZ_API int rdmaez_dm_export(const struct rdmaez_dm *dm, const struct ibv_pd *pd,
				const struct ibv_mr *mr, struct rdmaez_dm_token *token,
				struct rdmaez_diag *diag)
{
	struct rdmaez_dm_token made;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_export");
	if (!dm || !token)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_NULL_ARGUMENT, dm ? "token" : "dm");
	error = rdmaez_impl_dm_export_check(dm, pd, mr, diag);
	if (error)
		return error;
	rdmaez_impl_diag_device(diag, dm->context);
	memset(&made, 0, sizeof(made));
	if (!rdmaez_impl_dm_handle(dm->dm, dm->owner == RDMAEZ_DM_IMPORTED, &made.dm_handle))
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_DM_NO_HANDLE, "dm");
	rdmaez_impl_dm_export_with(&made, mr ? mr->pd : pd, mr, dm->length);
	if (rdmaez_impl_dm_hook_of(dm->context))
		made.flags |= RDMAEZ_DM_TOKEN_EMULATED;
	made.device_guid = rdmaez_impl_dm_guid(dm->context);
	made.length = dm->length;
	made.alloc_length = dm->alloc_length;
	made.alignment = dm->alignment;
	memcpy(made.device, dm->context->device->name, sizeof(made.device));
	*token = made;
	return 0;
}

/* ---- Over a Unix socket ---------------------------------------------------------------------- */

/* A message with one token; room for more descriptors than one, so that they are seen and closed. */
struct rdmaez_impl_dm_message {
	struct msghdr header;
	struct iovec token;
	size_t control[32]; /* aligned as the system's macros want it */
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES];
};

/* The struct points into itself, so it stays where it is. */
RDMAEZ_API void rdmaez_impl_dm_message_begin(struct rdmaez_impl_dm_message *message)
{
	memset(message, 0, sizeof(*message));
	message->token.iov_base = message->bytes;
	message->token.iov_len = sizeof(message->bytes);
	message->header.msg_iov = &message->token;
	message->header.msg_iovlen = 1;
	message->header.msg_control = message->control;
	message->header.msg_controllen = sizeof(message->control);
}

/* What a socket call said. */
RDMAEZ_API int rdmaez_impl_dm_socket_failed(int error, const char *call, struct rdmaez_diag *diag)
{
	const bool closed = error == EPIPE || error == ECONNRESET;

	return rdmaez_impl_refuse(diag, error, closed ? RDMAEZ_PEER_CLOSED : RDMAEZ_SOCKET, call);
}

/* Waits until the socket takes or has something; only Unix sockets carry descriptors. */
RDMAEZ_API int rdmaez_impl_dm_wait(int socket, short events,
				   const struct rdmaez_dm_share_opts *opts,
				   struct rdmaez_diag *diag)
{
	const int64_t timeout =
		rdmaez_impl_option(opts ? (int64_t)opts->timeout_ns : 0, INT64_C(10000000000));
	/* Rounded up, and poll() waits without end for what is negative. */
	const uint64_t ms = (uint64_t)timeout / 1000000u + ((uint64_t)timeout % 1000000u != 0);
	struct sockaddr family;
	socklen_t size = sizeof(family);
	struct pollfd ready;
	int count;

	memset(&family, 0, sizeof(family));
	memset(&ready, 0, sizeof(ready));
	if (getsockname(socket, &family, &size))
		return rdmaez_impl_refuse(diag, errno, RDMAEZ_SOCKET, "socket");
	if (family.sa_family != AF_UNIX)
		return rdmaez_impl_refuse(diag, EAFNOSUPPORT, RDMAEZ_SOCKET, "socket");
	ready.fd = socket;
	ready.events = events;
	count = poll(&ready, 1, ms < INT_MAX ? (int)ms : INT_MAX);
	if (count < 0)
		return rdmaez_impl_refuse(diag, errno, RDMAEZ_SOCKET, "poll");
	if (!count)
		return rdmaez_impl_refuse_value(diag, ETIMEDOUT, RDMAEZ_PEER_SILENT, "timeout_ns",
						RDMAEZ_VALUE_NS, timeout, timeout, timeout);
	return 0;
}

/* The descriptor that another process needs: the device file, or what the emulation keeps its memory in. */
RDMAEZ_API int rdmaez_impl_dm_fd(const struct ibv_context *context)
{
	const struct rdmaez_impl_dm_hook *hook = rdmaez_impl_dm_hook_of(context);

	return hook ? hook->fd : context->cmd_fd;
}

/* Puts the descriptor beside the token. */
RDMAEZ_API void rdmaez_impl_dm_message_attach(struct rdmaez_impl_dm_message *message, int fd)
{
	struct cmsghdr *rights;

	message->header.msg_controllen = CMSG_SPACE(sizeof(fd));
	rights = CMSG_FIRSTHDR(&message->header);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
}

/**
 * @brief Sends device memory to another process, which receives it with rdmaez_dm_receive().
 *
 * One message of #RDMAEZ_DM_TOKEN_BYTES bytes with the file descriptor of the memory's context. It
 * is sent whole or not at all. The socket may be of type SOCK_STREAM, SOCK_SEQPACKET or SOCK_DGRAM, and
 * other messages may go before and after.
 *
 * @param socket a connected Unix socket
 * @param dm the memory
 * @param token its token; NULL: the memory alone, as rdmaez_dm_export() tells without domain and region
 * @param opts how long to wait for room in the socket; NULL: ten seconds. Nothing else is looked at
 * @param diag receives the explanation; may be NULL
 * @retval 0 the message is on its way. Keep the memory until the other process has said that it has it
 * @retval EINVAL @p dm is NULL (#RDMAEZ_NULL_ARGUMENT) or closed (#RDMAEZ_DM_CLOSED); the token is of
 *         other memory (#RDMAEZ_DM_TOKEN_OTHER), or none at all (#RDMAEZ_DM_TOKEN_FIELD)
 * @retval EOPNOTSUPP as rdmaez_dm_export()
 * @retval ETIMEDOUT the other process has not read what is in the socket (#RDMAEZ_PEER_SILENT)
 * @retval EPIPE the other process has closed the socket (#RDMAEZ_PEER_CLOSED); so ECONNRESET
 * @retval EAFNOSUPPORT this is no Unix socket (#RDMAEZ_SOCKET)
 * @retval EINTR a signal came first, and nothing was sent (#RDMAEZ_SOCKET)
 * @retval EAGAIN another thread has filled the socket meanwhile (#RDMAEZ_SOCKET)
 * @return any other errno of poll() and sendmsg() (#RDMAEZ_SOCKET)
 * @since rdmaez 0.1; rdma-core 35, EOPNOTSUPP before
 */
RDMAEZ_API int rdmaez_dm_send(int socket, const struct rdmaez_dm *dm,
			      const struct rdmaez_dm_token *token,
			      const struct rdmaez_dm_share_opts *opts, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_dm_message message;
	struct rdmaez_dm_token own;
	ssize_t sent;
	int error = rdmaez_dm_export(dm, NULL, NULL, &own, diag);

	if (diag)
		diag->call = "rdmaez_dm_send";
	if (error)
		return error;
	if (!token)
		token = &own;
	if (token->dm_handle != own.dm_handle || token->device_guid != own.device_guid ||
	    token->length != own.length)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_DM_TOKEN_OTHER, "token");
	error = rdmaez_impl_dm_token_check(token, diag);
	if (!error)
		error = rdmaez_impl_dm_wait(socket, POLLOUT, opts, diag);
	if (error)
		return error;
	rdmaez_impl_dm_message_begin(&message);
	rdmaez_dm_token_pack(token, message.bytes);
	rdmaez_impl_dm_message_attach(&message, rdmaez_impl_dm_fd(dm->context));
	sent = sendmsg(socket, &message.header, MSG_NOSIGNAL | MSG_DONTWAIT);
	return sent < 0 ? rdmaez_impl_dm_socket_failed(errno, "sendmsg", diag) : 0;
}

/* Takes the descriptors out of a message: all are closed but the first, which is returned; -1: none. */
RDMAEZ_API int rdmaez_impl_dm_message_fds(struct msghdr *header, int *count)
{
	struct cmsghdr *part;
	int first = -1, fd;

	*count = 0;
	for (part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at + sizeof(fd) <= part->cmsg_len; at += sizeof(fd)) {
			memcpy(&fd, (const char *)part + at, sizeof(fd));
			if ((*count)++)
				close(fd);
			else
				first = fd;
		}
	}
	return first;
}

/* Reads one message: a token's bytes and one descriptor, or neither. */
RDMAEZ_API int rdmaez_impl_dm_take(int socket, uint8_t *bytes, int *fd, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_dm_message message;
	ssize_t got;
	int error = 0, count, found;

	rdmaez_impl_dm_message_begin(&message);
	got = recvmsg(socket, &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got < 0)
		return rdmaez_impl_dm_socket_failed(errno, "recvmsg", diag);
	found = rdmaez_impl_dm_message_fds(&message.header, &count);
	if (!got && !count)
		return rdmaez_impl_dm_socket_failed(ECONNRESET, "recvmsg", diag);
	if (got != RDMAEZ_DM_TOKEN_BYTES || message.header.msg_flags & MSG_TRUNC)
		error = rdmaez_impl_refuse_value(diag, EBADMSG, RDMAEZ_DM_MESSAGE_SIZE, "message",
						 RDMAEZ_VALUE_BYTES, got, RDMAEZ_DM_TOKEN_BYTES,
						 RDMAEZ_DM_TOKEN_BYTES);
	else if (count != 1 || message.header.msg_flags & MSG_CTRUNC)
		error = rdmaez_impl_refuse_value(diag, EBADMSG, RDMAEZ_DM_MESSAGE_FD, "message",
						 RDMAEZ_VALUE_NUMBER, count, 1, 1);
	if (error) {
		if (count)
			close(found);
		return error;
	}
	memcpy(bytes, message.bytes, sizeof(message.bytes));
	*fd = found;
	return 0;
}

/* ---- Import ---------------------------------------------------------------------------------- */

/* A duplicate that a program's descriptors hardly ever reach, so that its number stays its own. */
RDMAEZ_API int rdmaez_impl_dm_dup(int fd)
{
	/* F_DUPFD_CLOEXEC, which fcntl.h hides from strict C. */
	const int dupfd_cloexec = 1030;
	const int copy = fcntl(fd, dupfd_cloexec, 512);

	return copy >= 0 || errno != EINVAL ? copy : fcntl(fd, dupfd_cloexec, 0);
}

/* Closes a duplicate, unless that has been done. */
RDMAEZ_API void rdmaez_impl_dm_undup(int copy, int fd)
{
	struct stat one, other;

	if (fstat(copy, &one) || fstat(fd, &other))
		return;
	if (one.st_dev == other.st_dev && one.st_ino == other.st_ino)
		close(copy);
}

/* Why a device was not opened: the errno values that mean the descriptor, and what others usually mean. */
RDMAEZ_API int rdmaez_impl_dm_open_failed(int error, const char *field, const char *call,
					  struct rdmaez_diag *diag)
{
	if (error == EBADF || error == EINVAL || error == ENODEV)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_DM_FD, field);
	if (diag) {
		diag->error = error;
		rdmaez_impl_explain_errno(diag, call, error);
	}
	return error;
}

/* ibv_import_device(), which keeps the descriptor if it works, and if not closes it or does not. */
RDMAEZ_API int rdmaez_impl_dm_open_device(int fd, struct rdmaez_dm_shared *out,
					  struct rdmaez_diag *diag)
{
	const int copy = rdmaez_impl_dm_dup(fd);
	int error;

	if (copy < 0)
		return rdmaez_impl_refuse(diag, errno, RDMAEZ_DM_FD, "fd");
	errno = 0;
	out->context = ibv_import_device(copy);
	if (out->context)
		return 0;
	error = rdmaez_impl_error_of_null();
	rdmaez_impl_dm_undup(copy, fd);
	return rdmaez_impl_dm_open_failed(error, "fd", "ibv_import_device", diag);
}

/* The same where the memory is emulated and the application says how. */
RDMAEZ_API int rdmaez_impl_dm_open_emulated(int fd, const struct rdmaez_dm_share_opts *opts,
					    struct rdmaez_dm_shared *out, struct rdmaez_diag *diag)
{
	if (!opts || !opts->open)
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_DM_EMULATED, "opts.open");
	errno = 0;
	out->context = opts->open(fd, &out->token, opts->arg);
	if (!out->context)
		return rdmaez_impl_dm_open_failed(rdmaez_impl_error_of_null(), "opts.open",
						  "opts.open", diag);
	out->close = opts->close;
	out->arg = opts->arg;
	if (!rdmaez_impl_dm_hook_of(out->context))
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_DM_EMULATED, "opts.open");
	return 0;
}

/* Opens the device that the descriptor is of, and sees that it is the token's. */
RDMAEZ_API int rdmaez_impl_dm_open(int fd, const struct rdmaez_dm_share_opts *opts,
				   struct rdmaez_dm_shared *out, struct rdmaez_diag *diag)
{
	int error;

	if (out->token.flags & RDMAEZ_DM_TOKEN_EMULATED)
		error = rdmaez_impl_dm_open_emulated(fd, opts, out, diag);
	else if (!rdmaez_impl_dm_can_import())
		error = rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_DM_NO_IMPORT, "ibv_import_dm");
	else
		error = rdmaez_impl_dm_open_device(fd, out, diag);
	if (error || !out->context)
		return error;
	rdmaez_impl_diag_device(diag, out->context);
	if (rdmaez_impl_dm_guid(out->context) != out->token.device_guid)
		return rdmaez_impl_refuse(diag, EXDEV, RDMAEZ_DM_OTHER_DEVICE, "token.device_guid");
	return 0;
}

/* Why an object of a token was not to be had. */
RDMAEZ_API int rdmaez_impl_dm_import_failed(int error, const char *field, const char *call,
					    struct rdmaez_diag *diag)
{
	if (error == ENOENT)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_DM_STALE, field);
	if (diag) {
		diag->error = error;
		rdmaez_impl_explain_errno(diag, call, error);
	}
	return error;
}

/* The memory itself. */
RDMAEZ_API int rdmaez_impl_dm_import_dm(struct rdmaez_dm_shared *out, struct rdmaez_diag *diag)
{
	struct ibv_dm *dm = NULL;
	const int error = rdmaez_impl_dm_import(out->context, out->token.dm_handle, &dm);

	if (error)
		return rdmaez_impl_dm_import_failed(error, "token.dm_handle", "ibv_import_dm",
						    diag);
	out->dm.dm = dm;
	out->dm.context = out->context;
	out->dm.length = (size_t)out->token.length;
	out->dm.alloc_length = (size_t)out->token.alloc_length;
	out->dm.alignment = (size_t)out->token.alignment;
	out->dm.owner = RDMAEZ_DM_IMPORTED;
	rdmaez_impl_dm_settle(&out->dm);
	return 0;
}

/* What goes with it. Emulated memory is another device file's here, so its objects do not exist. */
RDMAEZ_API int rdmaez_impl_dm_import_with(unsigned int flags, struct rdmaez_dm_shared *out,
					  struct rdmaez_diag *diag)
{
	if (flags && out->token.flags & RDMAEZ_DM_TOKEN_EMULATED)
		return rdmaez_impl_refuse_value(diag, EOPNOTSUPP, RDMAEZ_DM_EMU_ALONE, "opts.flags",
						RDMAEZ_VALUE_FLAGS, flags, 0, flags);
	errno = 0;
	if (flags)
		out->pd = ibv_import_pd(out->context, out->token.pd_handle);
	if (flags && !out->pd)
		return rdmaez_impl_dm_import_failed(rdmaez_impl_error_of_null(), "token.pd_handle",
						    "ibv_import_pd", diag);
	if (!(flags & RDMAEZ_DM_SHARE_MR))
		return 0;
	errno = 0;
	out->mr = ibv_import_mr(out->pd, out->token.mr_handle);
	if (!out->mr)
		return rdmaez_impl_dm_import_failed(rdmaez_impl_error_of_null(), "token.mr_handle",
						    "ibv_import_mr", diag);
	return 0;
}

/* Undoes an import, whole or begun: what was made last goes first. */
RDMAEZ_API int rdmaez_impl_dm_shared_undo(struct rdmaez_dm_shared *shared)
{
	int error = 0;

	if (shared->mr)
		ibv_unimport_mr(shared->mr);
	if (shared->dm.dm)
		rdmaez_impl_dm_unimport(shared->dm.dm);
	if (shared->pd)
		ibv_unimport_pd(shared->pd);
	shared->mr = NULL;
	shared->pd = NULL;
	memset(&shared->dm, 0, sizeof(shared->dm));
	errno = 0;
	if (shared->context)
		error = rdmaez_impl_error(shared->close
						  ? shared->close(shared->context, shared->arg)
						  : ibv_close_device(shared->context));
	if (!error)
		memset(shared, 0, sizeof(*shared));
	return error;
}

/* rdmaez_dm_import() without its reset of the record. */
RDMAEZ_API int rdmaez_impl_dm_import_all(int fd, const struct rdmaez_dm_token *token,
					 const struct rdmaez_dm_share_opts *opts,
					 struct rdmaez_dm_shared *out, struct rdmaez_diag *diag)
{
	const unsigned int all = RDMAEZ_DM_SHARE_PD | RDMAEZ_DM_SHARE_MR;
	const unsigned int flags = opts ? opts->flags : 0;
	struct rdmaez_dm_shared made;
	int error = rdmaez_impl_dm_token_check(token, diag);

	if (error)
		return error;
	if (flags & ~all)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_OPTION_UNKNOWN, "opts.flags",
						RDMAEZ_VALUE_FLAGS, flags & ~all, 0, flags);
	/* The bits of what is wanted and of what there is are the same. */
	if (flags & ~token->flags)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_DM_NOT_SHARED, "opts.flags",
						RDMAEZ_VALUE_FLAGS, flags & ~token->flags, 0,
						flags);
	memset(&made, 0, sizeof(made));
	made.token = *token;
	error = rdmaez_impl_dm_open(fd, opts, &made, diag);
	if (!error)
		error = rdmaez_impl_dm_import_dm(&made, diag);
	if (!error)
		error = rdmaez_impl_dm_import_with(flags, &made, diag);
	if (error) {
		rdmaez_impl_dm_shared_undo(&made);
		return error;
	}
	*out = made;
	return 0;
}

/**
 * @brief Imports device memory of which the token and the descriptor have come in some other way.
 *
 * rdmaez_dm_receive() does this with what it has received. A failure leaves nothing open.
 *
 * @param fd the descriptor of the device file, or of the emulation; it stays the caller's
 * @param token what rdmaez_dm_token_unpack() has read
 * @param opts what to import beside the memory, and how emulated memory is opened; NULL: the memory
 * @param shared receives the memory; written on success only; ends with rdmaez_dm_shared_close()
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p shared is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_NULL_ARGUMENT); a token that no rdmaez makes
 *         (#RDMAEZ_DM_TOKEN_FIELD); flags of which nothing is known (#RDMAEZ_OPTION_UNKNOWN) or that
 *         want what the token does not have (#RDMAEZ_DM_NOT_SHARED); @p fd is no RDMA device
 *         (#RDMAEZ_DM_FD)
 * @retval ENODEV the device of @p fd is not there (#RDMAEZ_DM_FD)
 * @retval EBADF @p fd is not open (#RDMAEZ_DM_FD)
 * @retval EMFILE the process may not have more descriptors (#RDMAEZ_DM_FD)
 * @retval EXDEV the device of @p fd is not the token's (#RDMAEZ_DM_OTHER_DEVICE)
 * @retval ENOENT the memory, domain or region does not exist, or no more (#RDMAEZ_DM_STALE)
 * @retval EOPNOTSUPP this libibverbs is older than rdma-core 35 (#RDMAEZ_DM_NO_IMPORT); the memory is
 *         emulated and nothing opens it (#RDMAEZ_DM_EMULATED); a domain or region of emulated memory is
 *         wanted (#RDMAEZ_DM_EMU_ALONE); the driver has no import, as all but mlx5
 *         (#RDMAEZ_NOT_SUPPORTED)
 * @return any other errno of ibv_import_device(), ibv_import_dm(), ibv_import_pd() or ibv_import_mr()
 *         (#RDMAEZ_NO_RESOURCES, #RDMAEZ_BUSY, #RDMAEZ_DEVICE_GONE, #RDMAEZ_TIMED_OUT,
 *         #RDMAEZ_UNEXPLAINED), and whatever `opts.open` says: the same reasons, and #RDMAEZ_DM_FD for
 *         EINVAL, ENODEV and EBADF
 * @since rdmaez 0.1; rdma-core 35, EOPNOTSUPP before
 */
RDMAEZ_API int rdmaez_dm_import(int fd, const struct rdmaez_dm_token *token,
				const struct rdmaez_dm_share_opts *opts,
				struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_dm_import");
	if (!token || !shared)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_NULL_ARGUMENT,
					  token ? "shared" : "token");
	return rdmaez_impl_dm_import_all(fd, token, opts, shared, diag);
}

/**
 * @brief Receives device memory that another process sends with rdmaez_dm_send(), ready for use.
 *
 * One message is read from the socket: also where it is refused, and never more than its own bytes. The
 * descriptors in it are closed, whatever comes of it. A failure leaves nothing open.
 *
 * @param socket a connected Unix socket
 * @param opts what to import, how long to wait; NULL: the memory alone, within ten seconds
 * @param shared receives the memory; written on success only; ends with rdmaez_dm_shared_close()
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p shared is filled
 * @retval EINVAL @p shared is NULL (#RDMAEZ_NULL_ARGUMENT); the bytes are no token, as
 *         rdmaez_dm_token_unpack() tells (#RDMAEZ_DM_TOKEN_MAGIC, #RDMAEZ_DM_TOKEN_VERSION,
 *         #RDMAEZ_DM_TOKEN_FIELD, #RDMAEZ_DM_TOKEN_SUM); the rest as rdmaez_dm_import()
 * @retval EBADMSG the message is too short or too long (#RDMAEZ_DM_MESSAGE_SIZE), or there is not
 *         exactly one descriptor in it, or no room for one in this process (#RDMAEZ_DM_MESSAGE_FD)
 * @retval ETIMEDOUT nothing came (#RDMAEZ_PEER_SILENT)
 * @retval ECONNRESET the other process has closed the socket (#RDMAEZ_PEER_CLOSED)
 * @retval EAFNOSUPPORT this is no Unix socket (#RDMAEZ_SOCKET)
 * @retval EINTR a signal came first, and nothing was read (#RDMAEZ_SOCKET)
 * @retval EAGAIN another thread has read the message (#RDMAEZ_SOCKET)
 * @return any other errno of poll() and recvmsg() (#RDMAEZ_SOCKET), and of rdmaez_dm_import()
 * @since rdmaez 0.1; rdma-core 35, EOPNOTSUPP before
 */
RDMAEZ_API int rdmaez_dm_receive(int socket, const struct rdmaez_dm_share_opts *opts,
				 struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag)
{
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES];
	struct rdmaez_dm_token token;
	int error, fd = -1;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_receive");
	if (!shared)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_NULL_ARGUMENT, "shared");
	error = rdmaez_impl_dm_wait(socket, POLLIN, opts, diag);
	if (!error)
		error = rdmaez_impl_dm_take(socket, bytes, &fd, diag);
	if (error)
		return error;
	error = rdmaez_impl_dm_token_unpack(bytes, &token, diag);
	if (!error)
		error = rdmaez_impl_dm_import_all(fd, &token, opts, shared, diag);
	close(fd);
	return error;
}

/**
 * @brief Gives up device memory of another process, which goes on having it.
 *
 * Unimports the region, the memory and the domain, in this order, and closes the device. What was
 * created on `shared->context`, regions on the memory among it, must be gone by then, as with
 * ibv_close_device(). The memory itself may have been closed with rdmaez_dm_close() before.
 *
 * @param shared what rdmaez_dm_receive() or rdmaez_dm_import() has filled; all zero after success
 * @retval 0 it is closed
 * @retval EINVAL @p shared is NULL, or closed already
 * @return any errno of closing the device, such as EBUSY of rdmaez_dm_emu_close() while something of the
 *         emulation is still there: then the device stays open, and may be closed again; all else is gone
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_dm_shared_close(struct rdmaez_dm_shared *shared)
{
	if (!shared || !shared->context)
		return EINVAL;
	return rdmaez_impl_dm_shared_undo(shared);
}

/* ---- dma-buf --------------------------------------------------------------------------------- */

/**
 * @brief Makes a dma-buf of device memory, for other drivers, such as a GPU's, to reach it.
 *
 * @param dm the memory
 * @param fd receives a file descriptor that the caller closes; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p fd is a dma-buf
 * @retval EINVAL a NULL argument (#RDMAEZ_NULL_ARGUMENT); the memory is closed (#RDMAEZ_DM_CLOSED)
 * @retval EOPNOTSUPP this libibverbs is older than rdma-core 62, the driver cannot, or the memory is
 *         emulated (#RDMAEZ_DM_NO_DMABUF)
 * @return any other errno of ibv_dm_export_dmabuf_fd() (#RDMAEZ_NO_RESOURCES, #RDMAEZ_BUSY,
 *         #RDMAEZ_DEVICE_GONE, #RDMAEZ_TIMED_OUT, #RDMAEZ_UNEXPLAINED)
 * @since rdmaez 0.1; rdma-core 62, EOPNOTSUPP before
 */
RDMAEZ_API int rdmaez_dm_dmabuf(const struct rdmaez_dm *dm, int *fd, struct rdmaez_diag *diag)
{
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_dmabuf");
	if (!dm || !fd)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_NULL_ARGUMENT, dm ? "fd" : "dm");
	if (!dm->dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_DM_CLOSED, "dm");
	rdmaez_impl_diag_device(diag, dm->context);
	error = rdmaez_impl_dm_dmabuf(dm->dm, fd);
	if (error == EOPNOTSUPP || error == ENOSYS)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_DM_NO_DMABUF, "dm");
	if (error && diag) {
		diag->error = error;
		rdmaez_impl_explain_errno(diag, "ibv_dm_export_dmabuf_fd", error);
	}
	return error;
}

#ifdef __cplusplus
}
#endif

#endif
