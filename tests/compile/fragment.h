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

/* What a peer told of itself. */
extern struct peer {
	uint32_t qp_num;
	union ibv_gid gid;
} peer;

#endif
