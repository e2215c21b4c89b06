/* SPDX-License-Identifier: MIT */
/*
 * What the RDMA subsystem tells by netlink: its devices and their objects, of all processes. Reading an answer is apart
 * from asking, so that any bytes can be read in a test. Every length in an answer is checked before it is used.
 */
#ifndef RDMAEZ_DOCTOR_NLDEV_H
#define RDMAEZ_DOCTOR_NLDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Attributes, one after the other. */
struct nldev_span {
	const unsigned char *at;
	size_t length;
};

/* The first attribute of this type; false: there is none. `data` is what it holds. */
bool nldev_find(struct nldev_span in, unsigned int type, struct nldev_span *data);
/* Numbers in the host's byte order. False, and nothing written: there is none of this type that is long enough. */
bool nldev_u8(struct nldev_span in, unsigned int type, uint8_t *value);
bool nldev_u32(struct nldev_span in, unsigned int type, uint32_t *value);
bool nldev_u64(struct nldev_span in, unsigned int type, uint64_t *value);
/* Text is cut to the buffer. */
bool nldev_text(struct nldev_span in, unsigned int type, char *buf, size_t size);

typedef void nldev_fn(struct nldev_span attributes, void *data);
/* Hands over each `entry` in each `table`; both are types of attributes that nest others. */
void nldev_each(struct nldev_span in, unsigned int table, unsigned int entry, nldev_fn *fn,
		void *data);

/* What a datagram says of the request. */
enum nldev_said {
	NLDEV_MORE,   /* more will come */
	NLDEV_DONE,   /* that was all */
	NLDEV_REFUSED /* an errno value is given */
};
/*
 * Hands over the attributes of each message that answers the request with this number; `dump`: the answer is several.
 * *error is written where the answer is NLDEV_REFUSED.
 */
enum nldev_said nldev_read(const void *bytes, size_t length, uint32_t sequence, bool dump,
			   nldev_fn *fn, void *data, int *error);

/* A device's index and name; false: one of them is missing. */
bool nldev_device(struct nldev_span attributes, uint32_t *index, char *name, size_t size);

/* What a member of struct nldev_object holds, by its bit in `has`. */
enum nldev_has {
	NLDEV_PID = 1 << 0,
	NLDEV_KERNEL = 1 << 1,
	NLDEV_PORT = 1 << 2,
	NLDEV_LQPN = 1 << 3,
	NLDEV_RQPN = 1 << 4,
	NLDEV_RQ_PSN = 1 << 5,
	NLDEV_SQ_PSN = 1 << 6,
	NLDEV_TYPE = 1 << 7,
	NLDEV_STATE = 1 << 8,
	NLDEV_PDN = 1 << 9,
	NLDEV_CTXN = 1 << 10,
	NLDEV_CQE = 1 << 11,
	NLDEV_BYTES = 1 << 12,
	NLDEV_RKEY = 1 << 13,
	NLDEV_PS = 1 << 14,
	NLDEV_SRC = 1 << 15,
	NLDEV_DST = 1 << 16,
	NLDEV_COUNTER = 1 << 17
};

/* An object of any kind. */
struct nldev_object {
	uint32_t has;     /* enum nldev_has bits */
	uint32_t pid;     /* of the thread that made it */
	char kernel[32];  /* which part of the kernel made it */
	uint32_t port;    /* 0: it has none yet */
	uint32_t lqpn;    /* its own number, or of a cm_id's queue pair */
	uint32_t rqpn;    /* the peer's */
	uint32_t rq_psn;  /* expected next */
	uint32_t sq_psn;  /* sent next */
	uint8_t type;     /* enum ibv_qp_type as the kernel has it */
	uint8_t state;    /* enum ibv_qp_state; of a cm_id enum rdma_cm_state of the kernel */
	uint32_t pdn;     /* protection domain */
	uint32_t ctxn;    /* context */
	uint32_t cqe;     /* entries */
	uint64_t bytes;   /* of a memory region */
	uint32_t rkey;    /* with CAP_NET_ADMIN alone */
	uint32_t ps;      /* enum rdma_port_space of librdmacm */
	uint32_t counter; /* number of a counter */
	struct sockaddr_storage src, dst;
};
void nldev_object(struct nldev_span entry, struct nldev_object *object);

/*
 * Asks, and hands over the attributes of each message of the answer. `device`: of one device, by its index; negative: of
 * none. Returns 0, or an errno value: EINVAL where the kernel does not know the command, ETIMEDOUT where it is silent.
 */
int nldev_ask(unsigned int command, bool dump, int device, nldev_fn *fn, void *data);
/* Counters that are bound to queue pairs. */
int nldev_ask_counters(int device, nldev_fn *fn, void *data);

#endif
