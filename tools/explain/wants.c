/* SPDX-License-Identifier: MIT */
/*
 * A program that was linked to a newer rdma-core wants versions of symbols that an older one lacks, and does not start:
 * libibverbs.so.1: version `IBVERBS_1.14' not found. So it is if a library of the program wants them. All files are read
 * as they are: what one wants stands in its SHT_GNU_verneed, and what a library has in its SHT_GNU_verdef. Which files
 * they are, the program's own dynamic linker lists, which runs nothing of them.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* The libraries that a program is loaded with, in the lines of its dynamic linker. */
struct loaded {
	char text[1 << 16]; /* cut by zeros */
	struct {
		const char *name, *path;
	} row[512];
	unsigned int count;
};

/* The path of the dynamic linker; false: the program needs none. */
static bool find_linker(const struct file *file, char path[PATH_MAX])
{
	ElfW(Ehdr) head;
	ElfW(Phdr) part;

	if (!take(file, 0, &head, sizeof(head)) || head.e_phentsize != sizeof(part))
		return false;
	for (unsigned int i = 0; i < head.e_phnum; i++)
		if (take(file, head.e_phoff + (uint64_t)i * sizeof(part), &part, sizeof(part)) &&
		    part.p_type == PT_INTERP)
			return part.p_filesz && part.p_filesz <= PATH_MAX &&
			       take(file, part.p_offset, path, part.p_filesz) &&
			       !path[part.p_filesz - 1];
	return false;
}

/* What `LINKER --list PROGRAM` prints, which loads all and runs nothing but the linker itself. */
static void list(const char *linker, const char *program, char *text, size_t size)
{
	sigset_t none;
	size_t length = 0;
	ssize_t got = 1;
	int ends[2];
	pid_t child;

	text[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return;
	child = fork();
	if (!child) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		alarm(10);
		dup2(ends[1], STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		execl(linker, linker, "--list", program, (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	while (child > 0 && got > 0 && length < size - 1) {
		got = read(ends[0], text + length, size - 1 - length);
		length += got > 0 ? (size_t)got : 0;
	}
	text[length] = '\0';
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* A line is "NAME => PATH (ADDRESS)", or "PATH (ADDRESS)". */
static void read_list(struct loaded *loaded)
{
	char *rest = loaded->text, *line, *arrow, *end;

	while ((line = strsep(&rest, "\n")) && loaded->count < 512) {
		line += strspn(line, "\t ");
		end = strstr(line, " (0x");
		if (!end)
			continue;
		*end = '\0';
		arrow = strstr(line, " => ");
		if (arrow)
			*arrow = '\0';
		loaded->row[loaded->count].path = arrow ? arrow + strlen(" => ") : line;
		arrow = strrchr(line, '/');
		loaded->row[loaded->count++].name = arrow ? arrow + 1 : line;
	}
}

/* Who wants it: the program, or one of its libraries. */
struct wanting {
	const char *command, *path; /* NULL: the program itself */
	const struct loaded *loaded;
};

static void tell(const struct wanting *who, const char *library, const char *path,
		 const char *version)
{
	const bool is_private = strstr(version, "_PRIVATE_") != NULL;
	const char *release = NULL, *what = "the program";
	char loads[PATH_MAX + 16] = "";

	for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++)
		if (!strcmp(releases[i].version, version))
			release = releases[i].release;
	if (who->path) {
		snprintf(loads, sizeof(loads), " loads %s, which", who->path);
		explain_make_plain(loads, strlen(loads), "");
		what = "that library";
	}
	fprintf(stderr,
		"rdmaez-explain: %s%s wants %s of %s, which %s does not have, so it does not "
		"start. Next: ",
		who->command, loads, version, library, path);
	/* Each release has the private ones of its own interface alone. */
	if (is_private)
		fprintf(stderr,
			"install libibverbs and %s from one release of rdma-core; see "
			"LD_LIBRARY_PATH, and which rdma-core conda or a wheel brings along.\n",
			what);
	else
		fprintf(stderr,
			"install rdma-core %s%s, or build %s with the rdma-core of this system.\n",
			release ? release : "in the release it was built with",
			release ? " or newer" : "", what);
}

/* The file of a library, as the program finds it; unless that is known, as any program does. */
static struct file open_library(const struct loaded *loaded, const char *name, char path[PATH_MAX])
{
	const struct file none = {0};
	struct link_map *map = NULL;
	struct file file;
	void *handle = NULL;

	path[0] = '\0';
	for (unsigned int i = 0; i < loaded->count; i++)
		if (!strcmp(loaded->row[i].name, name))
			snprintf(path, PATH_MAX, "%s", loaded->row[i].path);
	if (!path[0]) {
		handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
		if (!handle)
			return none;
		if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map)
			snprintf(path, PATH_MAX, "%s", map->l_name);
		dlclose(handle);
	}
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
static unsigned int tell_need(const struct file *wants, const ElfW(Shdr) * texts, uint64_t at,
			      const ElfW(Verneed) * need, const struct wanting *who)
{
	char name[64], version[64], path[PATH_MAX];
	unsigned int missing = 0;
	struct file library;
	ElfW(Vernaux) aux;

	if (!take_text(wants, texts, need->vn_file, name, sizeof(name)) || !is_rdma(name))
		return 0;
	library = open_library(who->loaded, name, path);
	at += need->vn_aux;
	for (unsigned int i = 0; library.at && i < need->vn_cnt; i++) {
		if (!take(wants, at, &aux, sizeof(aux)))
			break;
		if (!(aux.vna_flags & VER_FLG_WEAK) &&
		    take_text(wants, texts, aux.vna_name, version, sizeof(version)) &&
		    !has_version(&library, version)) {
			tell(who, name, path, version);
			missing++;
		}
		at += aux.vna_next;
	}
	close_file(&library);
	return missing;
}

/* Of one file: what it wants of all libraries of RDMA. */
static unsigned int tell_file(const struct file *wants, const struct wanting *who)
{
	ElfW(Shdr) section, texts;
	unsigned int missing = 0;
	ElfW(Verneed) need;
	uint64_t at;

	if (!find_section(wants, SHT_GNU_verneed, &section, &texts))
		return 0;
	at = section.sh_offset;
	for (unsigned int i = 0; i < 1000 && take(wants, at, &need, sizeof(need)); i++) {
		missing += tell_need(wants, &texts, at, &need, who);
		if (!need.vn_next)
			break;
		at += need.vn_next;
	}
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

		if (snprintf(path, PATH_MAX, "%.*s/%s", length ? (int)length : 1, length ? at : ".",
			     command) < PATH_MAX &&
		    !access(path, X_OK))
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

unsigned int explain_tell_wants(const char *command)
{
	static struct loaded loaded;
	struct wanting who = {.command = command, .loaded = &loaded};
	char path[PATH_MAX], linker[PATH_MAX];
	unsigned int missing;
	struct file file;

	if (!find_program(command, path))
		return 0;
	file = open_file(path);
	if (find_linker(&file, linker)) {
		list(linker, path, loaded.text, sizeof(loaded.text));
		read_list(&loaded);
	}
	missing = tell_file(&file, &who);
	close_file(&file);
	for (unsigned int i = 0; i < loaded.count; i++) {
		who.path = loaded.row[i].path;
		file = open_file(who.path);
		missing += tell_file(&file, &who);
		close_file(&file);
	}
	return missing;
}
