/* SPDX-License-Identifier: MIT */
/* Implements ah.h: address handles, and the way back to the sender of a completion. */
#ifndef RDMAEZ_IMPL_AH_H
#define RDMAEZ_IMPL_AH_H

#ifndef RDMAEZ_AH_H
#include "../ah.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_PATH_H
#include "path.h"
#endif
#ifndef RDMAEZ_IMPL_PORT_H
#include "port.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif
#ifndef RDMAEZ_IMPL_WC_H
#include "wc.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

/*
 * Does what rdmaez_ah_create() does on a port that has been asked, without its reset of the record.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_ah_create(struct ibv_pd *pd, const struct rdmaez_path *path,
					   int port_num, const struct ibv_port_attr *port,
					   struct ibv_ah **ah, struct rdmaez_diag *diag)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *made;
	int error, sgid_index;

	memset(&attr, 0, sizeof(attr));
	error = rdmaez_impl_port_gid_index(pd->context, port_num, port, path, false, &sgid_index,
					   diag);
	if (!error)
		error = rdmaez_impl_path_ah_attr(path, sgid_index, port_num, port, &attr, diag);
	if (error)
		return error;
	errno = 0;
	made = ibv_create_ah(pd, &attr);
	if (!made) {
		error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_create_ah");
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_ah_explain, (pd->context, &attr, port, diag));
		return error;
	}
	*ah = made;
	return 0;
}

RDMAEZ_COLD int rdmaez_ah_create(struct ibv_pd *pd, const struct rdmaez_path *path, int port,
				 struct ibv_ah **ah, struct rdmaez_diag *diag)
{
	const char *const missing = !pd ? "pd" : !path ? "path" : ah ? NULL : "ah";
	int error = rdmaez_impl_begin(diag, "rdmaez_ah_create", pd ? pd->context : NULL, missing);
	struct ibv_port_attr port_attr;

	if (!error)
		error = rdmaez_impl_port_query(pd->context, port, &port_attr, diag);
	return error ? error : rdmaez_impl_ah_create(pd, path, port, &port_attr, ah, diag);
}

/*
 * Finds the index of this end's GID that a message was sent to, as an option: 0 for a group. RoCE
 * v2 and others differ by type.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_grh_own(struct ibv_context *context, int port_num,
					 const struct rdmaez_grh *grh, int *sgid_index,
					 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site gone = {"grh.dgid", RDMAEZ_WHY_WC_GID_GONE,
						     RDMAEZ_VALUE_NONE, 0, 0};
	const bool v2 = grh->version == 4 || grh->next_header == 17;
	struct rdmaez_impl_port_gids gids;
	struct ibv_gid_entry entry;
	int error;

	*sgid_index = 0;
	if (grh->dgid.raw[0] == 0xff || (grh->version == 4 && grh->dgid.raw[12] >> 4 == 0xe))
		return 0;
	if (diag)
		diag->destination = grh->sgid;
	rdmaez_impl_port_gids_begin(&gids, context, port_num, RDMAEZ_PATH_GIDS);
	while (!(error = rdmaez_impl_port_gids_next(&gids, &entry, NULL)))
		if (memcmp(&entry.gid, &grh->dgid, sizeof(entry.gid)) == 0 &&
		    (entry.gid_type == IBV_GID_TYPE_ROCE_V2) == v2) {
			*sgid_index = rdmaez_exactly((int)entry.gid_index);
			return 0;
		}
	/* If indices are asked one by one, EINVAL means that one is beyond the table. */
	if (error != ENODATA && error != EINVAL)
		return rdmaez_impl_refuse_verb(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
					       "ibv_query_gid_ex");
	if (diag)
		diag->source.gid = grh->dgid;
	return rdmaez_impl_refuse_at(diag, EADDRNOTAVAIL, &gone, 0);
}

RDMAEZ_COLD int rdmaez_path_from_wc(struct ibv_context *context, const struct ibv_wc *wc,
				    const void *buffer, int port, struct rdmaez_path *path,
				    struct rdmaez_diag *diag)
{
	const char *const missing = !context ? "context" : !wc ? "wc" : path ? NULL : "path";
	int error = rdmaez_impl_begin(diag, "rdmaez_path_from_wc", context, missing);
	struct rdmaez_path back;
	struct rdmaez_grh grh;

	if (error)
		return error;
	if (wc->status != IBV_WC_SUCCESS || !(wc->opcode & IBV_WC_RECV) || wc->byte_len < 40)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_WC_NO_SENDER, "wc");
	memset(&back, 0, sizeof(back));
	back.sl = wc->sl;
	/* efa_process_cqe() sets it to the number of an address handle, or to none. */
	if (!(wc->wc_flags & IBV_WC_GRH) &&
	    (!wc->slid || context->device->transport_type != IBV_TRANSPORT_IB))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_PATH_EMPTY, "wc.slid");
	if (wc->wc_flags & IBV_WC_GRH) {
		if (!buffer)
			return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "buffer");
		error = rdmaez_wc_grh(wc, buffer, &grh, NULL);
		if (error)
			return rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_WC_NO_HEADER, "buffer");
		error = rdmaez_impl_grh_own(context, port, &grh, &back.sgid_index, diag);
		if (error)
			return error;
		back.flags = RDMAEZ_PATH_GRH;
		back.dgid = grh.sgid;
		back.flow_label = grh.flow_label;
		back.traffic_class = grh.traffic_class & 0xfc;
	}
	if (!(wc->wc_flags & IBV_WC_GRH) || grh.next_header != 17) {
		back.dlid = wc->slid;
		back.src_path_bits = wc->dlid_path_bits;
	}
	*path = back;
	return 0;
}

RDMAEZ_API int rdmaez_ah_create_from_wc(struct ibv_pd *pd, const struct ibv_wc *wc,
					const void *buffer, int port, struct ibv_ah **ah,
					struct rdmaez_diag *diag)
{
	static const char call[] = "rdmaez_ah_create_from_wc";
	struct rdmaez_path path;
	int error;

	if (!pd)
		return rdmaez_impl_begin(diag, call, NULL, "pd");
	error = rdmaez_path_from_wc(pd->context, wc, buffer, port, &path, diag);
	if (!error)
		error = rdmaez_ah_create(pd, &path, port, ah, diag);
	if (diag)
		diag->call = call;
	return error;
}

RDMAEZ_API int rdmaez_ah_destroy(struct ibv_ah *ah, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_begin(diag, "rdmaez_ah_destroy", ah ? ah->context : NULL,
					    ah ? NULL : "ah");

	return error ? error : rdmaez_impl_verb(diag, ibv_destroy_ah(ah), "ibv_destroy_ah");
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
