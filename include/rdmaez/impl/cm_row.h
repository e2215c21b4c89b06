/* SPDX-License-Identifier: MIT */
/*
 * Has the row of what is known of librdmacm's refusals and events, and what stands in place of an
 * errno value if the arguments of a call tell more. It needs no header of librdmacm. rdmaez-explain
 * uses it, too.
 */
#ifndef RDMAEZ_IMPL_CM_ROW_H
#define RDMAEZ_IMPL_CM_ROW_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

enum rdmaez_impl_cm_cause {
	RDMAEZ_IMPL_CM_IS_PRIVATE_DATA = 10001, /* too long */
	RDMAEZ_IMPL_CM_IS_RESOURCES,   /* responder_resources is more than the device has */
	RDMAEZ_IMPL_CM_IS_DEPTH,       /* initiator_depth is */
	RDMAEZ_IMPL_CM_IS_NO_PARAM,    /* neither a queue pair nor conn_param */
	RDMAEZ_IMPL_CM_IS_LISTENER,    /* the id listens, and connects to nobody */
	RDMAEZ_IMPL_CM_IS_HAS_QP,      /* the id has a queue pair */
	RDMAEZ_IMPL_CM_IS_NO_DEVICE,   /* the id is bound to none */
	RDMAEZ_IMPL_CM_IS_OTHER_PD,    /* of another device */
	RDMAEZ_IMPL_CM_IS_NOT_UD,      /* the id is not */
	RDMAEZ_IMPL_CM_IS_HAS_CHANNEL, /* the id does not wait in its calls */
	RDMAEZ_IMPL_CM_IS_PORT_TAKEN,  /* EADDRNOTAVAIL of an address that the host has */
	RDMAEZ_IMPL_CM_IS_FAMILY,      /* none that librdmacm takes */
	RDMAEZ_IMPL_CM_IS_FAMILIES,    /* two of them */
	RDMAEZ_IMPL_CM_IS_SCOPE,       /* a link-local address without one */
	RDMAEZ_IMPL_CM_IS_BLACKHOLE,   /* EINVAL of an address that a socket cannot reach either */
	RDMAEZ_IMPL_CM_IS_LOOPBACK,    /* EINVAL of 127.0.0.1 and the like */
	RDMAEZ_IMPL_CM_IS_TIMEOUT_ZERO,
	RDMAEZ_IMPL_CM_IS_NOT_OURS,        /* ENOENT: the kernel does not know the id */
	RDMAEZ_IMPL_CM_IS_EAI = 20000,     /* and with an EAI_ value added: of rdma_getaddrinfo() */
	RDMAEZ_IMPL_CM_IS_ANY = 0x7fffffff /* of a row: any status that has none */
};

struct rdmaez_impl_cm_row {
	const char *of; /* a call or an event; NULL: any call */
	int status;     /* its errno value, one of the above, or the event's status */
	enum rdmaez_severity severity;
	enum rdmaez_why why;
	const char *id; /* finer than the reason: rdmaez-explain has it */
	const char *field;
	const char *
		words; /* what is wrong, and behind the NUL what to do: sentences without their full stops */
};

#endif
