/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-doctor --pid and --job with --peer: queue pairs of the peer's host, by what rdmaez-doctor --listen tells there.
 * Who asks names pairs of numbers, of a queue pair there and of its own; who listens tells what queue pairs have these
 * numbers, whose they are, and nothing of others.
 */
#ifndef RDMAEZ_DOCTOR_AFAR_H
#define RDMAEZ_DOCTOR_AFAR_H

#include "objects.h"
#include "process.h"
#include "reach.h"
#include "talk.h"

/* What the peer has told. */
struct afar {
	char name[64];                   /* as --peer names it */
	struct sockaddr_storage address; /* by which it is reached */
	socklen_t address_size;
	struct objects objects;  /* queue pairs alone */
	struct process *process; /* whose each of them is, by the same position; pid 0: not known */
	char why[200];           /* why it has none to tell of; "": it has looked */
};

/* A question: a queue pair of this host, and what it has for its peer's number. */
struct afar_pair {
	uint32_t lqpn, rqpn;
};

/*
 * Asks the peer of all these. False, and said: it cannot be reached, or does not tell. What is told lives as long as the
 * check.
 */
bool afar_ask(struct afar *afar, const struct afar_pair *pair, unsigned int pairs);
/* Whose the queue pair is. NULL: it is none that the peer has told of. */
const struct process *afar_process(const struct afar *afar, const struct object *qp);

/* At the other end: answers one message with questions; returns how many queue pairs were told of. */
unsigned int afar_answer(const struct talk *asked, struct talk *answer);

#endif
