/* SPDX-License-Identifier: MIT */
/*
 * The program behind rc_pingpong.c, uc_pingpong.c and ud_pingpong.c: messages go to and fro between
 * two processes, and every byte that arrives is compared. Options and protocol are those of rdma-core's
 * ibv_rc_pingpong, ibv_uc_pingpong and ibv_ud_pingpong, and either end may be the stock program.
 */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
#include <rdmaez.h>

#define PATIENCE 30000000000ull                /* ns that a peer may take for anything */
#define GRH      (QPT == IBV_QPT_UD ? 40u : 0) /* what UD puts before a message: a route header */
/* End the program unless something holds, or a call of rdmaez works. */
#define NEED(holds, ...) ((holds) ? (void)0 : errx(EXIT_FAILURE, __VA_ARGS__))
#define CHECK(call)      rdmaez_diag_need(call, &diag)

static const char usage[] =
	"usage: rc_pingpong [OPTION...] [HOST]    also uc_pingpong and ud_pingpong\n"
	"\n"
	"Sends messages to and fro between two processes, and compares every byte. Without HOST it "
	"waits\n"
	"for a client. Either end may be ibv_rc_pingpong and so on, with the same options.\n"
	"\n"
	"  -c          mark every page, as the stock client does\n"
	"  -d DEVICE   the device (the first that has an active port)\n"
	"  -g INDEX    the GID index (the best one)\n"
	"  -i PORT     the device's port (1)\n"
	"  -m BYTES    the path MTU (1024)\n"
	"  -n COUNT    how many messages each way (1000)\n"
	"  -p PORT     the TCP port on which the two meet (18515)\n"
	"  -s BYTES    the size of a message (4096, UD 1024)\n"
	"  -h, --help  this text\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
static const char *option[128] = {['i'] = "1", ['m'] = "1024", ['n'] = "1000", ['p'] = "18515"};
static const char *host;
static struct rdmaez_qp_opts opts;
static struct rdmaez_diag diag;
static struct rdmaez_simple it;
static struct ibv_wc wc;
static struct rdmaez_wc_batch one = {.wc = &wc, .capacity = 1, .want = 1};
static struct ibv_sge out, in[2]; /* what is sent, and two places for what comes */
static struct ibv_send_wr message = {.sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND};
static struct ibv_recv_wr rx[] = {{.sg_list = in, .num_sge = 1}, {.sg_list = in + 1, .num_sge = 1}};

/* Makes a queue pair that is ready for the first two messages of this size. */
static void make_qp(uint32_t size)
{
	struct rdmaez_simple_opts objects = {.qp_type = QPT, .length = 3 * size + 2 * GRH};
	uint8_t *data = (uint8_t *)malloc(objects.length);

	NEED(objects.buffer = data, "no memory");
	CHECK(rdmaez_simple_open(option['d'], &objects, &it, &diag));
	CHECK(rdmaez_qp_to_init(it.qp, &opts, &diag));
	memset(memset(data, 0xff, objects.length), 0x7b, size);
	for (size_t i = 0; option['c'] && i < size; i += (size_t)sysconf(_SC_PAGESIZE))
		data[i] = 0;
	out = (struct ibv_sge){(uintptr_t)data, size, it.mr->lkey};
	for (int i = 0; i < 2; i++, data += GRH + size) {
		in[i] = (struct ibv_sge){(uintptr_t)data + size, GRH + size, it.mr->lkey};
		CHECK(rdmaez_wr_post_recv(it.qp, &rx[i], NULL, &diag));
	}
}

/* Tells the peer who we are, learns who it is, and connects with it. A server waits forever. */
static void meet(void)
{
	char mine[] = "0000:000000:000000:00000000000000000000000000000000", its[sizeof(mine)];
	const struct timeval patience = {.tv_sec = PATIENCE / 1000000000};
	struct rdmaez_endpoint own, peer;
	int tcp = -1, size = sizeof(mine), at;

	CHECK(rdmaez_endpoint_local(it.qp, &opts, &own, &diag));
	NEED(!GRH || (int)out.length <= rdmaez_mtu_bytes(own.mtu), "a UD message fits one packet");
	own.gid_count = 1; /* more cannot be told; and what the peer does not tell is as here */
	peer = own;
	NEED(!rdmaez_mtu_from_bytes(atoi(option['m']), &peer.mtu), "-m takes 256 to 4096");
	at = sprintf(mine, "%04x:%06x:%06x:", own.lid, own.qp_num, own.psn);
	for (int i = 0; i < 16; i++)
		sprintf(mine + at + 2 * i, "%02x", own.gid[0].gid.raw[i]);
	CHECK(rdmaez_exchange_open(host, option['p'], host ? PATIENCE : RDMAEZ_NS_FOREVER, &tcp,
				   &diag));
	setsockopt(tcp, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	NEED(!host || send(tcp, mine, sizeof(mine), MSG_NOSIGNAL) == size, "the peer has gone");
	NEED(recv(tcp, its, sizeof(its), MSG_WAITALL) == size, "the peer sent no address");
	/* Whoever it is: a digit where we have a digit, else what we have, up to the final 0. */
	for (int i = 0; i < size; i++)
		NEED(isxdigit((uint8_t)mine[i]) ? isxdigit((uint8_t)its[i]) : its[i] == mine[i],
		     "the peer's address is garbled");
	sscanf(its, "%4hx:%6x:%6x:", &peer.lid, &peer.qp_num, &peer.psn);
	for (int i = 0; i < 16; i++)
		sscanf(its + at + 2 * i, "%2hhx", &peer.gid[0].gid.raw[i]);
	printf("own address   %s\npeer address  %s\n", mine, its);
	if (GRH)
		CHECK(rdmaez_qp_connect_ud(it.qp, &own, &peer, &opts, &message.wr.ud.ah, &diag));
	else
		CHECK(rdmaez_qp_connect(it.qp, &own, &peer, &opts, &diag));
	message.wr.ud.remote_qpn = peer.qp_num; /* for UD alone */
	message.wr.ud.remote_qkey = peer.qkey;
	send(tcp, host ? "done" : mine, host ? sizeof("done") : sizeof(mine), MSG_NOSIGNAL);
}

/* What came must be like what we send, and must not pass for what comes next. */
static void compare(int slot)
{
	const uint8_t *got = (uint8_t *)(uintptr_t)in[slot].addr + GRH,
		      *want = (uint8_t *)(uintptr_t)out.addr;
	const bool differs = memcmp(got, want, out.length) != 0;

	for (uint32_t i = 0; differs && i < out.length; i++)
		NEED(got[i] == want[i], "byte %u: got 0x%02x, want 0x%02x", i, got[i], want[i]);
	memset((uint8_t *)(uintptr_t)in[slot].addr, 0xff, in[slot].length);
	CHECK(rdmaez_wr_post_recv(it.qp, &rx[slot], NULL, &diag));
}

int main(int argc, char **argv)
{
	struct timeval t0, t1;

	for (int letter; (letter = getopt_long(argc, argv, "d:g:i:m:n:p:s:ch", help, NULL)) != -1;)
		option[letter] = optarg ? optarg : "";
	if (option['h'] || option['?'] || argc - optind > 1) {
		fputs(usage, option['h'] ? stdout : stderr);
		return option['h'] ? EXIT_SUCCESS : 2;
	}
	host = argv[optind];
	opts.port = rdmaez_exactly(atoi(option['i']));
	opts.path.sgid_index = option['g'] ? rdmaez_exactly(atoi(option['g'])) : 0;
	make_qp((uint32_t)(option['s'] ? atoi(option['s']) : GRH ? 1024 : 4096));
	meet();
	gettimeofday(&t0, NULL);
	time_t told = t0.tv_sec + 1;
	/* The client begins. A message is compared while the next one is on its way. */
	const int rounds = atoi(option['n']);
	for (int i = host ? -1 : 0; i < rounds; i++) {
		const bool more = !host || i + 1 < rounds;

		if (i >= 0)
			CHECK(rdmaez_wc_wait(it.recv_cq, it.qp, &one, PATIENCE, &diag));
		if (more)
			CHECK(rdmaez_wr_post_send(it.qp, &message, NULL, &diag));
		if (i >= 0)
			compare(i % 2);
		if (more)
			CHECK(rdmaez_wc_wait(it.send_cq, it.qp, &one, PATIENCE, &diag));
		if (host && time(NULL) > told) { /* once a second */
			told = time(NULL);
			printf("%d of %d messages each way\n", i + 1, rounds);
		}
	}
	gettimeofday(&t1, NULL);
	const double us = 1e6 * (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_usec - t0.tv_usec);
	printf("%d x %u bytes each way in %.2f s = %.2f Mbit/s, %.2f us/round\n", rounds,
	       out.length, us / 1e6, 16.0 * rounds * out.length / us, us / rounds);
	return EXIT_SUCCESS;
}
