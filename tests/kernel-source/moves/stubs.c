/* SPDX-License-Identifier: MIT */
/*
 * What drivers call of the rest of the kernel on the way to a verdict, for a program. Of locks there is nothing: it has
 * one thread. Whatever else a driver calls ends in moves_lacks(), by stubs.awk's table, so that nothing is answered by
 * accident.
 */
#include <stdio.h>
#include <stdlib.h>

void *kzalloc_here(size_t size);
void moves_lacks(const char *name);
extern void (*moves_beyond)(void);

/* What a program does where a driver goes beyond what it is asked for; NULL for one that must not. */
void (*moves_beyond)(void);

void *kzalloc_here(size_t size)
{
	void *const memory = calloc(1, size);

	if (!memory)
		abort();
	return memory;
}

void moves_lacks(const char *name)
{
	if (moves_beyond)
		moves_beyond();
	printf("Bail out! the driver calls %s(): read the source, and say in its file what that "
	       "does\n",
	       name);
	fflush(stdout);
	_Exit(1);
}

/* Memory, by the names of each release. What follows the size does not matter here. */
#define OF_SIZE(name)                      \
	void *name(size_t size);           \
	void *name(size_t size)            \
	{                                  \
		return kzalloc_here(size); \
	}
OF_SIZE(__kmalloc)
OF_SIZE(__kmalloc_noprof)
OF_SIZE(kvmalloc_node)
OF_SIZE(__kvmalloc_node_noprof)

#define OF_CACHE(name)                                            \
	void *name(void *cache, unsigned int flags, size_t size); \
	void *name(void *cache, unsigned int flags, size_t size)  \
	{                                                         \
		(void)cache;                                      \
		(void)flags;                                      \
		return kzalloc_here(size);                        \
	}
OF_CACHE(kmalloc_trace)
OF_CACHE(__kmalloc_cache_noprof)

void kfree(void *memory);
void kfree(void *memory)
{
	free(memory);
}

void kvfree(void *memory);
void kvfree(void *memory)
{
	free(memory);
}

/* Variables of the kernel: caches of no use here, and the current task, by the names of each release. */
static char task[16384];
char kmalloc_caches[4096];
void *pcpu_hot[32] = {task}, *const_pcpu_hot[32] = {task}, *current_task = task,
     *const_current_task = task;

#define NOTHING(name)     \
	long name(void);  \
	long name(void)   \
	{                 \
		return 0; \
	}
NOTHING(mutex_lock)
NOTHING(mutex_unlock)
NOTHING(__mutex_init)
NOTHING(down_write)
NOTHING(up_write)
NOTHING(down_read)
NOTHING(up_read)
NOTHING(_raw_spin_lock)
NOTHING(_raw_spin_unlock)
NOTHING(_raw_spin_lock_irqsave)
NOTHING(_raw_spin_unlock_irqrestore)
NOTHING(_raw_spin_lock_irq)
NOTHING(_raw_spin_unlock_irq)
NOTHING(__rcu_read_lock)
NOTHING(__rcu_read_unlock)
NOTHING(_printk)
NOTHING(_dev_err)
NOTHING(_dev_warn)
NOTHING(_dev_info)
NOTHING(ibdev_err)
NOTHING(ibdev_warn)
NOTHING(ibdev_warn_ratelimited)
NOTHING(ibdev_info)
NOTHING(___ratelimit)
NOTHING(__SCT__might_resched)
NOTHING(__SCT__cond_resched)
NOTHING(__warn_printk)
NOTHING(__check_object_size)
