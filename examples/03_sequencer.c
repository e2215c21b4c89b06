/* SPDX-License-Identifier: MIT */
/*
 * A sequencer: a counter in device memory, from which clients draw numbers by RDMA fetch-and-add. No
 * number is drawn twice, and the owner's CPU has no part in it. On a real device the counter never
 * leaves the adapter, which is what makes this fast.
 *
 * Build:  cc -std=c11 -Iinclude examples/03_sequencer.c -libverbs -o 03_sequencer
 * Run:    ./03_sequencer [DEVICE], or on a machine without RDMA: tools/softroce ./03_sequencer
 */
#include <rdmaez/implementation.h>

#include "device_memory.h"

enum {
	CLIENTS = 3,
	DRAWS = 900,
	FIRST = 1000 /* where the owner lets the counter begin */
};

static const char usage[] = "usage: 03_sequencer [DEVICE]\n"
			    "\n"
			    "Three clients draw 900 numbers by RDMA fetch-and-add from a counter "
			    "in DEVICE's memory, and none\n"
			    "is drawn twice. Memory that DEVICE does not have is emulated in the "
			    "host's. Without DEVICE it takes\n"
			    "the first that has an active port.\n";

static bool drawn[DRAWS];

int main(int argc, char **argv)
{
	static uint64_t ticket; /* where the device puts what it drew */
	const uint64_t first = FIRST;
	struct ibv_qp *client[CLIENTS];
	struct rdmaez_diag diag;
	struct device device;
	struct rdmaez_dm_region counter;
	struct rdmaez_dm dm = {0};
	struct ibv_mr *mr;
	uint64_t last = 0, counter_at = 0;

	device_open(&device, device_name(argc, argv, usage));

	/* The owner: a counter in device memory, for peers to add to. */
	need_no(rdmaez_dm_alloc(device.context, sizeof(first), NULL, &dm, &diag), &diag);
	need_ok(rdmaez_dm_copy_to(&dm, 0, &first, sizeof(first)), "rdmaez_dm_copy_to");
	need_no(rdmaez_dm_reg(&dm, device.pd, NULL, rdmaez_dm_access(RDMAEZ_DM_PEER_ATOMICS),
			      &counter, &diag),
		&diag);
	need_no(rdmaez_dm_remote_atomic(&counter, 0, &counter_at, &diag), &diag);

	/* The clients: all they know of the counter is its key and its address. */
	mr = ibv_reg_mr(device.pd, &ticket, sizeof(ticket), IBV_ACCESS_LOCAL_WRITE);
	need(mr, "ibv_reg_mr");
	struct ibv_sge sge = {(uintptr_t)&ticket, sizeof(ticket), mr->lkey};
	struct ibv_send_wr draw = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD};
	draw.wr.atomic.compare_add = 1;
	draw.wr.atomic.rkey = counter.mr->rkey;
	draw.wr.atomic.remote_addr = counter_at;
	for (int i = 0; i < CLIENTS; i++)
		client[i] = loop_open(&device);
	for (int i = 0; i < DRAWS; i++) {
		perform(client[i % CLIENTS], &draw);
		if (ticket < FIRST || ticket >= FIRST + DRAWS || drawn[ticket - FIRST]) {
			fprintf(stderr, "number %llu was not to be drawn\n",
				(unsigned long long)ticket);
			return EXIT_FAILURE;
		}
		drawn[ticket - FIRST] = true;
	}

	/* The owner sees how many were drawn without having been asked for any. */
	need_ok(rdmaez_dm_copy_from(&dm, 0, &last, sizeof(last)), "rdmaez_dm_copy_from");
	if (last != FIRST + DRAWS) {
		fprintf(stderr, "the counter is at %llu\n", (unsigned long long)last);
		return EXIT_FAILURE;
	}
	printf("%d clients drew %d distinct numbers, starting at %d; the counter is at %llu\n",
	       CLIENTS, DRAWS, FIRST, (unsigned long long)last);

	for (int i = 0; i < CLIENTS; i++)
		need_ok(ibv_destroy_qp(client[i]), "ibv_destroy_qp");
	need_ok(ibv_dereg_mr(mr), "ibv_dereg_mr");
	need_ok(ibv_dereg_mr(counter.mr), "ibv_dereg_mr");
	need_no(rdmaez_dm_close(&dm, &diag), &diag);
	device_close(&device);
	return EXIT_SUCCESS;
}
