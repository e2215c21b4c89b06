/* SPDX-License-Identifier: MIT */
/* Completion channels of a real kernel: no event is lost, and nothing waits for an acknowledgement. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <rdmaez.h>
#include "rig.h"

enum {
	ROUNDS = 200,
	DEPTH = 16
};

#define NEED(call) rdmaez_diag_need(call, &diag)
#define SECOND     UINT64_C(1000000000)

static struct rdmaez_diag diag;
static struct rdmaez_simple it;
static uint8_t memory[64];

static void open_with(unsigned int flags)
{
	struct rdmaez_simple_opts opts = {
		.flags = flags, .buffer = memory, .length = sizeof(memory)};

	NEED(rdmaez_simple_open(NULL, &opts, &it, &diag));
	NEED(rdmaez_qp_connect_loopback(it.qp, it.qp, NULL, &diag));
}

static void post(uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)memory, sizeof(memory), it.mr->lkey};
	struct ibv_recv_wr recv = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
	struct ibv_send_wr send = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};

	NEED(rdmaez_wr_post_recv(it.qp, &recv, NULL, &diag));
	NEED(rdmaez_wr_post_send(it.qp, &send, NULL, &diag));
}

static void interrupt(int number)
{
	(void)number;
}

/* Posts after a pause, from another thread, and sends signals to the one that sleeps. */
static void *post_late(void *sleeper)
{
	const struct timespec pause = {0, 20000000};

	for (int i = 0; i < 3; i++) {
		nanosleep(&pause, NULL);
		pthread_kill(*(pthread_t *)sleeper, SIGUSR1);
	}
	nanosleep(&pause, NULL);
	post(7);
	return NULL;
}

static void check_wait(void)
{
	struct ibv_wc wc[DEPTH];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = DEPTH};
	struct sigaction action = {.sa_handler = interrupt};
	pthread_t self = pthread_self(), other;
	int wrong = 0;

	open_with(RDMAEZ_SIMPLE_CHANNEL);
	tap_eq_int(rdmaez_cq_wait(it.send_cq, it.qp, &batch, SECOND / 20, &diag), 0,
		   "nothing comes, and is no error");
	tap_eq_int(batch.count, 0, "there is none");
	batch.want = 2;
	for (uint64_t i = 0; i < ROUNDS; i++) {
		post(i);
		NEED(rdmaez_cq_wait(it.send_cq, it.qp, &batch, RIG_SECONDS * SECOND, &diag));
		wrong += batch.count != 2 || wc[0].wr_id != i || wc[1].wr_id != i;
	}
	tap_eq_int(wrong, 0, "%d messages, a wait for each", ROUNDS);
	sigaction(SIGUSR1, &action, NULL);
	if (pthread_create(&other, NULL, post_late, &self))
		tap_bail("pthread_create");
	tap_eq_int(rdmaez_cq_wait(it.send_cq, it.qp, &batch, RIG_SECONDS * SECOND, &diag), 0,
		   "one that comes late, after three signals");
	tap_eq_int(wc[0].wr_id, 7, "by its number");
	pthread_join(other, NULL);
	tap_eq_int(rdmaez_simple_close(&it, &diag), 0, "nobody waits for an acknowledgement");
}

static void check_loop(void)
{
	struct ibv_wc wc[DEPTH];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = DEPTH};
	struct epoll_event ready = {.events = EPOLLIN};
	struct rdmaez_cq_watch watch = {0}, *which;
	const int loop = epoll_create1(0);
	int done = 0, events = 0;

	open_with(RDMAEZ_SIMPLE_CHANNEL);
	watch.cq = it.send_cq;
	NEED(rdmaez_channel_nonblock(it.channel, &diag));
	NEED(rdmaez_cq_arm(watch.cq, 0, &diag));
	epoll_ctl(loop, EPOLL_CTL_ADD, it.channel->fd, &ready);
	post(0);
	while (done < 2 * ROUNDS && epoll_wait(loop, &ready, 1, RIG_SECONDS * 1000) == 1) {
		do {
			NEED(rdmaez_channel_next(it.channel, &watch, 1, RDMAEZ_NS_NOW, &which,
						 &diag));
			events += which != NULL;
			do {
				NEED(rdmaez_wc_poll(watch.cq, it.qp, &batch, &diag));
				for (int i = 0; i < batch.count; i++)
					if (++done % 2 == 0 && done < 2 * ROUNDS)
						post((uint64_t)done);
			} while (batch.count);
		} while (which);
	}
	tap_eq_int(done, 2 * ROUNDS, "an event loop sees each of %d messages", ROUNDS);
	tap_ok(events > 0, "by %d events", events);
	rdmaez_cq_ack(&watch);
	close(loop);
	tap_eq_int(rdmaez_simple_close(&it, &diag), 0, "all is closed");
}

static void check_ex(void)
{
	struct rdmaez_cq_ex_opts opts = {.wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_cq_init_attr_ex attr = {.cqe = DEPTH, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_wc wc[DEPTH];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = DEPTH};
	struct ibv_qp_init_attr init;
	struct ibv_cq_ex *cq;
	struct ibv_qp *first;
	int sends = 0, recvs = 0;
	time_t since = time(NULL);

	open_with(RDMAEZ_SIMPLE_ONE_CQ);
	if (rdmaez_cq_create_ex(it.context, &attr, &cq, &diag)) {
		tap_ok(diag.error == EOPNOTSUPP, "this library has no extended queues");
		rdmaez_simple_close(&it, NULL);
		return;
	}
	rdmaez_simple_init_attr(&it, NULL, &init);
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
	first = it.qp;
	NEED(rdmaez_qp_create(it.pd, &init, &it.qp, &diag));
	NEED(rdmaez_qp_connect_loopback(it.qp, it.qp, NULL, &diag));
	tap_eq_int(rdmaez_cq_poll_ex(cq, it.qp, &opts, &batch, &diag), 0, "an extended queue");
	tap_eq_int(batch.count, 0, "is empty");
	/* Round by round: what one poll leaves behind would spoil the next. */
	for (int round = 0; round < 2 * DEPTH; round++) {
		post(5);
		for (int left = 2; left > 0 && rig_again(since); left -= batch.count) {
			NEED(rdmaez_cq_poll_ex(cq, it.qp, &opts, &batch, &diag));
			for (int i = 0; i < batch.count; i++) {
				const bool good = wc[i].wr_id == 5 && wc[i].qp_num == it.qp->qp_num;

				sends += good && wc[i].opcode == IBV_WC_SEND;
				recvs += good && wc[i].opcode == IBV_WC_RECV &&
					 wc[i].byte_len == sizeof(memory);
			}
		}
	}
	tap_eq_int(sends, 2 * DEPTH, "then has the sends");
	tap_eq_int(recvs, 2 * DEPTH, "and the receives with their length");
	ibv_destroy_qp(it.qp);
	it.qp = first;
	NEED(rdmaez_cq_destroy(ibv_cq_ex_to_cq(cq), &diag));
	tap_eq_int(rdmaez_simple_close(&it, &diag), 0, "all is closed");
}

static void check_limit(void)
{
	struct rdmaez_simple_opts opts = {
		.flags = RDMAEZ_SIMPLE_SRQ, .buffer = memory, .length = sizeof(memory)};
	struct ibv_async_event event;

	NEED(rdmaez_simple_open(NULL, &opts, &it, &diag));
	tap_eq_int(rdmaez_srq_arm(it.srq, 1000000, &diag), EINVAL, "a limit above all sizes");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_RANGE) != NULL, "is out of range");
	tap_eq_int(rdmaez_srq_arm(it.srq, 4, &diag), 0, "a limit of four is armed");
	while (!rdmaez_event_next(it.context, RDMAEZ_NS_NOW, &event, NULL))
		;
	tap_eq_int(rdmaez_simple_close(&it, &diag), 0, "all is closed");
}

int main(void)
{
	check_wait();
	check_loop();
	check_ex();
	check_limit();
	return tap_done();
}
