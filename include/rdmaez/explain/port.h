/* SPDX-License-Identifier: MIT */
/* Explains why a port was not queried, why a GID was chosen, and why none was. */
#ifndef RDMAEZ_EXPLAIN_PORT_H
#define RDMAEZ_EXPLAIN_PORT_H

#include <net/if.h>

RDMAEZ_IMPL_BEGIN

/*
 * Explains why a query of a port has failed: because there is no such port, or for a reason of the
 * device's. If the device does not tell how many ports it has, the port is the likely cause of
 * EINVAL.
 */
RDMAEZ_SEAM void rdmaez_impl_port_explain(struct ibv_context *context, int port_num,
					  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site doubt = {"port_num", RDMAEZ_WHY_PORT,
						      RDMAEZ_VALUE_NUMBER, 1, 255};
	const int error = diag->error;
	struct ibv_device_attr device;
	const bool open = error == EINVAL && ibv_query_device(context, &device);

	if (open && (port_num < 1 || port_num > 255)) {
		rdmaez_impl_refuse_at(diag, EINVAL, &doubt, port_num);
		return;
	}
	if (open)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &doubt, (uint64_t)port_num);
	else if (error == EINVAL && (port_num < 1 || port_num > device.phys_port_cnt)) {
		rdmaez_impl_refuse_within(diag, EINVAL, &doubt, port_num, 1, device.phys_port_cnt);
		return;
	}
	rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_QUERY_REFUSED, diag->verb);
}

/*
 * Says why this GID was chosen: by the first rule in which the best and the second differ. `all`
 * tells that every entry has been looked at.
 */
RDMAEZ_SEAM void rdmaez_impl_port_explain_choice(const struct rdmaez_impl_port_choice *choice,
						 bool all, struct rdmaez_diag *diag)
{
	const int rule = choice->value ^ choice->second;

	if_indextoname(choice->best.ndev_ifindex, diag->netdev); /* it may stay empty */
	if (!choice->second && all)
		diag->chosen = RDMAEZ_WHY_GID_ONLY;
	else if (rule >= RDMAEZ_IMPL_CHOICE_ROUTE)
		diag->chosen = RDMAEZ_WHY_GID_BY_ROUTE;
	else if (!choice->second)
		diag->chosen = RDMAEZ_WHY_GID_BY_RANK;
	else if (rule >= RDMAEZ_IMPL_CHOICE_SCOPE)
		diag->chosen = RDMAEZ_WHY_GID_BY_SCOPE;
	else if (rule >= RDMAEZ_IMPL_CHOICE_PREFIX)
		diag->chosen = RDMAEZ_WHY_GID_BY_PREFIX;
	else
		diag->chosen = RDMAEZ_WHY_GID_BY_RANK;
}

/*
 * Says why no entry will do: the objection to each. The record's last place is left to the caller,
 * who says so.
 */
RDMAEZ_SEAM void rdmaez_impl_port_explain_gids(struct ibv_context *context, int port_num,
					       const struct ibv_port_attr *port,
					       const struct rdmaez_gid_want *want,
					       struct rdmaez_diag *diag)
{
	const int entries = rdmaez_impl_port_gid_entries(port);
	struct rdmaez_impl_site site = {"ah_attr.grh.sgid_index", RDMAEZ_WHY_NONE,
					RDMAEZ_VALUE_NUMBER, 0, 0};
	struct rdmaez_impl_port_gids gids;
	struct ibv_gid_entry entry;

	rdmaez_impl_port_gids_begin(&gids, context, port_num, entries);
	while (!rdmaez_impl_port_gids_next(&gids, &entry, NULL)) {
		rdmaez_gid_rank(&entry, want, &site.why);
		if (diag->count < RDMAEZ_DIAG_FINDINGS - 1)
			rdmaez_impl_refuse_within(diag, EINVAL, &site, entry.gid_index, 0,
						  entries - 1);
		else
			diag->dropped++;
	}
}

RDMAEZ_IMPL_END

#endif
