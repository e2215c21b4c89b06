/* SPDX-License-Identifier: MIT */
/* What the sources of the fake share; tests include fake_verbs.h only. */
#ifndef FAKE_INTERNAL_H
#define FAKE_INTERNAL_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fake_verbs.h"

/* The verbs object at ptr is this member of that larger object. */
#define fake_container(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Everything that must be closed again is on one list, so that fake_close_all() finds it. */
struct fake_object {
	struct fake_object *next, **link;
	void (*destroy)(struct fake_object *); /* what belongs to it, not the memory itself */
};

/* Memory for an object of at least struct fake_object at its start, zeroed; NULL never. */
void *fake_object_new(size_t size, void (*destroy)(struct fake_object *));
void fake_object_free(struct fake_object *object);

/* A number no other object has: handles, keys and QP numbers. */
uint32_t fake_number(void);

/*
 * A verb begins with fake_enter(), which counts and records the call; if that leaves error set
 * the verb has been told to fail. It ends with one of the others, in the verb's style.
 */
struct fake_call *fake_enter(enum fake_verb verb, const void *object);
int fake_return(struct fake_call *call, int err);                  /* err */
int fake_return_minus(struct fake_call *call, int err);            /* 0, or -1 and errno */
void *fake_return_ptr(struct fake_call *call, int err, void *ptr); /* ptr, or NULL and errno */

void fake_note_out_of_bounds(void);

struct fake_context {
	struct fake_object object;
	struct fake_device *dev;
	struct verbs_context verbs; /* ends in struct ibv_context */
};

struct fake_pd {
	struct fake_object object;
	struct ibv_pd verbs;
	int users;
};

struct fake_xrcd {
	struct fake_object object;
	struct ibv_xrcd verbs;
	int users;
};

struct fake_cq {
	struct fake_object object;
	struct ibv_cq verbs;
	int users;
	struct ibv_wc *wc; /* verbs.cqe entries, in a ring */
	unsigned int head, count;
};

struct fake_qp {
	struct fake_object object;
	struct ibv_qp verbs;
	struct ibv_xrcd *xrcd;
	struct ibv_qp_attr attr; /* the truth */
	uint8_t port;            /* the kernel's, which survives RESET */
	bool spent;              /* FAKE_RESET_IS_FINAL has struck */
	int sq_sig_all;
	uint32_t sends, receives; /* posted and not done */
};

static inline struct fake_device *fake_dev(struct ibv_context *ctx)
{
	return fake_container(ctx, struct fake_context, verbs.context)->dev;
}

static inline struct fake_pd *fake_pd(struct ibv_pd *pd)
{
	return fake_container(pd, struct fake_pd, verbs);
}

static inline struct fake_xrcd *fake_xrcd(struct ibv_xrcd *xrcd)
{
	return fake_container(xrcd, struct fake_xrcd, verbs);
}

static inline struct fake_cq *fake_cq(struct ibv_cq *cq)
{
	return fake_container(cq, struct fake_cq, verbs);
}

/* The port of this number, NULL if the device has none. */
struct fake_port *fake_port(struct fake_device *dev, uint32_t port_num);
bool fake_port_is_roce(const struct fake_device *dev, uint32_t port_num);

/* A row of a port's GID table: 0, EINVAL beyond the table, ENODATA if it is empty. */
int fake_gid_row(struct fake_device *dev, uint32_t port_num, uint32_t index,
		 const struct fake_gid **row);

/* The kernel's checks of a path; resolve: and look for the peer's MAC address if it is RoCE. */
int fake_check_path(struct fake_device *dev, struct ibv_ah_attr *ah, bool resolve);

/* The verbs that a context dispatches, filled in by the file that implements them. */
void fake_device_ops(struct verbs_context *verbs);
void fake_object_ops(struct verbs_context *verbs);
void fake_qp_ops(struct verbs_context *verbs);

/* What the recorded verbs create, for the shortcuts. */
struct ibv_pd *fake_new_pd(struct ibv_context *ctx);
struct ibv_xrcd *fake_new_xrcd(struct ibv_context *ctx);
struct ibv_cq *fake_new_cq(struct ibv_context *ctx, int cqe);

/* Drop this queue pair's completions. */
void fake_cq_purge(struct ibv_cq *cq, uint32_t qp_num);

#endif
