/* SPDX-License-Identifier: MIT */
/* What the measured functions and the program that calls them share; see tests/bench/run. */
#ifndef BENCH_H
#define BENCH_H

#include <rdmaez.h>
#include <rdmaez/dm.h>

/* What a program learns while it runs: from its arguments, its peer and its device. */
struct input {
	int sgid_index;
	uint32_t dest_qp_num, rq_psn, sq_psn;
	union ibv_gid dgid;
	uint16_t dlid;
	struct ibv_port_attr port;
	struct ibv_device_attr device;
	struct rdmaez_endpoint local, remote; /* the same as all of this */
};

/* Where the builders leave their product. What this costs is measured apart and taken off. Returns 0. */
int take(const struct rdmaez_qp_move *move);

/* Builders, in steps.c: ez_NAME() and bare_NAME() of each. */
#define BENCH_STEPS(X) X(init) X(rtr) X(rtr_port) X(rts) X(rts_device)
#define BENCH_STEP(name)                       \
	int ez_##name(const struct input *in); \
	int bare_##name(const struct input *in);
BENCH_STEPS(BENCH_STEP)
#undef BENCH_STEP

/* Bring-ups, in bringup.c, bringup_ez.c and connect.c. */
int ez_up_known(struct ibv_qp *qp, const struct input *in);
int ez_up_asking(struct ibv_qp *qp, const struct input *in);
int ez_up_connect(struct ibv_qp *qp, const struct input *in);
int bare_up_known(struct ibv_qp *qp, const struct input *in);

/* In modify.c. */
int ez_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int bare_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);

/* In copy.c. */
int ez_copy_to(const struct rdmaez_dm *dm, uint64_t offset, const void *src, size_t length);
int ez_copy_from(const struct rdmaez_dm *dm, uint64_t offset, void *dst, size_t length);
int bare_copy_to(struct ibv_dm *dm, uint64_t offset, const void *src, size_t length);
int bare_copy_from(struct ibv_dm *dm, uint64_t offset, void *dst, size_t length);

/* In data.c: a WRITE with immediate data, as it comes to the function that sends it. */
struct data {
	uint64_t wr_id;
	void *addr;
	uint32_t length, imm;
	struct rdmaez_remote remote;
	uint64_t offset;
};
int ez_data_post(struct ibv_qp *qp, const struct ibv_mr *mr, const struct data *data);
int bare_data_post(struct ibv_qp *qp, const struct ibv_mr *mr, const struct data *data);
int ez_data_ex(struct ibv_qp_ex *qp, const struct ibv_mr *mr, const struct data *data);
int bare_data_ex(struct ibv_qp_ex *qp, const struct ibv_mr *mr, const struct data *data);
int ez_data_poll(struct ibv_cq *cq, struct ibv_wc *wc, int want);
int bare_data_poll(struct ibv_cq *cq, struct ibv_wc *wc, int want);
int ez_data_empty(struct ibv_cq *cq, struct ibv_wc *wc);
int bare_data_empty(struct ibv_cq *cq, struct ibv_wc *wc);
int ez_data_one(struct ibv_cq *cq, struct ibv_wc *wc);
int bare_data_one(struct ibv_cq *cq, struct ibv_wc *wc);
int ez_data_credit(struct rdmaez_credit *credit, struct ibv_send_wr *wr);
int bare_data_credit(struct rdmaez_credit *credit, struct ibv_send_wr *wr);

#endif
