/* SPDX-License-Identifier: MIT */
/* Why the kernel did not find a peer's Ethernet address. */
#ifndef RDMAEZ_IMPL_REACH_H
#define RDMAEZ_IMPL_REACH_H

#ifndef RDMAEZ_PORT_H
#include "../port.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include "gid.h"
#include "port.h"
#include "route.h"

RDMAEZ_IMPL_BEGIN

/*
 * Whether no route at all leads to the address in a GID. The kernel looks it up on the GID's interface, and
 * takes an IPv4 address without a route for one on that interface's own segment, where nobody answers for it
 * (ip_route_output_key_hash_rcu()).
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_route_is_missing(const union ibv_gid *peer)
{
	struct rdmaez_impl_route route;

	if (rdmaez_gid_class(peer) == RDMAEZ_GID_CLASS_LINK_LOCAL)
		return false; /* needs an interface, not a route */
	rdmaez_impl_route_ask(peer, NULL, &route);
	return route.error == ENETUNREACH || route.error == EHOSTUNREACH;
}

/* What an errno of resolving a peer's Ethernet address means; RDMAEZ_WHY_NONE: nothing in particular. */
RDMAEZ_IMPL_COLD enum rdmaez_why rdmaez_impl_route_meaning(const union ibv_gid *peer, int error)
{
	switch (error) {
	case ETIMEDOUT:
		return rdmaez_impl_route_is_missing(peer) ? RDMAEZ_WHY_NO_ROUTE
							  : RDMAEZ_WHY_NEIGHBOUR;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENETDOWN:
		return RDMAEZ_WHY_NO_ROUTE;
	case ENODEV:
		return RDMAEZ_WHY_GID_NO_NETDEV;
	case EADDRNOTAVAIL:
		return RDMAEZ_WHY_NO_IPV6;
	default:
		return RDMAEZ_WHY_NONE;
	}
}

/* Another GID of the port and of the same type that has more in common with the peer's address. */
RDMAEZ_IMPL_COLD void rdmaez_impl_route_nearer(struct ibv_context *context,
					       const struct ibv_ah_attr *ah,
					       const struct ibv_gid_entry *own,
					       struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site site = {
		"ah_attr.grh.sgid_index", RDMAEZ_WHY_GID_NEARER, RDMAEZ_VALUE_INDEX, 0, 0};
	struct rdmaez_impl_port_gids gids;
	struct ibv_gid_entry entry;
	int most = rdmaez_impl_gid_common(&own->gid, &ah->grh.dgid), nearest = -1;

	rdmaez_impl_port_gids_begin(&gids, context, ah->port_num, RDMAEZ_PATH_GIDS);
	while (gids.known > 0 && !rdmaez_impl_port_gids_next(&gids, &entry, NULL)) {
		const int common = rdmaez_impl_gid_common(&entry.gid, &ah->grh.dgid);

		if (entry.gid_type == own->gid_type && entry.ndev_ifindex && common > most) {
			most = common;
			nearest = (int)entry.gid_index;
		}
	}
	if (nearest >= 0)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &site, (uint64_t)nearest);
}

/* Says what an errno of the way to the peer means, by the GID in use; whether it is one. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_route_explain(struct ibv_context *context,
						const struct ibv_ah_attr *ah,
						const struct ibv_gid_entry *own, int error,
						struct rdmaez_diag *diag)
{
	struct rdmaez_impl_site site = {"ah_attr.grh.dgid", RDMAEZ_WHY_NONE, RDMAEZ_VALUE_INDEX, 0,
					0};

	if (!ah->is_global)
		return false;
	site.why = rdmaez_impl_route_meaning(&ah->grh.dgid, error);
	if (site.why == RDMAEZ_WHY_NONE)
		return false;
	if (site.why == RDMAEZ_WHY_GID_NO_NETDEV)
		site.field = "ah_attr.grh.sgid_index";
	rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &site, ah->grh.sgid_index);
	if (site.why == RDMAEZ_WHY_NO_ROUTE || site.why == RDMAEZ_WHY_NEIGHBOUR)
		rdmaez_impl_route_nearer(context, ah, own, diag);
	return true;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
