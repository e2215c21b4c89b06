/* SPDX-License-Identifier: MIT */
/* Implements path.h. */
#ifndef RDMAEZ_IMPL_PATH_H
#define RDMAEZ_IMPL_PATH_H

#ifndef RDMAEZ_PATH_H
#include "../path.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_FOLD bool rdmaez_path_needs_grh(const struct ibv_port_attr *port)
{
	return port->link_layer == IBV_LINK_LAYER_ETHERNET ||
	       (port->flags & IBV_QPF_GRH_REQUIRED) != 0;
}

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_FIELD_H
#include "field.h"
#endif
#ifndef RDMAEZ_IMPL_GID_H
#include "gid.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

/* clang-format off */

/*
 * These are the fields of an address vector, once. X(with a GRH only, field, option, how it is
 * read, default, least, greatest, rule, unit, source)
 */
#define RDMAEZ_IMPL_PATH_FIELDS(X) \
	X(0, sl, sl, RDMAEZ_IMPL_AS_SIGNED, 0, 0, 15, RDMAEZ_IMPL_FIELD_PLAIN, \
	  "service level", "IBTA: LRH, 4 bits") \
	X(0, src_path_bits, src_path_bits, RDMAEZ_IMPL_AS_SIGNED, 0, 0, 127, RDMAEZ_IMPL_FIELD_PLAIN, \
	  "low bits of the source LID", "IBTA: LMC, at most 7") \
	X(1, grh.sgid_index, sgid_index, RDMAEZ_IMPL_AS_INT, 0, 0, 255, RDMAEZ_IMPL_FIELD_GID, \
	  "GID index", "verbs.h: 8 bits") \
	X(1, grh.hop_limit, hop_limit, RDMAEZ_IMPL_AS_INT, 64, 1, 255, RDMAEZ_IMPL_FIELD_PLAIN, \
	  "hops", "IBTA: GRH, 8 bits") \
	X(1, grh.flow_label, flow_label, RDMAEZ_IMPL_AS_UINT, 0, 0, 0xfffff, RDMAEZ_IMPL_FIELD_PLAIN, \
	  "flow label", "IBTA: GRH, 20 bits") \
	X(1, grh.traffic_class, traffic_class, RDMAEZ_IMPL_AS_INT, 0, 0, 255, RDMAEZ_IMPL_FIELD_PLAIN, \
	  "traffic class", "IBTA: GRH, 8 bits; on RoCE v2 DSCP and ECN") \
	X(0, dlid, dlid, RDMAEZ_IMPL_AS_SIGNED, 0, 0, 65535, RDMAEZ_IMPL_FIELD_PLAIN, \
	  "LID", "IBTA: LRH, 16 bits") \
	X(0, static_rate, static_rate, RDMAEZ_IMPL_AS_SIGNED, 0, 0, 255, RDMAEZ_IMPL_FIELD_PLAIN, \
	  "enum ibv_rate", "verbs.h: 8 bits")

#define RDMAEZ_IMPL_PATH_ROW(when, field, option, how, otherwise, min, max, rule, unit, source) \
	{when, otherwise, max, offsetof(struct rdmaez_path, option), \
	 offsetof(struct ibv_ah_attr, field), min, sizeof(((struct ibv_ah_attr *)0)->field), how, rule},

/* clang-format on */

/* Returns the rows, and how many there are. */
RDMAEZ_IMPL const struct rdmaez_impl_field *rdmaez_impl_path_fields(size_t *count)
{
	static const struct rdmaez_impl_field fields[] = {
		RDMAEZ_IMPL_PATH_FIELDS(RDMAEZ_IMPL_PATH_ROW)};

	*count = sizeof(fields) / sizeof(fields[0]);
	return fields;
}

/* This is a path on its way to an address vector. */
struct rdmaez_impl_path_build {
	const struct rdmaez_path *path;
	const struct ibv_port_attr *port; /* NULL: not known */
	int port_num;
	int sgid_index; /* the option's value, or what was chosen */
	bool is_alt;    /* it is the alternate path of a queue pair */
	bool own_end;   /* it needs no destination: mlx5's DC types take it for their own end */
};

/* Returns whether there is a GRH. Without a port to ask, a GID is the sign that one is meant. */
RDMAEZ_IMPL bool rdmaez_impl_path_has_grh(const struct rdmaez_impl_path_build *b)
{
	if (b->path->flags & RDMAEZ_PATH_GRH)
		return true;
	if (b->port && rdmaez_path_needs_grh(b->port))
		return true;
	/*
	 * efa has no LIDs, and its link layer is unspecified. efa_create_ah() reads the GID, which
	 * uverbs takes from a GRH.
	 */
	if (b->port && (b->path->dlid || b->port->link_layer != IBV_LINK_LAYER_UNSPECIFIED))
		return false;
	return !rdmaez_gid_is_zero(&b->path->dgid) || (!b->port && b->own_end && b->sgid_index);
}

/*
 * Returns whether a path can be right as a whole: it has known flags, a possible port, and a
 * destination if one is needed.
 */
RDMAEZ_IMPL bool rdmaez_impl_path_can_be(const struct rdmaez_impl_path_build *b, bool grh)
{
	if ((b->path->flags & ~(unsigned int)RDMAEZ_PATH_GRH) || b->port_num < 1 ||
	    b->port_num > 255)
		return false;
	if (b->own_end)
		return true;
	return grh ? !rdmaez_gid_is_zero(&b->path->dgid) : !b->port || b->path->dlid;
}

/*
 * Returns the option of a row. The GID index is the one that was chosen, within the port's table.
 * If that has no entries, no index is accepted.
 */
RDMAEZ_FOLD struct rdmaez_impl_value rdmaez_impl_path_value(const struct rdmaez_impl_path_build *b,
							    const struct rdmaez_impl_field *f)
{
	const bool gid = f->rule == RDMAEZ_IMPL_FIELD_GID;
	const int length = gid && b->port ? b->port->gid_tbl_len : RDMAEZ_PATH_GIDS;
	struct rdmaez_impl_value v = rdmaez_impl_field_of(
		f, gid ? (uint32_t)b->sgid_index : rdmaez_impl_field_given(f, b->path));

	if (length < RDMAEZ_PATH_GIDS) {
		v.min = length < 1;
		v.max = length < 1 ? 0 : (uint32_t)length - 1;
	}
	return v;
}

/*
 * Fills an address vector, which is zeroed, and notes its ends. Returns 0 or EINVAL, which
 * rdmaez_impl_path_explain() explains.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_path_fill(const struct rdmaez_impl_path_build *b,
					   struct ibv_ah_attr *ah, struct rdmaez_diag *diag)
{
	const bool grh = rdmaez_impl_path_has_grh(b);
	int bad = !rdmaez_impl_path_can_be(b, grh);
	size_t count;
	const struct rdmaez_impl_field *f = rdmaez_impl_path_fields(&count);

	/* Most are 0, which they are already. */
	for (; count--; f++)
		if ((rdmaez_impl_field_given(f, b->path) | f->otherwise | f->rule) &&
		    (!f->bit || grh))
			bad |= rdmaez_impl_field_put(f, rdmaez_impl_path_value(b, f), ah);
	if (grh) {
		ah->is_global = 1;
		ah->grh.dgid = b->path->dgid;
	}
	ah->port_num = (uint8_t)b->port_num;
	if (!bad && diag && !b->is_alt) {
		diag->source.gid_index = ah->grh.sgid_index;
		diag->destination = ah->grh.dgid;
	}
	return bad ? EINVAL : 0;
}

/*
 * Does the same for the one path of an address handle or a queue pair. `sgid_index` is as in a
 * path.
 */
RDMAEZ_IMPL int rdmaez_impl_path_ah_attr(const struct rdmaez_path *path, int sgid_index,
					 int port_num, const struct ibv_port_attr *port,
					 struct ibv_ah_attr *ah, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_path_build build;
	struct ibv_ah_attr filled;
	int error;

	build.path = path;
	build.port = port;
	build.port_num = port_num;
	build.sgid_index = sgid_index;
	build.is_alt = false;
	build.own_end = false;
	memset(&filled, 0, sizeof(filled));
	error = rdmaez_impl_path_fill(&build, &filled, diag);
	if (error) {
		rdmaez_impl_failed(diag, error, NULL);
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_path_explain, (&build, diag));
	} else {
		*ah = filled;
	}
	return error;
}

RDMAEZ_API int rdmaez_path_ah_attr(const struct rdmaez_path *path, int port,
				   const struct ibv_port_attr *port_attr, struct ibv_ah_attr *ah,
				   struct rdmaez_diag *diag)
{
	rdmaez_impl_diag_reset(diag, "rdmaez_path_ah_attr");
	if (!path || !ah)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  path ? "ah" : "path");
	if (!path->dlid && rdmaez_gid_is_zero(&path->dgid))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_PATH_EMPTY, "ah_attr.grh.dgid");
	return rdmaez_impl_path_ah_attr(path, path->sgid_index, port, port_attr, ah, diag);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
