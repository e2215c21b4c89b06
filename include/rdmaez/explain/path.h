/* SPDX-License-Identifier: MIT */
/*
 * Explains whether packets reach the peer, by GIDs, routes, neighbours and counters, and which
 * option of a path is wrong.
 */
#ifndef RDMAEZ_EXPLAIN_PATH_H
#define RDMAEZ_EXPLAIN_PATH_H

#include <net/if.h>
#include <stdio.h>

#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/* Finds a number that is too large, and would not be with its bytes in the other order. */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect_order(struct rdmaez_diag *diag, const char *name,
						uint32_t value, uint32_t max)
{
	const uint32_t swapped =
		value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24;
	struct rdmaez_impl_site site;

	site.field = name;
	site.why = RDMAEZ_WHY_QPN_SWAPPED;
	site.kind = RDMAEZ_VALUE_HEX;
	if (value > max && swapped <= max && swapped > 1) /* no peer has 0 or 1 */
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &site, value, swapped, swapped);
}

/* Says that an option was refused, if it was. */
RDMAEZ_IMPL_COLD void rdmaez_impl_field_explain(struct rdmaez_diag *diag,
						const struct rdmaez_impl_field *field,
						const char *name,
						const struct rdmaez_impl_value *given)
{
	struct rdmaez_impl_value v = *given;
	const bool is_signed = (field->option & RDMAEZ_IMPL_AS_SIGNED) != 0;
	struct rdmaez_impl_site site;

	if (!rdmaez_impl_field_refused(v))
		return;
	site.field = name;
	site.why = RDMAEZ_WHY_RANGE;
	site.kind = !is_signed && v.max > UINT16_MAX ? RDMAEZ_VALUE_HEX : RDMAEZ_VALUE_NUMBER;
	switch (field->rule) {
	case RDMAEZ_IMPL_FIELD_ENUM:
		site.why = RDMAEZ_WHY_ENUM;
		break;
	case RDMAEZ_IMPL_FIELD_GID:
		site.why = RDMAEZ_WHY_GID_INDEX;
		v.max -= v.min; /* without entries the last index is -1 */
		v.min = 0;
		break;
	case RDMAEZ_IMPL_FIELD_PORT:
		site.why = RDMAEZ_WHY_PORT;
		break;
	case RDMAEZ_IMPL_FIELD_ACCESS:
		site.why = RDMAEZ_WHY_ACCESS_BITS;
		site.kind = RDMAEZ_VALUE_ACCESS;
		v.value &= ~v.max;
		v.min = 0;
		break;
	case RDMAEZ_IMPL_FIELD_MTU:
		site.why = (int32_t)v.value >= 256 ? RDMAEZ_WHY_MTU_IN_BYTES : RDMAEZ_WHY_ENUM;
		site.kind = RDMAEZ_VALUE_MTU;
		break;
	case RDMAEZ_IMPL_FIELD_ACK:
	case RDMAEZ_IMPL_FIELD_RNR:
		if (v.min <= v.max)
			break;
		site.why = RDMAEZ_WHY_OPTION_TWICE;
		v.value = v.given;
		v.min = v.max = 0;
		break;
	default:
		break;
	}
	rdmaez_impl_refuse_within(diag, EINVAL, &site,
				  is_signed ? (int64_t)(int32_t)v.value : (int64_t)v.value,
				  (int32_t)v.min, is_signed ? (int64_t)(int32_t)v.max : v.max);
	if (field->rule == RDMAEZ_IMPL_FIELD_PEER)
		rdmaez_impl_suspect_order(diag, name, v.value, v.max);
}

/* Says what is wrong with a path: as a whole, then value by value. */
RDMAEZ_SEAM void rdmaez_impl_path_explain(const struct rdmaez_impl_path_build *build,
					  struct rdmaez_diag *diag)
{
	/*
	 * These are the fields' names: those of the alternate path and, without their first four
	 * letters, those of the primary one.
	 */
#define RDMAEZ_IMPL_PATH_NAME(when, field, option, how, otherwise, min, max, rule, unit, source) \
	"alt_ah_attr." #field,
	static const char *const names[] = {RDMAEZ_IMPL_PATH_FIELDS(RDMAEZ_IMPL_PATH_NAME)};
#undef RDMAEZ_IMPL_PATH_NAME
	const bool grh = rdmaez_impl_path_has_grh(build);
	const int skip = build->is_alt ? 0 : 4;
	const unsigned int unknown = build->path->flags & ~(unsigned int)RDMAEZ_PATH_GRH;
	struct rdmaez_impl_site site = {build->is_alt ? "alt.flags" : "path.flags",
					RDMAEZ_WHY_OPTION_UNKNOWN, RDMAEZ_VALUE_FLAGS, 0,
					RDMAEZ_PATH_GRH};
	size_t count;
	const struct rdmaez_impl_field *const fields = rdmaez_impl_path_fields(&count);

	if (unknown)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &site, unknown);
	if (build->own_end)
		;
	else if (grh && rdmaez_gid_is_zero(&build->path->dgid))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_GRH_MISSING,
				       &"alt_ah_attr.grh.dgid"[skip]);
	else if (!grh && build->port && !build->path->dlid)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_PATH_EMPTY,
				       &"alt_ah_attr.dlid"[skip]);
	site.field = &"alt_ah_attr.port_num"[skip];
	site.why = RDMAEZ_WHY_RANGE;
	site.kind = RDMAEZ_VALUE_NUMBER;
	if (build->port_num < 1 || build->port_num > 255)
		rdmaez_impl_refuse_within(diag, EINVAL, &site, build->port_num, 1, 255);
	for (size_t i = 0; i < count; i++) {
		const struct rdmaez_impl_value v = rdmaez_impl_path_value(build, &fields[i]);

		if (!fields[i].bit || grh)
			rdmaez_impl_field_explain(diag, &fields[i], names[i] + skip, &v);
	}
}

/*
 * Returns whether one address is IPv4 and the other is not. The kernel routes nothing between the
 * families.
 */
RDMAEZ_IMPL bool rdmaez_impl_gid_family_differs(const union ibv_gid *a, const union ibv_gid *b)
{
	return (rdmaez_gid_class(a) == RDMAEZ_GID_CLASS_IPV4) !=
	       (rdmaez_gid_class(b) == RDMAEZ_GID_CLASS_IPV4);
}

/*
 * Returns whether the kernel looks up the peer's Ethernet address, which takes GIDs of one family.
 * It does not for a multicast group, nor for a link-local peer of RoCE v1, whose GID holds the
 * address.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_gid_is_resolved(const struct ibv_gid_entry *own,
						  const union ibv_gid *peer)
{
	const int is = rdmaez_impl_gid_traits(peer);

	return is < 0 || !(is & (own->gid_type == IBV_GID_TYPE_ROCE_V1
					 ? RDMAEZ_IMPL_GID_GROUP | RDMAEZ_IMPL_GID_LINK
					 : RDMAEZ_IMPL_GID_GROUP));
}

/* ---- The port and the P_Key ------------------------------------------------------------------ */

/*
 * Finds a port without a link or, on InfiniBand, one that waits for a subnet manager: IBTA 14.4.5.
 * A state of 0 was not reported.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_reach_port(const struct ibv_port_attr *port,
					     enum rdmaez_severity severity,
					     struct rdmaez_diag *diag)
{
	const bool waits =
		port->state == IBV_PORT_INIT && port->link_layer == IBV_LINK_LAYER_INFINIBAND;
	const struct rdmaez_impl_site site = {
		"port_attr.state", waits ? RDMAEZ_WHY_PORT_NO_SM : RDMAEZ_WHY_PORT_DOWN,
		RDMAEZ_VALUE_PORT_STATE, IBV_PORT_ACTIVE, IBV_PORT_ACTIVE};

	if (port->state > IBV_PORT_NOP && port->state < IBV_PORT_ACTIVE)
		rdmaez_impl_find(diag, severity, &site, (uint64_t)port->state);
}

/*
 * Judges a P_Key as rdmaez_impl_port_pkey() returns it: empty, a limited member's, or not of the
 * default partition.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_reach_pkey(int pkey, enum rdmaez_severity empty,
					     enum rdmaez_severity other, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_site site = {"pkey_index", RDMAEZ_WHY_PKEY_EMPTY, RDMAEZ_VALUE_PKEY, 0,
					0};

	if (pkey & 0x7fff)
		site.why = pkey & 0x8000 ? RDMAEZ_WHY_PKEY_PARTITION : RDMAEZ_WHY_PKEY_LIMITED;
	if (pkey >= 0 && pkey != 0xffff)
		rdmaez_impl_find(diag, pkey & 0x7fff ? other : empty, &site, (uint64_t)pkey);
}

/* ---- What was counted ------------------------------------------------------------------------ */

/* Returns a counter of a port from its file in sysfs, or 0 if it cannot be read. */
RDMAEZ_IMPL_COLD uint64_t rdmaez_impl_reach_counter(const struct ibv_context *context,
						    uint8_t port_num, const char *name)
{
	char text[IBV_SYSFS_PATH_MAX + 64];
	const char *at = text;

	snprintf(text, sizeof(text), "%s/ports/%u/%s", context->device->ibdev_path, port_num, name);
	rdmaez_impl_file_text(text, text, sizeof(text));
	return rdmaez_impl_number(&at, 10);
}

/* A port may have this many counters in sysfs that tell why nothing happens. */
#define RDMAEZ_IMPL_COUNTERS 24

/* A row has a counter, and what it counts. */
struct rdmaez_impl_counter {
	const char *name;
	enum rdmaez_why why;
};

/*
 * Returns a counter. The names are those of Linux 6.1 to 7.2: rxe_hw_counters.c, mlx5/counters.c,
 * bnxt_re/hw_counters.c (which took mlx5's names after 6.12), mlx4/main.c (diag_basic),
 * mana/counters.c, efa/efa_verbs.c, and core/sysfs.c for InfiniBand's own.
 */
RDMAEZ_IMPL_COLD const struct rdmaez_impl_counter *rdmaez_impl_counter_at(int i)
{
	static const struct rdmaez_impl_counter rows[RDMAEZ_IMPL_COUNTERS] = {
		{"hw_counters/rcvd_rnr_err", RDMAEZ_WHY_COUNTED_RNR},      /* rxe */
		{"hw_counters/rnr_nak_retry_err", RDMAEZ_WHY_COUNTED_RNR}, /* mlx5 */
		{"hw_counters/rnr_naks_rcvd", RDMAEZ_WHY_COUNTED_RNR},     /* bnxt_re */
		{"hw_counters/sq_num_rnr", RDMAEZ_WHY_COUNTED_RNR},        /* mlx4 */
		{"hw_counters/requester_rnr_nak", RDMAEZ_WHY_COUNTED_RNR}, /* mana */
		{"hw_counters/send_rnr_err", RDMAEZ_WHY_COUNTED_NO_RECEIVE},
		{"hw_counters/out_of_buffer", RDMAEZ_WHY_COUNTED_NO_RECEIVE},
		{"hw_counters/rx_out_of_buffer", RDMAEZ_WHY_COUNTED_NO_RECEIVE},
		{"hw_counters/rq_num_rnr", RDMAEZ_WHY_COUNTED_NO_RECEIVE},
		{"hw_counters/responder_rnr_nak", RDMAEZ_WHY_COUNTED_NO_RECEIVE},
		{"hw_counters/completer_retry_err", RDMAEZ_WHY_COUNTED_NO_ACK},
		{"hw_counters/local_ack_timeout_err", RDMAEZ_WHY_COUNTED_NO_ACK},
		{"hw_counters/to_retransmits", RDMAEZ_WHY_COUNTED_NO_ACK},
		{"hw_counters/requester_timeout", RDMAEZ_WHY_COUNTED_NO_ACK},
		{"hw_counters/retrans_timeout_events", RDMAEZ_WHY_COUNTED_NO_ACK}, /* efa */
		{"hw_counters/out_of_seq_request", RDMAEZ_WHY_COUNTED_LOSS},
		{"hw_counters/out_of_sequence", RDMAEZ_WHY_COUNTED_LOSS},
		{"hw_counters/oos_drop_count", RDMAEZ_WHY_COUNTED_LOSS},
		{"hw_counters/requester_oos_nak", RDMAEZ_WHY_COUNTED_LOSS},
		{"hw_counters/rx_drops", RDMAEZ_WHY_COUNTED_LOSS},
		{"counters/port_rcv_errors", RDMAEZ_WHY_COUNTED_LOSS},
		{"counters/port_xmit_discards", RDMAEZ_WHY_COUNTED_LOSS},
		{"counters/link_downed", RDMAEZ_WHY_COUNTED_DOWN},
		{"hw_counters/link_downed", RDMAEZ_WHY_COUNTED_DOWN}, /* rxe */
	};

	return &rows[i];
}

/* Finds the first counter of lost packets that is not 0, and says how often the link went down. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_reach_loss(const struct ibv_context *context, uint8_t port_num,
					      struct rdmaez_diag *diag)
{
	struct rdmaez_impl_site site = {"", RDMAEZ_WHY_NONE, RDMAEZ_VALUE_COUNTED, 0, 0};

	for (int i = 0; i < RDMAEZ_IMPL_COUNTERS; i++) {
		const struct rdmaez_impl_counter *const row = rdmaez_impl_counter_at(i);
		uint64_t counted;

		if ((row->why != RDMAEZ_WHY_COUNTED_LOSS && row->why != RDMAEZ_WHY_COUNTED_DOWN) ||
		    site.why == row->why)
			continue;
		counted = rdmaez_impl_reach_counter(context, port_num, row->name);
		if (!counted)
			continue;
		site.field = row->name;
		site.why = row->why;
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &site, counted);
	}
}

/* ---- The GID of this end --------------------------------------------------------------------- */

/* This is an address vector with a GRH, whose port_num is right, and what is known of this end. */
struct rdmaez_impl_reach {
	struct ibv_context *context;
	const struct ibv_port_attr *port;
	const struct ibv_ah_attr *ah;
	const struct ibv_gid_entry *own; /* zero: the table is empty at this index */
	struct rdmaez_diag *diag;
	bool is_up; /* the peer was resolved, and nothing has failed since */
};

/*
 * Returns the objection to a GID for this peer, by the kernel's addr_resolve() and
 * rdma_resolve_ip(). The worst comes first.
 */
RDMAEZ_IMPL enum rdmaez_why rdmaez_impl_reach_objection(const struct ibv_gid_entry *own,
							const union ibv_gid *peer)
{
	if (rdmaez_gid_is_zero(&own->gid))
		return RDMAEZ_WHY_GID_EMPTY;
	if (own->gid_type == IBV_GID_TYPE_IB)
		return RDMAEZ_WHY_NONE;
	if (rdmaez_impl_gid_is_resolved(own, peer) &&
	    rdmaez_impl_gid_family_differs(&own->gid, peer))
		return RDMAEZ_WHY_GID_FAMILY;
	if (!own->ndev_ifindex)
		return RDMAEZ_WHY_GID_NO_NETDEV;
	return own->gid_type == IBV_GID_TYPE_ROCE_V1 ? RDMAEZ_WHY_GID_ROCE_V1 : RDMAEZ_WHY_NONE;
}

/* Notes the two ends in the record, if there is one. */
RDMAEZ_IMPL_COLD void rdmaez_impl_reach_note(const struct rdmaez_impl_reach *r)
{
	if (!r->diag)
		return;
	r->diag->source = *r->own;
	r->diag->source.gid_index = r->ah->grh.sgid_index; /* even if the entry is empty */
	r->diag->destination = r->ah->grh.dgid;
	if_indextoname(r->own->ndev_ifindex, r->diag->netdev); /* it stays empty if there is none */
}

/* Adds a finding about the peer's address, or about a GID index. */
RDMAEZ_IMPL_COLD void rdmaez_impl_reach_find(const struct rdmaez_impl_reach *r,
					     enum rdmaez_severity severity, enum rdmaez_why why,
					     uint32_t index)
{
	const bool is_peer = why == RDMAEZ_WHY_NO_ROUTE || why == RDMAEZ_WHY_ROUTE_ELSEWHERE ||
			     why == RDMAEZ_WHY_NEIGHBOUR || why == RDMAEZ_WHY_NEIGHBOUR_LATE ||
			     why == RDMAEZ_WHY_NO_IPV6;
	const struct rdmaez_impl_site site = {is_peer ? "ah_attr.grh.dgid"
						      : "ah_attr.grh.sgid_index",
					      why, RDMAEZ_VALUE_INDEX, 0, 0};

	rdmaez_impl_find(r->diag, severity, &site, index);
}

/* Suggests another GID of the port in place of this one. */
RDMAEZ_IMPL_COLD void rdmaez_impl_reach_suggest(const struct rdmaez_impl_reach *r,
						enum rdmaez_severity severity, enum rdmaez_why why,
						const struct ibv_gid_entry *other)
{
	const struct rdmaez_impl_site site = {"ah_attr.grh.sgid_index", why, RDMAEZ_VALUE_GID_INDEX,
					      0, 0};

	rdmaez_impl_find(r->diag, severity, &site, other->gid_index);
	if (r->diag)
		r->diag->suggested = *other;
}

/*
 * Finds the GID that would be chosen for this peer, of this type if it is not 0. Returns false if
 * there is none, or if it is not known.
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_reach_choose(const struct rdmaez_impl_reach *r,
					       const union ibv_gid *peer, uint32_t type,
					       struct ibv_gid_entry *chosen)
{
	struct rdmaez_gid_want want;

	memset(&want, 0, sizeof(want));
	want.type = (int)type;
	want.peer = *peer;
	return !rdmaez_impl_port_choose_gid(r->context, r->ah->port_num, r->port, &want, chosen,
					    NULL);
}

/* Returns whether all entries of a port's table are empty. */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_reach_has_none(const struct rdmaez_impl_reach *r)
{
	struct rdmaez_impl_port_gids gids;
	struct ibv_gid_entry other;

	rdmaez_impl_port_gids_begin(&gids, r->context, r->ah->port_num, r->port->gid_tbl_len);
	return rdmaez_impl_port_gids_next(&gids, &other, NULL) == ENODATA;
}

/*
 * Follows the objection to the GID index: it says which index would do, or that no entry has a GID.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_reach_instead(const struct rdmaez_impl_reach *r)
{
	struct ibv_gid_entry other;

	if (!r->diag)
		return;
	if (rdmaez_impl_reach_choose(r, &r->ah->grh.dgid, 0, &other) &&
	    other.gid_index != r->ah->grh.sgid_index) {
		rdmaez_impl_reach_suggest(r, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_GID_SUITS, &other);
		return;
	}
	if (!rdmaez_gid_is_zero(&r->own->gid))
		return;
	if (rdmaez_impl_reach_has_none(r))
		rdmaez_impl_reach_find(r, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_GID_TABLE_EMPTY,
				       r->ah->grh.sgid_index);
}

/* ---- The way to the peer --------------------------------------------------------------------- */

/*
 * Returns what an errno value of resolving a peer's Ethernet address means, or RDMAEZ_WHY_NONE for
 * nothing in particular.
 */
RDMAEZ_IMPL_COLD enum rdmaez_why rdmaez_impl_reach_meaning(int error)
{
	switch (error) {
	case ETIMEDOUT:
		return RDMAEZ_WHY_NEIGHBOUR;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENETDOWN:
	case EACCES: /* an IPv6 route of type prohibit: ip6_rt_type_to_error() */
		return RDMAEZ_WHY_NO_ROUTE;
	case ENODEV:
		return RDMAEZ_WHY_GID_NO_NETDEV;
	case EAFNOSUPPORT: /* off by ipv6.disable=1, or not loaded: eafnosupport_ipv6_dst_lookup_flow() */
	case EADDRNOTAVAIL:
		return RDMAEZ_WHY_NO_IPV6;
	default:
		return RDMAEZ_WHY_NONE;
	}
}

/*
 * Returns 1 if the kernel knows an IPv4 peer's Ethernet address on the GID's interface, 0 while it
 * looks for it, and -1 if that is not known. A line of /proc/net/arp holds address, hardware type,
 * flags (0x0 without an answer) and more, with the interface last. If several interfaces share a
 * subnet, each has neighbours of its own.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_reach_arp(const struct rdmaez_impl_reach *r)
{
	const union ibv_gid *const peer = &r->ah->grh.dgid;
	const uint8_t *const byte = &peer->raw[12];
	char wanted[20], netdev[IF_NAMESIZE] = "";
	const bool is_named = if_indextoname(r->own->ndev_ifindex, netdev) != NULL;
	struct rdmaez_impl_lines lines;
	const char *line;

	if (rdmaez_gid_class(peer) != RDMAEZ_GID_CLASS_IPV4)
		return -1;
	snprintf(wanted, sizeof(wanted), "%u.%u.%u.%u ", byte[0], byte[1], byte[2], byte[3]);
	rdmaez_impl_lines_open(&lines, "/proc/net/arp");
	while ((line = rdmaez_impl_line(&lines))) {
		const char *const name = strrchr(line, ' ');

		if (!strncmp(line, wanted, strlen(wanted)) &&
		    !(is_named && name && strcmp(name + 1, netdev)))
			break;
	}
	rdmaez_impl_lines_close(&lines);
	line = line ? strstr(line, " 0x") : NULL;
	line = line ? strstr(line + 1, " 0x") : NULL;
	return line ? line[3] != '0' : -1;
}

/*
 * Says where the kernel itself would send from to this peer: from another GID of the port, or from
 * another interface.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_reach_source(const struct rdmaez_impl_reach *r,
					       enum rdmaez_severity severity,
					       const struct rdmaez_impl_route *route)
{
	const union ibv_gid *const peer = &r->ah->grh.dgid, *const own = &r->own->gid;
	const int common = rdmaez_impl_gid_common(own, peer);
	struct ibv_gid_entry other;
	bool here;

	if (rdmaez_gid_is_zero(own)) /* it is not known */
		return;
	if (route->error) {
		if (severity != RDMAEZ_DIAG_ADVICE &&
		    rdmaez_impl_reach_choose(r, peer, r->own->gid_type, &other) &&
		    rdmaez_impl_gid_common(&other.gid, peer) > common)
			rdmaez_impl_reach_suggest(r, severity, RDMAEZ_WHY_GID_NEARER, &other);
		return;
	}
	/*
	 * A peer on this host is its own source. Routing rules may well keep to this GID within one
	 * subnet.
	 */
	if (!memcmp(&route->source, own, sizeof(*own)) ||
	    !memcmp(&route->source, peer, sizeof(*own)) ||
	    (severity == RDMAEZ_DIAG_ADVICE &&
	     rdmaez_impl_gid_common(&route->source, peer) <= common) ||
	    !rdmaez_impl_reach_choose(r, peer, r->own->gid_type, &other))
		return;
	here = !memcmp(&route->source, &other.gid, sizeof(*own)) ||
	       (rdmaez_impl_reach_choose(r, peer, 0, &other) &&
		!memcmp(&route->source, &other.gid, sizeof(*own)));
	if (here)
		rdmaez_impl_reach_suggest(r, severity, RDMAEZ_WHY_GID_BY_ROUTE, &other);
	else /* a rule for the GID's address may lead to its interface, and no socket tells that */
		rdmaez_impl_reach_find(r, r->is_up ? RDMAEZ_DIAG_ADVICE : severity,
				       RDMAEZ_WHY_ROUTE_ELSEWHERE, r->ah->grh.sgid_index);
}

/*
 * Says which index has a GID that is not link-local: one of the peer's family, or any if the peer's
 * is link-local, too. A program that was given no index takes 0. There adapters have RoCE v1,
 * before v2 of the same address (add_default_gids() and enum_all_gids_of_dev_cb() of
 * drivers/infiniband/core). In its place this names one of v2, if there is one.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_reach_beyond_link(const struct rdmaez_impl_reach *r,
						    enum rdmaez_severity severity)
{
	const bool local = rdmaez_gid_class(&r->ah->grh.dgid) == RDMAEZ_GID_CLASS_LINK_LOCAL;
	struct ibv_gid_entry other;
	union ibv_gid any;

	if (rdmaez_diag_find(r->diag, RDMAEZ_WHY_GID_ROUTABLE))
		return;
	memset(&any, 0, sizeof(any));
	if ((rdmaez_impl_reach_choose(r, local ? &any : &r->ah->grh.dgid, IBV_GID_TYPE_ROCE_V2,
				      &other) ||
	     rdmaez_impl_reach_choose(r, local ? &any : &r->ah->grh.dgid, r->own->gid_type,
				      &other)) &&
	    rdmaez_gid_class(&other.gid) != RDMAEZ_GID_CLASS_LINK_LOCAL)
		rdmaez_impl_reach_suggest(r, severity, RDMAEZ_WHY_GID_ROUTABLE, &other);
	else if (!local)
		rdmaez_impl_reach_find(r, severity, RDMAEZ_WHY_GID_LINK_LOCAL,
				       r->ah->grh.sgid_index);
}

/*
 * Says which index has a GID of RoCE v2 that leads to the peer as well as this one of v1. It is not
 * link-local unless this one is.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_reach_newer(const struct rdmaez_impl_reach *r,
					      enum rdmaez_severity severity)
{
	const union ibv_gid *const peer = &r->ah->grh.dgid, *const own = &r->own->gid;
	struct ibv_gid_entry other;

	if (rdmaez_gid_class(own) == RDMAEZ_GID_CLASS_LINK_LOCAL)
		rdmaez_impl_reach_beyond_link(r, severity);
	else if (!rdmaez_diag_find(r->diag, RDMAEZ_WHY_GID_BY_ROUTE) &&
		 !rdmaez_diag_find(r->diag, RDMAEZ_WHY_GID_NEARER) &&
		 rdmaez_impl_reach_choose(r, peer, IBV_GID_TYPE_ROCE_V2, &other) &&
		 rdmaez_impl_gid_common(&other.gid, peer) >= rdmaez_impl_gid_common(own, peer))
		rdmaez_impl_reach_suggest(r, severity, RDMAEZ_WHY_GID_SUITS, &other);
}

/*
 * Returns whether this errno value of connecting a socket says that no route leads to its peer. It
 * is EINVAL for a route of type blackhole, and EACCES for one of type prohibit, which the kernel
 * also returns for a broadcast address (fib_props[], ip6_rt_type_to_error()).
 */
RDMAEZ_IMPL_COLD bool rdmaez_impl_reach_is_cut(int error)
{
	return error == ENETUNREACH || error == EHOSTUNREACH || error == EINVAL || error == EACCES;
}

/*
 * Asks which way the kernel's routing leads to the peer. The error is -1 for a link-local peer,
 * which has no route. If no route leads there from any address, a rule may know one from the GID's.
 * That is where the kernel looks from: addr4_resolve(), addr6_resolve(). If this network namespace
 * does not have the GID's address, its routes do not count, and the error is EADDRNOTAVAIL: a
 * container may use a device that all namespaces share.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_reach_route(const struct rdmaez_impl_reach *r,
					       struct rdmaez_impl_route *route)
{
	struct rdmaez_impl_route ruled;
	bool is_cut;

	memset(route, 0, sizeof(*route));
	route->error = -1;
	if (rdmaez_gid_class(&r->ah->grh.dgid) == RDMAEZ_GID_CLASS_LINK_LOCAL)
		return;
	rdmaez_impl_route_ask(&r->ah->grh.dgid, NULL, route);
	is_cut = rdmaez_impl_reach_is_cut(route->error);
	if (route->error && !is_cut)
		return;
	rdmaez_impl_route_ask(&r->ah->grh.dgid, &r->own->gid, &ruled);
	if (ruled.error == EADDRNOTAVAIL || (is_cut && !ruled.error))
		*route = ruled;
}

/*
 * Explains the way to a peer whose Ethernet address the kernel looks up, by its routing, and by the
 * errno value of that look-up, which is 0 if it is over. `severity` is ADVICE if nothing has
 * failed. The kernel looks on the GID's interface. If an IPv4 address has no route, the kernel
 * takes it for one on that interface's segment (ip_route_output_key_hash_rcu()), where nobody
 * answers.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_reach_way(const struct rdmaez_impl_reach *r,
					   enum rdmaez_severity severity, int error)
{
	enum rdmaez_why why = rdmaez_impl_reach_meaning(error);
	struct rdmaez_impl_route route;

	if (why == RDMAEZ_WHY_NO_IPV6 || why == RDMAEZ_WHY_GID_NO_NETDEV) {
		rdmaez_impl_reach_find(r, RDMAEZ_DIAG_LIKELY, why, r->ah->grh.sgid_index);
		rdmaez_impl_reach_instead(r);
		return 0;
	}
	rdmaez_impl_reach_route(r, &route);
	if (rdmaez_gid_class(&r->own->gid) != RDMAEZ_GID_CLASS_LINK_LOCAL)
		rdmaez_impl_reach_source(r, severity, &route);
	else
		rdmaez_impl_reach_beyond_link(r, severity);
	if (rdmaez_impl_reach_is_cut(route.error) && (error || route.error != EACCES))
		why = RDMAEZ_WHY_NO_ROUTE;
	else if (why == RDMAEZ_WHY_NEIGHBOUR && rdmaez_impl_reach_arp(r) > 0)
		why = RDMAEZ_WHY_NEIGHBOUR_LATE;
	else if (why == RDMAEZ_WHY_NONE && severity != RDMAEZ_DIAG_ADVICE &&
		 rdmaez_impl_reach_arp(r) == 0)
		why = RDMAEZ_WHY_NEIGHBOUR;
	if (why != RDMAEZ_WHY_NONE)
		rdmaez_impl_reach_find(r, RDMAEZ_DIAG_LIKELY, why, r->ah->grh.sgid_index);
	return route.error;
}

RDMAEZ_IMPL_END

#endif
