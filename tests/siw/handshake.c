/* SPDX-License-Identifier: MIT */
/*
 * Handshakes on siw. What they exchange are bytes, which arrive as on any device. But only the connection manager
 * connects over iWARP: both ends of a connection by endpoints say so, and neither waits for the other in vain.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rdmaez/handshake.h>

#include "connection.h"

static struct rdmaez_handshake shake[2];
static struct rdmaez_diag diag[2];
static int sockets[2];

/* Both ends go on until they are over; one thread has them both. */
static void run(void)
{
	const time_t since = time(NULL);

	while (shake[0].wants || shake[1].wants) {
		for (int i = 0; i < 2; i++)
			(void)rdmaez_handshake_step(&shake[i], &diag[i]);
		if (!rig_again(since))
			tap_bail("a handshake does not end");
	}
}

static void test_exchange(struct side *sides[2])
{
	struct rdmaez_endpoint local[2], remote[2];
	static uint8_t bytes[2][RDMAEZ_ENDPOINT_BYTES];

	for (int i = 0; i < 2; i++) {
		const struct rdmaez_exchange_list list = {1, &local[i], &remote[i], bytes[i]};

		if (tap_eq_int(rdmaez_endpoint_local(sides[i]->qp, NULL, &local[i], &diag[i]), 0,
			       "end %d has an endpoint", i) &&
		    !rdmaez_mr_remote(sides[i]->mr, &local[i].memory, &diag[i]))
			rdmaez_diag_need(
				rdmaez_handshake_exchange(&shake[i], sockets[i], &list, &diag[i]),
				&diag[i]);
	}
	run();
	for (int i = 0; i < 2; i++) {
		tap_eq_int(shake[i].error, 0, "end %d has exchanged", i);
		tap_eq_int(remote[i].qp_num, sides[!i]->qp->qp_num, "and knows the peer");
		tap_eq_int(remote[i].memory.rkey, sides[!i]->mr->rkey, "and its memory");
	}
}

static void test_barrier(void)
{
	for (int i = 0; i < 2; i++)
		rdmaez_diag_need(rdmaez_handshake_barrier(&shake[i], sockets[i], NULL, &diag[i]),
				 &diag[i]);
	run();
	for (int i = 0; i < 2; i++)
		tap_eq_int(shake[i].error, 0, "end %d has met the other", i);
}

static void test_connect(struct side *sides[2])
{
	for (int i = 0; i < 2; i++)
		(void)rdmaez_handshake_connect(&shake[i], sockets[i], sides[i]->qp, NULL, NULL,
					       &diag[i]);
	run();
	for (int i = 0; i < 2; i++) {
		tap_eq_int(shake[i].error, EINVAL, "end %d does not connect", i);
		tap_eq_str(diag[i].call, "rdmaez_handshake_step", "by this function");
		tap_eq_str(diag[i].verb, "ibv_modify_qp", "and this verb");
		tap_ok(rdmaez_diag_find(&diag[i], RDMAEZ_WHY_IWARP) != NULL,
		       "since the connection manager does that over iWARP");
		tap_ok(record_tells_all(&diag[i]), "which its text says");
		tap_eq_int(sides[i]->qp->state, IBV_QPS_RTR, "and it stays where it was");
	}
}

int main(void)
{
	struct net net = net_open();
	struct connection c = connection_none(&net);
	struct side *sides[2] = {c.near, c.far};

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		tap_bail("socketpair: %s", strerror(errno));
	test_exchange(sides);
	test_barrier();
	test_connect(sides);
	connection_close(&net, &c);
	close(sockets[0]);
	close(sockets[1]);
	net_close(&net);
	return tap_done();
}
