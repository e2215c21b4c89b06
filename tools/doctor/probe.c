/* SPDX-License-Identifier: MIT */
/* Messages between two queue pairs: one end sends, the other sends them back. */
#include "probe.h"
#include "talk.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum {
	GRH = 40, /* what a datagram has before it */
	LARGEST = 3 * 4096 + 64,
	RC_SLOTS = 2,
	UD_SLOTS = 8,
	UD_SLOT = 4096 + 64,
	/* All of it may be locked where a process may lock 64 KiB. */
	MEMORY = LARGEST + UD_SLOTS * UD_SLOT,
	TIMEOUT = 15, /* a code: 134 ms */
	RETRIES = 5,
	CONNECT_MS = 5000,
	MESSAGE_MS = 5000,
	DATAGRAMS_MS =
		300,    /* how long some datagrams may be on their way and back, on a short way */
	LATE_MS = 2000, /* the same on any way */
	ALL_MS = 8000,  /* how long all of them may take: the peer waits for no more */
	/* How many at a time: the peer has room for as many again, should its answers come late. */
	BURST = UD_SLOTS / 2
};

static uint8_t memory[MEMORY] __attribute__((aligned(4096)));

static uint8_t *slot_of(const struct probe_end *end, unsigned int slot)
{
	return memory + LARGEST + (size_t)slot * end->slot_bytes;
}

static uint32_t header_of(const struct probe_end *end)
{
	return end->type == IBV_QPT_UD ? GRH : 0;
}

static int post_receive(struct probe_end *end, unsigned int slot)
{
	struct ibv_sge sge = {(uintptr_t)slot_of(end, slot), end->slot_bytes, end->it.mr->lkey};
	struct ibv_recv_wr wr;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = slot;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	return rdmaez_wr_post_recv(end->it.qp, &wr, NULL, &end->diag);
}

int probe_open(struct probe_end *end, const struct probe *probe)
{
	struct rdmaez_simple_opts opts;
	int error;

	memset(end, 0, sizeof(*end));
	memset(&opts, 0, sizeof(opts));
	end->type = probe->type;
	end->slots = probe->type == IBV_QPT_UD ? UD_SLOTS : RC_SLOTS;
	end->slot_bytes = probe->type == IBV_QPT_UD ? UD_SLOT : LARGEST;
	end->opts.port = rdmaez_exactly((int)probe->port.port);
	end->opts.timeout = probe->timeout ? (int)probe->timeout : TIMEOUT;
	end->opts.retry_cnt = RETRIES;
	end->opts.path.dgid = probe->peer;
	if (probe->gid_index >= 0)
		end->opts.path.sgid_index = rdmaez_exactly(probe->gid_index);
	if (probe->mtu)
		rdmaez_mtu_from_bytes(probe->mtu, &end->opts.mtu);
	opts.qp_type = probe->type;
	opts.sends = opts.recvs = end->slots;
	opts.buffer = memory;
	opts.length = MEMORY;
	error = rdmaez_simple_open(probe->port.device, &opts, &end->it, &end->diag);
	if (!error)
		error = rdmaez_endpoint_local(end->it.qp, &end->opts, &end->local, &end->diag);
	if (!error)
		error = rdmaez_qp_to_init(end->it.qp, &end->opts, &end->diag);
	for (unsigned int i = 0; i < end->slots && !error; i++)
		error = post_receive(end, i);
	return error;
}

int probe_connect(struct probe_end *end, int tcp)
{
	struct rdmaez_exchange_opts opts;
	int error;

	memset(&opts, 0, sizeof(opts));
	opts.timeout_ns = CONNECT_MS * UINT64_C(1000000);
	opts.qp = &end->opts;
	error = rdmaez_exchange_connect(tcp, end->it.qp, &end->local, &end->remote, &opts,
					&end->diag);
	if (!error)
		error = rdmaez_endpoint_negotiate(&end->local, &end->remote, &end->opts,
						  &end->agreed, &end->diag);
	if (!error && end->type == IBV_QPT_UD)
		error = rdmaez_qp_connect_ud(end->it.qp, &end->local, &end->remote, &end->opts,
					     &end->ah, &end->diag);
	return error;
}

void probe_close(struct probe_end *end)
{
	struct rdmaez_diag diag;

	if (end->ah)
		ibv_destroy_ah(end->ah);
	rdmaez_simple_close(&end->it, &diag);
}

/* --- Messages --------------------------------------------------------------------------------------- */

/* Sends what is at this place, and waits until that is done. */
static int send_from(struct probe_end *end, const uint8_t *from, uint32_t bytes)
{
	struct ibv_sge sge = {(uintptr_t)from, bytes, end->it.mr->lkey};
	struct rdmaez_wc_batch batch;
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	int error = 0;

	memset(&wr, 0, sizeof(wr));
	memset(&batch, 0, sizeof(batch));
	batch.wc = &wc;
	batch.capacity = 1;
	if (end->type == IBV_QPT_UD)
		error = rdmaez_wr_send_to(&wr, &sge, end->ah, end->remote.qp_num, end->remote.qkey,
					  &end->diag);
	else
		rdmaez_wr_send(&wr, &sge);
	if (!error)
		error = rdmaez_wr_post_send(end->it.qp, &wr, NULL, &end->diag);
	if (!error)
		error = rdmaez_wc_wait(end->it.send_cq, end->it.qp, &batch,
				       MESSAGE_MS * UINT64_C(1000000), &end->diag);
	end->sent += !error;
	return error;
}

/* Waits for a message; its bytes begin at slot_of(wc->wr_id) + header_of(). */
static int receive(struct probe_end *end, struct ibv_wc *wc, unsigned int ms,
		   struct rdmaez_diag *diag)
{
	struct rdmaez_wc_batch batch;
	int error;

	memset(&batch, 0, sizeof(batch));
	batch.wc = wc;
	batch.capacity = 1;
	error = rdmaez_wc_wait(end->it.recv_cq, end->it.qp, &batch, ms * UINT64_C(1000000), diag);
	end->got += !error;
	return error;
}

int probe_ping(struct probe_end *end, uint32_t bytes)
{
	const uint8_t *came;
	struct ibv_wc wc;
	int error;

	for (uint32_t i = 0; i < bytes; i++)
		memory[i] = (uint8_t)(i * 31 + i / 251 + end->sent);
	error = send_from(end, memory, bytes);
	if (!error)
		error = receive(end, &wc, MESSAGE_MS, &end->diag);
	if (error)
		return error;
	came = slot_of(end, (unsigned int)wc.wr_id) + header_of(end);
	if (wc.byte_len != bytes + header_of(end) || memcmp(came, memory, bytes) != 0)
		return EBADMSG;
	return post_receive(end, (unsigned int)wc.wr_id);
}

/* Which datagrams came back, and in which order. */
struct arrivals {
	bool came[256];
	uint32_t greatest; /* number so far */
	struct probe_fate fate;
};

/* Takes in that this one came; whether it is new. */
static bool arrive(struct arrivals *arrivals, uint32_t number)
{
	if (arrivals->came[number]) {
		arrivals->fate.twice++;
		return false;
	}
	arrivals->came[number] = true;
	arrivals->fate.lost--;
	if (number < arrivals->greatest)
		arrivals->fate.overtaken++;
	else
		arrivals->greatest = number;
	return true;
}

/* Sends some datagrams, and notes which came back, by the number that each begins with. */
static int send_some(struct probe_end *end, uint32_t bytes, uint32_t first, uint32_t count,
		     unsigned int patience_ms, struct arrivals *arrivals)
{
	struct rdmaez_diag late;
	struct ibv_wc wc;
	uint32_t back = 0, number;
	int error = 0;

	for (uint32_t i = 0; i < count && !error; i++) {
		number = first + i;
		memcpy(memory, &number, sizeof(number));
		error = send_from(end, memory, bytes);
	}
	while (!error && back < count) {
		error = receive(end, &wc, patience_ms, &late);
		if (error == ETIMEDOUT)
			return 0;
		if (error) {
			end->diag = late;
			return error;
		}
		memcpy(&number, slot_of(end, (unsigned int)wc.wr_id) + GRH, sizeof(number));
		if (wc.byte_len == bytes + GRH && number < first + count &&
		    arrive(arrivals, number))
			back += number >= first;
		error = post_receive(end, (unsigned int)wc.wr_id);
	}
	return error;
}

/* A way, or a machine, that is slower than the round trips were, is no loss: twice as much, and some more. */
static unsigned int patience_of(uint64_t round_trip_ns)
{
	const uint64_t ms = DATAGRAMS_MS + 2 * (round_trip_ns / 1000000);

	return ms < LATE_MS ? (unsigned int)ms : LATE_MS;
}

int probe_datagrams(struct probe_end *end, uint32_t bytes, unsigned int count,
		    uint64_t round_trip_ns, struct probe_fate *fate)
{
	const unsigned int patience_ms = patience_of(round_trip_ns);
	const uint64_t until = peer_in_ms(ALL_MS);
	struct arrivals arrivals;
	int error = 0;

	memset(&arrivals, 0, sizeof(arrivals));
	memset(memory, 0x5a, bytes);
	while (arrivals.fate.sent < count && !error && peer_ms_left(until)) {
		const uint32_t at = arrivals.fate.sent;
		const uint32_t some = count - at < BURST ? count - at : BURST;

		/* Where none of the first have come back, none will. */
		if (at == 2 * BURST && !end->got)
			break;
		arrivals.fate.sent += some;
		arrivals.fate.lost += some;
		error = send_some(end, bytes, at, some, patience_ms, &arrivals);
	}
	*fate = arrivals.fate;
	return error;
}

uint64_t probe_ack_ns(const struct probe *probe)
{
	return rdmaez_timeout_ns(probe->timeout ? probe->timeout : (unsigned int)TIMEOUT);
}

/* Whether something came by TCP, or its end. */
static bool is_called(int tcp)
{
	struct pollfd ready = {.fd = tcp, .events = POLLIN, .revents = 0};

	return poll(&ready, 1, 0) != 0;
}

int probe_echo(struct probe_end *end, int tcp, uint64_t until)
{
	struct rdmaez_diag diag;
	struct ibv_wc wc;
	int error = 0;

	while (!is_called(tcp) && peer_ms_left(until)) {
		if (error) { /* nothing more will come */
			poll(NULL, 0, 2);
			continue;
		}
		error = receive(end, &wc, 2, &diag);
		if (error == ETIMEDOUT) {
			error = 0;
			continue;
		}
		if (error)
			end->diag = diag;
		else if (wc.byte_len > header_of(end))
			error = send_from(end,
					  slot_of(end, (unsigned int)wc.wr_id) + header_of(end),
					  wc.byte_len - header_of(end));
		if (!error)
			error = post_receive(end, (unsigned int)wc.wr_id);
	}
	return error;
}
