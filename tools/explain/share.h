/* SPDX-License-Identifier: MIT */
/*
 * The file that the launcher and the processes of the command share: the options on the way in, and what each process
 * counted on the way out, since a process may end without a chance to say so. Its path is in the environment; every
 * process maps it once and closes it, so that the numbers of the command's own files are what they would have been.
 */
#ifndef RDMAEZ_EXPLAIN_SHARE_H
#define RDMAEZ_EXPLAIN_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define EXPLAIN_ENVIRONMENT "RDMAEZ_EXPLAIN"
#define EXPLAIN_MAGIC       0x72657831u /* "rex1" */

/* What a finding is about; `--only` takes these names. */
#define EXPLAIN_KINDS(X)    \
	X(REFUSAL, refusal) \
	X(QUERY, query) X(COMPLETION, completion) X(EVENT, event) X(CM, cm) X(ADVICE, advice)

enum explain_kind {
#define EXPLAIN_KIND(upper, lower) EXPLAIN_##upper,
	EXPLAIN_KINDS(EXPLAIN_KIND)
#undef EXPLAIN_KIND
	EXPLAIN_KIND_COUNT
};

/* What is counted of the objects that a program makes. */
#define EXPLAIN_OBJECTS(X)             \
	X(CONTEXT, context)            \
	X(PD, PD)                      \
	X(MR, MR)                      \
	X(CHANNEL, completion channel) \
	X(CQ, CQ)                      \
	X(SRQ, SRQ) X(XRCD, XRC domain) X(QP, QP) X(AH, AH) X(DM, DM) X(MW, MW) X(CM_ID, rdma_cm id)

enum explain_object {
#define EXPLAIN_OBJECT(upper, words) EXPLAIN_##upper,
	EXPLAIN_OBJECTS(EXPLAIN_OBJECT)
#undef EXPLAIN_OBJECT
	EXPLAIN_OBJECT_COUNT
};

enum {
	EXPLAIN_PATH = 4096
};

struct explain_options {
	uint32_t kinds; /* bit n: kind n is reported */
	bool line, stop, advice, summary;
	char log[EXPLAIN_PATH];  /* "": stderr */
	char json[EXPLAIN_PATH]; /* "": none */
};

/* A process of the command. */
struct explain_process {
	_Atomic int pid; /* 0: free */
	char name[16];
	atomic_uint findings[EXPLAIN_KIND_COUNT];
	atomic_uint repeats, probes, flushes;
	atomic_uint unseen;    /* extended queue pairs and completion queues that are left alone */
	atomic_uint qp_errors; /* queue pairs that ended in ERR */
	atomic_int objects[EXPLAIN_OBJECT_COUNT]; /* made, and not destroyed */
};

enum {
	EXPLAIN_PROCESSES = 256
};

struct explain_share {
	uint32_t magic, size;
	struct explain_options options;
	struct explain_process process[EXPLAIN_PROCESSES];
};

#endif
