/* SPDX-License-Identifier: MIT */
/* The directory that stands for /proc, /sys, /dev and /etc replaces what it should, and nothing else. */
#define _GNU_SOURCE /* open64(), symlink() */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "fake_verbs.h"

/* The beginning of a file, or "(none)". */
static const char *text_of(const char *path, int (*opens)(const char *, int, ...))
{
	static char text[64];
	const int fd = opens(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return "(none)";
	length = read(fd, text, sizeof(text) - 1);
	text[length < 0 ? 0 : length] = '\0';
	close(fd);
	return text;
}

static void check_questions(void)
{
	struct stat status;
	char target[16] = "";
	DIR *directory;

	fake_tree_new();
	fake_tree_file("/sys/class/one", "12345");
	tap_eq_str(text_of("/sys/class/one", open), "12345", "open() finds what was written");
	tap_eq_str(text_of("/sys/class/one", open64), "12345", "and so does open64()");
	tap_eq_int(access("/sys/class/one", R_OK), 0, "access() finds it");
	tap_eq_int(access("/sys/class/two", F_OK), -1, "and misses its neighbour");
	tap_eq_int(access("/sys", F_OK), 0, "the folder itself is replaced");
	tap_eq_int(access("/proc", F_OK), -1, "and one that was not made is missing");
	tap_ok(!stat("/sys/class/one", &status) && status.st_size == 5, "stat() finds it");
	tap_eq_int(stat("/sys/class/two", &status), -1, "and misses its neighbour");
	tap_ok(!lstat("/sys/class", &status) && S_ISDIR(status.st_mode), "lstat() finds folders");
	tap_eq_int(readlink("/proc/self/exe", target, sizeof(target)), -1, "no link is followed");
	directory = opendir("/sys/class");
	tap_ok(directory && readdir(directory), "opendir() opens a folder");
	if (directory)
		closedir(directory);
	tap_ok(!opendir("/sys/class/one"), "and no file");
	tap_ok(!opendir("/dev"), "nor a folder that was not made");
}

static void check_rest(void)
{
	char name[] = "/tmp/rdmaez-fake-tree-XXXXXX";
	char target[16] = "";
	int fd = mkstemp(name);

	fake_tree_new();
	tap_eq_str(text_of("/processes", open), "(none)", "a name that only begins alike");
	tap_eq_int(access(name, F_OK), 0, "files elsewhere are seen");
	close(fd);
	unlink(name);
	fd = open(name, O_CLOEXEC | O_CREAT | O_EXCL | O_WRONLY, 0600);
	tap_ok(fd >= 0, "and can be made, with their mode");
	close(fd);
	unlink(name);
	fake_reset();
	tap_eq_int(access("/proc/thread-self/status", R_OK), 0,
		   "fake_reset() brings the machine's back");
	tap_ok(readlink("/proc/self/exe", target, sizeof(target)) > 0, "links, too");
	tap_ok(open("/dev/null", O_RDONLY | O_CLOEXEC | O_DIRECTORY) < 0 && errno == ENOTDIR,
	       "flags are handed on");
}

int main(void)
{
	check_questions();
	check_rest();
	fake_close_all();
	return tap_done();
}
