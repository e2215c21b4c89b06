/* SPDX-License-Identifier: MIT */
/* What ibv_query_qp() is asked for, and how much of its answer counts. */
#ifndef RDMAEZ_IMPL_QP_QUERY_H
#define RDMAEZ_IMPL_QP_QUERY_H

#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include "linux.h"

RDMAEZ_IMPL_BEGIN

/* Stands for sq_draining, an answer without a bit of its own. */
#define RDMAEZ_IMPL_QP_SQ_DRAINING IBV_QP_EN_SQD_ASYNC_NOTIFY

/*
 * The attributes that a driver fills in. ib_uverbs_query_qp() does not clear what the driver leaves alone, so
 * there is no telling from the answer. Read in Linux 6.1, 6.12 and 7.2: the function that ends in _query_qp
 * of each driver. A driver that is not listed fills in all of them.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_qp_filled(const struct rdmaez_driver *driver,
					   enum ibv_transport_type transport)
{
	static const struct {
		const char *driver;
		int before; /* counts for releases before this one; 0: for all */
		int filled, left_alone;
	} rows[] = {
		{"siw", 612, IBV_QP_CAP, 0},
		{"erdma", 0, IBV_QP_STATE | IBV_QP_CAP, 0},
		{"usnic_verbs", 0, IBV_QP_STATE, 0},
		{"efa", 0,
		 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_CAP | IBV_QP_RNR_RETRY, 0},
		{"bnxt_re", 612, ~0, IBV_QP_PORT},
		{"bnxt_re", 0, ~0, RDMAEZ_IMPL_QP_SQ_DRAINING},
		{"ionic_rdma", 0, ~0, IBV_QP_PORT | IBV_QP_PKEY_INDEX},
		/* Its P_Key index is the P_Key itself. */
		{"irdma", 0, ~0,
		 IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER | IBV_QP_PKEY_INDEX},
		/* Its GID index is the hardware's. */
		{"mlx4_ib", 0, ~0, IBV_QP_AV},
		{"ocrdma", 0, ~0, IBV_QP_MIN_RNR_TIMER},
	};
	/* cxgb4, irdma, qedr and siw know none of InfiniBand's attributes where they speak iWARP. */
	int filled = transport == IBV_TRANSPORT_IWARP ? IBV_QP_STATE | IBV_QP_CAP : ~0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(driver->name, rows[i].driver) == 0 &&
		    (!rows[i].before || rdmaez_impl_linux_version() < rows[i].before))
			filled &= rows[i].filled & ~rows[i].left_alone;
	return filled;
}

/* A queue pair as its driver describes it. */
struct rdmaez_impl_qp_now {
	int known; /* IBV_QP_ bits of what `attr` holds; 0: there was no answer */
	int error; /* why not, a positive errno value */
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
};

/*
 * Asks for what is `wanted` and filled in, and for less where that is refused: efa_query_qp() takes the second
 * of these masks, mlx5_ib_dct_query_qp() the third. libibverbs refreshes qp->state where the state is asked for,
 * so it is not asked for where the driver has nothing to say.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_ask_now(struct ibv_qp *qp, const struct rdmaez_driver *driver,
					     int wanted, struct rdmaez_impl_qp_now *now)
{
	static const int takes[] = {
		~0, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_RNR_RETRY,
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_MIN_RNR_TIMER,
		IBV_QP_STATE};
	const int filled =
		wanted & rdmaez_impl_qp_filled(driver, qp->context->device->transport_type);
	const enum ibv_qp_state before = qp->state;
	int error = EOPNOTSUPP, asked = 0;

	memset(now, 0, sizeof(*now));
	for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]) && error; i++) {
		const int mask = filled & takes[i];

		if (!mask || mask == asked)
			continue;
		asked = mask;
		error = rdmaez_impl_error(ibv_query_qp(qp, &now->attr, mask, &now->init));
		if (!error)
			now->known = mask;
		else if (!now->error)
			now->error = error;
	}
	if ((unsigned int)now->attr.qp_state > IBV_QPS_ERR) {
		now->known &= ~IBV_QP_STATE; /* a driver that is not known to leave it alone */
		qp->state = before;
	}
	/* In RESET there is no more; pvrdma_query_qp() leaves even the capacities alone. */
	if (now->attr.qp_state == IBV_QPS_RESET)
		now->known &= strcmp(driver->name, "vmw_pvrdma") == 0 ? IBV_QP_STATE
								      : IBV_QP_STATE | IBV_QP_CAP;
}

/* The port that a queue pair uses; 0 where it could be any of several. Bonded mlx4 has one, and tells of another. */
RDMAEZ_IMPL_COLD uint8_t rdmaez_impl_qp_now_port(const struct rdmaez_impl_qp_now *now,
						 const struct ibv_device_attr *device)
{
	const uint8_t ports = device->phys_port_cnt ? device->phys_port_cnt : UINT8_MAX;

	if ((now->known & IBV_QP_PORT) && now->attr.port_num && now->attr.port_num <= ports)
		return now->attr.port_num;
	return ports == 1;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
