/* SPDX-License-Identifier: MIT */
/* Explains why no device was opened. */
#ifndef RDMAEZ_EXPLAIN_DEVICE_H
#define RDMAEZ_EXPLAIN_DEVICE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/* ---- What was found of one device --------------------------------------------------------- */

/* Writes the name that a finding's three numbers hold. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_device_text(const struct rdmaez_finding *finding,
					      enum rdmaez_finding_form form, char *buf, size_t size)
{
	const uint64_t packed[3] = {finding->value, finding->min, finding->max};
	char name[sizeof(packed) + 1];

	memcpy(name, packed, sizeof(packed));
	name[sizeof(packed)] = '\0';
	return snprintf(buf, size, form == RDMAEZ_FINDING_TEXT ? " It is %s." : ",\"name\":\"%s\"",
			name);
}

/*
 * Adds a finding with a name of at most 24 ASCII characters, without those that JSON would have to
 * escape.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_device_find(struct rdmaez_diag *diag,
					      enum rdmaez_severity severity, enum rdmaez_why why,
					      const char *field, const char *name)
{
	const struct rdmaez_impl_site site = {field, why, RDMAEZ_VALUE_NONE, 0, 0};
	uint64_t packed[3] = {0, 0, 0};
	char text[sizeof(packed)] = "";

	for (size_t i = 0; i < sizeof(text) && name[i]; i++)
		text[i] = (char)(name[i] < ' ' || name[i] > '~' || name[i] == '"' || name[i] == '\\'
					 ? '?'
					 : name[i]);
	memcpy(packed, text, sizeof(packed));
	rdmaez_impl_find_within(diag, severity, &site, packed[0], packed[1], packed[2]);
	for (unsigned int i = 0; i < diag->count; i++)
		if (diag->finding[i].reason == why)
			diag->finding[i].format = rdmaez_impl_device_text;
}

/* ---- What the system says ----------------------------------------------------------------- */

#define RDMAEZ_IMPL_CLASS  "/sys/class/infiniband"
#define RDMAEZ_IMPL_UVERBS "/sys/class/infiniband_verbs"

/*
 * Returns whether a class of sysfs has this device, or any if the name is NULL. Returns -1 if that
 * cannot be asked.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_class_has(const char *name)
{
	DIR *const folder = opendir(RDMAEZ_IMPL_CLASS);
	const struct dirent *entry;
	int has = 0;

	if (!folder)
		return errno == ENOENT && !access("/sys/class", F_OK) ? 0 : -1;
	while (!has && (entry = readdir(folder)))
		has = name ? strcmp(entry->d_name, name) == 0 : entry->d_name[0] != '.';
	closedir(folder);
	return has;
}

/*
 * Returns whether a file whose path has this in it is mapped into the process, or -1 if that cannot
 * be asked.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_is_mapped(const char *part)
{
	struct rdmaez_impl_lines lines;
	const char *line;

	rdmaez_impl_lines_open(&lines, "/proc/self/maps");
	if (lines.fd < 0)
		return -1;
	do
		line = rdmaez_impl_line(&lines);
	while (line && !strstr(line, part));
	rdmaez_impl_lines_close(&lines);
	return line != NULL;
}

/*
 * Says why libibverbs has no provider library for a device. Those that it could load are mapped,
 * under names such as libmlx5-rdmav34.so. The number is that of rdma-core's private interface,
 * which both must share. A few are links to a library without that in its name, but these are not
 * installed alone.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_device_provider(struct rdmaez_diag *diag)
{
	const int loaded = rdmaez_impl_is_mapped("-rdmav");
	enum rdmaez_why why = RDMAEZ_WHY_PROVIDER_UNFIT;

	/* A program that is linked statically has its providers within. */
	if (loaded < 0 || (!loaded && rdmaez_impl_is_mapped("/libibverbs.so") != 1))
		return;
	if (!loaded)
		why = access("/etc/libibverbs.d", F_OK) && errno == ENOENT
			      ? RDMAEZ_WHY_PROVIDER_MISSING
			      : RDMAEZ_WHY_PROVIDER_RELEASE;
	if (!rdmaez_diag_find(diag, why))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, why, "/etc/libibverbs.d");
}

/*
 * Writes a device number as sysfs does, "231:192". <sys/sysmacros.h> would define macros of common
 * names.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_number(uint64_t number, char *text, size_t size)
{
	snprintf(text, size, "%u:%u\n",
		 (unsigned int)((number >> 8 & 0xfff) | (number >> 44 << 12)),
		 (unsigned int)((number & 0xff) | (number >> 20 & 0xffffff) << 8));
}

/* Returns what is wrong with a device node, or NONE if nothing is. `uverbs` is its name. */
RDMAEZ_IMPL_SMALL enum rdmaez_why rdmaez_impl_node_wrong(const char *uverbs)
{
	char path[sizeof(RDMAEZ_IMPL_UVERBS) + 32], number[32], node[32];
	struct stat status;
	int fd = -1, error;

	snprintf(path, sizeof(path), RDMAEZ_IMPL_UVERBS "/%.20s/dev", uverbs);
	rdmaez_impl_file_text(path, number, sizeof(number));
	snprintf(path, sizeof(path), "/dev/infiniband/%.20s", uverbs);
	if (!stat(path, &status)) {
		rdmaez_impl_put_number(status.st_rdev, node, sizeof(node));
		if (!S_ISCHR(status.st_mode) || (*number && strcmp(node, number) != 0))
			return RDMAEZ_WHY_DEVICE_OTHER_NODE;
		fd = open(path, O_RDWR | RDMAEZ_IMPL_CLOEXEC);
	}
	error = errno;
	if (fd >= 0)
		close(fd);
	else if (error == ENOENT)
		return RDMAEZ_WHY_DEVICE_NO_NODE;
	else if (error == EACCES)
		return RDMAEZ_WHY_DEVICE_RIGHTS;
	else if (error == EPERM)
		return RDMAEZ_WHY_DEVICE_FORBIDDEN;
	return RDMAEZ_WHY_NONE;
}

/* ---- The explanation ---------------------------------------------------------------------- */

/*
 * Says what keeps a device of the kernel from being opened. sysfs shows the nodes of all network
 * namespaces, and the devices of one: `uverbs_class` and `ib_class` of Linux 6.1 to 7.2.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_device_judge(struct rdmaez_diag *diag, const char *uverbs,
					       const char *name, bool is_listed)
{
	enum rdmaez_why why;
	bool is_elsewhere;

	if (!rdmaez_impl_class_has(name)) {
		rdmaez_impl_device_find(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DEVICE_NETNS, "device",
					name);
		return;
	}
	why = rdmaez_impl_node_wrong(uverbs);
	/*
	 * libibverbs lists the devices of the process's network namespace. sysfs lists those of the
	 * namespace in which it was mounted, which `unshare -n` leaves as it is. For a device of
	 * another namespace ib_uverbs_open() returns EPERM, as a cgroup does.
	 */
	is_elsewhere = !is_listed && why == RDMAEZ_WHY_DEVICE_FORBIDDEN;
	if (is_elsewhere)
		rdmaez_impl_device_find(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DEVICE_NETNS, "device",
					name);
	if (why != RDMAEZ_WHY_NONE)
		rdmaez_impl_device_find(diag, is_elsewhere ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ERROR,
					why, "/dev/infiniband", uverbs);
	/* libibverbs lists a node that may not be opened, but not one that is missing. */
	if (is_listed || why == RDMAEZ_WHY_DEVICE_NO_NODE)
		return;
	rdmaez_impl_device_find(diag,
				why == RDMAEZ_WHY_NONE ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY,
				RDMAEZ_WHY_DEVICE_PROVIDER, "device", name);
	rdmaez_impl_device_provider(diag);
}

/* Returns the device of this name in a list that may be missing, or NULL if there is none. */
RDMAEZ_IMPL struct ibv_device *rdmaez_impl_device_in(struct ibv_device **list, const char *name)
{
	for (; list && *list; list++)
		if (strcmp((*list)->name, name) == 0)
			return *list;
	return NULL;
}

/* Judges the kernel's devices of this name, or all if it is NULL. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_device_judge_all(struct rdmaez_diag *diag,
						    struct ibv_device **list, const char *name)
{
	DIR *const folder = opendir(RDMAEZ_IMPL_UVERBS);
	char path[sizeof(RDMAEZ_IMPL_UVERBS) + 32], ibdev[IBV_SYSFS_NAME_MAX];
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, "uverbs", 6) != 0)
			continue;
		snprintf(path, sizeof(path), RDMAEZ_IMPL_UVERBS "/%.20s/ibdev", entry->d_name);
		rdmaez_impl_file_text(path, ibdev, sizeof(ibdev));
		ibdev[strcspn(ibdev, "\n")] = '\0';
		if (*ibdev && (!name || strcmp(name, ibdev) == 0))
			rdmaez_impl_device_judge(diag, entry->d_name, ibdev,
						 rdmaez_impl_device_in(list, ibdev) != NULL);
	}
	if (folder)
		closedir(folder);
}

/*
 * Explains that libibverbs lists no device of this name, or none at all if it is NULL, and that the
 * kernel's devices show no reason.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_device_none(struct rdmaez_diag *diag, struct ibv_device **list,
					       const char *name)
{
	const int any = rdmaez_impl_class_has(NULL), has = rdmaez_impl_class_has(name);
	enum rdmaez_why why = RDMAEZ_WHY_DEVICE_NONE;

	if (has > 0)
		why = RDMAEZ_WHY_DEVICE_UVERBS;
	else if (name && (any > 0 || (list && *list)))
		why = RDMAEZ_WHY_DEVICE_NAME;
	rdmaez_impl_find_plain(diag, has < 0 ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ERROR, why,
			       "device");
	for (; why == RDMAEZ_WHY_DEVICE_NAME && list && *list; list++)
		rdmaez_impl_device_find(diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_DEVICE_THERE, "device",
					(*list)->name);
}

/*
 * Explains why no device was opened. Without a name, any would have done. `refused` is the one that
 * did not open, or NULL if none was listed.
 */
RDMAEZ_SEAM void rdmaez_impl_device_explain(struct rdmaez_diag *diag, struct ibv_device **list,
					    const char *name, const struct ibv_device *refused)
{
	if (refused)
		memcpy(diag->device, refused->name, sizeof(diag->device));
	else if (name)
		snprintf(diag->device, sizeof(diag->device), "%s", name);
	rdmaez_impl_device_judge_all(diag, list, name);
	/* Without a list, only these two values tell that there is no device. */
	if (refused || (!list && diag->error != ENODEV && diag->error != ENOSYS))
		rdmaez_impl_explain_rest(diag, "device", NULL, 0);
	else if (!diag->count)
		rdmaez_impl_device_none(diag, list, name);
}

RDMAEZ_IMPL_END

#endif
