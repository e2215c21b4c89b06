/* SPDX-License-Identifier: MIT */
/* Bodies of dm_emu.h. */
#ifndef RDMAEZ_DEVEL_IMPL_DM_EMU_H
#define RDMAEZ_DEVEL_IMPL_DM_EMU_H

#include "../dm_emu.h"

#if RDMAEZ_IMPL_BODIES

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../impl/dm.h"
#include "../../impl/dm_share.h"
#include "../../impl/system.h"
#include "../../impl/verb.h"

RDMAEZ_IMPL_BEGIN

/* An object of device memory: struct ibv_dm first, then what a provider would keep. */
struct rdmaez_impl_emu_dm {
	struct ibv_dm verbs;
	uint32_t handle; /* struct ibv_dm has one since rdma-core 35 */
	bool imported;
	struct rdmaez_impl_emu *emu;
	struct rdmaez_impl_emu_dm *next;
	uint64_t page; /* the first page of its piece */
	uint64_t length;
	uint8_t *bytes;
};

/* The word of a context that holds the address of its state. */
RDMAEZ_IMPL uint64_t rdmaez_impl_emu_word(const struct ibv_context *context)
{
	const size_t back = offsetof(struct verbs_context, context) -
			    offsetof(struct verbs_context, _ABI_placeholder3);
	uint64_t word;

	memcpy(&word, (const char *)context - back, sizeof(word));
	return word;
}

/* The emulation of a context. Only our own verbs call this, so we have set the word. */
RDMAEZ_IMPL struct rdmaez_impl_emu *rdmaez_impl_emu_of(const struct ibv_context *context)
{
	return (struct rdmaez_impl_emu *)(uintptr_t)rdmaez_impl_emu_word(context);
}

/* The object behind memory of this emulation; NULL for other memory, such as the device's own. */
RDMAEZ_IMPL struct rdmaez_impl_emu_dm *rdmaez_impl_emu_object(const struct rdmaez_impl_emu *emu,
							      struct ibv_dm *dm)
{
	return dm->memcpy_to_dm == emu->copy_to ? (struct rdmaez_impl_emu_dm *)(void *)dm : NULL;
}

/* ---- Locks ------------------------------------------------------------------------------------- */

/*
 * Open file description locks, of Linux 3.15. The kernel releases them when the process ends, in whatever way,
 * which tells the others what it had. The lock on byte 0 guards the list of pieces. Each page has two more
 * bytes, which are used for the first page of a piece: whoever has the piece mapped holds a shared lock on the
 * first byte, whoever has regions on it one on the second.
 */
RDMAEZ_IMPL uint64_t rdmaez_impl_emu_mapped(uint64_t page)
{
	return 1 + 2 * page;
}

RDMAEZ_IMPL uint64_t rdmaez_impl_emu_registered(uint64_t page)
{
	return 2 + 2 * page;
}

/* Calls fcntl() for one lock. Commands are F_OFD_GETLK, 36, and F_OFD_SETLK, 37, which need _GNU_SOURCE. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_flock(const struct rdmaez_impl_emu *emu, int command,
					   uint64_t byte, struct flock *lock)
{
	lock->l_whence = SEEK_SET;
	lock->l_start = (off_t)byte;
	lock->l_len = 1;
	return fcntl(emu->fd, command, lock) ? errno : 0;
}

/* Takes a lock, by type F_RDLCK or F_WRLCK, or releases it, by F_UNLCK. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_set(const struct rdmaez_impl_emu *emu, int type, uint64_t byte)
{
	struct flock lock;

	memset(&lock, 0, sizeof(lock));
	lock.l_type = (short)type;
	return rdmaez_impl_emu_flock(emu, 37, byte, &lock);
}

/* Whether another opening of the file holds a lock. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_emu_others(const struct rdmaez_impl_emu *emu, uint64_t byte)
{
	struct flock lock;

	memset(&lock, 0, sizeof(lock));
	lock.l_type = F_WRLCK;
	return rdmaez_impl_emu_flock(emu, 36, byte, &lock) || lock.l_type != F_UNLCK;
}

/*
 * Takes the lock of the list. Another process may hold it and be stopped, so waiting ends after a time. The
 * mutex is released between tries: several threads then wait at once instead of one after the other.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_lock(struct rdmaez_impl_emu *emu, uint64_t timeout_ns)
{
	const uint64_t deadline = rdmaez_impl_until(timeout_ns);
	int error;

	for (;;) {
		pthread_mutex_lock(&emu->mutex);
		error = rdmaez_impl_emu_set(emu, F_WRLCK, 0);
		if (!error)
			return 0;
		pthread_mutex_unlock(&emu->mutex);
		if (error != EAGAIN && error != EACCES)
			return error;
		if (!rdmaez_impl_left(deadline))
			return ETIMEDOUT;
		poll(NULL, 0, 1);
	}
}

RDMAEZ_IMPL_COLD void rdmaez_impl_emu_unlock(struct rdmaez_impl_emu *emu)
{
	rdmaez_impl_emu_set(emu, F_UNLCK, 0);
	pthread_mutex_unlock(&emu->mutex);
}

/* ---- Is a region still registered? ------------------------------------------------------------- */

/*
 * UVERBS_METHOD_QUERY_MR of the kernel returns the keys of the region with a handle. Numbers and layout are
 * those of <rdma/ib_user_ioctl_cmds.h>.
 */
struct rdmaez_impl_emu_attr {
	uint16_t id;
	uint16_t length;
	uint16_t flags;
	uint16_t reserved;
	uint64_t data;
};

struct rdmaez_impl_emu_ask {
	uint16_t length;
	uint16_t object;
	uint16_t method;
	uint16_t attrs;
	uint64_t reserved1;
	uint32_t driver;
	uint32_t reserved2;
	struct rdmaez_impl_emu_attr attr[4];
};

/* Declared here because the type of the second parameter depends on the C library. */
extern int rdmaez_impl_emu_ioctl(int fd, unsigned long request, ...) __asm__("ioctl");

RDMAEZ_IMPL_COLD int rdmaez_impl_emu_query_mr(int fd, int driver, uint32_t handle, uint32_t *lkey)
{
	static const uint16_t length[4] = {0, 4, 4, 8}; /* the handle, lkey, rkey, the length */
	struct rdmaez_impl_emu_ask ask;
	uint64_t answer[4];

	memset(&ask, 0, sizeof(ask));
	memset(answer, 0, sizeof(answer));
	ask.length = sizeof(ask);
	ask.object = 7; /* UVERBS_OBJECT_MR */
	ask.method = 3; /* UVERBS_METHOD_QUERY_MR */
	ask.attrs = 4;
	ask.driver = (uint32_t)driver;
	for (uint16_t i = 0; i < 4; i++) {
		ask.attr[i].id = i;
		ask.attr[i].length = length[i];
		ask.attr[i].flags = 1; /* UVERBS_ATTR_F_MANDATORY */
		ask.attr[i].data = i ? (uint64_t)(uintptr_t)&answer[i] : handle;
	}
	/* RDMA_VERBS_IOCTL. The size in it is that of the header without attributes. */
	if (rdmaez_impl_emu_ioctl(fd, _IOWR(0x1b, 1, uint64_t[3]), &ask))
		return errno;
	memcpy(lkey, &answer[1], sizeof(*lkey));
	return 0;
}

/* Finds the driver's number, which the kernel wants to be told: only the right one is answered by ENOENT. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_driver(int fd)
{
	int error = EINVAL;
	uint32_t lkey;

	for (int driver = 0; driver < 64 && error == EINVAL; driver++) {
		error = rdmaez_impl_emu_query_mr(fd, driver, UINT32_MAX, &lkey);
		if (error == ENOENT)
			return driver;
	}
	return -1;
}

/* Whether this context has regions on a piece. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_emu_has_region(const struct rdmaez_impl_emu *emu, uint64_t page)
{
	const struct rdmaez_impl_emu_region *region = emu->regions;

	while (region && region->page != page)
		region = region->next;
	return region != NULL;
}

/* Forgets the regions that have been deregistered, or all if the kernel cannot be asked. */
RDMAEZ_IMPL_COLD void rdmaez_impl_emu_prune(struct rdmaez_impl_emu *emu)
{
	struct rdmaez_impl_emu_region **at = &emu->regions, *region;
	uint32_t lkey;

	while ((region = *at) != NULL) {
		if (emu->driver >= 0 &&
		    !rdmaez_impl_emu_query_mr(emu->context->cmd_fd, emu->driver, region->handle,
					      &lkey) &&
		    lkey == region->lkey) {
			at = &region->next;
			continue;
		}
		*at = region->next;
		if (!rdmaez_impl_emu_has_region(emu, region->page))
			rdmaez_impl_emu_set(emu, F_UNLCK, rdmaez_impl_emu_registered(region->page));
		free(region);
	}
}

/* ---- Pieces; the caller holds the lock --------------------------------------------------------- */

RDMAEZ_IMPL struct rdmaez_impl_emu_piece *
rdmaez_impl_emu_piece_at(const struct rdmaez_impl_emu *emu, uint64_t page)
{
	return (struct rdmaez_impl_emu_piece *)(void *)(emu->file + 1) + page;
}

/* How many pages a piece of this length takes. Each has its own, so that no process maps another's piece. */
RDMAEZ_IMPL uint64_t rdmaez_impl_emu_pages(const struct rdmaez_impl_emu *emu, uint64_t length)
{
	return length / emu->page + (length % emu->page != 0);
}

/*
 * The length of the piece that begins at a page; 0: there is none, or it does not lie in the memory. Another
 * process may write any number there at any time, so it is read only once.
 */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_emu_length(const struct rdmaez_impl_emu *emu, uint64_t page)
{
	const uint64_t length =
		*(const volatile uint64_t *)&rdmaez_impl_emu_piece_at(emu, page)->length;

	return rdmaez_impl_emu_pages(emu, length) <= emu->pages - page ? length : 0;
}

/* Whether this context has a piece mapped. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_emu_has_object(const struct rdmaez_impl_emu *emu, uint64_t page)
{
	const struct rdmaez_impl_emu_dm *dm = emu->objects;

	while (dm && dm->page != page)
		dm = dm->next;
	return dm != NULL;
}

/* Brings the lists up to date: drops deregistered regions, and frees pieces that nobody has mapped. */
RDMAEZ_IMPL_COLD void rdmaez_impl_emu_update(struct rdmaez_impl_emu *emu)
{
	rdmaez_impl_emu_prune(emu);
	for (uint64_t i = 0; i < emu->pages; i++)
		if (rdmaez_impl_emu_piece_at(emu, i)->length &&
		    !rdmaez_impl_emu_has_object(emu, i) &&
		    !rdmaez_impl_emu_others(emu, rdmaez_impl_emu_mapped(i)))
			memset(rdmaez_impl_emu_piece_at(emu, i), 0,
			       sizeof(struct rdmaez_impl_emu_piece));
}

/* The first page of the piece with a handle; the number of pages if there is none. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_emu_find(const struct rdmaez_impl_emu *emu, uint32_t handle)
{
	uint64_t i = 0;

	while (i < emu->pages && !(rdmaez_impl_emu_piece_at(emu, i)->length &&
				   rdmaez_impl_emu_piece_at(emu, i)->handle == handle))
		i++;
	return handle ? i : emu->pages;
}

/* The first of so many free pages in a row; the number of pages if there are none. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_emu_room(const struct rdmaez_impl_emu *emu, uint64_t wanted)
{
	uint64_t at = 0, i = 0, length;

	while (i < emu->pages && i - at < wanted) {
		length = rdmaez_impl_emu_length(emu, i);
		i += length ? rdmaez_impl_emu_pages(emu, length) : 1;
		if (length)
			at = i;
	}
	return i - at >= wanted ? at : emu->pages;
}

/* Makes a new piece where there is room for it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_take(struct rdmaez_impl_emu *emu, uint64_t length,
					  struct rdmaez_impl_emu_dm *dm)
{
	const uint64_t at = rdmaez_impl_emu_room(emu, rdmaez_impl_emu_pages(emu, length));

	if (at == emu->pages)
		return ENOMEM;
	dm->handle = ++emu->file->last_handle;
	dm->page = at;
	rdmaez_impl_emu_piece_at(emu, at)->length = length;
	rdmaez_impl_emu_piece_at(emu, at)->handle = dm->handle;
	return 0;
}

/* ---- Objects ----------------------------------------------------------------------------------- */

/* The errno value with which this call has to fail; 0: none. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_due(struct rdmaez_impl_emu *emu, enum rdmaez_dm_emu_call call)
{
	struct rdmaez_impl_emu_fault *order = &emu->fault[call];
	bool due;

	if (!order->error)
		return 0;
	pthread_mutex_lock(&emu->mutex);
	due = order->each || (order->left && --order->left == 0);
	pthread_mutex_unlock(&emu->mutex);
	return due ? order->error : 0;
}

/* Makes the object stand for its piece. The length is the list's, which another process may have changed. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_hold(struct rdmaez_impl_emu *emu,
					  struct rdmaez_impl_emu_dm *dm)
{
	/* Where rdma-core 35 has the handle. In older releases this is padding, or dm->handle itself. */
	const size_t handle_at = offsetof(struct ibv_dm, comp_mask) + sizeof(uint32_t);
	int error;

	dm->length = rdmaez_impl_emu_length(emu, dm->page);
	if (!dm->length)
		return EBADF;
	error = rdmaez_impl_emu_set(emu, F_RDLCK, rdmaez_impl_emu_mapped(dm->page));
	if (error)
		return error;
	dm->emu = emu;
	dm->bytes = (uint8_t *)emu->file + emu->start + dm->page * emu->page;
	dm->verbs.context = emu->context;
	dm->verbs.memcpy_to_dm = emu->copy_to;
	dm->verbs.memcpy_from_dm = emu->copy_from;
	/* IBV_DM_MASK_HANDLE, which imported memory does not have. */
	dm->verbs.comp_mask = dm->imported ? 0 : 1;
	memcpy((char *)dm + handle_at, &dm->handle, sizeof(dm->handle));
	dm->next = emu->objects;
	emu->objects = dm;
	return 0;
}

/* Removes an object. This needs only the mutex, so it does not wait for other processes. */
RDMAEZ_IMPL_COLD void rdmaez_impl_emu_drop(struct rdmaez_impl_emu *emu,
					   struct rdmaez_impl_emu_dm *dm)
{
	struct rdmaez_impl_emu_dm **at = &emu->objects;

	while (*at != dm)
		at = &(*at)->next;
	*at = dm->next;
	if (!rdmaez_impl_emu_has_object(emu, dm->page))
		rdmaez_impl_emu_set(emu, F_UNLCK, rdmaez_impl_emu_mapped(dm->page));
	free(dm);
}

/* Gives the object its piece: a new one of this length, or for 0 the one with the object's handle. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_get(struct rdmaez_impl_emu *emu, uint64_t length,
					 struct rdmaez_impl_emu_dm *dm)
{
	int error = 0;

	rdmaez_impl_emu_update(emu);
	dm->page = rdmaez_impl_emu_find(emu, dm->handle);
	if (length)
		error = rdmaez_impl_emu_take(emu, length, dm);
	else if (dm->page == emu->pages)
		error = ENOENT;
	if (error)
		return error;
	error = rdmaez_impl_emu_hold(emu, dm);
	if (error && length)
		memset(rdmaez_impl_emu_piece_at(emu, dm->page), 0,
		       sizeof(struct rdmaez_impl_emu_piece));
	return error;
}

/* Makes an object: for a new piece of this length, or for 0 for the existing piece with this handle. */
RDMAEZ_IMPL_COLD struct ibv_dm *rdmaez_impl_emu_new(struct rdmaez_impl_emu *emu, uint64_t length,
						    uint32_t handle, uint64_t timeout_ns)
{
	struct rdmaez_impl_emu_dm *dm = (struct rdmaez_impl_emu_dm *)calloc(1, sizeof(*dm));
	int error = dm ? rdmaez_impl_emu_lock(emu, timeout_ns) : ENOMEM;

	if (!error) {
		dm->imported = !length;
		dm->handle = handle;
		error = rdmaez_impl_emu_get(emu, length, dm);
		rdmaez_impl_emu_unlock(emu);
	}
	if (!error)
		return &dm->verbs;
	free(dm);
	errno = error;
	return NULL;
}

/* ---- The copies -------------------------------------------------------------------------------- */

/*
 * Several threads may copy at once, even to the same place. Atomic accesses keep that from being a data race,
 * and words whole. Where the compiler does not have them, volatile has to be enough.
 */
RDMAEZ_IMPL void rdmaez_impl_emu_store(volatile uint32_t *to, uint32_t word)
{
#if defined(__GNUC__) && !defined(__TINYC__)
	__atomic_store_n(to, word, __ATOMIC_RELAXED);
#else
	*to = word;
#endif
}

RDMAEZ_IMPL uint32_t rdmaez_impl_emu_load(const volatile uint32_t *from)
{
#if defined(__GNUC__) && !defined(__TINYC__)
	return __atomic_load_n(from, __ATOMIC_RELAXED);
#else
	return *from;
#endif
}

/*
 * Checks a copy in mlx5's order, and finds where it begins. As in mlx5, the host's pointer is not checked.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_copy(struct ibv_dm *verbs, enum rdmaez_dm_emu_call call,
					  const struct rdmaez_dm_range *range,
					  volatile uint32_t **words)
{
	const struct rdmaez_impl_emu_dm *dm =
		(const struct rdmaez_impl_emu_dm *)(const void *)verbs;
	const int error = rdmaez_impl_emu_due(dm->emu, call);

	if (error)
		return error;
	if (range->offset > dm->length || range->length > dm->length - range->offset)
		return EFAULT;
	if (range->offset % 4 || range->length % 4)
		return EINVAL;
	*words = (volatile uint32_t *)(void *)(dm->bytes + range->offset);
	return 0;
}

/* Copies word by word, as to a device: nobody sees only part of a word. */
RDMAEZ_IMPL int rdmaez_impl_emu_copy_to(struct ibv_dm *dm, uint64_t offset, const void *host,
					size_t length)
{
	const struct rdmaez_dm_range range = {offset, length};
	volatile uint32_t *to = NULL;
	const int error = rdmaez_impl_emu_copy(dm, RDMAEZ_DM_EMU_COPY_TO, &range, &to);
	uint32_t word;

	for (size_t i = 0; !error && i < length / 4; i++) {
		memcpy(&word, (const char *)host + 4 * i, 4);
		rdmaez_impl_emu_store(&to[i], word);
	}
	return error;
}

RDMAEZ_IMPL int rdmaez_impl_emu_copy_from(void *host, struct ibv_dm *dm, uint64_t offset,
					  size_t length)
{
	const struct rdmaez_dm_range range = {offset, length};
	volatile uint32_t *from = NULL;
	const int error = rdmaez_impl_emu_copy(dm, RDMAEZ_DM_EMU_COPY_FROM, &range, &from);
	uint32_t word;

	for (size_t i = 0; !error && i < length / 4; i++) {
		word = rdmaez_impl_emu_load(&from[i]);
		memcpy((char *)host + 4 * i, &word, 4);
	}
	return error;
}

/* ---- The other verbs --------------------------------------------------------------------------- */

RDMAEZ_IMPL struct ibv_dm *rdmaez_impl_emu_alloc(struct ibv_context *context,
						 struct ibv_alloc_dm_attr *attr)
{
	/* Verbs do not report how large an alignment a device supports. Here it is a page, as memory has it. */
	const uint32_t most_log_align = 12;
	struct rdmaez_impl_emu *emu = rdmaez_impl_emu_of(context);
	int error = rdmaez_impl_emu_due(emu, RDMAEZ_DM_EMU_ALLOC);

	if (!error && (attr->comp_mask || !attr->length || attr->length > emu->size ||
		       attr->log_align_req > most_log_align))
		error = EINVAL;
	if (!error)
		return rdmaez_impl_emu_new(emu, attr->length, 0, emu->timeout_ns);
	errno = error;
	return NULL;
}

/* As in mlx5, the object remains if freeing it is refused, so the caller can try again. */
RDMAEZ_IMPL int rdmaez_impl_emu_free(struct ibv_dm *verbs)
{
	struct rdmaez_impl_emu *emu = rdmaez_impl_emu_of(verbs->context);
	struct rdmaez_impl_emu_dm *dm = rdmaez_impl_emu_object(emu, verbs);
	int error;

	if (!dm)
		return emu->free_dm ? emu->free_dm(verbs) : EOPNOTSUPP;
	error = rdmaez_impl_emu_due(emu, RDMAEZ_DM_EMU_FREE);
	if (!error && dm->imported)
		error = EINVAL;
	if (!error)
		error = rdmaez_impl_emu_lock(emu, emu->timeout_ns);
	if (error)
		return error;
	rdmaez_impl_emu_prune(emu);
	if (rdmaez_impl_emu_has_region(emu, dm->page) ||
	    rdmaez_impl_emu_others(emu, rdmaez_impl_emu_registered(dm->page))) {
		error = EBUSY;
	} else {
		rdmaez_impl_emu_piece_at(emu, dm->page)->handle = 0;
		rdmaez_impl_emu_drop(emu, dm);
	}
	rdmaez_impl_emu_unlock(emu);
	return error;
}

/* Checks access flags: mlx5 accepts five, and the kernel has two rules. */
RDMAEZ_IMPL int rdmaez_impl_emu_check_access(unsigned int access)
{
	const unsigned int taken = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
				   IBV_ACCESS_ZERO_BASED;
	const unsigned int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

	if (access & ~taken || !(access & IBV_ACCESS_ZERO_BASED))
		return EINVAL;
	return (access & remote) && !(access & IBV_ACCESS_LOCAL_WRITE) ? EINVAL : 0;
}

/* Registers host memory and makes the region look like a device's. The lock of its piece is taken first. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_reg_bytes(struct ibv_pd *pd,
					       const struct rdmaez_impl_emu_dm *dm,
					       const struct rdmaez_dm_range *range,
					       unsigned int access, struct ibv_mr **mr)
{
	struct rdmaez_impl_emu_region *region =
		(struct rdmaez_impl_emu_region *)calloc(1, sizeof(*region));
	const uint64_t lock = rdmaez_impl_emu_registered(dm->page);
	int error = region ? rdmaez_impl_emu_set(dm->emu, F_RDLCK, lock) : ENOMEM;

	if (!error) {
		errno = 0;
		*mr = ibv_reg_mr_iova(pd, dm->bytes + range->offset, range->length, 0,
				      access & ~(unsigned int)IBV_ACCESS_ZERO_BASED);
		error = *mr ? 0 : rdmaez_impl_error_of_null();
		if (error && !rdmaez_impl_emu_has_region(dm->emu, dm->page))
			rdmaez_impl_emu_set(dm->emu, F_UNLCK, lock);
	}
	if (error) {
		free(region);
		return error;
	}
	(*mr)->addr = NULL; /* as of a region on device memory */
	region->page = dm->page;
	region->handle = (*mr)->handle;
	region->lkey = (*mr)->lkey;
	region->next = dm->emu->regions;
	dm->emu->regions = region;
	return 0;
}

/* Refuses what mlx5 and the kernel refuse, and a region that does not begin on a page. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_reg_check(const struct ibv_pd *pd,
					       const struct rdmaez_impl_emu_dm *dm,
					       const struct rdmaez_dm_range *range,
					       unsigned int access)
{
	int error = rdmaez_impl_emu_due(dm->emu, RDMAEZ_DM_EMU_REG);

	if (!error)
		error = rdmaez_impl_emu_check_access(access);
	if (error)
		return error;
	/* The kernel looks for the handle among those of the protection domain's context. */
	if (pd->context != dm->verbs.context)
		return ENOENT;
	if (range->offset > dm->length || range->length > dm->length - range->offset ||
	    !range->length)
		return EINVAL;
	/* mlx5 translates addresses by itself, but host memory is registered by pages. */
	return range->offset % dm->emu->page ? EOPNOTSUPP : 0;
}

RDMAEZ_IMPL struct ibv_mr *rdmaez_impl_emu_reg(struct ibv_pd *pd, struct ibv_dm *verbs,
					       uint64_t offset, size_t length, unsigned int access)
{
	struct rdmaez_impl_emu *emu = rdmaez_impl_emu_of(pd->context);
	const struct rdmaez_impl_emu_dm *dm = rdmaez_impl_emu_object(emu, verbs);
	const struct rdmaez_dm_range range = {offset, length};
	struct ibv_mr *mr = NULL;
	int error;

	if (!dm && emu->reg_dm_mr)
		return emu->reg_dm_mr(pd, verbs, offset, length, access);
	error = dm ? rdmaez_impl_emu_reg_check(pd, dm, &range, access) : EOPNOTSUPP;
	if (!error)
		error = rdmaez_impl_emu_lock(emu, emu->timeout_ns);
	if (error) {
		errno = error;
		return NULL;
	}
	rdmaez_impl_emu_update(emu);
	if (rdmaez_impl_emu_find(emu, dm->handle) != dm->page)
		error = ENOENT;
	else
		error = rdmaez_impl_emu_reg_bytes(pd, dm, &range, access, &mr);
	rdmaez_impl_emu_unlock(emu);
	if (!error)
		return mr;
	errno = error;
	return NULL;
}

/* Adds max_dm_size to what the device reports. */
RDMAEZ_IMPL int rdmaez_impl_emu_query(struct ibv_context *context,
				      const struct ibv_query_device_ex_input *input,
				      struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct rdmaez_impl_emu *emu = rdmaez_impl_emu_of(context);
	const size_t end = offsetof(struct ibv_device_attr_ex, max_dm_size) + sizeof(emu->size);
	int error = rdmaez_impl_emu_due(emu, RDMAEZ_DM_EMU_QUERY);

	if (error)
		return error;
	error = emu->query_device_ex ? emu->query_device_ex(context, input, attr, attr_size)
				     : EOPNOTSUPP;
	/* libibverbs would then call the older verb, which has no room for max_dm_size. */
	if ((error == EOPNOTSUPP || error == ENOSYS) && attr_size >= end) {
		memset(attr, 0, attr_size);
		error = ibv_query_device(context, &attr->orig_attr);
	}
	if (!error && attr_size >= end)
		attr->max_dm_size = emu->size;
	return error;
}

/* ---- The file ---------------------------------------------------------------------------------- */

/* For memfd_create() and ftruncate(), which the C library does not declare in strict C11. */
extern long rdmaez_impl_emu_syscall(long number, ...) __asm__("syscall");

/*
 * Opens the same file again, to have locks of our own; -1 if it is not one to open. Opening whatever else a
 * peer sends may have side effects, and if a peer could truncate the file, SIGBUS would end this process. Only
 * a memfd has seals, so one question answers both: is it sealed against shrinking?
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_reopen(int fd)
{
	const int get_seals = 1034, seal_shrink = 2; /* F_GET_SEALS, F_SEAL_SHRINK */
	const int seals = fcntl(fd, get_seals);
	char path[32] = "/proc/self/fd/";
	size_t at = strlen(path);
	int scale = 1;

	if (seals < 0 || !(seals & seal_shrink))
		return -1;
	while (fd / scale >= 10)
		scale *= 10;
	for (; scale; scale /= 10)
		path[at++] = (char)('0' + fd / scale % 10);
	path[at] = '\0';
	fd = open(path, O_RDWR);
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC); /* O_CLOEXEC is not declared in strict C11 */
	return fd;
}

/* Where the memory begins in the file: on the first page behind the list of pieces. */
RDMAEZ_IMPL uint64_t rdmaez_impl_emu_start(const struct rdmaez_impl_emu *emu)
{
	const uint64_t table = emu->pages * sizeof(struct rdmaez_impl_emu_piece);

	return rdmaez_impl_emu_pages(emu, sizeof(*emu->file) + table) * emu->page;
}

/* Maps the file and checks its header. The numbers are copied first, because others may change them. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_map(struct rdmaez_impl_emu *emu)
{
	struct rdmaez_impl_emu_file file;
	struct stat about;
	void *mapped;

	if (fstat(emu->fd, &about))
		return errno;
	if (about.st_size < (off_t)sizeof(file))
		return EBADF;
	emu->mapped = (size_t)about.st_size;
	mapped = mmap(NULL, emu->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, emu->fd, 0);
	if (mapped == MAP_FAILED)
		return errno;
	memcpy(&file, mapped, sizeof(file));
	emu->file = (struct rdmaez_impl_emu_file *)mapped;
	emu->size = file.size;
	emu->pages = file.size / emu->page;
	emu->start = rdmaez_impl_emu_start(emu);
	if (file.magic == RDMAEZ_IMPL_EMU_MAGIC && file.version == RDMAEZ_IMPL_EMU_VERSION &&
	    file.size <= RDMAEZ_IMPL_EMU_MOST && file.size % emu->page == 0 &&
	    file.start == emu->start && emu->start + file.size == emu->mapped)
		return 0;
	munmap(mapped, emu->mapped);
	return EBADF;
}

/* Makes new memory: a file without a name, sealed so that nobody can truncate it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_create(struct rdmaez_impl_emu *emu, uint64_t size)
{
	const int add_seals = 1033, seals = 6; /* F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW */
	const int memfd = 3;                   /* MFD_CLOEXEC | MFD_ALLOW_SEALING */
	struct rdmaez_impl_emu_file file;

	emu->pages = size / emu->page;
	memset(&file, 0, sizeof(file));
	file.magic = RDMAEZ_IMPL_EMU_MAGIC;
	file.version = RDMAEZ_IMPL_EMU_VERSION;
	file.start = rdmaez_impl_emu_start(emu);
	file.size = size;
	file.last_handle = 1u << 30; /* so that a kernel does not take one for its own */
	emu->fd = (int)rdmaez_impl_emu_syscall(SYS_memfd_create, "rdmaez-dm", memfd);
	if (emu->fd < 0 ||
	    rdmaez_impl_emu_syscall(SYS_ftruncate, emu->fd, (size_t)(file.start + size)) ||
	    write(emu->fd, &file, sizeof(file)) < 0 || fcntl(emu->fd, add_seals, seals))
		return errno;
	return rdmaez_impl_emu_map(emu);
}

/* ---- Attaching --------------------------------------------------------------------------------- */

/* Replaces the device's verbs by ours. */
RDMAEZ_IMPL_COLD void rdmaez_impl_emu_install(struct rdmaez_impl_emu *emu)
{
	emu->alloc_dm = emu->verbs->alloc_dm;
	emu->free_dm = emu->verbs->free_dm;
	emu->reg_dm_mr = emu->verbs->reg_dm_mr;
	emu->query_device_ex = emu->verbs->query_device_ex;
	emu->copy_to = rdmaez_impl_emu_copy_to;
	emu->copy_from = rdmaez_impl_emu_copy_from;
	emu->version = RDMAEZ_IMPL_EMU_VERSION;
	emu->magic = RDMAEZ_IMPL_EMU_MAGIC;
	emu->verbs->_ABI_placeholder3 = (uintptr_t)emu;
	emu->verbs->alloc_dm = rdmaez_impl_emu_alloc;
	emu->verbs->free_dm = rdmaez_impl_emu_free;
	emu->verbs->reg_dm_mr = rdmaez_impl_emu_reg;
	emu->verbs->query_device_ex = rdmaez_impl_emu_query;
}

/* Whether the struct holds an emulation that this version has attached. */
RDMAEZ_IMPL bool rdmaez_impl_emu_is_ours(const struct rdmaez_dm_emu *emu)
{
	return emu->state.magic == RDMAEZ_IMPL_EMU_MAGIC &&
	       emu->state.version == RDMAEZ_IMPL_EMU_VERSION;
}

/* Whether it is in use, be it by another version. A copy of a struct that is in use is not in use itself. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_emu_is_live(const struct rdmaez_dm_emu *emu)
{
	if (!rdmaez_impl_emu_is_ours(emu))
		return emu->state.magic == RDMAEZ_IMPL_EMU_MAGIC;
	return rdmaez_impl_emu_word(emu->state.context) == (uintptr_t)&emu->state;
}

/* Checks that the emulation can be attached to a context with these flags. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_check_context(struct ibv_context *context, unsigned int flags,
						   struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"opts.flags", RDMAEZ_WHY_OPTION_UNKNOWN,
						     RDMAEZ_VALUE_FLAGS, 0, 0};
	static const struct rdmaez_impl_site real = {"max_dm_size", RDMAEZ_WHY_DM_EMU_REAL,
						     RDMAEZ_VALUE_BYTES, 0, 0};
	const unsigned int force = RDMAEZ_DM_EMU_FORCE;
	/* The struct grows at its front: a libibverbs that has this pointer has the others that are
	 * replaced. */
	struct verbs_context *verbs = verbs_get_ctx(context);
	const size_t needed = sizeof(*verbs) - offsetof(struct verbs_context, reg_dm_mr);
	struct ibv_device_attr_ex device;

	memset(&device, 0, sizeof(device));
	if (flags & ~force)
		return rdmaez_impl_refuse_within(diag, EINVAL, &site, flags & ~force, 0, flags);
	if (!verbs || verbs->sz < needed)
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED, "context");
	if (verbs->_ABI_placeholder3)
		return rdmaez_impl_refuse(diag, EBUSY, RDMAEZ_WHY_DM_EMU_ATTACHED, "context");
	if (flags & force || ibv_query_device_ex(context, NULL, &device) || !device.max_dm_size)
		return 0;
	return rdmaez_impl_refuse_at(diag, EEXIST, &real, (int64_t)device.max_dm_size);
}

/* Makes new memory, or maps the memory of the given descriptor. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_begin(struct rdmaez_impl_emu *emu,
					   const struct rdmaez_dm_emu_opts *opts,
					   struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {"opts.size", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_BYTES, 1, RDMAEZ_IMPL_EMU_MOST};
	const uint64_t size = opts->size ? opts->size : 256 * 1024;
	int error = EBADF;

	if (opts->fd) {
		emu->fd = rdmaez_impl_emu_reopen((int)rdmaez_impl_option(opts->fd, 0));
		if (emu->fd >= 0)
			error = rdmaez_impl_emu_map(emu);
	} else if (size > RDMAEZ_IMPL_EMU_MOST) {
		return rdmaez_impl_refuse_at(diag, EINVAL, &site, (int64_t)size);
	} else {
		error = rdmaez_impl_emu_create(emu, rdmaez_impl_emu_pages(emu, size) * emu->page);
	}
	if (!error)
		return 0;
	if (emu->fd >= 0)
		close(emu->fd);
	if (error == EBADF)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_DM_EMU_FD, "opts.fd");
	rdmaez_impl_verb(diag, error, "opts.size"); /* which is the field; no verb was called */
	return rdmaez_impl_failed(diag, error, NULL);
}

RDMAEZ_API int rdmaez_dm_emu_attach(struct ibv_context *context,
				    const struct rdmaez_dm_emu_opts *opts,
				    struct rdmaez_dm_emu *emu, struct rdmaez_diag *diag)
{
	struct rdmaez_dm_emu_opts zero;
	const bool live = emu && rdmaez_impl_emu_is_live(emu);
	int error;

	memset(&zero, 0, sizeof(zero));
	opts = opts ? opts : &zero;
	rdmaez_impl_diag_reset(diag, "rdmaez_dm_emu_attach");
	if (emu && !live)
		memset(emu, 0, sizeof(*emu)); /* after a refusal there is nothing to detach */
	if (!context || !emu)
		return rdmaez_impl_dm_null(diag, context ? "emu" : "context");
	rdmaez_impl_diag_device(diag, context);
	if (live)
		return rdmaez_impl_refuse(diag, EBUSY, RDMAEZ_WHY_DM_EMU_ATTACHED, "emu");
	error = rdmaez_impl_emu_check_context(context, opts->flags, diag);
	if (error)
		return error;
	emu->state.context = context;
	emu->state.verbs = verbs_get_ctx(context);
	emu->state.page = (uint64_t)sysconf(_SC_PAGESIZE);
	emu->state.timeout_ns = opts->timeout_ns;
	error = rdmaez_impl_emu_begin(&emu->state, opts, diag);
	if (error)
		return error;
	pthread_mutex_init(&emu->state.mutex, NULL);
	emu->state.driver = rdmaez_impl_emu_driver(context->cmd_fd);
	rdmaez_impl_emu_install(&emu->state);
	return 0;
}

/* Checks that there is an emulation, and that it is attached. */
RDMAEZ_IMPL_COLD int rdmaez_impl_emu_check(const struct rdmaez_dm_emu *emu,
					   struct rdmaez_diag *diag)
{
	if (!emu)
		return rdmaez_impl_dm_null(diag, "emu");
	if (!rdmaez_impl_emu_is_ours(emu))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_DM_CLOSED, "emu");
	rdmaez_impl_diag_device(diag, emu->state.context);
	return 0;
}

RDMAEZ_API int rdmaez_dm_emu_detach(struct rdmaez_dm_emu *emu, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_emu_region *region;
	struct rdmaez_impl_emu *state;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_emu_detach");
	error = rdmaez_impl_emu_check(emu, diag);
	if (error)
		return error;
	state = &emu->state;
	if (state->objects)
		return rdmaez_impl_refuse(diag, EBUSY, RDMAEZ_WHY_DM_EMU_USED, "emu");
	state->verbs->alloc_dm = state->alloc_dm;
	state->verbs->free_dm = state->free_dm;
	state->verbs->reg_dm_mr = state->reg_dm_mr;
	state->verbs->query_device_ex = state->query_device_ex;
	state->verbs->_ABI_placeholder3 = 0;
	while ((region = state->regions) != NULL) {
		state->regions = region->next;
		free(region);
	}
	munmap(state->file, state->mapped);
	close(state->fd); /* which releases all locks */
	pthread_mutex_destroy(&state->mutex);
	state->magic = 0;
	return 0;
}

RDMAEZ_API bool rdmaez_dm_emu_is_attached(const struct ibv_context *context)
{
	return context && context->abi_compat == __VERBS_ABI_IS_EXTENDED &&
	       rdmaez_impl_emu_word(context);
}

RDMAEZ_API int rdmaez_dm_emu_fd(const struct rdmaez_dm_emu *emu)
{
	return emu && rdmaez_impl_emu_is_ours(emu) ? emu->state.fd : -1;
}

RDMAEZ_API int rdmaez_dm_emu_fail(struct rdmaez_dm_emu *emu, enum rdmaez_dm_emu_call call,
				  unsigned int nth, int error, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site which = {"call", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_NUMBER,
						      0, RDMAEZ_IMPL_EMU_CALLS - 1};
	static const struct rdmaez_impl_site what = {"error", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_NUMBER,
						     0, 0};
	struct rdmaez_impl_emu_fault *order;
	int refused;

	rdmaez_impl_diag_reset(diag, "rdmaez_dm_emu_fail");
	refused = rdmaez_impl_emu_check(emu, diag);
	if (refused)
		return refused;
	if ((unsigned int)call >= RDMAEZ_IMPL_EMU_CALLS)
		return rdmaez_impl_refuse_at(diag, EINVAL, &which, (int)call);
	if (error < 0 || (error == ENOENT && call == RDMAEZ_DM_EMU_FREE))
		return rdmaez_impl_refuse_within(diag, EINVAL, &what, error, 0,
						 error < 0 ? INT32_MAX : -1);
	order = &emu->state.fault[call];
	order->error = error;
	order->each = !nth;
	order->left = nth;
	return 0;
}

/* ---- Sharing: the functions of struct rdmaez_dm_share_ops -------------------------------------- */

RDMAEZ_IMPL int rdmaez_impl_emu_ops_fd(const struct ibv_context *context, void *arg)
{
	const struct rdmaez_dm_emu *emu = (const struct rdmaez_dm_emu *)arg;
	const int fd = rdmaez_dm_emu_fd(emu);

	return fd >= 0 && emu->state.context == context ? fd : -1;
}

/* Both processes are on one machine, so the device has the same name; dm_share.h compares the GUID. */
RDMAEZ_IMPL struct ibv_context *
rdmaez_impl_emu_ops_open(int fd, const struct rdmaez_dm_token *token, void *arg)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	int error = devices ? ENODEV : rdmaez_impl_error_of_null();
	struct ibv_context *context = NULL;
	struct rdmaez_dm_emu_opts opts;

	memset(&opts, 0, sizeof(opts));
	/* The token says that the memory is emulated, so it does not matter whether the device has its own. */
	opts.flags = RDMAEZ_DM_EMU_FORCE;
	opts.fd = rdmaez_exactly(fd);
	for (int i = 0; devices && devices[i] && !context; i++) {
		if (strcmp(ibv_get_device_name(devices[i]), token->device) != 0)
			continue;
		errno = 0;
		context = ibv_open_device(devices[i]);
		error = context ? 0 : rdmaez_impl_error_of_null();
	}
	if (devices)
		ibv_free_device_list(devices);
	if (!error)
		error = rdmaez_dm_emu_attach(context, &opts, (struct rdmaez_dm_emu *)arg, NULL);
	if (!error)
		return context;
	if (context)
		ibv_close_device(context);
	errno = error;
	return NULL;
}

RDMAEZ_IMPL int rdmaez_impl_emu_ops_close(struct ibv_context *context, void *arg)
{
	const int error = rdmaez_dm_emu_detach((struct rdmaez_dm_emu *)arg, NULL);

	errno = 0;
	return error ? error : rdmaez_impl_error(ibv_close_device(context));
}

RDMAEZ_IMPL struct ibv_dm *rdmaez_impl_emu_ops_import(struct ibv_context *context, uint32_t handle,
						      uint64_t timeout_ns, void *arg)
{
	struct rdmaez_dm_emu *emu = (struct rdmaez_dm_emu *)arg;
	int error = EINVAL;

	if (rdmaez_impl_emu_ops_fd(context, arg) >= 0)
		error = rdmaez_impl_emu_due(&emu->state, RDMAEZ_DM_EMU_IMPORT);
	if (!error)
		return rdmaez_impl_emu_new(&emu->state, 0, handle, timeout_ns);
	errno = error;
	return NULL;
}

/* Removes the object of this process. The memory itself may live on. */
RDMAEZ_IMPL void rdmaez_impl_emu_ops_unimport(struct ibv_dm *verbs)
{
	struct rdmaez_impl_emu_dm *dm = (struct rdmaez_impl_emu_dm *)(void *)verbs;
	struct rdmaez_impl_emu *emu = dm->emu;

	pthread_mutex_lock(&emu->mutex);
	rdmaez_impl_emu_prune(emu);
	rdmaez_impl_emu_drop(emu, dm);
	pthread_mutex_unlock(&emu->mutex);
}

RDMAEZ_API const struct rdmaez_dm_share_ops *rdmaez_dm_emu_ops(void)
{
	static const struct rdmaez_dm_share_ops ops = {
		rdmaez_impl_emu_ops_fd, rdmaez_impl_emu_ops_open, rdmaez_impl_emu_ops_close,
		rdmaez_impl_emu_ops_import, rdmaez_impl_emu_ops_unimport};

	return &ops;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
