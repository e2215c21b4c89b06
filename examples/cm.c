/* SPDX-License-Identifier: MIT */
/*
 * Two programs connect by rdma_cm at an IP address, and each writes into the other's memory: docs/cm.md explains it.
 * Build:  cc -std=c11 -Iinclude examples/cm.c -lrdmacm -libverbs -o cm
 * Run:    ./cm on one machine and ./cm ADDRESS on the other; without RDMA:
 *         tools/softroce sh -c './cm & sleep 1; ./cm 192.0.2.1'
 */
#define _DEFAULT_SOURCE /* endian.h, err.h */
#include <endian.h>
#include <err.h>
#include <getopt.h>

#define RDMAEZ_WITH_CM
#include <rdmaez/implementation.h>

#define NEED(call) rdmaez_diag_need(call, &diag)

static const char usage[] =
	"usage: cm [OPTION...] [ADDRESS]: connect to the server at ADDRESS, or be that server\n"
	"  -l ADDRESS  wait at this address (all of this host)\n"
	"  -p PORT     the rdma_cm port (7471), which is not a TCP port\n"
	"  -s BYTES    how much is written, the same at both ends (65536)\n"
	"  -h, --help  this text\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

/* What the ends tell each other in rdma_cm's private data, big endian. */
struct told {
	uint64_t addr, length;
	uint32_t rkey, magic;
};

static const uint32_t magic = 0x727a0001; /* "rz", version 1 */
static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static struct rdmaez_cm_peer peer;
static struct rdmaez_remote remote;
static struct rdmaez_diag diag;
static struct told told;
static struct ibv_mr *mr; /* what is sent, and after it as much that the peer may write */
static uint32_t size;

/* The objects, on the device that rdma_cm has chosen, and what is told of them. librdmacm adds what init leaves out: a
 * protection domain, and a completion queue for either direction. siw takes no receive of no bytes. */
static struct rdmaez_cm_opts prepare(uint8_t pattern)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {2, 1, 1, 1, 0}};
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	uint8_t *const memory = (uint8_t *)calloc(2, size + 1);
	struct ibv_sge byte = {(uintptr_t)memory + 2 * size, 1, 0};
	struct ibv_recv_wr receive = {.sg_list = &byte, .num_sge = 1}, *bad;

	NEED(rdmaez_cm_qp_create(id, NULL, &init, &diag));
	NEED(rdmaez_mr_reg(id->pd, memset(memory, pattern, size), 2 * size + 1, access, &mr,
			   &diag));
	byte.lkey = mr->lkey;
	NEED(rdmaez_wr_post_recv(id->qp, &receive, &bad, &diag));
	told = (struct told){htobe64((uintptr_t)memory + size), htobe64(size), htobe32(mr->rkey),
			     htobe32(magic)};
	return (struct rdmaez_cm_opts){.data = &told, .data_length = sizeof(told)};
}

/* What is wrong with what the peer told; NULL: nothing. */
static const char *hear(void)
{
	struct told heard;

	memcpy(&heard, peer.data, sizeof(heard));
	remote.addr = be64toh(heard.addr);
	remote.length = be64toh(heard.length);
	remote.rkey = be32toh(heard.rkey);
	if (be32toh(heard.magic) != magic)
		return "it is another program, or another version";
	return remote.length != size ? "the sizes differ" : NULL;
}

static void meet_server(const char *host, const char *service)
{
	NEED(rdmaez_cm_resolve(channel, host, service, NULL, &id, &diag));
	const struct rdmaez_cm_opts opts = prepare('c');
	const int error = rdmaez_cm_connect(id, &opts, &peer, &diag);

	if (error == ECONNREFUSED && peer.data[0])
		warnx("the server says: %s", (char *)peer.data);
	NEED(error);
	if (hear())
		errx(EXIT_FAILURE, "the server is none of ours: %s", hear());
}

static void meet_client(const char *host, const char *service)
{
	struct rdma_event_channel *listening;
	struct rdma_cm_id *listener;

	NEED(rdmaez_cm_channel_create(&listening, &diag));
	NEED(rdmaez_cm_listen(listening, host, service, NULL, &listener, &diag));
	NEED(rdmaez_cm_request(listener, channel, RDMAEZ_NS_FOREVER, &id, &peer, &diag));
	if (hear()) {
		NEED(rdmaez_cm_reject(id, hear(), strlen(hear()), &diag));
		errx(EXIT_FAILURE, "a client was refused: %s", hear());
	}
	const struct rdmaez_cm_opts opts = prepare('s');
	NEED(rdmaez_cm_accept(id, &peer, &opts, &diag));
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(listening);
}

static void await(struct ibv_cq *cq)
{
	struct rdmaez_wc_batch batch = {.wc = &(struct ibv_wc){0}, .capacity = 1};

	NEED(rdmaez_wc_wait(cq, id->qp, &batch, 0, &diag));
}

/* Writes, and sends a message of no bytes, which arrives after that: iWARP has no WRITE with immediate. */
static void post_write(void)
{
	struct ibv_sge sge = {(uintptr_t)mr->addr, size, mr->lkey};
	struct ibv_send_wr message = {.send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr write = {.next = &message}, *bad;

	NEED(rdmaez_wr_write(&write, &sge, &remote, 0, &diag));
	rdmaez_wr_send(&message, NULL);
	NEED(rdmaez_wr_post_send(id->qp, &write, &bad, &diag));
}

int main(int argc, char **argv)
{
	const char *option[128] = {['p'] = "7471", ['s'] = "65536"}; /* each by its letter */

	for (int letter; (letter = getopt_long(argc, argv, "l:p:s:h", help, NULL)) != -1;)
		option[letter] = optarg ? optarg : "";
	const bool server = optind >= argc;
	if (option['h'] || option['?'] || argc - optind > 1)
		return fputs(usage, option['h'] ? stdout : stderr) < 0 || !option['h'] ? 2 : 0;
	size = (uint32_t)atoi(option['s']);
	NEED(rdmaez_cm_channel_create(&channel, &diag));
	if (server)
		meet_client(option['l'], option['p']);
	else
		meet_server(argv[optind], option['p']);
	/* The client writes first, as iWARP wants it. Who has written last disconnects, once that has arrived. */
	if (!server)
		post_write();
	await(id->recv_cq);
	for (uint32_t i = size; i < 2 * size; i++)
		if (((uint8_t *)mr->addr)[i] != (server ? 'c' : 's'))
			errx(EXIT_FAILURE, "byte %u is not what was written", i - size);
	if (server) {
		post_write();
		await(id->send_cq);
	}
	printf("%s: %u bytes went each way and arrived intact\n", id->verbs->device->name, size);
	NEED(server ? rdmaez_cm_disconnect(id, 0, &diag) : rdmaez_cm_disconnected(id, 0, &diag));
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}
