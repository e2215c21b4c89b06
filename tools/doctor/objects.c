/* SPDX-License-Identifier: MIT */
/* Lists the RDMA objects of this machine by netlink. */
#include "objects.h"

#include <rdma/rdma_netlink.h>

#include <stdlib.h>
#include <string.h>

const char *const objects_name[OBJECTS_KINDS] = {
	"queue pairs",        "cm_ids",   "completion queues",     "memory regions",
	"protection domains", "contexts", "shared receive queues",
};

static const struct {
	unsigned int command, table, entry;
} kinds[OBJECTS_KINDS] = {
	{RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY},
	{RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_ATTR_RES_CM_ID, RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY},
	{RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY},
	{RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY},
	{RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY},
	{RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY},
	{RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY},
};

/* Room for one more at the end of a list, all zero; NULL: there is no memory. Lists grow by doubling. */
static void *one_more(void **list, unsigned int *count, size_t size)
{
	char *more = (char *)*list;

	if ((*count & (*count - 1)) == 0) {
		more = (char *)realloc(more, size * (*count ? 2 * (size_t)*count : 1));
		if (!more)
			return NULL;
		*list = more;
	}
	more += size * (*count)++;
	memset(more, 0, size);
	return more;
}

/* Where what is found goes. */
struct taker {
	struct objects *objects;
	const struct objects_device *device;
	enum objects_kind kind;
	struct nldev_object counter; /* the one that is read */
	uint32_t qp_num;             /* of it */
	struct nldev_span entry;
};

static void take_device(struct nldev_span attributes, void *data)
{
	struct objects *const objects = (struct objects *)data;
	struct objects_device device, *to;
	void *list = objects->device;
	char protocol[16] = "";

	memset(&device, 0, sizeof(device));
	if (!nldev_device(attributes, &device.index, device.name, sizeof(device.name)))
		return;
	nldev_text(attributes, RDMA_NLDEV_ATTR_DEV_PROTOCOL, protocol, sizeof(protocol));
	device.iwarp = strcmp(protocol, "iw") == 0;
	to = (struct objects_device *)one_more(&list, &objects->devices, sizeof(*to));
	objects->device = (struct objects_device *)list;
	if (to)
		*to = device;
}

static void take_object(struct nldev_span entry, void *data)
{
	struct taker *const taker = (struct taker *)data;
	struct objects *const objects = taker->objects;
	void *list = objects->list[taker->kind];
	struct object *const object =
		(struct object *)one_more(&list, &objects->count[taker->kind], sizeof(*object));

	objects->list[taker->kind] = (struct object *)list;
	if (!object)
		return;
	object->device = taker->device;
	nldev_object(entry, &object->is);
	/* Drivers of iWARP leave these as they find them. */
	if (taker->device->iwarp)
		object->is.has &= ~(uint32_t)(NLDEV_RQPN | NLDEV_RQ_PSN | NLDEV_SQ_PSN);
}

static void take_objects(struct nldev_span attributes, void *data)
{
	const enum objects_kind kind = ((struct taker *)data)->kind;

	nldev_each(attributes, kinds[kind].table, kinds[kind].entry, take_object, data);
}

static void take_value(struct nldev_span entry, void *data)
{
	struct taker *const taker = (struct taker *)data;
	struct objects *const objects = taker->objects;
	void *list = objects->counter;
	struct objects_counter counter, *to;

	memset(&counter, 0, sizeof(counter));
	counter.device = taker->device;
	counter.qp_num = taker->qp_num;
	counter.counter = taker->counter.counter;
	if (!nldev_text(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, counter.name,
			sizeof(counter.name)) ||
	    !nldev_u64(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, &counter.value))
		return;
	to = (struct objects_counter *)one_more(&list, &objects->counters, sizeof(*to));
	objects->counter = (struct objects_counter *)list;
	if (to)
		*to = counter;
}

static void take_counted_qp(struct nldev_span entry, void *data)
{
	struct taker *const taker = (struct taker *)data;

	if (nldev_u32(entry, RDMA_NLDEV_ATTR_RES_LQPN, &taker->qp_num))
		nldev_each(taker->entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS,
			   RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, take_value, data);
}

static void take_counter(struct nldev_span entry, void *data)
{
	struct taker *const taker = (struct taker *)data;

	nldev_object(entry, &taker->counter);
	taker->entry = entry;
	nldev_each(entry, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY, take_counted_qp,
		   data);
}

static void take_counters(struct nldev_span attributes, void *data)
{
	nldev_each(attributes, RDMA_NLDEV_ATTR_STAT_COUNTER, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY,
		   take_counter, data);
}

int objects_list(struct objects *objects)
{
	struct taker taker;
	unsigned int i, kind;
	int error;

	memset(objects, 0, sizeof(*objects));
	memset(&taker, 0, sizeof(taker));
	taker.objects = objects;
	doctor_step("asking for RDMA devices by netlink");
	error = nldev_ask(RDMA_NLDEV_CMD_GET, true, -1, take_device, objects);
	for (i = 0; i < objects->devices; i++) {
		taker.device = &objects->device[i];
		for (kind = 0; kind < OBJECTS_KINDS; kind++) {
			doctor_step("asking for the %s of %s by netlink", objects_name[kind],
				    taker.device->name);
			taker.kind = (enum objects_kind)kind;
			error = nldev_ask(kinds[kind].command, true, (int)taker.device->index,
					  take_objects, &taker);
			if (error)
				objects->error[kind] = error;
		}
		nldev_ask_counters((int)taker.device->index, take_counters, &taker);
	}
	return objects->devices ? 0 : error;
}

const struct object *objects_same(const struct objects *objects, const struct object *qp)
{
	const struct object *other;
	unsigned int i;

	for (i = 0; i < objects->count[OBJECTS_QP]; i++) {
		other = &objects->list[OBJECTS_QP][i];
		if (other->device->index == qp->device->index && other->is.lqpn == qp->is.lqpn)
			return other;
	}
	return NULL;
}

/* Which object of a kind has this number on the device, and was made by a thread that lives. */
static uint32_t owner_of(const struct objects *objects, const struct object *of,
			 enum objects_kind kind, uint32_t bit, uint32_t number)
{
	const struct object *other;
	unsigned int i;

	for (i = 0; i < objects->count[kind]; i++) {
		other = &objects->list[kind][i];
		if (other->device != of->device || !(other->is.has & bit) ||
		    (bit == NLDEV_PDN ? other->is.pdn : other->is.ctxn) != number)
			continue;
		if (other->is.has & NLDEV_PID)
			return other->is.pid;
		if (kind == OBJECTS_PD && other->is.has & NLDEV_CTXN)
			return owner_of(objects, of, OBJECTS_CONTEXT, NLDEV_CTXN, other->is.ctxn);
	}
	return 0;
}

uint32_t objects_owner(const struct objects *objects, const struct object *object)
{
	if (object->is.has & NLDEV_PID)
		return object->is.pid;
	if (object->is.has & NLDEV_KERNEL)
		return 0;
	if (object->is.has & NLDEV_PDN)
		return owner_of(objects, object, OBJECTS_PD, NLDEV_PDN, object->is.pdn);
	if (object->is.has & NLDEV_CTXN)
		return owner_of(objects, object, OBJECTS_CONTEXT, NLDEV_CTXN, object->is.ctxn);
	return 0;
}
