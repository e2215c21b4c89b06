/* SPDX-License-Identifier: MIT */
/*
 * A program that was linked to a newer rdma-core wants versions of symbols that an older one lacks, and does not start:
 * libibverbs.so.1: version `IBVERBS_1.14' not found. Both files are read as they are: what the program wants stands in
 * its SHT_GNU_verneed, and what the library has in its SHT_GNU_verdef.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "summary.h"
#include "wants.h"

/* In which release each came: debian/libibverbs1.symbols and the like of rdma-core 65. */
static const struct {
	const char *version, *release;
} releases[] = {
	{"IBVERBS_1.5", "20"},  {"IBVERBS_1.6", "24"},  {"IBVERBS_1.7", "25"},
	{"IBVERBS_1.8", "28"},  {"IBVERBS_1.9", "30"},  {"IBVERBS_1.10", "31"},
	{"IBVERBS_1.11", "32"}, {"IBVERBS_1.12", "34"}, {"IBVERBS_1.13", "35"},
	{"IBVERBS_1.14", "36"}, {"IBVERBS_1.15", "59"}, {"IBVERBS_1.16", "62"},
	{"IBVERBS_1.17", "64"}, {"IBVERBS_1.18", "65"}, {"RDMACM_1.1", "16"},
	{"RDMACM_1.2", "23"},   {"RDMACM_1.3", "31"},   {"RDMACM_1.4", "60"},
	{"RDMACM_1.5", "61"},   {"MLX5_1.17", "33"},    {"MLX5_1.18", "34"},
	{"MLX5_1.19", "35"},    {"MLX5_1.20", "36"},    {"MLX5_1.21", "37"},
	{"MLX5_1.22", "38"},    {"MLX5_1.23", "40"},    {"MLX5_1.24", "42"},
	{"MLX5_1.25", "54"},    {"MLX5_1.26", "62"},    {"MLX5_1.27", "63"},
	{"EFA_1.2", "43"},      {"EFA_1.3", "50"},      {"EFA_1.4", "59"},
	{"EFA_1.5", "63"},      {"EFA_1.6", "64"},      {"EFA_1.7", "65"},
};

/* A file of this machine's own class and byte order; every place in it is checked before it is read. */
struct file {
	const unsigned char *at; /* NULL: it is none */
	size_t size;
};

static struct file open_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct file file = {0};
	struct stat is;
	void *at;

	if (fd < 0)
		return file;
	if (!fstat(fd, &is) && is.st_size > (off_t)sizeof(ElfW(Ehdr))) {
		at = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at != MAP_FAILED) {
			file.at = at;
			file.size = (size_t)is.st_size;
		}
	}
	close(fd);
	return file;
}

static void close_file(const struct file *file)
{
	if (file->at)
		munmap((void *)(uintptr_t)file->at, file->size);
}

static bool take(const struct file *file, uint64_t offset, void *to, size_t size)
{
	if (!file->at || offset > file->size || size > file->size - offset)
		return false;
	memcpy(to, file->at + offset, size);
	return true;
}

/* The section of this type, and the one that has its texts. */
static bool find_section(const struct file *file, uint32_t type, ElfW(Shdr) * section,
			 ElfW(Shdr) * texts)
{
	const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	ElfW(Ehdr) head;

	if (!take(file, 0, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != class || head.e_shentsize != sizeof(*section))
		return false;
	for (unsigned int i = 0; i < head.e_shnum; i++)
		if (take(file, head.e_shoff + (uint64_t)i * sizeof(*section), section,
			 sizeof(*section)) &&
		    section->sh_type == type)
			return take(file,
				    head.e_shoff + (uint64_t)section->sh_link * sizeof(*texts),
				    texts, sizeof(*texts));
	return false;
}

/* A text without what a terminal could take for more; false: there is none. */
static bool take_text(const struct file *file, const ElfW(Shdr) * texts, uint64_t at, char *to,
		      size_t size)
{
	const uint64_t offset = texts->sh_offset + at;
	size_t length;

	if (offset >= file->size)
		return false;
	length = strnlen((const char *)file->at + offset, file->size - offset);
	if (!length || length >= size || offset + length >= file->size)
		return false;
	memcpy(to, file->at + offset, length + 1);
	explain_make_word(to, size);
	return true;
}

/* Whether the library defines this version. */
static bool has_version(const struct file *library, const char *version)
{
	ElfW(Shdr) section, texts;
	ElfW(Verdaux) aux;
	ElfW(Verdef) def;
	char name[64];
	uint64_t at;

	if (!find_section(library, SHT_GNU_verdef, &section, &texts))
		return true; /* it cannot be known */
	at = section.sh_offset;
	for (unsigned int i = 0; i < 1000 && take(library, at, &def, sizeof(def)); i++) {
		if (take(library, at + def.vd_aux, &aux, sizeof(aux)) &&
		    take_text(library, &texts, aux.vda_name, name, sizeof(name)) &&
		    !strcmp(name, version))
			return true;
		if (!def.vd_next)
			return false;
		at += def.vd_next;
	}
	return true;
}

static void tell(const char *command, const char *library, const char *path, const char *version)
{
	const char *release = NULL;

	for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++)
		if (!strcmp(releases[i].version, version))
			release = releases[i].release;
	fprintf(stderr,
		"rdmaez-explain: %s wants %s of %s, which %s does not have, so it does not start. "
		"Next: install rdma-core %s%s, or build the program with the rdma-core of this "
		"system.\n",
		command, version, library, path,
		release ? release : "in the release it was built with", release ? " or newer" : "");
}

/* The file of a library, as the program finds it unless it brings its own. */
static struct file open_library(const char *name, char path[PATH_MAX])
{
	const struct file none = {0};
	void *const handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map = NULL;
	struct file file;

	if (!handle)
		return none;
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map || strlen(map->l_name) >= PATH_MAX) {
		dlclose(handle);
		return none;
	}
	strcpy(path, map->l_name);
	dlclose(handle);
	file = open_file(path);
	explain_make_plain(path, strlen(path), "");
	return file;
}

static bool is_rdma(const char *name)
{
	static const char *const names[] = {"libibverbs.so.", "librdmacm.so.", "libmlx5.so.",
					    "libefa.so."};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Of one library: all versions that are wanted, of which there are as many as `need` says. */
static unsigned int tell_need(const struct file *program, const ElfW(Shdr) * texts, uint64_t at,
			      const ElfW(Verneed) * need, const char *command)
{
	char name[64], version[64], path[PATH_MAX];
	unsigned int missing = 0;
	struct file library;
	ElfW(Vernaux) aux;

	if (!take_text(program, texts, need->vn_file, name, sizeof(name)) || !is_rdma(name))
		return 0;
	library = open_library(name, path);
	at += need->vn_aux;
	for (unsigned int i = 0; library.at && i < need->vn_cnt; i++) {
		if (!take(program, at, &aux, sizeof(aux)))
			break;
		if (!(aux.vna_flags & VER_FLG_WEAK) &&
		    take_text(program, texts, aux.vna_name, version, sizeof(version)) &&
		    !has_version(&library, version)) {
			tell(command, name, path, version);
			missing++;
		}
		at += aux.vna_next;
	}
	close_file(&library);
	return missing;
}

/* As execvp() finds it; false: nowhere. */
static bool find_program(const char *command, char path[PATH_MAX])
{
	const char *at = getenv("PATH");

	if (strchr(command, '/'))
		return snprintf(path, PATH_MAX, "%s", command) < PATH_MAX;
	while (at && *at) {
		const size_t length = strcspn(at, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)length, length ? at : ".", command) <
			    PATH_MAX &&
		    !access(path, X_OK))
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

unsigned int explain_tell_wants(const char *command)
{
	ElfW(Shdr) section, texts;
	unsigned int missing = 0;
	char path[PATH_MAX];
	ElfW(Verneed) need;
	struct file program;
	uint64_t at;

	if (!find_program(command, path))
		return 0;
	program = open_file(path);
	if (find_section(&program, SHT_GNU_verneed, &section, &texts)) {
		at = section.sh_offset;
		for (unsigned int i = 0; i < 1000 && take(&program, at, &need, sizeof(need)); i++) {
			missing += tell_need(&program, &texts, at, &need, command);
			if (!need.vn_next)
				break;
			at += need.vn_next;
		}
	}
	close_file(&program);
	return missing;
}
