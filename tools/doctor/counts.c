/* SPDX-License-Identifier: MIT */
/*
 * How many objects each device has, of whom, and how many it may have: creating one more fails with ENOMEM, or as the
 * driver likes, and says no more.
 */
#include "objects.h"
#include "port.h"
#include "process.h"

#include <rdmaez.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OWNERS = 256,
	OWNERS_SHOWN = 3
};

/* Processes by how many they have. */
struct owner {
	pid_t pid; /* 0: the kernel, or not known */
	unsigned int count;
};

static unsigned int limit_of(const struct ibv_device_attr *attr, enum objects_kind kind)
{
	const int limit = kind == OBJECTS_QP    ? attr->max_qp
			  : kind == OBJECTS_CQ  ? attr->max_cq
			  : kind == OBJECTS_MR  ? attr->max_mr
			  : kind == OBJECTS_PD  ? attr->max_pd
			  : kind == OBJECTS_SRQ ? attr->max_srq
						: 0;

	return limit > 0 ? (unsigned int)limit : 0;
}

static bool is_of(const struct object *object, const char *device)
{
	return strcmp(object->device->name, device) == 0;
}

static unsigned int count_of(const struct objects *objects, enum objects_kind kind,
			     const char *device)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < objects->count[kind]; i++)
		count += is_of(&objects->list[kind][i], device);
	return count;
}

static int more(const void *one, const void *other)
{
	const unsigned int a = ((const struct owner *)one)->count;
	const unsigned int b = ((const struct owner *)other)->count;

	return (a < b) - (a > b);
}

/* A thread of many is asked for once in a row: its objects mostly follow each other. */
static unsigned int find_owners(const struct objects *objects, enum objects_kind kind,
				const char *device, struct owner *owners)
{
	unsigned int i, k, count = 0;
	uint32_t thread, last = 0;
	pid_t pid = 0;

	for (i = 0; i < objects->count[kind]; i++) {
		if (!is_of(&objects->list[kind][i], device))
			continue;
		thread = objects_owner(objects, &objects->list[kind][i]);
		if (thread != last)
			pid = thread ? process_of_thread(thread) : 0;
		last = thread;
		for (k = 0; k < count && owners[k].pid != pid; k++)
			;
		if (k == OWNERS)
			continue;
		if (k == count)
			owners[count++] = (struct owner){pid, 0};
		owners[k].count++;
	}
	qsort(owners, count, sizeof(*owners), more);
	return count;
}

static void show_owners(const struct objects *objects, enum objects_kind kind, const char *device)
{
	struct owner owners[OWNERS];
	const unsigned int count = find_owners(objects, kind, device, owners);
	char name[32];

	for (unsigned int i = 0; i < count && i < OWNERS_SHOWN; i++) {
		if (!owners[i].pid) {
			doctor_evidence("the kernel, or processes that cannot be seen here: %u",
					owners[i].count);
			continue;
		}
		doctor_read(name, sizeof(name), "/proc/%d/comm", owners[i].pid);
		doctor_evidence("process %d (%s): %u", owners[i].pid, name, owners[i].count);
	}
	if (count > OWNERS_SHOWN)
		doctor_evidence("%u more process%s", count - OWNERS_SHOWN,
				count - OWNERS_SHOWN == 1 ? "" : "es");
}

static void look_at(const struct objects *objects, const char *device,
		    const struct ibv_device_attr *attr)
{
	char text[400] = "";
	size_t length = 0;

	for (int k = 0; k < OBJECTS_KINDS; k++) {
		const enum objects_kind kind = (enum objects_kind)k;
		const unsigned int count = count_of(objects, kind, device);
		const unsigned int limit = attr ? limit_of(attr, kind) : 0;

		if (objects->error[kind] || kind == OBJECTS_CM_ID)
			continue;
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s: %u",
					   length ? "; " : "", objects_name[kind], count);
		if (limit)
			length += (size_t)snprintf(text + length, sizeof(text) - length, " of %u",
						   limit);
		if (!limit || count < limit - limit / 10)
			continue;
		doctor_say(DOCTOR_WARNING, device,
			   "it holds %u of the %u %s that it can have; creating more than that "
			   "fails, mostly with ENOMEM",
			   count, limit, objects_name[kind]);
		doctor_evidence("ibv_query_device, and what the kernel lists by netlink");
		show_owners(objects, kind, device);
		doctor_next("end the processes that hold them, or use fewer: rdma resource show");
	}
	if (!text[0])
		return;
	doctor_say(DOCTOR_OK, device, "%s", text);
	show_owners(objects, OBJECTS_QP, device);
}

void doctor_check_objects(void)
{
	struct ibv_device_attr attr;
	struct ibv_context *context;
	struct objects objects;
	bool has_limits;

	if (doctor_options.root || !doctor_device_count() || objects_list(&objects))
		return;
	for (unsigned int i = 0; i < doctor_device_count(); i++) {
		context = doctor_open(doctor_device(i));
		has_limits = context && !ibv_query_device(context, &attr);
		look_at(&objects, doctor_device(i), has_limits ? &attr : NULL);
		if (context)
			ibv_close_device(context);
	}
}
