/* SPDX-License-Identifier: MIT */
/* Registering memory: what a refusal is put down to. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
/* What the process may lock, as the headers below see it: setting the real limit takes privilege. */
#define getrlimit test_getrlimit
#include "check.h"
#include "findings.h"

static rlim_t memlock = RLIM_INFINITY;

int test_getrlimit(int resource, struct rlimit *limit)
{
	tap_ok(resource == RLIMIT_MEMLOCK, "the limit asked for is that of locked memory");
	limit->rlim_cur = memlock;
	limit->rlim_max = RLIM_INFINITY;
	return 0;
}

static struct {
	struct fake_device *dev;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct rdmaez_diag diag;
} t;

static char buffer[4096];

static void start(void)
{
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
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_PROTECTION, "addr",
			     RDMAEZ_VALUE_ADDRESS, (uintptr_t)memory + 5, 0, 0});
	CHECK_VERB_FINDINGS(&t.diag, reg(memory + 5, 2 * page - 4, IBV_ACCESS_LOCAL_WRITE), EFAULT,
			    "rdmaez_mr_reg", "ibv_reg_mr", "memory that ends a byte too early",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_UNMAPPED, "addr",
			     RDMAEZ_VALUE_ADDRESS, (uintptr_t)memory + 5, 0, 0});
	munmap(memory, 2 * page);
}

static void check_memlock(void)
{
	start();
	memlock = 1 << 20;
	fake_fail(FAKE_REG_MR, 0, ENOMEM);
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), ENOMEM, "rdmaez_mr_reg", "ibv_reg_mr",
			    "a limit",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MEMLOCK, "length", RDMAEZ_VALUE_BYTES,
			     4096, 0, 1 << 20});
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, IBV_ACCESS_ON_DEMAND), ENOMEM,
			    "rdmaez_mr_reg", "ibv_reg_mr", "memory that is not locked",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "ibv_reg_mr",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	memlock = RLIM_INFINITY;
	CHECK_VERB_FINDINGS(&t.diag, reg(buffer, 4096, 0), ENOMEM, "rdmaez_mr_reg", "ibv_reg_mr",
			    "no limit",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "ibv_reg_mr",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	memlock = 0;
	fake_fail(FAKE_REG_MR, 0, EPERM);
	CHECK_VERB_FINDINGS(
		&t.diag, reg(buffer, 4096, 0), EPERM, "rdmaez_mr_reg", "ibv_reg_mr",
		"no right to lock",
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MEMLOCK, "length", RDMAEZ_VALUE_BYTES, 4096, 0, 0});
	memlock = RLIM_INFINITY;
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
	check_null();
	fake_close_all();
	return tap_done();
}
