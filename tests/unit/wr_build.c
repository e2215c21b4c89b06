/* SPDX-License-Identifier: MIT */
/* Work requests: the memory they name. */
#include "check.h"

static char buffer[64];

static struct ibv_mr region(void *addr, size_t length)
{
	struct ibv_mr mr = {.addr = addr, .length = length, .lkey = 0x1234, .rkey = 0x56789abc};

	return mr;
}

static void check_region_for_peer(void)
{
	const struct rdmaez_remote untouched = {1, 2, 3};
	struct ibv_mr mr = region(buffer, sizeof(buffer));
	struct rdmaez_remote remote = untouched;

	tap_eq_int(rdmaez_mr_remote(NULL, &remote), EINVAL, "no region is there");
	tap_eq_int(rdmaez_mr_remote(&mr, NULL), EINVAL, "nor anything to describe it in");
	tap_ok(!memcmp(&remote, &untouched, sizeof(remote)), "nothing is written");
	tap_eq_int(rdmaez_mr_remote(&mr, &remote), 0, "a region is described");
	tap_eq_hex(remote.addr, (uintptr_t)buffer, "by its address");
	tap_eq_hex(remote.length, sizeof(buffer), "length");
	tap_eq_hex(remote.rkey, 0x56789abc, "and rkey");
	mr = region(NULL, SIZE_MAX);
	tap_eq_int(rdmaez_mr_remote(&mr, &remote), 0, "all memory is described");
	tap_eq_hex(remote.addr, 0, "from 0");
	tap_eq_hex(remote.length, SIZE_MAX, "to the end");
}

int main(void)
{
	check_region_for_peer();
	return tap_done();
}
