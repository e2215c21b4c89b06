/* SPDX-License-Identifier: MIT */
/* What eight threads do, and what they count; work.c is compiled in both ways of including. */
#ifndef WORK_H
#define WORK_H

#include <rdmaez.h>
#include <rdmaez/caps.h>
#include <rdmaez/dm.h>
#include <rdmaez/examine.h>

enum {
	THREADS = 8,
	SHARING = 6, /* so many threads are on one context; of the others each opens its own */
	POLLERS = 2, /* the first poll one completion queue as well */
	ROUNDS = 10,
	POSTS = 50,  /* of each poller */
	BYTES = 4096 /* of device memory, of which each thread has a part */
};

/* What all use, as docs/threads.md permits. */
struct shared {
	struct rdmaez_simple simple;
	struct rdmaez_dm dm;
	struct ibv_cq *cq;
	struct ibv_qp *qp[POLLERS];
};

struct worker {
	int number;
	struct shared *shared;
	char buffer[4096]; /* registered */
	int rounds, posted, refused, failed, flushed, recovered, copied, polled;
	int wrong;        /* what did not go as it must */
	const char *what; /* the first of that */
	char said[8192];  /* of what the last failed completion may come from */
};

void *work_inline(void *worker);
void *work_extern(void *worker);

#endif
