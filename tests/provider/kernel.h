/* SPDX-License-Identifier: MIT */
/*
 * A kernel without an adapter, beneath rdma-core's own providers: what they ask the device file for is answered here, in
 * the same process. Unless a driver judges, it refuses nothing, so whatever is refused the provider has refused. Nothing
 * is sent; what completes, the test has written.
 */
#ifndef PROVIDER_KERNEL_H
#define PROVIDER_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

enum {
	KERNEL_MAPS =
		9 /* in the place of `buffer`: the memory is the driver's, and the provider maps it */
};

/* A queue that was created: what was asked for, and the number that it got. */
struct kernel_queue {
	uint32_t number, max_send_wr, max_recv_wr, cqe;
};

/* What a driver adds to the kernel's answers. Each may be NULL. */
struct kernel_driver {
	const char *name;     /* the provider's, and rdmaez_driver_of()'s */
	const char *device;   /* the name of the device */
	const char *modalias; /* by which the provider knows it */
	int abi_version;
	uint32_t vendor_id, vendor_part_id, hw_ver;
	unsigned int types; /* a bit for each enum ibv_qp_type that it has */
	bool is_extended;   /* its queue pairs have the extended interface for sends */
	unsigned int
		buffer; /* which word of what creates a completion queue is the address of its memory */
	void (*context)(void *answer);
	void (*pd)(void *answer);
	void (*cq)(void *answer, const struct kernel_queue *queue);
	void (*qp)(void *answer, const struct kernel_queue *queue);
	void (*device_ex)(void *answer);
};

/* A driver's own functions, for programs that have them: 0 or an errno value for what is to be created. */
struct kernel_judge {
	struct limits reported;
	int (*cq)(const struct limits_request *request);
	int (*qp)(const struct limits_request *request);
	int (*srq)(const struct limits_request *request);
};

/* NULL: nothing is refused, and the limits are this kernel's own. */
extern const struct kernel_judge *kernel_judge;

/* The driver of this name, or NULL. */
const struct kernel_driver *kernel_driver(const char *name);

/* Where the provider looks for the completions of a queue that it has created. */
uint8_t *kernel_completions(uint32_t cq_handle);

/* A word of what the provider told its driver when it created a queue pair. */
uint64_t kernel_qp_word(uint32_t qp_handle, unsigned int word);

/* Makes a tree in place of /sys with the driver's device, in which libibverbs is to look from now on. */
void kernel_begin(const struct kernel_driver *driver, const char *directory);

#endif
