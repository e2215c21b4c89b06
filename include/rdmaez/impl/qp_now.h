/* SPDX-License-Identifier: MIT */
/* Asks a device and a queue pair, and decides how much of the answer counts. */
#ifndef RDMAEZ_IMPL_QP_NOW_H
#define RDMAEZ_IMPL_QP_NOW_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif
#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DRIVER_H
#include "driver.h"
#endif

RDMAEZ_IMPL_BEGIN

/* This stands for sq_draining, an answer without a bit of its own. */
#define RDMAEZ_IMPL_QP_SQ_DRAINING IBV_QP_EN_SQD_ASYNC_NOTIFY

/*
 * Asks a device what it is, and notes its driver in the record. If it does not answer, `device` is
 * all zero, and the errno value is returned.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_ask_device(struct ibv_context *context,
					    struct ibv_device_attr *device,
					    const struct rdmaez_driver **driver,
					    struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_error(ibv_query_device(context, device));

	if (error)
		memset(device, 0, sizeof(*device));
	*driver = rdmaez_driver_of(device);
	if (diag && (*driver)->vendor_id)
		diag->driver = (*driver)->name;
	return error;
}

/* This is a queue pair as its driver describes it. */
struct rdmaez_impl_qp_now {
	int known; /* IBV_QP_ bits of what `attr` holds; 0: there was no answer */
	int error; /* why not, a positive errno value; 0: nothing was asked */
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
};

/*
 * Asks for what is `wanted` and reported, and for less if that is refused: mlx5_ib_dct_query_qp()
 * takes the second of these masks. The iWARP drivers report none of InfiniBand's attributes.
 * libibverbs refreshes qp->state if the state is asked for, so a driver that does not report it is
 * not asked.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_ask_now(struct ibv_qp *qp, const struct rdmaez_driver *driver,
					     int wanted, struct rdmaez_impl_qp_now *now)
{
	static const int takes[] = {
		~0, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_MIN_RNR_TIMER,
		IBV_QP_STATE};
	const bool iwarp = qp->context->device->transport_type == IBV_TRANSPORT_IWARP;
	const enum ibv_qp_state before = qp->state;
	int error = EOPNOTSUPP, asked = 0;

	wanted &= iwarp ? driver->reports & (IBV_QP_STATE | IBV_QP_CAP) : driver->reports;
	memset(now, 0, sizeof(*now));
	for (size_t i = 0;
	     i < sizeof(takes) / sizeof(takes[0]) && (error == EOPNOTSUPP || error == EINVAL);
	     i++) {
		const int mask = wanted & takes[i];

		if (!mask || mask == asked)
			continue;
		asked = mask;
		error = rdmaez_impl_error(ibv_query_qp(qp, &now->attr, mask, &now->init));
	}
	now->known = error ? 0 : asked;
	now->error = asked ? error : 0;
	if ((now->known & IBV_QP_STATE) && (unsigned int)now->attr.qp_state > IBV_QPS_ERR) {
		now->known &= ~IBV_QP_STATE; /* the driver is not listed */
		qp->state = before;
	}
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
