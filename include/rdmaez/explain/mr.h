/* SPDX-License-Identifier: MIT */
/* Explains why memory was not registered. */
#ifndef RDMAEZ_EXPLAIN_MR_H
#define RDMAEZ_EXPLAIN_MR_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/*
 * These bits depend on device and kernel: ZERO_BASED, HUGETLB and the two FLUSH, which are bits 5
 * and 7 to 9.
 */
#define RDMAEZ_IMPL_MR_RARE 0x3a0u

/* verbs.h names all of these, in whichever rdma-core. The kernel drops optional ones by itself. */
#define RDMAEZ_IMPL_MR_KNOWN (0x3ffu | (unsigned int)IBV_ACCESS_OPTIONAL_RANGE)

/* This is a registration that was refused. */
struct rdmaez_impl_mr_case {
	struct ibv_context *context;
	struct rdmaez_diag *diag;
	uintptr_t start, end; /* the bytes, of which none is beyond the last address */
	size_t length;
	unsigned int access;
	unsigned int mappings;         /* of the process; 0: not known */
	int maps;                      /* RDMAEZ_IMPL_MAPS_ bits */
	struct ibv_device_attr device; /* zero where it did not answer */
};

/* Adds something likely that has no numbers but the address. */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_suspect(const struct rdmaez_impl_mr_case *c,
					     enum rdmaez_why why)
{
	const struct rdmaez_impl_site site = {"addr", why, RDMAEZ_VALUE_ADDRESS, 0, 0};

	rdmaez_impl_find(c->diag, RDMAEZ_DIAG_LIKELY, &site, c->start);
}

/* Adds a finding about the access flags, with those that it is about. */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_find(const struct rdmaez_impl_mr_case *c,
					  enum rdmaez_severity severity, enum rdmaez_why why,
					  unsigned int bits)
{
	const struct rdmaez_impl_site site = {"access", why, RDMAEZ_VALUE_ACCESS, 0, c->access};

	rdmaez_impl_find(c->diag, severity, &site, bits);
}

/* Adds a finding about the length. `most` is how many bytes would do. */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_find_length(const struct rdmaez_impl_mr_case *c,
						 enum rdmaez_severity severity, enum rdmaez_why why,
						 uint64_t most)
{
	const struct rdmaez_impl_site site = {"length", why, RDMAEZ_VALUE_BYTES, 0, 0};

	rdmaez_impl_find_within(c->diag, severity, &site, c->length, 1, most);
}

/* Checks what `ib_check_mr_access()` wants of every region. */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_explain_writes(const struct rdmaez_impl_mr_case *c)
{
	const unsigned int remote =
		c->access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);

	if (remote && !(c->access & IBV_ACCESS_LOCAL_WRITE))
		rdmaez_impl_mr_find(c, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_LOCAL_WRITE, remote);
}

/* Judges the flags, by the kernel's rules and by what the device reports of on-demand paging. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_mr_explain_access(const struct rdmaez_impl_mr_case *c,
						     bool implicit)
{
	const unsigned int access = c->access;
	const uint64_t needed = IBV_ODP_SUPPORT | (implicit ? IBV_ODP_SUPPORT_IMPLICIT : 0);
	struct ibv_device_attr_ex device;

	memset(&device, 0, sizeof(device));
	rdmaez_impl_mr_explain_writes(c);
	if (access & ~RDMAEZ_IMPL_MR_KNOWN)
		rdmaez_impl_mr_find(c, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_ACCESS_BITS,
				    access & ~RDMAEZ_IMPL_MR_KNOWN);
	if ((access & IBV_ACCESS_ON_DEMAND) && !ibv_query_device_ex(c->context, NULL, &device) &&
	    (device.odp_caps.general_caps & needed) != needed)
		rdmaez_impl_mr_find(c, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_ON_DEMAND,
				    IBV_ACCESS_ON_DEMAND);
	if ((access & RDMAEZ_IMPL_MR_RARE) && !c->diag->count)
		rdmaez_impl_mr_find(c, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MR_ACCESS_REFUSED,
				    access & RDMAEZ_IMPL_MR_RARE);
}

/*
 * Judges the length. It may be more than the device takes in one region, whatever the errno value
 * is: bnxt_re_reg_user_mr() returns ENOMEM, and some providers set none. With EINVAL it may also be
 * 0, or end beyond the last address. That is not certain, because ib_umem_get() counts pages. So
 * rxe and others count no bytes as one page, unless they begin at a page. siw before Linux 6.4 and
 * usnic count pages by themselves, in sums that overflow.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_mr_explain_length(const struct rdmaez_impl_mr_case *c)
{
	const int error = c->diag->error;
	const uint64_t here = error == EINVAL ? UINTPTR_MAX - c->start : UINT64_MAX;
	const uint64_t size = c->device.max_mr_size ? c->device.max_mr_size : UINT64_MAX;
	const bool is_sure = c->length > size && (error == EINVAL || error == EIO);
	/* If a flag is certainly refused, the length of 0 explains nothing. */
	const bool is_none = !c->length && error == EINVAL && !c->diag->count;

	if (c->length > size || c->length > here || is_none)
		rdmaez_impl_mr_find_length(c, is_sure ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY,
					   RDMAEZ_WHY_RANGE, here < size ? here : size);
}

/*
 * Returns the smallest BAR1 of the machine's NVIDIA GPUs, or 0 if it is not known. Other devices
 * reach the GPU's memory through it, and it is the largest of a GPU's six regions. A line of this
 * file has the place, the vendor and device, the interrupt, seven addresses, seven sizes and the
 * driver, here NVIDIA's: drivers/pci/proc.c, show_device().
 */
RDMAEZ_IMPL_SMALL uint64_t rdmaez_impl_mr_bar1(void)
{
	struct rdmaez_impl_lines lines;
	uint64_t least = 0, number, most;
	const char *at;

	rdmaez_impl_lines_open(&lines, "/proc/bus/pci/devices");
	while ((at = rdmaez_impl_line(&lines))) {
		most = 0;
		for (int i = 0; i < 17; i++) {
			number = rdmaez_impl_number(&at, 16);
			if (i >= 10 && i < 16 && number > most)
				most = number;
		}
		if (most && strcmp(at, "\tnvidia") == 0 && (!least || most < least))
			least = most;
	}
	rdmaez_impl_lines_close(&lines);
	return least;
}

/*
 * Returns 1 if the kernel has the peer memory interface, which MLNX_OFED, DOCA and Ubuntu's kernels
 * add to ib_core, 0 if not, and -1 if that is not known. Everybody may read the names of its
 * functions, if not their addresses: s_show() of kernel/kallsyms.c.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_mr_has_peers(void)
{
	struct rdmaez_impl_lines lines;
	const char *line, *name;
	int has = -1;

	rdmaez_impl_lines_open(&lines, "/proc/kallsyms");
	while (has <= 0 && (line = rdmaez_impl_line(&lines))) {
		name = strstr(line, " ib_");
		if (name && strncmp(name, " ib_register_", 13) == 0)
			has = strncmp(name + 13, "peer_memory_client", 18) == 0;
	}
	rdmaez_impl_lines_close(&lines);
	return has;
}

/*
 * Returns why nobody can tell the kernel where the memory of this maker's GPUs is, or
 * RDMAEZ_WHY_NONE if somebody may. A client of the kernel's peer memory interface is a module or a
 * folder. Only patched kernels and vendors' drivers have that interface. If the maker is not known,
 * nor is the module that would do. NVIDIA's README of its driver, chapter "GPUDirect RDMA Peer
 * Memory Client", has nvidia_peermem in place of nv_peer_mem.
 */
RDMAEZ_IMPL_SMALL enum rdmaez_why rdmaez_impl_mr_no_peer(bool is_nvidia, bool is_amd)
{
	static const char *const peers[] = {
		"/sys/module/nvidia_peermem",         "/sys/module/nv_peer_mem",
		"/sys/kernel/mm/memory_peers/nv_mem", "/sys/kernel/mm/memory_peers/amdkfd",
		"/sys/kernel/memory_peers/amdkfd",    "/sys/memory_peers/amdkfd",
		"/sys/module/amdgpu_peermem",
	};

	if (is_nvidia == is_amd || access("/sys/module", F_OK))
		return RDMAEZ_WHY_NONE; /* without sysfs nothing is known either */
	for (size_t i = is_amd ? 3 : 0; i < (is_amd ? 7u : 3u); i++)
		if (access(peers[i], F_OK) == 0)
			return i == 1 && access(peers[0], F_OK) ? RDMAEZ_WHY_MR_GPU_OLD_PEER
								: RDMAEZ_WHY_NONE;
	return is_amd                       ? RDMAEZ_WHY_MR_GPU_AMD
	       : rdmaez_impl_mr_has_peers() ? RDMAEZ_WHY_MR_GPU_NO_PEER
					    : RDMAEZ_WHY_MR_GPU_NO_INTERFACE;
}

/*
 * Says what stands in the way of memory that seems to be a GPU's, the likelier cause first. A
 * process that uses GPUs of two makers does not show whose the memory is.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_explain_gpu(const struct rdmaez_impl_mr_case *c)
{
	static const char *const settings[] = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};
	const bool is_nvidia = (c->maps & RDMAEZ_IMPL_MAPS_NVIDIA) != 0;
	const bool is_amd = (c->maps & RDMAEZ_IMPL_MAPS_AMD) != 0;
	const enum rdmaez_why why = rdmaez_impl_mr_no_peer(is_nvidia, is_amd);
	const uint64_t bar1 = is_nvidia && !is_amd ? rdmaez_impl_mr_bar1() : 0;
	const unsigned int before = c->diag->count;
	bool has_segments = false;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const char *const value = getenv(settings[i]);

		has_segments |= value && strstr(value, "expandable_segments:True");
	}
	if (has_segments)
		rdmaez_impl_mr_suspect(c, RDMAEZ_WHY_MR_GPU_SEGMENTS);
	if (why != RDMAEZ_WHY_NONE)
		rdmaez_impl_mr_suspect(c, why);
	/* A GPU without a large BAR1 has 256 MiB, and part of it is in use. */
	if (bar1 && (c->length > bar1 || bar1 <= UINT64_C(1) << 28))
		rdmaez_impl_mr_find_length(c, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MR_GPU_BAR1, bar1);
	if (c->diag->count == before)
		rdmaez_impl_mr_suspect(c, RDMAEZ_WHY_MR_GPU);
}

/*
 * Returns whether the memory may be a GPU's: its driver reserves addresses, or leaves them out, or
 * maps its device file.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_mr_is_gpu(const struct rdmaez_impl_mr_case *c)
{
	return (c->maps & RDMAEZ_IMPL_MAPS_GPUS) &&
	       (c->maps & (RDMAEZ_IMPL_MAPS_HOLE | RDMAEZ_IMPL_MAPS_NONE | RDMAEZ_IMPL_MAPS_GPU));
}

/* Returns 1 if part of the memory is not mapped, 0 if all is, and -1 if that is not known. */
RDMAEZ_IMPL_COLD int rdmaez_impl_mr_has_hole(const struct rdmaez_impl_mr_case *c)
{
	return c->mappings ? (c->maps & RDMAEZ_IMPL_MAPS_HOLE) != 0 : -1;
}

/*
 * Explains EFAULT. `pin_user_pages_fast()` returns it for memory that is not mapped, for a device's
 * memory (VM_IO, VM_PFNMAP), for protected memory, and since Linux 6.5 for files that it would have
 * to write back (writable_file_mapping_allowed()). Unmapped memory is certain, unless a GPU's
 * driver has a hand in it.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_explain_fault(const struct rdmaez_impl_mr_case *c)
{
	static const struct rdmaez_impl_site gone = {"addr", RDMAEZ_WHY_MR_UNMAPPED,
						     RDMAEZ_VALUE_ADDRESS, 0, 0};
	const unsigned int writes = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
	const bool is_gpu = rdmaez_impl_mr_is_gpu(c);
	const int hole = rdmaez_impl_mr_has_hole(c);

	if (is_gpu)
		rdmaez_impl_mr_explain_gpu(c);
	if (hole)
		rdmaez_impl_find(c->diag,
				 is_gpu || hole < 0 ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ERROR, &gone,
				 c->start);
	if (hole > 0)
		return;
	if ((c->maps & RDMAEZ_IMPL_MAPS_WRITE) && (c->access & writes) &&
	    rdmaez_impl_linux_version() >= 605)
		rdmaez_impl_mr_suspect(c, RDMAEZ_WHY_MR_FILE);
	else if (c->maps & RDMAEZ_IMPL_MAPS_WINDOW)
		rdmaez_impl_mr_suspect(c, RDMAEZ_WHY_MR_GDRCOPY);
	else
		rdmaez_impl_mr_suspect(c, RDMAEZ_WHY_MR_PROTECTION);
}

/*
 * Returns 1 if fork protection is on, 0 if it is off or not needed (copy-on-fork, Linux 5.12), and
 * -1 if that is not known.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_mr_fork(void)
{
#ifndef RDMAEZ_HAVE_DMABUF_MR
	if (rdmaez_impl_verb_is_fork_initialized)
		return rdmaez_impl_verb_is_fork_initialized() == 1; /* IBV_FORK_ENABLED */
#endif
	return -1;
}

/* Returns the page size of the mapping that has this address, in bytes, or 0 if it is not known. */
RDMAEZ_IMPL_SMALL uint64_t rdmaez_impl_mr_page(uintptr_t address)
{
	static const char name[] = "KernelPageSize:";
	struct rdmaez_impl_lines lines;
	uint64_t size = 0, from, to;
	bool is_here = false;
	const char *line, *at;

	rdmaez_impl_lines_open(&lines, "/proc/self/smaps");
	while (!size && (line = rdmaez_impl_line(&lines))) {
		at = line;
		from = rdmaez_impl_number(&at, 16);
		if (*at == '-') {
			at++;
			to = rdmaez_impl_number(&at, 16);
			is_here = from <= address && address < to;
		} else if (is_here && strncmp(line, name, sizeof(name) - 1) == 0) {
			at = line + sizeof(name) - 1;
			size = rdmaez_impl_number(&at, 10) << 10;
		}
	}
	rdmaez_impl_lines_close(&lines);
	return size;
}

/*
 * Explains EINVAL for huge pages. ibv_dontfork_range() of libibverbs advises the kernel page by
 * page (MADV_DONTFORK), unless RDMAV_HUGEPAGES_SAFE is set. The kernel does not split huge pages
 * for that.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_mr_explain_huge(const struct rdmaez_impl_mr_case *c)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t first = c->start & ~(page - 1), last = (c->end + page - 1) & ~(page - 1);
	uint64_t huge;

	if ((c->access & IBV_ACCESS_ON_DEMAND) || !rdmaez_impl_mr_fork() ||
	    getenv("RDMAV_HUGEPAGES_SAFE"))
		return;
	huge = rdmaez_impl_mr_page(c->start);
	if (huge > page && ((first | last) & (huge - 1)))
		rdmaez_impl_mr_suspect(c, RDMAEZ_WHY_MR_FORK_HUGE);
}

/*
 * Explains ENOMEM or EAGAIN for a process that has all the mappings it may have. Fork protection
 * makes up to two of each region, for which madvise(2) returns EAGAIN. A provider gets memory by
 * mmap(2), which returns ENOMEM.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_mr_explain_mappings(const struct rdmaez_impl_mr_case *c)
{
	static const struct rdmaez_impl_site many = {"addr", RDMAEZ_WHY_MR_MAPPINGS,
						     RDMAEZ_VALUE_COUNTED, 0, 0};
	char text[32];
	const char *at = text;
	uint64_t most;

	rdmaez_impl_file_text("/proc/sys/vm/max_map_count", text, sizeof(text));
	most = rdmaez_impl_number(&at, 10);
	if (most && c->mappings && c->mappings + UINT64_C(2) >= most)
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_LIKELY, &many, c->mappings, 0, most);
}

/*
 * Explains ENOMEM where the kernel has page blocks of CMA that belong to no area of CMA, as those
 * that kexec handover (KHO) sets aside. To pin a page there, migrate_longterm_unpinnable_folios()
 * must move it, which fails if somebody else holds it, such as a GPU's driver: pull request 591 of
 * NVIDIA/NV-Kernels.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_mr_explain_unpinnable(const struct rdmaez_impl_mr_case *c)
{
	static const struct rdmaez_impl_site site = {"addr", RDMAEZ_WHY_MR_UNPINNABLE,
						     RDMAEZ_VALUE_BYTES, 0, -1};
	struct rdmaez_impl_lines lines;
	const char *text = rdmaez_impl_lines_find(&lines, "/proc/meminfo", "CmaTotal:");
	const uint64_t total = text ? rdmaez_impl_number(&text, 10) : 0;
	const bool is_known = text != NULL;
	uint64_t unused;

	text = rdmaez_impl_lines_find(&lines, "/proc/meminfo", "CmaFree:");
	unused = text ? rdmaez_impl_number(&text, 10) : 0;
	if (is_known && unused > total)
		rdmaez_impl_find(c->diag, RDMAEZ_DIAG_LIKELY, &site, (unused - total) << 10);
}

/* Explains ENOMEM and the like: it says what may be exhausted. */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_explain_shortage(const struct rdmaez_impl_mr_case *c)
{
	const int error = c->diag->error;
	const bool is_locked = !(c->access & IBV_ACCESS_ON_DEMAND);

	if (error == ENOMEM || error == EAGAIN)
		rdmaez_impl_mr_explain_mappings(c);
	/* In that case madvise(2) returns ENOMEM for memory that is not mapped. */
	if (error == ENOMEM && is_locked && rdmaez_impl_mr_fork() > 0 &&
	    rdmaez_impl_mr_has_hole(c) > 0)
		rdmaez_impl_mr_explain_fault(c);
	/*
	 * If the process may not lock any memory at all, the kernel returns EPERM, otherwise
	 * ENOMEM.
	 */
	if (is_locked && (error == ENOMEM || error == EPERM))
		rdmaez_impl_suspect_memlock(c->diag, "length", c->length,
					    rdmaez_driver_of(&c->device));
	rdmaez_impl_suspect_space(c->diag, "length");
	if (is_locked && error == ENOMEM)
		rdmaez_impl_mr_explain_unpinnable(c);
	if (error == EAGAIN)
		rdmaez_impl_find_plain(c->diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CGROUP,
				       "ibv_reg_mr");
	if (error == EPERM || rdmaez_impl_is_certain(c->diag))
		return;
	if (error != EAGAIN && c->device.max_mr > 0)
		rdmaez_impl_suspect_count(c->diag, "max_mr", c->device.max_mr);
	else
		rdmaez_impl_explain_errno(c->diag);
}

/* Explains EINVAL and EOPNOTSUPP, by the flags and the kind of memory. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_mr_explain_kind(const struct rdmaez_impl_mr_case *c)
{
	if (rdmaez_impl_is_certain(c->diag))
		return;
	if (c->diag->error == EINVAL) {
		rdmaez_impl_mr_explain_huge(c);
		if (rdmaez_impl_mr_is_gpu(c)) /* amdgpu's peer memory returns it */
			rdmaez_impl_mr_explain_gpu(c);
		/* ib_umem_get() returns it for 2^32 pages, before it looks at them. */
		else if ((c->maps & RDMAEZ_IMPL_MAPS_HOLE) && c->length >> 31 >> 1 >= 4096)
			rdmaez_impl_mr_suspect(c, RDMAEZ_WHY_MR_UNMAPPED);
	} else if ((c->maps & RDMAEZ_IMPL_MAPS_FILE) && !(c->access & IBV_ACCESS_ON_DEMAND)) {
		/*
		 * `pin_user_pages_fast()` with FOLL_LONGTERM returns it for files of a DAX file
		 * system.
		 */
		rdmaez_impl_mr_suspect(c, RDMAEZ_WHY_MR_FILE);
		rdmaez_impl_explain_errno(c->diag);
	}
}

/* Explains a refusal by the flags, the memory and the limits. */
RDMAEZ_SEAM void rdmaez_impl_mr_explain(struct ibv_context *context, void *addr, size_t length,
					unsigned int access, struct rdmaez_diag *diag)
{
	/* This is how on-demand paging spells "all memory". */
	const bool implicit = (access & IBV_ACCESS_ON_DEMAND) && !addr && length == SIZE_MAX;
	const int error = diag->error;
	const struct rdmaez_driver *driver;
	struct rdmaez_impl_mr_case c;

	memset(&c, 0, sizeof(c));
	c.context = context;
	c.diag = diag;
	c.start = (uintptr_t)addr;
	c.end = length > UINTPTR_MAX - c.start ? UINTPTR_MAX : c.start + length;
	c.length = length;
	c.access = access;
	rdmaez_impl_ask_device(context, &c.device, &driver, diag);
	c.mappings = implicit ? 0 : rdmaez_impl_maps(c.start, c.end, &c.maps);
	if (error == EINVAL || error == EOPNOTSUPP)
		rdmaez_impl_mr_explain_access(&c, implicit);
	if (!implicit)
		rdmaez_impl_mr_explain_length(&c);
	if (error == EINVAL || error == EOPNOTSUPP)
		rdmaez_impl_mr_explain_kind(&c);
	else if (error == EFAULT)
		rdmaez_impl_mr_explain_fault(&c);
	else if (error == ENOMEM || error == ENOSPC || error == EPERM || error == EAGAIN)
		rdmaez_impl_mr_explain_shortage(&c);
	if (!diag->count)
		rdmaez_impl_explain_errno(diag);
}

/*
 * Returns 1 if a descriptor is that of a dma-buf, 0 if not, and -1 if that is not known. Since
 * Linux 5.3 dma-bufs have a file system of their own, DMA_BUF_MAGIC, and an offset from the end
 * tells their size: dma_buf_llseek(). It does not move anything.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_mr_is_dmabuf(int fd, uint64_t *size)
{
	struct statfs system;
	int64_t end;

	*size = UINT64_MAX;
	if (fcntl(fd, F_GETFD) < 0)
		return 0;
	memset(&system, 0, sizeof(system));
	if (fstatfs(fd, &system))
		return -1;
	if ((uint32_t)system.f_type != 0x444d4142)
		return 0;
	end = (int64_t)lseek(fd, 0, SEEK_END);
	if (end > 0)
		*size = (uint64_t)end;
	return 1;
}

/* Compares offset and length with the dma-buf's size. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_mr_judge_range(const struct rdmaez_impl_mr_case *c,
						  const struct rdmaez_mr_dmabuf *dmabuf,
						  uint64_t size)
{
	static const struct rdmaez_impl_site behind = {"offset", RDMAEZ_WHY_MR_DMABUF_END,
						       RDMAEZ_VALUE_BYTES, 0, 0};

	if (!c->length)
		rdmaez_impl_mr_find_length(c, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE,
					   dmabuf->offset < size ? size - dmabuf->offset : size);
	else if (dmabuf->offset >= size)
		rdmaez_impl_find_within(c->diag, RDMAEZ_DIAG_ERROR, &behind, dmabuf->offset, 0,
					size - 1);
	else if (c->length > size - dmabuf->offset)
		rdmaez_impl_mr_find_length(c, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_DMABUF_END,
					   size - dmabuf->offset);
}

/*
 * Explains EBADF and EINVAL by what uverbs' UVERBS_METHOD_REG_DMABUF_MR and then
 * ib_umem_dmabuf_get() look at. Returns whether the descriptor is known to be a dma-buf's.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_mr_judge_dmabuf(const struct rdmaez_impl_mr_case *c,
						  const struct rdmaez_mr_dmabuf *dmabuf)
{
	static const struct rdmaez_impl_site place = {"iova", RDMAEZ_WHY_MR_DMABUF_IOVA,
						      RDMAEZ_VALUE_ADDRESS, 0, 0};
	static const struct rdmaez_impl_site other = {"fd", RDMAEZ_WHY_MR_DMABUF_FD,
						      RDMAEZ_VALUE_NUMBER, 0, -1};
	const unsigned int rare =
		~(unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
				IBV_ACCESS_OPTIONAL_RANGE);
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t size;
	const int is = rdmaez_impl_mr_is_dmabuf(dmabuf->fd, &size);

	if (c->diag->error == EINVAL) {
		rdmaez_impl_mr_explain_writes(c);
		if (c->access & rare)
			rdmaez_impl_mr_find(c, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MR_ACCESS_REFUSED,
					    c->access & rare);
		if ((dmabuf->offset ^ dmabuf->iova) & (page - 1))
			rdmaez_impl_find(c->diag, RDMAEZ_DIAG_ERROR, &place, dmabuf->iova);
		rdmaez_impl_mr_judge_range(c, dmabuf, size);
	}
	if (!is || c->diag->error == EBADF)
		rdmaez_impl_find(c->diag, is ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ERROR, &other,
				 (uint64_t)(int64_t)dmabuf->fd);
	return is > 0;
}

/*
 * Returns whether the verb gets as far as the descriptor with these access flags. A driver that can
 * register a dma-buf returns EBADF for a descriptor of nothing.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_mr_takes_dmabuf(struct ibv_pd *pd, unsigned int access)
{
	struct rdmaez_mr_dmabuf nothing;
	bool has_verb;

	memset(&nothing, 0, sizeof(nothing));
	nothing.length = 4096;
	nothing.fd = -1;
	return !rdmaez_impl_mr_dmabuf(pd, &nothing, access, &has_verb) && errno == EBADF;
}

/* Adds that the exporter may have refused. */
RDMAEZ_IMPL_COLD void rdmaez_impl_mr_suspect_exporter(const struct rdmaez_impl_mr_case *c, int fd)
{
	static const struct rdmaez_impl_site site = {"fd", RDMAEZ_WHY_MR_DMABUF_EXPORTER,
						     RDMAEZ_VALUE_NUMBER, 0, -1};

	rdmaez_impl_find(c->diag, RDMAEZ_DIAG_LIKELY, &site, (uint64_t)(int64_t)fd);
}

/*
 * Explains EOPNOTSUPP and its like. uverbs returns it for a driver without `reg_user_mr_dmabuf`,
 * libibverbs for a provider without `reg_dmabuf_mr`, and a kernel without the method
 * EPROTONOSUPPORT. efa_alloc_mr() returns it for access flags. All of that comes before the
 * descriptor. Exporters that do not reach the device return it, too:
 * xe_dma_buf_attach(), vfio_pci_dma_buf_attach(), and NVIDIA's nv_dma_buf_attach() the kernel's
 * ENOTSUPP.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_mr_explain_no_dmabuf(const struct rdmaez_impl_mr_case *c,
							struct ibv_pd *pd, int fd)
{
	static const struct rdmaez_impl_site no = {"ibv_reg_dmabuf_mr", RDMAEZ_WHY_MR_NO_DMABUF,
						   RDMAEZ_VALUE_NONE, 0, 0};

	if (rdmaez_impl_mr_takes_dmabuf(pd, c->access))
		rdmaez_impl_mr_suspect_exporter(c, fd);
	else if (c->access && rdmaez_impl_mr_takes_dmabuf(pd, 0))
		rdmaez_impl_mr_find(c, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MR_ACCESS_REFUSED, c->access);
	else
		rdmaez_impl_find(c->diag, RDMAEZ_DIAG_ERROR, &no, 0);
}

/*
 * Explains a refusal. If nothing is wrong with the range, EINVAL, EPERM and ENODEV of a dma-buf are
 * the exporter's: xe_dma_buf_pin() and amdgpu_dma_buf_map() return the first for memory that cannot
 * move to where the device reaches it, hl_map_dmabuf() the second without peer-to-peer, and vfio the
 * third after a reset.
 */
RDMAEZ_SEAM void rdmaez_impl_mr_explain_dmabuf(struct ibv_pd *pd,
					       const struct rdmaez_mr_dmabuf *dmabuf,
					       unsigned int access, struct rdmaez_diag *diag)
{
	const int error = diag->error, kernel_enotsupp = 524;
	const struct rdmaez_driver *driver;
	struct rdmaez_impl_mr_case c;
	uint64_t size;
	bool is;

	memset(&c, 0, sizeof(c));
	rdmaez_impl_ask_device(pd->context, &c.device, &driver, diag);
	c.diag = diag;
	c.length = dmabuf->length;
	c.access = access;
	if (error == EOPNOTSUPP || error == ENOSYS || error == EPROTONOSUPPORT ||
	    error == kernel_enotsupp) {
		rdmaez_impl_mr_explain_no_dmabuf(&c, pd, dmabuf->fd);
	} else if (error == EINVAL || error == EBADF) {
		is = rdmaez_impl_mr_judge_dmabuf(&c, dmabuf);
		if (is && !diag->count)
			rdmaez_impl_mr_suspect_exporter(&c, dmabuf->fd);
	} else if ((error == EPERM || error == ENODEV) &&
		   rdmaez_impl_mr_is_dmabuf(dmabuf->fd, &size) > 0) {
		rdmaez_impl_mr_suspect_exporter(&c, dmabuf->fd);
	}
	if (!diag->count)
		rdmaez_impl_explain_errno(diag);
}

RDMAEZ_IMPL_END

#endif
