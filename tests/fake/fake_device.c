/* SPDX-License-Identifier: MIT */
/* Devices, what they answer to queries, and the kernel's checks of a path through them. */
#include <arpa/inet.h>
#include <stdio.h>
#include "fake_internal.h"

enum {
	MAX_DEVICES = 8,
};

static struct fake_device devices[MAX_DEVICES];
static unsigned int device_count;

/* ---- What there is ------------------------------------------------------------------------ */

/* Documentation addresses; the last byte of each is the port's number. */
static const uint8_t default_gid[][16] = {
	{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0, 0x5e, 0xff, 0xfe, 0, 0x53, 0}, /* link-local */
	{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 0},     /* ::ffff:192.0.2.n */
	{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, /* 2001:db8::n */
};

static void set_gid(struct fake_gid *row, const uint8_t raw[16], uint32_t type, unsigned int number)
{
	memcpy(row->gid.raw, raw, sizeof(row->gid.raw));
	row->gid.raw[15] = (uint8_t)number;
	row->type = type;
}

static void init_port(struct fake_port *port, unsigned int number)
{
	unsigned int i;

	port->attr.state = IBV_PORT_ACTIVE;
	port->attr.max_mtu = IBV_MTU_4096;
	port->attr.active_mtu = IBV_MTU_1024;
	port->attr.gid_tbl_len = 16;
	port->attr.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
	port->attr.max_msg_sz = 1u << 30;
	port->attr.pkey_tbl_len = 16;
	port->attr.max_vl_num = 1;
	port->attr.active_width = 2;  /* 4X */
	port->attr.active_speed = 32; /* EDR: 25 Gb/s a lane */
	port->attr.phys_state = 5;    /* link up */
	port->attr.link_layer = IBV_LINK_LAYER_ETHERNET;
	port->attr.flags = IBV_QPF_GRH_REQUIRED;
	for (i = 0; i < 6; i++) {
		set_gid(&port->gid[i], default_gid[i / 2],
			i % 2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1, number);
		port->gid[i].ifindex = 1 + number;
	}
	port->pkey[0] = 0xffff;
}

void fake_port_infiniband(struct fake_port *port)
{
	static const uint8_t gid[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0, 0x5e, 0, 0, 0, 0x53};

	memset(port->gid, 0, sizeof(port->gid));
	set_gid(&port->gid[0], gid, IBV_GID_TYPE_IB, 1);
	port->attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
	port->attr.port_cap_flags = IBV_PORT_CM_SUP;
	port->attr.flags = 0;
	port->attr.lid = 1;
	port->attr.sm_lid = 1;
}

static void init_limits(struct ibv_device_attr *attr)
{
	static const uint8_t guid[8] = {0x02, 0, 0x5e, 0xff, 0xfe, 0, 0x53, 0};

	strcpy(attr->fw_ver, "1.0.0");
	memcpy(&attr->node_guid, guid, sizeof(guid));
	memcpy(&attr->sys_image_guid, guid, sizeof(guid));
	attr->max_mr_size = UINT64_MAX;
	attr->page_size_cap = 0xfffff000;
	attr->max_qp = 1024;
	attr->max_qp_wr = 16384;
	attr->device_cap_flags = IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
				 IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_XRC;
	attr->max_sge = 30;
	attr->max_sge_rd = 30;
	attr->max_cq = 1024;
	attr->max_cqe = 65536;
	attr->max_mr = 1024;
	attr->max_pd = 1024;
	attr->max_qp_rd_atom = 16;
	attr->max_res_rd_atom = 16384;
	attr->max_qp_init_rd_atom = 16;
	attr->atomic_cap = IBV_ATOMIC_HCA;
	attr->max_ah = 1024;
	attr->max_srq = 1024;
	attr->max_srq_wr = 16384;
	attr->max_srq_sge = 30;
	attr->max_pkeys = 16;
	attr->local_ca_ack_delay = 15;
}

struct fake_device *fake_device_add(const char *name)
{
	struct fake_device *dev = &devices[device_count];
	unsigned int i;

	if (device_count == MAX_DEVICES)
		abort();
	memset(dev, 0, sizeof(*dev));
	snprintf(dev->verbs.name, sizeof(dev->verbs.name), "%s", name);
	snprintf(dev->verbs.dev_name, sizeof(dev->verbs.dev_name), "uverbs%u", device_count);
	dev->verbs.node_type = IBV_NODE_CA;
	dev->verbs.transport_type = IBV_TRANSPORT_IB;
	init_limits(&dev->attr.orig_attr);
	dev->attr.device_cap_flags_ex = dev->attr.orig_attr.device_cap_flags;
	dev->ports = 1;
	for (i = 1; i <= FAKE_MAX_PORTS; i++)
		init_port(&dev->port[i], i);
	dev->qp_types = FAKE_QPT(IBV_QPT_RC) | FAKE_QPT(IBV_QPT_UC) | FAKE_QPT(IBV_QPT_UD) |
			FAKE_QPT(IBV_QPT_RAW_PACKET) | FAKE_QPT(IBV_QPT_XRC_SEND) |
			FAKE_QPT(IBV_QPT_XRC_RECV);
	dev->max_inline = 256;
	dev->route_hop_limit = 64;
	dev->dm_log_align = 12;
	device_count++;
	return dev;
}

struct fake_device *fake_reset(void)
{
	fake_close_all();
	fake_reset_log();
	fake_uname("6.1.0-fake");
	fake_route_reset();
	fake_tree(NULL);
	fake_fork(2);
	fake_dmabuf(0);
	device_count = 0;
	return fake_device_add("fake0");
}

/* ---- The kernel's view of a port ---------------------------------------------------------- */

struct fake_port *fake_port(struct fake_device *dev, uint32_t port_num)
{
	if (!port_num || port_num > dev->ports || port_num > FAKE_MAX_PORTS)
		return NULL;
	return &dev->port[port_num];
}

bool fake_port_is_roce(const struct fake_device *dev, uint32_t port_num)
{
	return dev->verbs.transport_type == IBV_TRANSPORT_IB &&
	       dev->port[port_num].attr.link_layer == IBV_LINK_LAYER_ETHERNET;
}

int fake_gid_row(struct fake_device *dev, uint32_t port_num, uint32_t index,
		 const struct fake_gid **row)
{
	static const union ibv_gid empty = {{0}};
	struct fake_port *port = fake_port(dev, port_num);

	if (!port || index >= (uint32_t)port->attr.gid_tbl_len || index >= FAKE_MAX_GIDS)
		return EINVAL;
	*row = &port->gid[index];
	return memcmp(&(*row)->gid, &empty, sizeof(empty)) ? 0 : ENODATA;
}

static bool gid_is_ipv4(const union ibv_gid *gid)
{
	return !memcmp(gid->raw, default_gid[1], 12);
}

static bool gid_is_multicast(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xff || (gid_is_ipv4(gid) && (gid->raw[12] & 0xf0) == 0xe0);
}

static bool gid_is_link_local(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

/* A multicast or RoCE v1 link-local address contains the MAC address; any other takes a route. */
static int resolve_mac(const struct fake_device *dev, const struct fake_gid *sgid,
		       struct ibv_global_route *grh)
{
	if (gid_is_multicast(&grh->dgid))
		return 0;
	if (gid_is_link_local(&grh->dgid) && sgid->type == IBV_GID_TYPE_ROCE_V1)
		return 0;
	if (gid_is_ipv4(&sgid->gid) != gid_is_ipv4(&grh->dgid))
		return EINVAL;
	grh->hop_limit = dev->route_hop_limit;
	return dev->neighbour_errno;
}

int fake_check_path(struct fake_device *dev, struct ibv_ah_attr *ah, bool resolve)
{
	struct fake_port *port = fake_port(dev, ah->port_num);
	const struct fake_gid *sgid;
	bool roce;
	int err;

	if (!port)
		return EINVAL;
	roce = fake_port_is_roce(dev, ah->port_num);
	if (!ah->is_global)
		return roce || port->attr.flags & IBV_QPF_GRH_REQUIRED ? EINVAL : 0;
	err = fake_gid_row(dev, ah->port_num, ah->grh.sgid_index, &sgid);
	if (err || !roce || !resolve)
		return err;
	return resolve_mac(dev, sgid, &ah->grh);
}

/* ---- Finding and opening ------------------------------------------------------------------ */

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = NULL;
	struct fake_call *call;
	unsigned int i, count = 0;

	if (!device_count)
		/* A program that knows nothing of the fake finds a device too, of a driver that is known. */
		fake_profile(fake_reset(), FAKE_PROFILE_MLX4);
	call = fake_enter(FAKE_GET_DEVICE_LIST, NULL);

	if (!call->error) {
		list = (struct ibv_device **)calloc(device_count + 1, sizeof(*list));
		if (!list)
			abort();
		for (i = 0; i < device_count; i++)
			if (!devices[i].is_unlisted)
				list[count++] = &devices[i].verbs;
	}
	if (num_devices)
		*num_devices = (int)count;
	if (list)
		errno = ENOENT; /* as looking into sysfs leaves it */
	fake_return_ptr(call, call->error, list);
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return fake_container(device, struct fake_device, verbs)->attr.orig_attr.node_guid;
}

int ibv_get_device_index(struct ibv_device *device)
{
	return (int)(fake_container(device, struct fake_device, verbs) - devices);
}

static void destroy_context(struct fake_object *object)
{
	struct fake_context *context = fake_container(object, struct fake_context, object);

	fake_kernel_close(context);
	fake_events_drop(&context->verbs.context, NULL);
	pthread_mutex_destroy(&context->verbs.context.mutex);
}

static struct ibv_context *open_device(struct fake_device *dev)
{
	struct fake_context *context =
		(struct fake_context *)fake_object_new(sizeof(*context), destroy_context);
	struct ibv_context *ctx = &context->verbs.context;

	context->dev = dev;
	context->verbs.sz = sizeof(context->verbs);
	fake_device_ops(&context->verbs);
	fake_object_ops(&context->verbs);
	fake_qp_ops(&context->verbs);
	fake_shared_ops(&context->verbs);
	fake_cq_ex_ops(&context->verbs);
	fake_dm_ops(&context->verbs);
	ctx->device = &dev->verbs;
	ctx->cmd_fd = -1;
	ctx->async_fd = -1;
	ctx->num_comp_vectors = 1;
	ctx->abi_compat = __VERBS_ABI_IS_EXTENDED;
	pthread_mutex_init(&ctx->mutex, NULL);
	return ctx;
}

struct ibv_context *fake_open(struct fake_device *dev)
{
	return open_device(dev);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct fake_call *call = fake_enter(FAKE_OPEN_DEVICE, device);
	struct ibv_context *ctx = NULL;

	if (!call->error)
		ctx = open_device(fake_container(device, struct fake_device, verbs));
	return (struct ibv_context *)fake_return_ptr(call, call->error, ctx);
}

/* Whatever is still open on it stays with its owner, as with the library: a leak. */
int ibv_close_device(struct ibv_context *context)
{
	struct fake_call *call = fake_enter(FAKE_CLOSE_DEVICE, context);

	if (!call->error)
		fake_object_free(
			&fake_container(context, struct fake_context, verbs.context)->object);
	return fake_return_minus(call, call->error);
}

/* ---- Asking ------------------------------------------------------------------------------- */

static void query_device(struct fake_device *dev, struct ibv_device_attr_ex *attr)
{
	/* phys_port_cnt_ex, since rdma-core 35; what is here before that is padding or nothing. */
	size_t ports_at = offsetof(struct ibv_device_attr_ex, xrc_odp_caps) + sizeof(uint32_t);

	*attr = dev->attr;
	attr->comp_mask = 0;
	attr->orig_attr.phys_port_cnt = (uint8_t)(dev->ports > 255 ? 255 : dev->ports);
	if (ports_at + sizeof(dev->ports) <= sizeof(*attr))
		memcpy((char *)attr + ports_at, &dev->ports, sizeof(dev->ports));
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr)
{
	struct fake_call *call = fake_enter(FAKE_QUERY_DEVICE, context);
	struct ibv_device_attr_ex attr;

	if (!call->error) {
		query_device(fake_dev(context), &attr);
		*device_attr = attr.orig_attr;
	} else {
		memset(device_attr, 0x5a, sizeof(*device_attr));
	}
	return fake_return(call, call->error);
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct fake_call *call = fake_enter(FAKE_QUERY_DEVICE_EX, context);
	struct ibv_device_attr_ex full;

	memset(attr, 0x5a, attr_size);
	if (call->error)
		return fake_return(call, call->error);
	if ((input && input->comp_mask) || attr_size < sizeof(attr->orig_attr))
		return fake_return(call, EINVAL);
	query_device(fake_dev(context), &full);
	memset(attr, 0, attr_size);
	memcpy(attr, &full, attr_size < sizeof(full) ? attr_size : sizeof(full));
	return fake_return(call, 0);
}

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		      size_t attr_size)
{
	struct fake_call *call = fake_enter(FAKE_QUERY_PORT, context);
	struct fake_port *port = fake_port(fake_dev(context), port_num);

	call->port = port_num;
	memset(attr, 0x5a, attr_size);
	if (call->error)
		return fake_return(call, call->error);
	if (!port)
		return fake_return(call, EINVAL);
	memset(attr, 0, attr_size);
	memcpy(attr, &port->attr, attr_size < sizeof(*attr) ? attr_size : sizeof(*attr));
	return fake_return(call, 0);
}

/* The symbol that old programs call has a struct which ends with the flags. */
#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *port_attr)
{
	return query_port(context, port_num, (struct ibv_port_attr *)(void *)port_attr,
			  offsetof(struct ibv_port_attr, flags) + sizeof(uint8_t));
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	struct fake_call *call = fake_enter(FAKE_QUERY_GID, context);
	const struct fake_gid *row;
	int err = call->error;

	call->port = port_num;
	call->index = (uint32_t)index;
	if (err)
		return fake_return_minus(call, err);
	err = fake_gid_row(fake_dev(context), port_num, (uint32_t)index, &row);
	if (err && err != ENODATA)
		return fake_return_minus(call, err);
	/* The library's old promise: an empty row is a GID of zeros. */
	*gid = row->gid;
	return fake_return_minus(call, 0);
}

/* entry may be smaller or larger than ours, in a program built with another verbs.h. */
static void fill_entry(void *entry, size_t entry_size, const struct fake_gid *row,
		       uint32_t port_num, uint32_t index)
{
	struct ibv_gid_entry full;

	full.gid = row->gid;
	full.gid_index = index;
	full.port_num = port_num;
	full.gid_type = row->type;
	full.ndev_ifindex = row->ifindex;
	memset(entry, 0, entry_size);
	memcpy(entry, &full, entry_size < sizeof(full) ? entry_size : sizeof(full));
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	struct fake_call *call = fake_enter(FAKE_QUERY_GID_EX, context);
	const struct fake_gid *row;
	int err = call->error;

	call->port = port_num;
	call->index = gid_index;
	if (!err)
		err = flags ? EINVAL : fake_gid_row(fake_dev(context), port_num, gid_index, &row);
	if (!err)
		fill_entry(entry, entry_size, row, port_num, gid_index);
	else
		memset(entry, 0x5a, entry_size);
	return fake_return(call, err);
}

static ssize_t query_gid_table(struct fake_device *dev, char *entries, size_t max_entries,
			       size_t entry_size)
{
	const struct fake_gid *row;
	size_t count = 0;
	uint32_t port, index;
	int err;

	for (port = 1; fake_port(dev, port); port++) {
		for (index = 0; (err = fake_gid_row(dev, port, index, &row)) != EINVAL; index++) {
			if (err == ENODATA)
				continue;
			if (count == max_entries)
				return -EINVAL;
			fill_entry(entries + count++ * entry_size, entry_size, row, port, index);
		}
	}
	return (ssize_t)count;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
			     size_t max_entries, uint32_t flags, size_t entry_size)
{
	struct fake_call *call = fake_enter(FAKE_QUERY_GID_TABLE, context);
	ssize_t count = -call->error;

	call->index = (uint32_t)max_entries;
	if (!count)
		count = flags || !max_entries || !entry_size
				? -EINVAL
				: query_gid_table(fake_dev(context), (char *)entries, max_entries,
						  entry_size);
	fake_return(call, count < 0 ? (int)-count : 0);
	call->result = (int)count;
	return count;
}

/* The library reads a file per row, so what is not there is ENOENT. */
static int query_pkey(struct fake_device *dev, uint32_t port_num, int index, __be16 *pkey)
{
	struct fake_port *port = fake_port(dev, port_num);

	if (!port || index < 0 || index >= port->attr.pkey_tbl_len || index >= FAKE_MAX_PKEYS)
		return ENOENT;
	*pkey = htons(port->pkey[index]);
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	struct fake_call *call = fake_enter(FAKE_QUERY_PKEY, context);
	int err = call->error;

	call->port = port_num;
	call->index = (uint32_t)index;
	if (!err)
		err = query_pkey(fake_dev(context), port_num, index, pkey);
	return fake_return_minus(call, err);
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	struct fake_call *call = fake_enter(FAKE_GET_PKEY_INDEX, context);
	int err = call->error;
	__be16 found;
	int index;

	call->port = port_num;
	for (index = 0; !err; index++) {
		err = query_pkey(fake_dev(context), port_num, index, &found);
		if (!err && found == pkey) {
			fake_return(call, 0);
			return call->result = index;
		}
	}
	return fake_return_minus(call, err);
}

void fake_device_ops(struct verbs_context *verbs)
{
	verbs->query_device_ex = query_device_ex;
	verbs->query_port = query_port;
}
