/* SPDX-License-Identifier: MIT */
/* Begins an explanation, decides whether it is news, and gives the thread back to the program as it was. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "state.h"
#include "watch.h"
#include "write.h"

enum {
	ENOUGH = 8, /* so often the headers are asked about one verb, errno value and place */
	PLACES = 64 /* a power of two */
};

__thread struct explain_thread explain_thread;
struct explain_process *_Atomic explain_process;
const struct explain_options *explain_options;

char explain_name[16];

static struct explain_share *share;

/* With the lock of findings, which is held while something is explained, all that is below. */
static struct rdmaez_diag diag;
static struct explain_words words;
static bool stopped;
static sigset_t saved_mask; /* of the thread that has the lock */
static int saved_cancel;

/* Where the program has made objects lately, and which was the last one. */
static struct {
	const char *_Atomic verb;
	const void *_Atomic caller, *_Atomic object;
	_Atomic uint64_t when;
} places[PLACES];
static atomic_uint held_here; /* how many findings wait for a success */

/* ---- The process ---------------------------------------------------------------------------------- */

static bool is_blank(const struct explain_process *process)
{
	const uint32_t status = process->status;

	for (int i = 0; i < EXPLAIN_KIND_COUNT; i++)
		if (process->findings[i])
			return false;
	return !process->count[0].times && !process->probes &&
	       (!status || WIFEXITED((int)status - 1));
}

/* A free slot, or one whose process has ended with nothing to tell. */
static struct explain_process *claim(void)
{
	struct explain_process *process;

	for (int round = 0; round < 2; round++) {
		for (process = share->process; process < share->process + EXPLAIN_PROCESSES;
		     process++) {
			int old = process->pid;

			if (old &&
			    (!round || kill(old, 0) == 0 || errno != ESRCH || !is_blank(process)))
				continue;
			if (!atomic_compare_exchange_strong(&process->pid, &old, getpid()))
				continue;
			process->flushes = process->later = process->qp_errors = 0;
			process->unseen = process->direct = process->inner = process->posts = 0;
			process->doing.inside = process->doing.version = 0;
			process->doing.verb[0] = '\0';
			process->rank = process->ranks = process->exited = 0;
			process->replaced = process->status = process->ending = 0;
			for (int i = 0; i < EXPLAIN_OBJECT_COUNT; i++)
				process->objects[i] = 0;
			for (int i = 0; i < EXPLAIN_SOURCES; i++)
				process->source[i].times = 0;
			return process;
		}
	}
	return NULL;
}

static void name_process(struct explain_process *process)
{
	const char *const name = program_invocation_short_name;
	size_t i = 0;

	for (; name[i] && i + 1 < sizeof(explain_name); i++)
		explain_name[i] = name[i] > ' ' && name[i] < 0x7f && name[i] != '"' &&
						  name[i] != '\\' && name[i] != '='
					  ? name[i]
					  : '_';
	explain_name[i] = '\0';
	memcpy(process->name, explain_name, sizeof(explain_name));
}

/* Of a job's processes the environment tells which one this is. */
static void rank_process(struct explain_process *process)
{
	struct explain_state state;

	memset(&state, 0, sizeof(state));
	explain_state_rank(&state);
	if (EXPLAIN_STATE_HAS(PROCESS, &state, rank))
		process->rank = state.rank + 1;
	if (EXPLAIN_STATE_HAS(PROCESS, &state, ranks))
		process->ranks = state.ranks + 1;
}

/* What has this process's number is what executed this program, or has ended. */
static void be_new(void)
{
	for (int i = 0; i < EXPLAIN_PROCESSES; i++)
		if (share->process[i].pid == getpid())
			share->process[i].replaced = 1;
}

static int crowded_out; /* the process that is counted there */

static void join(void)
{
	const int error = errno;

	if (share && (!explain_process || explain_process->pid != getpid())) {
		struct explain_process *process;

		be_new();
		process = claim();
		if (process)
			name_process(process);
		if (process)
			rank_process(process);
		else if (crowded_out != getpid())
			share->crowded++;
		crowded_out = process ? 0 : getpid();
		explain_process = process;
	}
	errno = error;
}

/* Nothing of the program's runs in this thread until release(): it could leave by longjmp(), with the lock. */
static void seize(void)
{
	sigset_t was;
	int cancel;

	explain_block_signals(&was);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	explain_thread.explaining = true;
	explain_notice_clone();
	pthread_mutex_lock(&explain_locks()->findings);
	saved_mask = was;
	saved_cancel = cancel;
}

static void release(void)
{
	const sigset_t mask = saved_mask;
	const int cancel = saved_cancel;

	pthread_mutex_unlock(&explain_locks()->findings);
	explain_thread.explaining = false;
	pthread_setcancelstate(cancel, NULL);
	explain_restore_signals(&mask);
}

void explain_join(void)
{
	if (explain_process || !share || explain_thread.explaining)
		return;
	seize();
	join();
	release();
}

/* A thread that explains something has the lock already: it forks in a handler of a fault. */
static void before_fork(void)
{
	sigset_t was;

	if (explain_thread.explaining)
		return;
	explain_block_signals(&was);
	pthread_mutex_lock(&explain_locks()->findings);
	saved_mask = was;
}

static void after_fork(void)
{
	const sigset_t mask = saved_mask;

	if (explain_thread.explaining)
		return;
	pthread_mutex_unlock(&explain_locks()->findings);
	explain_restore_signals(&mask);
}

void explain_forget_threads(void)
{
	held_here = 0;
	stopped = false;
	explain_watch_forget();
}

/* The lock is this thread's, or as new: see explain_locks_renew(). */
static void in_child(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
	const sigset_t mask = saved_mask;

	pthread_mutex_unlock(&explain_locks()->findings);
	memcpy(&explain_locks()->findings, &unlocked, sizeof(unlocked));
	explain_forget_threads();
	if (explain_process)
		join();
	if (explain_thread.explaining)
		pthread_mutex_lock(&explain_locks()->findings);
	else
		explain_restore_signals(&mask);
}

__attribute__((__constructor__)) static void attach(void)
{
	static struct explain_options options;
	struct explain_share *const mapped = explain_attach(&options);
	struct explain_rows *rows;

	if (!mapped)
		return;
	if (pthread_atfork(before_fork, after_fork, in_child)) {
		munmap(mapped, sizeof(*mapped));
		return;
	}
	mapped->attached++;
	share = mapped;
	be_new();
	explain_options = &options;
	rows = explain_attach_rows(&options);
	if (rows)
		explain_watch_begin(rows);
	explain_words_begin();
}

/* It ends by itself. Who is ended by a signal, or by _exit(), does not come here. */
__attribute__((__destructor__)) static void leave(void)
{
	struct explain_process *const process = explain_process;

	if (process && process->pid == getpid())
		process->exited = 1;
}

void explain_note_end(int pid, int status)
{
	if (share)
		explain_share_end(share, pid, status);
}

/* ---- What is counted ------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static bool is_same(const struct explain_count *count, const struct explain_call *call)
{
	return count->kind == call->kind && count->error == call->error &&
	       count->caller == (uintptr_t)call->caller &&
	       !strncmp(count->verb, call->verb, sizeof(count->verb) - 1);
}

/* Where nothing was found, the label alone tells one event from another at the same place. */
static bool has_label(const struct explain_count *count, uint32_t reason, const char *label)
{
	return reason || !label || !strncmp(count->label, label, sizeof(count->label) - 1);
}

/* The entry of this finding; a new one if there is none. NULL: there is no room. */
static struct explain_count *count_of(const struct explain_call *call, uint32_t reason,
				      const char *label)
{
	struct explain_count *count = explain_process->count;
	struct explain_count *const end = count + EXPLAIN_COUNTS;

	for (; count < end && count->times; count++)
		if (is_same(count, call) && count->reason == reason &&
		    has_label(count, reason, label))
			return count;
	if (count == end)
		return NULL;
	count->kind = call->kind;
	count->reason = reason;
	count->error = call->error;
	count->caller = (uintptr_t)call->caller;
	snprintf(count->verb, sizeof(count->verb), "%s", call->verb);
	if (label)
		snprintf(count->label, sizeof(count->label), "%s", label);
	else
		snprintf(count->label, sizeof(count->label), "%s %s", call->verb,
			 rdmaez_errno_str(call->error));
	return count;
}

/* Counts what is not explained. */
static void count_silently(const struct explain_call *call)
{
	struct explain_count *const count = count_of(call, 0, NULL);

	if (!count)
		return;
	count->silent = true;
	count->times++;
}

/* Whether this was explained so often that nothing new is to be expected; then it is counted. */
static bool is_old(const struct explain_call *call)
{
	struct explain_count *count = explain_process->count;

	for (; count < explain_process->count + EXPLAIN_COUNTS && count->times; count++) {
		if (count->explained < ENOUGH || !is_same(count, call))
			continue;
		count->times++;
		if (!count->held) {
			explain_process->findings[call->kind]++;
			explain_process->repeats++;
		}
		return true;
	}
	return false;
}

/* ---- Probes ---------------------------------------------------------------------------------------- */

static unsigned int place_of(const void *caller)
{
	return (unsigned int)((uintptr_t)caller * UINT64_C(0x9e3779b97f4a7c15) >> 32) &
	       (PLACES - 1);
}

void explain_probe_gone(const void *object)
{
	for (int i = 0; i < PLACES; i++)
		if (EXPLAIN_RARE(atomic_load_explicit(&places[i].object, memory_order_relaxed) ==
				 object))
			atomic_store_explicit(&places[i].object, NULL, memory_order_relaxed);
}

/*
 * What no query tells, programs search for: the largest inline size by making queue pairs, and the addresses of RDMA
 * devices by rdma_bind_addr(). All else that is refused after it worked is a mistake.
 */
static bool is_searched(const char *verb)
{
	return !strncmp(verb, "ibv_create_qp", 13) || !strcmp(verb, "rdma_bind_addr");
}

/* Libraries search for queue pairs at several places. A program's own are apart: nobody knows what they have in common. */
static bool same_search(const char *verb, const void *one, const void *other)
{
	struct link_map *map = NULL;
	Dl_info its, others;

	return one == other ||
	       (!explain_is_clone && !strncmp(verb, "ibv_create_qp", 13) &&
		dladdr1(one, &its, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0] &&
		dladdr(other, &others) && its.dli_fbase == others.dli_fbase);
}

/*
 * Within the last second such an object was made here, or elsewhere in the same library, and it is gone: what is
 * searched for is how much the device allows. A device that has run out of something says so by other errno values.
 */
static bool is_probe(const struct explain_call *call, int error)
{
	const uint64_t now = now_ns();

	if ((error != EINVAL && error != EOPNOTSUPP && error != ENOSYS && error != ENODEV) ||
	    !is_searched(call->verb))
		return false;
	for (int i = 0; i < PLACES; i++) {
		if (places[i].verb != call->verb || places[i].object ||
		    now - places[i].when >= EXPLAIN_PROBE_NS ||
		    !same_search(call->verb, places[i].caller, call->caller))
			continue;
		places[i].when = now;
		return true;
	}
	return false;
}

/* What was refused here is no finding after all. */
static void forgive(const struct explain_call *call, uint64_t now)
{
	const uint32_t process = (uint32_t)(explain_process - share->process);
	unsigned int still_held = 0;

	for (int i = 0; i < EXPLAIN_WAITING; i++) {
		struct explain_waiting *const waiting = &share->waiting[i];
		struct explain_count *count;
		uint32_t held = EXPLAIN_HELD, at;

		if (waiting->state != EXPLAIN_HELD || waiting->process != process)
			continue;
		still_held++;
		at = waiting->count;
		if (at >= EXPLAIN_COUNTS)
			continue;
		count = &explain_process->count[at];
		if (count->caller != (uintptr_t)call->caller ||
		    strncmp(count->verb, call->verb, sizeof(count->verb) - 1) ||
		    now - waiting->since >= EXPLAIN_PROBE_NS ||
		    !atomic_compare_exchange_strong(&waiting->state, &held, EXPLAIN_BUSY))
			continue;
		explain_process->probes += count->times - count->silent;
		count->silent = count->times;
		count->held = false;
		count->explained = 0;
		waiting->state = EXPLAIN_FREE;
		still_held--;
	}
	held_here = still_held;
}

static void made(const struct explain_call *call, const void *object)
{
	const unsigned int at = place_of(call->caller);
	const uint64_t now = now_ns();

	places[at].verb = call->verb;
	places[at].caller = call->caller;
	places[at].object = object;
	places[at].when = now;
	if (EXPLAIN_RARE(held_here)) {
		seize();
		forgive(call, now);
		release();
	}
}

/* ---- What it does ---------------------------------------------------------------------------------- */

/* Objects that were destroyed lately, until their places are taken again. */
static struct {
	const void *_Atomic object;
	_Atomic uint32_t qp_num;
} destroyed[16];
static _Atomic unsigned int destroyed_last;
static __thread struct {
	const void *object;
	uint32_t qp_num;
} doing __attribute__((__tls_model__("initial-exec")));

static const char *const object_names[] = {
#define OBJECT_NAME(upper, words) #words,
	EXPLAIN_OBJECTS(OBJECT_NAME)
#undef OBJECT_NAME
};

/* Byte by byte: a sanitizer of the program's knows of snprintf() there, and nothing of the version around it. */
static void copy_name(char *to, size_t size, const char *from)
{
	size_t i = 0;

	for (; i + 1 < size && from[i]; i++)
		to[i] = from[i];
	to[i] = '\0';
}

static bool is_inner(void)
{
	return explain_thread.depth || explain_thread.explaining || explain_thread.outer;
}

void explain_does(const char *verb, enum explain_object kind, const void *object)
{
	struct explain_process *const process = explain_process;
	uint32_t version, again = 0, qp_num = 0;

	if (!process || is_inner())
		return;
	explain_thread.doing = 0;
	version = process->doing.version;
	if (version & 1 ||
	    !atomic_compare_exchange_strong(&process->doing.version, &version, version + 1))
		return;
	for (unsigned int i = 0; object && i < sizeof(destroyed) / sizeof(*destroyed); i++) {
		if (destroyed[i].object != object)
			continue;
		again = 1;
		qp_num = destroyed[i].qp_num;
	}
	copy_name(process->doing.verb, sizeof(process->doing.verb), verb);
	copy_name(process->doing.object, sizeof(process->doing.object),
		  object ? object_names[kind] : "");
	process->doing.again = again;
	process->doing.qp_num = qp_num;
	process->doing.inside = 1;
	process->doing.version = version + 2;
	explain_thread.doing = version + 2;
	doing.object = object;
	doing.qp_num = qp_num;
}

void explain_does_new(const char *verb)
{
	if (!explain_thread.doing)
		explain_does(verb, EXPLAIN_CONTEXT, NULL);
}

void explain_does_qp(uint32_t qp_num)
{
	struct explain_process *const process = explain_process;

	if (!process || is_inner() || !explain_thread.doing)
		return;
	doing.qp_num = qp_num;
	if (process->doing.version == explain_thread.doing && !process->doing.again)
		process->doing.qp_num = qp_num;
}

static void has_done(void)
{
	struct explain_process *const process = explain_process;

	if (process && process->doing.version == explain_thread.doing)
		process->doing.inside = 0;
	explain_thread.doing = 0;
}

void explain_is_made(const void *object)
{
	for (unsigned int i = 0; i < sizeof(destroyed) / sizeof(*destroyed); i++)
		if (EXPLAIN_RARE(atomic_load_explicit(&destroyed[i].object, memory_order_relaxed) ==
				 object))
			atomic_store_explicit(&destroyed[i].object, NULL, memory_order_relaxed);
}

void explain_is_gone(const void *object)
{
	const unsigned int at = destroyed_last++ % (sizeof(destroyed) / sizeof(*destroyed));

	destroyed[at].qp_num = doing.object == object ? doing.qp_num : 0;
	destroyed[at].object = object;
}

/* ---- Beginning and end ----------------------------------------------------------------------------- */

/*
 * A verb within another lies deeper in the stack. If this one does not, a handler has left the other by longjmp(); or it
 * has a stack of its own, and explain_exit() takes care of that.
 */
void explain_enter(void)
{
	const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (!explain_thread.depth || frame >= explain_thread.frame) {
		explain_thread.depth = 0;
		explain_thread.frame = frame;
	}
	explain_thread.depth++;
}

void explain_exit(void)
{
	if (explain_thread.depth)
		explain_thread.depth--;
	if (!explain_thread.depth && explain_thread.doing)
		has_done();
}

bool explain_replayed(const struct explain_call *call, int *result)
{
	if (!EXPLAIN_RARE(explain_thread.replay) || explain_thread.replay != call->verb)
		return false;
	explain_thread.replay = NULL;
	errno = explain_thread.error;
	*result = (int)explain_thread.result;
	return true;
}

bool explain_replayed_null(const struct explain_call *call)
{
	int result;

	return explain_replayed(call, &result);
}

/* After an explanation. */
static void finish(const struct explain_call *call)
{
	explain_thread.replay = NULL;
	release();
	errno = call->saved_errno;
}

void explain_drop(struct explain_call *call)
{
	finish(call);
}

/* What can be said all the same. */
static void say_little(struct explain_call *call)
{
	char title[96];
	const struct explain_text said = {
		.title = title,
		.error = call->error,
		.count = 1,
		.finding = {{.severity = RDMAEZ_DIAG_ADVICE,
			     .reason = "SMALL_STACK",
			     .field = "pthread_attr_setstacksize",
			     .what = "the stack of this thread is too small for an explanation",
			     .next = "run the program once with stacks of 64 KiB or more"}},
	};

	snprintf(title, sizeof(title),
		 call->error ? "%s failed with %s (%d)" : "%s tells of a failure", call->verb,
		 rdmaez_errno_str(call->error), call->error);
	explain_say(call, &said);
}

bool explain_begin(struct explain_call *call)
{
	const enum explain_kind kind = explain_thread.outer ? EXPLAIN_CM : call->kind;

	if (explain_thread.depth || explain_thread.explaining || !share)
		return false;
	if (explain_thread.outer && call->kind == EXPLAIN_QUERY)
		return false;
	call->saved_errno = errno;
	seize();
	join();
	if (explain_process) {
		if (explain_options->kinds & 1u << kind) {
			if (!call->error || explain_thread.outer || !is_old(call)) {
				if (!explain_has_room()) {
					say_little(call);
					return false;
				}
				memset(&diag, 0, sizeof(diag));
				call->diag = &diag;
				return true;
			}
		} else if (call->error && !explain_thread.outer) {
			count_silently(call);
		}
	}
	finish(call);
	return false;
}

void explain_tried(const struct explain_call *call, const void *object)
{
	const int error = errno;

	if (share && !explain_thread.depth && !explain_thread.explaining)
		made(call, object);
	errno = error;
}

bool explain_is_probe(struct explain_call *call, int error)
{
	if (!share || explain_options->stop)
		return false;
	call->creates = !share->ended;
	if (!is_probe(call, error))
		return false;
	if (explain_process)
		explain_process->probes++;
	return true;
}

static bool left(struct explain_call *call, intptr_t result, int error)
{
	const int program_errno = errno;

	call->error = error;
	if (!explain_begin(call))
		return false;
	explain_thread.replay = call->verb;
	explain_thread.result = result;
	explain_thread.error = program_errno;
	return true;
}

bool explain_leave(struct explain_call *call, int result)
{
	explain_exit();
	if (!EXPLAIN_RARE(result))
		return false;
	if (result == -1)
		return left(call, result, errno > 0 ? errno : EIO);
	return left(call, result, result > 0 ? result : -result);
}

bool explain_leave_null(struct explain_call *call, const void *result)
{
	explain_exit();
	if (explain_thread.depth || explain_thread.explaining || !share)
		return false;
	if (explain_thread.outer)
		return EXPLAIN_RARE(!result) && left(call, 0, errno > 0 ? errno : EIO);
	if (!EXPLAIN_RARE(!result)) {
		const int error = errno;

		made(call, result);
		errno = error;
		return false;
	}
	if (explain_is_probe(call, errno))
		return false;
	return left(call, 0, errno > 0 ? errno : EIO);
}

/* ---- News ------------------------------------------------------------------------------------------ */

/* Leaves the words to the launcher, which writes them unless they are forgiven. */
static bool leave_to_launcher(const struct explain_count *count, enum explain_wait state)
{
	for (int i = 0; i < EXPLAIN_WAITING; i++) {
		struct explain_waiting *const waiting = &share->waiting[i];
		uint32_t is_free = EXPLAIN_FREE;

		if (!atomic_compare_exchange_strong(&waiting->state, &is_free, EXPLAIN_BUSY))
			continue;
		waiting->process = (uint32_t)(explain_process - share->process);
		waiting->count = (uint32_t)(count - explain_process->count);
		waiting->text = (uint32_t)words.text;
		waiting->json = (uint32_t)words.json;
		waiting->since = now_ns();
		memcpy(waiting->bytes, words.bytes, words.text + words.json);
		waiting->state = state;
		return true;
	}
	return false;
}

/* Writes the finding if it is new; true if the program is to stop at it. */
static bool tell(struct explain_call *call, const struct explain_text *said, uint32_t reason,
		 const char *label)
{
	struct explain_count *const count = count_of(call, reason, label);
	bool is_new;

	if (!count) {
		explain_process->findings[call->kind]++;
		explain_process->unshown++;
		return false;
	}
	is_new = count->times == count->silent;
	count->explained++;
	if (is_new)
		explain_words_make(&words, call, &diag, said);
	if (is_new && call->creates && leave_to_launcher(count, EXPLAIN_HELD)) {
		count->held = true;
		held_here++;
	}
	count->times++;
	if (count->held)
		return false;
	explain_process->findings[call->kind]++;
	if (!is_new) {
		explain_process->repeats++;
		return false;
	}
	/* Before these words the launcher says the one line that is true, if it knows. */
	if (call->kind == EXPLAIN_COMPLETION && explain_options->waiting && !share->ended &&
	    !explain_options->stop && leave_to_launcher(count, EXPLAIN_READY))
		return false;
	if (!explain_words_write(&words))
		leave_to_launcher(count, EXPLAIN_READY);
	return explain_options->stop;
}

static void end(struct explain_call *call, const struct explain_text *said, uint32_t reason,
		const char *label)
{
	const bool stop = tell(call, said, reason, label) && !stopped;

	stopped |= stop;
	finish(call);
	if (stop)
		raise(SIGTRAP);
}

/* A verb that was refused within a call of librdmacm: that call tells of it, if it fails. */
static bool is_kept(const struct explain_call *call, bool has_diag)
{
	struct explain_outer *const outer = explain_thread.outer;

	if (!outer)
		return false;
	outer->refused++;
	outer->has_diag = has_diag;
	outer->diag = diag;
	outer->diag.verb = call->verb;
	finish(call);
	return true;
}

void explain_end(struct explain_call *call)
{
	const char *const label = diag.status ? diag.status : diag.event;

	if (is_kept(call, diag.call))
		return;
	if (!call->error)
		call->error = diag.error;
	if (!diag.call) {
		diag.from = diag.to = -1;
		diag.error = call->error;
	}
	/* The program called the verb, and not the headers' function. */
	diag.call = call->verb;
	if (diag.verb && !strcmp(diag.verb, call->verb))
		diag.verb = NULL;
	end(call, NULL, diag.count ? (uint32_t)diag.finding[0].reason : 0,
	    label                          ? label
	    : call->kind == EXPLAIN_ADVICE ? rdmaez_why_id(diag.finding[0].reason)
					   : NULL);
}

void explain_say(struct explain_call *call, const struct explain_text *said)
{
	uint32_t reason = 0;

	if (is_kept(call, false))
		return;
	for (const char *at = said->count ? said->finding[0].reason : ""; *at; at++)
		reason = reason * 31 + (unsigned char)*at;
	if (!call->error)
		call->error = said->error;
	end(call, said, reason, said->label);
}
