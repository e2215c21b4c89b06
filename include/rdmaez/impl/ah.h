/* SPDX-License-Identifier: MIT */
/* Bodies of ah.h. */
#ifndef RDMAEZ_IMPL_AH_H
#define RDMAEZ_IMPL_AH_H

#include "../ah.h"

#if RDMAEZ_IMPL_BODIES

#include "../driver.h"
#include "explain.h"
#include "port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The row of the GID table against what was asked of it: empty, of a type or family that is no use. */
RDMAEZ_IMPL_COLD void rdmaez_impl_ah_explain_row(struct ibv_context *context,
						 const struct ibv_ah_attr *attr, int rows,
						 struct rdmaez_diag *diag)
{
	const int index = attr->grh.sgid_index;
	enum rdmaez_why reason = RDMAEZ_WHY_NONE;
	struct ibv_device_attr device;
	struct ibv_gid_entry row;

	if (rdmaez_impl_port_gid(context, attr->port_num, index, &row, NULL))
		return;
	memset(&device, 0, sizeof(device));
	if (rdmaez_gid_is_zero(&row.gid))
		reason = RDMAEZ_WHY_GID_EMPTY;
	else if (row.gid_type != IBV_GID_TYPE_IB &&
		 rdmaez_impl_gid_family_differs(&row.gid, &attr->grh.dgid))
		reason = RDMAEZ_WHY_GID_FAMILY;
	else if (row.gid_type == IBV_GID_TYPE_ROCE_V1 && !ibv_query_device(context, &device) &&
		 (rdmaez_driver_of(&device)->traits & RDMAEZ_DRIVER_ROCE_V2))
		reason = RDMAEZ_WHY_GID_TYPE_REFUSED;
	if (reason != RDMAEZ_WHY_NONE)
		rdmaez_impl_diag_add(diag, RDMAEZ_DIAG_ERROR, reason, "ah_attr.grh.sgid_index",
				     RDMAEZ_VALUE_NUMBER, (uint64_t)index, 0, (uint64_t)rows - 1);
}

/* After a refusal: what the row, the way to the peer and the errno say about it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_ah_explain(struct ibv_context *context,
					    const struct ibv_ah_attr *attr,
					    const struct ibv_port_attr *port, int error,
					    struct rdmaez_diag *diag)
{
	const bool ethernet = port->link_layer == IBV_LINK_LAYER_ETHERNET;
	const enum rdmaez_why meaning =
		ethernet ? rdmaez_impl_route_meaning(error) : RDMAEZ_WHY_NONE;

	if (!diag)
		return error;
	diag->error = error;
	if (attr->is_global && (error == EINVAL || error == ENODATA))
		rdmaez_impl_ah_explain_row(context, attr, port->gid_tbl_len, diag);
	if (meaning != RDMAEZ_WHY_NONE)
		rdmaez_impl_suspect(diag, meaning,
				    meaning == RDMAEZ_WHY_GID_NO_NETDEV ? "ah_attr.grh.sgid_index"
									: "ah_attr.grh.dgid",
				    RDMAEZ_VALUE_NONE, 0, 0, 0);
	if (!diag->count)
		rdmaez_impl_explain_errno(diag, "ibv_create_ah", error);
	return error;
}

RDMAEZ_API int rdmaez_ah_create(struct ibv_pd *pd, const struct rdmaez_path *path, int port_num,
				struct ibv_ah **ah, struct rdmaez_diag *diag)
{
	struct ibv_port_attr port;
	struct ibv_ah_attr attr;
	struct ibv_ah *made;
	int sgid_index, error;

	rdmaez_impl_diag_reset(diag, "rdmaez_ah_create");
	if (!pd || !path || !ah)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  !pd     ? "pd"
					  : !path ? "path"
						  : "ah");
	rdmaez_impl_diag_device(diag, pd->context);
	memset(&attr, 0, sizeof(attr));
	error = rdmaez_impl_port_query(pd->context, port_num, &port, diag);
	if (!error)
		error = rdmaez_impl_port_gid_index(pd->context, port_num, &port, path, &sgid_index,
						   diag);
	if (!error)
		error = rdmaez_impl_path_ah_attr(path, sgid_index, port_num, &port, &attr, diag);
	if (error)
		return error;
	errno = 0;
	made = ibv_create_ah(pd, &attr);
	if (!made)
		return rdmaez_impl_ah_explain(pd->context, &attr, &port,
					      rdmaez_impl_error_of_null(), diag);
	*ah = made;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
