/* SPDX-License-Identifier: MIT */
/*
 * A server of many clients in one thread: it stores what they send it, and each reads back by RDMA READ. Clients may
 * come, say nothing, go or be killed at any time: nobody waits for them.
 *
 * Build:  cc -std=c11 -Iinclude examples/06_server.c -libverbs -o server
 * Run:    ./server on one host, ./server HOST KEY on others; or on a machine without RDMA:
 *         tools/softroce sh -c './server & sleep 1; for key in 1 2 3; do ./server localhost $key; done; kill $!'
 */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <rdmaez.h>
#include <rdmaez/handshake.h>
#include <rdmaez/implementation.h>

enum {
	CLIENTS = 64,
	KEYS = 256,
	RECVS = 128,
	PATIENCE = 5 /* s to connect in */
};

/* Ends the program with the reason unless a call works. */
#define NEED(call) rdmaez_diag_need(call, &diag)

struct request {
	uint32_t key;
	char value[60];
};

static const char service[] = "18519";
static struct rdmaez_diag diag;

static const char usage[] = "usage: 06_server             serve\n"
			    "       06_server HOST KEY    store a value there, and read it back\n";

/* ---- The server ------------------------------------------------------------------------------ */

static struct client {
	struct rdmaez_handshake shake;
	struct ibv_qp *qp; /* NULL: nobody is here */
	time_t since;
} clients[CLIENTS];
static struct pollfd fds[CLIENTS + 1]; /* of each client, then the listener */
static struct rdmaez_simple it;        /* for its objects; its own queue pair is not used */
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *requests_mr;
static struct rdmaez_endpoint port; /* asked once */
static struct request values[KEYS], requests[RECVS];

static void post_recv(uint64_t i)
{
	struct ibv_sge sge = {(uintptr_t)&requests[i], sizeof(requests[i]), requests_mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

	NEED(rdmaez_wr_post_srq_recv(srq, &wr, NULL, &diag));
}

static void dismiss(struct client *client, struct pollfd *fd)
{
	if (client->qp)
		NEED(ibv_destroy_qp(client->qp));
	client->qp = NULL;
	close(fd->fd);
	fd->fd = -1;
}

/* What a client has sent is stored, and an empty message tells it so. */
static void handle(const struct ibv_wc *wc)
{
	struct ibv_send_wr ready = {
		.wr_id = RECVS, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	int i = 0;

	if (wc->wr_id == RECVS)
		return;
	while (i < CLIENTS && (!clients[i].qp || clients[i].qp->qp_num != wc->qp_num))
		i++;
	if (!wc->status && i < CLIENTS && requests[wc->wr_id].key < KEYS) {
		values[requests[wc->wr_id].key] = requests[wc->wr_id];
		if (rdmaez_wr_post_send(clients[i].qp, &ready, NULL, &diag))
			dismiss(&clients[i], &fds[i]);
	}
	post_recv(wc->wr_id);
}

/* Takes those who have come, as many as there is room for. */
static void admit(void)
{
	struct ibv_qp_init_attr init = {.send_cq = cq,
					.recv_cq = cq,
					.srq = srq,
					.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 1, .max_send_sge = 1}};
	struct rdmaez_qp_opts qp = {.access = IBV_ACCESS_REMOTE_READ};
	struct rdmaez_exchange_opts how = {.qp = &qp, .mr = it.mr};

	for (int i = 0; i < CLIENTS; i++) {
		if (fds[i].fd >= 0)
			continue;
		NEED(rdmaez_handshake_accept(fds[CLIENTS].fd, &fds[i].fd, &diag));
		if (fds[i].fd < 0)
			return;
		NEED(rdmaez_qp_create(it.pd, &init, &clients[i].qp, &diag));
		NEED(rdmaez_handshake_connect(&clients[i].shake, fds[i].fd, clients[i].qp, &port,
					      &how, &diag));
		fds[i].events = (short)clients[i].shake.wants;
		clients[i].since = time(NULL);
	}
}

/* A client's socket is ready, or its time is over. A connected one says no more until it is gone. */
static void attend(struct client *client, struct pollfd *fd)
{
	struct rdmaez_handshake *const shake = &client->shake;
	const bool late = shake->wants && time(NULL) - client->since > PATIENCE;

	if (!fd->revents && !late)
		return;
	if (shake->wants &&
	    !(late ? rdmaez_handshake_late(shake, &diag) : rdmaez_handshake_step(shake, &diag))) {
		fd->events = (short)(shake->wants ? shake->wants : POLLIN);
		return;
	}
	if (shake->error)
		rdmaez_diag_print(&diag, stderr);
	dismiss(client, fd);
}

static void serve(void)
{
	struct rdmaez_simple_opts objects = {.buffer = values, .length = sizeof(values)};
	struct ibv_srq_init_attr shared = {.attr = {.max_wr = RECVS, .max_sge = 1}};
	struct ibv_wc wc[16];

	objects.access = IBV_ACCESS_REMOTE_READ;
	NEED(rdmaez_simple_open(NULL, &objects, &it, &diag));
	NEED(rdmaez_cq_create(it.context, RECVS + 2 * CLIENTS, NULL, 0, &cq, &diag));
	NEED(rdmaez_srq_create(it.pd, &shared, &srq, &diag));
	NEED(rdmaez_mr_reg(it.pd, requests, sizeof(requests), IBV_ACCESS_LOCAL_WRITE, &requests_mr,
			   &diag));
	NEED(rdmaez_endpoint_port(it.context, NULL, &port, &diag));
	for (uint64_t i = 0; i < RECVS; i++)
		post_recv(i);
	for (int i = 0; i < CLIENTS; i++)
		fds[i].fd = -1;
	NEED(rdmaez_handshake_listen(service, &fds[CLIENTS].fd, &diag));
	fds[CLIENTS].events = POLLIN;
	for (;;) {
		poll(fds, CLIENTS + 1, 1);
		for (int i = 0; i < CLIENTS; i++)
			attend(&clients[i], &fds[i]);
		if (fds[CLIENTS].revents)
			admit();
		for (int count; (count = ibv_poll_cq(cq, 16, wc)) > 0;)
			for (int i = 0; i < count; i++)
				handle(&wc[i]);
	}
}

/* ---- A client -------------------------------------------------------------------------------- */

static int store(const char *host, uint32_t key)
{
	static struct request m[2]; /* what is stored, and what is read back */
	struct rdmaez_simple_opts objects = {.buffer = m, .length = sizeof(m)};
	struct rdmaez_endpoint server = {0};
	struct ibv_sge out = {(uintptr_t)&m[0], sizeof(m[0]), 0},
		       in = {(uintptr_t)&m[1], sizeof(m[1]), 0};
	struct ibv_send_wr wr = {0};
	struct ibv_recv_wr ready = {0};
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1, .want = 1};
	const uint64_t patience = PATIENCE * 1000000000ull;
	int tcp = -1;

	NEED(rdmaez_simple_open(NULL, &objects, &it, &diag));
	out.lkey = in.lkey = it.mr->lkey;
	NEED(rdmaez_exchange_open(host, service, 0, &tcp, &diag));
	NEED(rdmaez_exchange_connect(tcp, it.qp, NULL, &server, NULL, &diag));
	NEED(rdmaez_wr_post_recv(it.qp, &ready, NULL, &diag));
	m[0].key = key;
	snprintf(m[0].value, sizeof(m[0].value), "of process %d", (int)getpid());
	rdmaez_wr_send(&wr, &out);
	NEED(rdmaez_wr_post_send(it.qp, &wr, NULL, &diag));
	NEED(rdmaez_wc_wait(it.send_cq, it.qp, &batch, patience, &diag));
	NEED(rdmaez_wc_wait(it.recv_cq, it.qp, &batch, patience, &diag));
	NEED(rdmaez_wr_read(&wr, &in, &server.memory, key * sizeof(m[1]), &diag));
	NEED(rdmaez_wr_post_send(it.qp, &wr, NULL, &diag));
	NEED(rdmaez_wc_wait(it.send_cq, it.qp, &batch, patience, &diag));
	printf("%u: %s\n", (unsigned int)m[1].key, m[1].value);
	NEED(rdmaez_simple_close(&it, &diag));
	close(tcp);
	return memcmp(&m[1], &m[0], sizeof(m[1])) != 0;
}

int main(int argc, char **argv)
{
	const char *const text = argc > 2 ? argv[2] : "0";
	char *rest;
	const long key = strtol(text, &rest, 10);

	if (argc == 2 || argc > 3 || !*text || *rest || key < 0 || key >= KEYS) {
		const bool help =
			argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"));

		fputs(usage, help ? stdout : stderr);
		return help ? 0 : 2;
	}
	if (argc == 3)
		return store(argv[1], (uint32_t)key);
	serve();
}
