/* SPDX-License-Identifier: MIT */
/* Implements driver.h. */
#ifndef RDMAEZ_IMPL_DRIVER_H
#define RDMAEZ_IMPL_DRIVER_H

#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif

RDMAEZ_IMPL_BEGIN

/* Several drivers have these traits in common: Mellanox's, and those whose verbs are rdmavt's. */
#define RDMAEZ_IMPL_DRIVER_MLX4                                                        \
	(RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_MTU_ENUM | RDMAEZ_DRIVER_DEPTH_OUT | \
	 RDMAEZ_DRIVER_DEPTH_IN | RDMAEZ_DRIVER_PKEY)
#define RDMAEZ_IMPL_DRIVER_RDMAVT                                                       \
	(RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_STRICT | RDMAEZ_DRIVER_RNR_TIMER_31 | \
	 RDMAEZ_DRIVER_DEPTH_IN | RDMAEZ_DRIVER_PKEY | RDMAEZ_DRIVER_NO_RECV_BEACON)

/*
 * Each driver is a record, which does not compile unless it is whole. Above a column stand the functions that it was read
 * from. A driver's own functions are in the kernel's drivers/infiniband.
 *
 * X(name, vendor_id, first, last, first_2, last_2, traits, reports, compares, checks, fills, habits, causes,
 *   module, provider, parents, announced, functions)
 *
 * name ... causes: the members of struct rdmaez_driver; first to last_2 are `parts`. They were read in Linux 6.1 to 7.2
 *	and rdma-core 65, in this order: modify_qp; query_qp; what creates queues, in the provider too; the provider's
 *	functions that end in post_send and post_recv; its query_device_ex. max_sge is the lesser of two limits
 *	(copy_query_dev_fields()). It binds both ends only if they are equal, or if the provider compares it.
 *
 * The other columns are for rdmaez-doctor, which has only names to go by. "" means that there is none.
 * module: the kernel module, for modprobe
 * provider: the provider library, lib<provider>-rdmav<N>.so of rdma-core
 * parents: the drivers that a device's PCI function and its network interface may have, which need not be RDMA
 *	drivers; the first is the module that makes an adapter of a PCI function
 * announced: the beginning of the names under which another driver offers RDMA on the auxiliary bus
 * functions: the PCI functions that are RDMA adapters whatever their driver, as vendor:device or
 *	vendor:device-device, in hexadecimal; a vendor alone stands for every other network controller of that vendor
 */
/* clang-format off */
#define RDMAEZ_IMPL_DRIVERS(X)                                                                     \
	X("rdma_rxe", 0xffffff, 0, 0xffff, 1, 0,                                                   \
	  /* sw/rxe/rxe_qp.c: rxe_qp_chk_attr(); rxe_av.c: chk_attr() */                           \
	  RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_MTU_MAX | RDMAEZ_DRIVER_ROCE_V2 |               \
		  RDMAEZ_DRIVER_TIMEOUT_31 | RDMAEZ_DRIVER_DEPTH_RXE | RDMAEZ_DRIVER_DEPTH_OUT |   \
		  RDMAEZ_DRIVER_DRAINS,                                                            \
	  /* rxe_qp_to_attr() */                                                                   \
	  ~0,                                                                                      \
	  /* rxe_cq_chk_attr(), rxe_qp_chk_cap(), rxe_srq_chk_init() */                            \
	  RDMAEZ_DRIVER_COMPARES_ALL,                                                              \
	  /* validate_send_wr(), and the kernel's rxe_post_send() for the states */                \
	  RDMAEZ_DRIVER_CHECKS_SIZES | RDMAEZ_DRIVER_CHECKS_STATES |                               \
		  RDMAEZ_DRIVER_CHECKS_ATOMICS | RDMAEZ_DRIVER_CHECKS_EX,                          \
	  /* it has none of the features */                                                        \
	  RDMAEZ_DRIVER_FILLS_ALL,                                                                 \
	  /* __rxe_add_to_pool(); rxe_completer(); rxe_qp_reset(), which leaves comp.opcode */     \
	  RDMAEZ_DRIVER_HABIT_COUNT_EINVAL | RDMAEZ_DRIVER_HABIT_RETRIES_7 |                       \
		  RDMAEZ_DRIVER_HABIT_RESET_KEEPS,                                                 \
	  RDMAEZ_DRIVER_CAUSES_RXE,                                                                \
	  "rdma_rxe", "rxe", "", "", "")                                                           \
	X("mlx5_ib", 0x2c9, 0x1011, 0x1fff, 0xa2d0, 0xa2ff,                                        \
	  /* hw/mlx5/qp.c: mlx5_ib_modify_qp(), __mlx5_ib_modify_qp() and its optab,               \
	   * validate_rd_atomic() */                                                               \
	  RDMAEZ_IMPL_DRIVER_MLX4 | RDMAEZ_DRIVER_NO_SQD | RDMAEZ_DRIVER_RATE_LIMIT |              \
		  RDMAEZ_DRIVER_DC,                                                                \
	  /* query_qp_attr() */                                                                    \
	  ~0,                                                                                      \
	  /* mlx5_ib_create_cq() and mlx5_ib_create_srq(), which takes one SGE more than is        \
	   * reported, as set_rq_size() may more receives; of tag operations the provider's        \
	   * create_cmd_qp() */                                                                    \
	  RDMAEZ_DRIVER_COMPARES_CQE | RDMAEZ_DRIVER_COMPARES_SRQ_WR |                             \
		  RDMAEZ_DRIVER_COMPARES_TAGS,                                                     \
	  /* qp_state_max_gs; mlx5_send_wr_complete_error() */                                     \
	  RDMAEZ_DRIVER_CHECKS_SIZES | RDMAEZ_DRIVER_CHECKS_STATES | RDMAEZ_DRIVER_CHECKS_EX,      \
	  /* PCI atomics only where it may ask for them */                                         \
	  RDMAEZ_DRIVER_FILLS_OFFLOADS | RDMAEZ_DRIVER_FILLS_PACING,                               \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "mlx5_ib", "mlx5", "mlx5_core", "mlx5_core.rdma.", "15b3")                               \
	X("mlx4_ib", 0x2c9, 0x1000, 0x1010, 0x6340, 0x6778,                                        \
	  /* hw/mlx4/qp.c: _mlx4_ib_modify_qp(), __mlx4_ib_modify_qp() */                          \
	  RDMAEZ_IMPL_DRIVER_MLX4,                                                                 \
	  /* mlx4_ib_query_qp(), whose sgid_index is the hardware's */                             \
	  ~IBV_QP_AV,                                                                              \
	  /* mlx4_ib_create_cq(), mlx4_ib_create_srq(); the provider's create_qp_ex() */           \
	  RDMAEZ_DRIVER_COMPARES_ALL,                                                              \
	  /* mlx4_post_send(), mlx4_post_recv() */                                                 \
	  RDMAEZ_DRIVER_CHECKS_SIZES,                                                              \
	  RDMAEZ_DRIVER_FILLS_OFFLOADS,                                                            \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "mlx4_ib", "mlx4", "mlx4_core mlx4_en", "mlx4_core.ib.",                                 \
	  "15b3:1000-1010 15b3:6340-6778")                                                         \
	X("ib_mthca", 0x2c9, 0x5a44, 0x6282, 1, 0,                                                 \
	  /* hw/mthca/mthca_qp.c: mthca_modify_qp(), __mthca_modify_qp() */                        \
	  RDMAEZ_IMPL_DRIVER_MLX4 | RDMAEZ_DRIVER_MTU_2048,                                        \
	  /* mthca_query_qp() */                                                                   \
	  ~0,                                                                                      \
	  /* mthca_create_cq(), mthca_set_qp_size(), mthca_alloc_srq() */                          \
	  RDMAEZ_DRIVER_COMPARES_ALL,                                                              \
	  RDMAEZ_DRIVER_CHECKS_UNCLAIMED,                                                          \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "ib_mthca", "mthca", "ib_mthca", "",                                                     \
	  "15b3:5a44 15b3:5e8c 15b3:6274 15b3:6278 15b3:6282")                                     \
	X("hns_roce", 0x19e5, 0, 0xffff, 1, 0,                                                     \
	  /* hw/hns/hns_roce_qp.c: hns_roce_modify_qp(), hns_roce_check_qp_attr(),                 \
	   * check_mtu_validate() */                                                               \
	  RDMAEZ_DRIVER_CUR_EQUAL | RDMAEZ_DRIVER_NO_SQD | RDMAEZ_DRIVER_MTU_ENUM |                \
		  RDMAEZ_DRIVER_MTU_ACTIVE | RDMAEZ_DRIVER_DEPTH_OUT | RDMAEZ_DRIVER_DEPTH_IN |    \
		  RDMAEZ_DRIVER_PKEY,                                                              \
	  /* hns_roce_v2_query_qp() */                                                             \
	  ~IBV_QP_PKEY_INDEX,                                                                      \
	  /* verify_cq_create_attr(), set_srq_basic_param(); the provider's                        \
	   * verify_qp_create_cap() */                                                             \
	  RDMAEZ_DRIVER_COMPARES_ALL,                                                              \
	  /* check_qp_send(), check_rc_opcode(), check_ud_opcode(), check_inl_data_len() */        \
	  RDMAEZ_DRIVER_CHECKS_SIZES | RDMAEZ_DRIVER_CHECKS_STATES |                               \
		  RDMAEZ_DRIVER_CHECKS_OPCODES | RDMAEZ_DRIVER_CHECKS_EX,                          \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "hns_roce_hw_v2", "hns", "hns3", "", "")                                                 \
	X("irdma", 0x8086, 0, 0xffff, 1, 0,                                                        \
	  /* hw/irdma/verbs.c: irdma_modify_qp_roce() */                                           \
	  RDMAEZ_DRIVER_LENIENT | RDMAEZ_DRIVER_RESET_FINAL | RDMAEZ_DRIVER_DEPTH_OUT |            \
		  RDMAEZ_DRIVER_DEPTH_IN | RDMAEZ_DRIVER_PKEY,                                     \
	  /* irdma_query_qp(), whose pkey_index is the P_Key itself */                             \
	  ~(IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER | IBV_QP_PKEY_INDEX |                \
		  IBV_QP_EN_SQD_ASYNC_NOTIFY),                                                     \
	  /* irdma_validate_qp_attrs() has max_hw_wq_quanta for max_qp_wr;                         \
	   * irdma_create_srq() */                                                                 \
	  RDMAEZ_DRIVER_COMPARES_SGE | RDMAEZ_DRIVER_COMPARES_SRQ_SGE,                             \
	  /* uk.c */                                                                               \
	  RDMAEZ_DRIVER_CHECKS_SIZES,                                                              \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "irdma", "irdma", "ice i40e", "ice.roce. ice.iwarp. i40e.iwarp. idpf.8086.rdma.", "")    \
	X("bnxt_re", 0x14e4, 0, 0xffff, 1, 0,                                                      \
	  /* hw/bnxt_re/ib_verbs.c: bnxt_re_modify_qp(), bnxt_re_is_modify_ok() */                 \
	  RDMAEZ_DRIVER_LENIENT | RDMAEZ_DRIVER_MTU_ACTIVE | RDMAEZ_DRIVER_SWAPS |                 \
		  RDMAEZ_DRIVER_DEPTH_IN | RDMAEZ_DRIVER_RATE_LIMIT_RC,                            \
	  /* bnxt_re_query_qp(), without a port before Linux 6.12 */                               \
	  ~(IBV_QP_PORT | IBV_QP_EN_SQD_ASYNC_NOTIFY),                                             \
	  /* bnxt_re_create_cq(), the provider's bnxt_re_check_qp_limits(), which before           \
	   * rdma-core 49 lowers depths in silence; bnxt_re_create_srq() compares no SGEs */       \
	  RDMAEZ_DRIVER_COMPARES_CQE | RDMAEZ_DRIVER_COMPARES_SGE |                                \
		  RDMAEZ_DRIVER_COMPARES_SRQ_WR,                                                   \
	  /* bnxt_re_put_inline() */                                                               \
	  RDMAEZ_DRIVER_CHECKS_INLINE,                                                             \
	  /* rate limits since rdma-core 62, which a limit shows */                                \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  /* https://github.com/ROCm/MAD/pull/200: of 512 queue pairs made by 8 threads, 33 to 66  \
	   * with rdma-core 39, all with 63; 50 fails as 39 does */                                \
	  RDMAEZ_DRIVER_HABIT_COMMANDS_63,                                                         \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "bnxt_re", "bnxt_re", "bnxt_en", "bnxt_en.rdma.", "")                                    \
	X("efa", 0x1d0f, 0, 0xffff, 1, 0,                                                          \
	  /* hw/efa/efa_verbs.c: efa_modify_qp_validate(); the provider's                          \
	   * efa_post_send_validate(), efa_post_recv_validate() */                                 \
	  RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_EFA | RDMAEZ_DRIVER_SIGNALED |                  \
		  RDMAEZ_DRIVER_NO_BEACON,                                                         \
	  /* efa_query_qp() */                                                                     \
	  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_SQ_PSN |           \
		  IBV_QP_CAP | IBV_QP_RNR_RETRY,                                                   \
	  /* efa_create_user_cq(); efa_query_device() reports the lesser depth of two */           \
	  RDMAEZ_DRIVER_COMPARES_CQE,                                                              \
	  /* efa_post_send_validate_wr() */                                                        \
	  RDMAEZ_DRIVER_CHECKS_SGES | RDMAEZ_DRIVER_CHECKS_INLINE | RDMAEZ_DRIVER_CHECKS_STATES    \
		  | RDMAEZ_DRIVER_CHECKS_OPCODES | RDMAEZ_DRIVER_CHECKS_EX,                        \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_EFA,                                                                \
	  "efa", "efa", "efa", "", "1d0f:efa0-efa3")                                               \
	/* hw/hfi1/verbs.c: hfi1_fill_device_attr(); init.c: hfi1_pci_tbl */                       \
	X("hfi1", 0x1175, 0x24f0, 0x24f1, 1, 0,                                                    \
	  /* sw/rdmavt/qp.c: rvt_modify_qp(); rvt_error_qp() does nothing in ERR, and the          \
	   * provider's post_recv() does not call the kernel */                                    \
	  RDMAEZ_IMPL_DRIVER_RDMAVT,                                                               \
	  /* rvt_query_qp() */                                                                     \
	  ~0,                                                                                      \
	  /* rvt_create_cq(), rvt_create_qp(), rvt_create_srq() */                                 \
	  RDMAEZ_DRIVER_COMPARES_ALL,                                                              \
	  RDMAEZ_DRIVER_CHECKS_UNCLAIMED,                                                          \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "hfi1", "hfi1verbs", "hfi1", "", "8086:24f0-24f1")                                       \
	/* hw/qib/qib_verbs.c: qib_fill_device_attr(); qib_init.c: qib_pci_tbl */                  \
	X("ib_qib", 0x1175, 0x10, 0x10, 0x7220, 0x7322,                                            \
	  /* the same */                                                                           \
	  RDMAEZ_IMPL_DRIVER_RDMAVT,                                                               \
	  /* the same */                                                                           \
	  ~0,                                                                                      \
	  /* the same */                                                                           \
	  RDMAEZ_DRIVER_COMPARES_ALL,                                                              \
	  RDMAEZ_DRIVER_CHECKS_UNCLAIMED,                                                          \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "ib_qib", "ipathverbs", "ib_qib", "", "1fc1:0010 1077:7220 1077:7322")                   \
	X("qedr", 0x1077, 0, 0xffff, 1, 0,                                                         \
	  /* hw/qedr/verbs.c: qedr_modify_qp(), which has limits of its own for the depths */      \
	  RDMAEZ_DRIVER_MTU_ENUM | RDMAEZ_DRIVER_PKEY,                                             \
	  /* qedr_query_qp(), for which all in SQD are draining */                                 \
	  ~IBV_QP_EN_SQD_ASYNC_NOTIFY,                                                             \
	  /* qedr_check_qp_attrs(), without receives; qedr_check_srq_params() lets SGEs pass */    \
	  RDMAEZ_DRIVER_COMPARES_SEND_WR | RDMAEZ_DRIVER_COMPARES_SGE |                            \
		  RDMAEZ_DRIVER_COMPARES_SRQ_WR,                                                   \
	  RDMAEZ_DRIVER_CHECKS_UNCLAIMED,                                                          \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "qedr", "qedr", "qede", "", "")                                                          \
	X("ocrdma", 0x10df, 0, 0xffff, 1, 0,                                                       \
	  /* hw/ocrdma/ocrdma_hw.c: ocrdma_set_qp_params(); the provider's ocrdma_post_send(),     \
	   * ocrdma_post_recv() */                                                                 \
	  RDMAEZ_DRIVER_MTU_ENUM | RDMAEZ_DRIVER_MTU_512 | RDMAEZ_DRIVER_DEPTH_OUT |               \
		  RDMAEZ_DRIVER_NO_BEACON,                                                         \
	  /* ocrdma_verbs.c: ocrdma_query_qp() */                                                  \
	  ~IBV_QP_MIN_RNR_TIMER,                                                                   \
	  /* ocrdma_mbx_create_cq(), ocrdma_check_qp_params(), ocrdma_create_srq(), two with       \
	   * other limits */                                                                       \
	  RDMAEZ_DRIVER_COMPARES_CQE | RDMAEZ_DRIVER_COMPARES_SEND_WR |                            \
		  RDMAEZ_DRIVER_COMPARES_SRQ_WR,                                                   \
	  RDMAEZ_DRIVER_CHECKS_UNCLAIMED,                                                          \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "ocrdma", "ocrdma", "be2net", "", "")                                                    \
	X("vmw_pvrdma", 0x15ad, 0, 0xffff, 1, 0,                                                   \
	  /* hw/vmw_pvrdma/pvrdma_qp.c: pvrdma_modify_qp() */                                      \
	  RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_RNR_TIMER_31 | RDMAEZ_DRIVER_PKEY,              \
	  /* pvrdma_query_qp(), of which the port is the host's, and the capacities are missing    \
	   * in RESET */                                                                           \
	  ~(IBV_QP_PORT | IBV_QP_CAP),                                                             \
	  /* pvrdma_create_cq(), pvrdma_create_srq(); pvrdma_create_qp() compares the sizes of     \
	   * the kernel's own queue pairs only, and leaves those of programs to the host */        \
	  RDMAEZ_DRIVER_COMPARES_CQE | RDMAEZ_DRIVER_COMPARES_SRQ_WR |                             \
		  RDMAEZ_DRIVER_COMPARES_SRQ_SGE,                                                  \
	  RDMAEZ_DRIVER_CHECKS_UNCLAIMED,                                                          \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "vmw_pvrdma", "vmw_pvrdma", "vmw_pvrdma", "", "15ad:0820")                               \
	X("ionic_rdma", 0x1dd8, 0, 0xffff, 1, 0,                                                   \
	  /* hw/ionic/ionic_controlpath.c: ionic_check_modify_qp(),                                \
	   * ionic_qp_cur_state_is_ok() */                                                         \
	  RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_CUR_IONIC | RDMAEZ_DRIVER_QKEY |                \
		  RDMAEZ_DRIVER_RATE_LIMIT_RC,                                                     \
	  /* ionic_query_qp_cmd() */                                                               \
	  ~(IBV_QP_PORT | IBV_QP_PKEY_INDEX),                                                      \
	  /* ionic_create_cq_common() */                                                           \
	  RDMAEZ_DRIVER_COMPARES_CQE,                                                              \
	  RDMAEZ_DRIVER_CHECKS_UNCLAIMED,                                                          \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "ionic_rdma", "ionic", "ionic", "ionic.rdma.", "")                                       \
	/* Before Linux 7 it reports no vendor. */                                                 \
	X("mana_ib", 0x1414, 0, 0xffff, 1, 0,                                                      \
	  /* hw/mana/qp.c: mana_ib_modify_qp(); the provider's mana_ib_post_send(),                \
	   * mana_ib_post_recv() */                                                                \
	  RDMAEZ_DRIVER_NO_TABLE | RDMAEZ_DRIVER_RC_ONLY | RDMAEZ_DRIVER_NO_BEACON,                \
	  /* no query_qp */                                                                        \
	  ~0,                                                                                      \
	  /* mana_ib_create_cq() compares nothing of the kind */                                   \
	  RDMAEZ_DRIVER_COMPARES_NOTHING,                                                          \
	  /* mana_ib_post_send(), mana_ib_post_recv() */                                           \
	  RDMAEZ_DRIVER_CHECKS_STATES | RDMAEZ_DRIVER_CHECKS_OPCODES,                              \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  /* mana_ib_query_device(), which leaves max_dm_size 0 */                                 \
	  RDMAEZ_DRIVER_HABIT_NO_DM_SIZE,                                                          \
	  RDMAEZ_DRIVER_CAUSES_MANA,                                                               \
	  "mana_ib", "mana", "mana", "mana.rdma.", "")                                             \
	/* libibverbs has no provider for it. */                                                   \
	X("usnic_verbs", 0x1137, 0, 0xffff, 1, 0,                                                  \
	  /* hw/usnic/usnic_ib_qp_grp.c: usnic_ib_qp_grp_modify() */                               \
	  RDMAEZ_DRIVER_NO_TABLE,                                                                  \
	  /* usnic_ib_verbs.c: usnic_ib_query_qp() */                                              \
	  IBV_QP_STATE,                                                                            \
	  /* usnic_ib_create_cq() compares nothing of the kind */                                  \
	  RDMAEZ_DRIVER_COMPARES_NOTHING,                                                          \
	  RDMAEZ_DRIVER_CHECKS_UNCLAIMED,                                                          \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ALL,                                                                \
	  "usnic_verbs", "", "enic", "", "1137:00cf")                                              \
	X("iw_cxgb4", 0x1425, 0, 0xffff, 1, 0,                                                     \
	  /* hw/cxgb4/qp.c: c4iw_ib_modify_qp(); the provider's c4iw_post_send(),                  \
	   * c4iw_post_receive() */                                                                \
	  RDMAEZ_DRIVER_NO_TABLE | RDMAEZ_DRIVER_NO_BEACON,                                        \
	  /* c4iw_ib_query_qp() */                                                                 \
	  IBV_QP_STATE | IBV_QP_CAP,                                                               \
	  /* c4iw_create_cq(), c4iw_create_qp(), which has another limit for sends,                \
	   * c4iw_create_srq() */                                                                  \
	  RDMAEZ_DRIVER_COMPARES_CQE | RDMAEZ_DRIVER_COMPARES_RECV_WR |                            \
		  RDMAEZ_DRIVER_COMPARES_SRQ_WR | RDMAEZ_DRIVER_COMPARES_SRQ_SGE,                  \
	  RDMAEZ_DRIVER_CHECKS_UNCLAIMED,                                                          \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_CXGB4,                                                              \
	  "iw_cxgb4", "cxgb4", "cxgb4", "", "")                                                    \
	X("erdma", 0x1ded, 0, 0xffff, 1, 0,                                                        \
	  /* hw/erdma/erdma_verbs.c: erdma_check_qp_attrs() of Linux 7, where iWARP has no         \
	   * table; the provider's erdma_post_send(), erdma_post_recv() */                         \
	  RDMAEZ_DRIVER_TRUSTS_CUR | RDMAEZ_DRIVER_ROCE_V2 | RDMAEZ_DRIVER_PKEY |                  \
		  RDMAEZ_DRIVER_SWAPS | RDMAEZ_DRIVER_NO_BEACON,                                   \
	  /* erdma_query_qp() */                                                                   \
	  IBV_QP_STATE | IBV_QP_CAP,                                                               \
	  /* erdma_create_cq() compares it, but the provider takes a negative one for 64;          \
	   * erdma_query_device() reports the lesser depth of two */                               \
	  RDMAEZ_DRIVER_COMPARES_NOTHING,                                                          \
	  /* it takes as many SGEs as any of its queues may have */                                \
	  RDMAEZ_DRIVER_CHECKS_INLINE,                                                             \
	  RDMAEZ_DRIVER_FILLS_NOTHING,                                                             \
	  RDMAEZ_DRIVER_HABIT_USUAL,                                                               \
	  RDMAEZ_DRIVER_CAUSES_ERDMA,                                                              \
	  "erdma", "erdma", "erdma", "", "1ded:107f")                                              \
	X("siw", 0x626d74, 0, 0xffff, 1, 0,                                                        \
	  /* sw/siw/siw_verbs.c: siw_verbs_modify_qp(); siw_post_send(), to which the              \
	   * provider's passes no request */                                                       \
	  RDMAEZ_DRIVER_NO_TABLE | RDMAEZ_DRIVER_NO_BEACON,                                        \
	  /* siw_query_qp(), without a state before Linux 6.12 */                                  \
	  IBV_QP_CAP,                                                                              \
	  /* siw_create_cq(), siw_create_qp(), siw_create_srq() */                                 \
	  RDMAEZ_DRIVER_COMPARES_ALL,                                                              \
	  /* push_recv_wqe(); push_send_wqe() by map_send_opcode[], and an opcode beyond it by     \
	   * what lies there; it takes as many SGEs as any of its queues may have */               \
	  RDMAEZ_DRIVER_CHECKS_INLINE | RDMAEZ_DRIVER_CHECKS_RECV_SGE | RDMAEZ_DRIVER_CHECKS_FEW,  \
	  /* it has none of the features */                                                        \
	  RDMAEZ_DRIVER_FILLS_ALL,                                                                 \
	  /* siw_umem_get() of Linux 6.1; that of 6.12 pins by ib_umem_get(), as all               \
	   * others do */                                                                          \
	  RDMAEZ_DRIVER_HABIT_PINS,                                                                \
	  RDMAEZ_DRIVER_CAUSES_SIW,                                                                \
	  "siw", "siw", "", "", "")
/* clang-format on */

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

RDMAEZ_IMPL_BEGIN

/*
 * Returns whether the driver has RDMAEZ_DRIVER_SWAPS, which bnxt_re and erdma have, without the
 * table. This is for calls that succeed: expanding the records for it would cost every file that
 * includes this. The tests compare it with each record.
 */
RDMAEZ_FOLD bool rdmaez_impl_driver_swaps(const struct ibv_device_attr *device)
{
	return device->vendor_id == 0x14e4 || device->vendor_id == 0x1ded;
}

#define RDMAEZ_IMPL_DRIVER_ROW(name, vendor, first, last, first_2, last_2, traits, reports,        \
			       compares, checks, fills, habits, causes, module, provider, parents, \
			       announced, functions)                                               \
	{name,   vendor,   traits, reports, {first, last, first_2, last_2},                        \
	 checks, compares, fills,  habits,  causes},

/* Returns whether a part is the driver's. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_driver_has(const struct rdmaez_driver *driver, uint32_t part)
{
	for (size_t i = 0; i < sizeof(driver->parts) / sizeof(driver->parts[0]); i += 2)
		if (part >= driver->parts[i] &&
		    (part <= driver->parts[i + 1] || driver->parts[i + 1] == UINT16_MAX))
			return true;
	return false;
}

/*
 * Returns who makes the adapter of a vendor. These vendors sell Mellanox's adapters, whose firmware
 * then reports their own id (Cisco, SilverStorm, Voltaire, HP, Sun, Bull), or the PCI id in place
 * of the OUI. The source is mca-btl-openib-device-params.ini of Open MPI.
 */
RDMAEZ_IMPL_COLD uint32_t rdmaez_impl_driver_maker(uint32_t vendor_id)
{
	static const uint16_t resellers[] = {0x5ad, 0x66a, 0x8f1, 0x1708, 0x3ba, 0x119f, 0x15b3};

	for (size_t i = 0; i < sizeof(resellers) / sizeof(resellers[0]); i++)
		if (vendor_id == resellers[i])
			return 0x2c9;
	return vendor_id;
}

RDMAEZ_API const struct rdmaez_driver *rdmaez_driver_of(const struct ibv_device_attr *device)
{
	static const struct rdmaez_driver drivers[] = {RDMAEZ_IMPL_DRIVERS(RDMAEZ_IMPL_DRIVER_ROW)};
	static const struct rdmaez_driver unknown = {"unknown",
						     0,
						     RDMAEZ_DRIVER_NO_TABLE,
						     ~0,
						     {1, 0, 1, 0},
						     RDMAEZ_DRIVER_CHECKS_UNCLAIMED,
						     RDMAEZ_DRIVER_COMPARES_NOTHING,
						     RDMAEZ_DRIVER_FILLS_NOTHING,
						     RDMAEZ_DRIVER_HABIT_USUAL,
						     RDMAEZ_DRIVER_CAUSES_ALL};
	const uint32_t maker = device ? rdmaez_impl_driver_maker(device->vendor_id) : 0;

	for (size_t i = 0; device && i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (maker == drivers[i].vendor_id &&
		    rdmaez_impl_driver_has(&drivers[i], device->vendor_part_id))
			return &drivers[i];
	return &unknown;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
