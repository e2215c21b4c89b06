/* SPDX-License-Identifier: MIT */
/* The names that the fragments of code in the documentation take for granted. */
#ifndef FRAGMENT_H
#define FRAGMENT_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rdmaez.h>

extern struct ibv_context *context;
extern struct ibv_pd *pd;
extern struct ibv_cq *cq;
extern struct ibv_qp *qp;
extern struct ibv_mr *mr;
extern void *data; /* within the region */
extern size_t length;
extern struct rdmaez_diag diag;
extern struct rdmaez_caps caps;
extern char text[24576];
extern struct rdmaez_qp_opts opts;
extern int error;

/* What each end tells the other of itself, and the index of the GID, which it keeps to itself. */
extern struct end {
	union ibv_gid gid;
	uint32_t gid_index, qp_num, psn;
} own, peer;

/* The same as endpoints, where the fragment does not show how they came about. */
extern struct rdmaez_endpoint local, remote;
extern struct rdmaez_qp_opts agreed;
extern struct rdmaez_simple simple;
extern uint8_t memory[4096];
extern int tcp;
int swap_with_peer(uint8_t bytes[RDMAEZ_ENDPOINT_BYTES]);
int tell_each_other(const struct rdmaez_endpoint *own_end, struct rdmaez_endpoint *other_end);
int post_receives(struct ibv_qp *of);

/* Work requests, and how many there may be. */
extern struct ibv_send_wr wr, *bad;
extern struct ibv_sge sge;
extern struct ibv_wc wc;
extern uint64_t offset;
extern uint32_t number;
extern struct rdmaez_credit credit;

#endif
