/* SPDX-License-Identifier: MIT */
/* Registering memory in a program that was told that libibverbs is older than rdma-core 34. */
#define RDMAEZ_HAVE_DMABUF_MR 0
#define _DEFAULT_SOURCE       /* unsetenv() */
#include <stdlib.h>

#include "check.h"
#include <rdmaez/implementation.h>
#include "findings.h"

static char page[4096];

int main(void)
{
	uint64_t size;
	int is;
	struct rdmaez_mr_dmabuf dmabuf = {0};
	struct rdmaez_diag diag;
	struct ibv_mr *mr = NULL;
	struct ibv_pd *pd = ibv_alloc_pd(fake_open(fake_reset()));

	unsetenv("RDMAV_HUGEPAGES_SAFE");
	fake_reset_log();
	fake_dmabuf(1 << 20);
	dmabuf.length = 4096;
	CHECK_VERB_FINDINGS(&diag, rdmaez_mr_reg_dmabuf(pd, &dmabuf, 0, &mr, &diag), EOPNOTSUPP,
			    "rdmaez_mr_reg_dmabuf", NULL, "a library without the verb",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_NO_DMABUF, "ibv_reg_dmabuf_mr",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_int(rdmaez_mr_reg_dmabuf(pd, &dmabuf, 0, &mr, NULL), EOPNOTSUPP, "without a record");
	tap_ok(!mr && !fake_count(FAKE_ANY), "none of these has reached the library");

	/* Nor is it known whether fork protection is on, so it may be. */
	tap_eq_int(rdmaez_impl_mr_fork(), -1, "nor has the library the other verb");
	fake_tree_new();
	fake_tree_file("/proc/self/maps", "40000000-40400000 rw-p 0 00:00 0 \n");
	fake_tree_file("/proc/self/smaps",
		       "40000000-40400000 rw-p 0 00:00 0 \nKernelPageSize:     2048 kB\n");
	fake_fail(FAKE_REG_MR, 1, EINVAL);
	CHECK_VERB_FINDINGS(&diag,
			    rdmaez_mr_reg(pd, (char *)(uintptr_t)0x40001000, 4096, 0, &mr, &diag),
			    EINVAL, "rdmaez_mr_reg", "ibv_reg_mr", "a part of a huge page",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MR_FORK_HUGE, "addr",
			     RDMAEZ_VALUE_ADDRESS, 0x40001000, 0, 0});

	/* The machine's own files are read as those of the tests are. */
	fake_tree(NULL);
	tap_ok(rdmaez_impl_maps((uintptr_t)page, (uintptr_t)page + sizeof(page), &is) > 5 && !is,
	       "this process's mappings have its memory");
	tap_ok(rdmaez_impl_maps(16, 32, &is) > 5 && is == RDMAEZ_IMPL_MAPS_HOLE, "and a hole");
	tap_ok(rdmaez_impl_pinned() >= 0, "what it has pinned is known");
	tap_ok(rdmaez_impl_mr_page((uintptr_t)page) >= 4096, "and how large its pages are");
	tap_ok(rdmaez_impl_capability(RDMAEZ_IMPL_CAP_IPC_LOCK) >= 0, "and what it may do");
	tap_ok(rdmaez_impl_mr_is_dmabuf(0, &size) == 0, "and that its input is no dma-buf");
	fake_close_all();
	return tap_done();
}
