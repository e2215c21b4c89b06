/* SPDX-License-Identifier: MIT */
/* Bodies of dm.h. */
#ifndef RDMAEZ_IMPL_DM_H
#define RDMAEZ_IMPL_DM_H

#include "../dm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies are made of words. */
#define RDMAEZ_IMPL_DM_WORD 4u

/* All copies that the provider cannot make as they are, and those to be refused. */
RDMAEZ_COLD int rdmaez_impl_dm_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				       size_t length);
RDMAEZ_COLD int rdmaez_impl_dm_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
					 size_t length);

/*
 * Whether the provider can do this copy as it is. Written for few instructions: what is left of the memory
 * behind the offset wraps around where the offset is beyond the end, and so does a length of 0 less 1.
 */
RDMAEZ_FOLD bool rdmaez_impl_dm_plain(const struct rdmaez_dm *dm, uint64_t offset, const void *host,
				      uint64_t length)
{
	uint64_t all, rest;

	if (!dm || !dm->dm)
		return false;
	all = dm->direct;
	rest = all - offset;
	if (rest > all)
		return false;
	return length - 1 < rest && host &&
	       !((offset | length | (uintptr_t)host) % RDMAEZ_IMPL_DM_WORD);
}

RDMAEZ_INLINE int rdmaez_dm_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				    size_t length)
{
	if (rdmaez_impl_dm_plain(dm, offset, src, length))
		return ibv_memcpy_to_dm(dm->dm, offset, src, length);
	return rdmaez_impl_dm_copy_to(dm, offset, src, length);
}

RDMAEZ_INLINE int rdmaez_dm_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
				      size_t length)
{
	if (rdmaez_impl_dm_plain(dm, offset, dst, length))
		return ibv_memcpy_from_dm(dst, dm->dm, offset, length);
	return rdmaez_impl_dm_copy_from(dm, offset, dst, length);
}

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES

#include <unistd.h>

#include "explain.h"
#include "dm_hook.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Devices hand device memory out in units of this many bytes. */
#define RDMAEZ_IMPL_DM_UNIT 64u

/* How much goes over the stack at a time, where it has to, in words. */
#define RDMAEZ_IMPL_DM_STACK 64

/* What regions on device memory may be registered with; rdmaez adds ZERO_BASED. */
#define RDMAEZ_IMPL_DM_ACCESS                                                            \
	((unsigned int)IBV_ACCESS_LOCAL_WRITE | (unsigned int)IBV_ACCESS_REMOTE_WRITE |  \
	 (unsigned int)IBV_ACCESS_REMOTE_READ | (unsigned int)IBV_ACCESS_REMOTE_ATOMIC | \
	 (unsigned int)IBV_ACCESS_ZERO_BASED)

/* Settles how far copies go by the short way: nowhere, unless the driver has both copy functions. */
RDMAEZ_FOLD void rdmaez_impl_dm_settle(struct rdmaez_dm *dm)
{
	dm->direct = dm->dm->memcpy_to_dm && dm->dm->memcpy_from_dm ? dm->length : 0;
}

/* ---- Life --------------------------------------------------------------------------------- */

/* The options, and what verbs calls them: the alignment as an exponent. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_opts(const struct rdmaez_dm_opts *opts,
					 struct ibv_alloc_dm_attr *attr, struct rdmaez_diag *diag)
{
	const int unknown = opts->flags & ~RDMAEZ_DM_EXACT;
	const uint64_t most = UINT64_C(1) << 31;

	if (unknown)
		return rdmaez_impl_refuse_value(
			diag, EINVAL, RDMAEZ_WHY_OPTION_UNKNOWN, "opts.flags", RDMAEZ_VALUE_FLAGS,
			(unsigned int)unknown, 0, (unsigned int)opts->flags);
	if (opts->alignment > most || (opts->alignment & (opts->alignment - 1)))
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_DM_ALIGNMENT,
						"opts.alignment", RDMAEZ_VALUE_BYTES,
						(int64_t)opts->alignment, 1, (int64_t)most);
	for (uint64_t rest = opts->alignment; rest > 1; rest >>= 1)
		attr->log_align_req++;
	return 0;
}

/* What the device is asked for: whole units, unless it has not that much. */
RDMAEZ_IMPL size_t rdmaez_impl_dm_round(size_t length, uint64_t most)
{
	const size_t over = length % RDMAEZ_IMPL_DM_UNIT;
	const size_t add = over ? RDMAEZ_IMPL_DM_UNIT - over : 0;

	return add <= most - length ? length + add : length;
}

/* Asks the device how much it gives at once, and settles the length. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_size(struct ibv_context *context, size_t length, int flags,
					 struct ibv_alloc_dm_attr *attr, struct rdmaez_diag *diag)
{
	struct ibv_device_attr_ex device;
	uint64_t most;
	int error;

	memset(&device, 0, sizeof(device));
	errno = 0;
	error = rdmaez_impl_error(ibv_query_device_ex(context, NULL, &device));
	if (error)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
					  "ibv_query_device_ex");
	if (!device.max_dm_size)
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_NONE, "max_dm_size");
	most = device.max_dm_size < SIZE_MAX ? device.max_dm_size : SIZE_MAX;
	if (!length || length > most)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_RANGE, "length",
						RDMAEZ_VALUE_BYTES, (int64_t)length, 1,
						(int64_t)most);
	attr->length = flags & RDMAEZ_DM_EXACT ? length : rdmaez_impl_dm_round(length, most);
	return 0;
}

/* The device has refused: what its errno means here. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_explain_alloc(const struct ibv_alloc_dm_attr *attr, int error,
						  struct rdmaez_diag *diag)
{
	if (!diag)
		return error;
	diag->error = error;
	if (error == ENOMEM || error == EAGAIN || error == ENOSPC)
		rdmaez_impl_suspect(diag, RDMAEZ_WHY_DM_FULL, "length", RDMAEZ_VALUE_BYTES,
				    attr->length, 0, UINT64_MAX);
	else if (error == EINVAL && UINT64_C(1) << attr->log_align_req > RDMAEZ_IMPL_DM_UNIT)
		rdmaez_impl_suspect(diag, RDMAEZ_WHY_DM_ALIGNMENT, "opts.alignment",
				    RDMAEZ_VALUE_BYTES, UINT64_C(1) << attr->log_align_req, 0,
				    UINT64_MAX);
	else if (error == EPROTONOSUPPORT)
		rdmaez_impl_suspect(diag, RDMAEZ_WHY_NOT_SUPPORTED, "ibv_alloc_dm",
				    RDMAEZ_VALUE_NONE, 0, 0, 0);
	else
		rdmaez_impl_explain_errno(diag, "ibv_alloc_dm", error);
	return error;
}

RDMAEZ_API int rdmaez_dm_alloc(struct ibv_context *context, size_t length,
			       const struct rdmaez_dm_opts *opts, struct rdmaez_dm *dm,
			       struct rdmaez_diag *diag)
{
	struct ibv_alloc_dm_attr attr;
	struct ibv_dm *made;
	int error = 0;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_alloc");
	if (!context || !dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  context ? "dm" : "context");
	rdmaez_impl_diag_device(diag, context);
	memset(&attr, 0, sizeof(attr));
	if (opts)
		error = rdmaez_impl_dm_opts(opts, &attr, diag);
	if (!error)
		error = rdmaez_impl_dm_size(context, length, opts ? opts->flags : 0, &attr, diag);
	if (error)
		return error;
	errno = 0;
	made = ibv_alloc_dm(context, &attr);
	if (!made)
		return rdmaez_impl_dm_explain_alloc(&attr, rdmaez_impl_error_of_null(), diag);
	dm->dm = made;
	dm->context = context;
	dm->length = length;
	dm->alloc_length = attr.length;
	dm->alignment = opts ? opts->alignment : 0;
	dm->owner = RDMAEZ_DM_ALLOCATED;
	rdmaez_impl_dm_settle(dm);
	return 0;
}

/*
 * Whether the driver gives copy functions and yet reports no device memory: `mana` does, whose pointers hold
 * whatever was in the memory before. One that does not answer is believed.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_dm_untrusted(const struct ibv_dm *memory)
{
	struct ibv_device_attr_ex device;

	if (!memory->memcpy_to_dm && !memory->memcpy_from_dm)
		return false;
	memset(&device, 0, sizeof(device));
	return !ibv_query_device_ex(memory->context, NULL, &device) && !device.max_dm_size;
}

/* Adopts it, whoever frees it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_adopt(struct ibv_dm *memory, size_t length,
					  enum rdmaez_dm_owner owner, struct rdmaez_dm *dm)
{
	if (!memory || !length || !dm)
		return EINVAL;
	if (owner == RDMAEZ_DM_IMPORTED && !rdmaez_impl_dm_can_import() &&
	    !rdmaez_impl_dm_hook_of(memory->context))
		return EOPNOTSUPP;
	if (rdmaez_impl_dm_untrusted(memory))
		return EOPNOTSUPP;
	dm->dm = memory;
	dm->context = memory->context;
	dm->length = length;
	dm->alloc_length = length;
	dm->alignment = 0;
	dm->owner = owner;
	rdmaez_impl_dm_settle(dm);
	return 0;
}

RDMAEZ_API int rdmaez_dm_wrap(struct ibv_dm *memory, size_t length, struct rdmaez_dm *dm)
{
	return rdmaez_impl_dm_adopt(memory, length, RDMAEZ_DM_WRAPPED, dm);
}

RDMAEZ_API int rdmaez_dm_wrap_imported(struct ibv_dm *memory, size_t length, struct rdmaez_dm *dm)
{
	return rdmaez_impl_dm_adopt(memory, length, RDMAEZ_DM_IMPORTED, dm);
}

RDMAEZ_API int rdmaez_dm_close(struct rdmaez_dm *dm)
{
	int error = 0;

	if (!dm || !dm->dm || dm->owner == RDMAEZ_DM_NOBODY)
		return EINVAL;
	errno = 0;
	if (dm->owner != RDMAEZ_DM_IMPORTED)
		error = rdmaez_impl_error(ibv_free_dm(dm->dm));
	if (error && error != ENOENT)
		return error;
	/* What is left where the kernel has it no more is the mapping, which goes this way. */
	if (error || dm->owner == RDMAEZ_DM_IMPORTED)
		rdmaez_impl_dm_unimport(dm->dm);
	memset(dm, 0, sizeof(*dm));
	return error;
}

/* ---- Ranges ------------------------------------------------------------------------------- */

/* Where the longest region ends. An application's own struct may have nothing there. */
RDMAEZ_IMPL size_t rdmaez_impl_dm_whole(const struct rdmaez_dm *dm)
{
	return dm->alloc_length > dm->length ? dm->alloc_length : dm->length;
}

/* Whether a range is inside, and if not which of its two numbers is too large. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_inside(const struct rdmaez_dm *dm, uint64_t offset,
					   uint64_t length, int error, struct rdmaez_diag *diag)
{
	if (offset > dm->length)
		return rdmaez_impl_refuse_value(diag, error, RDMAEZ_WHY_DM_RANGE, "offset",
						RDMAEZ_VALUE_BYTES, (int64_t)offset, 0,
						(int64_t)dm->length);
	if (length > dm->length - offset)
		return rdmaez_impl_refuse_value(diag, error, RDMAEZ_WHY_DM_RANGE, "length",
						RDMAEZ_VALUE_BYTES, (int64_t)length, 0,
						(int64_t)(dm->length - offset));
	return 0;
}

/* The numbers that are no multiples of a word: a finding for each. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_whole_words(uint64_t offset, uint64_t length,
						struct rdmaez_diag *diag)
{
	int error = 0;

	if (offset % RDMAEZ_IMPL_DM_WORD)
		error = rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_DM_GRANULARITY, "offset",
						 RDMAEZ_VALUE_BYTES, (int64_t)offset, 0, -1);
	if (length % RDMAEZ_IMPL_DM_WORD)
		error = rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_DM_GRANULARITY, "length",
						 RDMAEZ_VALUE_BYTES, (int64_t)length, 0, -1);
	return error;
}

/* Whether there is memory, the range is inside, and made of words. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_copy_check(const struct rdmaez_dm *dm, uint64_t offset,
					       size_t length, struct rdmaez_diag *diag)
{
	int error;

	if (!dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "dm");
	if (!dm->dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_CLOSED, "dm");
	rdmaez_impl_diag_device(diag, dm->context);
	error = rdmaez_impl_dm_inside(dm, offset, length, EFAULT, diag);
	return error ? error : rdmaez_impl_dm_whole_words(offset, length, diag);
}

RDMAEZ_API int rdmaez_dm_check(const struct rdmaez_dm *dm, uint64_t offset, size_t length,
			       struct rdmaez_diag *diag)
{
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_check");
	error = rdmaez_impl_dm_copy_check(dm, offset, length, diag);
	if (!error && (!dm->dm->memcpy_to_dm || !dm->dm->memcpy_from_dm))
		error = rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_NO_CPU, "dm");
	return error;
}

/* ---- Copies of words ---------------------------------------------------------------------- */

/* How much of the rest goes over the stack next. */
RDMAEZ_FOLD size_t rdmaez_impl_dm_part(size_t length)
{
	const size_t most = RDMAEZ_IMPL_DM_STACK * RDMAEZ_IMPL_DM_WORD;

	return length < most ? length : most;
}

/* What is left to refuse once the range is known to be good. */
RDMAEZ_FOLD int rdmaez_impl_dm_ends(bool mapped, const void *host, size_t length)
{
	if (!mapped)
		return EOPNOTSUPP;
	return length && !host ? EINVAL : 0;
}

/* All other copies: those to be refused, and those from where the provider must not read words. */
RDMAEZ_COLD int rdmaez_impl_dm_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				       size_t length)
{
	const char *from = (const char *)src;
	uint32_t words[RDMAEZ_IMPL_DM_STACK];
	size_t part;
	int error = rdmaez_impl_dm_copy_check(dm, offset, length, NULL);

	if (!error)
		error = rdmaez_impl_dm_ends(dm->dm->memcpy_to_dm != NULL, src, length);
	for (; !error && length; length -= part) {
		part = rdmaez_impl_dm_part(length);
		memcpy(words, from, part);
		error = rdmaez_impl_error(ibv_memcpy_to_dm(dm->dm, offset, words, part));
		from += part;
		offset += part;
	}
	return error;
}

/* The same out of device memory. */
RDMAEZ_COLD int rdmaez_impl_dm_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
					 size_t length)
{
	uint32_t words[RDMAEZ_IMPL_DM_STACK];
	char *to = (char *)dst;
	size_t part;
	int error = rdmaez_impl_dm_copy_check(dm, offset, length, NULL);

	if (!error)
		error = rdmaez_impl_dm_ends(dm->dm->memcpy_from_dm != NULL, dst, length);
	for (; !error && length; length -= part) {
		part = rdmaez_impl_dm_part(length);
		error = rdmaez_impl_error(ibv_memcpy_from_dm(words, dm->dm, offset, part));
		if (!error)
			memcpy(to, words, part);
		to += part;
		offset += part;
	}
	return error;
}

RDMAEZ_API int rdmaez_dm_fill(const struct rdmaez_dm *dm, uint64_t offset, int byte, size_t length)
{
	uint32_t words[RDMAEZ_IMPL_DM_STACK];
	size_t part;
	int error = rdmaez_impl_dm_copy_check(dm, offset, length, NULL);

	if (!error)
		error = rdmaez_impl_dm_ends(dm->dm->memcpy_to_dm != NULL, words, length);
	memset(words, byte, sizeof(words));
	for (; !error && length; length -= part) {
		part = rdmaez_impl_dm_part(length);
		error = rdmaez_impl_error(ibv_memcpy_to_dm(dm->dm, offset, words, part));
		offset += part;
	}
	return error;
}

/* How many bytes are the same before the first that differs. */
RDMAEZ_IMPL size_t rdmaez_impl_dm_same(const void *one, const void *other, size_t length)
{
	const char *a = (const char *)one, *b = (const char *)other;
	size_t same = 0;

	while (same < length && a[same] == b[same])
		same++;
	return same;
}

RDMAEZ_API int rdmaez_dm_compare(const struct rdmaez_dm *dm, uint64_t offset, const void *data,
				 size_t length, size_t *same)
{
	const char *with = (const char *)data;
	uint32_t words[RDMAEZ_IMPL_DM_STACK];
	size_t done = 0, equal = 0, part;
	int error = rdmaez_impl_dm_copy_check(dm, offset, length, NULL);

	if (!error)
		error = rdmaez_impl_dm_ends(dm->dm->memcpy_from_dm != NULL, data, length);
	if (!error && !same)
		error = EINVAL;
	for (; !error && done < length && equal == done; done += part) {
		part = rdmaez_impl_dm_part(length - done);
		error = rdmaez_impl_error(ibv_memcpy_from_dm(words, dm->dm, offset + done, part));
		if (!error)
			equal += rdmaez_impl_dm_same(words, with + done, part);
	}
	if (!error)
		*same = equal;
	return error;
}

/* ---- Copies of bytes ---------------------------------------------------------------------- */

/* Bytes, and the words around them. */
struct rdmaez_impl_dm_piece {
	uint64_t at;   /* the first word */
	size_t before; /* bytes of it that are not meant */
	size_t length; /* bytes that are */
	size_t words;  /* bytes of all the words */
};

/* The first piece of a range that goes over the stack. */
RDMAEZ_IMPL struct rdmaez_impl_dm_piece rdmaez_impl_dm_first_piece(uint64_t offset, size_t length)
{
	struct rdmaez_impl_dm_piece piece;

	piece.before = (size_t)(offset % RDMAEZ_IMPL_DM_WORD);
	piece.at = offset - piece.before;
	piece.length = rdmaez_impl_dm_part(length);
	if (piece.length > RDMAEZ_IMPL_DM_STACK * RDMAEZ_IMPL_DM_WORD - piece.before)
		piece.length -= piece.before;
	piece.words = piece.before + piece.length + RDMAEZ_IMPL_DM_WORD - 1;
	piece.words -= piece.words % RDMAEZ_IMPL_DM_WORD;
	return piece;
}

/* The checks of a copy, without the multiples; the last word must be the memory's to its end. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_bytes_check(const struct rdmaez_dm *dm, uint64_t offset,
						const void *host, size_t length, bool writes)
{
	uint64_t end;
	int error;

	if (!dm || !dm->dm)
		return EINVAL;
	error = rdmaez_impl_dm_inside(dm, offset, length, EFAULT, NULL);
	if (error)
		return error;
	end = offset + length;
	if (length && end % RDMAEZ_IMPL_DM_WORD &&
	    (dm->alloc_length < end ||
	     RDMAEZ_IMPL_DM_WORD - end % RDMAEZ_IMPL_DM_WORD > dm->alloc_length - end))
		return EFAULT;
	return rdmaez_impl_dm_ends(dm->dm->memcpy_from_dm && (!writes || dm->dm->memcpy_to_dm),
				   host, length);
}

/* Reads the words of a piece of which not all bytes are meant: the first, the last, both or none. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_read_edges(struct ibv_dm *dm, uint32_t *words,
					       const struct rdmaez_impl_dm_piece *piece)
{
	const size_t last = piece->words / RDMAEZ_IMPL_DM_WORD - 1;
	int error = 0;

	if (piece->before)
		error = rdmaez_impl_error(
			ibv_memcpy_from_dm(words, dm, piece->at, RDMAEZ_IMPL_DM_WORD));
	if (!error && piece->before + piece->length < piece->words && (last || !piece->before))
		error = rdmaez_impl_error(ibv_memcpy_from_dm(words + last, dm,
							     piece->at + last * RDMAEZ_IMPL_DM_WORD,
							     RDMAEZ_IMPL_DM_WORD));
	return error;
}

RDMAEZ_API int rdmaez_dm_copy_to_bytes(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				       size_t length)
{
	const char *from = (const char *)src;
	uint32_t words[RDMAEZ_IMPL_DM_STACK];
	struct rdmaez_impl_dm_piece piece;
	int error;

	if (!((offset | length) % RDMAEZ_IMPL_DM_WORD))
		return rdmaez_dm_copy_to(dm, offset, src, length);
	error = rdmaez_impl_dm_bytes_check(dm, offset, src, length, true);
	for (; !error && length; length -= piece.length) {
		piece = rdmaez_impl_dm_first_piece(offset, length);
		error = rdmaez_impl_dm_read_edges(dm->dm, words, &piece);
		if (error)
			break;
		memcpy((char *)words + piece.before, from, piece.length);
		error = rdmaez_impl_error(ibv_memcpy_to_dm(dm->dm, piece.at, words, piece.words));
		from += piece.length;
		offset += piece.length;
	}
	return error;
}

RDMAEZ_API int rdmaez_dm_copy_from_bytes(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
					 size_t length)
{
	uint32_t words[RDMAEZ_IMPL_DM_STACK];
	struct rdmaez_impl_dm_piece piece;
	char *to = (char *)dst;
	int error;

	if (!((offset | length) % RDMAEZ_IMPL_DM_WORD))
		return rdmaez_dm_copy_from(dm, offset, dst, length);
	error = rdmaez_impl_dm_bytes_check(dm, offset, dst, length, false);
	for (; !error && length; length -= piece.length) {
		piece = rdmaez_impl_dm_first_piece(offset, length);
		error = rdmaez_impl_error(ibv_memcpy_from_dm(words, dm->dm, piece.at, piece.words));
		if (!error)
			memcpy(to, (const char *)words + piece.before, piece.length);
		to += piece.length;
		offset += piece.length;
	}
	return error;
}

/* ---- Regions ------------------------------------------------------------------------------ */

RDMAEZ_API unsigned int rdmaez_dm_access(unsigned int uses)
{
	const unsigned int writers =
		RDMAEZ_DM_PEER_WRITES | RDMAEZ_DM_PEER_ATOMICS | RDMAEZ_DM_OWN_WRITES;
	unsigned int access = 0;

	if (uses & RDMAEZ_DM_PEER_READS)
		access |= IBV_ACCESS_REMOTE_READ;
	if (uses & RDMAEZ_DM_PEER_WRITES)
		access |= IBV_ACCESS_REMOTE_WRITE;
	if (uses & RDMAEZ_DM_PEER_ATOMICS)
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	if (uses & writers)
		access |= IBV_ACCESS_LOCAL_WRITE;
	return access;
}

/* The flags, by the rules of kernel and mlx5. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_reg_access(unsigned int access, struct rdmaez_diag *diag)
{
	const unsigned int optional = access & (unsigned int)IBV_ACCESS_OPTIONAL_RANGE;
	const unsigned int other = access & ~RDMAEZ_IMPL_DM_ACCESS & ~optional;
	const unsigned int remote = access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	int error = 0;

	if (remote && !(access & IBV_ACCESS_LOCAL_WRITE))
		error = rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_MR_LOCAL_WRITE, "access",
						 RDMAEZ_VALUE_ACCESS, remote, 0, access);
	if (optional)
		error = rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_DM_RELAXED, "access",
						 RDMAEZ_VALUE_ACCESS, optional, 0, access);
	if (other)
		error = rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_DM_ACCESS_BITS, "access",
						 RDMAEZ_VALUE_ACCESS, other, 0, access);
	return error;
}

/* Whether the emulation has refused a region for where it begins; a device takes it from there. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_dm_off_page(const struct rdmaez_dm *dm, uint64_t offset,
					      int error)
{
	return error == EOPNOTSUPP && rdmaez_impl_dm_hook_of(dm->context) &&
	       offset % (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The device has refused: what its errno means here. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_explain_reg(const struct rdmaez_dm *dm,
						const struct rdmaez_dm_range *range, int error,
						struct rdmaez_diag *diag)
{
	if (error == ENOENT)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_DM_STALE, "dm");
	if (rdmaez_impl_dm_off_page(dm, range->offset, error))
		return rdmaez_impl_refuse_value(diag, error, RDMAEZ_WHY_DM_EMU_PAGE, "offset",
						RDMAEZ_VALUE_BYTES, (int64_t)range->offset, 0, -1);
	if (!diag)
		return error;
	diag->error = error;
	if (error == EINVAL && range->length % RDMAEZ_IMPL_DM_UNIT)
		rdmaez_impl_suspect(diag, RDMAEZ_WHY_DM_BLOCKS, "length", RDMAEZ_VALUE_BYTES,
				    range->length, 0, UINT64_MAX);
	if (error == EINVAL && range->offset % RDMAEZ_IMPL_DM_UNIT)
		rdmaez_impl_suspect(diag, RDMAEZ_WHY_DM_BLOCKS, "offset", RDMAEZ_VALUE_BYTES,
				    range->offset, 0, UINT64_MAX);
	if (!diag->count)
		rdmaez_impl_explain_errno(diag, "ibv_reg_dm_mr", error);
	return error;
}

RDMAEZ_API int rdmaez_dm_reg(const struct rdmaez_dm *dm, struct ibv_pd *pd,
			     const struct rdmaez_dm_range *range, unsigned int access,
			     struct ibv_mr **mr, struct rdmaez_diag *diag)
{
	struct rdmaez_dm_range part = {0, 0};
	struct ibv_mr *made;
	int error = 0;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_reg");
	if (!dm || !pd || !mr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  !dm   ? "dm"
					  : !pd ? "pd"
						: "mr");
	if (!dm->dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_CLOSED, "dm");
	rdmaez_impl_diag_device(diag, dm->context);
	if (pd->context != dm->context)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_OTHER_CONTEXT, "pd");
	part.length = rdmaez_impl_dm_whole(dm);
	if (range) {
		part = *range;
		error = rdmaez_impl_dm_inside(dm, part.offset, part.length, EINVAL, diag);
	}
	if (!error && !part.length)
		error = rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_RANGE, "length",
						 RDMAEZ_VALUE_BYTES, 0, 1,
						 (int64_t)(dm->length - part.offset));
	if (!error)
		error = rdmaez_impl_dm_reg_access(access, diag);
	if (error)
		return error;
	errno = 0;
	made = ibv_reg_dm_mr(pd, dm->dm, part.offset, part.length, access | IBV_ACCESS_ZERO_BASED);
	if (!made)
		return rdmaez_impl_dm_explain_reg(dm, &part, rdmaez_impl_error_of_null(), diag);
	*mr = made;
	return 0;
}

/* ---- Addresses ---------------------------------------------------------------------------- */

/*
 * Whether the region can be one on this memory that begins there. `room` is how much of the memory it
 * holds, which is less than the region where that goes on to the end of the last unit.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_region(const struct rdmaez_dm *dm, const struct ibv_mr *mr,
					   uint64_t start, size_t *room, struct rdmaez_diag *diag)
{
	const size_t whole = rdmaez_impl_dm_whole(dm);

	if (!dm->dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_CLOSED, "dm");
	rdmaez_impl_diag_device(diag, dm->context);
	if (mr->context != dm->context)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_OTHER_CONTEXT, "mr");
	/* Memory of the host's has an address there. */
	if (mr->addr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_NOT_REGION, "mr");
	if (start > dm->length || mr->length > whole - start)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_RANGE, "mr.length",
						RDMAEZ_VALUE_BYTES, (int64_t)mr->length, 1,
						start > dm->length ? 0 : (int64_t)(whole - start));
	*room = (size_t)(dm->length - start);
	if (mr->length < *room)
		*room = mr->length;
	return 0;
}

/* Whether a range is in the region, of which that much counts. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_in_region(uint64_t start, size_t room,
					      const struct rdmaez_dm_range *range,
					      struct rdmaez_diag *diag)
{
	if (range->offset < start || range->offset - start > room)
		return rdmaez_impl_refuse_value(diag, EFAULT, RDMAEZ_WHY_DM_RANGE, "offset",
						RDMAEZ_VALUE_BYTES, (int64_t)range->offset,
						(int64_t)start, (int64_t)(start + room));
	if (range->length > room - (range->offset - start))
		return rdmaez_impl_refuse_value(diag, EFAULT, RDMAEZ_WHY_DM_RANGE, "length",
						RDMAEZ_VALUE_BYTES, (int64_t)range->length, 0,
						(int64_t)(room - (range->offset - start)));
	return 0;
}

/* A range, all of the memory that is in the region for NULL, and its address in the region. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_locate(const struct rdmaez_dm *dm, const struct ibv_mr *mr,
					   uint64_t start, struct rdmaez_dm_range *range,
					   const struct rdmaez_dm_range *given,
					   struct rdmaez_diag *diag)
{
	size_t room = 0;
	int error = rdmaez_impl_dm_region(dm, mr, start, &room, diag);

	if (error)
		return error;
	range->offset = given ? given->offset : start;
	range->length = given ? given->length : room;
	error = rdmaez_impl_dm_in_region(start, room, range, diag);
	if (!error)
		range->offset -= start;
	return error;
}

RDMAEZ_API int rdmaez_dm_sge(const struct rdmaez_dm *dm, const struct ibv_mr *mr, uint64_t start,
			     const struct rdmaez_dm_range *range, struct ibv_sge *sge,
			     struct rdmaez_diag *diag)
{
	struct rdmaez_dm_range part;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_sge");
	if (!dm || !mr || !sge)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  !dm   ? "dm"
					  : !mr ? "mr"
						: "sge");
	error = rdmaez_impl_dm_locate(dm, mr, start, &part, range, diag);
	if (!error && (uint64_t)part.length > UINT32_MAX)
		error = rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_RANGE, "length",
						 RDMAEZ_VALUE_BYTES, (int64_t)part.length, 0,
						 UINT32_MAX);
	if (error)
		return error;
	sge->addr = part.offset;
	sge->length = (uint32_t)part.length;
	sge->lkey = mr->lkey;
	return 0;
}

/* Where a peer finds a range; `remote_addr` is not written. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_peer(const struct rdmaez_dm *dm, const struct ibv_mr *mr,
					 uint64_t start, struct rdmaez_dm_range *part,
					 const struct rdmaez_dm_range *range,
					 const uint64_t *remote_addr, const char *call,
					 struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, call);
	if (!dm || !mr || !remote_addr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  !dm   ? "dm"
					  : !mr ? "mr"
						: "remote_addr");
	return rdmaez_impl_dm_locate(dm, mr, start, part, range, diag);
}

RDMAEZ_API int rdmaez_dm_remote(const struct rdmaez_dm *dm, const struct ibv_mr *mr, uint64_t start,
				const struct rdmaez_dm_range *range, uint64_t *remote_addr,
				struct rdmaez_diag *diag)
{
	struct rdmaez_dm_range part;
	const int error = rdmaez_impl_dm_peer(dm, mr, start, &part, range, remote_addr,
					      "rdmaez_dm_remote", diag);

	if (!error)
		*remote_addr = part.offset;
	return error;
}

RDMAEZ_API int rdmaez_dm_remote_atomic(const struct rdmaez_dm *dm, const struct ibv_mr *mr,
				       uint64_t start, const struct rdmaez_dm_range *range,
				       uint64_t *remote_addr, struct rdmaez_diag *diag)
{
	struct rdmaez_dm_range part;
	int error = rdmaez_impl_dm_peer(dm, mr, start, &part, range, remote_addr,
					"rdmaez_dm_remote_atomic", diag);

	if (error)
		return error;
	if (part.length != 8)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_WR_ATOMIC, "length",
						RDMAEZ_VALUE_BYTES, (int64_t)part.length, 8, 8);
	if ((part.offset | start) % 8)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_WR_ATOMIC, "offset",
						RDMAEZ_VALUE_BYTES, (int64_t)(start + part.offset),
						0, -1);
	*remote_addr = part.offset;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
