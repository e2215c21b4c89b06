/* SPDX-License-Identifier: MIT */
/*
 * On a real device, refusals that the fake libibverbs has no verbs for, and some of each kind that it has. It prints what
 * a program sees of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/verbs.h>

static void see(const char *what, intptr_t result)
{
	printf("%s %d errno %d\n", what, (int)result, errno);
	errno = 77;
}

static struct ibv_qp *new_qp(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = type};

	init.cap.max_send_wr = init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	return ibv_create_qp(pd, &init);
}

/* As far as RTR, which names a GID index that is empty. */
static void move(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	see("init",
	    ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = 99;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.sgid_index = 200;
	memcpy(attr.ah_attr.grh.dgid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xa\0\0\2", 16);
	see("rtr", ibv_modify_qp(qp, &attr,
				 IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					 IBV_QP_MIN_RNR_TIMER));
	printf("state %d\n", qp->state);
}

static void events(struct ibv_context *context, struct ibv_comp_channel *channel)
{
	struct ibv_async_event event;
	struct ibv_cq *cq;
	void *unused;

	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
	errno = 77;
	see("cq event", ibv_get_cq_event(channel, &cq, &unused));
	see("async event", ibv_get_async_event(context, &event));
}

int main(void)
{
	struct ibv_device **const list = ibv_get_device_list(NULL);
	struct ibv_context *const context = list && *list ? ibv_open_device(*list) : NULL;
	struct ibv_pd *const pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_comp_channel *const channel = pd ? ibv_create_comp_channel(context) : NULL;
	struct ibv_cq *const cq = channel ? ibv_create_cq(context, 16, NULL, channel, 0) : NULL;
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq_attr srq_attr = {.max_wr = 1 << 30};
	struct ibv_cq_init_attr_ex cq_init = {.cqe = 1 << 30};
	static char buffer[8192];
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH, .byte_len = 64, .opcode = IBV_WC_RECV};
	struct ibv_grh grh = {.version_tclass_flow = 0};
	union ibv_gid group = {.raw = {0xff}};

	if (!cq)
		return 1;
	ibv_free_device_list(list);
	struct ibv_qp *const qp = new_qp(pd, cq, IBV_QPT_RC);
	struct ibv_srq *const srq = ibv_create_srq(pd, &srq_init);
	struct ibv_mr *const mr = ibv_reg_mr(pd, buffer, 4096, IBV_ACCESS_LOCAL_WRITE);

	errno = 77;
	events(context, channel);
	see("channel", ibv_destroy_comp_channel(channel));
	see("cq", ibv_destroy_cq(cq));
	see("pd", ibv_dealloc_pd(pd));
	see("cq_ex", ibv_create_cq_ex(context, &cq_init) != NULL);
	see("srq", ibv_modify_srq(srq, &srq_attr, IBV_SRQ_MAX_WR));
	see("reg", ibv_reg_mr(pd, (void *)4096, 4096, IBV_ACCESS_LOCAL_WRITE) != NULL);
	see("rereg", ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, pd, buffer, 1024, 0));
	see("ah", ibv_create_ah_from_wc(pd, &wc, &grh, 1) != NULL);
	see("mcast", ibv_attach_mcast(qp, &group, 0));
	see("qp", new_qp(pd, cq, (enum ibv_qp_type)99) != NULL);
	move(qp);
	ibv_destroy_qp(qp);
	ibv_destroy_srq(srq);
	ibv_dereg_mr(mr);
	ibv_destroy_cq(cq);
	ibv_destroy_comp_channel(channel);
	ibv_dealloc_pd(pd);
	return ibv_close_device(context);
}
