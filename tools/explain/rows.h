/* SPDX-License-Identifier: MIT */
/*
 * With --waiting or --json: what each process keeps of its queue pairs, completion queues and calls that may wait, in a
 * third file in memory that the launcher reads. What share.h says of the other one holds here: nobody trusts what stands in it. Which
 * row is whose, a process knows from its private memory (watch.c).
 *
 * Counters are added to without a lock and without an order. So two of them that are read one after the other need not
 * fit, and whoever judges looks at what has not changed for a while.
 */
#ifndef RDMAEZ_EXPLAIN_ROWS_H
#define RDMAEZ_EXPLAIN_ROWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Tests have few rows, as many as they say, to look at them often. */
#ifdef EXPLAIN_FEW
#define EXPLAIN_ROWS(many) (EXPLAIN_FEW)
#else
#define EXPLAIN_ROWS(many) (many)
#endif

enum {
	EXPLAIN_QP_ROWS = EXPLAIN_ROWS(2048),
	EXPLAIN_CQ_ROWS = EXPLAIN_ROWS(1024),
	EXPLAIN_CALL_ROWS = EXPLAIN_ROWS(128),
	EXPLAIN_MR_ROWS = EXPLAIN_ROWS(4096),
	EXPLAIN_SRQ_ROWS = EXPLAIN_ROWS(256),
	EXPLAIN_AH_ROWS = EXPLAIN_ROWS(2048),
	EXPLAIN_REQUESTS = 8, /* the last ones of a queue pair */
	EXPLAIN_DEVICE = 64
};

typedef _Atomic uint64_t explain_counter;

/* What every row begins with. */
struct explain_row {
	_Atomic int pid;          /* 0: free */
	_Atomic uint32_t version; /* odd: its process is about to change what does not count */
	_Atomic uint32_t gone;    /* destroyed; kept until the row is needed */
	uint32_t unused;
};

/* A request of a send queue as it was posted. */
struct explain_request {
	explain_counter number;   /* among those of the queue pair, from 1 on; 0: being written */
	explain_counter signaled; /* how many signaled ones there were before */
	explain_counter wr_id, addr, length, remote_addr;
	explain_counter ah; /* UD: its address, which names its row */
	_Atomic uint32_t opcode, flags, lkey, rkey, qp_num, qkey; /* the last two: UD */
};

/* Which queue a completion is of, where its completion queue tells. */
enum explain_queue {
	EXPLAIN_EITHER_QUEUE,
	EXPLAIN_SEND_QUEUE,
	EXPLAIN_RECV_QUEUE
};

struct explain_qp_row {
	struct explain_row row;
	char device[EXPLAIN_DEVICE];
	uint32_t qp_num, type, state;
	uint32_t send_cq, recv_cq; /* 1 + the index of its row; 0: not known */
	uint32_t has_srq, direct;  /* direct: used without verbs, too */
	uint32_t srq;              /* 1 + the index of its row; 0: none, or not known */
	uint32_t mask;             /* what is known of the following, as in ibv_modify_qp() */
	uint32_t dest_qp_num, sq_psn, rq_psn, qkey, access, pkey_index, port;
	uint32_t path_mtu, timeout, retry_cnt, rnr_retry, min_rnr_timer, max_rd_atomic,
		max_dest_rd_atomic, sgid_index, dlid, sl, traffic_class;
	uint32_t
		active_mtu; /* of its port when it got its path, as ibv_query_port() has it; 0: not known */
	uint32_t max_send_wr, max_recv_wr, pd;
	uint32_t has_gids; /* both */
	uint8_t gid[16], peer_gid[16];
	explain_counter sends, signaled, sends_done, messages, recvs, recvs_done, errors;
	struct explain_request request[EXPLAIN_REQUESTS];
	explain_counter recv_length, recv_addr, recv_id; /* of the last receive */
	_Atomic uint32_t recv_lkey;
	/* the first completion that failed and is no flush; `failed_at` is written last, 0: there is none */
	explain_counter failed_id, failed_at;
	_Atomic uint32_t failed_status, failed_queue; /* enum explain_queue */
};

struct explain_cq_row {
	struct explain_row row;
	char device[EXPLAIN_DEVICE];
	uint32_t cqe;
	int32_t channel; /* its file descriptor; -1: none */
	uint32_t direct, extended;
	/* emptied: polls that left nothing; the last two: of `emptied` and `events` when it was armed last */
	explain_counter polls, emptied, got, armed, events, acked, emptied_at, events_at;
};

/* A shared receive queue. What was polled of it stands with its queue pairs. */
struct explain_srq_row {
	struct explain_row row;
	char device[EXPLAIN_DEVICE];
	explain_counter posted;
};

/* Where datagrams go. */
struct explain_ah_row {
	struct explain_row row;
	uint64_t ah; /* its address in the process */
	uint32_t has_gids, sgid_index, dlid, unused;
	uint8_t gid[16], peer_gid[16];
};

/* What ibv_rereg_mr() has to do with the row of a region. */
enum explain_mr_rereg {
	EXPLAIN_MR_ANEW = 1 << 0,  /* what the region is since then */
	EXPLAIN_MR_ENDED = 1 << 1, /* what it was until then */
	EXPLAIN_MR_BROKEN = 1 << 2 /* it has failed, and the region is not to be used */
};

/* A memory region, or one that was: no data of it. Times are of CLOCK_MONOTONIC, in ns. */
struct explain_mr_row {
	struct explain_row row;
	char device[EXPLAIN_DEVICE];
	uint32_t lkey, rkey, access, pd;
	uint32_t rereg;   /* enum explain_mr_rereg */
	uint32_t next[2]; /* EXPLAIN_MR_ENDED: the lkey and the rkey that it has since */
	uint32_t unused;
	uint64_t addr, length, made_at;
	explain_counter gone_at;
};

enum explain_verb {
	EXPLAIN_NO_CALL,
	EXPLAIN_GET_CQ_EVENT,
	EXPLAIN_DESTROY_CQ,
	EXPLAIN_DESTROY_QP,
	EXPLAIN_DESTROY_SRQ,
	EXPLAIN_GET_CM_EVENT,
	EXPLAIN_DESTROY_ID,
	EXPLAIN_VERB_COUNT
};

/* A thread that calls what may wait. It keeps its row. */
struct explain_call_row {
	_Atomic int pid, tid;  /* 0: free */
	_Atomic uint32_t verb; /* enum explain_verb */
	_Atomic uint32_t of;   /* 1 + index of the row; of an event: 1 + the descriptor */
	explain_counter since; /* CLOCK_MONOTONIC, in ns */
};

struct explain_rows {
	struct explain_qp_row qp[EXPLAIN_QP_ROWS];
	struct explain_cq_row cq[EXPLAIN_CQ_ROWS];
	struct explain_call_row call[EXPLAIN_CALL_ROWS];
	struct explain_mr_row mr[EXPLAIN_MR_ROWS];
	struct explain_srq_row srq[EXPLAIN_SRQ_ROWS];
	struct explain_ah_row ah[EXPLAIN_AH_ROWS];
};

#endif
