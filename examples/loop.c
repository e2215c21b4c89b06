/* SPDX-License-Identifier: MIT */
/*
 * One thread, one epoll: a server that takes clients by rdma_cm, sends back what they send, and hears what the device
 * reports. docs/events.md explains it.
 * Build:  cc -std=c11 -Iinclude examples/loop.c -lrdmacm -libverbs -o loop
 * Run:    ./loop on one machine and ./loop ADDRESS on others; without RDMA:
 *         tools/softroce sh -c './loop -n 2 & sleep 1; ./loop 192.0.2.1 & ./loop 192.0.2.1; wait'
 */
#define _DEFAULT_SOURCE /* err.h */
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/epoll.h>

#define RDMAEZ_WITH_CM
#include <rdmaez/implementation.h>

#define CLIENTS    16
#define SLOTS      4 /* messages of one client at once */
#define NEED(call) rdmaez_diag_need(call, &diag)

static const char usage[] =
	"usage: loop [OPTION...] [ADDRESS]: be the server, or a client of the one at ADDRESS\n"
	"  -c COUNT    how many messages a client sends (3)\n"
	"  -n CLIENTS  how many come and go before the server ends (0: it does not)\n"
	"  -p PORT     the rdma_cm port (7472)\n"
	"  -h, --help  this text\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

static char memory[CLIENTS][SLOTS][64];
static struct rdma_event_channel *channel;
static struct rdmaez_cq_watch watched; /* one completion queue for all clients */
static struct ibv_comp_channel *completions;
static struct rdma_cm_id *ids[CLIENTS];
static struct ibv_qp *qps[CLIENTS]; /* NULL: nobody is here */
static struct rdmaez_diag diag;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static int loop, gone;

/* ---- The loop: what to call for each descriptor ------------------------------------------------ */

static void on_connection(void), on_completion(void), on_event(void);
static void (*const on_ready[])(void) = {on_connection, on_completion, on_event};

static void add(int fd, uint32_t which)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = which};

	if (epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event))
		err(EXIT_FAILURE, "epoll_ctl");
}

static void serve(const char *service, int clients)
{
	struct epoll_event ready[3];
	struct rdma_cm_id *listener;

	loop = epoll_create1(EPOLL_CLOEXEC);
	NEED(rdmaez_cm_listen(channel, NULL, service, NULL, &listener, &diag));
	add(channel->fd, 0);
	while (!clients || gone < clients)
		for (int i = 0, count = epoll_wait(loop, ready, 3, -1); i < count; i++)
			on_ready[ready[i].data.u32]();
	rdma_destroy_id(listener);
	rdmaez_cq_ack(&watched); /* or destroying the queue waits forever */
	NEED(rdmaez_cq_destroy(watched.cq, &diag));
	NEED(rdmaez_channel_destroy(completions, &diag));
	NEED(rdmaez_mr_dereg(mr, &diag));
	NEED(rdmaez_pd_dealloc(pd, &diag));
}

/* The device is known when the first client comes. Its two descriptors join the loop. */
static void open_device(struct ibv_context *context)
{
	NEED(rdmaez_pd_alloc(context, &pd, &diag));
	NEED(rdmaez_mr_reg(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE, &mr, &diag));
	NEED(rdmaez_channel_create(context, &completions, &diag));
	NEED(rdmaez_cq_create(context, 2 * CLIENTS * SLOTS, completions, 0, &watched.cq, &diag));
	NEED(rdmaez_cq_arm(watched.cq, 0, &diag));
	add(completions->fd, 1);
	add(context->async_fd, 2);
}

/* ---- Completions ------------------------------------------------------------------------------- */

static int post(size_t client, uint64_t slot, bool answers)
{
	const uint64_t wr_id = (client * SLOTS + slot) * 2 + answers;
	struct ibv_sge sge = {(uintptr_t)memory[client][slot], sizeof(memory[0][0]), mr->lkey};
	struct ibv_recv_wr recv = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_send_wr send = {.wr_id = wr_id, .send_flags = IBV_SEND_SIGNALED};

	if (!answers)
		return rdmaez_wr_post_recv(qps[client], &recv, &bad, &diag);
	rdmaez_wr_send(&send, &sge);
	return rdmaez_wr_post_send(qps[client], &send, NULL, &diag);
}

/* A message goes back where it came from, and its slot is free again when it has gone. */
static void handle(const struct ibv_wc *wc)
{
	const size_t client = rdmaez_wc_position(wc, qps, CLIENTS);

	if (client == CLIENTS)
		return; /* of somebody who has left */
	if (wc->status || post(client, wc->wr_id / 2 % SLOTS, !(wc->wr_id & 1)))
		rdma_disconnect(ids[client]);
}

static void on_completion(void)
{
	struct ibv_wc wc[16];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = 16};
	struct rdmaez_cq_watch *which;

	for (;;) {
		NEED(rdmaez_channel_next(completions, &watched, 1, RDMAEZ_NS_NOW, &which, &diag));
		if (!which)
			return;
		do {
			if (rdmaez_wc_poll(which->cq, NULL, &batch, &diag))
				rdmaez_diag_print(&diag,
						  stderr); /* a peer that was killed, perhaps */
			for (int i = 0; i < batch.count; i++)
				handle(&wc[i]);
		} while (batch.count);
	}
}

/* ---- Connections ------------------------------------------------------------------------------- */

static void dismiss(struct rdma_cm_id *id)
{
	struct rdma_cm_id **const own = (struct rdma_cm_id **)id->context;

	qps[own - ids] = NULL;
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	printf("%d gone\n", ++gone);
}

static void admit(struct rdma_cm_id *id, const struct rdmaez_cm_peer *request)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {SLOTS, SLOTS, 1, 1, 0}};
	struct rdma_conn_param param;
	size_t client = 0;

	if (!pd)
		open_device(id->verbs);
	while (client < CLIENTS && qps[client])
		client++;
	init.send_cq = init.recv_cq = watched.cq;
	if (client == CLIENTS || id->verbs != pd->context ||
	    rdmaez_cm_qp_create(id, pd, &init, &diag)) {
		rdma_destroy_id(id); /* which refuses it */
		return;
	}
	id->context = &ids[client];
	ids[client] = id;
	qps[client] = id->qp;
	for (uint64_t slot = 0; slot < SLOTS; slot++)
		NEED(post(client, slot, false));
	NEED(rdmaez_cm_prepare(id, request, NULL, &param, &diag));
	if (rdma_accept(id, &param) || rdmaez_cm_tune(id, NULL, &diag))
		dismiss(id); /* the client has given up */
}

/* Events of the listener and of all clients. An id is destroyed once its events are acknowledged. */
static void on_connection(void)
{
	struct rdmaez_cm_peer request;
	struct rdma_cm_event *event;

	while (!rdmaez_cm_event_next(channel, RDMAEZ_NS_NOW, &event, &diag)) {
		struct rdma_cm_id *const id = event->id;
		const bool comes = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
		const bool ends = rdmaez_cm_event_explain(event, &diag) != 0;

		if (comes)
			rdmaez_cm_event_peer(event, &request);
		rdma_ack_cm_event(event);
		if (comes)
			admit(id, &request);
		else if (ends && id->context)
			dismiss(id);
	}
}

/* ---- Asynchronous events ----------------------------------------------------------------------- */

static void on_event(void)
{
	struct ibv_async_event event;
	char text[1024];

	while (!rdmaez_event_next(pd->context, RDMAEZ_NS_NOW, &event, &diag)) {
		rdmaez_event_format(&event, text, sizeof(text));
		puts(text);
	}
}

/* ---- A client, which may wait ------------------------------------------------------------------ */

static void ask(const char *host, const char *service, long count)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
	struct rdmaez_wc_batch batch = {.wc = &(struct ibv_wc){0}, .capacity = 1};

	NEED(rdmaez_cm_resolve(channel, host, service, NULL, &ids[0], &diag));
	NEED(rdmaez_cm_qp_create(ids[0], NULL, &init, &diag));
	qps[0] = ids[0]->qp;
	NEED(rdmaez_mr_reg(ids[0]->pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE, &mr, &diag));
	NEED(rdmaez_cm_connect(ids[0], NULL, NULL, &diag));
	for (long i = 1; i <= count; i++) {
		snprintf(memory[0][1], sizeof(memory[0][1]), "message %ld", i);
		NEED(post(0, 0, false));
		NEED(post(0, 1, true));
		NEED(rdmaez_wc_wait(ids[0]->send_cq, qps[0], &batch, 0, &diag));
		NEED(rdmaez_wc_wait(ids[0]->recv_cq, qps[0], &batch, 0, &diag));
		if (memcmp(memory[0][0], memory[0][1], sizeof(memory[0][0])) != 0)
			errx(EXIT_FAILURE, "'%.63s' came back", memory[0][0]);
	}
	printf("%ld messages came back\n", count);
	NEED(rdmaez_cm_disconnect(ids[0], 0, &diag));
	rdma_destroy_qp(ids[0]);
	NEED(rdmaez_mr_dereg(mr, &diag));
	rdma_destroy_id(ids[0]);
}

int main(int argc, char **argv)
{
	const char *option[128] = {
		['c'] = "3", ['n'] = "0", ['p'] = "7472"}; /* each by its letter */

	for (int letter; (letter = getopt_long(argc, argv, "c:n:p:h", help, NULL)) != -1;)
		option[letter] = optarg ? optarg : "";
	if (option['h'] || option['?'] || argc - optind > 1)
		return fputs(usage, option['h'] ? stdout : stderr) < 0 || !option['h'] ? 2 : 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	NEED(rdmaez_cm_channel_create(&channel, &diag));
	if (optind < argc)
		ask(argv[optind], option['p'], atol(option['c']));
	else
		serve(option['p'], atoi(option['n']));
	rdma_destroy_event_channel(channel);
	return 0;
}
