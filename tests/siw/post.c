/* SPDX-License-Identifier: MIT */
/*
 * Random work requests on siw. Argument one is the seed, argument two the number of work requests: to queue pairs that
 * are not connected, connected and in ERR, as sends and as receives.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include "connection.h"

enum {
	MOST_OPCODE = 1000,
	LEFT_OUT = -1
};

static struct connection connection_broken(struct net *net)
{
	struct connection c = connection_none(net);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	net_must(ibv_modify_qp(c.near->qp, &attr, IBV_QP_STATE), "ibv_modify_qp");
	return c;
}

#include "random_post.h"

int main(int argc, char **argv)
{
	struct net net = net_open();

	seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	tap_diag("seed %u", seed);
	random_post(&net, argc > 2 ? atoi(argv[2]) : 200);
	net_close(&net);
	return tap_done();
}
