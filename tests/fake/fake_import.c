/* SPDX-License-Identifier: MIT */
/*
 * What the kernel keeps of an open device file, and the import of it by whoever has the file.
 *
 * The kernel has a table of objects per open file, and a process that gets the descriptor uses the same
 * table. Here the file is a memfd that holds the table and the bytes of device memory, so it passes
 * through a socket as the real one does, stays when its maker ends, and is gone with its last
 * descriptor. Only domains, regions and device memory are in it: nothing else can be imported.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_internal.h"

enum {
	MAX_OBJECTS = 64,
	TABLE_BYTES = 1 << 16,
};

struct fake_file {
	char magic[8];
	char device[IBV_SYSFS_NAME_MAX];
	uint32_t handles; /* given out so far; a number is never used twice, unlike in the kernel */
	struct fake_kernel_object object[MAX_OBJECTS];
};

static const char magic[8] = "rdmafak";

static struct fake_context *fake_ctx(struct ibv_context *ctx)
{
	return fake_container(ctx, struct fake_context, verbs.context);
}

static struct fake_file *map_file(int fd)
{
	void *file = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return file == MAP_FAILED ? NULL : (struct fake_file *)file;
}

/* The table of a context; made when the device has device memory and someone asks for the first time. */
static struct fake_file *file_of(struct ibv_context *ctx)
{
	struct fake_context *context = fake_ctx(ctx);

	if (context->file || !context->dev->attr.max_dm_size)
		return context->file;
	ctx->cmd_fd = memfd_create("fake uverbs", MFD_CLOEXEC);
	if (ctx->cmd_fd < 0 || ftruncate(ctx->cmd_fd, TABLE_BYTES))
		abort();
	context->file = map_file(ctx->cmd_fd);
	if (!context->file)
		abort();
	memcpy(context->file->magic, magic, sizeof(magic));
	memcpy(context->file->device, context->dev->verbs.name, sizeof(context->file->device));
	return context->file;
}

void fake_kernel_close(struct fake_context *context)
{
	if (context->file)
		munmap(context->file, TABLE_BYTES);
	if (context->verbs.context.cmd_fd >= 0)
		close(context->verbs.context.cmd_fd);
	context->file = NULL;
}

struct fake_kernel_object *fake_kernel_add(struct ibv_context *ctx, enum fake_kind kind)
{
	struct fake_file *file = file_of(ctx);
	struct fake_kernel_object *object;

	for (int i = 0; file && i < MAX_OBJECTS; i++) {
		object = &file->object[i];
		if (object->kind)
			continue;
		memset(object, 0, sizeof(*object));
		object->kind = kind;
		object->handle = ++file->handles;
		return object;
	}
	return NULL;
}

struct fake_kernel_object *fake_kernel_find(struct ibv_context *ctx, enum fake_kind kind,
					    uint32_t handle)
{
	struct fake_file *file = file_of(ctx);

	for (int i = 0; file && i < MAX_OBJECTS; i++)
		if (file->object[i].kind == kind && file->object[i].handle == handle)
			return &file->object[i];
	return NULL;
}

uint64_t fake_kernel_dm_used(struct ibv_context *ctx)
{
	struct fake_file *file = file_of(ctx);
	uint64_t used = 0;

	for (int i = 0; file && i < MAX_OBJECTS; i++)
		if (file->object[i].kind == FAKE_KERNEL_DM)
			used += file->object[i].length;
	return used;
}

void fake_kernel_remove(struct fake_kernel_object *object)
{
	struct fake_kernel_object none = {0};

	if (object)
		*object = none;
}

void fake_kernel_dm_size(struct ibv_context *ctx, struct fake_kernel_object *dm, size_t length)
{
	struct stat st;

	if (fstat(ctx->cmd_fd, &st) ||
	    ftruncate(ctx->cmd_fd, st.st_size + (off_t)(length | 4095) + 1))
		abort();
	dm->length = length;
	dm->start = (uint64_t)st.st_size;
}

uint8_t *fake_kernel_dm_map(struct ibv_context *ctx, const struct fake_kernel_object *dm)
{
	void *bytes = mmap(NULL, (size_t)dm->length, PROT_READ | PROT_WRITE, MAP_SHARED,
			   ctx->cmd_fd, (off_t)dm->start);

	return bytes == MAP_FAILED ? NULL : (uint8_t *)bytes;
}

/* ---- The device ----------------------------------------------------------------------------- */

/* Of which device a descriptor is: 0 and the device, or what libibverbs says. */
static int device_of(int fd, struct fake_device **dev)
{
	struct ibv_device **list;
	struct fake_file *file;
	struct stat st;
	char name[IBV_SYSFS_NAME_MAX];

	if (fstat(fd, &st) || st.st_size < TABLE_BYTES)
		return EINVAL;
	file = map_file(fd);
	if (!file)
		return EINVAL;
	memcpy(name, file->device, sizeof(name));
	if (memcmp(file->magic, magic, sizeof(magic)) != 0)
		name[0] = '\0';
	munmap(file, TABLE_BYTES);
	if (!name[0])
		return EINVAL;
	list = ibv_get_device_list(NULL);
	for (int i = 0; list && list[i]; i++)
		if (strcmp(list[i]->name, name) == 0)
			*dev = fake_container(list[i], struct fake_device, verbs);
	ibv_free_device_list(list);
	return *dev ? 0 : ENODEV;
}

/* What another thread does meanwhile, where the import fails; the descriptor may be closed by then. */
extern void (*fake_import_meanwhile)(int fd);
void (*fake_import_meanwhile)(int fd);

struct ibv_context *ibv_import_device(int cmd_fd)
{
	struct fake_call *call = fake_enter(FAKE_IMPORT_DEVICE, NULL);
	struct fake_device *dev = NULL;
	struct ibv_context *ctx = NULL;
	int err = call->error ? call->error : device_of(cmd_fd, &dev);

	if (!err && dev->quirks & FAKE_NO_IMPORT)
		err = EOPNOTSUPP;
	/* What the driver fails in, it has closed the descriptor of. */
	if (!err && dev->quirks & FAKE_IMPORT_CLOSES) {
		close(cmd_fd);
		err = EIO;
	}
	if (err && fake_import_meanwhile)
		fake_import_meanwhile(cmd_fd);
	if (!err) {
		ctx = fake_open(dev);
		ctx->cmd_fd = cmd_fd;
		fake_ctx(ctx)->file = map_file(cmd_fd);
	}
	return (struct ibv_context *)fake_return_ptr(call, err, ctx);
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* What all three imports begin with: 0 and what the kernel keeps, or an errno value. */
static int look_up(struct fake_call *call, struct ibv_context *ctx, enum fake_kind kind,
		   uint32_t handle, struct fake_kernel_object **object)
{
	call->index = handle;
	if (call->error)
		return call->error;
	if (fake_ctx(ctx)->dev->quirks & FAKE_NO_IMPORT)
		return EOPNOTSUPP;
	*object = fake_kernel_find(ctx, kind, handle);
	return *object ? 0 : ENOENT;
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	struct fake_call *call = fake_enter(FAKE_IMPORT_PD, context);
	struct fake_kernel_object *object;
	struct fake_pd *pd = NULL;
	int err = look_up(call, context, FAKE_KERNEL_PD, pd_handle, &object);

	if (err)
		return (struct ibv_pd *)fake_return_ptr(call, err, NULL);
	pd = (struct fake_pd *)fake_object_new(sizeof(*pd), NULL);
	pd->verbs.context = context;
	pd->verbs.handle = pd_handle;
	return (struct ibv_pd *)fake_return_ptr(call, 0, &pd->verbs);
}

/* mlx5 ends the program where something still uses the domain. */
void ibv_unimport_pd(struct ibv_pd *pd)
{
	struct fake_call *call = fake_enter(FAKE_UNIMPORT_PD, pd);

	if (fake_pd(pd)->users)
		abort();
	fake_object_free(&fake_pd(pd)->object);
	fake_return(call, 0);
}

struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	struct fake_call *call = fake_enter(FAKE_IMPORT_MR, pd);
	struct fake_kernel_object *object;
	struct fake_mr *mr;
	int err = look_up(call, pd->context, FAKE_KERNEL_MR, mr_handle, &object);

	if (err)
		return (struct ibv_mr *)fake_return_ptr(call, err, NULL);
	mr = (struct fake_mr *)fake_object_new(sizeof(*mr), NULL);
	mr->verbs.context = pd->context;
	mr->verbs.pd = pd;
	mr->verbs.length = (size_t)object->length;
	mr->verbs.handle = mr_handle;
	mr->verbs.lkey = mr_handle << 8;
	mr->verbs.rkey = mr->verbs.lkey;
	fake_pd(pd)->users++;
	return (struct ibv_mr *)fake_return_ptr(call, 0, &mr->verbs);
}

void ibv_unimport_mr(struct ibv_mr *mr)
{
	struct fake_call *call = fake_enter(FAKE_UNIMPORT_MR, mr);

	fake_pd(mr->pd)->users--;
	fake_object_free(&fake_mr(mr)->object);
	fake_return(call, 0);
}

struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle)
{
	struct fake_call *call = fake_enter(FAKE_IMPORT_DM, context);
	struct fake_kernel_object *object = NULL;
	int err = look_up(call, context, FAKE_KERNEL_DM, dm_handle, &object);
	struct ibv_dm *dm = err ? NULL : fake_new_dm(context, object);

	/* As mlx5: the number is there, and comp_mask does not say so. */
	if (dm)
		dm->comp_mask = 0;
	return (struct ibv_dm *)fake_return_ptr(call, err, dm);
}

void ibv_unimport_dm(struct ibv_dm *dm)
{
	struct fake_call *call = fake_enter(FAKE_UNIMPORT_DM, dm);

	fake_object_free(&fake_dm(dm)->object);
	fake_return(call, 0);
}

/* rdma-core 62 and newer; the dma-buf is the device file again, which a test can tell. */
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm);
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm)
{
	struct fake_call *call = fake_enter(FAKE_DM_DMABUF, dm);
	int err = call->error;

	if (!err && fake_ctx(dm->context)->dev->quirks & FAKE_NO_IMPORT)
		err = EOPNOTSUPP;
	if (err)
		return fake_return_minus(call, err);
	fake_return(call, 0);
	return call->result = dup(dm->context->cmd_fd);
}
