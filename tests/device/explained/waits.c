/* SPDX-License-Identifier: MIT */
/*
 * waits MISTAKE [SECONDS]: one mistake by which a program waits forever, with two queue pairs of the first device, or of
 * two processes. It gives up after as many seconds, and ends with 9. Knows nothing of rdmaez.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

enum {
	GID_INDEX = 1,
	SIZE = 4096
};

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	union ibv_gid gid;
	char *buffer;
};

/* What each end tells the other, in memory that two processes share. */
struct told {
	volatile uint32_t qp_num, rkey;
	volatile uint64_t addr;
	volatile int step;
};

static const char *mistake;
static int seconds = 4;
static struct told *told;
static struct end ends[2];

static int is(const char *name)
{
	return strcmp(mistake, name) == 0;
}

static void must(int held, const char *what)
{
	if (held)
		return;
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int is_ud(void)
{
	return is("qkey") || is("number") || is("datagram");
}

static int is_uc(void)
{
	return is("uc_no_receive") || is("uc_dropped") || is("uc_lost") || is("uc_killed");
}

static enum ibv_qp_type type_of(int which)
{
	if (is_ud())
		return IBV_QPT_UD;
	return is_uc() || (is("type") && which) ? IBV_QPT_UC : IBV_QPT_RC;
}

static void open_end(int which)
{
	struct end *const end = &ends[which];
	struct ibv_device **const list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {.qp_type = type_of(which), .sq_sig_all = !is("unsignaled")};
	const int small = is("overrun") && !which;

	must(list && *list, "devices");
	end->context = ibv_open_device(*list);
	must(end->context != NULL, "open");
	ibv_free_device_list(list);
	end->pd = ibv_alloc_pd(end->context);
	end->channel = ibv_create_comp_channel(end->context);
	end->send_cq = ibv_create_cq(end->context, small ? 4 : 64, NULL, end->channel, 0);
	end->recv_cq = ibv_create_cq(end->context, 64, NULL, end->channel, 0);
	end->buffer =
		(char *)mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	end->mr = ibv_reg_mr(end->pd, end->buffer, SIZE,
			     is("rights") && which
				     ? IBV_ACCESS_LOCAL_WRITE
				     : IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					       IBV_ACCESS_REMOTE_READ);
	must(end->mr != NULL, "register");
	init.send_cq = end->send_cq;
	init.recv_cq = end->recv_cq;
	init.cap = (struct ibv_qp_cap){.max_send_wr = small ? 60 : 8,
				       .max_recv_wr = 16,
				       .max_send_sge = 1,
				       .max_recv_sge = 1};
	end->qp = ibv_create_qp(end->pd, &init);
	must(end->qp != NULL, "queue pair");
	must(!ibv_query_gid(end->context, 1, GID_INDEX, &end->gid), "GID");
	told[which].qp_num = end->qp->qp_num;
	told[which].rkey = end->mr->rkey;
	told[which].addr = (uintptr_t)end->buffer;
}

static void to_init(int which)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qkey = is("qkey") && which ? 0x22 : 0x11,
				   .qp_access_flags =
					   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};

	must(!ibv_modify_qp(ends[which].qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    (is_ud() ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)),
	     "INIT");
}

static void to_rtr(int which)
{
	const enum ibv_qp_type type = type_of(which);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = told[!which].qp_num,
				   .rq_psn = which ? 200 : 100,
				   .max_dest_rd_atomic = 1,
				   .min_rnr_timer = 12,
				   .ah_attr = {.is_global = 1,
					       .port_num = 1,
					       .grh = {.dgid = ends[which].gid,
						       .sgid_index = GID_INDEX,
						       .hop_limit = 64}}};

	if (is("psn") && which)
		attr.rq_psn = 999;
	if (is("qp_num") && which)
		attr.dest_qp_num = 9999;
	must(!ibv_modify_qp(ends[which].qp, &attr,
			    type == IBV_QPT_UD
				    ? IBV_QP_STATE
				    : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					      IBV_QP_RQ_PSN |
					      (type == IBV_QPT_RC ? IBV_QP_MAX_DEST_RD_ATOMIC |
									    IBV_QP_MIN_RNR_TIMER
								  : 0)),
	     "RTR");
}

static void to_rts(int which)
{
	const enum ibv_qp_type type = type_of(which);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .sq_psn = which ? 100 : 200,
				   .timeout = is("timeout") ? 0 : 10,
				   .retry_cnt = 7,
				   .rnr_retry = 7,
				   .max_rd_atomic = !is("rd_atomic")};

	must(!ibv_modify_qp(ends[which].qp, &attr,
			    IBV_QP_STATE | IBV_QP_SQ_PSN |
				    (type == IBV_QPT_RC
					     ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
					     : 0)),
	     "RTS");
}

static void post_recv(int which)
{
	struct ibv_sge sge = {(uintptr_t)ends[which].buffer, SIZE, ends[which].mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 77, .sg_list = &sge, .num_sge = 1}, *bad;

	must(!ibv_post_recv(ends[which].qp, &wr, &bad), "receive");
}

static void post(enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = {(uintptr_t)ends[0].buffer, is("datagram") ? SIZE : 64,
			      ends[0].mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 5, .opcode = opcode, .sg_list = &sge, .num_sge = 1}, *bad;

	if (is_ud()) {
		struct ibv_ah_attr attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {.dgid = ends[0].gid, .sgid_index = GID_INDEX, .hop_limit = 64}};

		wr.wr.ud.ah = ibv_create_ah(ends[0].pd, &attr);
		must(wr.wr.ud.ah != NULL, "address handle");
		wr.wr.ud.remote_qpn = is("number") ? 9999 : told[1].qp_num;
		wr.wr.ud.remote_qkey = 0x11;
	} else {
		wr.wr.rdma.remote_addr = told[1].addr + (is("bounds") ? SIZE - 32 : 0);
		wr.wr.rdma.rkey = told[1].rkey;
	}
	must(!ibv_post_send(ends[0].qp, &wr, &bad), "send");
}

/* Polls until there is one, or until it gives up. */
static int wait_for(struct ibv_cq *cq)
{
	const double start = now();
	struct ibv_wc wc;

	while (now() - start < seconds) {
		const int got = ibv_poll_cq(cq, 1, &wc);

		if (got) {
			printf("completion %d, status %d\n", got, got > 0 ? (int)wc.status : -1);
			return got > 0 ? (int)wc.status : 1;
		}
		usleep(10000);
	}
	puts("hangs");
	return 9;
}

static void wait_for_step(int which, int step)
{
	while (told[which].step < step)
		usleep(1000);
}

static void give_up(int signal)
{
	(void)signal;
	_exit(9);
}

/* ---- Events ---------------------------------------------------------------------------------------------------- */

static int take_event(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *unused;

	if (is("not_acked"))
		ibv_req_notify_cq(ends[0].send_cq, 0);
	post(IBV_WR_SEND);
	usleep(500000);
	if (is("armed_late"))
		ibv_req_notify_cq(ends[0].send_cq, 0);
	signal(SIGALRM, give_up);
	alarm((unsigned int)seconds);
	must(!ibv_get_cq_event(ends[0].channel, &cq, &unused), "event");
	ibv_poll_cq(cq, 1, &wc);
	must(!ibv_destroy_qp(ends[0].qp), "destroy");
	return ibv_destroy_cq(cq);
}

/* Takes one completion for each event, and so waits for an event with some left. The sender does not look for its own. */
static int take_one_each(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *unused;

	for (int i = 0; i < 7; i++)
		post_recv(1);
	ibv_req_notify_cq(ends[1].recv_cq, 0);
	for (int i = 0; i < 4; i++)
		post(IBV_WR_SEND);
	usleep(500000);
	signal(SIGALRM, give_up);
	alarm((unsigned int)seconds);
	for (int got = 0; got < 4; got += ibv_poll_cq(ends[1].recv_cq, 1, &wc)) {
		must(!ibv_get_cq_event(ends[1].channel, &cq, &unused), "event");
		ibv_ack_cq_events(cq, 1);
		ibv_req_notify_cq(cq, 0);
	}
	return 0;
}

/* As a program that was written for events does it, without a mistake. */
static int wait_for_event(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *unused;

	signal(SIGALRM, give_up);
	alarm((unsigned int)seconds);
	ibv_poll_cq(ends[0].send_cq, 1, &wc);
	ibv_get_cq_event(ends[0].channel, &cq, &unused);
	return 1;
}

/* What a child posts to its parent's queue pair. */
static int post_in_child(void)
{
	const pid_t child = fork();
	struct ibv_sge sge = {(uintptr_t)ends[0].buffer, 64, ends[0].mr->lkey};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad;
	int status = 0;

	must(child >= 0, "fork");
	if (!child)
		_exit(ibv_post_send(ends[0].qp, &wr, &bad) ? 9 : 0);
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

/* As an event loop does it. */
static int sleep_on_channel(void)
{
	struct pollfd file = {.fd = ends[0].channel->fd, .events = POLLIN};

	post(IBV_WR_SEND);
	usleep(500000);
	ibv_req_notify_cq(ends[0].send_cq, 0);
	return poll(&file, 1, seconds * 1000) ? 0 : 9;
}

/* ---- What is no mistake -------------------------------------------------------------------------------------------- */

/* A child that has the device open, as its parent has, and leaves it alone: posix_spawn() makes one, which then executes. */
static int have_child(void)
{
	const pid_t child = vfork();

	must(child >= 0, "vfork");
	if (!child) {
		sleep((unsigned int)seconds);
		_exit(0);
	}
	return waitpid(child, NULL, 0) != child;
}

/* A server that nobody asks anything; one that computes; and one whose program waits for something else. */
static int idle(void)
{
	if (is("child"))
		return have_child();
	if (is("computes")) {
		const double start = now();

		post(IBV_WR_SEND);
		while (now() - start < seconds)
			;
		return wait_for(ends[0].send_cq);
	}
	if (is("sleeps")) {
		post(IBV_WR_SEND);
		sleep((unsigned int)seconds);
		return wait_for(ends[0].send_cq);
	}
	if (is("slow")) {
		/* The peer takes its time, and answers. */
		post(IBV_WR_SEND);
		seconds = 1;
		wait_for(ends[0].send_cq);
		post_recv(1);
		seconds = 8;
		return wait_for(ends[0].send_cq);
	}
	if (is("selective")) {
		/* Nothing but its last request was signaled, and that is done; it looks for the peer's answer. */
		post(IBV_WR_SEND);
		must(!wait_for(ends[0].send_cq), "completion");
		post_recv(0);
		wait_for(ends[0].recv_cq);
		return 0;
	}
	if (is("idle_event")) {
		struct ibv_cq *cq;
		void *unused;

		signal(SIGALRM, give_up);
		alarm((unsigned int)seconds);
		ibv_req_notify_cq(ends[1].recv_cq, 0);
		ibv_get_cq_event(ends[1].channel, &cq, &unused);
		return 1;
	}
	wait_for(ends[1].recv_cq);
	return 0;
}

static int is_no_mistake(void)
{
	return is("idle") || is("idle_init") || is("idle_event") || is("computes") ||
	       is("sleeps") || is("selective") || is("slow") || is("child");
}

/* ---- All --------------------------------------------------------------------------------------------------------------- */

static void connect_end(int which)
{
	if (((is("not_rtr") || is("timeout")) && which) || is("idle_init"))
		return;
	to_rtr(which);
	if (!is("not_rts"))
		to_rts(which);
}

/* A completion that fails, and what the program does then hides why. */
static int fail(void)
{
	int status;

	if (is("gone_rkey"))
		must(!ibv_dereg_mr(ends[1].mr), "deregister");
	if (is("gone_lkey"))
		must(!ibv_dereg_mr(ends[0].mr), "deregister");
	post(IBV_WR_RDMA_WRITE);
	status = wait_for(ends[0].send_cq);
	if (!is("gone_rkey"))
		ibv_dereg_mr(ends[1].mr);
	ibv_destroy_qp(ends[0].qp);
	ibv_destroy_qp(ends[1].qp);
	return status;
}

static int act(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD};

	if (is("gone_rkey") || is("gone_lkey") || is("bounds") || is("rights"))
		return fail();

	if (is_no_mistake())
		return idle();
	if (is("not_armed") || is("armed_late") || is("not_acked"))
		return take_event();
	if (is("epoll"))
		return sleep_on_channel();
	if (is("stall"))
		return take_one_each();
	if (is("fork"))
		return post_in_child();
	if (is("sqd"))
		must(!ibv_modify_qp(ends[0].qp, &attr, IBV_QP_STATE), "SQD");
	for (int i = 0; i < (is("overrun") ? 40 : 1); i++)
		post(is("rd_atomic") ? IBV_WR_RDMA_READ
		     : is("overrun") ? IBV_WR_RDMA_WRITE
				     : IBV_WR_SEND);
	if (is("overrun")) {
		sleep(1);
		for (int i = 0; i < 40; i++)
			if (wait_for(ends[0].send_cq))
				return 9;
	}
	if (is("uc_dropped") || is("uc_lost"))
		must(!wait_for(ends[0].send_cq), "completion");
	if (is("uc_lost"))
		post_recv(1);
	if (is("wrong_cq"))
		return wait_for(ends[0].recv_cq);
	return wait_for(is_ud() || is_uc() ? ends[1].recv_cq : ends[0].send_cq);
}

/* The other end is another process, which stands still. */
static int two(void)
{
	const pid_t child = fork();
	int status;

	must(child >= 0, "fork");
	if (!child) {
		open_end(1);
		to_init(1);
		told[1].step = 1;
		wait_for_step(0, 1);
		to_rtr(1);
		to_rts(1);
		told[1].step = 2;
		wait_for_step(0, is("ended") ? 2 : 3);
		exit(0);
	}
	open_end(0);
	wait_for_step(1, 1);
	told[0].step = 1;
	to_init(0);
	to_rtr(0);
	to_rts(0);
	wait_for_step(1, 2);
	if (is("stopped"))
		kill(child, SIGSTOP);
	if (is("killed") || is("killed_event") || is("uc_killed"))
		kill(child, SIGKILL);
	if (is("ended")) {
		told[0].step = 2;
		must(waitpid(child, NULL, 0) == child, "wait");
	}
	if (is("killed_event"))
		ibv_req_notify_cq(ends[0].send_cq, 0);
	if (is("uc_killed"))
		post_recv(0);
	else
		post(IBV_WR_SEND);
	if (is("killed_event"))
		return wait_for_event();
	status = wait_for(is("uc_killed") ? ends[0].recv_cq : ends[0].send_cq);
	if (!is("ended")) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	mistake = argv[1];
	if (argc > 2)
		seconds = atoi(argv[2]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	told = (struct told *)mmap(NULL, 2 * sizeof(*told), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(told != MAP_FAILED, "memory");
	if (is("two_no_receive") || is("stopped") || is("killed") || is("killed_event") ||
	    is("uc_killed") || is("ended"))
		return two();
	open_end(0);
	open_end(1);
	to_init(0);
	to_init(1);
	if (!is("no_receive") && !is("uc_no_receive") && !is("uc_dropped") && !is("uc_lost") &&
	    !is("slow"))
		post_recv(1);
	connect_end(0);
	connect_end(1);
	return act();
}
