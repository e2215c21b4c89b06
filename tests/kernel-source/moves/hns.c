/* SPDX-License-Identifier: MIT */
/*
 * hw/hns: hns_roce_modify_qp(), with hns_roce_check_qp_attr(), check_mtu_validate(), and of hns_roce_hw_v2.c
 * hns_roce_v2_modify_qp(), with check_qp_state() and hns_roce_v2_set_path()
 */
#include "hw/hns/hns_roce_qp.c"
#include "hw/hns/hns_roce_hw_v2.c"
#include <linux/version.h>
#include "glue.h"

/* hns_roce_cmd.c: a command, and its success. */
struct hns_roce_cmd_mailbox *hns_roce_alloc_cmd_mailbox(struct hns_roce_dev *dev)
{
	struct hns_roce_cmd_mailbox *const mailbox = kzalloc_here(sizeof(*mailbox));

	mailbox->buf = kzalloc_here(4096);
	return mailbox;
}

GLUE_RETURNS_0(hns_roce_free_cmd_mailbox)
GLUE_RETURNS_0(hns_roce_cmd_mbox)
GLUE_RETURNS_0(hns_roce_create_hw_qpc)
GLUE_RETURNS_0(hns_roce_destroy_hw_qpc)

/* hns_roce_hem.c and hns_roce_mr.c: where buffers lie. If mtr_find() is given base_addr, it returns how many it found. */
void *hns_roce_table_find(struct hns_roce_dev *dev, struct hns_roce_hem_table *table,
			  unsigned long obj, dma_addr_t *dma_handle)
{
	static u64 entry;

	*dma_handle = 0;
	return &entry;
}

int mtr_find_here(void *dev, void *mtr, int offset, u64 *mtt_buf, int mtt_max);
int mtr_find_here(void *dev, void *mtr, int offset, u64 *mtt_buf, int mtt_max)
{
	typedef int with_base(struct hns_roce_dev *, struct hns_roce_mtr *, int, u64 *, int, u64 *);
	typedef int with_base_u32(struct hns_roce_dev *, struct hns_roce_mtr *, u32, u64 *, int,
				  u64 *);

	return __builtin_types_compatible_p(typeof(hns_roce_mtr_find), with_base) ||
			       __builtin_types_compatible_p(typeof(hns_roce_mtr_find),
							    with_base_u32)
		       ? mtt_max
		       : 0;
}
asm(".globl hns_roce_mtr_find\nhns_roce_mtr_find:\n\tjmp mtr_find_here\n");

/* A network interface that does not say which priority a DSCP has. */
static void *no_dscp(void)
{
	struct hns_roce_v2_priv *const priv = kzalloc_here(sizeof(*priv));

	priv->handle = kzalloc_here(sizeof(*priv->handle));
	priv->handle->ae_algo = kzalloc_here(sizeof(*priv->handle->ae_algo));
	priv->handle->ae_algo->ops = kzalloc_here(sizeof(*priv->handle->ae_algo->ops));
	return priv;
}

void *moves_qp(const struct moves_device *device, int type)
{
	struct hns_roce_dev *const dev = kzalloc_here(sizeof(*dev));
	struct hns_roce_qp *const qp = kzalloc_here(sizeof(*qp));
	static struct hns_roce_hw hw;

	/* hns_roce_main.c: hns_roce_query_device() */
	dev->caps.num_ports = device->ports;
	dev->caps.max_qp_dest_rdma = device->max_qp_rd_atom;
	dev->caps.max_qp_init_rdma = device->max_qp_init_rd_atom;
	dev->caps.max_mtu = IB_MTU_4096;
	dev->caps.qpc_sz = sizeof(struct hns_roce_v2_qp_context);
	dev->caps.sl_num = 8;
	hw.modify_qp = hns_roce_v2_modify_qp;
	dev->hw = &hw;
	dev->priv = no_dscp();
	dev->pci_dev = kzalloc_here(sizeof(*dev->pci_dev));
	dev->pci_dev->revision = PCI_REVISION_ID_HIP09;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	dev->dfx_cnt = kzalloc_here(4096);
#endif
	glue_device(&dev->ib_dev, device);
	for (int i = 0; i < device->ports; i++) {
		dev->caps.pkey_table_len[i] = device->pkeys;
		dev->caps.gid_table_len[i] = device->gids;
		dev->iboe.netdevs[i] = glue_netdev;
	}
	glue_qp(&qp->ibqp, &dev->ib_dev, type);
	qp->ibqp.send_cq = qp->ibqp.recv_cq = kzalloc_here(sizeof(struct hns_roce_cq));
	qp->ibqp.pd = kzalloc_here(sizeof(struct hns_roce_pd));
	qp->ibqp.xrcd = kzalloc_here(sizeof(struct hns_roce_xrcd));
	qp->en_flags = HNS_ROCE_QP_CAP_SQ_RECORD_DB;
	qp->sdb.virt_addr = kzalloc_here(8);
	qp->state = IB_QPS_RESET;
	return &qp->ibqp;
}

int moves_modify(void *qp, const struct moves_attr *attr, int mask)
{
	return glue_modify(hns_roce_modify_qp, qp, attr, mask);
}

int moves_state(void *qp)
{
	return to_hr_qp(qp)->state;
}
