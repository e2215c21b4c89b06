/* SPDX-License-Identifier: MIT */
/*
 * Device memory, by the rules of mlx5 and of the kernel. It does not stand on the emulation of dm_emu.h, because that is
 * tested on top of it, as on a device with memory of its own. The rules are written down in both places, from the same
 * source, so that a mistake in one of them shows: same_answers() in tests/unit/dm_emu.c compares the two.
 */
#include <sys/mman.h>

#include "fake_internal.h"

static void destroy_dm(struct fake_object *object)
{
	struct fake_dm *dm = fake_container(object, struct fake_dm, object);

	munmap(dm->bytes, dm->length);
}

/*
 * mlx5's test, whose sum wraps around, and which does not look at the host's address. What it lets through
 * that is outside is noted, not done: -1.
 */
static int check_copy(struct fake_call *call, struct fake_dm *dm, uint64_t offset, const void *host,
		      size_t length)
{
	call->arg.dm.offset = offset;
	call->arg.dm.length = length;
	call->arg.dm.host = host;
	if (call->error)
		return call->error;
	if (offset + length > dm->length)
		return EFAULT;
	if (offset % 4 || length % 4)
		return EINVAL;
	if (offset <= dm->length && length <= dm->length - offset &&
	    (!length || (host && (uintptr_t)host % 4 == 0)))
		return 0;
	fake_note_out_of_bounds();
	return -1;
}

static int memcpy_to_dm(struct ibv_dm *dm, uint64_t offset, const void *host, size_t length)
{
	struct fake_call *call = fake_enter(FAKE_MEMCPY_TO_DM, dm);
	int err = check_copy(call, fake_dm(dm), offset, host, length);

	if (!err && length)
		memcpy(fake_dm(dm)->bytes + offset, host, length);
	return fake_return(call, err < 0 ? 0 : err);
}

static int memcpy_from_dm(void *host, struct ibv_dm *dm, uint64_t offset, size_t length)
{
	struct fake_call *call = fake_enter(FAKE_MEMCPY_FROM_DM, dm);
	int err = check_copy(call, fake_dm(dm), offset, host, length);

	if (!err && length)
		memcpy(host, fake_dm(dm)->bytes + offset, length);
	return fake_return(call, err < 0 ? 0 : err);
}

struct ibv_dm *fake_new_dm(struct ibv_context *ctx, const struct fake_kernel_object *kept)
{
	struct fake_dm *dm = (struct fake_dm *)fake_object_new(sizeof(*dm), destroy_dm);

	dm->verbs.context = ctx;
	if (!(fake_dev(ctx)->quirks & FAKE_DM_NO_CPU)) {
		dm->verbs.memcpy_to_dm = memcpy_to_dm;
		dm->verbs.memcpy_from_dm = memcpy_from_dm;
	}
	dm->verbs.comp_mask = IBV_DM_MASK_HANDLE;
	dm->verbs.handle = kept->handle;
	dm->length = (size_t)kept->length;
	dm->bytes = fake_kernel_dm_map(ctx, kept);
	if (!dm->bytes)
		abort();
	return &dm->verbs;
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	struct fake_call *call = fake_enter(FAKE_ALLOC_DM, context);
	const struct fake_device *dev = fake_dev(context);
	struct fake_kernel_object *kept;
	int err = call->error;

	call->arg.alloc_dm = *attr;
	if (!err && (attr->comp_mask || !attr->length || attr->length > dev->attr.max_dm_size ||
		     attr->log_align_req > dev->dm_log_align))
		err = EINVAL;
	if (!err && dev->dm_size && attr->length > dev->dm_size - fake_kernel_dm_used(context))
		err = ENOMEM;
	if (err)
		return (struct ibv_dm *)fake_return_ptr(call, err, NULL);
	kept = fake_kernel_add(context, FAKE_KERNEL_DM);
	if (!kept)
		return (struct ibv_dm *)fake_return_ptr(call, ENOMEM, NULL);
	fake_kernel_dm_size(context, kept, attr->length);
	return (struct ibv_dm *)fake_return_ptr(call, 0, fake_new_dm(context, kept));
}

static int free_dm(struct ibv_dm *dm)
{
	struct fake_call *call = fake_enter(FAKE_FREE_DM, dm);
	struct fake_kernel_object *kept = fake_kernel_find(dm->context, FAKE_KERNEL_DM, dm->handle);
	int err = call->error;

	if (!err && !kept)
		err = ENOENT;
	if (!err && kept->users)
		err = EBUSY;
	if (!err) {
		fake_kernel_remove(kept);
		fake_object_free(&fake_dm(dm)->object);
	}
	return fake_return(call, err);
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
				size_t length, unsigned int access)
{
	const unsigned int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	/* What the kernel's driver takes; the optional bits pass all before it. */
	const unsigned int known =
		remote | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED;
	const bool blocks = fake_dev(pd->context)->quirks & FAKE_DM_BLOCKS;
	struct fake_call *call = fake_enter(FAKE_REG_DM_MR, pd);
	struct fake_kernel_object *kept, *memory;
	struct fake_mr *mr;
	int err = call->error;

	call->attr_mask = (int)access;
	call->arg.dm.offset = offset;
	call->arg.dm.length = length;
	/* The number is looked up in the domain's context, whatever context the memory is of. */
	memory = fake_kernel_find(pd->context, FAKE_KERNEL_DM, dm->handle);
	if (!err && (access & ~known & ~(unsigned int)IBV_ACCESS_OPTIONAL_RANGE))
		err = EINVAL;
	if (!err && !(access & IBV_ACCESS_ZERO_BASED))
		err = EINVAL;
	if (!err && !memory)
		err = ENOENT;
	if (!err && (access & remote) && !(access & IBV_ACCESS_LOCAL_WRITE))
		err = EINVAL;
	if (!err && (offset > memory->length || length > memory->length - offset))
		err = EINVAL;
	if (!err && ((access & ~known) || (blocks && (offset | length) % 64)))
		err = EINVAL;
	if (err)
		return (struct ibv_mr *)fake_return_ptr(call, err, NULL);
	kept = fake_kernel_add(pd->context, FAKE_KERNEL_MR);
	if (!kept)
		return (struct ibv_mr *)fake_return_ptr(call, ENOMEM, NULL);
	memory->users++;
	kept->dm = dm->handle;
	kept->length = length;
	mr = (struct fake_mr *)fake_object_new(sizeof(*mr), NULL);
	mr->verbs.context = pd->context;
	mr->verbs.pd = pd;
	mr->verbs.length = length;
	mr->verbs.handle = kept->handle;
	mr->verbs.lkey = kept->handle << 8;
	mr->verbs.rkey = mr->verbs.lkey;
	fake_pd(pd)->users++;
	return (struct ibv_mr *)fake_return_ptr(call, 0, &mr->verbs);
}

void fake_dm_ops(struct verbs_context *verbs)
{
	verbs->alloc_dm = alloc_dm;
	verbs->free_dm = free_dm;
	verbs->reg_dm_mr = reg_dm_mr;
}
