/* SPDX-License-Identifier: MIT */
/* The device nodes below /dev/infiniband: whether they are there, and may be opened. */
#include "doctor.h"

#include <rdmaez.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NODES "/dev/infiniband"

/* The name of a user or group from /etc/passwd or /etc/group, or else its number. */
static void name_of_id(char *name, size_t size, const char *file, unsigned int id)
{
	static char all[1 << 16];
	char *line, *rest = all, *field, *number;

	snprintf(name, size, "%u", id);
	doctor_read_all(all, sizeof(all), "%s", file);
	while ((line = strsep(&rest, "\n")) != NULL) {
		field = strsep(&line, ":");
		strsep(&line, ":");
		number = strsep(&line, ":");
		if (!number || strtoul(number, NULL, 10) != id)
			continue;
		snprintf(name, size, "%s", field);
		return;
	}
}

static void say_missing(enum doctor_verdict verdict, const char *subject, const char *path)
{
	doctor_say(verdict, subject, "its node %s is missing", path);
	doctor_evidence("stat(\"%s\"): ENOENT%s", path,
			doctor_in_container() ? "; this is a container" : "");
	doctor_next("in a container: docker run --device=%s, or the device plugin of the pod",
		    NODES);
	doctor_next("elsewhere: udevadm trigger --subsystem-match=infiniband_verbs "
		    "--subsystem-match=misc --action=add");
}

/* What open() refused, and why. */
static void say_refused(enum doctor_verdict verdict, const char *subject, const char *path,
			const struct stat *status, int error)
{
	char owner[64], group[64];

	name_of_id(owner, sizeof(owner), "/etc/passwd", status->st_uid);
	name_of_id(group, sizeof(group), "/etc/group", status->st_gid);
	doctor_say(verdict, subject, "this process may not open %s: %s", path, strerror(error));
	doctor_evidence("open(\"%s\", O_RDWR): %s", path, rdmaez_errno_str(error));
	doctor_evidence("%s: owner %s, group %s, mode %04o; this is user %u, group %u", path, owner,
			group, (unsigned int)status->st_mode & 07777, (unsigned int)geteuid(),
			(unsigned int)getegid());
	switch (error) {
	case EACCES:
		if ((status->st_mode & 0006) == 0006)
			doctor_next("check whether its file system is mounted with nodev, or "
				    "SELinux refuses it");
		else if ((status->st_mode & 0060) == 0060 && status->st_gid != 0)
			doctor_next("as root: usermod -aG %s USER, who then logs in again", group);
		else
			doctor_next("as root: chmod 0666 %s; a udev rule such as rdma-core's makes "
				    "this permanent",
				    path);
		break;
	case EPERM:
		doctor_next(
			"allow the device in the container's device cgroup: docker run "
			"--device=%s, or the pod's device plugin; mounting the node is not enough",
			NODES);
		break;
	default:
		doctor_next("the device was removed, or is failing: see dmesg");
	}
}

/* What is with a node. */
enum node {
	NODE_OPENS,
	NODE_MISSING,
	NODE_OTHER,
	NODE_REFUSED
};

/*
 * Opens the node of this path, whose number should be `number`, "231:192", or "" if that is not known. `status` and
 * `error` tell of one that does not open.
 */
static enum node try_node(const char *path, const char *number, struct stat *status, int *error)
{
	char has[32];
	int fd;

	doctor_step("opening %s", path);
	memset(status, 0, sizeof(*status));
	fd = doctor_open_file(path, O_PATH);
	*error = errno;
	if (fd < 0 || fstat(fd, status)) {
		return *error == ENOENT || *error == ENOTDIR ? NODE_MISSING : NODE_REFUSED;
	}
	close(fd);
	snprintf(has, sizeof(has), "%u:%u", major(status->st_rdev), minor(status->st_rdev));
	/* In a saved tree, a node may be a plain file, and is not opened. */
	if (doctor_options.root && !S_ISCHR(status->st_mode))
		return NODE_OPENS;
	if (!S_ISCHR(status->st_mode) || (number[0] && strcmp(has, number) != 0))
		return NODE_OTHER;
	if (doctor_options.root)
		return NODE_OPENS;
	fd = open(path, O_RDWR | O_CLOEXEC);
	*error = errno;
	if (fd < 0)
		return NODE_REFUSED;
	close(fd);
	return NODE_OPENS;
}

/* After a node that does not open, libraries try the one that udev names by its number (open_cdev_robust()). */
static bool opens_by_number(const char *number)
{
	struct stat status;
	char path[64];
	int error;

	snprintf(path, sizeof(path), "/dev/char/%.31s", number);
	return !doctor_options.root && number[0] &&
	       try_node(path, number, &status, &error) == NODE_OPENS;
}

/* Looks at a node, says what is wrong, and returns false; or says nothing. */
static bool node_works(enum doctor_verdict verdict, const char *subject, const char *node,
		       const char *number)
{
	char path[PATH_MAX];
	struct stat status;
	enum node is;
	int error;

	doctor_path(path, sizeof(path), "%s", node);
	is = try_node(path, number, &status, &error);
	if (is == NODE_OPENS)
		return true;
	if (is == NODE_MISSING) {
		say_missing(verdict, subject, node);
		return false;
	}
	if (opens_by_number(number))
		verdict = DOCTOR_WARNING;
	if (is == NODE_REFUSED) {
		say_refused(verdict, subject, node, &status, error);
	} else {
		doctor_say(verdict, subject, "%s is not its node", node);
		doctor_evidence("%s has number %u:%u, the device %s", node, major(status.st_rdev),
				minor(status.st_rdev), number);
		doctor_next("as root: rm %s && mknod --mode=666 %s c %.*s %s", node, node,
			    (int)strcspn(number, ":"), number,
			    strchr(number, ':') ? strchr(number, ':') + 1 : "");
	}
	if (verdict == DOCTOR_WARNING && opens_by_number(number))
		doctor_evidence("/dev/char/%s can be opened, which libraries try next", number);
	return false;
}

/* The uverbs device of an RDMA device, "uverbs0", and its number; "" where there is none. */
static void find_uverbs(const char *device, char *name, size_t size, char *number,
			size_t number_size)
{
	/* Of the next device it is most often the next one. */
	static int next;
	struct dirent **names;
	char of[IBV_SYSFS_NAME_MAX];
	int i, n = doctor_uverbs(&names);

	name[0] = number[0] = '\0';
	for (i = 0; i < n; i++) {
		const char *const uverbs = names[(next + i) % n]->d_name;

		doctor_read(of, sizeof(of), "/sys/class/infiniband_verbs/%s/ibdev", uverbs);
		if (strcmp(of, device) != 0)
			continue;
		next = (next + i + 1) % n;
		snprintf(name, size, "%.63s", uverbs);
		doctor_read(number, number_size, "/sys/class/infiniband_verbs/%s/dev", name);
		return;
	}
}

bool doctor_node_opens(const char *device)
{
	char uverbs[64], number[32], path[128];
	struct stat status;
	int error;

	find_uverbs(device, uverbs, sizeof(uverbs), number, sizeof(number));
	if (!uverbs[0])
		return true;
	snprintf(path, sizeof(path), NODES "/%s", uverbs);
	switch (try_node(path, number, &status, &error)) {
	case NODE_OPENS:
		return true;
	case NODE_MISSING:
		return false; /* it is not listed then, whatever else there is */
	default:
		return opens_by_number(number);
	}
}

void doctor_check_node(void)
{
	char uverbs[64], number[32], path[128];
	unsigned int i;

	for (i = 0; i < doctor_device_count(); i++) {
		const char *device = doctor_device(i);

		if (doctor_is_elsewhere(device))
			continue; /* its node cannot be opened, and the check namespace says why */
		find_uverbs(device, uverbs, sizeof(uverbs), number, sizeof(number));
		if (!uverbs[0]) {
			doctor_say(DOCTOR_WARNING, device, "ib_uverbs has no device for it yet");
			doctor_evidence("no /sys/class/infiniband_verbs/*/ibdev names it");
			doctor_next("modprobe ib_uverbs (on the host, if this is a container)");
			continue;
		}
		snprintf(path, sizeof(path), NODES "/%s", uverbs);
		if (node_works(DOCTOR_FAILED, device, path, number))
			doctor_say(DOCTOR_OK, device, "%s %s", path,
				   doctor_options.root ? "is there" : "can be opened");
	}
}

void doctor_check_cm(void)
{
	char number[32];

	if (doctor_read(number, sizeof(number), "/sys/class/misc/rdma_cm/dev"))
		return; /* the check of modules says so */
	if (node_works(DOCTOR_WARNING, "", NODES "/rdma_cm", number))
		doctor_say(DOCTOR_OK, "", NODES "/rdma_cm %s",
			   doctor_options.root ? "is there" : "can be opened");
}
