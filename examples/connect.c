/* SPDX-License-Identifier: MIT */
/*
 * A stream of bytes from one host to another by RDMA WRITE with immediate, its checksum compared at the end.
 *
 *
 * Build:  cc -std=c11 -Iinclude examples/connect.c -libverbs -o connect
 * Run:    ./connect on one host, ./connect HOST on another; or on a machine without RDMA:
 *         tools/softroce sh -c './connect & ./connect 127.0.0.1; wait'
 *
 * The receiver's memory has a few slots, of which the sender knows address and rkey. A chunk is written into the next
 * one, and its immediate tells the length; a message without data gives the slot back once it is read.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>

enum {
	SLOTS = 8,
	CHUNK = 1 << 16,
	LAST = 1 << 20, /* with the length: the chunk holds the checksum of all others */
	SECONDS = 30    /* how long the peer may be silent */
};

/* Ends the program with the reason unless a call works. */
#define NEED(call) rdmaez_diag_need(call, &diag)

static const char usage[] =
	"usage: connect [OPTION...]         receive\n"
	"       connect [OPTION...] HOST    send to HOST, which receives\n"
	"\n"
	"Sends a stream of bytes by RDMA WRITE, and compares its checksum at the end.\n"
	"\n"
	"  -d DEVICE   the device (the first that has an active port)\n"
	"  -f FILE     the file to send, or to write; without it, made-up data is sent and "
	"compared\n"
	"  -i PORT     the device's port (1)\n"
	"  -p PORT     the TCP port on which the two meet (18517)\n"
	"  -s BYTES    how much data to make up (4194304)\n"
	"  -h, --help  this text\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
static const char *option[128] = {['i'] = "1", ['p'] = "18517", ['s'] = "4194304"};
static uint8_t memory[SLOTS][CHUNK];
static const uint64_t patience = SECONDS * 1000000000ull;
static FILE *file;
static struct rdmaez_simple it;
static struct rdmaez_endpoint peer;
static struct rdmaez_diag diag;
static int sent; /* sends that have not completed */

/* The next completion of a queue. */
static struct ibv_wc await(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1, .want = 1};

	NEED(rdmaez_wc_wait(cq, it.qp, &batch, patience, &diag));
	return wc;
}

/* A receive without memory: an immediate needs no more. */
static void post_receive(void)
{
	struct ibv_recv_wr receive = {0};

	NEED(rdmaez_wr_post_recv(it.qp, &receive, NULL, &diag));
}

/* Posts a send with an immediate, when one before it has completed if there are as many as fit. */
static void post(struct ibv_send_wr *wr, uint32_t number)
{
	if (sent == SLOTS)
		await(it.send_cq);
	else
		sent++;
	NEED(rdmaez_wr_imm(wr, number, &diag));
	NEED(rdmaez_wr_post_send(it.qp, wr, NULL, &diag));
}

/* Writes a chunk into the receiver's slot of the same number. */
static void write_chunk(unsigned int slot, uint32_t length, uint32_t flag)
{
	struct ibv_sge sge = {(uintptr_t)memory[slot], length, it.mr->lkey};
	struct ibv_send_wr wr = {0};

	NEED(rdmaez_wr_write(&wr, &sge, &peer.memory, (uint64_t)slot * CHUNK, &diag));
	post(&wr, length | flag);
}

/* FNV-1a, 64 bits wide. */
static uint64_t sum_up(uint64_t sum, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		sum = (sum ^ data[i]) * 0x100000001b3;
	return sum;
}

/* The next bytes of the file, or made-up ones; 0: that was all. */
static size_t produce(uint8_t *data)
{
	static size_t made;
	const size_t all = strtoull(option['s'], NULL, 0);
	size_t length = all - made < CHUNK ? all - made : CHUNK;

	if (file)
		return fread(data, 1, CHUNK, file);
	for (size_t i = 0; i < length; i++)
		data[i] = (uint8_t)((made + i) * 2654435761u >> 13);
	made += length;
	return length;
}

/* Sends chunks as long as the receiver has slots for them. */
static uint64_t send_all(void)
{
	uint64_t sum = 0xcbf29ce484222325, bytes = 0;
	uint32_t length = 1;

	for (unsigned int n = 0; length; n++) {
		uint8_t *const slot = memory[n % SLOTS];

		if (n >=
		    SLOTS) { /* what was written there has been read, so it has been sent as well */
			await(it.recv_cq);
			post_receive();
		}
		length = (uint32_t)produce(slot);
		sum = sum_up(sum, slot, length);
		bytes += length;
		if (!length)
			memcpy(slot, &sum, sizeof(sum));
		write_chunk(n % SLOTS, length ? length : sizeof(sum), length ? 0 : LAST);
	}
	return bytes;
}

/* Receives until the last chunk, and compares. */
static uint64_t receive_all(void)
{
	uint64_t sum = 0xcbf29ce484222325, want, bytes = 0;
	struct ibv_send_wr credit = {0};
	uint32_t number = 0;

	for (unsigned int n = 0; !(number & LAST); n++) {
		const uint8_t *const slot = memory[n % SLOTS];

		number = ntohl(await(it.recv_cq).imm_data);
		post_receive();
		if (number & LAST)
			memcpy(&want, slot, sizeof(want));
		else if (number > CHUNK || (file && fwrite(slot, 1, number, file) != number))
			err(EXIT_FAILURE, "a chunk of %u bytes", number);
		if (number & LAST)
			break;
		sum = sum_up(sum, slot, number);
		bytes += number;
		rdmaez_wr_send(&credit, NULL);
		post(&credit, n);
	}
	if (sum != want)
		errx(EXIT_FAILURE, "%llu bytes came, and not as they were sent",
		     (unsigned long long)bytes);
	return bytes;
}

/* Connects with the peer, whose memory is then known. */
static int connect_with(const char *host)
{
	struct rdmaez_simple_opts objects = {.buffer = memory, .length = sizeof(memory)};
	struct rdmaez_qp_opts opts = {.access = IBV_ACCESS_REMOTE_WRITE};
	struct rdmaez_exchange_opts how = {.timeout_ns = patience, .qp = &opts};
	struct rdmaez_endpoint own;
	int socket = -1;

	objects.sends = objects.recvs = SLOTS;
	objects.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	opts.port = rdmaez_exactly(atoi(option['i']));
	NEED(rdmaez_simple_open(option['d'], &objects, &it, &diag));
	NEED(rdmaez_exchange_open(host, option['p'], patience, &socket, &diag));
	NEED(rdmaez_exchange_peer(socket, &opts.path.dgid, &diag));
	NEED(rdmaez_endpoint_local(it.qp, &opts, &own, &diag));
	NEED(rdmaez_mr_remote(it.mr, &own.memory, &diag));
	NEED(rdmaez_qp_to_init(it.qp, &opts, &diag));
	for (int i = 0; i < SLOTS; i++) /* before the peer can send */
		post_receive();
	NEED(rdmaez_exchange_connect(socket, it.qp, &own, &peer, &how, &diag));
	return socket;
}

int main(int argc, char **argv)
{
	/* The completion queues are this queue pair's alone. Some drivers must be told how much is outstanding. */
	struct rdmaez_drain_opts drain = {.flags = RDMAEZ_DRAIN_DISCARD, .recvs = SLOTS};
	struct timespec t0, t1;

	for (int letter; (letter = getopt_long(argc, argv, "d:f:i:p:s:h", help, NULL)) != -1;)
		option[letter] = optarg ? optarg : "";
	if (option['h'] || option['?'] || argc - optind > 1) {
		fputs(usage, option['h'] ? stdout : stderr);
		return option['h'] ? EXIT_SUCCESS : 2;
	}
	const char *const host = argv[optind];
	if (option['f'] && !(file = fopen(option['f'], host ? "rb" : "wb")))
		err(EXIT_FAILURE, "%s", option['f']);
	const int socket = connect_with(host);

	clock_gettime(CLOCK_MONOTONIC, &t0);
	const uint64_t bytes = host ? send_all() : receive_all();
	/* Both ends are done, and know it of each other. Receives are outstanding, and the last sends not polled. */
	NEED(rdmaez_exchange_barrier(socket, NULL, patience, &diag));
	clock_gettime(CLOCK_MONOTONIC, &t1);
	const double s = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
	drain.sends = rdmaez_exactly(sent);
	NEED(rdmaez_qp_drain(it.qp, &drain, NULL, &diag));
	NEED(rdmaez_simple_close(&it, &diag));
	close(socket);
	if (file && (ferror(file) || fclose(file)))
		err(EXIT_FAILURE, "%s", option['f']);
	printf("%llu bytes %s in %.2f s = %.1f MB/s, %s\n", (unsigned long long)bytes,
	       host ? "sent" : "received", s, (double)bytes / s / 1e6,
	       host ? "and the peer has them" : "as they were sent");
	return EXIT_SUCCESS;
}
