/* SPDX-License-Identifier: MIT */
/* What the ping-pong examples do with a TCP peer that means harm, or is no ping-pong at all. */
#define _GNU_SOURCE /* syscall */
#include <err.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* What the example has open at its end it leaves to the kernel. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static bool
	hurry; /* the example's thirty seconds last three tenths of one, for peers that are silent */

static inline int test_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	struct timeval given;
	const struct timeval shorter = {.tv_usec = 300000};

	if (name != SO_RCVTIMEO && name != SO_SNDTIMEO)
		return setsockopt(fd, level, name, value, length);
	memcpy(&given, value, sizeof(given));
	if (given.tv_sec != 30 || given.tv_usec)
		errx(3, "another timeout");
	return setsockopt(fd, level, name, hurry ? &shorter : &given, sizeof(given));
}

/* And nothing is waited for that the fake's completion queues never bring. */
static inline int test_wc_wait(struct ibv_cq *cq, struct ibv_qp *qp, struct rdmaez_wc_batch *batch,
			       uint64_t timeout_ns, struct rdmaez_diag *record)
{
	if (timeout_ns != 30000000000u)
		errx(3, "another timeout");
	return rdmaez_wc_wait(cq, qp, batch, 10000000, record);
}

#define setsockopt     test_setsockopt
#define rdmaez_wc_wait test_wc_wait
#define main           pingpong
#define QPT            IBV_QPT_RC
#include "../../examples/pingpong.h"
#undef main
#undef rdmaez_wc_wait
#undef setsockopt

enum {
	SIZE = 52, /* of an address */
	PATIENT_MS =
		150, /* between the bytes of a slow peer: less than the example waits for one */
};

/* What the peer does after it has said what it says. */
enum then {
	CLOSES,
	STAYS,
	DRIPS, /* it says it byte by byte */
};

#define GID    "00000000000000000000ffffc0000202"
#define HEAD   "0000:000012:000000:"
#define GARBLE "the peer's address is garbled"
#define SILENT "the peer sent no address"
#define LATE   "rdmaez_wc_wait failed with ETIMEDOUT (110)"

static const struct {
	const char *name;
	char says[80];
	size_t length;
	enum then then;
	const char *answer; /* NULL: whatever it finds */
} peers[] = {
	{"a good address", HEAD GID, SIZE, STAYS, LATE},
	{"a good address in capitals", "0000:00000A:00000B:" GID, SIZE, STAYS, LATE},
	{"no word", "", 0, STAYS, SILENT},
	{"no word and no connection", "", 0, CLOSES, SILENT},
	{"too little", HEAD GID, SIZE - 1, STAYS, SILENT},
	{"too little, and it goes", HEAD GID, SIZE - 1, CLOSES, SILENT},
	{"one byte", "0", 1, STAYS, SILENT},
	{"an address byte by byte", HEAD GID, SIZE, DRIPS, SILENT},
	{"no final 0", HEAD GID "a", SIZE, STAYS, GARBLE},
	{"no end of digits", HEAD "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", SIZE, STAYS, GARBLE},
	{"zeros", "", SIZE, STAYS, GARBLE},
	{"an early end",
	 HEAD "\0"
	      "000000000000000000ffffc0000202a",
	 SIZE, STAYS, GARBLE},
	{"blanks", "                                        1:1:1:aaaaaa", SIZE, STAYS, GARBLE},
	{"blanks for digits", "   0:    12:     0:" GID, SIZE, STAYS, GARBLE},
	{"a sign", "-001:000012:000000:" GID, SIZE, STAYS, GARBLE},
	{"a sign before a queue pair", "0000:-00012:000000:" GID, SIZE, STAYS, GARBLE},
	{"0x", "0x01:000012:000000:" GID, SIZE, STAYS, GARBLE},
	{"other colons", "0000;000012:000000:" GID, SIZE, STAYS, GARBLE},
	{"a digit for a colon", "00001000012:000000:" GID, SIZE, STAYS, GARBLE},
	{"no hexadecimal digit", HEAD "0000000000000000000gffffc0000202", SIZE, STAYS, GARBLE},
	{"conversions", "%s%s%s%s%n%n%n%n%s%s%s%s%n%n%n%n%s%s%s%s%n%n%n%n%s%s", SIZE, STAYS,
	 GARBLE},
	{"bytes above 127", "\xff\xfe\xfd\xfc:\xff\xff\xff\xff\xff\xff:" GID, SIZE, STAYS, GARBLE},
	{"the largest numbers", "ffff:ffffff:ffffff:ffffffffffffffffffffffffffffffff", SIZE, STAYS,
	 NULL},
	{"queue pair 0 and no GID", "0000:000000:000000:00000000000000000000000000000000", SIZE,
	 STAYS, NULL},
	{"a good address, and it goes", HEAD GID, SIZE, CLOSES, NULL},
	{"more than an address", HEAD GID "\0more of it, and more", SIZE + 20, STAYS, NULL},
};

/* The example, in a process of its own that does not outlive its time; all that it prints goes to `prints`. */
static pid_t start(const char *tcp_port, const char *host_name, int prints)
{
	char name[] = "pingpong", p[] = "-p", number[8], address[16];
	char *args[] = {name, p, number, host_name ? address : NULL, NULL};
	pid_t pid;

	snprintf(number, sizeof(number), "%s", tcp_port);
	snprintf(address, sizeof(address), "%s", host_name ? host_name : "");
	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	dup2(prints, 1);
	dup2(prints, 2);
	alarm(60);
	fake_reset();
	exit(pingpong(host_name ? 4 : 3, args));
}

/* A socket on a port of its own, whose number is written to `tcp_port`. */
static int listener(char tcp_port[8])
{
	struct sockaddr_in own = {.sin_family = AF_INET};
	socklen_t size = sizeof(own);
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&own, size) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)&own, &size))
		tap_bail("no TCP");
	snprintf(tcp_port, 8, "%d", ntohs(own.sin_port));
	return fd;
}

/* Connects as soon as the example listens. */
static int meet_server(const char *tcp_port)
{
	struct sockaddr_in there = {.sin_family = AF_INET};
	int fd = -1;

	there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	there.sin_port = htons((uint16_t)atoi(tcp_port));
	for (int i = 0; i < 1000; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (syscall(SYS_connect, fd, &there, sizeof(there)) == 0)
			return fd;
		close(fd);
		poll(NULL, 0, 5);
	}
	tap_bail("the example does not listen");
	return -1;
}

static void say(int fd, size_t i)
{
	const size_t step = peers[i].then == DRIPS ? 1 : peers[i].length;
	ssize_t sent = 0;

	for (size_t at = 0; at < peers[i].length && sent >= 0; at += step) {
		sent = send(fd, peers[i].says + at, step, MSG_NOSIGNAL);
		if (peers[i].then == DRIPS)
			poll(NULL, 0, PATIENT_MS);
	}
	if (peers[i].then == CLOSES)
		shutdown(fd, SHUT_RDWR);
}

static void check_peer(size_t i, bool serves)
{
	const char *role = serves ? "the server" : "the client";
	char tcp_port[8], text[4000];
	size_t got = 0;
	ssize_t more;
	int ends[2], fd, status = -1, door;
	pid_t pid;

	if (pipe(ends))
		tap_bail("pipe");
	door = listener(tcp_port);
	if (serves)
		close(door);
	hurry = peers[i].answer && strcmp(peers[i].answer, SILENT) == 0;
	pid = start(tcp_port, serves ? NULL : "127.0.0.1", ends[1]);
	close(ends[1]);
	fd = serves ? meet_server(tcp_port) : accept(door, NULL, NULL);
	say(fd, i);
	while (got < sizeof(text) - 1 &&
	       (more = read(ends[0], text + got, sizeof(text) - 1 - got)) > 0)
		got += (size_t)more;
	text[got] = '\0';
	waitpid(pid, &status, 0);
	if (!tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 1 && !strstr(text, "Sanitizer") &&
			    !strstr(text, "runtime error"),
		    "%s ends well after %s", role, peers[i].name) ||
	    (peers[i].answer && !tap_ok(strstr(text, peers[i].answer), "%s says of %s: %s", role,
					peers[i].name, peers[i].answer)))
		tap_diag("status %x: %s", (unsigned int)status, text);
	close(fd);
	close(ends[0]);
	if (!serves)
		close(door);
}

int main(void)
{
	for (size_t i = 0; i < COUNT_OF(peers); i++) {
		check_peer(i, true);
		check_peer(i, false);
	}
	return tap_done();
}
