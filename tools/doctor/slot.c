/* SPDX-License-Identifier: MIT */
/*
 * Where a device is plugged in: the PCI Express link, its NUMA node, what its configuration space says of relaxed
 * ordering and read requests, the IOMMU, and ACS and AtomicOps between it and a GPU.
 */
#include "pci.h"
#include "port.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/sys/class/infiniband/%s/device"

/* --- The link ---------------------------------------------------------------------------------- */

struct link {
	double speed; /* GT/s of a lane; 0: unknown */
	unsigned int lanes;
};

/* "16.0 GT/s PCIe" and "16"; "Unknown" and "0" of a virtual function, and where there is no link. */
static struct link read_link(const char *device, const char *above, const char *which)
{
	struct link link = {0, 0};
	uint64_t lanes;
	char text[32];

	if (doctor_read(text, sizeof(text), PATH "%s/%s_link_speed", device, above, which) ||
	    !doctor_read_number(&lanes, PATH "%s/%s_link_width", device, above, which))
		return link;
	link.speed = strtod(text, NULL);
	link.lanes = link.speed > 0 && lanes < 256 ? (unsigned int)lanes : 0;
	return link;
}

/* Gbit/s in one direction, before packets take their share. */
static double carries(struct link link)
{
	const double code = link.speed < 8 ? 0.8 : link.speed < 64 ? 128.0 / 130 : 242.0 / 256;

	return link.speed * link.lanes * code;
}

/* What the active ports send, in Gbit/s; of all, if none is active. */
static double rate_of(const char *device)
{
	double active = 0, all = 0, rate;
	const struct doctor_port *ports;
	unsigned int i, count = doctor_ports(&ports);
	char text[48];

	for (i = 0; i < count; i++) {
		if (strcmp(ports[i].device, device) != 0 ||
		    doctor_read(text, sizeof(text), "/sys/class/infiniband/%s/ports/%u/rate",
				device, ports[i].num))
			continue;
		rate = strtod(text, NULL);
		all += rate;
		active += ports[i].state == IBV_PORT_ACTIVE ? rate : 0;
	}
	return active > 0 ? active : all;
}

static void show_link(const char *device, struct link now, struct link max, struct link slot)
{
	doctor_evidence(PATH ": current_link %g GT/s x%u, max_link %g GT/s x%u", device, now.speed,
			now.lanes, max.speed, max.lanes);
	if (slot.lanes)
		doctor_evidence("the slot (" PATH "/..): max_link %g GT/s x%u", device, slot.speed,
				slot.lanes);
}

/* The address of a PCI device, "0000:3b:00.0". */
static void address_of(char *address, size_t size, const char *device)
{
	if (doctor_read_link(address, size, PATH, device))
		snprintf(address, size, "ADDRESS");
}

static void check_link(const char *device)
{
	const char *function = doctor_exists(PATH "/physfn", device) ? "/physfn" : "";
	const char *above = *function ? "/physfn/.." : "/..";
	const struct link now = read_link(device, function, "current");
	const struct link max = read_link(device, function, "max");
	const struct link slot = read_link(device, above, "max");
	const struct link room = slot.lanes ? slot : max; /* one that does not tell is not slower */
	const double rate = rate_of(device), carried = carries(now);
	char address[32];

	if (!now.lanes || !max.lanes)
		return;
	address_of(address, sizeof(address), device);
	if (now.speed < (max.speed < room.speed ? max.speed : room.speed) ||
	    now.lanes < (max.lanes < room.lanes ? max.lanes : room.lanes)) {
		doctor_say(
			DOCTOR_WARNING, device,
			"PCI Express runs at %g GT/s x%u, less than both device and slot support",
			now.speed, now.lanes);
		show_link(device, now, max, slot);
		doctor_next("lspci -vv -s %s; reseat the card; look for a limit in the firmware's "
			    "setup",
			    address);
	} else if (carried < rate) {
		doctor_say(DOCTOR_WARNING, device,
			   "PCI Express carries %.0f Gbit/s, but the ports %g: %s", carried, rate,
			   carries(room) < carries(max)
				   ? "the slot is slower than the device"
				   : "the device cannot do both ports at once");
		show_link(device, now, max, slot);
		if (carries(room) < carries(max))
			doctor_next("put the card into a slot of %g GT/s x%u", max.speed,
				    max.lanes);
	} else {
		doctor_say(DOCTOR_OK, device,
			   "PCI Express %g GT/s x%u carries %.0f Gbit/s, the ports %g", now.speed,
			   now.lanes, carried, rate);
		show_link(device, now, max, slot);
	}
}

/* --- The NUMA node ----------------------------------------------------------------------------- */

/* Whether two lists such as "0-3,8" have a number in common. */
static bool lists_overlap(const char *one, const char *other)
{
	unsigned long from, to, first, last;
	const char *at;
	char *end;

	for (; *one; one = end + (*end == ',')) {
		from = to = strtoul(one, &end, 10);
		if (end == one)
			return false;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		for (at = other; *at; at += strcspn(at, ","), at += *at == ',') {
			if (sscanf(at, "%lu-%lu", &first, &last) < 2)
				last = first = strtoul(at, NULL, 10);
			if (first <= to && from <= last)
				return true;
		}
	}
	return false;
}

/* The processors that this process may use, and so those that it starts; "" if that cannot be read. */
static void own_cpus(char *cpus, size_t size)
{
	static const char label[] = "Cpus_allowed_list:";
	char status[8192], *at;

	cpus[0] = '\0';
	if (doctor_read_all(status, sizeof(status), "/proc/self/status") < 0)
		return;
	at = strstr(status, label);
	if (!at)
		return;
	at += sizeof(label) - 1;
	at += strspn(at, " \t");
	snprintf(cpus, size, "%.*s", (int)strcspn(at, "\n"), at);
}

static void check_numa(const char *device)
{
	char node[16], local[256], own[256];

	if (!doctor_exists("/sys/devices/system/node/node1") ||
	    doctor_read(node, sizeof(node), PATH "/numa_node", device))
		return;
	own_cpus(own, sizeof(own));
	doctor_read(local, sizeof(local), PATH "/local_cpulist", device);
	if (node[0] == '-') {
		doctor_say(DOCTOR_NOTE, device,
			   "its NUMA node is not known, although the machine has several");
		doctor_evidence(PATH "/numa_node: %s", device, node);
		doctor_next("measure: numactl --cpunodebind=NODE --membind=NODE ib_write_bw ...");
	} else if (own[0] && local[0] && !lists_overlap(local, own)) {
		doctor_say(DOCTOR_WARNING, device,
			   "on NUMA node %s (CPUs %s), but programs started here run on CPUs %s: "
			   "each transfer crosses the sockets",
			   node, local, own);
		doctor_evidence("/proc/self/status: Cpus_allowed_list %s", own);
		doctor_next("numactl --cpunodebind=%s --membind=%s COMMAND", node, node);
	} else {
		doctor_say(DOCTOR_OK, device, "on NUMA node %s, CPUs %s", node, local);
	}
}

/* --- Configuration space ----------------------------------------------------------------------- */

enum {
	CONFIG_SIZE = 4096,
	CAPABILITIES = 0x34,
	CAPABILITY_EXPRESS = 0x10,
	EXTENDED_ACS = 0x0d,
	DEVICE_CONTROL = 8,
	RELAXED_ORDERING = 0x0010,
	EXPRESS_FLAGS = 2, /* with the kind of port in bits 4 to 7 */
	UPSTREAM_PORT = 5,
	DOWNSTREAM_PORT = 6,
	DEVICE_CAPABILITIES_2 = 0x24,
	ATOMIC_ROUTING = 0x0040,
	ATOMIC_COMPLETER_64 = 0x0100,
	DEVICE_CONTROL_2 = 0x28,
	ATOMIC_REQUESTER = 0x0040,
	ATOMIC_EGRESS_BLOCKED = 0x0080,
	ACS_CONTROL = 6,
	ACS_REDIRECT = 0x000c /* of requests and of completions between peers */
};

static unsigned int word(const uint8_t *config, unsigned int at)
{
	return config[at] | (unsigned int)config[at + 1] << 8;
}

/* Where a capability is; 0: it is not there. */
static unsigned int capability(const uint8_t *config, unsigned int id)
{
	unsigned int at = config[CAPABILITIES] & 0xfc, steps;

	for (steps = 0; at >= 0x40 && at < 0xfc && steps < 48; steps++, at = config[at + 1] & 0xfc)
		if (config[at] == id)
			return at;
	return 0;
}

static unsigned int extended_capability(const uint8_t *config, unsigned int id)
{
	unsigned int at = 0x100, steps;

	for (steps = 0; at >= 0x100 && at < CONFIG_SIZE - 8 && steps < 480; steps++) {
		if (word(config, at) == id)
			return at;
		at = word(config, at + 2) >> 4 & 0xffc;
	}
	return 0;
}

/* Reads it whole: 64 bytes of it are everybody's, the rest is root's. */
static int read_config(uint8_t config[CONFIG_SIZE + 1], const char *path)
{
	memset(config, 0, CONFIG_SIZE + 1);
	return doctor_read_all((char *)config, CONFIG_SIZE + 1, "%s/config", path);
}

static void check_config(const char *device)
{
	uint8_t config[CONFIG_SIZE + 1];
	unsigned int at, control, bytes;
	char path[128], address[32];
	int length;

	snprintf(path, sizeof(path), PATH, device);
	length = read_config(config, path);
	if (length <= 0)
		return;
	if (length <= 64) {
		doctor_say(DOCTOR_NOTE, device,
			   "only root can read relaxed ordering and the size of read requests");
		doctor_evidence("%s/config: %d bytes", path, length);
		return;
	}
	at = capability(config, CAPABILITY_EXPRESS);
	if (!at)
		return;
	control = word(config, at + DEVICE_CONTROL);
	bytes = 128u << (control >> 12 & 7);
	address_of(address, sizeof(address), device);
	if (bytes < 512) {
		doctor_say(DOCTOR_WARNING, device,
			   "MaxReadReq is %u bytes: the device reads memory in pieces that are too "
			   "small",
			   bytes);
		doctor_evidence("%s/config: DevCtl 0x%04x", path, control);
		doctor_next("as root: setpci -s %s CAP_EXP+8.w=2000:7000 # 512 bytes", address);
	}
	if (!(control & RELAXED_ORDERING)) {
		doctor_say(DOCTOR_NOTE, device,
			   "relaxed ordering is off for the device, which slows it on some "
			   "processors even if programs ask for IBV_ACCESS_RELAXED_ORDERING");
		doctor_evidence("%s/config: DevCtl 0x%04x", path, control);
		doctor_next(
			"as root: setpci -s %s CAP_EXP+8.w=0010:0010, or in the firmware's setup",
			address);
	} else if (bytes >= 512) {
		doctor_say(DOCTOR_OK, device, "relaxed ordering is on, MaxReadReq is %u bytes",
			   bytes);
	}
}

static void check_iommu(const char *device)
{
	char type[32];

	if (doctor_read(type, sizeof(type), PATH "/iommu_group/type", device))
		return;
	if (strncmp(type, "DMA", 3) != 0) {
		doctor_say(DOCTOR_OK, device, "the IOMMU passes its transfers through (%s)", type);
		return;
	}
	doctor_say(DOCTOR_NOTE, device,
		   "the IOMMU translates each of its transfers: registering memory costs more, and "
		   "so may transfers to GPUs");
	doctor_evidence(PATH "/iommu_group/type: %s", device, type);
	doctor_next("if you trust the devices, put iommu=pt on the kernel's command line");
}

/* --- ACS --------------------------------------------------------------------------------------- */

static bool real_path(char path[PATH_MAX], const char *link)
{
	return doctor_real_path(path, "%s", link);
}

/* How long the path is down to the last bridge that two devices have in common; 0: only the root complex. */
static size_t common_bridge(const char *one, const char *other)
{
	size_t i, common = 0;
	const char *root = strstr(one, "/pci");

	for (i = 0; one[i] && one[i] == other[i]; i++)
		if (one[i] == '/')
			common = i;
	if (!root || common <= (size_t)(root - one))
		return 0;
	return strchr(root + 1, '/') == one + common ? 0 : common;
}

/* What the bridges between one device and the bridge that it shares say of ACS. */
struct acs {
	char redirecting[128]; /* their addresses */
	bool hidden;           /* one cannot be read */
};

/* How much of a real path --root is. */
static size_t root_length(void)
{
	char path[PATH_MAX];

	return doctor_options.root && realpath(doctor_options.root, path) ? strlen(path) : 0;
}

static void look_at_bridges(struct acs *acs, const char *path, size_t common)
{
	uint8_t config[CONFIG_SIZE + 1];
	char bridge[PATH_MAX], *name;
	unsigned int at;
	size_t used;

	snprintf(bridge, sizeof(bridge), "%s", path);
	while ((name = strrchr(bridge, '/')) != NULL && (size_t)(name - bridge) > common) {
		*name = '\0';
		name = strrchr(bridge, '/');
		if (read_config(config, bridge + root_length()) <= 64) {
			acs->hidden = true;
			continue;
		}
		at = extended_capability(config, EXTENDED_ACS);
		used = strlen(acs->redirecting);
		if (at && name && (word(config, at + ACS_CONTROL) & ACS_REDIRECT) && used < 100 &&
		    !strstr(acs->redirecting, name + 1))
			snprintf(acs->redirecting + used, sizeof(acs->redirecting) - used,
				 "%s%.16s", used ? " " : "", name + 1);
	}
}

/* A word of the Express capability; -1: it cannot be read. */
static int express(const char *path, unsigned int which)
{
	uint8_t config[CONFIG_SIZE + 1];
	unsigned int at;

	if (read_config(config, path + root_length()) <= 64)
		return -1;
	at = capability(config, CAPABILITY_EXPRESS);
	return at ? (int)word(config, at + which) : -1;
}

/* What the bridges between two devices do with AtomicOps: the addresses of those that do not take them. */
struct atomics {
	char unrouted[128];
	char blocking[128];
};

static void add_bridge(char names[128], const char *name)
{
	const size_t used = strlen(names);

	if (used < 100)
		snprintf(names + used, 128 - used, "%s%.16s", used ? " " : "", name);
}

/*
 * Looks at the bridges on this way down from the common one. A port refuses AtomicOps that are to leave by it where its
 * egress is blocked. On the way up from the device they leave a switch by its upstream port, and on the way down to the
 * GPU by a downstream port: pci_enable_atomic_ops_to_root() looks at the former.
 */
static void look_at_atomics(struct atomics *atomics, const char *path, size_t common, int leaves_by)
{
	char bridge[PATH_MAX], *name;
	int can, does, flags;

	snprintf(bridge, sizeof(bridge), "%s", path);
	while ((name = strrchr(bridge, '/')) != NULL && (size_t)(name - bridge) > common) {
		*name = '\0';
		name = strrchr(bridge, '/');
		can = express(bridge, DEVICE_CAPABILITIES_2);
		does = express(bridge, DEVICE_CONTROL_2);
		flags = express(bridge, EXPRESS_FLAGS);
		if (can >= 0 && !(can & ATOMIC_ROUTING) && name)
			add_bridge(atomics->unrouted, name + 1);
		if (does >= 0 && (does & ATOMIC_EGRESS_BLOCKED) && (flags >> 4 & 15) == leaves_by &&
		    name)
			add_bridge(atomics->blocking, name + 1);
	}
}

/*
 * A device that may ask for AtomicOps does so for peers' atomics where its firmware is set to. What does not know them
 * answers with an error.
 */
static void check_atomics(const char *device, const char *path, const struct doctor_gpu *gpu,
			  const char *gpu_path, size_t common)
{
	const int asks = express(path, DEVICE_CONTROL_2);
	const int takes = express(gpu_path, DEVICE_CAPABILITIES_2);
	const bool no_completer = takes >= 0 && !(takes & ATOMIC_COMPLETER_64);
	struct atomics atomics = {"", ""};

	if (asks < 0 || !(asks & ATOMIC_REQUESTER))
		return;
	look_at_atomics(&atomics, path, common, UPSTREAM_PORT);
	look_at_atomics(&atomics, gpu_path, common, DOWNSTREAM_PORT);
	if (!no_completer && !atomics.unrouted[0] && !atomics.blocking[0])
		return;
	doctor_say(DOCTOR_NOTE, device,
		   "peers' atomics on the memory of GPU %s may fail: it may send PCIe AtomicOps, "
		   "which the GPU or a bridge does not accept",
		   gpu->address);
	if (no_completer)
		doctor_evidence("DevCap2 of %s: AtomicOpsCap without 64bit", gpu->address);
	if (atomics.unrouted[0])
		doctor_evidence("DevCap2 of %s: AtomicOpsCap without Routing", atomics.unrouted);
	if (atomics.blocking[0])
		doctor_evidence("DevCtl2 of %s: AtomicOpsCtl with EgressBlck", atomics.blocking);
	if (no_completer || atomics.unrouted[0])
		doctor_next(
			"have peers signal with RDMA WRITE with immediate, or keep what atomics "
			"change in host memory");
	else
		doctor_next("as root, for each: setpci -s ADDRESS CAP_EXP+28.w=0000:0080; or for "
			    "good, in the firmware's setup");
}

/* What a virtual machine shows of bridges need not be there. */
static void check_passthrough(const char *device)
{
	if (!doctor_is_virtual())
		return;
	doctor_say(DOCTOR_NOTE, device,
		   "this virtual machine shows no PCIe switch between it and a GPU: the host "
		   "decides how they reach each other");
	doctor_evidence("/proc/cpuinfo: hypervisor");
	doctor_next("compare the speed of GPU memory with that of host memory; on the host check "
		    "ACS and ATS; NCCL_TOPO_FILE can tell NCCL what is there");
}

static void check_acs(const char *device)
{
	char path[PATH_MAX], gpu_path[PATH_MAX], link[128], near[16] = "";
	const struct doctor_gpu *gpus;
	unsigned int i, count = doctor_gpus(&gpus);
	struct acs acs = {"", false};
	size_t common;

	snprintf(link, sizeof(link), PATH, device);
	if (!count || !real_path(path, link))
		return;
	for (i = 0; i < count; i++) {
		snprintf(link, sizeof(link), "/sys/bus/pci/devices/%s", gpus[i].address);
		common = real_path(gpu_path, link) ? common_bridge(path, gpu_path) : 0;
		if (!common)
			continue;
		snprintf(near, sizeof(near), "%s", gpus[i].address);
		look_at_bridges(&acs, path, common);
		look_at_bridges(&acs, gpu_path, common);
		check_atomics(device, path, &gpus[i], gpu_path, common);
	}
	if (!near[0]) {
		check_passthrough(device);
		return;
	}
	if (acs.redirecting[0]) {
		doctor_say(DOCTOR_WARNING, device,
			   "ACS sends what passes between it and GPU %s up to the root complex",
			   near);
		doctor_evidence("ACSCtl of %s: P2P request or completion redirect",
				acs.redirecting);
		doctor_next("as root, for each: setpci -s ADDRESS ECAP_ACS+6.w=0000; or for good, "
			    "in the firmware's setup");
	} else if (acs.hidden) {
		doctor_say(DOCTOR_NOTE, device,
			   "only root can read whether ACS slows what passes between it and GPU %s",
			   near);
	} else {
		doctor_say(DOCTOR_OK, device, "no ACS redirection between it and GPU %s", near);
	}
}

/* --- The check --------------------------------------------------------------------------------- */

void doctor_check_slot(void)
{
	unsigned int i;

	for (i = 0; i < doctor_device_count(); i++) {
		if (!doctor_exists(PATH "/vendor", doctor_device(i))) {
			doctor_say(DOCTOR_OK, doctor_device(i), "not a PCI device");
			continue;
		}
		check_link(doctor_device(i));
		check_numa(doctor_device(i));
		check_config(doctor_device(i));
		check_iommu(doctor_device(i));
		check_acs(doctor_device(i));
	}
}

/* --- governor --------------------------------------------------------------------------------------------- */

void doctor_check_governor(void)
{
	unsigned int processors = 0, saving = 0;
	char governor[32], example[32] = "";
	struct dirent **names;
	int i, n = doctor_list(&names, "/sys/devices/system/cpu");

	for (i = 0; i < n; i++) {
		if (strncmp(names[i]->d_name, "cpu", 3) != 0 ||
		    doctor_read(governor, sizeof(governor),
				"/sys/devices/system/cpu/%s/cpufreq/scaling_governor",
				names[i]->d_name))
			continue;
		processors++;
		if (strcmp(governor, "performance") == 0)
			continue;
		saving++;
		snprintf(example, sizeof(example), "%s", governor);
	}
	if (!processors)
		return; /* the firmware governs them, or the host of a virtual machine */
	if (!saving) {
		doctor_say(DOCTOR_OK, "", "the governor of all processors is performance");
		return;
	}
	doctor_say(DOCTOR_NOTE, "",
		   "the governor of %u of %u processors is %s: they slow down when they have "
		   "little to "
		   "do, and latency varies",
		   saving, processors, example);
	doctor_evidence("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
	doctor_next("as root: cpupower frequency-set --governor performance");
}
