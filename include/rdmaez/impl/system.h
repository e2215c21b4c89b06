/* SPDX-License-Identifier: MIT */
/* What /proc and /sys tell, on the failing path only; every question may stay without an answer. */
#ifndef RDMAEZ_IMPL_SYSTEM_H
#define RDMAEZ_IMPL_SYSTEM_H

#ifndef RDMAEZ_BASE_H
#include "../base.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

RDMAEZ_IMPL_BEGIN

/* The capabilities that the kernel asks for here, by number: CAP_NET_RAW and CAP_IPC_LOCK. */
#define RDMAEZ_IMPL_CAP_NET_RAW  13
#define RDMAEZ_IMPL_CAP_IPC_LOCK 14

/* glibc hides O_CLOEXEC from strict C. */
#ifdef O_CLOEXEC
#define RDMAEZ_IMPL_CLOEXEC O_CLOEXEC
#else
#define RDMAEZ_IMPL_CLOEXEC __O_CLOEXEC
#endif

/* The beginning of a small file of the kernel's, as text; "" where it cannot be read. `path` may be `text`. */
RDMAEZ_IMPL_COLD void rdmaez_impl_file_text(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | RDMAEZ_IMPL_CLOEXEC);
	ssize_t length = 0;

	if (fd >= 0) {
		length = read(fd, text, size - 1);
		close(fd);
	}
	text[length > 0 ? length : 0] = '\0';
}

/*
 * Whether CapEff has a capability: 1 or 0, -1 without /proc. It has 16 hexadecimal digits, the least last, and
 * stands behind Groups, which may be long: what is read keeps the 24 characters before, one less than that line has.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_capability(int capability)
{
	const int fd = open("/proc/self/status", O_RDONLY | RDMAEZ_IMPL_CLOEXEC);
	const char *line = NULL;
	size_t kept = 0;
	char text[512];
	ssize_t length;
	int digit;

	while (fd >= 0 && (length = read(fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
		kept += (size_t)length;
		text[kept] = '\0';
		line = strstr(text, "\nCapEff:\t");
		if (line && strlen(line) >= 25)
			break;
		line = NULL;
		if (kept > 24) {
			memmove(text, text + kept - 24, 24);
			kept = 24;
		}
	}
	if (fd >= 0)
		close(fd);
	if (!line)
		return -1;
	digit = line[24 - capability / 4];
	digit = digit > '9' ? digit + 9 : digit;
	return digit >> capability % 4 & 1;
}

/*
 * Whether RLIMIT_MEMLOCK does not bind the process: `capable()` of the kernel means the initial user
 * namespace, in whose uid_map every 32-bit number stands for itself.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_may_lock(void)
{
	char text[64];

	rdmaez_impl_file_text("/proc/self/uid_map", text, sizeof(text));
	return strcmp(text, "         0          0 4294967295\n") == 0 &&
	       rdmaez_impl_capability(RDMAEZ_IMPL_CAP_IPC_LOCK) == 1;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
