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

#endif
