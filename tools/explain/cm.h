/* SPDX-License-Identifier: MIT */
/* What librdmacm's refusals and events mean. */
#ifndef RDMAEZ_EXPLAIN_CM_H
#define RDMAEZ_EXPLAIN_CM_H

#include <rdma/rdma_cma.h>

#include <rdmaez/impl/cm_row.h>
#include <rdmaez/impl/seam.h>

#include "explain.h"

/* What the headers say of a call or an event and its status; it has something to say. */
struct explain_finding cm_finding(const char *of, int status);

/* What an expert would have librdmacm set otherwise for a connected queue pair: how many findings. */
#define CM_ADVICE 4
unsigned int cm_advice(struct ibv_qp *qp, struct explain_finding finding[CM_ADVICE]);

/* What a call was about. All may be NULL. */
struct cm_about {
	const struct rdma_cm_id *id;
	const struct sockaddr *from, *to;
	int cause; /* one of enum rdmaez_impl_cm_cause, where the arguments tell; 0: errno does */
};

/* The first line of what is told. Each function adds to it; cm_add() as printf() does. */
struct cm_title {
	char text[400];
	size_t length;
};

__attribute__((__format__(__printf__, 2, 3))) void cm_add(struct cm_title *title,
							  const char *format, ...);
void cm_add_about(struct cm_title *title, const struct cm_about *about);
/* What a program wrote into its rejection, if that is text. */
void cm_add_words(struct cm_title *title, const struct rdma_cm_event *event);
/* Whether the kernel binds to this address as to none in particular. */
bool cm_is_any(const struct sockaddr *address);

#endif
