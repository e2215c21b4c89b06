/* SPDX-License-Identifier: MIT */
/* How a finding is written. */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rdmaez/impl/seam.h>

#include "held.h"
#include "write.h"

static const char *const kind_names[] = {
#define KIND_NAME(upper, lower) [EXPLAIN_##upper] = #lower,
	EXPLAIN_KINDS(KIND_NAME)
#undef KIND_NAME
};

static const char *const severity_names[] = {"error", "likely", "advice"};

/* ---- A place in the program ------------------------------------------------------------------- */

struct place {
	uintptr_t address; /* within its object, as addr2line takes it */
	char symbol[64];   /* "main+0x1a1"; "": not known */
	char object[64];   /* "ib_send_bw" */
};

/* Copies a name without what a line of pairs or JSON could not hold. */
static void copy_plain(char *to, size_t size, const char *from)
{
	size_t i = 0;

	for (; i + 1 < size && from[i]; i++)
		to[i] = from[i] > ' ' && from[i] < 0x7f && from[i] != '"' && from[i] != '\\'
				? from[i]
				: '_';
	to[i] = '\0';
}

/* The call, not what follows it: one less than where it returns to. */
static void find_place(struct place *place, const void *caller)
{
	const uintptr_t address = (uintptr_t)caller - 1;
	struct link_map *map = NULL;
	char name[sizeof(place->symbol) - 20];
	Dl_info info;

	memset(place, 0, sizeof(*place));
	place->address = address;
	if (explain_is_clone || !dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP) ||
	    !map)
		return;
	place->address = address - map->l_addr;
	copy_plain(place->object, sizeof(place->object),
		   info.dli_fname ? basename(info.dli_fname) : "");
	if (!info.dli_sname)
		return;
	copy_plain(name, sizeof(name), info.dli_sname);
	snprintf(place->symbol, sizeof(place->symbol), "%s+0x%zx", name,
		 (size_t)(address - (uintptr_t)info.dli_saddr));
}

/* ---- Words -------------------------------------------------------------------------------------- */

/* Adds what snprintf() has written of the words, or a function that follows its rule. */
static void add(struct explain_words *words, int more)
{
	const size_t room = sizeof(words->bytes) - words->text - words->json;

	if (more > 0)
		words->json += (size_t)more < room ? (size_t)more : room - 1;
}

__attribute__((__format__(__printf__, 2, 3))) static void put(struct explain_words *words,
							      const char *format, ...)
{
	const size_t at = words->text + words->json;
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(words->bytes + at, sizeof(words->bytes) - at, format, arguments);
	va_end(arguments);
	add(words, more);
}

/* `before"key":"value"` */
static void put_pair(struct explain_words *words, const char *before, const char *key,
		     const char *value)
{
	size_t at;

	put(words, "%s\"%s\":", before, key);
	at = words->text + words->json;
	add(words,
	    rdmaez_impl_json_string(value, SIZE_MAX, words->bytes + at, sizeof(words->bytes) - at));
}

/* Text of at most so many bytes, as a terminal may have it. */
static void put_plain(struct explain_words *words, const char *text, size_t most)
{
	const size_t at = words->text + words->json;

	add(words, rdmaez_impl_plain(text, most, words->bytes + at, sizeof(words->bytes) - at));
}

/* The name of a device; in a pair, " device=", a blank would end it. */
static void put_name(struct explain_words *words, const char *before, const char *name)
{
	char *const at = words->bytes + words->text + words->json + strlen(before);

	put(words, "%s", before);
	put_plain(words, name, IBV_SYSFS_NAME_MAX);
	if (!strchr(before, '='))
		return;
	for (char *byte = at; byte < words->bytes + words->text + words->json; byte++)
		if (*byte == ' ')
			*byte = '?';
}

/* What one of the headers' functions writes. */
static void put_record(struct explain_words *words,
		       int (*format)(const struct rdmaez_diag *, char *, size_t),
		       const struct rdmaez_diag *diag)
{
	const size_t at = words->text + words->json;

	add(words, format(diag, words->bytes + at, sizeof(words->bytes) - at));
}

static const char *occasion(const struct explain_call *call, const struct explain_text *said)
{
	switch (call->kind) {
	case EXPLAIN_COMPLETION:
		return "failed completion, polled";
	case EXPLAIN_EVENT:
		return "event, read";
	case EXPLAIN_ADVICE:
		return "advice for the call";
	case EXPLAIN_CM:
		return said && said->event && !said->error ? "event, read" : "refused";
	default:
		return "refused";
	}
}

static size_t mark(const struct explain_words *words)
{
	return words->text + words->json;
}

/* Breaks what was put since the mark into lines as long as those of a record, of which all but the first are indented. */
static void wrap(struct explain_words *words, size_t start)
{
	enum {
		COLUMNS = 100,
		INDENT = 4
	};
	size_t line = start, space = start;

	for (size_t at = start; at < mark(words); at++) {
		if (at - line > COLUMNS && space > line &&
		    mark(words) + INDENT < sizeof(words->bytes)) {
			memmove(words->bytes + space + 1 + INDENT, words->bytes + space + 1,
				mark(words) - space);
			memset(words->bytes + space + 1, ' ', INDENT);
			words->bytes[space] = '\n';
			words->json += INDENT;
			line = space + 1;
			at = space += INDENT;
		} else if (words->bytes[at] == ' ' && at > line + INDENT) {
			space = at;
		}
	}
}

/* Of a child that goes on with its parent's objects: that is why, whatever else is found. */
static void put_opener(struct explain_words *words, const struct explain_call *call)
{
	const size_t start = mark(words);

	if (!call->opener)
		return;
	put(words,
	    "Process %d opened the device, and this process is a child of it, which must not use "
	    "its objects. Next: open the device and create the objects in the process that uses "
	    "them.\n",
	    call->opener);
	wrap(words, start);
}

/* "1 queue pair" */
static void put_count(struct explain_words *words, uint64_t count, const struct explain_held *held)
{
	put(words, "%" PRIu64 " %s", count, count == 1 ? held->one : held->many);
}

static void put_held(struct explain_words *words, const struct rdmaez_diag *diag,
		     const struct explain_held *held)
{
	const size_t start = mark(words);

	if (!held)
		return;
	put(words, "  This process has created ");
	put_count(words, held->process, held);
	put(words, " that it has not destroyed.");
	if (held->is_all_known) {
		put(words, " All processes together hold ");
		put_count(words, held->all, held);
		put_name(words, " on ", diag->device);
		if (held->most)
			put(words, ", whose limit is %" PRIu64, held->most);
		put(words, "; `rdmaez-doctor --only objects` names the processes.");
	}
	put(words, "\n");
	wrap(words, start);
}

static void put_text(struct explain_words *words, const struct explain_call *call,
		     const struct rdmaez_diag *diag, const struct explain_text *said,
		     const struct place *place, const struct explain_held *held)
{
	static const char *const sure[] = {"", "Likely, ", "Advice, "};
	size_t start;

	put(words, "rdmaez-explain: %s[%d]: %s at 0x%zx", explain_name, getpid(),
	    occasion(call, said), (size_t)place->address);
	if (place->symbol[0])
		put(words, " %s", place->symbol);
	if (place->object[0])
		put(words, " (%s)", place->object);
	put(words, "\n");
	put_opener(words, call);
	if (!said) {
		put_record(words, rdmaez_diag_format, diag);
		put_held(words, diag, held);
		return;
	}
	start = mark(words);
	put_plain(words, said->title, SIZE_MAX);
	if (said->device)
		put_name(words, " on ", said->device);
	put(words, ".\n");
	wrap(words, start);
	for (unsigned int i = 0; i < said->count; i++) {
		start = mark(words);
		put(words, "  %s%s: ", sure[said->finding[i].severity], said->finding[i].field);
		put_plain(words, said->finding[i].what, SIZE_MAX);
		put(words, ". Next: ");
		put_plain(words, said->finding[i].next, SIZE_MAX);
		put(words, ".\n");
		wrap(words, start);
	}
}

static void put_line(struct explain_words *words, const struct explain_call *call,
		     const struct rdmaez_diag *diag, const struct explain_text *said,
		     const struct place *place, const struct explain_held *held)
{
	put(words, "program=%s pid=%d kind=%s caller=0x%zx", explain_name, getpid(),
	    kind_names[call->kind], (size_t)place->address);
	if (place->symbol[0])
		put(words, " symbol=%s", place->symbol);
	if (place->object[0])
		put(words, " object=%s", place->object);
	if (call->opener)
		put(words, " opened_by=%d", call->opener);
	if (held)
		put(words, " held=%s:%u", held->key, held->process);
	if (held && held->is_all_known)
		put(words, " held_by_all=%" PRIu64, held->all);
	put(words, " ");
	if (!said) {
		put_record(words, rdmaez_diag_line, diag);
	} else {
		put(words, "call=%s error=%s", call->verb, rdmaez_errno_str(said->error));
		if (said->device)
			put_name(words, " device=", said->device);
		if (said->event)
			put(words, " event=%s status=%d", said->event, said->status);
		for (unsigned int i = 0; i < said->count; i++)
			put(words, " finding=%s:%s:%s:none",
			    severity_names[said->finding[i].severity], said->finding[i].reason,
			    said->finding[i].field);
	}
	put(words, "\n");
}

/* As rdmaez_diag_json() has it. */
static void put_json_said(struct explain_words *words, const struct explain_call *call,
			  const struct explain_text *said)
{
	put_pair(words, "{", "call", call->verb);
	put(words, ",\"error\":%d", said->error);
	put_pair(words, ",", "errno", rdmaez_errno_str(said->error));
	if (said->device)
		put_pair(words, ",", "device", said->device);
	if (said->event) {
		put_pair(words, ",", "event", said->event);
		put(words, ",\"event_status\":%d", said->status);
	}
	put(words, ",\"dropped\":0,\"findings\":[");
	for (unsigned int i = 0; i < said->count; i++) {
		const struct explain_finding *const finding = &said->finding[i];

		put_pair(words, i ? ",{" : "{", "severity", severity_names[finding->severity]);
		put_pair(words, ",", "reason", finding->reason);
		put_pair(words, ",", "field", finding->field);
		put_pair(words, ",", "kind", "none");
		put_pair(words, ",", "what", finding->what);
		put_pair(words, ",", "next", finding->next);
		put(words, "}");
	}
	put(words, "]}");
}

static void put_json(struct explain_words *words, const struct explain_call *call,
		     const struct rdmaez_diag *diag, const struct explain_text *said,
		     const struct place *place, const struct explain_held *held)
{
	put_pair(words, "{", "program", explain_name);
	put(words, ",\"pid\":%d", getpid());
	put_pair(words, ",", "kind", kind_names[call->kind]);
	put(words, ",\"caller\":\"0x%zx\"", (size_t)place->address);
	if (place->symbol[0])
		put_pair(words, ",", "symbol", place->symbol);
	if (place->object[0])
		put_pair(words, ",", "object", place->object);
	if (call->opener)
		put(words, ",\"opened_by\":%d", call->opener);
	if (held) {
		put_pair(words, ",\"held\":{", "object", held->key);
		put(words, ",\"process\":%u", held->process);
		if (held->is_all_known)
			put(words, ",\"all\":%" PRIu64, held->all);
		if (held->most)
			put(words, ",\"most\":%" PRIu64, held->most);
		put(words, "}");
	}
	put(words, ",\"record\":");
	if (said)
		put_json_said(words, call, said);
	else
		put_record(words, rdmaez_diag_json, diag);
	put(words, "}\n");
}

void explain_words_make(struct explain_words *words, const struct explain_call *call,
			const struct rdmaez_diag *diag, const struct explain_text *said)
{
	struct explain_held counts;
	const struct explain_held *const held =
		!said && explain_held(call, diag, &counts) ? &counts : NULL;
	struct place place;

	find_place(&place, call->caller);
	words->text = words->json = 0;
	(explain_options->line ? put_line : put_text)(words, call, diag, said, &place, held);
	words->text = words->json;
	words->json = 0;
	if (explain_options->json.path[0])
		put_json(words, call, diag, said, &place, held);
}

/* ---- Where to ----------------------------------------------------------------------------------- */

static dev_t stderr_device;
static ino_t stderr_inode;

void explain_words_begin(void)
{
	struct stat is;

	if (fstat(STDERR_FILENO, &is))
		return;
	stderr_device = is.st_dev;
	stderr_inode = is.st_ino;
}

static bool is_stderr(void)
{
	struct stat is;

	return !fstat(STDERR_FILENO, &is) && stderr_inode && is.st_dev == stderr_device &&
	       is.st_ino == stderr_inode;
}

/* A reader that has gone must not end the program: SIGPIPE is blocked here, and taken back. */
static void take_back_sigpipe(bool was_pending)
{
	const struct timespec now = {0};
	sigset_t pipe_only;

	if (was_pending)
		return;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigtimedwait(&pipe_only, NULL, &now);
}

static bool write_all(int file, const char *from, size_t size)
{
	sigset_t pending;

	sigpending(&pending);
	while (size) {
		const ssize_t written = write(file, from, size);

		if (written < 0 && errno == EAGAIN) {
			struct pollfd slow = {.fd = file, .events = POLLOUT};

			if (poll(&slow, 1, 1000) <= 0)
				return true; /* its reader does not read; and the program must go on */
		} else if (written < 0) {
			if (errno == EPIPE)
				take_back_sigpipe(sigismember(&pending, SIGPIPE) == 1);
			return errno == EPIPE;
		} else {
			from += written;
			size -= (size_t)written;
		}
	}
	return true;
}

static bool append(const struct explain_file *to, const char *from, size_t size)
{
	const int file = open(to->path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat is;
	const bool done = file >= 0 && !fstat(file, &is) && is.st_dev == to->device &&
			  is.st_ino == to->inode && write_all(file, from, size);

	if (file >= 0)
		close(file);
	return done;
}

bool explain_words_write(struct explain_words *words)
{
	if (words->text) {
		const bool done = explain_options->log.path[0]
					  ? append(&explain_options->log, words->bytes, words->text)
					  : is_stderr() && write_all(STDERR_FILENO, words->bytes,
								     words->text);

		if (!done)
			return false;
		memmove(words->bytes, words->bytes + words->text, words->json);
		words->text = 0;
	}
	if (words->json) {
		if (!append(&explain_options->json, words->bytes, words->json))
			return false;
		words->json = 0;
	}
	return true;
}
