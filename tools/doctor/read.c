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

static int read_file(char *buf, size_t size, const char *path)
{
	size_t length = 0;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
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
	ssize_t n;

	va_start(args, path_format);
	announce(path, path_format, args);
	va_end(args);
	buf[0] = '\0';
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	last = strrchr(target, '/');
	snprintf(buf, size, "%s", last ? last + 1 : target);
	return 0;
}

bool doctor_exists(const char *path_format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, path_format);
	announce(path, path_format, args);
	va_end(args);
	return access(path, F_OK) == 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int doctor_list(struct dirent ***names, const char *path_format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int n;

	va_start(args, path_format);
	announce(path, path_format, args);
	va_end(args);
	n = scandir(path, names, is_visible, versionsort);
	if (n < 0)
		*names = NULL;
	return n < 0 ? -errno : n;
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
