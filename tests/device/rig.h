/* SPDX-License-Identifier: MIT */
/*
 * What the device tests stand on: the Soft-RoCE device, queue pairs with memory, and messages between
 * them. Anything that goes wrong here is no result, so it ends the program with "Bail out!".
 */
#ifndef RIG_H
#define RIG_H

#include <sys/utsname.h>
#include <time.h>

#include <rdmaez.h>

#include "tap.h"
#include "tells.h"

enum {
	RIG_BYTES =
		4096, /* of each side's memory: the first half is sent, the second received into */
	RIG_HALF = RIG_BYTES / 2,
	RIG_SECONDS =
		100, /* a slow machine's time for anything: only what never comes lasts so long */
	RIG_UD_SIZE = 512,
	RIG_GRH = 40
};

/* The device, and what is asked of it once. */
struct rig {
	struct ibv_context *context;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_gid_entry self; /* the row that reaches ourselves over IPv4 */
};

/* A queue pair with completion queues and memory of its own. */
struct side {
	struct ibv_qp *qp;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_mr *mr;
	uint8_t memory[RIG_BYTES];
};

/* Where this machine cannot run the test. 77 says so, too. */
static inline void rig_skip(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(77);
}

/* The kernel that runs: 612 for Linux 6.12. */
static inline int rig_linux(void)
{
	struct utsname name;
	int major, minor;

	if (uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		tap_bail("the kernel does not tell its release");
	return 100 * major + minor;
}

/* A moment's rest before something is looked at again; false once it is certain that it never comes. */
static inline bool rig_again(time_t since)
{
	const struct timespec moment = {.tv_nsec = 5 * 1000 * 1000};

	nanosleep(&moment, NULL);
	return time(NULL) - since < RIG_SECONDS;
}

/* Waits until it is so. No machine is too slow for it: assert the condition afterwards. */
#define RIG_UNTIL(condition)                             \
	do {                                             \
		const time_t since = time(NULL);         \
                                                         \
		while (!(condition) && rig_again(since)) \
			continue;                        \
	} while (0)

static inline void rig_need(const void *object, const char *what)
{
	if (!object)
		tap_bail("%s: %s", what, strerror(errno));
}

/* The first device of this name and a number. */
static inline struct rig rig_open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct rig rig = {0};

	for (int i = 0; list && list[i] && !rig.context; i++)
		if (strncmp(ibv_get_device_name(list[i]), name, strlen(name)) == 0)
			rig.context = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	if (!rig.context)
		rig_skip("needs a device of the Soft-RoCE machine: run it by tools/softroce");
	if (ibv_query_device(rig.context, &rig.device) || ibv_query_port(rig.context, 1, &rig.port))
		tap_bail("cannot query the device");
	rig.pd = ibv_alloc_pd(rig.context);
	rig_need(rig.pd, "ibv_alloc_pd");
	return rig;
}

/* The tests know rxe's ways, so no other device will do. */
static inline struct rig rig_open(void)
{
	struct rig rig = rig_open_device("rxe");

	for (uint32_t i = 0; i < (uint32_t)rig.port.gid_tbl_len; i++)
		if (ibv_query_gid_ex(rig.context, 1, i, &rig.self, 0) == 0 &&
		    rig.self.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    rdmaez_gid_class(&rig.self.gid) == RDMAEZ_GID_CLASS_IPV4)
			return rig;
	rig_skip("needs a RoCE v2 row with an IPv4 address in the GID table");
	return rig;
}

static inline void rig_close(struct rig *rig)
{
	if (ibv_dealloc_pd(rig->pd) || ibv_close_device(rig->context))
		tap_bail("cannot close the device: %s", strerror(errno));
}

static inline struct side *side_open(struct rig *rig, enum ibv_qp_type type)
{
	struct side *side = (struct side *)calloc(1, sizeof(*side));
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = type,
		.sq_sig_all = 1,
	};

	rig_need(side, "calloc");
	side->send_cq = ibv_create_cq(rig->context, 8, NULL, NULL, 0);
	side->recv_cq = ibv_create_cq(rig->context, 8, NULL, NULL, 0);
	rig_need(side->send_cq, "ibv_create_cq");
	rig_need(side->recv_cq, "ibv_create_cq");
	init.send_cq = side->send_cq;
	init.recv_cq = side->recv_cq;
	side->qp = ibv_create_qp(rig->pd, &init);
	rig_need(side->qp, "ibv_create_qp");
	side->mr = ibv_reg_mr(rig->pd, side->memory, RIG_BYTES,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				      IBV_ACCESS_REMOTE_WRITE);
	rig_need(side->mr, "ibv_reg_mr");
	return side;
}

static inline void side_close(struct side *side)
{
	if (ibv_destroy_qp(side->qp) || ibv_destroy_cq(side->send_cq) ||
	    ibv_destroy_cq(side->recv_cq) || ibv_dereg_mr(side->mr))
		tap_bail("cannot destroy a queue pair: %s", strerror(errno));
	free(side);
}

/* Forgets what is in a completion queue. */
static inline void rig_empty(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0)
		continue;
}

/* Whether no completion comes for so long that one would have been seen. */
static inline bool rig_is_quiet(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	for (int i = 0; i < 60 && rig_again(time(NULL)); i++)
		if (ibv_poll_cq(cq, 1, &wc))
			return false;
	return true;
}

/* The status of the next completion; -1 where none comes. */
static inline int rig_status(struct ibv_cq *cq)
{
	const time_t deadline = time(NULL) + RIG_SECONDS;
	struct ibv_wc wc;
	int polled;

	do
		polled = ibv_poll_cq(cq, 1, &wc);
	while (polled == 0 && time(NULL) < deadline);
	if (polled == 1 && wc.status != IBV_WC_SUCCESS)
		tap_diag("completion: %s", ibv_wc_status_str(wc.status));
	return polled == 1 ? (int)wc.status : -1;
}

/* Gives the sender new bytes to send, and the receiver others where they will arrive. */
static inline void rig_fill(struct side *from, struct side *to)
{
	static uint8_t seed;

	seed++;
	for (int i = 0; i < RIG_HALF; i++)
		from->memory[i] = (uint8_t)(seed + 7 * i);
	memset(to->memory + RIG_HALF, ~seed, RIG_HALF);
}

static inline int side_post_receive(struct side *side)
{
	struct ibv_sge sge = {.addr = (uintptr_t)(side->memory + RIG_HALF),
			      .length = RIG_HALF,
			      .lkey = side->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_recv(side->qp, &wr, &bad);
}

/* Moves bytes from one side's first half to the other's second half; whether they are the same then. */
static inline bool rig_send(struct side *from, struct side *to, struct ibv_ah *ah)
{
	const uint32_t length = ah ? RIG_UD_SIZE : RIG_HALF;
	struct ibv_sge sge = {
		.addr = (uintptr_t)from->memory, .length = length, .lkey = from->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	rig_fill(from, to);
	if (ah) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = to->qp->qp_num;
		wr.wr.ud.remote_qkey = RDMAEZ_QP_QKEY;
	}
	return side_post_receive(to) == 0 && ibv_post_send(from->qp, &wr, &bad) == 0 &&
	       rig_status(from->send_cq) == IBV_WC_SUCCESS &&
	       rig_status(to->recv_cq) == IBV_WC_SUCCESS &&
	       memcmp(from->memory, to->memory + RIG_HALF + (ah ? RIG_GRH : 0), length) == 0;
}

/* The status of an RDMA WRITE from the first half to the peer's second, or of a READ the other way. */
static inline int rig_rdma_status(struct side *own, struct side *peer, enum ibv_wr_opcode opcode)
{
	const bool write = opcode == IBV_WR_RDMA_WRITE;
	struct ibv_sge sge = {.addr = (uintptr_t)(own->memory + (write ? 0 : RIG_HALF)),
			      .length = RIG_HALF,
			      .lkey = own->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;

	rig_fill(write ? own : peer, write ? peer : own);
	wr.wr.rdma.remote_addr = (uintptr_t)(peer->memory + (write ? RIG_HALF : 0));
	wr.wr.rdma.rkey = peer->mr->rkey;
	return ibv_post_send(own->qp, &wr, &bad) ? -1 : rig_status(own->send_cq);
}

/* Whether that worked and moved the bytes. An unreliable WRITE completes before it arrives. */
static inline bool rig_rdma(struct side *own, struct side *peer, enum ibv_wr_opcode opcode)
{
	struct side *from = opcode == IBV_WR_RDMA_WRITE ? own : peer;
	struct side *to = from == own ? peer : own;

	if (rig_rdma_status(own, peer, opcode) != IBV_WC_SUCCESS)
		return false;
	RIG_UNTIL(memcmp(from->memory, to->memory + RIG_HALF, RIG_HALF) == 0);
	return memcmp(from->memory, to->memory + RIG_HALF, RIG_HALF) == 0;
}

#endif
