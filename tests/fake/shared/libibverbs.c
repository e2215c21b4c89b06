/* SPDX-License-Identifier: MIT */
/*
 * What makes a libibverbs.so.1 of the fake: a device is there from the start, so that programs which know nothing of
 * the fake run on it. Threads may call it at the same time where none of them makes or destroys an object.
 *
 * FAKE_PROFILE=2 makes it a device of that enum fake_profile, FAKE_QUIRKS=0x2 gives it these quirks, and FAKE_DM=4096 so
 * much device memory. With FAKE_DIES=1 the process ends where it allocates some.
 * FAKE_REFUSES=1: sending fails at once, where else one would wait for what never comes.
 * FAKE_CARRIES=1: data come (carry.c).
 * FAKE_FAILS=ibv_query_pkey:1:22 lets the first call of a verb fail, with this errno value; 0 in place of 1: each.
 * FAKE_REFUSAL=5 is returned for EINVAL where a queue pair is modified.
 * FAKE_MEANWHILE=COMMAND runs when the device is opened.
 * FAKE_PORT=down: its first port is; infiniband: it is one of InfiniBand; bare: it has no P_Key. FAKE_MTU=4096: its MTU.
 * FAKE_ATOMICS=0: there are none. FAKE_INLINE=0: nor is inline data. FAKE_DMABUF=65536: dma-bufs have so many bytes.
 * FAKE_NUMBERS=1000: so many are given to others before, so that no queue pair has that of one in another process.
 */
#include "../fake_internal.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data);
/* The fake's ibv_open_device() and others. */
struct ibv_context *fake_shared_open_device(struct ibv_device *device);
int fake_shared_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int fake_shared_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
			     void **cq_context);
struct ibv_cq_ex *fake_shared_create_cq_ex(struct ibv_context *context,
					   struct ibv_cq_init_attr_ex *init);
void fake_shared_carry(struct verbs_context *verbs);

/* "ibv_query_pkey:1:22" */
static void let_fail(const char *text)
{
	char verb[64];
	unsigned int nth;
	int error;

	if (sscanf(text, "%63[^:]:%u:%d", verb, &nth, &error) != 3)
		abort();
	for (int i = 0; i < FAKE_VERB_COUNT; i++)
		if (strcmp(fake_verb_str((enum fake_verb)i), verb) == 0)
			fake_fail((enum fake_verb)i, nth, error);
}

__attribute__((__constructor__)) static void begin(void)
{
	const char *const profile = getenv("FAKE_PROFILE"), *const quirks = getenv("FAKE_QUIRKS");
	const char *const dm = getenv("FAKE_DM"), *const fails = getenv("FAKE_FAILS");
	const char *const port = getenv("FAKE_PORT");
	struct fake_device *const dev = fake_reset();

	if (profile)
		fake_profile(dev, (enum fake_profile)atoi(profile));
	if (quirks)
		dev->quirks = (uint32_t)strtoul(quirks, NULL, 0);
	if (dm)
		dev->attr.max_dm_size = strtoul(dm, NULL, 0);
	if (port && strcmp(port, "down") == 0)
		dev->port[1].attr.state = IBV_PORT_DOWN;
	if (port && strcmp(port, "infiniband") == 0)
		fake_port_infiniband(&dev->port[1]);
	if (port && strcmp(port, "bare") == 0)
		dev->port[1].pkey[0] = 0;
	for (int mtu = IBV_MTU_256; getenv("FAKE_MTU") && mtu <= IBV_MTU_4096; mtu++)
		if (128 << mtu == atoi(getenv("FAKE_MTU")))
			dev->port[1].attr.active_mtu = (enum ibv_mtu)mtu;
	for (int i = getenv("FAKE_NUMBERS") ? atoi(getenv("FAKE_NUMBERS")) : 0; i > 0; i--)
		fake_number();
	if (getenv("FAKE_DMABUF"))
		fake_dmabuf(strtoull(getenv("FAKE_DMABUF"), NULL, 0));
	if (getenv("FAKE_ATOMICS"))
		dev->attr.orig_attr.atomic_cap = IBV_ATOMIC_NONE;
	if (getenv("FAKE_INLINE"))
		dev->max_inline = 0;
	if (fails)
		let_fail(fails);
}

static int refuse(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	(void)qp;
	*bad_wr = wr;
	return EIO;
}

static struct ibv_dm *die(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	(void)context;
	(void)attr;
	abort();
}

/* As in the library, where every way of opening a device comes to this function, by the dynamic linker. */
struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data)
{
	struct ibv_context *context = fake_shared_open_device(device);

	(void)private_data;
	if (getenv("FAKE_MEANWHILE") && system(getenv("FAKE_MEANWHILE")))
		abort();
	if (context)
		verbs_get_ctx(context)->create_cq_ex = fake_shared_create_cq_ex;
	if (context && getenv("FAKE_CARRIES"))
		fake_shared_carry(verbs_get_ctx(context));
	if (context && getenv("FAKE_REFUSES"))
		context->ops.post_send = refuse;
	if (context && getenv("FAKE_DIES"))
		verbs_get_ctx(context)->alloc_dm = die;
	return context;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	return verbs_open_device(device, NULL);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	const int error = fake_shared_modify_qp(qp, attr, attr_mask);
	const char *const refusal = getenv("FAKE_REFUSAL");

	return error == EINVAL && refusal ? atoi(refusal) : error;
}

/* As in the library, which waits in read(): there a thread can be cancelled, and signals end the wait. */
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct pollfd readable = {.fd = channel->fd, .events = POLLIN};

	if (!(fcntl(channel->fd, F_GETFL) & O_NONBLOCK) && poll(&readable, 1, -1) < 0)
		return -1;
	return fake_shared_get_cq_event(channel, cq, cq_context);
}

/* Ends in what FAKE_FORK says. */
int ibv_fork_init(void)
{
	const char *const ends = getenv("FAKE_FORK");

	return ends ? atoi(ends) : 0;
}

/* As in the library, which does not come to ibv_create_ah() by the dynamic linker. */
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
			struct ibv_grh *grh, struct ibv_ah_attr *ah_attr)
{
	const uint32_t flow_class = ntohl(grh->version_tclass_flow);
	union ibv_gid gid = {{0}};
	uint8_t index = 0;

	memset(ah_attr, 0, sizeof(*ah_attr));
	ah_attr->dlid = wc->slid;
	ah_attr->sl = wc->sl;
	ah_attr->src_path_bits = wc->dlid_path_bits;
	ah_attr->port_num = port_num;
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	while (!ibv_query_gid(context, port_num, index, &gid) && memcmp(&gid, &grh->dgid, 16) != 0)
		index++;
	if (memcmp(&gid, &grh->dgid, 16) != 0)
		return -1;
	ah_attr->is_global = 1;
	ah_attr->grh.dgid = grh->sgid;
	ah_attr->grh.sgid_index = index;
	ah_attr->grh.flow_label = flow_class & 0xfffff;
	ah_attr->grh.hop_limit = grh->hop_limit;
	ah_attr->grh.traffic_class = (uint8_t)(flow_class >> 20);
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
				     uint8_t port_num)
{
	struct ibv_ah_attr attr;

	return ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) ? NULL
									  : fake_new_ah(pd, &attr);
}
