/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --pid and --job: the RDMA objects of all processes, as the kernel lists them at one moment. */
#ifndef RDMAEZ_DOCTOR_OBJECTS_H
#define RDMAEZ_DOCTOR_OBJECTS_H

#include "doctor.h"
#include "nldev.h"

enum objects_kind {
	OBJECTS_QP,
	OBJECTS_CM_ID,
	OBJECTS_CQ,
	OBJECTS_MR,
	OBJECTS_PD,
	OBJECTS_CONTEXT,
	OBJECTS_SRQ,
	OBJECTS_KINDS
};

struct objects_device {
	char name[IBV_SYSFS_NAME_MAX];
	uint32_t index;
	bool iwarp; /* it has no PSNs, and no queue pair numbers of peers */
};

struct object {
	const struct objects_device *device;
	struct nldev_object is;
};

/* Counters bound to queue pairs. */
struct objects_counter {
	const struct objects_device *device;
	uint32_t qp_num;
	uint32_t counter;
	char name[48];
	uint64_t value;
};

struct objects {
	unsigned int devices;
	struct objects_device *device;
	unsigned int count[OBJECTS_KINDS];
	struct object *list[OBJECTS_KINDS];
	int error[OBJECTS_KINDS]; /* of the last device that did not answer; 0: all did */
	unsigned int counters;
	struct objects_counter *counter;
};

extern const char *const objects_name[OBJECTS_KINDS]; /* "queue pairs" */

/* Lists everything; what is listed lives as long as the check. Returns 0 or an errno value where not even devices are. */
int objects_list(struct objects *objects);
/* The queue pair that this one is in another list; NULL: there is none. */
const struct object *objects_same(const struct objects *objects, const struct object *qp);
/*
 * The number of the thread that made it, or of what it was made from where that thread is gone; 0: it is not known, or
 * the kernel itself made it.
 */
uint32_t objects_owner(const struct objects *objects, const struct object *object);

#endif
