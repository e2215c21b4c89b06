/* SPDX-License-Identifier: MIT */
/*
 * The checks of rdmaez-doctor --root under libFuzzer: whatever the files of a tree hold, in whatever form, each check
 * comes to its end, and each line that it says can be printed. The input is what is read, one file after the other; so
 * read.c has no part in it, whose test is tests/tools/doctor_tree.t.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../tools/doctor/doctor.h"

#include "must.h"

enum {
	NAMES = 8,    /* in a directory, at most */
	READS = 20000 /* of one check; more, and it would not come to an end */
};

struct doctor_options doctor_options;

/* What is left of the input, and what has been handed out. */
static const uint8_t *at, *end;
static unsigned int reads;
static struct dirent *entry[64 * NAMES], **list[64];
static unsigned int entries, lists;

static unsigned int next(unsigned int below)
{
	return at < end ? *at++ % below : 0;
}

/* What files and links of a machine hold; an input refers to it by one byte. */
static const char *const words[] = {
	"0",
	"1",
	"4: ACTIVE",
	"1: DOWN",
	"5: LinkUp",
	"Ethernet",
	"InfiniBand",
	"100 Gb/sec (4X EDR)",
	"RoCE v2",
	"IB/RoCE v1",
	"eth0",
	"mlx5_0",
	"rxe0",
	"0x15b3",
	"0x1017",
	"0x020000",
	"0xffff",
	"fe80:0000:0000:0000:0200:00ff:fe00:0001",
	"0000:0000:0000:0000:0000:ffff:c000:0201",
	"0000:0000:0000:0000:0000:0000:0000:0000",
	"9000",
	"up",
	"231:192",
	"18446744073709551615",
	"-1",
	"8.0 GT/s PCIe",
	"16",
	"0000:3b:00.0",
	"uverbs0",
	"driver mlx5",
	"powersave",
	"Y",
	"7.2.0",
	"1: CA",
	"max",
	"0x1003",
	"mlx5_core",
};

/* The next file: there is none, one word, or bytes of the input. Returns its length, or -ENOENT. */
static int take(char *buf, size_t size)
{
	const unsigned int kind = next(4);
	size_t length = 0;

	must(size > 0 && reads++ < READS);
	buf[0] = '\0';
	if (kind == 0)
		return -ENOENT;
	if (kind == 1) {
		snprintf(buf, size, "%s", words[next(sizeof(words) / sizeof(words[0]))]);
		return (int)strlen(buf);
	}
	for (unsigned int left = next(256) * (kind == 3 ? 8 : 1); left && at < end; left--) {
		if (length + 1 < size)
			buf[length++] = *at ? (char)*at : ' ';
		at++;
	}
	buf[length] = '\0';
	return (int)length;
}

static int take_line(char *buf, size_t size)
{
	const int length = take(buf, size);

	buf[strcspn(buf, "\n")] = '\0';
	return length < 0 ? length : (int)strlen(buf);
}

/* As the functions of read.c, whatever path they are given; its text is put together. */
#define PATH(format)                                         \
	do {                                                 \
		char path[4096];                             \
		va_list args;                                \
                                                             \
		va_start(args, format);                      \
		vsnprintf(path, sizeof(path), format, args); \
		va_end(args);                                \
	} while (0)

void doctor_path(char *buf, size_t size, const char *path_format, ...)
{
	PATH(path_format);
	snprintf(buf, size, "/nonexistent");
}

int doctor_open_file(const char *path, int flags)
{
	static char bytes[4096];
	int fd, length;

	(void)path;
	if (flags & (O_DIRECTORY | O_PATH))
		return -1;
	length = take(bytes, sizeof(bytes));
	if (length < 0)
		return -1;
	fd = memfd_create("file", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, bytes, (size_t)length) == length);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

bool doctor_real_path(char *buf, const char *path_format, ...)
{
	char text[200];

	PATH(path_format);
	if (take_line(text, sizeof(text)) < 0)
		return false;
	snprintf(buf, 4096, "/nonexistent/%s", text);
	return true;
}

int doctor_read(char *buf, size_t size, const char *path_format, ...)
{
	PATH(path_format);
	return next(2) ? take_line(buf, size) < 0 ? -ENOENT : 0 : (buf[0] = '\0', -ENOENT);
}

int doctor_read_all(char *buf, size_t size, const char *path_format, ...)
{
	PATH(path_format);
	return take(buf, size);
}

bool doctor_read_number(uint64_t *n, const char *path_format, ...)
{
	char text[40], *rest;

	PATH(path_format);
	if (take_line(text, sizeof(text)) < 0)
		return false;
	*n = strtoull(text, &rest, 0);
	return rest != text;
}

int doctor_read_link(char *buf, size_t size, const char *path_format, ...)
{
	PATH(path_format);
	return take_line(buf, size) < 0 ? -ENOENT : 0;
}

bool doctor_exists(const char *path_format, ...)
{
	PATH(path_format);
	return next(2) != 0;
}

int doctor_list(struct dirent ***names, const char *path_format, ...)
{
	const unsigned int count = next(NAMES);
	unsigned int got = 0;

	PATH(path_format);
	must(reads++ < READS);
	if (!count || lists == sizeof(list) / sizeof(list[0]))
		return -ENOENT;
	list[lists] = (struct dirent **)calloc(NAMES, sizeof(**list));
	must(list[lists] != NULL);
	while (got < count) {
		struct dirent *const one = (struct dirent *)calloc(1, sizeof(*one));

		must(one != NULL);
		if (take_line(one->d_name, sizeof(one->d_name)) <= 0)
			strcpy(one->d_name, got ? "eth1" : "mlx5_0");
		for (char *c = one->d_name; *c; c++)
			*c = *c == '/' ? '_' : *c;
		entry[entries++] = list[lists][got++] = one;
	}
	*names = list[lists++];
	return (int)got;
}

int doctor_uverbs(struct dirent ***names)
{
	return doctor_list(names, "/sys/class/infiniband_verbs");
}

bool doctor_in_container(void)
{
	return next(2) != 0;
}

bool doctor_is_meant(const char *device)
{
	(void)device;
	return true;
}

unsigned int doctor_device_count(void)
{
	return 2;
}

const char *doctor_device(unsigned int i)
{
	return i ? "rxe0" : "mlx5_0";
}

/* The report: each line is put together, so that each text is read to its end. */
#define SAYS(name, ...)                                      \
	void name(__VA_ARGS__)                               \
	{                                                    \
		char line[8192];                             \
		va_list args;                                \
                                                             \
		va_start(args, format);                      \
		vsnprintf(line, sizeof(line), format, args); \
		va_end(args);                                \
		must(strlen(line) < sizeof(line));           \
	}
SAYS(doctor_evidence, const char *format, ...)
SAYS(doctor_next, const char *format, ...)
SAYS(doctor_step, const char *format, ...)

void doctor_say(enum doctor_verdict verdict, const char *subject, const char *format, ...)
{
	char line[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	must(verdict <= DOCTOR_FAILED && strlen(subject) < 1000);
}

void doctor_sleep(unsigned int ms)
{
	(void)ms;
}

void doctor_gid(const struct doctor_gid *gid)
{
	must(memchr(gid->device, 0, sizeof(gid->device)) && memchr(gid->gid, 0, sizeof(gid->gid)));
	must(memchr(gid->address, 0, sizeof(gid->address)) &&
	     memchr(gid->type, 0, sizeof(gid->type)));
	must(memchr(gid->netdev, 0, sizeof(gid->netdev)) != NULL);
}

/* A check ends with its process, which frees what it has. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const checks[])(void) = {
		doctor_check_versions, doctor_check_modules,   doctor_check_device,
		doctor_check_node,     doctor_check_cm,        doctor_check_provider,
		doctor_check_memlock,  doctor_check_files,     doctor_check_cgroup,
		doctor_check_objects,  doctor_check_namespace, doctor_check_fork,
		doctor_check_port,     doctor_check_gids,      doctor_check_subnet,
		doctor_check_quality,  doctor_check_counters,  doctor_check_slot,
		doctor_check_governor, doctor_check_gpu,       doctor_check_caps,
	};

	if (!size)
		return 0;
	doctor_options.root = "/nonexistent";
	doctor_options.seconds = 1;
	at = data;
	end = data + size;
	reads = entries = lists = 0;
	checks[next(sizeof(checks) / sizeof(checks[0]))]();
	while (entries)
		free(entry[--entries]);
	while (lists)
		free(list[--lists]);
	return 0;
}
