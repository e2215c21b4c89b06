/* SPDX-License-Identifier: MIT */
/*
 * A process that a signal ends, by what its argument names: in a verb, after one, by memory that was freed before, or in
 * a post. And "child", which goes on with its parent's objects.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_verbs.h"

static const char *wrong;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static char buffer[64];

static int is(const char *name)
{
	return strcmp(wrong, name) == 0;
}

static void begin(void)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};

	context = ibv_open_device(ibv_get_device_list(NULL)[0]);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	init.send_cq = init.recv_cq = cq;
	init.cap.max_send_wr = init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	qp = ibv_create_qp(pd, &init);
	mr = ibv_reg_mr(pd, buffer, sizeof(buffer), 0);
}

/* Memory that a verb cannot read, as that of an object may be that was freed. */
static void *nowhere(void)
{
	return mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Its memory is somebody else's by then. */
static void destroy_again(void)
{
	ibv_destroy_qp(qp);
	memset(qp, 0x5a, sizeof(*qp));
	ibv_destroy_qp(qp);
}

static void post(int is_send)
{
	struct ibv_send_wr *const send = (struct ibv_send_wr *)nowhere(), *bad_send;
	struct ibv_recv_wr *const recv = (struct ibv_recv_wr *)nowhere(), *bad_recv;

	if (is_send)
		ibv_post_send(qp, send, &bad_send);
	else
		ibv_post_recv(qp, recv, &bad_recv);
}

static int child(void)
{
	const pid_t pid = fork();
	int status = 1;

	if (!pid) {
		ibv_dealloc_pd(pd);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char *argv[])
{
	if (argc != 2)
		return 2;
	wrong = argv[1];
	if (is("no_verb"))
		abort();
	begin();
	if (is("killed"))
		raise(SIGKILL);
	if (is("terminated"))
		raise(SIGTERM);
	if (is("again"))
		destroy_again();
	if (is("inside"))
		ibv_dereg_mr((struct ibv_mr *)nowhere());
	if (is("send") || is("recv"))
		post(is("send"));
	if (is("child"))
		return child();
	return 0;
}
