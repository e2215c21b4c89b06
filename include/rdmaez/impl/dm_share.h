/* SPDX-License-Identifier: MIT */
/* Bodies of dm_share.h. */
#ifndef RDMAEZ_IMPL_DM_SHARE_H
#define RDMAEZ_IMPL_DM_SHARE_H

#include "../dm_share.h"

#if RDMAEZ_IMPL_BODIES

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explain.h"
#include "dm_hook.h"
#include "dm_token.h"
#include "dm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Export ---------------------------------------------------------------------------------- */

/* A device's GUID in host byte order; 0: it has none. */
RDMAEZ_IMPL uint64_t rdmaez_impl_dm_guid(const struct ibv_context *context)
{
	const __be64 guid = ibv_get_device_guid(context->device);
	uint8_t bytes[sizeof(guid)];
	const uint8_t *at = bytes;

	memcpy(bytes, &guid, sizeof(bytes));
	return rdmaez_impl_dm_get(&at, sizeof(bytes));
}

/* The objects that go with the memory must be of its context, and the region of the domain. */
RDMAEZ_IMPL int rdmaez_impl_dm_export_check(const struct rdmaez_dm *dm, const struct ibv_pd *pd,
					    const struct ibv_mr *mr, struct rdmaez_diag *diag)
{
	if (!dm->dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_CLOSED, "dm");
	if (pd && pd->context != dm->context)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_OTHER_CONTEXT, "pd");
	if (mr && (mr->context != dm->context || (pd && mr->pd != pd)))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_OTHER_CONTEXT, "mr");
	/* Memory of the host's has an address there. */
	if (mr && mr->addr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_NOT_REGION, "mr");
	if (mr && (!mr->length || mr->length > rdmaez_impl_dm_whole(dm)))
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_RANGE, "mr.length",
						RDMAEZ_VALUE_BYTES, (int64_t)mr->length, 1,
						(int64_t)rdmaez_impl_dm_whole(dm));
	return 0;
}

/* Adds a domain and a region to a token, which tells how much of the memory is in the region. */
RDMAEZ_IMPL void rdmaez_impl_dm_export_with(struct rdmaez_dm_token *token, const struct ibv_pd *pd,
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

RDMAEZ_API int rdmaez_dm_export(const struct rdmaez_dm *dm, const struct ibv_pd *pd,
				const struct ibv_mr *mr, struct rdmaez_dm_token *token,
				struct rdmaez_diag *diag)
{
	struct rdmaez_dm_token made;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_export");
	if (!dm || !token)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  dm ? "token" : "dm");
	error = rdmaez_impl_dm_export_check(dm, pd, mr, diag);
	if (error)
		return error;
	rdmaez_impl_diag_device(diag, dm->context);
	memset(&made, 0, sizeof(made));
	if (!rdmaez_impl_dm_handle(dm->dm, dm->owner == RDMAEZ_DM_IMPORTED, &made.dm_handle))
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_NO_HANDLE, "dm");
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
RDMAEZ_IMPL void rdmaez_impl_dm_message_begin(struct rdmaez_impl_dm_message *message)
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
RDMAEZ_IMPL int rdmaez_impl_dm_socket_failed(int error, const char *call, struct rdmaez_diag *diag)
{
	const bool closed = error == EPIPE || error == ECONNRESET;

	return rdmaez_impl_refuse(diag, error, closed ? RDMAEZ_WHY_PEER_CLOSED : RDMAEZ_WHY_SOCKET,
				  call);
}

/* Waits until the socket takes or has something; only Unix sockets carry descriptors. */
RDMAEZ_IMPL int rdmaez_impl_dm_wait(int socket, short events,
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
		return rdmaez_impl_refuse(diag, errno, RDMAEZ_WHY_SOCKET, "socket");
	if (family.sa_family != AF_UNIX)
		return rdmaez_impl_refuse(diag, EAFNOSUPPORT, RDMAEZ_WHY_SOCKET, "socket");
	ready.fd = socket;
	ready.events = events;
	count = poll(&ready, 1, ms < INT_MAX ? (int)ms : INT_MAX);
	if (count < 0)
		return rdmaez_impl_refuse(diag, errno, RDMAEZ_WHY_SOCKET, "poll");
	if (!count)
		return rdmaez_impl_refuse_value(diag, ETIMEDOUT, RDMAEZ_WHY_PEER_SILENT,
						"timeout_ns", RDMAEZ_VALUE_NS, timeout, timeout,
						timeout);
	return 0;
}

/* The descriptor that another process needs: the device file, or what the emulation keeps its memory in. */
RDMAEZ_IMPL int rdmaez_impl_dm_fd(const struct ibv_context *context)
{
	const struct rdmaez_impl_dm_hook *hook = rdmaez_impl_dm_hook_of(context);

	return hook ? hook->fd : context->cmd_fd;
}

/* Puts the descriptor beside the token. */
RDMAEZ_IMPL void rdmaez_impl_dm_message_attach(struct rdmaez_impl_dm_message *message, int fd)
{
	struct cmsghdr *rights;

	message->header.msg_controllen = CMSG_SPACE(sizeof(fd));
	rights = CMSG_FIRSTHDR(&message->header);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
}

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
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_OTHER, "token");
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
RDMAEZ_IMPL int rdmaez_impl_dm_message_fds(struct msghdr *header, int *count)
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
RDMAEZ_IMPL int rdmaez_impl_dm_take(int socket, uint8_t *bytes, int *fd, struct rdmaez_diag *diag)
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
		error = rdmaez_impl_refuse_value(diag, EBADMSG, RDMAEZ_WHY_DM_MESSAGE_SIZE,
						 "message", RDMAEZ_VALUE_BYTES, got,
						 RDMAEZ_DM_TOKEN_BYTES, RDMAEZ_DM_TOKEN_BYTES);
	else if (count != 1 || message.header.msg_flags & MSG_CTRUNC)
		error = rdmaez_impl_refuse_value(diag, EBADMSG, RDMAEZ_WHY_DM_MESSAGE_FD, "message",
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
RDMAEZ_IMPL int rdmaez_impl_dm_dup(int fd)
{
	/* F_DUPFD_CLOEXEC, which fcntl.h hides from strict C. */
	const int dupfd_cloexec = 1030;
	const int copy = fcntl(fd, dupfd_cloexec, 512);

	return copy >= 0 || errno != EINVAL ? copy : fcntl(fd, dupfd_cloexec, 0);
}

/* Closes a duplicate, unless that has been done. */
RDMAEZ_IMPL void rdmaez_impl_dm_undup(int copy, int fd)
{
	struct stat one, other;

	if (fstat(copy, &one) || fstat(fd, &other))
		return;
	if (one.st_dev == other.st_dev && one.st_ino == other.st_ino)
		close(copy);
}

/* Why a device was not opened: the errno values that mean the descriptor, and what others usually mean. */
RDMAEZ_IMPL int rdmaez_impl_dm_open_failed(int error, const char *field, const char *call,
					   struct rdmaez_diag *diag)
{
	if (error == EBADF || error == EINVAL || error == ENODEV)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_DM_FD, field);
	if (diag) {
		diag->error = error;
		rdmaez_impl_explain_errno(diag, call, error);
	}
	return error;
}

/* ibv_import_device(), which keeps the descriptor if it works, and if not closes it or does not. */
RDMAEZ_IMPL int rdmaez_impl_dm_open_device(int fd, struct rdmaez_dm_shared *out,
					   struct rdmaez_diag *diag)
{
	const int copy = rdmaez_impl_dm_dup(fd);
	int error;

	if (copy < 0)
		return rdmaez_impl_refuse(diag, errno, RDMAEZ_WHY_DM_FD, "fd");
	errno = 0;
	out->context = ibv_import_device(copy);
	if (out->context)
		return 0;
	error = rdmaez_impl_error_of_null();
	rdmaez_impl_dm_undup(copy, fd);
	return rdmaez_impl_dm_open_failed(error, "fd", "ibv_import_device", diag);
}

/* The same where the memory is emulated and the application says how. */
RDMAEZ_IMPL int rdmaez_impl_dm_open_emulated(int fd, const struct rdmaez_dm_share_opts *opts,
					     struct rdmaez_dm_shared *out, struct rdmaez_diag *diag)
{
	if (!opts || !opts->open)
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_EMULATED, "opts.open");
	errno = 0;
	out->context = opts->open(fd, &out->token, opts->arg);
	if (!out->context)
		return rdmaez_impl_dm_open_failed(rdmaez_impl_error_of_null(), "opts.open",
						  "opts.open", diag);
	out->close = opts->close;
	out->arg = opts->arg;
	if (!rdmaez_impl_dm_hook_of(out->context))
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_EMULATED, "opts.open");
	return 0;
}

/* Opens the device that the descriptor is of, and sees that it is the token's. */
RDMAEZ_IMPL int rdmaez_impl_dm_open(int fd, const struct rdmaez_dm_share_opts *opts,
				    struct rdmaez_dm_shared *out, struct rdmaez_diag *diag)
{
	int error;

	if (out->token.flags & RDMAEZ_DM_TOKEN_EMULATED)
		error = rdmaez_impl_dm_open_emulated(fd, opts, out, diag);
	else if (!rdmaez_impl_dm_can_import())
		error = rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_NO_IMPORT,
					   "ibv_import_dm");
	else
		error = rdmaez_impl_dm_open_device(fd, out, diag);
	if (error || !out->context)
		return error;
	rdmaez_impl_diag_device(diag, out->context);
	if (rdmaez_impl_dm_guid(out->context) != out->token.device_guid)
		return rdmaez_impl_refuse(diag, EXDEV, RDMAEZ_WHY_DM_OTHER_DEVICE,
					  "token.device_guid");
	return 0;
}

/* Why an object of a token was not to be had. */
RDMAEZ_IMPL int rdmaez_impl_dm_import_failed(int error, const char *field, const char *call,
					     struct rdmaez_diag *diag)
{
	if (error == ENOENT)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_DM_STALE, field);
	if (diag) {
		diag->error = error;
		rdmaez_impl_explain_errno(diag, call, error);
	}
	return error;
}

/* The memory itself. */
RDMAEZ_IMPL int rdmaez_impl_dm_import_dm(struct rdmaez_dm_shared *out, struct rdmaez_diag *diag)
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
RDMAEZ_IMPL int rdmaez_impl_dm_import_with(unsigned int flags, struct rdmaez_dm_shared *out,
					   struct rdmaez_diag *diag)
{
	if (flags && out->token.flags & RDMAEZ_DM_TOKEN_EMULATED)
		return rdmaez_impl_refuse_value(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_EMU_ALONE,
						"opts.flags", RDMAEZ_VALUE_FLAGS, flags, 0, flags);
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
RDMAEZ_IMPL int rdmaez_impl_dm_shared_undo(struct rdmaez_dm_shared *shared)
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
RDMAEZ_IMPL int rdmaez_impl_dm_import_all(int fd, const struct rdmaez_dm_token *token,
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
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_OPTION_UNKNOWN,
						"opts.flags", RDMAEZ_VALUE_FLAGS, flags & ~all, 0,
						flags);
	/* The bits of what is wanted and of what there is are the same. */
	if (flags & ~token->flags)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_DM_NOT_SHARED,
						"opts.flags", RDMAEZ_VALUE_FLAGS,
						flags & ~token->flags, 0, flags);
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

RDMAEZ_API int rdmaez_dm_import(int fd, const struct rdmaez_dm_token *token,
				const struct rdmaez_dm_share_opts *opts,
				struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_dm_import");
	if (!token || !shared)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  token ? "shared" : "token");
	return rdmaez_impl_dm_import_all(fd, token, opts, shared, diag);
}

RDMAEZ_API int rdmaez_dm_receive(int socket, const struct rdmaez_dm_share_opts *opts,
				 struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag)
{
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES];
	struct rdmaez_dm_token token;
	int error, fd = -1;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_receive");
	if (!shared)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "shared");
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

RDMAEZ_API int rdmaez_dm_shared_close(struct rdmaez_dm_shared *shared)
{
	if (!shared || !shared->context)
		return EINVAL;
	return rdmaez_impl_dm_shared_undo(shared);
}

/* ---- dma-buf --------------------------------------------------------------------------------- */

RDMAEZ_API int rdmaez_dm_dmabuf(const struct rdmaez_dm *dm, int *fd, struct rdmaez_diag *diag)
{
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_dmabuf");
	if (!dm || !fd)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, dm ? "fd" : "dm");
	if (!dm->dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_CLOSED, "dm");
	rdmaez_impl_diag_device(diag, dm->context);
	error = rdmaez_impl_dm_dmabuf(dm->dm, fd);
	if (error == EOPNOTSUPP || error == ENOSYS)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_DM_NO_DMABUF, "dm");
	if (error && diag) {
		diag->error = error;
		rdmaez_impl_explain_errno(diag, "ibv_dm_export_dmabuf_fd", error);
	}
	return error;
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
