/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez-explain's launcher reads of the memory that it shares with the command, under libFuzzer: bytes of the input
 * anywhere in what is plausible otherwise, and now and then another thread that goes on writing meanwhile. Whatever it
 * is, the launcher writes lines of plain text, and its summaries are JSON.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record.h"
#include "must.h"

/*
 * One poke: what is written, and where: into the record of a process, a finding of it, a text that waits, or anywhere;
 * into the row of a queue pair, a completion queue, a call, a region, a shared receive queue or an address handle.
 */
struct poke {
	uint8_t place, which, length;
	uint8_t at[3];
	uint8_t bytes[8];
};

/* Which defect of the copies of the launcher's units is wanted; 0: none. */
extern int explain_defect;
int explain_defect;

static struct explain_share *share;
static struct explain_rows *kept;
static uint64_t clock_now;
static const uint8_t *input;
static size_t input_size;
static atomic_bool is_over;

static void poke(const struct poke *poke)
{
	struct explain_process *const process = &share->process[poke->which % 4];
	struct explain_waiting *const waiting = &share->waiting[poke->which % 4];
	size_t at = (size_t)poke->at[0] << 16 | (size_t)poke->at[1] << 8 | poke->at[2];
	const size_t length = poke->length % 32;
	uint8_t *place;
	size_t size;

	switch (poke->place % 8 < 7 ? poke->place % 8 : 7 + poke->place / 8 % 3) {
	case 0:
		place = (uint8_t *)process;
		size = offsetof(struct explain_process, count);
		break;
	case 1:
		place = (uint8_t *)&process->count[poke->at[2] % EXPLAIN_COUNTS];
		size = sizeof(process->count[0]);
		break;
	case 2:
		place = (uint8_t *)waiting;
		size = offsetof(struct explain_waiting, bytes) + 16;
		break;
	case 4:
		place = (uint8_t *)&kept->qp[poke->which % 4];
		size = sizeof(kept->qp[0]);
		break;
	case 5:
		place = (uint8_t *)&kept->cq[poke->which % 4];
		size = sizeof(kept->cq[0]);
		break;
	case 7:
		place = (uint8_t *)&kept->mr[poke->which % 4];
		size = sizeof(kept->mr[0]);
		break;
	case 8:
		place = (uint8_t *)&kept->srq[poke->which % 4];
		size = sizeof(kept->srq[0]);
		break;
	case 9:
		place = (uint8_t *)&kept->ah[poke->which % 4];
		size = sizeof(kept->ah[0]);
		break;
	case 6:
		place = (uint8_t *)&kept->call[poke->which % 4];
		size = sizeof(kept->call[0]);
		break;
	default:
		place = (uint8_t *)share;
		size = sizeof(*share);
	}
	at %= size;
	for (size_t i = 0; i < length && at + i < size; i++)
		place[at + i] = poke->bytes[i % sizeof(poke->bytes)];
}

static void poke_all(void)
{
	struct poke each;

	for (size_t at = 1; at + sizeof(each) <= input_size; at += sizeof(each)) {
		memcpy(&each, input + at, sizeof(each));
		poke(&each);
	}
}

static void *go_on(void *unused)
{
	while (!is_over)
		poke_all();
	return unused;
}

static void make_plausible(void)
{
	static uint32_t endings;

	memset(share, 0, sizeof(*share));
	share->attached = 1;
	for (int i = 0; i < 4; i++) {
		struct explain_process *const process = &share->process[i];
		struct explain_waiting *const waiting = &share->waiting[i];

		process->pid = 10 + i;
		memcpy(process->name, "program", 8);
		process->findings[0] = 2;
		memcpy(process->doing.verb, "ibv_destroy_qp", 15);
		memcpy(process->doing.object, "QP", 3);
		process->doing.inside = 1;
		process->ending = ++endings;
		process->status = 1 + (uint32_t)(i % 2 ? SIGKILL : SIGSEGV);
		for (int k = 0; k < 3; k++) {
			process->count[k].times = 2;
			process->count[k].kind = (uint32_t)k;
			memcpy(process->count[k].label, "ibv_modify_qp EINVAL", 21);
		}
		waiting->state = i % 2 ? EXPLAIN_READY : EXPLAIN_HELD;
		waiting->process = (uint32_t)i;
		waiting->text = waiting->json = 3;
		memcpy(waiting->bytes, "ab\n{}\n", 7);
	}
}

/* Two pairs of queue pairs that wait for each other, their completion queues, and calls that do not return. */
static void make_rows_plausible(void)
{
	memset(kept->qp, 0, 4 * sizeof(kept->qp[0]));
	memset(kept->cq, 0, 4 * sizeof(kept->cq[0]));
	memset(kept->call, 0, 4 * sizeof(kept->call[0]));
	memset(kept->mr, 0, 4 * sizeof(kept->mr[0]));
	memset(kept->srq, 0, 4 * sizeof(kept->srq[0]));
	memset(kept->ah, 0, 4 * sizeof(kept->ah[0]));
	for (uint32_t i = 0; i < 4; i++) {
		struct explain_qp_row *const qp = &kept->qp[i];
		struct explain_cq_row *const cq = &kept->cq[i];

		qp->row.pid = cq->row.pid = (int)(10 + i);
		qp->row.version = cq->row.version = 2;
		memcpy(qp->device, "rxe0", 5);
		qp->qp_num = 17 + i;
		qp->dest_qp_num = 17 + (i ^ 1);
		qp->type = i < 2 ? 2 : 4;
		qp->state = 3;
		qp->send_cq = qp->recv_cq = i + 1;
		qp->has_gids = 1;
		qp->port = 1;
		qp->sends = qp->signaled = qp->recvs = 3;
		qp->request[0].number = 1;
		qp->request[0].opcode = 2;
		qp->request[0].ah = i;
		qp->srq = i / 2 ? i : 0;
		qp->mask = 0x1fffff;
		qp->path_mtu = qp->active_mtu = 3;
		/* Every other one has failed, of a region that is gone. */
		qp->failed_at = i % 2 ? clock_now : 0;
		qp->failed_status = i < 2 ? 10 : 4;
		kept->mr[i].row.pid = (int)(10 + i);
		kept->mr[i].row.version = 2;
		kept->mr[i].gone_at = i % 2;
		memcpy(kept->mr[i].device, "rxe0", 5);
		kept->mr[i].row.gone = i % 2;
		kept->srq[i].row.pid = kept->ah[i].row.pid = (int)(10 + i);
		kept->srq[i].row.version = kept->ah[i].row.version = 2;
		memcpy(kept->srq[i].device, "rxe0", 5);
		kept->ah[i].ah = i;
		kept->ah[i].has_gids = 1;
		cq->polls = cq->armed = 5;
		cq->cqe = 1;
		kept->call[i].pid = kept->call[i].tid = (int)(10 + i);
		kept->call[i].verb = i + 1;
		kept->call[i].of = i + 1;
	}
}

/* Whatever is asked of the machine: nothing of it depends on where the test runs. */
static uint64_t clock_of_test(void)
{
	return clock_now;
}

static char state_in_test(int pid)
{
	return pid % 3 ? 'S' : '\0';
}

static uint64_t time_in_test(int pid)
{
	(void)pid;
	return 0;
}

static bool thread_in_test(int pid, int tid)
{
	return pid == tid;
}

static bool read_in_test(const char *path, char *text, size_t size)
{
	/* A device's name is one file's, and none of those that lead elsewhere. */
	must(path[0] != '.' && strchr(path, '/') &&
	     (!strncmp(strchr(path, '/'), "/ports/", 7) || !strcmp(strchr(path, '/'), "/fw_ver")));
	for (const char *at = path; *at; at++)
		must(*at > ' ' && *at <= '~');
	snprintf(text, size, "%u", (unsigned int)(clock_now / 1000000000));
	return true;
}

static void judge(const struct explain_output *output)
{
	for (int i = 0; i < 4; i++) {
		clock_now += UINT64_C(1000000000);
		kept->cq[i].polls++;
		explain_judge_look(output);
		explain_record_look(output);
	}
	explain_judge_say(output, EXPLAIN_ASKED);
	explain_judge_say(output, EXPLAIN_SIGNAL);
	explain_record_ended(10, 0);
	explain_judge_say(output, EXPLAIN_AT_END);
	explain_judge_end(output, true);
}

/* What was written, which ends with 0. */
static const char *written(int file)
{
	static char text[4 << 20];
	const ssize_t length = pread(file, text, sizeof(text) - 1, 0);

	must(length >= 0 && length < (ssize_t)sizeof(text) - 1);
	text[length] = '\0';
	must(strlen(text) == (size_t)length);
	for (const char *at = text; *at; at++)
		must(*at == '\n' || (*at >= ' ' && *at <= '~'));
	must(!ftruncate(file, 0) && lseek(file, 0, SEEK_SET) == 0);
	return text;
}

/* Lines, and each an object; no string has a quotation mark or a backslash in it. */
static void must_be_json(const char *text)
{
	int depth = 0;
	bool quoted = false;

	for (; *text; text++) {
		must(*text != '\\');
		if (*text == '"')
			quoted = !quoted;
		if (!quoted && (*text == '{' || *text == '['))
			depth++;
		if (!quoted && (*text == '}' || *text == ']'))
			depth--;
		must(*text == '\n' ? !depth && !quoted : depth > 0 || *text == '}');
	}
	must(!depth && !quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct explain_output output = {.summary = true, .log = -1, .json = -1};
	const bool by_thread = size && data[0] % 16 == 0;
	pthread_t thread;

	if (!share) {
		explain_defect = getenv("DEFECT") ? atoi(getenv("DEFECT")) : 0;
		share = malloc(sizeof(*share));
		kept = calloc(1, sizeof(*kept));
		must(share && kept);
		clock_now = UINT64_C(1000000000);
		explain_sight = (struct explain_sight){clock_of_test, state_in_test, time_in_test,
						       thread_in_test, read_in_test};
		explain_judge_begin(kept, share, 2);
		explain_record_begin(share);
		output.log = memfd_create("log", 0);
		output.json = memfd_create("json", 0);
		must(output.log >= 0 && output.json >= 0);
	}
	input = data;
	input_size = size;
	output.line = size % 2;
	make_plausible();
	make_rows_plausible();
	poke_all();
	is_over = false;
	if (by_thread)
		must(!pthread_create(&thread, NULL, go_on, NULL));
	explain_write_waiting(share, &output, false);
	explain_write_waiting(share, &output, true);
	written(output.json);
	judge(&output);
	must_be_json(written(output.json));
	explain_write_summaries(share, &output, "command");
	explain_ends_first(share, 10, SIGSEGV);
	explain_write_ends(share, &output, false, false);
	explain_write_ends(share, &output, true, true);
	is_over = true;
	if (by_thread)
		must(!pthread_join(thread, NULL));
	written(output.log);
	must_be_json(written(output.json));
	return 0;
}
