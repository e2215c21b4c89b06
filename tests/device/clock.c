/* SPDX-License-Identifier: MIT */
/*
 * Whatever waits with a deadline waits for as long as it says, although the machine's clock is set by a day, forward and
 * back, ten times a second. Only softroce's guest has its clock set.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

#define WAIT_NS UINT64_C(700000000)

enum {
	DAY = 24 * 60 * 60,
	MOST_S = 60 /* however slow the machine is */
};

static struct rdmaez_diag diag;

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void set_by(long seconds)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += seconds;
	if (clock_settime(CLOCK_REALTIME, &time))
		tap_bail("clock_settime: %s", strerror(errno));
}

/* How far the clock is ahead of one that nobody sets. */
static double ahead(void)
{
	return now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC);
}

/* Sets the clock to and fro until the pipe is closed, and then leaves it as it was. */
static pid_t begin_jumps(int keep[2])
{
	struct pollfd pipe_end;
	char host[16] = "";
	pid_t child;

	gethostname(host, sizeof(host) - 1);
	if (strcmp(host, "softroce") != 0 || pipe(keep))
		return -1;
	child = fork();
	if (child)
		return child;
	close(keep[1]);
	pipe_end.fd = keep[0];
	pipe_end.events = POLLIN;
	for (long by = DAY;; by = -by) {
		set_by(by);
		if (poll(&pipe_end, 1, 100) > 0 && by < 0)
			_exit(0);
	}
}

static void end_jumps(pid_t child, const int keep[2], double before)
{
	if (child < 0) {
		tap_diag("this is no guest of softroce's: its clock was left alone");
		return;
	}
	close(keep[1]);
	waitpid(child, NULL, 0);
	close(keep[0]);
	tap_ok(ahead() - before < 60 && before - ahead() < 60, "the clock is what it was");
}

#define LATE(call, what)                                                                     \
	do {                                                                                 \
		const double since = now(CLOCK_MONOTONIC);                                   \
		const int error = call;                                                      \
		const double passed = now(CLOCK_MONOTONIC) - since;                          \
                                                                                             \
		tap_eq_int(error, ETIMEDOUT, "%s: it is late", what);                        \
		tap_ok(passed >= WAIT_NS / 1e9 && passed < MOST_S, "%s: after %.2f s", what, \
		       passed);                                                              \
	} while (0)

int main(void)
{
	const double before = ahead();
	struct rdmaez_simple_opts opts = {.flags = RDMAEZ_SIMPLE_CHANNEL};
	struct rdmaez_exchange_opts how = {.timeout_ns = WAIT_NS};
	struct rdmaez_endpoint local, remote;
	struct ibv_wc wc[4];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 4, .want = 1};
	struct ibv_async_event event;
	struct rdmaez_simple it;
	int ends[2], keep[2];
	pid_t child;

	rdmaez_diag_need(rdmaez_simple_open(NULL, &opts, &it, &diag), &diag);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		tap_bail("socketpair: %s", strerror(errno));
	rdmaez_diag_need(rdmaez_endpoint_local(it.qp, NULL, &local, &diag), &diag);
	child = begin_jumps(keep);
	LATE(rdmaez_event_next(it.context, WAIT_NS, &event, &diag), "an event of the device");
	LATE(rdmaez_exchange(ends[0], &local, &remote, WAIT_NS, &diag), "a peer's endpoint");
	LATE(rdmaez_exchange_connect(ends[0], it.qp, &local, &remote, &how, &diag), "a connection");
	rdmaez_diag_need(rdmaez_qp_connect_loopback(it.qp, it.qp, NULL, &diag), &diag);
	LATE(rdmaez_wc_wait(it.recv_cq, NULL, &batch, WAIT_NS, &diag), "a completion, polled");
	LATE(rdmaez_cq_wait(it.recv_cq, NULL, &batch, WAIT_NS, &diag), "a completion, asleep");
	end_jumps(child, keep, before);
	close(ends[0]);
	close(ends[1]);
	rdmaez_simple_close(&it, &diag);
	return tap_done();
}
