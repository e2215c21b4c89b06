/* SPDX-License-Identifier: MIT */
/*
 * GPUs, and the two ways in which an RDMA device reaches their memory: a peer-memory client, which needs a driver of
 * MLNX_OFED or DOCA beside the GPU's, and dma-bufs, which need a kernel from 5.12 on, the RDMA driver's support, and a
 * GPU driver that exports them: amdgpu, or NVIDIA's open kernel module.
 */
#include "gpu_data.h"
#include "pci.h"
#include "port.h"

#include <rdmaez.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPU "/sys/bus/pci/devices/%s"

unsigned int doctor_gpus(const struct doctor_gpu **gpus)
{
	static struct doctor_gpu list[64];
	struct dirent **names;
	uint64_t pci_class, vendor;
	unsigned int n = 0;
	int i, count = doctor_list(&names, "/sys/bus/pci/devices");

	for (i = 0; i < count && n < 64; i++) {
		if (!doctor_read_number(&pci_class, GPU "/class", names[i]->d_name) ||
		    !doctor_read_number(&vendor, GPU "/vendor", names[i]->d_name) ||
		    (pci_class >> 16 != 0x03 && pci_class >> 16 != 0x12) ||
		    (vendor != PCI_VENDOR_NVIDIA && vendor != PCI_VENDOR_AMD))
			continue;
		snprintf(list[n].address, sizeof(list[n].address), "%.15s", names[i]->d_name);
		list[n++].vendor = (unsigned int)vendor;
	}
	*gpus = list;
	return n;
}

bool doctor_is_virtual(void)
{
	static char cpu[4096];

	doctor_read_all(cpu, sizeof(cpu), "/proc/cpuinfo");
	return strstr(cpu, " hypervisor") || doctor_exists("/sys/hypervisor/type");
}

/* --- Ways -------------------------------------------------------------------------------------- */

/* The file that shows a peer-memory client, or NULL. */
static const char *peer_memory(unsigned int vendor)
{
	static const char *const nvidia[] = {"/sys/module/nvidia_peermem",
					     "/sys/module/nv_peer_mem",
					     "/sys/kernel/mm/memory_peers/nv_mem/version",
					     "/sys/kernel/mm/memory_peers/nv_mem_nc/version"};
	static const char *const amd[] = {"/sys/kernel/mm/memory_peers/amdkfd/version",
					  "/sys/module/amdgpu_peermem"};
	const char *const *file = vendor == PCI_VENDOR_NVIDIA ? nvidia : amd;
	const size_t count = vendor == PCI_VENDOR_NVIDIA ? 4 : 2;
	size_t i;

	for (i = 0; i < count; i++)
		if (doctor_exists("%s", file[i]))
			return file[i];
	return NULL;
}

/* Whether the GPU's driver exports its memory as dma-bufs. */
static bool exports_dmabuf(unsigned int vendor)
{
	char version[256];

	if (vendor == PCI_VENDOR_AMD)
		return doctor_exists("/sys/module/amdgpu");
	return !doctor_read(version, sizeof(version), "/proc/driver/nvidia/version") &&
	       strstr(version, "Open Kernel Module");
}

/*
 * Whether a device can register dma-bufs. As NCCL asks: a descriptor that cannot be one gives EBADF where the kernel
 * looks at it, and EOPNOTSUPP or EPROTONOSUPPORT where it does not come so far. Returns that errno value; 0: not asked.
 */
static int probe_dmabuf(const char *device)
{
	const struct rdmaez_mr_dmabuf nothing = {0, 4096, 0, -1};
	struct ibv_context *context = doctor_open(device);
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	int err = 0;

	if (!context)
		return 0;
	doctor_step("asking %s for dma-bufs", device);
	pd = ibv_alloc_pd(context);
	if (pd) {
		err = rdmaez_mr_reg_dmabuf(pd, &nothing, IBV_ACCESS_LOCAL_WRITE, &mr, NULL);
		ibv_dealloc_pd(pd);
	}
	ibv_close_device(context);
	return err;
}

struct probes {
	bool asked; /* at least one device */
	bool any;   /* one can */
};

static struct probes check_devices(void)
{
	struct probes probes = {false, false};
	unsigned int i;
	int err;

	for (i = 0; i < doctor_device_count(); i++) {
		err = probe_dmabuf(doctor_device(i));
		if (!err)
			continue;
		probes.asked = true;
		probes.any = probes.any || err == EBADF;
		if (err == EBADF)
			doctor_say(DOCTOR_OK, doctor_device(i), "can register dma-bufs");
		else if (err == EOPNOTSUPP || err == EPROTONOSUPPORT || err == ENOSYS)
			doctor_say(DOCTOR_OK, doctor_device(i),
				   "cannot register dma-bufs: its driver does not support them");
		else
			doctor_say(DOCTOR_NOTE, doctor_device(i),
				   "it is not clear whether it can register dma-bufs");
		doctor_evidence("ibv_reg_dmabuf_mr with descriptor -1: %s", strerror(err));
	}
	return probes;
}

/* --- GPUs -------------------------------------------------------------------------------------- */

/*
 * Whether ib_core has the peer memory interface, by the names of its functions, which everybody may read: 1 or 0, -1
 * not known. Without it nvidia_peermem ends with EINVAL: nv_mem_client_init() of NVIDIA's nvidia-peermem.c.
 */
static int has_peer_interface(void)
{
	enum {
		LINES_MAX = 1 << 20 /* more than a kernel has functions */
	};
	char path[PATH_MAX], line[256];
	int fd, has = -1;
	FILE *file;

	doctor_path(path, sizeof(path), "/proc/kallsyms");
	doctor_step("reading %s", path);
	fd = doctor_open_file(path, O_RDONLY);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file)
		return -1;
	for (int i = 0; i < LINES_MAX && has <= 0 && fgets(line, sizeof(line), file); i++) {
		if (strstr(line, " ib_register_device\t") || strstr(line, " ib_register_client\t"))
			has = 0;
		if (strstr(line, " ib_register_peer_memory_client\t"))
			has = 1;
	}
	fclose(file);
	return has;
}

static void say_no_way(const struct doctor_gpu *gpu, const struct probes *probes)
{
	const bool nvidia = gpu->vendor == PCI_VENDOR_NVIDIA;
	const int interface = has_peer_interface();

	doctor_say(DOCTOR_WARNING, gpu->address,
		   "RDMA devices have no way to its memory: registering it fails with EFAULT or "
		   "EINVAL");
	doctor_evidence("no peer-memory client in /sys/module and /sys/kernel/mm/memory_peers");
	if (exports_dmabuf(gpu->vendor))
		doctor_evidence(probes->asked ? "no RDMA device imports dma-bufs: ibv_reg_dmabuf_mr"
					      : "no RDMA device could be asked for dma-bufs");
	else if (nvidia)
		doctor_evidence("its driver exports no dma-bufs: /proc/driver/nvidia/version does "
				"not name the open kernel module");
	else
		doctor_evidence("its driver exports no dma-bufs: /sys/module/amdgpu is missing");
	if (!interface)
		doctor_evidence("/proc/kallsyms has no ib_register_peer_memory_client: this "
				"kernel's ib_core has no peer memory");
	if (nvidia && !interface)
		doctor_next("install NVIDIA's open kernel module, and use dma-bufs: modprobe "
			    "nvidia_peermem fails here with \"Invalid argument\"");
	else if (nvidia)
		doctor_next("modprobe nvidia_peermem # needs the ib_core of MLNX_OFED or DOCA; or "
			    "install NVIDIA's open kernel module");
	else
		doctor_next("use amdgpu of Linux 5.12 or newer with an RDMA driver that imports "
			    "dma-bufs");
}

/* nv_peer_mem works until something asks for more: its authors name nvidia_peermem of the driver in its place. */
static void say_old_client(const struct doctor_gpu *gpu)
{
	if (!doctor_exists("/sys/module/nv_peer_mem") ||
	    doctor_exists("/sys/module/nvidia_peermem"))
		return;
	doctor_say(DOCTOR_WARNING, gpu->address,
		   "the old nv_peer_mem is loaded instead of nvidia_peermem of NVIDIA's driver");
	doctor_evidence("/sys/module/nv_peer_mem, and no /sys/module/nvidia_peermem");
	doctor_next("rmmod nv_peer_mem && modprobe nvidia_peermem");
}

static void check_way(const struct doctor_gpu *gpu, const struct probes *probes)
{
	const char *client = peer_memory(gpu->vendor);
	char driver[64];

	if (doctor_read_link(driver, sizeof(driver), GPU "/driver", gpu->address))
		snprintf(driver, sizeof(driver), "none");
	if (strcmp(driver, gpu->vendor == PCI_VENDOR_NVIDIA ? "nvidia" : "amdgpu") != 0) {
		doctor_say(DOCTOR_NOTE, gpu->address,
			   "GPU of %s, not used for computing here: driver %s",
			   gpu->vendor == PCI_VENDOR_NVIDIA ? "NVIDIA" : "AMD", driver);
		doctor_evidence(GPU "/driver", gpu->address);
	} else if (client) {
		doctor_say(DOCTOR_OK, gpu->address,
			   "RDMA devices reach its memory through a peer-memory client (%s)",
			   client);
		if (gpu->vendor == PCI_VENDOR_NVIDIA)
			say_old_client(gpu);
	} else if (exports_dmabuf(gpu->vendor) && probes->any) {
		doctor_say(DOCTOR_OK, gpu->address,
			   "RDMA devices reach its memory through dma-bufs");
	} else if (exports_dmabuf(gpu->vendor) && !probes->asked) {
		doctor_say(DOCTOR_NOTE, gpu->address,
			   "its driver exports dma-bufs; whether RDMA devices take them was not "
			   "asked");
		doctor_evidence("no RDMA device was opened");
	} else {
		say_no_way(gpu, probes);
	}
}

/* The size of a BAR: a line of `resource` is start, end and flags. */
static uint64_t bar_size(const char *address, unsigned int bar)
{
	unsigned long long start, end;
	char text[1024], *line = text;

	if (doctor_read_all(text, sizeof(text), GPU "/resource", address) < 0)
		return 0;
	for (; bar; bar--) {
		line = strchr(line, '\n');
		if (!line++)
			return 0;
	}
	if (sscanf(line, "%llx %llx", &start, &end) != 2 || end <= start)
		return 0;
	return end - start + 1;
}

/* What RDMA devices see of the GPU's memory is behind BAR 1 of NVIDIA's, BAR 0 of AMD's. */
static void check_bar(const struct doctor_gpu *gpu)
{
	const unsigned int bar = gpu->vendor == PCI_VENDOR_NVIDIA ? 1 : 0;
	const uint64_t size = bar_size(gpu->address, bar), mib = size >> 20;
	uint64_t memory = 0;

	if (!size)
		return;
	doctor_read_number(&memory, GPU "/mem_info_vram_total", gpu->address);
	if (mib <= 256 || size < memory) {
		doctor_say(DOCTOR_WARNING, gpu->address,
			   "BAR %u shows %llu MiB of its memory at a time, and no more than that "
			   "can be registered by a peer-memory client",
			   bar, (unsigned long long)mib);
		doctor_evidence(GPU "/resource, line %u", gpu->address, bar + 1);
		if (memory)
			doctor_evidence(GPU "/mem_info_vram_total: %llu MiB", gpu->address,
					(unsigned long long)(memory >> 20));
		doctor_next("see the firmware's setup (Above 4G Decoding, Resizable BAR)%s",
			    gpu->vendor == PCI_VENDOR_NVIDIA ? " and nvidia-smi -q -d MEMORY" : "");
	} else {
		doctor_say(DOCTOR_OK, gpu->address, "BAR %u is %llu MiB", bar,
			   (unsigned long long)mib);
	}
}

void doctor_check_gpu(void)
{
	const struct probes probes = check_devices();
	const struct doctor_gpu *gpus;
	unsigned int i, count = doctor_gpus(&gpus);

	if (!count && doctor_exists("/sys/bus/pci/devices"))
		doctor_say(DOCTOR_OK, "", "no GPU of NVIDIA or AMD");
	else if (!count)
		doctor_say(DOCTOR_NOTE, "", "there is no /sys/bus/pci/devices to see GPUs in");
	for (i = 0; i < count; i++) {
		check_way(&gpus[i], &probes);
		check_bar(&gpus[i]);
	}
	if (!doctor_options.root)
		doctor_try_gpus();
}
