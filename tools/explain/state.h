/* SPDX-License-Identifier: MIT */
/*
 * What is known of a process: a line of kind "state", which --json writes and --compare reads. It needs no libibverbs.
 *
 * The lists below are the structs, the line and its reader at once: a member's name is its key. All but the first
 * few of a process may be missing: a struct of zeros knows nothing, EXPLAIN_STATE_SET() adds a number, and a text is
 * there if it is not NULL. Nothing is concluded from what is missing. docs/schema/explain.schema.json says what each
 * member means.
 */
#ifndef RDMAEZ_EXPLAIN_STATE_H
#define RDMAEZ_EXPLAIN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct explain_gid {
	uint8_t raw[16];
};

/* Texts are not copied: they are their owner's. A TIME is in ms since 1970, in UTC; "2026-01-31T23:59:59.000Z" in JSON. */
/* clang-format off */
#define EXPLAIN_STATE_PROCESS(X) \
	X(TEXT, program) X(U32, pid) X(TEXT, kind) X(TEXT, host) X(TIME, time_ms) X(TEXT, reason) X(U32, signal) X(BOOL, stopped) \
	X(TEXT, boot_id) X(U32, rank) X(U32, ranks) X(TEXT, kernel) X(TEXT, libraries)

/* PSNs are those that ibv_modify_qp() was given: what ibv_query_qp() answers moves with the traffic, by device. */
#define EXPLAIN_STATE_QP(X) \
	X(TEXT, device) X(TEXT, driver) X(U32, port) X(U32, qp_num) X(TEXT, type) X(TEXT, state) X(BOOL, gone) \
	X(U32, dest_qp_num) X(U32, sq_psn) X(U32, rq_psn) \
	X(U32, gid_index) X(GID, gid) X(TEXT, gid_type) X(GID, peer_gid) X(U32, lid) X(U32, peer_lid) \
	X(U32, path_mtu) X(U32, active_mtu) \
	X(U32, timeout) X(U32, retry_cnt) X(U32, rnr_retry) X(U32, min_rnr_timer) \
	X(U32, max_rd_atomic) X(U32, max_dest_rd_atomic) \
	X(U32, qkey) X(U32, sent_qkey) X(U32, pkey) X(U32, pkey_index) \
	X(U32, access) X(U32, traffic_class) X(U32, lossless) X(U32, vlan) X(U32, sl) X(U32, max_send_wr) \
	X(U32, max_recv_wr) \
	X(U32, send_cq) X(U32, recv_cq) X(U32, srq) \
	X(U64, sends_posted) X(U64, sends_signaled) X(U64, sends_completed) \
	X(U64, recvs_posted) X(U64, recvs_completed) X(U64, failed) X(TEXT, failed_status) X(U64, failed_ms) \
	X(TEXT, oldest_opcode) X(U64, oldest_ms) X(U64, oldest_length) X(U64, oldest_addr) X(U32, oldest_rkey) \
	X(U64, idle_ms)

#define EXPLAIN_STATE_PORT(X) \
	X(TEXT, device) X(TEXT, driver) X(U32, port) X(TEXT, link_layer) X(TEXT, state) X(U32, active_mtu) \
	X(U32, lid) X(U64, rate_mbps) X(TEXT, firmware)

#define EXPLAIN_STATE_GIDS(X) \
	X(TEXT, device) X(U32, port) X(U32, gid_index) X(GID, gid) X(TEXT, gid_type)

#define EXPLAIN_STATE_CQ(X) \
	X(TEXT, device) X(U32, cq_num) X(U32, cqe) X(U64, polls) X(U64, polled_ms) X(BOOL, armed) X(U64, events) \
	X(U64, acked)

#define EXPLAIN_STATE_SRQ(X) \
	X(TEXT, device) X(U32, srq_num) X(U64, posted) X(U64, completed)

#define EXPLAIN_STATE_MR(X) \
	X(TEXT, device) X(U32, rkey) X(U64, addr) X(U64, length) X(U32, access) X(U64, since_ms) X(BOOL, gone) X(U64, gone_ms)

/* The arrays of a process: member and key, list, enumerator, struct. */
#define EXPLAIN_STATE_ARRAYS(X) \
	X(ports, EXPLAIN_STATE_PORT, PORT, port) X(gids, EXPLAIN_STATE_GIDS, GIDS, gids) \
	X(qps, EXPLAIN_STATE_QP, QP, qp) X(cqs, EXPLAIN_STATE_CQ, CQ, cq) \
	X(srqs, EXPLAIN_STATE_SRQ, SRQ, srq) X(mrs, EXPLAIN_STATE_MR, MR, mr)
/* clang-format on */

#define EXPLAIN_STATE_TYPE_TEXT const char *
#define EXPLAIN_STATE_TYPE_U32  uint32_t
#define EXPLAIN_STATE_TYPE_U64  uint64_t
#define EXPLAIN_STATE_TYPE_TIME uint64_t
#define EXPLAIN_STATE_TYPE_BOOL bool
#define EXPLAIN_STATE_TYPE_GID  struct explain_gid

#define EXPLAIN_STATE_MEMBER(type, name)      EXPLAIN_STATE_TYPE_##type name;
#define EXPLAIN_STATE_BIT_PROCESS(type, name) EXPLAIN_STATE_PROCESS_##name,
#define EXPLAIN_STATE_BIT_PORT(type, name)    EXPLAIN_STATE_PORT_##name,
#define EXPLAIN_STATE_BIT_GIDS(type, name)    EXPLAIN_STATE_GIDS_##name,
#define EXPLAIN_STATE_BIT_QP(type, name)      EXPLAIN_STATE_QP_##name,
#define EXPLAIN_STATE_BIT_CQ(type, name)      EXPLAIN_STATE_CQ_##name,
#define EXPLAIN_STATE_BIT_SRQ(type, name)     EXPLAIN_STATE_SRQ_##name,
#define EXPLAIN_STATE_BIT_MR(type, name)      EXPLAIN_STATE_MR_##name,

/* What each has: bit EXPLAIN_STATE_QP_timeout of `has` for the member timeout of a queue pair. */
#define EXPLAIN_STATE_STRUCT(member, list, upper, lower)                      \
	enum {                                                                \
		list(EXPLAIN_STATE_BIT_##upper) EXPLAIN_STATE_##upper##_COUNT \
	};                                                                    \
	struct explain_state_##lower {                                        \
		uint64_t has;                                                 \
		list(EXPLAIN_STATE_MEMBER)                                    \
	};
EXPLAIN_STATE_ARRAYS(EXPLAIN_STATE_STRUCT)
#undef EXPLAIN_STATE_STRUCT

enum {
	EXPLAIN_STATE_PROCESS(EXPLAIN_STATE_BIT_PROCESS) EXPLAIN_STATE_PROCESS_COUNT
};
struct explain_state {
	uint64_t has;
	EXPLAIN_STATE_PROCESS(EXPLAIN_STATE_MEMBER)
#define EXPLAIN_STATE_ARRAY(member, list, upper, lower) \
	struct explain_state_##lower *member;           \
	size_t member##_count;
	EXPLAIN_STATE_ARRAYS(EXPLAIN_STATE_ARRAY)
#undef EXPLAIN_STATE_ARRAY
};

/* EXPLAIN_STATE_SET(QP, qp, timeout, 14): numbers, booleans and GIDs; a text is only assigned. */
#define EXPLAIN_STATE_SET(upper, at, member, value) \
	((at)->member = (value), (at)->has |= UINT64_C(1) << EXPLAIN_STATE_##upper##_##member)
#define EXPLAIN_STATE_HAS(upper, at, member) \
	(((at)->has >> EXPLAIN_STATE_##upper##_##member & 1) != 0)

/* The same as tables, for what goes through all members. `has` is the first member of each struct. */
enum explain_state_type {
	EXPLAIN_STATE_TEXT,
	EXPLAIN_STATE_U32,
	EXPLAIN_STATE_U64,
	EXPLAIN_STATE_TIME,
	EXPLAIN_STATE_BOOL,
	EXPLAIN_STATE_GID
};

struct explain_state_field {
	const char *name;
	enum explain_state_type type;
	size_t offset;
};

struct explain_state_table {
	const char *name;
	const struct explain_state_field *field;
	size_t fields, size; /* of a row */
	size_t rows, count;  /* where struct explain_state has them */
};

enum {
	EXPLAIN_STATE_TABLES = 6
};
extern const struct explain_state_table explain_state_tables[EXPLAIN_STATE_TABLES];
extern const struct explain_state_table explain_state_process;

/* Rank and number of ranks by what MPI, PMI, Slurm or PyTorch have put into this process's environment, if any has. */
void explain_state_rank(struct explain_state *state);

/*
 * The state as one line of JSON, as snprintf() does it: the length that it has, and as much of it as the buffer takes,
 * with a NUL. `kind` need not be set.
 */
size_t explain_state_write(const struct explain_state *state, char *buf, size_t size);

#endif
