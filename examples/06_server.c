/* SPDX-License-Identifier: MIT */
/*
 * A server of many clients in one thread: it stores what they send it, and each reads back by RDMA READ. Clients may
 * come, say nothing, go or be killed at any time: nobody waits for them, and nothing of the others is lost.
 *
 * Build:  cc -std=c11 -Iinclude examples/06_server.c -libverbs -o server
 * Run:    ./server on one host, ./server HOST KEY on others; or on a machine without RDMA:
 *         tools/softroce sh -c './server & sleep 1; for key in 1 2 3; do ./server localhost $key; done; kill $!'
 */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rdmaez.h>
#include <rdmaez/handshake.h>
#include <rdmaez/implementation.h>

#define CLIENTS  64
#define KEYS     256
#define RECVS    128
#define PATIENCE 5 /* s to connect in */

/* Ends the program with the reason unless a call works. */
#define NEED(call) rdmaez_diag_need(call, &diag)

struct request {
	uint32_t key;
	char value[60];
};

static const char service[] = "18519";
static struct rdmaez_simple it;
static struct rdmaez_diag diag;

static const char usage[] =
	"usage: 06_server                      serve\n"
	"       06_server HOST KEY [COUNT]    store a value there, and read it back\n";

/* ---- The server ------------------------------------------------------------------------------ */

static struct ibv_qp *qps[CLIENTS]; /* NULL: nobody is here */
static struct rdmaez_handshake shakes[CLIENTS];
static struct timespec since[CLIENTS + 1]; /* then now, by a clock that nobody sets */
static struct pollfd fds[CLIENTS + 1] = {[CLIENTS] = {.events = POLLIN}}; /* then the listener */
static struct rdmaez_endpoint port;                                       /* asked once */
static struct {
	struct request values[KEYS], received[RECVS];
} store;
static struct rdmaez_simple_opts objects = {.sends = 1, .recvs = RECVS};

static void post_recv(uint64_t i)
{
	struct ibv_sge sge = {(uintptr_t)&store.received[i], sizeof(struct request), it.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

	NEED(rdmaez_wr_post_srq_recv(it.srq, &wr, NULL, &diag));
}

/* What a client has sent is stored, and an empty message tells it so. */
static void handle(void *unused, const struct ibv_wc *wc)
{
	const size_t i = rdmaez_wc_position(wc, qps, CLIENTS);
	struct ibv_send_wr ready = {.wr_id = RECVS};

	(void)unused;
	if (wc->wr_id >= RECVS)
		return;
	if (!wc->status && i < CLIENTS && store.received[wc->wr_id].key < KEYS) {
		store.values[store.received[wc->wr_id].key] = store.received[wc->wr_id];
		rdmaez_wr_send(&ready, NULL);
		if (rdmaez_wr_post_send(qps[i], &ready, NULL, &diag))
			shutdown(fds[i].fd, SHUT_RDWR); /* it asks too much at once */
	}
	post_recv(wc->wr_id);
}

/* Draining polls the queue of all, so what is there of the others is handled as ever. */
static void dismiss(size_t i)
{
	struct rdmaez_drain_opts drain = {.flags = RDMAEZ_DRAIN_ANYWAY, .completed = handle};
	struct ibv_qp *const qp = qps[i];

	qps[i] = NULL; /* it gets no more answers */
	NEED(rdmaez_qp_destroy(qp, &drain, NULL, &diag));
	close(fds[i].fd);
	fds[i].fd = -1;
}

/* Takes one who has come, if there is one. */
static void admit(size_t i)
{
	struct rdmaez_qp_opts opts = {.access = IBV_ACCESS_REMOTE_READ};
	struct rdmaez_exchange_opts how = {.qp = &opts, .mr = it.mr};
	struct ibv_qp_init_attr init;

	NEED(rdmaez_handshake_accept(fds[CLIENTS].fd, &fds[i].fd, &diag));
	if (fds[i].fd < 0)
		return;
	rdmaez_simple_init_attr(&it, &objects, &init);
	NEED(rdmaez_qp_create(it.pd, &init, &qps[i], &diag));
	NEED(rdmaez_handshake_connect(&shakes[i], fds[i].fd, qps[i], &port, &how, &diag));
	fds[i].events = (short)shakes[i].wants;
	since[i] = since[CLIENTS];
}

/* A client's socket is ready, or its time is over. A connected one says no more until it is gone. */
static void attend(size_t i)
{
	struct rdmaez_handshake *const shake = &shakes[i];
	const bool late = shake->wants && since[CLIENTS].tv_sec - since[i].tv_sec > PATIENCE;

	if (!fds[i].revents && !late)
		return;
	if (!shake->wants)
		dismiss(i);
	else if (late ? rdmaez_handshake_late(shake, &diag) : rdmaez_handshake_step(shake, &diag)) {
		rdmaez_diag_print(&diag, stderr);
		dismiss(i);
	} else
		fds[i].events = (short)(shake->wants ? shake->wants : POLLIN);
}

static void serve(void)
{
	struct ibv_wc wc[16];

	objects.flags = RDMAEZ_SIMPLE_NO_QP | RDMAEZ_SIMPLE_ONE_CQ | RDMAEZ_SIMPLE_SRQ;
	objects.cqes = RECVS + 2 * CLIENTS;
	objects.buffer = &store;
	objects.length = sizeof(store);
	objects.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	NEED(rdmaez_simple_open(NULL, &objects, &it, &diag));
	NEED(rdmaez_endpoint_port(it.context, NULL, &port, &diag));
	for (uint64_t i = 0; i < RECVS; i++)
		post_recv(i);
	for (int i = 0; i < CLIENTS; i++)
		fds[i].fd = -1;
	NEED(rdmaez_handshake_listen(service, &fds[CLIENTS].fd, &diag));
	for (;;) {
		poll(fds, CLIENTS + 1, 1);
		clock_gettime(CLOCK_MONOTONIC, &since[CLIENTS]);
		for (size_t i = 0; i < CLIENTS; i++)
			if (fds[i].fd >= 0)
				attend(i);
			else if (fds[CLIENTS].revents)
				admit(i);
		for (int count; (count = ibv_poll_cq(it.recv_cq, 16, wc)) > 0;)
			for (int i = 0; i < count; i++)
				handle(NULL, &wc[i]);
	}
}

/* ---- A client -------------------------------------------------------------------------------- */

static int client(const char *host, uint32_t key, long count)
{
	static struct request m[2]; /* what is stored, and what is read back */
	struct rdmaez_simple_opts mine = {.buffer = m, .length = sizeof(m)};
	struct rdmaez_endpoint server;
	struct ibv_recv_wr ready = {0};
	struct ibv_send_wr wr = {0};
	struct ibv_sge out, in;
	struct ibv_wc wc[2];
	struct rdmaez_wc_batch both = {.wc = wc, .capacity = 2, .want = 2};
	struct rdmaez_wc_batch one = {.wc = wc, .capacity = 2, .answered = true};
	int tcp;

	mine.flags = RDMAEZ_SIMPLE_ONE_CQ;
	NEED(rdmaez_simple_open(NULL, &mine, &it, &diag));
	NEED(rdmaez_mr_sge(it.mr, &m[0], sizeof(m[0]), &out, &diag));
	NEED(rdmaez_mr_sge(it.mr, &m[1], sizeof(m[1]), &in, &diag));
	NEED(rdmaez_exchange_open(host, service, 0, &tcp, &diag));
	NEED(rdmaez_exchange_connect(tcp, it.qp, NULL, &server, NULL, &diag));
	for (long n = 0; n < count && !memcmp(&m[1], &m[0], sizeof(m[1])); both.answered = ++n) {
		m[0].key = key;
		snprintf(m[0].value, sizeof(m[0].value), "%ld of process %d", n, (int)getpid());
		NEED(rdmaez_wr_post_recv(it.qp, &ready, NULL, &diag));
		rdmaez_wr_send(&wr, &out);
		NEED(rdmaez_wr_post_send(it.qp, &wr, NULL, &diag));
		NEED(rdmaez_wc_wait(it.send_cq, it.qp, &both, 0, &diag));
		NEED(rdmaez_wr_read(&wr, &in, &server.memory, key * sizeof(m[1]), &diag));
		NEED(rdmaez_wr_post_send(it.qp, &wr, NULL, &diag));
		NEED(rdmaez_wc_wait(it.send_cq, it.qp, &one, 0, &diag));
	}
	printf("%u: %s\n", (unsigned int)m[1].key, m[1].value);
	NEED(rdmaez_simple_close(&it, &diag));
	close(tcp);
	return memcmp(&m[1], &m[0], sizeof(m[1])) != 0;
}

int main(int argc, char **argv)
{
	const bool help = argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"));
	const long key = argc > 2 ? strtol(argv[2], NULL, 10) : -1;
	const long count = argc > 3 ? strtol(argv[3], NULL, 10) : 1;

	if (argc == 1)
		serve();
	if (argc <= 4 && key >= 0 && key < KEYS && count > 0)
		return client(argv[1], (uint32_t)key, count);
	fputs(usage, help ? stdout : stderr);
	return help ? 0 : 2;
}
