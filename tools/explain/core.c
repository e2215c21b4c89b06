/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-explain --core: what a program waited for when a core was made of it. A core has the memory that the program
 * shared with its rdmaez-explain, and so what all processes of the command had kept by then.
 */
#include "core.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "judge.h"

enum {
	NOTES_MOST = 64 << 20, /* bytes: a core may name very many files */
	PAGE_MOST = 65536
};

struct core {
	const char *name;
	int file;
	ElfW(Phdr) * segment;
	unsigned int segments;
	struct explain_share *share;
	struct explain_rows *rows;
	bool is_left_out; /* a mapping is there, and its bytes are not */
};

static bool fail(const struct core *core, const char *why)
{
	fprintf(stderr, "rdmaez-explain: %s: %s\n", core->name, why);
	return false;
}

static bool read_at(const struct core *core, void *to, size_t size, uint64_t from)
{
	for (size_t got = 0; got < size;) {
		const ssize_t n =
			pread(core->file, (char *)to + got, size - got, (off_t)(from + got));

		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

static bool read_segments(struct core *core)
{
	ElfW(Ehdr) head;

	if (!read_at(core, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return fail(core, "this is no core file; if systemd-coredump has it: coredumpctl "
				  "--output=core dump PID");
	if (head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    head.e_type != ET_CORE || head.e_phentsize != sizeof(*core->segment))
		return fail(core, "this is no core file of this kind of machine");
	core->segments = head.e_phnum;
	core->segment = (ElfW(Phdr) *)calloc(core->segments + 1u, sizeof(*core->segment));
	if (!core->segment ||
	    !read_at(core, core->segment, core->segments * sizeof(*core->segment), head.e_phoff))
		return fail(core, "it is cut off");
	return true;
}

/* The bytes of a mapping; NULL: they are not in the core. */
static void *read_mapping(struct core *core, uint64_t start, size_t size)
{
	void *bytes;

	for (unsigned int i = 0; i < core->segments; i++) {
		const ElfW(Phdr) *const s = &core->segment[i];

		if (s->p_type != PT_LOAD || s->p_vaddr > start || s->p_filesz < size ||
		    start - s->p_vaddr > s->p_filesz - size)
			continue;
		bytes = malloc(size);
		if (bytes && read_at(core, bytes, size, s->p_offset + (start - s->p_vaddr)))
			return bytes;
		free(bytes);
	}
	core->is_left_out = true;
	return NULL;
}

/* In whole pages, whose size a core of gdb's does not have. */
static bool is_size(uint64_t bytes, size_t of)
{
	return bytes >= of && bytes - of < PAGE_MOST;
}

/* NT_FILE: a count, the size of a page, three numbers for each mapping, and then the names. */
static void take_files(struct core *core, const unsigned char *note, size_t size)
{
	const char *name, *const end = (const char *)note + size;
	unsigned long head[2], mapping[3];

	if (size < sizeof(head))
		return;
	memcpy(head, note, sizeof(head));
	if (head[0] > (size - sizeof(head)) / sizeof(mapping))
		return;
	name = (const char *)note + sizeof(head) + head[0] * sizeof(mapping);
	for (unsigned long i = 0; i < head[0] && name < end; i++) {
		const size_t length = strnlen(name, (size_t)(end - name));
		uint64_t bytes;

		memcpy(mapping, note + sizeof(head) + i * sizeof(mapping), sizeof(mapping));
		bytes = mapping[1] - mapping[0];
		if (length >= 21 && memcmp(name, "/memfd:rdmaez-explain", 21) == 0 && !mapping[2]) {
			if (!core->share && is_size(bytes, sizeof(*core->share)))
				core->share = (struct explain_share *)read_mapping(
					core, mapping[0], sizeof(*core->share));
			else if (!core->rows && is_size(bytes, sizeof(*core->rows)))
				core->rows = (struct explain_rows *)read_mapping(
					core, mapping[0], sizeof(*core->rows));
		}
		name += length + 1;
	}
}

static void take_notes(struct core *core, const unsigned char *notes, size_t size)
{
	ElfW(Nhdr) head;
	size_t at = 0;

	while (size - at >= sizeof(head)) {
		size_t name, text;

		memcpy(&head, notes + at, sizeof(head));
		at += sizeof(head);
		name = ((size_t)head.n_namesz + 3) / 4 * 4;
		text = ((size_t)head.n_descsz + 3) / 4 * 4;
		if (name > size - at || text > size - at - name)
			return;
		if (head.n_type == NT_FILE)
			take_files(core, notes + at + name, head.n_descsz);
		at += name + text;
	}
}

static bool find_memory(struct core *core)
{
	for (unsigned int i = 0; i < core->segments; i++) {
		const ElfW(Phdr) *const s = &core->segment[i];
		unsigned char *notes;

		if (s->p_type != PT_NOTE || !s->p_filesz || s->p_filesz > NOTES_MOST)
			continue;
		notes = (unsigned char *)malloc(s->p_filesz);
		if (notes && read_at(core, notes, s->p_filesz, s->p_offset))
			take_notes(core, notes, s->p_filesz);
		free(notes);
	}
	if (core->share && core->rows)
		return true;
	if (core->is_left_out)
		return fail(core, "it leaves shared memory out; before the next one: echo 0x33 "
				  ">/proc/PID/coredump_filter");
	if (core->share)
		return fail(core,
			    "the program ran without --waiting and --json, so nothing was kept");
	return fail(core, "the program did not run under this version of rdmaez-explain");
}

/* ---- What is seen of a machine of which nothing else is known -------------------------------------------------- */

static const struct explain_share *processes;
static uint64_t moment; /* CLOCK_MONOTONIC of that machine, at the earliest */

static uint64_t now_in_core(void)
{
	return moment;
}

static char state_in_core(int pid)
{
	for (int i = 0; i < EXPLAIN_PROCESSES; i++)
		if (processes->process[i].pid == pid)
			return processes->process[i].status || processes->process[i].exited ? '\0'
											    : 'R';
	return '\0';
}

static uint64_t time_in_core(int pid)
{
	(void)pid;
	return 0;
}

static bool thread_in_core(int pid, int tid)
{
	(void)tid;
	return state_in_core(pid) != '\0';
}

static bool read_in_core(const char *path, char *text, size_t size)
{
	(void)path;
	(void)text;
	(void)size;
	return false;
}

static uint64_t latest(const struct explain_rows *rows)
{
	uint64_t at = 0, since;

	for (unsigned int i = 0; i < EXPLAIN_CALL_ROWS; i++) {
		since = rows->call[i].since;
		at = rows->call[i].pid && since > at ? since : at;
	}
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++) {
		since = rows->qp[i].failed_at;
		at = rows->qp[i].row.pid && since > at ? since : at;
	}
	return at < UINT64_MAX / 2 ? at : 0;
}

int explain_core(const char *name, struct explain_output *output)
{
	struct core core = {.name = name, .file = open(name, O_RDONLY | O_CLOEXEC)};
	bool is_there;

	if (core.file < 0) {
		perror(name);
		return 1;
	}
	is_there = read_segments(&core) && find_memory(&core);
	free(core.segment);
	close(core.file);
	if (!is_there) {
		free(core.share);
		free(core.rows);
		return 1;
	}
	processes = core.share;
	explain_sight = (struct explain_sight){now_in_core, state_in_core, time_in_core,
					       thread_in_core, read_in_core};
	explain_judge_still = true;
	output->log = STDOUT_FILENO;
	explain_judge_begin(core.rows, core.share, 0);
	moment = latest(core.rows);
	explain_judge_take();
	/* Whatever was outstanding has waited for long enough to be told. */
	moment += UINT64_C(10000000000);
	explain_judge_failures(output);
	explain_judge_say(output, EXPLAIN_ASKED);
	return 0;
}
