/* SPDX-License-Identifier: MIT */
/*
 * A process that a signal ends, by what its argument names: in a verb, after one, by memory that was freed before, or in
 * a post. And "child", which goes on with its parent's objects, and "busy", which destroys one that is in use.
 *
 *	ended HOW            it ends in this way
 *	ended WAIT HOW...    its children do, one after the other, and it waits for each by this function; then it succeeds
 *	ended fails HOW...   the same by wait(); then it does not
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

/* In the wrong order, then in the right one. */
static int busy(void)
{
	return ibv_dealloc_pd(pd) != EBUSY || ibv_dereg_mr(mr) || ibv_destroy_qp(qp) ||
	       ibv_dealloc_pd(pd);
}

static int end_as(const char *how)
{
	static const struct {
		const char *name;
		int signal;
	} signals[] = {
		{"killed", SIGKILL}, {"terminated", SIGTERM}, {"BUS", SIGBUS}, {"ABRT", SIGABRT},
		{"FPE", SIGFPE},     {"ILL", SIGILL},         {"SYS", SIGSYS}, {"TRAP", SIGTRAP},
	};

	wrong = how;
	if (is("no_verb"))
		abort();
	begin();
	if (is("_exit"))
		_exit(3);
	if (is("executes")) {
		execlp("sh", "sh", "-c", "kill -s SEGV $$", NULL);
		return 2;
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (is(signals[i].name))
			raise(signals[i].signal);
	if (is("again"))
		destroy_again();
	if (is("inside"))
		ibv_dereg_mr((struct ibv_mr *)nowhere());
	if (is("send") || is("recv"))
		post(is("send"));
	if (is("child"))
		return child();
	if (is("busy"))
		return busy();
	return 0;
}

/* Children of its own are what each of them may wait for. */
static int wait_by(const char *function)
{
	struct rusage usage;
	siginfo_t info;

	if (!strcmp(function, "waitpid"))
		return waitpid(-1, NULL, 0) < 0;
	if (!strcmp(function, "wait3"))
		return wait3(NULL, 0, &usage) < 0;
	if (!strcmp(function, "wait4"))
		return wait4(-1, NULL, 0, &usage) < 0;
	if (!strcmp(function, "waitid"))
		return waitid(P_ALL, 0, &info, WEXITED);
	if (!strcmp(function, "twice") && waitid(P_ALL, 0, &info, WEXITED | WNOWAIT))
		return 1;
	return wait(NULL) < 0;
}

int main(int argc, char *argv[])
{
	if (argc == 2)
		return end_as(argv[1]);
	for (int i = 2; i < argc; i++) {
		const pid_t pid = fork();

		if (!pid)
			return end_as(argv[i]);
		if (pid < 0 || wait_by(argv[1]))
			return 2;
	}
	return argc < 2 ? 2 : !strcmp(argv[1], "fails");
}
