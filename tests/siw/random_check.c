/* SPDX-License-Identifier: MIT */
/*
 * rdmaez_qp_check() against siw: it must not call wrong what the kernel takes, and where it foresees a
 * refusal, that must come. Argument one is the seed, argument two the number of requests.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include "connection.h"
#include "random_request.h"

enum {
	REQUESTS = 20
}; /* to one queue pair: siw's soon end in ERR */

int main(int argc, char **argv)
{
	const int requests = argc > 2 ? atoi(argv[2]) : 10000;
	struct net net = net_open();
	struct tally idle = {.own_reasons = true}, connected = {.own_reasons = true};

	seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	tap_diag("seed %u, driver %s", seed, rdmaez_driver_of(&net.rig.device)->name);
	if (rdmaez_port_gids(net.rig.context, 1, gids, 64, &gid_count, NULL) || !gid_count)
		tap_bail("port 1 has no GIDs");
	for (int i = 0; i < requests; i += REQUESTS) {
		const bool connect = i / REQUESTS % 2;
		struct connection c = connect ? connection_open(&net) : connection_none(&net);

		for (int j = 0; j < REQUESTS; j++)
			one_request(c.near->qp, connect ? &connected : &idle);
		connection_close(&net, &c);
	}
	judge(&idle, "without a connection");
	judge(&connected, "connected");
	net_close(&net);
	return tap_done();
}
