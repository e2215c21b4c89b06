/* SPDX-License-Identifier: MIT */
/*
 * Makes a core for rdmaez-explain --core: core FILE CHANGE... What a program of two processes had shared when it ended: QP
 * 17 of process 10 waits for QP 18 of process 11, which expects another PSN. Each CHANGE is of the list in main().
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tools/explain/rows.h"
#include "../../tools/explain/share.h"

enum {
	PAGE = 4096,
	MOST = 65536, /* that a mapping may be longer than what is in it */
	SHARE_AT = 0x10000,
	ROWS_AT = 0x4000000
};

static struct explain_share share;
static struct explain_rows rows;
static ElfW(Ehdr) head;
static ElfW(Phdr) segment[3];
static unsigned char notes[2048];
static size_t notes_size;

/* What NT_FILE tells: for each mapping its start, its end and its offset, in pages; and its name. */
static struct {
	unsigned long start, end, offset;
	const char *name;
} mapping[3];
static unsigned long mappings, mappings_told;

static void make_rows(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct explain_qp_row *const qp = &rows.qp[i];

		share.process[i].pid = 10 + (int)i;
		snprintf(share.process[i].name, sizeof(share.process[i].name), "%s",
			 i ? "receiver" : "sender");
		qp->row.pid = 10 + (int)i;
		qp->row.version = 2;
		snprintf(qp->device, sizeof(qp->device), "mlx5_0");
		qp->qp_num = 17 + i;
		qp->dest_qp_num = 18 - i;
		qp->type = 2;
		qp->state = 3;
		qp->port = 1;
		qp->sq_psn = qp->rq_psn = 5;
		qp->has_gids = 1;
		qp->gid[15] = (uint8_t)(17 + i);
		qp->peer_gid[15] = (uint8_t)(18 - i);
		qp->send_cq = qp->recv_cq = 1 + i;
		rows.cq[i].row.pid = 10 + (int)i;
		rows.cq[i].row.version = 2;
		rows.cq[i].cqe = 64;
		rows.cq[i].polls = 3;
		rows.cq[i].channel = -1;
	}
	rows.qp[1].rq_psn = 6;
	rows.qp[1].recvs = 1;
	rows.qp[0].sends = rows.qp[0].signaled = 1;
	rows.qp[0].request[0].number = 1;
	rows.qp[0].request[0].opcode = 2;
	rows.qp[0].request[0].length = 64;
}

/* A thread has been in ibv_destroy_cq() since then. */
static void make_call(uint64_t since)
{
	rows.call[0].pid = rows.call[0].tid = 10;
	rows.call[0].verb = EXPLAIN_DESTROY_CQ;
	rows.call[0].of = 1;
	rows.call[0].since = since;
	rows.cq[0].events = 1;
}

/* A READ has failed, of a key that was deregistered a nanosecond before. */
static void make_failure(uint64_t at)
{
	rows.qp[0].errors = 1;
	rows.qp[0].request[0].opcode = 4;
	rows.qp[0].request[0].rkey = 0x222;
	rows.qp[0].failed_status = 10;
	rows.qp[0].failed_at = at;
	rows.qp[1].access = 7;
	rows.mr[0].row.pid = 11;
	rows.mr[0].row.version = 2;
	rows.mr[0].row.gone = 1;
	snprintf(rows.mr[0].device, sizeof(rows.mr[0].device), "mlx5_0");
	rows.mr[0].rkey = 0x222;
	rows.mr[0].length = 64;
	rows.mr[0].gone_at = at - 1;
}

static void add_note(uint32_t type, const char *name, const void *text, uint32_t size)
{
	const ElfW(Nhdr) note = {(uint32_t)strlen(name) + 1, size, type};

	memcpy(notes + notes_size, &note, sizeof(note));
	notes_size += sizeof(note);
	memcpy(notes + notes_size, name, note.n_namesz);
	notes_size += (note.n_namesz + 3) / 4 * 4;
	memcpy(notes + notes_size, text, size);
	notes_size += (size + 3) / 4 * 4;
}

static void add_files(void)
{
	unsigned long numbers[2 + 3 * 3] = {mappings_told, PAGE};
	unsigned char text[512];
	size_t size = (2 + 3 * mappings) * sizeof(numbers[0]);

	for (unsigned long i = 0; i < mappings; i++) {
		numbers[2 + 3 * i] = mapping[i].start;
		numbers[3 + 3 * i] = mapping[i].end;
		numbers[4 + 3 * i] = mapping[i].offset;
	}
	memcpy(text, numbers, size);
	for (unsigned long i = 0; i < mappings; i++) {
		memcpy(text + size, mapping[i].name, strlen(mapping[i].name) + 1);
		size += strlen(mapping[i].name) + 1;
	}
	add_note(NT_FILE, "CORE", text, (uint32_t)size);
}

static void put(int file, const void *from, size_t size, size_t at)
{
	if (pwrite(file, from, size, (off_t)at) != (ssize_t)size) {
		perror("core");
		exit(1);
	}
}

int main(int argc, char *argv[])
{
	static const char memory[] = "/memfd:rdmaez-explain (deleted)";
	const size_t share_at = 8 * PAGE,
		     rows_at = share_at + sizeof(share) / PAGE * PAGE + 2 * PAGE;
	size_t length = rows_at + sizeof(rows);
	bool has_notes = true;
	int file;

	if (argc < 2 || (file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) < 0)
		return 1;
	make_rows();
	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	head.e_type = ET_CORE;
	head.e_phentsize = sizeof(segment[0]);
	head.e_phnum = 3;
	head.e_phoff = sizeof(head);
	segment[0].p_type = PT_NOTE;
	segment[0].p_offset = PAGE;
	segment[1] = (ElfW(Phdr)){.p_type = PT_LOAD,
				  .p_offset = share_at,
				  .p_vaddr = SHARE_AT,
				  .p_filesz = sizeof(share)};
	segment[2] = (ElfW(Phdr)){.p_type = PT_LOAD,
				  .p_offset = rows_at,
				  .p_vaddr = ROWS_AT,
				  .p_filesz = sizeof(rows)};
	mappings = mappings_told = 3;
	mapping[0].name = "/usr/lib/libibverbs.so.1";
	mapping[1].start = SHARE_AT;
	mapping[1].end = SHARE_AT + sizeof(share);
	mapping[2].start = ROWS_AT;
	mapping[2].end = ROWS_AT + sizeof(rows);
	mapping[1].name = mapping[2].name = memory;
	for (int i = 2; i < argc; i++) {
		const char *const change = argv[i];

		if (!strcmp(change, "class"))
			head.e_ident[EI_CLASS] ^= ELFCLASS32 ^ ELFCLASS64;
		else if (!strcmp(change, "type"))
			head.e_type = ET_EXEC;
		else if (!strcmp(change, "entries"))
			head.e_phentsize--;
		else if (!strcmp(change, "no-notes"))
			has_notes = false;
		else if (!strcmp(change, "other-note"))
			add_note(NT_PRSTATUS, "LINUX!", "twelve bytes", 13);
		else if (!strcmp(change, "short-note"))
			add_note(NT_FILE, "CORE", "eight...", 8);
		else if (!strcmp(change, "long-note"))
			add_note(NT_FILE, "CORE", "", 1), notes[4] = 200;
		else if (!strcmp(change, "more-mappings"))
			mappings_told = 1000;
		else if (!strcmp(change, "without-rows"))
			mappings = mappings_told = 2;
		else if (!strcmp(change, "other-name"))
			mapping[1].name = "/memfd:rdmaez-explaim (deleted)";
		else if (!strcmp(change, "short-name"))
			mapping[1].name = "/memfd:rdmaez-explai";
		else if (!strcmp(change, "from-the-middle"))
			mapping[1].offset = 1;
		else if (!strcmp(change, "just-short-enough"))
			mapping[1].end += MOST - 1, mapping[2].end += PAGE;
		else if (!strcmp(change, "too-long"))
			mapping[1].end += MOST;
		else if (!strcmp(change, "too-short"))
			mapping[2].end--;
		else if (!strcmp(change, "within"))
			segment[2].p_offset -= PAGE, segment[2].p_vaddr -= PAGE,
				segment[2].p_filesz += PAGE;
		else if (!strcmp(change, "left-out"))
			segment[2].p_filesz = 0;
		else if (!strcmp(change, "short-by-one"))
			segment[2].p_filesz--;
		else if (!strcmp(change, "elsewhere"))
			segment[2].p_vaddr++;
		else if (!strcmp(change, "no-load"))
			segment[2].p_type = PT_NULL;
		else if (!strcmp(change, "cut-off"))
			length--;
		else if (!strcmp(change, "cut-headers"))
			length = sizeof(head) + sizeof(segment) - 1;
		else if (!strcmp(change, "cut-notes"))
			length = PAGE + 8;
		else if (!strcmp(change, "ended"))
			share.process[1].status = 1 + 9;
		else if (!strcmp(change, "exited"))
			share.process[1].exited = 1;
		else if (!strcmp(change, "unknown"))
			share.process[1].pid = 12;
		else if (!strcmp(change, "call"))
			make_call(UINT64_C(5000000000));
		else if (!strcmp(change, "forged-call"))
			make_call(UINT64_MAX - 1);
		else if (!strcmp(change, "failure"))
			make_failure(UINT64_C(7000000000));
		else
			return 2;
	}
	if (has_notes)
		add_files();
	segment[0].p_filesz = notes_size;
	put(file, &head, sizeof(head), 0);
	put(file, segment, sizeof(segment), sizeof(head));
	put(file, notes, notes_size, PAGE);
	put(file, &share, sizeof(share), share_at);
	put(file, &rows, sizeof(rows), rows_at);
	if (ftruncate(file, (off_t)length))
		return 1;
	return close(file) != 0;
}
