/* SPDX-License-Identifier: MIT */
/*
 * A log that survives its replica: what is in a file is appended to one of another host, by RDMA WRITE with immediate.
 * The replica may be killed at any time. Started again, it tells how much it has, and the log goes on from there.
 *
 * Build:  cc -std=c11 -Iinclude examples/replicate.c -libverbs -o replicate
 * Run:    ./replicate COPY on one host, ./replicate LOG HOST on the other; or on a machine without RDMA:
 *         tools/softroce sh -c './replicate /tmp/copy & ./replicate replicate localhost; cmp replicate /tmp/copy'
 */
#define _DEFAULT_SOURCE
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>

#define NEED(call) rdmaez_diag_need(call, &diag)
#define SLOTS      64
#define ENTRY      512

static const char usage[] =
	"usage: replicate COPY        append to COPY what the log's host sends\n"
	"       replicate LOG HOST    send LOG to HOST\n";
static struct {
	uint8_t slot[SLOTS][ENTRY];
	volatile uint64_t count; /* entries that the replica has in its file; it writes this */
} ring;
static struct rdmaez_simple_opts objects = {.sends = SLOTS, .recvs = SLOTS, .inline_data = 8};
static struct rdmaez_qp_opts opts = {.access = IBV_ACCESS_REMOTE_WRITE};
static struct ibv_recv_wr empty; /* an immediate needs no memory */
static struct rdmaez_endpoint local, remote;
static struct rdmaez_credit credit;
static struct rdmaez_simple it;
static struct rdmaez_diag diag;
static struct pollfd tcp = {.events = POLLIN}; /* silent until the peer ends */

/* Posts a WRITE when there is room; an errno value: the peer is lost. */
static int post(struct ibv_send_wr *wr)
{
	struct ibv_wc wc = {0};
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1, .answered = credit.given > 0};
	int error = 0;

	while (!error && rdmaez_credit_take(&credit, wr)) {
		error = rdmaez_wc_wait(it.send_cq, it.qp, &batch, 0, &diag);
		rdmaez_credit_give(&credit, wc.wr_id);
	}
	return error ? error : rdmaez_wr_post_send(it.qp, wr, NULL, &diag);
}

static int meet(const char *host)
{
	const struct rdmaez_exchange_opts how = {.qp = &opts, .mr = it.mr};

	NEED(rdmaez_exchange_open(host, "18520", RDMAEZ_NS_FOREVER, &tcp.fd, &diag));
	NEED(rdmaez_credit_init(&credit, SLOTS, SLOTS / 4, &diag));
	return rdmaez_exchange_connect(tcp.fd, it.qp, &local, &remote, &how, &diag);
}

static void replica(int file)
{
	const off_t size = lseek(file, 0, SEEK_END);
	uint64_t count = (uint64_t)size / ENTRY;
	struct ibv_wc wc[SLOTS];
	struct rdmaez_wc_batch batch = {.wc = wc, .capacity = SLOTS};
	struct ibv_sge sge = {(uintptr_t)&count, sizeof(count), 0};
	uint32_t length;

	if (ftruncate(file, size - size % ENTRY)) /* what was cut off comes again */
		err(1, "ftruncate");
	NEED(rdmaez_qp_to_init(it.qp, &opts, &diag));
	for (int i = 0; i < SLOTS; i++)
		NEED(rdmaez_wr_post_recv(it.qp, &empty, NULL, &diag));
	memcpy(local.user, &count, local.user_length = sizeof(count));
	NEED(meet(NULL));
	do {
		struct ibv_send_wr wr = {0};

		NEED(rdmaez_wc_poll(it.recv_cq, it.qp, &batch, &diag));
		for (int i = 0; i < batch.count; i++) {
			NEED(rdmaez_wc_imm(&wc[i], &length));
			if (write(file, ring.slot[count++ % SLOTS], length) != (ssize_t)length)
				err(1, "write");
			NEED(rdmaez_wr_post_recv(it.qp, &empty, NULL, &diag));
		}
		if (!batch.count)
			continue;
		fdatasync(file);
		NEED(rdmaez_wr_write(&wr, &sge, &remote.memory, sizeof(ring.slot), &diag));
		NEED(rdmaez_wr_inline(&wr, sizeof(count), &diag));
		NEED(post(&wr));
	} while (batch.count || !poll(&tcp, 1, 1));
}

/* Sends from the entry on that the replica lacks, until it has all; an errno value: it is lost. */
static int send_entries(int file)
{
	uint64_t next;
	ssize_t length;

	memcpy(&next, remote.user, sizeof(next));
	if (next < ring.count)
		errx(1, "the replica had %llu entries before", (unsigned long long)ring.count);
	ring.count = next;
	for (;;) {
		const size_t slot = next % SLOTS; /* used again once the entry is there */
		struct ibv_send_wr wr = {0};
		struct ibv_sge sge;

		if (next < ring.count + SLOTS &&
		    (length = pread(file, ring.slot[slot], ENTRY, (off_t)next * ENTRY)) > 0) {
			NEED(rdmaez_mr_sge(it.mr, ring.slot[slot], (size_t)length, &sge, &diag));
			NEED(rdmaez_wr_write(&wr, &sge, &remote.memory, slot * ENTRY, &diag));
			NEED(rdmaez_wr_imm(&wr, (uint32_t)length, &diag));
			if (post(&wr))
				return EIO;
			next++;
		} else if (next == ring.count)
			return 0;
		else if (poll(&tcp, 1, 1))
			return ECONNRESET;
	}
}

static void log_to(const char *host, int file)
{
	struct rdmaez_recover_opts recover = {.qp = &opts};
	struct ibv_qp_init_attr init;
	int error;

	rdmaez_simple_init_attr(&it, &objects, &init);
	recover.init_attr = &init;
	recover.drain.flags = RDMAEZ_DRAIN_ANYWAY | RDMAEZ_DRAIN_DISCARD;
	while ((error = meet(host)) || (error = send_entries(file))) {
		fprintf(stderr, "the replica is lost: %s\n", strerror(error));
		close(tcp.fd);
		NEED(rdmaez_qp_recover(&it.qp, &recover, &local, NULL, &diag));
	}
}

int main(int argc, char **argv)
{
	const bool help = argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"));

	if (argc < 2 || argc > 3 || argv[1][0] == '-') {
		fputs(usage, help ? stdout : stderr);
		return help ? 0 : 2;
	}
	const int file = open(argv[1], argc > 2 ? O_RDONLY : O_RDWR | O_CREAT | O_APPEND, 0666);
	if (file < 0)
		err(1, "%s", argv[1]);
	objects.flags = RDMAEZ_SIMPLE_UNSIGNALED;
	objects.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	objects.buffer = &ring;
	objects.length = sizeof(ring);
	NEED(rdmaez_simple_open(NULL, &objects, &it, &diag));
	NEED(rdmaez_endpoint_local(it.qp, &opts, &local, &diag));
	if (argc > 2)
		log_to(argv[2], file);
	else
		replica(file);
	NEED(rdmaez_simple_close(&it, &diag));
	return 0;
}
