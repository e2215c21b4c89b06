/* SPDX-License-Identifier: MIT */
/* The import of device memory, wherever it comes from. */
#ifndef RDMAEZ_IMPL_DM_HOOK_H
#define RDMAEZ_IMPL_DM_HOOK_H

#if RDMAEZ_IMPL_BODIES

#include "../base.h"
#include "base.h"

/**
 * @brief Whether ibv_import_dm() is there. Not defined: found out when the program is linked.
 *
 * Define it as 1 where verbs.h is rdma-core 35's or newer and the program shall call the function by
 * its name, or as 0 where it shall never be called. A compiler without weak symbols gets 0.
 */
#if !defined(RDMAEZ_HAVE_IMPORT_DM) && !defined(__GNUC__)
#define RDMAEZ_HAVE_IMPORT_DM 0
#endif

/** @brief The same for ibv_dm_export_dmabuf_fd() of rdma-core 62. */
#if !defined(RDMAEZ_HAVE_DM_DMABUF) && !defined(__GNUC__)
#define RDMAEZ_HAVE_DM_DMABUF 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The library's functions under names of our own, so that nothing depends on what verbs.h declares.
 * They are weak: linked with an older libibverbs they are NULL, and the program runs all the same.
 */
#ifndef RDMAEZ_HAVE_IMPORT_DM
extern struct ibv_dm *rdmaez_impl_verb_import_dm(struct ibv_context *context,
						 uint32_t handle) __asm__("ibv_import_dm")
	__attribute__((weak));
extern void rdmaez_impl_verb_unimport_dm(struct ibv_dm *dm) __asm__("ibv_unimport_dm")
	__attribute__((weak));
#endif
#ifndef RDMAEZ_HAVE_DM_DMABUF
extern int rdmaez_impl_verb_dm_dmabuf(struct ibv_dm *dm) __asm__("ibv_dm_export_dmabuf_fd")
	__attribute__((weak));
#endif

/* "RZDMEMUL": what the slot of a context points to is ours. */
#define RDMAEZ_IMPL_DM_HOOK_MAGIC 0x525a444d454d554cull

/* What emulated device memory puts in the place of libibverbs; the beginning of its own struct. */
struct rdmaez_impl_dm_hook {
	uint64_t magic; /* RDMAEZ_IMPL_DM_HOOK_MAGIC */
	/* 0 and the object, or an errno value as the kernel's: ENOENT where there is no such handle. */
	int (*import)(struct ibv_context *context, uint32_t handle, struct ibv_dm **dm);
	void (*unimport)(struct ibv_dm *dm);
	int fd; /* what another process needs to share the memory; the emulation's to close */
};

/*
 * A context has function pointers that only programs of 2007 and before would call, and libibverbs
 * has not set this one since (seen in rdma-core 33 to 65; the struct is allocated from zero). All
 * pointers have one size on the systems that libibverbs runs on.
 */
RDMAEZ_IMPL void *rdmaez_impl_dm_slot(const struct ibv_context *context)
{
	void *slot;

	memcpy(&slot, &context->ops._compat_async_event, sizeof(slot));
	return slot;
}

RDMAEZ_IMPL void rdmaez_impl_dm_slot_set(struct ibv_context *context, void *slot)
{
	memcpy(&context->ops._compat_async_event, &slot, sizeof(slot));
}

/* The emulation attached to a context, NULL: none. */
RDMAEZ_IMPL struct rdmaez_impl_dm_hook *rdmaez_impl_dm_hook_of(const struct ibv_context *context)
{
	struct rdmaez_impl_dm_hook *hook =
		(struct rdmaez_impl_dm_hook *)rdmaez_impl_dm_slot(context);

	return hook && hook->magic == RDMAEZ_IMPL_DM_HOOK_MAGIC ? hook : NULL;
}

/*
 * The number by which another process can name the memory; false where there is none. Since rdma-core 35
 * the member follows comp_mask, and bit 0 there, IBV_DM_MASK_HANDLE, says so; an imported one has the
 * number without the bit. Read by its place, so that older headers do.
 */
RDMAEZ_IMPL bool rdmaez_impl_dm_handle(const struct ibv_dm *dm, bool imported, uint32_t *handle)
{
	if (!imported && !(dm->comp_mask & 1))
		return false;
	memcpy(handle,
	       (const char *)dm + offsetof(struct ibv_dm, comp_mask) + sizeof(dm->comp_mask),
	       sizeof(*handle));
	return true;
}

/* ibv_import_dm(): 0 and the object, or a positive errno value; EOPNOTSUPP before rdma-core 35. */
RDMAEZ_IMPL int rdmaez_impl_dm_import(struct ibv_context *context, uint32_t handle,
				      struct ibv_dm **dm)
{
	const struct rdmaez_impl_dm_hook *hook = rdmaez_impl_dm_hook_of(context);
	struct ibv_dm *made = NULL;

	if (hook)
		return hook->import(context, handle, dm);
	errno = EOPNOTSUPP;
#if !defined(RDMAEZ_HAVE_IMPORT_DM)
	if (rdmaez_impl_verb_import_dm) {
		errno = 0;
		made = rdmaez_impl_verb_import_dm(context, handle);
	}
#elif RDMAEZ_HAVE_IMPORT_DM
	errno = 0;
	made = ibv_import_dm(context, handle);
#else
	(void)handle;
#endif
	if (!made)
		return errno ? (errno > 0 ? errno : -errno) : EIO;
	*dm = made;
	return 0;
}

/* ibv_unimport_dm(), of an object that rdmaez_impl_dm_import() has made. */
RDMAEZ_IMPL void rdmaez_impl_dm_unimport(struct ibv_dm *dm)
{
	const struct rdmaez_impl_dm_hook *hook = rdmaez_impl_dm_hook_of(dm->context);

	if (hook) {
		hook->unimport(dm);
		return;
	}
#if !defined(RDMAEZ_HAVE_IMPORT_DM)
	if (rdmaez_impl_verb_unimport_dm)
		rdmaez_impl_verb_unimport_dm(dm);
#elif RDMAEZ_HAVE_IMPORT_DM
	ibv_unimport_dm(dm);
#endif
}

/* Whether this program's libibverbs can import at all; emulated device memory does not need it. */
RDMAEZ_IMPL bool rdmaez_impl_dm_can_import(void)
{
#if !defined(RDMAEZ_HAVE_IMPORT_DM)
	return rdmaez_impl_verb_import_dm && rdmaez_impl_verb_unimport_dm;
#else
	return RDMAEZ_HAVE_IMPORT_DM;
#endif
}

/* ibv_dm_export_dmabuf_fd(): 0 and a descriptor, or a positive errno value. */
RDMAEZ_IMPL int rdmaez_impl_dm_dmabuf(struct ibv_dm *dm, int *fd)
{
	int made = -EOPNOTSUPP;

	/* Emulated memory is none of the driver's, which would take it for its own. */
	if (rdmaez_impl_dm_hook_of(dm->context))
		return EOPNOTSUPP;
	errno = 0;
#if !defined(RDMAEZ_HAVE_DM_DMABUF)
	if (rdmaez_impl_verb_dm_dmabuf)
		made = rdmaez_impl_verb_dm_dmabuf(dm);
#elif RDMAEZ_HAVE_DM_DMABUF
	made = ibv_dm_export_dmabuf_fd(dm);
#endif
	if (made < 0)
		return rdmaez_impl_error(made);
	*fd = made;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
