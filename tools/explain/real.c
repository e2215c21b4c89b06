/* SPDX-License-Identifier: MIT */
/*
 * Finds the functions that the shared object stands in front of, and answers dlsym() and dlvsym(), by which many
 * programs find theirs: with a wrapper, if the library has such a function.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "explain.h"
#include "share.h"

/*
 * ---- Symbols of an object, without the dynamic linker's help ----------------------------------------
 *
 * Who calls dlsym() first may be a sanitizer that is not ready yet, but stands in front of the C library. So what finds
 * the real one calls no function of it.
 */

struct symbols {
	ElfW(Addr) base;
	const ElfW(Sym) * symbol;
	const char *string;
	const uint32_t *hash;
	const ElfW(Half) * version; /* NULL: it has none */
};

/* Most dynamic linkers have relocated these addresses in place. */
static const void *relocated(ElfW(Addr) base, ElfW(Addr) address)
{
	return (const void *)(address < base ? address + base : address);
}

static bool symbols_of(struct symbols *of, ElfW(Addr) base, const ElfW(Dyn) * entry)
{
	*of = (struct symbols){.base = base};
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *const at = relocated(base, entry->d_un.d_ptr);

		if (entry->d_tag == DT_SYMTAB)
			of->symbol = at;
		else if (entry->d_tag == DT_STRTAB)
			of->string = at;
		else if (entry->d_tag == DT_GNU_HASH)
			of->hash = at;
		else if (entry->d_tag == DT_VERSYM)
			of->version = at;
	}
	return of->symbol && of->string && of->hash;
}

/* How much of a word a text begins with. */
static size_t shared(const char *text, const char *word)
{
	size_t i = 0;

	while (word[i] && text[i] == word[i])
		i++;
	return i;
}

/* Whether it is of an older version than the one that new programs get. */
static bool is_old(const struct symbols *in, uint32_t at)
{
	return in->version && in->version[at] & 0x8000;
}

/* The address of a function that the object defines; 0 if it does not. */
static uintptr_t symbol_in(const struct symbols *in, const char *name)
{
	const uint32_t buckets = in->hash[0], first = in->hash[1], bloom = in->hash[2];
	const uint32_t *const bucket =
		(const uint32_t *)(const void *)((const ElfW(Addr) *)(const void *)(in->hash + 4) +
						 bloom);
	uint32_t hash = 5381, at;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	at = buckets ? bucket[hash % buckets] : 0;
	for (; at >= first && at; at++) {
		const uint32_t its = bucket[buckets + at - first];
		const char *const its_name = in->string + in->symbol[at].st_name;
		const size_t length = shared(its_name, name);

		if ((its | 1) == (hash | 1) && in->symbol[at].st_shndx != SHN_UNDEF &&
		    !its_name[length] && !name[length] && !is_old(in, at))
			return in->base + in->symbol[at].st_value;
		if (its & 1)
			break;
	}
	return 0;
}

/* ---- The real dlsym() and dlvsym() ------------------------------------------------------------------- */

typedef void *dlsym_type(void *handle, const char *name);
typedef void *dlvsym_type(void *handle, const char *name, const char *version);

/* Reached by assembler. */
__attribute__((__visibility__("hidden"))) _Atomic(dlsym_type *) explain_dlsym;
__attribute__((__visibility__("hidden"))) _Atomic(dlvsym_type *) explain_dlvsym;

/* Whether the file's name begins so. */
static bool is_named(const char *path, const char *name)
{
	const char *file = path;

	for (; *path; path++)
		if (*path == '/')
			file = path + 1;
	return !name[shared(file, name)];
}

/* Of this object. */
static struct symbols ours;

/*
 * In the C library, or with glibc before 2.34 in libdl. Other objects' constructors may look something up before this
 * object's has run; doing it twice does no harm.
 */
static void find_dlsym(void)
{
	struct symbols symbols;

	if (explain_dlsym && explain_dlvsym)
		return;
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		if (map->l_ld == _DYNAMIC)
			symbols_of(&ours, map->l_addr, map->l_ld);
		if ((!is_named(map->l_name, "libc.") && !is_named(map->l_name, "libdl.")) ||
		    !symbols_of(&symbols, map->l_addr, map->l_ld))
			continue;
		if (!explain_dlsym)
			explain_dlsym = (dlsym_type *)symbol_in(&symbols, "dlsym");
		if (!explain_dlvsym)
			explain_dlvsym = (dlvsym_type *)symbol_in(&symbols, "dlvsym");
	}
	if (!explain_dlsym || !explain_dlvsym)
		abort();
}

__attribute__((__constructor__(101))) static void begin(void)
{
	find_dlsym();
}

/* ---- The library that the program uses ----------------------------------------------------------------- */

_Atomic unsigned int explain_copies = 1;

struct library {
	const char *soname, *prefix;
	void *_Atomic handle;
};

static struct library libraries[] = {
	{.soname = "libibverbs.so.1", .prefix = ""},
	{.soname = "librdmacm.so.1", .prefix = "rdma_"},
	{.soname = "libmlx5.so.1", .prefix = "mlx5dv_"},
	{.soname = "libmlx4.so.1", .prefix = "mlx4dv_"},
	{.soname = "libefa.so.1", .prefix = "efadv_"},
	{.soname = "libhns.so.1", .prefix = "hnsdv_"},
	{.soname = "libbnxt_re.so.1", .prefix = "bnxt_re_dv_"},
};

/* The library that has functions of this name: libibverbs, if no other one. */
static struct library *library_for(const char *name)
{
	for (size_t i = sizeof(libraries) / sizeof(*libraries) - 1; i; i--)
		if (!strncmp(name, libraries[i].prefix, strlen(libraries[i].prefix)))
			return &libraries[i];
	return libraries;
}

/* A handle of what is loaded from this path. It is kept: the wrappers of inline verbs outlive any dlclose(). */
static void *handle_of(const char *path)
{
	return dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
}

static void *library_of(struct library *library)
{
	const int error = errno;

	if (!library->handle)
		library->handle = handle_of(library->soname);
	errno = error;
	return library->handle;
}

/* By a name that no other library defines. */
static int count_copy(struct dl_phdr_info *info, size_t size, void *count)
{
	const ElfW(Dyn) *dynamic = NULL;
	struct symbols symbols;

	(void)size;
	if (!info->dlpi_name || !is_named(info->dlpi_name, "libibverbs.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	if (symbols_of(&symbols, info->dlpi_addr, dynamic) &&
	    symbol_in(&symbols, "ibv_get_device_list"))
		++*(unsigned int *)count;
	return 0;
}

/* What is noted, and a function of the provider, which is one of many that libibverbs may have loaded. */
struct noted {
	char text[sizeof(((struct explain_process *)0)->libraries)];
	const char *before; /* what was noted when another device was opened */
	uintptr_t function;
};

static bool has_address(const struct dl_phdr_info *info, uintptr_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    address - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) <
			    info->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

/* A file that is linked to has its version in its own name; nothing is allocated here. */
static int note_library(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *const slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	const char *name = slash ? slash + 1 : info->dlpi_name;
	struct noted *const noted = data;
	char *const text = noted->text;
	const size_t length = strlen(text), room = sizeof(noted->text);
	char target[256];
	bool is_provider;
	ssize_t n;

	(void)size;
	is_provider = name && strstr(name, "-rdmav") != NULL;
	if (!name || (strncmp(name, "libibverbs.so", 13) && strncmp(name, "librdmacm.so", 12) &&
		      !is_provider))
		return 0;
	n = readlink(info->dlpi_name, target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = '\0';
		name = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
	}
	if (is_provider && !has_address(info, noted->function) && !strstr(noted->before, name))
		return 0;
	if (length + strlen(name) + 2 > room)
		return 1;
	snprintf(text + length, room - length, "%s%s", length ? " " : "", name);
	return 0;
}

void explain_note_libraries(const char *device, uintptr_t function)
{
	struct noted noted = {.function = function};
	struct explain_process *process;
	const int error = errno;

	explain_join();
	process = explain_process;
	if (process) {
		noted.before = process->libraries;
		dl_iterate_phdr(note_library, &noted);
		memcpy(process->libraries, noted.text, sizeof(noted.text));
		snprintf(process->device, sizeof(process->device), "%s", device);
	}
	errno = error;
}

static void count_copies(void)
{
	unsigned int count = 0;

	dl_iterate_phdr(count_copy, &count);
	if (count > 1)
		explain_copies = count;
}

static bool is_ours(const void *function)
{
	Dl_info info, own;

	return dladdr(function, &info) && dladdr(&ours, &own) && info.dli_fbase == own.dli_fbase;
}

/* The one in the caller's own object, or in a library that this was linked with. */
static void *of_caller(const char *name, const void *caller)
{
	void *handle, *found = NULL;
	Dl_info info;

	if (!caller || !dladdr(caller, &info) || !info.dli_fname)
		return NULL;
	handle = handle_of(info.dli_fname);
	if (handle) {
		found = explain_dlsym(handle, name);
		dlclose(handle);
	}
	return found && !is_ours(found) ? found : NULL;
}

/* Without the dynamic linker, which may be locked for good: in the first object that has it, but this one. */
static void *of_any(const char *name)
{
	struct symbols symbols;
	uintptr_t found = 0;

	for (const struct link_map *map = _r_debug.r_map; map && !found; map = map->l_next)
		if (map->l_ld != _DYNAMIC && symbols_of(&symbols, map->l_addr, map->l_ld))
			found = symbol_in(&symbols, name);
	return (void *)found;
}

static void *real_of(const char *name, const void *caller)
{
	const int error = errno;
	void *found = NULL, *handle;

	if (explain_is_clone)
		return of_any(name);
	find_dlsym();
	if (explain_copies > 1)
		found = of_caller(name, caller);
	/* Behind this object there may be another one that looks on. */
	if (!found)
		found = explain_dlsym(RTLD_NEXT, name);
	if (!found && (handle = library_of(library_for(name))))
		found = explain_dlsym(handle, name);
	errno = error;
	return found;
}

void *explain_real(const char *name, const void *caller)
{
	explain_notice_clone();
	explain_join();
	if (!explain_is_clone)
		count_copies();
	return real_of(name, caller);
}

void *explain_next(const char *name)
{
	const int error = errno;
	void *found;

	find_dlsym();
	found = explain_dlsym(RTLD_NEXT, name);
	errno = error;
	return found;
}

/* ---- The program's dlsym() and dlvsym() ------------------------------------------------------------------ */

/*
 * The wrapper of this name; NULL if there is none. dlsym() itself is what nobody is to get from here, and wait() is the C
 * library's, which is always there.
 */
static void *wrapper_of(const char *name)
{
	if (!ours.hash || !strncmp(name, "dl", 2) || !strncmp(name, "wait", 4))
		return NULL;
	return (void *)symbol_in(&ours, name);
}

static bool is_the_one(const void *real, const char *name)
{
	void *const handle = library_of(library_for(name));

	return handle && real == explain_dlsym(handle, name);
}

/*
 * A second libibverbs, which stays unseen. Its ibv_open_device() would come to the wrapper of verbs_open_device(), and
 * so its device to the first library: this opens it as its own does. NULL: there is none.
 */
static struct ibv_context *(*_Atomic second_open)(struct ibv_device *device, void *private_data);

static struct ibv_context *open_second(struct ibv_device *device)
{
	return second_open(device, NULL);
}

static bool is_second_open(void *handle, const char *name)
{
	const uintptr_t open = strcmp(name, "ibv_open_device")
				       ? 0
				       : (uintptr_t)explain_dlsym(handle, "verbs_open_device");

	if (open && !second_open)
		second_open = (struct ibv_context * (*)(struct ibv_device *, void *)) open;
	return open && (uintptr_t)second_open == open;
}

struct answer {
	void *value;
	/* 0: the program is to ask the dynamic linker itself, which looks at who asks */
	uintptr_t is_one;
};

/* What the program gets in place of the real function. `version` NULL: dlsym(). Used by assembler. */
__attribute__((__visibility__("hidden"), __used__)) struct answer
explain_answer(void *handle, const char *name, const char *version)
{
	const struct answer none = {NULL, 0}, nothing = {NULL, 1};
	struct answer answer = {NULL, 1};
	void *real;

	find_dlsym();
	if (handle == RTLD_NEXT || !name || !(answer.value = wrapper_of(name)))
		return none;
	/* Who asks whether the process has the library must not find this object. */
	if (handle == RTLD_DEFAULT)
		return real_of(name, NULL) ? none : nothing;
	/* The ABI of 2006 has other structs where a newer version of the name exists. */
	if (version && !strcmp(version, "IBVERBS_1.0") &&
	    explain_dlvsym(handle, name, "IBVERBS_1.1"))
		return none;
	real = version ? explain_dlvsym(handle, name, version) : explain_dlsym(handle, name);
	if (real && (real == answer.value || is_the_one(real, name)))
		return answer;
	/* A second library, or what itself stands in front of one. */
	count_copies();
	if (!real || explain_copies < 2 || !is_second_open(handle, name))
		return none;
	answer.value = (void *)(uintptr_t)open_second;
	return answer;
}

/* Leaves by a jump, so that the real function sees its caller. */
#if defined(__x86_64__)
#define LOOKUP(name, real, no_version)                                                   \
	__asm__(".text\n"                                                                \
		".globl " name "\n"                                                      \
		".type " name ", @function\n" name ":\n"                                 \
		"	.cfi_startproc\n"                                                      \
		"	endbr64\n"                                                             \
		"	push %rdi\n"                                                           \
		"	push %rsi\n"                                                           \
		"	push %rdx\n"                                                           \
		"	.cfi_adjust_cfa_offset 24\n" no_version "	call explain_answer\n" \
		"	mov %rdx, %rcx\n"                                                      \
		"	pop %rdx\n"                                                            \
		"	pop %rsi\n"                                                            \
		"	pop %rdi\n"                                                            \
		"	.cfi_adjust_cfa_offset -24\n"                                          \
		"	test %rcx, %rcx\n"                                                     \
		"	jz 1f\n"                                                               \
		"	ret\n"                                                                 \
		"1:	jmp *" real "(%rip)\n"                                           \
		"	.cfi_endproc\n"                                                        \
		".size " name ", . - " name "\n")
LOOKUP("dlsym", "explain_dlsym", "	xor %edx, %edx\n");
LOOKUP("dlvsym", "explain_dlvsym", "");
#elif defined(__aarch64__)
#define LOOKUP(name, real, no_version)                                         \
	__asm__(".text\n"                                                      \
		".globl " name "\n"                                            \
		".type " name ", %function\n" name ":\n"                       \
		"	.cfi_startproc\n"                                            \
		"	hint #34\n" /* bti c */                                \
		"	stp x29, x30, [sp, #-48]!\n"                                 \
		"	.cfi_def_cfa_offset 48\n"                                    \
		"	.cfi_offset 29, -48\n"                                       \
		"	.cfi_offset 30, -40\n"                                       \
		"	stp x0, x1, [sp, #16]\n"                                     \
		"	str x2, [sp, #32]\n" no_version "	bl explain_answer\n" \
		"	mov x9, x0\n"                                                \
		"	mov x10, x1\n"                                               \
		"	ldp x0, x1, [sp, #16]\n"                                     \
		"	ldr x2, [sp, #32]\n"                                         \
		"	ldp x29, x30, [sp], #48\n"                                   \
		"	.cfi_restore 29\n"                                           \
		"	.cfi_restore 30\n"                                           \
		"	.cfi_def_cfa_offset 0\n"                                     \
		"	cbz x10, 1f\n"                                               \
		"	mov x0, x9\n"                                                \
		"	ret\n"                                                       \
		"1:	adrp x16, " real "\n"                                  \
		"	ldr x16, [x16, #:lo12:" real "]\n"                     \
		"	br x16\n"                                                    \
		"	.cfi_endproc\n"                                              \
		".size " name ", . - " name "\n")
LOOKUP("dlsym", "explain_dlsym", "	mov x2, xzr\n");
LOOKUP("dlvsym", "explain_dlvsym", "");
#else
#if defined(__has_attribute)
#if __has_attribute(musttail)
#define TAIL __attribute__((__musttail__))
#endif
#endif
#ifndef TAIL
#define TAIL /* compilers make it a jump, unless they are told not to optimize */
#endif
EXPORT void *dlsym(void *handle, const char *name)
{
	const struct answer answer = explain_answer(handle, name, NULL);

	if (answer.is_one)
		return answer.value;
	TAIL return explain_dlsym(handle, name);
}

EXPORT void *dlvsym(void *handle, const char *name, const char *version)
{
	const struct answer answer = explain_answer(handle, name, version);

	if (answer.is_one)
		return answer.value;
	TAIL return explain_dlvsym(handle, name, version);
}
#endif
