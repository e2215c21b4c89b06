/* SPDX-License-Identifier: MIT */
/* Implements multicast.h. */
#ifndef RDMAEZ_IMPL_MULTICAST_H
#define RDMAEZ_IMPL_MULTICAST_H

#ifndef RDMAEZ_MULTICAST_H
#include "../multicast.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <sys/socket.h>

#ifndef RDMAEZ_IMPL_AH_H
#include "ah.h"
#endif
#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_GID_H
#include "gid.h"
#endif
#ifndef RDMAEZ_IMPL_PORT_H
#include "port.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif

RDMAEZ_IMPL_BEGIN

/* This is the C library's own. arpa/inet.h would cost every file more than all of this. */
extern int rdmaez_impl_inet_pton(int family, const char *text, void *address) __asm__("inet_pton");

/* Returns whether rdma_is_multicast_addr() of the kernel takes this for a group. */
RDMAEZ_IMPL bool rdmaez_impl_multicast_is_group(const union ibv_gid *gid)
{
	const int traits = rdmaez_impl_gid_traits(gid);

	return traits > 0 && (traits & RDMAEZ_IMPL_GID_GROUP);
}

/* Passes on a GID that is a group's. */
RDMAEZ_IMPL_COLD int rdmaez_impl_multicast_take(const union ibv_gid *found, const char *field,
						union ibv_gid *gid, struct rdmaez_diag *diag)
{
	if (!rdmaez_impl_multicast_is_group(found))
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_MULTICAST_ADDRESS, field);
	*gid = *found;
	return 0;
}

RDMAEZ_API int rdmaez_multicast_gid(const char *text, union ibv_gid *gid, struct rdmaez_diag *diag)
{
	const char *const missing = !text ? "text" : gid ? NULL : "gid";
	union ibv_gid found;

	rdmaez_impl_diag_reset(diag, "rdmaez_multicast_gid");
	if (missing)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	memset(&found, 0, sizeof(found));
	if (rdmaez_impl_inet_pton(AF_INET6, text, found.raw) != 1) {
		memset(&found, 0, sizeof(found));
		if (rdmaez_impl_inet_pton(AF_INET, text, &found.raw[12]) == 1)
			memset(&found.raw[10], 0xff, 2);
	}
	return rdmaez_impl_multicast_take(&found, "text", gid, diag);
}

RDMAEZ_API int rdmaez_multicast_gid_of(const struct sockaddr *address, union ibv_gid *gid,
				       struct rdmaez_diag *diag)
{
	const char *const missing = !address ? "address" : gid ? NULL : "gid";
	const int af_ib = 27;
	union ibv_gid found;

	rdmaez_impl_diag_reset(diag, "rdmaez_multicast_gid_of");
	if (missing)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	memset(&found, 0, sizeof(found));
	/* The address is at byte 4 of a sockaddr_in, and at byte 8 of the others. */
	if (address->sa_family == AF_INET) {
		memset(&found.raw[10], 0xff, 2);
		memcpy(&found.raw[12], (const char *)address + 4, 4);
	} else if (address->sa_family == AF_INET6 || address->sa_family == af_ib) {
		memcpy(found.raw, (const char *)address + 8, 16);
	}
	return rdmaez_impl_multicast_take(&found, "address", gid, diag);
}

/*
 * Refuses what no device would take of a group on this port. is_valid_mcast_lid() of the kernel
 * knows the LIDs.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_multicast_check(const struct rdmaez_path *group,
						 const struct ibv_port_attr *port,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site lids[] = {
		{"lid", RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_HEX, 0, 0xffff},
		{"lid", RDMAEZ_WHY_MULTICAST_LID, RDMAEZ_VALUE_HEX, 0xc000, 0xfffe}};
	const struct rdmaez_impl_site *const lid =
		&lids[port->link_layer == IBV_LINK_LAYER_INFINIBAND];
	int error = 0;

	if (!rdmaez_impl_multicast_is_group(&group->dgid))
		error = rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_MULTICAST_ADDRESS, "gid");
	if (group->dlid < lid->min || group->dlid > lid->max)
		error = rdmaez_impl_refuse_at(diag, EINVAL, lid, group->dlid);
	return error;
}

/* Finds the GID of this end by which the port reaches the group. */
RDMAEZ_IMPL_COLD int rdmaez_impl_multicast_own(struct ibv_context *context,
					       const struct rdmaez_path *group, int port_num,
					       const struct ibv_port_attr *port,
					       struct ibv_gid_entry *own, struct rdmaez_diag *diag)
{
	static const char field[] = "ah_attr.grh.sgid_index";
	static const struct rdmaez_impl_site beyond = {field, RDMAEZ_WHY_GID_INDEX,
						       RDMAEZ_VALUE_NUMBER, 0, 0};
	static const struct rdmaez_impl_site empty = {field, RDMAEZ_WHY_GID_EMPTY,
						      RDMAEZ_VALUE_INDEX, 0, 0};
	const int64_t index = rdmaez_impl_option(group->sgid_index, -1);
	struct rdmaez_gid_want want;
	int error;

	if (!group->sgid_index) {
		memset(&want, 0, sizeof(want));
		want.peer = group->dgid;
		error = rdmaez_impl_port_choose_gid(context, port_num, port, &want, own, diag);
	} else if (index < 0 || index >= rdmaez_impl_port_gid_entries(port)) {
		error = rdmaez_impl_refuse_within(diag, EINVAL, &beyond, index, 0,
						  rdmaez_impl_port_gid_entries(port) - 1);
	} else {
		error = rdmaez_impl_port_gid(context, port_num, (int)index, own, diag);
		if (!error && rdmaez_gid_is_zero(&own->gid))
			error = rdmaez_impl_refuse_at(diag, ENODATA, &empty, index);
	}
	if (diag && !error) {
		diag->source = *own;
		diag->destination = group->dgid;
	}
	return error;
}

/* The kernel takes this for MCAST_JOIN_GROUP: struct group_req of <linux/in.h>. */
struct rdmaez_impl_multicast_request {
	uint32_t ifindex;
	struct sockaddr_storage group;
};

/* Opens a socket that makes an interface a member of an IP group. */
RDMAEZ_IMPL_COLD int rdmaez_impl_multicast_member(const union ibv_gid *gid, uint32_t ifindex,
						  int *fd)
{
	const int mcast_join_group = 42, sol_ip = 0, sol_ipv6 = 41;
	struct rdmaez_impl_multicast_request request;
	int error = 0, made;

	memset(&request, 0, sizeof(request));
	request.ifindex = ifindex;
	rdmaez_impl_route_address(gid, &request.group);
	made = socket(request.group.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (made < 0)
		return errno;
	if (setsockopt(made, request.group.ss_family == AF_INET ? sol_ip : sol_ipv6,
		       mcast_join_group, &request, sizeof(request)))
		error = errno;
	if (error)
		rdmaez_impl_close(made);
	else
		*fd = made;
	return error;
}

/* Gets the membership that the port needs for a group. If it needs none, `fd` stays as it is. */
RDMAEZ_IMPL_COLD int rdmaez_impl_multicast_enter(struct ibv_context *context,
						 const struct rdmaez_path *group, int port_num,
						 const struct ibv_port_attr *port, int *fd,
						 struct rdmaez_diag *diag)
{
	struct ibv_gid_entry own;
	int error;

	if (port->link_layer != IBV_LINK_LAYER_ETHERNET)
		return 0;
	error = rdmaez_impl_multicast_own(context, group, port_num, port, &own, diag);
	if (error || own.gid_type != IBV_GID_TYPE_ROCE_V2)
		return error;
	if (!own.ndev_ifindex)
		return rdmaez_impl_refuse(diag, ENODEV, RDMAEZ_WHY_GID_NO_NETDEV,
					  "ah_attr.grh.sgid_index");
	error = rdmaez_impl_multicast_member(&group->dgid, own.ndev_ifindex, fd);
	return error ? rdmaez_impl_refuse(diag, error, RDMAEZ_WHY_MULTICAST_MEMBER,
					  "MCAST_JOIN_GROUP")
		     : 0;
}

RDMAEZ_COLD int rdmaez_multicast_join(struct ibv_qp *qp, const struct rdmaez_path *group, int port,
				      int *fd, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site type = {"qp_type", RDMAEZ_WHY_MULTICAST_TYPE,
						     RDMAEZ_VALUE_TYPE, 0, 0};
	const char *const missing = !qp ? "qp" : group ? NULL : "group";
	int error =
		rdmaez_impl_begin(diag, "rdmaez_multicast_join", qp ? qp->context : NULL, missing);
	struct ibv_port_attr attr;
	int made = -1;

	if (error)
		return error;
	rdmaez_impl_diag_qp(diag, qp);
	if (qp->qp_type != IBV_QPT_UD)
		return rdmaez_impl_refuse_at(diag, EINVAL, &type, (int64_t)qp->qp_type);
	error = rdmaez_impl_port_query(qp->context, port, &attr, diag);
	if (!error)
		error = rdmaez_impl_multicast_check(group, &attr, diag);
	if (!error && fd)
		error = rdmaez_impl_multicast_enter(qp->context, group, port, &attr, &made, diag);
	if (error)
		return error;
	error = rdmaez_impl_error(ibv_attach_mcast(qp, &group->dgid, (uint16_t)group->dlid));
	if (error) {
		if (made >= 0)
			rdmaez_impl_close(made);
		rdmaez_impl_failed(diag, error, "ibv_attach_mcast");
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_multicast_explain, (qp, diag));
		return error;
	}
	if (fd)
		*fd = made;
	return 0;
}

RDMAEZ_COLD int rdmaez_multicast_leave(struct ibv_qp *qp, const struct rdmaez_path *group, int fd,
				       struct rdmaez_diag *diag)
{
	const char *const missing = !qp ? "qp" : group ? NULL : "group";
	int error =
		rdmaez_impl_begin(diag, "rdmaez_multicast_leave", qp ? qp->context : NULL, missing);

	if (error)
		return error;
	rdmaez_impl_diag_qp(diag, qp);
	error = rdmaez_impl_error(ibv_detach_mcast(qp, &group->dgid, (uint16_t)group->dlid));
	if (fd >= 0)
		rdmaez_impl_close(fd);
	if (!error)
		return 0;
	rdmaez_impl_failed(diag, error, "ibv_detach_mcast");
	if (error == EINVAL)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MULTICAST_LEFT, "gid");
	else
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_explain_errno, (diag));
	return error;
}

RDMAEZ_COLD int rdmaez_multicast_ah_create(struct ibv_pd *pd, const struct rdmaez_path *group,
					   int port, struct ibv_ah **ah, struct rdmaez_diag *diag)
{
	const char *const missing = !pd ? "pd" : !group ? "group" : ah ? NULL : "ah";
	int error = rdmaez_impl_begin(diag, "rdmaez_multicast_ah_create", pd ? pd->context : NULL,
				      missing);
	struct ibv_port_attr attr;
	struct rdmaez_path path;

	if (!error)
		error = rdmaez_impl_port_query(pd->context, port, &attr, diag);
	if (!error)
		error = rdmaez_impl_multicast_check(group, &attr, diag);
	if (error)
		return error;
	path = *group;
	path.flags |= RDMAEZ_PATH_GRH;
	return rdmaez_impl_ah_create(pd, &path, port, &attr, ah, diag);
}

RDMAEZ_COLD int rdmaez_multicast_examine(struct ibv_qp *qp, const struct rdmaez_path *group,
					 int port, struct rdmaez_diag *diag)
{
	return rdmaez_impl_tell_multicast_examine
		       ? rdmaez_impl_tell_multicast_examine(qp, group, port, diag)
		       : rdmaez_impl_untold(diag, "rdmaez_multicast_examine");
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
