/* SPDX-License-Identifier: MIT */
/*
 * grows HOW: uses more and more memory of the first device's process, until its cgroup has no more: "registers" by
 * registering it, "touches" by writing to it after a region of 4 KiB was registered. "waits" registers that region, writes
 * "ready", and waits to be killed. Knows nothing of rdmaez.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <infiniband/verbs.h>

enum {
	STEP = 1 << 20,
	STEPS = 512
};

static void must(int held, const char *what)
{
	if (held)
		return;
	perror(what);
	exit(1);
}

static char *more(void)
{
	char *const memory = (char *)mmap(NULL, STEP, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory != MAP_FAILED, "mmap");
	return memory;
}

int main(int argc, char **argv)
{
	struct ibv_device **const list = ibv_get_device_list(NULL);
	struct ibv_context *context;
	struct ibv_pd *pd;

	if (argc < 2)
		return 2;
	must(list && *list, "devices");
	context = ibv_open_device(*list);
	must(context != NULL, "open");
	pd = ibv_alloc_pd(context);
	must(pd && ibv_reg_mr(pd, more(), 4096, IBV_ACCESS_LOCAL_WRITE), "register");
	if (strcmp(argv[1], "waits") == 0) {
		puts("ready");
		fflush(stdout);
		pause();
	}
	for (int i = 0; i < STEPS; i++) {
		char *const memory = more();

		if (strcmp(argv[1], "registers") == 0)
			must(ibv_reg_mr(pd, memory, STEP, IBV_ACCESS_LOCAL_WRITE) != NULL,
			     "register");
		else
			memset(memory, 1, STEP);
	}
	puts("there was enough");
	return 0;
}
