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

/* getenv() under a name of our own: stdlib.h would cost every user as much as the rest of this file. */
#ifndef __GNUC__
#include <stdlib.h>
#define rdmaez_impl_getenv getenv
#endif

RDMAEZ_IMPL_BEGIN

#ifdef __GNUC__
extern char *rdmaez_impl_getenv(const char *name) __asm__("getenv");
#endif

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

/* The number that comes next behind blanks, and where it ends; 0 where there is none. Letters are in lower case. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_number(const char **text, unsigned int base)
{
	const char *at = *text;
	uint64_t number = 0;
	unsigned int digit;

	while (*at == ' ' || *at == '\t')
		at++;
	for (; (digit = (unsigned int)(*at > '9' ? *at - 'a' + 10 : *at - '0')) < base; at++)
		number = number * base + digit;
	*text = at;
	return number;
}

/* A file of the kernel's, line by line; of a line that is longer than the buffer only the beginning. */
struct rdmaez_impl_lines {
	int fd;            /* -1: it could not be opened */
	unsigned int left; /* how many lines are still read, so that it ends some time */
	size_t next, end;  /* of text[]: where what was read but not returned begins and ends */
	bool is_cut;       /* the rest of a line that was cut comes next */
	char text[1024];
};

RDMAEZ_IMPL_COLD void rdmaez_impl_lines_open(struct rdmaez_impl_lines *lines, const char *path)
{
	lines->fd = open(path, O_RDONLY | RDMAEZ_IMPL_CLOEXEC);
	lines->left = 1u << 22; /* of smaps, 26 for each of 65530 mappings */
	lines->next = lines->end = 0;
	lines->is_cut = false;
}

RDMAEZ_IMPL_COLD void rdmaez_impl_lines_close(struct rdmaez_impl_lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
}

/* The next line without its end; NULL: there are no more. */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_line(struct rdmaez_impl_lines *lines)
{
	while (lines->fd >= 0 && lines->left) {
		char *const line = lines->text + lines->next;
		char *stop = (char *)memchr(line, '\n', lines->end - lines->next);
		const bool is_rest = lines->is_cut;
		ssize_t length = 1;

		if (!stop && lines->next) {
			lines->end -= lines->next;
			memmove(lines->text, line, lines->end);
			lines->next = 0;
			continue;
		}
		lines->is_cut = !stop && lines->end == sizeof(lines->text) - 1;
		if (!stop && !lines->is_cut) {
			length = read(lines->fd, lines->text + lines->end,
				      sizeof(lines->text) - 1 - lines->end);
			lines->end += length > 0 ? (size_t)length : 0;
			lines->is_cut = is_rest;
			if (length > 0)
				continue;
			if (!lines->end)
				break;
		}
		lines->next = stop ? (size_t)(stop - lines->text) + 1 : lines->end;
		*(stop ? stop : lines->text + lines->end) = '\0';
		lines->left--;
		if (!is_rest)
			return line;
	}
	return NULL;
}

/* What stands behind a name, such as "VmPin:", in the first line that begins with it; NULL: there is none. */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_lines_find(struct rdmaez_impl_lines *lines,
						    const char *path, const char *name)
{
	const size_t length = strlen(name);
	const char *line;

	rdmaez_impl_lines_open(lines, path);
	do
		line = rdmaez_impl_line(lines);
	while (line && strncmp(line, name, length) != 0);
	rdmaez_impl_lines_close(lines);
	return line ? line + length : NULL;
}

/* Whether the thread has a capability: 1 or 0, -1 without /proc. CapEff has 16 hexadecimal digits, the least last. */
RDMAEZ_IMPL_COLD int rdmaez_impl_capability(int capability)
{
	struct rdmaez_impl_lines lines;
	const char *const digits =
		rdmaez_impl_lines_find(&lines, "/proc/thread-self/status", "CapEff:\t");
	int digit;

	if (!digits || strlen(digits) < 16)
		return -1;
	digit = digits[15 - capability / 4];
	digit = digit > '9' ? digit + 9 : digit;
	return digit >> capability % 4 & 1;
}

/* The memory that the process has pinned for devices, in bytes; -1 where that is not known. */
RDMAEZ_IMPL_COLD int64_t rdmaez_impl_pinned(void)
{
	struct rdmaez_impl_lines lines;
	const char *text = rdmaez_impl_lines_find(&lines, "/proc/thread-self/status", "VmPin:");

	/* A line that was cut has no unit, and perhaps not all of its digits. */
	return text && strstr(text, " kB") ? (int64_t)(rdmaez_impl_number(&text, 10) << 10) : -1;
}

/*
 * Whether RLIMIT_MEMLOCK does not bind the process: 1 or 0, -1 without /proc. `capable()` of the kernel means the
 * initial user namespace, in whose uid_map every 32-bit number stands for itself.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_may_lock(void)
{
	char text[64];

	rdmaez_impl_file_text("/proc/self/uid_map", text, sizeof(text));
	if (*text && strcmp(text, "         0          0 4294967295\n") != 0)
		return 0;
	return *text ? rdmaez_impl_capability(RDMAEZ_IMPL_CAP_IPC_LOCK) : -1;
}

/* What /proc/self/maps tells of a range of memory, and of the process. */
enum {
	RDMAEZ_IMPL_MAPS_HOLE = 1,  /* a part of it is not mapped */
	RDMAEZ_IMPL_MAPS_NONE = 2,  /* a part may be neither read nor written */
	RDMAEZ_IMPL_MAPS_FILE = 4,  /* a part is shared with a file */
	RDMAEZ_IMPL_MAPS_WRITE = 8, /* and may be written */
	RDMAEZ_IMPL_MAPS_GPU = 16,  /* a part is a GPU's device file's */
	RDMAEZ_IMPL_MAPS_GPUS = 32  /* the process has mapped such a file anywhere */
};

/* Of one mapping, by its permissions and the path of its file. */
RDMAEZ_IMPL_COLD int rdmaez_impl_maps_of(const char *permissions, const char *path)
{
	static const char *const gpus[] = {"/dev/nvidia", "/dev/kfd", "/dev/dri/renderD",
					   "/dmabuf:"};
	static const char *const memory[] = {"/dev/", "/memfd:", "/SYSV", "/anon_hugepage"};
	int is = strncmp(permissions, "---", 3) == 0 ? RDMAEZ_IMPL_MAPS_NONE : 0;

	if (!path)
		return is;
	for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++)
		if (strncmp(path, gpus[i], strlen(gpus[i])) == 0)
			return is | RDMAEZ_IMPL_MAPS_GPU;
	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		if (strncmp(path, memory[i], strlen(memory[i])) == 0)
			return is;
	/* A program's own data are private mappings of its file. */
	if (strlen(permissions) < 4 || permissions[3] != 's')
		return is;
	return is | RDMAEZ_IMPL_MAPS_FILE | (permissions[1] == 'w' ? RDMAEZ_IMPL_MAPS_WRITE : 0);
}

/* Looks at the bytes from `start` to before `end`; returns the number of mappings, 0 where they cannot be read. */
RDMAEZ_IMPL_COLD unsigned int rdmaez_impl_maps(uintptr_t start, uintptr_t end, int *is)
{
	struct rdmaez_impl_lines lines;
	uintptr_t reached = start;
	unsigned int count = 0;
	const char *line, *path;

	*is = 0;
	rdmaez_impl_lines_open(&lines, "/proc/self/maps");
	while ((line = rdmaez_impl_line(&lines))) {
		const uint64_t from = rdmaez_impl_number(&line, 16);
		const uint64_t to = *line++ == '-' ? rdmaez_impl_number(&line, 16) : 0;
		int of;

		if (to <= from || *line != ' ' ||
		    strstr(line, "[vsyscall]")) /* which is the kernel's */
			continue;
		/* The path of a file, not the name that a program gave to other memory, "[anon_shmem:a/b]". */
		path = strstr(line, " /");
		of = rdmaez_impl_maps_of(line + 1, path ? path + 1 : NULL);
		count++;
		if (of & RDMAEZ_IMPL_MAPS_GPU)
			*is |= RDMAEZ_IMPL_MAPS_GPUS;
		if (from >= end || to <= start)
			continue;
		*is |= of | (from > reached ? RDMAEZ_IMPL_MAPS_HOLE : 0);
		reached = (uintptr_t)to;
	}
	rdmaez_impl_lines_close(&lines);
	if (count && reached < end)
		*is |= RDMAEZ_IMPL_MAPS_HOLE;
	return count;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
