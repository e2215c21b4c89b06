/* SPDX-License-Identifier: MIT */
/*
 * Finds libibverbs as NCCL does, by dlopen() and dlvsym(), so that no symbol of it can be interposed: connects a queue
 * pair with itself, by a GID index, sends itself a message, and says how far it got.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_reg_mr

#define NEED(what, condition)                    \
	do {                                     \
		if (!(condition)) {              \
			perror("loader: " what); \
			exit(1);                 \
		}                                \
	} while (0)

/* A variable with the function's address. */
#define LOAD(name)                                                      \
	__typeof__(&(name)) load_##name;                                \
	*(void **)&load_##name = dlvsym(library, #name, "IBVERBS_1.1"); \
	NEED(#name, load_##name)

int main(int argc, char *argv[])
{
	void *library = dlopen("libibverbs.so.1", RTLD_NOW);
	static char message[8];

	NEED("dlopen", library && argc == 2);
	LOAD(ibv_get_device_list);
	LOAD(ibv_open_device);
	LOAD(ibv_alloc_pd);
	LOAD(ibv_reg_mr);
	LOAD(ibv_create_cq);
	LOAD(ibv_create_qp);
	LOAD(ibv_modify_qp);
	LOAD(ibv_query_gid);

	struct ibv_device **list = load_ibv_get_device_list(NULL);
	struct ibv_context *context = load_ibv_open_device(list[0]);
	NEED("ibv_open_device", context);
	struct ibv_pd *pd = load_ibv_alloc_pd(context);
	struct ibv_mr *mr = load_ibv_reg_mr(pd, message, sizeof(message), IBV_ACCESS_LOCAL_WRITE);
	NEED("ibv_reg_mr", mr);
	struct ibv_cq *cq = load_ibv_create_cq(context, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {.send_cq = cq,
					.recv_cq = cq,
					.qp_type = IBV_QPT_RC,
					.cap = {1, 1, 1, 1, 0},
					.sq_sig_all = 1};
	struct ibv_qp *qp = load_ibv_create_qp(pd, &init);
	NEED("ibv_create_qp", qp);

	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	NEED("INIT", !load_ibv_modify_qp(qp, &attr,
					 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						 IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = qp->qp_num,
				    .min_rnr_timer = 12,
				    .ah_attr = {.is_global = 1, .port_num = 1}};
	attr.ah_attr.grh.sgid_index = (uint8_t)atoi(argv[1]);
	NEED("ibv_query_gid", !load_ibv_query_gid(context, 1, 1, &attr.ah_attr.grh.dgid));
	errno = load_ibv_modify_qp(qp, &attr,
				   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					   IBV_QP_MIN_RNR_TIMER);
	NEED("ibv_modify_qp to RTR", !errno);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 6, .rnr_retry = 6};
	errno = load_ibv_modify_qp(qp, &attr,
				   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					   IBV_QP_MAX_QP_RD_ATOMIC);
	NEED("ibv_modify_qp to RTS", !errno);

	struct ibv_sge sge = {(uintptr_t)message, sizeof(message), mr->lkey};
	struct ibv_recv_wr receive = {.sg_list = &sge, .num_sge = 1}, *bad_receive;
	struct ibv_send_wr send = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad_send;
	struct ibv_wc wc;
	NEED("ibv_post_recv", !ibv_post_recv(qp, &receive, &bad_receive));
	NEED("ibv_post_send", !ibv_post_send(qp, &send, &bad_send));
	for (int completions = 0; completions < 2;) {
		const int count = ibv_poll_cq(cq, 1, &wc);

		NEED("ibv_poll_cq", count >= 0);
		if (count && wc.status) {
			fprintf(stderr, "loader: completion with status %d\n", wc.status);
			return 1;
		}
		completions += count;
	}
	puts("loader: sent and received");
	return 0;
}
