/* SPDX-License-Identifier: MIT */
/* What the sources of the fake share; tests include fake_verbs.h only. */
#ifndef FAKE_INTERNAL_H
#define FAKE_INTERNAL_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fake_verbs.h"

/* The verbs object at ptr is this member of that larger object. */
#define fake_container(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

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
void fake_note_misuse(void);
void fake_misuse_reset(void);

void fake_route_reset(void);

struct fake_cq;

/* A queue has a completion, is made on a channel, or goes. */
void fake_channel_notify(struct fake_cq *cq, const struct ibv_wc *wc);
void fake_channel_join(struct ibv_comp_channel *channel);
void fake_channel_leave(struct fake_cq *cq);
void fake_cq_ex_ops(struct verbs_context *verbs);

struct fake_event {
	struct fake_event *next;
	struct ibv_async_event event;
};

struct fake_context {
	struct fake_object object;
	struct fake_event *events; /* the oldest first */
	struct fake_device *dev;
	struct fake_file *file;     /* what the kernel keeps of it, where that can be shared */
	struct verbs_context verbs; /* ends in struct ibv_context */
};

/* Of completions; its events are those of its queues, the oldest first. */
struct fake_channel {
	struct fake_object object;
	struct ibv_comp_channel verbs;
	struct fake_cq *waiting[64]; /* with an event that is not read, in order */
	unsigned int count;
	struct fake_channel *next;
};

struct fake_pd {
	struct fake_object object;
	struct ibv_pd verbs;
	int users;
};

struct fake_mr {
	struct fake_object object;
	struct ibv_mr verbs;
	int windows; /* bound to it */
};

struct fake_mw {
	struct fake_object object;
	struct ibv_mw verbs;
	struct fake_mr *mr; /* that it is bound to */
};

struct fake_dm {
	struct fake_object object;
	struct ibv_dm verbs;
	uint8_t *bytes; /* mapped, as many as length */
	size_t length;  /* as requested */
};

struct fake_xrcd {
	struct fake_object object;
	struct ibv_xrcd verbs;
	int users;
	uint64_t file[2];       /* whose domain it is: device and inode; zeros: nobody else's */
	struct fake_xrcd *next; /* of those with a file */
};

struct fake_srq {
	struct fake_object object;
	struct ibv_srq verbs;
	enum ibv_srq_type type;
	struct ibv_srq_attr attr;
	struct ibv_xrcd *xrcd; /* of IBV_SRQT_XRC, as is cq */
	struct ibv_cq *cq;
	int users;
	uint32_t receives; /* posted and not done */
	int events;        /* read, and not acknowledged */
	struct fake_srq *next;
};

enum fake_cq_armed {
	FAKE_CQ_DISARMED,
	FAKE_CQ_ARMED,
	FAKE_CQ_SOLICITED
};

struct fake_cq {
	struct fake_object object;
	union {
		struct ibv_cq verbs;
		struct ibv_cq_ex ex; /* begins with the same */
	};
	int users;
	int events;      /* read, and not acknowledged */
	int comp_events; /* the same, of its channel */
	enum fake_cq_armed armed;
	bool polls, stands; /* an extended one: between start and end, at a completion */
	struct ibv_wc *wc;  /* verbs.cqe entries, in a ring */
	unsigned int head, count;
};

/* Work requests that are posted and not done, the oldest first. */
struct fake_work {
	uint64_t wr_id;
	bool is_signaled;
};

struct fake_queue {
	struct fake_work *work;
	uint32_t count, room;
};

/* What is built between ibv_wr_start() and ibv_wr_complete(). */
struct fake_session {
	bool open;
	int err; /* the first one, kept */
	unsigned int count;
	unsigned int set; /* by the last builder's setters */
	struct fake_built built[FAKE_BUILT_MAX];
};

struct fake_qp {
	struct fake_object object;
	union {
		struct ibv_qp verbs;
		struct ibv_qp_ex ex; /* which begins with the other */
	};
	struct fake_session *session; /* NULL: created without send_ops_flags */
	struct ibv_xrcd *xrcd;
	struct ibv_qp_attr attr; /* the truth */
	uint8_t port;            /* the kernel's, which survives RESET */
	enum fake_driver_type type;
	bool spent;   /* FAKE_RESET_IS_FINAL has struck */
	bool was_rts; /* since RESET */
	int sq_sig_all;
	int draining; /* for how many queries; -1: for ever; -2: until an error */
	int events;   /* read, and not acknowledged */
	struct fake_queue sends, receives;
	uint32_t ece_set; /* kept for the next move */
	uint32_t ece;     /* what the hardware was found to do, when it was last asked */
};

static inline struct fake_device *fake_dev(struct ibv_context *ctx)
{
	return fake_container(ctx, struct fake_context, verbs.context)->dev;
}

static inline struct fake_pd *fake_pd(struct ibv_pd *pd)
{
	return fake_container(pd, struct fake_pd, verbs);
}

static inline struct fake_dm *fake_dm(struct ibv_dm *dm)
{
	return fake_container(dm, struct fake_dm, verbs);
}

static inline struct fake_mr *fake_mr(struct ibv_mr *mr)
{
	return fake_container(mr, struct fake_mr, verbs);
}

static inline struct fake_xrcd *fake_xrcd(struct ibv_xrcd *xrcd)
{
	return fake_container(xrcd, struct fake_xrcd, verbs);
}

static inline struct fake_mw *fake_mw(struct ibv_mw *mw)
{
	return fake_container(mw, struct fake_mw, verbs);
}

static inline struct fake_cq *fake_cq(struct ibv_cq *cq)
{
	return fake_container(cq, struct fake_cq, verbs);
}

/* The running kernel's release: 601 for Linux 6.1. */
int fake_linux(void);

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
void fake_shared_ops(struct verbs_context *verbs);
void fake_dm_ops(struct verbs_context *verbs);

/* What the recorded verbs create, for the shortcuts. */
struct ibv_pd *fake_new_pd(struct ibv_context *ctx);
struct ibv_xrcd *fake_new_xrcd(struct ibv_context *ctx);
struct ibv_cq *fake_new_cq(struct ibv_context *ctx, int cqe);
struct ibv_ah *fake_new_ah(struct ibv_pd *pd, const struct ibv_ah_attr *attr);

/*
 * What the kernel knows of an object, in memory that all who have the device file share. Objects of a
 * device without device memory are not kept; then fake_kernel_add() and _find() return NULL.
 */
enum fake_kind {
	FAKE_KERNEL_NONE,
	FAKE_KERNEL_PD,
	FAKE_KERNEL_MR,
	FAKE_KERNEL_DM,
};

struct fake_kernel_object {
	uint32_t kind; /* enum fake_kind */
	uint32_t handle;
	uint32_t users;         /* of a DM: regions on it */
	uint32_t dm;            /* of a region on a DM: its handle */
	uint64_t length, start; /* of a DM: where its bytes are in the file */
};

struct fake_kernel_object *fake_kernel_add(struct ibv_context *ctx, enum fake_kind kind);
struct fake_kernel_object *fake_kernel_find(struct ibv_context *ctx, enum fake_kind kind,
					    uint32_t handle);
void fake_kernel_remove(struct fake_kernel_object *object);

/* How much device memory the kernel has given out to this device file. */
uint64_t fake_kernel_dm_used(struct ibv_context *ctx);

/* Gives a new DM its bytes, and maps them: munmap() takes as many as its length. */
void fake_kernel_dm_size(struct ibv_context *ctx, struct fake_kernel_object *dm, size_t length);
uint8_t *fake_kernel_dm_map(struct ibv_context *ctx, const struct fake_kernel_object *dm);

/* The library's side of a DM that the kernel has: mapped, with its copy functions. In fake_dm.c. */
struct ibv_dm *fake_new_dm(struct ibv_context *ctx, const struct fake_kernel_object *dm);

/* The device file is closed. */
void fake_kernel_close(struct fake_context *context);

/* NULL: the test has made it up. In fake_shared.c. */
struct fake_srq *fake_srq_find(const struct ibv_srq *srq);

/* A window is bound to a region, NULL: to none, and no longer to the one before. In fake_shared.c. */
void fake_mw_bind(struct fake_mw *mw, struct ibv_mr *mr);

/* Posting returns this: as it is, or negative where the provider does so. */
int fake_return_post(struct fake_call *call, struct ibv_context *ctx, int err);

/* The extended interface of a queue pair, in fake_ex.c; of other flags than its type has, EOPNOTSUPP. */
int fake_ex_check(const struct ibv_qp_init_attr_ex *init);
void fake_ex_create(struct fake_qp *qp, uint64_t send_ops_flags);

/* Posts what was built, by fake_qp.c. */
int fake_ex_post(struct fake_qp *qp);

/* The driver's part of a queue pair, in fake_driver.c; how it ends is an errno value. */
void fake_driver_create(const struct fake_device *dev, struct fake_qp *qp);
int fake_driver_modify(struct fake_device *dev, struct fake_qp *qp, const struct ibv_qp_attr *attr,
		       int mask);
int fake_driver_query(struct fake_device *dev, struct fake_qp *qp, struct ibv_qp_attr *answer,
		      int attr_mask);

/*
 * The queue pair has entered this state, from another one or from ERR again by ibv_modify_qp(). In fake_work.c, like the
 * next two.
 */
void fake_work_entered(struct fake_qp *qp, enum ibv_qp_state from);

/* Work is posted, and flushed where that is the driver's habit. */
void fake_work_posted(struct fake_qp *qp, bool is_send, uint64_t wr_id, bool is_signaled);
void fake_work_forget(struct fake_qp *qp);

/* Whatever events there are of an object are gone with it, or with its context. In fake_event.c. */
void fake_events_drop(struct ibv_context *ctx, const void *element);

/* Whether the queue pair is attached to a group. In fake_mcast.c. */
bool fake_mcast_has(const struct ibv_qp *qp);
void fake_mcast_forget(const struct ibv_qp *qp);

/* Drop this queue pair's completions. */
void fake_cq_purge(struct ibv_cq *cq, uint32_t qp_num);

#endif
