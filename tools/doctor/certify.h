/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-doctor --certify: what rdmaez and a device do together, step by step, for one file that people can send.
 *
 * A step is one thing that is tried, and has one of four results. The steps run in the process of the check `certify`,
 * on objects of their own: a few small queue pairs on one port, which talk to each other alone. No wait is longer than
 * certify.wait_ns. Steps and facts go to the parent as records, and it writes the file, whatever becomes of the check.
 * Nothing that a step says has a name or an address of this machine: what it says are constants, errno values,
 * statuses and ids of reasons.
 *
 * Each file calls only those before it: certify_say.c, certify_qp.c, certify_moves.c, certify_data.c,
 * certify_errors.c, certify.c.
 */
#ifndef RDMAEZ_DOCTOR_CERTIFY_H
#define RDMAEZ_DOCTOR_CERTIFY_H

#include "doctor.h"

#include <rdmaez.h>

enum {
	CERTIFY_BYTES = 1024, /* of a message */
	CERTIFY_SLOTS = 8,    /* of memory: messages, with a header before them */
	CERTIFY_SLOT = 2048,
	CERTIFY_DEPTH = 4, /* of each queue */
	CERTIFY_INLINE = 16
};

enum certify_result {
	CERTIFY_PASS,
	CERTIFY_FAIL,
	CERTIFY_NOT_OFFERED, /* the device does not have it, as it says itself or as rdmaez predicts */
	CERTIFY_NOT_TRIED /* it would disturb others, or this process or run is not the one for it */
};

/* The device and the port. */
struct certify {
	struct ibv_context *context;
	struct ibv_device_attr device;
	struct ibv_port_attr port_attr;
	struct ibv_gid_entry gid;
	const struct rdmaez_driver *driver;
	int port;
	bool is_iwarp, is_ethernet, has_atomics;
	uint64_t wait_ns;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_xrcd *xrcd;      /* NULL: the device has no XRC */
	struct rdmaez_qp_opts opts; /* to the port itself */
	char subject[80];           /* "mlx5_0/1", for the terminal alone */
	const char *group;
	unsigned int count[4]; /* of the group's steps, by result */
};

/* --- certify_say.c: what is said --------------------------------------------------------------------- */

/* A fact for the head of the file, such as a version. A number is written without quotes. */
void certify_fact(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
void certify_number(const char *name, uint64_t value);

/* Begins the steps about this, a constant, and ends those before; NULL: only ends them. */
void certify_group(struct certify *c, const char *group);

/*
 * The result of a step; the format is of words on it, constants all, "" for none. If there is a record, its errno value, its
 * status and its first reason are said as well.
 */
void certify_step_of(struct certify *c, enum certify_result result, const char *step,
		     const struct rdmaez_diag *diag, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
#define certify_step(c, result, step, ...) certify_step_of(c, result, step, NULL, __VA_ARGS__)
/* The usual case: the step passes if there is no error. If the device says that it has no such thing, it is not offered; if
 * the process may not, it is not tried. Returns whether it passed. */
bool certify_is(struct certify *c, const char *step, int error, const struct rdmaez_diag *diag);
/* What certify_is() makes of it. */
enum certify_result certify_judge(int error, const struct rdmaez_diag *diag);

/* --- certify_qp.c: queue pairs ------------------------------------------------------------------------ */

/* A queue pair, and what it alone has. */
struct certify_end {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_srq *srq; /* NULL: receives are its own */
	struct ibv_ah *ah;   /* UD, to the other end */
	uint8_t *slot; /* memory for two messages: the first is sent, the second received into */
};

/* What certify_end_open() makes. */
struct certify_end_opts {
	enum ibv_qp_type type;
	bool srq, is_inline, is_extended, has_channel;
};

/* The memory of all ends, CERTIFY_SLOTS of CERTIFY_SLOT bytes. */
void *certify_memory(void);
/* Opens an end, `place` 0 to 3 with memory of its own; `opts` says which. What failed has been undone. */
int certify_end_open(struct certify *c, struct certify_end *end,
		     const struct certify_end_opts *opts, unsigned int place,
		     struct rdmaez_diag *diag);
/* Closes it, or what there is of it. */
int certify_end_close(struct certify_end *end, struct rdmaez_diag *diag);
/* Moves a queue pair that is in RESET to this state. */
int certify_walk(struct certify *c, struct ibv_qp *qp, enum ibv_qp_state to,
		 struct rdmaez_diag *diag);

/* Two ends that are connected to each other; with XRC the first only sends. */
struct certify_pair {
	struct certify_end a, b;
};
int certify_pair_open(struct certify *c, struct certify_pair *pair,
		      const struct certify_end_opts *opts, const struct rdmaez_qp_opts *qp,
		      struct rdmaez_diag *diag);
int certify_pair_close(struct certify_pair *pair, struct rdmaez_diag *diag);
/* Opens a pair with the usual options and says so if that fails, under the name of this step. */
bool certify_pair(struct certify *c, struct certify_pair *pair, enum ibv_qp_type type,
		  const char *step);

/* --- certify_moves.c, certify_data.c, certify_errors.c ------------------------------------------------ */

/* All moves of a type, and some that are none. False: the device or the process has no such queue pair. */
bool certify_moves(struct certify *c, enum ibv_qp_type type);

/* Posts a receive of so many bytes, and sends so many to it; what is there afterwards is the caller's to poll. */
int certify_post_receive(struct certify *c, struct certify_end *end, uint32_t bytes,
			 struct rdmaez_diag *diag);
/* Waits for one completion. */
int certify_wait(struct certify *c, struct certify_end *end, struct ibv_wc *wc,
		 struct rdmaez_diag *diag);
/* A send from one end to the other, there and whole? 0, or an errno value: EBADMSG, if other bytes came. */
int certify_send(struct certify *c, struct certify_end *from, struct certify_end *to,
		 struct rdmaez_diag *diag);
/* Messages, WRITE, READ and atomics of a type, as far as it has them. False: something did not arrive. */
bool certify_traffic(struct certify *c, enum ibv_qp_type type);
/* An SRQ, a completion channel, inline data, the extended interface. */
void certify_extras(struct certify *c);
/* `has_rc`: RC carries data, also to and from it. */
void certify_device_memory(struct certify *c, bool has_rc);

/* Completions with errors that are made on purpose. */
void certify_errors(struct certify *c);
/* Draining, stopping, recovering. */
void certify_drain(struct certify *c);

/* --- certify_file.c ----------------------------------------------------------------------------------- */

struct run;

/* Whether the file can be written, before anything is tried; says why it cannot. */
bool certify_can_write(const char *path);
/* In the parent: writes the file of what the checks have said. Returns whether it is whole and has no failure. */
bool certify_write(const struct run *run, unsigned int runs, const char *path);

#endif
