/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-doctor: what a check says, on its way to the report.
 *
 * A check talks through a pipe, in records: a head, then strings that each end with a NUL. They are kept as they came
 * and read when the report is printed.
 */
#ifndef RDMAEZ_DOCTOR_RECORD_H
#define RDMAEZ_DOCTOR_RECORD_H

#include "doctor.h"

#include <sys/types.h>

enum kind {
	KIND_LINE,     /* subject, finding; its verdict in the head */
	KIND_EVIDENCE, /* text */
	KIND_NEXT,     /* text */
	KIND_GID,      /* the members of struct doctor_gid in their order */
	KIND_QP,       /* a queue pair, as JSON */
	KIND_SLEEP,    /* milliseconds */
	KIND_FACT,     /* with --certify: name, "text" or "number", value */
	KIND_STEP      /* group, step, errno, status, reason, words; its result in the head */
};

struct head {
	uint16_t length; /* of the strings */
	uint8_t kind;
	uint8_t verdict;
};

#define STRINGS_MAX 4000 /* with its head, a record fits into PIPE_BUF */
#define STEP_MAX    512

/* A check that runs or has run. */
struct run {
	const struct doctor_check *check;
	pid_t pid; /* 0: it has ended */
	int fd;    /* -1: its records have ended */
	char *step;
	int64_t deadline;
	unsigned int extended; /* how often its time was prolonged */
	char *records;
	size_t length;
	size_t scanned; /* how far sleeping was looked for */
	size_t room;
};

/* In the process of a check, before it runs: where its records go, and where its step is written, STEP_MAX bytes. */
void doctor_speak(int fd, char *step);

/* Sends so many strings as one record. */
void doctor_strings(enum kind kind, enum doctor_verdict verdict, unsigned int count, ...);

/* Milliseconds of a clock that only goes forward. */
int64_t doctor_now(void);
/* Runs a check to its end, or until its time or that of the whole run is over; the run is all zero before. */
void doctor_run(struct run *run, const struct doctor_check *check, int64_t end);
/* The strings of the record at this place, or NULL where there is none, or not all of it. */
const char *doctor_record(const struct run *run, size_t at, struct head *head);

#endif
