/* SPDX-License-Identifier: MIT */
/*
 * What the launcher and the processes of the command share, in two files in memory, or three, (memfd_create()) that are reached by
 * the launcher's descriptors below /proc, whose numbers are in the environment. Neither has a name that others could take, and they
 * are gone with the last process that has them.
 *
 * The options are the first one. Once they are written it is sealed, so that nobody changes them, and every process takes
 * a copy. The second one is `struct explain_share`, what each process counted, since a process may end without a chance
 * to say so. Every process maps it and closes it, so that the numbers of the command's own files are what they would have
 * been. It is sealed against another size alone.
 *
 * Processes of the command may have other rights than the launcher, and than each other: one may have given up root, and
 * be taken over by what it reads. So nobody trusts what stands in struct explain_share. Whoever reads it takes a copy
 * once and checks that; what decides where something is written is private memory, or the sealed options.
 */
#ifndef RDMAEZ_EXPLAIN_SHARE_H
#define RDMAEZ_EXPLAIN_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define EXPLAIN_ENVIRONMENT "RDMAEZ_EXPLAIN"
#define EXPLAIN_MAGIC       0x72657838u /* "rex8" */

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
	EXPLAIN_PATH = 4096,
	EXPLAIN_PROCESSES = 128,
	EXPLAIN_COUNTS = 64,
	EXPLAIN_SOURCES = 16,
	EXPLAIN_WAITING = 32,
	EXPLAIN_BYTES = 24576
};

/* A file that all append to. Only if it is still the one that the launcher has opened: a path may be anything later. */
struct explain_file {
	uint64_t device, inode;
	char path[EXPLAIN_PATH]; /* "": none */
};

/* A file in memory: a descriptor of the launcher's. The number of its inode tells whether it still is. */
struct explain_memory {
	int process, descriptor;
	uint64_t inode;
};
/* How the environment names the options' one. */
#define EXPLAIN_MEMORY_PRINT "%d %d %" PRIu64
#define EXPLAIN_MEMORY_SCAN  "%d %d %" SCNu64

struct explain_options {
	uint32_t magic, kinds; /* bit n: kind n is reported */
	bool line, stop, advice;
	uint32_t waiting;        /* with --waiting: 1 + the seconds */
	int32_t asking;          /* the signal by which the launcher is asked; 0: none */
	struct explain_file log; /* none: stderr */
	struct explain_file json;
	struct explain_memory share; /* where struct explain_share is */
	struct explain_memory
		rows; /* with --waiting or --json, else zeros: where struct explain_rows is */
};

enum {
	EXPLAIN_POSTS_SEND = 1 << 29,
	EXPLAIN_POSTS_RECV = 1 << 30,
	EXPLAIN_QP_NUM = 0xffffff
};

/* A finding and its repetitions. Written by its process, which holds a lock; read by the launcher. All may be forged. */
struct explain_count {
	_Atomic uint32_t times;     /* 0: free */
	_Atomic uint32_t explained; /* how often the headers were asked */
	_Atomic uint32_t held;      /* it may be a probe, and is not printed yet */
	_Atomic uint32_t silent;    /* counted only: no finding */
	uint32_t kind, reason;
	int32_t error;
	uint64_t caller;
	char verb[32];
	char label[44]; /* what the summary calls it */
};

/* A GID that queue pairs or address handles of a process send from. Written with the lock of objects. */
struct explain_source {
	_Atomic uint32_t times; /* how many paths had it; 0: free */
	uint32_t port, index;
	char device[64];
};

/*
 * What a process does, or did last, but for posting and polling: for the launcher, if a signal ends the process. Of
 * several threads that call at once, one is noted.
 */
struct explain_doing {
	_Atomic uint32_t version; /* odd: it is being written */
	_Atomic uint32_t inside;  /* the call has not returned */
	_Atomic uint32_t again;   /* its object has been destroyed before */
	_Atomic uint32_t qp_num;  /* of a queue pair */
	char verb[32];
	char object[24]; /* what the summary calls it; "": none */
};

/* A process of the command. */
struct explain_process {
	_Atomic int pid; /* 0: free */
	char name[16];   /* without what a line or JSON could not hold */
	atomic_uint findings[EXPLAIN_KIND_COUNT];
	atomic_uint repeats, probes, flushes;
	/* failed completions of queue pairs of which one was explained already */
	atomic_uint later;
	atomic_uint unseen;    /* extended queue pairs and completion queues that are left alone */
	atomic_uint unshown;   /* findings beyond those that `count` has room for */
	atomic_uint qp_errors; /* queue pairs that ended in ERR */
	atomic_uint direct;    /* queues that it may use without verbs: mlx5dv_init_obj() */
	/* refusals within calls of librdmacm that destroy, and that have no result */
	atomic_uint inner;
	/* with --waiting or --json, while it is in ibv_post_send() or ibv_post_recv(): EXPLAIN_POSTS and the queue pair's number */
	_Atomic uint32_t posts;
	struct explain_doing doing;
	/* of RDMA, as they are called with their versions: "libibverbs.so.1.14.44.0 libmlx5.so.1.24.44.0" */
	char libraries[160];
	char device[64];         /* the last that it has opened */
	atomic_uint rank, ranks; /* 1 + what its environment says; 0: nothing */
	atomic_uint exited;      /* it has called exit(), or returned from main() */
	atomic_uint
		replaced; /* it has executed another program, which is a process of its own here */
	/* how it ended: 1 + what waitpid() told its parent; and as which one of all, from 1 on. 0: nobody knows */
	_Atomic uint32_t status, ending;
	atomic_int objects[EXPLAIN_OBJECT_COUNT]; /* made, and not destroyed */
	struct explain_count count[EXPLAIN_COUNTS];
	struct explain_source source[EXPLAIN_SOURCES]; /* the first ones */
};

/* A text that the launcher is to write: it may be a probe's, or its process has no way to. */
struct explain_waiting {
	_Atomic uint32_t state;          /* enum explain_wait */
	_Atomic uint32_t process, count; /* whose */
	_Atomic uint32_t text, json;     /* bytes of each, one behind the other */
	_Atomic uint64_t since;          /* CLOCK_MONOTONIC, in ns */
	char bytes[EXPLAIN_BYTES];
};

enum explain_wait {
	EXPLAIN_FREE,
	EXPLAIN_BUSY, /* somebody fills it, or empties it */
	EXPLAIN_HELD, /* until EXPLAIN_PROBE_NS have passed */
	EXPLAIN_READY
};

#define EXPLAIN_PROBE_NS UINT64_C(1000000000)

struct explain_share {
	atomic_uint attached; /* how many processes have the shared object */
	/* processes that used verbs when there was no place for them any more */
	atomic_uint crowded;
	_Atomic bool ended;  /* the launcher has: nobody writes what is left to it */
	atomic_uint endings; /* how many processes ended, as far as is known */
	struct explain_process process[EXPLAIN_PROCESSES];
	struct explain_waiting waiting[EXPLAIN_WAITING];
};

/* A process has ended, as waitpid() has told its parent. Takes no lock. */
static inline void explain_share_end(struct explain_share *share, int pid, int status)
{
	for (int i = 0; i < EXPLAIN_PROCESSES; i++) {
		struct explain_process *const process = &share->process[i];

		if (process->pid != pid || process->replaced || process->status)
			continue;
		process->ending = ++share->endings;
		process->status = 1 + (uint32_t)status;
	}
}

#endif
