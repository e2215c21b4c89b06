/* SPDX-License-Identifier: MIT */
/*
 * Two processes, each the end of a connection over a device of its own, which move checked messages. A message tells
 * its number, and all its bytes follow from that; so the receiver sees what is lost, repeated, reordered or changed.
 *
 * Every third message is a SEND, the next an RDMA WRITE with immediate data, the next an RDMA READ, which the peer does
 * not notice. Both ends send at once, and each tells the other how far it has received, so that after a failure what
 * has not arrived is sent again, and nothing else.
 */
#ifndef ENDS_H
#define ENDS_H

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

enum {
	ENDS_DEPTH = 16,              /* messages on their way */
	ENDS_RECVS = 4 * ENDS_DEPTH,  /* so that there is one for whatever comes */
	ENDS_WRITES = 2 * ENDS_RECVS, /* how far the peer may be ahead, READs included, and more */
	ENDS_SLOT = 3072
};

/* Where a kind of memory begins, in slots. */
enum ends_area {
	ENDS_OUT = 0,                          /* what is sent or written */
	ENDS_IN = ENDS_OUT + ENDS_DEPTH,       /* where the peer's sends arrive */
	ENDS_SOURCE = ENDS_IN + ENDS_RECVS,    /* what the peer reads */
	ENDS_READ = ENDS_SOURCE + ENDS_DEPTH,  /* what was read of the peer's */
	ENDS_WRITTEN = ENDS_READ + ENDS_DEPTH, /* where the peer writes: it may be one message */
	ENDS_SLOTS = ENDS_WRITTEN + ENDS_WRITES
};

/* What an end tells the other as the bytes of its own in its endpoint. */
struct ends_told {
	uint64_t got;    /* all messages below this number have arrived */
	uint64_t target; /* it sends those below this one */
};

struct end {
	int number; /* 0: on rxe0; 1: on rxe1 */
	struct rdmaez_simple it;
	struct ibv_qp_init_attr init; /* what its queue pair is created from */
	struct rdmaez_qp_opts opts;
	struct rdmaez_endpoint local, remote;
	struct ends_told own, peer;
	uint64_t posted, acked; /* the next message to post, and to complete */
	int in_flight;
	int watched;  /* a socket: once the peer says something there, this end stops; 0: none */
	bool closing; /* what completes is not posted again */
	bool stays;   /* it is recovered by RESET */
	int wrong;    /* how many things were not as they should be */
	struct rdmaez_wc_errors errors; /* of the queue pair since it was connected */
	struct rdmaez_diag diag;        /* what the last call has told */
	uint8_t *memory;
};

/* ---- Time ------------------------------------------------------------------------------------ */

static inline uint64_t ends_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Milliseconds since then. */
static inline unsigned int ends_ms(uint64_t since)
{
	return (unsigned int)((ends_now() - since) / 1000000u);
}

#define ENDS_LONG ((uint64_t)RIG_SECONDS * 1000000000u)

/* ---- Messages -------------------------------------------------------------------------------- */

/* How many kinds there are; 2: no READs. */
static unsigned int ends_kinds = 3;

static inline enum ibv_wr_opcode ends_kind(uint64_t number)
{
	static const enum ibv_wr_opcode kind[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM,
						  IBV_WR_RDMA_READ};

	return kind[number % ends_kinds];
}

/* 24 to 3,023 bytes: one packet to three. */
static inline uint32_t ends_length(uint64_t number)
{
	return 24 + (uint32_t)(number * 2654435761u >> 7) % 3000;
}

/* The bytes of a message: its number, the incarnation of who sends it, then what follows from these. */
static inline void ends_fill(uint8_t *to, int from, uint64_t number, uint32_t nonce)
{
	const uint64_t head[2] = {number, (uint64_t)nonce << 8 | (uint64_t)from};
	const uint32_t length = ends_length(number);
	uint32_t state = (uint32_t)(number + 1) * 2246822519u ^ (uint32_t)from;

	memcpy(to, head, sizeof(head));
	for (uint32_t i = sizeof(head); i < length; i++) {
		state = state * 1664525u + 1013904223u;
		to[i] = (uint8_t)(state >> 24);
	}
}

static inline uint8_t *ends_slot(const struct end *end, uint64_t slot)
{
	return end->memory + slot * ENDS_SLOT;
}

/* Something is not as it should be: told, and counted. */
static inline TAP_PRINTF(2) void ends_wrong(struct end *end, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (++end->wrong <= 10)
		tap_diag("end %d: %s", end->number, text);
}

/* Looks at every byte of a message that has arrived. */
static inline void ends_check(struct end *end, const uint8_t *at, uint64_t number, uint32_t nonce)
{
	const uint32_t length = ends_length(number);
	uint8_t want[ENDS_SLOT];
	uint64_t head[2];

	ends_fill(want, !end->number, number, nonce);
	if (memcmp(at, want, length) == 0)
		return;
	memcpy(head, at, sizeof(head));
	for (uint32_t i = 0; i < length; i++) {
		if (at[i] == want[i])
			continue;
		ends_wrong(end,
			   "message %llu: byte %u of %u is 0x%02x, not 0x%02x; it begins as "
			   "number %llu of incarnation %llx, not %llx",
			   (unsigned long long)number, i, length, at[i], want[i],
			   (unsigned long long)head[0], (unsigned long long)head[1] >> 8,
			   (unsigned long long)nonce);
		break;
	}
}

/* The next message from this one on that the peer has not got, and for a READ, that is not done. */
static inline uint64_t ends_next(const struct end *end, uint64_t number)
{
	while (number < end->peer.got && ends_kind(number) != IBV_WR_RDMA_READ)
		number++;
	return number;
}

/* The next message from this one on that the receiver notices. */
static inline uint64_t ends_expected(uint64_t number)
{
	return ends_kind(number) == IBV_WR_RDMA_READ ? number + 1 : number;
}

static inline bool ends_receive(struct end *end, uint64_t slot)
{
	struct ibv_recv_wr wr = {.wr_id = 1000 + slot, .num_sge = 1};
	struct ibv_sge sge;

	wr.sg_list = &sge;
	return rdmaez_mr_sge(end->it.mr, ends_slot(end, ENDS_IN + slot), ENDS_SLOT, &sge,
			     &end->diag) == 0 &&
	       rdmaez_wr_post_recv(end->it.qp, &wr, NULL, &end->diag) == 0;
}

/* Posts the next message. */
static inline bool ends_send(struct end *end)
{
	const uint64_t number = ends_next(end, end->posted);
	const enum ibv_wr_opcode kind = ends_kind(number);
	const struct rdmaez_remote *remote = &end->remote.memory;
	uint8_t *at = ends_slot(end, (kind == IBV_WR_RDMA_READ ? ENDS_READ : ENDS_OUT) +
					     number % ENDS_DEPTH);
	const uint64_t there = kind == IBV_WR_RDMA_READ ? ENDS_SOURCE + number % ENDS_DEPTH
							: ENDS_WRITTEN + number % ENDS_WRITES;
	struct ibv_send_wr wr = {.wr_id = number};
	struct ibv_sge sge;
	int error;

	if (kind == IBV_WR_RDMA_READ)
		memset(at, 0xee, ENDS_SLOT);
	else
		ends_fill(at, end->number, number, end->local.nonce);
	error = rdmaez_mr_sge(end->it.mr, at, ends_length(number), &sge, &end->diag);
	if (kind == IBV_WR_RDMA_READ) {
		sge.length = ends_length(number % ENDS_DEPTH);
		error = error ? error
			      : rdmaez_wr_read(&wr, &sge, remote, there * ENDS_SLOT, &end->diag);
	} else if (kind == IBV_WR_SEND) {
		rdmaez_wr_send(&wr, &sge);
	} else {
		error = error ? error
			      : rdmaez_wr_write(&wr, &sge, remote, there * ENDS_SLOT, &end->diag);
		error = error ? error : rdmaez_wr_imm(&wr, (uint32_t)number, &end->diag);
	}
	if (error || rdmaez_wr_post_send(end->it.qp, &wr, NULL, &end->diag))
		return false;
	end->posted = number + 1;
	end->in_flight++;
	return true;
}

/* A message has arrived. */
static inline void ends_arrived(struct end *end, const struct ibv_wc *wc)
{
	const uint64_t number = ends_expected(end->own.got);
	const bool write = ends_kind(number) == IBV_WR_RDMA_WRITE_WITH_IMM;
	const uint64_t slot = wc->wr_id - 1000;

	if (wc->opcode != (write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV) ||
	    wc->byte_len != ends_length(number) || (write && ntohl(wc->imm_data) != number))
		ends_wrong(end, "instead of message %llu of %u bytes: opcode %d, %u bytes, imm %u",
			   (unsigned long long)number, ends_length(number), (int)wc->opcode,
			   wc->byte_len, write ? ntohl(wc->imm_data) : 0);
	else
		ends_check(end,
			   ends_slot(end,
				     write ? ENDS_WRITTEN + number % ENDS_WRITES : ENDS_IN + slot),
			   number, end->remote.nonce);
	end->own.got = number + 1;
	if (!end->closing && !ends_receive(end, slot))
		end->closing = true; /* in ERR a driver may refuse it */
}

/* Takes a completion; also those that draining finds. */
static inline void ends_complete(void *arg, const struct ibv_wc *wc)
{
	struct end *end = (struct end *)arg;

	if (wc->status != IBV_WC_SUCCESS) {
		rdmaez_wc_errors_add(&end->errors, wc, 1);
		return;
	}
	if (wc->opcode & IBV_WC_RECV) {
		ends_arrived(end, wc);
		return;
	}
	if (wc->wr_id != ends_next(end, end->acked))
		ends_wrong(end, "message %llu completes instead of %llu",
			   (unsigned long long)wc->wr_id,
			   (unsigned long long)ends_next(end, end->acked));
	if (ends_kind(wc->wr_id) == IBV_WR_RDMA_READ)
		ends_check(end, ends_slot(end, ENDS_READ + wc->wr_id % ENDS_DEPTH),
			   wc->wr_id % ENDS_DEPTH, 0);
	end->acked = wc->wr_id + 1;
	end->in_flight--;
}

/* ---- An end ---------------------------------------------------------------------------------- */

static inline void ends_open(struct end *end, int number)
{
	struct rdmaez_simple_opts opts = {0};

	memset(end, 0, sizeof(*end));
	end->number = number;
	end->memory = (uint8_t *)aligned_alloc(4096, (ENDS_SLOTS * ENDS_SLOT + 4095) / 4096 * 4096);
	rig_need(end->memory, "aligned_alloc");
	for (uint64_t i = 0; i < ENDS_DEPTH; i++)
		ends_fill(ends_slot(end, ENDS_SOURCE + i), number, i, 0);
	opts.sends = ENDS_DEPTH;
	opts.recvs = ENDS_RECVS;
	opts.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	opts.buffer = end->memory;
	opts.length = ENDS_SLOTS * ENDS_SLOT;
	if (rdmaez_simple_open(number && access("/sys/class/infiniband/rxe1", F_OK) == 0 ? "rxe1"
											 : "rxe0",
			       &opts, &end->it, &end->diag)) {
		show_record(&end->diag);
		tap_bail("end %d: cannot open its device", number);
	}
	end->init.qp_type = IBV_QPT_RC;
	end->init.sq_sig_all = 1;
	end->init.cap.max_send_wr = ENDS_DEPTH + 1;
	end->init.cap.max_recv_wr = ENDS_RECVS + 1;
	end->init.cap.max_send_sge = end->init.cap.max_recv_sge = 1;
	end->opts.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	end->opts.timeout = 16; /* 268 ms, and three times more: a slow machine needs a while */
	end->opts.retry_cnt = 3;
	end->opts.min_rnr_timer = 10;
	end->opts.retry_ns = ENDS_LONG / 4;
}

static inline void ends_close(struct end *end)
{
	if (rdmaez_simple_close(&end->it, &end->diag)) {
		show_record(&end->diag);
		tap_bail("end %d: cannot close its device", end->number);
	}
	free(end->memory);
}

/* What else the peer is to know. */
static inline void ends_tell(struct end *end)
{
	rdmaez_mr_remote(end->it.mr, &end->local.memory, &end->diag);
	end->local.user_length = sizeof(end->own);
	memcpy(end->local.user, &end->own, sizeof(end->own));
}

/* Makes an endpoint for the queue pair, which was never connected. */
static inline int ends_local(struct end *end)
{
	const int error = rdmaez_endpoint_local(end->it.qp, &end->opts, &end->local, &end->diag);

	if (!error)
		ends_tell(end);
	return error;
}

/* Takes back a queue pair that was connected, with all that it still had, and makes an endpoint for it. */
static inline int ends_recover(struct end *end)
{
	struct rdmaez_recover_opts opts = {0};
	int error;

	opts.qp = &end->opts;
	opts.init_attr = end->stays ? NULL : &end->init;
	opts.drain.completed = ends_complete;
	opts.drain.arg = end;
	opts.drain.timeout_ns = ENDS_LONG;
	end->closing = true;
	error = rdmaez_qp_recover(&end->it.qp, &opts, &end->local, NULL, &end->diag);
	if (!error)
		ends_tell(end);
	return error;
}

/* After exchanging endpoints: what both have to do. */
static inline void ends_begin(struct end *end)
{
	memset(&end->peer, 0, sizeof(end->peer));
	if (end->remote.user_length == sizeof(end->peer))
		memcpy(&end->peer, end->remote.user, sizeof(end->peer));
	end->posted = end->acked;
	end->in_flight = 0;
	end->closing = false;
	memset(&end->errors, 0, sizeof(end->errors));
	end->errors.qp_num = end->it.qp->qp_num;
}

/* To INIT, where receives are posted. */
static inline int ends_init(struct end *end)
{
	int error = 0;

	if (end->it.qp->state != IBV_QPS_RESET)
		return 0;
	error = rdmaez_qp_to_init(end->it.qp, &end->opts, &end->diag);
	for (uint64_t i = 0; i < ENDS_RECVS && !error; i++)
		if (!ends_receive(end, i))
			error = EIO;
	return error;
}

/* Connects; `timeout_ns` for all of it. */
static inline int ends_connect(struct end *end, int socket, uint64_t timeout_ns)
{
	struct rdmaez_exchange_opts opts = {0};
	int error = ends_init(end);

	opts.qp = &end->opts;
	opts.timeout_ns = timeout_ns;
	if (!error)
		error = rdmaez_exchange_connect(socket, end->it.qp, &end->local, &end->remote,
						&opts, &end->diag);
	if (!error)
		ends_begin(end);
	return error;
}

/* All is sent and received. */
static inline bool ends_done(const struct end *end)
{
	return ends_next(end, end->acked) >= end->own.target &&
	       ends_expected(end->own.got) >= end->peer.target;
}

static inline bool ends_failed(const struct end *end)
{
	return end->errors.first.status != IBV_WC_SUCCESS;
}

/* The peer says something, so it has left. */
static inline bool ends_called(const struct end *end)
{
	struct pollfd ready = {.fd = end->watched, .events = POLLIN};

	return end->watched && poll(&ready, 1, 0) > 0;
}

/* Polls both queues once; how many completions there were. */
static inline int ends_poll(struct end *end)
{
	struct ibv_wc wc[16];
	int count = ibv_poll_cq(end->it.send_cq, 8, wc);

	if (count >= 0)
		count += ibv_poll_cq(end->it.recv_cq, 8, wc + count);
	for (int i = 0; i < count; i++)
		ends_complete(end, &wc[i]);
	return count;
}

/*
 * Moves messages until all is done, until something fails, or until so many have arrived. Whether none of it took too
 * long.
 */
static inline bool ends_flow(struct end *end, uint64_t enough)
{
	const struct timespec moment = {.tv_nsec = 20 * 1000};
	const uint64_t since = ends_now();

	while (!ends_done(end) && !ends_failed(end) && end->own.got < enough && !ends_called(end)) {
		while (ends_next(end, end->posted) < end->own.target &&
		       end->in_flight < ENDS_DEPTH && ends_send(end))
			continue;
		if (!ends_poll(end))
			nanosleep(&moment, NULL);
		if (ends_now() - since > ENDS_LONG)
			return false;
	}
	/* What was flushed may be seen before its cause, which is in the other queue. */
	while (ends_failed(end) && ends_poll(end))
		continue;
	return true;
}

/* Begins with the first message again, for another peer; `target`: how many there are. */
static inline void ends_restart(struct end *end, uint64_t target)
{
	memset(&end->own, 0, sizeof(end->own));
	end->own.target = target;
	end->acked = 0;
	ends_tell(end);
}

/* ---- The other process ----------------------------------------------------------------------- */

struct peer {
	pid_t pid;
	int socket;
};

/* What a peer does; it returns how many things were wrong. */
typedef int peer_script(int socket, int arg);

/* Starts a process. Before this one has anything of a device, which two cannot have. */
static inline struct peer peer_start(peer_script *script, int arg)
{
	struct peer peer = {0};
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		tap_bail("socketpair: %s", strerror(errno));
	fflush(stdout);
	peer.pid = fork();
	if (peer.pid < 0)
		tap_bail("fork: %s", strerror(errno));
	if (peer.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(sockets[0]);
		_exit(script(sockets[1], arg) ? 1 : 0);
	}
	close(sockets[1]);
	peer.socket = sockets[0];
	return peer;
}

/* How it has ended: its exit status, or 128 more than the signal that has killed it. */
static inline int peer_wait(struct peer *peer)
{
	int status = 0;

	if (waitpid(peer->pid, &status, 0) != peer->pid)
		tap_bail("waitpid: %s", strerror(errno));
	close(peer->socket);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A command, which works. */
static inline TAP_PRINTF(1) void ends_run(const char *fmt, ...)
{
	char command[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	if (system(command))
		tap_bail("failed: %s", command);
}

#endif
