/* SPDX-License-Identifier: MIT */
/*
 * One piece of device memory in two processes: the owner writes, the other reads and answers in the same
 * memory, and the owner frees it.
 *
 * Build:  cc -std=c11 -Iinclude examples/05_share.c -libverbs -o 05_share
 * Run:    ./05_share [DEVICE], or on a machine without RDMA: tools/softroce ./05_share
 *
 * Where the device has no device memory, it is emulated; memory of a device is shared by the same calls. Two programs that are not parent and child do
 * the same over a Unix socket with a name, which one of them binds and the other connects to.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>
#include <rdmaez/dm.h>
#include <rdmaez/dm_share.h>
#include <rdmaez/devel/dm_emu.h>

enum {
	SIZE = 256,
	ANSWER = 128 /* where in the memory the answer is */
};

static const char usage[] = "usage: 05_share [DEVICE]\n"
			    "\n"
			    "Shares a piece of DEVICE's memory between two processes, each of "
			    "which reads what the other has\n"
			    "written. Memory that DEVICE does not have is emulated in the host's. "
			    "Without DEVICE it takes the\n"
			    "first that has an active port.\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

/* Ends the process with an explanation unless a call worked. */
static void need_no(const char *who, int error, const struct rdmaez_diag *diag)
{
	if (!error)
		return;
	fprintf(stderr, "%s: ", who);
	if (diag && diag->error == error)
		rdmaez_diag_print(diag, stderr);
	else
		fprintf(stderr, "%s\n", rdmaez_errno_str(error));
	exit(EXIT_FAILURE);
}

/* The process that has nothing but a socket. */
static int other(int socket)
{
	const char *who = "the other";
	const char answer[] = "hello from the other process";
	struct rdmaez_dm_emu emu = {0};
	struct rdmaez_dm_share_opts opts = {.ops = rdmaez_dm_emu_ops(), .arg = &emu};
	struct rdmaez_dm_shared shared;
	struct rdmaez_diag diag;
	char text[SIZE / 2] = "";

	need_no(who, rdmaez_dm_receive(socket, &opts, &shared, &diag), &diag);
	need_no(who, rdmaez_dm_copy_from(&shared.dm, 0, text, sizeof(text)), NULL);
	printf("%s: %zu bytes of %s, which begin with \"%.*s\"\n", who, shared.dm.length,
	       shared.token.device, (int)sizeof(text) - 1, text);
	fflush(stdout);
	memset(text, 0, sizeof(text));
	memcpy(text, answer, sizeof(answer));
	need_no(who, rdmaez_dm_copy_to(&shared.dm, ANSWER, text, sizeof(text)), NULL);
	/* This frees nothing: the memory is the owner's. */
	need_no(who, rdmaez_dm_shared_close(&shared, &diag), &diag);
	return write(socket, "done", 4) == 4 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The process that has the memory. */
static void owner(int socket, struct ibv_context *context, struct rdmaez_dm_emu *emu)
{
	const char *who = "the owner";
	const char greeting[] = "hello from the owner";
	struct rdmaez_dm_share_opts opts = {.ops = rdmaez_dm_emu_ops(), .arg = emu};
	struct rdmaez_dm dm;
	struct rdmaez_diag diag;
	char text[SIZE / 2] = "", done[4];

	need_no(who, rdmaez_dm_alloc(context, SIZE, NULL, &dm, &diag), &diag);
	memcpy(text, greeting, sizeof(greeting));
	need_no(who, rdmaez_dm_copy_to(&dm, 0, text, sizeof(text)), NULL);
	need_no(who, rdmaez_dm_send(socket, &dm, NULL, &opts, &diag), &diag);
	/* The memory stays until the other has said that it does not need it any more. */
	if (read(socket, done, sizeof(done)) != sizeof(done))
		need_no(who, ECONNRESET, NULL);
	need_no(who, rdmaez_dm_copy_from(&dm, ANSWER, text, sizeof(text)), NULL);
	printf("%s: the other has written \"%.*s\"\n", who, (int)sizeof(text) - 1, text);
	need_no(who, rdmaez_dm_close(&dm, &diag), &diag);
	printf("%s: the memory is freed\n", who);
}

int main(int argc, char **argv)
{
	struct ibv_device_attr_ex device;
	struct ibv_context *context = NULL;
	struct rdmaez_dm_emu emu = {0};
	struct rdmaez_diag diag;
	int end[2], status = 0;
	bool emulated;
	const int letter = getopt_long(argc, argv, "h", help, NULL);

	if (letter != -1 || argc - optind > 1) {
		fputs(usage, letter == 'h' ? stdout : stderr);
		return letter == 'h' ? EXIT_SUCCESS : 2;
	}

	alarm(60); /* if the other process stops, do not wait for it forever */
	/* The other process begins with an empty hand: the device is opened after it has gone. */
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, end)) {
		perror("socketpair");
		return EXIT_FAILURE;
	}
	const pid_t child = fork();
	if (!child) {
		close(end[0]);
		return other(end[1]);
	}
	close(end[1]);
	if (child < 0) {
		perror("fork");
		return EXIT_FAILURE;
	}
	need_no("the owner", rdmaez_device_open(argv[optind], &context, &diag), &diag);
	emulated = ibv_query_device_ex(context, NULL, &device) || !device.max_dm_size;
	printf("%s: %s device memory\n", ibv_get_device_name(context->device),
	       emulated ? "emulated" : "real");
	fflush(stdout);
	if (emulated)
		need_no("the owner", rdmaez_dm_emu_attach(context, NULL, &emu, &diag), &diag);
	owner(end[0], context, &emu);
	if (emulated)
		rdmaez_dm_emu_detach(&emu, NULL);
	ibv_close_device(context);
	waitpid(child, &status, 0);
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
