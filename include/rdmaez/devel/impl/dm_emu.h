/* SPDX-License-Identifier: MIT */
/* Bodies of dm_emu.h. */
#ifndef RDMAEZ_DEVEL_IMPL_DM_EMU_H
#define RDMAEZ_DEVEL_IMPL_DM_EMU_H

#include "../dm_emu.h"

#if RDMAEZ_IMPL_BODIES

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../impl/explain.h"
#include "../../impl/dm_token.h"
#include "../../impl/dm_hook.h"

#ifdef __cplusplus
extern "C" {
#endif

/* struct ibv_dm, and what mlx5 keeps behind it as well. */
struct rdmaez_impl_dm_emu_dm {
	struct ibv_dm verbs;
	uint32_t handle; /* that in struct ibv_dm came with rdma-core 35 */
	uint32_t slot;
	uint64_t length;
	uint8_t *bytes;
};

/* ---- Locks ------------------------------------------------------------------------------------- */

/*
 * The first byte's lock guards the file, byte 1 + m is held by member m while it lives. The kernel
 * releases both when the process ends, however it does, and so do its children that have the file open.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_flock(int fd, int command, int type, uint32_t byte)
{
	struct flock lock;
	int error;

	memset(&lock, 0, sizeof(lock));
	lock.l_type = (short)type;
	lock.l_whence = SEEK_SET;
	lock.l_start = (off_t)byte;
	lock.l_len = 1;
	do
		error = fcntl(fd, command, &lock) ? errno : 0;
	while (error == EINTR);
	if (!error && command == RDMAEZ_IMPL_DM_EMU_OFD_GETLK && lock.l_type != F_UNLCK)
		return EBUSY;
	return error;
}

RDMAEZ_IMPL_COLD void rdmaez_impl_dm_emu_lock(struct rdmaez_impl_dm_emu_state *emu)
{
	pthread_mutex_lock(&emu->mutex);
	rdmaez_impl_dm_emu_flock(emu->hook.fd, RDMAEZ_IMPL_DM_EMU_OFD_SETLKW, F_WRLCK, 0);
}

RDMAEZ_IMPL_COLD void rdmaez_impl_dm_emu_unlock(struct rdmaez_impl_dm_emu_state *emu)
{
	rdmaez_impl_dm_emu_flock(emu->hook.fd, RDMAEZ_IMPL_DM_EMU_OFD_SETLK, F_UNLCK, 0);
	pthread_mutex_unlock(&emu->mutex);
}

/* ---- Is a region still registered? ------------------------------------------------------------- */

/*
 * ibv_dereg_mr() passes us by, so the kernel is asked: its UVERBS_METHOD_QUERY_MR tells the keys of a
 * region by its handle. Numbers and layout are those of <rdma/ib_user_ioctl_cmds.h>.
 */
struct rdmaez_impl_dm_emu_attr {
	uint16_t id;
	uint16_t length;
	uint16_t flags;
	uint16_t reserved;
	uint64_t data;
};

struct rdmaez_impl_dm_emu_ask {
	uint16_t length;
	uint16_t object;
	uint16_t method;
	uint16_t attrs;
	uint64_t reserved1;
	uint32_t driver;
	uint32_t reserved2;
	struct rdmaez_impl_dm_emu_attr attr[4];
};

RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_query_mr(int fd, int driver, uint32_t handle,
						 uint32_t *lkey)
{
	static const uint16_t length[4] = {0, 4, 4, 8}; /* the handle, lkey, rkey, the length */
	struct rdmaez_impl_dm_emu_ask ask;
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
	/* RDMA_VERBS_IOCTL, whose size is that of the header alone. */
	if (ioctl(fd, _IOWR(0x1b, 1, uint64_t[3]), &ask))
		return errno;
	memcpy(lkey, &answer[1], sizeof(*lkey));
	return 0;
}

/* The kernel wants to hear the driver's number and does not tell it: only the right one gets ENOENT. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_driver(int fd)
{
	int error = EINVAL;
	uint32_t lkey;

	for (int driver = 0; driver < 64 && error == EINVAL; driver++) {
		error = rdmaez_impl_dm_emu_query_mr(fd, driver, UINT32_MAX, &lkey);
		if (error == ENOENT)
			return driver;
	}
	return -1;
}

RDMAEZ_IMPL_COLD bool rdmaez_impl_dm_emu_registered(const struct rdmaez_impl_dm_emu_state *emu,
						    const struct rdmaez_impl_dm_emu_ref *ref)
{
	uint32_t lkey;

	return emu->driver >= 0 &&
	       !rdmaez_impl_dm_emu_query_mr(emu->context->cmd_fd, emu->driver, ref->mr, &lkey) &&
	       lkey == ref->lkey;
}

/* ---- The directory; all of it under the lock --------------------------------------------------- */

/* What another process may change at any time is read once. */
RDMAEZ_IMPL uint64_t rdmaez_impl_dm_emu_get(const uint64_t *shared)
{
	return *(const volatile uint64_t *)shared;
}

/*
 * Reads a piece's place: whether it lies in the memory, in whole pages. A hostile peer can write here
 * what it likes, so that nothing becomes a pointer that has not been through this.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_dm_emu_place(const struct rdmaez_impl_dm_emu_state *emu,
					       uint32_t at, struct rdmaez_impl_dm_emu_slot *place)
{
	const struct rdmaez_impl_dm_emu_slot *slot = &emu->file->slot[at];

	memset(place, 0, sizeof(*place));
	place->offset = rdmaez_impl_dm_emu_get(&slot->offset);
	place->taken = rdmaez_impl_dm_emu_get(&slot->taken);
	place->length = rdmaez_impl_dm_emu_get(&slot->length);
	return place->taken <= emu->size && place->offset <= emu->size - place->taken &&
	       place->length <= place->taken && (place->offset | place->taken) % emu->page == 0;
}

/* Forgets a member that has ended, its uses and its being an owner. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_emu_bury(struct rdmaez_impl_dm_emu_file *file, uint32_t member)
{
	file->joined[member] = 0;
	for (int i = 0; i < RDMAEZ_IMPL_DM_EMU_REFS; i++)
		if (file->ref[i].member == member)
			file->ref[i].slot = 0;
	for (int i = 0; i < RDMAEZ_IMPL_DM_EMU_SLOTS; i++)
		if (file->slot[i].owner == member + 1)
			file->slot[i].owner = 0;
}

RDMAEZ_IMPL_COLD unsigned int rdmaez_impl_dm_emu_uses(const struct rdmaez_impl_dm_emu_file *file,
						      uint32_t slot, bool is_mr)
{
	unsigned int count = 0;

	for (int i = 0; i < RDMAEZ_IMPL_DM_EMU_REFS; i++)
		count += file->ref[i].slot == slot + 1 && (file->ref[i].is_mr != 0) == is_mr;
	return count;
}

/* Gives back what nobody can use any more: what is freed, or of nobody, and mapped nowhere. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_emu_collect(struct rdmaez_impl_dm_emu_file *file)
{
	for (uint32_t i = 0; i < RDMAEZ_IMPL_DM_EMU_SLOTS; i++) {
		struct rdmaez_impl_dm_emu_slot *slot = &file->slot[i];

		if (slot->taken && (!slot->handle || !slot->owner) &&
		    !rdmaez_impl_dm_emu_uses(file, i, false))
			memset(slot, 0, sizeof(*slot));
	}
}

/* Brings the directory up to date: members that have ended, regions that are deregistered. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_emu_update(struct rdmaez_impl_dm_emu_state *emu)
{
	struct rdmaez_impl_dm_emu_file *file = emu->file;

	for (uint32_t m = 0; m < RDMAEZ_IMPL_DM_EMU_MEMBERS; m++)
		if (file->joined[m] && m != emu->member &&
		    !rdmaez_impl_dm_emu_flock(emu->hook.fd, RDMAEZ_IMPL_DM_EMU_OFD_GETLK, F_WRLCK,
					      1 + m))
			rdmaez_impl_dm_emu_bury(file, m);
	for (int i = 0; i < RDMAEZ_IMPL_DM_EMU_REFS; i++) {
		struct rdmaez_impl_dm_emu_ref *ref = &file->ref[i];

		if (ref->slot && ref->is_mr && ref->member == emu->member &&
		    !rdmaez_impl_dm_emu_registered(emu, ref))
			ref->slot = 0;
	}
	rdmaez_impl_dm_emu_collect(file);
}

/* A new use of ours of a slot; NULL where there are too many. */
RDMAEZ_IMPL_COLD struct rdmaez_impl_dm_emu_ref *
rdmaez_impl_dm_emu_use(struct rdmaez_impl_dm_emu_state *emu, uint32_t slot)
{
	for (int i = 0; i < RDMAEZ_IMPL_DM_EMU_REFS; i++) {
		struct rdmaez_impl_dm_emu_ref *ref = &emu->file->ref[i];

		if (ref->slot)
			continue;
		memset(ref, 0, sizeof(*ref));
		ref->slot = slot + 1;
		ref->member = emu->member;
		return ref;
	}
	return NULL;
}

/* The end of one mapping of ours. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_emu_unuse(struct rdmaez_impl_dm_emu_state *emu, uint32_t slot)
{
	for (int i = 0; i < RDMAEZ_IMPL_DM_EMU_REFS; i++) {
		struct rdmaez_impl_dm_emu_ref *ref = &emu->file->ref[i];

		if (ref->slot != slot + 1 || ref->member != emu->member || ref->is_mr)
			continue;
		ref->slot = 0;
		break;
	}
	rdmaez_impl_dm_emu_collect(emu->file);
}

/* The slot of a handle, or the number of slots. */
RDMAEZ_IMPL_COLD uint32_t rdmaez_impl_dm_emu_find(const struct rdmaez_impl_dm_emu_file *file,
						  uint32_t handle)
{
	uint32_t i = 0;

	while (i < RDMAEZ_IMPL_DM_EMU_SLOTS &&
	       !(file->slot[i].taken && file->slot[i].handle == handle))
		i++;
	return handle ? i : RDMAEZ_IMPL_DM_EMU_SLOTS;
}

/* Where so many bytes are free: the lowest offset, or `size` where there is none. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_dm_emu_room(const struct rdmaez_impl_dm_emu_state *emu,
						  uint64_t bytes)
{
	struct rdmaez_impl_dm_emu_slot place;
	uint64_t at = 0;
	uint32_t i = 0;

	while (i < RDMAEZ_IMPL_DM_EMU_SLOTS && at <= emu->size - bytes)
		if (rdmaez_impl_dm_emu_place(emu, i++, &place) && place.taken &&
		    at < place.offset + place.taken && place.offset < at + bytes) {
			at = place.offset + place.taken;
			i = 0;
		}
	return at <= emu->size - bytes ? at : emu->size;
}

/* ---- The verbs --------------------------------------------------------------------------------- */

RDMAEZ_IMPL struct rdmaez_impl_dm_emu_state *
rdmaez_impl_dm_emu_of(const struct ibv_context *context)
{
	return (struct rdmaez_impl_dm_emu_state *)rdmaez_impl_dm_slot(context);
}

/*
 * Several threads may copy at once, also to the same place. Words are volatile so that they stay
 * single words, and atomic so that this is no data race. An unknown compiler is trusted with the first.
 */
#if defined(__GNUC__) && !defined(__TINYC__)
RDMAEZ_IMPL void rdmaez_impl_dm_emu_store(volatile uint32_t *to, uint32_t word)
{
	__atomic_store_n(to, word, __ATOMIC_RELAXED);
}

RDMAEZ_IMPL uint32_t rdmaez_impl_dm_emu_load(const volatile uint32_t *from)
{
	return __atomic_load_n(from, __ATOMIC_RELAXED);
}

/* Counts down to 0 and no further; returns what there was. */
RDMAEZ_IMPL unsigned int rdmaez_impl_dm_emu_countdown(unsigned int *left)
{
	unsigned int was = __atomic_load_n(left, __ATOMIC_RELAXED);

	while (was && !__atomic_compare_exchange_n(left, &was, was - 1, false, __ATOMIC_RELAXED,
						   __ATOMIC_RELAXED))
		;
	return was;
}
#else
RDMAEZ_IMPL void rdmaez_impl_dm_emu_store(volatile uint32_t *to, uint32_t word)
{
	*to = word;
}

RDMAEZ_IMPL uint32_t rdmaez_impl_dm_emu_load(const volatile uint32_t *from)
{
	return *from;
}

RDMAEZ_IMPL unsigned int rdmaez_impl_dm_emu_countdown(unsigned int *left)
{
	return *left ? (*left)-- : 0;
}
#endif

/* The failure that was asked for, 0: none. */
RDMAEZ_IMPL int rdmaez_impl_dm_emu_fault(struct rdmaez_impl_dm_emu_state *emu, int call)
{
	const int error = emu->fault[call].error;

	if (!error || emu->fault[call].each)
		return error;
	return rdmaez_impl_dm_emu_countdown(&emu->fault[call].left) == 1 ? error : 0;
}

/* mlx5 asks in this order. Of the host's pointer it takes for granted that it is aligned. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_copy_check(struct ibv_dm *verbs, int call, uint64_t offset,
						   size_t length)
{
	const struct rdmaez_impl_dm_emu_dm *dm =
		(const struct rdmaez_impl_dm_emu_dm *)(const void *)verbs;
	const int error = rdmaez_impl_dm_emu_fault(rdmaez_impl_dm_emu_of(verbs->context), call);

	if (error)
		return error;
	if (offset > dm->length || length > dm->length - offset)
		return EFAULT;
	return offset % 4 || length % 4 ? EINVAL : 0;
}

/* Word by word, as a device's memory is written: no byte is seen before its word is. */
RDMAEZ_IMPL int rdmaez_impl_dm_emu_copy_to(struct ibv_dm *verbs, uint64_t offset, const void *host,
					   size_t length)
{
	struct rdmaez_impl_dm_emu_dm *dm = (struct rdmaez_impl_dm_emu_dm *)(void *)verbs;
	const int error =
		rdmaez_impl_dm_emu_copy_check(verbs, RDMAEZ_DM_EMU_COPY_TO, offset, length);
	volatile uint32_t *to;
	uint32_t word;

	if (error)
		return error;
	to = (volatile uint32_t *)(void *)(dm->bytes + offset);
	for (size_t i = 0; i < length / 4; i++) {
		memcpy(&word, (const char *)host + 4 * i, 4);
		rdmaez_impl_dm_emu_store(&to[i], word);
	}
	return 0;
}

RDMAEZ_IMPL int rdmaez_impl_dm_emu_copy_from(void *host, struct ibv_dm *verbs, uint64_t offset,
					     size_t length)
{
	struct rdmaez_impl_dm_emu_dm *dm = (struct rdmaez_impl_dm_emu_dm *)(void *)verbs;
	const int error =
		rdmaez_impl_dm_emu_copy_check(verbs, RDMAEZ_DM_EMU_COPY_FROM, offset, length);
	const volatile uint32_t *from;
	uint32_t word;

	if (error)
		return error;
	from = (const volatile uint32_t *)(void *)(dm->bytes + offset);
	for (size_t i = 0; i < length / 4; i++) {
		word = rdmaez_impl_dm_emu_load(&from[i]);
		memcpy((char *)host + 4 * i, &word, 4);
	}
	return 0;
}

/* The program's own object for a slot that it uses; EBADF, and no use, where that is spoilt. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_fill(struct rdmaez_impl_dm_emu_state *emu, uint32_t at,
					     uint32_t handle, bool allocated,
					     struct rdmaez_impl_dm_emu_dm *dm)
{
	/* Where rdma-core 35 put the handle; before that there is padding, or dm->handle itself. */
	const size_t handle_at = offsetof(struct ibv_dm, comp_mask) + sizeof(uint32_t);
	struct rdmaez_impl_dm_emu_slot place;

	if (!rdmaez_impl_dm_emu_place(emu, at, &place)) {
		rdmaez_impl_dm_emu_unuse(emu, at);
		return EBADF;
	}
	dm->slot = at;
	dm->length = place.length;
	dm->bytes = (uint8_t *)emu->file + emu->start + place.offset;
	dm->verbs.context = emu->context;
	dm->verbs.memcpy_to_dm = rdmaez_impl_dm_emu_copy_to;
	dm->verbs.memcpy_from_dm = rdmaez_impl_dm_emu_copy_from;
	dm->verbs.comp_mask =
		allocated ? 1 : 0; /* IBV_DM_MASK_HANDLE, which importing leaves out */
	memcpy((char *)dm + handle_at, &handle, sizeof(handle));
	dm->handle = handle;
	return 0;
}

/* Takes a slot and the bytes; 0 or ENOMEM. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_take(struct rdmaez_impl_dm_emu_state *emu, size_t length,
					     uint32_t *taken, uint32_t *handle)
{
	struct rdmaez_impl_dm_emu_file *file = emu->file;
	/* As of the real thing: each takes whole pages, so that no process maps what is another's. */
	const uint64_t bytes = (length + emu->page - 1) / emu->page * emu->page;
	const uint64_t offset = rdmaez_impl_dm_emu_room(emu, bytes);
	uint32_t i = 0;

	while (i < RDMAEZ_IMPL_DM_EMU_SLOTS && file->slot[i].taken)
		i++;
	if (offset == emu->size || i == RDMAEZ_IMPL_DM_EMU_SLOTS || !rdmaez_impl_dm_emu_use(emu, i))
		return ENOMEM;
	file->slot[i].offset = offset;
	file->slot[i].taken = bytes;
	file->slot[i].length = length;
	*handle = ++file->last_handle;
	file->slot[i].handle = *handle;
	file->slot[i].owner = emu->member + 1;
	*taken = i;
	return 0;
}

RDMAEZ_IMPL struct ibv_dm *rdmaez_impl_dm_emu_alloc(struct ibv_context *context,
						    struct ibv_alloc_dm_attr *attr)
{
	struct rdmaez_impl_dm_emu_state *emu = rdmaez_impl_dm_emu_of(context);
	int error = rdmaez_impl_dm_emu_fault(emu, RDMAEZ_DM_EMU_ALLOC);
	struct rdmaez_impl_dm_emu_dm *dm;
	uint32_t slot, handle;

	if (!error && (attr->comp_mask || !attr->length || attr->length > emu->max_alloc ||
		       attr->log_align_req > RDMAEZ_IMPL_DM_EMU_MAX_LOG_ALIGN))
		error = EINVAL;
	dm = error ? NULL : (struct rdmaez_impl_dm_emu_dm *)calloc(1, sizeof(*dm));
	if (!dm) {
		errno = error ? error : ENOMEM;
		return NULL;
	}
	rdmaez_impl_dm_emu_lock(emu);
	rdmaez_impl_dm_emu_update(emu);
	error = rdmaez_impl_dm_emu_take(emu, attr->length, &slot, &handle);
	if (!error)
		error = rdmaez_impl_dm_emu_fill(emu, slot, handle, true, dm);
	rdmaez_impl_dm_emu_unlock(emu);
	if (!error)
		return &dm->verbs;
	free(dm);
	errno = error;
	return NULL;
}

/* Ends the object of this process; what it stood for may live on. */
RDMAEZ_IMPL void rdmaez_impl_dm_emu_unimport(struct ibv_dm *verbs)
{
	struct rdmaez_impl_dm_emu_state *emu = rdmaez_impl_dm_emu_of(verbs->context);
	struct rdmaez_impl_dm_emu_dm *dm = (struct rdmaez_impl_dm_emu_dm *)(void *)verbs;

	rdmaez_impl_dm_emu_lock(emu);
	rdmaez_impl_dm_emu_update(emu);
	rdmaez_impl_dm_emu_unuse(emu, dm->slot);
	rdmaez_impl_dm_emu_unlock(emu);
	free(dm);
}

/* As in mlx5, the object stays where the device refuses: it can be tried again. */
RDMAEZ_IMPL int rdmaez_impl_dm_emu_free(struct ibv_dm *verbs)
{
	struct rdmaez_impl_dm_emu_state *emu = rdmaez_impl_dm_emu_of(verbs->context);
	struct rdmaez_impl_dm_emu_dm *dm = (struct rdmaez_impl_dm_emu_dm *)(void *)verbs;
	int error = rdmaez_impl_dm_emu_fault(emu, RDMAEZ_DM_EMU_FREE);

	if (error)
		return error;
	rdmaez_impl_dm_emu_lock(emu);
	rdmaez_impl_dm_emu_update(emu);
	if (rdmaez_impl_dm_emu_find(emu->file, dm->handle) != dm->slot)
		error = ENOENT; /* someone else who has it was faster */
	else if (rdmaez_impl_dm_emu_uses(emu->file, dm->slot, true))
		error = EBUSY;
	if (!error) {
		emu->file->slot[dm->slot].handle = 0;
		rdmaez_impl_dm_emu_unuse(emu, dm->slot);
	}
	rdmaez_impl_dm_emu_unlock(emu);
	if (!error)
		free(dm);
	return error;
}

/* What stands in for ibv_import_dm(). */
RDMAEZ_IMPL int rdmaez_impl_dm_emu_import(struct ibv_context *context, uint32_t handle,
					  struct ibv_dm **imported)
{
	struct rdmaez_impl_dm_emu_state *emu = rdmaez_impl_dm_emu_of(context);
	int error = rdmaez_impl_dm_emu_fault(emu, RDMAEZ_DM_EMU_IMPORT);
	struct rdmaez_impl_dm_emu_dm *dm;
	uint32_t slot;

	if (error)
		return error;
	dm = (struct rdmaez_impl_dm_emu_dm *)calloc(1, sizeof(*dm));
	if (!dm)
		return ENOMEM;
	rdmaez_impl_dm_emu_lock(emu);
	rdmaez_impl_dm_emu_update(emu);
	slot = rdmaez_impl_dm_emu_find(emu->file, handle);
	if (slot == RDMAEZ_IMPL_DM_EMU_SLOTS)
		error = ENOENT;
	else if (!rdmaez_impl_dm_emu_use(emu, slot))
		error = ENOMEM;
	else
		error = rdmaez_impl_dm_emu_fill(emu, slot, handle, false, dm);
	rdmaez_impl_dm_emu_unlock(emu);
	if (error)
		free(dm);
	else
		*imported = &dm->verbs;
	return error;
}

/* mlx5 takes five flags, and the kernel two rules: 0 or EINVAL. */
RDMAEZ_IMPL int rdmaez_impl_dm_emu_check_access(unsigned int access)
{
	const unsigned int taken = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
				   IBV_ACCESS_ZERO_BASED;
	const unsigned int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

	if (access & ~taken || !(access & IBV_ACCESS_ZERO_BASED))
		return EINVAL;
	return (access & remote) && !(access & IBV_ACCESS_LOCAL_WRITE) ? EINVAL : 0;
}

/* A region of the host's memory, made to look like one of the device's. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_reg_bytes(struct rdmaez_impl_dm_emu_state *emu,
						  struct ibv_pd *pd,
						  struct rdmaez_impl_dm_emu_dm *dm, uint64_t offset,
						  size_t length, unsigned int access,
						  struct ibv_mr **mr)
{
	struct rdmaez_impl_dm_emu_ref *ref;
	int error;

	if (rdmaez_impl_dm_emu_find(emu->file, dm->handle) != dm->slot)
		return ENOENT;
	ref = rdmaez_impl_dm_emu_use(emu, dm->slot);
	if (!ref)
		return ENOMEM;
	errno = 0;
	*mr = ibv_reg_mr_iova(pd, dm->bytes + offset, length, 0,
			      access & ~(unsigned int)IBV_ACCESS_ZERO_BASED);
	if (!*mr) {
		error = rdmaez_impl_error_of_null();
		ref->slot = 0;
		return error;
	}
	ref->is_mr = 1;
	ref->mr = (*mr)->handle;
	ref->lkey = (*mr)->lkey;
	(*mr)->addr = NULL; /* no address of the host's leads there */
	return 0;
}

RDMAEZ_IMPL struct ibv_mr *rdmaez_impl_dm_emu_reg(struct ibv_pd *pd, struct ibv_dm *verbs,
						  uint64_t offset, size_t length,
						  unsigned int access)
{
	struct rdmaez_impl_dm_emu_state *emu = rdmaez_impl_dm_emu_of(pd->context);
	struct rdmaez_impl_dm_emu_dm *dm = (struct rdmaez_impl_dm_emu_dm *)(void *)verbs;
	int error = rdmaez_impl_dm_emu_fault(emu, RDMAEZ_DM_EMU_REG);
	struct ibv_mr *mr = NULL;

	if (!error)
		error = rdmaez_impl_dm_emu_check_access(access);
	/* The kernel looks the handle up among those of the protection domain's file. */
	if (!error && pd->context != verbs->context)
		error = ENOENT;
	if (!error && (offset > dm->length || length > dm->length - offset || !length))
		error = EINVAL;
	/* Where mlx5 has a translation of its own, the kernel has the processor's pages. */
	if (!error && offset % emu->page)
		error = EOPNOTSUPP;
	if (!error) {
		rdmaez_impl_dm_emu_lock(emu);
		rdmaez_impl_dm_emu_update(emu);
		error = rdmaez_impl_dm_emu_reg_bytes(emu, pd, dm, offset, length, access, &mr);
		rdmaez_impl_dm_emu_unlock(emu);
	}
	if (error)
		errno = error;
	return mr;
}

/* Adds max_dm_size to what the device says of itself. */
RDMAEZ_IMPL int rdmaez_impl_dm_emu_query(struct ibv_context *context,
					 const struct ibv_query_device_ex_input *input,
					 struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct rdmaez_impl_dm_emu_state *emu = rdmaez_impl_dm_emu_of(context);
	const size_t end =
		offsetof(struct ibv_device_attr_ex, max_dm_size) + sizeof(emu->max_alloc);
	int error = rdmaez_impl_dm_emu_fault(emu, RDMAEZ_DM_EMU_QUERY);

	if (error)
		return error;
	error = emu->query_device_ex ? emu->query_device_ex(context, input, attr, attr_size)
				     : EOPNOTSUPP;
	/* For these libibverbs falls back to the older verb, which has no room for the number. */
	if ((error == EOPNOTSUPP || error == ENOSYS) && attr_size >= end) {
		memset(attr, 0, attr_size);
		error = ibv_query_device(context, &attr->orig_attr);
	}
	if (!error && attr_size >= end)
		attr->max_dm_size = emu->max_alloc;
	return error;
}

/* ---- Attaching --------------------------------------------------------------------------------- */

/* memfd_create() and ftruncate() hide from a program in strict C11. */
extern long rdmaez_impl_dm_emu_syscall(long number, ...) __asm__("syscall");

/*
 * Another opening of the same file, for locks of our own; -1 where it is none to open. To open any other
 * thing that a peer sends may have effects, and a file that a peer can cut would end us by SIGBUS. Only
 * a file in memory has seals, so that to ask for them settles both.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_reopen(int fd)
{
	const int seals = fcntl(fd, RDMAEZ_IMPL_DM_EMU_GET_SEALS);
	char path[32] = "/proc/self/fd/";
	size_t at = strlen(path);
	int scale = 1;

	if (seals < 0 || !(seals & RDMAEZ_IMPL_DM_EMU_SHRINK))
		return -1;
	while (fd / scale >= 10)
		scale *= 10;
	for (; scale; scale /= 10)
		path[at++] = (char)('0' + fd / scale % 10);
	path[at] = '\0';
	fd = open(path, O_RDWR);
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC); /* O_CLOEXEC hides from strict C11, too */
	return fd;
}

/* Whether the file is what it should be, its header fitting its size; keeps the numbers. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_dm_emu_adopt(struct rdmaez_impl_dm_emu_state *emu)
{
	const struct rdmaez_impl_dm_emu_file *file = emu->file;

	emu->start = rdmaez_impl_dm_emu_get(&file->start);
	emu->size = rdmaez_impl_dm_emu_get(&file->size);
	emu->max_alloc = rdmaez_impl_dm_emu_get(&file->max_alloc);
	return file->magic == RDMAEZ_IMPL_DM_EMU_FILE_MAGIC && file->layout == sizeof(*file) &&
	       emu->start >= sizeof(*file) && emu->start <= emu->mapped &&
	       emu->size == emu->mapped - emu->start && emu->max_alloc <= emu->size &&
	       (emu->start | emu->size) % emu->page == 0;
}

RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_map(struct rdmaez_impl_dm_emu_state *emu)
{
	struct stat about;
	void *mapped;

	if (fstat(emu->hook.fd, &about))
		return errno;
	if (about.st_size < (off_t)sizeof(*emu->file))
		return EBADF;
	emu->mapped = (size_t)about.st_size;
	mapped = mmap(NULL, emu->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, emu->hook.fd, 0);
	if (mapped == MAP_FAILED)
		return errno;
	emu->file = (struct rdmaez_impl_dm_emu_file *)mapped;
	return 0;
}

/* New memory: a file without a name, which nobody can cut under our feet. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_create(struct rdmaez_impl_dm_emu_state *emu, size_t size,
					       size_t max_alloc)
{
	const size_t page = (size_t)emu->page;
	const size_t start = (sizeof(*emu->file) + page - 1) / page * page;
	int error;

	emu->hook.fd = (int)rdmaez_impl_dm_emu_syscall(SYS_memfd_create, "rdmaez-dm",
						       RDMAEZ_IMPL_DM_EMU_MEMFD);
	if (emu->hook.fd < 0)
		return errno;
	error = rdmaez_impl_dm_emu_syscall(SYS_ftruncate, emu->hook.fd, start + size) ||
				fcntl(emu->hook.fd, RDMAEZ_IMPL_DM_EMU_ADD_SEALS,
				      RDMAEZ_IMPL_DM_EMU_SEALS)
			? errno
			: rdmaez_impl_dm_emu_map(emu);
	if (error) {
		close(emu->hook.fd);
		return error;
	}
	emu->file->layout = sizeof(*emu->file);
	emu->file->start = start;
	emu->file->size = size;
	emu->file->max_alloc = max_alloc;
	emu->file->magic = RDMAEZ_IMPL_DM_EMU_FILE_MAGIC;
	rdmaez_impl_dm_emu_adopt(emu);
	return 0;
}

RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_share(struct rdmaez_impl_dm_emu_state *emu, int fd)
{
	int error;

	if (fd < 0)
		return EBADF;
	emu->hook.fd = rdmaez_impl_dm_emu_reopen(fd);
	if (emu->hook.fd < 0)
		return EBADF;
	error = rdmaez_impl_dm_emu_map(emu);
	if (!error && !rdmaez_impl_dm_emu_adopt(emu)) {
		munmap(emu->file, emu->mapped);
		error = EBADF;
	}
	if (error)
		close(emu->hook.fd);
	return error;
}

/* Becomes a member; ENOSPC where there are too many. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_join(struct rdmaez_impl_dm_emu_state *emu)
{
	uint32_t m = 0;
	int error = ENOSPC;

	emu->member = RDMAEZ_IMPL_DM_EMU_MEMBERS; /* none yet: all others are asked */
	rdmaez_impl_dm_emu_lock(emu);
	rdmaez_impl_dm_emu_update(emu);
	while (m < RDMAEZ_IMPL_DM_EMU_MEMBERS && emu->file->joined[m])
		m++;
	if (m < RDMAEZ_IMPL_DM_EMU_MEMBERS)
		error = rdmaez_impl_dm_emu_flock(emu->hook.fd, RDMAEZ_IMPL_DM_EMU_OFD_SETLK,
						 F_WRLCK, 1 + m);
	if (!error) {
		emu->file->joined[m] = 1;
		emu->member = m;
	}
	rdmaez_impl_dm_emu_unlock(emu);
	return error;
}

/* The memory goes, with the lock that said that we live. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_emu_end(struct rdmaez_impl_dm_emu_state *emu)
{
	munmap(emu->file, emu->mapped);
	close(emu->hook.fd);
	pthread_mutex_destroy(&emu->mutex);
	emu->hook.magic = 0;
}

/* Puts our verbs in the place of the device's. */
RDMAEZ_IMPL_COLD void rdmaez_impl_dm_emu_install(struct rdmaez_impl_dm_emu_state *emu,
						 struct verbs_context *verbs)
{
	emu->alloc_dm = verbs->alloc_dm;
	emu->free_dm = verbs->free_dm;
	emu->reg_dm_mr = verbs->reg_dm_mr;
	emu->query_device_ex = verbs->query_device_ex;
	emu->hook.magic = RDMAEZ_IMPL_DM_HOOK_MAGIC;
	emu->hook.import = rdmaez_impl_dm_emu_import;
	emu->hook.unimport = rdmaez_impl_dm_emu_unimport;
	rdmaez_impl_dm_slot_set(&verbs->context, emu);
	verbs->alloc_dm = rdmaez_impl_dm_emu_alloc;
	verbs->free_dm = rdmaez_impl_dm_emu_free;
	verbs->reg_dm_mr = rdmaez_impl_dm_emu_reg;
	verbs->query_device_ex = rdmaez_impl_dm_emu_query;
}

/* The sizes of new memory, or what is wrong with them, before anything is made. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_sizes(const struct rdmaez_dm_emu_opts *opts, size_t page,
					      size_t *size, size_t *max_alloc,
					      struct rdmaez_diag *diag)
{
	const size_t most = SIZE_MAX / 4;

	*size = opts->size ? opts->size : 256 * 1024;
	if (*size > most)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_RANGE, "opts.size",
						RDMAEZ_VALUE_BYTES, (int64_t)*size, 1,
						(int64_t)most);
	*size = (*size + page - 1) / page * page;
	*max_alloc = opts->max_alloc ? opts->max_alloc : *size;
	if (*max_alloc > *size)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_RANGE, "opts.max_alloc",
						RDMAEZ_VALUE_BYTES, (int64_t)*max_alloc, 1,
						(int64_t)*size);
	return 0;
}

/* Whether it is attached now, to whichever context. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_dm_emu_is_live(const struct rdmaez_impl_dm_emu_state *emu)
{
	return emu->hook.magic == RDMAEZ_IMPL_DM_HOOK_MAGIC &&
	       rdmaez_impl_dm_hook_of(emu->context) == &emu->hook;
}

/* Whether a context is one to attach to, by these flags: 0, or the errno value of the refusal. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_check_context(struct ibv_context *context, int flags,
						      struct rdmaez_diag *diag)
{
	/* Of the pointers that are replaced this one comes first in the struct, so it is the last
	 * that an old libibverbs got. */
	struct verbs_context *verbs = verbs_get_ctx(context);
	const size_t needed = sizeof(*verbs) - offsetof(struct verbs_context, reg_dm_mr);
	struct ibv_device_attr_ex device;

	if (flags & ~RDMAEZ_DM_EMU_FORCE)
		return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_OPTION_UNKNOWN,
						"opts.flags", RDMAEZ_VALUE_FLAGS,
						flags & ~RDMAEZ_DM_EMU_FORCE, 0, flags);
	if (!verbs || verbs->sz < needed)
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED, "context");
	if (rdmaez_impl_dm_hook_of(context))
		return rdmaez_impl_refuse(diag, EBUSY, RDMAEZ_WHY_DM_EMU_ATTACHED, "context");
	if (flags & RDMAEZ_DM_EMU_FORCE || ibv_query_device_ex(context, NULL, &device) ||
	    !device.max_dm_size)
		return 0;
	return rdmaez_impl_refuse_value(diag, EEXIST, RDMAEZ_WHY_DM_EMU_REAL, "max_dm_size",
					RDMAEZ_VALUE_BYTES, (int64_t)device.max_dm_size, 0, 0);
}

/* After a failure: a wrong descriptor, or what the errno says. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_failed(int error, struct rdmaez_diag *diag)
{
	if (error == EBADF)
		return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_DM_EMU_FD, "opts.fd");
	if (diag) {
		diag->error = error;
		rdmaez_impl_explain_errno(diag, "opts.size", error);
	}
	return error;
}

/* Makes the memory, or finds it, and becomes a member. */
RDMAEZ_IMPL_COLD int rdmaez_impl_dm_emu_begin(struct ibv_context *context,
					      const struct rdmaez_dm_emu_opts *opts,
					      struct rdmaez_impl_dm_emu_state *emu,
					      struct rdmaez_diag *diag)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size, max_alloc;
	int error;

	memset(emu, 0, sizeof(*emu));
	emu->context = context;
	emu->page = page;
	if (opts->fd) {
		error = rdmaez_impl_dm_emu_share(emu, (int)rdmaez_impl_option(opts->fd, 0));
	} else {
		error = rdmaez_impl_dm_emu_sizes(opts, page, &size, &max_alloc, diag);
		if (error)
			return error;
		error = rdmaez_impl_dm_emu_create(emu, size, max_alloc);
	}
	if (error)
		return rdmaez_impl_dm_emu_failed(error, diag);
	pthread_mutex_init(&emu->mutex, NULL);
	emu->driver = rdmaez_impl_dm_emu_driver(context->cmd_fd);
	error = rdmaez_impl_dm_emu_join(emu);
	if (!error)
		return 0;
	rdmaez_impl_dm_emu_end(emu);
	return rdmaez_impl_dm_emu_failed(error, diag);
}

RDMAEZ_API int rdmaez_dm_emu_attach(struct ibv_context *context,
				    const struct rdmaez_dm_emu_opts *opts,
				    struct rdmaez_dm_emu *emu, struct rdmaez_diag *diag)
{
	struct rdmaez_dm_emu_opts zero;
	const bool live = emu && rdmaez_impl_dm_emu_is_live(&emu->state);
	int error;

	memset(&zero, 0, sizeof(zero));
	opts = opts ? opts : &zero;
	rdmaez_impl_diag_reset(diag, "rdmaez_dm_emu_attach");
	if (emu && !live)
		emu->state.hook.magic = 0; /* whatever is refused: there is nothing to detach */
	if (!context || !emu)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  context ? "emu" : "context");
	rdmaez_impl_diag_device(diag, context);
	if (live)
		return rdmaez_impl_refuse(diag, EBUSY, RDMAEZ_WHY_DM_EMU_ATTACHED, "emu");
	error = rdmaez_impl_dm_emu_check_context(context, opts->flags, diag);
	if (!error)
		error = rdmaez_impl_dm_emu_begin(context, opts, &emu->state, diag);
	if (!error)
		rdmaez_impl_dm_emu_install(&emu->state, verbs_get_ctx(context));
	return error;
}

RDMAEZ_API int rdmaez_dm_emu_detach(struct rdmaez_dm_emu *emu)
{
	struct rdmaez_impl_dm_emu_state *state;
	struct verbs_context *verbs;
	bool used = false;

	if (!emu || emu->state.hook.magic != RDMAEZ_IMPL_DM_HOOK_MAGIC)
		return EINVAL;
	state = &emu->state;
	verbs = verbs_get_ctx(state->context);
	rdmaez_impl_dm_emu_lock(state);
	for (int i = 0; i < RDMAEZ_IMPL_DM_EMU_REFS; i++)
		if (state->file->ref[i].slot && state->file->ref[i].member == state->member)
			used = used || !state->file->ref[i].is_mr;
	if (!used) {
		rdmaez_impl_dm_emu_bury(state->file, state->member);
		rdmaez_impl_dm_emu_collect(state->file);
	}
	rdmaez_impl_dm_emu_unlock(state);
	if (used)
		return EBUSY;
	verbs->alloc_dm = state->alloc_dm;
	verbs->free_dm = state->free_dm;
	verbs->reg_dm_mr = state->reg_dm_mr;
	verbs->query_device_ex = state->query_device_ex;
	rdmaez_impl_dm_slot_set(state->context, NULL);
	rdmaez_impl_dm_emu_end(state);
	return 0;
}

RDMAEZ_API bool rdmaez_dm_emu_is_attached(const struct ibv_context *context)
{
	return context && rdmaez_impl_dm_hook_of(context);
}

RDMAEZ_API int rdmaez_dm_emu_fd(const struct rdmaez_dm_emu *emu)
{
	return emu && emu->state.hook.magic == RDMAEZ_IMPL_DM_HOOK_MAGIC ? emu->state.hook.fd : -1;
}

RDMAEZ_API int rdmaez_dm_emu_fail(struct rdmaez_dm_emu *emu, enum rdmaez_dm_emu_call call,
				  unsigned int nth, int error)
{
	if (rdmaez_dm_emu_fd(emu) < 0 || (unsigned int)call >= RDMAEZ_IMPL_DM_EMU_CALLS ||
	    error < 0)
		return EINVAL;
	emu->state.fault[call].error = error;
	emu->state.fault[call].each = !nth;
	emu->state.fault[call].left = nth;
	return 0;
}

/* Whether a device is the token's: by the GUID, and by the name where it has none. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_dm_emu_is_device(struct ibv_device *device,
						   const struct rdmaez_dm_token *token)
{
	const __be64 guid = ibv_get_device_guid(device);
	uint8_t bytes[sizeof(guid)];
	const uint8_t *at = bytes;

	memcpy(bytes, &guid, sizeof(bytes));
	if (token->device_guid)
		return rdmaez_impl_dm_get(&at, sizeof(bytes)) == token->device_guid;
	return strcmp(ibv_get_device_name(device), token->device) == 0;
}

RDMAEZ_API struct ibv_context *rdmaez_dm_emu_open(int fd, const struct rdmaez_dm_token *token,
						  void *arg)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	struct rdmaez_dm_emu_opts opts;
	int error = devices ? ENODEV : rdmaez_impl_error_of_null();

	for (int i = 0; error == ENODEV && devices && devices[i]; i++) {
		if (!rdmaez_impl_dm_emu_is_device(devices[i], token))
			continue;
		errno = 0;
		context = ibv_open_device(devices[i]);
		error = context ? 0 : rdmaez_impl_error_of_null();
	}
	if (devices)
		ibv_free_device_list(devices);
	if (!error) {
		memset(&opts, 0, sizeof(opts));
		/* The memory is emulated, the token says: whether the device has its own is no matter. */
		opts.flags = RDMAEZ_DM_EMU_FORCE;
		opts.fd = rdmaez_exactly(fd);
		error = rdmaez_dm_emu_attach(context, &opts, (struct rdmaez_dm_emu *)arg, NULL);
		if (error)
			ibv_close_device(context);
	}
	errno = error ? error : errno;
	return error ? NULL : context;
}

RDMAEZ_API int rdmaez_dm_emu_close(struct ibv_context *context, void *arg)
{
	const int error = rdmaez_dm_emu_detach((struct rdmaez_dm_emu *)arg);

	errno = 0;
	return error ? error : rdmaez_impl_error(ibv_close_device(context));
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
