/* SPDX-License-Identifier: MIT */
/*
 * Loads the libibverbs that its argument names as NCCL does, by dlopen() and dlvsym(), and makes a wrong move; with a
 * second argument by RTLD_LOCAL and dlsym(). Then what dlsym() must leave alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <infiniband/verbs.h>
#undef ibv_get_device_list

#define CALL(name)                                             \
	((__typeof__(&(name)))(is_plain ? dlsym(handle, #name) \
					: dlvsym(handle, #name, "IBVERBS_1.1")))

/* The version of what the C library has had since its first release for the architecture. */
#ifdef __x86_64__
#define FIRST_GLIBC "GLIBC_2.2.5"
#else
#define FIRST_GLIBC "GLIBC_2.17" /* aarch64 */
#endif

static int is_plain;

static int move(void *handle)
{
	struct ibv_device **list = CALL(ibv_get_device_list)(NULL);
	struct ibv_context *context = CALL(ibv_open_device)(list[0]);
	struct ibv_pd *pd = CALL(ibv_alloc_pd)(context);
	struct ibv_cq *cq = CALL(ibv_create_cq)(context, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp *qp;
	struct ibv_wc wc;

	init.cap.max_send_wr = init.cap.max_recv_wr = 1;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	qp = CALL(ibv_create_qp)(pd, &init);
	if (!qp || ibv_poll_cq(cq, 1, &wc))
		return -1;
	return CALL(ibv_modify_qp)(qp, &attr, IBV_QP_STATE);
}

int main(int argc, char *argv[])
{
	void *handle;

	printf("%d", dlsym(RTLD_DEFAULT, "ibv_modify_qp") != NULL);
	is_plain = argc > 2;
	handle = dlopen(argv[1], is_plain ? RTLD_LAZY | RTLD_LOCAL : RTLD_NOW);
	if (!handle)
		return 1;
	printf(" %d", move(handle));
	printf(" %d", dlsym(handle, "ibv_no_such_verb") != NULL);
	printf(" %d", dlvsym(handle, "ibv_modify_qp", "IBVERBS_1.0") != NULL);
	printf(" %d\n", dlsym(RTLD_NEXT, "malloc") && dlvsym(RTLD_NEXT, "free", FIRST_GLIBC));
	return 0;
}
