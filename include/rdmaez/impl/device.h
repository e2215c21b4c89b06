/* SPDX-License-Identifier: MIT */
/* Implements device.h. */
#ifndef RDMAEZ_IMPL_DEVICE_H
#define RDMAEZ_IMPL_DEVICE_H

#ifndef RDMAEZ_DEVICE_H
#include "../device.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

/* ---- Opening ------------------------------------------------------------------------------ */

RDMAEZ_IMPL_SMALL bool rdmaez_impl_device_is_active(struct ibv_context *context)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;

	if (ibv_query_device(context, &device))
		return false;
	for (unsigned int i = 1; i <= device.phys_port_cnt; i++)
		if (!ibv_query_port(context, (uint8_t)i, &port) && port.state == IBV_PORT_ACTIVE)
			return true;
	return false;
}

RDMAEZ_COLD int rdmaez_device_open(const char *name, struct ibv_context **context,
				   struct rdmaez_diag *diag)
{
	struct ibv_context *open_one, *chosen = NULL;
	struct ibv_device **list, *refused = NULL;
	bool is_done = false;
	int error = ENODEV;

	rdmaez_impl_diag_reset(diag, "rdmaez_device_open");
	if (!context)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "context");
	errno = 0;
	list = ibv_get_device_list(NULL);
	if (!list)
		error = rdmaez_impl_error_of_null();
	for (struct ibv_device **at = list; at && *at && !is_done; at++) {
		if (name && strcmp((*at)->name, name) != 0)
			continue;
		errno = 0;
		open_one = ibv_open_device(*at);
		is_done = open_one && (name || rdmaez_impl_device_is_active(open_one));
		if (!open_one && !refused) {
			refused = *at;
			error = rdmaez_impl_error_of_null();
		} else if (chosen && open_one) {
			ibv_close_device(is_done ? chosen : open_one);
		}
		if (open_one && (is_done || !chosen))
			chosen = open_one;
	}
	if (chosen) {
		*context = chosen;
	} else {
		rdmaez_impl_failed(diag, error,
				   refused ? "ibv_open_device" : "ibv_get_device_list");
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_device_explain, (diag, list, name, refused));
	}
	if (chosen && diag)
		rdmaez_impl_diag_device(diag, chosen);
	if (list)
		ibv_free_device_list(list);
	/*
	 * This is never 0. Saying so shows the compiler that the output is written if this returns
	 * 0.
	 */
	return chosen ? 0 : error ? error : ENODEV;
}

RDMAEZ_API int rdmaez_device_close(struct ibv_context *context, struct rdmaez_diag *diag)
{
	const int error =
		rdmaez_impl_begin(diag, "rdmaez_device_close", context, context ? NULL : "context");

	return error ? error
		     : rdmaez_impl_end(diag, ibv_close_device(context), "ibv_close_device",
				       "context", RDMAEZ_WHY_BUSY);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
