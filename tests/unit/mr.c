/* SPDX-License-Identifier: MIT */
/* Registering memory: what a refusal is put down to. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "process.h"

#define getrlimit test_getrlimit
#define open      test_open

#include <infiniband/verbs.h>

/* A provider that returns NULL or -1 and forgets errno. */
static int forgets;
#undef ibv_reg_mr
#define ibv_reg_mr(pd, addr, length, access) \
	(forgets ? (struct ibv_mr *)NULL : __ibv_reg_mr(pd, addr, length, access, 0))
#define ibv_dereg_mr(mr) (forgets ? -1 : ibv_dereg_mr(mr))

#include "check.h"
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
	t.mr = NULL;
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

static int reg(void *addr, size_t length, unsigned int access)
{
	return rdmaez_mr_reg(t.pd, addr, length, access, &t.mr, &t.diag);
}

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
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, SIZE_MAX, IBV_ACCESS_ON_DEMAND), EINVAL,
			    "rdmaez_mr_reg", "ibv_reg_mr", "nor is so much from here on",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES,
			     SIZE_MAX, 1, UINTPTR_MAX - (uintptr_t)buffer});
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
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES, 0,
			     1, UINTPTR_MAX - (uintptr_t)buffer});
	CHECK_VERB_FINDINGS(
		&t.diag, reg(last, 4096, 0), EINVAL, "rdmaez_mr_reg", "ibv_reg_mr",
		"beyond the last address",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES, 4096, 1, 4095});
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
			    "ENOMEM does not mean the length",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "ibv_reg_mr",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	CHECK_VERB_FINDINGS(
		&t.diag, reg(last, 0, IBV_ACCESS_REMOTE_WRITE), EINVAL, "rdmaez_mr_reg",
		"ibv_reg_mr", "two mistakes",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_LOCAL_WRITE, "access", RDMAEZ_VALUE_ACCESS,
		 IBV_ACCESS_REMOTE_WRITE, 0, IBV_ACCESS_REMOTE_WRITE},
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES, 0, 1, 4095});
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

#define LIKELY(reason, field, ...)                                          \
	{                                                                   \
		RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field, __VA_ARGS__ \
	}
#define EXHAUSTED LIKELY(NO_RESOURCES, "ibv_reg_mr", RDMAEZ_VALUE_NONE, 0, 0, 0)
#define LOCKED    LIKELY(MEMLOCK, "length", RDMAEZ_VALUE_BYTES, 4096, 0, 1 << 20)

static void check_no_memory(const char *name, bool is_locked)
{
	const int before = dup(0);

	close(before);
	if (is_locked)
		CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), ENOMEM, "rdmaez_mr_reg",
				    "ibv_reg_mr", name, LOCKED, EXHAUSTED);
	else
		CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), ENOMEM, "rdmaez_mr_reg",
				    "ibv_reg_mr", name, EXHAUSTED);
	tap_eq_int(dup(0), before, "%s: no file stays open", name);
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
	check_registration();
	check_flags();
	check_length();
	check_fault();
	check_memlock();
	check_capability();
	check_dereg();
	check_null();
	fake_close_all();
	return tap_done();
}
