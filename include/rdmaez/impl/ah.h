/* SPDX-License-Identifier: MIT */
/* Bodies of ah.h. */
#ifndef RDMAEZ_IMPL_AH_H
#define RDMAEZ_IMPL_AH_H

#ifndef RDMAEZ_AH_H
#include "../ah.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_EXPLAIN_H
#include "explain.h"
#endif
#ifndef RDMAEZ_IMPL_PORT_H
#include "port.h"
#endif
#ifndef RDMAEZ_IMPL_QP_QUERY_H
#include "qp_query.h"
#endif
#ifndef RDMAEZ_IMPL_REACH_H
#include "reach.h"
#endif

RDMAEZ_IMPL_BEGIN

/* What the GID of this end is refused for, whichever way leads to the peer. */
RDMAEZ_IMPL_COLD void rdmaez_impl_ah_explain_gid(const struct rdmaez_impl_reach *r,
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

/* After a refusal: what the GID, the way to the peer and the errno say about it. */
RDMAEZ_IMPL_COLD int rdmaez_impl_ah_explain(struct ibv_context *context,
					    const struct ibv_ah_attr *attr,
					    const struct ibv_port_attr *port, int error,
					    struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site unknown = {"ah_attr.grh.dgid", RDMAEZ_WHY_AH_UNKNOWN,
							RDMAEZ_VALUE_NONE, 0, 0};
	struct ibv_gid_entry own;
	const struct rdmaez_impl_reach r = {context, port, attr, &own, diag, false};
	const struct rdmaez_driver *driver;
	struct ibv_device_attr device;

	if (!diag)
		return error;
	diag->error = error;
	diag->verb = "ibv_create_ah";
	(void)rdmaez_impl_ask_device(context, &device, &driver, diag);
	if (attr->is_global &&
	    !rdmaez_impl_port_gid(context, attr->port_num, attr->grh.sgid_index, &own, NULL)) {
		rdmaez_impl_reach_note(&r);
		if (error == EINVAL || error == ENODATA)
			rdmaez_impl_ah_explain_gid(&r, driver);
		if (port->link_layer == IBV_LINK_LAYER_ETHERNET &&
		    rdmaez_impl_reach_meaning(error) != RDMAEZ_WHY_NONE)
			rdmaez_impl_reach_way(&r, RDMAEZ_DIAG_LIKELY, error);
	}
	/* efa_com_create_ah() passes on what the device says. */
	if (error == EINVAL && driver->traits & RDMAEZ_DRIVER_EFA && !diag->count)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &unknown, 0);
	if (!diag->count)
		rdmaez_impl_explain_errno(diag, "ibv_create_ah", error);
	return error;
}

/* rdmaez_ah_create() on a port that has been asked, without its reset of the record. */
RDMAEZ_IMPL_ONCE int rdmaez_impl_ah_create(struct ibv_pd *pd, const struct rdmaez_path *path,
					   int port_num, const struct ibv_port_attr *port,
					   struct ibv_ah **ah, struct rdmaez_diag *diag)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *made;
	int error, sgid_index;

	memset(&attr, 0, sizeof(attr));
	error = rdmaez_impl_port_gid_index(pd->context, port_num, port, path, &sgid_index, diag);
	if (!error)
		error = rdmaez_impl_path_ah_attr(path, sgid_index, port_num, port, &attr, diag);
	if (error)
		return error;
	errno = 0;
	made = ibv_create_ah(pd, &attr);
	if (!made)
		return rdmaez_impl_ah_explain(pd->context, &attr, port, rdmaez_impl_error_of_null(),
					      diag);
	*ah = made;
	return 0;
}

RDMAEZ_API int rdmaez_ah_create(struct ibv_pd *pd, const struct rdmaez_path *path, int port_num,
				struct ibv_ah **ah, struct rdmaez_diag *diag)
{
	const char *const missing = !pd ? "pd" : !path ? "path" : ah ? NULL : "ah";
	int error =
		rdmaez_impl_begin(diag, "rdmaez_ah_create", NULL, pd ? pd->context : NULL, missing);
	struct ibv_port_attr port;

	if (!error)
		error = rdmaez_impl_port_query(pd->context, port_num, &port, diag);
	return error ? error : rdmaez_impl_ah_create(pd, path, port_num, &port, ah, diag);
}

RDMAEZ_IMPL_END

#ifndef RDMAEZ_IMPL_AH_WC_H
#include "ah_wc.h"
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
