/* SPDX-License-Identifier: MIT */
/*
 * What becomes of processes, threads and file descriptors while verbs are refused: one of the cases below, by name.
 * Prints "done" where it gets to its end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "fake_verbs.h"

enum {
	THREADS = 4,
	MOVES = 50
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

/* Inline, so that each use is a place of its own. */
__attribute__((__always_inline__)) static inline struct ibv_qp *create(uint32_t depth)
{
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};

	init.cap.max_send_wr = init.cap.max_recv_wr = depth;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	return ibv_create_qp(pd, &init);
}

void search(struct ibv_pd *in, struct ibv_cq *of);

static int refused(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

/* ---- Processes ------------------------------------------------------------------------------------ */

static void do_fork(struct ibv_qp *qp)
{
	int status = 1;

	refused(qp);
	if (!fork())
		_exit(refused(qp) != EINVAL);
	wait(&status);
	if (status)
		exit(status);
	refused(qp);
}

static void do_exec(struct ibv_qp *qp)
{
	refused(qp);
	execlp("wrong_mask", "wrong_mask", NULL);
}

static void do_kill(struct ibv_qp *qp)
{
	refused(qp);
	kill(getpid(), SIGKILL);
}

static void do_exit(struct ibv_qp *qp)
{
	refused(qp);
	_exit(3);
}

/* More at the same time than are remembered. */
static void do_crowd(struct ibv_qp *qp)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		exit(1);
	for (int i = 0; i < 130; i++) {
		if (fork())
			continue;
		close(ends[1]);
		refused(qp);
		_exit(read(ends[0], &byte, 1) != 0 || refused(qp) != EINVAL);
	}
	close(ends[1]);
	for (int status = 0; wait(&status) > 0;)
		if (status)
			exit(2);
}

/* More than are remembered, but one after the other, and with nothing to tell. */
static void do_quiet_crowd(struct ibv_qp *qp)
{
	int status;

	for (int i = 0; i < 140; i++) {
		const pid_t child = fork();

		if (!child)
			_exit(ibv_dealloc_pd(ibv_alloc_pd(context)));
		if (waitpid(child, &status, 0) != child || status)
			exit(1);
	}
	refused(qp);
}

/* ---- What may be a probe ---------------------------------------------------------------------------- */

static void do_create(struct ibv_qp *qp)
{
	(void)qp;
	create(UINT32_MAX);
}

static void do_create_kill(struct ibv_qp *qp)
{
	do_create(qp);
	kill(getpid(), SIGKILL);
}

static void do_create_wait(struct ibv_qp *qp)
{
	do_create(qp);
	usleep(1700000);
	fprintf(stderr, "waited\n");
}

static void do_create_late(struct ibv_qp *qp)
{
	usleep(700000);
	do_create(qp);
}

static void do_probe_down(struct ibv_qp *qp)
{
	uint32_t depth = 1u << 20;

	while (!(qp = create(depth)))
		depth /= 2;
	ibv_destroy_qp(qp);
}

static void do_probe_up(struct ibv_qp *qp)
{
	for (uint32_t depth = 1024; (qp = create(depth)); depth *= 2)
		ibv_destroy_qp(qp);
}

/* The same at two places, which are apart in a program and belong together in a library. */
void search(struct ibv_pd *in, struct ibv_cq *of)
{
	uint32_t depth = 1024;
	struct ibv_qp *qp;

	pd = in;
	cq = of;
	for (; (qp = create(depth)); depth *= 2)
		ibv_destroy_qp(qp);
	qp = create(depth - 1);
	if (qp)
		exit(1);
}

static void do_places(struct ibv_qp *qp)
{
	(void)qp;
	search(pd, cq);
}

static void do_library(struct ibv_qp *qp)
{
	void *const library = dlopen(getenv("LIBRARY"), RTLD_NOW);
	void (*its_search)(struct ibv_pd *, struct ibv_cq *);

	(void)qp;
	its_search = library ? (__typeof__(its_search))(uintptr_t)dlsym(library, "search") : NULL;
	if (!its_search || its_search == search)
		exit(1);
	its_search(pd, cq);
}

/* Queue pairs for use, until one is refused: that is no probe. */
static void do_limit(struct ibv_qp *qp)
{
	static const uint32_t depths[] = {1, 1, UINT32_MAX};

	(void)qp;
	for (int i = 0; i < 3; i++)
		create(depths[i]);
}

/* ---- Threads ------------------------------------------------------------------------------------------ */

static void *refused_often(void *qp)
{
	for (int i = 0; i < MOVES; i++)
		if (refused((struct ibv_qp *)qp) != EINVAL)
			abort();
	return NULL;
}

static void do_threads(struct ibv_qp *qp)
{
	struct ibv_qp *each[THREADS] = {qp};
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		each[i] = create(1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, refused_often, each[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void do_small_stack(struct ibv_qp *qp)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
	if (pthread_create(&thread, &attr, refused_often, qp))
		exit(1);
	pthread_join(thread, NULL);
}

/* Of the program's own making, beside other memory, and this long. */
static void on_own_stack(struct ibv_qp *qp, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *const memory = (char *)mmap(NULL, size + page, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	if (memory == MAP_FAILED || pthread_attr_setstack(&attr, memory + page, size) ||
	    pthread_create(&thread, &attr, refused_often, qp))
		exit(1);
	pthread_join(thread, NULL);
}

static void do_own_stack(struct ibv_qp *qp)
{
	on_own_stack(qp, 256 * 1024);
}

static void do_small_own_stack(struct ibv_qp *qp)
{
	on_own_stack(qp, 32 * 1024);
}

static void *refused_for_ever(void *qp)
{
	for (;;) {
		refused((struct ibv_qp *)qp);
		pthread_testcancel();
	}
	return NULL;
}

static void do_cancel(struct ibv_qp *qp)
{
	pthread_t thread;

	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, refused_for_ever, qp);
		usleep(1000);
		pthread_cancel(thread);
		refused(qp);
		pthread_join(thread, NULL);
	}
}

static struct ibv_qp *handlers_qp;
static volatile sig_atomic_t handled;

static void handler(int number)
{
	const int error = errno;

	(void)number;
	refused(handlers_qp);
	handled = handled + 1;
	errno = error;
}

static void do_signals(struct ibv_qp *qp)
{
	const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};

	handlers_qp = qp;
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	qp = create(1);
	while (handled < 100)
		refused(qp);
	setitimer(ITIMER_REAL, &never, NULL);
}

static sigjmp_buf out;

static void jump(int number)
{
	(void)number;
	siglongjmp(out, 1);
}

/* Leaves verbs at any point, over and over, and then they are what they were. */
static void do_longjmp(struct ibv_qp *qp)
{
	struct sigaction action = {.sa_handler = jump, .sa_flags = SA_NODEFER};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	volatile int jumps = 0;

	sigaction(SIGALRM, &action, NULL);
	while (jumps < 2000) {
		const struct itimerval soon = {{0, 0}, {0, 1 + jumps % 97}};

		if (!sigsetjmp(out, 1)) {
			setitimer(ITIMER_REAL, &soon, NULL);
			for (;;)
				refused(qp);
		}
		jumps = jumps + 1;
	}
	signal(SIGALRM, SIG_DFL);
	/* Another verb that is refused is still seen. */
	if (refused(qp) != EINVAL || ibv_modify_qp(qp, &attr, IBV_QP_STATE) != EINVAL)
		exit(3);
}

/* Made by clone() itself, of which nobody is told, while threads explain. */
static void do_clone(struct ibv_qp *qp)
{
	pthread_t thread[THREADS];
	int status;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, refused_for_ever, qp);
	for (int i = 0; i < 100; i++) {
		const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (!child) {
			alarm(10);
			if (refused(qp) != EINVAL || !(qp = create(1)))
				_exit(3);
			_exit(ibv_destroy_qp(qp));
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			exit(4);
	}
	_exit(puts("done") == EOF || fflush(stdout));
}

/* ---- What the program sees ------------------------------------------------------------------------------ */

static void do_same(struct ibv_qp *qp)
{
	errno = 123;
	printf("%d", refused(qp));
	printf(" %d %d", errno, qp->state);
	errno = 0;
	printf(" %d", create(UINT32_MAX) != NULL);
	printf(" %d", errno);
	printf(" %d\n", open("/", O_PATH));
}

/* Its own file has the number of what was stderr. */
static void do_own_stderr(struct ibv_qp *qp)
{
	close(STDERR_FILENO);
	if (open(getenv("OWN_FILE"), O_WRONLY | O_CREAT, 0600) != STDERR_FILENO)
		exit(1);
	refused(qp);
}

static void do_no_reader(struct ibv_qp *qp)
{
	usleep(300000);
	refused(qp);
}

/* SIGPIPE is what it was, there or not there, for who has blocked it. */
static void do_sigpipe(struct ibv_qp *qp)
{
	sigset_t pipe_only, pending;

	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe_only, NULL);
	usleep(300000);
	refused(qp);
	sigpending(&pending);
	printf("pending %d", sigismember(&pending, SIGPIPE));
	raise(SIGPIPE);
	ibv_dealloc_pd(pd);
	sigpending(&pending);
	printf(" %d\n", sigismember(&pending, SIGPIPE));
}

/* Its stderr is a FIFO that is full, and file 9 its other end. */
static void fill_stderr(void)
{
	static const char bytes[4096] = "";

	fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
	while (write(STDERR_FILENO, bytes, sizeof(bytes)) > 0)
		;
}

static void do_full_pipe(struct ibv_qp *qp)
{
	struct timespec before, after;

	fill_stderr();
	clock_gettime(CLOCK_MONOTONIC, &before);
	refused(qp);
	clock_gettime(CLOCK_MONOTONIC, &after);
	printf("waited %d\n", after.tv_sec - before.tv_sec >= 1);
}

static void do_slow_pipe(struct ibv_qp *qp)
{
	static char text[1 << 17];
	size_t length = 0;

	fill_stderr();
	if (fork()) {
		refused(qp);
		wait(NULL);
		return;
	}
	usleep(200000);
	while (!memmem(text, length, "ibv_modify_qp failed", 20)) {
		const ssize_t got = read(9, text + length, sizeof(text) - length);

		if (got > 0)
			length += (size_t)got;
		else if (errno == EAGAIN) /* of both ends */
			usleep(1000);
		else
			_exit(1);
	}
	_exit(write(STDOUT_FILENO, "read\n", 5) != 5);
}

static const struct {
	const char *name;
	void (*run)(struct ibv_qp *qp);
} cases[] = {
	{"fork", do_fork},
	{"exec", do_exec},
	{"kill", do_kill},
	{"crowd", do_crowd},
	{"exit", do_exit},
	{"create", do_create},
	{"create_kill", do_create_kill},
	{"create_wait", do_create_wait},
	{"create_late", do_create_late},
	{"probe_down", do_probe_down},
	{"probe_up", do_probe_up},
	{"limit", do_limit},
	{"places", do_places},
	{"library", do_library},
	{"threads", do_threads},
	{"small_stack", do_small_stack},
	{"cancel", do_cancel},
	{"longjmp", do_longjmp},
	{"clone", do_clone},
	{"signals", do_signals},
	{"same", do_same},
	{"own_stderr", do_own_stderr},
	{"no_reader", do_no_reader},
	{"quiet_crowd", do_quiet_crowd},
	{"own_stack", do_own_stack},
	{"small_own_stack", do_small_own_stack},
	{"sigpipe", do_sigpipe},
	{"full_pipe", do_full_pipe},
	{"slow_pipe", do_slow_pipe},
};

int main(int argc, char *argv[])
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp *qp;

	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	pd = context ? ibv_alloc_pd(context) : NULL;
	cq = context ? ibv_create_cq(context, 4, NULL, NULL, 0) : NULL;
	qp = pd && cq ? create(1) : NULL;
	if (!qp)
		return 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (argc > 1 && !strcmp(argv[1], cases[i].name)) {
			cases[i].run(qp);
			puts("done");
			return 0;
		}
	}
	return 2;
}
