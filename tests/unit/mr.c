/* SPDX-License-Identifier: MIT */
/* Registering memory: what a refusal is put down to. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, memfd_create(), setenv() */
#include "process.h"

#define getrlimit test_getrlimit
#define open      test_open

#include <sys/mman.h>
#include <sys/statfs.h>
#include <infiniband/verbs.h>

/* A provider that returns NULL or -1 and forgets errno. */
static int forgets;

static struct ibv_mr *test_reg_mr(struct ibv_pd *pd, void *addr, size_t length, unsigned int access,
				  int is_constant)
{
	return forgets ? NULL : __ibv_reg_mr(pd, addr, length, access, is_constant);
}
#define __ibv_reg_mr test_reg_mr /* which the macro calls */

static int test_dereg_mr(struct ibv_mr *mr)
{
	return forgets ? -1 : ibv_dereg_mr(mr);
}
#define ibv_dereg_mr test_dereg_mr

/* Which file system a descriptor is of; 0: it cannot be asked. A memfd stands for a dma-buf of its size. */
static unsigned int file_system;

static int test_fstatfs(int fd, struct statfs *system)
{
	(void)fd;
	system->f_type = (__typeof__(system->f_type))file_system;
	return file_system ? 0 : -1;
}
#define fstatfs test_fstatfs

#include "check.h"
#include <rdmaez/implementation.h>
#include "findings.h"

static struct {
	struct fake_device *dev;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct rdmaez_diag diag;
} t;

static char buffer[4096];

static void start(void)
{
	process_reset(PROCESS_CAP_OTHERS);
	t.dev = fake_reset();
	t.pd = ibv_alloc_pd(fake_open(t.dev));
	t.dev->attr.orig_attr.max_mr = 500;
	t.mr = NULL;
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

static int reg(void *addr, size_t length, unsigned int access)
{
	return rdmaez_mr_reg(t.pd, addr, length, access, &t.mr, &t.diag);
}

#define LIKELY(reason, field, ...)  {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define CERTAIN(reason, field, ...) {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define AT(reason, address)         LIKELY(reason, "addr", RDMAEZ_VALUE_ADDRESS, address, 0, 0)
#define EXHAUSTED                   LIKELY(NO_RESOURCES, "max_mr", RDMAEZ_VALUE_LIMIT, 0, 0, 500)
#define LOCKED                      LIKELY(MEMLOCK, "length", RDMAEZ_VALUE_BYTES, 4096, 0, 1 << 20)

/* What a refusal by the verb with this errno is put down to. */
#define CHECK_REG(address, length, access, error, name, ...)                                    \
	do {                                                                                    \
		fake_fail(FAKE_REG_MR, 1, error);                                               \
		CHECK_VERB_FINDINGS(&t.diag, reg((char *)(uintptr_t)(address), length, access), \
				    error, "rdmaez_mr_reg", "ibv_reg_mr", name, __VA_ARGS__);   \
	} while (0)

static void check_registration(void)
{
	static const unsigned int flags[] = {
		0, IBV_ACCESS_LOCAL_WRITE,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
		IBV_ACCESS_REMOTE_READ, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING};

	for (size_t i = 0; i < COUNT_OF(flags); i++) {
		start();
		check_success(&t.diag, reg(buffer, sizeof(buffer), flags[i]), "flags %#x",
			      flags[i]);
		tap_eq_int(fake_count(FAKE_ANY), 1, "one verbs call");
		tap_eq_hex(fake_last(FAKE_REG_MR)->attr_mask, flags[i], "with all the flags");
		tap_ok(t.mr && t.mr->addr == buffer && t.mr->length == sizeof(buffer),
		       "the region is handed over");
		tap_eq_str(t.diag.device, "fake0", "the record names the device");
	}
}

static void check_flags(void)
{
	const unsigned int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

	start();
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 8, remote | IBV_ACCESS_REMOTE_READ), EINVAL,
			    "rdmaez_mr_reg", "ibv_reg_mr", "remote write without local write",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_LOCAL_WRITE, "access",
			     RDMAEZ_VALUE_ACCESS, remote, 0, remote | IBV_ACCESS_REMOTE_READ});
	tap_eq_ptr(t.mr, NULL, "the output is not written");
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 8, IBV_ACCESS_REMOTE_ATOMIC), EINVAL,
			    "rdmaez_mr_reg", "ibv_reg_mr", "remote atomic without local write",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_LOCAL_WRITE, "access",
			     RDMAEZ_VALUE_ACCESS, IBV_ACCESS_REMOTE_ATOMIC, 0,
			     IBV_ACCESS_REMOTE_ATOMIC});
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 8, 0x80000401u), EINVAL, "rdmaez_mr_reg",
			    "ibv_reg_mr", "bits without a meaning",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_ACCESS_BITS, "access",
			     RDMAEZ_VALUE_ACCESS, 0x80000400u, 0, 0x80000401u});
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 8, 0x300), EINVAL, "rdmaez_mr_reg", "ibv_reg_mr",
			    "bits that this kernel does not know",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MR_ACCESS_REFUSED, "access",
			     RDMAEZ_VALUE_ACCESS, 0x300, 0, 0x300});
	CHECK_VERB_FINDINGS(
		&t.diag, reg(buffer, 8, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB), EINVAL,
		"rdmaez_mr_reg", "ibv_reg_mr", "on-demand paging where there is none",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_ON_DEMAND, "access", RDMAEZ_VALUE_ACCESS,
		 IBV_ACCESS_ON_DEMAND, 0, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB});
	fake_fail(FAKE_REG_MR, 1, EOPNOTSUPP);
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 8, IBV_ACCESS_ON_DEMAND), EOPNOTSUPP,
			    "rdmaez_mr_reg", "ibv_reg_mr", "the same with another errno",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_ON_DEMAND, "access",
			     RDMAEZ_VALUE_ACCESS, IBV_ACCESS_ON_DEMAND, 0, IBV_ACCESS_ON_DEMAND});

	t.dev->attr.odp_caps.general_caps = IBV_ODP_SUPPORT;
	check_success(&t.diag, reg(NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND), "with on-demand paging");
	fake_fail(FAKE_REG_MR, 1, EINVAL);
	CHECK_VERB_FINDINGS(&t.diag, reg(NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND), EINVAL,
			    "rdmaez_mr_reg", "ibv_reg_mr",
			    "all memory where only parts can be paged",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_ON_DEMAND, "access",
			     RDMAEZ_VALUE_ACCESS, IBV_ACCESS_ON_DEMAND, 0, IBV_ACCESS_ON_DEMAND});
	t.dev->attr.odp_caps.general_caps |= IBV_ODP_SUPPORT_IMPLICIT;
	fake_fail(FAKE_REG_MR, 1, EINVAL);
	CHECK_VERB_FINDINGS(&t.diag, reg(NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND), EINVAL,
			    "rdmaez_mr_reg", "ibv_reg_mr", "all memory where all can be paged",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, "ibv_reg_mr",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	t.dev->attr.odp_caps.general_caps = IBV_ODP_SUPPORT;
	fake_fail(FAKE_REG_MR, 0, EINVAL);
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 8, IBV_ACCESS_ON_DEMAND), EINVAL, "rdmaez_mr_reg",
			    "ibv_reg_mr", "a part of memory where parts can be paged",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, "ibv_reg_mr",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	CHECK_VERB_FINDINGS(&t.diag, reg(NULL, 8, IBV_ACCESS_ON_DEMAND), EINVAL, "rdmaez_mr_reg",
			    "ibv_reg_mr", "the beginning of memory is not all of it",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, "ibv_reg_mr",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	if (sizeof(void *) == 8) /* elsewhere no length has 2^32 pages */
		CHECK_VERB_FINDINGS(&t.diag, reg(buffer, SIZE_MAX, IBV_ACCESS_ON_DEMAND), EINVAL,
				    "rdmaez_mr_reg", "ibv_reg_mr", "nor is so much from here on",
				    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_RANGE, "length",
				     RDMAEZ_VALUE_BYTES, SIZE_MAX, 1,
				     UINTPTR_MAX - (uintptr_t)buffer},
				    AT(MR_UNMAPPED, (uintptr_t)buffer));
	fake_fail(FAKE_REG_MR, 1, EOPNOTSUPP);
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 8, 0), EOPNOTSUPP, "rdmaez_mr_reg", "ibv_reg_mr",
			    "plain flags not supported",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NOT_SUPPORTED, "ibv_reg_mr",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
}

static void check_length(void)
{
	char *const last = (char *)(UINTPTR_MAX - 4095);

	start();
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 0, 0), EINVAL, "rdmaez_mr_reg", "ibv_reg_mr",
			    "no length",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES, 0,
			     1, UINTPTR_MAX - (uintptr_t)buffer});
	CHECK_VERB_FINDINGS(&t.diag, reg(last, 4096, 0), EINVAL, "rdmaez_mr_reg", "ibv_reg_mr",
			    "beyond the last address",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES,
			     4096, 1, 4095});
	t.dev->attr.orig_attr.max_mr_size = 1 << 20;
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, (1 << 20) + 1, 0), EINVAL, "rdmaez_mr_reg",
			    "ibv_reg_mr", "more than the device takes",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES,
			     (1 << 20) + 1, 1, 1 << 20});
	fake_fail(FAKE_REG_MR, 1, EINVAL);
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 1 << 20, 0), EINVAL, "rdmaez_mr_reg", "ibv_reg_mr",
			    "just what the device takes",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, "ibv_reg_mr",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	fake_fail(FAKE_REG_MR, 1, ENOMEM);
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 0, 0), ENOMEM, "rdmaez_mr_reg", "ibv_reg_mr",
			    "ENOMEM does not mean the length", EXHAUSTED);
	CHECK_VERB_FINDINGS(&t.diag, reg(last, 0, IBV_ACCESS_REMOTE_WRITE), EINVAL, "rdmaez_mr_reg",
			    "ibv_reg_mr", "no length, which rxe registers, beside what is certain",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_LOCAL_WRITE, "access",
			     RDMAEZ_VALUE_ACCESS, IBV_ACCESS_REMOTE_WRITE, 0,
			     IBV_ACCESS_REMOTE_WRITE});
	tap_eq_int(rdmaez_mr_reg(t.pd, last, 0, 0, &t.mr, NULL), EINVAL, "without a record");
}

static void check_fault(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = (char *)mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	start();
	tap_ok(memory != MAP_FAILED && !munmap(memory + 2 * page, page), "two pages and a hole");
	fake_fail(FAKE_REG_MR, 0, EFAULT);
	CHECK_VERB_FINDINGS(&t.diag, reg(memory + 5, 2 * page - 5, IBV_ACCESS_LOCAL_WRITE), EFAULT,
			    "rdmaez_mr_reg", "ibv_reg_mr", "memory that is read-only",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MR_PROTECTION, "addr",
			     RDMAEZ_VALUE_ADDRESS, (uintptr_t)memory + 5, 0, 0});
	CHECK_VERB_FINDINGS(&t.diag, reg(memory + 5, 2 * page - 4, IBV_ACCESS_LOCAL_WRITE), EFAULT,
			    "rdmaez_mr_reg", "ibv_reg_mr", "memory that ends a byte too early",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_UNMAPPED, "addr",
			     RDMAEZ_VALUE_ADDRESS, (uintptr_t)memory + 5, 0, 0});
	munmap(memory, 2 * page);
}

static void check_no_memory(const char *name, bool is_locked)
{
	const int before = dup(STDOUT_FILENO);

	close(before);
	if (is_locked)
		CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), ENOMEM, "rdmaez_mr_reg",
				    "ibv_reg_mr", name, LOCKED, EXHAUSTED);
	else
		CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), ENOMEM, "rdmaez_mr_reg",
				    "ibv_reg_mr", name, EXHAUSTED);
	tap_eq_int(dup(STDOUT_FILENO), before, "%s: no file stays open", name);
	close(before);
}

static void check_memlock(void)
{
	start();
	process.memlock = 1 << 20;
	fake_fail(FAKE_REG_MR, 0, ENOMEM);
	check_no_memory("a limit", true);
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, IBV_ACCESS_ON_DEMAND), ENOMEM,
			    "rdmaez_mr_reg", "ibv_reg_mr", "memory that is not locked", EXHAUSTED);
	process.space = 1 << 30;
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), ENOMEM, "rdmaez_mr_reg", "ibv_reg_mr",
			    "two limits", LOCKED,
			    LIKELY(ADDRESS_SPACE, "length", RDMAEZ_VALUE_LIMIT, 0, 0, 1 << 30),
			    EXHAUSTED);
	process_reset(PROCESS_CAP_IPC_LOCK);
	process.memlock = 1 << 20;
	process.space = 1 << 30;
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), ENOMEM, "rdmaez_mr_reg", "ibv_reg_mr",
			    "CAP_IPC_LOCK leaves one of them",
			    LIKELY(ADDRESS_SPACE, "length", RDMAEZ_VALUE_LIMIT, 0, 0, 1 << 30),
			    EXHAUSTED);
	process_reset(PROCESS_CAP_OTHERS);
	check_no_memory("no limit", false);
	process.memlock = 0;
	fake_fail(FAKE_REG_MR, 0, EPERM);
	process.space = 1 << 30;
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), EPERM, "rdmaez_mr_reg", "ibv_reg_mr",
			    "no right to lock",
			    LIKELY(MEMLOCK, "length", RDMAEZ_VALUE_BYTES, 4096, 0, 0));
	process_reset(PROCESS_CAP_IPC_LOCK);
	process.memlock = 0;
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), EPERM, "rdmaez_mr_reg", "ibv_reg_mr",
			    "the right to lock, and no permission",
			    LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	fake_fail(FAKE_REG_MR, 1, EINVAL);
	process_reset(PROCESS_NOBODY);
	process.memlock = 1 << 20;
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), EINVAL, "rdmaez_mr_reg", "ibv_reg_mr",
			    "an errno that no limit gives",
			    LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	forgets = 1;
	errno = EBUSY;
	tap_eq_int(reg(buffer, 4096, 0), EIO, "an errno that is not set");
	forgets = 0;
	fake_fail(FAKE_REG_MR, 1, EAGAIN);
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), EAGAIN, "rdmaez_mr_reg", "ibv_reg_mr",
			    "a cgroup's limit",
			    LIKELY(CGROUP, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0),
			    LIKELY(BUSY, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	fake_fail(FAKE_REG_MR, 0, 0);
}

/* Who may lock more, as the kernel judges it. */
static void check_capability(void)
{
	static char groups[5000];
	static const char *const cut = "Name:\ttest\nCapEff:\t00000000000040";

	start();
	fake_fail(FAKE_REG_MR, 0, ENOMEM);
	process_reset(PROCESS_CAP_IPC_LOCK);
	process.memlock = 1 << 20;
	check_no_memory("the capability alone", false);
	process.uid_map = "         0     100000      65536\n";
	check_no_memory("in a user namespace", true);
	process.uid_map = "         0          0 4294967295\n         1 1 1\n";
	check_no_memory("in one that begins alike", true);
	process_reset(PROCESS_CAP_IPC_LOCK);
	process.memlock = 1 << 20;
	process.uid_map = NULL;
	check_no_memory("without uid_map", true);
	process_reset(PROCESS_CAP_IPC_LOCK);
	process.memlock = 1 << 20;
	process.status = NULL;
	check_no_memory("without status", true);
	process.status = "";
	check_no_memory("with an empty one", true);
	process.status = cut;
	check_no_memory("with one that is cut", true);
	process.status = "Name:\ttest\nCapEff:\t000000000000a000";
	check_no_memory("its neighbours", true);
	process.status = "Name:\ttest\nCapEff:\t000000000000e000";
	check_no_memory("it among others", false);
	process.status = "Name:\ttest\nCapEff:\t000000000000c000";
	check_no_memory("it and the one above", false);
	process.status = "Name:\ttest\nCapEff:\t000000000000b000";
	check_no_memory("all the others", true);
	process.status = "Name:\ttest\nCapEff:\t0000000000009000";
	check_no_memory("a digit that is none of it", true);
	memset(groups, ' ', sizeof(groups) - 1);
	memcpy(groups, "Name:\ttest\nGroups:", 19);
	strcpy(groups + 4000, "\nCapEff:\t0000000000004000\n");
	process.status = groups;
	check_no_memory("more groups than are read", true);
	fake_fail(FAKE_REG_MR, 0, 0);
}

/* ---- What the process may read of itself ---------------------------------------------------- */

/* A process that uses NVIDIA GPUs: addresses that are reserved, the device files, and host memory. */
static const char cuda_maps[] =
	"200000000-300200000 ---p 00000000 00:00 0 \n"
	"10000000000-10204000000 ---p 00000000 00:00 0 \n"
	"55d0c8a00000-55d0c8a21000 r-xp 00000000 08:01 131 /usr/bin/python3.11\n"
	"7f3c00000000-7f3c00200000 rw-s 00000000 00:05 613 /dev/nvidiactl\n"
	"7f3c00200000-7f3c00400000 rw-s 3c200000 00:05 614 /dev/nvidia0\n"
	"7f3c3fe00000-7f3c40000000 ---p 00000000 00:00 0 \n"
	"7f3c40000000-7f3c80000000 rw-p 00000000 00:00 0 \n"
	"7f3c80000000-7f3c80200000 ---p 00000000 00:00 0 \n"
	"7f3c90000000-7f3c90010000 rw-s 00000000 00:05 620 /dev/gdrdrv\n"
	"7ffd1c5e0000-7ffd1c601000 rw-p 00000000 00:00 0                          [stack]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

static const char rocm_maps[] =
	"7f1000000000-7f1400000000 ---p 00000000 00:00 0 \n"
	"7f1400000000-7f1400200000 rw-s 101000000 00:05 702 /dev/dri/renderD128\n"
	"7f1500000000-7f1500001000 -w-s 00000000 00:05 700 /dev/kfd\n"
	"7f1600000000-7f1600200000 rw-p 00000000 00:00 0 \n";

static const char plain_maps[] = "40000000-40001000 rw-p 00000000 00:00 0 \n"
				 "40001000-40002000 rw-p 00000000 00:00 0 \n"
				 "40003000-40004000 rw-s 00000000 08:01 99 /srv/data file\n"
				 "40004000-40005000 r--p 00000000 08:01 99 /srv/data file\n"
				 "40005000-40006000 rw-s 00000000 00:19 3 /dev/shm/x\n"
				 "40006000-40007000 rw-s 00000000 00:01 5 /memfd:x (deleted)\n"
				 "40007000-40008000 r--s 00000000 08:01 99 /srv/data file\n"
				 "200000000-300200000 ---p 00000000 00:00 0 \n";

/* A tree of a process with these mappings, and of a kernel without peer memory. */
static void start_tree(const char *maps)
{
	start();
	unsetenv("PYTORCH_CUDA_ALLOC_CONF");
	unsetenv("PYTORCH_ALLOC_CONF");
	unsetenv("RDMAV_HUGEPAGES_SAFE");
	fake_tree_new();
	fake_tree_file("/sys/module/ib_core/refcnt", "1\n");
	fake_tree_file("/proc/self/maps", maps);
}

#define BAR1(length, most) LIKELY(MR_GPU_BAR1, "length", RDMAEZ_VALUE_BYTES, length, 1, most)

static void check_gpu(void)
{
	static const int errors[] = {EFAULT, EINVAL};
	static const char *const peers[] = {"/sys/module/nvidia_peermem/refcnt",
					    "/sys/module/nv_peer_mem/refcnt",
					    "/sys/kernel/mm/memory_peers/nv_mem/version",
					    "/sys/kernel/mm/memory_peers/amdkfd/version",
					    "/sys/kernel/memory_peers/amdkfd/version",
					    "/sys/memory_peers/amdkfd/version",
					    "/sys/module/amdgpu_peermem/refcnt"};
	enum {
		NVIDIA_PEERS = 3
	};
	static const char geforce[] =
		"5e00\t10de2206\t12\t0\t0\t0\t0\t0\t0\tfe000000\t1000000\t10000000\t0\t"
		"2000000\t0\t80\t20000000\tnvidia\n";

	start_tree(cuda_maps);
	CHECK_REG(0x200000000, 1 << 20, 0, EFAULT, "reserved addresses, and no module",
		  AT(MR_GPU_NO_PEER, 0x200000000), AT(MR_PROTECTION, 0x200000000));
	CHECK_REG(0x200000000, 1 << 20, 0, EINVAL, "the same with EINVAL",
		  AT(MR_GPU_NO_PEER, 0x200000000));
	CHECK_REG(0x7f3d00000000, 1 << 20, 0, EFAULT, "addresses that are not mapped",
		  AT(MR_GPU_NO_PEER, 0x7f3d00000000), AT(MR_UNMAPPED, 0x7f3d00000000));
	CHECK_REG(0x7f3c00200000, 4096, 0, EFAULT, "the device file's",
		  AT(MR_GPU_NO_PEER, 0x7f3c00200000), AT(MR_PROTECTION, 0x7f3c00200000));
	CHECK_REG(0x7f3c90000000, 4096, 0, EFAULT, "a window of gdrcopy's",
		  AT(MR_GDRCOPY, 0x7f3c90000000));
	CHECK_REG(0x7f3c40000000, 4096, 0, EFAULT, "host memory",
		  AT(MR_PROTECTION, 0x7f3c40000000));
	CHECK_REG(0x7f3c40000000, 0x40000000, 0, EFAULT, "all of it, between reserved addresses",
		  AT(MR_PROTECTION, 0x7f3c40000000));
	CHECK_REG(0x7f3c40000000, 0x40000001, 0, EFAULT, "and a byte more",
		  AT(MR_GPU_NO_PEER, 0x7f3c40000000), AT(MR_PROTECTION, 0x7f3c40000000));
	CHECK_REG(0x7f3c40000000, 4096, 0, EINVAL, "host memory with EINVAL",
		  LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	CHECK_REG(0x200000000, 4096, 0, EIO, "another errno",
		  LIKELY(DEVICE_GONE, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	CHECK_REG(0x200000000, 4096, IBV_ACCESS_REMOTE_WRITE, EINVAL, "a mistake that is certain",
		  CERTAIN(MR_LOCAL_WRITE, "access", RDMAEZ_VALUE_ACCESS, IBV_ACCESS_REMOTE_WRITE, 0,
			  IBV_ACCESS_REMOTE_WRITE));

	for (size_t i = 0; i < COUNT_OF(peers); i++) {
		start_tree(cuda_maps);
		fake_tree_file(peers[i], "1.0\n");
		if (i == 1) /* which is loaded without the module that has replaced it */
			CHECK_REG(0x200000000, 4096, 0, EFAULT, peers[i],
				  AT(MR_GPU_OLD_PEER, 0x200000000), AT(MR_PROTECTION, 0x200000000));
		else if (i < NVIDIA_PEERS)
			CHECK_REG(0x200000000, 4096, 0, EFAULT, peers[i], AT(MR_GPU, 0x200000000),
				  AT(MR_PROTECTION, 0x200000000));
		else /* another maker's, which does not help */
			CHECK_REG(0x200000000, 4096, 0, EFAULT, peers[i],
				  AT(MR_GPU_NO_PEER, 0x200000000), AT(MR_PROTECTION, 0x200000000));
		start_tree(rocm_maps);
		fake_tree_file(peers[i], "1.0\n");
		/* The machine has NVIDIA's GPUs, too, with a BAR1 that is small. */
		fake_tree_file("/proc/bus/pci/devices", geforce);
		if (i < NVIDIA_PEERS)
			CHECK_REG(0x7f1000000000, 4096, 0, EFAULT, peers[i],
				  AT(MR_GPU_AMD, 0x7f1000000000),
				  AT(MR_PROTECTION, 0x7f1000000000));
		else
			CHECK_REG(0x7f1000000000, 4096, 0, EFAULT, peers[i],
				  AT(MR_GPU, 0x7f1000000000), AT(MR_PROTECTION, 0x7f1000000000));
	}
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		start_tree(rocm_maps);
		fake_fail(FAKE_REG_MR, 1, errors[i]);
		tap_eq_int(reg((char *)(uintptr_t)0x7f1000000000, 4096, 0), errors[i], "ROCm");
		tap_eq_int(t.diag.finding[0].reason, RDMAEZ_WHY_MR_GPU_AMD, "is told apart");
	}
	start_tree(plain_maps);
	CHECK_REG(0x200000000, 4096, 0, EFAULT, "reserved addresses of no GPU",
		  AT(MR_PROTECTION, 0x200000000));
	CHECK_REG(0x200000000, 4096, 0, EINVAL, "the same with EINVAL",
		  LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	CHECK_REG(0x40000000, (size_t)(UINT64_C(1) << 44), 0, EINVAL, "2^32 pages",
		  AT(MR_UNMAPPED, 0x40000000));
	CHECK_REG(0x40000000, (size_t)(UINT64_C(1) << 44) - 1, 0, EINVAL, "not so many",
		  LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	CHECK_REG(0x40002000, 4096, 0, EFAULT, "a hole without a GPU is certain",
		  CERTAIN(MR_UNMAPPED, "addr", RDMAEZ_VALUE_ADDRESS, 0x40002000, 0, 0));
	CHECK_REG(0x40001000, 0x3000, 0, EFAULT, "also in the middle",
		  CERTAIN(MR_UNMAPPED, "addr", RDMAEZ_VALUE_ADDRESS, 0x40001000, 0, 0));
	fake_tree_file("/proc/self/maps",
		       "40000000-40001000 rw-s 00000000 00:01 9 [anon_shmem:a/b]\n");
	CHECK_REG(0x40000000, 4096, 0, EOPNOTSUPP, "a name that is no path",
		  LIKELY(NOT_SUPPORTED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	fake_tree_file("/proc/self/maps", "40000000-40001000 rw-s 00000000 00:0d 9 /dmabuf:gpu\n");
	CHECK_REG(0x40000000, 4096, 0, EFAULT, "a mapped dma-buf", AT(MR_GPU, 0x40000000),
		  AT(MR_PROTECTION, 0x40000000));
	fake_tree_new();
	fake_tree_file("/proc/self/maps", cuda_maps);
	CHECK_REG(0x200000000, 4096, 0, EFAULT, "nobody knows of modules without /sys",
		  AT(MR_GPU, 0x200000000), AT(MR_PROTECTION, 0x200000000));
}

/* What PyTorch was told, and how much of a GPU's memory can be seen. */
static void check_gpu_settings(void)
{
	static const char *const names[] = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};
	/* An Ethernet port, a GPU's audio, a V100 with 32 GiB, and a GeForce with 256 MiB. */
	static const char v100[] = "0100\t15b31019\t10\t        a000000c\t0\t0\t0\t0\t0\t0\t       "
				   " 2000000\t0\t0\t0\t0\t0\t0\tmlx5_core\n"
				   "0201\t10de0fb9\t11\t        a3000000\t0\t0\t0\t0\t0\t0\t       "
				   " 4000\t0\t0\t0\t0\t0\t0\tsnd_hda_intel\n"
				   "3f00\t10de1db6\t12\t        b8000000\t    38000000000c\t       "
				   "        0\t    38080000000c\t"
				   "               0\t               0\t               0\t         "
				   "1000000\t       800000000\t"
				   "               0\t         2000000\t               0\t         "
				   "      0\t           80000\tnvidia\n";
	static const char both[] =
		"3b00\t10de1db6\t12\t0\t0\t0\t0\t0\t0\t0\t1000000\t800000000\t0"
		"\t2000000\t0\t0\t0\tnvidia\n"
		"5e00\t10de2206\t12\t0\t0\t0\t0\t0\t0\tfe000000\t1000000\t10000000\t0\t"
		"2000000\t0\t80\t20000000\tnvidia\n";
	static const char *const bad[] = {
		"",
		"\n\n",
		"10de",
		"\t10de",
		"0100\t10de1db6",
		"0100\t10de1db6\t12\t0\t0\t0\tnvidia\n",
		"3b00\t10de1db6\t1\t0\t0\t0\t0\t0\t0\t0\t1\t2\t0\t0\t0\t0\t0\tnvidia-x\n",
		"3b00\t10de1db6\t1\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\tnvidia\n"};
	static const char first[] =
		"3b00\t10de1db6\t12\t0\t0\t0\t0\t0\t0\t0\t1000\t800\t0\t0\t0\t0\t0\tnvidia\n";
	const uint64_t large = UINT64_C(0x800000000), small = UINT64_C(1) << 28;

	start_tree(cuda_maps);
	fake_tree_file("/sys/module/nvidia_peermem/refcnt", "1\n");
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		setenv(names[i], "backend:native,expandable_segments:True", 1);
		CHECK_REG(0x200000000, 4096, 0, EFAULT, names[i], AT(MR_GPU_SEGMENTS, 0x200000000),
			  AT(MR_PROTECTION, 0x200000000));
		setenv(names[i], "expandable_segments:False", 1);
		CHECK_REG(0x200000000, 4096, 0, EFAULT, names[i], AT(MR_GPU, 0x200000000),
			  AT(MR_PROTECTION, 0x200000000));
		unsetenv(names[i]);
	}
	fake_tree_file("/proc/bus/pci/devices", v100);
	CHECK_REG(0x200000000, (size_t)large + 1, 0, EFAULT, "more than BAR1",
		  BAR1(large + 1, large), AT(MR_UNMAPPED, 0x200000000));
	CHECK_REG(0x200000000, 4096, 0, EFAULT, "less than a large BAR1", AT(MR_GPU, 0x200000000),
		  AT(MR_PROTECTION, 0x200000000));
	fake_tree_file("/proc/bus/pci/devices", both);
	CHECK_REG(0x200000000, 4096, 0, EFAULT, "a small BAR1, which may be used up",
		  BAR1(4096, small), AT(MR_PROTECTION, 0x200000000));
	fake_tree_file("/proc/bus/pci/devices", first);
	CHECK_REG(0x200000000, 4097, 0, EFAULT, "the first region as the largest", BAR1(4097, 4096),
		  AT(MR_PROTECTION, 0x200000000));
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		fake_tree_file("/proc/bus/pci/devices", bad[i]);
		CHECK_REG(0x200000000, 4096, 0, EFAULT, "lines that tell nothing",
			  AT(MR_GPU, 0x200000000), AT(MR_PROTECTION, 0x200000000));
	}
	start_tree(cuda_maps);
	fake_tree_file("/proc/bus/pci/devices", both);
	setenv(names[0], "expandable_segments:True", 1);
	CHECK_REG(0x200000000, 4096, 0, EFAULT, "all at once", AT(MR_GPU_SEGMENTS, 0x200000000),
		  AT(MR_GPU_NO_PEER, 0x200000000), BAR1(4096, small),
		  AT(MR_PROTECTION, 0x200000000));
	unsetenv(names[0]);
}

static void check_file(void)
{
	static const unsigned int writes[] = {IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE,
					      IBV_ACCESS_REMOTE_ATOMIC, IBV_ACCESS_MW_BIND};
	const unsigned int write = IBV_ACCESS_LOCAL_WRITE;

	start_tree(plain_maps);
	fake_uname("6.5.0");
	for (size_t i = 0; i < COUNT_OF(writes); i++)
		CHECK_REG(0x40003010, 64, writes[i], EFAULT, "a file that the device may write",
			  AT(MR_FILE, 0x40003010));
	CHECK_REG(0x40003010, 64, 0, EFAULT, "and that it only reads",
		  AT(MR_PROTECTION, 0x40003010));
	CHECK_REG(0x40004010, 64, write, EFAULT, "a file's private mapping",
		  AT(MR_PROTECTION, 0x40004010));
	CHECK_REG(0x40005010, 64, write, EFAULT, "tmpfs", AT(MR_PROTECTION, 0x40005010));
	CHECK_REG(0x40006010, 64, write, EFAULT, "a memfd", AT(MR_PROTECTION, 0x40006010));
	CHECK_REG(0x40007010, 64, write, EFAULT, "a file that nobody may write",
		  AT(MR_PROTECTION, 0x40007010));
	fake_uname("6.4.0");
	CHECK_REG(0x40003010, 64, write, EFAULT, "a kernel that still took it",
		  AT(MR_PROTECTION, 0x40003010));
	CHECK_REG(0x40004010, 64, 0, EOPNOTSUPP, "a program's own data",
		  LIKELY(NOT_SUPPORTED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	CHECK_REG(0x40007010, 64, 0, EOPNOTSUPP, "a file that may be DAX's",
		  AT(MR_FILE, 0x40007010),
		  LIKELY(NOT_SUPPORTED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	CHECK_REG(0x40005010, 64, 0, EOPNOTSUPP, "memory that is no file's",
		  LIKELY(NOT_SUPPORTED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	t.dev->attr.odp_caps.general_caps = IBV_ODP_SUPPORT;
	CHECK_REG(0x40007010, 64, IBV_ACCESS_ON_DEMAND, EOPNOTSUPP, "paged, it is not locked",
		  LIKELY(NOT_SUPPORTED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
}

/* Files that end early, are empty, or are missing. */
static void check_bad_maps(void)
{
	static const char *const bad[] = {"",
					  "\n",
					  "40000000",
					  "40000000-",
					  "zz-zz rw-p /dev/nvidia0\n",
					  "1-gg rw-p /dev/nvidia0\n",
					  "0  rw-p /dev/nvidia0\n",
					  "40001000-40000000 rw-p 0 0 0 /dev/nvidia0\n"};
	const size_t most = 1u << 22; /* lines that are read of a file */
	char *const lines = (char *)calloc(most + 64, 1);
	static char name[3000];

	if (!lines)
		tap_bail("no memory");
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		start_tree(bad[i]);
		CHECK_REG(buffer, 64, 0, EFAULT, "then neither is certain",
			  AT(MR_UNMAPPED, (uintptr_t)buffer), AT(MR_PROTECTION, (uintptr_t)buffer));
	}
	start_tree(NULL);
	CHECK_REG(buffer, 64, 0, EFAULT, "as without /proc", AT(MR_UNMAPPED, (uintptr_t)buffer),
		  AT(MR_PROTECTION, (uintptr_t)buffer));
	/* The path of a file may be longer than what is read at once. */
	strcpy(name, "100000-200000 rw-p 00000000 08:01 99 /");
	memset(name + strlen(name), 'x', 2500);
	strcat(name, "\n300000-400000 rw-s 00000000 00:05 6 /dev/nvidia0\n");
	start_tree(name);
	CHECK_REG(0x300000, 64, 0, EFAULT, "a long line before the one that matters",
		  AT(MR_GPU_NO_PEER, 0x300000), AT(MR_PROTECTION, 0x300000));
	CHECK_REG(0x150000, 64, 0, EFAULT, "the long line itself", AT(MR_PROTECTION, 0x150000));
	CHECK_REG(0x1fffc0, 65, 0, EFAULT, "and a byte beyond it", AT(MR_GPU_NO_PEER, 0x1fffc0),
		  AT(MR_UNMAPPED, 0x1fffc0));
	/* What is read later of it may look like another. */
	memset(name, 'x', sizeof(name) - 1);
	memcpy(name, "100000-200000 rw-p 00000000 08:01 99 /", 38);
	memcpy(name + 1023, "600000-700000 rw-p 0 00:00 0 ", 29);
	memcpy(name + 2046, "800000-900000 rw-p 0 00:00 0 ", 29);
	start_tree(name);
	CHECK_REG(0x600000, 64, 0, EFAULT, "the rest of a long line",
		  CERTAIN(MR_UNMAPPED, "addr", RDMAEZ_VALUE_ADDRESS, 0x600000, 0, 0));
	CHECK_REG(0x800000, 64, 0, EFAULT, "and what is behind that",
		  CERTAIN(MR_UNMAPPED, "addr", RDMAEZ_VALUE_ADDRESS, 0x800000, 0, 0));
	/* A file that does not end is not read forever. */
	for (size_t i = most - 1; i <= most; i++) {
		memset(lines, '\n', i);
		strcpy(lines + i, "1000-400000 rw-s 0 00:05 6 /dev/nvidia0\n");
		start_tree(lines);
		if (i < most)
			CHECK_REG(0x3000, 64, 0, EFAULT, "the last line that is read",
				  AT(MR_GPU_NO_PEER, 0x3000), AT(MR_PROTECTION, 0x3000));
		else
			CHECK_REG(0x3000, 64, 0, EFAULT, "a line more", AT(MR_UNMAPPED, 0x3000),
				  AT(MR_PROTECTION, 0x3000));
	}
	free(lines);
}

/* What is read of a file: no more than there is room for, and its last byte, too. */
static void check_text(void)
{
	struct rdmaez_impl_lines lines;
	char text[1100] = "xxxxxxx";

	start_tree(NULL);
	rdmaez_impl_file_text("/proc/none", text, 4);
	tap_eq_str(text, "", "a file that is not there");
	fake_tree_file("/proc/some", "123456789");
	text[4] = 'x';
	rdmaez_impl_file_text("/proc/some", text, 4);
	tap_eq_str(text, "123", "the beginning of a file");
	tap_eq_int(text[4], 'x', "and nothing behind it");
	for (int before = 1000; before <= 1023; before++) {
		snprintf(text, sizeof(text), "%*s\nName: value!", before, "x");
		fake_tree_file("/proc/some", text);
		tap_eq_str(rdmaez_impl_lines_find(&lines, "/proc/some", "Name:"), " value!",
			   "a line without an end, behind %d bytes", before);
	}
}

/* ---- What is exhausted ---------------------------------------------------------------------- */

#define LIKELY_PINNED(asked, pinned, limit) \
	LIKELY(MEMLOCK, "length", RDMAEZ_VALUE_LOCKED, asked, pinned, limit)
#define CERTAIN_PINNED(asked, pinned, limit) \
	CERTAIN(MEMLOCK, "length", RDMAEZ_VALUE_LOCKED, asked, pinned, limit)

/* A process that has pinned so many KiB. */
static void pinned(const char *kib, unsigned int capabilities)
{
	static char status[200];

	snprintf(status, sizeof(status),
		 "Name:\ttest\nVmLck:\t  999999 kB\nVmPin:\t%s\nCapEff:\t%016x\n", kib,
		 capabilities);
	process_reset(capabilities);
	process.memlock = 64 << 20;
	process.status = status;
}

/* RLIMIT_MEMLOCK by the numbers: 64 MiB of which 32 are pinned. */
static void check_pinned(void)
{
	const size_t room = 32 << 20;
	const uint64_t most = 64 << 20;

	start();
	fake_profile(t.dev, FAKE_PROFILE_MLX5);
	t.dev->attr.orig_attr.max_mr = 500;
	t.dev->attr.orig_attr.max_mr_size = UINT64_MAX;
	pinned("   32768 kB", PROCESS_CAP_OTHERS);
	CHECK_REG(buffer, room + 1, 0, ENOMEM, "a byte too many",
		  CERTAIN_PINNED(room + 1, room, most));
	CHECK_REG(buffer, room, 0, ENOMEM, "as many as there may be, on more pages",
		  LIKELY_PINNED(room, room, most), EXHAUSTED);
	CHECK_REG(buffer, room - 8191, 0, ENOMEM, "the same with two pages begun",
		  LIKELY_PINNED(room - 8191, room, most), EXHAUSTED);
	CHECK_REG(buffer, room - 8192, 0, ENOMEM, "fewer: it is not this limit", EXHAUSTED);
	CHECK_REG(buffer, room - 8192, 0, ENOSPC, "nor with another errno", EXHAUSTED);
	CHECK_REG(buffer, room + 1, 0, EPERM, "EPERM is for those who may lock nothing",
		  LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	pinned("   65536 kB", PROCESS_CAP_OTHERS);
	CHECK_REG(buffer, 1, 0, ENOMEM, "all is pinned", CERTAIN_PINNED(1, most, most));
	pinned("  131072 kB", PROCESS_CAP_OTHERS);
	CHECK_REG(buffer, 1, 0, ENOMEM, "more than may be since it was lowered",
		  CERTAIN_PINNED(1, most * 2, most));
	pinned("   32768 kB", PROCESS_CAP_IPC_LOCK);
	CHECK_REG(buffer, room + 1, 0, ENOMEM, "who has CAP_IPC_LOCK is not bound", EXHAUSTED);
	pinned("   32768 kB", PROCESS_CAP_OTHERS);
	process.uid_map = NULL;
	CHECK_REG(buffer, room + 1, 0, ENOMEM, "who may be bound",
		  LIKELY_PINNED(room + 1, room, most), EXHAUSTED);
	pinned("   327", PROCESS_CAP_OTHERS);
	CHECK_REG(buffer, room, 0, ENOMEM, "a number that was cut",
		  LIKELY(MEMLOCK, "length", RDMAEZ_VALUE_BYTES, room, 0, most), EXHAUSTED);
	CHECK_REG(buffer, most + 1, 0, ENOMEM, "which is certain all the same",
		  CERTAIN(MEMLOCK, "length", RDMAEZ_VALUE_BYTES, most + 1, 0, most));
	pinned("       0 kB", PROCESS_CAP_OTHERS);
	CHECK_REG(buffer, 8, 0, ENOMEM, "little, where nothing is pinned", EXHAUSTED);
	process.memlock = 0;
	CHECK_REG(buffer, 8, 0, EPERM, "no right to lock", CERTAIN_PINNED(8, 0, 0));
	t.dev->attr.orig_attr.vendor_id = 0x12345;
	pinned("   32768 kB", PROCESS_CAP_OTHERS);
	CHECK_REG(buffer, room + 1, 0, ENOMEM, "a driver that nobody has read",
		  LIKELY_PINNED(room + 1, room, most), EXHAUSTED);
	t.dev->attr.orig_attr.max_mr = 0;
	CHECK_REG(buffer, 8, 0, ENOMEM, "a device that reports no number of regions",
		  LIKELY(NO_RESOURCES, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	/* Before it used ib_umem_get(), siw asked for no capability. */
	fake_profile(t.dev, FAKE_PROFILE_SIW);
	t.dev->attr.orig_attr.max_mr = 500;
	t.dev->attr.orig_attr.max_mr_size = UINT64_MAX;
	pinned("   32768 kB", PROCESS_CAP_IPC_LOCK);
	CHECK_REG(buffer, room + 1, 0, ENOMEM, "siw binds everybody",
		  CERTAIN_PINNED(room + 1, room, most));
	fake_uname("6.2.0");
	CHECK_REG(buffer, room + 1, 0, ENOMEM, "that of the next kernel may do so",
		  LIKELY_PINNED(room + 1, room, most), EXHAUSTED);
	fake_uname("6.11.0");
	CHECK_REG(buffer, room + 1, 0, ENOMEM, "newer siw may do so",
		  LIKELY_PINNED(room + 1, room, most), EXHAUSTED);
	fake_uname(NULL);
	CHECK_REG(buffer, room + 1, 0, ENOMEM, "and that of a kernel that is not known",
		  LIKELY_PINNED(room + 1, room, most), EXHAUSTED);
	pinned("   32768 kB", PROCESS_CAP_OTHERS);
	CHECK_REG(buffer, room + 1, 0, ENOMEM, "which binds others in any case",
		  CERTAIN_PINNED(room + 1, room, most));
	pinned("   32768 kB", PROCESS_CAP_IPC_LOCK);
	fake_uname("6.12.0");
	CHECK_REG(buffer, room + 1, 0, ENOMEM, "the newest does not", EXHAUSTED);
}

static void check_max_size(void)
{
	start();
	t.dev->attr.orig_attr.max_mr_size = 1 << 20;
	CHECK_REG(buffer, (1 << 20) + 1, 0, EIO, "too long, and a provider that sets no errno",
		  CERTAIN(RANGE, "length", RDMAEZ_VALUE_BYTES, (1 << 20) + 1, 1, 1 << 20));
	CHECK_REG(buffer, (1 << 20) + 1, 0, ENOMEM, "too long, and other causes",
		  LIKELY(RANGE, "length", RDMAEZ_VALUE_BYTES, (1 << 20) + 1, 1, 1 << 20),
		  EXHAUSTED);
	CHECK_REG(buffer, 1 << 20, 0, EIO, "just what the device takes",
		  LIKELY(DEVICE_GONE, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	CHECK_REG(0, SIZE_MAX, 0, EINVAL, "all memory without on-demand paging",
		  CERTAIN(RANGE, "length", RDMAEZ_VALUE_BYTES, SIZE_MAX, 1, 1 << 20));
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_REG(buffer, (1 << 20) + 1, 0, EIO, "a device that does not say",
		  LIKELY(DEVICE_GONE, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_REG(buffer, 8, 0, ENOMEM, "nor how many regions it has",
		  LIKELY(NO_RESOURCES, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
}

/* The tree of a process with so many mappings. */
static void mappings(unsigned int count)
{
	char *text = (char *)malloc(count * 40 + 100), *at = text;

	for (unsigned int i = 0; i < count; i++)
		at += sprintf(at, "%x000-%x000 rw-p 0 00:00 0 \n", 2 * i + 16, 2 * i + 17);
	strcpy(at, "ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]\n");
	start_tree(text);
	free(text);
	fake_tree_file("/proc/sys/vm/max_map_count", "1000\n");
}

#define MANY(count) LIKELY(MR_MAPPINGS, "addr", RDMAEZ_VALUE_COUNTED, count, 0, 1000)

static void check_fork(void)
{
	static const char smaps[] =
		"40000000-40400000 rw-p 00000000 00:0f 1 /anon_hugepage (deleted)\n"
		"Size:               4096 kB\nKernelPageSize:     2048 kB\n"
		"MMUPageSize:        2048 kB\nVmFlags: rd wr mr mw me ht\n"
		"50000000-50400000 rw-p 00000000 00:00 0 \n"
		"Size:               4096 kB\nKernelPageSize:        4 kB\n";
	const size_t huge = 2 << 20;

	mappings(998);
	CHECK_REG(0x10000, 16, 0, ENOMEM, "as many mappings as there may be", MANY(998), EXHAUSTED);
	CHECK_REG(0x10000, 16, 0, EAGAIN, "of which madvise() says so", MANY(998),
		  LIKELY(CGROUP, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0),
		  LIKELY(BUSY, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	fake_tree_file("/proc/sys/vm/max_map_count", NULL);
	CHECK_REG(0x10000, 16, 0, ENOMEM, "a limit that is not known", EXHAUSTED);
	mappings(997);
	CHECK_REG(0x10000, 16, 0, ENOMEM, "room for two more", EXHAUSTED);

	start_tree(plain_maps);
	CHECK_REG(0x40002000, 16, 0, ENOMEM, "a hole without fork protection", EXHAUSTED);
	fake_fork(1);
	CHECK_REG(0x40002000, 16, 0, ENOMEM, "and with it",
		  CERTAIN(MR_UNMAPPED, "addr", RDMAEZ_VALUE_ADDRESS, 0x40002000, 0, 0));
	CHECK_REG(0x40001000, 16, 0, ENOMEM, "memory that is mapped", EXHAUSTED);

	fake_tree_file("/proc/self/smaps", smaps);
	CHECK_REG(0x40000000 + 4096, huge, 0, EINVAL, "a part of huge pages",
		  AT(MR_FORK_HUGE, 0x40001000));
	CHECK_REG(0x40000000, huge - 4096, 0, EINVAL, "the end alone",
		  AT(MR_FORK_HUGE, 0x40000000));
	CHECK_REG(0x40000000, huge + 1, 0, EINVAL, "a byte of the next one",
		  AT(MR_FORK_HUGE, 0x40000000));
	CHECK_REG(0x40000000 + 8, huge - 16, 0, EINVAL, "whole huge pages but for some bytes",
		  LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	CHECK_REG(0x50000000 + 4096, huge, 0, EINVAL, "small pages",
		  LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	CHECK_REG(0x40400000, 4096, 0, EINVAL, "what is behind them",
		  LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	setenv("RDMAV_HUGEPAGES_SAFE", "1", 1);
	CHECK_REG(0x40000000 + 4096, huge, 0, EINVAL, "the library knows of them",
		  LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	unsetenv("RDMAV_HUGEPAGES_SAFE");
	fake_fork(2);
	CHECK_REG(0x40000000 + 4096, huge, 0, EINVAL, "protection is not needed",
		  LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	fake_fork(1);
	t.dev->attr.odp_caps.general_caps = IBV_ODP_SUPPORT;
	CHECK_REG(0x40000000 + 4096, huge, IBV_ACCESS_ON_DEMAND, EINVAL, "nor used for paging",
		  LIKELY(UNEXPLAINED, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
}

/* ---- dma-bufs ------------------------------------------------------------------------------- */

static int reg_dmabuf(uint64_t offset, size_t length, uint64_t iova, int fd, unsigned int access)
{
	struct rdmaez_mr_dmabuf dmabuf;

	memset(&dmabuf, 0, sizeof(dmabuf));
	dmabuf.offset = offset;
	dmabuf.length = length;
	dmabuf.iova = iova;
	dmabuf.fd = fd;
	return rdmaez_mr_reg_dmabuf(t.pd, &dmabuf, access, &t.mr, &t.diag);
}

#define CHECK_DMABUF(got, error, name, ...)                                                   \
	CHECK_VERB_FINDINGS(&t.diag, got, error, "rdmaez_mr_reg_dmabuf", "ibv_reg_dmabuf_mr", \
			    name, __VA_ARGS__)

/* Opens it as descriptor 0, which is free. */
static void open_dmabuf(void)
{
	file_system = 0x444d4142;
	fake_dmabuf(1 << 20);
	tap_eq_int(memfd_create("dma-buf", 0), 0, "a descriptor");
	tap_eq_int(ftruncate(0, 1 << 20), 0, "of a size");
}

static void check_dmabuf(void)
{
	const unsigned int both = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	start();
	open_dmabuf();
	check_success(&t.diag, reg_dmabuf(4096, 8192, 0x200001000, 0, both), "a part of a dma-buf");
	tap_ok(t.mr && t.mr->length == 8192, "the region is handed over");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one verbs call");
	tap_eq_hex(fake_last(FAKE_REG_DMABUF_MR)->attr_mask, both, "with the flags");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	check_success(&t.diag, rdmaez_mr_dereg(t.mr, &t.diag), "it goes as others do");
	t.mr = NULL;

	CHECK_DMABUF(reg_dmabuf(4096, 8192, 0x200001008, 0, 0), EINVAL, "another place in a page",
		     CERTAIN(MR_DMABUF_IOVA, "iova", RDMAEZ_VALUE_ADDRESS, 0x200001008, 0, 0));
	CHECK_DMABUF(reg_dmabuf(4096, (1 << 20) - 4095, 0, 0, 0), EINVAL, "beyond the end",
		     CERTAIN(MR_DMABUF_END, "length", RDMAEZ_VALUE_BYTES, (1 << 20) - 4095, 1,
			     (1 << 20) - 4096));
	CHECK_DMABUF(reg_dmabuf(4096, SIZE_MAX - 4095, 0, 0, 0), EINVAL, "an end that overflows",
		     CERTAIN(MR_DMABUF_END, "length", RDMAEZ_VALUE_BYTES, SIZE_MAX - 4095, 1,
			     (1 << 20) - 4096));
	CHECK_DMABUF(
		reg_dmabuf(2 << 20, 1, 0, 0, 0), EINVAL, "behind the end",
		CERTAIN(MR_DMABUF_END, "offset", RDMAEZ_VALUE_BYTES, 2 << 20, 0, (1 << 20) - 1));
	CHECK_DMABUF(
		reg_dmabuf(1 << 20, 1, 0, 0, 0), EINVAL, "from the end on",
		CERTAIN(MR_DMABUF_END, "offset", RDMAEZ_VALUE_BYTES, 1 << 20, 0, (1 << 20) - 1));
	CHECK_DMABUF(reg_dmabuf(0, 0, 0, 0, 0), EINVAL, "no length",
		     CERTAIN(RANGE, "length", RDMAEZ_VALUE_BYTES, 0, 1, 1 << 20));
	CHECK_DMABUF(reg_dmabuf(0, 8, 0, 0, IBV_ACCESS_REMOTE_WRITE), EINVAL, "no local write",
		     CERTAIN(MR_LOCAL_WRITE, "access", RDMAEZ_VALUE_ACCESS, IBV_ACCESS_REMOTE_WRITE,
			     0, IBV_ACCESS_REMOTE_WRITE));
	CHECK_DMABUF(reg_dmabuf(0, 8, 0, 0, IBV_ACCESS_ON_DEMAND), EINVAL, "a flag for memory",
		     LIKELY(MR_ACCESS_REFUSED, "access", RDMAEZ_VALUE_ACCESS, IBV_ACCESS_ON_DEMAND,
			    0, IBV_ACCESS_ON_DEMAND));
	tap_eq_ptr(t.mr, NULL, "the output is not written");
	tap_eq_int(fake_count(FAKE_REG_DMABUF_MR), 9, "nothing of that has asked again");
	file_system = 0x01021994; /* tmpfs */
	fake_dmabuf(0);
	CHECK_DMABUF(reg_dmabuf(0, 8, 0, 0, 0), EINVAL, "a descriptor of something else",
		     CERTAIN(MR_DMABUF_FD, "fd", RDMAEZ_VALUE_NUMBER, 0, 0, UINT64_MAX));
	file_system = 0;
	CHECK_DMABUF(reg_dmabuf(0, 8, 0, 0, 0), EINVAL, "a descriptor of nobody knows what",
		     LIKELY(UNEXPLAINED, "ibv_reg_dmabuf_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	CHECK_DMABUF(reg_dmabuf(0, 8, 0, -1, 0), EBADF, "none at all",
		     CERTAIN(MR_DMABUF_FD, "fd", RDMAEZ_VALUE_NUMBER, UINT64_MAX, 0, UINT64_MAX));
	fake_fail(FAKE_REG_DMABUF_MR, 1, EBADF);
	CHECK_DMABUF(reg_dmabuf(0, 8, 0, 0, 0), EBADF, "one that is open all the same",
		     LIKELY(MR_DMABUF_FD, "fd", RDMAEZ_VALUE_NUMBER, 0, 0, UINT64_MAX));
	fake_fail(FAKE_REG_DMABUF_MR, 1, ENOMEM);
	CHECK_DMABUF(reg_dmabuf(0, 8, 0, 0, 0), ENOMEM, "an errno of any verb",
		     LIKELY(NO_RESOURCES, "ibv_reg_dmabuf_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	fake_fail(FAKE_REG_DMABUF_MR, 1, -1);
	errno = EBUSY;
	tap_eq_int(reg_dmabuf(0, 8, 0, 0, 0), EIO, "an errno that is not set");
	fake_fail(FAKE_REG_DMABUF_MR, 1, ENOMEM);
	tap_eq_int(rdmaez_mr_reg_dmabuf(t.pd, &(struct rdmaez_mr_dmabuf){0}, 0, &t.mr, NULL),
		   ENOMEM, "without a record");
	check_refusal(&t.diag, rdmaez_mr_reg_dmabuf(NULL, NULL, 0, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "pd", "no domain");
	check_call_and_verb(&t.diag, "rdmaez_mr_reg_dmabuf", NULL);
	check_refusal(&t.diag, rdmaez_mr_reg_dmabuf(t.pd, NULL, 0, &t.mr, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "dmabuf", "no dma-buf");
	check_refusal(&t.diag,
		      rdmaez_mr_reg_dmabuf(t.pd, &(struct rdmaez_mr_dmabuf){0}, 0, NULL, &t.diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "mr", "nowhere to put it");
	close(0);
}

/* Refusals that are not of these bytes: the driver's, the provider's, the kernel's or the exporter's. */
static void check_dmabuf_support(void)
{
	static const int unsupported[] = {EOPNOTSUPP, EPROTONOSUPPORT, ENOSYS, 524};
	static const int exporters[] = {EINVAL, EPERM, ENODEV};
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE;

	start();
	t.dev->attr.orig_attr.vendor_id = 0x8086;
	open_dmabuf();
	for (size_t i = 0; i < COUNT_OF(unsupported); i++) {
		fake_reset_log();
		fake_fail(FAKE_REG_DMABUF_MR, 0, unsupported[i]);
		CHECK_DMABUF(
			reg_dmabuf(0, 8, 0, 0, access), unsupported[i], "not supported",
			CERTAIN(MR_NO_DMABUF, "ibv_reg_dmabuf_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
		tap_eq_int(fake_count(FAKE_REG_DMABUF_MR), 3,
			   "asked with these flags, and with none");
		tap_eq_str(t.diag.driver, "irdma", "the record names the driver");
		tap_eq_hex(fake_last(FAKE_REG_DMABUF_MR)->attr_mask, 0, "which came last");
		CHECK_DMABUF(
			reg_dmabuf(0, 8, 0, 0, 0), unsupported[i], "not without flags either",
			CERTAIN(MR_NO_DMABUF, "ibv_reg_dmabuf_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
		tap_eq_int(fake_count(FAKE_REG_DMABUF_MR), 5, "asked once");
		tap_eq_int(reg_dmabuf(0, 8, 0, 0, 0), unsupported[i], "by itself");
		fake_fail(FAKE_REG_DMABUF_MR, 0, 0);

		fake_reset_log();
		fake_fail(FAKE_REG_DMABUF_MR, 1, unsupported[i]);
		CHECK_DMABUF(
			reg_dmabuf(0, 8, 0, 0, access), unsupported[i],
			"a driver that can, with these flags",
			LIKELY(MR_DMABUF_EXPORTER, "fd", RDMAEZ_VALUE_NUMBER, 0, 0, UINT64_MAX));
		tap_eq_int(fake_count(FAKE_REG_DMABUF_MR), 2, "asked once");
	}
	/* As efa does, of flags that it does not know. */
	fake_dmabuf_access(IBV_ACCESS_LOCAL_WRITE);
	CHECK_DMABUF(reg_dmabuf(0, 8, 0, 0, access | IBV_ACCESS_REMOTE_ATOMIC), EOPNOTSUPP,
		     "a driver that can, without these flags",
		     LIKELY(MR_ACCESS_REFUSED, "access", RDMAEZ_VALUE_ACCESS,
			    access | IBV_ACCESS_REMOTE_ATOMIC, 0,
			    access | IBV_ACCESS_REMOTE_ATOMIC));
	fake_dmabuf_access(~0u);

	for (size_t i = 0; i < COUNT_OF(exporters); i++) {
		fake_reset_log();
		fake_fail(FAKE_REG_DMABUF_MR, 1, exporters[i]);
		CHECK_DMABUF(
			reg_dmabuf(4096, (1 << 20) - 4096, 0, 0, access), exporters[i],
			"nothing is wrong with the bytes",
			LIKELY(MR_DMABUF_EXPORTER, "fd", RDMAEZ_VALUE_NUMBER, 0, 0, UINT64_MAX));
		tap_eq_int(fake_count(FAKE_REG_DMABUF_MR), 1, "nothing is asked of it again");
	}
	file_system = 0;
	fake_fail(FAKE_REG_DMABUF_MR, 1, ENODEV);
	CHECK_DMABUF(reg_dmabuf(0, 8, 0, 0, 0), ENODEV, "of what may not be a dma-buf",
		     LIKELY(DEVICE_GONE, "ibv_reg_dmabuf_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	close(0);
}

static void check_dereg(void)
{
	static const int in_use[] = {EBUSY, EINVAL};

	start();
	check_success(&t.diag, reg(buffer, 8, 0), "a region");
	for (size_t i = 0; i < COUNT_OF(in_use); i++) {
		fake_fail(FAKE_DEREG_MR, 1, in_use[i]);
		CHECK_VERB_FINDINGS(&t.diag, rdmaez_mr_dereg(t.mr, &t.diag), in_use[i],
				    "rdmaez_mr_dereg", "ibv_dereg_mr",
				    i ? "the same from rxe" : "a window is bound to it",
				    LIKELY(MR_IN_USE, "mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
		fake_fail(FAKE_DEREG_MR, 1, in_use[i]);
		tap_eq_int(rdmaez_mr_dereg(t.mr, NULL), in_use[i], "without a record");
	}
	fake_fail(FAKE_DEREG_MR, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_mr_dereg(t.mr, &t.diag), EIO, "rdmaez_mr_dereg",
			    "ibv_dereg_mr", "a device that is gone",
			    LIKELY(DEVICE_GONE, "ibv_dereg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0));
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	forgets = 1;
	errno = EBUSY;
	tap_eq_int(rdmaez_mr_dereg(t.mr, &t.diag), EIO, "an errno that is not set");
	forgets = 0;
	fake_reset_log();
	check_success(&t.diag, rdmaez_mr_dereg(t.mr, &t.diag), "it goes in the end");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one verbs call");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	check_refusal(&t.diag, rdmaez_mr_dereg(NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "mr", "no region");
	check_call_and_verb(&t.diag, "rdmaez_mr_dereg", NULL);
	tap_eq_int(fake_count(FAKE_ANY), 1, "which does not reach the library");
}

static void check_null(void)
{
	start();
	check_refusal(&t.diag, rdmaez_mr_reg(NULL, buffer, 8, 0, &t.mr, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "pd", "no domain");
	check_call_and_verb(&t.diag, "rdmaez_mr_reg", NULL);
	check_refusal(&t.diag, rdmaez_mr_reg(t.pd, buffer, 8, 0, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "mr", "nowhere to put it");
	tap_eq_int(fake_count(FAKE_ANY), 0, "none of these has reached the library");
}

int main(void)
{
	const int before = STDIN_FILENO; /* a descriptor like any other */

	close(before);
	check_registration();
	check_flags();
	check_length();
	check_fault();
	check_memlock();
	check_capability();
	if (sizeof(void *) == 8) { /* as in all processes that use GPUs */
		check_gpu();
		check_gpu_settings();
	}
	check_file();
	check_bad_maps();
	check_text();
	check_pinned();
	check_max_size();
	check_fork();
	check_dmabuf();
	check_dmabuf_support();
	check_dereg();
	check_null();
	fake_close_all();
	fake_tree(NULL);
	tap_eq_int(dup(STDOUT_FILENO), before, "no file stays open");
	return tap_done();
}
