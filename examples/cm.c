/* SPDX-License-Identifier: MIT */
/*
 * rdma_cm connects, rdmaez tunes and explains: two programs meet at an IP address, and each writes into the
 * other's memory by RDMA. The same on InfiniBand, RoCE and iWARP.
 *
 * Build:  cc -std=c11 -Iinclude examples/cm.c -lrdmacm -libverbs -o cm
 * Run:    ./cm on one machine and ./cm ADDRESS on the other; without RDMA:
 *         tools/softroce sh -c './cm & sleep 1; ./cm 192.0.2.1'
 *
 * An id without an event channel is synchronous: each call waits for its event, which is then in id->event. An
 * address is given up after five seconds; a request that nobody answers only after a minute, by the kernel.
 */
#define _DEFAULT_SOURCE /* endian.h, err.h */
#include <endian.h>
#include <err.h>
#include <getopt.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdmaez.h>
#include <rdmaez/implementation.h>

enum {
	ADDRESS_MS = 5000,
	SECONDS = 30,      /* for anything else */
	MAGIC = 0x727a0001 /* "rz", version 1 */
};

static const char usage[] =
	"usage: cm [OPTION...]            wait for a client\n"
	"       cm [OPTION...] ADDRESS    connect to the server at ADDRESS\n"
	"\n"
	"rdma_cm connects two programs, and each writes into the other's memory by RDMA.\n"
	"\n"
	"  -l ADDRESS  wait at this address (0.0.0.0, all of IPv4)\n"
	"  -p PORT     the rdma_cm port (7471), which is not a TCP port\n"
	"  -s BYTES    how much is written, the same at both ends (65536)\n"
	"  -h, --help  this text\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

/* What the ends tell each other in rdma_cm's private data, big endian. A request has room for 56 bytes, of which
 * the receiver always gets all, except over iWARP. */
struct told {
	uint64_t addr, length;
	uint32_t rkey, magic;
};

static struct told told;
static struct rdma_conn_param param = {.private_data = &told, .private_data_len = sizeof(told)};
static struct rdma_cm_id *id;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr; /* what is sent, and after it as much that the peer may write */
static struct rdmaez_remote peer;
static struct rdmaez_diag diag;
static uint32_t size;
static int sent; /* sends that have not completed */

/* End the program unless something holds; TRY is for calls that set errno. */
#define NEED(holds, ...)  ((holds) ? (void)0 : errx(EXIT_FAILURE, __VA_ARGS__))
#define TRY(worked, what) ((worked) ? (void)0 : err(EXIT_FAILURE, "%s", what))

/* Why rdma_cm did not connect. A status is an errno value, negative, or a reason of InfiniBand. */
static const struct {
	int status;
	const char *why;
} refusals[] = {
	{-ENETUNREACH, "this host has no route to that address"},
	{-EHOSTUNREACH, "nobody answers at that address"},
	{-ENODEV, "the route to that address starts at an interface without an RDMA device"},
	{-ETIMEDOUT, "no answer: is that host up, does it use rdma_cm, is UDP port 4791 open?"},
	{-ECONNREFUSED, "that host is there, but no program listens on the port"},
	{-ECONNRESET, "the program there refuses"},
	{8, "that host is there, but no program listens on the port"},
	{10, "that end still has an earlier connection of this queue pair: try again"},
	{28, "the program there refuses, or listens at another address"},
};

/* Ends the program with rdma_cm's reason unless a call worked, and with what the peer says of it. */
static void connected(int returned, const char *what)
{
	const struct rdma_cm_event *event = id->event && id->event->status ? id->event : NULL;
	const int status = event ? event->status : -errno;
	const char *why = status < 0 ? strerror(-status) : "see the reasons of REJ";
	char said[UINT8_MAX + 1] = "";

	if (!returned)
		return;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		if (refusals[i].status == status)
			why = refusals[i].why;
	if (event && event->event == RDMA_CM_EVENT_REJECTED)
		memcpy(said, event->param.conn.private_data, event->param.conn.private_data_len);
	errx(EXIT_FAILURE, "%s: status %d: %s%s%s", what, status, why, *said ? ": " : "", said);
}

static uint8_t pattern(bool server, uint32_t i)
{
	return (uint8_t)(i + i / 256 + server);
}

/* The objects, on the device that rdma_cm has chosen, and what is told of them. The queues have room for one more
 * work request, by which rdmaez_qp_drain() sees their end. */
static void prepare(bool server)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {3, 3, 1, 1, 0}};
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	uint8_t *memory = (uint8_t *)calloc(2, size + 1);
	struct ibv_sge byte = {(uintptr_t)memory + 2 * size, 1, 0};
	struct ibv_recv_wr last = {.sg_list = &byte, .num_sge = 1}, first = last, *bad;

	TRY(memory && (pd = ibv_alloc_pd(id->verbs)), "ibv_alloc_pd");
	rdmaez_diag_need(rdmaez_mr_reg(pd, memory, 2 * size + 1, access, &mr, &diag), &diag);
	init.send_cq = init.recv_cq = cq = ibv_create_cq(id->verbs, 6, NULL, NULL, 0);
	TRY(cq && rdma_create_qp(id, pd, &init) == 0, "rdma_create_qp");
	/* A message without bytes would need no room, but siw takes no receive without. The second never comes. */
	byte.lkey = mr->lkey;
	first.next = &last;
	rdmaez_diag_need(rdmaez_wr_post_recv(id->qp, &first, &bad, &diag), &diag);
	for (uint32_t i = 0; i < size; i++)
		memory[i] = pattern(server, i);
	told = (struct told){htobe64((uintptr_t)memory + size), htobe64(size), htobe32(mr->rkey),
			     htobe32(MAGIC)};
}

/* Has rdma_cm use rdmaez's defaults. Its own timeout is longer, and cannot be changed once connected. */
static void set_defaults(void)
{
	struct ibv_device_attr device;
	struct rdmaez_qp_opts opts = {.device_attr = &device};
	struct rdmaez_qp_move rts;
	uint8_t *timeout = &rts.attr.timeout;

	TRY((errno = ibv_query_device(id->verbs, &device)) == 0, "ibv_query_device");
	rdmaez_diag_need(rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, &opts, &rts, &diag),
			 &diag);
	param.initiator_depth = param.responder_resources = rts.attr.max_rd_atomic;
	param.retry_count = rts.attr.retry_cnt;
	param.rnr_retry_count = rts.attr.rnr_retry;
	TRY(!rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, timeout, 1),
	    "RDMA_OPTION_ID_ACK_TIMEOUT");
}

/* What the peer told; NULL, or what is wrong with it. */
static const char *hear(const struct rdma_conn_param *its)
{
	struct told heard;

	if (its->private_data_len < sizeof(heard))
		return "it tells of no memory";
	memcpy(&heard, its->private_data, sizeof(heard));
	if (be32toh(heard.magic) != MAGIC)
		return "it is another program, or another version";
	if (be64toh(heard.length) != size)
		return "the sizes differ";
	peer.addr = be64toh(heard.addr);
	peer.length = be64toh(heard.length);
	peer.rkey = be32toh(heard.rkey);
	return NULL;
}

static void meet_server(struct rdma_addrinfo *address)
{
	const char *wrong;

	connected(rdma_resolve_addr(id, NULL, address->ai_dst_addr, ADDRESS_MS), "the address");
	connected(rdma_resolve_route(id, ADDRESS_MS), "the route");
	prepare(false);
	set_defaults();
	connected(rdma_connect(id, &param), "the connection");
	wrong = hear(&id->event->param.conn);
	NEED(!wrong, "the server is none of ours: %s", wrong);
}

static void meet_client(struct rdma_addrinfo *address)
{
	struct rdma_cm_id *listener = id;
	const struct rdma_conn_param *asked;
	const char *wrong;

	connected(rdma_bind_addr(id, address->ai_src_addr), "the address");
	connected(rdma_listen(id, 1), "listening");
	connected(rdma_get_request(listener, &id), "a client");
	asked = &id->event->param.conn;
	wrong = hear(asked);
	if (wrong)
		rdma_reject(id, wrong, (uint8_t)strlen(wrong));
	NEED(!wrong, "a client was refused: %s", wrong);
	prepare(true);
	set_defaults();
	/* No end's READs may be more than the other has room for. */
	if (param.initiator_depth > asked->initiator_depth)
		param.initiator_depth = asked->initiator_depth;
	if (param.responder_resources > asked->responder_resources)
		param.responder_resources = asked->responder_resources;
	connected(rdma_accept(id, &param), "the connection");
	rdma_destroy_id(listener);
}

/* What is wrong with the connection though it is up. rdma_cm sets min_rnr_timer to 0, which is 655 ms. */
static void tune(void)
{
	struct rdmaez_qp_opts opts = {.optional = IBV_QP_MIN_RNR_TIMER};

	rdmaez_diag_need(rdmaez_qp_examine(id->qp, &diag), &diag);
	if (!rdmaez_diag_find(&diag, RDMAEZ_WHY_RNR_TIMER_ZERO))
		return;
	rdmaez_diag_need(rdmaez_qp_to_rts(id->qp, &opts, &diag), &diag);
	puts("min_rnr_timer is 12 now: rdma_cm made it 0");
}

/* Waits for a completion; whether it is of a receive. Where none comes, the queue pair may tell why. */
static bool await(void)
{
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1, .want = 1};
	const int error = rdmaez_wc_wait(cq, id->qp, &batch, SECONDS * UINT64_C(1000000000), &diag);

	if (error == ETIMEDOUT)
		rdmaez_qp_examine(id->qp, &diag);
	rdmaez_diag_need(error, &diag);
	if (!(wc.opcode & IBV_WC_RECV))
		sent--;
	return wc.opcode & IBV_WC_RECV;
}

/* Writes into the peer's memory, and sends a message of no bytes, which arrives after what was written: iWARP has
 * no WRITE with immediate. */
static void post_write(void)
{
	struct ibv_sge sge = {(uintptr_t)mr->addr, size, mr->lkey};
	struct ibv_send_wr message = {.send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr write = {.next = &message}, *bad;

	rdmaez_diag_need(rdmaez_wr_write(&write, &sge, &peer, 0, &diag), &diag);
	rdmaez_wr_send(&message, NULL);
	rdmaez_diag_need(rdmaez_wr_post_send(id->qp, &write, &bad, &diag), &diag);
	sent++;
}

/* The client writes first, as iWARP wants it. */
static void swap(bool server)
{
	const uint8_t *came = (uint8_t *)mr->addr + size;

	if (!server)
		post_write();
	while (!await())
		;
	for (uint32_t i = 0; i < size; i++)
		NEED(came[i] == pattern(!server, i), "byte %u is not what was written", i);
	if (server) {
		post_write();
		while (sent)
			await();
	}
	printf("%s: %u bytes went each way and arrived intact\n",
	       ibv_get_device_name(id->verbs->device), size);
}

/*
 * Who has written last disconnects first, or its last acknowledgement may be lost. What is outstanding completes before
 * its memory goes: a receive, and the client's send, if the answer to it was faster. They are counted for siw, where
 * nothing marks a queue's end. What completes may be discarded, as no other queue pair has this completion queue.
 */
static void leave(bool server)
{
	const struct rdmaez_drain_opts opts = {
		.flags = RDMAEZ_DRAIN_DISCARD, .sends = rdmaez_exactly(sent), .recvs = 1};
	struct pollfd event = {.fd = id->channel->fd, .events = POLLIN};
	struct rdmaez_drained drained;

	if (!server)
		NEED(poll(&event, 1, SECONDS * 1000) == 1, "the server does not disconnect");
	connected(rdma_disconnect(id), "the end");
	rdmaez_diag_need(rdmaez_qp_drain(id->qp, &opts, &drained, &diag), &diag);
	printf("disconnected: %u of 1 outstanding receives flushed\n", drained.flushed);
	rdma_destroy_qp(id);
	ibv_dereg_mr(mr);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	rdma_destroy_id(id);
}

/* Where there is no device, rdma_cm fails at one call or another: this says why. */
static void need_device(void)
{
	struct ibv_context *context;

	rdmaez_diag_need(rdmaez_device_open(NULL, &context, &diag), &diag);
	ibv_close_device(context);
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo *address, hints = {.ai_port_space = RDMA_PS_TCP};
	/* What was given to each option, by its letter. */
	const char *option[128] = {['p'] = "7471", ['s'] = "65536"};

	for (int letter; (letter = getopt_long(argc, argv, "l:p:s:h", help, NULL)) != -1;)
		option[letter] = optarg ? optarg : "";
	if (option['h'] || option['?'] || argc - optind > 1) {
		fputs(usage, option['h'] ? stdout : stderr);
		return option['h'] ? EXIT_SUCCESS : 2;
	}
	need_device();
	const bool server = optind >= argc;
	const char *host = server ? option['l'] : argv[optind];
	size = (uint32_t)atoi(option['s']);
	hints.ai_flags = server ? RAI_PASSIVE : 0;
	const int error = rdma_getaddrinfo(host, option['p'], &hints, &address);
	NEED(!error, "%s, port %s: %s", host, option['p'], gai_strerror(error));
	TRY(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	if (server)
		meet_client(address);
	else
		meet_server(address);
	rdma_freeaddrinfo(address);
	tune();
	swap(server);
	leave(server);
	return EXIT_SUCCESS;
}
