/* SPDX-License-Identifier: MIT */
/* Kernel modules, and whether there is an RDMA device; where there is none, what could become one. */
#include "pci.h"
#include "doctor.h"
#include "driver.h"

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* --- modules ----------------------------------------------------------------------------------------- */

struct module {
	const char *name;
	/* what it makes, if the kernel has it built in, without a directory below /sys/module */
	const char *trace;
	enum doctor_verdict missing;
	const char *effect;
};

/*
 * libibverbs asks the kernel for ib_uverbs, librdmacm for rdma_ucm, and the kernel tries to load what is missing
 * (MODULE_ALIAS_RDMA_CLIENT); so these are warnings, and what comes of it is for the check `provider` to say.
 */
static const struct module modules[] = {
	{"ib_core", "/sys/class/infiniband", DOCTOR_FAILED, "there can be no RDMA device"},
	{"ib_uverbs", "/sys/class/infiniband_verbs", DOCTOR_WARNING,
	 "without it programs reach no device; libibverbs asks the kernel to load it"},
	{"rdma_cm", "/sys/class/misc/rdma_cm", DOCTOR_WARNING, "librdmacm cannot connect"},
	{"rdma_ucm", "/sys/class/misc/rdma_cm", DOCTOR_WARNING,
	 "librdmacm reaches rdma_cm through it, and asks the kernel to load it"},
};
#define MODULES (sizeof(modules) / sizeof(modules[0]))

static bool has_module(const char *name, const char *trace)
{
	return doctor_exists("/sys/module/%s", name) || (trace && doctor_exists("%s", trace));
}

static bool has_sysfs(void)
{
	return doctor_exists("/sys/class");
}

void doctor_check_modules(void)
{
	char there[128] = "";
	size_t i, n = 0;

	if (!has_sysfs()) {
		doctor_say(DOCTOR_WARNING, "",
			   "/sys is not mounted, and rdmaez-doctor reads most things from there");
		doctor_next("mount -t sysfs sysfs /sys");
		return;
	}
	for (i = 0; i < MODULES; i++) {
		if (!has_module(modules[i].name, modules[i].trace))
			continue;
		snprintf(there + strlen(there), sizeof(there) - strlen(there), "%s%s",
			 n++ ? ", " : "", modules[i].name);
	}
	if (n)
		doctor_say(DOCTOR_OK, "", "the kernel has %s", there);
	for (i = 0; i < MODULES; i++) {
		if (has_module(modules[i].name, modules[i].trace))
			continue;
		doctor_say(modules[i].missing, modules[i].name, "not loaded: %s",
			   modules[i].effect);
		doctor_evidence("neither /sys/module/%s nor %s exists", modules[i].name,
				modules[i].trace);
		if (i == 0) { /* all others build on ib_core */
			doctor_next("load the driver of the RDMA device, which brings ib_core");
			return;
		}
		doctor_next("modprobe %s (on the host, if this is a container)", modules[i].name);
	}
}

/* --- device ------------------------------------------------------------------------------------------- */

/* Says of something that could be an RDMA device what it lacks. `certain`: it is announced as one. */
static void say_unused(const char *subject, const char *module, bool certain, const char *evidence)
{
	bool loaded = has_module(module, NULL);

	if (loaded)
		doctor_say(certain ? DOCTOR_WARNING : DOCTOR_NOTE, subject,
			   "its RDMA module %s is loaded, but has made no RDMA device from it",
			   module);
	else
		doctor_say(certain ? DOCTOR_WARNING : DOCTOR_NOTE, subject,
			   "%s, and %s is not loaded",
			   certain ? "its driver offers RDMA"
				   : "some adapters of its driver can do RDMA",
			   module);
	doctor_evidence("%s", evidence);
	if (loaded)
		doctor_next("dmesg | grep -i %s (why it made none)", module);
	else
		doctor_next("modprobe %s (on the host, if this is a container)", module);
}

/* Returns how many functions of the auxiliary bus offer RDMA and have no driver for it. */
static unsigned int look_at_auxiliary(void)
{
	struct dirent **names;
	int i, n = doctor_list(&names, "/sys/bus/auxiliary/devices");
	char driver[64], evidence[400];
	unsigned int found = 0;
	const struct doctor_driver *rdma;

	for (i = 0; i < n; i++) {
		rdma = doctor_driver_by_announced(names[i]->d_name);
		if (!rdma ||
		    doctor_read_link(driver, sizeof(driver), "/sys/bus/auxiliary/devices/%s/driver",
				     names[i]->d_name) == 0)
			continue;
		snprintf(evidence, sizeof(evidence), "/sys/bus/auxiliary/devices/%s has no driver",
			 names[i]->d_name);
		say_unused(names[i]->d_name, rdma->module, true, evidence);
		found++;
	}
	return found;
}

/* The same of network interfaces by the name of their driver, for kernels and drivers that announce nothing. */
static unsigned int look_at_interfaces(void)
{
	struct dirent **names;
	int i, n = doctor_list(&names, "/sys/class/net");
	char driver[64], evidence[400];
	unsigned int found = 0;
	const struct doctor_driver *rdma;

	for (i = 0; i < n; i++) {
		if (doctor_read_link(driver, sizeof(driver), "/sys/class/net/%s/device/driver",
				     names[i]->d_name) ||
		    doctor_exists("/sys/class/net/%s/device/infiniband", names[i]->d_name))
			continue;
		if (strcmp(driver, "ena") == 0) {
			doctor_say(DOCTOR_NOTE, names[i]->d_name,
				   "this is an interface of Amazon EC2, where RDMA needs an EFA "
				   "interface");
			doctor_evidence("/sys/class/net/%s/device/driver: ena", names[i]->d_name);
			doctor_next("if the instance's type offers an EFA interface, attach one, "
				    "then: modprobe efa");
			found++;
		}
		rdma = doctor_driver_by_parent(driver);
		if (!rdma || !doctor_driver_is_companion(rdma, driver))
			continue;
		snprintf(evidence, sizeof(evidence),
			 "/sys/class/net/%s/device: driver %s, and no directory infiniband",
			 names[i]->d_name, driver);
		say_unused(names[i]->d_name, rdma->module, false, evidence);
		found++;
	}
	return found;
}

/* A PCI function that is known for RDMA and has no driver, or one that gives it to a virtual machine. */
static void look_at_function(const char *address, unsigned int *found)
{
	uint64_t vendor = 0, device = 0, class_code = 0;
	const struct doctor_driver *rdma;
	char driver[64];

	if (!doctor_read_number(&vendor, "/sys/bus/pci/devices/%s/vendor", address) ||
	    !doctor_read_number(&device, "/sys/bus/pci/devices/%s/device", address) ||
	    !doctor_read_number(&class_code, "/sys/bus/pci/devices/%s/class", address))
		return;
	rdma = doctor_driver_by_function(vendor, device, class_code);
	if (!rdma)
		return;
	if (doctor_read_link(driver, sizeof(driver), "/sys/bus/pci/devices/%s/driver", address)) {
		doctor_say(DOCTOR_WARNING, address, "this RDMA adapter has no driver");
		doctor_evidence("/sys/bus/pci/devices/%s: vendor 0x%04x, device 0x%04x, no driver",
				address, (unsigned int)vendor, (unsigned int)device);
		doctor_next("modprobe %s (on the host, if this is a container)",
			    doctor_driver_parent(rdma));
		++*found;
	} else if (strcmp(driver, "vfio-pci") == 0) {
		doctor_say(DOCTOR_NOTE, address,
			   "vfio-pci keeps this RDMA adapter for a virtual machine");
		doctor_evidence("/sys/bus/pci/devices/%s/driver: vfio-pci", address);
		++*found;
	}
}

static unsigned int look_at_functions(void)
{
	struct dirent **names;
	int i, n = doctor_list(&names, "/sys/bus/pci/devices");
	unsigned int found = 0;

	for (i = 0; i < n; i++)
		look_at_function(names[i]->d_name, &found);
	return found;
}

/* A virtual machine has the RDMA devices that it is given. */
static bool names_virtual(char *what, size_t size)
{
	char vendor[64] = "", product[64] = "";

	doctor_read(vendor, sizeof(vendor), "/sys/class/dmi/id/sys_vendor");
	doctor_read(product, sizeof(product), "/sys/class/dmi/id/product_name");
	if (!doctor_is_virtual())
		return false;
	snprintf(what, size, "%s%s%s", vendor, vendor[0] && product[0] ? " " : "", product);
	return true;
}

/* The interface that a Soft-RoCE device would be made on: the first that is up and not the loopback. */
static void find_interface(char *name, size_t size)
{
	struct dirent **names;
	int i, n = doctor_list(&names, "/sys/class/net");
	char state[16];
	uint64_t type;

	snprintf(name, size, "eth0");
	for (i = 0; i < n; i++) {
		if (!doctor_read_number(&type, "/sys/class/net/%s/type", names[i]->d_name) ||
		    type != 1 ||
		    doctor_read(state, sizeof(state), "/sys/class/net/%s/operstate",
				names[i]->d_name) ||
		    strcmp(state, "up") != 0)
			continue;
		snprintf(name, size, "%.15s", names[i]->d_name);
		return;
	}
}

/* Whether the running kernel's modules include rdma_rxe: 1, 0, or -1 where they cannot be seen from here. */
static int has_soft_roce(void)
{
	static char list[1 << 22];
	struct utsname kernel;
	char release[65];

	if (doctor_read(release, sizeof(release), "/proc/sys/kernel/osrelease")) {
		if (doctor_options.root || uname(&kernel))
			return -1;
		snprintf(release, sizeof(release), "%.64s", kernel.release);
	}
	if (doctor_read_all(list, sizeof(list), "/lib/modules/%s/modules.dep", release) <= 0)
		return -1;
	return strstr(list, "/rdma_rxe.ko") != NULL;
}

static void suggest_soft_roce(void)
{
	char name[IF_NAMESIZE];
	int has = has_soft_roce();

	find_interface(name, sizeof(name));
	if (has)
		doctor_next("to try RDMA without an adapter, as root: modprobe rdma_rxe && rdma "
			    "link add rxe0 type rxe netdev %s",
			    name);
	else
		doctor_next(
			"this kernel comes without rdma_rxe; to try RDMA without an adapter, run "
			"your command with rdmaez's tools/softroce, which has a kernel with it");
}

/* The class of ib_uverbs shows the devices of all network namespaces. */
static bool is_elsewhere(void)
{
	struct dirent **names;
	int i, n = doctor_list(&names, "/sys/class/infiniband_verbs");

	for (i = 0; i < n; i++)
		if (strncmp(names[i]->d_name, "uverbs", 6) == 0)
			return true;
	return false;
}

static void say_no_device(void)
{
	char what[160];

	doctor_say(DOCTOR_FAILED, "", "the kernel shows no RDMA device here");
	doctor_evidence(doctor_exists("/sys/class/infiniband")
				? "/sys/class/infiniband is empty"
				: "/sys/class/infiniband does not exist");
	if (is_elsewhere()) {
		doctor_evidence(
			"/sys/class/infiniband_verbs has devices of other network namespaces");
		return; /* what to do is said by the check namespace */
	}
	if (names_virtual(what, sizeof(what))) {
		doctor_evidence("this is a virtual machine%s%s", what[0] ? ": " : "", what);
		doctor_next("give the virtual machine an adapter: a virtual function (SR-IOV), a "
			    "PCI function, or in a cloud an instance type that has one");
	}
	suggest_soft_roce();
	if (look_at_auxiliary() + look_at_interfaces() + look_at_functions())
		return;
	doctor_say(DOCTOR_NOTE, "",
		   "rdmaez-doctor knows of no PCI function or network interface here that offers "
		   "RDMA");
	doctor_evidence("/sys/bus/auxiliary/devices, /sys/class/net/*/device/driver, "
			"/sys/bus/pci/devices/*/{vendor,device,class}");
}

static void say_device(const char *device)
{
	char driver[64], firmware[64], type[32];
	const char *kind;

	/* "1: CA" */
	doctor_read(type, sizeof(type), "/sys/class/infiniband/%s/node_type", device);
	kind = strchr(type, ' ') ? strchr(type, ' ') + 1 : "device";
	doctor_read(firmware, sizeof(firmware), "/sys/class/infiniband/%s/fw_ver", device);
	if (doctor_read_link(driver, sizeof(driver), "/sys/class/infiniband/%s/device/driver",
			     device))
		doctor_say(DOCTOR_OK, device, "software device (%s)", kind);
	else
		doctor_say(DOCTOR_OK, device, "driver %s%s%s (%s)", driver,
			   firmware[0] ? ", firmware " : "", firmware, kind);
}

void doctor_check_device(void)
{
	unsigned int i;

	/* libibverbs finds some of them without. */
	if (!has_sysfs()) {
		doctor_say(DOCTOR_NOTE, "",
			   "without /sys nobody can see which RDMA devices there are");
		return;
	}
	for (i = 0; i < doctor_options.devices; i++) {
		if (doctor_exists("/sys/class/infiniband/%s", doctor_options.device[i]))
			continue;
		doctor_say(DOCTOR_FAILED, doctor_options.device[i],
			   "there is no RDMA device of this name");
		doctor_evidence("/sys/class/infiniband/%s does not exist",
				doctor_options.device[i]);
		doctor_next("rdmaez-doctor (names them all)");
	}
	for (i = 0; i < doctor_device_count(); i++)
		say_device(doctor_device(i));
	if (i > 0)
		look_at_auxiliary();
	else if (doctor_options.devices == 0)
		say_no_device();
}
