/* SPDX-License-Identifier: MIT */
/* Files of this machine, or of the saved tree that --root names. */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void path_of(char *path, size_t size, const char *format, va_list args)
{
	int n = snprintf(path, size, "%s", doctor_options.root ? doctor_options.root : "");

	if (n >= 0 && (size_t)n < size)
		vsnprintf(path + n, size - (size_t)n, format, args);
}

/* Reading may block forever where a driver is stuck, so each file is announced. */
static void announce(char *path, const char *format, va_list args)
{
	path_of(path, PATH_MAX, format, args);
	doctor_step("reading %s", path);
}

/* --- A tree that others have made: its links are its own, and lead to nothing outside of it ---------- */

enum {
	OPENAT2 = 437, /* on every architecture */
	LINKS_MAX = 40 /* as the kernel has it */
};

static bool is_folder(int root, const char *path)
{
	struct stat is;

	if (fstatat(root, path, &is, AT_SYMLINK_NOFOLLOW))
		return false;
	errno = ENOTDIR;
	return S_ISDIR(is.st_mode);
}

/*
 * Takes the first component off `rest` and puts it behind `done`, a path without links: ".." takes one off instead, but
 * never the root; a link is put before `rest`, and `done` begins anew if it is absolute. What has a slash behind it must
 * be a folder. False, with errno set: it is none, too long, or there are too many links.
 */
static bool step_down(int root, char done[PATH_MAX], char rest[PATH_MAX], unsigned int *links)
{
	char target[PATH_MAX], behind[PATH_MAX];
	const size_t length = strcspn(rest, "/"), at = strlen(done);
	const bool has_slash = rest[length] == '/';
	const char *to = target;
	ssize_t n;

	snprintf(behind, sizeof(behind), "%s", rest + length + strspn(rest + length, "/"));
	rest[length] = '\0';
	if (strcmp(rest, "..") == 0) {
		char *const slash = strrchr(done, '/');

		*(slash ? slash : done) = '\0';
	} else if (strcmp(rest, ".") != 0) {
		errno = ENAMETOOLONG;
		if (at + 1 + length >= PATH_MAX)
			return false;
		snprintf(done + at, PATH_MAX - at, "%s%s", at ? "/" : "", rest);
		n = readlinkat(root, done, target, sizeof(target) - 1);
		if (n >= 0) {
			target[n] = '\0';
			done[target[0] == '/' ? 0 : at] = '\0';
			to += strspn(target, "/");
			n = snprintf(rest, PATH_MAX, "%s%s%s", to, *to && has_slash ? "/" : "",
				     behind);
			errno = ELOOP;
			return n < PATH_MAX && ++*links <= LINKS_MAX;
		}
		if (has_slash && !is_folder(root, done))
			return false;
	}
	snprintf(rest, PATH_MAX, "%s", behind);
	return true;
}

/* Opens a path that has no link, one component after the other, so that none becomes one meanwhile. */
static int open_plain(int root, char *path, int flags)
{
	int folder = dup(root), fd = folder;
	char *rest = path, *name;

	while (fd >= 0 && (name = strtok_r(NULL, "/", &rest)) != NULL) {
		fd = openat(folder, name,
			    *rest ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
				  : flags | O_NOFOLLOW);
		close(folder);
		folder = fd;
	}
	return fd;
}

/* What openat2() does, for kernels before Linux 5.6 and for where a filter forbids it. */
static int open_by_steps(int root, const char *path, int flags)
{
	char done[PATH_MAX] = "", rest[PATH_MAX], last[NAME_MAX + 1] = "";
	const bool is_link = (flags & O_NOFOLLOW) != 0;
	unsigned int links = 0;

	snprintf(rest, sizeof(rest), "%s", path + strspn(path, "/"));
	while (rest[0]) {
		if (is_link && !strchr(rest, '/') && strlen(rest) <= NAME_MAX) {
			strcpy(last, rest);
			break;
		}
		if (!step_down(root, done, rest, &links))
			return -1;
	}
	if (last[0] && strlen(done) + strlen(last) + 1 < sizeof(done))
		strcat(strcat(done, done[0] ? "/" : ""), last);
	if (!done[0])
		return openat(root, ".", flags);
	return open_plain(root, done, flags);
}

int doctor_open_file(const char *path, int flags)
{
	/* struct open_how, of which linux/openat2.h has a name since Linux 5.6. */
	const uint64_t how[3] = {(unsigned int)flags | O_CLOEXEC, 0,
				 0x10 /* RESOLVE_IN_ROOT */ | 0x02 /* RESOLVE_NO_MAGICLINKS */};
	int root, fd, error;

	if (!doctor_options.root)
		return open(path, flags | O_CLOEXEC);
	root = open(doctor_options.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	path += strlen(doctor_options.root);
	fd = (int)syscall(OPENAT2, root, path, how, sizeof(how));
	error = errno;
	if (fd < 0 && (error == ENOSYS || error == EPERM)) {
		fd = open_by_steps(root, path, flags | O_CLOEXEC);
		error = errno;
	}
	close(root);
	errno = error;
	return fd;
}

bool doctor_real_path(char *buf, const char *path_format, ...)
{
	char path[PATH_MAX], link[40];
	va_list args;
	ssize_t n;
	int fd;

	va_start(args, path_format);
	announce(path, path_format, args);
	va_end(args);
	if (!doctor_options.root)
		return realpath(path, buf) != NULL;
	fd = doctor_open_file(path, O_PATH);
	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, buf, PATH_MAX - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* --- Files ------------------------------------------------------------------------------------------ */

static int read_file(char *buf, size_t size, const char *path)
{
	size_t length = 0;
	ssize_t n = 0;
	int fd = doctor_open_file(path, O_RDONLY);
	int error = errno;

	buf[0] = '\0';
	if (fd < 0)
		return -error;
	while (length < size - 1 && (n = read(fd, buf + length, size - 1 - length)) > 0)
		length += (size_t)n;
	error = errno;
	close(fd);
	if (n < 0)
		length = 0;
	buf[length] = '\0';
	return n < 0 ? -error : (int)length;
}

static int read_line(char *buf, size_t size, const char *path)
{
	int n = read_file(buf, size, path);

	buf[strcspn(buf, "\n")] = '\0';
	return n < 0 ? n : 0;
}

void doctor_path(char *buf, size_t size, const char *path_format, ...)
{
	va_list args;

	va_start(args, path_format);
	path_of(buf, size, path_format, args);
	va_end(args);
}

int doctor_read(char *buf, size_t size, const char *path_format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, path_format);
	announce(path, path_format, args);
	va_end(args);
	return read_line(buf, size, path);
}

int doctor_read_all(char *buf, size_t size, const char *path_format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, path_format);
	announce(path, path_format, args);
	va_end(args);
	return read_file(buf, size, path);
}

bool doctor_read_number(uint64_t *n, const char *path_format, ...)
{
	char path[PATH_MAX], line[64], *end;
	va_list args;

	va_start(args, path_format);
	announce(path, path_format, args);
	va_end(args);
	if (read_line(line, sizeof(line), path))
		return false;
	errno = 0;
	*n = strtoull(line, &end, 0);
	return end != line && line[0] != '-' && errno == 0;
}

int doctor_read_link(char *buf, size_t size, const char *path_format, ...)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *last;
	va_list args;
	int fd, error;
	ssize_t n;

	va_start(args, path_format);
	announce(path, path_format, args);
	va_end(args);
	buf[0] = '\0';
	fd = doctor_open_file(path, O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	n = readlinkat(fd, "", target, sizeof(target) - 1);
	error = errno == ENOENT ? EINVAL : errno; /* what is no link says so by its descriptor */
	close(fd);
	if (n < 0)
		return -error;
	target[n] = '\0';
	last = strrchr(target, '/');
	snprintf(buf, size, "%s", last ? last + 1 : target);
	return 0;
}

bool doctor_exists(const char *path_format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int fd;

	va_start(args, path_format);
	announce(path, path_format, args);
	va_end(args);
	if (!doctor_options.root)
		return access(path, F_OK) == 0;
	fd = doctor_open_file(path, O_PATH);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int doctor_list(struct dirent ***names, const char *path_format, ...)
{
	char path[PATH_MAX];
	int n, fd, error;
	va_list args;

	va_start(args, path_format);
	announce(path, path_format, args);
	va_end(args);
	*names = NULL;
	fd = doctor_open_file(path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return -errno;
	n = scandirat(fd, ".", names, is_visible, versionsort);
	error = errno;
	close(fd);
	if (n < 0)
		*names = NULL;
	return n < 0 ? -error : n;
}

bool doctor_in_container(void)
{
	char groups[4096];

	doctor_read_all(groups, sizeof(groups), "/proc/self/cgroup");
	return doctor_exists("/.dockerenv") || doctor_exists("/run/.containerenv") ||
	       doctor_exists("/var/run/secrets/kubernetes.io") || strstr(groups, "/docker") ||
	       strstr(groups, "kubepods") || strstr(groups, "/lxc");
}

bool doctor_is_meant(const char *device)
{
	unsigned int i;

	for (i = 0; i < doctor_options.devices; i++)
		if (strcmp(doctor_options.device[i], device) == 0)
			return true;
	return doctor_options.devices == 0;
}

static struct dirent **devices;
static int device_count = -1;

unsigned int doctor_device_count(void)
{
	int i, n;

	if (device_count >= 0)
		return (unsigned int)device_count;
	n = doctor_list(&devices, "/sys/class/infiniband");
	device_count = 0;
	for (i = 0; i < n; i++)
		if (doctor_is_meant(devices[i]->d_name))
			devices[device_count++] = devices[i];
	return (unsigned int)device_count;
}

const char *doctor_device(unsigned int i)
{
	return i < doctor_device_count() ? devices[i]->d_name : "";
}

int doctor_uverbs(struct dirent ***names)
{
	static struct dirent **all;
	static int count;

	if (!all)
		count = doctor_list(&all, "/sys/class/infiniband_verbs");
	*names = all;
	return count;
}
