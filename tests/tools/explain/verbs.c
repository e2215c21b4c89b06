/* SPDX-License-Identifier: MIT */
/*
 * Makes, changes and destroys objects, once in each way that is refused: verbs CASE. It prints what a program sees of it
 * and how often the device was asked, which must be the same with and without rdmaez-explain.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_verbs.h"

static struct fake_device *device;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_xrcd *xrcd;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static char buffer[4096];

/* ---- What a program sees --------------------------------------------------------------------------- */

static void see(const char *what, intptr_t result, enum fake_verb verb)
{
	printf("%.*s %d errno %d asked %u\n", (int)strcspn(what, "("), what, (int)result, errno,
	       fake_count(verb));
	errno = 77;
}

#define SEE(result, verb)      see(#result, (result), FAKE_##verb)
#define SEE_NULL(result, verb) see(#result, (result) != NULL, FAKE_##verb)

/* What a program gives to a verb comes back as it was: the fake does not write into what it refuses. */
#define SEE_KEPT(result, given, verb)                                           \
	do {                                                                    \
		const __typeof__(given) before = (given);                       \
                                                                                \
		SEE_NULL(result, verb);                                         \
		printf("kept %d\n", !memcmp(&before, &(given), sizeof(given))); \
	} while (0)

/* ---- Objects --------------------------------------------------------------------------------------- */

static struct ibv_qp_init_attr_ex qp_init(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = {.send_cq = cq, .recv_cq = cq, .qp_type = type, .pd = pd};

	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	init.cap.max_send_wr = init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = init.cap.max_recv_sge = 2;
	return init;
}

static struct ibv_qp *new_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = qp_init(type);

	return ibv_create_qp(pd, (struct ibv_qp_init_attr *)&init);
}

static void begin(void)
{
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_xrcd_init_attr xrcd_init = {.comp_mask = IBV_XRCD_INIT_ATTR_FD |
							    IBV_XRCD_INIT_ATTR_OFLAGS,
					       .fd = -1,
					       .oflags = O_CREAT};
	struct ibv_device **list = ibv_get_device_list(NULL);

	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	srq = ibv_create_srq(pd, &srq_init);
	xrcd = ibv_open_xrcd(context, &xrcd_init);
	mr = ibv_reg_mr(pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE);
	qp = new_qp(IBV_QPT_RC);
	fake_reset_log();
	errno = 77;
}

static void end(void)
{
	ibv_destroy_qp(qp);
	ibv_dereg_mr(mr);
	ibv_close_xrcd(xrcd);
	ibv_destroy_srq(srq);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

/* ---- Devices --------------------------------------------------------------------------------------- */

static void list_refused(void)
{
	fake_fail(FAKE_GET_DEVICE_LIST, 1, ENOSYS);
	SEE_NULL(ibv_get_device_list(NULL), GET_DEVICE_LIST);
}

static void list_empty(void)
{
	struct ibv_device **list;
	int count = 5;

	device->is_unlisted = true;
	list = ibv_get_device_list(&count);
	printf("%d %d\n", list && !*list, count);
	ibv_free_device_list(list);
}

static void open_refused(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	fake_fail(FAKE_OPEN_DEVICE, 1, EACCES);
	errno = 77;
	SEE_NULL(ibv_open_device(list[0]), OPEN_DEVICE);
	ibv_free_device_list(list);
}

static void import_device(void)
{
	fake_fail(FAKE_IMPORT_DEVICE, 1, EIO);
	SEE_NULL(ibv_import_device(0), IMPORT_DEVICE);
}

static void close_refused(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 64};
	struct ibv_wc wc;

	begin();
	fake_fail(FAKE_CLOSE_DEVICE, 1, EBUSY);
	SEE(ibv_close_device(context), CLOSE_DEVICE);
	/* It goes on, and is seen again. */
	ibv_dealloc_pd(ibv_alloc_pd(context));
	SEE_NULL(ibv_alloc_dm(context, &attr), ALLOC_DM);
	fake_cq_push(cq,
		     &(const struct ibv_wc){.qp_num = qp->qp_num, .status = IBV_WC_RETRY_EXC_ERR});
	SEE(ibv_poll_cq(cq, 1, &wc), POLL_CQ);
	end();
}

/* By what mlx5dv_open_device() comes to, too. */
struct ibv_context *verbs_open_device(struct ibv_device *which, void *private_data);

static void open_inner(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	fake_fail(FAKE_OPEN_DEVICE, 1, EACCES);
	errno = 77;
	SEE_NULL(verbs_open_device(list[0], NULL), OPEN_DEVICE);
	context = verbs_open_device(list[0], NULL);
	ibv_free_device_list(list);
	fake_fail(FAKE_CLOSE_DEVICE, 1, EBUSY);
	SEE(ibv_close_device(context), CLOSE_DEVICE);
	ibv_close_device(context);
}

static void fork_init(void)
{
	setenv("FAKE_FORK", "22", 1);
	SEE(ibv_fork_init(), ANY);
	setenv("FAKE_FORK", "0", 1);
	SEE(ibv_fork_init(), ANY);
}

static void query_others(void)
{
	struct ibv_gid_entry entry;
	struct ibv_port_attr port;
	struct ibv_ece options;

	begin();
	fake_fail(FAKE_QUERY_GID_TABLE, 1, EIO);
	SEE(ibv_query_gid_table(context, &entry, 1, 0), QUERY_GID_TABLE);
	SEE(ibv_query_gid_table(context, &entry, 1, 0), QUERY_GID_TABLE);
	fake_fail(FAKE_QUERY_ECE, 1, EIO);
	SEE(ibv_query_ece(qp, &options), QUERY_ECE);
	verbs_get_ctx(context)->query_port = NULL;
	SEE(ibv_query_port(context, 9, &port), QUERY_PORT);
	printf("GUID %llx\n", (unsigned long long)ibv_get_device_guid(context->device));
	end();
}

static void query(void)
{
	struct ibv_device_attr attr;
	struct ibv_port_attr port;

	begin();
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	SEE(ibv_query_device(context, &attr), QUERY_DEVICE);
	SEE(ibv_query_port(context, 9, &port), QUERY_PORT);
	end();
}

static void rows(void)
{
	struct ibv_gid_entry entry;
	union ibv_gid gid;
	__be16 pkey;

	begin();
	SEE(ibv_query_gid(context, 1, 2000, &gid), QUERY_GID);
	SEE(ibv_query_gid_ex(context, 1, 9, &entry, 0), QUERY_GID_EX);
	SEE(ibv_query_gid_ex(context, 1, 2000, &entry, 0), QUERY_GID_EX);
	SEE(ibv_query_pkey(context, 1, 2000, &pkey), QUERY_PKEY);
	end();
}

/* ---- Protection domains and memory ------------------------------------------------------------------- */

static void alloc_pd(void)
{
	begin();
	fake_fail(FAKE_ALLOC_PD, 1, ENOMEM);
	SEE_NULL(ibv_alloc_pd(context), ALLOC_PD);
	end();
}

static void pd_busy(void)
{
	begin();
	SEE(ibv_dealloc_pd(pd), DEALLOC_PD);
	end();
}

static void reg_access(void)
{
	begin();
	SEE_NULL(ibv_reg_mr(pd, buffer, 64, IBV_ACCESS_REMOTE_WRITE), REG_MR);
	end();
}

static void reg_iova(void)
{
	volatile unsigned int access = IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_RELAXED_ORDERING;

	begin();
	SEE_NULL(ibv_reg_mr_iova2(pd, buffer, 64, 4096, access), REG_MR);
	SEE_NULL(ibv_reg_mr(pd, buffer, 64, access), REG_MR);
	end();
}

static void reg_relaxed(void)
{
	const int writes = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	begin();
	SEE_NULL(ibv_reg_mr(pd, buffer, 64, writes), REG_MR);
	SEE_NULL(ibv_reg_mr(pd, buffer, 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING),
		 REG_MR);
	SEE_NULL(ibv_reg_mr(pd, buffer, 64, writes | IBV_ACCESS_RELAXED_ORDERING), REG_MR);
	end();
}

static void reg_dmabuf(void)
{
	begin();
	SEE_NULL(ibv_reg_dmabuf_mr(pd, 0, 64, 0, 99, IBV_ACCESS_LOCAL_WRITE), REG_DMABUF_MR);
	end();
}

static void probe_dmabuf(void)
{
	begin();
	SEE_NULL(ibv_reg_dmabuf_mr(pd, 0, 64, 0, -1, IBV_ACCESS_LOCAL_WRITE), REG_DMABUF_MR);
	end();
}

static void mr_bound(void)
{
	begin();
	fake_fail(FAKE_DEREG_MR, 1, EBUSY);
	SEE(ibv_dereg_mr(mr), DEREG_MR);
	end();
}

static void import(void)
{
	begin();
	fake_fail(FAKE_IMPORT_PD, 1, EINVAL);
	SEE_NULL(ibv_import_pd(context, 4711), IMPORT_PD);
	fake_fail(FAKE_IMPORT_MR, 1, EINVAL);
	SEE_NULL(ibv_import_mr(pd, 4711), IMPORT_MR);
	fake_fail(FAKE_IMPORT_DM, 1, EINVAL);
	SEE_NULL(ibv_import_dm(context, 4711), IMPORT_DM);
	end();
}

static void window(void)
{
	struct ibv_mw *mw;

	begin();
	fake_fail(FAKE_ALLOC_MW, 1, ENOMEM);
	SEE_NULL(ibv_alloc_mw(pd, IBV_MW_TYPE_1), ALLOC_MW);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	fake_fail(FAKE_DEALLOC_MW, 1, EBUSY);
	SEE(ibv_dealloc_mw(mw), DEALLOC_MW);
	ibv_dealloc_mw(mw);
	end();
}

/* ---- Queues ------------------------------------------------------------------------------------------ */

static void cq_limit(void)
{
	begin();
	SEE_NULL(ibv_create_cq(context, 1 << 30, NULL, NULL, 0), CREATE_CQ);
	end();
}

/* As a device refuses that has no more of them. */
static void none_left(void)
{
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr_ex init;

	begin();
	init = qp_init(IBV_QPT_RC);
	fake_fail(FAKE_CREATE_CQ, 1, ENOMEM);
	SEE_NULL(ibv_create_cq(context, 4, NULL, NULL, 0), CREATE_CQ);
	fake_fail(FAKE_CREATE_QP, 1, ENOMEM);
	SEE_NULL(ibv_create_qp(pd, (struct ibv_qp_init_attr *)&init), CREATE_QP);
	fake_fail(FAKE_CREATE_SRQ, 1, ENOSPC);
	SEE_NULL(ibv_create_srq(pd, &srq_init), CREATE_SRQ);
	fake_fail(FAKE_REG_MR, 1, EAGAIN);
	SEE_NULL(ibv_reg_mr(pd, buffer, 64, 0), REG_MR);
	fake_fail(FAKE_CREATE_CQ, 1, EIO);
	SEE_NULL(ibv_create_cq(context, 4, NULL, NULL, 0), CREATE_CQ);
	end();
}

static void cq_vector(void)
{
	begin();
	SEE_NULL(ibv_create_cq(context, 4, NULL, NULL, 99), CREATE_CQ);
	end();
}

static void cq_ex(void)
{
	struct ibv_cq_init_attr_ex init = {.cqe = 1 << 30};

	begin();
	SEE_KEPT(ibv_create_cq_ex(context, &init), init, CREATE_CQ);
	end();
}

static void cq_resize(void)
{
	begin();
	SEE(ibv_resize_cq(cq, 1 << 30), RESIZE_CQ);
	end();
}

static void cq_busy(void)
{
	begin();
	SEE(ibv_destroy_cq(cq), DESTROY_CQ);
	end();
}

static void srq_limit(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 1 << 30, .max_sge = 1}};

	begin();
	SEE_KEPT(ibv_create_srq(pd, &init), init, CREATE_SRQ);
	end();
}

static void srq_parts(void)
{
	struct ibv_srq_init_attr_ex init = {.attr = {.max_wr = 4, .max_sge = 1}};

	begin();
	init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	init.srq_type = IBV_SRQT_XRC;
	init.pd = pd;
	SEE_KEPT(ibv_create_srq_ex(context, &init), init, CREATE_SRQ);
	end();
}

static void srq_number(void)
{
	uint32_t number = 4711;

	begin();
	SEE(ibv_get_srq_num(srq, &number), ANY);
	printf("number %u\n", number);
	end();
}

static void srq_busy(void)
{
	struct ibv_qp_init_attr_ex init;
	struct ibv_qp *user;

	begin();
	init = qp_init(IBV_QPT_RC);
	init.srq = srq;
	user = ibv_create_qp(pd, (struct ibv_qp_init_attr *)&init);
	SEE(ibv_destroy_srq(srq), DESTROY_SRQ);
	ibv_destroy_qp(user);
	end();
}

static void xrcd_file(void)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = 99};

	begin();
	SEE_NULL(ibv_open_xrcd(context, &init), OPEN_XRCD);
	end();
}

static void xrcd_busy(void)
{
	begin();
	fake_fail(FAKE_CLOSE_XRCD, 1, EBUSY);
	SEE(ibv_close_xrcd(xrcd), CLOSE_XRCD);
	end();
}

/* ---- Address handles ----------------------------------------------------------------------------------- */

static struct ibv_ah_attr ah_attr(int sgid_index)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};

	attr.grh.sgid_index = (uint8_t)sgid_index;
	memcpy(attr.grh.dgid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xa\0\0\2", 16);
	return attr;
}

static void see_ah(struct ibv_ah_attr attr)
{
	SEE_KEPT(ibv_create_ah(pd, &attr), attr, CREATE_AH);
}

static void ah_empty(void)
{
	begin();
	see_ah(ah_attr(9));
	end();
}

static void ah_index(void)
{
	begin();
	see_ah(ah_attr(200));
	end();
}

static void ah_family(void)
{
	begin();
	see_ah(ah_attr(5));
	end();
}

static void ah_unreachable(void)
{
	begin();
	device->neighbour_errno = ENETUNREACH;
	see_ah(ah_attr(3));
	end();
}

static void ah_no_grh(void)
{
	struct ibv_ah_attr attr = {.port_num = 1, .dlid = 7};

	begin();
	see_ah(attr);
	end();
}

static void ah_port(void)
{
	struct ibv_ah_attr attr = ah_attr(3);

	begin();
	attr.port_num = 7;
	see_ah(attr);
	end();
}

/* ---- Device memory --------------------------------------------------------------------------------------- */

static void see_dm(size_t length, uint32_t log_align)
{
	struct ibv_alloc_dm_attr attr = {.length = length, .log_align_req = log_align};

	SEE_KEPT(ibv_alloc_dm(context, &attr), attr, ALLOC_DM);
}

static struct ibv_dm *begin_dm(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 4096};

	device->attr.max_dm_size = 65536;
	begin();
	return ibv_alloc_dm(context, &attr);
}

static void dm_none(void)
{
	begin();
	see_dm(4096, 0);
	end();
}

static void dm_long(void)
{
	ibv_free_dm(begin_dm());
	see_dm(1 << 20, 0);
	end();
}

static void dm_full(void)
{
	device->dm_size = 8192;
	ibv_free_dm(begin_dm());
	see_dm(16384, 0);
	end();
}

static void dm_align(void)
{
	ibv_free_dm(begin_dm());
	see_dm(64, 20);
	see_dm(64, 99);
	end();
}

static void dm_access(void)
{
	struct ibv_dm *dm = begin_dm();

	SEE_NULL(ibv_reg_dm_mr(pd, dm, 0, 64, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED),
		 REG_DM_MR);
	ibv_free_dm(dm);
	end();
}

static void dm_based(void)
{
	struct ibv_dm *dm = begin_dm();

	SEE_NULL(ibv_reg_dm_mr(pd, dm, 0, 64, IBV_ACCESS_LOCAL_WRITE), REG_DM_MR);
	ibv_free_dm(dm);
	end();
}

static void dm_busy(void)
{
	struct ibv_dm *dm = begin_dm();

	fake_fail(FAKE_FREE_DM, 1, EBUSY);
	SEE(ibv_free_dm(dm), FREE_DM);
	ibv_free_dm(dm);
	end();
}

/* The headers would go on to unimport it. */
static void dm_stale(void)
{
	struct ibv_dm *dm = begin_dm();

	fake_fail(FAKE_FREE_DM, 1, ENOENT);
	SEE(ibv_free_dm(dm), FREE_DM);
	printf("unimported %u\n", fake_count(FAKE_UNIMPORT_DM));
	ibv_free_dm(dm);
	end();
}

/* ---- Counters and actions of flows, which the fake does not have -------------------------------------------- */

static unsigned int refused;

static int refuse_read(struct ibv_counters *counters, uint64_t *values, uint32_t count,
		       uint32_t flags)
{
	(void)counters;
	(void)values;
	(void)count;
	(void)flags;
	refused++;
	return EINVAL;
}

static int refuse_attach(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr,
			 struct ibv_flow *flow)
{
	(void)counters;
	(void)attr;
	(void)flow;
	refused++;
	return EPROTONOSUPPORT;
}

static struct ibv_flow_action *refuse_action(struct ibv_context *unused,
					     struct ibv_flow_action_esp_attr *attr)
{
	(void)unused;
	(void)attr;
	refused++;
	errno = EOPNOTSUPP;
	return NULL;
}

static int refuse_change(struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr)
{
	(void)action;
	(void)attr;
	refused++;
	return ENOMEM;
}

static int refuse_end(struct ibv_flow_action *action)
{
	(void)action;
	refused++;
	return EBUSY;
}

static int refuse_counters(struct ibv_counters *counters)
{
	(void)counters;
	refused++;
	return EBUSY;
}

static void flows(void)
{
	struct ibv_flow_action_esp_attr attr = {.comp_mask = 0};
	struct ibv_counter_attach_attr attach = {.comp_mask = 0};
	struct ibv_flow_action action;
	struct ibv_counters counters;
	struct verbs_context *table;
	uint64_t value;

	context = fake_open(device);
	table = verbs_get_ctx(context);
	table->read_counters = refuse_read;
	table->attach_counters_point_flow = refuse_attach;
	table->destroy_counters = refuse_counters;
	table->create_flow_action_esp = refuse_action;
	table->modify_flow_action_esp = refuse_change;
	table->destroy_flow_action = refuse_end;
	pd = ibv_alloc_pd(context);
	counters.context = action.context = context;
	errno = 77;
	SEE(ibv_read_counters(&counters, &value, 1, 0), ANY);
	SEE(ibv_attach_counters_point_flow(&counters, &attach, NULL), ANY);
	SEE(ibv_destroy_counters(&counters), ANY);
	SEE_NULL(ibv_create_flow_action_esp(context, &attr), ANY);
	SEE(ibv_modify_flow_action_esp(&action, &attr), ANY);
	SEE(ibv_destroy_flow_action(&action), ANY);
	printf("refused %u\n", refused);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

/* ---- What else a provider may have, which the fake has not --------------------------------------------------- */

static int result_of_all;
static void *object_of_all;

static int answer(void)
{
	refused++;
	return result_of_all;
}

static void *answer_null(void)
{
	refused++;
	if (!object_of_all)
		errno = EOPNOTSUPP;
	return object_of_all;
}

static struct ibv_qp *answer_qp(struct ibv_context *unused, struct ibv_qp_open_attr *attr)
{
	(void)unused;
	(void)attr;
	return answer_null() ? qp : NULL;
}

#define ANSWER(entry, by) table->entry = (__typeof__(table->entry))(uintptr_t)(by)

static void answer_all(void)
{
	struct verbs_context *const table = verbs_get_ctx(context);

	ANSWER(alloc_null_mr, answer_null);
	ANSWER(advise_mr, answer);
	ANSWER(modify_cq, answer);
	ANSWER(open_qp, answer_qp);
	ANSWER(modify_qp_rate_limit, answer);
	ANSWER(alloc_td, answer_null);
	ANSWER(dealloc_td, answer);
	ANSWER(alloc_parent_domain, answer_null);
	ANSWER(create_wq, answer_null);
	ANSWER(modify_wq, answer);
	ANSWER(destroy_wq, answer);
	ANSWER(create_rwq_ind_table, answer_null);
	ANSWER(destroy_rwq_ind_table, answer);
	ANSWER(ibv_create_flow, answer_null);
	ANSWER(ibv_destroy_flow, answer);
	ANSWER(create_counters, answer_null);
}

static void see_all(void)
{
	struct ibv_rwq_ind_table_init_attr of_table = {0};
	struct ibv_qp_rate_limit_attr limit = {.rate_limit = 1};
	struct ibv_parent_domain_init_attr domain = {.pd = pd};
	struct ibv_counters_init_attr of_counters = {0};
	struct ibv_rwq_ind_table ind_table = {.context = context};
	struct ibv_qp_open_attr open = {.qp_num = qp->qp_num};
	struct ibv_flow flow = {.context = context};
	struct ibv_modify_cq_attr of_cq = {0};
	struct ibv_td td = {.context = context};
	struct ibv_wq wq = {.context = context};
	struct ibv_td_init_attr of_td = {0};
	struct ibv_wq_init_attr of_wq = {0};
	struct ibv_flow_attr of_flow = {0};
	struct ibv_wq_attr wq_attr = {0};
	struct ibv_sge sge = {0};

	SEE_NULL(ibv_alloc_null_mr(pd), ANY);
	SEE(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), ANY);
	SEE(ibv_modify_cq(cq, &of_cq), ANY);
	SEE_NULL(ibv_open_qp(context, &open), ANY);
	SEE(ibv_modify_qp_rate_limit(qp, &limit), ANY);
	SEE_NULL(ibv_alloc_td(context, &of_td), ANY);
	SEE(ibv_dealloc_td(&td), ANY);
	SEE_NULL(ibv_alloc_parent_domain(context, &domain), ANY);
	SEE_NULL(ibv_create_wq(context, &of_wq), ANY);
	SEE(ibv_modify_wq(&wq, &wq_attr), ANY);
	SEE(ibv_destroy_wq(&wq), ANY);
	SEE_NULL(ibv_create_rwq_ind_table(context, &of_table), ANY);
	SEE(ibv_destroy_rwq_ind_table(&ind_table), ANY);
	SEE_NULL(ibv_create_flow(qp, &of_flow), ANY);
	SEE(ibv_destroy_flow(&flow), ANY);
	SEE_NULL(ibv_create_counters(context, &of_counters), ANY);
	printf("answered %u\n", refused);
}

/* Open without libibverbs, the context is looked at when something is made with it. */
static void begin_answered(void)
{
	struct ibv_qp_init_attr_ex init;

	context = fake_open(device);
	answer_all();
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	init = qp_init(IBV_QPT_RC);
	qp = ibv_create_qp(pd, (struct ibv_qp_init_attr *)&init);
	errno = 77;
}

static void optional(void)
{
	begin_answered();
	result_of_all = EOPNOTSUPP;
	see_all();
}

/* Of what is made by these, what has a count of its own was never destroyed. */
static void optional_well(void)
{
	begin_answered();
	object_of_all = buffer;
	see_all();
}

/* Newer than some libraries. */
struct ibv_mr_init_attr;
__attribute__((__weak__)) struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *domain,
						       struct ibv_mr_init_attr *attr);

static void newer(void)
{
	begin();
	if (ibv_reg_mr_ex && (ibv_reg_mr_ex(pd, NULL) || errno != EOPNOTSUPP))
		printf("ibv_reg_mr_ex() errno %d\n", errno);
	end();
}

/* What a program shares with another one: its own handles will do. */
static void imported(void)
{
	struct ibv_dm *const dm = begin_dm(), *memory;
	struct ibv_pd *its;
	struct ibv_mr *region;

	its = ibv_import_pd(context, pd->handle);
	region = ibv_import_mr(pd, mr->handle);
	memory = ibv_import_dm(context, dm->handle);
	printf("pd %d mr %d dm %d\n", its != NULL, region != NULL, memory != NULL);
	ibv_unimport_mr(region);
	ibv_unimport_pd(its);
	ibv_unimport_dm(memory);
	printf("asked %u %u %u\n", fake_count(FAKE_UNIMPORT_PD), fake_count(FAKE_UNIMPORT_MR),
	       fake_count(FAKE_UNIMPORT_DM));
}

static void multicast(void)
{
	union ibv_gid gid = {.raw = {0xff, 0x0e}};

	begin();
	fake_fail(FAKE_ATTACH_MCAST, 1, ENOMEM);
	SEE(ibv_attach_mcast(qp, &gid, 0), ATTACH_MCAST);
	fake_fail(FAKE_DETACH_MCAST, 1, EINVAL);
	SEE(ibv_detach_mcast(qp, &gid, 0), DETACH_MCAST);
	end();
}

static void dm_region(void)
{
	struct ibv_dm *const dm = begin_dm();
	struct ibv_mr *const region =
		ibv_reg_dm_mr(pd, dm, 0, 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED);

	SEE_NULL(region, REG_DM_MR);
	SEE(ibv_free_dm(dm), FREE_DM);
	ibv_dereg_mr(region);
	SEE(ibv_free_dm(dm), FREE_DM);
	end();
}

static void srq_change(void)
{
	struct ibv_srq_attr attr = {.srq_limit = 1};

	begin();
	fake_fail(FAKE_MODIFY_SRQ, 1, ENOSYS);
	SEE(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), MODIFY_SRQ);
	end();
}

static void channel(void)
{
	struct ibv_comp_channel *made;

	begin();
	fake_fail(FAKE_CREATE_CHANNEL, 1, EMFILE);
	SEE_NULL(ibv_create_comp_channel(context), CREATE_CHANNEL);
	made = ibv_create_comp_channel(context);
	fcntl(made->fd, F_SETFL, O_NONBLOCK);
	fake_fail(FAKE_DESTROY_CHANNEL, 1, EBUSY);
	SEE(ibv_destroy_comp_channel(made), DESTROY_CHANNEL);
	fake_fail(FAKE_GET_CQ_EVENT, 1, EIO);
	SEE(ibv_get_cq_event(made, NULL, NULL), GET_CQ_EVENT);
	fake_fail(FAKE_GET_CQ_EVENT, 1, EAGAIN);
	SEE(ibv_get_cq_event(made, NULL, NULL), GET_CQ_EVENT);
	ibv_destroy_comp_channel(made);
	end();
}

static void ah_busy(void)
{
	struct ibv_ah_attr attr = ah_attr(3);
	struct ibv_ah *ah;

	begin();
	ah = ibv_create_ah(pd, &attr);
	fake_fail(FAKE_DESTROY_AH, 1, EIO);
	SEE(ibv_destroy_ah(ah), DESTROY_AH);
	ibv_destroy_ah(ah);
	end();
}

/* ---- Queue pairs ------------------------------------------------------------------------------------------- */

static void qp_limit(void)
{
	struct ibv_qp_init_attr_ex init;

	begin();
	init = qp_init(IBV_QPT_RC);
	init.cap.max_send_wr = 1 << 30;
	SEE_KEPT(ibv_create_qp(pd, (struct ibv_qp_init_attr *)&init), init, CREATE_QP);
	SEE_KEPT(ibv_create_qp_ex(context, &init), init, CREATE_QP);
	end();
}

/* What a program wants without a way to ask for the limit; the trials are not its own. */
static void qp_inline(void)
{
	struct ibv_qp_init_attr_ex init;

	begin();
	init = qp_init(IBV_QPT_RC);
	init.cap.max_inline_data = 300;
	SEE_KEPT(ibv_create_qp(pd, (struct ibv_qp_init_attr *)&init), init, CREATE_SRQ);
	init.cap.max_inline_data = 1 << 30;
	init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.send_ops_flags = IBV_QP_EX_WITH_SEND;
	SEE_KEPT(ibv_create_qp_ex(context, &init), init, CREATE_SRQ);
	end();
}

static void qp_ex(void)
{
	struct ibv_qp_init_attr_ex init;

	begin();
	init = qp_init(IBV_QPT_UD);
	init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ;
	SEE_KEPT(ibv_create_qp_ex(context, &init), init, CREATE_QP);
	end();
}

/* Which the creation flag brings along. */
static void qp_source(void)
{
	struct ibv_qp_init_attr_ex init;

	begin();
	init = qp_init(IBV_QPT_UD);
	init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	init.create_flags = IBV_QP_CREATE_SOURCE_QPN;
	init.source_qpn = 0x123456;
	init.cap.max_send_wr = 1 << 30;
	SEE_KEPT(ibv_create_qp_ex(context, &init), init, CREATE_QP);
	end();
}

static void qp_domain(void)
{
	struct ibv_qp_init_attr_ex init;

	begin();
	init = qp_init(IBV_QPT_XRC_RECV);
	init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	SEE_KEPT(ibv_create_qp_ex(context, &init), init, CREATE_QP);
	end();
}

static void move(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	begin();
	fake_qp_force(qp, IBV_QPS_RTS); /* which struct ibv_qp does not know */
	SEE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), MODIFY_QP);
	printf("state %d\n", qp->state);
	end();
}

/* At one place the same move is refused so often, and two others for reasons of their own before and after the last time. */
static void refuse_at_one_place(int times)
{
	for (int i = 1; i <= times + 2; i++) {
		struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR, .port_num = 1};
		int mask = IBV_QP_STATE;

		if (i == times || i == times + 2)
			attr.qp_state = IBV_QPS_INIT;
		if (i == times + 2)
			mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS | IBV_QP_QKEY;
		SEE(ibv_modify_qp(qp, &attr, mask), MODIFY_QP);
	}
}

static void reasons(void)
{
	begin();
	refuse_at_one_place(7);
	end();
}

static void reasons_enough(void)
{
	begin();
	refuse_at_one_place(8);
	end();
}

static void qp_busy(void)
{
	begin();
	fake_fail(FAKE_DESTROY_QP, 1, EBUSY);
	SEE(ibv_destroy_qp(qp), DESTROY_QP);
	end();
}

static void ece(void)
{
	struct ibv_ece options = {.vendor_id = 5, .options = 7};

	begin();
	SEE(ibv_set_ece(qp, &options), SET_ECE);
	fake_fail(FAKE_SET_ECE, 1, EINVAL);
	SEE(ibv_set_ece(qp, &options), SET_ECE);
	end();
}

/* ---- Events ------------------------------------------------------------------------------------------------ */

static void see_event(enum ibv_event_type type)
{
	struct ibv_async_event event = {.event_type = type};

	if (type == IBV_EVENT_CQ_ERR)
		event.element.cq = cq;
	else if (type == IBV_EVENT_PORT_ERR)
		event.element.port_num = 1;
	else
		event.element.qp = qp;
	fake_event(context, &event);
	SEE(ibv_get_async_event(context, &event), GET_EVENT);
	printf("event %d state %d\n", event.event_type, qp->state);
	ibv_ack_async_event(&event);
	errno = 77;
}

static void event_qp(void)
{
	begin();
	fake_qp_force(qp, IBV_QPS_ERR);
	see_event(IBV_EVENT_QP_ACCESS_ERR);
	end();
}

static void event_cq(void)
{
	begin();
	see_event(IBV_EVENT_CQ_ERR);
	see_event(IBV_EVENT_PORT_ERR);
	end();
}

static void event_refused(void)
{
	struct ibv_async_event event;

	begin();
	fake_fail(FAKE_GET_EVENT, 1, EIO);
	SEE(ibv_get_async_event(context, &event), GET_EVENT);
	end();
}

/* A path that was exchanged for another is told of a queue pair that goes on. */
static void event_path(void)
{
	begin();
	fake_qp_force(qp, IBV_QPS_RTS);
	see_event(IBV_EVENT_PATH_MIG_ERR);
	see_event(IBV_EVENT_QP_FATAL);
	end();
}

static void event_well(void)
{
	struct ibv_async_event event;

	begin();
	see_event(IBV_EVENT_COMM_EST);
	see_event(IBV_EVENT_SQ_DRAINED);
	fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
	errno = 77;
	SEE(ibv_get_async_event(context, &event), GET_EVENT);
	end();
}

/* ---- How it ended -------------------------------------------------------------------------------------------- */

static void well(void)
{
	begin();
	end();
}

static void fail_qp(void)
{
	const struct ibv_wc wc = {.qp_num = qp->qp_num, .status = IBV_WC_RETRY_EXC_ERR};
	struct ibv_wc got;

	fake_qp_force(qp, IBV_QPS_ERR);
	fake_cq_push(cq, &wc);
	ibv_poll_cq(cq, 1, &got);
}

static void left_over(void)
{
	begin();
	new_qp(IBV_QPT_RC);
	ibv_reg_mr(pd, buffer, 64, 0);
	ibv_reg_mr(pd, buffer, 64, 0);
	end();
	SEE(ibv_dealloc_pd(pd), DEALLOC_PD);
}

static void in_error(void)
{
	begin();
	fail_qp();
	end();
}

static void recovered(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	begin();
	fail_qp();
	ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	end();
}

/* Peers may write to the same memory by both, if to a byte alone. */
static void order_devices(void)
{
	const int writes = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_device **list;
	struct ibv_context *other;
	struct ibv_pd *its;
	struct ibv_mr *first;

	fake_device_add("other 1");
	list = ibv_get_device_list(NULL);
	begin();
	other = ibv_open_device(list[1]);
	its = ibv_alloc_pd(other);
	first = ibv_reg_mr(pd, buffer, 64, writes);
	ibv_reg_mr(its, buffer + 64, 64, writes);
	ibv_reg_mr(pd, buffer + 10, 20, writes);
	ibv_reg_mr(its, buffer + 2000, 64, IBV_ACCESS_LOCAL_WRITE);
	ibv_reg_mr(pd, buffer + 2000, 64, writes);
	ibv_reg_mr(its, buffer + 63, 1, writes);
	ibv_dereg_mr(first);
	ibv_reg_mr(its, buffer, 8, writes);
	ibv_reg_mr(pd, buffer + 127, 9, writes);
}

/* As many as are compared; one more is not, and gets no other one told. */
static void order_many(void)
{
	const int writes = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_device **list;
	struct ibv_pd *its;

	fake_device_add("fake1");
	list = ibv_get_device_list(NULL);
	begin();
	its = ibv_alloc_pd(ibv_open_device(list[1]));
	for (int i = 0; i < 256; i++)
		ibv_reg_mr(pd, buffer + i, 1, writes);
	ibv_reg_mr(pd, buffer + 1000, 1, writes);
	ibv_reg_mr(its, buffer + 1000, 1, writes);
	ibv_reg_mr(its, buffer + 255, 1, writes);
}

/* As many findings as no process has. */
static void many_errors(void)
{
	begin();
	for (int i = 1; i <= 70; i++) {
		fake_fail(FAKE_DEREG_MR, 1, i);
		if (ibv_dereg_mr(mr) != i)
			printf("not %d\n", i);
	}
	end();
}

static void odd_name(void)
{
	struct ibv_qp gone;

	strcpy(device->verbs.name, "fake 0\033[2J");
	begin();
	gone = *qp;
	ibv_destroy_qp(qp);
	qp = new_qp(IBV_QPT_RC);
	fake_cq_push(cq,
		     &(const struct ibv_wc){.qp_num = gone.qp_num, .status = IBV_WC_RETRY_EXC_ERR});
	ibv_poll_cq(cq, 1, &(struct ibv_wc){.wr_id = 0});
	end();
}

/* Advice is for what is accepted: a version of RoCE that is not routed. */
static void advice(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	const int rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

	begin();
	SEE(ibv_modify_qp(qp, &attr, init), MODIFY_QP);
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = 99;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr = ah_attr(2);
	SEE(ibv_modify_qp(qp, &attr, rtr | IBV_QP_QKEY), MODIFY_QP);
	SEE(ibv_modify_qp(qp, &attr, rtr), MODIFY_QP);
	printf("state %d\n", qp->state);
	end();
}

/* ---- Contexts, threads, processes ------------------------------------------------------------------------------ */

/* One that the program came to in a way of its own. */
static void adopted(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 64};

	context = fake_open(device);
	pd = ibv_alloc_pd(context);
	SEE_NULL(ibv_alloc_dm(context, &attr), ALLOC_DM);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

/* Of an older provider, whose table ends before device memory; and of one that has none at all. */
static void older(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 64};

	context = fake_open(device);
	verbs_get_ctx(context)->sz = sizeof(struct verbs_context) -
				     offsetof(struct verbs_context, modify_flow_action_esp);
	pd = ibv_alloc_pd(context);
	SEE_NULL(ibv_alloc_dm(context, &attr), ALLOC_DM);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	context = fake_open(device);
	context->abi_compat = NULL;
	pd = ibv_alloc_pd(context);
	SEE_NULL(ibv_alloc_dm(context, &attr), ALLOC_DM);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

/* Of two, and of one that lies where another was, each keeps its own. */
static void again(void)
{
	struct ibv_context *const other = fake_open(device);
	struct ibv_pd *const others = ibv_alloc_pd(other);

	for (int i = 0; i < 3; i++) {
		begin();
		see_dm(4096, 0);
		end();
	}
	SEE_NULL(ibv_alloc_mw(others, IBV_MW_TYPE_1), ALLOC_MW);
	ibv_close_device(other);
}

/* A queue pair is not destroyed while it is looked at. */
static atomic_bool is_looked_at, is_destroyed, was_destroyed;

static int slow_query_port(struct ibv_context *unused, uint8_t port, struct ibv_port_attr *attr,
			   size_t size)
{
	(void)unused;
	(void)port;
	(void)attr;
	(void)size;
	is_looked_at = true;
	for (int i = 0; i < 200 && !is_destroyed; i++)
		usleep(1000);
	was_destroyed = is_destroyed;
	return EIO;
}

static void *destroy(void *unused)
{
	/* Nobody looks without rdmaez-explain. */
	for (int i = 0; i < 1000 && !is_looked_at; i++)
		usleep(1000);
	ibv_destroy_qp(qp);
	is_destroyed = true;
	return unused;
}

static void held(void)
{
	pthread_t thread;

	begin();
	verbs_get_ctx(context)->query_port = slow_query_port;
	if (pthread_create(&thread, NULL, destroy, NULL))
		return;
	fail_qp();
	pthread_join(thread, NULL);
	printf("too early %d\n", was_destroyed);
	qp = new_qp(IBV_QPT_RC);
	end();
}

/* The child goes on with the same objects. */
static void forked(void)
{
	pid_t child;

	begin();
	fflush(stdout);
	child = fork();
	if (child > 0)
		waitpid(child, NULL, 0);
	SEE(ibv_dealloc_pd(pd), DEALLOC_PD);
	if (!child)
		SEE(ibv_destroy_cq(cq), DESTROY_CQ);
	end();
	fflush(stdout);
	if (!child)
		_exit(0);
}

/* ---- Within an explanation ------------------------------------------------------------------------------------- */

/* What a provider's function would do that is asked while a refusal is explained; nobody asks without rdmaez-explain. */
static bool is_asked;
static int answers[9];
static struct ibv_dm *memory;
static unsigned int reached;

static int query_port_and_more(struct ibv_context *unused, uint8_t port, struct ibv_port_attr *attr,
			       size_t size)
{
	struct ibv_qp_attr to_reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_ece options = {.vendor_id = 5};
	unsigned int before;
	int status = 1;
	pid_t child;

	(void)port;
	memset(attr, 0, size);
	if (is_asked)
		return EIO;
	is_asked = true;
	before = fake_count(FAKE_ANY);
	answers[0] = ibv_destroy_qp(qp);
	answers[1] = ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, pd, NULL, 0, 0);
	answers[2] = ibv_modify_qp(qp, &to_reset, IBV_QP_STATE);
	answers[3] = ibv_set_ece(qp, &options);
	answers[4] = ibv_dealloc_pd(pd);
	errno = 77;
	answers[5] = ibv_alloc_pd(unused) ? 0 : errno;
	answers[6] = ibv_open_device(unused->device) ? 0 : errno;
	answers[8] = ibv_reg_dm_mr(pd, memory, 0, 64, IBV_ACCESS_ZERO_BASED) ? 0 : errno;
	ibv_unimport_pd(pd);
	ibv_unimport_mr(mr);
	child = fork();
	if (!child)
		_exit(ibv_dealloc_pd(pd) != EOPNOTSUPP);
	answers[7] = waitpid(child, &status, 0) != child || status;
	reached = fake_count(FAKE_ANY) - before;
	return EIO;
}

/* None of them comes to the device. */
static void within(void)
{
	memory = begin_dm();
	verbs_get_ctx(context)->query_port = query_port_and_more;
	fail_qp();
	for (int i = 0; i < 7; i++)
		printf("%d ", answers[i] == EOPNOTSUPP);
	printf("child %d dm %d reached %u\n", answers[7], answers[8] == EOPNOTSUPP, reached);
	ibv_free_dm(memory);
	end();
}

/* Many, so that the table of queue pairs grows; the last one fails. */
static void many_qps(void)
{
	struct ibv_qp *many[5000];

	begin();
	for (int i = 0; i < 5000; i++)
		many[i] = new_qp(IBV_QPT_RC);
	for (int i = 0; i < 5000; i += 2)
		ibv_destroy_qp(many[i]);
	ibv_destroy_qp(qp);
	qp = many[4999];
	fail_qp();
	for (int i = 1; i < 4999; i += 2)
		ibv_destroy_qp(many[i]);
	end();
}

/* The first one, after the table of queue pairs has grown. */
static void first_of_many(void)
{
	struct ibv_qp *many[600];

	begin();
	for (int i = 0; i < 600; i++)
		many[i] = new_qp(IBV_QPT_RC);
	fail_qp();
	for (int i = 0; i < 600; i++)
		ibv_destroy_qp(many[i]);
	end();
}

#define CASE(name) {#name, name}
static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	CASE(list_refused),  CASE(list_empty),   CASE(open_refused),   CASE(import_device),
	CASE(close_refused), CASE(query),        CASE(rows),           CASE(alloc_pd),
	CASE(pd_busy),       CASE(reg_access),   CASE(reg_iova),       CASE(reg_dmabuf),
	CASE(reg_relaxed),   CASE(probe_dmabuf), CASE(mr_bound),       CASE(import),
	CASE(window),        CASE(cq_limit),     CASE(cq_vector),      CASE(cq_ex),
	CASE(cq_resize),     CASE(cq_busy),      CASE(srq_limit),      CASE(srq_parts),
	CASE(srq_number),    CASE(srq_busy),     CASE(xrcd_file),      CASE(xrcd_busy),
	CASE(ah_empty),      CASE(ah_index),     CASE(ah_family),      CASE(ah_unreachable),
	CASE(ah_no_grh),     CASE(ah_port),      CASE(dm_none),        CASE(dm_long),
	CASE(dm_full),       CASE(dm_align),     CASE(dm_access),      CASE(dm_based),
	CASE(dm_busy),       CASE(dm_stale),     CASE(flows),          CASE(qp_limit),
	CASE(qp_inline),     CASE(qp_ex),        CASE(qp_domain),      CASE(move),
	CASE(qp_busy),       CASE(ece),          CASE(event_qp),       CASE(event_cq),
	CASE(event_well),    CASE(well),         CASE(left_over),      CASE(in_error),
	CASE(recovered),     CASE(advice),       CASE(many_qps),       CASE(adopted),
	CASE(older),         CASE(again),        CASE(held),           CASE(forked),
	CASE(first_of_many), CASE(optional),     CASE(optional_well),  CASE(newer),
	CASE(imported),      CASE(multicast),    CASE(dm_region),      CASE(srq_change),
	CASE(channel),       CASE(ah_busy),      CASE(within),         CASE(open_inner),
	CASE(fork_init),     CASE(query_others), CASE(event_refused),  CASE(event_path),
	CASE(order_devices), CASE(reasons),      CASE(reasons_enough), CASE(order_many),
	CASE(none_left),     CASE(qp_source),    CASE(many_errors),    CASE(odd_name),
};

int main(int argc, char *argv[])
{
	device = fake_reset();
	for (unsigned int i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		errno = 77;
		cases[i].run();
		return 0;
	}
	return 2;
}
