/* SPDX-License-Identifier: MIT */
/*
 * cm_waits MISTAKE ADDRESS [SECONDS]: one mistake by which a client waits forever, over a connection of rdma_cm to a child
 * of its own, which has posted a receive and stands still. It gives up after as many seconds, and ends with 9. "none" is
 * no mistake. "zeros" waits for nothing: its server tells it, and it the server, never to retry. Knows nothing of rdmaez,
 * and nothing of the driver.
 */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

static const char port[] = "7491";
static const char *mistake, *address;
static unsigned int seconds = 4;
static char buffer[4096];
static pid_t child;

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

static struct rdma_cm_id *end_of(int flags)
{
	struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP}, *found;
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};
	struct rdma_cm_id *id;

	init.cap.max_send_wr = init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	must(!rdma_getaddrinfo(address, port, &hints, &found), "rdma_getaddrinfo");
	must(!rdma_create_ep(&id, found, NULL, &init), "rdma_create_ep");
	rdma_freeaddrinfo(found);
	return id;
}

static struct ibv_mr *ready(struct rdma_cm_id *id, int receives)
{
	struct ibv_mr *const mr = rdma_reg_msgs(id, buffer, sizeof(buffer));

	must(mr != NULL, "rdma_reg_msgs");
	must(!receives || !rdma_post_recv(id, NULL, buffer, sizeof(buffer), mr), "rdma_post_recv");
	return mr;
}

static void serve(int listens)
{
	struct rdma_conn_param none = {.retry_count = 7};
	struct rdma_cm_id *const listener = end_of(RAI_PASSIVE);
	struct rdma_cm_id *id;

	must(!rdma_listen(listener, 1), "rdma_listen");
	must(write(listens, "", 1) == 1, "write");
	must(!rdma_get_request(listener, &id), "rdma_get_request");
	ready(id, 1);
	must(!rdma_accept(id, is("zeros") ? &none : NULL), "rdma_accept");
	for (;;)
		pause();
}

static void give_up(int number)
{
	(void)number;
	kill(child, SIGKILL);
	_exit(9);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int wait_by_polling(struct ibv_cq *cq)
{
	const double start = now();
	struct ibv_wc wc;

	while (now() - start < seconds) {
		const int got = ibv_poll_cq(cq, 1, &wc);

		if (got)
			return got > 0 ? (int)wc.status : 1;
		usleep(1000);
	}
	return 9;
}

static int wait_by_event(struct rdma_cm_id *id)
{
	struct ibv_cq *cq;
	void *context;

	usleep(500000);
	if (is("armed_late"))
		ibv_req_notify_cq(id->send_cq, 0);
	signal(SIGALRM, give_up);
	alarm(seconds);
	must(!ibv_get_cq_event(id->send_cq_channel, &cq, &context), "ibv_get_cq_event");
	return 0;
}

static int use(struct rdma_cm_id *id)
{
	struct rdma_conn_param none = {.rnr_retry_count = 7};
	struct ibv_mr *const mr = ready(id, !is("wrong_cq"));
	uint8_t never = 0;

	if (is("zeros"))
		must(!rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &never,
				      sizeof(never)),
		     "rdma_set_option");
	must(!rdma_connect(id, is("zeros") ? &none : NULL), "rdma_connect");
	if (is("zeros")) {
		kill(child, SIGKILL); /* it would not answer */
		return rdma_disconnect(id) != 0;
	}
	if (is("idle"))
		return wait_by_polling(id->recv_cq);
	must(!rdma_post_send(id, NULL, buffer, 64, mr, is("unsignaled") ? 0 : IBV_SEND_SIGNALED),
	     "rdma_post_send");
	if (is("not_armed") || is("armed_late"))
		return wait_by_event(id);
	return wait_by_polling(is("wrong_cq") ? id->recv_cq : id->send_cq);
}

int main(int argc, char *argv[])
{
	int listens[2], status;
	char byte;

	if (argc < 3)
		return 2;
	mistake = argv[1];
	address = argv[2];
	if (argc > 3)
		seconds = (unsigned int)atoi(argv[3]);
	must(!pipe(listens), "pipe");
	child = fork();
	must(child >= 0, "fork");
	if (!child) {
		close(listens[0]);
		serve(listens[1]);
	}
	close(listens[1]);
	if (read(listens[0], &byte, 1) != 1)
		return 1;
	status = use(end_of(0));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return status;
}
