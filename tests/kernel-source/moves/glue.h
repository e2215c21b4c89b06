/* SPDX-License-Identifier: MIT */
/*
 * What each moves/NAME.c has in common. It is compiled with the kernel's headers, after the driver's own file, which it
 * includes as it stands. NAME.c makes a device and a queue pair of the driver, as far as its modify_qp looks at them,
 * and names what it must not ask: the adapter, whose commands succeed.
 */
#ifndef GLUE_H
#define GLUE_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "../moves.h"

/* A function that is not part of the comparison, and here returns 0. */
#define GLUE_RETURNS_0(name) asm(".text\n.globl " #name "\n" #name ":\n\txorl %eax, %eax\n\tret\n");

void *kzalloc_here(size_t size);

static struct ib_gid_attr glue_gid;
static struct net_device *glue_netdev;
static struct {
	struct uverbs_attr_bundle bundle;
	char beyond[4096]; /* the bundle ends in an array */
} glue_call;

/* core/cache.c, of a table that has one entry at a time: that of the request. The driver's part of it is zero. */
void *rdma_read_gid_hw_context(const struct ib_gid_attr *attr)
{
	static u64 entry[16];

	return entry;
}

int rdma_read_gid_l2_fields(const struct ib_gid_attr *attr, u16 *vlan_id, u8 *smac)
{
	if (vlan_id)
		*vlan_id = 0xffff;
	if (smac)
		memset(smac, 2, ETH_ALEN);
	return 0;
}

struct net_device *rdma_read_gid_attr_ndev_rcu(const struct ib_gid_attr *attr)
{
	return attr->ndev;
}

/* core/device.c */
const struct ib_port_immutable *ib_port_immutable_read(struct ib_device *dev, unsigned int port)
{
	return &dev->port_data[port].immutable;
}

static enum rdma_link_layer glue_link_layer(struct ib_device *dev, u32 port)
{
	return dev->port_data[1].immutable.core_cap_flags & RDMA_CORE_PORT_IBA_IB
		       ? IB_LINK_LAYER_INFINIBAND
		       : IB_LINK_LAYER_ETHERNET;
}

static void glue_device(struct ib_device *dev, const struct moves_device *device)
{
	const u32 caps = device->is_iwarp ? RDMA_CORE_PORT_IWARP
			 : device->is_ethernet
				 ? RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP | RDMA_CORE_PORT_IBA_ROCE
				 : RDMA_CORE_PORT_IBA_IB;

	dev->ops.get_link_layer = glue_link_layer;
	dev->phys_port_cnt = device->ports;
	dev->node_type = device->is_iwarp ? RDMA_NODE_RNIC : RDMA_NODE_IB_CA;
	dev->port_data = kzalloc_here((device->ports + 1) * sizeof(*dev->port_data));
	for (int i = 1; i <= device->ports; i++) {
		dev->port_data[i].immutable.core_cap_flags = caps;
		dev->port_data[i].immutable.gid_tbl_len = device->gids;
		dev->port_data[i].immutable.pkey_tbl_len = device->pkeys;
	}
	glue_netdev = kzalloc_here(sizeof(*glue_netdev));
	glue_netdev->mtu = device->mtu_bytes;
}

static void glue_qp(struct ib_qp *qp, struct ib_device *dev, int type)
{
	qp->device = dev;
	qp->real_qp = qp;
	qp->qp_type = type < MOVES_SRD ? type : type == MOVES_UNDERLAY ? IB_QPT_UD : IB_QPT_DRIVER;
	qp->qp_num = 77;
	qp->uobject = kzalloc_here(4096); /* it is a program's */
	qp->res.user = true;
}

/* copy_ah_attr_from_uverbs() and rdma_fill_sgid_attr() of core. */
static void glue_path(struct rdma_ah_attr *to, const struct moves_path *from, struct ib_device *dev)
{
	to->type = rdma_ah_find_type(dev, from->port_num);
	to->sl = from->sl;
	to->static_rate = from->static_rate;
	to->port_num = from->port_num;
	if (from->is_global) {
		to->ah_flags = IB_AH_GRH;
		memcpy(to->grh.dgid.raw, from->dgid, 16);
		to->grh.flow_label = from->flow_label;
		to->grh.sgid_index = from->sgid_index;
		to->grh.hop_limit = from->hop_limit;
		to->grh.traffic_class = from->traffic_class;
		glue_gid.device = dev;
		glue_gid.port_num = from->port_num;
		glue_gid.index = from->sgid_index;
		glue_gid.ndev = glue_netdev;
		glue_gid.gid_type = from->gid_type == 2   ? IB_GID_TYPE_ROCE_UDP_ENCAP
				    : from->gid_type == 1 ? IB_GID_TYPE_ROCE
							  : IB_GID_TYPE_IB;
		memcpy(glue_gid.gid.raw, from->sgid, 16);
		to->grh.sgid_attr = &glue_gid;
	}
	if (to->type == RDMA_AH_ATTR_TYPE_ROCE) {
		memset(to->roce.dmac, 2, ETH_ALEN);
	} else {
		to->ib.dlid = from->dlid;
		to->ib.src_path_bits = from->src_path_bits;
	}
}

/* modify_qp() of core/uverbs_cmd.c: what the mask does not name stays zero. */
static void glue_attr(struct ib_qp_attr *to, const struct moves_attr *from, int mask,
		      struct ib_device *dev)
{
	memset(to, 0, sizeof(*to));
#define FIELD(name, bit)     \
	if (mask & IB_##bit) \
		to->name = from->name;
	MOVES_FIELDS(FIELD)
#undef FIELD
	if (mask & IB_QP_AV)
		glue_path(&to->ah_attr, &from->ah_attr, dev);
	if (mask & IB_QP_ALT_PATH)
		glue_path(&to->alt_ah_attr, &from->alt_ah_attr, dev);
}

static int glue_modify(int (*modify)(struct ib_qp *, struct ib_qp_attr *, int, struct ib_udata *),
		       struct ib_qp *qp, const struct moves_attr *attr, int mask)
{
	struct ib_qp_attr copy;
	int err;

	glue_attr(&copy, attr, mask, qp->device);
	if (!glue_call.bundle.context)
		glue_call.bundle.context = kzalloc_here(65536);
	err = modify(qp, &copy, mask, &glue_call.bundle.driver_udata);
	/* _ib_modify_qp() of core/verbs.c */
	if (!err && mask & IB_QP_PORT)
		qp->port = copy.port_num;
	return -err;
}

#endif
