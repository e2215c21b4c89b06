/* SPDX-License-Identifier: MIT */
/*
 * rdmaez_qp_check() against the kernel: it must foresee the answer to every random request. Argument
 * one is the seed, argument two the number of requests.
 *
 * What nobody can foresee is left out: peers whose Ethernet address must be looked for on the wire.
 */
#include "random_request.h"

static void run(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type, int requests)
{
	struct ibv_qp_init_attr init;
	struct tally tally;

	memset(&tally, 0, sizeof(tally));
	memset(&init, 0, sizeof(init));
	init.send_cq = init.recv_cq = cq;
	init.cap.max_send_wr = init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	init.qp_type = type;
	/* A few queue pairs, a new one every hundred requests: a wild walk ends in a dead end. */
	for (int i = 0; i < requests; i += 100) {
		struct ibv_qp *qp = ibv_create_qp(pd, &init);

		if (!qp)
			tap_bail("ibv_create_qp failed");
		for (int j = 0; j < 100; j++)
			one_request(qp, &tally);
		ibv_destroy_qp(qp);
	}
	judge(&tally, rdmaez_qp_type_str(type));
}

int main(int argc, char **argv)
{
	const int requests = argc > 2 ? atoi(argv[2]) : 3000;
	int devices;
	struct ibv_device **list = ibv_get_device_list(&devices);
	struct ibv_context *context = list && devices ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq = context ? ibv_create_cq(context, 16, NULL, NULL, 0) : NULL;
	struct ibv_device_attr device;

	seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	if (!pd || !cq) {
		printf("1..0 # SKIP no RDMA device\n");
		return 77;
	}
	always_16 = true;
	tap_diag("seed %u", seed);
	if (rdmaez_port_gids(context, 1, gids, 64, &gid_count, NULL) || !gid_count)
		tap_bail("port 1 has no GIDs");
	if (ibv_query_device(context, &device))
		tap_bail("ibv_query_device failed");
	tap_diag("driver %s, %zu GIDs", rdmaez_driver_of(&device)->name, gid_count);
	run(pd, cq, IBV_QPT_RC, requests);
	run(pd, cq, IBV_QPT_UC, requests);
	run(pd, cq, IBV_QPT_UD, requests);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return tap_done();
}
