/* SPDX-License-Identifier: MIT */
/*
 * Random work requests to rdma-core's own providers, above a kernel without an adapter. What a driver's record says its
 * provider checks must be refused, and what is refused must be explained.
 *
 * Arguments: the driver, a directory of its own, the seed, the number of work requests.
 */
#define _POSIX_C_SOURCE 200809L

#include "rig.h"

#include <rdmaez/implementation.h>

#include "kernel.h"

static struct rig rig;

enum {
	LEFT_OUT = -1,
	MOST_OPCODE = 1000
};

/* By which interface queue pairs send. ibv_qp_to_qp_ex() does not tell of those that ibv_create_qp() made: erdma's have
 * nothing where it looks. */
static bool by_extended;

struct net {
	enum ibv_qp_type type;
};

struct connection {
	struct side *near, *far;
	int sends;
};

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
		     struct rdmaez_diag *diag)
{
	return by_extended ? rdmaez_wr_post_ex(ibv_qp_to_qp_ex(qp), wr, bad_wr, diag)
			   : rdmaez_wr_post_send(qp, wr, bad_wr, diag);
}

/* In place of the side's queue pair, one that sends by the extended interface. */
static void extend(struct side *side)
{
	const uint64_t sends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	struct ibv_qp_init_attr_ex init = {
		.send_cq = side->send_cq,
		.recv_cq = side->recv_cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = side->qp->qp_type,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = rig.pd,
		.send_ops_flags = sends,
	};

	if (init.qp_type == IBV_QPT_RC)
		init.send_ops_flags |=
			IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	if (ibv_destroy_qp(side->qp))
		tap_bail("ibv_destroy_qp: %s", strerror(errno));
	side->qp = ibv_create_qp_ex(rig.context, &init);
	rig_need(side->qp, "ibv_create_qp_ex");
}

static struct side *side_in(const struct net *net, enum ibv_qp_state state)
{
	static const enum ibv_qp_state way[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};
	static const int masks[] = {IBV_QP_PORT, IBV_QP_PATH_MTU, 0};
	struct side *const side = side_open(&rig, net->type);
	struct ibv_qp_attr attr = {.port_num = 1, .path_mtu = IBV_MTU_1024};

	if (by_extended)
		extend(side);
	for (int i = 0; i < 3 && state != IBV_QPS_RESET; i++) {
		attr.qp_state = way[i];
		if (ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | masks[i]))
			tap_bail("ibv_modify_qp: %s", strerror(errno));
	}
	attr.qp_state = IBV_QPS_ERR;
	if (state == IBV_QPS_ERR && ibv_modify_qp(side->qp, &attr, IBV_QP_STATE))
		tap_bail("ibv_modify_qp: %s", strerror(errno));
	return side;
}

static struct connection connection_in(const struct net *net, enum ibv_qp_state state)
{
	struct connection c = {side_in(net, state), side_in(net, IBV_QPS_RTS), 0};

	return c;
}

static struct connection connection_none(struct net *net)
{
	return connection_in(net, IBV_QPS_RESET);
}

static struct connection connection_open(struct net *net)
{
	return connection_in(net, IBV_QPS_RTS);
}

static struct connection connection_broken(struct net *net)
{
	return connection_in(net, IBV_QPS_ERR);
}

static void connection_close(struct net *net, struct connection *c)
{
	(void)net;
	side_close(c->near);
	side_close(c->far);
}

#define POST_SEND post_send
#include "random_post.h"

int main(int argc, char **argv)
{
	const struct kernel_driver *const driver = argc > 4 ? kernel_driver(argv[1]) : NULL;
	struct net net;

	if (!driver)
		tap_bail("usage: post DRIVER DIRECTORY SEED REQUESTS");
	kernel_begin(driver, argv[2]);
	rig = rig_open_device(driver->device);
	seed = (uint32_t)strtoul(argv[3], NULL, 0);
	tap_diag("%s, seed %u", driver->name, seed);
	for (unsigned int i = 0; i < 4; i++) {
		net.type = i % 2 ? IBV_QPT_UD : IBV_QPT_RC;
		by_extended = i >= 2;
		if (!(driver->types & 1U << net.type) || (by_extended && !driver->is_extended))
			continue;
		tap_diag("%s%s", rdmaez_qp_type_str(net.type), by_extended ? ", extended" : "");
		random_post(&net, atoi(argv[4]));
	}
	rig_close(&rig);
	return tap_done();
}
