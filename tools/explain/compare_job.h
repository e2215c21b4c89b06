/* SPDX-License-Identifier: MIT */
/* What the parts of --compare share: a job's processes, their queue pairs with their peers, and the page. */
#ifndef RDMAEZ_EXPLAIN_COMPARE_JOB_H
#define RDMAEZ_EXPLAIN_COMPARE_JOB_H

#include "compare.h"

#define EXPLAIN_NONE UINT32_MAX

enum explain_type {
	EXPLAIN_TYPE_UNKNOWN,
	EXPLAIN_RC,
	EXPLAIN_UC,
	EXPLAIN_UD,
	EXPLAIN_XRC_SEND,
	EXPLAIN_XRC_RECV,
	EXPLAIN_TYPE_OTHER
};

enum explain_qp_state {
	EXPLAIN_STATE_UNKNOWN,
	EXPLAIN_RESET,
	EXPLAIN_INIT,
	EXPLAIN_RTR,
	EXPLAIN_RTS,
	EXPLAIN_SQD,
	EXPLAIN_SQE,
	EXPLAIN_ERR
};

/* A queue pair, one end of a connection. */
struct explain_end {
	const struct explain_state_qp *qp;
	uint32_t process;
	uint32_t peer; /* the other end; EXPLAIN_NONE: not known */
	enum explain_type type;
	enum explain_qp_state state;
	bool mutual;       /* the peer takes this for its peer, too */
	bool disagrees;    /* with its peer, in what keeps messages from arriving */
	bool stale;        /* another process has its number by now */
	bool no_such_file; /* it has a peer, and that peer's process no file */
};

/* In the order of ranks, hosts and process ids. */
struct explain_peer {
	const struct explain_state *state;
	uint32_t first, count; /* its ends */
};

/* The earlier, the further up on the page. */
enum explain_level {
	EXPLAIN_WRONG, /* it cannot work */
	EXPLAIN_WAITS,
	EXPLAIN_LIKELY,
	EXPLAIN_DIFFERS
};

struct explain_job {
	struct explain_peer *process;
	struct explain_end *end;
	uint32_t processes, ends;
	uint32_t pairs, strangers; /* queue pairs with a peer of which there is no file */
	struct explain_part *part; /* of the page */
	size_t parts, part_room;
	FILE *page; /* where the part under way is written to */
};

/* Ends the program if there is no memory. */
void *explain_job_realloc(void *old, size_t size);
void *explain_job_zeros(size_t count, size_t size);

/* compare_page.c: a finding, of so much weight among its level. Lines are written until the next one begins. */
void explain_part_begin(struct explain_job *job, enum explain_level level, size_t weight);
/* Lines of at most 100 columns; what follows the first is indented by four more. */
__attribute__((__format__(__printf__, 3, 4))) void explain_say(struct explain_job *job, int indent,
							       const char *format, ...);
/* "    rank 17, node2, worker[1017], 2026-01-31T23:59:59.000Z: QP 34 of mlx5_0 port 1: ..." */
__attribute__((__format__(__printf__, 3, 4))) void
explain_row(struct explain_job *job, uint32_t end, const char *format, ...);
__attribute__((__format__(__printf__, 3, 4))) void
explain_process_row(struct explain_job *job, uint32_t process, const char *format, ...);
/* Those up to this level; the answer is their number. */
size_t explain_page_write(struct explain_job *job, enum explain_level most, FILE *out);

enum {
	EXPLAIN_NAME = 256
};
/* "rank 17 on node2" */
const char *explain_name(const struct explain_job *job, uint32_t process, char name[EXPLAIN_NAME]);
/* "63 ranks (0-16, 18-63)": those that are true in `is`, which has an element for each process; one by its name. */
const char *explain_names(const struct explain_job *job, const bool *is, char name[EXPLAIN_NAME]);

/* compare_wait.c */
void explain_waits(struct explain_job *job);
/* Requests that were posted and are not done; 0 where that is not known. */
uint64_t explain_due_sends(const struct explain_end *end);
/* The oldest request was under way already when the peer's state was taken; as far as their clocks agree. */
bool explain_is_later(const struct explain_job *job, const struct explain_end *end);
/* The opcode without IBV_WR_; "" if it is not known. */
const char *explain_opcode(const struct explain_state_qp *qp);
/* It ended by itself: what it left behind is nobody's concern. */
bool explain_has_ended(const struct explain_state *state);

#endif
