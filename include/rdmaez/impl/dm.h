/* SPDX-License-Identifier: MIT */
/* Implements dm.h, and the verbs that a libibverbs may lack. */
#ifndef RDMAEZ_IMPL_DM_H
#define RDMAEZ_IMPL_DM_H

#ifndef RDMAEZ_DM_H
#include "../dm.h"
#endif

RDMAEZ_IMPL_BEGIN

/* The CPU reads and writes device memory in words of this many bytes. */
#define RDMAEZ_IMPL_DM_WORD 4u

/*
 * Makes copies the slow way: those that must be refused, or that the provider cannot make as they
 * are.
 */
RDMAEZ_COLD int rdmaez_impl_dm_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				       size_t length);
RDMAEZ_COLD int rdmaez_impl_dm_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
					 size_t length);

/* Turns what few providers return, a negative errno value or -1, into a positive errno value. */
RDMAEZ_COLD int rdmaez_impl_dm_copied(int returned);

/*
 * Returns whether the provider can make this copy as it is. Two subtractions save instructions by wrapping around:
 * `rest` is larger than `all` if the offset is beyond the end, and `length - 1` is larger than any `rest` if
 * the length is 0.
 */
RDMAEZ_FOLD bool rdmaez_impl_dm_plain(const struct rdmaez_dm *dm, uint64_t offset, const void *host,
				      uint64_t length)
{
	uint64_t all, rest;

	if (!dm || !dm->dm)
		return false;
	all = dm->length;
	rest = all - offset;
	if (rest > all)
		return false;
	return length - 1 < rest && host &&
	       !((offset | length | (uintptr_t)host) % RDMAEZ_IMPL_DM_WORD);
}

RDMAEZ_INLINE int rdmaez_dm_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				    size_t length)
{
	int returned;

	if (!rdmaez_impl_dm_plain(dm, offset, src, length) || !dm->dm->memcpy_to_dm)
		return rdmaez_impl_dm_copy_to(dm, offset, src, length);
	returned = ibv_memcpy_to_dm(dm->dm, offset, src, length);
	return returned < 0 ? rdmaez_impl_dm_copied(returned) : returned;
}

RDMAEZ_INLINE int rdmaez_dm_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
				      size_t length)
{
	int returned;

	if (!rdmaez_impl_dm_plain(dm, offset, dst, length) || !dm->dm->memcpy_from_dm)
		return rdmaez_impl_dm_copy_from(dm, offset, dst, length);
	returned = ibv_memcpy_from_dm(dst, dm->dm, offset, length);
	return returned < 0 ? rdmaez_impl_dm_copied(returned) : returned;
}

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

/* Devices allocate device memory in units of this many bytes. */
#define RDMAEZ_IMPL_DM_UNIT 64u

/* This is the greatest alignment. Verbs take its exponent. */
#define RDMAEZ_IMPL_DM_ALIGNMENT (UINT64_C(1) << 31)

/* This is the size, in words, of the buffer on the stack through which some copies have to go. */
#define RDMAEZ_IMPL_DM_STACK 64

/* Regions on device memory may have these access flags. rdmaez adds ZERO_BASED. */
#define RDMAEZ_IMPL_DM_ACCESS                                                            \
	((unsigned int)IBV_ACCESS_LOCAL_WRITE | (unsigned int)IBV_ACCESS_REMOTE_WRITE |  \
	 (unsigned int)IBV_ACCESS_REMOTE_READ | (unsigned int)IBV_ACCESS_REMOTE_ATOMIC | \
	 (unsigned int)IBV_ACCESS_ZERO_BASED)

/* Refuses a NULL argument. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_null(struct rdmaez_diag *diag, const char *field)
{
	return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, field);
}

/* ---- Verbs that an older libibverbs lacks --------------------------------------------------- */

/*
 * libibverbs' functions under names of our own, so that it does not matter what verbs.h declares. They are
 * weak: a program that is linked with an older libibverbs finds them NULL, and runs all the same.
 */
#ifndef RDMAEZ_HAVE_IMPORT_DM
extern struct ibv_dm *rdmaez_impl_verb_import_dm(struct ibv_context *context,
						 uint32_t handle) __asm__("ibv_import_dm")
	__attribute__((__weak__));
extern void rdmaez_impl_verb_unimport_dm(struct ibv_dm *dm) __asm__("ibv_unimport_dm")
	__attribute__((__weak__));
#endif
#ifndef RDMAEZ_HAVE_DM_DMABUF
extern int rdmaez_impl_verb_dm_dmabuf(struct ibv_dm *dm) __asm__("ibv_dm_export_dmabuf_fd")
	__attribute__((__weak__));
#endif

/*
 * Reads the handle by which another process can import the memory; false if there is none. Since rdma-core 35
 * it follows comp_mask, whose bit 0, IBV_DM_MASK_HANDLE, says that it is set; imported memory has the handle
 * without the bit. It is read by its offset because older headers do not declare it.
 */
RDMAEZ_IMPL bool rdmaez_impl_dm_handle(const struct ibv_dm *dm, bool imported, uint32_t *handle)
{
	const size_t at = offsetof(struct ibv_dm, comp_mask) + sizeof(dm->comp_mask);

	if (!imported && !(dm->comp_mask & 1))
		return false;
	memcpy(handle, (const char *)dm + at, sizeof(*handle));
	return true;
}

/*
 * Calls ibv_import_dm(). It returns the memory, or NULL with errno set, which is EOPNOTSUPP before
 * rdma-core 35.
 */
RDMAEZ_IMPL struct ibv_dm *rdmaez_impl_dm_import(struct ibv_context *context, uint32_t handle)
{
#if !defined(RDMAEZ_HAVE_IMPORT_DM)
	if (rdmaez_impl_verb_import_dm)
		return rdmaez_impl_verb_import_dm(context, handle);
#elif RDMAEZ_HAVE_IMPORT_DM
	return ibv_import_dm(context, handle);
#endif
	(void)context;
	(void)handle;
	errno = EOPNOTSUPP;
	return NULL;
}

/* Calls ibv_unimport_dm(). */
RDMAEZ_IMPL void rdmaez_impl_dm_unimport(struct ibv_dm *dm)
{
#if !defined(RDMAEZ_HAVE_IMPORT_DM)
	if (rdmaez_impl_verb_unimport_dm)
		rdmaez_impl_verb_unimport_dm(dm);
#elif RDMAEZ_HAVE_IMPORT_DM
	ibv_unimport_dm(dm);
#else
	(void)dm;
#endif
}

/* Returns whether this program's libibverbs can import at all. */
RDMAEZ_IMPL bool rdmaez_impl_dm_can_import(void)
{
#if !defined(RDMAEZ_HAVE_IMPORT_DM)
	return rdmaez_impl_verb_import_dm && rdmaez_impl_verb_unimport_dm;
#else
	return RDMAEZ_HAVE_IMPORT_DM;
#endif
}

/* Calls ibv_dm_export_dmabuf_fd(). It returns 0 with a descriptor, or a positive errno value. */
RDMAEZ_IMPL int rdmaez_impl_dm_dmabuf(struct ibv_dm *dm, int *fd)
{
	int made = -EOPNOTSUPP;

	errno = 0;
#if !defined(RDMAEZ_HAVE_DM_DMABUF)
	if (rdmaez_impl_verb_dm_dmabuf)
		made = rdmaez_impl_verb_dm_dmabuf(dm);
#elif RDMAEZ_HAVE_DM_DMABUF
	made = ibv_dm_export_dmabuf_fd(dm);
#else
	(void)dm;
#endif
	if (made < 0)
		return rdmaez_impl_error(made);
	*fd = made;
	return 0;
}

/* ---- Allocate and close ------------------------------------------------------------------- */

/* Checks the options, and turns the alignment into the exponent that verbs take. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_opts(const struct rdmaez_dm_opts *opts,
					 struct ibv_alloc_dm_attr *attr, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site flags = {"opts.flags", RDMAEZ_WHY_OPTION_UNKNOWN,
						      RDMAEZ_VALUE_FLAGS, 0, 0};
	static const struct rdmaez_impl_site alignment = {"opts.alignment", RDMAEZ_WHY_DM_ALIGNMENT,
							  RDMAEZ_VALUE_BYTES, 1,
							  RDMAEZ_IMPL_DM_ALIGNMENT};
	const unsigned int known = RDMAEZ_DM_EXACT, unknown = opts->flags & ~known;

	if (unknown)
		return rdmaez_impl_refuse_within(diag, EINVAL, &flags, unknown, 0, opts->flags);
	if (opts->alignment > RDMAEZ_IMPL_DM_ALIGNMENT || (opts->alignment & (opts->alignment - 1)))
		return rdmaez_impl_refuse_at(diag, EINVAL, &alignment, (int64_t)opts->alignment);
	for (uint64_t rest = opts->alignment; rest > 1; rest >>= 1)
		attr->log_align_req++;
	return 0;
}

/* Rounds a length up to whole units, unless that is more than the device allows. */
RDMAEZ_IMPL size_t rdmaez_impl_dm_round(size_t length, uint64_t most)
{
	const size_t over = length % RDMAEZ_IMPL_DM_UNIT;
	const size_t add = over ? RDMAEZ_IMPL_DM_UNIT - over : 0;

	return add <= most - length ? length + add : length;
}

/* Asks the device for its limit, and decides how many bytes to request. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_size(struct ibv_context *context, size_t length,
					 unsigned int flags, struct ibv_alloc_dm_attr *attr,
					 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"length", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_BYTES,
						     1, 0};
	struct ibv_device_attr_ex device;
	uint64_t most = SIZE_MAX;
	int error;

	memset(&device, 0, sizeof(device));
	errno = 0;
	error = rdmaez_impl_error(ibv_query_device_ex(context, NULL, &device));
	if (error)
		return rdmaez_impl_refuse_verb(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
					       "ibv_query_device_ex");
	if (!device.max_dm_size)
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_NONE, "max_dm_size");
	if (device.max_dm_size < most)
		most = device.max_dm_size;
	if (!length || length > most)
		return rdmaez_impl_refuse_within(diag, EINVAL, &site, (int64_t)length, 1,
						 (int64_t)most);
	attr->length = flags & RDMAEZ_DM_EXACT ? length : rdmaez_impl_dm_round(length, most);
	return 0;
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
		return rdmaez_impl_dm_null(diag, context ? "dm" : "context");
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
	if (!made) {
		error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_alloc_dm");
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_dm_explain_alloc, (&attr, diag));
		return error;
	}
	memset(dm, 0, sizeof(*dm));
	dm->dm = made;
	dm->context = context;
	dm->length = length;
	dm->alloc_length = attr.length;
	dm->alignment = opts ? opts->alignment : 0;
	dm->owner = RDMAEZ_DM_ALLOCATED;
	return 0;
}

/*
 * Returns whether the memory has copy functions although the driver reports no device memory.
 * `mana` is such a driver: it never sets the pointers, which hold whatever was there before. A
 * driver that does not answer the query is trusted.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_dm_untrusted(const struct ibv_dm *memory)
{
	struct ibv_device_attr_ex device;

	if (!memory->memcpy_to_dm && !memory->memcpy_from_dm)
		return false;
	memset(&device, 0, sizeof(device));
	return !ibv_query_device_ex(memory->context, NULL, &device) && !device.max_dm_size;
}

/* Adopts memory that the application has allocated or imported. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_adopt(struct ibv_dm *memory, size_t length,
					  enum rdmaez_dm_owner owner, struct rdmaez_dm *dm,
					  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"length", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_BYTES,
						     1, -1};

	if (!memory || !dm)
		return rdmaez_impl_dm_null(diag, memory ? "dm" : "memory");
	rdmaez_impl_diag_device(diag, memory->context);
	if (!length)
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, 0);
	if (owner == RDMAEZ_DM_IMPORTED && !rdmaez_impl_dm_can_import())
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_NO_IMPORT,
					  "ibv_unimport_dm");
	if (rdmaez_impl_dm_untrusted(memory))
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_DM_NONE, "max_dm_size");
	memset(dm, 0, sizeof(*dm));
	dm->dm = memory;
	dm->context = memory->context;
	dm->length = length;
	dm->alloc_length = length;
	dm->owner = owner;
	return 0;
}

RDMAEZ_API int rdmaez_dm_wrap(struct ibv_dm *memory, size_t length, struct rdmaez_dm *dm,
			      struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_dm_wrap");
	return rdmaez_impl_dm_adopt(memory, length, RDMAEZ_DM_WRAPPED, dm, diag);
}

RDMAEZ_API int rdmaez_dm_wrap_imported(struct ibv_dm *memory, size_t length, struct rdmaez_dm *dm,
				       struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_dm_wrap_imported");
	return rdmaez_impl_dm_adopt(memory, length, RDMAEZ_DM_IMPORTED, dm, diag);
}

/* Removes this process's mapping of the memory, which frees nothing. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_give_up(const struct rdmaez_dm *dm)
{
	if (dm->unimport)
		dm->unimport(dm->dm);
	else
		rdmaez_impl_dm_unimport(dm->dm);
}

/* Explains why ibv_free_dm() has failed. EBUSY is not always a region: mlx5's firmware may return it, too. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_not_freed(int error, struct rdmaez_diag *diag)
{
	if (error == ENOENT)
		rdmaez_impl_refuse(diag, rdmaez_impl_failed(diag, error, "ibv_free_dm"),
				   RDMAEZ_WHY_DM_STALE, "dm");
	else
		rdmaez_impl_end(diag, error, "ibv_free_dm", "dm", RDMAEZ_WHY_DM_IN_USE);
}

RDMAEZ_API int rdmaez_dm_close(struct rdmaez_dm *dm, struct rdmaez_diag *diag)
{
	int error = 0;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_close");
	if (!dm)
		return rdmaez_impl_dm_null(diag, "dm");
	if (!dm->dm || dm->owner == RDMAEZ_DM_NOBODY)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_CLOSED,
					  dm->dm ? "dm.owner" : "dm");
	rdmaez_impl_diag_device(diag, dm->context);
	errno = 0;
	if (dm->owner != RDMAEZ_DM_IMPORTED)
		error = rdmaez_impl_error(ibv_free_dm(dm->dm));
	if (error)
		rdmaez_impl_dm_not_freed(error, diag);
	if (error && error != ENOENT)
		return error;
	/* After ENOENT the kernel no longer has the memory, but this process still has it mapped. */
	if (error || dm->owner == RDMAEZ_DM_IMPORTED)
		rdmaez_impl_dm_give_up(dm);
	memset(dm, 0, sizeof(*dm));
	return error;
}

/* ---- Ranges ------------------------------------------------------------------------------- */

/*
 * Returns where the longest region ends. A struct that an application has filled may lack
 * alloc_length.
 */
RDMAEZ_IMPL size_t rdmaez_impl_dm_whole(const struct rdmaez_dm *dm)
{
	return dm->alloc_length > dm->length ? dm->alloc_length : dm->length;
}

/* Checks that a range lies inside another one; if it does not, the finding names the wrong number. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_within(const struct rdmaez_dm_range *all, uint64_t offset,
					   uint64_t length, int error, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site first = {"offset", RDMAEZ_WHY_DM_RANGE,
						      RDMAEZ_VALUE_BYTES, 0, 0};
	static const struct rdmaez_impl_site count = {"length", RDMAEZ_WHY_DM_RANGE,
						      RDMAEZ_VALUE_BYTES, 0, 0};
	const uint64_t begin = all->offset, size = all->length;

	if (offset < begin || offset - begin > size)
		return rdmaez_impl_refuse_within(diag, error, &first, (int64_t)offset,
						 (int64_t)begin, (int64_t)(begin + size));
	if (length > size - (offset - begin))
		return rdmaez_impl_refuse_within(diag, error, &count, (int64_t)length, 0,
						 (int64_t)(size - (offset - begin)));
	return 0;
}

/* Checks that a range lies inside the memory. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_inside(const struct rdmaez_dm *dm, uint64_t offset,
					   uint64_t length, int error, struct rdmaez_diag *diag)
{
	const struct rdmaez_dm_range all = {0, dm->length};

	return rdmaez_impl_dm_within(&all, offset, length, error, diag);
}

/* Checks that both numbers are multiples of a word, and makes a finding for each that is not. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_whole_words(uint64_t offset, uint64_t length,
						struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site first = {"offset", RDMAEZ_WHY_DM_GRANULARITY,
						      RDMAEZ_VALUE_BYTES, 0, -1};
	static const struct rdmaez_impl_site count = {"length", RDMAEZ_WHY_DM_GRANULARITY,
						      RDMAEZ_VALUE_BYTES, 0, -1};
	int error = 0;

	if (offset % RDMAEZ_IMPL_DM_WORD)
		error = rdmaez_impl_refuse_at(diag, EINVAL, &first, (int64_t)offset);
	if (length % RDMAEZ_IMPL_DM_WORD)
		error = rdmaez_impl_refuse_at(diag, EINVAL, &count, (int64_t)length);
	return error;
}

/* Checks that there is memory, and that the range lies inside it and consists of whole words. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_copy_check(const struct rdmaez_dm *dm, uint64_t offset,
					       size_t length, struct rdmaez_diag *diag)
{
	int error;

	if (!dm)
		return rdmaez_impl_dm_null(diag, "dm");
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

/* Returns how many of the bytes that are left go through the buffer on the stack next. */
RDMAEZ_FOLD size_t rdmaez_impl_dm_part(size_t length)
{
	const size_t most = RDMAEZ_IMPL_DM_STACK * RDMAEZ_IMPL_DM_WORD;

	return length < most ? length : most;
}

/* Checks what can still be wrong once the range is known to be good. */
RDMAEZ_FOLD int rdmaez_impl_dm_host_check(bool mapped, const void *host, size_t length)
{
	if (!mapped)
		return EOPNOTSUPP;
	return length && !host ? EINVAL : 0;
}

RDMAEZ_COLD int rdmaez_impl_dm_copied(int returned)
{
	return rdmaez_impl_error(returned);
}

/* Refuses the copy, or makes it through the stack, because the provider must not read words from `src`. */
RDMAEZ_COLD int rdmaez_impl_dm_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src,
				       size_t length)
{
	const char *from = (const char *)src;
	uint32_t words[RDMAEZ_IMPL_DM_STACK];
	size_t part;
	int error = rdmaez_impl_dm_copy_check(dm, offset, length, NULL);

	if (!error)
		error = rdmaez_impl_dm_host_check(dm->dm->memcpy_to_dm != NULL, src, length);
	for (; !error && length; length -= part) {
		part = rdmaez_impl_dm_part(length);
		memcpy(words, from, part);
		error = rdmaez_impl_error(ibv_memcpy_to_dm(dm->dm, offset, words, part));
		from += part;
		offset += part;
	}
	return error;
}

/* Does the same out of device memory, where the provider must not write words to `dst`. */
RDMAEZ_COLD int rdmaez_impl_dm_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst,
					 size_t length)
{
	uint32_t words[RDMAEZ_IMPL_DM_STACK];
	char *to = (char *)dst;
	size_t part;
	int error = rdmaez_impl_dm_copy_check(dm, offset, length, NULL);

	if (!error)
		error = rdmaez_impl_dm_host_check(dm->dm->memcpy_from_dm != NULL, dst, length);
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
		error = rdmaez_impl_dm_host_check(dm->dm->memcpy_to_dm != NULL, words, length);
	memset(words, byte, sizeof(words));
	for (; !error && length; length -= part) {
		part = rdmaez_impl_dm_part(length);
		error = rdmaez_impl_error(ibv_memcpy_to_dm(dm->dm, offset, words, part));
		offset += part;
	}
	return error;
}

/* ---- Copies of bytes ---------------------------------------------------------------------- */

/* A piece is part of a copy of bytes, with the whole words that it touches. */
struct rdmaez_impl_dm_piece {
	uint64_t at;   /* offset of the first word */
	size_t before; /* bytes of the first word that are not copied */
	size_t length; /* bytes that are copied */
	size_t words;  /* length of all these words, in bytes */
};

/* Returns the beginning of a range, as much of it as fits into the buffer on the stack. */
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

/*
 * Checks a copy of bytes. Its numbers need not be multiples of a word, but the last word must end
 * inside the memory.
 */
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
	return rdmaez_impl_dm_host_check(
		dm->dm->memcpy_from_dm && (!writes || dm->dm->memcpy_to_dm), host, length);
}

/* Reads the words of a piece that are not copied as a whole: the first, the last, both or none. */
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

/* Checks access flags by the rules of the kernel and of mlx5. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_reg_access(unsigned int access, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site local = {"access", RDMAEZ_WHY_MR_LOCAL_WRITE,
						      RDMAEZ_VALUE_ACCESS, 0, 0};
	static const struct rdmaez_impl_site relaxed = {"access", RDMAEZ_WHY_DM_RELAXED,
							RDMAEZ_VALUE_ACCESS, 0, 0};
	static const struct rdmaez_impl_site bits = {"access", RDMAEZ_WHY_DM_ACCESS_BITS,
						     RDMAEZ_VALUE_ACCESS, 0, 0};
	const unsigned int optional = access & (unsigned int)IBV_ACCESS_OPTIONAL_RANGE;
	const unsigned int other = access & ~RDMAEZ_IMPL_DM_ACCESS & ~optional;
	const unsigned int remote = access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	int error = 0;

	if (remote && !(access & IBV_ACCESS_LOCAL_WRITE))
		error = rdmaez_impl_refuse_within(diag, EINVAL, &local, remote, 0, access);
	if (optional)
		error = rdmaez_impl_refuse_within(diag, EINVAL, &relaxed, optional, 0, access);
	if (other)
		error = rdmaez_impl_refuse_within(diag, EINVAL, &bits, other, 0, access);
	return error;
}

/* Settles what to register: the given range, which must not be empty, or for NULL all of the memory. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_reg_range(const struct rdmaez_dm *dm,
					      const struct rdmaez_dm_range *given,
					      struct rdmaez_dm_range *range,
					      struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"length", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_BYTES,
						     1, 0};
	int error = 0;

	range->offset = given ? given->offset : 0;
	range->length = given ? given->length : rdmaez_impl_dm_whole(dm);
	if (given)
		error = rdmaez_impl_dm_inside(dm, range->offset, range->length, EINVAL, diag);
	if (!error && !range->length)
		error = rdmaez_impl_refuse_within(diag, EINVAL, &site, 0, 1,
						  (int64_t)(dm->length - range->offset));
	return error;
}

RDMAEZ_API int rdmaez_dm_reg(const struct rdmaez_dm *dm, struct ibv_pd *pd,
			     const struct rdmaez_dm_range *range, unsigned int access,
			     struct rdmaez_dm_region *region, struct rdmaez_diag *diag)
{
	struct rdmaez_dm_range part;
	struct ibv_mr *mr;
	uint64_t rest;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_reg");
	if (!dm || !pd || !region)
		return rdmaez_impl_dm_null(diag, !dm ? "dm" : !pd ? "pd" : "region");
	if (!dm->dm)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_CLOSED, "dm");
	rdmaez_impl_diag_device(diag, dm->context);
	if (pd->context != dm->context)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_OTHER_CONTEXT, "pd");
	error = rdmaez_impl_dm_reg_range(dm, range, &part, diag);
	if (!error)
		error = rdmaez_impl_dm_reg_access(access, diag);
	if (error)
		return error;
	errno = 0;
	mr = ibv_reg_dm_mr(pd, dm->dm, part.offset, part.length, access | IBV_ACCESS_ZERO_BASED);
	if (!mr) {
		error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_reg_dm_mr");
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_dm_explain_reg, (&part, diag));
		return error;
	}
	rest = dm->length - part.offset;
	region->dm = dm->dm;
	region->mr = mr;
	region->offset = part.offset;
	region->length = part.length < rest ? part.length : (size_t)rest;
	return 0;
}

/* ---- Addresses ---------------------------------------------------------------------------- */

/* Checks that there is a region, as far as can be seen of device memory, and as long as the struct says. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_region_check(const struct rdmaez_dm_region *region,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"region.length", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_BYTES, 0, 0};

	/* Only a region of host memory has an address. */
	if (!region->mr || region->mr->addr)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_NOT_REGION, "region.mr");
	rdmaez_impl_diag_device(diag, region->mr->context);
	if (region->length > region->mr->length)
		return rdmaez_impl_refuse_within(diag, EINVAL, &site, (int64_t)region->length, 0,
						 (int64_t)region->mr->length);
	return 0;
}

/* Finds the address of a range, which must lie inside the region. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_locate(const struct rdmaez_dm_region *region,
					   const struct rdmaez_dm_range *range, uint64_t *at,
					   struct rdmaez_diag *diag)
{
	struct rdmaez_dm_range all;
	int error = rdmaez_impl_dm_region_check(region, diag);

	if (error)
		return error;
	all.offset = region->offset;
	all.length = region->length;
	error = rdmaez_impl_dm_within(&all, range->offset, range->length, EFAULT, diag);
	*at = range->offset - region->offset;
	return error;
}

RDMAEZ_API int rdmaez_dm_sge(const struct rdmaez_dm_region *region, uint64_t offset, size_t length,
			     struct ibv_sge *sge, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"length", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_BYTES,
						     0, UINT32_MAX};
	const struct rdmaez_dm_range range = {offset, length};
	const uint32_t low = (uint32_t)length;
	uint64_t at;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_sge");
	if (!region || !sge)
		return rdmaez_impl_dm_null(diag, region ? "sge" : "region");
	error = rdmaez_impl_dm_locate(region, &range, &at, diag);
	if (!error && low != length)
		error = rdmaez_impl_refuse_at(diag, EINVAL, &site, (int64_t)length);
	if (error)
		return error;
	sge->addr = at;
	sge->length = low;
	sge->lkey = region->mr->lkey;
	return 0;
}

RDMAEZ_COLD int rdmaez_dm_remote(const struct rdmaez_dm_region *region, uint64_t offset,
				 size_t length, uint64_t *remote_addr, struct rdmaez_diag *diag)
{
	const struct rdmaez_dm_range range = {offset, length};
	uint64_t at;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_remote");
	if (!region || !remote_addr)
		return rdmaez_impl_dm_null(diag, region ? "remote_addr" : "region");
	error = rdmaez_impl_dm_locate(region, &range, &at, diag);
	if (!error)
		*remote_addr = at;
	return error;
}

RDMAEZ_COLD int rdmaez_dm_remote_atomic(const struct rdmaez_dm_region *region, uint64_t offset,
					uint64_t *remote_addr, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"offset", RDMAEZ_WHY_WR_ATOMIC,
						     RDMAEZ_VALUE_BYTES, 0, -1};
	const struct rdmaez_dm_range range = {offset, 8};
	uint64_t at;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_remote_atomic");
	if (!region || !remote_addr)
		return rdmaez_impl_dm_null(diag, region ? "remote_addr" : "region");
	error = rdmaez_impl_dm_locate(region, &range, &at, diag);
	if (!error && (at | offset) % 8)
		error = rdmaez_impl_refuse_at(diag, EINVAL, &site, (int64_t)offset);
	if (!error)
		*remote_addr = at;
	return error;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
