/* SPDX-License-Identifier: MIT */
/*
 * Several threads at once make, move and destroy what others look at, and are refused some of it; one opens and closes
 * the device all the time. Each counts what it saw.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <infiniband/verbs.h>

enum {
	THREADS = 4,
	ROUNDS = 100
};

static struct ibv_device *device;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static atomic_uint moves, queues, opened, wrong;

static void *work(void *unused)
{
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	init.cap.max_send_wr = init.cap.max_recv_wr = 1;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_qp *const qp = ibv_create_qp(pd, &init);
		struct ibv_wc wc;

		moves += ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EINVAL;
		queues += !ibv_create_cq(context, 1 << 30, NULL, NULL, 0) && errno == EINVAL;
		wrong += ibv_poll_cq(cq, 1, &wc) != 0 || qp->state != IBV_QPS_RESET;
		wrong += ibv_destroy_qp(qp) != 0;
	}
	return unused;
}

static void *reopen(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_context *const other = ibv_open_device(device);
		struct ibv_pd *const others = ibv_alloc_pd(other);

		opened += !ibv_dealloc_pd(others) && !ibv_close_device(other);
	}
	return unused;
}

int main(void)
{
	struct ibv_device **const list = ibv_get_device_list(NULL);
	pthread_t thread[THREADS + 1];

	device = list ? list[0] : NULL;
	context = device ? ibv_open_device(device) : NULL;
	pd = context ? ibv_alloc_pd(context) : NULL;
	cq = pd ? ibv_create_cq(context, 16, NULL, NULL, 0) : NULL;
	if (!cq)
		return 1;
	for (int i = 0; i <= THREADS; i++)
		if (pthread_create(&thread[i], NULL, i ? work : reopen, NULL))
			return 1;
	for (int i = 0; i <= THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%u %u %u %u\n", moves, queues, opened, wrong);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}
