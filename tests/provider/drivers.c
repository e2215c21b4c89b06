/* SPDX-License-Identifier: MIT */
/* What each driver adds to the kernel's answers, as its adapter might: the structs are the kernel's <rdma/NAME-abi.h>. */
#include <string.h>

#include <rdma/bnxt_re-abi.h>
#include <rdma/efa-abi.h>
#include <rdma/erdma-abi.h>
#include <rdma/hns-abi.h>
#include <rdma/irdma-abi.h>
#include <rdma/mlx4-abi.h>
#include <rdma/mlx5-abi.h>

#include "kernel.h"

/* enum ibv_qp_type */
enum {
	RC = 1 << 2,
	UC = 1 << 3,
	UD = 1 << 4
};

/* The argument of the function, as the struct that it is. */
#define ANSWER(type) struct type *const to = (struct type *)answer

static void mlx5_context(void *answer)
{
	ANSWER(mlx5_ib_alloc_ucontext_resp);

	to->qp_tab_size = 1 << 18;
	to->bf_reg_size = 512;
	to->tot_bfregs = 16;
	to->cache_line_size = 64;
	to->max_sq_desc_sz = 1024;
	to->max_rq_desc_sz = 512;
	to->max_send_wqebb = 16384;
	to->max_recv_wr = 16384;
	to->max_srq_recv_wr = 16384;
	to->num_ports = 1;
	to->num_uars_per_page = 1;
	to->response_length = sizeof(*to);
}

static void mlx5_pd(void *answer)
{
	ANSWER(mlx5_ib_alloc_pd_resp);

	to->pdn = 1;
}

static void mlx5_cq(void *answer, const struct kernel_queue *queue)
{
	ANSWER(mlx5_ib_create_cq_resp);

	to->cqn = queue->number;
}

static void mlx4_context(void *answer)
{
	ANSWER(mlx4_ib_alloc_ucontext_resp);

	to->qp_tab_size = 1 << 18;
	to->bf_reg_size = 512;
	to->bf_regs_per_page = 8;
	to->cqe_size = 64;
}

static void mlx4_cq(void *answer, const struct kernel_queue *queue)
{
	ANSWER(mlx4_ib_create_cq_resp);

	to->cqn = queue->number;
}

static void hns_context(void *answer)
{
	ANSWER(hns_roce_ib_alloc_ucontext_resp);

	to->qp_tab_size = 1 << 18;
	to->srq_tab_size = 1 << 18;
	to->cqe_size = 64;
}

static void hns_pd(void *answer)
{
	ANSWER(hns_roce_ib_alloc_pd_resp);

	to->pdn = 1;
}

static void hns_cq(void *answer, const struct kernel_queue *queue)
{
	ANSWER(hns_roce_ib_create_cq_resp);

	to->cqn = queue->number;
}

static void irdma_context(void *answer)
{
	ANSWER(irdma_alloc_ucontext_resp);

	to->max_pds = to->max_qps = 1 << 16;
	to->kernel_ver = 5;
	to->hw_rev = 2;
	to->max_hw_wq_frags = 13;
	to->max_hw_read_sges = 13;
	to->max_hw_inline = 101;
	to->max_hw_rq_quanta = 32768;
	to->max_hw_wq_quanta = 8192;
	to->max_hw_sq_chunk = 128;
	to->min_hw_cq_size = 4;
	to->max_hw_cq_size = 1 << 20;
}

static void irdma_pd(void *answer)
{
	ANSWER(irdma_alloc_pd_resp);

	to->pd_id = 1;
}

static void irdma_cq(void *answer, const struct kernel_queue *queue)
{
	ANSWER(irdma_create_cq_resp);

	to->cq_id = queue->number;
	to->cq_size = queue->cqe;
}

static void irdma_qp(void *answer, const struct kernel_queue *queue)
{
	ANSWER(irdma_create_qp_resp);

	to->qp_id = queue->number;
	to->actual_sq_size = queue->max_send_wr;
	to->actual_rq_size = queue->max_recv_wr;
}

static void bnxt_context(void *answer)
{
	ANSWER(bnxt_re_uctx_resp);

	to->max_qp = 1 << 16;
	to->pg_size = 4096;
	to->cqe_sz = 32;
	to->max_cqd = 1 << 16;
	to->comp_mask = BNXT_RE_UCNTX_CMASK_HAVE_CCTX;
	to->chip_id0 = 0x1750;
}

static void bnxt_cq(void *answer, const struct kernel_queue *queue)
{
	ANSWER(bnxt_re_cq_resp);

	to->cqid = queue->number;
	to->phase = 1;
}

static void bnxt_qp(void *answer, const struct kernel_queue *queue)
{
	ANSWER(bnxt_re_qp_resp);

	to->qpid = queue->number;
}

static void efa_context(void *answer)
{
	ANSWER(efa_ibv_alloc_ucontext_resp);

	to->cmds_supp_udata_mask =
		EFA_USER_CMDS_SUPP_UDATA_QUERY_DEVICE | EFA_USER_CMDS_SUPP_UDATA_CREATE_AH;
	to->sub_cqs_per_cq = 1;
	to->inline_buf_size = 32;
	to->max_llq_size = 1 << 20;
	to->max_tx_batch = 32;
}

static void efa_device(void *answer)
{
	ANSWER(efa_ibv_ex_query_device_resp);

	to->max_sq_wr = to->max_rq_wr = 1024;
	to->max_sq_sge = 2;
	to->max_rq_sge = 3;
}

static void efa_cq(void *answer, const struct kernel_queue *queue)
{
	ANSWER(efa_ibv_create_cq_resp);

	to->cq_idx = (uint16_t)queue->number;
	to->q_mmap_size = 1 << 20;
}

static void efa_qp(void *answer, const struct kernel_queue *queue)
{
	ANSWER(efa_ibv_create_qp_resp);

	(void)queue;
	to->rq_mmap_size = 1 << 20;
}

static void erdma_context(void *answer)
{
	ANSWER(erdma_uresp_alloc_ctx);

	to->dev_id = 1;
}

static void erdma_cq(void *answer, const struct kernel_queue *queue)
{
	ANSWER(erdma_uresp_create_cq);

	to->cq_id = queue->number;
	to->num_cqe = queue->cqe;
}

static void erdma_qp(void *answer, const struct kernel_queue *queue)
{
	ANSWER(erdma_uresp_create_qp);

	to->qp_id = queue->number;
	/* hw/erdma/erdma_verbs.c: erdma_create_qp(), whose blocks of 32 bytes are four for each send */
	to->num_sqe = 4 * queue->max_send_wr;
	to->num_rqe = queue->max_recv_wr;
	to->rq_offset = 4096;
}

static const struct kernel_driver drivers[] = {
	{"mlx5", "mlx5_0", "pci:v000015B3d00001017sv0sd0", 1, 0x2c9, 4119, 0, RC | UC | UD, true, 0,
	 mlx5_context, mlx5_pd, mlx5_cq, NULL, NULL},
	{"mlx4", "mlx4_0", "pci:v000015B3d00001003sv0sd0", 4, 0x2c9, 4099, 0, RC | UC | UD, false,
	 0, mlx4_context, NULL, mlx4_cq, NULL, NULL},
	{"hns", "hns_0", "pci:v000019E5d0000A222sv0sd0", 2, 0x19e5, 0xa222, 0x21, RC | UD, true, 0,
	 hns_context, hns_pd, hns_cq, NULL, NULL},
	{"irdma", "irdma0", "pci:v00008086d00001592sv0sd0", 5, 0x8086, 0x1592, 0, RC | UD, false, 0,
	 irdma_context, irdma_pd, irdma_cq, irdma_qp, NULL},
	{"bnxt_re", "bnxt_re0", "pci:v000014E4d00001750sv0sd0", 1, 0x14e4, 0x1750, 0, RC | UD,
	 false, 0, bnxt_context, NULL, bnxt_cq, bnxt_qp, NULL},
	{"efa", "efa_0", "pci:v00001D0Fd0000EFA1sv0sd0", 1, 0x1d0f, 0xefa1, 0, UD, true,
	 KERNEL_MAPS, efa_context, NULL, efa_cq, efa_qp, efa_device},
	{"erdma", "erdma_0", "pci:v00001DEDd0000107Fsv0sd0", 1, 0x1ded, 0x107f, 0, RC, false, 1,
	 erdma_context, NULL, erdma_cq, erdma_qp, NULL},
};

const struct kernel_driver *kernel_driver(const char *name)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(*drivers); i++)
		if (strcmp(drivers[i].name, name) == 0)
			return &drivers[i];
	return NULL;
}
