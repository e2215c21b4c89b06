/* SPDX-License-Identifier: MIT */
/*
 * The program behind rc_pingpong.c, uc_pingpong.c and ud_pingpong.c: messages go to and fro between
 * two processes, and every byte that arrives is compared. Options and protocol are those of rdma-core's
 * ibv_rc_pingpong, ibv_uc_pingpong and ibv_ud_pingpong, and either end may be the stock program.
 *
 *	rc_pingpong [OPTION...]         wait for a client
 *	rc_pingpong [OPTION...] HOST    connect to a server
 *
 *	-d NAME  the device; without, the first that has an active port
 *	-g ROW   the row of the port's GID table; without, the best one
 *	-i PORT  the port (1)                  -s BYTES  the size of a message (4096, UD 1024)
 *	-n N     messages each way (1000)      -m BYTES  the path MTU (1024)
 *	-p PORT  the TCP port (18515)          -c        mark every page, as the stock client does
 *
 * The ends tell each other their addresses over TCP, the client sends the first message, and each end
 * answers a message with its like. What is open at the end is left to the kernel to close.
 */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <err.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <rdmaez.h>

/* What UD puts in front of a message received: a global route header. */
#define GRH (QPT == IBV_QPT_UD ? 40 : 0)

/* How long a peer may take for anything, in seconds. */
#define PATIENCE 30

/* What was given to each option, by its letter. */
static const char *option[128] = {['i'] = "1", ['m'] = "1024", ['n'] = "1000", ['p'] = "18515"};
static const char *host;
static struct ibv_port_attr port;
static struct rdmaez_qp_opts opts = {.port_attr = &port};
static struct rdmaez_diag diag;
static struct rdmaez_simple it;
static struct ibv_sge out, in[2]; /* what is sent, and two places for what comes */
static struct ibv_send_wr message = {.sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND};

/* End the program unless something holds; TRY is for calls that set errno. */
#define NEED(holds, ...)  ((holds) ? (void)0 : errx(EXIT_FAILURE, __VA_ARGS__))
#define TRY(worked, what) ((worked) ? (void)0 : err(EXIT_FAILURE, "%s", what))

/* Ends the program with an explanation unless a call of rdmaez worked. */
static void check(int error)
{
	if (!error)
		return;
	rdmaez_diag_print(&diag, stderr);
	exit(EXIT_FAILURE);
}

static void post_receive(int slot)
{
	struct ibv_recv_wr room = {.sg_list = &in[slot], .num_sge = 1}, *bad;

	/* What came before must not pass for what comes next. */
	memset((uint8_t *)in[slot].addr, 0xff, in[slot].length);
	check(rdmaez_wr_post_recv(it.qp, &room, &bad, &diag));
}

/* Makes a queue pair that is ready for the first two messages of this size. */
static void make_qp(uint32_t size)
{
	struct rdmaez_simple_opts objects = {
		.qp_type = QPT, .sends = 1, .recvs = 2, .length = 3 * size + 2 * GRH};
	uint8_t *data = (uint8_t *)malloc(objects.length);

	TRY(objects.buffer = data, "malloc");
	check(rdmaez_simple_open(option['d'], &objects, &it, &diag));
	memset(data, 0x7b, size);
	for (size_t i = 0; option['c'] && i < size; i += (size_t)sysconf(_SC_PAGESIZE))
		data[i] = 0;
	out = (struct ibv_sge){(uintptr_t)data, size, it.mr->lkey};
	for (size_t i = 0; i < 2; i++)
		in[i] = (struct ibv_sge){(uintptr_t)data + size + i * (GRH + size), GRH + size,
					 it.mr->lkey};
}

/* A connection to the peer, on which nothing takes longer than PATIENCE; but a server waits for its client forever. */
static int meet(void)
{
	const struct addrinfo hints = {.ai_family = AF_INET, .ai_flags = AI_PASSIVE};
	const struct timeval patience = {.tv_sec = PATIENCE};
	struct addrinfo *a;
	int tcp = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	setsockopt(tcp, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	NEED(getaddrinfo(host, option['p'], &hints, &a) == 0, "no such host, or no such TCP port");
	if (host) {
		TRY(connect(tcp, a->ai_addr, a->ai_addrlen) == 0, host);
	} else {
		TRY(bind(tcp, a->ai_addr, a->ai_addrlen) == 0 && listen(tcp, 1) == 0, "bind");
		TRY((tcp = accept(tcp, NULL, NULL)) >= 0, "accept");
	}
	setsockopt(tcp, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return tcp;
}

/* Tells the peer who we are, learns who it is, and connects the queue pair to the peer's. */
static void exchange(const union ibv_gid *gid)
{
	char own[] = "0000:000000:000000:00000000000000000000000000000000", peer[sizeof(own)];
	unsigned int dlid;
	int tcp = meet(), length = sizeof(own), at;

	at = sprintf(own, "%04x:%06x:%06x:", port.lid, it.qp->qp_num, opts.sq_psn);
	for (int i = 0; i < 16; i++)
		sprintf(own + at + 2 * i, "%02x", gid->raw[i]);
	TRY(!host || send(tcp, own, sizeof(own), MSG_NOSIGNAL) == length, "sending the address");
	NEED(recv(tcp, peer, sizeof(peer), MSG_WAITALL) == length, "the peer tells no address");
	/* Whoever it is: a digit where we have a digit, else what we have, up to the final 0. */
	for (int i = 0; i < length; i++)
		NEED(isxdigit((uint8_t)own[i]) ? isxdigit((uint8_t)peer[i]) : peer[i] == own[i],
		     "the peer's address is garbled");
	sscanf(peer, "%4x:%6x:%6x:", &dlid, &opts.dest_qp_num, &opts.rq_psn);
	for (int i = 0; i < 16; i++)
		sscanf(peer + at + 2 * i, "%2hhx", &opts.path.dgid.raw[i]);
	opts.path.dlid = (int)dlid;
	printf("own address   %s\npeer address  %s\n", own, peer);

	check(rdmaez_qp_to_rtr(it.qp, &opts, &diag));
	check(rdmaez_qp_to_rts(it.qp, &opts, &diag));
	if (GRH) {
		check(rdmaez_ah_create(it.pd, &opts.path, opts.port, &message.wr.ud.ah, &diag));
		message.wr.ud.remote_qpn = opts.dest_qp_num;
		message.wr.ud.remote_qkey = RDMAEZ_QP_QKEY;
	}
	TRY(host || send(tcp, own, sizeof(own), MSG_NOSIGNAL) == length, "sending the address");
	TRY(!host || send(tcp, "done", sizeof("done"), MSG_NOSIGNAL) > 0, "sending \"done\"");
}

static void await(struct ibv_cq *cq)
{
	const time_t deadline = time(NULL) + PATIENCE;
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) < 1)
		NEED(time(NULL) < deadline, "nothing happened for %d seconds", PATIENCE);
	NEED(wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
}

/* What came must be like what we send: both ends send what the client sent first. */
static void compare(int slot)
{
	const uint8_t *got = (uint8_t *)in[slot].addr + GRH, *want = (uint8_t *)out.addr;
	uint32_t i = 0;

	if (memcmp(got, want, out.length) == 0)
		return;
	while (got[i] == want[i])
		i++;
	errx(EXIT_FAILURE, "byte %u: got 0x%02x, want 0x%02x", i, got[i], want[i]);
}

static void answer(void)
{
	struct ibv_send_wr *bad;

	check(rdmaez_wr_post_send(it.qp, &message, &bad, &diag));
}

/* The client begins, and the server answers. A message is compared while the answer is on its way. */
static void play(int rounds)
{
	struct timespec t0, t1;

	clock_gettime(CLOCK_MONOTONIC, &t0);
	if (host)
		answer();
	for (int i = 0; i < rounds; i++) {
		await(it.qp->recv_cq);
		if (host)
			await(it.qp->send_cq);
		if (!host || i + 1 < rounds)
			answer();
		compare(i % 2);
		post_receive(i % 2);
		if (!host)
			await(it.qp->send_cq);
	}
	clock_gettime(CLOCK_MONOTONIC, &t1);
	double us = (double)((t1.tv_sec - t0.tv_sec) * 1000000 + (t1.tv_nsec - t0.tv_nsec) / 1000);
	printf("%d x %u bytes each way in %.2f s = %.2f Mbit/s, %.2f us/round\n", rounds,
	       out.length, us / 1e6, 16.0 * rounds * out.length / us, us / rounds);
}

int main(int argc, char **argv)
{
	struct ibv_gid_entry gid;

	for (int letter; (letter = getopt(argc, argv, "d:g:i:m:n:p:s:c")) != -1;)
		option[letter] = optarg ? optarg : "";
	NEED(!option['?'], "options: -d DEVICE, -g -i -m -n -p -s with a number, and -c");
	host = argv[optind];
	opts.port = rdmaez_exactly(atoi(option['i']));
	NEED(rdmaez_mtu_from_bytes(atoi(option['m']), &opts.mtu) == 0, "-m takes 256 to 4096");
	make_qp((uint32_t)(option['s'] ? atoi(option['s']) : GRH ? 1024 : 4096));
	check(rdmaez_port_query(it.context, atoi(option['i']), &port, &diag));
	NEED(port.state == IBV_PORT_ACTIVE, "the port is not active");
	NEED(!GRH || out.length <= (uint32_t)rdmaez_mtu_bytes(port.active_mtu),
	     "a UD message fits one packet");
	check(rdmaez_port_choose_gid(it.context, opts.port, NULL, &gid, &diag));
	const int row = option['g'] ? atoi(option['g']) : (int)gid.gid_index;
	TRY(ibv_query_gid(it.context, (uint8_t)opts.port, row, &gid.gid) == 0, "-g");
	opts.path.sgid_index = rdmaez_exactly(row);
	opts.sq_psn = rdmaez_psn_random();
	check(rdmaez_qp_to_init(it.qp, &opts, &diag));
	post_receive(0);
	post_receive(1);
	exchange(&gid.gid);
	play(atoi(option['n']));
	return EXIT_SUCCESS;
}
