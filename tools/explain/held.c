/* SPDX-License-Identifier: MIT */
/*
 * Counts objects beside a refusal. A device that may have no more of them refuses the next one with ENOMEM, which sounds
 * like memory, and whoever gets it is seldom who has them.
 */
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "../doctor/nldev.h"
#include "held.h"

/* A verb begins with this; `name` is how fill_res_info() of the kernel calls what it makes. */
static const struct {
	const char *verb, *name, *field;
	enum explain_object object;
	const char *one, *many, *key;
} kinds[] = {
	{"ibv_create_qp", "qp", "max_qp", EXPLAIN_QP, "queue pair", "queue pairs", "QP"},
	{"ibv_create_cq", "cq", "max_cq", EXPLAIN_CQ, "completion queue", "completion queues",
	 "CQ"},
	{"ibv_create_srq", "srq", "max_srq", EXPLAIN_SRQ, "shared receive queue",
	 "shared receive queues", "SRQ"},
	{"ibv_reg_", "mr", "max_mr", EXPLAIN_MR, "memory region", "memory regions", "MR"},
	{"ibv_alloc_pd", "pd", "max_pd", EXPLAIN_PD, "protection domain", "protection domains",
	 "PD"},
};

/* What is looked for in an answer, and what was found. */
struct search {
	const char *device, *name;
	bool is_found;
	uint32_t index;
	uint64_t count;
};

static void take_device(struct nldev_span attributes, void *data)
{
	struct search *const search = (struct search *)data;
	char name[IBV_SYSFS_NAME_MAX];
	uint32_t index;

	if (!nldev_device(attributes, &index, name, sizeof(name)) ||
	    strcmp(name, search->device) != 0)
		return;
	search->index = index;
	search->is_found = true;
}

static void take_count(struct nldev_span entry, void *data)
{
	struct search *const search = (struct search *)data;
	char name[16];

	if (nldev_text(entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name, sizeof(name)) &&
	    strcmp(name, search->name) == 0 &&
	    nldev_u64(entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, &search->count))
		search->is_found = true;
}

static void take_summary(struct nldev_span attributes, void *data)
{
	nldev_each(attributes, RDMA_NLDEV_ATTR_RES_SUMMARY, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY,
		   take_count, data);
}

/*
 * The one whose limit a finding names, or of the verb, if memory or a quota is short; negative: none, or something else is
 * certainly the cause.
 */
static int kind_of(const struct explain_call *call, const struct rdmaez_diag *diag, uint64_t *most)
{
	const int count = (int)(sizeof(kinds) / sizeof(*kinds));
	const int error = call->error;

	*most = 0;
	for (int i = 0; i < count; i++) {
		if (strncmp(call->verb, kinds[i].verb, strlen(kinds[i].verb)) != 0)
			continue;
		for (unsigned int at = 0; at < diag->count; at++) {
			const struct rdmaez_finding *const finding = &diag->finding[at];

			if (finding->severity == RDMAEZ_DIAG_ERROR)
				return -1;
			if (finding->reason == RDMAEZ_WHY_NO_RESOURCES && finding->field &&
			    strcmp(finding->field, kinds[i].field) == 0)
				*most = finding->max;
		}
		if (*most || error == ENOMEM || error == ENOSPC || error == EAGAIN)
			return i;
	}
	return -1;
}

bool explain_held(const struct explain_call *call, const struct rdmaez_diag *diag,
		  struct explain_held *held)
{
	const int kind = call->kind == EXPLAIN_REFUSAL ? kind_of(call, diag, &held->most) : -1;
	struct search search = {.device = diag->device};
	int own;

	if (kind < 0)
		return false;
	held->one = kinds[kind].one;
	held->many = kinds[kind].many;
	held->key = kinds[kind].key;
	own = explain_process ? explain_process->objects[kinds[kind].object] : 0;
	held->process = own > 0 ? (unsigned int)own : 0;
	if (!nldev_ask(RDMA_NLDEV_CMD_GET, true, -1, take_device, &search) && search.is_found) {
		search.is_found = false;
		search.name = kinds[kind].name;
		nldev_ask(RDMA_NLDEV_CMD_RES_GET, false, (int)search.index, take_summary, &search);
	} else {
		search.is_found = false;
	}
	held->is_all_known = search.is_found;
	held->all = search.count;
	return true;
}
