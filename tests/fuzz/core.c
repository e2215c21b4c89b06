/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez-explain --core reads of a core, under libFuzzer: a core that has what it looks for, of which the input
 * changes bytes of the headers and of the notes, and how long the file is. What is in the memory that it finds is another
 * target's, explain_share.
 */
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>

#include "../../tools/explain/core.c"

#include "must.h"

/* Three bytes of the input change one: where, and to what. The first byte of all says whether the file is cut off. */
enum {
	CHANGE = 3,
	PAGE = 4096,
	SHARE_AT = 0x10000,
	ROWS_AT = 0x1000000,
	WHOLE = PAGE + ROWS_AT + PAGE + (int)sizeof(struct explain_rows)
};

static const char memory_name[] = "/memfd:rdmaez-explain (deleted)";

/* The beginning of the file. What it looks for lies behind it: zeros. */
static struct __attribute__((packed)) {
	ElfW(Ehdr) head;
	ElfW(Phdr) segment[3];
	ElfW(Nhdr) note;
	char owner[8];
	unsigned long files[2 + 2 * 3];
	char names[2 * sizeof(memory_name)];
} begin;

/* ---- In the place of the judge ------------------------------------------------------------------------------- */

struct explain_sight explain_sight;
bool explain_judge_still;
static const struct explain_rows *found_rows;
static const struct explain_share *found_share;
static unsigned int times_found;

/* All of both is there. */
void explain_judge_begin(const struct explain_rows *rows, const struct explain_share *share,
			 unsigned int seconds)
{
	(void)seconds;
	must(rows && share);
	must(((const volatile char *)rows)[sizeof(*rows) - 1] == 0);
	must(((const volatile char *)share)[sizeof(*share) - 1] == 0);
	found_rows = rows;
	found_share = share;
	times_found++;
}

void explain_judge_take(void)
{
}

void explain_judge_failures(const struct explain_output *output)
{
	(void)output;
}

void explain_judge_say(const struct explain_output *output, enum explain_occasion occasion)
{
	(void)output;
	(void)occasion;
	free((void *)(uintptr_t)found_rows);
	free((void *)(uintptr_t)found_share);
}

/* ---- The core -------------------------------------------------------------------------------------------------- */

static void mapping(unsigned int which, unsigned long start, size_t size)
{
	const size_t pages = (size + PAGE - 1) / PAGE * PAGE;

	begin.segment[1 + which].p_type = PT_LOAD;
	begin.segment[1 + which].p_vaddr = start;
	begin.segment[1 + which].p_offset = PAGE + start;
	begin.segment[1 + which].p_filesz = pages;
	begin.files[2 + 3 * which] = start;
	begin.files[3 + 3 * which] = start + pages;
	memcpy(begin.names + which * sizeof(memory_name), memory_name, sizeof(memory_name));
}

static void make_whole(void)
{
	memset(&begin, 0, sizeof(begin));
	memcpy(begin.head.e_ident, ELFMAG, SELFMAG);
	begin.head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	begin.head.e_type = ET_CORE;
	begin.head.e_phentsize = sizeof(begin.segment[0]);
	begin.head.e_phnum = 3;
	begin.head.e_phoff = offsetof(__typeof__(begin), segment);
	begin.segment[0].p_type = PT_NOTE;
	begin.segment[0].p_offset = offsetof(__typeof__(begin), note);
	begin.segment[0].p_filesz = sizeof(begin) - offsetof(__typeof__(begin), note);
	begin.note.n_namesz = 5;
	begin.note.n_descsz = sizeof(begin.files) + sizeof(begin.names);
	begin.note.n_type = NT_FILE;
	memcpy(begin.owner, "CORE", 5);
	begin.files[0] = 2;
	begin.files[1] = PAGE;
	mapping(0, SHARE_AT, sizeof(struct explain_share));
	mapping(1, ROWS_AT, sizeof(struct explain_rows));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	struct explain_output output;
	char name[32];

	if (file < 0)
		file = memfd_create("core", MFD_CLOEXEC);
	must(file >= 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	memset(&output, 0, sizeof(output));
	make_whole();
	for (size_t at = 1; at + CHANGE <= size; at += CHANGE)
		((uint8_t *)&begin)[((size_t)data[at] << 8 | data[at + 1]) % sizeof(begin)] =
			data[at + 2];
	must(pwrite(file, &begin, sizeof(begin), 0) == sizeof(begin));
	must(!ftruncate(file, size && data[0] & 1 ? 4 * data[0] : WHOLE));
	times_found = 0;
	must(explain_core(name, &output) == (times_found == 0));
	must(size > CHANGE || (size && data[0] & 1) || times_found == 1);
	return 0;
}
