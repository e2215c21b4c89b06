/* SPDX-License-Identifier: MIT */
/* Whether a thread's stack has room for an explanation. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "explain.h"

enum {
	/* The headers take up to 25 KiB of the stack, the verbs that they ask a few more. */
	ROOM = 40 * 1024,
	TOP = 8192 /* at the end of a stack that the C library has made is the thread's own record */
};

/* A line of /proc/self/maps, as far as it has been read: "7f5a70200000-7f5a70a00000 rw-p ...". */
struct mapping {
	uintptr_t start, end;
	int field;
	bool is_guard;
};

/* Whether the field that ends here is the last that is needed. */
static bool takes(struct mapping *mapping, char c)
{
	uintptr_t *const number = mapping->field ? &mapping->end : &mapping->start;

	if (mapping->field > 1)
		return false;
	if (c == '-' || c == ' ')
		return ++mapping->field == 2;
	*number = *number << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	return false;
}

/*
 * Where this thread's stack begins. pthread_getattr_np() knows, and allocates memory, which a handler of a signal must not
 * do. So this looks for a stack as the C library makes it: a guard lies below, and the thread's own record is at its end.
 * 0: it is no such one. With the lock of findings.
 */
static uintptr_t begin_of_stack(uintptr_t here)
{
	static char text[4096];
	const uintptr_t self = (uintptr_t)pthread_self();
	struct mapping mapping = {0}, below = {0};
	/* By the system call: what stands in for open() may take more of the stack than is left. */
	const int file =
		(int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	uintptr_t begin = 0;
	bool is_found = false;
	ssize_t length;

	if (file < 0)
		return 0;
	while (!is_found && (length = read(file, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < length && !is_found; i++) {
			if (text[i] == '\n') {
				below = mapping;
				memset(&mapping, 0, sizeof(mapping));
			} else if (mapping.field == 2) {
				mapping.is_guard = text[i] == '-';
				mapping.field++;
			} else if (takes(&mapping, text[i])) {
				is_found = mapping.start <= here && here < mapping.end;
			}
		}
	}
	close(file);
	if (is_found && below.is_guard && below.end == mapping.start && self < mapping.end &&
	    mapping.end - self < TOP)
		begin = mapping.start;
	return begin;
}

static uintptr_t ask_begin_of_stack(void)
{
	pthread_attr_t attr;
	size_t size, guard;
	uintptr_t begin = 0;
	void *stack;

	if (pthread_getattr_np(pthread_self(), &attr))
		return 0;
	if (!pthread_attr_getstack(&attr, &stack, &size) &&
	    !pthread_attr_getguardsize(&attr, &guard))
		begin = (uintptr_t)stack + guard;
	pthread_attr_destroy(&attr);
	return begin;
}

/* The first thread's stack grows. One of the program's own making, such as a coroutine's, is taken to be large. */
bool explain_has_room(void)
{
	static __thread uintptr_t lowest;
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (getpid() == gettid())
		return true;
	if (!lowest)
		lowest = begin_of_stack(here);
	if (!lowest)
		lowest = ask_begin_of_stack();
	return here - lowest >= ROOM;
}
