/* SPDX-License-Identifier: MIT */
/*
 * The locks, and what becomes of them in a new process. After fork() the child is told, by pthread_atfork(); after
 * clone() itself nobody tells it. So the locks lie in a page that the kernel empties for every child that has memory of
 * its own (MADV_WIPEONFORK, Linux 4.14): there they are unlocked, and an empty page tells that it is a child.
 */
#include <sys/mman.h>

#include "explain.h"

enum {
	PAGE = 65536 /* the largest there is, where programs run that use verbs */
};

/* Where it is aligned, a page of it has nothing else. Constructors of other objects may need it before any of ours. */
static char pages[2 * PAGE];
static bool is_wiped;

bool explain_is_clone;

struct explain_locks *explain_locks(void)
{
	const uintptr_t at = (uintptr_t)pages;

	return (struct explain_locks *)(void *)(pages + (-at & (PAGE - 1)));
}

__attribute__((__constructor__(101))) static void begin(void)
{
	struct explain_locks *const locks = explain_locks();

	locks->is_known = true;
	is_wiped = !madvise(locks, PAGE, MADV_WIPEONFORK);
}

bool explain_locks_notice(void)
{
	struct explain_locks *const locks = explain_locks();

	if (locks->is_known || !is_wiped)
		return false;
	locks->is_known = true;
	explain_is_clone = true;
	return true;
}

void explain_notice_clone(void)
{
	if (explain_locks()->is_known)
		return;
	explain_lock();
	explain_unlock();
}

/* The child is who has locked them, or they are as new. A sanitizer believes the first. */
void explain_locks_renew(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
	static const pthread_cond_t unused = PTHREAD_COND_INITIALIZER;
	struct explain_locks *const locks = explain_locks();

	pthread_mutex_unlock(&locks->tables);
	memcpy(&locks->tables, &unlocked, sizeof(unlocked));
	memcpy(&locks->released, &unused, sizeof(unused));
	locks->is_known = true;
}

void explain_block_signals(sigset_t *was)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	sigset_t most;

	sigfillset(&most);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&most, faults[i]);
	pthread_sigmask(SIG_BLOCK, &most, was);
}

void explain_restore_signals(const sigset_t *was)
{
	pthread_sigmask(SIG_SETMASK, was, NULL);
}
