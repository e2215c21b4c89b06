/* SPDX-License-Identifier: MIT */
/*
 * A mailbox: a peer puts letters into device memory by RDMA WRITE, and the owner copies them out. Each
 * slot has a word that the peer writes last and that says that the letter is complete; the owner clears
 * it by copying in, and the slot is free again.
 *
 * Build:  cc -std=c11 -Iinclude examples/04_mailbox.c -libverbs -o 04_mailbox
 * Run:    ./04_mailbox [DEVICE], or on a machine without RDMA: tools/softroce ./04_mailbox
 */
#include <rdmaez/implementation.h>

#include "device_memory.h"

enum {
	SLOTS = 4,
	LETTERS = 12,
	TEXT = 56
};

static const char usage[] = "usage: 04_mailbox [DEVICE]\n"
			    "\n"
			    "A peer puts twelve letters into four slots of DEVICE's memory by RDMA "
			    "WRITE, and the owner copies\n"
			    "them out. Memory that DEVICE does not have is emulated in the host's. "
			    "Without DEVICE it takes the\n"
			    "first that has an active port.\n";

/* A slot. Its size is a multiple of four, as copies of device memory want it. */
struct letter {
	char text[TEXT];
	uint32_t number;
	uint32_t complete; /* 0: the slot is free */
};

/* All that the peer knows of the mailbox. */
struct mailbox {
	uint64_t address; /* of the first slot */
	uint32_t rkey;
};

/* The peer: the text first, then the mark. Requests of one queue pair arrive in their order. */
static void send_letter(struct ibv_qp *qp, const struct ibv_mr *outbox, const struct mailbox *to,
			uint32_t number)
{
	struct letter *letter = (struct letter *)outbox->addr;
	const uint64_t slot = to->address + number % SLOTS * sizeof(*letter);
	const uint32_t mark_at = offsetof(struct letter, complete);
	struct ibv_sge text = {(uintptr_t)letter, mark_at, outbox->lkey};
	struct ibv_sge mark = {(uintptr_t)&letter->complete, sizeof(letter->complete),
			       outbox->lkey};
	struct ibv_send_wr wr = {.sg_list = &text, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};

	snprintf(letter->text, sizeof(letter->text), "letter %u", number + 1);
	letter->number = number;
	letter->complete = 1;
	wr.wr.rdma.rkey = to->rkey;
	wr.wr.rdma.remote_addr = slot;
	perform(qp, &wr);
	wr.sg_list = &mark;
	wr.wr.rdma.remote_addr = slot + mark_at;
	perform(qp, &wr);
}

/* The owner: reads all slots, and empties those that hold a letter. How many did. */
static uint32_t collect(const struct rdmaez_dm *dm, bool *got)
{
	const uint32_t empty = 0;
	struct letter letter = {{0}, 0, 0};
	uint32_t count = 0;

	for (uint64_t slot = 0; slot < SLOTS * sizeof(letter); slot += sizeof(letter)) {
		need_ok(rdmaez_dm_copy_from(dm, slot, &letter, sizeof(letter)),
			"rdmaez_dm_copy_from");
		if (!letter.complete)
			continue;
		if (letter.number >= LETTERS || got[letter.number]) {
			fprintf(stderr, "letter %u was not to come\n", letter.number);
			exit(EXIT_FAILURE);
		}
		got[letter.number] = true;
		printf("%s%s", count++ ? ", " : "collected ", letter.text);
		need_ok(rdmaez_dm_copy_to(dm, slot + offsetof(struct letter, complete), &empty,
					  sizeof(empty)),
			"rdmaez_dm_copy_to");
	}
	putchar('\n');
	return count;
}

int main(int argc, char **argv)
{
	static struct letter outbox;
	bool got[LETTERS] = {false};
	struct rdmaez_diag diag;
	struct device device;
	struct rdmaez_dm_region region;
	struct ibv_mr *mr;
	struct mailbox mailbox;
	struct rdmaez_dm dm = {0};
	struct ibv_qp *qp;
	uint32_t collected = 0;

	device_open(&device, device_name(argc, argv, usage));
	need_no(rdmaez_dm_alloc(device.context, SLOTS * sizeof(outbox), NULL, &dm, &diag), &diag);
	need_ok(rdmaez_dm_fill(&dm, 0, 0, dm.length), "rdmaez_dm_fill");
	need_no(rdmaez_dm_reg(&dm, device.pd, NULL, rdmaez_dm_access(RDMAEZ_DM_PEER_WRITES),
			      &region, &diag),
		&diag);
	need_no(rdmaez_dm_remote(&region, 0, dm.length, &mailbox.address, &diag), &diag);
	mailbox.rkey = region.mr->rkey;
	mr = ibv_reg_mr(device.pd, &outbox, sizeof(outbox), 0);
	need(mr, "ibv_reg_mr");
	qp = loop_open(&device);

	for (uint32_t number = 0; number < LETTERS; number++) {
		send_letter(qp, mr, &mailbox, number);
		if (number % SLOTS == SLOTS - 1)
			collected += collect(&dm, got);
	}
	if (collected != LETTERS) {
		fprintf(stderr, "only %u letters came\n", collected);
		return EXIT_FAILURE;
	}
	printf("all %d letters came through %d slots of device memory\n", LETTERS, SLOTS);

	need_ok(ibv_destroy_qp(qp), "ibv_destroy_qp");
	need_ok(ibv_dereg_mr(mr), "ibv_dereg_mr");
	need_ok(ibv_dereg_mr(region.mr), "ibv_dereg_mr");
	need_no(rdmaez_dm_close(&dm, &diag), &diag);
	device_close(&device);
	return EXIT_SUCCESS;
}
