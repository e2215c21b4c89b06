/* SPDX-License-Identifier: MIT */
/* The verbs of importing and exporting device memory, whatever libibverbs the program is linked with. */
#ifndef RDMAEZ_IMPL_DM_VERBS_H
#define RDMAEZ_IMPL_DM_VERBS_H

#ifndef RDMAEZ_BASE_H
#include "../base.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif

RDMAEZ_IMPL_BEGIN

/* The greatest alignment, of which verbs takes the exponent. */
#define RDMAEZ_IMPL_DM_ALIGNMENT (UINT64_C(1) << 31)

/*
 * The library's functions under names of our own, so that nothing depends on what verbs.h declares.
 * They are weak: linked with an older libibverbs they are NULL, and the program runs all the same.
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
 * The number by which another process can name the memory; false where there is none. Since rdma-core 35
 * the member follows comp_mask, and bit 0 there, IBV_DM_MASK_HANDLE, says so; imported memory has the
 * number without the bit. It is read by its place, because older headers do not name it.
 */
RDMAEZ_IMPL bool rdmaez_impl_dm_handle(const struct ibv_dm *dm, bool imported, uint32_t *handle)
{
	const size_t at = offsetof(struct ibv_dm, comp_mask) + sizeof(dm->comp_mask);

	if (!imported && !(dm->comp_mask & 1))
		return false;
	memcpy(handle, (const char *)dm + at, sizeof(*handle));
	return true;
}

/* ibv_import_dm(): the memory, or NULL and errno; EOPNOTSUPP before rdma-core 35. */
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

/* ibv_unimport_dm(). */
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

/* Whether this program's libibverbs can import at all. */
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

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
