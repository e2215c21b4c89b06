// SPDX-License-Identifier: MIT
/*
 * A kernel module that answers, for every transition and every mask, what the running kernel's
 * ib_modify_qp_is_ok() says. Reading /proc/rdmaez_oracle gives one bit per question, 1 for accepted.
 * The order is that of tests/kernel/oracle.c: type, from, to, then the mask's number, by oracle.h; the
 * first mask of eight is the lowest bit of a byte.
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>

#include "oracle.h"

#define ORACLE_STATES 7
#define ORACLE_BYTES  ((loff_t)1 << (ORACLE_BITS - 3)) /* of one transition */
#define ORACLE_CHUNK  ((size_t)1 << 16)

static const enum ib_qp_type oracle_types[] = {
	IB_QPT_RC, IB_QPT_UC, IB_QPT_UD, IB_QPT_RAW_PACKET, IB_QPT_XRC_INI, IB_QPT_XRC_TGT,
};

#define ORACLE_TRANSITIONS (ARRAY_SIZE(oracle_types) * ORACLE_STATES * ORACLE_STATES)

static u8 oracle_byte(unsigned int transition, unsigned int first)
{
	enum ib_qp_type type = oracle_types[transition / (ORACLE_STATES * ORACLE_STATES)];
	enum ib_qp_state from = transition / ORACLE_STATES % ORACLE_STATES;
	enum ib_qp_state to = transition % ORACLE_STATES;
	unsigned int i;
	u8 byte = 0;

	for (i = 0; i < 8; i++)
		if (ib_modify_qp_is_ok(from, to, type, ORACLE_MASK(IB_QP, first + i)))
			byte |= 1u << i;
	return byte;
}

static ssize_t oracle_read(struct file *file, char __user *to, size_t count, loff_t *at)
{
	const loff_t end = ORACLE_TRANSITIONS * ORACLE_BYTES;
	size_t i;
	u8 *chunk;

	if (*at >= end)
		return 0;
	count = min3(count, ORACLE_CHUNK, (size_t)(end - *at));
	chunk = kmalloc(count, GFP_KERNEL);
	if (!chunk)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		chunk[i] = oracle_byte((*at + i) / ORACLE_BYTES, (*at + i) % ORACLE_BYTES * 8);
	if (copy_to_user(to, chunk, count)) {
		kfree(chunk);
		return -EFAULT;
	}
	kfree(chunk);
	*at += count;
	return count;
}

static const struct proc_ops oracle_ops = {
	.proc_read = oracle_read,
	.proc_lseek = default_llseek,
};

static int __init oracle_init(void)
{
	return proc_create("rdmaez_oracle", 0400, NULL, &oracle_ops) ? 0 : -ENOMEM;
}

static void __exit oracle_exit(void)
{
	remove_proc_entry("rdmaez_oracle", NULL);
}

module_init(oracle_init);
module_exit(oracle_exit);
MODULE_DESCRIPTION("Answers of ib_modify_qp_is_ok() for every transition and mask");
MODULE_LICENSE("Dual MIT/GPL");
