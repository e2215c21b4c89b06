/* SPDX-License-Identifier: MIT */
/*
 * A directory in place of /proc, /sys, /dev and /etc: the C library's functions that the headers read them with,
 * each by its sibling that takes a directory, so that nothing else changes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nftw(), open64() */
#endif
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fake_internal.h"

static char tree[PATH_MAX]; /* "": the machine's own */
static char own[PATH_MAX];  /* the one that fake_tree_new() has made */

static char refused_path[PATH_MAX];
static int refused_error;

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

static void remove_own(void)
{
	if (*own)
		nftw(own, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	*own = '\0';
}

void fake_tree(const char *directory)
{
	if (!directory || strcmp(directory, own) != 0)
		remove_own();
	snprintf(tree, sizeof(tree), "%s", directory ? directory : "");
	refused_error = 0;
	/* Whoever runs the tests in a pod, a container or a job does not mean their process. */
	unsetenv("KUBERNETES_SERVICE_HOST");
	unsetenv("container");
	unsetenv("SLURM_JOB_ID");
}

void fake_tree_new(void)
{
	static bool is_registered;
	const char *const place = getenv("TMPDIR");

	remove_own();
	snprintf(own, sizeof(own), "%s/rdmaez-tree-XXXXXX", place ? place : "/tmp");
	if (!mkdtemp(own) || (!is_registered && atexit(remove_own)))
		abort();
	is_registered = true;
	fake_tree(own);
}

/* Where a path leads, in the tree if it belongs there. */
static const char *place_of(const char *path, char place[2 * PATH_MAX])
{
	static const char *const replaced[] = {"/proc", "/sys", "/dev", "/etc", "/.dockerenv"};

	for (size_t i = 0; *tree && i < sizeof(replaced) / sizeof(replaced[0]); i++) {
		const size_t length = strlen(replaced[i]);

		if (strncmp(path, replaced[i], length) == 0 &&
		    (!path[length] || path[length] == '/')) {
			snprintf(place, 2 * PATH_MAX, "%s%s", tree, path);
			return place;
		}
	}
	return path;
}

void fake_tree_file(const char *path, const char *text)
{
	char place[2 * PATH_MAX];
	FILE *file;

	if (!*tree || place_of(path, place) != place)
		abort();
	if (!text) {
		remove(place);
		return;
	}
	for (char *at = strchr(place + strlen(tree) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(place, 0777) && errno != EEXIST)
			abort();
		*at = '/';
	}
	file = fopen(place, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

void fake_tree_link(const char *path, const char *target)
{
	char place[2 * PATH_MAX];

	fake_tree_file(path, "");
	fake_tree_file(path, NULL);
	if (symlink(target, place_of(path, place)))
		abort();
}

void fake_tree_refuse(const char *path, int error)
{
	snprintf(refused_path, sizeof(refused_path), "%s", path);
	refused_error = error;
}

static int open_mode(const char *path, int flags, va_list args)
{
	const bool makes = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
	char place[2 * PATH_MAX];
	const char *const at = place_of(path, place);

	if (!*tree && strcmp(path, "/.dockerenv") == 0) {
		errno = ENOENT; /* whoever runs the tests in a container does not mean it */
		return -1;
	}
	if (refused_error && strcmp(path, refused_path) == 0) {
		errno = refused_error;
		return -1;
	}
	if (at == place && !(flags & O_CLOEXEC))
		abort(); /* no program that is started while the library reads shall inherit it */
	return openat(AT_FDCWD, at, flags, makes ? va_arg(args, mode_t) : 0);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int fd;

	va_start(args, flags);
	fd = open_mode(path, flags, args);
	va_end(args);
	return fd;
}

#ifndef open64 /* musl's fcntl.h may make it another word for open() */
int open64(const char *path, int flags, ...)
{
	va_list args;
	int fd;

	va_start(args, flags);
	fd = open_mode(path, flags, args);
	va_end(args);
	return fd;
}
#endif

DIR *opendir(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *const directory = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !directory)
		close(fd);
	return directory;
}

int access(const char *path, int mode)
{
	char place[2 * PATH_MAX];

	return faccessat(AT_FDCWD, place_of(path, place), mode, 0);
}

int stat(const char *path, struct stat *status)
{
	char place[2 * PATH_MAX];

	return fstatat(AT_FDCWD, place_of(path, place), status, 0);
}

int lstat(const char *path, struct stat *status)
{
	char place[2 * PATH_MAX];

	return fstatat(AT_FDCWD, place_of(path, place), status, AT_SYMLINK_NOFOLLOW);
}

ssize_t readlink(const char *path, char *target, size_t size)
{
	char place[2 * PATH_MAX];

	return readlinkat(AT_FDCWD, place_of(path, place), target, size);
}
