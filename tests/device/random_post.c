/* SPDX-License-Identifier: MIT */
/*
 * Random work requests on rxe. Argument one is the seed, argument two the number of work requests: to queue pairs that
 * are not connected, connected and in ERR, as sends and as receives.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include "rig.h"

enum {
	/* With 32, the kernel's own IB_WR_REG_MR, any program crashes rxe_reg_fast_mr() of Linux 6.1. Beyond that its
	 * table rxe_wr_opcode_info[] ends. */
	MOST_OPCODE = 31,
	/* librxe reads the window, whatever the queue pair's state. */
	LEFT_OUT = IBV_WR_BIND_MW
};

struct net {
	struct rig rig;
};

/* Two queue pairs of this device. */
struct connection {
	struct side *near, *far;
	int sends; /* that were accepted */
};

static struct connection connection_none(struct net *net)
{
	struct connection c = {.near = side_open(&net->rig, IBV_QPT_RC)};

	c.far = side_open(&net->rig, IBV_QPT_RC);
	return c;
}

static struct connection connection_open(struct net *net)
{
	struct connection c = connection_none(net);

	if (rdmaez_qp_connect_loopback(c.near->qp, c.far->qp, NULL, NULL))
		tap_bail("rdmaez_qp_connect_loopback failed");
	return c;
}

static struct connection connection_broken(struct net *net)
{
	struct connection c = connection_none(net);

	if (rdmaez_qp_to_init(c.near->qp, NULL, NULL) || rdmaez_qp_to_err(c.near->qp, NULL))
		tap_bail("no move to ERR");
	return c;
}

/* All sends are signaled. rxe of Linux 6.1 may wait without end for a queue pair that is destroyed while it sends. */
static void connection_close(struct net *net, struct connection *c)
{
	(void)net;
	for (; c->sends; c->sends--)
		if (rig_status(c->near->send_cq) < 0)
			tap_bail("a send that was accepted has not completed");
	side_close(c->near);
	side_close(c->far);
}

#include "random_post.h"

int main(int argc, char **argv)
{
	struct net net = {.rig = rig_open()};

	seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	tap_diag("seed %u", seed);
	random_post(&net, argc > 2 ? atoi(argv[2]) : 40);
	rig_close(&net.rig);
	return tap_done();
}
