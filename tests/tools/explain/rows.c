/* SPDX-License-Identifier: MIT */
/*
 * Makes, moves and destroys objects, posts, polls and waits, and prints after each step what rdmaez-explain --waiting has
 * written of it into the memory that it shares with the launcher, which this finds in its maps: rows CASE.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../tools/explain/rows.h"
#include "fake_verbs.h"

static struct explain_rows *rows;
static struct fake_device *device;
static struct ibv_context *context;
static struct ibv_pd *pd, *other_pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq, *recv_cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_ah *ah;
static struct ibv_qp *qp;
static char buffer[4096];

static void must(bool is_so, const char *what)
{
	if (is_so)
		return;
	printf("not so: %s\n", what);
	fflush(stdout);
	_exit(3);
}
#define MUST(condition) must(condition, #condition)

static void find(void)
{
	FILE *const maps = fopen("/proc/self/maps", "r");
	char line[4400], rights[5];
	unsigned long from, to;

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "rdmaez-explain") && !strstr(line, ".so") &&
		    sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && rights[1] == 'w' &&
		    to - from == (sizeof(*rows) + 4095) / 4096 * 4096)
			rows = (struct explain_rows *)from;
	MUST(rows);
}

/* ---- What stands there ------------------------------------------------------------------------------ */

static int column;

/* A word of a line, which is folded before it is too long for the test. */
__attribute__((__format__(__printf__, 1, 2))) static void add(const char *format, ...)
{
	char word[128];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(word, sizeof(word), format, arguments);
	va_end(arguments);
	if (column && column + length > 100)
		column = printf("\n   ") - 1;
	column += printf(column ? " %s" : "%s", word);
}

static void end_line(void)
{
	putchar('\n');
	column = 0;
}

/* Nothing of zeros; and what differs from run to run by what it is. */
static void put(const char *name, uint64_t value)
{
	const uint64_t start = (uintptr_t)buffer;

	if (!value)
		return;
	if (value >= start && value < start + sizeof(buffer))
		add("%s=buffer+%d", name, (int)(value - start));
	else if (!strcmp(name, "ah"))
		add("%s=%s", name, value == (uintptr_t)ah ? "it" : "another");
	else
		add("%s=%llu", name, (unsigned long long)value);
}
#define PUT(member)     put(#member, row->member)
#define PUT_SET(member) put(#member, row->member != 0)

static void put_gid(const char *name, const uint8_t gid[16])
{
	char text[INET6_ADDRSTRLEN];

	add("%s=%s", name, inet_ntop(AF_INET6, gid, text, sizeof(text)));
}

/* It is a number made of the kernel's and of the device that is open. */
static uint32_t number_of(const struct ibv_pd *of)
{
	return of ? of->handle * UINT32_C(2654435761) + (uint32_t)((uintptr_t)of->context >> 4) : 0;
}

static void put_pd(uint32_t number)
{
	if (number == number_of(pd))
		add("pd=1");
	else if (number)
		add("pd=%s", number == number_of(other_pd) ? "2" : "another");
}

/* Whether the row is this process's; begins its line. */
static bool is_own(const char *what, unsigned int at, const struct explain_row *row,
		   const char *device_name)
{
	if (row->pid != getpid())
		return false;
	add("%s %u: %s", what, at + 1, device_name);
	MUST(row->version % 2 == 0 && row->version);
	PUT(gone);
	return true;
}

static void put_request(const struct explain_request *row)
{
	if (!row->number)
		return;
	end_line();
	add("  %d:", (int)row->number);
	PUT(signaled);
	PUT(wr_id);
	PUT(opcode);
	PUT(flags);
	PUT(addr);
	PUT(length);
	PUT(lkey);
	PUT(remote_addr);
	PUT(rkey);
	PUT(ah);
	PUT(qp_num);
	PUT(qkey);
}

static void put_qp(unsigned int at)
{
	const struct explain_qp_row *const row = &rows->qp[at];

	if (!is_own("qp", at, &row->row, row->device))
		return;
	PUT(qp_num);
	PUT(type);
	PUT(state);
	PUT(send_cq);
	PUT(recv_cq);
	PUT(has_srq);
	PUT(srq);
	PUT(direct);
	put_pd(row->pd);
	PUT(max_send_wr);
	PUT(max_recv_wr);
	PUT(mask);
	PUT(dest_qp_num);
	PUT(sq_psn);
	PUT(rq_psn);
	PUT(qkey);
	PUT(access);
	PUT(pkey_index);
	PUT(port);
	PUT(path_mtu);
	PUT(timeout);
	PUT(retry_cnt);
	PUT(rnr_retry);
	PUT(min_rnr_timer);
	PUT(max_rd_atomic);
	PUT(max_dest_rd_atomic);
	PUT(sgid_index);
	PUT(dlid);
	PUT(sl);
	PUT(traffic_class);
	PUT(active_mtu);
	if (row->has_gids) {
		put_gid("gid", row->gid);
		put_gid("peer_gid", row->peer_gid);
	}
	PUT(sends);
	PUT(signaled);
	PUT(sends_done);
	PUT(messages);
	PUT(recvs);
	PUT(recvs_done);
	PUT(errors);
	PUT(recv_id);
	PUT(recv_addr);
	PUT(recv_length);
	PUT(recv_lkey);
	PUT_SET(failed_at);
	PUT(failed_id);
	PUT(failed_status);
	PUT(failed_queue);
	for (unsigned int i = 0; i < EXPLAIN_REQUESTS; i++)
		put_request(&row->request[i]);
	end_line();
}

static void put_cq(unsigned int at)
{
	const struct explain_cq_row *const row = &rows->cq[at];

	if (!is_own("cq", at, &row->row, row->device))
		return;
	PUT(cqe);
	put("channel", row->channel < 0                         ? 0
		       : channel && row->channel == channel->fd ? 1
								: (uint64_t)-1);
	PUT(direct);
	PUT(extended);
	PUT(polls);
	PUT(emptied);
	PUT(got);
	PUT(armed);
	PUT(events);
	PUT(acked);
	PUT(emptied_at);
	PUT(events_at);
	end_line();
}

static void put_srq(unsigned int at)
{
	const struct explain_srq_row *const row = &rows->srq[at];

	if (!is_own("srq", at, &row->row, row->device))
		return;
	PUT(posted);
	end_line();
}

static void put_mr(unsigned int at)
{
	const struct explain_mr_row *const row = &rows->mr[at];

	if (!is_own("mr", at, &row->row, row->device))
		return;
	PUT(lkey);
	PUT(rkey);
	PUT(access);
	put_pd(row->pd);
	PUT(rereg);
	PUT(next[0]);
	PUT(next[1]);
	PUT(addr);
	PUT(length);
	PUT_SET(made_at);
	PUT_SET(gone_at);
	end_line();
}

static void put_ah(unsigned int at)
{
	const struct explain_ah_row *const row = &rows->ah[at];

	if (!is_own("ah", at, &row->row, "of its own"))
		return;
	PUT(ah);
	PUT(dlid);
	PUT(sgid_index);
	if (row->has_gids) {
		put_gid("gid", row->gid);
		put_gid("peer_gid", row->peer_gid);
	}
	end_line();
}

static void put_call(unsigned int at)
{
	const struct explain_call_row *const row = &rows->call[at];

	if (row->pid != getpid())
		return;
	add("call %u:", at + 1);
	put("tid", row->tid == gettid());
	PUT(verb);
	PUT(of);
	PUT_SET(since);
	end_line();
}

#define PUT_ALL(kind, count)                             \
	do {                                             \
		for (unsigned int i = 0; i < count; i++) \
			put_##kind(i);                   \
	} while (0)

static void put_rows(const char *after)
{
	printf("- %s\n", after);
	PUT_ALL(cq, EXPLAIN_CQ_ROWS);
	PUT_ALL(srq, EXPLAIN_SRQ_ROWS);
	PUT_ALL(mr, EXPLAIN_MR_ROWS);
	PUT_ALL(ah, EXPLAIN_AH_ROWS);
	PUT_ALL(qp, EXPLAIN_QP_ROWS);
}

static void put_qps(const char *after)
{
	printf("- %s\n", after);
	PUT_ALL(qp, EXPLAIN_QP_ROWS);
}

static void put_cqs(const char *after)
{
	printf("- %s\n", after);
	PUT_ALL(cq, EXPLAIN_CQ_ROWS);
}

/* ---- Objects ---------------------------------------------------------------------------------------- */

static struct ibv_ah_attr address(void)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .dlid = 9, .sl = 5};

	attr.grh.sgid_index = 3;
	attr.grh.traffic_class = 106;
	attr.grh.hop_limit = 64;
	memcpy(attr.grh.dgid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xa\0\0\2", 16);
	return attr;
}

static struct ibv_qp *new_qp(enum ibv_qp_type type, struct ibv_srq *with)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = recv_cq, .srq = with, .qp_type = type};

	init.cap.max_send_wr = 6;
	init.cap.max_recv_wr = 5;
	init.cap.max_send_sge = init.cap.max_recv_sge = 2;
	return ibv_create_qp(pd, &init);
}

static struct ibv_srq *new_srq(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 2}};

	return ibv_create_srq(pd, &init);
}

static struct ibv_ah *new_ah(void)
{
	struct ibv_ah_attr attr = address();

	return ibv_create_ah(pd, &attr);
}

static void begin(void)
{
	struct ibv_device **const list = ibv_get_device_list(NULL);

	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	cq = ibv_create_cq(context, 64, NULL, channel, 0);
	recv_cq = ibv_create_cq(context, 32, NULL, NULL, 0);
	MUST(pd && channel && cq && recv_cq);
}

/* Behind the library's back. */
static void reach(struct ibv_qp *which, enum ibv_qp_state state)
{
	fake_qp_force(which, state);
	which->state = state;
}

/* ---- From creation to destruction --------------------------------------------------------------------- */

static void move(struct ibv_qp *which, enum ibv_qp_state state, struct ibv_qp_attr *attr, int mask)
{
	attr->qp_state = state;
	errno = 77;
	MUST(!ibv_modify_qp(which, attr, mask | IBV_QP_STATE) && errno == 77);
}

static void connect_qp(void)
{
	struct ibv_qp_attr attr = {.pkey_index = 0,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
				   .path_mtu = IBV_MTU_512,
				   .dest_qp_num = 4711,
				   .rq_psn = 0x1000007,
				   .sq_psn = 0x2000009,
				   .max_dest_rd_atomic = 3,
				   .min_rnr_timer = 11,
				   .timeout = 14,
				   .retry_cnt = 6,
				   .rnr_retry = 4,
				   .max_rd_atomic = 2};

	move(qp, IBV_QPS_INIT, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	put_qps("INIT");
	attr.ah_attr = address();
	move(qp, IBV_QPS_RTR, &attr,
	     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	put_qps("RTR");
	move(qp, IBV_QPS_RTS, &attr,
	     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		     IBV_QP_MAX_QP_RD_ATOMIC);
	put_qps("RTS");
}

static void objects(void)
{
	begin();
	srq = new_srq();
	mr = ibv_reg_mr(pd, buffer + 64, 1000, IBV_ACCESS_LOCAL_WRITE);
	errno = 77;
	ah = new_ah();
	MUST(errno == 77);
	qp = new_qp(IBV_QPT_RC, srq);
	put_rows("made");
	connect_qp();
	ibv_destroy_qp(qp);
	ibv_destroy_ah(ah);
	ibv_dereg_mr(mr);
	ibv_destroy_srq(srq);
	ibv_destroy_cq(cq);
	put_rows("destroyed");
}

static void post_recv(struct ibv_qp *to, struct ibv_srq *or_to, uint64_t wr_id, int num_sge)
{
	struct ibv_sge sge[3] = {{(uintptr_t)buffer + 8, 8, 21}, {(uintptr_t)buffer, 16, 22}};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = sge, .num_sge = num_sge}, *bad;

	MUST(!(to ? ibv_post_recv(to, &wr, &bad) : ibv_post_srq_recv(or_to, &wr, &bad)));
}

/* What could not be destroyed is still known, and gone by the second attempt. */
static void refused(void)
{
	struct ibv_wc wc;

	begin();
	srq = new_srq();
	mr = ibv_reg_mr(pd, buffer, 64, 0);
	ah = new_ah();
	qp = new_qp(IBV_QPT_RC, NULL);
	reach(qp, IBV_QPS_RTS);
	fake_fail(FAKE_DESTROY_QP, 1, EBUSY);
	fake_fail(FAKE_DESTROY_AH, 1, EBUSY);
	fake_fail(FAKE_DEREG_MR, 1, EBUSY);
	fake_fail(FAKE_DESTROY_SRQ, 1, EBUSY);
	MUST(ibv_destroy_qp(qp) && ibv_destroy_ah(ah) && ibv_dereg_mr(mr) && ibv_destroy_srq(srq));
	MUST(ibv_destroy_cq(cq) && ibv_destroy_cq(recv_cq));
	post_recv(qp, NULL, 6, 1);
	post_recv(NULL, srq, 6, 1);
	MUST(!ibv_poll_cq(cq, 1, &wc));
	put_rows("refused");
	MUST(!ibv_destroy_qp(qp) && !ibv_destroy_ah(ah) && !ibv_dereg_mr(mr));
	MUST(!ibv_destroy_srq(srq) && !ibv_destroy_cq(cq));
	put_rows("destroyed");
}

/* ---- Regions and addresses -------------------------------------------------------------------------- */

static void regions(void)
{
	begin();
	ibv_reg_mr(pd, buffer, 10, 0);
	(ibv_reg_mr_iova)(pd, buffer, 11, 12345, IBV_ACCESS_REMOTE_READ);
	ibv_reg_mr_iova2(pd, buffer, 12, 67890, IBV_ACCESS_LOCAL_WRITE);
	fake_dmabuf(4096);
	ibv_reg_dmabuf_mr(pd, 64, 13, 64, 1, IBV_ACCESS_REMOTE_READ);
	put_rows("registered");
}

/* Of the region as it is now. */
static void reregister(int flags, struct ibv_pd *to, int access, int result)
{
	static unsigned int kept = 2;
	const struct explain_mr_row *const row = &rows->mr[2];
	const int wanted = result > 0 ? IBV_REREG_MR_ERR_CMD : result;
	const uint64_t before = row->made_at;

	if (result)
		fake_fail(FAKE_REREG_MR, 1, result);
	MUST(ibv_rereg_mr(mr, flags, to, buffer + 64, 99, access) == wanted);
	put_mr(2);
	if (row->made_at == before)
		return;
	printf("  since then\n");
	kept++;
	MUST(rows->mr[kept].made_at == before && rows->mr[kept].gone_at > before);
	MUST(rows->mr[kept].gone_at < row->made_at);
}

static void anew(void)
{
	const int move = IBV_REREG_MR_CHANGE_TRANSLATION, rights = IBV_REREG_MR_CHANGE_ACCESS;

	begin();
	mr = (ibv_reg_mr_iova)(pd, buffer, 64, 12345, 0);
	reregister(rights, NULL, IBV_ACCESS_LOCAL_WRITE, 0);
	reregister(move, NULL, 0, 0);
	reregister(move | rights, NULL, IBV_ACCESS_ZERO_BASED, 0);
	other_pd = ibv_alloc_pd(context);
	reregister(IBV_REREG_MR_CHANGE_PD, other_pd, 0, IBV_REREG_MR_ERR_DO_FORK_OLD);
	reregister(rights, NULL, IBV_ACCESS_LOCAL_WRITE, ENOMEM);
	reregister(rights, NULL, IBV_ACCESS_LOCAL_WRITE, EOPNOTSUPP);
	reregister(rights, NULL, IBV_ACCESS_LOCAL_WRITE, IBV_REREG_MR_ERR_DONT_FORK_NEW);
	MUST(!ibv_dereg_mr(mr));
	printf("- destroyed\n");
	PUT_ALL(mr, EXPLAIN_MR_ROWS);
}

static void addresses(void)
{
	struct ibv_ah_attr attr = address();
	struct ibv_grh grh = {.version_tclass_flow = htonl(0x60000000)};
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH, .slid = 12, .sl = 3};
	union ibv_gid own;

	begin();
	errno = 77;
	fake_fail(FAKE_QUERY_GID, 1, EIO);
	ah = ibv_create_ah(pd, &attr);
	MUST(ah);
	MUST(!ibv_query_gid(context, 1, 3, &own));
	grh.dgid = own;
	grh.sgid = attr.grh.dgid;
	MUST(ibv_create_ah_from_wc(pd, &wc, &grh, 1) && errno == 77);
	put_rows("global");
	fake_port_infiniband(&device->port[1]);
	attr.is_global = 0;
	MUST(ibv_create_ah(pd, &attr));
	put_rows("local");
}

/* ---- Posting and polling ------------------------------------------------------------------------------ */

static void sends(void)
{
	struct ibv_sge sge[3] = {{(uintptr_t)buffer + 1, 100, 31},
				 {(uintptr_t)buffer + 2, 200, 32},
				 {(uintptr_t)buffer, 8, 33}};
	struct ibv_send_wr wr[4] = {
		{.wr_id = 1, .next = &wr[1], .sg_list = sge, .num_sge = 2},
		{.wr_id = 2, .next = &wr[2], .sg_list = sge + 1, .num_sge = 1},
		{.wr_id = 3, .next = &wr[3], .sg_list = sge + 2, .num_sge = 1},
		{.wr_id = 4, .sg_list = sge, .num_sge = 3},
	};
	struct ibv_send_wr *bad;
	struct ibv_mw_bind bind = {.wr_id = 5, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_mw *mw;

	begin();
	mr = ibv_reg_mr(pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE);
	qp = new_qp(IBV_QPT_RC, NULL);
	reach(qp, IBV_QPS_RTS);
	wr[0].opcode = IBV_WR_SEND;
	wr[0].send_flags = IBV_SEND_SIGNALED;
	wr[1].opcode = IBV_WR_RDMA_WRITE;
	wr[1].wr.rdma.remote_addr = 1001;
	wr[1].wr.rdma.rkey = 1002;
	wr[2].opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr[2].wr.atomic.remote_addr = 2008;
	wr[2].wr.atomic.rkey = 2002;
	wr[2].send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	MUST(ibv_post_send(qp, wr, &bad) == EINVAL && bad == &wr[3]);
	put_qps("three of four");
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	bind.bind_info.mr = mr;
	bind.bind_info.addr = (uintptr_t)buffer;
	bind.bind_info.length = 64;
	fake_fail(FAKE_BIND_MW, 1, ENOMEM);
	MUST(ibv_bind_mw(qp, mw, &bind) == ENOMEM && !ibv_bind_mw(qp, mw, &bind));
	wr[0].next = NULL;
	wr[0].opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr[0].sg_list = sge + 2;
	wr[0].num_sge = 1;
	wr[0].wr.atomic.remote_addr = 3008;
	wr[0].wr.atomic.rkey = 3002;
	fake_qp_work_done(qp);
	for (int i = 0; i < 4; i++)
		MUST(!ibv_post_send(qp, wr, &bad));
	wr[0].opcode = IBV_WR_SEND;
	wr[0].num_sge = 0;
	MUST(!ibv_post_send(qp, wr, &bad));
	put_qps("nine in all");
}

static void datagrams(void)
{
	struct ibv_sge sge = {(uintptr_t)buffer, 100, 31};
	struct ibv_send_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = recv_cq, .qp_type = IBV_QPT_UD, .sq_sig_all = 1};
	struct ibv_qp_attr attr = {.port_num = 1, .qkey = 0x1234};

	begin();
	ah = new_ah();
	init.send_cq = init.recv_cq = cq;
	init.cap.max_send_wr = init.cap.max_send_sge = 1;
	qp = ibv_create_qp(pd, &init);
	move(qp, IBV_QPS_INIT, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	move(qp, IBV_QPS_RTR, &attr, 0);
	move(qp, IBV_QPS_RTS, &attr, IBV_QP_SQ_PSN);
	wr.opcode = IBV_WR_SEND;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = 41;
	wr.wr.ud.remote_qkey = 42;
	MUST(!ibv_post_send(qp, &wr, &bad));
	put_qps("sent");
}

static void receives(void)
{
	struct ibv_sge sge[3] = {{(uintptr_t)buffer + 8, 8, 21}, {(uintptr_t)buffer, 16, 22}};
	struct ibv_recv_wr wr[4] = {
		{.wr_id = 1, .next = &wr[1], .sg_list = sge, .num_sge = 1},
		{.wr_id = 2, .next = &wr[2], .sg_list = sge, .num_sge = 2},
		{.wr_id = 3, .next = &wr[3], .sg_list = sge, .num_sge = 3},
		{.wr_id = 4, .sg_list = sge, .num_sge = 1},
	};
	struct ibv_recv_wr *bad;

	begin();
	srq = new_srq();
	qp = new_qp(IBV_QPT_RC, NULL);
	reach(qp, IBV_QPS_INIT);
	MUST(ibv_post_recv(qp, wr, &bad) && bad == &wr[2]);
	put_qps("two of four");
	MUST(ibv_post_recv(qp, &wr[2], &bad) && bad == &wr[2]);
	put_qps("none of two");
	post_recv(qp, NULL, 5, 0);
	put_qps("an empty one");
	MUST(ibv_post_srq_recv(srq, wr, &bad) && bad == &wr[2]);
	post_recv(NULL, srq, 5, 1);
	put_rows("three of the shared queue");
}

static void post_send(uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)buffer, 100, 31};
	struct ibv_send_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	MUST(!ibv_post_send(qp, &wr, &bad));
}

static void complete(struct ibv_cq *to, const struct ibv_qp *of, uint64_t wr_id,
		     enum ibv_wc_status status, enum ibv_wc_opcode opcode)
{
	const struct ibv_wc wc = {
		.wr_id = wr_id, .qp_num = of->qp_num, .status = status, .opcode = opcode};

	MUST(fake_cq_push(to, &wc));
}

static void completions(void)
{
	struct ibv_qp *other;
	struct ibv_wc wc[8];

	begin();
	qp = new_qp(IBV_QPT_RC, NULL);
	recv_cq = cq;
	other = new_qp(IBV_QPT_RC, NULL);
	complete(cq, qp, 1, IBV_WC_SUCCESS, IBV_WC_SEND);
	complete(cq, qp, 2, IBV_WC_SUCCESS, IBV_WC_SEND);
	complete(cq, qp, 3, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	complete(cq, other, 4, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	complete(cq, other, 5, IBV_WC_SUCCESS, IBV_WC_RECV);
	complete(cq, qp, 6, IBV_WC_SUCCESS, IBV_WC_RECV_RDMA_WITH_IMM);
	MUST(ibv_poll_cq(cq, 4, wc) == 4 && ibv_poll_cq(cq, 4, wc) == 2 && !ibv_poll_cq(cq, 1, wc));
	put_rows("succeeded");
	complete(cq, qp, 7, IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND);
	complete(cq, qp, 8, IBV_WC_RETRY_EXC_ERR, IBV_WC_SEND);
	complete(cq, qp, 9, IBV_WC_LOC_PROT_ERR, IBV_WC_SEND);
	complete(cq, other, 10, IBV_WC_LOC_LEN_ERR, IBV_WC_SEND);
	complete(cq, other, 11, IBV_WC_LOC_LEN_ERR, IBV_WC_SEND);
	MUST(ibv_poll_cq(cq, 8, wc) == 5);
	fake_fail(FAKE_POLL_CQ, 1, EIO);
	MUST(ibv_poll_cq(cq, 8, wc) < 0);
	put_rows("failed");
}

/* A queue pair whose receives complete elsewhere; and what a reset leaves. */
static void failed_receive(void)
{
	struct ibv_qp_attr attr = {.port_num = 1};
	struct ibv_wc wc;

	begin();
	qp = new_qp(IBV_QPT_RC, NULL);
	move(qp, IBV_QPS_INIT, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	post_recv(qp, NULL, 5, 1);
	complete(recv_cq, qp, 5, IBV_WC_LOC_LEN_ERR, IBV_WC_RECV);
	MUST(ibv_poll_cq(recv_cq, 1, &wc) == 1);
	reach(qp, IBV_QPS_RTS);
	post_send(7);
	complete(cq, qp, 7, IBV_WC_SUCCESS, IBV_WC_SEND);
	MUST(ibv_poll_cq(cq, 1, &wc) == 1);
	put_qps("failed");
	move(qp, IBV_QPS_RESET, &attr, 0);
	put_qps("RESET");
}

static void events(void)
{
	struct ibv_cq *got;
	struct ibv_wc wc;
	void *its;

	begin();
	qp = new_qp(IBV_QPT_RC, NULL);
	MUST(!ibv_poll_cq(cq, 1, &wc) && !ibv_req_notify_cq(cq, 0));
	complete(cq, qp, 1, IBV_WC_SUCCESS, IBV_WC_SEND);
	complete(cq, qp, 2, IBV_WC_SUCCESS, IBV_WC_SEND);
	MUST(!ibv_get_cq_event(channel, &got, &its) && got == cq);
	put_cqs("an event");
	MUST(ibv_poll_cq(cq, 1, &wc) == 1 && !ibv_req_notify_cq(cq, 0));
	complete(cq, qp, 3, IBV_WC_SUCCESS, IBV_WC_SEND);
	MUST(!ibv_get_cq_event(channel, &got, &its));
	put_cqs("another one");
	ibv_ack_cq_events(cq, 2);
	put_cqs("both are acknowledged");
	PUT_ALL(call, EXPLAIN_CALL_ROWS);
}

/* ---- The extended interfaces -------------------------------------------------------------------------- */

static struct ibv_cq_ex *queue;

static void new_queue(unsigned int flags)
{
	struct ibv_cq_init_attr_ex init = {.cqe = 16, .wc_flags = flags};

	queue = ibv_create_cq_ex(context, &init);
	cq = recv_cq = ibv_cq_ex_to_cq(queue);
}

static struct ibv_qp_ex *new_qp_ex(enum ibv_qp_type type, uint64_t operations)
{
	struct ibv_qp_init_attr_ex init = {.qp_type = type,
					   .send_cq = cq,
					   .recv_cq = cq,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = pd,
					   .send_ops_flags = operations};
	struct ibv_qp *made;

	init.cap.max_send_wr = init.cap.max_recv_wr = 12;
	init.cap.max_send_sge = init.cap.max_recv_sge = 2;
	init.cap.max_inline_data = 64;
	made = ibv_create_qp_ex(context, &init);
	MUST(made);
	reach(made, IBV_QPS_RTS);
	return ibv_qp_to_qp_ex(made);
}

static void set(struct ibv_qp_ex *ex, uint64_t wr_id, unsigned int flags)
{
	ex->wr_id = wr_id;
	ex->wr_flags = flags;
}

/* Eight requests are kept. */
static void operations(void)
{
	struct ibv_sge sge[2] = {{(uintptr_t)buffer + 4, 40, 33}, {(uintptr_t)buffer, 2, 34}};
	struct ibv_data_buf data[2] = {{buffer, 5}, {buffer, 6}};
	struct ibv_mw_bind_info bind = {.addr = (uintptr_t)buffer, .length = 64};
	struct ibv_qp_ex *ex;
	struct ibv_mw *mw;

	begin();
	bind.mr = ibv_reg_mr(pd, buffer, 64, IBV_ACCESS_LOCAL_WRITE);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	new_queue(IBV_WC_EX_WITH_QP_NUM);
	ex = new_qp_ex(IBV_QPT_RC, 0x3ff & ~(uint64_t)IBV_QP_EX_WITH_TSO);
	ibv_wr_start(ex);
	set(ex, 1, IBV_SEND_SIGNALED);
	ibv_wr_rdma_write(ex, 101, 201);
	ibv_wr_set_sge(ex, 31, (uintptr_t)buffer + 3, 30);
	set(ex, 2, 0);
	ibv_wr_rdma_write_imm(ex, 102, 202, 0);
	ibv_wr_set_sge_list(ex, 2, sge);
	set(ex, 3, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
	ibv_wr_rdma_read(ex, 103, 203);
	ibv_wr_set_sge_list(ex, 0, NULL);
	set(ex, 4, IBV_SEND_INLINE);
	ibv_wr_send_imm(ex, 0);
	ibv_wr_set_inline_data(ex, buffer, 7);
	set(ex, 5, IBV_SEND_SIGNALED);
	ibv_wr_send_inv(ex, 105);
	ibv_wr_set_inline_data_list(ex, 2, data);
	set(ex, 6, 0);
	ibv_wr_atomic_cmp_swp(ex, 106, 206, 1, 2);
	ibv_wr_set_sge(ex, 36, (uintptr_t)buffer, 8);
	set(ex, 7, 0);
	ibv_wr_atomic_fetch_add(ex, 107, 207, 1);
	ibv_wr_set_sge(ex, 37, (uintptr_t)buffer, 8);
	MUST(!ibv_wr_complete(ex));
	put_rows("seven");
	ibv_wr_start(ex);
	set(ex, 8, IBV_SEND_SIGNALED);
	ibv_wr_local_inv(ex, 108);
	set(ex, 9, 0);
	ibv_wr_bind_mw(ex, mw, 109, &bind);
	set(ex, 10, 0);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 40, (uintptr_t)buffer, 9);
	MUST(!ibv_wr_complete(ex));
	put_qps("ten");
	ibv_wr_start(ex);
	set(ex, 11, IBV_SEND_SIGNALED);
	ibv_wr_send(ex);
	ibv_wr_abort(ex);
	put_qps("one is given up");
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, 3, sge);
	MUST(ibv_wr_complete(ex));
	put_qps("one is refused");
	MUST(fake_misused() == 0);
}

static void datagrams_ex(void)
{
	struct ibv_qp_ex *ex;

	begin();
	ah = new_ah();
	new_queue(0);
	ex = new_qp_ex(IBV_QPT_UD, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO);
	ibv_wr_start(ex);
	set(ex, 1, 0);
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, ah, 51, 52);
	ibv_wr_set_sge(ex, 31, (uintptr_t)buffer, 30);
	ibv_wr_send_tso(ex, buffer, 14, 1000);
	ibv_wr_set_ud_addr(ex, ah, 53, 54);
	ibv_wr_set_sge(ex, 32, (uintptr_t)buffer, 40);
	MUST(!ibv_wr_complete(ex));
	put_qps("sent");
}

/* A thread may have begun with two, and what is set for one is not taken for the other's. */
static void crossed(void)
{
	struct ibv_qp_ex *one, *other;

	begin();
	ah = new_ah();
	new_queue(0);
	one = new_qp_ex(IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
	other = new_qp_ex(IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
	ibv_wr_start(one);
	ibv_wr_start(other);
	set(one, 1, IBV_SEND_SIGNALED);
	set(other, 2, 0);
	ibv_wr_send(one);
	ibv_wr_send(other);
	ibv_wr_set_sge(one, 31, (uintptr_t)buffer, 30);
	ibv_wr_set_ud_addr(one, ah, 51, 52);
	ibv_wr_set_sge(other, 32, (uintptr_t)buffer, 40);
	ibv_wr_set_ud_addr(other, ah, 53, 54);
	ibv_wr_abort(one);
	put_qps("both");
}

static void poll_ex(void)
{
	struct ibv_poll_cq_attr attr = {0};

	for (int result = ibv_start_poll(queue, &attr); !result;) {
		ibv_end_poll(queue);
		result = ibv_start_poll(queue, &attr);
	}
}

/* Where the queue does not tell whose a completion is, it is known if there is one queue pair alone. */
static void polled_ex(void)
{
	begin();
	new_queue(IBV_WC_EX_WITH_QP_NUM);
	qp = new_qp(IBV_QPT_RC, NULL);
	new_qp(IBV_QPT_RC, NULL);
	complete(cq, qp, 1, IBV_WC_SUCCESS, IBV_WC_SEND);
	complete(cq, qp, 2, IBV_WC_SUCCESS, IBV_WC_RECV);
	complete(cq, qp, 3, IBV_WC_LOC_LEN_ERR, IBV_WC_RECV);
	poll_ex();
	new_queue(0);
	qp = new_qp(IBV_QPT_RC, NULL);
	complete(cq, qp, 1, IBV_WC_SUCCESS, IBV_WC_SEND);
	complete(cq, qp, 2, IBV_WC_RETRY_EXC_ERR, IBV_WC_SEND);
	poll_ex();
	put_cqs("with one");
	new_qp(IBV_QPT_RC, NULL);
	complete(cq, qp, 1, IBV_WC_SUCCESS, IBV_WC_SEND);
	poll_ex();
	put_rows("with two");
}

/* By this the program learns where its queues lie, and nobody sees what it does there. */
static void direct(void)
{
	void *const library = dlopen("libmlx5.so.1", RTLD_NOW);
	int (*const init_obj)(void *, uint64_t) =
		(int (*)(void *, uint64_t))(uintptr_t)dlsym(library, "mlx5dv_init_obj");
	void *object[4] = {NULL};

	begin();
	object[0] = qp = new_qp(IBV_QPT_RC, NULL);
	object[2] = recv_cq;
	MUST(init_obj && !init_obj(object, 4) && init_obj(object, 0));
	put_rows("neither");
	MUST(!init_obj(object, 2));
	put_rows("a completion queue");
	MUST(!init_obj(object, 1));
	put_rows("a queue pair");
}

/* A DCT of mlx5 has its number from RTR on. */
static void renumbered(void)
{
	void *const library = dlopen("libmlx5.so.1", RTLD_NOW);
	struct ibv_qp *(*const create)(struct ibv_context *, struct ibv_qp_init_attr_ex *, void *) =
		(struct ibv_qp * (*)(struct ibv_context *, struct ibv_qp_init_attr_ex *, void *))(
			uintptr_t)dlsym(library, "mlx5dv_create_qp");
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_DRIVER};
	struct ibv_qp_attr attr = {.port_num = 1, .path_mtu = IBV_MTU_1024};
	struct ibv_wc wc;

	begin();
	MUST(create);
	fake_profile(device, FAKE_PROFILE_MLX5);
	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	init.pd = pd;
	init.send_cq = init.recv_cq = cq;
	qp = create(context, &init, NULL);
	MUST(qp);
	move(qp, IBV_QPS_INIT, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	put_qps("INIT");
	attr.ah_attr = address();
	move(qp, IBV_QPS_RTR, &attr, IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU);
	complete(cq, qp, 1, IBV_WC_SUCCESS, IBV_WC_RECV);
	MUST(ibv_poll_cq(cq, 1, &wc) == 1);
	put_qps("RTR");
	MUST(!ibv_destroy_qp(qp));
	put_qps("destroyed");
}

/* ---- Full tables ---------------------------------------------------------------------------------------- */

#define COUNT(kind, condition, of)                                                 \
	do {                                                                       \
		int count = 0;                                                     \
                                                                                   \
		for (unsigned int i = 0; i < of; i++)                              \
			count += rows->kind[i].row.pid == getpid() && (condition); \
		printf(" %s %d", #kind, count);                                    \
	} while (0)

static void count_rows(const char *after)
{
	printf("- %s:", after);
	COUNT(qp, !rows->qp[i].row.gone, EXPLAIN_QP_ROWS);
	COUNT(cq, !rows->cq[i].row.gone, EXPLAIN_CQ_ROWS);
	COUNT(srq, !rows->srq[i].row.gone, EXPLAIN_SRQ_ROWS);
	COUNT(mr, !rows->mr[i].row.gone, EXPLAIN_MR_ROWS);
	COUNT(ah, !rows->ah[i].row.gone, EXPLAIN_AH_ROWS);
	end_line();
}

static struct ibv_qp *all_qps[EXPLAIN_QP_ROWS + 1];
static struct ibv_cq *all_cqs[EXPLAIN_CQ_ROWS + 1];
static struct ibv_srq *all_srqs[EXPLAIN_SRQ_ROWS + 1];
static struct ibv_mr *all_mrs[EXPLAIN_MR_ROWS + 1];
static struct ibv_ah *all_ahs[EXPLAIN_AH_ROWS + 1];

#define EACH(all) (unsigned int i = 0; i < sizeof(all) / sizeof(*(all)); i++)

static void fill(void)
{
	for
		EACH(all_srqs)
	MUST((all_srqs[i] = new_srq()));
	for
		EACH(all_mrs)
	MUST((all_mrs[i] = ibv_reg_mr(pd, buffer, 64, 0)));
	for
		EACH(all_ahs)
	MUST((all_ahs[i] = new_ah()));
	for
		EACH(all_cqs)
	MUST((all_cqs[i] = ibv_create_cq(context, 4, NULL, NULL, 0)));
	for
		EACH(all_qps)
	MUST((all_qps[i] = new_qp(IBV_QPT_RC, NULL)));
}

static void empty(void)
{
	for
		EACH(all_qps)
	MUST(!ibv_destroy_qp(all_qps[i]));
	for
		EACH(all_cqs)
	MUST(!ibv_destroy_cq(all_cqs[i]));
	for
		EACH(all_ahs)
	MUST(!ibv_destroy_ah(all_ahs[i]));
	for
		EACH(all_mrs)
	MUST(!ibv_dereg_mr(all_mrs[i]));
	for
		EACH(all_srqs)
	MUST(!ibv_destroy_srq(all_srqs[i]));
}

/* Each object is found by its own row. */
static void use_all(void)
{
	struct ibv_wc wc;

	for
		EACH(all_srqs)
	post_recv(NULL, all_srqs[i], 1, 1);
	for
		EACH(all_cqs)
	MUST(!ibv_poll_cq(all_cqs[i], 1, &wc));
	for
		EACH(all_qps)
		{
			reach(all_qps[i], IBV_QPS_INIT);
			post_recv(all_qps[i], NULL, 1, 1);
		}
	printf("- each was used once:");
	COUNT(qp, rows->qp[i].recvs == 1, EXPLAIN_QP_ROWS);
	COUNT(cq, rows->cq[i].polls == 1, EXPLAIN_CQ_ROWS);
	COUNT(srq, rows->srq[i].posted == 1, EXPLAIN_SRQ_ROWS);
	putchar('\n');
}

/* Nothing is known of what comes when all rows are taken, and it works all the same. */
static void use_unknown(void)
{
	const unsigned int last = EXPLAIN_CQ_ROWS;
	struct ibv_qp_attr attr = {.port_num = 1};
	struct ibv_qp_ex *ex;
	struct ibv_wc wc;

	qp = all_qps[EXPLAIN_QP_ROWS];
	move(qp, IBV_QPS_INIT, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	reach(qp, IBV_QPS_RTS);
	post_send(1);
	post_recv(qp, NULL, 1, 1);
	post_recv(NULL, all_srqs[EXPLAIN_SRQ_ROWS], 1, 1);
	complete(all_cqs[last], qp, 1, IBV_WC_RETRY_EXC_ERR, IBV_WC_SEND);
	MUST(ibv_poll_cq(all_cqs[last], 1, &wc) == 1 && !ibv_req_notify_cq(all_cqs[last], 0));
	new_queue(IBV_WC_EX_WITH_QP_NUM);
	ex = new_qp_ex(IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
	ah = all_ahs[EXPLAIN_AH_ROWS];
	for (int i = 0; i < 2; i++) {
		ibv_wr_start(ex);
		ibv_wr_send(ex);
		ibv_wr_set_ud_addr(ex, ah, 1, 1);
		ibv_wr_set_sge(ex, 1, 1, 1);
		if (!i)
			MUST(!ibv_wr_complete(ex));
	}
	ibv_wr_abort(ex);
	complete(cq, &ex->qp_base, 1, IBV_WC_SUCCESS, IBV_WC_SEND);
	poll_ex();
	MUST(!ibv_destroy_qp(&ex->qp_base) && !ibv_destroy_cq(cq));
}

/* A region that is registered anew keeps what it was, where there is a row for that. */
static void count_long(const char *after)
{
	printf("- %s:", after);
	COUNT(mr, rows->mr[i].length == 99, EXPLAIN_MR_ROWS);
	COUNT(mr, rows->mr[i].rereg == EXPLAIN_MR_ENDED, EXPLAIN_MR_ROWS);
	end_line();
}

static void full(void)
{
	begin();
	fill();
	count_rows("all rows");
	use_unknown();
	MUST(!ibv_rereg_mr(all_mrs[EXPLAIN_MR_ROWS], IBV_REREG_MR_CHANGE_TRANSLATION, NULL, buffer,
			   99, 0));
	count_long("one that is not known");
	MUST(!ibv_rereg_mr(all_mrs[0], IBV_REREG_MR_CHANGE_TRANSLATION, NULL, buffer, 99, 0));
	count_long("one that is");
	count_rows("as many");
	empty();
	count_rows("all are gone");
	fill();
	count_rows("all rows again");
	use_all();
	empty();
}

/* ---- Processes -------------------------------------------------------------------------------------------- */

static const char *self;

/* What it had is gone, whatever the program is that takes its place. */
static void executes(void)
{
	begin();
	srq = new_srq();
	mr = ibv_reg_mr(pd, buffer, 64, 0);
	ah = new_ah();
	qp = new_qp(IBV_QPT_RC, NULL);
	MUST(!ibv_destroy_qp(new_qp(IBV_QPT_RC, NULL)));
	count_rows("before");
	fflush(stdout);
	execl("/proc/self/exe", self, "executed", (char *)NULL);
}

static void executed(void)
{
	count_rows("afterwards");
	PUT_ALL(call, EXPLAIN_CALL_ROWS);
}

/* The rows of another process are there until it has ended and somebody needs them. */
static void ended(void)
{
	int status = 1, told[2], asked[2];
	pid_t child;
	char byte;

	begin();
	fflush(stdout);
	MUST(!pipe(told) && !pipe(asked));
	child = fork();
	if (!child) {
		close(asked[1]);
		for (int i = 0; i < EXPLAIN_SRQ_ROWS; i++)
			new_srq();
		count_rows("the child");
		fflush(stdout);
		MUST(write(told[1], "", 1) == 1 && read(asked[0], &byte, 1) == 1);
		_exit(0);
	}
	MUST(read(told[0], &byte, 1) == 1);
	new_srq();
	count_rows("the parent");
	MUST(write(asked[1], "", 1) == 1 && waitpid(child, &status, 0) == child && !status);
	printf("- of the child: %d\n", rows->srq[EXPLAIN_SRQ_ROWS - 1].row.pid == child);
	errno = 77;
	MUST(!ibv_destroy_srq(new_srq()));
	new_srq();
	MUST(errno == 77);
	count_rows("the parent");
}

/* A child knows nothing of its parent's objects, and its own rows are others. */
static void forked(void)
{
	int status = 1;
	pid_t child;

	begin();
	qp = new_qp(IBV_QPT_RC, NULL);
	reach(qp, IBV_QPS_RTS);
	fflush(stdout);
	child = fork();
	if (!child) {
		post_send(1);
		cq = ibv_create_cq(context, 8, NULL, NULL, 0);
		put_rows("the child");
		fflush(stdout);
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child && !status);
	post_send(2);
	put_rows("the parent");
}

/* ---- Calls that wait -------------------------------------------------------------------------------------- */

static sigjmp_buf before;

static void put_calls(const char *after)
{
	printf("- %s\n", after);
	PUT_ALL(call, EXPLAIN_CALL_ROWS);
}

/* The thread is in no verb but the one that waits, so that this may print. */
static void leave(int number)
{
	static int times;

	(void)number;
	if (!rows->call[0].verb && ++times < 200) {
		ualarm(50000, 0);
		return;
	}
	if (recv_cq) {
		put_calls("waits");
		MUST(!ibv_destroy_cq(recv_cq));
		put_calls("has called another one");
		recv_cq = NULL;
	}
	siglongjmp(before, 1);
}

static void wait_and_leave(void)
{
	struct ibv_cq *got;
	void *its;

	ualarm(50000, 0);
	if (!sigsetjmp(before, 1))
		ibv_get_cq_event(channel, &got, &its);
}

/* What a thread does that waits in no verb. */
static void act(int which)
{
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc wc;

	switch (which) {
	case 0:
		MUST(!ibv_poll_cq(cq, 1, &wc));
		break;
	case 1:
		post_send(1);
		break;
	case 2:
		post_recv(qp, NULL, 1, 1);
		break;
	case 3:
		post_recv(NULL, srq, 1, 1);
		break;
	case 4:
		MUST(!ibv_req_notify_cq(cq, 0));
		break;
	default:
		MUST(ibv_start_poll(queue, &attr) == ENOENT);
	}
}

/* Who leaves a wait by longjmp() waits until it does something else. */
static void left(void)
{
	const struct sigaction action = {.sa_handler = leave};
	struct ibv_cq *its;

	begin();
	srq = new_srq();
	qp = new_qp(IBV_QPT_RC, NULL);
	reach(qp, IBV_QPS_RTS);
	its = cq;
	new_queue(0);
	cq = its;
	recv_cq = ibv_create_cq(context, 32, NULL, NULL, 0);
	MUST(!sigaction(SIGALRM, &action, NULL));
	for (int i = 0; i < 6; i++) {
		wait_and_leave();
		put_calls("left");
		act(i);
		put_calls("done");
	}
}

static pthread_barrier_t here, done;

static void *call_once(void *unused)
{
	struct ibv_cq *got;
	void *its;

	MUST(ibv_get_cq_event(channel, &got, &its) < 0);
	pthread_barrier_wait(&here);
	pthread_barrier_wait(&done);
	return unused;
}

/* Of this thread; 0: of any. */
static int count_calls(pid_t tid)
{
	int count = 0;

	for (unsigned int i = 0; i < EXPLAIN_CALL_ROWS; i++)
		count += rows->call[i].pid == getpid() && (!tid || rows->call[i].tid == tid);
	return count;
}

/* More threads than there are rows; one that has ended makes room. */
static void crowd(void)
{
	enum {
		THREADS = EXPLAIN_CALL_ROWS + 2
	};
	pthread_t thread[THREADS];
	struct ibv_cq *got;
	void *its;

	begin();
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	pthread_barrier_init(&here, NULL, THREADS + 1);
	pthread_barrier_init(&done, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(&thread[i], NULL, call_once, NULL));
	pthread_barrier_wait(&here);
	printf("threads %d rows %d\n", THREADS, count_calls(0));
	pthread_barrier_wait(&done);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	errno = 77;
	fake_fail(FAKE_GET_CQ_EVENT, 1, EAGAIN);
	MUST(ibv_get_cq_event(channel, &got, &its) < 0 && errno == EAGAIN);
	printf("of this thread %d\n", count_calls(gettid()));
}

/* ---- What a debugger calls ------------------------------------------------------------------------------- */

__attribute__((__weak__)) int rdmaez_explain_waiting(void);

static void ask(void)
{
	int result;

	errno = 77;
	result = rdmaez_explain_waiting();
	printf("asked %d errno %d\n", result, errno);
}

static void asks(void)
{
	begin();
	ask();
	usleep(300000);
}

/* Whoever would answer has ended. */
static void outlives(void)
{
	const pid_t launcher = getppid();

	begin();
	kill(launcher, SIGKILL);
	while (getppid() == launcher)
		usleep(1000);
	ask();
}

#define CASE(name) {#name, name}
static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	CASE(objects),   CASE(refused),    CASE(regions),      CASE(addresses),
	CASE(sends),     CASE(receives),   CASE(completions),  CASE(failed_receive),
	CASE(events),    CASE(operations), CASE(datagrams_ex), CASE(crossed),
	CASE(polled_ex), CASE(full),       CASE(executes),     CASE(executed),
	CASE(ended),     CASE(forked),     CASE(left),         CASE(crowd),
	CASE(datagrams), CASE(renumbered), CASE(asks),         CASE(outlives),
	CASE(anew),      CASE(direct),
};

int main(int argc, char *argv[])
{
	device = fake_reset();
	self = argv[0];
	find();
	for (unsigned int i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		cases[i].run();
		return 0;
	}
	return 2;
}
