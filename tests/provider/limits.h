/* SPDX-License-Identifier: MIT */
/*
 * What a program with libibverbs' headers, and a driver that is compiled with the kernel's, tell each other of objects
 * that are to be created: tests/kernel-source/limits.c, and limits/NAME.c beside it.
 */
#ifndef PROVIDER_LIMITS_H
#define PROVIDER_LIMITS_H

/* What the device reports. */
struct limits {
	unsigned int max_cqe, max_qp_wr, max_sge, max_srq_wr, max_srq_sge;
};

/* What is to be created, and what the provider tells the driver of it. */
struct limits_request {
	unsigned int type; /* of a queue pair; the kernel's numbers are those of enum ibv_qp_type */
	unsigned int cqe, max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_wr, max_sge;
	const void *told;
	unsigned long size;
};

/* Makes the device, and asks its own query_device. */
void limits_begin(void);
void limits_reported(struct limits *to);

/* The driver's own functions: 0 or a positive errno value. What a driver lacks is not there. */
int limits_cq(const struct limits_request *request);
int limits_qp(const struct limits_request *request) __attribute__((weak));
int limits_srq(const struct limits_request *request) __attribute__((weak));

#endif
