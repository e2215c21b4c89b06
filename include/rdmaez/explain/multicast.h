/* SPDX-License-Identifier: MIT */
/*
 * Explains why a queue pair was not attached to a multicast group, and why nothing arrives from
 * one.
 */
#ifndef RDMAEZ_EXPLAIN_MULTICAST_H
#define RDMAEZ_EXPLAIN_MULTICAST_H

#include <net/if.h>
#include <stdio.h>

#include "qp_examine.h"
#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/* ---- Refused --------------------------------------------------------------------------------- */

/*
 * Explains ENOMEM by any of three limits: rxe_attach_mcg() and rxe_get_mcg(), rvt_mcast_add().
 * Everything that the kernel's core asks for is there, so EINVAL comes from the driver, such as
 * rvt_attach_mcast() in RESET.
 */
RDMAEZ_SEAM void rdmaez_impl_multicast_explain(const struct ibv_qp *qp, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site reset = {"qp_state", RDMAEZ_WHY_MULTICAST_RESET,
						      RDMAEZ_VALUE_STATE_NOW, 0, 0};
	const uint64_t taken = 1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR | 1 << IBV_QPS_RTS |
			       1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE;
	const struct rdmaez_driver *driver;
	struct ibv_device_attr device;
	const struct {
		const char *name;
		int *most;
	} limits[] = {{"max_mcast_grp", &device.max_mcast_grp},
		      {"max_mcast_qp_attach", &device.max_mcast_qp_attach},
		      {"max_total_mcast_qp_attach", &device.max_total_mcast_qp_attach}};
	const bool asked = !rdmaez_impl_ask_device(qp->context, &device, &driver, diag);

	if (diag->error == EINVAL && qp->state == IBV_QPS_RESET)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &reset, IBV_QPS_RESET, 0, taken);
	if (diag->error == EINVAL && asked && device.max_mcast_grp <= 0)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NOT_SUPPORTED,
				       "max_mcast_grp");
	for (size_t i = 0; diag->error == ENOMEM && asked && i < 3; i++)
		if (*limits[i].most > 0)
			rdmaez_impl_suspect_count(diag, limits[i].name, *limits[i].most);
	if (!diag->count)
		rdmaez_impl_explain_errno(diag);
}

/* ---- Silent ---------------------------------------------------------------------------------- */

/*
 * Returns whether a line of /proc/net/igmp6 has this group on this interface: "2 eth0 ff02...fb 1
 * 0000000C 0".
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_multicast_line6(const char *line, const char *group,
						  uint32_t ifindex)
{
	if (rdmaez_impl_number(&line, 10) != ifindex)
		return -1;
	while (*line == ' ')
		line++;
	line += strcspn(line, " ");
	while (*line == ' ')
		line++;
	return strncmp(line, group, 32) == 0;
}

/*
 * Returns 1 if the interface is a member of an IP group, 0 if not, and -1 if that is not known, for
 * instance if the interface is in another network namespace. igmp_mc_seq_show() writes a line for
 * each interface, "2\teth0 ...", and below it one for each group, "\t\t\t\t030201EF ...", its four
 * bytes as a number of this machine. igmp6_mc_seq_show() writes one line for each of both.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_multicast_is_member(const union ibv_gid *gid, uint32_t ifindex)
{
	const bool ipv4 = rdmaez_gid_class(gid) == RDMAEZ_GID_CLASS_IPV4;
	struct rdmaez_impl_lines lines;
	int is_member = -1, here = 0;
	const char *line;
	char group[40];
	uint32_t word;

	memcpy(&word, &gid->raw[12], sizeof(word));
	if (ipv4)
		snprintf(group, sizeof(group), "\t\t\t\t%08X", (unsigned int)word);
	else
		for (int i = 0; i < 16; i++)
			snprintf(group + 2 * i, 3, "%02x", gid->raw[i]);
	rdmaez_impl_lines_open(&lines, ipv4 ? "/proc/net/igmp" : "/proc/net/igmp6");
	while (is_member < 1 && (line = rdmaez_impl_line(&lines))) {
		if (!ipv4) {
			const int found = rdmaez_impl_multicast_line6(line, group, ifindex);

			is_member = found < 0 ? is_member : found;
		} else if (*line >= '0' && *line <= '9') {
			here = rdmaez_impl_number(&line, 10) == ifindex;
			is_member = here ? 0 : is_member;
		} else if (here && strncmp(line, group, strlen(group)) == 0) {
			is_member = 1;
		}
	}
	rdmaez_impl_lines_close(&lines);
	return is_member;
}

/* Says all that there is to say of the group on a port that answers. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_multicast_exam(struct ibv_context *context,
						  const struct rdmaez_path *group, int port_num,
						  const struct ibv_port_attr *port,
						  struct rdmaez_diag *diag)
{
	struct ibv_gid_entry own;

	if (rdmaez_impl_multicast_check(group, port, diag))
		return;
	if (port->link_layer == IBV_LINK_LAYER_INFINIBAND) {
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_MULTICAST_SUBNET,
				       "lid");
		return;
	}
	if (port->link_layer != IBV_LINK_LAYER_ETHERNET ||
	    rdmaez_impl_multicast_own(context, group, port_num, port, &own, diag))
		return;
	if_indextoname(own.ndev_ifindex, diag->netdev);
	if (own.gid_type == IBV_GID_TYPE_ROCE_V2 && own.ndev_ifindex &&
	    !rdmaez_impl_multicast_is_member(&group->dgid, own.ndev_ifindex))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_MULTICAST_MISSING,
				       "gid");
}

RDMAEZ_SEAM int rdmaez_impl_tell_multicast_examine(struct ibv_qp *qp,
						   const struct rdmaez_path *group, int port,
						   struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site type = {"qp_type", RDMAEZ_WHY_MULTICAST_TYPE,
						     RDMAEZ_VALUE_TYPE, 0, 0};
	const char *const missing = !qp ? "qp" : group ? NULL : "group";
	struct rdmaez_impl_qp_exam e;
	struct ibv_device_attr device;
	struct ibv_port_attr attr;

	rdmaez_impl_diag_reset(diag, "rdmaez_multicast_examine");
	if (missing)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, missing);
	if (!diag)
		return 0;
	if (qp->qp_type != IBV_QPT_UD)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_ERROR, &type, (uint64_t)qp->qp_type);
	if (!ibv_query_device(qp->context, &device) && device.max_mcast_grp <= 0)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NOT_SUPPORTED,
				       "max_mcast_grp");
	if (!rdmaez_impl_port_query(qp->context, port, &attr, diag))
		rdmaez_impl_multicast_exam(qp->context, group, port, &attr, diag);
	/* What has been refused on the way is a finding. */
	diag->error = 0;
	diag->verb = NULL;
	rdmaez_impl_qp_exam_begin(&e, qp, NULL, diag);
	e.knows_groups = true;
	rdmaez_impl_qp_exam_run(&e, qp, 0);
	return 0;
}

RDMAEZ_IMPL_END

#endif
