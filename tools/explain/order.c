/* SPDX-License-Identifier: MIT */
/*
 * Advice for memory that peers write to. Who polls it for what a write brings last relies on an order, which is not there
 * with IBV_ACCESS_RELAXED_ORDERING (ibv_reg_mr(3)), nor between the writes that come by two devices. Whether anybody
 * polls cannot be seen, so this is said where memory is registered.
 */
#include "verbs.h"

enum {
	REGIONS = 256 /* further ones are not compared */
};

/* Those that peers may write to; with the tables locked. */
static struct region {
	const struct ibv_mr *mr; /* NULL: free */
	uintptr_t start, end;
	char device[IBV_SYSFS_NAME_MAX];
} regions[REGIONS];

/* Keeps a region. Returns whether the memory is registered on another device, whose name is copied. */
static bool is_shared(const struct ibv_mr *mr, char other[IBV_SYSFS_NAME_MAX])
{
	const uintptr_t start = (uintptr_t)mr->addr, end = start + mr->length;
	const char *const device = mr->context->device->name;
	struct region *to = NULL;
	bool is = false;

	explain_lock();
	for (size_t i = 0; i < REGIONS; i++) {
		struct region *const region = &regions[i];

		if (!region->mr || region->mr == mr) {
			to = to ? to : region;
		} else if (!is && region->start < end && start < region->end &&
			   strncmp(region->device, device, sizeof(region->device)) != 0) {
			memcpy(other, region->device, sizeof(region->device));
			is = true;
		}
	}
	if (to) {
		*to = (struct region){.mr = mr, .start = start, .end = end};
		memcpy(to->device, device, sizeof(to->device));
	}
	explain_unlock();
	return is;
}

void explain_order_gone(const struct ibv_mr *mr)
{
	if (!explain_options || !explain_options->advice)
		return;
	explain_lock();
	for (size_t i = 0; i < REGIONS; i++)
		if (regions[i].mr == mr)
			regions[i].mr = NULL;
	explain_unlock();
}

static void say(const struct explain_call *of, const struct ibv_mr *mr,
		const struct explain_finding *finding)
{
	struct explain_call call = {.verb = of->verb, .caller = of->caller, .kind = EXPLAIN_ADVICE};
	struct explain_text text = {.title = "Writes into this memory region are not ordered",
				    .label = finding->reason,
				    .device = mr->context->device->name,
				    .finding = {*finding},
				    .count = 1};

	if (explain_begin(&call))
		explain_say(&call, &text);
}

void explain_order(const struct explain_call *call, const struct ibv_mr *mr, unsigned int access)
{
	struct explain_finding finding = {.severity = RDMAEZ_DIAG_ADVICE};
	char other[IBV_SYSFS_NAME_MAX], what[240];

	if (!explain_options || !explain_options->advice || explain_thread.depth ||
	    explain_thread.outer || explain_thread.explaining ||
	    !(access & IBV_ACCESS_REMOTE_WRITE))
		return;
	if (access & IBV_ACCESS_RELAXED_ORDERING) {
		finding.reason = "ORDER_RELAXED";
		finding.field = "access";
		finding.what = "with IBV_ACCESS_RELAXED_ORDERING the bytes of a write may arrive "
			       "in any order, so the last one may be there before the others";
		finding.next = "instead of polling the memory, wait for the completion of an RDMA "
			       "WRITE with immediate data or of a SEND behind the writes; if you "
			       "poll it, register it without that flag";
		say(call, mr, &finding);
	}
	if (!is_shared(mr, other))
		return;
	snprintf(what, sizeof(what),
		 "peers may also write to the same memory by %.*s, and writes that arrive by two "
		 "devices have no order: a flag that came by one says nothing about data that come "
		 "by the other",
		 IBV_SYSFS_NAME_MAX, other);
	finding.reason = "ORDER_DEVICES";
	finding.field = "addr";
	finding.what = what;
	finding.next = "send data and flag by one queue pair, or wait for a completion of each";
	say(call, mr, &finding);
}
