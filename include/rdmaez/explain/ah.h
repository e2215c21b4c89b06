/* SPDX-License-Identifier: MIT */
/* Explains why no address handle was created. */
#ifndef RDMAEZ_EXPLAIN_AH_H
#define RDMAEZ_EXPLAIN_AH_H

#include "path.h"
#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/* Says what the GID of this end is refused for, whichever way leads to the peer. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_ah_explain_gid(const struct rdmaez_impl_reach *r,
						  const struct rdmaez_driver *driver)
{
	enum rdmaez_why why = rdmaez_impl_reach_objection(r->own, &r->ah->grh.dgid);

	if (why == RDMAEZ_WHY_GID_ROCE_V1 && driver->traits & RDMAEZ_DRIVER_ROCE_V2)
		why = RDMAEZ_WHY_GID_TYPE_REFUSED;
	if (why != RDMAEZ_WHY_GID_EMPTY && why != RDMAEZ_WHY_GID_FAMILY &&
	    why != RDMAEZ_WHY_GID_TYPE_REFUSED)
		return;
	rdmaez_impl_reach_find(r, RDMAEZ_DIAG_ERROR, why, r->ah->grh.sgid_index);
	rdmaez_impl_reach_instead(r);
}

/* Explains a refusal by the GID, the way to the peer and the errno value. */
RDMAEZ_SEAM void rdmaez_impl_ah_explain(struct ibv_context *context, const struct ibv_ah_attr *attr,
					const struct ibv_port_attr *port, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site unknown = {"ah_attr.grh.dgid", RDMAEZ_WHY_AH_UNKNOWN,
							RDMAEZ_VALUE_NONE, 0, 0};
	struct ibv_gid_entry own;
	const struct rdmaez_impl_reach r = {context, port, attr, &own, diag, false};
	const struct rdmaez_driver *driver;
	struct ibv_device_attr device;
	const int error = diag->error;

	(void)rdmaez_impl_ask_device(context, &device, &driver, diag);
	if (attr->is_global &&
	    !rdmaez_impl_port_gid(context, attr->port_num, attr->grh.sgid_index, &own, NULL)) {
		rdmaez_impl_reach_note(&r);
		if (error == EINVAL || error == ENODATA)
			rdmaez_impl_ah_explain_gid(&r, driver);
		if (port->link_layer == IBV_LINK_LAYER_ETHERNET &&
		    rdmaez_impl_reach_meaning(error) != RDMAEZ_WHY_NONE)
			rdmaez_impl_reach_way(&r, RDMAEZ_DIAG_LIKELY, error);
		/*
		 * The cause of EINVAL may be no value but the device: the route leaves by another
		 * one.
		 */
		else if (error == EINVAL && !diag->count &&
			 port->link_layer == IBV_LINK_LAYER_ETHERNET &&
			 rdmaez_impl_gid_is_resolved(&own, &attr->grh.dgid))
			rdmaez_impl_reach_way(&r, RDMAEZ_DIAG_LIKELY, 0);
	}
	/* efa_com_create_ah() passes on what the device says. */
	if (error == EINVAL && driver->traits & RDMAEZ_DRIVER_EFA && !diag->count)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &unknown, 0);
	if (!diag->count)
		rdmaez_impl_explain_errno(diag);
}

RDMAEZ_IMPL_END

#endif
