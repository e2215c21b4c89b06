/* SPDX-License-Identifier: MIT */
/*
 * The tables of a context, through which inline verbs go. The originals of the data path lie in entries of the same
 * table that rdma-core writes and never reads (`_compat_*` of struct ibv_context_ops), so they are found without a
 * search and without a lock; the others lie in a record of the context's own, to which one more such entry points. A
 * second one tells that the record is there, since what rdma-core writes into the first is not NULL.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "data.h"
#include "verbs.h"

#define SLOT_OF_ORIGINALS _compat_alloc_pd
#define SLOT_OF_MARK      _compat_dealloc_pd

const struct explain_originals *explain_originals(const struct ibv_context *context)
{
	return (const struct explain_originals *)(uintptr_t)context->ops.SLOT_OF_ORIGINALS;
}

/* The original is stored first: other threads may call through the table at any moment. */
#define PUT(place, original, wrapper)                                    \
	do {                                                             \
		(original) = (place);                                    \
		__atomic_store_n(&(place), (wrapper), __ATOMIC_RELEASE); \
	} while (0)

/* Stands in the second entry; its address is all that counts. */
static void *mark(void)
{
	return NULL;
}

static bool is_wrapped(const struct ibv_context *context)
{
	return __atomic_load_n(&context->ops.SLOT_OF_MARK, __ATOMIC_ACQUIRE) == mark;
}

int explain_opener(const struct ibv_context *context)
{
	const int pid = is_wrapped(context) ? explain_originals(context)->pid : 0;

	return pid == getpid() ? 0 : pid;
}

static void wrap_tables(struct ibv_context *context, struct explain_originals *originals)
{
	struct verbs_context *const extended = verbs_get_ctx(context);

	context->ops.SLOT_OF_ORIGINALS = (void *(*)(void))(uintptr_t)originals;
	__atomic_store_n(&context->ops.SLOT_OF_MARK, mark, __ATOMIC_RELEASE);
#define WRAP(entry)             \
	if (context->ops.entry) \
		PUT(context->ops.entry, originals->entry, explain_##entry);
	EXPLAIN_OPS(WRAP)
#undef WRAP
	if (!extended)
		return;
	/* Of an older provider the table is shorter, by its front; an entry that is empty stays so, since verbs.h asks. */
#define WRAP(entry)                                                                      \
	if (extended->sz >= sizeof(*extended) - offsetof(struct verbs_context, entry) && \
	    extended->entry)                                                             \
		PUT(extended->entry, originals->entry, explain_##entry);
	EXPLAIN_TABLE(WRAP)
#undef WRAP
}

void explain_wrap_context(struct ibv_context *context)
{
	const uintptr_t function = (uintptr_t)context->ops.poll_cq;
	struct explain_originals *originals;
	bool is_late;

	/* Before 2018, when it came to be, libibverbs itself went through the entries that are taken here. */
	if (is_wrapped(context) || !REAL(verbs_open_device))
		return;
	originals = mmap(NULL, sizeof(*originals), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (originals == MAP_FAILED)
		return;
	originals->pid = getpid();
	explain_lock();
	is_late = is_wrapped(context); /* another thread was faster */
	if (!is_late) {
		wrap_tables(context, originals);
		explain_wrap_data(context);
	}
	explain_unlock();
	if (is_late)
		munmap(originals, sizeof(*originals));
	else
		explain_note_libraries(context->device->name, function);
}

void explain_unwrap_context(struct ibv_context *context)
{
	struct verbs_context *const extended = verbs_get_ctx(context);
	struct explain_originals *originals;

	if (!is_wrapped(context))
		return;
	explain_lock();
	originals = (struct explain_originals *)(uintptr_t)explain_originals(context);
	context->ops.SLOT_OF_MARK = NULL;
#define UNWRAP(entry)         \
	if (originals->entry) \
		context->ops.entry = originals->entry;
	EXPLAIN_OPS(UNWRAP)
#undef UNWRAP
#define UNWRAP(entry)         \
	if (originals->entry) \
		extended->entry = originals->entry;
	EXPLAIN_TABLE(UNWRAP)
#undef UNWRAP
	explain_unlock();
	munmap(originals, sizeof(*originals));
	explain_qps_gone(context);
}
