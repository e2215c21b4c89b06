/* SPDX-License-Identifier: MIT */
/* The device nodes below /dev/infiniband, and libibverbs with the provider libraries. */
#include "doctor.h"

#include <rdmaez.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NODES "/dev/infiniband"

/* --- Nodes --------------------------------------------------------------------------------------------- */

/* The name of a user or group from /etc/passwd or /etc/group, or else its number. */
static void name_of_id(char *name, size_t size, const char *file, unsigned int id)
{
	static char all[1 << 16];
	char *line, *rest = all, *field, *field_rest;

	snprintf(name, size, "%u", id);
	doctor_read_all(all, sizeof(all), "%s", file);
	while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
		field = strtok_r(line, ":", &field_rest);
		if (!field || !strtok_r(NULL, ":", &field_rest))
			continue;
		line = strtok_r(NULL, ":", &field_rest);
		if (!line || strtoul(line, NULL, 10) != id)
			continue;
		snprintf(name, size, "%s", field);
		return;
	}
}

static void tell_owner(const char *path, const struct stat *status)
{
	char owner[64], group[64];

	name_of_id(owner, sizeof(owner), "/etc/passwd", status->st_uid);
	name_of_id(group, sizeof(group), "/etc/group", status->st_gid);
	doctor_evidence("%s: owner %s, group %s, mode %04o; this is user %u, group %u", path, owner,
			group, (unsigned int)status->st_mode & 07777, (unsigned int)geteuid(),
			(unsigned int)getegid());
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
	doctor_say(verdict, subject, "this process may not open %s: %s", path, strerror(error));
	doctor_evidence("open(\"%s\", O_RDWR): %s", path, rdmaez_errno_str(error));
	tell_owner(path, status);
	if (error == EACCES && (status->st_mode & 0060) == 0060 && status->st_gid != 0)
		doctor_next("make the user a member of the node's group, then log in again: "
			    "usermod -aG");
	if (error == EACCES)
		doctor_next(
			"as root: chmod 0666 %s, for ever by a rule of udev, as rdma-core has one",
			path);
	if (error == EACCES && (status->st_mode & 0006) == 0006)
		doctor_next(
			"a file system mounted with nodev refuses this too, and so does SELinux");
	else if (error == EPERM)
		doctor_next("allow the device in the container's device cgroup: docker run "
			    "--device=%s, or "
			    "the pod's device plugin; to mount the node is not enough. A device of "
			    "another "
			    "network namespace is refused the same way, see the check namespace",
			    NODES);
	else if (error == ENXIO || error == ENODEV)
		doctor_next(
			"the node belongs to no device any more: make it again with the number of "
			"/sys/class/infiniband_verbs/*/dev");
	else
		doctor_next("the device was removed or is failing: see dmesg");
}

/*
 * Looks at the node of this path, whose number should be `number`, "231:192"; "": not known. Says what is wrong, and
 * returns false, or says nothing.
 */
static bool node_works(enum doctor_verdict verdict, const char *subject, const char *node,
		       const char *number)
{
	char path[PATH_MAX], has[32];
	struct stat status;
	int fd;

	doctor_path(path, sizeof(path), "%s", node);
	doctor_step("opening %s", path);
	if (stat(path, &status)) {
		say_missing(verdict, subject, node);
		return false;
	}
	snprintf(has, sizeof(has), "%u:%u", major(status.st_rdev), minor(status.st_rdev));
	/* In a saved tree, a node may be a plain file. */
	if (doctor_options.root && !S_ISCHR(status.st_mode))
		return true;
	if (!S_ISCHR(status.st_mode) || (number[0] && strcmp(has, number) != 0)) {
		doctor_say(verdict, subject, "%s is not its node", node);
		doctor_evidence("%s is %s, the device has number %s", node,
				S_ISCHR(status.st_mode) ? has : "no character device", number);
		doctor_next("make it again: rm %s && mknod %s c %.*s %s", node, node,
			    (int)strcspn(number, ":"), number,
			    strchr(number, ':') ? strchr(number, ':') + 1 : "");
		return false;
	}
	if (doctor_options.root)
		return true;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		say_refused(verdict, subject, node, &status, errno);
		return false;
	}
	close(fd);
	return true;
}

/* The uverbs device of an RDMA device, "uverbs0", and its number; "" where there is none. */
static void find_uverbs(const char *device, char *name, size_t size, char *number,
			size_t number_size)
{
	struct dirent **names;
	int i, n = doctor_list(&names, "/sys/class/infiniband_verbs");
	char of[IBV_SYSFS_NAME_MAX];

	name[0] = number[0] = '\0';
	for (i = 0; i < n; i++) {
		doctor_read(of, sizeof(of), "/sys/class/infiniband_verbs/%s/ibdev",
			    names[i]->d_name);
		if (strcmp(of, device) != 0)
			continue;
		snprintf(name, size, "%.63s", names[i]->d_name);
		doctor_read(number, number_size, "/sys/class/infiniband_verbs/%s/dev", name);
		return;
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

/* --- The provider libraries ------------------------------------------------------------------------------ */

/* The libibverbs of this process, or that of the saved tree. */
struct library {
	char path[PATH_MAX];    /* as it is opened; "": none was found */
	char folder[PATH_MAX];  /* of the provider libraries */
	unsigned int interface; /* the number of its private interface; 0: not found */
};

static int find_loaded(struct dl_phdr_info *info, size_t size, void *found)
{
	struct library *library = (struct library *)found;

	(void)size;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "/libibverbs.so"))
		return 0;
	return realpath(info->dlpi_name, library->path) != NULL;
}

/* In a saved tree: where distributions have it. */
static void find_saved(struct library *library)
{
	static const char *const folder[] = {"/usr/lib64", "/usr/lib", "/lib64", "/lib"};
	struct dirent **names;
	size_t i;
	int j, n;

	for (i = 0; i < sizeof(folder) / sizeof(folder[0]); i++) {
		if (doctor_exists("%s/libibverbs.so.1", folder[i])) {
			doctor_path(library->path, sizeof(library->path), "%s/libibverbs.so.1",
				    folder[i]);
			return;
		}
		n = doctor_list(&names, "%s", folder[i]);
		for (j = 0; j < n; j++) {
			if (!strstr(names[j]->d_name, "-linux-") ||
			    !doctor_exists("%s/%s/libibverbs.so.1", folder[i], names[j]->d_name))
				continue;
			doctor_path(library->path, sizeof(library->path), "%s/%s/libibverbs.so.1",
				    folder[i], names[j]->d_name);
			return;
		}
	}
}

/* The symbols that only providers use are of a version that has this number in its name. */
static unsigned int read_interface(const char *path)
{
	static const char version[] = "IBVERBS_PRIVATE_";
	unsigned int interface = 0;
	const char *at, *file;
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		file = (const char *)mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd,
					  0);
		if (file != MAP_FAILED) {
			at = (const char *)memmem(file, (size_t)status.st_size, version,
						  sizeof(version) - 1);
			if (at && at + sizeof(version) + 8 < file + status.st_size)
				interface =
					(unsigned int)strtoul(at + sizeof(version) - 1, NULL, 10);
		}
	}
	close(fd);
	return interface;
}

static void find_library(struct library *library)
{
	char *slash;

	memset(library, 0, sizeof(*library));
	if (doctor_options.root)
		find_saved(library);
	else
		dl_iterate_phdr(find_loaded, library);
	if (!library->path[0])
		return;
	doctor_step("reading %s", library->path);
	library->interface = read_interface(library->path);
	snprintf(library->folder, sizeof(library->folder), "%s", library->path);
	slash = strrchr(library->folder, '/');
	snprintf(slash, sizeof(library->folder) - (size_t)(slash - library->folder), "/libibverbs");
}

/* How many provider libraries there are of the library's own interface, and of others; one of the others. */
static void count_providers(const struct library *library, unsigned int *fitting,
			    unsigned int *other, char *example, size_t size)
{
	struct dirent **names;
	const char *mark;
	int i, n;

	*fitting = *other = 0;
	example[0] = '\0';
	doctor_step("reading %s", library->folder);
	n = scandir(library->folder, &names, NULL, alphasort);
	for (i = 0; i < n; i++) {
		mark = strstr(names[i]->d_name, "-rdmav");
		if (!mark)
			continue;
		if (strtoul(mark + strlen("-rdmav"), NULL, 10) == library->interface) {
			++*fitting;
		} else {
			++*other;
			snprintf(example, size, "%s", names[i]->d_name);
		}
	}
}

/* Which provider library a device takes, by its driver. */
static const char *provider_of(const char *device)
{
	static const char *const provider[][2] = {{"mlx5_core", "mlx5"},
						  {"mlx4_core", "mlx4"},
						  {"bnxt_en", "bnxt_re"},
						  {"ice", "irdma"},
						  {"i40e", "irdma"},
						  {"efa", "efa"},
						  {"cxgb4", "cxgb4"},
						  {"qede", "qedr"},
						  {"hns3", "hns"},
						  {"mana", "mana"},
						  {"ionic", "ionic"},
						  {"erdma", "erdma"},
						  {"vmw_pvrdma", "vmw_pvrdma"},
						  {"hfi1", "hfi1verbs"},
						  {"ib_mthca", "mthca"}};
	char driver[64];
	size_t i;

	/* Only rdma_rxe gives its devices this file. */
	if (doctor_exists("/sys/class/infiniband/%s/parent", device))
		return "rxe";
	doctor_read_link(driver, sizeof(driver), "/sys/class/infiniband/%s/device/driver", device);
	for (i = 0; i < sizeof(provider) / sizeof(provider[0]); i++)
		if (strcmp(driver, provider[i][0]) == 0)
			return provider[i][1];
	return NULL;
}

/* What is to see of the provider libraries. `fault`: how bad it is that there are none that fit. */
static void look_at_providers(const struct library *library, enum doctor_verdict fault)
{
	unsigned int fitting, other;
	struct dirent **names;
	char example[256];
	int drivers = doctor_list(&names, "/etc/libibverbs.d");

	count_providers(library, &fitting, &other, example, sizeof(example));
	if (fitting && drivers > 0) {
		doctor_say(DOCTOR_OK, "",
			   "libibverbs and its provider libraries are of one release");
		doctor_evidence("%s/lib*-rdmav%u.so: %u; /etc/libibverbs.d: %d", library->folder,
				library->interface, fitting, drivers);
	} else if (fitting) {
		doctor_say(fault, "", "libibverbs is told of no provider library");
		doctor_evidence("/etc/libibverbs.d/*.driver: none");
		doctor_next("install them again: ibverbs-providers (Debian, Ubuntu), libibverbs "
			    "(Fedora, RHEL)");
	} else if (other) {
		doctor_say(fault, "",
			   "the provider libraries are of another release of rdma-core than "
			   "libibverbs");
		doctor_evidence("%s takes lib*-rdmav%u.so, and %s has %s", library->path,
				library->interface, library->folder, example);
		doctor_next("take both from one release; see LD_LIBRARY_PATH, and which rdma-core "
			    "conda or a wheel "
			    "brings along");
	} else {
		doctor_say(fault, "",
			   "there are no provider libraries, without which libibverbs finds no "
			   "device");
		doctor_evidence("%s/lib*-rdmav%u.so: none", library->folder, library->interface);
		doctor_next(
			"install ibverbs-providers (Debian, Ubuntu) or libibverbs (Fedora, RHEL)");
	}
}

/* What libibverbs writes to stderr while it looks for devices. */
static struct ibv_device **list_devices(char *said, size_t size)
{
	int fd = memfd_create("stderr", MFD_CLOEXEC), before = dup(STDERR_FILENO);
	struct ibv_device **list;
	ssize_t n = 0;

	if (fd >= 0)
		dup2(fd, STDERR_FILENO);
	setenv("IBV_SHOW_WARNINGS", "1", 0);
	doctor_step("ibv_get_device_list()");
	list = ibv_get_device_list(NULL);
	if (fd >= 0)
		n = pread(fd, said, size - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	if (before >= 0)
		dup2(before, STDERR_FILENO);
	return list;
}

static struct ibv_device *in_list(struct ibv_device **list, const char *name)
{
	for (; list && *list; list++)
		if (strcmp(ibv_get_device_name(*list), name) == 0)
			return *list;
	return NULL;
}

/* The lines that libibverbs wrote about a device or its provider library; all of the first few if that is not known. */
static void tell_warnings(char *said, const char *device, const char *provider)
{
	char *line, *rest = said, library[64];
	int lines = 0;

	snprintf(library, sizeof(library), "lib%s-", provider ? provider : "");
	while ((line = strtok_r(NULL, "\n", &rest)) != NULL)
		if (lines < 4 && (!provider || strstr(line, library) || strstr(line, device))) {
			doctor_evidence("%s", line);
			lines++;
		}
}

/* Says that a device of the kernel is not in libibverbs's list, and what is known about it. */
static void say_unlisted(const char *device, const struct library *library, const char *said)
{
	const char *provider = provider_of(device);
	char path[PATH_MAX + 64], copy[sizeof(library->path)];

	doctor_say(DOCTOR_FAILED, device, "libibverbs does not list it");
	doctor_evidence("ibv_get_device_list() of %s", library->path);
	if (provider && library->interface) {
		snprintf(path, sizeof(path), "%s/lib%s-rdmav%u.so", library->folder, provider,
			 library->interface);
		if (access(path, F_OK))
			doctor_evidence("%s: no such file", path);
		if (!doctor_exists("/etc/libibverbs.d/%s.driver", provider))
			doctor_evidence("/etc/libibverbs.d/%s.driver: no such file", provider);
	}
	snprintf(copy, sizeof(copy), "%s", said);
	tell_warnings(copy, device, provider);
	doctor_next("install the provider library lib%s: ibverbs-providers (Debian, Ubuntu), "
		    "libibverbs (Fedora, RHEL)",
		    provider ? provider : "*");
	doctor_next("IBV_SHOW_WARNINGS=1 ibv_devices (libibverbs writes which libraries it tries)");
}

/* Opens a device as a program does, and says how that went. */
static void say_opened(const char *device)
{
	struct ibv_context *context;
	struct rdmaez_diag diag;
	unsigned int i;

	doctor_step("ibv_open_device(%s)", device);
	if (rdmaez_device_open(device, &context, &diag) == 0) {
		doctor_say(DOCTOR_OK, device, "libibverbs lists and opens it");
		doctor_step("ibv_close_device(%s)", device);
		ibv_close_device(context);
		return;
	}
	doctor_say(DOCTOR_FAILED, device, "%s fails: %s", diag.verb ? diag.verb : "ibv_open_device",
		   strerror(diag.error));
	doctor_evidence("%s: %s", diag.verb ? diag.verb : "ibv_open_device",
			rdmaez_errno_str(diag.error));
	for (i = 0; i < diag.count; i++)
		doctor_evidence("%s%s",
				diag.finding[i].severity == RDMAEZ_DIAG_ERROR ? "" : "likely: ",
				rdmaez_why_str(diag.finding[i].reason));
	if (diag.count)
		doctor_next("%s", rdmaez_why_fix(diag.finding[0].reason));
}

/* These change which provider libraries are loaded, and are easily forgotten. */
static void look_at_environment(void)
{
	static const char *const name[] = {"RDMAV_DRIVERS", "IBV_DRIVERS"};
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!getenv(name[i]))
			continue;
		doctor_say(DOCTOR_NOTE, "", "%s adds provider libraries: %s", name[i],
			   getenv(name[i]));
		doctor_evidence("the environment");
	}
}

/* Opening a node that is refused takes libibverbs 5 s (open_cdev_robust()), and the check node has said so. */
static bool node_opens(const char *device)
{
	char uverbs[64], number[32], path[128];
	int fd;

	find_uverbs(device, uverbs, sizeof(uverbs), number, sizeof(number));
	if (!uverbs[0])
		return true;
	snprintf(path, sizeof(path), NODES "/%s", uverbs);
	doctor_step("opening %s", path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool is_unlisted(struct ibv_device **list, const char *device)
{
	return !in_list(list, device) && node_opens(device);
}

static void look_at_listing(const struct library *library)
{
	unsigned int i, unlisted = 0, devices = doctor_device_count();
	struct ibv_device **list;
	char said[4096];

	look_at_environment();
	list = list_devices(said, sizeof(said));
	for (i = 0; i < devices; i++)
		unlisted += is_unlisted(list, doctor_device(i));
	if (library->path[0])
		look_at_providers(library, unlisted ? DOCTOR_FAILED : DOCTOR_WARNING);
	for (i = 0; i < devices; i++) {
		if (is_unlisted(list, doctor_device(i)))
			say_unlisted(doctor_device(i), library, said);
		else if (node_opens(doctor_device(i)))
			say_opened(doctor_device(i));
	}
}

void doctor_check_provider(void)
{
	unsigned int devices = doctor_device_count();
	struct library library;

	find_library(&library);
	if (!doctor_options.root && devices)
		look_at_listing(&library);
	else if (library.path[0])
		look_at_providers(&library, devices ? DOCTOR_FAILED : DOCTOR_WARNING);
	else
		doctor_say(devices ? DOCTOR_WARNING : DOCTOR_NOTE, "",
			   "there is no libibverbs in the usual places");
}
