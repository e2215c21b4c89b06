/* SPDX-License-Identifier: MIT */
/* Ends the explanation of a refusal; and what the errno values mean of verbs that the headers have no function for. */
#include <rdmaez/impl/seam.h>

#include "verbs.h"

static const struct {
	const char *verb;
	int error;
	const char *reason, *field, *what, *next;
} meanings[] = {
	/* ib_attach_mcast() of Linux 6.1 to 7.2 */
	{"ibv_attach_mcast", EINVAL, "MCAST_UNFIT", "gid",
	 "only UD queue pairs receive what is sent to a group, and this must be a group's GID, on "
	 "InfiniBand with its LID",
	 "attach a UD queue pair to a GID that begins with ff, or to an IPv4 group's, such as "
	 "::ffff:239.1.2.3"},
	/* The reference count of struct ibv_comp_channel: ibv_destroy_comp_channel() of rdma-core. */
	{"ibv_destroy_comp_channel", EBUSY, "CHANNEL_IN_USE", "channel",
	 "a completion queue still has its events in this channel",
	 "destroy its completion queues first"},
	/* uverbs_free_qp() */
	{"ibv_destroy_qp", EBUSY, "QP_IN_USE", "qp",
	 "the queue pair is still attached to a multicast group, a flow or a counter",
	 "call ibv_detach_mcast() and ibv_destroy_flow() first"},
	/* ib_destroy_wq_user(), ib_destroy_rwq_ind_table() of uverbs, and the providers' thread domains */
	{"ibv_destroy_wq", EBUSY, "WQ_IN_USE", "wq",
	 "an indirection table still names the work queue", "destroy the table first"},
	{"ibv_destroy_rwq_ind_table", EBUSY, "IND_TABLE_IN_USE", "rwq_ind_table",
	 "a queue pair still uses the indirection table", "destroy the queue pair first"},
	{"ibv_dealloc_td", EBUSY, "TD_IN_USE", "td", "a parent domain still uses the thread domain",
	 "deallocate the parent domain first"},
	/* uverbs_free_counters() and uverbs_free_flow_action() of Linux */
	{"ibv_destroy_counters", EBUSY, "COUNTERS_IN_USE", "counters",
	 "a flow still counts into them", "destroy the flow first"},
	{"ibv_destroy_flow_action", EBUSY, "FLOW_ACTION_IN_USE", "action",
	 "a flow still has the action", "destroy the flow first"},
	/* ibv_fork_init() of rdma-core */
	{"ibv_fork_init", EINVAL, "FORK_LATE", "ibv_fork_init",
	 "memory has been registered already, which is not protected from fork()",
	 "call it before the first registration, or set RDMAV_FORK_SAFE=1 in the environment"},
	/* rxe_srq_chk_attr(), mlx5_ib_modify_srq() */
	{"ibv_modify_srq", EINVAL, "SRQ_UNFIT", "srq_attr",
	 "the device does not resize SRQs, or a number is out of range: max_wr above max_srq_wr of "
	 "the device, or srq_limit above max_wr",
	 "create the SRQ as large as it will ever need to be, and keep srq_limit below that"},
	/* UVERBS_METHOD_DM_MR_REG */
	{"ibv_reg_dm_mr", EINVAL, "DM_ZERO_BASED", "access",
	 "a region of device memory has addresses that count from 0", "add IBV_ACCESS_ZERO_BASED"},
};

/* EAGAIN is a cgroup's limit here: ib_rdmacg_try_charge() answers it where an object is made. */
static enum rdmaez_why meaning_of(int error)
{
	return error == EAGAIN ? RDMAEZ_WHY_CGROUP
			       : rdmaez_impl_errno_meaning(error, RDMAEZ_WHY_UNEXPLAINED);
}

/* Says what the table has of this verb and errno value; false if that is nothing. */
static bool is_said(struct explain_call *call, const struct ibv_context *context, int error)
{
	char title[96], label[64];
	struct explain_text text = {
		.title = title,
		.label = label,
		.error = error,
		.device = context && context->device ? context->device->name : "",
		.count = 1,
	};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (meanings[i].error != error || strcmp(meanings[i].verb, call->verb) != 0)
			continue;
		snprintf(title, sizeof(title), "%s failed with %s (%d)", call->verb,
			 rdmaez_errno_str(error), error);
		snprintf(label, sizeof(label), "%s %s", call->verb, rdmaez_errno_str(error));
		text.finding[0] = (struct explain_finding){.severity = RDMAEZ_DIAG_LIKELY,
							   .reason = meanings[i].reason,
							   .field = meanings[i].field,
							   .what = meanings[i].what,
							   .next = meanings[i].next};
		explain_say(call, &text);
		return true;
	}
	return false;
}

void explain_refused(struct explain_call *call, const struct ibv_context *context)
{
	const int error = call->error;
	struct rdmaez_diag *const diag = call->diag;

	if (context)
		call->opener = explain_opener(context);
	if (!diag->count && is_said(call, context, error))
		return;
	if (!diag->call) {
		diag->call = call->verb;
		diag->from = diag->to = -1;
	}
	if (context && context->device && !*diag->device)
		memcpy(diag->device, context->device->name, sizeof(diag->device));
	diag->verb = call->verb;
	diag->error = error;
	if (!diag->count)
		diag->finding[diag->count++] = (struct rdmaez_finding){
			.reason = meaning_of(error),
			.severity = RDMAEZ_DIAG_LIKELY,
			.field = call->verb,
		};
	explain_end(call);
}
