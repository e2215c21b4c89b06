/* SPDX-License-Identifier: MIT */
/* What the RDMA subsystem shares between network namespaces, and what fork() does to registered memory. */
#include "driver.h"
#include "nldev.h"
#include "port.h"

#include <rdma/rdma_netlink.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What `rdma system` shows; -1: not known. */
struct system_mode {
	int shared;
	int copy_on_fork;
};

static void take_mode(struct nldev_span attributes, void *data)
{
	struct system_mode *mode = (struct system_mode *)data;
	uint8_t value;

	if (nldev_u8(attributes, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, &value))
		mode->shared = value != 0;
	mode->copy_on_fork =
		nldev_u8(attributes, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, &value) && value;
}

static struct system_mode read_mode(void)
{
	struct system_mode mode = {-1, -1};
	char text[8];

	/* To open the socket would load ib_core. */
	if (!doctor_options.root && doctor_exists("/sys/class/infiniband")) {
		doctor_step("asking the RDMA subsystem by netlink");
		nldev_ask(RDMA_NLDEV_CMD_SYS_GET, false, -1, take_mode, &mode);
	}
	if (mode.shared < 0 &&
	    doctor_read(text, sizeof(text), "/sys/module/ib_core/parameters/netns_mode") == 0)
		mode.shared = text[0] == 'Y' || text[0] == '1';
	return mode;
}

/* --- namespace ----------------------------------------------------------------------------------------------- */

/* The devices of this process's network namespace. */
struct devices {
	unsigned int count;
	char name[256][IBV_SYSFS_NAME_MAX];
};

static void take_device(struct nldev_span attributes, void *data)
{
	struct devices *here = (struct devices *)data;

	if (here->count < 256 && nldev_text(attributes, RDMA_NLDEV_ATTR_DEV_NAME,
					    here->name[here->count], IBV_SYSFS_NAME_MAX))
		here->count++;
}

/* sysfs shows the devices of the namespace in which it was mounted, netlink those of this process. */
static void find_devices(struct devices *here)
{
	unsigned int i;

	here->count = 0;
	doctor_step("asking for RDMA devices by netlink");
	if (!doctor_options.root && doctor_exists("/sys/class/infiniband") &&
	    !nldev_ask(RDMA_NLDEV_CMD_GET, true, -1, take_device, here))
		return;
	for (i = 0; i < doctor_device_count() && i < 256; i++)
		snprintf(here->name[here->count++], IBV_SYSFS_NAME_MAX, "%s", doctor_device(i));
}

static bool is_here(const struct devices *here, const char *name)
{
	unsigned int i;

	for (i = 0; i < here->count; i++)
		if (strcmp(here->name[i], name) == 0)
			return true;
	return false;
}

bool doctor_is_elsewhere(const char *device)
{
	static struct devices here;

	if (read_mode().shared != 0)
		return false;
	find_devices(&here);
	return !is_here(&here, device);
}

/* ib_uverbs shows its devices in every namespace. Without one here, those elsewhere are what is missing. */
static void look_elsewhere(const struct devices *here)
{
	struct dirent **names;
	int i, n = doctor_list(&names, "/sys/class/infiniband_verbs");
	char device[IBV_SYSFS_NAME_MAX];

	for (i = 0; i < n; i++) {
		if (doctor_read(device, sizeof(device), "/sys/class/infiniband_verbs/%s/ibdev",
				names[i]->d_name) ||
		    !device[0] || is_here(here, device) || !doctor_is_meant(device))
			continue;
		doctor_say(here->count && !doctor_options.devices ? DOCTOR_NOTE : DOCTOR_FAILED,
			   device, "the device is in another network namespace");
		doctor_evidence("/sys/class/infiniband_verbs/%s/ibdev names it, and the list of "
				"RDMA devices does not",
				names[i]->d_name);
		doctor_next(
			"on the host: rdma dev set %s netns NAME (for pods, the CNI plugin rdma)",
			device);
		doctor_next("or share all devices: rdma system set netns shared, while there is no "
			    "other namespace");
	}
}

static void look_at_port(const char *device, const char *port)
{
	unsigned int strange = 0, all = 0;
	char name[IF_NAMESIZE], example[IF_NAMESIZE] = "";
	struct dirent **names;
	int i, n;

	n = doctor_list(&names, "/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs", device, port);
	for (i = 0; i < n; i++) {
		if (doctor_read(name, sizeof(name),
				"/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs/%s", device,
				port, names[i]->d_name) ||
		    !name[0])
			continue;
		all++;
		if (doctor_netdev_is_here(name))
			continue;
		strange++;
		snprintf(example, sizeof(example), "%s", name);
	}
	if (!strange)
		return;
	doctor_say(DOCTOR_WARNING, device,
		   "%u of %u GIDs of port %s belong to interfaces in other network namespaces",
		   strange, all, port);
	doctor_evidence("gid_attrs/ndevs names %s, but there is no interface %s here", example,
			example);
	doctor_next("give the container an interface of the device (macvlan, ipvlan or SR-IOV), or "
		    "the host's network; rdma_cm has no address here that leads to the device");
}

static void look_at_ports(const struct devices *here)
{
	struct dirent **ports;
	unsigned int i;
	int j, n;

	for (i = 0; i < doctor_device_count(); i++) {
		if (!is_here(here, doctor_device(i)))
			continue;
		n = doctor_list(&ports, "/sys/class/infiniband/%s/ports", doctor_device(i));
		for (j = 0; j < n; j++)
			look_at_port(doctor_device(i), ports[j]->d_name);
	}
}

void doctor_check_namespace(void)
{
	struct system_mode mode = read_mode();
	static struct devices here;

	if (mode.shared < 0)
		return; /* without ib_core there is nothing to share */
	doctor_say(DOCTOR_OK, "", "%s",
		   mode.shared
			   ? "RDMA devices are shared by all network namespaces"
			   : "each RDMA device belongs to one network namespace (exclusive mode)");
	find_devices(&here);
	if (!mode.shared)
		look_elsewhere(&here);
	look_at_ports(&here);
}

/* --- fork ------------------------------------------------------------------------------------------------------ */

/* Linux 5.12 copies at fork() the pages that a device has pinned, huge ones too. */
static int is_copying(const char *release)
{
	unsigned int major = 0, minor = 0;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return -1;
	return major > 5 || (major == 5 && minor >= 12);
}

static bool is_set(const char *first, const char *second)
{
	return getenv(first) || getenv(second);
}

/* EFA limits how many pages are registered, not how many bytes, and takes a huge page for one. */
static const char *find_efa(void)
{
	const struct doctor_driver *const efa = doctor_driver_by_name("efa");
	char driver[64];

	for (unsigned int i = 0; i < doctor_device_count(); i++)
		if (!doctor_read_link(driver, sizeof(driver),
				      "/sys/class/infiniband/%s/device/driver", doctor_device(i)) &&
		    doctor_driver_by_parent(driver) == efa)
			return doctor_device(i);
	return NULL;
}

/* By the first mapping of this process: "KernelPageSize:        4 kB". */
static uint64_t page_kib(void)
{
	char maps[4096];
	const char *at;
	uint64_t kib = 0;

	if (doctor_read_all(maps, sizeof(maps), "/proc/self/smaps") > 0 &&
	    (at = strstr(maps, "KernelPageSize:")) != NULL)
		sscanf(at, "KernelPageSize: %ju", &kib);
	return kib;
}

/* Returns whether this was the line of huge pages. */
static bool look_at_efa(uint64_t all, uint64_t size_kib)
{
	const char *const device = find_efa();
	const uint64_t kib = device ? page_kib() : 0;

	if (!kib || all)
		return false;
	doctor_say(DOCTOR_NOTE, device,
		   "EFA limits how many pages can be registered, and they have only %ju KiB: large "
		   "regions fail with ENOMEM long before memory is short",
		   kib);
	doctor_evidence("/proc/self/smaps: KernelPageSize %ju kB; /proc/meminfo: HugePages_Total 0",
			kib);
	doctor_next("as root: sysctl vm.nr_hugepages=COUNT, of %ju KiB each, and memory from them: "
		    "mmap() with MAP_HUGETLB; FI_EFA_USE_HUGE_PAGE=1",
		    size_kib);
	return true;
}

static void look_at_huge_pages(bool is_copied)
{
	uint64_t all = 0, unused = 0, size_kib = 2048;
	static char memory[8192];
	const char *at;

	doctor_read_all(memory, sizeof(memory), "/proc/meminfo");
	at = strstr(memory, "HugePages_Total:");
	if (!at || sscanf(at, "HugePages_Total: %ju", &all) != 1)
		return;
	at = strstr(memory, "HugePages_Free:");
	if (at)
		sscanf(at, "HugePages_Free: %ju", &unused);
	at = strstr(memory, "Hugepagesize:");
	if (at)
		sscanf(at, "Hugepagesize: %ju", &size_kib);
	if (look_at_efa(all, size_kib))
		return;
	if (!is_copied && all && !doctor_options.root &&
	    is_set("RDMAV_FORK_SAFE", "IBV_FORK_SAFE") && !getenv("RDMAV_HUGEPAGES_SAFE")) {
		doctor_say(DOCTOR_WARNING, "hugepages",
			   "with RDMAV_FORK_SAFE, registering huge pages fails with EINVAL");
		doctor_evidence("RDMAV_HUGEPAGES_SAFE is not set, and %ju huge pages are reserved",
				all);
		doctor_next("export RDMAV_HUGEPAGES_SAFE=1");
	} else if (all && !unused) {
		doctor_say(DOCTOR_NOTE, "hugepages", "all %ju huge pages are in use", all);
		doctor_evidence("/proc/meminfo: HugePages_Free: 0");
		doctor_next("as root: sysctl vm.nr_hugepages=%ju", 2 * all);
	} else if (all) {
		doctor_say(DOCTOR_OK, "hugepages", "%ju of %ju huge pages are free", unused, all);
	} else {
		doctor_say(DOCTOR_OK, "hugepages",
			   "no huge pages are reserved; programs that ask for them (SPDK, DPDK) "
			   "need some");
	}
}

void doctor_check_fork(void)
{
	struct system_mode mode = read_mode();
	char release[80];

	doctor_read(release, sizeof(release), "/proc/sys/kernel/osrelease");
	if (mode.copy_on_fork < 0)
		mode.copy_on_fork = is_copying(release);
	if (mode.copy_on_fork < 0) {
		doctor_say(DOCTOR_NOTE, "",
			   "rdmaez-doctor cannot tell here whether fork() is safe");
	} else if (mode.copy_on_fork) {
		doctor_say(DOCTOR_OK, "",
			   "fork() is safe: the kernel copies registered memory for the child");
	} else if (!doctor_options.root && is_set("RDMAV_FORK_SAFE", "IBV_FORK_SAFE")) {
		doctor_say(DOCTOR_OK, "",
			   "libibverbs is asked to make fork() safe (RDMAV_FORK_SAFE)");
	} else {
		doctor_say(DOCTOR_WARNING, "",
			   "a program that forks may lose what its device writes");
		doctor_evidence("Linux %s does not copy registered memory at fork()", release);
		doctor_next("export RDMAV_FORK_SAFE=1, or ibv_fork_init() in the program; with "
			    "huge pages also RDMAV_HUGEPAGES_SAFE=1");
	}
	look_at_huge_pages(mode.copy_on_fork > 0);
}
