/* SPDX-License-Identifier: MIT */
/* What librdmacm's refusals and events mean. */
#ifndef RDMAEZ_EXPLAIN_CM_H
#define RDMAEZ_EXPLAIN_CM_H

#include <limits.h>

#include <rdma/rdma_cma.h>

#include "explain.h"

/* In place of an errno value, where the arguments of the call tell more than it does. */
enum {
	CM_PRIVATE_DATA = 10001, /* too long */
	CM_RESOURCES,            /* responder_resources is more than the device has */
	CM_DEPTH,                /* initiator_depth is */
	CM_NO_PARAM,             /* neither a queue pair nor conn_param */
	CM_LISTENER,             /* the id listens, and connects to nobody */
	CM_HAS_QP,               /* the id has a queue pair */
	CM_NO_DEVICE,            /* the id is bound to none */
	CM_OTHER_PD,             /* of another device */
	CM_NOT_UD,               /* the id is not */
	CM_HAS_CHANNEL,          /* the id does not wait in its calls */
	CM_PORT_TAKEN,           /* EADDRNOTAVAIL of an address that the host has */
	CM_FAMILY,               /* none that librdmacm takes */
	CM_FAMILIES,             /* two of them */
	CM_SCOPE,                /* a link-local address without one */
	CM_TIMEOUT_ZERO,
	CM_NOT_OURS,     /* ENOENT: the kernel does not know the id */
	CM_EAI = 20000,  /* and with an EAI_ value added: what rdma_getaddrinfo() returned */
	CM_ANY = INT_MAX /* of a row: any status that has none */
};

struct cm_text {
	const char *of; /* a call or an event; NULL: any call */
	int status;     /* its errno value, one of the above, or the event's status */
	struct explain_finding finding;
};

/* Never NULL for a call; for an event, if there is nothing to say. */
const struct cm_text *cm_text_find(const char *of, int status);

/* What a call was about. All may be NULL. */
struct cm_about {
	const struct rdma_cm_id *id;
	const struct sockaddr *from, *to;
	int cause; /* one of the above, where the arguments tell; 0: errno does */
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
