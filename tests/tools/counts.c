/* SPDX-License-Identifier: MIT */
/* What rdmaez-doctor says of how many objects a device has. doctor_objects.t compiles it. */
#include "tap.h"
#ifndef COUNTS
#define COUNTS "../../tools/doctor/counts.c"
#endif
#include COUNTS
#include "said.h"

struct doctor_options doctor_options;
const char *const objects_name[OBJECTS_KINDS] = {
	"queue pairs",        "cm_ids",   "completion queues",     "memory regions",
	"protection domains", "contexts", "shared receive queues",
};
static struct objects_device devices[2] = {{.name = "mlx5_0"}, {.name = "mlx5_1", .index = 1}};
static struct object pairs[128];
static struct objects listed;
static struct ibv_device_attr limits;
static struct ibv_context opened;
static bool is_open;

int objects_list(struct objects *objects)
{
	*objects = listed;
	return 0;
}

uint32_t objects_owner(const struct objects *objects, const struct object *object)
{
	(void)objects;
	return object->is.pid;
}

pid_t process_of_thread(uint32_t thread)
{
	return (pid_t)(thread / 10 * 10); /* two threads of one process are 20 and 21 */
}

unsigned int doctor_device_count(void)
{
	return 1;
}

const char *doctor_device(unsigned int i)
{
	(void)i;
	return "mlx5_0";
}

struct ibv_context *doctor_open(const char *device)
{
	(void)device;
	return is_open ? &opened : NULL;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	*attr = limits;
	return 0;
}

int ibv_close_device(struct ibv_context *context)
{
	(void)context;
	return 0;
}

int doctor_read(char *buf, size_t size, const char *path_format, ...)
{
	(void)path_format;
	snprintf(buf, size, "train");
	return 0;
}

static void says(const char *wanted, const char *what)
{
	check_says(doctor_check_objects, wanted, what);
}

/* So many queue pairs of mlx5_0, and one of the other device. */
static void make(unsigned int count)
{
	memset(&listed, 0, sizeof(listed));
	listed.devices = 2;
	listed.device = devices;
	for (unsigned int i = 0; i <= count; i++) {
		pairs[i].device = &devices[i == count];
		pairs[i].is.pid = 10;
	}
	listed.list[OBJECTS_QP] = pairs;
	listed.count[OBJECTS_QP] = count + 1;
	for (int kind = 1; kind < OBJECTS_KINDS; kind++)
		listed.error[kind] = EINVAL;
	limits.max_qp = 100;
	is_open = true;
}

int main(void)
{
	make(89);
	says("ok queue pairs: 89 of 100|process 10 (train): 89", "fewer than nine tenths");
	make(90);
	pairs[0].is.pid = 20;
	pairs[1].is.pid = 21;
	pairs[2].is.pid = 30;
	pairs[3].is.pid = 0;
	pairs[4].is.pid = 0;
	pairs[5].is.pid = 0;
	says("WARN it holds 90 of the 100 queue pairs that it can have; creating more than that "
	     "fails, "
	     "mostly with ENOMEM|ibv_query_device, and what the kernel lists by netlink|process 10 "
	     "(train): "
	     "84|the kernel, or processes that cannot be seen here: 3|process 20 (train): 2|1 more "
	     "process>end the processes that hold them, or use fewer: rdma resource show"
	     "ok queue pairs: 90 of 100|process 10 (train): 84|the kernel, or processes that "
	     "cannot "
	     "be seen here: 3|process 20 (train): 2|1 more process",
	     "nine tenths, of several processes");
	is_open = false;
	says("ok queue pairs: 90|process 10 (train): 84|the kernel, or processes that cannot be "
	     "seen "
	     "here: 3|process 20 (train): 2|1 more process",
	     "a device that does not open");
	listed.error[OBJECTS_QP] = EPERM;
	says("", "a kernel that lists none");
	doctor_options.root = "/tree";
	make(100);
	says("", "a saved tree");
	return tap_done();
}
