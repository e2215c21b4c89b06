/* SPDX-License-Identifier: MIT */
/* Implements dm_share.h: tokens on the wire, descriptors over a socket, export and import. */
#ifndef RDMAEZ_IMPL_DM_SHARE_H
#define RDMAEZ_IMPL_DM_SHARE_H

#ifndef RDMAEZ_DM_SHARE_H
#include "../dm_share.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_DM_H
#include "dm.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- Tokens ---------------------------------------------------------------------------------- */

/* "RZDM" */
#define RDMAEZ_IMPL_DM_TOKEN_MAGIC 0x525a444du

#define RDMAEZ_IMPL_DM_TOKEN_VERSION 1

/*
 * These are the numbers of each size, in the order in which they are sent. Flags and name are
 * written separately.
 */
#define RDMAEZ_IMPL_DM_TOKEN_32(X) \
	X(dm_handle)               \
	X(pd_handle)               \
	X(mr_handle)               \
	X(lkey)                    \
	X(rkey)
#define RDMAEZ_IMPL_DM_TOKEN_64(X) \
	X(device_guid)             \
	X(length)                  \
	X(alloc_length)            \
	X(alignment)               \
	X(mr_offset)               \
	X(mr_length)

/* Checks that a number of a token lies in its range. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_token_range(struct rdmaez_diag *diag, const char *field,
						uint64_t value, uint64_t min, uint64_t max)
{
	const struct rdmaez_impl_site site = {field, RDMAEZ_WHY_DM_TOKEN_FIELD, RDMAEZ_VALUE_BYTES,
					      0, 0};

	if (value >= min && value <= max)
		return 0;
	return rdmaez_impl_refuse_within(diag, EINVAL, &site, (int64_t)value, (int64_t)min,
					 (int64_t)max);
}

/*
 * Returns whether a device's name is valid: printable characters, at least one, no slash, and zeros
 * to the end.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_dm_token_name_good(const char *name)
{
	size_t length = 0;

	while (length < IBV_SYSFS_NAME_MAX && name[length] > ' ' && name[length] <= '~' &&
	       name[length] != '/')
		length++;
	if (!length || length == IBV_SYSFS_NAME_MAX)
		return false;
	for (size_t i = length; i < IBV_SYSFS_NAME_MAX; i++)
		if (name[i])
			return false;
	return true;
}

/* Checks that the fields of what the token does not hold are zero. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_token_absent(const struct rdmaez_dm_token *token,
						 struct rdmaez_diag *diag)
{
	const bool pd = token->flags & RDMAEZ_DM_TOKEN_PD, mr = token->flags & RDMAEZ_DM_TOKEN_MR;
	const char *field = NULL;

	if (!pd && token->pd_handle)
		field = "token.pd_handle";
	else if (!mr && token->mr_handle)
		field = "token.mr_handle";
	else if (!mr && token->lkey)
		field = "token.lkey";
	else if (!mr && token->rkey)
		field = "token.rkey";
	else if (!mr && token->mr_offset)
		field = "token.mr_offset";
	else if (!mr && token->mr_length)
		field = "token.mr_length";
	return field ? rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_FIELD, field) : 0;
}

/* Checks that rdmaez_dm_export() can have made a token, and names the first field for which it cannot. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_token_check(const struct rdmaez_dm_token *token,
						struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"token.flags", RDMAEZ_WHY_DM_TOKEN_FIELD,
						     RDMAEZ_VALUE_FLAGS, 0, 0};
	const unsigned int all = RDMAEZ_DM_TOKEN_PD | RDMAEZ_DM_TOKEN_MR | RDMAEZ_DM_TOKEN_EMULATED;
	/* The lengths of struct rdmaez_dm are of type size_t. */
	const uint64_t most = SIZE_MAX;
	unsigned int wrong = token->flags & ~all;
	int error;

	/* A region can only be imported with its domain. */
	if (token->flags & RDMAEZ_DM_TOKEN_MR && !(token->flags & RDMAEZ_DM_TOKEN_PD))
		wrong |= RDMAEZ_DM_TOKEN_MR;
	if (wrong)
		return rdmaez_impl_refuse_within(diag, EINVAL, &site, wrong, 0, token->flags);
	error = rdmaez_impl_dm_token_absent(token, diag);
	if (!error)
		error = rdmaez_impl_dm_token_range(diag, "token.alloc_length", token->alloc_length,
						   1, most);
	if (!error)
		error = rdmaez_impl_dm_token_range(diag, "token.length", token->length, 1,
						   token->alloc_length);
	if (!error && (token->alignment & (token->alignment - 1) ||
		       token->alignment > RDMAEZ_IMPL_DM_ALIGNMENT))
		error = rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_FIELD,
					   "token.alignment");
	if (!error && token->flags & RDMAEZ_DM_TOKEN_MR)
		error = rdmaez_impl_dm_token_range(diag, "token.mr_length", token->mr_length, 1,
						   token->length);
	if (!error && token->flags & RDMAEZ_DM_TOKEN_MR)
		error = rdmaez_impl_dm_token_range(diag, "token.mr_offset", token->mr_offset, 0,
						   token->length - token->mr_length);
	if (!error && !rdmaez_impl_dm_token_name_good(token->device))
		error = rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_FIELD, "token.device");
	return error;
}

/* Computes the CRC-32 of Ethernet, four bits at a time. */
RDMAEZ_IMPL_COLD uint32_t rdmaez_impl_dm_token_sum(const uint8_t *bytes, size_t count)
{
	static const uint32_t steps[] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
					 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
					 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
					 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
	uint32_t sum = 0xffffffffu;

	for (size_t i = 0; i < count; i++) {
		sum ^= bytes[i];
		sum = sum >> 4 ^ steps[sum & 0xf];
		sum = sum >> 4 ^ steps[sum & 0xf];
	}
	return ~sum;
}

/* Writes a token that has been checked. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_token_write(const struct rdmaez_dm_token *token, uint8_t *buf)
{
	uint8_t *at = buf;

	at = rdmaez_impl_bytes_put(at, RDMAEZ_IMPL_DM_TOKEN_MAGIC, 4);
	at = rdmaez_impl_bytes_put(at, RDMAEZ_IMPL_DM_TOKEN_VERSION, 2);
	at = rdmaez_impl_bytes_put(at, token->flags, 2);
#define RDMAEZ_IMPL_DM_PUT_32(field) at = rdmaez_impl_bytes_put(at, token->field, 4);
#define RDMAEZ_IMPL_DM_PUT_64(field) at = rdmaez_impl_bytes_put(at, token->field, 8);
	RDMAEZ_IMPL_DM_TOKEN_32(RDMAEZ_IMPL_DM_PUT_32)
	RDMAEZ_IMPL_DM_TOKEN_64(RDMAEZ_IMPL_DM_PUT_64)
#undef RDMAEZ_IMPL_DM_PUT_32
#undef RDMAEZ_IMPL_DM_PUT_64
	memcpy(at, token->device, sizeof(token->device));
	at += sizeof(token->device);
	rdmaez_impl_bytes_put(at, rdmaez_impl_dm_token_sum(buf, RDMAEZ_DM_TOKEN_BYTES - 4), 4);
}

RDMAEZ_API int rdmaez_dm_token_pack(const struct rdmaez_dm_token *token,
				    uint8_t buf[RDMAEZ_DM_TOKEN_BYTES], struct rdmaez_diag *diag)
{
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_token_pack");
	if (!token || !buf)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  token ? "buf" : "token");
	error = rdmaez_impl_dm_token_check(token, diag);
	if (!error)
		rdmaez_impl_dm_token_write(token, buf);
	return error;
}

/* Reads the fields without checking them. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_token_read(const uint8_t *at, struct rdmaez_dm_token *token)
{
	memset(token, 0, sizeof(*token));
	token->flags = (unsigned int)rdmaez_impl_bytes_get(&at, 2);
#define RDMAEZ_IMPL_DM_GET_32(field) token->field = (uint32_t)rdmaez_impl_bytes_get(&at, 4);
#define RDMAEZ_IMPL_DM_GET_64(field) token->field = rdmaez_impl_bytes_get(&at, 8);
	RDMAEZ_IMPL_DM_TOKEN_32(RDMAEZ_IMPL_DM_GET_32)
	RDMAEZ_IMPL_DM_TOKEN_64(RDMAEZ_IMPL_DM_GET_64)
#undef RDMAEZ_IMPL_DM_GET_32
#undef RDMAEZ_IMPL_DM_GET_64
	memcpy(token->device, at, sizeof(token->device));
}

/* Does what rdmaez_dm_token_unpack() does, without its reset of the record. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_token_unpack(const uint8_t *buf, struct rdmaez_dm_token *token,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {
		"token.version", RDMAEZ_WHY_DM_TOKEN_VERSION, RDMAEZ_VALUE_NUMBER,
		RDMAEZ_IMPL_DM_TOKEN_VERSION, RDMAEZ_IMPL_DM_TOKEN_VERSION};
	const uint8_t *at = buf, *sum = buf + RDMAEZ_DM_TOKEN_BYTES - 4;
	struct rdmaez_dm_token found;
	uint64_t version;
	int error;

	if (rdmaez_impl_bytes_get(&at, 4) != RDMAEZ_IMPL_DM_TOKEN_MAGIC)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_MAGIC, "token.magic");
	version = rdmaez_impl_bytes_get(&at, 2);
	if (version != RDMAEZ_IMPL_DM_TOKEN_VERSION)
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, (int64_t)version);
	rdmaez_impl_dm_token_read(at, &found);
	error = rdmaez_impl_dm_token_check(&found, diag);
	if (error)
		return error;
	if (rdmaez_impl_bytes_get(&sum, 4) !=
	    rdmaez_impl_dm_token_sum(buf, RDMAEZ_DM_TOKEN_BYTES - 4))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_SUM, "token.checksum");
	*token = found;
	return 0;
}

RDMAEZ_API int rdmaez_dm_token_unpack(const uint8_t buf[RDMAEZ_DM_TOKEN_BYTES],
				      struct rdmaez_dm_token *token, struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_dm_token_unpack");
	if (!buf || !token)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  buf ? "token" : "buf");
	return rdmaez_impl_dm_token_unpack(buf, token, diag);
}

/* ---- Export ---------------------------------------------------------------------------------- */

/* Returns a device's GUID in host byte order, or 0 if it has none. */
RDMAEZ_IMPL uint64_t rdmaez_impl_dm_guid(const struct ibv_context *context)
{
	const __be64 guid = ibv_get_device_guid(context->device);
	uint8_t bytes[sizeof(guid)];
	const uint8_t *at = bytes;

	memcpy(bytes, &guid, sizeof(bytes));
	return rdmaez_impl_bytes_get(&at, sizeof(bytes));
}

/* Checks that the region is on this memory, and that all objects belong to its context. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_export_region(const struct rdmaez_dm *dm,
						  const struct ibv_pd *pd,
						  const struct rdmaez_dm_region *region,
						  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"region.length", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_BYTES, 1, 0};
	const uint64_t begin = region->offset, end = dm->length;
	const struct ibv_mr *mr = region->mr;
	int error;

	if (mr && (mr->context != dm->context || region->dm != dm->dm || (pd && mr->pd != pd)))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_OTHER_CONTEXT, "region");
	error = rdmaez_impl_dm_region_check(region, diag);
	if (error)
		return error;
	if (begin <= end && region->length && region->length <= end - begin)
		return 0;
	return rdmaez_impl_refuse_within(diag, EINVAL, &site, (int64_t)region->length, 1,
					 begin < end ? (int64_t)(end - begin) : 0);
}

/* Adds a domain and a region to a token. */
RDMAEZ_IMPL void rdmaez_impl_dm_export_with(struct rdmaez_dm_token *token, const struct ibv_pd *pd,
					    const struct rdmaez_dm_region *region)
{
	if (region)
		pd = region->mr->pd;
	if (pd) {
		token->flags |= RDMAEZ_DM_TOKEN_PD;
		token->pd_handle = pd->handle;
	}
	if (region) {
		token->flags |= RDMAEZ_DM_TOKEN_MR;
		token->mr_handle = region->mr->handle;
		token->lkey = region->mr->lkey;
		token->rkey = region->mr->rkey;
		token->mr_offset = region->offset;
		token->mr_length = region->length;
	}
}

/* Does what rdmaez_dm_export() does, without its reset of the record. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_export(const struct rdmaez_dm *dm, const struct ibv_pd *pd,
					   const struct rdmaez_dm_region *region,
					   struct rdmaez_dm_token *token, struct rdmaez_diag *diag)
{
	int error = 0;

	if (!dm->dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_CLOSED, "dm");
	rdmaez_impl_diag_device(diag, dm->context);
	if (pd && pd->context != dm->context)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_OTHER_CONTEXT, "pd");
	if (region)
		error = rdmaez_impl_dm_export_region(dm, pd, region, diag);
	if (error)
		return error;
	memset(token, 0, sizeof(*token));
	if (!rdmaez_impl_dm_handle(dm->dm, dm->owner == RDMAEZ_DM_IMPORTED, &token->dm_handle))
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_NO_HANDLE, "dm");
	rdmaez_impl_dm_export_with(token, pd, region);
	token->device_guid = rdmaez_impl_dm_guid(dm->context);
	token->length = dm->length;
	token->alloc_length = rdmaez_impl_dm_whole(dm);
	token->alignment = dm->alignment;
	memcpy(token->device, dm->context->device->name, sizeof(token->device));
	return 0;
}

RDMAEZ_API int rdmaez_dm_export(const struct rdmaez_dm *dm, const struct ibv_pd *pd,
				const struct rdmaez_dm_region *region,
				struct rdmaez_dm_token *token, struct rdmaez_diag *diag)
{
	struct rdmaez_dm_token made;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_export");
	if (!dm || !token)
		return rdmaez_impl_dm_null(diag, dm ? "token" : "dm");
	error = rdmaez_impl_dm_export(dm, pd, region, &made, diag);
	if (!error)
		*token = made;
	return error;
}

/* ---- Over a Unix socket ---------------------------------------------------------------------- */

/*
 * A message has one token. It has room for many descriptors, so that surplus ones are noticed and
 * closed.
 */
struct rdmaez_impl_dm_message {
	struct msghdr header;
	struct iovec token;
	size_t control[256 / sizeof(size_t)];
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES];
};

/* Prepares a message. The struct points into itself, so it must not move. */
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

/* Explains why a call on the socket has failed. */
RDMAEZ_IMPL int rdmaez_impl_dm_socket_failed(int error, const char *call, struct rdmaez_diag *diag)
{
	const bool closed = error == EPIPE || error == ECONNRESET;

	return rdmaez_impl_refuse(diag, error, closed ? RDMAEZ_WHY_PEER_CLOSED : RDMAEZ_WHY_SOCKET,
				  call);
}

/*
 * Returns how long to wait for the other process, in ns. RDMAEZ_NS_NOW and RDMAEZ_NS_FOREVER are
 * returned as they are.
 */
RDMAEZ_IMPL uint64_t rdmaez_impl_dm_timeout(const struct rdmaez_dm_share_opts *opts)
{
	return opts && opts->timeout_ns ? opts->timeout_ns : RDMAEZ_IMPL_WAIT_NS;
}

/* Waits until the socket can be written or read. It must be a Unix socket: only those carry descriptors. */
RDMAEZ_IMPL int rdmaez_impl_dm_wait(int socket, int events, uint64_t timeout_ns, uint64_t deadline,
				    struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"timeout_ns", RDMAEZ_WHY_PEER_SILENT,
						     RDMAEZ_VALUE_NS, 0, 0};
	const int64_t waited = timeout_ns == RDMAEZ_NS_NOW ? 0 : (int64_t)timeout_ns;
	struct sockaddr family;
	socklen_t size = sizeof(family);
	int error;

	memset(&family, 0, sizeof(family));
	if (getsockname(socket, &family, &size))
		return rdmaez_impl_refuse(diag, errno, RDMAEZ_WHY_SOCKET, "socket");
	if (family.sa_family != AF_UNIX)
		return rdmaez_impl_refuse(diag, EAFNOSUPPORT, RDMAEZ_WHY_SOCKET, "socket");
	error = rdmaez_impl_wait(socket, events, deadline);
	if (error == ETIMEDOUT)
		return rdmaez_impl_refuse_within(diag, error, &site, waited, waited, waited);
	return error ? rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_SOCKET, "poll") : 0;
}

/*
 * Returns the descriptor that another process needs. It is that of the device file or, for emulated
 * memory, what the application's function returns. The token then says that the memory is emulated.
 */
RDMAEZ_IMPL int rdmaez_impl_dm_fd(const struct ibv_context *context,
				  const struct rdmaez_dm_share_opts *opts,
				  struct rdmaez_dm_token *token)
{
	int fd = -1;

	if (opts && opts->ops && opts->ops->fd)
		fd = opts->ops->fd(context, opts->arg);
	if (fd < 0)
		return context->cmd_fd;
	token->flags |= RDMAEZ_DM_TOKEN_EMULATED;
	return fd;
}

/*
 * Puts the descriptor beside the token. Control messages are written and read without the system's macros,
 * which convert signs in some C libraries: each is a struct cmsghdr, whose size is a multiple of that of
 * size_t, its data, and padding to the next such multiple.
 */
RDMAEZ_IMPL void rdmaez_impl_dm_message_attach(struct rdmaez_impl_dm_message *message, int fd)
{
	struct cmsghdr rights;

	memset(&rights, 0, sizeof(rights));
	rights.cmsg_level = SOL_SOCKET;
	rights.cmsg_type = SCM_RIGHTS;
	rights.cmsg_len = sizeof(rights) + sizeof(fd);
	memcpy(message->control, &rights, sizeof(rights));
	memcpy(&message->control[sizeof(rights) / sizeof(size_t)], &fd, sizeof(fd));
	message->header.msg_controllen = sizeof(rights) + sizeof(size_t);
}

RDMAEZ_API int rdmaez_dm_send(int socket, const struct rdmaez_dm *dm,
			      const struct rdmaez_dm_token *token,
			      const struct rdmaez_dm_share_opts *opts, struct rdmaez_diag *diag)
{
	const uint64_t timeout = rdmaez_impl_dm_timeout(opts);
	struct rdmaez_impl_dm_message message;
	struct rdmaez_dm_token own, sent;
	int error, fd;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_send");
	if (!dm)
		return rdmaez_impl_dm_null(diag, "dm");
	error = rdmaez_impl_dm_export(dm, NULL, NULL, &own, diag);
	if (error)
		return error;
	sent = token ? *token : own;
	if (sent.dm_handle != own.dm_handle || sent.device_guid != own.device_guid ||
	    sent.length != own.length)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_TOKEN_OTHER, "token");
	fd = rdmaez_impl_dm_fd(dm->context, opts, &sent);
	error = rdmaez_impl_dm_token_check(&sent, diag);
	if (!error)
		error = rdmaez_impl_dm_wait(socket, POLLOUT, timeout, rdmaez_impl_until(timeout),
					    diag);
	if (error)
		return error;
	rdmaez_impl_dm_message_begin(&message);
	rdmaez_impl_dm_token_write(&sent, message.bytes);
	rdmaez_impl_dm_message_attach(&message, fd);
	if (sendmsg(socket, &message.header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	return rdmaez_impl_dm_socket_failed(errno, "sendmsg", diag);
}

/* Counts and closes the descriptors of a control message. The first is kept if `first` has none so far. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_part_fds(const char *data, size_t bytes, int *first)
{
	int count = 0, fd;

	for (; bytes >= sizeof(fd); bytes -= sizeof(fd)) {
		memcpy(&fd, data, sizeof(fd));
		data += sizeof(fd);
		if (first && *first < 0)
			*first = fd;
		else
			close(fd);
		count++;
	}
	return count;
}

/*
 * Takes the descriptors out of a message. It returns the first, or -1 if there is none, and closes
 * the others. A socket with SO_PASSPIDFD also gets one of the sender's process, which is closed and
 * not counted.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_message_fds(const struct msghdr *header, int *count)
{
	const int scm_pidfd = 4; /* it came with Linux 6.5 */
	const char *at = (const char *)header->msg_control;
	size_t rest = header->msg_controllen, size;
	struct cmsghdr part;
	int first = -1;

	*count = 0;
	while (rest >= sizeof(part)) {
		memcpy(&part, at, sizeof(part));
		size = part.cmsg_len;
		if (size < sizeof(part) || size > rest)
			break;
		if (part.cmsg_level == SOL_SOCKET && part.cmsg_type == SCM_RIGHTS)
			*count += rdmaez_impl_dm_part_fds(at + sizeof(part), size - sizeof(part),
							  &first);
		else if (part.cmsg_level == SOL_SOCKET && part.cmsg_type == scm_pidfd)
			rdmaez_impl_dm_part_fds(at + sizeof(part), size - sizeof(part), NULL);
		size = (size + sizeof(size_t) - 1) / sizeof(size_t) * sizeof(size_t);
		if (size > rest)
			break;
		at += size;
		rest -= size;
	}
	return first;
}

/* Reads one message. If it is accepted, it has a token's bytes and one descriptor; if not, nothing is open. */
RDMAEZ_IMPL int rdmaez_impl_dm_take(int socket, uint8_t *bytes, int *fd, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site size = {"message", RDMAEZ_WHY_DM_MESSAGE_SIZE,
						     RDMAEZ_VALUE_BYTES, RDMAEZ_DM_TOKEN_BYTES,
						     RDMAEZ_DM_TOKEN_BYTES};
	static const struct rdmaez_impl_site fds = {"message", RDMAEZ_WHY_DM_MESSAGE_FD,
						    RDMAEZ_VALUE_NUMBER, 1, 1};
	struct rdmaez_impl_dm_message message;
	ssize_t got;
	int error = 0, count, found;

	rdmaez_impl_dm_message_begin(&message);
	/* MSG_TRUNC makes it return the length of the packet, even if that did not fit. */
	got = recvmsg(socket, &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC);
	if (got < 0)
		return rdmaez_impl_dm_socket_failed(errno, "recvmsg", diag);
	found = rdmaez_impl_dm_message_fds(&message.header, &count);
	if (!got && !count)
		return rdmaez_impl_dm_socket_failed(ECONNRESET, "recvmsg", diag);
	if (got != RDMAEZ_DM_TOKEN_BYTES)
		error = rdmaez_impl_refuse_at(diag, EBADMSG, &size, got);
	else if (count != 1 || message.header.msg_flags & MSG_CTRUNC) /* at least one more came */
		error = rdmaez_impl_refuse_at(
			diag, EBADMSG, &fds,
			count + (count && message.header.msg_flags & MSG_CTRUNC ? 1 : 0));
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

/* Duplicates a descriptor. The number is so high that no other descriptor is likely to get it afterwards. */
RDMAEZ_IMPL int rdmaez_impl_dm_dup(int fd)
{
	/* This is F_DUPFD_CLOEXEC, which fcntl.h hides from strict C. */
	const int dupfd_cloexec = 1030;
	const int copy = fcntl(fd, dupfd_cloexec, 512);

	return copy >= 0 || errno != EINVAL ? copy : fcntl(fd, dupfd_cloexec, 0);
}

/*
 * Sets, removes or looks for the mark on a duplicate: a record lock on one byte, whose place is made from the
 * address of `mark`, so that no other call uses it. The kernel removes such locks when the process closes any
 * descriptor of the file.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_mark(int fd, int command, int type, struct flock *mark)
{
	memset(mark, 0, sizeof(*mark));
	mark->l_type = (short)type;
	mark->l_whence = SEEK_SET;
	mark->l_start = (off_t)((uintptr_t)mark / 2);
	mark->l_len = 1;
	return fcntl(fd, command, mark) ? errno : 0;
}

/*
 * Closes the duplicate if ibv_import_device(), which has failed, has not. Some drivers do, and then another
 * thread may have got its number by now. As long as the mark is there, no descriptor of the file has been
 * closed, so the number is still ours. Without the mark the duplicate is left alone: one descriptor too many
 * is better than closing another thread's.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_undup(int copy, int fd, struct flock *mark)
{
	const int ofd_getlk = 36; /* F_OFD_GETLK, which fcntl.h hides from strict C */

	if (!rdmaez_impl_dm_mark(fd, ofd_getlk, F_WRLCK, mark) && mark->l_type == F_RDLCK &&
	    mark->l_pid == getpid())
		close(copy);
}

/* Explains why a device was not opened. Three errno values mean the descriptor. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_open_failed(int error, const char *field, const char *verb,
						struct rdmaez_diag *diag)
{
	if (error != EBADF && error != EINVAL && error != ENODEV)
		return rdmaez_impl_verb(diag, error, verb);
	if (diag)
		diag->verb = verb;
	return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_DM_FD, field);
}

/* Opens the device with ibv_import_device(), which keeps the duplicate if it succeeds. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_open_device(int fd, struct rdmaez_dm_shared *out,
						struct rdmaez_diag *diag)
{
	const int copy = rdmaez_impl_dm_dup(fd);
	struct flock mark;
	int error = copy < 0 ? errno : rdmaez_impl_dm_mark(copy, F_SETLK, F_RDLCK, &mark);

	if (error) {
		if (copy >= 0)
			close(copy);
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_DM_FD, "fd");
	}
	errno = 0;
	out->context = ibv_import_device(copy);
	if (out->context) {
		rdmaez_impl_dm_mark(copy, F_SETLK, F_UNLCK, &mark);
		return 0;
	}
	error = rdmaez_impl_error_of_null();
	rdmaez_impl_dm_undup(copy, fd, &mark);
	return rdmaez_impl_dm_open_failed(error, "fd", "ibv_import_device", diag);
}

/* Opens the device of emulated memory with the application's function. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_open_emulated(int fd, const struct rdmaez_dm_share_opts *opts,
						  struct rdmaez_dm_shared *out,
						  struct rdmaez_diag *diag)
{
	if (!opts || !opts->ops || !opts->ops->open)
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_EMULATED,
					  opts && opts->ops ? "opts.ops.open" : "opts.ops");
	errno = 0;
	out->context = opts->ops->open(fd, &out->token, opts->arg);
	if (!out->context)
		return rdmaez_impl_dm_open_failed(rdmaez_impl_error_of_null(), "opts.ops.open",
						  "opts.ops.open", diag);
	out->ops = opts->ops;
	out->arg = opts->arg;
	return 0;
}

/* Opens the device of the descriptor, and checks that it is the token's. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_open(int fd, const struct rdmaez_dm_share_opts *opts,
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
	if (error)
		return error;
	rdmaez_impl_diag_device(diag, out->context);
	if (rdmaez_impl_dm_guid(out->context) != out->token.device_guid)
		return rdmaez_impl_refuse(diag, EXDEV, RDMAEZ_WHY_DM_OTHER_DEVICE,
					  "token.device_guid");
	return 0;
}

/* Explains why an object of a token could not be imported. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_import_failed(const char *field, const char *verb,
						  struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_error_of_null();

	if (error != ENOENT)
		return rdmaez_impl_verb(diag, error, verb);
	if (diag)
		diag->verb = verb;
	return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_DM_STALE, field);
}

/* Imports the memory. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_import_dm(uint64_t timeout_ns, struct rdmaez_dm_shared *out,
					      struct rdmaez_diag *diag)
{
	const bool own = out->ops && out->ops->import;

	errno = 0;
	out->dm.dm =
		own ? out->ops->import(out->context, out->token.dm_handle, timeout_ns, out->arg)
		    : rdmaez_impl_dm_import(out->context, out->token.dm_handle);
	if (!out->dm.dm && own && errno == ETIMEDOUT) {
		if (diag)
			diag->verb = "opts.ops.import";
		return rdmaez_impl_refuse(diag, ETIMEDOUT, RDMAEZ_WHY_PEER_SILENT, "timeout_ns");
	}
	if (!out->dm.dm)
		return rdmaez_impl_dm_import_failed(
			"token.dm_handle", own ? "opts.ops.import" : "ibv_import_dm", diag);
	out->dm.context = out->context;
	out->dm.length = (size_t)out->token.length;
	out->dm.alloc_length = (size_t)out->token.alloc_length;
	out->dm.alignment = (size_t)out->token.alignment;
	out->dm.owner = RDMAEZ_DM_IMPORTED;
	out->dm.unimport = out->ops ? out->ops->unimport : NULL;
	return 0;
}

/*
 * Imports domain and region. Emulated memory is on another device file in this process, which does
 * not have them.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_import_with(unsigned int flags, struct rdmaez_dm_shared *out,
						struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"opts.flags", RDMAEZ_WHY_DM_EMU_ALONE,
						     RDMAEZ_VALUE_FLAGS, 0, 0};

	if (flags && out->token.flags & RDMAEZ_DM_TOKEN_EMULATED)
		return rdmaez_impl_refuse_within(diag, EOPNOTSUPP, &site, flags, 0, flags);
	errno = 0;
	if (flags)
		out->pd = ibv_import_pd(out->context, out->token.pd_handle);
	if (flags && !out->pd)
		return rdmaez_impl_dm_import_failed("token.pd_handle", "ibv_import_pd", diag);
	if (!(flags & RDMAEZ_DM_SHARE_MR))
		return 0;
	errno = 0;
	out->region.mr = ibv_import_mr(out->pd, out->token.mr_handle);
	if (!out->region.mr)
		return rdmaez_impl_dm_import_failed("token.mr_handle", "ibv_import_mr", diag);
	out->region.dm = out->dm.dm;
	out->region.offset = out->token.mr_offset;
	out->region.length = (size_t)out->token.mr_length;
	return 0;
}

/* Undoes an import, complete or not, in reverse order. The device stays open. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_shared_undo(struct rdmaez_dm_shared *shared)
{
	if (shared->region.mr)
		ibv_unimport_mr(shared->region.mr);
	if (shared->dm.dm)
		rdmaez_impl_dm_give_up(&shared->dm);
	if (shared->pd)
		ibv_unimport_pd(shared->pd);
	shared->pd = NULL;
	memset(&shared->region, 0, sizeof(shared->region));
	memset(&shared->dm, 0, sizeof(shared->dm));
}

/* Closes the device by the function that belongs to the one that opened it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_shared_end(const struct rdmaez_dm_shared *shared)
{
	errno = 0;
	if (shared->ops && shared->ops->close)
		return rdmaez_impl_error(shared->ops->close(shared->context, shared->arg));
	return rdmaez_impl_error(ibv_close_device(shared->context));
}

/* Does what rdmaez_dm_import() does, without its reset of the record, in the time that is left. */
RDMAEZ_IMPL int rdmaez_impl_dm_import_all(int fd, const struct rdmaez_dm_token *token,
					  const struct rdmaez_dm_share_opts *opts,
					  uint64_t timeout_ns, struct rdmaez_dm_shared *out,
					  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site unknown = {"opts.flags", RDMAEZ_WHY_OPTION_UNKNOWN,
							RDMAEZ_VALUE_FLAGS, 0, 0};
	static const struct rdmaez_impl_site missing = {"opts.flags", RDMAEZ_WHY_DM_NOT_SHARED,
							RDMAEZ_VALUE_FLAGS, 0, 0};
	const unsigned int all = RDMAEZ_DM_SHARE_PD | RDMAEZ_DM_SHARE_MR;
	const unsigned int flags = opts ? opts->flags : 0;
	struct rdmaez_dm_shared made;
	int error = rdmaez_impl_dm_token_check(token, diag);

	if (error)
		return error;
	if (flags & ~all)
		return rdmaez_impl_refuse_within(diag, EINVAL, &unknown, flags & ~all, 0, flags);
	/* The flags of the options and of the token have the same bits. */
	if (flags & ~token->flags)
		return rdmaez_impl_refuse_within(diag, EINVAL, &missing, flags & ~token->flags, 0,
						 flags);
	memset(&made, 0, sizeof(made));
	made.token = *token;
	error = rdmaez_impl_dm_open(fd, opts, &made, diag);
	if (!error)
		error = rdmaez_impl_dm_import_dm(timeout_ns, &made, diag);
	if (!error)
		error = rdmaez_impl_dm_import_with(flags, &made, diag);
	if (error) {
		rdmaez_impl_dm_shared_undo(&made);
		if (made.context)
			rdmaez_impl_dm_shared_end(&made);
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
		return rdmaez_impl_dm_null(diag, token ? "shared" : "token");
	return rdmaez_impl_dm_import_all(fd, token, opts, rdmaez_impl_dm_timeout(opts), shared,
					 diag);
}

RDMAEZ_API int rdmaez_dm_receive(int socket, const struct rdmaez_dm_share_opts *opts,
				 struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag)
{
	const uint64_t timeout = rdmaez_impl_dm_timeout(opts);
	const uint64_t deadline = rdmaez_impl_until(timeout);
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES];
	struct rdmaez_dm_token token;
	uint64_t left = RDMAEZ_NS_FOREVER;
	int error, fd = -1;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_receive");
	if (!shared)
		return rdmaez_impl_dm_null(diag, "shared");
	error = rdmaez_impl_dm_wait(socket, POLLIN, timeout, deadline, diag);
	if (!error)
		error = rdmaez_impl_dm_take(socket, bytes, &fd, diag);
	if (error)
		return error;
	error = rdmaez_impl_dm_token_unpack(bytes, &token, diag);
	if (deadline != UINT64_MAX)
		left = rdmaez_impl_left(deadline);
	if (!error)
		error = rdmaez_impl_dm_import_all(fd, &token, opts, left ? left : RDMAEZ_NS_NOW,
						  shared, diag);
	close(fd);
	return error;
}

RDMAEZ_API int rdmaez_dm_shared_close(struct rdmaez_dm_shared *shared, struct rdmaez_diag *diag)
{
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_shared_close");
	if (!shared)
		return rdmaez_impl_dm_null(diag, "shared");
	if (!shared->context)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_CLOSED, "shared");
	rdmaez_impl_diag_device(diag, shared->context);
	rdmaez_impl_dm_shared_undo(shared);
	error = rdmaez_impl_dm_shared_end(shared);
	if (error)
		return rdmaez_impl_verb(diag, error,
					shared->ops && shared->ops->close ? "opts.ops.close"
									  : "ibv_close_device");
	memset(shared, 0, sizeof(*shared));
	return 0;
}

/* ---- dma-buf --------------------------------------------------------------------------------- */

RDMAEZ_COLD int rdmaez_dm_dmabuf(const struct rdmaez_dm *dm, int *fd, struct rdmaez_diag *diag)
{
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_dmabuf");
	if (!dm || !fd)
		return rdmaez_impl_dm_null(diag, dm ? "fd" : "dm");
	if (!dm->dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_CLOSED, "dm");
	rdmaez_impl_diag_device(diag, dm->context);
	error = rdmaez_impl_dm_dmabuf(dm->dm, fd);
	if (error == EOPNOTSUPP || error == ENOSYS)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_DM_NO_DMABUF, "dm");
	return error ? rdmaez_impl_verb(diag, error, "ibv_dm_export_dmabuf_fd") : 0;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
