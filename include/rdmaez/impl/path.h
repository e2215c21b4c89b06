/* SPDX-License-Identifier: MIT */
/* Bodies of path.h. */
#ifndef RDMAEZ_IMPL_PATH_H
#define RDMAEZ_IMPL_PATH_H

#include "../path.h"

#ifdef __cplusplus
extern "C" {
#endif

RDMAEZ_FOLD bool rdmaez_path_needs_grh(const struct ibv_port_attr *port)
{
	/* Without a branch, so that it is worked out once however often it is asked. */
	return (port->link_layer == IBV_LINK_LAYER_ETHERNET) |
	       ((port->flags & IBV_QPF_GRH_REQUIRED) != 0);
}

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES

#include "diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records a number outside its range; 0 or EINVAL. The comparison is all that is left inline. */
RDMAEZ_FOLD int rdmaez_impl_range(struct rdmaez_diag *diag, const char *field, int64_t value,
				  int64_t min, int64_t max)
{
	if (value >= min && value <= max)
		return 0;
	return rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_RANGE, field, RDMAEZ_VALUE_NUMBER,
					value, min, max);
}

/*
 * Evaluates what refuses a value, and goes on to the next only where somebody reads all findings. For
 * functions that end in `return error` and fill: once `judged` is set they only fill, and every check
 * vanishes.
 */
#define RDMAEZ_IMPL_FIND(refusal)             \
	do {                                  \
		if ((refusal) && !judged) {   \
			error = EINVAL;       \
			if (!diag)            \
				return error; \
		}                             \
	} while (0)

/* A finding names its field in full; a queue pair has two address vectors. */
#define RDMAEZ_IMPL_AH(field) (alternate ? "alt_ah_attr." field : "ah_attr." field)

/* rdmaez_path_ah_attr() with the GID row decided, into zeroed memory and without the reset. */
RDMAEZ_FOLD int rdmaez_impl_path_fill(const struct rdmaez_path *path, bool alternate, bool judged,
				      int sgid_index, int port_num,
				      const struct ibv_port_attr *port, struct ibv_ah_attr *ah,
				      struct rdmaez_diag *diag)
{
	const bool has_dgid = !rdmaez_gid_is_zero(&path->dgid);
	const bool needs_grh = port && rdmaez_path_needs_grh(port);
	const int64_t hop_limit = rdmaez_impl_option(path->hop_limit, 64);
	const int64_t row = rdmaez_impl_option(sgid_index, 0);
	const int64_t traffic_class = rdmaez_impl_option(path->traffic_class, 0);
	const int rows =
		port && port->gid_tbl_len < RDMAEZ_PATH_GIDS ? port->gid_tbl_len : RDMAEZ_PATH_GIDS;
	/* Without a port to ask, a destination GID is the sign that a GRH is meant. */
	const bool grh = needs_grh || (path->flags & RDMAEZ_PATH_GRH) || (has_dgid && !port);
	int error = 0;

	if (path->flags & ~RDMAEZ_PATH_GRH)
		RDMAEZ_IMPL_FIND(rdmaez_impl_refuse_value(
			diag, EINVAL, RDMAEZ_WHY_OPTION_UNKNOWN,
			alternate ? "alt.flags" : "path.flags", RDMAEZ_VALUE_FLAGS,
			path->flags & ~RDMAEZ_PATH_GRH, 0, RDMAEZ_PATH_GRH));
	if (grh && !has_dgid)
		RDMAEZ_IMPL_FIND(rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_GRH_MISSING,
						    RDMAEZ_IMPL_AH("grh.dgid")));
	else if (!grh && port && !path->dlid)
		RDMAEZ_IMPL_FIND(rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_PATH_EMPTY,
						    RDMAEZ_IMPL_AH("dlid")));
	RDMAEZ_IMPL_FIND(rdmaez_impl_range(diag, RDMAEZ_IMPL_AH("port_num"), port_num, 1, 255));
	RDMAEZ_IMPL_FIND(rdmaez_impl_range(diag, RDMAEZ_IMPL_AH("sl"), path->sl, 0, 15));
	RDMAEZ_IMPL_FIND(rdmaez_impl_range(diag, RDMAEZ_IMPL_AH("src_path_bits"),
					   path->src_path_bits, 0, 127));
	if (grh) {
		if (row < 0 || row >= rows)
			RDMAEZ_IMPL_FIND(
				rdmaez_impl_refuse_value(diag, EINVAL, RDMAEZ_WHY_GID_INDEX,
							 RDMAEZ_IMPL_AH("grh.sgid_index"),
							 RDMAEZ_VALUE_NUMBER, row, 0, rows - 1));
		RDMAEZ_IMPL_FIND(rdmaez_impl_range(diag, RDMAEZ_IMPL_AH("grh.hop_limit"), hop_limit,
						   1, 255));
		RDMAEZ_IMPL_FIND(rdmaez_impl_range(diag, RDMAEZ_IMPL_AH("grh.flow_label"),
						   path->flow_label, 0, 0xfffff));
		RDMAEZ_IMPL_FIND(rdmaez_impl_range(diag, RDMAEZ_IMPL_AH("grh.traffic_class"),
						   traffic_class, 0, 255));
		ah->is_global = 1;
		ah->grh.dgid = path->dgid;
		ah->grh.sgid_index = (uint8_t)row;
		ah->grh.hop_limit = (uint8_t)hop_limit;
		ah->grh.flow_label = path->flow_label;
		ah->grh.traffic_class = (uint8_t)traffic_class;
	}
	ah->dlid = path->dlid;
	ah->sl = path->sl;
	ah->src_path_bits = path->src_path_bits;
	ah->static_rate = path->static_rate;
	ah->port_num = (uint8_t)port_num;
	return error;
}

#undef RDMAEZ_IMPL_AH

/**
 * @brief Fills an `ibv_ah_attr`, for ibv_create_ah() or for a queue pair's address vector.
 *
 * @param path the way to the peer
 * @param port_num the port to leave by, 1 to 255
 * @param port what ibv_query_port() said of it, so that the GRH is there exactly where the port
 *        demands it and the GID row lies in the table. NULL: not known; then there is a GRH where
 *        @p path has a dgid
 * @param ah receives the attributes; written on success only
 * @param diag receives all findings; may be NULL
 * @retval 0 @p ah is filled
 * @retval EINVAL a pointer is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); unknown flags (#RDMAEZ_WHY_OPTION_UNKNOWN); the
 *         port demands a GRH and there is no dgid (#RDMAEZ_WHY_GRH_MISSING); no destination at all
 *         (#RDMAEZ_WHY_PATH_EMPTY); row beyond the table (#RDMAEZ_WHY_GID_INDEX); a field wider than its
 *         bits (#RDMAEZ_WHY_RANGE)
 * @par Threads
 * May be called from any thread.
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_path_ah_attr(const struct rdmaez_path *path, int port_num,
				   const struct ibv_port_attr *port, struct ibv_ah_attr *ah,
				   struct rdmaez_diag *diag)
{
	struct ibv_ah_attr filled;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_path_ah_attr");
	if (!path || !ah)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
					  path ? "ah" : "path");
	if (!path->dlid && rdmaez_gid_is_zero(&path->dgid))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_PATH_EMPTY, "ah_attr.grh.dgid");
	memset(&filled, 0, sizeof(filled));
	error = rdmaez_impl_path_fill(path, false, false, path->sgid_index, port_num, port, &filled,
				      diag);
	if (!error)
		*ah = filled;
	return error;
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
