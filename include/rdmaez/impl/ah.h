/* SPDX-License-Identifier: MIT */
/* Bodies of ah.h. */
#ifndef RDMAEZ_IMPL_AH_H
#define RDMAEZ_IMPL_AH_H

#ifndef RDMAEZ_AH_H
#include "../ah.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <net/if.h>

#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif
#include "explain.h"
#include "port.h"
#include "reach.h"

RDMAEZ_IMPL_BEGIN

/* The GID table's entry against what was asked of it: empty, of a type or family that is of no use. */
RDMAEZ_IMPL_COLD void rdmaez_impl_ah_explain_gid(struct ibv_context *context,
						 const struct ibv_ah_attr *attr,
						 const struct ibv_gid_entry *own,
						 struct rdmaez_diag *diag)
{
	struct rdmaez_impl_site site = {"ah_attr.grh.sgid_index", RDMAEZ_WHY_NONE,
					RDMAEZ_VALUE_INDEX, 0, 0};
	struct ibv_device_attr device;

	memset(&device, 0, sizeof(device));
	if (rdmaez_gid_is_zero(&own->gid))
		site.why = RDMAEZ_WHY_GID_EMPTY;
	else if (own->gid_type != IBV_GID_TYPE_IB &&
		 rdmaez_impl_gid_is_resolved(own, &attr->grh.dgid) &&
		 rdmaez_impl_gid_family_differs(&own->gid, &attr->grh.dgid))
		site.why = RDMAEZ_WHY_GID_FAMILY;
	else if (own->gid_type == IBV_GID_TYPE_ROCE_V1 && !ibv_query_device(context, &device) &&
		 (rdmaez_driver_of(&device)->traits & RDMAEZ_DRIVER_ROCE_V2))
		site.why = RDMAEZ_WHY_GID_TYPE_REFUSED;
	if (site.why != RDMAEZ_WHY_NONE)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &site, attr->grh.sgid_index);
}

/* After a refusal: what the GID, the way to the peer and the errno say about it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_ah_explain(struct ibv_context *context,
					    const struct ibv_ah_attr *attr,
					    const struct ibv_port_attr *port, int error,
					    struct rdmaez_diag *diag)
{
	struct ibv_gid_entry own;

	if (!diag)
		return error;
	diag->error = error;
	diag->verb = "ibv_create_ah";
	if (attr->is_global &&
	    !rdmaez_impl_port_gid(context, attr->port_num, attr->grh.sgid_index, &own, NULL)) {
		diag->source = own;
		diag->destination = attr->grh.dgid;
		if_indextoname(own.ndev_ifindex, diag->netdev);
		if (error == EINVAL || error == ENODATA)
			rdmaez_impl_ah_explain_gid(context, attr, &own, diag);
		if (port->link_layer == IBV_LINK_LAYER_ETHERNET)
			rdmaez_impl_route_explain(context, attr, &own, error, diag);
	}
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

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
