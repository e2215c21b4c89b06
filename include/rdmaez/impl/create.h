/* SPDX-License-Identifier: MIT */
/* What the functions that create an object have in common: why the verb may have refused. */
#ifndef RDMAEZ_IMPL_CREATE_H
#define RDMAEZ_IMPL_CREATE_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif
#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_EXPLAIN_H
#include "explain.h"
#endif

RDMAEZ_IMPL_BEGIN

/* What a driver may compare with a limit that the device reports, in the kernel or in libibverbs' provider. */
#define RDMAEZ_IMPL_COMPARES_CQE     1u
#define RDMAEZ_IMPL_COMPARES_SEND_WR 2u
#define RDMAEZ_IMPL_COMPARES_RECV_WR 4u
#define RDMAEZ_IMPL_COMPARES_SGE     8u
#define RDMAEZ_IMPL_COMPARES_SRQ_WR  16u
#define RDMAEZ_IMPL_COMPARES_SRQ_SGE 32u
#define RDMAEZ_IMPL_COMPARES_TAGS    64u
#define RDMAEZ_IMPL_COMPARES_ALL     63u /* but tags, which only mlx5_ib has */

/*
 * What the device's driver compares with just the limit that it reports, so that one more is always refused.
 * max_sge is the lesser of two limits (`copy_query_dev_fields()`): it binds both ends only where they are equal
 * or the provider compares it. Read in Linux 6.1 to 7.2 and rdma-core 65. mana_ib_create_cq() and
 * usnic_ib_create_cq() compare nothing of the kind.
 */
RDMAEZ_IMPL_COLD unsigned int rdmaez_impl_compares(const struct ibv_device_attr *device)
{
	static const struct {
		const char *driver;
		unsigned int compares;
	} rows[] = {
		/* rxe_cq_chk_attr(), rxe_qp_chk_cap(), rxe_srq_chk_init() */
		{"rdma_rxe", RDMAEZ_IMPL_COMPARES_ALL},
		/* siw_create_cq(), siw_create_qp(), siw_create_srq() */
		{"siw", RDMAEZ_IMPL_COMPARES_ALL},
		/* mlx4_ib_create_cq(), mlx4_ib_create_srq(); the provider's create_qp_ex() */
		{"mlx4_ib", RDMAEZ_IMPL_COMPARES_ALL},
		/* mthca_create_cq(), mthca_set_qp_size(), mthca_alloc_srq() */
		{"ib_mthca", RDMAEZ_IMPL_COMPARES_ALL},
		/* verify_cq_create_attr(), set_srq_basic_param(); the provider's verify_qp_create_cap() */
		{"hns_roce", RDMAEZ_IMPL_COMPARES_ALL},
		/* pvrdma_create_cq(), pvrdma_set_sq_size(), pvrdma_set_rq_size(), pvrdma_create_srq() */
		{"vmw_pvrdma", RDMAEZ_IMPL_COMPARES_ALL},
		/* rvt_create_cq(), rvt_create_qp(), rvt_create_srq() */
		{"hfi1 or ib_qib", RDMAEZ_IMPL_COMPARES_ALL},
		/* mlx5_ib_create_cq() and mlx5_ib_create_srq(), which takes one SGE more than is reported, as set_rq_size()
		 * may more receives; of tag operations the provider's create_cmd_qp() */
		{"mlx5_ib", RDMAEZ_IMPL_COMPARES_CQE | RDMAEZ_IMPL_COMPARES_SRQ_WR |
				    RDMAEZ_IMPL_COMPARES_TAGS},
		/* bnxt_re_create_cq(), bnxt_re_test_qp_limits(); bnxt_re_create_srq() compares no SGEs */
		{"bnxt_re", RDMAEZ_IMPL_COMPARES_ALL & ~RDMAEZ_IMPL_COMPARES_SRQ_SGE},
		/* irdma_validate_qp_attrs() has max_hw_wq_quanta for max_qp_wr; irdma_create_srq() */
		{"irdma", RDMAEZ_IMPL_COMPARES_SGE | RDMAEZ_IMPL_COMPARES_SRQ_SGE},
		/* qedr_check_qp_attrs(), without receives; qedr_check_srq_params() lets SGEs pass */
		{"qedr", RDMAEZ_IMPL_COMPARES_SEND_WR | RDMAEZ_IMPL_COMPARES_SGE |
				 RDMAEZ_IMPL_COMPARES_SRQ_WR},
		/* ocrdma_mbx_create_cq(), ocrdma_check_qp_params(), ocrdma_create_srq(), two with other limits */
		{"ocrdma", RDMAEZ_IMPL_COMPARES_CQE | RDMAEZ_IMPL_COMPARES_SEND_WR |
				   RDMAEZ_IMPL_COMPARES_SRQ_WR},
		/* c4iw_create_cq(), c4iw_create_qp(), which has another limit for sends, c4iw_create_srq() */
		{"iw_cxgb4", RDMAEZ_IMPL_COMPARES_CQE | RDMAEZ_IMPL_COMPARES_RECV_WR |
				     RDMAEZ_IMPL_COMPARES_SRQ_WR | RDMAEZ_IMPL_COMPARES_SRQ_SGE},
		/* efa_create_user_cq(); efa_query_device() reports the lesser depth of two */
		{"efa", RDMAEZ_IMPL_COMPARES_CQE},
		/* erdma_create_cq(); erdma_query_device() reports the lesser depth of two */
		{"erdma", RDMAEZ_IMPL_COMPARES_CQE},
		/* ionic_create_cq_common() */
		{"ionic_rdma", RDMAEZ_IMPL_COMPARES_CQE},
	};
	const char *const driver = rdmaez_driver_of(device)->name;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].driver, driver) == 0)
			return rows[i].compares;
	return 0;
}

/* How sure a number above a limit is to be the cause: of ENOMEM there are others, too. */
RDMAEZ_IMPL_COLD enum rdmaez_severity rdmaez_impl_limit_sure(const struct rdmaez_diag *diag,
							     const struct ibv_device_attr *device,
							     unsigned int compared)
{
	return diag->error != ENOMEM && (rdmaez_impl_compares(device) & compared)
		       ? RDMAEZ_DIAG_ERROR
		       : RDMAEZ_DIAG_LIKELY;
}

/* A number that a verb is given, and the device's limit of it. */
struct rdmaez_impl_limit {
	const char *field;
	uint8_t given; /* where it is in what was asked, a uint32_t */
	uint8_t least;
	uint8_t compared; /* RDMAEZ_IMPL_COMPARES_ */
	bool is_int;      /* what was asked may be less than 0 */
	uint16_t most;    /* where it is in what ibv_query_device() fills, an int */
};

#define RDMAEZ_IMPL_LIMIT(prefix, attr, field, least, limit, compared)  \
	{                                                               \
		prefix #field, offsetof(struct attr, field),            \
		least,         RDMAEZ_IMPL_COMPARES_##compared,         \
		false,         offsetof(struct ibv_device_attr, limit), \
	}

/*
 * Whether an errno may stand for a number that is too large. cxgb4 says E2BIG; EIO stands for what a provider
 * did not put into errno.
 */
RDMAEZ_IMPL bool rdmaez_impl_is_judged(int error)
{
	return error == EINVAL || error == ENOMEM || error == E2BIG || error == EIO;
}

/*
 * Numbers against the device's limits. A limit of 0 says nothing. Too much is certain where the driver compares;
 * not every driver minds a zero.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_limits(struct rdmaez_diag *diag,
						 const struct rdmaez_impl_limit *limits,
						 size_t count, const void *asked,
						 const struct ibv_device_attr *device)
{
	struct rdmaez_impl_site site = {NULL, RDMAEZ_WHY_CAP_LIMIT, RDMAEZ_VALUE_NUMBER, 0, 0};
	enum rdmaez_severity sure;
	bool is_negative, is_much;
	uint32_t given;
	int most;

	for (size_t i = 0; i < count && rdmaez_impl_is_judged(diag->error); i++) {
		memcpy(&given, (const char *)asked + limits[i].given, sizeof(given));
		memcpy(&most, (const char *)device + limits[i].most, sizeof(most));
		is_negative = limits[i].is_int && given > INT32_MAX;
		is_much = most > 0 && given > (uint32_t)most;
		if (!is_much && !is_negative && given >= limits[i].least)
			continue;
		sure = is_much ? rdmaez_impl_limit_sure(diag, device, limits[i].compared)
			       : RDMAEZ_DIAG_LIKELY;
		site.field = limits[i].field;
		site.why = is_much && !is_negative ? RDMAEZ_WHY_CAP_LIMIT : RDMAEZ_WHY_RANGE;
		rdmaez_impl_find_within(diag, sure, &site,
					is_negative ? (uint64_t)(int64_t)(int32_t)given : given,
					limits[i].least, (uint64_t)(most > 0 ? most : INT32_MAX));
	}
}

/* What the device says of itself. Where it does not answer it sets no limit and lacks nothing. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_ask(struct ibv_context *context,
					     struct ibv_device_attr *device)
{
	if (!ibv_query_device(context, device))
		return;
	memset(device, 0, sizeof(*device));
	device->device_cap_flags = IBV_DEVICE_XRC;
}

/* EINVAL of rxe: perhaps it has no more such objects, for which others say ENOMEM. `__rxe_add_to_pool()` */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_count(struct rdmaez_diag *diag,
						const struct ibv_device_attr *device,
						const char *limit, int count)
{
	if (diag->error == EINVAL && count > 0 &&
	    strcmp(rdmaez_driver_of(device)->name, "rdma_rxe") == 0)
		rdmaez_impl_suspect_count(diag, limit, count);
}

/* A part of another context: rarely meant, though the kernel only sees a number it may not know. */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_context(struct rdmaez_diag *diag, const char *field,
						  const struct ibv_context *part,
						  const struct ibv_context *context)
{
	if (part != context)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, field);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
