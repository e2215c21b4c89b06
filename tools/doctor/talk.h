/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --peer and --listen: the messages of two doctors, and how long one waits for them. */
#ifndef RDMAEZ_DOCTOR_TALK_H
#define RDMAEZ_DOCTOR_TALK_H

#include "doctor.h"

/* Nanoseconds of CLOCK_MONOTONIC: when something must be over. */
uint64_t peer_in_ms(unsigned int ms);
/* What is left until then, for poll(). */
int peer_ms_left(uint64_t until);

enum {
	TALK_VERSION = 1,
	TALK_BYTES = 8192, /* of a message at most */
	TALK_LINE = 400    /* of a line at most */
};

/*
 * A message is a line "rdmaez-doctor VERSION KIND", lines "KEY VALUE", and an empty one. What comes is not trusted: its
 * length and time are limited, and only printable ASCII is let in.
 */
struct talk {
	char kind[16];
	unsigned int version;
	size_t length;
	/* the lines, each with a NUL at its end; of a foreign message the beginning */
	char text[TALK_BYTES];
};

enum talk_end {
	TALK_WELL,
	TALK_SILENT,  /* nothing came in time, or not all */
	TALK_CLOSED,  /* the peer closed the connection, or it broke */
	TALK_FOREIGN, /* this is something else */
	TALK_NEWER,   /* another version of the protocol: `version` */
	TALK_STEP     /* a message of another kind: `kind` */
};

void talk_begin(struct talk *talk, const char *kind);
void talk_add(struct talk *talk, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum talk_end talk_send(int fd, const struct talk *talk, uint64_t until);
/* Receives a message of this kind; NULL: of any. */
enum talk_end talk_receive(int fd, struct talk *talk, const char *kind, uint64_t until);
/* The value of the next line with this key: behind `after`, a value returned before; NULL: of the first. NULL: none */
const char *talk_value(const struct talk *talk, const char *key, const char *after);
/* The same as text of this size, cut where it is longer; "?": none. */
void talk_text(const struct talk *talk, const char *key, char *text, size_t size);

#endif
