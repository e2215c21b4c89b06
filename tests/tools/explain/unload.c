/* SPDX-License-Identifier: MIT */
/*
 * Threads that load libibverbs, are refused, and unload it, over and over, as plugins do, while the first thread does so
 * with a device that it opens and closes. Prints how often each was refused.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/verbs.h>
#undef ibv_get_device_list

enum {
	THREADS = 4,
	TIMES = 100
};

#define CALL(name) ((__typeof__(&(name)))dlsym(handle, #name))

static void *load(void)
{
	void *const handle = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		abort();
	return handle;
}

static struct ibv_qp *create(void *handle, struct ibv_context **context)
{
	struct ibv_device **const list = CALL(ibv_get_device_list)(NULL);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};

	*context = CALL(ibv_open_device)(list[0]);
	CALL(ibv_free_device_list)(list);
	init.send_cq = init.recv_cq = CALL(ibv_create_cq)(*context, 4, NULL, NULL, 0);
	init.cap.max_send_wr = init.cap.max_recv_wr = 1;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	return CALL(ibv_create_qp)(CALL(ibv_alloc_pd)(*context), &init);
}

static void destroy(void *handle, struct ibv_qp *qp)
{
	struct ibv_context *const context = qp->context;
	struct ibv_cq *const cq = qp->send_cq;
	struct ibv_pd *const pd = qp->pd;

	if (CALL(ibv_destroy_qp)(qp) || CALL(ibv_destroy_cq)(cq) || CALL(ibv_dealloc_pd)(pd) ||
	    CALL(ibv_close_device)(context))
		abort();
}

static int refused(void *handle, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	struct ibv_wc wc;

	return !ibv_poll_cq(qp->send_cq, 1, &wc) &&
	       CALL(ibv_modify_qp)(qp, &attr, IBV_QP_STATE) == EINVAL;
}

/* Its queue pair is there before and afterwards. */
static void *work(void *qp)
{
	intptr_t count = 0;

	for (int i = 0; i < TIMES; i++) {
		void *const handle = load();

		count += refused(handle, (struct ibv_qp *)qp);
		dlclose(handle);
	}
	return (void *)count;
}

int main(void)
{
	struct ibv_context *context;
	pthread_t thread[THREADS];
	struct ibv_qp *qp[THREADS];
	void *handle = load(), *count;
	int own = 0;

	for (int i = 0; i < THREADS; i++)
		qp[i] = create(handle, &context);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, qp[i]);
	for (int i = 0; i < TIMES; i++) {
		void *const again = load();
		struct ibv_qp *const made = create(again, &context);

		own += refused(again, made);
		destroy(again, made);
		dlclose(again);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &count);
		printf("%d ", (int)(intptr_t)count);
		destroy(handle, qp[i]);
	}
	printf("%d\n", own);
	/* The last handle: what the program opens afterwards is as new. */
	dlclose(handle);
	handle = load();
	qp[0] = create(handle, &context);
	own = refused(handle, qp[0]);
	destroy(handle, qp[0]);
	printf("%d\n", own);
	return 0;
}
