/* SPDX-License-Identifier: MIT */
/*
 * Eight threads that work, as those of threads do, while the first does what is dangerous where there are threads:
 * hazards fork|vfork|spawn|dlclose|cancel|cancel_wait|signals|first. Prints what each worker has seen, and how often
 * the process was refused besides, and in handlers. "once" is refused once, and that is all.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workers.h"

enum {
	TIMES = 20, /* each hazard */
	LATE = 60   /* seconds, for a child that hangs */
};

static struct worker own; /* the first thread's, and those of handlers */
static atomic_int refusals;

static void must(bool is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "hazards: not so: %s\n", what);
	_exit(3);
}
#define MUST(condition) must(condition, #condition)

static int refused(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	refusals++;
	return ibv_modify_qp(own.qp, &attr, IBV_QP_STATE | IBV_QP_QKEY);
}

/* ---- Processes ------------------------------------------------------------------------------------ */

/* By each function that parents have. */
static int status_of(pid_t pid, int way)
{
	struct rusage usage;
	siginfo_t info;
	int status = -1;

	switch (way % 4) {
	case 0:
		MUST(waitpid(pid, &status, 0) == pid);
		break;
	case 1:
		MUST(wait4(pid, &status, 0, &usage) == pid);
		break;
	case 2:
		MUST(wait3(&status, 0, &usage) == pid);
		break;
	default:
		MUST(!waitid(P_PID, (id_t)pid, &info, WEXITED) && info.si_pid == pid);
		return info.si_code == CLD_EXITED ? info.si_status : -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The child's first refusal is new to it. It has objects of its parent's, and makes one of its own. */
static void do_fork(int time)
{
	const pid_t pid = fork();

	MUST(pid >= 0);
	if (!pid) {
		alarm(LATE);
		if (refused() != EINVAL)
			_exit(1);
		poll(&own);
		_exit(7);
	}
	MUST(status_of(pid, time) == 7);
	MUST(refused() == EINVAL);
}

static char *const once[] = {"hazards", "once", NULL};

static void do_vfork(int time)
{
	const pid_t pid = vfork();

	MUST(pid >= 0);
	if (!pid) {
		if (time % 2)
			_exit(7);
		execv("/proc/self/exe", once);
		_exit(1);
	}
	MUST(status_of(pid, time) == (time % 2 ? 7 : 0));
	MUST(refused() == EINVAL);
}

static void do_spawn(int time)
{
	pid_t pid;

	MUST(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, once, environ));
	MUST(status_of(pid, time) == 0);
	MUST(refused() == EINVAL);
}

static void do_dlclose(int time)
{
	void *const handle = dlopen("libibverbs.so.1", time % 2 ? RTLD_LAZY : RTLD_NOW);

	MUST(handle);
	MUST(refused() == EINVAL);
	MUST(!dlclose(handle));
	MUST(refused() == EINVAL);
}

/* ---- Threads that are cancelled ---------------------------------------------------------------------- */

static atomic_int waiting;

static void *refused_for_ever(void *unused)
{
	(void)unused;
	for (;;) {
		MUST(refused() == EINVAL);
		waiting = 1;
		pthread_testcancel();
	}
	return NULL;
}

static void *wait_for_ever(void *channel)
{
	struct ibv_cq *cq;
	void *context;

	waiting = 1;
	ibv_get_cq_event((struct ibv_comp_channel *)channel, &cq, &context);
	return NULL;
}

/* Another one has the thread's place in a verb, or in a wait that never ends, and the next ones get on. */
static void cancel(void *(*what)(void *), void *of)
{
	pthread_t thread;
	void *result;

	waiting = 0;
	MUST(!pthread_create(&thread, NULL, what, of));
	while (!waiting)
		sched_yield();
	usleep(1000);
	MUST(!pthread_cancel(thread));
	MUST(refused() == EINVAL);
	MUST(!pthread_join(thread, &result));
	MUST(result == PTHREAD_CANCELED);
}

static void do_cancel(int time)
{
	(void)time;
	cancel(refused_for_ever, NULL);
}

static void do_cancel_wait(int time)
{
	static struct ibv_comp_channel *channel;

	if (!time)
		channel = ibv_create_comp_channel(own.context);
	cancel(wait_for_ever, channel);
}

/* ---- Handlers that call verbs ------------------------------------------------------------------------ */

static atomic_int handled;

static void handler(int number)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	const int error = errno;

	(void)number;
	if (ibv_modify_qp(own.qp, &attr, IBV_QP_STATE) != EINVAL)
		abort();
	handled++;
	errno = error;
}

/* In whichever thread, in the middle of whatever it does. */
static void do_signals(int time)
{
	const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	const int before = handled;

	(void)time;
	MUST(!sigaction(SIGALRM, &action, NULL));
	MUST(!setitimer(ITIMER_REAL, &often, NULL));
	while (handled < before + 10)
		MUST(refused() == EINVAL);
	MUST(!setitimer(ITIMER_REAL, &never, NULL));
}

static void *allocate_for_ever(void *unused)
{
	(void)unused;
	for (;;) {
		void *volatile some = malloc(100);

		free(some);
		waiting = 1;
		pthread_testcancel();
	}
	return NULL;
}

/* A thread that calls no verb but in a handler, and is in malloc() most of the time. */
static void do_first(int time)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	const int before = handled;
	pthread_t thread;

	MUST(time || !sigaction(SIGALRM, &action, NULL));
	waiting = 0;
	MUST(!pthread_create(&thread, NULL, allocate_for_ever, NULL));
	while (!waiting)
		sched_yield();
	MUST(!pthread_kill(thread, SIGALRM));
	while (handled == before)
		sched_yield();
	MUST(!pthread_cancel(thread));
	MUST(!pthread_join(thread, NULL));
}

static const struct {
	const char *name;
	void (*run)(int time);
} hazards[] = {
	{"fork", do_fork},       {"vfork", do_vfork},   {"spawn", do_spawn},
	{"dlclose", do_dlclose}, {"cancel", do_cancel}, {"cancel_wait", do_cancel_wait},
	{"signals", do_signals}, {"first", do_first},
};

int main(int argc, char *argv[])
{
	static struct worker worker[THREADS];
	struct ibv_device **const list = ibv_get_device_list(NULL);

	own.context = ibv_open_device(list[0]);
	create(&own, 0);
	if (argc > 1 && !strcmp(argv[1], "once"))
		return refused() != EINVAL;
	for (size_t i = 0; argc > 1 && i < sizeof(hazards) / sizeof(*hazards); i++) {
		if (strcmp(argv[1], hazards[i].name) != 0)
			continue;
		puts("began");
		fflush(stdout);
		workers_begin(worker, list[0]);
		for (int time = 0; time < TIMES; time++)
			hazards[i].run(time);
		workers_end(worker);
		printf("besides %d handled %d\n", refusals, handled);
		return 0;
	}
	return 2;
}
