/* SPDX-License-Identifier: MIT */
/* Moves a queue pair to RTR without saying to whom, as often as its argument says. */
#include <stdio.h>
#include <stdlib.h>
#include <infiniband/verbs.h>

int main(int argc, char *argv[])
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq = context ? ibv_create_cq(context, 4, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp *qp = NULL;

	init.cap.max_send_wr = init.cap.max_recv_wr = 1;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	if (pd && cq)
		qp = ibv_create_qp(pd, &init);
	if (!qp)
		return 1;
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
		printf("%d\n", ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	return ibv_destroy_qp(qp) || ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) ||
	       ibv_close_device(context);
}
