/* SPDX-License-Identifier: MIT */
/* libibverbs and its provider libraries: whether it lists and opens the devices of the kernel, and why not. */
#include "doctor.h"
#include "driver.h"
#include "load.h"

#include <rdmaez.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

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
	enum {
		SIZE_MAX_READ = 64 << 20 /* a library of 1 MB; what is larger is none */
	};
	unsigned int interface = 0;
	const char *at, *file;
	struct stat status;
	int fd = doctor_open_file(path, O_RDONLY);

	if (fd < 0)
		return 0;
	if (fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size <= SIZE_MAX_READ) {
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

/* Whether libibverbs finds a provider library by its name, and has what it wants; `wanted`: the interface, or 0. */
static bool is_fitting(const struct library *library, const char *name, unsigned int *wanted)
{
	char path[PATH_MAX + 256];

	*wanted = 0;
	if (strtoul(strstr(name, "-rdmav") + strlen("-rdmav"), NULL, 10) != library->interface)
		return false;
	snprintf(path, sizeof(path), "%s/%s", library->folder, name);
	*wanted = read_interface(path);
	return !*wanted || *wanted == library->interface;
}

/* How many provider libraries there are of the library's own interface, and of others; one of the others. */
static void count_providers(const struct library *library, unsigned int *fitting,
			    unsigned int *other, char *example, size_t size)
{
	struct dirent **names;
	unsigned int wanted;
	int i, n, fd;

	*fitting = *other = 0;
	example[0] = '\0';
	doctor_step("reading %s", library->folder);
	fd = doctor_open_file(library->folder, O_RDONLY | O_DIRECTORY);
	n = fd < 0 ? 0 : scandirat(fd, ".", &names, NULL, alphasort);
	if (fd >= 0)
		close(fd);
	for (i = 0; i < n; i++) {
		if (!strstr(names[i]->d_name, "-rdmav"))
			continue;
		if (is_fitting(library, names[i]->d_name, &wanted)) {
			++*fitting;
			continue;
		}
		++*other;
		if (wanted)
			snprintf(example, size, "%s, which wants IBVERBS_PRIVATE_%u",
				 names[i]->d_name, wanted);
		else
			snprintf(example, size, "%s", names[i]->d_name);
	}
}

/* Which provider library a device takes, by its driver; NULL: that is not known. */
static const char *provider_of(const char *device)
{
	const struct doctor_driver *known;
	char driver[64];

	/* Only rdma_rxe gives its devices this file. */
	if (doctor_exists("/sys/class/infiniband/%s/parent", device)) {
		known = doctor_driver_by_name("rdma_rxe");
	} else {
		doctor_read_link(driver, sizeof(driver), "/sys/class/infiniband/%s/device/driver",
				 device);
		known = doctor_driver_by_parent(driver);
	}
	return known && known->provider[0] ? known->provider : NULL;
}

/* What is to see of the provider libraries. `fault`: how bad it is that there are none that fit. */
static void look_at_providers(const struct library *library, enum doctor_verdict fault)
{
	unsigned int fitting, other;
	struct dirent **names;
	char example[320];
	int drivers = doctor_list(&names, "/etc/libibverbs.d");

	count_providers(library, &fitting, &other, example, sizeof(example));
	if (!library->interface) {
		doctor_say(DOCTOR_NOTE, "",
			   "it is not known which provider libraries libibverbs loads");
		doctor_evidence("%s cannot be read, or has no symbol of a version "
				"IBVERBS_PRIVATE_N",
				library->path);
	} else if (fitting && drivers > 0) {
		doctor_say(DOCTOR_OK, "",
			   "libibverbs and its provider libraries are of one release");
		doctor_evidence("%s/lib*-rdmav%u.so: %u; /etc/libibverbs.d: %d", library->folder,
				library->interface, fitting, drivers);
	} else if (fitting) {
		doctor_say(fault, "", "no file of /etc/libibverbs.d names a provider library");
		doctor_evidence("/etc/libibverbs.d/*.driver: none");
		doctor_next("install them again: ibverbs-providers (Debian, Ubuntu), libibverbs "
			    "(Fedora, RHEL)");
	} else if (other) {
		doctor_say(fault, "",
			   "the provider libraries are of another release of rdma-core than "
			   "libibverbs");
		doctor_evidence("%s loads lib*-rdmav%u.so, and %s has %s", library->path,
				library->interface, library->folder, example);
		doctor_next(
			"install both from one release; see LD_LIBRARY_PATH, and which rdma-core "
			"conda or a wheel brings along");
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

/*
 * Why a provider library cannot be loaded; NULL: it can. If libibverbs has tried it in vain, so does this. It writes of
 * the other name that it tries last, which no directory has.
 */
static const char *load_failure(const char *path)
{
	doctor_step("loading %s", path);
	return dlopen(path, RTLD_NOW | RTLD_NOLOAD) || dlopen(path, RTLD_NOW) ? NULL : dlerror();
}

static void tell_failure(const char *path, const char *failure)
{
	doctor_evidence("dlopen(\"%s\"): %s", path, failure);
	if (strstr(failure, "version `"))
		doctor_next("install libibverbs and its provider libraries from one release of "
			    "rdma-core; see LD_LIBRARY_PATH");
	else
		doctor_next("install the library that it lacks, or it again: ibverbs-providers "
			    "(Debian, Ubuntu), libibverbs (Fedora, RHEL)");
}

/* Says that a device of the kernel is not in libibverbs's list, and what is known about it. */
static void say_unlisted(const char *device, const struct library *library, const char *said)
{
	const char *provider = provider_of(device), *failure = NULL;
	char path[PATH_MAX + 64], copy[sizeof(library->path)];
	bool is_named = false;

	doctor_say(DOCTOR_FAILED, device, "libibverbs does not list it");
	doctor_evidence("ibv_get_device_list() of %s", library->path);
	if (provider && library->interface) {
		snprintf(path, sizeof(path), "%s/lib%s-rdmav%u.so", library->folder, provider,
			 library->interface);
		is_named = doctor_exists("/etc/libibverbs.d/%s.driver", provider);
		if (access(path, F_OK))
			doctor_evidence("%s: no such file", path);
		else if (is_named)
			failure = load_failure(path);
		if (!is_named)
			doctor_evidence("/etc/libibverbs.d/%s.driver: no such file", provider);
	}
	snprintf(copy, sizeof(copy), "%s", said);
	tell_warnings(copy, device, provider);
	if (failure)
		tell_failure(path, failure);
	else
		doctor_next("install the provider library lib%s: package ibverbs-providers "
			    "(Debian, Ubuntu) or libibverbs (Fedora, RHEL)",
			    provider ? provider : "*");
	doctor_next("IBV_SHOW_WARNINGS=1 ibv_devices (libibverbs then writes which libraries it "
		    "tries)");
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

/*
 * Without libibverbs no program finds a device, whatever the kernel has. NCCL and others load it by themselves, and go on
 * with TCP in silence.
 */
static void say_missing(const char *error, bool has_devices)
{
	const bool is_there = !strstr(error, "libibverbs.so.1: cannot open shared object file");

	doctor_say(has_devices ? DOCTOR_FAILED : DOCTOR_NOTE, "",
		   is_there ? "libibverbs cannot be loaded, so no program finds a device"
			    : "there is no libibverbs here, so no program finds a device");
	doctor_evidence("dlopen(\"libibverbs.so.1\"): %s", error);
	if (is_there)
		doctor_next("install what it lacks, or all of one release: libibverbs1 and "
			    "ibverbs-providers (Debian, Ubuntu), libibverbs (Fedora, RHEL)");
	else
		doctor_next(
			"install libibverbs1 and ibverbs-providers (Debian, Ubuntu), libibverbs "
			"(Fedora, RHEL), rdma-core (Arch, Alpine); for a container, install them "
			"in its image");
}

static bool is_unlisted(struct ibv_device **list, const char *device)
{
	return !in_list(list, device) && doctor_node_opens(device);
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
		else if (doctor_node_opens(doctor_device(i)))
			say_opened(doctor_device(i));
	}
}

/* --- versions -------------------------------------------------------------------------------------------- */

/* The file that a library is: links have the shorter names. */
static void name_library(char *name, size_t size, const char *path)
{
	const size_t root = doctor_options.root ? strlen(doctor_options.root) : 0;
	const char *slash;

	if (doctor_read_link(name, size, "%s", path + root) == 0)
		return;
	slash = strrchr(path, '/');
	snprintf(name, size, "%s", slash ? slash + 1 : path);
}

static void say_versions(const char *device, const struct library *library)
{
	const char *const provider = provider_of(device);
	char driver[64], version[64], firmware[64], name[256] = "", path[PATH_MAX + 128];

	if (doctor_read_link(driver, sizeof(driver), "/sys/class/infiniband/%s/device/driver",
			     device))
		driver[0] = '\0';
	doctor_read(version, sizeof(version),
		    "/sys/class/infiniband/%s/device/driver/module/version", device);
	doctor_read(firmware, sizeof(firmware), "/sys/class/infiniband/%s/fw_ver", device);
	if (provider && library->interface) {
		snprintf(path, sizeof(path), "%s/lib%s-rdmav%u.so", library->folder, provider,
			 library->interface);
		if (access(path, F_OK) == 0)
			name_library(name, sizeof(name), path);
	}
	doctor_say(DOCTOR_OK, device, "%s%s%s%s%s%s%s%s",
		   driver[0] ? "driver " : "no driver of hardware", driver, version[0] ? " " : "",
		   version, firmware[0] ? ", firmware " : "", firmware,
		   name[0] ? ", provider " : "", name);
	if (driver[0] && !version[0])
		doctor_evidence("%s has no version of its own: it is the kernel's", driver);
}

void doctor_check_versions(void)
{
	char release[65] = "", name[256] = "";
	struct library library;
	struct utsname kernel;

	if (!doctor_options.root && !uname(&kernel))
		snprintf(release, sizeof(release), "%.64s", kernel.release);
	else
		doctor_read(release, sizeof(release), "/proc/sys/kernel/osrelease");
	doctor_step("loading libibverbs.so.1");
	if (doctor_options.root || !load_error())
		find_library(&library);
	else
		memset(&library, 0, sizeof(library));
	if (library.path[0])
		name_library(name, sizeof(name), library.path);
	doctor_say(DOCTOR_OK, "", "kernel %s, %s", release[0] ? release : "not known",
		   name[0] ? name : "no libibverbs");
	if (library.path[0])
		doctor_evidence("%s", library.path);
	for (unsigned int i = 0; i < doctor_device_count(); i++)
		say_versions(doctor_device(i), &library);
}

/* --- provider --------------------------------------------------------------------------------------------- */

void doctor_check_provider(void)
{
	unsigned int devices = doctor_device_count();
	struct library library;

	doctor_step("loading libibverbs.so.1");
	if (!doctor_options.root && load_error()) {
		say_missing(load_error(), devices > 0);
		return;
	}
	find_library(&library);
	if (!doctor_options.root && devices)
		look_at_listing(&library);
	else if (library.path[0])
		look_at_providers(&library, devices ? DOCTOR_FAILED : DOCTOR_WARNING);
	else
		doctor_say(devices ? DOCTOR_WARNING : DOCTOR_NOTE, "",
			   "there is no libibverbs in the usual places");
}
