/* SPDX-License-Identifier: MIT
 *
 * Marks, in a file, each block of a tool's code that a test comes to. gcc calls this at the beginning of every block, with
 * -fsanitize-coverage=trace-pc. The file has a bit for each byte of the code. It is mapped, so that what was marked stays,
 * whatever ends the process; all processes mark the same one. FILE_NAME is its name.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CODE_SIZE ((size_t)1 << 23)

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

void __sanitizer_cov_trace_pc(void);

/* By system calls: the tools put functions of their own in the place of the C library's. */
static unsigned char *mapped(void)
{
	static unsigned char nowhere[CODE_SIZE / 8], *volatile marks;
	int error = errno;
	int fd;
	long at;

	if (!marks) {
		marks = nowhere;
		fd = (int)syscall(SYS_openat, AT_FDCWD, FILE_NAME, O_RDWR | O_CLOEXEC, 0);
		if (fd >= 0) {
			at = syscall(SYS_mmap, NULL, CODE_SIZE / 8, PROT_READ | PROT_WRITE,
				     MAP_SHARED, fd, 0);
			if (at != -1)
				marks = (unsigned char *)at;
			syscall(SYS_close, fd);
		}
		errno = error;
	}
	return marks;
}

void __sanitizer_cov_trace_pc(void)
{
	size_t at = (size_t)((const char *)__builtin_return_address(0) - __ehdr_start);

	if (at < CODE_SIZE)
		__atomic_fetch_or(mapped() + at / 8, (unsigned char)(1U << at % 8),
				  __ATOMIC_RELAXED);
}
