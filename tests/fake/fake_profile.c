/* SPDX-License-Identifier: MIT */
/* The drivers that the fake can stand for, each a row of one table, and the kernel they run in. */
#include <stdio.h>
#include <sys/utsname.h>
#include "fake_internal.h"

/* ---- The running kernel ------------------------------------------------------------------- */

static char running[64] = "6.1.0-fake"; /* empty: uname() fails */

void fake_uname(const char *release)
{
	snprintf(running, sizeof(running), "%s", release ? release : "");
}

/* In place of the C library's, so that nothing depends on the host. */
int uname(struct utsname *name)
{
	memset(name, 0, sizeof(*name));
	strcpy(name->sysname, "Linux");
	if (!running[0]) {
		strcpy(name->release, "6.1.0-false"); /* nothing to be believed */
		errno = EFAULT;
		return -1;
	}
	strcpy(name->nodename, "fake");
	strcpy(name->release, running);
	strcpy(name->version, "#1 SMP");
	strcpy(name->machine, "x86_64");
	return 0;
}

int fake_linux(void)
{
	int major = 0, minor = 0;

	sscanf(running, "%d.%d", &major, &minor);
	return major * 100 + (minor < 99 ? minor : 99);
}

/* ---- The drivers -------------------------------------------------------------------------- */

struct row {
	enum fake_profile profile;
	int until; /* the first release that has the next row of this profile; 0: all that follow */
	enum ibv_node_type node;
	enum ibv_transport_type transport;
	uint8_t link;
	uint16_t gids, pkeys; /* rows of each table */
	uint16_t max_pkeys;   /* of the device, 0: as many as pkeys */
	uint32_t vendor_id, part_id;
	uint32_t types;
	bool has_srq;
	uint32_t quirks;
	struct fake_habits habits;
};

#define RC  FAKE_QPT(IBV_QPT_RC)
#define UC  FAKE_QPT(IBV_QPT_UC)
#define UD  FAKE_QPT(IBV_QPT_UD)
#define RAW FAKE_QPT(IBV_QPT_RAW_PACKET)
#define XRC (FAKE_QPT(IBV_QPT_XRC_SEND) | FAKE_QPT(IBV_QPT_XRC_RECV))
#define DRV FAKE_QPT(IBV_QPT_DRIVER)

#define INFINIBAND                                                                             \
	.node = IBV_NODE_CA, .transport = IBV_TRANSPORT_IB, .link = IBV_LINK_LAYER_INFINIBAND, \
	.gids = 16, .pkeys = 128
#define ROCE                                                                                 \
	.node = IBV_NODE_CA, .transport = IBV_TRANSPORT_IB, .link = IBV_LINK_LAYER_ETHERNET, \
	.gids = 16, .pkeys = 1
#define IWARP                                                                                     \
	.node = IBV_NODE_RNIC, .transport = IBV_TRANSPORT_IWARP, .link = IBV_LINK_LAYER_ETHERNET, \
	.gids = 1, .pkeys = 0

/* All that an answer of ibv_query_qp() holds, but for these. */
#define ALL_FIELDS   (((1 << 21) - 1) | FAKE_FIELD_SQ_DRAINING | FAKE_FIELD_AH_PORT)
#define ALL_BUT(...) (ALL_FIELDS & ~(__VA_ARGS__))
#define STATES       (IBV_QP_STATE | IBV_QP_CUR_STATE)
#define DEPTHS       (IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC)

/* ibv_query_qp() in the two drivers of mlx*: a path has only who is connected. */
#define OF_PATH (IBV_QP_AV | IBV_QP_ALT_PATH | FAKE_FIELD_AH_PORT)

/* RXE_ACCESS_SUPPORTED_QP in sw/rxe/rxe_verbs.h: all but IBV_ACCESS_ZERO_BASED and _HUGETLB. */
#define RXE_ACCESS                                                                      \
	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |  \
	 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | IBV_ACCESS_ON_DEMAND | 3u << 8 | \
	 (unsigned int)IBV_ACCESS_OPTIONAL_RANGE)

/* sw/rxe/rxe_qp.c: rxe_qp_chk_attr(); rxe_pool.c: __rxe_add_to_pool(), one too many is EINVAL. */
#define RXE_VALUES                                                                       \
	.depth = FAKE_LIMIT_OTHER, .dest_depth = FAKE_LIMIT_NONE, .pkey = FAKE_PKEY_ANY, \
	.mtu_unchecked = true, .strict = IBV_QP_TIMEOUT, .srq_count_errno = EINVAL,      \
	.ex_full_errno = ENOSPC, .ex_size_errno = ENOSPC
#define RXE_QUIRKS (FAKE_MTU_UP_TO_MAX | FAKE_NO_ROCE_V1 | FAKE_QUEUE_THEN_CHECK)

/*
 * hw/mlx5/qp.c: mlx5_ib_query_qp(), which clears the answer, query_qp_attr(), validate_rd_atomic(); main.c:
 * pkey_table_len, which is more than the 1 of mlx5_query_port_roce().
 */
#define MLX5_HABITS                                                                  \
	.query_clears = true, .query_of_path = OF_PATH,                              \
	.query_of_raw = STATES | IBV_QP_CAP | IBV_QP_PORT, .pkey = FAKE_PKEY_DEVICE, \
	.dci_depth = 32, .ece_vendor = 0x15b3, .ex_size_errno = ENOMEM, .ex_fills_all = true
#define MLX5_QUIRKS                                                                          \
	(FAKE_NO_SQD | FAKE_EXTENDED_MODIFY | FAKE_POST_SEND_ENOMEM | FAKE_RESET_PURGES_CQ | \
	 FAKE_SRQ_EMPTY)

/* hw/mlx4/qp.c: mlx4_ib_query_qp(); libibverbs' providers/mlx4/srq.c: mlx4_post_srq_recv(). */
#define MLX4_HABITS                                                                            \
	.query_in_reset = STATES | IBV_QP_CAP, .query_of_path = OF_PATH, .srq_sge_result = -1, \
	.srq_full_result = -1, .pkey = FAKE_PKEY_DEVICE

/* hw/bnxt_re/ib_verbs.c: bnxt_re_modify_qp(), bnxt_re_create_srq(); libibverbs: bnxt_re_post_srq_recv() */
#define BNXT_RE_HABITS                                                                            \
	.moves = FAKE_MOVES_WITH_STATE, .depth = FAKE_LIMIT_NONE, .dest_depth = FAKE_LIMIT_OTHER, \
	.pkey = FAKE_PKEY_ANY, .mtu_unchecked = true, .srq_wr_less = 1, .srq_sge_result = ENOMEM
#define BNXT_RE_UNFILLED \
	(IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | FAKE_FIELD_SQ_DRAINING | FAKE_FIELD_AH_PORT)

/*
 * sw/siw/siw_verbs.c: siw_query_qp(), siw_verbs_modify_qp(); siw_qp.c: siw_qp_modify(). libibverbs:
 * push_send_wqe() has its own table of operations; siw_post_send() has queued all before the kernel refuses, and returns what write() returned, -1.
 */
#define SIW_FILLED (IBV_QP_CAP | IBV_QP_PATH_MTU | DEPTHS | IBV_QP_ACCESS_FLAGS)
#define SIW_HABITS .moves = FAKE_MOVES_IWARP, .early_result = -1, .recv_least_sge = 1
#define SIW_QUIRKS (FAKE_NEGATIVE_POST | FAKE_QUEUE_THEN_CHECK | FAKE_FEW_OPCODES)

/*
 * hw/erdma/erdma_verbs.c: erdma_query_qp(). libibverbs: erdma_post_send(), erdma_post_recv(), and
 * erdma_create_cq(), which never asks for less than 64, and says EIO to whatever the kernel said.
 */
#define ERDMA_FILLED (SIW_FILLED | STATES)
#define ERDMA_HABITS \
	.early_taken = true, .error_state_errno = EIO, .cq_rounded = 64, .cq_errno = EIO

/* hw/irdma/verbs.c: irdma_query_qp() has a P_Key where its index belongs. */
#define IRDMA_HABITS                                                                            \
	.moves = FAKE_MOVES_WITH_STATE, .mtu_unchecked = true, .keeps_refused = true,           \
	.query_unfilled = IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER | IBV_QP_ALT_PATH | \
			  IBV_QP_PATH_MIG_STATE | FAKE_FIELD_SQ_DRAINING | FAKE_FIELD_AH_PORT,  \
	.query_clears = true, .query_port = 1, .query_pkey_value = true

static const struct row rows[] = {
	{.profile = FAKE_PROFILE_PLAIN,
	 .node = IBV_NODE_CA,
	 .transport = IBV_TRANSPORT_IB,
	 .link = IBV_LINK_LAYER_ETHERNET,
	 .gids = 16,
	 .pkeys = 16,
	 .types = RC | UC | UD | RAW | XRC,
	 .has_srq = true},

	/* rxe_query_qp() copies what it keeps, where cur_qp_state is 0 unless it was given. */
	{.profile = FAKE_PROFILE_RXE,
	 .until = 604,
	 ROCE,
	 .max_pkeys = 64,
	 .vendor_id = 0xffffff,
	 .types = RC | UC | UD,
	 .has_srq = true,
	 .quirks = RXE_QUIRKS,
	 .habits = {RXE_VALUES, .query_unfilled = IBV_QP_CUR_STATE, .query_clears = true}},
	/* From then on rxe_qp_from_attr() looks at the table, and only where there is a state. */
	{.profile = FAKE_PROFILE_RXE,
	 .until = 612,
	 ROCE,
	 .max_pkeys = 64,
	 .vendor_id = 0xffffff,
	 .types = RC | UC | UD,
	 .has_srq = true,
	 .quirks = RXE_QUIRKS,
	 .habits = {RXE_VALUES, .moves = FAKE_MOVES_WITH_STATE}},
	{.profile = FAKE_PROFILE_RXE,
	 ROCE,
	 .max_pkeys = 64,
	 .vendor_id = 0xffffff,
	 .types = RC | UC | UD,
	 .has_srq = true,
	 .quirks = RXE_QUIRKS,
	 .habits = {RXE_VALUES, .moves = FAKE_MOVES_WITH_STATE, .access = RXE_ACCESS}},

	/* hw/mlx5/qp.c: mlx5_ib_modify_qp(), the rate of Linux 7: qp_rl_parse() */
	{.profile = FAKE_PROFILE_MLX5,
	 .until = 700,
	 ROCE,
	 .max_pkeys = 128,
	 .vendor_id = 0x2c9,
	 .part_id = 0x1017,
	 .types = RC | UC | UD | RAW | XRC,
	 .has_srq = true,
	 .quirks = MLX5_QUIRKS,
	 .habits = {MLX5_HABITS}},
	{.profile = FAKE_PROFILE_MLX5,
	 ROCE,
	 .max_pkeys = 128,
	 .vendor_id = 0x2c9,
	 .part_id = 0x1017,
	 .types = RC | UC | UD | RAW | XRC,
	 .has_srq = true,
	 .quirks = MLX5_QUIRKS,
	 .habits = {MLX5_HABITS, .rate = FAKE_RATE_RAW}},
	{.profile = FAKE_PROFILE_MLX5_UNDERLAY,
	 INFINIBAND,
	 .vendor_id = 0x2c9,
	 .part_id = 0x1017,
	 .types = RC | UC | UD | RAW | XRC,
	 .has_srq = true,
	 .quirks = MLX5_QUIRKS | FAKE_USER_AH,
	 .habits = {MLX5_HABITS, .underlay = true}},

	/* The bonded one has a single port, 1, and each queue pair is on either: mlx4_ib_bond_next_port(). */
	{.profile = FAKE_PROFILE_MLX4,
	 ROCE,
	 .max_pkeys = 128,
	 .vendor_id = 0x2c9,
	 .part_id = 0x1003,
	 .types = RC | UC | UD | RAW | XRC,
	 .has_srq = true,
	 .quirks = FAKE_RESET_PURGES_CQ | FAKE_SRQ_EMPTY | FAKE_USER_AH,
	 .habits = {MLX4_HABITS}},
	{.profile = FAKE_PROFILE_MLX4_BONDED,
	 ROCE,
	 .max_pkeys = 128,
	 .vendor_id = 0x2c9,
	 .part_id = 0x1003,
	 .types = RC | UC | UD | RAW | XRC,
	 .has_srq = true,
	 .quirks = FAKE_RESET_PURGES_CQ | FAKE_SRQ_EMPTY | FAKE_USER_AH,
	 .habits = {MLX4_HABITS, .query_port = 2}},

	/*
	 * hw/efa/efa_verbs.c: efa_query_qp(), efa_modify_qp_validate(), efa_query_port(). Another port than 1
	 * is refused by uverbs before the driver sees it.
	 */
	{.profile = FAKE_PROFILE_EFA,
	 .node = IBV_NODE_UNSPECIFIED,
	 .transport = IBV_TRANSPORT_UNSPECIFIED,
	 .link = IBV_LINK_LAYER_UNSPECIFIED,
	 .gids = 1,
	 .pkeys = 1,
	 .vendor_id = 0x1d0f,
	 .part_id = 0xefa0,
	 .types = UD | DRV,
	 .quirks = FAKE_SIGNALED_ONLY,
	 .habits = {.query_refused =
			    ALL_BUT(IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY |
				    IBV_QP_SQ_PSN | IBV_QP_CAP | IBV_QP_RNR_RETRY),
		    .query_unfilled =
			    ALL_BUT(IBV_QP_STATE | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_SQ_PSN |
				    IBV_QP_CAP | IBV_QP_RNR_RETRY | FAKE_FIELD_SQ_DRAINING),
		    .query_clears = true,
		    .query_port = 1,
		    .modify_refused =
			    ALL_BUT(STATES | IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_PKEY_INDEX |
				    IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_SQ_PSN | IBV_QP_RNR_RETRY),
		    .pkey = FAKE_PKEY_FIRST}},

	/* siw_query_qp() has the state in Linux 6.12. */
	{.profile = FAKE_PROFILE_SIW,
	 .until = 612,
	 IWARP,
	 .vendor_id = 0x626d74,
	 .types = RC,
	 .has_srq = true,
	 .quirks = SIW_QUIRKS,
	 .habits = {SIW_HABITS, .query_unfilled = ALL_BUT(SIW_FILLED)}},
	{.profile = FAKE_PROFILE_SIW,
	 IWARP,
	 .vendor_id = 0x626d74,
	 .types = RC,
	 .has_srq = true,
	 .quirks = SIW_QUIRKS,
	 .habits = {SIW_HABITS, .query_unfilled = ALL_BUT(SIW_FILLED | IBV_QP_STATE)}},

	/*
	 * bnxt_re_query_qp() has the port in Linux 6.12. Until Linux 7, bnxt_re_modify_qp() lets the peer read
	 * and write whatever was asked for.
	 */
	{.profile = FAKE_PROFILE_BNXT_RE,
	 .until = 612,
	 ROCE,
	 .vendor_id = 0x14e4,
	 .part_id = 0x1750,
	 .types = RC | UD,
	 .has_srq = true,
	 .quirks = FAKE_MTU_UP_TO_ACTIVE | FAKE_CUR_STATE_IGNORED,
	 .habits = {BNXT_RE_HABITS, .query_unfilled = BNXT_RE_UNFILLED | IBV_QP_PORT,
		    .access_added = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_REMOTE_READ}},
	{.profile = FAKE_PROFILE_BNXT_RE,
	 .until = 700,
	 ROCE,
	 .vendor_id = 0x14e4,
	 .part_id = 0x1750,
	 .types = RC | UD,
	 .has_srq = true,
	 .quirks = FAKE_MTU_UP_TO_ACTIVE | FAKE_CUR_STATE_IGNORED,
	 .habits = {BNXT_RE_HABITS, .query_unfilled = BNXT_RE_UNFILLED,
		    .access_added = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_REMOTE_READ}},
	{.profile = FAKE_PROFILE_BNXT_RE,
	 ROCE,
	 .vendor_id = 0x14e4,
	 .part_id = 0x1750,
	 .types = RC | UD,
	 .has_srq = true,
	 .quirks = FAKE_MTU_UP_TO_ACTIVE | FAKE_CUR_STATE_IGNORED | FAKE_EXTENDED_MODIFY,
	 .habits = {BNXT_RE_HABITS, .query_unfilled = BNXT_RE_UNFILLED,
		    .access_added = IBV_ACCESS_LOCAL_WRITE, .rate = FAKE_RATE_RC}},

	/* hw/erdma/erdma_qp.c: erdma_modify_qp_internal(). RoCE, which Linux 7 has: erdma_check_qp_attrs(). */
	{.profile = FAKE_PROFILE_ERDMA,
	 IWARP,
	 .vendor_id = 0x1ded,
	 .part_id = 0x107f,
	 .types = RC,
	 .quirks = FAKE_NEGATIVE_POST,
	 .habits = {ERDMA_HABITS, .moves = FAKE_MOVES_IWARP, .iwarp = FAKE_IWARP_ERDMA,
		    .query_unfilled = ALL_BUT(ERDMA_FILLED)}},
	{.profile = FAKE_PROFILE_ERDMA_ROCE,
	 ROCE,
	 .vendor_id = 0x1ded,
	 .part_id = 0x107f,
	 .types = RC | UD,
	 .quirks = FAKE_NEGATIVE_POST | FAKE_NO_ROCE_V1,
	 .habits = {ERDMA_HABITS, .depth = FAKE_LIMIT_NONE, .dest_depth = FAKE_LIMIT_NONE,
		    .mtu_unchecked = true,
		    .query_unfilled = ALL_BUT(ERDMA_FILLED | IBV_QP_SQ_PSN | IBV_QP_RQ_PSN |
					      FAKE_FIELD_SQ_DRAINING | IBV_QP_PKEY_INDEX |
					      IBV_QP_DEST_QPN | IBV_QP_AV | FAKE_FIELD_AH_PORT),
		    .query_of_path = IBV_QP_AV | FAKE_FIELD_AH_PORT}},

	/*
	 * hw/mana/main.c: mana_ib_query_device(), which sets no ids in Linux 6.12; qp.c: mana_ib_modify_qp();
	 * there is no query_qp. libibverbs' providers/mana/qp.c: mana_modify_qp() takes RC only.
	 */
	{.profile = FAKE_PROFILE_MANA,
	 .until = 700,
	 ROCE,
	 .types = RC | RAW,
	 .habits = {.moves = FAKE_MOVES_ANY, .modify_types = RC, .query_errno = EOPNOTSUPP}},
	{.profile = FAKE_PROFILE_MANA,
	 ROCE,
	 .vendor_id = 0x1414,
	 .part_id = 3, /* GDMA_DEVICE_MANA_IB */
	 .types = RC | RAW,
	 .habits = {.moves = FAKE_MOVES_ANY, .modify_types = RC, .query_errno = EOPNOTSUPP}},

	/*
	 * hw/ionic/ionic_controlpath.c of Linux 7: ionic_check_modify_qp(), ionic_query_qp_cmd(), which says port
	 * 0. Up to rdma-core 65, libibverbs does not pass a rate on: FAKE_EXTENDED_MODIFY for one that does.
	 */
	{.profile = FAKE_PROFILE_IONIC,
	 ROCE,
	 .vendor_id = 0x1dd8,
	 .part_id = 0x1003,
	 .types = RC | UC | UD,
	 .habits = {.cur_state_or_error = true,
		    .user_qkey_errno = EPERM,
		    .rate = FAKE_RATE_RC,
		    .depth = FAKE_LIMIT_NONE,
		    .dest_depth = FAKE_LIMIT_NONE,
		    .pkey = FAKE_PKEY_ANY,
		    .mtu_unchecked = true,
		    .query_unfilled = IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ALT_PATH,
		    .query_if_asked = IBV_QP_AV | FAKE_FIELD_AH_PORT,
		    .query_clears = true}},

	/*
	 * hw/hns/hns_roce_qp.c: hns_roce_modify_qp(); hns_roce_hw_v2.c: check_qp_state(),
	 * hns_roce_v2_query_qp(); hns_roce_srq.c: set_srq_basic_param()
	 */
	{.profile = FAKE_PROFILE_HNS,
	 ROCE,
	 .vendor_id = 0x19e5,
	 .part_id = 0xa222,
	 .types = RC | UD | XRC,
	 .has_srq = true,
	 .quirks =
		 FAKE_CUR_STATE_EQUAL | FAKE_NO_SQD | FAKE_MTU_UP_TO_ACTIVE | FAKE_RESET_PURGES_CQ,
	 .habits = {.query_unfilled = IBV_QP_PKEY_INDEX | IBV_QP_ALT_PATH,
		    .query_in_reset = STATES | IBV_QP_CAP,
		    .query_of_path = IBV_QP_AV | FAKE_FIELD_AH_PORT,
		    .query_clears = true,
		    .srq_least_sge = 1}},

	/* hw/irdma/verbs.c: irdma_modify_qp_roce(), irdma_modify_qp(); shared receive queues: Linux 7 */
	{.profile = FAKE_PROFILE_IRDMA,
	 .until = 700,
	 ROCE,
	 .vendor_id = 0x8086,
	 .part_id = 0x1592,
	 .types = RC | UD,
	 .quirks = FAKE_CUR_STATE_IGNORED | FAKE_RESET_IS_FINAL,
	 .habits = {IRDMA_HABITS}},
	{.profile = FAKE_PROFILE_IRDMA,
	 ROCE,
	 .vendor_id = 0x8086,
	 .part_id = 0x1592,
	 .types = RC | UD,
	 .has_srq = true,
	 .quirks = FAKE_CUR_STATE_IGNORED | FAKE_RESET_IS_FINAL,
	 .habits = {IRDMA_HABITS}},
	{.profile = FAKE_PROFILE_IRDMA_IWARP,
	 IWARP,
	 .vendor_id = 0x8086,
	 .part_id = 0x1592,
	 .types = RC,
	 .habits = {.moves = FAKE_MOVES_IWARP,
		    .iwarp = FAKE_IWARP_IRDMA,
		    .query_unfilled =
			    ALL_BUT(STATES | IBV_QP_CAP | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT),
		    .query_clears = true,
		    .query_port = 1}},

	/* hw/cxgb4/qp.c: c4iw_ib_query_qp(), c4iw_ib_modify_qp() */
	{.profile = FAKE_PROFILE_CXGB4,
	 IWARP,
	 .vendor_id = 0x1425,
	 .part_id = 0x5401,
	 .types = RC,
	 .has_srq = true,
	 .habits = {.moves = FAKE_MOVES_IWARP,
		    .iwarp = FAKE_IWARP_CXGB4,
		    .query_unfilled = ALL_BUT(STATES | IBV_QP_CAP),
		    .query_clears = true}},

	/* hw/mthca/mthca_qp.c: mthca_modify_qp(), __mthca_modify_qp(), mthca_query_qp() */
	{.profile = FAKE_PROFILE_MTHCA,
	 INFINIBAND,
	 .vendor_id = 0x2c9,
	 .part_id = 0x6274,
	 .types = RC | UC | UD,
	 .has_srq = true,
	 .habits = {.most_mtu = IBV_MTU_2048,
		    .pkey = FAKE_PKEY_DEVICE,
		    .query_in_reset = STATES | IBV_QP_CAP,
		    .query_of_path = OF_PATH}},

	/* hw/ocrdma/ocrdma_hw.c: ocrdma_set_qp_params(); ocrdma_verbs.c: ocrdma_modify_qp(), ocrdma_query_qp() */
	{.profile = FAKE_PROFILE_OCRDMA,
	 ROCE,
	 .vendor_id = 0x10df,
	 .part_id = 0x720,
	 .types = RC | UC | UD,
	 .has_srq = true,
	 .quirks = FAKE_CUR_STATE_IGNORED,
	 .habits = {.least_mtu = IBV_MTU_512, .pkey = FAKE_PKEY_ANY, .query_port = 1}},

	/* hw/qedr/verbs.c: qedr_modify_qp(), qedr_query_qp(). libibverbs' qelr_modify_qp() may say -EINVAL. */
	{.profile = FAKE_PROFILE_QEDR,
	 ROCE,
	 .vendor_id = 0x1077,
	 .part_id = 0x1656,
	 .types = RC,
	 .has_srq = true,
	 .quirks = FAKE_CUR_STATE_IGNORED | FAKE_NEGATIVE_ERRNO,
	 .habits = {.query_unfilled = IBV_QP_QKEY | IBV_QP_ALT_PATH,
		    .query_clears = true,
		    .query_port = 1}},

	/* hw/vmw_pvrdma/pvrdma_qp.c: pvrdma_modify_qp(), pvrdma_query_qp() */
	{.profile = FAKE_PROFILE_PVRDMA,
	 ROCE,
	 .vendor_id = 0x15ad,
	 .part_id = 0x820,
	 .types = RC | UD,
	 .has_srq = true,
	 .habits = {.depth = FAKE_LIMIT_NONE,
		    .dest_depth = FAKE_LIMIT_NONE,
		    .pkey = FAKE_PKEY_DEVICE,
		    .mtu_unchecked = true,
		    .strict = IBV_QP_MIN_RNR_TIMER,
		    .query_in_reset = STATES}},

	/*
	 * sw/rdmavt/qp.c: rvt_modify_qp(), rvt_query_qp(); hw/hfi1/qp.c: hfi1_get_pmtu_from_attr(), which
	 * knows OPA_MTU_8192 and OPA_MTU_10240, 6 and 7; hw/qib/qib_qp.c: qib_get_pmtu_from_attr(), which
	 * knows the enum only
	 */
	{.profile = FAKE_PROFILE_RDMAVT,
	 INFINIBAND,
	 .vendor_id = 0x1175,
	 .part_id = 0x24f0,
	 .types = RC | UC | UD,
	 .has_srq = true,
	 .habits = {.depth = FAKE_LIMIT_NONE,
		    .most_mtu = (enum ibv_mtu)7,
		    .strict = IBV_QP_MIN_RNR_TIMER | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY}},
	{.profile = FAKE_PROFILE_QIB,
	 INFINIBAND,
	 .vendor_id = 0x1175,
	 .part_id = 0x7322,
	 .types = RC | UC | UD,
	 .has_srq = true,
	 .habits = {.depth = FAKE_LIMIT_NONE,
		    .strict = IBV_QP_MIN_RNR_TIMER | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY}},

	/*
	 * hw/usnic/usnic_ib_verbs.c: usnic_ib_query_device(), usnic_ib_query_port(), usnic_ib_query_qp();
	 * usnic_ib_qp_grp.c: usnic_ib_qp_grp_modify()
	 */
	{.profile = FAKE_PROFILE_USNIC,
	 .node = IBV_NODE_USNIC_UDP,
	 .transport = IBV_TRANSPORT_USNIC_UDP,
	 .link = IBV_LINK_LAYER_ETHERNET,
	 .gids = 1,
	 .pkeys = 1,
	 .vendor_id = 0x1137,
	 .part_id = 0xcf,
	 .types = UD,
	 .habits = {.moves = FAKE_MOVES_USNIC,
		    .query_unfilled = ALL_BUT(STATES),
		    .query_clears = true}},
};

static const struct row *row_of(enum fake_profile profile)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].profile == profile && (!rows[i].until || fake_linux() < rows[i].until))
			return &rows[i];
	abort();
}

static void set_port(struct fake_port *port, const struct row *row)
{
	if (row->link == IBV_LINK_LAYER_INFINIBAND)
		fake_port_infiniband(port);
	port->attr.link_layer = row->link;
	port->attr.gid_tbl_len = row->gids;
	port->attr.pkey_tbl_len = row->pkeys;
	if (row->transport == IBV_TRANSPORT_IB)
		return;
	/* No RoCE: one address, of no type, and nobody has to name it. */
	port->attr.flags = 0;
	memset(&port->gid[1], 0, sizeof(port->gid) - sizeof(port->gid[0]));
	port->gid[0].type = IBV_GID_TYPE_IB;
}

/* Who has resize_cq of struct ib_device_ops, in Linux 6.1 to 7.2, and of a provider's ops. */
static bool can_resize_cq(enum fake_profile profile)
{
	switch (profile) {
	case FAKE_PROFILE_BNXT_RE:
		return fake_linux() >= 612;
	case FAKE_PROFILE_EFA:
	case FAKE_PROFILE_SIW:
	case FAKE_PROFILE_ERDMA:
	case FAKE_PROFILE_ERDMA_ROCE:
	case FAKE_PROFILE_MANA:
	case FAKE_PROFILE_IONIC:
	case FAKE_PROFILE_HNS:
	case FAKE_PROFILE_QEDR:
	case FAKE_PROFILE_PVRDMA:
	case FAKE_PROFILE_CXGB4:
	case FAKE_PROFILE_USNIC:
		return false;
	default:
		return true;
	}
}

/* What becomes of work in ERR: the sources of a provider of rdma-core 65, and of a driver of Linux 6.1 to 7.2. */
struct err_row {
	enum fake_late late_send, late_recv;
	int last_wqe;   /* the first release that sends the event; 0: none, 1: all */
	int post_errno; /* posting, where it is refused */
};

static struct err_row err_row(enum fake_profile profile)
{
	const struct err_row hardware = {FAKE_LATE_AT_ONCE, FAKE_LATE_AT_ONCE, 1, 0};
	struct err_row row = hardware;

	switch (profile) {
	case FAKE_PROFILE_RXE:
		/* rxe_post_send() calls the kernel, whose rxe_requester() flushes; rxe_post_recv() only fills the
		 * ring, until rxe_qp_error() runs rxe_responder() again. flush_recv_queue() of Linux 6.12 */
		row.late_recv = FAKE_LATE_BY_MODIFY;
		row.last_wqe = 612;
		break;
	case FAKE_PROFILE_HNS:
		/* hns_roce_u_v2_post_send(), _post_recv(): modify(ERR) where struct ibv_qp says so */
		row.late_send = row.late_recv = FAKE_LATE_BY_LIBRARY;
		break;
	case FAKE_PROFILE_IRDMA:
	case FAKE_PROFILE_IRDMA_IWARP:
		/* irdma_upost_send(), irdma_upost_recv(): irdma_issue_flush() */
		row.late_send = row.late_recv = FAKE_LATE_REFLUSH;
		row.last_wqe = 0;
		break;
	case FAKE_PROFILE_RDMAVT:
	case FAKE_PROFILE_QIB:
		/* ibv_cmd_post_send() for sends; post_recv() only fills the ring, and rvt_error_qp() returns at
		 * once in ERR */
		row.late_recv = FAKE_LATE_NEVER;
		break;
	case FAKE_PROFILE_EFA:
	case FAKE_PROFILE_MANA:
		/* efa_post_send_validate(), efa_post_recv_validate(); mana_ib_post_send(), mana_ib_post_recv() */
		row.post_errno = EINVAL;
		row.last_wqe = 0;
		break;
	case FAKE_PROFILE_USNIC:
		row.post_errno =
			EINVAL; /* usnic_ib_post_send(), usnic_ib_post_recv(), in any state */
		row.last_wqe = 0;
		break;
	case FAKE_PROFILE_OCRDMA:
		row.post_errno = EINVAL; /* ocrdma_post_send(), ocrdma_post_recv() */
		break;
	case FAKE_PROFILE_CXGB4:
		/* c4iw_post_send(), c4iw_post_receive(): t4_wq_in_error(); flush_qp() has no event for user space */
		row.post_errno = EINVAL;
		row.last_wqe = 0;
		break;
	case FAKE_PROFILE_ERDMA:
	case FAKE_PROFILE_ERDMA_ROCE:
		row.post_errno = EIO; /* erdma_post_send(), erdma_post_recv() */
		row.last_wqe = 0;
		break;
	case FAKE_PROFILE_SIW:
		/* siw_post_send() passes no request to the kernel's, which flushes those that it is given */
		row.late_send = row.late_recv = FAKE_LATE_NEVER;
		row.last_wqe = 0;
		break;
	case FAKE_PROFILE_QEDR:
		row.last_wqe = 0;
		break;
	default:
		break;
	}
	return row;
}

static void set_err(struct fake_habits *habits, enum fake_profile profile)
{
	const struct err_row row = err_row(profile);

	if (profile == FAKE_PROFILE_PLAIN)
		return;
	habits->flushes = true;
	habits->late_send = row.late_send;
	habits->late_recv = row.late_recv;
	habits->last_wqe = row.last_wqe && fake_linux() >= row.last_wqe;
	if (row.post_errno)
		habits->error_state_errno = row.post_errno;
	habits->error_state_true = profile == FAKE_PROFILE_CXGB4;
	habits->sqd_holds = profile == FAKE_PROFILE_RXE; /* rxe_qp_chk_attr(), rxe_qp_from_attr() */
	habits->sqd_again = habits->sqd_holds && fake_linux() >= 612; /* rxe_qp_sqd() */
	habits->sqd_says_draining = profile == FAKE_PROFILE_QEDR;     /* qedr_query_qp() */
}

void fake_profile(struct fake_device *dev, enum fake_profile profile)
{
	const struct row *row = row_of(profile);
	struct ibv_device_attr *attr = &dev->attr.orig_attr;

	dev->verbs.node_type = row->node;
	dev->verbs.transport_type = row->transport;
	attr->vendor_id = row->vendor_id;
	attr->vendor_part_id = row->part_id;
	attr->max_pkeys = row->max_pkeys ? row->max_pkeys : row->pkeys;
	if (!(row->types & XRC))
		attr->device_cap_flags &= ~(unsigned int)IBV_DEVICE_XRC;
	dev->attr.device_cap_flags_ex = attr->device_cap_flags;
	if (!row->has_srq)
		attr->max_srq = attr->max_srq_wr = attr->max_srq_sge = 0;
	for (unsigned int i = 1; i <= FAKE_MAX_PORTS; i++)
		set_port(&dev->port[i], row);
	dev->qp_types = row->types;
	dev->quirks = row->quirks;
	dev->habits = row->habits;
	dev->habits.cq_fixed = !can_resize_cq(profile);
	set_err(&dev->habits, profile);
}
