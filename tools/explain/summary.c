/* SPDX-License-Identifier: MIT */
/* What the launcher writes. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "judge.h"
#include "text.h"

static const struct {
	const char *name;       /* in options and JSON */
	const char *one, *many; /* in a summary */
	const char *key;        /* in a line */
} kinds[] = {
	[EXPLAIN_REFUSAL] = {"refusal", "refusal", "refusals", "refusals"},
	[EXPLAIN_QUERY] = {"query", "refused query", "refused queries", "queries"},
	[EXPLAIN_COMPLETION] = {"completion", "failed completion", "failed completions",
				"completions"},
	[EXPLAIN_EVENT] = {"event", "event", "events", "events"},
	[EXPLAIN_CM] = {"cm", "rdma_cm failure", "rdma_cm failures", "cm"},
	[EXPLAIN_ADVICE] = {"advice", "piece of advice", "pieces of advice", "advice"},
};

static const char *const objects[] = {
#define OBJECT_NAME(upper, words) #words,
	EXPLAIN_OBJECTS(OBJECT_NAME)
#undef OBJECT_NAME
};

const char *explain_kind_name(enum explain_kind kind)
{
	return kinds[kind].name;
}

/* ---- The device ------------------------------------------------------------------------------------ */

/* Versions of a device's driver and firmware, as far as /sys has them. */
struct versions {
	char driver[96], firmware[64]; /* "mlx5_core 24.10-1.1.4" and "16.35.2000", or empty */
};

/* The first line of a file of the device. */
static void read_line(char *line, size_t size, const char *device, const char *name)
{
	char path[192];
	FILE *file;

	line[0] = '\0';
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/%s", device, name);
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(line, (int)size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	explain_make_word(line, size);
	fclose(file);
}

/* A driver of the kernel's own has no version: it is the kernel's. */
static struct versions versions_of(const char *device)
{
	struct versions versions = {"", ""};
	char path[192], target[256], version[48];
	const char *name;
	ssize_t length;

	if (!device[0] || device[0] == '.' || strchr(device, '/'))
		return versions;
	read_line(versions.firmware, sizeof(versions.firmware), device, "fw_ver");
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/driver", device);
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return versions;
	target[length] = '\0';
	name = strrchr(target, '/');
	read_line(version, sizeof(version), device, "device/driver/module/version");
	snprintf(versions.driver, sizeof(versions.driver), "%.40s%s%s", name ? name + 1 : target,
		 version[0] ? " " : "", version);
	explain_make_word(versions.driver, sizeof(versions.driver));
	return versions;
}

/* A GID of a table: "::ffff:192.0.2.1" and "RoCE v2"; empty where /sys does not have it any more. */
struct gid {
	char text[INET6_ADDRSTRLEN], type[24];
};

static struct gid gid_of(const struct explain_source *source)
{
	struct gid gid = {"", ""};
	unsigned char raw[16];
	char name[64], line[64];

	snprintf(name, sizeof(name), "ports/%u/gids/%u", source->port, source->index);
	read_line(line, sizeof(line), source->device, name);
	if (inet_pton(AF_INET6, line, raw) != 1)
		return gid;
	inet_ntop(AF_INET6, raw, gid.text, sizeof(gid.text));
	snprintf(name, sizeof(name), "ports/%u/gid_attrs/types/%u", source->port, source->index);
	read_line(gid.type, sizeof(gid.type), source->device, name);
	return gid;
}

/* ---- What is taken from the shared memory --------------------------------------------------------- */

void explain_make_plain(char *text, size_t size, const char *but)
{
	for (size_t i = 0; i < size; i++)
		if ((text[i] < ' ' || text[i] > '~') && !(text[i] && strchr(but, text[i])))
			text[i] = '?';
}

void explain_make_word(char *word, size_t size)
{
	word[size - 1] = '\0';
	explain_make_plain(word, strlen(word), "");
	for (; *word; word++)
		if (*word == '"' || *word == '\\')
			*word = '_';
}

const char *explain_kernel(void)
{
	static struct utsname system;

	if (!system.release[0] && !uname(&system))
		explain_make_word(system.release, sizeof(system.release));
	return system.release;
}

void explain_copy(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	__asm__ volatile("" ::: "memory");
}

/* False: there is none that this can be. */
static bool take_process(const struct explain_process *from, struct explain_process *process)
{
	if (!from->pid)
		return false;
	explain_copy(process, from, sizeof(*process));
	explain_make_word(process->name, sizeof(process->name));
	explain_make_word(process->libraries, sizeof(process->libraries));
	explain_make_word(process->device, sizeof(process->device));
	explain_make_word(process->doing.verb, sizeof(process->doing.verb));
	explain_make_word(process->doing.object, sizeof(process->doing.object));
	for (int i = 0; i < EXPLAIN_COUNTS; i++) {
		struct explain_count *const count = &process->count[i];

		if (count->kind >= EXPLAIN_KIND_COUNT)
			count->times = 0;
		explain_make_word(count->verb, sizeof(count->verb));
		explain_make_word(count->label, sizeof(count->label));
	}
	for (int i = 0; i < EXPLAIN_SOURCES; i++)
		explain_make_word(process->source[i].device, sizeof(process->source[i].device));
	return process->pid > 0;
}

/* Text and JSON of an entry, one behind the other; none where they cannot be. */
struct left {
	size_t text, json;
	char bytes[EXPLAIN_BYTES];
};

static void take_left(const struct explain_waiting *from, struct left *left)
{
	left->text = from->text;
	left->json = from->json;
	if (left->text > sizeof(left->bytes) || left->json > sizeof(left->bytes) - left->text)
		left->text = left->json = 0;
	explain_copy(left->bytes, from->bytes, left->text + left->json);
	explain_make_plain(left->bytes, left->text + left->json, "\n");
}

/* ---- Texts that were left ------------------------------------------------------------------------- */

/* Once: something is missing from the file. That its reader has gone is no news. */
static void note_loss(const char *name, int error)
{
	static bool noted;

	if (!noted && name && error != EPIPE)
		fprintf(stderr, "rdmaez-explain: %s: %s\n", name, strerror(error));
	noted = true;
}

/* `name` NULL: that is stderr. */
static void write_to(int file, const char *name, const char *text, size_t size)
{
	while (size) {
		const ssize_t written = write(file, text, size);

		if (written <= 0) {
			note_loss(name, errno);
			return;
		}
		text += written;
		size -= (size_t)written;
	}
}

void explain_write_log(const struct explain_output *output, const char *text, size_t size)
{
	write_to(output->log < 0 ? STDERR_FILENO : output->log, output->log_name, text, size);
}

void explain_write_json(const struct explain_output *output, const char *text, size_t size)
{
	if (output->json >= 0)
		write_to(output->json, output->json_name, text, size);
}

/* It was held back, and counts from now on. */
static void count_held(struct explain_share *share, const struct explain_waiting *waiting)
{
	const uint32_t its_process = waiting->process, its_count = waiting->count;
	struct explain_process *process;
	struct explain_count *count;
	uint32_t kind;

	if (its_process >= EXPLAIN_PROCESSES || its_count >= EXPLAIN_COUNTS)
		return;
	process = &share->process[its_process];
	count = &process->count[its_count];
	explain_copy(&kind, &count->kind, sizeof(kind));
	if (kind >= EXPLAIN_KIND_COUNT)
		return;
	count->held = false;
	process->findings[kind] += count->times - count->silent;
}

/* Whether an entry is to be written now; it is the launcher's then. *was: what state it had. */
static bool claim(struct explain_waiting *waiting, uint64_t now_ns, bool at_end, uint32_t *was)
{
	*was = waiting->state;
	return (*was == EXPLAIN_READY ||
		(*was == EXPLAIN_HELD &&
		 (at_end || now_ns - waiting->since >= EXPLAIN_PROBE_NS))) &&
	       atomic_compare_exchange_strong(&waiting->state, was, EXPLAIN_BUSY);
}

void explain_write_waiting(struct explain_share *share, const struct explain_output *output,
			   bool at_end)
{
	static struct left left;
	uint32_t was[EXPLAIN_WAITING];
	bool is_claimed[EXPLAIN_WAITING], any = false;
	struct timespec now;
	uint64_t now_ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	for (int i = 0; i < EXPLAIN_WAITING; i++)
		any |= is_claimed[i] = claim(&share->waiting[i], now_ns, at_end, &was[i]);
	/* Of a completion that has failed, the one line that is true comes before the causes that it may have. */
	if (any)
		explain_judge_failures(output);
	for (int i = 0; i < EXPLAIN_WAITING; i++) {
		struct explain_waiting *const waiting = &share->waiting[i];

		if (!is_claimed[i])
			continue;
		if (was[i] == EXPLAIN_HELD)
			count_held(share, waiting);
		take_left(waiting, &left);
		explain_write_log(output, left.bytes, left.text);
		explain_write_json(output, left.bytes + left.text, left.json);
		waiting->state = EXPLAIN_FREE;
	}
}

/* ---- What was not seen ------------------------------------------------------------------------------ */

static char unseen_name[16];
static pid_t unseen;

static bool is_seen(const struct explain_share *share, pid_t pid)
{
	for (int i = 0; i < EXPLAIN_PROCESSES; i++)
		if (share->process[i].pid == pid)
			return true;
	return false;
}

/* Whether it has the same process ids as this process: a container of its own has not. */
static bool has_our_ids(pid_t pid)
{
	char path[64], ours[64] = "", its[64] = "-";

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return readlink("/proc/self/ns/pid", ours, sizeof(ours) - 1) > 0 &&
	       readlink(path, its, sizeof(its) - 1) > 0 && !strcmp(ours, its);
}

static bool has_device(pid_t pid)
{
	char path[320], target[64];
	struct dirent *entry;
	bool found = false;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	directory = opendir(path);
	while (directory && !found && (entry = readdir(directory))) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		found = !strncmp(target, "/dev/infiniband/uverbs", 22);
	}
	if (directory)
		closedir(directory);
	return found;
}

static void note_unseen(pid_t pid)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(unseen_name, sizeof(unseen_name), file)) {
		unseen_name[strcspn(unseen_name, "\n")] = '\0';
		explain_make_word(unseen_name, sizeof(unseen_name));
		unseen = pid;
	}
	fclose(file);
}

/* Whether a process has executed nothing else since another one, an ancestor, has made it. */
static bool is_fork_of(pid_t pid, pid_t ancestor)
{
	char path[64], its[4096], own[4096];
	ssize_t length, own_length;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, its, sizeof(its));
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)ancestor);
	own_length = readlink(path, own, sizeof(own));
	return length > 0 && length == own_length && !memcmp(its, own, (size_t)length);
}

/* Its first thread's children, and theirs. `opener`: of whom it may have the device, as a child that has not yet executed another
 * program; 0: of nobody. */
static void look_at(const struct explain_share *share, pid_t pid, pid_t opener, int depth)
{
	char path[64];
	FILE *children;
	int child;

	if (is_seen(share, pid)) {
		opener = pid;
	} else if (!opener || !is_fork_of(pid, opener)) {
		opener = 0;
		if (has_our_ids(pid) && has_device(pid))
			note_unseen(pid);
	}
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	children = depth < 16 && !unseen ? fopen(path, "re") : NULL;
	if (!children)
		return;
	while (!unseen && fscanf(children, "%d", &child) == 1)
		look_at(share, child, opener, depth + 1);
	fclose(children);
}

void explain_look_for_unseen(const struct explain_share *share, pid_t child)
{
	if (!unseen)
		look_at(share, child, 0, 0);
}

/* ---- Summaries --------------------------------------------------------------------------------------- */

struct text {
	size_t length;
	char bytes[16384];
};

__attribute__((__format__(__printf__, 2, 3))) static void put(struct text *text, const char *format,
							      ...)
{
	va_list arguments;

	va_start(arguments, format);
	explain_text_add(text->bytes, sizeof(text->bytes), &text->length, format, arguments);
	va_end(arguments);
}

/* How often this was found, with all that the summary calls so; 0 where an entry before it has said so. */
static uint32_t times_of(const struct explain_process *process, int at)
{
	const struct explain_count *const count = process->count;
	uint32_t times = 0;

	for (int i = 0; i < EXPLAIN_COUNTS && count[i].times; i++) {
		if (count[i].kind != count[at].kind || strcmp(count[i].label, count[at].label))
			continue;
		if (i < at)
			return 0;
		times += count[i].times;
		if (count[i].kind != EXPLAIN_QUERY)
			times -= count[i].silent;
	}
	return times;
}

static uint32_t queries_of(const struct explain_process *process)
{
	uint32_t times = 0;

	for (int i = 0; i < EXPLAIN_COUNTS && process->count[i].times; i++)
		if (process->count[i].kind == EXPLAIN_QUERY)
			times += process->count[i].times;
	return times;
}

static uint32_t total_of(const struct explain_process *process, int kind)
{
	return kind == EXPLAIN_QUERY ? queries_of(process) : process->findings[kind];
}

static bool has_finding(const struct explain_process *process)
{
	for (int kind = 0; kind < EXPLAIN_KIND_COUNT; kind++)
		if (process->findings[kind])
			return true;
	return false;
}

/* " (ibv_modify_qp EINVAL 2, ibv_reg_mr ENOMEM 1)" */
static void put_labels(struct text *text, const struct explain_process *process, int kind)
{
	const char *before = " (";

	for (int i = 0; i < EXPLAIN_COUNTS && process->count[i].times; i++) {
		const uint32_t times =
			process->count[i].kind == (uint32_t)kind ? times_of(process, i) : 0;

		if (!times)
			continue;
		put(text, "%s%s %u", before, process->count[i].label, times);
		before = ", ";
	}
	if (before[0] == ',')
		put(text, ")");
}

static void put_counted(struct text *text, uint32_t times, const char *one, const char *many)
{
	if (times)
		put(text, "%s%u %s", text->bytes[text->length - 1] == ' ' ? "" : ", ", times,
		    times == 1 ? one : many);
}

/* Where no verb fails, the device or the GID index may be the wrong one. */
static void put_sources(struct text *text, const struct explain_process *process)
{
	for (int i = 0; i < EXPLAIN_SOURCES && process->source[i].times; i++) {
		const struct explain_source *const source = &process->source[i];
		const struct gid gid = gid_of(source);

		put(text, "rdmaez-explain: %s[%d]: ", process->name, process->pid);
		put_counted(text, source->times, "path starts", "paths start");
		put(text, " from GID index %u of %s, port %u", source->index, source->device,
		    source->port);
		if (gid.text[0])
			put(text, ": %s%s%s", gid.text, gid.type[0] ? ", " : "", gid.type);
		put(text, "\n");
	}
}

static void put_text(struct text *text, const struct explain_process *process)
{
	const char *before = ", never destroyed: ";
	size_t start;

	if (process->libraries[0] && has_finding(process)) {
		const struct versions versions = versions_of(process->device);

		put(text, "rdmaez-explain: %s[%d]: Linux %s, %s", process->name, process->pid,
		    explain_kernel(), process->libraries);
		if (versions.driver[0])
			put(text, ", driver %s", versions.driver);
		if (versions.firmware[0])
			put(text, ", firmware %s", versions.firmware);
		put(text, "\n");
	}
	put(text, "rdmaez-explain: %s[%d]: ", process->name, process->pid);
	start = text->length;
	for (int kind = 0; kind < EXPLAIN_KIND_COUNT; kind++) {
		const uint32_t times = total_of(process, kind);

		put_counted(text, times, kinds[kind].one, kinds[kind].many);
		if (times)
			put_labels(text, process, kind);
	}
	put_counted(text, process->unshown, "finding not shown", "findings not shown");
	put_counted(text, process->probes, "probe", "probes");
	put_counted(text, process->later, "later failure of a queue pair",
		    "later failures of queue pairs");
	put_counted(text, process->flushes, "flushed completion", "flushed completions");
	put_counted(text, process->qp_errors, "queue pair in ERR", "queue pairs in ERR");
	put_counted(text, process->inner, "refusal on the way down", "refusals on the way down");
	put_counted(text, process->unseen, "extended queue not seen, for lack of wrappers",
		    "extended queues not seen, for lack of wrappers");
	put_counted(text, process->direct, "unseen queue used without verbs",
		    "unseen queues used without verbs");
	if (text->length == start)
		put(text, "nothing was refused");
	for (int i = 0; i < EXPLAIN_OBJECT_COUNT; i++) {
		const int left = process->objects[i];

		if (left <= 0)
			continue;
		put(text, "%s%d %s%s", before, left, objects[i], left == 1 ? "" : "s");
		before = ", ";
	}
	put(text, "\n");
}

/* What was never destroyed; the names of objects without their spaces. */
static void put_left(struct text *text, const struct explain_process *process, const char *before,
		     const char *between, const char *behind)
{
	for (int i = 0; i < EXPLAIN_OBJECT_COUNT; i++) {
		if (process->objects[i] <= 0)
			continue;
		put(text, "%s", before);
		for (const char *at = objects[i]; *at; at++)
			put(text, "%c", *at == ' ' ? '_' : *at);
		put(text, "%s%d", behind, process->objects[i]);
		before = between;
	}
}

static void put_line(struct text *text, const struct explain_process *process)
{
	put(text, "program=%s pid=%d kind=summary", process->name, process->pid);
	for (int kind = 0; kind < EXPLAIN_KIND_COUNT; kind++)
		put(text, " %s=%u", kinds[kind].key, total_of(process, kind));
	put(text,
	    " unshown=%u probes=%u later=%u flushes=%u qp_errors=%u unseen=%u direct=%u inner=%u",
	    process->unshown, process->probes, process->later, process->flushes, process->qp_errors,
	    process->unseen, process->direct, process->inner);
	put_left(text, process, " left=", " left=", ":");
	for (int i = 0; i < EXPLAIN_SOURCES && process->source[i].times; i++)
		put(text, " source=%s/%u/%u:%u", process->source[i].device, process->source[i].port,
		    process->source[i].index, process->source[i].times);
	put(text, "\n");
}

static void put_json(struct text *text, const struct explain_process *process)
{
	const struct versions versions = versions_of(process->device);
	const char *before = "";

	put(text, "{\"program\":\"%s\",\"pid\":%d,\"kind\":\"summary\",\"totals\":{", process->name,
	    process->pid);
	for (int kind = 0; kind < EXPLAIN_KIND_COUNT; kind++)
		put(text, "%s\"%s\":%u", kind ? "," : "", kinds[kind].name,
		    total_of(process, kind));
	put(text, "},\"counts\":[");
	for (int i = 0; i < EXPLAIN_COUNTS && process->count[i].times; i++) {
		const uint32_t times = times_of(process, i);

		if (!times)
			continue;
		put(text, "%s{\"kind\":\"%s\",\"what\":\"%s\",\"times\":%u}", before,
		    kinds[process->count[i].kind].name, process->count[i].label, times);
		before = ",";
	}
	put(text,
	    "],\"unshown\":%u,\"probes\":%u,\"later\":%u,\"flushes\":%u,\"qp_errors\":%u,"
	    "\"unseen\":%u,\"direct\":%u,\"inner\":%u,\"left\":{",
	    process->unshown, process->probes, process->later, process->flushes, process->qp_errors,
	    process->unseen, process->direct, process->inner);
	put_left(text, process, "\"", ",\"", "\":");
	put(text, "},\"sources\":[");
	for (int i = 0; i < EXPLAIN_SOURCES && process->source[i].times; i++) {
		const struct explain_source *const source = &process->source[i];
		const struct gid gid = gid_of(source);

		put(text, "%s{\"device\":\"%s\",\"port\":%u,\"sgid_index\":%u", i ? "," : "",
		    source->device, source->port, source->index);
		if (gid.text[0])
			put(text, ",\"gid\":\"%s\",\"type\":\"%s\"", gid.text, gid.type);
		put(text, ",\"times\":%u}", source->times);
	}
	put(text, "],\"kernel\":\"%s\",\"libraries\":\"%s\"", explain_kernel(), process->libraries);
	if (versions.driver[0])
		put(text, ",\"driver\":\"%s\"", versions.driver);
	if (versions.firmware[0])
		put(text, ",\"firmware\":\"%s\"", versions.firmware);
	put(text, "}\n");
}

/* For people only where there is something to tell; in JSON, whose reader counts processes, in any case. */
static void write_summary(const struct explain_output *output,
			  const struct explain_process *process)
{
	static struct text text;

	if (output->summary || has_finding(process)) {
		text.length = 0;
		if (output->summary && !output->line)
			put_sources(&text, process);
		(output->line ? put_line : put_text)(&text, process);
		explain_write_log(output, text.bytes, text.length);
	}
	if (output->json >= 0) {
		text.length = 0;
		put_json(&text, process);
		explain_write_json(output, text.bytes, text.length);
	}
}

/* ---- Signals that ended processes ------------------------------------------------------------------ */

/* What nobody sends to a program that is well. */
static const char *signal_name(int signal)
{
	switch (signal) {
	case SIGSEGV:
		return "SIGSEGV";
	case SIGBUS:
		return "SIGBUS";
	case SIGABRT:
		return "SIGABRT";
	case SIGFPE:
		return "SIGFPE";
	case SIGILL:
		return "SIGILL";
	case SIGSYS:
		return "SIGSYS";
	case SIGKILL:
		return "SIGKILL";
	default:
		return NULL;
	}
}

/* How many processes the kernel has ended for want of memory, of the machine. */
static uint64_t count_kills(void)
{
	FILE *const file = fopen("/proc/vmstat", "re");
	unsigned long long kills = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "oom_kill %llu", &kills) == 1)
			break;
	if (file)
		fclose(file);
	return kills;
}

/* What is known of the call that it was in, or had made last. */
struct last {
	char verb[32], object[24];
	bool inside, again;
	uint32_t qp_num;
};

static struct last last_of(const struct explain_process *process)
{
	struct last last = {.inside = false};
	const uint32_t posts = process->posts;

	if (posts & (EXPLAIN_POSTS_SEND | EXPLAIN_POSTS_RECV)) {
		snprintf(last.verb, sizeof(last.verb), "%s",
			 posts & EXPLAIN_POSTS_SEND ? "ibv_post_send" : "ibv_post_recv");
		snprintf(last.object, sizeof(last.object), "QP");
		last.inside = true;
		last.qp_num = posts & EXPLAIN_QP_NUM;
	} else if (!(process->doing.version & 1)) {
		memcpy(last.verb, process->doing.verb, sizeof(last.verb));
		memcpy(last.object, process->doing.object, sizeof(last.object));
		last.inside = process->doing.inside;
		last.again = process->doing.again;
		last.qp_num = process->doing.qp_num & EXPLAIN_QP_NUM;
	}
	return last;
}

struct end {
	int signal;
	bool has_kills; /* there was a want of memory */
	struct last last;
};

static void put_end(struct text *text, const struct explain_process *process, const struct end *end)
{
	const struct last *const last = &end->last;

	put(text, "rdmaez-explain: %s[%d]", process->name, process->pid);
	if (process->rank)
		put(text, ", rank %u", process->rank - 1);
	put(text, ": %s ended it", signal_name(end->signal));
	if (last->verb[0])
		put(text,
		    last->inside ? ", in %s" : "; the last verb but for posts and polls was %s",
		    last->verb);
	if (last->verb[0] && last->object[0])
		put(text, last->qp_num ? " of the %s %u" : " of a %s", last->object, last->qp_num);
	if (last->again)
		put(text, ", which had been destroyed before");
	put(text, ".");
	if (last->again)
		put(text, " Next: destroy each object once.");
	if (end->has_kills)
		put(text,
		    "\n  Likely, memory has run out: the kernel has killed a process meanwhile for "
		    "lack of it.\n    Next: see dmesg; raise memory.max of the cgroup, or use "
		    "less.");
	put(text, "\n");
}

static void put_end_line(struct text *text, const struct explain_process *process,
			 const struct end *end)
{
	const struct last *const last = &end->last;

	put(text, "program=%s pid=%d kind=ended signal=%s", process->name, process->pid,
	    signal_name(end->signal));
	if (process->rank)
		put(text, " rank=%u", process->rank - 1);
	if (last->verb[0])
		put(text, " call=%s inside=%d again=%d", last->verb, last->inside, last->again);
	if (last->qp_num)
		put(text, " qp=%u", last->qp_num);
	put(text, " oom=%d\n", end->has_kills);
}

static void put_end_json(struct text *text, const struct explain_process *process,
			 const struct end *end)
{
	const struct last *const last = &end->last;

	put(text, "{\"program\":\"%s\",\"pid\":%d,\"kind\":\"ended\",\"signal\":\"%s\"",
	    process->name, process->pid, signal_name(end->signal));
	if (process->rank)
		put(text, ",\"rank\":%u", process->rank - 1);
	if (last->verb[0])
		put(text, ",\"call\":\"%s\",\"inside\":%s,\"again\":%s", last->verb,
		    last->inside ? "true" : "false", last->again ? "true" : "false");
	if (last->verb[0] && last->object[0])
		put(text, ",\"object\":\"%s\"", last->object);
	if (last->qp_num)
		put(text, ",\"qp_num\":%u", last->qp_num);
	put(text, ",\"oom\":%s}\n", end->has_kills ? "true" : "false");
}

/* What was told, by what is the same where one cause ends many ranks; and how many more it ended. */
static struct told_end {
	char name[16];
	int pid;
	struct end end;
	unsigned int more;
} told_end[16];
static unsigned int told_ends;

static bool is_same_end(const struct told_end *one, const struct explain_process *process,
			const struct end *end)
{
	const struct last *const its = &one->end.last, *const last = &end->last;

	return !strcmp(one->name, process->name) && one->end.signal == end->signal &&
	       its->inside == last->inside && its->again == last->again &&
	       !strcmp(its->verb, last->verb) && !strcmp(its->object, last->object);
}

/* Once; then they are counted. */
static bool is_new_end(const struct explain_process *process, const struct end *end)
{
	for (unsigned int i = 0; i < told_ends; i++)
		if (is_same_end(&told_end[i], process, end)) {
			told_end[i].more++;
			return false;
		}
	if (told_ends == sizeof(told_end) / sizeof(*told_end))
		return true;
	memcpy(told_end[told_ends].name, process->name, sizeof(told_end->name));
	told_end[told_ends].pid = process->pid;
	told_end[told_ends++].end = *end;
	return true;
}

static void write_end(const struct explain_output *output, const struct explain_process *process,
		      const struct end *end)
{
	const bool is_told = is_new_end(process, end) || output->line;
	static struct text text;

	if (is_told) {
		text.length = 0;
		(output->line ? put_end_line : put_end)(&text, process, end);
		explain_write_log(output, text.bytes, text.length);
	}
	if (output->json < 0)
		return;
	text.length = 0;
	put_end_json(&text, process, end);
	explain_write_json(output, text.bytes, text.length);
}

static void write_more(const struct explain_output *output)
{
	static struct text text;

	text.length = 0;
	for (unsigned int i = 0; i < told_ends; i++) {
		if (told_end[i].more)
			put(&text, "rdmaez-explain: %u more process%s ended as %s[%d] did\n",
			    told_end[i].more, told_end[i].more == 1 ? "" : "es", told_end[i].name,
			    told_end[i].pid);
		told_end[i].more = 0;
	}
	if (!output->line)
		explain_write_log(output, text.bytes, text.length);
}

static uint64_t kills_before;
static int first_pid; /* of the command, which the launcher has started */
static uint32_t ends_done[EXPLAIN_PROCESSES];

/*
 * SIGKILL is what programs and launchers of jobs send when they give up on a process, as well as the kernel. So it is
 * news if memory has run out, or at the end of a command that has failed, and then only if nothing else came first.
 */
static bool is_told_of(const struct explain_process *process, const struct end *end,
		       bool has_failed)
{
	if (!signal_name(end->signal))
		return false;
	if (end->signal != SIGKILL || process->pid == first_pid)
		return true;
	return !told_ends && (end->has_kills || has_failed);
}

/* The first one that was not looked at, and has ended: of another set of process ids only the end of all tells that. */
static int next_end(const struct explain_share *share, bool at_end)
{
	uint32_t first = UINT32_MAX;
	int next = -1;

	for (int i = 0; i < EXPLAIN_PROCESSES; i++) {
		const struct explain_process *const process = &share->process[i];
		const uint32_t ending = process->ending, status = process->status;

		if (!status || !ending || ending == ends_done[i] || ending >= first ||
		    (!at_end && explain_sight.state_of(process->pid)) ||
		    (!at_end && WTERMSIG((int)(status - 1)) == SIGKILL &&
		     count_kills() == kills_before))
			continue;
		first = ending;
		next = i;
	}
	return next;
}

void explain_ends_begin(void)
{
	kills_before = count_kills();
}

void explain_ends_first(struct explain_share *share, pid_t pid, int status)
{
	first_pid = pid;
	explain_share_end(share, pid, status);
}

void explain_write_ends(const struct explain_share *share, const struct explain_output *output,
			bool at_end, bool has_failed)
{
	static struct explain_process process;
	int at;

	/* As many as there are, whatever is written there meanwhile. */
	for (int i = 0; i < EXPLAIN_PROCESSES && (at = next_end(share, at_end)) >= 0; i++) {
		struct end end = {.signal = 0};
		int status;

		ends_done[at] = share->process[at].ending;
		if (!take_process(&share->process[at], &process))
			continue;
		status = (int)(process.status - 1);
		end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		end.has_kills = end.signal == SIGKILL && count_kills() > kills_before;
		end.last = last_of(&process);
		if (is_told_of(&process, &end, has_failed))
			write_end(output, &process, &end);
	}
	if (at_end)
		write_more(output);
}

/* ---- All of them ------------------------------------------------------------------------------------- */

void explain_write_summaries(const struct explain_share *share, const struct explain_output *output,
			     const char *command)
{
	static struct explain_process process;

	for (int i = 0; i < EXPLAIN_PROCESSES; i++)
		if (take_process(&share->process[i], &process))
			write_summary(output, &process);
	if (share->crowded)
		fprintf(stderr,
			"rdmaez-explain: %s: %u more processes used verbs and were not seen, after "
			"%d others:\n"
			"  put rdmaez-explain in front of each program that the command starts.\n",
			command, share->crowded, EXPLAIN_PROCESSES);
	if (!share->attached)
		fprintf(stderr,
			"rdmaez-explain: %s: nothing was seen of it, since the dynamic linker did "
			"not load rdmaez-explain.so:\n"
			"  it lacks a library, is linked statically, has other privileges "
			"(set-user-ID, capabilities), or is of another ABI.\n",
			command);
	else if (unseen)
		fprintf(stderr,
			"rdmaez-explain: %s[%d]: it has opened a device, but its verbs were not "
			"seen: libibverbs is linked\n"
			"  statically, was loaded with RTLD_DEEPBIND, or the process has other "
			"privileges.\n",
			unseen_name, (int)unseen);
}
