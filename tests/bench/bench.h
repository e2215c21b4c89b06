/* SPDX-License-Identifier: MIT */
/* What the measured functions and the program that calls them share; see tests/bench/run. */
#ifndef BENCH_H
#define BENCH_H

#include <rdmaez.h>

/* What a program learns while it runs: from its arguments, its peer and its device. */
struct input {
	int port_num;
	int sgid_index;
	uint32_t dest_qp_num, rq_psn, sq_psn;
	union ibv_gid dgid;
	uint16_t dlid;
	struct ibv_port_attr port;
	struct ibv_device_attr device;
};

/* Where the builders leave their product. What this costs is measured apart and taken off. Returns 0. */
int take(const struct rdmaez_qp_move *move);

/* Builders, in steps.c: ez_NAME(), checked_NAME() and bare_NAME() of each. */
#define BENCH_STEPS(X) \
	X(init)        \
	X(rtr)         \
	X(rtr_port)    \
	X(rts)         \
	X(rts_device)  \
	X(init_args)   \
	X(rtr_args)

#define BENCH_STEP(name)                            \
	int ez_##name(const struct input *in);      \
	int checked_##name(const struct input *in); \
	int bare_##name(const struct input *in);
BENCH_STEPS(BENCH_STEP)
#undef BENCH_STEP

/* Bring-ups: checked_NAME() and bare_NAME() in bringup.c, the other two made from bringup_ez.c. */
#define BENCH_BRINGUPS(X) \
	X(up_known)       \
	X(up_asking)

#define BENCH_BRINGUP(name)                                                                   \
	int ez_##name(struct ibv_qp *qp, const struct input *in, struct rdmaez_diag *record); \
	int ez_##name##_diag(struct ibv_qp *qp, const struct input *in,                       \
			     struct rdmaez_diag *record);                                     \
	int checked_##name(struct ibv_qp *qp, const struct input *in);                        \
	int bare_##name(struct ibv_qp *qp, const struct input *in);
BENCH_BRINGUPS(BENCH_BRINGUP)
#undef BENCH_BRINGUP

/* In modify.c. */
int ez_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int bare_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);

/* In copy.c. */
int ez_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src, size_t length);
int ez_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst, size_t length);
int checked_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src, size_t length);
int checked_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst, size_t length);
int bare_copy_to(struct ibv_dm *dm, uint64_t offset, const void *src, size_t length);
int bare_copy_from(struct ibv_dm *dm, uint64_t offset, void *dst, size_t length);

#endif
