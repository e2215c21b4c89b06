/* SPDX-License-Identifier: MIT */
/*
 * Eight threads use the headers at once, under ThreadSanitizer: four by bodies that are in their own file, and four by
 * those of tests/implementation.c. Each has queue pairs of its own. Some share what docs/threads.md lets them share.
 */
#include <pthread.h>

#include "fake_verbs.h"
#include "tap.h"
#include "work.h"

static struct shared shared;
static struct worker workers[THREADS];

static void begin(void)
{
	const struct rdmaez_simple_opts opts = {.flags = RDMAEZ_SIMPLE_NO_QP};
	struct fake_device *const dev = fake_reset();
	struct ibv_qp_init_attr init;

	fake_uname("6.12.0");
	fake_profile(dev, FAKE_PROFILE_MLX5);
	dev->attr.max_dm_size = 1 << 20;
	tap_eq_int(rdmaez_simple_open(NULL, &opts, &shared.simple, NULL), 0, "a device is open");
	tap_eq_int(rdmaez_dm_alloc(shared.simple.context, BYTES, NULL, &shared.dm, NULL), 0,
		   "with device memory");
	shared.cq = ibv_create_cq(shared.simple.context, 2 * POLLERS * POSTS, NULL, NULL, 0);
	for (int i = 0; i < POLLERS; i++) {
		rdmaez_simple_init_attr(&shared.simple, NULL, &init);
		init.send_cq = init.recv_cq = shared.cq;
		shared.qp[i] = ibv_create_qp(shared.simple.pd, &init);
		fake_qp_force(shared.qp[i], IBV_QPS_RTS);
		shared.qp[i]->state = IBV_QPS_RTS;
	}
}

static void run(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		workers[i].number = i;
		workers[i].shared = &shared;
		if (pthread_create(&threads[i], NULL, i % 2 ? work_extern : work_inline,
				   &workers[i]))
			tap_bail("no thread can be created");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void check_worker(const struct worker *worker)
{
	const int number = worker->number;

	tap_eq_int(worker->wrong, 0, "thread %d: all goes as it must", number);
	if (worker->what)
		tap_diag("%s", worker->what);
	tap_eq_int(worker->rounds, ROUNDS, "thread %d has done its rounds", number);
	tap_eq_int(worker->posted, 7 * ROUNDS, "thread %d has posted", number);
	tap_eq_int(worker->refused, 2 * ROUNDS, "thread %d was refused", number);
	tap_eq_int(worker->failed, ROUNDS, "thread %d has seen completions that failed", number);
	tap_eq_int(worker->flushed, 4 * ROUNDS, "thread %d has seen flushes", number);
	tap_eq_int(worker->recovered, ROUNDS, "thread %d has recovered", number);
	tap_eq_int(worker->copied, ROUNDS, "thread %d has copied", number);
	tap_eq_str(worker->said, workers[0].said, "thread %d is told the same as another", number);
}

int main(void)
{
	struct ibv_wc wc;
	int polled = 0;

	begin();
	run();
	for (int i = 0; i < THREADS; i++) {
		check_worker(&workers[i]);
		polled += workers[i].polled;
	}
	tap_ok(strstr(workers[0].said, "check that the peer is alive") != NULL,
	       "and that is what to do about it");
	while (ibv_poll_cq(shared.cq, 1, &wc) > 0)
		polled++;
	tap_eq_int(polled, POLLERS * POSTS, "each completion of the shared queue came once");
	for (int i = 0; i < POLLERS; i++)
		ibv_destroy_qp(shared.qp[i]);
	ibv_destroy_cq(shared.cq);
	tap_eq_int(rdmaez_dm_close(&shared.dm, NULL), 0, "the device memory is free");
	tap_eq_int(rdmaez_simple_close(&shared.simple, NULL), 0, "the device is closed");
	tap_eq_int(fake_close_all(), 0, "and nothing is left");
	return tap_done();
}
