/* SPDX-License-Identifier: MIT */
/*
 * The fake takes one thread at a time. Its sources are compiled with -finstrument-functions, so each of its functions
 * calls these two; the outermost holds the lock. ThreadSanitizer neither sees the lock nor what is done under it. So no
 * thread seems to wait for another, and a race outside of the fake is not hidden by an order that real verbs do not make.
 */
#include <sched.h>
#include <stdatomic.h>

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);
void __cyg_profile_func_enter(void *function, void *from);
void __cyg_profile_func_exit(void *function, void *from);

static atomic_flag taken = ATOMIC_FLAG_INIT;
static _Thread_local int depth;

void __cyg_profile_func_enter(void *function, void *from)
{
	(void)function;
	(void)from;
	if (depth++)
		return;
	while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire))
		sched_yield();
	AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

void __cyg_profile_func_exit(void *function, void *from)
{
	(void)function;
	(void)from;
	if (--depth)
		return;
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
	atomic_flag_clear_explicit(&taken, memory_order_release);
}
