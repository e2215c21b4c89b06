/* SPDX-License-Identifier: MIT */
/*
 * Threads that poll and post, each on queues of its own, while another opens and closes devices: threads. Now and then
 * a completion fails, and a post is refused. With an argument they race, for a test to see that it would be told.
 */
#include "workers.h"

enum {
	CHURNS = 100
};

/* Queue pairs come and go meanwhile, as do contexts. */
static void churn(struct ibv_device *device)
{
	for (int i = 0; i < CHURNS; i++) {
		struct worker worker = {.context = ibv_open_device(device)};

		create(&worker, i);
		push(&worker, IBV_WC_RETRY_EXC_ERR);
		poll(&worker);
		ibv_destroy_qp(worker.qp);
		ibv_close_device(worker.context);
	}
}

int main(int argc, char *argv[])
{
	static struct worker worker[THREADS];
	struct ibv_device **const list = ibv_get_device_list(NULL);

	(void)argv;
	is_race = argc > 1;
	workers_begin(worker, list[0]);
	churn(list[0]);
	workers_end(worker);
	return 0;
}
