/* SPDX-License-Identifier: MIT */
/*
 * Two processes connect, exchange messages, drain and end, while a signal interrupts each of them every millisecond. The
 * handler does not ask for system calls to be restarted, so each wait returns EINTR again and again. Nobody may notice.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define NEED(call) rdmaez_diag_need(call, &diag)
#define LONG_NS    ((uint64_t)RIG_SECONDS * 1000000000u)

enum {
	MESSAGES = 200,
	DEPTH = 8
};

static struct rdmaez_diag diag;
static volatile sig_atomic_t interruptions;

static void interrupt(int number)
{
	(void)number;
	interruptions++;
}

static void begin_storm(void)
{
	const struct sigaction action = {.sa_handler = interrupt};
	const struct itimerval every = {.it_interval = {0, 1000}, .it_value = {0, 1000}};

	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &every, NULL))
		tap_bail("setitimer: %s", strerror(errno));
}

/* Waits for one completion, asleep, and returns its wr_id. */
static uint64_t next(struct rdmaez_simple *it)
{
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1, .want = 1};

	NEED(rdmaez_cq_wait(it->send_cq, it->qp, &batch, LONG_NS, &diag));
	return wc.wr_id;
}

/* Counts what the peer has written and read back in order, `first` being who sends first. Returns how much was not so. */
static int talk(struct rdmaez_simple *it, uint32_t *memory, bool first)
{
	struct ibv_sge in = {(uintptr_t)&memory[0], sizeof(*memory), it->mr->lkey};
	struct ibv_sge out = {(uintptr_t)&memory[1], sizeof(*memory), it->mr->lkey};
	struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = &in, .num_sge = 1};
	struct ibv_send_wr send = {
		.wr_id = 2, .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND};
	int wrong = 0;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		uint64_t seen = 0;

		memory[1] = i * 2 + first;
		if (first)
			NEED(rdmaez_wr_post_send(it->qp, &send, NULL, &diag));
		while (!(seen & 1))
			seen |= next(it);
		wrong += memory[0] != i * 2 + !first;
		NEED(rdmaez_wr_post_recv(it->qp, &recv, NULL, &diag));
		if (!first)
			NEED(rdmaez_wr_post_send(it->qp, &send, NULL, &diag));
		while (!(seen & 2))
			seen |= next(it);
	}
	return wrong;
}

/* What each end does. Returns how many messages were not as they should be. */
static int end(const char *host)
{
	const bool first = host;
	struct rdmaez_simple it;
	uint32_t memory[2] = {0, 0};
	struct rdmaez_simple_opts opts = {.flags = RDMAEZ_SIMPLE_CHANNEL,
					  .buffer = memory,
					  .length = sizeof(memory),
					  .recvs = DEPTH,
					  .sends = DEPTH};
	struct rdmaez_exchange_opts how = {.timeout_ns = LONG_NS};
	struct rdmaez_drain_opts drain = {.timeout_ns = LONG_NS, .flags = RDMAEZ_DRAIN_DISCARD};
	struct rdmaez_drained drained;
	struct ibv_sge in = {0};
	struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = &in, .num_sge = 1};
	int tcp, wrong;

	NEED(rdmaez_simple_open(NULL, &opts, &it, &diag));
	in = (struct ibv_sge){(uintptr_t)&memory[0], sizeof(*memory), it.mr->lkey};
	NEED(rdmaez_exchange_open(host, "18599", LONG_NS, &tcp, &diag));
	NEED(rdmaez_qp_to_init(it.qp, NULL, &diag));
	NEED(rdmaez_wr_post_recv(it.qp, &recv, NULL, &diag));
	NEED(rdmaez_exchange_connect(tcp, it.qp, NULL, NULL, &how, &diag));
	wrong = talk(&it, memory, first);
	NEED(rdmaez_exchange_barrier(tcp, NULL, LONG_NS, &diag));
	NEED(rdmaez_qp_drain(it.qp, &drain, &drained, &diag));
	wrong += drained.flushed != 1 || drained.completed || drained.open;
	NEED(rdmaez_simple_close(&it, &diag));
	close(tcp);
	return wrong;
}

int main(void)
{
	pid_t child;
	int wrong, status = -1;

	child = fork();
	begin_storm();
	wrong = end(child ? NULL : "127.0.0.1");
	if (!child)
		_exit(wrong != 0 || interruptions < MESSAGES / 10);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	tap_eq_int(wrong, 0, "%d messages each way, each as it was sent, and one receive flushed",
		   MESSAGES);
	tap_eq_int(status, 0, "the peer says so, too");
	tap_ok(interruptions >= MESSAGES / 10, "%d signals came meanwhile", (int)interruptions);
	return tap_done();
}
