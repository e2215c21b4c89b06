/* SPDX-License-Identifier: MIT */
/*
 * A program that has been taken over after it gave up root, or whose stray write lands in what rdmaez-explain shares
 * with it. It finds that memory in its maps, and does one of the cases below, by name. Ends with 7.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../tools/explain/share.h"
#include "fake_verbs.h"

enum {
	NOBODY = 65534
};

static struct explain_share *share;
static char *start, *end;  /* all that can be written of it */
static char its_file[128]; /* the memory, for who may open it so */

static void find(void)
{
	FILE *const maps = fopen("/proc/self/maps", "r");
	char line[4400], rights[5];
	unsigned long from, to;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "rdmaez-explain") || strstr(line, ".so") ||
		    sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3 || rights[1] != 'w')
			continue;
		start = (char *)from;
		end = (char *)to;
		snprintf(its_file, sizeof(its_file), "/proc/self/map_files/%lx-%lx", from, to);
	}
	if (!start)
		exit(1);
	share = (struct explain_share *)(void *)start;
}

static void give_up_root(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		exit(2);
}

static void leave(uint32_t text, uint32_t json, enum explain_wait state)
{
	share->waiting[0].text = text;
	share->waiting[0].json = json;
	share->waiting[0].state = state;
}

/* Whatever path of the launcher's is in there becomes this one; and a text to write. */
static void do_path(const char *from, const char *to)
{
	const size_t length = strlen(from);

	give_up_root();
	for (char *at = start; at + length < end; at++)
		if (!memcmp(at, from, length))
			memcpy(at, to, strlen(to) + 1);
	strcpy(share->waiting[0].bytes, "forged\n");
	leave(7, 0, EXPLAIN_READY);
}

static void do_text(const char *from, const char *to)
{
	(void)from;
	(void)to;
	leave(0x100000, 0, EXPLAIN_READY);
}

/* Their sum is small. */
static void do_sum(const char *from, const char *to)
{
	(void)from;
	(void)to;
	leave(0xfffff000, 0x1010, EXPLAIN_READY);
}

static void do_process(const char *from, const char *to)
{
	(void)from;
	(void)to;
	share->waiting[0].process = 0x7fffffff;
	leave(0, 0, EXPLAIN_HELD);
}

static void do_count(const char *from, const char *to)
{
	(void)from;
	(void)to;
	share->waiting[0].count = 0x7fffffff;
	leave(0, 0, EXPLAIN_HELD);
}

static void do_kind(const char *from, const char *to)
{
	(void)from;
	(void)to;
	share->process[0].pid = 77;
	share->process[0].count[0].times = 1;
	share->process[0].count[0].kind = 0x7ffffff;
	leave(0, 0, EXPLAIN_HELD);
}

static void do_all(const char *from, const char *to)
{
	(void)from;
	(void)to;
	memset(share->process, 0x7f, sizeof(share->process));
	memset(share->waiting, 0xff, sizeof(share->waiting));
}

static void do_escape(const char *from, const char *to)
{
	static const char bad[] = "\x1b]0;owned\a\xc2\x9b\n";

	(void)from;
	(void)to;
	memcpy(share->process[0].name, bad, sizeof(bad));
	memcpy(share->process[0].count[0].label, bad, sizeof(bad));
	share->process[0].count[0].times = share->process[0].findings[0] = 1;
	share->process[0].pid = 77;
	memcpy(share->waiting[0].bytes, bad, sizeof(bad));
	leave(sizeof(bad), 0, EXPLAIN_READY);
}

/* As root, who may open any mapping again. */
static void do_shorten(const char *from, const char *to)
{
	const int file = open(its_file, O_RDWR);

	(void)from;
	(void)to;
	if (file < 0)
		exit(3);
	if (!ftruncate(file, 0))
		share = NULL;
}

/* Nobody can change the options, not even who has the launcher's rights. */
static void do_options(const char *from, const char *to)
{
	char path[64], byte = 'x';
	struct stat is;

	(void)from;
	(void)to;
	for (int i = 3; i < 20; i++) {
		int file;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), i);
		file = open(path, O_RDWR);
		if (file < 0 || fstat(file, &is) ||
		    is.st_size != (off_t)sizeof(struct explain_options))
			continue;
		printf("%zd %d\n", write(file, &byte, 1),
		       mmap(NULL, 1, PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED);
	}
}

/* Another process of the command, which still is root, reads what was written. */
static void do_peer(const char *from, const char *to)
{
	struct ibv_device **const list = ibv_get_device_list(NULL);
	struct ibv_context *const context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *const pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *const cq = pd ? ibv_create_cq(context, 4, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};

	(void)from;
	(void)to;
	if (!cq)
		exit(4);
	for (int i = 0; i < 2; i++) {
		init.cap.max_send_wr = i ? 1 : UINT32_MAX;
		init.cap.max_recv_wr = 1;
		init.cap.max_send_sge = init.cap.max_recv_sge = 1;
		if (!ibv_create_qp(pd, &init) != !i)
			exit(5);
		for (int row = 0; row < EXPLAIN_WAITING; row++)
			share->waiting[row].count = 0x7fffffff;
	}
}

static const struct {
	const char *name;
	void (*run)(const char *from, const char *to);
} cases[] = {
	{"path", do_path},       {"text", do_text},     {"sum", do_sum},
	{"process", do_process}, {"count", do_count},   {"kind", do_kind},
	{"all", do_all},         {"escape", do_escape}, {"shorten", do_shorten},
	{"options", do_options}, {"peer", do_peer},
};

int main(int argc, char *argv[])
{
	find();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (argc < 2 || strcmp(argv[1], cases[i].name) != 0)
			continue;
		cases[i].run(argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "");
		if (share)
			share->attached = 1;
		return 7;
	}
	return 6;
}
